"""jax.custom_batching: functions with a behaviour under vmap of their own."""
from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from jax_core.representation import tree
from jax_core.transformations.custom_vmap import custom_vmap

from . import lax

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

__all__ = ["custom_vmap", "sequential_vmap"]


def sequential_vmap(f: Callable[..., PyTree]) -> Callable:
    """``f``, which under `vmap` runs for one element after another, in a loop (`lax.map`), instead of being batched.

    >>> @jax.custom_batching.sequential_vmap
    ... def f(x):
    ...     return x * 2
    >>> jax.vmap(f)(jnp.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    f = custom_vmap(f)

    @f.def_vmap
    def _rule(axis_size, in_batched, *args):
        leaves, structure = tree.flatten(args)
        mapped = tree.leaves(in_batched)

        def one(values):
            given = iter(values)
            return f(*tree.unflatten(structure, [next(given) if b else x for x, b in zip(leaves, mapped)]))
        out = lax.map(one, [x for x, b in zip(leaves, mapped) if b])
        return out, tree.map(lambda _: True, out)
    return f
