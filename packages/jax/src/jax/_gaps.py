"""Documented names that are not written yet. Each is there, and raises NotImplementedError when it is used.

`_gaps.json` lists them by module (facts of the public API); the site's page of gaps is made from it.
A gap is a class, so that `isinstance` checks and annotations in libraries work: nothing is an instance of it. Its attributes are gaps, as
libraries name members of an enumeration (``Layout.WGMMA``) where they define functions that are never called on this machine. Using one is an
ImportError as well: where a library uses it while one of its modules is loaded, those who can do without that module (tokamax) guard its import.
"""
from __future__ import annotations

import functools
import importlib.util
import os
import sys
from typing import Any, Callable

from jax._lazy import absent, is_absent, namespace_of, shown


@functools.cache
def table() -> dict[str, list[str]]:
    """Names that are missing, by module."""
    import json  # start-up: only for a name that is not there
    with open(os.path.join(os.path.dirname(__file__), "_gaps.json"), encoding="utf-8") as file:
        return json.load(file)


class MissingName(NotImplementedError, ImportError):
    """A documented name was used that is not written yet."""


class _Gap(type):
    """The class of gaps."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(name)
        return gap(cls.__module__, f"{cls.__qualname__}.{name}")

    def __getitem__(cls, _: object) -> type:
        return cls  # as a generic class in an annotation


def gap(module: str, name: str) -> type:
    """The stand-in for ``module.name``."""
    def refuse(cls, *args, **kwargs):
        raise MissingName(f"{module}.{name} is not implemented in this version; `jax/_gaps.json` lists what is missing")
    body = {"__new__": refuse, "__module__": module, "__qualname__": name, "__doc__": f"{module}.{name}: not implemented in this version."}
    return _Gap(name.rpartition(".")[2], (), body)


def missing(module: str, served: Callable | None = None, names: Callable | None = None) -> tuple[Callable, Callable]:
    """``__getattr__, __dir__`` for a module: ``served`` first, gaps for the documented names it does not have.

    An AttributeError of ``served`` that is about anything else, such as a fault in the implementing module, is passed on.
    """
    namespace = namespace_of(module)

    def fetch(name: str) -> Any:
        if served is not None:
            try:
                return served(name)
            except AttributeError as error:
                if not is_absent(error, module, name):
                    raise
        if not name.startswith("_") and hasattr(sys.modules[module], "__path__") and importlib.util.find_spec(
                f"{module}.{name}"):
            return importlib.import_module(f"{module}.{name}")
        if name not in table().get(module, ()):
            raise absent(module, name)
        value = namespace[name] = gap(module, name)
        return value
    return fetch, lambda: shown(namespace, {*(names() if names else ()), *table().get(module, ())})
