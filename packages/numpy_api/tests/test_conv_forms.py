"""Every form in which a convolution is put to XLA's CPU compiler gives what the definition gives."""
import itertools

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_numpy_api import lax
from jax_numpy_api.lax.conv import conv_general_dilated_p

LAYOUTS = [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"), ("HWNC", "OHWI", "CNHW")]
# batch, spatial, features, kernel, output features, feature groups, batch groups, strides, padding, dilations
SHAPES = [
    (2, (6, 5), 4, (3, 2), 6, 1, 1, (1, 2), ((1, 2), (0, 1)), (1, 2), (2, 1)),
    (2, (6, 5), 4, (3, 2), 4, 4, 1, (1, 1), ((1, 1), (-1, 1)), (1, 1), (1, 1)),
    (1, (6, 5), 4, (3, 2), 12, 4, 1, (2, 1), ((1, 1), (2, 0)), (2, 1), (1, 2)),
    (2, (5, 5), 6, (3, 3), 12, 3, 1, (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1)),
    (3, (5, 5), 64, (2, 2), 64, 4, 1, (1, 2), ((1, 0), (0, 0)), (1, 1), (1, 1)),
    (6, (5, 5), 3, (4, 4), 6, 1, 3, (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1)),
    (1, (17, 17), 1, (9, 9), 2, 1, 1, (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1)),  # more than 64 elements of the kernel and of the result
    (80, (3, 3), 2, (2, 2), 80, 1, 80, (1, 1), ((0, 1), (0, 0)), (1, 1), (1, 1)),
]


def doubles(*shape):
    return ShapeDtypeStruct(shape, np.float64)


def _arranged(x, names, spec):
    return np.ascontiguousarray(np.transpose(x, [names.index(c) for c in spec]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case, layout", list(itertools.product(range(len(SHAPES)), LAYOUTS)))
def test_form_agrees_with_definition(case, layout, dtype):
    batch, spatial, features, kernel, outputs, groups, batch_groups, strides, padding, ldil, rdil = SHAPES[case]
    rng = np.random.default_rng(case)
    with flags.enable_x64(True):
        x = _arranged(rng.normal(size=(batch, *spatial, features)).astype(dtype), "NHWC", layout[0])
        k = _arranged(rng.normal(size=(*kernel, features // groups, outputs)).astype(dtype), "HWIO", layout[1])
        params = dict(window_strides=strides, padding=padding, lhs_dilation=ldil, rhs_dilation=rdil,
                      dimension_numbers=lax.conv_dimension_numbers(x.shape, k.shape, layout), feature_group_count=groups,
                      batch_group_count=batch_groups)
        got = np.asarray(jit(lambda x, k: lax.conv_general_dilated(x, k, **params))(x, k))
        want = conv_general_dilated_p.reference(x, k, **params, precision=None, preferred_element_type=None)
    assert got.dtype == dtype and got.shape == want.shape
    tolerance = {np.float16: 3e-2, np.float32: 2e-5, np.float64: 1e-12}[dtype]
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("case, layout", list(itertools.product([i for i, shape in enumerate(SHAPES) if shape[5] * shape[6] > 1], LAYOUTS)))
def test_what_is_not_finite_stays_in_its_group(case, layout, value):
    """Merged groups meet each other's elements times zeros, which made NaN of an infinite one in all of them."""
    batch, spatial, features, kernel, outputs, groups, batch_groups, strides, padding, ldil, rdil = SHAPES[case]
    rng = np.random.default_rng(case)
    x = rng.normal(size=(batch, *spatial, features)).astype(np.float32)
    x[0, 2, 2, 1 % features] = value
    x = _arranged(x, "NHWC", layout[0])
    k = _arranged(rng.normal(size=(*kernel, features // groups, outputs)).astype(np.float32), "HWIO", layout[1])
    params = dict(window_strides=strides, padding=padding, lhs_dilation=ldil, rhs_dilation=rdil,
                  dimension_numbers=lax.conv_dimension_numbers(x.shape, k.shape, layout), feature_group_count=groups, batch_group_count=batch_groups)
    got = np.asarray(jit(lambda x, k: lax.conv_general_dilated(x, k, **params))(x, k))
    want = conv_general_dilated_p.reference(x, k, **params, precision=None, preferred_element_type=None)
    np.testing.assert_allclose(got, want.astype(np.float32), rtol=2e-5, atol=2e-5)
    assert np.isfinite(got).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("x, k", [([1, 2, 3], [1, np.inf]), ([1, -np.inf], [1, -np.inf]), ([np.inf, 1, 2], [1, 2]), ([1, 2, 3, np.nan], [np.nan, 2])])
def test_padding_is_not_multiplied(x, k, dtype):
    with flags.enable_x64(True):
        x, k = np.array(x, dtype), np.array(k, dtype)
        np.testing.assert_array_equal(jit(jnp.convolve)(x, k), np.convolve(x, k))
        np.testing.assert_array_equal(jit(lambda x, k: jnp.correlate(x, k, "full"))(x, k), np.correlate(x, k, "full"))


@pytest.mark.only_cpu
@pytest.mark.parametrize("outputs, spatial, products", [
    (1, (20, 20), 0), (2, (20, 20), 0), (3, (20, 20), 1), (23, (20, 20), 1), (24, (20, 20), 0), (24, (20,), 1), (3, (300, 300), 0), (12, (300, 300), 1),
    (12, (900, 900), 0)])
def test_which_convolutions_of_float64_are_products(outputs, spatial, products):
    with flags.enable_x64(True):
        x, k = doubles(2, 3, *spatial), doubles(outputs, 3, *[2] * len(spatial))
        text = jit(lambda x, k: lax.conv(x, k, (1,) * len(spatial), "SAME")).trace(x, k).lower().as_text()
    assert (text.count("stablehlo.dot_general"), text.count("stablehlo.convolution")) == (products, 1 - products)


@pytest.mark.only_cpu
def test_merged_groups_are_one_kernel_without_parts():
    """A concatenation of as many copies as groups took 139 ms to compile where this takes 35."""
    numbers = ("NHWC", "HWIO", "NHWC")
    f = jit(lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=8))
    text = f.trace(np.ones((2, 8, 8, 32), np.float32), np.ones((3, 3, 4, 32), np.float32)).lower().as_text()
    fast, as_given = text.count("feature_group_count = 1 "), text.count("feature_group_count = 8 ")
    assert (fast, as_given, text.count("stablehlo.convolution")) == (1, 1, 2) and "stablehlo.concatenate" not in text


@pytest.mark.only_cpu
def test_depthwise_convolutions_are_computed_once():
    """Each of their results was computed again in every later convolution, and for each element that a sum reads."""
    params = dict(dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=16)
    x, k = np.ones((2, 32, 32, 16), np.float32), np.ones((3, 3, 1, 16), np.float32)

    def f(x, k):
        for padding in ("SAME", "SAME", "VALID"):
            x = lax.conv_general_dilated(lax.abs(x), k, (1, 1), padding, **params)
        return lax.reduce_sum(x, (2,))
    text = jit(f).lower(x, k).compile().as_text()
    assert text.count(" multiply(") == 3 * 9 and text.count(" abs(") == 3, text
