"""The interfaces between packages, as protocols: who calls, who implements, and what may be relied on.

====================  ==================================  ==========================================
protocol              called by                           implemented by
====================  ==================================  ==========================================
`Backend`             whoever asks `backends.get`         a backend package (`jax_xla_backend`)
`Runtime`             core (eval trace, `jit`, stages)    the backend itself
`Transfers`           whoever makes arrays                the backend itself
`ConcreteArray`       everybody                           the backend's ``array_type``
`Placements`          types, stages, export, `lax`        the backend's ``placements``
`Inspection`          stages                              the backend's ``inspection``
`Exporting`           `export`                            the backend's ``exporting``
`LoweredModule`       core (`jit`, stages)                what `Runtime.lower` returns
`Executable`, `Run`   core (`jit`, stages)                what `Runtime.compile` returns
`Builder`, `Value`    lowering rules of primitives        the backend
rules of primitives   transformations, the backend        whoever declares a primitive (`primitive`)
effect types          transformations, the backend        `effects.Effect` subclasses
====================  ==================================  ==========================================

A backend has every member of these protocols; nobody probes for one. What it cannot do it declares with `Absent`.
`jax_core.testing.contract` checks a backend against them, and `jax_core.testing.numpy_backend` is one in a few screens.
"""
from __future__ import annotations

import enum
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Hashable,
    Mapping,
    NamedTuple,
    NoReturn,
    Protocol,
    Sequence,
    overload,
    runtime_checkable,
)

import numpy as np

from .representation.aval import AbstractValue, ShapedArray
from .representation.effects import Effect, Effects
from .representation.jaxpr import ClosedJaxpr, Jaxpr, Var
from .representation.primitive import Primitive

if TYPE_CHECKING:
    from .representation.typing import ArrayLike, Placement, PyTree, ShardingLike


@runtime_checkable
class Value(Protocol):
    """An SSA value of the module being written. ``str(value)`` is its name (``%3``); ``aval`` its type."""

    aval: AbstractValue


JOINED_AT_ONCE = 8
"""Arrays that XLA's compiler for CPUs puts together in one kernel with all that computes them, at most."""


class Odd(enum.Enum):
    """What is odd about an equation, so that the form which is faster for most of its kind is not."""

    COSTLY_SUM = enum.auto()
    """A sum in windows, whose operand takes much to compute, back to what is in memory."""
    SUM_OF_EQUAL = enum.auto()
    """A sum of one number, repeated, of which the compiler makes a product."""
    MANY_COMPUTED = enum.auto()
    """One that puts more than `JOINED_AT_ONCE` arrays together, which the compiler would compute in a kernel each."""
    LOSES_NAN = enum.auto()
    """One whose code loses NaN where the compiler knows it, in a program where it may."""


