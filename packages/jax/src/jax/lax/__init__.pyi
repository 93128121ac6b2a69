"""Types of `jax.lax`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from enum import Enum, IntEnum
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Hashable, NamedTuple, Sequence, TypeAlias, TypeVar, overload
from jax.lax import linalg as linalg

class AccuracyMode(Enum):
    """The compiler's most accurate implementation, or its default one."""
    HIGHEST = ...
    DEFAULT = ...
class ConvDimensionNumbers(NamedTuple):
    """Which axis is which."""
    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]
ConvGeneralDilatedDimensionNumbers: TypeAlias = tuple[str, str, str] | ConvDimensionNumbers | None
class DotAlgorithm(NamedTuple):
    """Exactly how a product is computed: StableHLO's `dot_algorithm`."""
    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = ...
    rhs_component_count: int = ...
    num_primitive_operations: int = ...
    allow_imprecise_accumulation: bool = ...
class DotAlgorithmPreset(Enum):
    """Named algorithms: dtypes of the operands, dtype of the sum, number of products of parts."""
    DEFAULT = ...
    ANY_F8_ANY_F8_F32 = ...
    ANY_F8_ANY_F8_F32_FAST_ACCUM = ...
    ANY_F8_ANY_F8_ANY = ...
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = ...
    F16_F16_F16 = ...
    F16_F16_F32 = ...
    BF16_BF16_BF16 = ...
    BF16_BF16_F32 = ...
    BF16_BF16_F32_X3 = ...
    BF16_BF16_F32_X6 = ...
    BF16_BF16_F32_X9 = ...
    TF32_TF32_F32 = ...
    TF32_TF32_F32_X3 = ...
    F32_F32_F32 = ...
    F64_F64_F64 = ...
    @property
    def accumulation_type(self) -> Any: ...
    @property
    def supported_lhs_types(self) -> tuple | None: ...
    def supported_output_types(self, lhs_dtype: DTypeLike, rhs_dtype: DTypeLike) -> tuple | None: ...
    @property
    def supported_rhs_types(self) -> tuple | None: ...
DotDimensionNumbers: TypeAlias = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]
class FftType(IntEnum):
    """Kinds of transforms: forward, inverse, and both for real arrays of which half the frequencies are kept."""
    FFT = ...
    IFFT = ...
    RFFT = ...
    IRFFT = ...
class GatherDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and result of a gather belong together. The last axis of the indices holds the index vectors."""
    offset_dims: Any
    collapsed_slice_dims: Any
    start_index_map: Any
    operand_batching_dims: Any = ...
    start_indices_batching_dims: Any = ...
class GatherScatterMode(Enum):
    """What becomes of indices out of bounds."""
    CLIP = ...
    FILL_OR_DROP = ...
    PROMISE_IN_BOUNDS = ...
    ONE_HOT = ...
    @staticmethod
    def from_any(s: str | GatherScatterMode | None) -> GatherScatterMode:
        """The mode of that name ("clip", "fill", "drop", "promise_in_bounds"); None stands for fill or drop."""
class Precision(Enum):
    """How much work an accelerator's matrix unit spends on a product of float32 values."""
    DEFAULT = ...
    HIGH = ...
    HIGHEST = ...
PrecisionLike: TypeAlias = None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset
class RaggedDotDimensionNumbers:
    """Dimension numbers of `ragged_dot_general`."""
    def __init__(self, dot_dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]], lhs_ragged_dimensions: Sequence[int], rhs_group_dimensions: Sequence[int]) -> None: ...
    @property
    def dot_dimension_numbers(self) -> Any: ...
    @property
    def lhs_ragged_dimensions(self) -> Any: ...
    @property
    def rhs_group_dimensions(self) -> Any: ...
class RandomAlgorithm(IntEnum):
    """The algorithms of `rng_bit_generator`; the default is the platform's fastest."""
    RNG_DEFAULT = ...
    RNG_THREE_FRY = ...
    RNG_PHILOX = ...
class RoundingMethod(IntEnum):
    """What `round` does with numbers half-way between two integers."""
    AWAY_FROM_ZERO = ...
    TO_NEAREST_EVEN = ...
class ScatterDimensionNumbers(NamedTuple):
    """How the axes of operand, indices and updates of a scatter belong together. The last axis of the indices holds the index vectors."""
    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ...
    scatter_indices_batching_dims: tuple[int, ...] = ...
class Tolerance:
    """Bounds on the error, of which one must hold; 0 asks for nothing."""
    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0) -> None: ...
    @property
    def atol(self) -> Any: ...
    @property
    def rtol(self) -> Any: ...
    @property
    def ulps(self) -> Any: ...
def abs(x: ArrayLike) -> Array:
    """Elementwise ``|x|``; of complex numbers a real. Raises TypeError for booleans and unsigned integers."""
abs_p: Any
def acos(x: ArrayLike) -> Array:
    """Elementwise inverse cosine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `acos`."""
