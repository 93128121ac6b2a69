"""Programs that some compilers in the range that is supported get wrong, in the form in which they are usually written.

The reference is NumPy where it has the function, else the same function of the host's numbers.
"""
import functools
import itertools

import numpy as np
import pytest

from jax_core.configuration.flags import enable_x64
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, nn, numpy as jnp

SIGNED = [np.int8, np.int16, np.int32]

# -- products and absolute values that overflow --------------------------------------------------------------------------

POWERS = {
    "x * x": lambda x: x * x,
    "square": np.square,
    "power": lambda x: x ** 2,
    "fourth power": lambda x: x ** 4,
    "(x + 1) * (1 + x)": lambda x: (x + np.int8(1)) * (np.int8(1) + x),
    "abs": np.abs,
}
READERS = {
    "is negative": lambda x, xp: x < 0,
    "is not negative": lambda x, xp: x >= 0,
    "abs": lambda x, xp: xp.abs(x),
    "sign": lambda x, xp: xp.sign(x),
    "maximum": lambda x, xp: xp.maximum(x, 0),
    "half": lambda x, xp: x // 2,
    "remainder": lambda x, xp: x % 3,
    "remainder as in C": lambda x, xp: xp.fmod(x, 3),
    "where": lambda x, xp: xp.where(x < 0, -x, x),
    "sum": lambda x, xp: xp.sum(xp.abs(x), dtype=x.dtype),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("dtype", SIGNED)
def test_integers_overflow(dtype, power, reader):
    big = np.iinfo(dtype).max
    x = np.array([0, 1, -1, 5, 13, 46341 % big, -big - 1, big, big // 3, int(big ** 0.5) + 1, int((1.5 * big) ** 0.5), 12], dtype)
    with np.errstate(over="ignore"):
        expected = READERS[reader](POWERS[power](x), np)
    found = jit(lambda x: READERS[reader](jnp.abs(x) if power == "abs" else jnp.square(x) if power == "square" else POWERS[power](x), jnp))(x)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [*SIGNED, np.uint8])
def test_leading_zeros_of_known_integers(dtype):
    bits = np.iinfo(dtype).bits
    x = np.array([0, 1, 5, -1, -2, 2 ** (bits - 1)], np.int64).astype(dtype)
    expected = [bits, bits - 1, bits - 3, 0, 0, 0]
    assert jit(lambda: lax.clz(jnp.array(x)))().tolist() == jit(lax.clz)(x).tolist() == expected


OF_COLUMNS = {
    "2 x": lambda x: x * 2, "x x": lambda x: x * x, "abs": abs, "clz": lax.clz, "half": lambda x: x // 2, "as float": lambda x: x.astype(np.float32),
    **{f"bits as {dtype}": lambda x, dtype=dtype: lax.bitcast_convert_type(x, dtype) for dtype in ("uint32", "float32", "uint16", "int8")},
}


@pytest.mark.parametrize("function", OF_COLUMNS.values(), ids=OF_COLUMNS)
def test_known_columns(function):
    """The compiler chooses them before the program runs, and keeps them in another order than it says."""
    x, columns = (np.arange(12).reshape(3, 4) - 5) * 2 ** 26 + 3, np.array([2, 0, 3, 1, 1])
    expected = jnp.asarray(function(jnp.asarray(x[:, columns])))
    np.testing.assert_array_equal(jit(lambda: function(jnp.asarray(x)[:, columns]))(), expected)


# -- bytes in sums and extrema -------------------------------------------------------------------------------------------

OF_BYTES = {
    "a + b": lambda a, b, np: a + b, "a - b": lambda a, b, np: a - b, "a * b": lambda a, b, np: a * b, "-a": lambda a, b, np: -a, "a + a": lambda a, b, np: a + a,
    "a * a": lambda a, b, np: a * a, "a - 3": lambda a, b, np: a - a.dtype.type(3), "abs": lambda a, b, np: np.abs(a), "a // b": lambda a, b, np: a // (b | b.dtype.type(1)),
    "a % 7": lambda a, b, np: a % a.dtype.type(7), "(a + b) * a - b": lambda a, b, np: (a + b) * a - b, "a - row": lambda a, b, np: a - b[:1],
    "other sign": lambda a, b, np: a.astype("int8" if a.dtype == "uint8" else "uint8"), "from int32": lambda a, b, np: (a.astype("int32") * 77).astype(a.dtype),
}
BYTES_READ = {
    "maxima": lambda v, np: v.max(-1), "minima of columns": lambda v, np: v.min(0), "maximum": lambda v, np: v.max(), "sums of floats": lambda v, np: v.astype("float32").sum(-1),
    "sums": lambda v, np: v.sum(-1, dtype="int32"), "product of floats": lambda v, np: np.matmul(v.astype("float32"), np.ones((v.shape[1], 4), "float32")),
}


@pytest.mark.parametrize("reader", BYTES_READ)
@pytest.mark.parametrize("function", OF_BYTES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bytes_overflow(dtype, function, reader):
    """The library for sums and extrema of 4096 elements and more has the nearest byte for numbers that are none."""
    x = np.arange(2 * 9 * 512).reshape(2, 512, 9) * 37 % 256
    a, b = x.astype(np.uint8).view(dtype)
    expected = BYTES_READ[reader](OF_BYTES[function](a, b, np), np)
    found = jit(lambda a, b: BYTES_READ[reader](OF_BYTES[function](a, b, jnp), jnp))(a, b)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("reader", BYTES_READ)
@pytest.mark.parametrize("to", [np.uint8, np.int8])
@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
def test_floats_become_bytes(dtype, to, reader):
    """By truncation, and the nearest byte where they are out of range; NaN is 0. The library rounds."""
    x = (np.arange(9 * 512).reshape(512, 9) % 1000 - 500.).astype(dtype) / np.asarray(3, dtype)
    x[5, 3], x[6], x[7, 1] = np.nan, np.inf, -np.inf
    whole = np.nan_to_num(np.trunc(np.clip(x.astype(np.float64), np.iinfo(to).min, np.iinfo(to).max))).astype(to)
    found = jit(lambda x: BYTES_READ[reader](x.astype(to), jnp))(x)
    np.testing.assert_array_equal(found, BYTES_READ[reader](whole, np))


# -- bits of bits --------------------------------------------------------------------------------------------------------

WIDTHS = {"int8": 8, "uint8": 8, "bfloat16": 16, "int16": 16, "float16": 16, "uint32": 32, "float32": 32}


@pytest.mark.parametrize("dtypes", [d for d in itertools.product(WIDTHS, repeat=3) if len({WIDTHS[x] for x in d[:2]}) == len({WIDTHS[x] for x in d[1:]}) == 2],
                         ids=" to ".join)
def test_bits_of_bits(dtypes):
    """The compiler makes one bit cast of two, which then has the axes of neither."""
    first, second, third = map(jnp.dtype, dtypes)
    x = np.arange(64, dtype=np.uint8).view(first).reshape(-1, 2, 2)
    while x.itemsize * x.shape[-1] < max(second.itemsize, third.itemsize):  # so that the last axes become elements
        x = x.reshape(-1, 2, x.shape[-1] * 2)

    def read(x: np.ndarray):
        return jnp.asarray(x).view(second).view(third)
    assert np.asarray(jit(read)(x)).tobytes() == x.tobytes()
    if first.itemsize > second.itemsize > third.itemsize:
        twice = jit(lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, second), third))(x)
        assert twice.shape == (*x.shape, 2, 2) and np.asarray(twice).tobytes() == x.tobytes()
    if first.itemsize < second.itemsize < third.itemsize:
        x = x.reshape(-1, 2, 2)
        twice = jit(lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, second), third))(x)
        assert twice.shape == x.shape[:1] and np.asarray(twice).tobytes() == x.tobytes()


