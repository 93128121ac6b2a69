"""Reductions by functions of one's own, and convolutions of float64: what runs slowly if the compiler is told the wrong size or form of it."""
import numpy as np

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)
line, square = (jnp.asarray(rng.uniform(size=shape), jnp.float32) for shape in ((1_000_000,), (1000, 1000)))
images = jnp.asarray(rng.normal(size=(2, 4, 64, 64)))


def decayed(x, y):
    return x + y * np.float32(0.5)


def extrema(x):
    return lax.reduce((x, x), (np.float32(np.inf), np.float32(-np.inf)), lambda a, b: (lax.min(a[0], b[0]), lax.max(a[1], b[1])), (0,))


def convolved(signal, kernel):
    return jnp.convolve(signal, kernel, "same")


def slopes(signal, kernel):
    return jax.grad(lambda *args: jnp.sum(convolved(*args) ** 2), (0, 1))(signal, kernel)


signals = {"1000_by_10": (jnp.asarray(rng.normal(size=1000)), jnp.asarray(rng.normal(size=10))),
           "100000_by_50": (jnp.asarray(rng.normal(size=100_000)), jnp.asarray(rng.normal(size=50)))}
programs = {
    "reduce": (lambda x: lax.reduce(x, np.float32(0), decayed, (0,)), (line,)), "reduce_to_extrema": (extrema, (line,)),
    "reduce_columns": (lambda x: lax.reduce(x, np.float32(0), decayed, (0,)), (square,)),
    "reduce_window": (lambda x: lax.reduce_window(x, np.float32(0), decayed, (2, 2), (1, 1), "VALID"), (square,)),
    **{f"{f.__name__}_{name}": (f, args) for f in (convolved, slopes) for name, args in signals.items()},
    **{f"images_to_{n}_features": (lambda x, k: lax.conv(x, k, (1, 1), "SAME"), (images, jnp.asarray(rng.normal(size=(n, 4, 3, 3))))) for n in (1, 2, 4, 32)},
}
