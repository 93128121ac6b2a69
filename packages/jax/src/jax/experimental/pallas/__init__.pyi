"""Types of `jax.experimental.pallas`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from enum import Enum
from jax import Array, Device
from jax.core import ShapedArray
from jax.experimental.pallas.tpu import CompilerParams as _CompilerParams, InterpretParams, TensorCoreMesh
from jax.ref import AbstractRef
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from types import EllipsisType
from typing import Any, Callable, Mapping, Sequence, TypeAlias
from jax.experimental.pallas import fuser as fuser
from jax.experimental.pallas import mosaic_gpu as mosaic_gpu
from jax.experimental.pallas import ops as ops
from jax.experimental.pallas import tpu as tpu
from jax.experimental.pallas import tpu_sc as tpu_sc
from jax.experimental.pallas import triton as triton

ANY: MemorySpace
BlockDim: TypeAlias = int | Blocked | BoundedSlice | Element | Squeezed | None
class BlockSpec:
    """How an array is cut into blocks, and which one each step of the grid works on."""
    def __init__(self, block_shape: Sequence[Any] | None = None, index_map: Callable[..., Any] | None = None, pipeline_mode: Buffered | None = None, *, memory_space: Any = None) -> None: ...
    @property
    def block_shape(self) -> Any: ...
    @property
    def index_map(self) -> Any: ...
    @property
    def memory_space(self) -> Any: ...
    @property
    def pipeline_mode(self) -> Any: ...
    def replace(self, **changes: Any) -> BlockSpec: ...
class Blocked:
    """Along this axis the array is cut into blocks of ``block_size``; the index map returns the number of a block."""
    block_size: int
    def __init__(self, block_size: int) -> None: ...
class BoundedSlice:
    """A block of at most ``block_size`` elements; no platform here takes it."""
    block_size: int
    def __init__(self, block_size: int) -> None: ...
class Buffered:
    """How many buffers the blocks of an operand go through. It says nothing about values."""
    buffer_count: int | tuple[int, int]
    use_lookahead: bool
    revisit: RevisitMode | None
    prefetched_count: int
    def __init__(self, buffer_count: int | tuple[int, int], use_lookahead: bool = False, revisit: RevisitMode | None = None, prefetched_count: int = 0) -> None: ...
class CompilerParams:
    """Options for the compiler of one platform; the classes are in `pallas.tpu` and `pallas.triton`."""
class CostEstimate:
    """What a kernel costs, for the compiler that schedules around it."""
    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int
    def __init__(self, flops: int, transcendentals: int, bytes_accessed: int, remote_bytes_transferred: int = 0) -> None: ...
    def to_json(self) -> str: ...
class DeviceIdType(Enum):
    """How ``device_id`` names a device: by a number, or by its place along each axis. What was given tells, too."""
    MESH = ...
    LOGICAL = ...
class Element:
    """Along this axis the index map returns the first element of a block of ``block_size``, so that blocks may overlap."""
    block_size: int
    padding: tuple[int, int]
    def __init__(self, block_size: int, padding: tuple[int, int] = ...) -> None: ...
class GridSpec:
    """A grid, and how operands are cut for its steps."""
    def __init__(self, grid: Any = ..., in_specs: Any = ..., out_specs: Any = ..., scratch_shapes: Any = ...) -> None: ...
    num_scalar_prefetch: int
    grid: Any
    scratch_shapes: Any
HOST: MemorySpace
class MemoryRef:
    """Memory for an array of one type, in one memory space; made by calling a memory space."""
    def __init__(self, inner_aval: ShapedArray, memory_space: Any) -> None: ...
    @property
    def dtype(self) -> Any: ...
    def get_array_aval(self) -> ShapedArray: ...
    def get_ref_aval(self) -> AbstractRef: ...
    @property
    def inner_aval(self) -> Any: ...
    @property
    def memory_space(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
class MemorySpace(Enum):
    """Memory spaces that every platform has."""
    ANY = ...
    DEFAULT = ...
    HOST = ...
    ERROR = ...
    INDEX = ...
    KEY = ...
    def __call__(self, shape: Sequence[int], dtype: DTypeLike) -> MemoryRef: ...
class RevisitMode(Enum):
    """What happens to a block that is needed again."""
    ANY = ...
    IMMEDIATE = ...
class Slice:
    """``size`` elements from ``start`` on, ``stride`` apart; ``start`` may be traced. Made by `ds`."""
    def __init__(self, start: Any, size: Any, stride: int = 1) -> None: ...
    @classmethod
    def from_slice(cls, index: slice, size: int) -> Slice: ...
    @property
    def size(self) -> Any: ...
    @property
    def start(self) -> Any: ...
    @property
    def stride(self) -> Any: ...
class Squeezed:
    """One index along this axis, which the kernel's block does not have."""
    def __init__(self) -> None: ...
