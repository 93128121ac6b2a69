"""Products of arrays that are cut up: into groups of rows, each with its own factor, or into blocks, each with its own scale.

Both are written with `dot_general` and have its derivatives.
"""
from __future__ import annotations

import operator
from typing import Sequence

import numpy as np

from jax_core.compat.fields import Fields
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import AbstractValue, get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural
from jax_core.traces.structural import convert_element_type_p

from .arithmetic import mul, sub
from .bits import bitwise_and
from .compare import ge, lt
from .convert import convert
from .create import broadcasted_iota
from .cumulative import cumsum
from .dot import DotDimensionNumbers, PrecisionLike, _canonical_numbers, _shift, dot_general
from .nary import constant
from .select import select_n_p
from .shape import reshaped


class RaggedDotDimensionNumbers:
    """Dimension numbers of `ragged_dot_general`.

    Args:
      dot_dimension_numbers: as for `dot_general`.
      lhs_ragged_dimensions: the one axis of the left operand that is cut into groups.
      rhs_group_dimensions: the axis of the right operand that counts groups, where there is one.

    >>> groups = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), lhs_ragged_dimensions=[0], rhs_group_dimensions=[0])
    >>> lax.ragged_dot_general(jnp.ones((3, 2)), jnp.ones((2, 2, 4)), jnp.array([1, 2]), groups).shape
    (3, 4)
    """

    __slots__ = ("dot_dimension_numbers", "lhs_ragged_dimensions", "rhs_group_dimensions", "__weakref__")
    __dataclass_fields__ = Fields(*__slots__[:3])

    def __init__(self, dot_dimension_numbers: DotDimensionNumbers, lhs_ragged_dimensions: Sequence[int],
                 rhs_group_dimensions: Sequence[int]):
        self.dot_dimension_numbers = _canonical_numbers("ragged_dot_general", dot_dimension_numbers)
        self.lhs_ragged_dimensions = tuple(map(operator.index, lhs_ragged_dimensions))
        self.rhs_group_dimensions = tuple(map(operator.index, rhs_group_dimensions))

    def _key(self):
        return self.dot_dimension_numbers, self.lhs_ragged_dimensions, self.rhs_group_dimensions

    def __eq__(self, other):
        return isinstance(other, RaggedDotDimensionNumbers) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (f"RaggedDotDimensionNumbers(dot_dimension_numbers={self.dot_dimension_numbers}, lhs_ragged_dimensions="
                f"{self.lhs_ragged_dimensions}, rhs_group_dimensions={self.rhs_group_dimensions})")


