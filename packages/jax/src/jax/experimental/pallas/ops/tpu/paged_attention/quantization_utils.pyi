"""Types of `jax.experimental.pallas.ops.tpu.paged_attention.quantization_utils`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import DTypeLike
from typing import Any, NamedTuple

MAX_INT8: float
class QuantizedTensor(NamedTuple):
    """Small integers, and the number that the largest of each row stands for."""
    weight: Array
    scales: Array
def from_int8(x: Array, h: Array, dtype: DTypeLike = ...) -> Array:
    """The numbers that `to_int8` was given, rounded."""
def get_quantization_scales(x: Array) -> Array:
    """The largest magnitude of each row, ``[..., 1]``."""
def quantize_to_int8(x: Array) -> QuantizedTensor:
    """``x`` in an eighth to a quarter of its memory, for `paged_attention`."""
def to_int8(x: Array, h: Array) -> Array:
    """``x`` as parts of ``h``, in 127.5ths."""
def unquantize_from_int8(x: QuantizedTensor, dtype: DTypeLike = ...) -> Array:
    """The numbers that `quantize_to_int8` was given, rounded."""
