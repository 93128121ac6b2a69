"""odeint: the solution of an ordinary differential equation at given times, by the Dormand-Prince pair of orders 5 and 4.

A step may go past the time that is asked for: the value there comes from the step's continuous extension, of order 4, so
output times cost no steps. The gradient solves the adjoint equation backwards from one output time to the one before, each
time from the stored value, so memory does not grow with the number of steps. The quadrature for the times is not needed:
a solution follows its end along the slope there, and moves against the slope at its start.

Sources: Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", 2nd ed.: II.4 for the first step and the choice
of steps, II.5 table 5.2 for the pair, II.6 and the appendix for the extension. Pontryagin et al., "The Mathematical Theory
of Optimal Processes" (1962), for the adjoint.
"""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from jax_core.representation import dtypes, tree
from jax_core.transformations import autodiff, manual
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap

from . import lax, numpy as jnp
from .flatten_util import ravel_pytree

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import ArrayLike, PyTree

_TIMES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_SLOPES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),  # the weights of the result too: its slope opens the next step
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
_BEND = (-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072, 701980252875 / 199316789632,
         -1453857185 / 822651844, 69997945 / 29380423)
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0


class _Control(NamedTuple):
    """What `odeint` is told of steps."""

    rtol: Any
    atol: Any
    mxstep: Any
    hmax: Any

    def size(self, x: Array, *values: Any) -> Any:
        """The root mean square of ``x`` in units of the tolerance at ``values``, the larger of which counts."""
        magnitude = jnp.abs(values[0]) if len(values) == 1 else jnp.maximum(*map(jnp.abs, values))
        ratio = jnp.abs(x) / (self.atol + self.rtol * magnitude)
        return jnp.sqrt(jnp.mean(ratio * ratio))


class _Curve(NamedTuple):
    """The continuous extension of a step."""

    begin: Any
    length: Any
    parts: tuple

    def at(self, time: object) -> Any:
        here = jnp.where(self.length == 0, 0.0, (time - self.begin) / jnp.where(self.length == 0, 1.0, self.length))
        here = here.astype(self.parts[0].dtype)
        start, rise, first, second, bend = self.parts
        return start + here * (rise + (1 - here) * (first + here * (second + (1 - here) * bend)))


class _Front(NamedTuple):
    """How far the solution has come: value and slope at ``time``, the step to try next, and the last step taken."""

    time: Any
    value: Any
    slope: Any
    step: Any
    growth: Any  # by what the step may grow: not at all right after one that failed
    tries: Any  # since the last output
    curve: _Curve


def _curve_parts(start: Any, end: Any, slopes: Any, length: Any) -> tuple:
    rise = end - start
    first = length * slopes[0] - rise
    return start, rise, first, rise - length * slopes[-1] - first, length * _weighted(_BEND, slopes)


def _weighted(weights: tuple, slopes: list) -> Any:
    return sum(w * s for w, s in zip(weights, slopes) if w)


def _first_step(slope_at: Callable, time: Any, value: Any, slope: Any, control: _Control, order: int = 4) -> Any:
    """A step over which the explicit Euler method would err by about a hundredth of the tolerance."""
    height, steepness = control.size(value, value), control.size(slope, value)
    flat = (height < 1e-5) | (steepness < 1e-5)
    trial = jnp.where(flat, 1e-6, 0.01 * height / jnp.where(flat, 1.0, steepness)).astype(time.dtype)
    ahead = slope_at(value + trial.astype(value.dtype) * slope, time + trial)
    most = jnp.maximum(steepness, control.size(ahead - slope, value) / trial.astype(steepness.dtype))
    fitting = jnp.where(most <= 1e-15, jnp.maximum(1e-6, 1e-3 * trial), (0.01 / jnp.maximum(most, 1e-15)) ** (1 / (order + 1)))
    return jnp.minimum(jnp.minimum(100 * trial, fitting), control.hmax).astype(time.dtype)


def _stages(slope_at: Callable, value: Any, slope: Any, time: Any, step: Any) -> tuple[Any, list]:
    """The value after a step, and the slopes on the way, of which the last is that at its end."""
    length, slopes, end = step.astype(value.dtype), [slope], value
    for moment, weights in zip(_TIMES[1:], _SLOPES[1:]):
        end = value + length * _weighted(weights, slopes)
        slopes.append(slope_at(end, time + moment * step))
    return end, slopes


