"""Types of `jax.experimental.source_mapper.mlir`. Written by packages/jax/tools/make_stubs.py."""


