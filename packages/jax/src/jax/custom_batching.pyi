"""Types of `jax.custom_batching`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

class custom_vmap:
    """``fun`` whose behaviour under `vmap` is given by the user with `def_vmap`."""
    fun: Callable[..., Any]
    vmap_rule: Callable[..., Any] | None
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __init__(self, fun: Callable[..., Any]) -> None: ...
    def def_vmap(self, vmap_rule: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]: ...
    signature: Any
def sequential_vmap(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, which under `vmap` runs for one element after another, in a loop (`lax.map`), instead of being batched."""