def _attempt(slope_at: Callable, control: _Control, front: _Front) -> _Front:
    """One step: taken if its error is within the tolerance, else only made shorter."""
    length = front.step.astype(front.value.dtype)
    end, slopes = _stages(slope_at, front.value, front.slope, front.time, front.step)
    error = control.size(length * _weighted(_ERROR, slopes), front.value, end)
    taken = error <= 1.0
    wanted = _SAFETY / jnp.where(error > 0, error, 1e-10) ** 0.2
    wanted = jnp.where(jnp.isfinite(error), wanted, 0.0)  # the step left the domain: a shorter one may not
    step = jnp.minimum(front.step * jnp.clip(wanted, _SHRINK, front.growth), control.hmax).astype(front.step.dtype)
    curve = _Curve(front.time, front.step, _curve_parts(front.value, end, slopes, length))
    tried = front._replace(step=step, growth=jnp.where(taken, _GROW, 1.0).astype(front.growth.dtype), tries=front.tries + 1)
    moved = tried._replace(time=front.time + front.step, value=end, slope=slopes[-1], curve=curve)
    return tree.map(partial(jnp.where, taken), moved, tried)


@partial(custom_vjp, nondiff_argnums=(0, 1))
def _trajectory(func: Callable, control: _Control, start: Any, times: Any, *args: Any) -> Any:
    """The values ``[n, size]`` at ``times`` of the solution that is the vector ``start`` at the first."""
    slope_at = lambda value, time: func(value, time, *args)

    def moves(front: _Front):  # a step so short that it changes nothing, or one that is NaN, ends the way
        return front.time + front.step > front.time

    def reach(front: _Front, target: Array):
        front = lax.while_loop(lambda f: (f.time < target) & (f.tries.astype(times.dtype) < control.mxstep) & moves(f),
                               partial(_attempt, slope_at, control), front._replace(tries=jnp.zeros_like(front.tries)))
        stuck = (front.time < target) & ~moves(front)
        return front, jnp.where(stuck, jnp.full_like(front.value, np.nan), front.curve.at(target))

    slope = slope_at(start, times[0])
    still = _Curve(times[0], jnp.zeros_like(times[0]), (start, *[jnp.zeros_like(start)] * 4))
    front = _Front(times[0], start, slope, _first_step(slope_at, times[0], start, slope, control),
                   jnp.full((), _GROW, times.dtype), jnp.zeros((), np.int32), still)
    values = lax.scan(reach, front, times[1:])[1]
    lost = jnp.cumsum(times[1:] < times[:-1]) > 0  # from the first time on that is before the one that precedes it
    return jnp.concatenate([start[None], jnp.where(lost[:, None], jnp.full_like(values, np.nan), values)])


def _trajectory_fwd(func, control, start, times, *args):
    values = _trajectory(func, control, start, times, *args)
    return values, (values, times, args)


def _trajectory_bwd(func, control, kept, bars):
    values, times, args = kept
    smooth = [dtypes.issubdtype(lax.dtype(a), np.inexact) for a in args]

    others = [None if s else a for s, a in zip(smooth, args)]  # `backwards` lives on in programs, and so holds no more than it must

    def completed(chosen):
        chosen = iter(chosen)
        return [next(chosen) if s else a for s, a in zip(smooth, others)]

    def backwards(state: PyTree, minus_time: Array, *chosen):
        """Slopes, in minus the time, of the solution, of its cotangent and of those of the arguments."""
        value, value_bar, _ = state
        slope, pull = autodiff.vjp(lambda v, *xs: func(v, -minus_time, *completed(xs)), value, *chosen)
        gained = pull(value_bar)
        return -slope, gained[0], list(gained[1:])

    def along(slope: Array, bar: Array):
        return jnp.real(jnp.dot(slope, bar)).astype(times.dtype)

    chosen = [a for s, a in zip(smooth, args) if s]

    def interval(carry, ends):
        value_bar, chosen_bars = carry
        value, bar, before, after = ends
        value_bar = value_bar + bar
        path = odeint(backwards, (value, value_bar, chosen_bars), jnp.stack([-after, -before]), *chosen, **control._asdict())
        return tree.map(lambda x: x[1], path[1:]), along(func(value, after, *args), bar)

    nothing = (jnp.zeros_like(bars[0]), [jnp.zeros_like(jnp.asarray(a)) for a in chosen])
    (start_bar, chosen_bars), time_bars = lax.scan(interval, nothing, (values[1:], bars[1:], times[:-1], times[1:]), reverse=True)
    first = -along(func(values[0], times[0], *args), start_bar)
    given = iter(chosen_bars)
    return start_bar + bars[0], jnp.concatenate([first[None], time_bars]), *[next(given) if s else None for s in smooth]


_trajectory.defvjp(_trajectory_fwd, _trajectory_bwd)


