"""Manual computations as text: the part of a program that every device runs on its own part of the arrays.

In Shardy it is one operation with a region, `sdy.manual_computation`. Where Shardy is off, the parts are cut out and put
together by pairs of custom calls that XLA's own partitioner knows, and the region's operations stand between them.

On a mesh of a single device the region is simply written out.

Source: Shardy dialect, `sdy.manual_computation`; XLA, `SPMDFullToShardShape` and `SPMDShardToFullShape`.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Sequence, final

from jax_core.configuration import flags
from jax_core.representation.aval import AbstractValue, ShapedArray, abstract_token
from jax_core.representation.effects import ordered_effects
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.partial_sums import NOTHING, Sums
from jax_core.transformations.manual import AxisEnv

from ..jaxlib_compat import GROUPS_BY_AXES
from ..placement.hlo_shardings import hlo_of, unreduced_text
from ..placement.partition_spec import PartitionSpec
from ..placement.sharding import NamedSharding
from .outside_calls import quoted
from .types import physical_aval
from .values import Value, new_value

if TYPE_CHECKING:
    from jax_core.representation.typing import AxisName

    from ..placement.mesh import AbstractMesh, Mesh
    from .builder import Builder


@final
class Stacked:
    """A part of an array that has an axis of its own in front, over which the parts are stacked.

    Values that one program leaves for another (residuals) are of this kind: they may be scalars, and have no other place.

    Args:
      axes: mesh axes that the new axis is split over.
      rest: how the other axes are split.
      sums: what its type says of sums that are still to be made; their addends are stacked too.
    """

    __slots__ = ("axes", "rest", "sums")

    def __init__(self, axes: tuple, rest: PartitionSpec | None = None, sums: Sums = NOTHING):
        self.axes, self.rest, self.sums = axes, PartitionSpec() if rest is None else rest, sums

    @property
    def whole(self) -> PartitionSpec:
        """The spec of the array with the new axis."""
        return PartitionSpec(self.axes, *self.rest)

    def __eq__(self, other):
        return type(other) is Stacked and (self.axes, self.rest, self.sums) == (other.axes, other.rest, other.sums)

    def __hash__(self):
        return hash((Stacked, self.axes, self.rest, self.sums))

    def __repr__(self):
        return f"Stacked({self.axes}, {self.rest})"


_ARGUMENTS = re.compile(r"\{\n  \^bb0\((.*)\):\n")


def _computation(b: Builder, xs: Sequence[Value], region: str, ins: str, outs: str, axes: str, out: Sequence[AbstractValue]) -> list[Value]:
    """The operation, as Shardy prints it: with the region's arguments in front of it."""
    head = _ARGUMENTS.match(region)
    named, body = ("", region) if head is None else (head[1], "{\n" + region[head.end():])
    return b.emit(f"sdy.manual_computation({', '.join(xs)}) in_shardings=[{ins}] out_shardings=[{outs}] manual_axes={{{axes}}} ({named}) {body}",
                  *xs, out=out)


def whole_spec(spec: PartitionSpec | Stacked) -> PartitionSpec:
    """The spec of the array, for a spec of either kind."""
    return spec.whole if type(spec) is Stacked else spec


def manual_computation(b: Builder, xs: Sequence[Value], jaxpr: ClosedJaxpr, mesh: Mesh | AbstractMesh,
                       in_specs: Sequence[PartitionSpec | Stacked], out_specs: Sequence[PartitionSpec | Stacked],
                       manual: Sequence[AxisName]) -> list[Value]:
    """Write ``jaxpr``, a program on the parts, for the arrays ``xs``.

    Args:
      mesh: the mesh; every device of the module is one of its places.
      in_specs, out_specs: a `PartitionSpec` or `Stacked` for each operand and result.
      manual: the mesh axes that become manual.
    """
    writer = b.module
    outer = writer.axis_env
    everything = set(manual) | (outer.manual if outer is not None else set())
    rest = tuple(a for a in mesh.axis_names if a not in everything)
    if rest and all(mesh.shape[a] == 1 for a in rest):  # nothing is left to the compiler
        everything, rest = set(mesh.axis_names), ()
    single = mesh.size == 1
    inner = None if single or not rest else lambda b, emit, out: _all_manual(b, mesh, rest, emit, out)
    by_axes = GROUPS_BY_AXES and not single and flags.use_shardy_partitioner.value and flags.use_rgv3.value
    env = AxisEnv(mesh.axis_names, mesh.axis_sizes, not single, everything, inner,
                  b.module.shardings.mesh_symbol(mesh, True) if by_axes else None)

    # each device calls in order; devices do not wait for each other
    ordered = b.tokens(jaxpr.effects) if not single and flags.use_shardy_partitioner.value else []

    def body(b: Builder, *parts):
        writer.axis_env = env
        for (effect, _), token in zip(ordered, parts):
            b.set_token(effect, token)
        try:
            outs = b.jaxpr(jaxpr, *[_without_front(b, x, s, v.aval) for x, s, v in zip(parts[len(ordered):], in_specs, jaxpr.jaxpr.invars)])
        finally:
            writer.axis_env = outer
        return [b.token(effect) for effect, _ in ordered] + [_with_front(b, x, s) for x, s in zip(outs, out_specs)]

    if single:
        return body(b, *xs)
    writer.partitions = mesh.size
    xs = [b.physical(x) for x in xs]
    types = [_part_type(v.aval, s) for v, s in zip(jaxpr.jaxpr.invars, in_specs)]
    if not flags.use_shardy_partitioner.value:
        if ordered_effects(jaxpr.effects):
            raise NotImplementedError("shard_map: ordered effects on several devices need Shardy; set jax_use_shardy_partitioner, or make the "
                                      "callbacks unordered.")
        return _by_custom_calls(b, xs, types, body, mesh, in_specs, out_specs, everything if rest else mesh.axis_names)
    place = lambda specs, ranks: ", ".join([_sdy(b, mesh, s, n, rest) for s, n in zip(specs, ranks)])
    named = ", ".join(quoted(a) for a in mesh.axis_names if a in manual or (a in everything and outer is None))
    outs = [physical_aval(a) for a in b.out_avals]
    logical = list(b.out_avals)
    region = b.region([abstract_token] * len(ordered) + types, body, "sdy.return")
    sums = any([whole_spec(s).unreduced for s in (*in_specs, *out_specs)])  # the compiler asks to be told on both sides of the region
    pinned = lambda xs, specs: [b.emit(f"sdy.sharding_constraint {x} {_sdy(b, mesh, s, x.ndim, rest)}", x, out=x.aval)
                                for x, s in zip(xs, specs)] if sums else xs
    xs = [token for _, token in ordered] + pinned(xs, in_specs)
    whole = [PartitionSpec()] * len(ordered)
    found = _computation(b, xs, region, place([*whole, *in_specs], [len(x.aval.shape) for x in xs]),
                         place([*whole, *out_specs], [0] * len(ordered) + [a.ndim for a in outs]), named, [abstract_token] * len(ordered) + outs)
    for (effect, _), token in zip(ordered, found):
        b.set_token(effect, token)
    found = found[len(ordered):]
    return [new_value(x, a) for x, a in zip(pinned(found, out_specs), logical)]


