"""Runtime tokens: the order of effects between programs that run one after another.

A program with an ordered effect takes a token and returns one (at run time an array of no elements), so that the next
such program on the same devices starts when this one has ended. Programs with unordered effects leave a token behind
that `effects_barrier` waits for.
"""
from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation.aval import ShapedArray

from ..arrays import interruptible
from ..jaxlib_compat import _jax

if TYPE_CHECKING:
    from jax_core.representation.typing import ShardingLike

TOKEN_TYPE = ShapedArray((0,), np.dtype(bool))

_lock = threading.Lock()
_ordered: dict[Any, Any] = {}
_unordered: dict[Any, Any] = {}


def take(effect: object, sharding: ShardingLike | None) -> Any:
    """The token of an ordered effect on the devices of ``sharding``."""
    key = (effect, sharding)
    with _lock:
        token = _ordered.get(key)
    return fresh(sharding) if token is None else token


def fresh(sharding: Any) -> Any:
    """A token that nothing has to happen before."""
    devices = list(sharding._addressable_device_assignment)
    return _jax.batched_device_put(TOKEN_TYPE, sharding, [np.zeros(0, bool)] * len(devices), devices, True)


def keep(effect: object, sharding: ShardingLike | None, token: object) -> None:
    """``token`` is the current one of ``effect``."""
    with _lock:
        _ordered[effect, sharding] = token


def keep_unordered(devices: tuple, token: object) -> None:
    """`effects_barrier` shall wait for ``token``. One is kept for each set of devices: on those, programs end in turn."""
    with _lock:
        before = _unordered.get(devices)
        kept = [t for t in before if not _is_done(t)] if before else []
        _unordered[devices] = [*kept[-63:], token]


def _is_done(token: Any) -> bool:
    try:
        return bool(token.get_token(0).is_ready())
    except AttributeError:
        return False


def effects_barrier() -> None:
    """Wait until the effects of all programs called so far have happened; raises the error of one that failed.

    >>> jax.debug.print('hello {}', 1)
    hello 1
    >>> jax.effects_barrier()
    """
    with _lock:
        ordered, unordered = list(_ordered.values()), [t for ts in _unordered.values() for t in ts]
        _ordered.clear()
        _unordered.clear()
    for token in (*ordered, *unordered):
        interruptible.wait(token.block_until_ready)
        token.block_until_ready()


block_until_ready = effects_barrier  # as brainpy finds it, to whom this module is ``jax._src.dispatch.runtime_tokens``


def clear() -> None:
    """Forget all tokens, for instance after an effect has failed."""
    with _lock:
        _ordered.clear()
        _unordered.clear()


def _at_exit() -> None:
    """Effects that are still to happen do happen before the interpreter ends."""
    try:
        effects_barrier()
    except Exception:  # the error was, or could have been, seen where the program was called
        pass


atexit.register(_at_exit)
