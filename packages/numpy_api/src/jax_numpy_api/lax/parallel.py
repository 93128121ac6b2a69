"""Collectives: operations across a named axis, of `vmap(axis_name=...)` or of a device mesh.

Under vmap a collective becomes an ordinary operation on the mapped axis: a sum, a transpose, a gather. Across devices it
is one StableHLO collective over the groups of devices that differ in the named axes only; which these are, the program
that maps over the mesh says (`AxisEnv`, in `axis_env` of the builder).

What they lower to depends on the mesh and not on their parameters alone, hence ``cacheable=False``.

Every function takes a name or a tuple of names, and raises `NameError` for a name that is not in scope.

Source: StableHLO specification, `all_reduce`, `all_gather`, `all_to_all`, `reduce_scatter`, `collective_permute`.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Hashable, Sequence, cast

import numpy as np

from jax_core.configuration import context
from jax_core.representation import dtypes, tree
from jax_core.transformations import manual
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.effects import NamedAxisEffect
from jax_core.transformations.manual import AxisEnv, env_of
from jax_core.representation.manual_axis_type import UnreducedKind
from jax_core.representation.marks import LINEAR, ZERO
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.traces.trace import Tracer
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, convert_element_type_p, moved, reduce_sum_p, transpose
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, PyTree

from .arithmetic import add, div, mul
from .compare import eq
from .create import iota
from .gather import GatherDimensionNumbers, gather, index_take
from .reduce import reduce_max_p, reduce_min_p
from .select import select_n
from .shape import reshape
from .slicing import dynamic_slice_in_dim
from jax_core.representation.traits import Kind, Traits

if TYPE_CHECKING:
    from jax_core.interfaces import Builder

__all__ = ["AxisEnv", "env_of"]

AxisName = Hashable
Groups = Sequence[Sequence[int]] | None


# -- axis names ------------------------------------------------------------------------------------------------------

def _size_of(name: AxisName, function: str) -> int:
    hash(name)  # a TypeError for what is no name
    for bound, axis in reversed(context.state.axes):
        if bound == name:
            return axis.size
    known = ", ".join(repr(n) for n, _ in context.state.axes) or "none"
    raise NameError(f"Found an unbound axis name: {name}. lax.{function} was called where the axes in scope are: {known}. "
                    f"Map over it with jax.vmap(..., axis_name={name!r}), or under jax.shard_map.")


def _names(axis_name: AxisName | Sequence[AxisName], function: str) -> tuple:
    """The names as a tuple, all in scope; integers stand for positional axes."""
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    for name in names:
        if not isinstance(name, int):
            _size_of(name, function)
    return names


def axis_size(axis_name: AxisName | Sequence[AxisName]) -> int:
    """The number of positions along a named axis (the product, for several), as a Python int.

    Raises:
      NameError: the axis is not in scope.

    >>> jax.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(jnp.array([2., 4.]))
    Array([1., 2.], dtype=float32)
    """
    return math.prod(_size_of(n, "axis_size") for n in _names(axis_name, "axis_size"))


def axis_index(axis_name: AxisName | Sequence[AxisName]) -> Array:
    """The position along a named axis, an int32 scalar; for several names the row-major position.

    Raises:
      NameError: the axis is not in scope.

    Source: StableHLO `partition_id`, `replica_id`.

    >>> jax.vmap(lambda x: 10 * lax.axis_index("i") + x, axis_name="i")(jnp.array([1, 2]))
    Array([ 1, 12], dtype=int32)
    """
    names = _names(axis_name, "axis_index")
    index: Any = None
    for name in names:
        own = _place(name)
        index = own if index is None else add(mul(index, np.int32(_size_of(name, "axis_index"))), own)
    return index if names else cast(Array, np.int32(0))  # which serves as one


def _place(name: AxisName) -> Any:
    """The position along one axis, which may know it: so do the cores of a kernel."""
    known = next((getattr(axis, "place", None) for bound, axis in reversed(context.state.axes) if bound == name), None)
    return axis_index_p.bind(axis_name=name) if known is None else known


def _group_size(names: Sequence, groups: Groups) -> int:
    return len(groups[0]) if groups is not None else math.prod(_size_of(n, "psum") for n in names)


def _check_groups(function: str, names: tuple, groups: Groups) -> tuple | None:
    """Groups as tuples; they must be a partition of the positions along the axes into parts of one size."""
    if groups is None:
        return None
    groups = tuple(tuple(int(i) for i in g) for g in groups)
    size = math.prod(_size_of(n, function) for n in names)
    if sorted(i for g in groups for i in g) != list(range(size)):
        raise ValueError(f"lax.{function}: axis_index_groups={groups} must cover the indices 0 to {size - 1} of "
                         f"{' and '.join(map(repr, names))} once each.")
    if len({len(g) for g in groups}) > 1:
        raise ValueError(f"lax.{function}: axis_index_groups={groups} must be of one size.")
    return groups


def _check_all_mapped(axis: Any, names: tuple) -> None:
    """Groups of positions under vmap: the mapped axis must be the only one."""
    if names != (axis.name,):
        raise NotImplementedError(f"axis_index_groups with the axes {names}, of which vmap maps {axis.name!r}: groups that cross the "
                                  "mapped axis have no form; use the axes one after the other.")


# -- reductions ------------------------------------------------------------------------------------------------------

def psum(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The sum over a named axis.

    Args:
      x: a pytree of arrays. A Python number gives a Python number: ``psum(1, name)`` is the size of the axis.
      axis_name: one name or several.
      axis_index_groups: sum within these groups of positions; each position gets the sum of its group.

    Raises:
      NameError: the axis is not in scope. ValueError: the groups are not a partition into equal parts.

    Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(jnp.arange(3))
    Array([3, 3, 3], dtype=int32)
    """
    names = _names(axis_name, "psum")
    groups = _check_groups("psum", names, axis_index_groups)
    size = _group_size([n for n in names if not isinstance(n, int)], groups)

    def sum_leaf(leaf):
        if type(leaf) in (int, float, complex):
            return leaf * size
        if get_aval(leaf).dtype == bool:
            leaf = convert_element_type_p.bind(leaf, new_dtype=np.dtype(np.int32), weak_type=False)
        return _reduce(psum_p, leaf, names, groups)
    return tree.tree_map(sum_leaf, x)


