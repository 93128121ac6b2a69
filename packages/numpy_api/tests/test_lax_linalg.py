"""Matrix factorisations: laws, what defines each factor, degenerate cases, and errors.

Vectors that are unique but for a sign have a derivative, and the laws compare it with difference quotients. Complex
vectors are unique but for a phase; there, what does not depend on the phase is compared.
"""
import numpy as np
import pytest
import scipy.linalg

from harness import LAWS, Bad, Case
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import eval_shape
from jax_core.representation import dtypes
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

L = lax.linalg
KINDS = [np.float32, np.float64, np.complex64, np.complex128]


def scaled(x, factor):
    return lax.mul(x, np.asarray(factor, x.dtype)[()])


def mh(x):
    rank = len(x.shape)
    x = lax.transpose(x, (*range(rank - 2), rank - 1, rank - 2))
    return lax.conj(x) if x.dtype.kind == "c" else x


def mm(a, b):
    batch = tuple(range(len(a.shape) - 2))
    return lax.dot_general(a, b, (((len(a.shape) - 1,), (len(a.shape) - 2,)), (batch, batch)), precision="highest")


def spd(x):
    """A positive definite matrix made of any."""
    eye = np.eye(x.shape[-1], dtype=x.dtype)
    return lax.add(mm(x, mh(x)), lax.broadcast_in_dim(eye, x.shape, (len(x.shape) - 2, len(x.shape) - 1)))


def size2(x):
    return lax.real(lax.mul(x, lax.conj(x)))


def projector(v, first, last):
    part = lax.slice_in_dim(v, first, last, axis=len(v.shape) - 1)
    return mm(part, mh(part))


def spread(x):
    """A matrix with singular values well apart."""
    d = np.zeros(x.shape[-2:], x.dtype)
    np.fill_diagonal(d, 4.0 * np.arange(1, 1 + min(d.shape)))
    return lax.add(x, lax.broadcast_in_dim(d, x.shape, (len(x.shape) - 2, len(x.shape) - 1)))


def case(name, fun, types, **params):
    return Case(fun, types, name=name, reference=False, **{"tolerance": 256, **params})


