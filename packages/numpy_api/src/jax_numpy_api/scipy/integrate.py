"""jax.scipy.integrate: integrals of sampled functions."""
from __future__ import annotations

from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from .. import numpy as jnp

__all__ = ["trapezoid"]


def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The integral of ``y`` along ``axis`` by the trapezoidal rule.

    Args:
      x: sample points, by default ``dx`` apart.

    Source: `scipy.integrate.trapezoid`.

    >>> jsp.integrate.trapezoid(jnp.array([0., 1., 2.]))
    Array(2., dtype=float32)
    """
    return jnp.trapezoid(y, x, dx, axis)
