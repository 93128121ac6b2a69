"""Reverse mode: linearize (run forward once, record the linear equations), then transpose what was recorded.

While `LinearizeTrace` runs a function, JVP rules get real primal values and, as tangents, `LinearTracer` objects.
Whatever is bound on a linear tracer is linear in it by the definition of a JVP rule, and goes on the tape; all else is
computed at once by the trace below. Walking the tape backwards with each primitive's transpose rule gives the
cotangents. No jaxpr is made on the way, so an eager gradient costs little more than its arithmetic.

Source: "You Only Linearize Once" (Radul, Paszke, Frostig, Johnson, Maclaurin, POPL 2023).
"""
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, cast

import numpy as np

from ..configuration import context, flags
from ..references.discharge import apply_discharged, works_on_refs
from ..references.primitives import TANGENT_REFS, Cell
from ..representation import source
from ..representation.aval import AbstractRef, AbstractValue, get_aval
from ..representation.effects import located
from ..representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, as_written, bind, eval_jaxpr, needs_x64
from ..representation.primitive import Linear, Primitive, Zero, abstract_eval, is_linear
from ..representation.splits import cotangent_type
from ..traces.staging import leak_error, survivors, trace_to_closed, trace_to_jaxpr
from ..traces.structural import as_cotangent, convert_element_type_p, instantiate
from ..traces.trace import Tracer
from . import logs, parts
from .forward import JVPTrace, JVPTracer, _unzip, has_tangent, run_jvp_rule
from .splitting import split_call, split_equation

if TYPE_CHECKING:
    from .custom_jvp import CustomJvpCall
    from .custom_vjp import CustomVjpCall


class LinearTracer(Tracer):
    """A tangent that is an input of the tape, or was recorded on it."""
    __module__ = "jax.interpreters.ad"  # see `Tracer`

    __slots__ = ("aval",)

    def __init__(self, trace, aval):
        self._trace, self.aval = trace, aval

    def _origin_message(self):
        return "The value is a tangent of a function being differentiated in reverse mode: only linear operations apply."


class _Recorded:
    """One linear equation on the tape: operands are `LinearTracer`s or plain values."""

    __slots__ = ("prim", "args", "params", "outs", "source")

    def __init__(self, prim, args, params, outs, where):
        self.prim, self.args, self.params, self.outs, self.source = prim, args, params, outs, where


