"""jaxlib's modules under the names by which vendors' plugins and teaching material import them."""
from jax._lazy import table as _table

cuda_versions = None  # jaxlib is built without them; those of a plugin are its own

__getattr__, __dir__, __all__ = _table(__name__, {
    "jaxlib": "jaxlib", "xla_client": "jaxlib.xla_client", "mlir": "jax._src.lib.mlir",
    "jax_mlir_ext": "jaxlib.mlir._mlir_libs._jax_mlir_ext", "_jax": "jaxlib._jax", "jax_jit": "jaxlib._jax:jax_jit", "pytree": "jaxlib._jax:pytree",
    "jaxlib_extension_version": "jaxlib.xla_client:_version",
    "version": "jax_xla_backend.jaxlib_compat:VERSION",
    "version_str": "jaxlib.version:__version__",
})