def pmean(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The mean over a named axis; integers give floats. Arguments and errors as for `psum`. Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.array([1., 3.]))
    Array([-1.,  1.], dtype=float32)
    """
    names = _names(axis_name, "pmean")
    size = _group_size([n for n in names if not isinstance(n, int)],
                       _check_groups("pmean", names, axis_index_groups))

    def mean_leaf(leaf):
        dtype = dtypes.to_inexact_dtype(get_aval(leaf).dtype)
        total = psum(leaf, axis_name, axis_index_groups=axis_index_groups)
        if type(total) in (int, float, complex):
            return total / size
        if get_aval(total).dtype != dtype:
            total = convert_element_type_p.bind(total, new_dtype=dtype, weak_type=False)
        count = size * math.prod(np.shape(leaf)[n] for n in names if isinstance(n, int))
        return div(total, np.asarray(count, dtype)[()])
    return tree.tree_map(mean_leaf, x)


def pmax(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The maximum over a named axis, element by element. Arguments and errors as for `psum`.

    Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: lax.pmax(x, "i"), axis_name="i")(jnp.array([1, 7, 3]))
    Array([7, 7, 7], dtype=int32)
    """
    names = _names(axis_name, "pmax")
    groups = _check_groups("pmax", names, axis_index_groups)
    return tree.tree_map(lambda leaf: _reduce(pmax_p, leaf, names, groups), x)


