"""The installed backend, found by entry point.

A distribution that brings a backend declares it under ``[project.entry-points."jax_core.backends"]`` as a function
without arguments that returns a `jax_core.interfaces.Backend`. With several installed, ``JAX_CORE_BACKEND`` names the
one to use. Tests install a double with `use`.
"""
from __future__ import annotations

import importlib
import os
from typing import Any

GROUP = "jax_core.backends"
_backend: Any = None


def get() -> Any:
    """The backend in use; it is loaded at the first call.

    Raises:
      RuntimeError: no backend is installed, or several are and none is named.
    """
    return _backend if _backend is not None else _load()


def loaded() -> Any | None:
    """The backend if it was loaded already."""
    return _backend


def use(backend: Any) -> Any:
    """Install ``backend`` and return the one before."""
    global _backend
    before, _backend = _backend, backend
    return before


def _load():
    global _backend
    wanted = os.environ.get("JAX_CORE_BACKEND", "")
    try:  # looking through all installed metadata takes longer than loading the usual backend
        if wanted in ("", "xla"):
            _backend = importlib.import_module("jax_xla_backend").load()
            return _backend
    except ModuleNotFoundError as error:
        if error.name != "jax_xla_backend":
            raise
    from importlib.metadata import entry_points  # takes 30 ms to load, and the usual backend is found without it

    found = {p.name: p for p in entry_points(group=GROUP)}
    if wanted and wanted in found:
        found = {wanted: found[wanted]}
    if len(found) != 1:
        raise RuntimeError(
            f"jax_core needs a backend to compute with, and found {sorted(found) or 'none'}"
            f"{f' where JAX_CORE_BACKEND={wanted}' if wanted else ''}; install jax-xla-backend"
            " (or set JAX_CORE_BACKEND to one of those installed)")
    _backend = next(iter(found.values())).load()()
    return _backend
