"""One core: the steps that it runs, their blocks, and the operations of the kernel one after the other, in NumPy."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.references.api import empty_ref_p, new_ref_p
from jax_core.references.indexing import Index, Slice
from jax_core.references.primitives import RefPrimitive, addupdate_p, free_ref_p, freeze_p, get_p, swap_p
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax_core.representation.typing import ArrayLike, DTypeLike

from ... import numpy as jnp
from ...lax.parallel import axis_index_p
from ..copies import send_copy_p, start_copy_p, wait_copy_p
from ..grid import Operand
from ..semaphores import read_p, signal_core_p, signal_p, signal_there_p, wait_p
from ..spaces import MAIN_MEMORY, MemorySpace, SemaphoreType
from ..specs import Element, Squeezed
from ..uninitialized import uninitialized_value
from .world import Place, World, beyond

if TYPE_CHECKING:
    from ..order import Order


class Memory:
    """A reference in a kernel that is run: the memory at ``place``, of some name for messages."""

    __slots__ = ("world", "place", "shape", "dtype", "space", "name")

    def __init__(self, world: World, place: Place, shape: Sequence[int], dtype: DTypeLike, space: object, name: str):
        self.world, self.place, self.shape, self.dtype, self.space, self.name = world, place, tuple(shape), np.dtype(dtype), space, name

    @property
    def array(self) -> np.ndarray:
        return self.world.array(self.place, self.shape, self.dtype, isinstance(self.space, SemaphoreType))

    def on(self, device: int, core: int | None) -> Memory:
        """The memory of the same name elsewhere."""
        place = Place(device, None if self.place.core is None else core, self.place.name)
        return Memory(self.world, place, self.shape, self.dtype, self.space, self.name)


def _moving(index: Index) -> int:
    return sum(e is None or type(e) is Slice and e.start is None for e in index.entries)


def _key(index: Index, operands: Sequence[Any], shape: Sequence[int]) -> tuple[tuple, tuple]:
    """The part as NumPy indexes it, and as a range along each axis."""
    if not index.entries:
        return (...,), tuple(map(range, shape))
    given, region = iter(operands), []
    key: list[Any] = []
    for e, n in zip(index.entries, shape):
        if type(e) is Slice:
            start = int(next(given)) if e.start is None else e.start
            region.append(range(start, start + (e.size - 1) * e.stride + 1 if e.size else start, e.stride))
            key.append(slice(start, start + e.size * e.stride, e.stride))
        else:
            at = np.asarray(next(given) if e is None else e)
            region.append(range(int(at), int(at) + 1) if at.ndim == 0 else range(int(at.min()), int(at.max()) + 1) if at.size else range(0))
            key.append(int(at) if at.ndim == 0 else at)
    return tuple(key), tuple(region)


def _inside(region: Sequence[range], shape: Sequence[int]) -> bool:
    return all(not r or 0 <= r[0] and r[-1] < n for r, n in zip(region, shape))


class Core:
    """Core ``number`` of device ``device``; ``places``: its device's place along each axis of the mesh."""

    def __init__(self, world: World, device: int, number: int, places: dict, order: Order, grid: Sequence[int], which: Sequence[int]):
        self.world, self.device, self.number, self.places, self.order, self.grid = world, device, number, places, order, grid
        self.which = which
        self.thread = device, number
        self.who = f"core {number} of device {device}"
        self.clock = {self.thread: 1}
        self.rooms: dict = {}

    # -- access

    def access(self, memory: Memory, region: Sequence[range], stores: bool) -> None:
        self.world.access(memory.place, memory.name, tuple(region), stores, self.thread, self.clock, self.who)

    def tick(self) -> None:
        self.clock[self.thread] += 1

    def load(self, memory: Memory, index: Index, operands: Sequence[ArrayLike], note: Callable | None = None) -> np.ndarray:
        """The part; what nobody has written to where it is beyond the end, if that is allowed."""
        key, region = _key(index, operands, memory.shape)
        (note or self.access)(memory, region, False)
        if _inside(region, memory.shape):
            return np.array(memory.array[key])
        if self.world.params.out_of_bounds_reads == "raise":
            raise beyond(self.world, memory.name, memory.shape, region)
        low = [max(0, -r[0]) if r else 0 for r in region]
        high = [max(0, r[-1] + 1 - n) if r else 0 for r, n in zip(region, memory.shape)]
        wide = np.pad(memory.array, list(zip(low, high)), constant_values=uninitialized_value(memory.dtype))
        moved = tuple(k if k is ... else slice(k.start + b, k.stop + b, k.step) if isinstance(k, slice) else k + b for k, b in zip(key, low or [0]))
        return np.array(wide[moved])

    def store(self, memory: Memory, index: Index, operands: Sequence[ArrayLike], value: ArrayLike, add: bool = False,
              note: Callable | None = None) -> None:
        key, region = _key(index, operands, memory.shape)
        if not _inside(region, memory.shape):
            raise beyond(self.world, memory.name, memory.shape, region)
        (note or self.access)(memory, region, True)
        value = np.asarray(value, memory.dtype)
        if add:
            np.add.at(memory.array, key, value)
        else:
            memory.array[key] = value

    # -- operations

    def run(self, closed: ClosedJaxpr, *args: Any) -> list:
        """The results of a program on arrays and references."""
        return self.evaluate(closed.jaxpr, closed.consts, args)

    def evaluate(self, jaxpr: Jaxpr, consts: Sequence[object], args: Sequence[object]) -> list:
        env: dict = {**dict(zip(jaxpr.constvars, consts)), **dict(zip(jaxpr.invars, args))}
        value = lambda v: v.val if type(v) is Literal else env[v]
        for eqn in jaxpr.eqns:
            outs = self._apply(eqn, [value(v) for v in eqn.invars])
            env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
        return [value(v) for v in jaxpr.outvars]

    def _apply(self, eqn: JaxprEqn, args: list) -> Any:
        prim, params = eqn.primitive, eqn.params
        rule = _RULES.get(prim)
        if rule is not None:
            return rule(self, eqn, *args, **params)
        if isinstance(prim, RefPrimitive):
            return self._on_contents(prim, args[0], args[1:], params)
        interpret: Any = prim.interpret
        return interpret(self.run, *args, **params) if interpret else self._compute(eqn, args)

    def _compute(self, eqn: JaxprEqn, args: list) -> Any:
        prim, params = eqn.primitive, eqn.params
        avals = [v.aval for v in eqn.outvars]
        if not all(isinstance(v.aval.dtype, np.dtype) for v in (*eqn.invars, *eqn.outvars)):  # keys, which NumPy does not have
            return prim.bind(*args, **params)
        if prim.reference is not None and not prim.multiple_results:
            with np.errstate(all="ignore"):
                found = np.asarray(prim.reference(*map(np.asarray, args), **params))
            if found.shape == avals[0].shape:
                return found.astype(avals[0].dtype)
        outs = prim.bind(*args, **params)
        return [np.asarray(x) for x in outs] if prim.multiple_results else np.asarray(outs)

    def _on_contents(self, prim: RefPrimitive, memory: Memory, rest: list, params: dict) -> Any:
        """Any other operation on a reference, by what it does to the contents."""
        assert prim.on_contents is not None, prim
        index = params.get("index", Index())
        moving = _moving(index)
        region = _key(index, rest[len(rest) - moving:], memory.shape)[1]
        result, contents = prim.on_contents(jnp.asarray(memory.array.copy()), *rest, **params)
        self.access(memory, region, contents is not None)
        if contents is not None:
            memory.array[...] = np.asarray(contents)
        return result

    def _semaphore(self, memory: Memory, index: Index, operands: Sequence[Any]) -> tuple:
        key, region = _key(index, operands, memory.shape)
        if not _inside(region, memory.shape):
            raise beyond(self.world, memory.name, memory.shape, region)
        position = tuple(r[0] for r in region)
        return memory.place, memory.array, position

    def _copy(self, parts: Any, args: Sequence[Any], device: int | None, add: bool) -> None:
        (source, i, moving), (destination, j, others), *semaphores = parts.split(args)
        size = self.load(source, i, moving, lambda *_: None).nbytes if device is None else self._size(source, i, moving)
        there = destination if device is None else destination.on(device, self.number)
        signals = []
        if device is None:
            signals = [self._semaphore(ref, k, operands) for ref, k, operands in semaphores[:1]]
        else:  # the semaphore there knows that it came, that here that it left
            (receive, k, operands), *sent = semaphores
            signals = [self._semaphore(receive.on(device, self.number), k, operands), *(self._semaphore(*part) for part in sent)]

        def make(clock: dict, who: str) -> None:
            thread = next(t for t in clock if t[0] == "copy" and f"copy {t[1]}" == who)
            note = lambda memory, region, stores: self.world.access(memory.place, memory.name, tuple(region), stores, thread, clock,
                                                                    f"{who} of {self.who}")
            self.store(there, j, others, self.load(source, i, moving, note), add, note)
        self.world.start(make, size, signals, self.clock)
        self.tick()

    def _size(self, memory: Memory, index: Index, operands: Sequence[Any]) -> int:
        _, region = _key(index, operands, memory.shape)
        return math.prod(map(len, region)) * memory.dtype.itemsize

    def new_room(self, eqn: JaxprEqn, first: ArrayLike, space: object, shape: Sequence[int], dtype: DTypeLike) -> Memory:
        count = self.rooms[id(eqn)] = self.rooms.get(id(eqn), -1) + 1
        shared = space in MAIN_MEMORY
        place = Place(self.device, None if shared else self.number, ("room", id(eqn), count))
        memory = Memory(self.world, place, shape, dtype, space, f"scoped memory ({space})")
        if not shared and not isinstance(space, SemaphoreType):
            memory.array[...] = np.asarray(first)
        return memory

    # -- steps

    def operand(self, k: int, operand: Operand) -> Memory:
        """The whole array of the operand or result with the number ``k`` among the references."""
        return Memory(self.world, Place(self.device, None, ("array", self.which[k])), operand.aval.shape, operand.aval.dtype, MemorySpace.ANY, operand.name)

    def _buffer(self, k: int, operand: Operand) -> Memory:
        place = Place(self.device, self.number, ("block", k))
        return Memory(self.world, place, operand.block_aval.shape, operand.aval.dtype, operand.memory_space, f"the block of {operand.name}")

    def steps(self, scalars: Sequence[np.ndarray], sizes: Sequence[np.ndarray]) -> None:
        """Run those steps of the kernel that are this core's."""
        program = self.world.program
        held = [Memory(self.world, Place(self.device, None, ("scalar", k)), x.shape, x.dtype, None, f"scalar operand {k}") for k, x in enumerate(scalars)]
        count, blocked = len(scalars), [*program.inputs, *program.outputs]
        scratch = [Memory(self.world, Place(self.device, self.number, ("scratch", k)), r.shape, r.dtype, r.memory_space, f"scratch {k}")
                   for k, r in enumerate(program.scratch)]
        wholes = [self.operand(count + k, o) for k, o in enumerate(blocked)]
        outside = [o.memory_space in (*MAIN_MEMORY, MemorySpace.HOST) for o in blocked]
        blocks = [w if out else self._buffer(k, o) for k, (o, w, out) in enumerate(zip(blocked, wholes, outside))]
        before: list[Any] = [None] * len(blocked)
        seen: list[set] = [set() for _ in blocked]
        numbers = [self._ids(int(self.order.step(np.int32(k), self.grid, self.number))) for k in range(int(self.order.count(self.grid, self.number)))]
        for n, ids in enumerate(numbers):
            if self.order.recorder is not None:
                self.order.recorder(np.int32(0), ids, np.int32(self.number))
            starts = [self._start(o, ids, held) for o in blocked]
            for k, o in enumerate(blocked):
                if outside[k] or starts[k] == before[k]:
                    continue
                if k < len(program.inputs):
                    blocks[k].array[...] = self._fetch(wholes[k], o, starts[k])
                elif starts[k] in seen[k]:
                    raise IndexError(f"{self.world.where}: the block of {o.name} at {starts[k]} is worked on again after other blocks.")
                seen[k].add(starts[k])
            self.evaluate(program.kernel.jaxpr, program.kernel.consts, [*ids, *sizes, *held, *blocks, *scratch])
            following = [self._start(o, numbers[n + 1], held) for o in blocked] if n + 1 < len(numbers) else [None] * len(blocked)
            for k in range(len(program.inputs), len(blocked)):
                if not outside[k] and following[k] != starts[k]:
                    self._give_back(wholes[k], blocked[k], starts[k], blocks[k].array)
            before = starts

    def _ids(self, number: int) -> tuple:
        return tuple(np.int32(i) for i in np.unravel_index(number, self.grid)) if self.grid else ()

    def _start(self, operand: Operand, ids: Sequence[Any], held: Sequence[Memory]) -> tuple:
        indices = self.run(operand.index_map, *ids, *held)[:len(operand.block)]
        return tuple(int(i) * (1 if type(d) in (Element, Squeezed) else d.block_size) - (d.padding[0] if type(d) is Element else 0)
                     for d, i in zip(operand.block, indices))

    def _region(self, operand: Operand, start: tuple) -> list[range]:
        """The part of the array that the block covers."""
        return [range(max(s, 0), min(s + size, n)) for s, size, n in zip(start, operand.sizes, operand.aval.shape)]

    def _fetch(self, whole: Memory, operand: Operand, start: tuple) -> np.ndarray:
        self._check(operand, start, self.world.params.out_of_bounds_reads == "raise")
        region = self._region(operand, start)
        block = np.full(operand.sizes, uninitialized_value(operand.aval.dtype), operand.aval.dtype)
        if all(region):
            self.access(whole, region, False)
            block[tuple(slice(r.start - s, r.stop - s) for r, s in zip(region, start))] = whole.array[tuple(slice(r.start, r.stop) for r in region)]
        return block.reshape(operand.block_aval.shape)

    def _give_back(self, whole: Memory, operand: Operand, start: tuple, block: np.ndarray) -> None:
        self._check(operand, start, True)
        region = self._region(operand, start)
        self.access(whole, region, True)
        part = tuple(slice(r.start - s, r.stop - s) for r, s in zip(region, start))
        whole.array[tuple(slice(r.start, r.stop) for r in region)] = block.reshape(operand.sizes)[part]

    def _check(self, operand: Operand, start: tuple, strict: bool) -> None:
        for d, s, n in zip(operand.block, start, operand.aval.shape):
            if strict and type(d) is not Element and not (0 <= s < n or n == 0):
                raise IndexError(f"{self.world.where}: the block of {operand.name} at {start} lies beyond the end of the array, whose shape is "
                                 f"{operand.aval.shape}.")


