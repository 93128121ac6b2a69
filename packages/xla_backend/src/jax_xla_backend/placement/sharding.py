"""Shardings: which part of an array each device holds.

The classes are jaxlib's own C++ ones with our methods attached, because its dispatcher compares placements of
arguments by these classes without entering Python. Everything is derived from two facts of a sharding: its list of
devices, and XLA's form of it (`HloSharding`), which numbers the devices of that list.
"""
from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.representation import notebooks, sharding_pictures
from jax_core.representation.memory import Space, of_kind
from jax_core.representation.typing import DeviceLike

from ..jaxlib_compat import HloSharding, _jax, equip, names_for_jaxlib
from .hlo_shardings import (
    Index,
    entry_axes,
    hlo_equal,
    indices_of,
    is_whole,
    named_to_hlo,
    replicated,
    spec_of,
    tiles_of,
    unreduced_text,
)
from .mesh import AbstractMesh, AxisType, Mesh
from .partition_spec import UNCONSTRAINED, PartitionSpec

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

    from ..jaxlib_classes import GSPMDSharding, NamedSharding, Sharding, SingleDeviceSharding

    class _OfSharding:
        """The C++ class that the methods below are attached to, whose other attributes they may ask for."""

        def __getattr__(self, name: str) -> Any: ...
else:
    _OfSharding = object
    Sharding = _jax.Sharding
    NamedSharding = _jax.NamedSharding
    SingleDeviceSharding = _jax.SingleDeviceSharding
    GSPMDSharding = _jax.GSPMDSharding


class IndivisibleError(ValueError):
    """A sharding splits an axis into parts that its length is not a multiple of."""


class DuplicateSpecError(ValueError):
    """A partition spec names a mesh axis twice.

    Attributes:
      mesh, pspec: the mesh and the spec.
    """

    def __init__(self, message: str, mesh: Any, pspec: PartitionSpec):
        super().__init__(message)
        self.mesh, self.pspec = mesh, pspec


def _attach(cls: type) -> Callable[[type], type]:
    """Decorator: copy the attributes of a Python class to the C++ class ``cls``, which replaces it."""
    def copy(source: type) -> type:
        equip(cls, {name: value for name, value in vars(source).items()
                    if name not in ("__dict__", "__weakref__", "__module__", "__slots__")})
        return cls
    return copy


# -- methods of all shardings --------------------------------------------------------------------------------------

@_attach(Sharding)
class _SharedMethods(_OfSharding):
    """Where the parts of an array lie. `NamedSharding` is the one to use; subclasses by users are possible.

    A subclass provides ``device_set`` and, for all else, ``_device_assignment`` and ``_to_xla_hlo_sharding``.
    """

    @property
    def _device_assignment(self) -> tuple:
        return tuple(self._internal_device_list)

    @property
    def device_set(self) -> set:
        """The devices that hold a part."""
        return set(self._device_assignment)

    @property
    def num_devices(self) -> int:
        """How many devices hold a part."""
        return len(self._device_assignment)

    @property
    def addressable_devices(self) -> set:
        """Those of the devices that this process can reach.

        Raises:
          ValueError: the mesh is abstract, without devices.
        """
        if not self._is_concrete:
            raise ValueError(f"{self} is on an abstract mesh, which has no devices")
        return set(self._addressable_device_assignment)

    @property
    def _addressable_device_assignment(self) -> tuple:
        return tuple(self._internal_device_list.addressable_device_list)

    @property
    def has_addressable_devices(self) -> bool:
        """Whether this process can reach any of the devices."""
        return len(self._internal_device_list.addressable_device_list) > 0

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process can reach all of the devices."""
        return bool(self._internal_device_list.is_fully_addressable)

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device holds the whole array."""
        raise NotImplementedError(f"{type(self).__name__} does not say whether it is replicated")

    @property
    def memory_kind(self) -> str | None:
        """Kind of memory that the array lives in."""
        raise NotImplementedError(f"{type(self).__name__} does not say its kind of memory")

    @property
    def _is_concrete(self) -> bool:
        return True

    def with_memory_kind(self, kind: str) -> Sharding:
        """The same placement in another kind of memory."""
        raise NotImplementedError(f"{type(self).__name__} cannot change its kind of memory")

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> HloSharding:
        raise NotImplementedError(f"{type(self).__name__} has no form for the compiler")

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """The part of an array of ``global_shape`` that each device holds.

        Raises:
          IndivisibleError: an axis is not a multiple of the number of its parts.
        """
        found = _parts if type(self).__hash__ is not None else _parts.__wrapped__
        return dict(found(self, tuple(global_shape)))

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index | None]:
        """`devices_indices_map` of the devices that this process can reach."""
        every = self.devices_indices_map(global_shape)
        if self.is_fully_addressable:
            return every
        return {d: every[d] for d in self._addressable_device_assignment}

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the parts of an array of ``global_shape``.

        Raises:
          IndivisibleError: an axis is not a multiple of the number of its parts.
        """
        return (_part_shape if type(self).__hash__ is not None else _part_shape.__wrapped__)(self, tuple(global_shape))

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raise ValueError if an array of this shape cannot have this sharding."""

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether both give every device the same part of an array with ``ndim`` axes, in the same memory."""
        if self is other:
            return True
        try:
            return (self.memory_kind == other.memory_kind and _kind_of_sum(self) is _kind_of_sum(other)
                    and self._internal_device_list == other._internal_device_list
                    and hlo_equal(self._to_xla_hlo_sharding(ndim), other._to_xla_hlo_sharding(ndim)))
        except (AttributeError, NotImplementedError):
            return bool(self == other)
        except RuntimeError:  # a mesh without devices
            return self == other or getattr(self, "mesh", None) == getattr(other, "mesh", None) and self.memory_kind == other.memory_kind and (
                hlo_equal(self._to_xla_hlo_sharding(ndim), other._to_xla_hlo_sharding(ndim)))

    def _to_sdy_sharding(self, num_dimensions: int) -> str:
        """The Shardy attribute's text, for the lowering; needs a mesh."""
        raise NotImplementedError(f"{type(self).__name__} cannot be written as a Shardy attribute")


