"""Functions of sampled data: convolution, interpolation, gradients, integrals, unwrapping, differences."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.exceptions import AxisError

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax
from . import arithmetic, reductions, running
from .joining import concatenate
from .promotion import (
    FLOAT32,
    as_array,
    broadcast_shape,
    broadcast_to,
    canonical_axes,
    canonical_axis,
    check_arraylike,
    convert,
    evaluating,
    in_float32,
    joined,
    promote_dtypes,
    promote_dtypes_inexact,
    shape_of,
    unwrapped,
)
from .rows import adaptive, operand
from .shaping import flip, moveaxis, ravel
from .sorting import _search
from .taking import take
from .ufuncs import _is_complex, _like, abs as absolute, conj

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

# -- convolution -------------------------------------------------------------------------------------------------------


@inlined(static_argnums=2)
def _convolve(a: Any, v: Any, how: tuple) -> Array:
    name, mode, precision, preferred = how
    correlate_ = name == "correlate"
    check_arraylike(name, a, v)
    if len(shape_of(a)) != 1 or len(shape_of(v)) != 1:
        raise ValueError(f"{name}() only support 1-dimensional inputs.")
    if shape_of(a)[0] == 0 or shape_of(v)[0] == 0:
        raise ValueError(f"{name}: inputs cannot be empty, got shapes {shape_of(a)} and {shape_of(v)}.")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of ['full', 'same', 'valid'], got {mode!r}")
    preferred = None if preferred is None else dtypes.canonicalize_user_dtype(preferred, name)
    a, v = (as_array(x) for x in promote_dtypes_inexact(a, v))
    if correlate_:
        v = conj(v)
    swap = a.shape[0] < v.shape[0]
    if swap:
        a, v = v, a
        if correlate_:
            a, v = flip(a), flip(v)
    kernel = v if correlate_ else flip(v)
    n = v.shape[0]
    pads = {"full": (n - 1, n - 1), "same": (n // 2, n - n // 2 - 1), "valid": (0, 0)}[mode]
    if correlate_ and swap:
        pads = pads if mode != "same" else (n - n // 2 - 1, n // 2)
    options = {} if preferred is None else {"preferred_element_type": preferred}
    out = lax.conv_general_dilated(lax.reshape(a, (1, 1, a.shape[0])), lax.reshape(kernel, (1, 1, n)), (1,), (pads,),
                                   precision=precision, **options)
    return lax.reshape(out, (out.shape[-1],))


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full", *, precision: PrecisionLike = None,
             preferred_element_type: DTypeLike | None = None) -> Array:
    """Convolution of two vectors.

    Args:
      a, v: vectors.
      mode: "full" (all overlaps), "same" (the length of the longer one) or "valid" (full overlaps only).
      precision, preferred_element_type: as for `jax.numpy.dot`.

    Source: `numpy.convolve`.

    >>> jnp.convolve(jnp.array([1, 2, 3]), jnp.array([1, 1]))
    Array([1., 3., 5., 3.], dtype=float32)
    """
    return _convolve(a, v, ("convolve", mode, precision, preferred_element_type))


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid", *, precision: PrecisionLike = None,
              preferred_element_type: DTypeLike | None = None) -> Array:
    """Cross-correlation of two vectors, the second conjugated; arguments as for `convolve`. Source: `numpy.correlate`.

    >>> jnp.correlate(jnp.array([1, 2, 3]), jnp.array([0, 1]))
    Array([2., 3.], dtype=float32)
    """
    return _convolve(a, v, ("correlate", mode, precision, preferred_element_type))


# -- interpolation -----------------------------------------------------------------------------------------------------

def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | str | None = None,
           right: ArrayLike | str | None = None, period: ArrayLike | None = None) -> Array:
    """Piecewise linear interpolation.

    Args:
      x: where.
      xp: increasing vector of abscissas.
      fp: ordinates.
      left, right: results outside of ``xp``: a number, "extrapolate", or the nearest ordinate if None.
      period: of the abscissas; then they need not be sorted.

    Raises:
      ValueError: shapes that do not fit, or a period of 0.

    Source: `numpy.interp`.

    >>> jnp.interp(2.5, jnp.array([1., 2., 3.]), jnp.array([0., 10., 30.]))
    Array(20., dtype=float32)
    """
    static = tuple(s if isinstance(s, str) else None for s in (left, right))
    for s in static:
        if s not in (None, "extrapolate"):
            raise ValueError(f"the only valid string value of `left` and `right` is 'extrapolate', but got: {s!r}")
    check_arraylike("interp", x, xp, fp)
    if len(shape_of(xp)) != 1 or shape_of(xp) != shape_of(fp):
        raise ValueError(f"jax.numpy.interp: xp and fp must be vectors of one length, got shapes {shape_of(xp)} and {shape_of(fp)}")
    values = tuple(None if isinstance(s, str) else s for s in (left, right))
    return _interp(x, xp, fp, values[0], values[1], period, static)


@inlined(static_argnums=(6,))
def _interp(x, xp, fp, left, right, period, static):
    x, xp = (as_array(v) for v in promote_dtypes_inexact(x, xp))
    fp = as_array(promote_dtypes(*promote_dtypes_inexact(fp), x, xp)[0])  # as fine as what it is weighed with
    if _is_complex(x):
        raise ValueError("jnp.interp: complex x values not supported.")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
    if fp.dtype == np.float16:  # where differences and slopes overflow
        dtype, _ = joined(fp, *[v for v in (left, right) if v is not None])
        left, right = (v if v is None or dtypes.dtype(v) != np.float16 else convert(v, FLOAT32) for v in (left, right))
        return convert(_interpolated(*[convert(v, FLOAT32) for v in (x, xp, fp)], left, right, static), dtype)
    return _interpolated(x, xp, fp, left, right, static)


def _interpolated(x, xp, fp, left, right, static):
    xp, fp = lax.optimization_barrier((xp, fp))  # else XLA computes an end point anew for each element of x
    n = xp.shape[0]
    i = arithmetic.clip(_search(xp, x, "right", np.dtype(np.int32)), 1, max(n - 1, 1)) if n > 1 else lax.full(
        x.shape, 1, np.int32)
    before = lax.sub(i, np.int32(1))
    slope, start, base = _segments(xp, fp) if n > 1 else (lax.full_like(fp, 0), fp, xp)
    slope, start, base = lax.optimization_barrier((slope, start, base))
    distance = convert(lax.sub(x, take(base, before, mode="clip")), fp.dtype)
    out = lax.add(take(start, before, mode="clip"), lax.mul(take(slope, before, mode="clip"), distance))
    if static[0] != "extrapolate":
        out = arithmetic.where(lax.lt(x, xp[0]), fp[0] if left is None else left, out)
    if static[1] != "extrapolate":
        out = arithmetic.where(lax.gt(x, xp[n - 1]), fp[n - 1] if right is None else right, out)
    return out


def _segments(xp, fp):
    """Slope, first ordinate and first abscissa of each segment; one of no length has slope 0."""
    width, rise = lax.sub(xp[1:], xp[:-1]), lax.sub(fp[1:], fp[:-1])
    tiny = lax.le(lax.abs(width), _like(width, np.spacing(np.finfo(np.float64).eps)
                                        if width.dtype == np.float64 else np.spacing(np.float32(np.finfo(np.float32).eps))))
    safe = convert(arithmetic.select(tiny, _like(width, 1), width), fp.dtype)
    slope = arithmetic.select(tiny, _like(rise, 0), lax.div(rise, safe))
    return slope, fp[:-1], xp[:-1]


def _periodic(x, xp, fp, period):
    period = lax.abs(convert(as_array(period), x.dtype))
    x, xp = arithmetic.remainder(x, period), arithmetic.remainder(xp, period)
    xp, fp = lax.sort_key_val(xp, fp) if not _is_complex(fp) else _sorted_pair(xp, fp)
    xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, concatenate([fp[-1:], fp, fp[:1]])


def _sorted_pair(xp, fp):
    order = lax.sort((xp, lax.iota(np.int32, xp.shape[0])), 0)[1]
    return take(xp, order, mode="clip"), take(fp, order, mode="clip")


# -- gradients and integrals -------------------------------------------------------------------------------------------

@inlined(static_argnames=("axis", "edge_order"))
def gradient(f: ArrayLike, *varargs: Any, axis: int | Sequence[int] | None = None,
             edge_order: int | None = None) -> Array | list[Array]:
    """Central differences, one-sided at the ends.

    Args:
      f: array.
      varargs: distances between samples: one number for all axes, or for each axis a number or the coordinates.
      axis: along which; all by default.
      edge_order: 1 (default) for differences of two samples at the ends, 2 for those of three, exact for parabolas.

    Returns:
      an array, or a list with one an axis.

    Raises:
      ValueError: fewer than ``edge_order + 1`` samples along an axis, or another ``edge_order``.

    Source: `numpy.gradient`.

    >>> jnp.gradient(jnp.array([0., 1., 4., 9.]))
    Array([1., 2., 4., 5.], dtype=float32)
    """
    order = 1 if edge_order is None else edge_order
    if order not in (1, 2):
        raise ValueError(f"jnp.gradient: edge_order must be 1 or 2, got {edge_order!r}")
    check_arraylike("gradient", f, *varargs)
    f = as_array(f)
    axes = canonical_axes(axis, f.ndim)
    if any(f.shape[d] < order + 1 for d in axes):
        raise ValueError(f"jax.numpy.gradient: edge_order={order} needs {order + 1} elements along each of axes {axes}, got shape "
                         f"{f.shape}")
    if len(varargs) == 0:
        f = as_array(*promote_dtypes_inexact(f))
        steps: list = [1.0] * len(axes)
    elif len(varargs) in (1, len(axes)):
        steps = [unwrapped(h) for h in varargs] * (len(axes) // len(varargs))
    else:
        raise TypeError(f"Invalid number of spacing arguments: {len(varargs)} for axis={axis}")
    f, *steps = map(as_array, promote_dtypes_inexact(f, *steps))
    if f.dtype == np.float16:  # where differences overflow
        out = [in_float32(lambda f, h, d=d: _gradient(f, h, d, order), f, h) for h, d in zip(steps, axes)]
    else:
        out = [_gradient(f, h, d, order) for h, d in zip(steps, axes)]
    return out[0] if len(out) == 1 else out


def _edge(parts, near, far):
    """The slope at the first of three samples, at distances ``near`` and ``far`` one after the other; negative at the end."""
    total = lax.add(near, far)
    two = lax.add(near, near)
    weights = (lax.neg(lax.div(lax.add(two, far), lax.mul(near, total))), lax.div(total, lax.mul(near, far)),
               lax.neg(lax.div(near, lax.mul(far, total))))
    terms = [lax.mul(x, broadcast_to(w, x.shape)) for x, w in zip(parts, weights)]
    return lax.add(lax.add(terms[0], terms[1]), terms[2])


def _gradient(f, h, axis, order):
    n = f.shape[axis]
    part = lambda lo, hi: lax.slice_in_dim(f, lo, hi, axis=axis)
    if len(shape_of(h)) == 0:
        ends = [lax.div(lax.sub(part(1, 2), part(0, 1)), h), lax.div(lax.sub(part(n - 1, n), part(n - 2, n - 1)), h)]
        if order == 2:
            back = lax.neg(h)
            ends = [_edge([part(i, i + 1) for i in (0, 1, 2)], h, h),
                    _edge([part(n - i, n - i + 1) for i in (1, 2, 3)], back, back)]
        middle = lax.div(lax.sub(part(2, n), part(0, n - 2)), lax.mul(h, _like(f, 2)))
        return concatenate([ends[0], middle, ends[1]], axis)
    if shape_of(h) != (n,):
        raise ValueError(f"gradient: coordinates of shape {shape_of(h)} do not fit the {n} samples along axis {axis}")
    d = lax.sub(h[1:], h[:-1])
    line = lambda v: lax.reshape(v, tuple(v.shape[0] if i == axis else 1 for i in range(f.ndim)))
    a, b = line(d[:-1]), line(d[1:])
    first, last = line(d[:1]), line(d[-1:])
    grow = lambda v, like: broadcast_to(v, like.shape)
    lo, mid, hi = part(0, n - 2), part(1, n - 1), part(2, n)
    total = lax.add(a, b)
    middle = lax.add(lax.add(lax.mul(grow(lax.neg(lax.div(b, lax.mul(a, total))), lo), lo),
                             lax.mul(grow(lax.div(lax.sub(b, a), lax.mul(a, b)), mid), mid)),
                     lax.mul(grow(lax.div(a, lax.mul(b, total)), hi), hi))
    if order == 2:
        begin = _edge([part(i, i + 1) for i in (0, 1, 2)], first, line(d[1:2]))
        end = _edge([part(n - i, n - i + 1) for i in (1, 2, 3)], lax.neg(last), lax.neg(line(d[-2:-1])))
        return concatenate([begin, middle, end], axis)
    begin, end = lax.sub(part(1, 2), part(0, 1)), lax.sub(part(n - 1, n), part(n - 2, n - 1))
    return concatenate([lax.div(begin, grow(first, begin)), middle, lax.div(end, grow(last, end))], axis)


@inlined(static_argnames=("axis",))
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Integral by the trapezoidal rule.

    Args:
      y: values.
      x: where they were taken; at distances ``dx`` if None.
      dx: distance, or distances that broadcast against the sums of neighbours.
      axis: along which.

    Source: `numpy.trapezoid`.

    >>> jnp.trapezoid(jnp.array([0., 1., 2.]), dx=0.5)
    Array(1., dtype=float32)
    """
    check_arraylike("trapezoid", y, dx if x is None else x)
    if x is None:
        y, = promote_dtypes_inexact(y)
    else:
        y, x = promote_dtypes_inexact(y, x)
    if joined(y, dx if x is None else x)[0] == np.float16:  # where sums of two overflow
        wide = lambda v: v if v is None or type(v) in (int, float) else convert(v, FLOAT32)
        return convert(_trapezoid(wide(y), wide(x), wide(dx), axis), np.float16)
    return _trapezoid(y, x, dx, axis)


