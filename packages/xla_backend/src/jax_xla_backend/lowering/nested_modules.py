"""Modules within modules: the functions of a finished StableHLO module, written into the one that calls it.

Names of functions are changed where they are taken. A name inside a string, and the target of a custom call, is no
reference to a function and stays.
"""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import call_handlers
from .outside_calls import STRING, plain_symbol
from .types import dense_text
from .values import Value

if TYPE_CHECKING:
    from .builder import Builder

_QUOTE = '"'
_NAME = rf"(?:[\w$.]+|{STRING})"
_piece = re.compile(rf"{STRING}|custom_call @{_NAME}|@{_NAME}")
_defined = re.compile(rf"^  func\.func (?:public |private )?@({_NAME})", re.MULTILINE)
_mesh = re.compile(r"^ *sdy\.mesh @([\w$.]+) = <\[(.*?)\]>( \{.*\})?\n", re.MULTILINE)
_axis = re.compile(r'"([^"]*)"=(\d+)')
_location = re.compile(r" loc\(#loc\d*\)")
_target = re.compile(rf"custom_call @({_NAME})")


def body_of(text: str) -> str:
    """The functions of a module, without the line that opens it and the one that closes it."""
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith("module"))
    last = max(i for i, line in enumerate(lines) if line.startswith("}"))
    return "".join(lines[first + 1:last])


def without_locations(text: str) -> str:
    """A module's text without the aliases of locations, which name lines of the user's program."""
    return "".join([_location.sub("", line) for line in text.splitlines(keepends=True) if not line.startswith("#loc")])


def with_constants(text: str, consts: Sequence[object]) -> str:
    """The module with the arrays that ``main`` takes first written into it."""
    head, mark, rest = text.partition("func.func public @main(")
    signature, opening, body = rest.partition("{\n")
    lines = []
    for i, x in enumerate(consts):
        x = np.asarray(x)
        kind = signature[signature.index(f"%const{i}: ") + len(f"%const{i}: "):]
        kind = kind[:kind.index(">") + 1]
        signature = signature.replace(f"%const{i}: {kind}, ", "", 1) if f"%const{i}: {kind}, " in signature else (
            signature.replace(f"%const{i}: {kind}", "", 1))
        lines.append(f"    %const{i} = stablehlo.constant dense<{dense_text(x)}> : {kind}\n")
    return "".join([head, mark, signature, opening, *lines, body])


def custom_call_targets(text: str) -> list[str]:
    """The targets of custom calls in a module."""
    return sorted({name.strip('"') for name in _target.findall(text)})


def call(b: Builder, name: str, text: str, operands: Sequence[Value]) -> list[Value]:
    """A call of the ``main`` of the module ``text``; its functions are written once in the calling module."""
    symbol = _imported(b.module, name, text)
    for target in custom_call_targets(text):
        call_handlers.register(target, b.platform)
    return b.emit(f"func.call @{symbol}({', '.join(operands)})", *operands, out=list(b.out_avals))


class _Axes:
    """What tells meshes apart."""

    def __init__(self, shape: dict[str, int]):
        self.shape = shape


def _imported(writer: Any, name: str, text: str) -> str:
    found = writer._by_text.get(text)
    if found is not None:
        return found
    body = body_of(text)
    renamed = {old: writer._fresh(plain_symbol(f"{name}_{old.strip(_QUOTE)}" if old != "main" else name)) for old in _defined.findall(body)}

    for name_of_mesh, axes, in_stablehlo in _mesh.findall(body):
        renamed[name_of_mesh] = writer.shardings.mesh_symbol(_Axes({a: int(n) for a, n in _axis.findall(axes)}), bool(in_stablehlo))
    writer._functions.append(_private(_mesh.sub("", body), renamed))
    writer._by_text[text] = renamed["main"]
    return renamed["main"]


def with_names(text: str, prefix: str) -> tuple[list[str], str]:
    """A module's meshes, line by line, and its functions, private and with ``prefix`` before their names."""
    body = body_of(text)
    meshes = [m[0].rstrip("\n") for m in _mesh.finditer(body)]
    return meshes, _private(_mesh.sub("", body), {old: prefix + old for old in _defined.findall(body)})


def _private(body: str, renamed: dict[str, str]) -> str:
    """Functions with other names, and none that is public."""
    def rename(match):
        piece = match[0]
        return f"@{renamed[piece[1:]]}" if piece[0] == "@" and piece[1:] in renamed else piece
    return re.sub(r"^  func\.func (?:public |private )?@", "  func.func private @", _piece.sub(rename, body), flags=re.MULTILINE)
