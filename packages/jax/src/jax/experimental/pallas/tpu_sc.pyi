"""Types of `jax.experimental.pallas.tpu_sc`. Written by packages/jax/tools/make_stubs.py."""


