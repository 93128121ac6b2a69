"""Exponential, sine and cosine integrals, and the dilogarithm.

Sources: DLMF 6.2, 6.6, 6.12, 8.19, 25.12; Chebyshev coefficients: `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import math

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax, numpy as jnp
from ...numpy.creation import of_list
from ._series import chebyshev, check_floats, differentiable, inlined, log1p, wide
from .gammas import _gamma
from .zetas import _bernoulli_numbers

_E1 = (
    0.7578721561413121, -0.1918875669402129, 0.037503304706453154, -0.009073540733687109, 0.0025109816813965137,
    -0.0007643039043788794, 0.0002501026789593003, -8.669419097931401e-05, 3.150983798262769e-05, -1.1919588615357988e-05,
    4.666575097353859e-06, -1.8826083586040076e-06, 7.798901624642762e-07, -3.308169566943937e-07, 1.433523207555501e-07,
    -6.333299181697296e-08, 2.8479866059305073e-08, -1.3016841314670075e-08, 6.039392259013065e-09, -2.841379448794564e-09,
    1.354249037874098e-09, -6.53331208953033e-10, 3.1879103015956296e-10, -1.5722547392196145e-10, 7.832842550623005e-11,
    -3.939638051509224e-11, 1.999476984815269e-11, -1.0235322898596869e-11, 5.282390232929146e-12, -2.7474944650783747e-12,
    1.4396847091877607e-12, -7.597675416231471e-13, 4.0368807233390073e-13, -2.1589442150428546e-13, 1.161861105339262e-13,
    -6.290409624599639e-14, 3.4254460817578356e-14, -1.8757576273288448e-14, 1.0326931822651124e-14, -5.7150466109976734e-15,
    3.1786726133645304e-15, -1.7765501269649677e-15, 9.975781158830932e-16, -5.627169742448606e-16, 3.1882039437688705e-16,
    -1.8140851181878052e-16, 1.0365020830181778e-16, -5.946095209722598e-17, 3.424470727078036e-17, -1.9797397804768392e-17,
    1.148764909382941e-17, -6.689906170972782e-18, 3.909615568602532e-18, -2.2926323005850747e-18, 1.3489129931214054e-18,
    -7.962456992530958e-19)
_EI_REST = (
    5.257958226943482, 6.004639395661629, 2.469688170948231, 0.7902956029932626, 0.2071548491532639, 0.04602682604407321,
    0.008880237057344323, 0.0015146911094885722, 0.00023159134968734474, 3.2092485124027427e-05, 4.066921310320624e-06,
    4.748419512679941e-07, 5.140302084703391e-08, 5.187110649842181e-09, 4.902148216697985e-10, 4.356558086355594e-11,
    3.6539244499196015e-12, 2.901505315385807e-13, 2.1876473555324577e-14, 1.5701440360230516e-15, 1.0752799606371169e-16,
    7.041144635241966e-18)
_EI_6 = (
    1.186519731605943, 0.08867277799156566, 0.004538849615854891, -0.0007360917133533506, -0.0001311802094421383,
    1.860281858277769e-05, 1.7610424153850599e-06, -6.410426692376372e-07, 4.3431190977401596e-08, 9.457713014017885e-09,
    -2.804867660824966e-09, 2.9077513809389464e-10, 1.5005396668585005e-11, -1.1038674953026538e-11, 2.0752769575841014e-12,
    -1.824894014255641e-13, -1.3060424323093775e-14, 8.22817443438954e-15, -1.7064640854405607e-15, 2.0895115006185691e-16,
    -6.96952388785186e-18, -3.985678032031781e-18, 1.263390859524918e-18)
_EI_12 = (
    1.0733284937260361, 0.028589376984320986, 0.0009877354599019657, 6.535142674684368e-05, 4.080867437625506e-06,
    -3.589926611838061e-07, -1.3445734356897559e-07, -3.096554001036047e-09, 2.9939580378560676e-09, 6.636901195446687e-11,
    -7.580298873512545e-11, 2.91093271006445e-12, 1.6949183480316525e-12, -2.4843531143767757e-13, -1.4921371160913075e-14,
    8.569592517547666e-15, -8.552327771250706e-16, -9.567382338710219e-17, 3.92278471915959e-17, -4.34268592032165e-18)
_EI_24 = (
    1.0222957360954668, 0.022812793514753286, 0.0005360936928493524, 2.0034094292122614e-05, 1.0686092350144287e-06,
    7.746060698591084e-08, 7.504513851387549e-09, 9.65386432321799e-10, 1.5701407029249868e-10, 2.779058341161681e-11,
    3.828483997307224e-12, -1.9274603059481113e-13, -3.984438522784285e-13, -1.5561943489863476e-13, -2.6325433913268538e-14,
    5.119012243843834e-15, 4.450825135967824e-15, 8.977579029888121e-16, -2.2282754984589544e-16, -1.6452081405038015e-16,
    -1.517937167487109e-17, 1.6736756138129377e-17, 5.463371550603446e-18, -1.1481735479418812e-18)
_SI = (
    0.684217670090758, -0.2776578526973602, 0.03544140548666592, -0.0025631631447933976, 0.00011623653904970093,
    -3.5904327241606043e-06, 8.023421237057102e-08, -1.3562997692540251e-09, 1.7944072159973677e-11, -1.9083873430871455e-13,
    1.6669989586824331e-15, -1.2173098836850304e-17)
_CI_REST = (
    -0.4560979536104595, -0.2249381248879836, 0.08588245749452812, 0.003632123340288692, -0.0028600851423204415,
    -1.3269433176026432e-05, 5.0452276187481025e-05, -3.732142507605308e-07, -5.538174853534003e-07, 6.600633584417012e-09,
    4.152041042279722e-09, -5.650138120993219e-11, -2.261507919343607e-11, 3.1848921965172046e-13, 9.354343392862802e-14,
    -1.3096394524804154e-15, -3.038196055071802e-16, 4.149084251283769e-18, 7.953418287458439e-19)
_SI_F = (
    0.9547633884032938, -0.0410699867196166, 0.003510547451979443, -0.0005172175488768527, 0.00010328193778536401,
    -2.5139407613382352e-05, 7.046299766746879e-06, -2.1974483848031207e-06, 7.455004638205959e-07, -2.708631114149491e-07,
    1.0420323162393677e-07, -4.208421591372028e-08, 1.7724757498225048e-08, -7.74422777800052e-09, 3.4951406359013262e-09,
    -1.623758282438595e-09, 7.742528363926332e-10, -3.779909189916398e-10, 1.8854142277512294e-10, -9.591256705971083e-11,
    4.968295980337363e-11, -2.617024750846177e-11, 1.4000802549480624e-11, -7.599391900206504e-12, 4.180924280099476e-12,
    -2.3295031985933567e-12, 1.3134666656038736e-12, -7.489259710368142e-13, 4.315689215261013e-13, -2.511913563013866e-13,
    1.4759641639642029e-13, -8.750963270179986e-14, 5.2330394699278146e-14, -3.154964168787851e-14, 1.9169672434585316e-14,
    -1.1734494176292516e-14, 7.234422458652955e-15, -4.490589020157558e-15, 2.805702850071182e-15, -1.764029860467609e-15,
    1.1158102615309448e-15, -7.098978145308165e-16, 4.54181437176874e-16, -2.921484046286523e-16, 1.889017137678018e-16,
    -1.2275772484351713e-16, 8.016206541616905e-17, -5.259283026588499e-17, 3.466215904460519e-17, -2.2945248266323967e-17,
    1.5253747662504972e-17, -1.0182299874198629e-17, 6.8239673007380515e-18, -4.590683007366035e-18, 3.099374028871396e-18,
    -2.0993700884473252e-18, 1.4259006857347635e-18, -9.701591305755625e-19)
_SI_G = (
    0.8841994524524334, -0.10005788518210433, 0.012620432620807134, -0.0023462168947058176, 0.000551332382934603,
    -0.00015195038861323185, 4.7073797699758375e-05, -1.5961270265510487e-05, 5.8179485492273865e-06,
    -2.2508864416686086e-06, 9.156512743606252e-07, -3.888480555539212e-07, 1.714194880024692e-07, -7.809375500314394e-08,
    3.6631597833534293e-08, -1.76384904168849e-08, 8.696178410539917e-09, -4.380464863692862e-09, 2.250267503885226e-09,
    -1.1770001575850181e-09, 6.259545254121273e-10, -3.380666786792522e-10, 1.852194545569281e-10, -1.0284402466039528e-10,
    5.7823953484619176e-11, -3.2895679509159547e-11, 1.8922183673275945e-11, -1.0998473138740676e-11, 6.456164584298415e-12,
    -3.825356633443283e-12, 2.2867448208599246e-12, -1.3785489843914305e-12, 8.377430096055274e-13, -5.130059359175372e-13,
    3.16452003759352e-13, -1.9657529566620967e-13, 1.2292979574974507e-13, -7.737004453364485e-14, 4.899641723652806e-14,
    -3.1212401622094874e-14, 1.9996944867816016e-14, -1.2881960847783239e-14, 8.342495067198942e-15, -5.430308036011298e-15,
    3.5521476706160818e-15, -2.334658548060316e-15, 1.5415343448038675e-15, -1.0223878033733347e-15, 6.810028377716489e-16,
    -4.555054591641109e-16, 3.059085901846925e-16, -2.0624568413276338e-16, 1.3957615094508539e-16, -9.479787635663447e-17,
    6.460287180947055e-17, -4.41597379217217e-17, 3.026051646433825e-17, -2.076565541406433e-17, 1.4241196876795748e-17,
    -9.72040888833209e-18, 6.546244975997871e-18, -4.266394334710063e-18, 2.5624984300732647e-18, -1.2013683970348294e-18)

# where Ei and Ci are 0: a float32, and what is left of more digits than a float64 has
_EI_ROOT, _CI_ROOT = (0.3725074231624603, -1.2381093692686445e-08), (0.61650550365448, -1.8033763746671638e-08)

# -- exponential integrals ---------------------------------------------------------------------------------------------


def _e1_positive(x):
    """E1 for x > 0: ``-log(x) - gamma + x - x**2/4 + ...`` up to 1, beyond ``exp(-x)/x`` times a series in 1/x."""
    near = x <= 1
    z = jnp.where(near, x, 1.0)
    total, coefficients = jnp.zeros_like(z), [(-1) ** (k + 1) / (k * math.factorial(k)) for k in range(1, 20)]
    for c in reversed(coefficients):
        total = total * z + c
    small = -jnp.log(z) - np.euler_gamma + total * z
    y = jnp.where(near, 1.0, x)
    large = jnp.exp(-y) / y * chebyshev(_E1, 0, 1, 1 / y)
    return jnp.where(near, small, jnp.where(x == np.inf, 0.0, large))


def _around_root(x, root, coefficients, end):
    """``log(x / root) + (x - root) * series``, with all digits of the difference: ``root`` comes in two parts."""
    delta = lax.optimization_barrier(x - root[0]) - root[1]  # or the compiler would add up the two parts
    root = root[0] + root[1]
    close = jnp.abs(delta) < 0.5 * root
    log_ratio = jnp.where(close, log1p(jnp.where(close, delta / root, 0)), jnp.log(x / root))
    return log_ratio + delta * chebyshev(coefficients, 0, end, x)


def _ei_positive(x):
    near = x <= 6
    z = jnp.where(near, x, 1.0)
    small = _around_root(z, _EI_ROOT, _EI_REST, 6)
    y = jnp.where(near, 7.0, x)
    u = 1 / y
    scaled = jnp.where(y < 12, chebyshev(_EI_6, 1 / 12, 1 / 6, u),
                       jnp.where(y < 24, chebyshev(_EI_12, 1 / 24, 1 / 12, u), chebyshev(_EI_24, 0, 1 / 24, u)))
    half = jnp.exp(0.5 * y)
    return jnp.where(near, small, jnp.where(x > 1e3, np.inf, half * u * scaled * half))  # the reciprocal of the largest numbers is 0


@differentiable
def _expi(x):
    positive = x > 0
    value = jnp.where(positive, _ei_positive(jnp.where(positive, x, 1.0)), -_e1_positive(jnp.where(positive, 1.0, -x)))
    return jnp.where(jnp.isnan(x), np.nan, jnp.where(x == 0, -np.inf, value))


@_expi.defjvp
def _expi_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _expi(x), t * _expi_slope(x)


@differentiable
def _expi_slope(x):
    """``exp(x) / x``."""
    half = jnp.exp(0.5 * x)
    return jnp.where(x == np.inf, np.inf, half * (half / x))


@_expi_slope.defjvp
def _expi_slope_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    slope = _expi_slope(x)
    return slope, t * slope * jnp.where(jnp.isinf(x), 1, (x - 1) / x)  # a product, so that at 0 no infinities cancel


@inlined
def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei(x), -inf at 0. Source: `scipy.special.expi`.

    >>> jsp.special.expi(1.)
    Array(1.8951176, dtype=float32)
    """
    (x,), dtype = wide("expi", x)
    return _expi(x).astype(dtype)


