"""`jax.extend.core`: primitives that are declared piece by piece, and helpers for interpreters of jaxprs."""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..configuration import context
from ..representation.arguments import takes
from ..representation.aval import AbstractToken, AbstractValue, ShapedArray, Token, abstract_token, get_aval, is_jax_type
from ..representation.effects import NO_EFFECTS as no_effects, Effect, Effects
from ..representation.errors import ConcretizationTypeError, InconclusiveDimensionOperation, JaxprTypeError
from ..representation.jaxpr import (
    ClosedJaxpr,
    DebugInfo,
    DropVar,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    check_jaxpr,
    eval_jaxpr,
    jaxpr_as_fun,
    jaxprs_in_params,
    new_jaxpr_eqn,
    subjaxprs,
)
from ..representation.primitive import Primitive as DeclaredPrimitive, abstract_eval
from ..representation.typing import AxisName, DTypeLike
from ..traces.staging import DynamicJaxprTrace
from ..traces.trace import EVAL, Tracer, to_concrete_value
from ..transformations import batching
from ..transformations.batching import BatchTrace
from ..transformations.reverse import backward_pass

if TYPE_CHECKING:
    from ..traces.trace import Trace

Atom = (Var, Literal)
array_types = {np.ndarray, np.generic}


class _OfAnyOrigin(type):
    """All primitives are instances of `Primitive`, ours too: interpreters and type checkers of libraries ask."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, DeclaredPrimitive) if cls is Primitive else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, DeclaredPrimitive) if cls is Primitive else super().__subclasscheck__(subclass)


class Primitive(DeclaredPrimitive, metaclass=_OfAnyOrigin):
    """A primitive whose rules are set one at a time; a rule that is missing raises when it is needed.

    A subclass may have ``multiple_results`` as an attribute, and rules as methods: ``impl(*arrays, **params)``,
    ``abstract_eval(*avals, **params)`` with ``(result types, effects)``, and ``bind_with_trace(trace, args, avals, params)``.
    """

    name: str
    multiple_results: bool = False

    def __init__(self, name: str):
        kind = type(self)
        super().__init__(name, out_type=None, jvp=None, transpose=None, batch=None, lower=None, cacheable=False,
                         multiple_results=kind.multiple_results)
        if kind.impl is not DeclaredPrimitive.impl:
            self.own_impl = self.impl
        if kind.abstract_eval is not Primitive.abstract_eval:
            self.def_effectful_abstract_eval(self.abstract_eval)
        if kind.bind_with_trace is not Primitive.bind_with_trace:
            self.def_bind_with_trace(self.bind_with_trace)

    def def_impl(self, impl: Callable) -> Callable:
        """Set the eager evaluation ``impl(*arrays, **params)``; returns it."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, abstract_eval: Callable) -> Callable:
        """Set the rule for result types ``abstract_eval(*avals, **params)``; returns it."""
        self.out_type = abstract_eval
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval: Callable) -> Callable:
        """Set a rule that returns ``(result types, effects)``; returns it."""
        self.out_type = lambda *avals, **params: abstract_eval(*avals, **params)[0]
        self.effects = lambda *avals, **params: frozenset(abstract_eval(*avals, **params)[1])
        return abstract_eval

    def def_bind_with_trace(self, bind_with_trace: Callable) -> Callable:
        """Set what `bind` does: ``bind_with_trace(trace, args, avals, params)``, or without ``avals``; returns it."""
        names = inspect.signature(bind_with_trace).parameters.values()
        places = sum([p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in names])
        if places > 3 or any([p.kind is p.VAR_POSITIONAL for p in names]):
            self.bind = lambda *args, **params: bind_with_trace(  # type: ignore[method-assign]
                context.state.trace, args, list(map(get_aval, args)), params)
        else:
            self.bind = lambda *args, **params: bind_with_trace(context.state.trace, args, params)  # type: ignore[method-assign]
        return bind_with_trace

    def abstract_eval(self, *avals: Any, **params: Any) -> tuple:
        """The type of the result (a list with ``multiple_results``) on operands of types ``avals``, and the effects."""
        found, effects = abstract_eval(self, avals, params)
        return (list(found) if self.multiple_results else found[0]), effects

    def bind_with_trace(self, trace: Trace, args: Sequence[Any], *avals_and_params: Any) -> Any:
        """Apply the primitive under ``trace``: ``(trace, args, avals, params)``, or without ``avals``."""
        with context.Use(trace):
            return trace.process(self, args, avals_and_params[-1])

    def is_high(self, *avals: Any, **params: Any) -> bool:
        """Whether an operand is of a type that arrays only represent."""
        return any(aval.is_high for aval in avals)

    def def_custom_bind(self, bind: Callable) -> Callable:
        """Set `bind` itself; returns it."""
        self.bind = bind  # type: ignore[method-assign]
        return bind