def solve_case(kind, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    def solve(a, b):
        return L.triangular_solve(spread(scaled(a, 0.5)), b, left_side=left_side, lower=lower, transpose_a=transpose_a,
                                  conjugate_a=conjugate_a, unit_diagonal=unit_diagonal)
    flags = "".join(str(int(v)) for v in (left_side, lower, transpose_a, conjugate_a, unit_diagonal))
    return case(f"triangular_solve {flags}", solve, f"{kind}[3,3],{kind}[{'3,2' if left_side else '2,3'}]")


ROTATION = np.array([[0, 9, 0], [-9, 0, 0], [0, 0, 5]])
PAIRS = np.array([[0, 9, 1, 0], [-7, 0, 0, 2], [0, 0, 1, 6], [1, 0, -8, 1]])  # two pairs of complex eigenvalues
SOLVES = [solve_case(kind, *flags) for kind, *flags in (
    ("f32", True, True, False, False, False), ("f32", False, False, True, False, False), ("f32", True, False, True, False, True),
    ("c64", True, True, True, True, False), ("c64", False, False, False, True, False), ("c64", False, True, True, False, True))]
FACTORS = [
    case("cholesky", lambda x: L.cholesky(spd(x)), "f32[2,3,3]"), case("cholesky", lambda x: L.cholesky(spd(x)), "c64[3,3]"),
    case("eigh", lambda x: L.eigh(lax.add(x, mh(spread(x)))), "f32[2,3,3]"),
    case("eigh of complex", lambda x: [L.eigh(spread(spd(x)))[1], projector(L.eigh(spread(spd(x)))[0], 1, 2)], "c64[3,3]"),
    case("svd thin", lambda x: L.svd(spread(x), full_matrices=False), "f32[4,3]"),
    case("svd wide", lambda x: L.svd(spread(x), full_matrices=False), "f32[2,2,4]"),
    case("svd of complex", lambda x: [projector(L.svd(spread(x), full_matrices=False)[0], 0, 1),
                                      projector(mh(L.svd(spread(x))[2]), 1, 2), L.svd(spread(x), compute_uv=False)], "c64[3,2]"),
    case("svd full", lambda x: [L.svd(spread(x))[1], lax.slice_in_dim(L.svd(spread(x))[0], 0, 2, axis=1),
                                projector(L.svd(spread(x))[0], 2, 5), L.svd(spread(x))[2]], "f32[5,2]"),
    case("svd full wide", lambda x: [projector(mh(L.svd(spread(x))[2]), 2, 4), projector(mh(L.svd(spread(x))[2]), 0, 1)],
         "c64[2,4]"),
    case("lu", lambda x: L.lu(spread(x))[0], "f32[2,3,3]"), case("lu tall", lambda x: L.lu(spread(x))[0], "c64[4,2]"),
    case("lu wide", lambda x: L.lu(spread(x))[0], "f32[2,4]"),
    case("qr", lambda x: L.qr(spread(x), full_matrices=False), "f32[2,4,3]"),
    case("qr wide", lambda x: L.qr(spread(x)), "f32[2,4]"), case("qr complex", lambda x: L.qr(spread(x)), "c64[3,3]"),
    case("qr pivoted", lambda x: L.qr(spread(x), pivoting=True, full_matrices=False)[:2], "f32[4,3]"),
    case("eig", lambda x: [lax.real(y) for y in L.eig(spread(x), enable_eigvec_derivs=True)], "f32[2,3,3]", order=1),
    case("eig of complex", lambda x: L.eig(spread(x), enable_eigvec_derivs=True), "c64[3,3]", order=1),
    case("eig of a rotation", lambda x: [lax.imag(y) for y in L.eig(lax.add(x, ROTATION.astype(x.dtype)), enable_eigvec_derivs=True)],
         "f32[3,3]", order=1),
    case("eigenvalues", lambda x: L.eig(spread(x), compute_left_eigenvectors=False, compute_right_eigenvectors=False),
         "f32[3,3]"),
    case("schur", lambda x: L.schur(spread(x)), "f32[2,3,3]", order=1),
    case("schur with pairs", lambda x: L.schur(lax.add(x, PAIRS.astype(x.dtype))), "f32[4,4]", order=1, domain=(-0.5, 0.5)),
    case("schur of complex", lambda x: [size2(y) for y in L.schur(spread(x))], "c64[3,3]", order=1),
    case("householder_product", lambda a, t: L.householder_product(a, t), "f32[2,4,3],f32[2,2]"),
    case("householder_product", lambda a, t: L.householder_product(a, t), "c64[4,2],c64[2]"),
    case("ormqr", lambda a, t, c: L.ormqr(a, t, c), "f32[4,3],f32[3],f32[4,2]", order=1),
    case("ormqr right", lambda a, t, c: L.ormqr(a, t, c, left=False, transpose=True), "c64[4,2],c64[2],c64[2,4]", order=1),
    case("tridiagonal_solve", lambda a, b, c, y: L.tridiagonal_solve(scaled(a, 0.3), lax.add(b, b.dtype.type(5)), c, y),
         "f32[2,4],f32[2,4],f32[2,4],f32[2,4,2]"),
    case("tridiagonal_solve", lambda a, b, c, y: L.tridiagonal_solve(scaled(a, 0.3), lax.add(b, b.dtype.type(9)), c, y),
         "c64[4],c64[4],c64[4],c64[4,2]"),
    case("symmetric_product", lambda a, c: L.symmetric_product(a, c, alpha=2.0, beta=0.5), "f32[3,2],f32[3,3]"),
    case("cholesky_update", lambda r, w: L.cholesky_update(mh(L.cholesky(spd(r))), w), "f32[3,3],f32[3]"),
]
NO_DERIVATIVE = [
    case("hessenberg", L.hessenberg, "f32[2,4,4]", derivative=False),
    case("hessenberg", L.hessenberg, "c64[3,3]", derivative=False),
    case("tridiagonal", lambda x: L.tridiagonal(lax.add(x, mh(x))), "f32[2,4,4]", derivative=False),
    case("tridiagonal", lambda x: L.tridiagonal(lax.add(x, mh(x)), lower=False), "c64[3,3]", derivative=False),
    case("lu_pivots_to_permutation", lambda p: L.lu_pivots_to_permutation(p, 5), "i32[2,3]", domain=(2, 4)),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", SOLVES + FACTORS + NO_DERIVATIVE, ids=str)
def test_law(case, law):
    law(case)


# -- what defines the factors ---------------------------------------------------------------------------------------------

def sample(dtype, *shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def h(x):
    return np.swapaxes(np.conj(x), -1, -2)


def close(a, b, dtype):
    a, b = np.asarray(a), np.asarray(b)
    assert np.abs(a - b).max(initial=0) <= 300 * np.finfo(dtype).eps * max(np.abs(b).max(initial=0), 1)


@pytest.fixture(params=KINDS, ids=lambda dtype: np.dtype(dtype).name)
def dtype(request):
    with flags.enable_x64(True):
        yield request.param


def test_hermitian_factorisations(dtype):
    """L L^H and V diag(w) V^H give the matrix back, in batches of any rank."""
    x = sample(dtype, 2, 1, 4, 4)
    x = x @ h(x)
    factor = np.asarray(L.cholesky(x))
    close(factor @ h(factor), x, dtype)
    assert factor.dtype == dtype and not np.triu(factor, 1).any()
    for lower in (True, False):
        v, w = map(np.asarray, L.eigh(np.tril(x) if lower else np.triu(x), lower=lower, symmetrize_input=False))
        close(v * w[..., None, :] @ h(v), x, dtype)
        assert (np.diff(w) >= 0).all() and w.dtype == np.finfo(dtype).dtype
    v, w = map(np.asarray, L.eigh(x, subset_by_index=(1, 3)))
    close(x @ v, v * w[..., None, :], dtype)
    assert w.shape == (2, 1, 2)


@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (3, 5)], ids=str)
def test_orthogonal_factorisations(dtype, shape):
    """Q R, U S V^H and P^-1 L U give the matrix back; Q, U, V have orthonormal columns."""
    x, k = sample(dtype, *shape), min(shape[-2:])
    for full in (False, True):
        q, r = map(np.asarray, L.qr(x, full_matrices=full))
        close(q @ r, x, dtype)
        close(h(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], q.shape[-1], q.shape[-1])), dtype)
        u, s, vh = map(np.asarray, L.svd(x, full_matrices=full))
        close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x, dtype)
        close(vh @ h(vh), np.broadcast_to(np.eye(vh.shape[-2]), (*vh.shape[:-2], vh.shape[-2], vh.shape[-2])), dtype)
        assert (np.diff(s) <= 0).all()
    close(L.svd(x, compute_uv=False), s, dtype)
    close(L.svd(x, algorithm=L.SvdAlgorithm.QR)[1], s, dtype)
    q, r, p = map(np.asarray, L.qr(x, pivoting=True, full_matrices=False))
    close(q @ r, np.take_along_axis(x, np.broadcast_to(p[..., None, :], x.shape), -1), dtype)
    factors, pivots, order = map(np.asarray, L.lu(x))
    m, n = shape[-2:]
    lower = np.tril(factors[..., :k], -1) + np.eye(m, k)
    close(lower @ np.triu(factors[..., :k, :]), np.take_along_axis(x, np.broadcast_to(order[..., None], x.shape), -2), dtype)
    assert pivots.min() >= 0


