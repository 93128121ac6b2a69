"""`jax._src.literals`: Python's numbers with a dtype, and NumPy arrays that know whether their dtype is weak.

Python's numbers become such numbers in one place, `typed`, where a transformation hands them to a user's function: arguments of functions
with custom derivatives and of their rules, and of what is differentiated in reverse. There ``x.dtype`` and ``x.shape`` can be asked
whether the caller passed a number or an array, and ``if x:``, formatting and indexing with it work as with a number.
Nothing of ours makes such an array; it is for libraries that tell arrays by their class.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

import numpy as np

from .aval import ShapedArray, aval_of_type, get_aval, register_value_class


class TypedNdArray(np.ndarray):
    """The elements of ``val`` with the type ``aval``; what is computed from them is a plain NumPy array.

    jaxlib's dispatcher does not look at ``aval``: a function that was called with a NumPy array of this shape and dtype runs that program.

    Args:
      val: the elements.
      aval: shape, dtype and weak type; default those of ``val``.

    Raises:
      TypeError: ``aval`` is not of the shape and dtype of ``val``.
    """

    aval: Any  # a ShapedArray

    def __new__(cls, val: np.ndarray, aval: ShapedArray | None = None) -> "TypedNdArray":
        self = np.asarray(val).view(cls)
        if aval is not None:
            if (aval.shape, aval.dtype) != (self.shape, self.dtype):
                raise TypeError(f"TypedNdArray: the type {aval.str_short()} is not that of an array {self.dtype}{list(self.shape)}")
            self.aval = aval
        return self

    def __array_finalize__(self, obj: Any) -> None:
        self.aval = get_aval(self.view(np.ndarray))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, TypedNdArray) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    def __repr__(self) -> str:
        return f"Typed{self.view(np.ndarray)!r}".replace("Typedarray", "TypedNdArray")


class _TypedScalar:
    """A Python number, of weak type, with the dtype that it had when it was handed on; what is computed from it is a plain Python number."""

    dtype: np.dtype
    shape: tuple = ()
    ndim = 0
    weak_type = True

    _plain_number: Any  # the class of Python's numbers that it is one of

    def __new__(cls, value: Any, dtype: Any) -> Any:
        self = super().__new__(cls, value)  # type: ignore[call-arg]  # of the number beside it
        self.dtype = np.dtype(dtype)
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Weak beside NumPy's values, as the plain number is: NumPy takes a subclass of float for float64."""
        return getattr(ufunc, method)(*[getattr(type(x), "_plain_number", lambda x: x)(x) for x in inputs], **kwargs)

    def __getnewargs__(self) -> tuple:
        return self._plain_number(self), self.dtype

    def __str__(self) -> str:
        return self._plain_number.__repr__(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._plain_number.__repr__(self)}, dtype={self.dtype.name})"


class TypedInt(_TypedScalar, int):
    """An int with a dtype."""

    _plain_number = int


class TypedFloat(_TypedScalar, float):
    """A float with a dtype."""

    _plain_number = float


class TypedComplex(_TypedScalar, complex):
    """A complex with a dtype."""

    _plain_number = complex


register_value_class(TypedNdArray)
for _kind in (TypedInt, TypedFloat, TypedComplex):
    # jaxlib's dispatcher takes them for these, in the width that programs have when they are used
    register_value_class(_kind, aval_of_type[_kind._plain_number])

_WITH_DTYPE: dict[type, Callable] = {int: TypedInt, float: TypedFloat, complex: TypedComplex}


def typed(values: Iterable[Any]) -> list:
    """``values`` with each number of Python as a number with the dtype that programs give it, and values of NumPy in that dtype.

    A bool stays: it has no weak type, and there is no subclass of it.
    """
    return [_typed(x) for x in values]


def _typed(x: Any) -> Any:
    known = _WITH_DTYPE.get(type(x))
    if known is not None:
        return known(x, get_aval(x).dtype)
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype != (dtype := get_aval(x).dtype):
        return x.astype(dtype)
    return x


__all__ = ["TypedComplex", "TypedFloat", "TypedInt", "TypedNdArray"]
