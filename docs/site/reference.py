"""The reference: a page for each public module, with every name in it, from signatures and docstrings."""
from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from typing import Any

import docstrings
from jax_core.configuration.engine import State

_FIRST = ("jax", "jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy", "jax.tree", "jax.tree_util", "jax.debug", "jax.errors")
_ELSEWHERE = {"jax.config": "flags", "jax.version": "jax.__version__"}  # modules without a page


def public_modules() -> list[str]:
    """Public modules that have names of their own, the most used first."""
    import jax

    found = ["jax", *(m.name for m in pkgutil.walk_packages(jax.__path__, "jax.") if not any(p.startswith("_") for p in m.name.split(".")))]
    found = [m for m in found if m not in _ELSEWHERE and any(map(_ours, _names(m).values()))]  # the bindings of MLIR are not ours
    return sorted(found, key=lambda m: (_FIRST.index(m) if m in _FIRST else len(_FIRST), m))


def _names(module: str) -> dict[str, Any]:
    """The public names of ``module`` that are not modules, and what they stand for."""
    from jax import _gaps

    space = importlib.import_module(module)
    missing = _gaps.table().get(module, ())
    names = ((n, getattr(space, n)) for n in dir(space) if not n.startswith("_") and n not in missing)
    return {n: value for n, value in names if not isinstance(value, types.ModuleType)}


def _ours(value: Any) -> bool:
    return str(getattr(value, "__module__", None) or type(value).__module__).partition(".")[0] in (
        "jax", "jax_core", "jax_numpy_api", "jax_random", "jax_callbacks", "jax_xla_backend")


def _doc(value: Any) -> str | None:
    """What ``value`` says of itself; a class without a docstring does not speak with that of its base, which may be Python's."""
    return inspect.cleandoc(vars(value).get("__doc__") or "") if inspect.isclass(value) else inspect.getdoc(value)


def signature(value: Any, method: bool = False) -> str:
    """The signature as text, of a ``method`` without its first parameter; defaults that have no short form are left as three points."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = []
    for p in list(found.parameters.values())[method:]:
        default = p.default
        if default is not p.empty:
            text = repr(default)
            default = types.SimpleNamespace() if len(text) > 40 or "<" in text or "0x" in text else default
            p = p.replace(default=_Written("..." if default.__class__ is types.SimpleNamespace else text))
        parameters.append(p.replace(annotation=_annotation(p.annotation)))
    return str(found.replace(parameters=parameters, return_annotation=_annotation(found.return_annotation)))


class _Written:
    """Something whose ``repr`` is known."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _annotation(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _indented(text: str, by: str = "   ") -> str:
    return "\n".join(by + line if line else "" for line in text.split("\n"))


def _entry(kind: str, head: str, body: str) -> str:
    return f".. py:{kind}:: {head}\n\n{_indented(body)}\n"


def _members(cls: type, names: set[str]) -> Iterator[str]:
    """Methods and properties that a class says something about."""
    for name, member in vars(cls).items():
        raw = getattr(member, "__func__", member)
        if name.startswith("_") or not inspect.getdoc(raw) or not (callable(raw) or isinstance(raw, property)) or inspect.isclass(raw):
            continue
        body = docstrings.to_rst(inspect.getdoc(raw) or "", names, cls.__module__)
        if isinstance(raw, property):
            yield _entry("property", name, body)
        else:
            yield _entry("method", name + signature(raw, not isinstance(member, staticmethod)), body)


def _page(module: str, names: dict[str, Any], documented: dict[int, str], known: set[str]) -> str:
    entries, plain = [], []
    for name, value in sorted(names.items(), key=lambda item: (item[0].lower(), item[0])):
        full = f"{module}.{name}"
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        doc = value.help if isinstance(value, State) else _doc(value) if _ours(value) and kind != "data" else None
        if not doc:
            plain.append((full, value))
        elif documented[id(value)] != full:
            entries.append(_entry(kind, full, f"The same as :py:obj:`{documented[id(value)]}`."))
        elif kind == "class":
            error, choices = issubclass(value, BaseException), issubclass(value, enum.Enum)  # neither is called by users
            body = docstrings.to_rst(doc, known, module) + "\n\n" + "\n".join(_members(value, known))
            if choices:
                body += "\n\nOne of " + ", ".join(f"``{n}``" for n in value.__members__) + "."
            entries.append(_entry("exception" if error else "class", full + ("" if error or choices else signature(value)), body))
        else:
            entries.append(_entry("function", full + signature(value), docstrings.to_rst(doc, known, module)))
    lines = [module, "=" * len(module), "", *entries]
    if plain:
        lines += ["Other names", "-----------", "", *(_entry("data", full, _plain(value)) for full, value in plain)]
    return "\n".join(lines)


def _plain(value: Any) -> str:
    """What a name stands for that has no description of its own."""
    origin = getattr(value, "__module__", None)
    if callable(value) and not _ours(value) and origin:
        return f"From ``{origin.partition('.')[0]}``, as it is there."
    return f"A ``{type(value).__name__}``."


def pages() -> dict[str, str]:
    """All pages of the reference by their names."""
    modules = {m: _names(m) for m in public_modules()}
    documented: dict[int, str] = {}
    for module, names in modules.items():
        for name, value in names.items():
            documented.setdefault(id(value), f"{module}.{name}")
    known = {f"{m}.{n}" for m, names in modules.items() for n in names}
    result = {f"api/{m}.rst": _page(m, names, documented, known) for m, names in modules.items()}
    rows = [f"   * - :doc:`{m}`\n     - {len(names)}\n     - {_first(names)}" for m, names in modules.items()]
    result["api/index.rst"] = "\n".join([
        "Reference", "=========", "",
        f"Every public name: {sum(map(len, modules.values()))} names in {len(modules)} modules, generated from signatures and docstrings. Names",
        "that exist and are not implemented yet are :doc:`gaps </generated/gaps>`.", "",
        ".. list-table::", "   :header-rows: 1", "   :widths: 30 10 60", "", "   * - module\n     - names\n     - for instance", *rows, "",
        ".. toctree::", "   :hidden:", "", *(f"   {m}" for m in modules), ""])
    return result


def _first(names: dict[str, Any]) -> str:
    shown = [n for n, v in names.items() if callable(v) and not inspect.isclass(v)] or list(names)
    return ", ".join(f"``{n}``" for n in shown[:6])
