"""Running sums, products, extrema and log-sum-exps along an axis.

On CPU, XLA has no running reduction but `reduce_window`, which computes each result anew from a window of up to 16
elements, one at a time. Instead:

- where the axes behind are long, a loop runs along the axis, and each of its steps works on all other axes at once;
- otherwise blocks of 8 elements are summed, the blocks' totals are accumulated the same way, and every element is its
  block's start plus the elements before it in the block, all in one pass over memory;
- log-sum-exps, whose arithmetic costs more than the memory, and extrema, which do not care for the order, are cut into
  chunks that lie side by side for the loop.

Small arrays, and other platforms, take `reduce_window`.

Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Inner, Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import zeros
from jax_numpy_api import lax

from .nary import as_operand, integers
from .recurrence import linear_recurrence, shifted
from .reduce import highest, lowest

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.transformations.batching import AxisData

_WIDTH = 2048  # elements that one step of the loop works on, at least
_SMALL = 1 << 13  # arrays up to this size take reduce_window
_ROW = 32  # elements side by side in memory that make a loop along an axis worth while
_BLOCK = 8


# -- lowering --------------------------------------------------------------------------------------------------------

class _Reducer:
    """How two running values combine. ``emit(b, x, y)`` writes it; ``start(dtype)`` is its neutral element; ``costly``
    if the arithmetic (for extrema: the care for NaN) takes longer than reading memory."""

    def __init__(self, emit, start, costly=False):
        self.emit, self.start, self.costly = emit, start, costly


def _op(name):
    return lambda b, x, y: b.emit(f"stablehlo.{name} {x}, {y}", x, y, out=x.aval)


def _emit_function(f):
    return lambda b, x, y: b.fun(f, x, y)[0]


_COUNTER = np.dtype(np.int32)


def _reduce_window(b, x, axis, reverse, reducer):
    aval = x.aval
    n, rank = aval.shape[axis], aval.ndim
    scalar = ShapedArray((), aval.dtype)
    start = b.scalar(reducer.start(aval.dtype), aval.dtype)
    region = b.region([scalar, scalar], lambda inner, p, q: [reducer.emit(inner, p, q)])
    window = ", ".join(str(n if i == axis else 1) for i in range(rank))
    low, high = (0, n - 1) if reverse else (n - 1, 0)
    pads = ", ".join(f"[{low}, {high}]" if i == axis else "[0, 0]" for i in range(rank))
    return b.emit(f'"stablehlo.reduce_window"({x}, {start}) ({region})', x, start, out=aval,
                  attrs=f"{{window_dimensions = array<i64: {window}>, padding = dense<[{pads}]> : tensor<{rank}x2xi64>}}")


def _loop(b, x, reverse, reducer):
    """Accumulate ``x`` of shape ``[n, m]`` along its first axis, one row a step, from the second row on."""
    n, m = x.aval.shape
    counter, row = ShapedArray((), _COUNTER), ShapedArray((1, m), x.aval.dtype)
    first = n - 1 if reverse else 0
    carry = b.emit(f"stablehlo.slice {x} [{first}:{first + 1}:1, 0:{m}:1]", x, out=row)
    avals = [counter, row, x.aval]

    def condition(inner: Builder, i: Value, c: Value, out):
        last = inner.scalar(n, _COUNTER)
        return [inner.emit(f"stablehlo.compare LT, {i}, {last}, SIGNED", i, last, out=ShapedArray((), bool))]

    def body(inner: Builder, i: Value, c: Value, out):
        zero, at = inner.scalar(0, _COUNTER), i
        if reverse:
            last = inner.scalar(n - 1, _COUNTER)
            at = inner.emit(f"stablehlo.subtract {last}, {i}", last, i, out=counter)
        element = inner.emit(f"stablehlo.dynamic_slice {out}, {at}, {zero}, sizes = [1, {m}]", out, at, zero, out=row)
        c = reducer.emit(inner, c, element)
        out = inner.emit(f"stablehlo.dynamic_update_slice {out}, {c}, {at}, {zero}", out, c, at, zero, out=x.aval)
        one = inner.scalar(1, _COUNTER)
        return [inner.emit(f"stablehlo.add {i}, {one}", i, one, out=counter), c, out]

    operands = [b.scalar(1, _COUNTER), carry, x]
    text = f'"stablehlo.while"({", ".join(map(str, operands))}) ({b.region(avals, condition)}, {b.region(avals, body)})'
    return b.emit(text, *operands, out=avals)[2]


def _accumulate(b, x, axis, reverse, reducer):
    aval = x.aval
    n = aval.shape[axis]
    outer, inner = math.prod(aval.shape[:axis]), math.prod(aval.shape[axis + 1:])
    if n <= 1 or aval.size == 0:
        return x
    if b.platform != "cpu" or b.one_form or aval.size <= _SMALL or n <= 16:
        return _reduce_window(b, x, axis, reverse, reducer)
    flat = b.reshape(x, (outer, n, inner))
    if outer * inner >= _WIDTH and (inner >= _ROW or reducer.costly):
        rows = _transposed(b, flat, (1, 0, 2))
        rows = _loop(b, b.reshape(rows, (n, outer * inner)), reverse, reducer)
        rows = _transposed(b, b.reshape(rows, (n, outer, inner)), (1, 0, 2))
        return b.reshape(rows, aval.shape)
    if n <= 4 * _BLOCK:
        return _reduce_window(b, x, axis, reverse, reducer)
    return b.reshape((_by_chunks if reducer.costly else _by_blocks)(b, flat, reverse, reducer), aval.shape)


def _padded(b, x, length, reverse, reducer):
    """``x[outer, n, inner]`` made longer by neutral elements, at the far end of the run."""
    outer, n, inner = x.aval.shape
    if length == n:
        return x
    low, high = (length - n, 0) if reverse else (0, length - n)
    start = b.scalar(reducer.start(x.aval.dtype), x.aval.dtype)
    return b.emit(f"stablehlo.pad {x}, {start}, low = [0, {low}, 0], high = [0, {high}, 0], interior = [0, 0, 0]", x, start,
                  out=ShapedArray((outer, length, inner), x.aval.dtype))


def _cropped(b, x, n, reverse):
    """The inverse of `_padded`."""
    outer, length, inner = x.aval.shape
    if length == n:
        return x
    low = length - n if reverse else 0
    return b.emit(f"stablehlo.slice {x} [0:{outer}:1, {low}:{low + n}:1, 0:{inner}:1]", x,
                  out=ShapedArray((outer, n, inner), x.aval.dtype))


def _shifted(b, x, reverse, reducer):
    """``x[outer, k, inner]`` moved on by one along its second axis, starting with the neutral element."""
    low, high = (-1, 1) if reverse else (1, -1)
    start = b.scalar(reducer.start(x.aval.dtype), x.aval.dtype)
    return b.emit(f"stablehlo.pad {x}, {start}, low = [0, {low}, 0], high = [0, {high}, 0], interior = [0, 0, 0]", x, start,
                  out=x.aval)


def _by_blocks(b, x, reverse, reducer):
    outer, n, inner = x.aval.shape
    dtype, count = x.aval.dtype, -(-n // _BLOCK)
    x = _padded(b, x, count * _BLOCK, reverse, reducer)
    blocks = b.reshape(x, (outer, count, _BLOCK, inner))
    total, part = ShapedArray((outer, count, inner), dtype), ShapedArray((outer, count, 1, inner), dtype)
    start, scalar = b.scalar(reducer.start(dtype), dtype), ShapedArray((), dtype)
    region = b.region([scalar, scalar], lambda inner_b, p, q: [reducer.emit(inner_b, p, q)])
    totals = b.emit(f'"stablehlo.reduce"({blocks}, {start}) ({region})', blocks, start, out=total,
                    attrs="{dimensions = array<i64: 2>}")
    running = _shifted(b, _accumulate(b, totals, 1, reverse, reducer), reverse, reducer)
    # kept as an array: fused into its readers, it would be computed anew for each element of a block, at every level
    running = b.emit(f"stablehlo.optimization_barrier {running}", running, out=total)
    running = b.reshape(running, part.shape)
    parts = []
    for i in reversed(range(_BLOCK)) if reverse else range(_BLOCK):
        element = b.emit(f"stablehlo.slice {blocks} [0:{outer}:1, 0:{count}:1, {i}:{i + 1}:1, 0:{inner}:1]", blocks, out=part)
        running = reducer.emit(b, running, element)
        parts.append(running)
    if reverse:
        parts.reverse()
    out = b.emit(f"stablehlo.concatenate {', '.join(map(str, parts))}, dim = 2", *parts, out=blocks.aval)
    return _cropped(b, b.reshape(out, x.aval.shape), n, reverse)


def _by_chunks(b, x, reverse, reducer):
    outer, n, inner = x.aval.shape
    dtype = x.aval.dtype
    # an odd number, as rows whose distance is a power of two share few lines of the cache
    chunks = min(max(1, _WIDTH // (outer * inner)), n // 16) | 1
    length = -(-n // chunks)
    x = _padded(b, x, chunks * length, reverse, reducer)
    rows = _transposed(b, b.reshape(x, (outer, chunks, length, inner)), (2, 0, 1, 3))
    rows = b.reshape(_loop(b, b.reshape(rows, (length, outer * chunks * inner)), reverse, reducer), rows.aval.shape)
    last = 0 if reverse else length - 1
    totals = b.emit(f"stablehlo.slice {rows} [{last}:{last + 1}:1, 0:{outer}:1, 0:{chunks}:1, 0:{inner}:1]", rows,
                    out=ShapedArray((1, outer, chunks, inner), dtype))
    totals = _accumulate(b, b.reshape(totals, (outer, chunks, inner)), 1, reverse, reducer)
    before = b.broadcast(_shifted(b, totals, reverse, reducer), rows.aval.shape, (1, 2, 3))
    out = _transposed(b, reducer.emit(b, before, rows), (1, 2, 0, 3))
    return _cropped(b, b.reshape(out, x.aval.shape), n, reverse)


def _transposed(b, x, order):
    shape = x.aval.shape
    kept = [i for i in order if shape[i] != 1]
    out = tuple(shape[i] for i in order)
    if kept == sorted(kept):
        return b.reshape(x, out)
    return b.emit(f"stablehlo.transpose {x}, dims = {list(order)}", x, out=ShapedArray(out, x.aval.dtype))


# -- the primitives --------------------------------------------------------------------------------------------------

def _type_rule(name, accepts):
    def rule(x, *, axis: int, reverse: bool):
        if not accepts(x.dtype):
            raise TypeError(f"{name} does not accept dtype {x.dtype}; convert the operand {x.str_short()} first.")
        if not 0 <= axis < x.ndim:
            raise ValueError(f"axis {axis} is out of bounds for array of shape {x.shape}")
        return x
    return rule


def _recurrent_jvp(bind, coefficients):
    """The tangent t of the results y by t[i] = a[i] t[i - 1] + c[i] dx[i], for ``coefficients(x, y, previous y)``."""
    def rule(primals: Sequence[Array], tangents: Sequence[Array], *, axis: int, reverse: bool):
        (x,), (g,) = primals, tangents
        out = bind(x, axis=axis, reverse=reverse)
        if isinstance(g, Zero):
            return out, Zero.of(out)
        a, c = coefficients(x, out, axis, reverse)
        return out, linear_recurrence(a, lax.mul(c, g), axis, reverse)
    return rule


def _product_coefficients(x, y, axis, reverse):
    return x, shifted(y, axis, reverse, 1)


def _extremum_coefficients(x, y, axis, reverse):
    """The element or the one before it, whichever is the extremum; half of each where they are equal, and none of NaN."""
    before = shifted(y, axis, reverse, np.nan)  # equal to nothing
    new, old = lax.eq(y, x), lax.eq(y, before)
    zero, half, one = zeros(ShapedArray(y.shape, y.dtype)), lax.full_like(y, 0.5), lax.full_like(y, 1)
    return [lax.select(mine, lax.select(other, half, one), zero) for mine, other in ((old, new), (new, old))]


def _logsumexp_coefficients(x, y, axis, reverse):
    """exp(y[i - 1] - y[i]) and exp(x[i] - y[i]); where y stays at one infinity, the element before has all the weight."""
    before = shifted(y, axis, reverse, -np.inf)
    zero, same = zeros(ShapedArray(y.shape, y.dtype)), lax.eq(before, y)
    part = lax.real(y) if dtypes.issubdtype(y.dtype, np.complexfloating) else y
    stays = lax.bitwise_and(same, lax.eq(lax.abs(part), lax.full_like(part, np.inf)))
    a = lax.exp(lax.select(same, zero, lax.sub(before, y)))
    c = lax.exp(lax.select(lax.eq(x, y), zero, lax.sub(x, y)))
    return a, lax.select(stays, zero, c)


def _numeric(dtype):
    return dtypes.issubdtype(dtype, np.number)


def _anything(dtype):
    return not isinstance(dtype, dtypes.ExtendedDType)


def _inexact(dtype):
    return dtypes.issubdtype(dtype, np.inexact)


def _cumulative(name, reducer, accepts, accumulate, cost=None, **rules):
    def batch(axis_data: AxisData, args: Sequence[object], dims, *, axis: int, reverse: bool):
        (x,), (d,) = args, dims
        return prim.bind(x, axis=axis + (d <= axis), reverse=reverse), d

    def reference(x: ArrayLike, *, axis: int, reverse: bool):
        x = np.flip(np.asarray(x), axis) if reverse else np.asarray(x)
        out = accumulate(x, axis=axis, dtype=x.dtype)
        return np.flip(out, axis) if reverse else out

    prim = Primitive(
        name, out_type=_type_rule(name, accepts), batch=batch,
        lower=lambda b, x, *, axis, reverse: _accumulate(b, x, axis, reverse, reducer),
        reference=reference, exact=integers, traits=Traits(Kind.SWEEP, cost, inner=Inner.WINDOWS, fast_on_host=True), **rules)
    return prim


def _not_linear(name):
    return none(f"{name} is not linear, so it has no transpose")


cumsum_p: Primitive = _cumulative(
    "cumsum", _Reducer(_op("add"), lambda dtype: 0), _numeric, np.add.accumulate, jvp=LINEAR,
    transpose=lambda ct, x, *, axis, reverse: cumsum_p.bind(ct, axis=axis, reverse=not reverse))

cumprod_p: Primitive = _cumulative(
    "cumprod", _Reducer(_op("multiply"), lambda dtype: 1), _numeric, np.multiply.accumulate,
    jvp=_recurrent_jvp(lambda x, **params: cumprod_p.bind(x, **params), _product_coefficients), transpose=_not_linear("cumprod"))

cummax_p: Primitive = _cumulative(
    "cummax", _Reducer(_emit_function(lambda x, y: lax.max(x, y)), lowest, costly=True), _anything, np.maximum.accumulate,
    jvp=_recurrent_jvp(lambda x, **params: cummax_p.bind(x, **params), _extremum_coefficients), transpose=_not_linear("cummax"))

cummin_p: Primitive = _cumulative(
    "cummin", _Reducer(_emit_function(lambda x, y: lax.min(x, y)), highest, costly=True), _anything, np.minimum.accumulate,
    jvp=_recurrent_jvp(lambda x, **params: cummin_p.bind(x, **params), _extremum_coefficients), transpose=_not_linear("cummin"))


def _logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), elementwise."""
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        return _complex_logaddexp(x, y)
    if x.dtype.itemsize == 1:  # differences would overflow
        return lax.convert_element_type(_logaddexp(*[lax.convert_element_type(v, np.float32) for v in (x, y)]), x.dtype)
    same = lax.eq(x, y)  # equal infinities have no difference, and no derivative of one
    difference = lax.select(same, zeros(ShapedArray(x.shape, x.dtype)), lax.sub(x, y))
    return lax.add(lax.max(x, y), lax.log1p(lax.exp(lax.neg(lax.abs(difference)))))


