"""Special points of jax.scipy.special and of the densities of jax.scipy.stats: values, first and second derivatives.

Numbers without a source are mpmath's.
"""
import functools
import math

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, nn, numpy as jnp
from jax_numpy_api.scipy import special, stats

INF, NAN, PI = np.inf, np.nan, np.pi

POINTS = [  # name, function, order of the derivative, points, what is expected in float32
    ("gamma", special.gamma, 0, [88.0, 104.0, 1e30, 34.0], [INF, INF, INF, 8.683317618811886e36]),
    ("gamma", special.gamma, 1, [88.0, 104.0, INF], [INF, INF, INF]),
    ("gamma", lambda x: 1e30 * special.gamma(x), 0, [-35.007, -1e6 - 0.5], [1.3485102716405e-8, 0]),  # the reciprocal of what overflows
    ("factorial", special.factorial, 1, [-1.0, -2.5], [0.0, 0.0]),
    ("factorial", special.factorial, 0, [2e9, 104.0], [INF, INF]),
    ("digamma", special.digamma, 0, [0.0, -0.0], [-INF, INF]),
    ("digamma", special.digamma, 1, [0.0, -0.0], [INF, INF]),
    ("loggamma", special.loggamma, 0, [0.0, NAN], [INF, NAN]),
    ("i0", special.i0, 0, [INF, -INF, 0.0], [INF, INF, 1]),
    ("i0", special.i0, 1, [0.0, -0.0, 1e-30, 104.0, -104.0, NAN], [0, 0, 5e-31, INF, -INF, NAN]),
    ("i0", special.i0, 2, [0.0, 1.0], [0.5, 0.7009067737595233]),
    ("numpy.i0", jnp.i0, 1, [0.0, 1.0], [0, 0.5651591039924850]),
    ("i1", special.i1, 1, [0.0, 104.0, -104.0], [0.5, INF, INF]),
    ("i1", special.i1, 2, [0.0, 1e-3, 2.0], [0, 3.75000052e-4, 1.24616263079]),
    ("i1e", special.i1e, 1, [NAN, 0.0], [NAN, 0.5]),
    ("bessel_jn", lambda x: special.bessel_jn(x, v=1)[0], 0, [0.3, INF, 0.0], [0.97762624653829603, NAN, 1]),
    ("entr", special.entr, 1, [-0.5, -104.0, INF, 0.0, 1.0, NAN], [NAN, NAN, -INF, INF, -1, NAN]),
    ("exp1", special.exp1, 1, [-1.0, -INF, 0.0, -0.0, 1.0, NAN], [NAN, NAN, -INF, -INF, -0.36787944117144233, NAN]),
    ("erfcinv", special.erfcinv, 0, [2.3e-38, 1.0], [9.158189553, 0.0]), ("betainc", lambda x: special.betainc(1414.9, 1e30, x), 0, [1e-10], [1.0]),
    ("betainc", lambda x: special.betainc(1e-5, 1e35, x), 0, [1e-20], [1.0]),
    ("exp1", special.exp1, 2, [0.0, -0.5], [INF, NAN]), ("expi", special.expi, 2, [0.0, -0.0, 1.0, INF, -INF], [-INF, -INF, 0.0, INF, 0.0]),
    ("boxcox", lambda x: special.boxcox(x, 2.0), 1, [-1.0, 0.0, 2.0], [NAN, 0.0, 2.0]), ("boxcox1p", lambda x: special.boxcox1p(x, 2.0), 1, [-2.0, -1.0, 1.0], [NAN, 0.0, 2.0]),
    ("expi", special.expi, 0, [INF, 3e38, 1000.0], [INF, INF, INF]),
    ("expi", special.expi, 1, [INF, 1.0, -INF], [INF, np.e, 0]),
    ("expn", lambda x: special.expn(0.0, x), 1, [-1.0, 1.0], [NAN, -0.7357588823428847]),
    ("spence", special.spence, 1, [0.0, 1.0, 2.0, -1.0, INF, NAN], [-INF, -1, -0.6931471805599453, NAN, 0, NAN]),
    ("spence", special.spence, 2, [0.0, 1.0, 2.0], [INF, 0.5, 0.1931471805599453]),
    ("sici", lambda x: special.sici(x)[0], 1, [0.0, INF, -INF, NAN], [1, 0, 0, NAN]),
    ("sici", lambda x: special.sici(x)[1], 1, [0.0, INF, NAN], [INF, 0, NAN]),
    ("erf", special.erf, 2, [INF, -INF, 1e30, 0.5], [0, 0, 0, -0.8787825789354448]),
    ("ndtr", special.ndtr, 2, [INF, -INF, 0.5], [0, 0, -0.17603266338214976]),
    ("ndtri", special.ndtri, 2, [0.0, 1.0], [-INF, INF]),
    ("log_ndtr", special.log_ndtr, 1, [-88.0, -104.0, -1e30, -INF, 20.0, NAN],
     [88.01136072135055, 104.00961360951157, 1e30, INF, 5.520948362159764e-88, NAN]),
    ("log_ndtr", special.log_ndtr, 2, [-88.0, -30.0, 36.0, INF, -INF, NAN], [-0.9998709677118731, -0.9988962284881099, 0, 0, -1, NAN]),
    ("erfcx", special.erfcx, 1, [50.0, 1e30, INF], [-2.2554056313532387e-4, 0, 0]),
    ("dawsn", special.dawsn, 1, [50.0, INF, 1e30], [-2.0012012016830307e-4, 0, 0]),
    ("fresnel", lambda x: special.fresnel(x)[0], 1, [1e30, 1.0, 3.0], [0, 1, 1]),
    ("fresnel", lambda x: special.fresnel(x)[1], 1, [1e30, 2.0], [1, 1]),
    ("fresnel", lambda x: special.fresnel(x)[1], 2, [1.0, -1.0, 3.0], [-PI, PI, -3 * PI]),
    ("zeta", special.zeta, 1, [-20.0, -20.5, -2.5, 0.3, 104.0], [132.2809975042125, 300.57792297065504, -0.006265736372189758, -1.9618608600898817,
                                                               -3.417479451924441e-32]),
    ("zeta", lambda x: special.zeta(x, 2.5), 1, [0.3, 2.3], [NAN, -0.4541535]),
    ("zeta", lambda q: special.zeta(0.0, q), 1, [1.0], [-1]),
    ("zeta", lambda x: jvp(lambda q: special.zeta(x, q), (jnp.ones_like(x),), (jnp.ones_like(x),))[1], 1, [0.0], [-0.5772156649]),
    ("gammainc", lambda x: special.gammainc(0.0, x), 0, [0.0, 0.5, 2.0], [NAN, 1, 1]),  # as SciPy
    ("gammainc", lambda a: special.gammainc(a, 0.5), 1, [0.0], [-0.5597735947761608]),
    ("gammainc", lambda a: special.gammainc(a, 3.4e38), 1, [0.5, 30.0], [0, 0]),
    ("gammainc", lambda x: special.gammainc(1.0, jnp.abs(x)), 0, [NAN], [NAN]),
    ("gammaincc", lambda x: special.gammaincc(1e-10, x), 0, [0.5, 1e-3, 1e-30, 0.999], [5.597735946e-11, 6.331539364e-10, 6.8500313e-9, 2.1975e-11]),
    ("gammaincc", lambda a: special.gammaincc(a, 0.25), 0, [1e-30, 0.199, 0.15], [1.0442826e-30, 0.20576924, 0.15604917]),
    ("betainc", lambda x: special.betainc(0.5, INF, x), 0, [0.0, 0.5], [0, 1]),  # as SciPy
    ("betainc", lambda a: special.betainc(a, a, 0.5), 0, [1e5, 1e10, 1e30, 3e38], [0.5, 0.5, 0.5, 0.5]),
    ("betainc", lambda x: special.betainc(1e6, 4e6, x), 0, [0.1998, 0.2, 0.20005, 0.25], [0.13176379, 0.50009585, 0.610144, 1]),  # as SciPy
    ("betainc", lambda x: special.betainc(1e30, 3e30, x), 0, [0.2499, 0.2501], [0, 1]),
    ("betainc", lambda x: special.betainc(1e5, 1e5, x), 1, [0.5], [356.8243772]),
    ("betainc", lambda x: special.betainc(2.0, 1.0, x), 1, [0.0, 1.0], [0, 2]),
    ("betainc", lambda x: special.betainc(1.0, 1.0, x), 1, [0.0, 0.5, 1.0, -0.5, 1.5], [1, 1, 1, NAN, NAN]),
    ("betainc", grad(lambda x: special.betainc(1.0, 1.5, x)), 1, [0.0, 0.5], [-0.75, -1.06066017]),
    ("beta", lambda a: special.beta(a, 0.5), 2, [-2.5, 0.25], [-1.208867, 128.612206]),
    ("beta", grad(lambda a: special.beta(a, 1.5)), 2, [-2.5], [18.490708]),
    ("beta", grad(lambda b: special.beta(-2.5, b)), 1, [0.5, 1.5], [19.34413, -0.647242]),
    ("beta", lambda t: special.beta(-2.5 + t, 0.5 + t), 2, [0.0], [36.270527]),
    ("beta", lambda a: special.beta(a, 1.0), 2, [-1.0], [-2]),
    ("betaln", lambda b: special.betaln(-0.5, b), 0, [1e10, 3.4028235e38, 2.5], [12.778437588417374, 45.626930, 1.55019499]),
    ("betaln", lambda b: special.betaln(127.0, b), 0, [INF], [-INF]),
    ("betaln", lambda a: special.betaln(a, 1e-10), 1, [0.5, 1e-3, 10.0, 25.0, 1e4, 1e8],
     [-4.934802e-10, -1.00000146e-4, -1.0516634e-11, -4.0810671e-12, -1.00005e-14, -1e-18]),
    ("betaln", lambda a: special.betaln(a, 1e-3), 2, [25.0, 1e3], [1.6652115e-6, 1.0009995e-9]),
    ("beta", lambda a: special.beta(a, 1e-30), 1, [0.5, 10.0], [-4.934802, -0.10516634]),
    ("poch", lambda z: special.poch(z, 1e-10), 1, [1e-3, 2.0], [1.00000136e-4, 6.4493407e-11]),
    ("betaln", lambda b: special.betaln(2.0, b), 1, [1e10, 1e4], [-2e-10, -1.9999000033331667e-4]),
    ("beta", lambda b: special.beta(-0.5, b), 0, [1e10], [-354490.77]),
    ("beta", lambda a: special.beta(a, a), 0, [-4.5, -1.0], [0, NAN]), ("betaln", lambda a: special.betaln(a, a), 0, [-4.5, -1.0], [-INF, INF]),
    ("beta", lambda a: special.beta(a, 0.5), 1, [-4.5, -0.5], [-2.5531674, -2 * PI]),  # where gamma(a + 0.5) has a pole
    ("betaln", lambda a: special.betaln(a, 60.0), 0, [-100.0, -60.0], [-68.884907, -4.0943446]),
    ("poch", lambda m: special.poch(1e10, m), 0, [-0.5, 0.5], [1e-5, 1e5]),
    ("poch", lambda z: special.poch(z, 0.5), 1, [1e10], [5e-6]),
    ("poch", lambda z: special.poch(z, 0.5), 2, [20.0, 2.0], [-0.00284661506824, -0.10098690659]),
    ("betaln", lambda b: special.betaln(2.0, b), 2, [20.0, 19.5], [0.00476757369615, 0.00500938477418]),  # from 20 on by another formula
    ("hyp1f1", lambda x: special.hyp1f1(-1.0, -2.0, x), 0, [-1.0], [0.5]),
    ("hyp1f1", lambda x: special.hyp1f1(0.0, 2.0, x), 0, [-INF, -1.0, NAN], [1, 1, NAN]),
    ("hyp1f1", lambda x: special.hyp1f1(1.0, 2.0, x), 0, [INF, -INF], [INF, 0]),
    ("hyp1f1", lambda x: special.hyp1f1(2.0, 2.0, x), 1, [INF, -INF], [INF, 0]),
    ("hyp1f1", lambda x: special.hyp1f1(-2.0, 2.0, x), 0, [INF, -INF], [INF, INF]),
    ("hyp1f1", lambda x: special.hyp1f1(-1.0, x, INF), 0, [-1.5, -2.0, 2.5], [INF, INF, -INF]),
    ("hyp1f1", lambda a: special.hyp1f1(a, 300.0, 300.0), 0, [0.001, 0.3], [1.0035402415760304, 2.756246521885159]),  # not far, as b is as large as x
    ("hyp1f1", lambda b: special.hyp1f1(1.0, b, 100.0), 0, [300.0, 150.0], [1.498765328, 2.929211109]),
    ("hyp1f1", lambda x: special.hyp1f1(1.0, 2000.0, x), 0, [-3000.0, -500.0, 500.0], [0.3999279885, 0.7999840026, 1.333259358]),
    ("hyp1f1", lambda x: special.hyp1f1(0.5, 1e4, x), 0, [-5e4, -100.0], [0.4082376587, 0.9950371866]),
    ("hyp1f1", lambda x: special.hyp1f1(200.0, 1.0, x), 0, [-50.0], [NAN]),  # nothing is left of the terms
    ("hyp1f1", lambda b: special.hyp1f1(0.3, b, 300.0), 1, [300.0], [-0.04948530]),
    ("hyp1f1", lambda a: special.hyp1f1(a, 1.0, -INF), 0, [-0.5, 0.0, 0.5, 1.5], [INF, 1, 0, 0]),
    ("hyp2f1", lambda x: special.hyp2f1(1.0, 2.0, 1.0, x), 0, [2.0, 1.0, 0.5, -3.0], [1, INF, 4, 0.0625]),
    ("hyp2f1", lambda x: special.hyp2f1(0.25, 1.0, -1.0, x), 0, [-3.0, -0.25, 0.25, 1.0], [INF] * 4),
    ("hyp2f1", lambda x: special.hyp2f1(-1.0, 0.5, -2.0, x), 0, [-0.5, 0.5], [0.875, 1.125]), ("hyp2f1", lambda x: special.hyp2f1(-3.0, 0.5, -2.0, x), 0, [0.5], [INF]),
    ("hyp2f1", lambda x: special.hyp2f1(3.0, 1.5, 1.5, x), 1, [2.0, 0.5], [3, 48]),
    ("hyp2f1", lambda x: special.hyp2f1(-2.0, 1.0, -1.5, x), 0, [-10.0, -1e5, -0.5, 3.0], [254.33333, 26666533334.3, 1.0, 29]),
    ("hyp2f1", lambda x: special.hyp2f1(-2.5, 0.5, 1.0, x), 0, [-10.0, -4.0], [144.91299468785, 22.03618]),
    ("hyp2f1", lambda b: special.hyp2f1(-2.0, b, 1.5, -1e5), 0, [0.0], [1]),
    ("xlogy", lambda y: special.xlogy(0.0, y), 1, [NAN, 2.0, 0.0], [NAN, 0, 0]),
    ("boxcox", lambda m: special.boxcox(2.0, m), 1, [0.0], [0.2402265069591007]),  # log(2)**2 / 2
    ("boxcox", lambda x: special.boxcox(x, 0.5), 1, [0.0, 4.0, -1.0], [INF, 0.5, NAN]),
    ("boxcox", lambda x: special.boxcox(x, 1.0), 1, [0.0, INF], [1, 1]),
    ("boxcox1p", lambda x: special.boxcox1p(x, 1.0), 1, [-1.0, 0.5], [1, 1]),
    ("boxcox1p", lambda x: special.boxcox1p(x, 2.0), 1, [-1.0, 0.5], [0, 1.5]),
    ("boxcox1p", lambda x: special.boxcox1p(x, -0.5), 1, [-1.0, 3.0], [INF, 0.125]),
    ("gelu", nn.gelu, 1, [3e38, -3e38, 1e13, 20.0, -20.0, 3.0], [1, 0, 1, 1, 0, 1.01158416663097]),
    ("rel_entr", lambda q: special.rel_entr(1.0, q), 0, [INF, NAN, 0.5], [-INF, NAN, 0.6931471805599453]),
    ("rel_entr", lambda q: special.rel_entr(1.0, q), 1, [NAN, 0.5, INF], [NAN, -2, 0]),
    ("rel_entr", lambda p: special.rel_entr(p, 1.0), 1, [NAN, 0.5, INF], [NAN, 0.3068528194400547, INF]),
    ("kl_div", lambda q: special.kl_div(1.0, q), 1, [NAN, 0.5, INF], [NAN, -1, 1]),
    ("kl_div", lambda p: special.kl_div(p, 1.0), 1, [NAN, 0.5], [NAN, -0.6931471805599453]),
    ("kl_div", lambda q: 1e9 * special.kl_div(1.0, q), 0, [1 + 2.0 ** -23, 1 - 2.0 ** -10, 0.625], [7.105426793e-6, 477.147826613, 9.5003629246e7]),
    ("kl_div", lambda p: special.kl_div(p, INF), 1, [0.5, 2.0], [-INF, -INF]),
    ("rel_entr", lambda p: special.rel_entr(p, INF), 1, [0.5, 2.0], [-INF, -INF]),
    ("log1mexp", nn.log1mexp, 0, [1.0, 0.0], [-0.4586751453870819, -INF]),
    ("chi2.pdf", lambda x: stats.chi2.pdf(x, 2.0), 0, [0.0, INF, -1.0], [0.5, 0, 0]),
    ("chi2.pdf", lambda x: stats.chi2.pdf(x, 3.0), 0, [0.0, INF, NAN], [0, 0, NAN]),
    ("chi2.pdf", lambda x: stats.chi2.pdf(x, 2.0), 1, [0.0, INF], [-0.25, 0]),
    ("gamma.logpdf", lambda x: stats.gamma.logpdf(x, 3.0), 1, [INF, 2.0, NAN], [-1, 0, NAN]),
    ("gammaln", special.gammaln, 0, [1e-38, -1e-40, 1e-45, 0.0], [87.49823353377374, 92.10340371976183, 103.27892990343186, INF]),
    ("gammainc", lambda x: special.gammainc(1e30, x), 1, [1e-30, 1e10], [0, 0]),
    ("gammainc", lambda x: special.gammainc(50.0, x), 1, [50.0], [0.05632500632519286]),
    ("i1e", special.i1e, 2, [1e-10, -1e-6, 1e-20], [-1, 0.9999981, -1]),
    ("bessel_i1e", lax.bessel_i1e, 2, [1e-10, 0.5, 0.999], [-1, -0.39024984, -0.15010808]),
    ("norm.logcdf", stats.norm.logcdf, 1, [-INF, INF, NAN, -1.0], [INF, 0, NAN, 1.5251352761609812]),
    ("norm.logsf", stats.norm.logsf, 1, [-INF, INF], [0, -INF]),
    ("cauchy.ppf", stats.cauchy.ppf, 1, [0.0, 1.0, 0.5, 0.75, NAN], [INF, INF, PI, 2 * PI, NAN]),
    ("cauchy.isf", stats.cauchy.isf, 0, [0.0, -0.0, 1.0, 0.5], [INF, INF, -INF, 0]),
    ("cauchy.isf", stats.cauchy.isf, 1, [0.0, 1.0, 0.5, 0.75], [-INF, -INF, -PI, -2 * PI]),
    ("celu", lambda a: nn.celu(-INF, a), 1, [1.0, 0.5, 2.0], [-1, -1, -1]),
    ("squareplus", nn.squareplus, 0, [3e38, -3e38, INF, -INF, NAN, 2.0], [3e38, 0, INF, 0, NAN, 2.414213562373095]),
    ("squareplus", nn.squareplus, 1, [3e38, -3e38, INF, -INF, NAN, 0.0], [1, 0, 1, 0, NAN, 0.5]),
    ("gumbel_r.logcdf", stats.gumbel_r.logcdf, 1, [-INF, INF], [INF, 0]),
    ("norm.pdf", lambda x: stats.norm.pdf(x, scale=-1.0), 0, [1.0], [NAN]),  # a number, too, is checked
    ("expon.sf", lambda x: stats.expon.sf(x, scale=0), 0, [1.0], [NAN]),
    ("gumbel_r.logcdf", lambda x: stats.gumbel_r.logcdf(x, 0.5, -1.0), 0, [1.0], [NAN]),
    ("gumbel_r.cdf", stats.gumbel_r.cdf, 1, [-INF, INF], [0, 0]),
    ("gumbel_l.logsf", stats.gumbel_l.logsf, 1, [-INF, INF], [0, -INF]),
    ("expon.logsf", stats.expon.logsf, 1, [INF, -1.0], [-1, 0]),
    ("gamma.cdf", lambda x: stats.gamma.cdf(x, 2.0), 1, [INF, -INF], [0, 0]),
    ("chi2.sf", lambda x: stats.chi2.sf(x, 3.0), 1, [INF, -INF], [0, 0]),
    ("gennorm.cdf", lambda x: stats.gennorm.cdf(x, 1.5), 1, [0.0, -INF, 1.0], [0.553866083716236, 0, 0.203755945361344]),
    ("gammainc", lambda x: special.gammainc(INF, x), 1, [0.5, 1e30], [0, 0]),
    ("gammainc", lambda x: special.gammainc(1.0, x), 1, [INF, 1.0], [0, 0.36787944117144233]),
    ("betaln", lambda a: special.betaln(a, 0.5), 0, [1.7e38, 3e38], [-43.442066, -43.726058]),
    ("boxcox", lambda m: special.boxcox(0.0, m), 0, [0.0, 1e-30, -1e-30, 0.5], [-INF, -1e30, -INF, -2]),
    ("log1mexp", nn.log1mexp, 2, [148.0, 88.0, 1.0, INF], [0, 0, -0.9206735942077923, 0]),
    ("log1mexp", nn.log1mexp, 1, [0.0, 1e-10, 80.0], [INF, 1e10, 1.8048513878454153e-35]),
    ("expon.logcdf", stats.expon.logcdf, 1, [1e-10, 0.0, INF], [1e10, INF, 0]),
    ("gumbel_l.logcdf", stats.gumbel_l.logcdf, 2, [5.0, 20.0, INF], [0, 0, 0]),
    ("pareto.logcdf", lambda x: stats.pareto.logcdf(x, 1.5), 0, [1e5, 1.0, 200.0], [-3.16227766e-8, -INF, -3.5361590532857e-4]),
    ("gennorm.cdf", lambda x: stats.gennorm.cdf(x, 1.5), 1, [1e-30, -1e-30, 1e-10], [0.553866083716236] * 3),
    ("gennorm.cdf", lambda b: stats.gennorm.cdf(1e-30, b), 1, [1.5, 2.0], [4.474397e-32, 5.146808e-33]),
    ("uniform.cdf", stats.uniform.cdf, 1, [0.0, 0.5, 1.0, -1.0, 2.0], [1, 1, 1, 0, 0]),
    ("poisson.entropy", stats.poisson.entropy, 0, [0.0, 1e-30, 1e-6, 3.0], [0, 7.007755279e-29, 1.48155109e-5, 1.93147015]),
    ("poisson.entropy", stats.poisson.entropy, 1, [0.0, 1.2e-38, 1e-6, 3.0], [INF, 87.315912, 13.8155113, 0.18243085]),
    ("t.logpdf", lambda x: stats.t.logpdf(x, 3.0), 0, [1e30, -3e38, INF, 0.5], [-275.1138754, -353.1910476, -INF, -1.160974265]),
    ("t.logpdf", lambda x: stats.t.logpdf(x, 3.0), 1, [1e30, INF, -INF, 0.5, NAN], [-4e-30, 0, 0, -0.6153846, NAN]),
    ("t.logpdf", lambda df: stats.t.logpdf(0.5, df), 1, [1e-3, 3.0], [995.0509, 0.0377412113]),
    ("t.pdf", lambda df: stats.t.pdf(0.0, df), 0, [3.4e38, 1e10, 1.0], [0.3989422804, 0.3989422804, 0.31830988618]),
    ("truncnorm.cdf", lambda b: stats.truncnorm.cdf(0.0, -INF, b), 1, [1.0, 2.0, INF], [-0.17091684, -0.02826701, 0]),
    ("truncnorm.logcdf", lambda b: stats.truncnorm.logcdf(0.0, -INF, b), 1, [1.0, 2.0], [-0.28759997, -0.05524786]),
    ("truncnorm.sf", lambda a: stats.truncnorm.sf(0.5, a, INF), 1, [-1.0, -2.0, -INF], [0.10546852, 0.01744287, 0]),
    ("truncnorm.logcdf", lambda a: stats.truncnorm.logcdf(-1.0, a, 2.0), 1, [-1.0], [-INF]), ("truncnorm.logcdf", lambda x: stats.truncnorm.logcdf(x, -1.0, 2.0), 1, [-1.0], [INF]),
    ("truncnorm.logsf", lambda b: stats.truncnorm.logsf(2.0, -1.0, b), 1, [2.0], [INF]), ("truncnorm.logsf", lambda x: stats.truncnorm.logsf(x, -1.0, 2.0), 1, [2.0], [-INF]),
    ("truncnorm.logsf", lambda x: stats.truncnorm.logsf(x, -1.0, INF), 0, [1e30, 0.5, INF], [-INF, -1.003157983, -INF]),
    ("vonmises.logpdf", lambda k: stats.vonmises.logpdf(0.5, k), 1, [0.0, 0.5, 1.0, 2.0], [0.8775825619, 0.63508295, 0.4311926, 0.1798079]),
    ("vonmises.logpdf", lambda x: stats.vonmises.logpdf(x, 3.4e38), 0, [0.0], [43.442066]),
    ("vonmises.pdf", lambda x: stats.vonmises.pdf(x, 3.4e38), 1, [0.5, -1.0], [0, 0]),
    ("nbinom.logpmf", lambda k: stats.nbinom.logpmf(k, 3.0, 0.4), 0, [1.5, -1.0], [-INF, -INF]),
    ("poisson.logpmf", lambda mu: stats.poisson.logpmf(8.5, mu), 1, [0.0, 2.0], [0, 0]),
    ("pareto.sf", lambda b: stats.pareto.sf(0.0, b), 1, [0.0, -1.0, 1.0], [NAN, NAN, 0]),  # no parameters: NaN beside the support, too
    ("pareto.pdf", lambda x: stats.pareto.pdf(x, -1.0), 1, [0.0, 2.0], [NAN, NAN]),
    ("poisson.pmf", lambda mu: stats.poisson.pmf(-1, mu), 1, [-1.0, 1.0], [NAN, 0]),
    # as products these have slopes where a logarithm's is infinite
    *[("poisson.pmf", lambda mu, k=k: stats.poisson.pmf(k, mu), 1, [0.0], [w]) for k, w in ((0, -1), (1, 1), (2, 0))],
    *[("poisson.cdf", lambda mu, k=k: stats.poisson.cdf(k, mu), 1, [0.0], [w]) for k, w in ((0, -1), (1, 0))],
    *[("bernoulli.pmf", lambda p, k=k: stats.bernoulli.pmf(k, p), 1, [0.0, 1.0, 0.5], [w, w, w]) for k, w in ((0, -1), (1, 1))],
    ("bernoulli.logpmf", lambda p: stats.bernoulli.logpmf(0.5, p), 1, [1.0, 2.0], [0, NAN]),
    ("bernoulli.cdf", lambda p: stats.bernoulli.cdf(1, p), 1, [0.5, 2.0], [0, NAN]),
    *[("binom.pmf", lambda p, k=k: stats.binom.pmf(k, 2.0, p), 1, [0.0, 1.0], w) for k, w in ((0, [-2, 0]), (1, [2, -2]), (2, [0, 2]))],
    *[("geom.pmf", lambda p, k=k: stats.geom.pmf(k, p), 1, [1.0], [w]) for k, w in ((1, 1), (2, -1), (3, 0))],
    *[("nbinom.pmf", lambda p, k=k: stats.nbinom.pmf(k, 2.0, p), 1, [1.0], [w]) for k, w in ((0, 2), (1, -2), (2, 0))],
    *[("gamma.pdf", lambda x, a=a: stats.gamma.pdf(x, a), 1, [0.0, 1.0], w) for a, w in (
        (0.5, [-INF, -0.311330622]), (1.0, [-1, -0.367879441]), (2.0, [1, 0]), (50.0, [0, 2.9634e-61]))],
    *[("chi2.pdf", lambda x, a=a: stats.chi2.pdf(x, a), 1, [0.0], [w]) for a, w in ((1.0, -INF), (2.0, -0.25), (4.0, 0.25), (7.0, 0))],
    *[("beta.pdf", lambda x, a=a: stats.beta.pdf(x, a, 2.0), 1, [0.0], [w]) for a, w in ((1.0, -2), (2.0, 6), (3.0, 0))],
    ("beta.pdf", lambda x: stats.beta.pdf(x, 2.0, 2.0), 1, [1.0, 0.5], [-6, 0]),
    ("beta.pdf", lambda x: stats.beta.pdf(x, 2.0, 0.5), 1, [1.0, 0.0], [INF, 0.75]), ("beta.pdf", lambda x: stats.beta.pdf(x, 0.5, 1.0), 1, [1.0], [-0.25]),
    ("beta.pdf", lambda a: stats.beta.pdf(1.0, a, 1.0), 1, [0.5, 1.0], [1, 1]),
    ("gammainc", lambda x: special.gammainc(1.0, x), 1, [0.0], [1]),
    ("gammainc", grad(lambda x: special.gammainc(2.5, x)), 1, [1e-20], [1.1283791671e-10]),
    ("gammaincc", lambda x: special.gammaincc(1.0, x), 1, [0.0], [-1]),
    ("digamma", special.digamma, 1, [-10.25, -100.25, -8.5, -7.75, -1.0, INF], [19.64625242, 19.72928333, 9.758607113, 19.61814433, INF, 0]),
    ("gammaln", special.gammaln, 2, [-10.25, -100.25, 3.0], [19.64625242, 19.72928333, 0.394934067]),
    *[("polygamma", lambda x, n=n: special.polygamma(n, x), 0, [-10.25, -100.25, 3.0], w) for n, w in (
        (1, [19.64625242, 19.72928333, 0.394934067]), (2, [124.016472, 124.0250082, -0.1541138063]))],
    ("polygamma", lambda x: special.polygamma(1, x), 1, [-10.25, 3.0], [124.016472, -0.1541138063]),
    *[("zeta", lambda q, s=s: special.zeta(s, q), 0, [-10.25, -100.25, -3.25, 2.0, INF], w) for s, w in (
        (2.0, [19.64625242, 19.72928333, 19.47408507, 0.6449340668, 0]), (3.0, [-62.008236, -62.0125041, -61.9776055, 0.2020569032, 0]))],
    ("digamma", special.digamma, 2, [-10.25, -100.25, -7.75], [124.016472, 124.0250082, -124.0397456]),
    ("gammainc", lambda x: special.gammainc(25.0, x), 1, [INF, 0.0], [0, 0]),
    ("gammaincc", lambda x: special.gammaincc(25.0, x), 1, [INF, 0.0], [0, 0]),
    ("gammainc", lambda x: special.gammainc(20.0, x), 0, [0.5, INF], [2.43546542993e-25, 1]),
    ("gammainc", lambda a: grad(lambda x: special.gammainc(a, x))(0.5), 1, [1.0, 2.0], [-0.0703160187, -0.3384233392]),
    ("digamma", special.digamma, 2, [INF], [0]),
    ("poch", lambda z: special.poch(z, 2.0), 0, [-3.0, -1.0, -2.5, 0.0, -40.0], [6, 0, 3.75, 0, 1560]),  # as SciPy
    *[("poch", lambda m, z=z: special.poch(z, m), 0, [0.25, -0.5, -2.0, 1.0, 0.0], w) for z, w in ((-1.0, [0, 0, 1 / 6, -1, 1]), (0.0, [0, 0, 0.5, 0, 1]))],
    ("poch", lambda z: special.poch(z, 2.0), 1, [-3.0, -40.0, 1.5, 0.0, -1.0, 1e-30, -1e-3], [-5, -79, 4, 1, -1, 1, 0.998]),
    ("poch", lambda z: special.poch(z, 2.0), 2, [0.0, -1.0, 1e-30, -1.01, 1.5], [2, 2, 2, 2, 2]),
    ("poch", lambda z: special.poch(z, 2.5), 1, [0.0, -1.0], [1.32934038818, -0.886226925453]),
    ("zeta", special.zeta, 2, [0.0, 2.0], [-2.00635645591, 1.98928023430]),
    ("logit", special.logit, 2, [0.0, 1.0, 0.25], [-INF, INF, -14.2222222]),
    *[(name, f, 2, [start, start + 4], [0, 0]) for name, f, start in (
        ("boxcox", lambda x: special.boxcox(x, 1.0), 0.0), ("boxcox1p", lambda x: special.boxcox1p(x, 1.0), -1.0))],
    ("boxcox", lambda x: special.boxcox(x, 2.0), 2, [0.0, 3.0], [1, 1]), ("boxcox", lambda m: special.boxcox(0.0, m), 2, [1.0, 0.5], [-2, -16]),
    ("hyp1f1", lambda a: special.hyp1f1(a, 2.0, 0.0), 0, [-INF, INF, -3.0, NAN], [1, 1, 1, NAN]),
    ("cauchy.logpdf", stats.cauchy.logpdf, 0, [1e19, 2e19, -1e30, INF, 0.5], [-88.64296342, -90.02925778, -139.29983547, -INF, -1.3678734372]),
    ("cauchy.logpdf", stats.cauchy.logpdf, 1, [2e19, -1e30, INF, 0.5, NAN], [-1e-19, 2e-30, 0, -0.8, NAN]),
    # beyond what the plain function can hold
    *[("gamma.logsf", lambda x, a=a: stats.gamma.logsf(x, a), k, [100.0, 1e30, INF], w) for a, k, w in (
        (0.5, 0, [-102.879889025, -1e30, -INF]), (0.5, 1, [-1.004951206, -1, -1]), (20.0, 0, [-51.633737545, -1e30, -INF]))],
    ("gamma.logsf", lambda a: stats.gamma.logsf(100.0, a), 1, [0.5, 20.0], [6.5785343, 1.646777]),
    *[("gamma.logcdf", lambda x: stats.gamma.logcdf(x, 200.0), k, [10.0, 1e-20, 0.0], w) for k, w in (
        (0, [-412.66395, -10073.57236, -INF]), (1, [19.00523275, 2e22, INF]))],
    ("chi2.logsf", lambda x: stats.chi2.logsf(x, 3.0), 0, [800.0, INF], [-396.882237824, -INF]),
    ("chi2.logcdf", lambda x: stats.chi2.logcdf(x, 300.0), 0, [1.0], [-709.488866]),
    *[("beta.logcdf", lambda x: stats.beta.logcdf(x, 200.0, 3.0), k, [0.1, 1e-20, 0.0, 1.0], w) for k, w in (
        (0, [-450.8082086, -9200.421947, -INF, 0]), (1, [1997.790062, 2e22, INF, 0]))],
    ("beta.logsf", lambda x: stats.beta.logsf(x, 0.5, 1.0), 1, [0.5, 1.0], [-2.414213562, -INF]),
    ("beta.logcdf", lambda x: stats.beta.logcdf(x, 1.0, 0.5), 0, [1e-30, 0.5], [-69.770700, -1.2279472]),
    ("beta.logcdf", lambda x: stats.beta.logcdf(x, 1.0, 0.5), 1, [1e-30, 0.4], [1e30, 2.8637437]),
    ("beta.logsf", lambda x: stats.beta.logsf(x, 2.0, 3.0), 0, [1e-6, 1e-3], [-5.999992e-12, -5.9920215e-06]),
    ("beta.logcdf", lambda x: stats.beta.logcdf(x, 3.0, 5.0), 0, [0.984375, 0.9375], [-1.9051868e-08, -1.7997039e-05]),
    ("beta.logsf", lambda x: stats.beta.logsf(x, 2.0, 200.0), 0, [0.75, 1.0], [-272.2415924, -INF]),
    ("cauchy.logsf", stats.cauchy.logsf, 0, [1e30, 3e38, INF, 0.5, 2e9], [-70.222282676, -89.7415757, -INF, -1.0429418981, -22.5611429]),
    ("cauchy.logcdf", stats.cauchy.logcdf, 1, [-1e30, -INF, -2.0, NAN], [1e-30, 0, 0.43136208647, NAN]),
    ("cauchy.logcdf", stats.cauchy.logcdf, 0, [1e5, 1e10, 2.0, INF], [-3.1831039278e-6, -3.18309886189e-11, -0.159680159856, 0]),
    ("cauchy.logcdf", stats.cauchy.logcdf, 1, [0.0, 1e5], [0.636619772368, 3.18309886e-11]),
    ("gumbel_l.logpdf", stats.gumbel_l.logpdf, 0, [3e38, 1e38, 300.0, -1e38], [-INF, -INF, -INF, -1e38]),  # together, where XLA overflows late
    ("truncnorm.pdf", lambda x: stats.truncnorm.pdf(x, -2.0 ** -14, 2.0 ** -14), 0, [0.0], [8192.000005]),
    ("truncnorm.pdf", lambda x: stats.truncnorm.pdf(x, 5.0, 5.0 + 2.0 ** -10), 0, [5.0 + 2.0 ** -12], [1025.24987696]),
    ("truncnorm.logpdf", lambda b: stats.truncnorm.logpdf(0.0, -2.0 ** -10, b), 1, [2.0 ** -10], [-511.99983724]),
    ("truncnorm.logpdf", lambda b: stats.truncnorm.logpdf(5.0, 5.0, b), 1, [5.0 + 2.0 ** -10, NAN], [-1021.50170958, NAN]),
    ("truncnorm.cdf", lambda x: stats.truncnorm.cdf(x, 0.0, 1000.0), 0, [2.0 ** -17, 1e-20], [6.0873761047e-6, 7.9788456e-21]),
    ("truncnorm.logcdf", lambda x: stats.truncnorm.logcdf(x, 0.0, 1000.0), 0, [9.0], [-2.25717681191e-19]),
    ("truncnorm.logcdf", lambda x: stats.truncnorm.logcdf(x, 0.0, 1000.0), 1, [9.0], [2.05595471433e-18]),
    ("beta.sf", lambda x: stats.beta.sf(x, 2.0 ** -10, 2.0), 0, [1e-10, 1e-5], [0.0212804042973, 0.0102144891734]),
    ("beta.sf", lambda x: stats.beta.sf(x, 1.5, 1e5), 0, [1e-5], [0.572403591154]),
    ("binom.logpmf", lambda p: stats.binom.logpmf(0.0, 10.0, p), 0, [0.0], [0]), ("nbinom.logpmf", lambda p: stats.nbinom.logpmf(0.0, 2.0, p), 0, [1.0], [0]),
    ("binom.logpmf", lambda p: stats.binom.logpmf(10.0, 10.0, p), 0, [1.0, 0.0], [0, -INF]),
    ("gumbel_l.logcdf", stats.gumbel_l.logcdf, 0, [-100.0, -1e30, -INF, 0.0, 3.0], [-100, -1e30, -INF, -0.458675145, -1.892178697e-9]),
    ("gumbel_l.logcdf", stats.gumbel_l.logcdf, 1, [-100.0, -INF, 0.0], [1, 1, 0.581976707]),
    ("gumbel_l.logpdf", stats.gumbel_l.logpdf, 1, [INF, 300.0, -INF, 0.0, NAN], [-INF, -INF, 1, 0, NAN]),
    ("gumbel_r.logpdf", stats.gumbel_r.logpdf, 1, [-INF, -300.0, INF, 0.0, NAN], [INF, INF, -1, 0, NAN]),
    ("poisson.pmf", lambda mu: stats.poisson.pmf(7.0, mu), 1, [1.2e-38, 0.0, 0.5], [0, 0, 1.222237503e-5]),
    *[(f"gumbel_l.{what}", getattr(stats.gumbel_l, what), 1, [100.0, INF], [0, 0]) for what in ("pdf", "cdf", "sf", "logcdf")],
    *[(f"gumbel_r.{what}", getattr(stats.gumbel_r, what), 1, [-100.0, -INF], [0, 0]) for what in ("pdf", "cdf", "sf")],
    ("gumbel_r.logsf", stats.gumbel_r.logsf, 0, [100.0, 20.0, 21.0, 0.0, INF], [-100, -20.0000000010306, -21.0000000003791, -0.458675145387082, -INF]),
    ("gumbel_r.logsf", stats.gumbel_r.logsf, 1, [100.0, 20.0, 0.0], [-1, -1, -0.581976706869326]),
    *[(f"gennorm.{what}", lambda x, f=f: f(x, 50.0), 1, [30.0, -30.0, 0.0], [0, 0, w]) for what, f, w in (
        ("pdf", stats.gennorm.pdf, 0), ("cdf", stats.gennorm.cdf, 0.50564129))],
]


