"""Sorting, and searching in what is sorted.

`searchsorted` is a branchless binary search: the answer is built from its highest bit down, one gather a bit, unrolled,
so that XLA makes one parallel loop of it without intermediate arrays.
"""
from __future__ import annotations

from typing import Any, Sequence, cast

import numpy as np

from jax_core import backends
from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike

from .. import lax
from ..lax.nary import promise
from . import arithmetic
from .promotion import (
    as_array,
    canonical_axis,
    check_arraylike,
    convert,
    evaluating,
    given_flag,
    host,
    promote_dtypes,
    shape_of,
    unwrapped,
)
from .rows import adaptive
from .shaping import flip, ravel
from .taking import take_along_axis
from .ufuncs import _is_inexact


def _check_sort(name: str, kind: Any, order: Any) -> None:
    if kind is not None:
        raise TypeError(f"jax.numpy.{name}: kind={kind!r} is not offered, there is one algorithm; say by stable=True or "
                        "stable=False whether equal elements keep their order")
    if order is not None:
        raise TypeError(f"jax.numpy.{name}: order={order!r} names fields, and arrays have none; leave it out")


def _line(a: Any, axis: Any, name: str) -> tuple[Array, int]:
    check_arraylike(name, a)
    if axis is None:
        return ravel(a), 0
    a = as_array(a)
    return a, canonical_axis(axis, a.ndim)


def sort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
         descending: bool = False) -> Array:
    """``a`` sorted along an axis; NaN last.

    Args:
      a: array.
      axis: None for the flattened array.
      kind, order: must be None.
      stable: whether equal elements keep their order (they do in any case).
      descending: from the largest to the smallest, NaN first.

    Source: `numpy.sort`.

    >>> jnp.sort(jnp.array([[3, 1], [2, 8]]), axis=0)
    Array([[2, 1],
           [3, 8]], dtype=int32)
    """
    few = getattr(a, "size", 0) <= _FEW
    if stable is not True and stable is not None:
        promise("jnp.sort: stable", stable)
    return (_sort_few if few else _sort)(a, axis, kind, order, given_flag(stable), given_flag(descending))


_FEW = 512
"""Elements that a compiled call sorts as fast as the host, with its faster dispatch; 10,000 take 277 us compiled, 177 on the host."""


def _sort(a, axis, kind, order, stable, descending):
    _check_sort("sort", kind, order)
    a, axis = _line(a, axis, "sort")
    out = lax.sort(a, axis, is_stable=stable)
    return flip(out, axis) if descending else out


_sort_few = adaptive("always", (1, 2, 3, 4, 5))(_sort)


@adaptive("always", static_argnames=("axis", "kind", "order", "stable", "descending", "dtype"))
def argsort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: bool = True,
            descending: bool = False, dtype: DTypeLike | None = None) -> Array:
    """The positions that sort ``a`` along an axis; arguments as for `sort`, and the integer dtype of the result.

    Source: `numpy.argsort`.

    >>> jnp.argsort(jnp.array([5, 1, 3]), descending=True)
    Array([0, 2, 1], dtype=int32)
    """
    _check_sort("argsort", kind, order)
    if stable is not True and stable is not None:
        promise("jnp.argsort: stable", stable)
    a, axis = _line(a, axis, "argsort")
    wanted = dtypes.default_int_dtype() if dtype is None else dtypes.canonicalize_user_dtype(dtype, "argsort")
    positions = lax.broadcasted_iota(wanted, a.shape, axis)
    if not descending:
        return lax.sort((a, positions), axis, is_stable=bool(stable), num_keys=1)[1]
    # Reversed before and after, so that equal elements keep their order
    backwards = lax.sort((flip(a, axis), positions), axis, is_stable=bool(stable), num_keys=1)[1]
    return lax.sub(lax.full_like(backwards, a.shape[axis] - 1), flip(backwards, axis))


@adaptive("always")
def sort_complex(a: ArrayLike) -> Array:
    """``a`` as complex numbers, sorted along the last axis by real and then by imaginary part. Source: `numpy.sort_complex`.

    >>> jnp.sort_complex(jnp.array([2j, 1, 1j]))
    Array([0.+1.j, 0.+2.j, 1.+0.j], dtype=complex64)
    """
    check_arraylike("sort_complex", a)
    ordered = sort(a)
    return lax.convert_element_type(ordered, dtypes.to_complex_dtype(ordered.dtype))


