"""`jax._src.literals`: Python's numbers with a dtype, which functions with custom derivatives and their rules get, and NumPy arrays
that know whether their dtype is weak, for libraries that tell arrays by their class. Nothing of ours makes such an array.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

import numpy as np

from .aval import ShapedArray, aval_of_type, get_aval


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
    """A Python number, of weak type, with a dtype of its own; what is computed from it is a plain Python number."""

    dtype: np.dtype
    shape: tuple = ()
    ndim = 0
    weak_type = True

    plain: Any  # the class of Python's numbers that it is one of

    def __new__(cls, value: Any, dtype: Any) -> Any:
        self = super().__new__(cls, value)  # type: ignore[call-arg]  # of the number beside it
        self.dtype = np.dtype(dtype)
        return self

    def __getnewargs__(self) -> tuple:
        return self.plain(self), self.dtype

    def __str__(self) -> str:
        return self.plain.__repr__(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.plain.__repr__(self)}, dtype={self.dtype.name})"


class TypedInt(_TypedScalar, int):
    """An int with a dtype."""

    plain = int


class TypedFloat(_TypedScalar, float):
    """A float with a dtype."""

    plain = float


class TypedComplex(_TypedScalar, complex):
    """A complex with a dtype."""

    plain = complex


aval_of_type[TypedNdArray] = lambda x: x.aval
for _kind in (TypedInt, TypedFloat, TypedComplex):
    aval_of_type[_kind] = lambda x: ShapedArray((), x.dtype, weak_type=True)

_WITH_DTYPE: dict[type, Callable] = {int: TypedInt, float: TypedFloat, complex: TypedComplex}


def typed_numbers(values: Iterable[Any]) -> list:
    """The values, where Python's numbers have their dtypes: functions with custom derivatives may ask ``x.dtype`` of what they are given."""
    return [_WITH_DTYPE[type(x)](x, get_aval(x).dtype) if type(x) in _WITH_DTYPE else x for x in values]


def with_dtype(number: Any, aval: ShapedArray) -> Any:
    """``number`` of Python or NumPy as a number of this type; not an array, so that it can still be asked (``if number:``)."""
    typed = _WITH_DTYPE.get(type(number)) if aval.weak_type else None
    return np.asarray(number).astype(aval.dtype)[()] if typed is None else typed(number, aval.dtype)


__all__ = ["TypedComplex", "TypedFloat", "TypedInt", "TypedNdArray"]
