"""Padding: a value before, after and between the elements of an array.

Linear in operand and value: to the operand goes the slice that undoes the padding, to the value the sum of the rest.

Source: StableHLO specification, `pad`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import numpy as np

from jax_core.representation import partial_sums, splits
from jax_core.representation.arguments import int_rows
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.traits import Inner, Kind, Quick, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces import structural
from jax_core.traces.structural import reduce_sum

from .arithmetic import sub_p
from .nary import as_operand
from .select import select_n_p
from .slicing import slice_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value


def _padded_length(n, low, high, interior):
    return low + high + (n + interior * (n - 1) if n else 0)


def _pad_type(x, value, *, padding_config):
    if value.shape != ():
        raise ValueError(f"lax.pad: padding_value must be a scalar, got {value.str_short()}.")
    if value.dtype != x.dtype:
        raise TypeError(f"lax.pad: operand and padding_value must have one dtype, got {x.str_short()} and {value.str_short()}.")
    if len(padding_config) != x.ndim:
        raise ValueError(f"lax.pad: padding_config={padding_config} needs one entry (low, high, interior) for each axis of "
                         f"operand {x.str_short()}.")
    if any(interior < 0 for _, _, interior in padding_config):
        raise ValueError(f"lax.pad: interior padding must not be negative, got padding_config={padding_config}.")
    shape = tuple(_padded_length(n, *config) for n, config in zip(x.shape, padding_config))
    if any(n < 0 for n in shape):
        raise ValueError(f"lax.pad: padding_config={padding_config} takes more from operand {x.str_short()} than it has: the "
                         f"result would have shape {shape}.")
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


def _pad_transpose(ct, x, value, *, padding_config):
    """To the operand goes what lies at its places; to the padding value the sum of all the rest."""
    if isinstance(ct, Zero):
        return [Zero(v.aval) if is_linear(v) else None for v in (x, value)]
    zero = np.zeros((), get_aval(ct).dtype)[()]
    mine = pad_p.bind(ct, zero, padding_config=tuple((-low, -high, 0) for low, high, _ in padding_config))
    if any(interior for _, _, interior in padding_config):
        mine = _every(mine, tuple(interior + 1 for _, _, interior in padding_config))
    total = None
    if is_linear(value):
        axes = tuple(range(np.ndim(ct)))
        total = sub_p.bind(reduce_sum(ct, axes), reduce_sum(mine, axes))
    return mine if is_linear(x) else None, total


def _every(x, strides):
    shape = np.shape(x)
    return slice_p.bind(x, start_indices=(0,) * len(shape), limit_indices=shape, strides=strides)


def _pad_batch(axis, args, dims, *, padding_config):
    (x, value), (dx, dv) = args, dims
    if dv is None:
        config = (*padding_config[:dx], (0, 0, 0), *padding_config[dx:])
        return pad_p.bind(x, value, padding_config=config), dx
    # Each example has its own value: pad with anything, then choose it where the padding is.
    x = structural.bdim_at_front(x, dx, axis)
    config = ((0, 0, 0), *padding_config)
    dtype = get_aval(x).dtype
    padded = pad_p.bind(x, np.zeros((), dtype)[()], padding_config=config)
    inside = pad_p.bind(structural.broadcast_in_dim_p.bind(np.bool_(True), shape=np.shape(x), broadcast_dimensions=(),
                                                           sharding=None), np.bool_(False), padding_config=config)
    values = structural.broadcast_in_dim(value, np.shape(padded), (0,))
    return select_n_p.bind(inside, values, padded), 0


def _pad_lower(b, x, value, *, padding_config):
    return emit_pad(b, x, value, padding_config)


def emit_pad(b: Builder, x: Value, value: Value, config: Sequence[tuple[int, int, int]]):
    """`pad`. What is cropped is sliced off apart from it: compilers add up paddings, and a crop is not the opposite of what fills it again
    (openxla/xla #48715), and fail where they split a padding that crops over devices (jax-ml/jax #39301)."""
    out = x.aval.update(shape=[_padded_length(n, *c) for n, c in zip(x.aval.shape, config)])
    if b.one_form or not any([low < 0 or high < 0 for low, high, _ in config]):
        low, high, interior = ([c[i] for c in config] for i in range(3))
        return b.emit(f"stablehlo.pad {x}, {value}, low = {low}, high = {high}, interior = {interior}", x, value, out=out)
    crops = [(max(0, -low), max(0, -high)) for low, high, _ in config]
    fills = [(max(0, low), max(0, high), interior) for low, high, interior in config]
    if any([interior for *_, interior in config]) or any([n < sum(crop) for n, crop in zip(x.aval.shape, crops)]):
        return _emit_crop(b, emit_pad(b, x, value, fills), crops)
    cropped = _emit_crop(b, x, crops)
    return cropped if all([not any(fill) for fill in fills]) else emit_pad(b, cropped, value, fills)


def _emit_crop(b, x, crops):
    bounds = [(low, n - high) for n, (low, high) in zip(x.aval.shape, crops)]
    ranges = ", ".join([f"{start}:{limit}" for start, limit in bounds])
    return b.emit(f"stablehlo.slice {x} [{ranges}]", x, out=x.aval.update(shape=[limit - start for start, limit in bounds]))


def _pad_reference(x, value, *, padding_config):
    x = np.asarray(x)
    shape = [_padded_length(n, *c) for n, c in zip(x.shape, padding_config)]
    out = np.full(shape, value, x.dtype)
    to, of = [], []
    for n, m, (low, _, interior) in zip(x.shape, shape, padding_config):
        step = interior + 1
        first = max(0, -(low // step))  # of the elements, the first with low + i * step >= 0
        last = min(n, (m - 1 - low) // step + 1)
        count = max(last - first, 0)
        of.append(slice(first, first + count))
        start = low + first * step
        to.append(slice(start, start + count * step, step) if count else slice(0, 0))
    out[tuple(to)] = x[tuple(of)]
    return out


pad_p = Primitive(
    "pad", out_type=_pad_type, jvp=LINEAR, transpose=_pad_transpose, batch=_pad_batch, lower=_pad_lower,
    reference=_pad_reference, exact=True, splits=splits.resizing("padding"),
    traits=Traits(Kind.MOVE, quick=Quick.SLOW_ON_RESULTS, inner=Inner.WINDOWS, fast_on_host=True),
    sums=partial_sums.linear_in_first)


def pad(operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """``operand`` with ``padding_value`` before, after and between its elements.

    Args:
      operand: array.
      padding_value: scalar of its dtype.
      padding_config: ``(low, high, interior)`` for each axis; negative ``low`` and ``high`` cut off.

    Raises:
      TypeError: dtypes differ. ValueError: the configuration does not fit the operand.

    Source: StableHLO `pad`.

    >>> lax.pad(jnp.array([1, 2]), 0, [(1, 2, 1)])
    Array([0, 1, 0, 2, 0, 0], dtype=int32)
    """
    operand, padding_value = as_operand("pad", operand, 0), as_operand("pad", padding_value, 1)
    config = int_rows("lax.pad: padding_config", padding_config, "low, high, interior")
    return pad_p.bind(operand, padding_value, padding_config=config)
