"""Types of `jax.experimental.compute_on`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Mapping

def compute_on(f: Callable[..., Any] | None = None, *, compute_type: str, out_memory_spaces: object, compiler_options: Mapping[str, object] | None = None) -> Callable[..., Any]:
    """``f``, run by another processor of the device (on the CPU platform there is one, which runs it)."""
