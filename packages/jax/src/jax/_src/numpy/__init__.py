"""Where libraries (haliax) look for `jax.numpy`."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "einsum": "jax._src.numpy.einsum",
    "lax_numpy": "jax._src.numpy.lax_numpy",
    "scalar_types": "jax._src.numpy.scalar_types",
    "ufuncs": "jax._src.numpy.ufuncs",
    "util": "jax._src.numpy.util",
})
