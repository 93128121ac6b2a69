"""The operators and methods of arrays: one table, attached to concrete arrays and to tracers alike.

An operator returns NotImplemented for operands that are neither arrays nor numbers, so that Python tries the other side
and then raises its usual TypeError. Functions from modules that are not needed by every program are imported at the first
call.
"""
from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core import extension_points
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.tracebacks import shorten
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike, Placement
from jax_core.traces.trace import Tracer

from .arithmetic import divide, divmod as divmod_of, floor_divide, power, remainder
from .creation import placed
from .indexing import _IndexUpdateHelper, getitem, rows_of
from .promotion import is_arraylike, unwrapped
from .ufuncs import (
    abs as absolute,
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    equal,
    greater,
    greater_equal,
    imag,
    invert,
    left_shift,
    less,
    less_equal,
    multiply,
    negative,
    not_equal,
    positive,
    real,
    right_shift,
    subtract,
)

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

# -- operators ---------------------------------------------------------------------------------------------------------

_NUMBERS = frozenset({bool, int, float, complex})


def _accepts(other: Any) -> bool:
    kind = type(other)
    return kind in _NUMBERS or isinstance(other, Array) or is_arraylike(other)


def _declined(name: str, array: Any, other: Any) -> Any:
    """Python goes on to ask ``other``, and at last says that the two are not equal, or repeats ``other`` as often as an array of one integer
    says, or, in ``other += array``, appends the elements: of a list of numbers that would mislead."""
    if name in ("__eq__", "__ne__") and isinstance(other, (list, tuple, dict, set)):
        raise TypeError(f"{'==' if name == '__eq__' else '!='} of an array and a {type(other).__name__} is not defined; make the latter "
                        "an array with jnp.asarray")
    if (name in ("__mul__", "__rmul__") and isinstance(other, (list, tuple)) and not isinstance(array, Tracer)) or \
            (name == "__radd__" and isinstance(other, list)):
        raise TypeError(f"unsupported operand type(s) for {'+' if name == '__radd__' else '*'}: an array and a {type(other).__name__}; make the "
                        "latter an array with jnp.asarray")
    return NotImplemented


def _operator(name: str, fun: Callable) -> Callable:
    def method(self, other):
        try:
            if type(other) is type(self) or type(other) in _NUMBERS:
                return fun(self, other)
            return fun(self, unwrapped(other)) if _accepts(other) else _declined(name, self, other)
        except Exception as error:
            shorten(error)
            raise
    method.__name__ = method.__qualname__ = name
    return method


def _reflected(name: str, fun: Callable) -> Callable:
    def method(self, other):
        try:
            if type(other) is type(self) or type(other) in _NUMBERS:
                return fun(other, self)
            return fun(unwrapped(other), self) if _accepts(other) else _declined(name, self, other)
        except Exception as error:
            shorten(error)
            raise
    method.__name__ = method.__qualname__ = name
    return method


def _matmul(x, y):
    return _numpy.matmul(x, y)


_BINARY = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide,
    "floordiv": floor_divide, "mod": remainder, "divmod": divmod_of,
    "pow": power, "matmul": _matmul, "and": bitwise_and, "or": bitwise_or,
    "xor": bitwise_xor, "lshift": left_shift, "rshift": right_shift,
}
_COMPARISONS = {
    "eq": equal, "ne": not_equal, "lt": less, "le": less_equal, "gt": greater,
    "ge": greater_equal,
}


def _setitem(self, index, value):
    error = TypeError(f"'{type(self)}' object does not support item assignment. JAX arrays are immutable; perhaps you "
                      "want jax.ops.index_update or jax.ops.index_add instead?")
    error.add_note("Write x = x.at[index].set(value): its result is a changed copy (inside jit, nothing is copied).")  # the text is the specification's
    raise error


def _getitem(self, index):
    try:
        return getitem(self, index)
    except Exception as error:
        shorten(error)
        raise


def _contains(self, key):
    """``key in self``: for vectors, as for more axes it is not said whether elements or rows are meant."""
    if not _accepts(key):
        raise TypeError(f"in: an array holds numbers, so it cannot be searched for {key!r} of type {type(key).__name__}")
    if self.ndim != 1:
        raise ValueError(f"in: the array must be one-dimensional, got shape {self.shape}; write (x == key).any()")
    return bool(_numpy.any(equal(self, key)))


