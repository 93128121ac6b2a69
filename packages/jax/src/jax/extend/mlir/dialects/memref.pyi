"""Types of `jax.extend.mlir.dialects.memref`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.memref import *
