"""Types of `jax.extend.mlir.dialects.mpmd`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.mpmd import *
