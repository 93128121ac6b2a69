"""Error functions and the normal distribution: erf, erfc, erfcx, their inverses, ndtr, Dawson, Fresnel, Faddeeva, Owen's T.

Tails are computed from ``erfcx(x) = exp(x**2) erfc(x)``, which neither overflows nor underflows there, and ``exp(-x**2)``
from a short and a small factor, as rounding ``x**2`` would cost as many digits as it has.

Sources: DLMF 7.2, 7.5, 7.12; Weideman, "Computation of the complex error function", SIAM J. Numer. Anal. 31 (1994);
Patefield, Tandy, "Fast and accurate calculation of Owen's T function", J. Stat. Software 5 (2000), here by
Gauss-Legendre quadrature; Chebyshev coefficients: `benchmarks/accuracy/fit.py`.
"""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.custom_jvp import custom_jvp

from ... import lax, numpy as jnp
from ...numpy.creation import of_list
from ...numpy.promotion import promote_args_inexact
from ._series import chebyshev, check_floats, differentiable, inlined, log1p, wide

_ERFCX = (
    1.1775789345674017, -0.004590054580646478, -0.08424913336651792, 0.05920993999819189, -0.026658668435305753,
    0.009074997670705265, -0.002413163540417608, 0.0004907758365258086, -6.916973302501207e-05, 4.13902798607301e-06,
    7.74038306619849e-07, -2.1886401049234397e-07, 1.076499946567091e-08, 4.521959811218287e-09, -7.754400208831351e-10,
    -6.318088340886684e-11, 2.86879501093067e-11, 1.9455868545777347e-13, -9.65469674843344e-13, 3.25254814814874e-14,
    3.3478119482868056e-14, -1.864562880419313e-15, -1.2507950530688648e-15, 7.418235256624044e-17, 5.068148904796111e-17,
    -2.2370566594359995e-18, -2.187342944303018e-18)
_NDTRI_CENTRE = (
    2.8734735392279016, 0.4249523687457461, 0.06986317633479358, 0.014427118125591741, 0.0033201004870131953,
    0.0008138065761203474, 0.0002078684075374738, 5.465725366773796e-05, 1.468387347320025e-05, 4.010738978258519e-06,
    1.1099824248795094e-06, 3.1048977381831365e-07, 8.76239942425181e-08, 2.4913574468428183e-08, 7.128727140667589e-09,
    2.0510368569795625e-09, 5.929461330486637e-10, 1.7214207115839077e-10, 5.016271397490501e-11, 1.4666377850066188e-11,
    4.300954062117301e-12, 1.2646797027235999e-12, 3.7278749232698614e-13, 1.1013181717350946e-13, 3.260262709486521e-14,
    9.669597016771747e-15, 2.8728720300938122e-15, 8.549085397951056e-16, 2.547815625768706e-16, 7.603544685268746e-17,
    2.2720786063283473e-17, 6.797560949307054e-18)
_NDTRI_NEAR = (
    0.5856908587499153, -0.20363732258007197, 0.041198799205888786, -0.008865842682175535, 0.001976792052538844,
    -0.0004516887665741354, 0.00010519589951708077, -2.4894884862914694e-05, 5.974471204514658e-06, -1.4517519586978938e-06,
    3.566991616935929e-07, -8.850915083165394e-08, 2.215382710350144e-08, -5.58758684055629e-09, 1.4187408883471523e-09,
    -3.6234659831177834e-10, 9.302002357647556e-11, -2.398804032653426e-11, 6.210902720736474e-12, -1.6138626076668193e-12,
    4.2069702202183795e-13, -1.0998319880027647e-13, 2.882834890671408e-14, -7.57439882185856e-15, 1.994450064770333e-15,
    -5.26219956395865e-16, 1.390952533051018e-16, -3.6829649790718844e-17, 9.767179797390591e-18, -2.5940526294014885e-18,
    6.898949750084289e-19)