@functools.lru_cache(4096)
def _part_shape(sharding: Sharding, shape: tuple[int, ...]) -> tuple[int, ...]:
    """What `Sharding.shard_shape` gives: placing an array asks for it several times."""
    sharding.check_compatible_aval(shape)
    tiles = tiles_of(sharding._to_xla_hlo_sharding(len(shape)), len(shape))
    for axis, (length, n) in enumerate(zip(shape, tiles)):
        if length % n:
            raise IndivisibleError(
                f"Sharding {sharding} implies that array axis {axis} is partitioned {n} times, but the dimension size is "
                f"{length} (full shape: {shape}, per-dimension tiling factors: {list(tiles)} should evenly divide the "
                "shape)")
    return tuple(length // n for length, n in zip(shape, tiles))


@functools.lru_cache(4096)
def _parts(sharding: Sharding, shape: tuple[int, ...]) -> Mapping[Any, Index]:
    """What `Sharding.devices_indices_map` gives a copy of: loops over shards ask for each of them."""
    sharding.shard_shape(shape)
    devices = sharding._device_assignment
    return dict(zip(devices, indices_of(sharding._to_xla_hlo_sharding(len(shape)), shape, len(devices))))


def _kind_of_sum(sharding: Any) -> Any:
    """What combines the parts of an array that is unreduced, which XLA's form of shardings does not tell."""
    return sharding.spec.unreduced_kind if isinstance(sharding, NamedSharding) else None


# -- one device ----------------------------------------------------------------------------------------------------


@_attach(SingleDeviceSharding)
class _SingleDevice(_OfSharding):
    """The whole array on one device.

    Args:
      device: the device.
      memory_kind: of which of its memories; by default the ordinary one.

    >>> where = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    >>> jax.device_put(jnp.ones(2), where).sharding == where
    True
    """

    memory_kind = vars(SingleDeviceSharding)["_memory_kind"]  # the C++ getter itself: jaxlib asks at each transfer
    is_fully_replicated = property(lambda self: True, doc="True: the one device holds the whole array.")
    num_devices = property(lambda self: 1, doc="One.")

    @property
    def device_set(self) -> set:
        return {self._device}

    @property
    def _device_assignment(self) -> tuple:
        return (self._device,)

    def with_memory_kind(self, kind: str) -> Sharding:
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> HloSharding:
        return replicated

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self._memory_kind})"

    def __eq__(self, other):
        return self is other or (type(other) is SingleDeviceSharding and self._device is other._device
                                 and self._memory_kind == other._memory_kind)

    def __hash__(self):
        return hash((self._device, self._memory_kind))

    def __reduce__(self):
        return SingleDeviceSharding, (self._device, self._memory_kind)


