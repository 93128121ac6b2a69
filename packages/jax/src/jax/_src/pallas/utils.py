"""jax._src.pallas.utils: helpers of kernels, for libraries that import them by this name."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {name: f"jax_numpy_api.pallas.control:{name}" for name in (
    "align_to", "cdiv", "next_power_of_2", "strides_from_shape")})
