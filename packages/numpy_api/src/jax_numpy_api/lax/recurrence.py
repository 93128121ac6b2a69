"""The linear recurrence h[i] = a[i] h[i - 1] + b[i], which the derivatives of running products, extrema and
log-sum-exps are.

On CPU it is a loop along the axis, each step of which works on all other axes at once. A long axis is cut into chunks
that lie side by side; each chunk's recurrence is started from zero, and what the chunks before it contribute is added
afterwards, times the running product of ``a``. Left aside: `associative_scan` on pairs, whose program grows with the
logarithm of the length and took seconds to compile; other platforms use it.

Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, section 1.4.1 (first-order recurrences).
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.traces.structural import bdim_at_front, instantiate
from jax_numpy_api import lax

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array
    from jax_core.representation.typing import ArrayLike

_COUNTER = np.dtype(np.int32)
_WIDTH = 2048  # elements that one step of the loop works on, at least


def shifted(x: Array, axis: int, reverse: bool, fill: object = 0) -> Any:
    """``x`` moved on by one along ``axis`` in the direction of the run; ``fill`` comes first."""
    config = [(0, 0, 0)] * np.ndim(x)
    config[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    return lax.pad(x, np.asarray(fill, x.dtype)[()], config)


# -- rules -----------------------------------------------------------------------------------------------------------

def _type(a, b, *, axis, reverse):
    if a.shape != b.shape or a.dtype != b.dtype:
        raise TypeError(f"linear_recurrence: factors {a.str_short()} and terms {b.str_short()} must have one type.")
    return b


def _jvp(primals, tangents, *, axis, reverse):
    """dh[i] = a[i] dh[i - 1] + (da[i] h[i - 1] + db[i])."""
    (a, b), (ga, gb) = primals, tangents
    out = linear_recurrence_p.bind(a, b, axis=axis, reverse=reverse)
    if isinstance(ga, Zero) and isinstance(gb, Zero):
        return out, Zero.of(out)
    term = instantiate(gb)
    if not isinstance(ga, Zero):
        change = lax.mul(ga, shifted(out, axis, reverse))
        term = change if isinstance(gb, Zero) else lax.add(change, gb)
    return out, linear_recurrence_p.bind(a, term, axis=axis, reverse=reverse)


def _transpose(ct, a, b, *, axis, reverse):
    if is_linear(a):
        raise NotImplementedError("linear_recurrence is linear in its terms only")
    back = shifted(a, axis, not reverse)
    return None, linear_recurrence_p.bind(back, ct, axis=axis, reverse=not reverse)


def _batch(axis_data, args, dims, *, axis, reverse):
    a, b = (bdim_at_front(x, d, axis_data) for x, d in zip(args, dims))
    return linear_recurrence_p.bind(a, b, axis=axis + 1, reverse=reverse), 0


def _reference(a, b, *, axis, reverse):
    a, b = (np.moveaxis(np.asarray(x), axis, 0) for x in (a, b))
    out, order = np.array(b), range(len(b))
    for i in list(reversed(order) if reverse else order)[1:]:
        out[i] = a[i] * out[i + 1 if reverse else i - 1] + b[i]
    return np.moveaxis(out, 0, axis)


# -- lowering --------------------------------------------------------------------------------------------------------

def _lower(b, factors, terms, *, axis, reverse):
    shape = terms.aval.shape
    n, outer, inner = shape[axis], math.prod(shape[:axis]), math.prod(shape[axis + 1:])
    if n <= 1 or terms.aval.size == 0:
        return terms
    if b.platform != "cpu":
        return b.fun(_by_associative_scan, factors, terms, axis=axis, reverse=reverse)[0]
    width = outer * inner
    chunks = min(max(1, _WIDTH // width), math.isqrt(n))
    if chunks == 1:
        rows = [_rows(b, x, outer, n, inner) for x in (factors, terms)]
        return _back(b, _loop(b, *rows, reverse)[0], outer, inner, shape)
    length = -(-n // chunks)
    missing = chunks * length - n
    if missing:  # the far end of the run is made longer, where nobody is left to read it
        factors, terms = (_pad(b, x, axis, missing, reverse) for x in (factors, terms))
    rows = [_rows(b, x, outer, length, inner, chunks) for x in (factors, terms)]
    local, products = _loop(b, *rows, reverse, products=True)
    out = _join_chunks(b, local, products, outer, chunks, inner, reverse)
    padded = (*shape[:axis], n + missing, *shape[axis + 1:])
    out = _back(b, out, outer, inner, padded, chunks)
    if not missing:
        return out
    low = missing if reverse else 0
    bounds = ", ".join(f"{low if i == axis else 0}:{(low if i == axis else 0) + m}:1" for i, m in enumerate(shape))
    return b.emit(f"stablehlo.slice {out} [{bounds}]", out, out=terms.aval.update(shape=shape))


def _combine(earlier, later):
    (a1, b1), (a2, b2) = earlier, later
    return lax.mul(a2, a1), lax.add(lax.mul(a2, b1), b2)


def _by_associative_scan(a, b, *, axis, reverse):
    return [lax.associative_scan(_combine, (a, b), reverse=reverse, axis=axis)[1]]


def _pad(b, x, axis, missing, reverse):
    zero, rank = b.scalar(0, x.aval.dtype), x.aval.ndim
    ends = [missing if i == axis else 0 for i in range(rank)]
    none = [0] * rank
    low, high = (ends, none) if reverse else (none, ends)
    shape = [n + m for n, m in zip(x.aval.shape, ends)]
    return b.emit(f"stablehlo.pad {x}, {zero}, low = {low}, high = {high}, interior = {none}", x, zero,
                  out=ShapedArray(shape, x.aval.dtype))


def _rows(b, x, outer, length, inner, chunks=1):
    """``x`` as ``[length, outer * chunks * inner]``: step i of all runs side by side."""
    x = b.reshape(x, (outer, chunks, length, inner))
    x = b.emit(f"stablehlo.transpose {x}, dims = [2, 0, 1, 3]", x, out=ShapedArray((length, outer, chunks, inner), x.aval.dtype))
    return b.reshape(x, (length, outer * chunks * inner))


def _back(b, rows, outer, inner, shape, chunks=1):
    """The inverse of `_rows`."""
    length = rows.aval.shape[0]
    x = b.reshape(rows, (length, outer, chunks, inner))
    x = b.emit(f"stablehlo.transpose {x}, dims = [1, 2, 0, 3]", x, out=ShapedArray((outer, chunks, length, inner), x.aval.dtype))
    return b.reshape(x, shape)


def _binary(b, name, x, y):
    return b.emit(f"stablehlo.{name} {x}, {y}", x, y, out=x.aval)


def _loop(b, factors, terms, reverse, products=False):
    """The recurrence along the first axis of ``[n, m]`` arrays, and the running products of the factors if wanted: in an array of their own, as two
    kernels read the factors, for which XLA would copy all of them in each step if they were overwritten."""
    n, m = terms.aval.shape
    counter, row, whole = ShapedArray((), _COUNTER), ShapedArray((1, m), terms.aval.dtype), terms.aval
    first = n - 1 if reverse else 0

    def start(x: Array):
        return b.emit(f"stablehlo.slice {x} [{first}:{first + 1}:1, 0:{m}:1]", x, out=row)

    def condition(inner: Builder, i: Value, *_):
        last = inner.scalar(n, _COUNTER)
        return [inner.emit(f"stablehlo.compare LT, {i}, {last}, SIGNED", i, last, out=ShapedArray((), bool))]

    def body(inner, i: ArrayLike, h, a, x, p=None, running=None):
        zero, one, at = inner.scalar(0, _COUNTER), inner.scalar(1, _COUNTER), i
        if reverse:
            at = _binary(inner, "subtract", inner.scalar(n - 1, _COUNTER), i)

        def read(y: ArrayLike):
            return inner.emit(f"stablehlo.dynamic_slice {y}, {at}, {zero}, sizes = [1, {m}]", y, at, zero, out=row)

        def write(y: ArrayLike, part):
            return inner.emit(f"stablehlo.dynamic_update_slice {y}, {part}, {at}, {zero}", y, part, at, zero, out=whole)
        factor = read(a)
        h = _binary(inner, "add", _binary(inner, "multiply", factor, h), read(x))
        outs = [_binary(inner, "add", i, one), h, a, write(x, h)]
        if products:
            p = _binary(inner, "multiply", factor, p)
            outs += [p, write(running, p)]
        return outs

    avals, operands = [counter, row, whole, whole], [b.scalar(1, _COUNTER), start(terms), factors, terms]
    if products:
        zeros, p, at = b.full(0, whole), start(factors), (b.scalar(first, _COUNTER), b.scalar(0, _COUNTER))
        running = b.emit(f"stablehlo.dynamic_update_slice {zeros}, {p}, {at[0]}, {at[1]}", zeros, p, *at, out=whole)
        avals, operands = [*avals, row, whole], [*operands, p, running]
    text = f'"stablehlo.while"({", ".join(map(str, operands))}) ({b.region(avals, condition)}, {b.region(avals, body)})'
    outs = b.emit(text, *operands, out=avals)
    return outs[3], outs[-1]


def _join_chunks(b, local, products, outer, chunks, inner, reverse):
    """Add to each chunk what those before it contribute: the running product times their last value."""
    length, dtype = local.aval.shape[0], local.aval.dtype
    last = 0 if reverse else length - 1
    ends = []
    for x in (products, local):
        end = b.emit(f"stablehlo.slice {x} [{last}:{last + 1}:1, 0:{outer * chunks * inner}:1]", x,
                     out=ShapedArray((1, outer * chunks * inner), dtype))
        ends.append(_rows(b, end, outer, chunks, inner))
    carried, _ = _loop(b, *ends, reverse)
    zero = b.scalar(0, dtype)
    low, high = ([-1, 0], [1, 0]) if reverse else ([1, 0], [-1, 0])
    carried = b.emit(f"stablehlo.pad {carried}, {zero}, low = {low}, high = {high}, interior = [0, 0]", carried, zero,
                     out=carried.aval)
    carried = _back(b, carried, outer, inner, (1, outer * chunks * inner))
    carried = b.broadcast(b.reshape(carried, (outer * chunks * inner,)), local.aval.shape, (1,))
    # where nothing is carried the product does not count, be it infinite
    nothing = b.full(0, local.aval)
    idle = b.emit(f"stablehlo.compare EQ, {carried}, {nothing}, FLOAT", carried, nothing,
                  out=ShapedArray(local.aval.shape, bool))
    more = _binary(b, "add", _binary(b, "multiply", products, carried), local)
    return b.emit(f"stablehlo.select {idle}, {local}, {more}", idle, local, more, out=local.aval)


linear_recurrence_p = Primitive("linear_recurrence", out_type=_type, jvp=_jvp, transpose=_transpose, batch=_batch, lower=_lower,
                                reference=_reference)


def linear_recurrence(a: Array, b: Array, axis: int, reverse: bool = False) -> Any:
    """h with ``h[i] = a[i] h[i - 1] + b[i]`` and ``h[0] = b[0]`` along ``axis`` (from its end with ``reverse``).

    Args:
      a, b: inexact arrays of one type; the first factor is not read.

    Raises:
      TypeError: the types differ.
    """
    return linear_recurrence_p.bind(a, b, axis=axis, reverse=reverse)
