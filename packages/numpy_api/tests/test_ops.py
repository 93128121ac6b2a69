"""jax.ops: reductions over segments."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_numpy_api import ops

DATA, IDS = np.array([[1.0, 2], [3, 4], [5, 6], [7, 8]], np.float32), np.array([0, 2, 0, 5])
REDUCTIONS = [("sum", np.add, 0), ("prod", np.multiply, 1), ("max", np.maximum, -np.inf), ("min", np.minimum, np.inf)]


@pytest.mark.parametrize("name, ufunc, empty", REDUCTIONS, ids=[r[0] for r in REDUCTIONS])
def test_segments(name, ufunc, empty):
    """Ids out of range are left out, empty segments get the neutral element."""
    want = np.full((3, 2), empty, np.float32)
    ufunc.at(want, IDS[:3], DATA[:3])
    fun = getattr(ops, f"segment_{name}")
    np.testing.assert_array_equal(fun(DATA, IDS, 3), want)
    np.testing.assert_array_equal(jit(fun, static_argnums=2)(DATA, IDS, 3), want)
    np.testing.assert_array_equal(fun(DATA, IDS, 3, bucket_size=2), want)


def test_number_of_segments_is_one_more_than_the_largest_id():
    assert ops.segment_sum(DATA, IDS).shape == (6, 2)


def test_derivative_of_a_sum_goes_to_the_rows_that_count():
    np.testing.assert_array_equal(grad(lambda x: ops.segment_sum(x, IDS, 3).sum())(DATA)[:, 0], [1, 1, 1, 0])


def test_bad_shapes():
    with pytest.raises(ValueError, match="as long as the first axis of data"):
        ops.segment_sum(DATA, IDS[:2])


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 2)])
@pytest.mark.parametrize("bucket_size", [None, 2])
def test_one_row_counts_for_each_id(name, shape, bucket_size):
    """A scalar, or one row, is reduced as if it were repeated to the length of the ids: graphs have one attribute for all edges."""
    row = np.arange(2.0, 2.0 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    fun = getattr(ops, f"segment_{name}")
    rows = np.repeat(row.reshape(1, *shape[1:]), IDS.shape[0], axis=0)
    np.testing.assert_array_equal(fun(row, IDS, 4, bucket_size=bucket_size), fun(rows, IDS, 4, bucket_size=bucket_size))
