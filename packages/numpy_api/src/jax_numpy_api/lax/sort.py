"""Sorting: `sort` of several operands by one or more keys, `top_k`, and their approximate kin.

The order of numbers: NaN last, whatever its sign; -0.0 and 0.0 are equal; subnormal numbers in their order; complex numbers by real, then imaginary
part. Sorting is stable.

On CPU, XLA calls its own fast integer sort only for one operand with a plain comparison; a comparator for floats, or a
second operand, is four to five times slower. So the order is computed on integers there: a key becomes 32-bit digits
that sort the same way; a digit and the element's position share one 64-bit integer; sorting these gives the
permutation, and a gather applies it. Wider or further keys take one such pass for each digit, the least significant
first. Two integers, of which nothing else is sorted along, are one word themselves.

Source: StableHLO specification, `sort`; Knuth, "The Art of Computer Programming", vol. 3, section 5.2.5 (sorting by digits).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, overload

import numpy as np

from jax_core.representation import dtypes, source
from jax_core.representation.arguments import integer
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Inner, Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import bdim_at_front
from jax_numpy_api import lax

from .nary import flag, promise, refuse_keys, whole_bytes

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.typing import DTypeLike

_NAN_BITS = {np.int32: 0x7FC00000, np.int64: 0x7FF8000000000000}
_FEW = (128, 1024, 1 << 14, 1 << 14)
"""Up to so many elements, by digits, one sort with a comparator of all keys takes hardly longer to run, and a fourth of the time to compile: 1000 numbers
by two keys 0.08 and 16 ms, and by digits 0.07 and 90; beyond the last it is always faster. Of more than two operands it takes twice as long."""


def take_along(x: Array, indices: Array, axis: int) -> Any:
    """``x`` at ``indices`` along one axis; the other axes are those of the indices. Indices must be in bounds, so that there are
    none of an axis without elements."""
    if np.shape(x)[axis] == 0:
        return x
    rest = tuple(i for i in range(np.ndim(x)) if i != axis)
    numbers = lax.GatherDimensionNumbers((), (axis,), (axis,), rest, rest)
    sizes = tuple(min(1, n) if i != axis else 1 for i, n in enumerate(np.shape(x)))
    starts = lax.expand_dims(indices, (np.ndim(indices),))
    return lax.gather(x, starts, numbers, sizes, mode="promise_in_bounds")


# -- digits, in StableHLO --------------------------------------------------------------------------------------------

class _Digits:
    """Emits the integers that keys are sorted by. Attributes: ``b``, the builder; ``shape`` of all arrays."""

    def __init__(self, b, shape):
        self.b, self.shape = b, shape

    def op(self, text: str, *operands, dtype: DTypeLike | None = None):
        dtype = operands[0].aval.dtype if dtype is None else np.dtype(dtype)
        return self.b.emit(text, *operands, out=ShapedArray(self.shape, dtype))

    def full(self, value: ArrayLike, dtype: DTypeLike | None):
        return self.b.full(value, ShapedArray(self.shape, dtype))

    def binary(self, name: str, x: Value, value: ArrayLike):
        y = self.full(value, x.aval.dtype)
        return self.op(f"stablehlo.{name} {x}, {y}", x, y)

    def compare(self, direction: str, x: Value, y: Value):
        kind = "FLOAT" if dtypes.issubdtype(x.aval.dtype, np.floating) else "SIGNED"
        return self.op(f"stablehlo.compare {direction}, {x}, {y}, {kind}", x, y, dtype=bool)

    def select(self, where: Value, x: Value, y: Value):
        return self.op(f"stablehlo.select {where}, {x}, {y}", where, x, y, dtype=x.aval.dtype)

    def of(self, x: Value, total: bool = False):
        """Digits, most significant first: int64 arrays of signed 32-bit values. ``total``: tell zeros and NaNs apart by sign."""
        dtype = x.aval.dtype
        if dtypes.issubdtype(dtype, np.complexfloating):
            part = np.float32 if dtype == np.complex64 else np.float64
            real = self.op(f"stablehlo.real {x}", x, dtype=part)
            return self.of(real) + self.of(self.op(f"stablehlo.imag {x}", x, dtype=part))
        if dtypes.issubdtype(dtype, np.floating):
            return self.of_float(x, total)
        if dtype.itemsize < 8:
            wide = self.b.convert(x, np.dtype(np.int64))
            return [self.binary("subtract", wide, 2**31)] if dtype == np.uint32 else [wide]
        if dtype == np.uint64:
            x = self.op(f"stablehlo.xor {x}, {(top := self.full(2**63, dtype))}", x, top)
            x = self.op(f"stablehlo.bitcast_convert {x}", x, dtype=np.int64)
        return self.halves(x)

    def back(self, digit: Value, dtype: np.dtype):
        """The integers of up to 32 bits whose digit it is."""
        return self.b.convert(self.binary("add", digit, 2**31) if dtype == np.uint32 else digit, dtype)

    def halves(self, x: Value):
        high = self.binary("shift_right_arithmetic", x, 32)
        low = self.binary("subtract", self.binary("and", x, 0xFFFFFFFF), 2**31)
        return [high, low]

    def of_float(self, x: Value, total: bool):
        wide = x.aval.dtype.itemsize == 8
        floating, integer = (np.float64, np.int64) if wide else (np.float32, np.int32)
        top = 2**63 - 1 if wide else 2**31 - 1
        x = self.b.convert(x, np.dtype(floating))
        bits = self.op(f"stablehlo.bitcast_convert {x}", x, dtype=integer)
        if not total:  # -0.0 is told by its bits: to the processor, as XLA sets it, subnormal numbers are zeros too
            negative_zero = self.full(-1 - top, integer)
            bits = self.select(self.compare("EQ", bits, negative_zero), self.full(0, integer), bits)
            bits = self.select(self.compare("NE", x, x), self.full(_NAN_BITS[integer], integer), bits)
        sign = self.binary("shift_right_arithmetic", bits, 63 if wide else 31)
        flips = self.binary("and", sign, top)
        bits = self.op(f"stablehlo.xor {bits}, {flips}", bits, flips)
        return self.halves(bits) if wide else [self.b.convert(bits, np.dtype(np.int64))]


def _count_digits(dtype) -> int:
    if dtypes.issubdtype(dtype, np.complexfloating):
        return dtype.itemsize // 4
    return 2 if dtype.itemsize == 8 else 1


def _emit_iota(b, shape, dimension, dtype):
    return b.emit(f'"stablehlo.iota"() {{iota_dimension = {dimension} : i64}}', out=ShapedArray(shape, dtype))


def _emit_sort(b, operands, dimension, key_types, comparator, stable=True):
    scalars = [ShapedArray((), x.aval.dtype) for x in operands for _ in range(2)]
    region = b.region(scalars, lambda inner, *args: [comparator(inner, args, key_types)])
    names = ", ".join(map(str, operands))
    return b.emit(f'"stablehlo.sort"({names}) ({region})', *operands, out=[x.aval for x in operands],
                  attrs=f"{{dimension = {dimension} : i64, is_stable = {'true' if stable else 'false'}}}")


def _emit_less(b, x, y, kind=None):
    dtype = x.aval.dtype
    kind = kind or ("TOTALORDER" if dtypes.issubdtype(dtype, np.floating) else
                    "UNSIGNED" if dtype == bool or dtypes.issubdtype(dtype, np.unsignedinteger) else "SIGNED")
    return b.emit(f"stablehlo.compare LT, {x}, {y}, {kind}", x, y, out=ShapedArray((), bool))


def _first_less(b, args, key_types):
    return _emit_less(b, args[0], args[1])


def _emit_take(b, x, indices, dimension):
    return b.fun(take_along, x, indices, axis=dimension)[0]


def emit_order(b: Builder, digits: Sequence[Value], dimension: int) -> Any:
    """The permutation (int32) along ``dimension`` that sorts by ``digits``, most significant first, stably."""
    shape = digits[0].aval.shape
    d = _Digits(b, shape)
    position = _emit_iota(b, shape, dimension, np.int64)
    order = None
    for digit in reversed(digits):
        if order is not None:
            digit = _emit_take(b, digit, order, dimension)
        packed = d.binary("shift_left", digit, 32)
        packed = d.op(f"stablehlo.or {packed}, {position}", packed, position)
        (packed,) = _emit_sort(b, [packed], dimension, None, _first_less)
        step = b.convert(d.binary("and", packed, 0xFFFFFFFF), np.dtype(np.int32))
        order = step if order is None else _emit_take(b, order, step, dimension)
    return order


# -- one sort with a comparator --------------------------------------------------------------------------------------

def _compare_keys(b, args, num_keys):
    """Lexicographic comparison of the first ``num_keys`` pairs among ``args``."""
    pairs = []
    for i in range(num_keys):
        x, y = args[2 * i], args[2 * i + 1]
        if dtypes.issubdtype(x.aval.dtype, np.complexfloating):
            part = np.dtype(np.float32 if x.aval.dtype == np.complex64 else np.float64)
            for op in ("real", "imag"):
                pairs.append(tuple(_canonical(b, b.emit(f"stablehlo.{op} {z}", z, out=ShapedArray((), part))) for z in (x, y)))
        elif dtypes.issubdtype(x.aval.dtype, np.floating):
            pairs.append((_canonical(b, x), _canonical(b, y)))
        else:
            pairs.append((x, y))
    less = _emit_less(b, *pairs[-1])
    truth = ShapedArray((), bool)
    for x, y in reversed(pairs[:-1]):
        before, after = _emit_less(b, x, y), _emit_less(b, y, x)
        tied = b.emit(f"stablehlo.select {after}, {(no := b.scalar(False, np.dtype(bool)))}, {less}", after, no, less, out=truth)
        less = b.emit(f"stablehlo.or {before}, {tied}", before, tied, out=truth)
    return less


def _canonical(b, x):
    """One zero and one NaN for all.

    -0.0 is told by its bits: to the processor, as XLA sets it, subnormal numbers are zeros too. GPUs tell these apart, and XLA's compiler
    for them knows an order whose zeros are compared as numbers: it sorts by radix then.
    """
    if x.aval.dtype == dtypes.bfloat16 and b.platform == "cpu":  # processors may round a chosen number once more, and subnormal ones to 0
        x = b.convert(x, np.dtype(np.float32))
    dtype, truth = x.aval.dtype, ShapedArray((), bool)
    zero, nan = b.scalar(0, dtype), b.scalar(np.nan, dtype)
    if b.platform in ("cuda", "rocm"):
        is_zero = b.emit(f"stablehlo.compare EQ, {x}, {zero}, FLOAT", x, zero, out=truth)
    else:
        whole = np.dtype(f"uint{8 * dtype.itemsize}")
        negative_zero = b.scalar(1 << 8 * dtype.itemsize - 1, whole)
        bits = b.emit(f"stablehlo.bitcast_convert {x}", x, out=ShapedArray((), whole))
        is_zero = b.emit(f"stablehlo.compare EQ, {bits}, {negative_zero}, UNSIGNED", bits, negative_zero, out=truth)
    one_zero = b.emit(f"stablehlo.select {is_zero}, {zero}, {x}", is_zero, zero, x, out=x.aval)
    is_nan = b.emit(f"stablehlo.compare NE, {x}, {x}, FLOAT", x, x, out=truth)
    return b.emit(f"stablehlo.select {is_nan}, {nan}, {one_zero}", is_nan, nan, one_zero, out=x.aval)


# -- digits, in NumPy ------------------------------------------------------------------------------------------------

def _numpy_digits(x: np.ndarray) -> list[np.ndarray]:
    dtype = x.dtype
    if dtype.kind == "c":
        return _numpy_digits(x.real) + _numpy_digits(x.imag)
    if dtypes.issubdtype(dtype, np.floating):
        wide = dtype.itemsize == 8
        x = x.astype(np.dtype(np.float64 if wide else np.float32)) + 0.0  # adding 0.0 turns -0.0 into 0.0
        bits = np.where(x != x, np.asarray(np.nan, x.dtype), x).view(np.dtype(np.int64 if wide else np.int32))
        bits = bits ^ ((bits >> (63 if wide else 31)) & (2**63 - 1 if wide else 2**31 - 1))
        return _numpy_halves(bits) if wide else [bits.astype(np.int64)]
    if dtype.itemsize < 8:
        wide_x = x.astype(np.int64)
        return [wide_x - 2**31] if dtype == np.uint32 else [wide_x]
    if dtype == np.uint64:
        x = (x ^ np.uint64(2**63)).view(np.int64)
    return _numpy_halves(x)


def _numpy_halves(x):
    return [x >> 32, (x & 0xFFFFFFFF) - 2**31]


def _numpy_order(keys: Sequence[np.ndarray], axis: int) -> np.ndarray:
    digits = [digit for key in keys for digit in _numpy_digits(key)]
    n = digits[0].shape[axis]
    position = np.arange(n).reshape([-1 if i == axis else 1 for i in range(digits[0].ndim)])
    order: Any = None
    for digit in reversed(digits):
        if order is not None:
            digit = _numpy_take(digit, order, axis)
        step = np.sort(digit << 32 | position, axis) & 0xFFFFFFFF
        order = step if order is None else _numpy_take(order, step, axis)
    return order


def _numpy_take(x: np.ndarray, order: np.ndarray, axis: int) -> np.ndarray:
    return x[order] if x.ndim == 1 else np.take_along_axis(x, order, axis)


def _sort_reference(*xs, dimension, is_stable, num_keys):
    xs = [np.asarray(x) for x in xs]
    if len(xs) == 1 and xs[0].dtype.kind in "biuf":
        out = np.sort(xs[0], dimension)
        zeros_differ = xs[0].dtype.kind == "f" and np.signbit(out[out == 0]).any()
        return [np.sort(xs[0], dimension, kind="stable") if zeros_differ else out]
    order = _numpy_order(xs[:num_keys], dimension)
    return [_numpy_take(x, order, dimension) for x in xs]


# -- sort ------------------------------------------------------------------------------------------------------------

def _sort_type(*xs, dimension, is_stable, num_keys):
    if any(x.shape != xs[0].shape for x in xs):
        raise TypeError(f"Arguments to sort must have equal shapes, got: {' '.join(str(x.shape) for x in xs)}")
    for i, x in enumerate(xs):
        if isinstance(x.dtype, dtypes.ExtendedDType):
            raise TypeError(f"sort: keys must be numbers or booleans, got {x.str_short()}." if i < num_keys else
                            f"sort: operand {i} is {x.str_short()}, and only numbers and booleans are carried along; sort positions "
                            "(lax.iota) and index with them")
    return list(xs)


def _sort_jvp(primals, tangents, *, dimension, is_stable, num_keys):
    """Tangents follow their elements: the sort carries positions along, and a gather moves the tangents."""
    shape = np.shape(primals[0])
    live = [not isinstance(t, Zero) for t in tangents]
    params = dict(dimension=dimension, is_stable=is_stable, num_keys=num_keys)
    if not any(live):
        outs = sort_p.bind(*primals, **params)
        return outs, [Zero.of(x) for x in outs]
    positions = lax.broadcasted_iota(np.int32, shape, dimension)
    *outs, order = sort_p.bind(*primals, positions, **params)
    moved_tangents = [take_along(t, order, dimension) if ok else Zero.of(x) for t, ok, x in zip(tangents, live, outs)]
    return outs, moved_tangents


def _sort_batch(axis, args, dims, *, dimension, is_stable, num_keys):
    first = next(d for d in dims if d is not None)
    if all(d == first for d in dims):
        return sort_p.bind(*args, dimension=dimension + (first <= dimension), is_stable=is_stable,
                           num_keys=num_keys), [first] * len(args)
    args = [bdim_at_front(x, d, axis) for x, d in zip(args, dims)]
    return sort_p.bind(*args, dimension=dimension + 1, is_stable=is_stable, num_keys=num_keys), [0] * len(args)


def _sort_lower(b, *xs, dimension, is_stable, num_keys):
    aval = xs[0].aval
    if (aval.size == 0 or aval.shape[dimension] == 1) and not b.one_form:
        return list(xs)
    outs = _sort_whole_bytes(b, [whole_bytes(b, x) for x in xs], dimension, is_stable, num_keys)
    return [b.convert(out, x.aval.dtype) for out, x in zip(outs, xs)]


def _sort_whole_bytes(b, xs, dimension, is_stable, num_keys):
    aval = xs[0].aval
    whole = [dtypes.issubdtype(x.aval.dtype, np.integer) for x in xs[:num_keys]]
    plain = len(xs) == 1 and whole[0]
    open_split = b.partitioned and aval.placement is None  # the axis may be split, and to take elements by their order then gathers them
    if b.platform != "cpu" or plain or open_split or aval.shape[dimension] >= 2**31 or _compares(b, xs, num_keys):
        # elsewhere than on the CPU a stable sort carries positions along, which one operand of integers never needs
        return _emit_sort(b, list(xs), dimension, num_keys, _compare_keys, b.platform == "cpu" or is_stable and not plain)
    d = _Digits(b, aval.shape)
    if num_keys == len(xs) == 2 and all(whole) and max(x.aval.dtype.itemsize for x in xs) < 8:
        return _sort_pairs(d, xs, dimension)
    order = emit_order(b, [digit for x in xs[:num_keys] for digit in d.of(x)], dimension)
    return [_emit_take(b, x, order, dimension) for x in xs]


def _compares(b, xs, num_keys):
    """Whether one sort with a comparator is better than one for each digit."""
    first, digits = xs[0].aval, sum(_count_digits(x.aval.dtype) for x in xs[:num_keys])
    if digits > len(_FEW) or num_keys == 1 and len(xs) == 2 and first.dtype.itemsize == 8 and dtypes.issubdtype(first.dtype, np.integer):
        return True
    return not b.one_form and first.size <= (_FEW[digits - 1] if len(xs) <= 2 else 64 << digits)


def _sort_pairs(d, xs, dimension):
    """Pairs of integers of up to 32 bits, each as one word; equal ones are the same."""
    (high,), (low,) = map(d.of, xs)
    high, low = d.binary("shift_left", high, 32), d.binary("add", low, 2**31)
    packed, = _emit_sort(d.b, [d.op(f"stablehlo.or {high}, {low}", high, low)], dimension, None, _first_less)
    digits = d.binary("shift_right_arithmetic", packed, 32), d.binary("subtract", d.binary("and", packed, 0xFFFFFFFF), 2**31)
    return [d.back(digit, x.aval.dtype) for digit, x in zip(digits, xs)]


def _sort_dce(eqn, used):
    """Operands that are no keys and that nobody reads need not be carried along."""
    kept = [i for i, u in enumerate(used) if u or i < eqn.params["num_keys"]]
    return eqn.replace(invars=[eqn.invars[i] for i in kept], outvars=[eqn.outvars[i] for i in kept])


sort_p = Primitive(
    "sort", multiple_results=True, out_type=_sort_type, jvp=_sort_jvp,
    transpose=none("sort is not linear, so it has no transpose"), batch=_sort_batch, lower=_sort_lower,
    reference=_sort_reference, exact=True,
    dce=_sort_dce, traits=Traits(Kind.SORT, inner=Inner.PIECES, fast_on_host=True))


@overload
def sort(operand: ArrayLike, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Array: ...
@overload
def sort(operand: Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> tuple[Array, ...]: ...
def sort(operand: ArrayLike | Sequence[ArrayLike], dimension: int = -1, is_stable: bool = True,
         num_keys: int = 1) -> Array | tuple[Array, ...]:
    """Sort along one axis, in ascending order.

    Args:
      operand: an array, or a sequence of arrays of one shape that are sorted together.
      dimension: the axis.
      is_stable: equal elements keep their order (on the CPU they always do).
      num_keys: how many of the operands decide the order, the first most of all.

    Returns:
      an array, or a tuple of arrays for a sequence.

    Raises:
      TypeError: shapes differ, or no operand. ValueError: bad axis or number of keys.

    Source: StableHLO `sort`.

    >>> lax.sort(jnp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    many = isinstance(operand, (list, tuple))
    operands: tuple = tuple(operand) if isinstance(operand, (list, tuple)) else (operand,)
    if not operands:
        raise TypeError("Sort requires at least one operand")
    num_keys = integer("lax.sort: num_keys", num_keys)
    if not 1 <= num_keys <= len(operands):
        limit = f"must be between 1 and len(operand)={len(operands)}" if many else "must equal 1 for a single operand."
        raise ValueError(f"num_keys={num_keys} {limit}")
    axis = _axis(dimension, np.ndim(operands[0]))
    outs = sort_p.bind(*operands, dimension=axis, is_stable=promise("lax.sort: is_stable", is_stable), num_keys=num_keys)
    return tuple(outs) if many else outs[0]


def _axis(axis, rank):
    axis = integer("the axis to sort along", axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{source.entered('jax_numpy_api')}axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def sort_key_val(keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """``keys`` sorted along one axis, and ``values`` in the same order. See `sort`. Source: StableHLO `sort`.

    >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([30, 10, 20]))
    (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    keys_sorted, values_sorted = sort((keys, values), dimension, is_stable, 1)
    return keys_sorted, values_sorted


# -- top_k -----------------------------------------------------------------------------------------------------------

def _top_k_type(x, *, k, axis, is_stable=True):
    refuse_keys("top_k", x)
    if dtypes.issubdtype(x.dtype, np.complexfloating):
        raise ValueError("top_k is not compatible with complex inputs.")
    n = x.shape[axis]
    if k < 0:
        raise ValueError(f"lax.top_k: k must be at least 0, got {k}")
    if k > n:
        raise ValueError(f"lax.top_k: k={k} asks for more than the {n} elements along axis {axis} of {x.str_short()}")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1:])
    return [ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, np.int32, x.weak_type)]


def _top_k_jvp(primals, tangents, *, k, axis, is_stable=True):
    values, indices = top_k_p.bind(*primals, k=k, axis=axis, is_stable=is_stable)
    (g,) = tangents
    tangent = Zero.of(values) if isinstance(g, Zero) else take_along(g, indices, axis)
    return [values, indices], [tangent, Zero.of(indices)]


def _top_k_batch(axis_data, args, dims, *, k, axis, is_stable=True):
    (x,), (d,) = args, dims
    return top_k_p.bind(x, k=k, axis=axis + (d <= axis), is_stable=is_stable), [d, d]


def _top_k_lower(b, x, *, k, axis, is_stable=True):
    shape = x.aval.shape
    last = len(shape) - 1
    if 0 in shape or k == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    open_split = b.partitioned and x.aval.placement is None
    if b.platform == "cpu" and not open_split and k > shape[axis] // 8 and shape[axis] > 256 and _count_digits(x.aval.dtype) == 1:
        return _top_k_by_sorting(b, x, k, axis)
    whole = whole_bytes(b, x)
    if whole is not x:
        values, indices = _emit_top_k(b, whole, k, axis, last, is_stable)
        return [b.convert(values, x.aval.dtype), indices]
    if x.aval.dtype == bool:
        values, indices = _emit_top_k(b, b.convert(x, np.dtype(np.int8)), k, axis, last, is_stable)
        return [b.fun(_truth, values)[0], indices]
    return _emit_top_k(b, x, k, axis, last, is_stable)


def _truth(x):
    return lax.ne(x, np.zeros((), x.dtype)[()])


def _emit_top_k(b, x, k, axis, last, is_stable):
    """The op works on the last axis; others are transposed there and back."""
    if axis != last:
        order = [i for i in range(last + 1) if i != axis] + [axis]
        back = [order.index(i) for i in range(last + 1)]
        moved_x = b.emit(f"stablehlo.transpose {x}, dims = {order}", x,
                         out=x.aval.update(shape=[x.aval.shape[i] for i in order]))
        outs = _emit_top_k(b, moved_x, k, last, last, is_stable)
        return [b.emit(f"stablehlo.transpose {y}, dims = {back}", y,
                       out=y.aval.update(shape=[y.aval.shape[i] for i in back])) for y in outs]
    shape = (*x.aval.shape[:-1], k)
    outs = [ShapedArray(shape, x.aval.dtype), ShapedArray(shape, np.int32)]
    order = "" if is_stable or not b.unstable_top_k else ", is_stable = false"
    return b.emit(f"chlo.top_k({x}, k = {k}{order})", x, out=outs)


def _top_k_by_sorting(b, x, k, axis):
    """For a large part of the array a whole sort is faster than the partial one."""
    d = _Digits(b, x.aval.shape)
    (digit,) = d.of(x, total=True)
    order = emit_order(b, [d.op(f"stablehlo.not {digit}", digit)], axis)
    order = b.fun(lax.slice_in_dim, order, start_index=0, limit_index=k, axis=axis)[0]
    return [_emit_take(b, x, order, axis), order]


top_k_p = Primitive(
    "top_k", multiple_results=True, out_type=_top_k_type, jvp=_top_k_jvp,
    transpose=none("top_k is not linear, so it has no transpose"), batch=_top_k_batch, lower=_top_k_lower,
    traits=Traits(Kind.SORT))


def top_k(operand: ArrayLike, k: int, *, axis: int = -1, is_stable: bool = True) -> list[Any]:
    """The ``k`` largest elements along one axis, in descending order, and their positions (int32).

    NaN counts as larger than all numbers, or by its sign bit as smaller.

    Args:
      operand: an array of real numbers.
      k: how many, at most the axis's length.
      axis: which axis.
      is_stable: whether of equal elements the first comes first; if not, the compiler may be faster (from jaxlib 0.12 on).

    Raises:
      ValueError: k is negative or too large, the operand is complex, or its axis too long for int32 positions.

    Source: CHLO `top_k`.

    >>> lax.top_k(jnp.array([3., 9., 4.]), 2)
    [Array([9., 4.], dtype=float32), Array([1, 2], dtype=int32)]
    """
    shape = np.shape(operand)
    if shape and shape[_axis(axis, len(shape))] > np.iinfo(np.int32).max:
        raise ValueError(f"lax.top_k returns int32 indices, which will overflow along axis {axis} of an operand of shape {shape}")
    return list(top_k_p.bind(operand, k=integer("lax.top_k: k", k), axis=_axis(axis, np.ndim(operand)), is_stable=flag(is_stable)))


# -- approximate top_k -----------------------------------------------------------------------------------------------

def _approx_type(x, *, k, reduction_dimension, is_max_k, aggregate_to_topk, **_):
    if not dtypes.issubdtype(x.dtype, np.floating):
        raise ValueError(f"approx_top_k: operand must be a floating type, got {x.str_short()}")
    n = x.shape[reduction_dimension]
    if k <= 0:
        raise ValueError(f"k must be positive, got {k}")
    if k > n:
        raise ValueError(f"k must be smaller than the size of reduction_dim {n}, got {k}")
    shape = list(x.shape)
    shape[reduction_dimension] = k if aggregate_to_topk else n
    return [ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, np.int32, x.weak_type)]


def _approx_jvp(primals, tangents, *, reduction_dimension, **params):
    values, indices = approx_top_k_p.bind(*primals, reduction_dimension=reduction_dimension, **params)
    (g,) = tangents
    axis = reduction_dimension % np.ndim(primals[0])
    tangent = Zero.of(values) if isinstance(g, Zero) else take_along(g, indices, axis)
    return [values, indices], [tangent, Zero.of(indices)]


def _approx_batch(axis_data, args, dims, *, reduction_dimension, **params):
    (x,), (d,) = args, dims
    axis = reduction_dimension % (np.ndim(x) - 1)
    return approx_top_k_p.bind(x, reduction_dimension=axis + (d <= axis), **params), [d, d]


def _exact_top_k(x, *, k, reduction_dimension, is_max_k, aggregate_to_topk, **_):
    """What the approximation approximates; a recall of 1 meets every target."""
    axis = reduction_dimension % np.ndim(x)
    k = k if aggregate_to_topk else np.shape(x)[axis]
    values, indices = top_k(x if is_max_k else lax.neg(x), k, axis=axis)
    return [values if is_max_k else lax.neg(values), indices]


approx_top_k_p = Primitive(
    "approx_top_k", multiple_results=True, out_type=_approx_type, jvp=_approx_jvp,
    transpose=none("approx_top_k is not linear, so it has no transpose"), batch=_approx_batch,
    lower=lambda b, x, **params: b.fun(_exact_top_k, x, **params), traits=Traits(Kind.SORT))


def _approx(operand, k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk, is_max_k):
    if np.ndim(recall_target) or not isinstance(recall_target, (int, float, np.number, Array)):
        raise TypeError(f"approx_top_k: recall_target must be a number, got {recall_target!r}")
    if not 0 < recall_target <= 1:
        raise ValueError(f"approx_top_k: recall_target={recall_target} must lie in (0, 1].")
    axis = _axis(reduction_dimension, np.ndim(operand))
    return approx_top_k_p.bind(
        operand, k=integer("lax.approx_max_k: k", k), reduction_dimension=axis, recall_target=float(recall_target),
        is_max_k=is_max_k, reduction_input_size_override=int(reduction_input_size_override),
        aggregate_to_topk=promise("approx_top_k: aggregate_to_topk", aggregate_to_topk))


def approx_max_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
                 reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Any]:
    """About the ``k`` largest elements along one axis, and their positions; here they are exact.

    Args:
      operand: floating-point array.
      k: how many.
      reduction_dimension: the axis.
      recall_target: share of the true largest that must be found at least.
      reduction_input_size_override: length of the whole axis where the operand is a part of it.
      aggregate_to_topk: False returns candidates, not reduced to k (here all elements, sorted).

    Raises:
      ValueError: dtype, k or recall target out of range.

    Source: Chern et al., "TPU-KNN", NeurIPS 2022, for the interface; here exact.

    >>> lax.approx_max_k(jnp.array([3., 9., 4.]), 1)
    [Array([9.], dtype=float32), Array([1], dtype=int32)]
    """
    return _approx(operand, k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk, True)


def approx_min_k(operand: ArrayLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
                 reduction_input_size_override: int = -1, aggregate_to_topk: bool = True) -> list[Any]:
    """About the ``k`` smallest elements along one axis, in ascending order, and their positions. See `approx_max_k`.

    Source: Chern et al., "TPU-KNN", NeurIPS 2022, for the interface; here exact.

    >>> lax.approx_min_k(jnp.array([3., 9., 4.]), 1)
    [Array([3.], dtype=float32), Array([0], dtype=int32)]
    """
    return _approx(operand, k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk, False)
