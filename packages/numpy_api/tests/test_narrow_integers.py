"""Integers of two and four bits: the same values eager and compiled, as NumPy has for wider ones."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.traces.structural import convert_element_type_p
from jax_numpy_api import lax, numpy as jnp

WIDTHS = {"int2": (2, -2), "int4": (4, -8), "uint2": (2, 0), "uint4": (4, 0)}
# name: ours, and NumPy's on int64; results of the narrow dtype are compared modulo its range
CASES = {
    "square": (jnp.square, lambda x, _: x * x),
    "sign": (lax.sign, lambda x, _: np.sign(x)),
    "population_count": (lax.population_count, lambda x, bits: [bin(v % (1 << bits)).count("1") for v in x.tolist()]),
    "sort": (jnp.sort, lambda x, _: np.sort(x)),
    "argsort": (jnp.argsort, lambda x, _: np.argsort(x, kind="stable")),
    "sort of pairs": (lambda x: lax.sort((x, x), num_keys=1)[1], None),
    "argmax": (jnp.argmax, lambda x, _: np.argmax(x)),
    "argmin": (jnp.argmin, lambda x, _: np.argmin(x)),
    "top_k": (lambda x: lax.top_k(x, 3)[0], lambda x, _: np.sort(x)[::-1][:3]),
    "places of top_k": (lambda x: lax.top_k(x, 1)[1][0], lambda x, _: np.argmax(x)),
    "median": (jnp.median, lambda x, _: np.median(x)),
    "searchsorted": (lambda x: jnp.searchsorted(jnp.sort(x), x), lambda x, _: np.searchsorted(np.sort(x), x)),
    "concatenate": (lambda x: jnp.concatenate([x, x[:1]]), lambda x, _: np.append(x, x[:1])),
    "stack": (lambda x: lax.stack([x, x], 0)[1], lambda x, _: x),
    "shift_right_arithmetic": (lambda x: lax.shift_right_arithmetic(x, jnp.ones_like(x)), lambda x, bits: ((x << 64 - bits) >> 64 - bits) >> 1),
}


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    (f, reference), (bits, low) = CASES[name], WIDTHS[dtype]
    x = np.random.RandomState(0).randint(low, low + (1 << bits), 16)
    eager, compiled = f(jnp.asarray(x, dtype)), jit(f)(jnp.asarray(x, dtype))
    assert eager.dtype == compiled.dtype
    np.testing.assert_array_equal(np.asarray(compiled, np.float32), np.asarray(eager, np.float32))
    if reference is not None:
        got, wanted = np.asarray(eager, np.float32), np.asarray(reference(x, bits))
        modulus = 1 << bits
        np.testing.assert_array_equal(*(got % modulus, wanted % modulus) if eager.dtype == dtype else (got, wanted))


@pytest.mark.parametrize("dtype", ["uint4", "int8", "uint32"])
def test_floats_out_of_range_become_the_nearest_integer_that_fits(dtype):
    x = np.array([-1.0, -0.5, 3.7, 15.0, 16.0, 300.0, -300.0, 3e9, 1e20, np.nan, np.inf, -np.inf], np.float32)
    compiled = np.asarray(jit(lambda x: x.astype(dtype))(jnp.asarray(x)))
    np.testing.assert_array_equal(convert_element_type_p.reference(x, new_dtype=compiled.dtype, weak_type=False), compiled)