class LinearizeTrace(JVPTrace):
    """Runs JVP rules on real values, and records what happens to tangents."""

    __slots__ = ("tape", "x64")

    def __init__(self, parent):
        super().__init__(parent)
        self.tape: list[_Recorded] = []
        self.x64 = flags.enable_x64.value

    def new_input(self, aval: AbstractValue) -> LinearTracer:
        return LinearTracer(self, aval)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict):
        if self.agree is not None:
            args, params = self.agree(prim, args, params)
        primals, tangents, ours = [], [], False
        for x in args:
            kind = type(x)
            if kind is JVPTracer and x._trace is self:
                primals.append(x.primal if flags.enable_x64.value == self.x64 else _typed(x.primal, get_aval(x.tangent)))
                tangents.append(x.tangent)
                ours = True
            elif kind is LinearTracer and x._trace is self:
                return self.record(prim, args, params)
            else:
                primals.append(x)
                tangents.append(Zero.of(x))
        if not ours:
            return self.parent.process(prim, args, params)
        if prim.discharge and (works_on_refs(params) or any([type(t) in TANGENT_REFS for t in tangents])):
            return apply_discharged(prim, args, params, self.holds)
        if prim.linearize:
            out, tangent = prim.linearize(primals, tangents, **params)
        else:
            out, tangent = run_jvp_rule(prim, primals, tangents, params)
        if prim.multiple_results:
            return [self.pair(x, t) for x, t in zip(out, tangent)]
        return self.pair(out, tangent)

    def record(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        """Put ``prim(*args)``, linear in the linear tracers among ``args``, on the tape.

        Where ``prim`` holds a program part of which does not depend on them, that part runs now.
        """
        if prim.split:
            parts = split_call(prim, args, [self.owns(x) for x in args], params)
            if parts is not None:
                return self._record_rest(prim, *parts)
        outs = self._append(prim, args, params)
        return outs if prim.multiple_results else outs[0]

    def _append(self, prim, args, params):
        if flags.enable_x64.value != self.x64:  # the tape will be read outside, where numbers have other dtypes
            args = [_typed(x, get_aval(x)) for x in args]
        types, _ = abstract_eval(prim, [get_aval(x) for x in args], params)
        outs = [LinearTracer(self, aval) for aval in types]
        self.tape.append(_Recorded(prim, args, params, outs, source.capture()))
        return outs

    def _record_rest(self, prim, parts, known, args):
        outs = self._append(prim, args, parts.rest_params)
        place = {i: x for i, x in zip(parts.rest_outs, outs) if i is not None}
        known = iter(known)
        return [place[i] if unknown else next(known) for i, unknown in enumerate(parts.out_unknown)]

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        if any(type(x) is LinearTracer and x._trace is self for x in args):
            return call.fun(*args)
        return super().process_custom_jvp(call, args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        if any(type(x) is LinearTracer and x._trace is self for x in args):
            return call.fun(*args)
        return super().process_custom_vjp(call, args)

    def new_ref(self, init, params: dict):
        self._refuse_tangent(init)
        return super().new_ref(init, params)

    def write_ref(self, ref, value: object):
        self._refuse_tangent(value)
        super().write_ref(ref, value)

    def refuse_change(self, prim: Primitive, ref, value: object):
        self._refuse_tangent(value)
        super().refuse_change(prim, ref, value)

    def _refuse_tangent(self, value):
        if self.owns(value):
            raise NotImplementedError("a derivative rule stores a tangent in a mutable reference, which reverse mode cannot "
                                      "transpose; write the rule without references.")

    def check_leaks(self) -> None:
        """Called when the function has returned; see `WatchedLinearizeTrace`."""

    # -- what is done with the tape ---------------------------------------------------------------------------------

    def owns(self, x: object) -> bool:
        return type(x) is LinearTracer and x._trace is self

    def transpose(self, inputs: Sequence[LinearTracer], outputs: Sequence[object], cotangents: Sequence[object],
                  wanted: Sequence[bool] | None = None) -> list:
        """Cotangents of ``inputs`` for those of ``outputs``; either may hold `Zero`. What only unwanted ones need is not computed."""
        tape = self.tape
        if wanted is not None:
            reached = {id(x) for x, w in zip(inputs, wanted) if w}
            tape = [step for step in tape if _passes_on(reached, map(id, step.args), map(id, step.outs))]
        pending: dict[int, Any] = {}  # by id, as tracers have no hash
        for out, ct in zip(outputs, cotangents):
            if self.owns(out):
                accumulate(pending, id(out), ct)
        with source.transformed("transpose"):
            for step in reversed(tape):
                _transpose_step(self, step, pending)
        return [parts.taken(pending[id(x)]) if id(x) in pending else Zero(cotangent_type(x.aval)) for x in inputs]

    def to_jaxpr(self, inputs: Sequence[LinearTracer], outputs: Sequence[object]) -> tuple[Jaxpr, list]:
        """The tape as a jaxpr from residuals and ``inputs`` to ``outputs``, and the values of the residuals."""
        variables: dict[int, Var] = {id(x): Var(x.aval) for x in inputs}
        residuals: dict[int, tuple[Var, Any]] = {}

        def atom(x):
            if self.owns(x):
                return variables[id(x)]
            if type(x) in (bool, int, float, complex) or isinstance(x, np.generic):
                return Literal(x)
            known = residuals.get(id(x))
            if known is None:
                known = residuals[id(x)] = (Var(get_aval(x)), x)
            return known[0]

        eqns: list[JaxprEqn] = []
        effects: Any = set()
        for step in _live(self, outputs):
            outvars = [Var(o.aval) for o in step.outs]
            _, step_effects = abstract_eval(step.prim, [get_aval(x) for x in step.args], step.params)
            operands = [atom(x) for x in step.args]
            step_effects = located(step_effects, operands)
            eqns.append(JaxprEqn(operands, outvars, step.prim, step.params, step_effects, step.source))
            effects |= step_effects
            variables.update(zip(map(id, step.outs), outvars))
        outvars = [atom(x) for x in outputs]
        pairs = list(residuals.values())
        jaxpr = Jaxpr([], [v for v, _ in pairs] + [variables[id(x)] for x in inputs], outvars, eqns, effects)
        return jaxpr, [x for _, x in pairs]


class WatchedLinearizeTrace(LinearizeTrace):
    """Knows the tracers that it gave to the user's function, for `jax_check_tracer_leaks`.

    The tape keeps the trace and the tangents alive for as long as there is a pullback, so that a living trace says nothing
    here; but none of the pairs of value and tangent may outlive the function.
    """

    __slots__ = ("made",)

    def __init__(self, parent):
        super().__init__(parent)
        self.made: list[weakref.ref] = []

    def watch(self, x):
        if type(x) is JVPTracer:
            self.made.append(weakref.ref(x))
        return x

    def pair(self, primal, tangent):
        return self.watch(super().pair(primal, tangent))

    def new_ref(self, init, params: dict):
        return self.watch(super().new_ref(init, params))

    def check_leaks(self):
        held = survivors(self.made)
        self.made.clear()
        if held:
            raise leak_error(self, held, "It was made by reverse-mode differentiation (grad, vjp or linearize).")


def _typed(x: Any, aval: AbstractValue) -> Any:
    """``x``, if it is a number, as an array of type ``aval``, which switching x64 does not change."""
    if not isinstance(x, (int, float, complex, np.generic)):
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)


def _live(trace, outputs):
    """The steps that ``outputs`` need, in order."""
    live, kept = {id(x) for x in outputs if trace.owns(x)}, []
    for step in reversed(trace.tape):
        if not live.isdisjoint(map(id, step.outs)):
            kept.append(step)
            live.update(id(x) for x in step.args if trace.owns(x))
    return reversed(kept)


def accumulate(pending: dict, key: Any, ct: Any) -> None:
    """Add ``ct`` to the cotangent of ``key``."""
    if ct is None or isinstance(ct, Zero):
        return
    before = pending.get(key)
    if type(before) is parts.Parts:
        before.rest = parts.added(before.rest, ct)
    else:
        pending[key] = parts.added(before, ct)


def _transpose_step(trace, step, pending):
    cts = [pending.pop(id(out), None) for out in step.outs]
    for ct in cts:
        if ct is not None:
            break
    else:
        return
    cts = list(map(parts.taken, cts))
    rule, operand = step.prim.part, step.args[0]
    if rule and parts.keep(pending, id(operand), rule, cts, operand.aval, step.params, step.source):
        return
    args = [Linear(x.aval) if type(x) is LinearTracer and x._trace is trace else x for x in step.args]
    with source.attributed_to(step.source):
        found = run_transpose_rule(step.prim, cts, [o.aval for o in step.outs], args, step.params)
        for x, arg, ct in zip(step.args, args, found):
            if type(arg) is Linear:
                accumulate(pending, id(x), ct)


def run_transpose_rule(prim: Primitive, cts: Sequence[object], out_avals: Sequence[AbstractValue],
                       args: Sequence[object], params: dict) -> Sequence[Any]:
    """Cotangents of ``args`` by the transpose rule of ``prim``; a cotangent of None among ``cts`` means zero."""
    if not flags.enable_x64.value and out_avals and needs_x64(out_avals[0]):
        with flags.enable_x64(True):
            return run_transpose_rule(prim, cts, out_avals, args, params)
    rule = prim.transpose
    if rule is None:
        raise NotImplementedError(f"reverse-mode differentiation: primitive {prim.name!r} has no transpose rule")
    if prim.multiple_results:
        return _split_alike(rule([Zero(cotangent_type(a)) if ct is None else ct for ct, a in zip(cts, out_avals)], *args, **params), args)
    found = rule(cts[0], *args, **params)
    return _split_alike(found if isinstance(found, (tuple, list)) else (found,), args)


def _split_alike(found, args):
    """Cotangents, each split over the mesh as the operand that it is of."""
    for a in args:
        if type(a) is Linear and a.aval.placement is not None:
            return [as_cotangent(ct, a.aval) if type(a) is Linear and a.aval.placement is not None else ct for ct, a in zip(found, args)]
    return found


def linearize_flat(fun: Callable, primals: Sequence[Any],
                   nonzero: Sequence[bool] | None = None) -> tuple[list, list, LinearizeTrace, list]:
    """Run ``fun`` on ``primals`` and record how tangents flow.

    Args:
      fun: flat function that returns a sequence.
      nonzero: which primals have a tangent on the tape, not among them those whose tangents are float0; default all others.

    Returns:
      results, linear inputs (one for each nonzero primal), the trace with its tape, and the result tangents
      (`LinearTracer` or `Zero`).
    """
    trace = (WatchedLinearizeTrace if flags.check_tracer_leaks.value else LinearizeTrace)(context.state.trace)
    wanted = [has_tangent(get_aval(x)) for x in primals] if nonzero is None else nonzero
    args = [_input(trace, x) if nz else x for x, nz in zip(primals, wanted)]
    inputs = [_tangent(x) for x, nz in zip(args, wanted) if nz]
    with context.Use(trace):
        outs = fun(*args)
    values, tangents = _unzip(map(trace.split, outs))
    del args, outs  # what this function itself holds is no leak
    trace.check_leaks()
    return values, inputs, trace, tangents


def _input(trace: LinearizeTrace, x: Any) -> JVPTracer:
    """The primal ``x`` with a tangent that is an input of the tape."""
    aval = get_aval(x).to_tangent_aval()
    if type(aval) is AbstractRef:
        return trace.pair(x, Cell(trace.new_input(aval.inner_aval)))
    return trace.pair(x, trace.new_input(aval))


def _tangent(x: JVPTracer) -> LinearTracer:
    return x.tangent.value if type(x.tangent) is Cell else x.tangent


def vjp_flat(fun: Callable, primals: Sequence[object]) -> tuple[list, Callable]:
    """Results of ``fun``, and the function from their cotangents (`Zero` allowed) to those of ``primals``."""
    nonzero = [has_tangent(get_aval(x)) for x in primals]
    outs, inputs, trace, tangents = linearize_flat(fun, primals, nonzero)

    def pullback(*cts):
        found = iter(trace.transpose(inputs, tangents, cts))
        return [next(found) if nz else Zero.of(x) for x, nz in zip(primals, nonzero)]
    return outs, pullback


class Linearized:
    """What `linearize_jaxpr` returns.

    Attributes:
      primal: program ``args -> (results, fresh residuals)``.
      tangent: linear program ``(residuals, tangents of the nonzero args) -> nonzero result tangents``.
      nonzero_out: which results have a tangent.
      sources: where each residual comes from: ``("in", i)``, ``("out", i)``, both kept only once, or ``("fresh", i)``.
    """

    __slots__ = ("primal", "tangent", "nonzero_out", "sources")

    def __init__(self, primal, tangent, nonzero_out, sources):
        self.primal, self.tangent, self.nonzero_out, self.sources = primal, tangent, nonzero_out, sources

    @property
    def num_fresh(self) -> int:
        return sum(kind == "fresh" for kind, _ in self.sources)

    def residuals(self, args: Sequence[object], outs: Sequence[object]) -> list:
        """The residuals, from the arguments and the results of ``primal``."""
        first_fresh = len(self.nonzero_out)
        place = {"in": lambda i: args[i], "out": lambda i: outs[i], "fresh": lambda i: outs[first_fresh + i]}
        return [place[kind](i) for kind, i in self.sources]


def linearize_jaxpr(closed: ClosedJaxpr, nonzero: Sequence[bool],
                    instantiate_outs: bool | Sequence[bool] = False, varying: Sequence[bool] | None = None) -> Linearized:
    """Split the derivative of ``closed`` into what can be computed without tangents and what is linear in them.

    Args:
      nonzero: which inputs have a tangent.
      instantiate_outs: which results get a tangent in any case.
      varying: where ``closed`` is the body of a loop, which inputs change from step to step: rules that keep residuals may
        keep the others' apart (`staging.varying_in_loop`).
    """
    if isinstance(instantiate_outs, bool):
        instantiate_outs = [instantiate_outs] * len(closed.jaxpr.outvars)
    key = ("linearize", tuple(nonzero), tuple(instantiate_outs), None if varying is None else tuple(varying))
    return closed.memo(key, lambda: _linearize_jaxpr(closed, nonzero, instantiate_outs, varying))


def _linearize_jaxpr(closed, nonzero, force, varying) -> Linearized:
    nonzero_out: list[bool] = []
    sources: list[tuple[str, int]] = []
    tangent_program: list[Jaxpr] = []

    def run(*args):
        if varying is not None:
            context.state.trace.is_loop_body(varying)
        outs, inputs, trace, tangents = linearize_flat(
            lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs), args, nonzero)
        nonzero_out[:] = [f or not isinstance(t, Zero) for t, f in zip(tangents, force)]
        kept = [instantiate(t) for t, nz in zip(tangents, nonzero_out) if nz]
        jaxpr, residuals = trace.to_jaxpr(inputs, kept)
        tangent_program[:] = [jaxpr]
        known = {id(x): ("out", i) for i, x in reversed(list(enumerate(outs)))}
        known.update((id(x), ("in", i)) for i, x in enumerate(args))
        fresh = []
        for r in residuals:
            place = known.get(id(r))
            if place is None:
                place = ("fresh", len(fresh))
                fresh.append(r)
            sources.append(place)
        return [*outs, *fresh]

    jaxpr, consts, _ = trace_to_jaxpr(run, closed.in_avals, closed.jaxpr.debug_info)
    return Linearized(ClosedJaxpr(jaxpr, consts), ClosedJaxpr(tangent_program[0], ()), nonzero_out, sources)


