"""Types of `jax.experimental.mesh_utils`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Device
from typing import Any, Sequence

def create_device_mesh(mesh_shape: Sequence[int], devices: Sequence[Device] | None = None, *, contiguous_submeshes: bool = False, allow_split_physical_axes: bool = False) -> np.ndarray:
    """An array of devices for `Mesh`."""
def create_hybrid_device_mesh(mesh_shape: Sequence[int], dcn_mesh_shape: Sequence[int], devices: Sequence[Device] | None = None, *, process_is_granule: bool = False, should_sort_granules_by_key: bool = True, allow_split_physical_axes: bool = False) -> np.ndarray:
    """An array of devices for a `Mesh` whose axes cross slow connections as ``dcn_mesh_shape`` says."""
device_kind_handler_dict: dict
