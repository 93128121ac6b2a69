"""Types of `jax.experimental.array_serialization.serialization`. Written by packages/jax/tools/make_stubs.py."""


