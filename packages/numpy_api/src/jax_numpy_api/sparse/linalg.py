"""Linear algebra of sparse matrices: a direct solver, and extreme eigenvalues without forming a matrix."""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.typing import ArrayLike

from .. import lax
from .. import numpy as jnp
from .csr import CSR, csr_matvec
from .bcsr import _row_numbers, _row_starts

# -- direct solution -----------------------------------------------------------------------------------------------------

def _spsolve_type(data, indices, indptr, b, *, tol, reorder):
    if any(x.ndim != 1 for x in (data, indices, indptr, b)):
        raise ValueError("spsolve: data, indices, indptr and b must be vectors, got shapes "
                         f"{[x.shape for x in (data, indices, indptr, b)]}")
    n = b.shape[0]
    if indptr.shape[0] != n + 1 or data.shape != indices.shape:
        raise ValueError(f"spsolve: b of shape {b.shape} needs indptr of shape {(n + 1,)}, and data and indices of one shape, got "
                         f"{indptr.shape}, {data.shape} and {indices.shape}")
    if data.dtype != b.dtype:
        raise ValueError(f"spsolve: data and b must have one dtype, got {data.dtype} and {b.dtype}")
    return b.update(weak_type=False)


def _solve_on_host(data, indices, indptr, b):
    from scipy.sparse import csr_matrix  # an optional dependency: SciPy, loaded when a system is solved
    from scipy.sparse.linalg import spsolve as solve  # an optional dependency, as above
    n = b.shape[0]
    count = int(indptr[-1])
    matrix = csr_matrix((np.asarray(data)[:count], np.asarray(indices)[:count], np.asarray(indptr)), shape=(n, n))
    return (np.asarray(solve(matrix, np.asarray(b)), dtype=b.dtype).reshape(n),)


def _spsolve_lower(b, data, indices, indptr, rhs, *, tol, reorder):
    return b.host_callback(_solve_on_host, (data, indices, indptr, rhs), b.out_avals, has_side_effect=False, name="spsolve")[0]


def _spsolve_jvp(primals, tangents, **params):
    """A dx = db - dA x, with dA stored where A is."""
    data, indices, indptr, b = primals
    d_data, _, _, d_b = tangents
    x = spsolve_p.bind(*primals, **params)
    if isinstance(d_data, Zero) and isinstance(d_b, Zero):
        return x, Zero.of(x)
    right = None if isinstance(d_b, Zero) else d_b
    if not isinstance(d_data, Zero):
        moved = csr_matvec(CSR((d_data, indices, indptr), shape=(b.shape[0],) * 2), x)
        right = -moved if right is None else right - moved
    return x, spsolve_p.bind(data, indices, indptr, right, **params)


def _spsolve_transpose(ct, data, indices, indptr, b, **params):
    if not is_linear(b) or is_linear(data):
        raise NotImplementedError("spsolve is linear in b only")
    return None, None, None, spsolve_p.bind(*_transposed(data, indices, indptr), ct, **params)


def _transposed(data, indices, indptr):
    """The buffers of the transposed matrix: elements in order of columns."""
    n = indptr.shape[0] - 1
    rows = _row_numbers(indptr, data.shape[0])
    columns = jnp.where(rows < n, indices, n)
    order = jnp.lexsort((rows, columns))
    return data[order], jnp.minimum(rows, n - 1)[order].astype(indices.dtype), _row_starts(columns[order], n).astype(indptr.dtype)


def _spsolve_batch(axis, args, dims, **params):
    """One system after the other, as the solver takes one at a time."""
    args = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(args, dims)]
    mapped = [x for x, d in zip(args, dims) if d is not None]

    def one(xs):
        rest = iter(xs)
        return spsolve_p.bind(*[x if d is None else next(rest) for x, d in zip(args, dims)], **params)
    return lax.map(one, tuple(mapped)), 0


spsolve_p = Primitive("spsolve", out_type=_spsolve_type, jvp=_spsolve_jvp, transpose=_spsolve_transpose,
                      batch=_spsolve_batch, lower=_spsolve_lower,
                      reference=lambda *args, tol, reorder: _solve_on_host(*args)[0])


