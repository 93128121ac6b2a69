"""Types of `jax.experimental.source_mapper.jaxpr`. Written by packages/jax/tools/make_stubs.py."""


