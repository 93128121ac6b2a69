"""`jax.sharding.no_collectives`: mesh axes along which `jax.reshard` must not move parts of arrays."""
from __future__ import annotations

from typing import Any

from jax_core.configuration.engine import State

from .sharding import NamedSharding


class _AxisNames(State):
    """A flag that holds a set of axis names."""

    __slots__ = ()

    def check(self, value: object) -> Any:
        if not isinstance(value, (set, frozenset)):
            raise TypeError(f"no_collectives: Expected axis name(s) as set or frozenset, got {value!r} of type {type(value)}")
        return frozenset(value)


no_collectives = _AxisNames("jax_no_collectives", object, frozenset(),
                            "Forbid communication across these mesh axes by `jax.reshard`.")
"""``with no_collectives({"x"}):`` inside, `jax.reshard` refuses to move parts of arrays along these mesh axes."""


def check_no_collectives(before: object, after: object) -> None:
    """Raise ValueError if going from one placement to the other communicates along a forbidden axis."""
    forbidden = no_collectives.value
    if not forbidden or not isinstance(before, NamedSharding) or not isinstance(after, NamedSharding):
        return
    place = lambda s: {a: i for i, e in enumerate(s.spec.partitions) for a in (e if isinstance(e, tuple) else (e,)) if a in forbidden}
    old, new = place(before), place(after)
    lost = [a for a in old if new.get(a) != old[a]]
    if lost:
        raise ValueError(f"reshard: going from {before.spec} to {after.spec} needs collectives across the mesh axis {lost[0]!r}, which "
                         f"jax.sharding.no_collectives({set(forbidden)}) forbids here.")
