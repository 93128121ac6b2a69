"""The steps of a kernel as a TPU runs them: on buffers, which blocks are copied to and from. `InterpretParams` asks for this.

A block is fetched when a step needs another one than the step before, and a result is stored when the next step has another block, or none. So
a step does not see in an operand what steps before it stored in a result with the same memory, nor what they stored in the operand itself once
another block was there; and a result's buffer holds, when a block is begun, what the kernel left in it.

A block beyond the end of its array is an error, as is a block of a result that is visited again after it was left; `InterpretParams` says more.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.references.discharge import discharged
from jax_core.references.primitives import strong
from jax_core.representation.aval import AbstractRef
from jax_core.representation.jaxpr import ClosedJaxpr, Literal, eval_jaxpr

from .. import numpy as jnp
from ..lax.control_flow.cond import cond
from ..lax.control_flow.while_loop import fori_loop
from ..lax.convert import convert_element_type
from .blocks import block_of, indices_of, put_back, starts_of
from .bounds import stop_p
from .grid import Operand, Program
from .order import Order
from .spaces import MAIN_MEMORY, MemorySpace
from .specs import Element, Squeezed
from .uninitialized import uninitialized, uninitialized_value

if TYPE_CHECKING:
    from jax_core.representation.array import Array

    from .interpreter import Memory

_OUTSIDE = (*MAIN_MEMORY, MemorySpace.HOST)
"""Where operands stay as they are: kernels copy parts of them themselves."""
_MOST_BLOCKS = 1 << 24


class _Part:
    """One operand or result whose blocks go through a buffer.

    Attributes:
      place: its number among the references. ``which``: the number of its array. ``before``: padding in front of that.
      result: whether it is stored. ``kept``: whether steps hand on its buffer. ``late``: whether it is stored only when it is left,
        as somebody else reads the array.
    """

    def __init__(self, place: int, operand: Operand, memory: Memory, result: bool, kept: bool, late: bool):
        self.place, self.operand, self.which = place, operand, memory.which[place]
        self.before = memory.before[self.which]
        self.result, self.kept, self.late = result, kept, late
        counts = [-(-n // (1 if type(d) is Squeezed else d.block_size)) for d, n in zip(operand.block, operand.aval.shape) if type(d) is not Element]
        self.counts = tuple(counts) if len(counts) == len(operand.block) and math.prod(counts) <= _MOST_BLOCKS else None

    def first_state(self, kind: str) -> dict:
        aval = self.operand.block_aval
        state = {}
        if self.kept:
            state = {"buffer": uninitialized(aval.shape, aval.dtype, kind), "start": jnp.zeros(len(self.operand.block), np.int32)}
        if self.result and self.counts is not None:
            state["seen"] = jnp.zeros(self.counts, bool)
        return state

    def stored(self, x: Array, state: dict) -> Any:
        """The array ``x`` after the buffer was stored."""
        return put_back(self.operand, x, state["buffer"], list(state["start"]))

    def number(self, starts: Sequence[Array]) -> tuple:
        """Of the block along each axis."""
        found = []
        for d, s, b in zip(self.operand.block, starts, self.before):
            n = 1 if type(d) is Squeezed else d.block_size
            found.append((s - np.int32(b)) // np.int32(n))
        return tuple(found)

    def inside(self, starts: Sequence[Array]) -> Any:
        """Whether the block begins in the array, or in the padding that was asked for."""
        found: Any = True
        for d, n, s, b in zip(self.operand.block, self.operand.aval.shape, starts, self.before):
            low, high = (-d.padding[0], n + d.padding[1]) if type(d) is Element else (0, n)
            if isinstance(s, np.generic):
                found = found & bool(low <= s - b < high)
            else:
                found = found & ((s >= np.int32(low + b)) & (s < np.int32(high + b)))
        return found


def _beyond(where: str, name: str, shape: tuple, *start: Any) -> str:
    return f"{where}: the block of {name} at {_text(start)} lies beyond the end of the array, whose shape is {shape}."


def _again(where: str, name: str, *start: Any) -> str:
    return (f"{where}: the block of {name} at {_text(start)} is worked on again after other blocks, and a TPU would not fetch what it holds. Let the "
            "steps for one block follow each other: axes that choose it first in the grid, the others last.")


def _text(start: Sequence[Any]) -> str:
    return f"({', '.join(str(int(x)) for x in start)})"


def _first_wrong(checks: tuple, which: Any, *starts: Any) -> Any:
    """Raise the error of the check with the number ``which``."""
    message, first, count = checks[int(which)]
    raise IndexError(message[0](*message[1:], *starts[first:first + count]))


def run_steps(program: Program, kernel: ClosedJaxpr, grid: Sequence[int | Array], sizes: Sequence[Array], memory: Memory) -> None:
    """Run all steps on ``memory``: those of one core after those of the other."""
    order = Order(program)
    scratch = memory.which[len(memory.which) - len(program.scratch):]
    at_first = [memory.arrays[w] for w in scratch]
    for core in range(order.cores):
        for w, x in zip(scratch, at_first):  # each core has its own
            memory.arrays[w] = x
        _run_core(program, kernel, grid, sizes, memory, order, core)


def _run_core(program: Program, kernel: ClosedJaxpr, grid: Sequence[int | Array], sizes: Sequence[Array], memory: Memory, order: Order, core: int) -> None:
    arguments, scalars = program.arguments, len(program.scalars)
    blocked = [None] * scalars + [*program.inputs, *program.outputs] + [None] * len(program.scratch)
    pure, written = discharged(kernel, [type(a) is AbstractRef for a in program.kernel.in_avals])
    changed = [i - arguments for i in written]
    parts = _parts(program, memory, blocked, changed)
    results = [p for p in parts.values() if p.result]
    moving = sorted({p.which for p in results} | {memory.which[i] for i in changed if i not in parts})
    numbers = {w: k for k, w in enumerate(moving)}
    where, bounds = f"pallas_call {program.options.name}", program.options.bounds
    count, single = order.count(grid, core), program.steps == 1

    def _step(number, carry):
        number = None if single else strong(convert_element_type(number, np.int32))  # a loop's own index is as wide as x64 says
        values, states = carry
        arrays = list(memory.arrays)
        for w in moving:
            arrays[w] = values[numbers[w]]
        ids = order.recorded(indices_of(order.step(number, grid, core), grid), core)
        held = [arrays[i] for i in memory.which[:scalars]]
        starts = [None if o is None else starts_of(o, ids, held, memory.before[i]) for o, i in zip(blocked, memory.which)]
        states = {i: dict(s) for i, s in states.items()}
        moved = {i: single or (number == 0) | _differ(starts[i], states[i]["start"]) for i, p in parts.items() if p.kept}
        if bounds is not None:
            starts = _check(where, bounds == "raise", parts, starts, moved, states, number)
        for i, p in parts.items():
            if p.late and not single:
                arrays[p.which] = cond(moved[i] & (number > 0), p.stored, lambda x, state: x, arrays[p.which], states[i])
        blocks = [_block(parts.get(i), o, arrays[w], starts[i], moved.get(i), states.get(i), bounds)
                  for i, (o, w) in enumerate(zip(blocked, memory.which))]
        after = list(blocks)
        for i, new in zip(changed, eval_jaxpr(pure.jaxpr, pure.consts, *ids, *sizes, *blocks)):
            after[i] = new
            if i not in parts:
                o, w = blocked[i], memory.which[i]
                arrays[w] = new if o is None else put_back(o, arrays[w], new, starts[i])
        for i, p in parts.items():
            if p.kept:
                states[i].update(buffer=after[i], start=_vector(starts[i]))
            if p.result and not p.late:
                arrays[p.which] = put_back(p.operand, arrays[p.which], after[i], starts[i])
        return [arrays[w] for w in moving], states

    first = [memory.arrays[w] for w in moving], {i: p.first_state(memory.kind) for i, p in parts.items()}
    last, states = _step(None, first) if single else fori_loop(np.int32(0), count, _step, first)
    for w, x in zip(moving, last):
        memory.arrays[w] = x
    for i, p in parts.items():
        if p.late:
            memory.arrays[p.which] = cond(count > 0, p.stored, lambda x, state: x, memory.arrays[p.which], states[i])


def _parts(program: Program, memory: Memory, blocked: Sequence[Operand | None], changed: Sequence[int]) -> dict[int, _Part]:
    """Those operands and results, by their number among the references, that go through buffers."""
    scalars, inputs = len(program.scalars), len(program.inputs)
    aliased = {memory.which[scalars + i] for i, _ in program.aliases}
    parts = {}
    for i, o in enumerate(blocked):
        if o is None or o.memory_space in _OUTSIDE:
            continue
        result, shared = i >= scalars + inputs, memory.which[i] in aliased
        if result and not shared and o.whole and all(type(v) is Literal for v in o.index_map.jaxpr.outvars):
            continue  # the buffer is the array
        parts[i] = _Part(i, o, memory, result, kept=result or shared or i in changed, late=result and shared)
    return parts


def _block(part: _Part | None, operand: Operand | None, x: Any, starts: Sequence[Any], moved: Any, state: Any, bounds: str | None) -> Any:
    """What a reference holds when a step begins; ``x`` is the array that it is a part of."""
    if operand is None:
        return x
    fetch = lambda x, buffer=None: _present(part, bounds, block_of(operand, x, starts), starts)
    if part is None or not part.kept or not part.result and moved is True:
        return fetch(x)
    if part.result:
        return state["buffer"]
    return cond(moved, fetch, lambda x, buffer: buffer, x, state["buffer"])


def _present(part: _Part | None, bounds: str | None, block: Any, starts: Sequence[Any]) -> Any:
    """The block; what nobody has written to where it is beyond the end and that is allowed."""
    if part is None or bounds != "uninitialized":
        return block
    inside = part.inside(starts)
    return block if inside is True else jnp.where(inside, block, uninitialized_value(block.dtype))


def _vector(starts: Sequence[Any]) -> Any:
    return jnp.stack([jnp.asarray(s, np.int32) for s in starts]) if starts else jnp.zeros(0, np.int32)


def _differ(starts: Sequence[Any], before: Any) -> Any:
    return jnp.any(_vector(starts) != before) if starts else False


def _check(where: str, strict: bool, parts: dict, starts: list, moved: dict, states: dict, number: Any) -> list:
    """``starts``, if no block is beyond its end and none of a result is visited again; else an error when the program runs.

    Blocks of operands beyond the end are an error where ``strict``.
    """
    checks: list[Any] = []
    flat: list[Any] = []
    fine, places = [], []
    for i, p in parts.items():
        name, first, count = p.operand.name, len(flat), len(starts[i])
        asked = len(checks)
        if (p.result or strict) and (inside := p.inside(starts[i])) is not True:
            checks.append(((_beyond, where, name, p.operand.aval.shape), first, count))
            fine.append(jnp.asarray(inside))
        if number is not None and count and "seen" in states[i]:
            seen, block = states[i]["seen"], p.number(starts[i])
            checks.append(((_again, where, name), first, count))
            fine.append(~(moved[i] & seen[block]))
            states[i]["seen"] = seen.at[block].set(True)
        if len(checks) > asked:
            flat += [jnp.asarray(s, np.int32) - np.int32(b) for s, b in zip(starts[i], p.before)]
            places += [(i, k) for k in range(count)]
    if not checks:
        return starts
    right = jnp.stack(fine)
    what = _first_wrong, tuple(checks)
    flat = cond(jnp.all(right), lambda which, *xs: list(xs), lambda which, *xs: stop_p.bind(which, *xs, what=what)[1:],
                jnp.argmin(right).astype(np.int32), *flat)
    found = [None if row is None else list(row) for row in starts]
    for (i, k), s in zip(places, flat):
        found[i][k] = s + np.int32(parts[i].before[k])
    return found
