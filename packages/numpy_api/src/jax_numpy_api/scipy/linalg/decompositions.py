"""Factorisations of matrices, and solutions from factors. All are on the last two axes; arguments that only save memory or
skip checks in SciPy (``overwrite_a``, ``check_finite``, ``lwork``) are accepted and have no effect.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...lax.linalg.common import eye
from ...numpy.creation import of_list
from ...numpy.linalg.systems import solve_by_lu
from ...numpy.promotion import as_array, check_arraylike, given_flag, promote_dtypes_inexact, strong
from .common import adjoint, as_columns, matrices, mm, to_complex

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

# -- Cholesky ----------------------------------------------------------------------------------------------------------


@inlined(static_argnums=(1, 2, 3))
def _cholesky(a, lower, name, clean):
    a, = matrices(name, of_list(a))
    factor = lax.linalg.cholesky(a if lower else adjoint(a), symmetrize_input=False)
    return factor if lower else adjoint(factor)


def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The triangular ``R`` with ``R^H R = a``, or with ``lower`` the ``L`` with ``L L^H = a``. One triangle is read.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.cholesky`.

    >>> jsp.linalg.cholesky(jnp.array([[4., 2.], [2., 5.]]))
    Array([[2., 1.],
           [0., 2.]], dtype=float32)
    """
    return _cholesky(a, given_flag(lower), "cholesky", True)


