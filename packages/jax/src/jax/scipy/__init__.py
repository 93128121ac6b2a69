"""jax.scipy: implemented in `jax_numpy_api.scipy`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.scipy", **{
    name: f"jax.scipy.{name}" for name in """cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special
    stats""".split()})