class Builder(Protocol):
    """Writes StableHLO text; each lowering rule gets one. A rule never counts ``%3`` or spells a tensor type.

    A backend may run a rule once for each combination of primitive, operand types and parameters, and repeat what it
    wrote, so a rule depends on nothing else. Rules never see key arrays, unless their primitive says
    ``prim.lowers_keys = True``: others are lowered through their batching rule, an element's axes being mapped.

    Attributes:
      platform: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``.
      devices: how many devices the module is for.
      partitioned: whether the compiler splits values over several devices here, which it does not in a manual region over all mesh axes.
      barriers_last: whether the compiler computes what is behind an `optimization_barrier` apart from what is before it.
      portable: whether the program is for a platform by name, to be read or to run elsewhere: rules then write the operation rather than a
        formulation that suits today's compiler.
      one_form: whether the program is one of a family of shapes, which must differ in numbers only: rules then write what is right for all
        lengths, whatever pays for these.
      in_sum: whether the equation that is being lowered is computed by the compiler's library for sums, with vector code of its own.
      odd: what is odd about the equation that is being lowered, if anything is.
      vector_atan: whether the compiler's arc tangent is vector code; its other functions are so, or not, in all versions.
      compiler_errs: whether the compiler is one with known mistakes (loops by steps of more than one, slices of slices, convolutions of cropped
        arrays), so that rules write other forms; `elementwise` sees to those of integers that overflow.
      unstable_top_k: whether the compiler can be told that the order of equal elements does not matter.
      block: names the block (a function, a region) that is being written, apart from all others.
      axis_env: inside a manual region, the mesh axes that collectives name (`transformations.manual.AxisEnv`); None elsewhere.
      out_avals: types of the results of the equation being lowered.
      params: parameters of that equation.
    """

    platform: str
    devices: int
    partitioned: bool
    barriers_last: bool
    portable: bool
    one_form: bool
    in_sum: bool
    odd: Odd | None
    vector_atan: bool
    compiler_errs: bool
    unstable_top_k: bool
    axis_env: Any
    block: Hashable
    out_avals: Sequence[AbstractValue]

    def emit(self, text: str, *operands: Value, out: AbstractValue | Sequence[AbstractValue], attrs: str = "") -> Any:
        """Write ``%n = text attrs : (operand types) -> result types`` and return the value(s) (a list if ``out`` is one).

        ``text`` holds the operands' names where the op's syntax wants them.
        """

    def scalar(self, value: ArrayLike, dtype: np.dtype) -> Value:
        """A rank-0 constant; the same one is written once per function."""

    def full(self, value: ArrayLike, aval: AbstractValue) -> Value:
        """A constant of type ``aval`` with all elements ``value``."""

    def constant(self, value: np.ndarray) -> Value:
        """A constant array."""

    def array_attribute(self, value: np.ndarray) -> str:
        """The text of an attribute that holds an array."""

    def elementwise(self, op: str, *operands: Value, out: AbstractValue | None = None) -> Value:
        """The elementwise op named ``op``; operands of rank 0 are broadcast to the result's shape.

        ``out`` is by default the type of the equation's result.
        """

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        """``x`` with its elements converted (StableHLO `convert`); ``x`` itself where nothing changes."""

    def broadcast(self, x: Value, shape: Sequence[int], dims: Sequence[int] = ()) -> Value:
        """``broadcast_in_dim``; ``x`` itself where nothing changes."""

    def repeated(self, x: Value, out: AbstractValue) -> Value:
        """``x``, a scalar or of length 1 along some axes, for each element of an array of type ``out``, and placed as that is."""

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """``x`` with another shape of the same size."""

    def index(self, x: Value, i: Value) -> Value:
        """``x[i]`` along the leading axis, for a scalar integer ``i`` in range; also of key arrays."""

    def update(self, x: Value, i: Value, part: Value) -> Value:
        """``x`` with ``x[i]`` along the leading axis replaced by ``part``; also of key arrays."""

    def physical(self, x: Value) -> Value:
        """A key array as the array of numbers that it is stored in; any other value as it is."""

    def logical(self, x: Value, aval: AbstractValue) -> Value:
        """The opposite of `physical`: the array ``x``, in which a key array of type ``aval`` is stored, as that."""

    def keeps(self, aval: AbstractValue) -> bool:
        """Whether `in_memory` makes a difference to values of this type."""

    def given(self, x: Value) -> bool:
        """Whether ``x`` is an argument of the program, and so in memory."""

    def stored(self, x: Value) -> bool:
        """Whether ``x``, the operand of an extremum, is in memory anyway, as others read it there."""

    def cheap(self, x: Value) -> Value | None:
        """``x``, the operand of a sum, for a loop that has no vectors: as it is where it takes little to compute, else written to memory before;
        None where that cannot be."""

    def holds_bfloat16(self) -> bool:
        """Whether values of the program, of any of its parts, are of bfloat16."""

    def in_memory(self, x: Value, reason: str, few: bool = False) -> Value:
        """``x``, computed once however many read it, where the compiler can be told so.

        Args:
          reason: shown in the text of the program.
          few: also where it has a few bytes only, and the program is not a small one.
        """

    def reads_elsewhere(self, x: Value, update: Value, part: Sequence[int], starts: Sequence[Value] = ()) -> bool:
        """Whether ``update`` may be computed from elements of ``x`` at other places than those that it is written over: ``part`` elements along each
        axis, from the indices ``starts`` on or, if none are given, anywhere. XLA's compiler for CPUs may read these when it has overwritten them."""

    def to_write_over(self, x: Value, update: Value, starts: Sequence[Value]) -> Value | None:
        """``update``, so that it is computed before a part of ``x``, from the indices ``starts`` on, is overwritten with it. None if the compiler
        might read elements of ``x`` that it has overwritten, and cannot be told; then nothing must be overwritten."""

    def chosen(self, x: Value) -> Value:
        """``x``, an array that is not overwritten, but chosen element by element from two. Computed once, as it were if it had been overwritten,
        but for the first of a block: kernels that read one of a chain in several places would each compute all that are before it."""

    def integer(self, x: Value) -> int | None:
        """The integer that ``x`` is, if the program says so."""

    def once(self, key: Hashable, write: Callable[[], Value]) -> Value:
        """What ``write`` writes, written at its first use in a block only: ``key`` says all that it depends on."""

    def laid_out(self, x: Value, major_to_minor: Sequence[int]) -> Value:
        """``x``, whose axes lie so in memory, the slowest first."""

    def region(self, in_avals: Sequence[AbstractValue], body: Callable[..., Sequence[Value]],
               terminator: str = "stablehlo.return") -> str:
        """Text of a region ``{...}``, to be put in round parentheses; ``body(builder, *arguments)`` emits into it."""

    def within(self, name: str) -> ContextManager[None]:
        """What is written inside counts as under the scope ``name``, in names of operations."""

    def reducer(self, op: str, dtype: np.dtype) -> str:
        """The region of a reduction by the binary op named ``op``."""

    def jaxpr(self, closed: ClosedJaxpr, *operands: Value) -> list[Value]:
        """The program's equations, here (inlined). Ordered effects thread their tokens through."""

    def function(self, name: str, closed: ClosedJaxpr, operands: Sequence[Value]) -> str:
        """The symbol of the program as a function of the module, written once, that is to be called with the operands."""

    def call(self, name: str, closed: ClosedJaxpr, *operands: Value, late: bool = False) -> list[Value]:
        """A call of the program as a function of its own; the same program is written once per module.

        ``late``: the compiler is not to write it out at the call before it has optimized the program; by default it may.
        """

    def fun(self, f: Callable[..., Any], /, *operands: Value, **params: Any) -> list[Value]:
        """Trace the Python function ``f`` (of arrays; returns an array or a list) and inline it."""

    def custom_call(self, target: str, *operands: Value, out: AbstractValue | Sequence[AbstractValue],
                    backend_config: str | Mapping[str, Any] | None = None, api_version: int = 4, has_side_effect: bool = False,
                    operand_layouts: object = None, result_layouts: object = None, output_operand_aliases: Mapping[int, int] | None = None,
                    extra: str = "", batch_rank: int = 0) -> Any:
        """``stablehlo.custom_call @target``. For api_version 4 ``backend_config`` is a mapping of FFI attributes. The first ``batch_rank`` axes of
        all arrays may be split over devices, alike."""

    def call_module(self, name: str, text: str, *operands: Value) -> list[Value]:
        """A call of ``main`` of a finished module, whose functions are written into this one under names like ``name``."""

    def with_bindings(self, prim: Primitive, rule: Callable[..., object], /, *operands: Value, **params: Any) -> list[Value]:
        """The results of ``prim`` by a rule ``rule(context, *values, **params)`` that builds operations with MLIR bindings."""

    def host_callback(self, function: Callable[..., Any], operands: Sequence[Value], out: Sequence[AbstractValue], *,
                      has_side_effect: bool, name: str = "", partitioned: bool = False, device: Placement | None = None) -> list[Value]:
        """Call ``function(*numpy_arrays) -> sequence of numpy arrays`` on the host; kept alive by the executable.

        ``partitioned``: on several devices each makes the call, with its parts of the operands; such a call has no results.
        ``device``: the one of them that makes the call, by default the first.
        """

    def buffer_callback(self, function: Callable[..., None], operands: Sequence[Value], out: Sequence[AbstractValue], *,
                        has_side_effect: bool, aliases: Mapping[int, int], command_buffer_compatible: bool) -> list[Value]:
        """Call ``function(context, *buffers of operands, *buffers of results)``, which writes the results."""

    def inspect_sharding(self, x: Value, callback: Callable[[ShardingLike], None]) -> None:
        """Call ``callback(sharding)`` with the placement of ``x``, once for each compilation."""

    def token(self, effect: Hashable) -> Value:
        """The current token of an ordered effect, or of another chain of operations, whatever names it."""

    def set_token(self, effect: Hashable, token: Value) -> None:
        """``token`` is the current token from here on."""

    def tokens(self, effects: Effects) -> list[tuple[Effect, Value]]:
        """The ordered ones of ``effects`` in their fixed order, each with its current token."""

    def to_memory(self, x: Value, out: ShapedArray) -> Value:
        """``x`` in the kind of memory that the type ``out`` names."""

    def sharding_constraint(self, x: Value, sharding: Placement | None, *, anywhere: bool = False) -> Value:
        """``x``, placed as ``sharding`` says where the program runs on several devices; also of key arrays.

        With ``anywhere``, on the devices of the arguments, if these are on as many, whichever.
        """

    def whole_along(self, x: Value, axes: Sequence[int]) -> Value | None:
        """``x``, which the compiler may split along other axes than these only; None where it cannot be told so."""

    def barrier(self, xs: Sequence[Value]) -> list[Value]:
        """``xs`` behind an optimization barrier."""

    def unplaced(self, x: Value) -> Value:
        """``x`` as a value whose type says nothing of its placement, for computations that the compiler places."""

    def sharding(self, sharding: ShardingLike | None, ndim: int) -> str:
        """The Shardy attribute of a placement of a value with ``ndim`` axes."""


