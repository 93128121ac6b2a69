"""The attributes of `jax.Array` that concern placement, transfer to the host and conversion to Python values.

They are attached to jaxlib's C++ array class. Operators and the methods that NumPy arrays also have come from the
numpy-like package, through the slot `jax_core.extension_points.array_methods`.
"""
from __future__ import annotations

import collections
import enum
import functools
import math
import operator
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, cast

import numpy as np

from jax_core.representation import array as core_array, dtypes, errors, notebooks
from jax_core.representation.source import warn

from ..jaxlib_compat import equip, to_dlpack
from ..placement.hlo_shardings import Index
from ..placement.layout import Format, Layout
from ..placement.sharding import Sharding
from .array import ArrayImpl, block, check_not_deleted, delete, host_value, is_unreduced, ready, until_ready
from .device_put import device_put
from .put import from_host
from .rows import rows

if TYPE_CHECKING:
    from jax_core.representation.typing import Placement

    from ..jaxlib_classes import Device


def _is_scalar(x: ArrayImpl) -> None:
    if x.aval.shape:
        raise TypeError(f"a Python number can be made of a scalar, not of an array of shape {x.shape}; take one element, or "
                        "x.item() for an array of one")


class Shard:
    """The part of an array that one device holds.

    Args:
      device: the device.
      sharding: of the whole array.
      global_shape: of the whole array.
      data: the part as an array on that device; None if it belongs to another process.

    >>> shard = jnp.arange(3).addressable_shards[0]
    >>> shard.index, shard.data
    ((slice(None, None, None),), Array([0, 1, 2], dtype=int32))
    """

    __slots__ = ("device", "_sharding", "_global_shape", "_data", "_place", "__weakref__")
    _place: tuple[Index, int]

    def __init__(self, device: Device, sharding: Sharding, global_shape: tuple[int, ...], data: Any = None):
        self.device, self._sharding, self._global_shape, self._data = device, sharding, global_shape, data

    @classmethod
    def _of(cls, devices: Sequence[Device], array: Any, parts: Iterable[Any]) -> list["Shard"]:
        """The parts ``parts`` of ``array`` on ``devices``, which look up only once where they are in it."""
        places, result = _parts(array._sharding, array.shape), []
        for device, data in zip(devices, parts):
            shard = cls(device, array._sharding, array.shape, data)
            shard._place = places[device]
            result.append(shard)
        return result

    def _find_place(self) -> tuple[Index, int]:
        self._place = found = _parts(self._sharding, self._global_shape)[self.device]
        return found

    def stored_for(self, array: Any, wrap: Callable[[Any], Any]) -> "Shard":
        """The part of ``array``, a key array or the like that is stored in the array of this part: with ``wrap`` of its data."""
        return Shard(self.device, array.sharding, array.shape, None if self._data is None else wrap(self._data))

    @property
    def index(self) -> Index:
        """Which part of the whole array it is, as a tuple of slices."""
        try:
            return self._place[0]
        except AttributeError:
            return self._find_place()[0]

    @property
    def replica_id(self) -> int:
        """How many devices before this one hold the same part."""
        try:
            return self._place[1]
        except AttributeError:
            return self._find_place()[1]

    @property
    def data(self) -> Any:
        """The part as an array on that device; None if it belongs to another process."""
        return self._data

    def __repr__(self):
        data = "" if self._data is None else f", data={self._data}"
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}{data})"


@functools.lru_cache(4096)
def _parts(sharding: Sharding, global_shape: tuple[int, ...]) -> dict[Device, tuple[Index, int]]:
    """For each device its part, and how many devices before it hold the same."""
    seen: collections.Counter = collections.Counter()
    parts = {}
    for device, part in sharding.devices_indices_map(global_shape).items():
        edges = tuple((s.start, s.stop) for s in part)
        parts[device] = part, seen[edges]
        seen[edges] += 1
    return parts


