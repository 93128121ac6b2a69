"""Primitives: the operations that programs are made of, each declared once with all of its rules.

A rule is a plain function. These are the signatures (``params`` are always keyword arguments):

``out_type(*avals, **params)``
    type of the result, or a list of types where ``multiple_results``. Raises on bad arguments: this is where users'
    shape errors come from, so it names the function, the shapes and the dtypes.
``jvp``
    `LINEAR` (linear in all operands together), `ZERO` (the result has no tangent), a tuple with one entry an operand
    (``entry(g, out, *primals, **params)`` is the tangent that operand contributes for its tangent ``g``; None where
    it contributes none), or in general ``jvp(primals, tangents, **params) -> (out, tangent_out)`` where a tangent may
    be an instance of `Zero`. With many results, ``out`` and ``tangent_out`` are lists.
``linearize(primals, tangents, **params) -> (outs, tangent_outs)``
    for primitives that hold jaxprs: like jvp, but all that does not depend on a tangent is computed at once, and what
    does is bound on the tangents, which are linear tracers (see `reverse`).
``transpose(ct, *args, **params)``
    the cotangents of the operands for the cotangent ``ct`` of the result (a list, with `Zero` where nothing flows, if
    ``multiple_results``). An operand to find a cotangent for is a `Linear`; the others are values. The result is a
    sequence with None for those others, or simply the cotangent where there is one operand.
``batch``
    `ELEMENTWISE`, or ``batch(axis, args, dims, **params) -> (out, out_dim)`` with ``axis`` an `AxisData`, and
    ``dims`` the position of the mapped axis in each argument (None: not mapped). Lists with ``multiple_results``.
``lower``
    the name of an elementwise StableHLO op, or ``lower(b, *values, **params)`` that emits ops on the `Builder` ``b``
    and returns the result's value (a list with ``multiple_results``). ``b.out_avals`` are the result types.
``in_kernel(b, *values, **params)``
    optional: the lowering rule in the body of a kernel (`pallas_call`) for a compiler of an accelerator, in place of ``lower``.
``reference(*numpy_arrays, **params)``
    the same function in NumPy, used by tests; with ``exact`` also to run eagerly on the host, because its result has
    the same bits as the compiled one.
``effects(*avals, **params)``
    a frozenset of effects; by default none.

``dce(eqn, used) -> eqn or None``
    narrows an equation of which only some results are read, or drops it.
``agree(args, params) -> (args, params)``
    how operands are made to vary over the same manual axes (see `manual`), where it is not by `pvary` of each.

``discharge(prim, args, refs, params) -> (outs, new_values)``
    how mutable references are made values (see `references.discharge`): of primitives that hold programs, and of those that
    work on references. ``prim`` is the primitive, so that rules are shared.

Primitives that hold programs (`ProgramPrimitive`) must have it, and have four more:

``split(unknown, params) -> EquationSplit | None``
    the equation as two, one that runs at once and one that waits (see `splitting`); None if no result can be known.
``save(eqn, policy) -> (equation, equation) | None``
    optional: the equation with the values in its programs that a policy of `checkpoint` keeps (see `saving`).
``interpret(run, *values, **params) -> results``
    steps through the programs in Python on concrete values, each run by ``run(closed, *args)``; debugging tools follow a
    value into a loop with it.

What kind of operation it is, and what it costs, is no rule: see `traits`.

A rule that must be there and is left out is an error when the primitive is declared; a rule that cannot exist is given as
`none(reason)`, which is false, and raises with that reason when it is called.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Literal, NamedTuple, Sequence

from .. import backends, extension_points
from ..compat.primitives import PrimitiveHabits
from ..configuration import context
from . import memory, partial_sums, source
from .aval import AbstractRef, AbstractValue, ShapedArray, get_aval, register_value_class
from .effects import NO_EFFECTS, Effects
from .marks import ELEMENTWISE, ZERO, Mark
from .memory import Space
from .splits import place
from .tracebacks import shorten
from .traits import Kind, Traits

if TYPE_CHECKING:
    from typing import Protocol

    from .typing import ArrayLike

    class LoopObserver(Protocol):
        """What a loop reports to; see `Primitive`."""

        def report(self, *args: Any, **params: Any) -> Any: ...
        def finish(self, *args: Any, **params: Any) -> None: ...


NO_AXES: frozenset = frozenset()


Rule = Any  # a function of a transformation, or none(reason)


class PartRule(NamedTuple):
    """How a primitive with one operand reads a part of it; see `transformations.parts`.

    Attributes:
      place: ``place(aval, **params)`` is the axis along which it reads a part, and where that starts and ends; None if it does not read all along
        every other axis.
      joined: ``joined(cts, axis, start, aval)`` is the cotangent of an operand of type ``aval`` for those of parts that follow each other.
    """

    place: Callable[..., tuple[int, int, int] | None]
    joined: Callable[[Sequence[Any], int, int, AbstractValue], Any]


_MISSING = Mark("(missing)")
_ELEMENTWISE_TRAITS = Traits(Kind.ELEMENTWISE)


class none:
    """In place of a rule: there is none, and why. Calling it raises NotImplementedError with the reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: str):
        self.reason = reason

    def __call__(self, *args, **params):
        raise NotImplementedError(self.reason)

    def __bool__(self):
        return False

    def __repr__(self):
        return f"none({self.reason!r})"