class Absent:
    """A member that a backend declares to lack; it stands in the class in the member's place. Reading it raises.

    ``exporting = Absent("the NumPy backend", "programs that can be stored")``

    Args:
      backend: who lacks it, with its article.
      what: what is lacking, in the words of somebody who uses JAX.
    """

    def __init__(self, backend: str, what: str):
        self.backend, self.what = backend, what

    @overload
    def __get__(self, holder: None, owner: type) -> Absent: ...
    @overload
    def __get__(self, holder: object, owner: type) -> NoReturn: ...
    def __get__(self, holder: object, owner: type) -> Absent:
        if holder is None:
            return self
        raise NotImplementedError(f"{self.backend} has no {self.what}, which this call needs; choose a backend that has them "
                                  "(see jax_core.backends).")


def is_absent(holder: object, name: str) -> bool:
    """Whether ``holder`` (a backend, or a part of one) declares to lack the member ``name``."""
    return isinstance(getattr(type(holder), name, None), Absent)


class LoweredModule(Protocol):
    """A program lowered to text, ready to compile."""

    @property
    def name(self) -> str:
        """Of the module; shown in messages and profiles."""

    def text(self, debug_info: bool = False, named: bool = False) -> str:
        """The program as the backend writes it (StableHLO, for XLA); with ``named`` also what its results are called, with ``debug_info`` where
        each operation comes from, too."""


