"""jnp.pad: an array with something put around it, in all of NumPy's modes."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, cast

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from . import reductions
from .creation import asarray
from .promotion import as_array, broadcast_to, check_arraylike, concrete, convert, evaluating, shape_of, unwrapped
from .rounding import round as rounded
from .rows import Static, adaptive, operand
from .statistics import median
from .taking import take
from .vectorizing import apply_along_axis

_OPTIONS = {
    "constant": {"constant_values"}, "edge": set(), "empty": set(), "linear_ramp": {"end_values"},
    "maximum": {"stat_length"}, "mean": {"stat_length"}, "median": {"stat_length"}, "minimum": {"stat_length"},
    "reflect": {"reflect_type"}, "symmetric": {"reflect_type"}, "wrap": set(),
}


_REPEATING = ("edge", "reflect", "symmetric", "wrap")


def pad(array: ArrayLike, pad_width: int | ArrayLike | Sequence[Any] | Mapping[int, Any],
        mode: str | Callable[..., Any] = "constant", **kwargs: Any) -> Array:
    """``array`` with ``pad_width`` elements put before and after it on each axis.

    Args:
      array: array.
      pad_width: a number, a pair (before, after), or a pair an axis; or a dictionary from axes to these.
      mode: "constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap",
        "empty" (zeros), or a function of a line, its pair of widths, the axis and ``kwargs``, which returns the line.
      constant_values, end_values, stat_length, reflect_type: options of the modes, as for NumPy.

    Raises:
      ValueError: an option that the mode does not have, or negative widths. NotImplementedError: an unknown mode.

    Source: `numpy.pad`.

    >>> jnp.pad(jnp.array([1, 2]), (1, 2), constant_values=9)
    Array([9, 1, 2, 9, 9], dtype=int32)
    >>> jnp.pad(jnp.array([1, 2, 3]), 2, mode="reflect")
    Array([3, 2, 1, 2, 3, 2, 1], dtype=int32)
    """
    check_arraylike("pad", array)
    a = as_array(array)
    widths = _widths(pad_width, a.ndim)
    if callable(mode):
        return _by_function(a, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise NotImplementedError(f"Unimplemented padding mode '{mode}' for np.pad.")
    extra = set(kwargs) - _OPTIONS[mode]
    if extra:
        raise ValueError(f"Unsupported keyword arguments for mode '{mode}': {sorted(extra)}")
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        return _constant(a, widths, kwargs.get("constant_values", 0))
    if mode == "empty":
        return _constant(a, widths, 0)
    if kwargs:
        return _extended(a, widths, mode, kwargs)
    return _extended_at_once(a, Static((mode, *widths)))


@adaptive("always", (1,))
def _extended_at_once(a: Array, how: tuple) -> Array:
    return _extended(a, how[1:], how[0], {})


def _extended(a: Array, widths: Sequence[tuple[int, int]], mode: str, options: Mapping[str, Any]) -> Array:
    """The modes that look at the contents of ``a``."""
    axes = range(a.ndim)
    for axis in reversed(axes) if mode in _REPEATING else axes:  # the order that copies whole rows last
        before, after = widths[axis]
        if not before and not after:
            continue
        n = a.shape[axis]
        if n == 0:
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if mode in _REPEATING:
            a = _by_index(a, axis, n, before, after, mode, options.get("reflect_type", "even"))
        elif mode == "linear_ramp":
            a = _ramp(a, axis, before, after, _per_axis(options.get("end_values", 0), a.ndim)[axis])
        else:
            a = _statistic(a, axis, before, after, mode, options.get("stat_length"))
    return a


def _widths(pad_width: Any, ndim: int) -> list:
    if isinstance(pad_width, dict):
        out = [(0, 0)] * ndim
        for axis, w in pad_width.items():
            out[axis] = (w, w) if isinstance(w, (int, np.integer)) else tuple(w)
        return [(int(x), int(y)) for x, y in out]
    if type(pad_width) is int:
        return [(pad_width, pad_width)] * ndim
    known = np.asarray(concrete(pad_width) if not isinstance(pad_width, (list, tuple)) else pad_width)
    if known.dtype.kind not in "iu":
        raise TypeError(f"`pad_width` must be of integral type, got {pad_width!r}.")
    try:
        if known.ndim == 2 and known.shape[1] == 1:  # which NumPy takes for one number an axis
            raise ValueError
        return [tuple(map(int, p)) for p in np.broadcast_to(known, (ndim, 2))]
    except ValueError:
        raise ValueError(f"jnp.pad: pad_width={pad_width!r} of shape {known.shape} does not broadcast to ({ndim}, 2)") from None


def _per_axis(values: Any, ndim: int) -> list:
    """A pair of values for each axis, from a number, a pair, or pairs; values may be traced."""
    if isinstance(values, (list, tuple)):
        values = asarray(values)
    values = unwrapped(values)
    shape = shape_of(values)
    if shape == ():
        return [(values, values)] * ndim
    if shape == (1,):
        return [(values[0], values[0])] * ndim
    if shape == (2,):
        return [(values[0], values[1])] * ndim
    if shape == (1, 2):
        return [(values[0, 0], values[0, 1])] * ndim
    if shape == (ndim, 1):
        return [(values[i, 0], values[i, 0]) for i in range(ndim)]
    if shape == (ndim, 2):
        return [(values[i, 0], values[i, 1]) for i in range(ndim)]
    raise ValueError(f"jnp.pad: an option of shape {shape} does not broadcast to ({ndim}, 2)")


def _constant(a: Array, widths: list, values: Any) -> Array:
    if not any(n for w in widths for n in w):
        return a
    if type(values) in (int, float) and (not values or a.dtype.kind == "f") and evaluating():  # others may not fit the dtype, which tracing would hide
        return _framed(a, operand(values, a), Static(widths))
    pairs = _per_axis(values, a.ndim)
    if all(p[0] is pairs[0][0] and p[1] is pairs[0][0] for p in pairs):
        value = convert(pairs[0][0], a.dtype, a.weak_type) if pairs else 0
        return lax.pad(a, value, [(b, e, 0) for b, e in widths])
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, pairs)):
        for value, config in ((low, (before, 0, 0)), (high, (0, after, 0))):
            if any(config):
                a = lax.pad(a, convert(value, a.dtype, a.weak_type), [config if i == axis else (0, 0, 0) for i in range(a.ndim)])
    return a


@adaptive("always", (2,))
def _framed(a: Array, value: Any, widths: tuple) -> Array:
    return lax.pad(a, convert(value, a.dtype, a.weak_type), [(b, e, 0) for b, e in widths])


def _by_index(a: Array, axis: int, n: int, before: int, after: int, mode: str, reflect_type: str) -> Array:
    """Modes that only repeat elements: NumPy says which, by padding the positions."""
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"reflect_type must be 'even' or 'odd', got {reflect_type!r}")
    if reflect_type == "odd" and mode in ("reflect", "symmetric"):
        return _odd_reflection(a, axis, before, after, mode)
    positions = np.pad(np.arange(n), (before, after), mode=cast(Any, mode))
    ahead, behind = _runs(positions[:before]), _runs(positions[before + n:])
    if len(ahead) + len(behind) > _MAX_RUNS:
        return take(a, positions, axis, mode="clip")
    return lax.concatenate([*[_run(a, axis, *run) for run in ahead], a, *[_run(a, axis, *run) for run in behind]], axis)


# Slices are copied row by row where a gather takes element by element, along the last axis in a transposed layout too.
_MAX_RUNS = 8


def _runs(positions: np.ndarray) -> list[tuple[int, int, int]]:
    """``positions`` as pieces (first, step, count) with steps of 1, -1 or 0."""
    out: list[tuple[int, int, int]] = []
    for position in positions.tolist():
        if out:
            first, step, count = out[-1]
            next_step = position - first if count == 1 else step
            if abs(next_step) <= 1 and position == first + next_step * count:
                out[-1] = first, next_step, count + 1
                continue
        out.append((position, 0, 1))
    return out


def _run(a: Array, axis: int, first: int, step: int, count: int) -> Array:
    """The elements at ``first + step * i``."""
    if step == 0:
        one = lax.slice_in_dim(a, first, first + 1, axis=axis)
        return broadcast_to(one, tuple(count if i == axis else m for i, m in enumerate(a.shape)))
    if step > 0:
        return lax.slice_in_dim(a, first, first + count, axis=axis)
    return lax.rev(lax.slice_in_dim(a, first - count + 1, first + 1, axis=axis), (axis,))


def _odd_reflection(a: Array, axis: int, before: int, after: int, mode: str) -> Array:
    """Reflections turned about the end's value: twice the end less the mirrored elements."""
    skip = 1 if mode == "reflect" else 0
    while before or after:
        n = a.shape[axis]
        most = max(n - skip, 1)
        left, right = min(before, most), min(after, most)
        first, last = take(a, np.array([0]), axis, mode="clip"), take(a, np.array([n - 1]), axis, mode="clip")
        parts = [a]
        if left:
            mirrored = take(a, np.minimum(np.arange(left - 1 + skip, skip - 1, -1), n - 1), axis, mode="clip")
            parts.insert(0, lax.sub(broadcast_to(lax.add(first, first), mirrored.shape), mirrored))
        if right:
            mirrored = take(a, np.maximum(np.arange(n - 1 - skip, n - 1 - skip - right, -1), 0), axis, mode="clip")
            parts.append(lax.sub(broadcast_to(lax.add(last, last), mirrored.shape), mirrored))
        a = lax.concatenate(parts, axis)
        before, after = before - left, after - right
    return a


