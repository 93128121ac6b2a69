"""jax._src.array: what pickled arrays are read by, and names of types and shapes that libraries take from here."""
from jax._lazy import table as _table

Index = tuple[slice, ...]

__getattr__, __dir__, __all__ = _table(__name__, {
    "_reconstruct_array": "jax_xla_backend.api:_reconstruct_array",
    "Shape": "jax_core.representation.typing:Shape",
    "local_to_global_shape": "jax_xla_backend.placement.sharding_impls:local_to_global_shape",
    "ArrayImpl": "jax_xla_backend.api:ArrayImpl",
})
