"""A pipeline inside a kernel: blocks of large memory go through two buffers each, so that the next one comes, and the one before goes,
while a body works on this one.

A block that the next step needs again stays where it is, as in the grid of `pallas_call`.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.references.indexing import ds
from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray
from jax_core.representation.typing import PyTree

from ..lax.arithmetic import div, rem
from ..lax.control_flow.while_loop import fori_loop
from ..lax.convert import convert_element_type
from ..lax.parallel import axis_index, axis_size
from ..numpy import where
from .control import run_scoped, when
from .copies import AsyncCopy
from .grid import block_dims, num_programs, program_id, stepping
from .spaces import SemaphoreType, TpuMemorySpace
from .specs import BlockSpec, Element, Squeezed, no_block_spec
from .tpu import PARALLEL, GridDimensionSemantics

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike, AxisName


class _Operand:
    """One operand of a pipeline: how it is cut, and its two buffers. The counter of its blocks says which one is in use."""

    def __init__(self, where: str, ref: Any, spec: Any):
        spec = BlockSpec() if spec is None or spec is no_block_spec else spec
        self.ref, self.where, self.index_map = ref, where, spec.index_map
        self.dims = block_dims(where, spec, ShapedArray(tuple(ref.shape), ref.dtype))
        self.space = spec.memory_space if isinstance(spec.memory_space, TpuMemorySpace) else TpuMemorySpace.VMEM
        if any(type(d) is Element for d in self.dims):
            raise NotImplementedError(f"{where}: blocks {spec.block_shape}; a pipeline takes blocks by their numbers. Give integers, or pl.squeezed.")
        self.uneven = any(type(d) is not Squeezed and n % d.block_size for d, n in zip(self.dims, ref.shape))
        self.buffers: Any = None
        self.semaphores: Any = None

    @property
    def memory(self) -> tuple:
        block = [d.block_size for d in self.dims if type(d) is not Squeezed]
        return self.space((2, *block), self.ref.dtype), SemaphoreType.DMA((2,))

    def index(self, ids: Sequence[ArrayLike]) -> list:
        """The number of the block along each axis."""
        if self.index_map is None:
            return [0] * len(self.dims)
        found = self.index_map(*ids)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(found) != len(self.dims):
            raise ValueError(f"{self.where}: its index map must return {len(self.dims)} indices, and returned {len(found)}.")
        return found

    def part(self, index: Sequence[ArrayLike], sizes: Sequence[int]) -> Any:
        """The block in large memory, or as much of it as ``sizes`` says."""
        entries = [i if type(d) is Squeezed else ds(0, size) if d.block_size >= n else ds(i * d.block_size, size)
                   for d, i, n, size in zip(self.dims, index, self.ref.shape, sizes)]
        return self.ref.at[tuple(entries)]

    def buffer(self, count: ArrayLike, sizes: Sequence[int] = ()) -> Any:
        slot = rem(count, np.int32(2))
        seen = [(size, d.block_size) for d, size in zip(self.dims, sizes) if type(d) is not Squeezed]
        return self.buffers.at[slot] if all(a == b for a, b in seen) else self.buffers.at[(slot, *(ds(0, size) for size, _ in seen))]

    def lengths(self, index: Sequence[ArrayLike]) -> list[tuple[Any, list[int]]]:
        """How much of the block there is along each axis, in each case with its condition: less where it runs over the end."""
        found: list[tuple[Any, list[int]]] = [(True, [])]
        for d, i, n in zip(self.dims, index, self.ref.shape):
            size = 1 if type(d) is Squeezed else d.block_size
            if n % size == 0:
                found = [(condition, [*sizes, size]) for condition, sizes in found]
                continue
            ends = i == n // size
            found = [(_both(condition, this), [*sizes, length]) for condition, sizes in found for this, length in ((ends, n % size), (_not(ends), size))
                     if length <= n]
        return found

    def fetch(self, index: Sequence[ArrayLike], count: ArrayLike) -> _Copies:
        return self._copies(index, lambda sizes: (self.part(index, sizes), self.buffer(count, sizes)), count)

    def give_back(self, index: Sequence[ArrayLike], count: ArrayLike) -> _Copies:
        return self._copies(index, lambda sizes: (self.buffer(count, sizes), self.part(index, sizes)), count)

    def _copies(self, index, ends, count):
        semaphore = self.semaphores.at[rem(count, np.int32(2))]
        whole = [1 if type(d) is Squeezed else d.block_size for d in self.dims]
        return _Copies([(condition, AsyncCopy(*ends(sizes), semaphore, None, to_the_end=sizes != whole))
                        for condition, sizes in self.lengths(index) if condition is not False])


class _Copies:
    """Copies of which one is made: that whose condition is true."""

    def __init__(self, cases: Sequence[tuple[Any, AsyncCopy]]):
        self.cases = cases

    def start(self) -> None:
        for condition, copy in self.cases:
            when(condition)(copy.start)

    def wait(self) -> None:
        for condition, copy in self.cases:
            when(condition)(copy.wait)


def _differ(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Whether two indices differ: a bool, or a traced one."""
    found: Any = False
    for x, y in zip(a, b):
        if x is y or isinstance(x, int) and isinstance(y, int) and x == y:
            continue
        found = (x != y) if found is False else found | (x != y)
    return found


