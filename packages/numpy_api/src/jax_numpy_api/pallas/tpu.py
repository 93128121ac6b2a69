"""`jax.experimental.pallas.tpu`: what kernels for TPUs use besides: options, copies, and operations on vectors."""
from __future__ import annotations

import dataclasses
import enum
from typing import Any, Mapping, Sequence

import numpy as np

from jax_core.references.bits import bitcast_rows
from jax_core.representation import dtypes
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax, numpy as jnp
from . import specs


class GridDimensionSemantics(enum.Enum):
    """Whether the steps along an axis of the grid may run in any order (parallel) or not (arbitrary)."""

    PARALLEL = "parallel"
    CORE_PARALLEL = "core_parallel"
    SUBCORE_PARALLEL = "subcore_parallel"
    ARBITRARY = "arbitrary"


PARALLEL, ARBITRARY = GridDimensionSemantics.PARALLEL, GridDimensionSemantics.ARBITRARY
CORE_PARALLEL, SUBCORE_PARALLEL = GridDimensionSemantics.CORE_PARALLEL, GridDimensionSemantics.SUBCORE_PARALLEL


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompilerParams(specs.CompilerParams):
    """Options for the TPU's compiler.

    Args:
      dimension_semantics: for each axis of the grid a `GridDimensionSemantics` or its value.
      vmem_limit_bytes: how much vector memory the kernel may use.
      flags, and all others: as the compiler understands them.

    Raises:
      ValueError: ``dimension_semantics`` has something else.
    """

    # the grid and memory
    dimension_semantics: Sequence[GridDimensionSemantics | str] | None = None
    vmem_limit_bytes: int | None = None
    internal_scratch_in_bytes: int | None = None
    # what is left out
    disable_bounds_checks: bool = False
    disable_semaphore_checks: bool = False
    skip_device_barrier: bool = False
    # several devices
    collective_id: int | None = None
    allow_collective_id_without_custom_barrier: bool = False
    has_side_effects: bool = False
    # how it is compiled
    allow_input_fusion: Sequence[bool] | None = None
    fuse_transposed_lhs_in_matmul: bool = False
    needs_layout_passes: bool = True
    opt_level: Any = None
    serialization_format: int = 1
    shape_invariant_numerics: bool = True
    use_tc_tiling_on_sc: bool | None = None
    flags: Mapping[str, Any] | None = None

    def __post_init__(self):
        known = [s.value for s in GridDimensionSemantics]
        for s in self.dimension_semantics or ():
            if getattr(s, "value", s) not in known:
                raise ValueError(f"pltpu.CompilerParams: dimension_semantics has {s!r}; each is one of {known}.")
        for name in ("dimension_semantics", "allow_input_fusion", "flags"):
            value = getattr(self, name)
            object.__setattr__(self, name, specs.frozen(list(value) if isinstance(value, tuple) else value))


def roll(x: ArrayLike, shift: ArrayLike, axis: int, *, stride: int | None = None, stride_axis: int | None = None) -> Any:
    """``x`` with elements moved by ``shift`` places along ``axis``, those at the end coming in at the start.

    Args:
      shift: not negative.
      stride, stride_axis: element ``i`` along ``stride_axis`` is moved by ``i * stride`` places more.

    Raises:
      ValueError: ``axis`` out of range, or a negative ``shift``.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.roll(jnp.arange(5), 2, 0)
    Array([3, 4, 0, 1, 2], dtype=int32)
    """
    shape = jnp.shape(x)
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"pltpu.roll: axis={axis} is out of range for {get_aval(x).str_short()}.")
    if isinstance(shift, (int, np.integer)) and shift < 0:
        raise ValueError(f"pltpu.roll: shift={shift} is negative; the same is moved by {shift % max(shape[axis], 1)} places.")
    if stride is None:
        return jnp.roll(x, shift, axis)
    n = shape[axis]
    moved, places = jnp.asarray(x), (shift + stride * lax.broadcasted_iota(np.int32, shape, stride_axis % len(shape))) % n  # type: ignore[operator]
    for bit in range((n - 1).bit_length()):  # a kernel gathers within one register only, but rolls by any constant
        moved = jnp.where(places >> bit & 1 != 0, jnp.roll(moved, 1 << bit, axis), moved)
    return moved


def bitcast(x: ArrayLike, ty: DTypeLike, dim: int = -2) -> Any:
    """The bits of ``x`` as elements of another dtype, which the axis ``dim`` has more or fewer of.

    Raises:
      ValueError: ``x`` has no such axis, or its length is no whole number of wider elements.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.bitcast(jnp.ones((2, 1), jnp.float32), jnp.uint16).shape
    (4, 1)
    """
    have, want = get_aval(x), np.dtype(ty)
    if dtypes.itemsize_bits(have.dtype) == dtypes.itemsize_bits(want):
        return lax.bitcast_convert_type(x, want)
    if not -have.ndim <= dim < have.ndim:
        raise ValueError(f"pltpu.bitcast: {have.str_short()} to {want.name}: there is no axis {dim} to have more or fewer elements; a vector's is dim=-1.")
    if have.ndim == 1:
        return bitcast_rows(jnp.reshape(x, (-1, 1)), want).reshape(-1)
    if dim in (-2, have.ndim - 2):
        return bitcast_rows(x, want)
    return jnp.moveaxis(bitcast_rows(jnp.moveaxis(x, dim, -2), want), -2, dim)


