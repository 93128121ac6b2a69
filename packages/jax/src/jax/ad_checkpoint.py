"""jax.ad_checkpoint: recomputation in the backward pass."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "checkpoint": "jax_core.transformations.remat:checkpoint",
    "remat": "jax_core.transformations.remat:remat",
    "checkpoint_name": "jax_core.transformations.remat:checkpoint_name",
    "checkpoint_name_fwd": "jax_core.transformations.remat:checkpoint_name_fwd",
    "checkpoint_policies": "jax_core.transformations.remat:checkpoint_policies",
    "name_p": "jax_core.transformations.remat:name_p",
    "print_saved_residuals": "jax_core.transformations.remat:print_saved_residuals",
    "saved_residuals": "jax_core.transformations.remat:saved_residuals",
    "Offloadable": "jax_core.transformations.remat:Offloadable",
    "Recompute": "jax_core.transformations.remat:Recompute",
    "Saveable": "jax_core.transformations.remat:Saveable",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
