"""What the cores of all devices share while a kernel runs: memory, semaphores, and copies that have not been made."""
from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any, Callable, Hashable, NamedTuple, Sequence

import numpy as np

from jax_core.representation.source import warn

from ..uninitialized import uninitialized_value
from .races import Clock, Races, Region, join, text

if TYPE_CHECKING:
    from ..grid import Program

_PATIENCE = 120.0
"""Seconds for which devices wait for each other before a kernel begins."""


class Place(NamedTuple):
    """Memory: of a device, of one of its cores or (None) of all of them, by a name that is the same on all."""

    device: int
    core: int | None
    name: Hashable


class Copy(NamedTuple):
    """A copy that was started: what makes it, how many bytes it is, the semaphores that it signals, and what is known when it begins."""

    number: int
    make: Callable[[Clock, str], None]
    size: int
    signals: tuple
    clock: Clock


class World:
    """One run of one kernel on ``devices`` devices of ``cores`` cores each."""

    def __init__(self, program: Program, devices: int, cores: int):
        self.program, self.devices, self.params = program, devices, program.options.interpret
        self.where = f"pallas_call {program.options.name}"
        self.changed = threading.Condition()
        self.memory: dict[Place, np.ndarray] = {}
        self.known: dict[Hashable, Clock] = {}  # by semaphore
        self.copies: list[Copy] = []
        self.numbers = itertools.count()
        self.races = Races() if self.params.detect_races else None
        self.failure: BaseException | None = None
        self.running, self.arrived, self.ended = devices * cores, 0, 0
        self.waiting: dict[int, Callable[[], bool]] = {}  # of each core that waits, whether it may go on

    # -- meeting

    def meet(self, counter: str) -> None:
        """Wait until all devices have come here; ``counter``: "arrived" or "ended"."""
        with self.changed:
            setattr(self, counter, getattr(self, counter) + 1)
            self.changed.notify_all()
            if not self.changed.wait_for(lambda: self.failure is not None or getattr(self, counter) == self.devices, _PATIENCE):
                self.failure = RuntimeError(f"{self.where}: of {self.devices} devices only {getattr(self, counter)} came to this kernel; all of them run it.")
            self._go_on()

    def _go_on(self) -> None:
        if self.failure is not None:
            raise self.failure

    def fail(self, error: BaseException) -> None:
        """Let all cores end with ``error``."""
        with self.changed:
            self.failure = self.failure or error
            self.changed.notify_all()

    def finish(self) -> None:
        """One core is at its end."""
        with self.changed:
            self.running -= 1
            self._see_whether_all_wait()
            self.changed.notify_all()

    def _see_whether_all_wait(self) -> None:
        if self.running and len(self.waiting) == self.running and self.failure is None and not any(ready() for ready in self.waiting.values()):
            self.failure = RuntimeError(f"{self.where}: every core that still runs waits for a semaphore, and nobody is left to signal one.")
            self.changed.notify_all()

    # -- memory

    def array(self, place: Place, shape: Sequence[int], dtype: np.dtype, zeros: bool) -> np.ndarray:
        """The memory at ``place``; made by who comes first."""
        with self.changed:
            found = self.memory.get(place)
            if found is None:
                found = self.memory[place] = np.full(shape, 0 if zeros else uninitialized_value(dtype), dtype)
            return found

    def access(self, place: Place, what: str, region: Region, stores: bool, thread: Hashable, clock: Clock, who: str) -> None:
        """Note an access, where races are looked for."""
        if self.races is not None:
            with self.changed:
                found = self.races.access(place, f"{what} of device {place.device}", region, stores, thread, clock, who)
            if found and self.params.on_race == "raise":
                raise RuntimeError(f"{self.where}: {found}")
            if found:
                warn(f"{self.where}: {found}", RuntimeWarning)

    # -- semaphores and copies

    def signal(self, semaphore: tuple, amount: int, clock: Clock) -> None:
        """Add to a semaphore, a place, its memory and a position there."""
        place, counts, position = semaphore
        with self.changed:
            counts[position] += amount
            join(self.known.setdefault((place, position), {}), clock)
            self.changed.notify_all()

    def wait(self, semaphore: tuple, amount: int, clock: Clock, take: bool = True) -> None:
        """Wait until a semaphore holds ``amount``; copies that would signal it are made meanwhile."""
        place, counts, position = semaphore
        while True:
            with self.changed:
                self._go_on()
                if counts[position] >= amount:
                    counts[position] -= amount if take else 0
                    join(clock, self.known.get((place, position), {}))
                    return
                copy = next((c for c in self.copies if any(s[0] == place and s[2] == position for s in c.signals)), None)
                if copy is None:
                    number = next(self.numbers)
                    ready = self.waiting[number] = lambda: self.failure is not None or counts[position] >= amount or self._is_coming(place, position)
                    self._see_whether_all_wait()
                    self.changed.wait_for(ready)
                    del self.waiting[number]
                    continue
                self.copies.remove(copy)
            self.make(copy)

    def _is_coming(self, place: Place, position: Any) -> bool:
        return any(s[0] == place and s[2] == position for c in self.copies for s in c.signals)

    def start(self, make: Callable[[Clock, str], None], size: int, signals: Sequence[tuple], clock: Clock) -> None:
        """Start a copy: it is made at once, or when somebody waits for it."""
        copy = Copy(next(self.numbers), make, size, tuple(signals), dict(clock))
        if self.params.dma_execution_mode == "eager":
            self.make(copy)
            return
        with self.changed:
            self.copies.append(copy)
            self.changed.notify_all()

    def make(self, copy: Copy) -> None:
        """Make a copy, and signal its semaphores."""
        clock = {**copy.clock, ("copy", copy.number): 1}
        copy.make(clock, f"copy {copy.number}")
        for semaphore in copy.signals:
            self.signal(semaphore, copy.size, clock)

    def make_the_rest(self) -> None:
        """Make the copies that nobody waited for."""
        while True:
            with self.changed:
                if not self.copies:
                    return
                copy = self.copies.pop(0)
            self.make(copy)


def beyond(world: World, what: str, shape: Sequence[int], region: Region) -> IndexError:
    """The error for a part that is not inside of its memory."""
    return IndexError(f"{world.where}: the part {text(region)} of {what}, whose shape is {tuple(shape)}, lies beyond its end.")
