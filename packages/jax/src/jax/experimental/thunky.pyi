"""Types of `jax.experimental.thunky`. Written by packages/jax/tools/make_stubs.py."""


