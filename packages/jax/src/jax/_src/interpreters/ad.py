"""jax._src.interpreters.ad: `jax.interpreters.ad`, for libraries that import it by this name, and an error that diffrax' users catch."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.interpreters.ad", CustomVJPException="jax_core.representation.errors:CustomVJPException",
                               LinearizeTrace="jax_core.transformations.reverse:LinearizeTrace")
