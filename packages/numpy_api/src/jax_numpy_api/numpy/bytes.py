"""Arrays seen as bits and bytes: `packbits`, `unpackbits`, and the methods `view` and `byteswap`."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.exceptions import AxisError

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from .promotion import as_array, canonical_axis, check_arraylike
from .shaping import moveaxis, ravel
from .ufuncs import truth

if TYPE_CHECKING:
    from jax_core.representation.typing import DTypeLike


def view_as(x: Array, dtype: DTypeLike) -> Array:
    """The bytes of ``x`` as elements of ``dtype``; see the method `view`."""
    old, new = x.dtype, np.dtype(dtypes.canonicalize_user_dtype(dtype, "view"))
    if old == new:
        return x
    if new == np.bool_:
        return lax.ne(view_as(x, np.uint8), np.uint8(0))
    if old == np.bool_:
        return view_as(lax.convert_element_type(x, np.uint8), new)
    if dtypes.issubdtype(old, np.complexfloating):
        return view_as(_as_pairs(x), new)
    if dtypes.issubdtype(new, np.complexfloating):
        parts = view_as(x, np.finfo(new).dtype)
        if not parts.ndim or parts.shape[-1] % 2:
            raise ValueError(f"view of an array of shape {x.shape} from {old} to {new}: its last axis does not hold a whole number of "
                             "new elements")
        pairs = lax.reshape(parts, (*parts.shape[:-1], parts.shape[-1] // 2, 2))
        return lax.complex(pairs[..., 0], pairs[..., 1])
    wide, narrow = dtypes.itemsize_bits(old), dtypes.itemsize_bits(new)
    if wide == narrow:
        return lax.bitcast_convert_type(x, new)
    if not x.ndim:
        raise ValueError("view of a scalar: the new dtype must be as wide as the old; add an axis first")
    if wide > narrow:  # one element becomes several, along a new last axis
        out = lax.bitcast_convert_type(x, new)
        return lax.reshape(out, (*x.shape[:-1], x.shape[-1] * (wide // narrow)))
    ratio = narrow // wide
    if x.shape[-1] % ratio:
        raise ValueError(f"view of an array of shape {x.shape} from {old} to {new}: an element of {new} is made of {ratio} "
                         f"neighbours, and the last axis, of length {x.shape[-1]}, is no multiple of that")
    grouped = lax.reshape(x, (*x.shape[:-1], x.shape[-1] // ratio, ratio))
    return lax.bitcast_convert_type(grouped, new)


def _as_pairs(x):
    """Complex numbers as floats, real part before imaginary part along the last axis."""
    if not x.ndim:
        raise ValueError(f"view of a scalar of {x.dtype}: its two floats need an axis; add one first")
    pairs = lax.concatenate([lax.expand_dims(part, (x.ndim,)) for part in (lax.real(x), lax.imag(x))], x.ndim)
    return lax.reshape(pairs, (*x.shape[:-1], 2 * x.shape[-1]))


def swapped(x: Array) -> Array:
    """``x`` with the bytes of each element reversed."""
    if x.dtype.itemsize == 1:
        return x
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        return lax.complex(swapped(lax.real(x)), swapped(lax.imag(x)))
    unsigned = np.dtype(f"uint{8 * x.dtype.itemsize}")
    octets = lax.bitcast_convert_type(x if x.dtype == unsigned else lax.bitcast_convert_type(x, unsigned), np.uint8)
    out = lax.bitcast_convert_type(lax.rev(octets, (x.ndim,)), unsigned)
    return out if x.dtype == unsigned else lax.bitcast_convert_type(out, x.dtype)


def _weights(bitorder: str, shape: tuple[int, ...]) -> Array:
    """The number that each bit along the last axis, of length 8, stands for: computed, as XLA reads a constant for each element anew."""
    if bitorder not in ("little", "big"):
        raise ValueError("jax.numpy.packbits and unpackbits: bitorder must be 'little' or 'big'")
    place = lax.iota(np.uint8, 8)
    if bitorder == "big":
        place = lax.sub(np.uint8(7), place)
    return lax.broadcast_in_dim(lax.shift_left(np.uint8(1), place), shape, (len(shape) - 1,))


@inlined(static_argnames=("axis", "bitorder"))
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Array:
    """Booleans (or integers: not zero) packed eight to a byte along an axis, with zeros at the end.

    Args:
      bitorder: "big" (the first bit is the highest), or "little".

    Raises:
      TypeError: ``a`` holds neither integers nor booleans.

    Source: `numpy.packbits`.

    >>> jnp.packbits(jnp.array([1, 0, 1], bool))
    Array([160], dtype=uint8)
    """
    check_arraylike("packbits", a)
    a = as_array(a)
    if not (dtypes.issubdtype(a.dtype, np.integer) or a.dtype == np.bool_):
        raise TypeError("jax.numpy.packbits: a must hold integers or booleans")
    x, axis = (ravel(a), 0) if axis is None else (a, canonical_axis(axis, a.ndim, out_of_range=AxisError))
    x = moveaxis(lax.convert_element_type(truth(x), np.uint8), axis, -1)
    short = -x.shape[-1] % 8
    x = lax.pad(x, np.uint8(0), ((0, 0, 0),) * (x.ndim - 1) + ((0, short, 0),))
    groups = lax.reshape(x, (*x.shape[:-1], x.shape[-1] // 8, 8))
    moved = lax.mul(groups, _weights(bitorder, groups.shape))
    packed = lax.reduce_sum_p.bind(moved, axes=(groups.ndim - 1,), out_sharding=None)
    return moveaxis(packed, -1, axis)


@inlined(static_argnames=("axis", "count", "bitorder"))
def unpackbits(a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of bytes along an axis, as uint8.

    Args:
      a: uint8.
      axis: None for the flattened array.
      count: how many bits to return: fewer, or zeros are added; a negative number cuts that many off.
      bitorder: "big" or "little".

    Raises:
      TypeError: ``a`` is not of dtype uint8.

    Source: `numpy.unpackbits`.

    >>> jnp.unpackbits(jnp.array([160], jnp.uint8))
    Array([1, 0, 1, 0, 0, 0, 0, 0], dtype=uint8)
    """
    check_arraylike("unpackbits", a)
    a = as_array(a)
    if a.dtype != np.uint8:
        raise TypeError("jax.numpy.unpackbits: a must be of dtype uint8")
    x, axis = (ravel(a), 0) if axis is None else (a, canonical_axis(axis, a.ndim, out_of_range=AxisError))
    x = moveaxis(x, axis, -1)
    shape = (*x.shape, 8)
    wide = lax.broadcast_in_dim(x, shape, tuple(range(x.ndim)))
    bits = lax.convert_element_type(lax.ne(lax.bitwise_and(wide, _weights(bitorder, shape)), np.uint8(0)), np.uint8)
    bits = lax.reshape(bits, (*x.shape[:-1], x.shape[-1] * 8))
    if count is not None:
        n = bits.shape[-1]
        count = integer("unpackbits: count", count)
        wanted = count if count >= 0 else max(n + count, 0)
        bits = bits[..., :wanted]
        bits = lax.pad(bits, np.uint8(0), ((0, 0, 0),) * (bits.ndim - 1) + ((0, max(wanted - n, 0), 0),))
    return moveaxis(bits, -1, axis)