# -- loops by other steps than one ---------------------------------------------------------------------------------------

def counted(below, start, end, step):
    n = 0
    while below(start, end):
        start, n = start + step, n + 1
    return start, n


COMPARISONS = {
    "<": (lambda x, y: x < y, 1), "<=": (lambda x, y: x <= y, 1), ">": (lambda x, y: x > y, -1), ">=": (lambda x, y: x >= y, -1),
}


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
@pytest.mark.parametrize("comparison", COMPARISONS)
@pytest.mark.parametrize("start, length, step", [(100, 0, 2), (100, -1, 2), (100, 1, 2), (100, 1, 8), (100, 3, 2), (100, 2, 3), (0, 1, 2), (0, 5, 3), (0, 6, 3), (0, 4, 1)])
def test_loops_by_steps(comparison, start, length, step, dtype):
    below, sign = COMPARISONS[comparison]
    start = start if sign > 0 else start + 50
    end, step = start + sign * length, sign * step
    if dtype is np.uint8 and end < 0:
        return
    begin, limit, by = (np.array(n, np.int64).astype(dtype)[()] for n in (start, end, step))

    def loop():
        return lax.while_loop(lambda c: below(c[0], limit), lambda c: (c[0] + by, c[1] + 1, c[2] * 2), (jnp.array(begin), 0, 1.0))
    last, n = counted(below, start, end, step)
    assert [float(x) for x in jit(loop)()] == [last, n, 2.0 ** n]


