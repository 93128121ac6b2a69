"""Where packages meet without importing each other: every slot there is, what it is for and who fills it.

A package imports only those below it. What a package below needs from one above is a slot of this list: the one above fills
it when it is loaded, once, and the one below reads it. Nothing else is set from outside: a test finds assignments to
attributes of other modules and classes.

What concerns one package alone uses `Listeners` too, beside the module that tells (the XLA backend: `platforms.client`).
Tables with an open number of entries, each under a key of its own (classes of arrays, pytree nodes, flags, platforms, kinds
of keys), are filled by functions of the modules that own them.

This module imports nothing of the package, so that every layer may read it.
"""
from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Generic, Mapping, NamedTuple, ParamSpec, Sequence, TypeVar

if TYPE_CHECKING:
    from .representation.typing import PyTree

T = TypeVar("T")
P = ParamSpec("P")


class NotProvided(RuntimeError):
    """Something is needed that a package which is not loaded provides."""


class Slot(Generic[T]):
    """One value that comes from elsewhere.

    Args:
      purpose: what it is for, as the end of the sentence "jax needs ...".
      provider: the package or module that fills it.

    Attributes:
      value: what it was filled with, None before. Paths that must be fast read this; `get` raises where it is missing.
    """

    __slots__ = ("purpose", "provider", "value", "_waiting", "_load")
    value: T | None

    def __init__(self, purpose: str, provider: str):
        self.purpose, self.provider, self.value = purpose, provider, None
        self._waiting: list[Callable[[T], Any]] = []
        self._load: Callable[[], object] | None = None

    def found_by(self, load: Callable[[], object]) -> None:
        """Whoever assembles packages says how the provider is loaded, which is done when the value is first needed."""
        self._load = load

    def bring(self) -> None:
        """Have the provider fill the slot, if it is known how to load it."""
        if self.value is None and self._load is not None:
            self._load()

    def fill(self, value: T) -> None:
        """Put ``value`` there. Once: the same value again only tells those who have not been told, should Ctrl-C have come between.

        Raises:
          RuntimeError: the slot holds another value.
        """
        if self.value is not None and self.value is not value and self.value != value:
            raise RuntimeError(f"the slot for {self.purpose} was filled by {self.provider} with {self.value!r}, and is filled once; "
                               f"it cannot be filled again, with {value!r}")
        self.value = value
        while self._waiting:
            self._waiting[0](value)
            del self._waiting[0]

    def get(self) -> T:
        """The value.

        Raises:
          NotProvided: nobody has filled the slot.
        """
        if self.value is None:
            self.bring()
        if self.value is None:
            raise NotProvided(f"jax needs {self.purpose} here, which {self.provider} provides; import it first")
        return self.value

    def when_filled(self, use: Callable[[T], object]) -> None:
        """Call ``use(value)`` when the slot is filled, or now if it is."""
        if self.value is not None:
            use(self.value)
        else:
            self._waiting.append(use)

    def __repr__(self):
        return f"Slot({self.purpose!r}, {self.provider!r}, {'empty' if self.value is None else 'filled'})"


class Listeners(Generic[P]):
    """Functions that several packages add, called one after the other when something happens.

    Args:
      event: what happens, as the end of the sentence "called when ...".
      teller: the module that calls them.
    """

    __slots__ = ("event", "teller", "_functions")

    def __init__(self, event: str, teller: str):
        self.event, self.teller = event, teller
        self._functions: list[Callable[P, Any]] = []

    def add(self, function: Callable[P, Any]) -> None:
        """Have ``function`` called from now on."""
        self._functions.append(function)

    def tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all of them."""
        for function in self._functions:
            function(*args, **kwargs)


# -- arrays ----------------------------------------------------------------------------------------------------------

array_methods: Slot[Mapping[str, Any]] = Slot(
    "the operators and methods that arrays and tracers share, by name", "jax_numpy_api.numpy")
"""Attached to all array classes (`representation.array`), whichever of the two is there first."""

array_namespace: Slot[ModuleType] = Slot("the module that `__array_namespace__` of arrays answers with", "jax.numpy")
"""Where `jax` is not installed it is `jax_numpy_api.numpy`."""


class Windows(NamedTuple):
    """``cut(x, start, size, axis)``: elements next to each other along an axis; ``update(x, part, start, axis)``: ``x`` with them
    replaced. ``start`` may be traced."""

    cut: Callable[[Any, Any, int, int], Any]
    update: Callable[[Any, Any, Any, int], Any]


windows: Slot[Windows] = Slot("windows of arrays that start at a traced position", "jax_numpy_api.numpy")
"""For `references.indexing`, which uses arrays of positions where nobody provides windows."""

random_functions: Slot[ModuleType] = Slot("random numbers (`jax.random`)", "jax_random")
"""For the few functions of `jax_numpy_api` that take a key; who has a key has loaded the package."""


# -- traces ----------------------------------------------------------------------------------------------------------

evaluation: Slot[Any] = Slot("the trace that runs primitives at once", "jax_core.traces")
"""The current trace of a thread that is in no transformation; for `configuration.context`, which imports nothing."""

zeros: Slot[Callable[[Any], Any]] = Slot("arrays of zeros of a given type", "jax_core.traces")
"""For `representation.primitive.Zero`: arrays are made by primitives, which are declared above it."""

high_values: Slot[tuple[Callable[[Any, Any], Sequence[Any]], Callable[[Any, Sequence[Any]], Any]]] = Slot(
    "the arrays that represent a value of a high-level type, and the value that arrays represent", "jax_core.transformations")
"""For references to such values, which are references to these arrays: the primitives that lead from one to the other are declared above."""

reference_operators: Slot[Mapping[str, Any]] = Slot("the operators of tracers that are references, by name", "jax_core.references")

trace_changed: Slot[Callable[[Any], None]] = Slot("to tell who keeps fast paths of the current trace", "jax_xla_backend")
"""Called with each thread's new current trace, None for evaluation. Read with each change, so there is one and no list."""

