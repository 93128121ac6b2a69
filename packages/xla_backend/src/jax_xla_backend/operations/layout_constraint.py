"""Layouts inside a program: `with_layout_constraint`, `explicit_layout`.

Source: XLA, custom call ``LayoutConstraint``.
"""
from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from jax_core.representation import splits, tree
from jax_core.representation.marks import LINEAR
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import PyTree

from ..arrays.array import ArrayImpl
from ..arrays.put import put
from ..placement.layout import Format, Layout


def _lower(b, x, *, layout):
    return b.laid_out(x, layout.major_to_minor)


def _stored(x, *, layout):
    """Outside of a program the array itself is stored so: a program's result would have the usual layout again."""
    x = x if isinstance(x, ArrayImpl) else put(x)
    return put(x, None, Format(layout, x.sharding))


def _batch(axis, args, dims, *, layout):
    (x,), (d,) = args, dims
    order = (d, *(i + (i >= d) for i in layout.major_to_minor))
    return layout_constraint_p.bind(x, layout=Layout(order, layout.tiling, layout.sub_byte_element_size_in_bits)), d


layout_constraint_p: Primitive = Primitive(
    "layout_constraint", out_type=lambda x, *, layout: x, jvp=LINEAR, batch=_batch, lower=_lower, impl=_stored,
    transpose=lambda ct, x, *, layout: layout_constraint_p.bind(ct, layout=layout), splits=splits.as_first)


def _is_layout(x: Any) -> bool:
    return isinstance(x, Layout) or x is Layout.AUTO or x is None


def with_layout_constraint(x: PyTree, layouts: PyTree) -> Any:
    """``x``, stored inside the program as ``layouts`` say.

    Args:
      x: an array or a pytree of arrays.
      layouts: a `Layout`, or a pytree of them that is a prefix of ``x``. Only ``major_to_minor`` counts; tiles are the compiler's.

    Raises:
      ValueError: something else than a `Layout`, or one for another number of axes.

    >>> from jax.experimental.layout import Layout, with_layout_constraint
    >>> jax.jit(lambda x: with_layout_constraint(x, Layout((1, 0))) + 1)(jnp.zeros((2, 2)))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    leaves, structure = tree.tree_flatten(x)
    wanted = tree.broadcast_prefix(layouts, x, is_leaf=_is_layout)
    return tree.tree_unflatten(structure, [_constrain(leaf, layout) for leaf, layout in zip(leaves, wanted)])


def _constrain(x, layout):
    if not isinstance(layout, Layout):
        raise ValueError(f"with_layout_constraint: expected a Layout, got {layout!r} of type {type(layout).__name__}")
    try:
        layout.check_compatible_aval(np.shape(x))
    except ValueError as error:
        raise ValueError(f"with_layout_constraint: an argument is incompatible with its layout: {error}") from None
    return layout_constraint_p.bind(x, layout=layout)


def explicit_layout(f: Callable[..., PyTree] | None = None, /, *, in_layouts: PyTree = None) -> Callable:
    """``f``, whose arguments are stored as ``in_layouts`` say: `with_layout_constraint` of each.

    Args:
      f: the function; without it, a decorator.
      in_layouts: a `Layout`, ``Layout.AUTO`` or None (the compiler chooses), as a pytree prefix of the arguments.

    >>> from jax.experimental.layout import Layout, explicit_layout
    >>> jax.jit(explicit_layout(lambda x: x.sum(0), in_layouts=Layout((1, 0))))(jnp.arange(4.).reshape(2, 2))
    Array([2., 4.], dtype=float32)
    """
    if f is None:
        return lambda f: explicit_layout(f, in_layouts=in_layouts)

    @functools.wraps(f)
    def placed(*args):
        leaves, structure = tree.tree_flatten(args)
        wanted = tree.broadcast_prefix(in_layouts, args, is_leaf=_is_layout)
        leaves = [x if layout is None or layout is Layout.AUTO else _constrain(x, layout) for x, layout in zip(leaves, wanted)]
        return f(*tree.tree_unflatten(structure, leaves))
    return placed


__all__ = ["explicit_layout", "layout_constraint_p", "with_layout_constraint"]
