"""Products that contract axes: `dot_general`, and what is made from it; `ragged_dot` with groups of rows.

One primitive serves every matrix, vector, batched and tensor product. Its batching rule gives again one `dot_general`, and
so do its transposes, each with a `transpose` of axes at most.

The result has the axes: batch, free axes of the left operand, free axes of the right one.

Source: StableHLO specification, `dot_general`; CHLO, `ragged_dot`.
"""
from __future__ import annotations

import enum
import math
import operator
from typing import Any, NamedTuple, Sequence, TypeAlias

import ml_dtypes
import numpy as np

from jax_core.configuration import flags
from jax_core.representation import dtypes, partial_sums, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural
from jax_core.traces.structural import convert_element_type_p

from .dot_cpu import split_contraction
from .nary import as_operand, refuse_keys
from .pad import pad

# -- precision -----------------------------------------------------------------------------------------------------------


class Precision(enum.Enum):
    """How much work an accelerator's matrix unit spends on a product of float32 values.

    >>> lax.dot(jnp.ones(2), jnp.ones(2), precision=lax.Precision.HIGHEST)
    Array(2., dtype=float32)
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value):
        return _PRECISION_NAMES.get(value)

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    def __str__(self):
        return self.name


_PRECISION_NAMES = {
    None: Precision.DEFAULT, "default": Precision.DEFAULT, "bfloat16": Precision.DEFAULT, "fastest": Precision.DEFAULT,
    "high": Precision.HIGH, "bfloat16_3x": Precision.HIGH, "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST, "float32": Precision.HIGHEST}


class DotAlgorithm(NamedTuple):
    """Exactly how a product is computed: StableHLO's `dot_algorithm`.

    Attributes:
      lhs_precision_type, rhs_precision_type: dtypes that the operands are rounded to.
      accumulation_type: dtype of sums.
      lhs_component_count, rhs_component_count: parts that an operand is split into.
      num_primitive_operations: products of parts that are added.
      allow_imprecise_accumulation: sums may be less precise than their dtype.
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Named algorithms: dtypes of the operands, dtype of the sum, number of products of parts.

    >>> lax.dot(jnp.ones(2), jnp.ones(2), precision=lax.DotAlgorithmPreset.F32_F32_F32)
    Array(2., dtype=float32)
    """

    DEFAULT = 1
    ANY_F8_ANY_F8_F32 = 2
    ANY_F8_ANY_F8_F32_FAST_ACCUM = 3
    ANY_F8_ANY_F8_ANY = 4
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = 5
    F16_F16_F16 = 6
    F16_F16_F32 = 7
    BF16_BF16_BF16 = 8
    BF16_BF16_F32 = 9
    BF16_BF16_F32_X3 = 10
    BF16_BF16_F32_X6 = 11
    BF16_BF16_F32_X9 = 12
    TF32_TF32_F32 = 13
    TF32_TF32_F32_X3 = 14
    F32_F32_F32 = 15
    F64_F64_F64 = 16

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    def __str__(self):
        return self.name

    @property
    def supported_lhs_types(self) -> tuple | None:
        """Dtypes that the operands may have; None for any."""
        if self is DotAlgorithmPreset.DEFAULT or self.name.startswith("ANY"):
            return None
        if "_X" in self.name or self.name.startswith("TF32"):
            return (np.float32,)
        own = _SCALAR_TYPES[self.name.split("_")[0]]
        return (own, np.float32) if own is dtypes.bfloat16 else (own,)

    supported_rhs_types = supported_lhs_types

    @property
    def accumulation_type(self) -> Any:
        """Dtype of the sum; None where the operands decide."""
        name = self.name.removesuffix("_FAST_ACCUM")
        return None if self is DotAlgorithmPreset.DEFAULT else _SCALAR_TYPES.get(name.split("_X")[0].split("_")[-1])

    def supported_output_types(self, lhs_dtype: DTypeLike, rhs_dtype: DTypeLike) -> tuple | None:
        """Dtypes that a product of operands of these dtypes may have, the one of the sum first; None for any."""
        own = self.accumulation_type
        if own is None:
            return None
        if self.name.startswith("ANY"):
            return (own, np.float16, dtypes.bfloat16, *_F8_TYPES)
        narrow = _SCALAR_TYPES.get(self.name.split("_")[0])
        same = self.name in ("F16_F16_F32", "BF16_BF16_F32") and np.dtype(lhs_dtype) == np.dtype(rhs_dtype) == narrow
        return (own, narrow) if same else (own,)


_SCALAR_TYPES = {"F16": np.float16, "BF16": dtypes.bfloat16, "F32": np.float32, "F64": np.float64}
_F8_TYPES = tuple(getattr(ml_dtypes, f"float8_{n}") for n in ("e4m3fn", "e5m2", "e5m2fnuz", "e4m3fnuz", "e4m3b11fnuz"))
_ALGORITHM_TYPES = {"F16": "f16", "BF16": "bf16", "F32": "f32", "F64": "f64", "TF32": "tf32"}
_ON_CPU = frozenset(("DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F32_F32_F32", "F64_F64_F64"))

PrecisionLike: TypeAlias = (None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm
                            | DotAlgorithmPreset)
DotDimensionNumbers: TypeAlias = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def canonical_precision(precision: PrecisionLike) -> Any:
    """None, a pair of `Precision`, a `DotAlgorithm` or a `DotAlgorithmPreset`.

    Raises:
      ValueError: anything else.
    """
    if precision is None:
        precision = flags.default_matmul_precision.value
        if precision is None:
            return None
    if isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return precision
    if isinstance(precision, str) and precision in DotAlgorithmPreset.__members__:
        return DotAlgorithmPreset[precision]
    pair = tuple(precision) if isinstance(precision, (tuple, list)) else (precision, precision)
    try:
        if len(pair) == 2 and all(p is None or isinstance(p, (str, Precision)) for p in pair):
            return tuple(map(Precision, pair))
    except (ValueError, TypeError):
        pass
    raise ValueError(f"precision={precision!r} must be None, one of the strings {[n for n in _PRECISION_NAMES if n]}, the name of "
                     "a lax.DotAlgorithmPreset, a lax.Precision, a pair of these, a lax.DotAlgorithm or a "
                     "lax.DotAlgorithmPreset.")


def precision_text(precision: object, lhs: ShapedArray | None = None) -> str:
    """The attributes ``precision`` and ``algorithm`` of `stablehlo.dot_general`, with a comma before them."""
    if precision is None or precision is DotAlgorithmPreset.DEFAULT:
        return ", precision = [DEFAULT, DEFAULT]"
    if isinstance(precision, tuple) and not isinstance(precision, DotAlgorithm):
        return f", precision = [{precision[0].name}, {precision[1].name}]"
    return f", precision = [DEFAULT, DEFAULT], algorithm = <{_algorithm_text(precision, lhs)}>"


def _algorithm_text(algorithm, lhs) -> str:
    if isinstance(algorithm, DotAlgorithmPreset):
        name, fast = algorithm.name.removesuffix("_FAST_ACCUM"), algorithm.name.endswith("_FAST_ACCUM")
        name, _, products = name.partition("_X")
        count = int(products or 1)
        left, total = name.split("_")[0], name.split("_")[-1]
        if left == "ANY":
            left, total = dtypes.short_name(lhs), _ALGORITHM_TYPES.get(total, "f32")
            left = left if left.startswith("f8") else "f32"
        else:
            left, total = _ALGORITHM_TYPES[left], _ALGORITHM_TYPES[total]
        fields: tuple = (left, left, total, 1, 1, count, fast)
    else:
        fields = (*(dtypes.short_name(np.dtype(t)) for t in algorithm[:3]), *algorithm[3:])
    written = [f.replace("f8_e", "f8E").replace("m", "M").upper() if str(f).startswith("f8") else f for f in fields]
    return ", ".join(f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
                     for key, value in zip(DotAlgorithm._fields, written))


# -- dot_general ---------------------------------------------------------------------------------------------------------

def _free(rank, *used):
    taken = {i for group in used for i in group}
    return tuple(i for i in range(rank) if i not in taken)


def _check_dimensions(lhs, rhs, dimension_numbers):
    (lc, rc), (lb, rb) = dimension_numbers
    for name, x, contracting, batch in (("lhs", lhs, lc, lb), ("rhs", rhs, rc, rb)):
        named = (*contracting, *batch)
        if any(not 0 <= d < x.ndim for d in named):
            raise TypeError(f"lax.dot_general: dimension numbers of {name} must lie in [0, {x.ndim}) for operand {x.str_short()}, "
                            f"got contracting {tuple(contracting)} and batch {tuple(batch)}.")
        if len(set(named)) != len(named):
            raise TypeError(f"lax.dot_general: dimensions of {name} must be distinct, and contracting ones disjoint from batch "
                            f"ones, got contracting {tuple(contracting)} and batch {tuple(batch)}.")
    for kind, left, right in (("contracting", lc, rc), ("batch", lb, rb)):
        sizes = [lhs.shape[d] for d in left], [rhs.shape[d] for d in right]
        if sizes[0] != sizes[1]:
            raise TypeError(f"lax.dot_general requires {kind} dimensions of equal lengths, got {tuple(sizes[0])} of lhs "
                            f"{lhs.str_short()} and {tuple(sizes[1])} of rhs {rhs.str_short()}.")


def _dot_general_type(lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None):
    _check_dimensions(lhs, rhs, dimension_numbers)
    refuse_keys("dot_general", lhs, rhs)
    (lc, rc), (lb, rb) = dimension_numbers
    shape = (*(lhs.shape[d] for d in lb), *(lhs.shape[d] for d in _free(lhs.ndim, lc, lb)),
             *(rhs.shape[d] for d in _free(rhs.ndim, rc, rb)))
    if preferred_element_type is None:
        dtype = _product_dtype(lhs.dtype, rhs.dtype)
        return ShapedArray(shape, dtype, lhs.weak_type and rhs.weak_type,
                           sharding=out_sharding)
    return ShapedArray(shape, preferred_element_type, sharding=out_sharding)


def _operand_dtype(a, b):
    """The dtype that a product of these is computed in. Floats of up to 8 bits and integers of 4, which are not promoted elsewhere,
    are here; of two integers the wider counts, and a signed one before an unsigned one."""
    if a == b:
        return a
    if dtypes.issubdtype(a, np.integer) and dtypes.issubdtype(b, np.integer):
        return max(a, b, key=lambda t: (dtypes.itemsize_bits(t), dtypes.issubdtype(t, np.signedinteger)))
    if {a, b} == {np.dtype(np.float16), np.dtype(dtypes.bfloat16)}:
        return np.dtype(dtypes.bfloat16)
    for t, other in ((a, b), (b, a)):
        if _is_narrow_float(t):
            return other if dtypes.issubdtype(other, np.inexact) and not _is_narrow_float(other) else np.dtype(np.float32)
    for t, other in ((a, b), (b, a)):
        if _is_narrow_integer(t):
            return t if other == np.bool_ else other
    return dtypes.common_dtype(a, b)


def _is_narrow_integer(t):
    return dtypes.issubdtype(t, np.integer) and dtypes.itemsize_bits(t) < 8


def _is_narrow_float(t):
    return dtypes.issubdtype(t, np.floating) and dtypes.itemsize_bits(t) <= 8


def _product_dtype(a, b):
    """The dtype of a product for which none is asked: narrow floats stay beside integers, and of two the one that reaches farther."""
    narrow = [t for t in (a, b) if _is_narrow_float(t)]
    if a == b or not narrow or len(narrow) == 1 and any(dtypes.issubdtype(t, np.inexact) for t in (a, b) if t not in narrow):
        return _operand_dtype(a, b)
    reach = [float(dtypes.finfo(t).max) for t in narrow]
    if reach == [reach[0]] * 2:
        raise TypeError(f"lax.dot_general: neither of {a} and {b} reaches farther, so the dtype of their product must be said: give "
                        "preferred_element_type")
    return narrow[reach.index(max(reach))]


def _as(x, aval):
    """The cotangent ``x`` in the dtype and weak type of its operand."""
    own = get_aval(x)
    if own.dtype == aval.dtype and own.weak_type == aval.weak_type:
        return x
    if own.dtype.kind == "c" and aval.dtype.kind != "c":
        from .complex import real_p  # start-up: loaded when a real operand gets the cotangent of a complex product
        x = real_p.bind(x)
        if get_aval(x).dtype == aval.dtype:
            return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)


def _dot_transpose_lhs(ct, x, y, dimension_numbers, precision, swap=False):
    """The cotangent of ``x`` in ``dot_general(x, y)``; with ``swap`` in ``dot_general(y, x)``.

    It is a product of ``ct`` and ``y``, in the order that leaves less to transpose.
    """
    (xc, yc), (xb, yb) = dimension_numbers
    x_free, y_free = _free(x.ndim, xc, xb), _free(np.ndim(y), yc, yb)
    n_batch = len(xb)
    ct_batch = tuple(range(n_batch))
    y_in_ct = n_batch + (0 if swap else len(x_free))
    ct_contracted = tuple(range(y_in_ct, y_in_ct + len(y_free)))
    element = None if get_aval(ct).dtype == x.aval.dtype == get_aval(y).dtype else _operand_dtype(
        get_aval(ct).dtype, get_aval(y).dtype)
    # The result has: batch, free axes of x, then those of y that were contracted with x, in the order they have in y; or
    # the latter two the other way round.
    contracted = [xc[i] for i in np.argsort(yc, kind="stable").tolist()]
    orders = (*xb, *x_free, *contracted), (*xb, *contracted, *x_free)
    if _in_place(orders[1]) > _in_place(orders[0]):
        out = dot_general_p.bind(y, ct, dimension_numbers=((y_free, ct_contracted), (yb, ct_batch)),
                                 precision=_swapped(precision), preferred_element_type=element,
                                 out_sharding=cotangent_split(x.aval, orders[1], ct, y))
        order = orders[1]
    else:
        out = dot_general_p.bind(ct, y, dimension_numbers=((ct_contracted, y_free), (ct_batch, yb)), precision=precision,
                                 preferred_element_type=element, out_sharding=cotangent_split(x.aval, orders[0], ct, y))
        order = orders[0]
    return _as(structural.transpose(out, tuple(order.index(i) for i in range(x.ndim))), x.aval)


def cotangent_split(aval, order, *others):
    """The placement of the cotangent of a value of type ``aval`` with its axes in ``order``; None where no operand has one."""
    placement = splits.cotangent_placement(aval)
    if placement is None:
        placement = next((p for x in others if (p := getattr(get_aval(x), "placement", None)) is not None), None)
        return None if placement is None else placement.update(spec=type(placement.spec)(*[None] * aval.ndim))
    return splits.with_entries(placement, tuple(placement.spec.partitions[i] for i in order))


def _in_place(order: tuple) -> int:
    """How many of the last axes are in place already."""
    return next((n for n, i in enumerate(reversed(order)) if i != len(order) - 1 - n), len(order))


def _swapped(precision):
    if type(precision) is tuple:
        return precision[::-1]
    return precision


def _dot_general_transpose(ct, lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None):
    (lc, rc), (lb, rb) = dimension_numbers
    if is_linear(lhs):
        return _dot_transpose_lhs(ct, lhs, rhs, dimension_numbers, precision), None
    return None, _dot_transpose_lhs(ct, rhs, lhs, ((rc, lc), (rb, lb)), _swapped(precision), swap=True)


def _dot_general_batch(axis, args, dims, *, dimension_numbers, precision, preferred_element_type, out_sharding=None):
    """Both mapped: one more batch axis, in front. One mapped: one more free axis, which the result has in its place."""
    (lhs, rhs), (dl, dr) = args, dims
    (lc, rc), (lb, rb) = dimension_numbers
    if dl is not None and dr is not None:
        numbers = ((_shift(lc, dl), _shift(rc, dr)), ((dl, *_shift(lb, dl)), (dr, *_shift(rb, dr))))
        out_dim = 0
    elif dl is not None:
        numbers = ((_shift(lc, dl), rc), (_shift(lb, dl), rb))
        out_dim = len(lb) + sum(d < dl for d in _free(np.ndim(lhs), *(g[0] for g in numbers)))
    else:
        numbers = ((lc, _shift(rc, dr)), (lb, _shift(rb, dr)))
        out_dim = len(rb) + len(_free(np.ndim(lhs), lc, lb)) + sum(
            d < dr for d in _free(np.ndim(rhs), *(g[1] for g in numbers)))
    out = dot_general_p.bind(lhs, rhs, dimension_numbers=numbers, precision=precision,
                             preferred_element_type=preferred_element_type,
                             out_sharding=structural.batched_placement(axis, out_sharding, out_dim))
    return out, out_dim


def _shift(dims, at):
    return tuple(d + (d >= at) for d in dims)


def _check_platform(preset, platform):
    if platform == "cpu" and preset.name not in _ON_CPU:
        raise ValueError(f"lax.dot_general: precision={preset} is an algorithm that the CPU does not have; it has "
                         f"{', '.join(sorted(_ON_CPU))}.")


def _dot_general_lower(b, lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None):
    (lc, rc), (lb, rb) = dimension_numbers
    out = b.out_avals[0]
    common = _operand_dtype(lhs.aval.dtype, rhs.aval.dtype)
    operand = common
    narrow = b.platform in ("tpu", "mosaic") and _is_narrow_integer(common) and out.dtype == np.int32  # int4 products are that chip's own
    if not (narrow or _accumulates(common, out.dtype)):
        operand = out.dtype if _operand_dtype(common, out.dtype) == out.dtype else common
    elif out.dtype != common and not (_holds(common, lhs.aval.dtype) and _holds(common, rhs.aval.dtype)):
        operand = out.dtype  # uint8 and int8, float16 and bfloat16, or a float and a long integer: the result's dtype holds more of both
    element = out.dtype if narrow or operand != common or _accumulates(common, out.dtype) else common
    if isinstance(precision, DotAlgorithmPreset):
        _check_platform(precision, b.platform)
        taken = precision.supported_lhs_types
        if taken and dtypes.issubdtype(operand, np.floating) and operand not in taken:
            operand, element = np.dtype(taken[0]), np.dtype(precision.accumulation_type)
    lhs, rhs = b.convert(lhs, operand), b.convert(rhs, operand)
    if b.platform == "cpu" and b.devices == 1 and dtypes.issubdtype(operand, np.floating):
        faster = split_contraction(lhs.aval.shape, rhs.aval.shape, dimension_numbers)
        if faster is not None:
            left, right, ((lc, rc), (lb, rb)) = faster
            lhs, rhs = b.reshape(lhs, left), b.reshape(rhs, right)
    if b.platform in ("cuda", "rocm") and operand.itemsize == 1 and operand.kind in "iu" and lc:
        lhs, rhs = _whole_words(b, lhs, lc[-1]), _whole_words(b, rhs, rc[-1])
    batch = f"batching_dims = {list(lb)} x {list(rb)}, " if lb else ""
    result = b.emit(f"stablehlo.dot_general {lhs}, {rhs}, {batch}contracting_dims = {list(lc)} x {list(rc)}"
                    f"{precision_text(precision, lhs.aval.dtype)}", lhs, rhs, out=out.update(dtype=element))
    if element.kind == "c" and out.dtype.kind != "c":
        result = b.emit(f"stablehlo.real {result}", result, out=out.update(dtype=dtypes.to_floating_dtype(element)))
    return b.convert(result, out.dtype)


def _whole_words(b, x, axis):
    """``x`` with zeros behind it along an axis that is contracted, to a multiple of four bytes: XLA doubles the products of three bytes on GPUs."""
    size = x.aval.shape[axis]
    if size % 4 == 0:
        return x
    return b.fun(pad, x, b.scalar(0, x.aval.dtype), padding_config=tuple((0, -size % 4 if d == axis else 0, 0) for d in range(x.aval.ndim)))[0]


def _holds(large, small):
    """Whether all numbers of one dtype are ones of the other."""
    if large == small or small == np.bool_:
        return True
    if dtypes.issubdtype(large, np.integer):
        a, b = dtypes.iinfo(large), dtypes.iinfo(small)
        return int(a.min) <= int(b.min) and int(b.max) <= int(a.max)
    if not dtypes.issubdtype(large, np.floating):
        return True  # nothing accumulates complex numbers in a wider dtype
    info = dtypes.finfo(large)
    if dtypes.issubdtype(small, np.integer):
        return int(dtypes.iinfo(small).max) <= 2 ** (info.nmant + 1)
    own = dtypes.finfo(small)
    return own.nmant <= info.nmant and own.maxexp <= info.maxexp and own.minexp - own.nmant >= info.minexp - info.nmant


def _accumulates(operand, result):
    """Whether StableHLO's product of these operands may have this result type as it is: same kind, not narrower."""
    return operand == result or (operand.kind == result.kind != "V" and operand.kind in "iu" and result.itemsize >= operand.itemsize) or (
        dtypes.issubdtype(operand, np.floating) and dtypes.issubdtype(result, np.floating) and result.itemsize > operand.itemsize)


