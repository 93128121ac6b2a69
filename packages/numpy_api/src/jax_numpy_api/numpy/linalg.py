"""jax.numpy.linalg: decompositions, solutions of linear systems, norms; all on the last two axes of batches of matrices.

Derivatives of solutions go through the solution itself (`lax.custom_linear_solve`), not through the factorisation that
found it; those of the determinant and of the pseudo-inverse are given in closed form, as the factorisations they are
computed from have none where the matrix is singular.
"""
from __future__ import annotations

import functools
import math
import operator
from collections import namedtuple
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.programs.jit import inlined
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement

from .. import lax
from . import arithmetic, reductions
from .creation import eye
from .linear_algebra import cross as _cross, dot, matmul as _matmul, outer as _outer, tensordot as _tensordot, vecdot as _vecdot
from .linear_algebra import trace as _trace
from .promotion import (as_array, broadcast_to, canonical_axes, canonical_axis, check_arraylike, check_batch_ranks, given_flag, given_key_axes, promote_dtypes_inexact,
                        shape_of)
from .shaping import diagonal as _diagonal, matrix_transpose, moveaxis
from .taking import take, take_along_axis
from .ufuncs import _is_complex, _like, abs as _abs, conj

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike


EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _matrix(name: str, a: Any, square: bool = False, unranked: type[Exception] = ValueError) -> Array:
    """``a`` as an inexact array; raises ``unranked`` unless it holds matrices, ValueError unless square ones."""
    check_arraylike(f"jnp.linalg.{name}", a)
    a, = promote_dtypes_inexact(a)
    a = as_array(a)
    if a.ndim < 2:
        raise unranked(f"jnp.linalg.{name}: an array of rank 2 or more is needed, got shape {a.shape}")
    if square and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"jnp.linalg.{name}: the last two axes must have one length, got shape {a.shape}")
    return a


def _h(a: Array) -> Array:
    """Conjugate transpose."""
    return conj(matrix_transpose(a))


# -- decompositions ----------------------------------------------------------------------------------------------------

