"""The public functions and classes of this package, under the names that users of JAX know."""
from __future__ import annotations

import os
import platform
import sys

import numpy as np

from jax_core import versions
from jax_core.representation.memory import Space

from . import load

backend = load()

from .arrays.array import ArrayImpl, host_value, host_view  # noqa: E402
from .arrays.array_methods import Shard, _reconstruct_array as _reconstruct_array  # noqa: E402
from .arrays.device_put import block_until_ready, copy_to_host_async, device_get, device_put, live_arrays, reshard  # noqa: E402
from .arrays.dlpack import from_dlpack, is_supported_dtype  # noqa: E402
from .arrays.from_parts import (  # noqa: E402
    device_put_replicated,
    device_put_sharded,
    make_array_from_callback,
    make_array_from_process_local_data,
    make_array_from_single_device_arrays,
)
from .jaxlib_compat import VERSION_TEXT  # noqa: E402
from .placement.layout import Format, Layout  # noqa: E402
from .placement.mesh import (  # noqa: E402
    AbstractDevice,
    AbstractMesh,
    AxisType,
    Mesh,
    get_abstract_mesh,
    get_mesh,
    make_mesh,
    set_mesh,
    use_abstract_mesh,
)
from .placement.partition_spec import PartitionSpec  # noqa: E402
from .placement.sharding import (  # noqa: E402
    GSPMDSharding,
    IndivisibleError,
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    make_single_device_sharding,
)
from .platforms.client import (  # noqa: E402
    Device,
    default_backend,
    device_count,
    devices,
    host_id,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from .platforms.plugins import register_plugin  # noqa: E402
from .running.tokens import effects_barrier  # noqa: E402

P = PartitionSpec
clear_caches = backend.clear_caches
host_count = process_count
host_ids = process_indices


def print_environment_info(return_string: bool = False) -> str | None:
    """Versions, devices and the environment variables of JAX and XLA, for bug reports.

    Args:
      return_string: return the text instead of printing it.

    >>> text = jax.print_environment_info(return_string=True)
    >>> [line.partition(':')[0] for line in text.splitlines()][:4]
    ['jax-core', 'jax-numpy-api', 'jax-random', 'jax-callbacks']
    """
    text = "\n".join([
        *(f"{part + ':':<7} {version}" for part, version in versions.of_all_parts().items()), f"jaxlib: {VERSION_TEXT}", f"numpy:  {np.__version__}",
        f"python: {sys.version}", f"device info: {devices()[0].device_kind}-{device_count()}, {local_device_count()} local "
        "devices", f"process_count: {process_count()}", f"platform: {platform.uname()}",
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(("JAX_", "XLA_")))])
    if return_string:
        return text
    print(text)
    return None


__all__ = [
    "AbstractDevice", "AbstractMesh", "ArrayImpl", "AxisType", "Device", "Format", "GSPMDSharding", "IndivisibleError",
    "Layout", "Mesh", "NamedSharding", "P", "PartitionSpec", "Shard", "Sharding", "SingleDeviceSharding", "Space",
    "block_until_ready", "clear_caches", "copy_to_host_async", "default_backend", "device_count", "device_get",
    "device_put", "device_put_replicated", "device_put_sharded", "devices", "effects_barrier", "from_dlpack",
    "get_abstract_mesh", "get_mesh", "host_count", "host_id", "host_ids", "host_value", "host_view",
    "is_supported_dtype", "live_arrays", "local_device_count", "local_devices", "make_array_from_callback",
    "make_array_from_process_local_data", "make_array_from_single_device_arrays", "make_mesh",
    "make_single_device_sharding", "print_environment_info", "process_count", "process_index", "process_indices",
    "register_plugin", "reshard", "set_mesh", "use_abstract_mesh",
]
