"""Types of `jax.experimental.colocated_python.func`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def colocated_python(fun: Callable[..., Any]) -> Callable[..., Any]:
    """``fun``, run beside the devices of its arguments. ``specialize`` fixes what is otherwise taken from a call."""