def _both(a: Any, b: Any) -> Any:
    if isinstance(a, (bool, np.bool_)):
        return b if a else False
    return a if b is True else False if b is False else a & b


def _not(a: Any) -> Any:
    return not a if isinstance(a, (bool, np.bool_)) else ~a


def emit_pipeline(body: Callable[..., None], *, grid: int | tuple[ArrayLike, ...], in_specs: PyTree = (), out_specs: PyTree = (),
                  tiling: object = None, core_axis: int | tuple[int, ...] | None = None, core_axis_name: AxisName | tuple[AxisName, ...] | None = None,
                  dimension_semantics: Sequence[GridDimensionSemantics | str] | None = None,
                  trace_scopes: bool = True, no_pipelining: bool = False, output_wait_read_only: bool = False) -> Callable[..., None]:
    """A function of references to large memory that runs ``body`` on their blocks, once for each step of a grid, inside a kernel.

    Args:
      body: gets references to this step's blocks of the operands and of the results, then ``scratches``. `program_id` tells its step.
      grid: sizes, which may be traced; the last axis changes fastest.
      in_specs, out_specs: a `BlockSpec` for each reference; of blocks that run over the end the part that there is is copied. Index maps may use
        what the kernel has computed.
      core_axis_name: of the mesh of `kernel` or `core_map`, one or several: each core runs a part of the steps, contiguous along one axis. That is the
        first parallel one that divides evenly, otherwise the longest, of which the first cores run one step more.
      core_axis: likewise, for axes of the grid of `pallas_call`, by number.
      dimension_semantics: for each axis of the grid a `GridDimensionSemantics` or its value; axes that are not said to be parallel are not divided.
      tiling, trace_scopes, no_pipelining, output_wait_read_only: accepted; a core runs its steps one after the other.

    Returns:
      ``run(*references, scratches=())``: those of the operands, then those of the results.

    Raises:
      NotImplementedError: blocks by elements, or cores and no parallel axis of a known size.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> spec = pl.BlockSpec((2,), lambda i: (i,))
    >>> def double(x, out):
    ...     out[...] = 2 * x[...]
    >>> def kernel(x, out):
    ...     pltpu.emit_pipeline(double, grid=(3,), in_specs=[spec], out_specs=[spec])(x, out)
    >>> everything = pl.BlockSpec(memory_space=pl.ANY)
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((6,), jnp.float32), in_specs=[everything], out_specs=everything,
    ...                interpret=True)(jnp.arange(6.))
    Array([ 0.,  2.,  4.,  6.,  8., 10.], dtype=float32)
    """
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    divided = _divided(sizes, dimension_semantics) if core_axis is not None or core_axis_name is not None else []
    is_spec = lambda x: isinstance(x, BlockSpec) or x is no_block_spec or x is None
    inputs, outputs = (tree.leaves(specs, is_leaf=is_spec) for specs in (in_specs, out_specs))

    def run(*refs: Any, scratches: Sequence[object] = ()) -> None:
        if len(refs) != len(inputs) + len(outputs):
            raise ValueError(f"emit_pipeline: {len(refs)} references were given, and there are {len(inputs)} in_specs and {len(outputs)} out_specs; give "
                             "those of the operands, then those of the results.")
        operands = [_Operand(f"emit_pipeline, reference {k}", ref, spec) for k, (ref, spec) in enumerate(zip(refs, [*inputs, *outputs]))]
        mine = _of_this_core(sizes, divided, core_axis, core_axis_name) if divided else _Steps(sizes)
        run_scoped(lambda *memory: _run(body, mine, operands, len(inputs), memory, tuple(scratches or ())), *(o.memory for o in operands))
    return run


class _Steps:
    """Those that a core runs: how many along each axis, and from where on along one of them."""

    def __init__(self, sizes: Sequence[Any], axis: int = 0, first: ArrayLike = 0):
        self.sizes, self.axis, self.first = sizes, axis, first

    def ids(self, number: Any) -> list:
        """The indices along each axis of step ``number`` of this core."""
        found: list = []
        for axis in reversed(range(len(self.sizes))):
            size = np.int32(self.sizes[axis]) if isinstance(self.sizes[axis], int) else self.sizes[axis]
            found.append(rem(number, size) if axis else number)
            number = div(number, size) if axis else number
        found.reverse()
        if not isinstance(self.first, int):
            found[self.axis] = found[self.axis] + self.first
        return found


