"""Metadata: attributes with which XLA marks single operations, ``mhlo.frontend_attributes``.

A block of the user's program that has metadata is a `Metadata` entry on the name stack, beside the named scopes. The
location of an equation in it carries a mark, and when the module is written, marks become attributes of their operations.
"""
from __future__ import annotations

import json
import re
from typing import Any, Sequence

from jax_core.representation.jaxpr import JaxprEqn
from jax_core.representation.source import Metadata, Transform
from jax_core.representation.traits import Kind

from .outside_calls import quoted, symbol

Pairs = Sequence[tuple[str, Any]]  # of texts; None takes a name away
_OPEN, _CLOSE = "\x02", "\x03"
_mark = re.compile(f"(?m)^(?P<line>.*?)(?P<location> loc\\([^\x02\n]*\\)){_OPEN}(?P<pairs>[^{_CLOSE}]*){_CLOSE}$")


def under(scopes: tuple, eqn: JaxprEqn) -> tuple:
    """How an equation among ``scopes`` is called; what a program that it holds computes is under these names.

    A transformation stands around the scope that follows, as which a `jit` counts; other operations are no scopes.
    """
    prim = eqn.primitive
    if prim.transparent:
        return *scopes, f"{prim.name}({eqn.params['name']})"
    label = "while" if prim.traits.kind is Kind.LOOP and prim.holds_program else prim.traits.scope or prim.name
    return (*scopes, "", label) if scopes and type(scopes[-1]) is Transform else (*scopes, label)


def shows(names: Sequence[str]) -> bool:
    """Whether operations under these names are marked in a module that says no places: under scopes or metadata they are."""
    for name in names:
        if type(name) is not Transform:
            return True
    return False


def split(names: Sequence[str]) -> tuple[list[str], dict]:
    """The scopes and transformations of a name stack, and its metadata (the innermost of each name)."""
    scopes: list[str] = []
    pairs: dict[str, Any] = {}
    for name in names:
        if type(name) is Metadata:
            pairs.update(name.pairs)
        else:
            scopes.append(name)
    return scopes, {k: v for k, v in pairs.items() if v is not None}


def marked(pairs: dict) -> str:
    """The mark behind a location."""
    return f"{_OPEN}{json.dumps(list(pairs.items()))}{_CLOSE}"


def placed(module: str) -> str:
    """The module's text with attributes in place of marks."""
    def replace(found):
        line = found["line"]
        if line.lstrip().startswith(("stablehlo.return", "return", "sdy.return")) or " = stablehlo.constant " in line:
            return line + found["location"]
        return with_attributes(line, [tuple(p) for p in json.loads(found["pairs"])]) + found["location"]
    return _mark.sub(replace, module)


def attributes(pairs: Pairs) -> str:
    """``mhlo.frontend_attributes = {...}``."""
    return "mhlo.frontend_attributes = {" + ", ".join(f"{symbol(k)} = {quoted(v)}" for k, v in pairs) + "}"


def with_attributes(line: str, pairs: Pairs) -> str:
    """One operation's text with more attributes; as it is where it has such already."""
    if not pairs or "mhlo.frontend_attributes" in line:
        return line
    end = "\n" if line.endswith("\n") else ""
    line = line.removesuffix("\n")
    at = _dictionary(line)
    if at is not None:
        return f"{line[:at]}{attributes(pairs)}, {line[at:]}{end}"
    at = line.find(" : (")
    at = at if at >= 0 else line.rfind(" : ")
    return line + end if at < 0 else f"{line[:at]} {{{attributes(pairs)}}}{line[at:]}{end}"


def _dictionary(line: str) -> int | None:
    """Where the inside of the attribute dictionary begins, which stands before the types; None if there is none."""
    end, depth = line.rfind("} : "), 0
    for at in range(end, -1, -1):
        depth += (line[at] == "}") - (line[at] == "{")
        if depth == 0:
            return at + 1 if line[at - 1] == " " and not line[:at].endswith("= ") else None
    return None
