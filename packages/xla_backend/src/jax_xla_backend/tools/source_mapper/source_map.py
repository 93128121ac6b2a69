"""The source map format, revision 3 (https://tc39.es/ecma426): lines of generated text and where each comes from."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Sequence

Segment = tuple[int, ...]
"""Column in the generated text, then source, line and column there (and name), each relative to the segment before;
generated columns start anew in each line."""

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUE_OF = {digit: value for value, digit in enumerate(_DIGITS)}
_MORE = 32
"""The bit of a base-64 digit that says that the number goes on."""


def _encoded(number: int) -> str:
    """Base-64 digits of five bits each, the lowest first; the lowest bit of all is the sign."""
    rest, digits = abs(number) << 1 | (number < 0), ""
    while True:
        rest, digit = rest >> 5, rest & 31
        digits += _DIGITS[digit | (_MORE if rest else 0)]
        if not rest:
            return digits


def _decoded(text: str) -> Segment:
    numbers, value, shift = [], 0, 0
    for letter in text:
        if letter not in _VALUE_OF:
            raise ValueError(f"SourceMap.from_json: mappings hold {letter!r} in {text!r}, which is no digit of base 64.")
        digit = _VALUE_OF[letter]
        value |= (digit & 31) << shift
        shift += 5
        if not digit & _MORE:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value, shift = 0, 0
    if shift:
        raise ValueError(f"SourceMap.from_json: the last number of the segment {text!r} of mappings has no end.")
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Where the lines of a generated text come from.

    Args:
      version: of the format, 3.
      sources: names of the files.
      sources_content: their contents, as far as known.
      names: identifiers that segments speak of.
      mappings: for each generated line its segments, as `MappingsGenerator.mappings` gives them.

    Source: ECMA-426, revision 3 of the source map format.

    Example:
        >>> from jax.experimental.source_mapper import SourceMap
        >>> found = SourceMap.from_json('{"version": 3, "sources": ["a.py"], "sourcesContent": [], "names": [], "mappings": ";IAEC"}')
        >>> found.mappings
        [[], [(4, 0, 2, 1)]]
        >>> SourceMap.from_json(found.to_json()) == found
        True
    """

    version: int
    sources: Sequence[str]
    sources_content: Sequence[str]
    names: Sequence[str]
    mappings: Sequence[Sequence[Segment]]

    @classmethod
    def from_json(cls, json_data: str) -> "SourceMap":
        """The map that ``json_data`` holds.

        Raises:
          json.JSONDecodeError: it is not JSON.
          KeyError: an entry of the format is missing.
          ValueError: the mappings are not in the format.
        """
        data = json.loads(json_data)
        mappings = [[_decoded(segment) for segment in group.split(",") if segment] for group in data["mappings"].split(";")]
        return cls(data["version"], data["sources"], data["sourcesContent"], data["names"], mappings)

    def to_json(self) -> str:
        """The map in its JSON form, which browsers and editors read."""
        mappings = ";".join(",".join("".join(map(_encoded, segment)) for segment in group) for group in self.mappings)
        return json.dumps({"version": self.version, "sources": list(self.sources), "sourcesContent": list(self.sources_content),
                           "names": list(self.names), "mappings": mappings})


class MappingsGenerator:
    """Collects the segments of a text, written from its first line to its last with absolute positions.

    Example:
        >>> from jax.experimental.source_mapper import MappingsGenerator
        >>> lines = MappingsGenerator()
        >>> for place in ((4, 0, 6, 8), (4, 0, 7, 15)):
        ...     lines.new_group()
        ...     lines.new_segment(*place)
        >>> lines.mappings()
        [[(4, 0, 6, 8)], [(4, 0, 1, 7)]]
    """

    def __init__(self) -> None:
        self._groups: list[list[Segment]] = []
        self._before = [0] * 5

    def new_group(self) -> None:
        """Go to the next line of the generated text."""
        self._groups.append([])
        self._before[0] = 0

    def new_segment(self, *segment: int) -> None:
        """Say where the text from a column on comes from.

        Args:
          segment: column; or column, index of the source, line, column there (from zero); or these and the index of a name.

        Raises:
          RuntimeError: no line has been begun.
          ValueError: the segment has another length.
        """
        if not self._groups:
            raise RuntimeError("MappingsGenerator.new_segment: no line has been begun; call new_group() for each generated line first.")
        if len(segment) not in (1, 4, 5):
            raise ValueError(f"MappingsGenerator.new_segment: a segment has 1, 4 or 5 numbers, got {len(segment)}: {segment}.")
        self._groups[-1].append(tuple(now - before for now, before in zip(segment, self._before)))
        self._before[:len(segment)] = segment

    def mappings(self) -> list[list[Segment]]:
        """What `SourceMap.mappings` holds: a list of segments for each line."""
        return self._groups


__all__ = ["MappingsGenerator", "Segment", "SourceMap"]
