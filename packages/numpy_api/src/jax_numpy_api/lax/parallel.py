"""Collectives: operations across a named axis, of `vmap(axis_name=...)` or of a device mesh. Names, reductions, positions and types are
here; what moves data between the positions is in `exchange`.

Under vmap a collective becomes an ordinary operation on the mapped axis: a sum, a transpose, a gather. Across devices it
is one StableHLO collective over the groups of devices that differ in the named axes only; which these are, the program
that maps over the mesh says (`AxisEnv`, in `axis_env` of the builder).

What they lower to depends on the mesh and not on their parameters alone, hence ``cacheable=False``.

Every function takes a name or a tuple of names, and raises `NameError` for a name that is not in scope.

Source: StableHLO specification, `all_reduce`, `partition_id`.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Callable, Hashable, Sequence, cast

import numpy as np

from jax_core.configuration import context
from jax_core.references.primitives import strong
from jax_core.representation import dtypes, tree
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.effects import NamedAxisEffect
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import PyTree
from jax_core.traces.structural import broadcast_in_dim, convert_element_type_p, moved, reduce_sum_p
from jax_core.traces.trace import Tracer
from jax_core.transformations import manual
from jax_core.transformations.manual import AxisEnv, all_reduce, env_of

from .arithmetic import add, div, mul
from .compare import eq
from .create import iota
from .gather import GatherDimensionNumbers, gather
from .reduce import reduce_max_p, reduce_min_p
from .shape import reshape

if TYPE_CHECKING:
    from jax_core.interfaces import Builder
    from jax_core.transformations.batching import AxisData

__all__ = ["AxisEnv", "env_of"]

AxisName = Hashable
Groups = Sequence[Sequence[int]] | None


# -- axis names ------------------------------------------------------------------------------------------------------

def size_of(name: AxisName, function: str) -> int:
    """How many positions a named axis has. Raises NameError if it is not in scope."""
    try:
        hash(name)
    except TypeError:
        raise TypeError(f"lax.{function}: axis_name must be hashable, such as 'i', got {name!r} of type {type(name).__name__}") from None
    for bound, axis in reversed(context.state.axes):
        if bound == name:
            return axis.size
    known = ", ".join(repr(n) for n, _ in context.state.axes) or "none"
    raise NameError(f"Found an unbound axis name: {name}. lax.{function} was called where the axes in scope are: {known}. "
                    f"Map over it with jax.vmap(..., axis_name={name!r}), or under jax.shard_map.")


def names_of(axis_name: AxisName | Sequence[AxisName], function: str) -> tuple:
    """The names as a tuple, all in scope; integers stand for positional axes."""
    names = tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)
    for name in names:
        if not isinstance(name, int):
            size_of(name, function)
    if len(names) > 1 and len({*names}) != len(names):
        raise ValueError(f"lax.{function}: axis_name={names} has a name twice; name each axis once.")
    return names


def axis_size(axis_name: AxisName | Sequence[AxisName]) -> int:
    """The number of positions along a named axis (the product, for several), as a Python int.

    Raises:
      NameError: the axis is not in scope.

    >>> jax.vmap(lambda x: x / lax.axis_size("i"), axis_name="i")(jnp.array([2., 4.]))
    Array([1., 2.], dtype=float32)
    """
    return math.prod(size_of(n, "axis_size") for n in names_of(axis_name, "axis_size"))


def axis_index(axis_name: AxisName | Sequence[AxisName]) -> Array:
    """The position along a named axis, an int32 scalar; for several names the row-major position.

    Raises:
      NameError: the axis is not in scope.

    Source: StableHLO `partition_id`, `replica_id`.

    >>> jax.vmap(lambda x: 10 * lax.axis_index("i") + x, axis_name="i")(jnp.array([1, 2]))
    Array([ 1, 12], dtype=int32)
    """
    names = names_of(axis_name, "axis_index")
    index: Any = None
    for name in names:
        own = _place(name)
        index = own if index is None else add(mul(index, np.int32(size_of(name, "axis_index"))), own)
    return index if names else cast(Array, np.int32(0))  # which serves as one


def _place(name: AxisName) -> Any:
    """The position along one axis, which may know it: so do the cores of a kernel."""
    known = next((getattr(axis, "place", None) for bound, axis in reversed(context.state.axes) if bound == name), None)
    return axis_index_p.bind(axis_name=name) if known is None else known


def group_size(names: Sequence, groups: Groups) -> int:
    """How many positions take part in one collective."""
    return len(groups[0]) if groups is not None else math.prod(size_of(n, "psum") for n in names)


def check_groups(function: str, names: tuple, groups: Groups) -> tuple | None:
    """Groups as tuples; they must be a partition of the positions along the axes into parts of one size."""
    if groups is None:
        return None
    groups = tuple(tuple(map(operator.index, g)) for g in groups)
    size = math.prod(size_of(n, function) for n in names)
    if sorted(i for g in groups for i in g) != list(range(size)):
        raise ValueError(f"lax.{function}: axis_index_groups={groups} must cover the indices 0 to {size - 1} of "
                         f"{' and '.join(map(repr, names))} once each.")
    if len({len(g) for g in groups}) > 1:
        raise ValueError(f"lax.{function}: axis_index_groups={groups} must be of one size.")
    return groups


def check_all_mapped(axis: Any, names: tuple) -> None:
    """Groups of positions under vmap: the mapped axis must be the only one."""
    if names != (axis.name,):
        raise NotImplementedError(f"axis_index_groups with the axes {names}, of which vmap maps {axis.name!r}: groups that cross the "
                                  "mapped axis have no form; use the axes one after the other.")


# -- reductions ------------------------------------------------------------------------------------------------------

def psum(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The sum over a named axis.

    Args:
      x: a pytree of arrays. A Python number gives a Python number: ``psum(1, name)`` is the size of the axis.
      axis_name: one name or several; over none ``x`` is its own sum.
      axis_index_groups: sum within these groups of positions; each position gets the sum of its group.

    Raises:
      NameError: the axis is not in scope. ValueError: the groups are not a partition into equal parts.

    Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: lax.psum(x, "i"), axis_name="i")(jnp.arange(3))
    Array([3, 3, 3], dtype=int32)
    """
    names = names_of(axis_name, "psum")
    groups = check_groups("psum", names, axis_index_groups)
    size = group_size([n for n in names if not isinstance(n, int)], groups)

    def sum_leaf(leaf: Array):
        if type(leaf) in (int, float, complex):
            return leaf * size
        if names and get_aval(leaf).dtype == bool:
            leaf = convert_element_type_p.bind(leaf, new_dtype=np.dtype(np.int32), weak_type=False)
        return _reduce(psum_p, leaf, names, groups)
    return tree.tree_map(sum_leaf, x)