def ragged_dot(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike, precision: PrecisionLike = None,
               preferred_element_type: DTypeLike | None = None, group_offset: ArrayLike | None = None,
               out_sharding: Placement | None = None) -> Array:
    """Products of consecutive groups of rows of a matrix with a matrix for each group.

    Args:
      lhs: ``[m, k]``; its rows are cut into groups.
      rhs: ``[g, k, n]``: one matrix for each group.
      group_sizes: ``[g]`` integers: rows in each group; rows beyond their sum give zeros.
      precision, preferred_element_type: as for `dot_general`.
      group_offset: not implemented, must be None.

    Returns:
      ``[m, n]``.

    Source: CHLO `ragged_dot`, here as StableHLO `dot_general`.

    >>> x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> weights = jnp.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    >>> jax.lax.ragged_dot(x, weights, jnp.array([1, 2], jnp.int32))
    Array([[1.],
           [4.],
           [7.]], dtype=float32)
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset, out_sharding)


def ragged_dot_general(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike,
                       ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: PrecisionLike = None,
                       preferred_element_type: DTypeLike | None = None, group_offset: ArrayLike | None = None,
                       out_sharding: Placement | None = None) -> Array:
    """`dot_general` with one axis of ``lhs`` cut into consecutive groups.

    If the ragged axis is free, each group meets its own part of ``rhs``; if it is contracted, the result has a new leading
    axis of groups; if it is a batch axis, groups make no difference. On all platforms this is one `dot_general` on ``lhs``
    masked for each group: it takes as many times the work as there are groups.

    Args:
      group_sizes: ``[g]``, or ``[..., g]`` for cuts that differ along other axes: the leading ones are the batch axes, and those axes of
        ``lhs`` in front of the ragged one that are free, or contracted, as the ragged one is.
      others: as for `dot_general` and `ragged_dot`.

    Raises:
      NotImplementedError: ``group_offset`` is given, or types say how operands are split and no ``out_sharding`` is given.
      TypeError: not exactly one ragged axis; ``group_sizes`` are no integers, or have another shape.

    Source: CHLO `ragged_dot`, here as StableHLO `dot_general`.

    >>> rows = jax.lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    >>> x, w = jnp.ones((3, 2)), jnp.array([[[1.0], [1.0]], [[5.0], [5.0]]])
    >>> jax.lax.ragged_dot_general(x, w, jnp.array([1, 2]), rows)  # one row meets w[0], two meet w[1]
    Array([[ 2.],
           [10.],
           [10.]], dtype=float32)
    """
    numbers = ragged_dot_dimension_numbers
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise TypeError(f"lax.ragged_dot_general: ragged_dot_dimension_numbers must be RaggedDotDimensionNumbers, got {numbers!r}")
    if group_offset is not None:
        raise NotImplementedError("lax.ragged_dot_general: group_offset is not implemented; give the groups from the first on.")
    if len(numbers.lhs_ragged_dimensions) != 1:
        raise TypeError(f"lax.ragged_dot_general needs exactly one ragged axis, got {numbers.lhs_ragged_dimensions}.")
    operands = [get_aval(x) for x in (lhs, rhs, group_sizes)]
    if out_sharding is None and any([a.placement is not None for a in operands]):
        raise NotImplementedError("lax.ragged_dot_general: how the result is split is not found from the operands' types; give it as out_sharding. "
                                  f"Operands: {splits.types_text(operands)}.")
    ((lc, rc), (lb, rb)), (ragged,) = numbers.dot_dimension_numbers, numbers.lhs_ragged_dimensions
    outer = _axes_of_cuts(operands[0].ndim, ragged, lc, lb)
    _check_group_sizes(operands, [operands[0].shape[a] for a in outer], numbers.rhs_group_dimensions)
    if ragged in lb:
        return dot_general(lhs, rhs, numbers.dot_dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding)
    masked = _masked_for_groups(lhs, group_sizes, ragged, outer)
    if ragged in lc:  # both are masked: zeros of one alone meet another group's infinities
        partner = dict(zip((*lb, *lc), (*rb, *rc)))
        others = _masked_for_groups(rhs, group_sizes, partner[ragged], [partner[a] for a in outer])
        out = dot_general(masked, others, ((_shift(lc, 0), _shift(rc, 0)), ((0, *_shift(lb, 0)), (0, *_shift(rb, 0)))), precision,
                          preferred_element_type)
        return structural.reshard(out, structural.resolved(out_sharding))
    group, = numbers.rhs_group_dimensions
    return dot_general(masked, rhs, (((0, *_shift(lc, 0)), (group, *rc)), (_shift(lb, 0), rb)), precision, preferred_element_type, out_sharding=out_sharding)


def _axes_of_cuts(rank: int, ragged: int, contracted: Sequence[int], batch: Sequence[int]) -> list[int]:
    """The axes of the left operand along which the cuts may differ, in the order of ``group_sizes``."""
    if ragged in batch:
        return list(batch[:batch.index(ragged)])
    if ragged in contracted:
        return [*batch, *contracted[:contracted.index(ragged)]]
    return [*batch, *[a for a in range(ragged) if a not in batch and a not in contracted]]


def _check_group_sizes(operands: Sequence[AbstractValue], outer: Sequence[int], group_axes: Sequence[int]) -> None:
    _, rhs, sizes = operands
    if not dtypes.issubdtype(sizes.dtype, np.integer):
        raise TypeError(f"lax.ragged_dot_general: group_sizes must be integers, got {sizes.str_short()}.")
    groups = tuple(rhs.shape[a] for a in group_axes) or sizes.shape[-1:]
    if sizes.shape not in (groups, (*outer, *groups)) or not groups:
        raise TypeError(f"lax.ragged_dot_general: group_sizes must have shape {groups}{f' or {(*outer, *groups)}' if outer else ''}, got {sizes.shape}.")


def _masked_for_groups(x, group_sizes, axis, outer):
    """``x`` once for each group, zero outside of the group's stretch of ``axis``; stretches may differ along the axes ``outer``."""
    sizes = convert_element_type_p.bind(group_sizes, new_dtype=np.dtype(np.int32), weak_type=False, sharding=None)
    last = np.ndim(sizes) - 1
    ends = cumsum(sizes, last)
    full = (np.shape(sizes)[last], *np.shape(x))
    places = [a + 1 for a in outer[:last]]
    order = sorted(range(last), key=places.__getitem__)

    def spread(bounds):
        return structural.broadcast_in_dim(structural.transpose(bounds, (last, *order)), full, (0, *sorted(places)))
    place = broadcasted_iota(np.int32, full, axis + 1)
    inside = bitwise_and(ge(place, spread(sub(ends, sizes))), lt(place, spread(ends)))
    copies = structural.broadcast_in_dim(x, full, tuple(range(1, len(full))))
    return select_n_p.bind(inside, constant(0, x), copies)


