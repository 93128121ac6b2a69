"""`dataclasses.replace`, `fields` and `asdict` of our classes, which libraries take for dataclasses.

The classes are written out by hand, as `import jax` loads neither `dataclasses` nor `inspect`, which that loads.
"""
from __future__ import annotations

from typing import Any


class Fields:
    """As ``__dataclass_fields__ = Fields("a", "b")`` in the body of a class: its parameters, which are attributes too."""

    __slots__ = ("_names", "_made")

    def __init__(self, *names: str):
        self._names = names
        self._made: dict[str, Any] | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> dict[str, Any]:
        if self._made is None:
            import dataclasses  # start-up: see above

            made: Any = dataclasses.make_dataclass("Fields", self._names)
            self._made = made.__dataclass_fields__
        return self._made  # type: ignore[return-value]
