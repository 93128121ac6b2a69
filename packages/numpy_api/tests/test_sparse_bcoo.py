"""BCOO: every operation against the same one on the dense array, for layouts with batch, sparse and dense axes."""
import itertools
import operator

import numpy as np
import pytest
import scipy.sparse

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import errors, tree
from jax_core.transformations.autodiff import grad, jvp, linear_transpose
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp, sparse
from jax_numpy_api.sparse import BCOO

_RNG = np.random.default_rng(0)
LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1)]


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


def matrix(*shape, density=0.5):
    return np.where(_RNG.random(shape) < density, _RNG.integers(1, 9, shape) / 2, 0.0)


def padded(dense, n_batch=0, n_dense=0, extra=2):
    """With padding, and with the first element split in two that add up."""
    mat = BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
    mat = BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense, nse=mat.nse + extra)
    if mat.n_sparse == 0:
        return mat
    half = np.array(mat.data)
    first, second = (slice(None),) * n_batch + (0,), (slice(None),) * n_batch + (mat.nse - 1,)
    indices = np.array(mat.indices)
    half[first] /= 2
    half[second], indices[second] = half[first], indices[first]
    return BCOO((half, indices), shape=mat.shape)


def same(got, want):
    got = got.todense() if hasattr(got, "todense") else got
    assert got.shape == np.shape(want), (got.shape, np.shape(want))
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


layouts = pytest.mark.parametrize("n_batch,n_dense", LAYOUTS)


@layouts
def test_to_and_from_dense(n_batch, n_dense):
    dense = matrix(3, 4, 2)
    mat = BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
    assert (mat.n_batch, mat.n_dense, mat.n_sparse) == (n_batch, n_dense, 3 - n_batch - n_dense)
    assert mat.indices_sorted and mat.unique_indices and mat.dtype == dense.dtype and mat.size == 24
    same(mat, dense)
    same(padded(dense, n_batch, n_dense), dense)
    same(jit(lambda x: BCOO.fromdense(x, nse=24, n_batch=n_batch, n_dense=n_dense))(dense), dense)


@layouts
def test_gradient_through_dense(n_batch, n_dense):
    """To sparse and back is the identity where elements are stored."""
    dense, weight = matrix(3, 4, 2), _RNG.normal(size=(3, 4, 2))
    f = lambda x: (BCOO.fromdense(x, nse=24, n_batch=n_batch, n_dense=n_dense).todense() * weight).sum()
    kept = np.any(dense != 0, axis=tuple(range(3 - n_dense, 3)), keepdims=True)
    same(grad(f)(dense), weight * kept)


@layouts
def test_order_and_duplicates(n_batch, n_dense):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    ordered = mat.sort_indices()
    same(ordered, dense)
    summed = mat.sum_duplicates()
    same(summed, dense)
    assert summed.unique_indices and summed.nse == BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense).nse
    same(jit(lambda m: m.sum_duplicates(nse=24))(mat), dense)
    ordered = np.asarray(ordered.indices).reshape(-1, mat.nse, mat.n_sparse)
    assert all(list(map(tuple, block)) == sorted(map(tuple, block)) for block in ordered)


def test_elements_that_are_zero_can_be_kept():
    mat = BCOO((np.array([1.0, 0.0, 2.0]), np.array([[0], [1], [0]])), shape=(3,))
    assert mat.sum_duplicates(remove_zeros=False).nse == 2 and mat.sum_duplicates().nse == 1


@pytest.mark.parametrize("old,new", [*itertools.permutations([(0, 0), (1, 0), (0, 2)], 2), ((2, 0), (0, 1)), ((1, 1), (0, 0))])
def test_update_layout(old, new):
    dense = matrix(3, 4, 2)
    mat = padded(dense, *old)
    out = mat.update_layout(n_batch=new[0], n_dense=new[1], on_inefficient=None)
    assert (out.n_batch, out.n_dense) == new
    same(out, dense)


def test_update_layout_warns_where_more_is_stored():
    mat = BCOO.fromdense(matrix(3, 4))
    with pytest.raises(sparse.SparseEfficiencyError, match="stores each element 3 times"):
        mat.update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning):
        mat.update_layout(n_dense=1, on_inefficient="warn")
    with pytest.raises(ValueError, match="on_inefficient"):
        mat.update_layout(on_inefficient="maybe")


@pytest.mark.parametrize("n_batch,n_dense,permutation", [
    (0, 0, (2, 0, 1)), (1, 0, (0, 2, 1)), (2, 0, (1, 0, 2)), (0, 2, (0, 2, 1)), (0, 1, (1, 0, 2))])