def test_general_eigenvalues_and_schur(dtype):
    """A V = V W, U^H A = W U^H, A = Z T Z^H, in the dtypes of the public API."""
    x = sample(dtype, 2, 5, 5)
    w, u, v = map(np.asarray, L.eig(x))
    close(x @ v, v * w[..., None, :], dtype)
    close(h(u) @ x, w[..., :, None] * h(u), dtype)
    assert w.dtype == np.result_type(dtype, np.complex64)
    t, z = map(np.asarray, L.schur(x))
    close(z @ t @ h(z), x, dtype)
    assert not np.tril(t, -2).any() and t.dtype == dtype
    reduced, taus = map(np.asarray, L.hessenberg(x))
    want = [scipy.linalg.hessenberg(a) for a in x]
    close(np.abs(np.triu(reduced, -1)), np.abs(want), dtype)
    assert taus.shape == (2, 4)


def test_solvers(dtype):
    """Triangular and tridiagonal systems."""
    a, b = sample(dtype, 2, 4, 4), sample(dtype, 2, 4, 3, seed=1)
    a += 4 * np.eye(4)
    x = np.asarray(L.triangular_solve(a, b, left_side=True, lower=True))
    close(np.tril(a) @ x, b, dtype)
    x = np.asarray(L.triangular_solve(a[0], b[0, :, 0], left_side=True))
    close(np.triu(a[0]) @ x, b[0, :, 0], dtype)
    dl, d, du = (sample(dtype, 2, 4, seed=i) for i in (2, 3, 4))
    d += 5
    x = np.asarray(L.tridiagonal_solve(dl, d, du, b))
    full = np.stack([np.diag(p) + np.diag(q[1:], -1) + np.diag(r[:-1], 1) for p, q, r in zip(d, dl, du)])
    close(full @ x, b, dtype)


