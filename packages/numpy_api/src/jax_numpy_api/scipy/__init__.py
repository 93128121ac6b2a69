"""jax.scipy: the parts of SciPy that are functions of arrays, on arrays that can be traced, differentiated and compiled.

Each submodule is imported when it is first asked for.
"""
from __future__ import annotations

import importlib
from typing import Any

__all__ = ["cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial",
           "special", "stats"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'jax.scipy' has no attribute {name!r}")
    return importlib.import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return __all__
