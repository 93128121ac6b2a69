"""Convolutions: `conv_general_dilated` with any layout, strides, padding, dilations and groups, and what is made from it.

Positions along one spatial axis: output ``s`` meets kernel element ``k`` and operand element ``p`` where

    p * lhs_dilation = s * stride + k * rhs_dilation - low_padding.

Both cotangents are convolutions again, found by solving this for another letter (see the transpose rules). With feature
groups, group ``g`` of input features makes group ``g`` of output features; with batch groups, group ``b`` of the batch does.

Source: StableHLO specification, `convolution`.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, NamedTuple, Sequence, TypeAlias

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.primitive import Primitive, is_linear
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural
from jax_core.traces.structural import convert_element_type_p, zeros
from jax_core.transformations.batching import mapped_aval

from . import conv_cpu, conv_split
from .dot import Precision, PrecisionLike, canonical_precision, check_result_dtype, cotangent_split, dot_general
from .nary import as_operand, check_same_dtypes, refuse_keys
from .pad import emit_pad
from .shape import reshaped, rev_p

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value


class ConvDimensionNumbers(NamedTuple):
    """Which axis is which.

    Attributes:
      lhs_spec: axes (batch, feature, spatial...) of the operand.
      rhs_spec: axes (output feature, input feature, spatial...) of the kernel.
      out_spec: axes (batch, feature, spatial...) of the result.

    >>> lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 16), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


ConvGeneralDilatedDimensionNumbers: TypeAlias = tuple[str, str, str] | ConvDimensionNumbers | None

# -- dimension numbers and padding ---------------------------------------------------------------------------------------

def conv_general_permutations(dimension_numbers: Sequence[str]) -> tuple[tuple, tuple, tuple]:
    """The axes (batch, feature, spatial...) of operand and result and (output, input, spatial...) of the kernel.

    Args:
      dimension_numbers: three strings like ``("NHWC", "HWIO", "NHWC")``; spatial letters are free, and sorted as in the second.

    Raises:
      ValueError: a letter is missing or occurs twice, or spatial letters differ.

    Source: StableHLO `convolution`, its rules of shapes.

    >>> jax.lax.conv_general_permutations(('NHWC', 'HWIO', 'NHWC'))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        raise TypeError(f"convolution dimension_numbers={tuple(dimension_numbers)} must be three strings like ('NHWC', 'HWIO', 'NHWC').")
    lhs, rhs, out = dimension_numbers
    for spec, pair in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if any(spec.count(c) != 1 for c in pair) or len(set(spec)) != len(spec):
            raise TypeError(f"convolution dimension_numbers={tuple(dimension_numbers)}: {spec!r} must hold each of {pair[0]!r} and "
                             f"{pair[1]!r} once, and no letter twice.")
    if not set(lhs) - set("NC") == set(rhs) - set("OI") == set(out) - set("NC"):
        raise TypeError(f"convolution dimension_numbers={tuple(dimension_numbers)} must name the same spatial letters three times.")
    spatial = [c for c in rhs if c not in "OI"]
    def places(spec: str, pair: str) -> tuple[int, ...]:
        return tuple(spec.index(c) for c in (*pair, *spatial))
    return places(lhs, "NC"), places(rhs, "OI"), places(out, "NC")


def conv_dimension_numbers(lhs_shape: Sequence[int], rhs_shape: Sequence[int],
                           dimension_numbers: object) -> ConvDimensionNumbers:
    """`ConvDimensionNumbers` from None (batch and features first), three strings, or itself.

    Args:
      lhs_shape, rhs_shape: of operand and kernel.
      dimension_numbers: None, the strings, or what this gives.

    Raises:
      TypeError: ranks differ or the specification is something else. ValueError: the strings do not fit.

    Source: StableHLO `convolution`, its rules of shapes.

    >>> jax.lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ('NHWC', 'HWIO', 'NHWC'))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return ConvDimensionNumbers(*(tuple(map(operator.index, spec)) for spec in dimension_numbers))
    rank = len(lhs_shape)
    if rank != len(rhs_shape):
        raise TypeError(f"convolution requires operand and kernel of equal rank, got shapes {tuple(lhs_shape)} and "
                        f"{tuple(rhs_shape)}.")
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(rank))] * 3)
    if isinstance(dimension_numbers, (list, tuple)) and len(dimension_numbers) == 3:
        for spec in dimension_numbers:
            if len(spec) != rank:
                raise TypeError(f"convolution dimension_numbers={tuple(dimension_numbers)}: {spec!r} must name the {rank} axes of "
                                f"operands of shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}.")
        return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))
    raise TypeError(f"convolution dimension_numbers={dimension_numbers!r} must be None, three strings or ConvDimensionNumbers.")


