"""jax.scipy.linalg against SciPy, and derivatives of functions of matrices."""
import math

import numpy as np
import pytest
import scipy.linalg

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_numpy_api.scipy import linalg

_RNG = np.random.default_rng(0)
A, B = _RNG.normal(size=(4, 4)), _RNG.normal(size=(4, 3))
C = A + 1j * _RNG.normal(size=(4, 4))
S, H = A @ A.T + np.eye(4), C @ C.conj().T + np.eye(4)
V = A[0]


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


CASES = [  # name, arguments, keyword arguments
    ("cholesky", (S,), {}), ("cholesky", (H,), {"lower": True}), ("solve", (A, B), {}), ("solve", (S, V), {"assume_a": "pos"}),
    *[("solve_triangular", (C, B), {"trans": t, "lower": low}) for t in (0, "T", "C") for low in (False, True)],
    ("solve_triangular", (A, V), {"unit_diagonal": True}), ("lu", (B,), {}), ("lu", (B.T,), {"permute_l": True}), ("qr", (B,), {}),
    ("qr", (B,), {"mode": "economic"}), ("qr", (A,), {"mode": "r", "pivoting": True}), ("qr_multiply", (C, A), {"mode": "left"}),
    ("qr_multiply", (C, A), {"conjugate": True}), ("svd", (B,), {"compute_uv": False}), ("polar", (B,), {}),
    ("polar", (B.T,), {"side": "left"}), ("eigh", (S,), {"eigvals_only": True}), ("eigh", (S, H), {"eigvals_only": True, "type": 2}),
    ("eigh_tridiagonal", (V, V[1:]), {"eigvals_only": True}), ("hessenberg", (A,), {}), ("expm", (A,), {}), ("expm", (4 * C,), {}),
    ("expm", (np.stack([A, S / 8]),), {}), ("expm_frechet", (A, S), {}), ("sqrtm", (S,), {}), ("sqrtm", (C,), {}),
    ("solve_sylvester", (A, S[:3, :3], B), {}), ("det", (A,), {}), ("inv", (A,), {}), ("block_diag", (A, 2.0, V), {}), ("toeplitz", (V,), {}),
    ("toeplitz", (V, B[0]), {}), ("hankel", (V, B[0]), {}), ("circulant", (V,), {}), ("companion", (V,), {}), ("fiedler", (V,), {}),
    *[("fiedler_companion", (_RNG.normal(size=k),), {}) for k in (2, 3, 5, 6)],
    *[("convolution_matrix", (V, n, mode), {}) for n in (3, 6) for mode in ("full", "same", "valid")], ("leslie", (V, V[1:]), {}),
    *[(name, (4,), {}) for name in ("hilbert", "invhilbert", "pascal", "invpascal", "hadamard", "helmert", "dft")],
    ("pascal", (5,), {"kind": "lower"}), ("invpascal", (5,), {"kind": "upper"}), ("invpascal", (13,), {}), ("invhilbert", (9,), {}), ("pascal", (6,), {"kind": "upper"}), ("dft", (5, "sqrtn"), {}), ("helmert", (4, True), {}),
]


@pytest.mark.parametrize("name, args, options", CASES, ids=lambda x: x if isinstance(x, str) else "")
def test_value(name, args, options):
    got, want = getattr(linalg, name)(*args, **options), getattr(scipy.linalg, name)(*args, **options)
    for g, w in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, want))):
        assert g.shape == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-10)


def test_integers_beyond_the_floats_are_infinite():
    """Elements of 400 digits, in silence, and those that fit beside them."""
    assert np.asarray(linalg.pascal(520))[-1, [0, -1]].tolist() == [1, np.inf]
    assert np.asarray(linalg.invhilbert(205))[150, 150:152].tolist() == [np.inf, -np.inf]
    assert np.asarray(linalg.invpascal(30))[-1].tolist() == [(-1) ** (j + 1) * math.comb(29, j) for j in range(30)]


def test_a_donated_matrix_is_made_anew():
    """Matrices of a size are kept; what happens to an array's buffer must not reach them."""
    jit(lambda x: 0 * x, donate_argnums=0)(linalg.hilbert(3))
    assert linalg.hilbert(3)[0, 0] == 1


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solutions_from_factors(trans):
    op = [C, C.T, C.conj().T][trans]
    np.testing.assert_allclose(op @ linalg.lu_solve(linalg.lu_factor(C), B, trans=trans), B, atol=1e-12)
    np.testing.assert_allclose(H @ linalg.cho_solve(linalg.cho_factor(H, lower=trans == 0), B), B, atol=1e-12)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_generalised_eigenvectors(kind):
    w, v = linalg.eigh(S, H, type=kind)
    left, right = {1: (S @ v, H @ v * w), 2: (S @ H @ v, v * w), 3: (H @ S @ v, v * w)}[kind]
    np.testing.assert_allclose(left, right, atol=1e-11)


def test_schur_forms_multiply_to_the_matrix():
    for t, z in (linalg.schur(A), linalg.schur(A, output="complex"), linalg.rsf2csf(*linalg.schur(A))):
        np.testing.assert_allclose(z @ t @ jnp.conj(z).T, A, atol=1e-13)
    np.testing.assert_array_equal(np.tril(t, -1), 0)


def test_the_complex_schur_form_of_several_matrices():
    t, z = linalg.rsf2csf(*map(np.stack, zip(*[linalg.schur(m) for m in (A, A.T)])))
    for k, m in enumerate((A, A.T)):
        np.testing.assert_allclose(z[k] @ t[k] @ z[k].conj().T, m, atol=1e-4)
        assert not np.tril(t[k], -1).any()


