"""`jax.interpreters.ad`: setting derivative rules for one's own primitives, and reading those of others."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..transformations import forward
from ..representation.aval import get_aval
from ..transformations.forward import JVPTrace, JVPTracer, jvp_flat, run_jvp_rule
from ..representation.marks import LINEAR
from ..representation.primitive import Linear, Primitive, Zero, is_linear
from ..transformations.reverse import backward_pass, linearize_flat
from ..traces.structural import add, add_any_p, instantiate, zeros
from ..compat.linear_util import wrap_init
from .rules import RuleTable

if TYPE_CHECKING:
    from ..representation.typing import PyTree
    from ..representation.jaxpr import ClosedJaxpr
    from ..compat.linear_util import WrappedFun

UndefinedPrimal = Linear
is_undefined_primal = is_linear
add_tangents = add
add_jaxvals = add
add_jaxvals_p = add_any_p
instantiate_zeros = instantiate
zeros_like_aval = zeros

primitive_jvps = RuleTable(
    "jvp", lambda prim, _: lambda primals, tangents, **params: run_jvp_rule(prim, primals, tangents, params),
    lambda rule: lambda primals, tangents, **params: rule(tuple(primals), tuple(tangents), **params))
primitive_transposes = RuleTable("transpose", lambda prim, rule: rule)


def get_primitive_transpose(p: Primitive) -> Callable:
    """The transpose rule of ``p``; raises NotImplementedError if it has none."""
    if p not in primitive_transposes:
        raise NotImplementedError(f"Transpose rule (for reverse-mode differentiation) for '{p}' not implemented")
    return primitive_transposes[p]


def deflinear(primitive: Primitive, transpose_rule: Callable) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, **params)`` gives a list of cotangents."""
    primitive.jvp = LINEAR
    primitive.transpose = lambda ct, *args, **params: transpose_rule(ct, **params)


def deflinear2(primitive: Primitive, transpose_rule: Callable) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, *operands, **params)`` gives a list of cotangents."""
    primitive.jvp = LINEAR
    primitive.transpose = transpose_rule


def defjvp(primitive: Primitive, *jvprules: Callable | None) -> None:
    """Set a rule for each operand: ``rule(tangent, *primals, **params)`` is what it contributes."""
    primitive.jvp = tuple(None if rule is None else _without_output(rule) for rule in jvprules)


def _without_output(rule):
    return lambda g, out, *primals, **params: rule(g, *primals, **params)


def defjvp2(primitive: Primitive, *jvprules: Callable | None) -> None:
    """Set a rule for each operand that also gets the result: ``rule(tangent, out, *primals, **params)``."""
    primitive.jvp = tuple(jvprules)


def defbilinear(prim: Primitive, lhs_rule: Callable, rhs_rule: Callable) -> None:
    """Make ``prim`` linear in each of two operands; ``lhs_rule(cotangent, x, y, **params)`` is the cotangent of the first."""
    prim.jvp = (lambda g, out, x, y, **params: prim.bind(g, y, **params),
                lambda g, out, x, y, **params: prim.bind(x, g, **params))

    def transpose(ct, x, y, **params):
        return (lhs_rule(ct, x, y, **params), None) if is_linear(x) else (None, rhs_rule(ct, x, y, **params))
    prim.transpose = transpose


def jvp_jaxpr(jaxpr: ClosedJaxpr, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool]) -> tuple:
    """The program ``(primals, tangents of the nonzero ones) -> (results, tangents)``, and which results have a tangent."""
    return forward.jvp_jaxpr(jaxpr, nonzeros, instantiate)


def jvp(fun: Callable[..., PyTree], has_aux: bool = False, instantiate: bool | Sequence[bool] = True,
        transform_stack: bool = True) -> Any:
    """A wrapped flat function `linear_util` of ``(primals, tangents)`` that returns ``(results, tangents)``."""
    if has_aux:
        raise NotImplementedError("interpreters.ad.jvp: has_aux is not supported; use jax.jvp")

    def call(primals, tangents):
        outs, out_tangents = jvp_flat(fun.call_wrapped, primals, tangents)
        if instantiate is True:
            out_tangents = list(map(instantiate_zeros, out_tangents))
        return outs, out_tangents
    return wrap_init(call)


def linearize(jaxpr: WrappedFun, *primals: Any, **kwargs: Any) -> Any:
    """Linearize a flat wrapped function; see `jax.linearize` for functions of pytrees."""
    run = jaxpr.call_wrapped
    outs, inputs, trace, tangents = linearize_flat(run, primals)
    program, residuals = trace.to_jaxpr(inputs, [instantiate(t) for t in tangents])
    return outs, [get_aval(x) for x in outs], program, residuals
