"""Activation functions. Each is elementwise, keeps shape and (inexact) dtype, and has a right gradient everywhere.
Those of constants and a product (`elu`, `leaky_relu`, `relu6`, ...) make weak floats of integers, as such a product does.

Where the plain formula has a bad derivative at some point, the derivative is given: relu has slope 0 at 0.
"""
from __future__ import annotations

import functools
import math

import numpy as np

from jax_core.programs.jit import inlined, jit
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import jvp
from jax_core.transformations.custom_jvp import SymbolicZero, custom_jvp

from .. import lax, numpy as jnp
from ..lax.nary import constant
from ..numpy.promotion import canonical_axis, check_arraylike, in_float32, promote_args_inexact

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def identity(x: ArrayLike) -> Array:
    """``x`` as an array.

    >>> jax.nn.identity(3.)
    Array(3., dtype=float32, weak_type=True)
    """
    return _array("identity", x)


@custom_jvp
@inlined
def relu(x: ArrayLike) -> Array:
    """``max(x, 0)``; its slope at 0 is 0. Source: Nair, Hinton, ICML 2010.

    >>> jax.nn.relu(jnp.array([-1., 2.]))
    Array([0., 2.], dtype=float32)
    """
    check_arraylike("relu", x)
    return jnp.maximum(x, 0)


@relu.defjvp
def _relu_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return relu(x), jnp.where(x > 0, t, 0)


@custom_jvp
@inlined
def relu6(x: ArrayLike) -> Array:
    """``min(max(x, 0), 6.0)``; its slope at 0 and 6 is 0.

    Source: Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    >>> jax.nn.relu6(jnp.array([-1., 2., 9.]))
    Array([0., 2., 6.], dtype=float32)
    """
    check_arraylike("relu6", x)
    return jnp.minimum(jnp.maximum(x, 0), 6.0)


@relu6.defjvp
def _relu6_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return relu6(x), jnp.where((x > 0) & (x < 6), t, 0)