def padtype_to_pads(in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int],
                    padding: str | Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The padding of each axis that ``"VALID"``, ``"SAME"`` or ``"SAME_LOWER"`` stands for.

    Args:
      in_shape, window_shape, window_strides: a number for each axis.

    Raises:
      RuntimeError: another name.

    Source: StableHLO `convolution`, its rules of shapes.

    >>> lax.padtype_to_pads((5,), (3,), (1,), "SAME")
    [(1, 1)]
    """
    name = padding.upper() if isinstance(padding, str) else str(getattr(padding, "name", padding)).upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise (RuntimeError if isinstance(padding, str) else TypeError)(
            f"padding={padding!r} is not one of 'VALID', 'SAME' and 'SAME_LOWER', the names that convolutions and windows know.")
    pads = []
    if any(stride < 1 for stride in window_strides):
        raise ValueError(f"lax.padtype_to_pads: window_strides={tuple(window_strides)} must be positive.")
    for n, window, stride in zip(in_shape, window_shape, window_strides):
        total = max((-(-n // stride) - 1) * stride + window - n, 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if name == "SAME" else (large, small))
    return pads


def _dilated(n, dilation):
    return 0 if n == 0 else (n - 1) * dilation + 1


def _out_length(n, window, stride, pad, lhs_dilation, rhs_dilation):
    space = _dilated(n, lhs_dilation) + sum(pad) - _dilated(window, rhs_dilation)
    return space // stride + 1 if space >= 0 else 0


def conv_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], strides: Sequence[int],
                     pads: Sequence[tuple[int, int]] | str, batch_group_count: int = 1) -> tuple[int, ...]:
    """Result shape for operands with batch and features first. Raises ValueError for an unknown padding.

    Args:
      lhs_shape, rhs_shape: of operand and kernel.
      strides: of the window.
      pads: pairs, or a name.
      batch_group_count: as for `conv_general_dilated`.

    Source: StableHLO `convolution`, its rules of shapes.

    >>> lax.conv_shape_tuple((1, 1, 5), (2, 1, 3), (1,), "VALID")
    (1, 2, 3)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise TypeError(f"convolution: {len(pads)} pairs of padding for {len(lhs_shape) - 2} spatial axes.")
    spatial = [_out_length(n, k, s, p, 1, 1) for n, k, s, p in zip(lhs_shape[2:], rhs_shape[2:], strides, pads)]
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *spatial)


