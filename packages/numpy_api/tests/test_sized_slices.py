"""`jax.ds` in the index of an array: what a slice takes where its start is known; what `lax.dynamic_slice` takes where it is traced."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.programs.jit import jit
from jax_core.references.indexing import ds
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap

pytestmark = pytest.mark.any_code
X = np.arange(24, dtype=np.float32).reshape(4, 6)
FIRST, MASK = np.array([2, 0]), np.array([True, False, False, True])

PLACES = {  # an index with a start i, and the same for NumPy
    "rows": (lambda i: ds(i, 2), lambda i: slice(i, i + 2)),
    "both axes": (lambda i: (ds(i, 2), ds(i + 1, 3)), lambda i: (slice(i, i + 2), slice(i + 1, i + 4))),
    "beside a number": (lambda i: (1, ds(i, 3)), lambda i: (1, slice(i, i + 3))),
    "beside a traced number": (lambda i: (i, ds(i, 3)), lambda i: (i, slice(i, i + 3))),
    "behind the dots": (lambda i: (..., ds(i, 3)), lambda i: (..., slice(i, i + 3))),
    "new axes": (lambda i: (None, ds(i, 2), None, ds(i, 2)), lambda i: (None, slice(i, i + 2), None, slice(i, i + 2))),
    "beside steps": (lambda i: (ds(i, 2), slice(None, None, -2)), lambda i: (slice(i, i + 2), slice(None, None, -2))),
    "steps of its own": (lambda i: (ds(i, 2, 2), ds(i, 3)), lambda i: (slice(i, i + 3, 2), slice(i, i + 3))),
    "rows of an array": (lambda i: (FIRST, ds(i, 3)), lambda i: (FIRST, slice(i, i + 3))),
    "rows of an array, steps": (lambda i: (FIRST, ds(i, 2, 3)), lambda i: (FIRST, slice(i, i + 4, 3))),
    "columns of a traced array": (lambda i: (ds(i, 2), jnp.stack([i, i + 3])), lambda i: (slice(i, i + 2), np.array([i, i + 3]))),
    "rows of a mask": (lambda i: (MASK, ds(i, 3)), lambda i: (MASK, slice(i, i + 3))),
    "none": (lambda i: ds(i, 0), lambda i: slice(0, 0)),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("i", [0, 1])
def test_reading_and_writing(name, i):
    place, there = PLACES[name]
    want = X[there(i)]
    added, written = X.copy(), X.copy()
    added[there(i)] += 100
    written[there(i)] = np.arange(want.size).reshape(want.shape)
    for at in (i, jnp.int32(i), np.int64(i)):
        np.testing.assert_array_equal(jnp.asarray(X)[place(at)], want)
    np.testing.assert_array_equal(jit(lambda x, i: x[place(i)])(X, i), want)
    np.testing.assert_array_equal(vmap(lambda i: jnp.asarray(X)[place(i)])(jnp.array([i, 0])), np.stack([want, X[there(0)]]))
    np.testing.assert_array_equal(jit(lambda x, i: x.at[place(i)].add(100.0))(X, i), added)
    np.testing.assert_array_equal(jit(lambda x, i, v: x.at[place(i)].set(v))(X, i, jnp.arange(want.size).reshape(want.shape)), written)
    np.testing.assert_array_equal(jit(grad(lambda x, i: 100 * x[place(i)].sum()))(X, i), added - X)


ENDS = {  # index of arange(10), with a start that is known, and the elements
    (9, 2): [9], (-3, 2): [7, 8], (-2, 2): [8, 9], (20, 2): [], (0, 12): list(range(10)), (8, 3, 2): [8], (3,): [0, 1, 2], (None,): list(range(10)),
}


@pytest.mark.parametrize("args", ENDS)
def test_a_known_start_is_that_of_a_slice(args):
    np.testing.assert_array_equal(jnp.arange(10)[ds(*args)], ENDS[args])


@pytest.mark.parametrize("i, want", [(9, [7, 8, 9]), (-1, [7, 8, 9]), (-4, [6, 7, 8]), (40, [7, 8, 9])])
def test_a_traced_start_is_moved_inside(i, want):
    np.testing.assert_array_equal(jit(lambda x, i: x[ds(i, 3)])(np.arange(10), i), want)


def test_what_lies_beyond_the_end_is_not_written():
    np.testing.assert_array_equal(jit(lambda x, i: x.at[ds(i, 3)].set(7))(np.arange(5), 3), np.arange(5))
    np.testing.assert_array_equal(jit(lambda x, i: x.at[ds(i, 3)].set(7, mode="clip"))(np.arange(5), 3), [0, 1, 7, 7, 7])


@pytest.mark.parametrize("index, says", [
    (ds(1.0, 2), "start of a part of an array must be one integer"), (ds(jnp.arange(2), 2), "must be one integer"),
    (ds(1, 2.0), "must be known integers"), (ds(1, jnp.int32(2)), "must be known integers"), (ds(1, 2, 0), "at least 0 and 1"),
    (ds(jnp.int32(1), 12), r"12 elements from a traced start on do not fit into axis 0 of an array of shape \(10,\)")])
def test_bad_slices(index, says):
    with pytest.raises(TypeError, match=says):
        jnp.arange(10)[index]


def test_as_a_pytree():
    assert tree.leaves(ds(1, 2)) == []
    np.testing.assert_array_equal(jit(lambda x, s: x[s])(np.arange(10), ds(4, 2)), [4, 5])
    np.testing.assert_array_equal(jit(lambda x, s: x[s])(np.arange(10), ds(jnp.int32(4), 2)), [4, 5])
