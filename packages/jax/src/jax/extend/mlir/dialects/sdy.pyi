"""Types of `jax.extend.mlir.dialects.sdy`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.sdy import *
