"""jax.ad_checkpoint: recomputation in the backward pass."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "checkpoint": "jax_core.transformations.checkpoint:checkpoint",
    "remat": "jax_core.transformations.checkpoint:remat",
    "checkpoint_name": "jax_core.transformations.checkpoint:checkpoint_name",
    "checkpoint_name_fwd": "jax_core.transformations.checkpoint:checkpoint_name_fwd",
    "checkpoint_policies": "jax_core.transformations.checkpoint:checkpoint_policies",
    "name_p": "jax_core.transformations.checkpoint:name_p",
    "print_saved_residuals": "jax_core.transformations.checkpoint:print_saved_residuals",
    "saved_residuals": "jax_core.transformations.checkpoint:saved_residuals",
    "Offloadable": "jax_core.transformations.checkpoint:Offloadable",
    "Recompute": "jax_core.transformations.checkpoint:Recompute",
    "Saveable": "jax_core.transformations.checkpoint:Saveable",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
