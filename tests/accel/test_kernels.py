"""Kernels compiled by the vendors' own compilers for described devices, where these are installed."""
import importlib.util
import pathlib

import pytest

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl, topologies
from jax.experimental.pallas import tpu as pltpu, triton

HERE = pathlib.Path(__file__).parent
WHEELS = {"tpu": "libtpu", "cuda": "jax_cuda12_plugin"}
DEVICES = {"tpu": dict(topology_name="v5e:2x2", platform="tpu"),
           "cuda": dict(topology_name="h100", platform="cuda", topology="1x1x1", target_config=(HERE / "h100.txtpb").read_text())}
BLOCKS = {"tpu": 128, "cuda": 32}
SPEC = importlib.util.spec_from_file_location("kernels", HERE.parents[1] / "examples" / "kernels.py")
kernels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(kernels)


@pytest.fixture(params=DEVICES, scope="module")
def compiled(request):
    if importlib.util.find_spec(WHEELS[request.param]) is None:
        pytest.skip(f"the wheel {WHEELS[request.param]} with the compiler for {request.param} is not installed")
    topology = topologies.get_topology_desc(**DEVICES[request.param])
    here = jax.sharding.SingleDeviceSharding(topology.devices[0])

    def run(function, *types):
        args = [jax.ShapeDtypeStruct(shape, dtype, sharding=here) for shape, dtype in types]
        return jax.jit(function, out_shardings=here).lower(*args).compile().as_text()
    run.block = BLOCKS[request.param]
    return run


def derivative(causal, n):
    return lambda q, k, v, ct: jax.vjp(lambda *args: kernels.attention(*args, causal, n), q, k, v)[1](ct)


def cases(dtype, n):
    matrix, row, heads = ((1024, 256), dtype), ((1, 256), dtype), ((4, 512, 128), dtype)
    return {"add": (lambda x, y: kernels.add(x, y, n), matrix, matrix), "softmax": (lambda x: kernels.softmax(x, n), matrix),
            "layer norm": (lambda x, a, b: kernels.layer_norm(x, a, b, n), matrix, row, row),
            "mapped softmax": (jax.vmap(lambda x: kernels.softmax(x, n)), ((2, 1024, 256), dtype)),
            "matmul": (lambda x, y: kernels.matmul(x, y, n), ((256, 512), dtype), ((512, 256), dtype)),
            "attention": (lambda q, k, v: kernels.attention(q, k, v, False, n), *[heads] * 3),
            "causal": (lambda q, k, v: kernels.attention(q, k, v, True, n), *[heads] * 3),
            "its derivative": (derivative(False, n), *[heads] * 4), "its derivative, causal": (derivative(True, n), *[heads] * 4)}


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", cases(jnp.float32, 1))
def test_kernels_compile(compiled, case, dtype):
    function, *types = cases(dtype, compiled.block)[case]
    assert "custom-call" in compiled(function, *types)


def library(case, dtype):
    from jax.experimental.pallas.ops.tpu import flash_attention as fa
    from jax.experimental.pallas.ops.tpu.matmul import matmul
    from jax.experimental.pallas.ops.tpu.megablox import gmm
    from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention, quantization_utils
    from jax.experimental.pallas.ops.tpu.ragged_paged_attention import ragged_paged_attention
    heads, ids, rows, matrices = ((1, 2, 512, 64), dtype), ((1, 512), jnp.int32), ((512, 200), dtype), ((4, 200, 128), dtype)

    def summed(function, *numbers):
        return jax.grad(lambda *args: function(*args).astype(jnp.float32).sum(), numbers)
    attention = lambda q, k, v, s: fa.flash_attention(q, k, v, None, fa.SegmentIds(s, s), causal=True)
    return {"attention": (summed(attention, 0, 1, 2), *[heads] * 3, ids),
            "attention with a bias": (summed(fa.flash_attention, 0, 1, 2, 3), *[heads] * 3, ((1, 2, 512, 512), dtype)),
            "products of groups": (summed(gmm, 0, 1), rows, matrices, ((4,), jnp.int32)),
            "products": (lambda x, y: matmul(x, y, block_shape=(256, 256)), ((500, 300), dtype), ((300, 512), dtype)),
            "pages": (lambda *args: paged_attention(*args, pages_per_compute_block=4), ((2, 8, 128), dtype), *[((2, 40, 16, 128), dtype)] * 2,
                      ((2,), jnp.int32), ((2, 8), jnp.int32)),
            "ragged pages": (ragged_paged_attention, ((64, 8, 128), dtype), ((40, 16, 4, 128), dtype), ((4,), jnp.int32), ((4, 16), jnp.int32),
                             ((5,), jnp.int32), ((1,), jnp.int32)),
            "ragged pages of small integers": (lambda *args: ragged_paged_attention(*args, k_scale=0.1, v_scale=0.2, sliding_window=100, soft_cap=5.0),
                                               ((64, 8, 128), dtype), ((40, 32, 4, 128), jnp.int8), ((4,), jnp.int32), ((4, 16), jnp.int32),
                                               ((5,), jnp.int32), ((1,), jnp.int32)),
            "pages of small integers": (lambda q, k, s, *rest: paged_attention(q, *[quantization_utils.QuantizedTensor(k, s)] * 2, *rest,
                                                                               pages_per_compute_block=4),
                                        ((2, 8, 128), dtype), ((2, 40, 32, 128), jnp.int8), ((2, 40, 32, 1), jnp.float32), ((2,), jnp.int32),
                                        ((2, 8), jnp.int32))}[case]


