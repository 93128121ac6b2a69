"""`custom_partitioning`: a function that says how it runs on parts of its arguments.

In a program for several devices it is one custom call. XLA's partitioner asks, while it compiles, with which placements
the call can run, and for the program that runs it on parts; the answers are the user's functions. On one device the function
itself is written in its place.

Source: XLA, `CustomCallPartitioner`, target ``CustomSPMDPartitioning``.
"""
from __future__ import annotations

import functools
import inspect
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

from jax_core.configuration import flags
from jax_core.interfaces import LowerSpec
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray, ShapeDtypeStruct, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr
from jax_core.representation.primitive import Primitive, ProgramPrimitive, none
from jax_core.representation.source import describe_function
from jax_core.traces.staging import trace_to_closed, trace_to_jaxpr
from jax_core.transformations import manual
from jax_core.transformations.manual import AxisEnv

from ...jaxlib_compat import HloSharding, _jax
from ...lowering.module import lower_module
from ...lowering.outside_calls import quoted
from ...lowering.sharding_rules import SdyShardingRule, parse_rule
from ...lowering.values import new_value
from ...placement.mesh import Mesh
from ...placement.sharding import Sharding, from_hlo
from ...platforms import plugins

if TYPE_CHECKING:
    from jax_core.representation.tree import PyTreeDef
    from jax_core.representation.typing import PyTree

    from ...lowering.builder import Builder
    from ...lowering.values import Value

_TARGET = "CustomSPMDPartitioning"
_calls: "weakref.WeakValueDictionary[bytes, _Call]" = weakref.WeakValueDictionary()
"""Calls in modules that are alive, by what their custom call carries."""


