"""The gamma distribution, its gradient, and the distributions made from gamma variates.

A variate is drawn by rejection from its own chain of keys, one for each element, so its value depends on neither the
shape of the array nor its neighbours. Most elements are accepted at the first trial: of a large array it is made for all at
once, and the loop over further trials runs on the few that are left, gathered together.

The derivative by the shape parameter is that of the quantile function at the drawn value (implicit
reparameterisation), ``dx/da = -(dF/da) / f(x)``; see `log_gamma_slope`.

Sources: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000), with Stuart's boost
``x * u**(1/a)`` for shapes below 1; Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients", 2018.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.traits import Inner, Keys, Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement, Shape
from jax_core.traces import structural
from jax_numpy_api import lax, numpy as jnp

from .checks import batch_shape, check_array, check_call, check_dtype, check_shape, key_words, run, sampler
from .continuous import draw_exponential, draw_signs
from .discrete import check_method
from .impls import PRNGImpl, is_partitionable, threefry_prng_impl
from .normals import draw_normal
from .primitives import random_split_p
from .uniforms import broadcast_to, convert, draw_unit, split_words

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

_GATHERED = 8  # of n elements, n / 8 are gathered for further trials
_FEW = 1 << 14  # arrays up to this size are not worth gathering: the program would take twice as long to compile
_FEW_AT_ONCE = 1 << 22  # on accelerators, where gathering compiles longer (`benchmarks/accelerators.py`)


# -- drawing -----------------------------------------------------------------------------------------------------------

def _trial(keys, impl, c):
    """One trial up to a normal number that may have to be drawn again: keys for the next trial, ``x``, ``1 + c x``, u."""
    following, for_x, for_u = split_words(keys, impl, 3)
    for_x, used = split_words(for_x, impl)
    x = draw_normal(used, impl, (), c.dtype)
    return following, for_x, for_u, x, lax.add(c.dtype.type(1), lax.mul(x, c))


def _is_rejected(d, squared, v, u):
    """Marsaglia and Tsang's test, the quick one first; ``squared`` is x**2."""
    f = d.dtype.type
    slow = lax.ge(u, lax.sub(f(1), lax.mul(f(0.0331), lax.mul(squared, squared))))
    bound = lax.add(lax.mul(squared, f(0.5)), lax.mul(d, lax.add(lax.sub(f(1), v), lax.log(v))))
    return lax.bitwise_and(slow, lax.ge(lax.log(u), bound))


def _select_rows(rows, x, y):
    """``x`` where ``rows`` holds, else ``y``, for keys ``[n, *key_shape]``."""
    return lax.select(lax.broadcast_in_dim(rows, x.shape, (0,)), x, y)


def _draw_until_accepted(keys, impl, d, c):
    """``v`` of the first accepted trial of each element."""
    f = d.dtype.type

    def positive(for_x):
        """x and 1 + c x, drawn until the second is positive. In one loop with the first draw: a copy of it before the loop would make
        the program longer by a third."""
        def again(carry: PyTree):
            for_x, x, root = carry
            bad = lax.le(root, f(0))
            following, used = split_words(for_x, impl)
            drawn = draw_normal(used, impl, (), d.dtype)
            fresh = lax.add(f(1), lax.mul(drawn, c))
            return _select_rows(bad, following, for_x), lax.select(bad, drawn, x), lax.select(bad, fresh, root)
        return lax.while_loop(lambda carry: jnp.any(lax.le(carry[2], f(0))), again, (for_x, lax.full_like(d, 0), lax.full_like(d, 0)))[1:]

    def step(carry: PyTree):
        keys, v, rejected = carry
        following, for_x, for_u = split_words(keys, impl, 3)
        x, root = positive(for_x)
        fresh = lax.mul(lax.mul(root, root), root)
        still = _is_rejected(d, lax.mul(x, x), fresh, draw_unit(for_u, impl, (), d.dtype))
        return (_select_rows(rejected, following, keys), lax.select(rejected, fresh, v),
                lax.bitwise_and(rejected, still))

    start = (keys, lax.full_like(d, 1), lax.full(d.shape, True))
    return lax.while_loop(lambda carry: jnp.any(carry[2]), step, start)[1]


