"""jax.extend.lowering: implemented in `jax_xla_backend.lowering.bindings`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_xla_backend.lowering.bindings:{name}" for name in ("JaxIrContext", "LoweringRuleContext", "upstream_dialects")})
