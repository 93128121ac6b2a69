"""odeint: the solution of an ordinary differential equation at given times, by the Dormand-Prince 5(4) pair.

Gradients come from the adjoint equation, solved backwards between the output times, so memory does not grow with the
number of steps.

Sources: Dormand, Prince, J. Comput. Appl. Math. 6 (1980) for the pair; Shampine, Math. Comp. 46 (1986) for the value at
the middle of a step; Hairer, Norsett, Wanner, "Solving ODEs I", II.4 for the steps; Chen et al., NeurIPS 2018 for the
adjoint.
"""
from __future__ import annotations

from functools import partial
from typing import Any, Callable

import numpy as np

from jax_core.transformations import autodiff
from jax_core.representation import dtypes, tree
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.representation.typing import ArrayLike, PyTree

from . import lax
from . import numpy as jnp
from .flatten_util import ravel_pytree

_NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_FIFTH = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0)
_FOURTH = (1951 / 21600, 0.0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_ERROR = tuple(a - b for a, b in zip(_FIFTH, _FOURTH))
_MIDDLE = (6025192743 / 30085553152 / 2, 0.0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
           187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2)


def abs2(x: ArrayLike) -> Any:
    """``|x|**2``, real."""
    if dtypes.issubdtype(lax.dtype(x), np.complexfloating):
        return lax.real(x) ** 2 + lax.imag(x) ** 2
    return x * x


def _combined(weights, ks):
    return sum((w * k for w, k in zip(weights, ks) if w), jnp.zeros_like(ks[0]))


def runge_kutta_step(func: Callable[..., Any], y0: ArrayLike, f0: ArrayLike, t0: ArrayLike, dt: ArrayLike) -> tuple:
    """One step: value and slope at its end, the error estimate, and the seven slopes ``[7, n]``."""
    ks = [f0]
    for node, weights in zip(_NODES, _STAGES):
        ks.append(func(y0 + dt * _combined(weights, ks), t0 + dt * node))
    y1 = y0 + dt * _combined(_FIFTH, ks)
    return y1, ks[-1], dt * _combined(_ERROR, ks), jnp.stack(ks)


def fit_4th_order_polynomial(y0: ArrayLike, y1: ArrayLike, y_mid: ArrayLike, dy0: ArrayLike, dy1: ArrayLike,
                             dt: ArrayLike) -> tuple:
    """Coefficients, highest first, of the quartic through both ends and the middle of a step with slopes at its ends."""
    a = -2 * dt * dy0 + 2 * dt * dy1 - 8 * y0 - 8 * y1 + 16 * y_mid
    b = 5 * dt * dy0 - 3 * dt * dy1 + 18 * y0 + 14 * y1 - 32 * y_mid
    c = -4 * dt * dy0 + dt * dy1 - 11 * y0 - 5 * y1 + 16 * y_mid
    return a, b, c, dt * dy0, y0


def interp_fit_dopri(y0: ArrayLike, y1: ArrayLike, k: ArrayLike, dt: ArrayLike) -> Any:
    """The step's interpolating quartic, coefficients stacked."""
    y_mid = y0 + dt * _combined(_MIDDLE, list(k))
    return jnp.stack(fit_4th_order_polynomial(y0, y1, y_mid, k[0], k[-1], dt))


def initial_step_size(fun: Callable[..., Any], t0: ArrayLike, y0: ArrayLike, order: int, rtol: ArrayLike,
                      atol: ArrayLike, f0: ArrayLike) -> Any:
    """A first step by the size of the first two derivatives (Hairer et al., II.4)."""
    scale = atol + jnp.abs(y0) * rtol
    norm = lambda x: jnp.sqrt(jnp.sum(abs2(x)))
    d0, d1 = norm(y0 / scale), norm(f0 / scale)
    h0 = jnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / jnp.where(d1 == 0, 1.0, d1))
    d2 = norm((fun(y0 + h0.astype(y0.dtype) * f0, t0 + h0) - f0) / scale) / h0
    h1 = jnp.where((d1 <= 1e-15) & (d2 <= 1e-15), jnp.maximum(1e-6, h0 * 1e-3),
                   (0.01 / jnp.maximum(d1, d2)) ** (1.0 / (order + 1.0)))
    return jnp.minimum(100.0 * h0, h1)


