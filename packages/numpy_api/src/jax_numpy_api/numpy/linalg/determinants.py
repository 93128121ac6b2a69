"""Determinants and their logarithms.

Derivatives are given in closed form, as the factorisation that the value comes from has none where the matrix is singular.
"""
from __future__ import annotations

import functools
from typing import Callable, NamedTuple

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.custom_jvp import custom_jvp

from ... import lax
from .. import arithmetic, reductions
from ..creation import eye
from ..linear_algebra import matmul as _matmul, trace as _trace
from ..promotion import broadcast_to
from ..shaping import diagonal as _diagonal, matrix_transpose
from ..ufuncs import _is_complex, _like, abs as _abs
from .matrices import as_matrices, conjugate_transpose, identity_like
from .systems import solve_factored, solve_matrices


class SlogdetResult(NamedTuple):
    """What `slogdet` returns: the determinant is ``sign * exp(logabsdet)``.

    >>> jnp.linalg.slogdet(-jnp.eye(3))
    SlogdetResult(sign=Array(-1., dtype=float32), logabsdet=Array(0., dtype=float32))
    """

    sign: Array
    logabsdet: Array


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
    total = _trace(solve_matrices(a, da), axis1=-2, axis2=-1)
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
    a = as_matrices("slogdet", a, True)
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
    inverse = solve_factored(a, factors, order, identity_like(a))
    return lax.mul(inverse, broadcast_to(lax.expand_dims(det, (det.ndim, det.ndim + 1)), inverse.shape))


def _any_adjugate(a: Array) -> Array:
    """From the singular values, each replaced by the product of the others."""
    u, s, vh = lax.linalg.svd(a, full_matrices=True)
    n = a.shape[-1]
    wide = broadcast_to(lax.expand_dims(s, (s.ndim - 1,)), (*s.shape[:-1], n, n))
    others = arithmetic.select(broadcast_to(eye(n, dtype=bool), wide.shape), _like(s, 1), wide)
    products = reductions.prod(others, axis=-1)
    phase = lax.mul(_det(lax.stop_gradient(u)), _det(lax.stop_gradient(vh)))
    scaled = lax.mul(conjugate_transpose(vh), lax.convert_element_type(broadcast_to(lax.expand_dims(products, (products.ndim - 1,)), a.shape),
                                                      a.dtype))
    out = _matmul(scaled, conjugate_transpose(u), precision="highest")
    return lax.mul(out, broadcast_to(lax.expand_dims(phase, (phase.ndim, phase.ndim + 1)), out.shape))


def _cross(a: Array, b: Array, c: Array, d: Array) -> Array:
    """``a d - b c``, which is 0 where the rounded products are equal; fused multiplication and addition would leave the error of one."""
    x, y = lax.mul(a, d), lax.mul(b, c)
    return arithmetic.select(lax.eq(x, y), lax.mul(x, _like(x, 0)), lax.sub(x, y))  # that is NaN where both are infinite


def _scalar_product(x: list, y: list) -> Array:
    return lax.add(lax.add(lax.mul(x[0], y[0]), lax.mul(x[1], y[1])), lax.mul(x[2], y[2]))


