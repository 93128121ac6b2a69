"""Samples follow their distributions: Kolmogorov-Smirnov or chi-square tests and moments at fixed keys, and edges.

Keys are fixed, so a test that passes always passes; p-values below 1e-3 would be suspicious.
"""
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

import jax_random as random
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.references.api import new_ref
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_random import discrete, gammas, initializers
from jax_random.stateful import StatefulPRNG

pytestmark = pytest.mark.any_code

N = 10_000
LEAST_P = 1e-3
KEY = random.PRNGKey(2024)
f32 = np.float32

CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, (N,)), stats.uniform()),
    "uniform bounds": (lambda k: random.uniform(k, (N,), minval=-2, maxval=5), stats.uniform(-2, 7)),
    "normal": (lambda k: random.normal(k, (N,)), stats.norm()),
    "truncated": (lambda k: random.truncated_normal(k, -1.0, 2.0, (N,)), stats.truncnorm(-1, 2)),
    "truncated tail": (lambda k: random.truncated_normal(k, 5.0, 6.0, (N,)), stats.truncnorm(5, 6)),
    "truncated left tail": (lambda k: random.truncated_normal(k, -20.0, -8.0, (N,)), stats.truncnorm(-20, -8)),
    "lognormal": (lambda k: random.lognormal(k, 0.7, (N,)), stats.lognorm(0.7)),
    "exponential": (lambda k: random.exponential(k, (N,)), stats.expon()),
    "laplace": (lambda k: random.laplace(k, (N,)), stats.laplace()),
    "logistic": (lambda k: random.logistic(k, (N,)), stats.logistic()),
    "cauchy": (lambda k: random.cauchy(k, (N,)), stats.cauchy()),
    "gumbel": (lambda k: random.gumbel(k, (N,)), stats.gumbel_r()),
    "gumbel highest": (lambda k: random.gumbel(k, (N,), mode="highest"), stats.gumbel_r()),
    "gumbel high": (lambda k: random.gumbel(k, (N,), mode="high"), stats.gumbel_r()),
    "maxwell": (lambda k: random.maxwell(k, (N,)), stats.maxwell()),
    "pareto": (lambda k: random.pareto(k, 2.5, (N,)), stats.pareto(2.5)),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), stats.rayleigh(scale=2)),
    "wald": (lambda k: random.wald(k, 1.5, (N,)), stats.invgauss(1.5)),
    "wald large": (lambda k: random.wald(k, 1e6, (N,)), stats.invgauss(1e6)),
    "weibull": (lambda k: random.weibull_min(k, 2.0, 3.0, (N,)), stats.weibull_min(3, scale=2)),
    "triangular": (lambda k: random.triangular(k, 0.0, 0.3, 1.0, (N,)), stats.triang(0.3)),
    "double sided maxwell": (lambda k: abs(random.double_sided_maxwell(k, 0.0, 2.0, (N,))), stats.maxwell(scale=2)),
    "gamma small": (lambda k: random.gamma(k, 0.2, (N,)), stats.gamma(0.2)),
    "gamma": (lambda k: random.gamma(k, 3.0, (N,)), stats.gamma(3)),
    "gamma large": (lambda k: random.gamma(k, 1000.0, (N,)), stats.gamma(1000)),
    "gamma of many": (lambda k: random.gamma(k, 1.2, (2 * N,)), stats.gamma(1.2)),  # those rejected once are gathered
    "loggamma": (lambda k: random.loggamma(k, 0.2, (N,)), stats.loggamma(0.2)),
    "beta": (lambda k: random.beta(k, 2.0, 0.5, (N,)), stats.beta(2, 0.5)),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (N,)), stats.chi2(3)),
    "f": (lambda k: random.f(k, 3.0, 7.0, (N,)), stats.f(3, 7)),
    "t": (lambda k: random.t(k, 4.0, (N,)), stats.t(4)),
    "generalized normal": (lambda k: random.generalized_normal(k, 1.5, (N,)), stats.gennorm(1.5)),
    "dirichlet": (lambda k: random.dirichlet(k, f32([1, 2, 3]), (N,))[:, 0], stats.beta(1, 5)),
    "ball radius": (lambda k: jnp.linalg.norm(random.ball(k, 3, shape=(N,)), axis=-1) ** 3, stats.uniform()),
    "multivariate normal": (lambda k: random.multivariate_normal(k, f32([1, 2]), f32([[2, 1], [1, 3]]), (N,)) @ f32([1, -1]),
                            stats.norm(-1, math.sqrt(3))),
}


