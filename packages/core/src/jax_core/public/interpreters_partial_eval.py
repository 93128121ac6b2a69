"""`jax.interpreters.partial_eval`: tracing to jaxprs, and dead-code elimination."""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..compat.linear_util import WrappedFun
from ..representation.arguments import takes
from ..representation.aval import AbstractValue, get_aval
from ..representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, close as close_jaxpr, dce
from ..representation.primitive import Primitive
from ..traces.staging import DynamicJaxprTrace, DynamicJaxprTracer, constants_to_inputs, trace_to_jaxpr
from ..transformations.splitting import split_jaxpr
from .rules import RuleTable

if TYPE_CHECKING:
    from ..representation.typing import PyTree

JaxprTracer = DynamicJaxprTracer
convert_constvars_jaxpr = constants_to_inputs
custom_partial_eval_rules: dict[Primitive, Callable] = {}
partial_eval_jaxpr_custom_rules: dict[Primitive, Callable] = {}


def _show_dce(prim, rule):
    def public(used_outputs, live_ins, eqn: JaxprEqn):
        small = rule(eqn, used_outputs)
        if small is None:
            return [False] * len(eqn.invars), None
        kept = set(map(id, small.invars))
        return [id(v) in kept for v in eqn.invars], small
    return public


def _dce_from(rule: Callable) -> Callable:
    """``rule(used_outputs, live_ins, eqn)``, or ``rule(used_outputs, eqn)`` as releases before had it, in our form. Which inputs matter
    afterwards concerns references alone; all are taken to."""
    if len(inspect.signature(rule).parameters) == 2:
        return lambda eqn, used: rule(used, eqn)[1]
    return lambda eqn, used: rule(used, [True] * len(eqn.invars), eqn)[1]


