"""Types of `jax.experimental.layout`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device
from jax.sharding import PartitionSpec, Sharding
from typing import Any, Callable

class Format:
    """A layout and a sharding: how and where an array is stored."""
    def __init__(self, layout: object | None = None, sharding: Sharding | PartitionSpec | Device | None = None) -> None: ...
    @property
    def device_local_layout(self) -> Any: ...
    @property
    def layout(self) -> Any: ...
    @property
    def sharding(self) -> Any: ...
class Layout:
    """Storage order of an array."""
    AUTO: Any
    def __init__(self, major_to_minor: tuple[int, ...], tiling: tuple[tuple[int, ...], ...] | None = None, sub_byte_element_size_in_bits: int = 0) -> None: ...
    def check_compatible_aval(self, aval_shape: tuple[int, ...]) -> None: ...
    @staticmethod
    def for_array(x: Any) -> Layout:
        """The layout of the array ``x``."""
    @staticmethod
    def from_pjrt_layout(pjrt_layout: object) -> Layout:
        """The layout that jaxlib describes."""
    @property
    def major_to_minor(self) -> Any: ...
    @property
    def sub_byte_element_size_in_bits(self) -> Any: ...
    @property
    def tiling(self) -> Any: ...
    def update(self, **kwargs: Any) -> Layout: ...
def explicit_layout(f: Callable[..., Any] | None = None, /, *, in_layouts: Any = None) -> Callable[..., Any]:
    """``f``, whose arguments are stored as ``in_layouts`` say: `with_layout_constraint` of each."""
def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """``x``, stored inside the program as ``layouts`` say."""
