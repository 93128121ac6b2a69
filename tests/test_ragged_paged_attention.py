"""Attention of several texts to keys in pages, interpreted, against plain operations."""
import functools

import numpy as np
import pytest

import jax.numpy as jnp
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import ragged_paged_attention as library

pytestmark = pytest.mark.any_code

RNG = np.random.RandomState(0)
Q, PAGES = RNG.randn(32, 4, 16).astype(np.float32), RNG.randn(10, 16, 4, 16).astype(np.float32)
LENGTHS, TABLE = np.int32([20, 5, 40, 1]), np.int32([[0, 1, 2], [3, 0, 0], [4, 5, 6], [9, 9, 9]])
ENDS, COUNT = np.int32([0, 3, 4, 20, 20]), np.int32([3])  # a part, one query, all of what fits; and a text that is not there
NUMBERS = LENGTHS, TABLE, ENDS, COUNT


def plain(q, pages, lengths, table, ends, count, window=None, cap=None, scale=1.0):
    """By NumPy, query by query."""
    out, each = np.zeros((ends[count[0]], *q.shape[1:]), np.float64), q.shape[1] // (pages.shape[2] // 2)
    for i in range(count[0]):
        both = pages[table[i]].reshape(-1, *pages.shape[2:]).astype(np.float64)
        for t in range(ends[i], ends[i + 1]):
            last = lengths[i] - ends[i + 1] + t + 1
            first = 0 if window is None else max(0, last - window)
            for h in range(q.shape[1]):
                k, v = both[first:last, 2 * (h // each)], both[first:last, 2 * (h // each) + 1]
                s = k @ q[t, h] * scale
                s = s if cap is None else np.tanh(s / cap) * cap
                w = np.exp(s - s.max())
                out[t, h] = w @ v / w.sum()
    return out


OPTIONS = {
    "plain": {}, "small blocks": dict(num_kv_pages_per_block=1, num_queries_per_block=4),
    "blocks that end elsewhere": dict(num_kv_pages_per_block=2, num_queries_per_block=5), "scaled": dict(sm_scale=0.25),
    "a window": dict(sliding_window=5, num_queries_per_block=8), "a cap": dict(soft_cap=2.0)}


@pytest.mark.parametrize("case", OPTIONS)
def test_values(case):
    options = OPTIONS[case]
    expected = plain(Q, PAGES, *NUMBERS, options.get("sliding_window"), options.get("soft_cap"), options.get("sm_scale", 1.0))
    with pltpu.force_tpu_interpret_mode():
        out = library.ragged_paged_attention(Q, PAGES, *NUMBERS, **options)
    assert out.shape == Q.shape
    np.testing.assert_allclose(out[:20], expected, rtol=2e-4, atol=2e-5)
    asked = {name: x for name, x in options.items() if not name.startswith("num_")}
    np.testing.assert_allclose(library.ref_ragged_paged_attention(Q, PAGES, *NUMBERS, **asked), expected, rtol=2e-4, atol=2e-5)


def test_small_integers():
    pages = np.clip(np.rint(PAGES * 40), -128, 127).astype(np.int8)
    expected = plain(Q, pages * np.float32([0.02, 0.04, 0.02, 0.04])[:, None], *NUMBERS)
    with pltpu.force_tpu_interpret_mode():
        out = library.ragged_paged_attention(Q, pages, *NUMBERS, k_scale=0.02, v_scale=0.04)
    np.testing.assert_allclose(out[:20], expected, rtol=2e-4, atol=2e-5)


def test_no_texts():
    with pltpu.force_tpu_interpret_mode():
        assert library.ragged_paged_attention(Q, PAGES, LENGTHS, TABLE, ENDS, np.int32([0])).shape == Q.shape
    assert library.ref_ragged_paged_attention(Q, PAGES, LENGTHS, TABLE, ENDS, np.int32([0])).shape == (0, 4, 16)


def replaced(place, value):
    args = [Q, PAGES, *NUMBERS]
    args[place] = value
    return [jnp.asarray(x) for x in args]


static = functools.partial(library.static_validate_inputs, *replaced(0, Q))
REFUSED = {
    "pages": (lambda: library.static_validate_inputs(*replaced(1, PAGES[:, :, :3])), "2 . key heads"),
    "width": (lambda: library.static_validate_inputs(*replaced(1, PAGES[..., :8])), "must have the width"),
    "heads": (lambda: library.static_validate_inputs(*replaced(0, Q[:, :3])), "a multiple of their heads"),
    "count": (lambda: library.static_validate_inputs(*replaced(5, COUNT[0])), "num_seqs .1. are expected"),
    "lengths": (lambda: library.static_validate_inputs(*replaced(2, LENGTHS[:2])), "there are 4 kv_lens and 5 cu_q_lens"),
    "dtype": (lambda: library.static_validate_inputs(*replaced(2, LENGTHS.astype(np.float32))), "kv_lens is float32"),
    "window": (lambda: static(sliding_window=0), "sliding_window=0 must be positive"),
    "cap": (lambda: static(soft_cap=0), "soft_cap=0"),
    "pages of a block": (lambda: static(num_kv_pages_per_block=4), "between 1 and the 3 pages"),
    "texts": (lambda: library.dynamic_validate_inputs(*replaced(5, np.int32([5]))), "num_seqs=5; page_indices has 4"),
    "ends": (lambda: library.dynamic_validate_inputs(*replaced(4, np.int32([0, 3, 4, 40, 40]))), "cu_q_lens ends at 40"),
    "queries": (lambda: library.dynamic_validate_inputs(*replaced(2, np.int32([2, 5, 40, 1]))), "text 0 has 3 queries and 2 keys"),
    "keys": (lambda: library.dynamic_validate_inputs(*replaced(2, np.int32([20, 5, 49, 1]))), "its 3 pages hold 48"),
    "a page": (lambda: library.dynamic_validate_inputs(*replaced(3, TABLE * 4)), "there are 10"),
    "the function": (lambda: library.ragged_paged_attention(*replaced(2, LENGTHS[:2])), "there are 4 kv_lens"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match="ragged_paged_attention: .*" + message):
        call()


def test_what_fits_is_accepted():
    library.dynamic_validate_inputs(*replaced(0, Q), num_kv_pages_per_block=3, num_queries_per_block=1, vmem_limit_bytes=1 << 20)
