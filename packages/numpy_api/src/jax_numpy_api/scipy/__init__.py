"""jax.scipy: the parts of SciPy that are functions of arrays, on arrays that can be traced, differentiated and compiled.

Each submodule is imported when it is first asked for.
"""
from .._lazy import names_of as _names_of

__getattr__, __dir__, __all__ = _names_of(__name__, {}, public="jax.scipy", submodules=[
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial", "special",
    "stats"])