def under_a_mask(mask, dtype, keys=2, segments=False, **options):
    """`splash_attention` and its derivatives."""
    from jax.experimental.pallas.ops.tpu import splash_attention as sa
    make = sa.make_splash_mha if keys else sa.make_splash_mqa
    kernel = make(mask(sa), head_shards=1, q_seq_shards=1, **options)

    def function(q, k, v, ids):
        call = lambda q, k, v: kernel(q, k, v, sa.SegmentIds(ids, ids) if segments else None).astype(jnp.float32).sum()
        return jax.value_and_grad(call, (0, 1, 2))(q, k, v)
    key = ((keys, 512, 128), dtype) if keys else ((512, 128), dtype)
    return function, ((4, 512, 128), dtype), key, key, ((512,), jnp.int32)


SPLASH = {
    "causal": (lambda sa: sa.MultiHeadMask([sa.CausalMask((512, 512))] * 4), {}),
    "local, one head of keys": (lambda sa: sa.MultiHeadMask([sa.LocalMask((512, 512), (100, 0), 0)] * 4), dict(keys=0)),
    "stored": (lambda sa: sa.MultiHeadMask([sa.CausalMask((512, 512)), sa.FullMask((512, 512))] * 2), {}),
    "segments and a cap": (lambda sa: sa.MultiHeadMask([sa.CausalMask((512, 512))] * 4), dict(segments=True, attn_logits_soft_cap=5.0)),
}


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", SPLASH)
def test_attention_under_masks_compiles(compiled, case, dtype):
    if compiled.block == BLOCKS["cuda"]:
        pytest.skip("this kernel is for TPUs")
    mask, options = SPLASH[case]
    function, *types = under_a_mask(mask, dtype, **options)
    assert compiled(function, *types).count("tpu_custom_call") >= 3


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", ["attention", "attention with a bias", "products of groups", "products", "pages", "pages of small integers",
                                  "ragged pages", "ragged pages of small integers"])
def test_the_library_compiles(compiled, case, dtype):
    if compiled.block == BLOCKS["cuda"]:
        pytest.skip("these kernels are for TPUs")
    function, *types = library(case, dtype)
    assert "custom-call" in compiled(function, *types)


