"""Reductions over sliding windows, and the gradients of their extrema.

Sums, maxima and minima have primitives of their own; any other function goes through `reduce_window_p`, whose
derivative works on the window's positions one by one, each a strided slice of the padded operand.

Source: StableHLO specification, `reduce_window`, `select_and_scatter`.
"""
from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes, splits, tree
from jax_core.representation.arguments import check_callable, int_rows, integers
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive, Zero, is_linear, none
from jax_core.representation.traits import Inner, Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, matchaxis, moved, zeros
from jax_core.traces.trace import to_concrete_value
from jax_core.transformations.batching import batch_fun
from jax_core.transformations.forward import jvp_flat
from jax_numpy_api import lax

from . import window_cpu
from .nan_cpu import drops_nan, emit_choice
from .nary import int_array
from .pad import emit_pad
from .reduce import check_start, highest, identity_for, lowest
from .scalar_programs import check_closed, is_arithmetic, on_arrays

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array
    from jax_core.transformations.batching import AxisData

# -- shapes ----------------------------------------------------------------------------------------------------------

def _dilated(n, dilation):
    return (n - 1) * dilation + 1 if n else 0


def _out_shape(shape, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    out = []
    for n, w, s, (low, high), bd, wd in zip(shape, window_dimensions, window_strides, padding, base_dilation,
                                            window_dilation):
        room = _dilated(n, bd) + low + high - _dilated(w, wd)
        out.append(room // s + 1 if room >= 0 else 0)
    return tuple(out)


def reduce_window_shape_tuple(operand_shape: Sequence[int], window_dimensions: Sequence[int], window_strides: Sequence[int],
                              padding: Sequence[tuple[int, int]], base_dilation: Sequence[int] | None = None,
                              window_dilation: Sequence[int] | None = None) -> tuple[int, ...]:
    """Shape of a reduction over windows.

    Args:
      window_dimensions, window_strides, padding, base_dilation, window_dilation: as for `reduce_window`.

    Source: StableHLO `reduce_window`, its rules of shapes.

    >>> jax.lax.reduce_window_shape_tuple((8, 8), (2, 2), (2, 2), ((0, 0), (0, 0)))
    (4, 4)
    """
    ones = (1,) * len(operand_shape)
    return _out_shape(operand_shape, window_dimensions, window_strides, padding, base_dilation or ones,
                      window_dilation or ones)


def _check(name, shape, params):
    for key in ("window_dimensions", "window_strides", "base_dilation", "window_dilation"):
        values = params.get(key)
        if values is None:
            continue
        if len(values) != len(shape):
            raise TypeError(f"{name} got the wrong number of {key} for operand: got operand shape {shape} with {key} {values}.")
        if any(v < 1 for v in values):
            raise TypeError(f"{name} {key} must have every element be strictly positive, got {tuple(values)}.")
    if len(params["padding"]) != len(shape):
        raise TypeError(f"{name}: padding={params['padding']} must have one pair for each axis of operand shape {shape}.")


def _full_params(params):
    """Parameters of select_and_scatter with the dilations that it does not have."""
    ones = (1,) * len(params["window_dimensions"])
    return dict({"base_dilation": ones, "window_dilation": ones}, **params)


def _shape_of(shape, params):
    full = _full_params(params)
    return _out_shape(shape, *(full[k] for k in ("window_dimensions", "window_strides", "padding", "base_dilation",
                                                 "window_dilation")))


def _with_axis(params):
    """The parameters for operands with one more axis in front."""
    out = dict(params)
    for key in ("window_dimensions", "window_strides", "base_dilation", "window_dilation"):
        if key in out:
            out[key] = (1, *out[key])
    out["padding"] = ((0, 0), *out["padding"])
    return out


# -- lowering --------------------------------------------------------------------------------------------------------

def _pads_text(padding):
    rank = len(padding)
    body = "[" + ", ".join(f"[{low}, {high}]" for low, high in padding) + "]" if rank else ""
    return f"dense<{body}> : tensor<{rank}x2xi64>"


def _emit_reduce_window(b, values, out, body, params):
    """``body(builder, *old, *new)`` combines scalars. ``values``: operands, then initial values."""
    scalars = [ShapedArray((), aval.dtype) for aval in out]
    region = b.region(scalars * 2, body)
    attrs = (f"{{window_dimensions = {int_array(params['window_dimensions'])}, window_strides = {int_array(params['window_strides'])}, "
             f"base_dilations = {int_array(params['base_dilation'])}, window_dilations = {int_array(params['window_dilation'])}, "
             f"padding = {_pads_text(params['padding'])}}}")
    return b.emit(f'"stablehlo.reduce_window"({", ".join(map(str, values))}) ({region})', *values, out=list(out), attrs=attrs)


def _loses_holes(b, params):
    """Whether an axis is spread out whose windows hold one element at each place: XLA's CPU compiler (jaxlib 0.10.2 to 0.12) makes
    large operands a kernel that knows no holes there, and reads beyond their end."""
    return b.platform == "cpu" and any(w == s == 1 < d for w, s, d in zip(*(params[k] for k in ("window_dimensions", "window_strides", "base_dilation"))))


def _pads_first(b, params):
    return _loses_holes(b, params) or any(end < 0 for ends in params["padding"] for end in ends)


def _padded_first(x, params, fill, kept):
    """The operand with its holes and less what negative padding cuts, as XLA's windows have none; where that takes more than
    there is, the axis is padded whole. And the parameters of what is left. ``kept``: the compiler shall not put the holes back into the windows."""
    padding, base = params["padding"], params["base_dilation"]
    cut = [(low, high) if min(low, 0) + min(high, 0) + _dilated(n, d) < 0 else (min(low, 0), min(high, 0)) for (low, high), n, d in zip(padding, x.shape, base)]
    x = lax.pad(x, fill, [(*ends, d - 1) for ends, d in zip(cut, base)])
    if kept:
        x = lax.optimization_barrier(x)
    rest = tuple((low - first, high - last) for (low, high), (first, last) in zip(padding, cut))
    return x, dict(params, padding=rest, base_dilation=(1,) * len(base))


# -- sum, max, min ---------------------------------------------------------------------------------------------------

def _window_type(name):
    def rule(x: Array, **params):
        _check(name, x.shape, params)
        return ShapedArray(_shape_of(x.shape, params), x.dtype, x.weak_type)
    return rule


def _window_batch(bind):
    def rule(axis: AxisData, args, dims: Sequence[int | None], **params):
        return bind(moved(args[0], dims[0], 0), **_with_axis(params)), 0
    return rule


def _window_lower(op, start):
    def rule(b: Builder, x, **params):
        out = b.out_avals[0]
        if out.size == 0:
            return b.full(0, out)
        if _pads_first(b, params):
            return b.fun(_reduce_padded, x, start=start(x.aval.dtype), params=_Hashable(params), op=op, kept=_loses_holes(b, params))[0]
        if b.platform == "cpu" and not b.one_form:
            found = window_cpu.combined_slices(b, x, op, start(x.aval.dtype), params)
            if found is None and op == "add":
                found = window_cpu.spread_sum(b, x, params)
            if found is not None:
                return found
        init = b.scalar(start(x.aval.dtype), x.aval.dtype)
        emit = lambda inner, old, new: [inner.emit(f"stablehlo.{op} {old}, {new}", old, new, out=old.aval)]
        if op != "add" and drops_nan(b, x.aval):
            emit = lambda inner, old, new: [emit_choice(inner, f"stablehlo.{op}", old, new)]
        return _emit_reduce_window(b, [x, init], [out], emit, params)[0]
    return rule


class _Hashable:
    """Parameters of a traced helper."""

    def __init__(self, params):
        self.params = params
        self.key = tuple(sorted(params.items()))

    def __hash__(self):
        return hash(self.key)

    def __eq__(self, other):
        return type(other) is _Hashable and self.key == other.key


def _reduce_padded(x, *, start, params, op, kept):
    x, rest = _padded_first(x, params.params, np.asarray(start, x.dtype)[()], kept)
    return [{"add": reduce_window_sum_p, "maximum": reduce_window_max_p, "minimum": reduce_window_min_p}[op].bind(x, **rest)]


def _sum_transpose(ct, x, *, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """Each element of the cotangent, spread out by the strides, goes back to all elements of its window."""
    pads = []
    for n, m, w, s, (low, _), bd, wd in zip(x.aval.shape, np.shape(ct), window_dimensions, window_strides, padding,
                                            base_dilation, window_dilation):
        first = _dilated(w, wd) - 1 - low
        pads.append((first, _dilated(n, bd) - _dilated(m, s) + low))
    if 0 in np.shape(ct):
        return zeros(splits.cotangent_type(x.aval))
    return reduce_window_sum_p.bind(ct, window_dimensions=window_dimensions, window_strides=base_dilation,
                                    padding=tuple(pads), base_dilation=window_strides, window_dilation=window_dilation)


WINDOWS, POOLED = Traits(Kind.KERNEL, inner=Inner.WINDOWS), Traits(Kind.KERNEL, inner=Inner.POOLED)

reduce_window_sum_p: Primitive = Primitive(
    "reduce_window_sum", out_type=_window_type("reduce_window_sum"), jvp=LINEAR, transpose=_sum_transpose,
    batch=_window_batch(lambda x, **params: reduce_window_sum_p.bind(x, **params)), lower=_window_lower("add", lambda dtype: 0),
    traits=POOLED, splits=splits.as_first)


def _extremum(name, op, start, select):
    def jvp(primals, tangents, **params):
        (x,), (g,) = primals, tangents
        out = prim.bind(x, **params)
        if isinstance(g, Zero):
            return out, Zero.of(out)
        return out, select_and_gather_add_p.bind(g, x, select_prim=select(), **params)

    prim = Primitive(
        name, out_type=_window_type(name), jvp=jvp, transpose=none(f"{name} is not linear, so it has no transpose"),
        batch=_window_batch(lambda x, **params: prim.bind(x, **params)), lower=_window_lower(op, start),
        traits=POOLED, splits=splits.as_first)
    return prim


reduce_window_max_p = _extremum("reduce_window_max", "maximum", lowest, lambda: lax.ge_p)
reduce_window_min_p = _extremum("reduce_window_min", "minimum", highest, lambda: lax.le_p)

# -- gradients of extrema --------------------------------------------------------------------------------------------

def _direction(select_prim):
    return "GE" if select_prim is lax.ge_p else "LE"


def _start(select_prim, dtype):
    return lowest(dtype) if select_prim is lax.ge_p else highest(dtype)


def _compare(b, direction, x, y):
    dtype = x.aval.dtype
    kind = "FLOAT" if dtypes.issubdtype(dtype, np.floating) else "UNSIGNED" if dtype.kind in "ub" else "SIGNED"
    return b.emit(f"stablehlo.compare {direction}, {x}, {y}, {kind}", x, y, out=ShapedArray((), bool))


def _gather_add_type(g, x, *, select_prim, **params):
    _check("select_and_gather_add", x.shape, params)
    if g.shape != x.shape:
        raise TypeError(f"select_and_gather_add: tangents {g.str_short()} and operand {x.str_short()} must have one shape.")
    return ShapedArray(_shape_of(x.shape, params), g.dtype)


def _gather_add_lower(b, g, x, *, select_prim, **params):
    """A window reduction of pairs: the extremum takes its tangent along."""
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    if b.platform == "cpu":
        found = window_cpu.chosen_tangents(b, g, x, select_prim, _start(select_prim, x.aval.dtype), params)
        if found is not None:
            return found
    direction = _direction(select_prim)

    def pick(inner: Builder, x: Value, g, y: Value, h):
        keep = _compare(inner, direction, x, y)
        return [inner.emit(f"stablehlo.select {keep}, {p}, {q}", keep, p, q, out=p.aval) for p, q in ((x, y), (g, h))]
    inits = [b.scalar(_start(select_prim, x.aval.dtype), x.aval.dtype), b.scalar(0, g.aval.dtype)]
    outs = _emit_reduce_window(b, [x, g, *inits], [ShapedArray(out.shape, x.aval.dtype), out], pick, params)
    return outs[1]


def _gather_add_transpose(ct, g, x, *, select_prim, **params):
    if not is_linear(g):
        raise NotImplementedError("select_and_gather_add is linear in the tangents only")
    if all(d == 1 for d in (*params["base_dilation"], *params["window_dilation"])):
        rest = {k: params[k] for k in ("window_dimensions", "window_strides", "padding")}
        return select_and_scatter_add_p.bind(ct, x, select_prim=select_prim, **rest), None
    return _scatter_dilated(ct, x, select_prim, params), None


def _scatter_dilated(ct, x, select_prim, params):
    """For dilated windows, which select_and_scatter does not have: find where each window's extremum is, and add there.

    Elements are counted from 1, as a window that holds nothing but padding finds 0, which is then an index out of bounds.
    """
    shape, size = np.shape(x), math.prod(np.shape(x))
    one = np.int32(1) if size < 2**31 - 1 else np.int64(1)
    counted = lax.add(lax.iota(one.dtype, size), one)
    where = lax.sub(select_and_gather_add_p.bind(lax.reshape(counted, shape), x, select_prim=select_prim, **params), one)
    flat = lax.reshape(where, (math.prod(where.shape), 1))
    total = zeros(ShapedArray((size,), ct.dtype))
    scatter = lax.ScatterDimensionNumbers((), (0,), (0,))
    found = lax.scatter_add_p.bind(total, flat, lax.reshape(ct, (ct.size,)), dimension_numbers=scatter, indices_are_sorted=False,
                                   unique_indices=False, mode=lax.GatherScatterMode.FILL_OR_DROP, update_jaxpr=None, update_consts=())
    return lax.reshape(found, shape)


def _gather_add_batch(axis, args, dims, **params):
    g, x = (bdim_at_front(a, d, axis) for a, d in zip(args, dims))
    return select_and_gather_add_p.bind(g, x, **_with_axis(params)), 0


select_and_gather_add_p: Primitive = Primitive(
    "select_and_gather_add", out_type=_gather_add_type,
    jvp=(lambda t, out, g, x, **params: select_and_gather_add_p.bind(t, x, **params), None),
    transpose=_gather_add_transpose, batch=_gather_add_batch, lower=_gather_add_lower,
    traits=Traits(Kind.KERNEL, inner=Inner.PIECES), splits=splits.as_first)


def _scatter_add_type(source, x, *, select_prim, **params):
    _check("select_and_scatter_add", x.shape, params)
    if source.shape != _shape_of(x.shape, params):
        raise TypeError(f"select_and_scatter_add: source {source.str_short()} must have the shape of the windows of operand "
                        f"{x.str_short()}, {_shape_of(x.shape, params)}.")
    return ShapedArray(x.shape, source.dtype)


def _scatter_add_lower(b, source, x, *, select_prim, window_dimensions, window_strides, padding):
    out = b.out_avals[0]
    if source.aval.size == 0 or out.size == 0:
        return b.full(0, out)
    if not out.shape:  # the one window of a scalar is itself; compilers expect an axis
        return source
    if b.platform == "cpu":
        found = window_cpu.scatter_to_chosen(b, source, x, select_prim, _start(select_prim, x.aval.dtype), window_dimensions,
                                             window_strides, padding)
        if found is not None:
            return found
    start = b.scalar(_start(select_prim, x.aval.dtype), x.aval.dtype)
    lows, highs = zip(*padding) if padding else ((), ())
    padded = ShapedArray([n + low + high for n, low, high in zip(out.shape, lows, highs)], x.aval.dtype)
    whole = any(lows) or any(highs)
    if whole:  # the border must lose every comparison, so it is made explicit
        x = emit_pad(b, x, start, [(low, high, 0) for low, high in padding])
    zero = b.scalar(0, source.aval.dtype)
    pair, add = [ShapedArray((), x.aval.dtype)] * 2, [ShapedArray((), source.aval.dtype)] * 2
    select = b.region(pair, lambda inner, p, q: [_compare(inner, _direction(select_prim), p, q)])
    combine = b.region(add, lambda inner, p, q: [inner.emit(f"stablehlo.add {p}, {q}", p, q, out=p.aval)])
    found = b.emit(
        f'"stablehlo.select_and_scatter"({x}, {source}, {zero}) ({select}, {combine})', x, source, zero,
        out=padded.update(dtype=source.aval.dtype),
        attrs=f"{{window_dimensions = {int_array(window_dimensions)}, window_strides = {int_array(window_strides)}, "
              f"padding = {_pads_text([(0, 0)] * out.ndim)}}}")
    if not whole:
        return found
    # the inverse of the padding, which crops what was added and restores what was cropped
    return emit_pad(b, found, zero, [(-low, -high, 0) for low, high in padding])


def _scatter_add_transpose(ct, source, x, *, select_prim, **params):
    if not is_linear(source):
        raise NotImplementedError("select_and_scatter_add is linear in the source only")
    return select_and_gather_add_p.bind(ct, x, select_prim=select_prim, **_full_params(params)), None


def _scatter_add_batch(axis, args, dims, **params):
    source, x = (bdim_at_front(a, d, axis) for a, d in zip(args, dims))
    return select_and_scatter_add_p.bind(source, x, **_with_axis(params)), 0


def _as_operand(prim, avals, outs, params):
    """As the operand that is chosen from, not as the source of what is added."""
    return [splits.entries(avals[1])]


select_and_scatter_add_p: Primitive = Primitive(
    "select_and_scatter_add", out_type=_scatter_add_type,
    jvp=(lambda t, out, source, x, **params: select_and_scatter_add_p.bind(t, x, **params), None),
    transpose=_scatter_add_transpose, batch=_scatter_add_batch, lower=_scatter_add_lower,
    traits=Traits(Kind.KERNEL, inner=Inner.PIECES), splits=_as_operand)


def _scatter_type(x, source, init, *, select_jaxpr, scatter_jaxpr, **params):
    _check("select_and_scatter", x.shape, params)
    return ShapedArray(x.shape, x.dtype)


def _scatter_lower(b, x, source, init, *, select_jaxpr, scatter_jaxpr, window_dimensions, window_strides, padding):
    scalars = [ShapedArray((), x.aval.dtype)] * 2
    select = b.region(scalars, lambda inner, *args: inner.jaxpr(select_jaxpr, *args))
    combine = b.region(scalars, lambda inner, *args: inner.jaxpr(scatter_jaxpr, *args))
    return b.emit(f'"stablehlo.select_and_scatter"({x}, {source}, {init}) ({select}, {combine})', x, source, init,
                  out=b.out_avals[0],
                  attrs=f"{{window_dimensions = {int_array(window_dimensions)}, window_strides = {int_array(window_strides)}, "
                        f"padding = {_pads_text(padding)}}}")


def _scatter_batch(axis, args, dims, **params):
    x, source, init = args
    if dims[2] is not None:
        raise NotImplementedError("select_and_scatter: vmap over the initial value")
    x, source = bdim_at_front(x, dims[0], axis), bdim_at_front(source, dims[1], axis)
    return select_and_scatter_p.bind(x, source, init, **_with_axis(params)), 0


select_and_scatter_p = Primitive(
    "select_and_scatter", cacheable=False, out_type=_scatter_type,
    jvp=none("select_and_scatter with functions of the caller has no derivative rule"),
    transpose=none("select_and_scatter with functions of the caller is not linear"), batch=_scatter_batch,
    lower=_scatter_lower)

# -- any function ----------------------------------------------------------------------------------------------------

def _halves(xs):
    n = len(xs) // 2
    return list(xs[:n]), list(xs[n:])


def _general_type(*avals, jaxpr, consts, **params):
    operands, inits = _halves(avals)
    for x, init in zip(operands, inits):
        if x.shape != operands[0].shape:
            raise TypeError(f"reduce_window: operands must have one shape, got {[x.shape for x in operands]}.")
        if init.shape != ():
            raise TypeError(f"lax.reduce_window: each of init_values must be a scalar, got shapes {[i.shape for i in inits]}")
        if init.dtype != x.dtype:
            raise TypeError(f"reduce_window: initial value {init.str_short()} must have the dtype of operand {x.str_short()}.")
    _check("reduce_window", operands[0].shape, params)
    shape = _shape_of(operands[0].shape, params)
    return [ShapedArray(shape, x.dtype) for x in operands]


_FEW_POSITIONS = 32  # more are a loop, as each has a copy of the program


def _by_positions(operands, inits, jaxpr, params):
    """The same reduction as a fold over the positions of a window: differentiable, and any number of operands."""
    shape = _shape_of(np.shape(operands[0]), params)
    total = [broadcast_in_dim(init, shape, tuple(range(np.ndim(init)))) for init in inits]
    if 0 in shape:
        return total
    config = [(low, high, d - 1) for (low, high), d in zip(params["padding"], params["base_dilation"])]
    padded = [lax.pad(x, init, config) for x, init in zip(operands, inits)]
    strides, spans = params["window_strides"], [(m - 1) * s + 1 for m, s in zip(shape, params["window_strides"])]
    positions = [[p * d for p, d in zip(position, params["window_dilation"])]
                 for position in itertools.product(*map(range, params["window_dimensions"]))]
    if len(positions) <= _FEW_POSITIONS:
        for start in positions:
            part = [lax.slice(x, start, [i + n for i, n in zip(start, spans)], strides) for x in padded]
            total = on_arrays(jaxpr, [*total, *part])
        return total

    def step(total: list, start: Array):
        part = [lax.slice(lax.dynamic_slice(x, start, spans), [0] * len(spans), spans, strides) for x in padded]
        return on_arrays(jaxpr, [*total, *part]), None
    return lax.scan(step, total, np.array(positions, np.int32))[0]


def _general_jvp(primals, tangents, *, jaxpr, consts, **params):
    outs = reduce_window_p.bind(*primals, jaxpr=jaxpr, consts=consts, **params)
    _, found = jvp_flat(lambda *args: _by_positions(*_halves(args), jaxpr, params), list(primals), list(tangents))
    return outs, found


def _general_batch(axis, args, dims, *, jaxpr, consts, **params):
    operands, inits = _halves(args)
    if any(d is not None for d in _halves(dims)[1]):  # a window has one initial value, so each is folded by itself
        fold, out_dims = batch_fun(lambda *xs: _by_positions(*_halves(xs), jaxpr, params), axis, dims)
        outs = fold(*args)
        return [matchaxis(axis, x, d, 0) for x, d in zip(outs, out_dims())], [0] * len(outs)
    operands = [bdim_at_front(x, d, axis) for x, d in zip(operands, dims)]
    outs = reduce_window_p.bind(*operands, *inits, jaxpr=jaxpr, consts=consts, **_with_axis(params))
    return outs, [0] * len(outs)


def _general_lower(b, *values, jaxpr, consts, **params):
    if b.out_avals[0].size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    if _pads_first(b, params):
        return b.fun(_reduce_padded_by, *values, jaxpr=jaxpr, consts=consts, params=_Hashable(params), kept=_loses_holes(b, params))
    return _emit_reduce_window(b, values, b.out_avals, lambda inner, *args: inner.jaxpr(jaxpr, *args), params)


def _reduce_padded_by(*values, jaxpr, consts, params, kept):
    operands, inits = _halves(values)
    padded = [_padded_first(x, params.params, init, kept) for x, init in zip(operands, inits)]
    return reduce_window_p.bind(*(x for x, _ in padded), *inits, jaxpr=jaxpr, consts=consts, **padded[0][1])


reduce_window_p = Primitive(
    "reduce_window", multiple_results=True, cacheable=False, out_type=_general_type, jvp=_general_jvp,
    transpose=none("reduce_window by a function is not linear, so it has no transpose"), batch=_general_batch,
    lower=_general_lower, traits=WINDOWS, splits=splits.as_each)

# -- the function ----------------------------------------------------------------------------------------------------

def _known_reducer(computation, init, dtype):
    """The primitive of its own, if the function is add, max or min and the initial value its neutral element."""
    value = to_concrete_value(init)
    if computation not in (lax.add, lax.max, lax.min) or value is None or np.shape(value) != ():
        return None
    if computation is lax.add and value == 0 and dtype != bool:
        return reduce_window_sum_p
    if np.iscomplexobj(value):
        return None
    value = np.asarray(value).astype(dtype)
    if dtypes.issubdtype(dtype, np.complexfloating):
        return None
    if computation is lax.max and value == np.asarray(lowest(dtype), dtype):
        return reduce_window_max_p
    if computation is lax.min and value == np.asarray(highest(dtype), dtype):
        return reduce_window_min_p
    return None


def reduce_window(operand: ArrayLike, init_value: ArrayLike, computation: Callable[..., object],
                  window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None,
                  padding: str | Sequence[tuple[int, int]] = "VALID", base_dilation: Sequence[int] | None = None,
                  window_dilation: Sequence[int] | None = None) -> Any:
    """Reduce every window of an array, or of several arrays of one shape together.

    Args:
      operand: an array, or a pytree of arrays.
      init_value: scalars, where a window starts; also what the padding holds.
      computation: associative function of two values (pytrees of scalars) to one.
      window_dimensions: lengths of a window.
      window_strides: steps between windows; default 1.
      padding: pairs for all axes, or "VALID", "SAME", "SAME_LOWER".
      base_dilation, window_dilation: distances between the operand's and the window's elements; default 1.

    Raises:
      TypeError: lengths, shapes or dtypes do not fit.

    Source: StableHLO `reduce_window`.

    >>> lax.reduce_window(jnp.array([1., 5., 2., 4.]), -jnp.inf, lax.max, (2,), (2,), "VALID")
    Array([5., 4.], dtype=float32)
    """
    check_callable("lax.reduce_window", computation)
    flat, structure = tree.flatten(operand)
    inits, init_structure = tree.flatten(init_value)
    if structure != init_structure:
        raise ValueError(f"reduce_window: operands of structure {structure} need initial values of that structure, got "
                         f"{init_structure}.")
    if not flat:
        raise ValueError("reduce_window: there is no operand.")
    shape = np.shape(flat[0])
    ones = (1,) * len(shape)
    window = integers("lax.reduce_window: window_dimensions", window_dimensions)
    strides = ones if window_strides is None else integers("lax.reduce_window: window_strides", window_strides)
    base = ones if base_dilation is None else integers("lax.reduce_window: base_dilation", base_dilation)
    dilation = ones if window_dilation is None else integers("lax.reduce_window: window_dilation", window_dilation)
    params: dict[str, Any] = dict(window_dimensions=window, window_strides=strides, base_dilation=base, window_dilation=dilation)
    _check("reduce_window", shape, dict(params, padding=shape))
    if isinstance(padding, str) or hasattr(padding, "name"):
        pads: Any = lax.padtype_to_pads(shape, [_dilated(w, d) for w, d in zip(window, dilation)], strides, padding)
    else:
        pads = padding
    params["padding"] = int_rows("lax.reduce_window: padding", pads, "low, high")
    inits = [identity_for(computation, init, dtypes.dtype(x)) for init, x in zip(inits, flat)]
    if len(flat) == 1:
        known = _known_reducer(computation, inits[0], dtypes.dtype(flat[0]))
        if known is not None:
            return tree.unflatten(structure, [known.bind(flat[0], **params)])
    return _reduce_by_function(flat, inits, structure, computation, params)


def _reduce_by_function(flat, inits, structure, computation, params):
    for init, x in zip(inits, flat):
        check_start("lax.reduce_window", init, dtypes.dtype(x))
    inits = [init if hasattr(init, "dtype") else lax.convert_element_type(init, dtypes.dtype(x)) for init, x in zip(inits, flat)]
    scalars = [ShapedArray((), dtypes.dtype(x)) for x in flat]

    def run(*args):
        old, new = _halves(args)
        out = computation(tree.unflatten(structure, old), tree.unflatten(structure, new))
        leaves, out_structure = tree.flatten(out)
        if out_structure != structure or [get_aval(x).strip_weak_type() for x in leaves] != scalars:
            raise TypeError(f"reduce_window: the function must return scalars like its arguments, {scalars}, got "
                            f"{[get_aval(x) for x in leaves]}.")
        return leaves
    jaxpr, consts, _ = trace_to_jaxpr(run, scalars * 2)
    closed = check_closed("lax.reduce_window", ClosedJaxpr(jaxpr, consts))
    if is_arithmetic(closed):
        outs = reduce_window_p.bind(*flat, *inits, jaxpr=closed, consts=(), **params)
    else:
        _general_type(*map(get_aval, (*flat, *inits)), jaxpr=closed, consts=(), **params)
        outs = _by_positions(flat, inits, closed, params)
    return tree.unflatten(structure, outs)