def mean_error_ratio(error_estimate: ArrayLike, rtol: ArrayLike, atol: ArrayLike, y0: ArrayLike, y1: ArrayLike) -> Any:
    """Root mean square of the error over its tolerance; a step is taken if it is at most 1."""
    tolerance = atol + rtol * jnp.maximum(jnp.abs(y0), jnp.abs(y1))
    return jnp.sqrt(jnp.mean(abs2(error_estimate / tolerance.astype(error_estimate.dtype))))


def optimal_step_size(last_step: ArrayLike, mean_error_ratio: ArrayLike, safety: float = 0.9, ifactor: float = 10.0,
                      dfactor: float = 0.2, order: float = 5.0) -> Any:
    """The next step for an error ratio: grown or shrunk within bounds, not shrunk after a good step."""
    shrink = jnp.where(mean_error_ratio < 1, 1.0, dfactor)
    factor = jnp.minimum(ifactor, jnp.maximum(mean_error_ratio ** (-1.0 / order) * safety, shrink))
    return jnp.where(mean_error_ratio == 0, last_step * ifactor, last_step * factor)


def ravel_first_arg(f: Callable[..., Any], unravel: Callable) -> Callable:
    """``f`` of a vector in place of its first argument, a pytree; the result is a vector too."""
    def raveled(vector, *args):
        return ravel_pytree(f(unravel(vector), *args))[0]
    return raveled


def odeint(func: Callable[..., Any], y0: PyTree, t: ArrayLike, *args: Any, rtol: float = 1.4e-8, atol: float = 1.4e-8,
           mxstep: float = float("inf"), hmax: float = float("inf")) -> Any:
    """Solution of ``dy/dt = func(y, t, *args)`` with ``y(t[0]) = y0`` at the increasing times ``t``.

    Args:
      func: pure function of a pytree, a scalar time and pytrees of arrays; the result is like ``y0``.
      y0: pytree of float arrays.
      t: ``float[n]``, strictly increasing.
      rtol, atol: tolerances of one step's error.
      mxstep: most steps between two times; beyond it the last value reached is given.
      hmax: longest step.

    Returns:
      a pytree like ``y0`` with a leading axis of length ``n``. Differentiable in ``y0``, ``t`` and ``args``.

    Raises:
      TypeError: some argument is not an array.
    """
    for x in tree.leaves(args):
        if not (hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex))):
            raise TypeError(f"odeint: arguments must be arrays or numbers, got {x!r} of type {type(x).__name__}; close "
                            "over other values in func")
    y0 = tree.map(jnp.asarray, y0)
    flat_y0, unravel = ravel_pytree(y0)
    flat_args, args_tree = tree.flatten(args)
    flat_func = lambda y, time, *leaves: ravel_pytree(func(unravel(y), time, *tree.unflatten(args_tree, leaves)))[0]
    converted, closed_over = autodiff.closure_convert(flat_func, flat_y0, jnp.asarray(t)[0], *flat_args)
    out = _odeint(converted, rtol, atol, mxstep, hmax, flat_y0, jnp.asarray(t), *flat_args, *closed_over)
    from jax_core.transformations.vmap import vmap
    return vmap(unravel)(out)


