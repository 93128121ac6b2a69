"""Reductions over any set of axes: sum, prod, max, min, and, or, xor, argmax, argmin, and one by any function.

Ties of max share the tangent equally, so the result does not depend on the order of the operands. Products are
differentiated as a tree of products of pairs, which is right where factors are zero, in every order of differentiation.
Running reductions are in `cumulative`.

Source: StableHLO specification, `reduce`, `reduce_precision`.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.representation import dtypes, partial_sums, tree
from jax_core.representation.arguments import check_callable, integer
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.manual_axis_type import UnreducedKind
from jax_core.representation.marks import ELEMENTWISE, LINEAR, ZERO
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, PyTree
from jax_core.traces import short_reductions, structural
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import (
    broadcast_in_dim,
    convert_element_type_p,
    reduce_sum_p,
    reduced_shape,
    reduction_batch,
    transpose,
)
from jax_core.transformations.forward import jvp_flat

from . import arithmetic, bits, positions
from .arithmetic import add_p, complex_order, div_p, mul_p
from .compare import emit_compare, eq_p, flushed
from .nan_cpu import (
    BETTER,
    LIBRARY,
    drops_nan,
    emit_fold,
    emit_number,
    emit_with_nan,
    folds,
    has_many_paths,
    is_number,
    narrowed,
    reduce_by_choice,
    widened,
)
from .nary import ANY, BITS, FLOAT, NUMERIC, as_operand, check_dtype, emit, int_array, integers, kept_wide, nary_type, whole_bytes
from .scalar_programs import check_closed, is_arithmetic, on_arrays
from .select import select_n_p
from .shape import concatenate_p, reshaped, split_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.typing import ShardingLike


def lowest(dtype: DTypeLike) -> Any:
    """The identity of max: -inf, or the least value of the dtype."""
    return _extreme(dtype, -1)


def highest(dtype: DTypeLike) -> Any:
    """The identity of min: inf, or the greatest value of the dtype."""
    return _extreme(dtype, 1)


def _extreme(dtype, sign):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return np.bool_(sign > 0)
    if dtypes.issubdtype(dtype, np.integer):
        info = dtypes.iinfo(dtype)
        return np.array(info.max if sign > 0 else info.min, dtype)[()]
    if dtype.kind == "c":
        return dtype.type(complex(sign * np.inf, sign * np.inf))
    if dtypes.supports_inf(dtype):
        return np.array(sign * np.inf, dtype)[()]
    info = dtypes.finfo(dtype)
    return info.max if sign > 0 else info.min


# -- reductions by one op ------------------------------------------------------------------------------------------------

def _reducer(name, op_name, identity, accepts, jvp, reference, nan=False, sums=None):
    """Declare the reduction by the StableHLO op ``op_name``, whose identity in a dtype is ``identity(dtype)``.

    ``nan``: whether the op may lose NaN on CPU, where it must not.
    """
    def out_type(x: ShapedArray, *, axes: tuple[int, ...], out_sharding: Placement | None = None):
        check_dtype(name, x, accepts)
        return ShapedArray(reduced_shape(f"lax.{name}", x, axes), x.dtype, x.weak_type)

    def lower(b: Builder, x: Value, *, axes: tuple[int, ...], out_sharding: Placement | None = None):
        start = b.scalar(identity(x.aval.dtype), x.aval.dtype)
        if x.aval.dtype.kind == "c" and op_name in _COMPLEX_REDUCERS:
            return _complex_extremum(b, x, start, axes, _COMPLEX_REDUCERS[op_name])
        if op_name in BETTER and b.platform == "cpu":
            wide = widened(b, x)
            if short_reductions.suits(b, wide, axes, rows=not nan) and not has_many_paths(b, x, axes):
                start, out = b.scalar(identity(x.aval.dtype), wide.aval.dtype), b.out_avals[0].update(dtype=wide.aval.dtype)
                found = reduce_by_choice(b, op_name, wide, start, axes, out)
                return narrowed(b, found, x.aval.dtype) if wide is not x else found
        if folds(b, op_name, x, axes, nan):
            x = emit_fold(b, op_name, x, axes)
        kept = nan and drops_nan(b, x.aval, LIBRARY)
        if kept and is_number(b, x.aval, axes):
            return emit_number(b, op_name, x, axes)
        out = b.emit(f"stablehlo.reduce({x} init: {start}) applies {op_name} across dimensions = {list(axes)}", x, start,
                     out=b.out_avals[0])
        return emit_with_nan(b, op_name, x, out, axes) if kept else out

    prim = Primitive(
        name, out_type=out_type, jvp=jvp, transpose=none(f"lax.{name} is not linear, so it has no transpose"),
        batch=reduction_batch(lambda x, **params: prim.bind(x, **params)), lower=lower,
        reference=None if reference is None else lambda x, *, axes, out_sharding=None: reference(np.asarray(x), axes),
        exact=lambda x, **params: integers(x), traits=Traits(Kind.REDUCTION, compares=nan), sums=sums)
    return prim


_COMPLEX_REDUCERS = {"stablehlo.maximum": "GT", "stablehlo.minimum": "LT"}


def _complex_extremum(b, x, start, axes, direction):
    """A reducer of several ops: complex numbers in the order of `max_p`."""
    scalar = ShapedArray((), x.aval.dtype)

    def body(b: Builder, first: Value, second: Value):
        keep = complex_order(b, direction, first, second)
        return [b.emit(f"stablehlo.select {keep}, {first}, {second}", keep, first, second, out=scalar)]
    region = b.region([scalar, scalar], body)
    return b.emit(f'"stablehlo.reduce"({x}, {start}) ({region})', x, start, out=b.out_avals[0],
                  attrs=f"{{dimensions = {int_array(axes)}}}")


def _kept(rank, axes):
    return tuple(i for i in range(rank) if i not in axes)


def _extremum_jvp(prim):
    """The tangent is the mean of the tangents of those elements that equal the result."""
    def jvp(primals, tangents, *, axes: tuple[int, ...], out_sharding: Placement | None = None):
        (x,), (g,) = primals, tangents
        out = prim().bind(x, axes=axes, out_sharding=out_sharding)
        if isinstance(g, Zero) or not dtypes.issubdtype(get_aval(x).dtype, np.inexact):
            return out, Zero.of(out)
        shape = np.shape(x)
        hit = eq_p.bind(x, broadcast_in_dim(out, shape, _kept(len(shape), axes)))
        count = structural.reduce_sum(convert_element_type_p.bind(hit, new_dtype=get_aval(x).dtype, weak_type=False, sharding=None), axes)
        # a selection, as XLA makes one of a product with truth values: NaN elsewhere is no tangent of the result, compiled or not
        return out, div_p.bind(structural.reduce_sum(select_n_p.bind(hit, structural.zeros(get_aval(g)), g), axes), count)
    return jvp


reduce_max_p: Primitive = _reducer("reduce_max", "stablehlo.maximum", lowest, ANY, _extremum_jvp(lambda: reduce_max_p),
                        lambda x, axes: np.max(x, axes, initial=lowest(x.dtype)), nan=True, sums=partial_sums.Extremum(UnreducedKind.max))
reduce_min_p: Primitive = _reducer("reduce_min", "stablehlo.minimum", highest, ANY, _extremum_jvp(lambda: reduce_min_p),
                        lambda x, axes: np.min(x, axes, initial=highest(x.dtype)), nan=True, sums=partial_sums.Extremum(UnreducedKind.min))
# The largest exponent, to be taken from all: NaN shows in the exponentials anyway, and on CPU is not looked for.
shift_p: Primitive = _reducer("reduce_max", "stablehlo.maximum", lowest, ANY, _extremum_jvp(lambda: shift_p), None,
                              sums=partial_sums.Extremum(UnreducedKind.max))


def _prod_jvp(primals, tangents, *, axes, **placed):
    (x,), (g,) = primals, tangents
    out = reduce_prod_p.bind(x, axes=axes, **placed)
    if isinstance(g, Zero) or not axes or 0 in np.shape(x):
        return out, g if not axes else Zero.of(out)
    rows, tangent_rows = (_axes_first(structural.whole_along(v, axes), axes) for v in (x, g))  # a row is halved, which no part of it can be
    while np.shape(rows)[0] > 1:
        rows, tangent_rows = _halve(rows, tangent_rows)
    return out, reshaped(tangent_rows, np.shape(tangent_rows)[1:])


def _axes_first(x, axes):
    """``x`` with ``axes`` merged into one, in front."""
    shape = np.shape(x)
    kept = _kept(len(shape), axes)
    return reshaped(transpose(x, (*axes, *kept)), (math.prod(shape[a] for a in axes), *(shape[k] for k in kept)))


def _halve(rows, tangents):
    """Products of pairs of rows with their tangents; an odd row is kept."""
    n = np.shape(rows)[0]
    sizes = (n // 2, n // 2) + ((1,) if n % 2 else ())
    x, y, *rest = split_p.bind(rows, sizes=sizes, axis=0)
    dx, dy, *rest_tangent = split_p.bind(tangents, sizes=sizes, axis=0)
    product = mul_p.bind(x, y)
    tangent = add_p.bind(mul_p.bind(dx, y), mul_p.bind(dy, x))
    if rest:
        product = concatenate_p.bind(product, rest[0], dimension=0)
        tangent = concatenate_p.bind(tangent, rest_tangent[0], dimension=0)
    return product, tangent


reduce_prod_p = _reducer("reduce_prod", "stablehlo.multiply", lambda dtype: np.array(1, dtype)[()], NUMERIC, _prod_jvp,
                         lambda x, axes: np.prod(x, axes, dtype=x.dtype))


def _all_bits(dtype):
    return np.array(-1, dtype)[()] if np.dtype(dtype).kind == "i" else ~np.zeros((), dtype)[()]


def _no_bits(dtype):
    return np.zeros((), dtype)[()]


reduce_and_p = _reducer("reduce_and", "stablehlo.and", _all_bits, BITS, ZERO, lambda x, axes: np.bitwise_and.reduce(x, axes))
reduce_or_p = _reducer("reduce_or", "stablehlo.or", _no_bits, BITS, ZERO, lambda x, axes: np.bitwise_or.reduce(x, axes))
reduce_xor_p = _reducer("reduce_xor", "stablehlo.xor", _no_bits, BITS, ZERO, lambda x, axes: np.bitwise_xor.reduce(x, axes))


# -- argmax and argmin ---------------------------------------------------------------------------------------------------

def _arg_type(name):
    def out_type(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: np.dtype):
        check_dtype(name, x, ("bool", "integral", "real floating"))
        axis, = axes
        if not 0 <= axis < x.ndim:
            raise ValueError(f"lax.{name}: axis={axis} must lie in [0, {x.ndim}) for operand {x.str_short()}.")
        if not dtypes.issubdtype(index_dtype, np.integer):
            raise TypeError(f"lax.{name}: index_dtype={np.dtype(index_dtype).name} must be an integer dtype.")
        if x.shape[axis] == 0:
            raise ValueError(f"lax.{name}: axis {axis} of operand {x.str_short()} is empty, so it has no extreme element.")
        if x.shape[axis] > positions.LAST and x.shape[axis] - 1 > dtypes.iinfo(index_dtype).max:
            raise OverflowError(f"lax.{name}: positions along axis {axis} of operand {x.str_short()} do not fit in {np.dtype(index_dtype).name}; enable "
                                "x64 (jax.config.update('jax_enable_x64', True)), and ask for 64 bits.")
        return ShapedArray(x.shape[:axis] + x.shape[axis + 1:], index_dtype, False)
    return out_type


_LONG_AXIS = 22
"""From this length on, XLA's CPU code for one reduction of pairs is slower than that for two plain ones of floats, as LLVM no longer unrolls it
(`jax_xla_backend.planning.unrolling`): 100,000 numbers take 0.28 ms along 22, by columns, and 0.03 along 21; two reductions 0.05. Plain reductions of
integers take five times as long to compile as those of floats, so positions are floats there, and integers are reduced in pairs."""
_LARGE = 1 << 11
"""From this number of elements on, two reductions save more than they cost: 2 to 4 ns an element in each run (64 x 64 in a loop:
2.8 us a step in place of 12), and about 30 ms of compilation."""
_FLOAT_POSITIONS = 1 << 24
"""Up to this length all positions are float32 numbers."""


def _arg_start(b, x, direction):
    """What every value is found instead of."""
    return b.scalar(lowest(x.aval.dtype) if direction == "GT" else highest(x.aval.dtype), x.aval.dtype)


def _arg_lower(direction):
    def lower(b: Builder, x: Value, *, axes: tuple[int, ...], index_dtype: DTypeLike):
        axis, = axes
        x = whole_bytes(b, x)
        start = _arg_start(b, x, direction)
        long = (b.platform == "cpu" and not b.one_form and x.aval.size >= _LARGE and _LONG_AXIS <= x.aval.shape[axis] <= _FLOAT_POSITIONS
                and dtypes.issubdtype(x.aval.dtype, np.floating))
        if long:
            return _arg_by_value(b, x, start, axis, direction)
        iota = b.emit(f"stablehlo.iota dim = {axis}", out=ShapedArray(x.aval.shape, index_dtype))
        return _arg_by_pairs(b, x, iota, start, axis, direction)
    return lower


def _arg_in_kernel(direction):
    """The compilers of kernels have no reduction of pairs."""
    def lower(b: Builder, x: Value, *, axes: tuple[int, ...], index_dtype: DTypeLike):
        return _arg_by_value(b, x, _arg_start(b, x, direction), axes[0], direction)
    return lower


def _arg_by_value(b, x, start, axis, direction):
    """The extreme value, then the lowest index at which it is found; the index less the length where there is NaN.

    XLA's own maximum cannot be asked for NaN (`nan_cpu`).
    """
    out, full, places = b.out_avals[0], x.aval.shape, ShapedArray(x.aval.shape, np.dtype(np.float32))
    short = out.update(dtype=places.dtype)

    def select(test: Value, yes: Value, no: Value, aval: ShapedArray):
        return b.emit(f"stablehlo.select {test}, {yes}, {no}", test, yes, no, out=aval)
    extreme = "maximum" if direction == "GT" else "minimum"
    best = _extreme_along(b, extreme, x, start, axis)
    hit = emit_compare(b, "EQ", x, b.broadcast(best, full, _kept(len(full), (axis,))))
    iota = b.emit(f"stablehlo.iota dim = {axis}", out=places)
    found = select(hit, iota, b.full(np.inf, places), places)
    found = select(emit_compare(b, "NE", x, x), emit(b, "stablehlo.subtract", iota, b.full(full[axis], places)), found, places)
    start = b.scalar(np.inf, places.dtype)
    first = _extreme_along(b, "minimum", found, start, axis)
    nan = emit_compare(b, "LT", first, b.full(0, short))
    first = select(nan, emit(b, "stablehlo.add", first, b.full(full[axis], short)), first, short)
    return b.emit(f"stablehlo.convert {first}", first, out=out)


def _extreme_along(b, extreme, x, start, axis):
    out = b.out_avals[0].update(dtype=x.aval.dtype)
    return b.emit(f"stablehlo.reduce({x} init: {start}) applies stablehlo.{extreme} across dimensions = [{axis}]", x, start, out=out)


def _arg_by_pairs(b, x, iota, start, axis, direction):
    """One pass that carries (value, index): the first NaN wins, else the best value, else the lowest index."""
    value, index = ShapedArray((), x.aval.dtype), ShapedArray((), iota.aval.dtype)
    zero, or_equal = b.scalar(0, iota.aval.dtype), {"LT": "LE", "GT": "GE"}[direction]

    def pick(b: Builder, test: Value, yes: Value, no: Value):
        return b.emit(f"stablehlo.select {test}, {yes}, {no}", test, yes, no, out=yes.aval)

    def body_in_order(b: Builder, v1: Value, i1: Value, v2: Value, i2: Value):
        """XLA's code for CPUs gives first what is found so far, and reads the elements one after the other."""
        keep = emit_compare(b, or_equal, v1, v2)
        if dtypes.issubdtype(value.dtype, np.floating):
            keep = emit(b, "stablehlo.or", keep, emit_compare(b, "NE", v1, v1))
        return [pick(b, keep, v1, v2), pick(b, keep, i1, i2)]

    def body(b: Builder, v1: Value, i1: Value, v2: Value, i2: Value):
        in_order = emit_compare(b, "LT", i1, i2)
        if not dtypes.issubdtype(value.dtype, np.floating):
            keep = pick(b, in_order, emit_compare(b, or_equal, v1, v2), emit_compare(b, direction, v1, v2))
            return [pick(b, keep, v1, v2), pick(b, keep, i1, i2)]
        # what comes first stays if it is as good, or NaN: two tests less than for values in the order of the reduction
        v1, v2 = pick(b, in_order, v1, v2), pick(b, in_order, v2, v1)
        keep = emit(b, "stablehlo.or", emit_compare(b, or_equal, v1, v2), emit_compare(b, "NE", v1, v1))
        return [pick(b, keep, v1, v2), pick(b, keep, emit(b, "stablehlo.minimum", i1, i2), emit(b, "stablehlo.maximum", i1, i2))]
    in_order = b.platform == "cpu" and not (b.portable or b.partitioned)
    region = b.region([value, index, value, index], body_in_order if in_order else body)
    outs = b.emit(f'"stablehlo.reduce"({x}, {iota}, {start}, {zero}) ({region})', x, iota, start, zero,
                  out=[b.out_avals[0].update(dtype=value.dtype), b.out_avals[0]], attrs=f"{{dimensions = array<i64: {axis}>}}")
    return outs[1]


