"""Types of `jax.experimental.hijax`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence
from jax.ref import AbstractRef as AbstractRef
from jax.core import AbstractValue as AbstractValue
from jax.core import ShapedArray as ShapedArray

class AvalMutableQDD(AvalQDD):
    """The same for a value that changes."""
class AvalQDD(AbstractValue):
    """A type together with what it holds at some time."""
    def __init__(self, aval: AbstractValue, qdd: object) -> None: ...
    qdd: Any
class GradAccum:
    """Where a rule puts the cotangent of an operand of type ``aval``."""
    aval: AbstractValue
    def accum(self, x: object) -> None: ...
    def freeze(self) -> Any: ...
class HiPrim:
    """Base class of primitives on values of any types, also high-level ones."""
    in_avals: Any
    out_aval: Any
    params: dict
    effects: Any
    def __call__(self, *args: Any) -> Any: ...
    def __init__(self) -> None: ...
    def batch(self, axis_data: Any, args: Sequence[Any], dims: Sequence[object]) -> tuple[Any, Any]: ...
    def expand(self, *args: Any) -> Any: ...
    def jvp(self, primals: Sequence[object], tangents: Sequence[object]) -> tuple[Any, Any]: ...
    def lin(self, nzs_in: Any, *primals: Any) -> tuple[Any, Any]: ...
    def linearized(self, residuals: Any, *tangents: Any) -> Any: ...
    skip_linearization_on_zero_tangents: bool
    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None: ...
    def vjp_bwd(self, res: Any, outgrad: object, /, *arg_accums: GradAccum) -> None: ...
    def vjp_bwd_retval(self, res: Any, outgrad: object, /) -> Any: ...
    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, Any]: ...
    out_tree: Any
HiPrimitive = HiPrim
class HiPspec:
    """Base class of what says how a value of a high-level type is split over a mesh."""
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
class MappingSpec:
    """Base class of what says how `vmap` maps a value of a high-level type."""
class MutableHiType(HiType):
    """Base class of high-level types whose values change."""
class NullAccum(GradAccum):
    """For an operand that is not differentiated."""
    def __init__(self, aval: AbstractValue) -> None: ...
    aval: Any
VJPHiPrimitive = HiPrim
class ValAccum(GradAccum):
    """Keeps the sum as a value."""
    def __init__(self, aval: AbstractValue, val: Any = None) -> None: ...
    val: Any
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
    """Marks a function as a method that tracers of a high-level type have."""
    def __init__(self, fun: Callable[..., Any]) -> None: ...
    fun: Any
class aval_property:
    """Marks a function as a property that tracers of a high-level type have."""
    def __init__(self, fget: Callable[..., Any]) -> None: ...
    fget: Any
def bdims_at_front(axis_data: object, args: Sequence[object], dims: Sequence[int | None]) -> tuple:
    """``args`` with their mapped axes in front."""
control_flow_allowed_effects: Any
def instantiate_zeros(tangent: object) -> Any:
    """``tangent`` itself, or an array of zeros for a `Zero`."""
def is_undefined_primal(x: object) -> bool:
    """Whether a transpose rule must find a cotangent for this operand."""
def jvp_from_lin(self: HiPrim, primals: Sequence[object], tangents: Sequence[object]) -> tuple[Any, Any]:
    """`HiPrim.jvp` by ``lin`` and ``linearized``."""
linearize_from_jvp: tuple
def register_hitype(val_cls: type, typeof_fn: Callable[..., Any]) -> None:
    """Say how the type of a value of class ``val_cls`` is found."""
vjp_from_jvp: tuple
vjp_from_lin: tuple
