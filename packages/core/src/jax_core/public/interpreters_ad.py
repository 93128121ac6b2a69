"""`jax.interpreters.ad`: setting derivative rules for one's own primitives, and reading those of others."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..compat.linear_util import WrappedFun, wrap_init
from ..representation.arguments import takes
from ..representation.aval import AbstractValue, get_aval
from ..representation.jaxpr import ClosedJaxpr, Jaxpr
from ..representation.marks import LINEAR
from ..representation.primitive import Linear, Primitive, Zero, is_linear
from ..traces.structural import add, add_any_p, instantiate, zeros
from ..transformations import forward, reverse
from ..transformations.forward import JVPTrace, JVPTracer, jvp_flat, run_jvp_rule
from ..transformations.reverse import linearize_flat
from .rules import RuleTable

if TYPE_CHECKING:
    from ..representation.typing import PyTree

UndefinedPrimal = Linear
is_undefined_primal = is_linear
add_tangents = add
add_jaxvals = add
add_jaxvals_p = add_any_p
instantiate_zeros = instantiate
p2tz = Zero.from_primal_value  # as `jax._src.ad_util` calls it, and jax-finufft

primitive_jvps = RuleTable(
    "jvp", lambda prim, _: lambda primals, tangents, /, **params: run_jvp_rule(prim, primals, tangents, params),
    lambda rule: lambda primals, tangents, /, **params: rule(tuple(primals), tuple(tangents), **params))
primitive_transposes = RuleTable("transpose", lambda prim, rule: rule)


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def backward_pass(jaxpr: Jaxpr, transform_stack: bool, consts: Sequence[object], primals_in: Sequence[Any], cts_in: Sequence[object], *,
                  return_logs: bool = False) -> list:
    """Cotangents of the linear inputs of a program: of those of ``primals_in`` that are an `UndefinedPrimal`.

    Args:
      jaxpr: the program, linear in these.
      transform_stack: whether what is computed stands under a scope "transpose"; equations keep their own scopes here in any case.
      consts: of the program.
      primals_in: a value for each other input.
      cts_in: cotangents of the results.
      return_logs: not supported.

    Returns:
      for each input its cotangent, or a `Zero`, as for those with a value.

    Raises:
      NotImplementedError: ``return_logs`` is true.

    >>> from jax.interpreters import ad
    >>> program = jax.make_jaxpr(lambda x, y: x * y)(1., 1.)
    >>> ad.backward_pass(program.jaxpr, False, program.consts, [ad.UndefinedPrimal(jax.typeof(1.)), 3.], [2.])
    [Array(6., dtype=float32, weak_type=True), Zero(~float32[])]
    """
    if return_logs:
        raise NotImplementedError("backward_pass: return_logs is not supported; give the functions that log a rule by defvjp_with_logs")
    found = reverse.backward_pass(jaxpr, consts, primals_in, cts_in)
    return [Zero.of(x) if ct is None else ct for ct, x in zip(found, primals_in)]


@takes(aval=AbstractValue)
def zeros_like_aval(aval: AbstractValue) -> Any:
    """Zeros of type ``aval``; for float0 a NumPy array, as it has no contents.

    >>> from jax.interpreters import ad
    >>> ad.zeros_like_aval(jax.typeof(jnp.ones(2)))
    Array([0., 0.], dtype=float32)
    """
    return zeros(aval)


def get_primitive_transpose(p: Primitive) -> Callable:
    """The transpose rule of ``p``; raises NotImplementedError if it has none.

    >>> from jax.interpreters import ad
    >>> callable(ad.get_primitive_transpose(lax.neg_p))
    True
    """
    if p not in primitive_transposes:
        raise NotImplementedError(f"Transpose rule (for reverse-mode differentiation) for '{p}' not implemented")
    return primitive_transposes[p]


@takes(primitive=Primitive)
def deflinear(primitive: Primitive, transpose_rule: Callable) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, **params)`` gives a list of cotangents.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import ad
    >>> triple_p = Primitive("triple_of_linear_example")
    >>> _ = triple_p.def_impl(lambda x: 3 * x)
    >>> _ = triple_p.def_abstract_eval(lambda x: x)
    >>> ad.deflinear(triple_p, lambda ct: [3 * ct])
    >>> jax.grad(triple_p.bind)(1.)
    Array(3., dtype=float32, weak_type=True)
    """
    primitive.jvp = LINEAR
    primitive.transpose = lambda ct, /, *args, **params: transpose_rule(ct, **params)