@adaptive("always", static_argnames=("axis", "batch_size"))
def lexsort(keys: ArrayLike | Sequence[ArrayLike], axis: int = -1, *, batch_size: int | None = 16) -> Array:
    """The positions that sort by several keys, the last key first.

    Args:
      keys: sequence of arrays of one shape, or an array whose rows are the keys.
      axis: to sort along.
      batch_size: has no meaning here.

    Raises:
      TypeError: there are no keys.
      ValueError: keys of different shapes.

    Source: `numpy.lexsort`.

    >>> jnp.lexsort((jnp.array([1, 0, 1]), jnp.array([0, 0, -1])))
    Array([2, 1, 0], dtype=int32)
    """
    given: Any = keys if isinstance(keys, (list, tuple)) else unwrapped(keys)
    columns = [as_array(k) for k in (given if isinstance(given, (list, tuple)) else [given[i] for i in range(*shape_of(given)[:1])])]
    if not columns:
        raise TypeError("jax.numpy.lexsort: keys is empty; give one key at least")
    if len({k.shape for k in columns}) > 1:
        raise ValueError(f"jax.numpy.lexsort: the keys must have one shape, got {[k.shape for k in columns]}")
    shape = columns[0].shape
    if not shape:
        return lax.full((), 0, dtypes.default_int_dtype())
    axis = canonical_axis(axis, len(shape))
    positions = lax.broadcasted_iota(dtypes.default_int_dtype(), shape, axis)
    return lax.sort((*reversed(columns), positions), axis, num_keys=len(columns))[-1]


def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """``a`` with the element of rank ``kth`` at its place along an axis, none larger before it, none smaller after it.

    Complex numbers are ordered by real part, then imaginary part. As the whole axis is sorted, elements before and after are
    in order too, and equal ones in that of ``a`` (to `argpartition`); other implementations leave them in another order.

    Source: `numpy.partition`; here by sorting.

    >>> jnp.partition(jnp.array([5, 1, 3]), 1)[1]
    Array(3, dtype=int32)
    """
    check_arraylike("partition", a)
    a = as_array(a)
    axis = canonical_axis(axis, a.ndim)
    canonical_axis(kth, a.shape[axis], "kth")
    return sort(a, axis)


