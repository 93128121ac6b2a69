"""Functions that are traced once: what tracing gave is kept as long as the function, and found again by what it depends on.

`jit` has a cache of its own (`programs.call`), which explains its misses.
"""
from __future__ import annotations

import weakref
from typing import Callable, Hashable, Sequence

from ..configuration import context, engine
from ..extension_points import caches_cleared
from ..representation.source import metadata_in_force
from .trace import Tracer

_MOST = 64  # programs of one function


class TracedOnce:
    """Programs by function."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Callable, dict] = weakref.WeakKeyDictionary()
        caches_cleared.add(self._known.clear)

    def __call__(self, fun: Callable, key: Sequence[Hashable], make: Callable[[], tuple]) -> tuple:
        """``make()``, a tuple whose second item are the values that ``fun`` closes over, or what it gave for an equal key.

        A program that closes over tracers is found again within their transformation only. Where ``fun`` or ``key`` has no
        hash, or ``fun`` no weak references, nothing is kept.
        """
        key = (*key, engine.trace_key(), *(axis.key() for _, axis in context.state.axes), *metadata_in_force())
        try:
            known = self._known.setdefault(fun, {})
            found, trace = known.get(key, (None, None))
        except TypeError:
            return make()
        if found is None or trace is not None and trace() is not context.state.trace:
            found = make()
            if len(known) >= _MOST:
                known.clear()
            known[key] = found, weakref.ref(context.state.trace) if any(isinstance(x, Tracer) for x in found[1]) else None
        return found
