"""Quantiles, histograms, covariances.

Quantiles read the two neighbours of each rank, from the sorted elements or, where these are many, by `order_statistics`. A
histogram of equal bins computes each value's bin from its distance to the lowest edge, corrects that by comparing with the
two edges beside it, and counts.
"""
from __future__ import annotations

import math
from typing import Any, Sequence, cast

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, errors
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural

from .. import lax
from . import arithmetic, order_statistics, reductions
from .creation import asarray, placed
from .grids import equal_edges
from .joining import concatenate, stack
from .linear_algebra import dot
from .promotion import (
    as_array,
    broadcast_to,
    broadcast_together,
    canonical_axes,
    check_arraylike,
    concrete,
    convert,
    given_axes,
    given_flag,
    given_key_axes,
    narrowed,
    promote_dtypes_inexact,
    shape_of,
    strong,
    unwrapped,
)
from .rows import NUMBERS, adaptive, operand
from .shaping import diag, moveaxis, ravel
from .sorting import searchsorted
from .taking import take, take_along_axis
from .ufuncs import _is_complex, _like, abs as magnitude, conj, greater_equal, less_equal, real, sqrt

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
            "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased")
_WEIGHTED = ("inverted_cdf",)

# -- quantiles ---------------------------------------------------------------------------------------------------------


def _quantile(name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool, weights: Any,
              percent: bool = False) -> Array:
    check_arraylike(name, a, q)
    if method not in _METHODS:
        raise ValueError(f"{name}: method must be one of {', '.join(_METHODS)}, got {method!r}")
    if weights is not None:
        check_arraylike(name, weights)
        if method not in _WEIGHTED:
            raise NotImplementedError(f"{name}: weights are only supported with method='inverted_cdf', got {method!r}")
        return _weighted(as_array(a), as_array(_hundredths(q) if percent else q), as_array(weights), given_axes(axis), keepdims, skip_nan)
    if type(q) in NUMBERS:
        q, percent = operand(_hundredths(q) if percent else q, a), False
    return _sorted_quantile(name, a, q, given_axes(axis), method, given_flag(keepdims), skip_nan, percent)


@inlined(static_argnums=(0, 3, 4, 5, 6, 7))
def _sorted_quantile(name, a, q, axis, method, keepdims, skip_nan, percent):
    a, q = as_array(narrowed(promote_dtypes_inexact(a)[0])), narrowed(as_array(_hundredths(q) if percent else q))
    if _is_complex(a) or _is_complex(q):
        raise ValueError(f"{name} does not support complex input, as the operation is poorly defined.")
    if q.ndim > 1:
        raise ValueError(f"jax.numpy.{name}: q must be a number or a vector, got shape {q.shape}")
    kept, lines = _one_line(a, axis)
    narrow = lines.dtype
    compute = np.dtype(np.float32) if np.dtype(narrow).itemsize < 4 else np.dtype(narrow)
    if lines.shape[-1] == 0:
        result = lax.full((*q.shape, *lines.shape[:-1]), np.nan, narrow)
    else:
        result = _read_ranks(convert(lines, compute), convert(q, compute), method, skip_nan)
    result = convert(result, narrow)
    return lax.reshape(result, (*q.shape, *kept)) if keepdims else result


def _one_line(a: Any, axis: Any) -> tuple:
    """The shape with reduced axes kept, and ``a`` with these joined into the last axis."""
    axes = canonical_axes(axis, a.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(a.shape))
    rest = [i for i in range(a.ndim) if i not in axes]
    moved = lax.transpose(a, (*rest, *axes))
    return kept, lax.reshape(moved, (*(a.shape[i] for i in rest), int(np.prod([a.shape[i] for i in axes]))))