# -- rules -----------------------------------------------------------------------------------------------------------

def _get(core, eqn, memory, *operands, index):
    return core.load(memory, index, operands)


def _swap(core, eqn, memory, value, *operands, index):
    quiet = lambda *_: None
    before = core.load(memory, index, operands, quiet) if _inside(_key(index, operands, memory.shape)[1], memory.shape) else None
    core.store(memory, index, operands, value)
    return before


def _add(core, eqn, memory, value, *operands, index):
    core.store(memory, index, operands, value, add=True)
    return []


def _wait_copy(core, eqn, *args, parts, **_):
    (source, i, moving), (destination, j, others), *semaphores = parts.split(args)
    for ref, k, operands in semaphores[:1]:
        core.world.wait(core._semaphore(ref, k, operands), core._size(destination, j, others), core.clock)
        core.tick()
    return []


def _start_copy(core, eqn, *args, parts, add=False, **_):
    core._copy(parts, args, None, add)
    return []


def _send_copy(core, eqn, *args, parts, **_):
    *args, device, active = args
    if active:
        core._copy(parts, args, int(device), False)
    return []


def _signal(core, eqn, memory, amount, *operands, index):
    return _signal_on(core, memory, amount, operands, index)


def _signal_there(core, eqn, memory, amount, device, active, *operands, index, mesh):
    return _signal_on(core, memory.on(int(device), core.number), amount, operands, index) if active else []


