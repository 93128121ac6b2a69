"""jax.scipy.special: special functions, elementwise. `_MODULES` says in which module each one is.

``_series`` sums the series by which some are computed.
"""
from typing import TYPE_CHECKING

from ..._lazy import names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "exponentials": """boxcox boxcox1p entr expit kl_div log_softmax logit rel_entr softmax xlog1py xlogy""",
    "gammas": """beta betainc betaln comb digamma factorial gamma gammainc gammaincc gammaln gammasgn loggamma
        multigammaln poch""",
    "zetas": "bernoulli polygamma zeta",
    "errors": "dawsn erf erfc erfcinv erfcx erfinv fresnel log_ndtr ndtr ndtri owens_t wofz",
    "integrals": "exp1 expi expn sici spence",
    "bessel": "bessel_jn i0 i0e i1 i1e",
    "hypergeometric": "hyp1f1 hyp2f1",
    "legendre": "lpmn lpmn_values sph_harm_y",
    "..nn.exponential_sums": "logsumexp",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _MODULES)
