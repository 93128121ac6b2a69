"""How operands of a kernel are cut into blocks: `BlockSpec`, `GridSpec` and their parts, as users write them.

`grid.py` makes of them what the kernel's program needs.
"""
from __future__ import annotations

import dataclasses
import enum
from typing import Any, Callable, Mapping, Sequence

from jax_core.compat.fields import Fields
from jax_core.representation.typing import PyTree


@dataclasses.dataclass(frozen=True)
class Blocked:
    """Along this axis the array is cut into blocks of ``block_size``; the index map returns the number of a block.

    >>> from jax.experimental import pallas as pl
    >>> pl.BlockSpec((pl.Blocked(8), 128), lambda i: (i, 0)).block_shape
    (Blocked(block_size=8), 128)
    """

    block_size: int


@dataclasses.dataclass(frozen=True)
class Squeezed:
    """One index along this axis, which the kernel's block does not have."""

    def __repr__(self):
        return "squeezed"


@dataclasses.dataclass(frozen=True)
class Element:
    """Along this axis the index map returns the first element of a block of ``block_size``, so that blocks may overlap.

    ``padding``: how many elements to add before and after the array; their values are not specified.

    >>> from jax.experimental import pallas as pl
    >>> def of_two(x_ref, y_ref):
    ...     y_ref[...] = x_ref[:1] + x_ref[1:]
    >>> pl.pallas_call(of_two, jax.ShapeDtypeStruct((3,), jnp.int32), grid=3, interpret=True,
    ...                in_specs=[pl.BlockSpec((pl.Element(2),), lambda i: i)], out_specs=pl.BlockSpec((1,), lambda i: i))(jnp.arange(4))
    Array([1, 3, 5], dtype=int32)
    """

    block_size: int
    padding: tuple[int, int] = (0, 0)


@dataclasses.dataclass(frozen=True)
class BoundedSlice:
    """A block of at most ``block_size`` elements; no platform here takes it."""

    block_size: int


squeezed = Squeezed()
BlockDim = int | Blocked | BoundedSlice | Element | Squeezed | None


class RevisitMode(enum.Enum):
    """What happens to a block that is needed again."""

    ANY = "any"
    IMMEDIATE = "immediate"


@dataclasses.dataclass(frozen=True)
class Buffered:
    """How many buffers the blocks of an operand go through. It says nothing about values."""

    buffer_count: int | tuple[int, int]
    use_lookahead: bool = False
    revisit: RevisitMode | None = None
    prefetched_count: int = 0


class _NoBlockSpec:
    """In place of a pytree of block specs: every operand whole."""

    def __repr__(self):
        return "NoBlockSpec"


no_block_spec = _NoBlockSpec()


