"""Bad arguments: the class that users expect, and a message that names the function."""
import numpy as np
import pytest

import jax_random as random
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.references.api import new_ref
from jax_core.representation.errors import ConcretizationTypeError, KeyReuseError, TypePromotionError
from jax_numpy_api import lax
from jax_random.stateful import StatefulPRNG

KEY = random.key(0)
KEYS = random.split(KEY, 3)
f32 = np.float32

BAD = [
    (lambda: StatefulPRNG(np.zeros(2, np.uint32), new_ref(np.int32(0))), ValueError, "base_key"),
    (lambda: StatefulPRNG(KEY, 0), ValueError, "counter"),
    (lambda: random.normal(KEYS), ValueError, r"normal: expected one key, got an array of keys of shape \(3,\)"),
    (lambda: random.split(KEYS), ValueError, "split: expected one key"),
    (lambda: random.fold_in(KEYS, 1), ValueError, "fold_in: expected one key"),
    (lambda: random.normal(np.zeros((2, 2), np.uint32)), ValueError, r"normal: expected one key.*\(2, 2\)"),
    (lambda: random.normal(np.zeros(2, f32)), TypeError, "normal: expected a key, .* or the uint32 data of one, got dtype=float32"),
    (lambda: random.normal(np.zeros(3, np.uint32)), TypeError, r"normal: .* has shape \(2,\), got an array of shape \(3,\)"),
    (lambda: random.normal(0), TypeError, "normal: .*expected a key"),
    (lambda: random.normal(KEY, (-1,)), ValueError, r"normal: shape=\(-1,\) has a negative length"),
    (lambda: random.normal(KEY, (2.5,)), TypeError, r"normal: shape=\(2.5,\) must be an int or a sequence of ints"),
    (lambda: jit(lambda n: random.normal(KEY, (n,)))(3), TypeError, r"normal: shape=\(Traced.*must be an int or a sequence"),
    (lambda: random.normal(KEY, (2,), int), ValueError, "dtype argument to `normal` must be a float or complex dtype, got"),
    (lambda: random.uniform(KEY, (2,), int), ValueError, "dtype argument to `uniform` must be a float dtype"),
    (lambda: random.uniform(KEY, (2,), minval=np.zeros(3)), ValueError, "uniform: parameters of shapes"),
    (lambda: random.bits(KEY, (2,), int), ValueError, "dtype argument to `bits` must be an unsigned int dtype"),
    (lambda: random.randint(KEY, (2,), 0, 1, float), TypeError, "randint only accepts integer dtypes, got float32"),
    (lambda: random.geometric(KEY, 0.5, (2,), float), ValueError, "dtype argument to `geometric` must be an int dtype"),
    (lambda: random.split(KEY, 2.5), TypeError, "split: shape=2.5 must be an int"),
    (lambda: random.split(KEY, -1), ValueError, "split: .*negative"),
    (lambda: random.fold_in(KEY, -1), OverflowError, "fold_in: Python integer -1 out of bounds for uint32"),
    (lambda: random.fold_in(KEY, np.arange(3)), TypeError, "fold_in accepts a scalar"),
    (lambda: random.PRNGKey(0.5), TypeError, "PRNGKey: PRNG key seed must be an integer"),
    (lambda: random.PRNGKey(np.arange(3)), TypeError, "PRNGKey accepts a scalar seed"),
    (lambda: random.PRNGKey("a"), TypeError, "PRNGKey: the seed must be an integer, got 'a'"),
    (lambda: random.key(KEY), TypeError, "key accepts a scalar seed, but was given a PRNG key"),
    (lambda: random.key(2**70), OverflowError, "too large"),
    (lambda: random.key(0, impl="foo"), ValueError, 'unrecognized PRNG implementation "foo"'),
    (lambda: random.key(0, impl="rbg", dtype=KEY.dtype), ValueError, "name the generator twice"),
    (lambda: random.wrap_key_data(np.zeros(2, np.int32)), TypeError, "wrap_key_data: the data of a key must be uint32, got dtype int32"),
    (lambda: random.bernoulli(KEY, 1), TypeError, "bernoulli probability `p` must have a floating dtype, got int32"),
    (lambda: random.beta(KEY, 2.0, 1 + 2j), TypePromotionError, r"beta: b must be real, got complex64\[\]"),
    (lambda: random.t(KEY, 1 + 2j), TypePromotionError, "t: df must be real"),
    (lambda: random.choice(KEY, np.arange(3), axis=1.5), TypeError, "cannot be interpreted as an integer"),
    (lambda: random.bernoulli(KEY, np.ones(3, f32), (2,)), ValueError, "bernoulli: parameters of shapes"),
    (lambda: jit(random.permutation)(KEY, 5), ConcretizationTypeError, "permutation: as the length of the result, x must be"),
    (lambda: random.choice(KEY, 5, 2), TypeError, "choice: shape must be a sequence, got 2 of type int"),
    (lambda: random.bernoulli(KEY, 0.5, mode="x"), ValueError, "bernoulli: got mode='x'"),
    (lambda: random.categorical(KEY, np.ones((2, 3), f32), shape=(3,)), ValueError, "categorical: shape="),
    (lambda: random.categorical(KEY, np.ones(3, f32), shape=(4,), replace=False), ValueError, "categorical: Number of"),
    (lambda: random.choice(KEY, 5, (6,), replace=False), ValueError, "choice: Cannot take a larger sample"),
    (lambda: random.choice(KEY, 0, (1,)), ValueError, "choice: a must be greater than 0"),
    (lambda: random.choice(KEY, [1, 2]), TypeError, "choice requires ndarray or scalar"),
    (lambda: random.choice(KEY, 5, p=np.ones(4)), ValueError, "choice: p must be a vector with a weight for each of the 5"),
    (lambda: random.permutation(KEY, 1.5), TypeError, "permutation: x must be an integer or at least 1-dimensional"),
    (lambda: random.permutation(KEY, np.zeros((2, 2)), axis=2), ValueError, "permutation: axis 2 is out of bounds"),
    (lambda: random.gamma(KEY, np.ones(3, f32), (2,)), ValueError, "gamma: parameters of shapes"),
    (lambda: random.gamma(KEY, 1.0, method="foo"), ValueError, "method argument to `gamma` must be one of"),
    (lambda: random.gamma(KEY, "a"), TypeError, "gamma: a must be a number or an array"),
    (lambda: random.poisson(random.key(0, impl="rbg"), 1.0), NotImplementedError, "poisson: method='exact' needs a key of threefry2x32"),
    (lambda: random.multivariate_normal(KEY, np.zeros(2), np.eye(3)), ValueError, "multivariate_normal requires cov.shape"),
    (lambda: random.multivariate_normal(KEY, np.zeros(2), np.eye(2), method="q"), ValueError, "multivariate_normal: method"),
    (lambda: random.dirichlet(KEY, 1.0), ValueError, "dirichlet requires alpha.ndim >= 1"),
    (lambda: random.orthogonal(KEY, 3, m=-2), ValueError, "orthogonal: m=-2 is negative"),
    (lambda: random.ball(KEY, 2.5), TypeError, "ball: d must be an integer"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_arguments(number):
    call, error, message = BAD[number]
    with pytest.raises(error, match=message):
        call()


def test_legacy_keys_can_be_forbidden():
    raw = random.PRNGKey(0)
    with flags.legacy_prng_key("error"), pytest.raises(ValueError, match="normal: key is an array of uint32"):
        random.normal(raw)
    with flags.legacy_prng_key("error"):
        assert random.clone(raw).tolist() == raw.tolist()  # no use that matters
    with flags.legacy_prng_key("warn"), pytest.warns(UserWarning, match="key is an array of uint32"):
        random.normal(raw)


# -- key reuse ---------------------------------------------------------------------------------------------------------

@pytest.fixture
def watched():
    with flags.debug_key_reuse(True):
        yield random.key(0)


def test_second_use_names_both_places(watched):
    random.normal(watched)
    with pytest.raises(KeyReuseError, match=r"normal at .*test_errors.py:\d+.* used again by uniform at .*test_errors.py:\d+"):
        random.uniform(watched)


def test_split_key_is_used_up(watched):
    random.split(watched)
    with pytest.raises(KeyReuseError, match="split at"):
        random.bits(watched)


def test_what_uses_nothing_up(watched):
    random.fold_in(watched, 1)
    random.fold_in(watched, 2)
    random.key_data(watched)
    random.normal(random.clone(watched))
    random.normal(watched)
    random.normal(random.clone(watched))


def test_reuse_inside_a_compiled_function(watched):
    with pytest.raises(KeyReuseError, match="uniform"):
        jit(lambda k: random.normal(k) + random.uniform(k))(watched)


def test_compiled_functions_use_their_arguments_up(watched):
    draw, name = jit(lambda k: random.normal(k)), jit(lambda k: random.fold_in(k, 1))
    name(watched)
    name(watched)
    draw(watched)
    with pytest.raises(KeyReuseError):
        draw(watched)


LOOPS = {
    "cond": lambda k: lax.cond(True, lambda k: random.normal(k), lambda k: random.uniform(k), k),
    "scan": lambda k: lax.scan(lambda k, _: (k, random.normal(k)), k, None, length=1)[1],
    "while": lambda k: lax.while_loop(lambda c: c[1] < 1, lambda c: (random.split(c[0])[0], c[1] + 1), (k, 0.0))[1],
    "jit": lambda k: jit(lambda k: random.normal(k))(k),
    "split": lambda k: random.split(k),
}


@pytest.mark.parametrize("fun", LOOPS.values(), ids=LOOPS)
def test_uses_inside_control_flow_are_seen(fun, watched):
    jit(fun)(watched)
    with pytest.raises(KeyReuseError):
        random.normal(watched)


def test_nothing_is_noted_without_the_flag():
    key = random.key(0)
    random.normal(key)
    random.normal(key)
