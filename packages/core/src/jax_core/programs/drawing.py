"""A program as a picture: a box for each equation, an arrow for each value, heavy where the value is written to memory."""
from __future__ import annotations

import html
import os
from typing import Any

from .. import backends
from ..interfaces import is_absent
from ..representation.jaxpr import ClosedJaxpr, DropVar, Jaxpr, Literal, jaxprs_in_params

MOST = 400  # boxes; larger pictures say nothing
_ROW, _GAP, _HEIGHT, _LETTER = 62, 18, 24, 7.3  # distances in pixels; the width of a letter
_COLOURS = {"in": "#d8e8d0", "out": "#f5dfc8", "call": "#dcd6ee", "": "#dbe7f5"}


class Drawing:
    """A picture as SVG; a notebook shows it."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike) -> None:
        """Write the picture to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class _Box:
    __slots__ = ("label", "kind", "hint", "row", "place")

    def __init__(self, label: str, kind: str, row: int, hint: str = ""):
        self.label, self.kind, self.row, self.hint, self.place = label, kind, row, hint, 0.0

    @property
    def width(self) -> float:
        return _LETTER * len(self.label) + 16 if self.label else 0.0


def visualize_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> Drawing:
    """Draw a program: inputs at the top, results at the bottom, a box for each equation, an arrow for each value that it reads.

    A heavy arrow is a value that the backend's fusion writes to memory, by plan: what lies between heavy arrows, inputs and
    results runs as one kernel. Boxes of another colour hold programs. Pointing at a box shows where it was written, at an
    arrow its type and, if heavy, why.

    Args:
      jaxpr: what `jax.make_jaxpr` gives.

    Raises:
      TypeError: the argument is not a jaxpr.
      ValueError: it has more than 400 equations.

    Source: layers by the longest way from an input (Sugiyama, Tagawa and Toda, 1981), in each the order of what is read.

    >>> import jax, jax.numpy as jnp
    >>> picture = jax.debug.visualize_jaxpr(jax.make_jaxpr(lambda x: jnp.sin(x) + x)(1.0))
    >>> picture.svg.count("<rect")
    4
    """
    if not isinstance(jaxpr, (Jaxpr, ClosedJaxpr)):
        raise TypeError(f"jax.debug.visualize_jaxpr: expects what jax.make_jaxpr(fun)(*args) gives, got {type(jaxpr).__name__}")
    jaxpr = jaxpr.jaxpr
    if len(jaxpr.eqns) > MOST:
        raise ValueError(f"jax.debug.visualize_jaxpr: the program has {len(jaxpr.eqns)} equations, which no picture shows well; "
                         f"draw a part of at most {MOST}")
    boxes, arrows = _graph(jaxpr)
    _place(boxes, [arrow for arrow, _ in arrows])
    return Drawing(_svg(boxes, arrows, _written(jaxpr)))


def _written(jaxpr: Jaxpr) -> dict[Any, str]:
    backend = backends.get()
    if is_absent(backend, "inspection") or is_absent(backend.inspection, "written_values"):
        return {}
    return backend.inspection.written_values(jaxpr)


def _graph(jaxpr: Jaxpr) -> tuple[list[_Box], list[tuple[list[_Box], Any]]]:
    """The boxes, and for each value that is read its arrow: where it starts and ends, and between them a place in each row."""
    boxes: list[_Box] = []
    arrows: list[tuple[_Box, _Box, Any]] = []
    source: dict[Any, _Box] = {}

    def add(box: _Box, reads: Any) -> _Box:
        above = [(source[v], v) for v in dict.fromkeys(v for v in reads if type(v) is not Literal)]
        box.row = max([a.row + 1 for a, _ in above], default=box.row)
        boxes.append(box)
        arrows.extend((a, box, v) for a, v in above)
        return box

    for v in (*jaxpr.constvars, *jaxpr.invars):
        source[v] = add(_Box(v.aval.str_short(short_dtypes=True), "in", 0), ())
    for eqn in jaxpr.eqns:
        name = eqn.params.get("name")
        label = f"{eqn.primitive.name} {name}" if isinstance(name, str) else eqn.primitive.name
        holds = bool(jaxprs_in_params(eqn.params))
        box = add(_Box(label, "call" if holds else "", 1, str(eqn.source_info)), eqn.invars)
        source.update((v, box) for v in eqn.outvars if type(v) is not DropVar)
    last = max((b.row for b in boxes), default=0) + 1
    for v in jaxpr.outvars:
        add(_Box(v.aval.str_short(short_dtypes=True), "out", last), (v,)).row = last
    return boxes, [([a, *(_Box("", "", row) for row in range(a.row + 1, b.row)), b], v) for a, b, v in arrows]


