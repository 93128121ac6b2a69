"""jax.interpreters.mlir: implemented in `jax_core.public.interpreters_mlir`."""
from jax._gaps import missing as _missing
from jax._lazy import mirror as _mirror

_served, _names = _mirror(__name__, "jax_core.public.interpreters_mlir", """
    LoweringParameters LoweringRule LoweringRuleContext ModuleContext aval_to_ir_type aval_to_ir_types
    core_call_lowering dense_int_array dense_int_elements dtype_to_ir_type emit_python_callback flatten_ir_types
    flatten_ir_values i32_attr i64_attr ir_attribute ir_constant ir_constants jaxpr_subcomp lower_fun
    lower_jaxpr_to_fun lower_jaxpr_to_module make_ir_context merge_mlir_modules module_to_bytecode
    module_to_string register_constant_handler register_lowering shape_tensor token_type
    unflatten_ir_values_like_types""")
__getattr__, __dir__ = _missing(__name__, _served, _names)
