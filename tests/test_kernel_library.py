"""Kernels that are ready to use (`jax.experimental.pallas.ops`), interpreted, against plain operations."""
import importlib

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import flash_attention as fa, matmul, megablox
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention, quantization_utils

pytestmark = pytest.mark.any_code

kernels = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.gmm")


def normal(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=2e-4, atol=5e-5)


def ids(n, *bounds):
    return np.searchsorted(bounds, np.arange(n), side="right").astype(np.int32)[None]


SMALL = fa.BlockSizes(**{name: 1 if name == "block_b" else 32 if name.startswith("block_q") else 16 if "major" not in name else 32
                         for name in fa.BlockSizes.__dataclass_fields__})
ATTENTIONS = {  # queries, keys, whether there is a bias, segments, options
    "plain": (32, 64, False, None, {}),
    "scaled": (64, 32, True, None, dict(sm_scale=0.25)),
    "causal": (96, 64, False, None, dict(causal=True)),
    "causal with a bias": (64, 96, True, None, dict(causal=True, sm_scale=0.5)),
    "segments": (64, 96, False, fa.SegmentIds(ids(64, 20), ids(96, 50)), {}),
    "all": (64, 64, True, fa.SegmentIds(ids(64, 20), ids(64, 20)), dict(causal=True, sm_scale=0.5)),
}


@pytest.mark.parametrize("case", ATTENTIONS)
def test_attention_and_its_derivatives(case):
    n, m, bias, segments, options = ATTENTIONS[case]
    q, k, v, ct = normal(0, 1, 2, n, 8), normal(1, 1, 2, m, 8), normal(2, 1, 2, m, 8), normal(3, 1, 2, n, 8)
    ab = normal(4, 1, 2, n, m) if bias else None
    expected, plain = jax.vjp(lambda *args: fa.mha_reference_no_custom_vjp(*args, segments, **options), q, k, v, ab)
    with pltpu.force_tpu_interpret_mode():
        out, pull = jax.vjp(lambda *args: fa.flash_attention(*args, segments, block_sizes=SMALL, **options), q, k, v, ab)
        pulled = pull(ct)
    jax.tree.map(close, (out, pulled), (expected, plain(ct)))


def test_attention_without_kernels_says_sums_and_maxima():
    q, k = normal(0, 1, 1, 4, 8), normal(1, 1, 1, 6, 8)
    out, total, largest = fa.mha_reference_no_custom_vjp(q, k, k, save_residuals=True)
    scores = np.einsum("bhqc,bhkc->bhqk", q, k)
    jax.tree.map(close, (total, largest), (np.exp(scores - scores.max(-1, keepdims=True)).sum(-1), scores.max(-1)))
    close(out, fa.mha_reference(q, k, k, None))


