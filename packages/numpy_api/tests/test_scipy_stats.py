"""jax.scipy.stats against SciPy: every function of every distribution, with location and scale where it has them."""
import inspect
import warnings

import numpy as np
import pytest
import scipy.stats

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import eval_shape
from jax_core.transformations.autodiff import grad
from jax_numpy_api import numpy as jnp
from jax_numpy_api.scipy import stats

X = np.array([-np.inf, -5, -1, 0, 0.3, 0.999, 1, 1.5, 4, 7, 40, np.inf, np.nan])
NOT_INFINITE = np.delete(X, -2)  # there SciPy's densities of chi2 and gamma are infinity less infinity
K = np.array([-1, 0, 1, 2, 3, 5, 7, 2.5, 40])
Q = np.array([0.1, 0.5, 0.99, 1.0, np.nan, -0.1, 1.2])
ANGLE = np.array([-3, 0, 0.1, 3.0])
FUNCTIONS = ["pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"]

DISTRIBUTIONS = {  # name: points, shape parameters
    "norm": (X, {}), "beta": (X, {"a": 2.0, "b": 0.7}), "cauchy": (X, {}), "chi2": (NOT_INFINITE, {"df": 3.0}), "expon": (X, {}),
    "gamma": (NOT_INFINITE, {"a": 2.5}), "gennorm": (X, {"beta": 1.7}), "gumbel_l": (X[:-2], {}), "gumbel_r": (X[1:], {}), "laplace": (X, {}),
    "logistic": (X, {}), "pareto": (X, {"b": 1.7}), "t": (X, {"df": 3.0}), "truncnorm": (X, {"a": -1.0, "b": 3.0}), "uniform": (X, {}),
    "vonmises": (ANGLE, {"kappa": 2.0}), "wrapcauchy": (np.array([-1, 0, 0.1, 3.0, 6.0, 7.0]), {"c": 0.4}), "bernoulli": (K, {"p": 0.3}),
    "binom": (K, {"n": 7.0, "p": 0.3}), "betabinom": (K, {"n": 7.0, "a": 2.0, "b": 1.5}), "geom": (K, {"p": 0.3}),
    "nbinom": (K, {"n": 4.0, "p": 0.3}), "poisson": (K, {"mu": 3.0}),
}
CASES = [(d, f) for d in DISTRIBUTIONS for f in FUNCTIONS if hasattr(getattr(stats, d), f)]


@pytest.mark.parametrize("name, function", CASES)
def test_value(name, function):
    points, shapes = DISTRIBUTIONS[name]
    points = Q if function in ("ppf", "isf") else points
    fun, reference = getattr(getattr(stats, name), function), getattr(getattr(scipy.stats, name), function)
    parameters = inspect.signature(fun).parameters
    place = {k: v for k, v in {"loc": 1.0, "scale": 2.0}.items() if k in parameters}
    with flags.enable_x64(True), np.errstate(all="ignore"):
        for options in (place,) if place else ({},):
            got = fun(points, *shapes.values(), **options)
            np.testing.assert_allclose(got, reference(points, **shapes, **options), rtol=1e-8, atol=1e-16)


def test_bad_parameters_are_nan():
    for value in (stats.norm.logpdf(0.0, 0.0, -1.0), stats.gamma.cdf(1.0, -1.0), stats.binom.pmf(1, 3, 1.5)):
        assert np.isnan(value)


def test_tails_keep_their_digits():
    np.testing.assert_allclose(stats.norm.logcdf(-30.0), scipy.stats.norm.logcdf(-30), rtol=1e-6)
    np.testing.assert_allclose(stats.norm.sf(9.0), scipy.stats.norm.sf(9), rtol=1e-5)
    np.testing.assert_allclose(stats.cauchy.cdf(-1e6), scipy.stats.cauchy.cdf(-1e6), rtol=1e-5)
    np.testing.assert_allclose(stats.truncnorm.logpdf(9.5, 9.0, 10.0), scipy.stats.truncnorm.logpdf(9.5, 9, 10), rtol=1e-5)


