"""The hash and its two layouts: known answers, and compiled code against NumPy."""
import math
import re

import numpy as np
import pytest

import jax_random
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.vmap import vmap
from jax_random import api, threefry
from jax_random.impls import threefry_prng_impl
from jax_random.primitives import random_bits_p, random_fold_in_p, random_split_p
from jax_xla_backend.jaxlib_compat import BARRIERS_LAST

# Random123's known-answer vectors of threefry2x32, 20 rounds: counter, key, result.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]
KEYS = np.array([[0, 0], [1, 2], [0xDEADBEEF, 12345]], np.uint32)


@pytest.mark.parametrize("counter, key, result", KNOWN)
def test_known_answers(counter, key, result):
    assert threefry.hash_ints(*key, *counter) == result
    words = [np.uint32(x) for x in (*key, *counter)]
    assert tuple(int(x) for x in threefry.hash_numpy(*words)) == result
    assert tuple(int(x) for x in jit(lambda *xs: threefry.threefry2x32_p.bind(*xs))(*words)) == result


def test_specified_keys():
    """The values that the specification prints."""
    key = jax_random.PRNGKey(0)
    np.testing.assert_array_equal(jax_random.split(key), [[4146024105, 967050713], [2718843009, 1272950319]])
    assert str(np.asarray(jax_random.normal(key, (1,)))) == "[-0.20584235]"


@pytest.mark.parametrize("partitionable", [False, True])
@pytest.mark.parametrize("bit_width", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 21), (0,), (2, 0, 3)])
def test_bits_equal_numpy(shape, bit_width, partitionable):
    params = dict(shape=shape, bit_width=bit_width, partitionable=partitionable)
    run = jit(lambda keys: random_bits_p.bind(keys, impl=threefry_prng_impl, **params))
    for keys in (KEYS[1], KEYS):
        got = run(keys)
        assert got.dtype == np.dtype(f"u{bit_width // 8}")
        np.testing.assert_array_equal(got, threefry.bits_numpy(keys, **params))


@pytest.mark.parametrize("partitionable", [False, True])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 2), (0,)])
def test_split_equals_numpy(shape, partitionable):
    run = jit(lambda k: random_split_p.bind(k, impl=threefry_prng_impl, shape=shape, partitionable=partitionable))
    for keys in (KEYS[2], KEYS):
        np.testing.assert_array_equal(run(keys), threefry.split_numpy(keys, shape=shape, partitionable=partitionable))


@pytest.mark.parametrize("partitionable", [False, True])
def test_integers_equal_numpy(partitionable):
    words = threefry.split_ints(7, 9, 3, partitionable)
    want = threefry.split_numpy(np.array([7, 9], np.uint32), shape=(3,), partitionable=partitionable)
    assert words == want.ravel().tolist()


def test_fold_in_equals_numpy():
    data = np.array([0, 1, 0xFFFFFFFF], np.uint32)
    run = jit(lambda k, d: random_fold_in_p.bind(k, d, impl=threefry_prng_impl))
    np.testing.assert_array_equal(run(KEYS, data), threefry.fold_in_numpy(KEYS, data))
    np.testing.assert_array_equal(run(KEYS, data[1]), threefry.fold_in_numpy(KEYS, data[1]))


@pytest.mark.parametrize("bit_width", [8, 32, 64])
def test_many_words_come_from_blocks(bit_width, monkeypatch):
    """More words than a 32-bit counter numbers: each block from a key of its own. Tried with small blocks."""
    block, n = 10, 67
    monkeypatch.setattr(threefry, "BLOCK", block)
    with flags.enable_x64(True):
        got = np.asarray(api.draw_bits(KEYS[1], threefry_prng_impl, bit_width, (n,)))
    count = math.ceil(n * bit_width / 32)
    blocks, rest = divmod(count, block)
    keys = threefry.split_numpy(KEYS[1], shape=(blocks + 1,), partitionable=False)
    words = np.concatenate([threefry.words_numpy(k, block) for k in keys[:-1]] + [threefry.words_numpy(keys[-1], rest)])
    if bit_width == 64:
        want = words[:n].astype(np.uint64) << np.uint64(32) | words[n:]
    else:
        want = words.view(np.dtype(f"<u{bit_width // 8}"))[:n]
    np.testing.assert_array_equal(got, want)


