"""jax.experimental.pallas.mosaic_gpu: kernels for GPUs by Mosaic. Each name raises NotImplementedError when it is used."""
from jax._gaps import missing as _missing

__getattr__, __dir__ = _missing(__name__)
