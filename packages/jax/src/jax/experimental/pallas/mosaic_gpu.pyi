"""Types of `jax.experimental.pallas.mosaic_gpu`. Written by packages/jax/tools/make_stubs.py."""