# -- slices of slices ----------------------------------------------------------------------------------------------------

def part(x, start, size):
    return x[min(max(start + len(x) * (start < 0), 0), len(x) - size):][:size]


@pytest.mark.parametrize("outer", [-30, -1, 0, 2, 5, 6, 30])
@pytest.mark.parametrize("inner", [-30, -2, 0, 3, 12, 15, 30])
def test_slices_of_slices(inner, outer):
    x = np.arange(20)

    def both(x, i, j):
        return lax.dynamic_slice(lax.dynamic_slice(x, [i], [8]), [j], [3])
    expected = part(part(x, inner, 8), outer, 3)
    np.testing.assert_array_equal(jit(both)(x, inner, outer), expected)
    np.testing.assert_array_equal(jit(lambda x: both(x, jnp.int32(inner), jnp.int32(outer)))(x), expected)


@pytest.mark.parametrize("start", [-3, 0, 4, 12])
@pytest.mark.parametrize("shift", [0, 4, -2, 20])
def test_slices_of_rolled(shift, start):
    x = np.arange(9) * 10
    found = jit(lambda x, shift, start: lax.dynamic_slice(jnp.roll(x, shift), [start], [4]))(x, shift, start)
    np.testing.assert_array_equal(found, part(np.roll(x, shift), start, 4))


@pytest.mark.parametrize("outer", [-1, 0, 3, 9])
@pytest.mark.parametrize("inner", [-2, 0, 12, 25])
def test_slices_written_back(inner, outer):
    x, new = np.arange(20), np.array([100, 101, 102])

    def f(x, i, j):
        changed = lax.dynamic_update_slice(lax.dynamic_slice(x, [i], [8]), new, [j])
        return lax.dynamic_update_slice(x, changed, [i])
    expected = x.copy()
    part(part(expected, inner, 8), outer, 3)[:] = new
    np.testing.assert_array_equal(jit(f)(x, inner, outer), expected)


# -- short indices -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["fill", "clip", "promise_in_bounds"])
@pytest.mark.parametrize("dtype, index, size", [(np.uint8, 200, 300), (np.int8, 100, 300), (np.int16, 30000, 70000), (np.uint16, 65535, 70000)])
@pytest.mark.parametrize("count", [1, 2])
def test_short_indices(dtype, index, size, mode, count):
    numbers = lax.ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    x, places = np.arange(size), np.array([[index], [1]][:count], dtype)
    found = jit(lambda x, i, u: lax.scatter_add(x, i, u, numbers, mode=mode))(x, places, np.array([1000, 2000])[:count])
    expected = x.copy()
    expected[[index, 1][:count]] += [1000, 2000][:count]
    np.testing.assert_array_equal(found, expected)


def test_short_indices_of_rows_that_are_read():
    numbers = lax.ScatterDimensionNumbers(update_window_dims=(0, 1), inserted_window_dims=(), scatter_dims_to_operand_dims=(0,))
    x = np.arange(600.).reshape(300, 2)
    found = jit(lambda x, i: lax.scatter(x, i, x[5:8] * 2, numbers)[None])(x, np.array([7], np.uint8))
    expected = x.copy()
    expected[7:10] = x[5:8] * 2
    np.testing.assert_array_equal(found[0], expected)


# -- paddings that crop --------------------------------------------------------------------------------------------------

CONFIGS = [[(0, 0, 1), (-1, 0, 0)], [(0, 0, 0), (-1, 2, 0)], [(-1, 1, 0), (0, -1, 0)], [(-2, 0, 1), (1, -3, 0)], [(2, -1, 0), (-2, 2, 2)], [(-1, -1, 0), (-1, -1, 0)], [(-5, 4, 0), (3, -7, 0)]]


