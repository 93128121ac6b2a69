"""`dataclasses.replace`, `fields` and `asdict` of our classes, which libraries take for dataclasses.

The classes are written out by hand, as `import jax` loads neither `dataclasses` nor `inspect`, which that loads.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Fields(dict[str, Any]):
    """As ``__dataclass_fields__ = Fields("a", "b")`` in the body of a class: its parameters, which are attributes too.

    The names are there at once; their `dataclasses.Field`s are made when one of them is read.
    """

    def __init__(self, *names: str):
        super().__init__(dict.fromkeys(names))

    def _filled(self) -> Fields:
        if None in super().values():
            import dataclasses  # start-up: see above

            made: Any = dataclasses.make_dataclass("Fields", tuple(self.keys()))
            self.update(made.__dataclass_fields__)
        return self

    def __getitem__(self, name: str) -> Any:
        return dict.__getitem__(self._filled(), name)

    def get(self, name: str, default: object = None) -> Any:
        return dict.get(self._filled(), name, default)

    def __iter__(self) -> Iterator[str]:  # so that dict(fields) asks __getitem__
        return super().__iter__()

    def values(self) -> Any:
        return dict.values(self._filled())

    def items(self) -> Any:
        return dict.items(self._filled())
