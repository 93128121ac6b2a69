"""How values are split over the ``Explicit`` axes of a mesh, as part of their types.

The placement of a type (`ShapedArray.placement`) has an entry for each axis: None, the name of a mesh axis, or several. A
primitive's type rule knows nothing of it. What the result's entries are follows from the operands' by the rule that the
primitive declares (``splits=``), or by what all operations of its kind do (`BY_KIND`). A rule is
``rule(avals, outs, params) -> entries of each result``; operands without a placement are whole on each device.

An axis that no rule knows how to split has to be whole; the caller says otherwise by ``out_sharding``.
"""
from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from ..configuration import flags
from . import partial_sums
from .dtypes import ExtendedDType
from .errors import ShardingTypeError
from .traits import Kind

if TYPE_CHECKING:
    from .aval import AbstractValue
    from .primitive import Primitive
    from .typing import AxisName, MeshSharding, Shape

Entries = tuple


def in_type(sharding: object, ndim: int) -> Any:
    """The part of a placement that types carry: the entries of ``Explicit`` axes, for each of ``ndim`` axes; else None.

    Axes of size one split nothing, and are left out where `flags.remove_size_one_mesh_axis_from_type` says so.
    """
    mesh = getattr(sharding, "mesh", None)
    if mesh is None or not mesh.explicit_axes:
        return None
    return _in_type(sharding, ndim, flags.remove_size_one_mesh_axis_from_type.value)


@functools.lru_cache(1 << 12)
def _in_type(sharding: Any, ndim: int, only_longer: bool) -> Any:
    mesh = sharding.mesh
    named = set(mesh.explicit_axes)
    spec = sharding.spec
    if only_longer:
        named = {a for a in named if mesh.shape[a] > 1}
        spec = spec.update(unreduced=spec.unreduced & named, reduced=spec.reduced & named)
    parts = [entry_of(e, named) for e in spec.partitions]
    parts += [None] * (ndim - len(parts))
    if mesh is mesh.abstract_mesh and tuple(parts) == sharding.spec.partitions and spec is sharding.spec and sharding.memory_kind is None:
        return sharding
    return sharding.update(mesh=mesh.abstract_mesh, spec=spec.update(partitions=parts), memory_kind=None)


def cotangent_placement(aval: AbstractValue) -> Any:
    """The placement of cotangents of values of this type: what is replicated by agreement is unreduced, and the other way round."""
    placement = aval.placement
    if placement is None or not (placement.spec.unreduced or placement.spec.reduced):
        return placement
    return placement.update(spec=placement.spec.to_ct_spec())


def cotangent_type(aval: AbstractValue) -> Any:
    """The type of cotangents of values of type ``aval``, which are tangents themselves."""
    wanted, sums = cotangent_placement(aval), aval.sums.turned()
    return aval if wanted is aval.placement and sums is aval.sums else aval.update(sharding=wanted, sums=sums)


def check_fits(name: str, asked: MeshSharding, shape: Shape) -> None:
    """Raise ValueError where a placement that is asked for names more axes than ``shape`` has, or an axis is no multiple of its parts."""
    if len(asked.spec.partitions) > len(shape):
        raise ValueError(f"{name}: {asked.spec} has {len(asked.spec.partitions)} entries, and the result of shape {tuple(shape)} has "
                         f"{len(shape)} axes; give at most one entry an axis")
    placement = in_type(asked, len(shape))
    if placement is not None:
        check_lengths(placement, shape)


def check_lengths(placement: MeshSharding, shape: Shape) -> None:
    """Raise ValueError where an axis has a length that is not a multiple of the number of its parts."""
    for axis, (n, entry) in enumerate(zip(shape, placement.spec.partitions)):
        if entry is not None and isinstance(n, int) and n % parts(placement, entry):
            raise ValueError(f"an array of shape {tuple(shape)} cannot be split as {placement.spec}: {entry!r} makes {parts(placement, entry)} "
                             f"parts, which does not evenly divide the dimension size {n} of axis {axis}")


def entry_of(entry: object, named: Iterable[AxisName]) -> Any:
    """An entry of a spec, of which only the mesh axes ``named`` stay."""
    names = tuple(n for n in names_of(entry) if n in named)
    return names if len(names) > 1 else names[0] if names else None


def names_of(entry: object) -> tuple:
    """The mesh axes that an entry of a spec names."""
    if isinstance(entry, tuple):
        return entry
    return () if entry is None else (entry,)


