"""Traces and tracers: how one call of a primitive reaches the transformations in force.

The current trace (see `context`) gets every call. A trace that owns none of the arguments hands the call to its
parent; the last one, `EvalTrace`, runs it on the backend. Rules of primitives need no switching of traces: what they
bind on a trace's own values finds its way by the same walk.

Left aside: a stack of numbered levels with the highest level of the arguments taking the call. The walk needs no
levels, no sublevels, and no lifting of constants through the levels between.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Mapping, Sequence

import numpy as np

from .. import backends, extension_points
from ..compat.traces import TraceHabits, TracerHabits
from ..configuration import context
from ..representation import array, dtypes, errors, high
from ..representation.aval import AbstractRef, AbstractValue
from ..representation.primitive import Primitive
from . import lengths, nans

if TYPE_CHECKING:
    from ..representation.typing import PyTree
    from ..transformations.custom_jvp import CustomJvpCall
    from ..transformations.custom_vjp import CustomVjpCall


class Trace(TraceHabits):
    """One transformation at work. ``parent`` is the trace below, None for `EvalTrace` and while staging."""

    parent: Any
    hands_on_known: ClassVar[bool] = False
    """Whether operations on known values are the parent's alone."""
    __slots__ = ("parent", "agree", "__weakref__")

    def __init__(self, parent: "Trace | None" = None):
        if extension_points.array_methods.value is None:
            extension_points.array_methods.bring()  # tracers have operators from the first one on
        self.parent = parent
        self.agree = context.state.manual  # inside a checked manual region: makes operands agree, see `manual`

    def process(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        """Apply ``prim`` to ``args``, some of which may be tracers of this trace."""
        return self.process_as_theirs(prim, args, params)

    def process_custom_jvp(self, call: "CustomJvpCall", args: Sequence[object]) -> list:
        """Apply a function with a custom JVP rule; see `custom_jvp`."""
        return self.custom_jvp_as_theirs(call, args)

    def process_custom_vjp(self, call: "CustomVjpCall", args: Sequence[object]) -> list:
        """Apply a function with a custom VJP rule; see `custom_vjp`."""
        return self.custom_vjp_as_theirs(call, args)

    def process_ref(self, prim: Any, args: Sequence[Any], params: dict) -> Any:
        """Apply a primitive on mutable references; see `references.primitives`."""
        return prim.under(self, args, params)

    def holds(self, x: object) -> bool:
        """Whether ``x`` is a tracer of this trace."""
        return isinstance(x, Tracer) and x._trace is self

    def array_made(self, x: Any, value: object) -> Any:
        """What the array ``x`` is that was made of Python's or NumPy's numbers under this trace, of the scalar ``value`` if that is not None.

        Under one that writes down a program it is a part of this, and its numbers cannot be had, as of all that the program computes.
        """
        return x if self.parent is None else self.parent.array_made(x, value)

    def new_ref(self, init: PyTree, params: dict) -> Any:
        """A mutable reference whose contents may be tracers of this trace."""
        raise NotImplementedError(f"{type(self).__name__}: mutable references cannot be made under this transformation")

    def __repr__(self):
        return f"{type(self).__name__}(level={depth(self)}/0)"


def depth(trace: Trace) -> int:
    """Number of traces below ``trace``."""
    n = -1
    while trace.parent is not None:
        trace, n = trace.parent, n + 1
    return max(n, 0)


class EvalTrace(Trace):
    """No transformation: run the primitive at once."""

    __slots__ = ()

    def __init__(self) -> None:  # made before there are operators, and in no region
        self.parent = self.agree = None

    def process(self, prim: Primitive, args: Sequence[object], params: dict):
        if prim.own_impl is not None:
            return prim.own_impl(*args, **params)
        for x in args:
            if isinstance(x, Tracer):
                raise escaped(x)
        outs = backends.get().evaluate(prim, args, params)
        if nans.watching():
            nans.check_primitive(prim, args, outs)
        return outs

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        return call.fun(*args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        return call.fun(*args)

    def process_ref(self, prim: Any, args: Sequence[Any], params: Mapping[str, object]):
        return prim.own_impl(*args, **params)


EVAL = EvalTrace()
extension_points.evaluation.fill(EVAL)


def current() -> Trace:
    """This thread's current trace."""
    return context.state.trace


def trace_state_clean() -> bool:
    """Whether no transformation is in force.

    >>> jax.core.trace_state_clean()
    True
    """
    return context.state.trace is EVAL


def tracing() -> bool:
    """Whether a program is being written down, so that what is called now will run later."""
    trace = context.state.trace
    while trace.parent is not None:
        trace = trace.parent
    return trace is not EVAL


def evaluates_known() -> bool:
    """Whether operations on known values are evaluated at once: outside of transformations, and within such as only hand them on."""
    trace = context.state.trace
    while trace.hands_on_known and not trace.agree:
        trace = trace.parent
    return trace is EVAL


class Tracer(TracerHabits):
    """A value inside a transformation: its type is known, its contents may not be.

    Subclasses have ``_trace``, and ``aval`` as an attribute or property.
    """
    __module__ = "jax.core"  # by the first word of which opt_einsum, autoray and others know whose value it is

    __slots__ = ("_trace", "__weakref__")
    _is_traced_array = True
    _trace: "Trace"
    aval: AbstractValue
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]  # as of arrays: equality compares elements

    shape = property(lambda self: lengths.shown(self.aval.shape) if lengths.active else self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: len(self.aval.shape))
    size = property(lambda self: lengths.shown_number(self.aval.size) if lengths.active else self.aval.size)
    weak_type = property(lambda self: self.aval.weak_type)

    @property
    def sharding(self) -> Any:
        raise AttributeError(f"The 'sharding' attribute is not available on a traced value of type {self.aval.str_short()}: "
                             "where it will be is not known yet. jax.typeof(x).sharding is what the type says.")

    committed = property(lambda self: True)

    @property
    def nbytes(self):
        n = self.aval.size * self.aval.dtype.itemsize
        return lengths.shown_number(n) if lengths.active else n

    @property
    def itemsize(self):
        return self.aval.dtype.itemsize

    def concrete(self) -> Any | None:
        """The value below all transformations, if there is one, else None."""
        return None

    def truth(self) -> Any | None:
        """The one element, for `if`, where it can be had although it is traced, else None."""
        return None

    def aval_text(self) -> str:
        return str(self.aval)

    def by_type(self) -> str:
        """How it is named in messages, where numbers are of no use."""
        return repr(self)

    def __repr__(self):
        return f"Traced<{self.aval_text()}>with<{self._trace}>"

    __str__ = __repr__

    def __format__(self, spec):
        return repr(self) if not spec else format(_concrete(self, float, "format"), spec)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __getitem__(self, index):
        return _operators(self)["__getitem__"](self, index)

    def __setitem__(self, index, value):
        _operators(self)["__setitem__"](self, index, value)

    @property
    def at(self):
        return _operators(self)["at"].__get__(self)

    addupdate = property(lambda self: _of_reference(self, "addupdate"), doc="For references only: add to a part of it.")
    get = property(lambda self: _of_reference(self, "get"), doc="For references only: read a part of it.")
    set = property(lambda self: _of_reference(self, "set"), doc="For references only: overwrite a part of it.")
    swap = property(lambda self: _of_reference(self, "swap"), doc="For references only: overwrite a part of it, and return what was there.")
    bitcast = property(lambda self: _of_reference(self, "bitcast"), doc="For references only: a view of its bits as another dtype.")
    reshape = property(lambda self: _shared(self, "reshape"), doc="An array, or a view of a reference, in another shape.")
    transpose = property(lambda self: _shared(self, "transpose"), doc="An array, or a view of a reference, with its axes in another order.")
    T = property(lambda self: _shared(self, "T"), doc="An array, or a view of a reference, with its axes reversed.")

    def __len__(self):
        if lengths.active:
            lengths.counted()
        return len(self.aval)

    def __iter__(self):
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if self.aval.is_high or type(self.aval) is AbstractRef:
            return map(self.__getitem__, range(self.shape[0]))
        return _operators(self)["__iter__"](self)  # each when it is asked for: some only ask whether there is an iterator

    def __bool__(self):
        return bool(_concrete(self, bool, "bool"))

    def __int__(self):
        return int(_concrete(self, int, "int"))

    def __float__(self):
        return float(_concrete(self, float, "float"))

    def __complex__(self):
        return complex(_concrete(self, complex, "complex"))

    def __index__(self):
        if self.shape or not dtypes.issubdtype(self.dtype, np.integer):
            raise TypeError(errors.no_index(self.aval))
        value = self.concrete()
        if value is None:
            raise errors.TracerIntegerConversionError(self)
        return value.__index__()

    def __array__(self, *args, **kwargs):
        if type(self.aval) is AbstractRef:
            raise TypeError(errors.no_array(self.aval))
        raise errors.TracerArrayConversionError(self)

    def __dlpack__(self, *args, **kwargs):
        raise errors.ConcretizationTypeError(self, "__dlpack__() needs the values of an array")

    def tolist(self):
        raise errors.ConcretizationTypeError(self, "tolist() needs the values of an array")

    def __reduce__(self):
        raise errors.ConcretizationTypeError(self, "pickling needs the values of an array")

    def tobytes(self, order: str = "C"):
        raise errors.ConcretizationTypeError(self, "tobytes() needs the values of an array")

    def delete(self):
        raise errors.ConcretizationTypeError(self, "delete() needs a concrete array")

    def devices(self):
        raise errors.ConcretizationTypeError(self, "devices() needs a concrete array")

    def addressable_data(self, index: int):
        raise errors.ConcretizationTypeError(self, "addressable_data() needs a concrete array")

    def unsafe_buffer_pointer(self):
        raise errors.ConcretizationTypeError(self, "unsafe_buffer_pointer() needs a concrete array")

    @property
    def traceback(self):
        raise errors.ConcretizationTypeError(self, "traceback is a property of concrete arrays")

    def is_deleted(self):
        raise errors.ConcretizationTypeError(self, "is_deleted() needs a concrete array")

    def on_device_size_in_bytes(self):
        raise errors.ConcretizationTypeError(self, "on_device_size_in_bytes() needs a concrete array")

    @property
    def memory_space(self):
        return self.aval.memory_space

    @property
    def is_fully_replicated(self):
        raise errors.ConcretizationTypeError(self, "is_fully_replicated needs a concrete array")

    @property
    def global_shards(self):
        raise errors.ConcretizationTypeError(self, "global_shards needs a concrete array")

    @property
    def addressable_shards(self):
        raise errors.ConcretizationTypeError(self, "addressable_shards needs a concrete array")

    @property
    def is_fully_addressable(self):
        raise errors.ConcretizationTypeError(self, "is_fully_addressable needs a concrete array")

    def _origin_message(self) -> str:
        """Which argument of which function this value comes from, for error messages: what its trace is, then the arguments."""
        return ""

    @property
    def _to_know(self) -> str:
        """What to write so that this value is known while tracing; empty where nothing helps."""
        return ""

    def _made_by(self) -> str:
        """The same of a value whose trace has ended."""
        return self._origin_message()


def attributes_by_type() -> None:
    """From now on tracers of high-level types have the attributes that their types say; called when there is such a type.

    Not before, as any look at an attribute of a class with `__getattr__` takes longer, also at one that is there.
    """
    Tracer.__getattr__ = _attribute_by_type  # type: ignore[attr-defined]


def _attribute_by_type(self: Tracer, name: str) -> Any:
    if name != "aval" and name != "_trace" and self.aval.is_high:
        return high.attribute(self, name)
    if isinstance(said := getattr(type(self), name, None), property):  # which has raised: it says why
        return said.__get__(self)
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


def _of_reference(tracer: Tracer, name: str) -> Any:
    if type(tracer.aval) is not AbstractRef:
        raise AttributeError(f"{type(tracer).__name__!r} object has no attribute {name!r}", name=name, obj=tracer)
    return _operators(tracer)[name].__get__(tracer)


def _shared(tracer: Tracer, name: str) -> Any:
    """What arrays and references both have."""
    slot = extension_points.reference_operators if type(tracer.aval) is AbstractRef else extension_points.array_methods
    return slot.get()[name].__get__(tracer)


def _operators(tracer: Tracer) -> Mapping[str, Any]:
    if tracer.aval.is_high:
        return high.operators
    if type(tracer.aval) is not AbstractRef:
        return extension_points.array_methods.get()
    return extension_points.reference_operators.get()


def _concrete(tracer: Tracer, kind: type, name: str):
    if type(tracer.aval) is AbstractRef:
        raise TypeError(errors.no_array(tracer.aval))
    if kind is bool:
        if tracer.size != 1:
            raise ValueError(errors.no_truth(tracer.shape))
    elif tracer.shape != ():
        raise TypeError(f"only arrays of one element can be converted to a Python {name}; got shape {tracer.shape}")
    value = tracer.concrete()
    if value is None and kind is bool:
        value = tracer.truth()
    if value is None:
        if kind is bool:
            raise errors.TracerBoolConversionError(tracer)
        raise errors.ConcretizationTypeError(tracer, errors.conversion_context(name))
    return value


array.register_array_class(Tracer)


def is_concrete(x: object) -> bool:
    """Whether the contents of ``x`` can be looked at now.

    >>> jax.core.is_concrete(jnp.ones(3))
    True
    >>> seen = jax.make_jaxpr(lambda x: print(jax.core.is_concrete(x)))(1.)
    False
    """
    return to_concrete_value(x) is not None


def to_concrete_value(x: object) -> Any | None:
    """``x`` without any tracers around it, or None where a tracer's value is not known."""
    return x.concrete() if isinstance(x, Tracer) else x


def escaped(tracer: Tracer) -> Exception:
    """The error for a tracer that is used after its transformation has ended."""
    made_by = tracer._made_by()
    return errors.UnexpectedTracerError(
        f"This is an unexpected tracer: a value of type {tracer.aval} was used after the transformed function that made it had ended: "
        "a side effect carried it out (into global state, an attribute or a list, or in a closure called later).\n"
        + (f"{made_by}\n" if made_by else "") +
        "Return the value from the function instead. The context manager jax.checking_leaks() finds such values "
        f"where they are made.\nIt is {tracer.by_type()}.")


class _FoldingTrace(Trace):
    """On top of another trace: what has only known operands runs at once, the rest goes down."""

    __slots__ = ()

    def _below(self, args) -> Trace:
        return self.parent if any(isinstance(x, Tracer) for x in args) else EVAL

    def process(self, prim: Primitive, args: Sequence[object], params: dict):
        below = self._below(args)
        if below is not EVAL:
            return below.process(prim, args, params)
        with context.Use(EVAL):
            return EVAL.process(prim, args, params)

    def process_ref(self, prim: object, args: Sequence[object], params: dict):
        return self._below(args).process_ref(prim, args, params)

    def process_custom_jvp(self, call: CustomJvpCall, args: Sequence[object]):
        return self._below(args).process_custom_jvp(call, args)

    def process_custom_vjp(self, call: CustomVjpCall, args: Sequence[object]):
        return self._below(args).process_custom_vjp(call, args)


class ensure_compile_time_eval:
    """Inside this context operations on known values run at once, also while a program is being traced.

    With it, Python control flow in a traced function can depend on values that are computed from constants. Operations
    on traced values are traced as ever.

    >>> f = jax.jit(lambda x: x + compiled_constant())
    >>> def compiled_constant():
    ...     with jax.ensure_compile_time_eval():
    ...         return float(jnp.sum(jnp.ones(3)))
    >>> f(1.)
    Array(4., dtype=float32, weak_type=True)
    """

    def __enter__(self):
        trace = context.state.trace
        self._use = context.Use(EVAL if trace is EVAL else _FoldingTrace(trace))
        self._use.__enter__()

    def __exit__(self, *exc):
        self._use.__exit__(*exc)


class eval_context:
    """Inside this context no transformation is in force."""

    def __enter__(self):
        self._use = context.Use(EVAL)
        self._use.__enter__()

    def __exit__(self, *exc):
        self._use.__exit__(*exc)
