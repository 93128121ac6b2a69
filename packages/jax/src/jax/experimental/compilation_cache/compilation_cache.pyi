"""Types of `jax.experimental.compilation_cache.compilation_cache`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any

def reset_cache() -> None:
    """Forget what is known of the directory: the next program looks for it, and makes it, anew. Entries stay."""
def set_cache_dir(path: str) -> None:
    """Keep compiled programs in this directory from now on; None for the default one (flag ``jax_compilation_cache_dir``)."""