@inlined(static_argnames=("upper", "symmetrize_input"))
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The triangular ``L`` with ``L @ L.conj().T == a``.

    Args:
      a: positive definite matrices, ``(..., n, n)``.
      upper: return ``L.conj().T`` instead.
      symmetrize_input: take the mean of ``a`` and its conjugate transpose first.

    Returns:
      an array like ``a``; NaN where a matrix is not positive definite.

    Source: `numpy.linalg.cholesky`.

    >>> jnp.linalg.cholesky(jnp.array([[4., 2.], [2., 5.]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    a = _matrix("cholesky", a, True)
    out = lax.linalg.cholesky(_h(a) if upper and not symmetrize_input else a, symmetrize_input=symmetrize_input)
    return _h(out) if upper else out


@inlined(static_argnames=("full_matrices", "compute_uv", "hermitian", "subset_by_index"))
def _svd(a, full_matrices, compute_uv, hermitian, subset_by_index):
    a = _matrix("svd", a, unranked=TypeError)
    if not hermitian:
        out = lax.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index)
        return tuple(out) if compute_uv else out if not isinstance(out, (tuple, list)) else out[0]
    vectors, values = lax.linalg.eigh(a, symmetrize_input=True)
    size = _abs(values)
    order = lax.rev(_argsort(size), (size.ndim - 1,))
    size = take_along_axis(size, order, -1, mode="clip")
    if not compute_uv:
        return size
    values = take_along_axis(values, order, -1, mode="clip")
    u = take_along_axis(vectors, lax.expand_dims(order, (order.ndim - 1,)), -1, mode="clip")
    signs = arithmetic.select(lax.lt(values, _like(values, 0)), _like(values, -1), _like(values, 1))
    vh = lax.mul(lax.convert_element_type(broadcast_to(lax.expand_dims(signs, (signs.ndim,)), u.shape), u.dtype), _h(u))
    return u, size, vh


def _argsort(x: Array) -> Array:
    positions = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    return lax.sort((x, positions), x.ndim - 1, num_keys=1)[1]


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
        subset_by_index: tuple[int, int] | None = None) -> Any:
    """Singular value decomposition ``a == U @ diag(S) @ Vh``.

    Args:
      a: matrices, ``(..., m, n)``.
      full_matrices: ``U`` and ``Vh`` square, else with ``min(m, n)`` columns and rows.
      compute_uv: False for the singular values alone.
      hermitian: ``a`` is hermitian, which is faster.
      subset_by_index: range of the singular values wanted.

    Returns:
      the triple (U, S, Vh), or S; singular values fall.

    Source: `numpy.linalg.svd`.

    >>> jnp.linalg.svd(jnp.array([[3., 0.], [0., -5.]]), compute_uv=False)
    Array([5., 3.], dtype=float32)
    """
    out = _svd(a, given_flag(full_matrices), given_flag(compute_uv), given_flag(hermitian), subset_by_index)
    return SVDResult(*out) if compute_uv else out


def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, falling. Source: `numpy.linalg.svdvals`.

    >>> jnp.linalg.svdvals(jnp.array([[3., 0.], [0., -5.]]))
    Array([5., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues (rising) and eigenvectors of hermitian matrices.

    Args:
      a: ``(..., n, n)``.
      UPLO: "L" (default) or "U": which triangle is read.
      symmetrize_input: take the mean of ``a`` and its conjugate transpose first.

    Raises:
      ValueError: another ``UPLO``.

    Source: `numpy.linalg.eigh`.

    >>> jnp.linalg.eigh(jnp.array([[2., 0.], [0., 1.]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO!r}")
    values, vectors = _eigh(a, UPLO in (None, "L"), given_flag(symmetrize_input))
    return EighResult(values, vectors)


@inlined(static_argnums=(1, 2))
def _eigh(a, lower, symmetrize_input):
    vectors, values = lax.linalg.eigh(_matrix("eigh", a, True), lower=lower, symmetrize_input=symmetrize_input)
    return values, vectors


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of hermitian matrices, rising; arguments as for `eigh`. Source: `numpy.linalg.eigvalsh`.

    >>> jnp.linalg.eigvalsh(jnp.array([[2., 0.], [0., 1.]]))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and right eigenvectors of square matrices, as complex numbers. Source: `numpy.linalg.eig`.

    >>> jnp.sort(jnp.linalg.eig(jnp.array([[0., 1.], [-1., 0.]])).eigenvalues.imag)
    Array([-1.,  1.], dtype=float32)
    """
    return EigResult(*_eig(a))


@inlined()
def _eig(a):
    values, vectors = lax.linalg.eig(_matrix("eig", a, True, TypeError), compute_left_eigenvectors=False)
    return values, vectors


@inlined()
def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices, as complex numbers. Source: `numpy.linalg.eigvals`.

    >>> jnp.sort(jnp.linalg.eigvals(jnp.array([[3., 0.], [1., 1.]])).real)
    Array([1., 3.], dtype=float32)
    """
    return lax.linalg.eig(_matrix("eigvals", a, True, TypeError), compute_left_eigenvectors=False,
                          compute_right_eigenvectors=False)[0]


@inlined(static_argnums=(1,))
def _qr(a, mode):
    a = _matrix("qr", a, unranked=TypeError)
    if mode == "raw":
        packed, taus = lax.linalg.geqrf(a)
        return matrix_transpose(packed), taus
    q, r = lax.linalg.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """QR decomposition: ``a == Q @ R``, ``Q`` unitary, ``R`` upper triangular.

    Args:
      a: matrices, ``(..., m, n)``.
      mode: "reduced" (``min(m, n)`` columns of ``Q``), "complete" (``m``), "r" for ``R`` alone, or "raw" for LAPACK's
        reflectors and factors.

    Raises:
      ValueError: another mode.

    Source: `numpy.linalg.qr`.

    >>> q, r = jnp.linalg.qr(jnp.array([[0., 1.], [2., 0.]]))
    >>> jnp.allclose(q @ r, jnp.array([[0., 1.], [2., 0.]]))
    Array(True, dtype=bool)
    """
    if mode not in ("reduced", "r", "full", "complete", "raw"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    out = _qr(a, "reduced" if mode == "full" else mode)
    return QRResult(*out) if mode in ("reduced", "full", "complete") else out


# -- linear systems ----------------------------------------------------------------------------------------------------

@inlined()
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The ``x`` with ``a @ x == b``.

    Args:
      a: square matrices, ``(..., n, n)``.
      b: a vector ``(n,)``, or matrices ``(..., n, k)``; batch axes broadcast.

    Raises:
      ValueError: shapes that do not fit.

    Source: `numpy.linalg.solve`; LU factorisation with partial pivoting.

    >>> jnp.linalg.solve(jnp.array([[2., 0.], [0., 4.]]), jnp.array([1., 1.]))
    Array([0.5 , 0.25], dtype=float32)
    """
    check_arraylike("jnp.linalg.solve", a, b)
    a, b = (as_array(x) for x in promote_dtypes_inexact(a, b))
    a = _matrix("solve", a, True)
    if b.ndim == 0 or (b.shape[-2] if b.ndim > 1 else b.shape[0]) != a.shape[-1]:
        raise ValueError(f"jnp.linalg.solve: a of shape {a.shape} and b of shape {b.shape} do not fit; b must be a vector "
                         "(n,), or matrices (..., n, k), for a of shape (..., n, n)")
    vector = b.ndim == 1
    b = lax.expand_dims(b, (1,)) if vector else b
    check_batch_ranks("solve", (a.shape, 2), (b.shape, 2))
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = _solve_matrices(broadcast_to(a, (*lead, *a.shape[-2:])), broadcast_to(b, (*lead, *b.shape[-2:])))
    return lax.squeeze(out, (out.ndim - 1,)) if vector else out


def _solve_matrices(a: Array, b: Array) -> Array:
    """``a`` and ``b`` have the same batch axes."""
    factors, _, order = lax.linalg.lu(lax.stop_gradient(a))
    return _solve_factored(a, factors, order, b)


def _solve_factored(a: Array, factors: Array, order: Array, b: Array) -> Array:
    """The solution by the LU factors of ``a``; derivatives are those of ``a x = b``."""
    def forward(_: object, y: Array):
        return _lu_solve(factors, order, y)

    def backward(_: object, y: Array):
        return _lu_solve_transposed(factors, order, y)
    return lax.custom_linear_solve(lambda x: _matmul(a, x, precision="highest"), b, forward, backward)


def _permuted(y: Array, order: Array) -> Array:
    if order.ndim == 1:
        return take(y, order, y.ndim - 2, mode="clip")
    return take_along_axis(y, broadcast_to(lax.expand_dims(order, (order.ndim,)), y.shape), -2, mode="clip")


def _lu_solve(factors: Array, order: Array, y: Array) -> Array:
    y = lax.linalg.triangular_solve(factors, _permuted(y, order), left_side=True, lower=True, unit_diagonal=True)
    return lax.linalg.triangular_solve(factors, y, left_side=True, lower=False)


def _lu_solve_transposed(factors: Array, order: Array, y: Array) -> Array:
    y = lax.linalg.triangular_solve(factors, y, left_side=True, lower=False, transpose_a=True)
    y = lax.linalg.triangular_solve(factors, y, left_side=True, lower=True, transpose_a=True, unit_diagonal=True)
    return _permuted(y, _argsort(order))


@inlined()
def inv(a: ArrayLike) -> Array:
    """Inverse of square matrices. Source: `numpy.linalg.inv`.

    >>> jnp.linalg.inv(jnp.array([[2., 0.], [0., 4.]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    a = _matrix("inv", a, True)
    return _solve_matrices(a, broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape))


def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False) -> tuple:
    """Least-squares solution of ``a @ x == b``, of least norm where there are several.

    Args:
      a: matrix ``(m, n)``.
      b: vector ``(m,)`` or matrix ``(m, k)``.
      rcond: singular values below this share of the largest count as 0; by default epsilon times ``max(m, n)``.
      numpy_resid: return no residuals where the rank is not full, as NumPy does (outside of tracing only).

    Returns:
      solution, sums of squared residuals, rank, singular values.

    Raises:
      TypeError: ``a`` is no matrix, or ``b`` neither vector nor matrix.
      ValueError: they differ in rows.

    Source: `numpy.linalg.lstsq`.

    >>> x, *_ = jnp.linalg.lstsq(jnp.array([[1., 0.], [1., 1.], [1., 2.]]), jnp.array([1., 3., 5.]))
    >>> jnp.round(x, 3)
    Array([1., 2.], dtype=float32)
    """
    check_arraylike("jnp.linalg.lstsq", a, b)
    a, b = (as_array(x) for x in promote_dtypes_inexact(a, b))
    if a.ndim != 2:
        raise TypeError(f"jax.numpy.linalg.lstsq: a must be a matrix, got shape {a.shape}")
    if b.ndim not in (1, 2):
        raise TypeError(f"jax.numpy.linalg.lstsq: b must be a vector or a matrix, got shape {b.shape}")
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"jax.numpy.linalg.lstsq: a and b must have as many rows, got shapes {a.shape} and {b.shape}")
    x, resid, rank, s = _lstsq(a, b, None if rcond is None else float(rcond))
    if numpy_resid and (int(rank) < a.shape[1] or a.shape[0] <= a.shape[1]):
        resid = lax.full((0,), 0, resid.dtype)
    return x, resid, rank, s


@inlined(static_argnums=(2,))
def _lstsq(a, b, rcond):
    m, n = a.shape
    vector = b.ndim == 1
    b = lax.expand_dims(b, (1,)) if vector else b
    if a.size == 0:
        s = lax.full((0,), 0, dtypes.to_floating_dtype(a.dtype))
        x, rank = lax.full((n, b.shape[1]), 0, a.dtype), lax.full((), 0, dtypes.default_int_dtype())
    else:
        rcond = float(dtypes.finfo(a.dtype).eps) * max(m, n) if rcond is None or rcond < 0 else rcond
        u, s, vh = lax.linalg.svd(a, full_matrices=False)
        alive = lax.ge(s, broadcast_to(lax.mul(_like(s, rcond), s[0]), s.shape)) if rcond else lax.gt(s, _like(s, 0))
        alive = lax.bitwise_and(alive, lax.gt(s, _like(s, 0)))
        rank = reductions.sum(alive, dtype=dtypes.default_int_dtype())
        safe = arithmetic.select(alive, s, _like(s, 1))
        weights = lax.convert_element_type(arithmetic.select(alive, lax.div(_like(s, 1), safe), _like(s, 0)), a.dtype)
        projected = _matmul(_h(u), b, precision="highest")
        scaled = lax.mul(projected, broadcast_to(lax.expand_dims(weights, (1,)), projected.shape))
        x = _matmul(_h(vh), scaled, precision="highest")
    rest = lax.sub(b, _matmul(a, x, precision="highest"))
    resid = reductions.sum(_squared_modulus(rest), axis=0)
    return (lax.squeeze(x, (1,)) if vector else x), resid, rank, s


def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse for `tensordot` over ``ind`` axes. Source: `numpy.linalg.tensorinv`.

    Raises:
      ValueError: ``ind`` is not positive, or the two groups of axes hold different numbers of elements.

    >>> jnp.linalg.tensorinv(2 * jnp.eye(4).reshape(2, 2, 2, 2)).shape
    (2, 2, 2, 2)
    """
    check_arraylike("jnp.linalg.tensorinv", a)
    a = as_array(a)
    ind = operator.index(ind)
    if ind <= 0:
        raise ValueError(f"ind must be a positive integer; got {ind=}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise ValueError(f"jnp.linalg.tensorinv: the first {ind} axes of shape {a.shape} must hold as many elements as the rest")
    return inv(lax.reshape(a, (math.prod(rows), math.prod(columns)))).reshape(*columns, *rows)


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The ``x`` with ``tensordot(a, x, x.ndim) == b``, after ``axes`` of ``a`` were moved to its end.

    Raises:
      ValueError: ``a`` does not begin with the shape of ``b``, or has not as many unknowns as equations.

    Source: `numpy.linalg.tensorsolve`.

    >>> jnp.linalg.tensorsolve(2 * jnp.eye(4).reshape(2, 2, 2, 2), jnp.ones((2, 2)))
    Array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    check_arraylike("jnp.linalg.tensorsolve", a, b)
    a, b = as_array(a), as_array(b)
    if axes is not None:
        a = moveaxis(a, tuple(axes), tuple(range(a.ndim - len(axes), a.ndim)))
    out_shape = a.shape[b.ndim:]
    if a.shape[:b.ndim] != b.shape:
        raise ValueError(f"jax.numpy.linalg.tensorsolve: a, of shape {a.shape} once axes are moved to its end, must begin with "
                         f"the shape of b, {b.shape}")
    if b.size != math.prod(out_shape):
        raise ValueError(f"jax.numpy.linalg.tensorsolve: a of shape {a.shape} gives {b.size} equations (axes before {b.ndim}) for "
                         f"{math.prod(out_shape)} unknowns (axes from {b.ndim} on); the two must be equal")
    return solve(lax.reshape(a, (b.size, b.size)), lax.reshape(b, (b.size,))).reshape(out_shape)


@custom_jvp
def _pinv(a: Array, rtol: Array) -> Array:
    u, s, vh = lax.linalg.svd(a, full_matrices=False)
    limit = lax.mul(lax.expand_dims(rtol, (rtol.ndim,)), s[..., :1])
    keep = lax.gt(s, broadcast_to(limit, s.shape))
    safe = arithmetic.select(keep, s, _like(s, 1))
    weights = arithmetic.select(keep, lax.div(_like(s, 1), safe), _like(s, 0))
    scaled = lax.mul(_h(vh), lax.convert_element_type(
        broadcast_to(lax.expand_dims(weights, (weights.ndim - 1,)), _h(vh).shape), a.dtype))
    return _matmul(scaled, _h(u), precision="highest")


@_pinv.defjvp
def _pinv_jvp(primals, tangents):
    """Source: Golub and Pereyra, "The differentiation of pseudo-inverses", SIAM J. Numer. Anal. 10(2), 1973."""
    a, rtol = primals
    da = tangents[0]
    p = _pinv(a, rtol)
    mm = functools.partial(_matmul, precision="highest")
    m, n = a.shape[-2:]
    dah = _h(da)
    rows = lax.sub(broadcast_to(eye(m, dtype=a.dtype), (*a.shape[:-2], m, m)), mm(a, p))
    columns = lax.sub(broadcast_to(eye(n, dtype=a.dtype), (*a.shape[:-2], n, n)), mm(p, a))
    out = lax.neg(mm(mm(p, da), p))
    out = lax.add(out, mm(mm(p, _h(p)), mm(dah, rows)))
    return p, lax.add(out, mm(mm(columns, dah), mm(_h(p), p)))


def pinv(a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None) -> Array:
    """Pseudo-inverse of Moore and Penrose.

    Args:
      a: matrices, ``(..., m, n)``.
      rtol: singular values up to this share of the largest count as 0; by default 10 epsilon times ``max(m, n)``.
      hermitian: ``a`` is hermitian; has no influence on the result.
      rcond: older name of ``rtol``.

    Raises:
      ValueError: both ``rtol`` and ``rcond`` are given.

    Source: `numpy.linalg.pinv`.

    >>> jnp.round(jnp.linalg.pinv(jnp.array([[2.], [0.]])), 3)
    Array([[0.5, 0. ]], dtype=float32)
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: only one of rtol and rcond may be specified.")
        rtol = rcond
    a = _matrix("pinv", a)
    m, n = a.shape[-2:]
    if m == 0 or n == 0:
        return lax.full((*a.shape[:-2], n, m), 0, a.dtype)
    real_dtype = np.dtype(dtypes.to_floating_dtype(a.dtype))
    share = real_dtype.type(10 * max(m, n) * float(dtypes.finfo(a.dtype).eps)) if rtol is None else rtol
    share, = promote_dtypes_inexact(share)
    return _pinv(a, broadcast_to(as_array(share).astype(real_dtype), a.shape[:-2]))


# -- determinants ------------------------------------------------------------------------------------------------------

def _lu_determinant(a: Array) -> tuple[Array, Array]:
    """The diagonal of U and the sign of the permutation, from an LU factorisation."""
    factors, pivots, _ = lax.linalg.lu(a)
    diagonal = _diagonal(factors, 0, -2, -1)
    n = a.shape[-1]
    places = lax.broadcasted_iota(pivots.dtype, pivots.shape, pivots.ndim - 1)
    swaps = reductions.sum(lax.ne(pivots, places), axis=-1, dtype=np.int32) if n else lax.full(a.shape[:-2], 0, np.int32)
    odd = lax.eq(lax.rem(swaps, np.int32(2)), np.int32(1))
    return diagonal, arithmetic.select(odd, _like(diagonal, -1), _like(diagonal, 1))


@custom_jvp
def _slogdet(a: Array) -> tuple[Array, Array]:
    diagonal, sign = _lu_determinant(a)
    size = _abs(diagonal)
    if _is_complex(a):
        zero = lax.eq(size, _like(size, 0))
        units = lax.div(diagonal, lax.convert_element_type(arithmetic.select(zero, _like(size, 1), size), a.dtype))
        sign = lax.mul(sign, reductions.prod(units, axis=-1))
    else:
        sign = lax.mul(sign, reductions.prod(lax.sign(diagonal), axis=-1))
    return sign, reductions.sum(lax.log(size), axis=-1)


@_slogdet.defjvp
def _slogdet_jvp(primals, tangents):
    """d log det a = trace(a^-1 da)."""
    a, = primals
    da, = tangents
    sign, logdet = _slogdet(a)
    total = _trace(_solve_matrices(a, da), axis1=-2, axis2=-1)
    if _is_complex(a):
        turn = lax.complex(lax.full_like(lax.imag(total), 0), lax.imag(total))
        return (sign, logdet), (lax.mul(sign, turn), lax.real(total))
    return (sign, logdet), (lax.full_like(sign, 0), total)


def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Sign and logarithm of the modulus of determinants.

    Args:
      a: square matrices, ``(..., n, n)``.
      method: "lu" (default), or "qr".

    Returns:
      a pair; sign 0 and logarithm -inf for singular matrices.

    Raises:
      ValueError: another ``method``.

    Source: `numpy.linalg.slogdet`.

    >>> jnp.linalg.slogdet(jnp.array([[0., 1.], [1., 0.]])).sign
    Array(-1., dtype=float32)
    """
    if method not in (None, "lu", "qr"):
        raise ValueError(f"Unknown slogdet method '{method}'. Supported methods are 'lu' (default) and 'qr'.")
    a = _matrix("slogdet", a, True)
    return SlogdetResult(*_slogdet_by_qr(a)) if method == "qr" else SlogdetResult(*_slogdet_inlined(a))


@inlined()
def _slogdet_inlined(a):
    if dtypes.finfo(a.dtype).bits >= 32:
        return _slogdet(a)
    return tuple(lax.convert_element_type(x, a.dtype) for x in _slogdet(lax.convert_element_type(a, np.float32)))


def _slogdet_by_qr(a):
    packed, taus = lax.linalg.geqrf(a)
    diagonal = _diagonal(packed, 0, -2, -1)
    reflections = reductions.sum(lax.ne(taus, _like(taus, 0)), axis=-1, dtype=np.int32)
    odd = lax.eq(lax.rem(reflections, np.int32(2)), np.int32(1))
    sign = reductions.prod(lax.sign(diagonal), axis=-1)
    if _is_complex(a):
        # the reflection I - tau v v^H, with a unit leading entry of v, has determinant 1 - tau v^H v = -tau / conj(tau)
        phases = arithmetic.select(lax.ne(taus, _like(taus, 0)), lax.neg(lax.div(taus, lax.conj(taus))), _like(taus, 1))
        sign = lax.mul(sign, reductions.prod(phases, axis=-1))
    else:
        sign = arithmetic.select(odd, lax.neg(sign), sign)
    return sign, reductions.sum(lax.log(_abs(diagonal)), axis=-1)


@custom_jvp
def _det(a: Array) -> Array:
    diagonal, sign = _lu_determinant(a)
    return lax.mul(sign, reductions.prod(diagonal, axis=-1))


@_det.defjvp
def _det_jvp(primals, tangents):
    """d det a = trace(adj(a) da)."""
    a, = primals
    det = _det(a)
    return det, reductions.sum(lax.mul(matrix_transpose(_adjugate(a, det)), tangents[0]), axis=(-2, -1))


def _adjugate(a: Array, det: Array) -> Array:
    """The matrix of cofactors, transposed. Where no matrix is near a singular one it is det(a) a^-1, from an LU factorisation:
    a fifth of the time of the singular values, which give it for all."""
    factors, _, order = lax.linalg.lu(lax.stop_gradient(a))
    pivots = _abs(_diagonal(factors, 0, -2, -1))
    least = lax.mul(reductions.max(pivots, axis=-1), _like(pivots, a.shape[-1] * float(dtypes.finfo(a.dtype).eps)))
    regular = reductions.all(lax.gt(reductions.min(pivots, axis=-1), least))
    return lax.cond(regular, _regular_adjugate, lambda a, *_: _any_adjugate(a), a, det, factors, order)


def _regular_adjugate(a: Array, det: Array, factors: Array, order: Array) -> Array:
    inverse = _solve_factored(a, factors, order, broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape))
    return lax.mul(inverse, broadcast_to(lax.expand_dims(det, (det.ndim, det.ndim + 1)), inverse.shape))


def _any_adjugate(a: Array) -> Array:
    """From the singular values, each replaced by the product of the others."""
    u, s, vh = lax.linalg.svd(a, full_matrices=True)
    n = a.shape[-1]
    wide = broadcast_to(lax.expand_dims(s, (s.ndim - 1,)), (*s.shape[:-1], n, n))
    others = arithmetic.select(broadcast_to(eye(n, dtype=bool), wide.shape), _like(s, 1), wide)
    products = reductions.prod(others, axis=-1)
    phase = lax.mul(_det(lax.stop_gradient(u)), _det(lax.stop_gradient(vh)))
    scaled = lax.mul(_h(vh), lax.convert_element_type(broadcast_to(lax.expand_dims(products, (products.ndim - 1,)), a.shape),
                                                      a.dtype))
    out = _matmul(scaled, _h(u), precision="highest")
    return lax.mul(out, broadcast_to(lax.expand_dims(phase, (phase.ndim, phase.ndim + 1)), out.shape))


@inlined()
def det(a: ArrayLike) -> Array:
    """Determinants of square matrices. Source: `numpy.linalg.det`; LU factorisation, and in closed form up to 3 by 3.

    >>> jnp.linalg.det(jnp.array([[1., 2.], [3., 4.]]))
    Array(-2., dtype=float32)
    """
    a = _matrix("det", a, True)
    n = a.shape[-1]
    if n == 0:
        return lax.full(a.shape[:-2], 1, a.dtype)
    at = lambda i, j: a[..., i, j]
    if n == 1:
        return at(0, 0)
    if n == 2:
        return lax.sub(lax.mul(at(0, 0), at(1, 1)), lax.mul(at(0, 1), at(1, 0)))
    if n == 3:
        minor = lambda i, j: lax.sub(lax.mul(at(1, i), at(2, j)), lax.mul(at(1, j), at(2, i)))
        return lax.add(lax.sub(lax.mul(at(0, 0), minor(1, 2)), lax.mul(at(0, 1), minor(0, 2))),
                       lax.mul(at(0, 2), minor(0, 1)))
    return _det(a)


# -- norms and condition -----------------------------------------------------------------------------------------------

def _squared_modulus(x: Array) -> Array:
    if _is_complex(x):
        return lax.add(lax.square(lax.real(x)), lax.square(lax.imag(x)))
    return lax.square(x)


def _root(total: Array) -> Array:
    """Square root whose derivative at 0 is 0, which is a subgradient of a norm there."""
    zero = lax.eq(total, _like(total, 0))
    return arithmetic.select(zero, total, lax.sqrt(arithmetic.select(zero, _like(total, 1), total)))


def _vector_norm(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if ord is None or ord == 2:
        return _root(reductions.sum(_squared_modulus(x), axis=axis, keepdims=keepdims))
    size = _abs(x)
    if ord == np.inf:
        return reductions.max(size, axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return reductions.min(size, axis=axis, keepdims=keepdims, initial=None if size.size else np.inf)
    if ord == 0:
        return reductions.sum(lax.convert_element_type(lax.ne(x, _like(x, 0)), size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(size, axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"jax.numpy.linalg.norm: ord={ord!r} is no norm of vectors; there are None, numbers, and jnp.inf and -jnp.inf (no strings)")
    total = reductions.sum(arithmetic.power(size, ord), axis=axis, keepdims=keepdims)
    return arithmetic.power(total, 1.0 / ord)


def _matrix_norm(x: Array, ord: Any, axes: tuple, keepdims: bool) -> Array:
    rows, columns = axes
    if ord is None or ord in ("f", "fro"):
        return _root(reductions.sum(_squared_modulus(x), axis=axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        inner, outer_axis = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reductions.sum(_abs(x), axis=inner, keepdims=True)
        fold = reductions.max if ord > 0 else reductions.min
        out = fold(sums, axis=outer_axis, keepdims=True, **({"initial": 0} if ord > 0 else {"initial": np.inf}))
        return out if keepdims else lax.squeeze(out, tuple(sorted(axes)))
    if ord in ("nuc", 2, -2):
        s = svd(moveaxis(x, axes, (-2, -1)), compute_uv=False)
        folds: dict[Any, Callable[..., Array]] = {"nuc": reductions.sum, 2: reductions.max, -2: reductions.min}
        out = folds[ord](s, axis=-1)
        return lax.expand_dims(out, tuple(sorted(axes))) if keepdims else out
    raise ValueError(f"jax.numpy.linalg.norm: ord={ord!r} is no norm of matrices; there are None, 'fro', 'nuc', 1, -1, 2, -2, jnp.inf and -jnp.inf")


def norm(x: ArrayLike, ord: int | str | float | None = None, axis: tuple[int, ...] | int | None = None,
         keepdims: bool = False) -> Array:
    """Norm of vectors or matrices.

    Args:
      x: array.
      ord: order: of vectors a number, inf, -inf or 0 (count of nonzero elements), by default 2; of matrices "fro"
        (default), "nuc", 1, -1, 2, -2, inf, -inf.
      axis: an axis for vectors, a pair for matrices; None for the whole array, as a vector if ``ord`` is None.
      keepdims: keep reduced axes with length 1.

    Raises:
      ValueError: an order that there is not, or more than two axes.

    Source: `numpy.linalg.norm`.

    >>> jnp.linalg.norm(jnp.array([3., 4.]))
    Array(5., dtype=float32)
    >>> jnp.linalg.norm(jnp.array([[3., 4.], [6., 8.]]), axis=1, ord=1)
    Array([ 7., 14.], dtype=float32)
    """
    check_arraylike("jnp.linalg.norm", x)
    return _norm(x, ord if ord is None or isinstance(ord, (str, int, float)) else float(ord),
                 given_key_axes(axis), given_flag(keepdims))


@inlined(static_argnums=(1, 2, 3))
def _norm(x, ord, axis, keepdims):
    x, = promote_dtypes_inexact(x)
    x = as_array(x)
    if axis is None:
        if ord is None:
            return _root(reductions.sum(_squared_modulus(x), keepdims=keepdims))
        axes: tuple = tuple(range(x.ndim))
    else:
        axes = canonical_axes(axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"jax.numpy.linalg.norm: axis={axis} names {len(axes)} axes; give one for norms of vectors, two for norms of "
                     "matrices")


def vector_norm(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False,
                ord: int | str | float = 2) -> Array:
    """Norm of vectors along axes, or of the flattened array. Source: `numpy.linalg.vector_norm`, array API standard.

    >>> jnp.linalg.vector_norm(jnp.array([3., 4.]))
    Array(5., dtype=float32)
    """
    check_arraylike("jnp.linalg.vector_norm", x)
    x = as_array(x)
    if not dtypes.issubdtype(x.dtype, np.inexact):  # squares of any integers are summed as wide as there is
        x = lax.convert_element_type(x, dtypes.canonicalize_dtype(np.dtype(np.float64)))
    axes = canonical_axes(axis, x.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    rest = [i for i in range(x.ndim) if i not in axes]
    line = lax.reshape(lax.transpose(x, (*rest, *axes)), (*(x.shape[i] for i in rest), math.prod(x.shape[i] for i in axes)))
    out = _vector_norm(line, ord, (line.ndim - 1,), False)
    return lax.reshape(out, kept) if keepdims else out


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: str | int = "fro") -> Array:
    """Norm of the matrices on the last two axes. Source: `numpy.linalg.matrix_norm`, array API standard.

    >>> jnp.linalg.matrix_norm(jnp.array([[3., 0.], [0., 4.]]))
    Array(5., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def cond(x: ArrayLike, p: int | str | float | None = None) -> Array:
    """Condition number: the norm times that of the inverse.

    Args:
      x: matrices.
      p: order of the norm; None and 2, -2 go by singular values.

    Raises:
      ValueError: no elements; a matrix that is not square, for another norm than those by singular values.

    Source: `numpy.linalg.cond`.

    >>> jnp.linalg.cond(jnp.diag(jnp.array([4., 2.])))
    Array(2., dtype=float32)
    """
    x = _matrix("cond", x)
    if x.size == 0:
        raise ValueError(f"jnp.linalg.cond: an array with elements is needed, got shape {x.shape}")
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"jnp.linalg.cond: array must be square for p={p!r}; got shape {x.shape}")
    out = norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))
    holds_nan = reductions.any(lax.ne(x, x), axis=(-2, -1))
    infinite = lax.bitwise_and(lax.ne(out, out), lax.bitwise_not(holds_nan))
    return arithmetic.select(infinite, _like(out, np.inf), out)


def matrix_rank(M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False,
                tol: ArrayLike | None = None) -> Array:
    """Number of singular values above a limit.

    Args:
      M: matrices, or a vector, whose rank is 1 unless it is 0.
      rtol: limit, as a share of the largest; by default epsilon times ``max(m, n)``.
      hermitian: ``M`` is hermitian.
      tol: limit itself, an older form.

    Raises:
      ValueError: both ``rtol`` and ``tol`` are given.

    Source: `numpy.linalg.matrix_rank`.

    >>> jnp.linalg.matrix_rank(jnp.ones((3, 3)))
    Array(1, dtype=int32)
    """
    check_arraylike("jnp.linalg.matrix_rank", M)
    if tol is not None and rtol is not None:
        raise ValueError("jnp.linalg.matrix_rank: rtol and tol say the same thing; give one of them")
    check_arraylike("jnp.linalg.matrix_rank", *(t for t in (tol, rtol) if t is not None))
    M, = promote_dtypes_inexact(M)
    M = as_array(M)
    if M.ndim < 2:
        return reductions.any(lax.ne(M, _like(M, 0))).astype(np.int32)
    s = svd(M, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        limit = as_array(tol)
    else:
        share = max(M.shape[-2:]) * float(dtypes.finfo(M.dtype).eps) if rtol is None else as_array(rtol)
        limit = reductions.max(s, axis=-1) * share
    limit = limit.astype(s.dtype)
    limit = limit[..., None] if limit.ndim else limit
    return reductions.sum(s > limit, axis=-1)


# -- products ----------------------------------------------------------------------------------------------------------

def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power, by repeated squaring. Source: `numpy.linalg.matrix_power`.

    Raises:
      TypeError: no square matrices, or ``n`` is no integer.

    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]]), 5)
    Array([[8, 5],
           [5, 3]], dtype=int32)
    """
    check_arraylike("jnp.linalg.matrix_power", a)
    base = as_array(a)
    if base.ndim < 2:
        raise TypeError(f"{base.ndim}-dimensional array given. Array must be at least two-dimensional")
    if base.shape[-2] != base.shape[-1]:
        raise TypeError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError(f"exponent must be an integer, got {n}") from error
    if n == 0:
        return broadcast_to(eye(base.shape[-2], dtype=base.dtype), base.shape)
    if n < 0:
        base = inv(base)
        n = -n
    out: Array | None = None
    while True:
        if n & 1:
            out = base if out is None else _matmul(out, base)
        n >>= 1
        if not n and out is not None:
            return out
        base = _matmul(base, base)


def multi_dot(arrays: Sequence[ArrayLike], *, precision: PrecisionLike = None) -> Array:
    """Product of several matrices (the first and last may be vectors) in the cheapest order. Source: `numpy.linalg.multi_dot`.

    Raises:
      ValueError: fewer than two arrays, or shapes that do not meet.

    >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 1))])
    Array([[12.],
           [12.]], dtype=float32)
    """
    check_arraylike("jnp.linalg.multi_dot", *arrays)
    factors = [as_array(a) for a in arrays]
    if len(factors) < 2:
        raise ValueError(f"jax.numpy.linalg.multi_dot: expected two factors or more, got {len(factors)}")
    if any(a.ndim != 2 for a in factors[1:-1]) or any(a.ndim not in (1, 2) for a in (factors[0], factors[-1])):
        raise ValueError("jax.numpy.linalg.multi_dot: expected matrices, with a vector at either end at most, got shapes "
                         f"{[a.shape for a in factors]}")
    if any(a.shape[-1] != b.shape[0] for a, b in zip(factors, factors[1:])):
        raise ValueError("jax.numpy.linalg.multi_dot: neighbours must agree where they meet (columns of one, rows of the next), "
                         f"got shapes {[a.shape for a in factors]}")
    return _chain(factors, precision)


def _chain(arrays: list, precision: Any) -> Array:
    """Dynamic programming over the places to split. Source: Cormen et al., "Introduction to Algorithms", 15.2."""
    sizes = [a.shape[0] if a.ndim == 2 else 1 for a in arrays[:1]] + [a.shape[0] for a in arrays[1:]]
    sizes.append(arrays[-1].shape[1] if arrays[-1].ndim == 2 else 1)
    n = len(arrays)

    @functools.lru_cache(None)
    def best(i: int, j: int):
        if i == j:
            return 0, None
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i: int, j: int):
        if i == j:
            return arrays[i]
        k = best(i, j)[1]
        return dot(product(i, k), product(k + 1, j), precision=precision)
    return product(0, n - 1)


def matmul(x1: ArrayLike, x2: ArrayLike, /, *, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.matmul`.

    >>> jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [1]]))
    Array([[3],
           [7]], dtype=int32)
    """
    return _matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """Cross product of vectors of 3 elements. Source: `numpy.linalg.cross`.

    Raises:
      ValueError: the axis is not of length 3 in both.

    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    check_arraylike("jnp.linalg.cross", x1, x2)
    for x in (x1, x2):
        canonical_axis(axis, len(shape_of(x)), "jnp.linalg.cross: axis")
    if shape_of(x1)[axis] != 3 or shape_of(x2)[axis] != 3:
        raise ValueError(f"jax.numpy.linalg.cross: axis {axis} must be of length 3 in both arrays, got shapes {shape_of(x1)} and "
                         f"{shape_of(x2)}; for vectors of length 2 use jax.numpy.cross")
    return _cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Outer product of two vectors. Source: `numpy.linalg.outer`.

    Raises:
      ValueError: an argument is no vector.

    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    check_arraylike("jnp.linalg.outer", x1, x2)
    if len(shape_of(x1)) != 1 or len(shape_of(x2)) != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={len(shape_of(x1))} "
                         f"x2.ndim={len(shape_of(x2))}")
    return _outer(x1, x2)


def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2,
              precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
              out_sharding: Placement | None = None) -> Array:
    """`jax.numpy.tensordot`.

    >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return _tensordot(x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type,
                      out_sharding=out_sharding)


def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None) -> Array:
    """`jax.numpy.vecdot`.

    >>> jnp.linalg.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return _vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """Diagonals of the matrices on the last two axes. Source: `numpy.linalg.diagonal`.

    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return _diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Sums of the diagonals of the matrices on the last two axes. Source: `numpy.linalg.trace`.

    >>> jnp.linalg.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return _trace(x, offset, -2, -1, dtype)
