"""The platforms besides the CPU: plugins enter them here, and `client` starts them."""
from __future__ import annotations

from typing import Any, Callable

factories: dict[str, Callable[[], Any]] = {}
"""What makes the client of a platform, by its name, in the order of preference."""


def register(name: str, factory: Callable[[], object]) -> None:
    """Add a platform; ``factory()`` makes its client. Platforms are preferred in the order of registration."""
    factories[name] = factory