def _complex_logaddexp(x, y):
    top = lax.select(lax.ge(lax.real(x), lax.real(y)), x, y)
    low = lax.select(lax.ge(lax.real(x), lax.real(y)), y, x)
    finite = lax.gt(lax.real(top), np.asarray(-np.inf, lax.real(top).dtype)[()])
    within = lambda z: lax.complex(lax.real(z), _within_a_turn(lax.imag(z)))
    return lax.select(finite, within(lax.add(within(top), lax.log1p(lax.exp(lax.sub(low, top))))), top)


def _within_a_turn(angle):
    """The same angle from -pi to pi."""
    beyond = lax.gt(lax.abs(angle), np.asarray(np.pi, angle.dtype)[()])
    return lax.select(beyond, lax.atan2(lax.sin(angle), lax.cos(angle)), angle)


def _numpy_logcumsumexp(x, axis, dtype):
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis=axis, dtype=None if x.dtype.kind == "V" else dtype).astype(dtype)
    shift = np.max(x.real, axis=axis, keepdims=True)
    return (np.log(np.cumsum(np.exp(x - shift), axis=axis)) + shift).astype(dtype)


cumlogsumexp_p: Primitive = _cumulative(
    "cumlogsumexp", _Reducer(_emit_function(_logaddexp), lambda dtype: -np.inf if dtype.kind == "c" else lowest(dtype), costly=True), _inexact,
    _numpy_logcumsumexp, jvp=_recurrent_jvp(lambda x, **params: cumlogsumexp_p.bind(x, **params), _logsumexp_coefficients),
    transpose=_not_linear("cumlogsumexp"), cost=6.0)