@pytest.mark.parametrize("padding", [((0, 0), (1, 0)), ((1, 1), (2, 0)), ((-1, 2), (0, 1))], ids=str)
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_windows_of_cropped(config, padding):
    x = np.arange(1, 21, dtype=np.int32).reshape(4, 5)[:1 if config[0] == (0, 0, 1) else 4]
    padding = ((1, 1), padding[1]) if len(x) == 1 else padding

    def summed(x):
        return lax.reduce_window(lax.pad(x, np.int32(0), config), np.int32(0), lax.add, (2, 2), (1, 1), padding)

    def convolved(x):
        return lax.conv_general_dilated(lax.pad(x, np.int32(0), config)[None, None], np.ones((1, 1, 2, 2), np.int32), (1, 1), padding)[0, 0]
    padded = lax.pad_p.reference(lax.pad_p.reference(x, 0, padding_config=config), 0, padding_config=[(*p, 0) for p in padding])
    expected = padded[:-1, :-1] + padded[1:, :-1] + padded[:-1, 1:] + padded[1:, 1:]
    np.testing.assert_array_equal(jit(summed)(x), expected)
    np.testing.assert_array_equal(jit(convolved)(x), expected)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_derivatives_of_cropped(config):
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    weights = np.arange(400, dtype=np.float32).reshape(20, 20)
    found = jit(grad(lambda x: jnp.sum((y := lax.pad(x, np.float32(0), config)) * weights[:y.shape[0], :y.shape[1]])))(x)
    places = lax.pad_p.reference(np.arange(1, 21).reshape(4, 5), 0, padding_config=config)
    expected = np.zeros(21)
    expected[places.ravel()] = weights[:places.shape[0], :places.shape[1]].ravel()
    np.testing.assert_array_equal(found, expected[1:].reshape(4, 5))


# -- convolutions of cropped arrays --------------------------------------------------------------------------------------

@pytest.mark.parametrize("padding", [((0, 0), (-5, 1)), ((-5, 2), (0, 0)), ((-3, 2), (-2, 2)), ((1, -1), (2, -3)), ((-15, 4), (0, 1)), ((0, 1), (-9, 12))], ids=str)
@pytest.mark.parametrize("dilation", [(1, 1), (2, 3)])
@pytest.mark.parametrize("strides", [(1, 1), (2, 1)])
def test_convolutions_of_cropped(padding, dilation, strides):
    """Of floats, which have code of their own on the CPU, and of integers."""
    x = np.arange(15 * 6 * 8).reshape(1, 15, 6, 8) % 17 - 5
    kernel = np.arange(2 * 8 * 8).reshape(1, 2, 8, 8) % 5 - 2
    found = [jit(lambda x, k: lax.conv_general_dilated(x, k, strides, padding, lhs_dilation=dilation, dimension_numbers=("NHWC", "HWIO", "NHWC")))(
        x.astype(dtype), kernel.astype(dtype)) for dtype in (np.float32, np.int32)]
    np.testing.assert_array_equal(*found)
    config = [(0, 0, 0), *[(*p, d - 1) for p, d in zip(padding, dilation)], (0, 0, 0)]
    whole = lax.pad_p.reference(x, 0, padding_config=config)
    expected = (whole[:, :, :-1] @ kernel[0, 0] + whole[:, :, 1:] @ kernel[0, 1])[:, ::strides[0], ::strides[1]]
    np.testing.assert_array_equal(found[0], expected)


# -- parts of bytes ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("wide", [np.uint8, np.int8, np.uint16, np.int32])
@pytest.mark.parametrize("narrow, bits", [(jnp.int4, 4), (jnp.uint4, 4), (jnp.int2, 2), (jnp.float4_e2m1fn, 4)])
def test_known_bytes_are_split(narrow, bits, wide):
    x = (np.arange(1, 9) * 4660 % 60000).astype(wide)
    shifts = np.arange(0, 8 * x.itemsize, bits).astype(wide)
    expected = (x[:, None] >> shifts & wide(2 ** bits - 1)).astype(np.uint8)

    def split(x):
        return lax.bitcast_convert_type(lax.bitcast_convert_type(x, narrow), jnp.uint4 if bits == 4 else jnp.uint2).astype(np.uint8)
    for found in jit(lambda: split(x))(), jit(split)(x):
        np.testing.assert_array_equal(found, expected)


