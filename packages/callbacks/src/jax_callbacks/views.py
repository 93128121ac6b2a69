"""What a callback is given for an operand: an array of jax that is made of the host's memory when somebody needs it.

Most callbacks hand their arguments to NumPy, look at shapes and dtypes, or make numbers of them; all of this a `HostArray` does
on the memory that the runtime shows. To make an array of the backend takes as long as a callback of a loop takes in all, so that is done
when something else is asked for: an operator, a method, an argument of a jitted function. Then the argument is that array's stand-in.

Left aside: a subclass of `numpy.ndarray` with the attributes of a `jax.Array`. Libraries that ask which kind of array they have
(array-api-compat, and through it SciPy) find NumPy's, and results have NumPy's dtypes.
"""
from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from jax_core import backends
from jax_core.representation import array, dtypes, tree_nodes
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.traces.trace import Tracer, escaped


class HostArray:
    """A `jax.Array` of the contents of the read-only array ``value``, which nobody writes to any more."""

    __slots__ = ("_npy_value", "_array", "__weakref__")
    _array: Any  # not there before it is needed
    __module__ = "jax"  # by the first word of which opt_einsum, autoray and others know whose value it is
    __hash__ = None  # type: ignore[assignment]  # as of other arrays
    __array_priority__ = 100
    __class__ = property(lambda self: backends.get().array_type)  # type: ignore[assignment]  # for `isinstance` and `functools.singledispatch`
    weak_type = False
    shape = property(operator.attrgetter("_npy_value.shape"))
    dtype = property(operator.attrgetter("_npy_value.dtype"))
    ndim = property(operator.attrgetter("_npy_value.ndim"))
    size = property(operator.attrgetter("_npy_value.size"))
    itemsize = property(operator.attrgetter("_npy_value.itemsize"))
    nbytes = property(operator.attrgetter("_npy_value.nbytes"))
    aval = property(lambda self: ShapedArray(self._npy_value.shape, self._npy_value.dtype))

    def __init__(self, value: np.ndarray):
        self._npy_value = value

    def __jax_array__(self) -> Any:
        """The array of the backend."""
        try:
            return self._array
        except AttributeError:
            self._array = made = backends.get().on_host(self._npy_value)
            return made

    # -- what needs no array of the backend
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self._npy_value
        if copy is None:
            return value if dtype is None else np.asarray(value, dtype=dtype)
        return np.array(value, dtype=dtype, copy=copy)

    def block_until_ready(self) -> "HostArray":
        return self

    def tolist(self) -> Any:
        return self._npy_value.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self._npy_value.tobytes(order)

    def item(self, *args: Any) -> Any:
        return (self._npy_value if args or self._npy_value.size == 1 else self.__jax_array__()).item(*args)

    def __str__(self) -> str:
        return str(self._npy_value)

    def __format__(self, spec: str) -> str:
        return format(self._npy_value[()] if not self._npy_value.ndim else self._npy_value, spec)

    def __len__(self) -> int:
        return len(self._npy_value)

    def __bool__(self) -> bool:
        return bool(self._npy_value if self._npy_value.size == 1 else self.__jax_array__())

    def __int__(self) -> int:
        return int(self.__jax_array__() if self._npy_value.shape else self._npy_value)

    def __float__(self) -> float:
        return float(self.__jax_array__() if self._npy_value.shape else self._npy_value)

    def __complex__(self) -> complex:
        return complex(self.__jax_array__() if self._npy_value.shape else self._npy_value)

    def __reduce__(self) -> Any:
        return self.__jax_array__().__reduce__()


def _handed_on(name: str, of: object) -> Any:
    """The attribute ``name`` of the array of the backend; of an operator, which Python looks for in the class alone, a function."""
    if not (name.startswith("__") and callable(of)):
        return property(lambda self: getattr(self.__jax_array__(), name))

    def method(self, *args, **kwargs):
        return getattr(self.__jax_array__(), name)(*args, **kwargs)
    method.__name__ = name
    return method


@functools.cache
def complete() -> None:
    """Give `HostArray` all attributes of the backend's arrays. Not by `__getattr__`, in which NumPy would look for what no array has."""
    import jax_numpy_api.numpy  # noqa: F401  # start-up: it brings the operators of arrays, which a program may have done without so far

    for name in dir(kind := backends.get().array_type):
        found = getattr(kind, name)
        if name not in vars(HostArray) and name not in _OF_OBJECTS and found is not getattr(object, name, None):
            setattr(HostArray, name, _handed_on(name, found))


_OF_OBJECTS = frozenset(("__new__", "__init__", "__del__", "__dict__", "__init_subclass__", "__subclasshook__", "__buffer__", "__release_buffer__"))
"""What an object has for itself. A buffer would be NumPy's first choice, and is slower than `__array__`."""


array.Array.register(HostArray)
tree_nodes.register_stored(HostArray, lambda x: ((x.__jax_array__(),), None), lambda _, stored: stored[0])


def host_value(x: Any) -> np.ndarray:
    """The contents of a concrete value as a read-only NumPy array, of the dtype that it has in programs; a key array as the numbers it is stored as."""
    kind = type(x)
    if kind is HostArray:
        value = x._npy_value
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
