"""Collectives that move data between the positions of a named axis: gathers, scattered sums, permutations, exchanges.

They follow what `parallel` says of collectives.

Source: StableHLO specification, `all_gather`, `reduce_scatter`, `collective_permute`, `all_to_all`.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.configuration import context
from jax_core.references.primitives import strong
from jax_core.representation import dtypes, splits, tree
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.manual_axis_type import UnreducedKind
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, moved, reduce_sum_p, transpose
from jax_core.traces.trace import Tracer
from jax_core.transformations import manual
from jax_core.transformations.manual import env_of, in_bytes, sum_of_parts

from .arithmetic import mul
from .compare import eq
from .gather import index_take
from .nary import as_operand
from .parallel import (
    AxisName,
    Groups,
    axis_effects,
    axis_index,
    check_all_mapped,
    check_groups,
    group_size,
    in_groups,
    names_of,
    psum,
    pvary,
    size_of,
    take_rows,
    times,
    vary_over_names,
)
from .select import select_n
from .shape import canonical_axis, reshape
from .slicing import dynamic_slice_in_dim

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.transformations.batching import AxisData


# -- all_gather ------------------------------------------------------------------------------------------------------

def all_gather(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None, axis: int = 0,
               tiled: bool = False, to: str = "varying") -> Any:
    """The values at all positions of a named axis, stacked along a new axis ``axis``, or with ``tiled`` joined along it.

    Args:
      x: a pytree of arrays.
      axis_name: one name or several; over none the result is ``x`` itself, without a new axis.
      axis_index_groups: gather within these groups of positions.
      to: inside a checked `shard_map`, whether the result counts as ``"varying"`` over the axis, or is known to be equal
        everywhere (``"invarying"``), with a cotangent that is a sum still to be made (``"reduced"``). Elsewhere there is no difference.

    Raises:
      NameError: the axis is not in scope. ValueError: ``axis`` or ``to`` is none there is.

    Source: StableHLO `all_gather`.

    >>> jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(jnp.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    names = names_of(axis_name, "all_gather")
    if to not in ("varying", "invarying", "reduced"):
        raise ValueError(f"lax.all_gather: to must be 'varying', 'invarying' or 'reduced', got {to!r}.")
    groups = check_groups("all_gather", names, axis_index_groups)
    size = group_size(names, groups)

    def gather_leaf(leaf: Array):
        rank = np.ndim(leaf) + (not tiled)
        if not -rank <= axis < rank:
            raise ValueError(f"lax.all_gather: axis {axis} does not exist in a result of rank {rank}.")
        if not names:
            return as_operand("all_gather", leaf, 0)
        equal = to != "varying" and groups is None and all(map(manual.is_checked, names))
        prim = all_gather_p if not equal else all_gather_invariant_p if to == "invarying" else all_gather_reduced_p
        return prim.bind(leaf, all_gather_dimension=axis % rank, axis_name=names, axis_index_groups=groups,
                         axis_size=size, tiled=tiled)
    return tree.tree_map(gather_leaf, x)


def _all_gather_type(x, *, all_gather_dimension, axis_size, tiled, **_):
    shape, d = list(x.shape), all_gather_dimension
    if tiled:
        shape[d] *= axis_size
    else:
        shape.insert(d, axis_size)
    return ShapedArray(shape, x.dtype, x.weak_type)


def _gathered_splits(prim, avals, outs, params):
    """Axes that the collective leaves alone, or whose rows it sends, stay split over the mesh axes that are not manual."""
    found = list(splits.entries(avals[0]))
    if not params["tiled"]:
        found.insert(params["all_gather_dimension"], None)
    return [splits.where_even(avals[0], found, outs[0].shape)]


def _scattered_splits(prim, avals, outs, params):
    found = list(splits.entries(avals[0]))
    if not params["tiled"]:
        del found[params["scatter_dimension"]]
    return [splits.where_even(avals[0], found, outs[0].shape)]


def _merged(x, dim):
    """Axes ``dim`` and ``dim + 1`` as one."""
    shape = np.shape(x)
    return reshape(x, (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2:]))