# -- logarithms of powers --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("count", [1, 3, 5000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_logarithms_of_negative_powers(dtype, count):
    with enable_x64(True):
        x, y = np.full(count, -2, dtype), np.full(count, 3, dtype)
        for function in (lambda x, y: jnp.log(jnp.power(x, y)), lambda x, y: jnp.log(lax.pow(x, y[0])), lambda x, y: jnp.log(lax.pow(x, dtype(3)))):
            for found in jit(function)(x, y), jit(lambda: function(jnp.asarray(x), jnp.asarray(y)))():
                assert found.dtype == dtype and np.isnan(found).all()
        np.testing.assert_allclose(jit(lambda x, y: jnp.log(jnp.power(x, y)))(-x, y), np.full(count, np.log(8)), rtol=2e-3)


@pytest.mark.parametrize("count", [1, 5000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_logarithms_of_reciprocal_roots(dtype, count):
    with enable_x64(True):
        found = jit(lambda x: jnp.log(lax.rsqrt(x)))(np.full(count, -0.0, dtype))
        assert found.dtype == dtype and np.isnan(found).all()
        np.testing.assert_allclose(jit(lambda x: jnp.log(lax.rsqrt(x)))(np.full(count, 4, dtype)), np.full(count, np.log(0.5)), rtol=2e-3)


# -- quotients of quotients ------------------------------------------------------------------------------------------------

QUOTIENTS = {  # of numbers that are all alike, of which products of two are out of range
    "a / (b / c)": lambda a, b, c: a / (b / c),
    "a / b / c": lambda a, b, c: a / b / c * b * a,
    "(a / b) / (c / a)": lambda a, b, c: (a / b) / (c / a) * a,
    "other shapes": lambda a, b, c: (a.reshape(2, -1) / (b / c).reshape(2, -1)).ravel(),
    "transposed": lambda a, b, c: (a.reshape(2, -1).T / (b / c).reshape(2, -1).T).T.ravel(),
    "times 1": lambda a, b, c: a / (b / c * 1.0 + 0.0),
    "a sum of one": lambda a, b, c: a / jnp.sum((b / c)[:, None], 1),
    "divides a call": lambda a, b, c: a / jit(lambda x, y: x / y)(b, c),
    "in a call": lambda a, b, c: jit(lambda x, y: x / y)(a, b / c),
    "in a loop": lambda a, b, c: lax.fori_loop(0, 1, lambda i, x: a / x, b / c),
    "in a branch": lambda a, b, c: lax.cond(True, lambda x: a / x, lambda x: x, b / c),
    "of a derivative": lambda a, b, c: grad(lambda x: jnp.sum(a / (x / c)))(b) * -a,
}


@pytest.mark.parametrize("size", [2, 5000])
@pytest.mark.parametrize("number", [1e30, 1e-30, 3.0, -1e25])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_of_quotients(name, number, size):
    x = np.full(size, number, np.float32)
    for found in jit(QUOTIENTS[name])(x, x, x), jit(lambda: QUOTIENTS[name](*[jnp.asarray(x)] * 3))():
        np.testing.assert_allclose(found, x, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 3, 5000])
def test_quotients_by_powers_and_exponentials(size):
    x, one, far = np.full(size, 3e38, np.float32), np.ones(size, np.float32), np.full(size, 88, np.float32)
    for f in (lambda x, y, far: x / x ** y, lambda x, y, far: x / (x ** y).reshape(-1, 1)[:, 0], lambda x, y, far: jnp.exp(far) / lax.pow(jnp.exp(far), y),
              lambda x, y, far: np.float32(1.6516363e38) / jnp.exp(far), lambda x, y, far: x / jit(lambda x, y: x ** y)(x, y)):
        np.testing.assert_allclose(jit(f)(x, one, far), one, rtol=1e-4)
    found = jit(lambda x, y: jnp.exp(x) ** y)(np.full(size, np.inf, np.float32), np.zeros(size, np.float32))
    np.testing.assert_array_equal(found, one)


def test_quotients_of_complex_numbers():
    z = np.full(3, 1e30 + 1e30j, np.complex64)
    np.testing.assert_allclose(jit(lambda a, b: a / (a / b) / 1e30)(z, z), np.full(3, 1 + 1j), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.float64, jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float4_e2m1fn])
