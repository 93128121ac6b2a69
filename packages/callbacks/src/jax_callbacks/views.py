"""What a callback sees of an operand: a NumPy array that also answers to the name of `jax.Array`.

NumPy functions work on it at NumPy's speed. Code that was written for arrays of jax works too: `isinstance(x, jax.Array)`
is true, ``x.at[i].set(v)``, `block_until_ready` and the functions of `jax.numpy` take it. Arithmetic on it is NumPy's.

The contents may not be written to. An operator such as ``+=``, which would, makes a new array instead, as it does for
arrays of jax.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core import backends
from jax_core.representation import array, dtypes
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.traces.trace import Tracer, escaped


def _rebinding(name: str) -> Callable:
    """The in-place operator ``name``: on a read-only array Python shall fall back to the operator that makes a new one."""
    numpys = getattr(np.ndarray, name)

    def operator(self, other: object):
        return numpys(self, other) if self.flags.writeable else NotImplemented
    operator.__name__ = name
    return operator


class View(np.ndarray):
    """A read-only NumPy array with the attributes of a `jax.Array`."""

    __slots__ = ()  # an array without a dictionary is made faster

    for _name in ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__",
                  "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "__imatmul__"):
        locals()[_name] = _rebinding(_name)
    del _name

    weak_type = False
    committed = False
    is_fully_addressable = True
    is_fully_replicated = True

    @property
    def aval(self) -> ShapedArray:
        return ShapedArray(self.shape, self.dtype)

    @property
    def device(self) -> Any:
        """As of a `jax.Array`; NumPy's own attribute of this name is a text."""
        return backends.get().put(np.array(self)).device

    def block_until_ready(self) -> "View":
        return self

    def is_ready(self) -> bool:
        return True

    def is_deleted(self) -> bool:
        return False

    def copy_to_host_async(self) -> None:
        return None

    def delete(self) -> None:
        """Does nothing: the runtime owns the memory."""

    @property
    def _npy_value(self) -> np.ndarray:
        """The contents, under the name by which a backend looks for those of its own arrays."""
        return np.asarray(self)

    def __getattr__(self, name: str) -> Any:
        """What only arrays of the backend have (``at``, ``sharding``, ``addressable_shards``, ...), from a copy that is one."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(backends.get().put(np.array(self)), name)

    def __repr__(self) -> str:
        text = np.array2string(np.asarray(self), separator=", ", prefix="Array(")
        if self.size == 0 and self.shape != (0,):
            text += f", shape={self.shape}"
        return f"Array({text}, dtype={self.dtype.name})"

    def __str__(self) -> str:
        return str(np.asarray(self))

    def __format__(self, spec: str) -> str:
        if not self.ndim:
            return format(self[()], spec)
        return format(np.asarray(self), spec) if spec else str(self)

    def __reduce__(self):
        return np.asarray(self).__reduce__()


array.Array.register(View)


def host_value(x: Any) -> np.ndarray:
    """The contents of a concrete value as a read-only NumPy array, of the dtype that it has in programs; a key array as the numbers it is stored as."""
    kind = type(x)
    if kind is View:
        value = x
    elif kind is np.ndarray:
        dtype = get_aval(x).dtype
        value = x if x.dtype == dtype else x.astype(dtype)
    elif isinstance(x, (bool, int, float, complex, np.generic)):
        value = np.asarray(x, get_aval(x).dtype)
    else:
        if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType):
            x = x.dtype.unwrap(x)
        value = backends.get().host_view(x)
        if isinstance(x, Tracer):
            raise escaped(x)
        if value is None:
            value = np.asarray(x)
    if value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value