def cho_factor(a: ArrayLike, lower: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> tuple[Array, bool]:
    """`cholesky` and ``lower``, for `cho_solve`.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.cho_factor`.

    >>> jsp.linalg.cho_factor(jnp.array([[4., 0.], [0., 9.]]), lower=True)[1]
    True
    """
    return _cholesky(a, given_flag(lower), "cho_factor", False), lower


def cho_solve(c_and_lower: tuple[ArrayLike, bool], b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> Array:
    """The ``x`` with ``a @ x = b``, for the result of ``cho_factor(a)``.

    Args:
      b: vectors ``(..., n)`` or matrices ``(..., n, k)``; batch axes broadcast.
      c_and_lower: what `cho_factor` gave.
      overwrite_b, check_finite: no effect.

    Raises:
      ValueError: ``c_and_lower`` is an array; it must be a pair.

    Source: `scipy.linalg.cho_solve`.

    >>> jsp.linalg.cho_solve((jnp.diag(jnp.array([2., 3.])), True), jnp.array([4., 9.]))
    Array([1., 1.], dtype=float32)
    """
    c, lower = _pair("cho_solve: c_and_lower", c_and_lower, "cho_factor")
    return _cho_solve(c, b, given_flag(lower))


def _pair(what: str, given: Any, maker: str) -> Any:
    """``given``, which must not be an array: one of two rows would be taken for a pair of them."""
    if hasattr(given, "shape"):
        raise ValueError(f"{what} must be the pair that {maker} returns, got {given!r}")
    return given


@inlined(static_argnums=(2,))
def _cho_solve(c, b, lower):
    c, b = matrices("cho_solve", c, b)
    c, b, vector = as_columns("cho_solve", c, b)
    y = lax.linalg.triangular_solve(c, b, left_side=True, lower=lower, transpose_a=not lower, conjugate_a=not lower)
    x = lax.linalg.triangular_solve(c, y, left_side=True, lower=lower, transpose_a=lower, conjugate_a=lower)
    return x[..., 0] if vector else x


# -- LU ----------------------------------------------------------------------------------------------------------------

@inlined(static_argnums=(1, 2))
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """LU factors in one matrix, and the rows swapped at each step, for `lu_solve`.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.lu_factor`.

    >>> jsp.linalg.lu_factor(jnp.array([[0., 1.], [2., 0.]]))[1]
    Array([1, 1], dtype=int32)
    """
    a, = matrices("lu_factor", of_list(a), square=False, no_matrix=TypeError)
    factors, pivots, _ = lax.linalg.lu(a)
    return factors, pivots


def lu_solve(lu_and_piv: tuple[ArrayLike, ArrayLike], b: ArrayLike, trans: int = 0, overwrite_b: bool = False,
             check_finite: bool = True) -> Array:
    """The ``x`` with ``a @ x = b``, for the result of ``lu_factor(a)``.

    Args:
      b: vectors ``(..., n)`` or matrices ``(..., n, k)``; batch axes broadcast.
      trans: 1 to solve with the transpose of ``a``, 2 with its conjugate transpose.
      lu_and_piv: what `lu_factor` gave.
      overwrite_b, check_finite: no effect.

    Raises:
      ValueError: another ``trans``, or ``lu_and_piv`` is an array; it must be a pair.

    Source: `scipy.linalg.lu_solve`.

    >>> a = jnp.array([[0., 1.], [2., 0.]])
    >>> jsp.linalg.lu_solve(jsp.linalg.lu_factor(a), jnp.array([1., 4.]))
    Array([2., 1.], dtype=float32)
    """
    if trans not in (0, 1, 2):
        raise ValueError(f"jax.scipy.linalg.lu_solve: trans must be 0, 1 or 2, got {trans!r}")
    factors, pivots = _pair("lu_solve: lu_and_piv", lu_and_piv, "lu_factor")
    return _lu_solve(factors, pivots, b, int(trans))


@inlined(static_argnums=(3,))
def _lu_solve(factors, pivots, b, trans):
    factors, b = matrices("lu_solve", factors, b)
    n = factors.shape[-1]
    factors, b, vector = as_columns("lu_solve", factors, b)
    order = lax.linalg.lu_pivots_to_permutation(jnp.broadcast_to(pivots, (*factors.shape[:-2], n)), n)
    x = solve_by_lu(factors, order, b, trans)
    return x[..., 0] if vector else x


def lu(a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, ...]:
    """``(P, L, U)`` with ``a = P @ L @ U``, or with ``permute_l`` the pair ``(P @ L, U)``.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.lu`.

    >>> p, l, u = jsp.linalg.lu(jnp.array([[0., 1.], [2., 0.]]))
    >>> p @ l @ u
    Array([[0., 1.],
           [2., 0.]], dtype=float32)
    """
    return _lu(a, given_flag(permute_l))


@inlined(static_argnums=(1,))
def _lu(a, permute_l):
    a, = matrices("lu", of_list(a), square=False)
    m, n = a.shape[-2:]
    k = min(m, n)
    factors, _, order = lax.linalg.lu(a)
    order = order[..., None, :]
    p = (lax.broadcasted_iota(order.dtype, (*order.shape[:-2], m, m), order.ndim - 2) == order).astype(
        dtypes.to_floating_dtype(a.dtype))
    lower = jnp.tril(factors[..., :k], -1) + eye(m, factors, k)
    upper = jnp.triu(factors[..., :k, :])
    return (mm(p.astype(a.dtype), lower), upper) if permute_l else (p, lower, upper)


# -- QR ----------------------------------------------------------------------------------------------------------------

def qr(a: ArrayLike, overwrite_a: bool = False, lwork: int | None = None, mode: str = "full", pivoting: bool = False,
       check_finite: bool = True) -> tuple[Array, ...]:
    """QR decomposition.

    Args:
      mode: "full", "economic" (``min(m, n)`` columns of ``Q``), or "r" for ``R`` alone.
      pivoting: permute columns so that the diagonal of ``R`` falls; the permutation is returned last.
      overwrite_a, lwork, check_finite: no effect.

    Returns:
      the tuple ``(Q, R)``, or ``(R,)``, followed by the permutation.

    Raises:
      ValueError: another mode.

    Source: `scipy.linalg.qr`.

    >>> q, r = jsp.linalg.qr(jnp.array([[0., 1.], [2., 0.]]))
    >>> jnp.allclose(q @ r, jnp.array([[0., 1.], [2., 0.]]))
    Array(True, dtype=bool)
    """
    if mode not in ("full", "economic", "r"):
        raise ValueError(f"jax.scipy.linalg.qr: mode must be 'full', 'economic' or 'r', got {mode!r}")
    return _qr(a, mode, given_flag(pivoting))


@inlined(static_argnums=(1, 2))
def _qr(a, mode, pivoting):
    a, = matrices("qr", of_list(a), square=False, no_matrix=TypeError)
    out = tuple(lax.linalg.qr(a, full_matrices=mode != "economic", pivoting=pivoting))
    return out[1:] if mode == "r" else out


def qr_multiply(a: ArrayLike, c: ArrayLike, mode: str = "right", pivoting: bool = False, conjugate: bool = False,
                overwrite_a: bool = False, overwrite_c: bool = False) -> tuple[Array, ...]:
    """The product of the ``Q`` of ``a`` with ``c``, and ``R``.

    Args:
      a: ``(m, n)``. c: a matrix or a vector.
      mode: "right" for ``c @ Q``, "left" for ``Q @ c``.
      pivoting: as for `qr`; the permutation is returned last.
      conjugate: use the conjugate of ``Q``.
      overwrite_a, overwrite_c: no effect.

    Raises:
      ValueError: another mode, or shapes that do not fit.

    Source: `scipy.linalg.qr_multiply`.

    >>> a = jnp.array([[3.0, 1.0], [4.0, 2.0]])
    >>> product, r = jax.scipy.linalg.qr_multiply(a, a.T, mode='right')
    >>> q, _ = jnp.linalg.qr(a)
    >>> jnp.allclose(product, a.T @ q, atol=1e-5)
    Array(True, dtype=bool)
    """
    if mode not in ("left", "right"):
        raise ValueError(f"jax.scipy.linalg.qr_multiply: mode must be 'left' or 'right', got {mode!r}")
    if np.ndim(a) < 2 or np.ndim(c) < 1:
        raise ValueError(f"jax.scipy.linalg.qr_multiply: a must be a matrix and c a vector or matrix, got shapes {np.shape(a)} and {np.shape(c)}")
    return _qr_multiply(a, c, mode, given_flag(pivoting), given_flag(conjugate))


@inlined(static_argnums=(2, 3, 4))
def _qr_multiply(a, c, mode, pivoting, conjugate):
    a, c = matrices("qr_multiply", *map(of_list, (a, c)), square=False)
    m, k = a.shape[-2], min(a.shape[-2:])
    vector = c.ndim == 1
    if vector:
        c = c[:, None] if mode == "left" else c[None]
    length = c.shape[-2] if mode == "left" else c.shape[-1]
    if length not in ((m, k) if mode == "left" else (m,)):
        raise ValueError(f"jax.scipy.linalg.qr_multiply: c of shape {c.shape} does not fit to the Q of a matrix of shape "
                         f"{a.shape} with mode={mode!r}")
    q, r, *order = lax.linalg.qr(a, full_matrices=mode == "left" and length != k, pivoting=pivoting)
    q = jnp.conj(q) if conjugate else q
    out = mm(q, c) if mode == "left" else mm(c, q)
    if vector:
        out = out[..., 0] if mode == "left" else out[..., 0, :]
    return (out, r[..., :k, :], *order)


# -- singular values, polar --------------------------------------------------------------------------------------------

def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
        check_finite: bool = True, lapack_driver: str = "gesdd") -> Array | tuple[Array, Array, Array]:
    """Singular value decomposition ``(U, s, Vh)`` with ``a = U diag(s) Vh``, or ``s`` alone. ``lapack_driver`` has no effect.

    Args:
      full_matrices: whether ``U`` and ``Vh`` are square.
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.svd`.

    >>> jsp.linalg.svd(jnp.diag(jnp.array([3., 5.])), compute_uv=False)
    Array([5., 3.], dtype=float32)
    """
    out = jnp.linalg.svd(of_list(a), full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(out) if compute_uv else out


def polar(a: ArrayLike, side: str = "right", *, method: str = "qdwh", eps: float | None = None,
          max_iterations: int | None = None) -> tuple[Array, Array]:
    """Polar decomposition: ``a = u @ p``, or with ``side="left"`` ``a = p @ u``, ``p`` hermitian and not negative.

    Args:
      a: matrices ``(..., m, n)``; more than one go by "svd". method: "qdwh" or "svd". eps, max_iterations: of "qdwh".

    Raises:
      ValueError: another side or method.

    Source: `scipy.linalg.polar`.

    >>> jnp.round(jsp.linalg.polar(jnp.array([[0., -2.], [2., 0.]]))[0], 3)
    Array([[ 0., -1.],
           [ 1., -0.]], dtype=float32)
    """
    if side not in ("right", "left"):
        raise ValueError(f"jax.scipy.linalg.polar: side must be 'right' or 'left', got {side!r}")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"jax.scipy.linalg.polar: unknown polar decomposition method {method!r}; use 'qdwh' or 'svd'")
    return _polar(a, side, method, eps, max_iterations)


@inlined(static_argnums=(1, 2, 3, 4))
def _polar(a, side, method, eps, max_iterations):
    a, = matrices("polar", of_list(a), square=False)
    m, n = a.shape[-2:]
    if a.ndim > 2:  # a loop over the batch would take as many steps as the slowest matrix
        method = "svd"
    if method == "qdwh" and m >= n and side == "right":
        return tuple(lax.linalg.qdwh(a, eps=eps, max_iterations=max_iterations)[:2])
    if method == "qdwh" and m <= n and side == "left":
        u, p = lax.linalg.qdwh(adjoint(a), eps=eps, max_iterations=max_iterations)[:2]
        return adjoint(u), p
    u, s, vh = jnp.linalg.svd(of_list(a), full_matrices=False)
    factor = adjoint(vh) if side == "right" else u
    return mm(u, vh), mm(factor * s[..., None, :].astype(a.dtype), adjoint(factor))


# -- eigenvalues -------------------------------------------------------------------------------------------------------

def eigh(a: ArrayLike, b: ArrayLike | None = None, lower: bool = True, eigvals_only: bool = False,
         overwrite_a: bool = False, overwrite_b: bool = False, turbo: bool = True,
         eigvals: tuple[int, int] | None = None, type: int = 1,
         check_finite: bool = True) -> Array | tuple[Array, Array]:
    """Eigenvalues (rising) and eigenvectors of hermitian matrices, also generalised.

    Args:
      a: hermitian. b: hermitian and positive definite, of the same shape. Of both the Hermitian part is taken, as
        `jax.numpy.linalg.eigh` does, so that derivatives are Hermitian; SciPy reads one triangle.
      lower: accepted for compatibility.
      eigvals_only: return the eigenvalues alone.
      eigvals: first and last index of the eigenvalues wanted.
      type: with ``b``: 1 for ``a v = w b v``, 2 for ``a b v = w v``, 3 for ``b a v = w v``.
      overwrite_a, overwrite_b, turbo, check_finite: no effect.

    Returns:
      ``w``, or ``(w, v)``; with ``b`` vectors have ``v^H b v = 1`` (types 1 and 2) or ``v^H b^-1 v = 1`` (type 3).

    Raises:
      ValueError: another type.

    >>> jsp.linalg.eigh(jnp.array([[2., 0.], [0., 1.]]), eigvals_only=True)
    Array([1., 2.], dtype=float32)
    """
    if type not in (1, 2, 3):
        raise ValueError(f"jax.scipy.linalg.eigh: type must be 1, 2 or 3, got {type!r}")
    span = None if eigvals is None else (int(eigvals[0]), int(eigvals[1]))
    return _eigh(a, b, given_flag(eigvals_only), span, type)


@inlined(static_argnums=(2, 3, 4))
def _eigh(a, b, eigvals_only, span, kind):
    if b is None:
        a, = matrices("eigh", of_list(a))
        v, w = lax.linalg.eigh(a)
    else:
        w, v = _generalised(*matrices("eigh", *map(of_list, (a, b))), kind)
    return _chosen(w, v, eigvals_only, span)


def _chosen(w, v, eigvals_only, span):
    if span is not None:
        w, v = w[..., span[0]:span[1] + 1], v[..., span[0]:span[1] + 1]
    return w if eigvals_only else (w, v)


def _generalised(a, b, kind):
    """By the Cholesky factor of ``b``: LAPACK's reduction (`sygst`)."""
    factor = lax.linalg.cholesky(b)
    if kind == 1:
        c = lax.linalg.triangular_solve(factor, a, left_side=True, lower=True)
        c = lax.linalg.triangular_solve(factor, c, lower=True, transpose_a=True, conjugate_a=True)
    else:
        c = mm(adjoint(factor), mm(a, factor))
    v, w = lax.linalg.eigh(c)
    if kind == 3:
        return w, mm(factor, v)
    return w, lax.linalg.triangular_solve(factor, v, left_side=True, lower=True, transpose_a=True, conjugate_a=True)


def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, *, eigvals_only: bool = False, select: str = "a",
                     select_range: tuple[float, float] | None = None, tol: float | None = None,
                     key: ArrayLike | None = None) -> Array | tuple[Array, Array]:
    """Eigenvalues (rising) and eigenvectors of the Hermitian tridiagonal matrix with diagonal ``d`` and ``e`` above it.

    Args:
      d: ``(n,)``. e: ``(n - 1,)``; below the diagonal stand the conjugates.
      eigvals_only: return the eigenvalues alone.
      select: "a" for all, "i" for those with the indices from ``select_range[0]`` to ``select_range[1]``, "v" for those in
        the interval from above ``select_range[0]`` to ``select_range[1]``.
      tol, key: accepted for compatibility; the result is accurate to rounding and uses no random numbers.

    Raises:
      ConcretizationTypeError: ``select="v"`` of a traced matrix, as the length of the result depends on values.
      TypeError: indices that are no integers. ValueError: shapes that do not fit, another ``select``, or no range.

    Source: `scipy.linalg.eigh_tridiagonal`.

    >>> jax.scipy.linalg.eigh_tridiagonal(jnp.array([2.0, 2.0]), jnp.array([1.0]), eigvals_only=True)
    Array([1., 3.], dtype=float32)
    """
    if select not in ("a", "i", "v"):
        raise ValueError(f"jax.scipy.linalg.eigh_tridiagonal: select must be 'a', 'i' or 'v', got {select!r}")
    low, high = select_range or (1.0, 0.0)
    if select != "a" and low > high:
        raise ValueError(f"jax.scipy.linalg.eigh_tridiagonal: select={select!r} needs a rising select_range, got {select_range}")
    d, e = map(of_list, (d, e))
    check_arraylike("jax.scipy.linalg.eigh_tridiagonal", d, e)
    what = "jax.scipy.linalg.eigh_tridiagonal: each of select_range"
    span = (integer(what, low), integer(what, high)) if select == "i" else None
    if span is not None and (span[0] < 0 or span[1] >= np.size(d)):
        raise ValueError(f"jax.scipy.linalg.eigh_tridiagonal: select_range={select_range} must be indices of the {np.size(d)} eigenvalues")
    found = _eigh_tridiagonal(d, e, given_flag(eigvals_only), span)
    if select != "v":
        return found
    w = found if eigvals_only else found[0]
    known = np.asarray(w)  # a tracer says here that its values are needed
    inside = np.flatnonzero((known > low) & (known <= high))
    return w[inside] if eigvals_only else (w[inside], found[1][:, inside])


