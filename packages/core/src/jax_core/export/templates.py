"""One module for a family of shapes: the text of the module with expressions in the places of numbers.

Where the operations, not only the numbers, depend on the variables, there are several such texts, and conditions that say which.
How they are found is in `symbolic_programs`.

Left aside: StableHLO with unknown dimensions, which needs a second form of every lowering rule, and gives the
compiler less to know.
"""
from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

from ..representation.errors import InconclusiveDimensionOperation
from . import symbols
from .families import reciprocal


class Template:
    """A module's text in pieces: strings, and expressions to be filled in.

    An expression is ``(kind, value)``: ``"int"`` a dimension; ``"float"`` a dimension written as a float, ``"float/k"`` the k-th
    part of one; ``"f32"`` and ``"f64"`` the reciprocal of one, in that precision.
    """

    def __init__(self, pieces: Sequence[Any]):
        self.pieces = tuple(pieces)

    def fill(self, values: Mapping[str, int]) -> str:
        """The module for these values of the variables."""
        return "".join([p if isinstance(p, str) else _written(p[0], symbols.evaluate(p[1], values)) for p in self.pieces])

    def __str__(self):
        return "".join([p if isinstance(p, str) else f"<{p[1]}>" if p[0] == "int" else f"<({p[1]}){p[0][5:]}>" if p[0].startswith("float")
                        else f"<1/({p[1]})>" for p in self.pieces])

    def to_data(self) -> list:
        return [p if isinstance(p, str) else [p[0], str(p[1])] for p in self.pieces]

    def to_json(self) -> str:
        return json.dumps(self.to_data())


class Cases:
    """Two modules: ``yes`` where the expression ``least`` is 0 or more, ``no`` elsewhere; each a `Template` or `Cases`."""

    def __init__(self, least: Any, yes: "Module", no: "Module"):
        self.least, self.yes, self.no = least, yes, no

    def fill(self, values: Mapping[str, int]) -> str:
        """The module for these values of the variables."""
        return (self.yes if symbols.evaluate(self.least, values) >= 0 else self.no).fill(values)

    def __str__(self):
        return f"// where {self.least} >= 0:\n{self.yes}\n// elsewhere:\n{self.no}"

    def to_data(self) -> dict:
        return {"least": str(self.least), "yes": self.yes.to_data(), "no": self.no.to_data()}

    def to_json(self) -> str:
        return json.dumps(self.to_data())


class Unseen:
    """In the place of a module, for values of the variables of which none was found when the program was exported."""

    def fill(self, values: Mapping[str, int]) -> str:
        """Raises:
          InconclusiveDimensionOperation: always."""
        raise InconclusiveDimensionOperation(
            f"Exported.call: the program decides by comparisons of lengths what it does, and was not seen for {values_text(values)} when it was "
            "exported; export it for these shapes.")

    def __str__(self):
        return "// not known\n"

    def to_data(self) -> None:
        return None

    def to_json(self) -> str:
        return "null"


Module = Template | Cases | Unseen


def values_text(values: Mapping[str, int]) -> str:
    """``n = 3, m = 4``."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def from_json(text: str, scope: symbols.SymbolicScope) -> Module:
    """What `to_json` wrote."""
    return _of_data(json.loads(text), scope)


def _of_data(data: Any, scope: symbols.SymbolicScope) -> Module:
    if data is None:
        return Unseen()
    if isinstance(data, dict):
        return Cases(symbols.parse_dimension(data["least"], scope), _of_data(data["yes"], scope), _of_data(data["no"], scope))
    return Template([p if isinstance(p, str) else (p[0], symbols.parse_dimension(p[1], scope)) for p in data])


def _written(kind: str, value: int) -> str:
    if kind == "int":
        return str(value)
    return repr(value / int(kind[6:] or 1)) if kind.startswith("float") else repr(reciprocal(kind, value))