# -- functions -------------------------------------------------------------------------------------------------------

def _bind(prim: Primitive, operand: Any, axis: int, reverse: bool) -> Any:
    operand = as_operand(prim.name, operand, 0)
    axis, rank = integer(f"lax.{prim.name}: axis", axis), np.ndim(operand)
    if not 0 <= axis < rank:
        raise ValueError(f"{prim.name}: axis {axis} must lie in [0, {rank}) for an array of shape {np.shape(operand)}")
    return prim.bind(operand, axis=axis, reverse=bool(reverse))


def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running sums along ``axis``, from its end with ``reverse``; in the operand's dtype.

    Source: Blelloch, "Prefix sums and their applications", 1990; of small arrays StableHLO `reduce_window` by `add`.

    >>> lax.cumsum(jnp.array([1, 2, 3]), reverse=True)
    Array([6, 5, 3], dtype=int32)
    """
    return _bind(cumsum_p, operand, axis, reverse)


def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running products along ``axis``, from its end with ``reverse``; in the operand's dtype.

    Source: Blelloch, "Prefix sums and their applications", 1990; of small arrays StableHLO `reduce_window` by `multiply`.

    >>> lax.cumprod(jnp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _bind(cumprod_p, operand, axis, reverse)


def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running maxima along ``axis``, from its end with ``reverse``; NaN from the first NaN on.

    Source: Blelloch, "Prefix sums and their applications", 1990; of small arrays StableHLO `reduce_window` by `maximum`.

    >>> lax.cummax(jnp.array([1, 3, 2, 5]))
    Array([1, 3, 3, 5], dtype=int32)
    """
    return _bind(cummax_p, operand, axis, reverse)


def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running minima along ``axis``, from its end with ``reverse``; NaN from the first NaN on.

    Source: Blelloch, "Prefix sums and their applications", 1990; of small arrays StableHLO `reduce_window` by `minimum`.

    >>> lax.cummin(jnp.array([4, 3, 5, 1]))
    Array([4, 3, 3, 1], dtype=int32)
    """
    return _bind(cummin_p, operand, axis, reverse)


def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of running sums of exponentials along ``axis``, without overflow; from its end with ``reverse``.

    Source: Blelloch, "Prefix sums and their applications", 1990.

    >>> lax.cumlogsumexp(jnp.zeros(3))
    Array([0.       , 0.6931472, 1.0986123], dtype=float32)
    """
    return _bind(cumlogsumexp_p, operand, axis, reverse)
