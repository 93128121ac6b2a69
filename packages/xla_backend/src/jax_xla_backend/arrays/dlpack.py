"""Arrays of other libraries through DLPack, without a copy where the memory allows."""
from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray
from jax_core.representation.typing import DTypeLike, Placement

from ..jaxlib_compat import _jax
from ..placement.sharding import Sharding
from ..platforms import client
from .array import ArrayImpl
from .array_methods import DLDeviceType
from .device_put import device_put
from .put import put

SUPPORTED_DTYPES = frozenset(map(np.dtype, (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", ml_dtypes.bfloat16)))
_PLATFORMS = {DLDeviceType.kDLCPU: ("cpu",), DLDeviceType.kDLCUDA: ("cuda",), DLDeviceType.kDLCUDAHost: ("cpu",),
              DLDeviceType.kDLROCM: ("rocm",), DLDeviceType.kDLROCMHost: ("cpu",)}


def is_supported_dtype(dtype: DTypeLike) -> bool:
    """Whether arrays of this dtype can be exchanged.

    >>> jax.dlpack.is_supported_dtype(jnp.float32)
    True
    """
    return np.dtype(dtype) in SUPPORTED_DTYPES


def from_dlpack(external_array: object, device: Placement | None = None, copy: bool | None = None) -> ArrayImpl:
    """An array with the contents of an array of another library.

    Args:
      external_array: has the methods ``__dlpack__`` and ``__dlpack_device__``.
      device: where to put the result (a device or a sharding); default where the contents are.
      copy: True makes a copy; False raises where one would be needed to take the contents; None copies where needed. 64-bit
        contents are converted while x64 is off, whatever ``copy`` is. Without a copy, nobody may write to ``external_array`` from now on.

    Raises:
      TypeError: no DLPack methods, or another ``copy``.
      ValueError: ``copy=False`` and a copy is needed; or this process has no such device.

    >>> jax.dlpack.from_dlpack(np.arange(3, dtype=np.int32))
    Array([0, 1, 2], dtype=int32)
    """
    if not hasattr(external_array, "__dlpack__") or not hasattr(external_array, "__dlpack_device__"):
        raise TypeError("from_dlpack: the array must have the methods __dlpack__ and __dlpack_device__, got "
                        f"{external_array!r} of type {type(external_array).__name__}")
    if not (copy is None or isinstance(copy, (bool, np.bool_))):
        raise TypeError(f"from_dlpack: copy must be True, False or None, got {copy!r}")
    if isinstance(external_array, np.ndarray) and (not external_array.flags.writeable or external_array.dtype.kind == "b"):
        return _from_numpy(external_array, device, copy)
    source = _device_of(external_array)
    array = _import(external_array, source, copy and None)  # jaxlib's own copies are for the CPU alone, and not always copies
    if copy:
        array = put(np.array(array), None, array.sharding) if source.platform == "cpu" else cast(ArrayImpl, array.copy())
        array.block_until_ready()  # its owner may write to the memory from now on
    wide = dtypes.canonicalize_dtype(array.dtype)
    if wide != array.dtype:  # x64 is off; the import itself was no copy
        array = put(np.asarray(array), ShapedArray(array.shape, wide))
    if device is None:
        return array
    target = device if isinstance(device, Sharding) else None
    if copy is False and (target is not None and target != array.sharding or target is None and device != array.device):
        raise ValueError(f"from_dlpack: the array is on {array.device} and device={device} needs a copy; got copy=False")
    return device_put(array, device)


def _from_numpy(value: np.ndarray, device: Any, copy: bool | None) -> ArrayImpl:
    """NumPy does not export these, though the contents are as good as others'."""
    if copy is False:
        raise ValueError(f"from_dlpack: a read-only or boolean NumPy array (dtype {value.dtype}) has to be copied; got "
                         "copy=False")
    return put(value, None, device)


def _device_of(x: Any) -> Any:
    kind, number = x.__dlpack_device__()
    try:
        names = _PLATFORMS[DLDeviceType(int(kind))]
    except (KeyError, ValueError):
        raise ValueError(f"from_dlpack: DLPack device type {kind} is not supported") from None
    on = client.get_client(names[0])
    if names[0] == "cpu":
        return on.local_devices()[0]
    for device in on.local_devices():
        if device.local_hardware_id == number:
            return device
    raise ValueError(f"from_dlpack: this process has no {names[0]} device {number}; it has {on.local_devices()}")


def _import(x: Any, device: Any, copy: bool | None) -> ArrayImpl:
    stream = None
    if device.platform == "gpu":
        stream = device.get_stream_for_external_ready_events()
    capsule = x.__dlpack__(stream=stream) if stream is not None else x.__dlpack__()
    try:
        return _jax.dlpack_managed_tensor_to_buffer(capsule, device, stream, copy)
    except RuntimeError as error:
        if copy is False:
            raise ValueError(f"from_dlpack: this array needs a copy; got copy=False ({error})") from None
        raise
