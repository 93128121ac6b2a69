"""jax.experimental.checkify: implemented in `jax_numpy_api.checkify`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.checkify", """
    DivisionByZeroError Error ErrorCategory FailedCheckError JaxException JaxRuntimeError NaNError OOBError
    all_checks automatic_checks check check_error checkify debug_check div_checks float_checks index_checks
    init_error nan_checks user_checks""")
