"""Types of `jax.ad_checkpoint`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Sequence

class Offloadable:
    """A policy's answer: keep the value in other memory."""
    src: str
    dst: str
    def __init__(self, src: str, dst: str) -> None: ...
Recompute: Any
Saveable: Any
def checkpoint(fun: Callable[..., Any], *, prevent_cse: bool | tuple[bool, ...] = True, policy: Callable[..., bool] | None = None, static_argnums: int | tuple[int, ...] = ..., static_argnames: str | Sequence[str] = ..., concrete: bool = False) -> Callable[..., Any]:
    """``fun``, whose intermediate values are recomputed in the backward pass instead of being kept."""
def checkpoint_name(x: Any, name: str) -> Any:
    """``x`` itself (a pytree), named for the policies that save values by name."""
def checkpoint_name_fwd(x: Any, name: str) -> Any:
    """`checkpoint_name` for the value alone: its tangent gets no name."""
checkpoint_policies: Any
name_p: Any
def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print `saved_residuals`, a line each."""
def remat(fun: Callable[..., Any], *, prevent_cse: bool | tuple[bool, ...] = True, policy: Callable[..., bool] | None = None, static_argnums: int | tuple[int, ...] = ..., static_argnames: str | Sequence[str] = ..., concrete: bool = False) -> Callable[..., Any]:
    """``fun``, whose intermediate values are recomputed in the backward pass instead of being kept."""
def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[Any, str]]:
    """What differentiating ``f`` would keep for the backward pass: ``(type, where it comes from)`` for each value, arguments first."""
