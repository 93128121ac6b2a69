"""Names for what the parameters of public functions take: one place for all packages.

Annotations are never evaluated, so the names cost nothing at run time; `typing.get_type_hints` finds them all the same.
Placements are protocols, as the classes are the backend's: `Sharding`, `PartitionSpec` and `Device` of `jax.sharding` fit.
"""
from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Hashable, Mapping, Protocol, Sequence, Union, runtime_checkable

import numpy as np

from .array import Array

if TYPE_CHECKING:
    from typing_extensions import TypeIs


@runtime_checkable
class SupportsDType(Protocol):
    """An object with a ``dtype``. Libraries that check arguments by their annotations (pydantic) ask for instances."""

    @property
    def dtype(self) -> np.dtype: ...
    if TYPE_CHECKING:  # arrays of NumPy have no hash, and have a dtype
        def __hash__(self) -> int: ...


class ShardingLike(Protocol):
    """Where the parts of an array are."""

    @property
    def device_set(self) -> set: ...
    @property
    def memory_kind(self) -> str | None: ...
    @property
    def is_fully_replicated(self) -> bool: ...
    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]: ...
    def __hash__(self) -> int: ...


class SpecLike(Protocol):
    """Over which axes of a mesh each axis of an array is divided."""

    @property
    def partitions(self) -> tuple: ...
    @property
    def unreduced(self) -> frozenset: ...
    @property
    def reduced(self) -> frozenset: ...


class MeshLike(Protocol):
    """Devices in a grid whose axes have names."""

    @property
    def axis_names(self) -> tuple: ...
    @property
    def shape(self) -> Mapping: ...
    @property
    def empty(self) -> bool: ...


class MeshSharding(ShardingLike, Protocol):
    """A placement that says over which axes of which mesh each axis of an array is divided."""

    @property
    def mesh(self) -> Any: ...
    @property
    def spec(self) -> Any: ...
    def update(self, **changes: Any) -> Any: ...


class DeviceLike(Protocol):
    """A device that holds arrays and runs programs."""

    @property
    def id(self) -> int: ...
    @property
    def platform(self) -> str: ...
    @property
    def process_index(self) -> int: ...


HostValue = Union[np.ndarray, np.bool_, np.number, bool, int, float, complex]
ArrayLike = Union[Array, np.ndarray, np.bool_, np.number, bool, int, float, complex]
DTypeLike = Union[str, type[Any], np.dtype, SupportsDType]
Shape = Sequence[int]
Axis = Union[int, Sequence[int], None]
AxisName = Hashable
Indexer = Union[int, slice, ArrayLike, EllipsisType, None, tuple]
Placement = Union[ShardingLike, SpecLike, DeviceLike]
PyTree = Any  # a container of arrays, of containers, ...: anything


def host_value(x: ArrayLike) -> TypeIs[HostValue]:
    """Whether ``x`` is a value of NumPy or of Python, not one of our arrays nor a tracer."""
    return isinstance(x, (np.ndarray, np.generic, bool, int, float, complex))