def entries(aval: AbstractValue) -> Entries:
    """What each axis of values of this type is split over."""
    return (None,) * len(aval.shape) if aval.placement is None else aval.placement.spec.partitions


@functools.lru_cache(1 << 14)
def with_entries(placement: MeshSharding, found: Entries) -> Any:
    """``placement`` with other entries, for an array of other axes; kept, as to make a placement takes longer than a rule does."""
    return placement.update(spec=placement.spec.update(partitions=found))


def whole_placement(aval: AbstractValue) -> Any:
    """The placement of a value of type ``aval`` when it is gathered: whole on each device; None where the type says none."""
    return None if aval.placement is None else with_entries(aval.placement, (None,) * len(aval.shape))


def without_axis(placement: MeshSharding, axis: int) -> Any:
    """The placement of one row along ``axis``; None for None."""
    if placement is None:
        return None
    found = placement.spec.partitions
    return with_entries(placement, found[:axis] + found[axis + 1:])


def with_axis(placement: MeshSharding | None, axis: int, entry: AxisName | None = None) -> Any:
    """The placement with a new axis, split over ``entry``; None for None."""
    if placement is None:
        return None
    found = placement.spec.partitions
    found += (None,) * (axis - len(found))
    return with_entries(placement, (*found[:axis], entry, *found[axis:]))


def with_lanes(sharding: MeshSharding, entry: AxisName) -> Any:
    """The placement of values that are stacked in front, each of which lies as ``sharding`` says; as the compiler likes for no ``entry``."""
    spec = getattr(sharding, "spec", None)
    if spec is None:  # all on one device
        return sharding
    if entry is None and sharding.mesh.auto_axes:
        entry = type(spec).UNCONSTRAINED
    return with_entries(sharding, (entry, *spec.partitions))


def without_open_axes(sharding: MeshSharding) -> Any:
    """The placement with those axes whole that it leaves to the compiler."""
    spec = getattr(sharding, "spec", None)
    if spec is None or type(spec).UNCONSTRAINED not in spec.partitions:
        return sharding
    return with_entries(sharding, tuple(None if e is type(spec).UNCONSTRAINED else e for e in spec.partitions))


def as_it_lies(x: Any, sharding: Any) -> Any:
    """The placement for the array ``x``, split as it is along axes that the placement leaves to the compiler."""
    if without_open_axes(sharding) is sharding:
        return sharding
    own: Any = getattr(x, "sharding", None)
    mesh = getattr(own, "mesh", None)
    lies = own.spec.partitions if mesh is not None and sharding.mesh in (mesh, mesh.abstract_mesh) else ()
    taken = set(sharding.spec.axis_names())
    found = [(e if not taken.intersection(names_of(e)) else None) for e in (*lies, *[None] * (len(sharding.spec) - len(lies)))]
    told = [mine if e is type(sharding.spec).UNCONSTRAINED else e for e, mine in zip(sharding.spec.partitions, found)]
    while told and told[-1] is None and not sharding.mesh.explicit_axes:
        told.pop()
    return with_entries(sharding, tuple(told))


def of_broadcast(avals: Iterable[AbstractValue], shape: Shape, dims: Iterable[Sequence[int] | None] | None = None) -> Any:
    """How operands of types ``avals``, broadcast together to ``shape``, are split; None where no type says it, or they do not agree.

    The axes of each become those in ``dims``, the last ones for None.

    An operand that is stretched is split so from the start: its cotangent is then summed where it lies, not gathered first.
    """
    avals = tuple(avals)
    if all([getattr(a, "placement", None) is None for a in avals]):
        return None
    return _of_broadcast(avals, tuple(shape), None if dims is None else tuple(None if d is None else tuple(d) for d in dims))


@functools.lru_cache(1 << 12)
def _of_broadcast(avals: tuple, shape: Shape, dims: tuple | None) -> Any:
    found: list[Any] = [None] * len(shape)
    like = None
    for aval, places in zip(avals, dims or (None,) * len(avals)):
        placement = getattr(aval, "placement", None)
        if placement is None:
            continue
        if placement.spec.unreduced or placement.spec.reduced or like is not None and placement.mesh != like.mesh:
            return None
        like = placement
        for axis, entry in zip(range(len(shape) - len(aval.shape), len(shape)) if places is None else places, placement.spec.partitions):
            if entry is not None and found[axis] not in (None, entry):
                return None
            found[axis] = found[axis] if entry is None else entry
    names = [n for entry in found for n in names_of(entry)]
    return None if like is None or len(set(names)) < len(names) else with_entries(like, tuple(found))


