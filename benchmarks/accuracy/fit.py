"""The Chebyshev coefficients of `jax_numpy_api.scipy.special`, computed anew: run this and compare.

Each function is interpolated at Chebyshev nodes in 40 digits, in the variable that its code names, and coefficients below
1e-18 of the largest are left out.

    python benchmarks/accuracy/fit.py [name ...]
"""
import sys

import mpmath as mp
from common import normal_quantile

mp.mp.dps = 40


def chebyshev(f, low, high, nodes=64, cut=1e-18):
    """Coefficients of ``f`` on ``[low, high]`` in the variable that maps it to [-1, 1]."""
    angles = [mp.pi * (k + mp.mpf(1) / 2) / nodes for k in range(nodes)]
    values = [f((high + low) / mp.mpf(2) + (high - low) / mp.mpf(2) * mp.cos(a)) for a in angles]
    out = [2 * sum(v * mp.cos(j * a) for v, a in zip(values, angles)) / nodes for j in range(nodes)]
    out[0] /= 2
    size = max(map(abs, out))
    while abs(out[-1]) < cut * size:
        out.pop()
    return [float(c) for c in out]


def half_line(f, k):
    """``f`` on [0, inf) in ``t = (x - k)/(x + k)``."""
    return lambda t: f(k * (1 + t) / (1 - t))


def normal_quantile_tail(z):
    """``z + x`` with ``log ndtr(x) = -z**2 / 2``."""
    return z + normal_quantile(mp.exp(-z * z / 2))


def normal_quantile_centre(s):
    """``x / q`` with ``ndtr(x) = 1/2 + q`` and ``s = q**2``."""
    q = mp.sqrt(abs(s))
    return mp.erfinv(2 * q) * mp.sqrt(2) / q if q else mp.sqrt(2 * mp.pi)


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x) if x < 60 else 1 / (x * mp.sqrt(mp.pi)) * (1 + sum(
        (-1) ** n * mp.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(1, 12)))


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x) if x < 40 else 1 / (2 * x) * (1 + sum(
        mp.fac2(2 * n - 1) / (2 * x * x) ** n for n in range(1, 12)))


CI_ROOT = mp.findroot(mp.ci, mp.mpf("0.6165"))


def ci_rest(x):
    """``(Ci(x) - log(x / root)) / (x - root)``."""
    if x == 0:
        return (mp.euler + mp.log(CI_ROOT)) / -CI_ROOT
    return (mp.ci(x) - mp.log(x / CI_ROOT)) / (x - CI_ROOT)


EI_ROOT = mp.findroot(mp.ei, mp.mpf("0.3725"))


def ei_rest(x):
    """``(Ei(x) - log(x / root)) / (x - root)``."""
    if x == 0:
        return (mp.euler + mp.log(EI_ROOT)) / -EI_ROOT
    return (mp.ei(x) - mp.log(x / EI_ROOT)) / (x - EI_ROOT)


def scaled_i0(u):
    """``sqrt(x) exp(-x) I0(x)`` at ``x = 1/u``, DLMF 10.40.1."""
    if u < mp.mpf(1) / 200:
        return sum(mp.fac2(2 * n - 1) ** 2 * (u / 8) ** n / mp.factorial(n) for n in range(40)) / mp.sqrt(2 * mp.pi)
    return mp.exp(-1 / u) * mp.besseli(0, 1 / u) / mp.sqrt(u)


def scaled_ei(u):
    """``x exp(-x) Ei(x)`` at ``x = 1/u``."""
    if u < mp.mpf(1) / 90:
        return sum(mp.factorial(n) * u ** n for n in range(40))
    return mp.exp(-1 / u) * mp.ei(1 / u) / u


def scaled_e1(u):
    """``x exp(x) E1(x)`` at ``x = 1/u``."""
    if u < mp.mpf(1) / 90:
        return sum(mp.factorial(n) * (-u) ** n for n in range(40))
    return mp.exp(1 / u) * mp.e1(1 / u) / u


def _si_aux(x):
    d = mp.si(x) - mp.pi / 2
    c = mp.ci(x)
    return c * mp.sin(x) - d * mp.cos(x), -c * mp.cos(x) - d * mp.sin(x)


def si_f(v):
    """``x f(x)`` at ``x = v**-1/2``, f of DLMF 6.2.17."""
    if v < mp.mpf(1) / 90 ** 2:
        return sum((-1) ** n * mp.factorial(2 * n) * v ** n for n in range(20))
    x = 1 / mp.sqrt(v)
    with mp.workdps(60):
        return x * _si_aux(x)[0]


def si_g(v):
    """``x**2 g(x)`` at ``x = v**-1/2``, g of DLMF 6.2.18."""
    if v < mp.mpf(1) / 90 ** 2:
        return sum((-1) ** n * mp.factorial(2 * n + 1) * v ** n for n in range(20))
    x = 1 / mp.sqrt(v)
    with mp.workdps(60):
        return x * x * _si_aux(x)[1]


def _fresnel_aux(x):
    s, c = mp.fresnels(x) - mp.mpf(1) / 2, mp.fresnelc(x) - mp.mpf(1) / 2
    a = mp.pi * x * x / 2
    return c * mp.sin(a) - s * mp.cos(a), -c * mp.cos(a) - s * mp.sin(a)


