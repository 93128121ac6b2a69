"""Kinds of memory, which are part of an array's type: where the device computes, and the host's, from which it can read.

A type says `Space.Device` where nothing else is said. The results of an operation lie where its operands do; scalars go along with
arrays, and operands in two kinds of memory are refused, as one of them would have to be moved first.
"""
from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Sequence

from . import splits

if TYPE_CHECKING:
    from .aval import AbstractValue
    from .primitive import Primitive


class Space(enum.Enum):
    """Kinds of memory that an array may be put in with `device_put`.

    >>> jax.device_put(jnp.ones(2), jax.memory.Space.Device)
    Array([1., 1.], dtype=float32)
    """

    Device = 1
    Host = 2
    Any = 3

    __hash__ = object.__hash__  # types are looked up by it, and that of enums is written in Python

    @property
    def memory_kind(self) -> str:
        """Its name for shardings; `Any` has none."""
        return {Space.Device: "device", Space.Host: "pinned_host"}[self]

    def __repr__(self):
        return f"MemorySpace.{self.name}"

    __str__ = __repr__


def of_kind(kind: str | None) -> Space:
    """The memory that a sharding with this ``memory_kind`` puts arrays in, as types say it."""
    return Space.Host if kind == "pinned_host" else Space.Device


def mark(space: object) -> str:
    """What a type of an array in this memory has behind its dtype when printed."""
    return "" if space is Space.Device else f"<{getattr(space, 'name', space)}>".lower()


def in_results(prim: Primitive, avals: Sequence[AbstractValue], outs: tuple) -> tuple:
    """The result types ``outs`` of ``prim`` on operands of types ``avals``, some of which are not in `Space.Device`, with their memory.

    Raises:
      ValueError: arrays that are no scalars lie in different kinds of memory.
    """
    if prim.splits is splits.as_told:
        return outs
    arrays = [a for a in avals if isinstance(a.memory_space, Space)]  # not references
    found = {a.memory_space for a in arrays if a.shape} or {a.memory_space for a in arrays}
    if len(found) > 1 and any(a.shape for a in arrays):
        names = ", ".join(sorted(s.name for s in found))
        raise ValueError(f"{prim.name}: the operands lie in different kinds of memory, {names}; move them to one by "
                         f"jax.device_put(x, jax.memory.Space.Device). Operands: {', '.join(a.str_short() for a in arrays)}.")
    space = found.pop() if len(found) == 1 else Space.Device
    return tuple(t.update(memory_space=space) if isinstance(t.memory_space, Space) and t.memory_space is not space else t for t in outs)
