"""Taylor series through programs: a trace whose values are truncated power series.

For an input curve ``x(t) = x_0 + x_1 t + ... + x_K t^K`` the trace finds the coefficients of ``y(t) = f(x(t))``. The
coefficients here are those of the powers of t; `jet` converts from and to derivatives.

There are no recurrences for exp, sin, tanh, erf, pow and the others. The JVP rule of a primitive says
``y' = rule(x, y; x')``, which is a differential equation for y, and the coefficient of ``t^(k-1)`` on the right needs
nothing of y beyond ``y_(k-1)``: so ``y_k = rule(...)_(k-1) / k``. The rule runs once, on series whose coefficients are
computed when they are asked for, and y is one of these series. For exp, where the rule is ``x' y``, this is the textbook
recurrence; sine and cosine, each in the other's rule, become the coupled pair, because a call that was made before on
the same series gives the same series (`JetTrace.memo`). Every primitive that can be differentiated can be expanded,
in a number of operations quadratic in the order for a rule made of sums, products and quotients.

What must be known besides are sums, products and quotients (`rules`), and primitives that hold programs (`programs`).

Sources: Griewank, Walther, "Evaluating Derivatives", 2nd ed., chapter 13; McIlroy, "Squinting at power series", 1990,
for series that define themselves.
"""
from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypeGuard

import numpy as np

from jax_core.configuration import context
from jax_core.representation import dtypes
from jax_core.representation.aval import get_aval
from jax_core.representation.marks import LINEAR, ZERO
from jax_core.representation.primitive import Primitive, Zero
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import convert_element_type_p, instantiate
from jax_core.traces.trace import Trace
from jax_core.transformations.forward import PrimalTracer, has_tangent, run_jvp_rule

from ..lax.arithmetic import add_p, div_p, mul_p
from ..lax.nary import constant, like

if TYPE_CHECKING:
    from jax_core.transformations.custom_jvp import CustomJvpCall
    from jax_core.transformations.custom_vjp import CustomVjpCall

Terms = list | None
"""The coefficients of ``t^1, t^2, ...`` (None where one is zero), or None where all are."""

jet_rules: dict[Primitive, Callable] = {}
"""Rules of users: ``rule(primals, series, **params) -> (result, its series)``, in derivatives as `jet` takes them."""
SERIES: dict[Primitive, Callable] = {}
"""Filled by `rules`: ``(trace, prim, args, params)`` to ``following(k, results)``, which gives coefficient k of each result."""
COMPOSED: dict[Primitive, Callable] = {}
"""Filled by `rules`: primitives that are written with others."""
PROGRAMS: dict[Primitive, Callable] = {}
"""Filled by `programs`: ``(trace, prim, args, params)`` to the results, of primitives that hold programs."""


class JetTracer(PrimalTracer):
    """A truncated power series.

    Attributes:
      primal: the coefficient of ``t^0``.
      order: the highest power whose coefficient may be asked for.
    """
    __module__ = "jax.experimental.jet"  # see `Tracer`

    __slots__ = ("order", "_found", "_next")

    def __init__(self, trace: "JetTrace", primal: Any, order: int, following: Callable[[int], Any]):
        """``following(k)`` computes coefficient k, those before being known; None stands for zero."""
        self._trace, self.primal, self.order = trace, primal, order
        self._found: list = []
        self._next = following

    @property
    def terms(self) -> list:
        """The coefficients of ``t^1`` to ``t^order``; None stands for zero."""
        return [self.coefficient(k) for k in range(1, self.order + 1)]

    def coefficient(self, k: int) -> Any:
        """The coefficient of ``t^k``; None if it is known to be zero."""
        if k == 0:
            return self.primal
        while len(self._found) < k:
            term = self._next(len(self._found) + 1)
            self._found.append(term if term is None else settle(term, self.primal))
        return self._found[k - 1]

    def __repr__(self):
        return f"Traced<{self.aval}>with<{self._trace}> with\n  primal = {self.primal!r}\n  terms = {self._found!r}"

    __str__ = __repr__


def settle(term: Any, primal: Any) -> Any:
    """``term`` in the shape and dtype of ``primal``: scalar operands count for all elements of a result."""
    aval = get_aval(primal)
    if np.shape(term) != aval.shape:
        term = like(term, primal)
    have = get_aval(term)
    if have.dtype != aval.dtype or have.weak_type != aval.weak_type:
        term = convert_element_type_p.bind(term, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)
    return term


def accumulate(total: object, term: object) -> Any:
    """Sum of two coefficients, either of which may be None."""
    if term is None:
        return total
    return term if total is None else add_p.bind(total, term)


