"""Kernels for GPUs that are ready to use (`jax.experimental.pallas.ops.gpu`), interpreted, against plain operations."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.gpu import attention, decode_attention, layer_norm, paged_attention, rms_norm, softmax

pytestmark = pytest.mark.any_code


def normal(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=5e-5)


def agree(function, plain, ct, *args):
    """In values and derivatives."""
    (out, pull), (expected, plain_pull) = jax.vjp(function, *args), jax.vjp(plain, *args)
    jax.tree.map(close, (out, pull(ct)), (expected, plain_pull(ct)))


# -- rows ----------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(40,), (3, 64), (2, 3, 5)])
def test_softmax_of_rows(shape):
    x = normal(0, *shape)
    close(softmax.softmax(x, interpret=True), jax.nn.softmax(x))
    assert softmax.softmax(x.astype(jnp.bfloat16), axis=len(shape) - 1, interpret=True).dtype == jnp.bfloat16


def test_softmax_is_along_the_last_axis():
    with pytest.raises(NotImplementedError, match=r"^softmax of a kernel is along the last axis, got axis=0 for an array of shape \(2, 3\)"):
        softmax.softmax(jnp.ones((2, 3)), axis=0, interpret=True)


NORMS = {"layer_norm": (layer_norm.layer_norm, layer_norm.layer_norm_reference), "rms_norm": (rms_norm.rms_norm, rms_norm.rms_norm_reference)}


@pytest.mark.parametrize("shape", [(5,), (70, 100), (2, 3, 16)])
@pytest.mark.parametrize("back", ["triton", "xla"])
@pytest.mark.parametrize("name", NORMS)
def test_norms_and_their_derivatives(name, back, shape):
    norm, plain = NORMS[name]
    agree(lambda *args: norm(*args, backward_pass_impl=back, interpret=True), plain, normal(3, *shape),
          normal(0, *shape), normal(1, shape[-1]), normal(2, shape[-1]))


@pytest.mark.parametrize("name", NORMS)
def test_bad_arguments_of_norms(name):
    norm, x, w = NORMS[name][0], jnp.ones((2, 4)), jnp.ones(4)
    for args, message in (((x, w, None), "bias must be an array"), ((x, w[:3], w), r"weight must be .*got \(3,\)"), ((x[0, 0], w, w), "weight must be an array")):
        with pytest.raises(ValueError, match=message):
            norm(*args, interpret=True)
    with pytest.raises(ValueError, match="backward_pass_impl='no'"):
        norm(x, w, w, backward_pass_impl="no", interpret=True)


# -- attention -------------------------------------------------------------------------------------------------------------

SMALL = attention.BlockSizes(16, 16, 16, 16, 16, 16)
ATTENTIONS = {  # queries, keys, width, causal, with segments, blocks
    "plain": (32, 48, 16, False, False, SMALL),
    "a width that is no power of two": (32, 32, 20, False, False, SMALL),
    "causal, more keys": (32, 48, 8, True, False, attention.BlockSizes(16, 48, 32, 16, 8, 24)),
    "causal, more queries": (64, 32, 8, True, False, SMALL),
    "segments": (48, 48, 8, False, True, SMALL),
    "segments, causal": (48, 48, 8, True, True, SMALL),
}


@pytest.mark.parametrize("case", ATTENTIONS)
def test_attention_and_its_derivatives(case):
    n, m, width, causal, segments, blocks = ATTENTIONS[case]
    ids = jnp.asarray(np.searchsorted([n // 3, n // 2], np.arange(n), side="right").astype(np.int32) * np.array([[1], [0]], np.int32)) if segments else None
    for back in ("triton", "xla"):
        agree(lambda *args: attention.mha(*args, ids, 0.5, causal, blocks, back, interpret=True),
              lambda *args: attention.mha_reference(*args, ids, 0.5, causal),
              normal(3, 2, n, 2, width), normal(0, 2, n, 2, width), normal(1, 2, m, 2, width), normal(2, 2, m, 2, width))


def test_attention_tells_the_logarithms_of_sums():
    q = normal(0, 1, 32, 2, 8)
    out, logs = attention.mha(q, q, q, None, block_sizes=SMALL, interpret=True, return_residuals=True)
    scores = np.einsum("bqhc,bkhc->bhqk", q, q)
    close(logs, np.log2(np.exp(scores).sum(-1)))
    close(out, attention.mha_reference(q, q, q, None))


def test_bad_arguments_of_attention():
    q = jnp.ones((1, 32, 2, 8))
    call = lambda *args, **options: attention.mha(*args, **{"interpret": True, "block_sizes": SMALL, **options})
    for args, options, message in (
            ((q, q[:, :, :1], q[:, :, :1], None), {}, "only the length of queries may differ"),
            ((q[:, :20], q, q, None), {}, "block_q=16 must divide the length 20 of the queries"),
            ((q, q[:, :20], q[:, :20], None), {}, "block_k=16 must divide the length 20 of the keys"),
            ((q, q, q, jnp.zeros((1, 8), int)), {}, "segment_ids are"),
            ((q, q, q, None), dict(backward_pass_impl="no"), "backward_pass_impl='no'")):
        with pytest.raises(ValueError, match=message):
            call(*args, **options)
    with pytest.raises(ValueError, match="lacks sizes"):
        jax.grad(lambda q: call(q, q, q, None, block_sizes=attention.BlockSizes(16, 16)).sum())(q)


# -- one query for each head -------------------------------------------------------------------------------------------------

BOUNDS = [(None, None), (3, 100), (np.array([3, 60]), np.array([100, 90]))]


@pytest.mark.parametrize("bounds", BOUNDS, ids=["all", "the same", "for each"])
@pytest.mark.parametrize("normalize", [True, False])
def test_decoding_with_keys_for_groups_of_heads(bounds, normalize):
    q, k, v = normal(0, 2, 6, 20), normal(1, 2, 128, 2, 20), normal(2, 2, 128, 2, 20)
    options = dict(return_residuals=True, normalize_output=normalize)
    out = decode_attention.gqa(q, k, v, *bounds, block_k=16, k_splits=4, interpret=True, **options)
    jax.tree.map(close, out, decode_attention.gqa_reference(q, k, v, *bounds, **options))


def test_decoding_with_keys_for_all_heads_and_for_each():
    q, k = normal(0, 2, 20, 16), normal(1, 2, 128, 16)
    close(decode_attention.mqa(q, k, k, 5, sm_scale=0.5, k_splits=2, interpret=True), decode_attention.mqa_reference(q, k, k, 5, sm_scale=0.5))
    close(decode_attention.mqa_reference(q, k, k), decode_attention.mha_reference(q, *[np.repeat(k[:, :, None], 20, 2)] * 2))


def test_decoding_without_keys_is_zero():
    q, k = normal(0, 1, 4, 16), normal(1, 1, 64, 16)
    np.testing.assert_array_equal(decode_attention.mqa(q, k, k, 9, 9, k_splits=2, interpret=True), np.zeros(q.shape))


def pages_and_table():
    pages, table = normal(1, 2, 20, 16, 8), np.random.RandomState(2).permutation(20)[:16].reshape(2, 8)
    return pages, jnp.asarray(table, jnp.int32), lambda pages: pages[:, table].transpose(1, 2, 3, 0, 4).reshape(2, 128, 2, 8)


@pytest.mark.parametrize("lengths", [[100, 1], [128, 64], None], ids=str)
@pytest.mark.parametrize("options", [dict(k_splits=8), dict(k_splits=2, pages_per_compute_block=2), dict(k_splits=1, attn_logits_soft_cap=3.0)], ids=str)
def test_pages(lengths, options):
    q, (pages, table, in_order) = normal(0, 2, 6, 8), pages_and_table()
    plain = {name: value for name, value in options.items() if name.startswith("attn")}
    close(paged_attention.paged_attention(q, pages, pages[:, ::-1], table, None if lengths is None else jnp.array(lengths), interpret=True, **options),
          paged_attention.paged_attention_reference(q, in_order(pages), in_order(pages[:, ::-1]), jnp.array(lengths or [128, 128]), **plain))


def test_pages_of_small_integers():
    q, (pages, table, in_order) = normal(0, 2, 6, 8), pages_and_table()
    whole, scales = np.round(pages * 20).astype(np.int8), np.abs(normal(3, 2, 20, 16)) / 20
    found = paged_attention.paged_attention(q, whole, whole, table, jnp.array([50, 128]), scales, scales, k_splits=2, interpret=True)
    close(found, paged_attention.paged_attention_reference(q, *[in_order(whole * scales[..., None])] * 2, jnp.array([50, 128])))


def test_bad_arguments_of_decoding():
    q, k, pages, table = jnp.ones((2, 4, 16)), jnp.ones((2, 64, 2, 16)), jnp.ones((2, 8, 16, 16)), jnp.zeros((2, 4), jnp.int32)
    gqa = lambda *args, **options: decode_attention.gqa(*args, interpret=True, **options)
    paged = lambda *args, **options: paged_attention.paged_attention(*args, interpret=True, **options)
    for call, args, options, message in (
            (gqa, (q[:, :3], k, k), {}, "do not fit"), (gqa, (q, k, k), dict(k_splits=3), "k_splits=3 must divide the number of keys, 64"),
            (gqa, (q, k, k), dict(k_splits=8), "into parts of 16 at least"), (gqa, (q, k, k), dict(k_splits=2, block_k=24), "block_k=24 must divide the 32 keys"),
            (paged, (q, pages, pages[:, :2], table, None), {}, "must be alike"), (paged, (q[:, :3], pages, pages, table, None), {}, "a multiple of their heads"),
            (paged, (q, pages, pages, table[:1], None), {}, "block_tables"), (paged, (q, pages, pages, table, jnp.ones(3, int)), {}, "lengths"),
            (paged, (q, pages, pages, table, None), dict(k_splits=3), "k_splits=3 must divide the 4 pages"),
            (paged, (q, pages, pages, table, None), dict(k_splits=1, pages_per_compute_block=3), "must divide the 4 pages of each of the 1 parts")):
        with pytest.raises(ValueError, match=message):
            call(*args, **options)
