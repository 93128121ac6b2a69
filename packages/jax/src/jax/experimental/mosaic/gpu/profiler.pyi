"""Types of `jax.experimental.mosaic.gpu.profiler`. Written by packages/jax/tools/make_stubs.py."""


