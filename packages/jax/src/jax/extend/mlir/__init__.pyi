"""Types of `jax.extend.mlir`. Written by packages/jax/tools/make_stubs.py."""

from jax.extend.mlir import dialects as dialects
from jax.extend.mlir import ir as ir
from jax.extend.mlir import passmanager as passmanager

