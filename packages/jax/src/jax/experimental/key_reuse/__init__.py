"""jax.experimental.key_reuse: it has no names of its own; `_core` follows keys through programs."""
from . import _core as _core
