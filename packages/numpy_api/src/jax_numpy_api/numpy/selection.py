"""Choosing elements: by condition (`where`, `select`, `nonzero`, ...), and putting, inserting and deleting them.

The number of elements that satisfy a condition is not known while tracing, so functions whose result has that length take
``size``: the result is cut off there, or filled up with ``fill_value``.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.configuration import context, flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors, splits
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike
from jax_core.traces.trace import EVAL
from jax_core.transformations.vmap import vmap

from .. import lax
from . import arithmetic
from .broadcasting import broadcast_shapes, broadcast_to as _fitted
from .indexing import getitem, update_value, write
from .joining import stack
from .promotion import (
    as_array,
    broadcast_to,
    canonical_axis,
    check_arraylike,
    concrete,
    convert,
    from_numpy,
    given_size,
    joined,
    promote_dtypes,
    refuse_out,
    several_axes,
    shape_of,
    strong,
    unwrapped,
)
from .rows import NUMBERS, Static, adaptive, operand
from .shaping import moveaxis, ravel, resize
from .sorting import argsort, searchsorted, sort
from .taking import take, take_along_axis
from .ufuncs import truth

# -- where -------------------------------------------------------------------------------------------------------------

@adaptive("always")
def _where(condition, x, y):
    check_arraylike("where", condition, x, y)
    return arithmetic.where(condition, x, y)


def where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, /, *, size: int | None = None,
          fill_value: ArrayLike | None = None) -> Any:
    """``x`` where ``condition`` holds, else ``y``; with ``condition`` alone, the positions where it holds.

    Args:
      condition: array; elements that are not zero count as true.
      x, y: arrays, promoted to one dtype; all three are broadcast.
      size, fill_value: as for `nonzero`, where ``x`` and ``y`` are left out.

    Raises:
      ValueError: only one of ``x`` and ``y``. TypeError: shapes that do not broadcast.

    Source: `numpy.where`.

    >>> x = jnp.array([-1., 2., -3.])
    >>> jnp.where(x > 0, x, 0.)
    Array([0., 2., 0.], dtype=float32)
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise TypeError(f"jax.numpy.where: {'x' if x is None else 'y'} is missing; give x and y to choose between, or neither "
                         "for the places where condition holds")
    if size is not None or fill_value is not None:
        raise ValueError("jax.numpy.where: size and fill_value go with where(condition) alone; leave them out, or x and y")
    if context.state.trace is EVAL:
        x = operand(x, condition) if type(x) in NUMBERS else x
        y = operand(y, condition) if type(y) in NUMBERS else y
    return _where(condition, x, y)


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Array:
    """For each element the choice of the first condition that holds, else ``default``.

    Args:
      condlist: sequence of conditions: booleans, or numbers, of which all but 0 hold.
      choicelist: sequence of as many arrays; all are promoted and broadcast.
      default: array or number.

    Raises:
      ValueError: no conditions, or different numbers of them.

    Source: `numpy.select`, which takes boolean conditions alone.

    >>> x = jnp.arange(4)
    >>> jnp.select([x < 1, x < 3], [x, 10 * x], default=-1)
    Array([ 0, 10, 20, -1], dtype=int32)
    """
    if len(condlist) != len(choicelist):
        raise ValueError(f"jax.numpy.select: {len(condlist)} conditions for {len(choicelist)} choices; give one for each")
    if len(condlist) == 0:
        raise ValueError("jax.numpy.select: condlist is empty; give one condition at least")
    if len(condlist) > _MANY and isinstance(condlist, (Array, np.ndarray)) and isinstance(choicelist, (Array, np.ndarray)):
        return _select_row(condlist, choicelist, default)
    *choices, default = promote_dtypes(*choicelist, default)
    result = default
    for condition, choice in reversed(list(zip(condlist, choices))):
        result = where(condition, choice, result)
    return as_array(result)


_MANY = 32  # conditions, from which on code for each takes longer to compile than a search among them