class custom_partitioning:
    """``fun`` with rules of its own for running on several devices; set them with `def_partition`.

    Args:
      fun: the function; it runs as it is on one device.
      static_argnums: arguments that are part of the program; the rules get them first.
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Sequence[int] = ()):
        functools.update_wrapper(self, fun)
        self.fun, self.static_argnums = fun, tuple(static_argnums)
        self.partition: Callable | None = None
        self.infer_sharding_from_operands: Callable | None = None
        self.propagate_user_sharding: Callable | None = None
        self.decode_shardings = True
        self.sharding_rule: Any = None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def def_partition(self, partition: Callable, infer_sharding_from_operands: Callable | None = None,
                      propagate_user_sharding: Callable | None = None, decode_shardings: bool = True,
                      sharding_rule: Callable[..., Any] | str | None = None, *, reduction_factors: Sequence[str] = (),
                      need_replication_factors: Sequence[str] = (), permutation_factors: Sequence[str] = (),
                      **factor_sizes: int) -> Callable:
        """Set the rules.

        Args:
          partition: ``partition(*static, mesh, arg_shapes, result_shape) -> (mesh, fun_on_parts, result shardings, arg
            shardings)``. The shapes are `jax.ShapeDtypeStruct`\\ s of whole arrays, with the placements that XLA
            would like; those returned are what ``fun_on_parts`` takes and gives. It may use collectives over the mesh axes.
          infer_sharding_from_operands: ``(*static, mesh, arg_shapes, result_shape) -> result shardings``; asked where Shardy is off.
          propagate_user_sharding: ``(*static, mesh, user_shape) -> sharding``; asked where Shardy is off.
          decode_shardings: placements are `NamedSharding`\\ s where the mesh can express them.
          sharding_rule: which dimensions belong together: a text such as ``"i k, k j -> i j"``, an `SdyShardingRule`, or a
            function ``(*static, mesh, arg types, result types)`` that returns one of these. Shardy needs it.
          reduction_factors, need_replication_factors, permutation_factors, factor_sizes: of a rule given as text.

        Returns:
          ``partition``, so that this can be a decorator.

        Raises:
          ValueError: the rule is not one. TypeError: it is neither a text, nor an `SdyShardingRule`, nor a callable.
        """
        settings = dict(reduction_factors=reduction_factors, need_replication_factors=need_replication_factors,
                        permutation_factors=permutation_factors, **factor_sizes)
        if isinstance(sharding_rule, str):
            rule: Any = parse_rule(sharding_rule, **cast(Any, settings))
        elif any(settings.values()):
            raise ValueError("def_partition: factors and their sizes belong to a sharding_rule that is a text; give them to "
                             "SdyShardingRule.")
        elif sharding_rule is not None and not callable(sharding_rule) and not isinstance(sharding_rule, SdyShardingRule):
            raise TypeError(f"def_partition: sharding_rule must be a str, an SdyShardingRule or a callable, got {sharding_rule!r} of type "
                            f"{type(sharding_rule).__name__}")
        else:
            rule = sharding_rule
        self.partition, self.infer_sharding_from_operands = partition, infer_sharding_from_operands
        self.propagate_user_sharding, self.decode_shardings = propagate_user_sharding, decode_shardings
        self.sharding_rule = rule
        return partition

    def __call__(self, *args: Any, **kwargs: Any):
        if self.partition is None:
            raise AttributeError(f"custom_partitioning: {describe_function(self.fun)} has no rules; set them with "
                                 f"{getattr(self, '__name__')}.def_partition(partition=..., sharding_rule=...)")
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        args = bound.args
        static = tuple(args[i] for i in self.static_argnums)
        flat, in_tree = tree.flatten(tuple(x for i, x in enumerate(args) if i not in self.static_argnums))
        out_tree: list = []

        def on_leaves(*leaves):
            given = iter(tree.unflatten(in_tree, leaves))
            outs, structure = tree.flatten(self.fun(*[args[i] if i in self.static_argnums else next(given) for i in range(len(args))]))
            out_tree[:] = [structure]
            return outs
        closed, consts = trace_to_closed(on_leaves, [get_aval(x) for x in flat])
        if consts:
            raise TypeError(f"custom_partitioning: {describe_function(self.fun)} closes over arrays or traced values; pass them as "
                            "arguments, so that the rules can place them.")
        outs = custom_partitioning_p.bind(*flat, call=closed, owner=self, static_args=static, in_tree=in_tree, out_tree=out_tree[0])
        return tree.unflatten(out_tree[0], outs)


# -- the primitive ---------------------------------------------------------------------------------------------------

def lower(b: Builder, *xs: Value, call: ClosedJaxpr, owner: custom_partitioning, static_args: tuple, in_tree: PyTreeDef,
          out_tree: PyTreeDef) -> list[Value]:
    """The lowering rule."""
    placements = b.module.shardings
    if placements.devices == 1 or b.module.axis_env is not None:
        return b.jaxpr(call, *xs)
    grid = placements.grid
    if grid is None:
        raise NotImplementedError(f"custom_partitioning: the arguments of {describe_function(owner.fun)} are on several devices, but "
                                  "on no mesh; place them with a NamedSharding.")
    question = _Call(owner, call, static_args, in_tree, out_tree, grid, b.platform)
    b.module.keep_alive.append(question)
    return _emit(b, xs, question, _rule_text(owner, call, static_args, in_tree, out_tree, grid))


def _emit(b, xs, question, rule):
    _register()
    outs = question.call.out_avals
    extra = f", sdy.sharding_rule = {rule}" if rule else ""
    found = b.emit(f"stablehlo.custom_call @{_TARGET}({', '.join(xs)})", *xs, out=list(outs),
                   attrs=f"{{api_version = 2 : i32, backend_config = {quoted(question.name.decode())}{extra}}}")
    return [new_value(x, a) for x, a in zip(found, outs)]


def _rule_text(owner, call, static, in_tree, out_tree, grid) -> str:
    if not flags.use_shardy_partitioner.value:
        return ""
    rule = owner.sharding_rule
    if rule is None:
        if owner.infer_sharding_from_operands is not None or owner.propagate_user_sharding is not None:
            raise NotImplementedError(f"custom_partitioning: {describe_function(owner.fun)} has no sharding_rule; Shardy is used, which "
                                      "does not ask infer_sharding_from_operands or propagate_user_sharding. Give def_partition a "
                                      "sharding_rule.")
        return ""
    if callable(rule):
        rule = rule(*static, grid, tree.unflatten(in_tree, call.in_avals), tree.unflatten(out_tree, call.out_avals))
        rule = parse_rule(rule) if isinstance(rule, str) else rule
        if not isinstance(rule, SdyShardingRule):
            raise ValueError(f"custom_partitioning: the sharding_rule of {describe_function(owner.fun)} returned {rule!r} of type "
                             f"{type(rule).__name__}; it must return an SdyShardingRule, or a text such as 'i j -> i j'")
    return rule.attribute([a.shape for a in call.in_avals], [a.shape for a in call.out_avals])


custom_partitioning_p = ProgramPrimitive(
    "custom_partitioning",
    out_type=lambda *avals, call, **_: call.out_avals,
    jvp=none("custom_partitioning has no derivative rule; give the function one with jax.custom_vjp or jax.custom_jvp"),
    transpose=none("custom_partitioning is not linear"),
    batch=none("custom_partitioning has no batching rule; give the function one with jax.custom_batching.custom_vmap"),
    lower=lower,
    linearize=none("it has no derivative rule"), split=none("it is one operation to the partitioner"),
    dce=none("the partition rule gives all results"), discharge=none("each device runs it on parts"),
    program="call")


# -- what XLA asks ---------------------------------------------------------------------------------------------------

class _Call:
    """One custom call of one module: answers the partitioner's questions."""

    def __init__(self, owner: custom_partitioning, call: ClosedJaxpr, static: tuple, in_tree: Any, out_tree: Any,
                 mesh: Mesh, platform: str):
        self.owner, self.call, self.static, self.mesh, self.platform = owner, call, static, mesh, platform
        self.in_tree, self.out_tree = in_tree, out_tree
        self.name = str(id(self)).encode()
        _calls[self.name] = self

    def shapes(self, structure: PyTreeDef, avals, shardings):
        """A tree of `ShapeDtypeStruct`s with these placements."""
        leaves = [ShapeDtypeStruct(a.shape, a.dtype, sharding=self.decoded(s, len(a.shape))) for a, s in zip(avals, shardings)]
        return tree.unflatten(structure, leaves)

    def decoded(self, hlo: HloSharding | None, ndim: int) -> Any:
        if hlo is None or not self.owner.decode_shardings:
            return hlo
        return from_hlo(hlo, self.mesh._internal_device_list, self.mesh, ndim)

    def encoded(self, structure: PyTreeDef, avals: Sequence[ShapedArray], shardings: object) -> list[HloSharding]:
        """XLA's forms of a tree of placements."""
        flat = tree.broadcast_prefix(shardings, tree.unflatten(structure, [0] * len(avals)),
                                     is_leaf=lambda s: isinstance(s, (Sharding, HloSharding)))
        return [s if isinstance(s, HloSharding) else s._to_xla_hlo_sharding(len(a.shape)) for s, a in zip(flat, avals)]

    def results(self, hlo: Any) -> list:
        """The placement of each result; XLA has one for all of them together."""
        count = len(self.call.out_avals)
        if hlo is None:
            return [None] * count
        return list(hlo.tuple_elements()) if count != 1 else [hlo]

    @staticmethod
    def joined(shape: Sequence[int], shardings: Sequence[HloSharding]) -> HloSharding:
        """One placement for all results, whose type for XLA is ``shape``; the opposite of `results`."""
        return shardings[0] if len(shardings) == 1 else HloSharding.tuple_sharding(shape, list(shardings))

    def part_avals(self, avals, shardings) -> list[ShapedArray]:
        """The types of parts."""
        found = []
        for aval, hlo in zip(avals, shardings):
            tiles = [1] * len(aval.shape)
            if hlo.is_tiled() and not hlo.is_replicated():
                tiles = list(hlo.tile_assignment_dimensions())[:len(aval.shape)]
            found.append(ShapedArray([n // t for n, t in zip(aval.shape, tiles)], aval.dtype, aval.weak_type))
        return found

    def partition(self, arg_shardings, result_sharding):
        """The module that runs on parts, and the placements of its operands and results."""
        ins, outs = self.call.in_avals, self.call.out_avals
        args = self.shapes(self.in_tree, ins, arg_shardings)
        results = self.shapes(self.out_tree, outs, self.results(result_sharding))
        mesh, fun, result_places, arg_places = self.owner.partition(*self.static, self.mesh, args, results)
        arg_hlo = self.encoded(self.in_tree, ins, arg_places)
        result_hlo = self.encoded(self.out_tree, outs, result_places)
        mesh = mesh if isinstance(mesh, Mesh) else self.mesh
        closed = self.traced(fun, mesh, self.part_avals(ins, arg_hlo), self.part_avals(outs, result_hlo))
        return closed, mesh, arg_hlo, result_hlo

    def traced(self, fun: Callable[..., PyTree], mesh, in_avals, out_avals) -> ClosedJaxpr:
        def on_leaves(*leaves):
            return tree.leaves(fun(*tree.unflatten(self.in_tree, leaves)))
        with manual.region(dict(mesh.shape), checked=False):
            jaxpr, consts, found = trace_to_jaxpr(on_leaves, in_avals)
        for i, (have, want) in enumerate(zip(found, out_avals)):
            if (have.shape, have.dtype) != (want.shape, want.dtype):
                raise TypeError(f"custom_partitioning: the function on parts that the partition rule of {describe_function(self.owner.fun)} "
                                f"returned gives {have.str_short()} as result {i}; its placement says {want.str_short()}.")
        return ClosedJaxpr(jaxpr, consts)


def _on_parts_lower(b, *xs, jaxpr, mesh):
    before, b.module.axis_env = b.module.axis_env, AxisEnv(mesh.axis_names, mesh.axis_sizes)
    try:
        return b.jaxpr(jaxpr, *xs)
    finally:
        b.module.axis_env = before


_on_parts_p = Primitive(
    "on_parts", multiple_results=True, cacheable=False, out_type=lambda *avals, jaxpr, mesh: jaxpr.out_avals, jvp=none("lowered only"),
    transpose=none("lowered only"), batch=none("lowered only"), lower=_on_parts_lower)


def _partition(arg_shapes, arg_shardings, result_shape, result_sharding, backend_string):
    question = _calls[bytes(backend_string)]
    closed, mesh, arg_hlo, result_hlo = question.partition(arg_shardings, result_sharding)
    jaxpr, consts, _ = trace_to_jaxpr(lambda *xs: _on_parts_p.bind(*xs, jaxpr=closed, mesh=mesh), closed.in_avals)
    module = lower_module(ClosedJaxpr(jaxpr, consts), LowerSpec("custom_partitioning", keep_unused=True), platform=question.platform)
    if module.facts.consts:
        raise TypeError(f"custom_partitioning: the function on parts of {describe_function(question.owner.fun)} closes over large arrays; "
                        "pass them as arguments.")
    return module.text().encode(), arg_hlo, question.joined(result_shape, result_hlo)


def _infer(arg_shapes, arg_shardings, result_shape, backend_string):
    question = _calls[bytes(backend_string)]
    ins, outs = question.call.in_avals, question.call.out_avals
    if question.owner.infer_sharding_from_operands is None:
        return HloSharding.replicate()
    args = question.shapes(question.in_tree, ins, arg_shardings)
    results = question.shapes(question.out_tree, outs, question.results(None))
    places = question.owner.infer_sharding_from_operands(*question.static, question.mesh, args, results)
    return question.joined(result_shape, question.encoded(question.out_tree, outs, places))


def _propagate(sharding, shape, backend_string):
    question = _calls[bytes(backend_string)]
    if question.owner.propagate_user_sharding is None:
        return sharding
    outs = question.call.out_avals
    user = question.shapes(question.out_tree, outs, question.results(sharding))
    places = question.owner.propagate_user_sharding(*question.static, question.mesh, user)
    return question.joined(shape, question.encoded(question.out_tree, outs, places))


@functools.cache
def _register() -> None:
    """Tell XLA whom to ask; once."""
    def tell(*api: object) -> None:
        _jax.register_custom_call_partitioner(_TARGET, _propagate, _partition, _infer, True, *api)
    tell()
    plugins.tell_each(tell)


__all__ = ["custom_partitioning", "custom_partitioning_p"]
