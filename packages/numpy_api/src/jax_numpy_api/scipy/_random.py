"""Random numbers for the few functions that take a key.

Random numbers are made by a package above this one, which hands its functions down when it is loaded; and who has a key
has loaded it.
"""
from __future__ import annotations

from typing import Any, Callable

_source: Callable[[], Any] | None = None


def use(source: Callable[[], Any]) -> None:
    """``source()`` is the namespace of the functions `split`, `choice`, `normal` ... Called by the package that has them."""
    global _source
    _source = source


def random() -> Any:
    """The namespace of random functions.

    Raises:
      RuntimeError: no package of random numbers is loaded.
    """
    if _source is None:
        raise RuntimeError("this function draws random numbers, and no package of random numbers is loaded; "
                           "import jax.random (jax-random) first")
    return _source()