@pytest.mark.parametrize("name, fun, order, points, want", POINTS, ids=[f"{p[0]}-{p[2]}" for p in POINTS])
def test_point(name, fun, order, points, want):
    for _ in range(order):
        fun = grad(fun)
    got = jit(vmap(fun))(np.array(points, np.float32))
    np.testing.assert_allclose(got, np.array(want).astype(np.float32), rtol=1e-4, atol=1e-6 if order == 2 else 1e-36)


@pytest.mark.parametrize("fun, point, beside, want", [
    (special.xlogy, 1e10, 1e-30, -69.07755279), (special.xlog1py, 3e38, -0.5, -0.69314718), (special.beta, 0.0, 0.5, -INF),
    (special.rel_entr, 1.0, 2e-38, 87.80508), (lambda x, n: special.expn(jnp.round(n), x), 1.0, 2.0, -0.219383934)])
def test_slope_beside_an_infinite_one(fun, point, beside, want):
    """A tangent has no part of an argument that is held, whatever the slope by it."""
    got = jvp(lambda x: fun(x, np.float32(beside)), [np.float32(point)], [np.float32(1)])[1]
    np.testing.assert_allclose(got, np.float32(want), rtol=1e-5)
    assert jvp(lambda y: special.expn(y, 1.0), [np.float32(2)], [np.float32(1)])[1] == 0


