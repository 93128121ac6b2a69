"""Types of `jax.experimental.pjit`. Written by packages/jax/tools/make_stubs.py."""
from jax import Device, Inline
from jax.sharding import PartitionSpec, Sharding
from typing import Any, Callable, Iterable, Sequence

def pjit(fun: Callable[..., Any], in_shardings: Any = None, out_shardings: Any = ..., static_argnums: int | Sequence[int] | None = None, static_argnames: str | Iterable[str] | None = None, donate_argnums: int | Sequence[int] | None = None, donate_argnames: str | Iterable[str] | None = None, keep_unused: bool = False, device: Sharding | PartitionSpec | Device | None = None, backend: str | None = None, inline: bool | Inline = False, compiler_options: dict[str, Any] | None = None) -> Any:
    """`jit` under its older name, which takes the placements also by position, and reads the mesh of a ``with mesh:`` block."""
