"""Types of `jax.experimental.mosaic`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.mosaic import dialects as dialects
from jax.experimental.mosaic import gpu as gpu