def test_derivatives_outside_of_the_support_are_zero():
    assert grad(stats.expon.pdf)(-1.0) == 0 and grad(stats.beta.pdf)(2.0, 2.0, 3.0) == 0
    np.testing.assert_allclose(grad(stats.norm.logpdf, (0, 1, 2))(1.0, 0.5, 2.0), [-0.125, 0.125, -0.46875], rtol=1e-6)


def test_results_keep_narrow_dtypes():
    assert jit(stats.norm.logpdf)(jnp.bfloat16(1)).dtype == jnp.bfloat16
    assert stats.norm.logpdf(1).dtype == np.float32


def test_multivariate_distributions():
    rng = np.random.default_rng(0)
    x, cov = rng.normal(size=(3, 2)), np.array([[2, 0.5], [0.5, 1]])
    with flags.enable_x64(True):
        np.testing.assert_allclose(stats.multivariate_normal.logpdf(x, np.ones(2), cov),
                                   scipy.stats.multivariate_normal.logpdf(x, np.ones(2), cov), rtol=1e-12)
        counts, p = np.array([[1, 2, 3], [1, 1, 1]]), np.array([0.2, 0.3, 0.5])
        np.testing.assert_allclose(stats.multinomial.pmf(counts, 6, p), scipy.stats.multinomial.pmf(counts, 6, p), rtol=1e-12)
        for point in (p, p[:2]):
            np.testing.assert_allclose(stats.dirichlet.logpdf(point, np.arange(1.0, 4)), scipy.stats.dirichlet.logpdf(p, [1, 2, 3]))
        assert stats.dirichlet.logpdf(np.zeros(0), np.zeros(0)) == -np.inf
        mu = np.array([0, 0.5, 10, 79, 81, 1000.0])
        np.testing.assert_allclose(stats.poisson.entropy(mu), scipy.stats.poisson.entropy(mu), rtol=1e-8)


def test_kernel_density():
    rng = np.random.default_rng(0)
    data, points = rng.normal(size=(2, 30)), rng.normal(size=(2, 4))
    with flags.enable_x64(True):
        ours, reference = stats.gaussian_kde(data), scipy.stats.gaussian_kde(data)
        np.testing.assert_allclose(ours(points), reference(points), rtol=1e-12)
        np.testing.assert_allclose(ours.integrate_gaussian(np.zeros(2), np.eye(2)), reference.integrate_gaussian(np.zeros(2), np.eye(2)))
        np.testing.assert_allclose(ours.integrate_kde(ours), reference.integrate_kde(reference))
        narrow = stats.gaussian_kde(data.astype(np.float32))  # points, and another estimate, have dtypes of their own
        np.testing.assert_allclose([narrow.integrate_kde(ours), ours.integrate_kde(narrow)], reference.integrate_kde(reference), rtol=1e-5)
        assert narrow(points).dtype == narrow.integrate_kde(ours).dtype == np.float64
        line = stats.gaussian_kde(data[0], "silverman")
        np.testing.assert_allclose(line.integrate_box_1d(-1, 1), scipy.stats.gaussian_kde(data[0], "silverman").integrate_box_1d(-1, 1))


@pytest.mark.parametrize("axis", [0, 1, None])
def test_statistics(axis):
    a = np.random.default_rng(0).integers(0, 4, size=(5, 4)).astype(np.float32)
    for got, want in zip(stats.mode(a, axis=axis), scipy.stats.mode(a, axis=axis)):
        np.testing.assert_array_equal(got, want)
    for method in ("average", "min", "max", "dense", "ordinal"):
        np.testing.assert_array_equal(stats.rankdata(a, method, axis=axis), scipy.stats.rankdata(a, method, axis=axis))
    np.testing.assert_allclose(stats.sem(a, axis=axis), scipy.stats.sem(a, axis=axis), rtol=1e-6)


@pytest.mark.parametrize("a, slope", [([2.0, 1.0, 2.0, 3.0], [1, 0, 0, 0]), ([np.nan, 1.0, np.nan], [1, 0, 0]), ([3.0, 1.0], [0, 1])])
def test_the_slope_of_a_mode_is_at_its_first_occurrence(a, slope):
    np.testing.assert_array_equal(grad(lambda a: stats.mode(a).mode)(jnp.array(a)), slope)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
