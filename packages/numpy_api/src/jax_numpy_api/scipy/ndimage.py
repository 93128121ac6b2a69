"""jax.scipy.ndimage: reading arrays between their elements."""
from __future__ import annotations

import itertools
from typing import Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from ..numpy.creation import of_list
from ..numpy.promotion import as_array, check_arraylike

__all__ = ["map_coordinates"]


def _reflected(i, n):
    """Mirrored about the edges of the first and last element: d c b a | a b c d | d c b a."""
    j = jnp.mod(i, 2 * n)
    return jnp.minimum(j, 2 * n - 1 - j)


def _mirrored(i, n):
    """Mirrored about the first and last element: d c b | a b c d | c b a."""
    j = jnp.mod(i, max(2 * (n - 1), 1))
    return jnp.minimum(j, max(2 * (n - 1), 1) - j) if n > 1 else jnp.zeros_like(i)


_INDEX = {
    "constant": lambda i, n: i, "nearest": lambda i, n: jnp.clip(i, 0, n - 1), "wrap": lambda i, n: jnp.mod(i, n),
    "reflect": _reflected, "mirror": _mirrored,
}


def _nodes(x, order):
    """Indices to read with their weights, for coordinates ``x`` along one axis."""
    if order == 0:
        # halves go away from zero: SciPy folds a coordinate into the array before it rounds upwards, and left of the array folding turns that round
        nearest = lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO).astype(np.int32) if jnp.issubdtype(x.dtype, jnp.inexact) else x
        return [(nearest, jnp.ones((), x.dtype))]
    low = jnp.floor(x)
    upper = x - low
    index = low.astype(np.int32)
    return [(index, 1 - upper), (index + 1, upper)]


def map_coordinates(input: ArrayLike, coordinates: Sequence[ArrayLike], order: int, mode: str = "constant",
                    cval: ArrayLike = 0.0) -> Array:
    """The array at coordinates between its elements.

    Args:
      input: ``n`` axes.
      coordinates: ``n`` arrays of one shape, one for each axis.
      order: 0 for the nearest element, 1 for linear interpolation.
      mode: outside of the array: "constant" (``cval``), "nearest", "wrap", "reflect" or "mirror".

    Raises:
      NotImplementedError: another order or mode. ValueError: the number of coordinates does not fit.

    Source: `scipy.ndimage.map_coordinates`.

    >>> jsp.ndimage.map_coordinates(jnp.array([0., 10., 20.]), [jnp.array([0.5, 1.25])], order=1)
    Array([ 5. , 12.5], dtype=float32)
    """
    order = integer("map_coordinates: order", order)
    if mode not in _INDEX:
        raise NotImplementedError(f"map_coordinates does not support mode={mode!r}. It supports {sorted(_INDEX)}")
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: only orders 0 and 1 are supported, got {order}")
    input, *coordinates = map(of_list, (input, *coordinates))
    check_arraylike("map_coordinates", input, *coordinates)
    return _map_coordinates(input, coordinates, order, mode, cval)


@inlined(static_argnums=(2, 3))
def _map_coordinates(image, coordinates, order, mode, cval):
    image = as_array(image)
    coordinates = [as_array(c) for c in coordinates]
    if len(coordinates) != image.ndim:
        raise ValueError(f"map_coordinates: needs one coordinate array for each axis of input, got {len(coordinates)} for shape "
                         f"{image.shape}")
    axes = []
    for n, x in zip(image.shape, coordinates):
        x = x if jnp.issubdtype(x.dtype, jnp.inexact) or order == 0 else x.astype(float)
        axes.append([(_INDEX[mode](i, n), (i >= 0) & (i < n), w) for i, w in _nodes(x, order)])
    dtype = image.dtype
    wide = dtype if jnp.issubdtype(dtype, jnp.inexact) else jnp.result_type(jnp.float_)
    total = 0
    for node in itertools.product(*axes):
        value = image[tuple(jnp.clip(i, 0, n - 1) for (i, _, _), n in zip(node, image.shape))].astype(wide)
        if mode == "constant":
            inside = node[0][1]
            for _, ok, _ in node[1:]:
                inside = inside & ok
            value = jnp.where(inside, value, cval)
        for _, _, weight in node:
            value = value * weight
        total = total + value
    if not jnp.issubdtype(dtype, jnp.inexact) and jnp.issubdtype(total.dtype, jnp.inexact):
        total = lax.round(total, lax.RoundingMethod.AWAY_FROM_ZERO)  # halves as in SciPy
    return total.astype(dtype)