class JetTrace(Trace):
    """Computes with truncated power series; all arithmetic is done by the parent."""

    __slots__ = ("order", "memo", "created")

    def __init__(self, parent: Trace, order: int):
        super().__init__(parent)
        self.order = order
        self.memo: dict = {}
        """Results of calls by primitive, operands and parameters; and the derivatives of series. Each entry holds its
        operands too, so that their ids stay their own."""
        self.created: list[JetTracer] | None = None
        """Series made by the JVP rule that is running; None outside rules, where series are computed at once."""

    @property
    def parent_trace(self) -> Trace:
        """The trace that does the arithmetic."""
        return self.parent

    def to_primal_terms_pair(self, val: ArrayLike | JetTracer) -> tuple[Any, list]:
        """Coefficient of ``t^0``, and the list of the others; of what is no series of this trace they are zero (None)."""
        return (val.primal, val.terms) if self.owns(val) else (val, [None] * self.order)

    def owns(self, x: ArrayLike | JetTracer) -> TypeGuard[JetTracer]:
        return type(x) is JetTracer and x._trace is self

    def primals(self, args: Sequence[Any]) -> list:
        return [x.primal if self.owns(x) else x for x in args]

    def coefficient(self, x: ArrayLike | JetTracer, k: int) -> Any:
        """Coefficient k of any value; None for zero."""
        if self.owns(x):
            return x.coefficient(k)
        return x if k == 0 else None

    # -- primitives ------------------------------------------------------------------------------------------------------

    def process(self, prim: Primitive, args: Sequence[Any], params: dict) -> Any:
        if not any(map(self.owns, args)):
            return self.parent.process(prim, args, params)
        key = _key(prim, args, params)
        if self.created is not None and key in self.memo:
            return self.memo[key][0]
        with context.Use(self.parent):
            result = self._apply(prim, args, params)
            self._keep(key, result, args, result if prim.multiple_results else [result])
        return result

    def _apply(self, prim, args, params):
        if prim in jet_rules:
            return run_user_rule(self, prim, args, params)
        if prim in PROGRAMS:
            return PROGRAMS[prim](self, prim, args, params)
        if prim in COMPOSED:
            with context.Use(self):
                return COMPOSED[prim](*args, **params)
        outs = prim.bind(*self.primals(args), **params)
        if prim.jvp is ZERO:
            return outs
        rule = SERIES.get(prim) or (linear if prim.jvp is LINEAR else ode)
        following = rule(self, prim, args, params)
        if prim.multiple_results:
            return self.wrap(outs, self.order_of(args), following)
        return self.wrap([outs], self.order_of(args), following)[0]

    def order_of(self, args: Sequence[Any]) -> int:
        return min(x.order for x in args if self.owns(x))

    def wrap(self, outs: Sequence[object], order: int, following: Callable[[int, list], Sequence[Any]]) -> list:
        """Series with the first coefficients ``outs``; ``following(k, series)`` gives coefficient k of all of them.

        Results of a type without tangents (integers) are left as they are.
        """
        rows: dict[int, Sequence[Any]] = {}
        series: list = []

        def coefficient(i, k):
            if k not in rows:
                rows[k] = following(k, series)
            return rows[k][i]
        for i, x in enumerate(outs):
            differentiable = order > 0 and has_tangent(get_aval(x))
            series.append(JetTracer(self, x, order, partial(coefficient, i)) if differentiable else x)
        return series

    def _keep(self, key: Any, result: Any, held: Any, series: Sequence[Any]) -> None:
        """Put a result in the memo; outside rules compute its coefficients at once and forget all that was kept."""
        self.memo[key] = result, held
        mine = [s for s in series if self.owns(s)]
        if self.created is not None:
            self.created.extend(mine)
            return
        for s in mine:  # now, as a long program would be a deep recursion later
            s.coefficient(s.order)
        self.memo.clear()

    def derivative(self, x: JetTracer) -> Any:
        """The series of ``dx/dt``; its coefficient k is ``(k + 1) x_(k+1)``."""
        key = ("derivative", id(x))
        if key not in self.memo:
            with context.Use(self.parent):
                first = x.coefficient(1)
                first = instantiate(Zero.of(x.primal)) if first is None else first
                self.memo[key] = (first if x.order == 1 else JetTracer(
                    self, first, x.order - 1, lambda k: times(x.coefficient(k + 1), k + 1))), x
        return self.memo[key][0]

    # -- functions with rules of the user's own ------------------------------------------------------------------------------

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[Any]):
        if not any(map(self.owns, args)):
            return self.parent.process_custom_jvp(call, args)
        key = ("custom_jvp", call if call.key is None else call.key, *map(_value_key, args))
        if self.created is not None and key in self.memo:
            result, (_, earlier) = self.memo[key]
            if earlier.structure:
                call.structure[:] = earlier.structure
            return result
        with context.Use(self.parent):
            outs = self.parent.process_custom_jvp(call, self.primals(args))
            result = self.wrap(outs, self.order_of(args), Ode(self, args, call.run_jvp))
            self._keep(key, result, (args, call), result)
        return result

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        """A reverse-mode rule says nothing about series: the function itself is expanded."""
        return call.fun(*args)


def times(term: Any, k: int) -> Any:
    """``k term`` for a coefficient that may be None."""
    return term if term is None or k == 1 else mul_p.bind(term, _factor(k, term))


def over(term: Any, k: int) -> Any:
    """``term / k`` for a coefficient that may be None."""
    return term if term is None or k == 1 else div_p.bind(term, _factor(k, term))


