"""Types of `jax.interpreters.mlir`. Written by packages/jax/tools/make_stubs.py."""
from typing import Any, Callable

class LoweringParameters:
    """Not used here."""
class LoweringRule:
    """What `lower_fun` returns: a function of arrays that stands for the primitive when it is compiled."""
    def __call__(self, b: Any, *values: Any, **params: Any) -> Any: ...
    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None: ...
    multiple_results: Any
class LoweringRuleContext:
    """Not used here: rules get a `Builder`."""
class ModuleContext:
    """Not used here."""
def aval_to_ir_type(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def aval_to_ir_types(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def core_call_lowering(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def dense_int_array(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def dense_int_elements(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def dtype_to_ir_type(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def emit_python_callback(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def flatten_ir_types(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def flatten_ir_values(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def i32_attr(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def i64_attr(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def ir_attribute(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def ir_constant(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def ir_constants(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def jaxpr_subcomp(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> LoweringRule:
    """A lowering rule that traces ``fun(*arrays, **params)``."""
def lower_jaxpr_to_fun(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def lower_jaxpr_to_module(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def make_ir_context(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def merge_mlir_modules(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def module_to_bytecode(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def module_to_string(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def register_constant_handler(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def register_lowering(prim: Any, rule: Callable[..., Any], platform: str | None = None, inline: bool = True, cacheable: bool = True) -> Callable[..., Any]:
    """Set how ``prim`` is compiled, on all platforms or one."""
def shape_tensor(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def token_type(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
def unflatten_ir_values_like_types(*args: Any, **kwargs: Any) -> str:
    """Not supported: lowering writes text."""
