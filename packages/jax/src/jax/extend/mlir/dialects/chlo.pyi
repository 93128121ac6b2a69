"""Types of `jax.extend.mlir.dialects.chlo`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.chlo import *
