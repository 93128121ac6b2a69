"""What users' backward functions log beside the cotangents (`custom_vjp.defvjp_with_logs`), for whoever asks (`VJP.with_logs`).

A backward pass that is asked for logs collects them here. A program that is transposed on the way, such as the body of a loop,
has a collection of its own: its arrays are further results of the transposed program, and the rule that calls that program adds
them to the collection outside. What is logged while another program is written, or nobody asks, is dropped.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from ..configuration import context
from ..representation import tree, tree_nodes

if TYPE_CHECKING:
    from ..representation.tree import PyTreeDef


class Logs:
    """The logs of one backward pass by their keys; collects within ``with``, in the trace that is current at its start."""

    __slots__ = ("entries", "trace", "outside")

    def __init__(self) -> None:
        self.entries: dict = {}

    def __enter__(self) -> "Logs":
        self.trace, self.outside = context.state.trace, _thread.logs
        _thread.logs = self
        return self

    def __exit__(self, *exc: object) -> None:
        _thread.logs = self.outside


class _Thread(threading.local):
    logs: Logs | None = None


_thread = _Thread()


def wanted() -> bool:
    """Whether what is logged now is collected."""
    return _thread.logs is not None and _thread.logs.trace is context.state.trace


def pair(name: str, found: object) -> tuple[Any, Mapping[Any, Any] | None]:
    """``found`` if it is a pair of cotangents and logs, of which there may be none.

    Raises:
      TypeError: it is none; ``name`` says who returned it.
    """
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise TypeError(f"{name} must produce a pair (cotangents, logs), got {found!r}")
    cotangents, logged = found
    if not (logged is None or isinstance(logged, dict)):
        raise TypeError(f"{name} returned logs of type {type(logged).__name__}; logs are None or a dict")
    return cotangents, logged


def add(found: Mapping[Any, Any] | None) -> None:
    """Log ``found``.

    Raises:
      ValueError: a key has been used before in this backward pass.
    """
    if found is None or not wanted():
        return
    entries = _thread.logs.entries  # type: ignore[union-attr]
    for key, value in found.items():
        if key in entries:
            raise ValueError(f"a backward pass logged two values under one key, {key!r}; give each call of a function that logs a "
                             "key of its own.")
        entries[key] = value


def apart(wanted: bool, run: Callable[[], Sequence[Any]]) -> tuple[list, Any]:
    """The values of ``run()``, after them, if ``wanted``, the leaves of what it logged, and the structure of that.

    `rejoin` is its inverse. It runs where a program is written, so that whether logs are wanted must be asked outside.
    """
    if not wanted:
        return list(run()), NOTHING
    with Logs() as logs:
        values = list(run())
    leaves, structure = tree.flatten(logs.entries)
    return [*values, *leaves], structure


def rejoin(outs: Sequence[object], structure: PyTreeDef) -> list:
    """``outs`` without the logs of ``structure`` at their end, which are added to the collection."""
    n = len(outs) - structure.num_leaves
    if structure.num_leaves:
        add(tree.unflatten(structure, outs[n:]))
    return list(outs[:n])


NOTHING = tree.structure({})


@tree_nodes.register_pytree_node_class
class CondSum:
    """What a key of the logs holds after a conditional: the ``index`` of the branch that was taken, and in ``branches`` what each
    branch logged: zeros where it was not taken, None where it logs nothing under this key. So are structured residuals held."""

    def __init__(self, index: Any, branches: Sequence[Any]):
        self.index, self.branches = index, list(branches)

    def __repr__(self) -> str:
        return f"CondSum(index={self.index!r}, branches={self.branches!r})"

    def tree_flatten(self) -> tuple:
        """Children and what is none, as pytrees have it."""
        return (self.index, self.branches), ()

    @classmethod
    def tree_unflatten(cls, _: tuple, children: tuple) -> "CondSum":
        """The inverse of `tree_flatten`."""
        return cls(*children)
