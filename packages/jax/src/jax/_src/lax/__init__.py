"""Where pickles of the public jax look for the enumerations and dimension numbers of `jax.lax`, and tutorials for its functions."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "empty": "jax_numpy_api.lax:empty",
    "control_flow": "jax._src.lax.control_flow",
    "convolution": "jax._src.lax.convolution",
    "fft": "jax._src.lax.fft",
    "lax": "jax._src.lax.lax",
    "slicing": "jax._src.lax.slicing",
})