class Primitive(PrimitiveHabits):
    """One operation and all of its rules; see the module docstring for their signatures.

    Args:
      name: as printed in jaxprs.
      multiple_results: `bind` returns a list.
      exact: the reference gives the same bits as the compiled program, so eager calls may use it; or a function of the
        operands' types and the parameters that says whether it does (arithmetic is exact on integers only).
      cacheable: result types may be cached by parameters (false where parameters hold jaxprs).
      impl: eager evaluation of its own, in place of the backend's.
      stage: ``stage(trace, args, params)`` in place of recording one equation, for primitives that hold functions.
      takes_refs: an operand may be a mutable reference.
      own_type: the rule for the result's type says itself which manual axes the result varies over (see `manual`).
      lowers_keys: the lowering rule takes keys as they are; by default where parameters hold jaxprs.
      arrow: printed as a ``"read"`` of a reference or as a ``"write"``, not as a call.
      traits: facts of the operation, for those that know no primitive by name (`traits.Traits`); by default those of any
        elementwise operation if ``batch`` says that it is one, else of one that needs its operands in memory.
      loop_observer: for a primitive without operands that stands in the body of a loop: what the loop reports to instead,
        from time to time. ``loop_observer.report(builder, step, **params)`` is lowered to the step at which to report next,
        and ``loop_observer.finish(builder, step, **params)`` to nothing.
      splits: how the result is split over ``Explicit`` mesh axes (see `splits`); by default as results of its kind are.
      accumulate: ``accumulate(refs, cts, args, params)``, as `transpose`, but cotangents of the operands for which ``refs`` has a
        mutable reference are added to that, in the places that they have (and are `Zero` in the list); None to decline.
      part: that it reads a part of its one operand, and how cotangents of parts are joined (`PartRule`).
      sums: what becomes of operands that are sums over devices, still to be made (see `partial_sums`); by default linear
        operations work on their parts, and all others refuse them.
    """

    holds_program = False
    """The results are those of a program among the parameters, and have the types that it gives them."""
    stretches = False
    """`bind` takes operands of one rank that differ where one has length 1, though the rules work on operands of one shape."""
    transparent = False
    split: Callable | None = None
    save: Callable | None = None
    accumulate: Callable | None = None
    part: PartRule | None = None
    splits: Callable | None = None
    sums: Callable | None = None
    interpret: Callable | None = None
    program: str | None = None
    _lower_by_platform: dict
    _usual_traits = Traits(Kind.KERNEL)

    def __init__(self, name: str, *, out_type: Rule = _MISSING,
                 jvp: Rule = _MISSING, transpose: Rule = _MISSING,
                 batch: Rule = _MISSING, lower: Rule = _MISSING,
                 reference: Callable | None = None, linearize: Callable | None = None, effects: Callable | None = None,
                 dce: Callable | None = None, agree: Callable | None = None, multiple_results: bool = False,
                 exact: bool | Callable[..., bool] = False, cacheable: bool = True, impl: Callable | None = None,
                 stage: Callable | None = None, takes_refs: bool = False, own_type: bool = False,
                 lowers_keys: bool | None = None, arrow: Literal["read", "write"] | None = None,
                 traits: Traits | None = None, loop_observer: LoopObserver | None = None,
                 splits: Callable | None = None, sums: Callable | None = None, in_kernel: Callable | None = None,
                 discharge: Rule = None, accumulate: Callable | None = None, part: PartRule | None = None):
        if jvp is ZERO and transpose is _MISSING:
            transpose = none(f"{name} is not linear, so it has no transpose")
        _demand(name, out_type=out_type, jvp=jvp, transpose=transpose, batch=batch, lower=lower)
        self.name = name
        self.out_type, self.jvp, self.linearize, self.transpose = out_type, jvp, linearize, transpose
        self.batch, self.lower, self.reference, self.effects = batch, lower, reference, effects
        self.dce, self.agree, self.discharge, self.accumulate, self.part = dce, agree, discharge, accumulate, part
        self.multiple_results, self.exact, self.cacheable = multiple_results, exact, cacheable
        self.own_impl, self.stage, self.takes_refs, self.own_type = impl, stage, takes_refs, own_type
        self.lowers_keys = not cacheable if lowers_keys is None else lowers_keys
        self.arrow, self.loop_observer, self.splits, self.sums, self.in_kernel = arrow, loop_observer, splits, sums, in_kernel
        self.traits = traits or (_ELEMENTWISE_TRAITS if batch is ELEMENTWISE else self._usual_traits)

    def __copy__(self):
        return self  # a primitive is known by its identity

    def __deepcopy__(self, memo: dict):
        return self

    def __repr__(self):
        return self.name

    @property
    def impl(self) -> Callable[..., Any]:  # type: ignore[override]
        """How eager calls are evaluated: ``impl(*args, **params)``. Who puts a function around it can put it back."""
        return self.evaluated if self.own_impl is None else self.own_impl

    @impl.setter
    def impl(self, impl: Callable[..., object] | None) -> None:
        self.own_impl = None if impl == self.evaluated else impl

    def evaluated(self, *args: Any, **params: Any) -> Any:
        """The result as the backend computes it."""
        return backends.get().evaluate(self, args, params)

    def bind(self, *args: Any, **params: Any):
        """Apply the primitive to ``args`` under the current transformation."""
        try:
            return context.state.trace.process(self, args, params)
        except Exception as error:
            shorten(error)
            raise

    def with_rule(self, **rules: Any) -> "Primitive":
        """A copy with some rules replaced (tests plant wrong rules with it)."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **rules)
        return other


class ProgramPrimitive(Primitive):
    """A primitive whose parameters hold programs, and whose results are theirs.

    It must say, besides the rules of any primitive, how its programs are linearized, split, narrowed, discharged and
    stepped through, or ``none(reason)``. It has several results, and its result types are not cached.

    Args:
      program: the parameter whose program takes the operands, one for one (`jaxpr.program_of`): of a call as they are, of a loop
        elements of some, of devices their parts. A primitive that has one runs it once, unless ``interpret`` says otherwise.
      transparent: it says nothing about that program that a policy of `checkpoint` should know of.
    """

    holds_program = True
    _usual_traits = Traits(Kind.PROGRAM)

    def __init__(self, name: str, *, linearize: Any = _MISSING, split: Any = _MISSING, dce: Any = _MISSING,
                 discharge: Any = _MISSING, interpret: Any = _MISSING, program: str | None = None, save: Callable | None = None,
                 transparent: bool = False, **rules: Any):
        if interpret is _MISSING and program is not None:
            interpret = lambda run, *values, **params: run(params[program], *values)
        _demand(name, linearize=linearize, split=split, dce=dce, discharge=discharge, interpret=interpret)
        super().__init__(name, linearize=linearize, dce=dce, discharge=discharge, multiple_results=True, cacheable=False, **rules)
        self.split, self.interpret, self.program, self.transparent, self.save = split, interpret, program, transparent, save


def _demand(name, **rules):
    """Raise TypeError where a rule of the primitive ``name`` was left out."""
    missing = [rule for rule, value in rules.items() if value is _MISSING]
    if missing:
        raise TypeError(f"primitive {name!r} lacks the rules {', '.join(missing)}; declare them, or say none(reason)")


class Zero:
    """A tangent or cotangent that is known to be zero and was never computed. ``aval`` is its type."""

    __slots__ = ("_aval", "_primal")
    _aval: Any
    _primal: Any

    def __init__(self, aval: AbstractValue):
        self._aval = aval

    @property
    def aval(self) -> AbstractValue:
        if self._aval is None:
            self._aval = get_aval(self._primal).to_tangent_aval()
        return self._aval

    @staticmethod
    def of(primal: ArrayLike) -> "Zero":
        """The zero tangent of a primal value; its type is only worked out when somebody asks."""
        zero = object.__new__(Zero)
        zero._aval, zero._primal = None, primal
        return zero

    @staticmethod
    def from_primal_value(primal: ArrayLike) -> "Zero":
        return Zero(get_aval(primal).to_tangent_aval())

    def instantiate(self) -> Any:
        """An array of zeros of this type."""
        return extension_points.zeros.get()(self.aval)

    def __repr__(self):
        return f"Zero({self.aval})"


class Linear:
    """Stands for an operand whose cotangent a transpose rule must find. ``aval`` is its type."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: len(self.aval.shape))

    def __repr__(self):
        return f"Linear({self.aval})"


