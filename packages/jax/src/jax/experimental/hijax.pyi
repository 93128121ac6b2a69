"""Types of `jax.experimental.hijax`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.typing import ArrayLike
from typing import Any, Callable
from jax.ref import AbstractRef as AbstractRef
from jax.core import AbstractValue as AbstractValue
from jax.core import ShapedArray as ShapedArray

class AvalMutableQDD(AvalQDD):
    """The same for a value that changes."""
class AvalQDD(AbstractValue):
    """A type together with what it holds at some time."""
    def __init__(self, aval: AbstractValue, qdd: object) -> None: ...
    qdd: Any
class HiPrim:
    """Base class of primitives on high-level types."""
    def __init__(self, name: str) -> None: ...
    def bind(self, *args: Any, **params: Any) -> Any: ...
    multiple_results: bool
    name: Any
HiPrimitive = HiPrim
class HiType(AbstractValue):
    """Base class of high-level types. Subclasses say by which arrays a value is represented, and what its tangents are."""
    def vspace_zero(self) -> Any: ...
class Linear:
    """Stands for an operand whose cotangent a transpose rule must find. ``aval`` is its type."""
    def __init__(self, aval: AbstractValue) -> None: ...
    @property
    def aval(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> Any: ...
    @property
    def shape(self) -> Any: ...
class MutableHiType(HiType):
    """Base class of high-level types whose values change."""
class Zero:
    """A tangent or cotangent that is known to be zero and was never computed. ``aval`` is its type."""
    def __init__(self, aval: AbstractValue) -> None: ...
    @property
    def aval(self) -> AbstractValue: ...
    @staticmethod
    def from_primal_value(primal: ArrayLike) -> Zero: ...
    def instantiate(self) -> Any: ...
    @staticmethod
    def of(primal: ArrayLike) -> Zero:
        """The zero tangent of a primal value; its type is only worked out when somebody asks."""
class aval_method:
    """Marks a function as a method that tracers of a type have."""
    def __init__(self, fun: Callable[..., Any]) -> None: ...
    fun: Any
class aval_property:
    """Marks a function as a property that tracers of a type have."""
    def __init__(self, fget: Callable[..., Any]) -> None: ...
    fget: Any
control_flow_allowed_effects: Any
def instantiate_zeros(tangent: Any) -> Any:
    """``tangent`` itself, or an array of zeros for a `Zero`."""
def is_undefined_primal(x: object) -> bool:
    """Whether a transpose rule must find a cotangent for this operand."""
def register_hitype(val_cls: type, typeof_fn: Callable[..., Any]) -> None:
    """Say how the type of a value of class ``val_cls`` is found."""
