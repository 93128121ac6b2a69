"""jax.interpreters.mlir: implemented in `jax_core.public.interpreters_mlir`, and what needs the bindings in `jax_xla_backend.lowering.bindings`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_core.public.interpreters_mlir", """
    LoweringRule lower_fun lower_jaxpr_to_fun lower_jaxpr_to_module merge_mlir_modules register_lowering""", **{
    name: f"jax_xla_backend.lowering.bindings:{name}" for name in (
        "DEVICE_TO_DEVICE_TYPE", "LoweringParameters", "LoweringRuleContext", "ModuleContext", "RECV_FROM_HOST_TYPE",
        "SEND_TO_HOST_TYPE", "Token", "TokenSet", "aval_to_ir_type", "aval_to_ir_types", "core_call_lowering", "custom_call", "dense_int_array",
        "dense_int_elements", "dtype_to_ir_type", "emit_python_callback", "flatten_ir_types", "flatten_ir_values", "i32_attr", "i64_attr",
        "ir", "ir_attribute", "ir_constant", "ir_constants", "jaxpr_subcomp", "make_ir_context", "module_to_bytecode",
        "module_to_string", "register_constant_handler", "shape_tensor", "token_type", "unflatten_ir_values_like_types")},
    **{name: f"jax_xla_backend.lowering.axis_contexts:{name}" for name in (
        "AxisContext", "SPMDAxisContext", "ShapePolyLoweringState", "ShardingContext")},
    Mesh="jax_xla_backend.placement.mesh:Mesh", Value="jax_xla_backend.lowering.bindings:Token")
__getattr__, __dir__ = _missing(__name__, _served, _names)
