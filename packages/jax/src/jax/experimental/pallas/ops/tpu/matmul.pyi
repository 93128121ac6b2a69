"""Types of `jax.experimental.pallas.ops.tpu.matmul`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import DTypeLike
from typing import Any

def matmul(x: Array, y: Array, *, block_shape: tuple[int, int], block_k: int = 256, out_dtype: DTypeLike | None = None, debug: bool = False) -> Array:
    """``x @ y`` of two matrices, on a TPU."""
