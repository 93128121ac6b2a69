"""Types of `jax.experimental.xla_metadata`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable, Mapping

def fuse_limit() -> Any:
    """A context manager: XLA shall not fuse the operations that are traced inside with others (metadata ``FUSE_LIMIT``)."""
def must_fuse_call(identifier: object) -> Callable[..., Any]:
    """A decorator: XLA shall make one fusion of all operations of the function (metadata ``MUST_FUSE``)."""
def set_xla_metadata(x: Any = None, **kwargs: Any) -> Any:
    """``x`` (a pytree of arrays), whose values are computed by operations with the metadata ``kwargs``."""
def xla_metadata_call(f: Callable[..., Any] | None = None, /, **meta: Any) -> Callable[..., Any]:
    """``f`` as a call with the metadata ``meta``; derivatives have them too. Without ``f``, a decorator."""
def xla_metadata_call2(f: Callable[..., Any] | None = None, /, metadata: Mapping[str, object] | None = None, *, ad_metadata: str | Mapping[str, Any] = 'same') -> Callable[..., Any]:
    """``f`` as a call with metadata."""