@pytest.mark.parametrize("draw, distribution", CONTINUOUS.values(), ids=CONTINUOUS)
def test_kolmogorov_smirnov(draw, distribution):
    x = np.asarray(draw(KEY), np.float64)
    assert stats.kstest(x, distribution.cdf).pvalue > LEAST_P


def test_gathering_changes_no_variate():
    """Of many elements those rejected once are gathered for further trials; each goes on with its own keys."""
    n, draw = 2 * gammas._FEW, lambda k: random.gamma(k, 0.7, (2 * gammas._FEW,))
    with flags.one_form(True):
        want = np.asarray(jit(lambda k: draw(k))(KEY))
    got = np.asarray(jit(lambda k: draw(k))(KEY))
    np.testing.assert_allclose(got, want, rtol=1e-4)
    assert len(set(got.tolist())) > 0.9 * n


@pytest.mark.parametrize("platform, loops", [("cpu", 3), ("cuda", 2), ("tpu", 2)])
def test_accelerators_gather_only_of_many(platform, loops):
    """A trial for all beside the loop is half of the program, which takes twice as long to compile."""
    program = jit(lambda k: random.gamma(k, 0.7, (2 * gammas._FEW,))).trace(KEY).lower(lowering_platforms=(platform,))
    assert program.as_text().count("stablehlo.while") == loops


@pytest.mark.parametrize("platform, wide", [("cpu", True), ("cuda", False), ("tpu", False)])
def test_split_joins_words_for_the_cpu_alone(platform, wide):
    """There it keeps the compiler from hashing for each word anew."""
    text = jit(lambda k: random.key_data(random.split(k, 3))).trace(KEY).lower(lowering_platforms=(platform,)).as_text()
    assert ("ui64" in text) is wide


MOMENTS = ["uniform bounds", "normal", "truncated", "lognormal", "exponential", "laplace", "logistic", "gumbel", "maxwell",
           "rayleigh", "wald", "weibull", "triangular", "gamma", "beta", "chisquare"]


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    """Mean and variance, within five standard errors."""
    draw, distribution = CONTINUOUS[name]
    x = np.asarray(draw(random.fold_in(KEY, 1)), np.float64)
    mean, variance, kurtosis = distribution.stats("mvk")
    assert abs(x.mean() - mean) < 5 * math.sqrt(variance / N)
    assert abs(x.var() - variance) < 5 * variance * math.sqrt((kurtosis + 2) / N)


