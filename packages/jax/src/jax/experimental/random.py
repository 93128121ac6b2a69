"""jax.experimental.random: implemented in `jax_random.stateful`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "StatefulPRNG": "jax_random.stateful:StatefulPRNG",
    "stateful_rng": "jax_random.stateful:stateful_rng",
})
