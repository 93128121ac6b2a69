"""The kernels of `examples/kernels.py` by the interpreter against plain functions, and their modules for Mosaic and Triton, which no device is needed for.

That the vendors' compilers take them is tested in `tests/accel`.
"""
import functools
import importlib.util
import pathlib
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
import kernel_machine
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu, triton
from jax_xla_backend.kernels import mosaic

pytestmark = pytest.mark.any_code

SPEC = importlib.util.spec_from_file_location("kernels", pathlib.Path(__file__).parents[1] / "examples" / "kernels.py")
kernels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kernels)
X, Y = np.random.default_rng(0).normal(size=(2, 64, 32)).astype(np.float32)
QKV = tuple(np.random.default_rng(1).normal(size=(3, 2, 32, 16)).astype(np.float32))


def layer_norm(x, scale, offset):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + offset


CASES = {
    "add": (lambda i: kernels.add(X, Y, 16, i), lambda: X + Y),
    "softmax": (lambda i: kernels.softmax(X[:60], 16, i), lambda: jax.nn.softmax(X[:60])),
    "layer_norm": (lambda i: kernels.layer_norm(X, X[:1], Y[:1], 16, interpret=i), lambda: layer_norm(X, X[:1], Y[:1])),
    "matmul": (lambda i: kernels.matmul(X[:16], Y[:16].T, 16, i), lambda: X[:16] @ Y[:16].T),
    "attention": (lambda i: kernels.attention(*QKV, False, 16, i), lambda: kernels.plain_attention(*QKV)),
    "causal attention": (lambda i: kernels.attention(*QKV, True, 16, i), lambda: kernels.plain_attention(*QKV, True)),
    "gradient of attention": (
        lambda i: jax.grad(lambda q, k, v: jnp.sum(jnp.sin(kernels.attention(q, k, v, True, 16, i))), (0, 1, 2))(*QKV),
        lambda: jax.grad(lambda q, k, v: jnp.sum(jnp.sin(kernels.plain_attention(q, k, v, True))), (0, 1, 2))(*QKV)),
    "mapped": (lambda i: jax.vmap(functools.partial(kernels.softmax, block=16, interpret=i))(np.stack([X, Y])),
               lambda: jax.nn.softmax(np.stack([X, Y]))),
}


@pytest.mark.parametrize("case", CASES)
def test_interpreted(case):
    run, expected = CASES[case]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5), run(True), expected())


def test_operands_that_are_split_over_a_mesh():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    x = jax.device_put(X, jax.NamedSharding(mesh, jax.P("d")))
    run = functools.partial(kernels.softmax, block=16, interpret=True)
    for function in (run, jax.jit(run), jax.shard_map(run, mesh=mesh, in_specs=jax.P("d"), out_specs=jax.P("d"))):
        np.testing.assert_allclose(function(x), jax.nn.softmax(X), rtol=1e-5)


def module(function, *args, platform="tpu"):
    """The program for a platform, in which kernels are compiled to modules of their own."""
    return jax.jit(function).trace(*args).lower(lowering_platforms=(platform,)).as_text()


TARGETS = {"tpu": "@tpu_custom_call", "cuda": "@__gpu$xla.gpu.triton"}
LARGE = np.ones((1024, 256), np.float32)
HEADS = np.ones((2, 256, 128), np.float32)
COMPILED = {
    "add": lambda n: kernels.add(LARGE, LARGE, n), "softmax": lambda n: kernels.softmax(LARGE[:1000], n),
    "layer_norm": lambda n: kernels.layer_norm(LARGE, LARGE[:1], LARGE[:1], n), "matmul": lambda n: kernels.matmul(LARGE, LARGE.T, n),
    "attention": lambda n: kernels.attention(HEADS, HEADS, HEADS, False, n),
    "gradient": lambda n: jax.grad(lambda q: kernels.attention(q, HEADS, HEADS, True, n).sum())(HEADS),
    "mapped": lambda n: jax.vmap(functools.partial(kernels.softmax, block=n))(np.stack([LARGE, LARGE])),
}


@pytest.mark.parametrize("platform, block", [("tpu", 128), ("cuda", 32)])
@pytest.mark.parametrize("case", COMPILED)
def test_modules(case, platform, block):
    """The modules in them are verified as they are made."""
    text = module(lambda: COMPILED[case](block), platform=platform)
    assert text.count(TARGETS[platform]) == {"gradient": 2}.get(case, 1)


