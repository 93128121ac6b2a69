"""Sums over what is read at shifted places (differences, neighbours on a grid), and of functions that XLA's library for sums has, too."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
arr = lambda *s: jnp.asarray(rng.normal(size=s).astype(np.float32))
x, grid, volume, points, angles = arr(1 << 20), arr(1024, 1024), arr(128, 128, 128), arr(1 << 16, 16), arr(1000)


def variation(u):
    return sum(jnp.sum(jnp.abs(jnp.diff(u, axis=axis))) for axis in range(u.ndim))


def smoothness(u):
    return sum(jnp.sum(jnp.square(jnp.diff(u, axis=axis))) for axis in range(u.ndim))


def energy(u):
    return -jnp.sum(u * sum(jnp.roll(u, 1, axis) for axis in (0, 1)))


programs = {
    "neighbours": (lambda x: jnp.sum(x[1:] * x[:-1]), (x,)), "curvature": (lambda x: jnp.mean((x[2:] - 2 * x[1:-1] + x[:-2]) ** 2), (x,)),
    "variation": (variation, (grid,)), "smoothness": (smoothness, (volume,)), "its_gradient": (jax.grad(smoothness), (volume,)),
    "with_gradient": (jax.value_and_grad(smoothness), (volume,)), "rows": (lambda u: jnp.sum(jnp.square(jnp.diff(u, axis=1)), 1), (grid,)),
    "columns": (lambda u: jnp.sum(jnp.square(jnp.diff(u, axis=1)), 0), (grid,)), "rolled": (energy, (grid,)),
    "trapezoids": (lambda x: jnp.trapezoid(x, jnp.arange(x.size) * 1.0), (x,)),
    "steps_of_points": (lambda p: jnp.sum(jnp.square(p[1:] - p[:-1]), -1), (points,)),
    "sines": (lambda x: jnp.sum(jnp.sin(x)), (x,)), "coupled_angles": (lambda a: jnp.sum(jnp.sin(a - a[:, None]), -1), (angles,)),
    "sine_times_cosine": (lambda x: jnp.mean(jnp.sin(x) * jnp.cos(x)), (x,)), "chosen_sines": (lambda x: jnp.sum(jnp.where(x > 0, jnp.sin(x), 0)), (x,)),
    "sine_with_gradient": (jax.value_and_grad(lambda x: jnp.sum(jnp.sin(x))), (x,)), "logarithms": (lambda x: jnp.sum(jnp.log1p(x * x)), (x,)),
}
