"""Solutions of linear systems, exact and by least squares, and inverses.

Derivatives of solutions go through the solution itself (`lax.custom_linear_solve`), not through the factorisation that found it;
those of the pseudo-inverse are given in closed form, as its decomposition has none where the matrix is singular.
"""
from __future__ import annotations

import functools
import math
import operator
from typing import Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.custom_jvp import custom_jvp

from ... import lax
from ...lax.control_flow.solves import solve_with
from ...lax.linalg.common import largest, symmetrize
from .. import arithmetic, reductions
from ..creation import asarray, eye
from ..linear_algebra import matmul as _matmul
from ..promotion import (
    as_array,
    broadcast_shape,
    broadcast_to,
    check_arraylike,
    check_batch_ranks,
    convert,
    promote_dtypes_inexact,
    shape_of,
)
from ..shaping import moveaxis
from ..taking import take, take_along_axis
from ..ufuncs import _is_complex, _like
from .decompositions import svd
from .matrices import argsort, as_matrices, conjugate_transpose, identity_like, squared_modulus


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
    a = as_matrices("solve", a, True)
    if b.ndim == 0 or (b.shape[-2] if b.ndim > 1 else b.shape[0]) != a.shape[-1]:
        raise ValueError(f"jnp.linalg.solve: a of shape {a.shape} and b of shape {b.shape} do not fit; b must be a vector "
                         "(n,), or matrices (..., n, k), for a of shape (..., n, n)")
    vector = b.ndim == 1
    check_batch_ranks("solve", (a.shape, 2), (b.shape, 1 if vector else 2))
    b = lax.expand_dims(b, (1,)) if vector else b
    lead = joint_shape(a.shape[:-2], b.shape[:-2])
    out = solve_matrices(broadcast_to(a, (*lead, *a.shape[-2:])), broadcast_to(b, (*lead, *b.shape[-2:])))
    return lax.squeeze(out, (out.ndim - 1,)) if vector else out


def solve_matrices(a: Array, b: Array) -> Array:
    """``a`` and ``b`` have the same batch axes."""
    factors, _, order = lax.linalg.lu(lax.stop_gradient(a))
    return solve_factored(a, factors, order, b)


def solve_factored(a: Array, factors: Array, order: Array, b: Array) -> Array:
    """The solution by the LU factors of ``a``; derivatives are those of ``a x = b``."""
    def forward(_: object, factors: Array, order: Array, y: Array):
        return solve_by_lu(factors, order, y)

    def backward(_: object, factors: Array, order: Array, y: Array):
        return solve_by_lu(factors, order, y, 1)
    return solve_with((factors, order), lambda x: _matmul(a, x, precision="highest"), b, forward, backward)


def _permuted(y: Array, order: Array) -> Array:
    if order.ndim == 1:
        return take(y, order, y.ndim - 2, mode="clip")
    return take_along_axis(y, broadcast_to(lax.expand_dims(order, (order.ndim,)), y.shape), -2, mode="clip")


def solve_by_lu(factors: Array, order: Array, y: Array, trans: int = 0) -> Array:
    """``x`` with ``a @ x == y`` for the ``factors`` of ``a[order]``; with ``trans`` 1 for the transpose of ``a``, 2 for its adjoint."""
    if trans == 0:
        y = lax.linalg.triangular_solve(factors, _permuted(y, order), left_side=True, lower=True, unit_diagonal=True)
        return lax.linalg.triangular_solve(factors, y, left_side=True, lower=False)
    y = lax.linalg.triangular_solve(factors, y, left_side=True, lower=False, transpose_a=True, conjugate_a=trans == 2)
    y = lax.linalg.triangular_solve(factors, y, left_side=True, lower=True, transpose_a=True, conjugate_a=trans == 2, unit_diagonal=True)
    return _permuted(y, argsort(order))


@inlined()
def inv(a: ArrayLike) -> Array:
    """Inverse of square matrices. Source: `numpy.linalg.inv`.

    >>> jnp.linalg.inv(jnp.array([[2., 0.], [0., 4.]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    a = as_matrices("inv", a, True, narrow=True)
    return solve_matrices(a, identity_like(a))


def lstsq(a: ArrayLike, b: ArrayLike, rcond: ArrayLike | None = None, *, numpy_resid: bool = False) -> tuple:
    """Least-squares solution of ``a @ x == b``, of least norm where there are several.

    Args:
      a: matrix ``(m, n)``.
      b: vector ``(m,)`` or matrix ``(m, k)``.
      rcond: singular values below this share of the largest count as 0; by default, or if negative, epsilon times ``max(m, n)``.
      numpy_resid: return no residuals where the rank is not full, as NumPy does (outside of tracing only).

    Returns:
      solution, sums of squared residuals, rank, singular values.

    Raises:
      TypeError: ``a`` is no matrix, ``b`` neither vector nor matrix, or ``rcond`` no real scalar.
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
    if rcond is not None:
        check_arraylike("jnp.linalg.lstsq", rcond)
        if shape_of(rcond) or _is_complex(rcond):
            raise TypeError(f"jax.numpy.linalg.lstsq: rcond must be a real scalar, got {rcond!r}")
    x, resid, rank, s = _lstsq(a, b, rcond)
    if numpy_resid and (int(rank) < a.shape[1] or a.shape[0] <= a.shape[1]):
        resid = lax.full((0,), 0, resid.dtype)
    return x, resid, rank, s


