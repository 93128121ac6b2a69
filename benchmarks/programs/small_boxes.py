"""Functions of many small matrices and vectors, what is stretched along new axes, and searches in the steps of a loop."""
import numpy as np

import jax
import jax.numpy as jnp

rng = np.random.default_rng(0)


def normal(*shape):
    return jnp.asarray(rng.normal(size=shape), jnp.float32)


def positive(*shape):
    return jnp.asarray(rng.uniform(0.1, 2, shape), jnp.float32)


def euler(angles):
    """Rotations by three angles each."""
    c, s = jnp.cos(angles), jnp.sin(angles)
    zero, one = jnp.zeros_like(c[:, 0]), jnp.ones_like(c[:, 0])
    about = [[[one, zero, zero], [zero, c[:, 0], -s[:, 0]], [zero, s[:, 0], c[:, 0]]],
             [[c[:, 1], zero, s[:, 1]], [zero, one, zero], [-s[:, 1], zero, c[:, 1]]],
             [[c[:, 2], -s[:, 2], zero], [s[:, 2], c[:, 2], zero], [zero, zero, one]]]
    x, y, z = [jnp.stack([jnp.stack(row, -1) for row in rows], -2) for rows in about]
    return z @ y @ x


def quaternion(q):
    """Rotations by a unit quaternion each."""
    w, x, y, z = jnp.moveaxis(q / jnp.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z), 1 - 2 * (x * x + z * z),
            2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return jnp.stack(rows, -1).reshape(-1, 3, 3)


def rotary(x):
    """Positions in a sequence as angles, the same for each sequence and head."""
    angles = jnp.arange(x.shape[1])[:, None, None] * 10000.0 ** (-jnp.arange(32) / 32)
    c, s = jnp.cos(angles), jnp.sin(angles)
    a, b = x[..., :32], x[..., 32:]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def best_paths(scores, moves):
    def step(best, score):
        reached = best[:, None] + moves
        return jnp.max(reached, 0) + score, jnp.argmax(reached, 0)
    return jax.lax.scan(step, scores[0], scores[1:])


def slope(function):
    return jax.value_and_grad(lambda x: jnp.sum(jnp.sin(function(x))))


programs = {f"{name}_{'x'.join(map(str, shape))}": (lambda x, function=function: function(x) * 0.5 + x, (positive(*shape),))
            for name, function in {"sin": jnp.sin, "arcsin": lambda x: jnp.arcsin(x / 2), "exp2": jnp.exp2, "log1p": jnp.log1p, "power": lambda x: x ** 1.7}.items()
            for shape in ((90_000,), (30_000, 3), (10_000, 3, 3), (3_000, 3, 10), (22_500, 2, 2))}
programs |= {
    "euler": (euler, (normal(2000, 3),)), "euler_slope": (slope(euler), (normal(2000, 3),)), "quaternion": (quaternion, (normal(5000, 4),)),
    "quaternion_slope": (slope(quaternion), (normal(5000, 4),)), "rotary": (rotary, (normal(4, 128, 8, 64),)),
    "best_paths_8": (best_paths, (normal(100, 8), normal(8, 8))), "best_paths_20": (best_paths, (normal(100, 20), normal(20, 20))),
    "best_paths_40": (best_paths, (normal(100, 40), normal(40, 40))),
}
