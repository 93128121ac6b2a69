"""Types of `jax.experimental.array_serialization.pytree_serialization_utils`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Sequence

class PyTreeFuture:
    """What is being written or read."""
    def __init__(self, future: Any, pytree: Any = None) -> None: ...
    pytree: Any
def deserialize_pytreedef(pytreedef_repr: dict[str, Any]) -> Any:
    """The structure that `serialize_pytreedef` stored, as a tree of the leaves' numbers."""
def register_pytree_node_serialization(nodetype: type, *, serialized_name: str, serialize_auxdata: Callable[[Any], bytes], deserialize_auxdata: Callable[[bytes], object], from_children: Callable[[Any, Sequence[Any]], Any] | None = None) -> type:
    """Let structures with nodes of this registered pytree type be stored."""
def serialize_pytreedef(node: Any) -> dict[str, Any]:
    """A structure as values that JSON has; leaves are numbered."""
