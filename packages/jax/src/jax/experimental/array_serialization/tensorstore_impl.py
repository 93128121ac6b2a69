"""jax.experimental.array_serialization.tensorstore_impl: implemented in `jax_xla_backend.checkpoints`."""
import importlib.util as _util

from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    **{name: f"jax_xla_backend.checkpoints.for_libraries:{name}" for name in (
        "_compute_chunk_shape", "_create_async_array_from_callback", "_get_metadata", "_spec_has_metadata")},
    "_LimitInFlightBytes": "jax_xla_backend.checkpoints.transfer:BytesInFlight",
    "async_deserialize": "jax_xla_backend.checkpoints.transfer:async_deserialize",
    "async_serialize": "jax_xla_backend.checkpoints.transfer:async_serialize",
    "combine_kvstores": "jax_xla_backend.checkpoints.transfer:combine_kvstores",
    "estimate_read_memory_footprint": "jax_xla_backend.checkpoints.transfer:estimate_read_memory_footprint",
    "get_tensorstore_spec": "jax_xla_backend.checkpoints.stores:get_tensorstore_spec",
    "is_tensorstore_spec_leaf": "jax_xla_backend.checkpoints.stores:is_tensorstore_spec_leaf",
    "merge_nested_ts_specs": "jax_xla_backend.checkpoints.stores:merge_nested_ts_specs",
    "verify_tensorstore_spec": "jax_xla_backend.checkpoints.stores:verify_tensorstore_spec",
    # tensorstore's own classes, where it is installed
    **({name: f"tensorstore:{name}" for name in ("Future", "Transaction")} if _util.find_spec("tensorstore") else {}),
})
