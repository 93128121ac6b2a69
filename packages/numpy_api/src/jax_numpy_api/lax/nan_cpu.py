"""Maxima and minima that keep NaN on the CPU.

XLA's CPU compiler hands sums, maxima and minima over arrays of 4096 elements and more to a library (YNNPACK), together with
the elementwise operations before them. Its maximum and minimum pass over NaN: with jaxlib 0.10.2 and 0.12,
``max(x)``, ``sum(maximum(x, 0))`` and 2 x 2 pooling of 128 x 128 numbers with one NaN are free of NaN. So for large arrays

- elementwise, one of the operands is selected by a comparison, which the library does not take (a maximum of two
  1000 x 1000 arrays takes 0.52 ms so, 0.78 as XLA's own; a sum over one 0.57 and 0.36);
- a reduction stays with the library, and a second one tells whether there was NaN: the sum of the squares is NaN only
  then, as it adds nothing negative to an infinity (1000 x 1000 over the last axis: 0.24 ms, 0.16 without);
- where a single number is left, the library does all of it (`emit_number`), so that there is no code to compile, which takes 10 ms;
- a reduction of a large argument of the program, of more than 4 MiB, is first folded: the elementwise extremum of 8 or 16 pieces, with
  one test for NaN, which reads each element once (a million in 0.062 ms, 0.092 by two reductions, 0.055 by the one that loses NaN) but takes 20 ms to compile;
- so is one of computed values, which two reductions would write to memory and read twice. As each piece is code of its own for what is
  behind it, there are 8, or 4 of up to 2**19 elements (1000 rows of ``x * 2 + 1``: 0.33 ms, 0.80 by two reductions, 0.38 by the one that loses NaN);
- a window is reduced by comparisons.

Of equal zeros of different signs, the elementwise ones give the second.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.traces import reductions_in_pieces, short_reductions

from .compare import emit_compare

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.aval import AbstractValue

LIBRARY = 1 << 12
"""Elements of an operand from which on the library reduces it, whatever is computed in the same kernel."""
_LARGE = LIBRARY // 2  # of elementwise extrema that may be fused with reductions of more
_TAKEN = {"float16", "bfloat16", "float32", "float64"}
BETTER = {"stablehlo.maximum": "LE", "stablehlo.minimum": "GE"}  # how the first compares when the second is the result


def drops_nan(b: Builder, aval: AbstractValue, least: int = _LARGE) -> bool:
    """Whether XLA may lose NaN in extrema of arrays of this type, which have ``least`` elements or more."""
    return b.platform == "cpu" and (aval.size >= least or b.one_form) and aval.dtype.name in _TAKEN


def emit_choice(b: Builder, op: str, x: Value, y: Value) -> Any:
    """The maximum or minimum (by the name of the StableHLO op) of two values of one type, NaN where either is; the second of equal ones."""
    second = emit_compare(b, BETTER[op], x, y)
    nan = emit_compare(b, "NE", y, y)
    second = b.emit(f"stablehlo.or {second}, {nan}", second, nan, out=second.aval)
    return b.emit(f"stablehlo.select {second}, {y}, {x}", second, y, x, out=x.aval)


def widened(b: Builder, x: Value) -> Value:
    """``x`` as float32, if it is of floats of two bytes."""
    return b.convert(x, np.dtype(np.float32)) if x.aval.dtype.name in ("float16", "bfloat16") else x


def has_many_paths(b: Builder, x: Value, axes: Sequence[int]) -> bool:
    """Whether LLVM (jaxlib 0.12) may walk too many paths through a loop that reduces ``x`` by choices: between bfloat16 that are read and others that are
    rounded, in whatever operations the loop is fused with, these double with each of the reduced elements, of which 32 are never done."""
    return math.prod([x.aval.shape[axis] for axis in axes]) > short_reductions.ROW and x.aval.dtype.name in ("bfloat16", "float32") and b.holds_bfloat16()


def narrowed(b: Builder, x: Value, dtype: Any) -> Value:
    """``x``, which has the numbers of `widened` values, in their ``dtype``. Of bfloat16 these are the upper halves: nothing is to be rounded."""
    if dtype.name != "bfloat16":
        return b.convert(x, dtype)
    word, half = x.aval.update(dtype=np.dtype(np.uint32)), x.aval.update(dtype=np.dtype(np.uint16))
    bits, sixteen = b.emit(f"stablehlo.bitcast_convert {x}", x, out=word), b.full(16, word)
    upper = b.convert(b.emit(f"stablehlo.shift_right_logical {bits}, {sixteen}", bits, sixteen, out=word), half.dtype)
    return b.emit(f"stablehlo.bitcast_convert {upper}", upper, out=x.aval.update(dtype=dtype))


def reduce_by_choice(b: Builder, op: str, x: Value, start: Value, axes: Sequence[int], out: AbstractValue) -> Any:
    """``x`` reduced by `emit_choice`, in a loop of its own (`short_reductions`)."""
    return short_reductions.emit(b, x, start, axes, lambda b, first, second: emit_choice(b, op, second, first), out)


def _pieces(b: Builder, x: Value, axes: Sequence[int]) -> int:
    return reductions_in_pieces.pieces(x.aval, axes, given=b.given(x), stored=b.stored(x))


def folds(b: Builder, op: str, x: Value, axes: Sequence[int], nan: bool) -> bool:
    """Whether the reduction of ``x`` over ``axes`` pays in two steps, the first of which is `emit_fold`: of floats where NaN must be kept
    (``nan``), and of integers over the last axis, which XLA reduces without vectors (a million in 0.66 ms, 0.08 so)."""
    aval = x.aval
    if op not in BETTER or b.platform != "cpu" or b.one_form or b.devices != 1 or not b.keeps(aval):
        return False
    fits = nan if aval.dtype.name in ("float32", "float64") else aval.dtype.kind in "iu" and aval.ndim - 1 in axes
    return fits and _pieces(b, x, axes) > 0


def emit_fold(b: Builder, op: str, x: Value, axes: Sequence[int], pieces: int = 0) -> Any:
    """``x`` with the longest of ``axes`` shortened to a fourth, eighth or sixteenth: extrema of pieces, of which the last two may overlap; with
    its NaNs. That of integers once more, where it is still long."""
    shape, pieces = x.aval.shape, pieces or _pieces(b, x, axes)
    axis = max(axes, key=lambda d: shape[d])
    length = shape[axis]
    short = -(-length // pieces)
    out = ShapedArray((*shape[:axis], short, *shape[axis + 1:]), x.aval.dtype)
    best = []
    for i in range(pieces):
        start = min(i * short, length - short)
        ranges = ", ".join([f"{start}:{start + short}" if d == axis else f"0:{n}" for d, n in enumerate(shape)])
        best.append(b.emit(f"stablehlo.slice {x} [{ranges}]", x, out=out))
    integers = x.aval.dtype.kind in "iu"
    nans = [] if integers else [emit_compare(b, "NE", piece, piece) for piece in best]
    while len(best) > 1:
        pairs = list(zip(best[::2], best[1::2]))
        if integers:
            best = [b.emit(f"{op} {p}, {q}", p, q, out=out) for p, q in pairs]
            continue
        nans = [b.emit(f"stablehlo.or {p}, {q}", p, q, out=p.aval) for p, q in zip(nans[::2], nans[1::2])]
        firsts = [emit_compare(b, "GT" if op == "stablehlo.maximum" else "LT", p, q) for p, q in pairs]
        best = [b.emit(f"stablehlo.select {c}, {p}, {q}", c, p, q, out=out) for c, (p, q) in zip(firsts, pairs)]
    found = best[0]
    if not integers:
        missing = b.full(float("nan"), out)
        found = b.emit(f"stablehlo.select {nans[0]}, {missing}, {found}", nans[0], missing, found, out=out)
    found = b.in_memory(found, "a reduction in two steps")
    return emit_fold(b, op, found, axes, 8 if out.size > 1 << 19 else 4) if integers and short >= 64 * pieces else found


def is_number(b: Builder, aval: AbstractValue, axes: Sequence[int]) -> bool:
    """Whether `emit_number` may reduce an operand of this type."""
    return len(axes) == aval.ndim and aval.dtype.name in ("float32", "float64") and b.devices == 1 and not b.portable


def emit_number(b: Builder, op: str, x: Value, axes: Sequence[int]) -> Any:
    """The extremum of all of ``x``, which starts with NaN, where there is one in ``x``, and with the identity elsewhere.

    The library passes over NaN in the operand, not in the start: it comes first in ``start < x ? x : start``, and last in vector instructions,
    which give the second operand then. The start of a minimum is the sum of the squares and an infinity. That of a maximum is the minimum of
    negative infinities from there, as many as the library takes and not all alike, so that XLA does not make an instruction of code of it.
    """
    number = ShapedArray((), x.aval.dtype)

    def reduce(operand: Value, start: Value, op: str, axes: Sequence[int]):
        return b.emit(f"stablehlo.reduce({operand} init: {start}) applies {op} across dimensions = {list(axes)}", operand, start, out=number)
    squares = b.emit(f"stablehlo.multiply {x}, {x}", x, x, out=x.aval)
    start = reduce(squares, b.scalar(np.inf, number.dtype), "stablehlo.add", axes)
    if op == "stablehlo.maximum":
        one, low = b.full(0, number.update(shape=(1,))), b.scalar(-np.inf, number.dtype)
        row = b.emit(f"stablehlo.pad {one}, {low}, low = [0], high = [{LIBRARY - 1}], interior = [0]", one, low, out=number.update(shape=(LIBRARY,)))
        start = reduce(row, start, "stablehlo.minimum", (0,))
    return reduce(x, start, op, axes)


def emit_with_nan(b: Builder, op: str, x: Value, extremum: Value, axes: Sequence[int]) -> Any:
    """``extremum``, which reduces ``x`` over ``axes`` by ``op``, or NaN where there is one in ``x``.

    The library does all of it where the results are many enough for it: it reads each part of ``x`` once for both reductions, and there is no code
    to compile. Its elementwise extremum of two gives the second where either is NaN.
    """
    out, wide = extremum.aval, widened(b, x)  # sums of halves are rounded after each addition, without vectors
    zero = b.scalar(0, wide.aval.dtype)
    squares = b.emit(f"stablehlo.multiply {wide}, {wide}", wide, wide, out=wide.aval)
    total = b.emit(f"stablehlo.reduce({squares} init: {zero}) applies stablehlo.add across dimensions = {list(axes)}", squares,
                   zero, out=out.update(dtype=wide.aval.dtype))
    if out.size >= LIBRARY and wide is x:
        bound = b.full(np.inf if op == "stablehlo.minimum" else -np.inf, out)
        away = "add" if op == "stablehlo.minimum" else "subtract"
        bound = b.emit(f"stablehlo.{away} {bound}, {total}", bound, total, out=out)  # infinite, or NaN
        return b.emit(f"{op} {extremum}, {bound}", extremum, bound, out=out)
    nan, missing = emit_compare(b, "NE", total, total), b.full(float("nan"), out)
    return b.emit(f"stablehlo.select {nan}, {missing}, {extremum}", nan, missing, extremum, out=out)