@inlined()
def _lstsq(a, b, rcond):
    m, n = a.shape
    vector = b.ndim == 1
    b = lax.expand_dims(b, (1,)) if vector else b
    if a.size == 0:
        s = lax.full((0,), 0, dtypes.to_floating_dtype(a.dtype))
        x, rank = lax.full((n, b.shape[1]), 0, a.dtype), lax.full((), 0, dtypes.default_int_dtype())
    else:
        u, s, vh = lax.linalg.svd(a, full_matrices=False)
        share = _like(s, float(dtypes.finfo(a.dtype).eps) * max(m, n))
        if rcond is not None:
            asked = convert(rcond, s.dtype)
            share = arithmetic.select(lax.lt(asked, _like(s, 0)), share, asked)
        alive = lax.bitwise_and(lax.ge(s, broadcast_to(lax.mul(share, s[0]), s.shape)), lax.gt(s, _like(s, 0)))
        rank = reductions.sum(alive, dtype=dtypes.default_int_dtype())
        safe = arithmetic.select(alive, s, _like(s, 1))
        weights = lax.convert_element_type(arithmetic.select(alive, lax.div(_like(s, 1), safe), _like(s, 0)), a.dtype)
        projected = _matmul(conjugate_transpose(u), b, precision="highest")
        scaled = lax.mul(projected, broadcast_to(lax.expand_dims(weights, (1,)), projected.shape))
        x = _matmul(conjugate_transpose(vh), scaled, precision="highest")
    rest = lax.sub(b, _matmul(a, x, precision="highest"))
    resid = reductions.sum(squared_modulus(rest), axis=0)
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


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def _pinv(a: Array, rtol: Array, hermitian: bool) -> Array:
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    limit = lax.mul(lax.expand_dims(rtol, (rtol.ndim,)), s[..., :1])
    keep = lax.gt(s, broadcast_to(limit, s.shape))
    safe = arithmetic.select(keep, s, _like(s, 1))
    weights = arithmetic.select(keep, lax.div(_like(s, 1), safe), _like(s, 0))
    scaled = lax.mul(conjugate_transpose(vh), lax.convert_element_type(
        broadcast_to(lax.expand_dims(weights, (weights.ndim - 1,)), conjugate_transpose(vh).shape), a.dtype))
    return _matmul(scaled, conjugate_transpose(u), precision="highest")


@_pinv.defjvp
def _pinv_jvp(hermitian, primals, tangents):
    """Source: Golub and Pereyra, "The differentiation of pseudo-inverses", SIAM J. Numer. Anal. 10(2), 1973."""
    a, rtol = primals
    da = tangents[0]
    p = _pinv(a, rtol, hermitian)
    mm = functools.partial(_matmul, precision="highest")
    m, n = a.shape[-2:]
    dah = conjugate_transpose(da)
    rows = lax.sub(broadcast_to(eye(m, dtype=a.dtype), (*a.shape[:-2], m, m)), mm(a, p))
    columns = lax.sub(broadcast_to(eye(n, dtype=a.dtype), (*a.shape[:-2], n, n)), mm(p, a))
    out = lax.neg(mm(mm(p, da), p))
    # products of two p may overflow or vanish where the result does not: they are taken in units of the largest number of p
    unit = largest(p)
    unit = lax.expand_dims(arithmetic.select(lax.gt(unit, _like(unit, 0)), unit, _like(unit, 1)), (p.ndim - 2, p.ndim - 1)).astype(p.dtype)
    q, dah = lax.div(p, broadcast_to(unit, p.shape)), lax.mul(dah, broadcast_to(unit, dah.shape))
    rest = lax.add(mm(mm(q, conjugate_transpose(q)), mm(dah, rows)), mm(mm(columns, dah), mm(conjugate_transpose(q), q)))
    return p, lax.add(out, lax.mul(rest, broadcast_to(unit, rest.shape)))


def pinv(a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *, rcond: ArrayLike | None = None) -> Array:
    """Pseudo-inverse of Moore and Penrose.

    Args:
      a: matrices, ``(..., m, n)``.
      rtol: singular values up to this share of the largest count as 0; by default 10 epsilon times ``max(m, n)``. An array is
        broadcast against the leading axes of ``a``.
      hermitian: ``a`` is hermitian, which is faster. Of other matrices the hermitian part is taken, as by `eigh`.
      rcond: older name of ``rtol``.

    Raises:
      ValueError: both ``rtol`` and ``rcond`` are given, or their shape does not fit.

    Source: `numpy.linalg.pinv`.

    >>> jnp.round(jnp.linalg.pinv(jnp.array([[2.], [0.]])), 3)
    Array([[0.5, 0. ]], dtype=float32)
    """
    if rcond is not None:
        if rtol is not None:
            raise ValueError("pinv: only one of rtol and rcond may be specified.")
        rtol = rcond
    a = as_matrices("pinv", a, bool(hermitian), narrow=True)
    m, n = a.shape[-2:]
    if m == 0 or n == 0:
        return lax.full((*a.shape[:-2], n, m), 0, a.dtype)
    real_dtype = np.dtype(dtypes.to_floating_dtype(a.dtype))
    share = real_dtype.type(10 * max(m, n) * float(dtypes.finfo(a.dtype).eps)) if rtol is None else rtol
    if isinstance(share, (list, tuple)):
        share = asarray(share)
    share, = promote_dtypes_inexact(share)
    if np.ndim(share):
        a = broadcast_to(a, (*broadcast_shape("pinv", a.shape[:-2], np.shape(share)), m, n))
    return _pinv_within(a, as_array(share).astype(real_dtype), bool(hermitian))


@inlined(static_argnames=("hermitian",))
def _pinv_within(a, share, hermitian):
    # the derivative, too, is that of the hermitian part
    return _pinv(symmetrize(a) if hermitian else a, broadcast_to(share, a.shape[:-2]), hermitian)
