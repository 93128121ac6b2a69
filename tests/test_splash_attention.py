"""Attention under masks, interpreted, against plain operations: values and derivatives, blocks, shards."""
import functools

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.tpu import splash_attention as sa
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks, splash_attention_mask_info as infos

pytestmark = pytest.mark.any_code


def normal(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


close = functools.partial(np.testing.assert_allclose, rtol=3e-4, atol=1e-4)
BLOCKS, PIECES = sa.BlockSizes(16, 32, None, 32, 32, None, 16, 32), sa.BlockSizes(16, 32, 16, 32, 32, 16, 16, 32)
N, M = 64, 96
SOMEWHERE = np.random.RandomState(0).rand(N, M) < 0.3
SOMEWHERE[:, :3] = True  # each query sees something
SOMEWHERE[16:32, 32:64], SOMEWHERE[:, 64:] = True, False
MASKS = {
    "causal": masks.CausalMask((N, M)), "causal, later": masks.CausalMask((N, M), 20), "local": masks.LocalMask((N, M), (20, 10), 0),
    "one side": masks.LocalMask((N, M), (None, 5), 16), "chunks": masks.ChunkedCausalMask((N, M), 24), "full": masks.FullMask((N, M)),
    "an array": masks.NumpyMask(SOMEWHERE), "both": masks.CausalMask((N, M), 30) & masks.LocalMask((N, M), (40, 40), 0),
    "one of two": masks.CausalMask((N, M)) | masks.NumpyMask(SOMEWHERE)}


def ids(*bounds):
    return sa.SegmentIds(*(np.searchsorted(bounds, np.arange(n), side="right").astype(np.int32) for n in (N, M)))


def data(heads=2, key_heads=2, values=8):
    k, v = normal(1, key_heads or 1, M, 8), normal(2, key_heads or 1, M, values)
    k, v = (k, v) if key_heads else (k[0], v[0])
    return normal(0, heads, N, 8), k, v, normal(3, heads, N, values)


def agree(mask, q, k, v, ct, segments=None, sinks=None, blocks=BLOCKS, **options):
    """The kernel and plain operations have the same values and derivatives."""
    mqa = k.ndim == 2
    make, plain = (sa.make_splash_mqa, sa.make_masked_mqa_reference) if mqa else (sa.make_splash_mha, sa.make_masked_mha_reference)
    kernel = make(mask, head_shards=1, q_seq_shards=1, block_sizes=blocks, interpret=True, **options)
    seen = mask if isinstance(mask, masks.Mask) else np.asarray(mask)
    expected, pull = jax.vjp(lambda *args: plain(seen, **options)(*args[:3], segments, args[3]), q, k, v, sinks)
    out, pulled = jax.vjp(lambda *args: kernel(*args[:3], segments, args[3]), q, k, v, sinks)
    jax.tree.map(close, (out, pulled(ct)), (expected, pull(ct)))


@pytest.mark.parametrize("case", MASKS)
def test_masks(case):
    q, k, v, _ = data(1, 1)
    mask = masks.MultiHeadMask([MASKS[case]])
    close(sa.make_splash_mha_single_device(mask, block_sizes=BLOCKS, interpret=True)(q, k, v), sa.make_masked_mha_reference(mask)(q, k, v))


CASES = {
    "fewer heads of keys, heads that differ": lambda: agree(masks.MultiHeadMask([MASKS["causal"], MASKS["local"], MASKS["an array"], MASKS["full"]]), *data(4, 2)),
    "one head of keys": lambda: agree(masks.MultiHeadMask([MASKS["local"]] * 3), *data(3, 0)),
    "values of another width, a cap": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(values=12), attn_logits_soft_cap=2.0),
    "segments and a mask": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(), segments=ids(10, 40)),
    "sinks": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(), sinks=np.float32([0.5, -1])),
    "everything": lambda: agree(masks.MultiHeadMask([MASKS["local"]] * 2), *data(2, 1), segments=ids(10), sinks=np.float32([0.5, -1]), attn_logits_soft_cap=3.0),
    "arrays on a device": lambda: agree(jnp.stack([SOMEWHERE, MASKS["causal"][:, :]]), *data()),
    "one kernel backwards": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(), blocks=sa.BlockSizes(16, 32, None, 32, 16, use_fused_bwd_kernel=True)),
    "pieces": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(), segments=ids(10, 40), blocks=PIECES),
    "pieces of a stored mask": lambda: agree(masks.MultiHeadMask([MASKS["an array"]] * 2), *data(), blocks=PIECES),
    "large blocks": lambda: agree(masks.MultiHeadMask([MASKS["causal"]] * 2), *data(), blocks=sa.BlockSizes(N, M, None, N, M, None, N, M)),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case):
    CASES[case]()


