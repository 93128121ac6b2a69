"""In which order the steps of a kernel are run, and on which core, as `InterpretParams` asks for.

Steps along the first axes of a grid, as far as ``dimension_semantics`` calls them parallel, may be run in any order: by ``random_seed`` in a random
one. With several cores each runs as many of them, on memory of its own; one core after the other.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from .. import numpy as jnp
from ..lax.arithmetic import div, rem
from .blocks import product
from .bounds import stop_p
from .grid import Program

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def _is_parallel(semantics: Any) -> bool:
    return "parallel" in str(getattr(semantics, "value", semantics)).lower()


def _record(recorder: Any, core: int, *ids: Any) -> tuple:
    recorder(np.int32(0), tuple(np.int32(i) for i in ids), np.int32(core))
    return tuple(np.asarray(i, np.int32) for i in ids)


class Order:
    """The order of the steps of one program.

    Attributes:
      cores: how many run steps.
    """

    def __init__(self, program: Program):
        params = program.options.interpret
        semantics = getattr(program.options.compiler_params, "dimension_semantics", None) or ()
        self.axes = 0  # how many axes in front are parallel
        for n, s in zip(program.grid, semantics):
            if n is None or not _is_parallel(s):
                break
            self.axes += 1
        self.points = math.prod(program.grid[:self.axes])
        self.each = -(-self.points // params.num_cores_or_threads)
        self.cores = max(1, -(-self.points // max(self.each, 1)))
        self.recorder = params.grid_point_recorder
        self.shuffled = None
        if params.random_seed is not None and self.points > 1:
            self.shuffled = np.random.default_rng(params.random_seed).permutation(self.points).astype(np.int32)

    def _of_core(self, core: int) -> int:
        return min(self.each, self.points - core * self.each)

    def count(self, grid: Sequence[int | Array], core: int) -> Any:
        """How many steps the core runs."""
        return product(grid) if self.cores == 1 else np.int32(self._of_core(core)) * product(grid[self.axes:])

    def step(self, number: Array | np.int32, grid: Sequence[int | Array], core: int) -> Any:
        """Which step the core runs as its ``number``-th."""
        if self.cores == 1 and self.shuffled is None:
            return number
        inner = product(grid[self.axes:])
        point = div(number, inner) + np.int32(core * self.each)
        if self.shuffled is not None:
            point = jnp.asarray(self.shuffled)[point]
        return point * inner + rem(number, inner)

    def recorded(self, ids: list, core: int) -> list:
        """``ids``, told to who asked for them."""
        if self.recorder is None:
            return ids
        return stop_p.bind(*(jnp.asarray(i, np.int32) for i in ids), what=(_record, self.recorder, core))
