"""Functions with a JVP rule of the user's own.

A call travels as a `CustomJvpCall` through the traces: evaluation runs the function, differentiation runs the rule,
vmap makes a batched pair of both, staging writes one equation that keeps the rule for later.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import backends
from ..compat.linear_util import WrappedFun, wrap_init
from ..configuration import context, flags
from ..references.discharge import custom_rule
from ..representation import dtypes, tree
from ..representation.arguments import check_callable, is_position, run_rule, signature_of
from ..representation.aval import described_value, get_aval
from ..representation.effects import operand_effects, refuse_effects
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, dce, eval_jaxpr, types_compatible
from ..representation.literals import typed
from ..representation.primitive import ProgramPrimitive, Zero, none
from ..representation.source import describe_function, name_of
from ..representation.tracebacks import api_boundary
from ..representation.traits import Kind, Traits
from ..representation.typing import ArrayLike
from ..traces.staging import trace_to_closed
from ..traces.structural import instantiate, matchaxis
from .batching import batch_fun
from .forward import closed_over
from .reverse import LinearTracer, backward_pass

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue


class SymbolicZero:
    """What a rule with ``symbolic_zeros`` gets for a tangent (or cotangent) that is zero: shape and dtype, no data.

    >>> from functools import partial
    >>> seen = []
    >>> @jax.custom_jvp
    ... def f(x, y):
    ...     return x * y
    >>> @partial(f.defjvp, symbolic_zeros=True)
    ... def rule(primals, tangents):
    ...     seen.append(type(tangents[1]).__name__)
    ...     return f(*primals), tangents[0] * primals[1]
    >>> jax.grad(f)(2., 3.), seen
    (Array(3., dtype=float32, weak_type=True), ['SymbolicZero'])
    """

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    @staticmethod
    def from_primal_value(val: ArrayLike) -> "SymbolicZero":
        """The zero tangent of ``val``."""
        return SymbolicZero(get_aval(val).to_tangent_aval())

    shape = property(lambda self: self.aval.shape, doc="Lengths of the axes.")
    dtype = property(lambda self: self.aval.dtype, doc="Dtype; float0 for that of an integer.")
    ndim = property(lambda self: len(self.aval.shape), doc="Number of axes.")
    size = property(lambda self: self.aval.size, doc="Number of elements.")

    def __repr__(self):
        return f"SymbolicZero({self.aval})"


def batch_all_mapped(fun: Callable, axis: Any, dims: Sequence[int | None], tag: object | None = None) -> Callable:
    """``fun`` on a batch, with the mapped axis first in every result."""
    run, out_dims = batch_fun(fun, axis, dims, tag)

    def batched(*args):
        outs = run(*args)
        return [matchaxis(axis, x, d, 0) for x, d in zip(outs, out_dims())]
    return batched


class MappedResults:
    """Which results of a call under `vmap` have the mapped axis, which then is their first.

    All of them where an argument has it. Where none has, the function or its rule may still close over values of that `vmap`: then
    those results that depend on such a value, and what runs first, the function or the rule, settles which these are.
    """

    def __init__(self, trace: Any, dims: Sequence[int | None], name: str):
        self.axis, self.name, self.all = trace.axis, name, any(d is not None for d in dims)
        self.flags: list[bool] | None = None

    def settle(self, found: Sequence[bool], what: str) -> list[bool]:
        """Settled flags for what ``what`` found to be mapped."""
        if self.flags is None:
            self.flags = [self.all or f for f in found]
        for i, (flag, f) in enumerate(zip(self.flags, found)):
            if f and not flag:
                raise ValueError(f"vmap: result {i} of the {what} of {self.name} is batched along the mapped axis, and that of the "
                                 "function itself is not; pass the mapped value that it closes over as an argument.")
        return self.flags

    def place(self, values: Sequence[object], dims: Sequence[int | None], flags: Sequence[bool]) -> list:
        return [matchaxis(self.axis, x, d, 0) if f else x for x, d, f in zip(values, dims, flags)]

    def dims(self) -> list[int | None]:
        return [0 if f else None for f in self.flags or ()]


def traced_first(fun: Callable[..., list], args: Sequence[object]) -> Callable[..., list]:
    """The flat ``fun`` as the program that tracing it on the types of ``args`` gives."""
    closed, consts = trace_to_closed(fun, [get_aval(x) for x in args])

    def run(*xs):
        return eval_jaxpr(closed.jaxpr, closed.consts, *consts, *xs)
    return named_as(fun, run)


class CustomJvpCall:
    """A flat function with its rule. ``jvp(primals, tangents) -> (outs, out_tangents)``, all flat lists.

    ``key``: equal for calls of the same function that differ in their arrays only, or None where that is not known.
    ``structure``: a list that is filled with the structure of the result when ``fun`` runs.
    """

    kind = "custom_jvp"
    __slots__ = ("fun", "jvp", "symbolic_zeros", "name", "key", "structure")

    def __init__(self, fun, jvp, symbolic_zeros=False, name="custom_jvp", key=None, structure=()):
        self.fun, self.jvp, self.symbolic_zeros, self.name, self.key = fun, jvp, symbolic_zeros, name, key
        self.structure = structure

    def run_jvp(self, primals: Sequence[object], tangents: Sequence[object]) -> tuple[list, list]:
        given = [SymbolicZero(t.aval) if isinstance(t, Zero) and self.symbolic_zeros else instantiate(t)
                 for t in tangents]
        outs, out_tangents = self.jvp(primals, given)
        return outs, [Zero.of(x) if _is_zero(t) else t for x, t in zip(outs, out_tangents)]

    def batched(self, trace, dims: Sequence[int | None]):
        """The pair on a batch of the `vmap` of ``trace``, and the function that gives the positions of the mapped axis in its results."""
        axis, tag, mapped = trace.axis, trace.tag, MappedResults(trace, dims, self.name)
        called, rule, symbolic_zeros = self.fun, self.jvp, self.symbolic_zeros  # not self: the rule lives on in programs, the function may hold traced values

        def fun(*args):
            run, out_dims = batch_fun(called, axis, dims, tag)
            outs = run(*args)
            return mapped.place(outs, out_dims(), mapped.settle([d is not None for d in out_dims()], "call"))

        def jvp(primals, tangents):
            n, live, out_zeros = len(primals), [not _is_zero(t) for t in tangents], []

            def both(*args):
                xs, moving = args[:n], iter(args[n:])
                given = [next(moving) if a else SymbolicZero.from_primal_value(x) if symbolic_zeros else
                         instantiate(Zero.from_primal_value(x)) for x, a in zip(xs, live)]
                outs, out_tangents = rule(xs, given)
                out_zeros[:] = [_is_zero(t) for t in out_tangents]
                return [*outs, *(t for t in out_tangents if not _is_zero(t))]
            run, out_dims = batch_fun(both, axis, [*dims, *(d for d, a in zip(dims, live) if a)], tag)
            flat = run(*primals, *(t for t, a in zip(tangents, live) if a))
            count, ds = len(out_zeros), out_dims()
            moving_dims = iter(ds[count:])
            tangent_dims = [None if zero else next(moving_dims) for zero in out_zeros]
            flags = mapped.settle([d is not None or td is not None for d, td in zip(ds, tangent_dims)], "JVP rule")
            outs = mapped.place(flat[:count], ds, flags)
            moving = iter(flat[count:])
            return outs, [Zero.of(x) if zero else mapped.place([next(moving)], [d], [f])[0]
                          for x, zero, d, f in zip(outs, out_zeros, tangent_dims, flags)]

        return CustomJvpCall(fun, named_as(rule, jvp), symbolic_zeros, self.name), mapped.dims

    def stage(self, trace, args):
        avals = [get_aval(x) for x in args]
        call_jaxpr, consts = trace_to_closed(self.fun, avals)
        refuse_effects(f"custom_jvp {self.name}", call_jaxpr.effects, "in_custom_derivatives", "functions with custom derivatives")
        return trace.record(custom_jvp_call_p, [*consts, *args], dict(
            name=self.name, call_jaxpr=call_jaxpr, jvp_jaxpr_fun=self.jvp, num_consts=len(consts),
            symbolic_zeros=self.symbolic_zeros))


def named_as(rule: Callable, flat: Callable) -> Callable:
    """``flat`` under the name of the user's ``rule``, for those who print the equation that holds it."""
    flat.__name__ = name_of(rule)
    return flat