_NDTRI_FAR = (
    0.21604610141837688, -0.13124530623124356, 0.044279597825295815, -0.015570888974834156, 0.0056029881273798295,
    -0.0020464705002538313, 0.0007553999493775903, -0.00028105028089235097, 0.00010521330321540101, -3.958325285574456e-05,
    1.4952935217792985e-05, -5.668032378220073e-06, 2.1548309203357135e-06, -8.212997595325668e-07, 3.1373743169152156e-07,
    -1.2008888459160845e-07, 4.6049795463439766e-08, -1.7687803066569162e-08, 6.804356456306839e-09, -2.621337859090907e-09,
    1.0112197891696426e-09, -3.9059343115097097e-10, 1.5105543180943087e-10, -5.848694719798029e-11, 2.267122403445788e-11,
    -8.79769576428007e-12, 3.4176466547386913e-12, -1.3290373740983425e-12, 5.173536242433166e-13, -2.0158912718172123e-13,
    7.862586024973378e-14, -3.069530661815224e-14, 1.1994341498207242e-14, -4.6910307127863465e-15, 1.836272137675507e-15,
    -7.194026984583898e-16, 2.8207367396609685e-16, -1.1068726087377514e-16, 4.3467669561667917e-17, -1.708274679977384e-17,
    6.71831996545468e-18, -2.644017651205738e-18, 1.0412568138576598e-18, -4.1032738408153114e-19)
_DAWSN_SMALL = (
    0.746824132812427, -0.2294071479677387, 0.022130500939084766, -0.001549265453892985, 8.497327715684918e-05,
    -3.828266270972015e-06, 1.4628548062501633e-07, -4.851982381825992e-09, 1.4214635777591398e-10,
    -3.7288360879205966e-12, 8.854942961778204e-14, -1.9207571313502062e-15, 3.834325867246328e-17)
_DAWSN_NEAR = (
    0.5524366988523685, -0.050902736861503144, -0.0010951674805436526, 0.02442336457339099, -0.023799679602540848,
    0.013435939338373474, -0.004255180440915294, -0.00013530177583181765, 0.0009887330893239294,
    -0.0005606528305627008, 0.00013141726211934106, 2.549125905269348e-05, -3.223283648280968e-05,
    1.0648046710147278e-05, -1.011715234374853e-07, -1.3085397366434323e-06, 4.969290282781002e-07,
    -2.6109170377096167e-08, -4.4768953276324875e-08, 1.6861615293466266e-08, -7.210081699132206e-10,
    -1.3663232038544508e-09, 4.4184140547165244e-10, 1.8380673263380852e-13, -3.644248243861116e-11,
    8.89108555939145e-12, 6.900319519399974e-13, -8.111324626934337e-13, 1.284885224453092e-13, 2.857954779303918e-14,
    -1.439383845093242e-14, 1.009341456234549e-15, 7.056220238297987e-16, -1.92594686168569e-16,
    -6.743857488333874e-18, 1.22109788887532e-17, -1.7098757044473991e-18)
_DAWSN_FAR = (
    1.0104930398155554, 0.010665188854844071, 0.0001771067342841464, 5.169683968011006e-06, 2.2447507782493716e-07,
    1.3464937144333474e-08, 1.0800215667819404e-09, 1.1489298262821258e-10, 1.599986562592124e-11, 2.703005580094485e-12,
    4.591872803691233e-13, 4.8027993211255076e-14, -1.1195315281290138e-14, -8.851173977001467e-15, -2.7656923316040005e-15,
    -2.9028411520661707e-16, 1.5545769481586733e-16, 8.194209358526931e-17, 9.89657052209714e-18, -5.945081119900551e-18,
    -2.732691472941383e-18)
_FRESNEL_S = (
    0.3142743195347836, -0.18188587850106117, 0.025424557742876257, -0.0019214582098450639, 8.966525954745101e-05,
    -2.830802868181572e-06, 6.442546962604405e-08, -1.1068235106036057e-09, 1.4862338485609142e-11, -1.6028109554824476e-13,
    1.4188008517448966e-15, -1.0494270345038239e-17)
_FRESNEL_C = (
    0.5282931311708557, -0.37676220250161824, 0.08537377549656906, -0.009010259972062552, 0.0005393127720408215,
    -2.075044934605623e-05, 5.564687021283882e-07, -1.0999812843114444e-08, 1.6696510396208076e-10, -2.00773053966069e-12,
    1.9601599749420958e-14, -1.5849094421108914e-16, 1.0788395601770007e-18)
