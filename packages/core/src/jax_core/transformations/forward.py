"""Forward mode: pairs of a value and its tangent, pushed through each primitive's JVP rule.

`JVPTrace` runs rules and works on both halves of the pair below itself. `reverse.LinearizeTrace` is this class with
one difference: tangents are recorded instead of computed.
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..configuration import context, flags
from ..references.api import new_ref_p
from ..references.discharge import apply_discharged, works_on_refs
from ..references.indexing import WHOLE
from ..references.primitives import TANGENT_REFS, Cell, get_p, swap_p
from ..representation import dtypes, errors, high
from ..representation.aval import AbstractValue, get_aval
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr, needs_x64
from ..representation.marks import LINEAR, ZERO
from ..representation.primitive import Primitive, Zero
from ..traces.staging import check_leaks, trace_to_jaxpr
from ..traces.structural import add, instantiate
from ..traces.trace import Trace, Tracer

if TYPE_CHECKING:
    from ..representation.typing import PyTree
    from .custom_jvp import CustomJvpCall
    from .custom_vjp import CustomVjpCall


class PrimalTracer(Tracer):
    """``primal``, with something beside it that the trace computes along: whatever is asked of the value, the primal answers."""
    __module__ = "jax.interpreters.ad"  # see `Tracer`

    __slots__ = ("primal",)
    primal: Any

    @property
    def aval(self):
        return get_aval(self.primal)

    def concrete(self):
        x = self.primal
        return x.concrete() if isinstance(x, Tracer) else x

    def truth(self):
        return self.primal.truth() if isinstance(self.primal, Tracer) else None

    def _origin_message(self):
        return self.primal._origin_message() if isinstance(self.primal, Tracer) else ""

    @property
    def _to_know(self):
        return self.primal._to_know if isinstance(self.primal, Tracer) else ""


class JVPTracer(PrimalTracer):
    """A value with its tangent (never a `Zero`: values without tangent are not wrapped)."""
    __module__ = "jax.interpreters.ad"  # see `Tracer`

    __slots__ = ("tangent",)

    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any):
        self._trace, self.primal, self.tangent = trace, primal, tangent

    def _made_by(self):
        return "It was made inside a function that was being differentiated (by grad, jvp, vjp, or what is built on them)."

    def __repr__(self):
        return f"Traced<{self.aval}>with<{self._trace}> with\n  primal = {self.primal!r}\n  tangent = {self.tangent!r}"

    __str__ = __repr__


class JVPTrace(Trace):
    """Pushes tangents forward; all work is done by the parent."""

    hands_on_known = True
    __slots__ = ()

    def process(self, prim: Primitive, args: Sequence[Any], params: dict) -> Any:
        if self.agree is not None:
            args, params = self.agree(prim, args, params)
        primals, tangents, ours = [], [], False
        for x in args:
            if type(x) is JVPTracer and x._trace is self:
                primals.append(x.primal)
                tangents.append(x.tangent)
                ours = True
            else:
                primals.append(x)
                tangents.append(Zero.of(x))
        if not ours:
            return self.parent.process(prim, args, params)
        if prim.discharge and (works_on_refs(params) or any([type(t) in TANGENT_REFS for t in tangents])):
            return apply_discharged(prim, args, params, self.holds)
        out, tangent = run_jvp_rule(prim, primals, tangents, params)
        if prim.multiple_results:
            return [self.pair(x, t) for x, t in zip(out, tangent)]
        return self.pair(out, tangent)

    # -- mutable references: the tangent is a Python object that holds the tangent of the contents --------------------

    def new_ref(self, init: PyTree, params: dict[str, Any]):
        primal, tangent = self.split(init)
        ref = self.parent.process_ref(new_ref_p, (primal,), params)
        return JVPTracer(self, ref, Cell(tangent)) if has_tangent(get_aval(primal)) else ref

    def read_ref(self, ref):
        return self.pair(self.parent.process_ref(get_p, (ref.primal,), {"index": WHOLE}), ref.tangent.value)

    def write_ref(self, ref, value: object):
        primal, tangent = self.split(value)
        self.parent.process_ref(swap_p, (ref.primal, primal), {"index": WHOLE})
        ref.tangent.set(tangent)

    def refuse_change(self, prim: Primitive, ref: object, value: object):
        if self.holds(value):
            raise ValueError(f"{prim.name}: a differentiated value of type {get_aval(value)} is stored in a reference of type "
                             f"{get_aval(ref)} that is not differentiated, so its derivative would be lost. Make the "
                             "reference inside the differentiated function, or store jax.lax.stop_gradient(value).")

    def pair(self, primal: object, tangent: object) -> Any:
        return primal if isinstance(tangent, Zero) else JVPTracer(self, primal, tangent)

    def to_primal_tangent_pair(self, val: object) -> tuple[Any, Any]:
        """Value and tangent of ``val``; what is no tracer of this trace has tangent zero."""
        return self.split(val)

    def split(self, x: Any) -> tuple[Any, Any]:
        """Value and tangent of ``x``."""
        if type(x) is JVPTracer and x._trace is self:
            return x.primal, x.tangent
        return x, Zero.of(x)

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        primals, tangents = _unzip(map(self.split, args))
        if all(isinstance(t, Zero) for t in tangents):
            return self._none_ours(call, self.parent.process_custom_jvp(call, args))
        outs, out_tangents = call.run_jvp(primals, tangents)
        return self._pairs(call, outs, out_tangents)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        primals, tangents = _unzip(map(self.split, args))
        if all(isinstance(t, Zero) for t in tangents):
            return self._none_ours(call, self.parent.process_custom_vjp(call, args))
        outs, out_tangents = call.run_linear(primals, tangents)
        return self._pairs(call, outs, out_tangents)

    def _pairs(self, call: CustomJvpCall | CustomVjpCall, outs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """What the rule of ``call`` returned; raises where a value came in that was not its argument."""
        self._none_ours(call, [*outs, *tangents])
        return [self.pair(x, t) for x, t in zip(outs, tangents)]

    def _none_ours(self, call: CustomJvpCall | CustomVjpCall, outs: list[Any]) -> list[Any]:
        if any([type(x) is JVPTracer and x._trace is self for x in outs]):
            raise closed_over(call.kind, call.name)
        return outs


def closed_over(kind: str, name: str) -> Exception:
    """The error for a custom rule of the function ``name`` that reads a differentiated value that is not its argument."""
    return (errors.CustomVJPException if kind == "custom_vjp" else errors.UnexpectedTracerError)(
        f"{kind} {name}: the function, or its rule, closes over a value that is being differentiated, or gets it as a "
        "non-differentiated argument; the rule says nothing about that value, so its derivative would be lost. Functions with "
        "custom derivatives can't close over such values: pass it as a differentiated argument (jax.closure_convert finds "
        "what a function closes over), or hide it with jax.lax.stop_gradient.")


def _unzip(pairs):
    firsts, seconds = [], []
    for a, b in pairs:
        firsts.append(a)
        seconds.append(b)
    return firsts, seconds


def run_jvp_rule(prim: Primitive, primals: Sequence[object], tangents: Sequence[object], params: dict) -> tuple[Any, Any]:
    """Apply the JVP rule of ``prim``, whichever form it has."""
    if not flags.enable_x64.value and primals and needs_x64(primals[0]):
        with flags.enable_x64(True):
            return run_jvp_rule(prim, primals, tangents, params)
    rule = prim.jvp
    if type(rule) is tuple:
        out = prim.bind(*primals, **params)
        return out, _per_operand(rule, out, primals, tangents, params)
    if rule is LINEAR:
        out = prim.bind(*primals, **params)
        if prim.multiple_results:
            return out, prim.bind(*map(instantiate, tangents), **params)
        return out, _linear(prim, tangents, params)
    if rule is ZERO:
        out = prim.bind(*primals, **params)
        return out, [Zero.of(x) for x in out] if prim.multiple_results else Zero.of(out)
    if rule is None:
        raise NotImplementedError(f"differentiation: primitive {prim.name!r} has no JVP rule")
    return rule(primals, tangents, **params)


def _linear(prim, tangents, params):
    if len(tangents) > 1:
        tangents = [instantiate(t) for t in tangents]
    return prim.bind(*tangents, **params)


def _per_operand(rules, out, primals, tangents, params):
    total = None
    for rule, t in zip(rules, tangents):
        if rule is not None and not isinstance(t, Zero):
            term = rule(t, out, *primals, **params)
            if not isinstance(term, Zero):
                total = term if total is None else add(total, term)
    return Zero.of(out) if total is None else total


def has_tangent(aval: AbstractValue) -> bool:
    """Whether values of this type have tangents other than float0."""
    if aval.is_high:
        return high.has_tangent(aval)
    return getattr(aval, "dtype", None) is not None and aval.to_tangent_aval().dtype != dtypes.float0


def jvp_flat(fun: Callable, primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
    """Values and tangents of the flat function ``fun``; tangents, in and out, may be `Zero`."""
    trace = JVPTrace(context.state.trace)
    with context.Use(trace):
        outs = fun(*map(trace.pair, primals, tangents))
    result = _unzip(map(trace.split, outs))
    if flags.check_tracer_leaks.value:
        watched = weakref.ref(trace)
        del trace, outs
        check_leaks(watched, "It was made by jvp.")
    return result


def jvp_jaxpr(closed: ClosedJaxpr, nonzero: Sequence[bool],
              instantiate_outs: bool | Sequence[bool] = False) -> tuple[ClosedJaxpr, list[bool]]:
    """The program ``(primals, tangents of the nonzero ones) -> (results, nonzero result tangents)``.

    Returns:
      the program, and which results have a tangent.
    """
    if isinstance(instantiate_outs, bool):
        instantiate_outs = [instantiate_outs] * len(closed.jaxpr.outvars)
    key = ("jvp", tuple(nonzero), tuple(instantiate_outs))
    return closed.memo(key, lambda: _jvp_jaxpr(closed, nonzero, instantiate_outs))


def _jvp_jaxpr(closed, nonzero, force):
    n = len(closed.in_avals)
    nonzero_out: list[bool] = []

    def run(*args):
        given = iter(args[n:])
        tangents = [next(given) if nz else Zero.of(x) for x, nz in zip(args, nonzero)]
        outs, out_tangents = jvp_flat(lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs), args[:n], tangents)
        nonzero_out[:] = [f or not isinstance(t, Zero) for t, f in zip(out_tangents, force)]
        return [*outs, *(instantiate(t) for t, nz in zip(out_tangents, nonzero_out) if nz)]

    avals = closed.in_avals + [a.to_tangent_aval() for a, nz in zip(closed.in_avals, nonzero) if nz]
    jaxpr, consts, _ = trace_to_jaxpr(run, avals, closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts), list(nonzero_out)
