"""Types of `jax.custom_derivatives`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.typing import ArrayLike
from typing import Any, Callable
from jax import custom_jvp as custom_jvp
from jax import custom_vjp as custom_vjp

class CustomVJPPrimal:
    """What a forward function with ``symbolic_zeros`` gets: the ``value``, and whether it is ``perturbed``."""
    def __init__(self, value: ArrayLike, perturbed: bool) -> None: ...
    @property
    def perturbed(self) -> Any: ...
    @property
    def value(self) -> Any: ...
class SymbolicZero:
    """What a rule with ``symbolic_zeros`` gets for a tangent (or cotangent) that is zero: shape and dtype, no data."""
    def __init__(self, aval: AbstractValue) -> None: ...
    @property
    def dtype(self) -> Any: ...
    @staticmethod
    def from_primal_value(val: ArrayLike) -> SymbolicZero:
        """The zero tangent of ``val``."""
    @property
    def ndim(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
    @property
    def size(self) -> Any: ...
    aval: Any
def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Callable[..., Any], list]:
    """``fun`` with the traced values it closes over as explicit trailing arguments."""
def custom_gradient(fun: Callable[..., Any] | None = None, *, with_logs: bool = False, remat: bool = False, with_accums: object | None = None) -> Callable[..., Any]:
    """A function whose rule is a closure: ``fun(*args) -> (out, vjp)`` with ``vjp(cotangent) -> cotangents of args``."""
custom_jvp_call_p: Any
custom_vjp_call_p: Any
def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """The values in a pytree of what a forward function with ``symbolic_zeros`` gets."""
def linear_call(fun: Callable[..., Any], fun_transpose: Callable[..., object], residual_args: Any, linear_args: Any) -> Any:
    """``fun(residual_args, linear_args)``, linear in the second, with ``fun_transpose(residual_args, ct)`` as its transpose, whose transpose in turn is ``fun``."""
remat_opt_p: Any
def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a pytree ``val`` of values: arrays, or `SymbolicZero` objects."""
