"""A kernel's program as a loop over the grid on arrays: what it means, on any platform.

The kernel is discharged: a pure program from the contents of its references to those that it changes. A step cuts the blocks
out of the arrays, runs it, and puts the changed blocks back; scratch is carried along. Arrays are padded to whole
blocks first. An array that is operand and result in one is there once, so that a step sees what the ones before stored.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.references.discharge import discharged
from jax_core.references.primitives import strong
from jax_core.representation.aval import AbstractRef
from jax_core.representation.jaxpr import eval_jaxpr

from ..lax.control_flow.while_loop import fori_loop
from ..lax.convert import convert_element_type
from ..lax.pad import pad
from ..lax.slicing import slice as cut
from .blocks import block_of, indices_of, padding, product, put_back, starts_of
from .bounds import guarded, without_floats
from .buffers import run_steps
from .grid import Operand, Program
from .machine import host
from .mode import interpreting
from .spaces import SemaphoreType
from .specs import InterpretParams
from .uninitialized import kind_of, uninitialized, uninitialized_value

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def run(program: Program, *operands: Any) -> list:
    """The results of the program."""
    if host.is_needed(program):
        return host.call(program, operands)
    with interpreting(program.options.interpret):
        return _run(program, operands)


def _run(program: Program, operands: Sequence[Any]) -> list:
    dynamic, scalars = program.dynamic, len(program.scalars)
    given = [strong(x) for x in operands]
    sizes, given = given[:dynamic], given[dynamic:]
    rest = iter(sizes)
    grid = [next(rest) if n is None else n for n in program.grid]
    memory, place = Memory(program), {i: o for i, o in program.aliases}
    for x in given[:scalars]:
        memory.add(x)
    for i, (x, o) in enumerate(zip(given[scalars:], program.inputs)):
        others = [program.outputs[place[i]]] if i in place else []
        memory.add_padded(o, x, others)
    shared = {o: scalars + i for i, o in program.aliases}
    for k, o in enumerate(program.outputs):
        memory.add_result(o, shared.get(k))
    for ref in program.scratch:
        memory.add(uninitialized(ref.shape, ref.dtype, "zero" if isinstance(ref.memory_space, SemaphoreType) else memory.kind))
    _steps(program, grid, sizes, memory)
    return [memory.result(k) for k in range(len(program.outputs))]


class Memory:
    """The arrays that the references of a kernel are parts of.

    ``arrays``: each once. ``which``: for each reference, which array. ``before``: how many elements of padding each array has
    in front along each axis.
    """

    def __init__(self, program: Program):
        self.program = program
        self.arrays: list = []
        self.which: list[int] = []
        self.before: list[tuple] = []
        self.kind = kind_of(program.options.interpret)

    def add(self, x: Array, before: tuple = ()) -> None:
        self.which.append(len(self.arrays))
        self.arrays.append(x)
        self.before.append(before)

    def add_padded(self, operand: Operand, x: Array, others: Sequence[Operand] = ()) -> None:
        """``x`` with padding for the blocks of ``operand`` and ``others``."""
        both = [padding(o) for o in (operand, *others)]
        before = tuple(max(p[axis][0] for p in both) for axis in range(len(operand.aval.shape)))
        after = tuple(max(p[axis][1] for p in both) for axis in range(len(operand.aval.shape)))
        if any(before) or any(after):
            x = pad(x, uninitialized_value(operand.aval.dtype, self.kind), [(b, a, 0) for b, a in zip(before, after)])
        self.add(x, before)

    def add_result(self, operand: Operand, alias: int | None) -> None:
        if alias is not None:
            self.which.append(self.which[alias])
            return
        self.add_padded(operand, uninitialized(operand.aval.shape, operand.aval.dtype, self.kind))

    def result(self, k: int) -> Any:
        i = self.which[len(self.program.scalars) + len(self.program.inputs) + k]
        shape, x, before = self.program.outputs[k].aval.shape, self.arrays[i], self.before[i]
        return x if np.shape(x) == shape else cut(x, before, [b + n for b, n in zip(before, shape)])


def _steps(program: Program, grid: Sequence[Any], sizes: Sequence[Any], memory: Memory) -> None:
    """Run all steps on ``memory``."""
    if program.steps == 0:
        return
    arguments, scalars = program.arguments, len(program.scalars)
    blocked = [None] * scalars + [*program.inputs, *program.outputs] + [None] * len(program.scratch)
    kernel = program.kernel if program.options.bounds is None else guarded(program.kernel, program.options.bounds)
    if isinstance(program.options.interpret, InterpretParams):
        if program.options.interpret.skip_floating_point_ops:
            kernel = without_floats(kernel)
        run_steps(program, kernel, grid, sizes, memory)
        return
    pure, written = discharged(kernel, [type(a) is AbstractRef for a in program.kernel.in_avals])
    changed = [i - arguments for i in written]
    carried = sorted({memory.which[i] for i in changed})

    def step(number, values):
        number = None if number is None else strong(convert_element_type(number, np.int32))  # a loop's own index is as wide as x64 says
        arrays = list(memory.arrays)
        for i, x in zip(carried, values):
            arrays[i] = x
        ids = indices_of(number, grid)
        held = [arrays[i] for i in memory.which[:scalars]]
        starts = [None if o is None else starts_of(o, ids, held, memory.before[i]) for o, i in zip(blocked, memory.which)]
        blocks = [arrays[i] if o is None else block_of(o, arrays[i], s) for o, i, s in zip(blocked, memory.which, starts)]
        for i, new in zip(changed, eval_jaxpr(pure.jaxpr, pure.consts, *ids, *sizes, *blocks)):
            o, where = blocked[i], memory.which[i]
            arrays[where] = new if o is None else put_back(o, arrays[where], new, starts[i])
        return [arrays[i] for i in carried]

    before = [memory.arrays[i] for i in carried]
    if program.steps == 1:
        after = step(None, before)
    else:
        after = fori_loop(np.int32(0), product(grid), step, before)
    for i, x in zip(carried, after):
        memory.arrays[i] = x
