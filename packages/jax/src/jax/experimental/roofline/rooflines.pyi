"""Types of `jax.experimental.roofline.rooflines`. Written by packages/jax/tools/make_stubs.py."""


