"""Types of `jax.interpreters.pxla`. Written by packages/jax/tools/make_stubs.py."""


