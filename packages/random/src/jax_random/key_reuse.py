"""The check that no key is used twice, on while `jax_debug_key_reuse` is set.

Drawing numbers and splitting consume a typed key; folding in, looking at its words and cloning do not. Each key, concrete
or traced, remembers where it was consumed; the second use raises, and names both places. Old-style keys are plain arrays
and are not followed.

A key passed to a compiled function is consumed by the call if the function consumes it: that is read off the program,
where a key's words are drawn from or split (`consumed_inputs`).
"""
from __future__ import annotations

import weakref
from typing import Any

from jax_core.representation import source
from jax_core.representation.errors import KeyReuseError
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr
from jax_core.representation.traits import Keys
from jax_core.traces.trace import Tracer

_places: dict[int, tuple[Any, str]] = {}  # of tracers, by identity, as these have no room for an attribute


def consume(name: str, key: Any) -> None:
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


# -- compiled functions --------------------------------------------------------------------------------------------------

def consumed_inputs(program: ClosedJaxpr) -> tuple[bool, ...]:
    """Which inputs of a program are keys that it consumes."""
    return program.memo("consumed keys", lambda: _consumed(program.jaxpr))


def _consumed(jaxpr: Jaxpr) -> tuple[bool, ...]:
    origin: dict[Any, Any] = {v: v for v in jaxpr.invars}  # the input that a variable holds the words of
    used: set = set()
    for eqn in jaxpr.eqns:
        effect = eqn.primitive.traits.keys
        known = [origin.get(x) if hasattr(x, "aval") and not hasattr(x, "val") else None for x in eqn.invars]
        if effect is Keys.CONSUMED:
            used.update(x for x in known[:1] if x is not None)
        elif effect is Keys.PASSED:
            for x, out in zip(known, eqn.outvars):
                if x is not None:
                    origin[out] = x
        else:
            for inner, operands in _inner_programs(eqn, known):
                used.update(x for x, c in zip(operands, consumed_inputs(inner)) if c and x is not None)
    return tuple(v in used for v in jaxpr.invars)


def _inner_programs(eqn: Any, operands: list) -> list[tuple[ClosedJaxpr, list]]:
    """The programs that an equation holds, each with those of the operands that are its inputs."""
    params = eqn.params
    if "branches" in params:  # the first operand says which
        return [(branch, operands[1:]) for branch in params["branches"]]
    if "body_jaxpr" in params:
        first = params["cond_nconsts"]
        return [(params["body_jaxpr"], operands[first:])]
    inner = params.get("jaxpr")
    if isinstance(inner, ClosedJaxpr) and len(inner.jaxpr.invars) == len(operands):
        return [(inner, operands)]
    return []
