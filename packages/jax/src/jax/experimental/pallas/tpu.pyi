"""Types of `jax.experimental.pallas.tpu`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from enum import Enum
from jax import Array, _Block
from jax.experimental.pallas import CompilerParams as _CompilerParams, DeviceIdType, GridSpec, MemoryRef
from jax.ref import AbstractRef
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Iterator, Mapping, Sequence

ARBITRARY: GridDimensionSemantics
CMEM: MemorySpace
CORE_PARALLEL: GridDimensionSemantics
class ChipVersion(Enum):
    """Generations of TPUs."""
    TPU_V2 = ...
    TPU_V3 = ...
    TPU_V4 = ...
    TPU_V4I = ...
    TPU_V5E = ...
    TPU_V5P = ...
    TPU_V6E = ...
    TPU_7 = ...
    TPU_7X = ...
    TPU_8I = ...
    TPU_8T = ...
class CompilerParams(_CompilerParams):
    """Options for the TPU's compiler."""
    dimension_semantics: Sequence[GridDimensionSemantics | str] | None
    vmem_limit_bytes: int | None
    internal_scratch_in_bytes: int | None
    disable_bounds_checks: bool
    disable_semaphore_checks: bool
    skip_device_barrier: bool
    collective_id: int | None
    allow_collective_id_without_custom_barrier: bool
    has_side_effects: bool
    allow_input_fusion: Sequence[bool] | None
    fuse_transposed_lhs_in_matmul: bool
    needs_layout_passes: bool
    opt_level: Any
    serialization_format: int
    shape_invariant_numerics: bool
    use_tc_tiling_on_sc: bool | None
    flags: Mapping[str, Any] | None
    def __init__(self, *, dimension_semantics: Sequence[GridDimensionSemantics | str] | None = None, vmem_limit_bytes: int | None = None, internal_scratch_in_bytes: int | None = None, disable_bounds_checks: bool = False, disable_semaphore_checks: bool = False, skip_device_barrier: bool = False, collective_id: int | None = None, allow_collective_id_without_custom_barrier: bool = False, has_side_effects: bool = False, allow_input_fusion: Sequence[bool] | None = None, fuse_transposed_lhs_in_matmul: bool = False, needs_layout_passes: bool = True, opt_level: Any = None, serialization_format: int = 1, shape_invariant_numerics: bool = True, use_tc_tiling_on_sc: bool | None = None, flags: Mapping[str, Any] | None = None) -> None: ...
class CoreType(Enum):
    """Kinds of cores of a TPU: tensor cores, and the two of sparse cores."""
    TC = ...
    SC_SCALAR_SUBCORE = ...
    SC_VECTOR_SUBCORE = ...
class GridDimensionSemantics(Enum):
    """Whether the steps along an axis of the grid may run in any order (parallel) or not (arbitrary)."""
    PARALLEL = ...
    CORE_PARALLEL = ...
    SUBCORE_PARALLEL = ...
    ARBITRARY = ...
HBM: MemorySpace
class InterpretParams:
    """Options of the interpreter, given as ``interpret``: kernels run as on a TPU."""
    detect_races: bool
    on_race: str
    out_of_bounds_reads: str
    skip_floating_point_ops: bool
    uninitialized_memory: str
    num_cores_or_threads: int
    vector_clock_size: int | None
    logging_mode: Any
    dma_execution_mode: str
    random_seed: int | None
    grid_point_recorder: Callable[..., Any] | None
    allow_hbm_allocation_in_run_scoped: bool
    buffer_bounds: str
    def __init__(self, detect_races: bool = False, on_race: str = 'raise', out_of_bounds_reads: str = 'raise', skip_floating_point_ops: bool = False, uninitialized_memory: str = 'nan', num_cores_or_threads: int = 1, vector_clock_size: int | None = None, logging_mode: Any = None, dma_execution_mode: str = 'on_wait', random_seed: int | None = None, grid_point_recorder: Callable[..., Any] | None = None, allow_hbm_allocation_in_run_scoped: bool = False, buffer_bounds: str = 'logical') -> None: ...
class MemorySpace(Enum):
    """Memory spaces of a TPU."""
    VMEM = ...
    VMEM_SHARED = ...
    SMEM = ...
    CMEM = ...
    SEMAPHORE = ...
    HBM = ...
    def __call__(self, shape: Sequence[int], dtype: DTypeLike) -> MemoryRef: ...
PARALLEL: GridDimensionSemantics
class PrefetchScalarGridSpec(GridSpec):
    """A grid whose index maps may read the first ``num_scalar_prefetch`` operands."""
    def __init__(self, num_scalar_prefetch: int, grid: Any = ..., in_specs: Any = ..., out_specs: Any = ..., scratch_shapes: Any = ...) -> None: ...
    num_scalar_prefetch: Any