acos_p: Any
def acosh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `acosh`."""
acosh_p: Any
def add(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x + y``. Raises TypeError if dtypes differ or shapes do not fit. Source: StableHLO `add`."""
add_p: Any
def addition_chain(n: int) -> tuple[tuple[int, int], ...]:
    """The multiplications that make the n-th power: step k multiplies two earlier powers (0 is the base itself)."""
def after_all(*operands: Any) -> Any:
    """A token that comes after all the given ones. Raises TypeError for what is no token. Source: StableHLO `after_all`."""
after_all_p: Any
all_gather_p: Any
def all_to_all(x: ArrayLike, axis_name: Any | Sequence[Any], split_axis: int, concat_axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None, tiled: bool = False) -> Any:
    """Swap a named axis with a positional one: position ``i`` gets part ``i`` along ``split_axis`` of every position."""
all_to_all_p: Any
and_p: Any
def approx_max_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Array]:
    """About the ``k`` largest elements along one axis, and their positions; here they are exact."""
def approx_min_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Array]:
    """About the ``k`` smallest elements along one axis, in ascending order, and their positions. See `approx_max_k`."""
approx_top_k_p: Any
def argmax(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the greatest element along ``axis``: of the first NaN if there is one, else of the first of equals."""
argmax_p: Any
def argmin(operand: ArrayLike, axis: int, index_dtype: DTypeLike) -> Array:
    """Index of the least element along ``axis``: of the first NaN if there is one, else of the first of equals."""
argmin_p: Any
def asin(x: ArrayLike) -> Array:
    """Elementwise inverse sine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `asin`."""
asin_p: Any
def asinh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic sine. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `asinh`."""
asinh_p: Any
def atan(x: ArrayLike) -> Array:
    """Elementwise inverse tangent. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `atan`."""
def atan2(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise angle of the point whose ordinate is ``x`` and whose abscissa is ``y``, in (-pi, pi]."""
atan2_p: Any
atan_p: Any
def atanh(x: ArrayLike) -> Array:
    """Elementwise inverse hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex. Source: CHLO `atanh`."""
atanh_p: Any
def axis_index(axis_name: Any | Sequence[Any]) -> Array:
    """The position along a named axis, an int32 scalar; for several names the row-major position."""
axis_index_p: Any
def axis_size(axis_name: Any | Sequence[Any]) -> int:
    """The number of positions along a named axis (the product, for several), as a Python int."""
def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Matrix products over equal leading axes. Raises ValueError for operands of fewer than 2 axes, or of different rank."""
def bessel_i0e(x: ArrayLike) -> Array:
    """Elementwise ``exp(-abs(x)) * I0(x)``, of the modified Bessel function of order 0."""
bessel_i0e_p: Any
def bessel_i1e(x: ArrayLike) -> Array:
    """Elementwise ``exp(-abs(x)) * I1(x)``, of the modified Bessel function of order 1. Source: CHLO `bessel_i1e`."""
bessel_i1e_p: Any
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised incomplete beta function I_x(a, b); NaN outside of 0 <= x <= 1 and for negative a, b."""
def bitcast_convert_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The bits of ``operand`` read as ``new_dtype``."""
bitcast_convert_type_p: Any
def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x & y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `and`."""
def bitwise_not(x: ArrayLike) -> Array:
    """Elementwise ``~x`` of integers or booleans. Source: StableHLO `not`."""
def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x | y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `or`."""
def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x ^ y`` of integers or booleans. Raises TypeError if dtypes differ. Source: StableHLO `xor`."""
def broadcast(operand: ArrayLike, sizes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``operand`` repeated along new leading axes of the given ``sizes``."""
def broadcast_in_dim(operand: ArrayLike, shape: Sequence[int], broadcast_dimensions: Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``operand`` repeated: its axis ``i`` becomes axis ``broadcast_dimensions[i]`` of ``shape``."""
broadcast_in_dim_p: Any
def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """``arr`` broadcast by NumPy's rules to the shape of ``like_arr``."""
def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape to which arrays of these shapes broadcast, by NumPy's rules. Raises ValueError if there is none."""
def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """``x`` with leading axes of length 1 up to ``rank`` axes; ``x`` itself if it has as many or more."""
def broadcasted_iota(dtype: DTypeLike, shape: Sequence[int], dimension: int, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of ``shape`` whose elements are their own index along ``dimension``."""
def cbrt(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise cube root of real numbers."""
cbrt_p: Any
def ceil(x: ArrayLike) -> Array:
    """Elementwise smallest integer not below ``x``, as a float. Raises TypeError unless ``x`` is real floating."""
ceil_p: Any
def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """``x`` brought into ``[min, max]``."""
clamp_p: Any
def clz(x: ArrayLike) -> Array:
    """Number of leading zero bits of each integer, in its dtype. Source: StableHLO `count_leading_zeros`."""
clz_p: Any
def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """``operand`` with the axes from ``start_dimension`` up to, not including, ``stop_dimension`` merged into one; none make one of length 1."""
def complex(x: ArrayLike, y: ArrayLike) -> Array:
    """The complex number ``x + iy`` of real floating parts (float32 or float64)."""
complex_p: Any
def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function that the compiler may recognise by name; else it is what ``decomposition`` computes."""
composite_p: Any
def concatenate(operands: ArrayLike | Sequence[ArrayLike], dimension: int) -> Array:
    """``operands`` one after another along axis ``dimension``."""
concatenate_p: Any
def cond(pred: ArrayLike, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any, operand: Any = ..., linear: object | None = None) -> Any:
    """``true_fun(*operands)`` if ``pred``, else ``false_fun(*operands)``; only the chosen function runs."""
cond_p: Any
def conj(x: ArrayLike) -> Array:
    """The complex conjugate; a real floating ``x`` becomes complex. Raises TypeError for other dtypes."""
conj_p: Any
def conv(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """`conv_general_dilated` with batch and features first and no dilation. Source: StableHLO `convolution`."""
def conv_dimension_numbers(lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: object) -> ConvDimensionNumbers:
    """`ConvDimensionNumbers` from None (batch and features first), three strings, or itself."""
def conv_general_dilated(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: tuple[str, str, str] | ConvDimensionNumbers | None = None, feature_group_count: int = 1, batch_group_count: int = 1, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Convolution of a batch of images of any number of spatial axes (without reversing the kernel)."""
def conv_general_dilated_local(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], filter_shape: Sequence[int], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: tuple[str, str, str] | ConvDimensionNumbers | None = None, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> Array:
    """Convolution with a kernel of its own for each output position."""
conv_general_dilated_p: Any
def conv_general_dilated_patches(lhs: ArrayLike, filter_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None, dimension_numbers: tuple[str, str, str] | ConvDimensionNumbers | None = None, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """The patches that a kernel of ``filter_shape`` would meet, laid out along the feature axis (features, then positions)."""
def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple, tuple, tuple]:
    """The axes (batch, feature, spatial...) of operand and result and (output, input, spatial...) of the kernel."""
def conv_general_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], dimension_numbers: Sequence[str]) -> tuple[int, ...]:
    """Result shape for operands with axes named by ``dimension_numbers``."""
def conv_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int], pads: Sequence[tuple[int, int]] | str, batch_group_count: int = 1) -> tuple[int, ...]:
    """Result shape for operands with batch and features first. Raises ValueError for an unknown padding."""
