"""Types of `jax.debug`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device
from jax.extend.core import ClosedJaxpr, Effect, Jaxpr
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence

class DebugEffect(Effect):
    """Somebody watches the program; transformations and the compiler may move or repeat it."""
class OrderedDebugEffect(DebugEffect):
    """As `DebugEffect`, in the order of the program."""
def breakpoint(*, backend: str | None = None, filter_frames: bool = True, num_frames: int | None = None, ordered: bool = False, token: object | None = None, **kwargs: Any) -> Any:
    """Stop the program here when it runs, and open a prompt."""
def callback(callback: Callable[..., Any] | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, **kwargs: Any) -> Callable[..., None] | None:
    """Call a Python function with values of the program; what it returns is ignored."""
def inspect_array_sharding(value: ArrayLike, *, callback: Callable[[Sharding], None]) -> None:
    """Call ``callback(sharding)`` with the placement of an array."""
def log(fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False, **kwargs: Any) -> Callable[..., None] | None:
    """As `print`, to the logger ``"jax.debug"`` with level INFO. Arguments and errors as for `print`."""
def print(fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False, skip_format_check: bool = False, _use_logging: bool = False, **kwargs: Any) -> Callable[..., None] | None:
    """Print values of the program when it runs: ``jax.debug.print("x = {x}", x=x)``."""
def visualize_array_sharding(arr: ArrayLike, **kwargs: Any) -> None:
    """Print a picture of where the parts of ``arr`` are; options as for `visualize_sharding`."""
def visualize_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> Any:
    """Draw a program: inputs at the top, results at the bottom, a box for each equation, an arrow for each value that it reads."""
def visualize_sharding(shape: Sequence[int], sharding: Sharding | PartitionSpec | Device, *, use_color: bool = True, scale: float = 1.0, min_width: int = 9, max_width: int = 80, color_map: object | None = None) -> None:
    """Print a picture of how ``sharding`` places an array of this shape; in a notebook, show it as a table in colours."""