def _signal_core(core, eqn, memory, amount, device, number, *operands, index, mesh):
    return _signal_on(core, memory.on(int(device) if mesh else core.device, int(number)), amount, operands, index)


def _signal_on(core, memory, amount, operands, index):
    core.world.signal(core._semaphore(memory, index, operands), int(amount), core.clock)
    core.tick()
    return []


def _wait(core, eqn, memory, amount, *operands, index):
    core.world.wait(core._semaphore(memory, index, operands), int(amount), core.clock)
    core.tick()
    return []


def _read(core, eqn, memory, *operands, index):
    place, counts, position = core._semaphore(memory, index, operands)
    return np.int32(counts[position])


def _new(core, eqn, init, *, memory_space, **_):
    return core.new_room(eqn, init, memory_space, np.shape(init), eqn.outvars[0].aval.dtype)


def _empty(core, eqn, *, ty, memory_space, **_):
    return core.new_room(eqn, np.zeros(ty.shape, ty.dtype), memory_space, ty.shape, ty.dtype)


_RULES: dict[Any, Callable] = {
    get_p: _get, swap_p: _swap, addupdate_p: _add, new_ref_p: _new, empty_ref_p: _empty,
    freeze_p: lambda core, eqn, memory: np.array(memory.array), free_ref_p: lambda core, eqn, memory: [],
    start_copy_p: _start_copy, send_copy_p: _send_copy, wait_copy_p: _wait_copy,
    signal_p: _signal, signal_there_p: _signal_there, signal_core_p: _signal_core, wait_p: _wait, read_p: _read,
    axis_index_p: lambda core, eqn, *, axis_name, **_: core.places[axis_name],
}