def reciprocal(x: ArrayLike, *, approx: bool = False, full_range: bool = True) -> Any:
    """``1 / x``; with ``approx`` the compiler may be less exact.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.reciprocal(jnp.array([2., 4.]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return 1 / x  # type: ignore[operator]  # numbers and arrays


def touch(ref: object) -> None:
    """Say that ``ref`` is used, which changes nothing.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     pltpu.touch(x_ref)
    ...     o_ref[...] = jnp.ones(3)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.zeros(3))
    Array([1., 1., 1.], dtype=float32)
    """


def with_memory_space_constraint(x: ArrayLike, memory_space: object) -> Any:
    """``x``, with the wish that it is in ``memory_space``; a kernel's operand is where its `BlockSpec` says.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.with_memory_space_constraint(jnp.arange(3), pltpu.VMEM)
    Array([0, 1, 2], dtype=int32)
    """
    return x


# -- several narrow values in one word ---------------------------------------------------------------------------------------

def _per_word(name: str, packed: Any, unpacked: Any) -> int:
    """How many values of the dtype ``packed`` a word of 32 bits has.

    Raises:
      ValueError: the dtypes are neither integers nor bfloat16 and float32.
    """
    packed, unpacked = np.dtype(packed), np.dtype(unpacked)
    integers = dtypes.issubdtype(packed, np.integer) and dtypes.issubdtype(unpacked, np.integer)
    if unpacked.itemsize != 4 or packed.itemsize >= 4 or not (integers or (packed.name, unpacked.name) == ("bfloat16", "float32")):
        raise ValueError(f"pltpu.{name}: between {unpacked.name} and {packed.name}; words hold bfloat16 from float32, or short integers from int32 and uint32.")
    return 32 // dtypes.iinfo(packed).bits if integers else 2


def pack_elementwise(xs: Sequence[ArrayLike], *, packed_dtype: DTypeLike) -> Any:
    """Words whose bits are the elements of ``xs``, the first in the lowest bits; bfloat16 from float32, or the low bits of integers.

    Raises:
      ValueError: other dtypes, or not as many arrays as a word has places.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> words = pltpu.pack_elementwise([jnp.array([1, -1]), jnp.array([2, 3])], packed_dtype=jnp.int16)
    >>> [hex(w) for w in words.tolist()]
    ['0x20001', '0x3ffff']
    """
    dtype, count = get_aval(xs[0]).dtype, _per_word("pack_elementwise", packed_dtype, get_aval(xs[0]).dtype)
    if len(xs) != count:
        raise ValueError(f"pltpu.pack_elementwise: {len(xs)} arrays were given, and a word has {count} places for {np.dtype(packed_dtype).name}.")
    bits, word = 32 // count, None
    for place, x in enumerate(xs):
        if dtype == np.float32:  # rounded to bfloat16, whose bits are the upper ones
            x = lax.reduce_precision(x, 8, 7)
        x = lax.bitcast_convert_type(x, np.uint32)
        if dtype == np.float32:
            x = lax.shift_right_logical(x, lax.full_like(x, 16))
        part = lax.shift_left(lax.bitwise_and(x, lax.full_like(x, (1 << bits) - 1)), lax.full_like(x, place * bits))
        word = part if word is None else lax.bitwise_or(word, part)
    return word


def unpack_elementwise(x: ArrayLike, *, index: int, packed_dtype: DTypeLike, unpacked_dtype: DTypeLike) -> Any:
    """The values at place ``index`` of words of 32 bits that `pack_elementwise` made.

    Raises:
      ValueError: other dtypes, or a place that a word does not have.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.unpack_elementwise(jnp.array([0x0003ffff]), index=0, packed_dtype=jnp.int16, unpacked_dtype=jnp.int32)
    Array([-1], dtype=int32)
    """
    count = _per_word("unpack_elementwise", packed_dtype, unpacked_dtype)
    if not 0 <= index < count:
        raise ValueError(f"pltpu.unpack_elementwise: index={index}; a word has the places 0 to {count - 1} for {np.dtype(packed_dtype).name}.")
    bits, word = 32 // count, lax.bitcast_convert_type(x, np.int32)
    high = lax.shift_left(word, lax.full_like(word, 32 - bits - index * bits))
    if np.dtype(unpacked_dtype) == np.float32:
        return lax.bitcast_convert_type(lax.bitwise_and(high, lax.full_like(high, -65536)), np.float32)
    shift = lax.shift_right_arithmetic if dtypes.issubdtype(np.dtype(packed_dtype), np.signedinteger) else lax.shift_right_logical
    return shift(high, lax.full_like(high, 32 - bits)).astype(unpacked_dtype)


def stochastic_round(x: ArrayLike, random_bits: ArrayLike, *, target_dtype: DTypeLike) -> Any:
    """``x`` in bfloat16, rounded up or down with the probability that makes it right on average.

    Args:
      x: float32. ``random_bits``: uint32 of its shape.

    Raises:
      ValueError: other dtypes.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.stochastic_round(jnp.full(2, 1.001), jnp.array([0, 0xffff], jnp.uint32), target_dtype=jnp.bfloat16)
    Array([1, 1.00781], dtype=bfloat16)
    """
    if get_aval(x).dtype != np.float32 or get_aval(random_bits).dtype != np.uint32 or np.dtype(target_dtype).name != "bfloat16":
        raise ValueError(f"pltpu.stochastic_round: {get_aval(x).str_short()} with bits {get_aval(random_bits).str_short()} to "
                         f"{np.dtype(target_dtype).name}; it takes float32 and uint32 of one shape, to bfloat16.")
    word = lax.bitcast_convert_type(x, np.uint32)
    lower = lax.bitwise_and(random_bits, lax.full_like(word, 0xFFFF))
    moved = lax.bitwise_and(word + lower, lax.full_like(word, 0xFFFF0000))
    found = lax.bitcast_convert_type(moved, np.float32)
    return lax.select(lax.is_finite(x), found, x).astype(target_dtype)