@pytest.mark.parametrize("dtype", [np.float16, dtypes.bfloat16])
def test_triangular_systems_of_halves(dtype):
    """LAPACK has none; they are solved in float32."""
    a, b = np.array([[2, 0], [1, 4]], dtype), np.array([[2, 4], [5, 10]], dtype)
    for solve in (L.triangular_solve, jit(L.triangular_solve, static_argnames=("left_side", "lower"))):
        x = solve(a, b, left_side=True, lower=True)
        assert x.dtype == dtype and x.tolist() == [[1, 2], [1, 2]]


def test_one_matrix_serves_a_batch_of_right_hand_sides():
    """vmap over the right-hand side alone makes one call with more columns."""
    a, b = sample(np.float32, 3, 3) + 4 * np.eye(3, dtype=np.float32), sample(np.float32, 5, 3, 2)
    for left, rhs in ((True, b), (False, np.swapaxes(b, 1, 2))):
        got = np.asarray(vmap(lambda y: L.triangular_solve(a, y, left_side=left))(rhs))
        want = np.stack([np.asarray(L.triangular_solve(a, y, left_side=left)) for y in rhs])
        close(got, want, np.float32)


@pytest.mark.parametrize("x", [np.array([[1.0, 2], [3, 4]]), sample(np.float64, 20, 7), sample(np.complex64, 4, 4)],
                         ids=["2", "tall", "complex"])
def test_polar_decomposition(x):
    """u has orthonormal columns, h is positive semidefinite, u h = x."""
    x = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
    u, p, steps, converged = L.qdwh(x)
    u, p = np.asarray(u), np.asarray(p)
    close(u @ p, x, np.float32)
    close(h(u) @ u, np.eye(x.shape[1]), np.float32)
    assert bool(converged) and int(steps) <= 8 and np.linalg.eigvalsh(p).min() > -1e-5
    for scale in map(np.float32, (1e-30, 1e30, 3e37)):  # the squares of which are 0 or inf
        close(np.asarray(L.qdwh(x / np.abs(x).max() * scale)[0]), u, np.float32)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_derivatives_of_factors_of_large_and_small_matrices(dtype):
    """What has no scale is the same for any multiple of a matrix whose squares are 0 or inf."""
    x, t = sample(dtype, 4, 3), sample(dtype, 3, 4).T.copy()

    def bases(x: np.ndarray):
        u, _, vh = L.svd(x)
        return u, vh, L.qdwh(x)[0]
    _, want = jvp(bases, [x], [t])
    for scale in map(np.float32, (1e-30, 1e30)):
        for got, expected in zip(jvp(bases, [x * scale], [t * scale])[1], want, strict=True):
            close(np.asarray(got), np.asarray(expected), np.float32)


# -- degenerate cases -----------------------------------------------------------------------------------------------------

def test_failure_is_nan_for_that_matrix_alone():
    """A batch with one matrix that is not positive definite, or not finite."""
    good, bad = np.eye(2, dtype=np.float32), np.array([[1, 2], [2, 1]], np.float32)
    out = np.asarray(L.cholesky(np.stack([bad, good])))
    assert np.isnan(out[0][np.tril_indices(2)]).all() and np.array_equal(out[1], good)
    hole = np.stack([np.full((2, 2), np.nan, np.float32), good])
    for factor in (L.eigh, L.svd, L.eig, L.schur):
        for part in map(np.asarray, factor(hole)):
            assert np.isnan(part[0]).any() and np.isfinite(part[1]).all()


