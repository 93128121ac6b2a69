"""Types of `jax.extend.lowering`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.extend.core import Primitive
from jax.interpreters.mlir import ModuleContext, TokenSet
from typing import Any, Callable, Sequence

JaxIrContext = Any
class LoweringRuleContext:
    """What a rule is told of the equation that it lowers."""
    module_context: ModuleContext
    name_stack: object
    traceback: object
    primitive: Primitive | None
    avals_in: Sequence[AbstractValue]
    avals_out: Sequence[AbstractValue]
    tokens_in: TokenSet | None
    tokens_out: TokenSet | None
    const_lowering: dict
    axis_size_env: object
    dim_var_values: Sequence[Any]
    jaxpr_eqn_ctx: object
    platforms: Sequence[str] | None
    def __init__(self, module_context: ModuleContext, name_stack: object | None = None, traceback: object | None = None, primitive: Primitive | None = None, avals_in: Sequence[AbstractValue] = ..., avals_out: Sequence[AbstractValue] = ..., tokens_in: TokenSet | None = None, tokens_out: TokenSet | None = None, const_lowering: dict = ..., axis_size_env: object | None = None, dim_var_values: Sequence[Any] = ..., jaxpr_eqn_ctx: object | None = None, platforms: Sequence[str] | None = None) -> None: ...
    def is_forward_compat(self) -> bool: ...
    def replace(self, **fields: Any) -> LoweringRuleContext: ...
    def run_on_builder(self, write: Callable[..., object], values: Sequence[object], params: dict) -> list: ...
    def set_tokens_out(self, tokens_out: TokenSet) -> None: ...
upstream_dialects: Any
