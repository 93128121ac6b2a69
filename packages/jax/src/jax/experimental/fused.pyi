"""Types of `jax.experimental.fused`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def fused(*, out_spaces: object) -> Callable[..., Any]:
    """A decorator: the function is one call, whose results go to the given kinds of memory; its arguments may lie in any."""
fused_p: Any