class Run(NamedTuple):
    """What one execution did.

    Attributes:
      results: flat, as many as the program has; ready or on their way.
      program: what a dispatcher of the same backend needs to repeat this run, known to that backend alone; None where each
        call has to go through `Executable.execute`.
    """

    results: list[Any]
    program: Any = None


class Executable(Protocol):
    """A compiled program. A backend may put the work off until the first call shows where the arguments are.

    Placements and formats are of all flat inputs, or all results, in their order.
    """

    def compile(self) -> Any:
        """Do the work now, for the default placement."""

    def execute(self, args: Sequence[object]) -> Run:
        """Run on all flat arguments (arrays, NumPy values, Python scalars), also those that the program does not read. Raises RuntimeError
        while `jax_no_execution` is set."""

    def release(self) -> None:
        """Have the backend's caches keep nothing of it: it goes with those who hold it."""

    def as_text(self) -> str:
        """The program as the compiler left it."""

    def cost_analysis(self) -> Any:
        """Operations and bytes of one run (a dict), or None where nothing is known."""

    def memory_analysis(self) -> Any:
        """Bytes of arguments, results, temporary values and code, or None where nothing is known."""

    @property
    def loaded(self) -> Any:
        """The object of the library below, for users who know that library."""

    @property
    def in_shardings(self) -> Sequence[Any]: ...
    @property
    def out_shardings(self) -> Sequence[Any]: ...
    @property
    def in_formats(self) -> Sequence[Any]: ...
    @property
    def out_formats(self) -> Sequence[Any]: ...