def _place(boxes: list[_Box], arrows: list[list[_Box]]) -> None:
    """Give each box, and each arrow in the rows that it crosses, its horizontal place: near what it reads and what reads it."""
    rows: dict[int, list[_Box]] = {}
    for box in (*boxes, *(place for arrow in arrows for place in arrow[1:-1])):
        rows.setdefault(box.row, []).append(box)
    above: dict[_Box, list[_Box]] = {}
    below: dict[_Box, list[_Box]] = {}
    for arrow in arrows:
        for a, b in zip(arrow, arrow[1:]):
            above.setdefault(b, []).append(a)
            below.setdefault(a, []).append(b)
    for row in rows.values():
        _spread(row)
    for near, order in ((above, sorted(rows)), (below, sorted(rows, reverse=True)), (above, sorted(rows))):
        for index in order:
            for box in rows[index]:
                neighbours = near.get(box)
                if neighbours:
                    box.place = sum(n.place for n in neighbours) / len(neighbours)
            rows[index].sort(key=lambda box: box.place)
            _spread(rows[index])
    everything = [box for row in rows.values() for box in row]
    left = min((box.place - box.width / 2 for box in everything), default=0.0)
    for box in everything:
        box.place -= left - 10


def _spread(row: list[_Box]) -> None:
    """Push the boxes of a row apart until none overlaps, and the row back to where its middle was."""
    middle = sum(box.place for box in row)
    for before, box in zip(row, row[1:]):
        box.place = max(box.place, before.place + (before.width + box.width) / 2 + _GAP)
    shift = (sum(box.place for box in row) - middle) / len(row)
    for box in row:
        box.place -= shift


def _svg(boxes: list[_Box], arrows: list[tuple[list[_Box], Any]], written: dict[Any, str]) -> str:
    middle = lambda box: 12 + box.row * _ROW + _HEIGHT / 2
    ends = [box.place + box.width / 2 for box in (*boxes, *(box for arrow, _ in arrows for box in arrow))]
    width = max(ends, default=0) + 10
    height = max((middle(box) for box in boxes), default=0) + _HEIGHT / 2 + 12
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
             'font-family="monospace" font-size="12">']
    for arrow, v in arrows:
        reason = written.get(v)
        hint = v.aval.str_short() + (f": written to memory, {reason}" if reason else "")
        line = 'stroke="#b3541e" stroke-width="3"' if reason else 'stroke="#888" stroke-width="1"'
        at = middle(arrow[0]) + _HEIGHT / 2
        path = [f"M{arrow[0].place:.1f} {at:.1f}"]
        for a, b in zip(arrow, arrow[1:]):
            end = middle(b) + (_HEIGHT / 2 if b.label == "" else -_HEIGHT / 2)
            half = (at + end) / 2
            path.append(f"C{a.place:.1f} {half:.1f} {b.place:.1f} {half:.1f} {b.place:.1f} {end:.1f}")
            at = end
        parts.append(f'<path d="{"".join(path)}" fill="none" {line}><title>{html.escape(hint)}</title></path>')
    for box in boxes:
        hint = f"<title>{html.escape(box.hint)}</title>" if box.hint else ""
        parts.append(f'<g>{hint}<rect x="{box.place - box.width / 2:.1f}" y="{middle(box) - _HEIGHT / 2:.1f}" width="{box.width:.1f}" '
                     f'height="{_HEIGHT}" rx="5" fill="{_COLOURS[box.kind]}" stroke="#777"/><text x="{box.place:.1f}" '
                     f'y="{middle(box) + 4:.1f}" text-anchor="middle" fill="#000">{html.escape(box.label)}</text></g>')
    return "".join(parts) + "</svg>"