def odeint(func: Callable, y0: PyTree, t: ArrayLike, *args: Any, rtol: float = 1.4e-8, atol: float = 1.4e-8,
           mxstep: float = float("inf"), hmax: float = float("inf")) -> Any:
    """Solution of ``dy/dt = func(y, t, *args)`` with ``y(t[0]) = y0`` at the increasing times ``t``.

    Args:
      func: pure function of a pytree, a scalar time and pytrees of arrays; the result is like ``y0``.
      y0: pytree of float or complex arrays.
      t: ``float[n]``, strictly increasing.
      rtol, atol: tolerances of one step's error.
      mxstep: most steps that are tried between two times; where they do not suffice, the last one is continued.
      hmax: longest step.

    Returns:
      a pytree like ``y0`` with a leading axis of length ``n``. Differentiable in ``y0``, ``t`` and ``args``. NaN from where
      on no step, however short, meets the tolerance.

    Raises:
      TypeError: some argument is not an array; ``y0`` or ``t`` holds integers; ``func`` returns something of another size
        than ``y0``.
      ValueError: ``t`` is no vector.

    >>> from jax.experimental.ode import odeint
    >>> odeint(lambda y, t: -y, 1.0, jnp.array([0.0, 1.0]))
    Array([1.        , 0.36787945], dtype=float32)
    """
    for x in tree.leaves(args):
        if not (hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex))):
            raise TypeError(f"odeint: arguments must be arrays or numbers, got {x!r} of type {type(x).__name__}; close "
                            "over other values in func")
    start, unravel = ravel_pytree(tree.map(jnp.asarray, y0))
    times = jnp.asarray(t)
    if not (dtypes.issubdtype(start.dtype, np.inexact) and dtypes.issubdtype(times.dtype, np.floating)):
        raise TypeError(f"odeint: y0 must be of a float or complex dtype and t of a float one, got {start.dtype} and {times.dtype}; "
                        "write the numbers with a point")
    if times.ndim != 1:
        raise ValueError(f"odeint: t must be a vector of times, the first of which belongs to y0, got shape {times.shape}")
    leaves, structure = tree.flatten(args)

    def slope_at(vector: Array, time: Array, *xs):
        slope, _ = ravel_pytree(func(unravel(vector), time, *tree.unflatten(structure, xs)))
        if slope.shape != vector.shape:
            raise TypeError(f"odeint: func returns {slope.size} numbers, but y0 has {vector.size}; it must return the "
                            "derivative of each")
        return slope

    closed, consts = autodiff.closure_convert(slope_at, start, times[0], *leaves)
    given = [start, times, *leaves]
    joint = manual.vary_jointly([*given, *consts])[:len(given)]
    if any(x is not y for x, y in zip(given, joint)):  # parts of a manual region, each with its own steps
        start, times, *leaves = joint
        closed, consts = autodiff.closure_convert(slope_at, start, times[0], *leaves)
        consts = manual.vary_jointly([start, *consts])[1:]
    return vmap(unravel)(_trajectory(closed, _Control(rtol, atol, mxstep, hmax), start, times, *leaves, *consts))


# -- the parts, for solvers of one's own -------------------------------------------------------------------------------------------

def abs2(x: ArrayLike) -> Array:
    """The square of the absolute value, as a real number.

    >>> from jax.experimental import ode
    >>> ode.abs2(jnp.array([3 + 4j]))
    Array([25.], dtype=float32)
    """
    x = jnp.asarray(x)
    return jnp.real(x) ** 2 + jnp.imag(x) ** 2 if dtypes.issubdtype(x.dtype, np.complexfloating) else x ** 2


def ravel_first_arg(f: Callable, unravel: Callable) -> Callable:
    """``f`` as a function of a vector: ``unravel`` makes its first argument of it, and what it returns is made a vector.

    >>> from jax.experimental import ode
    >>> ode.ravel_first_arg(lambda y, t: {"a": y["a"] * t}, lambda v: {"a": v})(jnp.ones(2), 3.0)
    Array([3., 3.], dtype=float32)
    """
    def on_vector(vector: Array, *args):
        return ravel_pytree(f(unravel(vector), *args))[0]
    return on_vector


def runge_kutta_step(func: Callable, y0: Array, f0: Array, t0: Array, dt: Array) -> tuple[Array, Array, Array, Array]:
    """One step of the pair.

    Args:
      func: the slope at a value and a time.
      y0, f0, t0: value, slope and time at the start.
      dt: the length of the step.

    Returns:
      value and slope at the end, the estimate of the error, and the seven slopes on the way, stacked.

    Source: Hairer, Norsett, Wanner, II.5, table 5.2.

    >>> from jax.experimental import ode
    >>> y1, _, error, slopes = ode.runge_kutta_step(lambda y, t: -y, jnp.ones(1), -jnp.ones(1), jnp.array(0.0), jnp.array(0.1))
    >>> y1, slopes.shape
    (Array([0.9048374], dtype=float32), (7, 1))
    """
    y0, f0, dt = jnp.asarray(y0), jnp.asarray(f0), jnp.asarray(dt)
    end, slopes = _stages(func, y0, f0, t0, dt)
    return end, slopes[-1], dt.astype(end.dtype) * _weighted(_ERROR, slopes), jnp.stack(slopes)


