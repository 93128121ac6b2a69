"""jax.experimental.roofline: what a program costs on an ideal machine, from its equations alone; nothing is run.

Counted are operations, bytes that travel to and from memory, the peak of live bytes, and bytes and hops between devices for
each mesh axis. "Unfused" numbers are those of all equations, each reading and writing memory; the others assume that
elementwise work is fused away, so that matrix products alone count.

A model of one's own for a primitive is added with `register_roofline`. Bytes between devices are those of ring algorithms:
Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH" (2005).
"""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, Literal
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Part
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.structural import add_any_p
from jax_core.transformations.autodiff import vjp as _vjp

from ..operations.shard_map.api import shard_map
from ..placement.mesh import AbstractMesh, Mesh

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue
    from jax_core.representation.typing import PyTree

ShapeDtypeStructTree = Any
Specs = Any
ValidRooflineDtype = np.dtype


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineShape:
    """Shape and dtype of an array, and the bytes that it takes."""

    shape: tuple[int, ...]
    dtype: Any

    size = property(lambda self: math.prod(self.shape))
    bytes = property(lambda self: math.prod(self.shape) * self.dtype.itemsize)

    @classmethod
    def from_aval(cls, aval: AbstractValue) -> "RooflineShape":
        """Of a type, or of an array."""
        return cls(shape=tuple(aval.shape), dtype=aval.dtype)

    @classmethod
    def total_bytes(cls, avals: Sequence[AbstractValue]) -> int:
        """The bytes of all together."""
        return sum(cls.from_aval(a).bytes for a in avals)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineRuleContext:
    """What a rule is told besides operands and parameters."""

    name_stack: Any
    primitive: Primitive
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineResult:
    """Costs; they add up, but for the peak, of which the larger counts.

    Attributes:
      flops: of matrix products. unfused_flops: of everything.
      hbm_bytes: to and from memory for matrix products. unfused_hbm_bytes: for everything.
      peak_hbm_bytes: the most bytes alive at once.
      ici_bytes, ici_latency: for each mesh axis, bytes sent by a device, and hops one after the other.
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict = dataclasses.field(default_factory=dict)
    ici_latency: dict = dataclasses.field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls) -> "RooflineResult":
        """No cost."""
        return cls()

    def __add__(self, other: "RooflineResult") -> "RooflineResult":
        """The cost of both, one after the other."""
        sums = {name: _sum(cost, getattr(other, name)) for name, cost in vars(self).items()}
        return RooflineResult(**sums | {"peak_hbm_bytes": max(self.peak_hbm_bytes, other.peak_hbm_bytes)})

    def __mul__(self, constant: int) -> "RooflineResult":
        """The cost of ``constant`` runs one after the other, which have the peak of one."""
        products = {name: _product(cost, constant) for name, cost in vars(self).items()}
        return RooflineResult(**products | {"peak_hbm_bytes": self.peak_hbm_bytes})

    __rmul__ = __mul__


def _sum(a: Any, b: Any) -> Any:
    return {axis: a.get(axis, 0) + b.get(axis, 0) for axis in a | b} if isinstance(a, dict) else a + b


def _product(cost: Any, constant: int) -> Any:
    return {axis: n * constant for axis, n in cost.items()} if isinstance(cost, dict) else cost * constant


# -- rules ---------------------------------------------------------------------------------------------------------------

_rules: dict[Primitive, Callable] = {}
"""``rule(ctx, *operands, **params) -> RooflineResult`` by primitive, as users register them."""


def register_roofline(prim: Primitive | str) -> Callable:
    """A decorator: the function ``rule(ctx, *operands, **params) -> RooflineResult`` says what ``prim`` costs.

    >>> from jax.experimental import roofline
    >>> from jax.extend.core import Primitive
    >>> my_p = Primitive("costly_of_roofline_example")
    >>> _ = my_p.def_abstract_eval(lambda x: x)
    >>> @roofline.register_roofline(my_p)
    ... def cost(ctx, x):
    ...     return roofline.RooflineResult(flops=100 * x.size)
    >>> roofline.roofline(my_p.bind)(jnp.ones(3))[1].flops
    300
    """
    def register(rule):
        _rules[prim] = rule
        return rule
    return register


def register_standard_roofline(prim: Primitive) -> None:
    """``prim`` costs nothing, as reshaping does.

    >>> from jax.experimental import roofline
    >>> from jax.extend.core import Primitive
    >>> free_p = Primitive("free_of_roofline_example")
    >>> _ = free_p.def_abstract_eval(lambda x: x)
    >>> roofline.register_standard_roofline(free_p)
    >>> roofline.roofline(free_p.bind)(jnp.ones(3))[1].flops
    0
    """
    _rules[prim] = lambda ctx, *operands, **params: RooflineResult.zeros()


register_standard_roofline(add_any_p)  # cotangents are added up where they are made


def _size(aval):
    return math.prod(aval.shape)


def _everything(ctx, flops):
    return RooflineResult(unfused_flops=int(flops),
                          unfused_hbm_bytes=RooflineShape.total_bytes(ctx.avals_in) + RooflineShape.total_bytes(ctx.avals_out))


def _elementwise(ctx, *operands, **params):
    return _everything(ctx, _size(ctx.avals_out[0]))


def _reduction(ctx, *operands, **params):
    return _everything(ctx, max(0, sum(map(_size, ctx.avals_in)) - sum(map(_size, ctx.avals_out))))


def _moved(ctx, *operands, **params):
    return _everything(ctx, 0)


def _matrix_product(ctx, *operands, dimension_numbers, **params):
    """Twice the products; both operands and the result travel, but for those pinned in fast memory."""
    lhs, out = ctx.avals_in[0], ctx.avals_out[0]
    flops = 2 * _size(out) * math.prod(lhs.shape[d] for d in dimension_numbers[0][0])
    sizes = RooflineShape.total_bytes
    travel = (0 if ctx.pin_lhs_in_vmem else sizes([lhs, out])) + (0 if ctx.pin_rhs_in_vmem else sizes([ctx.avals_in[1]]))
    return RooflineResult(flops=flops, unfused_flops=flops, hbm_bytes=travel, unfused_hbm_bytes=travel)


def _convolution(ctx, *operands, dimension_numbers, **params):
    """Twice the products of every window in full."""
    rhs, out = ctx.avals_in[1], ctx.avals_out[0]
    channels = rhs.shape[dimension_numbers.rhs_spec[0]]
    return _everything(ctx, 2 * _size(out) * (_size(rhs) // max(channels, 1)))


def _axes(params):
    names = params.get("axes", params.get("axis_name"))
    return [a for a in (names if isinstance(names, (tuple, list)) else (names,)) if isinstance(a, str)]


def _collective(share: Callable, hops: Callable) -> Callable:
    """``share(n)`` of the bytes of operand or result, whichever is larger, and ``hops(n)``, over an axis of length ``n``."""
    def rule(ctx, *operands, **params):
        size = max(RooflineShape.total_bytes(ctx.avals_in), RooflineShape.total_bytes(ctx.avals_out))
        lengths = dict(ctx.mesh.shape) if ctx.mesh is not None else {}
        axes = [a for a in _axes(params) if a in lengths]
        return RooflineResult(ici_bytes={a: int(size * share(lengths[a])) for a in axes},
                              ici_latency={a: hops(lengths[a]) for a in axes})
    return rule


_MODELS: dict[Kind, Callable] = {
    Kind.ELEMENTWISE: _elementwise, Kind.SWEEP: _elementwise, Kind.REDUCTION: _reduction, Kind.SEARCH: _reduction,
    Kind.SCATTER: _moved, Kind.SORT: _moved, Kind.PRODUCT: _matrix_product, Kind.CONVOLUTION: _convolution,
    Kind.ALL_REDUCE: _collective(lambda n: 2 * (n - 1) / n, lambda n: 2 * (n - 1)),
    Kind.ALL_GATHER: _collective(lambda n: (n - 1) / n, lambda n: n - 1),
    Kind.ALL_TO_ALL: _collective(lambda n: (n - 1) / n, lambda n: n // 2),
    Kind.PERMUTE: _collective(lambda n: 1 if n > 1 else 0, lambda n: 1 if n > 1 else 0)}


def _model(prim):
    traits = prim.traits
    return _moved if traits.part in (Part.FOUND, Part.WRITTEN) else _MODELS.get(traits.kind)


# -- programs ------------------------------------------------------------------------------------------------------------

def _peak(jaxpr: Jaxpr) -> int:
    """The most bytes alive before or after an equation; arguments die with their last use."""
    last: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        last.update((v, i) for v in eqn.invars if type(v) is not Literal)
    last.update((v, len(jaxpr.eqns)) for v in jaxpr.outvars if type(v) is not Literal)
    alive = {v: RooflineShape.from_aval(v.aval).bytes for v in (*jaxpr.constvars, *jaxpr.invars)}
    peak = sum(alive.values())
    for i, eqn in enumerate(jaxpr.eqns):
        alive |= {v: RooflineShape.from_aval(v.aval).bytes for v in eqn.outvars}
        alive = {v: n for v, n in alive.items() if last.get(v, -1) > i}
        peak = max(peak, sum(alive.values()))
    return peak


def _programs(params):
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, (ClosedJaxpr, Jaxpr)):
                yield item.jaxpr


def _cost(jaxpr: Jaxpr, mesh: Any, pins: tuple[bool, bool]) -> RooflineResult:
    total = RooflineResult(peak_hbm_bytes=_peak(jaxpr))
    for eqn in jaxpr.eqns:
        total = total + _equation(eqn, mesh, pins)
    return total


def _equation(eqn, mesh, pins):
    rule = _rules.get(eqn.primitive) or _model(eqn.primitive)
    if rule is None:
        inner = [_cost(program, eqn.params.get("mesh", mesh), pins) for program in _programs(eqn.params)]
        kind = eqn.primitive.traits.kind
        if kind is Kind.BRANCH:  # the dearest
            return max(inner, key=lambda r: (r.unfused_flops, r.unfused_hbm_bytes))
        return sum(inner, RooflineResult()) * (eqn.params.get("length", 1) if kind is Kind.LOOP else 1)
    context = RooflineRuleContext(
        name_stack=getattr(eqn.source_info, "name_stack", ""), primitive=eqn.primitive, avals_in=[x.aval for x in eqn.invars],
        avals_out=[x.aval for x in eqn.outvars], jaxpr_eqn_ctx=eqn.ctx, mesh=mesh, pin_lhs_in_vmem=pins[0],
        pin_rhs_in_vmem=pins[1])
    return rule(context, *[RooflineShape.from_aval(x.aval) for x in eqn.invars], **eqn.params)


def roofline(f: Callable[..., PyTree], mesh: Mesh | AbstractMesh | None = None, in_specs: Specs = None, out_specs: Specs = None, *,
             pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False, vjp: bool = False,
             print_jaxpr: bool = False) -> Callable:
    """``f`` as a function that returns the types of its results and what they cost.

    The body of a loop counts once for each step where the number of steps is known (`scan`), else once; of branches the
    dearest counts.

    Args:
      f: function of arrays, or of `ShapeDtypeStruct`.
      mesh, in_specs, out_specs: if given, the cost is that of one device in ``shard_map(f, mesh=mesh, ...)``.
      pin_lhs_in_vmem, pin_rhs_in_vmem: operands of matrix products do not travel.
      vjp: count the forward and the backward pass together, in place of the forward pass.
      print_jaxpr: print the program that is counted.

    Returns:
      a function of the same arguments that returns a pytree of `ShapeDtypeStruct` and a `RooflineResult`.

    >>> from jax.experimental import roofline
    >>> out, cost = roofline.roofline(lambda a, b: a @ b)(jnp.ones((2, 3)), jnp.ones((3, 4)))
    >>> out.shape, cost.flops
    ((2, 4), 48)
    """
    if mesh is not None:
        f = shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs)

    def counted(*args):
        leaves, structure = tree.flatten(args)
        found: list = []

        def flat(*xs):
            outs, out_structure = tree.flatten(f(*tree.unflatten(structure, xs)))
            found[:] = [out_structure]
            return outs
        avals = [x.aval if isinstance(x, ShapeDtypeStruct) else get_aval(x) for x in leaves]
        closed = trace_to_closed(flat, avals)[0]
        shapes = tree.unflatten(found[0], [ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals])
        jaxpr = _backward(flat, avals, closed.out_avals) if vjp else closed.jaxpr
        if print_jaxpr:
            print(jaxpr)
        return shapes, _cost(jaxpr, mesh, (bool(pin_lhs_in_vmem), bool(pin_rhs_in_vmem)))
    return counted


def _backward(flat, avals, out_avals):
    """The program of the forward and the backward pass."""
    def pull(*args):
        xs, cts = args[:len(avals)], args[len(avals):]
        return _vjp(flat, *xs)[1](list(cts))
    return trace_to_closed(pull, [*avals, *(a.to_tangent_aval() for a in out_avals)])[0].jaxpr


def roofline_and_grad(f: Callable[..., PyTree], mesh: object, in_specs: Specs, out_specs: Specs, *,
                      pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False,
                      print_jaxpr: bool = False) -> Callable:
    """`roofline` of ``f`` and of its gradient.

    Returns:
      a function that returns the types of the results, the cost of the forward pass, and that of forward and backward pass
      together.

    >>> from jax.experimental import roofline
    >>> mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    >>> f = roofline.roofline_and_grad(jnp.sin, mesh, jax.P("d"), jax.P("d"))
    >>> out, forward, both = f(jax.ShapeDtypeStruct((8,), jnp.float32))
    >>> forward.flops < both.flops
    False
    """
    pins = dict(pin_lhs_in_vmem=pin_lhs_in_vmem, pin_rhs_in_vmem=pin_rhs_in_vmem, print_jaxpr=print_jaxpr)

    def counted(*args):
        shapes, forward = roofline(f, mesh, in_specs, out_specs, **pins)(*args)
        return shapes, forward, roofline(f, mesh, in_specs, out_specs, vjp=True, **pins)(*args)[1]
    return counted
