"""Densities of many events, in float32: values and slopes beside mpmath's, where the plain formulas are differences of large numbers."""
import operator

import numpy as np
import pytest
from mpmath import mp

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp, value_and_grad
from jax_numpy_api.scipy import stats

G = mp.loggamma


def _binomial(k, n, p):
    return G(n + 1) - G(k + 1) - G(n - k + 1) + k * mp.log(p) + (n - k) * mp.log(1 - p)


def _log_beta(a, b):
    return G(a) + G(b) - G(a + b)


EXACT = {
    "gamma": lambda z, a: (a - 1) * mp.log(z) - z - G(a),
    "chi2": lambda z, d: (d / 2 - 1) * mp.log(z / 2) - z / 2 - G(d / 2) - mp.log(2),
    "poisson": lambda k, m: k * mp.log(m) - m - G(k + 1),
    "binom": _binomial,
    "nbinom": lambda k, n, p: G(n + k) - G(k + 1) - G(n) + n * mp.log(p) + k * mp.log(1 - p),
    "beta": lambda z, a, b: (a - 1) * mp.log(z) + (b - 1) * mp.log(1 - z) - _log_beta(a, b),
    "betabinom": lambda k, n, a, b: G(n + 1) - G(k + 1) - G(n - k + 1) + _log_beta(k + a, n - k + b) - _log_beta(a, b),
}
POINTS = {
    "gamma": [(1e6, 1e6), (999000, 1e6), (1.0023e6, 1e6), (7e6, 7.003e6), (9.5, 9.25), (30, 12), (8.5, 9), (1e4, 10), (12, 1e4)],
    "chi2": [(1e6, 1e6), (998000, 1e6), (20, 18.5), (17.5, 18), (4.78e6, 4.777e6)],
    "poisson": [(1e6, 1e6), (1001500, 1e6), (9, 9), (8, 8), (9, 30), (4.25e6, 4.2496e6), (100, 1e-3), (40, 1e4)],
    "binom": [(500000, 1e6, 0.5), (498800, 1e6, 0.5), (1000, 1e6, 0.001), (9, 18, 0.5), (9, 1000, 0.01), (8, 1000, 0.01), (990, 1000, 0.99),
              (770600, 1247400, 0.6176), (0, 1e6, 1e-6), (1e6, 1e6, 0.999999)],
    "nbinom": [(1e6, 1e6, 0.5), (998000, 1e6, 0.5), (30, 12, 0.3), (9, 8.5, 0.4), (7, 1e4, 0.999)],
    "beta": [(0.5, 1e6, 1e6), (0.5005, 1e6, 1e6), (0.3, 10, 12), (0.01, 20, 2000), (0.46344, 8527700, 9871800)],
    "betabinom": [(500000, 1e6, 1e5, 1e5), (1e5, 2e5, 2.0, 3.0), (9, 20, 10, 12), (0, 5, 2, 3), (1200, 2000, 50, 40), (3, 7, 20, 9),
                  (1, 1e8, 1e-3, 1e6), (20, 1e8, 5, 1e8), (99999984, 1e8, 1e8, 5), (0, 1e8, 5, 1e8), (500000, 1e6, 1000, 1e-3), (5, 1e4, 3, 1e4)],
}


def _along(f, point, i):
    """Slope by the ``i``-th argument, and the size that it has at a distance of one standard deviation."""
    h = point[i] * mp.mpf(10) ** -20
    below, at, above = (f(*point[:i], point[i] + s * h, *point[i + 1:]) for s in (-1, 0, 1))
    return float((above - below) / (2 * h)), float(mp.sqrt(abs(above - 2 * at + below)) / h)


@pytest.mark.parametrize("name", POINTS)
def test_value_and_slopes(name):
    distribution, f = getattr(stats, name), EXACT[name]
    density, log_density = (distribution.pmf, distribution.logpmf) if hasattr(distribution, "pmf") else (distribution.pdf, distribution.logpdf)
    columns = [np.array(x, np.float32) for x in zip(*POINTS[name])]
    by = tuple(range(1 if hasattr(distribution, "pmf") else 0, len(columns)))  # by a count there is no slope

    def everything(*xs):
        return density(*xs), log_density(*xs), grad(lambda *xs: log_density(*xs).sum(), by)(*xs), [
            jvp(lambda x, i=i: log_density(*xs[:i], x, *xs[i + 1:]), (xs[i],), (xs[i] * 0 + 1,))[1] for i in by]

    values, logs, slopes, forward = map(np.asarray, jit(everything)(*columns))
    np.testing.assert_allclose(forward, slopes, rtol=1e-4, atol=1e-6)
    with mp.workdps(60):
        for k, point in enumerate(zip(*columns)):
            point = [mp.mpf(float(x)) for x in point]
            np.testing.assert_allclose(values[k], float(mp.exp(f(*point))), rtol=1e-4, atol=1e-37, err_msg=f"{point}")
            np.testing.assert_allclose(logs[k], float(f(*point)), rtol=5e-6, atol=1e-4, err_msg=f"{point}")
            for slope, i in zip(slopes[:, k], by):
                want, size = _along(f, point, i)
                np.testing.assert_allclose(slope, want, rtol=1e-3, atol=1e-4 * size, err_msg=f"{point} by argument {i}")


