"""How an array is spread over devices, as a grid of parts and as HTML.

Source: the axes of a one- or two-dimensional array run as those of a printed matrix; each part names its devices.
"""
from __future__ import annotations

import colorsys
import html
import math
from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from .typing import Placement


def grid(shape: Sequence[int], sharding: Any) -> list[list[str]]:
    """The names of the parts of an array with one or two axes, in rows and columns; empty where there is no part."""
    devices: dict[tuple, list] = {}
    for device, index in sharding.devices_indices_map(tuple(shape)).items():
        spans = [s.indices(n)[:2] for s, n in zip(index, shape)]
        box = tuple(spans) if len(spans) == 2 else ((0, 1), spans[0])
        devices.setdefault(box, []).append(device)
    parts = {box: f"{group[0].platform.upper()} {','.join(str(d.id) for d in sorted(group, key=lambda d: d.id))}"
             for box, group in devices.items()}
    rows, columns = ({box[axis] for box in parts} for axis in (0, 1))
    return [[parts.get((r, c), "") for c in sorted(columns)] for r in sorted(rows)]


def as_html(shape: Sequence[int], sharding: Placement | None) -> str:
    """A table whose cells are the parts, equal colours for equal devices."""
    rows = grid(shape, sharding)
    distinct = sorted({name for row in rows for name in row})
    paint = {name: _colour(i / len(distinct)) for i, name in enumerate(distinct)}
    cell = "border:1px solid #666;padding:0.4em 0.8em;text-align:center;color:#000;background:{}"
    body = "".join("<tr>" + "".join(f'<td style="{cell.format(paint[name])}">{html.escape(name)}</td>' for name in row) + "</tr>"
                   for row in rows)
    return f'<table style="border-collapse:collapse"><tbody>{body}</tbody></table>'


def placement_as_html(sharding: Any) -> str:
    """The text of a sharding on a mesh of devices, and, if its spec is of one or two axes, a table of the parts along them."""
    text = f"<pre>{html.escape(repr(sharding), quote=False)}</pre>"
    sizes = sharding.mesh.shape
    parts = [math.prod(sizes.get(name, 1) for name in (entry if isinstance(entry, tuple) else (entry,))) for entry in sharding.spec.partitions]
    drawn = sharding._is_concrete and len(parts) in (1, 2) and sharding.num_devices > 1
    return text + (as_html(parts, sharding) if drawn else "")


def _colour(position: float) -> str:
    """A light colour of this hue."""
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(position, 0.8, 0.6))
