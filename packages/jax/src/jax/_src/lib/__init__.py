"""jaxlib's modules under the names by which vendors' plugins and teaching material import them."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "jaxlib": "jaxlib", "xla_client": "jaxlib.xla_client", "mlir": "jax._src.lib.mlir",
    "jax_mlir_ext": "jaxlib.mlir._mlir_libs._jax_mlir_ext", "_jax": "jaxlib._jax", "jax_jit": "jaxlib._jax:jax_jit", "pytree": "jaxlib._jax:pytree",
    "jaxlib_extension_version": "jaxlib.xla_client:_version",
    "version_str": "jaxlib.version:__version__",
})