@pytest.mark.parametrize("call", [
    ("gamma.logpdf", 0.0, 20.0), ("gamma.logpdf", np.inf, 20.0), ("poisson.logpmf", 20.0, 0.0), ("binom.logpmf", 20.0, 40.0, 0.0),
    ("binom.logpmf", 20.0, 40.0, 1.0), ("beta.logpdf", 0.0, 20.0, 20.0), ("beta.logpdf", 1.0, 20.0, 20.0)], ids=str)
def test_where_nothing_can_happen(call):
    name, *point = call
    log_density = operator.attrgetter(name)(stats)
    assert log_density(*point) == -np.inf
    assert not np.isnan(grad(log_density, 1)(*point))


@pytest.mark.parametrize("a, b", [(1.5, 2.5), (25.0, 30.0), (1e-3, 1e5)])
def test_no_trial_has_one_outcome(a, b):
    assert stats.betabinom.logpmf(0, 0, a, b) == 0 and grad(stats.betabinom.logpmf, 2)(0, 0, a, b) == 0


# -- of several outcomes -------------------------------------------------------------------------------------------------

def _multinomial(x, p):
    return G(sum(x) + 1) + sum(x * mp.log(p) - G(x + 1) for x, p in zip(x, p))


def _dirichlet(x, alpha):
    return G(sum(alpha)) + sum((a - 1) * mp.log(x) - G(a) for x, a in zip(x, alpha))


@pytest.mark.parametrize("counts", [(1, 2, 3), (30, 0, 5), (300, 300, 400), (300000, 300100, 399900), (6000000, 6000100, 7999900), (3, 5000000, 2)], ids=str)
@pytest.mark.parametrize("p", [(0.3, 0.3, 0.4), (0.1, 0.2, 0.7), (0.3, 0.2, 0.3)], ids=str)  # the last ones do not add up to 1
def test_multinomial(counts, p):
    n, wide, p = sum(counts), [mp.mpf(x) for x in counts], np.array(p, np.float32)
    value, slopes = jit(value_and_grad(lambda p: stats.multinomial.logpmf(np.array(counts), n, p)))(p)
    with mp.workdps(60):
        np.testing.assert_allclose(value, float(_multinomial(wide, [mp.mpf(float(x)) for x in p])), rtol=2e-6, atol=1e-5)
    np.testing.assert_allclose(slopes, counts / p, rtol=1e-3, atol=1e-4 * n ** 0.5)


@pytest.mark.parametrize("alpha", [(0.5, 1.5, 2.0), (20, 0.5, 3), (200, 300, 500), (2e5, 3e5, 5e5), (2e7, 3e7, 5e7), (1e-3, 3e5, 0.5)], ids=str)
@pytest.mark.parametrize("x", [(0.2, 0.3, 0.5), (0.25, 0.25, 0.5), (1e-5, 0.99998, 1e-5)], ids=str)
def test_dirichlet(x, alpha):
    x, alpha = np.array(x, np.float32), np.array(alpha, np.float32)
    value, (slopes, by_alpha) = jit(value_and_grad(stats.dirichlet.logpdf, (0, 1)))(x, alpha)
    with mp.workdps(60):
        point, wide = ([mp.mpf(float(v)) for v in column] for column in (x, alpha))
        np.testing.assert_allclose(value, float(_dirichlet(point, wide)), rtol=4e-6, atol=1e-5)
        np.testing.assert_allclose(slopes, [float((a - 1) / v) for v, a in zip(point, wide)], rtol=1e-3, atol=1e-3 * float(sum(wide)) ** 0.5)
        want = [float(mp.log(v) - mp.digamma(a) + mp.digamma(sum(wide))) for v, a in zip(point, wide)]
        np.testing.assert_allclose(by_alpha, want, rtol=1e-4, atol=1e-5)
