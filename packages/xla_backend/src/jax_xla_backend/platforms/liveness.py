"""Which processes of a program still live: each says so every few seconds, and who waits for the others looks.

A collective waits for all processes. If one was killed, XLA's error names an address; if one is stopped, there is none. So a process
that has waited for long, or got such an error, looks who has been silent, and raises an error with its number.

The signs go through the coordinator's store. On one machine the kernel is asked too, which knows a dead process at once.

A process whose program has ended waits for the others to end, and lives. It says how many programs it has started with each set of
processes: who waits for a further one waits in vain.

Left aside: the coordinator's own heartbeats (`get_live_nodes`), which know after ``heartbeat_timeout_seconds``, by default 100, and a
connection between any two processes, which a stopped one keeps open.
"""
from __future__ import annotations

import os
import socket
import threading
import time
from typing import Any, Callable, Sequence

from ..jaxlib_compat import RuntimeError_
from .distributed_state import state

BEAT = 4.0  # seconds between signs of life
SILENCE = 40.0  # seconds after which a process counts as lost: ten signs, as on a busy machine some come late
_GRACE = 20.0  # seconds that the coordinator waits at most for the others to leave before it does
_FOLDER, _LEFT = "jax_alive/", "left"

_started: threading.Event | None = None
_at_the_end = ""  # what this process adds to its signs once its program has ended
_launches: dict[tuple[int, ...], int] = {}
_given_up: list[Callable[[float], bool]] = []
lost: dict[int, str] = {}


def start() -> None:
    """Give signs of life from now on."""
    global _started, _at_the_end
    lost.clear()
    _launches.clear()
    _given_up.clear()
    _at_the_end = ""
    _started = threading.Event()
    threading.Thread(target=_live, args=(state.client, state.process_id, _started), name="jax-alive", daemon=True).start()


def stop() -> None:
    """Give no more signs of life; the process leaves the program."""
    global _started
    if _started is not None:
        _started.set()
    _started = None


def launching(processes: tuple[int, ...]) -> None:
    """Count a program that these processes run together; each starts them in the same order."""
    _launches[processes] = _launches.get(processes, 0) + 1


def end() -> None:
    """Tell the others that this process starts no more programs; signs of life go on."""
    global _at_the_end
    _at_the_end = "".join(f";{'-'.join(map(str, them))}={count}" for them, count in list(_launches.items())) or ";"
    try:
        state.client.key_value_set(f"{_FOLDER}{state.process_id}", f"0{_at_the_end} {os.getpid()} {_place()}", allow_overwrite=True)
    except Exception:  # the coordinator is gone
        return


def _takes_no_part(number: int, beat: str) -> bool:
    """Whether the process, whose sign starts with ``beat``, has ended before a program that this one has started with it."""
    if ";" not in beat:
        return False
    counts = dict(part.split("=") for part in beat.split(";")[1:] if part)
    return any(number in them and count > int(counts.get("-".join(map(str, them)), 0)) for them, count in list(_launches.items()))


def leave_after_loss() -> None:
    """Tell the others, who may be waiting for this process too. The coordinator goes last, as jaxlib ends those who miss it."""
    connection, number = state.client, state.process_id
    if number in lost or 0 in lost:
        return
    try:
        connection.key_value_set(f"{_FOLDER}{number}", f"{_LEFT} {os.getpid()} {_place()}", allow_overwrite=True)
        end = time.monotonic() + _GRACE if number == 0 else 0
        while time.monotonic() < end and any([
                not _has_gone(sign) for key, sign in connection.key_value_dir_get(_FOLDER) if int(key.rpartition("/")[2]) not in (0, *lost)]):
            time.sleep(BEAT / 16)
    except Exception:  # the coordinator is gone
        return


def _has_gone(sign: str) -> bool:
    beat, pid, place = sign.split(" ", 2)
    return beat == _LEFT and (place != _place() or _state_of(int(pid)) in "XZ")


def _live(connection: Any, number: int, stopped: threading.Event) -> None:
    beat = 0
    while True:
        try:
            connection.key_value_set(f"{_FOLDER}{number}", f"{beat}{_at_the_end} {os.getpid()} {_place()}", allow_overwrite=True)
        except Exception:  # the coordinator is gone; the others see that too
            return
        beat += 1
        if stopped.wait(BEAT):
            return


