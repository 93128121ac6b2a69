"""jax.scipy.sparse.linalg: iterative solution of linear systems whose matrix is given by its products with vectors.

Vectors are arrays or pytrees of arrays. Derivatives solve the (transposed) system once more, by `lax.custom_linear_solve`.

Sources: Hestenes, Stiefel, J. Res. Natl. Bur. Stand. 49 (1952); van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992); Saad,
Schultz, SIAM J. Sci. Stat. Comput. 7 (1986).
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core.representation import tree
from jax_core.representation.arguments import integer
from jax_core.representation.typing import ArrayLike, PyTree

from ... import lax, numpy as jnp
from ...numpy.promotion import check_numbers, in_float32, is_arraylike

__all__ = ["bicgstab", "cg", "gmres"]

# -- vectors -----------------------------------------------------------------------------------------------------------


def _map(f, *xs):
    flat, structure = tree.flatten(xs[0])
    rest = [tree.flatten(x)[0] for x in xs[1:]]
    return tree.unflatten(structure, [f(*leaves) for leaves in zip(flat, *rest)])


def _dot(x, y):
    products = [jnp.vdot(a, b, precision="highest") for a, b in zip(tree.flatten(x)[0], tree.flatten(y)[0])]
    return sum(products[1:], products[0])


def _square(x):
    return jnp.real(_dot(x, x))


def _axpy(a, x, y):
    return _map(lambda u, v: a * u + v, x, y)


def _sub(x, y):
    return _map(lambda u, v: u - v, x, y)


def _operator(A: Any, name: str) -> Callable:
    if callable(A):
        return A
    if hasattr(A, "shape"):
        if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(f"{name}: the linear operator must be a square matrix, got shape {tuple(A.shape)}")
        if not is_arraylike(A) and hasattr(A, "__matmul__"):  # a user's class of operators
            return lambda x: A @ x
        return lambda x: jnp.matmul(A, x, precision="highest")
    raise TypeError(f"{name}: the linear operator must be a function or an array, got {type(A).__name__}")


def _safe(top, bottom):
    return jnp.where(bottom == 0, 0, top / jnp.where(bottom == 0, 1, bottom)).astype(jnp.result_type(top))


# -- the common frame --------------------------------------------------------------------------------------------------

def _solve(name, method, A, b, x0, tol, atol, maxiter, M, symmetric):
    b = _map(jnp.asarray, b)
    x0 = _map(jnp.zeros_like, b) if x0 is None else _map(jnp.asarray, x0)
    leaves, structure = tree.flatten(b)
    if tree.flatten(x0)[1] != structure:
        raise ValueError(f"{name}: x0 and b must have one structure, got {tree.flatten(x0)[1]} and {structure}")
    for u, v in zip(tree.flatten(x0)[0], leaves):
        if u.shape != v.shape:
            raise ValueError(f"{name}: arrays in x0 and b must have one shape, got {u.shape} and {v.shape}")
    if not all(jnp.issubdtype(v.dtype, jnp.inexact) for v in leaves):
        for v in leaves:
            check_numbers(name, v.dtype)
        b = _map(lambda v: v if jnp.issubdtype(v.dtype, jnp.inexact) else v.astype(float), b)
    x0 = _map(lambda u, v: u.astype(v.dtype), x0, b)
    size = sum(v.size for v in leaves)
    maxiter = 10 * size if maxiter is None else maxiter
    operator_ = _operator(A, name)
    precondition = (lambda x: x) if M is None else _operator(M, name)

    def solve(matvec: Callable[[PyTree], PyTree], rhs: PyTree):
        limit = jnp.maximum(jnp.square(tol) * _square(rhs), jnp.square(atol))
        x, residual = method(matvec, rhs, x0, limit, maxiter, precondition)
        known = jnp.isfinite(_square(residual))  # a comparison with NaN ends the loop, where ever it is
        return _map(lambda v: jnp.where(known, v, np.nan), x)

    return lax.custom_linear_solve(operator_, b, solve, None if symmetric else solve, symmetric=symmetric)


def cg(A: ArrayLike | Callable[..., Any], b: PyTree, x0: PyTree = None, *, tol: ArrayLike = 1e-5, atol: ArrayLike = 0.0,
       maxiter: int | None = None, M: ArrayLike | Callable[..., Any] | None = None) -> tuple:
    """Solution of ``A x = b`` by conjugate gradients, for hermitian positive definite ``A``.

    Args:
      A: a function of vectors, or a matrix.
      b: right-hand side, an array or a pytree of arrays.
      x0: where to start; zeros by default.
      tol, atol: stop when the residual's norm is below ``max(tol * norm(b), atol)``.
      maxiter: number of steps at most; 10 times the size of ``b`` by default.
      M: approximate inverse of ``A``, a function or a matrix.

    Returns:
      the solution, NaN where there is NaN or infinity in the system, and None.

    Source: `scipy.sparse.linalg.cg`.

    >>> jnp.round(jsp.sparse.linalg.cg(jnp.array([[4., 0.], [0., 2.]]), jnp.array([4., 2.]))[0], 3)
    Array([1., 1.], dtype=float32)
    """
    return _solve("cg", _cg, A, b, x0, tol, atol, maxiter, M, True), None


def _cg(matvec, b, x0, limit, maxiter, precondition):
    r = _sub(b, matvec(x0))
    z = precondition(r)

    def going(state: PyTree):
        _, r, gamma, _, k = state
        return (_square(r) > limit) & (k < maxiter)

    def step(state: PyTree):
        x, r, gamma, p, k = state
        Ap = matvec(p)
        alpha = _safe(gamma, _dot(p, Ap).astype(gamma.dtype))
        x, r = _axpy(alpha, p, x), _axpy(-alpha, Ap, r)
        z = precondition(r)
        new = _dot(r, z).astype(gamma.dtype)
        return x, r, new, _axpy(_safe(new, gamma), p, z), k + 1

    return lax.while_loop(going, step, (x0, r, _dot(r, z), z, 0))[:2]


def bicgstab(A: ArrayLike | Callable[..., Any], b: PyTree, x0: PyTree = None, *, tol: ArrayLike = 1e-5,
             atol: ArrayLike = 0.0, maxiter: int | None = None,
             M: ArrayLike | Callable[..., Any] | None = None) -> tuple:
    """Solution of ``A x = b`` by stabilised biconjugate gradients. Arguments and result as for `cg`; any ``A``.

    Source: `scipy.sparse.linalg.bicgstab`.

    >>> jnp.round(jsp.sparse.linalg.bicgstab(jnp.array([[4., 1.], [0., 2.]]), jnp.array([5., 2.]))[0], 3)
    Array([1., 1.], dtype=float32)
    """
    return _solve("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M, False), None


def _bicgstab(matvec, b, x0, limit, maxiter, precondition):
    r = _sub(b, matvec(x0))
    shadow, one = r, jnp.ones((), jnp.result_type(*tree.flatten(b)[0]))

    def going(state: PyTree):
        r, k, broken = state[1], state[-2], state[-1]
        return (_square(r) > limit) & (k < maxiter) & ~broken

    def step(state: PyTree):
        x, r, p, v, rho, alpha, omega, k, _ = state
        new_rho = _dot(shadow, r)
        beta = _safe(new_rho, rho) * _safe(alpha, omega)
        p = _axpy(beta, _axpy(-omega, v, p), r)
        ph = precondition(p)
        v = matvec(ph)
        alpha = _safe(new_rho, _dot(shadow, v))
        s = _axpy(-alpha, v, r)
        early = _square(s) <= limit
        sh = precondition(s)
        t = matvec(sh)
        omega = jnp.where(early, 0, _safe(_dot(t, s), _dot(t, t))).astype(alpha.dtype)
        x = _axpy(omega, sh, _axpy(alpha, ph, x))
        r = _axpy(-omega, t, s)
        broken = (new_rho == 0) | (alpha == 0) | ~early & (omega == 0)
        return x, r, p, v, new_rho, alpha, omega, k + 1, broken

    zeros = _map(jnp.zeros_like, r)
    start = (x0, r, zeros, zeros, one, one, one, 0, jnp.asarray(False))
    return lax.while_loop(going, step, start)[:2]


# -- gmres -------------------------------------------------------------------------------------------------------------

def gmres(A: ArrayLike | Callable[..., Any], b: PyTree, x0: PyTree = None, *, tol: ArrayLike = 1e-5,
          atol: ArrayLike = 0.0, restart: int = 20, maxiter: int | None = None,
          M: ArrayLike | Callable[..., Any] | None = None, solve_method: str = "batched") -> tuple:
    """Solution of ``A x = b`` by generalised minimal residuals, restarted.

    Args:
      restart: size of the Krylov space between restarts.
      maxiter: number of restarts at most.
      M: approximate inverse of ``A``, applied from the left.
      solve_method: "batched" or "incremental"; both build the whole space, and solve the small problem at its end.
      others: as for `cg`.

    Returns:
      the solution, and -1 if it has NaN, else 0.

    Raises:
      TypeError: ``restart`` is no integer. ValueError: it is below 1, or another ``solve_method``.

    Source: `scipy.sparse.linalg.gmres`.

    >>> jnp.round(jsp.sparse.linalg.gmres(jnp.array([[4., 1.], [0., 2.]]), jnp.array([5., 2.]))[0], 3)
    Array([1., 1.], dtype=float32)
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(f"gmres: invalid solve_method {solve_method!r}, must be either 'incremental' or 'batched'")
    size = sum(int(np.size(v)) for v in tree.flatten(b)[0])
    restart = integer("jax.scipy.sparse.linalg.gmres: restart", restart)
    if restart < 1:
        raise ValueError(f"jax.scipy.sparse.linalg.gmres: restart must be at least 1, got {restart}")
    restart = min(restart, max(size, 1))

    def method(matvec: Callable[[PyTree], PyTree], rhs: PyTree, start: PyTree, limit, maxiter, precondition: Callable[[PyTree], PyTree]):
        return _gmres(matvec, rhs, start, limit, maxiter, precondition, restart)
    x = _solve("gmres", method, A, b, x0, tol, atol, maxiter, M, False)
    failed = jnp.stack([jnp.isnan(v).any() for v in tree.leaves(x)]).any()
    return x, jnp.where(failed, -1, 0)


