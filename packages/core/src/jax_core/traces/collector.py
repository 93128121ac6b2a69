"""Python's cycle collector while a program is written.

A trace makes half a dozen objects for every equation, nearly all of which live as long as the program. The collector
starts a pass for every 700 new objects, and every few hundredth pass walks over all objects there are: tracing 100,000
equations spent a third of its time in passes that freed nothing, and the time per equation grew with the program.

So while a trace or a lowering runs, passes start after more new objects. Garbage in cycles is still freed, later.
"""
from __future__ import annotations

import gc
import threading

_YOUNG, _MIDDLE = 50_000, 50  # new objects before a pass over them; such passes before one over their survivors too
_lock = threading.Lock()
_users = 0
_before: tuple = (0, 0, 0)


class relaxed:
    """While some thread is inside this context, the collector starts a pass for every 50,000 new objects.

    Thresholds that are higher already, and a collector that is switched off, stay as they are.
    """

    __slots__ = ()

    def __enter__(self):
        global _users, _before
        with _lock:
            _users += 1
            if _users == 1:
                _before = gc.get_threshold()
                if 0 < _before[0] < _YOUNG:
                    gc.set_threshold(_YOUNG, max(_MIDDLE, _before[1]), _before[2])

    def __exit__(self, *exc):
        global _users
        with _lock:
            _users -= 1
            if _users == 0 and gc.get_threshold()[0] == _YOUNG:
                gc.set_threshold(*_before)


RELAXED = relaxed()
