"""Types of `jax.extend.mlir.dialects.scf`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.dialects.scf import *
