"""Types of `jax.extend.mlir.dialects.builtin`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.builtin import *
