"""Lazy public modules: a name is fetched from the module that implements it when somebody first asks.

Importing `jax` must cost little more than importing NumPy and jaxlib, and the public namespace spans five packages.
A public module holds a table of its names, or mirrors one implementing module; both are served by `__getattr__`, and
what was fetched is kept in the module, so that it is found directly from then on.

That a module has no such name is said by `absent`, whose error carries module and name. Any other AttributeError is a fault
inside a module that was being imported, and passes through unchanged.
"""
from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Mapping


def absent(module: str, name: str) -> AttributeError:
    """The error that says that ``module`` has no ``name``; `is_absent` knows it."""
    return AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])


def is_absent(error: AttributeError, module: str, name: str) -> bool:
    """Whether ``error`` only says that ``module`` has no ``name``."""
    return error.name == name and error.obj is sys.modules[module]


def table(module: str, names: Mapping[str, str]) -> tuple[Callable, Callable, list[str]]:
    """``__getattr__, __dir__, __all__`` for ``module``, whose ``names`` map to ``"implementing.module:attribute"``.

    An entry without a colon is a module.
    """
    namespace = vars(sys.modules[module])

    def fetch(name: str) -> Any:
        target = names.get(name)
        if target is None:
            raise absent(module, name)
        where, _, attribute = target.partition(":")
        value = importlib.import_module(where)
        if attribute:
            value = getattr(value, attribute)
        namespace[name] = value
        return value

    return fetch, lambda: sorted({*namespace, *names}), [n for n in names if not n.startswith("_")]


def mirror(module: str, target: str, **extra: str) -> tuple[Callable, Callable]:
    """``__getattr__, __dir__`` for a public ``module`` that shows all of the implementing module ``target``.

    ``extra`` names come from elsewhere, as in `table`.
    """
    namespace = vars(sys.modules[module])

    def fetch(name: str) -> Any:
        if name in extra:
            where, _, attribute = extra[name].partition(":")
            value = importlib.import_module(where)
            value = getattr(value, attribute) if attribute else value
        elif name.startswith("__") and name != "__all__":
            raise absent(module, name)
        else:
            implementation = importlib.import_module(target)
            try:
                value = getattr(implementation, name)
            except AttributeError:
                if name in dir(implementation):  # it has the name, and failed to load it
                    raise
                if name != "__all__":
                    raise absent(module, name) from None
                value = [n for n in dir(implementation) if not n.startswith("_")]
        namespace[name] = value
        return value

    def names() -> list[str]:
        return sorted({*namespace, *extra, *(n for n in dir(importlib.import_module(target)) if not n.startswith("_"))})
    return fetch, names
