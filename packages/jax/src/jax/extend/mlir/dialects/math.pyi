"""Types of `jax.extend.mlir.dialects.math`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.math import *