def _joined_tangents(x: Linear) -> AbstractValue:
    """A transpose rule used one of its linear operands as if it were known."""
    raise TypeError(f"{source.capture()}: this operation joins two values that both depend on the tangents, one of them of type "
                    f"{x.aval.str_short()}, so the program is not linear in these and cannot be transposed. Rules of custom_jvp must be linear in "
                    "the tangents, and functions for linear_transpose in their arguments.")


register_value_class(Linear, _joined_tangents)


def is_linear(x: object) -> bool:
    """Whether a transpose rule must find a cotangent for this operand.

    >>> from jax.experimental import hijax
    >>> hijax.is_undefined_primal(1.)
    False
    """
    return type(x) is Linear


_type_cache: dict = {}
_TYPE_CACHE_LIMIT = 1 << 16


def abstract_eval(prim: Primitive, avals: Sequence[AbstractValue], params: dict) -> tuple[tuple, Effects]:
    """Result types (always a tuple) and effects of ``prim`` on operands of types ``avals``."""
    if not prim.cacheable:
        return _abstract_eval(prim, avals, params)
    key = (prim, *avals, *params.items()) if params else (prim, *avals)
    try:
        return _type_cache[key]
    except KeyError:
        pass
    except TypeError:  # an unhashable parameter
        return _abstract_eval(prim, avals, params)
    result = _abstract_eval(prim, avals, params)
    if len(_type_cache) > _TYPE_CACHE_LIMIT:
        _type_cache.clear()
    _type_cache[key] = result
    return result


