"""jax.custom_derivatives: functions with derivatives of the user's own."""
from jax._gaps import missing as _missing
from jax._lazy import table as _table

_served, _names, __all__ = _table(__name__, {
    "custom_jvp": "jax_core.transformations.custom_jvp:custom_jvp",
    "custom_vjp": "jax_core.transformations.custom_vjp:custom_vjp",
    "custom_gradient": "jax_core.transformations.custom_vjp:custom_gradient",
    "closure_convert": "jax_core.transformations.autodiff:closure_convert",
    "linear_call": "jax_core.transformations.custom_vjp:linear_call",
    "remat_opt_p": "jax_core.transformations.custom_vjp_remat:remat_opt_p",
    "zero_from_primal": "jax_core.transformations.custom_vjp:zero_from_primal",
    "custom_vjp_primal_tree_values": "jax_core.transformations.custom_vjp:custom_vjp_primal_tree_values",
    "SymbolicZero": "jax_core.transformations.custom_jvp:SymbolicZero",
    "CustomVJPPrimal": "jax_core.transformations.custom_vjp:CustomVJPPrimal",
    "custom_jvp_call_p": "jax_core.transformations.custom_jvp:custom_jvp_call_p",
    "custom_vjp_call_p": "jax_core.transformations.custom_vjp:custom_vjp_call_p",
})
__getattr__, __dir__ = _missing(__name__, _served, _names)
