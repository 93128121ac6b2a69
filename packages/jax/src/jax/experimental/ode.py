"""jax.experimental.ode: implemented in `jax_numpy_api.ode`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.ode", "odeint")
