"""jax.scipy.interpolate: interpolation on rectangular grids."""
from __future__ import annotations

import itertools
from typing import Any, Sequence

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.tree_nodes import register_pytree_node
from jax_core.representation.typing import ArrayLike

from .. import numpy as jnp
from ..numpy.promotion import check_arraylike, concrete

__all__ = ["RegularGridInterpolator"]


def _points(points: Any, ndim: int) -> Array:
    """Points ``(..., ndim)`` from an array, or from a tuple of coordinates."""
    if isinstance(points, tuple):
        points = jnp.stack(jnp.broadcast_arrays(*points), -1)
    check_arraylike("RegularGridInterpolator", points)
    points = jnp.asarray(points)
    if points.ndim == 1:
        return points[:, None] if ndim == 1 else points[None]
    return points if points.ndim else points.reshape(1, 1)


class RegularGridInterpolator:
    """Interpolation of values on a rectangular, not necessarily even, grid.

    Args:
      points: coordinates along each axis, strictly rising.
      values: ``(n1, ..., nd, ...)``; further axes are those of the values.
      method: "linear" or "nearest".
      bounds_error: must be False, as errors cannot depend on values.
      fill_value: used outside of the grid; None to extrapolate.

    Calling it with points ``(..., d)`` or a tuple of ``d`` coordinates gives ``(..., *values.shape[d:])``; a vector of ``d`` numbers is
    ``(1, d)``.

    Raises:
      ValueError: shapes that do not fit, coordinates that do not rise, another method.

    >>> from jax.scipy.interpolate import RegularGridInterpolator
    >>> f = RegularGridInterpolator((jnp.arange(3.), jnp.arange(2.)), jnp.array([[0., 1.], [10., 11.], [20., 21.]]))
    >>> f(jnp.array([[0.5, 0.5], [2., 1.]]))
    Array([ 5.5, 21. ], dtype=float32)
    """

    def __init__(self, points: Sequence[ArrayLike], values: ArrayLike, method: str = "linear",
                 bounds_error: bool = False, fill_value: ArrayLike = np.nan):
        if method not in ("linear", "nearest"):
            raise ValueError(f"RegularGridInterpolator: method {method!r} is not defined; use 'linear' or 'nearest'")
        if bounds_error:
            raise NotImplementedError("RegularGridInterpolator: bounds_error=True would depend on values; use fill_value")
        check_arraylike("RegularGridInterpolator", values)
        values, grid = jnp.asarray(values), tuple(jnp.asarray(p) for p in points)
        if not 0 < len(grid) <= values.ndim:
            raise ValueError(f"there are {len(grid)} point arrays, but values has {values.ndim} dimensions")
        if not jnp.issubdtype(values.dtype, jnp.inexact):
            values = values.astype(float)
        if fill_value is not None:
            check_arraylike("RegularGridInterpolator", fill_value)
            if jnp.iscomplexobj(fill_value) and not jnp.iscomplexobj(values):
                raise ValueError(f"RegularGridInterpolator: fill_value={fill_value!r} is complex, the values are {values.dtype}")
        for i, p in enumerate(grid):
            if p.ndim != 1 or p.shape[0] != values.shape[i]:
                raise ValueError(f"RegularGridInterpolator: values have length {values.shape[i]} along axis {i}, points have "
                                 f"shape {p.shape}")
            known = concrete(p)
            if known is not None and not np.all(np.diff(known) > 0):
                raise ValueError(f"the points in dimension {i} must be strictly ascending")
        self.grid, self.values, self.method, self.fill_value = grid, values, method, fill_value

    def __call__(self, xi: ArrayLike, method: str | None = None) -> Array:
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            raise ValueError(f"RegularGridInterpolator: method {method!r} is not defined; use 'linear' or 'nearest'")
        d = len(self.grid)
        xi = _points(xi, d)
        if xi.shape[-1] != d:
            raise ValueError(f"the requested sample points xi have dimension {xi.shape[-1]}, but this interpolator has "
                             f"dimension {d}")
        flat = xi.reshape(-1, d)
        cells = [self._cell(p, flat[:, i]) for i, p in enumerate(self.grid)]
        out = (self._linear if method == "linear" else self._nearest)(cells)
        if self.fill_value is not None:
            outside = jnp.any(jnp.stack([(flat[:, i] < p[0]) | (flat[:, i] > p[-1]) for i, p in enumerate(self.grid)]), 0)
            out = jnp.where(self._column(outside), self.fill_value, out)
        nan = jnp.any(jnp.isnan(flat), -1)
        out = jnp.where(self._column(nan), np.nan, out)
        return out.reshape(xi.shape[:-1] + self.values.shape[d:])

    def _column(self, x):
        return x.reshape((-1,) + (1,) * (self.values.ndim - len(self.grid)))

    @staticmethod
    def _cell(p, x):
        """Index of the cell, and position in it from 0 to 1: a point of the grid is the end of the cell before it, whose slope it has."""
        if p.shape[0] == 1:
            return jnp.zeros(x.shape, int), jnp.zeros_like(x)
        i = jnp.clip(jnp.searchsorted(p, x) - 1, 0, p.shape[0] - 2)
        return i, (x - p[i]) / (p[i + 1] - p[i])

    def _linear(self, cells):
        total = 0
        for corner in itertools.product((0, 1), repeat=len(cells)):
            weight, index = 1, []
            for (i, t), up in zip(cells, corner):
                weight = weight * (t if up else 1 - t)
                index.append(jnp.minimum(i + up, self.values.shape[len(index)] - 1))
            total = total + self.values[tuple(index)] * self._column(weight)
        return total

    def _nearest(self, cells):
        return self.values[tuple(jnp.where(t <= 0.5, i, jnp.minimum(i + 1, self.values.shape[k] - 1))
                                 for k, (i, t) in enumerate(cells))]


def _flatten(x):
    return (x.grid, x.values, x.fill_value), x.method


def _unflatten(method, children):
    new = object.__new__(RegularGridInterpolator)
    (new.grid, new.values, new.fill_value), new.method = children, method
    return new


register_pytree_node(RegularGridInterpolator, _flatten, _unflatten)