def pmean(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The mean over a named axis; integers give floats. Arguments and errors as for `psum`. Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.array([1., 3.]))
    Array([-1.,  1.], dtype=float32)
    """
    names = names_of(axis_name, "pmean")
    size = group_size([n for n in names if not isinstance(n, int)],
                       check_groups("pmean", names, axis_index_groups))

    def mean_leaf(leaf: Array):
        _check_numbers("pmean", leaf)
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
    names = names_of(axis_name, "pmax")
    groups = check_groups("pmax", names, axis_index_groups)
    return tree.tree_map(lambda leaf: _reduce(pmax_p, leaf, names, groups), x)


def pmin(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, axis_index_groups: Groups = None) -> Any:
    """The minimum over a named axis, element by element. Arguments and errors as for `psum`.

    Source: StableHLO `all_reduce`.

    >>> jax.vmap(lambda x: lax.pmin(x, "i"), axis_name="i")(jnp.array([4, 7, 3]))
    Array([3, 3, 3], dtype=int32)
    """
    names = names_of(axis_name, "pmin")
    groups = check_groups("pmin", names, axis_index_groups)
    return tree.tree_map(lambda leaf: _reduce(pmin_p, leaf, names, groups), x)


def _check_numbers(name, x, error=TypeError):
    aval = get_aval(x)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        raise error(f"lax.{name} reduces numbers, got {aval.str_short()}; keys have words: reduce jax.random.key_data(keys)")


def _reduce(prim, x, names, groups):
    """Reduce one leaf over positional axes, then over named ones."""
    _check_numbers(prim.name, x, TypeError if prim is psum_p else ValueError)
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
    if dtypes.is_weakly_typed(x):  # what positions have in common is an array's, no number's
        x = strong(x)
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


def vary_over_names(args: Sequence[object], params: dict) -> tuple[Sequence[Any], dict]:
    """In a checked manual region, the operands of a collective vary over its axes."""
    axes = frozenset(n for n in _axes_of(params) if manual.is_checked(n))
    return manual.vary_to(args, [manual.varying(x) | axes for x in args]), params


def _max_reducer():
    return reduce_max_p


def _min_reducer():
    return reduce_min_p


def in_groups(x: Array, dim: int, groups: Sequence[Sequence[int]], reduce: Callable) -> Any:
    """Reduce within groups of positions of axis ``dim``; every position gets the result of its group."""
    x = moved(x, dim, 0)
    order = [i for g in groups for i in g]
    rows = take_rows(x, order)
    shape = np.shape(rows)
    grouped = reduce(reshape(rows, (len(groups), len(groups[0]), *shape[1:])), 1)
    repeated = broadcast_in_dim(grouped, (len(groups), len(groups[0]), *shape[1:]),
                                (0, *range(2, len(shape) + 1)))
    return take_rows(reshape(repeated, shape), np.argsort(order).tolist())


def take_rows(x: Array, order: Sequence[int]) -> Any:
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
    def batch(axis: AxisData, args, dims: Sequence[int | None], *, axes: tuple[int, ...], axis_index_groups: Sequence[Sequence[int]] | None):
        if axis.name not in axes:
            return prim().bind(*args, axes=axes, axis_index_groups=axis_index_groups), dims
        if axis_index_groups is not None:
            check_all_mapped(axis, axes)
            outs = [repeat(x, len(axis_index_groups[0])) if d is None else
                    in_groups(x, d, axis_index_groups, lambda v, a: over_axis().bind(v, axes=(a,)))
                    for x, d in zip(args, dims)]
            return outs, [None if d is None else 0 for d in dims]
        outs = [repeat(x, axis.size) if d is None else over_axis().bind(x, axes=(d,)) for x, d in zip(args, dims)]
        rest = tuple(n for n in axes if n != axis.name)
        if rest:
            outs = prim().bind(*outs, axes=rest, axis_index_groups=None)
        return outs, [None] * len(outs)
    return batch


def times(x: Array, n: int) -> Any:
    """The sum of ``n`` values that are all ``x``."""
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


def axis_effects(*avals: ShapedArray, axes: Any = None, axis_name: Any = None, **_: object) -> frozenset:
    """The effects of a collective: that these names are in scope."""
    names = axes if axes is not None else axis_name if isinstance(axis_name, tuple) else (axis_name,)
    return frozenset(NamedAxisEffect(n) for n in names)


def _all_reduce_lower(kind: str):
    def lower(b: Builder, *xs, axes: tuple[int, ...], axis_index_groups: Sequence[Sequence[int]] | None):
        op = {"sum": "stablehlo.add", "max": "stablehlo.maximum", "min": "stablehlo.minimum"}[kind]
        env = env_of(b, axes)
        attrs = env.attributes(axes, axis_index_groups)
        if kind == "sum" or all(x.aval.dtype.kind != "c" for x in xs):
            return [all_reduce(b, op, x, attrs) for x in xs]
        count = len(env.groups(axes, axis_index_groups)[0])
        return [_gathered_extremum(b, kind, x, attrs, count) if x.aval.dtype.kind == "c" else all_reduce(b, op, x, attrs) for x in xs]
    return lower


def _gathered_extremum(b, kind, x, attrs, count):
    """Of complex numbers each device's own, of what it gathers from ``count``: XLA has no such reduction of them, and where it says so on some devices
    only, the others wait for them in the next collective until the process ends."""
    row = b.reshape(x, (1, *x.aval.shape))
    rows = b.emit(f'"stablehlo.all_gather"({row})', row, out=row.aval.update(shape=(count, *x.aval.shape)), attrs=f"{{all_gather_dim = 0 : i64, {attrs}}}")
    found, = b.fun(lambda rows: [(reduce_max_p if kind == "max" else reduce_min_p).bind(rows, axes=(0,), out_sharding=None)], rows)
    return found


psum_p: Primitive = Primitive(
    "psum", multiple_results=True, cacheable=False, out_type=lambda *xs, **_: xs, effects=axis_effects, jvp=_psum_jvp,
    transpose=_psum_transpose, batch=_reduction_batch(lambda: psum_p, lambda: reduce_sum_p, times),
    lower=_all_reduce_lower("sum"),
    agree=vary_over_names, traits=Traits(Kind.ALL_REDUCE))

def _extremum_type(*xs, axes, axis_index_groups):
    """The result is equal everywhere along the axes."""
    return [x.update(vma=x.vma.difference(axes)) if x.vma and axis_index_groups is None else x for x in xs]


def _extremum_jvp(prim):
    """The tangent of the positions that attain the extremum; several share it equally, as for `reduce_max`."""
    def jvp(primals, tangents, *, axes: tuple[int, ...], axis_index_groups: Sequence[Sequence[int]] | None):
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
    "pmax", multiple_results=True, cacheable=False, out_type=_extremum_type, effects=axis_effects,
    jvp=_extremum_jvp(lambda: pmax_p),
    transpose=none("pmax is not linear"), batch=_reduction_batch(lambda: pmax_p, _max_reducer, lambda x, n: x),
    lower=_all_reduce_lower("max"),
    own_type=True, agree=vary_over_names, traits=Traits(Kind.ALL_REDUCE))

pmin_p: Primitive = Primitive(
    "pmin", multiple_results=True, cacheable=False, out_type=_extremum_type, effects=axis_effects,
    jvp=_extremum_jvp(lambda: pmin_p),
    transpose=none("pmin is not linear"), batch=_reduction_batch(lambda: pmin_p, _min_reducer, lambda x, n: x),
    lower=_all_reduce_lower("min"),
    own_type=True, agree=vary_over_names, traits=Traits(Kind.ALL_REDUCE))

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
    "axis_index", cacheable=False, effects=axis_effects, jvp=ZERO, batch=_axis_index_batch, lower=_axis_index_lower,
    out_type=lambda *, axis_name: ShapedArray((), np.dtype(np.int32), vma=manual.axis_of(axis_name)),
    own_type=True)


# -- types that vary over axes ---------------------------------------------------------------------------------------

def pvary(x: PyTree, axis_name: AxisName | Sequence[AxisName]) -> Any:
    """``x`` itself (a pytree), counted as varying over a named axis. Only a checked `shard_map` makes the difference.

    Raises:
      NameError: the axis is not in scope.

    >>> jax.vmap(lambda v: jax.lax.pvary(v, 'i'), axis_name='i')(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    names = [n for n in names_of(axis_name, "pvary") if manual.is_checked(n)]
    return tree.tree_map(lambda leaf: manual.pvary(leaf, [n for n in names if n not in manual.varying(leaf)]), x)


def pcast(x: PyTree, axis_name: AxisName | Sequence[AxisName], *, to: str) -> Any:
    """``x`` itself (a pytree), counted in another way over a named axis. Only a checked `shard_map` makes the difference.

    Args:
      x: a pytree of arrays.
      to: ``"varying"``, of what is equal or reduced; ``"reduced"``, of what is equal: its cotangent is a sum still to be made;
        ``"unreduced"``, of what varies: the parts are the addends of a sum still to be made.
      axis_name: one name, or several.

    Raises:
      NameError: the axis is not in scope.
      ValueError: ``to`` is none of these, or ``x`` cannot be counted so.

    >>> mesh = jax.make_mesh((1,), ('x',), axis_types=(jax.sharding.AxisType.Auto,))
    >>> f = jax.shard_map(lambda v: jax.lax.pcast(v, 'x', to='varying'), mesh=mesh, in_specs=jax.P(), out_specs=jax.P('x'))
    >>> f(jnp.arange(3))
    Array([0, 1, 2], dtype=int32)
    """
    names = names_of(axis_name, "pcast")
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
    if len(set(kinds)) > 1 or (kinds[0], to) not in _CASTS:
        raise ValueError(f"lax.pcast: Unsupported pcast from={'/'.join(sorted(set(kinds)))}, to={to!r}: the operand{tree.keystr(path)} of type "
                         f"{aval.str_short()}, over {names}.")
    return _CASTS[kinds[0], to].bind(x, axes=names)
