"""map: a function over the leading axis, one slice (or one batch of slices) after the other.

Built on `scan` without a carry; with ``batch_size`` each step of the scan is a `vmap` over so many slices.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.extension_points import LoopBody
from jax_core.representation import tree
from jax_core.representation.aval import get_aval
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import PyTree
from jax_core.traces.staging import check_may_trace
from jax_core.transformations.vmap import vmap

from ..shape import concatenate, reshape
from ..slicing import slice_in_dim
from .common import note_call, require_callable
from .scan import scan

if TYPE_CHECKING:
    from jax_core.representation.array import Array


@api_boundary
def map(f: Callable[..., Any], xs: PyTree, *, batch_size: int | None = None) -> Any:
    """``f`` on each slice of ``xs`` along the leading axis, in sequence; results are stacked.

    Args:
      f: function of one slice of ``xs``.
      xs: a pytree of arrays with equal leading axes.
      batch_size: run so many slices at once with `vmap`; the remainder runs as one smaller batch. None or 0: one by one.

    Returns:
      the stacked results: like ``vmap(f)(xs)``, with the memory of one slice (or batch) at a time.

    Raises:
      ValueError: the leading axes differ, or ``batch_size`` is negative.

    >>> lax.map(lambda x: x * x, jnp.arange(3))
    Array([0, 1, 4], dtype=int32)
    """
    require_callable("lax.map", f=f)
    if isinstance(f, LoopBody):
        return f.set_up_map(map, xs, batch_size=batch_size)
    if flags.no_tracing.value:  # what is traced is a function of ours, each time
        check_may_trace(f, [get_aval(x) for x in tree.leaves(xs)])
    if batch_size is None or batch_size == 0:
        def body(_, x):
            try:
                return (), f(x)
            except TypeError as error:
                note_call("map", f, 1, error)
                raise
        return scan(body, (), xs)[1]
    if not hasattr(batch_size, "__index__") or batch_size.__index__() < 0:
        raise ValueError(f"lax.map: batch_size must be a positive integer or 0, got {batch_size!r}.")
    return _map_batches(f, xs, batch_size.__index__())


def _map_batches(f, xs, size):
    leaves, structure = tree.flatten(xs)
    if not leaves:
        raise ValueError("lax.map got no values to map over.")
    length = np.shape(leaves[0])[0]
    count, rest = divmod(length, size)
    run = vmap(f)
    if not count:
        return run(xs)
    whole = count * size
    batches = tree.unflatten(structure, [
        reshape(x if not rest else slice_in_dim(x, 0, whole), (count, size, *np.shape(x)[1:])) for x in leaves])
    stacked = scan(lambda _, x: ((), run(x)), (), batches)[1]
    joined = tree.tree_map(lambda y: reshape(y, (whole, *np.shape(y)[2:])), stacked)
    if not rest:
        return joined
    last = run(tree.unflatten(structure, [slice_in_dim(x, whole, length) for x in leaves]))
    return tree.tree_map(lambda a, b: concatenate([a, b], 0), joined, last)


def map_flat(f: Callable, xs: Sequence[Array]) -> list:
    """`map` for a function of several flat arguments that returns a list."""
    return scan(lambda _, x: ((), list(f(*x))), (), list(xs))[1]
