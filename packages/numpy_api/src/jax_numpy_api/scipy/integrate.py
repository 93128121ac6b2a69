"""jax.scipy.integrate: integrals of sampled functions."""
from __future__ import annotations

from typing import Any

from jax_core.representation.array import Array

from .. import numpy as jnp

__all__ = ["trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of ``y`` along ``axis`` by the trapezoidal rule.

    Args:
      x: sample points, by default ``dx`` apart.
    """
    return jnp.trapezoid(y, x, dx, axis)