def _read_ranks(lines, q, method, skip_nan):
    """Elements at fractional ranks of the last axis; the result has the axes of ``q`` first."""
    n, dtype = lines.shape[-1], np.dtype(lines.dtype)
    selected = order_statistics.pays(lines.shape, dtype, q.size)
    ordered = lines if selected else lax.sort(lines, lines.ndim - 1, is_stable=False)  # NaN last
    shape = (*q.shape, *lines.shape[:-1])

    def everywhere(x: Any):
        """``x``, which has the axes of ``q``, for all lines."""
        return x if x.shape == shape else lax.broadcast_in_dim(x, shape, tuple(range(x.ndim)))
    if skip_nan:
        q = everywhere(q)
        count = n - reductions.sum(lax.ne(ordered, ordered), axis=-1, dtype=np.int32)
        count = broadcast_to(convert(count, dtype), shape)
        empty = lax.eq(count, _like(count, 0))
    else:
        count = dtype.type(n)
        if selected:  # a sum of squares is NaN only if one of them is; it is a single kernel
            last = lax.reduce_sum(lax.square(lax.stop_gradient(lines)), (lines.ndim - 1,))
        else:
            last = lax.index_in_dim(ordered, n - 1, ordered.ndim - 1, keepdims=False)
        empty = broadcast_to(lax.ne(last, last), shape)
    rank = _ranks(q, count, method)
    top = lax.sub(count, dtype.type(1))
    rank = lax.max(dtype.type(0), lax.min(rank, top))
    low = lax.floor(rank)
    part = lax.sub(rank, low)
    low = lax.convert_element_type(low, np.int32)
    high = lax.min(lax.add(low, np.int32(1)), convert(top, np.dtype(np.int32)))
    if selected:
        below, above = order_statistics.neighbours(lines, everywhere(low))
        above = arithmetic.select(everywhere(lax.eq(high, low)), below, above)
    else:
        pick = _pick if skip_nan else _pick_alike
        below, above = pick(ordered, low), pick(ordered, high)
    if method in ("lower", "inverted_cdf", "closest_observation"):
        above = below
    out = _between(below, above, everywhere(part), method)
    return arithmetic.select(empty, dtype.type(np.nan), out)


def _ranks(q, n, method):
    """The rank (from 0, fractional) of the quantile ``q`` of ``n`` elements."""
    one, half = _like(q, 1), _like(q, 0.5)
    mul, add, sub = lax.mul, lax.add, lax.sub
    if method in ("linear", "lower", "higher", "midpoint", "nearest"):
        return mul(q, sub(n, one))
    if method == "inverted_cdf":
        return lax.ceil(sub(mul(n, q), one))
    if method == "averaged_inverted_cdf":
        return sub(mul(n, q), one)
    if method == "closest_observation":
        return _closest(q, n)
    if method == "interpolated_inverted_cdf":
        return sub(mul(n, q), one)
    if method == "hazen":
        return sub(mul(n, q), half)
    if method == "weibull":
        return sub(mul(add(n, one), q), one)
    if method == "median_unbiased":
        third = _like(q, 1 / 3)
        return sub(add(mul(add(n, third), q), third), one)
    three_eighths, quarter = _like(q, 3 / 8), _like(q, 1 / 4)
    return sub(add(mul(add(n, quarter), q), three_eighths), one)


def _closest(q, n):
    """Nearest rank; halfway between two, the one that is even counted from 1."""
    place = lax.sub(lax.sub(lax.mul(n, q), _like(q, 1)), _like(q, 0.5))
    low = lax.floor(place)
    exact = lax.eq(low, place)
    odd = lax.eq(lax.rem(lax.abs(low), _like(q, 2)), _like(q, 1))
    take_low = lax.bitwise_and(exact, odd)
    return arithmetic.select(take_low, low, lax.add(low, _like(q, 1)))


def _pick(ordered, index):
    """``ordered[..., index]``, where ``index`` has the axes of the quantiles in front of those of the lines."""
    lead = ordered.ndim - 1
    extra = len(index.shape) - lead
    if lead == 0:
        return take(ordered, index, mode="clip")
    if extra == 0:
        return lax.squeeze(take_along_axis(ordered, lax.expand_dims(index, (lead,)), -1, mode="clip"), (lead,))
    moved = moveaxis(index, 0, -1)
    return moveaxis(take_along_axis(ordered, moved, -1, mode="clip"), -1, 0)


def _pick_alike(ordered, index):
    """``ordered[..., index]``, the axes of ``index`` in front, where all lines have the same one: slices, not a gather of elements."""
    if index.ndim == 0:
        return lax.dynamic_index_in_dim(ordered, index, ordered.ndim - 1, keepdims=False)
    return moveaxis(take(ordered, index, -1, mode="clip"), -1, 0)