def _factor(k: int, term: Any) -> Any:
    """``k`` in the dtype of ``term``, and as weak."""
    return float(k) if (aval := get_aval(term)).weak_type and aval.dtype == dtypes.dtype(float) else constant(k, term)


# -- series from linear primitives, from results at once, from rules of users --------------------------------------------

def coefficients(trace: JetTrace, args: Sequence[Any], k: int) -> list:
    """Coefficient k of each operand, as tangents."""
    found = [trace.coefficient(x, k) for x in args]
    return [Zero.of(p) if t is None else t for p, t in zip(trace.primals(args), found)]


def linear(trace: JetTrace, prim: Primitive, args: Sequence[object], params: dict) -> Callable:
    """Coefficient k of the result is the primitive applied to the coefficients k of all operands."""
    def following(k, series):
        terms = coefficients(trace, args, k)
        if all(isinstance(t, Zero) for t in terms):
            return [None] * len(series)
        out = prim.bind(*map(instantiate, terms), **params)
        return out if prim.multiple_results else [out]
    return following


def terms_of(trace: JetTrace, x: Any, order: int) -> Terms:
    """Coefficients 1 to ``order`` of a value."""
    if not trace.owns(x):
        return None
    found = [x.coefficient(k) for k in range(1, order + 1)]
    return None if all(t is None for t in found) else found


def expand(trace: JetTrace, prim: Primitive, args: Sequence[object], params: dict, run: Callable) -> list:
    """Series of the results: at once where the operands are complete, else order by order."""
    primals, order = trace.primals(args), trace.order_of(args)
    if trace.created is None:
        outs, terms = run(prim, primals, [terms_of(trace, x, order) for x in args], order, params)
        return trace.wrap(outs, order, lambda k, series: [None if t is None else t[k - 1] for t in terms])
    outs = prim.bind(*primals, **params)

    def following(k, series):
        terms = run(prim, primals, [terms_of(trace, x, k) for x in args], k, params)[1]
        return [None if t is None else t[k - 1] for t in terms]
    return trace.wrap(outs if prim.multiple_results else [outs], order, following)


def run_user_rule(trace: JetTrace, prim: Primitive, args: Sequence[object], params: dict) -> Any:
    """A rule from `jet_rules`, which takes and gives derivatives."""
    rule = jet_rules[prim]

    def run(prim, primals, terms, order, params: Mapping[str, object]):
        series = [[instantiate(Zero.of(x))] * order if t is None else
                  [instantiate(Zero.of(x)) if c is None else times(c, math.factorial(k)) for k, c in enumerate(t, 1)]
                  for x, t in zip(primals, terms)]
        outs, out_series = rule(primals, series, **params)
        if not prim.multiple_results:
            outs, out_series = [outs], [out_series]
        return outs, [[over(c, math.factorial(k)) for k, c in enumerate(s, 1)] if isinstance(s, (list, tuple)) else None
                      for s in out_series]
    outs = expand(trace, prim, args, params, run)
    return outs if prim.multiple_results else outs[0]


# -- series from JVP rules -----------------------------------------------------------------------------------------------

def ode(trace: JetTrace, prim: Primitive, args: Sequence[object], params: dict) -> "Ode":
    """The coefficients of ``prim(*args)`` by its JVP rule."""
    def rule(primals, tangents):
        outs, out_tangents = run_jvp_rule(prim, primals, tangents, params)
        return (outs, out_tangents) if prim.multiple_results else ([outs], [out_tangents])
    return Ode(trace, args, rule)


class Ode:
    """``(k, results) -> coefficients k of all results``, where ``rule(primals, tangents) -> (results, their tangents)``.

    The rule runs when the first coefficient is asked for, for then the results are in the memo, where the rule finds
    them in place of computing them from themselves.
    """

    __slots__ = ("trace", "args", "rule", "tangents", "steps")

    def __init__(self, trace: JetTrace, args: Sequence[Any], rule: Callable):
        self.trace, self.args, self.rule = trace, args, rule
        self.tangents: list | None = None
        self.steps: list[JetTracer] = []

    def __call__(self, k: int, series: list) -> list:
        if self.tangents is None:
            self.tangents = self._run()
        for step in self.steps:  # in the order in which the rule made them: no deep recursion
            if step.order >= k - 1:
                step.coefficient(k - 1)
        return [None if isinstance(t, Zero) else over(self.trace.coefficient(t, k - 1), k) for t in self.tangents]

    def _run(self):
        trace, outer = self.trace, self.trace.created
        tangents = [trace.derivative(x) if trace.owns(x) else Zero.of(x) for x in self.args]
        trace.created = self.steps
        try:
            with context.Use(trace):
                return self.rule(list(self.args), tangents)[1]
        finally:
            trace.created = outer


def _key(prim: Primitive, args: Sequence[Any], params: dict) -> tuple:
    return (prim, *map(_value_key, args), *((name, _parameter_key(value)) for name, value in params.items()))


def _value_key(x: Any) -> Any:
    return (type(x), x) if isinstance(x, (bool, int, float, complex)) else id(x)


def _parameter_key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
