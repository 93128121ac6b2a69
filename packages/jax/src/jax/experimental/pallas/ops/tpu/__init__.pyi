"""Types of `jax.experimental.pallas.ops.tpu`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.pallas.ops.tpu import flash_attention as flash_attention
from jax.experimental.pallas.ops.tpu import matmul as matmul
from jax.experimental.pallas.ops.tpu import megablox as megablox
from jax.experimental.pallas.ops.tpu import paged_attention as paged_attention
from jax.experimental.pallas.ops.tpu import ragged_paged_attention as ragged_paged_attention
from jax.experimental.pallas.ops.tpu import splash_attention as splash_attention