_FRESNEL_F = (
    0.981897388025642, -0.016815761738886544, 0.0011111101131957286, -0.00014194845868748898, 2.573388462638127e-05,
    -5.825182199468292e-06, 1.5407603655682865e-06, -4.578748796302829e-07, 1.4905494189550317e-07, -5.22362285480928e-08,
    1.9461303300745012e-08, -7.636065546787685e-09, 3.1327409020595134e-09, -1.336159449993398e-09, 5.897609307578255e-10,
    -2.683761646660688e-10, 1.2551765589929496e-10, -6.017508171262957e-11, 2.9505853192869736e-11, -1.47687919208166e-11,
    7.533630088100923e-12, -3.910705874613173e-12, 2.063207436278309e-12, -1.1050371763181946e-12, 6.002341367715751e-13,
    -3.303573989395609e-13, 1.840841124938314e-13, -1.0377700207550254e-13, 5.914960442651109e-14, -3.4064956226093366e-14,
    1.9812134174651056e-14, -1.1630661284318568e-14, 6.888543206867897e-15, -4.114491356329863e-15, 2.4774267172153197e-15,
    -1.5032255727841207e-15, 9.188409528428541e-16, -5.65605764691861e-16, 3.5052447012769213e-16, -2.1864323543165305e-16,
    1.3723243090724834e-16, -8.665173697173145e-17, 5.5030159093502887e-17, -3.514279121189089e-17, 2.2563064285674146e-17,
    -1.4561479753404064e-17, 9.444571969630881e-18, -6.155398769878028e-18, 4.0304975740958674e-18, -2.651087986894213e-18,
    1.751415740063703e-18, -1.1619602988960504e-18)
_FRESNEL_G = (
    0.9221426716020494, -0.06906214763052552, 0.007238890271537089, -0.0011996677016620889, 0.0002596539918795489,
    -6.714358497903509e-05, 1.974775280172846e-05, -6.408634587461064e-06, 2.2490337230565424e-06, -8.415113603118139e-07,
    3.3223826723856416e-07, -1.3732434958011088e-07, 5.905977762853783e-08, -2.6300394622715025e-08, 1.207920503525467e-08,
    -5.702974302643322e-09, 2.760359420331291e-09, -1.3665577383767002e-09, 6.906073231009883e-10, -3.5566056591725694e-10,
    1.863796350256472e-10, -9.925581451763302e-11, 5.3655137868272156e-11, -2.941194091553944e-11, 1.6334273488750103e-11,
    -9.183055283072261e-12, 5.222378422953558e-12, -3.002314166813011e-12, 1.7437729680647169e-12, -1.0226623661177923e-12,
    6.052935455348453e-13, -3.614033516041182e-13, 2.1758432163296537e-13, -1.3203938433257e-13, 8.073535917948451e-14,
    -4.972374638648035e-14, 3.0836803017019206e-14, -1.925108759608092e-14, 1.2094976163842588e-14, -7.645566014699659e-15,
    4.861465079658119e-15, -3.108722685007479e-15, 1.9987766812620985e-15, -1.291901993536656e-15, 8.392633761811787e-16,
    -5.478923877136392e-16, 3.5937637269107853e-16, -2.3680653978796373e-16, 1.5673416433554667e-16, -1.0418327160885487e-16,
    6.954035053392875e-17, -4.660372262204193e-17, 3.135352769119422e-17, -2.117202022737255e-17, 1.434679010087777e-17,
    -9.752672570788055e-18, 6.647084910009652e-18, -4.537711490137774e-18, 3.096547052090408e-18, -2.103768485555014e-18,
    1.4108654433556184e-18)

_ROOT_HALF = math.sqrt(0.5)
_ROOT_PI = math.sqrt(math.pi)


def _real(name: str, x: Any) -> Any:
    (x,) = promote_args_inexact(name, x)
    return x


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def exp_square(x: Array, factor: float) -> Any:
    """``exp(factor * x**2)`` for ``factor`` +-1/2 or +-1, without the error of rounding ``x**2``, which is multiplied on."""
    whole = x * x
    short = jnp.round(jnp.clip(x, -1e3, 1e3) * 16) / 16  # its square is exact, and what that leaves of the whole one nearly so
    error = jnp.where(jnp.abs(x) < 1e3, (short * short - whole) + (x - short) * (x + short), 0)
    return jnp.exp(factor * whole) * (1 + factor * error)


@exp_square.defjvp
def _exp_square_jvp(factor, primals, tangents):
    (x,), (t,) = primals, tangents
    y = exp_square(x, factor)
    return y, t * (2 * factor * jnp.clip(x, -1e3, 1e3) * y)  # clipped, or it would be infinity times 0


# -- erf and its relatives ---------------------------------------------------------------------------------------------