@pytest.mark.parametrize("x64", [False, True])
def test_a_mode_of_nothing_is_of_the_default_dtype(dtype, x64):
    with flags.enable_x64(x64):
        found = stats.mode(jnp.zeros((0, 2), dtype))
        assert {x.dtype for x in found} == {np.dtype("float64" if x64 else "float32")} and np.isnan(found.mode).all() and not found.count.any()


@pytest.mark.parametrize("z", [0.0, -1.5, np.inf, np.nan])
def test_student_with_infinitely_many_degrees_of_freedom_is_normal(z):
    np.testing.assert_allclose(stats.t.logpdf(z, np.inf), scipy.stats.norm.logpdf(z), rtol=1e-6)
    np.testing.assert_array_equal(grad(stats.t.logpdf, (0, 1))(np.float32(0.5), np.float32(np.inf)), [-0.5, 0])


def test_shapes_that_do_not_fit():
    with pytest.raises(TypeError, match="incompatible shapes"):
        stats.norm.pdf(jnp.ones(4), jnp.ones(3), 2.0)
    with pytest.raises(ValueError, match="incompatible shapes"):
        stats.norm.pdf(jnp.ones((4, 4)), jnp.ones(3))


def test_constants_beyond_half_precision_are_infinite_without_a_warning():
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(stats.beta.pdf(jnp.array([0.25], "float16"), 2, 3)).all()


@pytest.mark.parametrize("call", [
    lambda z: stats.expon.sf(2.0, loc=z), lambda z: stats.gumbel_l.ppf(z), lambda z: stats.bernoulli.cdf(z, 0.5), lambda z: stats.norm.cdf(z),
    lambda z: stats.poisson.entropy(z), lambda z: stats.t.pdf(0.5, z), lambda z: stats.wrapcauchy.pdf(z, 0.5)])
def test_complex_numbers_are_refused(call):
    with pytest.raises(TypeError, match="takes real numbers, got .*complex64"):
        call(jnp.array([0.5 + 0.1j]))
    assert stats.cauchy.pdf(jnp.array([0.5 + 0.1j])).dtype == stats.norm.logpdf(jnp.array([0.5 + 0.1j])).dtype == np.complex64


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("logpmf, shapes", [(stats.betabinom.logpmf, 3), (stats.binom.logpmf, 2), (stats.geom.logpmf, 1), (stats.nbinom.logpmf, 2), (stats.poisson.logpmf, 1)])
def test_a_probability_is_as_weak_as_its_arguments(logpmf, shapes, x64):
    """In double precision, too, where the constants of a formula have a dtype."""
    with flags.enable_x64(x64):
        assert eval_shape(logpmf, 2, *[0.5] * shapes).weak_type
        assert not eval_shape(logpmf, 2, *[0.5] * (shapes - 1), jnp.ones(1)).weak_type


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("what, args", [
    ("beta.sf", (0.27, 0.42, 9.3)), ("beta.pdf", (0.74, 6.5, 4.5)), ("chi2.logpdf", (0.114, 0.389)), ("t.pdf", (5.1, 12.25)), ("pareto.logcdf", (7.1, 3.5)),
    ("gumbel_l.logcdf", (-20.0,)), ("gumbel_r.logsf", (18.5,)), ("logistic.sf", (6.7,)), ("norm.pdf", (3.3, 0.3)), ("vonmises.logpdf", (-0.2, 9.3)),
    ("poisson.pmf", (7.0, 20.4)), ("binom.logpmf", (6.0, 33.0, 0.146)), ("nbinom.pmf", (15.0, 34.0, 0.47)), ("gumbel_r.ppf", (0.35,))], ids=str)
def test_halves_of_a_float_are_rounded_once(dtype, what, args):
    """Up to ``(1 + 2^-3) / 2`` units of the last place."""
    name, function = what.split(".")
    args = [jnp.asarray(x, dtype) for x in args]
    out = getattr(getattr(stats, name), function)(*args)
    assert out.dtype == dtype
    want = getattr(getattr(scipy.stats, name), function)(*[float(x) for x in args])
    info = jnp.finfo(dtype)
    np.testing.assert_allclose(float(out), want, rtol=0.5625 * float(info.eps))