dce_rules = RuleTable("dce", _show_dce, _dce_from)


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def dce_jaxpr(jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False,
              live_inputs: bool | Sequence[bool] = True) -> tuple[Jaxpr, list[bool]]:
    """``jaxpr`` without what its used outputs do not need, and which inputs it still reads.

    Args:
      jaxpr: the program.
      used_outputs: which of its results are needed.
      instantiate: inputs that are kept in any case; one bool for all.
      live_inputs: inputs whose contents matter afterwards. Only references have such, and all of them are kept.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1., 2.)
    >>> smaller, reads = pe.dce_jaxpr(program.jaxpr, [True, False])
    >>> smaller, reads
    ({ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }, [True, False])
    """
    if isinstance(used_outputs, bool):
        used_outputs = [used_outputs] * len(jaxpr.outvars)
    keep = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else list(instantiate)
    small, used = dce(jaxpr, used_outputs)
    used = [u or k for u, k in zip(used, keep)]
    return small.replace(invars=[v for v, u in zip(jaxpr.invars, used) if u]), used


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def dce_jaxpr_consts(jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool = False
                     ) -> tuple[Jaxpr, list[bool], list[bool]]:
    """Like `dce_jaxpr`, also for constants: the program, used constants, used inputs.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1., 2.)
    >>> smaller, used_consts, reads = pe.dce_jaxpr_consts(program.jaxpr, [False, True])
    >>> len(smaller.eqns), used_consts, reads
    (1, [], [False, True])
    """
    n = len(jaxpr.constvars)
    opened = Jaxpr([], [*jaxpr.constvars, *jaxpr.invars], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
    small, used = dce_jaxpr(opened, used_outputs, [False] * n + [instantiate] * len(jaxpr.invars))
    count = sum(used[:n])
    return small.replace(constvars=small.invars[:count], invars=small.invars[count:]), used[:n], used[n:]


@takes(eqn=JaxprEqn)
def dce_jaxpr_call_rule(used_outputs: list[bool], live_ins: list[bool], eqn: JaxprEqn) -> tuple[list[bool], Any]:
    """A rule for `dce_rules`: for primitives that run the program ``call_jaxpr`` of their parameters on their operands.

    Args:
      used_outputs: which results are needed.
      live_ins: which operands matter afterwards.
      eqn: the equation.

    Returns:
      which operands are needed, and the narrower equation, or None where nothing of it is.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import partial_eval as pe
    >>> run_p = Primitive("run")
    >>> run_p.multiple_results = True
    >>> run_p.def_abstract_eval(lambda *avals, call_jaxpr: [v.aval for v in call_jaxpr.outvars]) and None
    >>> pe.dce_rules[run_p] = pe.dce_jaxpr_call_rule
    >>> inner = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1., 2.).jaxpr
    >>> program = jax.make_jaxpr(lambda x, y: run_p.bind(x, y, call_jaxpr=inner))(1., 2.)
    >>> pe.dce_jaxpr(program.jaxpr, [False, True])[1]
    [False, True]
    """
    program = eqn.params["call_jaxpr"]
    small, reads = dce_jaxpr(program.jaxpr if isinstance(program, ClosedJaxpr) else program, used_outputs, live_inputs=live_ins)
    if not small.outvars and not small.effects:
        return [False] * len(eqn.invars), None
    params = {**eqn.params, "call_jaxpr": ClosedJaxpr(small, program.consts) if isinstance(program, ClosedJaxpr) else small}
    return reads, eqn.replace(invars=[v for v, read in zip(eqn.invars, reads) if read],
                              outvars=[v for v, used in zip(eqn.outvars, used_outputs) if used], params=params, effects=small.effects)


dce_jaxpr_closed_call_rule = dce_jaxpr_call_rule


def trace_to_jaxpr_dynamic(fun: Callable[..., PyTree], in_avals: Sequence[AbstractValue], *,
                           keep_inputs: Sequence[bool] | None = None, lower: bool = False,
                           auto_dce: bool = False) -> tuple[Jaxpr, list, list]:
    """Trace a wrapped flat function: the jaxpr, result types, and values of its constants.

    Args:
      fun: the function, or a `WrappedFun`.
      in_avals: types of its arguments.
      keep_inputs: must keep all, the default.
      lower: trace on the arrays that represent the values; the same here.
      auto_dce: leave out what the results do not need; the inputs stay.

    Raises:
      NotImplementedError: ``keep_inputs`` leaves an input out.

    >>> from jax.extend import linear_util
    >>> from jax.interpreters import partial_eval as pe
    >>> program, types, consts = pe.trace_to_jaxpr_dynamic(linear_util.wrap_init(lambda x: [x * 2]), [jax.typeof(jnp.ones(3))])
    >>> types
    [ShapedArray(float32[3])]
    """
    if keep_inputs is not None and not all(keep_inputs):
        raise NotImplementedError(f"trace_to_jaxpr_dynamic: keep_inputs={list(keep_inputs)} must keep all inputs")
    jaxpr, consts, out_avals = trace_to_jaxpr(getattr(fun, "call_wrapped", fun), in_avals)
    if auto_dce:
        jaxpr, _ = dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)
    return jaxpr, out_avals, consts


def abstract_eval_fun(fun: Callable[..., PyTree], *avals: AbstractValue, debug_info: object | None = None,
                      **params: Any) -> list[AbstractValue]:
    """Result types of a function of arrays; ``debug_info`` is for messages.

    >>> from jax.interpreters import partial_eval as pe
    >>> pe.abstract_eval_fun(lambda x: [x.sum()], jax.typeof(jnp.ones(3)))
    [ShapedArray(float32[])]
    """
    for aval in avals:
        if not isinstance(aval, AbstractValue):
            raise TypeError(f"abstract_eval_fun: types of arguments are needed, as jax.typeof gives them, got {aval!r} of type {type(aval).__name__}")
    return trace_to_jaxpr(lambda *xs: fun(*xs, **params), avals)[2]


class PartialVal(tuple):
    """A pair (type, value); one of the two is None."""

    def __new__(cls, xs: tuple[AbstractValue | None, Any]) -> "PartialVal":
        return super().__new__(cls, xs)

    @classmethod
    def unknown(cls, aval: AbstractValue) -> "PartialVal":
        return cls((aval, None))

    @classmethod
    def known(cls, value: object) -> "PartialVal":
        return cls((None, value))

    def is_known(self) -> bool:
        return self[0] is None

    def get_known(self) -> Any:
        return self[1] if self.is_known() else None

    def get_aval(self) -> AbstractValue:
        return get_aval(self[1]) if self.is_known() else self[0]