def call(kernel, shape=(256, 128), **options):
    def quiet(*refs):
        kernel(*refs)
    return pl.pallas_call(quiet, jax.ShapeDtypeStruct(shape, jnp.float32), **options)


A = jnp.asarray(np.random.default_rng(2).normal(size=(256, 128)).astype(np.float32))
ROWS = pl.BlockSpec((128, 128), lambda i: (i, 0))


def put(ref, value):
    ref[...] = value


def accumulate(x, out, total):
    @pl.when(pl.program_id(0) == 0)
    def _():
        total[...] = jnp.zeros_like(total)
    total[...] += x[...]
    out[...] = total[...]


WHOLE = pl.BlockSpec(memory_space=pl.ANY)


def copied_row(rows, x, out, row, semaphore):
    copy = pltpu.make_async_copy(x.at[rows[pl.program_id(0)]], row, semaphore)
    copy.start()
    copy.wait()
    out[...] = jnp.broadcast_to(row[...], out.shape)


def two_buffers(x, out, buffers, semaphores):
    """Twice ``x``, of which the next rows come while these are worked on."""
    fetch = lambda i: pltpu.make_async_copy(x.at[pl.ds(i * 64, 64)], buffers.at[i % 2], semaphores.at[i % 2])
    fetch(jnp.int32(0)).start()

    @pl.loop(0, 4)
    def _(i):
        pl.when(i < 3)(lambda: fetch(i + 1).start())
        fetch(i).wait()
        out[pl.ds(i * 64, 64), :] = 2 * buffers[i % 2]


def added_products(x, y, out, total):
    @pl.when(pl.program_id(2) == 0)
    def _():
        total[...] = jnp.zeros_like(total)
    total[...] += x[...] @ y[...]

    @pl.when(pl.program_id(2) == 3)
    def _():
        out[...] = total[...]


def start(i):
    """The block of the kernel's own step and the pipeline's."""
    return 2 * pl.program_id(0) + i