@pytest.mark.only_cpu
def test_no_pass_over_a_matrix_looks_for_infinities_before_its_svd():
    """Each would be kernels to compile."""
    assert "stablehlo.reduce" not in jit(lambda x: L.svd(x)).lower(np.ones((40, 30), np.float32)).as_text()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("algorithm", [None, L.SvdAlgorithm.QR])
def test_singular_values_of_an_infinite_matrix_are_nan(algorithm, dtype):
    """LAPACK's steps do not end there."""
    x = np.stack([np.array([[np.inf, 4, 1.5], [4, 4, 2], [1.5, 2, 3]], dtype), np.eye(3, dtype=dtype)])
    for part in map(np.asarray, [*L.svd(x, algorithm=algorithm), L.svd(x, algorithm=algorithm, compute_uv=False)]):
        assert np.isnan(part[0]).all() and np.isfinite(part[1]).all()


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("factor", [L.eigh, L.schur])
def test_vectors_of_an_infinite_matrix_are_nan(factor, dtype):
    """LAPACK gives those of the identity, and reports no failure."""
    for value in (np.inf, -np.inf, np.nan):
        x = np.stack([np.diag([4, value, 1.5]).astype(dtype) + 1, np.eye(3, dtype=dtype)])
        for part in map(np.asarray, factor(x)):
            assert np.isnan(part[0]).all() and np.isfinite(part[1]).all()
    slope = np.asarray(grad(lambda x: lax.reduce_sum(L.eigh(x)[1], (0, 1)))(np.stack([np.diag([1, np.inf]).astype("float32")] * 2)))
    assert np.isnan(slope).any()


@pytest.mark.parametrize("bad", [[[np.nan, 2], [2, 1]], [[1, 2, 0], [2, np.nan, 0], [0, 0, 3]]])
def test_eigenvalues_are_nan_where_the_diagonal_of_a_small_block_is(bad):
    """LAPACK gives numbers."""
    bad = np.array(bad, np.float32)
    x = np.stack([bad, np.eye(len(bad), dtype=np.float32)])
    for part in map(np.asarray, [*L.eigh(x), jit(lambda x: L.eigh(x)[1])(x)]):
        assert np.isnan(part[0]).all() and np.isfinite(part[1]).all()


def test_eigenvalues_of_longer_rows_are_tested_for_nan_in_one_kernel():
    """XLA's CPU compiler splits reductions of over 32 elements along an axis in two, which are kernels of their own to compile."""
    x = np.stack([np.eye(37, dtype=np.float32)] * 3)
    x[1, 36, 36] = x[2, 5, 4] = np.nan
    program = jit(lambda x: L.eigh(x)[1]).lower(x).compile()
    assert np.isnan(np.asarray(program(x))).all(1).tolist() == [False, True, True]
    if "lapack_ssyevd" in program.as_text():
        assert "reduce-window" not in program.as_text()


def test_equal_eigenvalues_have_finite_derivatives():
    """A function of the eigenvalues alone, where they are equal, and of the span of both vectors."""
    x = np.diag([1.0, 1.0, 3.0]).astype(np.float32)
    g = np.asarray(grad(lambda x: lax.reduce_sum(lax.mul(L.eigh(x)[1], L.eigh(x)[1]), (0,)))(x))
    assert np.allclose(g, 2 * x)
    direction = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], np.float32)
    _, turned = jvp(lambda x: projector(L.eigh(x)[0], 0, 2), [x], [direction])
    assert np.allclose(turned, -direction / 2, atol=1e-6)
    s = np.asarray(grad(lambda x: lax.reduce_sum(L.svd(x, full_matrices=False)[1], (0,)))(np.eye(3, dtype=np.float32)))
    assert np.allclose(s, np.eye(3), atol=1e-6)


def test_matrices_without_elements():
    """Full bases of nothing are identities."""
    for shape in ((0, 0), (3, 0), (0, 3), (2, 3, 0)):
        x = np.zeros(shape, np.float32)
        u, s, vh = L.svd(x)
        q, r = L.qr(x)
        m, n = shape[-2:]
        assert s.shape == (*shape[:-2], 0) and r.shape == shape and L.lu(x)[2].shape == (*shape[:-2], m)
        assert np.array_equal(u, np.broadcast_to(np.eye(m), u.shape)) and np.array_equal(vh, np.broadcast_to(np.eye(n), vh.shape))
        assert np.array_equal(q, u)
    empty = np.zeros((0, 0), np.float32)
    for factor in (L.cholesky, L.eigh, L.eig, L.schur, L.hessenberg):
        jit(factor)(empty)