def _round(self, ndigits=None):
    if ndigits is None and self.dtype != bool:
        return _numpy.round(self).astype(int)
    return _numpy.round(self, decimals=ndigits or 0)


def _power(self, exponent, modulo=None):
    if modulo is not None:
        raise TypeError("pow() with a modulus is not supported for arrays; use (x ** y) % z")
    if type(exponent) in _NUMBERS or _accepts(exponent):
        return power(self, exponent)
    return NotImplemented


# -- methods -----------------------------------------------------------------------------------------------------------
# Each is the function of jax.numpy of the same name, which the lazy namespace imports at the first call.

_numpy: Any = None  # jax.numpy, from `provide`


def all(self, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike | None = None) -> Array:
    """See `jax.numpy.all`."""
    return _numpy.all(self, axis, out, keepdims, where=where)


def any(self, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike | None = None) -> Array:
    """See `jax.numpy.any`."""
    return _numpy.any(self, axis, out, keepdims, where=where)


def argmax(self, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """See `jax.numpy.argmax`."""
    return _numpy.argmax(self, axis, out, keepdims)


def argmin(self, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
    """See `jax.numpy.argmin`."""
    return _numpy.argmin(self, axis, out, keepdims)


def argpartition(self, kth: int, axis: int = -1) -> Array:
    """See `jax.numpy.argpartition`."""
    return _numpy.argpartition(self, kth, axis)


def argsort(self, axis: int | None = -1, *, kind: str | None = None, order: int | None = None, stable: bool = True,
            descending: bool = False) -> Array:
    """See `jax.numpy.argsort`."""
    return _numpy.argsort(self, axis, kind=kind, order=order, stable=stable, descending=descending)


def choose(self, choices: Sequence[ArrayLike], out: None = None, mode: str = 'raise') -> Array:
    """See `jax.numpy.choose`."""
    return _numpy.choose(self, choices, out, mode)


def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """See `jax.numpy.clip`."""
    return _numpy.clip(self, min, max)


def conj(self) -> Array:
    """See `jax.numpy.conj`."""
    return _numpy.conj(self)


def conjugate(self) -> Array:
    """See `jax.numpy.conjugate`."""
    return _numpy.conjugate(self)


def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """See `jax.numpy.cumprod`."""
    return _numpy.cumprod(self, axis, dtype, out)


def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """See `jax.numpy.cumsum`."""
    return _numpy.cumsum(self, axis, dtype, out)


def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """See `jax.numpy.diagonal`."""
    return _numpy.diagonal(self, offset, axis1, axis2)


def dot(self, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """See `jax.numpy.dot`."""
    return _numpy.dot(self, b, precision=precision, preferred_element_type=preferred_element_type)


def max(self, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None) -> Array:
    """See `jax.numpy.max`."""
    return _numpy.max(self, axis, out, keepdims, initial, where)


def mean(self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False, *,
         where: ArrayLike | None = None) -> Array:
    """See `jax.numpy.mean`."""
    return _numpy.mean(self, axis, dtype, out, keepdims, where=where)


def min(self, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None) -> Array:
    """See `jax.numpy.min`."""
    return _numpy.min(self, axis, out, keepdims, initial, where)


def nonzero(self, *, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None,
            size: int | None = None) -> tuple[Array, ...]:
    """See `jax.numpy.nonzero`."""
    return _numpy.nonzero(self, fill_value=fill_value, size=size)


def prod(self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: bool = True) -> Array:
    """See `jax.numpy.prod`."""
    return _numpy.prod(self, axis, dtype, out, keepdims, initial, where, promote_integers)


def ptp(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """See `jax.numpy.ptp`."""
    return _numpy.ptp(self, axis, out, keepdims)


def ravel(self, order: str = 'C', *, out_sharding: Placement | None = None) -> Array:
    """See `jax.numpy.ravel`."""
    return _numpy.ravel(self, order, out_sharding=out_sharding)


def repeat(self, repeats: ArrayLike, axis: int | None = None, *, total_repeat_length: int | None = None,
           out_sharding: Placement | None = None) -> Array:
    """See `jax.numpy.repeat`."""
    return _numpy.repeat(self, repeats, axis, total_repeat_length=total_repeat_length,
                                   out_sharding=out_sharding)


def round(self, decimals: int = 0, out: None = None) -> Array:
    """See `jax.numpy.round`."""
    return _numpy.round(self, decimals, out)


def searchsorted(self, v: ArrayLike, side: str = 'left', sorter: ArrayLike | None = None, *, method: str = 'scan') -> Array:
    """See `jax.numpy.searchsorted`."""
    return _numpy.searchsorted(self, v, side, sorter, method=method)


def sort(self, axis: int | None = -1, *, kind: str | None = None, order: int | None = None, stable: bool = True,
         descending: bool = False) -> Array:
    """See `jax.numpy.sort`."""
    return _numpy.sort(self, axis, kind=kind, order=order, stable=stable, descending=descending)


def squeeze(self, axis: Axis = None) -> Array:
    """See `jax.numpy.squeeze`."""
    return _numpy.squeeze(self, axis)


def std(self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
        where: ArrayLike | None = None, correction: int | float | None = None) -> Array:
    """See `jax.numpy.std`."""
    return _numpy.std(self, axis, dtype, out, ddof, keepdims, where=where, correction=correction)


def sum(self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: bool = True) -> Array:
    """See `jax.numpy.sum`."""
    return _numpy.sum(self, axis, dtype, out, keepdims, initial, where, promote_integers)


def swapaxes(self, axis1: int, axis2: int) -> Array:
    """See `jax.numpy.swapaxes`."""
    return _numpy.swapaxes(self, axis1, axis2)


def take(self, indices: ArrayLike, axis: int | None = None, out: None = None, mode: str | None = None,
         unique_indices: bool = False, indices_are_sorted: bool = False, fill_value: ArrayLike | None = None) -> Array:
    """See `jax.numpy.take`."""
    return _numpy.take(self, indices, axis, out, mode, unique_indices, indices_are_sorted, fill_value)


def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """See `jax.numpy.trace`."""
    return _numpy.trace(self, offset, axis1, axis2, dtype, out)


def var(self, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: bool = False, *,
        where: ArrayLike | None = None, correction: int | float | None = None) -> Array:
    """See `jax.numpy.var`."""
    return _numpy.var(self, axis, dtype, out, ddof, keepdims, where=where, correction=correction)


def astype(self, dtype: DTypeLike | None, copy: bool = False, device: Placement | None = None) -> Array:
    """The array with its elements converted; see `jax.numpy.astype`."""
    return _numpy.astype(self, dtype, copy=copy, device=device)


def reshape(self, *args: Any, order: str = "C", out_sharding: Placement | None = None) -> Array:
    """The elements in another shape, given as one sequence or as several integers; see `jax.numpy.reshape`."""
    from .shaping import _reshape  # start-up: loaded when an array is first reshaped
    return _reshape(self, args[0] if len(args) == 1 else args, order, out_sharding)


def transpose(self, *args: Any) -> Array:
    """The axes in another order, given as one sequence or as several integers; see `jax.numpy.transpose`."""
    if not args:
        return _numpy.transpose(self)
    axes = args[0] if len(args) == 1 and not isinstance(args[0], (int, np.integer)) else args
    return _numpy.transpose(self, axes)


def flatten(self, order: str = "C", *, out_sharding: Placement | None = None) -> Array:
    """The elements along one axis; see `jax.numpy.ravel`."""
    return _numpy.ravel(self, order, out_sharding=out_sharding)


def compress(self, condition: ArrayLike, axis: int | None = None, *, out: None = None, size: int | None = None,
             fill_value: ArrayLike = 0) -> Array:
    """The slices where ``condition`` holds; see `jax.numpy.compress`."""
    return _numpy.compress(condition, self, axis, size=size, fill_value=fill_value, out=out)


def copy(self) -> Array:
    """A copy; see `jax.numpy.copy`."""
    return _numpy.copy(self)


def clone(self):
    """A copy, with the name it has in the array API of other libraries."""
    return copy(self)


def item(self, *args: Any) -> bool | int | float | complex:
    """One element as a Python number: the only one, or that at the given position."""
    if not args:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        value = self.reshape(()) if self.shape else self
    elif len(args) == 1 and isinstance(args[0], int):
        value = self.reshape(-1)[args[0]]
    else:
        value = self[args[0] if len(args) == 1 else args]
    kind = dtypes.scalar_type_of(value)
    return kind(value)


def view(self, dtype: DTypeLike | None = None, type: None = None) -> Array:
    """The same bytes as elements of another dtype; the last axis changes its length with the width.

    Args:
      dtype: of the result; by default the array is returned as it is.
      type: must be None.

    Raises:
      NotImplementedError: ``type`` is given. ValueError: the last axis does not hold a whole number of new elements.

    Source: `numpy.ndarray.view`.
    """
    from .bytes import view_as  # start-up: loaded when an array is first reinterpreted
    if type is not None:
        raise NotImplementedError(f"array.view: type must be None, got {type!r}; for another shape use array.reshape")
    return self if dtype is None else view_as(self, dtype)


def byteswap(self) -> Array:
    """The bytes of each element in reverse order; see `numpy.ndarray.byteswap`."""
    from .bytes import swapped  # start-up: loaded when an array is first swapped
    return swapped(self)


def to_device(self, device: Placement, *, stream: int | None = None):
    """The array on another device; ``stream`` must be None."""
    if stream is not None:
        raise NotImplementedError("to_device: stream is not supported; transfers are asynchronous as they are.")
    return placed(self, device)


def _array_namespace(self, *, api_version=None):
    from .array_api import namespace  # start-up: loaded when another library asks
    return namespace(api_version)


def _array_module(self, types):
    return _array_namespace(self)


_PROPERTIES = {
    "at": property(_IndexUpdateHelper, doc="Start of an update: ``x.at[index].set(value)`` and its siblings return a changed copy."),
    "T": property(lambda self: _numpy.transpose(self), doc="The array with its axes reversed."),
    "mT": property(lambda self: _numpy.matrix_transpose(self), doc="The array with its last two axes exchanged."),
    "real": property(lambda self: real(self), doc="Real parts."),
    "imag": property(lambda self: imag(self), doc="Imaginary parts."),
    "flat": property(lambda self: self.reshape(-1), doc="The elements along one axis."),
}


_METHODS = (
    all, any, argmax, argmin, argpartition, argsort, choose, clip, conj, conjugate, cumprod, cumsum, diagonal,
    dot, max, mean, min, nonzero, prod, ptp, ravel, repeat, round, searchsorted, sort, squeeze, std, sum,
    swapaxes, take, trace, var, astype, reshape, transpose, flatten, compress, copy, clone, item, view,
    byteswap, to_device,
)


def table() -> dict[str, Any]:
    """All operators, methods and properties, by attribute name."""
    methods: dict[str, Any] = {f"__{n}__": _operator(f"__{n}__", f) for n, f in (_BINARY | _COMPARISONS).items()}
    methods |= {f"__r{n}__": _reflected(f"__r{n}__", f) for n, f in _BINARY.items()}
    methods |= {
        "__pow__": _power, "__neg__": _unary(negative), "__pos__": _unary(positive),
        "__abs__": _unary(absolute), "__invert__": _unary(invert), "__getitem__": _getitem, "__iter__": rows_of,
        "__setitem__": _setitem, "__contains__": _contains, "__round__": _round,
        "__array_namespace__": _array_namespace, "__array_module__": _array_module,
    }
    methods |= {fun.__name__: fun for fun in _METHODS}
    return methods | _PROPERTIES


def _unary(fun: Callable) -> Callable:
    def method(self):
        return fun(self)
    method.__name__ = fun.__name__
    return method


def _slicing() -> ModuleType:
    from ..lax import slicing  # start-up: loaded when a reference has a traced slice
    return slicing


def _window(x, start, size, axis):
    return _slicing().dynamic_slice_in_dim(x, start, size, axis)


def _with_window(x, part, start, axis):
    return _slicing().dynamic_update_slice_in_dim(x, part, start, axis)


def provide(namespace: ModuleType) -> None:
    """Give arrays and references of core what they have from here; ``namespace`` is jax.numpy, where methods find functions."""
    global _numpy
    _numpy = namespace
    extension_points.array_methods.fill(table())
    extension_points.windows.fill(extension_points.Windows(_window, _with_window))