def test_funm_of_exp_is_expm():
    np.testing.assert_allclose(linalg.funm(A, jnp.exp), scipy.linalg.expm(A), atol=1e-12)


def test_root_of_a_matrix_with_negative_eigenvalues():
    x = linalg.sqrtm(A)
    np.testing.assert_allclose(x @ x, A, atol=1e-12)


def test_expm_is_nan_where_squarings_run_out():
    assert np.isnan(linalg.expm(A * 1e3, max_squarings=2)).all()
    for a in (A * 1e7, np.diag([1.0, np.nan]), np.diag([1.0, np.inf])):
        assert all(np.isnan(part).all() for part in linalg.expm_frechet(a, np.ones_like(a)))


def test_expm_ends_with_its_squarings():
    """What makes it NaN is part of the scale before them; after them it would be a pass over the matrix more."""
    assert make_jaxpr(linalg.expm)(A).eqns[-1].primitive.name == "scan"


def test_expm_promotes_nothing():
    a = A.astype(np.complex64)
    with flags.numpy_dtype_promotion("strict"):
        assert all(part.dtype == a.dtype for part in jvp(linalg.expm, (a,), (a,)))


FUNCTIONS = {
    "expm": lambda x: linalg.expm(x), "expm, scaled": lambda x: linalg.expm(4 * x), "sqrtm": lambda x: linalg.sqrtm(x),
    "funm": lambda x: linalg.funm(x, jnp.sin), "solve_sylvester": lambda x: linalg.solve_sylvester(x, S[:3, :3], B),
    "cho_solve": lambda x: linalg.cho_solve(linalg.cho_factor(x @ x.T + jnp.eye(4)), B), "lu_solve": lambda x: linalg.lu_solve(
        linalg.lu_factor(x), B), "eigh": lambda x: linalg.eigh(x @ x.T, S)[0], "polar": lambda x: linalg.polar(x, method="svd")[1],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivative(name):
    """Forward and reverse agree with a difference quotient along a direction."""
    def f(x):
        return jnp.sum(jnp.abs(FUNCTIONS[name](x)) ** 2)
    d, h = B @ B.T - A, 1e-4
    a, b, c, e = (float(f(A + k * h * d)) for k in (-2, -1, 1, 2))
    want = (a - e + 8 * (c - b)) / (12 * h)
    np.testing.assert_allclose(jvp(f, (A,), (d,))[1], want, rtol=1e-8)
    np.testing.assert_allclose(jnp.vdot(grad(f)(A), d), want, rtol=1e-8)


def test_vmap_of_functions_of_matrices():
    stack = np.stack([S, A])
    for f in (linalg.expm, linalg.sqrtm):
        np.testing.assert_allclose(vmap(f)(stack), np.stack([f(S), f(A)]), atol=1e-12)


@pytest.mark.parametrize("name", ["expm", "sqrtm", "funm", "polar"])
def test_functions_of_a_matrix_without_elements(name):
    """Such a matrix, and so is the derivative."""
    empty = np.zeros((0, 0))
    assert [x.shape for x in jvp(FUNCTIONS[name], (empty,), (empty,))] == [(0, 0)] * 2


def test_a_sylvester_equation_without_elements():
    for m, n in ((0, 0), (0, 2), (2, 0)):
        assert linalg.solve_sylvester(np.eye(m), np.eye(n), np.zeros((m, n))).shape == (m, n)


@pytest.mark.parametrize("name", ["solve_triangular", "lu_solve", "cho_solve"])
@pytest.mark.parametrize("batch", [(4,), (1,), (3, 4)])
def test_one_vector_for_each_matrix(name, batch):
    """A right side with one axis less than the matrices holds vectors, also where it could be a matrix; and says that this will end."""
    a = np.triu(np.broadcast_to(np.arange(1.0, 17).reshape(4, 4), (*batch, 4, 4))) + np.arange(math.prod(batch)).reshape(*batch, 1, 1) * np.eye(4)
    b = np.arange(math.prod(batch) * 4, dtype=np.float64).reshape(*batch, 4)
    solve = {"solve_triangular": linalg.solve_triangular, "lu_solve": lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b),
             "cho_solve": lambda a, b: linalg.cho_solve((a, False), b)}[name]
    with pytest.warns(FutureWarning, match="taken for vectors"):
        found = solve(a, b)
    np.testing.assert_allclose(found, np.asarray(solve(a, b[..., None]))[..., 0], rtol=1e-12)


BAD = [
    (lambda: linalg.solve(A, B, assume_a="x"), ValueError, "expected assume_a to be one of"), (lambda: linalg.expm(V), ValueError, r"expected a \(batched\) square matrix, got shape \(4,\)"),
    (lambda: linalg.solve_triangular(A, B, trans=5), ValueError, "Invalid 'trans' value 5"), (lambda: linalg.hadamard(3), ValueError, "power of 2; got 3"),
    (lambda: linalg.block_diag(np.ones((1, 1, 1))), ValueError, "must be a matrix, a vector or a scalar"), (lambda: linalg.qr(A, mode="raw"), ValueError, "got 'raw'"),
    (lambda: linalg.solve_sylvester(A, A, B), ValueError, "needs shapes"), (lambda: linalg.fiedler_companion(V[:0]), ValueError, "has no coefficients"),
]


@pytest.mark.parametrize("call, error, message", BAD, ids=[b[2][:20] for b in BAD])
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
