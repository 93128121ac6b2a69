"""Meshes: devices in a grid whose axes have names.

`Mesh` holds devices; `AbstractMesh` only names, sizes and kinds of axes, and is what types of traced arrays refer to.
The mesh in use (`set_mesh`, `use_abstract_mesh`) is kept per thread.
"""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import math
import operator
import threading
import weakref
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.representation.source import warn
from jax_core.representation.typing import ArrayLike, AxisName, DeviceLike
from jax_core.traces.trace import tracing

from ..jaxlib_compat import _jax
from ..platforms import client


class AxisType(enum.Enum):
    """Who decides how values are split over a mesh axis.

    ``Auto``: the compiler. ``Explicit``: the types of the program. ``Manual``: the program itself, inside `shard_map`.

    >>> mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    >>> with jax.set_mesh(mesh):
    ...     print(jax.typeof(jax.device_put(jnp.ones(4), jax.P("x"))))
    float32[4@x]
    """

    Auto = 1
    Explicit = 2
    Manual = 3

    def __repr__(self):
        return self.name


@dataclasses.dataclass(frozen=True, slots=True)
class AbstractDevice:
    """What is known of a device before there is one."""

    device_kind: str
    num_cores: int | None = None
    platform: str | None = None


class _Axes:
    """What `Mesh` and `AbstractMesh` share: everything that follows from names, sizes and kinds of the axes."""

    __slots__ = ()
    axis_names: tuple
    axis_types: tuple

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        raise NotImplementedError

    shape = property(lambda self: collections.OrderedDict(zip(self.axis_names, self.axis_sizes)), doc="Lengths of the axes by name.")
    shape_tuple = property(lambda self: tuple(zip(self.axis_names, self.axis_sizes)), doc="Pairs of name and length.")
    size = property(lambda self: math.prod(self.axis_sizes) if self.axis_names else 0, doc="Number of devices.")
    empty = property(lambda self: not self.axis_names, doc="Whether there are no axes.")

    def _axes_of(self, kind: AxisType) -> tuple:
        return tuple(n for n, t in zip(self.axis_names, self.axis_types) if t is kind)

    auto_axes = property(lambda self: self._axes_of(AxisType.Auto), doc="Names of the axes of type `Auto`.")
    explicit_axes = property(lambda self: self._axes_of(AxisType.Explicit), doc="Names of the axes of type `Explicit`.")
    manual_axes = property(lambda self: self._axes_of(AxisType.Manual), doc="Names of the axes of type `Manual`.")

    def _all_axes(self, *kinds: AxisType) -> bool:
        return bool(self.axis_types) and all(t in kinds for t in self.axis_types)

    are_all_axes_auto = property(lambda self: self._all_axes(AxisType.Auto), doc="Whether there are axes, all `Auto`.")
    are_all_axes_explicit = property(lambda self: self._all_axes(AxisType.Explicit), doc="Whether there are axes, all `Explicit`.")
    are_all_axes_manual = property(lambda self: self._all_axes(AxisType.Manual), doc="Whether there are axes, all `Manual`.")
    are_all_axes_explicit_or_manual = property(lambda self: self._all_axes(AxisType.Explicit, AxisType.Manual),
                                               doc="Whether there are axes, each `Explicit` or `Manual`.")

    # Names under which libraries ask for the same.
    _name_to_type = property(lambda self: dict(zip(self.axis_names, self.axis_types)))
    _any_axis_manual = property(lambda self: AxisType.Manual in self.axis_types)

    def _short(self) -> str:
        axes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple) or "()"
        return f"{axes}, axis_types={self.axis_types}"


def _types_of_axes(names: tuple, types: Any, default: AxisType, owner: str) -> tuple:
    if types is None:
        return (default,) * len(names)
    types = types if isinstance(types, tuple) else (types,)
    if other := [t for t in types if not isinstance(t, AxisType)]:
        raise TypeError(f"{owner}: axis_types must hold members of jax.sharding.AxisType, got {other[0]!r}")
    if len(types) != len(names):
        raise ValueError(f"{owner}: axis_types={types} must have one AxisType for each of the axes {names}")
    return types


_meshes: "weakref.WeakValueDictionary[tuple, Any]" = weakref.WeakValueDictionary()


