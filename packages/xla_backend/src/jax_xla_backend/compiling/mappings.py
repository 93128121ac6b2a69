"""Room for one more program among the memory mappings of the process.

A compiled program is several mappings of memory (three to seven on the CPU). Linux gives a process 65,530 of them, and XLA ends the process where it gets no
more. So they are counted now and then, and before they run out programs are forgotten: those that a function needs again are compiled again.

Source: proc(5), `/proc/[pid]/maps`, `/proc/sys/vm/max_map_count`.
"""
from __future__ import annotations

import functools
import gc
import itertools
import threading
from typing import Callable

from jax_core.programs.call import clear_caches
from jax_core.representation import source

from ..jaxlib_compat import RuntimeError_

TURN = 64
"""Programs from one count to the next."""
SPARE = 8_000
"""Mappings that are left when programs are forgotten: for those of the next turn, of other threads, and of whatever else the process loads."""
_MAPPINGS = "/proc/self/maps"
_MOST = "/proc/sys/vm/max_map_count"

_programs = itertools.count(1)
_full = threading.Event()
"""There was no room when it was last looked for, so the next program looks again."""


@functools.cache
def most() -> int | None:
    """Mappings that this process may have; None where the system does not say."""
    try:
        with open(_MOST) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def mapped() -> int:
    """Mappings that it has; 0 where the system does not say."""
    try:
        with open(_MAPPINGS, "rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def make_room(forget_kept: Callable[[], None]) -> None:
    """Look, at some calls, whether there is room for the next programs, and forget others where there is not.

    Args:
      forget_kept: forgets executables that no function may need.

    Raises:
      JaxRuntimeError: there is none, as those that are left are held by the caller.
    """
    if next(_programs) % TURN and not _full.is_set() or (limit := most()) is None:
        return
    _full.clear()
    if _fits(limit):
        return
    forget_kept()
    gc.collect()
    if _fits(limit):
        return
    source.warn("this process holds nearly as many compiled programs as the system has memory mappings for: those that jitted functions keep are "
                f"forgotten, and compiled again where they are needed. Call functions with fewer shapes, or allow more mappings ({_MOST}).", RuntimeWarning)
    clear_caches()
    gc.collect()
    if not _fits(limit):
        _full.set()
        raise RuntimeError_(f"RESOURCE_EXHAUSTED: this process has {mapped():,} of the {limit:,} memory mappings that the system gives it, and each compiled "
                            f"program takes some. Let go of compiled programs (results of `.compile()`) that are not needed, or allow more mappings ({_MOST}).")


def _fits(limit: int) -> bool:
    return mapped() <= max(limit - SPARE, limit // 2)