def _between(below, above, part, method):
    if method in ("lower", "inverted_cdf", "closest_observation"):
        return below
    if method == "higher":
        return arithmetic.select(lax.gt(part, _like(part, 0)), above, below)
    if method == "nearest":
        return arithmetic.select(lax.le(part, _like(part, 0.5)), below, above)
    if method == "midpoint":
        middle = lax.mul(lax.add(below, above), _like(below, 0.5))
        return arithmetic.select(lax.gt(part, _like(part, 0)), middle, below)
    if method == "averaged_inverted_cdf":
        middle = lax.mul(lax.add(below, above), _like(below, 0.5))
        return arithmetic.select(lax.gt(part, _like(part, 0)), above, middle)
    mixed = lax.add(lax.mul(below, lax.sub(_like(part, 1), part)), lax.mul(above, part))
    return arithmetic.select(lax.eq(part, _like(part, 0)), below, mixed)  # no 0 * inf


def _weighted(a, q, weights, axis, keepdims, skip_nan):
    """The smallest element whose share of the weights so far reaches ``q``."""
    a = as_array(promote_dtypes_inexact(a)[0])
    q, weights = convert(q, a.dtype), convert(weights, a.dtype)
    if weights.shape != a.shape:
        axes = canonical_axes(axis, a.ndim)
        if weights.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(f"quantile: weights of shape {weights.shape} fit neither the array's shape {a.shape} nor its "
                             f"lengths along axis {axis}")
        weights = broadcast_to(lax.reshape(weights, tuple(n if i in axes else 1 for i, n in enumerate(a.shape))), a.shape)
    kept, lines = _one_line(a, axis)
    _, loads = _one_line(weights, axis)
    missing = lax.ne(lines, lines)
    if skip_nan:
        loads = arithmetic.select(missing, _like(loads, 0), loads)
    ordered, loads = lax.sort((lines, loads), lines.ndim - 1, num_keys=1)
    total = lax.cumsum(loads, loads.ndim - 1)
    # XLA multiplies with the reciprocal of one number for all, and 41 * (1 / 41) is less than 1, which nothing reaches then.
    share = lax.div(total, lax.optimization_barrier(broadcast_to(total[..., -1:], total.shape)))
    shape = (*q.shape, *lines.shape)
    wanted = lax.broadcast_in_dim(q, shape, tuple(range(q.ndim)))
    reached = lax.ge(broadcast_to(share, shape), wanted)
    positive = broadcast_to(lax.gt(loads, _like(loads, 0)), shape)
    first = lax.argmax(lax.bitwise_and(reached, positive), len(shape) - 1, np.int32)
    out = _pick(ordered, first)
    if not skip_nan:
        bad = broadcast_to(reductions.any(missing, axis=-1), out.shape)
        out = arithmetic.select(bad, _like(out, np.nan), out)
    return lax.reshape(out, (*q.shape, *kept)) if keepdims else out


def quantile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None,
             overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
             weights: ArrayLike | None = None) -> Array:
    """Quantiles over axes.

    Args:
      a: real array.
      q: number or vector of numbers in [0, 1].
      axis, keepdims: as for `jax.numpy.sum`.
      out: must be None.
      overwrite_input: must be False.
      method: how ranks between two elements are read, as NumPy names them.
      weights: of the elements, with ``method="inverted_cdf"``.

    Returns:
      an array of the dtype of ``a`` (a float dtype for integers), with the axis of ``q`` (if it is a vector) in front; NaN where
      an element is NaN.

    Raises:
      ValueError: complex numbers, or an unknown method.

    Source: `numpy.quantile`.

    >>> jnp.quantile(jnp.arange(5.), 0.9)
    Array(3.6, dtype=float32)
    """
    _refuse("quantile", out, overwrite_input)
    return _quantile("quantile", a, q, axis, method, keepdims, False, weights)


def nanquantile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None,
                overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
                weights: ArrayLike | None = None) -> Array:
    """`quantile` of the elements that are not NaN.

    Args:
      q, axis, out, overwrite_input, method, keepdims, weights: as for `quantile`.

    Source: `numpy.nanquantile`.

    >>> jnp.nanquantile(jnp.array([0., jnp.nan, 10.]), 0.25)
    Array(2.5, dtype=float32)
    """
    _refuse("nanquantile", out, overwrite_input)
    return _quantile("nanquantile", a, q, axis, method, keepdims, True, weights)


