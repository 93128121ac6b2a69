"""Types of `jax.extend.mlir.dialects.vector`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.vector import *