def with_mapped_axis(aval: AbstractValue, axis: int, mesh_axis: object) -> Any:
    """The placement of values of type ``aval``, stacked along ``axis``, which is split over ``mesh_axis``; None where no mesh is known."""
    placement = aval.placement
    if placement is None and mesh_axis is not None and not aval.sharding.mesh.empty:
        placement = aval.sharding
    return with_axis(placement, axis, mesh_axis)


def text_of_axis(length: object, entry: object) -> str:
    """``8@x``, ``8@(x,y)`` or ``8``."""
    if entry is None:
        return str(length)
    return f"{length}@{entry}" if not isinstance(entry, tuple) else f"{length}@({','.join(map(str, entry))})"


def parts(placement: MeshSharding, entry: AxisName) -> int:
    """Into how many parts ``entry`` splits an axis."""
    sizes = placement.mesh.shape
    return math.prod(sizes[n] for n in names_of(entry))


def place(prim: Primitive, avals: Sequence[AbstractValue], params: dict, outs: tuple) -> tuple:
    """The result types ``outs`` of ``prim`` with their placements. Raises ShardingTypeError where those of operands clash."""
    rule = prim.splits
    asked = params.get("out_sharding", params.get("sharding"))
    if asked is not None and rule is not as_first and rule is not as_told and not prim.multiple_results:
        if hasattr(asked, "spec"):
            partial_sums.check_asked(prim, avals, asked.spec, params)
            check_fits(prim.name, asked, outs[0].shape)
        return (outs[0].update(sharding=asked),)
    placed = [a.placement for a in avals if a.placement is not None]
    if not placed:
        return outs
    like = placed[0]
    for other in placed[1:]:
        if other.mesh != like.mesh:
            raise ValueError(f"{prim.name}: operands are typed for different meshes, {like.mesh} and {other.mesh}; move them to "
                             f"one by jax.device_put, or jax.sharding.reshard. Operands: {types_text(avals)}.")
    if rule is None:
        rule = BY_KIND.get(prim.traits.kind, whole)
    found = rule(prim, avals, outs, params)
    if found is None:  # the types say it themselves
        return outs
    sums = partial_sums.of_result(prim, [a.update(sums=partial_sums.NOTHING) if a.sums is not partial_sums.NOTHING else a for a in avals])
    result = []
    for out, entry in zip(outs, found):
        if entry is None:  # no array, or the type says it
            result.append(out)
            continue
        names = [n for e in entry for n in names_of(e)]
        if len(set(names)) != len(names):
            raise ShardingTypeError(f"{prim.name}: the result would be split over a mesh axis twice, {entry}; reshard an operand "
                                    f"first, or give out_sharding. Operands: {types_text(avals)}.")
        spec = type(like.spec)(*entry, unreduced=sums.unreduced, reduced=sums.reduced - set(names), unreduced_kind=sums.kind)
        result.append(out.update(sharding=like.update(spec=spec)))
    return tuple(result)


def types_text(avals: Sequence[AbstractValue]) -> str:
    """The operands' types, for messages."""
    return ", ".join(a.str_short() for a in avals)


def where_even(x: AbstractValue, found: Sequence[object], shape: Sequence[int]) -> Entries:
    """The entries of an axis each, None for those that do not split it evenly."""
    return tuple(e if e is None or not n % parts(x.placement, e) else None for e, n in zip(found, shape))


# -- rules -------------------------------------------------------------------------------------------------------------

