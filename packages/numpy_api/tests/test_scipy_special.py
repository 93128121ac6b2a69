"""jax.scipy.special against SciPy: values in both precisions, edges, and derivatives against difference quotients."""
import inspect

import numpy as np
import pytest
import scipy.special

from harness import steps_of
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad, value_and_grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_numpy_api.lax import series, special as lax_special
from jax_numpy_api.lax.quotient_cpu import shared_quotient
from jax_numpy_api.scipy import special

_RNG = np.random.default_rng(0)
LINE = np.concatenate([_RNG.uniform(-9, 9, 60), [0.0, 1e-8, 0.5, 1.0, 2.0]])
POSITIVE = np.concatenate([_RNG.uniform(0.05, 20, 60), [1e-8, 0.5, 1.0, 2.0]])
UNIT = np.concatenate([_RNG.uniform(0, 1, 60), [1e-30, 1e-8, 0.5]])

# name, arguments, error allowed in units of the precision
# sici: SciPy is off by 81 units at 0.61633, next to the root of Ci, where mpmath gives our value
# hyp1f1: SciPy is off by 366 units at (1.015, 1, 2.465), where mpmath gives our value to all digits
VALUES = [
    ("entr", (POSITIVE,), 8), ("expit", (LINE,), 8), ("logit", (UNIT,), 8), ("xlogy", (POSITIVE, POSITIVE[::-1]), 8),
    ("xlog1py", (POSITIVE, POSITIVE[::-1]), 8), ("rel_entr", (POSITIVE, POSITIVE[::-1]), 16), ("boxcox", (POSITIVE, LINE[:64]), 60),
    ("boxcox1p", (POSITIVE, LINE[:64]), 60), ("gamma", (POSITIVE,), 8), ("gammaln", (POSITIVE,), 16), ("digamma", (POSITIVE + 2,), 8),
    ("gammasgn", (LINE,), 0), ("beta", (POSITIVE[:60] / 3, POSITIVE[60:0:-1] / 3), 40), ("factorial", (np.arange(20.0),), 4),
    ("gammainc", (POSITIVE / 2, POSITIVE[::-1] / 2), 100), ("gammaincc", (POSITIVE / 2, POSITIVE[::-1] / 2), 200),
    ("gammainc", (np.array([20.0, 20, 25, 60, 100]), np.array([0.25, 0.5, 1.25, 12, 40])), 150),  # far below the mode
    ("betainc", (POSITIVE / 4, POSITIVE[::-1] / 4, np.linspace(0.01, 0.99, 64)), 200),
    ("zeta", (POSITIVE + 1.1, POSITIVE[::-1]), 40), ("poch", (POSITIVE / 4, POSITIVE[::-1] / 4), 40),
    ("comb", (np.array([5.0, 10, 3, 4]), np.array([2.0, 5, 7, -1])), 4), ("erf", (LINE,), 4), ("erfc", (LINE,), 30),
    ("erfcx", (np.abs(LINE),), 4), ("erfinv", (UNIT,), 16), ("erfcinv", (2 * UNIT,), 8), ("ndtri", (UNIT,), 4),
    ("log_ndtr", (-np.abs(LINE),), 8), ("dawsn", (LINE,), 8), ("spence", (POSITIVE,), 200), ("i0e", (LINE,), 8),
    ("i1e", (LINE,), 16), ("i0", (LINE,), 8), ("i1", (LINE,), 16), ("exp1", (POSITIVE,), 8), ("expi", (LINE[LINE != 0],), 40),
    ("expn", (np.full(64, 3.0), POSITIVE), 20), ("owens_t", (POSITIVE / 8, LINE[:64] / 4), 40), ("fresnel", (LINE,), 30),
    ("sici", (np.abs(LINE[LINE != 0]) / 4,), 100), ("hyp1f1", (POSITIVE / 8, POSITIVE[::-1] / 4 + 0.5, LINE[:64]), 1000),
    ("hyp2f1", (POSITIVE / 8, POSITIVE / 10, POSITIVE / 4 + 0.5, UNIT.repeat(2)[:64] * 0.7), 100),
]