def _is_zero(tangent) -> bool:
    return isinstance(tangent, (SymbolicZero, Zero)) or getattr(tangent, "dtype", None) == dtypes.float0


class _CustomJvpPrimitive(ProgramPrimitive):
    def get_bind_params(self, params: dict):
        """The function and its rule are ``subfuns``, as functions of flat values; the rule takes values, then tangents."""
        call = self._call(**params)

        def jvp(*values):
            outs, tangents = call.run_jvp(values[:len(values) // 2], values[len(values) // 2:])
            return [*outs, *map(instantiate, tangents)]
        return {"subfuns": (wrap_init(call.fun), wrap_init(jvp)), "symbolic_zeros": call.symbolic_zeros, "name": call.name}

    def bind(self, *args, subfuns=None, **params):
        if args and isinstance(args[0], WrappedFun):  # as releases before 0.9 have it
            subfuns, args = args[:2], args[2:]
        if subfuns is not None:
            fun, rule = subfuns
            call = CustomJvpCall(fun.call_wrapped, lambda xs, ts: _halves(rule.call_wrapped(*xs, *ts)), **params)
        else:
            call = self._call(**params)
        return context.state.trace.process_custom_jvp(call, args)

    @staticmethod
    def _call(call_jaxpr, jvp_jaxpr_fun, num_consts, symbolic_zeros, name="custom_jvp"):
        def jvp(primals, tangents):
            for t in tangents[:num_consts]:
                if isinstance(t, LinearTracer):
                    raise closed_over("custom_jvp", name)
            return jvp_jaxpr_fun(as_typed(primals[num_consts:], avals), tangents[num_consts:])
        avals = call_jaxpr.in_avals[num_consts:]
        fun = lambda *xs: eval_jaxpr(call_jaxpr.jaxpr, call_jaxpr.consts, *xs)
        return CustomJvpCall(fun, jvp, symbolic_zeros, name, call_jaxpr)


def as_typed(primals: Sequence[Any], avals: Sequence[Any]) -> list:
    """``primals`` of an equation as its rule gets them: literals, which are plain numbers, as arrays of the type that the program gives them.

    They are arrays and not traced values, so that a rule can ask them (``if y:``); staged again, an array without axes is a literal.
    """
    return [backends.get().put(x, aval) if type(x) in _NUMBERS or isinstance(x, np.generic) else x for x, aval in zip(primals, avals)]


_NUMBERS = frozenset([bool, int, float, complex])


def _halves(items):
    n = len(items) // 2
    return items[:n], items[n:]


def _transpose(cts, *args, call_jaxpr, **_):
    """The transpose of the function itself, which is linear in the arguments that have a cotangent: the rule is not asked."""
    return backward_pass(call_jaxpr.jaxpr, call_jaxpr.consts, args, cts)


def narrowed(eqn: JaxprEqn, used: Sequence[bool], rules: Callable[..., dict]) -> JaxprEqn:
    """The equation of a call with a rule of its own without the results that are not ``used``; all arguments stay.

    ``rules(chosen, **params)`` gives the parameters that hold the rule for these results, where ``chosen`` picks what belongs to
    them from a list for all results.
    """
    closed = eqn.params["call_jaxpr"]

    def small():
        return ClosedJaxpr(dce(closed.jaxpr, used, keep_inputs=True)[0], closed.consts)
    chosen = lambda values: [x for x, u in zip(values, used) if u]
    return eqn.replace(outvars=chosen(eqn.outvars), params={
        **eqn.params, "call_jaxpr": closed.memo(("narrowed", tuple(used)), small), **rules(chosen, **eqn.params)})


def _narrowed_rule(chosen, *, jvp_jaxpr_fun, **_):
    def jvp(primals, tangents):
        outs, out_tangents = jvp_jaxpr_fun(primals, tangents)
        return chosen(outs), chosen(out_tangents)
    return {"jvp_jaxpr_fun": named_as(jvp_jaxpr_fun, jvp)}


_HANDLED = none("handled by the traces themselves")
custom_jvp_call_p = _CustomJvpPrimitive(
    "custom_jvp_call",
    out_type=lambda *avals, call_jaxpr, **_: call_jaxpr.out_avals,
    effects=lambda *avals, call_jaxpr, **_: operand_effects(call_jaxpr),
    jvp=_HANDLED, linearize=_HANDLED, transpose=_transpose, batch=_HANDLED, split=_HANDLED,
    dce=lambda eqn, used: narrowed(eqn, used, _narrowed_rule),
    lower=lambda b, *xs, call_jaxpr, **_: b.jaxpr(call_jaxpr, *xs),
    takes_refs=True, discharge=custom_rule(["jvp_jaxpr_fun"]), program="call_jaxpr",
    traits=Traits(Kind.CALL, hidden={"num_consts": 0}, labels={"jvp_jaxpr_fun": "jvp"}))


def bind_arguments(fun: Callable, signature, args: tuple, kwargs: dict) -> list:
    """All arguments by position, keyword arguments and defaults put in their places."""
    if not kwargs and (signature is None or len(args) == len(signature.parameters) and not any(
            p.default is not p.empty for p in signature.parameters.values())):
        return list(args)
    if signature is None:
        raise TypeError(f"{describe_function(fun)}: keyword arguments {sorted(kwargs)} cannot be resolved, as its "
                        "signature cannot be read; pass the arguments by position.")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{describe_function(fun)}, a function with a custom derivative, was called with arguments that do not fit "
                        f"its signature {signature}: {error}") from None
    positional = [name for name, p in signature.parameters.items() if p.kind not in _KEYWORD_ONLY]
    by_keyword = sorted(kwargs.keys() - set(positional))
    if by_keyword:  # those left at their defaults the function fills in itself
        raise TypeError(f"{describe_function(fun)}: functions with custom derivatives take arguments by position; "
                        f"{by_keyword} can only be passed by keyword.")
    bound.apply_defaults()
    return list(bound.args)


_KEYWORD_ONLY = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


def check_nondiff(name: str, fun: Callable, signature, argnums, argnames) -> tuple[int, ...]:
    """Positions of the non-differentiated arguments, sorted; raises ValueError for unknown names, IndexError for such positions."""
    argnums = (argnums,) if is_position(argnums) else tuple(argnums)
    if signature and not any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        outside = [i for i in argnums if isinstance(i, int) and i >= len(signature.parameters)]
        if outside:
            raise IndexError(f"{name}: nondiff_argnums {outside} are beyond the {len(signature.parameters)} parameters of "
                             f"{describe_function(fun)}, counted from 0")
    argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    if argnames:
        names = list(signature.parameters) if signature else []
        unknown = [a for a in argnames if a not in names]
        if unknown:
            raise ValueError(f"{name}: nondiff_argnames {unknown} are not parameters of {describe_function(fun)}")
        argnums += tuple(names.index(a) for a in argnames)
    return tuple(sorted(set(argnums)))


class Wrapping:
    """A function with a rule, which may wrap one with a rule of another kind: that rule is set through it too."""

    fun: Callable
    __class_getitem__: Any = classmethod(types.GenericAlias)  # ``custom_vjp[[Array], Array]`` in annotations, as the stubs have it

    def __getattr__(self, name: str) -> Any:
        if name in ("defjvp", "defjvps", "defvjp", "defvjp_with_logs", "def_vmap"):
            return getattr(self.fun, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce_ex__(self, protocol: Any) -> Any:
        """One that its module shows under its name is pickled by that name, as functions are; `jax.nn.relu` is one."""
        home, name = self.__dict__.get("__module__", ""), self.__dict__.get("__qualname__", "")
        if home != "__main__" and home in sys.modules and getattr(sys.modules[home], name, None) is self:
            return name
        return super().__reduce_ex__(protocol)


_RULE_CALL = "custom_jvp calls the rule with the arguments of nondiff_argnums, if any, a tuple of primals and a tuple of tangents"


class custom_jvp(Wrapping):
    """A function whose derivative is given by the user.

    Args:
      fun: the function; pytrees of arrays in and out.
      nondiff_argnums, nondiff_argnames: arguments that are passed to the rule as they are, before the primals.

    Set the rule with `defjvp` or `defjvps`; reverse mode is derived from it by transposition.

    >>> double = jax.custom_jvp(lambda x: 2. * x)
    >>> _ = double.defjvp(lambda primals, tangents: (double(*primals), 7. * tangents[0]))
    >>> jax.grad(double)(1.)
    Array(7., dtype=float32, weak_type=True)
    """

    fun: Callable
    nondiff_argnums: tuple[int, ...]
    nondiff_argnames: tuple[str, ...]
    jvp: Callable | None
    symbolic_zeros: bool

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()):
        check_callable("custom_jvp", fun)
        functools.update_wrapper(self, fun)
        self.fun, self._name = fun, name_of(fun)
        self.signature = signature_of(fun)
        self.nondiff_argnums = check_nondiff("custom_jvp", fun, self.signature, nondiff_argnums, nondiff_argnames)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.jvp: Callable | None = None
        self.symbolic_zeros = False

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def defjvp(self, jvp: Callable[..., object], symbolic_zeros: bool = False) -> Callable:
        """Set the rule ``jvp(*nondiff_args, primals, tangents) -> (primal_out, tangent_out)``; returns ``jvp``.

        With ``symbolic_zeros`` the rule gets a `SymbolicZero` for each tangent that is known to be zero.
        """
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Set one rule for each argument: ``jvps[i](tangent_i, primal_out, *primals)``; None for no contribution.

        Where the rule is used a call with another number of arguments is a ValueError.
        """
        if self.nondiff_argnums:
            raise TypeError("custom_jvp.defjvps cannot be used together with nondiff_argnums; use defjvp")

        def jvp(primals, tangents):
            if len(jvps) != len(primals):
                raise ValueError(f"custom_jvp: {self._name}.defjvps was given {len(jvps)} rules, and is called with {len(primals)} arguments; give one rule "
                                 "for each, None where an argument contributes nothing")
            out = self(*primals)
            terms = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            add_all = lambda *xs: functools.reduce(lambda a, b: a + b, xs)
            zero = tree.map(lambda x: instantiate(Zero.from_primal_value(x)), out)
            return out, tree.map(add_all, *terms) if terms else zero
        self.defjvp(jvp)

    @api_boundary
    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise AttributeError(f"custom_jvp: no rule is set for {self._name}; set one with "
                                 f"@{self._name}.defjvp")
        args = bind_arguments(self.fun, self.signature, args, kwargs)
        nondiff = [args[i] for i in self.nondiff_argnums if i < len(args)]
        dynamic = tuple(x for i, x in enumerate(args) if i not in self.nondiff_argnums)
        flat, in_tree = tree.flatten(dynamic)
        count = len(args)  # what lives on in programs holds no arguments, which may be traced values
        out_tree: list = []
        out_avals: list = []  # of the function, once it has run

        def fun(*leaves):
            given = iter(tree.unflatten(in_tree, typed(leaves)))
            rest = iter(nondiff)
            out = self.fun(*[next(rest) if i in self.nondiff_argnums else next(given) for i in range(count)])
            outs, tree_out = tree.flatten(out)
            out_tree[:], out_avals[:] = [tree_out], list(map(get_aval, outs))
            return outs

        def jvp(primals, tangents):
            result = run_rule(self.jvp, _RULE_CALL, *nondiff, tree.unflatten(in_tree, typed(primals)), tree.unflatten(in_tree, typed(tangents)))
            outs, out_tangents, tree_out = self._flatten_result(result)
            if out_tree and out_avals:
                self._check_primals(out_tree[0], out_avals, tree_out, outs)
            out_tree[:] = [tree_out]
            return outs, out_tangents

        called = traced_first(fun, flat) if flags.custom_jvp3.value else fun
        call = CustomJvpCall(called, named_as(self.jvp, jvp), self.symbolic_zeros, self._name, None if nondiff else (self, in_tree), out_tree)
        outs = context.state.trace.process_custom_jvp(call, flat)
        return tree.unflatten(out_tree[0], outs)

    def _flatten_result(self, result):
        name = self._name
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(f"custom_jvp: the rule {name_of(self.jvp)} of {name} must return a pair (primal_out, tangent_out), got "
                            f"{described_value(result)}")
        outs, out_tree = tree.flatten(result[0])
        tangents, tangent_tree = tree.flatten(result[1], is_leaf=lambda x: isinstance(x, SymbolicZero))
        if out_tree != tangent_tree:
            raise TypeError(f"custom_jvp: the rule {name_of(self.jvp)} of {name} returned a primal of structure {out_tree} and a tangent "
                            f"of structure {tangent_tree}; they must be the same")
        tangents = [self._check_tangent(x, t) for x, t in zip(outs, tangents)]
        return outs, tangents, out_tree

    def _check_primals(self, structure, avals, tree_out, outs):
        if structure != tree_out:
            raise TypeError(f"custom_jvp: {self._name} returns structure {structure}, and the primal output of its rule has structure "
                            f"{tree_out}; they must be the same")
        for aval, x in zip(avals, outs):
            got = get_aval(x)
            if got.shape != aval.shape or got.dtype != aval.dtype:
                raise TypeError(f"custom_jvp: {self._name} returns a value of type {aval.str_short()} where the primal output of its rule "
                                f"has one of type {got.str_short()}; shape and dtype must be equal")

    def _check_tangent(self, x, t):
        want, got = get_aval(x).to_tangent_aval(), t.aval if isinstance(t, SymbolicZero) else get_aval(t)
        if not types_compatible(want, got):
            needed = "shape and dtype must be equal"
            if want.dtype == dtypes.float0:
                needed = f"the tangent of such a primal has dtype float0, as np.zeros({want.shape}, jax.dtypes.float0)"
            raise TypeError(f"custom_jvp: the rule {name_of(self.jvp)} of {self._name} returned a primal of type "
                            f"{get_aval(x).str_short()} and a tangent of type {got.str_short()}; {needed}")
        return Zero(want) if want.dtype == dtypes.float0 else t