@inlined(static_argnums=(2, 3))
def _eigh_tridiagonal(d, e, eigvals_only, span):
    d, e = (as_array(x) for x in promote_dtypes_inexact(d, e))
    if d.ndim != 1 or e.shape != (d.shape[0] - 1,):
        raise ValueError(f"jax.scipy.linalg.eigh_tridiagonal: needs d of shape (n,) and e of shape (n - 1,), got {d.shape} and "
                         f"{e.shape}")
    v, w = lax.linalg.eigh(strong(jnp.diag(d) + jnp.diag(jnp.conj(e), -1)), symmetrize_input=False)
    return _chosen(w, v, eigvals_only, span)


# -- Schur and Hessenberg forms ----------------------------------------------------------------------------------------

def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]:
    """Schur form ``(T, Z)`` with ``a = Z T Z^H``.

    Args:
      output: "complex" for an upper triangular ``T`` also where ``a`` is real; "real" leaves blocks of two there.

    Raises:
      ValueError: another output.

    Source: `scipy.linalg.schur`.

    >>> t, z = jax.scipy.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> jnp.diag(t)
    Array([1., 3.], dtype=float32)
    """
    if output not in ("real", "complex"):
        raise ValueError(f"jax.scipy.linalg.schur: expected 'output' to be either 'real' or 'complex', got output={output!r}")
    return _schur(a, output == "complex")