def _select_row(conditions, choices, default):
    """`select` for arrays of conditions and of choices: of those in a place, the choice with the number of the first condition that holds."""
    choices, default = promote_dtypes(choices, default)
    conditions = truth(conditions)
    shape = broadcast_shapes(np.shape(conditions)[1:], np.shape(choices)[1:], np.shape(default))
    every = [_fitted(x.reshape(len(x), *[1] * (len(shape) + 1 - x.ndim), *x.shape[1:]), (len(x), *shape)) for x in (conditions, choices)]
    first = lax.argmax(every[0], 0, np.int32)[None]
    chosen, holds = take_along_axis(every[1], first, 0)[0], lax.reduce_or(every[0], (0,))
    return where(holds, chosen, default)


def limited(index: ArrayLike, n: int, mode: str, name: str, what: str) -> Any:
    """``index`` brought into ``range(n)`` as ``mode`` says, for the function ``name`` that calls its argument ``what``.

    Raises:
      ValueError: with mode "raise", an index is out of bounds; another mode than "raise", "wrap", "clip".
      ConcretizationTypeError: with mode "raise", the index is traced.
    """
    if mode == "raise":
        known = concrete(index)
        if known is None:
            raise errors.ConcretizationTypeError(index, f"jax.numpy.{name}: mode='raise' looks at the values of the index, which are "
                                                 "not known while tracing; pass mode='wrap' or mode='clip'")
        if known.size and (known.min() < 0 or known.max() >= n):
            raise ValueError(f"invalid entry in {what}")
        return index
    if mode == "wrap":
        return arithmetic.remainder(index, n)
    if mode == "clip":
        return arithmetic.clip(index, 0, n - 1)
    raise ValueError(f"{name}: mode={mode!r} not understood. Must be 'raise', 'wrap', or 'clip'")


_FEW = 8  # so many comparisons in one loop are faster than a gather from what is first put together


def choose(a: ArrayLike, choices: ArrayLike | Sequence[ArrayLike], out: None = None, mode: str = "raise") -> Array:
    """For each element ``a[i]`` the element of ``choices[a[i]]`` at its place.

    Args:
      a: integers.
      choices: array, or sequence of arrays that broadcast.
      out: must be None.
      mode: "raise" (outside of tracing only), "wrap" or "clip", for numbers out of range.

    Raises:
      ValueError: ``choices`` is a number, or ``a`` does not hold integers.

    Source: `numpy.choose`.

    >>> jnp.choose(jnp.array([1, 0]), [jnp.array([1, 2]), jnp.array([10, 20])])
    Array([10,  2], dtype=int32)
    """
    refuse_out("choose", out)
    given: Any = choices
    if isinstance(choices, (list, tuple)):
        check_arraylike("choose", a, *choices)
        given = promote_dtypes(*choices)
    else:
        check_arraylike("choose", a, choices)
        if not shape_of(given):
            raise ValueError(f"choose: choices must be a sequence of arrays, got the number {choices}")
    if not dtypes.issubdtype(dtypes.dtype(a), np.integer):
        raise ValueError("jax.numpy.choose: a must hold integers, the numbers of the choices")
    index = convert(as_array(limited(a, len(given), mode, "choose", "choice array")), np.dtype(np.int32))
    if len(given) <= _FEW:
        given = [given[i] for i in range(len(given))]
        shape = joint_shape(shape_of(index), *(shape_of(c) for c in given))
        return lax.select_n(broadcast_to(index, shape), *[broadcast_to(strong(as_array(c)), shape) for c in given])
    if isinstance(given, list):
        common = joint_shape(*(shape_of(c) for c in given))
        given = stack([broadcast_to(as_array(c), common) for c in given])
    return _chosen(index, strong(as_array(given)))


def _chosen(index: Any, choices: Any) -> Any:
    """``choices[index[i...], i...]``, where either is broadcast along ``i``; nothing larger than the result is made on the way."""
    own = choices.shape[1:]
    shape = joint_shape(index.shape, own)
    places: list[Any] = [0 if n == 1 else lax.broadcasted_iota(np.int32, (n,) + (1,) * (len(own) - 1 - axis), 0) for axis, n in enumerate(own)]
    return broadcast_to(getitem(choices, (index, *places)), shape)


