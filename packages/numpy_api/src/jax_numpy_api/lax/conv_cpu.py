"""How convolutions are put to XLA's CPU compiler, which has one fast form and is slow with all others.

The fast form is channels last (``NHWC``, ``HWIO``) without groups; it calls a library. XLA brings other layouts into that
form, but only outside of loops: inside one, it emits a plain nest of loops 30 to 200 times slower. So the transposes are
written here. Groups are slow everywhere, and are taken apart:

- one input feature for each group ("depthwise") and a small kernel: a sum over the kernel's elements of shifted operand
  times element, which is one fused loop (8x32x32x16 with 3x3: 0.11 ms in place of 3.9). Operand and result are in memory, as
  those of other convolutions are: else they are computed again for each element of the kernel and by all that reads the result
  (8x32x32x16 with 3x3, and its sum over space: 5.5 ms in place of 0.07; `benchmarks/programs/loops.py`);
- other groups: so many groups together that about 32 features meet, as one dense kernel with zeros between different
  groups (64 features in 32 groups: 3 ms in place of 20; in 8 groups: 3 in place of 9.6);
  A zero times what is infinite or NaN in another group is NaN: a result that holds one is computed again as it was given;
- groups of the batch (the gradient of the kernel): the same, with what different groups make of each other left out.

The library has no float64, for which XLA always emits loops; there a product of matrices over the kernel's elements, or
for each position of a small result (the gradient of the kernel), is up to 10 times faster, but for few output features, and for many of images
(`_products`; `benchmarks/programs/own_functions.py`: 100,000 numbers convolved with 50 take 3 ms in loops and 43 as a product).

Left aside: patches and a product of matrices for each group, no faster than XLA's own loops.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.traces.structural import broadcast_in_dim, optimization_barrier_p, reduce_sum, transpose, zeros

from .arithmetic import add, mul
from .compare import eq
from .control_flow.lowering import emit_case
from .convert import convert_element_type
from .dot import dot_general
from .nary import constant
from .pad import pad
from .reduce import reduce_and
from .select import select
from .shape import concatenate, reshaped
from .slicing import slice as slice_, slice_in_dim

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array

_TAPS = 64  # so many kernel elements are written out
# Output features in float64 for which XLA's loops are as fast as products: so many at most; over two axes, so many at least; and less than so many where
# so many elements are to be multiplied that caches do not hold them, or any number for ten times as many.
_FEW_OUTPUTS, _MANY_OUTPUTS, _SOME_OUTPUTS, _LARGE = 2, 24, 12, 3 << 19
_FEATURES = 32  # so many features of merged groups
_GROUPS = 64  # so many convolutions in place of one


def convolved(b: Builder, lhs: Value, rhs: Value, params: dict, bind: Callable, as_given: Callable[..., Value]) -> Value | None:
    """The convolution in a form that XLA's CPU compiler does well, or None where the form given is such a form, or there is none.

    Args:
      params: parameters of `conv_general_dilated_p`.
      bind: convolves in the fast form: `conv_general_dilated_p.bind`.
      as_given: writes a convolution as StableHLO's operation: ``as_given(b, x, k, out_type, **params)``.
    """
    out = b.out_avals[0]
    if lhs.aval.dtype not in (np.float32, np.float16, np.float64) or not 3 <= out.ndim <= 5 or 0 in (lhs.aval.size, rhs.aval.size, out.size):
        return None
    if out.dtype != lhs.aval.dtype:
        return None
    numbers, rank = params["dimension_numbers"], out.ndim
    last, kernel_last = (0, rank - 1, *range(1, rank - 1)), (rank - 1, rank - 2, *range(rank - 2))
    to_last, kernel_to_last = _order(numbers.lhs_spec, last), _order(numbers.rhs_spec, kernel_last)
    from_last = _order(last, numbers.out_spec)
    changed = {**params, "dimension_numbers": type(numbers)(last, kernel_last, last)}
    if _is_depthwise(rhs.aval, params):
        return _written_depthwise(b, lhs, rhs, changed, to_last, kernel_to_last, from_last)
    canonical = (tuple(numbers.lhs_spec), tuple(numbers.rhs_spec), tuple(numbers.out_spec)) == (last, kernel_last, last)
    inner, mixed = _inner(lhs.aval, rhs.aval, params)
    outputs, inputs, *window = [rhs.aval.shape[i] for i in numbers.rhs_spec]
    batch, _, *spatial = [out.shape[i] for i in numbers.out_spec]
    products = out.dtype == np.float64 and _products(batch, window, inputs, outputs, spatial)
    as_it_is = canonical or out.dtype == np.float64 and outputs < _MANY_OUTPUTS  # loops over few features are faster where these are not last
    if inner is None or as_it_is and inner is _plain and not products:  # else `_plain` would bind what it was asked for, without end
        return None
    if not mixed:
        return b.fun(lambda x, k: transpose(inner(transpose(x, to_last), transpose(k, kernel_to_last), changed, bind), from_last), lhs, rhs)[0]
    x, k = b.fun(lambda x, k: (transpose(x, to_last), transpose(k, kernel_to_last)), lhs, rhs)
    found, = b.fun(lambda x, k: inner(x, k, changed, bind), x, k)
    right, = b.fun(lambda y: convert_element_type(reduce_and(eq(y, y), range(rank)), np.int32), found)
    found, = emit_case(b, right, [lambda b: [as_given(b, x, k, found.aval, **changed)], lambda b: [found]], [found.aval])
    return b.fun(lambda y: transpose(y, from_last), found)[0]


def _written_depthwise(b: Builder, lhs: Value, rhs: Value, params: dict, to_last: tuple, kernel_to_last: tuple, from_last: tuple) -> Value:
    """`_depthwise`, of an operand in memory with its padding: where a slice has none of it, XLA would read, and compute again, what was padded."""
    x, = b.fun(lambda x: _padded(transpose(x, to_last), params), lhs)
    if not b.given(x):
        x = b.in_memory(x, "a convolution reads it for each element of its kernel")
    found, = b.fun(lambda x, k: _depthwise(x, transpose(k, kernel_to_last), params), x, rhs)
    return b.fun(lambda y: transpose(y, from_last), b.in_memory(found, "a convolution"))[0]


def _is_depthwise(rhs, params) -> bool:
    """Whether each group is of one input feature, and the kernel small."""
    _, inputs, *window = (rhs.shape[i] for i in params["dimension_numbers"].rhs_spec)
    return params["feature_group_count"] > 1 and inputs == 1 and math.prod(window) <= _TAPS


def _order(old, new):
    """The permutation that brings axes in places ``old`` to places ``new``."""
    order = [0] * len(old)
    for a, b in zip(old, new):
        order[b] = a
    return tuple(order)


def _inner(lhs, rhs, params):
    """The fast form, None if there is none; and whether features of different groups meet in it, times zeros."""
    numbers, batch_groups = params["dimension_numbers"], params["batch_group_count"]
    count = params["feature_group_count"] * batch_groups
    if count == 1:
        return _plain, False
    widest = max(rhs.shape[numbers.rhs_spec[0]] // count, 1 if batch_groups > 1 else rhs.shape[numbers.rhs_spec[1]])
    if batch_groups > 1:
        widest = max(widest, lhs.shape[numbers.lhs_spec[0]] // count)
    together = max(r for r in range(1, count + 1) if count % r == 0 and (r == 1 or r * widest <= _FEATURES))
    if count // together > _GROUPS:
        return None, False
    merged = _merged_batch if batch_groups > 1 else _merged
    return lambda x, k, params, bind: merged(x, k, params, bind, count, together), merged is _merged and together > 1


def _plain(x: Any, k: Array, params: dict, bind: Callable) -> Any:
    """Without groups."""
    if x.dtype == np.float64:
        padded = _padded(x, params)
        if any(d > 1 for d in params["lhs_dilation"]):
            padded = optimization_barrier_p.bind(padded)[0]  # else each tap asks anew which elements are zeros between
        spatial = _positions(padded, k, params)
        *window, inputs, outputs = np.shape(k)
        if products := _products(np.shape(x)[0], window, inputs, outputs, spatial):
            return products(padded, k, params, spatial)
    return bind(x, k, **params)


def _products(batch: int, window: Sequence[int], inputs: int, outputs: int, spatial: Sequence[int]) -> Callable | None:
    """How a convolution in float64 is products of matrices; None where XLA's loops are better, and for a large kernel and a large result."""
    multiplied = batch * math.prod(spatial) * math.prod(window) * inputs
    too_large = multiplied > (_LARGE if outputs < _SOME_OUTPUTS else 10 * _LARGE)
    over_images = len(window) == 2 and (outputs >= _MANY_OUTPUTS or too_large)
    if outputs <= _FEW_OUTPUTS or over_images:
        return None
    if math.prod(spatial) <= min(_TAPS, math.prod(window)):
        return _by_results
    return _by_taps if math.prod(window) <= _TAPS else None