def _scale(x: Array) -> float:
    """A power of two; products of two numbers that were divided by it add up without overflow."""
    return 2.0 ** (np.log2(float(dtypes.finfo(x.dtype).max)) // 2 + 3)


def _scales(x: Array, fits: Array) -> tuple[Array, Array]:
    """What to multiply numbers like ``x`` by before the products and after them. It is 1 where products fit, and so no constant: XLA would multiply
    two constants first, which overflows. Numbers with units (unxt) are compared with none, and have no rule for a barrier."""
    scale, one = _scale(x), _like(lax.real(x) if _is_complex(x) else x, 1)
    return arithmetic.select(fits, one, _like(one, 1 / scale)), arithmetic.select(fits, one, _like(one, scale))


def _scaled(x: Array, *factors: Array) -> Array:
    if _is_complex(x):
        return lax.complex(_scaled(lax.real(x), *factors), _scaled(lax.imag(x), *factors))
    return functools.reduce(lax.mul, factors, x)


def _finite(x: Array) -> Array:
    return lax.bitwise_and(lax.is_finite(lax.real(x)), lax.is_finite(lax.imag(x))) if _is_complex(x) else lax.is_finite(x)


@custom_jvp
def _det_of_two(a: Array, b: Array, c: Array, d: Array) -> Array:
    direct = _cross(a, b, c, d)
    down, up = _scales(a, fits := _finite(direct))
    return arithmetic.select(fits, direct, _scaled(_cross(*[_scaled(x, down) for x in (a, b, c, d)]), up, up))


@_det_of_two.defjvp
def _det_of_two_jvp(primals, tangents):
    (a, b, c, d), (da, db, dc, dd) = primals, tangents
    return _det_of_two(*primals), lax.sub(lax.add(lax.mul(da, d), lax.mul(dd, a)), lax.add(lax.mul(db, c), lax.mul(dc, b)))


def _minors(det_of_two: Callable[..., Array], x: list, y: list) -> list:
    return [det_of_two(x[i], x[j], y[i], y[j]) for i, j in ((1, 2), (2, 0), (0, 1))]


def _term(x: Array, minor: Array, small: Array, down: Array, up: Array) -> tuple[Array, Array]:
    """``x minor``, and that times ``down**3``, where ``small`` is ``minor * down**2``. What underflows on the way is nothing beside a
    product that overflows."""
    lower, whole = _scaled(x, down), lax.mul(x, small)
    fits, whole_fits = _finite(minor), _finite(whole)
    found = arithmetic.select(whole_fits, whole, lax.mul(lower, small))
    back = _scaled(found, up, up)
    term = arithmetic.select(fits, lax.mul(x, minor), arithmetic.select(whole_fits, back, _scaled(back, up)))
    near = _scaled(lax.mul(lower, _scaled(minor, down)), down)
    return term, arithmetic.select(fits, near, arithmetic.select(whole_fits, _scaled(found, down), found))


@custom_jvp
def _det_of_three(x: list, y: list, z: list) -> Array:
    minors = _minors(_cross, y, z)
    down, up = _scales(x[0], _finite(_scalar_product(x, minors)))
    small = _minors(_cross, *[[_scaled(v, down) for v in row] for row in (y, z)])
    terms, smaller = zip(*[_term(v, m, s, down, up) for v, m, s in zip(x, minors, small)])
    direct, value = (lax.add(lax.add(t[0], t[1]), t[2]) for t in (terms, smaller))
    return arithmetic.select(_finite(direct), direct, _scaled(value, up, up, up))


@_det_of_three.defjvp
def _det_of_three_jvp(primals, tangents):
    x, y, z = primals
    terms = [_scalar_product(t, _minors(_det_of_two, *rows)) for t, rows in zip(tangents, ((y, z), (z, x), (x, y)))]
    return _det_of_three(*primals), lax.add(lax.add(terms[0], terms[1]), terms[2])


@inlined()
def det(a: ArrayLike) -> Array:
    """Determinants of square matrices. Source: `numpy.linalg.det`; LU factorisation, and in closed form up to 3 by 3.

    >>> jnp.linalg.det(jnp.array([[1., 2.], [3., 4.]]))
    Array(-2., dtype=float32)
    """
    a = as_matrices("det", a, True, narrow=True)
    n = a.shape[-1]
    if n == 0:
        return lax.full(a.shape[:-2], 1, a.dtype)
    if n > 3:
        return _det(a)
    entries = [[a[..., i, j] for j in range(n)] for i in range(n)]
    if n == 3:
        return _det_of_three(*entries)
    return _det_of_two(*entries[0], *entries[1]) if n == 2 else entries[0][0]
