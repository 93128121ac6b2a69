"""Types of `jax.experimental.scheduling_groups`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def scheduling_group(name: str) -> Callable[..., Any]:
    """A decorator: XLA shall schedule the operations of the function as one group."""
def xla_metadata_call(f: Callable[..., Any] | None = None, /, **meta: Any) -> Callable[..., Any]:
    """``f`` as a call with the metadata ``meta``; derivatives have them too. Without ``f``, a decorator."""
