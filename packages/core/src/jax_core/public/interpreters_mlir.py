"""`jax.interpreters.mlir`: lowering rules for one's own primitives.

Lowering here writes text (see `interfaces.Builder`). A rule made by `lower_fun` traces a function of arrays. Any other rule gets a
context and values of jaxlib's MLIR bindings, and what it builds is written into the program (`interfaces.Builder.with_bindings`).
The names of this module that need the bindings are the backend's.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ..interfaces import Builder
from ..representation.arguments import takes
from ..representation.primitive import Primitive

if TYPE_CHECKING:
    from ..representation.typing import PyTree


class RuleContext:
    """Base class of what a rule on the bindings is told of the equation that it lowers."""

    def run_on_builder(self, write: Callable[..., object], values: Sequence[object], params: dict) -> list:
        """What ``write(builder, *values, **params)`` makes."""
        raise NotImplementedError(f"{type(self).__name__} cannot call rules on a Builder")


class BuilderRule:
    """A lowering rule on a `Builder`: ``rule(builder, *values, **params)``. Rules on the bindings may call it with what they got."""

    def __init__(self, write: Callable[..., Any]):
        self.write = write

    def __call__(self, b: Builder | RuleContext, /, *values: Any, **params: Any) -> Any:
        if isinstance(b, RuleContext):
            return b.run_on_builder(self.write, values, params)
        return self.write(b, *values, **params)


class LoweringRule(BuilderRule):
    """What `lower_fun` returns: a function of arrays that stands for the primitive when it is compiled."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool):
        super().__init__(self._traced)
        self.fun, self.multiple_results = fun, multiple_results

    def _traced(self, b, /, *values, **params):
        outs = b.fun(self.fun, *values, **params)
        return outs if self.multiple_results else outs[0]


def lower_fun(fun: Callable[..., PyTree], multiple_results: bool = True) -> LoweringRule:
    """A lowering rule that traces ``fun(*arrays, **params)``.

    Args:
      multiple_results: ``fun`` returns a sequence, as the primitive does.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import mlir
    >>> square_p = Primitive("square_of_lowering_example")
    >>> _ = square_p.def_abstract_eval(lambda x: x)
    >>> _ = mlir.register_lowering(square_p, mlir.lower_fun(lambda x: x * x, multiple_results=False))
    >>> jax.jit(square_p.bind)(3.)
    Array(9., dtype=float32, weak_type=True)
    """
    return LoweringRule(fun, multiple_results)


@takes(prim=Primitive)
def register_lowering(prim: Primitive, rule: Callable, platform: str | None = None, inline: bool = True,
                      cacheable: bool = True) -> Callable:
    """Set how ``prim`` is compiled, on all platforms or one.

    Args:
      rule: made by `lower_fun` or `jax.ffi.ffi_lowering`, or a function ``(context, *values, **params)`` on the MLIR bindings.

    >>> from jax.extend.core import Primitive
    >>> from jax.interpreters import mlir
    >>> cube_p = Primitive("cube_of_lowering_example")
    >>> _ = cube_p.def_abstract_eval(lambda x: x)
    >>> _ = mlir.register_lowering(cube_p, mlir.lower_fun(lambda x: x * x * x, multiple_results=False), platform="cpu")
    >>> jax.jit(cube_p.bind)(2.)
    Array(8., dtype=float32, weak_type=True)
    """
    write = rule if isinstance(rule, BuilderRule) else _on_bindings(prim, rule)
    if platform is None:
        prim.lower = write
        return rule
    general, own = prim.lower, getattr(prim, "_lower_by_platform", {})
    own = {**own, platform: write}
    prim._lower_by_platform = own

    def choose(b: Builder, /, *values, **params):
        chosen = own.get(b.platform, own.get("gpu") if b.platform in ("cuda", "rocm") else None) or general
        if chosen is None:
            raise NotImplementedError(f"primitive {prim.name!r} has no lowering rule for platform {b.platform!r}")
        return chosen(b, *values, **params)
    prim.lower = choose
    return rule


def _on_bindings(prim, rule):
    def write(b: Builder, /, *values, **params):
        outs = b.with_bindings(prim, rule, *values, **params)
        return outs if prim.multiple_results else outs[0]
    return write


def _unavailable(name: str) -> Callable:
    def refuse(*args: Any, **kwargs: Any) -> str:
        raise NotImplementedError(f"jax.interpreters.mlir.{name} puts whole modules of the MLIR bindings together, which lowering "
                                  "here does not use; write a rule with mlir.lower_fun, or use jax.export")
    refuse.__name__ = name
    refuse.__doc__ = "Not supported: lowering writes text."
    return refuse


for _name in ("lower_jaxpr_to_fun", "lower_jaxpr_to_module", "merge_mlir_modules"):
    globals()[_name] = _unavailable(_name)
del _name
