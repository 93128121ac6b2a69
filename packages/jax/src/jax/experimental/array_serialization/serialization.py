"""jax.experimental.array_serialization.serialization: implemented in `jax_xla_backend.checkpoints`."""
from jax._lazy import table as _table

_fetch, __dir__, __all__ = _table(__name__, {
    "_LimitInFlightBytes": "jax_xla_backend.checkpoints.transfer:BytesInFlight",
    "_get_metadata": "jax_xla_backend.checkpoints.for_libraries:_get_metadata",
    "ts_impl": "jax.experimental.array_serialization.tensorstore_impl",
    "AsyncManager": "jax_xla_backend.checkpoints.managers:AsyncManager",
    "BarrierTimeoutError": "jax_xla_backend.checkpoints.managers:BarrierTimeoutError",
    "GlobalAsyncCheckpointManager": "jax_xla_backend.checkpoints.managers:GlobalAsyncCheckpointManager",
    "GlobalAsyncCheckpointManagerBase": "jax_xla_backend.checkpoints.managers:GlobalAsyncCheckpointManagerBase",
    "async_deserialize": "jax_xla_backend.checkpoints.transfer:async_deserialize",
    "async_serialize": "jax_xla_backend.checkpoints.transfer:async_serialize",
    "get_tensorstore_spec": "jax_xla_backend.checkpoints.transfer:zarr_spec",
    "is_remote_storage": "jax_xla_backend.checkpoints.stores:is_remote_storage",
    "run_deserialization": "jax_xla_backend.checkpoints.transfer:run_deserialization",
    "run_serialization": "jax_xla_backend.checkpoints.transfer:run_serialization",
})


def __getattr__(name: str) -> object:
    if name == "TS_CONTEXT":  # not listed: it is there only where tensorstore is
        from jax_xla_backend.checkpoints.stores import shared_context  # start-up: the backend
        return shared_context()
    return _fetch(name)
