"""Types of `jax.experimental.colocated_python`. Written by packages/jax/tools/make_stubs.py."""
from jax.sharding import Mesh
from typing import Any, Callable, Sequence
from jax.experimental.colocated_python import func as func
from jax.experimental.colocated_python import serialization as serialization

def colocated_cpu_devices(devices_or_mesh: Sequence[Any] | Mesh) -> list | Mesh:
    """The CPU devices beside ``devices_or_mesh``: a list of devices, or a mesh of the same axes."""
def colocated_python(fun: Callable[..., Any]) -> Callable[..., Any]:
    """``fun``, run beside the devices of its arguments. ``specialize`` fixes what is otherwise taken from a call."""
def colocated_python_class(cls: type) -> type:
    """``cls``, whose objects live beside the devices that their methods' arguments are on: in this process."""