def percentile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None,
               overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
               weights: ArrayLike | None = None, out_sharding: Placement | None = None) -> Array:
    """`quantile` with ``q`` in percent. Source: `numpy.percentile`.

    Args:
      a: real array.
      q: number or vector of numbers in [0, 100].
      axis, keepdims, out, overwrite_input, method, weights: as for `quantile`.

    >>> jnp.percentile(jnp.arange(5.), jnp.array([25, 50]))
    Array([1., 2.], dtype=float32)
    """
    _refuse("percentile", out, overwrite_input)
    check_arraylike("percentile", a, q)
    if out_sharding is not None:
        a = _whole_along(a, axis)
    result = _quantile("percentile", a, q, axis, method, keepdims, False, weights, percent=True)
    return placed(result, None, out_sharding)


def _whole_along(a: Any, axis: Any) -> Any:
    """``a`` with the axes that are sorted whole on each device."""
    return structural.whole_along(a, canonical_axes(given_axes(axis), get_aval(a).ndim))


def nanpercentile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None,
                  overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
                  weights: ArrayLike | None = None) -> Array:
    """`nanquantile` with ``q`` in percent.

    Args:
      axis, out, overwrite_input, method, keepdims, weights: as for `percentile`.

    Source: `numpy.nanpercentile`.

    >>> jnp.nanpercentile(jnp.array([0., jnp.nan, 10.]), 50)
    Array(5., dtype=float32)
    """
    _refuse("nanpercentile", out, overwrite_input)
    check_arraylike("nanpercentile", a, q)
    return _quantile("nanpercentile", a, q, axis, method, keepdims, True, weights, percent=True)


def _hundredths(q: Any) -> Any:
    """``q / 100`` in the dtype of ``q``."""
    if type(q) in (int, float):
        of = dtypes.default_float_dtype().type
        return float(of(q) / of(100))
    return promote_dtypes_inexact(unwrapped(q))[0] / 100


def _refuse(name, out, overwrite_input):
    if overwrite_input or out is not None:
        raise ValueError(f"jax.numpy.{name} does not support overwrite_input=True or out != None")


def median(a: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: bool = False,
           keepdims: bool = False) -> Array:
    """The middle element over axes, or the mean of the two middle ones.

    Args:
      axis: an axis, several, or None for all.
      out: must be None.
      overwrite_input: must be False.
      keepdims: keep reduced axes with length 1.

    The dtype is that of ``a``, and float32 for integers of up to 32 bits: also where x64 is enabled, unlike NumPy's float64.

    Source: `numpy.median`.

    >>> jnp.median(jnp.array([9., 1., 4., 2.]))
    Array(3., dtype=float32)
    """
    _refuse("median", out, overwrite_input)
    return _quantile("median", a, 0.5, given_key_axes(axis), "midpoint", keepdims, False, None)


def nanmedian(a: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: bool = False,
              keepdims: bool = False) -> Array:
    """`median` of the elements that are not NaN.

    Args:
      axis, out, overwrite_input, keepdims: as for `median`.

    Source: `numpy.nanmedian`.

    >>> jnp.nanmedian(jnp.array([9., jnp.nan, 4.]))
    Array(6.5, dtype=float32)
    """
    _refuse("nanmedian", out, overwrite_input)
    return _quantile("nanmedian", a, 0.5, given_key_axes(axis), "midpoint", keepdims, True, None)


# -- counting ----------------------------------------------------------------------------------------------------------

def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *, length: int | None = None,
             out_sharding: Placement | None = None) -> Array:
    """How often each of the integers 0, 1, ... comes, or the sum of the weights of its places.

    Args:
      x: vector of integers; negative ones count as 0.
      weights: vector of the same length.
      minlength: least length of the result.
      length: exact length of the result, needed while tracing; larger integers are left out.
      out_sharding: placement.

    Raises:
      TypeError: ``x`` is not a vector of integers. ConcretizationTypeError: tracing without ``length``.

    Source: `numpy.bincount`.

    >>> jnp.bincount(jnp.array([0, 2, 2]), length=4)
    Array([1, 0, 2, 0], dtype=int32)
    """
    check_arraylike("bincount", x)
    x = as_array(x)
    if dtypes.dtype(x) == np.bool_:
        x = x.astype(np.int32)
    if not dtypes.issubdtype(x.dtype, np.integer):
        raise TypeError(f"x argument to bincount must have an integer type; got {x.dtype}")
    if x.ndim != 1:
        raise ValueError("jax.numpy.bincount: x must be a vector; ravel it")
    minlength = integer("bincount: minlength", minlength)
    if length is None:
        known = concrete(x)
        if known is None:
            raise errors.ConcretizationTypeError(x, "jax.numpy.bincount: the length of the result is the largest value plus 1, "
                                                 "which is not known while tracing; pass it as length")
        length = max(minlength, int(known.max()) + 1 if known.size else 0)
    length = integer("bincount: length", length)
    if weights is None:
        weights = np.asarray(1, dtypes.default_int_dtype())[()]
    else:
        check_arraylike("bincount", weights)
        if shape_of(weights) != x.shape:
            raise ValueError("jax.numpy.bincount: weights must have the shape of x")
    kind = dtypes.dtype(weights)
    return placed(_count_whole(x, weights, length, kind), None, out_sharding)


