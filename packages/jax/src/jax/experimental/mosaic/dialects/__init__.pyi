"""Types of `jax.experimental.mosaic.dialects`. Written by packages/jax/tools/make_stubs.py."""