def _arg_primitive(name, direction, reference):
    prim = Primitive(
        name, out_type=_arg_type(name), jvp=ZERO, batch=lambda axis, args, dims, **params: _arg_batch(prim, args, dims, params),
        lower=_arg_lower(direction), in_kernel=_arg_in_kernel(direction), exact=True,
        reference=lambda x, *, axes, index_dtype: _arg_on_host(reference, np.asarray(x), axes[0]).astype(index_dtype),
        traits=Traits(Kind.SEARCH))
    return prim


def _arg_on_host(reference, x, axis):
    """As compiled programs, which take subnormal numbers for zero; where the extreme is another number, they do not matter."""
    index = np.asarray(reference(x, axis))
    if dtypes.issubdtype(x.dtype, np.floating) and x.dtype != np.float16:
        best = np.take_along_axis(x, np.expand_dims(index, axis), axis)
        if (np.abs(best) < dtypes.finfo(x.dtype).smallest_normal).any():
            return np.asarray(reference(flushed(x), axis))
    return index


def _arg_batch(prim, args, dims, params):
    (axis,), (d,) = params["axes"], dims
    shifted = axis + (axis >= d)
    return prim.bind(args[0], axes=(shifted,), index_dtype=params["index_dtype"]), d - (shifted < d)


argmax_p = _arg_primitive("argmax", "GT", np.argmax)
argmin_p = _arg_primitive("argmin", "LT", np.argmin)

