"""Broadcasting: arrays repeated along axes to a common shape."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation.arguments import integers, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Placement, Shape
from jax_core.traces import structural
from jax_core.traces.structural import broadcast_in_dim_p

from .promotion import as_array, broadcast_together, canonical_shape, check_arraylike, shape_of, unwrapped


def broadcast_to(array: ArrayLike, shape: int | Shape, *, out_sharding: Placement | None = None) -> Array:
    """``array`` repeated to ``shape``.

    Args:
      out_sharding: placement of the result.

    Raises:
      ValueError: the shape does not broadcast to ``shape``.

    Source: `numpy.broadcast_to`.

    >>> jnp.broadcast_to(jnp.arange(3), (2, 3))
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    check_arraylike("broadcast_to", array)
    array = unwrapped(array)
    shape, own = canonical_shape("broadcast_to", shape), shape_of(array)
    if own == shape and isinstance(array, Array):
        return array
    lead = len(shape) - len(own)
    if lead < 0 or any(n != 1 and n != m for n, m in zip(own, shape[lead:])):
        raise ValueError(f"broadcast_to: an array of shape {own} does not broadcast to shape {shape}; trailing lengths "
                         "must be equal, or 1.")
    if isinstance(array, np.ndarray) and not isinstance(array, np.generic):
        array = as_array(array)
    if own == shape:
        return as_array(array)
    return broadcast_in_dim_p.bind(array, shape=shape, broadcast_dimensions=tuple(range(lead, len(shape))),
                                   sharding=structural.resolved(out_sharding))


def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """Arrays repeated to their common shape. Source: `numpy.broadcast_arrays`.

    Raises:
      ValueError: the shapes have no common shape.

    >>> [a.shape for a in jnp.broadcast_arrays(jnp.zeros(3), jnp.zeros((2, 1)))]
    [(2, 3), (2, 3)]
    """
    check_arraylike("broadcast_arrays", *args)
    try:
        shape = joint_shape(*map(shape_of, args))
    except ValueError:
        raise ValueError("Incompatible shapes for broadcasting: "
                         f"shapes={[tuple(shape_of(a)) for a in args]}") from None
    return tuple(broadcast_together([as_array(a) for a in args], shape))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to. Raises ValueError if there is none. Source: `numpy.broadcast_shapes`.

    >>> jnp.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    parsed = [(s,) if isinstance(s, (int, np.integer)) else integers(f"broadcast_shapes: shape {i}", s) for i, s in enumerate(shapes)]
    try:
        return joint_shape(*parsed)
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: shapes={parsed}") from None
