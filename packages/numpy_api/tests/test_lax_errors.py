"""Bad arguments raise the error class users expect, with a message that names the function and what came."""
import numpy as np
import pytest

from harness import Bad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp

DOT = (((1,), (0,)), ((), ()))
CONV = "f32[1,1,5,5],f32[1,1,3,3]"


def conv(**params):
    return lambda x, k: lax.conv_general_dilated(x, k, **{"window_strides": (1, 1), "padding": "VALID", **params})


def in_dtype(dtype, preferred, function=lax.dot):
    return lambda: function(np.ones((2, 2), dtype), np.ones((2, 2), dtype), preferred_element_type=preferred)


CASES = [
    Bad(lambda x: jnp.cov(x, dtype="int32"), "f32[3,3]", ValueError, r"jax.numpy.cov: dtype must be a floating-point or complex dtype, got int32"),
    Bad(lambda x: lax.gather(x, np.zeros((1, 1), int), None, (1,)), "f32[3]", TypeError, r"lax.gather: dimension_numbers must be lax.Gather"),
    Bad(lambda x, y: lax.dot_general(x, y, None), "f32[5,2,3],f32[3,4]", ValueError, r"must be vectors or matrices that fit, got shapes \(5, 2, 3\)"),
    Bad(lambda: lax.cumsum(None), "", TypeError, r"lax.cumsum: argument 0 must be an array or a number, got None"),
    Bad(lambda: lax.switch(0, []), "", ValueError, r"lax.switch: give at least one branch"),
    Bad(lambda: lax.rng_uniform(1.0, 2, (3,)), "", ValueError, r"lax.rng_uniform: bounds must have one dtype, got float32\[\] and int32\[\]"),
    Bad(lambda x: jnp.linalg.norm(x, (1, 2)), "f32[3,3]", ValueError, r"jnp.linalg.norm: ord=\(1, 2\) must be None, a number"),
    Bad(lambda x: jnp.histogram(x, range=1.0), "f32[3]", ValueError, r"range must be None or a pair of numbers, got 1.0"),
    Bad(conv(padding=[(1, 1)]), CONV, TypeError, r"padding=\(\(1, 1\),\) needs one entry for each of the 2 spatial axes"),
    Bad(conv(padding=[(-9, 0), (0, 0)]), CONV, ValueError, r"crops more than the 5 elements"),
    Bad(conv(padding=1), CONV, ValueError, r"padding=1 must be 'SAME'"),
    Bad(conv(rhs_dilation=(0, 1)), CONV, TypeError, r"rhs_dilation=\(0, 1\) must be positive"),
    Bad(conv(dimension_numbers=("NNHW", "OIHW", "NCHW")), CONV, TypeError, r"'NNHW' must hold each of"),
    Bad(conv(preferred_element_type=np.int32), CONV, TypeError, r"preferred_element_type=int32 cannot hold sums of products of float32"),
    Bad(conv(preferred_element_type=np.float16), CONV, TypeError, r"give a wider dtype of the same kind"),
    Bad(in_dtype(np.int32, np.int8), "", TypeError, r"preferred_element_type=int8 cannot hold sums of products of int32"),
    Bad(in_dtype(np.int16, np.bool_), "", TypeError, r"preferred_element_type=bool cannot hold"),
    Bad(in_dtype(np.complex64, np.float16), "", TypeError, r"preferred_element_type=float16 cannot hold sums of products of complex64"),
    Bad(lambda x: lax.conv_transpose(x, x, (2,), "same"), "f32[1,5,1]", ValueError, r"has no meaning with lhs_dilation=\(2,\)"),
    Bad(lambda x: vmap(lambda y: lax.transpose(y, (0, -1)))(x), "f32[2,3,4]", TypeError, r"permutation=\(0, -1\) is not a permutation of the 2 axes"),
    Bad(lambda x: lax.slice_in_dim(x, 0, 1, axis=2), "f32[4]", IndexError, r"axis 2 is out of bounds"),
    Bad(lambda x: lax.dynamic_slice(x, (0,), (1, 1)), "f32[4]", ValueError, r"slice_sizes=\(1, 1\) must have one entry for each axis"),
    Bad(lax.bitcast_convert_type, "f32[2]", TypeError, r"does not support booleans or complex", new_dtype=np.complex64),
    Bad(lax.add, "f32[3],i32[3]", TypeError, r"lax.add requires arguments to have the same dtypes, got float32\[3\], int32\[3\]"),
    Bad(lax.add, "f32[3],f32[2]", TypeError, r"lax.add got incompatible shapes for broadcasting: \(3,\), \(2,\)"),
    Bad(lax.add, "f32[3],f32[3,3]", TypeError, r"lax.add requires operands of one rank, or scalars"),
    Bad(lax.add, "bool[3],bool[3]", TypeError, r"lax.add does not accept dtype bool\[3\] as argument 0"),
    Bad(lambda x: lax.add(x, [1, 2]), "f32[2]", TypeError, r"lax.add: argument 1 must be an array or a number, got \[1, 2\]"),
    Bad(lax.sin, "i32[3]", TypeError, r"lax.sin does not accept dtype int32\[3\]; it takes real floating, complex floating"),
    Bad(lax.lt, "c64[3],c64[3]", TypeError, r"lax.lt does not accept dtype complex64\[3\]"),
    Bad(lax.abs, "u8[3]", TypeError, r"lax.abs does not accept dtype uint8\[3\]"),
    Bad(lax.real, "f32[3]", TypeError, r"lax.real does not accept dtype float32\[3\]"),
    Bad(lax.complex, "bf16[3],bf16[3]", TypeError, r"lax.complex does not accept dtype bfloat16\[3\]; it takes float32"),
    Bad(lax.complex, "f16[3],f16[]", TypeError, r"lax.complex does not accept dtype float16"),
    Bad(lax.pow, "i32[3],i32[3]", TypeError, r"lax.pow does not accept dtype int32\[3\]"),
    Bad(lax.pow, "f32[3],bf16[3]", TypeError, r"lax.pow requires an exponent of the dtype of the base"),
    Bad(lax.integer_pow, "i32[3]", TypeError, r"integers cannot be raised to negative powers", y=-2),
    Bad(lax.reciprocal, "i32[3]", TypeError, r"integers cannot be raised to negative powers"),
    Bad(lax.select, "f32[3],f32[3],f32[3]", TypeError, r"`which` must be of booleans or integers"),
    Bad(lax.select, "bool[3],f32[3],f32[]", TypeError, r"cases must have equal shapes"),
    Bad(lax.select, "bool[1],f32[3],f32[3]", TypeError, r"`which` must be a scalar or have the shape of the cases"),
    Bad(lax.select_n, "bool[3],f32[3],f32[3],f32[3]", TypeError, r"chooses between at most 2 cases, got 3"),
    Bad(lax.clamp, "f32[2],f32[3],f32[]", TypeError, r"lax.clamp: min must be a scalar or have the shape of the operand"),
    Bad(lax.clamp, "i32[],f32[3],i32[]", TypeError, r"lax.clamp requires arguments to have the same dtypes"),
    Bad(lax.reshape, "f32[3]", ValueError, r"lax.reshape: operand float32\[3\] has 3 elements", new_sizes=(2,)),
    Bad(lax.reshape, "f32[3]", TypeError, r"new_sizes must all be positive or zero, got \(-1,\)", new_sizes=(-1,)),
    Bad(lax.squeeze, "f32[3]", ValueError, r"lax.squeeze: dimensions=\(0,\) of f(loat)?32\[3\] are not all of length 1", dimensions=(0,)),
    Bad(lax.expand_dims, "f32[3]", ValueError, r"axis 5 is out of bounds for array of dimension 2", dimensions=(5,)),
    Bad(lax.concatenate, "f32[3],i32[3]", TypeError, r"lax.concatenate requires arguments to have the same dtypes", sequence=True, dimension=0),
    Bad(lax.concatenate, "f32[3,1],f32[3,2]", TypeError, r"equal shapes apart from axis 0", sequence=True, dimension=0),
    Bad(lambda: lax.concatenate([], 0), "", ValueError, r"lax.concatenate requires a non-empty sequence"),
    Bad(lax.concatenate, "f32[3],f32[3]", TypeError, r"dimension=1 must lie in \[0, 1\)", sequence=True, dimension=1),
    Bad(lambda x: lax.reduce(x, np.zeros(2, np.float32), lambda a, b: a, (0,)), "f32[3]", ValueError, r"must be a scalar of its dtype"),
    Bad(lambda x: lax.reduce(x, 0.0, lambda a, b: lax.full((2,), 1.0), (0,)), "f32[3]", ValueError, r"must combine scalars to scalars"),
    Bad(lax.pad, "f32[3],f32[2]", ValueError, r"padding_value must be a scalar", padding_config=((0, 0, 0),)),
    Bad(lax.pad, "f32[3],i32[]", TypeError, r"operand and padding_value must have one dtype", padding_config=((0, 0, 0),)),
    Bad(lax.pad, "f32[3],f32[]", ValueError, r"interior padding must not be negative", padding_config=((0, 0, -1),)),
    Bad(lax.pad, "f32[3],f32[]", ValueError, r"takes more from operand float32\[3\] than it has", padding_config=((-2, -2, 0),)),
    Bad(lax.rev, "f32[3]", TypeError, r"lax.rev: dimensions=\(0, 0\) must be unique", dimensions=(0, 0)),
    Bad(lax.split, "f32[3]", ValueError, r"lax.split: sizes=\(1, 1\)", sizes=(1, 1)),
    Bad(lax.tile, "f32[3]", TypeError, r"lax.tile: reps=\(2, 2\)", reps=(2, 2)),
    Bad(lax.broadcast_in_dim, "f32[3]", TypeError, r"axis of length 3 meets 2", shape=(2, 2), broadcast_dimensions=(1,)),
    Bad(lambda: lax.iota(bool, 3), "", TypeError, r"lax.iota does not accept dtype bool"),
    Bad(lambda: lax.iota(np.int32, -1), "", TypeError, r"numbers that are not negative"),
    Bad(lambda: lax.broadcasted_iota(np.int32, (2, 3), 2), "", ValueError, r"dimension=2 must lie in \[0, 2\)"),
    Bad(lambda: lax.full((), np.ones(3)), "", TypeError, r"lax.full: fill_value must be a scalar"),
    Bad(lambda: lax.broadcast_shapes((2,), (3,)), "", ValueError, r"Incompatible shapes for broadcasting"),
    Bad(lax.bitcast_convert_type, "bool[3]", TypeError, r"does not support booleans or complex", new_dtype=np.int8),
    Bad(lax.bitcast_convert_type, "i8[3]", ValueError, r"its last axis must have length 4", new_dtype=np.int32),
    Bad(lax.reduce_max, "f32[3]", ValueError, r"axes=\(1,\) must be distinct and lie in \[0, 1\)", axes=(1,)),
    Bad(lax.reduce_sum, "bool[3]", TypeError, r"lax.reduce_sum does not accept dtype bool\[3\]", axes=(0,)),
    Bad(lax.reduce_and, "f32[3]", TypeError, r"lax.reduce_and does not accept dtype float32\[3\]", axes=(0,)),
    Bad(lax.argmax, "f32[0]", ValueError, r"axis 0 of operand float32\[0\] is empty", axis=0, index_dtype=np.int32),
    Bad(lax.argmax, "f32[3]", TypeError, r"index_dtype=float32 must be an integer dtype", axis=0, index_dtype=np.float32),
    Bad(lax.argmax, "c64[3]", TypeError, r"lax.argmax does not accept dtype complex64", axis=0, index_dtype=np.int32),
    Bad(lax.reduce_precision, "f32[3]", ValueError, r"mantissa_bits must be non-negative", exponent_bits=5, mantissa_bits=-1),
    Bad(lax.dot, "f32[2,3],f32[2,3]", ValueError, r"without dimension_numbers the operands must be vectors or matrices that fit"),
    Bad(lax.dot_general, "f32[2,3],f32[2,3]", TypeError, r"requires contracting dimensions of equal lengths, got \(3,\)",
        dimension_numbers=DOT),
    Bad(lax.dot_general, "f32[2,3],f32[3,2]", TypeError, r"must be distinct, and contracting ones disjoint",
        dimension_numbers=(((1,), (0,)), ((0,), (0,)))),
    Bad(lax.dot_general, "f32[2,3],f32[3,2]", TypeError, r"dimension numbers of lhs must lie in \[0, 2\)",
        dimension_numbers=(((5,), (0,)), ((), ()))),
    Bad(lax.dot_general, "f32[2,3],f32[3,2]", ValueError, r"precision='foo' must be None, one of the strings",
        dimension_numbers=DOT, precision="foo"),
    Bad(lax.batch_matmul, "f32[3],f32[3]", ValueError, r"equally many axes, at least 2"),
    Bad(lax.conv, "f32[1,1,4,4],bf16[1,1,2,2]", TypeError, r"requires arguments to have the same dtypes", window_strides=(1, 1),
        padding="SAME"),
    Bad(lax.conv, "f32[1,1,4,4],f32[1,1,2]", TypeError, r"requires operand and kernel of equal rank", window_strides=(1, 1),
        padding="SAME"),
    Bad(lax.conv, "f32[1,3,4,4],f32[1,1,2,2]", ValueError, r"the operand has 3 features", window_strides=(1, 1), padding="SAME"),
    Bad(lax.conv, "f32[1,1,4],f32[1,1,0]", ValueError, r"the kernel is empty along a spatial axis", window_strides=(1,), padding="VALID"),
    Bad(lax.conv, "f32[1,1,4,4],f32[1,1,2,2]", RuntimeError, r"padding='FOO' is not one of", window_strides=(1, 1), padding="FOO"),
]


@pytest.mark.parametrize("bad", CASES, ids=lambda bad: str(bad))
def test_bad_argument(bad):
    with pytest.raises(bad.error, match=bad.message):
        bad.case.call(*bad.case.samples(0))


def test_what_is_accepted():
    x = np.arange(5, dtype=np.float32).reshape(1, 5, 1)
    same = lax.conv_transpose(x, np.array([0, 1], np.float32).reshape(2, 1, 1), (1,), "same")  # pads as a forward convolution
    np.testing.assert_array_equal(np.ravel(same), [1, 2, 3, 4, 0])
    assert lax.broadcast_to_rank(own := lax.neg(x), 1) is own
    for dtype, preferred in ((np.float32, np.int8), (np.complex64, np.float32), (np.int8, np.float16), (np.bool_, np.int8)):
        assert in_dtype(dtype, preferred)().dtype == preferred
