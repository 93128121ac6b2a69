"""The dtype names of jax.numpy, and the functions that ask about dtypes.

``jnp.float32`` and its siblings are classes that are never instantiated: calling one makes an array of that dtype,
``isinstance`` asks about NumPy scalars, and each equals the NumPy scalar type and dtype of the same name, so that any
of the three can be used where a dtype is asked for.
"""
from __future__ import annotations

import builtins
import types
from typing import Any

import ml_dtypes
import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.typing import DTypeLike

from .creation import asarray
from .promotion import is_array, unwrapped

_PYTHON_SCALARS = (builtins.bool, int, float, complex)


_TAKEN = (int, float, complex, np.generic, np.ndarray, list, tuple, range, types.NoneType)  # by `asarray`, which says what is wrong with them
_CONVERTS = ("__array__", "__jax_array__", "__dlpack__")


class _ScalarMeta(type):
    """Class of the dtype names."""

    dtype: np.dtype

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: Any) -> bool:
        if cls is other:
            return True
        if type(other) is type and other in _PYTHON_SCALARS:  # np.dtype would take these for dtypes
            return False
        try:
            return isinstance(other, (type, np.dtype)) and np.dtype(other) == cls.dtype
        except TypeError:
            return False

    def __ne__(cls, other: Any) -> bool:
        return not cls == other

    def __call__(cls, x: Any) -> Any:
        """``x`` as an array of this dtype; texts and objects that are one number to Python are read by NumPy, as by its class of this name."""
        if not hasattr(x, "aval") and not isinstance(x, _TAKEN) and not any(hasattr(x, name) for name in _CONVERTS):
            x = np.asarray(x, cls.dtype)
        return asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __reduce__(cls):
        return cls.__name__


def _scalar_type(name: str, scalar: type) -> type:
    return _ScalarMeta(name, (object,), {
        "dtype": np.dtype(scalar), "__module__": "jax.numpy",
        "__doc__": f"The dtype {name}, for ``dtype=`` and ``x.astype``; called with a value, it makes an array of this dtype: "
                   f"``jnp.{name}(1)``."})


bool_ = _scalar_type("bool", np.bool_)
uint8, uint16, uint32, uint64 = (_scalar_type(f"uint{n}", getattr(np, f"uint{n}")) for n in (8, 16, 32, 64))
int8, int16, int32, int64 = (_scalar_type(f"int{n}", getattr(np, f"int{n}")) for n in (8, 16, 32, 64))
float16, float32, float64 = (_scalar_type(f"float{n}", getattr(np, f"float{n}")) for n in (16, 32, 64))
complex64, complex128 = _scalar_type("complex64", np.complex64), _scalar_type("complex128", np.complex128)
bfloat16 = _scalar_type("bfloat16", ml_dtypes.bfloat16)
for _name in ("int1", "uint1", "int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
              "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
              "float8_e5m2fnuz", "float8_e8m0fnu"):
    if hasattr(ml_dtypes, _name):
        globals()[_name] = _scalar_type(_name, getattr(ml_dtypes, _name))

single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = int64, uint64, float64, complex128
globals()["bool"] = bool_  # the public name; inside this module `bool` keeps its usual meaning until here

generic, number, integer, signedinteger, unsignedinteger = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger)
inexact, floating, complexfloating = np.inexact, np.floating, np.complexfloating
flexible, character, object_, dtype = np.flexible, np.character, np.object_, np.dtype
ComplexWarning = np.exceptions.ComplexWarning
finfo, iinfo = dtypes.finfo, dtypes.iinfo


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> builtins.bool:
    """Whether dtype ``arg1`` is, or is a kind of, ``arg2``.

    Args:
      arg1, arg2: dtypes, scalar types, or abstract types such as ``jnp.floating`` (the second).

    Source: `numpy.issubdtype`; the narrow types of ml_dtypes belong to their kinds.

    >>> jnp.issubdtype(jnp.bfloat16, jnp.floating)
    True
    """
    return dtypes.issubdtype(arg1, arg2)


def isdtype(dtype: DTypeLike, kind: str | DTypeLike | tuple[str | DTypeLike, ...]) -> builtins.bool:
    """Whether a dtype is of a kind.

    Args:
      dtype: a dtype.
      kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
        a dtype, or a tuple of these.

    Source: `numpy.isdtype`, array API standard.

    >>> jnp.isdtype(jnp.bfloat16, "real floating")
    True
    """
    return dtypes.isdtype(dtype, kind)


def result_type(*args: Any) -> np.dtype:
    """The dtype that combining arrays, numbers and dtypes gives, under JAX's promotion rules.

    Raises:
      ValueError: no arguments.

    Source: `numpy.result_type`.

    >>> jnp.result_type(jnp.int8(1), 2.5)
    dtype('float32')
    """
    return dtypes.result_type(*args)


def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype that two dtypes combine to, under JAX's promotion rules.

    Args:
      a, b: dtypes.

    Source: `numpy.promote_types`.

    >>> jnp.promote_types(jnp.int16, jnp.bfloat16)
    dtype(bfloat16)
    """
    return dtypes.promote_types(a, b)


def can_cast(from_: DTypeLike, to: DTypeLike, casting: str = "safe") -> builtins.bool:
    """Whether a cast between dtypes is allowed under NumPy's casting rule.

    Args:
      from_: a dtype or an array.
      to: a dtype.

    Source: `numpy.can_cast`.

    >>> jnp.can_cast(jnp.int32, jnp.int8)
    False
    """
    source = np.dtype(from_) if isinstance(from_, type) or not hasattr(from_, "dtype") else from_.dtype
    return np.can_cast(source, np.dtype(to), casting)  # type: ignore[arg-type]  # NumPy refuses other names


def isscalar(element: object) -> builtins.bool:
    """Whether ``element`` is a number, or an array of rank 0. Source: `numpy.isscalar`.

    >>> jnp.isscalar(3.), jnp.isscalar(jnp.zeros(2))
    (True, False)
    """
    value = unwrapped(element)
    if is_array(value):
        return value.ndim == 0
    return np.isscalar(value) or isinstance(value, np.ndarray) and value.ndim == 0
