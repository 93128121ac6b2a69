"""Types of `jax.extend.mlir.dialects.sparse_tensor`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.sparse_tensor import *
