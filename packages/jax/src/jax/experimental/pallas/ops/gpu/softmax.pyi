"""Types of `jax.experimental.pallas.ops.gpu.softmax`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from typing import Any

def softmax(x: Array, *, axis: int = -1, num_warps: int = 4, interpret: bool = False, debug: bool = False) -> Array:
    """The softmax along the last axis, by a kernel for GPUs; computed in float32."""
