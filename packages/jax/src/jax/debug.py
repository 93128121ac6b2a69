"""jax.debug: callbacks that only look. One line for each name."""
from jax._lazy import table as _table

_NAMES = {name: f"jax_callbacks.debug:{name}" for name in (
    "DebugEffect", "OrderedDebugEffect", "callback", "inspect_array_sharding", "log", "print", "visualize_array_sharding",
    "visualize_sharding")}
__getattr__, __dir__, __all__ = _table(__name__, _NAMES | {
    "breakpoint": "jax_callbacks.debugger:breakpoint", "visualize_jaxpr": "jax_core.programs.drawing:visualize_jaxpr"})
