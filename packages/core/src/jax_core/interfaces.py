"""The interfaces between packages, as protocols: who calls, who implements, and what may be relied on.

====================  ==============================  ==========================================
protocol              called by                       implemented by
====================  ==============================  ==========================================
`Backend`             core (eval trace, `jit`)        a backend package (`jax_xla_backend`)
`Executable`          core (`jit`, stages)            the backend
`LoweredModule`       core (`jit`, stages)            the backend
`Builder`, `Value`    lowering rules of primitives    the backend
rules of primitives   transformations, the backend    whoever declares a primitive (`primitive`)
effect types          transformations, the backend    `effects.Effect` subclasses
====================  ==============================  ==========================================

`jax_core.testing.contract` checks a backend against these.
"""
from __future__ import annotations

from typing import Any, Callable, Hashable, Mapping, Protocol, Sequence, runtime_checkable

import numpy as np

from .representation.aval import AbstractValue, ShapedArray
from .representation.effects import Effect, Effects
from .representation.jaxpr import ClosedJaxpr
from .representation.primitive import Primitive


@runtime_checkable
class Value(Protocol):
    """An SSA value of the module being written. ``str(value)`` is its name (``%3``); ``aval`` its type."""

    aval: AbstractValue


class Builder(Protocol):
    """Writes StableHLO text; each lowering rule gets one. A rule never counts ``%3`` or spells a tensor type.

    A backend may run a rule once for each combination of primitive, operand types and parameters, and repeat what it
    wrote, so a rule depends on nothing else. Rules never see key arrays, unless their primitive says
    ``prim.lowers_keys = True``: others are lowered through their batching rule, an element's axes being mapped.

    Attributes:
      platform: ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"tpu"``.
      devices: how many devices the module is for.
      barriers_last: whether the compiler computes what is behind an `optimization_barrier` apart from what is before it.
      out_avals: types of the results of the equation being lowered.
      params: parameters of that equation.
    """

    platform: str
    devices: int
    barriers_last: bool
    out_avals: Sequence[AbstractValue]

    def emit(self, text: str, *operands: Value, out: AbstractValue | Sequence[AbstractValue], attrs: str = "") -> Any:
        """Write ``%n = text attrs : (operand types) -> result types`` and return the value(s) (a list if ``out`` is one).

        ``text`` holds the operands' names where the op's syntax wants them.
        """

    def scalar(self, value: Any, dtype: np.dtype) -> Value:
        """A rank-0 constant; the same one is written once per function."""

    def full(self, value: Any, aval: ShapedArray) -> Value:
        """A constant of type ``aval`` with all elements ``value``."""

    def constant(self, value: np.ndarray) -> Value:
        """A constant array."""

    def elementwise(self, op: str, *operands: Value, out: AbstractValue | None = None) -> Value:
        """The elementwise op named ``op``; operands of rank 0 are broadcast to the result's shape.

        ``out`` is by default the type of the equation's result.
        """

    def convert(self, x: Value, dtype: np.dtype) -> Value:
        """``x`` with its elements converted (StableHLO `convert`); ``x`` itself where nothing changes."""

    def broadcast(self, x: Value, shape: Sequence[int], dims: Sequence[int] = ()) -> Value:
        """``broadcast_in_dim``; ``x`` itself where nothing changes."""

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """``x`` with another shape of the same size."""

    def index(self, x: Value, i: Value) -> Value:
        """``x[i]`` along the leading axis, for a scalar integer ``i`` in range; also of key arrays."""

    def update(self, x: Value, i: Value, part: Value) -> Value:
        """``x`` with ``x[i]`` along the leading axis replaced by ``part``; also of key arrays."""

    def physical(self, x: Value) -> Value:
        """A key array as the array of numbers that it is stored in; any other value as it is."""

    def keeps(self, aval: AbstractValue) -> bool:
        """Whether `in_memory` makes a difference to values of this type."""

    def in_memory(self, x: Value, reason: str) -> Value:
        """``x``, computed once however many read it, where the compiler can be told so.

        Args:
          reason: shown in the text of the program.
        """

    def region(self, in_avals: Sequence[AbstractValue], body: Callable[..., Sequence[Value]],
               terminator: str = "stablehlo.return") -> str:
        """Text of a region ``{...}``, to be put in round parentheses; ``body(builder, *arguments)`` emits into it."""

    def reducer(self, op: str, dtype: np.dtype) -> str:
        """The region of a reduction by the binary op named ``op``."""

    def jaxpr(self, closed: ClosedJaxpr, *operands: Value) -> list[Value]:
        """The program's equations, here (inlined). Ordered effects thread their tokens through."""

    def call(self, name: str, closed: ClosedJaxpr, *operands: Value) -> list[Value]:
        """A call of the program as a function of its own; the same program is written once per module."""

    def fun(self, f: Callable[..., Any], *operands: Value, **params: Any) -> list[Value]:
        """Trace the Python function ``f`` (of arrays; returns an array or a list) and inline it."""

    def custom_call(self, target: str, *operands: Value, out: Any, backend_config: str | Mapping[str, Any] | None = None,
                    api_version: int = 4, has_side_effect: bool = False, operand_layouts: Any = None,
                    result_layouts: Any = None, output_operand_aliases: Mapping[int, int] | None = None,
                    extra: str = "") -> Any:
        """``stablehlo.custom_call @target``. For api_version 4 ``backend_config`` is a mapping of FFI attributes."""

    def call_module(self, name: str, text: str, *operands: Value) -> list[Value]:
        """A call of ``main`` of a finished module, whose functions are written into this one under names like ``name``."""

    def host_callback(self, function: Callable[..., Any], operands: Sequence[Value], out: Sequence[AbstractValue], *,
                      has_side_effect: bool, name: str = "", partitioned: bool = False) -> list[Value]:
        """Call ``function(*numpy_arrays) -> sequence of numpy arrays`` on the host; kept alive by the executable.

        ``partitioned``: on several devices each makes the call, with its parts of the operands; such a call has no results.
        """

    def buffer_callback(self, function: Callable[..., None], operands: Sequence[Value], out: Sequence[AbstractValue], *,
                        has_side_effect: bool, aliases: Mapping[int, int], command_buffer_compatible: bool) -> list[Value]:
        """Call ``function(context, *buffers of operands, *buffers of results)``, which writes the results."""

    def inspect_sharding(self, x: Value, callback: Callable[[Any], None]) -> None:
        """Call ``callback(sharding)`` with the placement of ``x``, once for each compilation."""

    def token(self, effect: Effect) -> Value:
        """The current token of an ordered effect."""

    def set_token(self, effect: Effect, token: Value) -> None:
        """``token`` is the current token from here on."""

    def tokens(self, effects: Effects) -> list[tuple[Effect, Value]]:
        """The ordered ones of ``effects`` in their fixed order, each with its current token."""

    def sharding_constraint(self, x: Value, sharding: Any) -> Value:
        """``x``, placed as ``sharding`` says where the program runs on several devices; also of key arrays."""

    def sharding(self, sharding: Any, ndim: int) -> str:
        """The Shardy attribute of a placement of a value with ``ndim`` axes."""