class Mesh(contextlib.ContextDecorator, _Axes):
    """An array of devices with a name for each of its axes.

    Args:
      devices: an ndarray of devices, or a sequence of them.
      axis_names: one name for each axis of ``devices``.
      axis_types: one `AxisType` for each axis; default all ``Auto``.

    Raises:
      TypeError: ``axis_types`` holds something else than an `AxisType`.
      ValueError: the number of names is not the number of axes.

    >>> mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
    >>> mesh.shape["data"], mesh.size
    (1, 1)
    """

    devices: np.ndarray

    axis_names: tuple
    axis_types: tuple
    _devices_key: tuple
    _key: tuple
    _hash: int
    _device_list: Any
    _abstract: AbstractMesh | None

    def __new__(cls, devices: ArrayLike | Sequence[DeviceLike], axis_names: Sequence[AxisName] | str,
                axis_types: Sequence[AxisType] | AxisType | None = None):
        devices = np.array(devices, dtype=object)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if None in names:
            raise ValueError(f"Mesh: axis names cannot be None, got axis_names={names}")
        if devices.ndim != len(names):
            raise ValueError(f"Mesh requires one name for each axis of `devices`: got devices of shape {devices.shape} "
                             f"and axis_names={names}")
        devices.flags.writeable = False
        key = (cls, tuple(devices.flat), devices.shape, names, _types_of_axes(names, axis_types, AxisType.Auto, "Mesh"))
        known = _meshes.get(key)
        if known is not None:  # equal meshes are one object, so comparing them, and what follows from one, costs nothing
            return known
        self = object.__new__(cls)
        self.devices, self.axis_names = devices, names
        self._devices_key, self.axis_types = key[1], key[-1]
        self._key = key[1:]
        self._hash = hash(self._key)
        self._device_list = None
        self._abstract = None
        return _meshes.setdefault(key, self)

    axis_sizes = property(lambda self: self.devices.shape, doc="Lengths of the axes.")
    size = property(lambda self: self.devices.size if self.devices.ndim else 0, doc="Number of devices.")
    empty = property(lambda self: self.devices.ndim == 0 or self.devices.size == 0, doc="Whether there are no axes, or no devices.")
    is_scalar = property(lambda self: self.devices.ndim == 0, doc="Whether the array of devices has no axes.")
    device_ids = property(lambda self: np.vectorize(lambda d: d.id, otypes=[int])(self.devices), doc="Numbers of the devices, as ``devices`` lie.")

    _flat_devices_tuple = property(lambda self: self._devices_key)
    _flat_devices_set = property(lambda self: set(self._devices_key))

    @property
    def _internal_device_list(self):
        if self._device_list is None and self.size:
            self._device_list = _jax.DeviceList(self._devices_key)
        return self._device_list

    @property
    def is_multi_process(self) -> bool:
        """Whether some of the devices belong to another process."""
        return not self.empty and not self._internal_device_list.is_fully_addressable

    @property
    def local_devices(self) -> list:
        """The devices of this mesh that this process can reach."""
        return [d for d in self._devices_key if d.process_index == d.client.process_index()]

    @property
    def local_mesh(self) -> "Mesh":
        """The part of this mesh whose devices this process can reach.

        Raises:
          ValueError: that part is not a box.
        """
        if self.empty or not self.is_multi_process:
            return self
        own = self.devices.flat[0].client.process_index()
        mine = np.vectorize(lambda d: d.process_index == own, otypes=[bool])(self.devices)
        box = tuple(slice(axis.min(), axis.max() + 1) for axis in np.nonzero(mine))
        if not box or not mine[box].all():
            raise ValueError(f"the devices of process {own} do not form a box in the mesh {self}")
        return Mesh(self.devices[box], self.axis_names, self.axis_types)

    @property
    def abstract_mesh(self) -> "AbstractMesh":
        """The same axes without the devices."""
        if self._abstract is None:
            device = None if self.empty else self.devices.flat[0]
            kind = None if device is None else AbstractDevice(device.device_kind, None, device.platform)
            self._abstract = AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=kind)
            _latest[self._abstract] = self
        return self._abstract

    def update(self, devices: Sequence[DeviceLike] | None = None, axis_names: Sequence[AxisName] | None = None,
               axis_types: Sequence[AxisType] | AxisType | None = None) -> "Mesh":
        """This mesh with some parts replaced."""
        return Mesh(self.devices if devices is None else devices, self.axis_names if axis_names is None else axis_names,
                    self.axis_types if axis_types is None else axis_types)

    def __enter__(self):
        if flags.disallow_mesh_context_manager.value:
            raise RuntimeError(f"with {self}: jax_disallow_mesh_context_manager forbids this form here; write `with jax.set_mesh(mesh):`")
        warn("`with mesh:` is there for older programs only: use `with jax.set_mesh(mesh):`", DeprecationWarning)
        here = _state.mesh
        if tracing() and here is not None and not here.empty and not self.empty and here.size != self.size:
            raise ValueError(f"with {self}: a program that is being traced cannot change the size of the mesh, which is {here}; it runs on the "
                             "devices of one mesh.")
        _state.stack = (*_state.stack, here)
        _use(self, _state.abstract)
        return self

    def __exit__(self, *exc):
        *rest, before = _state.stack
        _state.stack = tuple(rest)
        _use(before, _state.abstract)

    def __eq__(self, other):
        return self is other or (isinstance(other, Mesh) and self._hash == other._hash and self._key == other._key)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"

    def __str__(self):
        return f"Mesh({self._short()})"

    def __reduce__(self):
        return Mesh, (self.devices, self.axis_names, self.axis_types)


