"""BCSR, COO, CSR, CSC, sparsify, derivatives, linear algebra and random sparse arrays, against dense arrays and SciPy."""
import unittest

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from jax_core.compat import linear_util
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.traces.trace import EVAL
from jax_core.transformations.autodiff import grad, jacrev
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp, sparse
from jax_numpy_api.sparse import BCOO, BCSR, COO, CSC, CSR, bare, coo, csr, linalg, tracing, transform, util, values
from jax_numpy_api.sparse.test_util import SparseTestCase, rand_bcoo

_RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


def matrix(*shape, density=0.5):
    return np.where(_RNG.random(shape) < density, _RNG.integers(1, 9, shape) / 2, 0.0)


def same(got, want, **tolerance):
    got = got.todense() if hasattr(got, "todense") else got
    assert got.shape == np.shape(want), (got.shape, np.shape(want))
    np.testing.assert_allclose(got, want, **{"rtol": 1e-12, "atol": 1e-12, **tolerance})


# -- matrices ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", [COO, CSR, CSC, BCSR, BCOO])
@pytest.mark.parametrize("nse", [None, 15])
def test_matrix_formats(kind, nse):
    """Conversion, products on both sides, transposition, gradients; with padding too."""
    dense, v, w = matrix(3, 5), _RNG.normal(size=5), _RNG.normal(size=(5, 2))
    mat = kind.fromdense(dense, nse=nse)
    same(mat, dense)
    same(mat @ v, dense @ v)
    same(mat @ w, dense @ w)
    same(v[:3] @ mat, v[:3] @ dense)
    same(mat.T, dense.T)
    same(mat * 2, dense * 2)
    same(mat + mat, dense * 2)
    same(mat @ mat.T, dense @ dense.T)
    same(jit(lambda m, v: m @ v)(mat, v), dense @ v)
    same(jit(lambda x: kind.fromdense(x, nse=15))(dense), dense)
    same(grad(lambda v: ((mat @ v) ** 2).sum())(v), 2 * dense.T @ dense @ v)
    if nse is not None:  # padding has a gradient where its place is inside of the matrix
        return
    leaves, structure = tree.flatten(mat)
    d = grad(lambda data: ((tree.unflatten(structure, [data, *leaves[1:]]) @ v) ** 2).sum())(leaves[0])
    same(tree.unflatten(structure, [d, *leaves[1:]]), 2 * np.outer(dense @ v, v) * (dense != 0))


@pytest.mark.parametrize("kind,theirs", [(CSR, scipy.sparse.csr_matrix), (CSC, scipy.sparse.csc_matrix)])
def test_buffers_are_those_of_scipy(kind, theirs):
    dense = matrix(4, 6)
    ours, theirs = kind.fromdense(dense), theirs(dense)
    assert np.array_equal(ours.indptr, theirs.indptr) and np.array_equal(ours.indices, theirs.indices)
    assert np.array_equal(ours.data, theirs.data)
    assert np.array_equal(BCSR.from_scipy_sparse(theirs).todense(), dense)


def test_matvec_functions():
    dense, v = matrix(3, 5), _RNG.normal(size=3)
    same(sparse.coo_matvec(COO.fromdense(dense), v, transpose=True), dense.T @ v)
    same(sparse.csr_matmat(CSR.fromdense(dense), v[:, None], transpose=True), dense.T @ v[:, None])
    with pytest.raises(ValueError, match="^csr_matvec: a matrix of shape"):
        sparse.csr_matvec(CSR.fromdense(dense), v)
    with pytest.raises(ValueError, match="needs a matrix"):
        sparse.coo_fromdense(np.ones(3))