KERNELS = {  # what a program is made of
    "scratch and when": (lambda: call(accumulate, (128, 128), grid=2, in_specs=[ROWS], out_specs=pl.BlockSpec((128, 128), lambda i: (0, 0)),
                                      scratch_shapes=[pltpu.VMEM((128, 128), jnp.float32)])(A)),
    "aliases": (lambda: call(lambda x, o: put(o, x[...] + 1), input_output_aliases={0: 0})(A)),
    "scalars": (lambda: call(lambda s, x, o: put(o, x[...] * s[0].astype(jnp.float32)), grid_spec=pltpu.PrefetchScalarGridSpec(
        1, (2,), [pl.BlockSpec((128, 128), lambda i, s: (s[i], 0))], pl.BlockSpec((128, 128), lambda i, s: (i, 0))))(jnp.array([1, 0]), A)),
    "scalar memory": (lambda: call(lambda s, x, o: put(o, x[...] * s[0]), in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec()])(
        jnp.ones(1), A)),
    "branches": (lambda: call(lambda x, o: put(o, jax.lax.switch(pl.program_id(0), [lambda: x[...], lambda: -x[...], lambda: x[...] * 2])),
                              grid=(3,))(A)),
    "a loop that does not count": (lambda: call(lambda x, o: put(o, jax.lax.while_loop(
        lambda c: c[0] < 9.0, lambda c: (c[0] * 2 + 1, c[1] + 1), (0.0, x[...]))[1]))(A)),
    "memory of its own": (lambda: call(lambda x, o: pl.run_scoped(lambda r: (put(r, x[...]), put(o, r[...]))[0],
                                                                  pltpu.VMEM((256, 128), jnp.float32)))(A)),
    "masks": (lambda: call(lambda x, o: (put(o, x[...]), pltpu.store(o, pltpu.load(x, mask=x[...] > 0), mask=x[...] > 1)))(A)),
    "sums": (lambda: call(lambda x, o: put(o, x[...] * x[...].sum() + x[...].max(0, keepdims=True)))(A)),
    "turned": (lambda: call(lambda x, o: put(o, x[...].T), (128, 256))(A)),
    "indices": (lambda: call(lambda x, o: put(o, jnp.where(jax.lax.broadcasted_iota(jnp.int32, (256, 128), 1) > 3, x[...], 0.0)))(A)),
    "functions": (lambda: call(lambda x, o: put(o, jax.nn.silu(x[...]) + jnp.tanh(x[...]) * jax.lax.rsqrt(x[...]) - jnp.abs(-x[...]) +
                                                jnp.clip(x[...], -1, 1) + jnp.sign(x[...]) + jnp.where(~(x[...] > 0), 1, 0)))(A)),
    "added to": (lambda: call(lambda x, o: (put(o, x[...]), jax.ref.addupdate(o, (0,), x[1])))(A)),
    "over the end": (lambda: call(lambda x, o: put(o, x[...]), (250, 100), grid=2, in_specs=[ROWS], out_specs=ROWS)(A[:250, :100])),
    "booleans": (lambda: pl.pallas_call(lambda x, o: put(o, x[...] > 0), jax.ShapeDtypeStruct((256, 128), jnp.bool_))(A)),
    "an empty grid": (lambda: (call(lambda x, o: put(o, x[...]), grid=0)(A), call(lambda x, o: put(o, x[...]))(A))),
    "scatter": (lambda: call(lambda i, x, o: pl.store(o, i[...], x[...], mask=i[...] < 5), (5,))(jnp.arange(8), jnp.ones(8))),
    "atomics": (lambda: call(lambda i, x, o: (triton.atomic_add(o, i[...], x[...]), triton.atomic_xchg(o, i[...], x[...])), (8,))(
        jnp.arange(8), jnp.ones(8))),
    "joined": (lambda: call(lambda x, o: put(o, jnp.concatenate([x[...] * k for k in range(4)])), (1024, 128))(A)),
    "joined in the middle": (lambda: call(lambda x, o: put(o, jnp.stack([jnp.concatenate([x[...], -x[...]], 1), x[...] @ jnp.ones((128, 256))], -1)),
                                          (256, 256, 2))(A)),
    "four axes": (lambda: jax.vmap(jax.vmap(call(lambda x, o: pl.store(o, jax.lax.iota(jnp.int32, 4), x[...]), (4,), grid=(2, 3))))(
        jnp.ones((2, 2, 4)))),
    "library": (lambda: call(lambda x, o: put(o, jnp.log1p(jnp.abs(x[...])) + jnp.expm1(x[...]) + jnp.arctan2(x[...], 2 * x[...]) +
                                              triton.approx_tanh(x[...])))(A)),
    "cube roots": (lambda: call(lambda x, o: put(o, jnp.cbrt(x[...])))(A)),
    "not numbers": (lambda: call(lambda x, o: put(o, jnp.where(jnp.isnan(jnp.log(x[...])), 1.0, jnp.where(jnp.isfinite(1 / x[...]), 2.0, 3.0))))(A)),
    "any and all": (lambda: call(lambda x, o: put(o, jnp.where(jnp.any(x[...] > 2, -1, keepdims=True), x[...], 0.0) +
                                                  jnp.where(jnp.all(x[...] < 2, 0, keepdims=True), x[...], 0.0)))(A)),
    "pieces": (lambda: call(lambda x, o: put(o, jnp.concatenate([x[...][128:], x[...][:128]])))(A)),
    "products": (lambda: call(lambda x, o: put(o, x[...] @ (x[...].T @ x[...])))(A / 32)),
    "integers": (lambda: call(lambda x, o: put(o, ((x[...] * 100).astype(jnp.int32) // 7 % 5 ^ 3).astype(jnp.float32)))(A)),
    "half precision": (lambda: call(lambda x, o: put(o, (jnp.exp(x[...].astype(jnp.bfloat16)) * 2).astype(jnp.float32) * 0))(A)),
    "squares": (lambda: call(lambda x, o: put(o, (x[...] - x[...].mean(0)) ** 2 + x[...].var(-1, keepdims=True)))(A)),
    "places of extremes": (lambda: call(lambda x, o: put(o, (jnp.argmax(x[...], 1)[:, None] + jnp.argmin(x[...], 0)[None]).astype(jnp.float32)))(
        A.at[3, 5].set(jnp.nan))),
    "bits": (lambda: call(lambda x, o: put(o, jax.lax.population_count((x[...] * 100).astype(jnp.int32)).astype(jnp.float32)))(A)),
    "truth values": (lambda: call(lambda x, o: put(o, jnp.where((x[...] > 0) != (x[...] > 1), 1.0, jnp.where((x[...] > 0) == (x[...] > -1), 2.0, 3.0))))(A)),
    "running": (lambda: call(lambda x, o: put(o, jnp.cumsum(x[...], 1) + jax.lax.cummax(x[...], axis=0, reverse=True)))(A)),
    "running backwards": (lambda: call(lambda x, o: put(o, jax.lax.cumsum((x[...] * 9).astype(jnp.int32), 0, reverse=True).astype(jnp.float32)))(A)),
    "the next float": (lambda: call(lambda x, o: put(o, jnp.nextafter(x[...], jnp.where(x[...] > 1, 9.0, x[...] * 2))))(
        A.at[0, :4].set(jnp.array([jnp.nan, 0, jnp.inf, -jnp.inf])))),
    "taken along an axis": (lambda: call(lambda x, o: put(o, jnp.take_along_axis(x[...], (jnp.abs(x[...]) * 50).astype(jnp.int32), 1) +
                                                          jnp.take(x[0, :], (x[3, :] * 40).astype(jnp.int32), mode="clip")))(A)),
    "halves": (lambda: call(lambda x, o: put(o, x[...][64:128] + x[...][:64] * x[...][192:]), (64, 128))(A)),
    "the inverse of erf": (lambda: call(lambda x, o: put(o, jax.lax.erf_inv(x[...])))(jnp.linspace(-1, 1, 256 * 128).reshape(256, 128))),
    "fewer bits": (lambda: call(lambda x, o: put(o, jax.lax.reduce_precision(x[...], 8, 7)))(A)),
    "other functions": (lambda: call(lambda x, o: put(o, jnp.arctan(x[...]) + jnp.arcsinh(x[...])))(A)),
    "a matrix and a vector": (lambda: call(lambda x, y, o: put(o, x[...] @ y[...]), (256,))(A, A[0])),
    "a vector and a matrix": (lambda: call(lambda x, y, o: put(o, y[...] @ x[...]), (128,))(A, A[:, 0])),
    "several products": (lambda: call(lambda x, o: put(o, jnp.einsum("bij,bkj->bik", x[...], x[...])), (2, 8, 8))(A[:16].reshape(2, 8, 128))),
    "padded": (lambda: call(lambda x, o: put(o, jnp.pad(x[...], ((8, 16), (0, 128)), constant_values=2)), (280, 256))(A)),
    "every second row": (lambda: call(lambda x, o: (put(o, x[...] * 0), put(o.at[pl.ds(1, 128, stride=2), :], x[pl.ds(0, 128, stride=2), :])))(A)),
    "elements": (lambda: call(lambda x, o: put(o, x[...]), grid=2, in_specs=[pl.BlockSpec((pl.Element(128), 128), lambda i: (i * 8, 0))],
                              out_specs=ROWS)(A)),
    "a size known at run time": (lambda: jax.jit(lambda n: call(lambda x, o: put(o, x[...] * pl.num_programs(0)), grid=(n,))(A))(2)),
    "a part of a part": (lambda: call(lambda x, o: (put(o, x[...] * 0), put(o.at[pl.ds(8, 64)].at[pl.ds(pl.program_id(0), 8)],
                                                                           x.at[pl.ds(pl.program_id(0) + 2, 16)].at[8:][...])), grid=1)(A)),
    "views": (lambda: call(lambda x, o: (put(o.bitcast(jnp.int32), x.bitcast(jnp.int32)[...] & 0x7FFFFFFF), put(o.at[0:8], x.at[0:16].reshape(8, 2, 128)[:, 1]),
                                         put(o.at[128:].T, x.T[:, 0:128])))(A)),
    "rows of bits": (lambda: call(lambda x, o: (put(o, x[...]), put(o.at[0:128], pltpu.bitcast(x.bitcast(jnp.bfloat16)[128:384], jnp.float32))))(A)),
    "printed": (lambda: call(lambda x, o: (pl.debug_print("a sum:", x[...].sum()), put(o, x[...])))(A)),
    "a copy": (lambda: call(lambda x, o, s: (pltpu.make_async_copy(x, o, s).start(), pltpu.make_async_copy(x, o, s).wait()),
                            in_specs=[WHOLE], out_specs=WHOLE, scratch_shapes=[pltpu.SemaphoreType.DMA])(A)),
    "a copy of a row": (lambda: call(copied_row, (16, 128), grid_spec=pltpu.PrefetchScalarGridSpec(
        1, (2,), [WHOLE], pl.BlockSpec((8, 128), lambda i, rows: (i, 0)), [pltpu.VMEM((128,), jnp.float32), pltpu.SemaphoreType.DMA]))(
        jnp.array([7, 3]), A)),
    "two buffers": (lambda: call(two_buffers, in_specs=[WHOLE], scratch_shapes=[pltpu.VMEM((2, 64, 128), jnp.float32), pltpu.SemaphoreType.DMA((2,))])(A)),
    "copies in memory of their own": (lambda: call(lambda x, o: pl.run_scoped(
        lambda r, s: (pltpu.async_copy(x, r, s).wait(), put(o, r[...] * 2))[0], pltpu.VMEM((256, 128), jnp.float32), pltpu.SemaphoreType.DMA),
        in_specs=[WHOLE])(A)),
    "at once": (lambda: call(lambda x, o: pltpu.sync_copy(x.at[pl.ds(0, 128)], o), (128, 128), in_specs=[WHOLE])(A)),
    "a pipeline": (lambda: call(lambda x, o: pltpu.emit_pipeline(
        lambda x, o: put(o, x[...] + pl.program_id(0)), grid=(4, 2), in_specs=[pl.BlockSpec((64, 64), lambda i, j: (i, j))],
        out_specs=[pl.BlockSpec((64, 64), lambda i, j: (3 - i, j))])(x, o), in_specs=[WHOLE], out_specs=WHOLE)(A)),
    "a pipeline over the end": (lambda: call(lambda x, o: pltpu.emit_pipeline(
        lambda x, o: put(o, x[...] * 2), grid=(3, 2), in_specs=[pl.BlockSpec((16, 128), lambda i, j: (i, j))],
        out_specs=[pl.BlockSpec((16, 128), lambda i, j: (i, j))])(x, o), (40, 200), in_specs=[WHOLE], out_specs=WHOLE)(A.reshape(128, 256)[:40, :200])),
    "a pipeline of products": (lambda: call(lambda x, y, o, total: pltpu.emit_pipeline(
        added_products, grid=(2, 1, 4), in_specs=[pl.BlockSpec((32, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 64), lambda i, j, k: (k, j))],
        out_specs=[pl.BlockSpec((32, 64), lambda i, j, k: (i, j))])(x, y, o, scratches=(total,)), (64, 64), in_specs=[WHOLE, WHOLE], out_specs=WHOLE,
        scratch_shapes=[pltpu.VMEM((32, 64), jnp.float32)])(A.reshape(64, 512), A.reshape(512, 64))),
    "a pipeline for each step": (lambda: call(lambda x, o: pltpu.emit_pipeline(
        lambda x, o: put(o, x[...] * 2), grid=(2,), in_specs=[pl.BlockSpec((None, 64, 128), lambda i: (start(i), 0, 0))],
        out_specs=[pl.BlockSpec((None, 64, 128), lambda i: (start(i), 0, 0))])(x, o), (4, 64, 128), grid=2, in_specs=[WHOLE], out_specs=WHOLE)(
        A.reshape(4, 64, 128))),
    "semaphores": (lambda: call(lambda x, o, s: (pl.semaphore_signal(s.at[1], 3), pl.semaphore_wait(s.at[1], 1), put(
        o, x[...] * pl.semaphore_read(s.at[1]).astype(jnp.float32)), pl.semaphore_wait(s.at[1], 2, decrement=False), pl.semaphore_wait(s.at[1], 2)),
        scratch_shapes=[pltpu.SemaphoreType.REGULAR((2,))])(A)),
    "rounded": (lambda: call(lambda x, o: put(o, jax.lax.round(x[...] * 2) + x[...] // 1))(A)),
    "rolled by the row": (lambda: call(lambda x, o: put(o, pltpu.roll(x[...], 1, 1, stride=3, stride_axis=0)))(A)),
    "derivative": (lambda: jax.jvp(call(lambda x, o: put(o, jnp.sin(x[...]))), (A,), (A,))),
}


def interpreted(function):
    """What a function of `KERNELS` gives when its kernels are interpreted."""
    with pytest.MonkeyPatch.context() as patch:
        made = pl.pallas_call
        patch.setattr(pl, "pallas_call", functools.partial(made, interpret=pltpu.InterpretParams(uninitialized_memory="zero")))
        return function()


TPU_ONLY = ("scratch and when", "memory of its own", "a matrix and a vector", "a vector and a matrix", "several products", "padded",
            "a size known at run time", "a copy", "a copy of a row", "two buffers", "copies in memory of their own", "at once", "a pipeline", "a pipeline over the end",
            "a pipeline of products", "a pipeline for each step", "semaphores", "rows of bits", "rolled by the row")
GPU_ONLY = ("scatter", "atomics", "four axes", "cube roots", "other functions")


@pytest.mark.parametrize("platform", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_meaning_of_modules(case, platform):
    """Run operation by operation they give what the interpreter gives."""
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5),
                 kernel_machine.run(lambda: CASES[case][0](False), platform), CASES[case][1]())


@pytest.mark.parametrize("platform", TARGETS)
@pytest.mark.parametrize("case", KERNELS)
def test_what_kernels_can_do(case, platform):
    if case in {"tpu": GPU_ONLY, "cuda": TPU_ONLY}[platform]:
        with pytest.raises((NotImplementedError, ValueError), match="interpret=True|blocks of shape"):
            module(KERNELS[case], platform=platform)
    else:
        assert TARGETS[platform] in module(KERNELS[case], platform=platform)
        if case != "atomics":  # there two orders of the same are right
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5), kernel_machine.run(KERNELS[case], platform),
                         interpreted(KERNELS[case]))


def test_scalars_are_compared_and_exchanged():
    def kernel(x, _, room, before):
        before[...] = triton.atomic_cas(room, 5, x[...])

    def exchange(**options):
        scalar = jax.ShapeDtypeStruct((), jnp.int32)
        return jax.vmap(pl.pallas_call(kernel, [scalar, scalar], input_output_aliases={1: 0}, **options))(jnp.arange(3), jnp.array([5, 6, 5]))
    for got in (exchange(interpret=True), kernel_machine.run(exchange, "cuda")):
        np.testing.assert_array_equal(got, [[0, 6, 2], [5, 6, 5]])


def drawn(out):
    pltpu.prng_seed(pl.program_id(0), 3)
    out[...] = pltpu.stateful_uniform((8, 128))


def test_random_bits_are_the_core_s_own():
    """A program with a seed and a draw; what bits they are only a TPU knows."""
    function = lambda: call(drawn, (16, 128), grid=2, out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)))()
    program, = (e.params["program"] for e in jax.make_jaxpr(function)().eqns)
    text = mosaic.module_text(program)
    assert "tpu.prng_set_seed_32" in text and "tpu.prng_random_bits" in text
    assert TARGETS["tpu"] in module(function)


REFUSED = {
    "sort on GPUs": (lambda: call(lambda x, o: put(o, jnp.sort(x[...])))(A), "cuda", "Triton has no stablehlo.sort"),
    "sort": (lambda: call(lambda x, o: put(o, jnp.sort(x[...])))(A), "tpu", "Mosaic has no stablehlo.sort"),
    "any memory": (lambda: call(lambda x, o: put(o, x[...]), in_specs=[pl.BlockSpec(memory_space=pl.ANY)])(A), "tpu", "Mosaic has no reading"),
    "dynamic grid on GPUs": (lambda: jax.jit(lambda n: call(lambda x, o: put(o, x[...]), grid=(n,))(A))(2), "cuda", "grids whose size is"),
    "padding on GPUs": (lambda: call(lambda x, o: put(o, x[...]), grid=2, in_specs=[pl.BlockSpec((pl.Element(128, (1, 1)), 128), lambda i: (i, 0))],
                                     out_specs=ROWS)(A), "cuda", r"args\[0\]: padding of pl.Element"),
    "complex numbers": (lambda: pl.pallas_call(lambda x, o: put(o, x[...]), jax.ShapeDtypeStruct((8, 128), jnp.complex64), name="quiet")(
        jnp.ones((8, 128), jnp.complex64)), "tpu", "kernels for TPUs have no complex64"),
    "complex numbers on GPUs": (lambda: pl.pallas_call(lambda x, o: put(o, x[...]), jax.ShapeDtypeStruct((8, 128), jnp.complex64), name="quiet")(
        jnp.ones((8, 128), jnp.complex64)), "cuda", "kernels for GPUs have no complex numbers"),
    "platform": (lambda: call(lambda x, o: put(o, x[...]))(A), "rocm", "there is no compiler of kernels for rocm"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_they_cannot_do_is_said(case):
    function, platform, message = REFUSED[case]
    with pytest.raises(NotImplementedError, match=f"^pallas_call quiet.*{message}.*interpret=True"):
        module(function, platform=platform)


SIDES = {
    "no power of two": (lambda: call(lambda x, o: put(o, x[...]), (100,))(jnp.ones(100)), "cuda", "100 elements; on GPUs"),
    "small product": (lambda: call(lambda x, o: put(o, x[...] @ x[...]), (8, 8))(jnp.ones((8, 8))), "cuda", "at least 16 elements"),
    "tiles": (lambda: call(lambda x, o: put(o, x[...]), grid=64, in_specs=[pl.BlockSpec((4, 128), lambda i: (i, 0))],
                           out_specs=pl.BlockSpec((4, 128), lambda i: (i, 0)))(A), "tpu", r"args\[0\]: blocks of shape \(4, 128\) of float32"),
    "tiles of one axis": (lambda: call(lambda x, o: put(o, x[...]), (1024,), grid=16, in_specs=[pl.BlockSpec((64,), lambda i: i)],
                                       out_specs=pl.BlockSpec((64,), lambda i: i))(jnp.ones(1024)), "tpu", r"args\[0\]: .*is a multiple of 128"),
    "a scalar": (lambda: call(lambda x, y, o: put(o, x[...] * y[()]))(A, 2.0), "tpu", r"args\[1\]: .*memory_space=pltpu.SMEM"),
}


@pytest.mark.parametrize("case", SIDES)
def test_sides_of_blocks(case):
    function, platform, message = SIDES[case]
    with pytest.raises(ValueError, match=f"^pallas_call quiet.*{message}"):
        module(function, platform=platform)


# -- instructions of a GPU ----------------------------------------------------------------------------------------------

NUMBERS = np.arange(32, dtype=np.int32).reshape(8, 4)


def sums_and_differences(x, y, of=(8, 4), pack=1, **options):
    def kernel(x, y, a, b):
        a[...], b[...] = triton.elementwise_inline_asm("add.s32 $0, $2, $3; sub.s32 $1, $2, $3;", args=[x[...], y[...]], constraints="=r,=r,r,r", pack=pack,
                                                       result_shape_dtypes=[jax.ShapeDtypeStruct(of, jnp.int32)] * 2)
    return pl.pallas_call(kernel, [jax.ShapeDtypeStruct((8, 4), jnp.int32)] * 2, name="quiet", **options)(x, y)


def test_instructions_are_in_the_module():
    text = module(sums_and_differences, NUMBERS, NUMBERS, platform="cuda").replace("\\", "")
    name, = re.findall(r'(%\d+):2 = tt.elementwise_inline_asm 22add.s32 .0, .2, .3; sub.s32 .1, .2, .3;22 {constraints = 22=r,=r,r,r22, packed_element = 1', text)
    assert re.findall(rf"tt.store %\w+, ({name}#\d)", text) == [f"{name}#0", f"{name}#1"]


@pytest.mark.parametrize("run, error, message", [
    (lambda: module(sums_and_differences, NUMBERS, NUMBERS, platform="tpu"), NotImplementedError, "Mosaic has no elementwise_inline_asm"),
    (lambda: sums_and_differences(NUMBERS, NUMBERS, interpret=True), NotImplementedError, "not in interpreted ones"),
    (lambda: jax.jvp(lambda x: triton.elementwise_inline_asm("", args=[x], constraints="", pack=1, result_shape_dtypes=[x])[0], (jnp.ones(8),), (jnp.ones(8),)),
     NotImplementedError, "derivative of instructions"),
    (lambda: module(lambda x, y: sums_and_differences(x, y, (4, 8)), NUMBERS, NUMBERS, platform="cuda"), ValueError, r"shape \(8, 4\) for results of shape \(4, 8\)"),
    (lambda: module(lambda x, y: sums_and_differences(x, y, pack=0), NUMBERS, NUMBERS, platform="cuda"), ValueError, "pack=0"),
    (lambda: triton.elementwise_inline_asm("", args=[], constraints="", pack=1, result_shape_dtypes=[]), ValueError, "one result or more"),
], ids=["TPU", "interpreted", "derivative", "shape", "pack", "no result"])
def test_what_instructions_cannot_do_is_said(run, error, message):
    with pytest.raises(error, match=message):
        run()
