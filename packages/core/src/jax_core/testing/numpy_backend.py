"""A backend that interprets programs with NumPy, one equation after another, through the primitives' references.

It is slow and complete in nothing but the interface: core's own tests run on it without XLA, and it shows a newcomer
in one screen what a backend is. Programs nested in parameters (`jit`, `checkpoint`, custom derivatives) are interpreted.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from ..representation import array, dtypes
from ..representation.aval import ShapedArray, get_aval, register_array_class
from ..interfaces import LowerSpec
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, interpret, interpret_nested
from ..representation.primitive import Primitive, abstract_eval


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

    def __float__(self):
        return float(self._value)

    def __bool__(self):
        return bool(self._value)

    def __index__(self):
        return self._value.__index__()

    def reshape(self, *shape):
        return NumpyArray(self._value.reshape(*shape), ShapedArray(self._value.reshape(*shape).shape, self.dtype))

    def __getitem__(self, index):
        part = np.asarray(self._value[index])
        return NumpyArray(part, ShapedArray(part.shape, self.dtype))

    def __repr__(self):
        return f"NumpyArray({self._value})"


register_array_class(NumpyArray)
array.register_array_class(NumpyArray, own=frozenset(vars(NumpyArray)))


class _Module:
    def __init__(self, closed: ClosedJaxpr, spec: LowerSpec):
        self.closed, self.name = closed, spec.name
        self.host_callbacks: list = []

    def text(self, debug_info: bool = False) -> str:
        return str(self.closed)


class _Executable:
    """Interprets the program at each call."""

    needs_python = True
    consts: tuple = ()

    def __init__(self, module: _Module):
        self.module = module
        self.kept = tuple(range(len(module.closed.in_avals)))

    def compile(self):
        return self

    def execute(self, args: Sequence[Any]) -> list:
        return run(self.module.closed, *args)

    def as_text(self) -> str:
        return self.module.text()

    def cost_analysis(self) -> dict:
        return {"equations": len(self.module.closed.eqns)}

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


def apply(prim: Primitive, args: Sequence[Any], params: dict) -> list:
    """Results of one primitive, always a list."""
    if prim.reference is None:
        raise NotImplementedError(f"NumpyBackend: primitive {prim.name!r} has no reference")
    types, _ = abstract_eval(prim, [get_aval(x) for x in args], params)
    typed = [np.asarray(x, get_aval(x).dtype) for x in args]
    out = prim.reference(*typed, **params)
    return [as_array(x, aval) for x, aval in zip(out if prim.multiple_results else [out], types)]


def as_array(x: Any, aval: ShapedArray) -> NumpyArray:
    return x if isinstance(x, NumpyArray) and x.aval == aval else NumpyArray(np.asarray(x), aval)


class NumpyBackend:
    """See `jax_core.interfaces.Backend`."""

    array_type = NumpyArray

    def put(self, x, aval=None, placement=None):
        return as_array(x, get_aval(x) if aval is None else aval)

    def devices(self, platform=None):
        return ["numpy:0"]

    def host_view(self, x):
        return np.asarray(x) if isinstance(x, NumpyArray) else None

    def from_host(self, x, weak_type=False):
        return NumpyArray(x, ShapedArray(x.shape, dtypes.canonicalize_dtype(x.dtype), weak_type))

    def evaluate(self, prim, args, params):
        out = apply(prim, args, params)
        return out if prim.multiple_results else out[0]

    def dispatcher(self, fun: Callable, miss: Callable, static_argnums=(), static_argnames=(), name="", key=None,
                   donate_argnums=(), donate_argnames=()):
        def call(*args, **kwargs):
            return miss(*args, **kwargs)[0]
        return call

    def lower(self, closed, spec):
        return _Module(closed, spec)

    def compile(self, module, spec):
        return _Executable(module)


def load() -> NumpyBackend:
    """Entry point: the backend."""
    return NumpyBackend()
