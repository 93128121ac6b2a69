"""Derivatives of samples by the parameters of their distributions."""
import mpmath
import numpy as np
import pytest
from scipy import stats

import jax_random as random
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_random.gammas import gamma_slope, log_gamma_slope

pytestmark = pytest.mark.any_code

KEY = random.PRNGKey(5)
SHAPES = (1e-4, 1e-2, 0.1, 0.5, 1.0, 1.5, 5.0, 9.9, 10.1, 30.0, 1e3, 1e4)
QUANTILES = (1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-6)


def log_quantile(a: float, q: float) -> float:
    """Of the gamma distribution, also where the quantile itself underflows."""
    by_power = (np.log(q) + float(mpmath.loggamma(a + 1))) / a
    return by_power if by_power < -20 else float(np.log(stats.gamma.ppf(q, a)))


def exact_slope(a: float, log_x: float) -> float:
    """``d log x / da`` from a numerical derivative of the distribution function in 40 digits."""
    with mpmath.workdps(40):
        a, log_x = mpmath.mpf(a), mpmath.mpf(log_x)
        if log_x < -200:  # the first term of the power series is exact
            return float((mpmath.digamma(a + 1) - log_x) / a)
        x = mpmath.exp(log_x)
        if x < a + 1:
            slope = mpmath.diff(lambda b: mpmath.gammainc(b, 0, x, regularized=True), a, h=a * mpmath.mpf(10) ** -12)
        else:
            slope = -mpmath.diff(lambda b: mpmath.gammainc(b, x, mpmath.inf, regularized=True), a, h=a * mpmath.mpf(10) ** -12)
        return float(-slope / mpmath.exp(a * log_x - x - mpmath.loggamma(a)))


@pytest.mark.parametrize("dtype, every, accuracy", [("float32", 1, 1e-5), ("float64", 4, 1e-11)])
def test_slope_of_gamma_over_the_whole_range(dtype, every, accuracy):
    pairs = np.array([(a, log_quantile(a, q)) for a in SHAPES for q in QUANTILES][::every], dtype)
    with flags.enable_x64(dtype == "float64"):
        got = np.asarray(jit(log_gamma_slope)(pairs[:, 0], pairs[:, 1]))
    want = np.array([exact_slope(float(a), float(x)) for a, x in pairs])
    assert got.dtype == dtype
    np.testing.assert_allclose(got, want, rtol=accuracy)


@pytest.mark.parametrize("a", [1e-30, 1e-10, 1e-3])
def test_gradients_at_tiny_shapes_are_finite(a):
    a = np.float32(a)
    assert np.isfinite(grad(lambda a: random.gamma(KEY, a))(a))
    assert np.isfinite(grad(lambda a: random.loggamma(KEY, a))(a))
    assert np.isfinite(grad(lambda a: random.beta(KEY, a, np.float32(1)))(a))
    assert np.all(np.isfinite(grad(lambda a: random.dirichlet(KEY, a)[0])(np.full(3, a))))


def test_slope_at_zero_is_zero():
    assert gamma_slope(np.float32(0.01), np.float32(0)) == 0


def test_gamma_in_both_modes_and_batched():
    a = np.array([0.3, 2.0, 50.0], np.float32)
    x, dx = jvp(lambda a: random.gamma(KEY, a), (a,), (np.ones(3, np.float32),))
    by_reverse = grad(lambda a: jnp.sum(random.gamma(KEY, a)))(a)
    np.testing.assert_allclose(dx, by_reverse, rtol=1e-6)
    want = [x_ * exact_slope(float(a_), float(np.log(x_))) for a_, x_ in zip(a, np.asarray(x, np.float64))]
    np.testing.assert_allclose(dx, want, rtol=1e-4)
    keys = random.split(random.key(0), 3)
    slope = lambda k, a: grad(lambda a: random.gamma(k, a))(a)
    np.testing.assert_allclose(vmap(slope)(keys, a), [slope(k, a_) for k, a_ in zip(keys, a)], rtol=1e-6)


def quantile_slope(distribution, parameter: float, x: float) -> float:
    """``dx / dparameter`` at a fixed quantile, by SciPy's distribution function."""
    h = 1e-4 * parameter
    difference = distribution(parameter + h).cdf(x) - distribution(parameter - h).cdf(x)
    return -difference / (2 * h) / distribution(parameter).pdf(x)


@pytest.mark.parametrize("df", [0.7, 3.0, 40.0])
def test_chisquare(df):
    x, slope = jvp(lambda d: random.chisquare(KEY, d), (np.float32(df),), (np.float32(1),))
    np.testing.assert_allclose(slope, quantile_slope(stats.chi2, df, float(x)), rtol=1e-3)


def test_expectations_are_differentiated():
    """The mean of the derivative of a sample is the derivative of the mean."""
    n = 4000
    slope = lambda draw, a: np.asarray(jvp(draw, (np.float32(a),), (np.float32(1),))[1], np.float64).mean()
    a, b = 2.0, 3.0
    assert abs(slope(lambda a: random.beta(KEY, a, b, (n,)), a) - b / (a + b) ** 2) < 0.01
    assert abs(slope(lambda b: random.beta(KEY, a, b, (n,)), b) + a / (a + b) ** 2) < 0.01
    assert abs(slope(lambda df: random.t(KEY, df, (n,)) ** 2, 8.0) + 2 / 36) < 0.03
    first = lambda a: random.dirichlet(KEY, jnp.stack([a, 1.0, 2.0]), (n,))[:, 0]
    assert abs(slope(first, 2.0) - 3 / 25) < 0.01


def test_location_and_scale():
    d = grad(lambda m: random.uniform(KEY, (), "float32", m, 2.0))(np.float32(0.5))
    u = float(random.uniform(KEY))
    np.testing.assert_allclose(d, 1 - u, rtol=1e-6)
    np.testing.assert_allclose(grad(lambda s: jnp.log(random.lognormal(KEY, s)))(np.float32(0.5)),
                               np.log(random.lognormal(KEY, 1.0)), rtol=1e-5)
    h = 1e-2
    draw = lambda low: random.truncated_normal(KEY, low, 2.0)
    numeric = (float(draw(np.float32(-1 + h))) - float(draw(np.float32(-1 - h)))) / (2 * h)
    np.testing.assert_allclose(grad(draw)(np.float32(-1)), numeric, rtol=1e-2)