@inlined
def erf(x: ArrayLike) -> Array:
    """The error function ``2/sqrt(pi) * integral of exp(-t**2) from 0 to x``. Source: `scipy.special.erf`.

    >>> jsp.special.erf(0.5)
    Array(0.5204999, dtype=float32, weak_type=True)
    """
    return lax.erf(_real("erf", x))


@inlined
def erfc(x: ArrayLike) -> Array:
    """``1 - erf(x)``, accurate for large ``x``. Source: `scipy.special.erfc`.

    >>> jsp.special.erfc(0.5)
    Array(0.47950017, dtype=float32, weak_type=True)
    """
    return lax.erfc(_real("erfc", x))


@inlined
def erfinv(x: ArrayLike) -> Array:
    """Inverse of `erf`: infinite at -1 and 1, NaN outside. Source: `scipy.special.erfinv`.

    >>> jsp.special.erfinv(0.5)
    Array(0.47693628, dtype=float32, weak_type=True)
    """
    return lax.erf_inv(_real("erfinv", x))


@differentiable
def _erfcx(x):
    tail = _erfcx_right(jnp.abs(x))
    return jnp.where(x < 0, 2 * exp_square(x, 1) - tail, tail)


def _erfcx_right(x):
    """For ``x >= 0``."""
    k = 3.75
    return chebyshev(_ERFCX, -1, 1, 1 - 2 * k / (x + k)) / (1 + 2 * x)


_FAR = 12.0  # from here on ``1 - sqrt(pi) x erfcx(x)`` would lose its digits


def _defect(v):
    """``2 x**2 (1 - sqrt(pi) x erfcx(x))`` for large ``x``, by the asymptotic series in ``v = 1/x**2`` (DLMF 7.12.1)."""
    total = jnp.ones_like(v)
    for k in range(8, 0, -1):
        total = 1 - (k + 0.5) * v * total
    return total


@_erfcx.defjvp
def _erfcx_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    y = _erfcx(x)
    far = x > _FAR
    v = (1 / jnp.where(far, x, _FAR)) ** 2  # of whose parts none overflows, nor of their derivatives
    return y, t * jnp.where(far, -v * _defect(v) / _ROOT_PI, 2 * jnp.where(far, 0.0, x) * y - 2 / _ROOT_PI)


@inlined
def erfcx(x: ArrayLike) -> Array:
    """``exp(x**2) * erfc(x)``, of complex numbers too. Source: `scipy.special.erfcx`.

    >>> jsp.special.erfcx(10.)
    Array(0.05614099, dtype=float32)
    """
    if dtypes.issubdtype(jnp.result_type(x), np.complexfloating):
        return wofz(1j * x)
    (x,), dtype = wide("erfcx", x)
    return _erfcx(x).astype(dtype)


# -- normal distribution -----------------------------------------------------------------------------------------------

_INV_ROOT_2PI = 1 / math.sqrt(2 * math.pi)


@differentiable
def _ndtr(x):
    z = x * _ROOT_HALF
    tail = 0.5 * exp_square(x, -0.5) * _erfcx_right(jnp.maximum(jnp.abs(z), 0.5))
    return jnp.where(jnp.abs(z) < 0.6, 0.5 + 0.5 * lax.erf(z), jnp.where(z > 0, 1 - tail, tail))


@_ndtr.defjvp
def _ndtr_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _ndtr(x), t * exp_square(x, -0.5) * _INV_ROOT_2PI


@inlined
def ndtr(x: ArrayLike) -> Array:
    """Distribution function of the standard normal distribution, accurate in both tails. Source: `scipy.special.ndtr`.

    >>> jsp.special.ndtr(jnp.array([0., 1.]))
    Array([0.5      , 0.8413448], dtype=float32)
    """
    x = of_list(x)
    check_floats("ndtr", x)
    (x,), dtype = wide("ndtr", x)
    return _ndtr(x).astype(dtype)


@differentiable
def _log_ndtr(x):
    low = x < -1
    z = jnp.where(low, x, -1.0)
    # in two terms that are exact enough: x**2 alone carries the error, relative to a result of the same size
    tail = jnp.log(0.5 * _erfcx(-z * _ROOT_HALF)) - 0.5 * z * z
    high = log1p(-_ndtr(-jnp.where(low, -1.0, x)))
    return jnp.where(low, tail, high)


@_log_ndtr.defjvp
def _log_ndtr_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _log_ndtr(x), t * _hazard(x)