def _ramp(a: Array, axis: int, before: int, after: int, ends: tuple) -> Array:
    n = a.shape[axis]
    parts = [a]
    first, last = take(a, np.array([0]), axis, mode="clip"), take(a, np.array([n - 1]), axis, mode="clip")
    if before:
        parts.insert(0, _line(ends[0], first, before, axis, a.dtype, rising=True))
    if after:
        parts.append(_line(ends[1], last, after, axis, a.dtype, rising=False))
    return lax.concatenate(parts, axis)


def _line(end: Any, edge: Array, count: int, axis: int, dtype: Any, rising: bool) -> Array:
    """``count`` values from ``end`` towards ``edge`` (which is left out), or back."""
    compute = dtype if dtypes.issubdtype(dtype, np.inexact) else dtypes.default_float_dtype()
    steps = (np.arange(count) if rising else np.arange(count, 0, -1) - 1) / count
    shape = tuple(count if i == axis else m for i, m in enumerate(edge.shape))

    def along(row: np.ndarray) -> Array:
        return broadcast_to(as_array(row.reshape([count if i == axis else 1 for i in range(edge.ndim)])), shape)
    share = along(steps.astype(compute))
    end = broadcast_to(convert(as_array(end), compute), shape)
    edge = broadcast_to(convert(edge, compute), shape)
    if dtypes.issubdtype(dtype, np.integer):
        return convert(lax.floor(lax.add(end, lax.mul(lax.sub(edge, end), share))), dtype)
    between = lax.add(lax.mul(end, along((1 - steps).astype(compute))), lax.mul(edge, share))  # a difference could overflow
    return convert(lax.select(along(steps == 0), end, between), dtype)  # the end has nothing of an edge that is infinite


