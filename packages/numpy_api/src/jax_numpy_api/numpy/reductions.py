"""Reductions over axes: sums, products, extremes, truth, means and variances.

An axis may be a name, of `vmap` or of a device mesh: such axes are reduced last, by the collective of `lax`.

A public function checks and normalises its arguments and calls a core that is one compiled dispatch when eager.
Sums and means of float16 and bfloat16 are accumulated in float32 and rounded once.

The variance is the two-pass formula (mean, then squared distances), which is exact to rounding; XLA fuses each pass
with what produces its input.
"""
from __future__ import annotations

import math
from typing import Any, Literal, overload

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, Axis, DTypeLike

from .. import lax
from ..lax.convert import warn_of_lost_part
from ..lax.reduce import highest, lowest, shift_p
from .arithmetic import select
from .promotion import (
    FLOAT32,
    _to_inexact,
    as_array,
    broadcast_to,
    broadcast_together,
    canonical_axes,
    check_arraylike,
    check_numbers,
    convert,
    given_axes,
    given_flag,
    joined,
    narrowed,
    refuse_out,
    shape_of,
    split_axes,
    strong,
    unwrapped,
)
from .rows import adaptive
from .ufuncs import _like, not_equal, truth

# -- the common path ---------------------------------------------------------------------------------------------------


def dtype_argument(dtype: Any, name: str) -> Any:
    found = None if dtype is None else dtypes.canonicalize_user_dtype(dtype, name)
    if found is not None and found == dtypes.float0:
        raise TypeError(f"{name}: dtype=float0 holds no numbers to compute with; it is the dtype of tangents of integers")
    return found


def _kept(result: Any, shape: tuple, axes: tuple, keepdims: bool) -> Any:
    """``result`` with the reduced axes put back with length 1."""
    if not keepdims:
        return as_array(result)
    return lax.reshape(result, tuple(1 if i in axes else n for i, n in enumerate(shape)))


def given_mask(name: str, where: ArrayLike | None, shape: tuple | None = None) -> Any:
    """A user's ``where=``, unless it is None: booleans, and where ``shape`` is given, repeated to it.

    Raises:
      TypeError: not an array. ValueError: not booleans, or a shape that does not fit.
    """
    if where is None:
        return None
    check_arraylike(name, where)
    where = unwrapped(where)
    if lax.dtype(where) != np.bool_:
        raise ValueError(f"{name}: where must be booleans, got dtype {lax.dtype(where)}; compare with zero first")
    own = shape_of(where)
    if shape is None or own == shape:
        return where
    if len(own) > len(shape) or not set(zip(own[::-1], shape[::-1])) <= {(n, m) for m in shape for n in (1, m)}:
        raise ValueError(f"{name}: where of shape {own} does not broadcast to the array's shape {shape}")
    return broadcast_to(where, shape)


def _masked(name: str, a: Any, where: Any, fill: Any) -> Any:
    """``a`` with ``fill`` where ``where`` does not hold; ``where`` may have the larger shape."""
    where = given_mask(name, where)
    if where is None:
        return a
    try:
        shape = joint_shape(shape_of(a), shape_of(where))
    except ValueError:
        raise ValueError(f"{name}: where of shape {shape_of(where)} and the array of shape {shape_of(a)} do not broadcast"
                         ) from None
    return select(where, broadcast_to(a, shape), fill)


_NARROW = (np.dtype(np.float16), np.dtype(dtypes.bfloat16))


def own_dtype(a: object) -> tuple[Any, bool]:
    """The dtype of ``a`` and whether it is weak; of 64 bits only where these are on."""
    dtype, weak = dtypes.dtype_and_weak_type(a)
    return dtypes.explicit_dtype(dtype), weak


def sum_dtype(dtype: Any, promote_integers: bool = True) -> Any:
    """The dtype that a sum has: booleans and narrow integers are added up in the default integer."""
    if dtype == np.bool_:
        return dtypes.default_int_dtype()
    if promote_integers and dtypes.issubdtype(dtype, np.unsignedinteger):
        wide = dtypes.default_uint_dtype()
        return wide if np.dtype(dtype).itemsize < wide.itemsize else dtype
    if promote_integers and dtypes.issubdtype(dtype, np.integer):
        wide = dtypes.default_int_dtype()
        return wide if np.dtype(dtype).itemsize < wide.itemsize else dtype
    return dtype


