"""jax._src.public_test_util: implemented in `jax_numpy_api.test_util`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.test_util", "check_close check_grads check_jvp check_vjp")