class AbstractMesh(_Axes):
    """Names, sizes and kinds of mesh axes, without devices.

    Args:
      axis_sizes: length of each axis.
      axis_names: name of each axis.
      axis_types: kind of each axis; default all ``Explicit``.
      abstract_device: what is known of the devices, or None.

    Raises:
      TypeError: ``axis_types`` holds something else than an `AxisType`.
      ValueError: there are not as many names, or kinds, as lengths.

    >>> jax.sharding.AbstractMesh((4, 2), ("data", "model")).size
    8
    """

    __slots__ = ("_sizes", "axis_names", "axis_types", "abstract_device", "_hash", "__weakref__")
    _sizes: tuple[int, ...]
    abstract_device: AbstractDevice | None
    _hash: int

    def __new__(cls, axis_sizes: Sequence[int], axis_names: Sequence[AxisName] | str,  # not __init__, which pickles of the public jax do not call
                axis_types: Sequence[AxisType] | AxisType | None = None, *,
                abstract_device: AbstractDevice | None = None) -> AbstractMesh:
        self = super().__new__(cls)
        self._sizes = tuple(axis_sizes)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if len(self._sizes) != len(self.axis_names):
            raise ValueError(f"AbstractMesh: axis_sizes={self._sizes} and axis_names={self.axis_names} differ in length")
        self.axis_types = _types_of_axes(self.axis_names, axis_types, AxisType.Explicit, "AbstractMesh")
        self.abstract_device = abstract_device
        self._hash = hash((self._sizes, self.axis_names, self.axis_types, abstract_device))
        return self

    axis_sizes = property(lambda self: self._sizes, doc="Lengths of the axes.")
    abstract_mesh = property(lambda self: self, doc="Itself.")
    _internal_device_list = None  # read by jaxlib's NamedSharding, which then knows that there are no devices

    def _no_devices(self):
        raise ValueError(f"{self} has no devices; use a jax.sharding.Mesh")

    devices = device_ids = local_devices = local_mesh = is_multi_process = property(_no_devices, doc="An error: there are no devices.")

    def update(self, axis_sizes: Sequence[int] | None = None, axis_names: Sequence[AxisName] | None = None,
               axis_types: Sequence[AxisType] | AxisType | None = None, **kwargs: Any) -> "AbstractMesh":
        """This mesh with some parts replaced."""
        return AbstractMesh(self._sizes if axis_sizes is None else axis_sizes,
                            self.axis_names if axis_names is None else axis_names,
                            self.axis_types if axis_types is None else axis_types,
                            abstract_device=kwargs.get("abstract_device", self.abstract_device))

    def update_axis_types(self, name_to_type: dict) -> "AbstractMesh":
        """This mesh with the kinds of the given axes replaced."""
        return self.update(axis_types=tuple(name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types)))

    def __eq__(self, other):
        return self is other or (
            isinstance(other, AbstractMesh) and self._hash == other._hash and self._sizes == other._sizes
            and self.axis_names == other.axis_names and self.axis_types == other.axis_types
            and self.abstract_device == other.abstract_device)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        device = self.abstract_device
        more = "".join(f", {k}={v}" for k, v in dataclasses.asdict(device).items()) if device else ""
        return f"AbstractMesh({self._short()}{more})"

    def __reduce__(self):
        return _rebuild_abstract, (self._sizes, self.axis_names, self.axis_types, self.abstract_device)


