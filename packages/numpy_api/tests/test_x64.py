"""What is true where x64 is on, beside what all tests of values try there."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.export.exporting import export
from jax_core.export.symbolic_shapes import symbolic_shape
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import grad
from jax_numpy_api import flatten_util, lax
from jax_numpy_api.scipy import special


@pytest.mark.parametrize("fun", [lambda x: jnp.where(x > 0, x, -x), jnp.abs, lambda x: jnp.maximum(x, 1), lambda x: jnp.clip(x, 0, 1)])
def test_derivatives_at_python_numbers_need_no_conversion(fun):
    with flags.enable_x64(True):
        traced = make_jaxpr(grad(fun))(3.0)
    assert traced.out_avals[0].weak_type and traced.out_avals[0].dtype == np.float64
    assert [e.primitive.name for e in traced.eqns] == [e.primitive.name for e in make_jaxpr(grad(fun))(3.0).eqns]


@pytest.mark.parametrize("function", [jnp.linalg.det, jnp.linalg.slogdet, jnp.linalg.pinv, jnp.linalg.cond, lambda x: jnp.linalg.lstsq(x, x)[0], special.gammasgn, lambda x: special.poch(x, x),
                                      lambda x: special.expn(x, x)])
def test_weak_arrays_of_a_time_without_x64_keep_their_dtype(function):
    x = jnp.full((3, 3), 0.5)
    with flags.enable_x64(True):
        found = function(x)
    assert x.weak_type and all(leaf.dtype == np.float32 for leaf in (found if isinstance(found, tuple) else [found]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("k", [-2**33, -2**31, -1, 3, 2**31 - 1, 2**33])
@pytest.mark.parametrize("ours, wanted", [(jnp.tri, np.tri), (jnp.eye, np.eye)])
def test_far_diagonals(ours, wanted, k, dtype):
    with flags.enable_x64(True):
        np.testing.assert_array_equal(jit(lambda: ours(3, 4, k))(), wanted(3, 4, k))
        if np.iinfo(dtype).min <= k <= np.iinfo(dtype).max:
            np.testing.assert_array_equal(jit(lambda k: ours(3, 4, k))(dtype(k)), wanted(3, 4, k))


def test_dtypes_that_depend_on_it_or_not():
    with flags.enable_x64(True):
        assert flatten_util.ravel_pytree([])[0].dtype == np.float32
        assert lax.shape_as_value((2, 3)).dtype == np.int32
        whole = export(jit(lambda x: lax.shape_as_value(x.shape)))(ShapeDtypeStruct(symbolic_shape("n, 2"), np.float32))
        sizes = whole.call(np.ones((3, 2), np.float32))
    assert sizes.dtype == np.int64 and sizes.tolist() == [3, 2]
