"""jax.numpy: implemented in `jax_numpy_api.numpy`."""
import sys as _sys

from jax._lazy import mirror as _mirror
from jax_core.extension_points import array_namespace as _array_namespace

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.numpy", linalg="jax.numpy.linalg", fft="jax.numpy.fft",
                               __array_namespace_info__="jax_numpy_api.numpy:__array_namespace_info__",
                               __array_api_version__="jax_numpy_api.numpy:__array_api_version__")

_array_namespace.fill(_sys.modules[__name__])
