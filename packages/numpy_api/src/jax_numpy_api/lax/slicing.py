"""Slices: static (`slice`) and with starts known only at run time (`dynamic_slice`, `dynamic_update_slice`).

Run-time starts are clamped so that the slice lies inside the operand; starts that are known while tracing are Python
or NumPy integers and cost nothing. A batch of starts makes the slice a gather and the update a scatter.

Source: StableHLO specification, `slice`, `dynamic_slice`, `dynamic_update_slice`.
"""
from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core import backends
from jax_core.configuration import context, flags
from jax_core.references.indexing import Index, Slice
from jax_core.references.primitives import addupdate_p
from jax_core.representation import dtypes, partial_sums, splits
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import PartRule, Primitive, Zero, is_linear
from jax_core.representation.traits import Inner, Kind, Part, Quick, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, instantiate, moved, zeros
from jax_core.traces.trace import EVAL, Tracer
from jax_numpy_api import lax

from .positions import LAST, position_dtype, reaches_far

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value

# -- slice -----------------------------------------------------------------------------------------------------------

def _slice_type(x, *, start_indices, limit_indices, strides):
    rank = x.ndim
    if not len(start_indices) == len(limit_indices) == rank or strides is not None and len(strides) != rank:
        raise (ValueError if strides is None else TypeError)(f"slice: start_indices={start_indices}, limit_indices={limit_indices} and strides={strides} must "
                        f"have one entry for each of the {rank} axes of operand {x.str_short()}.")
    strides = strides or (1,) * rank
    for start, limit, stride, n in zip(start_indices, limit_indices, strides, x.shape):
        if not 0 <= start <= limit <= n:
            raise TypeError(f"slice: start_indices={start_indices} and limit_indices={limit_indices} must satisfy "
                            f"0 <= start <= limit <= length on every axis of operand {x.str_short()}.")
        if stride < 1:
            raise TypeError(f"slice: strides={strides} must be positive.")
    return ShapedArray([-(-(limit - start) // stride) for start, limit, stride in
                        zip(start_indices, limit_indices, strides)], x.dtype, x.weak_type)


def _slice_transpose(ct, x, *, start_indices, limit_indices, strides):
    """Zeros around and between the elements of the cotangent."""
    config = []
    for i, (start, n, m) in enumerate(zip(start_indices, x.aval.shape, np.shape(ct))):
        stride = strides[i] if strides else 1
        covered = (m - 1) * stride + 1 if m else 0
        config.append((start, n - start - covered, stride - 1))
    return lax.pad(ct, np.zeros((), get_aval(ct).dtype), config)


def _slice_batch(axis, args, dims, *, start_indices, limit_indices, strides):
    (x,), (d,) = args, dims
    start, limit = list(start_indices), list(limit_indices)
    start.insert(d, 0)
    limit.insert(d, np.shape(x)[d])
    if strides is not None:
        strides = (*strides[:d], 1, *strides[d:])
    return slice_p.bind(x, start_indices=tuple(start), limit_indices=tuple(limit), strides=strides), d


def _slice_lower(b, x, *, start_indices, limit_indices, strides):
    bounds = ", ".join(f"{start}:{limit}:{stride}" for start, limit, stride in
                       zip(start_indices, limit_indices, strides or (1,) * len(start_indices)))
    return b.emit(f"stablehlo.slice {x} [{bounds}]", x, out=b.out_avals[0])


def _slice_reference(x, *, start_indices, limit_indices, strides):
    return np.asarray(x)[tuple(map(builtins.slice, start_indices, limit_indices, strides or (None,) * len(start_indices)))]


def _slice_splits(prim, avals, outs, params):
    """As the operand; a single element is on all devices."""
    rule = splits.whole if all([n == 1 for n in outs[0].shape]) else splits.resizing("slicing")
    return rule(prim, avals, outs, params)


def _slice_accumulate(refs, cts, args, params):
    starts, strides = params["start_indices"], params["strides"] or (1,) * len(params["start_indices"])
    if not isinstance(cts[0], Zero):
        addupdate_p.bind(refs[0], cts[0], index=Index(tuple(map(Slice, starts, cts[0].shape, strides))))
    return [Zero(args[0].aval)]


def _part(aval, *, start_indices, limit_indices, strides):
    """The one axis along which it does not read everything, and where it starts and ends there."""
    partial = [axis for axis, (start, limit, n) in enumerate(zip(start_indices, limit_indices, aval.shape)) if start != 0 or limit != n]
    if len(partial) != 1 or strides is not None and any([stride != 1 for stride in strides]):
        return None
    axis, = partial
    start, limit = start_indices[axis], limit_indices[axis]
    return (axis, start, limit) if isinstance(start, int) and isinstance(limit, int) and start < limit else None


def _joined(cts, axis, start, aval):
    ct = cts[0] if len(cts) == 1 else lax.concatenate_p.bind(*cts, dimension=axis)
    n, end = aval.shape[axis], start + np.shape(ct)[axis]
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (start, n - end, 0)
    return ct if start == 0 and end == n else lax.pad(ct, np.zeros((), get_aval(ct).dtype), config)


slice_p = Primitive("slice", out_type=_slice_type, jvp=LINEAR, transpose=_slice_transpose, batch=_slice_batch,
                    lower=_slice_lower, reference=_slice_reference, exact=True,
                    traits=Traits(Kind.MOVE, part=Part.FIXED, quick=Quick.SLOW_ON_RESULTS), splits=_slice_splits,
                    accumulate=_slice_accumulate, part=PartRule(_part, _joined))


def slice(operand: ArrayLike, start_indices: Sequence[int], limit_indices: Sequence[int],
          strides: Sequence[int] | None = None) -> Array:
    """``operand[start:limit:stride]`` on every axis, with bounds known while tracing.

    Args:
      operand: an array.
      start_indices, limit_indices: one for each axis, ``0 <= start <= limit <= length``.
      strides: positive; default 1.

    Raises:
      ValueError: not one bound for each axis. TypeError: the bounds do not fit the operand, or not one stride for each axis.

    Source: StableHLO `slice`.

    >>> lax.slice(jnp.arange(10), (1,), (8,), (3,))
    Array([1, 4, 7], dtype=int32)
    """
    start, limit = integers("lax.slice: start_indices", start_indices), integers("lax.slice: limit_indices", limit_indices)
    strides = None if strides is None else integers("lax.slice: strides", strides)
    shape = np.shape(operand)
    if limit == shape and not any(start) and (strides is None or strides == (1,) * len(shape)) and (
            len(start) == len(shape)) and hasattr(operand, "aval"):
        return operand  # type: ignore[return-value]  # what has a type is an array
    return slice_p.bind(operand, start_indices=start, limit_indices=limit, strides=strides)


def slice_in_dim(operand: ArrayLike, start_index: int | None, limit_index: int | None, stride: int = 1,
                 axis: int = 0) -> Array:
    """``operand[start:limit:stride]`` along one axis; None and negative bounds have NumPy's meaning.

    Args:
      start_index, limit_index: where the slice starts, and the first place behind it.

    Source: StableHLO `slice`.

    >>> lax.slice_in_dim(jnp.arange(6), 2, 5)
    Array([2, 3, 4], dtype=int32)
    """
    shape = np.shape(operand)
    axis = _canonical_axis("slice_in_dim", axis, len(shape))
    n = shape[axis]
    start = 0 if start_index is None else _from_end(start_index, n)
    limit = n if limit_index is None else _from_end(limit_index, n)
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, limit, integer("lax.slice_in_dim: stride", stride)
    return slice(operand, starts, limits, strides)


def _from_end(i, n):
    i = integer("lax.slice_in_dim: start_index or limit_index", i)
    return i + n if i < 0 else i


def _canonical_axis(name, axis, rank):
    axis = integer(f"lax.{name}: axis", axis)
    if not -rank <= axis < rank:
        raise IndexError(f"{name}: axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """``operand[index]`` along one axis, for an index known while tracing.

    Raises:
      IndexError: the index is out of bounds.

    Source: StableHLO `slice`.

    >>> lax.index_in_dim(jnp.array([[1, 2], [3, 4]]), 1, axis=1, keepdims=False)
    Array([2, 4], dtype=int32)
    """
    shape = np.shape(operand)
    axis, index = _canonical_axis("index_in_dim", axis, len(shape)), integer("lax.index_in_dim: index", index)
    n = shape[axis]
    if not -n <= index < n:
        raise IndexError(f"index_in_dim: index {index} is out of bounds for axis {axis} with size {n}")
    index %= n
    out = slice_in_dim(operand, index, index + 1, 1, axis)
    return out if keepdims else lax.squeeze(out, (axis,))


# -- indices ---------------------------------------------------------------------------------------------------------

def _check_indices(name, operand, indices):
    if len(indices) != operand.ndim:
        raise TypeError(f"{name}: got {len(indices)} start indices for the {operand.ndim} axes of operand "
                        f"{operand.str_short()}; give one for each axis.")
    if any(i.shape != () for i in indices):
        raise TypeError(f"{name}: start indices must be scalars, got shapes {[i.shape for i in indices]}.")
    if any(not dtypes.issubdtype(i.dtype, np.integer) for i in indices) or len({i.dtype for i in indices}) > 1:
        raise TypeError(f"{name}: index arguments to {name} must be integers of the same type, got: "
                        f"{', '.join(str(i.dtype) for i in indices)}")


def _start_indices(name: str, operand: Any, start_indices: Any, allow_negative: Any) -> list:
    """One scalar for each axis, all of one integer dtype, negative ones counted from the end."""
    shape = np.shape(operand)
    if hasattr(start_indices, "ndim") and not isinstance(start_indices, (list, tuple)):
        if start_indices.ndim != 1:
            raise ValueError(f"{name}: start_indices must be a sequence of scalars or an array of rank 1, got shape "
                             f"{start_indices.shape}.")
        if isinstance(start_indices, np.ndarray):
            indices = list(start_indices)
        else:
            n = start_indices.shape[0]
            indices = [lax.squeeze(slice(start_indices, (i,), (i + 1,)), (0,)) for i in range(n)]
    else:
        try:
            indices = list(start_indices)
        except TypeError:
            raise TypeError(f"{name}: start_indices must be a sequence of integers or a vector of them, got {start_indices!r}") from None
    if len(indices) != len(shape):
        raise ValueError(f"{name}: got {len(indices)} start indices for the {len(shape)} axes of the operand of shape "
                         f"{shape}; give one for each axis.")
    if not isinstance(allow_negative, (list, tuple)):
        allow_negative = [allow_negative] * len(shape)
    elif len(allow_negative) != len(shape):
        raise ValueError(f"{name}: allow_negative_indices={allow_negative} must have one entry for each of the "
                         f"{len(shape)} axes, or be one bool.")
    dtype = _index_dtype(name, indices, shape)
    for i, negative in zip(indices, allow_negative):
        _check_negative(name, i, negative)
    return [_normal_index(i, n, dtype, negative) for i, n, negative in zip(indices, shape, allow_negative)]


def _nearest(index: Any, allow_negative: bool) -> Any:
    """The index; where negative ones do not count from the end, 0 for a known one."""
    return 0 if not allow_negative and isinstance(index, (int, np.integer)) and index < 0 else index


def _check_negative(name: str, index: Any, allowed: bool) -> None:
    if not allowed and isinstance(index, (int, np.integer)) and index < 0:
        raise ValueError(f"{name}: index {index} is negative, and allow_negative_indices is False; count from the start, or let it be True.")


def _index_dtype(name, indices, shape):
    """The dtype of the indices that are arrays; Python integers follow."""
    known = {dtypes.dtype(i) for i in indices if type(i) is not int}
    for dtype in known:
        if not dtypes.issubdtype(dtype, np.integer):
            raise TypeError(f"index arguments to {name} must be integers of the same type, got: {dtype}")
    if not known:
        return position_dtype(max(shape, default=0))
    if len(known) > 1:
        raise TypeError(f"index arguments to {name} must be integers of the same type, got: {', '.join(sorted(d.name for d in known))}")
    dtype = known.pop()
    longest = max(shape, default=0)
    if (dtype.itemsize < 4 or longest > LAST) and longest > dtypes.iinfo(dtype).max:
        return position_dtype(longest)  # counting from the end must not overflow
    return dtype


def _as_array(x: Any) -> Any:
    """Made an array before x64 is turned on, which would change its dtype."""
    return x if isinstance(x, Array) else lax.convert_element_type(x, dtypes.dtype(x))


def _normal_index(i, n, dtype, allow_negative):
    if type(i) is int or isinstance(i, np.generic) or type(i) is np.ndarray:
        i = operator.index(i)
        i = i + n if i < 0 and allow_negative else i
        if dtype.itemsize < 4 or not -2**31 <= i < 2**31 or i < 0:
            limits = dtypes.iinfo(dtype)
            i = min(max(i, int(limits.min)), int(limits.max))
        return dtype.type(i)
    if dtypes.dtype(i) != dtype:
        i = lax.convert_element_type(i, dtype)
    if not allow_negative or dtype.kind == "u":
        return i
    # types are known to fit here, so the primitives are bound without the checks of lax's functions
    return lax.select_n_p.bind(lax.lt_p.bind(i, dtype.type(0)), i, lax.add_p.bind(i, dtype.type(n)))


def _clamped(indices, shape, sizes):
    """The indices as Python integers, moved so that a slice of ``sizes`` fits (for NumPy references)."""
    return [min(max(int(i), 0), n - m) for i, n, m in zip(indices, shape, sizes)]


def _stacked(indices, dims, axis):
    """Start indices, some of them batched, as an array ``[size, number of indices]``."""
    columns = [broadcast_in_dim(bdim_at_front(i, d, axis), (axis.size, 1), (0,)) for i, d in zip(indices, dims)]
    return lax.concatenate(columns, 1)


# -- dynamic_slice ---------------------------------------------------------------------------------------------------

def _dynamic_slice_type(x, *indices, slice_sizes):
    _check_indices("dynamic_slice", x, indices)
    if len(slice_sizes) != x.ndim:
        raise ValueError(f"dynamic_slice: slice_sizes={slice_sizes} must have one entry for each axis of operand "
                        f"{x.str_short()}.")
    if any(not 0 <= m <= n for m, n in zip(slice_sizes, x.shape)):
        raise TypeError(f"dynamic_slice: slice_sizes={slice_sizes} must lie between 0 and the shape of operand "
                        f"{x.str_short()}.")
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


def _dynamic_slice_transpose(ct, x, *indices, slice_sizes):
    none = [None] * len(indices)
    return [dynamic_update_slice_p.bind(zeros(splits.cotangent_type(x.aval).update(dtype=get_aval(ct).dtype)), ct, *indices), *none]


def _dynamic_slice_batch(axis, args, dims, *, slice_sizes):
    (x, *indices), (d, *index_dims) = args, dims
    if all(i is None for i in index_dims):
        first = indices[0].dtype.type(0) if indices else np.int32(0)
        indices.insert(d, first)
        sizes = (*slice_sizes[:d], axis.size, *slice_sizes[d:])
        return dynamic_slice_p.bind(x, *indices, slice_sizes=sizes), d
    starts, rank = _stacked(indices, index_dims, axis), len(slice_sizes)
    batched = d is not None
    if batched:
        x, slice_sizes = moved(x, d, 0), (min(1, axis.size), *slice_sizes)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(1, rank + 1)), collapsed_slice_dims=(),
        start_index_map=tuple(range(batched, rank + batched)),
        operand_batching_dims=(0,) * batched, start_indices_batching_dims=(0,) * batched)
    return lax.gather(x, starts, numbers, slice_sizes, mode="clip"), 0


def _dynamic_slice_lower(b, x, *indices, slice_sizes):
    if not indices:
        return x
    if b.compiler_errs:  # it adds the starts of slices of slices as they are
        indices = [_in_range(b, i, n - m) for i, n, m in zip(indices, x.aval.shape, slice_sizes)]
    return b.emit(f"stablehlo.dynamic_slice {x}, {', '.join(map(str, indices))}, sizes = {list(slice_sizes)}",
                  x, *indices, out=b.out_avals[0])


def _in_range(b: Builder, index: Value, last: int) -> Value:
    """``index``, from 0 to ``last``, which its dtype need not hold."""
    limit = b.scalar(min(last, np.iinfo(index.aval.dtype).max), index.aval.dtype)
    low = b.scalar(0, index.aval.dtype)
    return b.emit(f"stablehlo.clamp {low}, {index}, {limit}", low, index, limit, out=index.aval) if last else low


def _dynamic_slice_reference(x, *indices, slice_sizes):
    x = np.asarray(x)
    return x[tuple(builtins.slice(i, i + m) for i, m in zip(_clamped(indices, x.shape, slice_sizes), slice_sizes))]


def _dynamic_slice_accumulate(refs, cts, args, params):
    if not isinstance(cts[0], Zero):
        addupdate_p.bind(refs[0], cts[0], *args[1:], index=Index(tuple(Slice(None, n) for n in params["slice_sizes"])))
    return [Zero(args[0].aval), *[None] * (len(args) - 1)]


dynamic_slice_p: Primitive = Primitive(
    "dynamic_slice", out_type=_dynamic_slice_type,
    jvp=(lambda g, out, x, *indices, slice_sizes: dynamic_slice_p.bind(g, *indices, slice_sizes=slice_sizes),),
    transpose=_dynamic_slice_transpose, batch=_dynamic_slice_batch, lower=_dynamic_slice_lower,
    reference=_dynamic_slice_reference, exact=True,
    traits=Traits(Kind.MOVE, part=Part.FOUND, quick=Quick.SLOW_ON_RESULTS, inner=Inner.PIECES), splits=_slice_splits,
    sums=partial_sums.as_first, accumulate=_dynamic_slice_accumulate)


def dynamic_slice(operand: ArrayLike, start_indices: ArrayLike | Sequence[ArrayLike], slice_sizes: Sequence[int], *,
                  allow_negative_indices: bool | Sequence[bool] = True) -> Array:
    """A slice of known size whose start is known at run time; the start is clamped so that the slice fits.

    Args:
      operand: an array.
      start_indices: a scalar for each axis, or one integer array of rank 1.
      slice_sizes: lengths of the result's axes.
      allow_negative_indices: negative starts count from the end (one bool, or one for each axis).

    Raises:
      TypeError: starts are not integers, or the sizes do not fit. ValueError: wrong number of starts or sizes, or a start that is negative
        where that is not allowed.

    Source: StableHLO `dynamic_slice`.

    >>> lax.dynamic_slice(jnp.arange(10), (3,), (4,))
    Array([3, 4, 5, 6], dtype=int32)
    """
    if reaches_far(operand):
        operand = _as_array(operand)
        with flags.enable_x64(True):
            return dynamic_slice(operand, start_indices, slice_sizes, allow_negative_indices=allow_negative_indices)
    indices = _start_indices("dynamic_slice", operand, start_indices, allow_negative_indices)
    return dynamic_slice_p.bind(operand, *indices, slice_sizes=integers("lax.dynamic_slice: slice_sizes", slice_sizes))


def dynamic_slice_in_dim(operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0, *,
                         allow_negative_indices: bool = True) -> Array:
    """`dynamic_slice` along one axis. Source: StableHLO `dynamic_slice`.

    Args:
      operand: array.
      start_index: integer, which may be traced; it is moved so that the slice is inside of the array.
      slice_size: length of the slice, known while tracing.
      axis: along which to slice.
      allow_negative_indices: a negative start counts from the end.

    >>> lax.dynamic_slice_in_dim(jnp.arange(10), 7, 2)
    Array([7, 8], dtype=int32)
    """
    shape = np.shape(operand)
    axis = _canonical_axis("dynamic_slice_in_dim", axis, len(shape))
    if type(start_index) is int and type(slice_size) is int and 0 <= slice_size <= shape[axis]:
        found = _read_now(operand, axis, start_index, slice_size, allow_negative_indices)
        if found is not None:
            return found
    starts: list[ArrayLike] = [0] * len(shape)
    sizes = list(shape)
    starts[axis], sizes[axis] = start_index, integer("lax.dynamic_slice_in_dim: slice_size", slice_size)
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


_LARGE = 1 << 18  # bytes; the backend shall choose where so much is copied


def _read_now(x: Any, axis: int, start: int, size: int | None, allow_negative: bool) -> Array | None:
    """``size`` elements along an axis, or the one without its axis, read on the host; None unless ``x`` is an array there and nothing is traced."""
    if context.state.trace is not EVAL or isinstance(x, Tracer) or getattr(x, "committed", True) or start < 0 and not allow_negative:
        return None
    view = backends.get().host_view(x)
    if view is None or not view.shape[axis]:
        return None
    n = view.shape[axis]
    start = min(max(start + n if start < 0 else start, 0), n - (1 if size is None else size))
    out = view[(builtins.slice(None),) * (axis % view.ndim) + (start if size is None else builtins.slice(start, start + size),)]
    return None if out.nbytes >= _LARGE else backends.get().from_host(np.asarray(out, order="C"), x.weak_type, True)


def dynamic_index_in_dim(operand: ArrayLike, index: ArrayLike, axis: int = 0, keepdims: bool = True, *,
                         allow_negative_indices: bool = True) -> Array:
    """``operand[index]`` along one axis, for an index known at run time; out of bounds, the nearest element.

    Args:
      allow_negative_indices: whether a negative index counts from the end; else the first element is the nearest.

    Source: StableHLO `dynamic_slice`.

    >>> lax.dynamic_index_in_dim(jnp.array([10, 20, 30]), 1, keepdims=False)
    Array(20, dtype=int32)
    """
    index = _nearest(index, allow_negative_indices)
    if type(index) is int and not keepdims and type(axis) is int and -np.ndim(operand) <= axis < np.ndim(operand):
        found = _read_now(operand, axis, index, None, allow_negative_indices)
        if found is not None:
            return found
    out = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return out if keepdims else lax.squeeze(out, (axis % out.ndim,))


# -- dynamic_update_slice --------------------------------------------------------------------------------------------

def _update_type(x, update, *indices):
    if update.ndim != x.ndim:
        raise TypeError(f"lax.dynamic_update_slice: update {update.str_short()} and operand {x.str_short()} differ in rank; add "
                        "axes of length 1 to the update")
    if update.dtype != x.dtype:
        raise TypeError(f"dynamic_update_slice: operand and update must have the same dtype, got {x.dtype} and "
                        f"{update.dtype}; convert one of them.")
    if any(m > n for m, n in zip(update.shape, x.shape)):
        raise TypeError(f"dynamic_update_slice: update of shape {update.shape} is larger than the operand of shape "
                        f"{x.shape}.")
    _check_indices("dynamic_update_slice", x, indices)
    return x.update(weak_type=x.weak_type and update.weak_type)


def _update_jvp(primals, tangents):
    x, update, *indices = primals
    out = dynamic_update_slice_p.bind(*primals)
    gx, gu = tangents[:2]
    if isinstance(gx, Zero) and isinstance(gu, Zero):
        return out, Zero.of(out)
    return out, dynamic_update_slice_p.bind(instantiate(gx), instantiate(gu), *indices)


def _update_transpose(ct, x, update, *indices):
    ct_x = ct_update = None
    if is_linear(x):
        of = update.aval if is_linear(update) else get_aval(update)
        hole = zeros(ShapedArray(of.shape, get_aval(ct).dtype, sharding=of.placement))
        ct_x = dynamic_update_slice_p.bind(ct, hole, *indices)
    if is_linear(update):
        ct_update = dynamic_slice_p.bind(ct, *indices, slice_sizes=update.aval.shape)
    return [ct_x, ct_update, *[None] * len(indices)]


def _update_batch(axis, args, dims):
    (x, update, *indices), (dx, du, *index_dims) = args, dims
    if all(i is None for i in index_dims):
        d = dx if dx is not None else 0
        x = _matched(x, dx, d, axis)
        update = _matched(update, du, d, axis)
        indices.insert(d, indices[0].dtype.type(0) if indices else np.int32(0))
        return dynamic_update_slice_p.bind(x, update, *indices), d
    starts, rank = _stacked(indices, index_dims, axis), len(indices)
    x, update = bdim_at_front(x, dx, axis), bdim_at_front(update, du, axis)
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, rank + 1)), inserted_window_dims=(),
        scatter_dims_to_operand_dims=tuple(range(1, rank + 1)),
        operand_batching_dims=(0,), scatter_indices_batching_dims=(0,))
    return lax.scatter_p.bind(x, starts, update, dimension_numbers=numbers, indices_are_sorted=True, unique_indices=True,
                              mode=lax.GatherScatterMode.CLIP, update_jaxpr=None, update_consts=()), 0


def _matched(x, source, target, axis):
    """``x`` with its mapped axis at ``target``, made by repetition if it has none."""
    if source is None:
        return moved(bdim_at_front(x, None, axis), 0, target)
    return moved(x, source, target)


def _update_lower(b, x, update, *indices):
    if not indices:
        return update
    if b.platform == "cpu" and update.aval.size > 1:  # one element is read before it is written
        apart = b.to_write_over(x, update, indices)
        if apart is None:
            starts = [b.integer(i) for i in indices]
            return b.chosen(b.fun(_chosen_update, x, update, *indices)[0] if None in starts else _chosen_from(b, x, update, starts))
        update = apart
    return b.emit(f"stablehlo.dynamic_update_slice {x}, {update}, {', '.join(map(str, indices))}",
                  x, update, *indices, out=b.out_avals[0])


def _chosen_update(x, update, *indices):
    """The same, each element chosen from both arrays: nothing is overwritten."""
    shape, part = x.shape, update.shape
    last = [n - m for n, m in zip(shape, part)]
    wide = [s if s.dtype.itemsize >= 4 else lax.convert_element_type(s, np.int32) for s in indices]
    starts = [lax.clamp(s.dtype.type(0), s, s.dtype.type(k)) for s, k in zip(wide, last)]
    padded = lax.pad(update, np.zeros((), update.dtype), [(k, k, 0) for k in last])
    moved = lax.dynamic_slice(padded, [lax.sub(s.dtype.type(k), s) for s, k in zip(starts, last)], shape)
    chosen = None
    for axis, (s, n, m) in enumerate(zip(starts, shape, part)):
        if m < n:
            at = lax.sub(lax.broadcasted_iota(s.dtype, shape, axis), lax.broadcast(s, shape))
            inside = lax.bitwise_and(lax.ge(at, lax.full_like(at, 0)), lax.lt(at, lax.full_like(at, m)))
            chosen = inside if chosen is None else lax.bitwise_and(chosen, inside)
    return [update if chosen is None else lax.select(chosen, moved, x)]


def _chosen_from(b, x, update, starts):
    """The same for known starts, in few lines of text, as programs may have hundreds of these."""
    x, update = b.unplaced(x), b.unplaced(update)
    shape, part = x.aval.shape, update.aval.shape
    low = _clamped(starts, shape, part)
    high = [n - m - i for n, m, i in zip(shape, part, low)]
    padded = lambda x, fill, out: b.emit(f"stablehlo.pad {x}, {fill}, low = {low}, high = {high}, interior = {[0] * len(low)}", x, fill, out=out)

    def inside():
        axes = [axis for axis, (n, m) in enumerate(zip(shape, part)) if m < n]
        out = x.aval.update(dtype=np.dtype(bool), weak_type=False)
        if len(axes) != 1:
            return padded(b.full(True, out.update(shape=part)), b.scalar(False, out.dtype), out)
        axis, = axes  # two comparisons in one, which vectors like better: what is below the start becomes very large
        place = out.update(dtype=np.dtype(np.uint64 if shape[axis] > LAST else np.uint32))
        at = b.elementwise("stablehlo.subtract", b.emit(f"stablehlo.iota dim = {axis}", out=place), b.full(low[axis], place), out=place)
        return b.emit(f"stablehlo.compare LT, {at}, {b.full(part[axis], place)}, UNSIGNED", at, at, out=out)

    chosen, moved = b.once(("updated", shape, part, *low), inside), padded(update, b.scalar(0, x.aval.dtype), x.aval)
    return b.emit(f"stablehlo.select {chosen}, {moved}, {x}", chosen, moved, x, out=x.aval)


def _update_reference(x, update, *indices):
    out, update = np.array(x), np.asarray(update)
    starts = _clamped(indices, out.shape, update.shape)
    out[tuple(builtins.slice(i, i + m) for i, m in zip(starts, update.shape))] = update
    return out


def _update_splits(prim, avals, outs, params):
    """As the operand, which the update must be split like."""
    if splits.entries(avals[0]) != splits.entries(avals[1]):
        raise ShardingTypeError("lax.dynamic_update_slice: update sharding must be equal to operand sharding, got "
                                f"{splits.types_text(avals[:2])}; reshard one of them.")
    return [splits.entries(avals[0])]


dynamic_update_slice_p = Primitive(
    "dynamic_update_slice", out_type=_update_type, jvp=_update_jvp, transpose=_update_transpose, batch=_update_batch,
    lower=_update_lower, reference=_update_reference, exact=True,
    traits=Traits(Kind.KERNEL, part=Part.WRITTEN, inner=Inner.PIECES), splits=_update_splits)


def dynamic_update_slice(operand: ArrayLike, update: ArrayLike, start_indices: ArrayLike | Sequence[ArrayLike], *,
                         allow_negative_indices: bool | Sequence[bool] = True) -> Array:
    """``operand`` with ``update`` written over the slice that starts at ``start_indices`` (clamped so that it fits).

    Args:
      operand, update: arrays of one dtype and rank; the update is nowhere longer than the operand.
      start_indices: a scalar for each axis, or one integer array of rank 1.
      allow_negative_indices: negative starts count from the end.

    Raises:
      TypeError: ranks, lengths or dtypes do not fit. ValueError: wrong number of starts, or a negative one that is not allowed.

    Source: StableHLO `dynamic_update_slice`.

    >>> lax.dynamic_update_slice(jnp.zeros(4), jnp.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    if reaches_far(operand):
        operand, update = _as_array(operand), _as_array(update)
        with flags.enable_x64(True):
            return dynamic_update_slice(operand, update, start_indices, allow_negative_indices=allow_negative_indices)
    indices = _start_indices("dynamic_update_slice", operand, start_indices, allow_negative_indices)
    return dynamic_update_slice_p.bind(operand, update, *indices)


def dynamic_update_slice_in_dim(operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int, *,
                                allow_negative_indices: bool = True) -> Array:
    """`dynamic_update_slice` along one axis. Source: StableHLO `dynamic_update_slice`.

    Args:
      operand: array.
      update: array of the same rank, to be put into it.
      start_index: integer, which may be traced; it is moved so that the update is inside of the array.
      axis: along which it is put.
      allow_negative_indices: a negative start counts from the end.

    >>> lax.dynamic_update_slice_in_dim(jnp.zeros(4), jnp.ones(2), 2, 0)
    Array([0., 0., 1., 1.], dtype=float32)
    """
    rank = np.ndim(operand)
    starts: list[Any] = [0] * rank
    starts[_canonical_axis("dynamic_update_slice_in_dim", axis, rank)] = start_index
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(operand: ArrayLike, update: ArrayLike, index: ArrayLike, axis: int, *,
                                allow_negative_indices: bool = True) -> Array:
    """``operand`` with ``operand[index]`` along one axis replaced; ``update`` has length 1 there, or lacks the axis.

    Raises:
      ValueError: ``update`` has neither the operand's rank nor one less.

    Source: StableHLO `dynamic_update_slice`.

    >>> lax.dynamic_update_index_in_dim(jnp.zeros(3), 5., 1, 0)
    Array([0., 5., 0.], dtype=float32)
    """
    axis = _canonical_axis("dynamic_update_index_in_dim", axis, np.ndim(operand))
    if np.ndim(update) != np.ndim(operand):
        if np.ndim(update) + 1 != np.ndim(operand):
            raise ValueError(f"dynamic_update_index_in_dim: update of shape {np.shape(update)} must have the rank of the "
                             f"operand of shape {np.shape(operand)}, or one less.")
        update = lax.expand_dims(update, (axis,))
    index = _nearest(index, allow_negative_indices)
    return dynamic_update_slice_in_dim(operand, update, index, axis, allow_negative_indices=allow_negative_indices)