def _draw_v(keys, impl, d, c, few):
    """``v`` of each element. Of more than ``few``: one trial for all, then the rest of the work for those rejected, gathered in portions."""
    n = d.shape[0]
    if n <= few or flags.one_form.value:
        return _draw_until_accepted(keys, impl, d, c)
    portion = -(-n // _GATHERED)
    _, _, for_u, x, root = _trial(keys, impl, c)
    first = lax.mul(lax.mul(root, root), root)
    again = _is_rejected(d, lax.mul(x, x), first, draw_unit(for_u, impl, (), d.dtype))
    again = lax.bitwise_or(again, lax.le(root, d.dtype.type(0)))

    def step(carry: PyTree):
        v, again = carry
        where = _positions(again, portion)
        valid = lax.lt(where, np.int32(n))
        safe = lax.min(where, np.int32(n - 1))
        take = lambda x: jnp.take(x, safe, 0, mode="clip")
        fresh = _draw_until_accepted(take(keys), impl, take(d), take(c))
        where = lax.select(valid, where, lax.full_like(where, n))
        return v.at[where].set(fresh, mode="drop"), again.at[where].set(False, mode="drop")

    return lax.while_loop(lambda carry: jnp.any(carry[1]), step, (first, again))[0]


def _positions(flags, count):
    """The positions of the first ``count`` true flags; the length of ``flags`` where there are fewer."""
    n = flags.shape[0]
    order = lax.cumsum(lax.convert_element_type(flags, np.int32), 0)
    target = lax.select(flags, lax.sub(order, np.int32(1)), lax.full_like(order, count))
    return lax.full((count,), np.int32(n)).at[target].set(lax.iota(np.int32, n), mode="drop")


def _draw_gamma(words, alpha, *, impl, log_space, partitionable, few):
    """Gamma variates for one key (or a batch of them) and shapes ``alpha[*batch, *shape]``."""
    shape = alpha.shape
    batch = words.shape[:len(words.shape) - len(impl.key_shape)]
    size = math.prod(shape[len(batch):])
    keys = random_split_p.bind(words, impl=impl, shape=(size,), partitionable=partitionable)
    keys = lax.reshape(keys, (math.prod(shape), *impl.key_shape))
    alpha = lax.reshape(alpha, (math.prod(shape),))
    if impl is threefry_prng_impl:
        out = _variates(keys, alpha, impl, log_space, few)
    else:  # arrays of keys may draw from their first one, as those of rbg do
        out = lax.map(lambda one: _variates(*one, impl, log_space, few),
                      (lax.expand_dims(keys, (1,)), lax.expand_dims(alpha, (1,))))
    return lax.reshape(out, shape)


def _variates(keys, alpha, impl, log_space, few):
    """One variate for each of the keys ``[n, *key_shape]`` and shapes ``alpha[n]``."""
    dtype = alpha.dtype
    f = dtype.type
    large = lax.ge(alpha, f(1))
    d = lax.sub(lax.select(large, alpha, lax.add(alpha, f(1))), f(1 / 3))
    c = lax.div(f(1 / 3), lax.sqrt(d))
    keys, for_boost = split_words(keys, impl)
    v = _draw_v(keys, impl, d, c, few)
    if log_space:
        boost = lax.mul(lax.neg(draw_exponential(for_boost, impl, (), dtype)), lax.div(f(1), alpha))
        return lax.add(lax.add(lax.log(d), lax.log(v)), lax.select(large, lax.full_like(boost, 0), boost))
    boost = lax.pow(lax.sub(f(1), draw_unit(for_boost, impl, (), dtype)), lax.div(f(1), alpha))
    return lax.mul(lax.mul(d, v), lax.select(large, lax.full_like(boost, 1), boost))


def _gamma_type(words, alpha, *, impl, log_space, partitionable):
    batch = words.shape[:len(words.shape) - len(impl.key_shape)]
    if not dtypes.issubdtype(alpha.dtype, np.floating) or alpha.shape[:len(batch)] != batch:
        raise TypeError(f"random_gamma: shapes must be floats with the axes {batch} of the keys first, got "
                        f"{alpha.str_short()}")
    return ShapedArray(alpha.shape, alpha.dtype)


def _gamma_jvp(primals, tangents, **params):
    words, alpha = primals
    out = random_gamma_p.bind(words, alpha, **params)
    if isinstance(tangents[1], Zero):
        return out, Zero.of(out)
    slope = log_gamma_slope(alpha, out) if params["log_space"] else gamma_slope(alpha, out)
    slope = lax.select(lax.gt(alpha, lax.full_like(alpha, 0)), slope, lax.full_like(slope, np.nan))  # no distribution has such a shape
    return out, lax.mul(tangents[1], slope)


def _gamma_batch(axis, args, dims, **params):
    """Every member of the batch draws what it would draw alone, so a key that is not mapped is repeated."""
    words, alpha = (structural.bdim_at_front(x, d, axis) for x, d in zip(args, dims))
    return random_gamma_p.bind(words, alpha, **params), 0


random_gamma_p = Primitive(
    "random_gamma", out_type=_gamma_type, jvp=_gamma_jvp,
    transpose=none("random_gamma is not linear, so it has no transpose"), batch=_gamma_batch,
    lower=lambda b, words, alpha, **params: b.fun(_draw_gamma, words, alpha, few=_FEW if b.platform == "cpu" else _FEW_AT_ONCE, **params)[0],
    traits=Traits(Kind.KERNEL, inner=Inner.PIECES, keys=Keys.CONSUMED), splits=splits.leading)
"""Gamma variates (their logarithms, with ``log_space``) from raw keys and an array of shapes."""


# -- the derivative by the shape parameter -------------------------------------------------------------------------------

class Precision(NamedTuple):
    """What the slope takes for a dtype: the quadrature's points, where integrals end (beyond ``exp(-decay)`` nothing counts), up to which
    x and how far the series of ``P`` is summed, and the number of terms of ``exp`` for t up to 0.5, and of psi from 10 on."""
    points: int
    decay: float
    near: float
    terms: int
    powers: int
    tail: int


_PRECISIONS = {4: Precision(20, 18.0, 1.0, 14, 10, 3), 8: Precision(32, 37.0, 4.0, 36, 16, 8)}
_PSI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)  # DLMF 5.11.2