def test_quotients_of_other_floats(dtype):
    with enable_x64(True):
        x = np.array([1, 2, 4], dtype)
        found = jit(lambda a, b: (a / b) / (b / a))(x, np.ones(3, dtype))
        assert found.dtype == dtype and found.astype(np.float32).tolist() == [1.0, 4.0, 6.0 if dtype == jnp.float4_e2m1fn else 16.0]


# -- quotients by few numbers near the end of the range ----------------------------------------------------------------------

BY_FEW = {
    "a number": lambda x, y: x / y[0],
    "a vector's element": lambda x, y: x / y[:1],
    "rows": lambda x, y: (jnp.stack([x, x, x], 1) / y[:, None])[:, 0],
    "columns": lambda x, y: (jnp.stack([x, x, x]) / y)[1],
    "a maximum": lambda x, y: x / y.max(),
    "beside a root": lambda x, y: x / jnp.maximum(y[0], jnp.sqrt(y[1])),
    "a constant": lambda x, y: x / float(np.asarray(END[x.dtype])),
    "of a call": lambda x, y: jit(lambda x, y: x / y)(x, y[0]),
    "in a loop": lambda x, y: lax.fori_loop(0, 1, lambda i, x: x / y[i], x),
    "mapped": lambda x, y: vmap(lambda x: x / y[0])(x),
}
END = {np.dtype(dtype): dtype(0.75) * jnp.finfo(dtype).max for dtype in (np.float16, jnp.bfloat16, np.float32, np.float64)}


@pytest.mark.parametrize("dtype", END)
@pytest.mark.parametrize("name", BY_FEW)
def test_quotients_by_few(name, dtype):
    """The reciprocals of these are subnormal."""
    with enable_x64(True):
        x = (np.array([1, 0.5, -1, np.inf, np.nan]) * END[dtype]).astype(dtype)
        f, y = BY_FEW[name], np.full(5, END[dtype])
        for found in jit(f)(x, y), f(jnp.asarray(x), jnp.asarray(y)):
            assert found.dtype == dtype
            np.testing.assert_allclose(found.astype(np.float64), [1, 0.5, -1, np.inf, np.nan], rtol=4 * float(jnp.finfo(dtype).eps))
        for divisor in np.inf, -np.inf, np.nan, 0.0, 3.0:  # the others stay what they are
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(jit(lambda x, y: x / y)(x, dtype.type(divisor)).astype(np.float64),
                                           (x / dtype.type(divisor)).astype(np.float64), rtol=4 * float(jnp.finfo(dtype).eps))


def test_quotients_by_few_that_are_moderate():
    """Of roots, counts and the like nothing is asked."""
    x, n = np.ones((4, 3), np.float32), np.int32(3)
    for f in (lambda x, n: x / jnp.sqrt(x.sum()), lambda x, n: x / (jnp.std(x, 0) + 1e-6), lambda x, n: x / jnp.linalg.norm(x, axis=1, keepdims=True),
              lambda x, n: x / n, lambda x, n: x / 3, lambda x, n: x / jnp.maximum(jnp.abs(jnp.sin(x[0])), 1e-3), lambda x, n: nn.softmax(x)):
        assert "dense<0.25>" not in jit(f).lower(x, n).as_text()
    assert "dense<0.25>" in jit(lambda x: x / x.max()).lower(x).as_text()


@pytest.mark.parametrize("number, factors", [(1e30, (1e-30, 1e-30, 1e30)), (1e-30, (1e25, 1e25, 1e-20)), (1e10, (1e20, 2.0, 0.5)), (1e20, (-1e-25, 1e-25, 1e30))])
def test_products_with_constants(number, factors):
    x = np.full(3, number, np.float32)
    want = functools.reduce(np.multiply, map(np.float32, factors), x)
    for f in (lambda x: functools.reduce(lambda x, c: x * c, factors, x), lambda x: functools.reduce(lambda x, c: x / (1 / c), factors, x),
              lambda x: functools.reduce(lambda x, c: x * c[1] if c[0] % 2 else x / (1 / c[1]), enumerate(factors), x)):
        np.testing.assert_allclose(jit(f)(x), want, rtol=1e-6)


# -- NaN compared --------------------------------------------------------------------------------------------------------