def _parted(x, dim, count):
    """Axis ``dim`` as two, the first of length ``count``."""
    shape = np.shape(x)
    if shape[dim] % count:
        raise ValueError(f"an axis of length {shape[dim]} cannot be divided into {count} equal parts")
    return reshape(x, (*shape[:dim], count, shape[dim] // count, *shape[dim + 1:]))


def _with_mapped_in_front(prim, x, d, dimension, **params):
    """``prim`` where the mapped axis is none that it names: that axis goes to the front, which moves the one that ``dimension`` names."""
    return prim.bind(moved(x, d, 0), **{dimension: params.pop(dimension) + 1}, **params), 0


def _all_gather_batch(axis, args, dims, **params):
    (x,), (d,) = args, dims
    if axis.name not in params["axis_name"]:
        return _with_mapped_in_front(all_gather_p, x, d, "all_gather_dimension", **params)
    return _gather_mapped(axis, x, d, **params)


def _gather_mapped(axis, x, d, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    dim = all_gather_dimension
    place = axis_name.index(axis.name)
    rows = bdim_at_front(x, d, axis)
    if axis_index_groups is not None:
        check_all_mapped(axis, axis_name)
        return _gather_groups(rows, dim, axis_index_groups, tiled)
    outer, inner = axis_name[:place], axis_name[place + 1:]
    if outer or inner:  # gather over the other names with the mapped axis kept in its place among them
        rows = moved(rows, 0, dim)
        if inner:
            n = math.prod(size_of(a, "all_gather") for a in inner)
            rows = all_gather_p.bind(rows, all_gather_dimension=dim + 1, axis_name=inner, axis_size=n,
                                     axis_index_groups=None, tiled=False)
            rows = _merged(rows, dim)
        if outer:
            n = math.prod(size_of(a, "all_gather") for a in outer)
            rows = all_gather_p.bind(rows, all_gather_dimension=dim, axis_name=outer, axis_size=n,
                                     axis_index_groups=None, tiled=False)
            rows = _merged(rows, dim)
    else:
        rows = moved(rows, 0, dim)
    return (_merged(rows, dim) if tiled else rows), None


def _gather_groups(rows, dim, groups, tiled):
    """For each position the rows of its group, at axis ``dim`` of the result; the mapped axis is first."""
    group_of = {i: g for g in groups for i in g}
    flat = take_rows(rows, [j for i in range(np.shape(rows)[0]) for j in group_of[i]])
    out = moved(_parted(flat, 0, np.shape(rows)[0]), 1, dim + 1)
    return (_merged(out, dim + 1) if tiled else out), 0


def _all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    return reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, axis_name=axis_name,
                                 axis_index_groups=axis_index_groups, axis_size=axis_size, tiled=tiled)


def _all_gather_lower(b, x, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    dim, out = all_gather_dimension, b.out_avals[0]
    if 0 in out.shape:  # StableHLO knows no gathering of nothing
        return b.full(0, out)
    if not tiled:
        x = b.reshape(x, (*x.aval.shape[:dim], 1, *x.aval.shape[dim:]))
    attrs = env_of(b, axis_name).attributes(axis_name, axis_index_groups)

    def gathered(x):
        return b.emit(f'"stablehlo.all_gather"({x})', x, out=out.update(dtype=x.aval.dtype), attrs=f"{{all_gather_dim = {dim} : i64, {attrs}}}")
    return in_bytes(b, x, gathered)


all_gather_p = Primitive(
    "all_gather", cacheable=False, out_type=_all_gather_type, effects=axis_effects, jvp=LINEAR, transpose=_all_gather_transpose,
    batch=_all_gather_batch, lower=_all_gather_lower,
    agree=vary_over_names, traits=Traits(Kind.ALL_GATHER), splits=_gathered_splits)


def _all_gather_invariant_type(x, *, axis_name, **params):
    return _all_gather_type(x, axis_name=axis_name, **params).update(vma=x.vma.difference(axis_name))


def _all_gather_invariant_transpose(ct, x, *, all_gather_dimension, axis_name, axis_size, tiled, **_):
    """Each position's own part of a cotangent that is equal everywhere."""
    dim = all_gather_dimension
    length = x.aval.shape[dim] if tiled else 1
    ct = pvary(ct, axis_name)
    own = dynamic_slice_in_dim(ct, mul(axis_index(axis_name), np.int32(length)), length, dim)
    return own if tiled else _squeezed(own, dim)


all_gather_invariant_p: Primitive = Primitive(
    "all_gather_invariant", cacheable=False, out_type=_all_gather_invariant_type, effects=axis_effects, jvp=LINEAR,
    transpose=_all_gather_invariant_transpose, lower=_all_gather_lower,
    batch=lambda axis, args, dims, *, all_gather_dimension, **params: (all_gather_invariant_p.bind(
        moved(args[0], dims[0], 0), all_gather_dimension=all_gather_dimension + 1, **params), 0),
    own_type=True, agree=vary_over_names, traits=Traits(Kind.ALL_GATHER), splits=_gathered_splits)


def _all_gather_reduced_type(x, *, axis_name, **params):
    x_sums = x.sums._replace(reduced=x.sums.reduced.union(axis_name))
    return _all_gather_type(x, axis_name=axis_name, **params).update(vma=x.vma.difference(axis_name), sums=x_sums)


def _dimension_moved(prim, name):
    """The batching rule of a collective along an axis that is not the mapped one; ``name`` is the parameter that counts axes."""
    def batch(axis: AxisData, args, dims: Sequence[int | None], **params):
        return prim().bind(moved(args[0], dims[0], 0), **{**params, name: params[name] + 1}), 0
    return batch


def _as_scatter(ct, x, *, all_gather_dimension, **params):
    return unreduced_reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)


def _as_gather(ct, x, *, scatter_dimension, **params):
    return all_gather_reduced_p.bind(ct, all_gather_dimension=scatter_dimension, **params)


all_gather_reduced_p: Primitive = Primitive(
    "all_gather_reduced", cacheable=False, out_type=_all_gather_reduced_type, effects=axis_effects, jvp=LINEAR,
    transpose=_as_scatter, lower=_all_gather_lower,
    batch=_dimension_moved(lambda: all_gather_reduced_p, "all_gather_dimension"),
    own_type=True, agree=vary_over_names, traits=Traits(Kind.ALL_GATHER), splits=_gathered_splits)


# -- psum_scatter ----------------------------------------------------------------------------------------------------

def psum_scatter(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, scatter_dimension: int = 0,
                 axis_index_groups: Groups = None, tiled: bool = False) -> Any:
    """The sum over a named axis, of which each position keeps its own part along ``scatter_dimension``.

    Args:
      x: a pytree of arrays whose ``scatter_dimension`` has the length of the named axis, or with ``tiled`` a multiple.
      axis_name: one name or several; over none the result is ``x`` itself.
      tiled: keep the axis with the length of one part, in place of dropping it.

    Raises:
      NameError: the axis is not in scope. ValueError: the length does not fit.

    Source: StableHLO `reduce_scatter`.

    >>> jax.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    names = names_of(axis_name, "psum_scatter")
    groups = check_groups("psum_scatter", names, axis_index_groups)
    size = group_size(names, groups)

    def scatter_leaf(leaf: Array):
        leaf = as_operand("psum_scatter", leaf, 0)
        dim = canonical_axis("psum_scatter", scatter_dimension, np.ndim(leaf))
        if not names:
            return leaf
        n = np.shape(leaf)[dim]
        if n % size if tiled else n != size:
            raise ValueError(f"lax.psum_scatter: axis {scatter_dimension} of an operand of shape {np.shape(leaf)} must "
                             f"have {'a multiple of ' if tiled else ''}the length {size} of axis {axis_name!r}.")
        addends = isinstance(leaf, Tracer) and leaf.aval.sums.unreduced.issuperset(names) and groups is None
        prim = unreduced_reduce_scatter_p if addends else reduce_scatter_p
        return prim.bind(leaf, scatter_dimension=dim, axis_name=names,
                         axis_index_groups=groups, axis_size=size, tiled=tiled)
    return tree.tree_map(scatter_leaf, x)


def _reduce_scatter_type(x, *, scatter_dimension, axis_size, tiled, **_):
    shape, d = list(x.shape), scatter_dimension
    if tiled:
        shape[d] //= axis_size
    else:
        del shape[d]
    return ShapedArray(shape, x.dtype, x.weak_type)


def _reduce_scatter_batch(axis, args, dims, **params):
    (x,), (d,) = args, dims
    if axis.name not in params["axis_name"]:
        return _with_mapped_in_front(reduce_scatter_p, x, d, "scatter_dimension", **params)
    return _scatter_mapped(axis, x, d, **params)


def _scatter_mapped(axis, x, d, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    dim = scatter_dimension
    if len(axis_name) > 1:
        raise NotImplementedError("lax.psum_scatter over several axes of which only some are mapped by vmap; scatter over "
                                  "one axis after the other.")
    if axis_index_groups is not None:
        x = bdim_at_front(x, d, axis)
        total = in_groups(x, 0, axis_index_groups, lambda v, a: reduce_sum_p.bind(v, axes=(a,), out_sharding=None))
        parts = _parted(total, dim + 1, axis_size)
        place = {i: k for g in axis_index_groups for k, i in enumerate(g)}
        n = axis.size
        rows = index_take(moved(parts, dim + 1, 1), [np.arange(n, dtype=np.int32),
                                                     np.asarray([place[i] for i in range(n)], np.int32)], (0, 1))
        return (rows if tiled else _squeezed(rows, dim + 1)), 0
    total = times(x, axis.size) if d is None else reduce_sum_p.bind(x, axes=(d,), out_sharding=None)
    return (_parted(total, dim, axis.size) if tiled else total), dim


def _squeezed(x, dim):
    shape = np.shape(x)
    return reshape(x, shape[:dim] + shape[dim + 1:])


def _reduce_scatter_transpose(ct, x, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    return all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, axis_name=axis_name,
                             axis_index_groups=axis_index_groups, axis_size=axis_size, tiled=tiled)


def _reduce_scatter_lower(b, x, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    if 0 in b.out_avals[0].shape:
        return b.full(0, b.out_avals[0])
    attrs = env_of(b, axis_name).attributes(axis_name, axis_index_groups)
    shape = list(x.aval.shape)
    shape[scatter_dimension] //= axis_size

    def scattered(x):
        return b.emit(f'"stablehlo.reduce_scatter"({x}) ({b.reducer("stablehlo.add", x.aval.dtype)})', x,
                      out=ShapedArray(shape, x.aval.dtype), attrs=f"{{scatter_dimension = {scatter_dimension} : i64, {attrs}}}")
    return b.reshape(sum_of_parts(b, x, scattered), b.out_avals[0].shape)


reduce_scatter_p = Primitive(
    "reduce_scatter", cacheable=False, out_type=_reduce_scatter_type, effects=axis_effects, jvp=LINEAR,
    transpose=_reduce_scatter_transpose, batch=_reduce_scatter_batch, lower=_reduce_scatter_lower,
    agree=vary_over_names, traits=Traits(Kind.ALL_GATHER), splits=_scattered_splits)


def _unreduced_scatter_type(x, *, axis_name, **params):
    if x.sums.kind is not UnreducedKind.sum or not x.sums.unreduced.issuperset(axis_name):
        raise ValueError(f"unreduced_reduce_scatter: the operand of type {x.str_short()} must be a sum that is still to be made over {axis_name}.")
    left = x.sums.unreduced.difference(axis_name)
    return _reduce_scatter_type(x, axis_name=axis_name, **params).update(
        vma=x.vma.union(axis_name), sums=x.sums._replace(unreduced=left, kind=UnreducedKind.sum if left else None))


unreduced_reduce_scatter_p: Primitive = Primitive(
    "unreduced_reduce_scatter", cacheable=False, out_type=_unreduced_scatter_type, effects=axis_effects, jvp=LINEAR,
    transpose=_as_gather, batch=_dimension_moved(lambda: unreduced_reduce_scatter_p, "scatter_dimension"), lower=_reduce_scatter_lower,
    own_type=True, agree=lambda args, params: (args, params), traits=Traits(Kind.ALL_GATHER), splits=_scattered_splits)


# -- ppermute --------------------------------------------------------------------------------------------------------

def ppermute(x: PyTree, axis_name: AxisName | Sequence[AxisName], perm: Sequence[tuple[int, int]]) -> Any:
    """Send the value at position ``source`` to ``destination`` for each pair in ``perm``; positions that get nothing get zeros.

    Args:
      x: a pytree of arrays.
      perm: pairs ``(source, destination)``; no source and no destination twice.

    Raises:
      NameError: the axis is not in scope. ValueError: a source or destination is repeated or out of range.
      TypeError: ``perm`` is neither list nor tuple. RuntimeError: the axes of a mesh are named in another order than its own.

    Source: StableHLO `collective_permute`.

    >>> jax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]), axis_name="i")(jnp.array([7, 8]))
    Array([8, 7], dtype=int32)
    """
    names = names_of(axis_name, "ppermute")
    if not isinstance(perm, (list, tuple)):
        raise TypeError("lax.ppermute: the `perm` passed to `jax.lax.ppermute` must be a list or tuple of pairs, got one of type "
                        f"{type(perm).__name__}")
    size = group_size(names, None)
    in_mesh = [name for name, axis in context.state.axes if name in names and isinstance(axis, manual.ManualAxis)]
    if len(in_mesh) == len(names) and in_mesh != list(names):
        raise RuntimeError(f"lax.ppermute: axis_name={tuple(names)} must be in the order of the mesh, {tuple(in_mesh)}, as `perm` counts the devices in that "
                           "order.")
    perm = tuple((operator.index(s), operator.index(d)) for s, d in perm)
    for kind, indices in (("source", [s for s, _ in perm]), ("destination", [d for _, d in perm])):
        if len(set(indices)) != len(indices) or any(not 0 <= i < size for i in indices):
            raise ValueError(f"lax.ppermute: perm={perm} must name each {kind} at most once, in [0, {size}).")
    return tree.tree_map(lambda leaf: ppermute_p.bind(leaf, axis_name=names, perm=perm), x)


def pshuffle(x: PyTree, axis_name: AxisName | Sequence[AxisName], perm: Sequence[int]) -> Any:
    """Position ``i`` gets the value of position ``perm[i]``; ``perm`` must be a permutation.

    Raises:
      NameError: the axis is not in scope. ValueError: not a permutation.

    Source: StableHLO `collective_permute`.

    >>> jax.vmap(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(jnp.array([7, 8, 9]))
    Array([9, 7, 8], dtype=int32)
    """
    if sorted(perm) != list(range(len(perm))):
        raise ValueError(f"lax.pshuffle: perm={tuple(perm)} does not represent a permutation of 0 to {len(perm) - 1}.")
    return ppermute(x, axis_name, [(source, i) for i, source in enumerate(perm)])


def pbroadcast(x: PyTree, axis_name: AxisName | Sequence[AxisName], source: int) -> Any:
    """The value at position ``source``, at all positions.

    Raises:
      NameError: the axis is not in scope. ValueError: ``source`` is out of range.

    Source: StableHLO `all_reduce` of the value and zeros.

    >>> jax.vmap(lambda v: jax.lax.pbroadcast(v, 'i', 1), axis_name='i')(jnp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    names = names_of(axis_name, "pbroadcast")
    size = group_size(names, None)
    if not 0 <= source < size:
        raise ValueError(f"lax.pbroadcast: source {source} must lie in [0, {size}).")
    here = eq(axis_index(axis_name), np.int32(source))

    def send(leaf: Array):
        kept = select_n(here, broadcast_in_dim(np.zeros((), get_aval(leaf).dtype)[()], np.shape(leaf), ()), leaf)
        return psum(kept, axis_name)
    return tree.tree_map(send, x)


def _ppermute_batch(axis, args, dims, *, axis_name, perm):
    (x,), (d,) = args, dims
    if axis.name not in axis_name:
        return ppermute_p.bind(x, axis_name=axis_name, perm=perm), d
    if len(axis_name) > 1:
        raise NotImplementedError("lax.ppermute over several axes of which only some are mapped by vmap; permute one axis "
                                  "after the other.")
    rows = bdim_at_front(x, d, axis)
    source = {to: start for start, to in perm}
    moved_rows = take_rows(rows, [source.get(i, i) for i in range(axis.size)])
    if len(source) == axis.size:
        return moved_rows, 0
    gets = broadcast_in_dim(np.asarray([i in source for i in range(axis.size)]), np.shape(rows), (0,))
    zero = broadcast_in_dim(np.zeros((), get_aval(rows).dtype)[()], np.shape(rows), ())
    return select_n(gets, zero, moved_rows), 0


def _ppermute_lower(b, x, *, axis_name, perm):
    env = env_of(b, axis_name)
    pairs = [[group[s], group[d]] for group in env.groups(axis_name) for s, d in perm]
    text = f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>" if pairs else \
        "source_target_pairs = dense<> : tensor<0x2xi64>"
    return in_bytes(b, x, lambda x: b.emit(f'"stablehlo.collective_permute"({x})', x, out=b.out_avals[0].update(dtype=x.aval.dtype),
                                           attrs="{" + text + env.channel() + "}"))


ppermute_p: Primitive = Primitive(
    "ppermute", cacheable=False, out_type=lambda x, **_: x, effects=axis_effects, jvp=LINEAR,
    transpose=lambda ct, x, *, axis_name, perm: ppermute_p.bind(ct, axis_name=axis_name,
                                                                perm=tuple((d, s) for s, d in perm)),
    batch=_ppermute_batch, lower=_ppermute_lower,
    agree=vary_over_names, traits=Traits(Kind.PERMUTE), splits=splits.as_first)


# -- all_to_all ------------------------------------------------------------------------------------------------------

def all_to_all(x: ArrayLike, axis_name: AxisName | Sequence[AxisName], split_axis: int, concat_axis: int, *,
               axis_index_groups: Groups = None, tiled: bool = False) -> Any:
    """Swap a named axis with a positional one: position ``i`` gets part ``i`` along ``split_axis`` of every position.

    Args:
      x: a pytree of arrays whose ``split_axis`` has the length of the named axis, or with ``tiled`` a multiple.
      split_axis: the axis that is dealt out; it disappears (``tiled``: it gets shorter).
      concat_axis: where the parts received are stacked (``tiled``: joined).

    Raises:
      NameError: the axis is not in scope. ValueError: the length does not fit.

    Source: StableHLO `all_to_all`.

    >>> jax.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    names = names_of(axis_name, "all_to_all")
    groups = check_groups("all_to_all", names, axis_index_groups)
    size = group_size(names, groups)

    def swap(leaf: Array):
        leaf = as_operand("all_to_all", leaf, 0)
        if dtypes.is_weakly_typed(leaf):
            leaf = strong(leaf)
        rank = np.ndim(leaf)
        split, concat = canonical_axis("all_to_all", split_axis, rank), canonical_axis("all_to_all", concat_axis, rank)
        n = np.shape(leaf)[split]
        if n % size if tiled else n != size:
            raise ValueError(f"lax.all_to_all: axis {split} of an operand of shape {np.shape(leaf)} must have "
                             f"{'a multiple of ' if tiled else ''}the length {size} of axis {axis_name!r}.")
        if tiled:
            return all_to_all_p.bind(leaf, split_axis=split, concat_axis=concat, axis_name=names,
                                     axis_index_groups=groups, axis_size=size, tiled=True)
        # the result drops the split axis and stacks at concat_axis; as the tiled form: a new axis of length one there
        where = concat + (concat >= split)
        wide = _with_unit_axis(leaf, where)
        split = split + (split >= where)
        out = all_to_all_p.bind(wide, split_axis=split, concat_axis=where, axis_name=names, axis_index_groups=groups,
                                axis_size=size, tiled=True)
        return _squeezed(out, split)
    return tree.tree_map(swap, x)


def pswapaxes(x: ArrayLike, axis_name: AxisName, axis: int, *, axis_index_groups: Groups = None) -> Any:
    """Swap a named axis with the positional ``axis``, which must have the same length. Errors as for `all_to_all`.

    Source: StableHLO `all_to_all`.

    >>> jax.vmap(lambda row: jax.lax.pswapaxes(row, 'i', 0), axis_name='i')(jnp.arange(4).reshape(2, 2))
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def _with_unit_axis(x, dim):
    shape = np.shape(x)
    return reshape(x, (*shape[:dim], 1, *shape[dim:]))


def _all_to_all_type(x, *, split_axis, concat_axis, axis_size, **_):
    shape = list(x.shape)
    shape[split_axis] //= axis_size
    shape[concat_axis] *= axis_size
    return ShapedArray(shape, x.dtype, x.weak_type)


def _all_to_all_batch(axis, args, dims, *, split_axis, concat_axis, axis_name, axis_index_groups, axis_size, tiled):
    (x,), (d,) = args, dims
    if axis.name not in axis_name:
        out = all_to_all_p.bind(moved(x, d, 0), split_axis=split_axis + 1, concat_axis=concat_axis + 1,
                                axis_name=axis_name, axis_index_groups=axis_index_groups, axis_size=axis_size, tiled=tiled)
        return out, 0
    if len(axis_name) > 1:
        raise NotImplementedError("lax.all_to_all over several axes of which only some are mapped by vmap; swap one axis "
                                  "after the other.")
    rows = bdim_at_front(x, d, axis)
    if axis_index_groups is None:
        parts = _parted(rows, split_axis + 1, axis.size)  # (sender, ..., receiver, rest, ...)
        sender_at = concat_axis + 1 + (concat_axis > split_axis)
        return _deal(parts, split_axis + 1, sender_at), 0
    order = [i for g in axis_index_groups for i in g]
    grouped = _parted(take_rows(rows, order), 0, len(axis_index_groups))  # (group, sender, ...)
    parts = _parted(grouped, split_axis + 2, axis_size)
    moved_first = _deal(moved(parts, 0, np.ndim(parts) - 1), split_axis + 1,
                        concat_axis + 1 + (concat_axis > split_axis))
    back = moved(moved_first, np.ndim(moved_first) - 1, 0)
    return take_rows(_merged(back, 0), np.argsort(order)), 0


def _deal(parts, receiver_at, concat_at):
    """``(sender, ..., receiver, ...) -> (receiver, ...)`` with the sender merged in front of the axis ``concat_at``."""
    rank = np.ndim(parts)
    rest = [i for i in range(1, rank) if i != receiver_at]
    order = [receiver_at]
    for i in rest:
        if i == (concat_at if concat_at != receiver_at else receiver_at + 1):
            order.append(0)
        order.append(i)
    out = transpose(parts, order)
    return _merged(out, order.index(0))


def _all_to_all_transpose(ct, x, *, split_axis, concat_axis, **params):
    return all_to_all_p.bind(ct, split_axis=concat_axis, concat_axis=split_axis, **params)


def _all_to_all_lower(b, x, *, split_axis, concat_axis, axis_name, axis_index_groups, axis_size, tiled):
    env = env_of(b, axis_name)
    attrs = env.attributes(axis_name, axis_index_groups, ids=False)
    attrs = f"{{split_dimension = {split_axis} : i64, concat_dimension = {concat_axis} : i64, split_count = {axis_size} : i64, {attrs}}}"
    return in_bytes(b, x, lambda x: b.emit(f'"stablehlo.all_to_all"({x})', x, out=b.out_avals[0].update(dtype=x.aval.dtype), attrs=attrs))


all_to_all_p = Primitive(
    "all_to_all", cacheable=False, out_type=_all_to_all_type, effects=axis_effects, jvp=LINEAR,
    transpose=_all_to_all_transpose, batch=_all_to_all_batch, lower=_all_to_all_lower,
    agree=vary_over_names, traits=Traits(Kind.ALL_TO_ALL),
    splits=lambda prim, avals, outs, params: [splits.where_even(avals[0], splits.entries(avals[0]), outs[0].shape)])


def psend(x: PyTree, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`.

    Args:
      axis_name, perm: not read.

    >>> jax.lax.psend(1.0, 'x', [(0, 1)])
    Traceback (most recent call last):
        ...
    NotImplementedError: lax.psend is deprecated and not provided: use lax.ppermute, which sends and receives.
    """
    raise NotImplementedError("lax.psend is deprecated and not provided: use lax.ppermute, which sends and receives.")


def precv(token: object, out_shape: PyTree, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`.

    Args:
      out_shape, axis_name, perm: not read.

    >>> jax.lax.precv(None, jax.ShapeDtypeStruct((), jnp.float32), 'x', [(0, 1)])
    Traceback (most recent call last):
        ...
    NotImplementedError: lax.precv is deprecated and not provided: use lax.ppermute, which sends and receives.
    """
    raise NotImplementedError("lax.precv is deprecated and not provided: use lax.ppermute, which sends and receives.")


def psum_scatter_start(*args: Any, **kwargs: Any) -> Any:
    """Refused: XLA schedules collectives asynchronously by itself; use `psum_scatter`.

    >>> jax.lax.psum_scatter_start(1.0, 'x')
    Traceback (most recent call last):
        ...
    NotImplementedError: lax.psum_scatter_start is not provided: use lax.psum_scatter, which the compiler overlaps with other work.
    """
    raise NotImplementedError("lax.psum_scatter_start is not provided: use lax.psum_scatter, which the compiler overlaps "
                              "with other work.")
