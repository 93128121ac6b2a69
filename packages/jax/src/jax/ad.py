"""jax.ad: where the gradients of a pullback go; see `jax_core.transformations.pullback`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "DidntWant": "jax_core.transformations.pullback:DidntWant",
    "DontWant": "jax_core.transformations.pullback:DontWant",
    "GradRef": "jax_core.transformations.pullback:GradRef",
    "GradValue": "jax_core.transformations.pullback:GradValue",
})