SEMAPHORE: MemorySpace
SMEM: MemorySpace
SUBCORE_PARALLEL: GridDimensionSemantics
class SemaphoreType(Enum):
    """Kinds of semaphores. A kind is memory for one semaphore, a kind called with a shape for an array of them."""
    REGULAR = ...
    DMA = ...
    BARRIER = ...
    def __call__(self, shape: Sequence[int] | int) -> MemoryRef: ...
    def get_ref_aval(self) -> AbstractRef: ...
class SideEffectType(Enum):
    """What a kernel does besides its results: nothing, something that its results are needed for, or something."""
    PURE = ...
    DATAFLOW_SIDE_EFFECTING = ...
    SIDE_EFFECTING = ...
class TensorCoreMesh:
    """The tensor cores of a TPU as a named axis."""
    axis_name: str
    num_cores: int
    def __init__(self, *, axis_name: str, num_cores: int = ...) -> None: ...
    @property
    def core_type(self) -> CoreType: ...
    @property
    def default_memory_space(self) -> Any: ...
    @property
    def dimension_semantics(self) -> list[GridDimensionSemantics]: ...
    @property
    def shape(self) -> Any: ...
class Tiling(Enum):
    """How arrays lie in memory: in tiles of tensor cores, or in those of sparse cores."""
    COMPACT = ...
    SPARSE_CORE = ...
class TpuInfo:
    """Sizes and rates of a TPU as one device."""
    chip_version: ChipVersion
    generation: int
    num_cores: int
    num_lanes: int
    num_sublanes: int
    mxu_column_size: int
    num_mxus: int
    num_accumulators: int
    vmem_capacity_bytes: int
    cmem_capacity_bytes: int
    smem_capacity_bytes: int
    hbm_capacity_bytes: int
    mem_bw_bytes_per_second: int
    bf16_ops_per_second: int
    int8_ops_per_second: int
    fp8_ops_per_second: int
    int4_ops_per_second: int
    sparse_core: Any
    def __init__(self, *, chip_version: ChipVersion, generation: int, num_cores: int, num_lanes: int = 128, num_sublanes: int = 8, mxu_column_size: int = 128, num_mxus: int, num_accumulators: int = 0, vmem_capacity_bytes: int, cmem_capacity_bytes: int = 0, smem_capacity_bytes: int = 1048576, hbm_capacity_bytes: int, mem_bw_bytes_per_second: int, bf16_ops_per_second: int, int8_ops_per_second: int = 0, fp8_ops_per_second: int = 0, int4_ops_per_second: int = 0, sparse_core: Any = None) -> None: ...
    def get_sublane_tiling(self, dtype: np.dtype) -> int: ...
    @property
    def is_lite(self) -> bool: ...
    def is_matmul_supported(self, lhs_dtype: DTypeLike, rhs_dtype: DTypeLike) -> bool: ...
    @property
    def is_megacore(self) -> bool: ...
    @property
    def is_split_chip(self) -> bool: ...
VMEM: MemorySpace
VMEM_SHARED: MemorySpace
def async_copy(src_ref: object, dst_ref: object, sem: object | None = None, *, src_sem: object | None = None, priority: int = 0, add: bool = False) -> Any:
    """Start a copy; ``wait()`` of what it returns waits for it. See `make_async_copy`."""
def async_remote_copy(src_ref: object, dst_ref: object, send_sem: object, recv_sem: object, device_id: Array | np.ndarray | np.bool | np.number | bool | int | float | complex | Sequence[ArrayLike] | Mapping[Any, ArrayLike] | None, device_id_type: DeviceIdType | None = None) -> Any:
    """Start a copy to another device; ``wait()`` of what it returns waits for it. See `make_async_remote_copy`."""
def bitcast(x: ArrayLike, ty: DTypeLike, dim: int = -2) -> Any:
    """The bits of ``x`` as elements of another dtype, which the axis ``dim`` has more or fewer of."""
def create_tensorcore_mesh(axis_name: str, devices: Sequence[Any] | None = None, num_cores: int | None = None) -> TensorCoreMesh:
    """Deprecated spelling of `TensorCoreMesh`; ``devices`` do not matter."""
def einshape(equation: str, x: Array, assert_is_tile_preserving: bool = False, **sizes: int) -> Array:
    """``x`` with its axes in another order, split and merged."""
def emit_pipeline(body: Callable[..., None], *, grid: int | tuple[ArrayLike, ...], in_specs: Any = ..., out_specs: Any = ..., tiling: object | None = None, core_axis: int | tuple[int, ...] | None = None, core_axis_name: Any | tuple[Any, ...] | None = None, dimension_semantics: Sequence[GridDimensionSemantics | str] | None = None, trace_scopes: bool = True, no_pipelining: bool = False, output_wait_read_only: bool = False) -> Callable[..., None]:
    """A function of references to large memory that runs ``body`` on their blocks, once for each step of a grid, inside a kernel."""
def force_tpu_interpret_mode(params: InterpretParams = ...) -> _Block:
    """Context in which kernels that are called are interpreted, as if ``interpret=params`` had been given."""
