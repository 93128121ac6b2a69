"""jax._src.effects: where libraries (oryx) register kinds of effects of their own."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.effect_types",
                               no_effects="jax_core.representation.effects:NO_EFFECTS")