def fresnel_f(v):
    """``pi x f(x)`` at ``x = v**-1/4``, f of DLMF 7.2.10."""
    if v < mp.mpf(1) / 8 ** 4:
        return sum((-1) ** m * mp.rf(mp.mpf(1) / 2, 2 * m) * (4 * v / mp.pi ** 2) ** m for m in range(20))
    x = v ** (-mp.mpf(1) / 4)
    return mp.pi * x * _fresnel_aux(x)[0]


def fresnel_g(v):
    """``pi**2 x**3 g(x)`` at ``x = v**-1/4``, g of DLMF 7.2.11."""
    if v < mp.mpf(1) / 8 ** 4:
        return sum((-1) ** m * 2 * mp.rf(mp.mpf(1) / 2, 2 * m + 1) * (4 * v / mp.pi ** 2) ** m for m in range(20))
    x = v ** (-mp.mpf(1) / 4)
    return mp.pi ** 2 * x ** 3 * _fresnel_aux(x)[1]


def lgamma_rest(z):
    """``log gamma(z) / ((z - 1) (z - 2))``."""
    if abs(z - 1) < 1e-12 or abs(z - 2) < 1e-12:
        return (mp.psi(0, z)) / (2 * z - 3)
    return mp.loggamma(z) / ((z - 1) * (z - 2))


DIGAMMA_ROOT = mp.findroot(lambda x: mp.psi(0, x), mp.mpf("1.4616"))


def digamma_rest(x):
    """``digamma(x) / (x - root)``."""
    if abs(x - DIGAMMA_ROOT) < 1e-15:
        return mp.psi(1, DIGAMMA_ROOT)
    return mp.psi(0, x) / (x - DIGAMMA_ROOT)


FITS = {
    "ATANH": lambda: chebyshev(lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) if z else mp.mpf(2), 0, mp.mpf("0.16")),
    "DIGAMMA_REST": lambda: chebyshev(digamma_rest, 1, 2),
    "RGAMMA": lambda: chebyshev(mp.rgamma, 1, 2, 32),
    "LGAMMA": lambda: chebyshev(lgamma_rest, mp.mpf(1) / 2, mp.mpf(5) / 2, 64),
    "ERFCX": lambda: chebyshev(half_line(lambda x: (1 + 2 * x) * erfcx(x), mp.mpf(15) / 4), -1, mp.mpf(1) - mp.mpf(10) ** -30),
    "NDTRI_CENTRE": lambda: chebyshev(normal_quantile_centre, 0, mp.mpf("0.180625")),
    "NDTRI_NEAR": lambda: chebyshev(normal_quantile_tail, mp.mpf("2.25"), 7),
    "NDTRI_FAR": lambda: chebyshev(normal_quantile_tail, 7, 39),
    "I0E_SMALL": lambda: chebyshev(lambda x: mp.exp(-x) * mp.besseli(0, x), 0, 8),
    "I0E_LARGE": lambda: chebyshev(scaled_i0, 0, mp.mpf(1) / 8),
    "DAWSN_SMALL": lambda: chebyshev(lambda v: dawson(mp.sqrt(v)) / mp.sqrt(v) if v else mp.mpf(1), 0, 1),
    "DAWSN_NEAR": lambda: chebyshev(lambda x: x * dawson(x), 1, 5),
    "DAWSN_FAR": lambda: chebyshev(lambda v: dawson(v ** -mp.mpf("0.5")) * 2 * v ** -mp.mpf("0.5") if v else 1, 0, mp.mpf(1) / 25),
    "E1": lambda: chebyshev(scaled_e1, 0, 1, 80),
    "EI_REST": lambda: chebyshev(ei_rest, 0, 6),
    "EI_6": lambda: chebyshev(scaled_ei, mp.mpf(1) / 12, mp.mpf(1) / 6),
    "EI_12": lambda: chebyshev(scaled_ei, mp.mpf(1) / 24, mp.mpf(1) / 12),
    "EI_24": lambda: chebyshev(scaled_ei, 0, mp.mpf(1) / 24),
    "SI": lambda: chebyshev(lambda v: mp.si(mp.sqrt(v)) / mp.sqrt(v) if v else 1, 0, 16),
    "CI_REST": lambda: chebyshev(ci_rest, 0, 4),
    "SI_F": lambda: chebyshev(si_f, 0, mp.mpf(1) / 16),
    "SI_G": lambda: chebyshev(si_g, 0, mp.mpf(1) / 16),
    "FRESNEL_S": lambda: chebyshev(lambda v: mp.fresnels(v ** (mp.mpf(1) / 4)) / v ** (mp.mpf(3) / 4), mp.mpf(10) ** -30,
                                   mp.mpf("1.6") ** 4),
    "FRESNEL_C": lambda: chebyshev(lambda v: mp.fresnelc(v ** (mp.mpf(1) / 4)) / v ** (mp.mpf(1) / 4), mp.mpf(10) ** -30,
                                   mp.mpf("1.6") ** 4),
    "FRESNEL_F": lambda: chebyshev(fresnel_f, 0, mp.mpf("1.6") ** -4),
    "FRESNEL_G": lambda: chebyshev(fresnel_g, 0, mp.mpf("1.6") ** -4),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        try:
            out = FITS[name]()
        except Exception as e:
            print("#", name, "FAILED", e)
            continue
        lines, line = [], "   "
        for c in out:
            if len(line) + len(repr(c)) + 2 > 125:
                lines.append(line)
                line = "   "
            line += f" {c!r},"
        print(f"_{name} = (  # {len(out)}", *lines, line.rstrip(",") + ")", sep="\n", flush=True)
