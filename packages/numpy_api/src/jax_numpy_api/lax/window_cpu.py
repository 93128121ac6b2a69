"""How pooling and its gradients are put to XLA's CPU compiler.

XLA makes of `select_and_scatter` an iota of the operand's shape for each axis, a reduction of windows with five
operands and a scatter, which adds one element after another; a sum over an array spread out by strides it computes with
all the zeros in between. Here both are elementwise:

- the position of each window's extremum, as a number, is found by comparing strided slices of the operand;
- seen as blocks of one stride (an array of shape ``(blocks, stride)`` for each axis), the windows that reach into a block
  start at most ``ceil(window / stride)`` blocks before it. For each such distance, the windows' values are shifted by
  it, and an element takes the value if its place in the window is the extremum's.

Reductions of windows it computes element by element of a window, with a test of the bounds for each. Here strided slices of the
operand are combined instead, those of a few elements all at once, others axis by axis (`_by_axes`): a window of 5 x 5 combines 10
elements in place of 25, one of 31 along an axis 4, and then 8 of the results.

For f32[32,64,64,32], two cores, jaxlib 0.10.2: maxima of 2x2 by strides of 2 in 1.1 ms in place of 48, of 3x3 by strides of 2
in 3.3 in place of 64, by strides of 1 in 22 in place of 177; sums of 3x3 by strides of 2 in 0.9 in place of 20. Forward, maxima of
3x3 by strides of 1 in 3.6 in place of 17, sums in 2.2 in place of 15. benchmarks/pooling.py measures them, benchmarks/programs/windows.py others.
"""
from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.traces import windows_by_axes
from jax_core.traces.structural import broadcast_in_dim, zeros
from jax_numpy_api import lax

from .nary import constant

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.primitive import Primitive

_POSITIONS = 16  # of a window, at most: so many slices are compared, and so many windows reach into a block
_CHEAP = 4  # so many slices cost little
_AT_ONCE, _STEP = 8, 4  # along an axis, so many elements are combined at once; of more, so many neighbours first
_NOWHERE, _NO_WINDOW = -1, -2  # in place of the number of a position


def combined_slices(b: Builder, x: Value, op: str, start: object, params: dict) -> Any:
    """Lower a reduction over windows, or return None where this form is no faster or there is none.

    Args:
      op: ``"add"``, ``"maximum"`` or ``"minimum"``; ``start``: what it begins with.
      params: of `reduce_window_sum_p` and the like.
    """
    window, strides = params["window_dimensions"], params["window_strides"]
    if b.keeps(x.aval) and windows_by_axes.pays(x.aval, b.out_avals[0], params):
        return _by_axes(b, x, op, start, params)
    if tuple(strides) != tuple(window) and any(s != 1 for s in strides):
        return None
    if op == "add" and math.prod(window) <= windows_by_axes.FEW and any(map(any, params["padding"])):
        return None  # XLA is faster here
    return _over_slices(b, _combined, (x,), params, op=op, start=start)


def chosen_tangents(b: Builder, tangents: object, x: Value, select_prim: object, start: object, params: dict) -> Any:
    """Lower `select_and_gather_add`, or return None as above. ``start`` loses every comparison."""
    return _over_slices(b, _taken_along, (x, tangents), params, select_prim=select_prim, start=start)


def _over_slices(b, f, operands, params, **rest):
    """``f`` of operands whose windows are combined slice by slice, each read and written in memory; None as above."""
    window, strides, padding = (tuple(params[k]) for k in ("window_dimensions", "window_strides", "padding"))
    undilated = all(d == 1 for d in (*params["base_dilation"], *params["window_dilation"]))
    out = b.out_avals[0]
    if not (undilated and math.prod(window) > 1 and _is_pooling(window, padding) and b.keeps(out)) or operands[0].aval.dtype.kind in "bc":
        return None
    operands = [b.in_memory(x, "several windows, or several slices, read it") for x in operands]
    found, = b.fun(f, *operands, out=out.shape, geometry=(window, strides, padding), **rest)
    return b.in_memory(found, "a reduction over windows")


