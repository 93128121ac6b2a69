"""Types of `jax.experimental.array_serialization.tensorstore_impl`. Written by packages/jax/tools/make_stubs.py."""


