"""associative_scan: all prefixes of an associative operation, in logarithmic depth.

Source: Blelloch, "Prefix sums and their applications", 1990: combine neighbours, scan the half as long sequence of
pairs, and fill in the other half from it.
"""
from __future__ import annotations

from typing import Any, Callable

import numpy as np

from jax_core.representation import tree
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import PyTree

from ..interleave import interleave
from ..shape import concatenate, rev
from ..slicing import slice_in_dim
from .common import require_callable


@api_boundary
def associative_scan(fn: Callable[..., PyTree], elems: PyTree, reverse: bool = False, axis: int = 0) -> Any:
    """The prefixes ``e0, fn(e0, e1), fn(fn(e0, e1), e2), ...`` along ``axis``.

    Args:
      fn: associative function of two values of the structure of ``elems``, applied to many pairs at once: its arguments
        are slices of the same length along ``axis``.
      elems: a pytree of arrays with equal lengths along ``axis``.
      reverse: suffixes in place of prefixes.
      axis: the axis to scan along.

    Returns:
      a pytree like ``elems``.

    Raises:
      TypeError: ``fn`` is not callable. ValueError: lengths along ``axis`` differ, or ``axis`` does not exist.

    Source: Blelloch, "Prefix sums and their applications", 1990.

    >>> lax.associative_scan(jnp.add, jnp.array([1, 2, 3, 4]))
    Array([ 1,  3,  6, 10], dtype=int32)
    """
    require_callable("lax.associative_scan", fn=fn)
    leaves, structure = tree.flatten(elems)
    if not leaves:
        return elems
    axes = [_axis(x, axis) for x in leaves]
    sizes = sorted({np.shape(x)[a] for x, a in zip(leaves, axes)})
    if len(sizes) > 1:
        shapes = ", ".join(str(np.shape(x)) for x in leaves)
        which = ", the first dimension" if axis == 0 else ""
        raise ValueError(f"lax.associative_scan: all elements must have the same length along axis {axis}{which}, got shapes {shapes}.")
    if reverse:
        leaves = [rev(x, (a,)) for x, a in zip(leaves, axes)]

    def combine(first, second):
        result = fn(tree.unflatten(structure, first), tree.unflatten(structure, second))
        return tree.leaves(result)
    result = _prefixes(combine, leaves, axes)
    if reverse:
        result = [rev(x, (a,)) for x, a in zip(result, axes)]
    return tree.unflatten(structure, result)


def _axis(x, axis):
    rank = np.ndim(x)
    if not -rank <= axis < rank:
        raise ValueError(f"lax.associative_scan: axis {axis} does not exist in an array of shape {np.shape(x)}.")
    return axis % rank


def _prefixes(combine, leaves, axes):
    n = np.shape(leaves[0])[axes[0]]
    if n < 2:
        return leaves
    cut = lambda xs, start, stop, step=1: [slice_in_dim(x, start, stop, step, a) for x, a in zip(xs, axes)]
    pairs = combine(cut(leaves, 0, n - 1, 2), cut(leaves, 1, n, 2))
    odd = _prefixes(combine, pairs, axes)
    first = cut(leaves, 0, 1)
    if n > 2:
        before = odd if n % 2 else cut(odd, 0, n // 2 - 1)
        even = combine(before, cut(leaves, 2, n, 2))
        even = [concatenate([a, b], axis) for a, b, axis in zip(first, even, axes)]
    else:
        even = first
    return [interleave(a, b, axis) for a, b, axis in zip(even, odd, axes)]