def _passes_on(reached: set, inputs: Iterable[object], outputs: Iterable[object]) -> bool:
    """Whether an operation reads any of ``reached``, to which its results then belong."""
    if reached.isdisjoint(inputs):
        return False
    reached.update(outputs)
    return True


def backward_pass(jaxpr: Jaxpr, consts: Sequence[object], args: Sequence[object], cotangents: Sequence[object],
                  wanted: Sequence[bool] | None = None, into: Mapping[Var, Any] | None = None) -> list:
    """Transpose a jaxpr that is linear in those of ``args`` which are `Linear`.

    Equations that read no linear variable are evaluated forwards first, so a program may hold the computation of its
    own residuals (as that of `checkpoint` does). What only arguments need that are not ``wanted`` is not computed.

    Args:
      into: mutable references for some of the linear variables. An equation that reads only a part of such a one adds its cotangent to that
        part of the reference; what else there is of cotangents is among the results.

    Returns:
      a list as long as ``args``: the cotangent (or `Zero`) of each linear argument, None for the others.
    """
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    linear: set[Var] = set()
    for v, x in zip(jaxpr.invars, args):
        if is_linear(x):
            linear.add(v)
        else:
            values[v] = x
    steps = []
    for eqn in jaxpr.eqns:
        flags = [type(v) is not Literal and v in linear for v in eqn.invars]
        if any(flags):
            pair = split_equation(eqn, flags) if eqn.primitive.split else None
            if pair is None:
                linear.update(eqn.outvars)
                steps.append(eqn)
                continue
            eqn, rest = pair
            linear.update(rest.outvars)
            steps.append(rest)
        with source.attributed_to(eqn.source_info):
            out = bind(eqn, [v.val if type(v) is Literal else values[v] for v in eqn.invars])
        values.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    if wanted is not None:
        reached = {v for v, w in zip(jaxpr.invars, wanted) if w and v in linear}
        steps = [eqn for eqn in steps if _passes_on(reached, [v for v in eqn.invars if type(v) is not Literal], eqn.outvars)]
    pending: dict[Var, Any] = {}
    for v, ct in zip(jaxpr.outvars, cotangents):
        if type(v) is not Literal and v in linear:
            accumulate(pending, v, ct)
    for eqn in reversed(steps):
        cts = [parts.taken(pending.pop(v, None)) for v in eqn.outvars]
        if all(ct is None for ct in cts):
            continue
        rule, operand = eqn.primitive.part, eqn.invars[0]
        if rule and not into and parts.keep(pending, operand, rule, cts, operand.aval, eqn.params, eqn.source_info):
            continue
        operands = [v.val if type(v) is Literal else Linear(v.aval) if v in linear else values[v] for v in eqn.invars]
        with source.attributed_to(eqn.source_info):
            found = _added_to_refs(eqn, cts, operands, into) if into and eqn.primitive.accumulate else None
            if found is None:
                found = as_written(eqn, run_transpose_rule, eqn.primitive, cts, [v.aval for v in eqn.outvars], operands, eqn.params)
            for v, x, ct in zip(eqn.invars, operands, found):
                if is_linear(x):
                    accumulate(pending, v, ct)
    return [(parts.taken(pending[v]) if v in pending else Zero(cotangent_type(v.aval))) if is_linear(x) else None
            for v, x in zip(jaxpr.invars, args)]


