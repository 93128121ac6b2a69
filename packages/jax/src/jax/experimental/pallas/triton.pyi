"""Types of `jax.experimental.pallas.triton`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from enum import Enum
from jax import Array
from jax.experimental.pallas import CompilerParams as _CompilerParams
from jax.typing import ArrayLike
from types import EllipsisType
from typing import Any, Sequence

class CompilerParams(_CompilerParams):
    """Options for the GPU's compiler: warps that work on a block (4 by default), and stages of pipelined loops."""
    num_warps: int | None
    num_stages: int | None
    def __init__(self, num_warps: int | None = None, num_stages: int | None = None) -> None: ...
class GpuInfo:
    """The compute capability of a GPU, as text and as a number; ``gpu_version`` None where its name is not known."""
    gpu_version: GpuVersion | None
    arch_name: str
    compute_capability: int
    def __init__(self, *, gpu_version: GpuVersion | None, arch_name: str, compute_capability: int) -> None: ...
class GpuVersion(Enum):
    """GPUs by the names of their devices."""
    A10 = ...
    A30 = ...
    A100 = ...
    H100 = ...
    H200 = ...
    GH200 = ...
    B200 = ...
    GB200 = ...
    B300 = ...
    GB300 = ...
    GB10 = ...
    L4 = ...
    L40 = ...
    T4 = ...
    RTX_4090 = ...
    RTX_PRO_4500 = ...
    RTX_PRO_5000 = ...
    RTX_PRO_6000 = ...
def approx_tanh(x: ArrayLike) -> Any:
    """The hyperbolic tangent; on GPUs by the fast instruction where there is one."""
def atomic_add(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Add ``val`` to the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_and(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store the bitwise and of ``val`` and what is there in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_cas(ref: object, cmp: ArrayLike, val: ArrayLike) -> Any:
    """Store ``val`` in the scalar reference ``ref`` if it holds ``cmp``, atomically; returns what was there before."""
def atomic_max(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store the larger one of ``val`` and what is there in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_min(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store the smaller one of ``val`` and what is there in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_or(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store the bitwise or of ``val`` and what is there in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_xchg(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store ``val`` in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def atomic_xor(x_ref_or_view: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None) -> Any:
    """Store the bitwise exclusive or of ``val`` and what is there in the part of a reference that ``idx`` names, atomically, where ``mask`` is true."""
def debug_barrier() -> None:
    """Wait for all threads of a block; on references, which are one after the other, there is nothing to wait for."""
def dot(a: ArrayLike, b: ArrayLike, trans_a: bool = False, trans_b: bool = False, allow_tf32: bool | None = None, precision: Any = None) -> Any:
    """The product of two matrices, accumulated in float32 (int32 for integers)."""
def elementwise_inline_asm(asm: str, *, args: Sequence[ArrayLike], constraints: str, pack: int, result_shape_dtypes: Sequence[Any]) -> Sequence[Any]:
    """Results of instructions of NVIDIA's GPUs, element by element."""
def get_gpu_info() -> GpuInfo:
    """The compute capability of the attached GPUs."""
def get_gpu_info_from_version(gpu_version: GpuVersion) -> GpuInfo:
    """The compute capability of a GPU of this name."""
def is_gpu_device() -> bool:
    """Whether the attached devices are NVIDIA's GPUs."""
def load(ref: object, *, mask: ArrayLike | None = None, other: ArrayLike | None = None, cache_modifier: str | None = None, eviction_policy: str | None = None, volatile: bool = False) -> Any:
    """The contents of ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`."""
def max_contiguous(x: ArrayLike, values: Sequence[int] | int) -> Any:
    """``x``, with the promise to the compiler that so many neighbours in it count upwards (along each axis)."""
def store(ref: object, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> None:
    """Store ``val`` in ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`."""
