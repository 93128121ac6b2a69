"""Primitives on high-level types, each an object with its rules as methods, and programs that hold them as programs on arrays.

An object (`HiPrim`) is a parameter of one primitive here, whose rules call its methods. Programs may hold values of high-level types
up to where they are compiled; there `on_arrays` runs each object's ``expand`` on the arrays that represent its operands.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

from .. import extension_points
from ..configuration import context
from ..representation import dtypes, high, splits, tree
from ..representation.aval import AbstractValue, get_aval
from ..representation.jaxpr import ClosedJaxpr, eval_jaxpr
from ..representation.primitive import Linear, Primitive, Zero, is_linear
from ..representation.traits import Kind, Traits
from ..representation.typing import PyTree
from ..traces.staging import trace_to_jaxpr
from ..traces.structural import instantiate, moved
from ..traces.trace import Trace
from . import logs
from .accumulators import GradAccum, NullAccum, RefAccum, ValAccum, check_logged
from .batching import batch_fun
from .forward import jvp_flat
from .reverse import LinearizeTrace

if TYPE_CHECKING:
    from .custom_jvp import CustomJvpCall
    from .custom_vjp import CustomVjpCall


class HiPrim:
    """Base class of primitives on values of any types, also high-level ones.

    A subclass sets ``in_avals``, ``out_aval`` and ``params`` (its own arguments that are no operands, which become attributes) and
    calls ``super().__init__()``. It has a method ``expand(*args)``, what the primitive is in terms of others, and rules: ``jvp``;
    ``vjp_fwd`` with ``vjp_bwd`` or ``vjp_bwd_retval``; ``lin`` with ``linearized``; ``transpose``; ``batch``. It is printed as its
    name and what ``pp_params()`` returns, by default ``params``. A method ``vjp_bwd_retval_logs`` in place of ``vjp_bwd_retval`` returns a
    pair of the cotangents and a dict of values to log, or None (see `custom_vjp.defvjp_with_logs`); where it is True, the latter does.
    """

    in_avals: Any
    out_aval: Any
    params: dict
    effects: Any = frozenset()
    skip_linearization_on_zero_tangents = False
    vjp_bwd_retval_logs: bool | Callable[..., tuple[Any, dict | None]] = False

    def __init__(self) -> None:
        missing = [n for n in ("in_avals", "out_aval", "params") if n not in self.__dict__]
        if missing:
            raise AttributeError(f"{type(self).__name__}.__init__ must set {', '.join(missing)} before it calls super().__init__()")
        if _has(self, "vjp_bwd") and _has(self, "vjp_bwd_retval"):
            raise AttributeError(f"{type(self).__name__} has both vjp_bwd and vjp_bwd_retval; define one of them")
        self.__dict__.update(self.params)
        self.in_tree, self.out_tree = tree.structure(self.in_avals), tree.structure(self.out_aval)

    def __call__(self, *args: Any) -> Any:
        flat = self.in_tree.flatten_up_to(args)
        return self.out_tree.unflatten(hi_call_p.bind(*flat, prim=self))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), *tree.leaves(self.in_avals), *self.params))

    def _key(self):
        return self.in_avals, self.out_aval, self.params

    def pp_params(self) -> dict[str, Any]:
        """What stands behind the name where the primitive is printed."""
        return self.params

    def __repr__(self) -> str:
        items = [f"{k}={v.str_short(short_dtypes=True) if isinstance(v, AbstractValue) else v}" for k, v in self.pp_params().items()]
        return f"{type(self).__name__}[{' '.join(items)}]" if items else type(self).__name__

    def expand(self, *args: Any) -> Any:
        """The result by other primitives."""
        raise NotImplementedError(f"{type(self).__name__} must have a method expand(*args)")

    def _expand_flat(self, *leaves: Any) -> list:
        """`expand` of the leaves of the operands: the leaves of the result."""
        return self.out_tree.flatten_up_to(self.expand(*self.in_tree.unflatten(leaves)))

    def jvp(self, primals: Sequence[object], tangents: Sequence[object]) -> tuple[Any, Any]:
        """The result and its tangent; tangents may be `Zero`."""
        raise NotImplementedError(f"forward-mode differentiation: {type(self).__name__} has no method jvp(primals, tangents)")

    def lin(self, nzs_in: PyTree, *primals: Any) -> tuple[Any, Any]:
        """The result, and what `linearized` needs: ``(out, residuals)``, or ``(out, residuals, True, structured)`` with a tree of
        residuals that `linearized` gets after the others."""
        raise NotImplementedError(f"linearization: {type(self).__name__} has no method lin(nonzeros, *primals)")

    def linearized(self, residuals: PyTree, *tangents: Any) -> Any:
        """The tangent of the result."""
        raise NotImplementedError(f"linearization: {type(self).__name__} has no method linearized(residuals, *tangents)")

    def vjp_fwd(self, nzs_in: PyTree, /, *args: Any) -> tuple[Any, Any]:
        """The result, and what the backward rule needs, in the forms of `lin`."""
        raise NotImplementedError(f"reverse-mode differentiation: {type(self).__name__} has no method vjp_fwd(nonzeros, *args)")

    def vjp_bwd(self, res: PyTree, outgrad: object, /, *arg_accums: GradAccum) -> dict | None:
        """Add cotangents of the operands to ``arg_accums``; what it returns is logged."""
        raise NotImplementedError(f"reverse-mode differentiation: {type(self).__name__} has no method vjp_bwd or vjp_bwd_retval")

    def vjp_bwd_retval(self, res: PyTree, outgrad: object, /) -> Any:
        """The cotangents of the operands."""
        raise NotImplementedError(f"reverse-mode differentiation: {type(self).__name__} has no method vjp_bwd_retval")

    def transpose(self, out_ct: object, *maybe_accums: Any) -> None:
        """Add cotangents to those of the operands that are a `GradAccum`; the others are values."""
        raise NotImplementedError(f"transposition: {type(self).__name__} has no method transpose(cotangent, *accums)")

    def batch(self, axis_data: Any, args: Sequence[Any], dims: Sequence[object]) -> tuple[Any, Any]:
        """The result on a batch, and where its mapped axis is."""
        if high.any_high([*tree.leaves(self.in_avals), *tree.leaves(self.out_aval)]):
            raise NotImplementedError(f"vmap: {type(self).__name__} works on high-level types and must have a method "
                                      "batch(axis_data, args, dims)")
        run, out_dims = batch_fun(self._expand_flat, axis_data, self.in_tree.flatten_up_to(tuple(dims)))
        outs = run(*self.in_tree.flatten_up_to(tuple(args)))
        return self.out_tree.unflatten(outs), self.out_tree.unflatten(out_dims())


def _has(prim: HiPrim, rule: str) -> bool:
    return getattr(type(prim), rule) is not getattr(HiPrim, rule)


# -- the primitive that calls them -------------------------------------------------------------------------------------------

def _run(*args, prim):
    return prim._expand_flat(*args)


def _jvp(primals, tangents, *, prim):
    rule = jvp_from_lin if not _has(prim, "jvp") and _has(prim, "lin") else type(prim).jvp
    out, dot = rule(prim, prim.in_tree.unflatten(primals), prim.in_tree.unflatten(tangents))
    outs = prim.out_tree.flatten_up_to(out)
    return outs, [Zero.of(x) if t is None or getattr(t, "dtype", None) == dtypes.float0 else t
                  for x, t in zip(outs, prim.out_tree.flatten_up_to(dot))]


def _linearize(primals, tangents, *, prim):
    nonzero = [not isinstance(t, Zero) for t in tangents]
    if not _has(prim, "vjp_fwd"):
        return _jvp(primals, tangents, prim=prim)
    out, res = _of_rule(prim.vjp_fwd(prim.in_tree.unflatten(nonzero), *prim.in_tree.unflatten(primals)))
    if len(res) > 1 and not _has(prim, "vjp_bwd"):
        raise TypeError(f"{type(prim).__name__}.vjp_fwd returns structured residuals, which only a method vjp_bwd(res, structured, outgrad, "
                        "*accums) gets; define it in place of vjp_bwd_retval")
    outs = prim.out_tree.flatten_up_to(out)
    residuals = Represented((res, tuple(primals) if _has(prim, "jvp") or _has(prim, "lin") else ()))
    kept, res_tree = tree.flatten(residuals.arrays)
    live = [t for t in tangents if not isinstance(t, Zero)]
    return outs, hi_pullback_p.bind(*kept, *live, prim=prim, residuals=residuals.type, res_tree=res_tree, nonzero=tuple(nonzero),
                                    in_types=tuple(get_aval(x).to_tangent_aval() for x in primals),
                                    out_types=tuple(get_aval(x).to_tangent_aval() for x in outs))


def _of_rule(found: tuple) -> tuple[Any, tuple]:
    """What ``vjp_fwd`` or ``lin`` returned: the result, and residuals as the other rule gets them, with the structured ones if any.

    The third of four says that there are some.
    """
    out, res, *structured = found
    return out, (res, *structured[1:])


def _push_forward(*args, prim, residuals, res_tree, nonzero, in_types, out_types):
    """Tangents of the results for those of the operands, by the rules for that, at the operands kept beside what ``vjp_bwd`` needs."""
    n = res_tree.num_leaves
    primals = residuals.value(res_tree.unflatten(args[:n]))[1]
    if not primals:
        raise NotImplementedError(f"linearization: {type(prim).__name__} has vjp_fwd alone, by which cotangents are pulled back; pushing tangents forward "
                                  "needs a method jvp, or lin with linearized")
    rest = iter(args[n:])
    return _jvp(primals, [next(rest) if nz else Zero(a) for nz, a in zip(nonzero, in_types)], prim=prim)[1]


def _push_on_arrays(*args, **params):
    return [instantiate(t) for t in _push_forward(*args, **params)]


def _push_jvp(primals, tangents, **params):
    return jvp_flat(lambda *xs: _push_on_arrays(*xs, **params), primals, tangents)


def _push_batch(axis, args, dims, **params):
    run, out_dims = batch_fun(lambda *xs: _push_on_arrays(*xs, **params), axis, dims)
    return run(*args), out_dims()


def _transpose(cts, *args, prim):
    operands = [ValAccum(x.aval) if is_linear(x) else x for x in args]
    prim.transpose(prim.out_tree.unflatten(map(instantiate, cts)), *prim.in_tree.unflatten(operands))
    return [x.freeze() if isinstance(x, ValAccum) else None for x in operands]


def _pull_back(cts, *args, **params):
    return _add_to_refs([None] * len(args), cts, args, params)


def _add_to_refs(refs, cts, args, params):
    """`_pull_back`, with accumulators that add to ``refs`` where there are any."""
    prim, n, in_types = params["prim"], params["res_tree"].num_leaves, params["in_types"]
    ct, (res, _) = prim.out_tree.unflatten(map(instantiate, cts)), params["residuals"].value(params["res_tree"].unflatten(args[:n]))
    rest = iter(refs[n:])
    accums: list[Any] = [NullAccum(a) if not nz else ValAccum(a) if (ref := next(rest)) is None else RefAccum(a, ref)
                         for a, nz in zip(in_types, params["nonzero"])]
    if _has(prim, "vjp_bwd"):
        logged = prim.vjp_bwd(*res, ct, *prim.in_tree.unflatten(accums))
        check_logged(f"{type(prim).__name__}.vjp_bwd", logged)
    else:
        told = prim.vjp_bwd_retval_logs
        found = told(*res, ct) if callable(told) else prim.vjp_bwd_retval(*res, ct)
        found, logged = logs.pair(f"{type(prim).__name__}: what logs", found) if told else (found, None)
        for accum, x in zip(accums, prim.in_tree.flatten_up_to(tuple(found))):
            accum.accum(x)
    logs.add(logged)
    return [None] * n + [Zero(a.aval) if type(a) is RefAccum else a.freeze() for a, nz in zip(accums, params["nonzero"]) if nz]


def _batch(axis, args, dims, *, prim):
    out, out_dims = prim.batch(axis, prim.in_tree.unflatten(args), prim.in_tree.unflatten(dims))
    outs = prim.out_tree.flatten_up_to(out)
    return outs, [out_dims] * len(outs) if prim.out_tree.num_leaves == 1 else prim.out_tree.flatten_up_to(out_dims)


def _in_arrays(fun):
    """``fun``, which may bind objects on high-level types, as a function of arrays."""
    def run(*args):
        with context.Use(OnArrays(context.state.trace)):
            return fun(*args)
    return run


def _expanded(*args, expand):
    """``expand(*args)`` in arrays; without a closure, so that the lowering keeps the program. It is kept by the method of the object itself, as equal
    objects may differ in what is no parameter."""
    return _in_arrays(expand)(*args)


_HIGH = Traits(Kind.KERNEL, high=True)
_CALL = Traits(Kind.KERNEL, high=True, printed_as="prim")
_as_given = lambda args, params: (args, params)  # what the objects do to their operands makes these agree
hi_call_p = Primitive(
    "hi_call", out_type=lambda *avals, prim: tree.leaves(prim.out_aval), jvp=_jvp, linearize=_linearize, transpose=_transpose, batch=_batch,
    lower=lambda b, *xs, prim: b.fun(_expanded, *xs, expand=prim._expand_flat), impl=_run, multiple_results=True,
    cacheable=False, own_type=True, takes_refs=True, splits=splits.as_told, traits=_CALL, agree=_as_given)
hi_pullback_p = Primitive(
    "hi_pullback", out_type=lambda *avals, out_types, **_: list(out_types), jvp=_push_jvp, transpose=_pull_back, batch=_push_batch,
    lower=lambda b, *xs, **params: b.fun(_in_arrays(lambda *args: _push_on_arrays(*args, **params)), *xs), impl=_push_on_arrays, accumulate=_add_to_refs,
    multiple_results=True, cacheable=False, own_type=True, splits=splits.as_told, traits=_HIGH, agree=_as_given)


# -- programs on arrays ------------------------------------------------------------------------------------------------------

class OnArrays(Trace):
    """Runs what is on high-level types in terms of arrays; the rest goes down."""

    __slots__ = ()

    def process(self, prim: Primitive, args: Sequence[object], params: dict):
        if prim is hi_call_p:
            return _run(*args, **params)
        if prim is hi_pullback_p:
            return _push_on_arrays(*args, **params)
        if prim.holds_program:
            program = params[prim.program] if prim.traits.kind is Kind.CALL else None
            if program is not None and high.any_high([*program.in_avals, *program.out_avals]):
                return eval_jaxpr(program.jaxpr, program.consts, *args)
            params = {name: _programs_on_arrays(x) for name, x in params.items()}
        return self.parent.process(prim, args, params)

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        return call.fun(*args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        return call.fun(*args)

    def process_ref(self, prim: object, args: Sequence[object], params: dict):
        return self.parent.process_ref(prim, args, params)


def _programs_on_arrays(x):
    if isinstance(x, tuple) and any(isinstance(item, ClosedJaxpr) for item in x):
        return tuple(map(_programs_on_arrays, x))
    return on_arrays(x) if isinstance(x, ClosedJaxpr) else x


def on_arrays(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program on the arrays that represent its inputs and results; ``closed`` itself where no type is high."""
    return in_arrays_only(closed) if high.holds_high(closed) else closed