@differentiable
def _hazard(x):
    """``pdf / cdf = sqrt(2/pi) / erfcx(-x / sqrt(2))``."""
    return jnp.where(x < -1e8, -x, math.sqrt(2 / math.pi) / _erfcx(-x * _ROOT_HALF))


@_hazard.defjvp
def _hazard_jvp(primals, tangents):
    """``-h (x + h)``; for low ``x`` the sum cancels, and is ``h`` times the defect of ``erfcx``."""
    (x,), (t,) = primals, tangents
    h, far = _hazard(x), x < -_FAR / _ROOT_HALF
    u = jnp.where(far, -x * _ROOT_HALF, _FAR)
    quotient = jnp.where(u < 1e7, jnp.where(far, h, 1.0) / u, math.sqrt(2))
    near = jnp.clip(x, -_FAR / _ROOT_HALF, 1e3)
    v = 1 / jnp.minimum(u, 1e9) ** 2
    return h, t * jnp.where(far, -0.5 * quotient * quotient * _defect(v), -h * (near + h))


@inlined(static_argnames=("series_order",))
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Logarithm of `ndtr`, finite down to where ``x**2`` overflows.

    Args:
      series_order: accepted for compatibility (0 to 30); no series is cut off here.

    Raises:
      TypeError: ``series_order`` is not an int.
      ValueError: it is not from 0 to 30.

    Source: `scipy.special.log_ndtr`.

    >>> jsp.special.log_ndtr(-10.)
    Array(-53.231285, dtype=float32)
    """
    if type(series_order) is not int:
        raise TypeError(f"log_ndtr: series_order must be an int, got {series_order!r}")
    if not 0 <= series_order <= 30:
        raise ValueError(f"log_ndtr: series_order must be between 0 and 30, got {series_order}")
    x = of_list(x)
    check_floats("log_ndtr", x)
    (x,), dtype = wide("log_ndtr", x)
    return _log_ndtr(x).astype(dtype)


@differentiable
def _ndtri(p):
    return _normal_quantile(p, 1)


def _normal_quantile(p, whole):
    """`ndtri` of ``p / whole``, which need not be a normal number where ``p`` is."""
    q = p * (1 / whole) - 0.5
    centre = q * chebyshev(_NDTRI_CENTRE, 0, 0.180625, q * q)
    smaller = jnp.where(q < 0, p, whole - p)
    inside = (smaller > 0) & (smaller < 0.5 * whole)
    z = jnp.sqrt(2 * (math.log(whole) - jnp.log(jnp.where(inside, smaller, 0.05 * whole))))
    # the series is the smaller part of the result, so its errors count little
    tail = jnp.where(z < 7, chebyshev(_NDTRI_NEAR, 2.25, 7, z), chebyshev(_NDTRI_FAR, 7, 39, z)) - z
    value = jnp.where(jnp.abs(q) <= 0.425, centre, jnp.where(q < 0, tail, -tail))
    edge = jnp.where(p == 0, -np.inf, jnp.where(p == whole, np.inf, np.nan))
    return jnp.where((p > 0) & (p < whole), value, edge)


@_ndtri.defjvp
def _ndtri_jvp(primals, tangents):
    (p,), (t,) = primals, tangents
    x = _ndtri(p)
    return x, t * exp_square(x, 0.5) * math.sqrt(2 * math.pi)


@inlined
def ndtri(p: ArrayLike) -> Array:
    """Inverse of `ndtr`: infinite at 0 and 1, NaN outside. Source: `scipy.special.ndtri`.

    >>> jsp.special.ndtri(0.5)
    Array(0., dtype=float32)
    """
    p = of_list(p)
    check_floats("ndtri", p)
    (p,), dtype = wide("ndtri", p)
    return _ndtri(p).astype(dtype)


@differentiable
def _erfcinv(y):
    return -_ROOT_HALF * _normal_quantile(y, 2)


@_erfcinv.defjvp
def _erfcinv_jvp(primals, tangents):
    (y,), (t,) = primals, tangents
    x = _erfcinv(y)
    return x, t * exp_square(x, 1) * (-_ROOT_PI / 2)


@inlined
def erfcinv(y: ArrayLike) -> Array:
    """Inverse of `erfc`: infinite at 0 and 2, NaN outside. Source: `scipy.special.erfcinv`.

    >>> jax.scipy.special.erfcinv(0.5)
    Array(0.4769363, dtype=float32)
    """
    (y,), dtype = wide("erfcinv", y)
    return _erfcinv(y).astype(dtype)


# -- Dawson and Fresnel ------------------------------------------------------------------------------------------------

@differentiable
def _dawsn(x):
    size = jnp.abs(x)
    small, far = size < 1, size > 5
    u = jnp.where(small, x, 0.0) ** 2
    large = jnp.where(small, 1.0, x)
    v = 1 / jnp.where(far, x, 5.0) ** 2
    # The middle series is of x times the function, of order 1 everywhere: one from 0 to 5 loses digits at both ends.
    middle = jnp.where(far, 0.5 * chebyshev(_DAWSN_FAR, 0, 0.04, v), chebyshev(_DAWSN_NEAR, 1, 5, size)) / large
    return jnp.where(small, x * chebyshev(_DAWSN_SMALL, 0, 1, u), middle)


@_dawsn.defjvp
def _dawsn_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    y = _dawsn(x)
    far = jnp.abs(x) > _FAR
    v = (1 / jnp.where(far, x, _FAR)) ** 2  # of whose parts none overflows, nor of their derivatives
    return y, t * jnp.where(far, -0.5 * v * _defect(-v), 1 - 2 * jnp.where(far, 0.0, x) * y)


@inlined
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral ``exp(-x**2) * integral of exp(t**2) from 0 to x``. Source: `scipy.special.dawsn`.

    >>> jax.scipy.special.dawsn(1.0)
    Array(0.5380795, dtype=float32)
    """
    (x,), dtype = wide("dawsn", x)
    return _dawsn(x).astype(dtype)


