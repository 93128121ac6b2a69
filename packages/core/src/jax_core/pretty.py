"""The printed form of jaxprs that users of JAX know: ``{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }``."""
from __future__ import annotations

import itertools
import string
from typing import Any

from .jaxpr import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, literal_text

_INDENT = "  "
_HIDDEN = {"jit": {"ctx_mesh": None, "compiler_options_kvs": (), "donated_invars": None, "in_shardings": None,
                   "out_shardings": None, "inline": False, "keep_unused": False, "in_layouts": None,
                   "out_layouts": None},
           "scan": {"linear": None, "_split_transpose": False}}
_WIDTH = 80


class _Names:
    """Letters for variables: a to z, then aa, ab, ... in order of appearance."""

    def __init__(self):
        self._names: dict[Any, str] = {}
        self.read: set = set()
        self._fresh = ("".join(letters) for size in itertools.count(1)
                       for letters in itertools.product(string.ascii_lowercase, repeat=size))

    def __call__(self, v) -> str:
        if type(v) is Literal:
            return f"{literal_text(v.val)}:{v.aval.str_short(short_dtypes=True)}"
        if type(v) is DropVar:
            return "_"
        name = self._names.get(v)
        if name is None:
            name = self._names[v] = next(self._fresh)
        return name

    def note_reads(self, jaxpr) -> None:
        """Remember which variables are read, where the program overwrites references (see `_reference_equation`)."""
        if any(hasattr(eqn.primitive, "arrow") for eqn in jaxpr.eqns):
            self.read.update(v for eqn in jaxpr.eqns for v in eqn.invars if type(v) is not Literal)
            self.read.update(v for v in jaxpr.outvars if type(v) is not Literal)

    def binder(self, v) -> str:
        return f"{self(v)}:{v.aval.str_short(short_dtypes=True)}"


def program(jaxpr: Jaxpr, *, source_info: bool = False, name_stack: bool = False, **_unused) -> str:
    """The printed form of ``jaxpr``.

    Args:
      source_info: append file and line to each equation.
      name_stack: prefix each equation with its named scopes.
    """
    return _program(jaxpr, _Names(), source_info, name_stack)


def equation(eqn: JaxprEqn) -> str:
    """The printed form of one equation."""
    return _equation(eqn, _Names(), False, False)


def _program(jaxpr, names, source_info, name_stack) -> str:
    consts = " ".join(names.binder(v) for v in jaxpr.constvars)
    inputs = " ".join(names.binder(v) for v in jaxpr.invars)
    head = f"{{ lambda {consts}; {inputs}. "
    names.note_reads(jaxpr)
    lines = [_equation(eqn, names, source_info, name_stack) for eqn in jaxpr.eqns]
    outputs = f"({', '.join(map(names, jaxpr.outvars))}{',' if len(jaxpr.outvars) == 1 else ''})"
    flat = f"{head}let {'; '.join(lines)} in {outputs} }}"
    if len(lines) <= 1 and len(flat) <= _WIDTH and "\n" not in flat:
        return flat
    body = "\n".join(_INDENT * 2 + line.replace("\n", "\n" + _INDENT * 2) for line in lines)
    return f"{head}let\n{body}\n{_INDENT}in {outputs} }}"


def _equation(eqn, names, source_info, name_stack) -> str:
    if hasattr(eqn.primitive, "arrow"):
        return _reference_equation(eqn, names)
    inputs = " ".join(names(v) for v in eqn.invars)
    outputs = " ".join("_" if type(v) is DropVar else names.binder(v) for v in eqn.outvars)
    params = _params(eqn, names, source_info, name_stack)
    scope = "/".join(eqn.source_info.name_stack) if name_stack else ""
    text = f"{outputs}{' = ' if outputs else ''}{eqn.primitive.name}{params} {inputs}".strip()
    if scope:
        text = f"{text} [{scope}]"
    return f"{text} # {eqn.source_info.file}:{eqn.source_info.line}" if source_info else text


def _reference_equation(eqn, names) -> str:
    """``b <- a[i]``, ``a[i] <- b`` (``c, a[i] <- a[i], b`` where the value before is used), ``a[i] += b``."""
    ref, *rest = eqn.invars
    value = None if eqn.primitive.name == "get" else rest.pop(0)
    operands = [str(v.val) if type(v) is Literal else names(v) for v in rest]
    part = names(ref) + eqn.params["index"].text(operands, ref.aval.shape)
    if value is None:
        return f"{names.binder(eqn.outvars[0])} <- {part}"
    if not eqn.outvars:
        return f"{part} += {names(value)}"
    before, = eqn.outvars
    if before not in names.read:
        return f"{part} <- {names(value)}"
    return f"{names.binder(before)}, {part} <- {part}, {names(value)}"


def _params(eqn, names, source_info, name_stack) -> str:
    hidden = _HIDDEN.get(eqn.primitive.name, {})
    items = []
    for key in sorted(eqn.params, key=lambda k: (k != "name", k)):
        if key in hidden and (hidden[key] is None or hidden[key] == eqn.params[key]):
            continue
        items.append(f"{key}={_value(eqn.params[key], names, source_info, name_stack)}")
    if not items:
        return ""
    flat = f"[{' '.join(items)}]"
    if len(flat) <= 60 and "\n" not in flat:
        return flat
    inner = "\n".join(_INDENT + item.replace("\n", "\n" + _INDENT) for item in items)
    return f"[\n{inner}\n]"


def _value(value, names, source_info, name_stack) -> str:
    if isinstance(value, ClosedJaxpr):
        value = value.jaxpr
    if isinstance(value, Jaxpr):
        return _program(value, names, source_info, name_stack)
    if isinstance(value, (tuple, list)) and any(isinstance(v, (ClosedJaxpr, Jaxpr)) for v in value):
        inner = "\n".join(_INDENT + _value(v, names, source_info, name_stack).replace("\n", "\n" + _INDENT) for v in value)
        return f"(\n{inner}\n)"
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return value.__name__
    return str(value)
