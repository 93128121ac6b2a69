"""Extreme eigenvalues of symmetric matrices, from products with blocks of vectors alone: no matrix is formed.

Source: Knyazev, SIAM J. Sci. Comput. 23 (2001); Duersch, Shao, Yang, Gu, SIAM J. Sci. Comput. 40 (2018) for the basis.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from jax_core.programs.tracing import eval_shape
from jax_core.representation import tree
from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from ..numpy.promotion import check_arraylike

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import PyTree


def lobpcg_standard(A: ArrayLike | Callable[[ArrayLike], ArrayLike], X: ArrayLike, m: int = 100,
                    tol: float | None = None) -> tuple:
    """The ``k`` largest eigenvalues of a symmetric matrix, from its products with blocks of vectors alone.

    In each step a Rayleigh-Ritz problem is solved in the space of the current vectors, their residuals, and the previous
    directions, for which an orthonormal basis is kept.

    Args:
      A: ``(n, n)``, symmetric and positive semi-definite for best results; or a function of ``(n, k)`` blocks.
      X: ``(n, k)``, vectors to begin with; ``0 < 5 k < n``.
      m: the most steps.
      tol: of the relative residuals; default the dtype's epsilon.

    Returns:
      eigenvalues ``(k,)`` from the largest on, vectors ``(n, k)``, and the number of steps.

    Raises:
      ValueError: shapes or dtypes that do not fit.

    >>> from jax.experimental.sparse import linalg
    >>> a = jnp.diag(jnp.arange(1., 21.))
    >>> values, vectors, steps = linalg.lobpcg_standard(a, jax.random.normal(jax.random.key(0), (20, 2)))
    >>> values.round(2)
    Array([20., 19.], dtype=float32)
    """
    return _lobpcg_standard_callable(A, X, m, tol) if callable(A) else _lobpcg_standard_matrix(A, X, m, tol)


def _lobpcg_standard_matrix(A: Any, X: ArrayLike, m: int, tol: float | None, debug: bool = False) -> tuple:
    """`lobpcg_standard` of a matrix; with ``debug`` also a table of what each step came to (`_measured`)."""
    check_arraylike("lobpcg_standard", X)
    wanted = np.shape(X)[:1] * 2
    if np.ndim(X) == 2 and tuple(np.shape(A)) != wanted:  # of another rank it is refused below
        raise ValueError(f"lobpcg_standard: for X of shape {np.shape(X)}, A must be {wanted}, got {tuple(np.shape(A))}")
    return _lobpcg_standard_callable(lambda x: A @ x, X, m, tol, debug)


def _lobpcg_standard_callable(A: Callable, X: ArrayLike, m: int, tol: float | None, debug: bool = False) -> tuple:
    """`lobpcg_standard` of a function; ``debug`` as for `_lobpcg_standard_matrix`."""
    X = jnp.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"lobpcg_standard: X must be a matrix, got shape {X.shape}")
    n, k = X.shape
    if k == 0:
        raise ValueError(f"lobpcg_standard: expected search dim > 0, got X of shape {X.shape}")
    if 5 * k >= n:
        raise ValueError(f"lobpcg_standard: expected search dim * 5 < matrix dim (got {5 * k}, {n})")
    out = eval_shape(A, X)
    if out.dtype != X.dtype:
        raise ValueError(f"lobpcg_standard: A, X must have same dtypes, got {out.dtype} from A and {X.dtype}")
    tol = float(jnp.finfo(X.dtype).eps) if tol is None else float(tol)
    last, table = _iterate(A, X, int(m), tol, debug)
    return (last.w, last.x, last.i, table) if debug else (last.w, last.x, last.i)


class _State(NamedTuple):
    """After step ``i``: Ritz values and vectors, directions of the step, residuals."""

    i: Any
    w: Any
    x: Any
    p: Any
    r: Any


def _norms(x: Any) -> Any:
    """Of the columns, as a row."""
    return jnp.linalg.norm(x, axis=0, keepdims=True)


def _basis(*blocks: Any) -> Any:
    """An orthonormal basis of the blocks' columns together; directions that are there already give zero columns.

    Each block is freed twice of what the ones before it span, as once is not enough in floating point. Its own basis are its left
    singular vectors: where columns depend on each other, those of a QR decomposition leave the span of the block, and with it the
    complement of the blocks before.
    """
    found: list = []
    for block in blocks:
        for _ in range(2):
            for q in found:
                block = block - q @ (q.T @ block)
            norms = _norms(block)
            u, s, _ = jnp.linalg.svd(block / jnp.where(norms > 0, norms, 1), full_matrices=False)
            block = jnp.where(s[None, :] > jnp.finfo(u.dtype).eps * 10, u, 0)
        found.append(block)
    return jnp.concatenate(found, 1)


def _ritz(A: Callable, basis: Any, k: int) -> tuple:
    """The leading Ritz pairs in the span of an orthonormal basis; zero columns of it come last."""
    small = basis.T @ A(basis)
    empty = jnp.sum(basis * basis, 0) < 0.5
    low = -2 * jnp.sum(jnp.abs(small)) - 1
    w, v = jnp.linalg.eigh((small + small.T) / 2 + jnp.diag(jnp.where(empty, low, 0)))
    return w[::-1][:k], v[:, ::-1][:, :k]


def _iterate(A: Callable, X: Any, m: int, tol: float, debug: bool) -> tuple[_State, dict]:
    """The state after the last step, and with ``debug`` what was measured in each."""
    n, k = X.shape

    def residual(x: Array, w: Array):
        return A(x) - x * w[None, :]

    def step(state: PyTree):
        basis = _basis(state.x, state.r, state.p)
        w, v = _ritz(A, basis, k)
        new = basis @ v
        new = new / _norms(new)
        return _State(state.i + 1, w, new, basis[:, k:] @ v[k:], residual(new, w)), basis

    def noted(carry: PyTree):
        state, table = carry
        after, basis = step(state)
        if debug:
            table = tree.map(lambda rows, row: rows.at[state.i].set(row), table, _measured(after, basis, tol))
        return after, table

    def unfinished(carry: PyTree):
        state, _ = carry
        return (state.i < m) & ~jnp.all(_relative_residuals(state) < tol * 10)
    x = _basis(X)
    w, v = _ritz(A, x, k)
    x = x @ v
    start = _State(jnp.zeros((), np.int32), w, x, jnp.zeros_like(x), residual(x, w))
    rows = eval_shape(lambda s: _measured(s, _basis(s.x, s.r, s.p), tol), start) if debug else {}
    table = tree.map(lambda row: jnp.zeros((m, *row.shape), row.dtype), rows)
    return lax.while_loop(unfinished, noted, (start, table))


def _relative_residuals(state: _State) -> Any:
    """Norms of the residuals, by what rounding in a product makes of the eigenvalues."""
    w = jnp.abs(state.w)
    return jnp.linalg.norm(state.r, axis=0) / (state.r.shape[0] * (w + jnp.max(w)))


def _measured(state: _State, basis: Any, tol: float) -> dict:
    """What a step came to, under the names by which tables of its progress are read."""
    k = state.w.shape[0]
    relative = _relative_residuals(state)

    def zeros(x: ArrayLike):
        return jnp.sum(_norms(x) == 0, dtype=np.int32)

    def orthogonality(x: Array):
        return jnp.linalg.norm(x.T @ x - jnp.eye(x.shape[1], dtype=x.dtype))
    directions = basis[:, 2 * k:]
    return {
        "lambda history": state.w,
        "residual history": jnp.linalg.norm(state.r, axis=0),
        "converged": jnp.sum(relative < tol * 10, dtype=np.int32),
        "basis rank": basis.shape[1] - zeros(basis),
        "X zeros": zeros(state.x),
        "P zeros": zeros(directions),
        "X orth": orthogonality(state.x),
        "P orth": orthogonality(directions),
        "P.X": jnp.linalg.norm(directions.T @ state.x),
        "adjusted residual max": jnp.max(relative),
        "adjusted residual p50": jnp.median(relative),
        "adjusted residual min": jnp.min(relative),
    }
