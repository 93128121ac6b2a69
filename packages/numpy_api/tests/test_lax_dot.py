"""Laws of products and convolutions."""
import numpy as np
import pytest

from harness import LAWS, Case
from jax_core.programs.jit import jit
from jax_core.representation import dtypes
from jax_core.transformations.autodiff import grad, jvp
from jax_numpy_api import lax

DOTS = [Case(lax.dot_general, types, dimension_numbers=numbers, precision=None, preferred_element_type=None, tolerance=16, order=1)
        for types, numbers in [
    ("f32[2,3],f32[3,4] bf16[2,3],bf16[3,4] i32[2,3],i32[3,4] c64[2,3],c64[3,4] f32[2,0],f32[0,3]", (((1,), (0,)), ((), ()))),
    ("f32[3],f32[3] i8[3],i8[3]", (((0,), (0,)), ((), ()))),
    ("f32[2],f32[3]", (((), ()), ((), ()))),
    ("f32[2,3,4],f32[5,4,2] i32[2,3,4],i32[5,4,2]", (((2,), (1,)), ((0,), (2,)))),
    ("f32[4,2,3,5],f32[3,4,6,2]", (((0, 2), (1, 0)), ((1,), (3,)))),
    ("f32[2,3,4],f32[4,3,2]", (((2, 1), (0, 1)), ((), ()))),
    ("f32[3,2],f32[2,3]", (((), ()), ((0, 1), (1, 0))))]]
OTHERS = [
    Case(lax.dot, "f32[2,3],f32[3,4]", reference=np.dot, tolerance=16), Case(lax.dot, "f32[3],f32[3]", reference=np.dot),
    Case(lax.dot, "bf16[2,3],bf16[3,4] f16[2,3],f16[3]", reference=lambda x, y: x.astype(np.float32) @ y.astype(np.float32),
         preferred_element_type=np.float32, derivative=False),
    Case(lax.dot_general, "f32[2,3],f32[3,4]", dimension_numbers=(((1,), (0,)), ((), ())), precision=None, preferred_element_type=np.int32,
         domain=(1.5, 9)),
    Case(lax.dot, "i8[2,3],i8[3,4]", preferred_element_type=np.int32, domain=(-100, 100),
         reference=lambda x, y: x.astype(np.int32) @ y.astype(np.int32)),
    Case(lax.dot, "i8[2,3],f32[3,4]", reference=lambda x, y: x.astype(np.float32) @ y),
    Case(lax.batch_matmul, "f32[2,3,4],f32[2,4,5]", reference=np.matmul, tolerance=16),
    Case(lambda x, y: lax.ragged_dot(x, y, np.int32([2, 0, 3])), "f32[6,3],f32[3,3,2]", name="ragged_dot", tolerance=16,
         reference=lambda x, y: np.concatenate([x[:2] @ y[0], x[2:5] @ y[2], np.zeros((1, 2), x.dtype)]))]

NHWC = ("NHWC", "HWIO", "NHWC")


def convolution(types, numbers, padding=None, strides=None, lhs_dilation=None, rhs_dilation=None, groups=1, batch_groups=1):
    spatial = len(numbers[0]) - 2
    shapes = [[int(n) for n in t.split("[")[1].rstrip("]").split(",")] for t in types.split()[0].replace("],", "] ").split()]
    ones = (1,) * spatial
    return Case(lax.conv_general_dilated_p.bind, types, name="conv_general_dilated", tolerance=32, order=1,
                reference=None, window_strides=strides or ones, padding=padding or ((0, 0),) * spatial,
                lhs_dilation=lhs_dilation or ones, rhs_dilation=rhs_dilation or ones,
                dimension_numbers=lax.conv_dimension_numbers(*shapes, numbers), feature_group_count=groups,
                batch_group_count=batch_groups, precision=None, preferred_element_type=None)


CONVOLUTIONS = [
    convolution("f32[2,5,4,3],f32[2,3,3,2] bf16[1,3,4,3],bf16[2,3,3,2] i32[1,3,4,3],i32[2,3,3,2]", NHWC),
    convolution("f32[2,5,4,3],f32[2,3,3,2]", NHWC, ((1, 2), (-1, 1)), (2, 1)),
    convolution("f32[2,3,5,4],f32[4,3,3,2]", ("NCHW", "OIHW", "NCHW"), ((1, 2), (2, 1)), (2, 3), (2, 1), (1, 2)),
    convolution("f32[2,6,5],f32[4,3,2]", ("NCH", "OIH", "NCH"), groups=2),
    convolution("f32[2,6,5],f32[6,1,2]", ("NCH", "OIH", "NCH"), ((1, 0),), (2,), groups=6),
    convolution("f32[4,2,5],f32[6,2,2]", ("NCH", "OIH", "NCH"), ((1, 1),), (2,), (1,), (2,), batch_groups=2),
    convolution("f32[5,2,3],f32[3,2,4]", ("HNC", "IHO", "CNH"), ((1, 1),), (1,), (2,)),
    convolution("f32[2,3],f32[3,4]", ("NC", "IO", "NC")),
    convolution("c64[2,5,3],c64[2,3,2]", ("NHC", "HIO", "NHC"), ((1, 1),)),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", DOTS + OTHERS + CONVOLUTIONS, ids=str)
def test_law(case, law):
    law(case)


LARGEST = {"float16": 1.0009765625, "bfloat16": 3.0, "float8_e5m2": 57344.0, "int32": 70001, "uint8": 200, "int8": -100, "uint16": 40000, "int4": -7, "uint4": 15}


@pytest.mark.parametrize("left, right, wide", [
    ("uint8", "int8", "int32"), ("int8", "uint8", "int16"), ("uint16", "int8", "uint32"), ("uint4", "int4", "int8"), ("float16", "bfloat16", "float32"),
    ("int32", "float16", "float32"), ("bfloat16", "uint16", "float32"), ("float16", "float8_e5m2", "float32")])
def test_a_product_in_a_wider_dtype_is_that_of_what_was_given(left, right, wide):
    """Neither operand is made one of a dtype that does not hold it: 200 is -56 as an int8, and 70001 infinite as a float16."""
    a, b = (np.full(2, LARGEST[name]).astype(name) for name in (left, right))
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64 if "int" in wide else wide).astype(wide)
    assert np.asarray(jit(lambda a, b: lax.dot(a, b, preferred_element_type=wide))(a, b)) == want


def test_sums_of_floats_as_integers_are_steps():
    """Their tangents are those of integers, and what is made of them has slope 0."""
    f = lambda a: lax.dot(a, a, preferred_element_type=np.uint8)
    a = np.float32([-1, 2])
    out, tangent = jvp(f, (a,), (a,))
    assert out == 5 and tangent.dtype == dtypes.float0
    for g in (lambda a: f(a) * a[1], jit(lambda a: f(a) * a[1])):
        assert np.array_equal(grad(g)(a), [0, 5]) and jvp(g, (a,), (a,))[1] == 10
