"""Kernels by the interpreter: blocks, grids, memory, transformations and errors. Values were compared with the reference's interpreter."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.references.api import ds, new_ref
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import grad, jvp, linearize, vjp
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.pallas import call, tpu, triton
from jax_numpy_api.pallas.control import (
    align_to,
    cdiv,
    loop,
    max_contiguous,
    multiple_of,
    next_power_of_2,
    run_scoped,
    strides_from_shape,
    when,
    with_scoped,
)
from jax_numpy_api.pallas.copies import make_async_copy, sync_copy
from jax_numpy_api.pallas.cost import estimate_cost
from jax_numpy_api.pallas.einshape import einshape
from jax_numpy_api.pallas.generator import prng_random_bits, prng_seed, stateful_bits, stateful_uniform
from jax_numpy_api.pallas.grid import num_programs, program_id
from jax_numpy_api.pallas.memory import atomic_add, atomic_cas, atomic_max, atomic_or, load, load_view, store, store_view, swap
from jax_numpy_api.pallas.mode import force_tpu_interpret_mode, set_tpu_interpret_mode
from jax_numpy_api.pallas.pipeline import emit_pipeline
from jax_numpy_api.pallas.semaphores import semaphore_read, semaphore_signal, semaphore_wait
from jax_numpy_api.pallas.spaces import ANY, SMEM, VMEM, SemaphoreType
from jax_numpy_api.pallas.specs import (
    BlockSpec,
    BoundedSlice,
    Element,
    GridSpec,
    InterpretParams,
    PrefetchScalarGridSpec,
    squeezed,
)
from jax_numpy_api.pallas.watching import debug_check, trace_value

pytestmark = pytest.mark.any_code

X = np.arange(8, dtype=np.float32)
nan = np.nan
STEP = np.repeat(np.float32([0, 1]), 4)


def f32(*shape):
    return ShapeDtypeStruct(shape, np.float32)


def i32(*shape):
    return ShapeDtypeStruct(shape, np.int32)


def run(kernel, out_shape, **options):
    """`pallas_call` by the interpreter, of a kernel that may be a lambda: what it returns is dropped."""
    def quiet(*refs, **scratch):
        kernel(*refs, **scratch)
    return call.pallas_call(quiet, out_shape, interpret=options.pop("interpret", True), **options)


def put(ref, value):
    ref[...] = value


def copy(x, out):
    out[...] = x[...]


def rows(n):
    """Blocks of ``n`` elements along the only axis."""
    return BlockSpec((n,), lambda i: i)


TWO = jnp.asarray(2)
ROW = BlockSpec((None, 4), lambda i: (i, 0))  # row i of an array with rows of 4


def blocks(kernel, out_shape, grid, *in_specs, out_specs, **options):
    return run(kernel, out_shape, grid=grid, in_specs=list(in_specs), out_specs=out_specs, **options)


def prefetch(kernel, out_shape, in_map, **options):
    return run(kernel, out_shape, grid_spec=PrefetchScalarGridSpec(1, (2,), [BlockSpec((4,), in_map)],
                                                                   BlockSpec((4,), lambda i, s: i)), **options)


def accumulate(x, out, total):
    @when(program_id(0) == 0)
    def _():
        total[...] = jnp.zeros_like(total)
    total[...] += x[...]
    out[...] = total[...]


VALUES = {
    "whole arrays": (lambda: run(lambda x, o: put(o, x[...] + 1), f32(8))(X), X + 1),
    "every step sees whole arrays": (lambda: run(copy, f32(8), grid=2)(X), X),
    "a number": (lambda: run(lambda x, y, o: put(o, x[...] * y[()]), f32(8))(X, np.float32(2)), 2 * X),
    "nothing stored": (lambda: run(lambda x, o: None, f32(2))(X), [nan, nan]),
    "nothing stored, integers": (lambda: run(lambda x, o: None, i32(2))(X), [-2**31] * 2),
    "nothing stored, zeros": (lambda: run(lambda x, o: None, f32(2), interpret=InterpretParams(uninitialized_memory="zero"))(X), [0, 0]),
    "blocks": (lambda: blocks(lambda x, o: put(o, x[...] + program_id(0)), f32(8), 2, rows(4), out_specs=rows(4))(X),
               X + [0, 0, 0, 0, 1, 1, 1, 1]),
    "blocks over the end": (lambda: blocks(lambda x, o: put(o, x[...][None]), f32(3, 3), 3, rows(3),
                                           out_specs=BlockSpec((1, 3), lambda i: (i, 0)))(X),
                            [[0, 1, 2], [3, 4, 5], [6, 7, nan]]),
    "results over the end": (lambda: blocks(copy, f32(8), 3, rows(3), out_specs=rows(3))(X), X),
    "a block beyond the end is the last one": (lambda: blocks(copy, f32(8), 2, BlockSpec((4,), lambda i: i + 1), out_specs=rows(4))(X),
                                               [4, 5, 6, 7, 4, 5, 6, 7]),
    "a block larger than its array": (lambda: run(copy, f32(8), in_specs=[BlockSpec((8,))], out_specs=BlockSpec((8,)))(X[:4]),
                                      [0, 1, 2, 3, nan, nan, nan, nan]),
    "no block, no index": (lambda: run(copy, f32(2), in_specs=[BlockSpec((2,))], out_specs=BlockSpec((2,)))(X), [0, 1]),
    "empty grid": (lambda: blocks(copy, f32(8), 0, rows(4), out_specs=rows(4))(X), [nan] * 8),
    "an empty axis": (lambda: run(copy, f32(8), grid=(2, 0), in_specs=[BlockSpec((4,), lambda i, j: i)],
                                  out_specs=BlockSpec((4,), lambda i, j: i))(X), [nan] * 8),
    "squeezed": (lambda: blocks(lambda x, o: put(o, x[...] * 2), f32(2, 4), 2, ROW,
                                out_specs=BlockSpec((squeezed, 4), lambda i: (i, 0)))(X.reshape(2, 4)), 2 * X.reshape(2, 4)),
    "elements": (lambda: blocks(copy, f32(3, 4), 3, BlockSpec((Element(4),), lambda i: i * 2), out_specs=ROW)(X),
                 [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]),
    "padded elements": (lambda: blocks(copy, f32(3, 4), 3, BlockSpec((Element(4, (1, 3)),), lambda i: i * 3), out_specs=ROW)(X),
                        [[nan, 0, 1, 2], [2, 3, 4, 5], [5, 6, 7, nan]]),
    "index maps that compute": (lambda: blocks(copy, f32(8), 2, BlockSpec((4,), lambda i: jnp.where(i == 0, 1, 0)), out_specs=rows(4))(X),
                                [4, 5, 6, 7, 0, 1, 2, 3]),
    "two axes, the last one fastest": (lambda: run(
        lambda o: put(o, jnp.full((1, 1), 10 * program_id(0) + program_id(1) + 100 * num_programs(1))), i32(2, 3), grid=(2, 3),
        out_specs=BlockSpec((1, 1), lambda i, j: (i, j)))(), [[300, 301, 302], [310, 311, 312]]),
    "scratch": (lambda: blocks(accumulate, f32(4), 2, rows(4), out_specs=BlockSpec((4,)), scratch_shapes=[VMEM((4,), np.float32)])(X),
                [4, 6, 8, 10]),
    "scratch by name": (lambda: run(lambda x, o, s: (put(s, x[...]), put(o, s[...])), f32(8), scratch_shapes={"s": VMEM((8,), np.float32)})(X), X),
    "operand and result in one": (lambda: run(lambda x, o: put(o, x[...] + 1), f32(8), grid=3, input_output_aliases={0: 0})(X), X + 3),
    "a part of it": (lambda: run(lambda x, o: put(o.at[ds(0, 2)], x[0:2] * 10), f32(8), input_output_aliases={0: 0})(X),
                     [0, 10, 2, 3, 4, 5, 6, 7]),
    "in any memory": (lambda: run(lambda x, o: put(o.at[ds(0, 2)], x[0:2] + 10), f32(8), grid=2, in_specs=[BlockSpec(memory_space=ANY)],
                                  out_specs=BlockSpec(memory_space=ANY), input_output_aliases={0: 0})(X), [20, 21, 2, 3, 4, 5, 6, 7]),
    "with other padding than its result": (lambda: blocks(
        lambda x, o: put(o, x[...][:4]), f32(8), 2, BlockSpec((Element(5, (1, 1)),), lambda i: i * 4), out_specs=rows(4),
        input_output_aliases={0: 0})(X), [nan, 0, 1, 2, 2, 4, 5, 6]),
    "an operand that the kernel changes": (lambda: run(lambda x, o: (put(x, x[...] * 2), copy(x, o)), f32(8), grid=2)(X), 4 * X),
    "scalars for index maps": (lambda: prefetch(lambda s, x, o: put(o, x[...] + s[0]), f32(8), lambda i, s: s[i])(
        np.array([1, 0], np.int32), X), [5, 6, 7, 8, 1, 2, 3, 4]),
    "a traced size": (lambda: jit(lambda n: run(lambda x, o: put(o, o[...] + num_programs(0).astype(np.float32)), f32(8), grid=(n,),
                                                input_output_aliases={0: 0})(X))(3), X + 9),
    "pytrees": (lambda: run(lambda x, o: put(o["sum"], x["u"][...] + x["v"][...]), {"sum": f32(8)})({"u": X, "v": X})["sum"], 2 * X),
    "several results": (lambda: jnp.stack(run(lambda x, a, b: (copy(x, a), put(b, -x[...])), [f32(8), X])(X)), [X, -X]),
    "index maps that ask for the step": (lambda: blocks(copy, f32(8), 2, BlockSpec((4,), lambda i: num_programs(0) - 1 - program_id(0)),
                                                        out_specs=rows(4))(X), [4, 5, 6, 7, 0, 1, 2, 3]),
    "other without a mask": (lambda: run(lambda x, o: put(o, load(x, ..., other=1.0)), f32(8))(X), X),
    "masked load": (lambda: run(lambda x, o: put(o, load(x, lax.iota(np.int32, 8) + 4, mask=lax.iota(np.int32, 8) < 4, other=7)), f32(8))(X),
                    [4, 5, 6, 7, 7, 7, 7, 7]),
    "masked load of a slice over the end": (lambda: run(lambda x, o: put(o, load_view(
        x.at[ds(program_id(0) + 6, 8)], mask=lax.iota(np.int32, 8) < 2)), f32(8), grid=1)(X), [6, 7, 0, 0, 0, 0, 0, 0]),
    "masked load of rows and columns": (lambda: run(lambda x, o: put(o, load(
        x, (ds(program_id(0) + 1, 2), ds(program_id(0) + 2, 4)), mask=jnp.reshape(lax.iota(np.int32, 8) % 4 < 2, (2, 4)), other=-1)),
        f32(2, 4), grid=1)(X.reshape(2, 4)), [[6, 7, -1, -1], [0, 0, -1, -1]]),
    "masked store": (lambda: run(lambda x, o: store_view(o.at[ds(program_id(0) + 6, 8)], x[...], mask=lax.iota(np.int32, 8) < 2), f32(8),
                                 grid=1)(X), [nan] * 6 + [0, 1]),
    "masked store of everything": (lambda: run(lambda x, o: store(o, ..., x[...], mask=x[...] > 3), f32(8))(X), [nan] * 4 + [4, 5, 6, 7]),
    "swap": (lambda: jnp.stack(run(lambda x, a, b: (put(a, 1.0 + x[...] * 0), put(b, swap(a, ..., x[...]))), [f32(8)] * 2)(X)), [X, X * 0 + 1]),
    "atomics": (lambda: run(lambda x, o: (put(o, x[...]), atomic_add(o, lax.iota(np.int32, 4) // 2, 10.0), atomic_max(
        o, lax.iota(np.int32, 4) + 4, 5.5, mask=lax.iota(np.int32, 4) < 3)), f32(8))(X), [20, 21, 2, 3, 5.5, 5.5, 6, 7]),
    "atomics on bits": (lambda: run(lambda o: (put(o, jnp.full(2, 4)), atomic_or(o, ..., 1)), i32(2))(), [5, 5]),
    "compare and swap": (lambda: jnp.stack(run(lambda a, b: (put(a, 3), put(b, atomic_cas(a, 3, 4))), [i32()] * 2)()), [4, 3]),
    "copies": (lambda: run(lambda x, o: (sync_copy(x.at[ds(2, 4)], o), sync_copy(x.at[ds(0, 4)], o, add=True)), f32(4),
                           in_specs=[BlockSpec(memory_space=ANY)])(X), [2, 4, 6, 8]),
    "a loop": (lambda: run(lambda x, o: (copy(x, o), loop(0, 6, step=2)(lambda i: put(o, o[...] + i.astype(np.float32)))), f32(8))(X), X + 6),
    "a loop with a carry": (lambda: run(lambda x, o: put(o, loop(1, 4, init_carry=x[...])(lambda i, c: c * i)), f32(8))(X), 6 * X),
    "memory of its own": (lambda: run(lambda x, o: put(o, run_scoped(lambda r: (put(r, x[...]), r[...] * 2)[1], VMEM((8,), np.float32))),
                                      f32(8))(X), 2 * X),
    "memory for a function of arguments": (lambda: run(lambda x, o: put(o, with_scoped(VMEM((8,), np.float32))(lambda n, r: (put(r, x[...]), r[...] * n)[1])(3)),
                                                       f32(8))(X), 3 * X),
    "watched": (lambda: run(lambda x, o: (debug_check(x[0] < 0, "no"), trace_value("first", x[0]), copy(x, o)), f32(8))(X), X),
    "which holds nothing at first": (lambda: run(lambda x, o: run_scoped(lambda r: copy(r, o), VMEM((8,), np.float32)), f32(8))(X), [nan] * 8),
    "condition known": (lambda: run(lambda x, o: (when(True)(lambda: copy(x, o)), when(False)(lambda: put(o, -x[...]))), f32(8))(X), X),
    "scalar constants": (lambda: run(lambda x, o: put(o, x[...] * jnp.float32(2) + TWO), f32(8))(X), 2 * X + 2),
    "hints": (lambda: run(lambda x, o: put(o, x[ds(multiple_of(max_contiguous(program_id(0), 1) * 4, 4), 4)]), f32(4), grid=1)(X), X[:4]),
    "rolled": (lambda: tpu.roll(X.reshape(2, 4), 1, 1, stride=1, stride_axis=0), [[3, 0, 1, 2], [6, 7, 4, 5]]),
    "bits": (lambda: tpu.bitcast(tpu.bitcast(X.reshape(8, 1), np.uint16), np.float32), X.reshape(8, 1)),
    "bits of a vector": (lambda: tpu.bitcast(tpu.bitcast(X, np.uint16, dim=-1), np.float32, dim=-1), X),
    "bits along the last axis": (lambda: tpu.bitcast(X.reshape(2, 4), np.uint16, dim=1).shape, [2, 8]),
    "axes by an equation": (lambda: einshape("(ab)c->b(ca)", X.reshape(4, 2), a=2), X.reshape(2, 2, 2).transpose(1, 2, 0).reshape(2, 4)),
    "axes in another order": (lambda: einshape("a b -> b a", X.reshape(4, 2)), X.reshape(4, 2).T),
    "triton's dot": (lambda: triton.dot(X.reshape(4, 2), X.reshape(2, 4), trans_a=True, trans_b=True), X.reshape(4, 2).T @ X.reshape(2, 4).T),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case):
    function, expected = VALUES[case]
    np.testing.assert_array_equal(np.asarray(function()), np.asarray(expected))


@pytest.mark.parametrize("case", VALUES)
def test_values_where_numbers_are_wide(case):
    """Indices of steps stay int32, so a kernel that mixes them with others does not depend on the mode."""
    function, expected = VALUES[case]
    with flags.enable_x64(True):
        np.testing.assert_array_equal(np.asarray(function()), np.asarray(expected))


LOOSE = InterpretParams(out_of_bounds_reads="uninitialized")
BEYOND = {  # a kernel whose step 1 leaves its reference of 8, and what is read where that is allowed
    "a slice": (lambda x, o: put(o, x[ds(5 * program_id(0), 4)]), [5, 6, 7, nan]),
    "before the beginning": (lambda x, o: put(o, x[ds(-1 * program_id(0), 4)]), [nan, 0, 1, 2]),
    "an element": (lambda x, o: put(o, jnp.full(4, x[8 * program_id(0)])), [nan] * 4),
    "with a stride": (lambda x, o: put(o, x[ds(4 * program_id(0), 4, stride=2)]), [4, 6, nan, nan]),
    "in a branch": (lambda x, o: when(program_id(0) == 1)(lambda: put(o, x[ds(5 * program_id(0), 4)])), [5, 6, 7, nan]),
    "in a loop": (lambda x, o: put(o, loop(0, 2, init_carry=jnp.zeros(4))(lambda i, c: c + x[ds(5 * program_id(0) * i, 4)])), [5, 7, 9, nan]),
}


@pytest.mark.parametrize("case", BEYOND)
def test_reads_beyond_the_end(case):
    kernel, expected = BEYOND[case]
    f = lambda params, grid: run(kernel, f32(4), grid=grid, interpret=params)(X)
    np.testing.assert_array_equal(f(LOOSE, 2), expected)
    with pytest.raises(Exception, match="a kernel reads the part .* beyond its end"):
        np.asarray(f(InterpretParams(), 2))
    f(InterpretParams(), 1)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_arrays_without_elements(shape):
    x = np.zeros(shape, np.float32)
    assert run(lambda x, o: copy(x, o), f32(*shape))(x).shape == shape
    assert run(lambda x, o: o.__setitem__(..., jnp.sum(x[...]) + 2), f32())(x) == 2


def test_stores_beyond_the_end():
    def kernel(x, o, add):
        copy(x, o)
        if add:
            o[ds(5 * program_id(0), 4)] += x[ds(0, 4)]
        else:
            o[ds(5 * program_id(0), 4)] = x[ds(0, 4)]
    for params in LOOSE, InterpretParams():
        for add in False, True:
            f = lambda grid: run(lambda x, o: kernel(x, o, add), f32(8), grid=grid, interpret=params)(X)
            with pytest.raises(Exception, match="a kernel (stores|reads) the part .* beyond its end"):
                np.asarray(f(2))
            np.testing.assert_array_equal(f(1), [0, 2, 4, 6, 4, 5, 6, 7] if add else X)


def test_an_asynchronous_copy_with_a_semaphore():
    def kernel(x, out, semaphore):
        copy = make_async_copy(x.at[ds(2, 4)], out, semaphore)
        copy.start()
        copy.wait()
    f = run(kernel, f32(4), in_specs=[BlockSpec(memory_space=ANY)], scratch_shapes=[SemaphoreType.DMA])
    np.testing.assert_array_equal(f(X), X[2:6])


def test_semaphores_count():
    def kernel(out, semaphores):
        semaphore_signal(semaphores.at[1], 3)
        semaphore_wait(semaphores.at[1], 1)
        semaphore_wait(semaphores.at[1], 2, decrement=False)
        out[0], out[1] = semaphore_read(semaphores.at[0]), semaphore_read(semaphores.at[1])
    np.testing.assert_array_equal(run(kernel, i32(2), scratch_shapes=[SemaphoreType.REGULAR((2,))])(), [0, 2])


def piped(body, grid, in_specs, out_specs, out=None, **options):
    """A kernel that is nothing but a pipeline, on whole arrays."""
    whole = BlockSpec(memory_space=ANY)
    return run(lambda *refs: emit_pipeline(body, grid=grid, in_specs=in_specs, out_specs=out_specs)(*refs), out or f32(8), in_specs=[whole] * len(in_specs),
               out_specs=whole, **options)


PIPELINES = {
    "blocks": (lambda: piped(lambda x, o: put(o, x[...] + program_id(0)), (2,), [rows(4)], [rows(4)])(X), X + STEP),
    "one step": (lambda: piped(copy, (1,), [rows(8)], [rows(8)])(X), X),
    "blocks that stay": (lambda: piped(lambda x, y, o: put(o, x[...] + y[...]), (2,), [BlockSpec((4,), lambda i: 0), rows(4)], [rows(4)])(X, X),
                         np.concatenate([X[:4], X[:4]]) + X),
    "a result that stays": (lambda: piped(lambda x, o: put(o, jnp.where(program_id(1) == 0, 0.0, o[...]) + x[...]), (2, 2), [
        BlockSpec((2,), lambda i, j: (2 * i + j,))], [BlockSpec((2,), lambda i, j: (i,))], f32(4))(X), X.reshape(2, 2, 2).sum(1).ravel()),
    "a size known at run time": (lambda: run(
        lambda n, x, o: emit_pipeline(copy, grid=(n[0],), in_specs=[rows(2)], out_specs=[rows(2)])(x, o), f32(8),
        in_specs=[BlockSpec(), BlockSpec(memory_space=ANY)], out_specs=BlockSpec(memory_space=ANY))(np.int32([3]), X), [*X[:6], nan, nan]),
    "over the end": (lambda: piped(lambda x, o: put(o, x[...] + program_id(0)), (3,), [rows(3)], [rows(3)])(X), X + [0, 0, 0, 1, 1, 1, 2, 2]),
    "over the end by two axes": (lambda: piped(lambda x, o: put(o, 2 * x[...]), (2, 2), *[[BlockSpec((4, 2), lambda i, j: (i, j))]] * 2, f32(5, 3))(
        np.arange(15, dtype=np.float32).reshape(5, 3)), 2 * np.arange(15).reshape(5, 3)),
    "a block longer than the array": (lambda: piped(copy, (1,), [rows(9)], [rows(9)])(X), X),
    "no steps": (lambda: piped(copy, (0,), [rows(4)], [rows(4)])(X), [nan] * 8),
}


@pytest.mark.parametrize("case", PIPELINES)
def test_pipelines(case):
    function, expected = PIPELINES[case]
    np.testing.assert_array_equal(np.asarray(function()), np.asarray(expected))


def test_random_bits():
    """The state goes from step to step; the same seed gives the same bits, and each draw others."""
    def kernel(out):
        when(program_id(0) == 0)(lambda: prng_seed(7, 1))
        out[...] = stateful_uniform((1, 1000))
    draw = lambda: np.asarray(run(kernel, f32(50, 1000), grid=50, out_specs=BlockSpec((1, 1000), lambda i: (i, 0)))())
    first = draw()
    np.testing.assert_array_equal(first, draw())
    assert abs(first.mean() - 0.5) < 0.01 and abs(first.var() - 1 / 12) < 0.001 and first.min() >= 0 and first.max() < 1
    assert len(np.unique(first)) > 0.99 * first.size and np.abs(np.corrcoef(first) - np.eye(50)).max() < 0.25
    bits = run(lambda o: (prng_seed(1), put(o, prng_random_bits((8,))), prng_seed(2), put(o, o[...] ^ prng_random_bits((8,)))), i32(8))()
    assert np.all(np.asarray(bits) != 0)
    assert run(lambda o: (prng_seed(1), put(o, stateful_bits((8,), np.uint8))), ShapeDtypeStruct((8,), np.uint8))().max() > 15


@pytest.mark.only_cpu
def test_kernels_that_are_interpreted_as_a_whole():
    f = lambda: call.pallas_call(copy, f32(8))(X)
    with force_tpu_interpret_mode(InterpretParams()):
        np.testing.assert_array_equal(f(), X)
    with pytest.raises(ValueError, match="Only interpret mode is supported on CPU backend"):
        f()
    set_tpu_interpret_mode()
    try:
        np.testing.assert_array_equal(f(), X)
    finally:
        set_tpu_interpret_mode(None)
    with pytest.raises(ValueError, match="Only interpret mode is supported on CPU backend"):
        f()


def test_a_forward_derivative_through_a_copy():
    def kernel(x, out):
        run_scoped(lambda memory: (sync_copy(x.at[ds(4, 4)], memory), put(out, memory[...] ** 2))[0], VMEM((4,), np.float32))
    f = run(kernel, f32(4), in_specs=[BlockSpec(memory_space=ANY)])
    np.testing.assert_array_equal(jvp(f, (X,), (X + 1,))[1], (2 * X * (X + 1))[4:])
    np.testing.assert_array_equal(vmap(f)(np.stack([X, -X, X + 1])), np.stack([X, X, X + 1])[:, 4:] ** 2)


# -- transformations ---------------------------------------------------------------------------------------------------

def scaled(x, y, out):
    out[...] = x[...] * y[...] + program_id(0)


SCALED = blocks(scaled, f32(8), 2, rows(4), rows(4), out_specs=rows(4))


def test_under_jit_a_kernel_is_traced_once():
    traced = []

    def kernel(x, out):
        traced.append(None)
        out[...] = x[...]
    call_of_kernel = run(kernel, f32(8))
    f = jit(lambda x: call_of_kernel(call_of_kernel(x)))
    f(X), f(X + 1)
    assert len(traced) == 1
    f = jit(lambda x: call_of_kernel(x))
    f(X)
    assert len(traced) == 1


@pytest.mark.parametrize("in_axes, y", [((0, 0), np.stack([X + 1, X])), ((1, None), X + 1), ((None, 0), np.stack([X, X]))])
def test_vmap_adds_a_grid_axis(in_axes, y):
    x = {0: np.stack([X, 2 * X]), 1: np.stack([X, 2 * X], 1), None: X}[in_axes[0]]
    expected = vmap(lambda x, y: x * y + STEP, in_axes)(x, y)
    np.testing.assert_array_equal(vmap(SCALED, in_axes)(x, y), expected)
    np.testing.assert_array_equal(jit(vmap(vmap(SCALED, in_axes), (None, None), axis_size=3))(x, y)[2], expected)


def test_vmap_keeps_scratch_and_aliases_of_each_lane():
    f = blocks(accumulate, f32(4), 2, rows(4), out_specs=BlockSpec((4,)), scratch_shapes=[VMEM((4,), np.float32)])
    np.testing.assert_array_equal(vmap(f)(np.stack([X, 3 * X])), [[4, 6, 8, 10], [12, 18, 24, 30]])
    g = run(lambda x, y, o: put(o, x[...] + y[...]), f32(8), input_output_aliases={0: 0})
    np.testing.assert_array_equal(vmap(g, (None, 0))(X, np.stack([X, 2 * X])), [2 * X, 3 * X])


@pytest.mark.parametrize("in_axes", [(None, 0), (0, None), (0, 0)])
def test_vmap_with_scalars_for_index_maps(in_axes):
    f = prefetch(lambda s, x, o: put(o, x[...] + s[0]), f32(8), lambda i, s: s[i])
    s, x = np.int32([[1, 0], [0, 1]]), np.stack([X, 2 * X])
    s, x = (a if i == 0 else a[0] for a, i in zip((s, x), in_axes))
    lanes = [f(s[k] if in_axes[0] == 0 else s, x[k] if in_axes[1] == 0 else x) for k in range(2)]
    np.testing.assert_array_equal(vmap(f, in_axes)(s, x), lanes)


def test_forward_derivatives():
    t = np.float32(np.linspace(1, 2, 8))
    out, tangent = jvp(SCALED, (X, X + 2), (t, t))
    np.testing.assert_array_equal(out, X * (X + 2) + STEP)
    np.testing.assert_allclose(tangent, t * (X + 2) + X * t, rtol=1e-6)
    np.testing.assert_allclose(jvp(lambda x: SCALED(x, X), (X,), (t,))[1], t * X, rtol=1e-6)
    np.testing.assert_allclose(vmap(lambda t: jvp(lambda x: SCALED(x, X), (X,), (t,))[1])(np.stack([t, t])), [t * X] * 2, rtol=1e-6)
    second = jvp(lambda x: jvp(lambda y: SCALED(y, y), (x,), (t,))[1], (X,), (t,))[1]
    np.testing.assert_allclose(second, 2 * t * t, rtol=1e-6)
    ruled = run(lambda x, o: put(o, jnp.logaddexp(x[...], 0)), f32(8))  # a function with a rule of its own, which gets the 0 as an array
    np.testing.assert_allclose(jvp(ruled, (X,), (t,))[1], t / (1 + np.exp(-X)), rtol=1e-6)


def test_forward_derivatives_through_scratch_and_aliases():
    f = blocks(accumulate, f32(4), 2, rows(4), out_specs=BlockSpec((4,)), scratch_shapes=[VMEM((4,), np.float32)])
    np.testing.assert_array_equal(jvp(f, (X,), (2 * X,))[1], [8, 12, 16, 20])
    g = run(lambda x, y, o: put(o, x[...] * y[...]), f32(8), grid=2, input_output_aliases={0: 0})
    np.testing.assert_array_equal(jvp(g, (X, X), (X, 0 * X))[1], X ** 3)
    np.testing.assert_array_equal(jvp(lambda y: g(X, y), (X,), (X,))[1], 2 * X ** 3)


def test_reverse_derivatives_by_a_rule():
    f = custom_vjp(lambda x, y: SCALED(x, y))
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda kept, ct: (SCALED(ct, kept[1]), SCALED(ct, kept[0])))
    np.testing.assert_array_equal(grad(lambda x: f(x, X).sum())(X), X + STEP)


@pytest.mark.parametrize("derivative", [lambda f: grad(lambda x: f(x).sum())(X), lambda f: vjp(f, X), lambda f: linearize(f, X),
                                        lambda f: jit(grad(lambda x: f(x).sum()))(X)])
def test_reverse_derivatives_without_a_rule_are_an_error(derivative):
    with pytest.raises(ValueError, match=r"^pallas_call quiet: a kernel has no reverse derivative, .* jax\.custom_vjp"):
        derivative(run(lambda x, o: put(o, jnp.sin(x[...])), f32(8)))


# -- errors ------------------------------------------------------------------------------------------------------------

def failing(**options):
    return lambda: run(copy, f32(8), grid=2, **{"in_specs": [rows(4)], "out_specs": rows(4), **options})(X)


C = np.arange(2)
ERRORS = {
    "random bits outside of a kernel": (lambda: prng_random_bits((2,)), ValueError, "prng_random_bits was called outside of a kernel"),
    "a seed of halves": (lambda: run(lambda o: prng_seed(0.5), f32(8))(), ValueError, r"prng_seed: float32\[\] was given as a seed"),
    "long random bits": (lambda: run(lambda o: stateful_bits((8,), np.int32), f32(8))(), ValueError, "stateful_bits: int32 was asked for"),
    "a pipeline by elements": (lambda: piped(copy, (2,), [BlockSpec((Element(4),), lambda i: i)], [rows(4)])(X), NotImplementedError,
                               r"emit_pipeline, reference 0: blocks \(Element"),
    "a pipeline of other references": (lambda: piped(copy, (2,), [rows(4)], [rows(4), rows(4)])(X), ValueError,
                                       "emit_pipeline: 2 references were given, and there are 1 in_specs and 2 out_specs"),
    "an index map of a pipeline": (lambda: piped(copy, (2,), [BlockSpec((4,), lambda i: (i, i))], [rows(4)])(X), ValueError,
                                   "emit_pipeline, reference 0: its index map must return 1 indices, and returned 2"),
    "a pipeline on cores, of which no axis is parallel": (lambda: emit_pipeline(copy, grid=2, core_axis=0), NotImplementedError,
                                                          r"emit_pipeline: the steps of grid=\(2,\) with dimension_semantics=None cannot be divided"),
    "a copy to another shape": (lambda: run(lambda x, o: sync_copy(x.at[ds(0, 2)], o), f32(8))(X), ValueError,
                                r"a copy from float32\[2\] to float32\[8\]"),
    "a copy with an array of semaphores": (lambda: run(lambda x, o, s: make_async_copy(x, o, s).start(), f32(8), scratch_shapes=[SemaphoreType.DMA((2,))])(X),
                                           ValueError, "a copy signals one semaphore"),
    "a copy with a semaphore for counting": (lambda: run(lambda x, o, s: make_async_copy(x, o, s).wait(), f32(8), scratch_shapes=[SemaphoreType.REGULAR])(X),
                                             ValueError, "a copy signals one semaphore for copies"),
    "a check of many": (lambda: run(lambda x, o: debug_check(x[...] > 0, "no"), f32(8))(X), TypeError, r"debug_check: bool\[8\] was given"),
    "a trace of many": (lambda: run(lambda x, o: trace_value("x", x[...]), f32(8))(X), ValueError, r"trace_value: float32\[8\] was given"),
    "memory that has ended": (lambda: run(lambda x, o: put(o, run_scoped(lambda a: a, VMEM((8,), np.float32))[...]), f32(8))(X), ValueError,
                              "run_scoped: the function returned a reference"),
    "semantics of other axes": (lambda: run(copy, f32(8), interpret=False, compiler_params=tpu.CompilerParams(dimension_semantics=("parallel",))), ValueError,
                                "pallas_call quiet: dimension_semantics has 1 entries, and the grid 0 axes"),
    "a semaphore that is none": (lambda: run(lambda x, o: semaphore_signal(x.at[0]), f32(8))(X), ValueError, "semaphore_signal: a reference of type"),
    "half a step of a semaphore": (lambda: run(lambda x, o, s: semaphore_wait(s, 0.5), f32(8), scratch_shapes=[SemaphoreType.REGULAR])(X), ValueError,
                                   r"semaphore_wait: float32\[\] was given to count by"),
    "a semaphore of another device": (lambda: run(lambda x, o, s: semaphore_signal(s, device_id=1), f32(8), scratch_shapes=[SemaphoreType.REGULAR])(X),
                                      ValueError, "semaphore_signal: there are no other devices here"),
    "a semaphore of another core": (lambda: run(lambda x, o, s: semaphore_signal(s, core_index=1), f32(8), scratch_shapes=[SemaphoreType.REGULAR])(X),
                                    NotImplementedError, "semaphore_signal: interpreted with interpret=True"),
    "no interpreter": (lambda: run(copy, f32(8), interpret=False)(X), ValueError, "pallas_call quiet: .*Pass interpret=True"),
    "rank of a block": (failing(in_specs=[BlockSpec((4, 1), lambda i: (i, 0))]), ValueError,
                        r"pallas_call quiet, args\[0\]: its block shape \(4, 1\) has 2 dimensions, and the array float32\[8\] has 1"),
    "length of a block": (failing(out_specs=BlockSpec((0,), lambda i: i)), ValueError, "pallas_call quiet, out_shape: .* below one"),
    "entry of a block": (failing(in_specs=[BlockSpec((2.5,), lambda i: i)]), ValueError, r"pallas_call quiet, args\[0\]: 2.5 "),
    "bounded slice": (failing(in_specs=[BlockSpec((BoundedSlice(4),), lambda i: i)]), ValueError, ".* is no length of a block"),
    "no spec": (failing(in_specs=[3]), TypeError, r"pallas_call quiet, args\[0\]: 3 of type int is no pl.BlockSpec"),
    "arguments of an index map": (failing(in_specs=[BlockSpec((4,), lambda i, j: i)]), TypeError,
                                  r".* must take 1 positional arguments, .*; it takes \(i, j\)\."),
    "results of an index map": (failing(in_specs=[BlockSpec((4,), lambda i: (i, 0))]), ValueError, ".* must return 1 indices .* returned 2"),
    "floating index": (failing(in_specs=[BlockSpec((4,), lambda i: i * 1.0)]), ValueError, ".* must be an integer scalar, got float32"),
    "text as an index": (failing(in_specs=[BlockSpec((4,), lambda i: "i")]), TypeError, ".* must be an integer scalar, got 'i' of type str"),
    "a block and its map exchanged": (lambda: BlockSpec(lambda i: i, (4,)), TypeError, ".*the shape of a block stands first"),
    "rows of a vector's bits": (lambda: tpu.bitcast(X, np.uint16), ValueError, r"pltpu.bitcast: float32\[8\] to uint16: there is no axis -2"),
    "an equation without an arrow": (lambda: einshape("ab", X), ValueError, "einshape 'ab': an equation has the form"),
    "an equation's signs": (lambda: einshape("a,b->ab", X), ValueError, ".*'a,b' has ','"),
    "an equation's axes": (lambda: einshape("ab->ba", X), ValueError, ".*its left side has 2 axes"),
    "an unknown letter": (lambda: einshape("a->ab", X), ValueError, ".*: b on the right side is not on the left"),
    "a lost letter": (lambda: einshape("(ab)->a", X, a=2), NotImplementedError, ".*each letter stands once on each side"),
    "two lengths that are not said": (lambda: einshape("(ab)->ab", X), ValueError, ".*an axis of length 8 is to be split into a, b"),
    "lengths that do not divide": (lambda: einshape("(ab)->ab", X, a=3), ValueError, ".*cannot be split into a, b with the sizes"),
    "a letter of two lengths": (lambda: einshape("aab->ab", X.reshape(2, 4, 1)), ValueError, ".*a would have the lengths 2 and 4"),
    "an index map's constant": (failing(in_specs=[BlockSpec((4,), lambda i: jnp.take(C, i))]), ValueError, ".* closes over arrays"),
    "number of specs": (failing(in_specs=[rows(4)] * 2), ValueError, "pallas_call quiet: in_specs must have the structure of the operands"),
    "number of results' specs": (failing(out_specs=[rows(4)] * 2), ValueError, "pallas_call quiet: out_specs must have the structure of out_shape"),
    "grid": (lambda: run(copy, f32(8), grid=(2.0,)), ValueError, "pallas_call quiet: the grid .* has 2.0 of type float"),
    "grid twice": (lambda: run(copy, f32(8), grid=2, grid_spec=GridSpec(2)), ValueError, "pallas_call quiet: grid_spec holds grid"),
    "scalars": (lambda: run(copy, f32(8), grid_spec=PrefetchScalarGridSpec(3))(X), ValueError, "pallas_call quiet: the grid has 3 scalar operands"),
    "out_shape": (lambda: run(copy, 3), ValueError, "pallas_call quiet: out_shape has 3 of type int"),
    "a reference": (lambda: run(copy, f32(8))(new_ref(X)), TypeError, "pallas_call quiet: an operand is a mutable reference"),
    "an object": (lambda: run(copy, f32(8))("x"), TypeError, r"pallas_call quiet: args\[0\] is 'x' of type str"),
    "result of a kernel": (lambda: call.pallas_call(lambda x, o: x[...], f32(8), interpret=True)(X), ValueError,
                           "pallas_call <lambda>: the kernel .* must return None"),
    "a kernel's constant": (lambda: run(lambda x, o: put(o, x[...] + jnp.take(C, 0)), f32(8))(X), ValueError,
                            "pallas_call quiet: the kernel .* closes over arrays"),
    "dtype stored": (lambda: run(copy, i32(8))(X), ValueError, "ref.swap: a value of dtype float32 cannot be stored"),
    "shape stored": (lambda: run(copy, f32(4))(X), ValueError, r"ref.swap: a value of shape \(8,\) cannot be stored"),
    "alias of an operand": (lambda: run(copy, f32(8), input_output_aliases={1: 0})(X), ValueError, ".* input_output_aliases says 1: 0"),
    "alias of a result": (lambda: run(copy, f32(8), input_output_aliases={0: 1})(X), ValueError, ".* input_output_aliases says 0: 1"),
    "alias of another type": (lambda: run(lambda x, o: None, f32(4), input_output_aliases={0: 0})(X), ValueError, ".* the operand is float32"),
    "outside": (lambda: program_id(0), ValueError, r"program_id\(0\) was called outside of a kernel"),
    "axis": (lambda: run(lambda x, o: put(o, x[...] + num_programs(1)), f32(8), grid=1)(X), ValueError, "num_programs: axis 1 is out of bounds"),
    "an option of the interpreter": (lambda: InterpretParams(uninitialized_memory="one"), ValueError, "InterpretParams: uninitialized_memory='one'; it is one of 'nan', 'zero'"),
    "no core": (lambda: InterpretParams(num_cores_or_threads=0), ValueError, "InterpretParams: num_cores_or_threads=0"),
    "load of a value": (lambda: load(X, 0), ValueError, "load must be called on a reference"),
    "atomic bits of floats": (lambda: run(lambda x, o: atomic_or(o, ..., 1.0), f32(8))(X), TypeError, "atomic_or: the reference holds float32"),
    "scratch": (lambda: run(copy, f32(8), scratch_shapes=[3])(X), TypeError, "pallas_call quiet: 3 of type int does not say what memory"),
    "semantics": (lambda: tpu.CompilerParams(dimension_semantics=("any",)), ValueError, "pltpu.CompilerParams: dimension_semantics has 'any'"),
    "warps": (lambda: triton.CompilerParams(num_warps=0), ValueError, "triton.CompilerParams: num_warps=0"),
    "hint": (lambda: multiple_of(1.5, 2), TypeError, "multiple_of is said of integers"),
    "power": (lambda: next_power_of_2(-1), ValueError, "next_power_of_2: -1 is negative"),
}


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.only_cpu if case == "no interpreter" else ()) for case in ERRORS])
def test_errors(case):
    function, kind, message = ERRORS[case]
    with pytest.raises(kind, match="^" + message):
        function()


# -- the rest ----------------------------------------------------------------------------------------------------------

def test_sizes():
    assert (cdiv(7, 2), align_to(5, 4), next_power_of_2(5), next_power_of_2(8), next_power_of_2(0)) == (4, 8, 8, 8, 1)
    assert strides_from_shape((2, 3, 4)) == (12, 4, 1)
    assert cdiv(jnp.int32(7), 2).dtype == np.int32


def test_programs_of_equal_structure_are_equal():
    def make(n):
        return call._program("f", lambda x, o: put(o, x[...] + n), GridSpec((2,), [rows(4)], rows(4)), (2,), (X[:4],), f32(8),
                             call.tree.structure(0), [call._result_type("f", f32(8))], {}, call.Options("f"))[0]
    first, same, other = make(1), make(1), make(2)
    assert first == same and hash(first) == hash(same) and first != other


def test_debug_prints_the_kernel(capsys):
    run(copy, f32(8), debug=True)(X)
    assert "args[0]: float32[8]" in capsys.readouterr().out


def test_cost():
    found = estimate_cost(lambda x: jnp.exp(x @ x.T), np.ones((4, 8), np.float32))
    assert (found.flops, found.transcendentals, found.bytes_accessed) == (256, 16, 192)
    assert estimate_cost(lambda x: lax.fori_loop(0, 3, lambda i, c: c + c, x), ShapeDtypeStruct((4,), np.float32)).flops >= 12


def test_scalar_memory():
    f = run(lambda x, o: put(o.at[0], x[program_id(0)]), f32(1), grid=3, in_specs=[BlockSpec(memory_space=SMEM)],
            out_specs=BlockSpec(memory_space=SMEM))
    np.testing.assert_array_equal(f(X), [2])