@differentiable
def _exp1(x):
    return -_expi(-jnp.where(x < 0, np.nan, x))


@_exp1.defjvp
def _exp1_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    x = x + jnp.where(x < 0, np.nan, 0)  # a sum, so that further derivatives are NaN too
    return _exp1(x), -t * jnp.exp(-x) / jnp.abs(x)


@inlined
def exp1(x: ArrayLike) -> Array:
    """The exponential integral ``E1(x)``, the integral of ``exp(-t)/t`` from ``x`` to infinity; NaN below 0.

    Source: `scipy.special.exp1`.

    >>> jsp.special.exp1(1.)
    Array(0.21938396, dtype=float32)
    """
    (x,), dtype = wide("exp1", x)
    return _exp1(x).astype(dtype)


def _expn_series(n, x):
    """DLMF 8.19.8, for x <= 1: the term with ``log(x)`` is the one whose denominator is 0."""
    term = jnp.ones_like(x)
    total = jnp.zeros_like(x)
    for k in range(22):
        total = total - jnp.where(k == n - 1, 0.0, term / jnp.where(k == n - 1, 1.0, k - n + 1))
        term = -term * x / (k + 1)
    psi = lax.digamma(n) - jnp.log(x)
    return total + jnp.power(-x, n - 1) / _gamma(n) * psi


