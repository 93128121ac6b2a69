"""jax.experimental.jax2tf: implemented in `jax_callbacks.tensorflow`, which needs the package tensorflow."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    name: f"jax_callbacks.tensorflow:{name}"
    for name in ("DisabledSafetyCheck", "PolyShape", "call_tf", "convert", "dtype_of_val", "eval_polymorphic_shape")})