def valid_jaxtype(x: object) -> bool:
    """Whether ``x`` can be an argument of a primitive.

    >>> jax.core.valid_jaxtype(1.), jax.core.valid_jaxtype("text")
    (True, False)
    """
    return is_jax_type(x)


def concrete_or_error(force: Callable | None, val: object, context: str = "") -> Any:
    """``force(val)`` (or ``val``) if the value is known.

    Raises:
      ConcretizationTypeError: ``val`` is a tracer without a known value; ``context`` is part of the message.

    >>> jax.core.concrete_or_error(int, jnp.array(3), "the length")
    3
    """
    if isinstance(val, Tracer):
        known = to_concrete_value(val)
        if known is None:
            raise ConcretizationTypeError(val, context)
        val = known
    return val if force is None else force(val)


def gensym(suffix: str = "") -> Callable:
    """A maker of fresh variables.

    >>> from jax.extend import core
    >>> fresh = core.gensym()
    >>> fresh(jax.typeof(jnp.ones(3))).aval
    ShapedArray(float32[3])
    """
    return lambda aval: Var(aval)


def primal_dtype_to_tangent_dtype(primal_dtype: DTypeLike) -> Any:
    """The dtype of tangents of values of ``primal_dtype``.

    >>> from jax.extend import core
    >>> core.primal_dtype_to_tangent_dtype(np.dtype("float32")), core.primal_dtype_to_tangent_dtype(np.dtype("int32"))
    (dtype('float32'), dtype([('float0', 'V')]))
    """
    return ShapedArray((), primal_dtype).to_tangent_aval().dtype


def primal_tangent_dtype(primal_dtype: DTypeLike, tangent_dtype: DTypeLike, name: str | None = None) -> Any:
    raise NotImplementedError("primal_tangent_dtype: pairs of different primal and tangent dtypes are not supported")


def get_opaque_trace_state(convention: object | None = None) -> Any:
    """A hashable value that is equal for two calls under the same transformations.

    >>> here = jax.core.get_opaque_trace_state()
    >>> here == jax.core.get_opaque_trace_state()
    True
    >>> program = jax.make_jaxpr(lambda: print(here == jax.core.get_opaque_trace_state()))()
    False
    """
    return _TraceState(context.state.trace)


class _TraceState:
    __slots__ = ("trace",)

    def __init__(self, trace):
        self.trace = trace

    def __eq__(self, other):
        return isinstance(other, _TraceState) and self.trace is other.trace

    def __hash__(self):
        return id(self.trace)

    def __repr__(self):
        return f"OpaqueTraceState({self.trace})"


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> AbstractValue:
    """The type of one row of an array of type ``aval`` that is mapped along ``axis``, of length ``size``.

    >>> from jax.extend import core
    >>> core.mapped_aval(5, 0, jax.typeof(jnp.ones((5, 3))))
    ShapedArray(float32[3])
    """
    _check_array_type("mapped_aval", aval)
    return aval if axis is None else batching.mapped_aval(aval, axis)


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray,
                  explicit_mesh_axis: AxisName | None = None) -> AbstractValue:
    """The type of an array whose rows along a new ``axis`` of length ``size``, split over ``explicit_mesh_axis``, have type ``aval``.

    >>> from jax.extend import core
    >>> core.unmapped_aval(5, 0, jax.typeof(jnp.ones(3)))
    ShapedArray(float32[5,3])
    """
    _check_array_type("unmapped_aval", aval)
    return aval if axis is None else batching.unmapped_aval(aval, size, axis, explicit_mesh_axis)