def gamma_slope(a: Array, x: Array) -> Any:
    """``dx/da`` at fixed quantile, for variates ``x`` of shape ``a``; 0 where x is 0."""
    f = x.dtype.type
    safe = lax.select(lax.gt(x, f(0)), x, lax.full_like(x, 1))
    return lax.select(lax.gt(x, f(0)), lax.mul(x, log_gamma_slope(a, lax.log(safe))), lax.full_like(x, 0))


def log_gamma_slope(a: ArrayLike, log_x: Array) -> Any:
    """``d log(x) / da`` at fixed quantile, for logarithms of gamma variates of shape ``a``.

    For small x from the power series of the distribution function. Beyond, from the integrals
    ``-(1 / x f(x)) * integral_0^x f(t) (log t - psi(a)) dt`` or its complement over ``t > x``, whichever has an integrand
    of one sign; substituting ``t = x e**-s`` or ``x e**s`` makes it ``exp(-phi(s)) (|log x - psi(a)| + s)`` with convex
    phi, which 20 points of Gauss and Legendre integrate to single precision, 32 to double.

    The result is finite: where it would overflow (shapes below 1e-19 in float32) it is the largest number.
    """
    dtype = log_x.dtype
    if dtype.itemsize < 4:
        wide = np.dtype(np.float32)
        return convert(log_gamma_slope(convert(a, wide), convert(log_x, wide)), dtype)
    f = dtype.type
    near = f(math.log(_PRECISIONS[dtype.itemsize].near))
    small = lax.le(log_x, near)
    below = _slope_by_series(a, lax.min(log_x, near))
    above = _slope_by_integral(lax.select(small, lax.full_like(a, 1), a),
                               lax.exp(lax.select(small, lax.full_like(log_x, 2), log_x)))
    slope = lax.select(small, below, above)
    largest = f(dtypes.finfo(dtype).max)
    return lax.min(lax.max(slope, -largest), largest)