def _dot_general_tangent(out, x, y, params):
    if not dtypes.issubdtype(get_aval(out).dtype, np.inexact):  # sums of floats, as integers
        return Zero.of(out)
    return dot_general_p.bind(x, y, **params)


def _dot_general_reference(lhs, rhs, *, dimension_numbers, precision, preferred_element_type, out_sharding=None):
    lhs, rhs = np.asarray(lhs), np.asarray(rhs)
    (lc, rc), (lb, rb) = dimension_numbers
    dtype = np.dtype(preferred_element_type or _product_dtype(lhs.dtype, rhs.dtype))
    lf, rf = _free(lhs.ndim, lc, lb), _free(rhs.ndim, rc, rb)
    batch, left, right = ([x.shape[d] for d in ds] for x, ds in ((lhs, lb), (lhs, lf), (rhs, rf)))
    inner = math.prod(lhs.shape[d] for d in lc)
    wide = np.dtype(dtype)
    for kind, of_double_precision in ((np.floating, np.float64), (np.complexfloating, np.complex128)):  # also where the result is narrower
        if any(dtypes.issubdtype(d, kind) for d in (dtype, lhs.dtype, rhs.dtype)):
            wide = np.dtype(of_double_precision)
    a = lhs.transpose(*lb, *lf, *lc).reshape(*batch, math.prod(left), inner).astype(wide)
    b = rhs.transpose(*rb, *rc, *rf).reshape(*batch, inner, math.prod(right)).astype(wide)
    return convert_element_type_p.reference(np.reshape(np.matmul(a, b), (*batch, *left, *right)), new_dtype=dtype, weak_type=False)


