"""Changing what elements are without changing where they are: dtype conversion, bit casts, gradient stops, barriers.

Source: StableHLO specification, `convert`, `bitcast_convert`, `optimization_barrier`.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jax_core.representation import dtypes, source, splits, tree
from jax_core.representation.array import Array
from jax_core.representation.aval import AbstractRef, ShapedArray, get_aval
from jax_core.representation.marks import ELEMENTWISE, ZERO
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, PyTree
from jax_core.traces import structural
from jax_core.traces.structural import convert_element_type_p, copy_p, optimization_barrier_p

from .bits import bitwise_and, bitwise_or, shift_left, shift_right_logical
from .nary import as_operand
from .shape import reshaped, split_p


def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """``operand`` with its elements converted to ``new_dtype``.

    Floats become integers by truncation, values out of range the nearest that fits, NaN 0. Complex numbers lose their
    imaginary part; anything but 0 is True as a boolean.

    Raises:
      TypeError: ``new_dtype`` is not a dtype of arrays. ValueError: it is None; from or to an extended dtype.

    Source: StableHLO `convert`.

    >>> lax.convert_element_type(jnp.array([1.7, -1.7]), jnp.int32)
    Array([ 1, -1], dtype=int32)
    """
    if new_dtype is None:
        raise ValueError("lax.convert_element_type: new_dtype=None names no dtype; give one.")
    dtype = dtypes.canonicalize_user_dtype(new_dtype, "convert_element_type")
    if type(operand) is int and dtypes.issubdtype(dtype, np.inexact):
        operand = float(operand)  # it may be too large for an integer dtype, and has a value as a float
    operand = as_operand("convert_element_type", operand, 0)
    warn_of_lost_part(get_aval(operand).dtype, dtype)
    return convert(operand, dtype)


def warn_of_lost_part(old: DTypeLike, new: DTypeLike) -> None:
    """Warn, at the user's line, where complex numbers become real ones; as booleans nothing of them is lost."""
    if dtypes.issubdtype(old, np.complexfloating) and not dtypes.issubdtype(new, np.complexfloating) and new != np.bool_:
        source.warn(f"a conversion from {old} to {new} drops the imaginary part; write jnp.real(x) if that is meant", np.exceptions.ComplexWarning)


def convert(x: ArrayLike, dtype: DTypeLike | None, weak_type: bool = False) -> Any:
    """``x`` in the canonical dtype ``dtype``; ``x`` itself where nothing changes."""
    aval = get_aval(x)
    if aval.dtype == dtype and aval.weak_type == weak_type and not isinstance(
            x, (np.ndarray, np.generic, bool, int, float, complex)):
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type, sharding=None)


# -- bit casts -----------------------------------------------------------------------------------------------------------