def _half_turns(x):
    """The angle ``pi x**2 / 2`` less whole turns: with ``x = 2 k + r`` it is ``k r`` turns, whose product is exact, and ``r**2``
    quarters of one."""
    k = jnp.round(0.5 * x)
    r = x - 2 * k
    turns = k * r
    return 0.5 * np.pi * (4 * (turns - jnp.round(turns)) + r * r)


@differentiable
def _fresnel(x):
    a = jnp.abs(x)
    near = a < 1.6
    small = jnp.where(near, a, 1.0)
    fourth = small ** 4
    top = 1.6 ** 4
    s0, c0 = small ** 3 * chebyshev(_FRESNEL_S, 0, top, fourth), small * chebyshev(_FRESNEL_C, 0, top, fourth)
    large = jnp.where(near, 2.0, jnp.minimum(a, 1e17))  # from 1e16 on the integrals are 0.5
    v = large ** -4
    f = chebyshev(_FRESNEL_F, 0, 1 / top, v) / (np.pi * large)
    g = chebyshev(_FRESNEL_G, 0, 1 / top, v) / (np.pi ** 2 * large * large * large)
    angle = _half_turns(large)
    sine, cosine = jnp.sin(angle), jnp.cos(angle)
    s1, c1 = 0.5 - f * cosine - g * sine, 0.5 + f * sine - g * cosine
    s, c = jnp.where(near, s0, s1), jnp.where(near, c0, c1)
    return jnp.copysign(s, x), jnp.copysign(c, x)


@_fresnel.defjvp
def _fresnel_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    angle = _half_turns(jnp.abs(x))
    return _fresnel(x), (t * jnp.sin(angle), t * jnp.cos(angle))


@inlined
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """The Fresnel integrals S and C: of ``sin(pi t**2 / 2)`` and ``cos(pi t**2 / 2)`` from 0 to ``x``.

    Source: `scipy.special.fresnel`.

    >>> s, c = jax.scipy.special.fresnel(1.0)
    >>> s
    Array(0.43825912, dtype=float32)
    """
    (x,), dtype = wide("fresnel", x)
    s, c = _fresnel(x)
    return s.astype(dtype), c.astype(dtype)


# -- Faddeeva ----------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def _weideman(n: int) -> tuple[float, np.ndarray]:
    """The parameter L and the coefficients of Weideman's expansion with ``n`` terms, by a Fourier transform."""
    m = 2 * n
    length = math.sqrt(n / math.sqrt(2))
    theta = np.arange(-m + 1, m) * np.pi / m
    t = length * np.tan(theta / 2)
    f = np.concatenate([[0.0], np.exp(-t * t) * (length * length + t * t)])
    a = np.real(np.fft.fft(np.fft.fftshift(f))) / (2 * m)
    return length, a[1:n + 1]


