"""Bytes and hops between devices, for collectives over the axes of a mesh that is a torus.

Each axis is a ring of links that carry data both ways; several axes are used at once, each for a share of the data. Numbers are per
device, and stand at every axis of the collective.

Source: ring algorithms, Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH" (2005); for
`all_to_all` the links that cross the middle of the torus, Dally and Towles, "Principles and Practices of Interconnection Networks" (2004).
"""
from __future__ import annotations

import math
from collections import Counter
from typing import Any, Iterator, Sequence

from .result import RooflineResult, RooflineRuleContext, RooflineShape

total = RooflineShape.total_bytes


def _rings(ctx: RooflineRuleContext, params: dict) -> dict[str, int]:
    """The lengths of the mesh axes that the collective works over."""
    names = params.get("axes", params.get("axis_name"))
    lengths = dict(ctx.mesh.shape) if ctx.mesh is not None else {}
    return {a: lengths[a] for a in (names if isinstance(names, (tuple, list)) else (names,)) if isinstance(a, str) and a in lengths}


def _at_each(rings: dict[str, int], size: float, hops: float) -> RooflineResult:
    return RooflineResult(ici_bytes={a: int(size) for a in rings}, ici_latency={a: int(hops) for a in rings})


def _gathered(rings: dict[str, int], part: int) -> RooflineResult:
    """Every device gets the ``part`` of every other, in one phase for each axis."""
    long = [n for n in rings.values() if n > 1]
    if not long:
        return _at_each(rings, 0, 0)
    return _at_each(rings, part // len(long) * (math.prod(long) - 1), len(long) * max(long))


def all_gather(ctx: RooflineRuleContext, *operands: Any, **params: Any) -> RooflineResult:
    """The same for the other way round, where each device gets its part of a sum."""
    return _gathered(_rings(ctx, params), min(total(ctx.avals_in), total(ctx.avals_out)))


def all_reduce(ctx: RooflineRuleContext, *operands: Any, **params: Any) -> RooflineResult:
    """Parts are reduced where they stay, then gathered."""
    rings = _rings(ctx, params)
    return _gathered(rings, int(total(ctx.avals_in) / math.prod(rings.values()))) * 2


def all_to_all(ctx: RooflineRuleContext, *operands: Any, **params: Any) -> RooflineResult:
    """Half of all data crosses the middle, over the links there are."""
    rings = _rings(ctx, params)
    long = [n for n in rings.values() if n > 1]
    if not long:
        return _at_each(rings, 0, 0)
    links = min(long) ** (len(long) - 1) * (2 if min(long) > 2 else 1)
    return _at_each(rings, total(ctx.avals_in) * math.prod(long) / 2 / links, sum(n / 2 for n in long))


def permute(ctx: RooflineRuleContext, *operands: Any, perm: Sequence[tuple[int, int]], **params: Any) -> RooflineResult:
    """Each message goes along one axis after the other, the shorter way; the link that most of them share decides."""
    rings = _rings(ctx, params)
    lengths = list(rings.values())
    load: Counter = Counter()
    far = 0
    for source, target in perm:
        steps = list(_route(_place(source, lengths), _place(target, lengths), lengths))
        load.update(steps)
        far = max(far, len(steps))
    return _at_each(rings, total(ctx.avals_in) * max(load.values(), default=0), far)


def _place(device: int, lengths: Sequence[int]) -> list[int]:
    place: list[int] = []
    for n in reversed(lengths):
        device, here = divmod(device, n)
        place.insert(0, here)
    return place


def _route(place: list[int], target: Sequence[int], lengths: Sequence[int]) -> Iterator[Any]:
    """The links on the way, as pairs of neighbours."""
    for axis, n in enumerate(lengths):
        ahead = (target[axis] - place[axis]) % n
        step = 1 if ahead <= n - ahead else -1
        while place[axis] != target[axis]:
            before = tuple(place)
            place[axis] = (place[axis] + step) % n
            yield frozenset((before, tuple(place)))