def _assert_near(name, got, want, args, units):
    got, want = np.asarray(got), np.asarray(want)
    assert np.array_equal(np.isnan(got), np.isnan(want)), f"{name}: NaNs differ at {args}"
    eps = np.finfo(got.dtype).eps
    with np.errstate(all="ignore"):
        want = want.astype(got.dtype)
        error = np.where(got == want, 0, np.abs(got.astype(float) - want) / np.maximum(np.abs(want), np.finfo(got.dtype).tiny))
    worst = np.nanargmax(error)
    assert error.flat[worst] <= units * eps, (
        f"{name}: {error.flat[worst] / eps:.3g} units at {[np.broadcast_to(a, got.shape).flat[worst] for a in args]}: "
        f"got {got.flat[worst]}, expected {want.flat[worst]}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name, args, units", VALUES, ids=[v[0] for v in VALUES])
def test_value(name, args, units, dtype):
    args = [a.astype(dtype) for a in args]
    with flags.enable_x64(dtype == np.float64):
        got = getattr(special, name)(*args)
    want = getattr(scipy.special, name)(*[a.astype(np.float64) for a in args])
    for g, w in zip(got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want]):
        assert g.dtype == dtype
        _assert_near(name, g, w, args, units)


def test_fresnel_far_out():
    """Numbers of mpmath: SciPy takes the angle of a rounded square."""
    x = np.array([16609.740234375, 96316.390625, -23089.5254, 3e15, 1e17, np.inf])
    with flags.enable_x64(True):
        s, c = special.fresnel(x)
    np.testing.assert_allclose(s, [0.50000992537492060, 0.49999985682988846, -0.49999579669953741, 0.5, 0.5, 0.5], rtol=1e-15)
    np.testing.assert_allclose(c, [0.49998360647289674, 0.49999669826650609, -0.49998687051784687, 0.5, 0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("name", ["beta", "betaln"])
def test_beta_of_some_hundred_numbers(name):
    """Their gamma functions are of one kernel; those of few and of many are not kept in memory."""
    function = getattr(special, name)
    for n, together in ((64, False), (65, True), (1024, True), (1025, False)):
        a, b = np.linspace(0.1, 30, n, dtype=np.float32), np.linspace(9, -0.9, n, dtype=np.float32)
        assert (f"tensor<3x{n}x" in jit(function).trace(a, b).lower().as_text()) == together
        np.testing.assert_allclose(function(a, b), getattr(scipy.special, name)(a.astype(np.float64), b.astype(np.float64)), rtol=1e-4, atol=1e-5)


def test_complex_erfcx_and_gamma():
    z = np.array([1 + 2j, -3 + 0.5j, 0.1 - 5j, 30 + 30j, -1j, 2, NAN])
    with flags.enable_x64(True):
        np.testing.assert_allclose(special.erfcx(z), scipy.special.erfcx(z), rtol=1e-12)
        np.testing.assert_allclose(special.gamma(z[:3]), scipy.special.gamma(z[:3]), rtol=1e-11)
    slope = (special.erfcx(np.complex64(1 + 2.01j)) - special.erfcx(np.complex64(1 + 1.99j))) / 0.02j
    np.testing.assert_allclose(grad(special.erfcx, holomorphic=True)(np.complex64(1 + 2j)), slope, rtol=1e-3)


INF, NAN = np.inf, np.nan
EDGES = [  # name, arguments, result
    ("logsumexp", ([-INF, -INF],), -INF), ("logsumexp", ([INF, 0.0],), INF), ("xlogy", (0.0, 0.0), 0.0), ("xlogy", (0.0, NAN), NAN),
    ("xlog1py", (0.0, -1.0), 0.0), ("entr", (0.0,), 0.0), ("entr", (-1.0,), -INF), ("kl_div", (0.0, 2.0), 2.0),
    ("rel_entr", (1.0, 0.0), INF), ("logit", (0.0,), -INF), ("logit", (1.0,), INF), ("gamma", (0.0,), INF), ("gamma", (-0.0,), -INF),
    ("gamma", (-2.0,), NAN), ("gamma", (INF,), INF), ("gammaln", (-1.0,), INF), ("gammaln", (INF,), INF), ("digamma", (0.0,), -INF),
    ("erfcx", (INF,), 0.0), ("ndtr", (-INF,), 0.0), ("ndtr", (INF,), 1.0), ("log_ndtr", (-INF,), -INF), ("ndtri", (0.0,), -INF),
    ("ndtri", (1.0,), INF), ("ndtri", (1.1,), NAN), ("expi", (0.0,), -INF), ("expi", (-INF,), 0.0), ("exp1", (0.0,), INF),
    ("exp1", (-1.0,), NAN), ("expn", (2.0, 0.0), 1.0), ("expn", (1.0, 0.0), INF), ("spence", (0.0,), np.pi ** 2 / 6),
    ("spence", (-1.0,), NAN), ("dawsn", (INF,), 0.0), ("poch", (2.0, 0.0), 1.0), ("zeta", (1.0, 2.0), INF), ("zeta", (-2.0,), 0.0),
    ("hyp2f1", (1.0, 1.0, 2.0, 1.5), INF), ("hyp1f1", (1.0, 0.0, 1.0), INF), ("gammainc", (1.0, 0.0), 0.0), ("boxcox", (0.0, 0.0), -INF),
]


@pytest.mark.parametrize("name, args, want", EDGES, ids=[f"{e[0]}-{e[1]}" for e in EDGES])
def test_edge(name, args, want):
    got = getattr(special, name)(*[np.asarray(a, np.float32) for a in args])
    np.testing.assert_allclose(got, np.float32(want), rtol=1e-6)


@pytest.mark.parametrize("name, kwargs", [("logit", {"x": 0.25}), ("poch", {"z": 3.0, "m": 2.0}), ("xlogy", {"x": 2.0, "y": 3.0})])
def test_arguments_by_keyword(name, kwargs):
    f, given = getattr(special, name), list(kwargs.values())
    np.testing.assert_array_equal(f(**kwargs), f(*given))
    np.testing.assert_array_equal(grad(lambda first: f(**{**kwargs, next(iter(kwargs)): first}))(given[0]), grad(f)(*given))


SLOPES = [  # name, arguments at which all derivatives are tried; (name, which) where only some exist
    ("logit", (0.3,), None), ("xlogy", (1.3, 0.7), None), ("kl_div", (1.3, 0.7), None), ("boxcox", (1.7, 0.4), None), ("gamma", (2.3,), None),
    ("gammaln", (2.3,), None), ("betaln", (2.3, 0.4), None), ("beta", (2.3, 0.4), None), ("poch", (1.3, 2.2), None),
    ("zeta", (2.3, 1.4), None), ("erfcx", (0.4,), None), ("ndtr", (0.4,), None), ("log_ndtr", (-3.0,), None), ("ndtri", (0.2,), None),
    ("erfcinv", (0.3,), None), ("dawsn", (0.4,), None), ("owens_t", (0.4, 0.7), None), ("exp1", (0.8,), None), ("expi", (0.8,), None),
    ("expn", (3.0, 0.7), (1,)), ("spence", (0.3,), None), ("i0", (0.7,), None), ("i1", (0.7,), None), ("hyp1f1", (0.3, 0.5, 1.2), None),
    ("hyp2f1", (0.3, 0.5, 1.2, 0.4), None), ("gammainc", (1.3, 0.7), None),
]


@pytest.mark.parametrize("name, at, which", SLOPES, ids=[s[0] for s in SLOPES])
def test_derivative(name, at, which):
    which = tuple(range(len(at))) if which is None else which
    f, h = getattr(special, name), 1e-4
    with flags.enable_x64(True):
        got = grad(lambda *xs: f(*[jnp.asarray(x) for x in xs]), which)(*at)
        for i, g in zip(which, got):
            x = [np.array([v + (k * h if i == j else 0) for k in (-2, -1, 1, 2)]) for j, v in enumerate(at)]
            a, b, c, d = np.asarray(f(*x))
            np.testing.assert_allclose(g, (a - d + 8 * (c - b)) / (12 * h), rtol=2e-8, err_msg=f"argument {i}")


def test_logsumexp_derivative_with_infinities():
    """Weights of the softmax: shared between infinite summands, and 0 where the sum is empty."""
    x = np.array([[-INF, -INF], [INF, INF], [INF, 0.0], [-INF, 1.0]], np.float32)
    got = vmap(grad(special.logsumexp))(x)
    np.testing.assert_array_equal(got, [[0, 0], [0.5, 0.5], [1, 0], [0, 1]])


def test_logsumexp_arguments():
    a, b = _RNG.normal(size=(3, 4)), _RNG.normal(size=(3, 4))
    with flags.enable_x64(True):
        for options in ({}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}, {"b": b, "axis": 0, "return_sign": True}):
            got, want = special.logsumexp(a, **options), scipy.special.logsumexp(a, **options)
            np.testing.assert_allclose(got, want, rtol=1e-13)
        np.testing.assert_allclose(special.logsumexp(a + 1j * b), scipy.special.logsumexp(a + 1j * b), rtol=1e-13)
        np.testing.assert_allclose(special.logsumexp(a, where=b > 0), scipy.special.logsumexp(a[b > 0]), rtol=1e-13)
        assert np.isnan(special.logsumexp(np.zeros(1), b=-np.ones(1)))
    with pytest.raises(TypeError, match="logsumexp requires ndarray or scalar arguments"):
        special.logsumexp([1.0, 2.0])


def test_derivatives_where_x_log_y_is_zero():
    assert grad(special.xlogy, (0, 1))(0.0, 0.0) == (-INF, 0.0)
    assert grad(special.xlogy, 1)(0.0, 2.0) == 0


BESIDE_POLES = np.array([1e-30, -1e-12, 1e-9j, -1e-9j, -1 + 1e-9, -1 + 1e-9j, -1 - 1e-9j, -4 - 1e-7 + 1e-8j])


def test_complex_functions():
    z = LINE[:20] + 1j * LINE[20:40]
    with flags.enable_x64(True):
        np.testing.assert_allclose(special.wofz(z), scipy.special.wofz(z), rtol=1e-12)
        for x in (z, BESIDE_POLES, -2e3 + 0.25 + 1j * LINE[:20]):
            np.testing.assert_allclose(special.loggamma(x), scipy.special.loggamma(x), rtol=1e-12, atol=1e-13)
    for x in (0, -1, -7):
        poles = np.array([complex(x, 0.0), complex(x, -0.0)], np.complex64)
        assert np.isnan(special.loggamma(poles)).all()


def test_bessel_and_harmonics():
    x = np.array([0.0, 0.3, 2.0, 9.0])
    n, m = np.array([0, 1, 2, 3]), np.array([0, -1, 2, -3])
    with flags.enable_x64(True):
        np.testing.assert_allclose(special.bessel_jn(x, v=4), scipy.special.jv(np.arange(5)[:, None], x), atol=1e-14)
        np.testing.assert_allclose(special.sph_harm_y(n, m, x, x[::-1]), scipy.special.sph_harm_y(n, m, x, x[::-1]), atol=1e-14)
        values, slopes = special.lpmn(3, 3, np.array([0.1, -0.6]))
        want = scipy.special.assoc_legendre_p_all(3, 3, np.array([0.1, -0.6]), diff_n=1)[:, :, :4]
        np.testing.assert_allclose(np.swapaxes(values, 0, 1), want[0], atol=1e-12)
        np.testing.assert_allclose(np.swapaxes(slopes, 0, 1), want[1], atol=1e-12)


def test_bessel_of_small_numbers_and_in_narrow_floats():
    """The recurrence leaves the range of float32 where z is tiny, and that of float16 at once."""
    small = np.float32([1e-30, -1e-20, 1e-10, 0.009, 0.011, 0.0])
    want = scipy.special.jv(np.arange(3)[:, None], np.float64(small))
    np.testing.assert_allclose(special.bessel_jn(small, v=2), want, rtol=2e-6, atol=1e-38)
    x = np.array([0.25, 1, 5, 20, -3])
    for dtype in np.float16, jnp.bfloat16:
        values = special.bessel_jn(jnp.asarray(x, dtype), v=3)
        assert values.dtype == dtype
        np.testing.assert_allclose(values.astype(np.float32), scipy.special.jv(np.arange(4)[:, None], x), atol=float(jnp.finfo(dtype).eps) / 2)


def test_bernoulli_numbers():
    with flags.enable_x64(True):
        np.testing.assert_allclose(special.bernoulli(30), scipy.special.bernoulli(30), rtol=1e-11)  # whose own are rounded
        np.testing.assert_array_equal(special.bernoulli(264)[260:], [-np.inf, 0, np.inf, 0, -np.inf])
    with pytest.raises(ValueError, match="bernoulli: n must be"):
        special.bernoulli(10 ** 30)


@pytest.mark.parametrize("name", ["gamma", "ndtri", "erfcx", "zeta"])
def test_narrow_floats_keep_their_dtype(name):
    x = jnp.asarray([0.5, 0.75], jnp.bfloat16)
    assert jit(getattr(special, name))(x).dtype == jnp.bfloat16


@pytest.mark.parametrize("function, parameters", [(special.hyp1f1, (0.3, 1.4)), (special.hyp2f1, (0.3, 0.6, 1.4))], ids=["hyp1f1", "hyp2f1"])
def test_value_and_slopes_by_one_call_are_those_by_several(function, parameters):
    """The slopes by parameters come from stacked arguments; one argument that is held, or all parameters, take other ways."""
    x = jnp.linspace(-0.9, 0.9, 7)

    def total(*args):
        return jnp.sum(function(*args))
    args = (*[jnp.full(7, p) for p in parameters], x)
    every = tuple(range(len(args)))
    value, slopes = value_and_grad(total, every)(*args)
    np.testing.assert_allclose(value, total(*args), rtol=1e-6)
    for i in every:
        np.testing.assert_allclose(grad(total, i)(*args), slopes[i], rtol=2e-5, atol=1e-5)
    by_parameters = grad(total, every[:-1])(*args)
    np.testing.assert_allclose(np.stack(by_parameters), np.stack(slopes[:-1]), rtol=2e-5)


def test_a_shared_quotient_is_the_quotient():
    ends = np.array([0.0, -0.0, 1.0, -3.0, 1e-45, 1e-38, 3e38, np.inf, -np.inf, np.nan], np.float32)
    x, y = map(np.ravel, np.meshgrid(ends, ends))
    got, want = jit(shared_quotient)(jnp.asarray(x), jnp.asarray(y)), jit(lax.div)(jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_digamma_keeps_its_digits_near_its_root():
    """Values by mpmath, 30 digits."""
    x = np.array([1.4616321, 1.46, 1.47, 0.4616321], np.float32)
    want = [-1.203605254911e-8, -0.001580525018104, 0.008066516486232, -2.166227203351]
    np.testing.assert_allclose(special.digamma(x), want, rtol=5e-7)


def test_float32_series_take_two_operations_a_term_and_keep_their_digits():
    """Accelerators get these as they are; three operations a term made two kernels of what is one."""
    x = jnp.asarray(np.concatenate([_RNG.uniform(0.5, 2.5, 4000), _RNG.uniform(0, 60, 4000)]), jnp.float32)
    program = make_jaxpr(lambda t: series.chebyshev(lax_special.LGAMMA_REST, t))(x)
    assert len(program.eqns) <= 2 * 18
    want = scipy.special.i0e(np.asarray(x, np.float64))
    units = np.abs(np.asarray(lax.bessel_i0e(x), np.float64) - want) / np.spacing(want.astype(np.float32))
    assert units.max() < 4.5


@pytest.mark.parametrize("function", [special.betaln, special.zeta, special.comb, special.xlogy], ids=lambda f: f.__name__)
def test_a_result_is_weak_where_both_operands_are(function):
    for x, y, weak in ((2.0, 1.5, True), (2.0, np.float64(1.5), False), (np.float32(2), 1.5, False)):
        assert function(x, y).weak_type == weak


OF_INTEGERS = {"bernoulli", "bessel_jn", "lpmn", "lpmn_values", "multigammaln", "polygamma"}


@pytest.mark.parametrize("name", sorted({*special.__all__} - OF_INTEGERS))
def test_a_known_call_is_one_program(name):
    function = getattr(special, name)
    args = [jnp.float32(0.5)] * sum(p.default is p.empty for p in inspect.signature(function).parameters.values())
    if name == "sph_harm_y":
        args[:2] = [jnp.int32(1)] * 2
    function(*args), function(*args)
    assert steps_of(lambda: function(*args)) <= 1


def test_a_call_by_steps_is_seen():
    assert steps_of(lambda: lax.exp(lax.sin(lax.exp(jnp.float32(0.5))))) > 1


ZETA = [  # arguments, mpmath's value: of Riemann's function below 1, and where numbers of both signs are summed
    (-1.5, 1.0, -0.025485201889833036), (-2.25, 1.0, 0.0057588939680615192), (-0.75, 1.0, -0.13364277443658456), (-40.5, 1.0, -5530487585144642.3),
    (-2.0, 1.0, 0.0), (-1e30, 1.0, 0.0), (7.0, -10.5, 9.2741408342912962e-8), (5.0, -2.5, 0.0028331666461138068),
    (3.0, -3.25, -61.977605519711011), (4.0, -300.25, 259.75757607841969), (3.0, -2.0 ** -33, -6.338253001141147e29), (3.0, -20.0, np.inf),
    (1.0, -2.5, np.inf), (np.inf, 1.0, 1.0), (2.5, -0.5, np.nan), (0.5, 2.0, np.nan),
    (2.0, 2.0 ** 100, 2.0 ** -100), (1.0625, 2.0 ** 126, 0.0681567332915786), (3.0, 2.0 ** 60, 2.0 ** -121),  # q**-s underflows, the sum does not
    (12.0, 1900.0, 7.8266223008024548e-38), (30.5, 14.25, 7.3902197921472353e-36)]  # nor does what each number adds to it
POLYGAMMA = [  # also where the factorial is too large for float32, or the sum too small
    (6, -1.5, -1.3180061075500352), (9, 10000.0, 4.0338147023999933e-32), (16, 170.0, -2.8158730956639727e-24),
    (50, 20.0, -0.014745157490906249), (3, 0.25, 1538.7821440091884), (120, 60.0, -5.4025374539528573e-17), (2, 0.0, -np.inf), (3, np.inf, 0.0), (-1, 2.0, np.nan)]


@pytest.mark.parametrize("x64, relative", [(False, 4e-5), (True, 5e-13)], ids=["float32", "float64"])
@pytest.mark.parametrize("function, rows", [(special.zeta, ZETA), (special.polygamma, POLYGAMMA)], ids=["zeta", "polygamma"])
def test_sums_of_powers_keep_their_digits(function, rows, x64, relative):
    first, second, want = zip(*rows)
    with flags.enable_x64(x64):
        np.testing.assert_allclose(function(np.array(first), np.array(second)), want, rtol=relative)


def test_slopes_of_zeta_left_of_its_pole():
    """Values by mpmath."""
    slopes = vmap(grad(special.zeta))(jnp.float32([-1.5, -2.25, -2.0, -40.5]))
    np.testing.assert_allclose(slopes, [-0.076309255320550887, -0.016375468882742297, -0.030448457058393271, 19060914565784851.0], rtol=5e-6)


def test_slopes_of_zeta_far_out():
    """Values by mpmath; the sum is near the smallest float32, or beyond the largest."""
    slopes = vmap(grad(special.zeta))(jnp.float32([8.0, 12.0, 30.5, 47.5]), jnp.float32([98304.0, 1900.0, 14.25, 0.001]))
    np.testing.assert_allclose(slopes, [-1.8742284492796506e-35, -5.9797392742891679e-37, -1.9709307779692518e-35, np.inf], rtol=3e-5)


HYP1F1_SLOPES = [  # arguments, the derivatives by each by mpmath; also where the series ends, and where the one in 1/x serves
    ((3.25, 1.625, -2.5), (0.005053707068, 0.0517793389694, -0.0307564459253)),
    ((-4.0, 3.875, -5.5), (-16.1711914508, -10.6477280764, -8.6690530243)),
    ((2.25, 4.25, -48.0), (-0.00445694226952, 0.00111258544795, 5.97031540101e-5)),
    ((-1.0, 3.5, 82.25), (-4.72133170205e27, 6.71428571429, -0.285714285714)),
    ((0.0, 4.75, -83.75), (-3.02268327619, 0.0, 0.0)),
    ((1.5, 0.5, -85.0), (0.0023453159895, -0.0023453159895, -2.03088582975e-35)),
    ((0.75, 2.25, 70.0), (2.11973425699e28, -1.46629677838e28, 3.90701601741e27)),
    ((-1.0, -3.0, 2.5), (np.nan, 0.277777777778, 0.333333333333)),
    ((2.0, -1.5, 3.0), (7496.67458503, -2642.031009, 9557.5770836)),
    ((2.0, 2.0, -np.inf), (0.0, 0.0, 0.0)), ((-2.0, 2.0, np.inf), (np.nan, np.nan, np.inf)), ((-1.0, 2.0, np.inf), (np.nan, np.nan, -0.5)),
]


@pytest.mark.parametrize("x64, relative", [(False, 3e-5), (True, 1e-11)], ids=["float32", "float64"])
def test_slopes_of_hyp1f1(x64, relative):
    with flags.enable_x64(x64):
        args = map(jnp.asarray, zip(*(args for args, _ in HYP1F1_SLOPES)))
        slopes = jit(vmap(grad(special.hyp1f1, (0, 1, 2))))(*args)
        np.testing.assert_allclose(np.stack(slopes, -1), [want for _, want in HYP1F1_SLOPES], rtol=relative, atol=1e-36)


def test_zeta_of_large_exponents_underflows():
    """Beside the power of two that is nearest, but larger, and beside others."""
    np.testing.assert_array_equal(special.zeta(np.float32([1000, 1e6, 2832, 1e4]), np.float32([1.5, 100, 12.5, 2])), 0)


@pytest.mark.parametrize("name, args, want", [
    ("kl_div", ("bfloat16", 19.5, 12.5), 1.671875), ("rel_entr", ("bfloat16", 19.5, 12.5), 8.6875), ("boxcox", ("float16", 3.208984375, 10.6015625), 22032),
    ("boxcox1p", ("float16", 2.208984375, 10.6015625), 22032)], ids=str)
def test_differences_in_halves_of_a_float(name, args, want):
    dtype, *numbers = args
    out = getattr(special, name)(*np.array(numbers, dtype))
    assert out.dtype == dtype and out == want
