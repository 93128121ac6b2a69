"""Moving values between the processes of a program: `jax.experimental.multihost_utils`.

All of it is one trick: each process puts its value on its own devices as one part of an array whose first axis is split
over processes, and XLA moves the parts. Every process must make the same calls in the same order.
"""
from __future__ import annotations

import contextlib
import math
import zlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import ArrayLike, PyTree

from ..arrays import from_parts
from ..arrays.array import ArrayImpl
from ..arrays.device_put import device_put
from ..arrays.put import put
from ..placement.mesh import AxisType, Mesh
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding
from ..platforms import client
from ..platforms.distributed_state import state

if TYPE_CHECKING:
    from jax_core.representation.typing import DeviceLike


def _process_mesh() -> Mesh:
    """A row of devices for each process."""
    devices = sorted(client.devices(), key=lambda d: (d.process_index, d.id))
    return Mesh(np.array(devices, dtype=object).reshape(client.process_count(), -1), ("processes", "local_devices"),
                (AxisType.Auto,) * 2)


def _everywhere(x: Any, mesh: Mesh) -> ArrayImpl:
    """``x``, a global array, with all of it on all devices."""
    return jit(lambda x: x, out_shardings=NamedSharding(mesh, PartitionSpec()))(x)


def _stack(x: np.ndarray, mesh: Mesh) -> ArrayImpl:
    """A global array whose i-th row is the ``x`` of process i."""
    split = NamedSharding(mesh, PartitionSpec("processes"))
    return from_parts.make_array_from_callback((client.process_count(), *x.shape), split, lambda _: x[None])


def process_allgather(in_tree: PyTree, tiled: bool = False) -> Any:
    """The values of all processes, in every process, as NumPy arrays.

    Args:
      in_tree: a tree of arrays, of the same shapes in every process. A global array is simply fetched, with ``tiled``.
      tiled: put the values one after the other along the first axis, instead of stacking them along a new one.

    Raises:
      ValueError: a global array, without ``tiled``.

    >>> from jax.experimental import multihost_utils
    >>> multihost_utils.process_allgather(np.arange(3))  # one process, so a stack of one
    array([[0, 1, 2]])
    """
    mesh = _process_mesh()

    def gather(x):
        if isinstance(x, ArrayImpl) and not x.is_fully_addressable:
            if not tiled:
                raise ValueError(f"process_allgather: an array of type {x.aval.str_short()} that lies on devices of several processes is one array, and there "
                                 "is nothing to stack; give tiled=True")
            grid = x.sharding.mesh if isinstance(x.sharding, NamedSharding) else mesh
            return np.asarray(_everywhere(x, grid))
        x = np.asarray(x)
        rows = x[None] if client.process_count() == 1 else np.asarray(_everywhere(_stack(x, mesh), mesh))
        return np.concatenate(list(rows)) if tiled and x.ndim else rows
    return tree.tree_map(gather, in_tree)


def broadcast_one_to_all(in_tree: PyTree, is_source: bool | None = None) -> Any:
    """The values of one process, in every process.

    Args:
      in_tree: a tree of arrays, of the same shapes in every process.
      is_source: whether this process is the one; default process 0 is.

    >>> from jax.experimental import multihost_utils
    >>> multihost_utils.broadcast_one_to_all({"seed": np.arange(2)})
    {'seed': array([0, 1])}
    """
    source = client.process_index() == 0 if is_source is None else is_source
    gathered = process_allgather((in_tree, np.array(bool(source))))
    chosen = int(np.argmax(gathered[1]))
    return tree.tree_map(lambda rows: np.asarray(rows[chosen], rows.dtype), gathered[0])


def sync_global_devices(name: str) -> None:
    """Wait until every process has called this with the same ``name``.

    Raises:
      AssertionError: processes gave different names.

    >>> from jax.experimental import multihost_utils
    >>> multihost_utils.sync_global_devices("all files are written")
    """
    assert_equal(np.uint32(zlib.crc32(name.encode())), f"sync_global_devices: names differ ('{name}' here)")


def assert_equal(in_tree: PyTree, fail_message: str = "") -> None:
    """Raise AssertionError, in every process, unless ``in_tree`` has the same values in all of them.

    Raises:
      AssertionError: the values differ.

    >>> from jax.experimental import multihost_utils
    >>> multihost_utils.assert_equal({"step": 3})  # says nothing: all processes have the same
    """
    if client.process_count() == 1:
        return
    every = process_allgather(in_tree)  # a process that did not hear of the others' values would wait for them later
    if not all(np.array_equal(row, rows[0]) for rows in tree.tree_leaves(every) for row in rows):
        raise AssertionError(f"{fail_message} Expected the same in all processes, which have {every}; got: {in_tree}.")