def get_barrier_semaphore(tag: Any = None) -> Any:
    """The semaphore that every device has for this kernel before it starts: others may signal it at once, as that they are there."""
def get_tpu_info() -> TpuInfo:
    """Sizes and rates of the attached TPUs."""
def get_tpu_info_for_chip(chip_version: ChipVersion, num_tensor_cores_per_logical_device: int) -> TpuInfo:
    """Sizes and rates of a TPU of this generation, of which one device is one or two tensor cores."""
def is_tpu_device() -> bool:
    """Whether the attached devices are TPUs."""
def load(ref: object, *, mask: ArrayLike | None = None, other: ArrayLike | None = None, cache_modifier: str | None = None, eviction_policy: str | None = None, volatile: bool = False) -> Any:
    """The contents of ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`."""
def make_async_copy(src_ref: object, dst_ref: object, sem: object | None = None, *, src_sem: object | None = None) -> Any:
    """A copy of one reference, or view of a part, to another, which ``start()`` starts and ``wait()`` waits for."""
def make_async_remote_copy(src_ref: object, dst_ref: object, send_sem: object, recv_sem: object, device_id: Array | np.ndarray | np.bool | np.number | bool | int | float | complex | Sequence[ArrayLike] | Mapping[Any, ArrayLike] | None, device_id_type: DeviceIdType | None = None) -> Any:
    """A copy of one reference, or view of a part, to one on another device, which ``start()`` starts. For kernels under `jax.shard_map`."""
def pack_elementwise(xs: Sequence[ArrayLike], *, packed_dtype: DTypeLike) -> Any:
    """Words whose bits are the elements of ``xs``, the first in the lowest bits; bfloat16 from float32, or the low bits of integers."""
def prng_random_bits(shape: Sequence[int]) -> Any:
    """Random bits, ``int32[shape]``, of the generator that `prng_seed` has seeded."""
def prng_seed(*seeds: ArrayLike) -> None:
    """Seed the generator of the core that runs this kernel; integers, such as a seed and the step of the grid."""
def reciprocal(x: ArrayLike, *, approx: bool = False, full_range: bool = True) -> Any:
    """``1 / x``; with ``approx`` the compiler may be less exact."""
def reset_tpu_interpret_mode_state() -> None:
    """Forget kernels that some devices of a mesh began, and others did not come to."""
def roll(x: ArrayLike, shift: ArrayLike, axis: int, *, stride: int | None = None, stride_axis: int | None = None) -> Any:
    """``x`` with elements moved by ``shift`` places along ``axis``, those at the end coming in at the start."""
def run_on_first_core(core_axis_name: str) -> Callable[[Callable[[], None]], None]:
    """Decorator: run a function of no arguments on the first core only."""
def set_tpu_interpret_mode(params: InterpretParams | None = ...) -> None:
    """From now on kernels that this thread calls are interpreted, as if ``interpret=params`` had been given; None: no more."""
def stateful_bernoulli(p: ArrayLike = 0.5, shape: Sequence[int] = ...) -> Any:
    """Booleans of the generator that are true with probability ``p``."""
def stateful_bits(shape: Sequence[int] = ..., dtype: DTypeLike = ...) -> Any:
    """Random bits of the generator, as unsigned integers of 32 bits or fewer."""
def stateful_normal(shape: Sequence[int] = ..., dtype: DTypeLike = ...) -> Any:
    """Samples of the generator from the standard normal distribution, by the inverse of its distribution function."""
def stateful_uniform(shape: Sequence[int] = ..., dtype: DTypeLike = ..., minval: ArrayLike = 0.0, maxval: ArrayLike = 1.0) -> Any:
    """Samples of the generator from the interval ``[minval, maxval)``; in float32 the unit draw is a multiple of 2**-23."""
def stochastic_round(x: ArrayLike, random_bits: ArrayLike, *, target_dtype: DTypeLike) -> Any:
    """``x`` in bfloat16, rounded up or down with the probability that makes it right on average."""
def store(ref: object, val: ArrayLike, *, mask: ArrayLike | None = None, eviction_policy: str | None = None) -> None:
    """Store ``val`` in ``ref``, a reference or a view ``ref.at[index]``, where ``mask`` is true; see `load`."""
def sync_copy(src_ref: object, dst_ref: object, *, add: bool = False) -> None:
    """Copy one reference, or view of a part, to another; with ``add``, add to what is there."""
def touch(ref: object) -> None:
    """Say that ``ref`` is used, which changes nothing."""
def trace_value(label: str, value: ArrayLike) -> None:
    """Write a number into the profile of a compiled kernel. Interpreted, nothing."""
def unpack_elementwise(x: ArrayLike, *, index: int, packed_dtype: DTypeLike, unpacked_dtype: DTypeLike) -> Any:
    """The values at place ``index`` of words of 32 bits that `pack_elementwise` made."""
def with_memory_space_constraint(x: ArrayLike, memory_space: object) -> Any:
    """``x``, with the wish that it is in ``memory_space``; a kernel's operand is where its `BlockSpec` says."""
