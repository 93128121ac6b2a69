"""Types of `jax.experimental.pallas.fuser`. Written by packages/jax/tools/make_stubs.py."""