@pytest.mark.parametrize("n_batch,n_dense", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_bcsr(n_batch, n_dense):
    shape = (2,) * n_batch + (3, 4) + (2,) * n_dense
    dense, other = matrix(*shape), _RNG.normal(size=shape)
    mat = BCSR.fromdense(dense, n_batch=n_batch, n_dense=n_dense)
    assert (mat.n_batch, mat.n_dense) == (n_batch, n_dense)
    same(mat, dense)
    same(mat.to_bcoo(), dense)
    same(BCSR.from_bcoo(mat.to_bcoo()), dense)
    same(mat.sum_duplicates(), dense)
    same(mat * other, dense * other)
    kept = np.any(dense != 0, axis=tuple(range(len(shape) - n_dense, len(shape))), keepdims=True)
    same(mat._with(sparse.bcsr_extract(mat.indices, mat.indptr, other)), other * kept)
    numbers = (((n_batch + 1,), (n_batch,)), ((0,), (0,)) if n_batch else ((), ()))
    v = _RNG.normal(size=(2,) * n_batch + (4, 3))
    same(sparse.bcsr_dot_general(mat, v, dimension_numbers=numbers), np.asarray(lax.dot_general(dense, v, numbers)))
    same(sparse.bcsr_concatenate([mat, mat], dimension=n_batch), np.concatenate([dense, dense], n_batch))
    if n_batch:
        same(vmap(lambda m: m @ v[0][:, 0])(mat) if not n_dense else dense[0], dense @ v[0][:, 0] if not n_dense else dense[0])


def test_padding_in_rows_that_exist():
    """As `update_layout` leaves it of batches: netket's operators were wrong in the rows before."""
    mat = BCOO((jnp.arange(1.0, 7), jnp.array([[0, 4], [4, 4], [2, 0], [2, 4], [4, 1], [0, 2]])), shape=(4, 4))
    same(BCSR.from_bcoo(mat), mat.todense())
    assert BCSR.from_bcoo(mat).indptr.tolist() == [0, 2, 2, 4, 4]
    batched = BCOO((jnp.array([[0.0], [0], [1], [2]]), jnp.array([[[0]], [[1]], [[3]], [[0]]])), shape=(4, 4))
    same(BCSR.from_bcoo(batched.sum_duplicates().update_layout(n_batch=0)), batched.todense())


def test_bcsr_errors():
    with pytest.raises(ValueError, match="exactly two sparse axes"):
        BCSR.fromdense(np.ones(3))
    with pytest.raises(ValueError, match="cannot represent"):
        BCSR((np.ones(2), np.zeros(2, int), np.zeros(3, int)), shape=(3, 3))


def test_eye_empty_and_todense():
    for name, kind in (("bcoo", BCOO), ("bcsr", BCSR), ("coo", COO), ("csr", CSR), ("csc", CSC)):
        for n, m, k in ((3, 3, 0), (3, 5, 1), (4, 3, -2), (2, 2, 5)):
            out = sparse.eye(n, m, k, sparse_format=name)
            assert isinstance(out, kind)
            same(out, np.eye(n, m, k))
        same(sparse.empty((2, 3), sparse_format=name), np.zeros((2, 3)))
        same(sparse.todense(sparse.eye(3, sparse_format=name)), np.eye(3))
    same(sparse.todense(np.ones(2)), np.ones(2))
    with pytest.raises(ValueError, match="must be one of"):
        sparse.eye(3, sparse_format="dok")


# -- sparsify ------------------------------------------------------------------------------------------------------------

@custom_jvp
def cubed(x):
    return x * x * x


cubed.defjvps(lambda t, out, x: 3 * x * x * t)
FUNCTIONS = {
    "elementwise": lambda x: jnp.sin(x) * 2 + jnp.sqrt(abs(x)) - jnp.tanh(-x),
    "transpose": lambda x: x.T @ x,
    "reductions": lambda x: (x.sum(), x.sum(0), x.mean()),
    "joining": lambda x: jnp.concatenate([x, 2 * x], axis=1),
    "shapes": lambda x: (x.reshape(2, -1), x[None], x[::-1], jnp.squeeze(x[:1]), jnp.expand_dims(x, 1)),
    "indexing": lambda x: (x[1], x[:, 2:], x[..., 0], lax.dynamic_slice(x, (1, 1), (2, 2))),
    "jit": lambda x: jit(lambda y: y * 3)(x),
    "custom derivatives": cubed,
    "cond": lambda x: lax.cond(True, lambda y: y * 2, lambda y: y * 3, x),
    "while": lambda x: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * 2, c[1] + 1), (x, 0)),
    "scan": lambda x: lax.scan(lambda c, a: (c * a, c.sum()), x, jnp.arange(3.0)),
    "matmul": lambda x: x @ np.ones((2, 5, 3)),
    "einsum": lambda x: jnp.einsum("ij,kj->ik", x, np.ones((2, 5))),
    "power": lambda x: x ** 3,
    "todense": lambda x: sparse.todense(x) + 1,
    "from inside": lambda x: BCOO.fromdense(np.eye(3)) @ sparse.todense(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", [BCOO, BCSR])
@pytest.mark.parametrize("use_tracer", [False, True])
def test_sparsify(name, kind, use_tracer):
    dense = matrix(4, 5) if name not in ("from inside", "matmul") else matrix(3, 5)
    f = FUNCTIONS[name]
    got = tree.leaves(sparse.sparsify(f, use_tracer)(kind.fromdense(dense)), is_leaf=transform.is_sparse)
    want = tree.leaves(f(jnp.asarray(dense)), is_leaf=transform.is_sparse)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        same(g, np.asarray(w))


def test_sparsify_keeps_sparse_what_is_sparse():
    x = BCOO.fromdense(matrix(4, 5))
    assert sparse.sparsify(jnp.sin)(x).nse == x.nse
    assert sparse.sparsify(lambda y: y * 2 + y)(x).nse == x.nse
    assert isinstance(sparse.sparsify(jnp.negative)(BCSR.fromdense(matrix(4, 5))), BCSR)
    duplicates = BCOO((np.ones(2), np.zeros((2, 1), int)), shape=(2,))
    same(sparse.sparsify(jnp.square)(duplicates), [4, 0])


def test_sparsify_refuses_dense_results():
    x = BCOO.fromdense(matrix(4, 5))
    for f in (jnp.cos, jnp.exp, lambda y: y + 1, lambda y: y > 0):
        with pytest.raises(NotImplementedError, match="todense"):
            sparse.sparsify(f)(x)


def test_sparsify_under_jit_and_grad():
    dense, v = matrix(4, 5), _RNG.normal(size=5)
    x = BCOO.fromdense(dense)
    f = sparse.sparsify(lambda m, v: (jnp.sin(m) @ v).sum())
    want = (np.sin(dense) @ v).sum()
    np.testing.assert_allclose(jit(f)(x, v), want)
    d = sparse.grad(f)(x, v)
    same(d, np.cos(dense) * v * (dense != 0))


def test_tracers_that_stand_for_sparse_arrays():
    x = BCOO.fromdense(matrix(4, 5))
    seen = []

    def f(m, v):
        seen.append(m)
        total = m.sum()  # dense, so its value is known
        return m * 2 if total > 1e9 else m @ v
    same(sparse.sparsify(f, use_tracer=True)(x, np.ones(5)), x.todense().sum(1))
    tracer = seen[0]
    assert isinstance(tracer, sparse.SparseTracer) and (tracer.shape, tracer.dtype) == ((4, 5), np.dtype("float64"))
    assert tracer._trace.parent_trace is EVAL
    same(tracer._trace.array_of(tracer), x.todense())
    with pytest.raises(NotImplementedError, match="todense"):
        sparse.sparsify(jnp.cos, use_tracer=True)(x)
    g = sparse.sparsify(lambda m: (jnp.sin(m) * m).sum(), use_tracer=True)
    dense = x.todense()
    same(sparse.grad(g)(x), np.where(dense != 0, np.cos(dense) * dense + np.sin(dense), 0))
    same(vmap(lambda d: g(BCOO((d, x.indices), shape=x.shape)))(jnp.stack([x.data, 2 * x.data])),
         [(np.sin(k * dense) * k * dense).sum() for k in (1, 2)])


def test_sparsify_of_wrapped_functions():
    x, v = BCOO.fromdense(matrix(3, 4)), np.ones(4)
    wrapped = linear_util.wrap_init(lambda m, v: [m * 2, m @ v])
    double, product = tracing.sparsify_fun(wrapped, [x, v])
    same(double, 2 * x.todense())
    same(product, x.todense() @ v)
    env = values.SparsifyEnv()
    spvalues = values.arrays_to_spvalues(env, [x, v])
    fun, found = tracing.sparsify_subtrace(wrapped, object(), values.SparsifyEnv(), spvalues)
    after = values.SparsifyEnv(fun.call_wrapped(*env.replace(())))
    for out, want in zip(values.spvalues_to_arrays(after, found()), (2 * x.todense(), x.todense() @ v)):
        same(out, want)


def test_values_in_an_environment():
    env = values.SparsifyEnv()
    x = BCOO.fromdense(matrix(3, 4))
    found = values.arrays_to_spvalues(env, [x, BCSR.fromdense(matrix(3, 4)), np.ones(4)])
    assert found[0].is_bcoo() and found[1].is_bcsr() and found[2].is_dense()
    assert [a.shape for a in values.spvalues_to_avals(env, found)] == [(3, 4), (3, 4), (4,)]
    same(values.spvalues_to_arrays(env, found)[0], x.todense())
    outs, _ = transform.sparsify_raw(jnp.matmul)(env, found[0], found[2])
    same(values.spvalues_to_arrays(env, outs)[0], x.todense() @ np.ones(4))


# -- derivatives ---------------------------------------------------------------------------------------------------------

def test_derivatives_with_respect_to_sparse_arguments():
    dense, v = matrix(3, 4), _RNG.normal(size=4)
    x, mask = BCOO.fromdense(dense), dense != 0
    f = lambda m, v: ((m @ v) ** 2).sum()
    value, (d_m, d_v) = sparse.value_and_grad(f, argnums=(0, 1))(x, v)
    np.testing.assert_allclose(value, f(dense, v))
    same(d_m, 2 * np.outer(dense @ v, v) * mask)
    same(d_v, 2 * dense.T @ dense @ v)
    got, aux = sparse.grad(lambda d: (f(d["a"], v), 3), has_aux=True)({"a": x})
    same(got["a"], d_m.todense())
    assert aux == 3
    for jacobian in (sparse.jacfwd, sparse.jacrev, sparse.jacobian):
        out = jacobian(lambda m: m @ v)(x)
        assert out.n_batch == 1 and out.shape == (3, 3, 4)
        same(out, np.asarray(jacrev(lambda m: m @ v)(dense)) * mask)
        same(jacobian(lambda v: x @ v)(v), dense)
    same(sparse.grad(lambda m: (m @ v).sum())(CSR.fromdense(dense)), np.broadcast_to(v, (3, 4)) * mask)
    with pytest.raises(NotImplementedError, match="a sparse result"):
        sparse.jacfwd(lambda m: m * 2)(x)


# -- linear algebra ------------------------------------------------------------------------------------------------------

def test_spsolve():
    """The solution, and its derivatives with respect to stored elements and right-hand side."""
    dense, b = matrix(6, 6) + 6 * np.eye(6), _RNG.normal(size=6)
    mat = scipy.sparse.csr_matrix(dense)
    solve = lambda data, b: linalg.spsolve(data, mat.indices, mat.indptr, b)
    want = np.linalg.solve(dense, b)
    same(solve(mat.data, b), want, rtol=1e-10)
    same(jit(solve)(mat.data, b), want, rtol=1e-10)
    same(vmap(solve, in_axes=(None, 0))(mat.data, np.stack([b, 2 * b])), np.stack([want, 2 * want]), rtol=1e-10)
    d_data, d_b = grad(lambda data, b: (solve(data, b) ** 2).sum(), (0, 1))(mat.data, b)
    w_dense, w_b = grad(lambda a, b: (jnp.linalg.solve(a, b) ** 2).sum(), (0, 1))(dense, b)
    same(d_b, w_b, rtol=1e-9)
    same(d_data, np.asarray(w_dense)[dense != 0], rtol=1e-9)
    with pytest.raises(ValueError, match="must be vectors"):
        linalg.spsolve(mat.data, mat.indices, mat.indptr, b[:, None])


def test_lobpcg():
    """The largest eigenvalues of a sparse Laplacian, against SciPy."""
    n, k = 60, 3
    laplacian = scipy.sparse.diags([np.full(n - 1, -1.0), np.full(n, 2.0) + np.arange(n) / 10, np.full(n - 1, -1.0)], [-1, 0, 1])
    want = np.sort(np.linalg.eigvalsh(laplacian.toarray()))[::-1][:k]
    mat = BCOO.from_scipy_sparse(laplacian)
    w, v, steps = linalg.lobpcg_standard(mat, _RNG.normal(size=(n, k)), m=200)
    same(w, want, rtol=1e-9)
    same(laplacian @ np.asarray(v), np.asarray(v) * np.asarray(w), atol=1e-5)
    assert 1 < steps < 200
    same(linalg.lobpcg_standard(lambda x: mat @ x, _RNG.normal(size=(n, k)))[0], want, rtol=1e-6)
    with pytest.raises(ValueError, match="expected search dim"):
        linalg.lobpcg_standard(mat, np.ones((n, 20)))
    with pytest.raises(ValueError, match="same dtypes"):
        linalg.lobpcg_standard(lambda x: (mat @ x).astype(np.float32), np.ones((n, k)))


def test_lobpcg_table_of_steps_in_strict_modes():
    """``debug`` adds a row for each step; nothing in it promotes ranks or dtypes."""
    with flags.numpy_rank_promotion("raise"), flags.numpy_dtype_promotion("strict"):
        mat = jnp.diag(jnp.arange(1, 41, dtype=np.float32))
        start = _RNG.normal(size=(40, 2)).astype(np.float32)
        w, _, steps, table = linalg._lobpcg_standard_matrix(mat, start, 30, 0, debug=True)
    assert steps == 30 and table["lambda history"].shape == (30, 2)
    same(table["lambda history"][-1], w)
    same(w, [40, 39], rtol=1e-3)
    assert not table["X zeros"].any()


@pytest.mark.parametrize("copies", [2, 3, 4])
def test_lobpcg_stays_where_it_has_converged(copies):
    """Eigenvalues that coincide are exact after a step or two; residuals are noise then, and must not spoil the basis."""
    eigenvalues = np.array([1000.0] * copies + [1.0] * (100 - copies))
    w, v, steps = linalg.lobpcg_standard(np.diag(eigenvalues), _RNG.normal(size=(100, 4)), m=40, tol=0.0)
    assert steps == 40
    same(w, eigenvalues[:4], rtol=1e-9)
    same(np.asarray(v).T @ np.asarray(v), np.eye(4), atol=1e-9)


class _Case(SparseTestCase):
    def wrong(self):
        """Ten per cent off, in value and derivative."""
        draw = lambda: [rand_bcoo(self.rng())((3, 4), np.float32)]
        right, wrong = (lambda m: m @ jnp.ones(4, np.float32)), (lambda m: 1.1 * (m @ jnp.ones(4, np.float32)))
        for check in self._CheckAgainstDense, self._CheckGradsSparse, self._CheckBatchingSparse:
            with self.assertRaises(AssertionError, msg=check.__name__):
                check(wrong, right, draw)

    def right(self):
        """A product equals the dense one, in value and derivative, batched and compiled."""
        draw = lambda: [rand_bcoo(self.rng(), n_batch=1)((3, 4), np.float32)]
        fun = lambda m: m @ jnp.ones(4, np.float32)
        self._CheckAgainstDense(fun, fun, draw, tol={np.float32: 1e-5})
        self._CheckGradsSparse(fun, fun, draw, rtol=1e-5, atol=1e-5)
        self._CheckBatchingSparse(fun, fun, draw, check_jit=True, tol=1e-5)
        self.assertSparseArraysEquivalent(*[draw()[0]] * 2)
        with self.assertRaisesRegex(ValueError, "rank promotion"):
            jnp.ones((2, 3)) + jnp.ones(3)


@pytest.mark.parametrize("name", ["right", "wrong"])
def test_sparse_test_case(name):
    """`SparseTestCase` passes equal functions, catches one that is a tenth off, and runs in the strict modes."""
    result = unittest.TestResult()
    _Case(name).run(result)
    assert result.testsRun == 1 and result.wasSuccessful(), result.failures + result.errors


# -- helpers for tests ---------------------------------------------------------------------------------------------------

def test_layouts_and_random_arrays():
    from jax_numpy_api.sparse import test_util
    rng = np.random.RandomState(0)
    assert len(list(test_util.iter_sparse_layouts((2, 3)))) == 6 and len(list(test_util.iter_bcsr_layouts((2, 3, 4)))) == 2
    assert list(test_util.iter_subsets([1, 2])) == [(), (1,), (2,), (1, 2)]
    for layout in test_util.iter_sparse_layouts((3, 4), min_n_batch=1):
        mat = test_util.rand_bcoo(rng, n_batch=layout.n_batch, n_dense=layout.n_dense)((3, 4), np.float32)
        assert (mat.n_batch, mat.n_dense, mat.n_sparse) == layout and mat.dtype == np.float32
    assert np.count_nonzero(test_util.rand_sparse(rng, nse=5)((4, 5), np.complex64)) == 5
    assert test_util.is_sparse(test_util.rand_bcsr(rng)((3, 4), np.float64))


@pytest.mark.parametrize("transpose", [False, True])
def test_functions_of_buffers(transpose):
    """Those that take a matrix's buffers give what those that take the matrix give."""
    dense = matrix(3, 5)
    nse = np.count_nonzero(dense)
    v = np.ones((3 if transpose else 5, 2))
    buffers, info = coo._coo_fromdense(dense, nse=nse), coo.COOInfo((3, 5))
    same(coo._coo_todense(*buffers, spinfo=info), dense)
    same(coo._coo_matmat(*buffers, v, spinfo=info, transpose=transpose), (dense.T if transpose else dense) @ v)
    same(coo._coo_matvec(*buffers, v[:, 0], spinfo=info, transpose=transpose), (dense.T if transpose else dense) @ v[:, 0])
    buffers = csr._csr_fromdense(dense, nse=nse)
    same(csr._csr_todense(*buffers, shape=(3, 5)), dense)
    same(csr._csr_matmat(*buffers, v, shape=(3, 5), transpose=transpose), (dense.T if transpose else dense) @ v)
    assert util._count_stored_elements(dense) == nse


def test_functions_on_bare_buffers():
    """What libraries call on data and coordinates gives what the classes give."""
    dense = matrix(3, 4, 5)
    nse = util._count_stored_elements(dense, n_batch=1)
    m = BCOO.fromdense(dense, n_batch=1)
    data, indices = bare._bcoo_fromdense(dense, nse=nse, n_batch=1)
    same(data, m.data), same(indices, m.indices)
    info = util.SparseInfo(dense.shape)
    same(bare._bcoo_todense(data, indices, spinfo=info), dense)
    same(bare._bcoo_todense(data[:1], indices[:1], spinfo=info), np.broadcast_to(dense[:1], dense.shape))  # of batch axes one buffer will do
    numbers = (((2,), (0,)), ((), ()))
    same(bare._bcoo_dot_general(data, indices, jnp.ones(5), lhs_spinfo=info, dimension_numbers=numbers, preferred_element_type=None), dense.sum(2))
    rows = bare._bcsr_fromdense(dense, nse=nse, n_batch=1)
    same(bare._bcsr_todense(*rows, spinfo=info), dense)
    same(bare._bcsr_to_bcoo(*rows[1:], shape=dense.shape), indices)
    for got, want in zip(bare._bcoo_to_bcsr(indices, shape=dense.shape, index_dtype=np.int32), rows[1:]):
        same(got, want)
        assert got.dtype == np.int32


@pytest.mark.parametrize("call", [
    lambda: vmap(lambda m: m.todense())(sparse.BCOO.fromdense(jnp.eye(3))),
    lambda: vmap(lambda m: m.todense(), in_axes=1)(sparse.BCOO.fromdense(jnp.ones((2, 3, 3)), n_batch=1)),
    lambda: vmap(lambda m: m.todense(), in_axes=-1)(sparse.BCOO.fromdense(jnp.ones((2, 3, 3)), n_batch=1)),
    lambda: vmap(lambda m: m * 2, out_axes=1)(sparse.BCOO.fromdense(jnp.ones((2, 3, 3)), n_batch=1)),
    lambda: vmap(lambda m: m.todense())(sparse.BCSR.fromdense(jnp.eye(3))),
    lambda: vmap(lambda m: m.todense())(sparse.COO.fromdense(jnp.eye(3))),
    lambda: vmap(lambda x: sparse.CSR.fromdense(jnp.eye(3), nse=3))(jnp.ones(2))])
def test_vmap_refuses_axes_that_are_no_batch_axes(call):
    """The buffers do not share the others: mapped, they gave arrays of another shape with other elements."""
    with pytest.raises(ValueError, match=r"^vmap: (in|out)_axes=.* batch axes"):
        call()


def test_vmap_over_batch_axes_of_sparse_arrays():
    x = jnp.arange(24.0).reshape(2, 3, 2, 2)
    m = sparse.BCOO.fromdense(x, n_batch=2)
    assert jnp.array_equal(vmap(lambda a: a.todense(), in_axes=1)(m), x.swapaxes(0, 1))
    out = vmap(lambda a: a * 2, in_axes=1, out_axes=1)(m)
    assert out.n_batch == 2 and jnp.array_equal(out.todense(), 2 * x)
    assert vmap(lambda y: sparse.COO.fromdense(jnp.eye(2)), out_axes=None)(jnp.ones(3)).shape == (2, 2)