def _prepared(name: str, a: Any, dtype: Any, promote: bool = True) -> tuple:
    """``a`` in the dtype to accumulate in, and the dtype of the result with its weakness."""
    check_arraylike(name, a)
    a = unwrapped(a)
    own, weak = own_dtype(a)
    check_numbers(name, own)
    result = dtype if dtype is not None else sum_dtype(own, promote)
    compute = np.dtype(np.float32) if result in _NARROW else result
    if dtypes.issubdtype(own, np.complexfloating) and not dtypes.issubdtype(compute, np.complexfloating):
        warn_of_lost_part(own, compute)
        a = lax.real(a)
    return convert(strong(a), compute), result, False


@adaptive("integers", (1, 2, 3, 6))
def _sum(a, axis, dtype, keepdims, initial, where, promote_integers):
    a, result, weak = _prepared("sum", a, dtype, promote_integers)
    axes, names = split_axes(axis, len(shape_of(a)))
    a = _masked("sum", a, where, _like(a, 0))
    shape = shape_of(a)
    out = _added(a, axes, names)
    if initial is not None:
        check_arraylike("sum", initial)
        out = lax.add(*promote_pair(out, initial))
    return _kept(convert(out, result, weak), shape, axes, keepdims)


def _added(a: Any, axes: tuple, names: tuple) -> Any:
    out = lax.reduce_sum_p.bind(a, axes=axes, out_sharding=None) if axes else a
    return lax.psum(as_array(out), names) if names else out


def promote_pair(out: ArrayLike, initial: ArrayLike) -> tuple:
    """``initial`` in the dtype of ``out``; it must be a scalar."""
    initial = convert(unwrapped(initial), np.dtype(lax.dtype(out)))
    if shape_of(initial):
        raise ValueError(f"initial value must be a scalar. Got array of shape {shape_of(initial)}")
    return out, initial


def sum(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: bool = True) -> Array:
    """Sum of elements over axes.

    Args:
      a: array of numbers or booleans.
      axis: an axis, a tuple of axes, or None for all; the name of a mapped axis stands for the sum over it.
      dtype: to accumulate in; by default that of ``a``, and the default integer for booleans and narrow integers.
      out: must be None.
      keepdims: keep reduced axes with length 1.
      initial: a number to add.
      where: booleans that broadcast against ``a``; elements where it is false are left out.
      promote_integers: whether narrow integers are widened.

    Raises:
      TypeError: ``a`` is not an array. ValueError: ``axis`` is out of bounds. NameError: no mapped axis has that name.

    Source: `numpy.sum`.

    >>> jnp.sum(jnp.ones((2, 3)), axis=0)
    Array([2., 2., 2.], dtype=float32)
    >>> jnp.sum(jnp.arange(5), where=jnp.arange(5) > 2)
    Array(7, dtype=int32)
    """
    refuse_out("sum", out)
    return _sum(a, given_axes(axis, named=True), dtype_argument(dtype, "sum"), given_flag(keepdims), initial, where,
                given_flag(promote_integers))


@adaptive("integers", (1, 2, 3, 6))
def _prod(a, axis, dtype, keepdims, initial, where, promote_integers):
    a, result, weak = _prepared("prod", a, dtype, promote_integers)
    axes, names = split_axes(axis, len(shape_of(a)))
    if names:
        raise NotImplementedError(f"prod: axis={axis} names a mapped axis, and there is no product over these; sum logarithms, or use lax.all_gather")
    a = _masked("prod", a, where, _like(a, 1))
    shape = shape_of(a)
    out = (lax.reduce_and if result == np.bool_ else lax.reduce_prod)(a, axes) if axes else a
    if initial is not None:
        check_arraylike("prod", initial)
        out = lax.mul(*promote_pair(out, initial))
    return _kept(convert(out, result, weak), shape, axes, keepdims)