def _flatten(b):
    """Functions from the vector space to flat vectors and back."""
    leaves, structure = tree.flatten(b)
    dtype = jnp.result_type(*leaves)
    cuts = np.cumsum([v.size for v in leaves])[:-1]

    def flat(x: PyTree):
        return jnp.concatenate([v.reshape(-1).astype(dtype) for v in tree.flatten(x)[0]])

    def back(v: PyTree):
        return tree.unflatten(structure, [p.reshape(u.shape).astype(u.dtype) for p, u in zip(jnp.split(v, cuts), leaves)])
    return flat, back, dtype


def _gmres(matvec, b, x0, limit, maxiter, precondition, restart):
    flat, back, dtype = _flatten(b)

    def product(v: PyTree):
        return flat(precondition(matvec(back(v))))

    def residual(x: PyTree):
        return flat(precondition(_sub(b, matvec(back(x)))))

    scale = _safe(jnp.sqrt(_square(precondition(b))), jnp.sqrt(_square(b)))
    limit = limit * jnp.square(scale)  # residuals are measured after the preconditioner

    def orthogonalised(v: PyTree, basis: PyTree):
        """Against the rows of ``basis``, twice (classical Gram-Schmidt)."""
        h = jnp.zeros(basis.shape[0], dtype)
        for _ in range(2):
            part = jnp.matmul(jnp.conj(basis), v, precision="highest")
            v, h = v - jnp.matmul(part, basis, precision="highest"), h + part
        return v, h

    def arnoldi(k: ArrayLike, state: PyTree):
        basis, h = state
        w, column = orthogonalised(product(basis[k]), basis)
        size = jnp.linalg.norm(w).astype(dtype)
        basis = basis.at[k + 1].set(jnp.where(jnp.abs(size) > 1e-30, w / jnp.where(size == 0, 1, size), 0))
        return basis, h.at[:, k].set(column.at[k + 1].set(size))

    def going(state: PyTree):
        _, r, k = state
        return (_square(r) > limit) & (k < maxiter)

    def cycle(state: PyTree):
        x, r, k = state
        size = jnp.linalg.norm(r).astype(dtype)
        basis = jnp.zeros((restart + 1, r.shape[0]), dtype).at[0].set(r / jnp.where(size == 0, 1, size))
        basis, h = lax.fori_loop(0, restart, arnoldi, (basis, jnp.zeros((restart + 1, restart), dtype)))
        target = jnp.zeros(restart + 1, dtype).at[0].set(size)
        y = in_float32(lambda h, target: jnp.linalg.lstsq(h, target)[0], h, target)
        x = x + jnp.matmul(y, basis[:-1], precision="highest")
        return x, residual(x), k + 1

    start = flat(x0)
    x, r, _ = lax.while_loop(going, cycle, (start, residual(start), 0))
    return back(x), r
