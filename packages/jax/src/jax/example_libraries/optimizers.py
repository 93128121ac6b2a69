"""jax.example_libraries.optimizers: implemented in `jax_numpy_api.example_libraries.optimizers`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_numpy_api.example_libraries.optimizers", """
    Array InitFn JoinPoint Optimizer OptimizerState Params ParamsFn Schedule State Step UpdateFn Updates adagrad
    adam adamax clip_grads constant exponential_decay inverse_time_decay l2_norm make_schedule momentum nesterov
    optimizer pack_optimizer_state piecewise_constant polynomial_decay rmsprop rmsprop_momentum sgd sm3
    unpack_optimizer_state""")