def _expn_fraction(n, x):
    """DLMF 8.19.17 as an even continued fraction, from its end: 130 levels reach full precision from x = 1 on."""
    levels = 130

    def step(i: ArrayLike, tail):
        k = (levels - i).astype(x.dtype)
        return x + n + 2 * (k - 1) - k * (n + k - 1) / tail
    return jnp.exp(-x) / lax.fori_loop(0, levels, step, x + n + 2.0 * levels)


@differentiable
def _expn(n, x):
    near = x <= 1
    small = jnp.where(near & (x > 0), x, 0.5)
    value = jnp.where(near, _expn_series(jnp.clip(n, 1.0, None), small), _expn_fraction(n, jnp.where(near, 2.0, x)))
    value = jnp.where(n == 0, jnp.exp(-x) / x, value)
    value = jnp.where((n > 20) & near & (x > 0), _expn_fraction(n, jnp.where(near, x, 1.0)), value)
    value = jnp.where(x == 0, jnp.where(n > 1, 1 / jnp.where(n > 1, n - 1, 1.0), np.inf), value)
    value = jnp.where(x == np.inf, 0.0, value)
    return jnp.where((n < 0) | (x < 0) | jnp.isnan(x), np.nan, value)


@_expn.defjvp
def _expn_jvp(primals, tangents):
    (n, x), (_, t) = primals, tangents
    y = jnp.where((n == 0) & (x != np.inf), x, 1.0)
    of_zero = jnp.where(x == np.inf, 0.0, (1 + 1 / y) * jnp.exp(-y) / y)
    lower = jnp.where(n == 0, of_zero, _expn(jnp.maximum(n - 1, 0), x))
    return _expn(n, x), -t * jnp.where((n < 0) | (x < 0), np.nan, lower)


