"""jax.extend.core: implemented in `jax_core.public.extend_core`."""
from jax._lazy import mirror as _mirror

__getattr__, __dir__ = _mirror(__name__, "jax_core.public.extend_core", """
    AbstractToken ClosedJaxpr DebugInfo DropVar Effect Effects InconclusiveDimensionOperation Jaxpr JaxprEqn
    JaxprTypeError Literal Primitive Token TraceTag Var array_types check_jaxpr concrete_or_error
    create_call_primitive eval_jaxpr_transpose find_top_trace gensym get_opaque_trace_state jaxpr_as_fun
    jaxprs_in_params mapped_aval new_jaxpr_eqn no_effects nonempty_axis_env_DO_NOT_USE
    primal_dtype_to_tangent_dtype primal_tangent_dtype register_call_primitive_rules set_current_trace
    stop_gradient_p subjaxprs take_current_trace unmapped_aval unsafe_am_i_under_a_jit_DO_NOT_USE
    unsafe_am_i_under_a_vmap_DO_NOT_USE unsafe_get_axis_names_DO_NOT_USE valid_jaxtype""",
    primitives="jax.extend.core.primitives")
