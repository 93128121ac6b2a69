"""Types of `jax.experimental.array_serialization.pytree_serialization`. Written by packages/jax/tools/make_stubs.py."""


