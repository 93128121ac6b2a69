"""jax.scipy.optimize: minimisation of smooth functions of a vector, inside of jit.

BFGS keeps the inverse Hessian; the L-BFGS method keeps the last steps. Both search along a line for a point that fulfils the
strong Wolfe conditions: one loop that first brackets such a point, and then narrows the bracket by quadratic interpolation.

Source: Nocedal, Wright, "Numerical Optimization", 2nd edition, algorithms 3.5, 3.6, 6.1, 7.4.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations import manual
from jax_core.transformations.autodiff import value_and_grad

from .. import lax, numpy as jnp

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """Result of `minimize`.

    Fields:
      x: the point found. success: whether it is a minimum to the tolerance.
      status: 0 for success, 1 where steps ran out, 3 where no better point was found along a line, 4 where evaluations ran out.
      fun, jac: value and gradient there. hess_inv: approximate inverse Hessian, None for L-BFGS.
      nfev, njev, nit: numbers of evaluations, of gradients, of steps.

    >>> from jax.scipy.optimize import minimize
    >>> found = minimize(lambda x: jnp.sum((x - 3) ** 2), jnp.zeros(2), method="BFGS")
    >>> found.x, bool(found.success)
    (Array([3., 3.], dtype=float32), True)
    """

    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


def minimize(fun: Callable[..., PyTree], x0: ArrayLike, args: tuple = (), *, method: str, tol: float | None = None,
             options: Mapping[str, object] | None = None) -> OptimizeResults:
    """A local minimum of ``fun(x, *args)``.

    Args:
      fun: gives a number for a vector.
      x0: where to start, a vector.
      args: further arguments of ``fun``.
      method: "BFGS", or "l-bfgs-experimental-do-not-rely-on-this".
      tol: the tolerance ``gtol``.
      options: ``maxiter``, ``gtol`` (of the gradient's norm), ``norm`` (its order, BFGS), ``line_search_maxiter`` (BFGS);
        ``maxcor``, ``ftol``, ``maxfun``, ``maxgrad``, ``maxls`` (L-BFGS).

    Raises:
      TypeError: ``args`` is no tuple, or ``x0`` no vector. ValueError: another method.

    Source: `scipy.optimize.minimize`.

    >>> jnp.round(jsp.optimize.minimize(lambda x: jnp.sum((x - 1.) ** 2), jnp.zeros(2), method="BFGS").x, 3)
    Array([1., 1.], dtype=float32)
    """
    options = dict(options or {})
    if not isinstance(args, tuple):
        raise TypeError(f"jax.scipy.optimize.minimize: args must be a tuple, got {args!r}; for one argument write (a,)")
    x0 = jnp.asarray(x0)
    if x0.ndim != 1:
        raise TypeError(f"jax.scipy.optimize.minimize: x0 must be a vector, got shape {x0.shape}; use jnp.atleast_1d for a number, "
                        "jax.flatten_util.ravel_pytree for a pytree")
    if not jnp.issubdtype(x0.dtype, jnp.inexact):
        x0 = x0.astype(float)
    if tol is not None:
        options.setdefault("gtol", tol)
    if not isinstance(method, str):
        raise TypeError(f"jax.scipy.optimize.minimize: method must be a string, got {method!r}; 'BFGS' is one")
    known: dict[str, Callable[..., Any]] = {"bfgs": _bfgs, "l-bfgs-experimental-do-not-rely-on-this": _lbfgs}
    if method.lower() not in known:
        raise ValueError(f"jax.scipy.optimize.minimize: method {method!r} not recognized; use one of 'BFGS', "
                         "'l-bfgs-experimental-do-not-rely-on-this'")
    return known[method.lower()](value_and_grad(lambda x: fun(x, *args)), x0, **options)


# -- line search -------------------------------------------------------------------------------------------------------

class _Line(NamedTuple):
    """State of a search along ``x + a p``: the best point so far (low), the bracket's other end (high), the next trial."""

    k: Any
    done: Any
    bracketed: Any
    low: Any
    f_low: Any
    g_low: Any
    high: Any
    f_high: Any
    a: Any
    x: Any
    f: Any
    g: Any


def _next_trial(low, f_low, g_low, high, f_high):
    """The minimum of the parabola through both ends, unless it is too near to one of them: then the middle."""
    width = high - low
    curve = f_high - f_low - g_low * width
    step = -0.5 * g_low * width * width / jnp.where(curve == 0, 1, curve)
    good = (curve > 0) & jnp.isfinite(step) & (step / width > 0.1) & (step / width < 0.9)
    return low + jnp.where(good, step, 0.5 * width)


def _line_search(both, x, f0, g0, p, first, maxiter, c1=1e-4, c2=0.9):
    """A step along ``p``: ``(x, f, gradient, evaluations, whether the strong Wolfe conditions hold or f fell enough)``."""
    slope0 = jnp.vdot(g0, p)

    def going(s):
        return ~s.done & (s.k < maxiter)

    def step(s):
        xa = x + s.a * p
        f, g = both(xa)
        slope = jnp.vdot(g, p)
        high = (f > f0 + c1 * s.a * slope0) | (f >= s.f_low) & ((s.k > 0) | s.bracketed) | ~jnp.isfinite(f)
        done = ~high & (jnp.abs(slope) <= -c2 * slope0)
        away = jnp.where(s.bracketed, slope * (s.high - s.low) >= 0, slope >= 0)
        # a trial that is too high ends the bracket; a better one becomes the low end, with the bracket on the falling side
        new_high = jnp.where(high, s.a, jnp.where(away, s.low, s.high))
        new_f_high = jnp.where(high, f, jnp.where(away, s.f_low, s.f_high))
        new_low, new_f, new_g = (jnp.where(high, u, v) for u, v in ((s.low, s.a), (s.f_low, f), (s.g_low, slope)))
        bracketed = s.bracketed | high | away
        trial = jnp.where(bracketed, _next_trial(new_low, new_f, new_g, new_high, jnp.where(jnp.isfinite(new_f_high), new_f_high, np.inf)),
                          2 * s.a)
        take = ~high
        return _Line(s.k + 1, done, bracketed, new_low, new_f, new_g, new_high, new_f_high, trial, jnp.where(take, xa, s.x),
                     jnp.where(take, f, s.f), jnp.where(take, g, s.g))

    zero = jnp.zeros_like(f0)
    start = _Line(0, jnp.asarray(False), jnp.asarray(False), zero, f0, slope0, zero, f0, first.astype(f0.dtype), x, f0, g0)
    out = lax.while_loop(going, step, start)
    return out.x, out.f, out.g, out.k, out.done | (out.f < f0)


def _start(both, x0):
    """``(x0, f, gradient)``; where ``f`` is another one on each device of a manual region, so is the way from ``x0``."""
    f, g = both(x0)
    x, _ = manual.vary_jointly([x0, f])
    return (x0, f, g) if x is x0 else (x, *both(x))


def _norm(g, order):
    return jnp.max(jnp.abs(g), initial=0) if order == np.inf else jnp.linalg.norm(g, order)


# -- BFGS --------------------------------------------------------------------------------------------------------------

def _bfgs(both, x0, maxiter=None, norm=np.inf, gtol=1e-5, line_search_maxiter=10, **unknown):
    _refuse("BFGS", unknown)
    n = x0.shape[0]
    maxiter = 200 * n if maxiter is None else maxiter
    x0, f0, g0 = _start(both, x0)
    eye = jnp.eye(n, dtype=x0.dtype)

    def going(state: PyTree):
        _, _, g, _, k, _, _, failed, _ = state
        return (_norm(g, norm) > gtol) & (k < maxiter) & ~failed

    def step(state: PyTree):
        x, f, g, h, k, nfev, _, _, before = state
        p = -jnp.matmul(h, g, precision="highest")
        falling = jnp.vdot(g, p) < 0
        p = jnp.where(falling, p, -g)
        guess = jnp.where(k == 0, jnp.minimum(1.0, 1.0 / jnp.maximum(jnp.sum(jnp.abs(g)), 1e-30)), 1.0)
        x1, f1, g1, evaluations, ok = _line_search(both, x, f, g, p, guess, line_search_maxiter)
        s, y = x1 - x, g1 - g
        sy = jnp.vdot(s, y)
        rho = 1 / jnp.where(sy > 0, sy, 1)
        h0 = jnp.where((k == 0) & (sy > 0), sy / jnp.maximum(jnp.vdot(y, y), 1e-30) * eye, h)  # the scale of the first step
        left = eye - rho * jnp.outer(s, y)
        updated = jnp.matmul(jnp.matmul(left, h0, precision="highest"), left.T, precision="highest") + rho * jnp.outer(s, s)
        h1 = jnp.where(sy > 0, updated, eye)
        return x1, f1, g1, h1, k + 1, nfev + evaluations, f1, ~ok, f

    start = (x0, f0, g0, eye, 0, 1, f0, jnp.asarray(False), f0)
    x, f, g, h, k, nfev, _, failed, _ = lax.while_loop(going, step, start)
    success = _norm(g, norm) <= gtol
    status = jnp.where(success, 0, jnp.where(failed, 3, 1))
    return OptimizeResults(x, success, status, f, g, h, nfev, nfev, k)


def _refuse(method, unknown):
    if unknown:
        raise TypeError(f"jax.scipy.optimize.minimize: method {method} has no options {sorted(unknown)}")


# -- L-BFGS ------------------------------------------------------------------------------------------------------------

def _direction(g, s_history, y_history, rho, gamma):
    """The two-loop recursion; unused rows of the history have ``rho == 0`` and change nothing."""
    def back(i, state: PyTree):
        q, alphas = state
        j = rho.shape[0] - 1 - i
        a = rho[j] * jnp.vdot(s_history[j], q)
        return q - a * y_history[j], alphas.at[j].set(a)

    def forth(j: ArrayLike, r):
        b = rho[j] * jnp.vdot(y_history[j], r)
        return r + s_history[j] * (lax.dynamic_index_in_dim(alphas, j, keepdims=False) - b)
    q, alphas = lax.fori_loop(0, rho.shape[0], back, (g, jnp.zeros_like(rho)))
    return -lax.fori_loop(0, rho.shape[0], forth, gamma * q)


def _lbfgs(both, x0, maxiter=None, norm=np.inf, maxcor=10, ftol=2.220446049250313e-09, gtol=1e-05, maxfun=None,
           maxgrad=None, maxls=20, **unknown):
    _refuse("L-BFGS", unknown)
    n, unlimited = x0.shape[0], np.iinfo(np.int32).max
    maxiter = 200 * n if maxiter is None else maxiter
    maxfun, maxgrad = (unlimited if v is None else v for v in (maxfun, maxgrad))
    x0, f0, g0 = _start(both, x0)
    history = jnp.zeros((maxcor, n), x0.dtype)
    start = dict(x=x0, f=f0, g=g0, s=history, y=history, rho=jnp.zeros(maxcor, x0.dtype), gamma=jnp.ones((), x0.dtype), k=0,
                 nfev=1, status=jnp.where(_norm(g0, norm) <= gtol, 0, -1))

    def step(v: Array):
        p = _direction(v["g"], v["s"], v["y"], v["rho"], v["gamma"])
        p = jnp.where(jnp.vdot(p, v["g"]) < 0, p, -v["g"])
        guess = jnp.where(v["k"] == 0, jnp.minimum(1.0, 1.0 / jnp.maximum(jnp.sum(jnp.abs(v["g"])), 1e-30)), 1.0)
        x, f, g, evaluations, ok = _line_search(both, v["x"], v["f"], v["g"], p, guess, maxls)
        s, y = x - v["x"], g - v["g"]
        sy = jnp.vdot(s, y)
        use = sy > 0

        def pushed(rows, row: Array):
            return jnp.where(use, jnp.concatenate([rows[1:], row[None]]), rows)
        rho = pushed(v["rho"], 1 / jnp.where(use, sy, 1))
        gamma = jnp.where(use, sy / jnp.maximum(jnp.vdot(y, y), 1e-30), v["gamma"])
        k, nfev = v["k"] + 1, v["nfev"] + evaluations
        flat = (v["f"] - f) / jnp.maximum(1.0, jnp.maximum(jnp.abs(f), jnp.abs(v["f"]))) <= ftol
        status = jnp.where(~ok, 3, jnp.where((_norm(g, norm) <= gtol) | flat, 0, jnp.where(
            k >= maxiter, 1, jnp.where((nfev >= maxfun) | (nfev >= maxgrad), 4, -1))))
        return dict(x=x, f=f, g=g, s=pushed(v["s"], s), y=pushed(v["y"], y), rho=rho, gamma=gamma, k=k, nfev=nfev,
                    status=status.astype(v["status"].dtype))

    v = lax.while_loop(lambda v: v["status"] == -1, step, start)
    return OptimizeResults(v["x"], v["status"] == 0, v["status"], v["f"], v["g"], None, v["nfev"], v["nfev"], v["k"])