def piecewise(x: ArrayLike, condlist: ArrayLike | Sequence[ArrayLike],
              funclist: list[ArrayLike | Callable[..., ArrayLike]], *args: Any, **kw: Any) -> Array:
    """For each element the function (or number) of the last condition that holds; one more is the default, else 0.

    Args:
      x: array.
      condlist: boolean arrays, which broadcast with ``x``; an array is a sequence of them where there are functions for its rows,
        and else one condition.
      funclist: functions of one element, or numbers.
      args, kw: further arguments of the functions.

    Raises:
      ValueError: numbers of conditions and functions that do not fit, shapes that do not broadcast. TypeError: what is
        neither a function nor a scalar, or a result that is no scalar.

    Source: `numpy.piecewise`.

    >>> x = jnp.array([-1., 2.])
    >>> jnp.piecewise(x, [x < 0], [lambda v: -v, lambda v: 10 * v])
    Array([ 1., 20.], dtype=float32)
    """
    check_arraylike("piecewise", x)
    x = strong(as_array(x))
    given: Any = condlist
    functions: list[Any] = list(funclist)
    if isinstance(given, (list, tuple)):
        rows = given
    else:
        shape = shape_of(given)
        rows = list(given) if shape and (len(shape) > x.ndim or len(functions) - shape[0] in (0, 1)) else [given]
    if len(functions) == len(rows):
        functions.append(0)
    elif len(functions) != len(rows) + 1:
        raise ValueError(f"with {len(rows)} condition(s), either {len(rows)} or {len(rows) + 1} functions "
                         f"are expected; got {len(functions)}")
    for f in functions:
        if not callable(f):
            check_arraylike("piecewise", f)
            if shape_of(f):
                raise TypeError(f"jax.numpy.piecewise: funclist takes functions and scalars, got an array of shape {shape_of(f)}")
    conditions = [as_array(c) for c in rows]
    if any(c.shape != x.shape for c in conditions):
        x = broadcast_to(x, broadcast_shapes(x.shape, *[c.shape for c in conditions]))
    if not x.size:
        return x
    which = _last_that_holds(conditions, x)
    if not any(map(callable, functions)):
        return _numbered(which, x, functions)
    numbers = [f for f in functions if not callable(f)]
    kinds = (*[f if callable(f) else None for f in functions],)
    if args or kw or None in [type(f).__hash__ for f in kinds]:
        return _by_pieces(which, x, kinds, numbers, args, kw)
    return _by_known_pieces(which, x, kinds, numbers)


@inlined(static_argnums=(2,))
def _by_known_pieces(which, x, functions, numbers):
    """One compiled call for the same functions."""
    return _by_pieces(which, x, functions, numbers, (), {})


def _by_pieces(which, x, functions, numbers, args, kw):
    """``functions[which](x)``, where the next of the ``numbers`` stands for a function that is None."""
    rest = iter(numbers)
    branches = [_branch(next(rest) if f is None else f, x.dtype, args, kw) for f in functions]
    each: Callable = lambda i, v: lax.switch(i, branches, v)
    for _ in x.shape:
        each = vmap(each)
    return each(which, x)


@inlined()
def _last_that_holds(conditions, x):
    which = lax.full(x.shape, len(conditions), np.int32)
    for i, condition in enumerate(conditions):
        which = arithmetic.select(broadcast_to(truth(condition), x.shape), np.int32(i), which)
    return which


@inlined()
def _numbered(which, x, numbers):
    return lax.select_n(which, *[lax.full_like(x, number) for number in numbers])


def _branch(fun, dtype, args, kw):
    return (lambda v: as_array(fun(v, *args, **kw)).astype(dtype)) if callable(fun) else (lambda v: lax.full_like(v, fun))


# -- positions of what is not zero -------------------------------------------------------------------------------------

