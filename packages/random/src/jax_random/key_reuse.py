"""The check that no key is used twice, on while `jax_debug_key_reuse` is set.

Drawing numbers and splitting consume a typed key; folding in, looking at its words and cloning do not. Each key, concrete
or traced, remembers where it was consumed; the second use raises, and names both places. Old-style keys are plain arrays
and are not followed.

A key passed to a compiled function, a loop or a branch, or closed over by one, is consumed by the call if the program consumes it: that is
read off the program (`key_signatures`). While a program is written it consumes nothing but in itself.
"""
from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from jax_core.configuration import context
from jax_core.representation import source
from jax_core.representation.array import Array
from jax_core.representation.errors import KeyReuseError
from jax_core.traces.trace import EVAL, Tracer
from jax_core.transformations.batching import BatchTracer

_places: dict[int, tuple[Any, Any]] = {}  # of tracers, by identity, as these have no room for an attribute
_written: "weakref.WeakKeyDictionary[Any, dict[int, tuple[Any, Any]]]" = weakref.WeakKeyDictionary()  # by trace: what a program does to constants
_UNUSED: tuple[Any, str] = (False, "")


def consume(name: str, key: object) -> None:
    """Note that function ``name`` uses up ``key``, here.

    Raises:
      KeyReuseError: it was used up before.
    """
    place = f"{name} at {where()}"
    while True:
        _use(name, key, place, True)
        if not isinstance(key, BatchTracer):
            return
        key = key.val  # what one lane consumes is consumed for all of them


def take(keys: Any, index: Any) -> None:
    """Note that the elements of ``keys`` at ``index`` are taken out, which consumes them: who takes them twice has equal keys.

    Raises:
      KeyReuseError: one of them was used up before.
    """
    if any(isinstance(i, Tracer) for i in (index if isinstance(index, tuple) else (index,))):
        return  # which ones is not known
    taken = np.zeros(keys.shape, bool)
    taken[np.asarray(index) if isinstance(index, Array) else index] = True
    _use("indexing", keys, f"indexing at {where()}", taken)


def _use(name: str, key: Any, place: str, mask: Any) -> None:
    used, before = _state(key)
    if np.any(used & mask):
        raise KeyReuseError(f"{name}: this key was consumed before, by {before}, and is used again by {place}. Numbers drawn "
                            "from one key are not independent: make new keys with jax.random.split, one for each use (or "
                            "jax.random.clone, where the same numbers are wanted).")
    state, program = (np.asarray(used | mask), place), _closed_over_by(key)
    if program is not None:
        _written.setdefault(program, {})[id(key)] = key, state
    elif isinstance(key, Tracer):
        number = id(key)
        _places[number] = (weakref.ref(key, lambda _: _places.pop(number, None)), state)
    else:
        key._consumed = state


def _state(key: Any) -> tuple[Any, str]:
    """Which elements were consumed, and where the last of them."""
    program = _closed_over_by(key)
    if program is not None:
        return _written.get(program, {}).get(id(key), (key, _UNUSED))[1]
    if not isinstance(key, Tracer):
        return key._consumed or _UNUSED
    found = _places.get(id(key))
    return found[1] if found is not None and found[0]() is key else _UNUSED


def _closed_over_by(key: Any) -> Any:
    """The trace of the program that is written now, where the key comes from outside of it; None where it does not, or calls are evaluated."""
    program = _outermost(context.state.trace)
    return None if program is EVAL or isinstance(key, Tracer) and _outermost(key._trace) is program else program


def _outermost(trace: Any) -> Any:
    while (parent := getattr(trace, "parent", None)) is not None:
        trace = parent
    return trace


def where() -> str:
    """``file:line`` of the user's code that called."""
    info = source.capture()
    return getattr(info, "short", None) or str(info)