def pmin(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The minimum over a named axis, element by element. Arguments and errors as for `psum`.

    Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: lax.pmin(x, "i"), axis_name="i")(jnp.array([4, 7, 3]))
    Array([3, 3, 3], dtype=int32)
    """
    names = _names(axis_name, "pmin")
    groups = _check_groups("pmin", names, axis_index_groups)
    return tree.tree_map(lambda leaf: _reduce(pmin_p, leaf, names, groups), x)


def _reduce(prim, x, names, groups):
    """Reduce one leaf over positional axes, then over named ones."""
    positional = tuple(n for n in names if isinstance(n, int))
    for n in positional:
        if not -np.ndim(x) <= n < np.ndim(x):
            raise ValueError(f"lax.{prim.name}: axis {n} is out of bounds for array of dimension {np.ndim(x)}")
    named = tuple(n for n in names if not isinstance(n, int))
    if positional:
        x = _OVER_POSITIONS[prim]().bind(x, axes=tuple(n % np.ndim(x) for n in positional))
    if named and groups is None and isinstance(x, Tracer) and x.aval.sums.unreduced.intersection(named):
        parts = tuple(n for n in named if n in x.aval.sums.unreduced)
        x, named = _OF_ADDENDS[prim].bind(x, axes=parts), tuple(n for n in named if n not in parts)
    if not named:
        return x
    if prim is psum_p and isinstance(x, Tracer) and x.aval.sums.reduced.intersection(named):
        raise ValueError(f"lax.psum: the operand of type {x.aval.str_short()} is reduced over {named}, so it is equal there, and no part of a sum; "
                         "if its multiple is meant, give it to lax.pcast(..., to='varying') first.")
    if prim is psum_p and groups is None:
        equal = tuple(n for n in named if manual.is_checked(n))
        named = tuple(n for n in named if n not in equal)
        x = prim.bind(x, axes=named, axis_index_groups=None)[0] if named else x
        return manual.psum_invariant_p.bind(x, axes=equal) if equal else x
    return prim.bind(x, axes=named, axis_index_groups=groups)[0]


def _axes_of(params: dict) -> tuple:
    """The names that a collective refers to."""
    names = params.get("axes", params.get("axis_name"))
    return names if isinstance(names, tuple) else (names,)


def _vary_over_names(args, params):
    """In a checked manual region, the operands of a collective vary over its axes."""
    axes = frozenset(n for n in _axes_of(params) if manual.is_checked(n))
    return manual.vary_to(args, [manual.varying(x) | axes for x in args]), params


def _max_reducer():
    return reduce_max_p


def _min_reducer():
    return reduce_min_p


def _in_groups(x, dim, groups, reduce: Callable):
    """Reduce within groups of positions of axis ``dim``; every position gets the result of its group."""
    x = moved(x, dim, 0)
    order = [i for g in groups for i in g]
    rows = _take(x, order)
    shape = np.shape(rows)
    grouped = reduce(reshape(rows, (len(groups), len(groups[0]), *shape[1:])), 1)
    repeated = broadcast_in_dim(grouped, (len(groups), len(groups[0]), *shape[1:]),
                                (0, *range(2, len(shape) + 1)))
    return _take(reshape(repeated, shape), np.argsort(order))


def _take(x, order):
    """``x[order]`` along the leading axis, for a permutation that is known; a static gather."""
    order = [int(i) for i in order]
    if order == list(range(len(order))) and len(order) == np.shape(x)[0]:
        return x
    indices = np.asarray(order, np.int32)[:, None]
    return gather(x, indices, GatherDimensionNumbers(tuple(range(1, np.ndim(x))), (0,), (0,)),
                  (1, *np.shape(x)[1:]), mode="promise_in_bounds")


def _reduction_batch(prim, over_axis: Callable, repeat: Callable):
    """Batching rule: over the mapped axis it is a reduction, and the result has no mapped axis any more.

    ``repeat(x, n)`` is the result for ``n`` equal values.
    """
    def batch(axis, args, dims, *, axes, axis_index_groups):
        if axis.name not in axes:
            return prim().bind(*args, axes=axes, axis_index_groups=axis_index_groups), dims
        if axis_index_groups is not None:
            _check_all_mapped(axis, axes)
            outs = [repeat(x, len(axis_index_groups[0])) if d is None else
                    _in_groups(x, d, axis_index_groups, lambda v, a: over_axis().bind(v, axes=(a,)))
                    for x, d in zip(args, dims)]
            return outs, [None if d is None else 0 for d in dims]
        outs = [repeat(x, axis.size) if d is None else over_axis().bind(x, axes=(d,)) for x, d in zip(args, dims)]
        rest = tuple(n for n in axes if n != axis.name)
        if rest:
            outs = prim().bind(*outs, axes=rest, axis_index_groups=None)
        return outs, [None] * len(outs)
    return batch


def _times(x, n):
    return mul(x, np.asarray(n).astype(get_aval(x).dtype)[()])


def _psum_jvp(primals, tangents, **params):
    outs = psum_p.bind(*primals, **params)
    live = [i for i, t in enumerate(tangents) if not isinstance(t, Zero)]
    sums = psum_p.bind(*(tangents[i] for i in live), **params)
    out_tangents = [Zero.of(x) for x in outs]
    for i, t in zip(live, sums):
        out_tangents[i] = t
    return outs, out_tangents


def _psum_transpose(cts, *args, **params):
    live = [i for i, ct in enumerate(cts) if not isinstance(ct, Zero)]
    sums = iter(psum_p.bind(*(cts[i] for i in live), **params))
    return [next(sums) if i in live else ct for i, ct in enumerate(cts)]


def _axis_effects(*avals, axes=None, axis_name=None, **_):
    names = axes if axes is not None else axis_name if isinstance(axis_name, tuple) else (axis_name,)
    return frozenset(NamedAxisEffect(n) for n in names)


def _all_reduce_lower(kind: str):
    def lower(b: Builder, *xs, axes, axis_index_groups):
        op = {"sum": "stablehlo.add", "max": "stablehlo.maximum", "min": "stablehlo.minimum"}[kind]
        attrs = env_of(b, axes).attributes(axes, axis_index_groups)
        return [b.emit(f'"stablehlo.all_reduce"({x}) ({b.reducer(op, x.aval.dtype)})', x, out=x.aval,
                       attrs="{" + attrs + "}") for x in xs]
    return lower


psum_p: Primitive = Primitive(
    "psum", multiple_results=True, cacheable=False, out_type=lambda *xs, **_: xs, effects=_axis_effects, jvp=_psum_jvp,
    transpose=_psum_transpose, batch=_reduction_batch(lambda: psum_p, lambda: reduce_sum_p, _times),
    lower=_all_reduce_lower("sum"),
    agree=_vary_over_names, traits=Traits(Kind.ALL_REDUCE))

def _extremum_type(*xs, axes, axis_index_groups):
    """The result is equal everywhere along the axes."""
    return [x.update(vma=x.vma.difference(axes)) if x.vma and axis_index_groups is None else x for x in xs]


def _extremum_jvp(prim):
    """The tangent of the positions that attain the extremum; several share it equally, as for `reduce_max`."""
    def jvp(primals, tangents, *, axes, axis_index_groups):
        outs = prim().bind(*primals, axes=axes, axis_index_groups=axis_index_groups)
        found = []
        for x, t, out in zip(primals, tangents, outs):
            if isinstance(t, Zero):
                found.append(Zero.of(out))
                continue
            here = convert_element_type_p.bind(eq(x, out), new_dtype=get_aval(x).dtype, weak_type=False)
            total = lambda v: _reduce(psum_p, v, axes, axis_index_groups)
            found.append(total(mul(t, div(here, total(here)))))
        return outs, found
    return jvp


pmax_p: Primitive = Primitive(
    "pmax", multiple_results=True, cacheable=False, out_type=_extremum_type, effects=_axis_effects,
    jvp=_extremum_jvp(lambda: pmax_p),
    transpose=none("pmax is not linear"), batch=_reduction_batch(lambda: pmax_p, _max_reducer, lambda x, n: x),
    lower=_all_reduce_lower("max"),
    own_type=True, agree=_vary_over_names, traits=Traits(Kind.ALL_REDUCE))

pmin_p: Primitive = Primitive(
    "pmin", multiple_results=True, cacheable=False, out_type=_extremum_type, effects=_axis_effects,
    jvp=_extremum_jvp(lambda: pmin_p),
    transpose=none("pmin is not linear"), batch=_reduction_batch(lambda: pmin_p, _min_reducer, lambda x, n: x),
    lower=_all_reduce_lower("min"),
    own_type=True, agree=_vary_over_names, traits=Traits(Kind.ALL_REDUCE))

_OF_ADDENDS = {psum_p: manual.unreduced_psum_p, pmax_p: manual.unreduced_pmax_p, pmin_p: manual.unreduced_pmin_p}
"""The reduction over axes that a value is unreduced over."""
_OVER_POSITIONS = {psum_p: lambda: reduce_sum_p, pmax_p: _max_reducer, pmin_p: _min_reducer}
"""The reduction over positional axes for each of those over named ones."""


# -- axis_index ------------------------------------------------------------------------------------------------------

def _axis_index_batch(axis, args, dims, *, axis_name):
    return iota(np.dtype(np.int32), axis.size), 0


def _axis_index_lower(b, *, axis_name):
    env = env_of(b, (axis_name,))
    if env.inner is not None:  # a device has a number only where all axes are manual
        return env.inner(b, lambda inner: _position(inner, env, axis_name), ShapedArray((), np.dtype(np.int32)))
    return _position(b, env, axis_name)


def _position(b, env, axis_name):
    """The position along a mesh axis, from the number of the device."""
    device = b.emit("stablehlo.partition_id" if env.partitioned else "stablehlo.replica_id",
                    out=ShapedArray((), np.dtype(np.uint32)))
    place = env.names.index(axis_name)
    stride = b.scalar(math.prod(env.sizes[place + 1:]), np.dtype(np.uint32))
    size = b.scalar(env.sizes[place], np.dtype(np.uint32))
    row = b.emit(f"stablehlo.divide {device}, {stride}", device, stride, out=device.aval)
    index = b.emit(f"stablehlo.remainder {row}, {size}", row, size, out=device.aval)
    return b.convert(index, np.dtype(np.int32))


axis_index_p = Primitive(
    "axis_index", cacheable=False, effects=_axis_effects, jvp=ZERO, batch=_axis_index_batch, lower=_axis_index_lower,
    out_type=lambda *, axis_name: ShapedArray((), np.dtype(np.int32), vma=manual.axis_of(axis_name)),
    own_type=True)


# -- all_gather ------------------------------------------------------------------------------------------------------

def all_gather(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None, axis: int = 0,
               tiled: bool = False, to: str = "varying") -> Any:
    """The values at all positions of a named axis, stacked along a new axis ``axis``, or with ``tiled`` joined along it.

    Args:
      x: a pytree of arrays.
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
    names = _names(axis_name, "all_gather")
    if to not in ("varying", "invarying", "reduced"):
        raise ValueError(f"lax.all_gather: to must be 'varying', 'invarying' or 'reduced', got {to!r}.")
    groups = _check_groups("all_gather", names, axis_index_groups)
    size = _group_size(names, groups)

    def gather_leaf(leaf):
        rank = np.ndim(leaf) + (not tiled)
        if not -rank <= axis < rank:
            raise ValueError(f"lax.all_gather: axis {axis} does not exist in a result of rank {rank}.")
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


