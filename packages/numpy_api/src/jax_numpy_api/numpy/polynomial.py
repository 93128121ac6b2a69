"""Polynomials as vectors of coefficients, the highest power first."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from . import arithmetic, reductions
from .arithmetic import power
from .creation import ones, zeros
from .joining import concatenate
from .linalg import eigvals, inv, lstsq
from .linear_algebra import dot
from .promotion import (
    as_array,
    broadcast_to,
    check_arraylike,
    concrete,
    narrowed,
    promote_dtypes,
    promote_dtypes_inexact,
)
from .selection import trim_zeros
from .shaping import atleast_1d, roll
from .signal import convolve
from .ufuncs import sqrt


def _coefficients(name: str, *args: Any, inexact: bool = True) -> list[Array]:
    check_arraylike(name, *args)
    promoted = promote_dtypes_inexact(*args) if inexact else promote_dtypes(*args)
    return [atleast_1d(as_array(x)) for x in promoted]


@inlined(static_argnames=("unroll",))
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int | None = None) -> Array:
    """The polynomial's values, by Horner's rule.

    Args:
      p: coefficients; further axes broadcast against ``x``.
      x: where.
      unroll: how many steps of the loop are written out; by default all, if there are few.

    Raises:
      TypeError: ``p`` is a scalar.

    Source: `numpy.polyval`.

    >>> jnp.polyval(jnp.array([1, 2, 3]), 10)
    Array(123, dtype=int32)
    """
    check_arraylike("polyval", p, x)
    p, x = (as_array(v) for v in promote_dtypes(p, x))
    x = lax.convert_element_type(x, x.dtype)
    shape = joint_shape(p.shape[1:], x.shape)
    x = broadcast_to(x, shape)
    if p.ndim == 0:
        raise TypeError("jax.numpy.polyval: p must have an axis of coefficients, got a scalar")
    n = p.shape[0]
    if n == 0:
        return lax.full(shape, 0, x.dtype)
    y = broadcast_to(p[0], shape)  # not 0 * x, which is NaN for infinity
    if n <= (unroll or 16) or n <= 64:
        for i in range(1, n):
            y = lax.add(lax.mul(y, x), broadcast_to(p[i], shape))
        return y
    return lax.scan(lambda y, c: (lax.add(lax.mul(y, x), broadcast_to(c, shape)), None), y, p[1:], unroll=unroll or 16)[0]


@inlined
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Sum of two polynomials.

    Args:
      a1, a2: coefficients, the highest power first. Further axes hold several polynomials; beside such a vector
        broadcasts as NumPy's arrays do, along the last axis.

    Source: `numpy.polyadd`.

    >>> jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 0]))
    Array([1, 1, 2], dtype=int32)
    """
    return _aligned(lax.add, *_coefficients("polyadd", a1, a2, inexact=False))