def mean_error_ratio(error_estimate: Array, rtol: float, atol: float, y0: Array, y1: Array) -> Array:
    """The root mean square of the error in units of the tolerance; a step is good where it is at most 1.

    >>> from jax.experimental import ode
    >>> ode.mean_error_ratio(jnp.array([2e-3]), 0.0, 1e-3, jnp.ones(1), jnp.ones(1))
    Array(2., dtype=float32)
    """
    return _Control(rtol, atol, np.inf, np.inf).size(error_estimate, y0, y1)


def optimal_step_size(last_step: ArrayLike, mean_error_ratio: Array, safety: float = 0.9, ifactor: float = 10.0,
                      dfactor: float = 0.2, order: float = 5.0) -> Array:
    """The step to try after one of length ``last_step`` and this error.

    Args:
      safety: how much of the step that would just do is taken.
      ifactor, dfactor: by what a step changes at most; one that was good is not followed by a shorter one.
      order: of the method.

    Source: Hairer, Norsett, Wanner, II.4.

    >>> from jax.experimental import ode
    >>> ode.optimal_step_size(0.1, jnp.float32(0)), ode.optimal_step_size(0.1, jnp.float32(1e9))
    (Array(1., dtype=float32), Array(0.02, dtype=float32))
    """
    error = jnp.asarray(mean_error_ratio)
    wanted = safety / jnp.where(error == 0, 1.0, error) ** (1 / order)
    factor = jnp.clip(wanted, jnp.where(error < 1, 1.0, dfactor), ifactor)
    return last_step * jnp.where(error == 0, ifactor, factor)


def initial_step_size(fun: Callable, t0: ArrayLike, y0: Array, order: int, rtol: float, atol: float, f0: Array) -> Array:
    """A first step for a method of this order, where value and slope at ``t0`` are ``y0`` and ``f0``.

    Source: Hairer, Norsett, Wanner, II.4.

    >>> from jax.experimental import ode
    >>> ode.initial_step_size(lambda y, t: -y, 0.0, jnp.zeros(2), 4, 1e-6, 1e-6, jnp.zeros(2))
    Array(1.e-06, dtype=float32)
    """
    return _first_step(fun, jnp.asarray(t0), y0, f0, _Control(rtol, atol, np.inf, np.inf), order)


def fit_4th_order_polynomial(y0: Array, y1: Array, y_mid: Array, dy0: Array, dy1: Array, dt: ArrayLike) -> tuple:
    """Coefficients, that of the fourth power first, of the polynomial over [0, 1] with these values at start, end and middle and,
    over a step of length ``dt``, these slopes at start and end.

    >>> from jax.experimental import ode
    >>> [float(c) for c in ode.fit_4th_order_polynomial(*map(jnp.float32, (0, 1, 1 / 16, 0, 4, 1)))]
    [1.0, 0.0, 0.0, 0.0, 0.0]
    """
    slope0, slope1 = (jnp.asarray(dt * d).astype(jnp.asarray(y0).dtype) for d in (dy0, dy1))
    rise, turn, half = y1 - y0 - slope0, slope1 - slope0, 16 * (y_mid - y0) - 8 * slope0
    return 2 * turn - 8 * rise + half, -3 * turn + 14 * rise - 2 * half, turn - 5 * rise + half, slope0, y0


def interp_fit_dopri(y0: Array, y1: Array, k: Array, dt: Array) -> Array:
    """Coefficients, that of the fourth power first, of the continuous extension of a step with the slopes ``k``.

    >>> from jax.experimental import ode
    >>> start, dt = jnp.array(1.0), jnp.array(0.1)
    >>> y1, _, _, k = ode.runge_kutta_step(lambda y, t: -y, start, -start, jnp.array(0.0), dt)
    >>> jnp.polyval(ode.interp_fit_dopri(start, y1, k, dt), 0.5), jnp.exp(-0.05)
    (Array(0.95122945, dtype=float32), Array(0.95122945, dtype=float32, weak_type=True))
    """
    dt = jnp.asarray(dt)
    middle = _Curve(jnp.zeros_like(dt), dt, _curve_parts(y0, y1, k, dt.astype(y0.dtype))).at(dt / 2)
    return jnp.stack(fit_4th_order_polynomial(y0, y1, middle, k[0], k[-1], dt))
