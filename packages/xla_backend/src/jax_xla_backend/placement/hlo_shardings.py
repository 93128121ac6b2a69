"""XLA's form of shardings, `HloSharding`: which part each device of a list holds; from a spec over a mesh to it, and back."""
from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation.manual_axis_type import UnreducedKind

from ..jaxlib_compat import UNREDUCED_EXTREMA, VERSION_TEXT, HloSharding, _hlo
from .mesh import Mesh
from .partition_spec import UNCONSTRAINED, PartitionSpec

if TYPE_CHECKING:
    from .mesh import AbstractMesh

Index = tuple[slice, ...]
replicated = HloSharding.replicate()


@functools.lru_cache(maxsize=4096)
def tiles_of(hlo: HloSharding, ndim: int) -> tuple[int, ...]:
    """The number of parts along each of ``ndim`` axes."""
    if hlo.is_replicated() or hlo.is_maximal() or not hlo.is_tiled():
        return (1,) * ndim
    return tuple(hlo.tile_assignment_dimensions()[:ndim])


@functools.lru_cache(maxsize=4096)
def indices_of(hlo: HloSharding, shape: tuple[int, ...], count: int) -> tuple[Index, ...]:
    """For each of ``count`` devices, the part of an array of ``shape`` that it holds."""
    whole = (slice(None),) * len(shape)
    tiles = tiles_of(hlo, len(shape))
    if math.prod(tiles) == 1:
        return (whole,) * count
    places = np.reshape(hlo.tile_assignment_devices(), (*tiles, -1))
    result: list[Index] = [whole] * count
    for place in itertools.product(*map(range, tiles)):
        part = tuple(slice(None) if n == 1 else slice(i * (length // n), (i + 1) * (length // n))
                     for i, n, length in zip(place, tiles, shape))
        for device in places[place]:
            result[device] = part
    return tuple(result)


def hlo_equal(a: HloSharding, b: HloSharding) -> bool:
    """Whether two placements give every device the same part."""
    return a == b or (is_whole(a) and is_whole(b))


def is_whole(hlo: HloSharding) -> bool:
    """Whether each device holds the whole array."""
    return hlo.is_replicated() or (hlo.num_devices() == 1 and not hlo.is_manual())


def unreduced_text(spec: PartitionSpec, axis_names: tuple) -> str:
    """What a Shardy attribute ends with where sums over mesh axes are still to be made: ``, unreduced={"x"}``; else nothing."""
    if not spec.unreduced:
        return ""
    assert spec.unreduced_kind is not None
    kind = "" if spec.unreduced_kind is UnreducedKind.sum else spec.unreduced_kind.name
    if kind and not UNREDUCED_EXTREMA:
        raise NotImplementedError(f"{spec}: unreduced_kind={kind} needs jaxlib 0.12, this is {VERSION_TEXT}; reduce at once instead.")
    names = ", ".join(f'"{name}"' for name in axis_names if name in spec.unreduced)
    return f", unreduced={kind}{{{names}}}"


def entry_axes(entry: object) -> tuple:
    """The mesh axes that an entry of a spec names."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


@functools.lru_cache(maxsize=4096)
def named_to_hlo(axes: tuple[tuple[Any, int], ...], spec: PartitionSpec, ndim: int,
                  manual: tuple = ()) -> HloSharding:
    """XLA's form of ``spec`` over a mesh with these axes (name and length of each)."""
    sizes = dict(axes)
    names = [name for name, _ in axes]
    split = [entry_axes(entry) for entry in spec.partitions[:ndim]]
    split += [()] * (ndim - len(split))
    used = [name for entry in split for name in entry]
    by_hand = [name for name in manual if name not in used]
    summed = [name for name in names if name in spec.unreduced]
    rest = [name for name in names if name not in used and name not in by_hand and name not in summed]
    tiles = [math.prod(sizes[name] for name in entry) for entry in split]
    kinds = _hlo.OpSharding.Type
    tail = [(n, kind) for n, kind in ((math.prod(sizes[a] for a in axes), kind) for axes, kind in (
        (summed, kinds.UNREDUCED), (rest, kinds.REPLICATED), (by_hand, kinds.MANUAL))) if n > 1]
    if math.prod(tiles) == 1 and all([kind is kinds.REPLICATED for _, kind in tail]):
        return replicated
    if by_hand and math.prod(tiles) == 1 and len(tail) == 1:
        return HloSharding.manual()
    order = [names.index(name) for name in (*used, *summed, *rest, *by_hand)]
    return HloSharding.iota_tile(tiles + [n for n, _ in tail], reshape_dims=[n for _, n in axes],
                                 transpose_perm=order, subgroup_types=[kind for _, kind in tail])


def hlo_of(mesh: Mesh | AbstractMesh, spec: PartitionSpec, ndim: int, manual: tuple = ()) -> HloSharding:
    """XLA's form of ``spec`` over ``mesh``, where the axes ``manual`` are manual."""
    return named_to_hlo(mesh.shape_tuple, spec, ndim, manual)


@functools.lru_cache(maxsize=4096)
def spec_of(hlo: HloSharding, mesh: Mesh, ndim: int) -> PartitionSpec | None:
    """The spec that gives ``hlo`` over ``mesh``, or None if there is none.

    Tries the ordered choices of mesh axes whose lengths multiply to the number of parts; meshes have few axes.
    """
    tiles = tiles_of(hlo, ndim)
    if math.prod(tiles) == 1:
        return PartitionSpec() if hlo.is_replicated() else None
    sizes = mesh.shape

    def choices(n: int, free: tuple) -> Any:
        if n == 1:
            yield ()
        for name in free:
            if sizes[name] > 1 and n % sizes[name] == 0:
                for more in choices(n // sizes[name], tuple(f for f in free if f != name)):
                    yield (name, *more)

    def extend(entries: tuple, free: tuple) -> PartitionSpec | None:
        if len(entries) == ndim:
            spec = PartitionSpec(*entries)
            return spec if named_to_hlo(mesh.shape_tuple, spec, ndim) == hlo else None
        for names in choices(tiles[len(entries)], free):
            found = extend((*entries, names or None), tuple(f for f in free if f not in names))
            if found is not None:
                return found
        return None

    found = extend((), mesh.axis_names)
    if found is None:
        return None
    entries = list(found.partitions)
    while entries and entries[-1] is None:
        entries.pop()
    return PartitionSpec(*entries)