@inlined
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Difference of two polynomials.

    Args:
      a1, a2: coefficients, the highest power first. Further axes hold several polynomials; beside such a vector
        broadcasts as NumPy's arrays do, along the last axis.

    Source: `numpy.polysub`.

    >>> jnp.polysub(jnp.array([1, 2]), jnp.array([1, 1]))
    Array([0, 1], dtype=int32)
    """
    return _aligned(lax.sub, *_coefficients("polysub", a1, a2, inexact=False))


def _aligned(op: Any, a: Array, b: Array) -> Array:
    n, common = max(a.shape[0], b.shape[0]), min(a.shape[0], b.shape[0])
    if a.ndim == b.ndim:
        zero = lax.full_like(a, 0, shape=())
        return op(*(lax.pad(v, zero, ((n - v.shape[0], 0, 0), *[(0, 0, 0)] * (v.ndim - 1))) for v in (a, b)))
    low = [v[v.shape[0] - common:] for v in (a, b)]
    shape = joint_shape(*[v.shape for v in low])
    low = op(*[broadcast_to(v, shape) for v in low])
    high = [v[:v.shape[0] - common] for v in (a, b)]  # the powers that one of them has
    high = [broadcast_to(lax.expand_dims(v, range(v.ndim, len(shape))), (v.shape[0], *shape[1:])) for v in high]
    high = [v if v.shape[0] else lax.full((n - common, *shape[1:]), 0, v.dtype) for v in high]
    return concatenate([op(*high), low])


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """Product of two polynomials.

    Args:
      a1, a2: coefficients.
      trim_leading_zeros: leave out leading zeros first; needs known values.

    Source: `numpy.polymul`.

    >>> jnp.polymul(jnp.array([1, 1]), jnp.array([1, -1]))
    Array([ 1.,  0., -1.], dtype=float32)
    """
    a1, a2 = _coefficients("polymul", a1, a2)
    if trim_leading_zeros:
        a1, a2 = (_or_zero(trim_zeros(v, "f")) for v in (a1, a2))
    return convolve(_or_zero(a1), _or_zero(a2))


def _or_zero(v: Array) -> Array:
    return v if v.shape[0] else zeros((1,), v.dtype)


def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple:
    """Quotient and remainder of two polynomials, by long division.

    Args:
      u, v: coefficients.
      trim_leading_zeros: leave out leading zeros of the remainder; needs known values.

    Source: `numpy.polydiv`.

    >>> jnp.polydiv(jnp.array([1., 3., 2.]), jnp.array([1., 1.]))
    (Array([1., 2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    u, v = _coefficients("polydiv", u, v)
    n = max(u.shape[0] - v.shape[0] + 1, 0)
    rest, quotient = u, []
    for k in range(n):
        factor = lax.div(rest[k], v[0])
        quotient.append(factor)
        rest = rest.at[k:k + v.shape[0]].add(lax.neg(lax.mul(broadcast_to(factor, v.shape), v)))
    q = concatenate([f.reshape(1) for f in quotient]) if quotient else zeros((1,), u.dtype)
    if trim_leading_zeros:
        rest = _or_zero(trim_zeros(rest, "f"))
    return q, rest


@inlined(static_argnames=("m",))
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The ``m``-th derivative of a polynomial. Source: `numpy.polyder`.

    Raises:
      ValueError: ``m`` is negative.

    >>> jnp.polyder(jnp.array([1., 2., 3.]))
    Array([2., 2.], dtype=float32)
    """
    check_arraylike("polyder", p)
    m = integer("polyder: m", m)
    p, = promote_dtypes_inexact(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive")
    if m == 0:
        return as_array(p)
    p = atleast_1d(p)
    n = p.shape[0]
    if n <= m:
        return p[:0]
    powers = np.arange(n - 1, m - 1, -1, dtype=np.float64)
    factors = np.prod([powers - i for i in range(m)], axis=0)
    p = narrowed(p)
    factors = np.expand_dims(factors.astype(p.dtype), tuple(range(1, p.ndim)))
    return lax.mul(p[:-m], broadcast_to(as_array(factors), p[:-m].shape))


@inlined(static_argnames=("m",))
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The ``m``-th integral of a polynomial, with constants of integration ``k`` (0 by default). Source: `numpy.polyint`.

    Raises:
      ValueError: ``m`` is negative; ``k`` has neither one constant nor ``m``. TypeError: ``p`` is a matrix.

    >>> jnp.polyint(jnp.array([2., 2.]))
    Array([1., 2., 0.], dtype=float32)
    """
    k = 0 if k is None else k
    check_arraylike("polyint", p, k)
    m = integer("polyint: m", m)
    p, k = (as_array(v) for v in promote_dtypes_inexact(p, k))
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p, k = atleast_1d(p), atleast_1d(k)
    if p.ndim != 1:
        raise TypeError(f"jax.numpy.polyint: p must be a vector of coefficients, got shape {p.shape}")
    if k.shape[0] == 1:
        k = broadcast_to(k, (m,))
    if k.shape != (m,):
        raise ValueError(f"jax.numpy.polyint: k must be one constant, or one for each of the m={m} integrations, got shape "
                         f"{k.shape}")
    if m == 0:
        return p
    for i in range(m):
        n = p.shape[0]
        divisors = np.arange(n, 0, -1).astype(p.dtype)
        p = concatenate([lax.div(p, as_array(divisors)), k[i:i + 1]])
    return p


@inlined
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with given roots, or the characteristic polynomial of a square matrix.

    Args:
      seq_of_zeros: a vector of roots, or a square matrix.

    Source: `numpy.poly`.

    Raises:
      ValueError: the argument is neither a vector nor a square matrix with elements.

    >>> jnp.poly(jnp.array([1., 2.]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    check_arraylike("poly", seq_of_zeros)
    z = narrowed(*promote_dtypes_inexact(seq_of_zeros))
    z = atleast_1d(as_array(z))
    if z.ndim == 2:
        if z.shape[0] != z.shape[1] or z.shape[0] == 0:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        z = eigvals(z)
    elif z.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if z.shape[0] == 0:
        return ones((), z.dtype)  # as NumPy: a number
    n, zero = z.shape[0], np.zeros((), z.dtype)[()]
    positions = lax.iota(np.int32, n)

    def multiply(out: Array, factor: tuple) -> tuple:
        root, degree = factor
        multiplied = lax.mul(lax.slice(out, (0,), (n,)), broadcast_to(root, (n,)))
        multiplied = lax.select(lax.le(positions, broadcast_to(degree, (n,))), multiplied, lax.full_like(multiplied, 0))  # a root may be infinite
        return lax.sub(out, lax.pad(multiplied, zero, ((1, 0, 0),))), None
    return lax.scan(multiply, lax.pad(ones((1,), z.dtype), zero, ((0, n, 0),)), (z, positions))[0]


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """The roots of a polynomial: eigenvalues of its companion matrix.

    Args:
      p: coefficients.
      strip_zeros: leave out leading and trailing zeros first, which needs known values; without it, roots that are not
        there come as NaN.

    Raises:
      ValueError: ``p`` is no vector.
      ConcretizationTypeError: ``p`` is traced, and ``strip_zeros`` is true.

    Source: `numpy.roots`.

    >>> jnp.sort(jnp.roots(jnp.array([1., -3., 2.])).real)
    Array([1., 2.], dtype=float32)
    """
    check_arraylike("roots", p)
    p, = promote_dtypes_inexact(p)
    p = atleast_1d(as_array(p))
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    dtype = dtypes.to_complex_dtype(p.dtype)
    if p.size < 2:
        return zeros((0,), dtype)
    if not strip_zeros:
        return _companion_roots_padded(p, dtype)
    known = concrete(p)
    if known is None:
        raise errors.ConcretizationTypeError(p, "jax.numpy.roots: the number of roots depends on how many leading coefficients are "
                                             "zero, which a traced p does not tell; pass strip_zeros=False, and the roots that "
                                             "such zeros take away are NaN")
    alive = np.flatnonzero(known)
    if alive.size == 0:
        return zeros((0,), dtype)
    trailing = known.size - 1 - int(alive[-1])
    core = p if alive[0] == trailing == 0 else p[int(alive[0]):int(alive[-1]) + 1]
    found = _companion_roots(core).astype(dtype) if core.size > 1 else zeros((0,), dtype)
    return concatenate([found, zeros((trailing,), dtype)]) if trailing else found


@inlined
def _companion_roots(p: Array) -> Array:
    n = p.shape[0] - 1
    below = np.eye(n, k=-1).astype(p.dtype)
    first = lax.neg(lax.div(p[1:], broadcast_to(p[0], (n,))))
    return eigvals(as_array(below).at[0, :].set(first))


def _companion_roots_padded(p: Array, dtype: Any) -> Array:
    """With leading zeros still there: the polynomial is rolled so that its first coefficient is not zero; what rolls to
    the end makes roots 0, which are then marked NaN."""
    n = p.shape[0]
    alive = lax.ne(p, np.zeros((), p.dtype)[()])
    leading = lax.argmax(alive, 0, np.int32)
    rolled = roll(p, lax.neg(leading))
    found = _companion_roots(rolled).astype(dtype)
    order = lax.sort((lax.neg(lax.abs(found)), lax.iota(np.int32, n - 1)), 0)[1]
    found = found[order]
    keep = lax.lt(lax.iota(np.int32, n - 1), lax.sub(np.int32(n - 1), leading))
    return arithmetic.select(keep, found, np.dtype(dtype).type(complex(np.nan, np.nan)))


@inlined(static_argnames=("N", "increasing"))
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """Matrix of powers of the elements of a vector, one row each, falling unless ``increasing``. Source: `numpy.vander`.

    Raises:
      ValueError: ``x`` is no vector, or ``N`` is negative.

    >>> jnp.vander(jnp.array([1, 2, 3]), 3)
    Array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    check_arraylike("vander", x)
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    n = x.shape[0] if N is None else integer("vander: N", N)
    if not 0 <= n < 2**63:  # of more, numpy.arange gives none
        raise ValueError(f"N must be nonnegative, and a length that an array can have, got {n}")
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    return power(x.reshape(-1, 1), as_array(powers.astype(np.int32 if x.dtype == np.bool_ else x.dtype)).reshape(1, -1))


@inlined(static_argnames=("deg", "full", "cov"))
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: ArrayLike | None = None, full: bool = False,
            w: ArrayLike | None = None, cov: bool | str = False) -> Array | tuple[Array, ...]:
    """The polynomial of degree ``deg`` that fits points best, in the least-squares sense.

    Args:
      x: vector of abscissas.
      y: ordinates, a vector or one column a data set.
      deg: degree.
      rcond: singular values below this share of the largest are ignored; by default the number of points times epsilon.
      full: return also residuals, rank, singular values and ``rcond``.
      w: weights of the residuals.
      cov: return also the covariance of the coefficients; "unscaled" not to scale it by the fit's quality.

    Raises:
      TypeError: shapes or lengths of ``x``, ``y`` and ``w`` do not fit.
      ValueError: ``deg`` is negative, or too few points are left for ``cov``.

    Source: `numpy.polyfit`.

    >>> jnp.round(jnp.polyfit(jnp.array([0., 1., 2.]), jnp.array([1., 3., 5.]), 1), 3)
    Array([2., 1.], dtype=float32)
    """
    check_arraylike("polyfit", x, y)
    deg = integer("polyfit: deg", deg)
    x, y = (as_array(v) for v in promote_dtypes_inexact(x, y))
    if deg < 0:
        raise ValueError(f"jax.numpy.polyfit: deg must be at least 0, got {deg}")
    if x.ndim != 1:
        raise TypeError(f"jax.numpy.polyfit: x must be a vector, got shape {x.shape}")
    if x.size == 0:
        raise TypeError("jax.numpy.polyfit: x has no points; give one at least")
    if y.ndim not in (1, 2):
        raise TypeError(f"jax.numpy.polyfit: y must be a vector or a matrix with a column a data set, got shape {y.shape}")
    if x.shape[0] != y.shape[0]:
        raise TypeError(f"jax.numpy.polyfit: x has {x.shape[0]} points, but y has {y.shape[0]}")
    weights = None
    if w is not None:
        check_arraylike("polyfit", w)
        weights = as_array(w)
        if weights.ndim != 1:
            raise TypeError(f"jax.numpy.polyfit: w must be a vector, got shape {weights.shape}")
        if weights.shape[0] != y.shape[0]:
            raise TypeError(f"jax.numpy.polyfit: w has {weights.shape[0]} weights for {y.shape[0]} points")
    if cov and not full and cov != "unscaled" and x.shape[0] <= deg + 1:
        raise ValueError(f"jax.numpy.polyfit: cov={cov!r} divides by the points left over, and {x.shape[0]} points leave none for "
                         f"deg={deg}; give {deg + 2} or more, or pass cov='unscaled'")
    if rcond is None:
        rcond = x.shape[0] * float(dtypes.finfo(x.dtype).eps)
    lhs, rhs = vander(x, deg + 1), y
    if weights is not None:
        lhs = lhs * weights[:, None]
        rhs = rhs * (weights[:, None] if rhs.ndim == 2 else weights)
    scale = sqrt(reductions.sum(lhs * lhs, axis=0))
    lhs = lhs / scale[None, :]
    c, resids, rank, s = lstsq(lhs, rhs, rcond)
    c = (c.T / scale).T
    if full:
        return c, resids, rank, s, as_array(rcond)
    if not cov:
        return c
    base = inv(dot(lhs.T, lhs)) / (scale[:, None] * scale[None, :])
    factor = 1 if cov == "unscaled" else resids / (x.shape[0] - (deg + 1))
    return (c, base * factor) if y.ndim == 1 else (c, base[:, :, None] * factor)
