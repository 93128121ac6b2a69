"""Types of `jax.experimental`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device
from jax.sharding import PartitionSpec, Sharding
from typing import Any, Callable
from jax.experimental import array_serialization as array_serialization
from jax.experimental import buffer_callback as buffer_callback
from jax.experimental import checkify as checkify
from jax.experimental import colocated_python as colocated_python
from jax.experimental import compilation_cache as compilation_cache
from jax.experimental import compute_on as compute_on
from jax.experimental import custom_partitioning as custom_partitioning
from jax.experimental import fused as fused
from jax.experimental import hijax as hijax
from jax.experimental import jet as jet
from jax.experimental import key_reuse as key_reuse
from jax.experimental import layout as layout
from jax.experimental import mesh_utils as mesh_utils
from jax.experimental import multihost_utils as multihost_utils
from jax.experimental import ode as ode
from jax.experimental import overlap as overlap
from jax.experimental import pallas as pallas
from jax.experimental import pjit as pjit
from jax.experimental import profiler as profiler
from jax.experimental import random as random
from jax.experimental import rnn as rnn
from jax.experimental import roofline as roofline
from jax.experimental import scheduling_groups as scheduling_groups
from jax.experimental import serialize_executable as serialize_executable
from jax.experimental import shard_map as shard_map
from jax.experimental import source_mapper as source_mapper
from jax.experimental import sparse as sparse
from jax.experimental import thunky as thunky
from jax.experimental import topologies as topologies
from jax.experimental import transfer as transfer
from jax.experimental import xla_metadata as xla_metadata

def io_callback(callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, sharding: Sharding | PartitionSpec | Device | None = None, ordered: bool = False, **kwargs: Any) -> Any:
    """Call a Python function with side effects from inside a program."""
def progress_bar(body: Callable[..., Any], length: int | None = None, *, desc: str | None = None, interval: float = 0.1, **options: Any) -> Callable[..., Any]:
    """``body`` for `scan`, `fori_loop`, `while_loop` or `map` with a tqdm bar that shows how far the loop is."""
