"""Types of `jax.extend.xla`. Written by packages/jax/tools/make_stubs.py."""


