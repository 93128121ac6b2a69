"""Modules of `jax._src` that have no file here: made when somebody imports them, with the names that `_internal` knows."""
from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from jax._internal import known
from jax._lazy import table


class Finder:
    """Makes the modules under ``jax._src`` that have no file here, for `sys.meta_path`."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """How ``name`` is made; None for all that is not known here."""
        return ModuleSpec(name, Finder, is_package=True) if name.startswith("jax._src.") and name in known() else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """The usual kind of module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Its names are found when they are asked for."""
        module.__doc__ = f"{module.__name__}: public names, where the public jax defines them."
        module.__getattr__, module.__dir__, module.__all__ = table(module.__name__, known()[module.__name__])  # type: ignore[attr-defined, method-assign]


def install() -> None:
    """From now on such modules can be imported."""
    sys.modules.pop("jax._src.sharding_impls", None)
    importlib.import_module("jax._src.sharding_impls")  # a backend shows its own there if nobody does; this one shows more
    sys.meta_path.append(Finder)  # type: ignore[arg-type]
