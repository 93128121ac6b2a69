"""jax._src.ad_checkpoint: `jax.ad_checkpoint` and its primitive, which interpreters of programs (oryx) give a rule."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.ad_checkpoint", remat_p="jax_core.transformations.checkpoint:remat_p")