def prod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: bool = True) -> Array:
    """Product of elements over axes; arguments as for `sum`. Source: `numpy.prod`.

    >>> jnp.prod(jnp.array([2, 3, 4]))
    Array(24, dtype=int32)
    """
    refuse_out("prod", out)
    return _prod(a, given_axes(axis, named=True), dtype_argument(dtype, "prod"), given_flag(keepdims), initial, where,
                 given_flag(promote_integers))


# -- extremes ----------------------------------------------------------------------------------------------------------

def identity_of_max(dtype: np.dtype) -> Any:
    """The lowest value; of complex numbers without imaginary part."""
    return dtype.type(-np.inf) if dtype.kind == "c" else lowest(dtype)


def identity_of_min(dtype: np.dtype) -> Any:
    """The highest value, as `identity_of_max`."""
    return dtype.type(np.inf) if dtype.kind == "c" else highest(dtype)


def _shift(a, axes):
    return shift_p.bind(a, axes=tuple(axes), out_sharding=None)


@adaptive("integers", (0, 2, 3))
def _extreme(name, a, axis, keepdims, initial, where):
    check_arraylike(name, a)
    a = narrowed(strong(unwrapped(a)))
    largest = name != "min"
    shape = shape_of(a)
    axes, names = split_axes(axis, len(shape))
    if where is not None and initial is None:
        raise ValueError(f"jax.numpy.{name}: where may leave no element, and {name} of none has no value; pass initial")
    if initial is None and 0 in [shape[i] for i in axes]:
        raise ValueError(f"jax.numpy.{name}: {name} of no elements has no value (shape {tuple(shape)}, axis={axis}); pass initial")
    dtype = lax.dtype(a)
    check_numbers(name, dtype)
    if where is not None:
        a = _masked(name, a, where, (identity_of_max if largest else identity_of_min)(dtype))
        shape = shape_of(a)
    reduce = {"max": lax.reduce_max, "min": lax.reduce_min, "shift": _shift}[name]
    out = reduce(a, axes) if axes else a
    if names:
        out = (lax.pmax if largest else lax.pmin)(as_array(out), names)
    if initial is not None and name != "shift":  # which reduces from -inf anyway; one more operation keeps XLA from fusing it
        check_arraylike(name, initial)
        out = (lax.max if largest else lax.min)(*promote_pair(out, initial))
    return _kept(out, shape, axes, keepdims)


def shift(a: Array, axis: object, where: object = None, keepdims: bool = True) -> Array:
    """`max` with ``initial`` -inf, as softmax and its like subtract it; it may miss NaN (`lax.reduce.shift_p`)."""
    return _extreme("shift", a, given_axes(axis, named=True), keepdims, -np.inf, where)


def max(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None) -> Array:
    """The largest element over axes; NaN if there is one. Ties share the gradient.

    Args:
      a: array; complex numbers are ordered by real part, then imaginary part.
      axis, keepdims: as for `sum`.
      out: must be None.
      initial: a number that takes part; needed where no element does.
      where: elements where it is false are left out; needs ``initial``.

    Raises:
      ValueError: nothing to reduce and no ``initial``.

    Source: `numpy.max`.

    >>> jnp.max(jnp.array([[1, 5], [7, 2]]), axis=0)
    Array([7, 5], dtype=int32)
    """
    refuse_out("max", out)
    return _extreme("max", a, given_axes(axis, named=True), given_flag(keepdims), initial, where)


def min(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None) -> Array:
    """The smallest element over axes; arguments as for `max`. Source: `numpy.min`.

    >>> jnp.min(jnp.array([[1, 5], [7, 2]]), axis=1, keepdims=True)
    Array([[1],
           [2]], dtype=int32)
    """
    refuse_out("min", out)
    return _extreme("min", a, given_axes(axis, named=True), given_flag(keepdims), initial, where)


amax, amin = max, min


@inlined(static_argnames=("axis", "out", "keepdims"), lists=("axis",))
def minmax(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
           initial: ArrayLike | None = None, where: ArrayLike | None = None) -> tuple[Array, Array]:
    """The pair of `min` and `max`.

    Args:
      axis, out, keepdims, initial, where: as for `max`.

    >>> jnp.minmax(jnp.array([3, 9, 4]))
    (Array(3, dtype=int32), Array(9, dtype=int32))
    """
    return (min(a, axis, out, keepdims, initial, where), max(a, axis, out, keepdims, initial, where))