class LowerSpec:
    """How a program is to be lowered and compiled; immutable, as it is part of cache keys.

    Args:
      name: of the module (``jit_<name>``).
      donated: which flat inputs may be overwritten.
      keep_unused: keep inputs that nothing reads.
      in_shardings, out_shardings: placements of flat inputs and results, None where unspecified, or None for all.
      platform: platform to lower for, None for the default.
      device: device to run on, or a placement on the devices to run on; None for the default.
      compiler_options: items of options, as a tuple of pairs.
      one_form: whether it is one of a family of shapes, whose programs must differ in numbers only.
    """

    __slots__ = ("name", "donated", "keep_unused", "in_shardings", "out_shardings", "platform", "device",
                 "compiler_options", "one_form", "_key", "_hash")
    name: str
    donated: tuple[Any, ...]
    keep_unused: bool
    in_shardings: tuple[Any, ...] | None
    out_shardings: tuple[Any, ...] | None
    platform: str | None
    device: Any
    compiler_options: tuple[Any, ...]
    one_form: bool
    _key: tuple[Any, ...]
    _hash: int

    def __init__(self, name: str = "main", donated: tuple[Any, ...] = (), keep_unused: bool = False,
                 in_shardings: tuple[Any, ...] | None = None, out_shardings: tuple[Any, ...] | None = None, platform: str | None = None,
                 device: object = None, compiler_options: tuple[Any, ...] = (), one_form: bool = False):
        key = name, donated, keep_unused, in_shardings, out_shardings, platform, device, compiler_options, one_form
        for slot, value in zip(self.__slots__, (*key, key)):
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"LowerSpec is immutable; LowerSpec.replace({name}=...) makes a changed one")

    def replace(self, **changes: Any) -> LowerSpec:
        """The same with other values of the arguments named."""
        return LowerSpec(**{**dict(zip(self.__slots__, self._key)), **changes})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerSpec) and self._key == other._key

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # the first time, and not sooner: a placement may be of a class without hash
            object.__setattr__(self, "_hash", hash(self._key))
            return self._hash


class FastCall(NamedTuple):
    """What a dispatcher needs to repeat a call without Python: filled by `jit` after a slow call.

    Attributes:
      program: `Run.program` of the slow call.
      out_tree: structure of the result.
      inputs: how many flat inputs a call has.
    """

    program: Any
    out_tree: Any
    inputs: int


class ConcreteArray(Protocol):
    """What an array of a backend has of its own. It is immutable. `array.register_array_class` makes its class known, and attaches the methods
    that all arrays share; they build on these.

    A backend with `Placements` has arrays with ``sharding``, ``committed`` and the other attributes that `array.Array` lists, which are asked
    of no others.
    """

    @property
    def aval(self) -> ShapedArray: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def weak_type(self) -> bool: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The contents, when they are there."""

    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int:
        """Of an array of one element, and for `__index__` of integers, as NumPy's arrays; otherwise TypeError."""


class Runtime(Protocol):
    """Devices, and how programs run on them.

    A program is the equations of a jaxpr (`jaxpr.interpret` walks over them). What one computes, its primitive says twice: ``lower`` writes StableHLO through
    a `Builder`, and ``reference``, which not all primitives have, takes and returns NumPy arrays of the types of the equation. One that holds programs has
    ``interpret`` besides (`jaxpr.interpret_nested`). ``put`` and all that follows it return arrays of `array_type`.
    """

    array_type: type
    """The class of the arrays that programs take and return, a `ConcreteArray`."""

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        """All devices, of the default platform or of a named one."""

    def knows_platform(self, name: str) -> bool:
        """Whether a platform can have this name; it need not be there. Starts none."""

    def default_platform(self) -> str:
        """The platform that programs run on, as lowering rules name it (`Builder.platform`)."""

    def evaluate(self, prim: Primitive, args: Sequence[object], params: dict[str, Any]) -> Any:
        """Run one primitive now. Called by `EvalTrace` with concrete arguments.

        Returns one array, or a list of them where ``prim.multiple_results``.
        """

    def dispatcher(self, fun: Callable[..., PyTree], miss: Callable[..., object], static_argnums: Sequence[int] = (),
                   static_argnames: Sequence[str] = (), name: str = "", key: Hashable = None,
                   donate_argnums: Sequence[int] = (), donate_argnames: Sequence[str] = ()) -> Any:
        """A callable that repeats known calls fast, with a method ``_clear_cache()`` that makes it forget them; so does `clear_caches`.

        ``key``: dispatchers of the same ``fun`` with equal keys may share what they know; None shares nothing. Arrays that
        the program consumed, among the donated arguments, must say so when they are used again.
        ``miss(*args, **kwargs)`` returns ``(result, FastCall or None)``; it is called for each new combination of
        structure (`tree.tree_flatten` of ``(args, kwargs)`` without the static ones, which gives `FastCall.inputs` values), types of these
        (`aval.get_aval`), static values and configuration (`engine.trace_key`). It is called always where `context.state.trace`
        is not `trace.EVAL`, and for a tracer, which is left over then, and refused. A dispatcher that calls it every time is right, and slow.
        """

    def lower(self, closed: ClosedJaxpr, spec: LowerSpec) -> LoweredModule:
        """The program as a module. Raises NotImplementedError where a primitive has no rule for the platform."""

    def compile(self, module: object, spec: LowerSpec) -> Executable:
        """The executable of a module that `lower` made; ``spec`` may differ in its compiler options."""

    def clear_caches(self) -> None:
        """Forget all that was compiled, and have each dispatcher forget the calls that it knows."""