def align_to(a: Any, alignment: Any) -> Any:
    """The first multiple of ``alignment`` that is not below ``a``."""
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
def broadcast_to(a: ArrayLike, shape: Sequence[int]) -> Any:
    """``a`` repeated along new axes in front and along those of length one, as in `numpy.broadcast_to`."""
def cdiv(a: Any, b: Any) -> Any:
    """``a / b`` rounded up, for positive integers."""
def core_map(mesh: TensorCoreMesh, *, compiler_params: _CompilerParams | None = None, interpret: bool | InterpretParams = False, debug: bool = False, cost_estimate: CostEstimate | None = None, name: str | None = None, metadata: dict[str, str] | None = None, scratch_shapes: Any = ...) -> Callable[[Callable[..., None]], None]:
    """Decorator: run a function at once, on each core of ``mesh``. It works on the references that it closes over."""
def debug_check(condition: ArrayLike, message: str) -> None:
    """Stop a compiled kernel where ``condition`` is false, under `pl.enable_debug_checks`. Elsewhere, and interpreted, nothing."""
def debug_print(fmt: str, *args: Any) -> None:
    """Print values of a kernel when it runs: as `jax.debug.print`, and ``pl.debug_print("x", x)`` prints them after a text without braces."""
def delay(nanos: ArrayLike) -> None:
    """Wait for some nanoseconds, in kernels for TPUs: races show then. Elsewhere nothing."""
def ds(start: ArrayLike | None, size: int | EllipsisType = ..., stride: int | None = None) -> Slice | slice:
    """A slice of ``size`` elements from ``start`` (by default 0) on; ``start`` may be a traced integer."""
def dslice(start: ArrayLike | None, size: int | EllipsisType = ..., stride: int | None = None) -> Slice | slice:
    """A slice of ``size`` elements from ``start`` (by default 0) on; ``start`` may be a traced integer."""