@inlined
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The generalised exponential integral ``E_n(x)``, the integral of ``exp(-x t) / t**n`` over t >= 1.

    Args:
      n: whole numbers not below 0; there is no derivative in them.
      x: not negative; NaN below 0.

    Source: `scipy.special.expn`.

    >>> jsp.special.expn(2, 1.)
    Array(0.14849526, dtype=float32)
    """
    (n, x), dtype = wide("expn", n, x)
    return _expn(*jnp.broadcast_arrays(jnp.trunc(n), x)).astype(dtype)


# -- sine and cosine integrals -----------------------------------------------------------------------------------------

@differentiable
def _sici(x):
    a = jnp.abs(x)
    near = a <= 4
    z = jnp.where(near, a, 1.0)
    square = z * z
    si0 = z * chebyshev(_SI, 0, 16, square)
    ci0 = _around_root(z, _CI_ROOT, _CI_REST, 4)
    y = jnp.where(near, 5.0, jnp.where(a == np.inf, 5.0, a))
    v = 1 / (y * y)
    f, g = chebyshev(_SI_F, 0, 1 / 16, v) / y, chebyshev(_SI_G, 0, 1 / 16, v) * v
    sine, cosine = jnp.sin(y), jnp.cos(y)
    si1, ci1 = 0.5 * np.pi - f * cosine - g * sine, f * sine - g * cosine
    end = a == np.inf
    si = jnp.where(near, si0, jnp.where(end, 0.5 * np.pi, si1))
    ci = jnp.where(near, ci0, jnp.where(end, 0.0, ci1))
    nan = jnp.isnan(x)
    return jnp.where(nan, np.nan, jnp.copysign(si, x)), jnp.where(nan, np.nan, ci)


@_sici.defjvp
def _sici_jvp(primals, tangents):
    """``sin(x)/x``, by its series up to 1, and ``cos(x)/x``."""
    (x,), (t,) = primals, tangents
    far, end = jnp.abs(x) > 1, jnp.abs(x) == np.inf
    large, small = jnp.where(far & ~end, x, 2.0), jnp.where(far, 0.0, x)
    square, total = small * small, 0.0
    for k in range(9, -1, -1):
        total = total * square + (-1) ** k / math.factorial(2 * k + 1)
    si = jnp.where(far, jnp.sin(large) / large, total)
    ci = jnp.cos(jnp.where(end, 0.0, x)) / x
    return _sici(x), (t * jnp.where(end, 0.0, si), t * ci)


@inlined
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral Si(x) and the cosine integral Ci(x); the latter at ``|x|``. Source: `scipy.special.sici`.

    >>> jsp.special.sici(1.)
    (Array(0.94608307, dtype=float32), Array(0.3374039, dtype=float32))
    """
    (x,), dtype = wide("sici", x)
    si, ci = _sici(x)
    return si.astype(dtype), ci.astype(dtype)


