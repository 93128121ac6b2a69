"""Types of `jax.experimental.pallas.ops`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.pallas.ops import gpu as gpu
from jax.experimental.pallas.ops import tpu as tpu

