"""Accesses to memory of which at least one is a store, and that nothing orders: races.

A clock tells for each thread, a core or a copy under way, up to which of its moments its owner knows what it did. A semaphore carries the clocks of
those that signalled it to those that wait for it.

Source: Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978; Mattern, "Virtual time and global states of distributed
systems", 1988.
"""
from __future__ import annotations

from typing import Hashable, NamedTuple, Sequence

Clock = dict
"""From threads to moments."""

Region = tuple
"""For each axis a range of positions."""


def join(clock: Clock, other: Clock) -> None:
    """Let the owner of ``clock`` know what that of ``other`` knows."""
    for thread, moment in other.items():
        if clock.get(thread, 0) < moment:
            clock[thread] = moment


def overlap(a: Region, b: Region) -> bool:
    """Whether two parts of one array have an element in common."""
    return all(_meet(x, y) for x, y in zip(a, b))


def _meet(a: range, b: range) -> bool:
    if not a or not b or a[0] > b[-1] or b[0] > a[-1]:
        return False
    if a.step == 1 and b.step == 1:
        return True
    small, large = (a, b) if len(a) < len(b) else (b, a)
    return any(i in large for i in small)


class Access(NamedTuple):
    """One access; ``who`` did it, for messages."""

    thread: Hashable
    moment: int
    region: Region
    stores: bool
    who: str


class Races:
    """The accesses of one run of a kernel, by the memory that they were to."""

    def __init__(self) -> None:
        self.seen: dict[Hashable, list[Access]] = {}
        self.found: list[str] = []

    def access(self, memory: Hashable, what: str, region: Region, stores: bool, thread: Hashable, clock: Clock, who: str) -> str | None:
        """Note an access of ``thread``, which knows ``clock``; a message if it races with one before."""
        before, found = self.seen.setdefault(memory, []), None
        mine = Access(thread, clock.get(thread, 0), region, stores, who)
        kept = []
        for other in before:
            known = other.thread == thread or clock.get(other.thread, 0) >= other.moment
            if not known and (stores or other.stores) and overlap(region, other.region):
                found = found or (f"a race in {what}: {who} {_does(mine)}, and nothing orders that with {other.who}, which {_does(other)}.")
            if not (known and (stores or not other.stores) and _covers(region, other.region)):
                kept.append(other)
        self.seen[memory] = [*kept, mine]
        if found:
            self.found.append(found)
        return found


def _covers(a: Region, b: Region) -> bool:
    return all(x == y or x.step == 1 and (not y or x and x[0] <= y[0] and y[-1] <= x[-1]) for x, y in zip(a, b))


def _does(access: Access) -> str:
    return f"{'stores to' if access.stores else 'reads'} {text(access.region)}"


def text(region: Sequence[range]) -> str:
    """A part, as an index is written."""
    return f"[{', '.join(str(r[0]) if len(r) == 1 else f'{r.start}:{r.stop}' + (f':{r.step}' if r.step != 1 else '') for r in region)}]"