# -- between arrays of one process and global ones -------------------------------------------------------------------

def _whole_and_local(global_mesh: Mesh, spec: PartitionSpec, rank: int) -> list[int]:
    """For each axis, how many times longer the global array is than what one process holds."""
    def parts(mesh, entry: object):
        return math.prod(mesh.shape[a] for a in (entry if isinstance(entry, tuple) else (entry,)) if a is not None)
    entries = (*spec, *[None] * (rank - len(spec)))
    return [parts(global_mesh, e) // parts(global_mesh.local_mesh, e) for e in entries]


def ltg_abstract_eval(arr: ShapedArray, *, global_mesh: Mesh, pspec: PartitionSpec) -> ShapedArray:
    """The type of the global array of which each process gives ``arr``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> multihost_utils.ltg_abstract_eval(jax.core.get_aval(np.ones(4, np.float32)), global_mesh=mesh, pspec=jax.P("d"))
    ShapedArray(float32[4])
    """
    return arr.update(shape=tuple(n * k for n, k in zip(arr.shape, _whole_and_local(global_mesh, pspec, arr.ndim))))


def gtl_abstract_eval(arr: ShapedArray, *, global_mesh: Mesh, pspec: PartitionSpec) -> ShapedArray:
    """The type of what this process holds of the global array ``arr``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> multihost_utils.gtl_abstract_eval(jax.core.get_aval(np.ones(4, np.float32)), global_mesh=mesh, pspec=jax.P("d"))
    ShapedArray(float32[4])
    """
    return arr.update(shape=tuple(n // k for n, k in zip(arr.shape, _whole_and_local(global_mesh, pspec, arr.ndim))))


def host_local_array_to_global_array_impl(arr: ArrayLike, *, global_mesh: Mesh, pspec: PartitionSpec) -> ArrayImpl:
    """The global array of which this process gives ``arr``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> multihost_utils.host_local_array_to_global_array_impl(np.arange(4), global_mesh=mesh, pspec=jax.P("d")).sharding.spec
    P('d',)
    """
    if isinstance(arr, ArrayImpl) and not arr.is_fully_addressable:
        return arr
    return from_parts.make_array_from_process_local_data(NamedSharding(global_mesh, pspec), np.asarray(arr))


def global_array_to_host_local_array_impl(arr: ArrayLike, *, global_mesh: Mesh, pspec: PartitionSpec) -> ArrayImpl:
    """What this process's devices hold of ``arr``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> x = jax.device_put(jnp.arange(4), jax.NamedSharding(mesh, jax.P("d")))
    >>> multihost_utils.global_array_to_host_local_array_impl(x, global_mesh=mesh, pspec=jax.P("d"))
    Array([0, 1, 2, 3], dtype=int32)
    """
    given = arr if isinstance(arr, ArrayImpl) else put(arr)
    x = device_put(given, NamedSharding(global_mesh, pspec))
    if not global_mesh.is_multi_process:
        return x
    local_mesh = global_mesh.local_mesh
    every, part = local_mesh.shape, x.addressable_data(0).shape
    counts = [math.prod(every[a] for a in (e if isinstance(e, tuple) else (e,)) if a is not None)
              for e in (*pspec, *[None] * (x.ndim - len(pspec)))]
    shape = tuple(n * c for n, c in zip(part, counts))
    return from_parts.make_array_from_single_device_arrays(shape, NamedSharding(local_mesh, pspec), [s.data for s in x.addressable_shards])


def ltg_batcher(insert_axis: bool, axis_data: Any, vals_in: Sequence[Any], dims_in: Sequence[Any], global_mesh: Mesh,
                pspec: PartitionSpec) -> tuple:
    """The batching rule of both primitives: the mapped axis is an axis more, spread as ``spmd_axis_name`` says."""
    (x,), (d,) = vals_in, dims_in
    prim = host_local_array_to_global_array_p if insert_axis else global_array_to_host_local_array_p
    entries = [*pspec, *[None] * (d - len(pspec))]
    entries.insert(d, axis_data.spmd_name)
    return prim.bind(x, global_mesh=global_mesh, pspec=PartitionSpec(*entries)), d


def _not_lowered(b, x, **_):
    raise NotImplementedError("host_local_array_to_global_array and global_array_to_host_local_array move values between processes, so "
                              "they cannot be part of a jitted program; call them outside of jit.")


def _moving(name: str, out_type: Any, impl: Any, inserts: bool, back: Any) -> Primitive:
    return Primitive(
        name, out_type=out_type, impl=impl, jvp=LINEAR, lower=_not_lowered,
        transpose=lambda ct, x, *, global_mesh, pspec: back().bind(ct, global_mesh=global_mesh, pspec=pspec),
        batch=lambda axis, args, dims, *, global_mesh, pspec: ltg_batcher(inserts, axis, args, dims, global_mesh, pspec))


host_local_array_to_global_array_p = _moving(
    "host_local_array_to_global_array", ltg_abstract_eval, host_local_array_to_global_array_impl, True,
    lambda: global_array_to_host_local_array_p)
global_array_to_host_local_array_p: Primitive = _moving(
    "global_array_to_host_local_array", gtl_abstract_eval, global_array_to_host_local_array_impl, False,
    lambda: host_local_array_to_global_array_p)


def _moved(prim: Primitive, values: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    if not isinstance(global_mesh, Mesh):
        raise TypeError(f"{prim}: global_mesh must be a jax.sharding.Mesh, got {global_mesh!r} of type {type(global_mesh).__name__}")
    specs = tree.broadcast_prefix(pspecs, values, is_leaf=lambda p: p is None or isinstance(p, PartitionSpec))
    leaves, treedef = tree.tree_flatten(values)
    return tree.tree_unflatten(treedef, [
        prim.bind(x, global_mesh=global_mesh, pspec=PartitionSpec() if spec is None else spec) for x, spec in zip(leaves, specs)])


def host_local_array_to_global_array(local_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> Any:
    """Global arrays of which each process gives the part that its devices hold.

    Args:
      local_inputs: a tree of arrays.
      global_mesh: a mesh over all devices.
      pspecs: a `PartitionSpec`, or a tree of them that is a prefix of ``local_inputs``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> multihost_utils.host_local_array_to_global_array(np.arange(4), mesh, jax.P("d")).sharding.spec
    P('d',)
    """
    return _moved(host_local_array_to_global_array_p, local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs: PyTree, global_mesh: Mesh, pspecs: PyTree) -> Any:
    """The parts of global arrays that this process's devices hold, as arrays of this process alone.

    Args:
      global_inputs: a tree of global arrays.
      global_mesh: a mesh over all devices.
      pspecs: a `PartitionSpec`, or a tree of them that is a prefix of ``global_inputs``.

    >>> from jax.experimental import multihost_utils
    >>> mesh = jax.make_mesh((1,), ("d",))
    >>> x = jax.device_put(jnp.arange(4), jax.NamedSharding(mesh, jax.P("d")))
    >>> multihost_utils.global_array_to_host_local_array(x, mesh, jax.P("d"))
    Array([0, 1, 2, 3], dtype=int32)
    """
    return _moved(global_array_to_host_local_array_p, global_inputs, global_mesh, pspecs)


# -- processes that fail ---------------------------------------------------------------------------------------------

class ProcessFailureError(RuntimeError):
    """Processes were lost while the others worked.

    Attributes:
      failed_devices: the devices of those processes.
    """

    def __init__(self, failed_devices: Sequence[Any]):
        super().__init__(f"Failed devices: {list(failed_devices)}")
        self.failed_devices = failed_devices


@contextlib.contextmanager
def live_devices(devices: Sequence[DeviceLike]) -> Iterator[list[Any]]:
    """``with live_devices(devices) as live:`` those of ``devices`` whose processes are running, the same in all of them.

    Every process that runs enters and leaves the block.

    Raises:
      ProcessFailureError: at the end of the block, if processes were lost meanwhile.

    >>> from jax.experimental import multihost_utils
    >>> with multihost_utils.live_devices(jax.devices()[:1]) as live:
    ...     print(live)
    [CpuDevice(id=0)]
    """
    devices = list(devices)
    alive = _living(devices)
    live = [d for d in devices if d.process_index in alive]
    yield live
    after = _living(live)
    lost = [d for d in live if after.get(d.process_index) != alive[d.process_index]]
    if lost:
        raise ProcessFailureError(lost)


def _living(devices: Sequence[Any]) -> dict[int, int]:
    """The processes of these devices that run, and for each a number that changes when it is started again."""
    processes = sorted({d.process_index for d in devices})
    if state.client is None:
        return dict.fromkeys(processes, 0)
    return dict(state.client.get_live_nodes(processes))


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether some process was told that it will be stopped, and this is the step at which all of them save their work.

    Args:
      step_id: number of the step, the same in all processes, and growing.

    Raises:
      RuntimeError: the program is one of many processes, and was started with ``jax_enable_preemption_service`` off.

    In each step of a program of several processes; a program of one gets False:

    >>> from jax.experimental import multihost_utils
    >>> if multihost_utils.reached_preemption_sync_point(step):  # doctest: +SKIP
    ...     save(state)
    """
    manager = state.preemption_sync_manager
    if manager is None:
        if state.client is None:
            return False
        raise RuntimeError("Preemption sync manager has not been initialized: call jax.distributed.initialize in every process, with "
                           "jax_enable_preemption_service on.")
    return bool(manager.reached_sync_point(step_id))