def _bitcast_type(x, *, new_dtype):
    old, new = x.dtype, np.dtype(new_dtype)
    if old != new and (bool in (old, new) or "c" in (old.kind, new.kind)):
        raise TypeError(f"lax.bitcast_convert_type does not support booleans or complex numbers unless the dtypes are equal, got "
                        f"operand {x.str_short()} and new_dtype={new.name}.")
    have, want = dtypes.itemsize_bits(old), dtypes.itemsize_bits(new)
    if have == want:
        return ShapedArray(x.shape, new)
    if have > want:
        return ShapedArray((*x.shape, have // want), new)
    if not x.shape or x.shape[-1] * have != want:
        raise ValueError(f"lax.bitcast_convert_type: to make {new.name} of {want} bits from {x.str_short()}, its last axis must "
                         f"have length {want // have}.")
    return ShapedArray(x.shape[:-1], new)


def _bitcast_batch(axis, args, dims, *, new_dtype):
    """The mapped axis must not be last where the last axis changes."""
    x = structural.bdim_at_front(args[0], dims[0], axis)
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


def _bitcast_reference(x, *, new_dtype):
    x, new = np.asarray(x, order="C"), np.dtype(new_dtype)
    if x.dtype.itemsize == new.itemsize:
        return x.view(new)
    shape = (*x.shape, x.dtype.itemsize // new.itemsize) if x.dtype.itemsize > new.itemsize else x.shape[:-1]
    return np.frombuffer(x.tobytes(), new, math.prod(shape)).reshape(shape)


def _bitcast_lower(b, x, *, new_dtype):
    """Casts to another width by shifts, which are as fast: compilers make one cast of two, and its axes are not those of the two. And of elements
    known to it XLA makes bytes of what are parts of them (before 0.12)."""
    have, want = dtypes.itemsize_bits(x.aval.dtype), dtypes.itemsize_bits(new_dtype)
    if have == want or not {have, want} <= _WORDS:
        return b.emit(f"stablehlo.bitcast_convert {x}", x, out=b.out_avals[0])
    return b.fun(_parts if have > want else _wholes, x, dtype=np.dtype(new_dtype), have=have, want=want)[0]


_WORDS = {2, 4, 8, 16, 32, 64}  # bits of unsigned integers


def _word(bits: int) -> np.dtype:
    return np.dtype(f"uint{bits}")


def _parts(x, dtype, have, want):
    """The bits of each element, a few at a time."""
    whole = convert(bitcast_convert_type_p.bind(x, new_dtype=_word(have)), _word(max(have, 8)))
    shifts = np.arange(0, have, want).astype(whole.dtype)
    spread = [structural.broadcast_in_dim(y, (*x.shape, len(shifts)), axes) for y, axes in ((whole, range(x.ndim)), (shifts, (x.ndim,)))]
    parts = bitwise_and(shift_right_logical(*spread), whole.dtype.type(2 ** want - 1))
    return bitcast_convert_type_p.bind(convert(parts, _word(want)), new_dtype=dtype)


def _wholes(x, dtype, have, want):
    """The bits of the elements along the last axis, the first lowest."""
    words = convert(convert(bitcast_convert_type_p.bind(x, new_dtype=_word(have)), _word(max(have, 8))), _word(max(want, 8)))
    first, *rest = [reshaped(part, x.shape[:-1]) for part in split_p.bind(words, sizes=(1,) * (want // have), axis=x.ndim - 1)]
    found = first
    for i, part in enumerate(rest, 1):
        found = bitwise_or(found, shift_left(part, part.dtype.type(i * have)))
    return bitcast_convert_type_p.bind(convert(found, _word(want)), new_dtype=dtype)


bitcast_convert_type_p = Primitive(
    "bitcast_convert_type", out_type=_bitcast_type, jvp=ZERO, batch=_bitcast_batch,
    lower=_bitcast_lower, reference=_bitcast_reference, exact=lambda x, *, new_dtype: x.dtype.name[-1] in "248" and np.dtype(new_dtype).name[-1] in "248"
    and min(dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)) >= 8, traits=Traits(Kind.MOVE, keeps_places=True),
    splits=lambda prim, avals, outs, params: [
        (*splits.entries(avals[0]), None)[:len(outs[0].shape)]])


def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The bits of ``operand`` read as ``new_dtype``.

    Narrower elements appear along a new last axis, lowest bits first; wider ones take up the last axis.

    Raises:
      TypeError: booleans or complex numbers. ValueError: the last axis does not hold one wider element; no dtype.

    Source: StableHLO `bitcast_convert`.

    >>> lax.bitcast_convert_type(jnp.float32(1), jnp.uint32)
    Array(1065353216, dtype=uint32)
    """
    operand = as_operand("bitcast_convert_type", operand, 0)
    if new_dtype is None:
        raise ValueError("lax.bitcast_convert_type: new_dtype must be named, got None")
    return bitcast_convert_type_p.bind(operand, new_dtype=dtypes.canonicalize_user_dtype(new_dtype, "bitcast_convert_type"))


# -- stops and barriers --------------------------------------------------------------------------------------------------

stop_gradient_p = Primitive(
    "stop_gradient", out_type=lambda x: x, jvp=ZERO, batch=ELEMENTWISE, lower=lambda b, x: x,
    transpose=none("stop_gradient has no tangent, so nothing of it is ever transposed"), reference=np.asarray,
    impl=lambda x: x, traits=Traits(Kind.IDENTITY))


def stop_gradient(x: PyTree) -> Any:
    """``x``, regarded as constant by differentiation.

    Args:
      x: an array or a pytree of arrays; those of integers and keys pass unchanged.

    Raises:
      TypeError: a leaf is not an array or a number.

    >>> jax.grad(lambda x: x * lax.stop_gradient(x))(3.)
    Array(3., dtype=float32, weak_type=True)
    """
    return tree.tree_map(_stop, x)


def _stop(x):
    dtype = get_aval(x).dtype
    if isinstance(x, (np.ndarray, np.generic)):
        x = np.asarray(x, dtype)  # one of 64 bits is narrowed as by every other function
    if isinstance(dtype, dtypes.ExtendedDType) or not dtypes.issubdtype(dtype, np.inexact):
        return x
    return stop_gradient_p.bind(x)


def optimization_barrier(operand: PyTree, /) -> Any:
    """``operand`` (an array or a pytree of arrays), which the compiler computes as written here: nothing moves past it.

    References among them are returned as they are: reads and writes of one keep their order anyway.

    Source: StableHLO `optimization_barrier`.

    >>> lax.optimization_barrier(jnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    flat, structure = tree.tree_flatten(operand)
    held = [type(getattr(x, "aval", None)) is AbstractRef for x in flat]
    results = iter(optimization_barrier_p.bind(*[x for x, ref in zip(flat, held) if not ref]))
    return tree.tree_unflatten(structure, [x if ref else next(results) for x, ref in zip(flat, held)])


def copy(x: ArrayLike) -> Array:
    """``x`` in memory of its own.

    >>> lax.copy(jnp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return copy_p.bind(as_operand("copy", x, 0))
