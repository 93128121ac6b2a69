"""jax.scipy.stats.cauchy: the Cauchy distribution. Both tails are angles of ``(z, 1)``, which keeps their digits."""
import math

from jax_core.representation import dtypes

from ... import numpy as jnp
from ..special._series import differentiable
from .family import Continuous


def _sine(q):
    return jnp.sin(math.pi * jnp.where(jnp.real(q) > 0.5, 1 - q, jnp.where(q == 0, 0, q)))  # 0, and not -0, at both ends


@differentiable
def _cotangent(q):
    return jnp.sin(math.pi * (0.5 - q)) / _sine(q)  # a cosine, and 0 in the middle


@_cotangent.defjvp
def _cotangent_jvp(primals, tangents):
    (q,), (dq,) = primals, tangents
    return _cotangent(q), dq * (-math.pi / jnp.square(_sine(q)))


def _upper(z):
    return (0.5 - jnp.arctan(z) / math.pi) if jnp.iscomplexobj(z) else jnp.arctan2(1.0, z) / math.pi


def _far(z):
    """From here on 1 is nothing beside the square."""
    return 2 / math.sqrt(float(dtypes.finfo(z.dtype).eps))


def _log_square(z):
    """``log(1 + z**2)``, where the square overflows too."""
    if jnp.iscomplexobj(z):
        return jnp.log1p(z * z)
    far = jnp.abs(z) > _far(z)
    near, beyond = jnp.where(far, 0.0, z), jnp.where(far, jnp.abs(z), 1.0)
    return jnp.where(far, 2 * jnp.log(beyond), jnp.log1p(near * near))


def _log_upper(z):
    """Logarithm of `_upper`, which far out is ``1 / (pi z)``, and near 1 what the other tail lacks."""
    if jnp.iscomplexobj(z):
        return jnp.log(_upper(z))
    far = z > _far(z)
    tail = _upper(jnp.where(far, 1.0, jnp.where(z < 0, -z, z)))
    return jnp.where(far, -jnp.log(jnp.where(far, z, 1.0)) - math.log(math.pi), jnp.where(z < 0, jnp.log1p(-tail), jnp.log(tail)))


pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf = Continuous(
    "Cauchy", analytic="pdf logpdf cdf logcdf sf logsf ppf isf",
    logpdf=lambda z: -math.log(math.pi) - _log_square(z),
    cdf=lambda z: _upper(-z), sf=_upper, logcdf=lambda z: _log_upper(-z), logsf=_log_upper,
    ppf=lambda q: -_cotangent(q), isf=_cotangent,
).functions("pdf logpdf cdf logcdf sf logsf ppf isf")
