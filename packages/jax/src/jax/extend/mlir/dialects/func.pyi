"""Types of `jax.extend.mlir.dialects.func`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.func import *
