"""jax._src.partition_spec: the class, for libraries that import it by this name."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "PartitionSpec": "jax_xla_backend.placement.partition_spec:PartitionSpec",
    "_get_default_unconstrained": "jax_xla_backend.placement.partition_spec:_unconstrained",  # which pickles name
})
