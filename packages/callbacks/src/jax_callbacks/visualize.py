"""Pictures of how an array is spread over devices, drawn with box characters.

Source: the axes of a one- or two-dimensional array run as those of a printed matrix; each part names its devices.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core import backends
from jax_core.representation import notebooks, printing, sharding_pictures, tree
from jax_core.representation.array import Array
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import ArrayLike, Placement

from .effects import debug_effect

if TYPE_CHECKING:
    from jax_core.representation.typing import ShardingLike


def _lower_inspection(b: Any, x: Any, *, callback: Callable) -> list:
    b.inspect_sharding(b.physical(x), callback)
    return []


def _batch_inspection(axis, args, dims, *, callback):
    """The placement of the whole batch, as it is one array."""
    return inspect_sharding_p.bind(*args, callback=callback), []


inspect_sharding_p = Primitive(
    "inspect_sharding", multiple_results=True, cacheable=False,
    out_type=lambda x, **_: (),
    effects=lambda x, **_: frozenset([debug_effect]),
    impl=lambda x, *, callback: callback(x.sharding) or [],
    jvp=ZERO,
    batch=_batch_inspection,
    lower=_lower_inspection,
    lowers_keys=True)


def inspect_array_sharding(value: ArrayLike, *, callback: Callable[[ShardingLike], None]) -> None:
    """Call ``callback(sharding)`` with the placement of an array.

    Args:
      value: a pytree of arrays; the callback is called for each. For a traced value that is when the program is compiled,
        with the placement that the compiler has chosen.

    >>> jax.debug.inspect_array_sharding(jnp.zeros(3), callback=lambda sharding: print(len(sharding.device_set)))
    1
    """
    for x in tree.leaves(value):
        inspect_sharding_p.bind(x if isinstance(x, Array) else backends.get().put(x), callback=callback)


def visualize_array_sharding(arr: ArrayLike, **kwargs: Any) -> None:
    """Print a picture of where the parts of ``arr`` are; options as for `visualize_sharding`.

    Raises:
      ValueError: ``arr`` does not have one or two axes.

    >>> jax.debug.visualize_array_sharding(jnp.zeros((4, 4)), use_color=False, scale=0.3)
    ┌───────┐
    │       │
    │ CPU 0 │
    └───────┘
    """
    shape = tuple(np.shape(arr))
    _check_rank(shape)
    inspect_array_sharding(arr, callback=lambda sharding: visualize_sharding(shape, sharding, **kwargs))


def visualize_sharding(shape: Sequence[int], sharding: Placement, *, use_color: bool = True, scale: float = 1.0,
                       min_width: int = 9, max_width: int = 80, color_map: object = None) -> None:
    """Print a picture of how ``sharding`` places an array of this shape; in a notebook, show it as a table in colours.

    Args:
      shape: of one or two axes.
      sharding: the placement.
      use_color: colour the boxes where the output is a terminal.
      scale: size of the picture.
      min_width, max_width: bounds on the width of a box and of the picture, in characters.
      color_map: function from a number between 0 and 1 to an ``(r, g, b)`` triple; default a built-in one.

    Raises:
      ValueError: the shape does not have one or two axes.
      TypeError: ``sharding`` is none.

    >>> jax.debug.visualize_sharding((4, 4), jnp.zeros(()).sharding, use_color=False, scale=0.3)
    ┌───────┐
    │       │
    │ CPU 0 │
    └───────┘
    """
    shape = tuple(shape)
    _check_rank(shape)
    if not hasattr(sharding, "devices_indices_map"):
        raise TypeError(f"visualize_sharding: sharding must be a Sharding, as x.sharding of an array x is, got {sharding!r} of type {type(sharding).__name__}")
    show = _notebook_display()
    if show is not None:
        show({"text/html": sharding_pictures.as_html(shape, sharding)}, raw=True)
        return
    names = sharding_pictures.grid(shape, sharding)
    height, width = _cell_size(shape, len(names), len(names[0]), scale, min_width, max_width,
                               max(len(name) for row in names for name in row))
    print(_draw(names, height, width, use_color and printing.on_terminal(), color_map), end="")


def _notebook_display() -> Callable | None:
    """What shows HTML, where this runs in a notebook's kernel."""
    if getattr(notebooks.shell(), "kernel", None) is None:
        return None
    return sys.modules["IPython"].display.display


def _check_rank(shape: tuple) -> None:
    if len(shape) not in (1, 2):
        raise ValueError("`visualize_sharding` only works for shapes with 1 and 2 dimensions.")


def _cell_size(shape, rows, columns, scale, min_width, max_width, longest):
    """Lines and characters inside one cell: characters are about twice and a half as high as they are wide."""
    if len(shape) == 1:
        height = 1
        width = max(min_width - 2, longest + 2)
    else:
        unit = max(shape) if shape[0] and shape[1] else 1
        whole_height, whole_width = (max(1, round(10 * scale * n / unit)) for n in (shape[0], shape[1]))
        height = max(1, round((whole_height - 1) / rows) if rows > 1 else whole_height - 1)
        width = max(min_width - 2, longest + 2, round(whole_width * 2.5 / columns) - 1 - (columns > 1))
    return height, min(width, max(longest, max_width // columns - 1))


def _draw(names, height, width, color, color_map):
    line = "─" * width
    top, middle, bottom = ("┌", "┬", "┐"), ("├", "┼", "┤"), ("└", "┴", "┘")
    border = lambda ends: ends[0] + ends[1].join([line] * len(names[0])) + ends[2] + "\n"
    distinct = sorted({name for row in names for name in row})
    paint = {name: _paint(i / max(1, len(distinct)), color_map) if color else "{}" for i, name in enumerate(distinct)}
    text = [border(top)]
    for i, row in enumerate(names):
        if i:
            text.append(border(middle))
        for n in range(height):
            cells = [paint[name].format(name.center(width) if n == height // 2 else " " * width) for name in row]
            text.append("│" + "│".join(cells) + "│\n")
    text.append(border(bottom))
    return "".join(text)


def _paint(position: float, color_map: Any) -> str:
    """Terminal codes for a background colour."""
    if color_map is not None:
        r, g, b = (int(255 * c) for c in color_map(position)[:3])
    else:
        angles = (position + shift for shift in (0.0, 1 / 3, 2 / 3))
        r, g, b = (int(90 + 80 * (1 + np.cos(2 * np.pi * a))) for a in angles)
    return f"\x1b[48;2;{r};{g};{b};30m{{}}\x1b[0m"