def _part_type(aval: AbstractValue, spec: Any) -> AbstractValue:
    """The stored type of a part, with its own axis in front if it is stacked."""
    aval = physical_aval(aval)
    return ShapedArray((1, *aval.shape), aval.dtype) if type(spec) is Stacked else aval


def _without_front(b, x, spec, aval):
    if type(spec) is not Stacked:
        return b.logical(x, aval)
    return b.logical(b.reshape(b.physical(x), physical_aval(aval).shape), aval)


def _with_front(b, x, spec):
    x = b.physical(x)
    return b.reshape(x, (1, *x.aval.shape)) if type(spec) is Stacked else x


def _sdy(b, mesh, spec, ndim, rest) -> str:
    """``<@mesh, [{"x"}, {}]>``; where some axes are left to the compiler, it may split every dimension further."""
    entries = [*whole_spec(spec).partitions]
    entries += [None] * (ndim - len(entries))
    more = ["?"] if rest else []
    split = [[quoted(a) for a in (e if isinstance(e, tuple) else () if e is None else (e,))] for e in entries]
    return (f"<@{b.module.shardings.mesh_symbol(mesh)}, [{', '.join('{' + ', '.join(s + more) + '}' for s in split)}]"
            f"{unreduced_text(whole_spec(spec), mesh.axis_names)}>")


def _all_manual(b: Any, mesh: Any, rest: Sequence[Any], emit: Callable, out: ShapedArray) -> Value:
    """``emit(b)`` in a region where the axes ``rest`` are manual too; the result is equal along them."""
    if not flags.use_shardy_partitioner.value:
        raise NotImplementedError("shard_map over some of the axes of a mesh needs Shardy: the position along an axis "
                                  "(lax.axis_index) has no other form; set jax_use_shardy_partitioner.")
    axes = ", ".join(map(quoted, rest))
    region = b.region([], lambda b: [emit(b)], "sdy.return")
    return _computation(b, (), region, "", f"<@{b.module.shardings.mesh_symbol(mesh)}, []>", axes, [out])[0]


def _by_custom_calls(b, xs, types, body, mesh, in_specs: Sequence[PartitionSpec | Stacked],
                     out_specs: Sequence[PartitionSpec | Stacked], manual):
    """The form for XLA's own partitioner."""
    def hlo(spec: PartitionSpec | Stacked, ndim: int):
        return f"mhlo.sharding = {quoted(str(hlo_of(mesh, whole_spec(spec), ndim)))}"

    def by_hand(ndim: int):
        return f"mhlo.sharding = {quoted(str(hlo_of(mesh, PartitionSpec(), ndim, tuple(manual))))}"

    def call(target, x, out, attrs):
        return b.emit(f"stablehlo.custom_call @{target}({x})", x, out=out, attrs=f"{{{attrs}}}")
    logical = list(b.out_avals)
    parts = []
    for x, kind, spec in zip(xs, types, in_specs):
        x = call("Sharding", x, x.aval, hlo(spec, x.ndim))
        parts.append(call("SPMDFullToShardShape", x, kind, by_hand(x.ndim)))
    wholes = []
    for x, aval, spec in zip(body(b, *parts), logical, out_specs):
        x = call("Sharding", x, x.aval, by_hand(x.ndim))
        whole = call("SPMDShardToFullShape", x, physical_aval(aval), hlo(spec, x.ndim))
        wholes.append(new_value(whole, aval))
    return wholes


def placement(mesh: Mesh | AbstractMesh, spec: PartitionSpec | Stacked) -> NamedSharding:
    """The placement of an array outside of the region."""
    return NamedSharding(mesh, whole_spec(spec))