def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None) -> tuple:
    """Positions of the elements that are not zero, one array an axis.

    Args:
      a: array of rank 1 or more.
      size: length of the results; needed while tracing.
      fill_value: what fills the results up; a number, or one an axis. 0 by default. One that is no integer makes floats of the positions.

    Raises:
      ConcretizationTypeError: tracing without ``size``. ValueError: a number, or an array that is split over mesh axes.

    Source: `numpy.nonzero`.

    >>> jnp.nonzero(jnp.array([0, 3, 5]))
    (Array([1, 2], dtype=int32),)
    >>> jnp.nonzero(jnp.array([0, 3, 5]), size=3, fill_value=-1)
    (Array([ 1,  2, -1], dtype=int32),)
    """
    check_arraylike("nonzero", a)
    a = as_array(a)
    if a.ndim == 0:
        raise ValueError("jax.numpy.nonzero: a scalar has no positions; pass jnp.atleast_1d(a)")
    if fill_value is not None and not isinstance(fill_value, (tuple, list)):
        check_arraylike("nonzero", fill_value)
        if shape_of(fill_value):
            raise ValueError(f"jax.numpy.nonzero: fill_value must be a number, or a tuple of one an axis, got shape {shape_of(fill_value)}")
    if any([e is not None for e in splits.entries(get_aval(a))]):
        raise ValueError(f"nonzero: {get_aval(a).str_short()} is split over mesh axes, and positions are found in whole arrays; reshard it first")
    known = concrete(a)
    if size is None:
        if known is None:
            raise errors.ConcretizationTypeError(
                a, "jax.numpy.nonzero: the length of the result is the number of nonzero elements, which is not known while "
                "tracing; pass the length as size")
        return tuple(from_numpy(p.astype(dtypes.default_int_dtype()), a) for p in np.nonzero(known))
    return _nonzero(a, given_size("nonzero", size), fill_value)


def _nonzero(a, size, fill_value):
    """Counts of true elements so far tell each output where its element is: a search, which needs no scatter."""
    dtype = dtypes.default_int_dtype()
    if a.size == 0 or size == 0:
        fills = _fills(fill_value, a.ndim, dtype)
        return tuple(broadcast_to(as_array(f), (size,)) for f in fills)
    mask = truth(lax.reshape(a, (a.size,)))
    counts = lax.cumsum(lax.convert_element_type(mask, np.int32))
    wanted = lax.add(lax.iota(np.int32, size), np.int32(1))
    flat = convert(searchsorted(counts, wanted), dtype)
    missing = lax.gt(wanted, counts[-1])
    out, rest = [], flat
    for n in reversed(a.shape):
        out.append(arithmetic.remainder(rest, n))
        rest = arithmetic.floor_divide(rest, n)
    fills = _fills(fill_value, a.ndim, dtype)
    return tuple(arithmetic.select(missing, f, convert(p, f.dtype)) for f, p in zip(fills, reversed(out)))


def _fills(fill_value, ndim, dtype):
    if fill_value is None:
        return [dtype.type(0)] * ndim
    if isinstance(fill_value, (tuple, list)):
        if len(fill_value) != ndim:
            raise ValueError(f"fill_value must have one entry for each of {ndim} axes, got {fill_value}")
        return [_fill(f, dtype) for f in fill_value]
    return [_fill(fill_value, dtype)] * ndim


def _fill(value, dtype):
    """``value`` in the dtype of positions; a fraction or a complex number, which that does not hold, makes all of them such numbers."""
    value = unwrapped(value)
    exact = not dtypes.issubdtype(dtypes.dtype(value), np.inexact)
    return convert(value, dtype if exact else joined(value, dtype.type(0))[0])


