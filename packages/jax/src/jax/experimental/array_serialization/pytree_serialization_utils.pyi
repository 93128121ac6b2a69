"""Types of `jax.experimental.array_serialization.pytree_serialization_utils`. Written by packages/jax/tools/make_stubs.py."""


