"""Types of `jax.experimental.compilation_cache`. Written by packages/jax/tools/make_stubs.py."""


