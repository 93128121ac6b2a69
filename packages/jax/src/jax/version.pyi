"""Types of `jax.version`. Written by packages/jax/tools/make_stubs.py."""


