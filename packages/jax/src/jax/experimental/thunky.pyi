"""Types of `jax.experimental.thunky`. Written by packages/jax/tools/make_stubs.py."""
import numpy as np
from jax import Ref
from jax.experimental.hijax import TransformedRef
from typing import Any, Callable, Mapping, Sequence

def all_gather(src: Ref | TransformedRef | Sequence[Ref | TransformedRef], dst: Ref | TransformedRef | Sequence[Ref | TransformedRef], axis_name: Any | Sequence[Any], *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> None:
    """``src`` of every position along a named axis, one after the other, into ``dst``."""
def all_reduce(src: Ref | TransformedRef | Sequence[Ref | TransformedRef], dst: Ref | TransformedRef | Sequence[Ref | TransformedRef], axis_name: Any | Sequence[Any], *, reduction: str = 'sum', axis_index_groups: Sequence[Sequence[int]] | None = None) -> None:
    """The sum (or another reduction) of ``src`` over a named axis, into ``dst``."""
def all_to_all(src: Ref | TransformedRef | Sequence[Ref | TransformedRef], dst: Ref | TransformedRef | Sequence[Ref | TransformedRef], axis_name: Any | Sequence[Any], *, axis_index_groups: Sequence[Sequence[int]] | None = None, has_split_dimension: bool = True) -> None:
    """Part ``i`` of ``src`` goes to position ``i`` of a named axis, which puts it at the place of the sender's position in ``dst``."""
def async_done(token: object) -> None:
    """Wait for the steps that the `async_start` started that returned ``token``."""
def async_start(fn: Callable[[], None], *, stream_id: int = 0, stream_kind: str = 'computation', is_communication: bool | None = None) -> Any:
    """The steps of ``fn``, which `async_done` waits for; XLA decides by itself what runs beside what."""
def call_jax(fn: Callable[..., Any], *args: Any) -> Any:
    """``fn(*args)``: any function of arrays, or of references, as a step."""
def collective_group(fn: Callable[[], None]) -> None:
    """The collectives of ``fn`` as one group; XLA joins those that can be."""
def collective_permute(src: Ref | TransformedRef | Sequence[Ref | TransformedRef], dst: Ref | TransformedRef | Sequence[Ref | TransformedRef], axis_name: Any | Sequence[Any], source_target_pairs: Sequence[tuple[int, int]] = ..., *, axis_index_groups: Sequence[Sequence[int]] | None = None) -> None:
    """Send ``src`` from position to position of a named axis; ``dst`` is zero where nothing arrives."""
def cond(pred_buf: Ref | TransformedRef, true_fn: Callable[[], None], false_fn: Callable[[], None]) -> None:
    """The steps of ``true_fn`` where ``pred_buf`` holds True, those of ``false_fn`` else."""
def copy(src: Ref | TransformedRef, dst: Ref | TransformedRef) -> None:
    """Copy the bytes of ``src`` to ``dst``, which may have another shape and dtype."""
def custom_call(target_name: str, operands: Sequence[Ref | TransformedRef], results: Sequence[Ref | TransformedRef], backend_config: Mapping[str, object] | None = None) -> None:
    """Call a foreign function, registered by `jax.ffi.register_ffi_target`, which reads ``operands`` and fills ``results``."""
def jit(fn: Callable[..., object] | None = None, *, scratch_shapes: Any = ...) -> Any:
    """``fn`` as a compiled program of steps on buffers."""
def memset(buf: Ref | TransformedRef, value: np.generic) -> None:
    """Fill ``buf`` with the 32 bits of ``value``."""
def memzero(buf: Ref | TransformedRef) -> None:
    """Overwrite ``buf`` by zeros."""
def ptx_kernel(*buffers: Ref | TransformedRef, written: Sequence[bool], kernel_name: str, ptx: str, grid_dim: tuple[int, int, int] = ..., block_dim: tuple[int, int, int] = ..., shmem_bytes: int = 0) -> None:
    """Refused: there is no launch of PTX text here. Use `jax.experimental.pallas`, or a `custom_call` of a function that launches it."""
def reduce_scatter(src: Ref | TransformedRef | Sequence[Ref | TransformedRef], dst: Ref | TransformedRef | Sequence[Ref | TransformedRef], axis_name: Any | Sequence[Any], *, reduction: str = 'sum', axis_index_groups: Sequence[Sequence[int]] | None = None) -> None:
    """The sum (or another reduction) of ``src`` over a named axis, of which each position keeps its own part in ``dst``."""
def switch(index_buf: Ref | TransformedRef, branches: Sequence[Callable[[], None]]) -> None:
    """The steps of ``branches[i]``, where ``index_buf`` holds ``i``; the last branch for numbers outside of their range."""
def while_loop(cond_buf: Ref | TransformedRef, cond_fn: Callable[[], None], body_fn: Callable[[], None]) -> None:
    """``cond_fn``, then as long as it left True in ``cond_buf``, ``body_fn`` and ``cond_fn`` again."""