DISCRETE = {
    "bernoulli": (lambda k: random.bernoulli(k, 0.3, (N,)), stats.bernoulli(0.3)),
    "bernoulli high": (lambda k: random.bernoulli(k, 0.3, (N,), mode="high"), stats.bernoulli(0.3)),
    "rademacher": (lambda k: (random.rademacher(k, (N,)) + 1) // 2, stats.bernoulli(0.5)),
    "randint": (lambda k: random.randint(k, (N,), -3, 8), stats.randint(-3, 8)),
    "randint uint8": (lambda k: random.randint(k, (N,), 0, 10, "uint8"), stats.randint(0, 10)),
    "geometric": (lambda k: random.geometric(k, 0.3, (N,)), stats.geom(0.3)),
    "poisson small": (lambda k: random.poisson(k, 2.5, (N,)), stats.poisson(2.5)),
    "poisson large": (lambda k: random.poisson(k, 50.0, (N,)), stats.poisson(50)),
    "binomial small": (lambda k: random.binomial(k, 12, 0.3, (N,)), stats.binom(12, 0.3)),
    "binomial large": (lambda k: random.binomial(k, 200, 0.7, (N,)), stats.binom(200, 0.7)),
    "multinomial": (lambda k: random.multinomial(k, 12.0, f32([0.2, 0.3, 0.5]), shape=(N,))[:, 1], stats.binom(12, 0.3)),
    "categorical": (lambda k: random.categorical(k, np.log(f32([1, 2, 3, 4])), shape=(N,)),
                    stats.rv_discrete(values=(range(4), (0.1, 0.2, 0.3, 0.4)))),
    "choice": (lambda k: random.choice(k, 4, (N,), p=f32([1, 2, 3, 4])),
               stats.rv_discrete(values=(range(4), (0.1, 0.2, 0.3, 0.4)))),
    "choice equal": (lambda k: random.choice(k, 7, (N,)), stats.randint(0, 7)),
}


@pytest.mark.parametrize("draw, variance", [(lambda: random.poisson(KEY, 1e8, (N,)), 1e8),
                                            (lambda: random.binomial(KEY, 1e9, 0.25, (N,)), 1e9 * 0.25 * 0.75)], ids=["poisson", "binomial"])
def test_variance_of_counts_of_which_float32_has_no_digits(draw, variance):
    """Terms as large as the mean, rounded, decided on acceptance: 1.6 times as much."""
    assert abs(np.asarray(draw(), np.float64).var() / variance - 1) < 0.06  # its deviation is 0.014


@pytest.mark.parametrize("draw, distribution", DISCRETE.values(), ids=DISCRETE)
def test_chi_square(draw, distribution):
    x = np.asarray(draw(KEY)).astype(np.int64)
    values = np.arange(x.min(), x.max() + 1)
    expected, observed = distribution.pmf(values) * N, np.array([(x == v).sum() for v in values])
    common = expected >= 5
    rest = N - expected[common].sum()
    expected, observed = [*expected[common]], [*observed[common]]
    if rest > 1e-6 * N:
        expected, observed = [*expected, rest], [*observed, N - sum(observed)]
    if rest <= 1e-6 * N:
        assert sum(observed) == N
        expected = np.array(expected) * N / sum(expected)
    assert stats.chisquare(observed, np.array(expected) * N / np.sum(expected)).pvalue > LEAST_P


def test_permutations_are_uniform():
    keys = random.split(KEY, 6000)
    drawn = np.asarray(vmap(lambda k: random.permutation(k, 3))(keys))
    codes = drawn @ [9, 3, 1]
    counts = np.unique(codes, return_counts=True)[1]
    assert len(counts) == 6 and stats.chisquare(counts).pvalue > LEAST_P


def test_samples_without_replacement_are_distinct():
    weights = f32([1, 1, 4, 4, 0])
    for key in random.split(KEY, 20):
        assert len(set(np.asarray(random.choice(key, 5, (4,), replace=False, p=weights)).tolist()) | {4}) == 5
        chosen = np.asarray(random.categorical(key, np.zeros((5,), f32), shape=(5,), replace=False))
        assert sorted(chosen.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_has_no_weight_is_never_chosen(dtype):
    """A running sum is rounded, and so rises a little where nothing is added."""
    uniform = np.random.default_rng(0).random(100_000)
    weights = jnp.asarray(np.where((uniform > 0.3) & (np.arange(100_000) < 70_000), uniform, 0), dtype)
    chosen = np.asarray(random.choice(KEY, 100_000, (1_000_000,), p=weights))
    assert (np.asarray(weights, np.float32)[chosen] > 0).all()


def test_probability_of_minus_zero_is_zero():
    """Its waiting times were -inf: counting them had no end."""
    np.testing.assert_array_equal(random.binomial(KEY, 10, f32(-0.0), (5,)), np.zeros(5))
    np.testing.assert_array_equal(random.geometric(KEY, f32(-0.0), (5,)), random.geometric(KEY, f32(0.0), (5,)))


def test_choice_by_weights_of_few_digits():
    """From 512 on, running sums in bfloat16 are multiples of 4."""
    chosen = np.asarray(random.choice(KEY, 1000, (N,), p=jnp.ones(1000, jnp.bfloat16)))
    counts = np.bincount(chosen, minlength=1000)
    assert stats.chisquare(counts).pvalue > LEAST_P


def test_large_permutation_is_a_permutation():
    np.testing.assert_array_equal(np.sort(random.permutation(KEY, 5000)), np.arange(5000))


def test_orthogonal_matrices_are_orthogonal():
    for n, m in ((4, None), (4, 2), (2, 4)):
        q = np.asarray(random.orthogonal(KEY, n, (3,), m=m))
        small = q @ q.swapaxes(-1, -2) if (m or n) >= n else q.swapaxes(-1, -2) @ q
        np.testing.assert_allclose(small, np.broadcast_to(np.eye(small.shape[-1]), small.shape), atol=1e-5)


@pytest.mark.parametrize("n, m", [(3, 3), (4, 2), (2, 4)])
def test_orthogonal_initializers_draw_the_matrices_of_orthogonal(n, m):
    """The values are as fixed as those of the generators: a network that starts from a seed starts at the same point on the public jax."""
    q = np.asarray(random.orthogonal(KEY, n, m=m))
    orthogonal, close = initializers.orthogonal, np.testing.assert_allclose
    close(orthogonal()(KEY, (n, m)), q, atol=1e-5)
    close(orthogonal(2.0, column_axis=0)(KEY, (m, n)), 2 * q.T, atol=1e-5)
    if n <= m:
        close(initializers.delta_orthogonal()(KEY, (3, n, m))[1], q, atol=1e-5)


def test_complex_normal_has_variance_one():
    z = np.asarray(random.normal(KEY, (N,), "complex64"))
    assert abs((abs(z) ** 2).mean() - 1) < 0.05 and abs((z * z).mean()) < 0.05


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats(dtype):
    x = np.asarray(random.uniform(KEY, (N,), dtype)).astype(np.float64)
    assert x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.02


# -- edges -------------------------------------------------------------------------------------------------------------

INF = np.inf
EDGES = [
    ("gamma", (f32([0, 1e-30, INF]),), [0, 0, INF]),
    ("loggamma", (f32([0, INF]),), [-INF, INF]),
    ("beta", (f32([0, INF, 1, 1]), f32([1, 1, INF, 0])), [0, 1, 0, 1]),
    ("chisquare", (f32([0, INF]),), [0, INF]),
    ("pareto", (f32([INF]),), [1]),
    ("lognormal", (f32([0]),), [1]),
    ("rayleigh", (f32([0]),), [0]),
    ("geometric", (f32([1]),), [1]),
    ("bernoulli", (f32([0, 1]),), [False, True]),
    ("poisson", (f32([0]),), [0]),
    ("binomial", (f32([0, 5, 5, INF]), f32([0.5, 0, 1, 0.5])), [0, 0, 5, INF]),
    ("triangular", (f32([1]), f32([1]), f32([1])), [1]),
    ("uniform", ((2,), "float32", 3.0, 3.0), [3, 3]),
    ("randint", ((2,), 4, 4), [4, 4]),
]


@pytest.mark.parametrize("name, args, want", EDGES, ids=[e[0] for e in EDGES])
def test_edges(name, args, want):
    """Parameters at the ends of their ranges give the limits of the distributions."""
    np.testing.assert_array_equal(getattr(random, name)(KEY, *args), want)


def test_no_nan_at_extreme_parameters():
    tiny_and_huge = f32([1e-30, 1e-10, 1e10, 1e30])
    for drawn in (random.beta(KEY, tiny_and_huge, tiny_and_huge), random.dirichlet(KEY, tiny_and_huge),
                  random.t(KEY, f32([1e30, INF])), random.f(KEY, f32([1e30, INF]), f32([3.0, 3.0])),
                  random.wald(KEY, tiny_and_huge), random.gamma(KEY, tiny_and_huge),
                  random.truncated_normal(KEY, f32([-INF, 30, -40]), f32([INF, 31, -39]))):
        assert not np.isnan(drawn).any(), drawn


def test_infinitely_many_degrees_of_freedom_are_normal():
    x = np.asarray(random.t(KEY, INF, (N,)), np.float64)
    assert stats.kstest(x, "norm").pvalue > LEAST_P


@pytest.mark.parametrize("draw", [
    lambda: random.categorical(KEY, jnp.zeros(4), shape=(6, 2)),
    lambda: random.categorical(KEY, jnp.zeros((3, 4)), axis=jnp.int32(0), shape=(6, 4), mode="highest"),
    lambda: random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(3), (5, 2)),
    lambda: random.multivariate_normal(KEY, jnp.zeros(3), jnp.eye(3), (5,), method="svd"),
], ids=["categorical", "categorical on an axis", "multivariate normal", "by svd"])
def test_strict_modes(draw):
    """Samples are the same where ranks and dtypes are not promoted."""
    with flags.numpy_rank_promotion("raise"), flags.numpy_dtype_promotion("strict"):
        strict = draw()
    np.testing.assert_array_equal(strict, draw())


def test_discrete_upper_tail_of_gumbel():
    """High mode reaches beyond the largest value that one 23-bit number gives, about 16."""
    high = np.asarray(random.gumbel(KEY, (200_000,), mode="high"), np.float64)
    assert np.exp(-np.exp(-high)).max() < 1 and high.max() > 9




def test_choice_of_a_range_has_one_axis():
    """Whatever ``axis`` says, as for the reference."""
    assert random.choice(KEY, 5, axis=1) == random.choice(KEY, 5)


def test_permutation_of_a_range_has_the_default_dtype():
    assert random.permutation(KEY, np.int8(4)).dtype == np.int32


def test_boolean_signs_are_true():
    assert np.all(random.rademacher(KEY, (20,), bool))


def test_binomial_parameters_may_differ_in_dtype():
    with flags.numpy_dtype_promotion("strict"):
        assert random.binomial(KEY, np.float16(20), np.float32(0.3)).dtype == np.float32


def test_multinomial_draws_the_same_in_every_dtype():
    """The dtype asked for is that of the result alone, and may be an integer."""
    p = np.full(3, 1 / 3, np.float32)
    expected = random.multinomial(KEY, 20, p)
    for dtype in (np.int8, np.float16):
        got = random.multinomial(KEY, 20, p, dtype=dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match="must be a float or int dtype, got bool"):
        random.multinomial(KEY, 20, p, dtype=bool)


def test_mapped_multinomial_without_jit():
    draw = vmap(lambda key: random.multinomial(key, 10, np.full(3, 1 / 3, np.float32)))
    keys = random.split(random.key(1), 2)
    with flags.disable_jit(True):
        got = draw(keys)
    np.testing.assert_array_equal(got, draw(keys))


@pytest.mark.parametrize("replace", [True, False])
def test_weighted_choice_has_the_default_dtype(replace):
    with flags.enable_x64(True):
        assert random.choice(KEY, 4, (2,), replace, p=np.full(4, 0.25)).dtype == np.int64


def test_the_quick_test_of_gamma_accepts_only_what_the_slow_one_does():
    """Samples by the hundred thousand would be needed to see that it accepts too much."""
    with flags.enable_x64(True):
        d, x, u = np.meshgrid([2 / 3, 1.7, 50.0], np.linspace(-2.4, 5, 75), np.linspace(0.001, 0.999, 333))
        v = (1 + x / np.sqrt(9 * d)) ** 3
        d, x, u, v = (a[v > 0] for a in (d, x, u, v))
        rejected = np.asarray(gammas._is_rejected(d, x ** 2, v, u))
    np.testing.assert_array_equal(rejected, np.log(u) >= x ** 2 / 2 + d * (1 - v + np.log(v)))
    assert 0.1 < rejected.mean() < 0.9


def test_the_remainder_of_stirlings_formula():
    """Of ``log k!``; from 10 on that of 9."""
    k = np.array([*range(10), 10, 1000], np.float64)
    with flags.enable_x64(True):
        got = np.asarray(discrete._stirling_tail(jnp.asarray(k)))
    m = np.minimum(k, 9)
    np.testing.assert_allclose(got, gammaln(m + 1) - ((m + 0.5) * np.log(m + 1) - (m + 1) + 0.5 * np.log(2 * np.pi)), rtol=1e-6)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "truncated_normal"])