def _slope_by_series(a, log_x):
    """From P(a, x) = x**a e**-x / Gamma(a + 1) * sum of x**n / (a + 1)...(a + n)."""
    f = log_x.dtype.type
    x = lax.exp(log_x)
    term, harmonic = lax.full_like(x, 1), lax.full_like(x, 0)
    total, derivative = term, harmonic
    for n in range(1, _PRECISIONS[x.dtype.itemsize].terms + 1):
        factor = lax.add(a, f(n))
        term = lax.div(lax.mul(term, x), factor)
        harmonic = lax.add(harmonic, lax.div(f(1), factor))
        total = lax.add(total, term)
        derivative = lax.sub(derivative, lax.mul(term, harmonic))
    inner = lax.sub(log_x, lax.digamma(lax.add(a, f(1))))
    # log x is of the order of 1 / a for tiny a, so it is divided by a before anything is multiplied.
    return lax.neg(lax.add(lax.mul(lax.div(inner, a), total), lax.div(derivative, a)))


def _log_less_psi(a, x):
    """``log x - psi(a)``, without cancellation for large a near x."""
    f = x.dtype.type
    large = lax.gt(a, f(10))
    safe = lax.select(large, a, lax.full_like(a, 20))
    inverse = lax.div(f(1), safe)
    squared = lax.mul(inverse, inverse)
    tail = lax.full_like(x, 0)
    for c in reversed(_PSI[:_PRECISIONS[x.dtype.itemsize].tail]):
        tail = lax.mul(squared, lax.add(tail, f(c)))
    far = lax.add(lax.log1p(lax.mul(lax.sub(x, safe), inverse)), lax.add(lax.mul(f(0.5), inverse), tail))
    near_a = lax.select(large, lax.full_like(a, 2), a)
    near = lax.add(lax.sub(lax.log(x), lax.digamma(lax.add(near_a, f(1)))), lax.div(f(1), near_a))
    return lax.select(large, far, near)


def _slope_by_integral(a, x):
    """See `log_gamma_slope`; x is above `Precision.near`."""
    f, precision = x.dtype.type, _PRECISIONS[x.dtype.itemsize]
    decay = precision.decay
    distance = _log_less_psi(a, x)
    up = lax.ge(distance, f(0))
    sign = lax.select(up, lax.full_like(x, 1), lax.full_like(x, -1))
    drift = lax.mul(sign, lax.sub(x, a))  # phi(s) = drift * s + x * (exp(+-s) - 1 -+ s)
    end = lax.sqrt(lax.div(f(2 * decay), x))
    # Downwards the second part grows more slowly than s**2 / 2, but by s**2 / 3 up to s = 1; phi(s) >= a s - x always.
    short = lax.mul(end, f(math.sqrt(1.5)))
    down_end = lax.select(lax.le(short, f(1)), short, lax.div(lax.add(x, f(decay)), a))
    end = lax.select(up, end, lax.min(down_end, lax.div(lax.add(x, f(decay)), a)))
    end = lax.select(lax.gt(drift, f(0)), lax.min(end, lax.div(f(decay), lax.max(drift, f(1e-20)))), end)
    # Upwards from below a the exponent first falls, to -(x - a)**2 / 2x; there x is within 1 of a, so it stays small.
    total = lax.full_like(x, 0)
    size = lax.abs(distance)
    for node, weight in zip(*np.polynomial.legendre.leggauss(precision.points)):
        s = lax.mul(end, f((node + 1) / 2))
        phi = lax.add(lax.mul(drift, s), lax.mul(x, _expm1_less_linear(lax.mul(sign, s))))
        total = lax.add(total, lax.mul(lax.mul(f(weight / 2), lax.exp(lax.neg(phi))), lax.add(size, s)))
    return lax.mul(total, end)


def _expm1_less_linear(t):
    """``exp(t) - 1 - t``."""
    f = t.dtype.type
    small = lax.lt(lax.abs(t), f(0.5))
    near = lax.select(small, t, lax.full_like(t, 0))
    powers = _PRECISIONS[t.dtype.itemsize].powers
    series = lax.full_like(t, 1 / math.factorial(powers))
    for n in range(powers - 1, 1, -1):
        series = lax.add(lax.mul(series, near), f(1 / math.factorial(n)))
    return lax.select(small, lax.mul(lax.mul(near, near), series), lax.sub(lax.expm1(t), t))


