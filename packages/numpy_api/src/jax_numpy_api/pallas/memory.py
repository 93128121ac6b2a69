"""Reading and writing parts of references in ways that ``ref[...]`` has no words for: under a mask, atomically.

Where an index is out of bounds, a masked read or write touches nothing, as long as the mask is false there.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.references import indexing
from jax_core.references.api import Ref, RefView
from jax_core.references.indexing import Index
from jax_core.references.primitives import get_p, is_ref, ref_primitive, strong, swap_p
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.typing import ArrayLike, Indexer
from jax_core.traces.structural import convert_element_type_p

from .. import numpy as jnp


def part_of(name: str, ref: Any, index: Any) -> tuple[Any, Index, list]:
    """The reference, and the static and moving part of the index, that ``ref`` (maybe a view) and ``index`` name."""
    if isinstance(ref, RefView):
        if len(ref.path) > 1 or ref.path and index is not None:
            found = indexing.composed((*ref.path, index), ref.ref.shape)
            if found is None:
                raise NotImplementedError(f"{name}: a view by an array of integers and a view of it ({ref!r}); name the part by one index, "
                                          "ref.at[index].")
            return (ref.ref, *found)
        ref, index = ref.ref, ref.path[0] if ref.path else index
    if not (isinstance(ref, Ref) or is_ref(ref)):
        raise ValueError(f"{name} must be called on a reference, or on a view ref.at[index] of one, got {ref!r} of type {type(ref).__name__}.")
    return (ref, *indexing.parse(index, ref.shape))


def _fits(name: str, what: str, aval: Any, shape: Sequence[int], dtype: Any) -> None:
    if aval.dtype != dtype or aval.shape != tuple(shape):
        raise ValueError(f"{name}: {what} is {aval.str_short()}, and {np.dtype(dtype).name}{list(shape)} is expected; convert it to this dtype "
                         "and broadcast it to this shape.")


def _in_dtype(ref: Any, value: Any) -> Any:
    """A number, or a weakly typed value, in the dtype of ``ref``; anything else as it is."""
    aval = get_aval(value)
    if aval.dtype == ref.dtype or not aval.weak_type:
        return value
    if isinstance(value, (bool, int, float, complex)):
        return np.asarray(value, ref.dtype)[()]
    return convert_element_type_p.bind(value, new_dtype=ref.dtype, weak_type=False)


# -- on contents -------------------------------------------------------------------------------------------------------

def positions(contents: Any, index: Index, operands: Sequence[Any]) -> tuple | None:
    """For each axis the positions of all elements of the part, so that nothing is moved where it runs over the end of the array.

    None for the whole array, and where arrays of indices stand beside slices.
    """
    moving, key = iter(operands), []
    for e in index.entries:
        if type(e) is indexing.Slice:
            start = next(moving) if e.start is None else np.int32(e.start)
            key.append((start + np.arange(e.size, dtype=np.int32) * np.int32(e.stride), True))
        else:
            key.append((next(moving) if e is None else np.int32(e), False))
    slices, arrays = sum(s for _, s in key), any(np.shape(k) and not s for k, s in key)
    if not key or slices and arrays:
        return None
    part = indexing.part_shape(np.shape(contents), index, [get_aval(x) for x in operands])
    place, found = 0, []
    for k, is_slice in key:
        if is_slice:
            k = jnp.reshape(k, (-1, *[1] * (slices - place - 1)))
            place += 1
        found.append(jnp.broadcast_to(k, part))
    return tuple(found)


def _read(contents, index, operands):
    """The part; zeros where it is out of bounds."""
    key = positions(contents, index, operands)
    if key is None:
        return indexing.read(contents, index, operands)
    return contents.at[key].get(mode="fill", fill_value=0, wrap_negative_indices=False)


def _masked(key, mask, contents):
    """The positions, out of bounds where the mask is false."""
    return (jnp.where(mask, key[0], np.shape(contents)[0]), *key[1:])


def _write(contents, index, operands, value, mask):
    key = positions(contents, index, operands)
    if key is None:
        return indexing.write(contents, index, operands, jnp.where(mask, value, indexing.read(contents, index, operands)))
    return contents.at[_masked(key, mask, contents)].set(value, mode="drop", wrap_negative_indices=False)


# -- masked loads and stores -------------------------------------------------------------------------------------------

def _load_type(ref, mask, other, *operands, index):
    shape = indexing.part_shape(ref.shape, index, operands)
    _fits("load", "the mask", mask, shape, np.bool_)
    _fits("load", "other", other, shape, ref.dtype)
    return ShapedArray(shape, ref.dtype)


def _load(contents, mask, other, *operands, index):
    return jnp.where(mask, _read(contents, index, operands), other), None


masked_load_p = ref_primitive("masked_load", out_type=_load_type, on_contents=_load, writes=False)


def _swap_type(ref, value, mask, *operands, index):
    shape = indexing.part_shape(ref.shape, index, operands)
    _fits("store", "the value", value, shape, ref.dtype)
    _fits("store", "the mask", mask, shape, np.bool_)
    return ShapedArray(shape, ref.dtype)


def _swap(contents, value, mask, *operands, index):
    return _read(contents, index, operands), _write(contents, index, operands, value, mask)


masked_swap_p = ref_primitive("masked_swap", out_type=_swap_type, on_contents=_swap)


def load(ref: Any, idx: Indexer | None = None, *, mask: ArrayLike | None = None, other: ArrayLike | None = None,
         cache_modifier: str | None = None, eviction_policy: str | None = None, volatile: bool = False) -> Any:
    """The part of ``ref`` that ``idx`` names, where ``mask`` is true.

    Args:
      ref: a reference, or a view ``ref.at[index]`` (then without ``idx``).
      mask: booleans that broadcast to the part; elements where it is false are not read, and may be out of bounds.
      other: what the result is there; by default zeros. It broadcasts to the part. Without a mask it is nowhere.
      cache_modifier, eviction_policy, volatile: hints for GPUs; they do not change the result.

    Raises:
      ValueError: an index that is known to be out of bounds.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x, out):
    ...     i = jax.lax.iota(jnp.int32, 4)
    ...     out[...] = pl.load(x, i, mask=i < 3, other=-1.0)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((4,), jnp.float32), interpret=True)(jnp.ones(3))
    Array([ 1.,  1.,  1., -1.], dtype=float32)
    """
    ref, index, operands = part_of("load", ref, idx)
    if mask is None:
        return get_p.bind(ref, *operands, index=index)
    shape = indexing.part_shape(ref.shape, index, [get_aval(x) for x in operands])
    other = np.zeros((), ref.dtype)[()] if other is None else _in_dtype(ref, other)
    return masked_load_p.bind(ref, jnp.broadcast_to(mask, shape), jnp.broadcast_to(other, shape), *operands, index=index)


def swap(ref: Any, idx: Indexer | None, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> Any:
    """Store ``val`` in the part of ``ref`` that ``idx`` names, where ``mask`` is true, and return what was there before.

    ``val`` has the dtype of ``ref`` and, as ``mask``, the shape of the part, or broadcasts to it.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref, old_ref):
    ...     o_ref[...] = x_ref[...]
    ...     old_ref[...] = pl.swap(o_ref, (pl.ds(0, 2),), jnp.zeros(2))
    >>> shapes = jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((2,), jnp.float32)
    >>> pl.pallas_call(kernel, shapes, interpret=True)(jnp.arange(1., 4.))
    (Array([0., 0., 3.], dtype=float32), Array([1., 2.], dtype=float32))
    """
    ref, index, operands = part_of("swap", ref, idx)
    shape = indexing.part_shape(ref.shape, index, [get_aval(x) for x in operands])
    if mask is None:
        return swap_p.bind(ref, _in_dtype(ref, val), *operands, index=index)
    return masked_swap_p.bind(ref, _in_dtype(ref, val), jnp.broadcast_to(mask, shape), *operands, index=index)


def store(ref: object, idx: Indexer, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> None:
    """Store ``val`` in the part of ``ref`` that ``idx`` names, where ``mask`` is true; see `swap`.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = jnp.zeros(3)
    ...     pl.store(o_ref, (pl.ds(0, 2),), x_ref[:2], mask=x_ref[:2] > 0)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.array([1., -1., 1.]))
    Array([1., 0., 0.], dtype=float32)
    """
    swap(ref, idx, val, mask=mask)


def store_view(ref: object, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> None:
    """Store ``val`` in ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = jnp.zeros(3)
    ...     pltpu.store(o_ref.at[pl.ds(0, 2)], x_ref[:2])
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.ones(3))
    Array([1., 1., 0.], dtype=float32)
    """
    swap(ref, None, val, mask=mask)


def load_view(ref: object, *, mask: ArrayLike | None = None, other: ArrayLike | None = None, cache_modifier: str | None = None,
              eviction_policy: str | None = None, volatile: bool = False) -> Any:
    """The contents of ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = pltpu.load(x_ref.at[pl.ds(1, 2)])
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([1., 2.], dtype=float32)
    """
    return load(ref, None, mask=mask, other=other)


# -- atomics -----------------------------------------------------------------------------------------------------------

_ATOMICS: dict[str, tuple[str | None, Callable]] = {  # the method of ``x.at[...]``, and the operation on elements
    "add": ("add", jnp.add), "max": ("max", jnp.maximum), "min": ("min", jnp.minimum), "xchg": ("set", lambda old, new: new),
    "and": (None, jnp.bitwise_and), "or": (None, jnp.bitwise_or), "xor": (None, jnp.bitwise_xor)}


def _atomic_type(ref, value, mask, *operands, index, op):
    shape = indexing.part_shape(ref.shape, index, operands)
    _fits(f"atomic_{op}", "the value", value, shape, ref.dtype)
    _fits(f"atomic_{op}", "the mask", mask, shape, np.bool_)
    if _ATOMICS[op][0] is None and not (dtypes.issubdtype(ref.dtype, np.integer) or ref.dtype == np.bool_):
        raise TypeError(f"atomic_{op}: the reference holds {ref.dtype.name}, and bits of integers are expected.")
    return ShapedArray(shape, ref.dtype)


def _atomic(contents, value, mask, *operands, index, op):
    old = _read(contents, index, operands)
    method, combine = _ATOMICS[op]
    key = positions(contents, index, operands)
    if method is None or key is None:  # an element that the index names twice is changed once
        return old, _write(contents, index, operands, combine(old, value), mask)
    at = contents.at[_masked(key, mask, contents)]
    return old, getattr(at, method)(value, mode="drop", wrap_negative_indices=False)


atomic_p = ref_primitive("atomic_rmw", out_type=_atomic_type, on_contents=_atomic)


def _atomic_function(op: str, meaning: str, value: int, then: Sequence[int]) -> Callable:
    """The function; its example changes the last of ``[1, 2, 3]`` by ``value``, which leaves ``then``."""
    def function(x_ref_or_view: object, idx: Indexer | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
        ref, index, operands = part_of(f"atomic_{op}", x_ref_or_view, idx)
        shape = indexing.part_shape(ref.shape, index, [get_aval(x) for x in operands])
        value = jnp.broadcast_to(_in_dtype(ref, val), shape)
        return atomic_p.bind(ref, value, jnp.broadcast_to(True if mask is None else mask, shape), *operands, index=index, op=op)
    function.__name__ = function.__qualname__ = f"atomic_{op}"
    function.__doc__ = f"""{meaning} the part of a reference that ``idx`` names, atomically, where ``mask`` is true.

    ``val`` and ``mask`` broadcast to the part. Returns what was there before.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = x_ref[...]
    ...     pl.atomic_{op}(o_ref, (2,), {value})
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.int32), interpret=True)(jnp.array([1, 2, 3]))
    Array({then}, dtype=int32)
    """
    return function


atomic_add = _atomic_function("add", "Add ``val`` to", 10, [1, 2, 13])
atomic_max = _atomic_function("max", "Store the larger one of ``val`` and what is there in", 7, [1, 2, 7])
atomic_min = _atomic_function("min", "Store the smaller one of ``val`` and what is there in", 0, [1, 2, 0])
atomic_xchg = _atomic_function("xchg", "Store ``val`` in", 7, [1, 2, 7])
atomic_and = _atomic_function("and", "Store the bitwise and of ``val`` and what is there in", 1, [1, 2, 1])
atomic_or = _atomic_function("or", "Store the bitwise or of ``val`` and what is there in", 8, [1, 2, 11])
atomic_xor = _atomic_function("xor", "Store the bitwise exclusive or of ``val`` and what is there in", 1, [1, 2, 2])


def _cas_type(ref, compared, value):
    if ref.shape or compared.shape or value.shape:
        raise ValueError(f"atomic_cas works on a scalar, got a reference of type {ref} and values of types {compared.str_short()} and "
                         f"{value.str_short()}.")
    return ShapedArray((), ref.dtype)


atomic_cas_p = ref_primitive("atomic_cas", out_type=_cas_type,
                             on_contents=lambda x, compared, value: (x, jnp.where(strong(x) == compared, value, x)))


def atomic_cas(ref: object, cmp: ArrayLike, val: ArrayLike) -> Any:
    """Store ``val`` in the scalar reference ``ref`` if it holds ``cmp``, atomically; returns what was there before.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = x_ref[...]
    ...     pl.atomic_cas(o_ref, 7, 1)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((), jnp.int32), interpret=True)(jnp.array(7))
    Array(1, dtype=int32)
    """
    return atomic_cas_p.bind(ref, _in_dtype(ref, cmp), _in_dtype(ref, val))