def _rebuild_abstract(sizes, names, types, device):
    return AbstractMesh(sizes, names, types, abstract_device=device)


EMPTY_ABSTRACT_MESH = AbstractMesh((), ())
EMPTY_MESH = Mesh(np.empty((), dtype=object), ())


class _MeshState(threading.local):
    """``mesh``, ``abstract``: those in use in this thread; ``stack``: the ones before, of ``with mesh:`` blocks."""

    mesh: Mesh | None = None
    abstract: AbstractMesh | None = None
    stack: tuple = ()


_state = _MeshState()
_ever_used = False
first_used: set[Callable[[], None]] = set()
"""Called when a mesh is in use for the first time in this process."""


def _use(mesh: Mesh | None, abstract: AbstractMesh | None) -> None:
    """Make these the meshes in use; what is traced and compiled depends on them."""
    global _ever_used
    _state.mesh, _state.abstract = mesh, abstract
    flags.mesh_in_context.set_for_thread(None if mesh is None and abstract is None else (mesh, abstract))
    if not _ever_used:
        _ever_used = True
        for call in first_used:
            call()


def ever_used() -> bool:
    """Whether a mesh was in use in this process. Where none was, new arrays need not ask for one."""
    return _ever_used


_latest: "weakref.WeakValueDictionary[AbstractMesh, Mesh]" = weakref.WeakValueDictionary()


def with_devices(mesh: Mesh | AbstractMesh) -> Mesh | None:
    """A mesh with devices of these axes: the one in use, else the last one whose abstract form was asked for, or None.

    The devices in use have other axes where a part of a program names them anew.
    """
    if isinstance(mesh, Mesh):
        return mesh
    here = _state.mesh
    if here is not None and here.shape_tuple == mesh.shape_tuple:
        return here if here.axis_types == mesh.axis_types else here.update(axis_types=mesh.axis_types)
    found = _latest.get(mesh)
    return found if found is not None or here is None or here.size != mesh.size else renamed(here, mesh)


def renamed(mesh: Mesh, like: Mesh | AbstractMesh) -> Mesh:
    """The devices of ``mesh``, in their order, with the axes of ``like``, which has as many."""
    return Mesh(mesh.devices.reshape(like.axis_sizes), like.axis_names, like.axis_types)


def get_mesh() -> Mesh:
    """The mesh set by `set_mesh` (an empty one if none is).

    >>> with jax.set_mesh(jax.make_mesh((1,), ('x',))):
    ...     dict(jax.get_mesh().shape)
    {'x': 1}
    """
    return _state.mesh if _state.mesh is not None and _state.abstract is not None else EMPTY_MESH


def current_mesh() -> Mesh | None:
    """The mesh of the innermost ``with mesh:`` or `set_mesh`, or None."""
    return _state.mesh


def block_mesh() -> Mesh | None:
    """The mesh of the innermost ``with mesh:``; None where `set_mesh` is in force, or there is none."""
    return _state.mesh if _state.abstract is None else None


def set_block_mesh(mesh: Mesh | None) -> None:
    """From now on this thread is inside of ``with mesh:``, or of no block."""
    _use(mesh, None)


def get_abstract_mesh() -> AbstractMesh:
    """The abstract mesh in use (an empty one if there is none).

    >>> jax.sharding.get_abstract_mesh().empty
    True
    """
    return EMPTY_ABSTRACT_MESH if _state.abstract is None else _state.abstract


class set_mesh:
    """Make ``mesh`` the mesh in use, from now on or, as a context manager, inside a block.

    >>> mesh = jax.make_mesh((1,), ("data",), devices=jax.devices()[:1])
    >>> with jax.set_mesh(mesh):
    ...     print(jax.device_put(jnp.ones(2), jax.P("data")).sharding.spec)
    P('data',)
    """

    prev_mesh: Any
    prev_abstract_mesh: Any

    def __init__(self, mesh: Mesh | None):
        if mesh is not None and not isinstance(mesh, Mesh):
            raise ValueError(f"set_mesh: expected a jax.sharding.Mesh, or None for no mesh, got {mesh!r} of type {type(mesh).__name__}")
        if tracing():
            raise ValueError("set_mesh: a program that is being traced cannot set the mesh that it runs on; set it around the call of jax.jit, or "
                             "inside it use jax.sharding.use_abstract_mesh.")
        self.prev_mesh, self.prev_abstract_mesh = _state.mesh, _state.abstract
        _use(mesh, None if mesh is None else mesh.abstract_mesh)

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        _use(self.prev_mesh, self.prev_abstract_mesh)


