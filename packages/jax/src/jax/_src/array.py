"""jax._src.array: what pickled arrays are read by."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "_reconstruct_array": "jax_xla_backend.arrays.array_methods:_reconstruct_array",
    "ArrayImpl": "jax_xla_backend.arrays.array:ArrayImpl",
})