def spsolve(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, b: ArrayLike, tol: float = 1e-6,
            reorder: int = 1) -> Any:
    """The solution of ``A x = b`` for a square CSR matrix, by SciPy's direct solver on the host.

    Args:
      data, indices, indptr: of the matrix.
      b: a vector.
      tol, reorder: settings of the solver on GPUs; SciPy has none like them, so they make no difference.

    Raises:
      ValueError: not vectors, or lengths or dtypes that do not fit.
    """
    args = [jnp.asarray(x) for x in (data, indices, indptr, b)]
    return spsolve_p.bind(*args, tol=float(tol), reorder=int(reorder))


# -- eigenvalues ---------------------------------------------------------------------------------------------------------

def lobpcg_standard(A: ArrayLike | Callable[[ArrayLike], ArrayLike], X: ArrayLike, m: int = 100,
                    tol: float | None = None) -> tuple:
    """The ``k`` largest eigenvalues of a symmetric matrix, from its products with blocks of vectors alone.

    In each step a Rayleigh-Ritz problem is solved in the space of the current vectors, their residuals, and the previous
    directions, for which an orthonormal basis is kept.

    Args:
      A: ``(n, n)``, symmetric and positive semi-definite for best results; or a function of ``(n, k)`` blocks.
      X: ``(n, k)``, vectors to begin with; ``5 k < n``.
      m: the most steps.
      tol: of the relative residuals; default the dtype's epsilon.

    Returns:
      eigenvalues ``(k,)`` from the largest on, vectors ``(n, k)``, and the number of steps.

    Raises:
      ValueError: shapes that do not fit.

    Source: Knyazev, SIAM J. Sci. Comput. 23 (2001); Duersch, Shao, Yang, Gu, SIAM J. Sci. Comput. 40 (2018) for the basis.
    """
    X = jnp.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"lobpcg_standard: X must be a matrix, got shape {X.shape}")
    n, k = X.shape
    if 5 * k >= n:
        raise ValueError(f"lobpcg_standard: expected search dim * 5 < matrix dim (got {5 * k}, {n})")
    if not callable(A):
        matrix = A
        if tuple(matrix.shape) != (n, n):
            raise ValueError(f"lobpcg_standard: A of shape {tuple(matrix.shape)} and X of shape {X.shape} do not fit")
        A = lambda x: matrix @ x
    tol = float(jnp.finfo(X.dtype).eps) if tol is None else float(tol)
    return _lobpcg(A, X, int(m), tol)


def _basis(*blocks: Any) -> Any:
    """An orthonormal basis of the blocks' columns together; directions that are there already give zero columns.

    Each block is freed twice of what the ones before it span, as once is not enough in floating point.
    """
    found: list = []
    for block in blocks:
        for _ in range(2):
            for q in found:
                block = block - q @ (q.T @ block)
            norms = jnp.linalg.norm(block, axis=0)
            block = block / jnp.where(norms > 0, norms, 1)
        q, r = jnp.linalg.qr(block)
        size = jnp.abs(jnp.diagonal(r))
        found.append(jnp.where(size > jnp.finfo(q.dtype).eps * 10, q, 0))
    return jnp.concatenate(found, 1)


def _lobpcg(A: Callable, X: Any, m: int, tol: float) -> tuple:
    k = X.shape[1]

    def ritz(basis):
        """The leading Ritz pairs in the span of an orthonormal basis; zero columns of it come last."""
        small = basis.T @ A(basis)
        empty = jnp.sum(basis * basis, 0) < 0.5
        low = -2 * jnp.sum(jnp.abs(small)) - 1
        w, v = jnp.linalg.eigh((small + small.T) / 2 + jnp.diag(jnp.where(empty, low, 0)))
        return w[::-1][:k], v[:, ::-1][:, :k]

    def residual(x, w):
        return A(x) - x * w

    def converged(x, w, r):
        return jnp.all(jnp.linalg.norm(r, axis=0) < tol * 10 * X.shape[0] * (jnp.abs(w) + jnp.max(jnp.abs(w))))

    def step(state):
        i, x, w, p, r = state
        basis = _basis(x, r, p)
        w, v = ritz(basis)
        new = basis @ v
        new = new / jnp.linalg.norm(new, axis=0)
        return i + 1, new, w, basis[:, k:] @ v[k:], residual(new, w)
    x = _basis(X)
    w, v = ritz(x)
    x = x @ v
    state = (jnp.zeros((), np.int32), x, w, jnp.zeros_like(x), residual(x, w))
    i, x, w, _, _ = lax.while_loop(lambda s: (s[0] < m) & ~converged(s[1], s[2], s[4]), step, state)
    return w, x, i
