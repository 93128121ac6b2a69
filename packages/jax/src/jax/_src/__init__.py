"""Internal names that libraries are known to use; everything else of this package is ours and elsewhere."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "core": "jax._src.core",
    "array": "jax._src.array",
    "dispatch": "jax._src.dispatch",
    "interpreters": "jax._src.interpreters",
    "lax": "jax._src.lax",
    "literals": "jax._src.literals",
    "mesh": "jax._src.mesh",
    "public_test_util": "jax._src.public_test_util",
    "random": "jax._src.random",
    "earray": "jax._src.earray",
    "dtypes": "jax._src.dtypes",
    "tree_util": "jax._src.tree_util",
    "traceback_util": "jax._src.traceback_util",
    "flatten_util": "jax._src.flatten_util",
    "checkify": "jax._src.checkify",
    "ad_util": "jax._src.ad_util",
    "api_util": "jax._src.api_util",
    "config": "jax._src.config",
    "compiler": "jax._src.compiler",
    "distributed": "jax._src.distributed",
    "state": "jax._src.state",
    "lib": "jax._src.lib",
    "xla_bridge": "jax._src.xla_bridge",
})
