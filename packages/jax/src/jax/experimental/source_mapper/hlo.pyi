"""Types of `jax.experimental.source_mapper.hlo`. Written by packages/jax/tools/make_stubs.py."""


