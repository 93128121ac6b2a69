"""jax._src.numpy.einsum: `jax.numpy`, whose `einsum` haliax takes from here, and its halves, between which haliax and aqt put products of their own."""
from jax._lazy import mirror as _mirror

_poly_einsum_handlers: dict = {}  # one kind of path for all kinds of lengths

__getattr__, __dir__ = _mirror(__name__, "jax.numpy", _einsum="jax_numpy_api.numpy.for_libraries:einsum_by_steps",
                               _default_poly_einsum_handler="jax_numpy_api.numpy.for_libraries:einsum_steps")
