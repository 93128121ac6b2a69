"""The functions of jax.numpy that are `ufunc` objects, with the fast forms of their methods."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation import dtypes

from .. import lax
from . import arithmetic, reductions, running, ufuncs
from .indexing import as_tuple, write
from .promotion import as_array, canonical_axis, promote_dtypes, shape_of, strong
from .ufunc_class import ufunc

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import DTypeLike


_OF_TRUTH = {"add": "max", "multiply": "min"}


def _at(op: str) -> Callable:
    """``at`` by a scatter, in the dtype of ``a``."""
    def at(a: Array, indices, b: Array):
        truth = a.dtype == b.dtype == np.bool_
        return write(a, as_tuple(indices), b, _OF_TRUTH.get(op, op) if truth else op)
    return at


def _extreme_at(op: str) -> Callable:
    """``at`` by a scatter, in the dtype of the extrema."""
    def at(a: Array, indices, b: Array):
        return write(strong(promote_dtypes(a, b)[0]), as_tuple(indices), b, op)
    return at


def _accumulate(fun: Callable) -> Callable:
    def accumulate(a: Array, axis: int = 0, dtype: DTypeLike | None = None):
        return fun(a, axis=canonical_axis(axis, len(shape_of(a))), dtype=dtype)
    return accumulate


def _plain(fun: Callable) -> Callable:
    """A reduction that keeps the dtype of its operand."""
    def reduce(a: Array, axis: int = 0, keepdims=False, initial=None, where=None):
        return fun(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
    return reduce


def _truth(fun: Callable, combine: Any) -> Callable:
    def reduce(a: Array, axis: int = 0, keepdims=False, initial=None, where=None):
        out = fun(a, axis=axis, keepdims=keepdims, where=where)
        return out if initial is None else combine(out, initial)
    return reduce


def _extreme_accumulate(which: str) -> Callable:
    def accumulate(a: Array, axis: int = 0, dtype: DTypeLike | None = None):
        a = as_array(a) if dtype is None else as_array(a).astype(dtype)
        return getattr(lax, which)(a, canonical_axis(axis, a.ndim))
    return accumulate


def _logsumexp_reduce(a, axis=0, keepdims=False, initial=None, where=None):
    """Stable sum of exponentials: the maximum is taken out first."""
    a = as_array(a)
    a = a if dtypes.issubdtype(a.dtype, np.inexact) else a.astype(float)
    lowest = -np.inf
    masked = a if where is None else arithmetic.where(where, a, np.asarray(lowest, a.dtype)[()])
    top = reductions.max(masked, axis=axis, keepdims=True, initial=lowest)
    safe = arithmetic.where(ufuncs.isfinite(top), top, np.zeros((), a.dtype)[()])
    total = reductions.sum(ufuncs.exp(ufuncs.subtract(masked, safe)), axis=axis, keepdims=True)
    out = ufuncs.add(ufuncs.log(total), safe)
    out = out if keepdims else _squeezed(out, axis)
    return out if initial is None else arithmetic.logaddexp(out, initial)


def _squeezed(out, axis):
    return out.reshape(()) if axis is None else out.squeeze(axis)


def _binary(name: str, call: Callable, identity: Any = None, **fast: Any) -> ufunc:
    return ufunc(call, 2, 1, name=name, identity=identity, call=call, **fast)


add = _binary("add", ufuncs.add, 0, reduce=_plain(reductions.sum), accumulate=_accumulate(running.cumsum),
              at=_at("add"))
multiply = _binary("multiply", ufuncs.multiply, 1, reduce=_plain(reductions.prod),
                   accumulate=_accumulate(running.cumprod), at=_at("multiply"))
subtract = _binary("subtract", ufuncs.subtract, at=_at("subtract"))
maximum = _binary("maximum", ufuncs.maximum, reduce=_plain(reductions.max), accumulate=_extreme_accumulate("cummax"),
                  at=_extreme_at("max"))
minimum = _binary("minimum", ufuncs.minimum, reduce=_plain(reductions.min), accumulate=_extreme_accumulate("cummin"),
                  at=_extreme_at("min"))
logical_and = _binary("logical_and", ufuncs.logical_and, True, reduce=_truth(reductions.all, ufuncs.logical_and))
logical_or = _binary("logical_or", ufuncs.logical_or, False, reduce=_truth(reductions.any, ufuncs.logical_or))
logical_xor = _binary("logical_xor", ufuncs.logical_xor, False)
bitwise_and = _binary("bitwise_and", ufuncs.bitwise_and, -1)
bitwise_or = _binary("bitwise_or", ufuncs.bitwise_or, 0)
bitwise_xor = _binary("bitwise_xor", ufuncs.bitwise_xor, 0)
logaddexp = _binary("logaddexp", arithmetic.logaddexp, -np.inf, reduce=_logsumexp_reduce)
logaddexp2 = _binary("logaddexp2", arithmetic.logaddexp2, -np.inf)
negative = ufunc(ufuncs.negative, 1, 1, name="negative", call=ufuncs.negative)
