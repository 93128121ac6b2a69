"""Members of traces and tracers that libraries with traces of their own ask for.

Such a library (quax; oryx and others before it) derives a class from `jax.core.Trace` and has its methods under the names of the
public API: `process_primitive`, `process_custom_jvp_call`, `process_custom_vjp_call`. The traces of this system have `process`,
`process_custom_jvp`, `process_custom_vjp`. Either kind can be asked under either name.
"""
from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..configuration import context

if TYPE_CHECKING:
    from ..representation.aval import AbstractValue
    from ..representation.primitive import Primitive
    from ..transformations.custom_jvp import CustomJvpCall
    from ..transformations.custom_vjp import CustomVjpCall


class TraceHabits:
    """For classes of traces: what libraries override, and what they ask traces of this system."""

    __slots__ = ()
    parent: Any
    requires_low = False  # values of high-level types go through all traces of this system
    main = property(lambda self: self, doc="What traces of one transformation share: here there is one trace for each.")

    # -- under their names

    def process_primitive(self, primitive: "Primitive", tracers: Sequence[object], params: dict) -> Any:
        """Apply ``primitive``. Traces of libraries override it; ``tracers`` may hold other values than tracers too."""
        return self.process(primitive, tracers, params)  # type: ignore[attr-defined]  # of `traces.trace.Trace`

    def process_custom_jvp_call(self, prim: Primitive, fun: Callable[..., Any], jvp: Callable[..., Any],
                                tracers: Sequence[object], *, symbolic_zeros: bool) -> Any:
        """Apply ``fun``, a `WrappedFun`, with its rule, or without; see `custom_calls`."""
        raise NotImplementedError(f"{type(self).__name__} must have a method process_custom_jvp_call(prim, fun, jvp, tracers, *, "
                                  "symbolic_zeros)")

    def process_custom_vjp_call(self, prim: Primitive, fun: Callable[..., Any], fwd: Callable[..., Any],
                                bwd: Callable[..., Any], tracers: Sequence[object], *, out_trees: Callable[..., Any],
                                symbolic_zeros: bool) -> Any:
        """The same for a function with a VJP rule."""
        raise NotImplementedError(f"{type(self).__name__} must have a method process_custom_vjp_call(prim, fun, fwd, bwd, tracers, "
                                  "*, out_trees, symbolic_zeros)")

    def is_valid(self) -> bool:
        """Whether the trace is at work in this thread: the current one, or below it. Libraries look for leaks with it."""
        trace = context.state.trace
        while trace is not None and trace is not self:
            trace = getattr(trace, "below", None) if trace.parent is None else trace.parent
        return trace is self

    def invalidate(self) -> None:
        """Nothing, for traces of this system: when they are no longer at work, they are not valid. Libraries call it at that time."""

    def full_raise(self, x: object) -> Any:
        """``x`` itself. Traces written for stacks of levels (oryx) lift values with it; ours take values of others as they are."""
        return x

    stage_value = full_raise

    # -- ours, by theirs

    def works_as_theirs(self) -> bool:
        """Whether the trace is of a library: what is around it is then not known, as it keeps its parent in its own way."""
        return type(self).process_primitive is not TraceHabits.process_primitive

    def process_as_theirs(self, prim: "Primitive", args: Sequence[object], params: dict) -> Any:
        """`process` of a trace that has `process_primitive`."""
        if not self.works_as_theirs():
            raise NotImplementedError(f"{type(self).__name__} must have a method process_primitive(primitive, tracers, params)")
        return self.process_primitive(prim, args, prim.as_theirs(params))

    def custom_jvp_as_theirs(self, call: CustomJvpCall, args: Sequence[object]) -> list:
        """`process_custom_jvp` of a trace that has `process_custom_jvp_call`."""
        from . import custom_calls  # start-up: traces of this system do without it
        return custom_calls.custom_jvp(self, call, args)

    def custom_vjp_as_theirs(self, call: CustomVjpCall, args: Sequence[object]) -> list:
        """`process_custom_vjp` of a trace that has `process_custom_vjp_call`."""
        from . import custom_calls  # start-up: traces of this system do without it
        return custom_calls.custom_vjp(self, call, args)


class StagingHabits:
    """For traces that write programs down."""

    __slots__ = ()

    def new_arg(self, aval: "AbstractValue", source_info: object = None) -> Any:
        """A value of type ``aval``, as one more input of the program, after those that it has. brainstate makes states inputs as a program reads them."""
        return self.new_input(aval)  # type: ignore[attr-defined]  # of `traces.staging.DynamicJaxprTrace`


class MappedHabits:
    """For tracers of `vmap`."""

    __slots__ = ()
    dim: int | None
    batch_dim = property(lambda self: self.dim, doc="Where the mapped axis is, as brainstate asks to place the states that a function writes.")


def full_lower(x: object) -> Any:
    """A tracer without wrappings that it does not need, anything else as it is."""
    return x.full_lower() if isinstance(x, TracerHabits) else x


class TracerHabits:
    """For classes of tracers: the constructor that libraries call, and methods from systems where tracers wrap each other."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(types.GenericAlias)  # libraries name the trace: ``class MyTracer(Tracer["MyTrace"])``
    _trace: Any

    def __init__(self, trace: Any, aval: "AbstractValue"):
        """For tracers of libraries; ours set their own attributes. A class that works its type out keeps it."""
        self._trace = trace
        if not isinstance(getattr(type(self), "aval", None), property):
            self.aval = aval  # type: ignore[misc]  # in the dictionary or slot of the subclass

    def to_concrete_value(self) -> Any | None:
        """The value below all transformations, if there is one. Tracers of libraries override it."""
        return self.concrete()  # type: ignore[attr-defined]  # of `traces.trace.Tracer`

    def full_lower(self) -> Any:
        """The tracer itself. Libraries (quax, oryx) get rid of wrappings with it that are not needed."""
        return self

    @property
    def device(self) -> Any:
        """Raises AttributeError: the devices of a value are known when the program runs. Libraries ask with `hasattr`."""
        raise AttributeError(f"{type(self).__name__} has no attribute device: where a value is, is not known while it is traced")

    dimension_as_value = None  # dimensions that are not known become values by `jax.numpy.asarray`, without a primitive of their own

    def get_referent(self) -> Any:
        """The tracer itself: what it is a name for. Libraries compare tracers by it to find two for one value."""
        return self
