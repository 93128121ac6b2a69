"""Types of `jax.experimental.ode`. Written by packages/jax/tools/make_stubs.py."""
from jax.typing import ArrayLike
from typing import Any, Callable

def odeint(func: Callable[..., Any], y0: Any, t: ArrayLike, *args: Any, rtol: float = 1.4e-08, atol: float = 1.4e-08, mxstep: float = ..., hmax: float = ...) -> Any:
    """Solution of ``dy/dt = func(y, t, *args)`` with ``y(t[0]) = y0`` at the increasing times ``t``."""
