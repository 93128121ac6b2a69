"""jax._src.lax.lax: `jax.lax`, for pickles and tutorials that find its names here."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.lax",
                               _const="jax_numpy_api.numpy.for_libraries:constant_as",
                               composite_p="jax_numpy_api.lax.composite:composite_p",
                               empty_p="jax_numpy_api.lax.create:empty_p")