@inlined(static_argnames=("axis", "out", "keepdims"), lists=("axis",))
def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """Difference between the largest and the smallest element.

    Args:
      axis, out, keepdims: as for `sum`.

    Source: `numpy.ptp`.

    >>> jnp.ptp(jnp.array([3, 9, 4]))
    Array(6, dtype=int32)
    """
    refuse_out("ptp", out)
    check_arraylike("ptp", a)
    return lax.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


# -- truth -------------------------------------------------------------------------------------------------------------

@adaptive("integers", (0, 2, 3))
def _truth(name, a, axis, keepdims, where):
    check_arraylike(name, a)
    axes, names = split_axes(axis, len(shape_of(a)))
    a = _masked(name, truth(strong(unwrapped(a))), where, np.bool_(name == "all"))
    shape = shape_of(a)
    out = (lax.reduce_and if name == "all" else lax.reduce_or)(a, axes) if axes else a
    if names:
        out = (lax.pmin if name == "all" else lax.pmax)(as_array(out), names)
    return _kept(out, shape, axes, keepdims)


def all(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *,
        where: ArrayLike | None = None) -> Array:
    """Whether all elements over axes are true (not zero). Arguments as for `sum`. Source: `numpy.all`.

    >>> jnp.all(jnp.array([[1, 1], [1, 0]]), axis=1)
    Array([ True, False], dtype=bool)
    """
    refuse_out("all", out)
    return _truth("all", a, given_axes(axis, named=True), given_flag(keepdims), where)


def any(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *,
        where: ArrayLike | None = None) -> Array:
    """Whether any element over axes is true (not zero). Arguments as for `sum`. Source: `numpy.any`.

    >>> jnp.any(jnp.array([[0, 0], [1, 0]]), axis=1)
    Array([False,  True], dtype=bool)
    """
    refuse_out("any", out)
    return _truth("any", a, given_axes(axis, named=True), given_flag(keepdims), where)


