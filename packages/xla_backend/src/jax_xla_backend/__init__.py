"""XLA as the backend of `jax_core`: devices, arrays, shardings, lowering, compilation, dispatch.

``jaxlib_compat``                           the one door to jaxlib
``client``, ``platforms``, ``plugins``      platforms and devices; ``distributed``, ``multihost``: of many processes
``mesh``, ``partition_spec``, ``sharding``  who holds which part of an array; ``shard_map``, ``custom_partitioning``, ``pmap``
``array``, ``put``, ``transfer``, ``dlpack``  arrays, and how they are made and moved
``lowering``, ``build``, ``compile``        jaxprs to StableHLO to executables; ``disk_cache``, ``stored``: kept on disk
``backend``, ``dispatch``, ``eager``        what core calls; calls that do not enter Python; one primitive at a time
``host_calls``, ``big_buffers``, ``ffi``    calls of Python and of compiled functions from programs
``exporting``, ``inspecting``, ``profiler``, ``roofline``  looking at programs, keeping them, measuring them
``api``                                     the public functions

`load` is the entry point that core looks for. It prepares jaxlib once per process; importing a submodule does not.
"""
from __future__ import annotations

from typing import Any
from jax_core.representation.source import exclude_package

exclude_package(__file__)

__version__ = "0.1.0"

_loaded: Any = None


def load() -> Any:
    """The backend, ready for use (`jax_core.interfaces.Backend`)."""
    global _loaded
    if _loaded is None:
        from . import startup  # start-up: those who import a submodule do not load jaxlib

        _loaded = startup.start()
    return _loaded