@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (2, 0, 0)])
@pytest.mark.parametrize("factor", [L.lu, L.qr, L.svd, L.eigh, lambda x: [L.cholesky(x)], lambda x: L.eig(x, enable_eigvec_derivs=True),
                                    lambda x: L.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)])
def test_derivatives_without_elements(factor, shape):
    """Their types are those of the results; nothing is looked up, or the largest of, no elements."""
    def both(x):
        out, tangents = jvp(factor, [x], [x])
        return [y for y in out if y.dtype.kind in "fc"], [t for t, y in zip(tangents, out) if y.dtype.kind in "fc"]
    out, tangents = eval_shape(both, np.zeros(shape, np.float32))
    assert [t.shape for t in tangents] == [y.shape for y in out]


def test_eigenvectors_are_differentiated_on_request_only():
    """Without the flag, asking for their derivative is an error that names it."""
    x = np.diag([1.0, 2.0]).astype(np.float32)
    with pytest.raises(NotImplementedError, match="enable_eigvec_derivs=True"):
        jvp(lambda x: L.eig(x)[1], [x], [x])


BAD = [
    Bad(L.cholesky, "f32[2,3]", ValueError, r"must have shape \[..., n, n\], got shape \(2, 3\)"),
    Bad(L.eigh, "f32[3]", ValueError, r"got shape \(3,\)"), Bad(L.svd, "f32[3]", TypeError, "rank at least 2"),
    Bad(L.lu, "i32[2,2]", TypeError, "lu does not accept dtype int32"), Bad(L.qr, "bf16[2,2]", TypeError, "bfloat16"),
    Bad(L.eig, "f32[2,3]", ValueError, "square matrix"), Bad(L.schur, "f32[2,3]", ValueError, "square matrix"),
    Bad(L.eig, "f32[3]", TypeError, "Input 0 to eig must have rank at least 2"), Bad(L.schur, "f32[3]", TypeError, "rank at least 2"),
    Bad(L.tridiagonal, "f32[]", TypeError, "rank at least 2"), Bad(L.hessenberg, "f32[3]", TypeError, "rank at least 2"),
    Bad(L.triangular_solve, "f32[3],f32[3,3]", TypeError, "rank at least 2"),
    Bad(L.geqp3, "f32[2,3],i32[2]", ValueError, "an element for each column"),  # LAPACK wrote beyond the end, and the process aborted later
    Bad(L.geqp3, "f32[4,2,3],i32[3]", ValueError, "an element for each column"),
    Bad(L.householder_product, "f32[3,2],f32[1,2]", TypeError, "as many batch axes"),
    Bad(L.householder_product, "i32[2,3],i32[2]", ValueError, "at least as many rows"),
    Bad(L.symmetric_product, "i32[1,3],i32[1,3]", ValueError, "needs matrices"), Bad(L.symmetric_product, "i32[1,3],i32[1,1]", TypeError, "int32"),
    Bad(L.triangular_solve, "i32[2,3],i32[2,3]", ValueError, r"must have shape \[..., n, n\]"),
    Bad(L.triangular_solve, "f32[2,2],f32[3,3]", ValueError, r"Incompatible shapes for arguments to triangular_solve"),
    Bad(L.triangular_solve, "f32[2,2],c64[2,2]", TypeError, "same dtypes"),
    Bad(lambda x: L.svd(x, subset_by_index=(0, 1)), "f32[2,2]", ValueError, "cannot both be set"),
    Bad(lambda x: L.schur(x, sort_eig_vals=True), "f32[2,2]", NotImplementedError, "sort_eig_vals"),
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_arguments(bad):
    with pytest.raises(bad.error, match=bad.message):
        bad.case.call(*bad.case.samples(0))


WEAK = {
    "cholesky": lambda a: L.cholesky(a), "lu": L.lu, "qr": L.qr, "eigh": lambda a: L.eigh(a), "eig": L.eig, "svd": lambda a: L.svd(a), "schur": L.schur,
    "hessenberg": L.hessenberg, "tridiagonal": L.tridiagonal, "householder_product": lambda a: L.householder_product(a, a[0]),
    "triangular_solve": lambda a: L.triangular_solve(a, a), "tridiagonal_solve": lambda a: L.tridiagonal_solve(a[0], a[0], a[0], a),
    "symmetric_product": lambda a: L.symmetric_product(a, a), "cholesky_update": lambda a: L.cholesky_update(a, a[0])}


@pytest.mark.parametrize("factor", WEAK)
def test_factors_are_weakly_typed_as_the_matrix_is(factor):
    for start in (2.0, np.float32(2)):
        found = eval_shape(WEAK[factor], lax.full((3, 3), start))
        assert {x.weak_type for x in (found if isinstance(found, (tuple, list)) else [found])} == {isinstance(start, float)}


@pytest.mark.only_cpu
def test_vectors_that_nobody_reads_are_not_computed():
    """Compiled, the values alone cost what they cost alone; they are the same, and so is their derivative."""
    x = spd(sample(np.float32, 4, 4))
    for values, mode in ((lambda x: L.eigh(x)[1], "mode = 78"), (lambda x: L.svd(x)[1], "mode = 78"),
                         (lambda x: L.eig(x)[0], "compute_left = 78"), (lambda x: L.schur(x)[0], "mode = 78")):
        text = jit(values).lower(x).as_text()
        assert mode in text and "= 86" not in text
        close(np.sort(np.abs(np.asarray(jit(values)(x))).ravel()), np.sort(np.abs(np.asarray(values(x))).ravel()), np.float32)
    g = grad(lambda x: lax.reduce_sum(jit(lambda x: L.eigh(x)[1])(x), (0,)))(x)
    close(g, np.eye(4), np.float32)


@pytest.mark.parametrize(("platform", "shape", "options", "target", "out"), [
    ("cuda", "1024x1024", {}, "cusolver_gesvdj", "1024x1024 1024 1024x1024 1024x1024"),
    ("cuda", "1025x8", {}, "cusolver_gesvd", "1025x8 8 1025x1025 8x8"),
    ("cuda", "8x1025", {"full_matrices": False}, "cusolver_gesvd", "1025x8 8 1025x8 8x8"),
    ("cuda", "300x600", {"full_matrices": False}, "cusolver_gesvdj", "300x600 300 300x300 600x300"),
    ("cuda", "2x20x30", {"full_matrices": False}, "cusolver_gesvdj", "2x20x30 2x20 2x20x20 2x30x30"),
    ("cuda", "40x30", {"compute_uv": False}, "cusolver_gesvdj", "40x30 30 40x40 30x30"),
    ("cuda", "20x30", {"algorithm": L.SvdAlgorithm.QR}, "cusolver_gesvd", "30x20 20 30x30 20x20"),
    ("cuda", "20x30", {"algorithm": L.SvdAlgorithm.POLAR, "full_matrices": False}, "cusolver_gesvdp", "20x30 20 20x20 30x20"),
    ("cuda", "20x30", {"algorithm": L.SvdAlgorithm.DIVIDE_AND_CONQUER}, NotImplementedError, "use DEFAULT, QR or JACOBI"),
    ("rocm", "8x8", {}, "hipsolver_gesvdj", "8x8 8 8x8 8x8"),
    ("rocm", "8x8", {"algorithm": L.SvdAlgorithm.DIVIDE_AND_CONQUER}, "hipsolver_gesdd", "8x8 8 8x8 8x8"),
    ("rocm", "8x8", {"algorithm": L.SvdAlgorithm.POLAR}, NotImplementedError, "use DEFAULT, QR or JACOBI")], ids=str)
def test_singular_values_on_gpus(platform, shape, options, target, out):
    """Which routine is called, and the shapes that it fills: the matrix, the values, u, and v (gesvd: its adjoint)."""
    x = np.zeros([int(n) for n in shape.split("x")], np.float32)
    lower = lambda: jit(lambda x: L.svd(x, **options)).trace(x).lower(lowering_platforms=(platform,)).as_text()
    if target is NotImplementedError:
        with pytest.raises(target, match=out):
            lower()
        return
    call, = (line for line in lower().splitlines() if "_ffi" in line)
    assert f"@{target}_ffi" in call
    assert call.split("-> (")[1].count("tensor") == 5 and all(f"tensor<{s}xf32>" in call.split("-> (")[1] for s in out.split())
