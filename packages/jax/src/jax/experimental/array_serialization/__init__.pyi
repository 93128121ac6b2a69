"""Types of `jax.experimental.array_serialization`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.array_serialization import pytree_serialization as pytree_serialization
from jax.experimental.array_serialization import pytree_serialization_utils as pytree_serialization_utils
from jax.experimental.array_serialization import serialization as serialization
from jax.experimental.array_serialization import tensorstore_impl as tensorstore_impl