def _padded(x, params):
    """The operand with its padding and dilation written out."""
    config = [(low, high, d - 1) for (low, high), d in zip(params["padding"], params["lhs_dilation"])]
    return pad(x, constant(0, x), [(0, 0, 0), *config, (0, 0, 0)]) if any(map(any, config)) else x


def _positions(x, k: Array, params) -> list[int]:
    """The spatial shape of the result of an operand that is padded."""
    steps = zip(np.shape(x)[1:-1], np.shape(k)[:-2], params["rhs_dilation"], params["window_strides"])
    return [(n - (w - 1) * d - 1) // s + 1 for n, w, d, s in steps]


def _part(x, start, count, step):
    """``count[i]`` elements from ``start[i]`` on, along each spatial axis."""
    stop = [a + (n - 1) * s + 1 for a, n, s in zip(start, count, step)]
    return slice_(x, [0, *start, 0], [np.shape(x)[0], *stop, np.shape(x)[-1]], [1, *step, 1])


def _by_taps(x: Any, k: Array, params: dict, spatial: list) -> Any:
    """The part of the padded operand that each kernel element meets, side by side, times the kernel."""
    *window, inputs, outputs = np.shape(k)
    taps = [_part(x, [i * d for i, d in zip(at, params["rhs_dilation"])], spatial, params["window_strides"])
            for at in np.ndindex(*window)]
    rank = np.ndim(x)
    k = reshaped(k, (len(taps) * inputs, outputs))
    return dot_general(concatenate(taps, rank - 1), k, (((rank - 1,), (0,)), ((), ())), params["precision"])


def _by_results(x: Any, k: Array, params: dict, spatial: list) -> Any:
    """The whole kernel times the part of the padded operand that makes each position of the result."""
    *window, inputs, outputs = np.shape(k)
    axes, parts = tuple(range(1, np.ndim(x))), []
    for at in np.ndindex(*spatial):
        part = _part(x, [i * s for i, s in zip(at, params["window_strides"])], window, params["rhs_dilation"])
        parts.append(dot_general(part, k, ((axes, tuple(range(len(window) + 1))), ((), ())), params["precision"]))
    return reshaped(concatenate([reshaped(p, (np.shape(p)[0], 1, outputs)) for p in parts], 1),
                    (np.shape(x)[0], *spatial, outputs))


def _depthwise(x: Any, k: Array, params: dict) -> Any:
    """Each feature ``c`` of ``x``, which is padded, by the kernels ``k[..., 0, c * m:(c + 1) * m]``, element after element."""
    *window, _, features = np.shape(k)
    spatial = _positions(x, k, params)
    batch, *_, channels = np.shape(x)
    strides, dilation = params["window_strides"], params["rhs_dilation"]
    shape = (batch, *spatial, channels, features // channels)
    k = reshaped(k, (*window, channels, features // channels))
    first, total = tuple(range(len(spatial) + 2)), None
    for at in np.ndindex(*window):
        part = _part(x, [i * d for i, d in zip(at, dilation)], spatial, strides)
        tap = reshaped(slice_(k, [*at, 0, 0], [*(i + 1 for i in at), *shape[-2:]]), shape[-2:])
        term = mul(broadcast_in_dim(part, shape, first), broadcast_in_dim(tap, shape, first[-1:] + (len(first),)))
        total = term if total is None else add(total, term)
    return reshaped(total, (batch, *spatial, features))


def _own_group(r: int, shape: tuple, first: int, second: int) -> np.ndarray:
    """Where the positions along two axes, each of which holds ``r`` groups, are of the same group."""
    one, two = np.arange(shape[first]) * r // shape[first], np.arange(shape[second]) * r // shape[second]
    return one[:, None] == two


def _merged(x: Any, k: Array, params: dict, bind: Callable, count: int, r: int) -> Any:
    """``count`` groups of features, ``r`` at a time as one dense kernel."""
    rank, inputs, outputs = np.ndim(x), np.shape(k)[-2], np.shape(k)[-1] // count
    params, parts = {**params, "feature_group_count": 1}, []
    for g in range(0, count, r):
        kernel = slice_in_dim(k, g * outputs, (g + r) * outputs, axis=rank - 1)
        if r > 1:  # by an axis of groups: a concatenation is code for each of its parts
            *window, _, features = np.shape(kernel)
            shape, lead = (*window, r, inputs, features), rank - 2
            kernel = broadcast_in_dim(kernel, shape, (*range(lead), lead + 1, lead + 2))
            own = broadcast_in_dim(_own_group(r, shape, lead, -1), shape, (lead, lead + 2))
            kernel = select(own, kernel, zeros(ShapedArray(shape, kernel.dtype)))
            kernel = reshaped(kernel, (*window, r * inputs, features))
        parts.append(_plain(slice_in_dim(x, g * inputs, (g + r) * inputs, axis=rank - 1), kernel, params, bind))
    return concatenate(parts, rank - 1) if len(parts) > 1 else parts[0]


def _merged_batch(x: Any, k: Array, params: dict, bind: Callable, count: int, r: int) -> Any:
    """``count`` groups of the batch, ``r`` at a time against all of their kernels."""
    rank, batch, outputs = np.ndim(x), np.shape(x)[0] // count, np.shape(k)[-1] // count
    params, parts = {**params, "batch_group_count": 1}, []
    for g in range(0, count, r):
        part = _plain(slice_in_dim(x, g * batch, (g + r) * batch, axis=0),
                      slice_in_dim(k, g * outputs, (g + r) * outputs, axis=rank - 1), params, bind)
        if r > 1:
            shape = np.shape(part)
            own = broadcast_in_dim(_own_group(r, shape, 0, -1), shape, (0, rank - 1))
            part = select(own, part, zeros(ShapedArray(shape, part.dtype)))
            part = reduce_sum(reshaped(part, (r, batch, *shape[1:])), (0,))
        parts.append(part)
    return concatenate(parts, rank - 1) if len(parts) > 1 else parts[0]


__all__ = ["convolved"]
