"""Types of a library's own that `vmap` maps as wholes: how a batch of such a value becomes one element, and back.

A type that is registered here stops `vmap` from looking into it as a pytree: its entry in ``in_axes`` and ``out_axes`` is a
spec that its own functions understand.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..configuration import context
from ..representation import tree
from ..representation.aval import plain_values
from ..traces.structural import matchaxis
from .batching import AxisData, BatchTrace, in_scope

if TYPE_CHECKING:
    from ..representation.typing import AxisName, PyTree


class _Registered:
    """The functions of one type."""

    __slots__ = ("spec_type", "to_elt", "from_elt")

    def __init__(self, spec_type: type, to_elt: Callable[..., Any], from_elt: Callable[..., Any]):
        self.spec_type, self.to_elt, self.from_elt = spec_type, to_elt, from_elt


registered: dict[type, _Registered] = {}


def register_vmappable(data_type: type, spec_type: type, axis_size_type: type, to_elt: Callable[..., object],
                       from_elt: Callable[..., object], make_iota: Callable[..., object] | None = None) -> None:
    """Have `vmap` map values of ``data_type`` as wholes.

    Args:
      spec_type: what stands for such a value in ``in_axes`` and ``out_axes``.
      axis_size_type: of the length of the mapped axis, which is an int here.
      to_elt: ``to_elt(cont, get_size, value, spec) -> element``; ``cont(array, axis)`` gives the element of an array, or of
        another registered value.
      from_elt: ``from_elt(cont, size, element, spec) -> value``; ``cont(size, element, axis)`` gives the whole again.
      make_iota: accepted and not needed.

    Raises:
      TypeError: the type is registered already.
    """
    if data_type in registered:
        raise TypeError(f"register_vmappable: {data_type.__name__} is registered already; call unregister_vmappable first")
    registered[data_type] = _Registered(spec_type, to_elt, from_elt)


def unregister_vmappable(data_type: type) -> None:
    """Undo `register_vmappable`. Raises KeyError if ``data_type`` is not registered.

    >>> from jax.interpreters import batching
    >>> class Row:
    ...     pass
    >>> class Rows:
    ...     pass
    >>> batching.register_vmappable(Row, Rows, int, None, None)
    >>> batching.unregister_vmappable(Row)
    """
    del registered[data_type]


def is_vmappable(x: object) -> bool:
    """Whether ``x`` is mapped as a whole."""
    return type(x) in registered


def is_spec(x: object) -> bool:
    """Whether ``x`` stands for an axis: None, or a spec of a registered type."""
    return x is None or any(isinstance(x, r.spec_type) for r in registered.values())


def to_elt(trace: BatchTrace, get_size: Callable[[], int], x: Any, spec: Any) -> Any:
    """One element of a batch, as ``trace`` sees it: a tracer for an array, for a value of a registered type what its own function makes of it.

    Args:
      get_size: gives the length of the mapped axis.
      x: the whole.
      spec: the axis of an array, None where all elements share it; what stands for an axis of a registered type.

    Raises:
      ValueError: an array does not have the axis.

    Source: the inner half of `register_vmappable`, which brainstate (and so brainpy) imports.

    >>> from jax._src.interpreters.batching import to_elt
    >>> jax.vmap(lambda x: x + to_elt(x._trace, lambda: 2, jnp.ones((3, 2)), 1).sum())(jnp.arange(2.))
    Array([3., 4.], dtype=float32)
    """
    if is_vmappable(x):
        return registered[type(x)].to_elt(lambda part, axis: to_elt(trace, get_size, part, axis), get_size, x, spec)
    if spec is None:
        return x
    if not -np.ndim(x) <= spec < np.ndim(x):
        raise ValueError(f"to_elt: an array of shape {np.shape(x)} has no axis {spec}")
    return trace.box(x, spec % np.ndim(x))


def mapped(fun: Callable[..., PyTree], args: tuple, kwargs: dict, in_axes: object, out_axes: object, axis_name: AxisName | Sequence[AxisName],
           axis_size: int | None) -> Any:
    """``fun`` on a batch some of whose arguments are of registered types."""
    flat, in_tree = tree.flatten((args, kwargs), is_leaf=is_vmappable)
    flat = plain_values(flat)
    positional = tree.broadcast_prefix(in_axes, _leaves_as_marks(args), is_leaf=is_spec)
    specs = [*positional, *[0] * (len(flat) - len(positional))]
    axis = AxisData(axis_name, _size(flat, specs, axis_size))
    trace = BatchTrace(context.state.trace, axis)

    def whole(size: int, x, spec):
        if is_vmappable(x):
            return registered[type(x)].from_elt(whole, size, x, spec)
        value, dim = trace.unbox(x)
        return matchaxis(axis, value, dim, spec)

    elements = [to_elt(trace, lambda: axis.size, x, spec) for x, spec in zip(flat, specs)]
    with context.Use(trace), in_scope(axis):
        given, given_kwargs = tree.unflatten(in_tree, elements)
        outs, out_tree = tree.flatten(fun(*given, **given_kwargs), is_leaf=is_vmappable)
        wanted = tree.broadcast_prefix(out_axes, tree.unflatten(out_tree, range(len(outs))), is_leaf=is_spec)
        return tree.unflatten(out_tree, [whole(axis.size, x, spec) for x, spec in zip(outs, wanted)])


# --- pytree nodes that can be mapped along some axes only ---------------------------------------
node_rules: dict[type, Callable[[Any, list, str], None]] = {}
"""For the type of a node a function ``(node, axes of its leaves, "in_axes" or "out_axes")`` that raises ValueError where these do not fit.

In ``out_axes`` the node is an element, so its leaves lack the axis.
"""


def _has_rule(x: object) -> bool:
    return type(x) in node_rules


def check_nodes(value: PyTree, axes: Sequence[object], name: str) -> None:
    """Ask the rules of the nodes in ``value``, whose leaves are mapped along ``axes``."""
    position = 0
    for x in tree.leaves(value, is_leaf=_has_rule):
        count = len(tree.leaves(x)) if _has_rule(x) else 1
        if _has_rule(x):
            node_rules[type(x)](x, list(axes[position: position + count]), name)
        position += count


def _leaves_as_marks(args):
    return tree.map(lambda x: 0, args, is_leaf=is_vmappable)


def _size(flat, specs, axis_size):
    sizes = {np.shape(x)[spec] for x, spec in zip(flat, specs) if spec is not None and not is_vmappable(x)}
    if axis_size is not None:
        sizes.add(axis_size)
    if len(sizes) != 1:
        raise ValueError(f"vmap: the length of the mapped axis is {'ambiguous: ' + str(sorted(sizes)) if sizes else 'unknown'}; "
                         "arguments of registered types have none, so pass axis_size")
    return sizes.pop()
