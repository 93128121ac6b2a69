"""Staging: running a Python function on tracers to write down the jaxpr of what it does.

This is the hottest Python code of the system (every equation of every traced program passes `process`), so it does
only what it must: look up the cached result types, make variables and tracers, append the equation.
"""
from __future__ import annotations

import functools
import gc
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..compat.origins import HasOrigin
from ..compat.traces import StagingHabits
from ..configuration import context, flags
from ..representation import source, spec_text
from ..representation.aval import AbstractValue, canonicalize_handlers, foreign_value, get_aval
from ..representation.effects import located
from ..representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, check_jaxpr
from ..representation.primitive import Primitive, abstract_eval
from .collector import RELAXED
from .trace import EVAL, Trace, Tracer, escaped

if TYPE_CHECKING:
    from ..transformations.custom_jvp import CustomJvpCall
    from ..transformations.custom_vjp import CustomVjpCall

_SCALARS = (bool, int, float, complex)


class DynamicJaxprTracer(HasOrigin, Tracer):
    """A value of the program being written."""
    __module__ = "jax.interpreters.partial_eval"  # see `Tracer`

    __slots__ = ("aval", "_var")

    def __init__(self, trace: DynamicJaxprTrace, aval: AbstractValue, var: Any):
        self._trace, self.aval, self._var = trace, aval, var

    def aval_text(self):
        text = repr(self.aval)
        if self.aval.dtype == np.bool_ and not self.aval.weak_type:
            # the specification shows comparisons of weakly typed values as weak; truth values promote alike either way
            eqn = self._trace.producer(self._var)
            if eqn is not None and all(v.aval.weak_type or type(v) is Literal for v in eqn.invars):
                return text[:-1] + ", weak_type=True)"
        return text

    def by_type(self):
        return super().__repr__()

    def __repr__(self):
        text = self._trace.text_of(self)
        return self.by_type() if text is None else text

    __str__ = __repr__

    def truth(self):
        return self._trace.truth_of(self)

    def _origin_message(self):
        return self._trace.describe(self._var)

    @property
    def _to_know(self):
        return _TO_KNOW.get(self._trace.debug.traced_for or "jit" if self._trace.debug else "jit", "")

    def _made_by(self):
        return self._trace.describe(self._var, ended=True)


_TO_KNOW = {
    "jit": "make the argument static (static_argnums or static_argnames of jax.jit)",
    "checkpoint": "make the argument static (static_argnums or static_argnames of jax.checkpoint)",
    "scan": "write the loop in Python, which is unrolled",
    "while_loop": "write the loop in Python, which is unrolled",
}
"""What to write so that a value is known, by what the function is traced for."""


@functools.lru_cache(4096)
def _int32_literal(x: np.int32) -> Literal:
    return Literal(x)


