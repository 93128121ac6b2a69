"""Where pickles of the public jax look for typed keys."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "prng": "jax._src.random.prng",
    "rbg": "jax._src.random.rbg",
    "threefry2x32": "jax._src.random.threefry2x32",
})
