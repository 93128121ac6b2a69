"""Types of `jax.interpreters.batching`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import ClosedJaxpr
from jax.typing import ArrayLike
from typing import Any, Callable, MutableMapping, Sequence

axis_primitive_batchers: MutableMapping
def batch_jaxpr_axes(closed_jaxpr: ClosedJaxpr, axis_data: Any, in_axes: Sequence[int | None], out_axes_dest: Sequence[int | None]) -> Any:
    """``closed_jaxpr`` on a batch with its mapped axes at ``in_axes`` and ``out_axes_dest``."""
def batch_subtrace(fun: Callable[..., Any], *args: Any) -> Any: ...
def bdim_at_front(x: ArrayLike, bdim: int | None, size: int, mesh_axis: None = None) -> Any:
    """``x`` with its mapped axis first; made by repetition if there is none. ``mesh_axis`` must be None."""
def broadcast(x: ArrayLike, sz: int, axis: int = 0, mesh_axis: None = None) -> Any:
    """``x`` repeated along a new ``axis`` of length ``sz``; ``mesh_axis`` must be None."""
def defbroadcasting(prim: Any) -> None:
    """``prim`` is elementwise in its operands."""
def defreducer(prim: Any, ident: object | None = None) -> None:
    """``prim`` reduces over its parameter ``axes``."""
def defvectorized(prim: Any) -> None:
    """``prim`` is elementwise in its operands."""
fancy_primitive_batchers: MutableMapping
primitive_batchers: MutableMapping
def register_vmappable(data_type: type, spec_type: type, axis_size_type: type, to_elt: Callable[..., object], from_elt: Callable[..., object], make_iota: Callable[..., object] | None = None) -> None:
    """Have `vmap` map values of ``data_type`` as wholes."""
def unregister_vmappable(data_type: type) -> None:
    """Undo `register_vmappable`. Raises KeyError if ``data_type`` is not registered."""
def zero_if_mapped(x: object) -> int | None:
    """0 for a mapped value, else None."""