def test_transpose(n_batch, n_dense, permutation):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    same(mat.transpose(permutation), dense.transpose(permutation))
    same(jit(lambda m: m.transpose(permutation))(mat), dense.transpose(permutation))


def test_transpose_keeps_kinds_of_axes_apart():
    with pytest.raises(NotImplementedError, match="mixes batch, sparse and dense axes"):
        BCOO.fromdense(matrix(3, 4), n_batch=1).T


@layouts
def test_extract(n_batch, n_dense):
    dense, other = matrix(3, 4, 2), _RNG.normal(size=(3, 4, 2))
    mat = BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
    kept = np.any(dense != 0, axis=tuple(range(3 - n_dense, 3)), keepdims=True)
    same(sparse.bcoo_extract(mat, other), other * kept)
    same(sparse.bcoo_extract(padded(dense, n_batch, n_dense), other), other * kept)


# -- shapes --------------------------------------------------------------------------------------------------------------

@layouts
@pytest.mark.parametrize("shape,dims", [((3, 4, 2), (0, 1, 2)), ((5, 3, 4, 2), (1, 2, 3)), ((3, 5, 4, 2), (0, 2, 3)),
                                        ((3, 4, 5, 2), (0, 1, 3)), ((3, 4, 2, 5), (0, 1, 2)), ((3, 1, 4, 1, 2), (0, 2, 4))])
def test_broadcast_in_dim(n_batch, n_dense, shape, dims):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    want = np.asarray(lax.broadcast_in_dim(dense, shape, dims))
    same(sparse.bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims), want)


@layouts
def test_broadcast_from_length_one(n_batch, n_dense):
    for where in range(3):
        shape = [3, 4, 2]
        shape[where] = 1
        dense = matrix(*shape)
        got = sparse.bcoo_broadcast_in_dim(padded(dense, n_batch, n_dense), shape=(3, 4, 2), broadcast_dimensions=(0, 1, 2))
        same(got, np.broadcast_to(dense, (3, 4, 2)))


@layouts
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_concatenate(n_batch, n_dense, dimension):
    dense = [matrix(3, 4, 2), matrix(3, 4, 2)]
    mats = [padded(x, n_batch, n_dense, extra=k + 1) for k, x in enumerate(dense)]
    same(sparse.bcoo_concatenate(mats, dimension=dimension), np.concatenate(dense, dimension))
    same(jit(lambda ms: sparse.bcoo_concatenate(ms, dimension=dimension))(mats), np.concatenate(dense, dimension))


@pytest.mark.parametrize("n_batch,n_dense,shape", [
    (0, 0, (24,)), (0, 0, (6, 4)), (0, 0, (2, 3, 4)), (1, 0, (3, 8)), (2, 0, (12, 2)), (0, 1, (12, 2)), (0, 2, (3, 8)),
    (1, 1, (3, 2, 2, 2)), (1, 0, (1, 3, 8)), (0, 0, (1, 24, 1))])
def test_reshape(n_batch, n_dense, shape):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    same(sparse.bcoo_reshape(mat, new_sizes=shape), dense.reshape(shape))
    same(mat.reshape(shape), dense.reshape(shape))


def test_reshape_in_another_order_and_across_kinds():
    dense = matrix(3, 4)
    mat = BCOO.fromdense(dense)
    same(sparse.bcoo_reshape(mat, new_sizes=(6, 2), dimensions=(1, 0)), dense.T.reshape(6, 2))
    same(BCOO.fromdense(dense, n_batch=1).reshape(12), dense.reshape(12))
    with pytest.raises(ValueError, match="would join"):
        sparse.bcoo_reshape(BCOO.fromdense(dense, n_batch=1), new_sizes=(12,))


@layouts
@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1, 2)])
def test_rev_and_reduce_sum(n_batch, n_dense, dims):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    same(sparse.bcoo_rev(mat, dims), np.flip(dense, dims))
    same(sparse.bcoo_reduce_sum(mat, axes=dims), dense.sum(dims))
    same(jit(lambda m: m.sum(dims))(mat), dense.sum(dims))


SLICES = [((1, 1, 0), (3, 3, 1), None), ((0, 1, 0), (3, 4, 2), (2, 2, 1)), ((1, 2, 0), (1, 2, 0), None)]


