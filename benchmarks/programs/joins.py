"""Arrays put together of many: each may be a kernel of its own to compile."""
import numpy as np

import jax
import jax.numpy as jnp

rng = np.random.default_rng(0)
line, square, large = (jnp.asarray(rng.uniform(0.1, 0.9, shape), jnp.float32) for shape in ((100,), (64, 64), (300, 300)))
lines = [jnp.asarray(rng.uniform(0.1, 0.9, 1000), jnp.float32) for _ in range(40)]


def states(x):
    found = []
    for _ in range(40):
        x = jnp.sin(x) + 0.1 * jnp.roll(x, 1)
        found.append(x)
    return jnp.stack(found)


def in_loop(x):
    return jax.lax.scan(lambda c, _: (jnp.stack([jnp.sum(c * i) / (i + 1) * jnp.exp(-c[i]) for i in range(20)]), None), x[:20], None, length=50)[0]


def last(count, length, function):
    """Put together along the last axis."""
    return lambda x: jnp.stack([function(x, i) for i in range(count)], -1), (jnp.asarray(rng.uniform(0.1, 0.9, length), jnp.float32),)


programs = {f"{name}_{count}_{length}": last(count, length, function)
            for name, function in {"lines": lambda x, i: x * i + x * x, "exponentials": lambda x, i: jnp.exp(x * i)}.items()
            for count in (9, 36) for length in (2000, 20_000, 200_000)}
programs |= {
    "numbers": (lambda x: jnp.stack([jnp.sum(x * i) * jnp.exp(x[i]) for i in range(40)]), (line,)),
    "vectors": (lambda x: jnp.stack([jnp.sin(x * i) + i for i in range(40)]), (line,)),
    "columns": (lambda x: jnp.stack([jnp.sin(x * i) + i for i in range(40)], -1), (line,)),
    "large": (lambda x: jnp.stack([jnp.exp(-x * i) + i for i in range(40)]), (large,)),
    "large_columns": (lambda x: jnp.stack([jnp.exp(-x * i) + i for i in range(40)], -1), (large,)),
    "products": (lambda x: jnp.stack([x @ (x * i) for i in range(20)]), (square,)),
    "given": (lambda *xs: jnp.concatenate(xs), tuple(lines)),
    "scaled": (lambda *xs: jnp.concatenate([x * 0.1 for x in xs]), tuple(lines)),
    "windows": (lambda x: jnp.concatenate([x[i:i + 30, ::-1] for i in range(0, 270, 7)]), (large,)),
    "rolls": (lambda x: jnp.concatenate([jnp.roll(x, i, 0) * (i + 1.) for i in range(20)]), (large,)),
    "states": (states, (lines[0],)), "in_loop": (in_loop, (line,)),
}
