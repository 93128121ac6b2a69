"""jax._src.util: implemented in `jax_core.public.lists`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.lists", canonicalize_axis="jax_numpy_api.numpy.for_libraries:canonicalize_axis",
                               flatten="jax_core.public.lists:concatenate",
                               moveaxis="jax.numpy:moveaxis",
                               partial="functools:partial",
                               weakref_lru_cache="jax_core.public.remembered:weakref_lru_cache")