# -- gamma and its logarithm ---------------------------------------------------------------------------------------------

def draw_gamma(words: object, impl: PRNGImpl, alpha: Array, shape: tuple[int, ...], log_space: bool) -> Any:
    """Gamma variates of shapes ``alpha``, which broadcast to ``shape``."""
    return random_gamma_p.bind(words, broadcast_to(alpha, shape), impl=impl, log_space=log_space,
                               partitionable=is_partitionable())


_FIT = ((1.0, -0.2237368, -0.01513904), (0.4713941, 0.02607083, -0.008986007), (0.0001348028, 0.01128186, 0.02277679),
        (-0.008553069, -0.01153761, -0.01323293), (0.00312558, 0.005169654, -0.006950356),
        (-0.0008426812, 0.00253001, 0.001060438), (9.780499e-05, -0.001450117, 0.001565326))
"""The cube root of a gamma variate over its shape ``a``, as a polynomial in a normal number over ``sqrt(2 a)`` whose
coefficients are polynomials in ``1 / (2 a)``; the reference's numbers. The first terms are Wilson and Hilferty's."""
_SHIFT = 4  # the fit holds for shapes from here on; smaller ones are reached by as many boosts ``x * u**(1/a)``


def _polynomial(x, coefficients):
    out = lax.full_like(x, coefficients[-1]) if not hasattr(coefficients[-1], "shape") else coefficients[-1]
    for c in reversed(coefficients[:-1]):
        out = lax.add(lax.mul(out, x), x.dtype.type(c) if isinstance(c, float) else c)
    return out


def _approximate_gamma(words, impl, alpha, shape, log_space):
    """One normal number, transformed by a fit of the quantile function; no loop."""
    wanted = alpha.dtype
    if wanted.itemsize < 4:
        alpha = convert(alpha, np.dtype(np.float32))
    f = alpha.dtype.type
    alpha = broadcast_to(alpha, shape)
    for_normal, for_boost = split_words(words, impl)
    shifted = lax.add(alpha, f(_SHIFT))
    twice = lax.mul(f(2), shifted)
    z = lax.mul(draw_normal(for_normal, impl, shape, alpha.dtype), lax.rsqrt(twice))
    inverse = lax.div(f(1), twice)
    root = _polynomial(z, [_polynomial(inverse, row) for row in _FIT])
    root = lax.max(root, f(dtypes.finfo(alpha.dtype).tiny))
    e = draw_exponential(for_boost, impl, (_SHIFT, *shape), alpha.dtype)
    steps = lax.add(lax.broadcasted_iota(alpha.dtype, e.shape, 0), lax.broadcast_in_dim(alpha, e.shape, tuple(range(1, e.ndim))))
    boosts = lax.reduce_sum(lax.div(lax.neg(e), steps), (0,))
    out = lax.add(lax.add(lax.log(shifted), lax.mul(f(3), lax.log(root))), boosts)
    return convert(out if log_space else lax.exp(out), wanted)


def _draw(method):
    return draw_gamma if method == "exact" else _approximate_gamma


@inlined(static_argnames=("impl", "shape", "dtype", "log_space", "method"))
def _gamma(words, a, *, impl, shape, dtype, log_space, method):
    return _draw(method)(words, impl, convert(a, dtype), shape, log_space)


@api_boundary
def gamma(key: ArrayLike, a: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
          method: str = "exact", out_sharding: Placement | None = None) -> Array:
    """Independent samples of the gamma distribution, with density ``x**(a - 1) exp(-x) / Gamma(a)`` for ``x > 0``.

    Differentiable by ``a``. For small ``a`` samples underflow to 0; `loggamma` gives their logarithms.

    Args:
      key: one key.
      a: shape parameters, positive.
      shape: of the result, default that of ``a``.
      dtype: float; default float32, or float64 where x64 is enabled.
      method: "exact" (rejection) or "approximate".
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``a`` does not broadcast to ``shape``; another method.

    Source: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000); derivative: Figurnov,
    Mohamed, Mnih, 2018.

    >>> jax.random.gamma(jax.random.key(0), jnp.array([1., 2.])).shape
    (2,)
    """
    words, impl, shape, dtype, a = check_call("gamma", key, shape, dtype, a=a)
    check_method("gamma", method)
    return run(_gamma, out_sharding, words, a, impl=impl, shape=shape, dtype=dtype, log_space=False, method=method)