@layouts
@pytest.mark.parametrize("start,limit,strides", SLICES)
def test_slice(n_batch, n_dense, start, limit, strides):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    want = np.asarray(lax.slice(dense, start, limit, strides))
    same(sparse.bcoo_slice(mat, start_indices=start, limit_indices=limit, strides=strides), want)


@layouts
def test_dynamic_slice(n_batch, n_dense):
    dense = matrix(3, 4, 2)
    mat = padded(dense, n_batch, n_dense)
    for starts in ((0, 0, 0), (1, 2, 1), (2, 9, -1)):
        want = np.asarray(lax.dynamic_slice(dense, starts, (2, 2, 1)))
        same(jit(lambda m, s: sparse.bcoo_dynamic_slice(m, s, (2, 2, 1)))(mat, starts), want)


@layouts
def test_squeeze(n_batch, n_dense):
    for where in range(3):
        shape = [3, 4, 2]
        shape[where] = 1
        dense = matrix(*shape)
        same(sparse.bcoo_squeeze(padded(dense, n_batch, n_dense), dimensions=[where]), dense.squeeze(where))
    ones = matrix(1, 1, 1, density=1)
    same(sparse.bcoo_squeeze(padded(ones, n_batch, n_dense), dimensions=(0, 1, 2)), ones.squeeze())


INDICES = [0, -1, slice(1, 3), slice(None, None, -1), slice(2, 0, -2), (slice(None), 1), (Ellipsis, 0), (1, 2, 0), None,
           (slice(None), None, 2), (slice(0, 0),), (Ellipsis, None), np.array([0, 2, 2]), (slice(None, None, 2), slice(1, None), 1),
           (slice(None), np.array([0, 2])), (Ellipsis, np.array([[1, 0], [1, 1]])), (slice(1, None), np.array([3, 0]), np.array([1, 0]))]


