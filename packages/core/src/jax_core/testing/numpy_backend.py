"""A backend that interprets programs with NumPy, one equation after another, through the primitives' references.

It is slow and complete in nothing but the interface: core's own tests run on it without XLA, and it shows a newcomer
in a few screens what a backend is, and how it says what it has not (`Absent`). Programs nested in
parameters (`jit`, `checkpoint`, custom derivatives) are interpreted.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..configuration import flags
from ..interfaces import Absent, LowerSpec, Run
from ..representation import array, dtypes
from ..representation.aval import ShapedArray, get_aval
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, interpret, interpret_nested
from ..representation.primitive import Primitive, abstract_eval

if TYPE_CHECKING:
    from ..representation.typing import Placement


class NumpyArray:
    """An immutable array: a NumPy array and its type."""

    __slots__ = ("_value", "aval")
    __array_priority__ = 100

    def __init__(self, value: np.ndarray, aval: ShapedArray):
        value = np.asarray(value, aval.dtype)
        value.flags.writeable = False
        self._value, self.aval = value, aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: len(self.aval.shape))
    size = property(lambda self: self.aval.size)
    weak_type = property(lambda self: self.aval.weak_type)

    def __array__(self, dtype=None, copy=None):
        return self._value if dtype is None else self._value.astype(dtype)

    def __bool__(self):
        return bool(self._value)

    def __int__(self):
        return int(self._value)

    def __float__(self):
        return float(self._value)

    def __complex__(self):
        return complex(self._value)

    def __index__(self):
        return self._value.__index__()

    def reshape(self, *shape):
        return NumpyArray(self._value.reshape(*shape), ShapedArray(self._value.reshape(*shape).shape, self.dtype))

    def __getitem__(self, index):
        part = np.asarray(self._value[index])
        return NumpyArray(part, ShapedArray(part.shape, self.dtype))

    def __repr__(self):
        return f"NumpyArray({self._value})"


array.register_array_class(NumpyArray)


_US = "the NumPy backend"
_NO_PLACEMENTS = Absent(_US, "placements (meshes and shardings)")


class _Module:
    def __init__(self, closed: ClosedJaxpr, spec: LowerSpec):
        self.closed, self.name = closed, spec.name

    def text(self, debug_info: bool = False, named: bool = False) -> str:
        return str(self.closed)


class _Executable:
    """Interprets the program at each call."""

    loaded = Absent(_US, "compiled code")
    in_shardings = out_shardings = _NO_PLACEMENTS
    in_formats = out_formats = Absent(_US, "layouts of arrays")

    def __init__(self, module: _Module):
        self.module = module

    def compile(self) -> _Executable:
        return self

    def execute(self, args: Sequence[object]) -> Run:
        if flags.no_execution.value:
            raise RuntimeError(f"{self.module.name} would run, which jax_no_execution forbids here (no_execution)")
        return Run(run(self.module.closed, *args))

    def release(self) -> None:
        pass

    def as_text(self) -> str:
        return self.module.text()

    def cost_analysis(self) -> dict:
        return _costs(self.module)

    def memory_analysis(self) -> None:
        return None


def run(closed: ClosedJaxpr, *args: Any) -> list:
    """Run a program with the references of its primitives."""
    outs = interpret(closed.jaxpr, closed.consts, args, _apply_equation)
    return [as_array(x, v.aval) for x, v in zip(outs, closed.jaxpr.outvars)]


def _apply_equation(eqn: JaxprEqn, values: Sequence[Any]) -> list:
    if eqn.primitive.reference is None:
        outs = interpret_nested(eqn, values, run)
        if outs is not None:
            return outs
    return apply(eqn.primitive, values, eqn.params)


def apply(prim: Primitive, args: Sequence[object], params: dict) -> list:
    """Results of one primitive, always a list."""
    if prim.reference is None:
        raise NotImplementedError(f"NumpyBackend: primitive {prim.name!r} has no reference")
    types, _ = abstract_eval(prim, [get_aval(x) for x in args], params)
    typed = [np.asarray(x, get_aval(x).dtype) for x in args]
    out = prim.reference(*typed, **params)
    return [as_array(x, aval) for x, aval in zip(out if prim.multiple_results else [out], types)]


def as_array(x: Any, aval: Any) -> NumpyArray:
    return x if isinstance(x, NumpyArray) and x.aval == aval else NumpyArray(np.asarray(x), aval)


def _costs(module: _Module) -> dict[str, int]:
    return {"equations": len(module.closed.eqns)}


class _Inspection:
    """What can be seen of a program: its equations."""

    hlo_text = compiler_ir = Absent(_US, "compiler, and so no modules of one")
    written_values = Absent(_US, "fusion, and so no plan of it")

    def placed_module(self, module: _Module, closed: ClosedJaxpr, spec: LowerSpec) -> _Module:
        return module

    def cost_analysis(self, module: _Module) -> dict[str, int]:
        return _costs(module)


class NumpyBackend:
    """See `jax_core.interfaces.Backend`."""

    array_type = NumpyArray
    inspection = _Inspection()
    placements = _NO_PLACEMENTS
    exporting = Absent(_US, "modules that can be exported")

    def put(self, x: object, aval: object = None, placement: object = None) -> NumpyArray:
        return as_array(x, get_aval(x) if aval is None else aval)

    def devices(self, platform: str | None = None) -> Sequence[Any]:
        return ["numpy:0"]

    def knows_platform(self, name: str) -> bool:
        return name == "cpu"

    def default_platform(self) -> str:
        return "cpu"

    def host_view(self, x: object) -> np.ndarray | None:
        return np.asarray(x) if isinstance(x, NumpyArray) else None

    def from_host(self, x: np.ndarray, weak_type: bool = False, computed: bool = False) -> NumpyArray:
        return self._sharing(x.copy(), weak_type)

    def on_host(self, x: np.ndarray) -> NumpyArray:
        return self._sharing(x)

    def _sharing(self, x: np.ndarray, weak_type: bool = False) -> NumpyArray:
        return NumpyArray(x, ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype), weak_type))

    def from_dlpack(self, external_array: Any, device: Placement | None = None, copy: bool | None = None) -> NumpyArray:
        value = np.from_dlpack(external_array)
        wanted = dtypes.canonicalize_dtype(value.dtype)
        if copy is False and wanted != value.dtype:
            raise ValueError(f"from_dlpack: {value.dtype} becomes {wanted} while x64 is off, which needs a copy; got copy=False")
        return self._sharing(value.copy() if copy else value.view())

    def evaluate(self, prim: Primitive, args: Sequence[object], params: dict) -> Any:
        out = apply(prim, args, params)
        return out if prim.multiple_results else out[0]

    def dispatcher(self, fun: Callable, miss: Callable, static_argnums: Sequence[int] = (), static_argnames: Sequence[str] = (),
                   name: str = "", key: object = None, donate_argnums: Sequence[int] = (), donate_argnames: Sequence[str] = ()) -> Any:
        def call(*args, **kwargs):
            return miss(*args, **kwargs)[0]
        setattr(call, "_clear_cache", lambda: None)
        return call

    def lower(self, closed: ClosedJaxpr, spec: LowerSpec) -> _Module:
        return _Module(closed, spec)

    def compile(self, module: _Module, spec: LowerSpec) -> _Executable:
        return _Executable(module)

    def clear_caches(self) -> None:
        """Nothing is kept."""


def load() -> NumpyBackend:
    """Entry point: the backend."""
    return NumpyBackend()