NOT_NEGATIVE = {"abs": jnp.abs, "exp": jnp.exp, "maximum": lambda x: jnp.maximum(x, 0), "square": lambda x: x * x, "fourth power": lambda x: x ** 4,
                "broadcast": lambda x: jnp.broadcast_to(jnp.abs(x), (2, *x.shape))}


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16, np.float32])
@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_nan_is_not_positive(name, dtype):
    x = np.array([np.nan, -2, 0, np.inf], dtype)
    f = NOT_NEGATIVE[name]
    for comparison in lambda x: f(x) >= 0, lambda x: 0 <= f(x), lambda x: lax.le(jnp.zeros_like(f(x)), f(x)), lambda x: lax.ge(f(x), jnp.zeros_like(f(x))):
        np.testing.assert_array_equal(np.atleast_2d(jit(comparison)(x))[-1], [False, True, True, True])
        np.testing.assert_array_equal(np.atleast_2d(comparison(jnp.asarray(x)))[-1], [False, True, True, True])


# -- reductions from a start that changes the result -------------------------------------------------------------------------

STARTED = {"max": (lax.max, np.maximum), "min": (lax.min, np.minimum), "add": (lax.add, np.add), "mul": (lax.mul, np.multiply), "and": (lax.bitwise_and, np.bitwise_and),
           "own max": (lambda x, y: jnp.maximum(x, y) * np.ones((), x.dtype), np.maximum), "own add": (lambda x, y: x + y, np.add),
           "own add in steps": (lambda x, y: (x + y) * np.ones((), x.dtype), np.add)}


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 20])
@pytest.mark.parametrize("name, dtype", [(name, dtype) for name in STARTED for dtype in (np.float32, np.int32, np.float16) if name != "and" or dtype is np.int32])
def test_reductions_keep_their_start(name, dtype, count):
    """Of few arrays that are stacked the compiler makes steps without it."""
    function, reference = STARTED[name]
    x = np.array([-3, 2, -1, 1], dtype)
    rows = np.stack([x + dtype(i % 2) for i in range(count)])
    for start in dtype(2), dtype(-1):
        with np.errstate(over="ignore"):
            expected = reference.reduce(rows, 0, dtype=dtype, initial=start)
        stacked = jit(lambda x: lax.reduce(jnp.stack([x + dtype(i % 2) for i in range(count)]), start, function, (0,)))(x)
        given = jit(lambda rows, start: lax.reduce(rows[:, :, None], start, function, (0, 2)))(rows, start)
        for found in stacked, given, lax.reduce(rows, start, function, (0,)):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)


# -- integers of 4 bits that wrap ---------------------------------------------------------------------------------------------------

NARROW = {"int8": lambda v: v.astype(np.int8), "uint8": lambda v: v.astype(np.uint8), "sort": lax.sort, "argsort": jnp.argsort, "top_k": lambda v: lax.top_k(v, 2)[0],
          "median": lambda v: jnp.sort(v)[2], "max": jnp.max, "argmin": jnp.argmin, "search": lambda v: jnp.searchsorted(jnp.sort(v), v)}


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
@pytest.mark.parametrize("name", NARROW)
def test_narrow_integers_wrap(name, dtype):
    """Compiled with what reads them, as bytes, they would not."""
    x = np.array([1, 3, 2, -5], np.int32)
    for f in (lambda v: v * v, lambda v: v + v + v, lambda v: v << 2, lambda v: -v):
        steps = NARROW[name](jnp.asarray(np.asarray(f(jnp.asarray(x).astype(dtype)))))
        found = jit(lambda x: NARROW[name](f(x.astype(dtype))))(x)
        assert np.asarray(found).astype(np.int32).tolist() == np.asarray(steps).astype(np.int32).tolist()


# -- differences to the largest of products ---------------------------------------------------------------------------------------

DISTANCES = {  # what is 1 for the largest and 0 for all others, or a slope
    "softmax": lambda x: nn.softmax(x),
    "logsumexp": lambda x: jnp.exp(nn.logsumexp(x, 1, keepdims=True) - x.max(1, keepdims=True)),
    "log_softmax": lambda x: jnp.exp(nn.log_softmax(x)),
    "written out": lambda x: jnp.exp(x - x.max(1, keepdims=True)),
    "of a transpose": lambda x: jnp.exp(x.T - x.max(1)).T,
    "in a call": lambda x: jit(nn.softmax)(x),
    "in a loop": lambda x: lax.fori_loop(0, 2, lambda i, c: c * 0 + nn.softmax(x * (i + 1.0)), x),
    "slope": lambda x: grad(lambda x: nn.logsumexp(x, 1).sum())(x),
    "slope of a slope": lambda x: grad(lambda x: grad(lambda x: nn.logsumexp(x, 1).sum())(x)[0, 0])(x) + nn.softmax(x),
}
PRODUCTS = {"product": lambda x: x * 3e12, "quotient": lambda x: x / 3e-13, "with an array": lambda x: x * jnp.sqrt(x[:1] * 0 + 3e24), "negated": lambda x: -(x * -3e12),
            "square": lambda x: jnp.sign(x) * (x * 3e6) ** 2, "of a call": lambda x: jit(lambda x, t: x * t)(x, 3e12)}