def flatnonzero(a: ArrayLike, *, size: int | None = None,
                fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None) -> Array:
    """Positions of the elements of the flattened array that are not zero.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.flatnonzero`.

    >>> jnp.flatnonzero(jnp.array([[0, 1], [2, 0]]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Positions of the elements that are not zero, one row each.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.argwhere`.

    >>> jnp.argwhere(jnp.array([[0, 1], [2, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    check_arraylike("argwhere", a)
    a = as_array(a)
    if a.ndim == 0:
        found = nonzero(a.reshape(1), size=size, fill_value=fill_value)[0]
        return lax.full((found.shape[0], 0), 0, found.dtype)
    return stack(nonzero(a, size=size, fill_value=fill_value), 1)


# -- elements by condition ---------------------------------------------------------------------------------------------

def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, *, size: int | None = None,
             fill_value: ArrayLike = 0, out: None = None) -> Array:
    """The slices of ``a`` along an axis at which ``condition`` holds.

    Args:
      condition: vector of booleans, no longer than the axis.
      a: array.
      axis: None for the flattened array.
      size: length of the result along the axis; needed while tracing.
      fill_value: what fills it up.
      out: must be None.

    Raises:
      ValueError: ``condition`` is no vector, or holds beyond the end of the axis; ``size`` exceeds its length.

    Source: `numpy.compress`.

    >>> jnp.compress(jnp.array([True, False, True]), jnp.array([4, 5, 6]))
    Array([4, 6], dtype=int32)
    """
    refuse_out("compress", out)
    check_arraylike("compress", condition, a)
    condition = truth(as_array(condition))
    if condition.ndim != 1:
        raise ValueError("jax.numpy.compress: condition must be a vector")
    a, axis = (ravel(a), 0) if axis is None else (as_array(a), canonical_axis(axis, len(shape_of(a))))
    n = a.shape[axis]
    if condition.shape[0] > n:
        extra = concrete(condition)
        if extra is not None and extra[n:].any():
            raise ValueError("jax.numpy.compress: condition is true beyond the end of the axis")
        condition = condition[:n]
    if size is None:
        return take(a, nonzero(condition)[0], axis)
    size = given_size("compress", size)
    if size > len(condition):
        raise ValueError(f"jax.numpy.compress: size={size} exceeds the {len(condition)} entries of condition along axis {axis} of "
                         f"shape {a.shape}")
    return first_kept(condition, a, axis, size, fill_value)


def first_kept(condition: Array, a: Array, axis: int, size: int, fill_value: ArrayLike) -> Array:
    """The first ``size`` slices of ``a`` at which ``condition``, as long as the axis, holds; then ``fill_value``."""
    n = a.shape[axis]
    if n == 0:
        return lax.full((*a.shape[:axis], size, *a.shape[axis + 1:]), fill_value, a.dtype)
    positions = nonzero(condition, size=size, fill_value=n)[0]
    if concrete(fill_value) is not None:
        return take(a, positions, axis, mode="fill", fill_value=fill_value)
    inside = lax.expand_dims(lax.lt(positions, lax.full_like(positions, n)), [d for d in range(a.ndim) if d != axis])
    return arithmetic.where(inside, take(a, positions, axis, mode="clip"), convert(fill_value, a.dtype))


def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The elements of ``arr`` at which ``condition`` holds, both flattened.

    Args:
      size: how many results there are; the first ones, or filled up. Needed under `jit`.
      fill_value: what fills up.

    Source: `numpy.extract`.

    >>> jnp.extract(jnp.arange(5) > 2, jnp.arange(5))
    Array([3, 4], dtype=int32)
    """
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: int | Sequence[int] | None = None) -> Array:
    """``filt`` without zeros at its ends.

    Args:
      filt: array whose contents are known.
      trim: "f" for the front, "b" for the back, or both.
      axis: axes to trim; all by default.

    Raises:
      ConcretizationTypeError: ``filt`` is traced.
      TypeError: ``trim`` is not a string.

    Source: `numpy.trim_zeros`.

    >>> jnp.trim_zeros(jnp.array([0, 0, 4, 0, 5, 0]))
    Array([4, 0, 5], dtype=int32)
    """
    check_arraylike("trim_zeros", filt)
    known = concrete(filt)
    if known is None:
        raise errors.ConcretizationTypeError(filt, "Error arose in the `filt` argument of trim_zeros(): the length of the "
                                             "result depends on the values.")
    if not isinstance(trim, str):
        raise TypeError(f"trim_zeros: trim must be a string of 'f' and 'b', got {trim!r}")
    trim = trim.lower()
    if known.ndim == 0:
        return as_array(filt)
    axes = range(known.ndim) if axis is None else [canonical_axis(x, known.ndim) for x in several_axes(axis)]
    index = [slice(None)] * known.ndim
    for d in axes:
        alive = np.flatnonzero(np.any(known != 0, axis=tuple(i for i in range(known.ndim) if i != d)))
        first = int(alive[0]) if alive.size else known.shape[d]
        last = int(alive[-1]) + 1 if alive.size else known.shape[d]
        index[d] = slice(first if "f" in trim else 0, last if "b" in trim else known.shape[d])
    return getitem(as_array(filt), tuple(index))


# -- putting -----------------------------------------------------------------------------------------------------------