for _public in (SingleDeviceSharding, NamedSharding):
    _public.__module__ = "jax.sharding"
_on_device: dict[Any, SingleDeviceSharding] = {}


def in_memory(sharding: Sharding, aval: AbstractValue) -> Sharding:
    """``sharding``, in the kind of memory that the type of the array names."""
    if of_kind(sharding.memory_kind) is aval.memory_space or not isinstance(aval.memory_space, Space) or aval.memory_space is Space.Any:
        return sharding
    return sharding.with_memory_kind(aval.memory_space.memory_kind)


def make_single_device_sharding(device: DeviceLike, *, memory_kind: str | None = None) -> SingleDeviceSharding:
    """The sharding that puts all of an array on ``device``; the same object for the same device.

    >>> jax.sharding.make_single_device_sharding(jax.devices()[0]).num_devices
    1
    """
    key = device if memory_kind is None else (device, memory_kind)
    found = _on_device.get(key)
    if found is None:
        found = SingleDeviceSharding(device, memory_kind=memory_kind)
        if memory_kind is None:  # a default written out is the same sharding
            found = _on_device.setdefault((device, found._memory_kind), found)
        _on_device[key] = found
    return found


# -- meshes --------------------------------------------------------------------------------------------------------

def check_pspec(mesh: object, spec: object, *_: Any) -> None:
    """Raise unless ``spec`` fits ``mesh``; jaxlib calls it for every new `NamedSharding`.

    Raises:
      TypeError: ``spec`` is not a PartitionSpec or ``mesh`` not a mesh.
      ValueError: an unknown axis, or one named twice.
    """
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(f"NamedSharding: mesh must be a jax.sharding.Mesh or AbstractMesh, got {mesh!r} of type "
                        f"{type(mesh).__name__}")
    if not isinstance(spec, PartitionSpec):
        raise TypeError(f"NamedSharding: spec must be a jax.sharding.PartitionSpec, got {spec!r} of type "
                        f"{type(spec).__name__}")
    seen = set()
    for name in itertools.chain(spec.axis_names(), spec.unreduced, spec.reduced):
        if name not in mesh.axis_names:
            raise ValueError(f"NamedSharding: {spec} names axis {name!r}, but the mesh has the axes {mesh.axis_names}")
        if name in seen:
            raise DuplicateSpecError(
                f"NamedSharding: {spec} names axis {name!r} twice; an axis of the mesh can divide one dimension", mesh, spec)
        seen.add(name)
    for name, what in ((spec.unreduced, "unreduced"), (spec.reduced, "reduced")):
        if any([axis in name for axis in mesh.auto_axes]):
            raise ValueError(f"NamedSharding: {spec} has {what}={set(name)}, which types tell of Explicit mesh axes only, but the mesh has "
                             f"axis_types={mesh.axis_types}")
    if UNCONSTRAINED in spec.partitions and mesh.axis_types and not mesh.auto_axes:
        raise ValueError(f"NamedSharding: {spec} leaves a dimension to the compiler (UNCONSTRAINED), but no axis of the mesh is "
                         f"Auto, got axis_types={mesh.axis_types}")