def _by_axes(b, x, op, start, params):
    """The reductions along one axis after another, whose results are in memory for the next one."""
    x, = b.fun(_padded, b.in_memory(x, "several windows read it"), fill=start, padding=tuple(params["padding"]))
    for axis, (length, stride, step) in enumerate(zip(*(params[k] for k in ("window_dimensions", "window_strides", "window_dilation")))):
        if length > 1 or stride > 1:
            x = b.in_memory(_along(b, x, op, axis, length, stride, step), "a reduction over windows")
    return x


def _along(b, x, op, axis, length, stride, step):
    """From every ``stride``-th element on along ``axis``, the combination of ``length`` elements, ``step`` apart."""
    combined = functools.partial(b.fun, _combined_along, op=op, axis=axis)
    of_many = [(x, 1)]  # the combinations of so many elements
    while length > _AT_ONCE * of_many[-1][1]:
        x, many = of_many[-1]
        x, = combined(x, places=tuple((0, i * many * step) for i in range(_STEP)), count=x.aval.shape[axis] - (_STEP - 1) * many * step, stride=1)
        of_many.append((b.in_memory(x, "longer windows read it"), _STEP * many))
    count = -(-(of_many[0][0].aval.shape[axis] - (length - 1) * step) // stride)
    found, = combined(*[x for x, _ in of_many], places=_places_along([many for _, many in of_many], length, step, op != "add"), count=count, stride=stride)
    return found


def _places_along(of_many, length, step, overlapping):
    """What makes a window of ``length`` elements: which of the combinations ``of_many`` elements, and how far behind the first of its elements."""
    if overlapping:
        last = len(of_many) - 1
        return tuple((last, min(at, length - of_many[last]) * step) for at in range(0, length, of_many[last]))
    places, at = [], 0
    for i, many in [*enumerate(of_many)][::-1]:
        while at + many <= length:
            places.append((i, at * step))
            at += many
    return tuple(places)


def scatter_to_chosen(b: Builder, source: Value, x: Value, select_prim: Primitive, start: Value, window: Sequence[int],
                      strides: Sequence[int], padding: Sequence[tuple[int, int]]) -> Any:
    """Lower `select_and_scatter_add`, or return None where this form is no faster or there is none.

    The numbers of positions are to be in memory, as several elements read each, but where finding them again is cheap.

    Args: operands and parameters of `select_and_scatter_add_p`; ``start`` loses every comparison.
    """
    shifts = math.prod(_shifts(window, strides))
    if not _is_pooling(window, padding) or x.aval.dtype.kind in "bc":
        return None
    geometry = tuple(window), tuple(strides), tuple(padding)
    often = shifts > 1 or math.prod(window) > _CHEAP
    if often and not b.keeps(source.aval.update(dtype=np.dtype(np.int32))):
        return None
    chosen, = b.fun(_chosen, x, out=source.aval.shape, select_prim=select_prim, start=start, geometry=geometry)
    if often or window[-1] > 1:  # else neighbours in memory are of different windows, and find their numbers side by side
        chosen = b.in_memory(chosen, "each element of a window reads where its extremum is")
    return _spread_once(b, shifts, source, chosen, shape=x.aval.shape, geometry=geometry)


def spread_sum(b: Builder, x: Value, params: dict) -> Any:
    """Lower a sum over windows of an operand spread out by strides, the gradient of sums over windows; None as above.

    Args:
      params: of `reduce_window_sum_p`.
    """
    window, strides = params["window_dimensions"], params["base_dilation"]
    if all(s == 1 for s in strides) or any(s != 1 for s in (*params["window_strides"], *params["window_dilation"])):
        return None
    out = b.out_avals[0]
    before = [w - 1 - low for w, (low, _) in zip(window, params["padding"])]  # padding of the windows that were summed
    after = [max((m - 1) * s + w - low - n, 0) for m, s, w, low, n in zip(x.aval.shape, strides, window, before, out.shape)]
    padding = tuple(zip(before, after))
    shifts = math.prod(_shifts(window, strides))
    if not _is_pooling(window, padding):
        return None
    return _spread_once(b, shifts, x, shape=out.shape, geometry=(tuple(window), tuple(strides), padding))


def _spread_once(b, shifts, *operands, shape, geometry):
    found, = b.fun(_spread, *operands, shape=shape, geometry=geometry)
    return b.in_memory(found, "a sum over the windows that an element is in") if shifts > 1 else found


def _is_pooling(window, padding):
    return math.prod(window) <= _POSITIONS and all(low >= 0 and high >= 0 for low, high in padding)


def _shifts(window, strides):
    return [-(-w // s) for w, s in zip(window, strides)]


def _function(op):
    return {"add": lax.add, "maximum": lax.max, "minimum": lax.min}[op]


def _combined(x, *, out, op, start, geometry):
    return [functools.reduce(_function(op), _slices(x, start, out, *geometry))]


def _padded(x, *, fill, padding):
    return [lax.pad(x, constant(fill, x), [(low, high, 0) for low, high in padding])]


def _combined_along(*xs, op, axis, places, count, stride):
    """The combination of slices, ``count`` elements along ``axis``, each of which one of ``places`` gives: which of ``xs``, and where it starts."""
    slices = [lax.slice_in_dim(xs[i], at, at + (count - 1) * stride + 1, stride, axis) for i, at in places]
    while len(slices) > 1:  # in pairs, so that sums are of terms of one size
        slices = [functools.reduce(_function(op), slices[i:i + 2]) for i in range(0, len(slices), 2)]
    return slices


def _slices(x, fill, out, window, strides, padding):
    """For each position in a window the elements there, an array of shape ``out``."""
    x, = _padded(x, fill=fill, padding=padding)
    for position in itertools.product(*map(range, window)):
        limits = [p + (n - 1) * s + 1 for p, n, s in zip(position, out, strides)]
        yield lax.slice(x, position, limits, strides)


def _taken_along(x, tangents, *, out, select_prim, start, geometry):
    return [_of_extremum(select_prim, _slices(x, start, out, *geometry), _slices(tangents, 0, out, *geometry))]


def _chosen(x, *, out, select_prim, start, geometry):
    """For each window the number of the position that it takes."""
    numbers = (lax.full(out, i, np.int32) for i in itertools.count())
    return [_of_extremum(select_prim, _slices(x, start, out, *geometry), numbers)]


def _of_extremum(select_prim, candidates, companions):
    """Elementwise, the companion of the first extremum among the candidates, in the order of memory."""
    pairs = zip(candidates, companions)
    best, taken = next(pairs)
    for candidate, companion in pairs:
        stays = select_prim.bind(best, candidate)
        best, taken = lax.select(stays, best, candidate), lax.select(stays, taken, companion)
    return taken


def _spread(source, chosen=None, *, shape, geometry):
    """An array of ``shape`` to which each window adds its element of ``source``, at the chosen position or at all."""
    window, strides, padding = geometry
    blocks = [-(-(n + low + high) // s) for n, (low, high), s in zip(shape, padding, strides)]
    both = [n for pair in zip(blocks, strides) for n in pair]
    of_block, of_place = tuple(range(0, len(both), 2)), tuple(range(1, len(both), 2))
    spread = lambda x: broadcast_in_dim(x, both, of_block)
    total = None
    for shift in itertools.product(*map(range, _shifts(window, strides))):
        config = [(d, n - d - m, 0) for d, n, m in zip(shift, blocks, source.shape)]
        value = spread(lax.pad(source, constant(0, source), config))
        places = _places(window, strides, shift)
        if chosen is not None:
            takes = lax.eq(spread(lax.pad(chosen, np.int32(_NOWHERE), config)), broadcast_in_dim(places, both, of_place))
        elif (places == _NO_WINDOW).any():
            takes = broadcast_in_dim(places != _NO_WINDOW, both, of_place)
        else:
            takes = None
        if takes is not None:
            value = lax.select(takes, value, zeros(ShapedArray(both, source.dtype)))
        total = value if total is None else lax.add(total, value)
    whole = lax.reshape(total, [n * s for n, s in zip(blocks, strides)])
    return [lax.slice(whole, [low for low, _ in padding], [low + n for (low, _), n in zip(padding, shape)])]


def _places(window, strides, shift):
    """For each place of a block, its position in the window that starts ``shift`` blocks before, as a number."""
    places = np.full(strides, _NO_WINDOW, np.int32)
    for place in np.ndindex(*strides):
        position = [p + s * d for p, s, d in zip(place, strides, shift)]
        if all(p < w for p, w in zip(position, window)):
            places[place] = np.ravel_multi_index(position, window)
    return places
