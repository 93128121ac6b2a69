"""Types of `jax.experimental.serialize_executable`. Written by packages/jax/tools/make_stubs.py."""
from jax.stages import Compiled
from jax.tree_util import PyTreeDef
from typing import Any, Sequence

def deserialize_and_load(serialized: bytes, in_tree: PyTreeDef, out_tree: PyTreeDef, backend: object | None = None, execution_devices: Sequence[Any] | None = None) -> Compiled:
    """The compiled program that `serialize` stored."""
def serialize(compiled: Any) -> tuple[bytes, Any, Any]:
    """A result of ``jit(f).lower(...).compile()`` as bytes, and the structures of its arguments and results."""
