"""Where the largest and the smallest element is."""
from __future__ import annotations

from numpy.exceptions import AxisError

from jax_core.representation import dtypes
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax
from .promotion import as_value, canonical_axis, check_arraylike, refuse_out, unwrapped
from .rows import adaptive


@adaptive("always", (0, 2, 3))
def _arg_extreme(name, a, axis, keepdims):
    check_arraylike(name, a)
    a = as_value(unwrapped(a))
    shape = a.shape
    if axis is None:
        a = lax.reshape(a, (a.size,))
        place = 0
    else:
        place = canonical_axis(axis, a.ndim, out_of_range=AxisError)
    if a.shape[place] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    index = (lax.argmax if name == "argmax" else lax.argmin)(a, place, dtypes.default_int_dtype())
    if keepdims:
        return lax.reshape(index, (1,) * len(shape) if axis is None else shape[:place] + (1,) + shape[place + 1:])
    return index


def argmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Index of the largest element (the first of equal ones; of the first NaN if there is one).

    Args:
      a: array.
      axis: along which; None for the index into the flattened array.
      out: must be None.
      keepdims: keep the reduced axis with length 1.

    Raises:
      ValueError: no elements.

    Source: `numpy.argmax`.

    >>> jnp.argmax(jnp.array([[1, 5, 3], [7, 2, 7]]), axis=1)
    Array([1, 0], dtype=int32)
    """
    refuse_out("argmax", out)
    return _arg_extreme("argmax", a, None if axis is None else integer("argmax: axis", axis), bool(keepdims))


def argmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """Index of the smallest element; arguments as for `argmax`. Source: `numpy.argmin`.

    >>> jnp.argmin(jnp.array([4, 2, 2]))
    Array(1, dtype=int32)
    """
    refuse_out("argmin", out)
    return _arg_extreme("argmin", a, None if axis is None else integer("argmin: axis", axis), bool(keepdims))