def conv_general_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
                             padding: str | Sequence[tuple[int, int]],
                             dimension_numbers: Sequence[str]) -> tuple[int, ...]:
    """Result shape for operands with axes named by ``dimension_numbers``.

    Args:
      lhs_shape, rhs_shape: of operand and kernel.
      window_strides, padding: as for `conv_general_dilated`.

    Source: StableHLO `convolution`, its rules of shapes.

    >>> jax.lax.conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (1, 1), 'SAME', ('NHWC', 'HWIO', 'NHWC'))
    (1, 8, 8, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple([lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs], window_strides, padding)
    return tuple(shape[out.index(i)] for i in range(len(shape)))


def conv_transpose_shape_tuple(lhs_shape: Sequence[int], rhs_shape: Sequence[int], window_strides: Sequence[int],
                               padding: str | Sequence[tuple[int, int]],
                               dimension_numbers: Sequence[str]) -> tuple[int, ...]:
    """Result shape of `conv_transpose`. Source: StableHLO `convolution`, its rules of shapes.

    >>> jax.lax.conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), 'SAME', ('NHWC', 'HWIO', 'NHWC'))
    (1, 16, 16, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    n, k = [lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs]
    if isinstance(padding, str):
        padding = [_transpose_padding(size, stride, padding) for size, stride in zip(k[2:], window_strides)]
    spatial = [_out_length(a, b, 1, p, s, 1) for a, b, s, p in zip(n[2:], k[2:], window_strides, padding)]
    shape = (n[0], k[0], *spatial)
    return tuple(shape[out.index(i)] for i in range(len(shape)))


# -- the primitive -------------------------------------------------------------------------------------------------------

def _conv_type(lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
               batch_group_count, precision, preferred_element_type, out_sharding=None):
    check_same_dtypes("conv_general_dilated", (lhs, rhs))
    refuse_keys("conv_general_dilated", lhs, rhs)
    where = f"lax.conv_general_dilated of operand {lhs.str_short()} and kernel {rhs.str_short()}"
    numbers = dimension_numbers
    if lhs.ndim != rhs.ndim or lhs.ndim < 2:
        raise TypeError(f"{where}: both must have the same number of axes, at least 2.")
    if 0 in (rhs.shape[i] for i in dimension_numbers.rhs_spec[2:]):
        raise ValueError(f"{where}: the kernel is empty along a spatial axis, so there is no window.")
    for name, given in (("window_strides", window_strides), ("padding", padding), ("lhs_dilation", lhs_dilation),
                        ("rhs_dilation", rhs_dilation)):
        if len(given) != lhs.ndim - 2:
            raise (TypeError if name == "padding" else ValueError)(
                f"{where}: {name}={tuple(given)} needs one entry for each of the {lhs.ndim - 2} spatial axes.")
        if name != "padding" and any(v < 1 for v in given):
            raise (TypeError if name == "rhs_dilation" else ValueError)(f"{where}: {name}={tuple(given)} must be positive.")
    if feature_group_count < 1 or batch_group_count < 1:
        raise ValueError(f"{where}: feature_group_count={feature_group_count} and batch_group_count={batch_group_count} must be "
                         "positive.")
    if feature_group_count > 1 and batch_group_count > 1:
        raise ValueError(f"{where}: at most one of feature_group_count={feature_group_count} and batch_group_count="
                         f"{batch_group_count} may exceed 1.")
    n, k = [lhs.shape[i] for i in numbers.lhs_spec], [rhs.shape[i] for i in numbers.rhs_spec]
    if n[1] != k[1] * feature_group_count:
        raise ValueError(f"{where}: the operand has {n[1]} features, which must be feature_group_count={feature_group_count} times "
                         f"the {k[1]} input features of the kernel.")
    if k[0] % feature_group_count or k[0] % batch_group_count or n[0] % batch_group_count:
        raise ValueError(f"{where}: the {k[0]} output features (and the batch of {n[0]}) must be divisible by feature_group_count="
                         f"{feature_group_count} and batch_group_count={batch_group_count}.")
    if 0 in k[2:]:
        raise ValueError(f"{where}: the kernel's spatial axes must not be empty, they have lengths {tuple(k[2:])}.")
    for size, pad, dilation in zip(n[2:], padding, lhs_dilation):
        if _dilated(size, dilation) + sum(pad) < 0:
            raise ValueError(f"{where}: padding={padding} crops more than the {size} elements that a spatial axis has.")
    spatial = [_out_length(*args) for args in zip(n[2:], k[2:], window_strides, padding, lhs_dilation, rhs_dilation)]
    shape = (n[0] // batch_group_count, k[0], *spatial)
    dtype = lhs.dtype if preferred_element_type is None else preferred_element_type
    return ShapedArray([shape[numbers.out_spec.index(i)] for i in range(lhs.ndim)], dtype,
                       preferred_element_type is None and lhs.weak_type and rhs.weak_type, sharding=out_sharding)


def _convolve(lhs, rhs, params, **changes):
    return conv_general_dilated_p.bind(lhs, rhs, **{**params, **changes})


def _lengths(x, spec):
    return [x.shape[i] for i in spec[2:]]


def _conv_transpose_lhs(ct, lhs, rhs, params):
    """For ``p``: the cotangent (dilated by the stride) meets the reversed kernel, its features exchanged, in windows that
    step by lhs_dilation. Batch groups become feature groups, whose results are batches."""
    numbers, groups, batch_groups = (params[n] for n in ("dimension_numbers", "feature_group_count", "batch_group_count"))
    n, k, s = _lengths(lhs, numbers.lhs_spec), _lengths(rhs, numbers.rhs_spec), _lengths(ct, numbers.out_spec)
    strides, pads, ldil, rdil = (params[x] for x in ("window_strides", "padding", "lhs_dilation", "rhs_dilation"))
    new_pads = []
    for i in range(len(n)):
        window = _dilated(k[i], rdil[i])
        low = window - 1 - pads[i][0]
        new_pads.append((low, (n[i] - 1) * ldil[i] + window - _dilated(s[i], strides[i]) - low))
    out_axis, in_axis = numbers.rhs_spec[:2]
    count = groups * batch_groups
    kernel = _exchange_groups(rhs, out_axis, in_axis, count)
    kernel = rev_p.bind(kernel, dimensions=tuple(numbers.rhs_spec[2:]))
    rhs_spec = (in_axis, out_axis, *numbers.rhs_spec[2:])
    rhs_cast, ct = _same_dtype(kernel, ct)
    out = _convolve(ct, rhs_cast, params, window_strides=ldil, padding=tuple(new_pads), lhs_dilation=strides,
                    dimension_numbers=ConvDimensionNumbers(numbers.out_spec, rhs_spec, numbers.lhs_spec),
                    feature_group_count=count, batch_group_count=1, out_sharding=_placed_as(lhs.aval, batch_groups, ct, rhs),
                    precision=_swapped(params["precision"]), preferred_element_type=None)
    if batch_groups > 1:
        out = _move_group(out, numbers.lhs_spec[1], numbers.lhs_spec[0], batch_groups)
    return _as(out, lhs.aval)


def _exchange_groups(x, out_axis, in_axis, count):
    """A kernel [(g, o), i] as one whose output features are (g, i) and whose input features are o."""
    if count == 1:
        return x
    return _move_group(x, out_axis, in_axis, count)


def _move_group(x, source, target, count):
    """Take the outer factor ``count`` of axis ``source`` and make it the outer factor of axis ``target``."""
    shape = list(np.shape(x))
    inner = shape[source] // count
    parts = reshaped(x, (*shape[:source], count, inner, *shape[source + 1:]))
    at = target + (target > source)
    order = [i for i in range(len(shape) + 1) if i != source]
    order.insert(order.index(at), source)
    parts = structural.transpose(parts, tuple(order))
    shape[source] = inner
    shape[target] *= count
    return reshaped(parts, tuple(shape))


def _conv_transpose_rhs(ct, lhs, rhs, params):
    """For ``k``: the operand meets the cotangent as kernel (dilated by the stride), summed over the batch, in windows that step
    by rhs_dilation. Feature groups become batch groups, and the other way round."""
    numbers = params["dimension_numbers"]
    n, k, s = _lengths(lhs, numbers.lhs_spec), _lengths(rhs, numbers.rhs_spec), _lengths(ct, numbers.out_spec)
    strides, pads, ldil, rdil = (params[x] for x in ("window_strides", "padding", "lhs_dilation", "rhs_dilation"))
    new_pads = tuple((pads[i][0], (k[i] - 1) * rdil[i] + _dilated(s[i], strides[i]) - _dilated(n[i], ldil[i]) - pads[i][0])
                     for i in range(len(n)))
    def exchanged(spec):
        return (spec[1], spec[0], *spec[2:])
    lhs, ct = _same_dtype(lhs, ct)
    out = _convolve(lhs, ct, params, window_strides=rdil, padding=new_pads, rhs_dilation=strides,
                    dimension_numbers=ConvDimensionNumbers(exchanged(numbers.lhs_spec), exchanged(numbers.out_spec),
                                                           exchanged(numbers.rhs_spec)),
                    feature_group_count=params["batch_group_count"], batch_group_count=params["feature_group_count"],
                    out_sharding=_placed_as(rhs.aval, 1, ct, lhs), preferred_element_type=None)
    return _as(out, rhs.aval)


def _placed_as(aval, groups, *others):
    """The placement of the cotangent of a value of type ``aval``, or of what becomes it when groups have been moved."""
    found = cotangent_split(aval, range(aval.ndim), *others)
    return found if found is None or groups == 1 else splits.with_entries(found, (None,) * aval.ndim)


def _same_dtype(x, y):
    dtype = dtypes.result_type(get_aval(x).dtype, get_aval(y).dtype)
    return tuple(v if get_aval(v).dtype == dtype else convert_element_type_p.bind(
        v, new_dtype=dtype, weak_type=False, sharding=None) for v in (x, y))


def _as(x, aval):
    own = get_aval(x)
    if own.dtype == aval.dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=False, sharding=None)


def _swapped(precision):
    return precision[::-1] if type(precision) is tuple else precision


def _conv_transpose(ct, lhs, rhs, **params):
    of = lhs.aval if is_linear(lhs) else rhs.aval
    if not math.prod(np.shape(ct)) or not of.size:  # convolutions have no windows without elements
        none = zeros(splits.cotangent_type(of))
        return (none, None) if is_linear(lhs) else (None, none)
    if is_linear(lhs):
        return _conv_transpose_lhs(ct, lhs, rhs, params), None
    return None, _conv_transpose_rhs(ct, lhs, rhs, params)


def _conv_batch(axis, args, dims, **params):
    """The mapped axis joins the batch (operand mapped), the output features (kernel mapped), or makes groups (both)."""
    (lhs, rhs), (dl, dr) = args, dims
    if axis.size == 0:  # groups and lengths are told apart by dividing by it
        one = _conv_type(*[get_aval(x) if d is None else mapped_aval(get_aval(x), d) for x, d in zip(args, dims)], **params)
        return zeros(ShapedArray((0, *one.shape), one.dtype)), 0
    numbers = params["dimension_numbers"]
    (batch, feature), (out_axis, _) = numbers.lhs_spec[:2], numbers.rhs_spec[:2]
    groups = params["feature_group_count"] * params["batch_group_count"]
    if dr is None:
        lhs = _merge(lhs, dl, batch, params["batch_group_count"])
        return _unmerged(axis, lhs, rhs, params, numbers.out_spec[0], 1)
    if dl is None:
        rhs = _merge(rhs, dr, out_axis, groups)
        return _unmerged(axis, lhs, rhs, params, numbers.out_spec[1], groups)
    rhs = _merge(rhs, dr, out_axis, 1)
    kind = "batch_group_count" if params["batch_group_count"] > 1 else "feature_group_count"
    lhs = _merge(lhs, dl, batch if kind == "batch_group_count" else feature, 1)
    return _unmerged(axis, lhs, rhs, {**params, kind: axis.size * groups}, numbers.out_spec[1], 1)


def _unmerged(axis, lhs, rhs, params, where, groups):
    """The convolution of operands that hold the mapped axis, which its result has in axis ``where``, with that in front."""
    asked = params.get("out_sharding")
    if asked is not None:  # the merged axis is split as its outer part
        outer = structural.batched_placement(axis, asked, 0).spec.partitions[0] if groups == 1 else None
        merged = splits.with_axis(splits.without_axis(asked, where), where, outer)
        params = {**params, "out_sharding": merged}
    out, front = _unmerge(_convolve(lhs, rhs, params), where, axis.size, groups)
    return structural.reshard(out, structural.batched_placement(axis, asked, front)), front


def _merge(x, mapped, axis, groups):
    """Move the mapped axis into ``axis`` (counted without it), between the outer factor ``groups`` and the rest."""
    x = structural.moved(x, mapped, 0)
    size, *shape = np.shape(x)
    split = (*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1:])
    x = structural.moved(reshaped(x, (size, *split)), 0, axis + 1)
    return reshaped(x, (*shape[:axis], size * shape[axis], *shape[axis + 1:]))