@takes(primitive=Primitive)
def deflinear2(primitive: Primitive, transpose_rule: Callable) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, *operands, **params)`` gives a list of cotangents.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import ad
    >>> triple_p = Primitive("triple_of_second_linear_example")
    >>> _ = triple_p.def_impl(lambda x: 3 * x)
    >>> _ = triple_p.def_abstract_eval(lambda x: x)
    >>> ad.deflinear2(triple_p, lambda ct, x: [3 * ct])
    >>> jax.grad(triple_p.bind)(1.)
    Array(3., dtype=float32, weak_type=True)
    """
    primitive.jvp = LINEAR
    primitive.transpose = transpose_rule


@takes(primitive=Primitive)
def defjvp(primitive: Primitive, *jvprules: Callable | None) -> None:
    """Set a rule for each operand: ``rule(tangent, *primals, **params)`` is what it contributes.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import ad
    >>> square_p = Primitive("square_of_jvp_example")
    >>> _ = square_p.def_impl(lambda x: x * x)
    >>> _ = square_p.def_abstract_eval(lambda x: x)
    >>> ad.defjvp(square_p, lambda t, x: 2 * x * t)
    >>> jax.grad(square_p.bind)(3.)
    Array(6., dtype=float32, weak_type=True)
    """
    primitive.jvp = tuple(None if rule is None else _without_output(rule) for rule in jvprules)


def _without_output(rule):
    return lambda g, out, /, *primals, **params: rule(g, *primals, **params)


@takes(primitive=Primitive)
def defjvp2(primitive: Primitive, *jvprules: Callable | None) -> None:
    """Set a rule for each operand that also gets the result: ``rule(tangent, out, *primals, **params)``.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import ad
    >>> exp_p = Primitive("exp_of_jvp_example")
    >>> _ = exp_p.def_impl(jnp.exp)
    >>> _ = exp_p.def_abstract_eval(lambda x: x)
    >>> ad.defjvp2(exp_p, lambda t, out, x: out * t)
    >>> jax.grad(exp_p.bind)(0.)
    Array(1., dtype=float32, weak_type=True)
    """
    primitive.jvp = tuple(jvprules)


@takes(prim=Primitive)
def defbilinear(prim: Primitive, lhs_rule: Callable, rhs_rule: Callable) -> None:
    """Make ``prim`` linear in each of two operands; ``lhs_rule(cotangent, x, y, **params)`` is the cotangent of the first.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import ad
    >>> product_p = Primitive("product_of_bilinear_example")
    >>> _ = product_p.def_impl(lambda x, y: x * y)
    >>> _ = product_p.def_abstract_eval(lambda x, y: x)
    >>> ad.defbilinear(product_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    >>> jax.grad(product_p.bind)(2., 5.)
    Array(5., dtype=float32, weak_type=True)
    """
    prim.jvp = (lambda g, out, x, y, /, **params: prim.bind(g, y, **params),
                lambda g, out, x, y, /, **params: prim.bind(x, g, **params))

    def transpose(ct, x, y, /, **params):
        return (lhs_rule(ct, x, y, **params), None) if is_linear(x) else (None, rhs_rule(ct, x, y, **params))
    prim.transpose = transpose


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def jvp_jaxpr(jaxpr: ClosedJaxpr, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool]) -> tuple:
    """The program ``(primals, tangents of the nonzero ones) -> (results, tangents)``, and which results have a tangent.

    >>> from jax.interpreters import ad
    >>> program, has_tangent = ad.jvp_jaxpr(jax.make_jaxpr(lambda x, y: x * y)(1., 1.), [True, False], False)
    >>> jax.tree.map(float, jax.core.jaxpr_as_fun(program)(2., 5., 1.)), has_tangent
    ([10.0, 5.0], [True])
    """
    return forward.jvp_jaxpr(jaxpr, nonzeros, instantiate)


@takes(fun=WrappedFun)
def jvp(fun: WrappedFun, has_aux: bool = False, instantiate: bool | Sequence[bool] = True,
        transform_stack: bool = True) -> Any:
    """A wrapped flat function `linear_util` of ``(primals, tangents)`` that returns ``(results, tangents)``.

    >>> from jax.extend import linear_util
    >>> from jax.interpreters import ad
    >>> jax.tree.map(float, ad.jvp(linear_util.wrap_init(lambda x: [x * x])).call_wrapped([3.], [1.]))
    ([9.0], [6.0])
    """
    if has_aux:
        raise NotImplementedError("interpreters.ad.jvp: has_aux is not supported; use jax.jvp")

    def call(primals, tangents):
        outs, out_tangents = jvp_flat(fun.call_wrapped, primals, tangents)
        if instantiate is True:
            out_tangents = list(map(instantiate_zeros, out_tangents))
        return outs, out_tangents
    return wrap_init(call)


@takes(jaxpr=WrappedFun)
def linearize(jaxpr: WrappedFun, *primals: Any, **kwargs: Any) -> Any:
    """Linearize a flat wrapped function; see `jax.linearize` for functions of pytrees.

    >>> from jax.extend import linear_util
    >>> from jax.interpreters import ad
    >>> out = ad.linearize(linear_util.wrap_init(lambda x: [x * x]), 3.)
    >>> out[0]
    [Array(9., dtype=float32, weak_type=True)]
    """
    run = jaxpr.call_wrapped
    outs, inputs, trace, tangents = linearize_flat(run, primals)
    program, residuals = trace.to_jaxpr(inputs, [instantiate(t) for t in tangents])
    return outs, [get_aval(x) for x in outs], program, residuals