def _trapezoid(y, x, dx, axis):
    if x is None:
        if shape_of(dx):
            return _trapezoid_of_steps(y, dx, axis)
        y = moveaxis(as_array(y), axis, -1)
        if y.shape[-1] > 1:
            return (reductions.sum(y[..., 1:-1], axis=-1) + (0.5 * y[..., 0] + 0.5 * y[..., -1])) * dx
        width: Any = dx
    else:
        y, x = as_array(y), as_array(x)
        if x.ndim > 1:
            x = moveaxis(x, axis, -1)
        y = moveaxis(y, axis, -1)
        width = x[..., 1:] - x[..., :-1]
    shape = broadcast_shape("trapezoid", shape_of(width), (*y.shape[:-1], max(y.shape[-1] - 1, 0)))
    if shape_of(width):
        width = broadcast_to(width, shape)
    return 0.5 * reductions.sum(width * (y[..., 1:] + y[..., :-1]), axis=-1)


def _trapezoid_of_steps(y, dx, axis):
    y, dx = (as_array(v) for v in promote_dtypes_inexact(y, dx))
    axis = canonical_axis(axis, y.ndim)
    n = y.shape[axis]
    sums = lax.add(lax.slice_in_dim(y, 1, n, axis=axis), lax.slice_in_dim(y, 0, max(n - 1, 0), axis=axis))
    return 0.5 * reductions.sum(broadcast_to(dx, broadcast_shape("trapezoid", dx.shape, sums.shape)) * sums, axis=axis)