class LoweredModule(Protocol):
    """A program lowered to text, ready to compile."""

    name: str

    def text(self, debug_info: bool = False) -> str:
        """The StableHLO module."""


class Executable(Protocol):
    """A compiled program. A backend may put the work off until the first call shows where the arguments are."""

    def compile(self) -> Any:
        """Do the work now, for the default placement."""

    def execute(self, args: Sequence[Any]) -> list[Any]:
        """Run on flat arguments (arrays, NumPy values, Python scalars); results are ready or on their way."""

    def as_text(self) -> str: ...
    def cost_analysis(self) -> Any: ...
    def memory_analysis(self) -> Any: ...


class LowerSpec:
    """How a program is to be lowered and compiled; hashable, part of cache keys.

    Args:
      name: of the module (``jit_<name>``).
      donated: which flat inputs may be overwritten.
      keep_unused: keep inputs that nothing reads.
      in_shardings, out_shardings: placements of flat inputs and results, None where unspecified, or None for all.
      platform: platform to lower for, None for the default.
      device: device or devices to run on, None for the default.
      compiler_options: items of options, as a tuple of pairs.
    """

    __slots__ = ("name", "donated", "keep_unused", "in_shardings", "out_shardings", "platform", "device",
                 "compiler_options")

    def __init__(self, name: str = "main", donated: tuple[Any, ...] = (), keep_unused: bool = False,
                 in_shardings: tuple[Any, ...] | None = None, out_shardings: tuple[Any, ...] | None = None, platform: str | None = None,
                 device: Any = None, compiler_options: tuple[Any, ...] = ()):
        self.name, self.donated, self.keep_unused = name, donated, keep_unused
        self.in_shardings, self.out_shardings = in_shardings, out_shardings
        self.platform, self.device, self.compiler_options = platform, device, compiler_options

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class FastCall:
    """What a dispatcher needs to repeat a call without Python: filled by `jit` after a slow call.

    Attributes:
      executable: the backend's `Executable`.
      out_tree: structure of the result.
      in_avals, out_avals: types of all flat inputs and results.
      kept: indices of the flat inputs that the executable takes.
      consts: arrays to be passed before the inputs.
    """

    __slots__ = ("executable", "out_tree", "in_avals", "out_avals", "kept", "consts")

    def __init__(self, executable: Any, out_tree: Any, in_avals: Sequence[AbstractValue],
                 out_avals: Sequence[AbstractValue], kept: Sequence[int], consts: Sequence[Any]):
        self.executable, self.out_tree = executable, out_tree
        self.in_avals, self.out_avals = in_avals, out_avals
        self.kept, self.consts = kept, consts


class Backend(Protocol):
    """Runs programs. One is in use per process; `backends.get` finds it."""

    array_type: type

    def put(self, x: Any, aval: AbstractValue | None = None, placement: Any = None) -> Any:
        """An array of this backend with the contents of ``x`` (array, NumPy value, Python scalar)."""

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        """All devices, of the default platform or of a named one."""

    def evaluate(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Run one primitive now. Called by `EvalTrace` with concrete arguments."""

    def host_view(self, x: Any) -> np.ndarray | None:
        """A read-only view of ``x`` if that costs no wait and no copy (a ready array in host memory), else None."""

    def from_host(self, x: np.ndarray, weak_type: bool = False) -> Any:
        """An array that takes over ``x``, which nobody else writes to from now on; no copy where alignment allows."""

    def dispatcher(self, fun: Callable[..., Any], miss: Callable[..., Any], static_argnums: Sequence[int],
                   static_argnames: Sequence[str], name: str, key: Hashable = None,
                   donate_argnums: Sequence[int] = (), donate_argnames: Sequence[str] = ()) -> Callable[..., Any]:
        """A callable that repeats known calls fast.

        ``key``: dispatchers of the same ``fun`` with equal keys may share what they know; None shares nothing. Arrays that
        the program consumed, among the donated arguments, must say so when they are used again.
        ``miss(*args, **kwargs)`` returns ``(result, FastCall or None)``; it is called for each new combination of
        argument types, static values, configuration (`config.trace_key`) and whenever a trace is current.
        """

    def lower(self, closed: ClosedJaxpr, spec: LowerSpec) -> LoweredModule: ...

    def compile(self, module: LoweredModule, spec: LowerSpec) -> Executable: ...