LOGPDFS = {"norm": (), "cauchy": (), "expon": (), "gamma": (2.0,), "beta": (2.0, 3.0), "t": (3.0,), "laplace": (), "logistic": (),
           "pareto": (1.5,), "uniform": (), "vonmises": (2.0,), "wrapcauchy": (0.4,), "gennorm": (1.5,), "gumbel_l": (), "gumbel_r": (),
           "truncnorm": (-1.0, 1.0), "chi2": (3.0,)}


@pytest.mark.parametrize("name", LOGPDFS)
def test_log_density_at_nan(name):
    """Value, tangent and gradient are NaN where the point or a parameter is."""
    fun, inside = getattr(stats, name).logpdf, 1.5 if name == "pareto" else 0.5

    def program(args):
        return [jvp(fun, args, tuple(jnp.ones_like(a) for a in args)), grad(fun, tuple(range(len(args))))(*args)]
    args = np.array((inside, *LOGPDFS[name]), np.float32)
    for place in range(len(args)):
        spoilt = [np.float32(NAN) if i == place else a for i, a in enumerate(args)]
        (value, tangent), gradient = jit(program)(tuple(spoilt))
        assert np.isnan(value) and np.isnan(tangent) and np.isnan(gradient[place]), f"argument {place}"


def test_densities_of_vectors_at_nan():
    assert np.isnan(stats.dirichlet.logpdf(np.float32([NAN, 0.5]), np.float32([1, 2])))
    assert np.isnan(stats.multinomial.logpmf(np.int32([1, 1]), 2, np.float32([NAN, 0.5])))