@takes(fun=WrappedFun)
def trace_to_jaxpr_nounits(fun: WrappedFun, pvals: Sequence[PartialVal],
                           instantiate: bool | Sequence[bool] = False) -> Any:
    """Trace with some arguments known: the program of the unknown ones, partial values of the results, and constants.

    >>> from jax.extend import linear_util
    >>> from jax.interpreters import partial_eval as pe
    >>> values = [pe.PartialVal.known(3.), pe.PartialVal.unknown(jax.typeof(1.))]
    >>> program, out, consts = pe.trace_to_jaxpr_nounits(linear_util.wrap_init(lambda x, y: [x * y]), values)
    >>> len(program.eqns)
    1
    """
    unknown = [p.get_aval() for p in pvals if not p.is_known()]

    def run(*xs):
        rest = iter(xs)
        return fun.call_wrapped(*(p.get_known() if p.is_known() else next(rest) for p in pvals))
    jaxpr, consts, out_avals = trace_to_jaxpr(run, unknown)
    return constants_to_inputs(jaxpr), [PartialVal.unknown(a) for a in out_avals], consts


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def partial_eval_jaxpr_nounits(jaxpr: ClosedJaxpr, unknowns: Sequence[bool],
                               instantiate: bool | Sequence[bool] = False, *args: Any) -> Any:
    """Split a program into what can be computed from the known inputs and the rest.

    Args:
      unknowns: which inputs are unknown.
      instantiate: which results shall count as unknown in any case.

    Returns:
      ``(known, rest, out_unknown, residual types)``: ``known`` maps the known inputs to the known results and the residuals,
      ``rest`` the residuals and the unknown inputs to the unknown results.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x, y: jnp.sin(x) * y)(1., 2.)
    >>> known, rest, unknown, kept = pe.partial_eval_jaxpr_nounits(program, [False, True])
    >>> [e.primitive.name for e in known.eqns], [e.primitive.name for e in rest.eqns], unknown
    (['sin'], ['mul'], [True])
    """
    count = len(jaxpr.jaxpr.outvars)
    force = [instantiate] * count if isinstance(instantiate, bool) else list(instantiate)
    parts = split_jaxpr(jaxpr, list(unknowns), force)
    known = parts.known.jaxpr
    results = len(known.outvars) - parts.num_fresh
    inputs = [i for i, u in enumerate(unknowns) if not u]
    residuals = [known.outvars[results + ~i] if i < 0 else known.invars[inputs.index(i)] for i in parts.residuals]
    known = known.replace(outvars=[*known.outvars[:results], *residuals])
    return (ClosedJaxpr(known, parts.known.consts), parts.rest, parts.out_unknown, [v.aval for v in residuals])


@takes(closed_jaxpr=(Jaxpr, ClosedJaxpr))
def move_binders_to_back(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """``closed_jaxpr`` with the marked inputs after the others.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x, y: x - y)(1., 2.)
    >>> jax.core.jaxpr_as_fun(pe.move_binders_to_back(program, [True, False]))(1., 2.)
    [Array(1., dtype=float32, weak_type=True)]
    """
    invars = closed_jaxpr.jaxpr.invars
    order = [v for v, m in zip(invars, to_move) if not m] + [v for v, m in zip(invars, to_move) if m]
    return ClosedJaxpr(closed_jaxpr.jaxpr.replace(invars=order), closed_jaxpr.consts)


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def prune_closed_jaxpr_outputs(jaxpr: ClosedJaxpr, used_outputs: Sequence[bool]) -> ClosedJaxpr:
    """``jaxpr`` with some of its results.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x: (x + 1, x * 2))(1.)
    >>> jax.core.jaxpr_as_fun(pe.prune_closed_jaxpr_outputs(program, [False, True]))(5.)
    [Array(10., dtype=float32, weak_type=True)]
    """
    outvars = [v for v, keep in zip(jaxpr.jaxpr.outvars, used_outputs) if keep]
    return ClosedJaxpr(jaxpr.jaxpr.replace(outvars=outvars), jaxpr.consts)
