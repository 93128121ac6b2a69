"""Sums of less than 4096 numbers along more than 32, in one kernel of XLA's CPU compiler.

From 4096 on it hands sums to a library. It adds up fewer in windows of 32, so that rounding errors stay small, then windows of those sums, and so on: each
time a kernel of its own to compile, and one more for what is summed. Here the same windows stand in one sum of sums, which is fused with what is before and
after it. As XLA makes one sum of two in a row, and windows of that, the outer one has a reducer of two operations (`short_reductions.add`).

Such a loop has no vectors, so what is summed must be cheap, or in memory (`Builder.cheap`).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from ..representation.aval import ShapedArray
from . import short_reductions

if TYPE_CHECKING:
    from ..interfaces import Builder, Value

LIBRARY = 1 << 12
"""Elements from which on XLA's library adds them."""
WINDOW = 32
"""Elements along an axis that XLA adds in turn, at most."""
_LEAST = 8
"""Elements of a window, at least: else rounding errors would add up, and XLA's windows, the last of which are padded, are left to it."""


class Windows(NamedTuple):
    """How to sum: ``shape``, in which the summed axes are split, and of its axes those ``inside`` windows, the ``others`` that are summed."""

    shape: tuple[int, ...]
    inside: list[int]
    others: list[int]


def has_windows(aval: Any, axes: Sequence[int]) -> bool:
    """Whether XLA would sum an array of this type over ``axes`` in windows."""
    return aval.size < LIBRARY and aval.dtype.name in ("float32", "float64") and max([aval.shape[axis] for axis in axes], default=0) > WINDOW and aval.size > 0


def emit(b: Builder, x: Value, zero: Value, axes: Sequence[int]) -> Any:
    """The sum of ``x`` over ``axes``, None where the compiler may as well do it its own way."""
    if b.platform != "cpu" or b.portable or b.one_form or b.devices != 1 or not has_windows(x.aval, axes):
        return None
    windows = _windows(x.aval.shape, axes)
    if windows is None:
        return None
    cheap = b.cheap(x)
    return None if cheap is None else _emit(b, cheap, zero, windows)


def _windows(full: Sequence[int], axes: Sequence[int]) -> Windows | None:
    """How to sum an array of this shape."""
    found = Windows((), [], [])
    shape: list[int] = []
    for axis, n in enumerate(full):
        parts = [n] if axis not in axes or n <= WINDOW else _parts(n)
        if not parts:
            return None
        found.others.extend(range(len(shape), len(shape) + len(parts) - 1))
        shape += parts
        if axis in axes:
            found.inside.append(len(shape) - 1)
    return found._replace(shape=tuple(shape))


def _parts(n: int) -> list[int]:
    """Factors of a length, of which the last is that of a window; none where there are no such."""
    window = _factor(n)
    count = n // window
    if window < _LEAST or count <= WINDOW:
        return [count, window] if window >= _LEAST else []
    more = _factor(count)
    return [count // more, more, window] if count // more <= WINDOW else []


def _factor(n: int) -> int:
    """The largest factor that is no longer than a window."""
    return next(w for w in range(WINDOW, 0, -1) if n % w == 0)


def _emit(b: Builder, x: Value, zero: Value, windows: Windows) -> Any:
    """The sum of ``x`` in ``windows``."""
    inside = ShapedArray(tuple([n for axis, n in enumerate(windows.shape) if axis not in windows.inside]), x.aval.dtype)
    split = b.emit(f"stablehlo.reshape {x}", x, out=ShapedArray(windows.shape, x.aval.dtype))
    sums = b.emit(f"stablehlo.reduce({split} init: {zero}) applies stablehlo.add across dimensions = {windows.inside}", split, zero, out=inside)
    axes = [axis - sum(w < axis for w in windows.inside) for axis in windows.others]
    return short_reductions.emit(b, sums, zero, axes, short_reductions.add)