dot_general_p: Primitive = Primitive(
    "dot_general", out_type=_dot_general_type,
    jvp=(lambda g, out, x, y, **params: _dot_general_tangent(out, g, y, params),
         lambda g, out, x, y, **params: _dot_general_tangent(out, x, g, params)),
    transpose=_dot_general_transpose, batch=_dot_general_batch, lower=_dot_general_lower, reference=_dot_general_reference,
    exact=lambda x, y, **params: x.dtype == y.dtype and x.dtype.kind in "iu" and x.size * y.size < 1 << 16,
    traits=Traits(Kind.PRODUCT, hidden={"precision": None, "preferred_element_type": None, "out_sharding": None},
                  shown={"dimension_numbers": lambda dims: str(tuple(tuple(map(list, pair)) for pair in dims))}),
    sums=partial_sums.product)


def _canonical_numbers(name, dimension_numbers):
    try:
        (lc, rc), (lb, rb) = dimension_numbers
        return tuple(tuple(map(operator.index, pair)) for pair in (lc, rc)), tuple(
            tuple(map(operator.index, pair)) for pair in (lb, rb))
    except (TypeError, ValueError):
        raise TypeError(f"lax.{name}: dimension_numbers={dimension_numbers!r} must be ((lhs contracting, rhs contracting), (lhs "
                        "batch, rhs batch)), four sequences of integers.") from None


