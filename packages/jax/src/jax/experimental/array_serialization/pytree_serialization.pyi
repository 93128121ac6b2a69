"""Types of `jax.experimental.array_serialization.pytree_serialization`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.array_serialization.pytree_serialization_utils import PyTreeFuture
from typing import Any

def load(directory: str | Any, shardings: Any, *, mask: Any = None, ts_specs: Any = None) -> Any:
    """Read a tree of arrays that `save` wrote. Every process calls it."""
def load_pytreedef(directory: str | Any) -> Any:
    """The tree that is saved in a folder, with shapes and dtypes instead of arrays."""
def nonblocking_load(directory: str | Any, shardings: Any, *, mask: Any = None, ts_specs: Any = None) -> PyTreeFuture:
    """`load`, which goes on while the program does; ``pytree`` of what it returns has the arrays' shapes and dtypes."""
def nonblocking_save(data: Any, directory: str | Any, *, overwrite: bool = True, ts_specs: Any = None) -> PyTreeFuture:
    """`save`, which returns as soon as the arrays' memory may change; ``result()`` of what it returns waits for the rest."""
def save(data: Any, directory: str | Any, *, overwrite: bool = True, ts_specs: Any = None) -> None:
    """Write a tree of arrays into a folder, and wait until it is there. Every process calls it."""