@pytest.mark.parametrize("mode, fan", [("fan_in", 100), ("fan_out", 400), ("fan_avg", 250), ("fan_geo_avg", 200)])
def test_variance_of_initial_weights(mode, fan, distribution):
    weights = np.asarray(initializers.variance_scaling(3.0, mode, distribution)(KEY, (100, 400)))
    np.testing.assert_allclose(weights.var(), 3 / fan, rtol=0.03)
    assert abs(weights.mean()) < 5e-3


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)], ids=str)
def test_no_weights_have_no_fan(mode, shape):
    assert initializers.variance_scaling(3.0, mode, "normal", batch_axis=range(len(shape) - 2))(KEY, shape).shape == shape


def test_generators_with_state_scale_and_shift():
    draws = StatefulPRNG(random.key(3), new_ref(np.int32(0)))
    normal = np.asarray(draws.normal(50.0, 0.5, 1000))
    assert abs(normal.mean() - 50) < 0.1 and abs(normal.std() - 0.5) < 0.05
    uniform, integers = np.asarray(draws.uniform(2.0, 3.0, 1000)), np.asarray(draws.integers(5, 8, 1000))
    assert 2 <= uniform.min() < 2.01 and 2.99 < uniform.max() < 3 and set(integers) == {5, 6, 7} and set(np.asarray(draws.integers(2, size=99))) == {0, 1}


