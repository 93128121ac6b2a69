"""Types of `jax.experimental.multihost_utils`. Written by packages/jax/tools/make_stubs.py."""
from contextlib import AbstractContextManager
from jax import Array, Device, P
from jax.core import ShapedArray
from jax.sharding import Mesh
from jax.typing import ArrayLike
from typing import Any, Iterator, Sequence

class ProcessFailureError(RuntimeError):
    """Processes were lost while the others worked."""
    def __init__(self, failed_devices: Sequence[Any]) -> None: ...
    failed_devices: Any
def assert_equal(in_tree: Any, fail_message: str = '') -> None:
    """Raise AssertionError, in every process, unless ``in_tree`` has the same values in all of them."""
def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process, in every process."""
def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of global arrays that this process's devices hold, as arrays of this process alone."""
def global_array_to_host_local_array_impl(arr: ArrayLike, *, global_mesh: Mesh, pspec: P) -> Array:
    """What this process's devices hold of ``arr``."""
global_array_to_host_local_array_p: Any
def gtl_abstract_eval(arr: ShapedArray, *, global_mesh: Mesh, pspec: P) -> ShapedArray:
    """The type of what this process holds of the global array ``arr``."""
def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Global arrays of which each process gives the part that its devices hold."""
def host_local_array_to_global_array_impl(arr: ArrayLike, *, global_mesh: Mesh, pspec: P) -> Array:
    """The global array of which this process gives ``arr``."""
host_local_array_to_global_array_p: Any
def live_devices(devices: Sequence[Device]) -> AbstractContextManager[list[Any]]:
    """``with live_devices(devices) as live:`` those of ``devices`` whose processes are running, the same in all of them."""
def ltg_abstract_eval(arr: ShapedArray, *, global_mesh: Mesh, pspec: P) -> ShapedArray:
    """The type of the global array of which each process gives ``arr``."""
def ltg_batcher(insert_axis: bool, axis_data: Any, vals_in: Sequence[Any], dims_in: Sequence[Any], global_mesh: Mesh, pspec: P) -> tuple:
    """The batching rule of both primitives: the mapped axis is an axis more, spread as ``spmd_axis_name`` says."""
def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes, in every process, as NumPy arrays."""
def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether some process was told that it will be stopped, and this is the step at which all of them save their work."""
def sync_global_devices(name: str) -> None:
    """Wait until every process has called this with the same ``name``."""