@partial(custom_vjp, nondiff_argnums=(0, 1, 2, 3, 4))
def _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args):
    f = lambda y, time: func(y, time.astype(ts.dtype), *args)

    def to_next(carry, target):
        def unfinished(state):
            count, _, _, time, dt, _, _ = state
            return (time < target) & (count < mxstep) & (dt > 0)

        def step(state):
            count, y, slope, time, dt, last, coefficients = state
            dt = jnp.minimum(dt, hmax).astype(time.dtype)
            y1, slope1, error, ks = runge_kutta_step(f, y, slope, time, dt.astype(y.dtype))
            ratio = mean_error_ratio(error, rtol, atol, y, y1)
            fit = interp_fit_dopri(y, y1, ks, dt.astype(y.dtype))
            new_dt = jnp.clip(optimal_step_size(dt, ratio), 0.0, hmax).astype(dt.dtype)
            good = ratio <= 1.0
            pick = lambda a, b: jnp.where(good, a, b)
            return (count + 1, pick(y1, y), pick(slope1, slope), pick(time + dt, time), new_dt, pick(time, last),
                    pick(fit, coefficients))
        count, *rest = lax.while_loop(unfinished, step, (0, *carry))
        y, slope, time, dt, last, coefficients = rest
        # a step of length zero has not been taken yet: then the value asked for is the first one
        relative = jnp.where(time == last, 0.0, (target - last) / jnp.where(time == last, 1.0, time - last))
        return rest, jnp.polyval(coefficients, relative.astype(y.dtype))

    f0 = f(y0, ts[0])
    dt = jnp.clip(initial_step_size(f, ts[0], y0, 4, rtol, atol, f0), 0.0, hmax).astype(ts.dtype)
    coefficients = jnp.concatenate([jnp.zeros((4, *y0.shape), y0.dtype), y0[None]])
    _, ys = lax.scan(to_next, [y0, f0, ts[0], dt, ts[0], coefficients], ts[1:])
    return jnp.concatenate([y0[None], ys])


def _odeint_fwd(func, rtol, atol, mxstep, hmax, y0, ts, *args):
    ys = _odeint(func, rtol, atol, mxstep, hmax, y0, ts, *args)
    return ys, (ys, ts, args)


def _odeint_bwd(func, rtol, atol, mxstep, hmax, residuals, g):
    """The adjoint equation, backwards in time, one interval after another."""
    ys, ts, args = residuals
    inexact = [dtypes.issubdtype(lax.dtype(a), np.inexact) for a in args]
    live = [a for a, ok in zip(args, inexact) if ok]

    def fill(values):
        given = iter(values)
        return [next(given) if ok else a for a, ok in zip(args, inexact)]

    def augmented(state, minus_t, *_):
        y, y_bar, _, _ = state
        f = lambda y, time, *leaves: func(y, time, *fill(leaves))
        y_dot, pull = autodiff.vjp(f, y, -minus_t, *live)
        bars = pull(y_bar)
        return (-y_dot, bars[0], bars[1].astype(minus_t.dtype), tuple(bars[2:]))

    zeros = tuple(jnp.zeros_like(jnp.asarray(a)) for a in live)

    def interval(carry, i):
        y_bar, t0_bar, args_bar = carry
        t_bar = jnp.real(jnp.dot(func(ys[i], ts[i], *args), g[i])).astype(ts.dtype)
        t0_bar = t0_bar - t_bar
        start = (ys[i], y_bar, t0_bar, args_bar)
        out = odeint(augmented, start, jnp.array([-ts[i], -ts[i - 1]]), rtol=rtol, atol=atol, mxstep=mxstep, hmax=hmax)
        _, y_bar, t0_bar, args_bar = tree.map(lambda x: x[1], out)
        return (y_bar + g[i - 1], t0_bar, args_bar), t_bar

    start = (g[-1], jnp.zeros((), ts.dtype), zeros)
    (y_bar, t0_bar, args_bar), t_bars = lax.scan(interval, start, jnp.arange(len(ts) - 1, 0, -1))
    given = iter(args_bar)
    cts = [next(given) if ok else None for ok in inexact]
    return (y_bar, jnp.concatenate([t0_bar[None], t_bars[::-1]]), *cts)


_odeint.defvjp(_odeint_fwd, _odeint_bwd)