@pytest.mark.parametrize("n, p, unused", [(10.0, 0.3, "_split3"), (1000.0, 0.5, "ceil")], ids=["counted", "rejected"])
def test_binomial_draws_by_the_algorithm_that_is_needed(monkeypatch, n, p, unused):
    """Where all means are small nothing is rejected, and where none is nothing is counted."""
    calls, owner = [], discrete if unused == "_split3" else discrete.lax
    run = getattr(owner, unused)
    monkeypatch.setattr(owner, unused, lambda *args: calls.append(args) or run(*args))
    with flags.disable_jit(True):
        random.binomial(random.key(0), n, p, (5,))
    assert calls == []


# -- the law of one trial of rejection, not of samples, which are blind to small mistakes --------------------------------

def law_of(trial, count, *parameters):
    """Probabilities of 0, 1, ..., of which ``count`` are wanted: areas of the unit square, by a grid of its points."""
    u, v = np.meshgrid((np.arange(16_000) + 0.5) / 16_000, (np.arange(400) + 0.5) / 400)
    grid = [jnp.asarray(x, "float32") for x in (u, v)]
    k, accepted = jit(lambda u, v, *given: trial(*given)(u, v))(*grid, *(jnp.full(u.shape, x, "float32") for x in parameters))
    k = np.asarray(k)[np.asarray(accepted)].astype(int)
    return np.bincount(k, minlength=count)[:count] / k.size