def scaled_dot(lhs: ArrayLike, rhs: ArrayLike, *, lhs_scale: ArrayLike | None = None,
               rhs_scale: ArrayLike | None = None, dimension_numbers: DotDimensionNumbers | None = None,
               preferred_element_type: DTypeLike | None = None) -> Array:
    """`dot_general` of operands that are scaled by blocks along the contracted axis: each scale counts for a block of equal length.

    Args:
      lhs, rhs: arrays, by default matrices ``[..., m, k]`` and ``[..., k, n]`` with equal leading axes.
      lhs_scale, rhs_scale: scales, shorter along the contracted axis by a whole factor; None for 1.
      dimension_numbers: as for `dot_general`.
      preferred_element_type: dtype of the result; bfloat16 without it.

    Source: StableHLO `dot_general`.

    >>> x, w = jnp.ones((1, 4)), jnp.ones((4, 1))
    >>> jax.lax.scaled_dot(x, w, lhs_scale=jnp.array([[1.0, 10.0]]))  # 10 for the last two
    Array([[22]], dtype=bfloat16)
    """
    if dimension_numbers is None:
        rank = np.ndim(lhs)
        batch = tuple(range(rank - 2))
        dimension_numbers = (((rank - 1,), (rank - 2,)), (batch, batch))
    element = dtypes.bfloat16 if preferred_element_type is None else preferred_element_type
    return dot_general(_scaled(lhs, lhs_scale), _scaled(rhs, rhs_scale), dimension_numbers, None, element)


def _scaled(x, scale):
    """``x`` in float32, times its scales, each repeated over its block."""
    x = convert(x, np.dtype(np.float32))
    if scale is None:
        return x
    scale = convert(scale, np.dtype(np.float32))
    shape = np.shape(x)
    if np.ndim(scale) != len(shape):
        raise TypeError(f"lax.scaled_dot: a scale must have as many axes as its operand of shape {shape}, got shape {np.shape(scale)}.")
    for axis, n in enumerate(shape):
        own = np.shape(scale)
        if own[axis] != n:
            wide = structural.broadcast_in_dim(scale, (*own[:axis + 1], n // own[axis], *own[axis + 1:]),
                                               (*range(axis + 1), *range(axis + 2, len(own) + 1)))
            scale = reshaped(wide, (*own[:axis], n, *own[axis + 1:]))
    return mul(x, scale)