def _all_gather_batch(axis, args, dims, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    (x,), (d,) = args, dims
    dim = all_gather_dimension
    if axis.name not in axis_name:
        out = all_gather_p.bind(moved(x, d, 0), all_gather_dimension=dim + 1, axis_name=axis_name, axis_size=axis_size,
                                axis_index_groups=axis_index_groups, tiled=tiled)
        return out, 0
    place = axis_name.index(axis.name)
    rows = bdim_at_front(x, d, axis)
    if axis_index_groups is not None:
        _check_all_mapped(axis, axis_name)
        return _gather_groups(rows, dim, axis_index_groups, tiled)
    outer, inner = axis_name[:place], axis_name[place + 1:]
    if outer or inner:  # gather over the other names with the mapped axis kept in its place among them
        rows = moved(rows, 0, dim)
        if inner:
            n = math.prod(_size_of(a, "all_gather") for a in inner)
            rows = all_gather_p.bind(rows, all_gather_dimension=dim + 1, axis_name=inner, axis_size=n,
                                     axis_index_groups=None, tiled=False)
            rows = _merged(rows, dim)
        if outer:
            n = math.prod(_size_of(a, "all_gather") for a in outer)
            rows = all_gather_p.bind(rows, all_gather_dimension=dim, axis_name=outer, axis_size=n,
                                     axis_index_groups=None, tiled=False)
            rows = _merged(rows, dim)
    else:
        rows = moved(rows, 0, dim)
    return (_merged(rows, dim) if tiled else rows), None


def _gather_groups(rows, dim, groups, tiled):
    """For each position the rows of its group, at axis ``dim`` of the result; the mapped axis is first."""
    group_of = {i: g for g in groups for i in g}
    flat = _take(rows, [j for i in range(np.shape(rows)[0]) for j in group_of[i]])
    out = moved(_parted(flat, 0, np.shape(rows)[0]), 1, dim + 1)
    return (_merged(out, dim + 1) if tiled else out), 0


def _all_gather_transpose(ct, x, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    return reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, axis_name=axis_name,
                                 axis_index_groups=axis_index_groups, axis_size=axis_size, tiled=tiled)


def _all_gather_lower(b, x, *, all_gather_dimension, axis_name, axis_index_groups, axis_size, tiled):
    dim = all_gather_dimension
    if not tiled:
        x = b.reshape(x, (*x.aval.shape[:dim], 1, *x.aval.shape[dim:]))
    attrs = env_of(b, axis_name).attributes(axis_name, axis_index_groups)
    return b.emit(f'"stablehlo.all_gather"({x})', x, out=b.out_avals[0],
                  attrs=f"{{all_gather_dim = {dim} : i64, {attrs}}}")


all_gather_p = Primitive(
    "all_gather", cacheable=False, out_type=_all_gather_type, effects=_axis_effects, jvp=LINEAR, transpose=_all_gather_transpose,
    batch=_all_gather_batch, lower=_all_gather_lower,
    agree=_vary_over_names, traits=Traits(Kind.ALL_GATHER))


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
    "all_gather_invariant", cacheable=False, out_type=_all_gather_invariant_type, effects=_axis_effects, jvp=LINEAR,
    transpose=_all_gather_invariant_transpose, lower=_all_gather_lower,
    batch=lambda axis, args, dims, *, all_gather_dimension, **params: (all_gather_invariant_p.bind(
        moved(args[0], dims[0], 0), all_gather_dimension=all_gather_dimension + 1, **params), 0),
    own_type=True, agree=_vary_over_names, traits=Traits(Kind.ALL_GATHER))