Q = np.zeros((1, 2, 128, 8), np.float32)
REFUSED = {
    "heads": (lambda: fa.flash_attention(Q, Q[:, :1], Q), ValueError, "the number of heads must be the same"),
    "lengths": (lambda: fa.flash_attention(Q, Q, Q[:, :, :64]), ValueError, "the length of keys and values"),
    "widths": (lambda: fa.flash_attention(Q, Q, Q[..., :4]), NotImplementedError, "values of another width"),
    "bias": (lambda: fa.flash_attention(Q, Q, Q, Q), ValueError, r"ab must have the shape \(1, 2, 128, 128\)"),
    "segments": (lambda: fa.flash_attention(Q, Q, Q, None, fa.SegmentIds(ids(64), ids(128))), ValueError, r"segment_ids\.q must have the shape \(1, 128\)"),
    "short": (lambda: fa.flash_attention(Q[:, :, :64], Q, Q), ValueError, "block_q=128 must divide the length 64"),
    "blocks": (lambda: fa.BlockSizes(128, 128, 256, 1), ValueError, "block_k=256 must divide block_k_major=128"),
    "no blocks for derivatives": (lambda: jax.grad(lambda q: fa.flash_attention(q, Q, Q, block_sizes=fa.BlockSizes(128, 128, 128, 1)).sum())(Q), ValueError,
                                  "lacks sizes for it"),
    "rows of groups": (lambda: kernels.gmm(np.zeros((12, 4), np.float32), np.zeros((1, 4, 4), np.float32), np.array([12]), tiling=(8, 4, 4)), ValueError,
                       "12 rows are no whole number of tiles"),
    "columns of groups": (lambda: kernels.gmm(np.zeros((8, 4), np.float32), np.zeros((1, 6, 4), np.float32), np.array([8])), ValueError, "have 6 rows"),
    "dtype of groups": (lambda: kernels.gmm(np.zeros((8, 4), np.int8), np.zeros((1, 4, 4), np.int8), np.array([8])), ValueError, "got int8"),
    "sizes": (lambda: kernels.gmm(np.zeros((8, 4), np.float32), np.zeros((1, 4, 4), np.float32), np.array([8.0])), ValueError, "a vector of integers"),
    "no tiling": (lambda: kernels.gmm(np.zeros((8, 4), np.float32), np.zeros((1, 4, 4), np.float32), np.array([8]), tiling=lambda *_: None), ValueError,
                  "no tiling for the sizes m=8"),
    "inner sizes": (lambda: kernels.tgmm(np.zeros((4, 8), np.float32), np.zeros((6, 4), np.float32), np.array([8])), ValueError, "rhs .* has 6 rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_said(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def of_groups(lhs, rhs, sizes):
    ends = np.cumsum(sizes)
    return jnp.concatenate([lhs[end - size:end] @ w for size, end, w in zip(sizes, ends, rhs)])


GROUPS = {"even": (8, 8, 8), "ragged": (10, 0, 14), "small": (1, 2, 21), "one": (0, 24, 0)}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("case", GROUPS)
def test_products_of_groups_and_their_derivatives(case, turned):
    """Sizes that no tile divides, and groups that share tiles or have no rows."""
    sizes, lhs, rhs, ct = np.array(GROUPS[case], np.int32), normal(0, 24, 10), normal(1, 3, 10, 7), normal(2, 24, 7)
    turn = (lambda x: x.swapaxes(1, 2)) if turned else (lambda x: x)
    expected, plain = jax.vjp(lambda a, b: of_groups(a, b, sizes), lhs, rhs)
    out, pull = jax.vjp(lambda a, b: megablox.gmm(a, b, sizes, jnp.float32, (8, 4, 4), None, None, turned, True), lhs, turn(rhs))
    d_lhs, d_rhs = pull(ct)
    jax.tree.map(close, (out, d_lhs, turn(d_rhs)), (expected, *plain(ct)))


def test_a_part_of_the_groups():
    """The rows of other groups get zeros, or what was there."""
    sizes, lhs, rhs = np.array([6, 5, 9, 4], np.int32), normal(0, 24, 8), normal(1, 2, 8, 8)
    options = dict(tiling=(8, 8, 8), group_offset=np.int32(1), interpret=True)
    expected = np.zeros((24, 8), np.float32)
    expected[6:20] = of_groups(lhs[6:20], rhs, sizes[1:3])
    close(kernels.gmm(lhs, rhs, sizes, **options), expected)
    there = normal(2, 24, 8)
    mine = (np.arange(24)[:, None] >= 6) & (np.arange(24)[:, None] < 20)
    close(kernels.gmm(lhs, rhs, sizes, existing_out=there, **options), np.where(mine, expected, there))
    products = kernels.tgmm(lhs.T, there, sizes, num_actual_groups=2, existing_out=rhs, **options)
    close(products, rhs + np.stack([lhs[6:11].T @ there[6:11], lhs[11:20].T @ there[11:20]]))


# -- products of matrices, keys in pages -------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(16, 300, 24), (20, 64, 10), (8, 8, 8)], ids=str)
def test_products_by_blocks(shape):
    m, k, n = shape
    x, y = normal(0, m, k), normal(1, k, n)
    with pltpu.force_tpu_interpret_mode():
        close(matmul.matmul(x, y, block_shape=(8, 16), block_k=128), x @ y)
        assert matmul.matmul(x, y, block_shape=(8, 16), out_dtype=jnp.bfloat16).dtype == jnp.bfloat16
        whole = np.arange(m * k).reshape(m, k) % 5
        assert matmul.matmul(whole, whole.T, block_shape=(8, 16)).tolist() == (whole @ whole.T).tolist()


def test_bad_arguments_of_products_by_blocks():
    with pytest.raises(ValueError, match=r"^matmul: operands of shapes \(2, 3\) and \(2, 3\)"):
        matmul.matmul(jnp.ones((2, 3)), jnp.ones((2, 3)), block_shape=(8, 8))


def paged():
    pages, table = normal(1, 2, 20, 16, 8), np.random.RandomState(2).permutation(20)[:16].reshape(2, 8)
    return normal(0, 2, 6, 8), pages, jnp.asarray(table, jnp.int32)


def plainly(q, pages, table, lengths, cap=None):
    keys = np.asarray(pages)[:, np.asarray(table)].transpose(1, 0, 2, 3, 4).reshape(2, 2, 128, 8)
    scores = np.einsum("bghc,bgkc->bghk", q.reshape(2, 2, 3, 8), keys)
    scores = scores if cap is None else np.tanh(scores / cap) * cap
    weights = np.asarray(jax.nn.softmax(np.where(np.arange(128) < np.array(lengths)[:, None, None, None], scores, -1e30)))
    return np.einsum("bghk,bgkc->bghc", weights, keys).reshape(q.shape)


@pytest.mark.parametrize("lengths", [[100, 1], [128, 17]], ids=str)
@pytest.mark.parametrize("pages", [1, 4])
def test_pages(lengths, pages):
    q, kv, table = paged()
    call = lambda *args, **options: paged_attention(*args, jnp.array(lengths), table, pages_per_compute_block=pages, **options)
    with pltpu.force_tpu_interpret_mode():
        close(call(q, kv, kv, megacore_mode="batch"), plainly(q, kv, table, lengths))
        close(call(q, kv, kv, attn_logits_soft_cap=2.0), plainly(q, kv, table, lengths, 2.0))
        small = quantization_utils.quantize_to_int8(kv)
        close(call(q, small, small), plainly(q, quantization_utils.unquantize_from_int8(small, jnp.float32), table, lengths))


def test_a_text_without_keys_gives_zeros():
    q, kv, table = paged()
    with pltpu.force_tpu_interpret_mode():
        out = paged_attention(q, kv, kv, jnp.array([0, 5]), table, pages_per_compute_block=4)
    assert not np.any(out[0]) and np.all(np.isfinite(out[1]))


def test_small_integers_are_within_half_a_step():
    x = normal(0, 3, 50)
    small = quantization_utils.quantize_to_int8(x)
    step = np.asarray(small.scales) / quantization_utils.MAX_INT8
    assert small.weight.dtype == jnp.int8 and small.scales.shape == (3, 1)
    assert np.all(np.abs(quantization_utils.unquantize_from_int8(small, jnp.float32) - x) <= 0.51 * step)


@pytest.mark.parametrize("change, message", [
    (dict(k=np.ones((2, 20, 8, 8))), "must be alike"), (dict(q=np.ones((2, 5, 8))), "a multiple of their heads"), (dict(lengths=jnp.array([1])), "lengths"),
    (dict(pages=3), "pages_per_compute_block=3 must divide the 8 pages"), (dict(mode="no"), "megacore_mode='no'")], ids=lambda x: "")
def test_bad_arguments_of_pages(change, message):
    q, kv, table = paged()
    given = {"q": q, "k": kv, "lengths": jnp.array([1, 2]), "pages": 4, "mode": None, **change}
    with pytest.raises(ValueError, match=message):
        paged_attention(given["q"], given["k"], kv, given["lengths"], table, pages_per_compute_block=given["pages"], megacore_mode=given["mode"])
