"""The costs of programs: the sum over their equations, each by the rule for its primitive."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, Literal
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind
from jax_core.traces.staging import trace_to_closed
from jax_core.traces.structural import add_any_p
from jax_core.transformations.autodiff import vjp as _vjp
from jax_core.transformations.high_primitives import in_arrays_only

from ...operations.shard_map.api import shard_map
from ...placement.mesh import AbstractMesh, Mesh
from .models import model
from .result import RooflineResult, RooflineRuleContext, RooflineShape

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

ShapeDtypeStructTree = Any
Specs = Any
ValidRooflineDtype = np.dtype


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


def _cost(jaxpr: Jaxpr, mesh: Any, pins: tuple[bool, bool], of_one_device: bool = True) -> RooflineResult:
    """The cost; the values of a program around that of one device are whole arrays, which no device has."""
    total = RooflineResult(peak_hbm_bytes=_peak(jaxpr) if of_one_device else 0)
    for eqn in jaxpr.eqns:
        total = total + _equation(eqn, mesh, pins)
    return total


def _equation(eqn, mesh, pins):
    rule = _rules.get(eqn.primitive) or model(eqn.primitive)
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
      vjp: count the backward pass, from what the forward pass keeps, in place of the forward pass.
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
        if closed.is_high:
            closed = in_arrays_only(closed)
        shapes = tree.unflatten(found[0], [ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals])
        jaxpr = _backward(flat, avals, closed.out_avals) if vjp else closed.jaxpr
        if print_jaxpr:
            print(jaxpr)
        return shapes, _cost(jaxpr, mesh, (bool(pin_lhs_in_vmem), bool(pin_rhs_in_vmem)), mesh is None)
    return counted


def _backward(flat, avals, out_avals):
    """The program of the backward pass, from what the forward pass keeps and the cotangents."""
    kept: list = []

    def forward(*xs):
        residuals, structure = tree.flatten(_vjp(flat, *xs)[1])
        kept[:] = [structure]
        return residuals
    residuals = trace_to_closed(forward, avals)[0].out_avals

    def pull(*args):
        pullback = tree.unflatten(kept[0], args[:len(residuals)])
        return tree.leaves(pullback(list(args[len(residuals):])))
    return trace_to_closed(pull, [*residuals, *(a.to_tangent_aval() for a in out_avals)])[0].jaxpr


def roofline_and_grad(f: Callable[..., PyTree], mesh: object, in_specs: Specs, out_specs: Specs, *,
                      pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False,
                      print_jaxpr: bool = False) -> Callable:
    """`roofline` of ``f`` and of its pullback.

    Returns:
      a function that returns the types of the results, the cost of the forward pass, and that of the backward pass.

    >>> from jax.experimental import roofline
    >>> mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    >>> f = roofline.roofline_and_grad(jnp.sin, mesh, jax.P("d"), jax.P("d"))
    >>> out, forward, backward = f(jax.ShapeDtypeStruct((8,), jnp.float32))
    >>> forward.unfused_flops, backward.unfused_flops
    (8, 8)
    """
    pins = dict(pin_lhs_in_vmem=pin_lhs_in_vmem, pin_rhs_in_vmem=pin_rhs_in_vmem, print_jaxpr=print_jaxpr)

    def counted(*args):
        shapes, forward = roofline(f, mesh, in_specs, out_specs, **pins)(*args)
        return shapes, forward, roofline(f, mesh, in_specs, out_specs, vjp=True, **pins)(*args)[1]
    return counted