def _all_gather_reduced_type(x, *, axis_name, **params):
    x_sums = x.sums._replace(reduced=x.sums.reduced.union(axis_name))
    return _all_gather_type(x, axis_name=axis_name, **params).update(vma=x.vma.difference(axis_name), sums=x_sums)


def _dimension_moved(prim, name):
    """The batching rule of a collective along an axis that is not the mapped one; ``name`` is the parameter that counts axes."""
    def batch(axis, args, dims, **params):
        return prim().bind(moved(args[0], dims[0], 0), **{**params, name: params[name] + 1}), 0
    return batch


def _as_scatter(ct, x, *, all_gather_dimension, **params):
    return unreduced_reduce_scatter_p.bind(ct, scatter_dimension=all_gather_dimension, **params)


def _as_gather(ct, x, *, scatter_dimension, **params):
    return all_gather_reduced_p.bind(ct, all_gather_dimension=scatter_dimension, **params)


all_gather_reduced_p: Primitive = Primitive(
    "all_gather_reduced", cacheable=False, out_type=_all_gather_reduced_type, effects=_axis_effects, jvp=LINEAR,
    transpose=_as_scatter, lower=_all_gather_lower,
    batch=_dimension_moved(lambda: all_gather_reduced_p, "all_gather_dimension"),
    own_type=True, agree=_vary_over_names, traits=Traits(Kind.ALL_GATHER))