@inlined(static_argnames=("axis", "keepdims"))
def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Number of elements that are not zero, over axes, as the default integer.

    Args:
      axis, keepdims: as for `sum`.

    Source: `numpy.count_nonzero`.

    >>> jnp.count_nonzero(jnp.array([0, 3, 0, 5]))
    Array(2, dtype=int32)
    """
    check_arraylike("count_nonzero", a)
    nonzero = a if lax.dtype(a) == np.bool_ else not_equal(a, 0)
    return sum(nonzero, axis=axis, dtype=dtypes.default_int_dtype(), keepdims=keepdims)


# -- means and variances -----------------------------------------------------------------------------------------------

def _size(shape: tuple, axes: tuple, names: tuple) -> int:
    return math.prod(shape[i] for i in axes) * (lax.axis_size(names) if names else 1)


def _mean_core(name, a, axis, dtype, keepdims, where):
    a = strong(unwrapped(a))
    own, weak = own_dtype(a)
    result = _to_inexact(own) if dtype is None else dtype
    if dtype is not None and not dtypes.issubdtype(dtype, np.inexact):
        result = dtype
    compute = np.dtype(np.float32) if dtype is None and result in _NARROW else _to_inexact(result)
    if dtypes.issubdtype(own, np.complexfloating) and not dtypes.issubdtype(compute, np.complexfloating):
        warn_of_lost_part(own, compute)
        a = lax.real(a)
    weak = weak and dtype is None
    a = convert(a, compute, weak)
    shape = shape_of(a)
    axes, names = split_axes(axis, len(shape))
    if where is not None:
        where = given_mask(name, where, shape)
        a = select(where, a, _like(a, 0))
    total = _added(a, axes, names)
    if where is None:
        count = _like(a, _size(shape, axes, names))
    else:
        count = _added(lax.convert_element_type(where, compute), axes, names)
    return _kept(convert(lax.div(total, count), result, weak), shape, axes, keepdims)


@inlined(static_argnums=(0, 2, 3, 4))
def _mean(name, a, axis, dtype, keepdims, where):
    check_arraylike(name, a)
    return _mean_core(name, a, axis, dtype, keepdims, where)


def mean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, keepdims: bool = False, *,
         where: ArrayLike | None = None) -> Array:
    """Arithmetic mean over axes; NaN of no elements.

    Args:
      a: array.
      axis, keepdims, where: as for `sum`.
      dtype: of the result; by default that of ``a``, a float dtype for integers.
      out: must be None.

    Source: `numpy.mean`.

    >>> jnp.mean(jnp.array([[1., 2.], [3., 6.]]), axis=0)
    Array([2., 4.], dtype=float32)
    """
    refuse_out("mean", out)
    return _mean("mean", a, given_axes(axis, named=True), dtype_argument(dtype, "mean"), given_flag(keepdims), where)


@overload
def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: Literal[False] = False,
            keepdims: bool = False) -> Array: ...
@overload
def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, *, returned: Literal[True],
            keepdims: bool = False) -> tuple[Array, Array]: ...
def average(a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False,
            keepdims: bool = False) -> Array | tuple[Array, Array]:
    """Weighted mean over axes.

    Args:
      a: array.
      axis, keepdims: as for `sum`.
      weights: of the shape of ``a``, or of its lengths along ``axis``; equal weights if None.
      returned: return also the sum of the weights, in the shape of the result.

    Raises:
      ValueError: the shape of ``weights`` does not fit.

    Source: `numpy.average`.

    >>> jnp.average(jnp.array([1., 5.]), weights=jnp.array([3., 1.]))
    Array(2., dtype=float32)
    """
    check_arraylike("average", a)
    axis, returned, keepdims = given_axes(axis), given_flag(returned), given_flag(keepdims)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        if not returned:
            return result
        shape = shape_of(a)
        count = lax.full_like(result, _size(shape, canonical_axes(axis, len(shape)), ()))
        return result, count
    check_arraylike("average", weights)
    a, weights = (convert(unwrapped(x), _to_inexact(_joined(a, weights))) for x in (a, weights))
    a, weights = as_array(a), as_array(weights)
    if dtypes.finfo(a.dtype).bits < 32:  # sums leave the range of halves of a float
        wide = average(convert(a, FLOAT32), axis, convert(weights, FLOAT32), returned=True, keepdims=keepdims)
        result, total = (convert(x, a.dtype) for x in wide)
        return (result, total) if returned else result
    weights = _aligned_weights(a, weights, axis)
    result = lax.div(sum(lax.mul(*broadcast_together((a, weights), a.shape)), axis, keepdims=keepdims),
                     sum(broadcast_to(weights, a.shape), axis, keepdims=keepdims))
    if returned:
        total = sum(broadcast_to(weights, a.shape), axis, keepdims=keepdims)
        return result, broadcast_to(total, result.shape)
    return result


def _joined(*args):
    return joined(*args)[0]


def _aligned_weights(a, weights, axis):
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise ValueError(f"1D weights expected when shapes of a and weights differ; got {a.shape} and {weights.shape} "
                         "without an axis.")
    axes = canonical_axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ValueError(f"Length of weights not compatible with specified axis: weights {weights.shape}, array {a.shape}, "
                         f"axis {axis}.")
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    weights = lax.transpose(weights, tuple(order))
    return lax.reshape(weights, tuple(n if i in axes else 1 for i, n in enumerate(a.shape)))


@inlined(static_argnums=(0, 2, 3, 5))
def _variance(name, a, axis, dtype, ddof, keepdims, where, mean):
    check_arraylike(name, a)
    a = unwrapped(a)
    own, weak = own_dtype(a)
    result = dtypes.to_floating_dtype(_to_inexact(own)) if dtype is None else _float_for(dtype)
    compute = _to_inexact(own) if dtype is None else _variance_dtype(own, dtype)
    if compute in _NARROW:
        compute = np.dtype(np.float32)
    a = convert(a, compute, weak and dtype is None)
    shape = shape_of(a)
    where = given_mask(name, where, shape)
    axes, names = split_axes(axis, len(shape))
    center = _mean_core(name, a, axes + names, compute, True, where) if mean is None else convert(unwrapped(mean), compute)
    distance = lax.sub(*broadcast_together((a, center), shape))
    if where is not None:  # before it is squared: a NaN that is left out is none in the derivative either
        distance = select(where, distance, _like(distance, 0))
    if dtypes.issubdtype(compute, np.complexfloating):
        squares = lax.add(lax.square(lax.real(distance)), lax.square(lax.imag(distance)))
    else:
        squares = lax.square(distance)
    total = _added(squares, axes, names)
    count = _degrees_of_freedom(shape, axes, names, where, ddof, np.dtype(lax.dtype(total)))
    if isinstance(count, np.generic):
        count = count if count > 0 else count.dtype.type(np.nan)
    else:
        count = select(lax.gt(count, _like(count, 0)), count, _like(count, np.nan))
    out = lax.div(total, count)  # by NaN: the derivative is NaN too
    if name == "std":
        out = lax.sqrt(out)
    return _kept(convert(out, result), shape, axes, keepdims)


def _float_for(dtype):
    """The dtype of a result that ``dtype`` was asked for: for integers the default one."""
    return _to_inexact(dtype) if dtypes.issubdtype(dtype, np.inexact) else dtypes.default_float_dtype()


def _variance_dtype(own, dtype):
    if dtypes.issubdtype(own, np.complexfloating) and not dtypes.issubdtype(dtype, np.complexfloating):
        raise ValueError(f"jnp.var and jnp.std of complex numbers need a complex dtype, got {dtype}; leave dtype out for a real result")
    return dtypes.common_dtype(_to_inexact(own), dtype) if dtypes.issubdtype(dtype, np.inexact) else _to_inexact(own)


def _degrees_of_freedom(shape, axes, names, where, ddof, dtype):
    if where is None and isinstance(ddof, (int, float, np.generic)):
        return dtype.type(_size(shape, axes, names) - ddof)
    if where is None:
        return lax.sub(dtype.type(_size(shape, axes, names)), convert(unwrapped(ddof), dtype))
    count = _added(lax.convert_element_type(where, dtype), axes, names)
    return lax.sub(count, convert(unwrapped(ddof), dtype))


def _ddof(name, ddof, correction):
    if correction is not None and not (isinstance(ddof, int) and ddof == 0):
        raise ValueError(f"jnp.{name}: ddof and correction can't be provided simultaneously.")
    found = ddof if correction is None else correction
    if found is None or isinstance(found, (list, tuple)):
        raise ValueError(f"jnp.{name}: ddof must be a number, got {found!r}")
    return found


def var(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0,
        keepdims: bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None,
        correction: int | float | None = None) -> Array:
    """Variance over axes: the mean of squared distances from the mean.

    Args:
      a: array; of complex numbers, the squared moduli are taken.
      axis, keepdims, where: as for `sum`.
      dtype: of the result.
      out: must be None.
      ddof: the divisor is the number of elements less ``ddof``; NaN where it is not positive.
      mean: the mean, if it is known, with reduced axes kept.
      correction: another name for ``ddof``.

    Source: `numpy.var`.

    >>> jnp.var(jnp.array([1., 3., 5.]))
    Array(2.6666667, dtype=float32)
    """
    refuse_out("var", out)
    return _variance("var", a, given_axes(axis, named=True), dtype_argument(dtype, "var"), _ddof("var", ddof, correction),
                     given_flag(keepdims), where, mean)


def std(a: ArrayLike, axis: Axis = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0,
        keepdims: bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None,
        correction: int | float | None = None) -> Array:
    """Standard deviation: the square root of `var`, with the same arguments. Source: `numpy.std`.

    Raises:
      ValueError: ``dtype`` is neither floating nor complex.

    >>> jnp.std(jnp.array([1., 3.]), ddof=1)
    Array(1.4142135, dtype=float32)
    """
    refuse_out("std", out)
    if not dtypes.issubdtype(dtype_argument(float if dtype is None else dtype, "std"), np.inexact):
        raise ValueError(f"dtype argument to jnp.std must be inexact; got {dtype}")
    return _variance("std", a, given_axes(axis, named=True), dtype_argument(dtype, "std"), _ddof("std", ddof, correction),
                     given_flag(keepdims), where, mean)