def _added_to_refs(eqn: JaxprEqn, cts: Sequence[object], operands: Sequence[Any], into: Mapping[Var, Any]) -> Sequence[Any] | None:
    """Cotangents by the rule ``accumulate`` where an operand has a reference; else None."""
    refs = [None if type(v) is Literal else into.get(v) for v in eqn.invars]
    if all(ref is None for ref in refs):
        return None
    given = [Zero(cotangent_type(v.aval)) if ct is None else ct for ct, v in zip(cts, eqn.outvars)]
    return cast(Callable, eqn.primitive.accumulate)(refs, given, operands, eqn.params)


def transpose_jaxpr(closed: ClosedJaxpr, linear: Sequence[bool],
                    nonzero_ct: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool], Any]:
    """The program ``(non-linear args, nonzero cotangents of results) -> cotangents of linear args that are nonzero, logs``.

    Returns:
      the program, for each linear argument whether its cotangent is among the results, and the structure of the logs, for
      `logs.rejoin`.
    """
    wanted = logs.wanted()
    key = ("transpose", tuple(linear), tuple(nonzero_ct), wanted)
    return closed.memo(key, lambda: _transpose_jaxpr(closed, linear, nonzero_ct, wanted))


def _transpose_jaxpr(closed, linear, nonzero_ct, wanted):
    nonzero_out: list[bool] = []
    structure: list[Any] = []
    known = [a for a, lin in zip(closed.in_avals, linear) if not lin]

    def run(*args):
        rest = iter(args)
        operands = [Linear(a) if lin else None for a, lin in zip(closed.in_avals, linear)]
        operands = [x if x is not None else next(rest) for x in operands]
        cts = [next(rest) if nz else None for nz in nonzero_ct]

        def transposed():
            found = [ct for ct, lin in zip(backward_pass(closed.jaxpr, closed.consts, operands, cts), linear) if lin]
            nonzero_out[:] = [not isinstance(ct, Zero) for ct in found]
            return [ct for ct, nz in zip(found, nonzero_out) if nz]
        outs, found_structure = logs.apart(wanted, transposed)
        structure[:] = [found_structure]
        return outs

    ct_avals = [cotangent_type(a) for a, nz in zip(closed.out_avals, nonzero_ct) if nz]
    jaxpr, consts, _ = trace_to_jaxpr(run, known + ct_avals, closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts), list(nonzero_out), structure[0]


