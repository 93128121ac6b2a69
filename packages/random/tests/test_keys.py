"""Typed keys: what they are, and that they go wherever arrays go."""
import copy
import pickle

import numpy as np
import pytest

import jax_random as random
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation import array, dtypes
from jax_core.representation.aval import ShapedArray
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_random.counters import philox2, philox4, threefry4
from jax_random.extend import define_prng_impl

pytestmark = pytest.mark.any_code


def same(keys, others) -> bool:
    return keys.dtype == others.dtype and np.array_equal(random.key_data(keys), random.key_data(others))


@pytest.fixture
def key():
    return random.key(0)


@pytest.fixture
def keys(key):
    return random.split(key, 3)


def test_facts(key, keys):
    assert (key.shape, key.ndim, key.size, key.itemsize, key.nbytes) == ((), 0, 1, 8, 8)
    assert str(key.dtype) == "key<fry>" and key.dtype == random.key_dtype()
    assert dtypes.issubdtype(key.dtype, dtypes.prng_key)
    assert isinstance(key, array.Array)
    assert key.aval == ShapedArray((), key.dtype)
    assert repr(key) == "Array((), dtype=key<fry>) overlaying:\n[0 0]"
    assert len(keys) == 3 and [k.shape for k in keys] == [()] * 3
    assert random.key_impl(key) == random.key_impl(random.PRNGKey(0)) == "threefry2x32"


@pytest.mark.parametrize("seed, words", [(0, (0, 0)), (7, (0, 7)), (-1, (0, 2**32 - 1)), (2**32 + 5, (0, 5)),
                                         (np.uint32(2**32 - 1), (0, 2**32 - 1)), (np.int64(2**33 + 1), (0, 1))])
def test_seeds(seed, words):
    np.testing.assert_array_equal(random.PRNGKey(seed), np.array(words, np.uint32))
    assert same(random.key(seed), random.wrap_key_data(np.array(words, np.uint32)))


@pytest.mark.parametrize("seed, words", [(-1, (2**32 - 1, 2**32 - 1)), (2**32 + 7, (1, 7))])
def test_seeds_are_64_bits_wide_with_x64(seed, words):
    with flags.enable_x64(True):
        np.testing.assert_array_equal(random.PRNGKey(seed), np.array(words, np.uint32))
        np.testing.assert_array_equal(jit(random.PRNGKey)(seed), np.array(words, np.uint32))


def test_both_kinds_draw_the_same_numbers(key):
    raw = random.PRNGKey(0)
    np.testing.assert_array_equal(random.bits(key, (3,)), random.bits(raw, (3,)))
    np.testing.assert_array_equal(random.key_data(random.split(key)), random.split(raw))
    np.testing.assert_array_equal(random.key_data(random.fold_in(key, 5)), random.fold_in(raw, 5))