# -- reduce_precision ----------------------------------------------------------------------------------------------------

def _precision_type(x, *, exponent_bits, mantissa_bits):
    if exponent_bits < 1:
        raise ValueError(f"lax.reduce_precision: exponent_bits must be positive; got {exponent_bits}")
    if max(exponent_bits, mantissa_bits) >= 2**31:
        raise ValueError(f"lax.reduce_precision: no float has {max(exponent_bits, mantissa_bits)} bits")
    if mantissa_bits < 0:
        raise ValueError(f"lax.reduce_precision: mantissa_bits must be non-negative; got {mantissa_bits}")
    return nary_type("reduce_precision", FLOAT)(x)


def _precision_lower(b, x, *, exponent_bits, mantissa_bits):
    info = dtypes.finfo(x.dtype)
    if (exponent_bits, mantissa_bits) == (info.nexp, info.nmant) and b.platform in ("cuda", "rocm"):
        return b.barrier([x])[0]  # there XLA drops what changes nothing, and puts factors before and behind it together
    return b.emit(f"stablehlo.reduce_precision {x}, format = e{exponent_bits}m{mantissa_bits}", x, out=b.out_avals[0])


reduce_precision_p: Primitive = Primitive(
    "reduce_precision", out_type=_precision_type, jvp=LINEAR, batch=ELEMENTWISE, lower=_precision_lower,
    transpose=lambda ct, x, **params: reduce_precision_p.bind(ct, **params))


