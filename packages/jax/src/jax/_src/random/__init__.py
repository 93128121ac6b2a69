"""Where pickles of the public jax look for typed keys, and libraries for `jax.random`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax.random", prng="jax._src.random.prng", rbg="jax._src.random.rbg", threefry2x32="jax._src.random.threefry2x32")