@_attach(NamedSharding)
class _Named(_OfSharding):
    """An array split over the axes of a mesh as a spec says.

    Args:
      mesh: a `Mesh`, or an `AbstractMesh` where no devices are meant yet.
      spec: a `PartitionSpec`: for each leading axis of the array the mesh axis, or axes, that it is split over, or None.
      memory_kind: of which memory of the devices; by default the ordinary one.

    >>> mesh = jax.make_mesh((1,), ("data",), devices=jax.devices()[:1])
    >>> x = jax.device_put(jnp.ones((4, 2)), jax.NamedSharding(mesh, jax.P("data")))
    >>> x.sharding.spec, x.sharding.shard_shape(x.shape)
    (P('data',), (4, 2))
    """

    memory_kind = vars(NamedSharding)["_memory_kind"]

    @property
    def _is_concrete(self) -> bool:
        return isinstance(self.mesh, Mesh)

    def _need_devices(self) -> None:
        if not isinstance(self.mesh, Mesh):
            raise ValueError(f"{self} has no devices, as its mesh is abstract; use a jax.sharding.Mesh")

    @property
    def _device_assignment(self) -> tuple:
        self._need_devices()
        return self.mesh._devices_key

    @property
    def device_set(self) -> set:
        self._need_devices()
        return set(self.mesh._devices_key)

    @property
    def num_devices(self) -> int:
        return self.mesh.size

    @property
    def is_fully_addressable(self) -> bool:
        self._need_devices()
        return not self.mesh.is_multi_process

    @property
    def is_fully_replicated(self) -> bool:
        sizes = self.mesh.shape
        return all(sizes[name] == 1 for name in itertools.chain(self.spec.axis_names(), self.spec.unreduced))

    @property
    def replicated_axes(self) -> frozenset:
        """The mesh axes that nothing is split over."""
        used = {*self.spec.axis_names(), *self.spec.unreduced, *self.spec.reduced, *self.mesh.manual_axes}
        return frozenset(self.mesh.axis_names) - used

    def with_memory_kind(self, kind: str) -> Sharding:
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def update(self, **kwargs: Any) -> Sharding:
        """This sharding with ``mesh``, ``spec`` or ``memory_kind`` replaced."""
        spec = kwargs.get("spec", self.spec)
        return NamedSharding(kwargs.get("mesh", self.mesh), spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec),
                             memory_kind=kwargs.get("memory_kind", self._memory_kind))

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        needed = len(self.spec)
        if len(aval_shape) < needed:
            hint = " For scalars the PartitionSpec should be P()" if not aval_shape else ""
            raise ValueError(f"Sharding {self} is only valid for values of rank at least {needed}, but was applied to a "
                             f"value of rank {len(aval_shape)}.{hint}")

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> HloSharding:
        return named_to_hlo(self.mesh.shape_tuple, self.spec, num_dimensions, self.mesh.manual_axes)

    def _to_sdy_sharding(self, num_dimensions: int, mesh_name: str = "mesh", partial: bool = False) -> str:
        """The Shardy attribute of a value with ``num_dimensions`` axes; ``partial``: each may be split over further ``Auto`` mesh axes."""
        spec = [*self.spec.partitions, *[None] * (num_dimensions - len(self.spec))]
        parts = ", ".join("{" + ", ".join([*(f'"{a}"' for a in entry_axes(e)), *(["?"] if partial or e is UNCONSTRAINED else [])]) + "}"
                          for e in spec)
        whole = ""
        if partial or UNCONSTRAINED in spec:  # over axes that types speak of only as they say: what they do not name is whole there
            named = {*self.spec.axis_names(), *self.spec.unreduced}
            rest = ", ".join(f'"{a}"' for a in self.mesh.explicit_axes if a not in named)
            whole = f", replicated={{{rest}}}" if rest else ""
        return f"#sdy.sharding<@{mesh_name}, [{parts}]{whole}{unreduced_text(self.spec, self.mesh.axis_names)}>"

    def __repr__(self):
        kind = "" if self._memory_kind is None else f", memory_kind={self._memory_kind}"
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec}{kind})"

    if notebooks.shell() is not None:  # as of arrays
        def _repr_html_(self) -> str:
            """The text, and the parts along one or two axes as a table."""
            return sharding_pictures.placement_as_html(self)

    def __reduce__(self):
        return NamedSharding, (self.mesh, self.spec, self._memory_kind)


def _unpickled(mesh: Mesh | AbstractMesh, spec: PartitionSpec, memory_kind: str | None, _logical_device_ids: object = None) -> NamedSharding:
    """What pickles of the public jax call."""
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


# -- shardings that only the compiler has named ----------------------------------------------------------------------