def _immutable(name: str, inplace: bool, error: type[Exception] = ValueError) -> None:
    if inplace:
        raise error(f"jax.numpy.{name}: arrays never change, so there is no inplace=True; pass inplace=False and take the "
                    "array returned")


def put(a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: bool = True) -> Array:
    """``a`` with values at positions of the flattened array; ``v`` is repeated as needed.

    Args:
      a: array.
      ind: integers.
      v: values.
      mode: for positions out of bounds: "clip" (the first or last element is meant; also for all negative ones) or "wrap". By
        default negative positions count from the end and what is still out of bounds is clipped.
      inplace: must be False.

    Raises:
      ValueError: another mode. NotImplementedError: ``mode="raise"``.

    Source: `numpy.put`.

    >>> jnp.put(jnp.zeros(3), jnp.array([0, 2]), jnp.array([5., 7.]), inplace=False)
    Array([5., 0., 7.], dtype=float32)
    """
    _immutable("put", inplace)
    check_arraylike("put", a, ind, v)
    if mode == "raise":
        raise NotImplementedError("jnp.put: mode='raise' needs values that are not known while tracing; use 'clip' or 'wrap'.")
    if mode not in (None, "clip", "wrap"):
        raise ValueError(f"jnp.put: mode must be 'clip' or 'wrap', got {mode!r}.")
    a, ind, v = as_array(a), ravel(ind), ravel(v)
    if not a.size or not ind.size or not v.size:
        return a
    v = resize(v, ind.shape) if v.size != ind.size else v
    ind = arithmetic.remainder(ind, a.size) if mode == "wrap" else ind
    return write(ravel(a), (ind,), v, "set", mode="clip", wrap=mode is None).reshape(a.shape)


def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """``arr`` with ``vals``, in order and repeated as needed, where ``mask`` holds. ``inplace`` must be False.

    Raises:
      ValueError: ``arr`` and ``mask`` differ in size; ``vals`` is empty; ``inplace`` is not False.

    Source: `numpy.place`.

    >>> jnp.place(jnp.arange(4), jnp.arange(4) > 1, jnp.array([8, 9]), inplace=False)
    Array([0, 1, 8, 9], dtype=int32)
    """
    _immutable("place", inplace)
    check_arraylike("place", arr, mask, vals)
    arr, mask, vals = as_array(arr), truth(as_array(mask)), ravel(vals)
    if arr.size != mask.size:
        raise ValueError("place: arr and mask must be the same size")
    if not vals.size:
        if not arr.size:
            return arr
        raise ValueError("jax.numpy.place: vals is empty; give one value at least")
    order = lax.sub(lax.cumsum(lax.convert_element_type(ravel(mask), np.int32)), np.int32(1))
    chosen = take(update_value(arr, vals, "place", True), arithmetic.remainder(order, vals.size), mode="clip")
    if arr.weak_type:
        chosen = lax.convert_element_type_p.bind(chosen, new_dtype=arr.dtype, weak_type=True, sharding=None)
    return arithmetic.select(ravel(mask), chosen, ravel(arr)).reshape(arr.shape)


def put_along_axis(arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None, inplace: bool = True, *,
                   mode: str | None = None) -> Array:
    """``arr`` with ``values`` at each line's own indices, as `take_along_axis` reads them. ``inplace`` must be False.

    Raises:
      TypeError: indices are not integers.
      ValueError: ``indices`` and ``arr`` differ in rank; ``inplace`` is not False.

    Source: `numpy.put_along_axis`.

    >>> jnp.put_along_axis(jnp.zeros((2, 2)), jnp.array([[0], [1]]), 9., axis=1, inplace=False)
    Array([[9., 0.],
           [0., 9.]], dtype=float32)
    """
    _immutable("put_along_axis", inplace)
    check_arraylike("put_along_axis", arr, indices, values)
    shape = shape_of(arr)
    a, axis = (ravel(arr), 0) if axis is None else (as_array(arr), canonical_axis(axis, len(shape)))
    indices = as_array(indices)
    if not dtypes.issubdtype(indices.dtype, np.integer):
        raise TypeError(f"jax.numpy.put_along_axis: indices must be integers, got {indices.dtype}")
    if a.ndim != indices.ndim:
        raise ValueError(f"jax.numpy.put_along_axis: indices of shape {indices.shape} and arr of shape {a.shape} must have equally many axes; "
                         "give indices an axis of length 1 where they are to be repeated")
    full = tuple(n if i == axis else max(n, m) for i, (n, m) in enumerate(zip(indices.shape, a.shape)))
    index: list[Array | np.ndarray] = []
    for d, n in enumerate(full):
        if d == axis:
            index.append(broadcast_to(indices, full))
        else:
            index.append(np.arange(n).reshape([n if i == d else 1 for i in range(a.ndim)]))
    out = write(a, tuple(index), values, "set", mode=mode)
    return out.reshape(shape)