@pytest.mark.parametrize("n_batch,n_dense", [(0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(n_batch, n_dense, index):
    dense = matrix(3, 4, 2)
    same(padded(dense, n_batch, n_dense)[index], dense[index])


def test_iteration_and_indices_that_are_out_of_bounds():
    dense = matrix(3, 4)
    mat = BCOO.fromdense(dense)
    assert len(mat) == 3
    for row, want in zip(mat, dense):
        same(row, want)
    with pytest.raises(IndexError, match="out of bounds"):
        mat[3]
    with pytest.raises(IndexError, match="too many indices"):
        mat[0, 0, 0]


# -- products ------------------------------------------------------------------------------------------------------------

def dot(x, y, numbers):
    return np.asarray(lax.dot_general(x, y, numbers))


DOTS = [  # shapes of both sides, dimension numbers
    ((3, 4), (4,), (((1,), (0,)), ((), ()))),
    ((3, 4), (4, 2), (((1,), (0,)), ((), ()))),
    ((3, 4), (3, 2), (((0,), (0,)), ((), ()))),
    ((3, 4), (3, 4), (((0, 1), (0, 1)), ((), ()))),
    ((3, 4), (4, 3), (((1, 0), (0, 1)), ((), ()))),
    ((3, 4), (2,), (((), ()), ((), ()))),
    ((3, 4, 2), (3, 2, 5), (((2,), (1,)), ((0,), (0,)))),
    ((3, 4, 2), (5, 4, 3), (((1,), (1,)), ((0,), (2,)))),
    ((3, 4, 2), (4, 3, 2), (((2,), (2,)), ((0, 1), (1, 0)))),
    ((3, 4, 2), (4, 2, 3), (((), ()), ((1, 0), (0, 2)))),
    ((3, 4, 2), (3, 5), (((0,), (0,)), ((), ()))),
]


@layouts
@pytest.mark.parametrize("case", DOTS, ids=str)
def test_dot_general_with_dense(n_batch, n_dense, case):
    left, right, numbers = case
    if n_batch + n_dense > len(left):
        return
    x, y = matrix(*left), _RNG.normal(size=right)
    mat = padded(x, n_batch, n_dense)
    want = dot(x, y, numbers)
    same(sparse.bcoo_dot_general(mat, y, dimension_numbers=numbers), want)
    (lc, rc), (lb, rb) = numbers
    swapped = ((rc, lc), (rb, lb))
    same(sparse.bcoo_dot_general(y, mat, dimension_numbers=swapped), dot(y, x, swapped))


@pytest.mark.parametrize("case", DOTS, ids=str)
def test_dot_general_of_two_sparse_arrays(case):
    left, right, numbers = case
    x, y = matrix(*left), matrix(*right)
    for n_batch, n_dense in ((0, 0), (1, 0), (0, 1)):
        out = sparse.bcoo_dot_general(padded(x, n_batch, n_dense), padded(y, min(n_batch, len(right) - 1)), dimension_numbers=numbers)
        assert isinstance(out, BCOO)
        same(out, dot(x, y, numbers))


@layouts
def test_derivatives_of_dot_general(n_batch, n_dense):
    """With respect to both sides, against the dense product."""
    x, y = matrix(3, 4, 2), _RNG.normal(size=(4, 5))
    mat, numbers = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense), (((1,), (0,)), ((), ()))

    def f(data, y):
        m = BCOO((data, mat.indices), shape=mat.shape)
        return (sparse.bcoo_dot_general(m, y, dimension_numbers=numbers) ** 2).sum()
    d_data, d_y = grad(f, (0, 1))(mat.data, y)
    want_x, want_y = grad(lambda x, y: (lax.dot_general(x, y, numbers) ** 2).sum(), (0, 1))(x, y)
    same(d_y, want_y)
    same(mat._with(d_data), sparse.bcoo_extract(mat, want_x).todense())


def test_products_under_vmap():
    """Batch axes are mapped, and made, by vmap."""
    x, y = matrix(5, 3, 4), _RNG.normal(size=(5, 4))
    mat = BCOO.fromdense(x, n_batch=1)
    same(vmap(operator.matmul)(mat, y), np.einsum("bij,bj->bi", x, y))
    same(vmap(operator.matmul, in_axes=(0, None))(mat, y[0]), x @ y[0])
    same(vmap(operator.matmul, in_axes=(None, 0))(BCOO.fromdense(x[0]), y), y @ x[0].T)
    made = vmap(lambda r: BCOO.fromdense(r, nse=12))(x)
    assert made.shape == x.shape and made.n_batch == 1
    same(made, x)
    same(vmap(lambda m: m.sum_duplicates(nse=12))(mat), x)
    same(vmap(lambda m: m.T)(mat), x.transpose(0, 2, 1))


def test_products_in_a_scan():
    x, v = matrix(4, 4) / 10, _RNG.normal(size=4)
    mat = BCOO.fromdense(x)
    got = lax.scan(lambda c, _: (mat @ c, c.sum()), v, None, length=3)[0]
    same(got, x @ x @ x @ v)
    rows = BCOO.fromdense(x, n_batch=1)
    same(lax.scan(lambda c, row: (c + row @ v, row), 0.0, rows)[0], (x @ v).sum())
    same(lax.scan(lambda c, row: (c + row @ v, row), 0.0, rows)[1], x)


@pytest.mark.parametrize("shapes,numbers,n_batch", [
    (((3, 4), (4, 5)), (((1,), (0,)), ((), ())), 0), (((2, 3, 4), (2, 4, 5)), (((2,), (1,)), ((0,), (0,))), 1),
    (((2, 3, 4), (2, 4, 5)), (((2,), (1,)), ((0,), (0,))), 0), (((3, 4), (4, 5)), (((1,), (0,)), ((), ())), 1),
    (((4,), (4, 5)), (((0,), (0,)), ((), ())), 0), (((3, 4), (4,)), (((1,), (0,)), ((), ())), 0)])
def test_sampled_products(shapes, numbers, n_batch):
    a, b = (_RNG.normal(size=s) for s in shapes)
    full = dot(a, b, numbers)
    mask = BCOO.fromdense(matrix(*full.shape), n_batch=n_batch)
    got = sparse.bcoo_dot_general_sampled(a, b, mask.indices, dimension_numbers=numbers)
    same(mask._with(got), full * (np.asarray(mask.todense()) != 0))
    check = lambda a: (sparse.bcoo_dot_general_sampled(a, b, mask.indices, dimension_numbers=numbers) ** 2).sum()
    want = lambda a: ((lax.dot_general(a, b, numbers) * (mask.todense() != 0)) ** 2).sum()
    same(grad(check)(a), grad(want)(a))


@pytest.mark.parametrize("left,right,n_batch", [((3, 4), (4, 5), 2), ((3, 4), (4,), 1), ((4,), (4, 5), 1), ((4,), (4,), 0)])
def test_sampled_products_without_sparse_axes(left, right, n_batch):
    a, b = _RNG.normal(size=left), _RNG.normal(size=right)
    indices = np.zeros((*(a @ b).shape, 1, 0), np.int32)
    assert indices.ndim == n_batch + 2
    got = sparse.bcoo_dot_general_sampled(a, b, indices, dimension_numbers=(((len(left) - 1,), (0,)), ((), ())))
    np.testing.assert_allclose(got, (a @ b)[..., None], rtol=1e-12)


@layouts
@pytest.mark.parametrize("shape", [(3, 4, 2), (2,), (), (3, 1, 1)])
def test_multiply_dense(n_batch, n_dense, shape):
    dense, v = matrix(3, 4, 2), _RNG.normal(size=shape)
    mat = padded(dense, n_batch, n_dense)
    same(mat._with(sparse.bcoo_multiply_dense(mat, v)), dense * v)
    same(mat * v, dense * v)
    same(v * mat, dense * v)
    same(mat / (v + 9), dense / (v + 9))


def test_multiply_dense_by_a_larger_array():
    dense, v = matrix(3, 1), _RNG.normal(size=(2, 3, 4))
    same(BCOO.fromdense(dense) * v, dense * v)
    with pytest.raises(NotImplementedError, match="broadcast the sparse operand first"):
        sparse.bcoo_multiply_dense(BCOO.fromdense(dense), v)


@layouts
@pytest.mark.parametrize("shape", [(3, 4, 2), (3, 1, 2)])
def test_multiply_sparse(n_batch, n_dense, shape):
    dense, other = matrix(3, 4, 2), matrix(*shape)
    for mat in (padded(dense, n_batch, n_dense), BCOO.fromdense(dense)):
        got = sparse.bcoo_multiply_sparse(mat, padded(other))
        same(got, dense * other)
        same(sparse.bcoo_multiply_sparse(padded(other), mat), dense * other)
    infinite = BCOO.fromdense(np.array([np.inf, 1.0]), nse=3)
    same(sparse.bcoo_multiply_sparse(infinite, infinite), [np.inf, 1])


def test_convolution():
    x, k = matrix(1, 1, 7), matrix(1, 1, 3)
    for padding in ("SAME", "VALID", [(2, 1)]):
        got = sparse.bcoo_conv_general_dilated(BCOO.fromdense(x), BCOO.fromdense(k), window_strides=(1,), padding=padding)
        same(got, np.asarray(lax.conv_general_dilated(x, k, (1,), padding)))
    same(sparse.bcoo_conv_general_dilated(BCOO.fromdense(x), k, window_strides=(1,), padding="SAME"), np.asarray(lax.conv(x, k, (1,), "SAME")))
    with pytest.raises(NotImplementedError, match="window_strides"):
        sparse.bcoo_conv_general_dilated(BCOO.fromdense(x), BCOO.fromdense(k), window_strides=(2,), padding="SAME")


# -- operators, SciPy, pytrees, errors -----------------------------------------------------------------------------------

def test_operators():
    a, b = matrix(3, 4), matrix(3, 4)
    x, y = BCOO.fromdense(a), padded(b)
    for got, want in [(x + y, a + b), (x - y, a - b), (-x, -a), (+x, a), (x * 2, a * 2), (2 * x, a * 2), (x / 2, a / 2),
                      (x * y, a * b), (x ** 2, a ** 2), (abs(-x), a), (x + b, a + b), (b + x, a + b), (x - b, a - b),
                      (b - x, b - a), (x @ y.T, a @ b.T), (x @ b.T, a @ b.T), (a.T @ y, a.T @ b), (x.astype(int), a.astype(int)),
                      (x.sum(), a.sum()), (x.sum(axis=1), a.sum(axis=1)), (y ** 2, b ** 2), (abs(y), abs(b))]:
        same(got, want)


def test_operators_that_would_give_dense_results():
    x = BCOO.fromdense(matrix(3, 4))
    for operation in (lambda: x + 1, lambda: 1 - x, lambda: x == x, lambda: x < 1, lambda: 1 / x, lambda: x ** 0.5 ** 2):
        with pytest.raises(NotImplementedError, match="todense"):
            operation()
    with pytest.raises(TypeError):
        jnp.sin(x)
    with pytest.raises(TypeError):
        hash(x)


def test_scipy_matrices():
    """Values and products are SciPy's."""
    theirs = scipy.sparse.random(20, 15, density=0.2, random_state=1)
    ours = BCOO.from_scipy_sparse(theirs)
    v = _RNG.normal(size=15)
    assert ours.nse == theirs.nnz
    same(ours @ v, theirs @ v)
    same(ours.T @ ours, (theirs.T @ theirs).toarray())
    same(ours * 3 - ours, (theirs * 2).toarray())


def test_pytree():
    mat = BCOO.fromdense(matrix(3, 4))
    leaves, structure = tree.flatten(mat)
    assert len(leaves) == 2 and tree.unflatten(structure, leaves).shape == (3, 4)
    assert repr(tree.unflatten(structure, [object(), object()])) == "BCOO(<invalid>)"
    assert repr(mat) == f"BCOO(float64[3, 4], nse={mat.nse})"


def test_jvp_and_transpose_of_products():
    x, v = matrix(3, 4), _RNG.normal(size=4)
    mat = BCOO.fromdense(x)
    same(jvp(lambda v: mat @ v, (v,), (v,))[1], x @ v)
    same(linear_transpose(lambda v: mat @ v, v)(np.ones(3))[0], x.sum(0))


@pytest.mark.parametrize("args,shape,error,message", [
    ((np.ones(2), np.zeros((2, 3), int)), (3, 3), ValueError, "0 batch, 3 sparse and 0 dense axes"),
    ((np.ones(2), np.zeros((3, 2), int)), (3, 3), ValueError, "data have 2 elements and indices 3"),
    ((np.ones(2), np.zeros((2, 2))), (3, 3), TypeError, "indices must be integers"),
    ((np.ones((2, 4)), np.zeros((2, 1), int)), (3, 3), ValueError, "dense axes must have the lengths"),
    ((np.ones((2, 4)), np.zeros((2, 4, 1), int)), (3, 3), ValueError, "batch axes of data"),
])
def test_bad_buffers(args, shape, error, message):
    with pytest.raises(error, match=message):
        BCOO(args, shape=shape)


def test_other_errors():
    mat = BCOO.fromdense(matrix(3, 4))
    with pytest.raises(errors.ConcretizationTypeError, match="nse argument of bcoo_fromdense"):
        jit(BCOO.fromdense)(np.ones(3))
    with pytest.raises(ValueError, match="without nse"):
        jit(lambda m: m.sum_duplicates().data)(sparse.eye(2))
    with pytest.raises(TypeError, match="sizes"):
        sparse.bcoo_dynamic_slice(sparse.eye(2), (0, 0), (1, 3))
    with pytest.raises(ValueError, match="must be BCOO"):
        sparse.bcoo_concatenate([sparse.eye(2), jnp.eye(2)], dimension=0)
    with pytest.raises(TypeError, match="contracting dimensions"):
        sparse.bcoo_dot_general(mat, np.ones(3), dimension_numbers=(((1,), (0,)), ((), ())))
    with pytest.raises(ValueError, match="is not inside of"):
        sparse.bcoo_slice(mat, start_indices=(0, 0), limit_indices=(4, 4))
    with pytest.raises(ValueError, match="must have length 1"):
        sparse.bcoo_squeeze(mat, dimensions=(0,))
    with pytest.raises(ValueError, match="one layout"):
        sparse.bcoo_concatenate([mat, BCOO.fromdense(matrix(3, 4), n_batch=1)], dimension=0)
    with pytest.raises(NotImplementedError, match="out_sharding"):
        sparse.bcoo_dot_general(mat, np.ones(4), dimension_numbers=(((1,), (0,)), ((), ())), out_sharding=1)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint32", "float16"])
def test_sums_have_the_dtypes_of_dense_ones(dtype, x64):
    with flags.enable_x64(x64):
        dense = jnp.ones((2, 2), dtype)
        mat = sparse.BCOO.fromdense(dense)
        assert sparse.bcoo_reduce_sum(mat, axes=(0,)).dtype == mat.sum(0).dtype == dense.sum(0).dtype
        assert dtype == "bool" or sparse.sparsify(lambda x: lax.reduce_sum(x, (0,)))(mat).dtype == dtype


@pytest.mark.parametrize("kind", ["BCOO", "BCSR", "CSR", "COO"])
def test_booleans_are_there_once_stored(kind):
    """Masks have no sums: stored twice or once, an element is True; and so are their products."""
    mask = np.array([[True, False], [True, True]])
    stored = getattr(sparse, kind).fromdense(mask, nse=4)
    for got, want in [(stored.todense(), mask), (stored @ mask, mask @ mask), (stored @ mask[0], mask @ mask[0])]:
        assert got.dtype == bool
        np.testing.assert_array_equal(got, want)
    if kind == "BCOO":
        assert (stored @ stored).dtype == stored[1].dtype == bool
    twice = sparse.BCOO((np.array([True, True]), np.zeros((2, 2), int)), shape=(2, 2))
    np.testing.assert_array_equal(twice.todense(), [[True, False], [False, False]])