# -- reduce by any function ----------------------------------------------------------------------------------------------

_FEW = 8
"""Elements that are reduced by steps over whole arrays, at most."""


def _reduce_type(*avals, computation, jaxpr, dimensions, out_sharding=None):
    operands, inits = _halves(avals)
    for operand, init in zip(operands, inits):
        if operand.shape != operands[0].shape:
            raise ValueError(f"lax.reduce: operands must have one shape, got {', '.join(o.str_short() for o in operands)}.")
        if init.shape != () or init.dtype != operand.dtype:
            raise (ValueError if init.shape else TypeError)(
                f"lax.reduce: the initial value of operand {operand.str_short()} must be a scalar of its dtype, got {init.str_short()}.")
    shape = reduced_shape("lax.reduce", operands[0], dimensions)
    return [ShapedArray(shape, operand.dtype, operand.weak_type and init.weak_type) for operand, init in zip(operands, inits)]


def _halves(xs):
    n = len(xs) // 2
    return xs[:n], xs[n:]


class _Known(NamedTuple):
    """A reduction by one operation."""
    function: Callable  # of jax.lax
    operation: Primitive
    reduction: Primitive
    identity: Callable[[Any], Any]

    def takes(self, dtype: Any) -> bool:
        return dtype != bool or self.reduction not in (reduce_sum_p, reduce_prod_p)


