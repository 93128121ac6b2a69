"""What libraries that write checkpoints themselves (axlearn, t5x, EasyDeL) take from `jax.experimental.array_serialization`."""
from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Sequence

import numpy as np

from ..arrays.from_parts import make_array_from_single_device_arrays
from .stores import chunks_of, metadata

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import DTypeLike

    from ..placement.sharding import Sharding

_FILE_SIZE = 2 << 30


def _get_metadata(arr: Array | np.ndarray, is_remote: bool = False, file_size_target: int = _FILE_SIZE, *, driver: str = "zarr") -> dict[str, Any]:
    """Shape and chunks of ``arr`` in the words of ``driver``; where it lies makes no difference."""
    return metadata(arr, driver, file_size_target)


def _compute_chunk_shape(local_shape: Sequence[int], dtype: DTypeLike, file_size_target: int = _FILE_SIZE) -> list[int]:
    """The chunks of a part of ``local_shape``, none of more than ``file_size_target`` bytes."""
    return chunks_of(local_shape, np.dtype(dtype).itemsize, file_size_target)  # type: ignore[arg-type]  # NumPy's wider types


def _spec_has_metadata(tree: Any) -> bool:
    """Whether a spec of tensorstore, or one nested in it, says shape and chunks."""
    return isinstance(tree, dict) and ("metadata" in tree or any(map(_spec_has_metadata, tree.values())))


async def _create_async_array_from_callback(global_shape: Sequence[int], dtype: DTypeLike | None, inp_sharding: Sharding,
                                            data_callback: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    """The array whose part on each device ``data_callback(index, device)`` gives, all of them awaited at once."""
    shape = tuple(global_shape)
    parts = await asyncio.gather(*(data_callback(index, device) for device, index in inp_sharding.addressable_devices_indices_map(shape).items()))
    return make_array_from_single_device_arrays(shape, inp_sharding, parts, dtype=dtype)


__all__: list[str] = []