def test_large_partitionable_counters_are_64_bits_wide():
    run = jit(lambda k: random_bits_p.bind(k, impl=threefry_prng_impl, shape=(2**33,), bit_width=8, partitionable=True))
    assert "ui64" in run.lower(KEYS[0]).as_text()


def test_vmap_equals_loop():
    draw = lambda key: jax_random.bits(key, (3,))
    np.testing.assert_array_equal(vmap(draw)(KEYS), np.stack([draw(jax_random.wrap_key_data(k))
                                                              for k in KEYS]))


def test_threefry_2x32_takes_any_shape():
    from jax_random.extend import threefry_2x32
    counts = np.arange(5, dtype=np.uint32)
    np.testing.assert_array_equal(threefry_2x32(KEYS[0], counts), threefry.words_numpy(KEYS[0], 5))
    assert threefry_2x32(KEYS[0], np.zeros((2, 3), np.uint32)).shape == (2, 3)
    with pytest.raises(TypeError, match="threefry_2x32: key words and count must be uint32"):
        threefry_2x32(KEYS[0], np.zeros(2, np.int32))


MADE_KEYS = {
    "the only one of a split": lambda key: jax_random.split(key, 1)[0],
    "one of a split": lambda key: jax_random.split(key)[1],
    "folded": lambda key: jax_random.fold_in(key, 1),
    "seeded with random bits": lambda key: jax_random.PRNGKey(jax_random.bits(key)),
    "wrapped random bits": lambda key: jax_random.wrap_key_data(jax_random.bits(key, (2,))),
}


@pytest.mark.skipif(not BARRIERS_LAST, reason="before jaxlib 0.12 nothing keeps these apart, and LLVM compiles them fast together")
@pytest.mark.parametrize("partitionable", [False, True])
@pytest.mark.parametrize("make", MADE_KEYS.values(), ids=MADE_KEYS)
def test_no_kernel_hashes_twice(make, partitionable):
    """In a loop, LLVM takes exponential time for a hash whose key is hashed in the same kernel."""
    with flags.threefry_partitionable(partitionable):
        text = jit(lambda key: jax_random.bits(make(key), (8,))).lower(KEYS[1]).compile().as_text()
    rotations = [len(re.findall(r" shift-left\(", computation)) for computation in text.split("\n}\n")]
    assert 20 <= max(rotations) <= 21  # of the hash, and one that joins two words


def visits(text):
    """How many values LLVM's loop vectorizer looks at behind the counters and the words of keys of a StableHLO program, path by path: through
    all but minima, maxima and rotations (the only uses of `or` on the way)."""
    behind, total = {}, 0
    for name, op, operands in re.findall(r"(%\w+) = stablehlo\.(\w+)(.*?)(?::|$)", text, re.M):
        if op in ("iota", "slice"):
            behind[name] = 1
        elif op not in ("or", "maximum", "minimum"):
            behind[name] = sum(behind.get(v, 0) for v in re.findall(r"%\w+", operands))
        total += behind.get(name, 0)
    return total


@pytest.mark.only_cpu
@pytest.mark.parametrize("partitionable", [False, True])
@pytest.mark.parametrize("draw", [lambda key, n: api.bits(key, (n,)), lambda key, n: api.bits(key, (n,), np.uint8), lambda key, n: api.split(key, n),
                                  lambda key, n: vmap(lambda data: api.fold_in(key, data))(np.arange(n))], ids=["bits", "uint8", "split", "fold_in"])
def test_paths(draw, partitionable, monkeypatch):
    """The compiler's time grows with the paths."""
    def counted(n):
        return visits(jit(lambda key: draw(key, n)).lower(jax_random.PRNGKey(0)).as_text())

    with flags.threefry_partitionable(partitionable):
        assert counted(1000) < 40_000
        monkeypatch.setattr(threefry._Words, "_bounding_paths", lambda self, x0, k0: x0)
        assert counted(1004) > 1e6  # the count sees what it is there for
