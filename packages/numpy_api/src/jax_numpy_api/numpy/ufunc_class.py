"""Ufunc objects: elementwise functions with the methods `reduce`, `accumulate`, `at`, `outer`, `reduceat`.

A method that has a fast form of its own (``add.reduce`` is `sum`) is given it when the object is made; the general forms
here apply the function element after element by `scan`.
"""
from __future__ import annotations

import math
import operator
import re
import sys
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax
from .arithmetic import where
from .creation import asarray
from .indexing import as_tuple
from .promotion import as_array, broadcast_to, canonical_axes, canonical_axis, check_arraylike
from .shaping import moveaxis
from .vectorizing import vectorize

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def _with_options(doc: str | None) -> str | None:
    """The docstring of a function, with the arguments that only the object has."""
    if doc is None or "\n\n" not in doc or "out, where" in doc:
        return doc
    if "Args:\n" in doc:
        return re.sub(r"Args:\n((?: +\S.*\n)+)", r"\g<0>      out, where: must be None.\n", doc, count=1)
    first, rest = doc.split("\n\n", 1)
    return f"{first}\n\n    Args:\n      out, where: must be None.\n\n{rest}"


class ufunc:
    """An elementwise function of arrays, made from a function of numbers.

    Args:
      func: function of ``nin`` arguments that returns ``nout`` results; it must be traceable.
      nin, nout: numbers of arguments and results.
      name: shown in the representation.
      nargs: ``nin + nout``.
      identity: result of reducing no elements; None if there is none.
      call: the whole elementwise function, in place of ``func`` mapped over elements.
      reduce, accumulate, at, reduceat: fast forms of the methods.

    Source: `numpy.ufunc`.

    >>> double = jnp.frompyfunc(lambda x, y: x + 2 * y, 2, 1)
    >>> isinstance(double, jnp.ufunc), double.outer(jnp.arange(2), jnp.arange(2))
    (True, Array([[0, 2],
           [1, 3]], dtype=int32))
    """

    def __init__(self, func: Callable[..., Any], /, nin: int, nout: int, *, name: str | None = None,
                 nargs: int | None = None, identity: object | None = None, call: Callable[..., Any] | None = None,
                 reduce: Callable[..., Any] | None = None, accumulate: Callable[..., Any] | None = None,
                 at: Callable[..., Any] | None = None, reduceat: Callable[..., Any] | None = None):
        self._func = func
        self.__name__ = name or getattr(func, "__name__", "ufunc")
        self.__qualname__, self.__module__ = self.__name__, "jax.numpy"
        self.__doc__ = _with_options(getattr(call or func, "__doc__", None))
        self._nin, self._nout = operator.index(nin), operator.index(nout)
        self._nargs = self._nin + self._nout if nargs is None else operator.index(nargs)
        self._identity = identity
        self._call = call
        self._fast = {"reduce": reduce, "accumulate": accumulate, "at": at, "reduceat": reduceat}

    nin = property(lambda self: self._nin, doc="Number of arguments.")
    nout = property(lambda self: self._nout, doc="Number of results.")
    nargs = property(lambda self: self._nargs, doc="Number of both together.")
    identity = property(lambda self: self._identity, doc="Result of reducing no elements; None if there is none.")

    def __reduce_ex__(self, protocol: Any) -> Any:
        """One of jax.numpy is pickled by its name."""
        public = sys.modules.get("jax.numpy")
        name = str(self.__name__)
        return name if getattr(public, name, None) is self else super().__reduce_ex__(protocol)

    def _key(self):
        return (self._func, self._call, self.__name__, self._nin, self._nout, self._identity)

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        return isinstance(other, ufunc) and self._key() == other._key()

    def __repr__(self):
        return f"<jnp.ufunc '{self.__name__}'>"

    def __call__(self, *args: Any, out: None = None, where: None = None, **unknown: Any) -> Array:
        """The function on arrays, which are broadcast. ``out`` and ``where`` must be None, and there are no others."""
        if unknown:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {next(iter(unknown))!r}; operands are passed by position")
        if out is not None:
            raise NotImplementedError(f"out argument of {self}: arrays are not written to; use the result")
        if where is not None:
            raise NotImplementedError(f"where argument of {self}")
        if self._call is not None:
            return self._call(*args)
        return self._mapped(*args)

    def _mapped(self, *args):
        if len(args) != self._nin:
            raise TypeError(f"{self} takes {self._nin} arguments, got {len(args)}")
        check_arraylike(self.__name__, *args)
        return vectorize(self._func)(*args)

    def _check_binary(self, method: str) -> None:
        if self._nin != 2 or self._nout != 1:
            raise ValueError(f"{method} only supported for functions of two arguments with one result; {self} has "
                             f"nin={self._nin}, nout={self._nout}")

    # -- reduce and accumulate ---------------------------------------------------------------------------------------

    def reduce(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
               initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
        """The elements along axes combined, from the first to the last.

        Args:
          a: array.
          axis: an axis, several, or None for all.
          dtype: to compute in.
          out: must be None.
          keepdims: keep reduced axes with length 1.
          initial: what to begin with.
          where: which elements take part; needs an identity or ``initial``.

        Raises:
          ValueError: no elements and no identity.
        """
        self._check_binary("reduce")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.reduce()")
        check_arraylike(f"{self.__name__}.reduce", a)
        if initial is not None:
            check_arraylike(f"{self.__name__}.reduce", initial)
        if where is not None and self._identity is None and initial is None:
            raise ValueError(f"jax.numpy.{self.__name__}.reduce: where may leave no element, and {self.__name__} of none has no "
                             "value; pass initial")
        fast = self._fast["reduce"]
        if fast is not None and dtype is None:
            return fast(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
        return self._reduce(a, axis, dtype, keepdims, initial, where)

    def _reduce(self, a, axis, dtype, keepdims, initial, where):
        a = as_array(a)
        a = a if dtype is None else a.astype(dtype)
        axes = canonical_axes(axis, a.ndim)
        shape = a.shape
        kept = [i for i in range(a.ndim) if i not in axes]
        flat = lax.reshape(lax.transpose(a, (*axes, *kept)), (math.prod(shape[i] for i in axes), *(shape[i] for i in kept)))
        mask = None
        if where is not None:
            mask = broadcast_to(as_array(where), shape)
            mask = lax.reshape(lax.transpose(mask, (*axes, *kept)), flat.shape)
        out = self._fold(flat, initial, mask)
        return lax.reshape(out, tuple(1 if i in axes else n for i, n in enumerate(shape))) if keepdims else out

    def _fold(self, flat, initial, mask):
        start = initial if initial is not None else self._identity
        if start is None:
            if flat.shape[0] == 0:
                raise ValueError(f"jax.numpy.{self.__name__}.reduce: {self.__name__} of no elements has no value; pass initial")
            first, rest = flat[0], flat[1:]
        else:
            first, rest = broadcast_to(asarray(start, flat.dtype), flat.shape[1:]), flat
        combined = self(first, first)
        first = first.astype(combined.dtype)

        def step(carry: PyTree, x: Array):
            value, take = x if mask is not None else (x, None)
            new = self(carry, value.astype(carry.dtype)).astype(carry.dtype)
            return (new if take is None else lax.select(take, new, carry)), None
        return lax.scan(step, first, rest if mask is None else (rest, mask))[0]

    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None) -> Array:
        """All partial results of `reduce` along one axis."""
        self._check_binary("accumulate")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.accumulate()")
        check_arraylike(f"{self.__name__}.accumulate", a)
        fast = self._fast["accumulate"]
        if fast is not None:
            return fast(a, axis=axis, dtype=dtype)
        a = as_array(a)
        a = a if dtype is None else a.astype(dtype)
        if axis is None or isinstance(axis, tuple):
            raise ValueError(f"accumulate does not allow multiple axes, got axis={axis}")
        axis = canonical_axis(axis, a.ndim)
        lines = moveaxis(a, axis, 0)
        if lines.shape[0] == 0:
            return moveaxis(self(lines, lines), 0, axis)

        def step(carry: PyTree, x: Array):
            new = self(carry, x).astype(carry.dtype)
            return new, new
        first = lines[0]
        first = first.astype(self(first, first).dtype if dtype is None else dtype)
        rest = lax.scan(step, first, lines[1:])[1]
        return moveaxis(lax.concatenate([lax.expand_dims(first, (0,)), rest], 0), 0, axis)

    # -- at, outer, reduceat -----------------------------------------------------------------------------------------

    def at(self, a: ArrayLike, indices: ArrayLike, b: ArrayLike | None = None, *, inplace: bool = True) -> Array:
        """``a`` with the function applied to the elements at ``indices`` (and ``b``), once for each time one comes.

        ``inplace`` must be False: the result is returned, with the dtype of the function's results; sums, differences and products
        have that of ``a``.
        """
        if inplace:
            raise NotImplementedError("JAX arrays are immutable, so jnp.ufunc.at() cannot be used with inplace=True; pass "
                                      "inplace=False, and use the result.")
        check_arraylike(f"{self.__name__}.at", a)
        a, fast = as_array(a), self._fast["at"]
        if self._nin == 1:
            return a.at[indices].apply(self)
        self._check_binary("at")
        check_arraylike(f"{self.__name__}.at", b)
        assert b is not None
        b = as_array(b)
        return self._at_one_by_one(a, indices, b) if fast is None else fast(a, indices, b)

    def _at_one_by_one(self, a, indices, b):
        a = a.astype(self(a.reshape(-1)[:0], b.reshape(-1)[:0]).dtype)  # all that it may become fits
        index = as_tuple(indices)
        positions = lax.reshape(lax.iota(np.int32, a.size), a.shape)[index]
        values = broadcast_to(as_array(b), positions.shape).reshape(-1)
        positions = positions.reshape(-1)

        def step(i: ArrayLike, flat):
            p = positions[i]
            return flat.at[p].set(self(flat[p], values[i]).astype(flat.dtype))
        return lax.fori_loop(0, positions.size, step, a.reshape(-1)).reshape(a.shape)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """The function of all pairs of elements of two arrays; the result has the axes of both."""
        self._check_binary("outer")
        check_arraylike(f"{self.__name__}.outer", A, B)
        A, B = as_array(A), as_array(B)
        return self(A.reshape(A.shape + (1,) * B.ndim), B.reshape((1,) * A.ndim + B.shape))

    def reduceat(self, a: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None,
                 out: None = None) -> Array:
        """`reduce` over the slices from each index to the next (to the end for the last).

        Where the next index is not larger, the slice is the one element at the index; NaN or an extreme integer where there is none.
        """
        self._check_binary("reduceat")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.reduceat()")
        check_arraylike(f"{self.__name__}.reduceat", a, indices)
        a, indices = as_array(a), as_array(indices)
        if indices.ndim != 1:
            raise ValueError(f"reduceat: indices must be one-dimensional, got shape {indices.shape}")
        if axis is None or isinstance(axis, (tuple, list)):
            raise ValueError("reduceat requires a single integer axis.")
        fast = self._fast["reduceat"]
        if fast is not None:
            return fast(a, indices, axis=axis, dtype=dtype)
        return self._reduceat(a if dtype is None else a.astype(dtype), indices, canonical_axis(axis, a.ndim))

    def _reduceat(self, a, indices, axis):
        lines = moveaxis(a, axis, 0)
        n = lines.shape[0]
        stops = lax.concatenate([indices[1:], lax.full((1,), n, indices.dtype)], 0)
        out = lines.at[indices].get(mode="fill")  # NaN beyond the end: a clamped one would have a tangent and no cotangent

        def step(i: ArrayLike, out):
            shape = (indices.shape[0],) + (1,) * (lines.ndim - 1)
            inside = lax.bitwise_and(lax.gt(lax.full(indices.shape, 0, indices.dtype) + i, indices),
                                     lax.lt(lax.full(indices.shape, 0, indices.dtype) + i, stops)).reshape(shape)
            return where(inside, self(out, lines[i][None]), out).astype(out.dtype)
        return moveaxis(lax.fori_loop(0, n, step, out), 0, axis)


def frompyfunc(func: Callable[..., PyTree], /, nin: int, nout: int, *, identity: object | None = None) -> ufunc:
    """A `ufunc` from a traceable function of numbers.

    Args:
      nin, nout: how many arguments and results it has.
      identity: what a reduction of nothing gives.

    Source: `numpy.frompyfunc`.

    >>> jnp.frompyfunc(lambda a, b: 10 * a + b, 2, 1).reduce(jnp.array([1, 2, 3]))
    Array(123, dtype=int32)
    """
    return ufunc(func, nin, nout, identity=identity)

