"""jax.experimental.pjit: the older name of `jax.jit` with shardings."""
from jax._lazy import table as _table

__getattr__, __dir__, __all__ = _table(__name__, {
    "pjit": "jax_core.programs.jit:pjit",
}, deprecated={"pjit": "jax.jit"})
