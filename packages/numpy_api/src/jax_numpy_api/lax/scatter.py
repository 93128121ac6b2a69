"""Scatter: write, add, multiply, or take extrema of many slices into one array, at starts given by indices.

One `Primitive` for each way to combine an element with its update; `scatter_p` overwrites, `scatter_apply_p` applies a
function to the elements addressed. What is addressed out of bounds is dropped, or
moved to the nearest slice in bounds with the mode "clip".

Where several updates meet in one element, overwriting is not linear: the derivative follows the update that won,
which a scatter of the updates' numbers finds out. Extrema share the tangent equally among ties.

Source: StableHLO specification, `scatter`.
"""
from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Callable, NamedTuple, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.representation import dtypes, partial_sums, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.primitive import Primitive, Zero, is_linear, none
from jax_core.representation.traits import Inner, Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.staging import trace_to_jaxpr
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, check_axes, instantiate, zeros
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.forward import jvp_flat
from jax_numpy_api import lax

from .arithmetic import complex_order
from .gather import (
    GatherDimensionNumbers,
    GatherScatterMode,
    _array,
    _as_tuples,
    _check_batching,
    _up,
    _wide_enough,
    check_dropped,
    check_indices,
    index_grid,
    needs_x64,
    slice_entries,
    start_arrays,
    window_dims,
)
from .nary import NUMERIC, check_dtype, integers, promise
from .recurrence import shifted
from .scalar_programs import closes_over_tracers, is_arithmetic, on_arrays

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.aval import AbstractValue
    from jax_core.transformations.batching import AxisData


class ScatterDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and updates of a scatter belong together. The last axis of the indices holds
    the index vectors.

    Attributes:
      update_window_dims: axes of the updates that run within a slice.
      inserted_window_dims: axes of the operand, of slice size 1, that the updates do not have.
      scatter_dims_to_operand_dims: for each entry of an index vector, the operand axis that it is the start on.
      operand_batching_dims: axes of the operand that updates and indices share with it.
      scatter_indices_batching_dims: the axes of the indices that belong to them.
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()


