"""Arrays of the extended dtypes that libraries define (`jax_core.compat.extended_dtypes`); random keys have a class of their own."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import backends

if TYPE_CHECKING:
    from .array import Array
    from .aval import ShapedArray
    from .dtypes import ExtendedDType


class EArray:
    """An array of type ``aval``, whose dtype is extended, and the array ``data`` that it is stored in.

    Outside of transformations such arrays can be passed to functions, converted and moved about by `jax.lax`; what they hold
    is seen after a conversion to a dtype of numbers.
    """

    __slots__ = ("aval", "data", "__weakref__")
    __hash__ = None  # type: ignore[assignment]  # as other arrays
    weak_type = False
    committed = property(lambda self: self.data.committed)
    dtype = property(lambda self: self.aval.dtype)
    shape = property(lambda self: self.aval.shape)
    ndim = property(lambda self: len(self.aval.shape))
    size = property(lambda self: self.aval.size)
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.data.nbytes)

    def __init__(self, aval: ShapedArray, data: Array):
        self.aval = aval
        self.data: Any = data

    @classmethod
    def of(cls, dtype: ExtendedDType, data: Array) -> "EArray":
        """The array of ``dtype`` that is stored in ``data``."""
        stored: Any = data
        rank = len(data.shape) - len(dtype.physical_element_aval.shape)
        return cls(stored.aval.update(shape=data.shape[:rank], dtype=dtype, weak_type=False), data)

    device = property(lambda self: self.data.device)

    @property
    def sharding(self) -> Any:
        found = self.data.sharding
        spec = getattr(found, "spec", None)
        return found if spec is None else found.update(spec=spec.update(partitions=spec.partitions[:self.ndim]))
    is_fully_addressable = property(lambda self: self.data.is_fully_addressable)
    is_fully_replicated = property(lambda self: self.data.is_fully_replicated)

    def devices(self) -> set:
        return self.data.devices()

    def block_until_ready(self) -> "EArray":
        self.data.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        self.data.copy_to_host_async()

    def on_device_size_in_bytes(self) -> int:
        return self.data.on_device_size_in_bytes()

    def unsafe_buffer_pointer(self) -> int:
        return self.data.unsafe_buffer_pointer()

    def addressable_data(self, index: int) -> "EArray":
        return EArray.of(self.dtype, self.data.addressable_data(index))

    addressable_shards = property(lambda self: [s.stored_for(self, self._of_data) for s in self.data.addressable_shards])
    global_shards = property(lambda self: [s.stored_for(self, self._of_data) for s in self.data.global_shards])

    def _of_data(self, data: Array) -> "EArray":
        return EArray.of(self.dtype, data)

    def item(self, *args: int) -> None:
        raise NotImplementedError(f"an array of {self.dtype} holds no Python numbers; convert it with jax.lax.convert_element_type")

    def delete(self) -> None:
        self.data.delete()

    def is_deleted(self) -> bool:
        return self.data.is_deleted()

    def _device_put(self, placement: Any) -> "EArray":
        return EArray(self.aval, backends.get().put(self.data, None, placement))

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"NumPy has no dtype {self.dtype}, so {self.aval.str_short()} cannot become one of its arrays; convert it "
                        "with jax.lax.convert_element_type")

    def __repr__(self):
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.data}"


OWN_METHODS = frozenset(name for name in vars(EArray) if name not in ("__module__", "__doc__", "__slots__")) | frozenset({
    "tolist", "item", "tobytes", "__float__", "__int__", "__bool__", "__complex__", "__index__", "__dlpack__", "__dlpack_device__",
    "__array_namespace__", "traceback"})
"""What does not come from the methods that all arrays share; the second half it does not have."""
