"""Types of `jax.experimental.source_mapper.generate_map`. Written by packages/jax/tools/make_stubs.py."""


