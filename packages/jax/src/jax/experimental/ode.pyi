"""Types of `jax.experimental.ode`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.typing import ArrayLike
from typing import Any, Callable

def abs2(x: ArrayLike) -> Array:
    """The square of the absolute value, as a real number."""
def fit_4th_order_polynomial(y0: Array, y1: Array, y_mid: Array, dy0: Array, dy1: Array, dt: ArrayLike) -> tuple:
    """Coefficients, that of the fourth power first, of the polynomial over [0, 1] with these values at start, end and middle and, over a step of length ``dt``, these slopes at start and end."""
def initial_step_size(fun: Callable[..., Any], t0: ArrayLike, y0: Array, order: int, rtol: float, atol: float, f0: Array) -> Array:
    """A first step for a method of this order, where value and slope at ``t0`` are ``y0`` and ``f0``."""
def interp_fit_dopri(y0: Array, y1: Array, k: Array, dt: Array) -> Array:
    """Coefficients, that of the fourth power first, of the continuous extension of a step with the slopes ``k``."""
def mean_error_ratio(error_estimate: Array, rtol: float, atol: float, y0: Array, y1: Array) -> Array:
    """The root mean square of the error in units of the tolerance; a step is good where it is at most 1."""
def odeint(func: Callable[..., Any], y0: Any, t: ArrayLike, *args: Any, rtol: float = 1.4e-08, atol: float = 1.4e-08, mxstep: float = ..., hmax: float = ...) -> Any:
    """Solution of ``dy/dt = func(y, t, *args)`` with ``y(t[0]) = y0`` at the increasing times ``t``."""
def optimal_step_size(last_step: ArrayLike, mean_error_ratio: Array, safety: float = 0.9, ifactor: float = 10.0, dfactor: float = 0.2, order: float = 5.0) -> Array:
    """The step to try after one of length ``last_step`` and this error."""
def ravel_first_arg(f: Callable[..., Any], unravel: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as a function of a vector: ``unravel`` makes its first argument of it, and what it returns is made a vector."""
def runge_kutta_step(func: Callable[..., Any], y0: Array, f0: Array, t0: Array, dt: Array) -> tuple[Array, Array, Array, Array]:
    """One step of the pair."""