@api_boundary
def loggamma(key: ArrayLike, a: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
             method: str = "exact", out_sharding: Placement | None = None) -> Array:
    """Logarithms of independent samples of the gamma distribution: finite where these would be too small to represent.

    Differentiable by ``a``. Arguments and errors as for `gamma`.

    Source: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000); derivative: Figurnov,
    Mohamed, Mnih, 2018.

    >>> jax.random.loggamma(jax.random.key(0), 2., (4,)).shape
    (4,)
    """
    words, impl, shape, dtype, a = check_call("loggamma", key, shape, dtype, a=a)
    check_method("loggamma", method)
    return run(_gamma, out_sharding, words, a, impl=impl, shape=shape, dtype=dtype, log_space=True, method=method)


# -- ratios of gamma variates --------------------------------------------------------------------------------------------

def _is_inf(x):
    return lax.eq(x, x.dtype.type(np.inf))


@inlined(static_argnames=("impl", "shape", "dtype", "method"))
def _beta(words, a, b, *, impl, shape, dtype, method):
    """``g_a / (g_a + g_b)``, from logarithms less the larger one."""
    a, b = (broadcast_to(convert(x, dtype), shape) for x in (a, b))
    first, second = split_words(words, impl)
    log_a, log_b = (_draw(method)(k, impl, x, shape, True) for k, x in ((first, a), (second, b)))
    largest = lax.max(log_a, log_b)
    finite = lax.bitwise_not(_is_inf(largest))
    largest = lax.select(finite, largest, lax.full_like(largest, 0))
    top, other = (lax.select(finite, lax.exp(lax.sub(x, largest)), convert(_is_inf(x), dtype)) for x in (log_a, log_b))
    return lax.div(top, lax.add(top, other))


@api_boundary
def beta(key: ArrayLike, a: ArrayLike, b: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
         method: str = "exact", out_sharding: Placement | None = None) -> Array:
    """Independent samples of the beta distribution, with density proportional to ``x**(a - 1) (1 - x)**(b - 1)``.

    Differentiable by ``a`` and ``b``.

    Args:
      key: one key.
      a, b: positive parameters, broadcast against each other.
      shape: of the result, default that of the parameters together.
      dtype: float; default float32, or float64 where x64 is enabled.
      method: of `gamma`.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast to ``shape``; another method.

    Source: gamma variates: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    >>> x = jax.random.beta(jax.random.key(0), 2., 3., (50,))
    >>> bool(((x > 0) & (x < 1)).all())
    True
    """
    words, impl, shape, dtype, a, b = check_call("beta", key, shape, dtype, a=a, b=b)
    check_method("beta", method)
    return run(_beta, out_sharding, words, a, b, impl=impl, shape=shape, dtype=dtype, method=method)


@sampler
def _dirichlet(words, alpha, *, impl, shape, dtype):
    log_gamma = draw_gamma(words, impl, convert(alpha, dtype), shape + np.shape(alpha)[-1:], True)
    shifted = lax.sub(log_gamma, lax.stop_gradient(jnp.max(log_gamma, -1, keepdims=True)))
    unnormalised = lax.exp(shifted)
    return unnormalised / jnp.sum(unnormalised, -1, keepdims=True)


@api_boundary
def dirichlet(key: ArrayLike, alpha: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
              out_sharding: Placement | None = None) -> Array:
    """Independent samples of the Dirichlet distribution: vectors of probabilities.

    Differentiable by ``alpha``.

    Args:
      key: one key.
      alpha: positive concentrations ``[..., n]``.
      shape: of the batch of samples, default the batch shape of ``alpha``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Returns:
      ``dtype[*shape, n]``; sums to 1 over the last axis.

    Raises:
      ValueError: ``alpha`` is a scalar; its batch shape does not broadcast to ``shape``; dtype is not a float.

    Source: gamma variates: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    >>> jnp.round(jax.random.dirichlet(jax.random.key(0), jnp.ones(3)).sum(), 3)
    Array(1., dtype=float32)
    """
    words, impl = key_words("dirichlet", key)
    dtype = check_dtype("dirichlet", dtype)
    alpha = check_array("dirichlet", "alpha", alpha)
    batch = np.shape(alpha)[:-1]
    if not np.shape(alpha):
        raise ValueError("dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0")
    shape = batch if shape is None else check_shape("dirichlet", shape)
    return run(_dirichlet, out_sharding, words, alpha, impl=impl, shape=batch_shape("dirichlet", shape, batch),
               dtype=dtype)


