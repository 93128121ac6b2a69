"""Types of `jax.extend.mlir.ir`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.ir import *
