"""Operations and bytes of primitives, by what their traits say of them."""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from jax_core.representation.aval import AbstractValue
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Part

from .collectives import all_gather, all_reduce, all_to_all, permute
from .result import RooflineResult, RooflineShape

Model = Callable[..., RooflineResult]
_bytes = RooflineShape.total_bytes


def _size(aval: AbstractValue) -> int:
    return math.prod(aval.shape)  # type: ignore[attr-defined]  # of arrays


def _work(flops: float, travel: int) -> RooflineResult:
    return RooflineResult(unfused_flops=int(flops), unfused_hbm_bytes=travel)


def _everything(ctx, flops):
    return _work(flops, _bytes(ctx.avals_in) + _bytes(ctx.avals_out))


def _elementwise(ctx, *operands, **params):
    """An operation for each element; of the cases of a choice one is read."""
    if ctx.primitive.traits.chooses:
        return _work(_size(ctx.avals_out[0]), _bytes([ctx.avals_in[0], *ctx.avals_out]))
    return _everything(ctx, _size(ctx.avals_out[0]))


def _reduction(ctx, *operands, **params):
    return _everything(ctx, max(0, sum(map(_size, ctx.avals_in)) - sum(map(_size, ctx.avals_out))))


def _moved(ctx, *operands, **params):
    return _everything(ctx, 0)


def _found(ctx, *operands, mode=None, **params):
    """What is read of the operand is as much as the result. Where places out of bounds are filled, each index is compared with both
    ends, the two are joined, and all indices of a place are; then one of two is taken for each element."""
    out, indices = ctx.avals_out[0], ctx.avals_in[1:]
    checks = 4 * sum(map(_size, indices)) + _size(out) if mode is not None and mode.name == "FILL_OR_DROP" else 0
    return _work(checks, 2 * _bytes([out]) + _bytes(indices))


def _written(ctx, *operands, **params):
    """The part that changes is read, as the updates are, and written."""
    _, updates, *indices = ctx.avals_in
    return _work(0, 3 * _bytes([updates]) + _bytes(indices))


def _scattered(ctx, *operands, update_jaxpr=None, **params):
    """The same, and for each update what joins it with what is there."""
    _, indices, updates = ctx.avals_in[:3]
    each = len(update_jaxpr.eqns) if update_jaxpr is not None else 1 if ctx.primitive.traits.combines else 0
    return _work(each * _size(updates), 3 * _bytes([updates]) + _bytes([indices]))


def _matrix_product(ctx, *operands, dimension_numbers, **params):
    """Twice the products; both operands and the result travel, but for those pinned in fast memory."""
    lhs, out = ctx.avals_in[0], ctx.avals_out[0]
    flops = 2 * _size(out) * math.prod(lhs.shape[d] for d in dimension_numbers[0][0])
    travel = (0 if ctx.pin_lhs_in_vmem else _bytes([lhs, out])) + (0 if ctx.pin_rhs_in_vmem else _bytes([ctx.avals_in[1]]))
    return RooflineResult(flops=flops, unfused_flops=flops, hbm_bytes=travel, unfused_hbm_bytes=travel)


def _convolution(ctx, *operands, dimension_numbers, window_strides, padding, lhs_dilation, rhs_dilation, batch_group_count, **params):
    """Twice the products with elements that are there, not with padding and holes."""
    lhs, rhs, out = ctx.avals_in[0], ctx.avals_in[1], ctx.avals_out[0]
    places = [_products_along(lhs.shape[i], rhs.shape[k], out.shape[o], stride, pad[0], holes, spread) for i, k, o, stride, pad, holes, spread in zip(
        dimension_numbers.lhs_spec[2:], dimension_numbers.rhs_spec[2:], dimension_numbers.out_spec[2:], window_strides, padding, lhs_dilation,
        rhs_dilation)]
    channels = rhs.shape[dimension_numbers.rhs_spec[1]]
    others = out.shape[dimension_numbers.out_spec[0]] * out.shape[dimension_numbers.out_spec[1]]
    return _everything(ctx, 2 * others * channels * math.prod(places))


def _products_along(length: int, window: int, count: int, stride: int, before: int, holes: int, spread: int) -> int:
    """How many elements of an axis of ``length`` the ``count`` windows meet.

    Element ``k`` of window ``o`` is at ``o * stride + k * spread - before``, and meets one where ``holes`` divides that: for each ``k`` such
    ``o`` are equally far apart.
    """
    if not length:
        return 0
    offsets = np.arange(window, dtype=np.int64) * spread - before
    common = math.gcd(stride, holes)
    apart = holes // common
    first = (-offsets // common) * pow(stride // common, -1, apart) % apart if apart > 1 else np.zeros_like(offsets)
    low = np.maximum(0, -(offsets // stride))  # where the place is not negative
    high = np.minimum(count - 1, ((length - 1) * holes - offsets) // stride)
    low += (first - low) % apart
    met = np.where((offsets % common == 0) & (low <= high), (high - low) // apart + 1, 0)
    return int(met.sum())


def _swept(ctx, *operands, axis, **params):
    """Steps along the axis, one after the other: elements beside each other go at once."""
    return _everything(ctx, ctx.avals_in[0].shape[axis])


_MODELS: dict[Kind, Model] = {
    Kind.ELEMENTWISE: _elementwise, Kind.SWEEP: _swept, Kind.REDUCTION: _reduction, Kind.SEARCH: _reduction,
    Kind.SCATTER: _scattered, Kind.SORT: _moved, Kind.PRODUCT: _matrix_product, Kind.CONVOLUTION: _convolution, Kind.HOST: _moved,
    Kind.ALL_REDUCE: all_reduce, Kind.ALL_GATHER: all_gather, Kind.ALL_TO_ALL: all_to_all,
    Kind.PERMUTE: permute}
_OF_PARTS: dict[Part, Model] = {Part.FOUND: _found, Part.WRITTEN: _written}


def model(prim: Primitive) -> Model | None:
    """``rule(ctx, *operands, **params)`` for a primitive; None where it costs nothing by itself."""
    traits = prim.traits
    return traits.part is not None and _OF_PARTS.get(traits.part) or _MODELS.get(traits.kind)
