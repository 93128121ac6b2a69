"""Types of `jax.experimental.source_mapper.common`. Written by packages/jax/tools/make_stubs.py."""


