"""Kernels interpreted as a TPU runs them (`InterpretParams`): blocks in buffers, cores, orders. Values were compared with the reference's interpreter."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.references.api import ds, new_ref
from jax_core.representation.aval import ShapeDtypeStruct
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.pallas.call import pallas_call
from jax_numpy_api.pallas.control import run_scoped, run_state, when
from jax_numpy_api.pallas.copies import async_copy, sync_copy
from jax_numpy_api.pallas.cores import TensorCoreMesh, core_map
from jax_numpy_api.pallas.grid import program_id
from jax_numpy_api.pallas.memory import store_view
from jax_numpy_api.pallas.spaces import ANY, HBM, SMEM, VMEM, SemaphoreType
from jax_numpy_api.pallas.specs import BlockSpec, GridSpec, InterpretParams
from jax_numpy_api.pallas.tpu import CompilerParams

pytestmark = pytest.mark.any_code

X = np.arange(4, dtype=np.float32)
nan = np.nan
AS_A_TPU = InterpretParams()


def call(kernel, *operands, shape=(4,), dtype=np.float32, params=AS_A_TPU, **options):
    """What a kernel, which may be a lambda, leaves in its result."""
    def quiet(*refs):
        kernel(*refs)
    return jit(lambda *xs: pallas_call(quiet, ShapeDtypeStruct(shape, dtype), interpret=params, **options)(*xs))(*operands)


def put(ref, value):
    ref[...] = value


def copy(x, out):
    out[...] = x[...]


def rows(start=0, length=1):
    return BlockSpec((length,), lambda i: (i + start,))


SAME = BlockSpec((4,), lambda i: (0,))


def first_step(value):
    return lambda x, out: when(program_id(0) == 0)(lambda: put(out, jnp.full(out.shape, value, out.dtype)))


def counts_in_its_operand(x, out):
    put(out, x[...][None, None])
    put(x, x[...] + 1)


VALUES = {
    "a block is fetched once": (lambda: call(lambda x, o: put(o, x[...] + 1), X, grid=4, in_specs=[SAME], out_specs=SAME, input_output_aliases={0: 0}), X + 1),
    "a result's buffer is not fetched": (
        lambda: call(lambda x, o: put(o, o[...] + 1), X, grid=4, in_specs=[rows()], out_specs=rows(), input_output_aliases={0: 0}), [nan] * 4),
    "a result's buffer keeps what it holds": (lambda: call(first_step(7.), X, grid=4, in_specs=[rows()], out_specs=rows()), [7] * 4),
    "also where it is an operand's memory": (
        lambda: call(first_step(7.), X, grid=4, in_specs=[rows()], out_specs=rows(), input_output_aliases={0: 0}), [7] * 4),
    "what is stored in an operand stays in its buffer": (
        lambda: call(counts_in_its_operand, X, shape=(2, 2, 2), grid=(2, 2), in_specs=[BlockSpec((2,), lambda i, j: (i,))],
                     out_specs=BlockSpec((1, 1, 2), lambda i, j: (i, j, 0))), [[[0, 1], [1, 2]], [[2, 3], [3, 4]]]),
    "and is gone when another block was there": (
        lambda: call(counts_in_its_operand, X, shape=(2, 2, 2), grid=(2, 2), in_specs=[BlockSpec((2,), lambda i, j: (j,))],
                     out_specs=BlockSpec((1, 1, 2), lambda i, j: (i, j, 0))), [[[0, 1], [2, 3]]] * 2),
    "memory that was not written to": (lambda: call(lambda o, room: put(o, room[...]), dtype=np.int16, scratch_shapes=[VMEM((4,), np.int16)]), [32767] * 4),
    "memory of a scope": (lambda: call(lambda o: run_scoped(lambda room: sync_copy(room, o), VMEM((4,), np.float32)),
                                       params=InterpretParams(uninitialized_memory="zero")), [0] * 4),
    "a block beyond the end": (lambda: call(copy, X, grid=2, in_specs=[rows(1, 2)], out_specs=rows(0, 2),
                                            params=InterpretParams(out_of_bounds_reads="uninitialized")), [2, 3, nan, nan]),
    "a copy beyond the end": (lambda: call(lambda x, o, sem: async_copy(x.at[ds(program_id(0) + 2, 4)], o, sem).wait(), X, grid=1,
                                           in_specs=[BlockSpec(memory_space=ANY)], scratch_shapes=[SemaphoreType.DMA],
                                           params=InterpretParams(out_of_bounds_reads="uninitialized")), [2, 3, nan, nan]),
    "without floating-point operations": (lambda: call(lambda x, o: put(o, x[...] + 1), X, params=InterpretParams(skip_floating_point_ops=True)), [np.inf] * 4),
    "no step": (lambda: call(copy, X, grid=0, in_specs=[rows()], out_specs=rows(), input_output_aliases={0: 0}), X),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case):
    function, expected = VALUES[case]
    np.testing.assert_array_equal(np.asarray(function()), np.asarray(expected))


BEYOND = {
    "an operand's block": (lambda: call(copy, X, grid=2, in_specs=[rows(1, 2)], out_specs=rows(0, 2)), r"the block of args\[0\] at \(4\) lies beyond"),
    "a result's block": (lambda: call(copy, X, grid=2, in_specs=[rows(0, 2)], out_specs=rows(1, 2)), r"the block of out_shape at \(4\) lies beyond"),
    "a block that was left": (lambda: call(copy, X, grid=4, in_specs=[rows()], out_specs=BlockSpec((1,), lambda i: (i % 2,))),
                              r"the block of out_shape at \(0\) is worked on again after other blocks"),
    "a copy": (lambda: call(lambda x, o, sem: async_copy(x.at[ds(program_id(0) + 2, 4)], o, sem).wait(), X, grid=1,
                            in_specs=[BlockSpec(memory_space=ANY)], scratch_shapes=[SemaphoreType.DMA]), "a kernel reads the part .* beyond its end"),
    "a mask": (lambda: call(lambda x, o: store_view(o.at[ds(program_id(0) + 2, 4)], x[...], mask=x[...] < 3), X, grid=1), "its mask is true beyond the end"),
    "main memory in a scope": (lambda: call(lambda o: run_scoped(lambda room: sync_copy(room, o), HBM((4,), np.float32))), "run_scoped: .* asks for main memory"),
}


@pytest.mark.parametrize("case", BEYOND)
def test_errors(case):
    function, message = BEYOND[case]
    with pytest.raises(Exception, match=message):
        np.asarray(function())


def counted(s, out):
    put(out, jnp.full(out.shape, s[0], out.dtype))
    s[0] = s[0] + 1


ORDERS = {  # cores, seed: what each step counts, the cores of the first and the last step
    (1, None): ([[0, 1, 2], [3, 4, 5], [6, 7, 8]], (0, 0)),
    (2, None): ([[0, 1, 2], [3, 4, 5], [0, 1, 2]], (0, 1)),
    (3, None): ([[0, 1, 2]] * 3, (0, 2)),
    (1, 5): ([[6, 7, 8], [0, 1, 2], [3, 4, 5]], (0, 0)),
}


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_orders_of_parallel_steps(order):
    """Each core has memory of its own."""
    cores, seed = order
    expected, ends = ORDERS[order]
    seen = []
    params = InterpretParams(num_cores_or_threads=cores, random_seed=seed, grid_point_recorder=lambda token, point, core: seen.append((point, core)))
    found = call(counted, np.zeros(1, np.float32), shape=(3, 3), grid=(3, 3), in_specs=[BlockSpec(memory_space=SMEM)],
                 out_specs=BlockSpec((1, 1), lambda i, j: (i, j)), params=params, compiler_params=CompilerParams(dimension_semantics=("parallel", "arbitrary")))
    np.testing.assert_array_equal(found, expected)
    assert len(set(seen)) == 9 and (seen[0][1], seen[-1][1]) == ends
    assert [found[p] for p, core in seen if core == 0] == list(range(sum(core == 0 for _, core in seen)))


@pytest.mark.parametrize("interpret", [True, InterpretParams()], ids=["plainly", "as a TPU"])
def test_axes_of_a_grid_with_names(interpret):
    def kernel(x, out):
        out[...] = x[...] + 10 * lax.axis_index("row") + lax.axis_index("column") + 100 * lax.axis_size("column")
    block = BlockSpec((1, 1), lambda i, j: (i, j))
    found = pallas_call(kernel, ShapeDtypeStruct((2, 3), np.int32), grid_spec=GridSpec((("row", 2), ("column", 3)), [block], block), interpret=interpret)(
        jnp.zeros((2, 3), np.int32))
    np.testing.assert_array_equal(found, [[300, 301, 302], [310, 311, 312]])


@pytest.mark.parametrize("interpret", [True, InterpretParams()], ids=["plainly", "as a TPU"])
def test_core_map(interpret):
    """A function works on what it closes over, on each core."""
    def inner(refs):
        x, y = refs

        @core_map(TensorCoreMesh(axis_name="core", num_cores=2), interpret=interpret, scratch_shapes=[VMEM((2,), np.float32)])
        def _(room):
            mine = ds(2 * lax.axis_index("core"), 2)
            sync_copy(x.at[mine], room)
            room[...] += 10 * lax.axis_index("core")
            sync_copy(room, y.at[mine])
    np.testing.assert_array_equal(jit(lambda x: run_state(inner)((x, jnp.zeros(4)))[1])(X), [0, 1, 12, 13])


def test_core_map_closes_over_no_arrays():
    out, x = new_ref(jnp.zeros(4)), jnp.arange(4.)
    with pytest.raises(ValueError, match=r"pl.core_map: the function closes over arrays \(float32\[4\]\)"):
        core_map(TensorCoreMesh(axis_name="core", num_cores=1), interpret=True)(lambda: put(out, x))
