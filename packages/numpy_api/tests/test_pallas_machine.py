"""Kernels run operation by operation (`InterpretParams(detect_races=True)`): races, cores that wait for each other."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.references.api import ds
from jax_core.representation.aval import ShapeDtypeStruct
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.pallas.call import pallas_call
from jax_numpy_api.pallas.control import loop, run_scoped, run_state, when
from jax_numpy_api.pallas.copies import async_copy, sync_copy
from jax_numpy_api.pallas.cores import TensorCoreMesh, core_map
from jax_numpy_api.pallas.grid import num_programs, program_id
from jax_numpy_api.pallas.machine.races import Races, overlap
from jax_numpy_api.pallas.memory import atomic_add, load, store
from jax_numpy_api.pallas.mode import force_tpu_interpret_mode
from jax_numpy_api.pallas.pipeline import emit_pipeline
from jax_numpy_api.pallas.semaphores import semaphore_read, semaphore_signal, semaphore_wait
from jax_numpy_api.pallas.spaces import ANY, VMEM, SemaphoreType
from jax_numpy_api.pallas.specs import BlockSpec, InterpretParams
from jax_numpy_api.pallas.tpu import ARBITRARY, PARALLEL, CompilerParams

X = np.arange(8, dtype=np.float32)
AT_ONCE, LATE = (InterpretParams(detect_races=True, dma_execution_mode=mode) for mode in ("eager", "on_wait"))
ROOM = [VMEM((8,), np.float32), SemaphoreType.DMA]


def call(kernel, params, shape=(8,), **options):
    def quiet(*refs):
        kernel(*refs)
    return np.asarray(jit(lambda x: pallas_call(quiet, ShapeDtypeStruct(shape, np.float32), interpret=params, **options)(x))(X))


def put(ref, value):
    ref[...] = value


def copied(kernel):
    """The kernel with its operand in main memory and room to copy it to."""
    return lambda params: call(kernel, params, in_specs=[BlockSpec(memory_space=ANY)], scratch_shapes=ROOM)


def waits(x, out, room, sem):
    async_copy(x, room, sem).wait()
    out[...] = room[...] + 1


def reads_early(x, out, room, sem):
    copy = async_copy(x, room, sem)
    out[...] = room[...] + 1
    copy.wait()


def stores_early(x, out, room, sem):
    room[...] = jnp.zeros(8)
    copy = async_copy(room, out, sem)
    room[...] = jnp.ones(8)
    copy.wait()


def works_beside(x, out, room, sem):
    """On the other half of the memory, which is no race."""
    copy = async_copy(x.at[ds(0, 4)], room.at[ds(0, 4)], sem)
    room[4:] = jnp.full(4, 7.)
    copy.wait()
    out[...] = room[...]


def doubles(x, out):
    spec = BlockSpec((2,), lambda i: (i,))
    emit_pipeline(lambda a, b: put(b, 2 * a[...]), grid=(4,), in_specs=[spec], out_specs=[spec])(x, out)


def blocks(x, out):
    @when(program_id(0) < 2)
    def _():
        out[...] = loop(0, 3, init_carry=x[...])(lambda i, c: c + i)

    @when(program_id(0) >= 2)
    def _():
        store(out, (ds(0, 2),), load(x, (ds(0, 2),), mask=lax.iota(np.int32, 2) < 1, other=-1.))


ROWS = BlockSpec((2,), lambda i: (i,))
VALUES = {
    "a copy that is waited for": (copied(waits), X + 1),
    "work beside a copy": (copied(works_beside), [0, 1, 2, 3, 7, 7, 7, 7]),
    "a pipeline": (lambda params: call(doubles, params, in_specs=[BlockSpec(memory_space=ANY)], out_specs=BlockSpec(memory_space=ANY)), 2 * X),
    "blocks, branches, loops, masks": (lambda params: call(blocks, params, grid=4, in_specs=[ROWS], out_specs=ROWS), [3, 4, 5, 6, 4, -1, 6, -1]),
    "places by number, atomics": (lambda params: call(lambda x, o: (put(o, load(x, (lax.iota(np.int32, 8),), mask=lax.iota(np.int32, 8) < 6)), atomic_add(o, (7,), 5.)),
                                                      params), [0, 1, 2, 3, 4, 5, 0, 5]),
    "shared memory": (lambda params: call(lambda x, o: put(o, x[...] + 1), params, grid=3, in_specs=[BlockSpec((8,), lambda i: (0,))],
                                          out_specs=BlockSpec((8,), lambda i: (0,)), input_output_aliases={0: 0}), X + 1),
}


@pytest.mark.parametrize("params", [AT_ONCE, LATE], ids=["at once", "late"])
@pytest.mark.parametrize("case", VALUES)
def test_values(case, params):
    function, expected = VALUES[case]
    np.testing.assert_array_equal(function(params), expected)


def on_cores(body, cores=2, params=LATE):
    """What a body on each core, which is given references to an operand and a result, leaves in the result."""
    def inner(refs):
        core_map(TensorCoreMesh(axis_name="core", num_cores=cores), interpret=params)(lambda: body(*refs))
    return np.asarray(jit(lambda x: run_state(inner)((x, jnp.zeros(8)))[1])(X))


def after_the_other(x, out):
    """Core 0 works on what core 1 leaves it."""
    core = lax.axis_index("core")

    def body(room, sem):
        when(core == 0)(lambda: semaphore_wait(sem))
        sync_copy(out, room)
        room[...] = room[...] * 10 + core + 1
        sync_copy(room, out)
        when(core == 1)(lambda: semaphore_signal(sem, core_index=0))
    run_scoped(body, VMEM((8,), np.float32), SemaphoreType.REGULAR)


def meet(x, out):
    """All cores wait for all."""
    def body(room, sem):
        for core in range(4):
            semaphore_signal(sem, core_index=core)
        semaphore_wait(sem, 4)
        mine = ds(2 * lax.axis_index("core"), 2)
        sync_copy(x.at[mine], room)
        room[...] = room[...] + semaphore_read(sem)
        sync_copy(room, out.at[mine])
    run_scoped(body, VMEM((2,), np.float32), SemaphoreType.REGULAR)


def test_cores_wait_for_each_other():
    np.testing.assert_array_equal(on_cores(after_the_other), [21] * 8)
    np.testing.assert_array_equal(on_cores(after_the_other, params=InterpretParams()), [21] * 8)
    np.testing.assert_array_equal(on_cores(meet, 4), X)
    with force_tpu_interpret_mode():
        np.testing.assert_array_equal(on_cores(meet, 4, params=False), X)


def divided(grid, semantics, **options):
    """A pipeline that writes at each step of its grid which core, the second of two or the first, ran it, and how many steps this core has along each axis."""
    blocks = BlockSpec((1, 1, 3), lambda i, j: (i, j, 0))

    def body(core):
        def step(out):
            out[0, 0] = jnp.stack([jnp.float32(core), *(jnp.float32(num_programs(axis)) for axis in range(2))])
        return lambda out: emit_pipeline(step, grid=grid, out_specs=[blocks], dimension_semantics=semantics, **options)(out)
    return body, ShapeDtypeStruct((*grid, 3), np.float32)


CORES = np.array([0, 1])
DIVIDED = {  # grid, semantics; then the core of each step, and this core's lengths of both axes
    "evenly": ((4, 2), (PARALLEL, ARBITRARY), CORES.repeat(2)[:, None], 2, 2),
    "by the axis that is parallel": ((4, 2), ("arbitrary", "parallel"), CORES[None], 4, 1),
    "by the first of several": ((2, 4), (PARALLEL, PARALLEL), CORES[:, None], 1, 4),
    "by the first that divides evenly": ((3, 2), (PARALLEL, PARALLEL), CORES[None], 3, 1),
    "unevenly by the longest": ((3, 5), (PARALLEL, PARALLEL), np.array([[0, 0, 0, 1, 1]]), 3, np.array([[3, 3, 3, 2, 2]])),
    "one step for two cores": ((1, 1), (PARALLEL, PARALLEL), 0, 1, 1),
}


@pytest.mark.parametrize("how", ["by a name", "by names", "by an axis", "by axes"])
@pytest.mark.parametrize("case", DIVIDED)
def test_pipelines_divided_among_cores(case, how):
    grid, semantics, *expected = DIVIDED[case]
    if "name" in how:
        body, out = divided(grid, semantics, core_axis_name="core" if how == "by a name" else ("core",))
        def inner(ref):
            core_map(TensorCoreMesh(axis_name="core", num_cores=2), interpret=InterpretParams())(lambda: body(lax.axis_index("core"))(ref))
        found = jit(lambda: run_state(inner)(jnp.zeros(out.shape)))()
    else:
        body, out = divided(grid, semantics, core_axis=0 if how == "by an axis" else (0, 1))
        found = jit(lambda: pallas_call(lambda ref: body(program_id(0) + program_id(1))(ref), out, grid=(2, 1) if how == "by an axis" else (1, 2),
                                        out_specs=BlockSpec(memory_space=ANY), interpret=InterpretParams())())()
    np.testing.assert_array_equal(found, np.stack(np.broadcast_arrays(np.zeros(grid), *expected)[1:], -1))


ERRORS = {
    "a load before the wait": (copied(reads_early), "pallas_call quiet: a race in scratch 0 of device 0: .* nothing orders that"),
    "a store before the wait": (copied(stores_early), "a race in scratch 0 of device 0"),
    "two cores store alike": (lambda params: on_cores(lambda x, out: sync_copy(x.at[ds(0, 4)], out.at[ds(0, 4)]), params=params), "a race in .* of core [01]"),
    "parallel steps store in one block": (
        lambda params: call(lambda x, o: put(o, x[...]), InterpretParams(detect_races=True, num_cores_or_threads=2), grid=2, in_specs=[BlockSpec((8,), lambda i: (0,))],
                            out_specs=BlockSpec((8,), lambda i: (0,)), compiler_params=CompilerParams(dimension_semantics=("parallel",))),
        "a race in out_shape of device 0: core [01] of device 0 stores"),
    "nobody signals": (lambda params: on_cores(lambda x, out: run_scoped(lambda sem: (semaphore_wait(sem), sync_copy(x, out)), SemaphoreType.REGULAR), params=params),
                       "every core that still runs waits for a semaphore"),
    "a core fails": (lambda params: on_cores(lambda x, out: run_scoped(
        lambda room, sem: (when(lax.axis_index("core") == 1)(lambda: put(room.at[ds(lax.axis_index("core") * 7, 4)], jnp.zeros(4))), semaphore_wait(sem)),
        VMEM((8,), np.float32), SemaphoreType.REGULAR) and sync_copy(x, out), params=params), "lies beyond its end"),
    "a block beyond the end": (lambda params: call(lambda x, o: put(o, x[...]), params, grid=4, in_specs=[BlockSpec((2,), lambda i: (i + 1,))], out_specs=ROWS),
                               r"the block of args\[0\] at \(8,\) lies beyond"),
}


@pytest.mark.parametrize("params", [AT_ONCE, LATE], ids=["at once", "late"])
@pytest.mark.parametrize("case", ERRORS)
def test_errors(case, params):
    function, message = ERRORS[case]
    with pytest.raises(Exception, match=message):
        function(params)


def test_a_race_may_be_a_warning():
    with pytest.warns(RuntimeWarning, match="a race in scratch 0"):
        copied(reads_early)(InterpretParams(detect_races=True, on_race="warn"))


@pytest.mark.parametrize("a, b, expected", [((range(0, 4),), (range(3, 5),), True), ((range(0, 4),), (range(4, 5),), False),
                                            ((range(0, 8, 2),), (range(1, 8, 2),), False), ((range(0, 9, 3),), (range(1, 8, 2),), True),
                                            ((range(0, 4), range(0, 2)), (range(0, 4), range(2, 3)), False), ((), (), True)])
def test_overlap(a, b, expected):
    assert overlap(a, b) == expected


def test_clocks():
    """A load races with a store that its thread does not know of, and with no other load."""
    races, whole = Races(), (range(4),)
    assert races.access("m", "m", whole, True, "a", {"a": 1}, "a") is None
    assert races.access("m", "m", whole, False, "b", {"a": 1, "b": 1}, "b") is None
    assert races.access("m", "m", whole, False, "c", {"a": 1, "c": 1}, "c") is None
    assert "c stores to [0:4]" in races.access("m", "m", whole, True, "c", {"a": 1, "c": 2}, "c")
    assert len(races.found) == 1
