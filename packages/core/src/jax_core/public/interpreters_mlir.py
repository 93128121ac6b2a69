"""`jax.interpreters.mlir`: lowering rules for one's own primitives, given as functions of arrays.

Lowering here writes text (see `interfaces.Builder`), not objects of the MLIR bindings. A rule made by `lower_fun` is the
portable form and is supported whole; a rule that builds operations with the bindings is not.
"""
from __future__ import annotations

from typing import Any, Callable

from ..interfaces import Builder
from ..representation.primitive import Primitive


class LoweringRule:
    """What `lower_fun` returns: a function of arrays that stands for the primitive when it is compiled."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool):
        self.fun, self.multiple_results = fun, multiple_results

    def __call__(self, b: Builder, *values: Any, **params: Any) -> Any:
        outs = b.fun(self.fun, *values, **params)
        return outs if self.multiple_results else outs[0]


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> LoweringRule:
    """A lowering rule that traces ``fun(*arrays, **params)``.

    Args:
      multiple_results: ``fun`` returns a sequence, as the primitive does.
    """
    return LoweringRule(fun, multiple_results)


def register_lowering(prim: Primitive, rule: Callable, platform: str | None = None, inline: bool = True,
                      cacheable: bool = True) -> Callable:
    """Set how ``prim`` is compiled, on all platforms or one.

    Args:
      rule: made by `lower_fun`, or a function ``(builder, *values, **params)`` on a `Builder`.
    """
    if platform is None:
        prim.lower = rule
        return rule
    general, own = prim.lower, getattr(prim, "_lower_by_platform", {})
    own = {**own, platform: rule}
    prim._lower_by_platform = own

    def choose(b, *values, **params):
        chosen = own.get(b.platform, own.get("gpu") if b.platform in ("cuda", "rocm") else None) or general
        if chosen is None:
            raise NotImplementedError(f"primitive {prim.name!r} has no lowering rule for platform {b.platform!r}")
        return chosen(b, *values, **params)
    prim.lower = choose
    return rule


def _unavailable(name: str) -> Callable:
    def refuse(*args: Any, **kwargs: Any) -> str:
        raise NotImplementedError(f"jax.interpreters.mlir.{name} works on objects of the MLIR bindings, which lowering here "
                                  "does not use; write the rule with mlir.lower_fun")
    refuse.__name__ = name
    refuse.__doc__ = "Not supported: lowering writes text."
    return refuse


class LoweringRuleContext:
    """Not used here: rules get a `Builder`."""


class ModuleContext:
    """Not used here."""


class LoweringParameters:
    """Not used here."""


for _name in ("aval_to_ir_type", "aval_to_ir_types", "core_call_lowering", "dense_int_array", "dense_int_elements",
              "dtype_to_ir_type", "emit_python_callback", "flatten_ir_types", "flatten_ir_values", "i32_attr", "i64_attr",
              "ir_attribute", "ir_constant", "ir_constants", "jaxpr_subcomp", "lower_jaxpr_to_fun", "lower_jaxpr_to_module",
              "make_ir_context", "merge_mlir_modules", "module_to_bytecode", "module_to_string",
              "register_constant_handler", "shape_tensor", "token_type", "unflatten_ir_values_like_types"):
    globals()[_name] = _unavailable(_name)
del _name
