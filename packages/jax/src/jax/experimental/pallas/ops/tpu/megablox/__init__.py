"""jax.experimental.pallas.ops.tpu.megablox: products of groups, with derivatives; implemented in `jax_numpy_api.kernels.grouped_products`."""
from . import (
    gmm as _kernels,  # first, as it would take the place of the function when it is imported
    ops,
)
from .ops import gmm

__all__ = ["gmm", "ops"]