def draw_chisquare(words: ArrayLike, impl: PRNGImpl, df: Array, shape: tuple[int, ...], method: str) -> Any:
    """Twice gamma variates of shape df / 2."""
    two = df.dtype.type(2)
    return lax.mul(lax.exp(_draw(method)(words, impl, lax.div(df, two), shape, True)), two)


@inlined(static_argnames=("impl", "shape", "dtype", "method"))
def _chisquare(words, df, *, impl, shape, dtype, method):
    return draw_chisquare(words, impl, convert(df, dtype), shape, method)


@api_boundary
def chisquare(key: ArrayLike, df: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
              method: str = "exact", out_sharding: Placement | None = None) -> Array:
    """Independent samples of the chi-square distribution: the sum of ``df`` squared normal numbers.

    Differentiable by ``df``.

    Args:
      key: one key.
      df: degrees of freedom, positive.
      shape: of the result, default that of ``df``.
      dtype: float; default float32, or float64 where x64 is enabled.
      method: of `gamma`.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``df`` does not broadcast to ``shape``; another method.

    Source: gamma variates: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    >>> bool((jax.random.chisquare(jax.random.key(0), 3., shape=(20,)) > 0).all())
    True
    """
    words, impl, shape, dtype, df = check_call("chisquare", key, shape, dtype, df=df)
    check_method("chisquare", method)
    return run(_chisquare, out_sharding, words, df, impl=impl, shape=shape, dtype=dtype, method=method)


@sampler
def _f(words, dfnum, dfden, *, impl, shape, dtype):
    dfnum, dfden = (broadcast_to(convert(x, dtype), shape) for x in (dfnum, dfden))
    for_den, for_num = split_words(words, impl)
    means = []
    for key, df in ((for_num, dfnum), (for_den, dfden)):
        mean = lax.div(draw_chisquare(key, impl, df, shape, "exact"), df)
        means.append(lax.select(_is_inf(df), lax.full_like(mean, 1), mean))
    return lax.div(*means)


@api_boundary
def f(key: ArrayLike, dfnum: ArrayLike, dfden: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
      out_sharding: Placement | None = None) -> Array:
    """Independent samples of the F distribution: the ratio of two chi-square variates, each divided by its degrees.

    Differentiable by both degrees of freedom.

    Args:
      key: one key.
      dfnum, dfden: degrees of freedom, positive, broadcast against each other.
      shape: of the result, default that of the parameters together.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; parameters do not broadcast to ``shape``.

    Source: gamma variates: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    >>> bool((jax.random.f(jax.random.key(0), 3., 4., (20,)) > 0).all())
    True
    """
    words, impl, shape, dtype, dfnum, dfden = check_call("f", key, shape, dtype, dfnum=dfnum, dfden=dfden)
    return run(_f, out_sharding, words, dfnum, dfden, impl=impl, shape=shape, dtype=dtype)


@sampler
def _t(words, df, *, impl, shape, dtype):
    df = broadcast_to(convert(df, dtype), shape)
    first, second = split_words(words, impl)
    normal = draw_normal(first, impl, shape, dtype)
    half = lax.div(df, dtype.type(2))
    ratio = lax.div(half, draw_gamma(second, impl, half, shape, False))
    ratio = lax.select(_is_inf(df), lax.full_like(ratio, 1), ratio)
    return lax.mul(normal, lax.sqrt(ratio))