class DLDeviceType(enum.IntEnum):
    """Numbers of device types in the DLPack standard."""

    kDLCPU, kDLCUDA, kDLCUDAHost, kDLROCM, kDLROCMHost = 1, 2, 3, 10, 11


if TYPE_CHECKING:
    _OfArray = ArrayImpl
else:
    _OfArray = object


class _ArrayMethods(_OfArray):
    """The attributes that are copied to the C++ class."""

    __hash__ = None  # type: ignore[assignment]  # arrays compare element by element, so they cannot be keys
    __array_priority__ = 100

    # -- type
    shape = property(operator.attrgetter("aval.shape"), doc="Lengths of the axes.")
    dtype = property(operator.attrgetter("aval.dtype"), doc="Type of the elements.")

    @property
    def __numpy_dtype__(self) -> Any:  # which NumPy asks from 2.4 on, before `dtype`
        warn("an array was given where NumPy wants a dtype, which it takes from the array; write x.dtype", DeprecationWarning)
        return self.dtype

    weak_type = property(operator.attrgetter("aval.weak_type"), doc="Whether the dtype gives way in promotion.")
    ndim = property(lambda self: len(self.aval.shape), doc="Number of axes.")
    size = property(lambda self: math.prod(self.aval.shape), doc="Number of elements.")
    itemsize = property(operator.attrgetter("aval.dtype.itemsize"), doc="Bytes of one element.")
    nbytes = property(lambda self: self.size * self.aval.dtype.itemsize, doc="Bytes of all elements.")

    _check_if_deleted = check_not_deleted  # as libraries ask

    # -- placement
    sharding = property(operator.attrgetter("_sharding"), doc="Where the parts of the array are.")
    committed = property(operator.attrgetter("_committed"), doc="Whether the user chose the placement.")
    is_fully_addressable = property(operator.attrgetter("_sharding.is_fully_addressable"),
                                    doc="Whether this process can reach all parts.")
    is_fully_replicated = property(operator.attrgetter("_sharding.is_fully_replicated"),
                                   doc="Whether every device holds the whole array.")

    @property
    def device(self) -> Any:
        """The device that holds the array, or its sharding if there are several."""
        devices = self._sharding._internal_device_list
        return devices[0] if len(devices) == 1 else self._sharding

    def devices(self) -> set:
        """The set of devices that hold parts of the array."""
        check_not_deleted(self)
        return self._sharding.device_set

    @property
    def format(self) -> Format:
        """Layout and sharding."""
        check_not_deleted(self)
        layout = self._pjrt_layout
        return Format(None if layout is None else Layout.from_pjrt_layout(layout), self._sharding)

    def addressable_data(self, index: int) -> ArrayImpl:
        """The part on the ``index``-th of this process's devices, as an array on that device."""
        check_not_deleted(self)
        parts = self._arrays
        if self.is_fully_replicated:  # whichever it is, the contents are the same
            return self._fully_replicated_shard() if len(parts) > 1 else parts[0]
        if not -len(parts) <= index < len(parts):
            raise IndexError(f"addressable_data: index={index}, but this process reaches {len(parts)} part{'s' * (len(parts) != 1)} "
                             "of the array")
        return parts[index]

    @property
    def addressable_shards(self) -> list[Shard]:
        """The parts that this process can reach."""
        check_not_deleted(self)
        found = self.__dict__.get("_shards")  # loops ask again for each one
        if found is None:
            found = self.__dict__["_shards"] = Shard._of(self._sharding._addressable_device_assignment, self, self._arrays)
        return list(found)

    @property
    def global_shards(self) -> list[Shard]:
        """All parts; those of other processes have no data."""
        check_not_deleted(self)
        data = dict(zip(self._sharding._addressable_device_assignment, self._arrays))
        return Shard._of(self._sharding._device_assignment, self, map(data.get, self._sharding._device_assignment))

    def to_device(self, device: Placement | None, *, stream: object = None) -> ArrayImpl:
        """The array on another device or with another sharding.

        Raises:
          NotImplementedError: ``stream`` is given.
        """
        if stream is not None:
            raise NotImplementedError(f"Array.to_device: stream={stream!r} is not supported; leave it out")
        return device_put(self, device)

    device_buffer = property(doc="Gone; the error says what took its place.", fget=lambda self: _gone(
        "device_buffer", "arr.addressable_data(0)"))
    device_buffers = property(doc="Gone; the error says what took its place.", fget=lambda self: _gone(
        "device_buffers", "[x.data for x in arr.addressable_shards]"))

    # -- life
    def block_until_ready(self) -> ArrayImpl:
        """Wait until the contents are computed, and return the array; raises the error of a failed computation."""
        check_not_deleted(self)
        until_ready(self)
        block(self)
        return self

    def is_ready(self) -> bool:
        """Whether the contents are computed, or their computation has failed; raises RuntimeError for a deleted array."""
        check_not_deleted(self)
        return ready(self)

    def copy_to_host_async(self) -> None:
        """Begin the transfer to the host, without waiting for it."""
        check_not_deleted(self)
        if self._npy_value is None and self.is_fully_addressable:
            for part in self._arrays:
                part._copy_single_device_array_to_host_async()

    def delete(self) -> None:
        """Free the memory on the devices now; the array cannot be used afterwards."""
        if not self.is_deleted():
            self.__dict__["_deleted"] = "It was deleted by a call of its method delete()."
            delete(self)

    def __copy__(self) -> core_array.Array:
        return self.copy()

    def __deepcopy__(self, memo: dict) -> core_array.Array:
        return self.copy()

    def __reduce__(self) -> tuple:
        return _reconstruct_array, (*np.asarray(host_value(self)).__reduce__(), {"weak_type": self.weak_type})

    # -- contents
    @property
    def _value(self) -> np.ndarray:
        return host_value(self)

    def __array__(self, dtype: Any = None, context: Any = None, copy: bool | None = None) -> np.ndarray:  # type: ignore[override]  # as it was
        view = self._npy_value
        if view is None or self.is_deleted():
            view = host_value(self)
        if copy is None:
            return view if dtype is None else np.asarray(view, dtype=dtype)
        return np.array(view, dtype=dtype, copy=copy)

    def tolist(self) -> Any:
        """The contents as nested lists of Python numbers."""
        return host_value(self).tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """The contents as bytes."""
        return host_value(self).tobytes(cast(Any, order))

    def item(self, *args: Any) -> Any:
        """One element as a Python number; ``args`` say which, and may be left out if there is only one.

        Raises:
          ValueError: there are several elements and none was chosen.
        """
        if not args and self.size != 1:
            raise ValueError(f"can only convert an array of size 1 to a Python scalar; got shape {self.shape}")
        return host_value(self).item(*args)

    def __len__(self) -> int:
        shape = self.aval.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Any:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return rows(self, range(self.aval.shape[0]))

    def __reversed__(self) -> Any:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        return rows(self, range(self.aval.shape[0] - 1, -1, -1))

    def __bool__(self) -> bool:
        size = self.size
        if size == 1:
            return bool(host_value(self))
        raise ValueError(errors.no_truth(self.shape))

    def __int__(self) -> int:
        _is_scalar(self)
        return int(host_value(self).item())

    def __float__(self) -> float:
        _is_scalar(self)
        return float(host_value(self).item())

    def __complex__(self) -> complex:
        _is_scalar(self)
        return complex(host_value(self).item())

    def __index__(self) -> int:
        if self.aval.shape or self.aval.dtype.kind not in "iu" and not dtypes.issubdtype(self.aval.dtype, np.integer):
            raise TypeError(errors.no_index(self.aval))
        return int(host_value(self))

    # -- text
    def __repr__(self) -> str:
        return _describe(self)

    def __str__(self) -> str:
        if (self.is_fully_addressable or self.is_fully_replicated) and not is_unreduced(self._sharding):
            return str(host_value(self))
        return _describe(self)

    if notebooks.shell() is not None:  # elsewhere libraries that show trees would ask arrays for HTML
        def _repr_html_(self) -> str:
            """The text, and below it what the text leaves out."""
            from .notebook import as_html  # start-up: loaded when a notebook shows an array
            return as_html(self)

    def __format__(self, spec: str) -> str:
        value = host_value(self)
        return format(value[()] if value.ndim == 0 else value, spec)

    # -- exchange with other libraries
    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A DLPack capsule of the array.

        Raises:
          BufferError: the array is not on a single device, or a copy to another device is asked for.
        """
        check_not_deleted(self)
        if len(self._sharding._internal_device_list) != 1:
            raise BufferError(f"__dlpack__: an array with {self._sharding} is on several devices; use "
                              "x.addressable_data(i)")
        if dl_device is not None and tuple(dl_device) != tuple(self.__dlpack_device__()):
            raise BufferError(f"__dlpack__: dl_device={tuple(dl_device)} is not where the array is "
                              f"({tuple(self.__dlpack_device__())}); move it with jax.device_put first")
        block(self)  # as for `array.LARGE`
        source = self.copy() if copy else self
        return to_dlpack(source, stream, max_version, bool(copy))

    def __dlpack_device__(self) -> tuple[DLDeviceType, int]:
        """Type and number of the device, in the DLPack standard."""
        check_not_deleted(self)
        if len(self._sharding._internal_device_list) != 1:
            raise BufferError(f"__dlpack_device__: an array with {self._sharding} is on several devices; use "
                              "x.addressable_data(i)")
        device = next(iter(self._sharding.device_set))
        kinds = {"cpu": DLDeviceType.kDLCPU, "cuda": DLDeviceType.kDLCUDA, "rocm": DLDeviceType.kDLROCM}
        name = device.client._raw_platform if device.platform == "gpu" else device.platform
        if name not in kinds:
            raise BufferError(f"__dlpack_device__: the standard has no device type for {name!r}")
        number = 0 if name == "cpu" else (device.local_hardware_id or 0)
        return kinds[name], number


def _gone(name: str, instead: str) -> None:
    raise AttributeError(f"arr.{name} has been removed. Use {instead}")


def _reconstruct_array(make: Callable, args: tuple, state: tuple, aval_state: dict[str, bool]) -> ArrayImpl:
    """The array in a pickle: what NumPy's pickle of its contents calls, with what, and the state that follows; and the rest of the type.

    This function's name and arguments are those in pickles of the public jax, so that each reads the other's.
    """
    value = make(*args)
    value.__setstate__(state)
    return from_host(value, **aval_state)


_reconstruct_array.__module__ = "jax._src.array"


def _describe(x: ArrayImpl) -> str:
    dtype = dtypes.name_of(x.dtype)
    tail = f"dtype={dtype}, weak_type=True)" if x.weak_type else f"dtype={dtype})"
    if not (x.is_fully_addressable or x.is_fully_replicated):
        return f"Array(shape={x.shape}, {tail}"
    if is_unreduced(x._sharding):
        return f"Array(shape={x.shape}, {tail[:-1]}, sharding={x._sharding})"
    value = host_value(x)
    options = np.get_printoptions()
    if x.size == 0:
        return f"Array([], shape={x.shape}, {tail}"
    text = np.array2string(value, prefix="Array(", suffix=",", separator=", ", max_line_width=options["linewidth"])
    last = len(text) - (text.rfind("\n") + 1) + (0 if "\n" in text else len("Array("))
    gap = " " if last + len(tail) + 2 <= options["linewidth"] else "\n      "
    return f"Array({text},{gap}{tail}"


OWN = frozenset(name for name in vars(_ArrayMethods) if name not in (
    "__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__slotnames__"))
"""Names of the attributes defined here; the shared table of methods does not replace them."""


def install() -> None:
    """Attach the methods to the C++ class and make it known to core."""
    equip(ArrayImpl, {name: vars(_ArrayMethods)[name] for name in OWN})
    core_array.register_array_class(ArrayImpl, own=OWN)