def in_arrays_only(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The same, also without the primitives that an object with methods gives the rules, and without custom rules."""
    return closed.memo("on_arrays", lambda: _on_arrays(closed))


def _on_arrays(closed):
    def run(*arrays):
        values = high.lift(closed.in_avals, arrays)
        outs = _in_arrays(lambda *xs: eval_jaxpr(closed.jaxpr, closed.consts, *xs))(*values)
        return high.lower(closed.out_avals, outs)
    jaxpr, consts, _ = trace_to_jaxpr(run, high.low_types(closed.in_avals), closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, consts)


class ToArrays(HiPrim):
    """The arrays that represent a value of type ``aval``."""

    def __init__(self, aval: AbstractValue):
        self.in_avals, self.out_aval, self.params = (aval,), tuple(aval.lo_ty()), {}
        super().__init__()

    def expand(self, x):
        return tuple(self.in_avals[0].lower_val(x))

    def jvp(self, primals, tangents):
        return self(*primals), ToArrays(self.in_avals[0].to_tangent_aval())(*map(instantiate, tangents))

    def transpose(self, out_ct, accum):
        accum.accum(FromArrays(self.in_avals[0])(*out_ct))


class FromArrays(HiPrim):
    """The value of type ``aval`` that arrays represent."""

    def __init__(self, aval: AbstractValue):
        self.in_avals, self.out_aval, self.params = tuple(aval.lo_ty()), aval, {}
        super().__init__()

    def expand(self, *arrays):
        return self.out_aval.raise_val(*arrays)

    def jvp(self, primals, tangents):
        return self(*primals), FromArrays(self.out_aval.to_tangent_aval())(*map(instantiate, tangents))

    def transpose(self, out_ct, *accums):
        for accum, ct in zip(accums, ToArrays(self.out_aval)(out_ct)):
            if isinstance(accum, GradAccum):
                accum.accum(ct)


def _to_arrays(aval: AbstractValue, x: Any) -> list:
    return list(ToArrays(aval)(x))


def _from_arrays(aval: AbstractValue, arrays: Sequence[Any]) -> Any:
    return FromArrays(aval)(*arrays)


extension_points.high_values.fill((_to_arrays, _from_arrays))


def consts_as_arrays(closed: ClosedJaxpr, consts: Sequence[object]) -> tuple[ClosedJaxpr, list]:
    """A program and the values of its first inputs, those of high-level types by the arrays that represent them."""
    types, rest = closed.in_avals[:len(consts)], closed.in_avals[len(consts):]
    if not high.any_high(types):
        return closed, list(consts)

    def run(*args):
        arrays, others = iter(args[:len(args) - len(rest)]), args[len(args) - len(rest):]
        values = [FromArrays(a)(*[next(arrays) for _ in a.lo_ty()]) if a.is_high else next(arrays) for a in types]
        return eval_jaxpr(closed.jaxpr, closed.consts, *values, *others)
    jaxpr, inner, _ = trace_to_jaxpr(run, [*high.low_types(types), *rest], closed.jaxpr.debug_info)
    return ClosedJaxpr(jaxpr, inner), [x for a, c in zip(types, consts) for x in (ToArrays(a)(c) if a.is_high else (c,))]


class Represented:
    """A pytree of which some leaves are of high-level types, by arrays: what loops carry, and what is kept for the way back.

    Attributes:
      arrays: for each leaf itself, or a tuple of the arrays that represent it.
      type: how a pytree is made of such arrays.
    """

    def __init__(self, value: PyTree):
        leaves, structure = tree.flatten(value)
        self.type = RepresentedType(structure, tuple(map(get_aval, leaves)))
        self.arrays = [ToArrays(a)(x) if a.is_high else x for a, x in zip(self.avals, leaves)]

    avals = property(lambda self: self.type.avals, doc="The leaves' types.")
    structure = property(lambda self: self.type.structure, doc="The structure of the pytree.")

    def value(self, arrays: Sequence[object], avals: Sequence[AbstractValue] | None = None) -> Any:
        """The pytree that other arrays represent, its leaves of the types ``avals`` where these are high."""
        return self.type.value(arrays, avals)


class RepresentedType(NamedTuple):
    """The structure of a pytree, and its leaves' types."""

    structure: tree.PyTreeDef
    avals: tuple[AbstractValue, ...]

    def value(self, arrays: Sequence[Any], avals: Sequence[AbstractValue] | None = None) -> Any:
        """The pytree that ``arrays`` represent, its leaves of the types ``avals`` where these are high."""
        return self.structure.unflatten([FromArrays(a)(*x) if a.is_high else x for a, x in zip(avals or self.avals, arrays)])


def holds_high_values(*values: PyTree) -> bool:
    """Whether a leaf is of a high-level type."""
    return bool(high.classes) and any(getattr(type(x), "aval", None) is not None and x.aval.is_high or type(x) in high.classes
                                      for value in values for x in tree.leaves(value))


# -- rules from other rules --------------------------------------------------------------------------------------------------

def jvp_from_lin(self: HiPrim, primals: Sequence[object], tangents: Sequence[object]) -> tuple[Any, Any]:
    """`HiPrim.jvp` by ``lin`` and ``linearized``."""
    if type(self).lin is _lin_by_jvp and type(self).jvp is jvp_from_lin:
        raise TypeError(f"{type(self).__name__}: jvp = jvp_from_lin and lin, linearized = linearize_from_jvp are each by the other; write "
                        "jvp, or lin and linearized")
    out, res = _of_rule(self.lin(tuple(not isinstance(t, Zero) for t in tangents), *primals))
    return out, self.linearized(*res, *map(instantiate, tangents))


def _lin_by_jvp(self, nzs_in, *primals):
    return self(*primals), primals


def _linearized_by_jvp(self, residuals, *tangents):
    return self.jvp(residuals, tangents)[1]


def _transposed(self: HiPrim, push: Callable, primals: Sequence[Any], ct: Any) -> tuple:
    """Cotangents of the operands, by transposing ``push(*tangents)``."""
    trace = LinearizeTrace(context.state.trace)
    types = [get_aval(x).to_tangent_aval() for x in self.in_tree.flatten_up_to(tuple(primals))]
    inputs = [trace.new_input(a) for a in types]
    with context.Use(trace):
        dots = self.out_tree.flatten_up_to(push(*self.in_tree.unflatten(inputs)))
    found = trace.transpose(inputs, dots, self.out_tree.flatten_up_to(ct))
    return self.in_tree.unflatten(found)


def _fwd_by_jvp(self, nzs_in, *args):
    return self(*args), args


def _bwd_by_jvp(self, res, outgrad):
    return _transposed(self, lambda *tangents: self.jvp(res, tangents)[1], res, outgrad)


def _fwd_by_lin(self, nzs_in, *args):
    out, res = _of_rule(self.lin(nzs_in, *args))
    return out, (res, args)


def _bwd_by_lin(self, res, outgrad):
    kept, args = res
    return _transposed(self, lambda *tangents: self.linearized(*kept, *tangents), args, outgrad)


linearize_from_jvp = _lin_by_jvp, _linearized_by_jvp
"""``lin, linearized = linearize_from_jvp`` in the body of a class with ``jvp``."""
vjp_from_jvp = _fwd_by_jvp, _bwd_by_jvp
"""``vjp_fwd, vjp_bwd_retval = vjp_from_jvp``, likewise."""
vjp_from_lin = _fwd_by_lin, _bwd_by_lin
"""``vjp_fwd, vjp_bwd_retval = vjp_from_lin`` in the body of a class with ``lin`` and ``linearized``."""


def bdims_at_front(axis_data: object, args: Sequence[object], dims: Sequence[int | None]) -> tuple:
    """``args`` with their mapped axes in front.

    >>> from jax.experimental import hijax
    >>> from types import SimpleNamespace
    >>> [x.shape for x in hijax.bdims_at_front(SimpleNamespace(size=5, explicit_mesh_axis=None), [jnp.ones((2, 5)), jnp.ones(2)], [1, None])]
    [(5, 2), (2,)]
    """
    return tuple(x if d is None else moved(x, d, 0) for x, d in zip(args, dims))


__all__ = ["GradAccum", "HiPrim", "Linear", "NullAccum", "RefAccum", "ValAccum", "bdims_at_front", "hi_call_p", "jvp_from_lin", "linearize_from_jvp",
           "on_arrays", "vjp_from_jvp", "vjp_from_lin"]
