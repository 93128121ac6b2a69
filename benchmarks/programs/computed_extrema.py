"""Maxima and minima of many computed values, where NaN must be kept, and programs that have them."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
arr = lambda *s: jnp.asarray(rng.normal(size=s).astype(np.float32))
x, points = arr(1000, 1000), arr(500, 64)
less, half = arr(512, 256), arr(1024, 512)
narrow = arr(300, 16).astype(jnp.bfloat16)
columns = jnp.asarray(rng.integers(0, 1000, 1000))


def subtract_largest(x):
    for _ in range(3):
        x = x - jnp.abs(x).max(1, keepdims=True)
    return x


def terms(x):
    for i in range(10):
        x = x * (1 + i) + 0.5 - x * x * (0.01 * i)
    return x


def with_extremum(x):
    y = jnp.tanh(x) * 2
    return y, y.max(1)


programs = {
    "all": (lambda x: (x * 2 + 1).max(), (x,)), "rows": (lambda x: (x * 2 + 1).max(1), (x,)), "columns": (lambda x: (x * 2 + 1).max(0), (x,)),
    "shortest_of_two_steps": (lambda d, w: (d[:, :, None] + w).min(1), (arr(100, 50), arr(50, 50))),
    "sums_of_pairs": (lambda p: (p[:, None] + p).max(0), (points,)), "transposed": (lambda x: (x.T * 2).max(1), (x,)),
    "centred_rows": (lambda x: (x - x.mean(1, keepdims=True)).max(1), (x,)), "gathered_columns": (lambda x, i: x[:, i].max(1), (x, columns)),
    "subtract_largest": (subtract_largest, (x,)), "gradient": (jax.grad(lambda x: (x * 2).max(1).sum()), (x,)),
    "of_exponentials": (lambda x: jnp.exp(x).max(1), (x,)), "of_50_operations": (lambda x: terms(x).max(1), (x,)),
    "exponentials_less_largest": (lambda x: jnp.exp(x - x.max(1, keepdims=True)), (x,)), "nanmax": (jnp.nanmax, (x,)),
    "given_2^17": (lambda x: x.max(1), (less,)), "given_2^19": (lambda x: x.max(1), (half,)), "many_rows": (lambda x: x.max(1), (half.reshape(8192, 64),)),
    "short_rows": (lambda x: x.max(1), (arr(16384, 200),)), "stored_rows": (with_extremum, (arr(16384, 64),)), "tanh_to_number": (lambda x: jnp.tanh(x).max(), (x,)),
    "stored_2^17": (with_extremum, (less,)), "stored_2^19": (with_extremum, (half,)),
    "halves": (lambda x: x.max(1), (narrow,)), "widened_halves": (lambda x: x.astype(np.float32).max(1).astype(x.dtype), (narrow,)),
}