def transpose_into_refs(closed: ClosedJaxpr, refs: Sequence[object], linear: Sequence[bool],
                        nonzero_ct: Sequence[bool]) -> tuple[ClosedJaxpr, list[bool]]:
    """`transpose_jaxpr` as ``(references, non-linear args, nonzero cotangents of results) -> nonzero cotangents of linear args``, for
    arguments of which ``refs`` has the references' types, or None; without logs."""
    def make():
        nonzero_out: list[bool] = []
        ref_avals = [a for a in refs if a is not None]
        known = [a for a, lin in zip(closed.in_avals, linear) if not lin]
        ct_avals = [cotangent_type(a) for a, nz in zip(closed.out_avals, nonzero_ct) if nz]

        def run(*args):
            rest = iter(args)
            into = {v: next(rest) for v, a in zip(closed.jaxpr.invars, refs) if a is not None}
            operands = [Linear(a) if lin else next(rest) for a, lin in zip(closed.in_avals, linear)]
            cts = [next(rest) if nz else None for nz in nonzero_ct]
            found = [ct for ct, lin in zip(backward_pass(closed.jaxpr, closed.consts, operands, cts, into=into), linear) if lin]
            nonzero_out[:] = [not isinstance(ct, Zero) for ct in found]
            return [ct for ct, nz in zip(found, nonzero_out) if nz]
        program, consts = trace_to_closed(run, [*ref_avals, *known, *ct_avals])
        return None if consts else (program, nonzero_out)
    return closed.memo(("transpose into refs", tuple(refs), tuple(linear), tuple(nonzero_ct)), make)
