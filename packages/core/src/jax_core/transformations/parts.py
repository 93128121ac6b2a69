"""Cotangents of parts of a value, joined when all are there.

A slice reads a part of a value, and the cotangent of the value is that of the part with zeros around it. Where many slices read one value, as loops that are
written out do, each of these is as large as the value. So cotangents of parts are kept until the sum is asked for, and those that lie next to each other
are joined first. That may be a kernel more for some parts, where sums with zeros around are one; it pays for large values (`LARGE`).
"""
from __future__ import annotations

from typing import Any, Sequence

from ..representation import source
from ..representation.aval import AbstractValue, get_aval
from ..representation.jaxpr import needs_x64
from ..representation.primitive import PartRule, Zero
from ..representation.source import SourceInfo
from ..traces.structural import add

FEW = 3
"""Parts that are joined, at least: of fewer the sums are as fast, as compilers make them in what reads them."""
LARGE = 1 << 16
"""Elements of a value whose parts are joined, at least: each part takes 0.33 ns for each of them in a sum (`rows` of `benchmarks/programs/slopes.py`), and
12 ms to compile where it is a kernel (docs/internals/fusion.md)."""


def is_large(aval: Any) -> bool:
    """Whether parts of a value of this type are joined."""
    return all(isinstance(n, int) for n in aval.shape) and aval.size >= LARGE


class Parts:
    """The cotangent of a value of type ``aval`` that slices read; ``rest`` is what is there of it besides."""

    __slots__ = ("aval", "rest", "_rule", "_source", "_found")

    def __init__(self, aval: AbstractValue, rest: Any, rule: PartRule):
        self.aval, self.rest, self._rule = aval, rest, rule
        self._found: list[tuple[int, int, int, Any]] = []
        self._source: SourceInfo | None = None

    def add(self, place: tuple[int, int, int], ct: Any, where: SourceInfo) -> None:
        """Add the cotangent of a part."""
        self._found.append((*place, ct))
        self._source = where

    def whole(self) -> Any:
        """The sum."""
        total = self.rest
        with source.attributed_to(self._source):
            for axis, start, cts in self._runs() if len(self._found) >= FEW else [(axis, start, [ct]) for axis, start, _, ct in self._found]:
                total = added(total, self._rule.joined(cts, axis, start, self.aval))
        return total

    def _runs(self) -> list[tuple[int, int, list]]:
        """Axis, start and cotangents of parts each of which starts where the one before it ends."""
        runs: list[tuple[int, int, list]] = []
        open_runs: dict[tuple[int, int], list[list]] = {}  # by the axis, and where they end
        for axis, start, end, ct in sorted(self._found, key=lambda part: part[:3]):
            ending = open_runs.get((axis, start))
            run = ending.pop() if ending else []
            if not run:
                runs.append((axis, start, run))
            run.append(ct)
            open_runs.setdefault((axis, end), []).append(run)
        return runs


def keep(pending: dict, key: Any, rule: PartRule, cts: Sequence[Any], aval: AbstractValue, params: dict, where: SourceInfo) -> bool:
    """Add to the cotangent of ``key``, the operand of a primitive with this rule, that of the part which it reads; False if its transpose rule must find it."""
    ct, = cts
    if ct is None or isinstance(ct, Zero) or not is_large(aval) or aval.placement is not None or needs_x64(aval) or get_aval(ct).dtype != aval.dtype:
        return False
    place = rule.place(aval, **params)
    if place is None:
        return False
    before = pending.get(key)
    if type(before) is not Parts:
        before = pending[key] = Parts(aval, before, rule)
    before.add(place, ct, where)
    return True


def added(before: Any, ct: Any) -> Any:
    """``before``, a cotangent or None, and ``ct``."""
    return ct if before is None else add(before, ct)


def taken(ct: Any) -> Any:
    """The cotangent ``ct``, whole."""
    return ct.whole() if type(ct) is Parts else ct