def conv_transpose(lhs: ArrayLike, rhs: ArrayLike, strides: Sequence[int], padding: str | Sequence[tuple[int, int]], rhs_dilation: Sequence[int] | None = None, dimension_numbers: tuple[str, str, str] | ConvDimensionNumbers | None = None, transpose_kernel: bool = False, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, use_consistent_padding: bool = False) -> Array:
    """Convolution with fractional stride ("deconvolution"): the operand is stretched by ``strides``."""
def conv_transpose_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], dimension_numbers: Sequence[str]) -> tuple[int, ...]:
    """Result shape of `conv_transpose`. Source: StableHLO `convolution`, its rules of shapes."""
def conv_with_general_padding(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None, rhs_dilation: Sequence[int] | None, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """`conv_general_dilated` with batch and features first."""
def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """``operand`` with its elements converted to ``new_dtype``."""
convert_element_type_p: Any
def copy(x: ArrayLike) -> Array:
    """``x`` in memory of its own."""
copy_p: Any
def cos(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise cosine. Raises TypeError unless ``x`` is floating or complex."""
cos_p: Any
def cosh(x: ArrayLike) -> Array:
    """Elementwise hyperbolic cosine. Raises TypeError unless ``x`` is floating or complex."""
cosh_p: Any
def create_token(_: None = None) -> Any:
    """A token that orders operations of a program. Source: StableHLO `create_token`."""
create_token_p: Any
def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of running sums of exponentials along ``axis``, without overflow; from its end with ``reverse``."""
cumlogsumexp_p: Any
def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running maxima along ``axis``, from its end with ``reverse``; NaN from the first NaN on."""
cummax_p: Any
def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running minima along ``axis``, from its end with ``reverse``; NaN from the first NaN on."""
cummin_p: Any
def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running products along ``axis``, from its end with ``reverse``; in the operand's dtype."""
cumprod_p: Any
def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Running sums along ``axis``, from its end with ``reverse``; in the operand's dtype."""
cumsum_p: Any
def custom_linear_solve(matvec: Callable[..., Any], b: Any, solve: Callable[[Callable[..., Any], Any], Any], transpose_solve: Callable[[Callable[..., Any], Any], Any] | None = None, symmetric: bool = False, has_aux: bool = False) -> Any:
    """Solve ``matvec(x) = b`` with derivatives by the equation itself."""
def custom_root(f: Callable[..., Any], initial_guess: Any, solve: Callable[[Callable[..., Any], Any], Any], tangent_solve: Callable[[Callable[..., Any], Any], Any], has_aux: bool = False) -> Any:
    """A root of ``f``, differentiable with respect to what ``f`` closes over."""
def dce_sink(val: ArrayLike, *, prevent_mlir_dce: bool = False) -> None:
    """Use every leaf of ``val``, so that a program keeps what computes it. ``prevent_mlir_dce``: the compiler keeps it too."""
dce_sink_p: Any
device_put_p: Any
def digamma(x: ArrayLike) -> Array:
    """Elementwise derivative of `lgamma`. Source: CHLO `digamma`."""
digamma_p: Any
def div(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x / y``; integers truncate, and give -1 (all bits) where ``y`` is 0. Raises TypeError if dtypes differ."""
div_p: Any
def dot(lhs: ArrayLike, rhs: ArrayLike, *, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]] | None = None, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Product of vectors and matrices; with ``dimension_numbers`` it is `dot_general`."""
def dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]] | None, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sum of products over contracted axes, for each index of the batch axes."""
dot_general_p: Any
def dtype(x: Any, canonicalize: bool = True) -> Any:
    """The dtype of a value, or the one a dtype-like object names."""
def dynamic_index_in_dim(operand: ArrayLike, index: ArrayLike, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True) -> Array:
    """``operand[index]`` along one axis, for an index known at run time; out of bounds, the nearest element."""
def dynamic_slice(operand: ArrayLike, start_indices: ArrayLike | Sequence[ArrayLike], slice_sizes: Sequence[int], *, allow_negative_indices: bool | Sequence[bool] = True) -> Array:
    """A slice of known size whose start is known at run time; the start is clamped so that the slice fits."""
def dynamic_slice_in_dim(operand: ArrayLike, start_index: ArrayLike, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True) -> Array:
    """`dynamic_slice` along one axis. Source: StableHLO `dynamic_slice`."""
dynamic_slice_p: Any
def dynamic_update_index_in_dim(operand: ArrayLike, update: ArrayLike, index: ArrayLike, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """``operand`` with ``operand[index]`` along one axis replaced; ``update`` has length 1 there, or lacks the axis."""
def dynamic_update_slice(operand: ArrayLike, update: ArrayLike, start_indices: ArrayLike | Sequence[ArrayLike], *, allow_negative_indices: bool | Sequence[bool] = True) -> Array:
    """``operand`` with ``update`` written over the slice that starts at ``start_indices`` (clamped so that it fits)."""
def dynamic_update_slice_in_dim(operand: ArrayLike, update: ArrayLike, start_index: ArrayLike, axis: int, *, allow_negative_indices: bool = True) -> Array:
    """`dynamic_update_slice` along one axis. Source: StableHLO `dynamic_update_slice`."""
dynamic_update_slice_p: Any
def empty(shape: Sequence[int], dtype: DTypeLike, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array whose contents are not to be relied upon (they are zeros today)."""
empty_p: Any
def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x == y``, as booleans. Raises TypeError if dtypes differ or shapes do not fit."""
eq_p: Any
eq_to_p: Any
def erf(x: ArrayLike) -> Array:
    """Elementwise error function. Raises TypeError unless ``x`` is real floating. Source: CHLO `erf`."""
def erf_inv(x: ArrayLike) -> Array:
    """Elementwise inverse of `erf`; infinite at -1 and 1, NaN beyond. Raises TypeError unless ``x`` is real floating."""
erf_inv_p: Any
erf_p: Any
def erfc(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``1 - erf(x)``, accurate for large ``x``. ``accuracy`` is accepted and has no effect: CHLO has one erfc."""
erfc_p: Any
def exp(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise exponential. Raises TypeError unless ``x`` is floating or complex."""
def exp2(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``2 ** x``. Raises TypeError unless ``x`` is floating or complex."""
exp2_p: Any
exp_p: Any
def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` with axes of length 1 at the positions ``dimensions`` of the result. Raises ValueError for bad positions."""
def expm1(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``exp(x) - 1``, accurate near 0. Raises TypeError unless ``x`` is floating or complex."""
expm1_p: Any
def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """Discrete Fourier transform along the last ``len(fft_lengths)`` axes."""
fft_p: Any
def floor(x: ArrayLike) -> Array:
    """Elementwise largest integer not above ``x``, as a float. Raises TypeError unless ``x`` is real floating."""
floor_p: Any
def full(shape: Sequence[int], fill_value: ArrayLike, dtype: DTypeLike | None = None, *, sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of ``shape`` filled with the scalar ``fill_value``."""
def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None, sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`full` with the shape and dtype of ``x``, except where given."""
def gather(operand: ArrayLike, start_indices: ArrayLike, dimension_numbers: GatherDimensionNumbers, slice_sizes: Sequence[int], *, unique_indices: bool = False, indices_are_sorted: bool = False, mode: str | GatherScatterMode | None = None, fill_value: ArrayLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Slices of ``operand`` at many starts."""
gather_p: Any
def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >= y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ."""
ge_p: Any
def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x > y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ."""
gt_p: Any
def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised lower incomplete gamma function P(a, x); NaN for negative arguments."""
def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise derivative of P(a, x) with respect to ``a``."""
igamma_grad_a_p: Any
igamma_p: Any
def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x); NaN for negative arguments."""
igammac_p: Any
def imag(x: ArrayLike) -> Array:
    """The imaginary part of complex ``x``. Raises TypeError unless ``x`` is complex. Source: StableHLO `imag`."""
imag_p: Any
def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """``operand[index]`` along one axis, for an index known while tracing."""
def index_take(src: ArrayLike, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """``src`` indexed along ``axes`` by arrays of one length (NumPy's advanced indexing); that axis comes first."""
def integer_pow(x: ArrayLike, y: int) -> Array:
    """Elementwise ``x ** y`` for a fixed integer ``y``, by the fewest multiplications."""
integer_pow_p: Any
def iota(dtype: DTypeLike, size: int) -> Array:
    """``0, 1, ..., size - 1`` in the dtype. Raises TypeError for booleans or a negative size. Source: StableHLO `iota`."""
iota_p: Any
def is_finite(x: ArrayLike) -> Array:
    """Elementwise: neither infinite nor NaN. Raises TypeError unless ``x`` is real floating. Source: StableHLO `is_finite`."""
is_finite_p: Any
def le(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x <= y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ."""
le_p: Any
le_to_p: Any
def lgamma(x: ArrayLike) -> Array:
    """Elementwise logarithm of the absolute value of the gamma function. Source: CHLO `lgamma`."""
lgamma_p: Any
linear_solve_p: Any
def log(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise natural logarithm. Raises TypeError unless ``x`` is floating or complex."""
def log1p(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``log(1 + x)``, accurate near 0. Raises TypeError unless ``x`` is floating or complex."""
log1p_p: Any
def log2(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise logarithm to base 2. Raises TypeError unless ``x`` is floating or complex."""
log2_p: Any
log_p: Any
def logistic(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``1 / (1 + exp(-x))``. Raises TypeError unless ``x`` is floating or complex."""
logistic_p: Any
def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x < y``, as booleans. Raises TypeError for complex numbers, or if dtypes differ."""
lt_p: Any
lt_to_p: Any
def max(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise maximum; NaN where either is NaN; complex by real, then imaginary part. Raises TypeError if dtypes differ."""
max_p: Any
def min(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise minimum; NaN where either is NaN; complex by real, then imaginary part. Raises TypeError if dtypes differ."""
min_p: Any
def mul(x: ArrayLike, y: ArrayLike, *, out_dtype: DTypeLike | None = None) -> Array:
    """Elementwise ``x * y``; with ``out_dtype``, computed in that dtype. Raises TypeError if dtypes differ and ``out_dtype`` is not given."""
mul_p: Any
def mulhi(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The upper half of the bits of the double-width product of integers."""
mulhi_p: Any
def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x != y``, as booleans. Raises TypeError if dtypes differ or shapes do not fit."""
ne_p: Any
def neg(x: ArrayLike) -> Array:
    """Elementwise ``-x``. Raises TypeError for booleans. Source: StableHLO `negate`."""
neg_p: Any
def nextafter(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Elementwise the next float after ``x1`` in the direction of ``x2``."""
nextafter_p: Any
not_p: Any
def one_minus_square(x: ArrayLike) -> Array:
    """Elementwise ``1 - x * x``, accurate near 1. Raises TypeError unless ``x`` is floating or complex."""
one_minus_square_p: Any
def optimization_barrier(operand: Any, /) -> Any:
    """``operand`` (an array or a pytree of arrays), which the compiler computes as written here: nothing moves past it."""
optimization_barrier_p: Any
or_p: Any
def pad(operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """``operand`` with ``padding_value`` before, after and between its elements."""
pad_p: Any
def padtype_to_pads(in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str | Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The padding of each axis that ``"VALID"``, ``"SAME"`` or ``"SAME_LOWER"`` stands for."""
def pbroadcast(x: Any, axis_name: Any | Sequence[Any], source: int) -> Any:
    """The value at position ``source``, at all positions."""
def platform_dependent(*args: Any, default: Callable[..., object] | None = None, **per_platform: Callable[..., Any]) -> Any:
    """Call the function for the platform that the program is compiled for."""
pmax_p: Any
pmin_p: Any
def polygamma(m: ArrayLike, x: ArrayLike) -> Array:
    """Elementwise ``m``-th derivative of `digamma` at ``x``, for whole numbers ``m`` in the dtype of ``x``."""
polygamma_p: Any
def polynomial(x: ArrayLike, coeffs: Sequence[ArrayLike], *, unroll: int | None = None) -> Array:
    """The polynomial with coefficients ``coeffs``, lowest power first, at each ``x``, by Horner's rule."""
polynomial_p: Any
def population_count(x: ArrayLike) -> Array:
    """Number of set bits of each integer, in its dtype. Source: StableHLO `popcnt`."""
population_count_p: Any
def pow(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x ** y`` of a floating or complex ``x``; ``y`` has its dtype, or is an integer. Raises TypeError otherwise."""
pow_p: Any
ppermute_p: Any
def precv(token: object, out_shape: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`."""
def psend(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """Refused: one half of a `ppermute` without the other cannot be scheduled safely; use `ppermute`."""
psum_p: Any
def psum_scatter_start(*args: Any, **kwargs: Any) -> Any:
    """Refused: XLA schedules collectives asynchronously by itself; use `psum_scatter`."""
def pswapaxes(x: ArrayLike, axis_name: Any, axis: int, *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """Swap a named axis with the positional ``axis``, which must have the same length. Errors as for `all_to_all`."""
def pvary(x: Any, axis_name: Any | Sequence[Any]) -> Any:
    """``x`` itself (a pytree), counted as varying over a named axis. Only a checked `shard_map` makes the difference."""
def ragged_all_to_all(operand: ArrayLike, output: ArrayLike, input_offsets: ArrayLike, send_sizes: ArrayLike, output_offsets: ArrayLike, recv_sizes: ArrayLike, *, axis_name: Any | Sequence[Any], axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any:
    """`all_to_all` with parts of different lengths along the leading axis."""
ragged_all_to_all_p: Any
def ragged_dot(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, group_offset: ArrayLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Products of consecutive groups of rows of a matrix with a matrix for each group."""
def ragged_dot_general(lhs: ArrayLike, rhs: ArrayLike, group_sizes: ArrayLike, ragged_dot_dimension_numbers: RaggedDotDimensionNumbers, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, group_offset: ArrayLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`dot_general` with one axis of ``lhs`` cut into consecutive groups."""
def random_gamma_grad(*args: Any) -> Array:
    """Elementwise derivative, with respect to ``a``, of a sample ``x`` of the gamma distribution of shape ``a``."""
random_gamma_grad_p: Any
def real(x: ArrayLike) -> Array:
    """The real part of complex ``x``. Raises TypeError unless ``x`` is complex. Source: StableHLO `real`."""
real_p: Any
def reciprocal(x: ArrayLike) -> Array:
    """Elementwise ``1 / x``. Raises TypeError unless ``x`` is floating or complex. Source: StableHLO `divide`."""
def reduce(operands: Any, init_values: Any, computation: Callable[[Any, Any], Any], dimensions: Sequence[int], out_sharding: Sharding | PartitionSpec | Device | None = None) -> Any:
    """Reduce arrays over ``dimensions`` by an associative function of scalars."""
def reduce_and(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise and of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes."""
reduce_and_p: Any
def reduce_max(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Maximum over ``axes``; NaN where any is NaN; of no elements the dtype's lowest value. Raises ValueError for bad axes."""
reduce_max_p: Any
def reduce_min(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Minimum over ``axes``; NaN where any is NaN; of no elements the dtype's highest value. Raises ValueError for bad axes."""
reduce_min_p: Any
def reduce_or(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise or of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes."""
reduce_or_p: Any
reduce_p: Any
def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """``operand`` rounded to floats of fewer bits, kept in its dtype."""
reduce_precision_p: Any
def reduce_prod(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Product over ``axes`` in the dtype of ``operand``. Raises TypeError for booleans, ValueError for bad axes."""
reduce_prod_p: Any
reduce_scatter_p: Any
def reduce_sum(operand: ArrayLike, axes: Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sum over ``axes`` in the dtype of ``operand``. Raises TypeError for booleans, ValueError for bad axes."""
reduce_sum_p: Any
def reduce_window(operand: ArrayLike, init_value: ArrayLike, computation: Callable[..., object], window_dimensions: Sequence[int], window_strides: Sequence[int] | None = None, padding: str | Sequence[tuple[int, int]] = 'VALID', base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> Any:
    """Reduce every window of an array, or of several arrays of one shape together."""
reduce_window_max_p: Any
reduce_window_min_p: Any
reduce_window_p: Any
def reduce_window_shape_tuple(operand_shape: Sequence[int], window_dimensions: Sequence[int], window_strides: Sequence[int], padding: Sequence[tuple[int, int]], base_dilation: Sequence[int] | None = None, window_dilation: Sequence[int] | None = None) -> tuple[int, ...]:
    """Shape of a reduction over windows."""
reduce_window_sum_p: Any
def reduce_xor(operand: ArrayLike, axes: Sequence[int]) -> Array:
    """Bitwise exclusive or of booleans or integers over ``axes``. Raises TypeError for other dtypes, ValueError for bad axes."""
reduce_xor_p: Any
regularized_incomplete_beta_p: Any
def rem(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise remainder with the sign of ``x``; of integers ``x`` itself where ``y`` is 0. Raises TypeError if dtypes differ."""
rem_p: Any
def reshape(operand: ArrayLike, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """The elements of ``operand``, in row-major order, in another shape."""
reshape_p: Any
def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``operand`` with the order of elements along ``dimensions`` reversed. Raises TypeError for bad dimensions."""
rev_p: Any
def rng_bit_generator(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike = ..., algorithm: RandomAlgorithm = ..., *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> tuple[Any, Any]:
    """The next key, and an array of random bits."""
rng_bit_generator_p: Any
def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[int]) -> Array:
    """Numbers from ``[a, b)`` by the platform's stateful generator: not reproducible, `jax.random.uniform` is."""
rng_uniform_p: Any
def round(x: ArrayLike, rounding_method: RoundingMethod = ...) -> Array:
    """Elementwise nearest integer, as a float; halves as ``rounding_method`` says. Raises TypeError unless real floating."""
round_p: Any
def rsqrt(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise ``1 / sqrt(x)``."""
rsqrt_p: Any
def scaled_dot(lhs: ArrayLike, rhs: ArrayLike, *, lhs_scale: ArrayLike | None = None, rhs_scale: ArrayLike | None = None, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]] | None = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """`dot_general` of operands that are scaled by blocks along the contracted axis: each scale counts for a block of equal length."""
scan_p: Any
def scatter(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """A copy of ``operand`` that holds ``updates`` at places given by index vectors; of two for one place, one stays (on CPU the last)."""
def scatter_add(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``updates`` added to its slices. Arguments as for `scatter`. Source: StableHLO `scatter`."""
scatter_add_p: Any
def scatter_apply(operand: ArrayLike, scatter_indices: ArrayLike, func: Callable[[ArrayLike], ArrayLike], dimension_numbers: ScatterDimensionNumbers, *, update_shape: Sequence[int] = ..., indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``func`` applied to the elements addressed, once for each time an element is addressed."""
def scatter_max(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with the maximum of its slices and ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`."""
scatter_max_p: Any
def scatter_min(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with the minimum of its slices and ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`."""
scatter_min_p: Any
def scatter_mul(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with its slices multiplied by ``updates``. Arguments as for `scatter`. Source: StableHLO `scatter`."""
scatter_mul_p: Any
scatter_p: Any
def scatter_sub(operand: ArrayLike, scatter_indices: ArrayLike, updates: ArrayLike, dimension_numbers: ScatterDimensionNumbers, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | GatherScatterMode | None = None) -> Array:
    """``operand`` with ``updates`` subtracted from its slices. Arguments as for `scatter`. Source: StableHLO `scatter`."""
scatter_sub_p: Any
def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """For each element ``on_true`` where ``pred``, else ``on_false``."""
select_and_gather_add_p: Any
select_and_scatter_add_p: Any
select_and_scatter_p: Any
def select_n(which: ArrayLike, *cases: Any) -> Array:
    """For each element the one of ``cases`` that ``which`` names."""
select_n_p: Any
def shape_as_value(shape: Sequence[int]) -> Any:
    """A shape as an int32 array; in the default integer dtype, if it has symbolic dimensions."""
sharding_constraint_p: Any
def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x << y`` of integers; amounts outside [0, width) give 0. Source: StableHLO `shift_left`."""
shift_left_p: Any
def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >> y`` of integers, filling with the sign bit; amounts outside [0, width) leave only the sign."""
shift_right_arithmetic_p: Any
def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x >> y`` of integers, filling with zeros; amounts outside [0, width) give 0."""
shift_right_logical_p: Any
def sign(x: ArrayLike) -> Array:
    """Elementwise -1, 0 or 1; NaN and zeros stay as they are; of complex numbers ``x / |x|``. Raises TypeError for booleans."""
sign_p: Any
def sin(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise sine. Raises TypeError unless ``x`` is floating or complex."""
sin_p: Any
def sinh(x: ArrayLike) -> Array:
    """Elementwise hyperbolic sine. Raises TypeError unless ``x`` is floating or complex. Source: Abramowitz & Stegun, 4.5."""
sinh_p: Any
def slice(operand: ArrayLike, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None) -> Array:
    """``operand[start:limit:stride]`` on every axis, with bounds known while tracing."""
def slice_in_dim(operand: ArrayLike, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Array:
    """``operand[start:limit:stride]`` along one axis; None and negative bounds have NumPy's meaning."""
slice_p: Any
def sort(operand: ArrayLike | Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort along one axis, in ascending order."""
def sort_key_val(keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """``keys`` sorted along one axis, and ``values`` in the same order. See `sort`. Source: StableHLO `sort`."""
sort_p: Any
def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """``operand`` cut along ``axis`` into pieces of the given ``sizes``. Raises ValueError unless these add up."""
split_p: Any
def sqrt(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise square root, NaN for negative numbers, the principal one of complex numbers."""
sqrt_p: Any
def square(x: ArrayLike) -> Array:
    """Elementwise ``x * x``. Raises TypeError for booleans. Source: CHLO `square`; of real numbers StableHLO `multiply`."""
square_p: Any
def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` without the axes ``dimensions``, all of length 1 (negative: counted from the end). Raises ValueError otherwise."""
squeeze_p: Any
def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """``operands``, of one shape and dtype, along a new axis. Raises ValueError if there are none, TypeError if they differ."""
stack_p: Any
def stage(x: ArrayLike, /) -> Array:
    """``x`` as a value of the current trace; outside of transformations, an array."""
stage_p: Any
stop_gradient_p: Any
def sub(x: ArrayLike, y: ArrayLike) -> Array:
    """Elementwise ``x - y``. Raises TypeError if dtypes differ or shapes do not fit. Source: StableHLO `subtract`."""
sub_p: Any
def switch(index: ArrayLike, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = ...) -> Any:
    """``branches[index](*operands)``; an index out of range is clamped to the first or last branch."""
def tan(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise tangent. Raises TypeError unless ``x`` is floating or complex."""
tan_p: Any
def tanh(x: ArrayLike, *, accuracy: AccuracyMode | Tolerance | None = None) -> Array:
    """Elementwise hyperbolic tangent. Raises TypeError unless ``x`` is floating or complex."""
tanh_p: Any
def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """``operand`` repeated ``reps[i]`` times along axis ``i``. Raises TypeError unless there is one number for each axis."""
tile_p: Any
top_k_p: Any
def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """``operand`` with its axes in the order ``permutation``. Raises TypeError if that is not a permutation of the axes."""
transpose_p: Any
def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The slices of ``x`` along ``axis``, without that axis. Raises ValueError where there is no such axis."""
unstack_p: Any
while_p: Any
xor_p: Any
def zeros_like_array(x: ArrayLike) -> Array:
    """Zeros of the type of ``x``."""
def zeta(x: ArrayLike, q: ArrayLike) -> Array:
    """Elementwise Hurwitz zeta function: the sum of ``(k + q) ** -x`` over k = 0, 1, ... Source: CHLO `zeta`."""
zeta_p: Any
_C = TypeVar("_C")
_R = TypeVar("_R")
_Number: TypeAlias = int | float | np.number[Any] | np.ndarray[Any, Any]
@overload
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: _Number, *, unroll: int | bool | None = None) -> Array:
    """A loop over integers that carries a value."""
@overload
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: _C, *, unroll: int | bool | None = None) -> _C: ...
@overload
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: _Number, *, max_steps: int | None = None) -> Array:
    """A loop while a condition of the carried value holds."""
@overload
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: _C, *, max_steps: int | None = None) -> _C: ...
@overload
def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: _Number, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: int | bool = 1, _split_transpose: bool = False) -> tuple[Array, Any]:
    """A loop over the leading axis that carries a value and stacks results."""
@overload
def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: _C, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: int | bool = 1, _split_transpose: bool = False) -> tuple[_C, Any]: ...
def associative_scan(fn: Callable[[Any, Any], Any], elems: _C, reverse: bool = False, axis: int = 0) -> _C:
    """All the running results of an associative operation along an axis."""
def map(f: Callable[[Any], _R], xs: Any, *, batch_size: int | None = None) -> _R:
    """A function over the slices of its argument, one after the other or by batches."""
def stop_gradient(x: _C) -> _C:
    """The value, whose derivative is zero."""
def top_k(operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True) -> list[Array]:
    """The largest elements and their indices."""
@overload
def psum(x: Array, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Array:
    """The sum over a named axis."""
@overload
def psum(x: Any, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any: ...
@overload
def pmean(x: Array, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Array:
    """The mean over a named axis."""
@overload
def pmean(x: Any, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any: ...
@overload
def pmax(x: Array, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Array:
    """The largest over a named axis."""
@overload
def pmax(x: Any, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any: ...
@overload
def pmin(x: Array, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Array:
    """The smallest over a named axis."""
@overload
def pmin(x: Any, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> Any: ...
@overload
def psum_scatter(x: Array, axis_name: Hashable | Sequence[Hashable], *, scatter_dimension: int = 0, axis_index_groups: Sequence[Sequence[int]] | None = None, tiled: bool = False) -> Array:
    """The sum over a named axis, of which each position keeps its part."""
@overload
def psum_scatter(x: Any, axis_name: Hashable | Sequence[Hashable], *, scatter_dimension: int = 0, axis_index_groups: Sequence[Sequence[int]] | None = None, tiled: bool = False) -> Any: ...
@overload
def ppermute(x: Array, axis_name: Hashable | Sequence[Hashable], perm: Sequence[tuple[int, int]]) -> Array:
    """Values sent from position to position of a named axis."""
@overload
def ppermute(x: Any, axis_name: Hashable | Sequence[Hashable], perm: Sequence[tuple[int, int]]) -> Any: ...
@overload
def pshuffle(x: Array, axis_name: Hashable | Sequence[Hashable], perm: Sequence[int]) -> Array:
    """Values taken from position ``perm[i]`` at position i of a named axis."""
@overload
def pshuffle(x: Any, axis_name: Hashable | Sequence[Hashable], perm: Sequence[int]) -> Any: ...
@overload
def all_gather(x: Array, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None, axis: int = 0, tiled: bool = False, to: str = 'varying') -> Array:
    """The values of all positions of a named axis."""
@overload
def all_gather(x: Any, axis_name: Hashable | Sequence[Hashable], *, axis_index_groups: Sequence[Sequence[int]] | None = None, axis: int = 0, tiled: bool = False, to: str = 'varying') -> Any: ...
@overload
def pcast(x: Array, axis_name: Hashable | Sequence[Hashable], *, to: str) -> Array:
    """A value whose type says otherwise over which axes it varies."""
@overload
def pcast(x: Any, axis_name: Hashable | Sequence[Hashable], *, to: str) -> Any: ...
@overload
def with_sharding_constraint(x: Array, shardings: Any) -> Array:
    """A value that lies as told."""
@overload
def with_sharding_constraint(x: Any, shardings: Any) -> Any: ...
