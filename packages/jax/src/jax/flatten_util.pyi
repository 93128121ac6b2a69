"""Types of `jax.flatten_util`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def ravel_pytree(pytree: Any) -> tuple[Any, Callable[..., Any]]:
    """All leaves of ``pytree``, flattened and joined, and the function that takes such a vector apart again."""