# -- dilogarithm -------------------------------------------------------------------------------------------------------

_DILOG = tuple(float(b / math.factorial(k + 1)) for k, b in enumerate(_bernoulli_numbers(24)))


def _dilog_of_log(u):
    """Li2(1 - exp(-u)) for ``|u| <= log 2``: the sum of ``B_k u**(k + 1) / (k + 1)!``."""
    square, total = u * u, 0.0
    for c in reversed(_DILOG[2::2]):
        total = total * square + c
    return u + _DILOG[1] * square + total * square * u


@differentiable
def _spence(x):
    """Li2(1 - x), reduced by x -> 1 - x (x < 1/2) and x -> 1/x (x > 2)."""
    high = x > 2
    y = jnp.where(high, 1 / x, x)
    low = y < 0.5
    log_x, log_y = jnp.log(jnp.where(x > 0, x, 1.0)), jnp.log(jnp.where(y > 0, y, 1.0))
    log_rest = log1p(-jnp.where(low, y, 0.0))
    core = _dilog_of_log(jnp.where(low, -log_rest, -log_y))
    inner = jnp.where(low, np.pi ** 2 / 6 - log_y * log_rest - core, core)
    value = jnp.where(high, -0.5 * log_x * log_x - inner, inner)
    return jnp.where((x < 0) | jnp.isnan(x), np.nan, value)


@_spence.defjvp
def _spence_jvp(primals, tangents):
    """``log(x) / (1 - x)``, and -1 at 1."""
    (x,), (t,) = primals, tangents
    return _spence(x), t * _spence_slope(x)


@differentiable
def _spence_slope(x):
    near = jnp.abs(x - 1) < 1e-4
    d = jnp.where(near, x - 1, 1.0)
    largest = float(dtypes.finfo(x.dtype).max)
    return jnp.where(near, -1 + d / 2 - d * d / 3 + d * d * d / 4,
                     jnp.log(jnp.minimum(x, largest)) / (1 - jnp.where(near, 2.0, x)))


@_spence_slope.defjvp
def _spence_slope_jvp(primals, tangents):
    """``(1/x + slope) / (1 - x)``; at 0, where two infinities differ, that of 1/x is the larger."""
    (x,), (t,) = primals, tangents
    near = jnp.abs(x - 1) < 1e-4
    d = jnp.where(near, x - 1, 1.0)
    slope = _spence_slope(x)
    other = (1 / x + slope) / (1 - jnp.where(near, 2.0, x))
    other = jnp.where(x == 0, np.inf, other)
    return slope, t * jnp.where(near, 0.5 - 2 * d / 3 + 0.75 * d * d, other)


@inlined
def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to ``x`` = Li2(1 - x); NaN below 0.

    Source: `scipy.special.spence`.

    >>> jsp.special.spence(2.)
    Array(-0.822467, dtype=float32)
    """
    x = of_list(x)
    check_floats("spence", x)
    (x,), dtype = wide("spence", x)
    return _spence(x).astype(dtype)