tracing_flag: Slot[Callable[[Any], None]] = Slot("to tell who keeps fast paths of the flags that affect tracing", "jax_xla_backend")
"""Called with each such flag (`engine.State`) there is, and each that is defined later."""


# -- running programs --------------------------------------------------------------------------------------------------

runtime_error: Slot[type[Exception]] = Slot("the class of errors of the runtime, `JaxRuntimeError`", "jax_xla_backend")
"""Filled when the backend is loaded. A backend without a class of its own leaves it empty."""

error_instead: Slot[Callable[[Sequence[Any]], BaseException | None]] = Slot(
    "the exceptions of callbacks, which the runtime turns into text", "jax_callbacks")
"""``error_instead(args)``: what to raise where the runtime makes its error with these arguments, or None for that error."""

memory_move: Slot[Callable[[str], tuple[Any, dict]]] = Slot(
    "the primitive that moves a value to memory of a kind (``pinned_host``), and its parameters", "jax_xla_backend")

kernel_compiler: Slot[Callable[[Any, Any, Sequence[Any]], list]] = Slot(
    "to compile kernels (`pallas_call`) for accelerators", "jax_xla_backend")
"""``kernel_compiler(builder, program, operands)``: the results of a kernel's program (`jax_numpy_api.pallas.grid.Program`)."""

class CallOnParts(NamedTuple):
    """A call that the compiler cannot split over devices by itself, and how it is split.

    ``operands``, ``results``: of each the names of its axes; axes of one name are split alike. ``whole``: names of those that are not.
    ``partition(sizes of the mesh axes, entries of the operands)``: the entries that each name gets, for the entries (None, a mesh axis, or
    several) that the compiler would like, and a function of the operands' parts that may use collectives.
    """

    fun: Callable[..., Sequence[Any]]
    operands: Sequence[Sequence[str]]
    results: Sequence[Sequence[str]]
    whole: Sequence[str]
    partition: Callable[[Mapping[Any, int], Sequence[Sequence[Any]]], tuple[Mapping[str, Any], Callable[..., Sequence[Any]]]]


call_on_parts: Slot[Callable[[Any, CallOnParts, Sequence[Any]], Sequence[Any] | None]] = Slot(
    "to split a call over devices", "jax_xla_backend")
"""``call_on_parts(builder, call, operands)``: its results; None where values are not split over devices by the compiler."""

class SymbolicShapes(NamedTuple):
    """Programs for arguments with symbolic dimensions.

    ``is_symbolic_dim(d)``. ``eval_shape(fun, args, kwargs)``, ``trace(fun, its method trace for known shapes, args, kwargs)``: what these give.
    ``program(what, args, kwargs, run)``: for ``run(*args, **kwargs)`` that gives a jaxpr for known shapes, and something else, the jaxpr for
    all shapes, and what else it gave for one of them.
    """

    is_symbolic_dim: Callable[[object], bool]
    eval_shape: Callable[[Callable, tuple, dict], PyTree]
    trace: Callable[[Callable, Callable, tuple, dict], Any]
    program: Callable[[str, tuple, dict, Callable[..., tuple[Any, Any]]], tuple[Any, Any]]

    def in_arguments(self, leaves: Sequence[Any]) -> bool:
        """Whether a shape among the leaves is symbolic."""
        return any([self.is_symbolic_dim(d) for x in leaves for d in getattr(x, "shape", ())])


symbolic_shapes: Slot[SymbolicShapes] = Slot("programs for arguments with symbolic dimensions", "jax_core.export")
"""While it is empty nobody has made such a dimension."""

program_caller: Slot[str] = Slot("the name of the module that calls programs with callbacks", "jax_xla_backend")
"""A thread with a frame of it may be in such a program, when the interpreter ends."""

callback_caller: Slot[str] = Slot("the name of the module that the runtime calls with the buffers of a callback", "jax_xla_backend")
"""A frame of it is the runtime's and not the program's, when an exception of a callback looks for its way."""

caches_cleared: Listeners[[]] = Listeners("all caches are cleared (`jax.clear_caches`)", "jax_core.programs")
"""For packages that keep programs of their own."""


class LoopBody:
    """The body of a loop that sets the loop up itself, as `jax_callbacks.progress_bar` returns.

    The functions of `lax` hand over: each method gets the function of that name, to call with another body, and its arguments.
    """

    def set_up_scan(self, scan: Callable, init: PyTree, xs: object, length: int | None, **options: Any) -> Any:
        """`lax.scan`."""
        raise NotImplementedError

    def set_up_map(self, loop: Callable, xs: object, batch_size: int | None) -> Any:
        """`lax.map`."""
        raise NotImplementedError

    def set_up_fori_loop(self, loop: Callable, lower: object, upper: object, init: PyTree, **options: Any) -> Any:
        """`lax.fori_loop`."""
        raise NotImplementedError

    def set_up_while_loop(self, loop: Callable, condition: Callable, init: PyTree, max_steps: int | None) -> Any:
        """`lax.while_loop`."""
        raise NotImplementedError