def gpu_library(case, dtype):
    from jax.experimental.pallas.ops.gpu import attention, decode_attention, layer_norm, paged_attention, rms_norm, softmax

    def summed(function, *numbers):
        return jax.grad(lambda *args: function(*args).astype(jnp.float32).sum(), numbers)
    rows, columns, heads, keys = ((64, 100), dtype), ((100,), dtype), ((2, 8, 64), dtype), ((2, 512, 2, 64), dtype)
    pages, table, lengths = ((2, 40, 16, 64), dtype), ((2, 16), jnp.int32), ((2,), jnp.int32)
    return {"softmax": (softmax.softmax, rows), "layer norm": (summed(layer_norm.layer_norm, 0, 1, 2), rows, columns, columns),
            "rms norm": (summed(rms_norm.rms_norm, 0, 1, 2), rows, columns, columns),
            "attention": (summed(lambda q, k, v: attention.mha(q, k, v, None, 0.1, True), 0, 1, 2), *[((2, 256, 2, 64), dtype)] * 3),
            "attention in segments": (summed(lambda q, k, v, s: attention.mha(q, k, v, s), 0, 1, 2), *[((2, 256, 2, 80), jnp.bfloat16)] * 3,
                                      ((2, 256), jnp.int32)),
            "decoding": (lambda q, k, v, n: decode_attention.gqa(q, k, v, None, n), heads, keys, keys, lengths),
            "pages": (lambda *args: paged_attention.paged_attention(*args, k_splits=4), heads, pages, pages, table, lengths)}[case]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=lambda d: d.__name__)
@pytest.mark.parametrize("case", ["softmax", "layer norm", "rms norm", "attention", "attention in segments", "decoding", "pages"])
def test_the_library_for_gpus_compiles(compiled, case, dtype):
    if compiled.block != BLOCKS["cuda"]:
        pytest.skip("these kernels are for GPUs")
    function, *types = gpu_library(case, dtype)
    assert "custom-call" in compiled(function, *types)


def features():
    spec = importlib.util.spec_from_file_location("test_kernels_features", HERE.parents[0] / "test_kernels.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("case", [
    "squares", "running", "running backwards", "the next float", "taken along an axis", "places of extremes", "bits", "truth values", "a matrix and a vector", "padded", "every second row", "elements", "a size known at run time",
    "a part of a part", "views", "rows of bits", "printed", "a copy", "a copy of a row", "two buffers", "copies in memory of their own", "semaphores", "a pipeline of products", "a pipeline over the end",
    "a pipeline for each step", "rounded", "rolled by the row", "joined"])
def test_what_kernels_can_do_compiles(compiled, case, monkeypatch):
    """Programs of `tests/test_kernels.py`, where the platform has what they use."""
    monkeypatch.syspath_prepend(HERE.parent)
    tests = features()
    if case in (tests.TPU_ONLY if compiled.block == BLOCKS["cuda"] else tests.GPU_ONLY):
        pytest.skip("not on this platform: tests/test_kernels.py")
    assert "custom-call" in compiled(tests.KERNELS[case])


def test_instructions_compile(compiled):
    if compiled.block != BLOCKS["cuda"]:
        pytest.skip("these instructions are for GPUs")
    tests = features()
    assert "custom-call" in compiled(tests.sums_and_differences, *[((8, 4), jnp.int32)] * 2)


def test_exchanges_compile(compiled):
    if compiled.block != BLOCKS["cuda"]:
        pytest.skip("a TPU has no atomics")

    def kernel(x, _, out):
        triton.atomic_cas(out, 0, x[...])
    scalar = jax.ShapeDtypeStruct((), jnp.int32)
    assert "custom-call" in compiled(pl.pallas_call(kernel, scalar, input_output_aliases={1: 0}), *[((), jnp.int32)] * 2)


def test_watching_compiles(compiled):
    """Checks, whole arrays in print, quotients in 16 bits; values for a profile where they are a TPU's."""
    def kernel(x, out):
        pl.debug_check(pl.program_id(0) < 4, "too far")
        if compiled.block == BLOCKS["tpu"]:
            pltpu.trace_value("step", pl.program_id(0))
        pl.debug_print("all of it: {}", x[...])
        half = x[...].astype(jnp.bfloat16)
        out[...] = (half / jax.nn.sigmoid(half)).astype(jnp.float32)
    with pl.enable_debug_checks():
        assert "custom-call" in compiled(pl.pallas_call(kernel, jax.ShapeDtypeStruct((16, 128), jnp.float32), grid=(1,)), ((16, 128), jnp.float32))


def test_products_of_int4_compile(compiled):
    if compiled.block == BLOCKS["cuda"]:
        pytest.skip("a GPU has no such products")

    def kernel(x, y, out):
        out[...] = jnp.dot(x[...], y[...], preferred_element_type=jnp.int32)
    assert "custom-call" in compiled(pl.pallas_call(kernel, jax.ShapeDtypeStruct((128, 128), jnp.int32)), *[((128, 128), jnp.int4)] * 2)
