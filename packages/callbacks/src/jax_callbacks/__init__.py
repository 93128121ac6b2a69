"""Host callbacks: Python functions that run in the middle of compiled programs.

Modules, in the order in which they build on each other:

* `errors`: an exception raised in a callback reaches whoever called the program;
* `views`: the arrays that a callback gets; `buffers`: callbacks that write into the memory of their results;
* `site`: one call of a callback in a program: what it is given, what it must return;
* `effects`: kinds of effects;
* `api`: `pure_callback`, `io_callback`;
* `debug`: `jax.debug`; `debugger`: the prompt of `jax.debug.breakpoint`; `visualize`: pictures of shardings;
* `stats`: how often callbacks ran, how long they took, and time limits;
* `ending`: callbacks in daemon threads when the interpreter ends;
* `progress`: progress bars for loops;
* `tensorflow`: functions of ours as TensorFlow's, and TensorFlow's in our programs.
"""
from __future__ import annotations

import importlib
from typing import Any

from jax_core.representation.source import exclude_package
from jax_core.versions import join

exclude_package(__file__)

__version__ = "0.1.0"
join("jax-callbacks", __version__, core="0.1")

_NAMES = {
    "pure_callback": "api", "io_callback": "api",
    "callback_stats": "stats", "reset_callback_stats": "stats", "callback_timeout": "stats",
    "CallbackTimeoutError": "stats", "CallbackStats": "stats",
    "progress_bar": "progress",
}
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    where = _NAMES.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{where}"), name)
    return value