# -- psum_scatter ----------------------------------------------------------------------------------------------------

def psum_scatter(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, scatter_dimension: int = 0,
                 axis_index_groups: Groups = None, tiled: bool = False) -> Any:
    """The sum over a named axis, of which each position keeps its own part along ``scatter_dimension``.

    Args:
      x: a pytree of arrays whose ``scatter_dimension`` has the length of the named axis, or with ``tiled`` a multiple.
      tiled: keep the axis with the length of one part, in place of dropping it.

    Raises:
      NameError: the axis is not in scope. ValueError: the length does not fit.

    Source: StableHLO `reduce_scatter`.

    >>> jax.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    names = _names(axis_name, "psum_scatter")
    groups = _check_groups("psum_scatter", names, axis_index_groups)
    size = _group_size(names, groups)

    def scatter_leaf(leaf):
        n = np.shape(leaf)[scatter_dimension]
        if n % size if tiled else n != size:
            raise ValueError(f"lax.psum_scatter: axis {scatter_dimension} of an operand of shape {np.shape(leaf)} must "
                             f"have {'a multiple of ' if tiled else ''}the length {size} of axis {axis_name!r}.")
        addends = isinstance(leaf, Tracer) and leaf.aval.sums.unreduced.issuperset(names) and groups is None
        prim = unreduced_reduce_scatter_p if addends else reduce_scatter_p
        return prim.bind(leaf, scatter_dimension=scatter_dimension % np.ndim(leaf), axis_name=names,
                         axis_index_groups=groups, axis_size=size, tiled=tiled)
    return tree.tree_map(scatter_leaf, x)


def _reduce_scatter_type(x, *, scatter_dimension, axis_size, tiled, **_):
    shape, d = list(x.shape), scatter_dimension
    if tiled:
        shape[d] //= axis_size
    else:
        del shape[d]
    return ShapedArray(shape, x.dtype, x.weak_type)


def _reduce_scatter_batch(axis, args, dims, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    (x,), (d,) = args, dims
    dim = scatter_dimension
    if axis.name not in axis_name:
        out = reduce_scatter_p.bind(moved(x, d, 0), scatter_dimension=dim + 1, axis_name=axis_name, axis_size=axis_size,
                                    axis_index_groups=axis_index_groups, tiled=tiled)
        return out, 0
    if len(axis_name) > 1:
        raise NotImplementedError("lax.psum_scatter over several axes of which only some are mapped by vmap; scatter over "
                                  "one axis after the other.")
    if axis_index_groups is not None:
        x = bdim_at_front(x, d, axis)
        total = _in_groups(x, 0, axis_index_groups, lambda v, a: reduce_sum_p.bind(v, axes=(a,)))
        parts = _parted(total, dim + 1, axis_size)
        place = {i: k for g in axis_index_groups for k, i in enumerate(g)}
        n = axis.size
        rows = index_take(moved(parts, dim + 1, 1), [np.arange(n, dtype=np.int32),
                                                     np.asarray([place[i] for i in range(n)], np.int32)], (0, 1))
        return (rows if tiled else _squeezed(rows, dim + 1)), 0
    total = _times(x, axis.size) if d is None else reduce_sum_p.bind(x, axes=(d,))
    return (_parted(total, dim, axis.size) if tiled else total), dim


def _squeezed(x, dim):
    shape = np.shape(x)
    return reshape(x, shape[:dim] + shape[dim + 1:])


def _reduce_scatter_transpose(ct, x, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    return all_gather_p.bind(ct, all_gather_dimension=scatter_dimension, axis_name=axis_name,
                             axis_index_groups=axis_index_groups, axis_size=axis_size, tiled=tiled)


def _reduce_scatter_lower(b, x, *, scatter_dimension, axis_name, axis_index_groups, axis_size, tiled):
    attrs = env_of(b, axis_name).attributes(axis_name, axis_index_groups)
    shape = list(x.aval.shape)
    shape[scatter_dimension] //= axis_size
    part = b.emit(f'"stablehlo.reduce_scatter"({x}) ({b.reducer("stablehlo.add", x.aval.dtype)})', x,
                  out=ShapedArray(shape, x.aval.dtype),
                  attrs=f"{{scatter_dimension = {scatter_dimension} : i64, {attrs}}}")
    return b.reshape(part, b.out_avals[0].shape)


reduce_scatter_p = Primitive(
    "reduce_scatter", cacheable=False, out_type=_reduce_scatter_type, effects=_axis_effects, jvp=LINEAR,
    transpose=_reduce_scatter_transpose, batch=_reduce_scatter_batch, lower=_reduce_scatter_lower,
    agree=_vary_over_names, traits=Traits(Kind.ALL_GATHER))


def _unreduced_scatter_type(x, *, axis_name, **params):
    if x.sums.kind is not UnreducedKind.sum or not x.sums.unreduced.issuperset(axis_name):
        raise ValueError(f"unreduced_reduce_scatter: the operand of type {x.str_short()} must be a sum that is still to be made over {axis_name}.")
    left = x.sums.unreduced.difference(axis_name)
    return _reduce_scatter_type(x, axis_name=axis_name, **params).update(
        vma=x.vma.union(axis_name), sums=x.sums._replace(unreduced=left, kind=UnreducedKind.sum if left else None))


unreduced_reduce_scatter_p: Primitive = Primitive(
    "unreduced_reduce_scatter", cacheable=False, out_type=_unreduced_scatter_type, effects=_axis_effects, jvp=LINEAR,
    transpose=_as_gather, batch=_dimension_moved(lambda: unreduced_reduce_scatter_p, "scatter_dimension"), lower=_reduce_scatter_lower,
    own_type=True, agree=lambda args, params: (args, params), traits=Traits(Kind.ALL_GATHER))


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
    names = _names(axis_name, "ppermute")
    if not isinstance(perm, (list, tuple)):
        raise TypeError("lax.ppermute: the `perm` passed to `jax.lax.ppermute` must be a list or tuple of pairs, got one of type "
                        f"{type(perm).__name__}")
    size = _group_size(names, None)
    in_mesh = [name for name, axis in context.state.axes if name in names and isinstance(axis, manual.ManualAxis)]
    if len(in_mesh) == len(names) and in_mesh != list(names):
        raise RuntimeError(f"lax.ppermute: axis_name={tuple(names)} must be in the order of the mesh, {tuple(in_mesh)}, as `perm` counts the devices in that "
                           "order.")
    perm = tuple((int(s), int(d)) for s, d in perm)
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
    names = _names(axis_name, "pbroadcast")
    size = _group_size(names, None)
    if not 0 <= source < size:
        raise ValueError(f"lax.pbroadcast: source {source} must lie in [0, {size}).")
    here = eq(axis_index(axis_name), np.int32(source))

    def send(leaf):
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
    moved_rows = _take(rows, [source.get(i, i) for i in range(axis.size)])
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
    return b.emit(f'"stablehlo.collective_permute"({x})', x, out=b.out_avals[0],
                  attrs="{" + text + env.channel() + "}")


ppermute_p: Primitive = Primitive(
    "ppermute", cacheable=False, out_type=lambda x, **_: x, effects=_axis_effects, jvp=LINEAR,
    transpose=lambda ct, x, *, axis_name, perm: ppermute_p.bind(ct, axis_name=axis_name,
                                                                perm=tuple((d, s) for s, d in perm)),
    batch=_ppermute_batch, lower=_ppermute_lower,
    agree=_vary_over_names, traits=Traits(Kind.PERMUTE))


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
    names = _names(axis_name, "all_to_all")
    groups = _check_groups("all_to_all", names, axis_index_groups)
    size = _group_size(names, groups)

    def swap(leaf):
        rank = np.ndim(leaf)
        split, concat = split_axis % rank, concat_axis % rank
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
    grouped = _parted(_take(rows, order), 0, len(axis_index_groups))  # (group, sender, ...)
    parts = _parted(grouped, split_axis + 2, axis_size)
    moved_first = _deal(moved(parts, 0, np.ndim(parts) - 1), split_axis + 1,
                        concat_axis + 1 + (concat_axis > split_axis))
    back = moved(moved_first, np.ndim(moved_first) - 1, 0)
    return _take(_merged(back, 0), np.argsort(order)), 0


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
    return b.emit(f'"stablehlo.all_to_all"({x})', x, out=b.out_avals[0],
                  attrs=f"{{split_dimension = {split_axis} : i64, concat_dimension = {concat_axis} : i64, "
                        f"split_count = {axis_size} : i64, {attrs}}}")


all_to_all_p = Primitive(
    "all_to_all", cacheable=False, out_type=_all_to_all_type, effects=_axis_effects, jvp=LINEAR,
    transpose=_all_to_all_transpose, batch=_all_to_all_batch, lower=_all_to_all_lower,
    agree=_vary_over_names, traits=Traits(Kind.ALL_TO_ALL))


def psend(x: PyTree, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`.

    >>> jax.lax.psend(1.0, 'x', [(0, 1)])
    Traceback (most recent call last):
        ...
    NotImplementedError: lax.psend is deprecated and not provided: use lax.ppermute, which sends and receives.
    """
    raise NotImplementedError("lax.psend is deprecated and not provided: use lax.ppermute, which sends and receives.")


