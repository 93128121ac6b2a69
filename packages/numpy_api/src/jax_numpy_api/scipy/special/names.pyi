"""The names of `jax_numpy_api.scipy.special`. Written by packages/jax/tools/make_stubs.py."""
from .exponentials import (
    boxcox as boxcox,
    boxcox1p as boxcox1p,
    entr as entr,
    expit as expit,
    kl_div as kl_div,
    log_softmax as log_softmax,
    logit as logit,
    rel_entr as rel_entr,
    softmax as softmax,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from .gammas import (
    beta as beta,
    betainc as betainc,
    betaln as betaln,
    comb as comb,
    digamma as digamma,
    factorial as factorial,
    gamma as gamma,
    gammainc as gammainc,
    gammaincc as gammaincc,
    gammaln as gammaln,
    gammasgn as gammasgn,
    loggamma as loggamma,
    multigammaln as multigammaln,
    poch as poch,
)
from .zetas import (
    bernoulli as bernoulli,
    polygamma as polygamma,
    zeta as zeta,
)
from .errors import (
    dawsn as dawsn,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfcx as erfcx,
    erfinv as erfinv,
    fresnel as fresnel,
    log_ndtr as log_ndtr,
    ndtr as ndtr,
    ndtri as ndtri,
    owens_t as owens_t,
    wofz as wofz,
)
from .integrals import (
    exp1 as exp1,
    expi as expi,
    expn as expn,
    sici as sici,
    spence as spence,
)
from .bessel import (
    bessel_jn as bessel_jn,
    i0 as i0,
    i0e as i0e,
    i1 as i1,
    i1e as i1e,
)
from .hypergeometric import (
    hyp1f1 as hyp1f1,
    hyp2f1 as hyp2f1,
)
from .legendre import (
    lpmn as lpmn,
    lpmn_values as lpmn_values,
    sph_harm_y as sph_harm_y,
)
from ...nn.exponential_sums import (
    logsumexp as logsumexp,
)