@adaptive("integers", (2, 3))
def _count_whole(x, weights, length, kind):
    """Negative values count as 0."""
    x = arithmetic.clip(x, 0, None) if dtypes.issubdtype(x.dtype, np.signedinteger) else x
    return _count(x, weights, length, kind)


def _count(index: Any, weights: Any, length: int, dtype: Any) -> Array:
    zeros = lax.full((length,), 0, dtype)
    return zeros.at[index].add(convert(unwrapped(weights), np.dtype(dtype)), mode="drop")


# -- histograms --------------------------------------------------------------------------------------------------------

def _ranges(a: Any, limits: Any, dtype: Any) -> Any:
    """Lowest and highest edge; a single value is widened by half on both sides."""
    if limits is None:
        if shape_of(a)[0] == 0:
            low, high = lax.full((), 0, dtype), lax.full((), 1, dtype)
        else:
            low, high = reductions.min(a), reductions.max(a)
    else:
        try:
            low, high = limits
        except (TypeError, ValueError):
            raise ValueError(f"histogram: range must be None or a pair of numbers, got {limits!r}") from None
        if dtypes.issubdtype(dtypes.result_type(low, high), np.complexfloating):
            raise TypeError(f"histogram: range must be a pair of real numbers, got {limits!r}")
    low, high = convert(unwrapped(low), np.dtype(dtype)), convert(unwrapped(high), np.dtype(dtype))
    same = lax.eq(low, high)
    half = np.dtype(dtype).type(0.5)
    return arithmetic.select(same, lax.sub(low, half), low), arithmetic.select(same, lax.add(high, half), high)


def histogram_bin_edges(a: ArrayLike, bins: ArrayLike = 10, range: ArrayLike | Sequence[ArrayLike] | None = None,
                        weights: ArrayLike | None = None) -> Array:
    """The edges of the bins that `histogram` uses.

    Args:
      a: values.
      bins: number of equal bins, or the edges.
      range: lowest and highest edge; those of the values if None.
      weights: unused.

    Raises:
      NotImplementedError: ``bins`` is a string.

    Source: `numpy.histogram_bin_edges`.

    >>> jnp.histogram_bin_edges(jnp.array([0., 4.]), bins=4)
    Array([0., 1., 2., 3., 4.], dtype=float32)
    """
    if isinstance(bins, str):
        raise NotImplementedError("jax.numpy.histogram: rules for bins given by name are not offered; give their number or their edges")
    check_arraylike("histogram_bin_edges", a, bins)
    a = ravel(a)
    dtype = dtypes.canonicalize_dtype(dtypes.to_inexact_dtype(a.dtype))
    if len(shape_of(bins)) == 1:
        return asarray(bins).astype(dtype)
    known: Any = concrete(bins)
    n = integer("histogram_bin_edges: bins", known.item() if known is not None else bins)
    low, high = _ranges(a, range, dtype)
    return equal_edges(low, high, n, np.dtype(dtype))


def histogram(a: ArrayLike, bins: ArrayLike = 10, range: Sequence[ArrayLike] | None = None,
              weights: ArrayLike | None = None, density: bool | None = None,
              out_sharding: Placement | None = None) -> tuple:
    """How many values (or how much weight) fall into each bin.

    Args:
      a: values, flattened.
      bins: number of equal bins, or the increasing edges.
      range: lowest and highest edge; those of the values if None.
      weights: of the values.
      density: divide by the total and by the widths.
      out_sharding: placement of the counts.

    Returns:
      counts, and edges (one more). The last bin contains its right edge.

    Raises:
      ValueError: ``weights`` and ``a`` differ in shape.

    Source: `numpy.histogram`.

    >>> jnp.histogram(jnp.array([1., 2., 2.5]), bins=2)
    (Array([1., 2.], dtype=float32), Array([1.  , 1.75, 2.5 ], dtype=float32))
    """
    check_arraylike("histogram", a, 0 if weights is None else weights)
    if weights is None:
        a, = promote_dtypes_inexact(a)
    else:
        a, weights = promote_dtypes_inexact(a, weights)
        if shape_of(weights) != shape_of(a):
            raise ValueError(f"histogram: weights of shape {shape_of(weights)} do not have the shape of a, {shape_of(a)}")
        weights = ravel(weights)
    a = ravel(a)
    edges = strong(histogram_bin_edges(a, bins, range))
    equal = len(shape_of(bins)) == 0
    counts = _histogram(a, edges, weights, equal, a.dtype)
    if density:
        widths = lax.sub(edges[1:], edges[:-1])
        counts = lax.div(counts, lax.mul(convert(widths, counts.dtype), broadcast_to(reductions.sum(counts), counts.shape)))
    return placed(counts, None, out_sharding), edges


