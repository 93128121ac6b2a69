"""XLA as the backend of `jax_core`: devices, arrays, shardings, lowering, compilation, dispatch.

Rooms (folders) and modules, each of which imports only those before it:

``jaxlib_compat``  the one door to jaxlib
``platforms``      platforms, their clients and devices; the processes of a program
``placement``      which device holds which part of an array
``arrays``         the class of arrays, and how arrays are made and moved
``planning``       what is decided about a program before it is written
``lowering``       jaxprs to StableHLO text
``kernels``        kernels for the compilers of accelerators
``compiling``      StableHLO to executables
``running``        programs that run
``operations``     operations that only this backend has
``checkpoints``    arrays and trees of them in files and buckets
``tools``          looking at programs, keeping them, measuring them
``backend``        what core calls
``startup``        preparing jaxlib, once per process
``api``            the public functions
``extend``         `jax.extend.backend`

`load` is the entry point that core looks for. It prepares jaxlib once per process; importing a submodule does not.
"""
from __future__ import annotations

import threading
from typing import Any

from jax_core.extension_points import array_methods
from jax_core.representation.source import exclude_package
from jax_core.versions import join

exclude_package(__file__)

__version__ = "0.1.0"
join("jax-xla-backend", __version__, core="0.1")

_loaded: Any = None
_lock = threading.RLock()  # `api` loads it too, so `jax_core.backends` cannot see to it that one thread does


def load() -> Any:
    """The backend, ready for use (`jax_core.interfaces.Backend`)."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                array_methods.bring()  # before there is an array: it may be the first thing that a process gets, from a pickle
                from . import startup  # start-up: those who import a submodule do not load jaxlib

                _loaded = startup.start()
    return _loaded
