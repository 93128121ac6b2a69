"""Types of `jax.extend.mlir.dialects.stablehlo`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.stablehlo import *