@differentiable
def _wofz(z):
    lower = jnp.imag(z) < 0
    w = jnp.where(lower, -z, z)
    length, coefficients = _weideman(40 if z.dtype == np.complex128 else 20)
    near = jnp.abs(w) < 12
    u = jnp.where(near, w, 1j)
    bottom = length - 1j * u
    ratio = (length + 1j * u) / bottom
    total = jnp.zeros_like(u)
    for c in coefficients[::-1]:
        total = total * ratio + complex(c)
    value = 2 * total / (bottom * bottom) + (1 / _ROOT_PI) / bottom
    v = jnp.where(near, 12.0 + 0j, w)  # far out a continued fraction, DLMF 7.9.3
    tail = v
    for k in range(10, 0, -1):
        tail = v - (0.5 * k) / tail
    value = jnp.where(near, value, (1j / _ROOT_PI) / tail)
    return jnp.where(lower, 2 * jnp.exp(-z * z) - value, value)


@_wofz.defjvp
def _wofz_jvp(primals, tangents):
    (z,), (t,) = primals, tangents
    w = _wofz(z)
    return w, t * (2j / _ROOT_PI - 2 * z * w)


@inlined
def wofz(z: ArrayLike) -> Array:
    """The Faddeeva function ``exp(-z**2) erfc(-i z)``, complex. Source: `scipy.special.wofz`.

    >>> jax.scipy.special.wofz(1j)
    Array(0.4275836+0.j, dtype=complex64)
    """
    (z,) = promote_args_inexact("wofz", z)
    z = jnp.asarray(z)
    return _wofz(z.astype(dtypes.to_complex_dtype(z.dtype)))


# -- Owen's T ----------------------------------------------------------------------------------------------------------

_NODES, _WEIGHTS = (x.tolist() for x in np.polynomial.legendre.leggauss(24))  # numbers: they widen nothing


def _owens_core(h, a):
    """``1/(2 pi) * integral of exp(-h**2 (1 + x**2)/2)/(1 + x**2)`` over 0 <= x <= a <= 1, by quadrature on two halves.

    Where ``h`` is large only ``x`` below 9/h counts, so the interval ends there.
    """
    end = jnp.minimum(a, 9.0 / jnp.maximum(h, 1e-3))
    total = jnp.zeros_like(h)
    for low in (0.0, 0.5):
        for node, weight in zip(_NODES, _WEIGHTS):
            x = end * (low + 0.25 * (node + 1))
            square = 1 + x * x
            total = total + 0.25 * weight * jnp.exp(-0.5 * h * h * square) / square
    return total * end / (2 * np.pi)


@differentiable
def _owens_t(h, a):
    size, slope = jnp.abs(h), jnp.abs(a)
    large = slope > 1
    inner_h, inner_a = jnp.where(large, slope * size, size), jnp.where(large, 1 / slope, slope)
    core = _owens_core(jnp.where(jnp.isinf(inner_h), 1e10, jnp.where(large & (size == 0), 0.0, inner_h)), inner_a)
    upper, upper_a = _ndtr(-size), _ndtr(-slope * size)
    # T(h, a) = (Q(h) + Q(ah))/2 - Q(h) Q(ah) - T(ah, 1/a) for h, a > 0 (Owen 1956), with Q = 1 - Phi
    swapped = 0.5 * (upper + jnp.where(size == 0, 0.5, upper_a)) - upper * jnp.where(size == 0, 0.5, upper_a) - core
    return jnp.copysign(1.0, a) * jnp.where(large, swapped, core)


@_owens_t.defjvp
def _owens_t_jvp(primals, tangents):
    (h, a), (dh, da) = primals, tangents
    square = 1 + a * a
    by_h = -exp_square(h, -0.5) * _INV_ROOT_2PI * 0.5 * lax.erf(h * a * _ROOT_HALF)
    by_a = jnp.exp(-0.5 * h * h * square) / (2 * np.pi * square)
    return _owens_t(h, a), dh * by_h + da * by_a


@inlined
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function: the probability of ``X > h`` and ``0 < Y < a X`` for independent standard normals.

    Source: `scipy.special.owens_t`.

    >>> jax.scipy.special.owens_t(0.5, 1.0)
    Array(0.10667107, dtype=float32)
    """
    (h, a), dtype = wide("owens_t", h, a)
    return _owens_t(*jnp.broadcast_arrays(h, a)).astype(dtype)
