"""jax._src.image.scale: `jax.image`, with its kernels by method, from which torchax makes resizing functions of its own."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.image", _kernels="jax_numpy_api.image:_KERNELS")
