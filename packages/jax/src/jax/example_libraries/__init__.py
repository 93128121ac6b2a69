"""jax.example_libraries: small libraries that show how to build on transformations."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "optimizers": "jax.example_libraries.optimizers",
    "stax": "jax.example_libraries.stax",
})
