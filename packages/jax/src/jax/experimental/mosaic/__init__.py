"""jax.experimental.mosaic: kernels written in Mosaic's own operations; Pallas is the language here. Each name raises NotImplementedError when it is used."""
from jax._gaps import missing as _missing

__getattr__, __dir__ = _missing(__name__)