@api_boundary
def t(key: ArrayLike, df: ArrayLike, shape: Shape | None = None, dtype: DTypeLike | None = None, *,
      out_sharding: Placement | None = None) -> Array:
    """Independent samples of Student's t distribution.

    Differentiable by ``df``.

    Args:
      key: one key.
      df: degrees of freedom, positive; with infinitely many the distribution is normal.
      shape: of the result, default that of ``df``.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``df`` does not broadcast to ``shape``.

    Source: a normal number over the root of a gamma variate: Marsaglia, Tsang, "A simple method for generating gamma
    variables", ACM TOMS 26 (2000).

    >>> jax.random.t(jax.random.key(0), 3., (4,)).shape
    (4,)
    """
    words, impl, shape, dtype, df = check_call("t", key, shape, dtype, df=df)
    return run(_t, out_sharding, words, df, impl=impl, shape=shape, dtype=dtype)


# -- generalised normal numbers and balls --------------------------------------------------------------------------------

def draw_generalized_normal(words: Array, impl: PRNGImpl, p: ArrayLike, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """A random sign times ``gamma(1/p) ** (1/p)``."""
    for_gamma, for_sign = split_words(words, impl)
    inverse = lax.div(dtype.type(1), convert(p, dtype))
    signs = draw_signs(for_sign, impl, shape, dtype)
    return lax.mul(signs, lax.pow(draw_gamma(for_gamma, impl, inverse, shape, False), broadcast_to(inverse, shape)))


@sampler
def _generalized_normal(words, p, *, impl, shape, dtype):
    return draw_generalized_normal(words, impl, p, shape, dtype)


@api_boundary
def generalized_normal(key: ArrayLike, p: ArrayLike, shape: Shape = (), dtype: DTypeLike | None = None, *,
                       out_sharding: Placement | None = None) -> Array:
    """Independent samples of the generalised normal distribution, with density proportional to ``exp(-|x|**p)``.

    Args:
      key: one key.
      p: exponent, positive.
      shape: of the result.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Raises:
      ValueError: dtype is not a float; ``p`` does not broadcast to ``shape``.

    Source: a gamma variate to the power 1/p: Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS
    26 (2000).

    >>> jax.random.generalized_normal(jax.random.key(0), 2., (4,)).shape
    (4,)
    """
    words, impl, shape, dtype, p = check_call("generalized_normal", key, shape, dtype, p=p)
    return run(_generalized_normal, out_sharding, words, p, impl=impl, shape=shape, dtype=dtype)


@inlined(static_argnames=("impl", "shape", "dtype", "d"))
def _ball(words, p, *, impl, shape, dtype, d):
    first, second = split_words(words, impl)
    x = draw_generalized_normal(first, impl, p, (*shape, d), dtype)
    e = draw_exponential(second, impl, shape, dtype)
    p = convert(p, dtype)
    norm = jnp.sum(lax.pow(lax.abs(x), broadcast_to(p, x.shape)), -1) + e
    return x / lax.expand_dims(lax.pow(norm, broadcast_to(lax.div(dtype.type(1), p), shape)), (len(shape),))


@api_boundary
def ball(key: ArrayLike, d: int, p: ArrayLike = 2, shape: Shape = (), dtype: DTypeLike | None = None, *,
         out_sharding: Placement | None = None) -> Array:
    """Independent points, uniformly distributed in the unit ball of the p-norm.

    Args:
      key: one key.
      d: number of dimensions.
      p: exponent of the norm, a scalar.
      shape: of the batch of points.
      dtype: float; default float32, or float64 where x64 is enabled.
      out_sharding: placement of the result.

    Returns:
      ``dtype[*shape, d]``.

    Raises:
      TypeError: ``d`` is not an integer. ValueError: dtype is not a float.

    Source: Barthe, Guedon, Mendelson, Naor, "A probabilistic approach to the geometry of the l_p^n-ball", 2005.

    >>> bool((jnp.linalg.norm(jax.random.ball(jax.random.key(0), 3, shape=(20,)), axis=1) <= 1).all())
    True
    """
    words, impl, shape, dtype, p = check_call("ball", key, shape, dtype, p=p)
    try:
        d = operator.index(d)
    except TypeError as error:
        raise TypeError(f"ball: d must be an integer, got {d!r}") from error
    return run(_ball, out_sharding, words, p, impl=impl, shape=shape, dtype=dtype, d=d)
