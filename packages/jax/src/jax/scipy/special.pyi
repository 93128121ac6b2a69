"""Types of `jax.scipy.special`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Literal, Sequence, overload

def bernoulli(n: int) -> Array:
    """The Bernoulli numbers ``B_0 ... B_n`` (B_1 = -1/2), for ``n`` known and not negative."""
def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """Bessel functions of the first kind of orders 0 to ``v``, stacked along a new first axis."""
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """``gamma(a) gamma(b) / gamma(a + b)``; where both parts have a pole, but their quotient is finite, that, for the other argument fixed."""
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Regularised incomplete beta function I_x(a, b)."""
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """Logarithm of the magnitude of the beta function, without cancellation for large arguments; at poles as `beta`."""
def boxcox(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """``(x**lmbda - 1) / lmbda``, and ``log(x)`` where ``lmbda`` is 0; NaN for negative ``x``."""
def boxcox1p(x: ArrayLike, lmbda: ArrayLike) -> Array:
    """``((1 + x)**lmbda - 1) / lmbda``, and ``log(1 + x)`` where ``lmbda`` is 0; NaN for ``x`` below -1."""
def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """Number of ways to choose ``k`` of ``N`` things; with ``repetition``, ``k`` of ``N`` with replacement."""
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral ``exp(-x**2) * integral of exp(t**2) from 0 to x``. Source: `scipy.special.dawsn`."""
def digamma(x: ArrayLike) -> Array:
    """Derivative of `gammaln`; -inf at 0, inf at -0, NaN at other poles. Source: `scipy.special.digamma`."""
def entr(x: ArrayLike) -> Array:
    """``-x log(x)``: 0 at 0, -inf below, where the derivative is NaN. Source: `scipy.special.entr`."""
def erf(x: ArrayLike) -> Array:
    """The error function ``2/sqrt(pi) * integral of exp(-t**2) from 0 to x``. Source: `scipy.special.erf`."""
def erfc(x: ArrayLike) -> Array:
    """``1 - erf(x)``, accurate for large ``x``. Source: `scipy.special.erfc`."""
def erfcinv(y: ArrayLike) -> Array:
    """Inverse of `erfc`: infinite at 0 and 2, NaN outside. Source: `scipy.special.erfcinv`."""
def erfcx(x: ArrayLike) -> Array:
    """``exp(x**2) * erfc(x)``, of complex numbers too. Source: `scipy.special.erfcx`."""
def erfinv(x: ArrayLike) -> Array:
    """Inverse of `erf`: infinite at -1 and 1, NaN outside. Source: `scipy.special.erfinv`."""
def exp1(x: ArrayLike) -> Array:
    """The exponential integral ``E1(x)``, the integral of ``exp(-t)/t`` from ``x`` to infinity; NaN below 0."""
def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei(x), -inf at 0. Source: `scipy.special.expi`."""
def expit(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`."""
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The generalised exponential integral ``E_n(x)``, the integral of ``exp(-x t) / t**n`` over t >= 1."""
def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """``gamma(n + 1)``, and 0 for negative ``n``, as floating-point numbers."""
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """The Fresnel integrals S and C: of ``sin(pi t**2 / 2)`` and ``cos(pi t**2 / 2)`` from 0 to ``x``."""
def gamma(x: ArrayLike) -> Array:
    """The gamma function, also of complex numbers: infinite at 0, NaN at negative whole numbers."""
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularised lower incomplete gamma function P(a, x). Source: `scipy.special.gammainc`."""
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x). Source: `scipy.special.gammaincc`."""
def gammaln(x: ArrayLike) -> Array:
    """Logarithm of the magnitude of the gamma function: infinite at 0 and at negative whole numbers."""
def gammasgn(x: ArrayLike) -> Array:
    """Sign of the gamma function: that of the zero at 0, NaN at negative whole numbers and at -inf."""
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """Kummer's confluent function ``1F1(a; b; x)``, real; infinite where ``b`` is a whole number not above 0."""
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """Gauss' function ``2F1(a, b; c; x)``, real, for ``x <= 1``; infinite beyond, unless the series ends or the function is a whole power of ``1 - x``."""
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of order 0. Source: `scipy.special.i0`."""
def i0e(x: ArrayLike) -> Array:
    """``exp(-|x|) * I0(x)``. Source: `scipy.special.i0e`."""
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of order 1. Source: `scipy.special.i1`."""
def i1e(x: ArrayLike) -> Array:
    """``exp(-|x|) * I1(x)``. Source: `scipy.special.i1e`."""
def kl_div(p: ArrayLike, q: ArrayLike) -> Array:
    """``p log(p / q) - p + q`` for positive ``p``, ``q``; ``q`` where ``p`` is 0 and ``q`` not negative; inf elsewhere."""
def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """Logarithm of `ndtr`, finite down to where ``x**2`` overflows."""
def log_softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``; by default over all elements. Source: `scipy.special.log_softmax`."""
def loggamma(x: ArrayLike) -> Array:
    """The logarithm of gamma, continued from the positive axis; for real ``x`` below 0 it is NaN, as for complex ``x`` at the poles."""
def logit(x: ArrayLike) -> Array:
    """``log(x / (1 - x))``, the inverse of `expit`: infinite at 0 and 1, NaN outside."""
def lpmn(m: int, n: int, z: ArrayLike) -> tuple[Array, Array]:
    """Associated Legendre functions of the first kind at ``z``, and their derivatives in ``z``. See `lpmn_values`."""
def lpmn_values(m: int, n: int, z: ArrayLike, is_normalized: bool) -> Array:
    """Associated Legendre functions of the first kind at ``z``: order is the first axis, degree the second."""
def multigammaln(a: ArrayLike, d: int) -> Array:
    """Logarithm of the multivariate gamma function of dimension ``d``: ``d (d-1)/4 log(pi) + sum gammaln(a - k/2)``, k from 0 to d - 1."""
def ndtr(x: ArrayLike) -> Array:
    """Distribution function of the standard normal distribution, accurate in both tails. Source: `scipy.special.ndtr`."""
def ndtri(p: ArrayLike) -> Array:
    """Inverse of `ndtr`: infinite at 0 and 1, NaN outside. Source: `scipy.special.ndtri`."""
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function: the probability of ``X > h`` and ``0 < Y < a X`` for independent standard normals."""
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """Pochhammer symbol ``gamma(z + m) / gamma(z)``. Source: `scipy.special.poch`."""
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """``n``-th derivative of `digamma` at ``x``, for integers ``n`` not below 0."""
def rel_entr(p: ArrayLike, q: ArrayLike) -> Array:
    """``p log(p / q)`` for positive ``p``, ``q``; 0 where ``p`` is 0 and ``q`` not negative; inf elsewhere."""
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral Si(x) and the cosine integral Ci(x); the latter at ``|x|``. Source: `scipy.special.sici`."""
def softmax(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``; by default over all elements. Source: `scipy.special.softmax`."""
def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to ``x`` = Li2(1 - x); NaN below 0."""
def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, diff_n: int | None = None, n_max: int | None = None) -> Any:
    """Spherical harmonics ``Y_n^m`` at polar angle ``theta`` and azimuth ``phi``, complex."""
def wofz(z: ArrayLike) -> Array:
    """The Faddeeva function ``exp(-z**2) erfc(-i z)``, complex. Source: `scipy.special.wofz`."""
def xlog1py(x: ArrayLike, y: ArrayLike) -> Array:
    """``x * log(1 + y)``, and 0 where ``x`` is 0 (NaN where ``y`` is NaN)."""
def xlogy(x: ArrayLike, y: ArrayLike) -> Array:
    """``x * log(y)``, and 0 where ``x`` is 0 (NaN where ``y`` is NaN)."""
def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Hurwitz zeta function, the sum of ``(k + q)**-x``, k = 0, 1, ...; by default Riemann's, ``q = 1``, also below 1."""
@overload
def logsumexp(a: ArrayLike, axis: int | Sequence[int] | None = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: Literal[False] = False, where: ArrayLike | None = None) -> Array:
    """The logarithm of a sum of exponentials."""
@overload
def logsumexp(a: ArrayLike, axis: int | Sequence[int] | None = None, b: ArrayLike | None = None, keepdims: bool = False, *, return_sign: Literal[True], where: ArrayLike | None = None) -> tuple[Array, Array]: ...