class DynamicJaxprTrace(StagingHabits, Trace):
    """Writes down every call; it has no parent, as nothing runs below it while the program is written."""

    __slots__ = ("invars", "constants", "eqns", "debug", "below", "effects", "varying", "sorted_out")

    def __init__(self, debug: DebugInfo | None = None):
        super().__init__(None)
        self.varying: set[Var] | None = None
        self.invars: list[Var] = []
        self.constants: dict[int, tuple[Any, Any]] = {}  # by identity; a variable, or the literal of a scalar made here
        self.eqns: list[JaxprEqn] = []
        self.effects: Any = set()
        self.debug = debug
        self.below = context.state.trace

    def __repr__(self):
        level, sublevel, trace = 0, 1, self.below
        while trace is not None:
            if isinstance(trace, DynamicJaxprTrace):
                sublevel, trace = sublevel + 1, trace.below
            else:
                level, trace = level + (trace.parent is not None), trace.parent
        return f"DynamicJaxprTrace(level={level}/{sublevel})"

    def process(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        if self.agree is not None:
            args, params = self.agree(prim, args, params)
        if prim.stage is not None:
            return prim.stage(self, args, params)
        return self.record(prim, args, params)

    def record(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        """Append the equation ``prim(*args)`` and return tracers for its results."""
        atoms, avals = [], []
        for x in args:
            if type(x) is DynamicJaxprTracer and x._trace is self:
                atoms.append(x._var)
                avals.append(x.aval)
            else:
                atom = self.constant(x)
                atoms.append(atom)
                avals.append(atom.aval)
        types, effects = abstract_eval(prim, avals, params)
        if effects:
            effects = located(effects, atoms)
            self.effects |= effects
        outvars = [Var(aval) for aval in types]
        self.eqns.append(JaxprEqn(atoms, outvars, prim, params, effects, source.capture()))
        if prim.multiple_results:
            return [DynamicJaxprTracer(self, v.aval, v) for v in outvars]
        v = outvars[0]
        return DynamicJaxprTracer(self, v.aval, v)

    def constant(self, x: Any) -> Any:
        """The atom for a value that is not a tracer of this trace."""
        kind = type(x)
        if kind is np.int32:  # the constants of index arithmetic
            return _int32_literal(x)
        if kind in _SCALARS or isinstance(x, np.generic):
            return Literal(x)
        known = self.constants.get(id(x))
        if known is not None:
            return known[0]
        if kind is np.ndarray and x.shape == ():
            return Literal(x[()])
        if isinstance(x, Tracer) and not self._is_above(x._trace) and not x._trace.works_as_theirs():
            raise escaped(x)  # one of a library's trace has a type, which is all that staging needs; running it raises
        if hasattr(x, "__jax_array__"):
            x = x.__jax_array__()
            if type(x) is DynamicJaxprTracer and x._trace is self:
                return x._var
        elif kind in canonicalize_handlers:
            x = foreign_value(x)
        var = Var(get_aval(x))
        self.constants[id(x)] = (var, x)  # holding x keeps its id from being used again
        return var

    def _is_above(self, owner: Trace) -> bool:
        """Whether ``owner`` is a trace in force around this one, so that its tracers are values here."""
        trace = self.below
        while trace is not None and trace is not owner:
            trace = trace.below if isinstance(trace, DynamicJaxprTrace) else trace.parent
        return trace is owner

    def array_made(self, x: Any, value: object) -> Any:
        atom = self.constant(x) if value is None else Literal(value, get_aval(x))
        return DynamicJaxprTracer(self, atom.aval, atom)

    def text_of(self, tracer: DynamicJaxprTracer) -> str | None:
        """How ``tracer`` prints where its numbers can be had at once, else None; so can those of an eager `shard_map`."""
        return None

    def truth_of(self, tracer: DynamicJaxprTracer) -> Any | None:
        """The one element of ``tracer``, for `if`, where it can be had at once, else None."""
        return None

    def known(self, literal: Literal) -> DynamicJaxprTracer:
        """A value of the program that is the scalar ``literal``."""
        return DynamicJaxprTracer(self, literal.aval, literal)

    def new_input(self, aval: AbstractValue) -> DynamicJaxprTracer:
        var = Var(aval)
        self.invars.append(var)
        return DynamicJaxprTracer(self, aval, var)

    def atom(self, x: object) -> Any:
        """The variable or literal that stands for ``x`` in this program."""
        if type(x) is DynamicJaxprTracer and x._trace is self:
            return x._var
        return self.constant(x)

    def finish(self, outs: Sequence[object]) -> tuple[Jaxpr, list]:
        """The program with results ``outs``, and the values of its constants."""
        outvars = [self.atom(x) for x in outs]
        pairs = [pair for pair in self.constants.values() if type(pair[0]) is Var]
        jaxpr = Jaxpr([v for v, _ in pairs], self.invars, outvars, self.eqns, self.effects, self.debug)
        if flags.enable_checks.value:
            check_jaxpr(jaxpr)
        return jaxpr, [x for _, x in pairs]

    def process_ref(self, prim: Any, args: Sequence[Any], params: dict[str, Any]):
        return self.record(prim, args, params)

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        return call.stage(self, args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        return call.stage(self, args)

    def describe(self, var: Var, ended: bool = False) -> str:
        """Where ``var`` comes from: an argument of the traced function, or an operation at a line."""
        debug = self.debug or DebugInfo()
        what = (f"While tracing the function {debug.func_src_info or '<unknown>'}, transformed by "
                f"{debug.traced_for or 'jit'}., ")
        reached, positions = self._inputs_of(var)
        if ended:
            line = f" at {reached.source_info}" if reached is not None else ""
            return (f"It was made{line} while tracing the function {debug.func_src_info or '<unknown>'} for {debug.traced_for or 'jit'}."
                    + self._by_name(None, positions))
        if positions:
            return what + spec_text.STAGED_OUT.format(
                function=debug.func_src_info, transformation=debug.traced_for or "jit", positions=positions,
            ) + self._by_name(reached, positions)
        if reached is not None:
            return what + f"this value was computed at {reached.source_info}."
        return what.rstrip(", ")

    def _by_name(self, reached: JaxprEqn | None, positions: Sequence[int]) -> str:
        """The arguments at ``positions`` by their names, and the line of ``reached``."""
        names = self.debug.arg_names if self.debug else ()
        found = [names[i] for i in positions if i < len(names)]
        if not found:
            return ""
        what = "It comes from the arguments" if len(found) > 1 else "It comes from the argument"
        line = f", and was computed at {reached.source_info}" if reached is not None else ""
        return f"\n{what} {', '.join(found)}{line}."

    def is_loop_body(self, varying: Sequence[bool]) -> None:
        """Say that the program is the body of a loop, and which of its inputs change from step to step."""
        self.varying, self.sorted_out = {v for v, changes in zip(self.invars, varying) if changes}, 0

    def varies(self, x: object) -> bool:
        """Whether ``x`` can change from step to step of the loop that `is_loop_body` was told of."""
        varying = self.varying
        assert varying is not None
        for eqn in self.eqns[self.sorted_out:]:  # each equation is looked at once
            if eqn.effects or not varying.isdisjoint([v for v in eqn.invars if type(v) is not Literal]):
                varying.update(eqn.outvars)
        self.sorted_out = len(self.eqns)
        return type(x) is DynamicJaxprTracer and x._trace is self and x._var in varying

    def producer(self, var: Var) -> JaxprEqn | None:
        """The equation that computes ``var``."""
        return next((e for e in reversed(self.eqns) if any(v is var for v in e.outvars)), None)

    def _inputs_of(self, var):
        producers = {v: e for e in self.eqns for v in e.outvars}
        pending, seen = [var], set()
        while pending:
            v = pending.pop()
            if v not in seen and type(v) is not Literal:
                seen.add(v)
                if v in producers:
                    pending.extend(producers[v].invars)
        return producers.get(var), [i for i, v in enumerate(self.invars) if v in seen]


class FoldingTrace(DynamicJaxprTrace):
    """Runs at once what works on constants only (`eager_constant_folding`), unless it has effects or stands in a manual region."""

    __slots__ = ()

    def array_made(self, x: Any, value: object) -> Any:
        if value is not None:
            self.constants[id(x)] = (Literal(value, get_aval(x)), x)
        return x

    def process(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        if self.agree is None and prim.effects is None and not any([isinstance(x, Tracer) for x in args]):
            with context.Use(EVAL):
                return prim.bind(*args, **params)
        return super().process(prim, args, params)


class TypesTrace(DynamicJaxprTrace):
    """Of a program that nobody will run: a tracer whose transformation has ended has a type, which is all that is asked for."""

    __slots__ = ()

    def constant(self, x):
        if isinstance(x, Tracer) and id(x) not in self.constants and not self._is_above(x._trace):
            self.constants[id(x)] = (Var(x.aval), x)
        return super().constant(x)


def check_may_trace(fun: Callable, avals: Sequence[AbstractValue]) -> None:
    """Raise RuntimeError if `jax.no_tracing` is in force and ``fun`` is the user's; whether one of ours is traced is ours to choose."""
    if flags.no_tracing.value and not source.is_own(fun):
        raise RuntimeError(f"{source.describe_function(fun)} would be traced for arguments of types {', '.join(a.str_short() for a in avals)}, "
                           "and jax_no_tracing is on; call it with such arguments before, or outside of jax.no_tracing()")


def trace_to_jaxpr(fun: Callable, in_avals: Sequence[AbstractValue],
                   debug: DebugInfo | None = None, trace: DynamicJaxprTrace | None = None) -> tuple[Jaxpr, list, list]:
    """Trace ``fun``, a function of flat arguments that returns a flat sequence; ``trace`` writes it down, by default a new one.

    Returns:
      the jaxpr, the values of its constants (these can be tracers of outer transformations), and the types of its
      results.

    Raises:
      TypeError: ``fun`` returns something that is not an array or number.
    """
    trace = trace or (FoldingTrace if flags.eager_constant_folding.value else DynamicJaxprTrace)(debug)
    args = [trace.new_input(aval) for aval in in_avals]
    with RELAXED, context.Use(trace), source.own_names():
        outs = fun(*args)
        jaxpr, consts = trace.finish(outs)
    if flags.check_tracer_leaks.value:
        watched, place = weakref.ref(trace), trace.describe(trace.invars[0]) if trace.invars else ""
        del trace, args, outs  # what this function itself holds does not count
        check_leaks(watched, place)
    return jaxpr, consts, jaxpr.out_avals


def varying_in_loop(xs: Sequence[object]) -> list[bool] | None:
    """Which values change from step to step of the loop whose body is being written; None where it is not known to be one."""
    trace: Any = next((x._trace for x in xs if type(x) is DynamicJaxprTracer), None)
    return None if trace is None or trace.varying is None else [trace.varies(x) for x in xs]


def trace_to_closed(fun: Callable, in_avals: Sequence[AbstractValue],
                    debug: DebugInfo | None = None, trace: DynamicJaxprTrace | None = None) -> tuple[ClosedJaxpr, list]:
    """Like `trace_to_jaxpr`, with the constants made leading inputs: a closed jaxpr without constants, and their values.

    This is the form that nested jaxprs have.
    """
    jaxpr, consts, _ = trace_to_jaxpr(fun, in_avals, debug, trace)
    return ClosedJaxpr(constants_to_inputs(jaxpr), ()), consts


def constants_to_inputs(jaxpr: Jaxpr) -> Jaxpr:
    """The same program with its constants as leading inputs.

    >>> from jax.interpreters import partial_eval as pe
    >>> program = jax.make_jaxpr(lambda x: x + jnp.arange(3.))(1.)
    >>> len(pe.convert_constvars_jaxpr(program.jaxpr).invars) == len(program.jaxpr.constvars) + 1
    True
    """
    if not jaxpr.constvars:
        return jaxpr
    return Jaxpr([], jaxpr.constvars + jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)


def check_leaks(watched: weakref.ref, place: str) -> None:
    """Raise if tracers of a finished trace are still held by something; called while `jax_check_tracer_leaks` is on."""
    if watched() is None:
        return
    gc.collect()
    trace = watched()
    if trace is None:
        return
    held = [o for o in gc.get_objects() if isinstance(o, Tracer) and o._trace is trace]
    if held:
        raise leak_error(trace, held, place)


def survivors(made: Sequence[weakref.ref]) -> list[Tracer]:
    """Those of the tracers that something still holds."""
    if all(ref() is None for ref in made):
        return []
    gc.collect()
    return [x for ref in made if (x := ref()) is not None]


def leak_error(trace: Trace, held: Sequence[Tracer], place: str) -> Exception:
    """The error for tracers that outlive the function that was traced."""
    return Exception(f"Leaked trace {trace!r}: {len(held)} tracer(s) outlive the function that was traced, for instance "
                     f"{held[0].by_type()}, which was carried out by a side effect. {place}")
