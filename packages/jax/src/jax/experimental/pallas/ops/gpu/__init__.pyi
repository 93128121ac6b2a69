"""Types of `jax.experimental.pallas.ops.gpu`. Written by packages/jax/tools/make_stubs.py."""

from jax.experimental.pallas.ops.gpu import attention as attention
from jax.experimental.pallas.ops.gpu import decode_attention as decode_attention
from jax.experimental.pallas.ops.gpu import layer_norm as layer_norm
from jax.experimental.pallas.ops.gpu import paged_attention as paged_attention
from jax.experimental.pallas.ops.gpu import rms_norm as rms_norm
from jax.experimental.pallas.ops.gpu import softmax as softmax