def _check_array_type(name: str, aval: object) -> None:
    if not isinstance(aval, AbstractValue):
        raise TypeError(f"{name}: aval must be a type such as jax.typeof(x), got {aval!r} of type {type(aval).__name__}")


def find_top_trace(_: Sequence[object]) -> Any:
    """The current trace.

    >>> type(jax.core.find_top_trace([1.])).__name__
    'EvalTrace'
    """
    return context.state.trace


class take_current_trace(context.Use):
    """A context manager that gives the current trace, ``prev``, and puts plain evaluation in its place."""

    __slots__ = ()
    prev = property(lambda self: self.before)

    def __init__(self):
        super().__init__(EVAL)

    def __enter__(self):
        super().__enter__()
        return self.before


class set_current_trace(context.Use):
    """A context manager under which ``trace`` is current; ``prev`` is the one that was so before.

    Args:
      trace: the trace to make current.
      check_leaks: kept as an attribute; leaks are looked for where `jax.checking_leaks` says so.
    """

    __slots__ = ("check_leaks",)

    def __init__(self, trace: Trace, check_leaks: bool = False):
        super().__init__(trace)
        self.check_leaks = check_leaks

    @property
    def prev(self) -> Any:
        """The trace that was current when the block was entered; an AttributeError before that."""
        return self.before


class TraceTag:
    """An identity shared by the traces of one transformation."""


def unsafe_get_axis_names_DO_NOT_USE() -> list:
    """Names of the mapped axes in scope.

    >>> from jax.extend import core
    >>> core.unsafe_get_axis_names_DO_NOT_USE()
    []
    """
    return [name for name, _ in context.state.axes]


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Whether a mapped axis with a name is in scope.

    >>> from jax.extend import core
    >>> core.nonempty_axis_env_DO_NOT_USE()
    False
    """
    return bool(context.state.axes)


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Whether a program is being traced.

    >>> from jax.extend import core
    >>> core.unsafe_am_i_under_a_jit_DO_NOT_USE()
    False
    >>> seen = jax.jit(lambda: print(core.unsafe_am_i_under_a_jit_DO_NOT_USE())).trace()
    True
    """
    return isinstance(context.state.trace, DynamicJaxprTrace) or _below(DynamicJaxprTrace)


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Whether a `vmap` is in force.

    >>> from jax.extend import core
    >>> core.unsafe_am_i_under_a_vmap_DO_NOT_USE()
    False
    """
    return _below(BatchTrace)


def _below(kind) -> bool:
    trace = context.state.trace
    while trace is not None:
        if isinstance(trace, kind):
            return True
        trace = trace.below if isinstance(trace, DynamicJaxprTrace) else trace.parent
    return False


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def eval_jaxpr_transpose(jaxpr: Jaxpr, consts: Sequence[object], args: Sequence[object], cts: Sequence[object]) -> list:
    """Cotangents of those ``args`` that are linear; see `reverse.backward_pass`.

    >>> from jax.extend import core
    >>> from jax.interpreters import ad
    >>> program = jax.make_jaxpr(lambda x: 3. * x)(1.)
    >>> core.eval_jaxpr_transpose(program.jaxpr, program.consts, [ad.UndefinedPrimal(jax.typeof(1.))], [2.])
    [Array(6., dtype=float32, weak_type=True)]
    """
    return backward_pass(jaxpr, consts, args, cts)


def create_call_primitive(name: str, inline_jax_late: bool = True) -> Any:
    raise NotImplementedError("create_call_primitive: call primitives of one's own are not supported; use a Primitive "
                              "that holds a ClosedJaxpr")


def register_call_primitive_rules(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("register_call_primitive_rules: call primitives of one's own are not supported")


stop_gradient_p = Primitive("stop_gradient")  # named by libraries; `lax.stop_gradient` needs no primitive here
