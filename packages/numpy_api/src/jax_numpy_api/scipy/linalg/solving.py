"""Solutions of linear systems and of Sylvester's equation; inverse and determinant."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.creation import of_list
from ...numpy.promotion import given_flag
from .common import adjoint, as_columns, is_complex, matrices, mm, to_complex
from .decompositions import _cho_solve, _cholesky


def solve(a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
          debug: bool = False, check_finite: bool = True, assume_a: str = "gen") -> Array:
    """The ``x`` with ``a @ x = b``.

    Args:
      a: ``(..., n, n)``. b: ``(n,)`` or ``(..., n, k)``.
      lower: with ``assume_a="pos"``, which triangle is read.
      assume_a: "gen", "sym", "her", or "pos" for positive definite matrices (then by Cholesky's factorisation).
      overwrite_a, overwrite_b, debug, check_finite: no effect.

    Raises:
      ValueError: another ``assume_a``, or shapes that do not fit.

    Source: `scipy.linalg.solve`.

    >>> jsp.linalg.solve(jnp.array([[2., 0.], [0., 4.]]), jnp.array([1., 1.]))
    Array([0.5 , 0.25], dtype=float32)
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError("jax.scipy.linalg.solve: expected assume_a to be one of ['gen', 'sym', 'her', 'pos']; got "
                         f"{assume_a!r}")
    if assume_a != "pos":
        return jnp.linalg.solve(a, b)
    lower = given_flag(lower)
    return _cho_solve(_cholesky(a, lower, "solve", True), b, lower)


_TRANSPOSED = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(a: ArrayLike, b: ArrayLike, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
                     overwrite_b: bool = False, debug: None = None, check_finite: bool = True) -> Array:
    """The ``x`` with ``op(a) @ x = b`` for a triangular ``a``.

    Args:
      a: ``(..., n, n)``; one triangle is read. b: ``(..., n, k)``; or, with one axis less than ``a``, ``(..., n)``: vectors.
      trans: 0 or "N" for ``a`` itself, 1 or "T" for its transpose, 2 or "C" for its conjugate transpose.
      lower: which triangle. unit_diagonal: take the diagonal to be ones.
      overwrite_b, debug, check_finite: no effect.

    Raises:
      ValueError: another ``trans``, or shapes that do not fit.

    Source: `scipy.linalg.solve_triangular`.

    >>> jsp.linalg.solve_triangular(jnp.array([[2., 0.], [1., 1.]]), jnp.array([4., 3.]), lower=True)
    Array([2., 1.], dtype=float32)
    """
    if trans not in _TRANSPOSED:
        raise ValueError(f"jax.scipy.linalg.solve_triangular: Invalid 'trans' value {trans!r}; use 0, 1, 2, 'N', 'T' or 'C'")
    return _solve_triangular(a, b, _TRANSPOSED[trans], given_flag(lower), given_flag(unit_diagonal))


@inlined(static_argnums=(2, 3, 4))
def _solve_triangular(a, b, trans, lower, unit_diagonal):
    a, b = matrices("solve_triangular", *map(of_list, (a, b)))
    a, b, vector = as_columns("solve_triangular", a, b)
    x = lax.linalg.triangular_solve(a, b, left_side=True, lower=lower, transpose_a=trans > 0, conjugate_a=trans == 2,
                                    unit_diagonal=unit_diagonal)
    return x[..., 0] if vector else x


def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of square matrices.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.inv`.

    >>> jsp.linalg.inv(jnp.array([[2., 0.], [0., 4.]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return jnp.linalg.inv(a)


def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of square matrices.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.det`.

    >>> jsp.linalg.det(jnp.array([[1., 2.], [3., 4.]]))
    Array(-2., dtype=float32)
    """
    return jnp.linalg.det(a)


# -- Sylvester ---------------------------------------------------------------------------------------------------------

def triangular_sylvester(r: Array, s: Array, f: Array) -> Any:
    """The ``y`` with ``r y + y s = f`` for upper triangular ``r``, ``s``: column by column, each a triangular system."""
    m, n = f.shape[-2:]
    if f.size == 0:  # there is no column that the loop could be traced with
        return f

    def step(k: ArrayLike, y: Array):
        column = lax.dynamic_slice_in_dim(s, k, 1, -1)
        rest = lax.dynamic_slice_in_dim(f, k, 1, -1) - mm(y, column)  # columns of y from k on are still 0
        shift = lax.dynamic_slice_in_dim(column, k, 1, -2)
        solved = lax.linalg.triangular_solve(r + shift * jnp.eye(m, dtype=r.dtype), rest, left_side=True, lower=False)
        return lax.dynamic_update_slice_in_dim(y, solved, k, y.ndim - 1)
    return lax.fori_loop(0, n, step, jnp.zeros_like(f))


def solve_sylvester(A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """The ``X`` with ``A X + X B = C``.

    Args:
      A: ``(..., m, m)``. B: ``(..., n, n)``. C: ``(..., m, n)``; leading axes broadcast.
      method: "schur" (by complex Schur forms) or "eigen" (by eigenvectors, faster; needs both diagonalisable).
      tol: where a sum of eigenvalues is smaller than ``tol`` there is no single solution, and the result is NaN.

    Raises:
      ValueError: another method, or shapes that do not fit.

    Source: `scipy.linalg.solve_sylvester`.

    >>> jax.scipy.linalg.solve_sylvester(jnp.diag(jnp.array([1.0, 2.0])), jnp.eye(2), jnp.ones((2, 2)))
    Array([[0.5       , 0.5       ],
           [0.33333334, 0.33333334]], dtype=float32)
    """
    if method not in ("schur", "eigen"):
        raise ValueError(f"jax.scipy.linalg.solve_sylvester: method must be 'schur' or 'eigen', got {method!r}")
    return _solve_sylvester(A, B, C, method, float(tol))


@inlined(static_argnums=(3, 4), static_argnames=("method", "tol"))
def _solve_sylvester(a, b, c, method, tol):
    a, b, c = matrices("solve_sylvester", a, b, c)
    if b.ndim < 2 or b.shape[-2] != b.shape[-1] or c.shape[-2:] != (a.shape[-2], b.shape[-2]) or a.shape[-2] != a.shape[-1]:
        raise ValueError(f"jax.scipy.linalg.solve_sylvester: needs shapes (m, m), (n, n), (m, n); got {a.shape}, {b.shape}, "
                         f"{c.shape}")
    lead = joint_shape(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    if lead:
        one = functools.partial(_solve_sylvester, method=method, tol=tol)
        a, b, c = (jnp.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b, c))
        return jnp.vectorize(one, signature="(m,m),(n,n),(m,n)->(m,n)")(a, b, c)
    real = not is_complex(c)
    if method == "schur":
        r, u = lax.linalg.schur(to_complex(a))
        s, v = lax.linalg.schur(to_complex(b))
        y = triangular_sylvester(r, s, mm(adjoint(u), mm(to_complex(c), v)))
        x, gaps = mm(u, mm(y, adjoint(v))), jnp.diagonal(r)[:, None] + jnp.diagonal(s)[None, :]
    else:
        (wa, u), (wb, v) = jnp.linalg.eig(a), jnp.linalg.eig(b)
        gaps = wa[:, None] + wb[None, :]
        inner = mm(jnp.linalg.solve(u, to_complex(c)), v) / gaps
        x = mm(u, jnp.linalg.solve(v.T, inner.T).T)
    x = jnp.where(jnp.any(jnp.abs(gaps) < tol), np.nan, x)
    return jnp.real(x) if real else x