def _statistic(a: Array, axis: int, before: int, after: int, mode: str, length: Any) -> Array:
    n = a.shape[axis]
    if length is None:
        low = high = n
    else:
        low, high = (int(x) for x in np.broadcast_to(np.asarray(length), (a.ndim, 2))[axis])
        if low <= 0 or high <= 0:
            raise ValueError("stat_length of 0 yields no value for padding")
        low, high = min(low, n), min(high, n)
    parts = [a]
    if before:
        parts.insert(0, _repeated(lax.slice_in_dim(a, 0, low, axis=axis), axis, before, mode, a.dtype))
    if after:
        parts.append(_repeated(lax.slice_in_dim(a, n - high, n, axis=axis), axis, after, mode, a.dtype))
    return lax.concatenate(parts, axis)


def _repeated(chunk: Array, axis: int, count: int, mode: str, dtype: Any) -> Array:
    funs: dict[str, Callable[..., Array]] = {
        "maximum": reductions.max, "minimum": reductions.min, "mean": reductions.mean, "median": median}
    value = funs[mode](chunk, axis=axis, keepdims=True)
    if mode in ("mean", "median") and dtypes.issubdtype(dtype, np.integer):
        value = rounded(value)
    return broadcast_to(convert(value, dtype), tuple(count if i == axis else n for i, n in enumerate(chunk.shape)))


def _by_function(a: Array, widths: list, function: Callable, kwargs: dict) -> Array:
    out = _constant(a, widths, 0)
    for axis, pair in enumerate(widths):
        def call(line, pair=pair, axis: int = axis):
            return function(line, pair, axis, kwargs)
        out = apply_along_axis(call, axis, out)
    return out
