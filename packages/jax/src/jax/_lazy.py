"""Lazy public modules: a name is fetched from the module that implements it when somebody first asks.

Importing `jax` must cost little more than importing NumPy and jaxlib, and the public namespace spans five packages.
A public module holds a table of its names, or mirrors one implementing module; both are served by `__getattr__`, and
what was fetched is kept in the module, so that it is found directly from then on. Only deprecated names are not kept, so that each use
warns, and not listed, so that nobody meets them who only looks around.

That a module has no such name is said by `absent`, whose error carries module and name. Any other AttributeError is a fault
inside a module that was being imported, and passes through unchanged.
"""
from __future__ import annotations

import importlib
import sys
import typing
from types import ModuleType
from typing import Any, Callable, Iterable, Mapping


class Public(ModuleType):
    """A public module. Whoever asks for its dictionary (``vars(jax.numpy)``, as scico does to wrap every function) finds all names there."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        namespace = _dictionary_of(self)
        for name in namespace["__dir__"]() if "__dir__" in namespace else ():  # not while the module is being made
            try:
                getattr(self, name)  # which keeps it
            except Exception:  # what is absent, or asks for a library that is not installed, says so when it is asked for itself
                continue
        return namespace

    def __dir__(self) -> list[str]:
        return _dictionary_of(self)["__dir__"]()  # Python's own asks for the dictionary


_dictionary_of: Callable = vars(ModuleType)["__dict__"].__get__


NOTHING: Mapping[str, str] = {}


def _internal(module: str, name: str) -> Any:
    """What ``module`` shows besides its table, as `jax._internal` does for those of `jax._src`; an AttributeError for all others."""
    if module.startswith("jax._src") and not name.startswith("__"):
        from jax._internal import home  # start-up: only for a name that no table has
        target = home(module, name)
        if target is not None:
            return _resolved(target)
    raise absent(module, name)


def _resolved(target: str) -> Any:
    """What ``"implementing.module:attribute"`` names, or a module."""
    where, _, attribute = target.partition(":")
    value = importlib.import_module(where)
    if target in deprecated_names:  # an internal name for it, whose use is no matter of the public one
        return deprecated_names[target](attribute)
    return getattr(value, attribute) if attribute else value


deprecated_names: dict[str, Callable[[str], Any]] = {}
"""What fetches each name whose use warns, ``module:name``, without a warning."""


def deprecated_in(module: str) -> list[str]:
    """The names of ``module`` whose use warns, which `dir` does not list."""
    return [name for where, _, name in (target.partition(":") for target in deprecated_names) if where == module]


def _warning(module: str, found: Callable[[str], Any], kept: Callable[[str], Any], deprecated: Mapping[str, str]) -> Callable[[str], Any]:
    """``kept``, the ``__getattr__`` of ``module``, and for ``deprecated`` names ``found`` with a warning that says what takes their place."""
    if not deprecated:
        return kept
    deprecated_names.update((f"{module}:{name}", found) for name in deprecated)

    def fetch(name: str) -> Any:
        if name not in deprecated:
            return kept(name)
        asks: Any = sys._getframe(1)
        while asks is not None and (asks.f_globals.get("__name__") or "").partition(".")[0] == "jax":
            asks = asks.f_back
        value = found(name)
        if asks is None or asks.f_code.co_name != "_handle_fromlist":  # an import that makes sure of the name, and asks once more
            from jax_core.representation.source import warn  # start-up: only for deprecated names
            warn(f"{module}.{name} is there for older programs only: use {deprecated[name]}", DeprecationWarning, asks)
        return value
    return fetch


def beside(module: str) -> Callable[[str], Any]:
    """``__getattr__`` of a module of `jax._src` that has names of its own."""
    return lambda name: _internal(module, name)


def absent(module: str, name: str) -> AttributeError:
    """The error that says that ``module`` has no ``name``; `is_absent` knows it."""
    from jax._instead import INSTEAD  # start-up: only those need it who ask for what there is not
    instead = INSTEAD.get(f"{module}.{name}")
    return AttributeError(f"module {module!r} has no attribute {name!r}{f'; use {instead}' if instead else ''}",
                          name=name, obj=sys.modules[module])


def is_absent(error: AttributeError, module: str, name: str) -> bool:
    """Whether ``error`` only says that ``module`` has no ``name``."""
    return error.name == name and error.obj is sys.modules[module]


def table(module: str, names: Mapping[str, str], deprecated: Mapping[str, str] = NOTHING) -> tuple[Callable, Callable, list[str]]:
    """``__getattr__, __dir__, __all__`` for ``module``, whose ``names`` map to ``"implementing.module:attribute"``.

    An entry without a colon is a module. Those of ``names`` that are ``deprecated`` have a row there that says what takes their place.
    """
    namespace = namespace_of(module)
    listed = [n for n in names if n not in deprecated]

    def found(name: str) -> Any:
        target = names.get(name)
        return _internal(module, name) if target is None else shown_as(module, name, _resolved(target))

    def kept(name: str) -> Any:
        value = namespace[name] = found(name)
        return value

    return _warning(module, found, kept, deprecated), lambda: shown(namespace, listed), [n for n in listed if not n.startswith("_")]


def mirror(module: str, target: str, names: str = "", deprecated: Mapping[str, str] = NOTHING, **extra: str) -> tuple[Callable, Callable]:
    """``__getattr__, __dir__`` for a public ``module`` that shows ``names`` (separated by white space) of the module ``target``.

    Without ``names`` it shows what ``target`` itself lists. ``extra`` names come from elsewhere, and ``deprecated`` ones have a row, as in
    `table`. What an implementing module merely imports is no public name, and is not served.
    """
    namespace = namespace_of(module)

    def listed() -> set[str]:
        return {*(names.split() or _listed(importlib.import_module(target))), *extra}

    def found(name: str) -> Any:
        if name == "__all__":
            value: Any = sorted(n for n in listed() if not n.startswith("_") and n not in deprecated)
        elif name in extra:
            value = _resolved(extra[name])
        elif name.startswith("__") or not (name.startswith("_") or name in listed()):
            value = _internal(module, name)
        else:
            implementation = importlib.import_module(target)
            try:
                value = getattr(implementation, name)
            except AttributeError:
                if name in dir(implementation):  # it has the name, and failed to load it
                    raise
                value = _internal(module, name)
        return shown_as(module, name, value)

    def kept(name: str) -> Any:
        value = namespace[name] = found(name)
        return value

    return _warning(module, found, kept, deprecated), lambda: shown(namespace, listed() - deprecated.keys())


def namespace_of(module: str) -> dict[str, Any]:
    """The dictionary of ``module``, which becomes `Public`."""
    shown_module = sys.modules[module]
    shown_module.__class__ = Public
    return _dictionary_of(shown_module)


def shown_as(module: str, name: str, value: object) -> Any:
    """``value``; a function of ours says from now on that ``module`` is its home, by which pickles, `help` and messages name it.

    Where several modules show it, the one with the shortest name is its home, whichever is asked first. Classes keep theirs: it is there
    that `inspect.getsource` looks for them.
    """
    if not isinstance(value, (type, ModuleType)) and callable(value) and getattr(value, "__qualname__", None) == name and "._" not in module:
        home = getattr(value, "__module__", None) or ""
        if home.startswith("jax_") or home in _homes and (len(module), module) < (len(home), home):
            try:
                value.__module__ = module
            except AttributeError:  # an object without attributes of its own
                return value
            _homes.add(module)
    return value


_homes: set[str] = set()


def shown(namespace: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """What `dir` lists of a public module: its ``names``, its public submodules, and what Python itself keeps in a module."""
    import pkgutil  # start-up: 4 ms, for interactive sessions alone
    submodules = (m.name for m in pkgutil.iter_modules(namespace.get("__path__", ())) if not m.name.startswith("_"))
    return sorted({*names, *submodules, *(n for n in namespace if n.startswith("__"))})


def _listed(implementation: ModuleType) -> list[str]:
    here = vars(implementation)
    return here.get("__all__") or [n for n in dir(implementation) if not n.startswith("_") and not _is_import(n, here.get(n))]


def _is_import(name: str, value: Any) -> bool:
    """Whether ``value`` is there by what modules import as a rule: another module, ``annotations``, a name of `typing`."""
    return isinstance(value, ModuleType) or name == "annotations" or value is not None and value is getattr(typing, name, None)
