"""Types of `jax.experimental.pallas.ops.tpu.megablox`. Written by packages/jax/tools/make_stubs.py."""
from jax import custom_vjp
from jax.experimental.pallas.ops.tpu.megablox import ops as ops

gmm: custom_vjp
