"""Types of `jax.experimental.array_serialization.tensorstore_impl`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Array, Device, ShapeDtypeStruct
from jax.experimental.layout import Format
from jax.sharding import PartitionSpec, Sharding
from jax.typing import DTypeLike
from typing import Any, Sequence

async def async_deserialize(in_type: Sharding | PartitionSpec | Device | Format | ShapeDtypeStruct, tensorstore_spec: Any, global_shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, byte_limiter: Any = None, context: object | None = None, chunk_layout: object | None = None, assume_metadata: bool = False) -> Array:
    """Read an array."""
async def async_serialize(arr_inp: Array | np.ndarray, tensorstore_spec: dict[str, Any], commit_future: list[Any] | None = None, context: object | None = None, chunk_layout: object | None = None, primary_host: int | None = None, replica_id: int = 0, transaction: object | None = None) -> None:
    """Write an array."""
def combine_kvstores(combined_kvstore: dict[str, Any], kvstores: Sequence[dict[str, Any]], context: object | None = None) -> None:
    """Put the entries of ``kvstores`` into one database, without copying what is already written in its folder."""
def estimate_read_memory_footprint(t: Any, domain: Any) -> int:
    """Bytes of the chunks that hold the elements ``domain`` of the store ``t``."""
def get_tensorstore_spec(ckpt_path: str | Any, ocdbt: bool = True, process_idx: int | None = None, arr: Array | None = None, driver: str = 'zarr3') -> dict[str, Any]:
    """The spec of the array stored at ``ckpt_path``."""
def is_tensorstore_spec_leaf(leaf: object) -> bool:
    """Whether a tree of specs ends at ``leaf``: at None, or at a dict that has a driver or a store."""
def merge_nested_ts_specs(dict1: dict[Any, Any], dict2: dict[Any, Any] | None) -> dict[Any, Any]:
    """``dict1`` with the entries of ``dict2``, which win. Of the store's entries both are kept."""
def verify_tensorstore_spec(spec: dict[str, Any], arr: Array | None, path: str | Any, ocdbt: bool, check_metadata: bool = True) -> None:
    """Check that ``spec`` stores ``arr`` at ``path``."""