_KNOWN = (
    _Known(arithmetic.add, arithmetic.add_p, reduce_sum_p, lambda d: d.type(0)), _Known(arithmetic.mul, arithmetic.mul_p, reduce_prod_p, lambda d: d.type(1)),
    _Known(arithmetic.max, arithmetic.max_p, reduce_max_p, lowest), _Known(arithmetic.min, arithmetic.min_p, reduce_min_p, highest),
    _Known(bits.bitwise_and, bits.and_p, reduce_and_p, _all_bits), _Known(bits.bitwise_or, bits.or_p, reduce_or_p, _no_bits),
    _Known(bits.bitwise_xor, bits.xor_p, reduce_xor_p, _no_bits))


def _only_operation(jaxpr, dtype):
    """The row of the operation of which a program of two scalars consists, or None."""
    eqns = jaxpr.eqns
    if len(eqns) != 1 or jaxpr.outvars != eqns[0].outvars or set(eqns[0].invars) != set(jaxpr.invars) or len(jaxpr.invars) != 2:
        return None
    return next((row for row in _KNOWN if row.operation is eqns[0].primitive and row.takes(dtype)), None)


def _reduce_lower(b, *values, computation, jaxpr, dimensions, out_sharding=None):
    """The compiler counts on a start that changes nothing, and forgets it where it takes a reduction of few elements apart."""
    operands, inits = _halves(values)
    known = _only_operation(jaxpr.jaxpr, operands[0].aval.dtype)
    if known is not None:
        shape, params = b.out_avals[0].shape, dict(axes=dimensions, **_placed(known.reduction, None))
        return b.fun(lambda x, init: [known.operation.bind(broadcast_in_dim(init, shape, ()), known.reduction.bind(x, **params))], *values)
    if math.prod([operands[0].aval.shape[d] for d in dimensions]) <= _FEW:
        return b.fun(lambda *args: _tree_reduce(jaxpr, *_halves(args), dimensions), *values)
    scalars = [ShapedArray((), v.aval.dtype) for v in operands]
    region = b.region(scalars * 2, lambda b, *args: b.jaxpr(jaxpr, *args))
    values = [*b.barrier(operands), *inits]  # what the compiler sees to be joined it takes apart
    return b.emit(f'"stablehlo.reduce"({", ".join(map(str, values))}) ({region})', *values, out=list(b.out_avals),
                  attrs=f"{{dimensions = {int_array(dimensions)}}}")


