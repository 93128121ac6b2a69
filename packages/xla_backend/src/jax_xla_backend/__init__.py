"""XLA as the backend of `jax_core`: devices, arrays, shardings, lowering, compilation, dispatch.

`load` is the entry point that core looks for. It prepares jaxlib once per process; importing a submodule does not.
"""
from __future__ import annotations

from typing import Any
from jax_core.source import exclude_package

exclude_package(__file__)

__version__ = "0.1.0"

_loaded: Any = None


def load() -> Any:
    """The backend, ready for use (`jax_core.interfaces.Backend`)."""
    global _loaded
    if _loaded is None:
        from . import startup

        _loaded = startup.start()
    return _loaded
