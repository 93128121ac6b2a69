"""Types of `jax.experimental.overlap`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Sequence

def program_order(f: Callable[..., Any] | None = None, *, enforce: bool, strict_in_out: bool = False, exclude_argnames: Sequence[str] | None = None) -> Callable[..., Any]:
    """``f``, whose operations run in the order in which they were written."""
