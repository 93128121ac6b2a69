"""Why a function was traced (`jax_explain_cache_misses`), and what is traced and compiled (`jax_log_compiles`).

An explanation compares the key of the call with the keys under which programs of the same function are kept, and says
for the nearest one what differs, by the names of the arguments. A function never seen before is compared with those
seen on the same line, as that is how a function looks that is defined again for every call.

Messages go to the loggers ``jax.trace`` and ``jax.compile``: as warnings while a flag asks for them; what is traced and compiled also
for debugging, while these loggers let that through. Loaded only then.
"""
from __future__ import annotations

import logging
import weakref
from typing import Callable, Sequence

from ..representation import source
from ..representation.aval import AbstractValue

_log = logging.getLogger("jax.trace")

_seen_at: dict[tuple, weakref.WeakSet] = {}
"""Functions by the place of their definition, while explanations are asked for."""


class ProgramKey(tuple):
    """What a traced program depends on: ``(in_tree, avals, static, number of positional arguments and types of static ones, flags, mesh, axes)``."""

    __slots__ = ()

    in_tree = property(lambda self: self[0])
    avals = property(lambda self: self[1])
    static = property(lambda self: self[2])
    count = property(lambda self: self[3][0] if type(self[3]) is tuple else self[3])
    flags = property(lambda self: self[4])
    mesh = property(lambda self: self[5], doc="Where the arguments lie, if no mesh is in use.")
    axes = property(lambda self: self[6:])


def program_miss(fun: Callable, key: tuple, known: Sequence[tuple], names: Callable[[tuple], object]) -> None:
    """Say why ``fun`` is about to be traced.

    Args:
      key: of this call, in the order of `ProgramKey`.
      known: keys of the programs that are kept for ``fun``.
      names: from a key to the names of its flat arguments.
    """
    place = _definition(fun)
    code = getattr(source.unwrapped(fun), "__code__", None)
    if place is None or code is None or source.is_internal(code):
        return  # functions of this system are traced inside; their users did not write them
    if known:
        lines = min((_differences(ProgramKey(key), ProgramKey(old), names) for old in known), key=_distance)
        reason = "no program is kept for such a call; the nearest differs in\n  " + "\n  ".join(lines)
    else:
        reason = _never_seen(fun, place)
    others = _seen_at.setdefault(place, weakref.WeakSet())
    try:
        others.add(fun)
    except TypeError:
        pass
    _log.warning("jit traces %s, called at %s: %s", source.describe_function(fun), source.capture(), reason)


def _definition(fun: Callable) -> tuple | None:
    code = getattr(source.unwrapped(fun), "__code__", None)
    return None if code is None else (code.co_filename, code.co_firstlineno, code.co_name)


def _never_seen(fun, place) -> str:
    others = _seen_at.get(place, ())
    if place in _seen_at and not any(f is fun for f in others):
        return ("it is a new function object, but one defined on the same line was traced before. A function that is "
                "defined anew for each call (a lambda, a nested function, a partial) is traced anew each time: define it "
                "once, outside, and pass what varies as arguments.")
    return "it was not traced before."


def _distance(lines: Sequence[str]) -> int:
    return len(lines)


def _differences(key: ProgramKey, old: ProgramKey, names: Callable) -> list[str]:
    """What differs, a line each."""
    lines = []
    if key.count != old.count and key.in_tree == old.in_tree:
        lines.append(f"the number of positional arguments: now {key.count}, before {old.count}")
    lines += _static_differences(key.static, old.static)
    if key.in_tree != old.in_tree:
        lines += _structure_differences(key, old, names)
    else:
        for name, a, b in zip(names(key), key.avals, old.avals):
            if a is not b and a != b:
                lines.append(_type_difference(name, a, b))
    for flag, (now, before) in key.flags.differences(old.flags).items():
        lines.append(f"the configuration: {flag} is now {now!r}, before {before!r}")
    if key.mesh != old.mesh:
        lines.append(f"the mesh that the arguments lie on: now {_mesh_text(key.mesh)}, before {_mesh_text(old.mesh)}")
    if key.axes != old.axes:
        lines.append(f"the named axes in scope: now {_axes(key)}, before {_axes(old)}")
    return lines or ["values of tracers that it closes over, which belong to a transformation that has ended"]


def _mesh_text(mesh) -> str:
    return "none" if mesh is None else ", ".join([f"{name!r}: {size} ({kind.name})" for (name, size), kind in zip(mesh.shape.items(), mesh.axis_types)])


def _axes(key: ProgramKey) -> str:
    return ", ".join(map(str, key.axes)) or "none"


def _static_differences(now, before) -> list[str]:
    lines = []
    for new, old in zip(now, before):
        new, old = dict(new), dict(old)
        for where in {**new, **old}:
            a, b = new.get(where, "not given"), old.get(where, "not given")
            if type(a) is not type(b) or a != b:
                what = f"static argument {where!r}" if isinstance(where, str) else f"static argument number {where}"
                lines.append(f"{what}: now {a!r}, before {b!r}")
    return lines


def _structure_differences(key, old, names) -> list[str]:
    """Which arguments came or went, else how a pytree differs."""
    now, before = list(names(key)), list(names(old))
    came, went = [n for n in now if n not in before], [n for n in before if n not in now]
    lines = [f"the structure of the arguments: {n} is new" for n in came]
    lines += [f"the structure of the arguments: {n} is gone" for n in went]
    return lines or [f"the structure of the arguments: now {key.in_tree}, before {old.in_tree}"]


def _type_difference(name: str, a: AbstractValue, b: AbstractValue) -> str:
    now, before = _type_text(a), _type_text(b)
    if now == before:
        now, before = repr(a), repr(b)
    kinds = [kind for kind, differs in (
        ("shape", getattr(a, "shape", None) != getattr(b, "shape", None)),
        ("dtype", getattr(a, "dtype", None) != getattr(b, "dtype", None)),
        ("weak type", getattr(a, "weak_type", None) != getattr(b, "weak_type", None))) if differs]
    return f"the {' and '.join(kinds) or 'type'} of argument {name}: now {now}, before {before}"


def _type_text(aval: AbstractValue) -> str:
    return f"{aval.str_short(short_dtypes=True)}{' (weak type)' if getattr(aval, 'weak_type', False) else ''}"


def finished(level: int, what: str, seconds: float) -> None:
    """Log that something took some time."""
    _log.log(level, "Finished %s in %.6f sec", what, seconds)


def compiling(level: int, name: str, avals: Sequence[AbstractValue]) -> None:
    """Log that XLA is about to compile a program for arguments of these types."""
    logging.getLogger("jax.compile").log(
        level, "Compiling %s with global shapes and types [%s].", name, ", ".join(map(_type_text, avals)))