def joined(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """Each axis as in the operands that split it; scalars have no say."""
    return [join(prim.name, [a for a in avals if len(a.shape) == len(outs[0].shape)], avals)] * len(outs)


def join(name: str, those: Sequence[AbstractValue], avals: Sequence[AbstractValue]) -> Entries:
    """The common entries of operands of one shape."""
    result = []
    for axis, found in enumerate(zip(*map(entries, those))):
        some = {e for e in found if e is not None}
        if len(some) > 1:
            raise ShardingTypeError(
                f"{name} got incompatible shardings for broadcasting: axis {axis} is split over {' and over '.join(map(repr, sorted(some, key=str)))}; "
                f"give the operands one sharding with jax.sharding.reshard. Operands: {types_text(avals)}.")
        result.append(some.pop() if some else None)
    return tuple(result)


def as_first(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """As the first operand: the same axes, of which those with another length must still be divisible."""
    return [_resized(prim.name, avals[0], out) for out in outs]


def resizing(what: str) -> Callable:
    """The rule `as_first`, which names in its messages ``what`` the operation does."""
    def rule(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict):
        return [_resized(f"{prim.name}: {what} on sharded dims must leave multiples of the number of parts", avals[0], out) for out in outs]
    return rule


def _resized(name: str, x: Any, out: Any) -> Entries:
    """The entries of ``x`` for a result with the same axes, some of other lengths."""
    found = entries(x)
    if isinstance(x.dtype, ExtendedDType):  # of keys, which are few, a part is whole
        return tuple(e if before == after else None for before, after, e in zip(x.shape, out.shape, found))
    for axis, (before, after, entry) in enumerate(zip(x.shape, out.shape, found)):
        if entry is not None and before != after and after % parts(x.placement, entry):
            raise ShardingTypeError(f"{name}: axis {axis} is split over {entry!r} and would have length {after}, which is not "
                                    f"a multiple of {parts(x.placement, entry)}; reshard the operand {x.str_short()} first.")
    return found


def as_told(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> None:
    """The types of the results say it already."""


def as_each(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """Each result as the operand in its place."""
    return [entries(a) for a in avals]


def leading(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """The axes that results have in front with the first operand, as that; further ones are whole."""
    x = avals[0]
    result = []
    for out in outs:
        shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(x.shape, out.shape))))
        result.append(entries(x)[:shared] + (None,) * (len(out.shape) - shared))
    return result


def part_placement(aval: AbstractValue, shape: Sequence[object]) -> Any:
    """The placement of a part of ``shape`` of a value of type ``aval``, which must be whole along axes that the part lacks or cuts."""
    if aval.placement is None or tuple(shape) == tuple(aval.shape):
        return aval.placement
    found = entries(aval)
    if len(shape) == len(found):
        return with_entries(aval.placement, _resized("a part of a reference", aval, aval.update(shape=shape)))
    if any(e is not None for e in found):
        raise TypeError(f"a reference to {aval.str_short()} is split over mesh axes and can be indexed by slices only, as integers and "
                        "arrays do not say how the part is split; read it whole by ref[...] first")
    return with_entries(aval.placement, (None,) * len(shape))


def reduced_axes(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """The first operand's without the reduced axes."""
    gone = params["axes"] if "axes" in params else params["dimensions"]
    return [tuple(e for i, e in enumerate(entries(avals[0])) if i not in gone)] * len(outs)


def along_axis(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """As the operands, which must be whole along the axis that is worked on."""
    axis = next(params[name] for name in ("dimension", "axis", "reduction_dimension") if name in params)
    found = join(prim.name, avals, avals)
    if found[axis] is not None:
        raise ShardingTypeError(f"{prim.name}: the operand should be unsharded over axis {axis}, which it works along; it must be "
                                f"unsharded there, reshard it first. Operands: {types_text(avals)}.")
    return [found] * len(outs)


def whole(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """Leading axes that all operands and results share stay split; all others of the results are whole."""
    return [(None,) * len(out.shape) for out in outs]


def batch_placement(aval: AbstractValue) -> Any:
    """The placement of the batch of an array of matrices; None for None."""
    return None if aval.placement is None else with_entries(aval.placement, entries(aval)[:-2])


def batched(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """Of matrices in a batch: the batch stays split, the matrices must be whole."""
    return whole_behind(prim, [a for a in avals if len(a.shape) >= 2], outs, 2)


def whole_behind(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, axes: int | Sequence[int]) -> list[Entries]:
    """The last ``axes`` axes of the operands (of each its own number) must be whole, those in front stay split."""
    each = (axes,) * len(avals) if isinstance(axes, int) else axes
    fronts = [entries(a)[:len(a.shape) - n] for a, n in zip(avals, each)]
    for a, n, front in zip(avals, each, fronts):
        if any(e is not None for e in entries(a)[len(front):]):
            raise ShardingTypeError(f"{prim.name}: the last {n} axes of an operand must be whole, only batch axes can be split, got "
                                    f"{types_text(avals)}; reshard them.")
    front = fronts[0]
    return [front + (None,) * (len(out.shape) - len(front)) for out in outs]


def product(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """Batch axes, then those of the left operand, then those of the right; contracted axes must not both be split."""
    lhs, rhs = map(entries, avals[:2])
    (lc, rc), (lb, rb) = params["dimension_numbers"]
    batch = []
    for i, j in zip(lb, rb):
        if lhs[i] != rhs[j]:
            raise ShardingTypeError(f"{prim.name} requires batch dimensions to have consistent sharding, got {lhs[i]!r} and "
                                    f"{rhs[j]!r} for axes {i} and {j}. Operands: {types_text(avals)}.")
        batch.append(lhs[i])
    for i, j in zip(lc, rc):
        if lhs[i] is None or rhs[j] is None:
            continue
        if lhs[i] != rhs[j]:
            raise ShardingTypeError(f"{prim.name} requires contracting dimensions to have consistent sharding, got {lhs[i]!r} and "
                                    f"{rhs[j]!r} for axes {i} and {j}; reshard one. Operands: {types_text(avals)}.")
        raise ShardingTypeError(f"{prim.name}: Contracting dimensions are sharded, both over {lhs[i]!r}, and it is ambiguous how the "
                                f"output should be sharded; give it as out_sharding. Operands: {types_text(avals)}.")
    return [(*batch, *[e for i, e in enumerate(lhs) if i not in lc and i not in lb],
             *[e for i, e in enumerate(rhs) if i not in rc and i not in rb])]


def regrouped(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple, params: dict) -> list[Entries]:
    """The entries after a reshape: a split axis stays, goes to the first of its factors, or leads those that it is merged with."""
    x, = avals
    return [regroup(prim.name, x, outs[0].shape)]


def regroup(name: str, x: AbstractValue, shape: Sequence[int]) -> Entries:
    """The entries of ``x`` with its elements in another shape, where that cuts one axis or merges neighbours, once; more has to be told."""
    given, result = entries(x), [None] * len(shape)
    if not any(e is not None for e in given):
        return tuple(result)
    for i in itertools.takewhile(lambda i: x.shape[i] == shape[i] == 1, range(min(x.ndim, len(shape)))):  # of length 1, in front
        result[i] = given[i]
    before = [(n, e) for n, e in zip(x.shape, given) if n != 1]
    places = [i for i, n in enumerate(shape) if n != 1]
    i = j = changed = 0
    while i < len(before):
        ins, outs = [before[i]], [places[j]] if j < len(places) else []
        i, j = i + 1, j + 1
        left, right = ins[0][0], shape[outs[0]] if outs else 1
        while left != right:
            if left < right:
                left *= before[i][0]
                ins.append(before[i])
                i += 1
            else:
                right *= shape[places[j]]
                outs.append(places[j])
                j += 1
        changed += len(ins) != len(outs) or len(ins) > 1
        if changed > 1 or len(ins) > 1 and len(outs) > 1:
            raise _no_reshape(name, x, shape)
        if any(e is not None for _, e in ins):
            _split_group(name, x, shape, ins, outs, result)
    return tuple(result)


def _split_group(name, x, shape, ins, outs, result):
    """Give the axes ``outs`` of the result the entries of the operand's axes ``ins``, of as many elements."""
    split = [e is not None for _, e in ins]
    if split != sorted(split, reverse=True):  # an axis in front of a split one is whole: parts would not stay together
        raise _no_reshape(name, x, shape)
    sizes, left = x.placement.mesh.shape, [n for _, e in ins for n in names_of(e)]
    for axis in outs:
        mine, room = [], shape[axis]
        while left and room % sizes[left[0]] == 0:
            room //= sizes[left[0]]
            mine.append(left.pop(0))
        if mine:
            result[axis] = tuple(mine) if len(mine) > 1 else mine[0]
        if room > 1:
            break
    if left:
        raise _no_reshape(name, x, shape)


def _no_reshape(name, x, shape):
    return ShardingTypeError(f"{name}: This reshape is not supported on a split array: {x.str_short()} to {tuple(shape)} does not "
                             "say how the result is split. Please specify the sharding of the output via out_sharding, or reshard first.")


BY_KIND: dict[Kind, Callable] = {
    Kind.ELEMENTWISE: joined, Kind.IDENTITY: joined, Kind.REDUCTION: reduced_axes, Kind.SEARCH: reduced_axes,
    Kind.SWEEP: along_axis, Kind.SORT: along_axis, Kind.PRODUCT: product, Kind.LIBRARY: batched,
    Kind.SCATTER: as_first, Kind.ALL_REDUCE: as_each,
}
