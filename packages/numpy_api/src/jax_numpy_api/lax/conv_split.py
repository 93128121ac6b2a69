"""Convolutions with few results in programs that the compiler splits over several devices.

Such is the gradient of a kernel: the cotangent meets the images at as many positions as the kernel has elements. XLA's partitioner adds
the parts of such a convolution up over *all* devices, also over those that a mesh axis leaves with equal parts, if the spatial axes are
split, or if there are groups and the batch is: on a mesh of 4 x 2 devices whose second axis splits nothing, the gradient of a depthwise
kernel is twice what it should be (jaxlib 0.10.2 and 0.12). So each position is written as a product of matrices, which is partitioned well.

The compilers of accelerators convolve better than they multiply, and types do not tell how ``Auto`` mesh axes split. There, where neither groups
nor types ask for products, the operands are kept whole along the spatial axes (`kept_whole`), which costs nothing where only batch or features are
split. Left aside: to do so on the CPU, where images split in space take as many times the memory and the time.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.traces.structural import transpose

from .dot import dot_general
from .nary import constant
from .pad import pad
from .shape import concatenate, reshaped
from .slicing import slice as slice_

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array
    from jax_core.representation.aval import ShapedArray

_POSITIONS = 256  # so many products are written out


def formulation(lhs: ShapedArray, rhs: ShapedArray, out: ShapedArray, params: dict, anywhere: bool) -> Callable | None:
    """A function of operand and kernel that convolves them by a product for each position of the result; None where there are many.

    Args:
      lhs, rhs, out: types.
      params: parameters of `conv_general_dilated_p`.
      anywhere: also without groups, and where no type says that a spatial axis is split.
    """
    numbers = params["dimension_numbers"]
    positions = _few_positions(rhs, out, numbers)
    if positions is None or math.prod(positions) > _POSITIONS or 0 in (*lhs.shape, *rhs.shape, *out.shape):
        return None
    split = any(x.placement is not None and x.placement.spec.partitions[i] is not None
                for x, spec in ((lhs, numbers.lhs_spec), (rhs, numbers.rhs_spec)) for i in spec[2:])
    if not (anywhere or split or params["batch_group_count"] > 1):
        return None
    return lambda x, k: _by_position(x, k, params, positions, out.dtype)


def _few_positions(rhs: ShapedArray, out: ShapedArray, numbers: Any) -> list[int] | None:
    """The lengths of the result in space; None where its elements are more than the kernel's, or are not known."""
    positions, window = [out.shape[i] for i in numbers.out_spec[2:]], [rhs.shape[i] for i in numbers.rhs_spec[2:]]
    known = all(isinstance(n, int) for n in (*positions, *window))
    return positions if known and math.prod(positions) <= math.prod(window) else None  # type: ignore[return-value]


def kept_whole(b: Builder, lhs: Value, rhs: Value, out: ShapedArray, params: dict) -> tuple[Value, Value] | None:
    """Operand and kernel of a convolution with few results, which the compiler may split, but not in space; None where it cannot be told so."""
    numbers = params["dimension_numbers"]
    if _few_positions(rhs.aval, out, numbers) is None:  # type: ignore[arg-type]
        return lhs, rhs
    x, k = b.whole_along(lhs, numbers.lhs_spec[2:]), b.whole_along(rhs, numbers.rhs_spec[2:])
    return None if x is None or k is None else (x, k)


def _by_position(x: Array, k: Array, params: dict, positions: list, dtype: np.dtype) -> Any:
    numbers = params["dimension_numbers"]
    x, k = transpose(x, tuple(numbers.lhs_spec)), transpose(k, tuple(numbers.rhs_spec))
    x = pad(x, constant(0, x), [
        (0, 0, 0), (0, 0, 0), *((low, high, d - 1) for (low, high), d in zip(params["padding"], params["lhs_dilation"]))])
    (batch, features), (outputs, inputs, *window) = np.shape(x)[:2], np.shape(k)
    of_features, of_batch = params["feature_group_count"], params["batch_group_count"]
    groups = of_features * of_batch
    k = reshaped(k, (groups, outputs // groups, inputs, *window))
    summed = tuple(range(2, 3 + len(window)))
    results = []
    for at in np.ndindex(*positions):
        start = [i * step for i, step in zip(at, params["window_strides"])]
        stop = [a + (n - 1) * d + 1 for a, n, d in zip(start, window, params["rhs_dilation"])]
        part = slice_(x, [0, 0, *start], [batch, features, *stop], [1, 1, *params["rhs_dilation"]])
        if of_features > 1:
            part = transpose(reshaped(part, (batch, groups, inputs, *window)), (1, 0, *summed))
        else:
            part = reshaped(part, (groups, batch // groups, features, *window))
        found = dot_general(part, k, ((summed, summed), ((0,), (0,))), params["precision"], dtype)  # groups, batch, outputs
        results.append(reshaped(transpose(found, (1, 0, 2)), (1, batch // of_batch, outputs)))
    whole = reshaped(concatenate(results, 0) if len(results) > 1 else results[0], (*positions, batch // of_batch, outputs))
    order = [0] * len(numbers.out_spec)
    for axis, where in zip(numbers.out_spec, (len(positions), len(positions) + 1, *range(len(positions)))):
        order[axis] = where
    return transpose(whole, tuple(order))


__all__ = ["formulation", "kept_whole"]