@pytest.mark.parametrize("trial, parameters, exact", [
    (discrete._poisson_trial, (10.0,), stats.poisson(10)), (discrete._poisson_trial, (12.5,), stats.poisson(12.5)),
    (discrete._binomial_trial, (25.0, 0.45), stats.binom(25, 0.45)), (discrete._binomial_trial, (200.0, 0.3), stats.binom(200, 0.3))])
def test_law_of_a_trial(trial, parameters, exact):
    """The grid is off by up to 4e-4; a hundredth more in Poisson's factorial by 1.3e-3."""
    want = exact.pmf(np.arange(201))
    assert np.abs(law_of(trial, 201, *parameters) - want).sum() / 2 < 6e-4


@pytest.mark.parametrize("n, p", [(25, 0.45), (200, 0.3), (12, 0.5)])
def test_bound_of_binomial_trials(n, p):
    """Against ``log(P(k) / P(m))``; the tail of Stirling's series beyond k = 9 is taken at 9, which is the 2e-3."""
    k, m = np.arange(n + 1), math.floor((n + 1) * p)
    got = discrete._log_ratio(*(jnp.full(n + 1, x, "float32") for x in (n, m)), k.astype(np.float32), np.float32(p / (1 - p)))
    near = np.abs(k - n * p) < 5 * (n * p * (1 - p)) ** 0.5
    off = np.abs(np.asarray(got) - (stats.binom(n, p).logpmf(k) - stats.binom(n, p).logpmf(m)))[near]
    assert off.max() < 2.5e-3


@pytest.mark.parametrize("init", [initializers.zeros, initializers.ones, initializers.normal(), initializers.uniform(), initializers.he_normal(),
                                  initializers.orthogonal(), initializers.constant(2.0)])
def test_an_initializer_says_that_64_bits_are_truncated(init):
    with pytest.warns(UserWarning, match="^Explicitly requested dtype float64 in initializer"):
        assert init(KEY, (2, 2), "float64").dtype == np.float32
    with pytest.raises(ValueError, match=r"^initializer: an array of dtype float32 was given where a dtype is wanted; write dtype=x.dtype$"):
        init(KEY, (2, 2), jnp.ones(2))