def _unmerge(x, axis, size, groups):
    """The inverse of `_merge`, and where the mapped axis is then."""
    shape = np.shape(x)
    rest = shape[axis] // size
    split = reshaped(x, (*shape[:axis], groups, size, rest // groups, *shape[axis + 1:]))
    x = structural.moved(split, axis + 1, 0)
    return reshaped(x, (size, *shape[:axis], rest, *shape[axis + 1:])), 0


def _spec_text(spec, first, second):
    names = [""] * len(spec)
    for position, axis in enumerate(spec):
        names[axis] = (first, second)[position] if position < 2 else str(position - 2)
    return f"[{', '.join(names)}]"


def _conv_lower(b, lhs, rhs, **params):
    out = b.out_avals[0]
    if b.partitioned or b.platform == "cpu":
        params["out_sharding"] = None  # of other axes
        better = None
        if not b.partitioned:
            found = conv_cpu.convolved(b, lhs, rhs, params, conv_general_dilated_p.bind, _emitted)
            if found is not None:
                return found
        elif (better := conv_split.formulation(lhs.aval, rhs.aval, out, params, b.platform == "cpu")) is None and b.platform != "cpu":
            whole = conv_split.kept_whole(b, lhs, rhs, out, params)
            if whole is None:
                better = conv_split.formulation(lhs.aval, rhs.aval, out, params, True)
            else:
                lhs, rhs = whole
        if better is not None:
            return b.fun(better, lhs, rhs)[0]
    return _emitted(b, lhs, rhs, out, **params)


def _emitted(b, lhs, rhs, out, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
             batch_group_count, precision, preferred_element_type, out_sharding):
    """StableHLO's operation itself."""
    numbers = dimension_numbers
    if b.compiler_errs and b.platform == "cpu":
        lhs, padding = _cropped(b, lhs, padding, lhs_dilation, numbers.lhs_spec[2:])
    dims = (f"{_spec_text(numbers.lhs_spec, 'b', 'f')}x{_spec_text(numbers.rhs_spec, 'o', 'i')}->"
            f"{_spec_text(numbers.out_spec, 'b', 'f')}")
    window = (f"{{stride = {list(window_strides)}, pad = {[list(p) for p in padding]}, lhs_dilate = {list(lhs_dilation)}, "
              f"rhs_dilate = {list(rhs_dilation)}}}")
    left, right = (p.name for p in precision) if isinstance(precision, tuple) and isinstance(precision[0], Precision) else (
        "DEFAULT", "DEFAULT")
    attrs = (f"{{batch_group_count = {batch_group_count} : i64, feature_group_count = {feature_group_count} : i64, "
             f"precision_config = [#stablehlo<precision {left}>, #stablehlo<precision {right}>]}}")

    def convolve(b: Builder, x: Value, y: Value, out):
        return b.emit(f"stablehlo.convolution({x}, {y}) dim_numbers = {dims}, window = {window}", x, y, out=out, attrs=attrs)
    if lhs.aval.dtype.kind == "c":
        return _complex_lower(b, lhs, rhs, out, convolve)
    return convolve(b, lhs, rhs, out)


def _cropped(b, x, padding, dilation, axes):
    """``x`` without the elements before it that are cropped where something is filled in behind it, and the padding that is left.

    XLA's code for the CPU takes such an array for one without padding, and reads beyond it.
    """
    left = list(padding)
    for i, ((low, high), step, axis) in enumerate(zip(padding, dilation, axes)):
        n = x.aval.shape[axis]
        dropped = -(low // step)
        if low < 0 < high and dropped < n:
            x = emit_pad(b, x, b.scalar(0, x.aval.dtype), [(-dropped * (j == axis), 0, 0) for j in range(x.ndim)])
            left[i] = low + dropped * step, high
        elif low < 0 < high and (length := _dilated(n, step) + low + high) > 0:  # all is filled in
            x = b.full(0, x.aval.update(shape=[1 if j == axis else m for j, m in enumerate(x.aval.shape)]))
            left[i] = 0, length - 1
    return x, left


def _complex_lower(b, lhs, rhs, out, convolve):
    """Four real convolutions."""
    part = dtypes.to_floating_dtype(out.dtype)
    (a, c), (d, e) = ([b.emit(f"stablehlo.{name} {x}", x, out=x.aval.update(dtype=part)) for name in ("real", "imag")]
                      for x in (lhs, rhs))
    real_aval = out.update(dtype=part)
    ad, ce, ae, cd = (convolve(b, x, y, real_aval) for x, y in ((a, d), (c, e), (a, e), (c, d)))
    real = b.emit(f"stablehlo.subtract {ad}, {ce}", ad, ce, out=real_aval)
    imag = b.emit(f"stablehlo.add {ae}, {cd}", ae, cd, out=real_aval)
    return b.emit(f"stablehlo.complex {real}, {imag}", real, imag, out=out)


def _conv_reference(lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
                    feature_group_count, batch_group_count, precision, preferred_element_type, out_sharding=None):
    """By the formula of the module docstring, one output position after another."""
    numbers = dimension_numbers
    x, k = np.transpose(lhs, numbers.lhs_spec), np.transpose(rhs, numbers.rhs_spec)
    dtype = np.dtype(preferred_element_type or x.dtype)
    x, k = x.astype(np.result_type(dtype, np.float64) if dtype.kind not in "iuc" else dtype), k.astype(dtype)
    spatial = [_out_length(*a) for a in zip(x.shape[2:], k.shape[2:], window_strides, padding, lhs_dilation, rhs_dilation)]
    groups = feature_group_count * batch_group_count
    batch, per_group = x.shape[0] // batch_group_count, k.shape[0] // groups
    out = np.zeros((batch, k.shape[0], *spatial), x.dtype)
    for s in np.ndindex(*spatial):
        for at in np.ndindex(*k.shape[2:]):
            p = [i * st + j * rd - lo for i, st, j, rd, (lo, _) in zip(s, window_strides, at, rhs_dilation, padding)]
            if any(q % d or not 0 <= q // d < n for q, d, n in zip(p, lhs_dilation, x.shape[2:])):
                continue
            element = x[(slice(None), slice(None), *(q // d for q, d in zip(p, lhs_dilation)))]
            for g in range(groups):
                rows = element[g * batch:(g + 1) * batch] if batch_group_count > 1 else (
                    element[:, g * k.shape[1]:(g + 1) * k.shape[1]])
                features = slice(g * per_group, (g + 1) * per_group)
                out[(slice(None), features, *s)] += rows @ k[(features, slice(None), *at)].T
    return np.transpose(out, np.argsort(numbers.out_spec)).astype(dtype)


def _conv_splits(prim, avals, outs, params):
    """The batch and spatial axes of the images and the output channels of the kernel may be split."""
    numbers, result = params["dimension_numbers"], [None] * len(outs[0].shape)
    images, kernel = map(splits.entries, avals)
    if images[numbers.lhs_spec[1]] is not None or any(e is not None for e in (kernel[numbers.rhs_spec[1]], *[kernel[i] for i in numbers.rhs_spec[2:]])):
        raise ShardingTypeError(f"{prim.name}: the input channels, and the spatial axes of the kernel, must be whole; reshard the operands "
                                f"first. Operands: {splits.types_text(avals)}.")
    if kernel[numbers.rhs_spec[0]] is not None and any(images[i] is not None for i in numbers.lhs_spec[2:]):  # XLA's partitioner is wrong there
        raise ShardingTypeError(f"{prim.name}: the spatial axes of the images and the output channels of the kernel cannot both be split; reshard one "
                                f"of the operands first. Operands: {splits.types_text(avals)}.")
    lengths = outs[0].shape
    for i, o in zip((numbers.lhs_spec[0], *numbers.lhs_spec[2:]), (numbers.out_spec[0], *numbers.out_spec[2:])):
        if images[i] is not None and lengths[o] % splits.parts(avals[0].placement, images[i]):
            raise ShardingTypeError(f"{prim.name}: axis {o} of the result would have length {lengths[o]} and be split over {images[i]!r}, of which it "
                                    f"is no multiple; reshard the images first. Operands: {splits.types_text(avals)}.")
        result[o] = images[i]
    result[numbers.out_spec[1]] = kernel[numbers.rhs_spec[0]]
    return [tuple(result)]


conv_general_dilated_p = Primitive(
    "conv_general_dilated", out_type=_conv_type,
    jvp=(lambda g, out, x, k, **params: _convolve(g, k, params), lambda g, out, x, k, **params: _convolve(x, g, params)),
    transpose=_conv_transpose, batch=_conv_batch, lower=_conv_lower, reference=_conv_reference,
    traits=Traits(Kind.CONVOLUTION), splits=_conv_splits)

# -- public functions ----------------------------------------------------------------------------------------------------


def conv_general_dilated(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int],
                         padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
                         rhs_dilation: Sequence[int] | None = None,
                         dimension_numbers: ConvGeneralDilatedDimensionNumbers = None, feature_group_count: int = 1,
                         batch_group_count: int = 1, precision: PrecisionLike = None,
                         preferred_element_type: DTypeLike | None = None,
                         out_sharding: Placement | None = None) -> Array:
    """Convolution of a batch of images of any number of spatial axes (without reversing the kernel).

    Args:
      lhs: operand with a batch axis, a feature axis and spatial axes.
      rhs: kernel with an output feature axis, an input feature axis and as many spatial axes.
      window_strides: step of the window along each spatial axis.
      padding: ``"SAME"``, ``"SAME_LOWER"``, ``"VALID"``, or a pair (low, high) for each spatial axis; negative values crop.
      lhs_dilation, rhs_dilation: spacing put between elements of operand and kernel.
      dimension_numbers: see `conv_dimension_numbers`.
      feature_group_count: groups of input features, each convolved by its own group of output features.
      batch_group_count: groups of the batch, likewise.
      precision: as for `dot_general`.
      preferred_element_type: dtype of sums and result.
      out_sharding: placement of the result.

    Raises:
      TypeError: ranks or dtypes differ.
      ValueError: features and groups do not fit, or an argument has the wrong length. RuntimeError: the padding is unknown.

    Source: StableHLO `convolution`.

    >>> lax.conv_general_dilated(jnp.ones((1, 1, 4)), jnp.ones((2, 1, 3)), (1,), "SAME").shape
    (1, 2, 4)
    """
    lhs, rhs = as_operand("conv_general_dilated", lhs, 0), as_operand("conv_general_dilated", rhs, 1)
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    spatial = len(numbers.lhs_spec) - 2
    ldil = integers("lax.conv_general_dilated: lhs_dilation", lhs_dilation or (1,) * spatial)
    rdil = integers("lax.conv_general_dilated: rhs_dilation", rhs_dilation or (1,) * spatial)
    strides = integers("lax.conv_general_dilated: window_strides", window_strides)
    if isinstance(padding, str):
        if any(d != 1 for d in ldil):
            raise ValueError(f"lax.conv_general_dilated: padding={padding!r} has no meaning with lhs_dilation={ldil}; give the padding "
                             "in numbers, or use lax.conv_transpose.")
        window = [_dilated(np.shape(rhs)[i], d) for i, d in zip(numbers.rhs_spec[2:], rdil)]
        padding = padtype_to_pads([np.shape(lhs)[i] for i in numbers.lhs_spec[2:]], window, strides, padding)
    elif not isinstance(padding, (tuple, list, np.ndarray)) or not all(len(p) == 2 if isinstance(p, (tuple, list, np.ndarray)) else False for p in padding):
        raise ValueError(f"lax.conv_general_dilated: padding={padding!r} must be 'SAME', 'SAME_LOWER', 'VALID' or a sequence of pairs "
                        "(low, high).")
    element = None if preferred_element_type is None else dtypes.canonicalize_user_dtype(preferred_element_type, "conv_general_dilated")
    check_result_dtype("conv_general_dilated", dtypes.dtype(lhs), element, of_kind=True)
    return conv_general_dilated_p.bind(
        lhs, rhs, window_strides=strides, padding=tuple(integers("lax.conv_general_dilated: padding", pair) for pair in padding),
        lhs_dilation=ldil, rhs_dilation=rdil, dimension_numbers=numbers,
        feature_group_count=integer("lax.conv_general_dilated: feature_group_count", feature_group_count),
        batch_group_count=integer("lax.conv_general_dilated: batch_group_count", batch_group_count), precision=canonical_precision(precision),
        preferred_element_type=element, out_sharding=structural.resolved(out_sharding))


def conv(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int], padding: str, precision: PrecisionLike = None,
         preferred_element_type: DTypeLike | None = None) -> Array:
    """`conv_general_dilated` with batch and features first and no dilation. Source: StableHLO `convolution`.

    Args:
      lhs: arrays ``(batch, features, ...)``.
      rhs: kernels ``(features out, features in, ...)``.
      window_strides: by how much the window moves along each axis of space.
      padding: "VALID", "SAME", "SAME_LOWER", or a pair (before, after) for each axis of space.
      precision, preferred_element_type: as for `conv_general_dilated`.

    >>> lax.conv(jnp.ones((1, 1, 3, 3)), jnp.ones((1, 1, 2, 2)), (1, 1), "VALID")[0, 0]
    Array([[4., 4.],
           [4., 4.]], dtype=float32)
    """
    return conv_general_dilated(lhs, rhs, window_strides, padding, precision=precision,
                                preferred_element_type=preferred_element_type)


def conv_with_general_padding(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int],
                              padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None,
                              rhs_dilation: Sequence[int] | None, precision: PrecisionLike = None,
                              preferred_element_type: DTypeLike | None = None) -> Array:
    """`conv_general_dilated` with batch and features first.

    Args:
      rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision, preferred_element_type: as for `conv_general_dilated`.

    Source: StableHLO `convolution`.

    >>> x, kernel = jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 1, 2))
    >>> jax.lax.conv_with_general_padding(x, kernel, (1,), [(0, 0)], None, None)
    Array([[[1., 3., 5.]]], dtype=float32)
    """
    return conv_general_dilated(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
                                preferred_element_type=preferred_element_type)


_CHANNELS_LAST = {2: ("NC", "IO", "NC"), 3: ("NHC", "HIO", "NHC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NHWDC", "HWDIO", "NHWDC")}


def _transpose_padding(k, stride, padding):
    """Padding of the stretched operand for which the result is as long as the input of a forward convolution would be."""
    if padding == "SAME":
        total = k + stride - 2
        low = k - 1 if stride > k - 1 else -(-total // 2)
    elif padding == "VALID":
        total = k + stride - 2 + max(k - stride, 0)
        low = k - 1
    else:
        raise RuntimeError(f"lax.conv_transpose: padding={padding!r} must be 'SAME' or 'VALID' or pairs (low, high).")
    return low, total - low


def conv_transpose(lhs: ArrayLike, rhs: ArrayLike, strides: Sequence[int], padding: str | Sequence[tuple[int, int]],
                   rhs_dilation: Sequence[int] | None = None,
                   dimension_numbers: ConvGeneralDilatedDimensionNumbers = None, transpose_kernel: bool = False,
                   precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
                   use_consistent_padding: bool = False) -> Array:
    """Convolution with fractional stride ("deconvolution"): the operand is stretched by ``strides``.

    Args:
      lhs, rhs: operand and kernel, with features last unless ``dimension_numbers`` says otherwise.
      strides: stretching of each spatial axis.
      padding: ``"SAME"``, ``"VALID"``, or pairs (low, high) for the stretched operand.
      rhs_dilation: spacing between elements of the kernel.
      transpose_kernel: reverse the kernel and exchange its features: the gradient of the forward convolution.
      use_consistent_padding: pairs are the padding of the forward convolution whose transpose this is.
      precision, preferred_element_type: as for `conv_general_dilated`.

    Raises:
      ValueError: no default layout for this rank. RuntimeError: unknown padding.

    Source: StableHLO `convolution`.

    >>> lax.conv_transpose(jnp.ones((1, 2, 1)), jnp.ones((3, 1, 1)), (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")).shape
    (1, 4, 1)
    """
    rank = np.ndim(lhs)
    if dimension_numbers is None:
        if rank not in _CHANNELS_LAST:
            raise ValueError(f"lax.conv_transpose: no default dimension_numbers for {rank} axes; give them.")
        dimension_numbers = _CHANNELS_LAST[rank]
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    dilation = tuple(rhs_dilation or (1,) * (rank - 2))
    window = [_dilated(np.shape(rhs)[i], d) for i, d in zip(numbers.rhs_spec[2:], dilation)]
    if isinstance(padding, str):
        if padding in ("SAME", "VALID"):  # others are those of a forward convolution, which stretches nothing
            padding = [_transpose_padding(k, s, padding) for k, s in zip(window, strides)]
    elif use_consistent_padding:
        padding = [(k - 1 - low, k - 1 - high) for k, (low, high) in zip(window, padding)]
    if transpose_kernel:
        rhs = rev_p.bind(rhs, dimensions=tuple(numbers.rhs_spec[2:]))
        out_axis, in_axis = numbers.rhs_spec[:2]
        order = list(range(rank))
        order[out_axis], order[in_axis] = in_axis, out_axis
        rhs = structural.transpose(rhs, tuple(order))
    return conv_general_dilated(lhs, rhs, (1,) * (rank - 2), padding, strides, dilation, numbers, precision=precision,
                                preferred_element_type=preferred_element_type)


def conv_general_dilated_patches(lhs: ArrayLike, filter_shape: Sequence[int], window_strides: Sequence[int],
                                 padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
                                 rhs_dilation: Sequence[int] | None = None,
                                 dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
                                 precision: PrecisionLike = None,
                                 preferred_element_type: DTypeLike | None = None) -> Array:
    """The patches that a kernel of ``filter_shape`` would meet, laid out along the feature axis (features, then positions).

    Args:
      lhs: operand.
      filter_shape: spatial lengths of the patches.
      window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, precision, preferred_element_type: as for
        `conv_general_dilated`.

    Raises:
      TypeError: ``lhs`` has fewer than two axes.

    Source: StableHLO `convolution`.

    >>> x = jnp.arange(4.0).reshape(1, 1, 4)
    >>> jax.lax.conv_general_dilated_patches(x, (2,), (1,), 'VALID')[0]
    Array([[0., 1., 2.],
           [1., 2., 3.]], dtype=float32)
    """
    filter_shape = tuple(filter_shape)
    rank, dtype = np.ndim(lhs), get_aval(lhs).dtype
    if rank < 2:
        raise TypeError(f"lax.conv_general_dilated_patches: lhs must have a batch and a feature axis, got shape {np.shape(lhs)}")
    numbers = conv_dimension_numbers(np.shape(lhs), (1,) * rank, dimension_numbers)
    features, positions = np.shape(lhs)[numbers.lhs_spec[1]], math.prod(filter_shape)
    kernel = np.eye(positions, dtype=dtype).reshape(positions, 1, *filter_shape)
    kernel = np.tile(kernel, (features,) + (1,) * (rank - 1))
    kernel = np.transpose(kernel, np.argsort(numbers.rhs_spec))
    return conv_general_dilated(lhs, kernel, window_strides, padding, lhs_dilation, rhs_dilation, numbers,
                                feature_group_count=features, precision=precision,
                                preferred_element_type=preferred_element_type)


def conv_general_dilated_local(lhs: ArrayLike, rhs: ArrayLike, window_strides: Sequence[int],
                               padding: str | Sequence[tuple[int, int]], filter_shape: Sequence[int],
                               lhs_dilation: Sequence[int] | None = None, rhs_dilation: Sequence[int] | None = None,
                               dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
                               precision: PrecisionLike = None) -> Array:
    """Convolution with a kernel of its own for each output position.

    Args:
      lhs: operand.
      rhs: kernels: the output feature axis, an axis of length features * product of ``filter_shape``, and the spatial axes of
        the result.
      window_strides, padding, filter_shape, lhs_dilation, rhs_dilation, dimension_numbers, precision: as for
        `conv_general_dilated_patches`.

    Source: StableHLO `convolution`.

    >>> x, kernels = jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 2, 3))
    >>> jax.lax.conv_general_dilated_local(x, kernels, (1,), 'VALID', (2,))
    Array([[[1., 3., 5.]]], dtype=float32)
    """
    numbers = conv_dimension_numbers(np.shape(lhs), np.shape(rhs), dimension_numbers)
    pair = canonical_precision(precision)
    patches = conv_general_dilated_patches(lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, numbers,
                                           precision=pair)
    (lhs_features, *lhs_spatial), (rhs_features, *rhs_spatial) = numbers.out_spec[1:], numbers.rhs_spec[1:]
    out = dot_general(patches, rhs, (((lhs_features,), (rhs_features,)), (tuple(lhs_spatial), tuple(rhs_spatial))), pair)
    # axes of ``out``: spatial, batch, output features
    spatial = len(lhs_spatial)
    order = [0] * (spatial + 2)
    for place, axis in zip((spatial, spatial + 1, *range(spatial)), numbers.out_spec):
        order[axis] = place
    return structural.transpose(out, tuple(order))