def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True) -> Array:
    """``a`` with ``val`` on its main diagonal (of all axes). ``inplace`` must be False. Source: `numpy.fill_diagonal`.

    Raises:
      NotImplementedError: ``wrap`` is true; ``inplace`` is not False.
      ValueError: fewer than two axes; more than two of different lengths.

    >>> jnp.fill_diagonal(jnp.zeros((2, 2)), 3., inplace=False)
    Array([[3., 0.],
           [0., 3.]], dtype=float32)
    """
    _immutable("fill_diagonal", inplace, NotImplementedError)
    check_arraylike("fill_diagonal", a, val)
    a, val = as_array(a), unwrapped(val)
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must be an integer")
    if a.ndim < 2:
        raise ValueError(f"jax.numpy.fill_diagonal: a must have two axes or more, got shape {a.shape}")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError(f"jax.numpy.fill_diagonal: with more than two axes all must be equally long, got shape {a.shape}")
    n = min(a.shape)
    values = val if np.ndim(val) == 0 else take(ravel(val), np.arange(n) % max(np.size(val), 1))
    where_ = (np.arange(n),) * a.ndim
    return write(a, where_, values, "set")


# -- inserting and deleting --------------------------------------------------------------------------------------------

def delete(arr: ArrayLike, obj: ArrayLike, axis: int | None = None, *, assume_unique_indices: bool = False) -> Array:
    """``arr`` without the slices at some positions of an axis.

    Args:
      arr: array.
      obj: an integer, a slice, integers or booleans; may be traced if it is an integer, or with
        ``assume_unique_indices``.
      axis: None for the flattened array.
      assume_unique_indices: no position comes twice, so that the length of the result is known.

    Raises:
      IndexError: a position out of bounds. ConcretizationTypeError: traced positions that may repeat.

    Source: `numpy.delete`.

    >>> jnp.delete(jnp.arange(4), 1)
    Array([0, 2, 3], dtype=int32)
    """
    check_arraylike("delete", arr)
    a, axis = (ravel(arr), 0) if axis is None else (as_array(arr), canonical_axis(axis, len(shape_of(arr))))
    n = a.shape[axis]
    if isinstance(obj, slice):
        keep = np.delete(np.arange(n), obj)
        return take(a, keep, axis)
    if isinstance(obj, (list, tuple)):
        raise TypeError(f"delete requires ndarray or scalar arguments, got {type(obj)} at position 1; use an array.")
    check_arraylike("delete", obj)
    known = concrete(obj)
    if known is not None:
        if known.dtype == np.bool_ and known.shape != (n,):
            raise ValueError(f"jax.numpy.delete: a mask obj must be a vector with an entry for each of the {n} positions along the "
                             f"axis, got shape {known.shape}")
        if known.size and known.dtype.kind not in "iub":
            raise ValueError(f"jax.numpy.delete: obj must be integers or booleans, got {known.dtype}; convert it first")
        positions = known if known.size else known.astype(int)
        if (n > _LONG or flags.one_form.value) and positions.size < _MOST_RUNS and positions.dtype.kind in "iu" and np.all((positions >= -n) & (positions < n)):
            cuts = sorted({int(i) % n for i in positions.flat})
            return _runs(a, Static(zip([0, *(i + 1 for i in cuts)], [*cuts, n])), axis)
        return take(a, np.delete(np.arange(n), positions), axis)
    return _delete_traced(a, as_array(obj), axis, assume_unique_indices)


_LONG, _MOST_RUNS = 1 << 12, 8  # few runs of many elements are copied whole, others by their positions


