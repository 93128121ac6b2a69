"""Types of `jax.experimental.mosaic.gpu.utils`. Written by packages/jax/tools/make_stubs.py."""