_TURN = 6.283185307179586


def unwrap(p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = _TURN) -> Array:
    """``p`` with multiples of ``period`` added so that no step is larger than half of it.

    Args:
      p: array.
      discont: steps up to this size are left; at least half the period.
      axis: along which.
      period: of the values.

    Raises:
      ValueError: ``p`` is complex.

    Source: `numpy.unwrap`.

    >>> jnp.unwrap(jnp.array([0., 3., 6.5 - 2 * jnp.pi]))
    Array([0.       , 3.       , 0.2168147], dtype=float32)
    """
    check_arraylike("unwrap", p, period)
    if discont is None and period is _TURN:
        return _unwrap_turns(p, axis)
    whole = dtypes.issubdtype(dtypes.result_type(unwrapped(p), unwrapped(period)), np.integer)
    return _unwrap(p, discont, operand(period, p) if type(period) is float and evaluating() else period, axis, whole)


@inlined(static_argnums=1)
def _unwrap_turns(p, axis):
    return _unwrap(p, None, _TURN, axis, False)


@inlined(static_argnums=(3, 4))
def _unwrap(p, discont, period, axis, whole):
    p = as_array(p)
    if dtypes.issubdtype(p.dtype, np.complexfloating):
        raise ValueError("jnp.unwrap does not support complex inputs.")
    length = p.shape[canonical_axis(axis, p.ndim, "unwrap: axis", AxisError)]
    p, period = map(as_array, (promote_dtypes if whole else promote_dtypes_inexact)(p, period))
    if length == 0:
        return p
    interval = period / 2 if dtypes.issubdtype(p.dtype, np.inexact) else period // 2
    step = diff(p, axis=axis)
    wrapped = arithmetic.remainder(step + interval, period) - interval
    edge = lax.bitwise_and(wrapped == -interval, step > 0)
    wrapped = arithmetic.where(edge, interval, wrapped)
    correction = wrapped - step
    limit = interval if discont is None else arithmetic.where(discont > interval, discont, interval)
    correction = arithmetic.where(absolute(step) < limit, np.zeros((), correction.dtype)[()], correction)
    first = lax.slice_in_dim(p, 0, 1, axis=canonical_axis(axis, p.ndim))
    rest = lax.slice_in_dim(p, 1, p.shape[axis], axis=canonical_axis(axis, p.ndim))
    return concatenate([first, rest + running.cumsum(correction, axis=axis)], axis)


