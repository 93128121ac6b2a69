"""jax.experimental.pallas.fuser: kernels that what is around them becomes part of. Each name raises NotImplementedError when it is used."""
from jax._gaps import missing as _missing

__getattr__, __dir__ = _missing(__name__)
