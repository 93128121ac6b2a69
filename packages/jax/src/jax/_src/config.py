"""jax._src.config: implemented in `jax_core.configuration.flags`; flags that have no name there are found by their own, with or without ``jax_``."""
from typing import Any

from jax._lazy import mirror as _mirror

_fetch, __dir__ = _mirror(__name__, "jax_core.configuration.flags", jax_platforms="jax_core.configuration.flags:platforms")


def __getattr__(name: str) -> Any:
    try:
        return _fetch(name)
    except AttributeError as error:
        from jax_core.configuration.engine import find  # start-up: only where a library asks for such a flag
        for spelled in f"jax_{name}", name:
            if (flag := find(spelled)) is not None:
                return flag
        raise error from None
