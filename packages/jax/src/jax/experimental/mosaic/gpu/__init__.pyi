"""Types of `jax.experimental.mosaic.gpu`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.mosaic.gpu import profiler as profiler
from jax.experimental.mosaic.gpu import utils as utils