def test_a_traced_mask_and_a_batch():
    q, k, v, _ = data()
    seen = np.stack([SOMEWHERE] * 2)
    make = lambda m: sa.make_splash_mha(m, head_shards=1, q_seq_shards=1, block_sizes=BLOCKS, interpret=True)
    expected = sa.make_masked_mha_reference(seen)(q, k, v)
    close(jax.jit(lambda m: make(m)(q, k, v))(seen), expected)
    close(jax.vmap(make(seen))(q[None], k[None], v[None])[0], expected)
    kernel = make(seen)
    close(jax.jit(lambda kernel: kernel(q, k, v))(kernel), expected)


def test_residuals_and_queries_that_see_nothing():
    q, k, v, _ = data()
    seen = np.zeros((2, N, M), bool)
    seen[:, 20:30, :5] = True
    make = functools.partial(sa.make_splash_mha, seen, head_shards=1, q_seq_shards=1, block_sizes=BLOCKS, interpret=True)
    out, (logs,) = make(save_residuals=True)(q, k, v)
    expected, (plain,) = sa.make_masked_mha_reference(seen, save_residuals=True)(q, k, v)
    close(out[:, 20:30], expected[:, 20:30])
    close(logs[:, 20:30], plain[:, 20:30])
    close(out[:, 16], v[:, :32].mean(1))
    assert not np.any(out[:, :16]) and not np.any(out[:, 32:])
    gradients = jax.grad(lambda *args: make()(*args).sum(), (0, 1, 2))(q, k, v)
    assert all(np.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize("mask", [MASKS["causal"], MASKS["an array"]], ids=["computed", "stored"])
@pytest.mark.parametrize("heads, queries", [(2, 1), (2, 2)])
def test_split_among_devices(mask, heads, queries):
    if len(jax.devices()) < heads * queries:
        pytest.skip(f"{heads * queries} devices")
    q, k, v, ct = data()
    multi = masks.MultiHeadMask([mask] * 2)
    kernel = sa.make_splash_mha(multi, head_shards=heads, q_seq_shards=queries, block_sizes=BLOCKS, interpret=True)
    mesh = jax.make_mesh((heads, queries), ("h", "q"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    P = jax.P
    split = jax.shard_map(lambda kernel, q, k, v: kernel(q, k, v), mesh=mesh, out_specs=P("h", "q"), check_vma=False, in_specs=(
        kernel.manual_sharding_spec(jax.NamedSharding(mesh, P("h", "q"))), P("h", "q"), P("h"), P("h")))
    expected, pull = jax.vjp(sa.make_masked_mha_reference(multi), q, k, v)
    out, pulled = jax.jit(lambda *args: (lambda out, pull: (out, pull(ct)))(*jax.vjp(lambda *xs: split(kernel, *xs), *args)))(q, k, v)
    jax.tree.map(close, (out, pulled), (expected, pull(ct)))


@pytest.mark.parametrize("case", MASKS)
def test_a_mask_knows_its_blocks(case):
    mask = MASKS[case]
    whole = mask[:, :]
    for i in range(0, N, 8):
        for j in range(0, M, 12):
            part = whole[i:i + 8, j:j + 12]
            assert mask.block(slice(i, i + 8), slice(j, j + 12)) == 2 * part.all() + (part.any() and not part.all())
            np.testing.assert_array_equal(mask[i:i + 8, j:j + 12], part)


def test_what_nobody_sees_is_no_step():
    info, function = infos.process_mask(masks.MultiHeadMask([masks.LocalMask((1024, 1024), (0, 0), 0)] * 4), (128, 128))
    assert info.data_next.shape == (1, 8, 1) and info.data_next.ravel().tolist() == list(range(8)) and info.partial_mask_blocks is None
    assert function == masks.LocalMask((1024, 1024), (0, 0), 0)
    huge = masks.CausalMask((1 << 20, 1 << 20))
    assert infos.process_mask(masks.MultiHeadMask([huge]), (1 << 15, 1 << 15))[0].block_mask.sum() == 32 + 2 * 31 * 16


MASK = masks.MultiHeadMask([MASKS["causal"]] * 2)
mha = functools.partial(sa.make_splash_mha, MASK, head_shards=1, q_seq_shards=1, block_sizes=BLOCKS, interpret=True)
Q, K = np.zeros((2, N, 8), np.float32), np.zeros((2, M, 8), np.float32)
REFUSED = {
    "rank": (lambda: mha()(Q, K[0], K[0]), "k and v are .heads, keys, width."),
    "rank of MQA": (lambda: sa.make_splash_mqa(MASK, head_shards=1, q_seq_shards=1, block_sizes=BLOCKS)(Q, K, K), "k and v are .keys, width."),
    "width": (lambda: mha()(Q, K[..., :4], K), "must have the same width"),
    "queries": (lambda: mha()(Q[:, :32], K, K), "made for 64 queries"),
    "keys": (lambda: mha()(Q, K[:, :32], K[:, :32]), "made for 96 keys"),
    "values": (lambda: mha()(Q, K, K[:, :32]), "keys and values must have the same number"),
    "heads": (lambda: sa.make_splash_mha(masks.MultiHeadMask([MASKS["causal"], MASKS["local"]]), head_shards=1, q_seq_shards=1, block_sizes=BLOCKS)(
        Q[:1], K[:1], K[:1]), "made for 64 queries of 2 heads"),
    "groups": (lambda: mha()(np.zeros((3, N, 8), np.float32), K, K), "must be a multiple of that of keys"),
    "segments": (lambda: mha()(Q, K, K, sa.SegmentIds(np.zeros(M, np.int32), np.zeros(M, np.int32))), "there is one for each"),
    "sinks": (lambda: mha()(Q, K, K, None, np.zeros(3, np.float32)), "there is one for each"),
    "blocks": (lambda: sa.make_splash_mha(MASK, head_shards=1, q_seq_shards=1, block_sizes=sa.BlockSizes(48, 32)), "blocks of 48 queries must divide"),
    "shards": (lambda: mha(head_shards=3), "head_shards=3 must divide"),
    "shards of queries": (lambda: mha(q_seq_shards=3), "must consist of whole blocks"),
    "pieces": (lambda: mha(block_sizes=sa.BlockSizes(16, 32, 24)), "block_kv_compute=24 must divide"),
    "sizes of derivatives": (lambda: jax.grad(lambda q: mha(block_sizes=sa.BlockSizes(16, 32))(q, K, K).sum())(Q), "lacks sizes for it"),
    "fused": (lambda: sa.BlockSizes(16, 16, 16, 16, 16, 16, 16, 16, use_fused_bwd_kernel=True), "leave block_q_dq"),
    "one mask": (lambda: sa.make_splash_mha(MASKS["causal"], head_shards=1, q_seq_shards=1), "a mask .heads, queries, keys. is expected"),
    "no masks": (lambda: masks.MultiHeadMask([]), "no masks were given"),
    "masks of other shapes": (lambda: masks.MultiHeadMask([masks.FullMask((2, 2)), masks.FullMask((2, 3))]), "of one shape"),
    "numbers": (lambda: masks.NumpyMask(np.ones((2, 2))), "an array of booleans"),
    "combined": (lambda: masks.FullMask((2, 2)) & masks.FullMask((2, 3)), "must have the same"),
    "chunk": (lambda: masks.ChunkedCausalMask((2, 2), 0), "chunk_size=0"),
    "shard count": (lambda: masks.CausalMask((8, 8), shard_count=3), "shard_count=3"),
    "backward": (lambda: sa.make_masked_mha_reference(MASK, backward_impl="no"), "backward_impl='no'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_masks_are_neither_true_nor_false():
    with pytest.raises(NotImplementedError, match="by & and |"):
        bool(MASKS["causal"])
    with pytest.raises(TypeError, match="takes two slices"):
        MASKS["causal"][2]
