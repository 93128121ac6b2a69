"""Types of `jax.extend.mlir.dialects.arith`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.arith import *
