"""Arrays as notebooks show them."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING

from jax_core.representation import sharding_pictures

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def as_html(x: Array) -> str:
    """The text of ``x``, its size and place, and, of an array with one or two axes on several devices, a table of its parts."""
    if x.is_deleted():
        return f"<pre>deleted array {x.aval.str_short()}</pre>"
    text = f"<pre>{html.escape(repr(x), quote=False)}</pre>"
    devices = sorted(x.sharding.device_set, key=lambda device: device.id)
    facts = [x.aval.str_short(), _size(x.nbytes), str(devices[0]) if len(devices) == 1 else f"{len(devices)} devices: {x.sharding}"]
    text += f'<div style="color:#888">{html.escape(" · ".join(facts))}</div>'
    if len(devices) > 1 and x.ndim in (1, 2):
        text += sharding_pictures.as_html(x.shape, x.sharding)
    return text


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"
