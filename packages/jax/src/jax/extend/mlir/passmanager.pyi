"""Types of `jax.extend.mlir.passmanager`. Written by packages/jax/tools/make_stubs.py."""
from jaxlib.mlir.passmanager import *
