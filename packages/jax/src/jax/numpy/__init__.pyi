"""Types of `jax.numpy`. Written by packages/jax/tools/make_stubs.py."""
import builtins
import numpy as np
from jax import Array, Device
from jax.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, IO, Literal, Mapping, NamedTuple, Self, Sequence, overload
from numpy.exceptions import ComplexWarning as ComplexWarning
from numpy import character as character
from numpy import complexfloating as complexfloating
from numpy import dtype as dtype
from jax.numpy import fft as fft
from numpy import flexible as flexible
from numpy import floating as floating
from numpy import generic as generic
from numpy import inexact as inexact
from numpy import integer as integer
from jax.numpy import linalg as linalg
from numpy import number as number
from numpy import object_ as object_
from numpy import signedinteger as signedinteger
from numpy import unsignedinteger as unsignedinteger

def abs(x: ArrayLike, /) -> Array:
    """Absolute value; the modulus of a complex number (as a real)."""
def absolute(x: ArrayLike, /) -> Array:
    """Absolute value; the modulus of a complex number (as a real)."""
def acos(x: ArrayLike, /) -> Array:
    """Inverse cosine, in [0, pi]; NaN outside [-1, 1]."""
def acosh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic cosine; NaN below 1."""
def all(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """Whether all elements over axes are true (not zero). Arguments as for `sum`. Source: `numpy.all`."""
def allclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False) -> Array:
    """Whether all elements are close in the sense of `isclose`; a boolean array of rank 0."""
def amax(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The largest element over axes; NaN if there is one. Ties share the gradient."""
def amin(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The smallest element over axes; arguments as for `max`. Source: `numpy.min`."""
def angle(z: ArrayLike, deg: builtins.bool = False) -> Array:
    """Argument of complex numbers, in (-pi, pi]."""
def any(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """Whether any element over axes is true (not zero). Arguments as for `sum`. Source: `numpy.any`."""
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``values`` after ``arr`` along an axis; both flattened if it is None. Source: `numpy.append`."""
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """``func1d`` of each line along an axis, whose result takes the place of the axis."""
def apply_over_axes(func: Callable[[Array, int], Array], a: ArrayLike, axes: Sequence[int]) -> Array:
    """``func(a, axis)`` for each axis in turn; a result without the axis gets it back with length 1."""
def arange(start: ArrayLike, stop: ArrayLike | None = None, step: ArrayLike | None = None, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Evenly spaced values of the half-open interval from ``start`` to ``stop``."""
def arccos(x: ArrayLike, /) -> Array:
    """Inverse cosine, in [0, pi]; NaN outside [-1, 1]."""
def arccosh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic cosine; NaN below 1."""
def arcsin(x: ArrayLike, /) -> Array:
    """Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
def arcsinh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic sine."""
def arctan(x: ArrayLike, /) -> Array:
    """Inverse tangent, in [-pi/2, pi/2]."""
def arctan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Angle of the point with ordinate ``x1`` and abscissa ``x2``, in [-pi, pi]."""
def arctanh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
def argmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None) -> Array:
    """Index of the largest element (the first of equal ones; of the first NaN if there is one)."""
def argmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None) -> Array:
    """Index of the smallest element; arguments as for `argmax`. Source: `numpy.argmin`."""
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The positions that `partition` takes its elements from."""
def argsort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: builtins.bool = True, descending: builtins.bool = False, dtype: DTypeLike | None = None) -> Array:
    """The positions that sort ``a`` along an axis; arguments as for `sort`, and the integer dtype of the result."""
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Positions of the elements that are not zero, one row each."""
def around(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """``a`` rounded to a number of decimals, halves to the even digit."""
def array(object: object, dtype: DTypeLike | None = None, *, copy: builtins.bool = True, order: str | None = 'K', ndmin: int = 0, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array with the contents of ``object``."""
def array_equal(a1: ArrayLike | Sequence[Any], a2: ArrayLike | Sequence[Any], equal_nan: builtins.bool = False) -> Array:
    """Whether two arrays have the same shape and equal elements; a boolean array of rank 0."""
def array_equiv(a1: ArrayLike | Sequence[Any], a2: ArrayLike | Sequence[Any]) -> Array:
    """Whether two arrays are equal once broadcast; a boolean array of rank 0."""
def array_repr(arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: builtins.bool | None = None) -> str:
    """The representation of an array."""
def array_split(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike, axis: int = 0) -> list[Array]:
    """As `split`, but the first pieces may be longer by one."""
def array_str(a: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: builtins.bool | None = None) -> str:
    """The contents of an array as text."""
def asarray(a: object, dtype: DTypeLike | None = None, order: str | None = None, *, copy: builtins.bool | None = None, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``a`` as an array, itself if it is one already; arguments as for `array`."""
def asin(x: ArrayLike, /) -> Array:
    """Inverse sine, in [-pi/2, pi/2]; NaN outside [-1, 1]."""
def asinh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic sine."""
def astype(x: ArrayLike, dtype: DTypeLike | None, /, *, copy: builtins.bool = False, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``x`` with its elements converted."""
def atan(x: ArrayLike, /) -> Array:
    """Inverse tangent, in [-pi/2, pi/2]."""
def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Angle of the point with ordinate ``x1`` and abscissa ``x2``, in [-pi, pi]."""
def atanh(x: ArrayLike, /) -> Array:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
def bartlett(M: int) -> Array:
    """The triangle, from 0 to 1 to 0. Source: `numpy.bartlett`."""
bfloat16: _ScalarType
def bincount(x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *, length: int | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """How often each of the integers 0, 1, ... comes, or the sum of the weights of its places."""
def bitwise_count(x: ArrayLike, /) -> Array:
    """Number of one bits of the absolute value, as uint8."""
def bitwise_invert(x: ArrayLike, /) -> Array:
    """Each bit flipped; logical not for booleans."""
def bitwise_left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Bits of ``x`` moved up by ``y``."""
def bitwise_not(x: ArrayLike, /) -> Array:
    """Each bit flipped; logical not for booleans."""
def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits of ``x1`` moved down by ``x2``, keeping the sign."""
def blackman(M: int) -> Array:
    """The window of Blackman: three cosine terms. Source: `numpy.blackman`."""
def block(arrays: ArrayLike | list[Any]) -> Array:
    """An array put together from nested lists of blocks, the innermost along the last axis. Source: `numpy.block`."""
bool: _ScalarType
bool_: _ScalarType
def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """Arrays repeated to their common shape. Source: `numpy.broadcast_arrays`."""
def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to. Raises ValueError if there is none. Source: `numpy.broadcast_shapes`."""
def broadcast_to(array: ArrayLike, shape: int | Sequence[int], *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``array`` repeated to ``shape``."""
c_: Any
def can_cast(from_: DTypeLike, to: DTypeLike, casting: str = 'safe') -> builtins.bool:
    """Whether a cast between dtypes is allowed under NumPy's casting rule."""
def cbrt(x: ArrayLike, /) -> Array:
    """Real cube root."""
cdouble: _ScalarType
def ceil(x: ArrayLike, /) -> Array:
    """Smallest integer not below each element."""
def choose(a: ArrayLike, choices: ArrayLike | Sequence[ArrayLike], out: None = None, mode: str = 'raise') -> Array:
    """For each element ``a[i]`` the element of ``choices[a[i]]`` at its place."""
def clip(arr: ArrayLike | None = None, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
    """``arr`` limited to the interval from ``min`` to ``max``, either of which may be None."""
def column_stack(tup: ArrayLike | Sequence[ArrayLike]) -> Array:
    """Arrays joined along the second axis; vectors count as columns."""
complex128: _ScalarType
complex64: _ScalarType
complex_: _ScalarType
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, *, size: int | None = None, fill_value: ArrayLike = 0, out: None = None) -> Array:
    """The slices of ``a`` along an axis at which ``condition`` holds."""
def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """`concatenate` under its name in the array API standard."""
def concatenate(arrays: ArrayLike | Sequence[ArrayLike], axis: int | None = 0, dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along an existing axis."""
def conj(x: ArrayLike, /) -> Array:
    """Complex conjugate."""
def conjugate(x: ArrayLike, /) -> Array:
    """Complex conjugate."""
def convolve(a: ArrayLike, v: ArrayLike, mode: str = 'full', *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Convolution of two vectors."""
def copy(a: ArrayLike, order: str | None = None) -> Array:
    """A new array with the contents of ``a``. Source: `numpy.copy`."""
def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The magnitude of ``x1`` with the sign of ``x2``. Source: `numpy.copysign`."""
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: builtins.bool = True, dtype: DTypeLike | None = None) -> Array:
    """Correlation coefficients of variables; arguments as for `cov`. Source: `numpy.corrcoef`."""
def correlate(a: ArrayLike, v: ArrayLike, mode: str = 'valid', *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Cross-correlation of two vectors, the second conjugated; arguments as for `convolve`. Source: `numpy.correlate`."""
def cos(x: ArrayLike, /) -> Array:
    """Cosine of an angle in radians."""
def cosh(x: ArrayLike, /) -> Array:
    """Hyperbolic cosine."""
def count_nonzero(a: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: builtins.bool = False) -> Array:
    """Number of elements that are not zero, over axes, as the default integer."""
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: builtins.bool = True, bias: builtins.bool = False, ddof: int | None = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, dtype: DTypeLike | None = None) -> Array:
    """Covariance matrix of variables."""
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """Cross product of vectors of 3 elements."""
csingle: _ScalarType
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running product; arguments as for `cumsum`. Source: `numpy.cumprod`."""
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sum along an axis, or of the flattened array."""
def cumulative_prod(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: builtins.bool = False) -> Array:
    """Running product along an axis, with a leading 1 if asked for. Source: `numpy.cumulative_prod`."""
def cumulative_sum(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike | None = None, include_initial: builtins.bool = False) -> Array:
    """Running sum along an axis, with a leading 0 if asked for. Source: `numpy.cumulative_sum`, array API standard."""
def deg2rad(x: ArrayLike, /) -> Array:
    """Degrees to radians."""
def degrees(x: ArrayLike, /) -> Array:
    """Radians to degrees."""
def delete(arr: ArrayLike, obj: ArrayLike, axis: int | None = None, *, assume_unique_indices: builtins.bool = False) -> Array:
    """``arr`` without the slices at some positions of an axis."""
def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the vector ``v`` on diagonal ``k``, or diagonal ``k`` of a matrix."""
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Indices of the main diagonal of an array of ``ndim`` axes of length ``n``. Source: `numpy.diag_indices`."""
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Indices of the main diagonal of ``arr``. Source: `numpy.diag_indices_from`."""
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the elements of ``v``, flattened, on diagonal ``k``. Source: `numpy.diagflat`."""
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of the matrices in the plane of two axes, as a new last axis."""
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times over."""
def digitize(x: ArrayLike, bins: ArrayLike, right: builtins.bool = False, *, method: str | None = None) -> Array:
    """For each value the number of the bin that it falls into."""
def divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Quotient of elements, as floats; integers are converted first."""
def divmod(x1: ArrayLike, x2: ArrayLike, /) -> tuple[Array, Array]:
    """Pair of `floor_divide` and `remainder`. Source: `numpy.divmod`."""
def dot(a: ArrayLike, b: ArrayLike, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sum of products over the last axis of ``a`` and the last but one of ``b`` (the only one of a vector)."""
double: _ScalarType
def dsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along the third axis."""
def dstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the third axis."""
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """Differences of neighbours of the flattened array, with values put before and after."""
def einsum(subscripts: str | ArrayLike, /, *operands: Any, out: None = None, optimize: str | builtins.bool | list[tuple[int, ...]] = 'auto', precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, _dot_general: Callable[..., ArrayLike] | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sums of products over labelled axes, as in ``einsum("ij,jk->ik", a, b)``."""
def einsum_path(subscripts: str | ArrayLike, /, *operands: Any, optimize: builtins.bool | str | list[tuple[int, ...]] = 'auto') -> tuple[Array, ...]:
    """The order of pairwise products that `einsum` would take, and a description."""
def empty(shape: Sequence[int] | int, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of zeros (nothing is left uninitialised); arguments as for `zeros`. Source: `numpy.empty`."""
def empty_like(prototype: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | int | None = None, *, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Zeros of the shape and dtype of ``prototype``."""
def equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether elements are equal."""
def exp(x: ArrayLike, /) -> Array:
    """e to the power of each element."""
def exp2(x: ArrayLike, /) -> Array:
    """2 to the power of each element."""
def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """``a`` with axes of length 1 inserted, at positions of the result."""
def expm1(x: ArrayLike, /) -> Array:
    """``exp(x) - 1``, accurate for small ``x``."""
def extract(condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0) -> Array:
    """The elements of ``arr`` at which ``condition`` holds, both flattened."""
def eye(N: int, M: int | None = None, k: ArrayLike = 0, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
def fabs(x: ArrayLike, /) -> Array:
    """Absolute value, as a float."""
def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: builtins.bool = False, *, inplace: builtins.bool = True) -> Array:
    """``a`` with ``val`` on its main diagonal (of all axes). ``inplace`` must be False. Source: `numpy.fill_diagonal`."""
class finfo:
    bits: int
    dtype: np.dtype[Any]
    eps: Any
    epsneg: Any
    max: Any
    min: Any
    tiny: Any
    smallest_normal: Any
    smallest_subnormal: Any
    resolution: Any
    precision: int
    maxexp: int
    minexp: int
    nmant: int
    @property
    def iexp(self) -> int: ...
    @property
    def machep(self) -> int: ...
    @property
    def negep(self) -> int: ...
    @property
    def nexp(self) -> int: ...
    def __new__(cls, dtype: DTypeLike | ArrayLike) -> Self: ...
def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None) -> Array:
    """Positions of the elements of the flattened array that are not zero."""
def flip(m: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """``m`` reversed along some axes, all by default. Source: `numpy.flip`."""
def fliplr(m: ArrayLike) -> Array:
    """``m`` reversed along its second axis. Source: `numpy.fliplr`."""
def flipud(m: ArrayLike) -> Array:
    """``m`` reversed along its first axis. Source: `numpy.flipud`."""
float16: _ScalarType
float32: _ScalarType
float4_e2m1fn: _ScalarType
float64: _ScalarType
float6_e2m3fn: _ScalarType
float6_e3m2fn: _ScalarType
float8_e3m4: _ScalarType
float8_e4m3: _ScalarType
float8_e4m3b11fnuz: _ScalarType
float8_e4m3fn: _ScalarType
float8_e4m3fnuz: _ScalarType
float8_e5m2: _ScalarType
float8_e5m2fnuz: _ScalarType
float8_e8m0fnu: _ScalarType
float_: _ScalarType
def float_power(x: ArrayLike, y: ArrayLike, /) -> Array:
    """``x`` to the power ``y``, as floats. Source: `numpy.float_power`."""
def floor(x: ArrayLike, /) -> Array:
    """Largest integer not above each element."""
def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``floor(x1 / x2)`` in the dtype of the operands."""
def fmax(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The larger of two elements; where one is NaN, the other."""
def fmin(x1: ArrayLike, x2: ArrayLike) -> Array:
    """The smaller of two elements; where one is NaN, the other."""
def fmod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the dividend, as in C; by integer 0 it is 0."""
def frexp(x: ArrayLike, /) -> tuple[Array, Array]:
    """Mantissa in [0.5, 1) with the sign of ``x``, and exponent (int32), such that ``x == mantissa * 2**exponent``."""
def from_dlpack(x: object, /, *, device: Sharding | PartitionSpec | Device | None = None, copy: builtins.bool | None = None) -> Array:
    """An array that shares memory with (or copies) one of another library."""
def frombuffer(buffer: bytes | memoryview, dtype: DTypeLike = ..., count: int = -1, offset: int = 0) -> Array:
    """A 1-d array from the bytes of a buffer."""
def fromfile(*args: Any, **kwargs: Any) -> Array:
    """A 1-d array from the bytes or the text of a file, with the arguments of `numpy.fromfile`."""
def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: DTypeLike = ..., **kwargs: Any) -> Array:
    """``function`` of the coordinate of each element, applied to all elements at once by `vmap`."""
def fromiter(*args: Any, **kwargs: Any) -> Array:
    """A 1-d array from the items of an iterator, with the arguments of `numpy.fromiter`."""
def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: object | None = None) -> ufunc:
    """A `ufunc` from a traceable function of numbers."""
def fromstring(string: str, dtype: DTypeLike = ..., count: int = -1, *, sep: str) -> Array:
    """A 1-d array from numbers written in a string, ``count`` of them unless that is -1. Source: `numpy.fromstring`."""
def full(shape: Sequence[int] | int, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array filled with one value."""
def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | int | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``fill_value`` in the shape and dtype of ``a``, each of which can be given instead."""
def gcd(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Greatest common divisor of integers, never negative."""
def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """``num`` values from ``start`` to ``stop`` in geometric progression; arguments as for `linspace`."""
def get_printoptions() -> dict:
    """NumPy's printing options. Source: `numpy.get_printoptions`."""
def gradient(f: ArrayLike, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int | None = None) -> Array | list[Array]:
    """Central differences, one-sided at the ends."""
def greater(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether ``x > y``."""
def greater_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether ``x >= y``."""
def hamming(M: int) -> Array:
    """The window of Hamming: a raised cosine that does not reach 0. Source: `numpy.hamming`."""
def hanning(M: int) -> Array:
    """The window of von Hann: a raised cosine. Source: `numpy.hanning`."""
def heaviside(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """0 where ``x1`` is negative, 1 where it is positive, ``x2`` where it is zero. Source: `numpy.heaviside`."""
def histogram(a: ArrayLike, bins: ArrayLike = 10, range: Sequence[ArrayLike] | None = None, weights: ArrayLike | None = None, density: builtins.bool | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> tuple[Array, ...]:
    """How many values (or how much weight) fall into each bin."""
def histogram2d(x: ArrayLike, y: ArrayLike, bins: ArrayLike | list[ArrayLike] = 10, range: Sequence[ArrayLike | Sequence[ArrayLike] | None] | None = None, weights: ArrayLike | None = None, density: builtins.bool | None = None) -> tuple[Array, ...]:
    """Counts of pairs of values in a grid of bins, and the edges of both axes."""
def histogram_bin_edges(a: ArrayLike, bins: ArrayLike = 10, range: ArrayLike | Sequence[ArrayLike] | None = None, weights: ArrayLike | None = None) -> Array:
    """The edges of the bins that `histogram` uses."""
def histogramdd(sample: ArrayLike, bins: ArrayLike | list[ArrayLike] = 10, range: Sequence[ArrayLike | Sequence[ArrayLike] | None] | None = None, weights: ArrayLike | None = None, density: builtins.bool | None = None) -> tuple[Array, ...]:
    """Counts of points in a grid of bins."""
def hsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along the second axis (the first of vectors)."""
def hstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the second axis (vectors along the first)."""
def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``sqrt(x1**2 + x2**2)`` without overflow of the squares; an infinite side wins over NaN. Its slope at (0, 0) is 0."""
def i0(x: ArrayLike) -> Array:
    """Modified Bessel function of the first kind and order 0. Source: `numpy.i0`."""
def identity(n: int, dtype: DTypeLike | None = None) -> Array:
    """The square matrix with ones on its main diagonal. Source: `numpy.identity`."""
class iinfo:
    bits: int
    dtype: np.dtype[Any]
    kind: str
    max: int
    min: int
    def __init__(self, int_type: DTypeLike | ArrayLike) -> None: ...
def imag(val: ArrayLike, /) -> Array:
    """Imaginary part; zeros for real numbers."""
index_exp: Any
def inner(a: ArrayLike, b: ArrayLike, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products over the last axes of both operands."""
def insert(arr: ArrayLike, obj: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``arr`` with values inserted before some positions of an axis."""
int1: _ScalarType
int16: _ScalarType
int2: _ScalarType
int32: _ScalarType
int4: _ScalarType
int64: _ScalarType
int8: _ScalarType
int_: _ScalarType
def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | str | None = None, right: ArrayLike | str | None = None, period: ArrayLike | None = None) -> Array:
    """Piecewise linear interpolation."""
def invert(x: ArrayLike, /) -> Array:
    """Each bit flipped; logical not for booleans."""
def isclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: builtins.bool = False) -> Array:
    """Whether ``|a - b| <= atol + rtol * |b|``; infinities are close to themselves only."""
def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is not zero. Source: `numpy.iscomplex`."""
def iscomplexobj(x: object) -> builtins.bool:
    """Whether ``x`` has a complex dtype. Source: `numpy.iscomplexobj`."""
def isdtype(dtype: DTypeLike, kind: str | DTypeLike | tuple[str | DTypeLike, ...]) -> builtins.bool:
    """Whether a dtype is of a kind."""
def isfinite(x: ArrayLike, /) -> Array:
    """Whether an element is neither infinite nor NaN."""
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: builtins.bool = False, invert: builtins.bool = False, *, method: str = 'auto') -> Array:
    """Whether each element is among ``test_elements``."""
def isinf(x: ArrayLike, /) -> Array:
    """Whether an element is infinite."""
def isnan(x: ArrayLike, /) -> Array:
    """Whether an element is NaN."""
def isneginf(x: ArrayLike, /, out: None = None) -> Array:
    """Whether an element is negative infinity."""
def isposinf(x: ArrayLike, /, out: None = None) -> Array:
    """Whether an element is positive infinity."""
def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part of an element is zero. Source: `numpy.isreal`."""
def isrealobj(x: object) -> builtins.bool:
    """Whether ``x`` does not have a complex dtype. Source: `numpy.isrealobj`."""
def isscalar(element: object) -> builtins.bool:
    """Whether ``element`` is a number, or an array of rank 0. Source: `numpy.isscalar`."""
def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> builtins.bool:
    """Whether dtype ``arg1`` is, or is a kind of, ``arg2``."""
def iterable(y: object) -> builtins.bool:
    """Whether ``y`` can be iterated over. Source: `numpy.iterable`."""
def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors shaped so that together they index a grid; of a vector of booleans, the true positions."""
def kaiser(M: int, beta: ArrayLike) -> Array:
    """The window of Kaiser with shape parameter ``beta``, which may be traced. Source: `numpy.kaiser`."""
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Kronecker product: ``a`` with each element replaced by its product with ``b``."""
def lcm(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Least common multiple of integers, never negative; 0 where either is 0."""
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1 * 2**x2`` for integers ``x2``, right also where ``2**x2`` overflows."""
def left_shift(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Bits of ``x`` moved up by ``y``."""
def less(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether ``x < y``."""
def less_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether ``x <= y``."""
def lexsort(keys: ArrayLike | Sequence[ArrayLike], axis: int = -1, *, batch_size: int | None = 16) -> Array:
    """The positions that sort by several keys, the last key first."""
def load(file: str | Any | IO[bytes], *args: Any, **kwargs: Any) -> Array:
    """An array from a ``.npy`` file; of other files what `numpy.load` gives. Source: `numpy.load`."""
def log(x: ArrayLike, /) -> Array:
    """Natural logarithm; NaN below 0, -inf at 0."""
def log10(x: ArrayLike, /) -> Array:
    """Logarithm to base 10."""
def log1p(x: ArrayLike, /) -> Array:
    """``log(1 + x)``, accurate for small ``x``."""
def log2(x: ArrayLike, /) -> Array:
    """Logarithm to base 2."""
def logical_not(x: ArrayLike, /) -> Array:
    """Whether the element is false (zero); the result is boolean."""
def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, base: ArrayLike = 10.0, dtype: DTypeLike | None = None, axis: int = 0) -> Array:
    """``base`` to the power of ``num`` evenly spaced exponents; other arguments as for `linspace`."""
def mask_indices(n: int, mask_func: Callable[[ArrayLike, int], ArrayLike], k: int = 0, *, size: int | None = None) -> tuple[Array, ...]:
    """Indices at which ``mask_func(ones((n, n)), k)`` is not zero."""
def matmul(a: ArrayLike, b: ArrayLike, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Product of matrices, of batches of matrices, or of vectors with these."""
def matrix_transpose(x: ArrayLike, /) -> Array:
    """``x`` with its last two axes exchanged. Source: `numpy.matrix_transpose`."""
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of matrices ``(..., m, k)`` and vectors ``(..., k)``."""
def max(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The largest element over axes; NaN if there is one. Ties share the gradient."""
def mean(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, *, where: ArrayLike | None = None) -> Array:
    """Arithmetic mean over axes; NaN of no elements."""
def median(a: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, keepdims: builtins.bool = False) -> Array:
    """The middle element over axes, or the mean of the two middle ones."""
def meshgrid(*xi: Any, copy: builtins.bool = True, sparse: builtins.bool = False, indexing: str = 'xy') -> tuple[Array, ...]:
    """Coordinate arrays of a grid, from one vector of coordinates an axis."""
mgrid: Any
def min(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """The smallest element over axes; arguments as for `max`. Source: `numpy.min`."""
def minmax(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> tuple[Array, Array]:
    """The pair of `min` and `max`."""
def mod(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the divisor, ``x1 - x2 * floor(x1 / x2)``."""
def modf(x: ArrayLike, /, out: None = None) -> tuple[Array, Array]:
    """Fractional and integer part of real numbers, both with the sign of ``x``."""
def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """``a`` with some axes moved; the others keep their order."""
def nan_to_num(x: ArrayLike, copy: builtins.bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None) -> Array:
    """NaN and infinities replaced by finite numbers."""
def nanargmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None) -> Array:
    """`argmax` of the elements that are not NaN; -1 if there are none."""
def nanargmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: builtins.bool | None = None) -> Array:
    """`argmin` of the elements that are not NaN; -1 if there are none."""
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running product with NaN counted as 1."""
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Running sum with NaN counted as 0."""
def nanmax(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`max` of the elements that are not NaN; NaN if there are none."""
def nanmean(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, where: ArrayLike | None = None) -> Array:
    """`mean` of the elements that are not NaN; NaN if there are none."""
def nanmedian(a: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, keepdims: builtins.bool = False) -> Array:
    """`median` of the elements that are not NaN."""
def nanmin(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`min` of the elements that are not NaN; NaN if there are none."""
def nanpercentile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """`nanquantile` with ``q`` in percent."""
def nanprod(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`prod` of the elements that are not NaN."""
def nanquantile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """`quantile` of the elements that are not NaN."""
def nanstd(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None) -> Array:
    """`std` of the elements that are not NaN."""
def nansum(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array:
    """`sum` of the elements that are not NaN."""
def nanvar(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None) -> Array:
    """`var` of the elements that are not NaN."""
ndarray = Array
def ndim(a: ArrayLike) -> int:
    """The number of axes of an array. Source: `numpy.ndim`."""
newaxis: None
def nextafter(x: ArrayLike, y: ArrayLike, /) -> Array:
    """The next representable number after ``x`` towards ``y``."""
def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | tuple[ArrayLike, ...] | None = None) -> tuple[Array, ...]:
    """Positions of the elements that are not zero, one array an axis."""
def not_equal(x: ArrayLike, y: ArrayLike, /) -> Array:
    """Whether elements differ."""
ogrid: Any
def ones(shape: Sequence[int] | int, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of ones; arguments as for `zeros`. Source: `numpy.ones`."""
def ones_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | int | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Ones of the shape and dtype of ``a``, each of which can be given instead."""
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Products of all pairs of elements of two flattened arrays."""
def packbits(a: ArrayLike, axis: int | None = None, bitorder: str = 'big') -> Array:
    """Booleans (or integers: not zero) packed eight to a byte along an axis, with zeros at the end."""
def pad(array: ArrayLike, pad_width: int | ArrayLike | Sequence[Any] | Mapping[int, Any], mode: str | Callable[..., Any] = 'constant', **kwargs: Any) -> Array:
    """``array`` with ``pad_width`` elements put before and after it on each axis."""
def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """``a`` with the element of rank ``kth`` at its place along an axis, none larger before it, none smaller after it."""
def percentile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """`quantile` with ``q`` in percent. Source: `numpy.percentile`."""
def permute_dims(a: ArrayLike, /, axes: tuple[int, ...]) -> Array:
    """`transpose` under its name in the array API standard, where ``axes`` must be given."""
def piecewise(x: ArrayLike, condlist: ArrayLike | Sequence[ArrayLike], funclist: list[ArrayLike | Callable[..., ArrayLike]], *args: Any, **kw: Any) -> Array:
    """For each element the function (or number) of the last condition that holds; one more is the default, else 0."""
def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: builtins.bool = True) -> Array:
    """``arr`` with ``vals``, in order and repeated as needed, where ``mask`` holds. ``inplace`` must be False."""
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with given roots, or the characteristic polynomial of a square matrix."""
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Sum of two polynomials."""
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The ``m``-th derivative of a polynomial. Source: `numpy.polyder`."""
def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: builtins.bool = False) -> tuple[Array, ...]:
    """Quotient and remainder of two polynomials, by long division."""
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The ``m``-th integral of a polynomial, with constants of integration ``k`` (0 by default). Source: `numpy.polyint`."""
def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: builtins.bool = False) -> Array:
    """Product of two polynomials."""
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Difference of two polynomials."""
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int | None = None) -> Array:
    """The polynomial's values, by Horner's rule."""
def positive(x: ArrayLike, /) -> Array:
    """``+x``: the elements unchanged."""
def pow(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1`` to the power ``x2``."""
def power(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """``x1`` to the power ``x2``."""
def printoptions(*args: Any, **kwargs: Any) -> Any:
    """A context manager for NumPy's printing options. Source: `numpy.printoptions`."""
def prod(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: builtins.bool = True) -> Array:
    """Product of elements over axes; arguments as for `sum`. Source: `numpy.prod`."""
def promote_types(a: DTypeLike, b: DTypeLike) -> np.dtype:
    """The dtype that two dtypes combine to, under JAX's promotion rules."""
def ptp(a: ArrayLike, axis: int | Sequence[int] | None = None, out: None = None, keepdims: builtins.bool = False) -> Array:
    """Difference between the largest and the smallest element."""
def put(a: ArrayLike, ind: ArrayLike, v: ArrayLike, mode: str | None = None, *, inplace: builtins.bool = True) -> Array:
    """``a`` with values at positions of the flattened array; ``v`` is repeated as needed."""
def put_along_axis(arr: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None, inplace: builtins.bool = True, *, mode: str | None = None) -> Array:
    """``arr`` with ``values`` at each line's own indices, as `take_along_axis` reads them. ``inplace`` must be False."""
def quantile(a: ArrayLike, q: ArrayLike, axis: int | tuple[int, ...] | None = None, out: None = None, overwrite_input: builtins.bool = False, method: str = 'linear', keepdims: builtins.bool = False, *, weights: ArrayLike | None = None) -> Array:
    """Quantiles over axes."""
r_: Any
def rad2deg(x: ArrayLike, /) -> Array:
    """Radians to degrees."""
def radians(x: ArrayLike, /) -> Array:
    """Degrees to radians."""
def ravel(a: ArrayLike, order: str = 'C', *, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``a`` with one axis; ``order`` "C" or "F" (and "K" is refused)."""
def ravel_multi_index(multi_index: Sequence[ArrayLike], dims: Sequence[int], mode: str = 'raise', order: str = 'C', *, dtype: DTypeLike | None = None) -> Array:
    """Positions in the flattened array from indices, one array an axis."""
def real(val: ArrayLike, /) -> Array:
    """Real part."""
def reciprocal(x: ArrayLike, /) -> Array:
    """``1 / x``."""
def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Remainder with the sign of the divisor, ``x1 - x2 * floor(x1 / x2)``."""
def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None, *, total_repeat_length: int | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Each element (or slice along an axis) repeated."""
def reshape(a: ArrayLike, shape: int | Sequence[int], order: str = 'C', *, copy: builtins.bool | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """``a`` with its elements in another shape."""
def resize(a: ArrayLike, new_shape: Sequence[int]) -> Array:
    """The elements of ``a`` in row-major order, repeated or cut off to fill ``new_shape``. Source: `numpy.resize`."""
def result_type(*args: Any) -> np.dtype:
    """The dtype that combining arrays, numbers and dtypes gives, under JAX's promotion rules."""
def right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Bits of ``x1`` moved down by ``x2``, keeping the sign."""
def rint(x: ArrayLike, /) -> Array:
    """Nearest integer, halves to the even one; of integers and booleans in the default float dtype. Source: `numpy.rint`."""
def roll(a: ArrayLike, shift: ArrayLike | Sequence[int], axis: int | Sequence[int] | None = None) -> Array:
    """``a`` moved along axes, what leaves at one end entering at the other."""
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """``a`` with an axis moved to before position ``start``. Source: `numpy.rollaxis`."""
def roots(p: ArrayLike, *, strip_zeros: builtins.bool = True) -> Array:
    """The roots of a polynomial: eigenvalues of its companion matrix."""
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = ...) -> Array:
    """``m`` turned by ``k`` right angles in the plane of two axes. Source: `numpy.rot90`."""
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """``a`` rounded to a number of decimals, halves to the even digit."""
s_: Any
def save(file: str | Any | IO[bytes], arr: ArrayLike, allow_pickle: builtins.bool = True) -> None:
    """Write an array to a ``.npy`` file."""
def savez(file: str | Any | IO[bytes], *args: Any, allow_pickle: builtins.bool = True, **kwds: Any) -> None:
    """Write several arrays to a ``.npz`` file."""
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = 'left', sorter: ArrayLike | None = None, *, method: str = 'scan') -> Array:
    """The positions in a sorted vector before which values must be inserted to keep it sorted."""
def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Array:
    """For each element the choice of the first condition that holds, else ``default``."""
def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """Set NumPy's printing options. Source: `numpy.set_printoptions`."""
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of the first array that are not in the second. Source: `numpy.setdiff1d`."""
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements that are in exactly one of two arrays, sorted."""
def shape(a: ArrayLike) -> tuple[int, ...]:
    """The shape of an array, () for a number. Warns (DeprecationWarning) about what is neither. Source: `numpy.shape`."""
def sign(x: ArrayLike, /) -> Array:
    """-1, 0 or 1; ``x / |x|`` for complex numbers."""
def signbit(x: ArrayLike, /) -> Array:
    """Whether the sign bit is set: true for negative numbers, -0.0, and NaN with a sign. Source: `numpy.signbit`."""
def sin(x: ArrayLike, /) -> Array:
    """Sine of an angle in radians."""
def sinc(x: ArrayLike, /) -> Array:
    """``sin(pi x) / (pi x)``, which is 1 at 0."""
single: _ScalarType
def sinh(x: ArrayLike, /) -> Array:
    """Hyperbolic sine."""
def size(a: ArrayLike, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, or the length along one axis or several. Source: `numpy.size`."""
def sort(a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None, stable: builtins.bool = True, descending: builtins.bool = False) -> Array:
    """``a`` sorted along an axis; NaN last."""
def sort_complex(a: ArrayLike) -> Array:
    """``a`` as complex numbers, sorted along the last axis by real and then by imaginary part. Source: `numpy.sort_complex`."""
def spacing(x: ArrayLike, /) -> Array:
    """Distance to the next representable number away from zero, with the sign of ``x``; in float16, as in NumPy, to the next larger one."""
def split(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike, axis: int = 0) -> list[Array]:
    """``ary`` cut into pieces along an axis."""
def sqrt(x: ArrayLike, /) -> Array:
    """Square root; NaN below 0."""
def square(x: ArrayLike, /) -> Array:
    """``x * x``."""
def squeeze(a: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """``a`` without axes of length 1."""
def stack(arrays: ArrayLike | Sequence[ArrayLike], axis: int = 0, out: None = None, dtype: DTypeLike | None = None) -> Array:
    """Arrays of one shape joined along a new axis."""
def std(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: int | float | None = None) -> Array:
    """Standard deviation: the square root of `var`, with the same arguments. Source: `numpy.std`."""
def sum(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None, promote_integers: builtins.bool = True) -> Array:
    """Sum of elements over axes."""
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """``a`` with two axes exchanged."""
def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: None = None, mode: str | None = None, unique_indices: builtins.bool = False, indices_are_sorted: builtins.bool = False, fill_value: ArrayLike | None = None) -> Array:
    """The slices of ``a`` at ``indices`` along an axis."""
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1, mode: str | None = None, fill_value: ArrayLike | None = None, *, wrap_negative_indices: builtins.bool = True) -> Array:
    """For each line along an axis, the elements at that line's own indices."""
def tan(x: ArrayLike, /) -> Array:
    """Tangent of an angle in radians."""
def tanh(x: ArrayLike, /) -> Array:
    """Hyperbolic tangent."""
def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[int] | Sequence[Sequence[int]] = 2, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Sum of products over some axes of both operands."""
def tile(A: ArrayLike, reps: int | Sequence[int]) -> Array:
    """``A`` repeated a number of times along each axis."""
def top_k(a: ArrayLike, k: int, /, *, axis: int = -1, mode: str = 'largest', sorted: builtins.bool = True) -> list[Array]:
    """The ``k`` largest (or smallest) elements along an axis and their positions."""
def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: None = None) -> Array:
    """Sum of a diagonal; arguments as for `diagonal`, but that ``offset`` may be traced, and the dtype to sum in. Source: `numpy.trace`."""
def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """``a`` with its axes in another order, reversed by default. Source: `numpy.transpose`."""
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """Integral by the trapezoidal rule."""
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None) -> Array:
    """Ones on and below diagonal ``k``, zeros above. Raises OverflowError for a ``k`` that is no default integer."""
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The lower triangle, up to diagonal ``k``; zeros elsewhere. Source: `numpy.tril`."""
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Indices of the lower triangle of an ``n`` by ``m`` matrix, up to diagonal ``k``. Source: `numpy.tril_indices`."""
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """`tril_indices` for the shape of a matrix."""
def trim_zeros(filt: ArrayLike, trim: str = 'fb', axis: int | Sequence[int] | None = None) -> Array:
    """``filt`` without zeros at its ends."""
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The upper triangle, from diagonal ``k``; zeros elsewhere. Source: `numpy.triu`."""
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """Indices of the upper triangle of an ``n`` by ``m`` matrix, from diagonal ``k``. Source: `numpy.triu_indices`."""
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """`triu_indices` for the shape of a matrix."""
def true_divide(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Quotient of elements, as floats; integers are converted first."""
def trunc(x: ArrayLike) -> Array:
    """The integer part: rounded towards zero. Integers are returned as they are. Source: `numpy.trunc`."""
class ufunc:
    """An elementwise function of arrays, made from a function of numbers."""
    def __call__(self, *args: Any, out: None = None, where: None = None, **unknown: Any) -> Array: ...
    def __init__(self, func: Callable[..., Any], /, nin: int, nout: int, *, name: str | None = None, nargs: int | None = None, identity: object | None = None, call: Callable[..., Any] | None = None, reduce: Callable[..., Any] | None = None, accumulate: Callable[..., Any] | None = None, at: Callable[..., Any] | None = None, reduceat: Callable[..., Any] | None = None) -> None: ...
    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None) -> Array: ...
    def at(self, a: ArrayLike, indices: ArrayLike, b: ArrayLike | None = None, *, inplace: builtins.bool = True) -> Array: ...
    @property
    def identity(self) -> Any: ...
    @property
    def nargs(self) -> Any: ...
    @property
    def nin(self) -> Any: ...
    @property
    def nout(self) -> Any: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array: ...
    def reduce(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None, keepdims: builtins.bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None) -> Array: ...
    def reduceat(self, a: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None) -> Array: ...
uint: _ScalarType
uint1: _ScalarType
uint16: _ScalarType
uint2: _ScalarType
uint32: _ScalarType
uint4: _ScalarType
uint64: _ScalarType
uint8: _ScalarType
def union1d(ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements of two arrays together, sorted. Source: `numpy.union1d`."""
def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """Distinct elements; NaN are distinct."""
def unpackbits(a: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = 'big') -> Array:
    """The bits of bytes along an axis, as uint8."""
def unravel_index(indices: ArrayLike, shape: Sequence[int] | int) -> tuple[Array, ...]:
    """Indices, one array an axis, from positions in the flattened array; those out of bounds are limited to it."""
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The slices of ``x`` along an axis, which they do not have. Source: `numpy.unstack`, array API standard."""
def unwrap(p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 6.283185307179586) -> Array:
    """``p`` with multiples of ``period`` added so that no step is larger than half of it."""
def vander(x: ArrayLike, N: int | None = None, increasing: builtins.bool = False) -> Array:
    """Matrix of powers of the elements of a vector, one row each, falling unless ``increasing``. Source: `numpy.vander`."""
def var(a: ArrayLike, axis: int | Sequence[int] | None = None, dtype: DTypeLike | None = None, out: None = None, ddof: int = 0, keepdims: builtins.bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: int | float | None = None) -> Array:
    """Variance over axes: the mean of squared distances from the mean."""
def vdot(a: ArrayLike, b: ArrayLike, *, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products of all elements, those of ``a`` conjugated."""
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None, preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products along an axis, those of ``x1`` conjugated; other axes broadcast."""
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of vectors ``(..., k)``, conjugated, and matrices ``(..., k, n)``."""
def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = ..., signature: str | None = None) -> Callable[..., Any]:
    """``pyfunc`` mapped over all axes of its arguments, which broadcast; by `vmap`, so that it is fast."""
def vsplit(ary: ArrayLike, indices_or_sections: Sequence[int] | ArrayLike) -> list[Array]:
    """`split` along the first axis."""
def vstack(tup: ArrayLike | Sequence[ArrayLike], dtype: DTypeLike | None = None) -> Array:
    """Arrays joined along the first axis; vectors count as rows."""
def zeros(shape: Sequence[int] | int, dtype: DTypeLike | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of zeros."""
def zeros_like(a: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | int | None = None, *, device: Sharding | PartitionSpec | Device | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Zeros of the shape and dtype of ``a``, each of which can be given instead."""
class _UfuncOfOne(ufunc):
    def __call__(self, x: ArrayLike, /, out: None = None, where: None = None) -> Array: ...  # type: ignore[override]
class _UfuncOfTwo(ufunc):
    def __call__(self, x1: ArrayLike, x2: ArrayLike, /, out: None = None, where: None = None) -> Array: ...  # type: ignore[override]
add: _UfuncOfTwo
bitwise_and: _UfuncOfTwo
bitwise_or: _UfuncOfTwo
bitwise_xor: _UfuncOfTwo
logaddexp: _UfuncOfTwo
logaddexp2: _UfuncOfTwo
logical_and: _UfuncOfTwo
logical_or: _UfuncOfTwo
logical_xor: _UfuncOfTwo
maximum: _UfuncOfTwo
minimum: _UfuncOfTwo
multiply: _UfuncOfTwo
negative: _UfuncOfOne
subtract: _UfuncOfTwo
class _ScalarType(np.dtype[Any]):  # type: ignore[misc]  # so that it is one to type checkers, as in ``dtype: jnp.dtype = jnp.float32``
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __call__(self, x: Any = 0) -> Array: ...
e: float
pi: float
euler_gamma: float
inf: float
nan: float
@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Elements of one array or of another; with one argument, the indices of nonzero elements."""
@overload
def where(condition: ArrayLike, x: None = None, y: None = None, /, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]: ...
@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, retstep: Literal[False] = False, dtype: DTypeLike | None = None, axis: int = 0, *, device: Any = None) -> Array:
    """Evenly spaced numbers."""
@overload
def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: builtins.bool = True, *, retstep: Literal[True], dtype: DTypeLike | None = None, axis: int = 0, device: Any = None) -> tuple[Array, Array]: ...
@overload
def average(a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None, returned: Literal[False] = False, keepdims: builtins.bool = False) -> Array:
    """Weighted mean over axes."""
@overload
def average(a: ArrayLike, axis: int | Sequence[int] | None = None, weights: ArrayLike | None = None, *, returned: Literal[True], keepdims: builtins.bool = False) -> tuple[Array, Array]: ...
@overload
def atleast_1d(x: ArrayLike, /) -> Array:
    """At least one axis."""
@overload
def atleast_1d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def atleast_2d(x: ArrayLike, /) -> Array:
    """At least two axes."""
@overload
def atleast_2d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def atleast_3d(x: ArrayLike, /) -> Array:
    """At least three axes."""
@overload
def atleast_3d(*arys: ArrayLike) -> tuple[Array, ...]: ...
@overload
def unique(ar: ArrayLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: int | None = None, *, equal_nan: builtins.bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True) -> Array:
    """The distinct elements of an array, or its distinct slices along an axis, sorted."""
@overload
def unique(ar: ArrayLike, return_index: Literal[True], return_inverse: builtins.bool = False, return_counts: builtins.bool = False, axis: int | None = None, *, equal_nan: builtins.bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True) -> tuple[Array, ...]: ...
@overload
def unique(ar: ArrayLike, return_index: builtins.bool = False, *, return_inverse: Literal[True], return_counts: builtins.bool = False, axis: int | None = None, equal_nan: builtins.bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True) -> tuple[Array, ...]: ...
@overload
def unique(ar: ArrayLike, return_index: builtins.bool = False, return_inverse: builtins.bool = False, *, return_counts: Literal[True], axis: int | None = None, equal_nan: builtins.bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True) -> tuple[Array, ...]: ...
@overload
def unique(ar: ArrayLike, return_index: builtins.bool = False, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, axis: int | None = None, *, equal_nan: builtins.bool = True, size: int | None = None, fill_value: ArrayLike | None = None, sorted: builtins.bool = True) -> Any: ...
class _UniqueAll(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array
class _UniqueCounts(NamedTuple):
    values: Array
    counts: Array
class _UniqueInverse(NamedTuple):
    values: Array
    inverse_indices: Array
def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueAll:
    """Distinct elements, first positions, inverse positions and counts; NaN are distinct."""
def unique_counts(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueCounts:
    """Distinct elements and counts; NaN are distinct."""
def unique_inverse(x: ArrayLike, /, *, size: int | None = None, fill_value: ArrayLike | None = None) -> _UniqueInverse:
    """Distinct elements and inverse positions; NaN are distinct."""
@overload
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, return_indices: Literal[False] = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Array:
    """The distinct elements that are in both arrays, sorted, and where each first comes if asked for."""
@overload
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, *, return_indices: Literal[True], size: int | None = None, fill_value: ArrayLike | None = None) -> tuple[Array, Array, Array]: ...
@overload
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False, return_indices: builtins.bool = False, *, size: int | None = None, fill_value: ArrayLike | None = None) -> Any: ...
@overload
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: Literal[False] = False) -> Array:
    """The coordinates of every element of a grid, one array an axis; stacked unless ``sparse``."""
@overload
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, *, sparse: Literal[True]) -> tuple[Array, ...]: ...
@overload
def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: builtins.bool = False) -> Any: ...
@overload
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: ArrayLike | None = None, full: Literal[False] = False, w: ArrayLike | None = None, cov: Literal[False] = False) -> Array:
    """The polynomial of degree ``deg`` that fits points best, in the least-squares sense."""
@overload
def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: ArrayLike | None = None, full: builtins.bool = False, w: ArrayLike | None = None, cov: builtins.bool | str = False) -> Any: ...
