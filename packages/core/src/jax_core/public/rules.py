"""Tables of rules by primitive, as `jax.interpreters` shows them: views on the primitives' own attributes."""
from __future__ import annotations

from collections.abc import MutableMapping
from typing import Callable, Iterator

from ..representation.primitive import Primitive


class RuleTable(MutableMapping):
    """Maps a primitive to one of its rules.

    Args:
      attribute: where the primitive keeps the rule.
      show: turns the attribute's value into the public form of the rule, given ``(prim, value)``.
      take: turns a rule in public form into the attribute's value.
    """

    def __init__(self, attribute: str, show: Callable, take: Callable = lambda rule: rule):
        self._attribute, self._show, self._take = attribute, show, take
        self._set: dict[Primitive, Callable] = {}
        self._known_rules: dict[Primitive, tuple[object, Callable]] = {}  # the attribute's value and what it was shown as: the same at each look-up

    def __getitem__(self, prim: Primitive) -> Callable:
        if prim in self._set:
            return self._set[prim]
        value = getattr(prim, self._attribute, None)
        if value is None:
            raise KeyError(prim)
        known = self._known_rules.get(prim)
        if known is None or known[0] is not value:
            known = self._known_rules[prim] = value, self._show(prim, value)
        return known[1]

    def __setitem__(self, prim: Primitive, rule: Callable) -> None:
        self._set[prim] = rule
        setattr(prim, self._attribute, self._take(rule))

    def __delitem__(self, prim: Primitive) -> None:
        self._set.pop(prim, None)
        self._known_rules.pop(prim, None)
        setattr(prim, self._attribute, None)

    def __contains__(self, prim: object) -> bool:
        return getattr(prim, self._attribute, None) is not None

    def __iter__(self) -> Iterator[Primitive]:
        return iter(self._set)

    def __len__(self) -> int:
        return len(self._set)