def _bits(dtype: np.dtype) -> int:
    return 1 if dtype == np.bool_ else dtypes.itemsize_bits(dtype)


def check_result_dtype(name: str, operand: np.dtype, preferred: np.dtype | None, of_kind: bool = False) -> None:
    """Raise TypeError where sums of products of dtype ``operand`` do not fit ``preferred_element_type``.

    Integers and complex numbers take what is as wide as they (as their parts); floats and booleans anything. With ``of_kind``, as
    convolutions want it, floats and complex numbers keep their kind and width, integers become no complex numbers, and signed ones
    not unsigned.
    """
    if preferred is None or operand == preferred or operand == np.bool_:
        return
    complex_, inexact = (dtypes.issubdtype(operand, kind) for kind in (np.complexfloating, np.inexact))
    if of_kind:
        fits = (preferred.itemsize >= operand.itemsize and preferred != np.bool_
                and dtypes.issubdtype(preferred, np.complexfloating) == complex_ and (not inexact or dtypes.issubdtype(preferred, np.inexact))
                and not (dtypes.issubdtype(operand, np.signedinteger) and dtypes.issubdtype(preferred, np.unsignedinteger)))
    else:
        fits = inexact and not complex_ or _bits(preferred) >= _bits(operand) // (2 if complex_ else 1)
    if not fits:
        raise TypeError(f"lax.{name}: preferred_element_type={preferred} cannot hold sums of products of {operand}; give a wider dtype"
                        f"{' of the same kind' if of_kind else ''}, and convert the result.")


def dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: DotDimensionNumbers | None, precision: PrecisionLike = None,
                preferred_element_type: DTypeLike | None = None, *, out_sharding: Placement | None = None) -> Array:
    """Sum of products over contracted axes, for each index of the batch axes.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: ``((lhs contracting, rhs contracting), (lhs batch, rhs batch))``; None for a product of vectors and matrices, as `dot`.
      precision: `Precision`, or a pair of them, or a `DotAlgorithm`, for accelerators.
      preferred_element_type: dtype of sums and result; without it that of the operands, promoted.
      out_sharding: placement of the result.

    Returns:
      an array with the batch axes, the other axes of ``lhs`` and those of ``rhs``.

    Raises:
      TypeError: dimension numbers or lengths do not fit, or the result's dtype is narrower than operands that are no floats.
      ValueError: without dimension numbers, operands that are no vectors or matrices that fit.

    Source: StableHLO `dot_general`.

    >>> lax.dot_general(jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4)), (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    lhs, rhs = as_operand("dot_general", lhs, 0), as_operand("dot_general", rhs, 1)
    if dimension_numbers is None:
        dimension_numbers = _plain_numbers(np.shape(lhs), np.shape(rhs))
    element = preferred_element_type
    if element is not None:
        product = _product_dtype(dtypes.dtype(lhs), dtypes.dtype(rhs))
        if element is not product:  # which may be wide while x64 is off
            element = dtypes.canonicalize_user_dtype(element, "dot_general")
            check_result_dtype("dot_general", product, element)
    return dot_general_p.bind(lhs, rhs, dimension_numbers=_canonical_numbers("dot_general", dimension_numbers),
                              precision=canonical_precision(precision), preferred_element_type=element,
                              out_sharding=structural.resolved(out_sharding))


def _plain_numbers(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> DotDimensionNumbers:
    if len(lhs) not in (1, 2) or len(rhs) not in (1, 2) or lhs[-1] != rhs[0]:
        raise ValueError(f"lax.dot: without dimension_numbers the operands must be vectors or matrices that fit, got shapes {lhs} and {rhs}; "
                         "give dimension_numbers, or use jax.numpy.matmul.")
    return ((len(lhs) - 1,), (0,)), ((), ())


def dot(lhs: ArrayLike, rhs: ArrayLike, *, dimension_numbers: DotDimensionNumbers | None = None,
        precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
        out_sharding: Placement | None = None) -> Array:
    """Product of vectors and matrices; with ``dimension_numbers`` it is `dot_general`.

    Raises:
      TypeError: lengths do not fit. ValueError: an operand is neither a vector nor a matrix.

    Source: StableHLO `dot_general`.

    >>> lax.dot(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type, out_sharding=out_sharding)


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None) -> Array:
    """Matrix products over equal leading axes. Raises ValueError for operands of fewer than 2 axes, or of different rank.

    Args:
      lhs, rhs: ``[..., n, k]`` and ``[..., k, m]`` of one dtype.
      precision: as for `dot_general`.

    Source: StableHLO `dot_general`.

    >>> lax.batch_matmul(jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    rank = np.ndim(lhs)
    if rank < 2 or np.ndim(rhs) != rank:
        raise ValueError(f"lax.batch_matmul: operands must have equally many axes, at least 2, got shapes {np.shape(lhs)} and "
                         f"{np.shape(rhs)}.")
    batch = tuple(range(rank - 2))
    return dot_general(lhs, rhs, (((rank - 1,), (rank - 2,)), (batch, batch)), precision)