# -- differences ---------------------------------------------------------------------------------------------------------

def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None,
         append: ArrayLike | None = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times over.

    Args:
      a: array with at least one axis; of booleans, "not equal" takes the place of the difference.
      n: how often; 0 returns ``a``.
      axis: axis to take differences along.
      prepend, append: values put before and after ``a`` first; numbers stand for one slice.

    Raises:
      ValueError: ``n`` is negative, ``a`` is a number, or ``axis`` is out of bounds.

    Source: `numpy.diff`.

    >>> jnp.diff(jnp.array([1, 4, 9, 16]), n=2)
    Array([2, 2], dtype=int32)
    """
    if prepend is None and append is None and type(n) is int and n > 0:
        return _diff_along(a, n, axis)
    n = integer("diff: n", n)
    check_arraylike("diff", a)
    a, prepend, append = map(unwrapped, (a, prepend, append))
    if n == 0:
        return as_array(a)
    if n < 0:
        raise ValueError(f"jax.numpy.diff: n must be at least 0, got {n}")
    if prepend is None and append is None:
        return _diff_along(a, n, axis)
    shape, axis = shape_of(a), _axis_of_differences(a, axis)
    slice_shape = shape[:axis] + (1,) + shape[axis + 1:]
    return _diff(concatenate([x if shape_of(x) else broadcast_to(x, slice_shape) for x in (prepend, a, append) if x is not None], axis), n, axis)


def _axis_of_differences(a: Any, axis: int) -> int:
    if not shape_of(a):
        raise ValueError("diff requires input that is at least one dimensional; got a number")
    return canonical_axis(axis, len(shape_of(a)))


@adaptive("integers", (1, 2))
def _diff_along(a, n, axis):
    check_arraylike("diff", a)
    a = unwrapped(a)
    return _diff(a, n, _axis_of_differences(a, axis))


def _diff(a, n, axis):
    for _ in range(n):
        length = shape_of(a)[axis]
        later = lax.slice_in_dim(a, 1, length, axis=axis) if length else a
        earlier = lax.slice_in_dim(a, 0, length - 1, axis=axis) if length else a
        a = lax.ne(later, earlier) if lax.dtype(a) == np.bool_ else lax.sub(later, earlier)
    return a


def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours of the flattened array, with values put before and after.

    Args:
      ary: array of any shape.
      to_end, to_begin: values of the same kind to put after and before.

    Returns:
      a 1-d array. Source: `numpy.ediff1d`.

    >>> jnp.ediff1d(jnp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    check_arraylike("ediff1d", ary)
    result = _diff_of_all(ary)
    if to_begin is None and to_end is None:
        return result
    parts = [result]
    if to_begin is not None:
        check_arraylike("ediff1d", to_begin)
        parts.insert(0, ravel(to_begin).astype(result.dtype))
    if to_end is not None:
        check_arraylike("ediff1d", to_end)
        parts.append(ravel(to_end).astype(result.dtype))
    return concatenate(parts)


@adaptive("integers")
def _diff_of_all(a):
    return _diff(ravel(a), 1, 0)
