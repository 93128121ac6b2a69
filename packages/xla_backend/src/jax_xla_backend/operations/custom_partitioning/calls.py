"""Calls of our own primitives that are split over devices as `custom_partitioning` splits those of users."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from jax_core.extension_points import CallOnParts
from jax_core.representation import tree
from jax_core.traces.staging import trace_to_closed

from ...placement.partition_spec import PartitionSpec
from ...placement.sharding import NamedSharding
from .api import custom_partitioning, lower

if TYPE_CHECKING:
    from jax_core.representation.aval import ShapeDtypeStruct

    from ...lowering.builder import Builder
    from ...lowering.values import Value
    from ...placement.mesh import Mesh


def on_parts(b: Builder, call: CallOnParts, operands: Sequence[Value]) -> list[Value] | None:
    """The results of the call, which the partitioner splits; None where it splits nothing."""
    placements = b.module.shardings
    if placements.devices == 1 or b.module.axis_env is not None or placements.grid is None:
        return None

    def partition(mesh: Mesh, args: Sequence[ShapeDtypeStruct], results: object):
        entries, fun = call.partition(dict(mesh.shape), [_entries(x) for x in args])
        places = [tuple(NamedSharding(mesh, PartitionSpec(*[entries.get(name) for name in names])) for names in arrays)
                  for arrays in (call.results, call.operands)]
        return mesh, fun, list(places[0]), places[1]
    owner = custom_partitioning(call.fun)
    text = " -> ".join(", ".join(map(" ".join, arrays)) for arrays in (call.operands, call.results))
    used = {name for names in (*call.operands, *call.results) for name in names}
    owner.def_partition(partition, sharding_rule=text, need_replication_factors=[x for x in call.whole if x in used])
    closed, _ = trace_to_closed(lambda *xs: list(call.fun(*xs)), [x.aval for x in operands])
    trees = tree.flatten(tuple(operands))[1], tree.flatten([0] * len(call.results))[1]
    return lower(b, *operands, call=closed, owner=owner, static_args=(), in_tree=trees[0], out_tree=trees[1])


def _entries(x: ShapeDtypeStruct) -> tuple:
    """What each axis is split over, as far as the mesh can express it."""
    if not isinstance(x.sharding, NamedSharding):
        return (None,) * len(x.shape)
    given = x.sharding.spec.partitions
    return (*given, *(None,) * (len(x.shape) - len(given)))
