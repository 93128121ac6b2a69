"""Types of `jax.extend.lowering`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.interpreters.mlir import ModuleContext
from typing import Any, Callable, Sequence

JaxIrContext = Any
class LoweringRuleContext:
    """What a rule is told of the equation that it lowers."""
    module_context: ModuleContext
    name_stack: Any
    traceback: Any
    primitive: Any
    avals_in: Sequence[AbstractValue]
    avals_out: Sequence[AbstractValue]
    tokens_in: Any
    tokens_out: Any
    const_lowering: dict
    axis_size_env: Any
    dim_var_values: Sequence[Any]
    jaxpr_eqn_ctx: Any
    platforms: Sequence[str] | None
    def __init__(self, module_context: ModuleContext, name_stack: Any = None, traceback: Any = None, primitive: Any = None, avals_in: Sequence[AbstractValue] = ..., avals_out: Sequence[AbstractValue] = ..., tokens_in: Any = None, tokens_out: Any = None, const_lowering: dict = ..., axis_size_env: Any = None, dim_var_values: Sequence[Any] = ..., jaxpr_eqn_ctx: Any = None, platforms: Sequence[str] | None = None) -> None: ...
    def is_forward_compat(self) -> bool: ...
    def replace(self, **fields: Any) -> LoweringRuleContext: ...
    def run_on_builder(self, write: Callable[..., Any], values: Sequence[Any], params: dict) -> list: ...
    def set_tokens_out(self, tokens_out: Any) -> None: ...
upstream_dialects: Any