def empty(shape: Sequence[int], dtype: DTypeLike, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array whose elements are not specified (they are zeros)."""
def empty_like(x: Any) -> Any:
    """For each array, or type of one, in ``x`` an array of its shape and dtype whose elements are not specified."""
def enable_debug_checks(enabled: bool = True) -> Any:
    """A context manager, and a decorator, under which programs are compiled with their `pl.debug_check`, or without."""
def estimate_cost(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> CostEstimate:
    """Operations and bytes of ``fun(*args, **kwargs)``, for ``cost_estimate`` of `pallas_call`."""
def kernel(body: Callable[..., None] | None = None, out_type: Any = ..., *, mesh: TensorCoreMesh | Sequence[TensorCoreMesh], scratch_types: Any = ..., compiler_params: _CompilerParams | None = None, interpret: bool | InterpretParams = False, cost_estimate: CostEstimate | None = None, debug: bool = False, name: str | None = None, metadata: dict[str, str] | None = None) -> Callable[..., Any]:
    """A function of arrays that runs ``body`` on each core of ``mesh``; without ``body`` a decorator."""
def load(ref: Any, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None = None, *, mask: ArrayLike | None = None, other: ArrayLike | None = None, cache_modifier: str | None = None, eviction_policy: str | None = None, volatile: bool = False) -> Any:
    """The part of ``ref`` that ``idx`` names, where ``mask`` is true."""
def loop(lower: ArrayLike, upper: ArrayLike, *, init_carry: Any = None, step: ArrayLike = 1, unroll: int | bool | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: run a function of the index, or of index and carry, for the indices from ``lower`` to ``upper`` exclusive."""
def max_contiguous(x: ArrayLike, values: Sequence[int] | int) -> Any:
    """``x``, with the promise to the compiler that so many neighbours in it count upwards (along each axis)."""
def multiple_of(x: ArrayLike, values: Sequence[int] | int) -> Any:
    """``x``, with the promise to the compiler that it is a multiple of ``values`` (along each axis)."""
def next_power_of_2(x: int) -> int:
    """The first power of two that is not below ``x``."""
no_block_spec: Any
def num_programs(axis: int) -> Any:
    """The size of an axis of the grid: an int, or an int32 scalar where it is known at run time only. To be called in a kernel."""
def pallas_call(kernel: Callable[..., None], out_shape: Any, *, grid_spec: GridSpec | None = None, grid: int | tuple[ArrayLike, ...] = ..., in_specs: Any = ..., out_specs: Any = ..., scratch_shapes: Any = ..., input_output_aliases: Mapping[int, int] = ..., debug: bool = False, interpret: bool | InterpretParams = False, name: str | None = None, compiler_params: CompilerParams | dict | None = None, cost_estimate: CostEstimate | None = None, backend: str | None = None, metadata: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """A function of arrays that runs ``kernel`` once for each step of a grid."""
pallas_call_p: Any
def program_id(axis: int) -> Any:
    """The index of this step along an axis of the grid, an int32 scalar. To be called in a kernel or an index map."""
def reciprocal(x: ArrayLike, *, approx: bool = False, full_range: bool = True) -> Any:
    """``1 / x``; with ``approx`` the compiler may be less exact."""
def run_scoped(f: Callable[..., Any], *types: Any, collective_axes: object = ..., **kw_types: Any) -> Any:
    """``f`` on references to memory that exists while it runs."""
def run_state(f: Callable[..., None]) -> Callable[[Any], Any]:
    """A function of arrays that gives references with these contents to ``f`` and returns what they hold afterwards."""
def semaphore_read(sem_or_view: object) -> Any:
    """What a semaphore holds, an int32 scalar."""
def semaphore_signal(sem_or_view: object, inc: ArrayLike = 1, *, device_id: Array | np.ndarray | np.bool | np.number | bool | int | float | complex | Sequence[ArrayLike] | Mapping[Any, ArrayLike] | None = None, device_id_type: DeviceIdType | None = None, core_index: ArrayLike | None = None) -> None:
    """Add ``inc`` to a semaphore."""
def semaphore_wait(sem_or_view: object, value: ArrayLike = 1, *, decrement: bool = True) -> None:
    """Wait until a semaphore holds at least ``value``, and take ``value`` from it unless ``decrement`` is false."""
squeezed: Squeezed
def store(ref: object, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> None:
    """Store ``val`` in the part of ``ref`` that ``idx`` names, where ``mask`` is true; see `swap`."""
def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """How many elements apart neighbours along each axis are, in an array of ``shape`` without gaps."""
def swap(ref: Any, idx: int | slice | Array | np.ndarray | np.bool | np.number | bool | float | complex | EllipsisType | None | tuple | None, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> Any:
    """Store ``val`` in the part of ``ref`` that ``idx`` names, where ``mask`` is true, and return what was there before."""
def when(condition: ArrayLike, /) -> Callable[[Callable[[], None]], None]:
    """Decorator: run a function of no arguments if ``condition`` is true. What it does is change references."""
def with_scoped(*types: Any, collective_axes: object = ..., **kw_types: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the function gets references to memory that exists while it runs, after the arguments of its call (see `run_scoped`)."""
