"""Types of `jax.extend.lowering`. Written by packages/jax/tools/make_stubs.py."""