class BlockSpec:
    """How an array is cut into blocks, and which one each step of the grid works on.

    Args:
      block_shape: for each axis the length of a block, or `squeezed` (or None) for one index along an axis that the kernel does
        not see, or `Element`. None: the whole array.
      index_map: function of the grid's indices (and of the scalar references of a `PrefetchScalarGridSpec`) that returns the number
        of the block along each axis, for an `Element` the first element. By default zeros.
      pipeline_mode: buffers for the blocks; it says nothing about values.
      memory_space: where the block is.

    Blocks may run over the end of the array: what is there is not specified (the interpreter puts NaN), what is stored there
    is dropped.

    >>> from jax.experimental import pallas as pl
    >>> spec = pl.BlockSpec((8, None), lambda i, j: (i, j))
    >>> spec.block_shape
    (8, None)
    """

    __slots__ = ("block_shape", "index_map", "memory_space", "pipeline_mode")
    __dataclass_fields__ = Fields(*__slots__)

    def __init__(self, block_shape: Sequence[Any] | None = None, index_map: Callable[..., Any] | None = None,
                 pipeline_mode: Buffered | None = None, *, memory_space: Any | None = None):
        if callable(block_shape):
            raise TypeError(f"BlockSpec({block_shape!r}, ...): the shape of a block stands first, then the index map.")
        self.block_shape = None if block_shape is None else tuple(block_shape)
        self.index_map, self.memory_space, self.pipeline_mode = index_map, memory_space, pipeline_mode

    def replace(self, **changes: Any) -> BlockSpec:
        """This spec with some fields replaced."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return BlockSpec(**{**fields, **changes})

    def __eq__(self, other):
        return type(other) is BlockSpec and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    def __hash__(self):
        return hash((self.block_shape, self.index_map, self.memory_space))

    def __repr__(self):
        return f"BlockSpec({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__slots__)})"


class GridSpec:
    """A grid, and how operands are cut for its steps.

    Args:
      grid: sizes along each axis, or one size. Steps run with the last axis changing fastest.
      in_specs, out_specs: pytrees of `BlockSpec` like the operands and results; without them every step gets whole arrays.
      scratch_shapes: pytree of memory that a kernel gets besides, and keeps from step to step.

    >>> from jax.experimental import pallas as pl
    >>> rows = pl.BlockSpec((1, 4), lambda i: (i, 0))
    >>> def double(x_ref, y_ref):
    ...     y_ref[...] = 2 * x_ref[...]
    >>> spec = pl.GridSpec(grid=(2,), in_specs=[rows], out_specs=rows)
    >>> pl.pallas_call(double, jax.ShapeDtypeStruct((2, 4), jnp.int32), grid_spec=spec, interpret=True)(jnp.arange(8).reshape(2, 4))
    Array([[ 0,  2,  4,  6],
           [ 8, 10, 12, 14]], dtype=int32)
    """

    num_scalar_prefetch = 0

    def __init__(self, grid: Any = (), in_specs: PyTree = no_block_spec, out_specs: PyTree = no_block_spec,
                 scratch_shapes: PyTree = ()):
        self.grid = grid if isinstance(grid, tuple) else tuple(grid) if isinstance(grid, list) else (grid,)
        self.in_specs, self.out_specs, self.scratch_shapes = (  # as tuples, which fit operands and kernels' arguments: libraries map over both
            tuple(x) if isinstance(x, list) else x for x in (in_specs, out_specs, scratch_shapes))

    def __repr__(self):
        return f"{type(self).__name__}(grid={self.grid}, in_specs={self.in_specs}, out_specs={self.out_specs})"


class PrefetchScalarGridSpec(GridSpec):
    """A grid whose index maps may read the first ``num_scalar_prefetch`` operands.

    Those come to the kernel and to every index map, after the grid's indices, as references to whole arrays.
    """

    def __init__(self, num_scalar_prefetch: int, grid: Any = (), in_specs: PyTree = no_block_spec, out_specs: PyTree = no_block_spec,
                 scratch_shapes: PyTree = ()):
        super().__init__(grid, in_specs, out_specs, scratch_shapes)
        self.num_scalar_prefetch = num_scalar_prefetch


@dataclasses.dataclass(frozen=True)
class CostEstimate:
    """What a kernel costs, for the compiler that schedules around it.

    >>> from jax.experimental import pallas as pl
    >>> pl.CostEstimate(flops=2 * 128 ** 3, transcendentals=0, bytes_accessed=3 * 4 * 128 ** 2).flops
    4194304
    """

    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int = 0

    def to_json(self) -> str:
        """As the compilers read it."""
        return (f'{{"flops": {self.flops}, "transcendentals": {self.transcendentals}, "bytes_accessed": {self.bytes_accessed}, '
                f'"remote_bytes_transferred": {self.remote_bytes_transferred}}}')


class CompilerParams:
    """Options for the compiler of one platform; the classes are in `pallas.tpu` and `pallas.triton`."""


@dataclasses.dataclass(frozen=True)
class InterpretParams:
    """Options of the interpreter, given as ``interpret``: kernels run as on a TPU.

    Blocks go through buffers: an operand's is fetched when a step needs another block than the step before, a result's is stored when it is left and
    is not fetched. Loads from main memory, blocks beyond the end of an array and blocks of results that are worked on again after others are
    errors. Steps run one after the other in a compiled loop, and copies happen at once. With ``detect_races``, and where a kernel signals
    semaphores of other cores, it is run operation by operation in Python instead, each core and device in a thread of its own.

    Args:
      detect_races: look for accesses, by cores, devices and copies, of which one is a store and that no semaphore orders.
      on_race: ``"raise"`` an error, or ``"warn"``.
      dma_execution_mode: whether such a run makes copies when they are waited for (``"on_wait"``) or when they are started (``"eager"``).
      out_of_bounds_reads: what is done about parts, placed by computed numbers, that are not inside of a reference, and about blocks of operands: ``"raise"``
        an error when the program runs, or read elements that are ``"uninitialized"``; stores there raise. Under `jax.shard_map`, as with
        ``interpret=True``, such a part is moved until it fits.
      uninitialized_memory: ``"nan"`` (of integers the largest) or ``"zero"``, what memory holds before it is written to.
      skip_floating_point_ops: what operations on floating-point numbers give is infinity, and they are not done.
      num_cores_or_threads: cores among which the steps along the first axes are divided that ``dimension_semantics`` calls parallel; each has
        memory of its own.
      random_seed: these steps are in a random order.
      grid_point_recorder: called as ``recorder(token, point, core)`` before each step.
      allow_hbm_allocation_in_run_scoped: whether `run_scoped` gives main memory.

    Raises:
      ValueError: an option that has no such value. RuntimeError, where a kernel runs: a race, or cores that all wait.
    """

    detect_races: bool = False
    on_race: str = "raise"
    out_of_bounds_reads: str = "raise"
    skip_floating_point_ops: bool = False
    uninitialized_memory: str = "nan"
    num_cores_or_threads: int = 1
    vector_clock_size: int | None = None
    logging_mode: Any = None
    dma_execution_mode: str = "on_wait"
    random_seed: int | None = None
    grid_point_recorder: Callable[..., Any] | None = None
    allow_hbm_allocation_in_run_scoped: bool = False
    buffer_bounds: str = "logical"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"InterpretParams: {name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}.")
        if self.num_cores_or_threads < 1:
            raise ValueError(f"InterpretParams: num_cores_or_threads={self.num_cores_or_threads}; there is at least one.")


_CHOICES = {"on_race": ("raise", "warn"), "out_of_bounds_reads": ("raise", "uninitialized"), "uninitialized_memory": ("nan", "zero"),
            "dma_execution_mode": ("eager", "on_wait"), "buffer_bounds": ("logical", "padded")}


def frozen(params: object) -> Any:
    """``params``, a dataclass or a mapping, as a hashable value to keep among the parameters of an equation."""
    if isinstance(params, Mapping):
        return tuple(sorted((k, frozen(v)) for k, v in params.items()))
    return tuple(frozen(x) for x in params) if isinstance(params, list) else params