@pytest.mark.parametrize("x64", [False, True])
def test_beta_between_poles_whose_quotient_is_finite(x64):
    """Its value and the derivative in the argument at the pole; in the other one, which is whole there, it has none."""
    with flags.enable_x64(x64):
        n, k = np.array([(n, k) for n in range(1, 15) for k in range(1, n + 1)], np.float64 if x64 else np.float32).T
        want = np.array([(-1) ** int(k) * math.factorial(int(n - k)) * math.factorial(int(k) - 1) / math.factorial(int(n)) for n, k in zip(n, k)])
        slope = np.array([sum(1 / (n - i) for i in range(int(k))) for n, k in zip(n, k)])
        close = functools.partial(np.testing.assert_allclose, rtol=1e-12 if x64 else 2e-5)
        for first in (True, False):
            swap = (lambda f: f) if first else (lambda f: lambda a, b: f(b, a))
            for fun, value, tangent in ((special.beta, want, want * slope), (special.betaln, np.log(abs(want)), slope)):
                close(swap(fun)(-n, k), value, atol=1e-14 if x64 else 1e-6)
                close(jit(vmap(grad(swap(fun))))(-n, k), tangent)
                close(jvp(lambda a, fun=fun, swap=swap: swap(fun)(a, k), (-n,), (jnp.ones_like(n),))[1], tangent)
                assert np.isnan(jit(vmap(grad(swap(fun), 1)))(-n, k)).all()


