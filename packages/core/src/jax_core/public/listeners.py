"""Which functions listen to `jax.monitoring`, and how often a call was new, as servers and test suites that count compilations ask."""
from __future__ import annotations

import contextlib
from typing import Callable, Iterator

from ..programs.jit import unseen
from ..programs.monitoring import listeners

BACKEND_COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
JAXPR_TO_MLIR_MODULE_EVENT = "/jax/core/compile/jaxpr_to_mlir_module_duration"
JAXPR_TRACE_EVENT = "/jax/core/compile/jaxpr_trace_duration"


def get_event_listeners() -> list[Callable[..., object]]:
    """Who listens to plain events.

    >>> from jax._src import monitoring
    >>> monitoring.get_event_listeners()
    []
    """
    return list(listeners["event"])


def get_event_duration_listeners() -> list[Callable[..., object]]:
    """Who listens to how long something took.

    >>> from jax._src import monitoring
    >>> monitoring.get_event_duration_listeners()
    []
    """
    return list(listeners["duration"])


def get_event_time_span_listeners() -> list[Callable[..., object]]:
    """Who listens to when something began and ended.

    >>> from jax._src import monitoring
    >>> monitoring.get_event_time_span_listeners()
    []
    """
    return list(listeners["span"])


def get_scalar_listeners() -> list[Callable[..., object]]:
    """Who listens to numbers.

    >>> from jax._src import monitoring
    >>> monitoring.get_scalar_listeners()
    []
    """
    return list(listeners["scalar"])


@contextlib.contextmanager
def count_unseen_calls() -> Iterator[Callable[[], int]]:
    """``with count_unseen_calls() as count:`` where ``count()`` says how many calls of compiled functions were new since then, in all threads.

    A call is new where arguments of such types have not been seen before, or the settings were others.

    >>> from jax._src import test_util
    >>> f = jax.jit(lambda x: x + 1)
    >>> with test_util.count_pjit_cpp_cache_miss() as count:
    ...     seen = f(np.zeros(3)), f(np.zeros(3)), f(np.zeros(4))
    >>> count()
    2
    """
    before = unseen[0]
    after: list[int] = []
    try:
        yield lambda: (after[0] if after else unseen[0]) - before
    finally:
        after.append(unseen[0])