class Watch:
    """Looks at the other processes while this one waits for them."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, float]] = {}

    def look(self, patience: float = SILENCE) -> None:
        """Raise an error with the numbers of those that are dead, or have been silent for ``patience`` seconds of this watch."""
        if state.client is None or _started is None:
            return
        now, ended = time.monotonic(), []
        try:
            signs = _signs()
        except Exception as error:
            coordinator_is_lost()
            raise _error() from error
        for key, sign in signs:
            number = int(key.rpartition("/")[2])
            before = self._seen.get(number)
            if before is None or before[0] != sign:
                self._seen[number] = before = sign, now
            beat, pid, place = sign.split(" ", 2)
            here, host = place == _place(), place.partition(" ")[0]
            if number == state.process_id:
                continue
            if here and _state_of(int(pid)) in "XZ":
                lost[number] = f"process {number} (pid {pid} on {host}) has died"
            elif beat == _LEFT:
                lost[number] = f"process {number} (pid {pid} on {host}) has left after it lost another"
            elif now - before[1] >= patience:
                how = "is stopped, and " if here and _state_of(int(pid)) in "Tt" else ""
                lost[number] = f"process {number} (pid {pid} on {host}) {how}has given no sign of life for {now - before[1]:.0f} seconds"
            elif _takes_no_part(number, beat):  # not lost: it waits for this one to end
                ended.append(f"process {number} (pid {pid} on {host}) has ended its program without it")
        if lost or ended:
            raise _error(ended)


def _signs() -> list[tuple[str, str]]:
    """What all have said last. Raises where the coordinator does not answer, also if its connection ends meanwhile."""
    relay = state.relay
    if relay is None:
        return state.client.key_value_dir_get(_FOLDER)
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(_asked(state.client)), name="jax-signs", daemon=True)
    if not relay.broken.is_set():
        asking.start()
    end = time.monotonic() + SILENCE
    while not found:
        if relay.broken.is_set() or time.monotonic() > end:  # nobody will answer
            raise ConnectionError("the coordinator has ended the connection, or does not answer")
        asking.join(BEAT / 40)
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def _asked(connection: Any) -> Any:
    try:
        return connection.key_value_dir_get(_FOLDER)
    except Exception as error:
        return error


def coordinator_is_lost() -> None:
    """Note that process 0 is out of reach. Nothing can be asked of its store any more."""
    lost[0] = f"process 0, the coordinator at {state.coordinator_address}, has died or is out of reach"


def _error(ended: Sequence[str] = ()) -> Exception:
    return RuntimeError_(f"a computation of {state.num_processes} processes cannot go on in process {state.process_id}: "
                           f"{'; '.join([*lost.values(), *ended])}. Start the program again, with fewer processes if need be, from a checkpoint.")


def _place() -> str:
    """This host, and which of its processes this one sees: those of another container have numbers of their own."""
    try:
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"{socket.gethostname()} ?{os.getpid()}"


def _state_of(pid: int) -> str:
    """The letter that Linux gives the state of a process of this machine; ``X`` for none."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def explain(failure: BaseException) -> None:
    """Raise an error that names the process whose end made a collective fail with ``failure``; return if it was something else."""
    if "Gloo" not in str(failure):
        return
    watch, end = Watch(), time.monotonic() + SILENCE + 2 * BEAT
    while time.monotonic() < end:
        try:
            watch.look()
        except RuntimeError_ as error:
            raise error from failure
        time.sleep(BEAT / 8)


def waiting(acquire: Callable[[float], bool]) -> None:
    """Call ``acquire(seconds)`` until it returns True, and look after the other processes meanwhile."""
    watch = Watch()
    while not acquire(BEAT):
        try:
            watch.look()
        except RuntimeError_:
            _given_up.append(acquire)
            raise


def finish() -> None:
    """Wait for computations that were given up as another process had ended. When that one leaves, too, they fail at once, in threads which
    may not outlive the interpreter."""
    end = time.monotonic() + _GRACE
    while _given_up and time.monotonic() < end:
        if _given_up[-1](BEAT / 4):
            _given_up.pop()