def test_products_that_are_exact_are_left_alone():
    for f in (lambda x: nn.softmax(x * 0.125), lambda x: nn.softmax(x / 4), lambda x: nn.softmax(x + 3), nn.softmax):
        assert "compared with one" not in jit(f).lower(np.ones((40, 40), np.float32)).as_text()
    assert "compared with one" in jit(lambda x: nn.softmax(x * 0.3)).lower(np.ones((40, 40), np.float32)).as_text()


@pytest.mark.parametrize("shape", [(3, 4), (40, 41), (300, 500)])
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", DISTANCES)
def test_distances_to_the_largest(name, product, shape):
    """Rounded together with the product they are not 0 for the largest element, and those of numbers so large may be any."""
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    f = lambda x: DISTANCES[name](PRODUCTS[product](x))
    scaled = np.asarray(jit(PRODUCTS[product])(x))
    want = scaled == scaled.max(1, keepdims=True)
    found = np.asarray(jit(f)(x))
    if name == "logsumexp":
        want = np.ones_like(found)
    if "slope" not in name:
        np.testing.assert_allclose(found, want, atol=1e-6)
    elif name == "slope":
        np.testing.assert_allclose(jit(lambda x: grad(lambda y: nn.logsumexp(y, 1).sum())(PRODUCTS[product](x)))(x), want, atol=1e-6)
    assert np.isfinite(found).all()


# -- addresses that are lost ----------------------------------------------------------------------------------------------------

PADDED = {"padded": lambda x: lax.pad(x, x.dtype.type(0), [(1, 1, 0)]), "written into constants": lambda x: lax.dynamic_update_slice(jnp.zeros(3, x.dtype), x, (1,)),
          "beside others": lambda x: jnp.concatenate([jnp.zeros(1, x.dtype), x, jnp.zeros(1, x.dtype)])}


@pytest.mark.parametrize("name", PADDED)
def test_slices_of_numbers_and_flags_among_padding(name):
    """Scattered, in a loop: the process ends where LLVM is wrong."""
    x, flags = np.arange(1, 8, dtype=np.float32), np.arange(7) % 2 == 0

    def step(j, c):
        number, flag = (lax.dynamic_slice(a, (j,), (1,)) for a in (jnp.asarray(x), jnp.asarray(flags)))
        return c.at[jnp.arange(3)[::-1]].add(PADDED[name](jnp.where(flag, 0, number)))
    np.testing.assert_array_equal(jit(lambda c: lax.fori_loop(0, 3, step, c))(np.zeros(3, np.float32)), [0, 2, 0])
    medians = vjp(lambda x: lax.map(lambda t: jnp.median(t * jnp.array([-0.5, 2.0, -0.5])), x), x[:3])[1]
    np.testing.assert_array_equal(jit(medians)(np.ones(3, np.float32))[0], [-0.5] * 3)


# -- edges of bins by multiply-adds -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "int8", "complex64"])
@pytest.mark.parametrize("bins", [2, 6, 10, 50])
def test_zeros_lie_in_the_bin_that_begins_with_0(bins, dtype):
    """Where multiples of a width and the lowest edge are added with one rounding, the edge between is a little above 0."""
    zeros, whole = np.zeros(3, dtype), dtype != "complex64"
    x = jnp.asarray(zeros)
    for count, reference in (jnp.histogram, np.histogram), *[(jnp.histogram2d, np.histogram2d)] * whole:
        args = (x,) if count is jnp.histogram else (x, x)
        want = reference(*map(lambda x: np.asarray(x).real.astype(float), args), bins)[0]
        for found in count(*args, bins), jit(lambda *args: count(*args, bins))(*args), jit(lambda *args: count(*args, bins)[:1])(*args):
            np.testing.assert_array_equal(found[0], want)