class Transfers(Protocol):
    """Values into arrays of this backend, and back."""

    def put(self, x: object, aval: AbstractValue | None = None, placement: object = None) -> Any:
        """An array with the contents of ``x`` (array, NumPy value, Python scalar).

        Args:
          aval: its type; default that of ``x``.
          placement: a device or a sharding; default where ``x`` is, else the default device.
        """

    def host_view(self, x: object) -> np.ndarray | None:
        """A read-only view of ``x`` if that costs no wait and no copy (a ready array in host memory), else None."""

    def from_host(self, x: np.ndarray, weak_type: bool = False, computed: bool = False) -> Any:
        """An array of the contents of ``x``. They are copied, so that the array can be donated and the caller may go on writing to ``x``.

        ``computed``: ``x`` was made of arrays, by our choice on the host; to the program that is no transfer, and no guard refuses it;
        nor is it narrowed where it has 64 bits while x64 is off.
        """

    def on_host(self, x: np.ndarray) -> Any:
        """An array of the contents of ``x``, of a dtype that programs have, in the host's memory, which it may share: nobody writes to ``x`` any more."""

    def from_dlpack(self, external_array: object, device: object = None, copy: bool | None = None) -> Any:
        """An array that shares the memory of another library's array, or has its contents.

        ``copy``: True makes a copy; False raises ValueError where one would be needed; None copies where needed.
        """