def _reduce_batch(axis, args, dims, **params):
    """Mapped operands: as they are. Mapped initial values: reduce from an unmapped one cannot express them, so the
    initial value is combined with the result."""
    operands, inits = _halves(args)
    n = len(operands)
    operands = [structural.bdim_at_front(x, d, axis) for x, d in zip(operands, dims)]
    shifted = tuple(i + 1 for i in params["dimensions"])
    if all(d is None for d in dims[n:]):
        return reduce_p.bind(*operands, *inits, **{**params, "dimensions": shifted}), [0] * n
    inits = [structural.bdim_at_front(x, d, axis) for x, d in zip(inits, dims[n:])]
    return _tree_reduce(params["jaxpr"], operands, inits, shifted), [0] * n


def _tree_reduce(jaxpr, operands, inits, dimensions):
    """The reduction as a tree of neighbours, written with ``jaxpr`` applied to whole arrays; differentiable."""
    rows = [_axes_first(x, dimensions) for x in operands]
    shape = np.shape(rows[0])[1:]
    total = [broadcast_in_dim(x, shape, tuple(range(np.ndim(x)))) for x in inits]
    n = np.shape(rows[0])[0]
    while n > 1:
        pairs, last = rows, None
        if n % 2:
            pairs, last = zip(*(split_p.bind(x, sizes=(n - 1, 1), axis=0) for x in rows))
        pairs = [split_p.bind(reshaped(x, (n // 2, 2, *shape)), sizes=(1, 1), axis=1) for x in pairs]
        rows = on_arrays(jaxpr, [reshaped(p[side], (n // 2, *shape)) for side in (0, 1) for p in pairs])
        if last is not None:
            rows = [concatenate_p.bind(x, y, dimension=0) for x, y in zip(rows, last)]
        n = n // 2 + n % 2
    if n == 0:
        return total
    return on_arrays(jaxpr, [*total, *(reshaped(x, shape) for x in rows)])


def _reduce_jvp(primals, tangents, *, computation, jaxpr, dimensions, **placed):
    outs = reduce_p.bind(*primals, computation=computation, jaxpr=jaxpr, dimensions=dimensions, **placed)
    _, out_tangents = jvp_flat(lambda *args: _tree_reduce(jaxpr, *_halves(args), dimensions), primals, tangents)
    return outs, out_tangents


def _reduce_reference(*values, computation, jaxpr, dimensions, out_sharding=None):
    operands, inits = _halves([np.asarray(v) for v in values])
    return [np.asarray(x) for x in _tree_reduce(jaxpr, operands, inits, dimensions)]


reduce_p = Primitive(
    "reduce", multiple_results=True, cacheable=False, out_type=_reduce_type, jvp=_reduce_jvp,
    transpose=none("lax.reduce by a function is not linear, so it has no transpose"), batch=_reduce_batch,
    lower=_reduce_lower, reference=_reduce_reference, traits=Traits(Kind.REDUCTION))

# -- public functions ----------------------------------------------------------------------------------------------------

def _axes(name, axes, x):
    try:
        return tuple(map(operator.index, axes))
    except TypeError:
        raise TypeError(f"lax.{name}: axes={axes!r} must be a sequence of integers.") from None


def _public(prim):
    def reduction(operand: Array, axes: tuple[int, ...], out_sharding: ShardingLike | None = None):
        operand = as_operand(prim.name, operand, 0)
        return prim.bind(operand, axes=_axes(prim.name, axes, operand), **_placed(prim, structural.resolved(out_sharding)))
    return reduction


def _placed(prim, out_sharding):
    """The parameter ``out_sharding``: sums and extrema have it always, the others only where it is given, for rules that go by parameters (quax)."""
    return {} if out_sharding is None and prim not in (reduce_sum_p, reduce_max_p, reduce_min_p) else {"out_sharding": out_sharding}


_reduce_max, _reduce_min, _reduce_prod = map(_public, (reduce_max_p, reduce_min_p, reduce_prod_p))
_reduce_and, _reduce_or, _reduce_xor = map(_public, (reduce_and_p, reduce_or_p, reduce_xor_p))


def reduce_sum(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Placement | None = None) -> Array:
    """Sum over ``axes`` in the dtype of ``operand``. Raises TypeError for booleans, ValueError for bad axes.

    Source: StableHLO `reduce` by `add`.

    >>> lax.reduce_sum(jnp.array([[1, 2], [3, 4]]), (1,))
    Array([3, 7], dtype=int32)
    """
    operand = as_operand("reduce_sum", operand, 0)
    check_dtype("reduce_sum", get_aval(operand), NUMERIC)
    return reduce_sum_p.bind(operand, axes=_axes("reduce_sum", axes, operand), out_sharding=structural.resolved(out_sharding))


def reduce_max(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Placement | None = None) -> Array:
    """Maximum over ``axes``; NaN where any is NaN; of no elements the dtype's lowest value. Raises ValueError for bad axes.

    Args:
      out_sharding: placement of the result.

    Source: StableHLO `reduce` by `maximum`.

    >>> lax.reduce_max(jnp.array([[1, 5], [7, 2]]), (0,))
    Array([7, 5], dtype=int32)
    """
    return _reduce_max(operand, axes, out_sharding)


def reduce_min(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Placement | None = None) -> Array:
    """Minimum over ``axes``; NaN where any is NaN; of no elements the dtype's highest value. Raises ValueError for bad axes.

    Args:
      out_sharding: placement of the result.

    Source: StableHLO `reduce` by `minimum`.

    >>> lax.reduce_min(jnp.array([[1, 5], [7, 2]]), (0,))
    Array([1, 2], dtype=int32)
    """
    return _reduce_min(operand, axes, out_sharding)


def reduce_prod(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Product over ``axes`` in the dtype of ``operand``. Raises TypeError for booleans, ValueError for bad axes.

    Source: StableHLO `reduce` by `multiply`.

    >>> lax.reduce_prod(jnp.array([2, 3, 4]), (0,))
    Array(24, dtype=int32)
    """
    return _reduce_prod(operand, axes)


def reduce_and(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise and of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes.

    Source: StableHLO `reduce` by `and`.

    >>> lax.reduce_and(jnp.array([True, False]), (0,))
    Array(False, dtype=bool)
    """
    return _reduce_and(operand, axes)


def reduce_or(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise or of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes.

    Source: StableHLO `reduce` by `or`.

    >>> lax.reduce_or(jnp.array([True, False]), (0,))
    Array(True, dtype=bool)
    """
    return _reduce_or(operand, axes)


def reduce_xor(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise exclusive or of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes.

    Source: StableHLO `reduce` by `xor`.

    >>> lax.reduce_xor(jnp.array([5, 3]), (0,))
    Array(6, dtype=int32)
    """
    return _reduce_xor(operand, axes)


def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the greatest element along ``axis``: of the first NaN if there is one, else of the first of equals.

    Raises:
      ValueError: ``axis`` is out of range or empty. TypeError: ``index_dtype`` is not an integer dtype, or complex operand.

    Source: StableHLO `reduce` of values beside their positions.

    >>> lax.argmax(jnp.array([3, 9, 4]), 0, jnp.int32)
    Array(1, dtype=int32)
    """
    return _arg(argmax_p, operand, axis, index_dtype)


def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the least element along ``axis``: of the first NaN if there is one, else of the first of equals.

    Raises:
      ValueError: ``axis`` is out of range or empty. TypeError: ``index_dtype`` is not an integer dtype, or complex operand.

    Source: StableHLO `reduce` of values beside their positions.

    >>> lax.argmin(jnp.array([3, 9, 4]), 0, jnp.int32)
    Array(0, dtype=int32)
    """
    return _arg(argmin_p, operand, axis, index_dtype)


def _arg(prim, operand, axis, index_dtype):
    operand = as_operand(prim.name, operand, 0)
    return prim.bind(operand, axes=(integer(f"lax.{prim.name}: axis", axis),), index_dtype=dtypes.canonicalize_user_dtype(index_dtype, prim.name))


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """``operand`` rounded to floats of fewer bits, kept in its dtype.

    Raises:
      ValueError: ``exponent_bits`` below 1 or ``mantissa_bits`` below 0. TypeError: not real floating.

    Source: StableHLO `reduce_precision`.

    >>> lax.reduce_precision(jnp.float32(jnp.pi), exponent_bits=8, mantissa_bits=3)
    Array(3.25, dtype=float32)
    """
    return reduce_precision_p.bind(as_operand("reduce_precision", operand, 0), exponent_bits=integer("lax.reduce_precision: exponent_bits", exponent_bits),
                                   mantissa_bits=integer("lax.reduce_precision: mantissa_bits", mantissa_bits))


def reduce(operands: PyTree, init_values: PyTree, computation: Callable[[Any, Any], Any], dimensions: Sequence[int],
           out_sharding: Placement | None = None) -> Any:
    """Reduce arrays over ``dimensions`` by an associative function of scalars.

    Args:
      operands: an array, or a pytree of arrays of one shape.
      init_values: a scalar of the dtype of each; combined with the elements once or more, so an identity.
      computation: ``computation(x, y)`` combines two scalars (pytrees of scalars, if ``operands`` is a pytree).
      dimensions: axes to reduce.
      out_sharding: placement of the result.

    Returns:
      an array (or pytree) without these axes.

    Raises:
      ValueError: operands and initial values differ in structure, or axes are bad. TypeError: dtypes do not fit.

    Source: StableHLO `reduce`.

    >>> lax.reduce(jnp.arange(5), 0, lax.add, (0,))
    Array(10, dtype=int32)
    """
    check_callable("lax.reduce", computation)
    flat, structure = tree.tree_flatten(operands)
    inits, init_structure = tree.tree_flatten(init_values)
    if structure != init_structure:
        raise ValueError(f"lax.reduce: operands have the structure {structure}, init_values {init_structure}; they must be the "
                         "same.")
    flat = [as_operand("reduce", x, i) for i, x in enumerate(flat)]
    weak = [get_aval(x).weak_type and np.isscalar(init) and not isinstance(init, np.generic) for init, x in zip(inits, flat)]
    inits = [identity_for(computation, init, get_aval(x).dtype) for init, x in zip(inits, flat)]
    for init, x in zip(inits, flat):
        if np.iscomplexobj(init):  # no conversion to other dtypes
            check_start("lax.reduce", init, get_aval(x).dtype)
    given, inits = inits, [_scalar(init, get_aval(x).dtype) for init, x in zip(inits, flat)]
    dims, out_sharding = _axes("reduce", dimensions, flat), structural.resolved(out_sharding)
    known = _known_reducer(computation, inits) if len(flat) == 1 else None
    if known is not None and np.all(given[0] == inits[0]):
        out = known.bind(flat[0], axes=dims, **_placed(known, out_sharding))
        return tree.tree_unflatten(structure, [out])
    for init, x in zip(given, flat):
        check_start("lax.reduce", init, get_aval(x).dtype)
    jaxpr = _scalar_jaxpr(computation, structure, [get_aval(x).dtype for x in flat])
    inits = [init.item() if is_weak else init for init, is_weak in zip(inits, weak)]
    params = dict(computation=computation, jaxpr=jaxpr, dimensions=dims)
    if is_arithmetic(jaxpr):
        outs = reduce_p.bind(*flat, *inits, **params, **_placed(reduce_p, out_sharding))
    else:
        _reduce_type(*map(get_aval, (*flat, *inits)), **params)
        outs = [x if out_sharding is None else structural.reshard(x, out_sharding) for x in _tree_reduce(jaxpr, flat, inits, dims)]
    return tree.tree_unflatten(structure, outs)


def identity_for(computation: Callable, init: Any, dtype: Any) -> Any:
    """``init``, or the extreme number of a real ``dtype`` without infinities, where an infinity stands for it: the start of `lax.max` or `lax.min`."""
    if dtypes.supports_inf(dtype) or not isinstance(init, (float, np.floating)) or not np.isinf(init):
        return init
    if computation is arithmetic.max and init < 0:
        return dtype.type(lowest(dtype))
    return dtype.type(highest(dtype)) if computation is arithmetic.min and init > 0 else init


def check_start(name: str, init: object, dtype: object) -> None:
    """Raise TypeError if ``init``, which the function of a reduction is applied to, is not of the ``dtype`` of the elements."""
    if dtypes.dtype(init) != dtype:
        raise TypeError(f"{name}: the initial value {init} has dtype {dtypes.dtype(init)}, and the operand {dtype}; give one of the operand's "
                        f"dtype, as np.array({init}, {str(dtype)!r})")


def _scalar(init, dtype):
    if np.isscalar(init) or isinstance(init, np.ndarray):
        return kept_wide(np.asarray(init, dtype)[()])
    return init if get_aval(init).dtype == dtype else convert_element_type_p.bind(
        init, new_dtype=dtype, weak_type=False, sharding=None)


def _scalar_jaxpr(computation, structure, dtypes_of):
    """``computation`` as a program of two sets of scalars; weak types are strengthened."""
    avals = [ShapedArray((), d) for d in dtypes_of]
    n = len(avals)

    def run(*args):
        out = computation(tree.tree_unflatten(structure, args[:n]), tree.tree_unflatten(structure, args[n:]))
        leaves, out_structure = tree.tree_flatten(out)
        if out_structure != structure:
            raise ValueError(f"lax.reduce: computation returned the structure {out_structure} for operands of {structure}.")
        if any(np.shape(leaf) for leaf in leaves):
            raise ValueError("lax.reduce: computation must combine scalars to scalars, but returned the shapes "
                             f"{', '.join(str(np.shape(leaf)) for leaf in leaves)}.")
        return [_scalar(leaf, d) for leaf, d in zip(leaves, dtypes_of)]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals * 2)
    return check_closed("lax.reduce", ClosedJaxpr(jaxpr, consts))


def _known_reducer(computation, inits):
    """The reduction by one op that this is, if ``computation`` is a function of jax.lax and the start its identity."""
    init, = inits
    if not isinstance(init, np.generic):
        return None
    return next((row.reduction for row in _KNOWN if row.function is computation and row.takes(init.dtype) and row.identity(init.dtype) == init), None)
