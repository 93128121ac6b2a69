"""Arguments of a traced function: their names for messages, and the static ones among them.

A call is taken apart into flat leaves and static values, ``(pairs (position, value), pairs (name, value))``.
"""
from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Callable

from . import tree
from .aval import aval_of_type, get_aval
from .source import describe_function

if TYPE_CHECKING:
    from .typing import PyTree


def signature_of(fun: Callable) -> inspect.Signature | None:
    """The signature of ``fun``, None where it cannot be read."""
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


class LazyNames:
    """Names of flat arguments, worked out only for messages. Programs outlive their functions, so the reference is weak."""

    def __init__(self, fun, in_tree, static):
        self.in_tree, self.static = in_tree, static
        try:
            self.fun = weakref.ref(fun)
        except TypeError:
            self.fun = lambda: fun

    def _names(self):
        args = tree.unflatten(self.in_tree, range(self.in_tree.num_leaves))
        return [argument_name(self.fun(), path, self.static) for path, _ in tree.flatten_with_path(args)[0]]

    def __len__(self):
        return self.in_tree.num_leaves

    def __getitem__(self, i):
        return self._names()[i]

    def __iter__(self):
        return iter(self._names())


class LazyPaths:
    """Paths of the flat results, ``result['loss']``, worked out only for messages.

    Args:
      structure: a list that will hold the structure of the result.
    """

    def __init__(self, structure: list):
        self.structure = structure

    def __len__(self):
        return self.structure[0].num_leaves

    def __getitem__(self, i):
        leaves, _ = tree.flatten_with_path(tree.unflatten(self.structure[0], range(len(self))))
        return f"result{tree.keystr(leaves[i][0])}"


def argument_name(fun: Callable[..., PyTree], path, static) -> str:
    """``x['weights']`` for the flat argument at ``path`` of ``(args, kwargs)``."""
    signature = None if fun is None else signature_of(fun)
    group, rest = path[0].idx, path[1:]
    if not rest:
        return ""
    if group == 1:
        return f"{rest[0].key}{tree.keystr(rest[1:])}"
    taken = {i for i, _ in static[0]}
    position = [i for i in range(len(taken) + rest[0].idx + 1) if i not in taken][rest[0].idx]
    names = list(signature.parameters) if signature else []
    name = names[position] if position < len(names) else f"args[{position}]"
    return f"{name}{tree.keystr(rest[1:])}"


def wrong_result(fun: Callable[..., PyTree], structure, outs, i: int) -> TypeError:
    """For a function that returned what is no array: leaf ``i`` of the result."""
    path = tree.keystr(tree.flatten_with_path(tree.unflatten(structure, outs))[0][i][0])
    return TypeError(f"function {describe_function(fun)} returned a value of type {type(outs[i])} at output path "
                     f"{path or '(the output)'}, which is not a valid JAX type; return arrays, numbers, and pytrees of them.")


def check_values(fun: Callable[..., PyTree], structure, outs, also: type | tuple[type, ...] = ()) -> None:
    """Raises TypeError if a leaf of what ``fun`` returned is neither an array nor of the classes ``also``."""
    for i, x in enumerate(outs):
        if type(x) not in aval_of_type and not isinstance(x, also):
            try:
                get_aval(x)
            except TypeError:
                raise wrong_result(fun, structure, outs, i) from None


def put_static(args, kwargs, static, count: int):
    """Put the static arguments back in their places."""
    nums, names = static
    if nums:
        given, fixed = iter(args), dict(nums)
        args = [fixed[i] if i in fixed else next(given) for i in range(count)]
    if names:
        kwargs = {**kwargs, **dict(names)}
    return args, kwargs