@adaptive("always", static_argnames=("kth", "axis"))
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The positions that `partition` takes its elements from.

    Args:
      kth, axis: as for `partition`.

    Source: `numpy.argpartition`.

    >>> jnp.argpartition(jnp.array([5, 1, 3]), 0)[0]
    Array(1, dtype=int32)
    """
    check_arraylike("argpartition", a)
    a = as_array(a)
    axis = canonical_axis(axis, a.ndim)
    canonical_axis(kth, a.shape[axis], "kth")
    return convert(argsort(a, axis), np.dtype(np.int32))


@adaptive("always", (1,), ("axis", "mode", "sorted"))
def top_k(a: ArrayLike, k: int, /, *, axis: int = -1, mode: str = "largest", sorted: bool = True) -> list:
    """The ``k`` largest (or smallest) elements along an axis and their positions.

    Args:
      a: array.
      k: how many.
      axis: along which.
      mode: "largest" or "smallest".
      sorted: whether the result must be sorted (it is in any case).

    Raises:
      ValueError: another ``mode``.

    Source: array API standard, draft.

    >>> jnp.top_k(jnp.array([5, 1, 9]), 2)
    [Array([9, 5], dtype=int32), Array([2, 0], dtype=int32)]
    """
    check_arraylike("top_k", a)
    a = as_array(a)
    axis = canonical_axis(axis, a.ndim)
    if mode == "largest":
        return lax.top_k(a, integer("top_k: k", k), axis=axis)
    if mode != "smallest":
        raise ValueError(f"top_k: mode must be 'largest' or 'smallest', got {mode!r}")
    n = integer("top_k: k", k)
    positions = lax.slice_in_dim(argsort(a, axis), 0, n, axis=axis)
    return [take_along_axis(a, positions, axis, mode="promise_in_bounds"), positions]


# -- searching ---------------------------------------------------------------------------------------------------------

def _before(x: Any, y: Any) -> Any:
    """Whether ``x`` comes before ``y`` in sorted order, NaN last; complex numbers by real part, then imaginary part."""
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        x_real, y_real = lax.real(x), lax.real(y)
        level = lax.bitwise_not(_before(y_real, x_real))
        return lax.bitwise_or(_before(x_real, y_real), lax.bitwise_and(level, _before(lax.imag(x), lax.imag(y))))
    less = lax.lt(x, y)
    if not _is_inexact(x):
        return less
    return lax.bitwise_or(less, lax.bitwise_and(lax.ne(y, y), lax.eq(x, x)))


def _search(a: Any, v: Any, side: str, dtype: Any) -> Any:
    """For each of ``v`` the number of elements of the sorted vector ``a`` before it (or not after it)."""
    n = a.shape[0]
    a = lax.optimization_barrier(a)  # else XLA computes the elements of `a` anew for each that is read
    position = lax.full_like(v, 0, dtype)
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    placement = get_aval(v).placement

    def halved(position: Any, step: Any) -> Any:
        ahead = lax.add(position, step)
        index = lax.min(lax.sub(ahead, np.asarray(1, dtype)[()]), np.asarray(n - 1, dtype)[()])
        found = lax.gather(a, lax.reshape(index, (*v.shape, 1)), numbers, (1,), mode="promise_in_bounds", out_sharding=placement)
        passes = _before(found, v) if side == "left" else lax.bitwise_not(_before(v, found))
        inside = lax.le(ahead, np.asarray(n, dtype)[()])
        return lax.select(lax.bitwise_and(passes, inside), ahead, position)
    if flags.one_form.value:
        a, v = lax.stop_gradient(a), lax.stop_gradient(v)
        first = lax.shift_left(np.asarray(1, dtype)[()], lax.sub(np.asarray(dtype.itemsize * 8 - 1, dtype)[()], lax.clz(np.asarray(n, dtype)[()])))
        return lax.while_loop(lambda c: lax.gt(c[1], np.asarray(0, dtype)[()]),
                              lambda c: (halved(*c), lax.shift_right_logical(c[1], np.asarray(1, dtype)[()])), (position, first))[0]
    step = 1 << max(n.bit_length() - 1, 0)
    while step and n:
        position = halved(position, np.asarray(step, dtype)[()])
        step >>= 1
    return position


def _compare_all(a: Any, v: Any, side: str, dtype: Any) -> Any:
    """The same by comparing every pair: for few elements in ``a``."""
    shape = (*v.shape, a.shape[0])
    rows = lax.broadcast_in_dim(v, shape, tuple(range(v.ndim)))
    columns = lax.broadcast_in_dim(a, shape, (v.ndim,))
    passes = _before(columns, rows) if side == "left" else lax.bitwise_not(_before(rows, columns))
    return lax.reduce_sum_p.bind(lax.convert_element_type(passes, dtype), axes=(v.ndim,), out_sharding=None)


def _positions(a, v, side, method):
    a, v = (as_array(x) for x in promote_dtypes(a, v))
    dtype = np.dtype(np.int64) if a.shape[0] >= 1 << 31 else np.dtype(np.int32)
    scattered = splits.entries(get_aval(a))[0] is not None  # no device has the line whole, and each counts in its part
    return (_compare_all if method == "compare_all" or scattered else _search)(a, v, side, dtype)


_positions_compiled = inlined(static_argnums=(2, 3))(_positions)


@adaptive("always", (2, 3))
def _searchsorted(a, v, side, method):
    """The first few calls with operands of these types are NumPy's; many values are found faster by compiled code."""
    if not evaluating():
        return _positions(a, v, side, method)
    line, values = host(a), host(v)
    if line is None or values is None or line.dtype != values.dtype or line.dtype.kind not in "iuf" or line.size >= 1 << 31:
        return _positions_compiled(a, v, side, method)
    found = np.searchsorted(line, values, side=cast(Any, side))
    return backends.get().from_host(np.asarray(found).astype(np.int32), computed=True)


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None, *,
                 method: str = "scan") -> Array:
    """The positions in a sorted vector before which values must be inserted to keep it sorted.

    Args:
      a: sorted vector.
      v: values, of any shape.
      side: "left" to insert before equal elements, "right" to insert after them.
      sorter: positions that sort ``a``, if it is not sorted.
      method: "scan", "scan_unrolled" and "sort" search by bisection; "compare_all" compares every pair.

    Raises:
      ValueError: ``side``, ``method`` or the rank of ``a`` is wrong.

    Source: `numpy.searchsorted`.

    >>> jnp.searchsorted(jnp.array([1, 3, 5]), jnp.array([0, 3, 9]))
    Array([0, 1, 3], dtype=int32)
    """
    if sorter is None:
        check_arraylike("searchsorted", a, v)
    else:
        check_arraylike("searchsorted", a, v, sorter)
    if side not in ("left", "right"):
        raise ValueError(f"{side!r} is an invalid value for keyword 'side'. Expected one of ['left', 'right'].")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(f"{method!r} is an invalid value for keyword 'method'. Expected one of ['sort', 'scan', "
                         "'scan_unrolled', 'compare_all'].")
    a, v = unwrapped(a), unwrapped(v)
    if len(shape_of(a)) != 1:
        raise ValueError(f"jax.numpy.searchsorted: a must be a vector, got shape {tuple(shape_of(a))}")
    if sorter is not None:
        a = as_array(a)[as_array(sorter)]
    return _searchsorted(a, v, side, method)


@inlined(static_argnames=("right", "method"))
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None) -> Array:
    """For each value the number of the bin that it falls into.

    Args:
      x: values.
      bins: edges, increasing or decreasing.
      right: whether bins contain their right edge instead of their left one.
      method: as for `searchsorted`.

    Raises:
      ValueError: ``bins`` is no vector.

    Source: `numpy.digitize`.

    >>> jnp.digitize(jnp.array([0.5, 2.5]), jnp.array([0., 1., 2.]))
    Array([1, 3], dtype=int32)
    """
    check_arraylike("digitize", x, bins)
    bins = as_array(bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be a 1-dimensional array; got bins={bins.shape}")
    if bins.shape[0] == 0:
        return lax.full(shape_of(x), 0, np.int32)
    side = "left" if right else "right"
    way = method or "scan"
    up = searchsorted(bins, x, side=side, method=way)
    down = lax.sub(lax.full_like(up, bins.shape[0]), searchsorted(flip(bins), x, side=side, method=way))
    decreasing = _before(bins[-1], bins[0]) if dtypes.issubdtype(bins.dtype, np.complexfloating) else lax.bitwise_not(lax.ge(bins[-1], bins[0]))
    return arithmetic.where(decreasing, down, up)