@inlined
def softplus(x: ArrayLike) -> Array:
    """``log(1 + exp(x))``, without overflow. Source: Dugas et al., NIPS 2000.

    >>> jax.nn.softplus(0.)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return jnp.logaddexp(x, 0)


@inlined
def sparse_plus(x: ArrayLike) -> Array:
    """0 below -1, ``x`` above 1, and ``(x + 1)**2 / 4`` between. Source: the integral of `sparse_sigmoid`.

    >>> jax.nn.sparse_plus(jnp.array([-2., 0., 2.]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    x = _array("sparse_plus", x)
    above, below = x >= 1.0, x <= -1.0
    between = (jnp.where(above | below, 0.0, x) + 1.0) ** 2 / 4  # elsewhere a square might overflow
    return jnp.where(above, x, jnp.where(below, 0.0, between))


@inlined
def soft_sign(x: ArrayLike) -> Array:
    """``x / (1 + |x|)``. Source: Turian, Bergstra, Bengio, NAACL 2009.

    >>> jax.nn.soft_sign(jnp.array([-1., 3.]))
    Array([-0.5 ,  0.75], dtype=float32)
    """
    check_arraylike("soft_sign", x)
    return jnp.divide(x, 1 + jnp.abs(x))


@inlined
def sigmoid(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`.

    >>> jax.nn.sigmoid(jnp.array([0., 100.]))
    Array([0.5, 1. ], dtype=float32)
    """
    check_arraylike("sigmoid", x)
    return lax.logistic(x)


@inlined
def sparse_sigmoid(x: ArrayLike) -> Array:
    """``min(max((x + 1) / 2, 0), 1)``, the derivative of `sparse_plus`.

    Source: sparsemax of two classes: Martins, Astudillo, ICML 2016.

    >>> jax.nn.sparse_sigmoid(jnp.array([-2., 0., 2.]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * jnp.clip(x + 1.0, 0.0, 2.0)


def _gated(x, gate):
    """``x * gate(x)`` of a function that goes from 0 to 1 about as fast as `sigmoid` or faster; at -inf this is 0."""
    return x * gate(x) if jnp.iscomplexobj(x) else _real_gated(x, gate)


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def _real_gated(x, gate):
    return gate(x) * jnp.maximum(x, constant(-_far(x), x))


@_real_gated.defjvp
def _real_gated_jvp(gate, primals, tangents):
    value, slope = _value_and_slope(gate)(*primals)
    return value, tangents[0] * slope


@functools.cache
def _value_and_slope(gate):
    """Of `_real_gated`, where the product rule would say infinity times 0; one compiled call, also in an eager derivative."""
    def value_and_slope(x):
        far = constant(_far(x), x)
        near = _clamped(x, far)
        weight, steepness = jvp(gate, (near,), (jnp.ones_like(near),))
        return jnp.maximum(x, -far) * weight, weight + near * steepness
    return jit(value_and_slope, inline=True)


@functools.partial(custom_jvp, nondiff_argnums=(1,))
def _clamped(x, far):
    return lax.clamp(-far, x, far)  # one operation: XLA's CPU compiler writes it twice rather than making it a kernel


@_clamped.defjvp
def _clamped_jvp(far, primals, tangents):
    """As that of `clamp`, but what comes from NaN is not 0."""
    (x,), (t,) = primals, tangents
    return _clamped(x, far), jnp.where(lax.abs(x) >= far, 0, t)


def _far(x: Array) -> float:
    """Where ``exp(-x)`` is 0 in this dtype."""
    return 1.0 - math.log(float(dtypes.finfo(x.dtype).smallest_subnormal))


@inlined
def silu(x: ArrayLike) -> Array:
    """``x * sigmoid(x)``, also called swish.

    Source: Elfwing, Uchibe, Doya, Neural Networks 107 (2018); Hendrycks, Gimpel, 2016.

    >>> jax.nn.silu(jnp.array([0., 1.]))
    Array([0.       , 0.7310586], dtype=float32)
    """
    return _gated(_array("silu", x), lax.logistic)


swish = silu


@inlined
def mish(x: ArrayLike) -> Array:
    """``x * tanh(softplus(x))``. Source: Misra, BMVC 2020.

    >>> jax.nn.mish(1.)
    Array(0.8650985, dtype=float32, weak_type=True)
    """
    x = _array("mish", x)
    x = x * 1.0 if x.dtype == bool else _inexact("mish", x)[0]  # a truth value is as weak beside a number as it is in `softplus`
    return _gated(jnp.asarray(x), _mish_gate)


def _mish_gate(x):
    return jnp.tanh(softplus(x))


@inlined
def log_sigmoid(x: ArrayLike) -> Array:
    """``log(sigmoid(x)) = -softplus(-x)``. Source: `softplus`, Dugas et al., NIPS 2000.

    >>> jax.nn.log_sigmoid(0.)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    (x,) = _inexact("log_sigmoid", x)
    return -softplus(-x)


@inlined
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere. Source: Clevert, Unterthiner, Hochreiter, ICLR 2016.

    >>> jax.nn.elu(jnp.array([-1., 2.]))
    Array([-0.63212055,  2.        ], dtype=float32)
    """
    x = _array("elu", x)
    return jnp.where(x > 0, x, alpha * jnp.expm1(jnp.where(x > 0, 0.0, x)))


@inlined
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """``x`` where not negative, ``negative_slope * x`` elsewhere. Source: Maas, Hannun, Ng, ICML 2013.

    >>> jax.nn.leaky_relu(jnp.array([-100., 2.]))
    Array([-1.,  2.], dtype=float32)
    """
    x = _array("leaky_relu", x)
    return jnp.where(x >= 0, x, negative_slope * x)


@inlined
def hard_tanh(x: ArrayLike) -> Array:
    """``min(max(x, -1), 1)``. Source: Collobert, 2004.

    >>> jax.nn.hard_tanh(jnp.array([-4., 0.5, 4.]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = _array("hard_tanh", x)
    return jnp.where(x > 1, 1, jnp.where(x < -1, -1, x))


@inlined
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere.

    Source: Barron, "Continuously differentiable exponential linear units", 2017.

    >>> jax.nn.celu(jnp.array([-1., 2.]))
    Array([-0.63212055,  2.        ], dtype=float32)
    """
    lowest = jnp.equal(x, -jnp.inf)  # where the slope by alpha would be 0 times infinity
    exponent = jnp.minimum(jnp.where(lowest, 0.0, x), 0.0) / alpha
    return jnp.maximum(x, 0.0) + jnp.where(lowest, jnp.negative(alpha), alpha * jnp.expm1(exponent))


@inlined
def selu(x: ArrayLike) -> Array:
    """`elu` with the constants that keep mean and variance. Source: Klambauer et al., NeurIPS 2017.

    >>> jax.nn.selu(jnp.array([-1., 2.]))
    Array([-1.1113307,  2.101402 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@inlined(static_argnames=("approximate",))
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """``x * Phi(x)`` with the normal distribution function Phi.

    Args:
      approximate: use ``0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3)))``. Source: Hendrycks, Gimpel, 2016.

    >>> jax.nn.gelu(jnp.array([-1., 0., 1.]))
    Array([-0.15880796,  0.        ,  0.841192  ], dtype=float32)
    """
    (x,) = _inexact("gelu", _array("gelu", x))
    gate = _gelu_gate if approximate else _normal_gate
    return in_float32(lambda x: _gated(x, gate), x) if x.dtype == np.float16 else _gated(x, gate)  # others XLA computes so by itself


def _gelu_gate(x):
    first, third = (x.dtype.type(math.sqrt(2 / math.pi) * factor) for factor in (1, 0.044715))
    return 0.5 * (1.0 + jnp.tanh(x * (first + third * (x * x))))


def _normal_gate(x):
    return 0.5 * lax.erfc(-x * np.sqrt(0.5).astype(x.dtype))


@inlined(static_argnames=("axis",))
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """First half of ``x`` along ``axis`` times the `sigmoid` of the second; raises ValueError for an odd length.

    Source: Dauphin, Fan, Auli, Grangier, ICML 2017.

    >>> jax.nn.glu(jnp.array([2., 4., 0., 0.]))
    Array([1., 2.], dtype=float32)
    """
    check_arraylike("glu", x)
    axis = canonical_axis(axis, np.ndim(x), "glu: axis")
    n = np.shape(x)[axis]
    if n % 2:
        raise ValueError(f"glu: axis {axis} of the argument of shape {np.shape(x)} has odd length {n}; it is split in halves")
    a, b = jnp.split(x, 2, axis)
    return a * sigmoid(b)


@inlined
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``. Source: Barron, "Squareplus", 2021.

    >>> jax.nn.squareplus(0.)
    Array(1., dtype=float32, weak_type=True)
    """
    return _squareplus(*map(jnp.asarray, promote_args_inexact("squareplus", x, b)))


@custom_jvp
def _squareplus(x, b):
    size = jnp.where(x < 0, -x, x)
    far = size > _squareplus_far(x)
    near = jnp.where(far, 0, size)
    large = jnp.where(far, size, (near + jnp.sqrt(near * near + b)) / 2)
    below = x < 0
    return jnp.where(below, b / (4 * jnp.where(below, large, 1)), large)  # of -x, whose product with that of x is b / 4, nothing is subtracted


def _squareplus_far(x):
    """The square of what is larger would overflow."""
    return float(dtypes.finfo(x.dtype).max) ** 0.5 / 2


@functools.partial(_squareplus.defjvp, symbolic_zeros=True)
def _squareplus_jvp(primals, tangents):
    """The slope is the value over the root, as one quotient, of halves in float32; autodiff would make four, and three passes over memory."""
    (x, b), (x_tangent, b_tangent) = primals, tangents
    value = _squareplus(x, b)
    x, b = (lax.convert_element_type(v, dtypes.common_dtype(v.dtype, np.dtype(np.float32))) for v in (x, b))
    far = x.dtype.type(_squareplus_far(x))
    near = x if dtypes.issubdtype(x.dtype, np.complexfloating) else lax.clamp(-far, x, far)
    root = jnp.sqrt(near * near + b)
    slope = jnp.where(x < 0, b, (near + root) / 2) / jnp.where(x < 0, 2 * (root - x) * root, root)
    wide = lambda tangent: lax.convert_element_type(tangent, slope.dtype)
    parts = [] if type(x_tangent) is SymbolicZero else [wide(x_tangent) * slope]
    if type(b_tangent) is not SymbolicZero and b_tangent.dtype != dtypes.float0:
        parts.append(wide(b_tangent) / (4 * root))
    return value, sum(parts[1:], parts[0]).astype(value.dtype)


@inlined
def hard_sigmoid(x: ArrayLike) -> Array:
    """``relu6(x + 3) / 6``. Source: Howard et al., ICCV 2019.

    >>> jax.nn.hard_sigmoid(jnp.array([-4., 0., 4.]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(x + 3.0) / 6.0


@inlined
def hard_silu(x: ArrayLike) -> Array:
    """``x * hard_sigmoid(x)``; its slope at -3 is 0, and 1 at 3. Source: Howard et al., ICCV 2019.

    >>> jax.nn.hard_silu(jnp.array([-4., 1.5, 4.]))
    Array([-0.   ,  1.125,  4.   ], dtype=float32)
    """
    return _hard_silu(x)


@custom_jvp
def _hard_silu(x):
    return x * hard_sigmoid(x)


@_hard_silu.defjvp
def _hard_silu_jvp(primals, tangents):
    """Written out, as the product rule says infinity times 0 at infinity."""
    (x,), (t,) = primals, tangents
    return _hard_silu(x), t * jnp.where(x >= 3, 1, jnp.where(x <= -3, 0, x / 3 + 0.5))


hard_swish = hard_silu


@inlined
def log1mexp(x: ArrayLike) -> Array:
    """``log(1 - exp(-x))`` for positive ``x``, accurate at both ends. Source: Maechler, "Rmpfr" vignette, 2012.

    >>> jax.nn.log1mexp(1.)
    Array(-0.45867515, dtype=float32, weak_type=True)
    """
    return _log1mexp(*_inexact("log1mexp", x))


@custom_jvp
def _log1mexp(x):
    small = x < math.log(2.0)
    return jnp.where(small, jnp.log(-jnp.expm1(-x)), jnp.log1p(-jnp.exp(-x)))


@_log1mexp.defjvp
def _log1mexp_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return _log1mexp(x), t * (jnp.exp(-x) / -jnp.expm1(-x))  # 1 / (exp(x) - 1), whose own slope overflows


def tanh(x: ArrayLike, /) -> Array:
    """Hyperbolic tangent; `jax.numpy.tanh`.

    >>> jax.nn.tanh(0.5)
    Array(0.46211717, dtype=float32, weak_type=True)
    """
    return jnp.tanh(x)


def _inexact(name: str, x: ArrayLike) -> list[Array]:
    return promote_args_inexact(name, x)


def _array(name: str, x: ArrayLike) -> Array:
    check_arraylike(name, x)
    return jnp.asarray(x)