class Placements(Protocol):
    """Where arrays are.

    A *sharding* is the backend's own object. A *description* is the same as plain data that can be stored, None for one device:
    ``{"axes": [["x", 2], ["y", 4]], "spec": ["x", null, ["y"]]}`` names the axes of a mesh with their sizes, and for each
    axis of the array those that it is split over.
    """

    def as_sharding(self, placement: object) -> Any:
        """The sharding that a device, a format or a partition spec means (the last by the mesh in context).

        Raises ValueError where no mesh is in context.
        """

    def with_layout(self, x: object, layout: object) -> Any:
        """``x``, stored as the layout of a format says."""

    def asked_for(self, placement: ShardingLike | None, shape: Sequence[object]) -> Any:
        """The sharding that `jit` is asked to give an argument or result of ``shape``.

        Raises TypeError where it is none, ValueError where it does not fit the shape, RuntimeError for a partition spec where no
        mesh is in context.
        """

    def format_of(self, sharding: ShardingLike | None) -> Any:
        """The format of a sharding, or of None, that says nothing of the layout."""

    def own_format(self, x: object) -> Any:
        """Placement and layout of an array that is not stored in the usual order; None for other values."""

    def is_spread(self, where: object) -> bool:
        """Whether it is a sharding over more than one device."""

    def of_block(self) -> Any:
        """Where whole arrays lie in a ``with mesh:`` block: on each device of that mesh. None outside of such blocks."""

    def on_no_mesh(self, ndim: int, lies: ShardingLike | None = None) -> Any:
        """The sharding in types with ``ndim`` axes that leave it open; of an array that ``lies`` somewhere, on the mesh there."""

    def part_type(self, aval: ShapedArray, mesh: object, manual_axes: frozenset[Any], checked: bool, spec: object) -> ShapedArray:
        """The type of a part of an array that is split over manual axes of ``mesh``; ``checked``: it says over which it varies."""

    def whole_type(self, aval: ShapedArray, mesh: object, spec: object) -> ShapedArray:
        """The type of the array whose parts have the type ``aval``."""

    def spec_of(self, partitions: tuple[Any, ...]) -> Any:
        """The partition spec that names these axes of a mesh, one entry for each axis of the array."""

    def describe(self, sharding: ShardingLike | None) -> dict[str, Any] | None:
        """The description of a sharding, or of None. Raises NotImplementedError for kinds that have none."""

    def in_host_memory(self, ndim: int) -> dict[str, Any]:
        """The description of an array with ``ndim`` axes in the host's memory, for one device; it has no mesh axes."""

    def device_count(self, description: dict[str, Any]) -> int:
        """How many devices it is for."""

    def on_mesh(self, description: dict[str, Any] | None, mesh: object) -> Any:
        """The sharding on ``mesh``, which has its axes; None for None."""

    def in_types(self, description: dict[str, Any]) -> Any:
        """The sharding as types have it."""

    def on_devices(self, description: dict[str, Any]) -> Any:
        """The sharding on the first devices of the default platform. Raises ValueError where there are too few."""

    def of_hlo(self, data: bytes, ndim: int, count: int) -> dict[str, Any]:
        """The description of a placement on ``count`` devices that the compiler has stored. Raises NotImplementedError for kinds that have none."""

    def in_hlo(self, description: dict[str, Any] | None, ndim: int) -> Any:
        """The placement of an array with ``ndim`` axes as the compiler has it; None for None."""


class Inspection(Protocol):
    """What stages show of a lowered program. ``module`` is what `Runtime.lower` made."""

    def placed_module(self, module: object, closed: ClosedJaxpr, spec: LowerSpec) -> Any:
        """``module`` with the placements on several devices of ``spec`` written into it; ``module`` itself where there are none."""

    def hlo_text(self, module: object, debug_info: bool) -> str:
        """The program in HLO, before optimisation; with ``debug_info`` also what its operations are called, and their places."""

    def compiler_ir(self, module: object, dialect: str | None) -> Any:
        """The program as an object of the compiler, in a dialect (None: the usual one); None where there is no such dialect."""

    def cost_analysis(self, module: object) -> Any:
        """Estimated operations and bytes of one run (a dict), or None where nothing is known."""

    def written_values(self, jaxpr: Jaxpr) -> dict[Var, str]:
        """The values between equations of ``jaxpr`` that are planned to be in memory, each with the reason."""


class Exporting(Protocol):
    """Programs that outlive the process. A *text* is a module that takes nothing but the inputs it reads."""

    def compiler_version(self) -> str:
        """Equal for compilers that read each other's texts."""

    def exported_module(self, closed: ClosedJaxpr, spec: LowerSpec) -> tuple[str, tuple[int, ...]]:
        """The text of a program, and the indices of the flat inputs that it takes."""

    def placements_asked_for(self, closed: ClosedJaxpr, spec: LowerSpec) -> list[Any]:
        """The shardings over several devices that the program itself asks for its values."""

    def custom_call_targets(self, text: str) -> list[str]:
        """The names of what the text calls outside itself."""

    def portable_artifact(self, text: str) -> bytes:
        """The text in a form that later compilers read."""

    def module_of_artifact(self, artifact: bytes) -> str:
        """The text of such a form."""

    def public_module(self, texts: Sequence[str]) -> bytes:
        """Texts for several platforms as one in such a form, which takes the number of the platform first."""

    def refined_module(self, artifact: bytes, avals: Sequence[ShapedArray], platform: int | None) -> str:
        """The text of such a form, which may leave shapes open, for inputs of these types; ``platform`` is the number it takes first, if it does.
        Raises ValueError where the program does not take these shapes."""


class Backend(Runtime, Transfers, Protocol):
    """Runs programs. One is in use per process; `backends.get` finds it."""

    @property
    def placements(self) -> Placements: ...
    @property
    def inspection(self) -> Inspection: ...
    @property
    def exporting(self) -> Exporting: ...
