"""Arithmetic and casts of bytes: images, quantised weights, bits of numbers that are read as others."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(0)
image, other = (jax.device_put(rng.integers(0, 256, (1000, 1000)).astype(np.uint8)) for _ in range(2))
signed = jax.device_put(rng.integers(-128, 128, (1000, 1000)).astype(np.int8))
numbers = jax.device_put(rng.normal(size=(1000, 1000)).astype(np.float32) * 40)
rows = {k: jax.device_put(rng.integers(0, 256, (1 << 19, k)).astype(np.uint8)) for k in (2, 4)}

programs = {
    "sum": (lambda a, b: a + b, (image, other)), "product": (lambda a, b: a * b, (image, other)), "negative": (lambda a: -a, (signed,)),
    "third": (lambda a: a // 3, (image,)), "several": (lambda a, b: (a + b) * a - b, (image, other)),
    "quantised": (lambda x: x.astype(np.int8), (numbers,)), "and_back": (lambda x: jnp.round(x).astype(np.int8).astype(np.float32) * 0.1, (numbers,)),
    "other_sign": (lambda a: a.astype(np.int8), (image,)), "largest": (lambda a: a.max(1), (image,)),
    "largest_difference": (lambda a, b: (a - b).max(1), (image, other)), "sum_of_differences": (lambda a, b: (a - b).astype(np.float32).sum(1), (image, other)),
    "bytes_of_floats": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), (numbers,)), "halves_of_floats": (lambda x: lax.bitcast_convert_type(x, jnp.uint16), (numbers,)),
    "floats_of_bytes": (lambda a: lax.bitcast_convert_type(a, jnp.float32), (rows[4],)), "words_of_bytes": (lambda a: lax.bitcast_convert_type(a, jnp.uint16), (rows[2],)),
}