@_attach(GSPMDSharding)
class _Gspmd(_OfSharding):
    memory_kind = vars(GSPMDSharding)["_memory_kind"]

    @property
    def _device_assignment(self) -> tuple:
        return tuple(self._internal_device_list)

    @property
    def is_fully_replicated(self) -> bool:
        return is_whole(self._hlo_sharding) or (
            self._hlo_sharding.is_tiled() and math.prod(self._hlo_sharding.tile_assignment_dimensions()) == 1)

    @classmethod
    def get_replicated(cls, device_assignment: Sequence[object], *, memory_kind: str | None = None) -> "GSPMDSharding":
        """All of an array on each of these devices."""
        return GSPMDSharding(device_assignment, replicated, memory_kind=memory_kind)

    def with_memory_kind(self, kind: str) -> Sharding:
        return GSPMDSharding(self._internal_device_list, self._hlo_sharding, memory_kind=kind)

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        hlo = self._hlo_sharding
        if hlo.is_tiled() and not hlo.is_replicated():
            needed = len(hlo.tile_assignment_dimensions()) - len(hlo.subgroup_types()) - bool(hlo.replicate_on_last_tile_dim())
            if len(aval_shape) < needed:
                raise ValueError(f"Sharding {self} is only valid for values of rank at least {needed}, but was applied to "
                                 f"a value of rank {len(aval_shape)}.")

    def _to_xla_hlo_sharding(self, num_dimensions: int) -> HloSharding:
        return self._hlo_sharding

    def __eq__(self, other):
        return self is other or (
            type(other) is GSPMDSharding and self._memory_kind == other._memory_kind
            and self._internal_device_list == other._internal_device_list
            and hlo_equal(self._hlo_sharding, other._hlo_sharding))

    def __hash__(self):
        whole = is_whole(self._hlo_sharding)
        return hash((self._internal_device_list, self._memory_kind, None if whole else self._hlo_sharding))

    def __repr__(self):
        return f"GSPMDSharding({self._hlo_sharding!r}, memory_kind={self._memory_kind})"

    def __reduce__(self):
        return _rebuild_gspmd, (tuple(self._internal_device_list), self._hlo_sharding.to_proto(), self._memory_kind)


def _rebuild_gspmd(devices, proto, memory_kind):
    return GSPMDSharding(devices, HloSharding.from_proto(proto), memory_kind=memory_kind)


def from_hlo(hlo: HloSharding, devices: Sequence[DeviceLike], mesh: Mesh | None, ndim: int, memory_kind: str | None = None,
             typed: bool = True) -> Sharding:
    """The sharding of a result: over ``mesh`` where that can express it, else as the compiler has it. ``typed``: its type says it too."""
    if len(devices) == 1 and mesh is None:
        return make_single_device_sharding(devices[0], memory_kind=memory_kind)
    named = None if mesh is None else _spelled(hlo, mesh, ndim, memory_kind, typed)
    return GSPMDSharding(devices, hlo, memory_kind=memory_kind) if named is None else named


def on_mesh(sharding: Sharding, mesh: Mesh, ndim: int) -> NamedSharding | None:
    """The same placement of an array with ``ndim`` axes over ``mesh``, which has its devices; None where no spec says it."""
    return _spelled(sharding._to_xla_hlo_sharding(ndim), mesh, ndim, sharding.memory_kind, True)


def _spelled(hlo, mesh, ndim, memory_kind, typed):
    spec = spec_of(hlo, mesh, ndim)
    if spec is None:
        return None
    if typed and mesh.explicit_axes and set(spec.axis_names()) <= set(mesh.explicit_axes):  # all of it is in the type, which has an entry for each axis
        spec = spec.update(partitions=(*spec, *[None] * (ndim - len(spec))))
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


def flat_mesh(devices: Sequence[DeviceLike]) -> Mesh:
    """A mesh of one axis."""
    return Mesh(list(devices), ("_devices",))


def on_a_mesh(sharding: Sharding, ndim: int) -> Sharding | None:
    """``sharding``, which the compiler may have given in its own form, over a mesh; None where no mesh in the devices' order has it."""
    if not isinstance(sharding, GSPMDSharding):
        return sharding
    hlo, devices = sharding._to_xla_hlo_sharding(ndim), np.array(sharding._device_assignment, dtype=object)
    tiles = hlo.tile_assignment_dimensions() if hlo.is_tiled() else ()
    if list(hlo.tile_assignment_devices()) != list(range(len(devices))) or hlo.subgroup_types():
        return None
    names = tuple(f"_{i}" for i in range(len(tiles)))
    grid = Mesh(devices.reshape(tiles), names)
    return NamedSharding(grid, PartitionSpec(*names[:ndim]), memory_kind=sharding.memory_kind)


with names_for_jaxlib(jax={}, jax___src__named_sharding={"check_pspec": check_pspec}):
    NamedSharding(AbstractMesh((), ()), PartitionSpec())  # the first one looks the function up


__all__ = ["AxisType", "DuplicateSpecError", "GSPMDSharding", "IndivisibleError", "NamedSharding", "Sharding",
           "SingleDeviceSharding", "check_pspec", "from_hlo", "make_single_device_sharding",
           "on_mesh"]
