"""Packages whose names are imported when they are first asked for."""
from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Mapping


def names_of(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__, __dir__, __all__`` of ``package``, where ``modules`` maps a submodule to the names it defines."""
    home = {name: module for module, names in modules.items() for name in names.split()}
    listed = sorted(home)

    def fetch(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{home[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return fetch, lambda: listed, listed