def _abstract_eval(prim, avals, params):
    if prim.out_type is None:
        raise NotImplementedError(f"primitive {prim.name!r} has no rule for its result type; give it one with "
                                  "def_abstract_eval")
    if not prim.takes_refs:
        _refuse_refs(prim, avals)
    out = prim.out_type(*avals, **params)
    effects = prim.effects(*avals, **params) if prim.effects is not None else NO_EFFECTS
    out = tuple(out) if prim.multiple_results else (out,)
    axes = NO_AXES.union(*[a.vma for a in avals]) if any([a.vma for a in avals]) else NO_AXES
    if axes and not (prim.own_type or prim.holds_program):
        out = tuple(t if t.vma == axes else t.update(vma=axes) for t in out)
    if any([a.sums is not partial_sums.NOTHING for a in avals]) and not (prim.own_type or prim.holds_program):
        sums = partial_sums.in_region(prim, avals)
        out = tuple(t if t.sums == sums else t.update(sums=sums) for t in out)
    if any([type(a) is ShapedArray and a.memory_space is not Space.Device for a in avals]) and not (prim.own_type or prim.holds_program):
        out = memory.in_results(prim, avals, out)
    if not prim.holds_program and (any([a.placement is not None for a in avals]) or params and (
            params.get("sharding") is not None or params.get("out_sharding") is not None)):
        out = place(prim, avals, params, out)
    return out, effects


def _refuse_refs(prim, avals):
    for i, aval in enumerate(avals):
        if type(aval) is AbstractRef:
            raise TypeError(f"{prim.name}: operand {i} is a mutable reference of type {aval}, and an array is expected; read "
                            "its contents with ref[...].")


def clear_type_cache() -> None:
    _type_cache.clear()