def precv(token: Any, out_shape: PyTree, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`.

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


# -- types that vary over axes ---------------------------------------------------------------------------------------

def pvary(x: PyTree, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """``x`` itself (a pytree), counted as varying over a named axis. Only a checked `shard_map` makes the difference.

    Raises:
      NameError: the axis is not in scope.

    >>> jax.vmap(lambda v: jax.lax.pvary(v, 'i'), axis_name='i')(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    names = [n for n in _names(axis_name, "pvary") if manual.is_checked(n)]
    return tree.tree_map(lambda leaf: manual.pvary(leaf, [n for n in names if n not in manual.varying(leaf)]), x)


def pcast(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, to: str) -> Any:
    """``x`` itself (a pytree), counted in another way over a named axis. Only a checked `shard_map` makes the difference.

    Args:
      x: a pytree of arrays.
      to: ``"varying"``, of what is equal or reduced; ``"reduced"``, of what is equal: its cotangent is a sum still to be made;
        ``"unreduced"``, of what varies: the parts are the addends of a sum still to be made.

    Raises:
      NameError: the axis is not in scope.
      ValueError: ``to`` is none of these, or ``x`` cannot be counted so.

    >>> mesh = jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))
    >>> f = jax.shard_map(lambda v: jax.lax.pcast(v, 'x', to='varying'), mesh=mesh, in_specs=jax.P(), out_specs=jax.P('x'))
    >>> f(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    names = _names(axis_name, "pcast")
    if to not in ("varying", "unreduced", "reduced"):
        raise ValueError(f"lax.pcast: to must be 'varying', 'unreduced' or 'reduced', got {to!r}.")
    checked = tuple(n for n in names if manual.is_checked(n))
    if not checked:
        return x
    return tree.tree_map_with_path(lambda path, leaf: _cast_leaf(path, leaf, checked, to), x)


_CASTS = {("equal", "varying"): manual.pvary_p, ("reduced", "varying"): manual.reduced_vary_p, ("equal", "reduced"): manual.preduced_p,
          ("varying", "unreduced"): manual.vary_unreduced_p}


def _cast_leaf(path, x, names, to):
    aval = get_aval(x)
    kinds = [next((k for k, axes in (("varying", aval.vma), ("unreduced", aval.sums.unreduced), ("reduced", aval.sums.reduced)) if n in axes),
                  "equal") for n in names]
    if to == "varying" and set(kinds) == {"varying", "equal"}:  # of several axes, some are there already
        names, kinds = tuple(n for n, k in zip(names, kinds) if k == "equal"), ["equal"]
    if len(set(kinds)) > 1 or (kinds[0], to) not in _CASTS:
        raise ValueError(f"lax.pcast: Unsupported pcast from={'/'.join(sorted(set(kinds)))}, to={to!r}: the operand{tree.keystr(path)} of type "
                         f"{aval.str_short()}, over {names}.")
    return _CASTS[kinds[0], to].bind(x, axes=names)
