"""The installed backend, found by entry point.

A distribution that brings a backend declares it under ``[project.entry-points."jax_core.backends"]`` as a function
without arguments that returns a `jax_core.interfaces.Backend`. With several installed, ``JAX_CORE_BACKEND`` names the
one to use. Whoever assembles packages may name the usual one with `prefer`, which saves looking through the metadata of
all installed distributions. Tests install a double with `use`.
"""
from __future__ import annotations

import importlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .interfaces import Backend

GROUP = "jax_core.backends"
_backend: Backend | None = None
_preferred: tuple[str, str] | None = None
_lock = threading.RLock()  # the first calls of several threads load one backend


def get() -> Backend:
    """The backend in use; it is loaded at the first call.

    Raises:
      RuntimeError: no backend is installed, or several are and none is named.
    """
    return _backend if _backend is not None else _load()


def loaded() -> Backend | None:
    """The backend if it was loaded already."""
    return _backend


def use(backend: Backend | None) -> Backend | None:
    """Install ``backend`` and return the one before."""
    global _backend
    before, _backend = _backend, backend
    return before


def prefer(name: str, entry: str) -> None:
    """Backend ``name`` is made by ``entry`` (``"module:function"``), unless ``JAX_CORE_BACKEND`` names another."""
    global _preferred
    _preferred = (name, entry)


def _load() -> Backend:
    global _backend
    with _lock:
        if _backend is None:
            _backend = _made()
        return _backend


def _made() -> Backend:
    wanted = os.environ.get("JAX_CORE_BACKEND", "")
    if _preferred is not None and wanted in ("", _preferred[0]):
        module, _, function = _preferred[1].partition(":")
        made: Backend = getattr(importlib.import_module(module), function)()
        return made
    from importlib import metadata  # start-up: slow to load, and not needed where a backend is preferred
    found = {p.name: p for p in metadata.entry_points(group=GROUP)}
    chosen = {wanted: found[wanted]} if wanted in found else found
    if len(chosen) != 1 or wanted and wanted not in found:
        raise RuntimeError(
            f"jax_core needs one backend to compute with, and found {sorted(found) or 'none'}"
            f"{f' where JAX_CORE_BACKEND={wanted}' if wanted else ''}; install jax-xla-backend"
            " (or set JAX_CORE_BACKEND to one of those installed)")
    made = next(iter(chosen.values())).load()()
    return made
