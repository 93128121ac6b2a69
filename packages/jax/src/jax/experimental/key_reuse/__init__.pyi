"""Types of `jax.experimental.key_reuse`. Written by packages/jax/tools/make_stubs.py."""


