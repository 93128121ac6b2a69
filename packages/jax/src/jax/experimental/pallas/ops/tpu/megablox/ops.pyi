"""Types of `jax.experimental.pallas.ops.tpu.megablox.ops`. Written by packages/jax/tools/make_stubs.py."""
from jax import custom_vjp

gmm: custom_vjp