@inlined(static_argnums=(3, 4))
def _histogram(a, edges, weights, equal, dtype):
    bins = shape_of(edges)[0] - 1
    edges = lax.optimization_barrier(convert(edges, a.dtype))  # computed once, not for each value
    ordered = not _is_complex(a)  # complex numbers are so by their real parts, then by the imaginary ones
    index = _equal_bin(a, edges, bins) if equal and bins > 1 and ordered else _any_bin(a, edges, bins)
    inside = lax.bitwise_and(greater_equal(a, edges[0]), less_equal(a, edges[bins]))
    index = arithmetic.select(inside, index, np.int32(bins))
    weights = np.dtype(dtype).type(1) if weights is None else weights
    return _count(index, weights, bins, dtype)


def _any_bin(a, edges, bins):
    index = lax.sub(convert(searchsorted(edges, a, side="right"), np.dtype(np.int32)), np.int32(1))
    return lax.min(index, np.int32(bins - 1))


def _equal_bin(a, edges, bins):
    """The bin by division, then moved by one where an edge says otherwise."""
    unit = arithmetic.select(lax.is_finite(lax.sub(edges[bins], edges[0])), _like(a, 1), _like(a, 1 / bins))  # nothing overflows
    first = lax.mul(edges[0], unit)
    scale = lax.div(_like(a, bins), lax.sub(lax.mul(edges[bins], unit), first))
    guess = lax.floor(lax.mul(lax.sub(lax.mul(a, broadcast_to(unit, a.shape)), first), scale))
    guess = lax.clamp(_like(a, 0), guess, _like(a, bins - 1))
    index = lax.convert_element_type(guess, np.int32)
    low, high = take(edges, index, mode="clip"), take(edges, index + 1, mode="clip")
    down = lax.lt(a, low)
    up = lax.bitwise_and(lax.ge(a, high), lax.lt(index, np.int32(bins - 1)))
    return lax.clamp(np.int32(0), lax.add(lax.sub(index, lax.convert_element_type(down, np.int32)),
                                          lax.convert_element_type(up, np.int32)), np.int32(bins - 1))