class use_abstract_mesh:
    """Make ``mesh`` the abstract mesh in use inside a block.

    >>> with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((4,), ("data",))):
    ...     print(jax.sharding.get_abstract_mesh().size)
    4
    """

    mesh: Any
    prev: Any

    def __init__(self, mesh: AbstractMesh):
        if not isinstance(mesh, AbstractMesh):
            raise ValueError(f"use_abstract_mesh: expected an AbstractMesh, got {mesh!r} of type {type(mesh).__name__}")
        self.mesh = mesh

    def __enter__(self):
        self.prev = _state.abstract
        _use(_state.mesh, self.mesh)
        return self.mesh

    def __exit__(self, *exc):
        _use(_state.mesh, self.prev)


def meshes_in_use() -> tuple:
    """The meshes in use, for `UseMeshes`."""
    return _state.mesh, _state.abstract


class UseMeshes:
    """Inside this context the meshes in use are those that `meshes_in_use` gave before."""

    __slots__ = ("meshes", "before")

    def __init__(self, meshes: tuple):
        self.meshes = meshes

    def __enter__(self) -> None:
        self.before = meshes_in_use()
        _use(*self.meshes)

    def __exit__(self, *exc: object) -> None:
        _use(*self.before)


class manual_in:
    """Inside this context axes of ``mesh`` are manual: the code of a manual region is being traced."""

    def __init__(self, mesh: Mesh | AbstractMesh, manual: Sequence[Any]):
        self.mesh = mesh
        before = _state.abstract if _state.abstract is not None and _state.abstract.shape_tuple == mesh.shape_tuple else None
        kinds = mesh.abstract_mesh if before is None else before
        self.abstract = kinds.update_axis_types(dict.fromkeys(manual, AxisType.Manual))

    def __enter__(self):
        self.before = _state.mesh, _state.abstract
        _use(self.mesh if isinstance(self.mesh, Mesh) else _state.mesh, self.abstract)

    def __exit__(self, *exc):
        _use(*self.before)


def lengths(function: str, argument: str, given: Sequence[Any]) -> tuple[int, ...]:
    """The lengths of a mesh's axes. Raises ValueError where one is not an integer."""
    try:
        return tuple(operator.index(n) for n in given)
    except TypeError:
        raise ValueError(f"{function}: `{argument}` should be a sequence of ints, got {given!r}") from None


def make_mesh(axis_sizes: Sequence[int], axis_names: Sequence[str] | str,
              axis_types: Sequence[AxisType] | AxisType | None = None, *, devices: Sequence[DeviceLike] | None = None) -> Mesh:
    """A mesh of the given shape over the first devices.

    Args:
      axis_sizes: length of each axis.
      axis_names: name of each axis; of one axis, also the name itself.
      axis_types: kind of each axis; default all ``Explicit``.
      devices: the devices to use; default all of the default platform.

    Raises:
      TypeError: ``axis_types`` holds something else than an `AxisType`.
      ValueError: there are fewer devices than the mesh has places, or a length is not positive.

    >>> jax.make_mesh((1,), ('x',)).axis_names
    ('x',)
    """
    devices = list(client.devices() if devices is None else devices)
    sizes, names = lengths("make_mesh", "axis_sizes", axis_sizes), (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    needed = math.prod(sizes)
    if len(devices) < needed:
        raise ValueError(f"make_mesh: a mesh of shape {sizes} needs {needed} devices, and there are {len(devices)}; on the "
                         "CPU more can be had with the option jax_num_cpu_devices, set before the first use")
    grid = np.empty(needed, dtype=object)
    grid[:] = devices[:needed]
    return Mesh(grid.reshape(sizes), names, _types_of_axes(names, axis_types, AxisType.Explicit, "make_mesh"))
