"""Programs for devices that are only described (see `placement.topologies`): they show what the compiler made of them, and cannot run."""
from __future__ import annotations

from typing import Any, NoReturn, Sequence

from ..placement.sharding import in_memory, make_single_device_sharding
from .loaded_program import LoadedProgram


class DescribedProgram(LoadedProgram):
    """A program compiled for described devices. Nothing can be put there, so it holds no constants and has no results."""

    __slots__ = ()

    def _prepare(self, in_shardings: Sequence[Any], out_shardings: Any, name: str) -> None:
        self.facts, self.name = self.module.facts, name
        self.consts, self._stored = [], []  # arrays of layouts of their own are compared with these before the call is refused
        self.in_shardings = list(map(in_memory, in_shardings, self.facts.in_avals))
        self.single = len(self.devices) == 1
        self.out_shardings = self._results(out_shardings)
        self.token_sharding = make_single_device_sharding(self.devices[0])
        for seen in self.facts.inspections:
            seen(self.token_sharding)

    def run(self, args: Sequence[object]) -> NoReturn:
        """Refused.

        Raises:
          RuntimeError: always.
        """
        raise RuntimeError(f"{self.name} was compiled for {len(self.devices)} described device(s) of kind {self.devices[0].device_kind!r}, "
                           "which are not attached to this process: it can be looked at (memory_analysis, as_text), not called")