@adaptive("always", (1, 2))
def _runs(a: Array, runs: Sequence[tuple[int, int]], axis: int) -> Array:
    return lax.concatenate([lax.slice_in_dim(a, i, j, axis=axis) for i, j in runs if i < j], axis)


def _delete_traced(a, obj, axis, unique):
    n = a.shape[axis]
    if not dtypes.issubdtype(obj.dtype, np.integer) or obj.ndim and not unique:
        raise errors.ConcretizationTypeError(obj, "Pass assume_unique_indices=True to jnp.delete() to delete several "
                                             "positions that are traced.")
    if obj.size > n:
        raise IndexError(f"jax.numpy.delete: obj names {obj.size} positions, once each, of the {n} along the axis")
    positions = ravel(obj)
    positions = arithmetic.where(lax.lt(positions, np.zeros((), positions.dtype)[()]), positions + n, positions)
    positions = sort(arithmetic.clip(positions, 0, n - 1))
    gaps = lax.sub(positions, lax.iota(positions.dtype, positions.shape[0]))
    left = lax.iota(positions.dtype, n - positions.shape[0])
    source = lax.add(left, convert(searchsorted(gaps, left, side="right"), positions.dtype))
    return take(a, source, axis, mode="clip")


def insert(arr: ArrayLike, obj: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``arr`` with values inserted before some positions of an axis.

    Args:
      arr: array.
      obj: integer, slice or integers; may be traced unless it is a slice.
      values: converted to the dtype of ``arr`` and broadcast.
      axis: None for the flattened array.

    Raises:
      IndexError: a position out of bounds.

    Source: `numpy.insert`.

    >>> jnp.insert(jnp.array([1, 3]), 1, 2)
    Array([1, 2, 3], dtype=int32)
    """
    check_arraylike("insert", arr, 0 if isinstance(obj, slice) else obj, values)
    a, axis = (ravel(arr), 0) if axis is None else (as_array(arr), canonical_axis(axis, len(shape_of(arr))))
    n = a.shape[axis]
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(n))
    index = as_array(obj)
    if index.dtype == np.bool_:
        index = nonzero(index)[0]
    if not dtypes.issubdtype(index.dtype, np.integer):
        raise ValueError(f"jax.numpy.insert: obj must hold integers or booleans, got dtype {index.dtype}")
    if index.ndim > 1:
        raise ValueError(f"jax.numpy.insert: obj must be a position, a vector of positions or a slice, got shape {index.shape}")
    values = as_array(convert(values, a.dtype))
    if index.ndim == 0 and values.ndim:
        values = lax.reshape(values, (1,) * max(0, a.ndim - values.ndim) + values.shape)
        values = moveaxis(values, 0, axis)
    count = index.size if index.ndim and index.size != 1 else (values.shape[axis] if values.ndim == a.ndim else 1)
    values = _fitted(values, a.shape[:axis] + (count,) + a.shape[axis + 1:])
    return _insert_at(a, lax.reshape(index, (index.size,)), values, axis, count)


def _insert_at(a, index, values, axis, count):
    n = a.shape[axis]
    index = convert(index, np.dtype(np.int32))
    index = arithmetic.where(lax.lt(index, np.int32(0)), index + n, index)
    index = lax.clamp(np.int32(0), index, np.int32(n))  # a position beyond the end is the end, as nothing may depend on values
    if index.shape[0] != count:
        index = broadcast_to(index, (count,))
    order = argsort(index)
    spots = lax.add(take(index, order), lax.iota(np.int32, count))
    out_n = n + count
    is_new = lax.full((out_n,), False, np.bool_).at[spots].set(True)
    old_rank = lax.cumsum(lax.convert_element_type(lax.bitwise_not(is_new), np.int32)) - 1
    out = take(a, old_rank, axis, mode="clip") if n else lax.pad(a, lax.convert_element_type_p.bind(
        np.zeros((), a.dtype), new_dtype=a.dtype, weak_type=a.weak_type, sharding=None),
        [(0, out_n, 0) if i == axis else (0, 0, 0) for i in range(a.ndim)])
    where_ = (*[slice(None)] * axis, spots)
    return write(out, where_, take(values, order, axis), "set")
