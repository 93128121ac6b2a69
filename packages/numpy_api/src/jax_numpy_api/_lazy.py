"""Packages whose names are imported when they are first asked for, so that importing jax stays fast."""
from __future__ import annotations

import importlib
import sys
import types
from typing import Any, Callable, Mapping, Sequence


def names_of(package: str, modules: Mapping[str, str], submodules: Sequence[str] = (), public: str | None = None,
             ) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__, __dir__, __all__`` of ``package``.

    Args:
      package: its ``__name__``.
      modules: the names that each module defines, separated by white space. A module is named relative to the package.
      submodules: modules of the package that are names themselves.
      public: what messages call the package, where users know it by another name.
    """
    home = _homes(modules)
    listed = sorted({*home, *submodules})

    def fetch(name: str) -> Any:
        if name in home:
            value = getattr(importlib.import_module(f".{home[name]}", package), name)
            setattr(sys.modules[package], name, value)
            return value
        if name in submodules:
            return importlib.import_module(f".{name}", package)
        raise AttributeError(f"module {public or package!r} has no attribute {name!r}")

    return fetch, lambda: listed, listed


def keep_functions(package: str, modules: Mapping[str, str]) -> None:
    """Let a function win over the module of ``package`` that has its name and defines it.

    Python binds a submodule on its package when it is imported. Where `modules` (see `names_of`) says that the module defines a
    function of that name, the package keeps the function.
    """
    home = _homes(modules)

    class Namespace(types.ModuleType):
        def __setattr__(self, name: str, value: Any) -> None:
            if isinstance(value, types.ModuleType) and home.get(name) == name:
                value = getattr(value, name)
            super().__setattr__(name, value)

    sys.modules[package].__class__ = Namespace


def _homes(modules: Mapping[str, str]) -> dict[str, str]:
    return {name: module for module, names in modules.items() for name in names.split()}
