"""Types of `jax.experimental.array_serialization.serialization`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from abc import ABC, abstractmethod
from jax import Array, Device, ShapeDtypeStruct
from jax.experimental.layout import Format
from jax.sharding import PartitionSpec, Sharding
from jax.typing import DTypeLike
from typing import Any, Callable, Sequence

class AsyncManager:
    """Waits in a thread for what is being written."""
    def __init__(self, timeout_secs: float = 300) -> None: ...
    def check_for_errors(self) -> None: ...
    def wait_until_finished(self) -> None: ...
class BarrierTimeoutError(Exception):
    """A process has not come to where the others wait."""
class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
    """Writes arrays while the program goes on, and reads them."""
    def deserialize(self, shardings: Sequence[Sharding | PartitionSpec | Device], tensorstore_specs: Sequence[dict[str, Any]], global_shapes: Sequence[Sequence[int]] | None = None, dtypes: Sequence[DTypeLike] | None = None, concurrent_gb: int = 32) -> list[Array]: ...
    def deserialize_with_paths(self, shardings: Sequence[Sharding | PartitionSpec | Device], paths: Sequence[str], global_shapes: Sequence[Sequence[int]] | None = None, dtypes: Sequence[DTypeLike] | None = None, concurrent_gb: int = 32) -> list[Array]: ...
    def serialize(self, arrays: Sequence[Array], tensorstore_specs: Sequence[dict[str, Any]], *, on_commit_callback: Callable[[], None] | None = None, transaction: object | None = None) -> None: ...
    def serialize_with_paths(self, arrays: Sequence[Array], paths: Sequence[str], *, on_commit_callback: Callable[[], None] | None = None, transaction: object | None = None) -> None: ...
class GlobalAsyncCheckpointManagerBase(ABC):
    """What those who write checkpoints by other means have to offer."""
    @abstractmethod
    def check_for_errors(self) -> None: ...
    @abstractmethod
    def deserialize(self, shardings: Sequence[Sharding | PartitionSpec | Device], tensorstore_specs: Sequence[dict[str, Any]], global_shapes: Sequence[Sequence[int]] | None = None, dtypes: Sequence[DTypeLike] | None = None) -> Any: ...
    @abstractmethod
    def serialize(self, arrays: Sequence[Array], tensorstore_specs: Sequence[dict[str, Any]], *, on_commit_callback: Callable[[], None]) -> None: ...
    @abstractmethod
    def wait_until_finished(self) -> None: ...
async def async_deserialize(in_type: Sharding | PartitionSpec | Device | Format | ShapeDtypeStruct, tensorstore_spec: Any, global_shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, byte_limiter: Any = None, context: object | None = None, chunk_layout: object | None = None, assume_metadata: bool = False) -> Array:
    """Read an array."""
async def async_serialize(arr_inp: Array | np.ndarray, tensorstore_spec: dict[str, Any], commit_future: list[Any] | None = None, context: object | None = None, chunk_layout: object | None = None, primary_host: int | None = None, replica_id: int = 0, transaction: object | None = None) -> None:
    """Write an array."""
def get_tensorstore_spec(ckpt_path: str | Any, ocdbt: bool = False, process_idx: int | None = None, arr: Array | None = None, driver: str = 'zarr') -> dict[str, Any]:
    """`tensorstore_impl.get_tensorstore_spec` with the defaults of ``serialization``: the older format, files of its own."""
def is_remote_storage(tspec: dict[str, Any] | str) -> bool:
    """Whether a spec, or an address, is of a bucket."""
def run_deserialization(shardings: Sequence[Sharding | PartitionSpec | Device | Format], tensorstore_specs: Sequence[dict[str, Any]], global_shapes: Sequence[Sequence[int]] | None = None, dtypes: Sequence[DTypeLike] | None = None, concurrent_gb: int = 32) -> list[Array]:
    """Read the arrays of ``tensorstore_specs``; see `async_deserialize`."""
def run_serialization(arrays: Sequence[Array], tensorstore_specs: Sequence[dict[str, Any]]) -> None:
    """Write ``arrays``, each to its spec, and wait for it."""
ts_impl: Any
