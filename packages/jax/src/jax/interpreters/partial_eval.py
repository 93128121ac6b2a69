"""jax.interpreters.partial_eval: implemented in `jax_core.public.interpreters_partial_eval`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_core.public.interpreters_partial_eval", """
    DynamicJaxprTracer JaxprTracer PartialVal abstract_eval_fun close_jaxpr convert_constvars_jaxpr
    custom_partial_eval_rules dce_jaxpr dce_jaxpr_call_rule dce_jaxpr_closed_call_rule dce_jaxpr_consts dce_rules
    move_binders_to_back partial_eval_jaxpr_custom_rules partial_eval_jaxpr_nounits prune_closed_jaxpr_outputs
    trace_to_jaxpr_dynamic trace_to_jaxpr_nounits""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