def histogram2d(x: ArrayLike, y: ArrayLike, bins: ArrayLike | list[ArrayLike] = 10,
                range: Sequence[ArrayLike | Sequence[ArrayLike] | None] | None = None, weights: ArrayLike | None = None,
                density: bool | None = None) -> tuple:
    """Counts of pairs of values in a grid of bins, and the edges of both axes.

    Args:
      x, y: vectors of one length.
      range, weights, density: as for `histogramdd`.

    Source: `numpy.histogram2d`.

    >>> jnp.histogram2d(jnp.array([0., 1.]), jnp.array([0., 1.]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    check_arraylike("histogram2d", x, y)
    try:
        n = len(cast(Sequence, bins))
    except TypeError:
        n = 1
    if n not in (1, 2):
        bins = [asarray(bins)] * 2
    counts, edges = histogramdd(stack([ravel(x), ravel(y)], 1), bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(sample: ArrayLike, bins: ArrayLike | list[ArrayLike] = 10,
                range: Sequence[ArrayLike | Sequence[ArrayLike] | None] | None = None, weights: ArrayLike | None = None,
                density: bool | None = None) -> tuple:
    """Counts of points in a grid of bins.

    Args:
      sample: one row a point, or a sequence of coordinates, one array an axis.
      bins: number of bins, or edges; for all axes, or a sequence with one entry an axis.
      range: lowest and highest edge of each axis.
      weights: of the points.
      density: divide by the total and by the volumes.

    Returns:
      counts, and a list of edges.

    Raises:
      ValueError: ``sample`` is no matrix; ``range`` or ``bins`` has not one entry for each axis.

    Source: `numpy.histogramdd`.

    >>> jnp.histogramdd(jnp.array([[0., 0.], [1., 1.]]), bins=2)[0]
    Array([[1, 0],
           [0, 1]], dtype=int32)
    """
    if isinstance(sample, (list, tuple)):
        sample = stack([ravel(s) for s in sample], 1)
    check_arraylike("histogramdd", sample)
    sample, = promote_dtypes_inexact(as_array(sample))
    if sample.ndim != 2:
        raise ValueError(f"jax.numpy.histogramdd: sample must have shape (n, d), one row for each point, got {sample.shape}")
    rank = sample.shape[1]
    if range is not None and len(range) != rank:
        raise ValueError(f"For sample.shape={sample.shape}, range should be a sequence of {rank} pairs or Nones; got "
                         f"range={range}")
    per_axis = list(bins) if isinstance(bins, (list, tuple)) else [bins] * rank
    if len(per_axis) != rank:
        raise ValueError(f"should be a bin for each of {rank} dimensions, got {len(per_axis)}")
    edges = [convert(histogram_bin_edges(sample[:, d], b, None if range is None else range[d]), sample.dtype) for d, b in enumerate(per_axis)]
    kind = dtypes.default_int_dtype() if weights is None else dtypes.result_type(weights)
    if weights is not None and shape_of(weights) != (sample.shape[0],):
        raise ValueError(f"{sample.shape[0]} samples should have one weight each, got weights of shape {shape_of(weights)}")
    counts = _histogramdd(sample, None if weights is None else ravel(weights), tuple([len(shape_of(b)) == 0 for b in per_axis]), kind, *edges)
    shape = counts.shape
    if density:
        counts = convert(counts, sample.dtype)
        counts = lax.div(counts, broadcast_to(reductions.sum(counts), counts.shape))
        for d, e in enumerate(edges):
            widths = lax.reshape(lax.sub(e[1:], e[:-1]), tuple(n if i == d else 1 for i, n in enumerate(shape)))
            counts = lax.div(counts, broadcast_to(convert(widths, counts.dtype), counts.shape))
    return counts, edges


@inlined(static_argnums=(2, 3))
def _histogramdd(sample: Array, weights: Array | None, equal: tuple[bool, ...], kind: np.dtype, *edges: Array) -> Array:
    """Counts of the rows of ``sample``; ``equal`` says of each axis whether its bins are equally wide."""
    points = sample.shape[0]
    flat, inside = lax.full((points,), 0, np.int32), lax.full((points,), True, np.bool_)
    for d, e in enumerate(edges):
        values, n = sample[:, d], e.shape[0] - 1
        e = lax.optimization_barrier(e)
        index = _equal_bin(values, e, n) if equal[d] and n > 1 else _any_bin(values, e, n)
        inside = lax.bitwise_and(inside, lax.bitwise_and(lax.ge(values, e[0]), lax.le(values, e[n])))
        flat = lax.add(lax.mul(flat, np.int32(n)), index)
    shape = tuple([e.shape[0] - 1 for e in edges])
    total = math.prod(shape)
    flat = arithmetic.select(inside, flat, np.int32(total))
    return lax.reshape(_count(flat, 1 if weights is None else weights, total, kind), shape)


# -- covariance --------------------------------------------------------------------------------------------------------

@inlined(static_argnames=("rowvar", "bias", "ddof", "dtype"))
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
        fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Covariance matrix of variables.

    Args:
      m: one row a variable, one column an observation; or a vector.
      y: more variables.
      rowvar: False if variables are in columns.
      bias: divide by the number of observations instead of one less.
      ddof: the number to subtract from it, in place of what ``bias`` says.
      fweights: how often each observation came, integers.
      aweights: weights of the observations.
      dtype: of the result.

    Raises:
      ValueError: an array of rank over 2, or a dtype of integers. TypeError: ``fweights`` that are not integers.

    Source: `numpy.cov`.

    >>> jnp.cov(jnp.array([[0., 1., 2.], [2., 1., 0.]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    check_arraylike("cov", m, 0 if y is None else y)
    if dtype is not None and not dtypes.issubdtype(dtypes.canonicalize_user_dtype(dtype, "cov"), np.inexact):
        raise ValueError(f"jax.numpy.cov: dtype must be a floating-point or complex dtype, got {dtype}")
    x = promote_dtypes_inexact(m, *[] if y is None else [y])[0]
    if aweights is not None and dtypes.issubdtype(dtypes.dtype(unwrapped(aweights)), np.inexact):
        x, _ = promote_dtypes_inexact(x, aweights)
    x = narrowed(as_array(x))
    if dtype is not None:
        x = x.astype(dtype)
    if x.ndim > 2:
        raise ValueError(f"jax.numpy.cov: m must be a vector or a matrix, got shape {shape_of(m)}")
    x = _variables(x, rowvar)
    if y is not None:
        other = as_array(promote_dtypes_inexact(m, y)[1]).astype(x.dtype)
        if other.ndim > 2:
            raise ValueError(f"jax.numpy.cov: y must be a vector or a matrix, got shape {shape_of(y)}")
        x = concatenate([x, _variables(other, rowvar or len(other) == 1)], 0)  # a second array of one row is one variable, as in NumPy
    if ddof is None:
        ddof = 0 if bias else 1
    weights, total = _observation_weights(fweights, aweights, x)
    if weights is None:
        mean = reductions.mean(x, axis=1, keepdims=True)
        normal = float(max(x.shape[1] - ddof, 0))
    else:
        mean = reductions.average(x, axis=1, weights=weights, keepdims=True)
        if aweights is None or ddof == 0:
            normal = total - ddof if ddof else total
        else:
            normal = total - ddof * reductions.sum(lax.mul(weights, convert(as_array(aweights), weights.dtype))) / total
    centered = lax.sub(*broadcast_together((x, mean), x.shape))
    scaled = centered if weights is None else lax.mul(centered, broadcast_to(weights, x.shape))
    out = dot(scaled, lax.transpose(conj(centered), (1, 0))) / normal
    return out.squeeze()


def _variables(x, rowvar):
    if x.ndim < 2:
        return lax.reshape(x, (1, x.size))
    return x if rowvar else lax.transpose(x, (1, 0))


def _observation_weights(fweights, aweights, x):
    weights = None
    if fweights is not None:
        check_arraylike("cov", fweights)
        if len(shape_of(fweights)) != 1:
            raise RuntimeError("jax.numpy.cov: fweights must be a vector")
        if shape_of(fweights)[0] != x.shape[1]:
            raise RuntimeError("jax.numpy.cov: fweights must have an entry for each sample")
        if not dtypes.issubdtype(dtypes.dtype(fweights), np.integer):
            raise TypeError("jax.numpy.cov: fweights count repetitions, so they must be integers; for others use aweights")
        weights = magnitude(as_array(fweights)).astype(dtypes.to_floating_dtype(x.dtype))
    if aweights is not None:
        check_arraylike("cov", aweights)
        if len(shape_of(aweights)) != 1:
            raise RuntimeError("jax.numpy.cov: aweights must be a vector")
        if shape_of(aweights)[0] != x.shape[1]:
            raise RuntimeError("jax.numpy.cov: aweights must have an entry for each sample")
        own = magnitude(as_array(aweights)).astype(dtypes.to_floating_dtype(x.dtype))
        weights = own if weights is None else lax.mul(weights, own)
    if weights is None:
        return None, None
    return weights.astype(x.dtype), reductions.sum(weights)


@inlined(static_argnames=("rowvar", "dtype"))
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike | None = None) -> Array:
    """Correlation coefficients of variables; arguments as for `cov`. Source: `numpy.corrcoef`.

    >>> jnp.corrcoef(jnp.array([1., 2., 3.]), jnp.array([2., 4., 6.]))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    check_arraylike("corrcoef", x, 0 if y is None else y)
    out = dtypes.to_inexact_dtype(dtypes.result_type(x, 0 if y is None else y)) if dtype is None else dtype
    if dtype is None and dtypes.finfo(out).bits < 32:  # squares leave the range of halves of a float
        return corrcoef(x, y, rowvar, np.float32).astype(out)
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    spread = sqrt(real(diag(c))).astype(dtypes.to_floating_dtype(c.dtype))
    n = spread.shape[0]
    c = c / broadcast_to(lax.reshape(spread, (n, 1)), c.shape) / broadcast_to(lax.reshape(spread, (1, n)), c.shape)
    if _is_complex(c):
        return lax.complex(arithmetic.clip(lax.real(c), -1, 1), arithmetic.clip(lax.imag(c), -1, 1))
    return arithmetic.clip(c, -1, 1)
