"""Types of `jax.lib.xla_bridge`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device
from typing import Any

def default_backend() -> str:
    """Name of the default platform: ``"cpu"``, ``"gpu"`` or ``"tpu"``."""
def device_count(backend: str | object | None = None) -> int:
    """Number of devices, of all processes together."""
def devices(backend: str | object | None = None) -> list[Device]:
    """All devices of a platform (of all processes), in the order of their ids."""
def get_backend(platform: str | None = None) -> Any:
    """The client of a platform (default: the default one)."""
def local_device_count(backend: str | object | None = None) -> int:
    """Number of devices of this process."""
def local_devices(process_index: int | None = None, backend: str | object | None = None, host_id: int | None = None) -> list[Device]:
    """The devices that belong to one process (default: to this one)."""
def process_count(backend: str | object | None = None) -> int:
    """Number of processes that run the program together."""
def process_index(backend: str | object | None = None) -> int:
    """Number of this process among the processes that run the program together."""