def gather_numbers(n: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """Dimension numbers of the gather that reads where the scatter writes."""
    return GatherDimensionNumbers(*n)


def _slice_sizes(x_rank, updates_shape, n):
    """Lengths of the slice that one index vector addresses, by operand axis."""
    sizes, window = [1] * x_rank, iter(n.update_window_dims)
    for d in window_dims(x_rank, n.inserted_window_dims, n.operand_batching_dims):
        sizes[d] = updates_shape[next(window)]
    return tuple(sizes)


def update_entries(name: str, x: AbstractValue, indices: AbstractValue, n: ScatterDimensionNumbers, slice_sizes: Sequence[int]) -> tuple:
    """What updates are split over where they are written without a word of how the result is. The rules of the primitives do not ask:
    results are split as the operand is.

    Raises:
      ShardingTypeError: they would have to be moved between devices.
    """
    found = slice_entries(x, indices, gather_numbers(n), slice_sizes)
    if found is None:
        raise ShardingTypeError(f"{name}: how the result is split does not follow from the operands; give it by "
                                "`.at[...].set(out_sharding=)` or add, mul and so on, or reshard the operands, which must be whole along "
                                f"the axes that are indexed, and in the indices. Operands: {splits.types_text((x, indices))}.")
    return found


# -- rules for all ---------------------------------------------------------------------------------------------------

def _type_rule(name, accepts: tuple[str, ...] | None = None):
    """The type rule of the scatter ``name``, of operands of any dtype or, where it computes with them, of the kinds ``accepts``."""
    def rule(x, indices, updates, *, dimension_numbers: ScatterDimensionNumbers, **_):
        n = dimension_numbers
        if accepts is not None:
            check_dtype(name, x, accepts, 0)
        check_indices(name, indices, x, n.scatter_dims_to_operand_dims)
        if x.dtype != updates.dtype:
            raise TypeError(f"{name}: operand and updates must have the same dtype, got {x.str_short()} and "
                            f"{updates.str_short()}; convert one of them.")
        check_dropped(name, x, inserted_window_dims=n.inserted_window_dims, operand_batching_dims=n.operand_batching_dims,
                      scatter_dims_to_operand_dims=n.scatter_dims_to_operand_dims)
        _check_batching(name, x, indices, n.operand_batching_dims, n.scatter_indices_batching_dims)
        check_axes(f"{name}: update_window_dims", n.update_window_dims, updates.ndim, "updates", updates)
        if updates.ndim != indices.ndim - 1 + len(n.update_window_dims):
            raise TypeError(f"{name}: updates {updates.str_short()} must have {indices.ndim - 1} axes of the indices "
                            f"{indices.str_short()} and the {len(n.update_window_dims)} of update_window_dims="
                            f"{n.update_window_dims}.")
        kept = window_dims(x.ndim, n.inserted_window_dims, n.operand_batching_dims)
        if len(kept) != len(n.update_window_dims):
            raise TypeError(f"{name}: update_window_dims={n.update_window_dims} must name one axis of the updates for each "
                            f"of the {len(kept)} axes that a slice of operand {x.str_short()} keeps.")
        if any(updates.shape[u] > x.shape[d] for u, d in zip(n.update_window_dims, kept)):
            raise TypeError(f"{name}: a slice of updates {updates.str_short()} is longer than operand {x.str_short()}.")
        batch = tuple(m for i, m in enumerate(updates.shape) if i not in n.update_window_dims)
        if batch != indices.shape[:-1]:
            raise TypeError(f"{name}: indices {indices.str_short()} point at {indices.shape[:-1]} places, but updates "
                            f"{updates.str_short()} have {batch} slices outside update_window_dims="
                            f"{n.update_window_dims}; the two must be equal")
        return x
    return rule


def _batch_rule(bind: Callable):
    def rule(axis: AxisData, args, dims: Sequence[int | None], *, dimension_numbers: ScatterDimensionNumbers,
             indices_are_sorted: bool, unique_indices: bool, **params):
        (x, indices, updates), (dx, di, du), n = args, dims, dimension_numbers
        x, updates = bdim_at_front(x, dx, axis), bdim_at_front(updates, du, axis)
        window, inserted, index_map, batching, index_batching = n
        if di is None:  # the mapped axis is one more axis of every slice
            n = ScatterDimensionNumbers((0, *_up(window)), _up(inserted), _up(index_map), _up(batching), index_batching)
        else:
            indices = bdim_at_front(indices, di, axis)
            n = ScatterDimensionNumbers(_up(window), _up(inserted), _up(index_map), (0, *_up(batching)),
                                        (0, *_up(index_batching)))
            indices_are_sorted = False
        return bind(x, indices, updates, dimension_numbers=n, indices_are_sorted=indices_are_sorted,
                    unique_indices=unique_indices, **params), 0
    return rule


def _lower_rule(combine: Callable):
    """``combine(b, old, new)`` emits the value that an element gets."""
    def rule(b: Builder, x: Value, indices, updates, *, dimension_numbers: ScatterDimensionNumbers, indices_are_sorted: bool,
             unique_indices: bool, mode, update_jaxpr=None, update_consts=()):
        if updates.aval.size == 0 or x.aval.size == 0:
            return x
        if indices.aval.dtype.itemsize < 4:  # they may not reach all places; compilers look whether they are in range, in their dtype (openxla/xla #48718)
            indices = b.convert(indices, np.dtype(np.int32))
        n = dimension_numbers
        sizes = _slice_sizes(x.aval.ndim, updates.aval.shape, n)
        if mode is GatherScatterMode.CLIP and n.scatter_dims_to_operand_dims:
            last = tuple(x.aval.shape[d] - sizes[d] for d in n.scatter_dims_to_operand_dims)
            indices = b.fun(_clamp, indices, last=last)[0]
        out = b.out_avals[0]
        places = math.prod(indices.aval.shape[:-1])
        alone = places == 1 < updates.aval.size and b.platform == "cpu" and b.reads_elsewhere(x, updates, sizes)
        if not n.scatter_dims_to_operand_dims and (alone or indices.aval.ndim - 1 > len(n.operand_batching_dims)):
            # XLA's expander of scatters for GPUs fails where several index vectors have no entries
            out = ShapedArray((1, *x.aval.shape), x.aval.dtype)
            x, indices = b.emit(f"stablehlo.reshape {x}", x, out=out), b.full(0, ShapedArray((*indices.aval.shape[:-1], 1), np.dtype(np.int32)))
            n = ScatterDimensionNumbers(n.update_window_dims, (0, *_up(n.inserted_window_dims)), (0,), _up(n.operand_batching_dims),
                                        n.scatter_indices_batching_dims)
        if alone:  # the compiler overwrites one slice in place, and computes it while it does: a second one, dropped, makes it a loop over slices
            indices, = b.fun(_before_none, indices, fill=-1)
            updates, = b.fun(_before_none, updates, fill=0)
            n = ScatterDimensionNumbers(_up(n.update_window_dims), n.inserted_window_dims, n.scatter_dims_to_operand_dims, n.operand_batching_dims,
                                        _up(n.scatter_indices_batching_dims))
        scalar = ShapedArray((), x.aval.dtype)
        region = b.region([scalar, scalar], lambda inner, old, new: [combine(inner, old, new, update_jaxpr)])
        fields = [f"update_window_dims = {list(n.update_window_dims)}", f"inserted_window_dims = {list(n.inserted_window_dims)}",
                  f"input_batching_dims = {list(n.operand_batching_dims)}",
                  f"scatter_indices_batching_dims = {list(n.scatter_indices_batching_dims)}",
                  f"scatter_dims_to_operand_dims = {list(n.scatter_dims_to_operand_dims)}",
                  f"index_vector_dim = {indices.aval.ndim - 1}"]
        attrs = (f"{{indices_are_sorted = {str(indices_are_sorted).lower()}, scatter_dimension_numbers = "
                 f"#stablehlo.scatter<{', '.join(f for f in fields if not f.endswith('[]'))}>, "
                 f"unique_indices = {str(unique_indices).lower()}}}")
        result = b.emit(f'"stablehlo.scatter"({x}, {indices}, {updates}) ({region})', x, indices, updates, out=out, attrs=attrs)
        return result if out is b.out_avals[0] else b.emit(f"stablehlo.reshape {result}", result, out=b.out_avals[0])
    return rule


def _before_none(x, *, fill):
    """``x``, and an array of ``fill``, along a new leading axis."""
    return [lax.pad(broadcast_in_dim(x, (1, *x.shape), range(1, x.ndim + 1)), x.dtype.type(fill), [(0, 1, 0)] + [(0, 0, 0)] * x.ndim)]


def _clamp(indices, *, last):
    if needs_x64(indices, last):
        with flags.enable_x64(True):
            return _clamp(indices, last=last)
    indices, last = _wide_enough(indices, last)
    last = broadcast_in_dim(last, indices.shape, (indices.ndim - 1,))
    zero = broadcast_in_dim(indices.dtype.type(0), indices.shape, ())
    return lax.max(zero, lax.min(indices, last))


def _op(name):
    return lambda b, old, new, _: b.emit(f"stablehlo.{name} {old}, {new}", old, new, out=old.aval)


def _overwrite(b, old, new, update_jaxpr):
    return new


def _reference_rule(write: Callable):
    """``write(array, index, updates)`` in NumPy, in the order of the updates."""
    def rule(x: ArrayLike, indices: ArrayLike, updates, *, dimension_numbers: ScatterDimensionNumbers, mode, **_):
        out, indices, updates, n = np.array(x), np.asarray(indices), np.asarray(updates), dimension_numbers
        if not updates.size:
            return out
        sizes = _slice_sizes(out.ndim, updates.shape, n)
        starts, inside = start_arrays(indices, out.shape, sizes, n.scatter_dims_to_operand_dims)
        kept = window_dims(out.ndim, n.inserted_window_dims, n.operand_batching_dims)
        batching = dict(zip(n.operand_batching_dims, n.scatter_indices_batching_dims))
        grid = index_grid(out.shape, starts, indices.shape[:-1], batching, dict(zip(kept, n.update_window_dims)), sizes,
                          updates.ndim)
        if mode is not GatherScatterMode.CLIP and not inside.all():
            keep = np.ones(updates.ndim, int)
            keep[[i for i in range(updates.ndim) if i not in n.update_window_dims]] = inside.shape
            keep = np.broadcast_to(inside.reshape(keep), updates.shape)
            grid = tuple(np.broadcast_to(g, updates.shape)[keep] for g in grid)
            updates = updates[keep]
        write(out, grid, updates)
        return out
    return rule


def _assign(out, grid, updates):
    if grid:
        out[grid] = updates
    elif updates.size:  # NumPy assigns no sequence to an array of no axes, be its length 1
        out[()] = updates.reshape(-1)[-1]


def _static(params):
    return {k: params[k] for k in ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")}


def _read(x, indices, updates_shape, *, dimension_numbers, indices_are_sorted, unique_indices, mode, fill_value=0):
    """What ``x`` holds where the updates go; ``fill_value`` for updates that are dropped."""
    sizes = _slice_sizes(np.ndim(x), updates_shape, dimension_numbers)
    mode = {GatherScatterMode.ONE_HOT: GatherScatterMode.FILL_OR_DROP}.get(mode, mode)
    return lax.gather(x, indices, gather_numbers(dimension_numbers), sizes, unique_indices=unique_indices,
                      indices_are_sorted=indices_are_sorted, mode=mode, fill_value=fill_value)


def _zeros_like(x):
    return zeros(ShapedArray(np.shape(x), x.dtype))


# -- overwriting -----------------------------------------------------------------------------------------------------

def _scatter_jvp(primals, tangents, *, update_jaxpr, update_consts, **params):
    x, indices, updates = primals
    gx, _, gu = tangents
    if isinstance(gx, Zero) and isinstance(gu, Zero):
        out = scatter_p.bind(*primals, update_jaxpr=None, update_consts=(), **params)
        return out, Zero.of(out)
    gx, gu = instantiate(gx), instantiate(gu)
    if params["unique_indices"]:
        out = scatter_p.bind(*primals, update_jaxpr=None, update_consts=(), **params)
        return out, scatter_p.bind(gx, indices, gu, update_jaxpr=None, update_consts=(), **params)
    winners, mine, won = _winners(x, indices, updates, params)
    # Every update that lost writes the winner's value, so that the result has no order
    flat = lax.reshape(updates, (updates.size,))
    values = lax.gather(flat, lax.reshape(lax.sub(won, _like(won, 1)), (*np.shape(won), 1)),
                        GatherDimensionNumbers((), (0,), (0,)), (1,), mode="clip")
    out = scatter_p.bind(x, indices, values, update_jaxpr=None, update_consts=(), **params)
    untouched = lax.eq(winners, _like(winners, 0))
    gx = lax.select(untouched, gx, _zeros_like(gx))
    gu = lax.select(mine, gu, _zeros_like(gu))
    return out, scatter_add_p.bind(gx, indices, gu, **_no_jaxpr(params))


def _winners(x, indices, updates, params):
    """Number (from 1) of the update that each element of ``x`` gets, 0 for none; which updates win; who wins where
    each update goes."""
    shape = np.shape(updates)
    count = math.prod(shape)
    dtype = np.int32 if count < 2**31 - 1 else np.int64
    numbers = lax.add(lax.reshape(lax.iota(dtype, count), shape), broadcast_in_dim(dtype(1), shape, ()))
    blank = broadcast_in_dim(dtype(0), np.shape(x), ())
    winners = scatter_p.bind(blank, indices, numbers, update_jaxpr=None, update_consts=(), **params)
    won = _read(winners, indices, shape, **params)
    return winners, lax.eq(won, numbers), won


def _like(x, value):
    return broadcast_in_dim(np.asarray(value, x.dtype)[()], np.shape(x), ())


def _no_jaxpr(params):
    return dict(params, update_jaxpr=None, update_consts=())


def _scatter_transpose(ct, x, indices, updates, *, update_jaxpr, update_consts, **params):
    ct_x = ct_updates = None
    shape = np.shape(updates)
    if params["unique_indices"]:
        mine = None
    else:
        _, mine, _ = _winners(ct, indices, ShapedArray(shape, np.int32), params)
    if is_linear(x):
        hole = zeros(ShapedArray(shape, ct.dtype))
        ct_x = scatter_p.bind(ct, indices, hole, update_jaxpr=None, update_consts=(), **params)
    if is_linear(updates):
        ct_updates = _read(ct, indices, shape, **params)
        if mine is not None:
            ct_updates = lax.select(mine, ct_updates, _zeros_like(ct_updates))
    return ct_x, None, ct_updates


SCATTER = Traits(Kind.SCATTER, inner=Inner.PIECES)
JOINING = Traits(Kind.SCATTER, inner=Inner.PIECES, combines=True)

scatter_p: Primitive = Primitive(
    "scatter", out_type=_type_rule("scatter"), jvp=_scatter_jvp, transpose=_scatter_transpose,
    batch=_batch_rule(lambda *args, **params: scatter_p.bind(*args, **params)), lower=_lower_rule(_overwrite),
    reference=_reference_rule(_assign), exact=True, traits=SCATTER)

# -- applying a function ---------------------------------------------------------------------------------------------

def _apply_jvp(primals, tangents, *, update_jaxpr, update_consts, **params):
    x, indices, updates = primals
    if isinstance(tangents[0], Zero):
        out = scatter_apply_p.bind(*primals, update_jaxpr=update_jaxpr, update_consts=(), **params)
        return out, Zero.of(out)
    if not params["unique_indices"]:
        raise NotImplementedError("scatter_apply: the derivative needs unique_indices=True, as an element that is addressed "
                                  "twice passes the function twice.")
    (out,), (tangent,) = jvp_flat(lambda x: [_apply_to_read(x, indices, np.shape(updates), update_jaxpr, params)], [x], [tangents[0]])
    return out, tangent


def _apply_to_read(x, indices, shape, program, params):
    """``program``, of an element and an unused one, on what is read at the places addressed, once for each time that an element is."""
    static = _static(params)
    values = _read(x, indices, shape, **static)

    def applied(values: Array):
        return on_arrays(program, [values, _zeros_like(values)])[0]
    if static["unique_indices"]:
        values = applied(values)
    else:
        ones = broadcast_in_dim(np.int32(1), shape, ())
        blank = broadcast_in_dim(np.int32(0), np.shape(x), ())
        times = _read(scatter_add_p.bind(blank, indices, ones, update_jaxpr=None, update_consts=(), **static), indices, shape, **static)

        def turn(number: Array, values: Array):
            return lax.select(lax.lt(broadcast_in_dim(lax.convert_element_type(number, np.int32), shape, ()), times), applied(values), values)
        most = lax.reduce_max(times, tuple(range(len(shape))))
        values = lax.fori_loop(np.int32(0), most, turn, values)
    return scatter_p.bind(x, indices, values, update_jaxpr=None, update_consts=(), **static)


scatter_apply_p: Primitive = Primitive(
    "scatter", out_type=_type_rule("scatter_apply"), jvp=_apply_jvp,
    transpose=none("scatter_apply is not linear, so it has no transpose"),
    batch=_batch_rule(lambda *args, **params: scatter_apply_p.bind(*args, **params)),
    lower=_lower_rule(lambda b, old, new, update_jaxpr: b.jaxpr(update_jaxpr, old, new)[0]), cacheable=False, traits=SCATTER)

# -- adding and subtracting ------------------------------------------------------------------------------------------

def _linear_jvp(bind):
    def rule(primals: Sequence[Array], tangents: Sequence[Array], **params):
        out = bind(*primals, **params)
        gx, _, gu = tangents
        if isinstance(gx, Zero) and isinstance(gu, Zero):
            return out, Zero.of(out)
        return out, bind(instantiate(gx), primals[1], instantiate(gu), **params)
    return rule


def _linear_transpose(negate):
    def rule(ct: Array, x: Array, indices: Array, updates, **params):
        ct_x = ct if is_linear(x) else None
        ct_updates = None
        if is_linear(updates):
            ct_updates = _read(ct, indices, np.shape(updates), **_static(params))
            ct_updates = lax.neg(ct_updates) if negate else ct_updates
        return ct_x, None, ct_updates
    return rule


def _linear_scatter(name, op, write, negate):
    prim = Primitive(
        name, out_type=_type_rule(name.replace("-", "_"), NUMERIC),
        jvp=_linear_jvp(lambda *args, **params: prim.bind(*args, **params)), transpose=_linear_transpose(negate),
        batch=_batch_rule(lambda *args, **params: prim.bind(*args, **params)), lower=_lower_rule(_op(op)),
        reference=_reference_rule(write), exact=integers, traits=JOINING, sums=partial_sums.adding)
    return prim


scatter_add_p = _linear_scatter("scatter-add", "add", np.add.at, negate=False)
scatter_sub_p = _linear_scatter("scatter-sub", "subtract", np.subtract.at, negate=True)

# -- multiplying -----------------------------------------------------------------------------------------------------

def _mul_jvp(primals, tangents, **params):
    x, indices, updates = primals
    gx, _, gu = tangents
    out = scatter_mul_p.bind(*primals, **params)
    terms = []
    if not isinstance(gx, Zero):
        terms.append(scatter_mul_p.bind(gx, indices, updates, **params))
    if not isinstance(gu, Zero):
        others = _other_factors(x, indices, updates, params)
        terms.append(scatter_add_p.bind(_zeros_like(x), indices, lax.mul(gu, others), **params))
    if not terms:
        return out, Zero.of(out)
    return out, terms[0] if len(terms) == 1 else lax.add(*terms)


def _other_factors(x, indices, updates, params):
    """For each update the product of all that meets it in its element."""
    if params["unique_indices"]:
        return _read(x, indices, np.shape(updates), **_static(params))
    return _others_by_quotients(tuple(params.items()), x, indices, updates)


@partial(custom_jvp, nondiff_argnums=(0,))
def _others_by_quotients(params, x, indices, updates):
    """The product of the updates that are not zero, divided by the update itself; where zeros are among them, only a single
    zero has nonzero factors besides."""
    static, shape = _static(dict(params)), np.shape(updates)
    is_zero = lax.eq(updates, _zeros_like(updates))
    nonzero = lax.select(is_zero, _like(updates, 1), updates)
    product = scatter_mul_p.bind(x, indices, nonzero, **dict(params))
    count = scatter_add_p.bind(broadcast_in_dim(np.int32(0), np.shape(x), ()), indices,
                               lax.convert_element_type(is_zero, np.int32), **dict(params))
    product, count = _read(product, indices, shape, **static), _read(count, indices, shape, **static)
    alive = lax.eq(count, lax.convert_element_type(is_zero, np.int32))  # no zero among the others
    return lax.select(alive, lax.div(product, nonzero), _zeros_like(updates))


@_others_by_quotients.defjvp
def _others_jvp(params, primals, tangents):
    """Quotients have the right values, and at zeros no derivative; the products have both."""
    (x, indices, updates), (gx, _, gu) = primals, tangents
    outs, found = jvp_flat(lambda x, updates: [_others_by_products(dict(params), x, indices, updates)], [x, updates], [gx, gu])
    return outs[0], instantiate(found[0])


def _others_by_products(params, x, indices, updates):
    """The updates, sorted by their elements, are multiplied from both ends of each element's run of them."""
    static, shape = _static(params), np.shape(updates)
    n = math.prod(shape)
    places = lax.reshape(lax.iota(np.int32, math.prod(np.shape(x))), np.shape(x))
    targets = lax.reshape(_read(places, indices, shape, fill_value=-1, **static), (n,))
    targets, order, factors = lax.sort((targets, lax.iota(np.int32, n), lax.reshape(updates, (n,))), num_keys=1)
    others = lax.mul(*(_products_of_runs(targets, factors, reverse) for reverse in (False, True)))
    _, others = lax.sort((order, others), num_keys=1)
    return lax.mul(_read(x, indices, shape, **static), lax.reshape(others, shape))


def _products_of_runs(targets, factors, reverse):
    """The products of the factors before each, or after it, of those with equal targets."""
    def join(first, second):
        starts, product = second
        return lax.bitwise_or(first[0], starts), lax.mul(lax.select(starts, _like(product, 1), first[1]), product)
    starts = lax.ne(targets, shifted(targets, 0, reverse, -2))  # no target
    neighbours = lax.select(starts, _like(factors, 1), shifted(factors, 0, reverse))
    return lax.associative_scan(join, (starts, neighbours), reverse=reverse)[1]


def _mul_transpose(ct, x, indices, updates, **params):
    if is_linear(updates):
        if not params["unique_indices"]:
            raise NotImplementedError("scatter_mul is not linear in updates that meet in one element; pass "
                                      "unique_indices=True if they do not.")
        product = lax.mul(ct, x)
        return None, None, _read(product, indices, np.shape(updates), **_static(params))
    return scatter_mul_p.bind(ct, indices, updates, **params), None, None


scatter_mul_p: Primitive = Primitive(
    "scatter-mul", out_type=_type_rule("scatter_mul", NUMERIC), jvp=_mul_jvp, transpose=_mul_transpose,
    batch=_batch_rule(lambda *args, **params: scatter_mul_p.bind(*args, **params)), lower=_lower_rule(_op("multiply")),
    reference=_reference_rule(np.multiply.at), exact=integers, traits=JOINING)

# -- extrema ---------------------------------------------------------------------------------------------------------

def _extremum_jvp(bind):
    def rule(primals: Sequence[Array], tangents: Sequence[Array], **params):
        x, indices, updates = primals
        gx, _, gu = tangents
        out = bind(*primals, **params)
        if isinstance(gx, Zero) and isinstance(gu, Zero):
            return out, Zero.of(out)
        static = _static(params)
        found = _read(out, indices, np.shape(updates), **static)
        touched = scatter_add_p.bind(_like(x, 0), indices, _like(updates, 1), **params)
        old_wins, new_wins = lax.max(_same(x, out), _same(touched, _like(touched, 0))), _same(updates, found)  # what is not touched keeps its slope
        ties = lax.max(scatter_add_p.bind(old_wins, indices, new_wins, **params), _like(old_wins, 1))  # nobody is NaN
        gx = lax.mul(instantiate(gx), lax.div(old_wins, ties))
        share = lax.div(new_wins, _read(ties, indices, np.shape(updates), **dict(static, fill_value=1)))
        return out, scatter_add_p.bind(gx, indices, lax.mul(instantiate(gu), share), **params)
    return rule


def _same(x, y):
    """1 where both are the same number, else 0."""
    return lax.convert_element_type(lax.eq(x, y), lax.dtype(y))


def _extremum_of(op: str, direction: str):
    """As `max_p`: complex numbers have an order that XLA's operation does not know."""
    def combine(b, old, new, update_jaxpr):
        if old.aval.dtype.kind != "c":
            return _op(op)(b, old, new, update_jaxpr)
        keep = complex_order(b, direction, old, new)
        return b.emit(f"stablehlo.select {keep}, {old}, {new}", keep, old, new, out=old.aval)
    return combine


def _extremum(name, op, direction, write):
    prim = Primitive(
        name, out_type=_type_rule(name.replace("-", "_")),
        jvp=_extremum_jvp(lambda *args, **params: prim.bind(*args, **params)),
        transpose=none(f"{name} is not linear, so it has no transpose"),
        batch=_batch_rule(lambda *args, **params: prim.bind(*args, **params)), lower=_lower_rule(_extremum_of(op, direction)),
        reference=_reference_rule(write), exact=integers, traits=JOINING)
    return prim


scatter_min_p = _extremum("scatter-min", "minimum", "LT", np.minimum.at)
scatter_max_p = _extremum("scatter-max", "maximum", "GT", np.maximum.at)

# -- functions -------------------------------------------------------------------------------------------------------

def _checked(prim, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices, mode):
    """The indices as an array, and the parameters of ``prim``."""
    name = f"lax.{prim.name.replace('-', '_')}"
    if not isinstance(dimension_numbers, ScatterDimensionNumbers):
        raise TypeError(f"{name}: dimension_numbers must be lax.ScatterDimensionNumbers, got "
                        f"{dimension_numbers!r}")
    scatter_indices, numbers = _array(scatter_indices), _as_tuples(dimension_numbers)
    if get_aval(operand).placement is not None or get_aval(scatter_indices).placement is not None:
        sizes = _slice_sizes(np.ndim(operand), np.shape(updates), numbers)
        update_entries(prim.name, get_aval(operand), get_aval(scatter_indices), numbers, sizes)
    return scatter_indices, dict(
        dimension_numbers=numbers, indices_are_sorted=promise(f"{name}: indices_are_sorted", indices_are_sorted),
        unique_indices=promise(f"{name}: unique_indices", unique_indices), mode=GatherScatterMode.from_any(mode))


def _bind(prim, operand, scatter_indices, updates, *rest):
    scatter_indices, params = _checked(prim, operand, scatter_indices, updates, *rest)
    return prim.bind(operand, scatter_indices, updates, update_jaxpr=None, update_consts=(), **params)


def scatter(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
            dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
            unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """A copy of ``operand`` that holds ``updates`` at places given by index vectors; of two for one place, one stays (on CPU the last).

    Args:
      operand: an array.
      scatter_indices: integer array; its last axis holds index vectors.
      updates: of the operand's dtype; one slice for each index vector.
      dimension_numbers: how the axes belong together.
      indices_are_sorted, unique_indices: promises that make the operation or its derivative cheaper.
      mode: "drop" (default) leaves out slices that do not lie in the operand; "clip" moves them inside.

    Raises:
      TypeError: axes, lengths or dtypes do not fit. ValueError: indices are not integers, or an unknown mode.

    Source: StableHLO `scatter`.

    >>> rows = jax.lax.ScatterDimensionNumbers((1,), (0,), (0,))
    >>> jax.lax.scatter(jnp.zeros((3, 2)), jnp.array([[2]]), jnp.ones((1, 2)), rows)
    Array([[0., 0.],
           [0., 0.],
           [1., 1.]], dtype=float32)
    """
    return _bind(scatter_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices, mode)


def scatter_add(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
                dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
                unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``updates`` added to its slices. Arguments as for `scatter`. Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_add(jnp.zeros(3), jnp.array([[2], [2]]), jnp.array([1.0, 5.0]), single)
    Array([0., 0., 6.], dtype=float32)
    """
    return _bind(scatter_add_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices,
                 mode)


def scatter_sub(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
                dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
                unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``updates`` subtracted from its slices. Arguments as for `scatter`. Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_sub(jnp.array([1.0, 2.0]), jnp.array([[1], [1]]), jnp.array([3.0, 5.0]), single)
    Array([ 1., -6.], dtype=float32)
    """
    return _bind(scatter_sub_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices,
                 mode)


def scatter_mul(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
                dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
                unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with its slices multiplied by ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_mul(jnp.array([1.0, 2.0]), jnp.array([[1], [1]]), jnp.array([3.0, 5.0]), single)
    Array([ 1., 30.], dtype=float32)
    """
    return _bind(scatter_mul_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices,
                 mode)


def scatter_min(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
                dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
                unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with the minimum of its slices and ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_min(jnp.array([3, 3]), jnp.array([[0], [1]]), jnp.array([1, 5]), single)
    Array([1, 3], dtype=int32)
    """
    return _bind(scatter_min_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices,
                 mode)


def scatter_max(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike,
                dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False,
                unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with the maximum of its slices and ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_max(jnp.array([3, 3]), jnp.array([[0], [1]]), jnp.array([1, 5]), single)
    Array([3, 5], dtype=int32)
    """
    return _bind(scatter_max_p, operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices,
                 mode)


def scatter_apply(operand: ArrayLike, scatter_indices: ArrayLike, func: Callable[[ArrayLike], ArrayLike],
                  dimension_numbers: ScatterDimensionNumbers, *, update_shape: Sequence[int] = (),
                  indices_are_sorted: bool = False, unique_indices: bool = False,
                  mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``func`` applied to the elements addressed, once for each time an element is addressed.

    Args:
      func: from a scalar to a scalar of the operand's dtype; it may use values of an enclosing transformation.
      update_shape: shape that updates would have.

    Other arguments as for `scatter`.

    Raises:
      TypeError: the result of ``func`` is no scalar of the operand's dtype.

    Source: StableHLO `scatter`.

    >>> single = jax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> jax.lax.scatter_apply(jnp.array([1.0, 2.0, 3.0]), jnp.array([[1]]), lambda v: -v, single, update_shape=(1,))
    Array([ 1., -2.,  3.], dtype=float32)
    """
    dtype = dtypes.dtype(operand)
    scalar = ShapedArray((), dtype)

    def update(old, _: object):
        new = func(old)
        if np.shape(new) != () or dtypes.dtype(new) != dtype:
            raise TypeError(f"scatter_apply: func must map a scalar of dtype {dtype} to one, got {get_aval(new)}.")
        return [new]

    jaxpr, consts, _ = trace_to_jaxpr(update, [scalar, scalar])
    program = ClosedJaxpr(jaxpr, consts)
    blank = broadcast_in_dim(np.zeros((), dtype)[()], tuple(update_shape), ())
    scatter_indices, params = _checked(scatter_apply_p, operand, scatter_indices, blank, dimension_numbers, indices_are_sorted, unique_indices, mode)
    if is_arithmetic(program) and not closes_over_tracers(program):
        return scatter_apply_p.bind(operand, scatter_indices, blank, update_jaxpr=program, update_consts=(), **params)
    _type_rule("scatter_apply")(*map(get_aval, (operand, scatter_indices, blank)), **params)
    return _apply_to_read(operand, scatter_indices, np.shape(blank), program, params)
