"""Types of `jax.interpreters.pxla`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import ShapedArray
from typing import Any, Callable, Sequence

def global_avals_to_results_handler(global_out_avals: Sequence[ShapedArray], shardings: Sequence[object], committed: bool) -> Callable[[Sequence[Sequence[Any]]], list]:
    """A function from the parts of several arrays to those arrays."""
thread_resources: Any