def test_float16_digamma_at_minus_zero():
    assert special.digamma(np.float16(-0.0)) == INF


@pytest.mark.parametrize("fun, points, want", [
    (stats.cauchy.logpdf, [300.0, 6e4, INF], [-12.55, -23.15, -INF]), (stats.cauchy.logsf, [300.0, INF], [-6.85, -INF]),
    (grad(stats.cauchy.logpdf), [300.0, INF], [-0.00667, 0]), (grad(stats.gumbel_l.cdf), [40.0, 300.0], [0, 0]),
    (grad(stats.gumbel_l.pdf), [40.0, INF], [0, 0]), (grad(stats.gumbel_r.logsf), [-40.0, 1.0], [0, -0.8266]),
    (grad(grad(lambda z: special.poch(z, 2.0))), [-1.9, -1.7, 0.5], [2, 2, 2])])
def test_points_of_float16(fun, points, want):
    np.testing.assert_allclose(jit(vmap(fun))(np.array(points, np.float16)), np.array(want, np.float16), rtol=4e-3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("x64", [False, True])
def test_logmeanexp_keeps_its_dtype(dtype, x64):
    with flags.enable_x64(x64):
        assert nn.logmeanexp(jnp.ones(3, dtype)).dtype == dtype


@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
def test_ranks_are_floats(method):
    assert stats.rankdata(jnp.arange(3), method).dtype == np.float32


def test_counts_under_strict_promotion():
    with flags.numpy_dtype_promotion("strict"):
        got = stats.multinomial.logpmf(jnp.array([1, 2]), 3, jnp.array([0.5, 0.5]))
    np.testing.assert_allclose(got, np.log(3 / 8), rtol=1e-5)


def test_no_false_alarms_of_debug_nans():
    with flags.debug_nans(True):
        assert np.isfinite(stats.wrapcauchy.logpdf(jnp.float32(0.5), 0.4))
        assert stats.binom.pmf(jnp.array([1, 9]), 7, 0.3)[1] == 0


HYP2F1 = [  # arguments, mpmath's value
    ((1.0, 2.0, 3.5, 0.9), 2.626401937042425), ((0.5, 1.5, 2.5, -2.0), 0.69116536356909264), ((1.0, 1.0, 2.0, 0.5), 1.3862943611198906),
    ((2.0, 0.5, 3.0, 0.95), 1.9802178343675891), ((1.0, 1.0, 2.0, 0.99999), 11.51304059538073), ((0.5, 0.5, 1.0, 0.999999), 5.280157154762713), ((0.3, 0.5, 1.2, 0.4), 1.061826254903466),
]


@pytest.mark.parametrize("args, want", HYP2F1, ids=str)
def test_hyp2f1_has_the_digits_of_float64(args, want):
    with flags.enable_x64(True):
        np.testing.assert_allclose(special.hyp2f1(*args), want, rtol=2e-13)


@pytest.mark.parametrize("z", [0.5j, -1.5j, 2.5j, 1 + 1j, -2.0 + 0.5j])
def test_distributions_of_complex_numbers(z):
    z = np.complex64(z)
    np.testing.assert_allclose(stats.logistic.pdf(z), np.exp(-z) / (1 + np.exp(-z)) ** 2, rtol=1e-5)
    np.testing.assert_allclose(stats.cauchy.cdf(z), 0.5 + np.arctan(z) / np.pi, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(stats.logistic.isf(z), np.log(1 - z) - np.log(z), rtol=1e-5)
    np.testing.assert_allclose(stats.cauchy.cdf(z) + stats.cauchy.sf(z), 1, rtol=1e-5, atol=1e-6)
