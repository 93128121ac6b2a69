"""Types of `jax.dlpack`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import DTypeLike
from typing import Any

def from_dlpack(external_array: object, device: Sharding | PartitionSpec | Device | None = None, copy: bool | None = None) -> Array:
    """An array with the contents of an array of another library."""
def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Whether arrays of this dtype can be exchanged."""
