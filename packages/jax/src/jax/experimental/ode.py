"""jax.experimental.ode: implemented in `jax_numpy_api.ode`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.ode", """
    abs2 fit_4th_order_polynomial initial_step_size interp_fit_dopri mean_error_ratio odeint optimal_step_size ravel_first_arg
    runge_kutta_step""")