MOVES = {
    "int": lambda k: k[1], "slice": lambda k: k[1:], "array": lambda k: k[np.array([0, 2])], "new axis": lambda k: k[None],
    "reshape": lambda k: k.reshape(3, 1), "at set": lambda k: k.at[0].set(k[1]),
    "concatenate": lambda k: jnp.concatenate([k, k]), "stack": lambda k: jnp.stack([k, k]),
    "where": lambda k: jnp.where(np.array([True, False, True]), k, k[0]),
    "broadcast": lambda k: jnp.broadcast_to(k, (2, 3)), "roll": lambda k: jnp.roll(k, 1), "take": lambda k: jnp.take(k, 1),
    "tile": lambda k: jnp.tile(k, 2), "repeat": lambda k: jnp.repeat(k, 2), "ravel": lambda k: k.reshape(1, 3).ravel(),
    "swapaxes": lambda k: jnp.swapaxes(k.reshape(1, 3), 0, 1), "squeeze": lambda k: jnp.squeeze(k[:1]),
    "list": lambda k: jnp.asarray([k[0], k[2]]), "dynamic slice": lambda k: lax.dynamic_slice(k, (1,), (2,)),
    "dynamic update": lambda k: lax.dynamic_update_slice(k, k[2:], (0,)),
    "select": lambda k: lax.select(np.array([True, False, True]), k, k),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_moves_take_words_along(move, keys):
    """A move of keys is the move of each of their words, eagerly and compiled."""
    words = random.key_data(keys)
    want = jnp.stack([move(words[:, i]) for i in range(2)], -1)
    for run in (move, jit(move)):
        got = run(keys)
        assert got.dtype == keys.dtype
        np.testing.assert_array_equal(random.key_data(got), want)


def test_equality(key, keys):
    np.testing.assert_array_equal(keys == keys, [True] * 3)
    np.testing.assert_array_equal(keys == keys[0], [True, False, False])
    assert not (key != key) and bool(jnp.array_equal(keys, keys))
    np.testing.assert_array_equal(jit(lambda a, b: a != b)(keys, key), [True] * 3)


def test_filled_arrays(key):
    for made in (jnp.zeros((2,), key.dtype), jnp.empty((2,), key.dtype), jnp.zeros_like(random.split(key))):
        np.testing.assert_array_equal(random.key_data(made), np.zeros((2, 2)))
    np.testing.assert_array_equal(random.key_data(jnp.full((2,), random.key(3))), [[0, 3], [0, 3]])


def test_control_flow(key, keys):
    step = lambda c, k: (random.fold_in(c, 1), random.bits(k))
    carry, drawn = lax.scan(step, key, keys)
    np.testing.assert_array_equal(drawn, [random.bits(k) for k in keys])
    assert same(carry, random.fold_in(random.fold_in(random.fold_in(key, 1), 1), 1))
    assert same(lax.fori_loop(0, 2, lambda i, k: random.fold_in(k, i), key), random.fold_in(random.fold_in(key, 0), 1))
    assert same(lax.cond(True, lambda k: k[0], lambda k: k[1], keys), keys[0])
    assert same(lax.while_loop(lambda c: c[1] < 2, lambda c: (random.split(c[0])[1], c[1] + 1), (key, 0))[0],
                random.split(random.split(key)[1])[1])


def test_vmap(key, keys):
    np.testing.assert_array_equal(vmap(random.bits)(keys), [random.bits(k) for k in keys])
    assert vmap(random.split)(keys).shape == (3, 2)
    folded = vmap(random.fold_in, in_axes=(None, 0))(key, np.arange(3))
    assert same(folded[2], random.fold_in(key, 2))
    assert same(vmap(random.key)(np.arange(3))[2], random.key(2))
    grid = random.split(key, (2, 3))
    np.testing.assert_array_equal(vmap(vmap(random.bits))(grid)[1, 2], random.bits(grid[1, 2]))


def test_keys_in_closures(key):
    np.testing.assert_array_equal(jit(lambda x: random.bits(key, (2,)) + x)(np.uint32(0)), random.bits(key, (2,)))
    assert same(jit(lambda: key)(), key)


def test_round_trips(key, keys, tmp_path):
    assert same(pickle.loads(pickle.dumps(keys)), keys)
    assert same(copy.deepcopy(keys), keys) and same(copy.copy(key), key)
    assert same(random.clone(keys), keys)
    np.save(tmp_path / "keys.npy", random.key_data(keys))
    assert same(random.wrap_key_data(np.load(tmp_path / "keys.npy")), keys)


def test_what_keys_refuse(key):
    for refused in (lambda: key + 1, lambda: 1 + key, lambda: key < key, lambda: -key):
        with pytest.raises(TypeError, match="does not accept dtype key<fry>"):
            refused()
    with pytest.raises(TypeError, match="NumPy has no dtype for keys"):
        np.asarray(key)
    with pytest.raises(TypeError, match="unhashable"):
        hash(key)
    with pytest.raises(TypeError, match="iteration over a 0-d key array"):
        iter(key)


# -- implementations ---------------------------------------------------------------------------------------------------

RBG = {
    "rbg": dict(
        split=[[3134548294, 3733159049, 3134548294, 3733159049], [3746501087, 894150801, 3746501087, 894150801],
               [801545058, 2363201431, 801545058, 2363201431]],
        fold=[2765691542, 824333390, 2765691542, 824333390], bits=[2620864722, 2991908441, 282133475],
        mapped=[[959025079, 2751428803], [2949420683, 2702135322], [2729577677, 2048946547]]),
    "unsafe_rbg": dict(
        split=[[2620864722, 2991908441, 282133475, 2589630650], [4105776319, 298289174, 864345282, 274752888],
               [3163845003, 1288433488, 2875901698, 4130285303]],
        fold=[3810769997, 2355008983, 1837142617, 748193156], bits=[2620864722, 2991908441, 282133475],
        mapped=[[2621076060, 1110882205], [1431065575, 3391764957], [429002668, 3594548429]]),
}


@pytest.mark.parametrize("impl", RBG)
def test_rbg(impl):
    """Values of the reference on CPU (original layout)."""
    key, want = random.key(42, impl=impl), RBG[impl]
    np.testing.assert_array_equal(random.key_data(key), [0, 42, 0, 42])
    keys = random.split(key, 3)
    np.testing.assert_array_equal(random.key_data(keys), want["split"])
    np.testing.assert_array_equal(random.key_data(random.fold_in(key, 5)), want["fold"])
    np.testing.assert_array_equal(random.bits(key, (5,))[:3], want["bits"])
    np.testing.assert_array_equal(vmap(lambda k: random.bits(k, (2,)))(keys), want["mapped"])


RBG_GAMMAS = {  # values of the reference on CPU (partitionable layout): each element is drawn with its own key
    "gamma": ((2.0,), [1.242568, 3.552207, 2.131775]),
    "loggamma": ((0.5,), None),
    "beta": ((2.0, 0.5), [0.9980721, 0.8268539, 0.8234102]),
    "t": ((3.0,), [-0.7985614, 0.4873936, 0.3373995]),
    "chisquare": ((3.0,), [1.636913, 5.651136, 3.124297]),
}


@pytest.mark.parametrize("name", RBG_GAMMAS)
def test_rejection_with_rbg(name):
    """It ends, for more elements than are accepted at once."""
    args, want = RBG_GAMMAS[name]
    with flags.threefry_partitionable(True):
        few, many = (getattr(random, name)(random.key(1, impl="rbg"), *args, (n,)) for n in (3, 40))
    if want is not None:
        np.testing.assert_allclose(few, want, rtol=1e-5)
    assert np.all(np.isfinite(many)) and len(set(np.asarray(many).tolist())) == 40


def test_default_implementation():
    with flags.default_prng_impl("rbg"):
        assert random.key(0).dtype.name == "key<rbg>" and random.PRNGKey(0).shape == (4,)


def test_own_implementation():
    """A counter as the key, and its multiples as bits."""
    def bits(key, bit_width, shape):
        numbers = jnp.arange(int(np.prod(shape)), dtype=np.uint32) + key[0]
        return (numbers * np.uint32(3)).astype(f"uint{bit_width}").reshape(shape)

    spec = define_prng_impl(
        key_shape=(1,), seed=lambda seed: jnp.asarray(seed).astype(np.uint32).reshape(1),
        split=lambda key, shape: jnp.arange(int(np.prod(shape)), dtype=np.uint32).reshape(*shape, 1) + key[None],
        random_bits=bits, fold_in=lambda key, data: key * np.uint32(10) + data, name="multiples", tag="mul")
    key = random.key(5, impl="multiples")
    assert str(key.dtype) == "key<mul>" and random.key_impl(key) == spec
    assert spec != "mul" and spec != random.key_impl(random.key(0))
    np.testing.assert_array_equal(random.bits(key, (3,)), [15, 18, 21])
    np.testing.assert_array_equal(random.key_data(random.fold_in(key, 3)), [53])
    keys = random.split(key, 3)
    np.testing.assert_array_equal(vmap(lambda k: random.bits(k, (2,)))(keys), [[15, 18], [18, 21], [21, 24]])
    traced = []
    counted = define_prng_impl(key_shape=(1,), seed=lambda seed: jnp.zeros(1, np.uint32), random_bits=bits, fold_in=lambda key, data: key,
                               split=lambda key, shape: traced.append(shape) or jnp.zeros((*shape, 1), np.uint32), name="counted")
    counted_key = random.key(0, impl=counted)
    random.split(counted_key, 3), random.split(counted_key, 3), jit(lambda k: random.split(k, 3))(counted_key)
    assert traced == [(3,)]  # a program once made is kept
    again = define_prng_impl(key_shape=(1,), seed=None, split=None, random_bits=None, fold_in=None, name="multiples")
    assert random.key_dtype("multiples") == random.key_dtype(again) != random.key_dtype(spec) == key.dtype
    with pytest.raises(ValueError, match="'rbg' is that of a built-in implementation"):
        define_prng_impl(key_shape=(1,), seed=None, split=None, random_bits=None, fold_in=None, name="rbg")


@pytest.mark.parametrize("name, seeded, split, folded, bits", [
    ("philox2x32", [3991259024], [413155073], [684560128], [944504651, 856563819]),
    ("philox4x32", [3717705800, 533567081], [969239790, 3857553174], [41828760, 81464021], [1373712901, 3223971023]),
    ("threefry4x32", [1605953687, 3689221460, 1722219033, 3178796034], [361144456, 1418825268, 1547191614, 2559243763],
     [2445197787, 3874293641, 4221169969, 2984886860], [2739996017, 3649338001]),
])
def test_block_functions(name, seeded, split, folded, bits):
    """The reference's numbers, for batches of keys and in narrow words too."""
    key = random.key(42, impl=name)
    assert random.key_impl(key) == name
    np.testing.assert_array_equal(random.key_data(key), seeded)
    np.testing.assert_array_equal(random.key_data(random.split(key, 3))[1], split)
    np.testing.assert_array_equal(random.key_data(random.fold_in(key, 7)), folded)
    np.testing.assert_array_equal(random.bits(key, (2,)), bits)
    np.testing.assert_array_equal(random.bits(key, (2,), np.uint8), np.array(bits) & 255)
    keys = random.split(key, 3)
    np.testing.assert_array_equal(vmap(lambda k: random.bits(k, (2, 2)))(keys)[2], random.bits(keys[2], (2, 2)))
    with flags.enable_x64(True):
        low = int(np.asarray(random.bits(key, (1,), np.uint64))[0]) & 0xFFFFFFFF
        assert low != bits[0]  # both words of the block, not one twice


@pytest.mark.parametrize("f, text", [
    (philox2, "ff1dae59 6cd10df2"), (philox4, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (threefry4, "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
])
def test_block_functions_of_zero(f, text):
    """The known answers of Random123 for a key and a counter of zeros."""
    words = len(text.split())
    key = {philox2: 1, philox4: 2, threefry4: 4}[f]
    zero = jnp.uint32(0)
    assert " ".join(f"{int(x):08x}" for x in f((zero,) * words, (zero,) * key)) == text


def test_attributes_that_libraries_use():
    keys = random.split(random.key(0), 3)
    assert keys._impl is keys.dtype.impl and keys._base_array.nbytes == keys.nbytes
    assert keys.device == keys._base_array.device and {keys.device} == keys.devices()
    nowhere = keys.at[jnp.array([1, 9])].get(mode="fill")
    np.testing.assert_array_equal(random.key_data(nowhere), [keys._base_array[1], [0xFFFFFFFF] * 2])
    np.testing.assert_array_equal(random.key_data(jnp.full_like(keys, 7)), np.full((3, 2), 7))
    assert random.key(1, dtype="rbg").dtype == random.key_dtype("rbg")


@pytest.mark.parametrize("name, error", [("psum", TypeError), ("pmean", TypeError), ("pmax", ValueError), ("pmin", ValueError)])
def test_no_sum_or_extremum_of_keys_over_a_named_axis(name, error):
    with pytest.raises(error, match=rf"lax.{name} reduces numbers, got key<fry>\[\]"):
        vmap(lambda key: getattr(lax, name)(key, "i"), axis_name="i")(random.split(random.key(0)))
