"""Moving values between the processes of a program: `jax.experimental.multihost_utils`.

All of it is one trick: each process puts its value on its own devices as one part of an array whose first axis is split
over processes, and XLA moves the parts. Every process must make the same calls in the same order.
"""
from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from jax_core import tree
from jax_core.jit import jit

from . import client, put
from .array import ArrayImpl
from .mesh import AxisType, Mesh
from .partition_spec import PartitionSpec
from .sharding import NamedSharding


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
    return put.make_array_from_callback((client.process_count(), *x.shape), split, lambda _: x[None])


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes, in every process, as NumPy arrays.

    Args:
      in_tree: a tree of arrays, of the same shapes in every process. A global array is simply fetched.
      tiled: put the values one after the other along the first axis, instead of stacking them along a new one.
    """
    mesh = _process_mesh()

    def gather(x):
        if isinstance(x, ArrayImpl) and not x.is_fully_addressable:
            grid = x.sharding.mesh if isinstance(x.sharding, NamedSharding) else mesh
            return np.asarray(_everywhere(x, grid))
        x = np.asarray(x)
        rows = x[None] if client.process_count() == 1 else np.asarray(_everywhere(_stack(x, mesh), mesh))
        return np.concatenate(list(rows)) if tiled and x.ndim else rows
    return tree.tree_map(gather, in_tree)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process, in every process.

    Args:
      in_tree: a tree of arrays, of the same shapes in every process.
      is_source: whether this process is the one; default process 0 is.
    """
    source = client.process_index() == 0 if is_source is None else is_source
    gathered = process_allgather((in_tree, np.array(bool(source))))
    chosen = int(np.argmax(gathered[1]))
    return tree.tree_map(lambda rows: rows[chosen], gathered[0])


def sync_global_devices(name: str) -> None:
    """Wait until every process has called this with the same ``name``.

    Raises:
      AssertionError: processes gave different names.
    """
    assert_equal(np.uint32(zlib.crc32(name.encode())), f"sync_global_devices: names differ ('{name}' here)")


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError unless ``in_tree`` has the same values in every process."""
    first = broadcast_one_to_all(in_tree)
    if not all(np.array_equal(a, b) for a, b in zip(tree.tree_leaves(in_tree), tree.tree_leaves(first))):
        raise AssertionError(f"{fail_message} Expected: {first}; got: {in_tree}.")


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Global arrays of which each process gives the part that its devices hold.

    Args:
      local_inputs: a tree of arrays.
      global_mesh: a mesh over all devices.
      pspecs: a `PartitionSpec`, or a tree of them that is a prefix of ``local_inputs``.
    """
    specs = tree.broadcast_prefix(pspecs, local_inputs, is_leaf=lambda p: isinstance(p, PartitionSpec))
    leaves, treedef = tree.tree_flatten(local_inputs)
    return tree.tree_unflatten(treedef, [
        put.make_array_from_process_local_data(NamedSharding(global_mesh, spec), np.asarray(x))
        for x, spec in zip(leaves, specs)])


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of global arrays that this process's devices hold, as arrays of this process alone.

    Args:
      global_inputs: a tree of global arrays.
      global_mesh: a mesh over all devices.
      pspecs: a `PartitionSpec`, or a tree of them that is a prefix of ``global_inputs``.
    """
    specs = tree.broadcast_prefix(pspecs, global_inputs, is_leaf=lambda p: isinstance(p, PartitionSpec))
    leaves, treedef = tree.tree_flatten(global_inputs)
    local_mesh = global_mesh.local_mesh

    def local(x, spec):
        x = put.device_put(x, NamedSharding(global_mesh, spec)) if x.is_fully_addressable else x
        if not global_mesh.is_multi_process:
            return x
        sharding = NamedSharding(local_mesh, spec)
        part = x.addressable_data(0).shape
        every = dict(zip(local_mesh.axis_names, local_mesh.axis_sizes))
        counts = [int(np.prod([every[a] for a in (e if isinstance(e, tuple) else (e,)) if a is not None] or [1]))
                  for e in (*spec, *[None] * (x.ndim - len(spec)))]
        shape = tuple(n * c for n, c in zip(part, counts))
        return put.make_array_from_single_device_arrays(shape, sharding, [s.data for s in x.addressable_shards])
    return tree.tree_unflatten(treedef, [local(x, spec) for x, spec in zip(leaves, specs)])
