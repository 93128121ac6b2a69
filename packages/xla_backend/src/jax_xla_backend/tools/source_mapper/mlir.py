"""Locations in the text of an MLIR module, as a source map."""
from __future__ import annotations

import re
from typing import NamedTuple, Sequence

from jax_core.representation.arguments import takes

from .source_map import MappingsGenerator, SourceMap

LOC_REGEX = re.compile(r"loc\(#loc(?P<id>\d+)\)\s*$")
"""At the end of an operation: the location that it has."""
SRC_REGEX = re.compile(r'#loc(?P<id>\d+) = loc\("(?P<file>[^"]*)":(?P<line>\d+):(?P<col>\d+)[^)]*\)')
"""A location that is a place in a file."""
SCOPED_REGEX = re.compile(r'#loc(?P<id>\d+) = loc\("(?:[^"\\]|\\.)*"\(#loc(?P<tgt>\d+)\)\)')
"""A name for another location."""
CALLSITE_REGEX = re.compile(r"#loc(?P<id>\d+) = loc\(callsite\(#loc(?P<tgt>\d+) at #loc\d+\)\)")
"""A location in a function, and where that was called."""
_PLACED = re.compile(r'loc\("(?P<file>[^"]*)":(?P<line>\d+):(?P<col>\d+)[^)]*\)\s*$')


class Location(NamedTuple):
    """A place in a file; line and column as MLIR prints them: lines from one on."""

    file: str
    line: int
    col: int


class Redirect(NamedTuple):
    """A location that is where another one is."""

    tgt_id: int


def _read(lines: Sequence[str]) -> dict[int, Location | Redirect]:
    found: dict[int, Location | Redirect] = {}
    for line in lines:
        if place := SRC_REGEX.match(line):
            found[int(place["id"])] = Location(place["file"], int(place["line"]), int(place["col"]))
        elif other := SCOPED_REGEX.match(line) or CALLSITE_REGEX.match(line):
            found[int(other["id"])] = Redirect(int(other["tgt"]))
    return found


def parse_mlir_locations(mlir_dump: Sequence[str]) -> tuple[dict[int, tuple[int, ...]], list[str]]:
    """The locations that the lines of a module define.

    Args:
      mlir_dump: the lines of the text.

    Returns:
      By number of the location a segment ``(0, source, line - 1, column)``, and the names of the sources. Names and call
      sites are followed to the place in a file; what leads to none is left out.

    Example:
        >>> from jax.experimental.source_mapper import mlir
        >>> mlir.parse_mlir_locations(['#loc1 = loc("a.py":7:8)', '#loc2 = loc("jit(f)/sin"(#loc1))'])
        ({1: (0, 0, 6, 8), 2: (0, 0, 6, 8)}, ['a.py'])
    """
    found = _read(mlir_dump)
    sources: dict[str, int] = {}
    segments: dict[int, tuple[int, ...]] = {}
    for number in found:
        place: Location | Redirect | None = found[number]
        seen = {number}
        while isinstance(place, Redirect) and place.tgt_id not in seen:
            seen.add(place.tgt_id)
            place = found.get(place.tgt_id)
        if isinstance(place, Location):
            segments[number] = (0, sources.setdefault(place.file, len(sources)), place.line - 1, place.col)
    return segments, list(sources)


@takes(mlir_dump=str)
def create_mlir_sourcemap(mlir_dump: str) -> SourceMap:
    """The source map of a module that was printed with its locations, as by ``lowered.as_text(debug_info=True)``.

    Example:
        >>> from jax.experimental import source_mapper
        >>> text = '  %0 = stablehlo.sine %arg0 : tensor<f32> loc(#loc1)\\n#loc1 = loc("a.py":7:8)'
        >>> source_mapper.create_mlir_sourcemap(text).mappings
        [[(2, 0, 6, 8)], []]
    """
    lines = mlir_dump.split("\n")
    segments, sources = parse_mlir_locations(lines)
    mappings = MappingsGenerator()
    for line in lines:
        mappings.new_group()
        column = len(line) - len(line.lstrip())
        if line.startswith("#"):
            continue
        if (alias := LOC_REGEX.search(line)) and int(alias["id"]) in segments:
            mappings.new_segment(column, *segments[int(alias["id"])][1:])
        elif place := _PLACED.search(line):
            if place["file"] not in sources:
                sources.append(place["file"])
            mappings.new_segment(column, sources.index(place["file"]), int(place["line"]) - 1, int(place["col"]))
    return SourceMap(3, sources, [""] * len(sources), [], mappings.mappings())


__all__ = ["CALLSITE_REGEX", "LOC_REGEX", "Location", "Redirect", "SCOPED_REGEX", "SRC_REGEX", "create_mlir_sourcemap",
           "parse_mlir_locations"]
