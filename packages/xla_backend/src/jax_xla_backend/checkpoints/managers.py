"""Writing that goes on while the program does: a thread waits for what is being written, then for the other processes, and says so.

A checkpoint is whole once ``on_commit_callback`` was called, in process 0 and after every process has written its parts.
"""
from __future__ import annotations

import abc
import itertools
import threading
from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core.representation.typing import DTypeLike, Placement, Shape

from ..arrays.array import ArrayImpl
from ..platforms import client
from ..platforms.distributed_state import state
from .transfer import async_serialize, run, run_deserialization, zarr_spec

if TYPE_CHECKING:
    from .stores import StoreSpec

_numbers = itertools.count()
"""Of what processes wait for together; every process makes the same calls in the same order."""


class BarrierTimeoutError(Exception):
    """A process has not come to where the others wait."""


def barrier(name: str, timeout_secs: float) -> None:
    """Wait for all processes.

    Raises:
      BarrierTimeoutError: one did not come.
    """
    if client.process_count() == 1:
        return
    try:
        state.client.wait_at_barrier(name, int(timeout_secs * 1000))
    except Exception as error:  # the class differs between versions of jaxlib
        if "DEADLINE_EXCEEDED" not in str(error):
            raise
        raise BarrierTimeoutError(f"array_serialization: {name}: not all of the {client.process_count()} processes came within {timeout_secs} s. See in "
                                  "the logs whether one has failed; if they are only slow, give the manager a longer timeout_secs") from error


def check_connected(who: str) -> None:
    """Several processes need their coordinator.

    Raises:
      ValueError: there are several, and no coordinator.
    """
    if client.process_count() > 1 and state.client is None:
        raise ValueError(f"{who}: {client.process_count()} processes need a coordinator; call jax.distributed.initialize() at the start of the program")


class AsyncManager:
    """Waits in a thread for what is being written.

    Args:
      timeout_secs: how long to wait for other processes.

    Raises:
      ValueError: several processes without a coordinator.
    """

    def __init__(self, timeout_secs: float = 300):
        check_connected(type(self).__name__)
        self._timeout_secs = timeout_secs
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._futures: list[Any] = []

    def _add_futures(self, futures: Sequence[Any]) -> None:
        self._futures = list(futures)

    def _start_async_commit(self, on_commit_callback: Callable[[], None] | None) -> None:
        futures, self._futures = self._futures, []
        name = f"array_serialization_{next(_numbers)}"
        self._thread = threading.Thread(target=self._commit, args=(futures, name, on_commit_callback), name=name)
        self._thread.start()

    def _commit(self, futures: list[Any], name: str, callback: Callable[[], None] | None) -> None:
        try:
            for future in futures:
                future.result()
            barrier(f"{name}_written", self._timeout_secs)
            if callback is not None and client.process_index() == 0:
                callback()
            barrier(f"{name}_done", self._timeout_secs)
        except BaseException as error:  # raised where somebody waits
            self._error = error

    def check_for_errors(self) -> None:
        """Raise what went wrong in the thread, once."""
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def wait_until_finished(self) -> None:
        """Wait until every process has written its parts, and raise what went wrong."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.check_for_errors()


class GlobalAsyncCheckpointManagerBase(abc.ABC):
    """What those who write checkpoints by other means have to offer."""

    @abc.abstractmethod
    def check_for_errors(self) -> None:
        """Raise what went wrong so far."""

    @abc.abstractmethod
    def wait_until_finished(self) -> None:
        """Wait until all is written."""

    @abc.abstractmethod
    def serialize(self, arrays: Sequence[ArrayImpl], tensorstore_specs: Sequence[StoreSpec], *,
                  on_commit_callback: Callable[[], None]) -> None:
        """Begin to write."""

    @abc.abstractmethod
    def deserialize(self, shardings: Sequence[Placement], tensorstore_specs: Sequence[StoreSpec],
                    global_shapes: Sequence[Shape] | None = None, dtypes: Sequence[DTypeLike] | None = None) -> Any:
        """Read."""


class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
    """Writes arrays while the program goes on, and reads them.

    Args:
      timeout_secs: how long to wait for other processes.
    """

    def serialize(self, arrays: Sequence[ArrayImpl], tensorstore_specs: Sequence[StoreSpec], *,
                  on_commit_callback: Callable[[], None] | None = None, transaction: object = None) -> None:
        """Write ``arrays``, each to its spec. Returns as soon as their memory may change.

        Args:
          on_commit_callback: called in process 0 when all is written.
          transaction: tensorstore's; then the arrays are there once it is committed.

        Raises:
          ImportError: there is no tensorstore.
          ValueError: not one spec for each array. Also what went wrong in the last call, whatever its class.
        """
        self.wait_until_finished()
        futures: list[Any] = []

        async def write():
            for x, spec in zip(arrays, tensorstore_specs, strict=True):
                await async_serialize(x, spec, commit_future=futures, transaction=transaction)
        run(write())
        self._add_futures([] if transaction is not None else futures)
        self._start_async_commit(on_commit_callback)

    def serialize_with_paths(self, arrays: Sequence[ArrayImpl], paths: Sequence[str], *,
                             on_commit_callback: Callable[[], None] | None = None, transaction: object = None) -> None:
        """`serialize` to files under ``paths``."""
        self.serialize(arrays, list(map(zarr_spec, paths)), on_commit_callback=on_commit_callback, transaction=transaction)

    def deserialize(self, shardings: Sequence[Placement], tensorstore_specs: Sequence[StoreSpec],
                    global_shapes: Sequence[Shape] | None = None, dtypes: Sequence[DTypeLike] | None = None,
                    concurrent_gb: int = 32) -> list[ArrayImpl]:
        """Read the arrays of ``tensorstore_specs``, once what is being written is.

        Args:
          shardings: of the results; they need not be those of what was written.
          global_shapes, dtypes: of the results; default: as stored.
          concurrent_gb: how much may be read at a time.
        """
        self.wait_until_finished()
        return run_deserialization(shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb)

    def deserialize_with_paths(self, shardings: Sequence[Placement], paths: Sequence[str], global_shapes: Sequence[Shape] | None = None,
                               dtypes: Sequence[DTypeLike] | None = None, concurrent_gb: int = 32) -> list[ArrayImpl]:
        """`deserialize` from files under ``paths``."""
        return self.deserialize(shardings, list(map(zarr_spec, paths)), global_shapes, dtypes, concurrent_gb)


__all__ = ["AsyncManager", "BarrierTimeoutError", "GlobalAsyncCheckpointManager", "GlobalAsyncCheckpointManagerBase"]
