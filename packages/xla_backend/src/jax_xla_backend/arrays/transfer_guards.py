"""Transfer guards: what jaxlib does about transfers that the program did not ask for by name.

The flags ``jax_transfer_guard_*`` and ``jax_array_garbage_collection_guard`` are mirrored into jaxlib, which looks at
them at each transfer. `device_put` and `device_get` are transfers that were asked for; they say so with `explicit`.
Results of operations that ran on the host are none (`own`).
"""
from __future__ import annotations

import contextlib
import logging
from typing import ContextManager, Iterator

from jax_core.configuration import engine, flags

from ..jaxlib_compat import RuntimeError_, _jax

_lib = _jax.guard_lib
_LEVELS = {"allow": _lib.TransferGuardLevel.ALLOW, "log": _lib.TransferGuardLevel.LOG,
           "disallow": _lib.TransferGuardLevel.DISALLOW, "log_explicit": _lib.TransferGuardLevel.LOG_EXPLICIT,
           "disallow_explicit": _lib.TransferGuardLevel.DISALLOW_EXPLICIT}
_GARBAGE = {"allow": _lib.GarbageCollectionGuardLevel.ALLOW, "log": _lib.GarbageCollectionGuardLevel.LOG,
            "fatal": _lib.GarbageCollectionGuardLevel.FATAL}
_nothing: ContextManager = contextlib.nullcontext()
_active = False


def _mirror(flag: str, field: str, levels: dict) -> None:
    def changed(value: object, thread_local: bool) -> None:
        global _active
        level = None if value is None else levels[str(value)]
        if level is not None:
            _active = True
        setattr(_lib.thread_local_state() if thread_local else _lib.global_state(), field, level)
    engine.on_change(flag, changed)


def install() -> None:
    """Mirror the flags. Called once."""
    for direction in ("host_to_device", "device_to_device", "device_to_host"):
        _mirror(f"jax_transfer_guard_{direction}", direction, _LEVELS)
    _mirror("jax_array_garbage_collection_guard", "garbage_collect_array", _GARBAGE)


@contextlib.contextmanager
def _explicit() -> Iterator[None]:
    state = _lib.thread_local_state()
    before = state.explicit_device_put, state.explicit_device_get
    state.explicit_device_put = state.explicit_device_get = True
    try:
        yield
    finally:
        state.explicit_device_put, state.explicit_device_get = before


def used() -> bool:
    """Whether a guard was ever set."""
    return _active


def check(direction: str, what: str) -> None:
    """A transfer that jaxlib does not see as one, as it goes over the host: obey the guard of ``direction``.

    Raises:
      RuntimeError: that guard disallows it.
    """
    level = getattr(flags, f"transfer_guard_{direction}").value
    state = _lib.thread_local_state()
    asked_for = state.explicit_device_get if direction == "device_to_host" else state.explicit_device_put
    if level in (None, "allow") or asked_for and not level.endswith("_explicit"):
        return
    text = f"{direction.replace('_', '-')} transfer: {what}"
    if level.startswith("disallow"):
        raise RuntimeError_(f"Disallowed {text}; so says jax_transfer_guard_{direction}={level!r}")
    logging.getLogger("jax.transfers").warning("%s", text)


def explicit() -> ContextManager:
    """Transfers inside the block were asked for. Costs next to nothing while no guard was ever set."""
    return _explicit() if _active else _nothing


@contextlib.contextmanager
def _allowed(*directions: str) -> Iterator[None]:
    state = _lib.thread_local_state()
    before = [getattr(state, direction) for direction in directions]
    for direction in directions:
        setattr(state, direction, _LEVELS["allow"])
    try:
        yield
    finally:
        for direction, level in zip(directions, before):
            setattr(state, direction, level)


def own() -> ContextManager:
    """What is computed on the host inside the block is our choice: to the program nothing is transferred."""
    return _allowed("host_to_device") if _active else _nothing


def unguarded() -> ContextManager:
    """What is transferred inside the block, either way, is no part of the program."""
    return _allowed("host_to_device", "device_to_host") if _active else _nothing
