"""`jax._src.util.weakref_lru_cache`: results of a function that are kept as long as what they were made from (oryx, secretflow)."""
from __future__ import annotations

import collections
import functools
import threading
import weakref
from typing import Any, Callable, NamedTuple

from ..configuration.engine import trace_key


class CacheInfo(NamedTuple):
    """How often results were remembered, how often worked out, and how many there may be and are."""
    hits: int
    misses: int
    maxsize: int | None
    currsize: int


def weakref_lru_cache(f: Callable | None = None, *, maxsize: int | None = 2048, trace_context_in_key: bool = True, explain: Callable | None = None) -> Callable:
    """``f``, whose results are remembered as long as its first argument lives; all arguments must be hashable.

    Args:
      f: a function; without it, what is returned takes it.
      maxsize: how many results to keep, those asked for last; None for all.
      trace_context_in_key: whether results for other settings (`jax.enable_x64`) are others.
      explain: ignored.

    >>> from jax._src import util
    >>> cached = util.weakref_lru_cache(lambda function, n: function(n).item())
    >>> cached(jnp.sin, 0.), cached(jnp.sin, 0.), cached.cache_info()
    (0.0, 0.0, CacheInfo(hits=1, misses=1, maxsize=2048, currsize=1))
    """
    if f is None:
        return functools.partial(weakref_lru_cache, maxsize=maxsize, trace_context_in_key=trace_context_in_key, explain=explain)
    known: collections.OrderedDict[tuple, Any] = collections.OrderedDict()
    lock = threading.RLock()  # the end of an argument may be noticed while a result is looked up
    counts = [0, 0]

    def forget(reference: weakref.ref) -> None:
        with lock:
            for key in [k for k in known if k[0] is reference or k[0] == reference]:
                del known[key]

    @functools.wraps(f)
    def cached(first: object, *args: Any, **kwargs: Any) -> Any:
        key = (weakref.ref(first, forget), args, tuple(sorted(kwargs.items())), trace_key() if trace_context_in_key else None)
        with lock:
            if key in known:
                counts[0] += 1
                known.move_to_end(key)
                return known[key]
        result = f(first, *args, **kwargs)
        with lock:
            counts[1] += 1
            known[key] = result
            while maxsize is not None and len(known) > maxsize:
                known.popitem(last=False)
        return result

    def clear() -> None:
        with lock:
            known.clear()
            counts[:] = 0, 0

    cached.cache_clear = clear  # type: ignore[attr-defined]
    cached.cache_info = lambda: CacheInfo(counts[0], counts[1], maxsize, len(known))  # type: ignore[attr-defined]
    return cached
