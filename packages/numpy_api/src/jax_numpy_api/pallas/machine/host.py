"""The call of the machine from a compiled program; where the devices of a mesh meet to run one kernel."""
from __future__ import annotations

import math
import threading
from typing import Any, Sequence

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import Jaxpr, jaxprs_in_params
from jax_core.representation.primitive import Primitive, none
from jax_core.transformations.manual import region

from ... import lax
from ...lax.control_flow.common import run_eagerly
from ..grid import Program
from ..mode import forgetting, interpreting
from ..order import Order
from ..semaphores import signal_core_p
from ..specs import InterpretParams
from .core import Core
from .world import Place, World

_lock = threading.Lock()
_worlds: dict[tuple, World] = {}
_turns: dict[tuple, int] = {}


def is_needed(program: Program) -> bool:
    """Whether the compiled loop cannot interpret the kernel: races are looked for, or cores wait for each other."""
    params = program.options.interpret
    return isinstance(params, InterpretParams) and (params.detect_races or _signals_cores(program.kernel.jaxpr))


def _signals_cores(jaxpr: Jaxpr) -> bool:
    return any(e.primitive is signal_core_p or any(map(_signals_cores, jaxprs_in_params(e.params))) for e in jaxpr.eqns)


def call(program: Program, operands: Sequence[Array]) -> list:
    """The results of the kernel, in a program that is being lowered for the devices of its mesh."""
    mesh = program.options.mesh
    device: Any = np.int32(0)
    if mesh:
        with region(dict(mesh), checked=False):
            device = lax.axis_index(tuple(name for name, _ in mesh))
    return machine_p.bind(device, *operands, program=program)


def _on_host(program: Program, device: Any, *operands: Any) -> tuple:
    with interpreting(program.options.interpret):
        return _run(program, int(device), [np.asarray(x) for x in operands])


def _run(program: Program, device: int, operands: list) -> tuple:
    mesh, order = program.options.mesh, Order(program)
    devices = math.prod(n for _, n in mesh)
    with _lock:
        turn = _turns[program, device] = _turns.get((program, device), 0) + 1
        key = program, turn
        world = _worlds.get(key)
        if world is None:
            world = _worlds[key] = World(program, devices, order.cores)
    try:
        return _on_device(world, order, device, operands)
    except BaseException as error:
        world.fail(error)
        raise
    finally:
        with _lock:
            if world.failure is not None or world.ended == devices:
                _worlds.pop(key, None)


def _on_device(world: World, order: Order, device: int, operands: list) -> tuple:
    program, mesh = world.program, world.program.options.mesh
    dynamic, scalars = program.dynamic, len(program.scalars)
    sizes, given = operands[:dynamic], operands[dynamic:]
    rest = iter(sizes)
    grid = [int(next(rest)) if n is None else n for n in program.grid]
    shared = {o: scalars + i for i, o in program.aliases}
    first = scalars + len(program.inputs)
    which = [*range(first), *(shared.get(k, first + k) for k in range(len(program.outputs)))]
    with world.changed:
        for k, x in enumerate(given[:scalars]):
            world.memory[Place(device, None, ("scalar", k))] = np.array(x)
        for k, x in enumerate(given[scalars:], scalars):
            world.memory[Place(device, None, ("array", k))] = np.array(x)
    places = dict(zip((name for name, _ in mesh), map(np.int32, np.unravel_index(device, [n for _, n in mesh]) if mesh else ())))
    cores = [Core(world, device, c, places, order, grid, which) for c in range(order.cores)]
    world.meet("arrived")

    def one(core: Core) -> None:
        try:
            with interpreting(program.options.interpret):
                core.steps(given[:scalars], sizes)
        except BaseException as error:
            world.fail(error)
        finally:
            world.finish()
    threads = [threading.Thread(target=one, args=(core,), daemon=True) for core in cores[1:]]
    for thread in threads:
        thread.start()
    one(cores[0])
    for thread in threads:
        thread.join()
    world.meet("ended")
    world.make_the_rest()
    results = []
    for k, o in enumerate(program.outputs):
        results.append(cores[0].operand(first + k, o).array)
    return tuple(results)


def _lower(b, *operands, program):
    return b.host_callback(lambda *xs: _on_host(program, *xs), operands, b.out_avals, has_side_effect=True, name="kernel")


_RUN_ONLY = none("it is made when a kernel is lowered to be interpreted, after all transformations")
machine_p: Primitive = Primitive(
    "pallas_machine", multiple_results=True, cacheable=False, jvp=_RUN_ONLY, transpose=_RUN_ONLY, batch=_RUN_ONLY, lower=_lower,
    out_type=lambda *avals, program: [ShapedArray(a.shape, a.dtype) for a in program.out_avals],
    impl=lambda *args, **params: run_eagerly(machine_p, args, params))
"""The results of a kernel; its operands are the number of the device and those of the kernel."""


def _forget() -> None:
    with _lock:
        _worlds.clear()
        _turns.clear()


forgetting.append(_forget)
