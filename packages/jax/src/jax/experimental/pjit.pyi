"""Types of `jax.experimental.pjit`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

def pjit(fun: Callable[..., Any], in_shardings: Any = None, out_shardings: Any = None, **options: Any) -> Any:
    """`jit` under its older name, which takes the placements also by position."""
