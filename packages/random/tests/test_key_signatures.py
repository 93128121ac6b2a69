"""What programs do to random keys, and which of them use keys twice."""
import numpy as np
import pytest

import jax_random as random
from jax_core.programs.jit import jit
from jax_core.representation.errors import KeyReuseError
from jax_core.transformations.autodiff import grad
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_random.key_signatures import (
    Forward,
    KeyReuseSignature,
    Sink,
    Source,
    assert_consumed,
    assert_unconsumed,
    check_key_reuse,
    consume,
    function_type_signature,
)

KEY, KEYS = random.key(0), random.split(random.key(0))
SIGNATURES = [
    (random.bits, (KEY,), [Sink(0)]),
    (random.split, (KEY,), [Sink(0), Source(0)]),
    (random.fold_in, (KEY, 2), [Source(0)]),
    (random.clone, (KEY,), [Source(0)]),
    (random.key, (0,), [Source(0)]),
    (random.key_data, (KEY,), []),
    (lambda k: k[None], (KEY,), [Forward(0, 0)]),
    (lambda k: random.uniform(k[0]), (KEYS,), [Sink(0, [True, False])]),
    (lambda a, b: jnp.stack([a, b]), (KEY, KEY), [Sink(0), Sink(1), Source(0)]),
    (lambda a, b: a == b, (KEY, KEY), []),
    (jit(random.normal), (KEY,), [Sink(0)]),
    (vmap(random.bits), (KEYS,), [Sink(0)]),
    (lambda p, k: lax.cond(p, random.uniform, lambda k: 1.0, k), (True, KEY), [Sink(1)]),
    (lambda k: lax.scan(lambda k, _: tuple(random.split(k)), k, length=3)[0], (KEY,), [Sink(0), Source(0)]),
    (lambda k: lax.map(random.bits, k), (KEYS,), [Sink(0)]),
    (grad(checkpoint(lambda x, k: x * random.normal(k))), (1.0, KEY), [Sink(1)]),
]


@pytest.mark.parametrize("fun, args, want", SIGNATURES, ids=[str(i) for i in range(len(SIGNATURES))])
def test_signatures(fun, args, want):
    assert function_type_signature(fun, *args) == KeyReuseSignature(*want)


def _twice(k):
    return random.bits(k) + random.bits(k)


REUSES = [
    (_twice, (KEY,), "random_bits, argument 0"),
    (vmap(_twice), (KEYS,), "random_bits"),
    (lambda k: (random.split(k), random.uniform(k)), (KEY,), "random_bits"),
    (lambda k: random.bits(k) + random.bits(k[None][0]), (KEY,), "random_bits|slice"),
    (lambda k: lax.scan(lambda c, _: (c, random.bits(k)), 0, length=2), (KEY,), "scan body function leads to key reuse"),
    (lambda k: lax.scan(lambda c, _: (c, random.bits(c)), k, length=2), (KEY,), "scan body function leads to key reuse"),
    (lambda k: lax.while_loop(lambda i: i < random.uniform(k), lambda i: i + 1, 0.0), (KEY,), "while_loop cond"),
    (lambda k: lax.while_loop(lambda i: i < 5, lambda i: i + random.uniform(k), 0.0), (KEY,), "while_loop body"),
    (lambda p, k: lax.cond(p, random.uniform, lambda k: 1.0, k) + random.uniform(k), (True, KEY), "random_bits"),
]


NO_REUSES = [
    lambda k: random.key_data(k)[0] + random.bits(k),
    lambda k: random.key_data(random.split(k))[1],
    lambda k: lax.concatenate([random.key_data(k)] * 2, 0),
    lambda k: random.bits(random.wrap_key_data(random.key_data(random.split(k))[0])),
]


@pytest.mark.parametrize("fun", NO_REUSES, ids=[str(i) for i in range(len(NO_REUSES))])
def test_reading_words_of_a_key_is_no_use(fun):
    check_key_reuse(fun, KEY)


@pytest.mark.parametrize("fun, args, where", REUSES, ids=[str(i) for i in range(len(REUSES))])
def test_reuse_is_found(fun, args, where):
    with pytest.raises(KeyReuseError, match=where):
        check_key_reuse(fun, *args)


def test_assertions():
    def fun(keys):
        assert_unconsumed(keys)
        assert_unconsumed(keys[0])
        assert_consumed(keys, np.array([True, False]))
        consume(keys[1])
        assert_consumed(keys)
    check_key_reuse(fun, KEYS)
    with pytest.raises(AssertionError, match="should be consumed"):
        check_key_reuse(assert_consumed, KEY)


def test_entries_are_values_that_do_not_change():
    assert Sink(0) == Sink(0, True) == Sink(0, [True, True]) != Sink(1) and Sink(0) != Source(0)
    assert hash(Source(0, [False])) == hash(Source(0, False)) and repr(KeyReuseSignature(Sink(1), Sink(0))) == "KeyReuseSignature(Sink(0), Sink(1))"
    with pytest.raises(ValueError):
        Sink(0).idx = 1
    assert not Sink(0, [True, False]).mask.flags.writeable
