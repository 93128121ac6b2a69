"""jax.experimental.mosaic.gpu.utils: what such kernels are written with. Each name raises NotImplementedError when it is used."""
from jax._gaps import missing as _missing

__getattr__, __dir__ = _missing(__name__)
