"""`jax.experimental.colocated_python`: Python functions that run beside the devices of their arguments.

The devices that a process can address are beside it, so a function runs in the process that calls it; what is left is to say on
which devices, and to put the results there.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import tree
from jax_core.representation.typing import PyTree

from ..arrays.device_put import device_put
from ..jaxlib_compat import _jax
from ..placement.mesh import Mesh
from ..platforms import client

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike

DeviceList = _jax.DeviceList


def colocated_cpu_devices(devices_or_mesh: Sequence[Any] | Mesh) -> list | Mesh:
    """The CPU devices beside ``devices_or_mesh``: a list of devices, or a mesh of the same axes.

    Raises:
      ValueError: the process of a device has fewer CPU devices than devices.

    >>> from jax.experimental import colocated_python
    >>> colocated_python.colocated_cpu_devices(jax.devices()[:1])
    [CpuDevice(id=0)]
    """
    if isinstance(devices_or_mesh, Mesh):
        beside = colocated_cpu_devices(tuple(devices_or_mesh.devices.flat))
        shaped = np.array(beside, dtype=object).reshape(devices_or_mesh.devices.shape)
        return Mesh(shaped, devices_or_mesh.axis_names, axis_types=devices_or_mesh.axis_types)
    return list(map(_beside, devices_or_mesh))


def _beside(device: Any) -> Any:
    if device.platform == "cpu":
        return device
    process = device.process_index
    position = client.local_devices(process, backend=device.client).index(device)
    available = client.local_devices(process, backend="cpu")
    if position >= len(available):
        raise ValueError(f"colocated_cpu_devices: process {process} has {len(available)} CPU devices, too few for one beside {device}; "
                         "set jax_num_cpu_devices to the number of its devices")
    return available[position]


def colocated_python(fun: Callable[..., PyTree]) -> Callable[..., Any]:
    """``fun``, run beside the devices of its arguments. ``specialize`` fixes what is otherwise taken from a call.

    >>> from jax.experimental import colocated_python
    >>> colocated_python.colocated_python(lambda x: x + 1)(jnp.arange(3))
    Array([1, 2, 3], dtype=int32)
    """
    return _specialized(fun, None, None, None)


def _specialized(fun, in_specs, out_specs_fn, devices):
    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        if devices is None and not leaves:
            raise ValueError("colocated_python: a function called without arrays does not say where it runs; give it devices with "
                             "specialize(devices=...)")
        if in_specs is not None:
            _check("argument", leaves, tree.leaves(in_specs))
        result = fun(*args, **kwargs)
        if out_specs_fn is None:
            return tree.map(lambda x: device_put(x, devices[0]) if devices and isinstance(x, np.ndarray) else x, result)
        specs = tree.leaves(out_specs_fn(*args, **kwargs))
        values, structure = tree.flatten(result)
        _check("result", values, specs)
        return tree.unflatten(structure, [device_put(x, s.sharding) for x, s in zip(values, specs)])

    def specialize(in_specs: PyTree = in_specs, out_specs_fn: Callable[..., object] | None = out_specs_fn,
                   devices: Sequence[DeviceLike] | None = devices) -> Callable[..., Any]:
        """The same with types of its arguments, a function that gives the types of the results, or devices."""
        return _specialized(fun, in_specs, out_specs_fn, None if devices is None else tuple(devices))
    call.specialize = specialize
    return call


def _check(what, values, specs):
    got = [(np.shape(x), np.dtype(x.dtype) if hasattr(x, "dtype") else None) for x in values]
    wanted = [(tuple(s.shape), np.dtype(s.dtype)) for s in specs]
    if got != wanted:
        raise ValueError(f"colocated_python: the {what}s have the types {got}, and {wanted} were told")


def colocated_python_class(cls: type) -> type:
    """``cls``, whose objects live beside the devices that their methods' arguments are on: in this process.

    >>> from jax.experimental import colocated_python
    >>> @colocated_python.colocated_python_class
    ... class Counter:
    ...     def __init__(self):
    ...         self.seen = 0
    ...     def add(self, x):
    ...         self.seen += 1
    ...         return x + self.seen
    >>> Counter().add(jnp.zeros(2))
    Array([1., 1.], dtype=float32)
    """
    return cls


__all__ = ["DeviceList", "colocated_cpu_devices", "colocated_python", "colocated_python_class"]