@inlined(static_argnums=(1,))
def _schur(a, as_complex):
    a, = matrices("schur", a, no_matrix=TypeError)
    t, z = lax.linalg.schur(to_complex(a) if as_complex else a)
    return t, z


@inlined(static_argnums=(2,))
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form that belongs to a real one: ``T`` becomes triangular, ``Z @ T @ Z^H`` stays.

    Args:
      check_finite: no effect.

    Each block of two is brought to triangular form by one rotation, from the last block upwards.

    Raises:
      ValueError: not two square matrices of one shape.

    Source: `scipy.linalg.rsf2csf`.

    >>> t, z = jax.scipy.linalg.rsf2csf(jnp.array([[1.0, 2.0], [0.0, 3.0]]), jnp.eye(2))
    >>> jnp.diag(t)
    Array([1.+0.j, 3.+0.j], dtype=complex64)
    """
    t, z = (to_complex(x) for x in matrices("rsf2csf", *map(of_list, (T, Z))))
    if z.shape != t.shape:
        raise ValueError(f"jax.scipy.linalg.rsf2csf: needs two (batched) square matrices of one shape, got {t.shape} and {z.shape}")
    return jnp.vectorize(_rsf2csf, signature="(n,n),(n,n)->(n,n),(n,n)")(t, z)


def _rsf2csf(t, z):
    n = t.shape[-1]

    def step(i: ArrayLike, state: PyTree):
        t, z = state
        k = n - 2 - i
        block = lax.dynamic_slice(t, (k, k), (2, 2))
        low = block[1, 0]
        half = 0.5 * (block[0, 0] - block[1, 1])
        root = jnp.sqrt(half * half + block[0, 1] * low)
        x = half + root  # the eigenvalue less the last diagonal element; (x, low) is the eigenvector
        size = jnp.sqrt(jnp.abs(x) ** 2 + jnp.abs(low) ** 2)
        rotate = low != 0
        size = jnp.where(rotate, size, 1.0).astype(t.dtype)
        c, s = jnp.where(rotate, x / size, 1.0), jnp.where(rotate, low / size, 0.0)
        g = jnp.stack([jnp.stack([jnp.conj(c), jnp.conj(s)]), jnp.stack([-s, c])])
        rows = mm(g, lax.dynamic_slice(t, (k, 0), (2, n)))
        t = lax.dynamic_update_slice(t, rows, (k, 0))
        columns = mm(lax.dynamic_slice(t, (0, k), (n, 2)), adjoint(g))
        t = lax.dynamic_update_slice(t, columns, (0, k))
        turned = mm(lax.dynamic_slice(z, (0, k), (n, 2)), adjoint(g))
        return t, lax.dynamic_update_slice(z, turned, (0, k))

    if n > 1:
        t, z = lax.fori_loop(0, n - 1, step, (t, z))
    return jnp.triu(t), z


def hessenberg(a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False,
               check_finite: bool = True) -> Array | tuple[Array, Array]:
    """Hessenberg form ``H`` with ``a = Q H Q^H``: zero below the first subdiagonal. With ``calc_q``, the pair ``(H, Q)``.

    Args:
      overwrite_a, check_finite: no effect.

    Source: `scipy.linalg.hessenberg`.

    >>> jax.scipy.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _hessenberg(a, given_flag(calc_q))


@inlined(static_argnums=(1,))
def _hessenberg(a, calc_q):
    a, = matrices("hessenberg", a, no_matrix=TypeError)
    packed, taus = lax.linalg.hessenberg(a)
    h = jnp.triu(packed, -1)
    if not calc_q:
        return h
    n = a.shape[-1]
    q = jnp.broadcast_to(jnp.eye(n, dtype=a.dtype), a.shape)
    if n > 1:
        q = q.at[..., 1:, 1:].set(lax.linalg.householder_product(packed[..., 1:, :-1], taus))
    return h, q
