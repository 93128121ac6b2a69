"""interleave: the elements of two arrays in turn along an axis, as `associative_scan` puts its halves together.

On the CPU pairs are made and flattened. On other platforms an axis of two would come last, which a TPU stores as one of 128: there each array is
spread with room for the other, and what is spread is added, in one loop.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Inner, Kind, Traits
from jax_core.traces.structural import bdim_at_front, instantiate

from .arithmetic import add
from .bits import bitwise_or
from .nary import check_same_dtypes
from .pad import pad
from .shape import concatenate, reshape
from .slicing import slice_in_dim

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def _type(even, odd, *, axis):
    check_same_dtypes("interleave", (even, odd))
    n, m = even.shape[axis], odd.shape[axis]
    if n - m not in (0, 1) or even.shape[:axis] + even.shape[axis + 1:] != odd.shape[:axis] + odd.shape[axis + 1:]:
        raise TypeError(f"interleave: {even.str_short()} must be as {odd.str_short()}, or longer by one along axis {axis}")
    shape = (*even.shape[:axis], n + m, *even.shape[axis + 1:])
    return ShapedArray(shape, even.dtype, even.weak_type and odd.weak_type)


def _batch(axis_data, args, dims, *, axis):
    even, odd = (bdim_at_front(x, d, axis_data) for x, d in zip(args, dims))
    return interleave_p.bind(even, odd, axis=axis + 1), 0


def _transpose(ct, even, odd, *, axis):
    ct = instantiate(ct)
    return [slice_in_dim(ct, start, None, 2, axis) for start in (0, 1)]


def _reference(even, odd, *, axis):
    out = np.empty([n + m if i == axis else n for i, (n, m) in enumerate(zip(np.shape(even), np.shape(odd)))], np.asarray(even).dtype)
    for start, x in enumerate((even, odd)):
        out[(slice(None),) * axis + (slice(start, None, 2),)] = x
    return out


def _paired(even, odd, *, axis):
    n, m = np.shape(even)[axis], np.shape(odd)[axis]
    shape = np.shape(odd)
    lift = lambda x: reshape(x, (*shape[:axis], m, 1, *shape[axis + 1:]))
    body = even if n == m else slice_in_dim(even, 0, m, axis=axis)
    mixed = reshape(concatenate([lift(body), lift(odd)], axis + 1), (*shape[:axis], 2 * m, *shape[axis + 1:]))
    return mixed if n == m else concatenate([mixed, slice_in_dim(even, m, n, axis=axis)], axis)


def _added(even, odd, *, axis):
    n, m = np.shape(even)[axis], np.shape(odd)[axis]
    if m == 0:
        return even
    boolean = even.dtype == np.bool_  # -0.0 changes no number, as 0.0 would -0.0
    nothing = np.array(complex(-0.0, -0.0) if even.dtype.kind == "c" else False if boolean else -0.0).astype(even.dtype)

    def spread(x: Array, before, after):
        return pad(x, nothing, [(before, after, 1) if i == axis else (0, 0, 0) for i in range(np.ndim(x))])
    return (bitwise_or if boolean else add)(spread(even, 0, int(n == m)), spread(odd, 1, int(n > m)))


_WITHOUT_ZERO = {"float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz"}  # or without -0.0


def _lower(b, even, odd, *, axis):
    dtype = even.aval.dtype
    paired = b.platform == "cpu" or isinstance(dtype, dtypes.ExtendedDType) or dtype.name in _WITHOUT_ZERO
    return b.fun(_paired if paired else _added, even, odd, axis=axis)[0]


interleave_p = Primitive(
    "interleave", out_type=_type, jvp=LINEAR, batch=_batch, transpose=_transpose, lower=_lower, reference=_reference, exact=True,
    traits=Traits(Kind.MOVE, inner=Inner.PIECES), splits=splits.along_axis)


def interleave(even: object, odd: object, axis: int) -> Any:
    """``even[0], odd[0], even[1], ...`` along ``axis``; ``even`` is as long as ``odd``, or longer by one.

    Raises:
      TypeError: dtypes or other axes differ.
    """
    return interleave_p.bind(even, odd, axis=axis)
