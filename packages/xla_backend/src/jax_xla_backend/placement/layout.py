"""Layouts: the order in which a device stores the elements of an array."""
from __future__ import annotations

from typing import Any, Sequence

from jax_core.representation.typing import Placement

from ..jaxlib_compat import _hlo, _jax


class AutoLayout:
    """The compiler chooses the layout; there is one such object, ``Layout.AUTO``."""

    def __repr__(self):
        return "Layout.AUTO"

    def __reduce__(self):
        return _auto, ()


class Layout:
    """Storage order of an array.

    Args:
      major_to_minor: the axes from the slowest to the fastest varying.
      tiling: sizes of the tiles the device works in, or None.
      sub_byte_element_size_in_bits: size of packed elements, 0 where they are not packed.

    >>> from jax.experimental.layout import Layout
    >>> Layout(major_to_minor=(1, 0))  # by columns
    Layout(major_to_minor=(1, 0), tiling=None, sub_byte_element_size_in_bits=0)
    """

    __slots__ = ("major_to_minor", "tiling", "sub_byte_element_size_in_bits", "__weakref__")
    AUTO = AutoLayout()

    def __init__(self, major_to_minor: Sequence[int], tiling: tuple[tuple[int, ...], ...] | None = None,
                 sub_byte_element_size_in_bits: int = 0):
        self.major_to_minor = tuple(int(axis) for axis in major_to_minor)
        self.tiling = None if tiling is None else tuple(map(tuple, tiling))
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits

    def __reduce__(self):
        return Layout, (self.major_to_minor, self.tiling, self.sub_byte_element_size_in_bits)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle of the public jax, which gives the attributes by name."""
        Layout.__init__(self, **state)

    @staticmethod
    def from_pjrt_layout(pjrt_layout: Any) -> "Layout":
        """The layout that jaxlib describes."""
        xla = pjrt_layout._xla_layout()
        return Layout(tuple(xla.minor_to_major())[::-1], tuple(xla.tiling()), xla.element_size_in_bits())

    @staticmethod
    def for_array(x: Any) -> "Layout":
        """The layout of the array ``x``."""
        return x.format.layout

    def _to_xla_layout(self, dtype: Any) -> str:
        order = self.major_to_minor[::-1]
        if self.tiling is None and not self.sub_byte_element_size_in_bits:
            return str(_hlo.Layout(order))
        return str(_hlo.Layout(order, list(self.tiling or ()), self.sub_byte_element_size_in_bits))

    def describes(self, pjrt_layout: object) -> bool:
        """Whether an array that is stored so has this layout; tiles that are not named here may be any."""
        there = Layout.from_pjrt_layout(pjrt_layout)
        return self == there or self.tiling is None and self.major_to_minor == there.major_to_minor

    def update(self, **kwargs: Any) -> "Layout":
        """This layout with some parts replaced."""
        return Layout(**{**{name: getattr(self, name) for name in self.__slots__[:3]}, **kwargs})

    def check_compatible_aval(self, aval_shape: tuple[int, ...]) -> None:
        """Raise ValueError if an array of this shape cannot have this layout."""
        if len(self.major_to_minor) != len(aval_shape):
            raise ValueError(f"{self} is for arrays with {len(self.major_to_minor)} axes, got shape {tuple(aval_shape)}")

    def _key(self):
        return self.major_to_minor, self.tiling or (), self.sub_byte_element_size_in_bits

    def __eq__(self, other):
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return (f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
                f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})")


def _auto() -> AutoLayout:
    return Layout.AUTO


class Format:
    """A layout and a sharding: how and where an array is stored.

    Args:
      layout: a `Layout`, `Layout.AUTO`, or None where it does not matter.
      sharding: a sharding, or None.

    Raises:
      ValueError: a concrete layout without a sharding.

    >>> from jax.experimental.layout import Format, Layout
    >>> x = jax.device_put(jnp.ones((2, 3)), Format(Layout((1, 0)), jnp.ones(1).sharding))
    >>> x.format.layout.major_to_minor
    (1, 0)
    """

    __slots__ = ("layout", "sharding")

    def __init__(self, layout: object | None = None, sharding: Placement | None = None):
        if isinstance(layout, Layout) and sharding is None:
            raise ValueError(f"Format: layout={layout} needs a sharding beside it; pass sharding=...")
        if layout is not None and not isinstance(layout, (Layout, AutoLayout)):
            raise TypeError(f"Format: layout must be a Layout, Layout.AUTO or None, got {layout!r}")
        if sharding is not None and not isinstance(sharding, _jax.Sharding):
            raise TypeError(f"Format: sharding must be a jax.sharding.Sharding or None, got {sharding!r}")
        self.layout, self.sharding = layout, sharding

    device_local_layout = property(lambda self: self.layout, doc="``layout`` under its older name.")

    def placed(self, sharding: Placement | None) -> "Format":
        """This format, with ``sharding`` where it has none."""
        return self if self.sharding is not None or sharding is None else Format(self.layout, sharding)

    def __eq__(self, other):
        return isinstance(other, Format) and self.layout == other.layout and self.sharding == other.sharding

    def __hash__(self):
        return hash((self.layout, self.sharding))

    def __repr__(self):
        return f"Format(layout={self.layout}, sharding={self.sharding})"