def _divided(sizes: Sequence[Any], semantics: Sequence[GridDimensionSemantics | str] | None) -> list[int]:
    """The axes of a grid whose steps may be divided among cores."""
    known = [GridDimensionSemantics(s) is PARALLEL and isinstance(n, (int, np.integer)) for n, s in zip(sizes, semantics or ())]
    if not any(known):
        raise NotImplementedError(f"emit_pipeline: the steps of grid={sizes} with dimension_semantics={semantics} cannot be divided among cores; name an "
                                  "axis of a known size PARALLEL, or leave core_axis and core_axis_name out.")
    return [axis for axis, it_is in enumerate(known) if it_is]


def _of_this_core(sizes: Sequence[Any], divided: Sequence[int], core_axis: Any, core_axis_name: Any) -> _Steps:
    """The steps of the core that this is."""
    cores: int = 1
    place: Any = np.int32(0)
    if core_axis is not None:
        for axis in core_axis if isinstance(core_axis, tuple) else (core_axis,):
            cores, place = cores * num_programs(axis), place * num_programs(axis) + program_id(axis)
    else:
        cores, place = axis_size(core_axis_name), axis_index(core_axis_name)
    chosen = next((axis for axis in divided if sizes[axis] % cores == 0), max(divided, key=lambda axis: sizes[axis]))
    each, more = divmod(int(sizes[chosen]), cores)
    length = each + (place < more).astype(np.int32) if more else each
    first = place * np.int32(each) + (where(place < more, place, np.int32(more)) if more else 0)
    return _Steps([length if axis == chosen else n for axis, n in enumerate(sizes)], chosen, first)


def _run(body, steps, operands, inputs, memory, scratches) -> None:
    for operand, (buffers, semaphores) in zip(operands, memory):
        operand.buffers, operand.semaphores = buffers, semaphores
    total = functools.reduce(lambda a, b: a * b, steps.sizes, 1)
    sources, results = operands[:inputs], operands[inputs:]
    some = total > 0
    start = np.int32(0)

    def step(k, carry):
        k = convert_element_type(k, np.int32)  # a loop's own index is as wide as x64 says
        here, following, former = (steps.ids(n) for n in (k, k + 1, k - 1))
        is_last = k + 1 == total
        blocks, after = [], []
        for n, (operand, (count, one_ago, two_ago)) in enumerate(zip(operands, carry)):
            index = operand.index(here)
            leaves = _both(_differ(index, operand.index(following)), ~is_last)
            comes = _differ(index, operand.index(former))
            if n < inputs:
                when(leaves)(lambda: operand.fetch(operand.index(following), count + 1).start())
                when((k == 0) | comes)(lambda: operand.fetch(index, count).wait())
            else:  # this buffer may be on its way to the memory since two blocks ago
                when(_both(comes, _both(k > 0, count > 1)))(lambda: operand.give_back(two_ago or index, count).wait())
            blocks.append(operand.buffer(count))
            after.append((index, leaves, count))
        with stepping(here, steps.sizes):
            body(*blocks, *scratches)
        for operand, (index, leaves, count) in zip(results, after[inputs:]):
            when(is_last | leaves)(lambda: operand.give_back(index, count).start())
        return [[count if leaves is False else count + leaves.astype(np.int32), *_moved_on(leaves, index, one_ago, two_ago)]
                for (index, leaves, count), (_, one_ago, two_ago) in zip(after, carry)]

    def everything():
        for operand in sources:
            operand.fetch(operand.index(steps.ids(start)), start).start()
        none = [[start] * len(o.dims) if o.uneven and n >= inputs else [] for n, o in enumerate(operands)]
        carry = fori_loop(start, total, step, [[start, indices, indices] for indices in none])
        last = steps.ids(total - 1)
        for operand, (count, one_ago, _) in zip(results, carry[inputs:]):
            index = operand.index(last)
            operand.give_back(index, count).wait()
            when(count > 0)(lambda: operand.give_back(one_ago or index, count - 1).wait())
    when(some)(everything)


def _moved_on(leaves: Any, index: Sequence[Any], one_ago: list, two_ago: list) -> tuple[list, list]:
    """The indices of the blocks before the one that is next, and before that: a wait is for as much as was copied."""
    if leaves is False or not one_ago:
        return one_ago, two_ago
    chosen = lambda new, old: [where(leaves, np.int32(a) if isinstance(a, int) else a, b) for a, b in zip(new, old)]
    return chosen(index, one_ago), chosen(one_ago, two_ago)
