"""The check that no key is used twice, on while `jax_debug_key_reuse` is set.

Drawing numbers and splitting consume a typed key; folding in, looking at its words and cloning do not. Each key, concrete
or traced, remembers where it was consumed; the second use raises, and names both places. Old-style keys are plain arrays
and are not followed.

A key passed to a compiled function is consumed by the call if the function consumes it: that is read off the program
(`key_signatures`).
"""
from __future__ import annotations

import weakref
from typing import Any

from jax_core.representation import source
from jax_core.representation.errors import KeyReuseError
from jax_core.traces.trace import Tracer

_places: dict[int, tuple[Any, str]] = {}  # of tracers, by identity, as these have no room for an attribute


def consume(name: str, key: object) -> None:
    """Note that function ``name`` uses up ``key``, here.

    Raises:
      KeyReuseError: it was used up before.
    """
    place = f"{name} at {where()}"
    before = _place_of(key)
    if before is not None:
        raise KeyReuseError(f"{name}: this key was consumed before, by {before}, and is used again by {place}. Numbers drawn "
                            "from one key are not independent: make new keys with jax.random.split, one for each use (or "
                            "jax.random.clone, where the same numbers are wanted).")
    _remember(key, place)


def _place_of(key):
    if isinstance(key, Tracer):
        found = _places.get(id(key))
        return found[1] if found is not None and found[0]() is key else None
    return key._consumed


def _remember(key, place):
    if isinstance(key, Tracer):
        number = id(key)
        _places[number] = (weakref.ref(key, lambda _: _places.pop(number, None)), place)
    else:
        key._consumed = place


def where() -> str:
    """``file:line`` of the user's code that called."""
    info = source.capture()
    return getattr(info, "short", None) or str(info)
