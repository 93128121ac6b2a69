"""Types of `jax.interpreters.ad`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue, Trace, Tracer
from jax.experimental.hijax import Linear
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.extend.linear_util import WrappedFun
from jax.typing import ArrayLike
from typing import Any, Callable, MutableMapping, Sequence
from jax.experimental.hijax import Zero as Zero

class JVPTrace(Trace):
    """Pushes tangents forward; all work is done by the parent."""
    parent: Any
    def pair(self, primal: object, tangent: object) -> Any: ...
    def read_ref(self, ref: Any) -> Any: ...
    def refuse_change(self, prim: Any, ref: object, value: object) -> Any: ...
    def split(self, x: Any) -> tuple[Any, Any]: ...
    def to_primal_tangent_pair(self, val: object) -> tuple[Any, Any]: ...
    def write_ref(self, ref: Any, value: object) -> Any: ...
class JVPTracer(Tracer):
    """A value with its tangent (never a `Zero`: values without tangent are not wrapped)."""
    primal: Any
    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any) -> None: ...
    @property
    def tangent(self) -> Any: ...
UndefinedPrimal = Linear
def add_jaxvals(x: ArrayLike, y: ArrayLike) -> Any:
    """Sum of two tangents or cotangents, either of which may be a `Zero`."""
add_jaxvals_p: Any
def add_tangents(x: ArrayLike, y: ArrayLike) -> Any:
    """Sum of two tangents or cotangents, either of which may be a `Zero`."""
def backward_pass(jaxpr: Jaxpr, transform_stack: bool, consts: Sequence[object], primals_in: Sequence[Any], cts_in: Sequence[object], *, return_logs: bool = False) -> list:
    """Cotangents of the linear inputs of a program: of those of ``primals_in`` that are an `UndefinedPrimal`."""
def defbilinear(prim: Any, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]) -> None:
    """Make ``prim`` linear in each of two operands; ``lhs_rule(cotangent, x, y, **params)`` is the cotangent of the first."""
def defjvp(primitive: Any, *jvprules: Callable[..., Any] | None) -> None:
    """Set a rule for each operand: ``rule(tangent, *primals, **params)`` is what it contributes."""
def defjvp2(primitive: Any, *jvprules: Callable[..., Any] | None) -> None:
    """Set a rule for each operand that also gets the result: ``rule(tangent, out, *primals, **params)``."""
def deflinear(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, **params)`` gives a list of cotangents."""
def deflinear2(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """Make ``primitive`` linear; ``transpose_rule(cotangent, *operands, **params)`` gives a list of cotangents."""
def get_primitive_transpose(p: Any) -> Callable[..., Any]:
    """The transpose rule of ``p``; raises NotImplementedError if it has none."""
def instantiate_zeros(tangent: object) -> Any:
    """``tangent`` itself, or an array of zeros for a `Zero`."""
def is_undefined_primal(x: object) -> bool:
    """Whether a transpose rule must find a cotangent for this operand."""
def jvp(fun: WrappedFun, has_aux: bool = False, instantiate: bool | Sequence[bool] = True, transform_stack: bool = True) -> Any:
    """A wrapped flat function `linear_util` of ``(primals, tangents)`` that returns ``(results, tangents)``."""
def jvp_jaxpr(jaxpr: ClosedJaxpr, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool]) -> tuple:
    """The program ``(primals, tangents of the nonzero ones) -> (results, tangents)``, and which results have a tangent."""
def linearize(jaxpr: WrappedFun, *primals: Any, **kwargs: Any) -> Any:
    """Linearize a flat wrapped function; see `jax.linearize` for functions of pytrees."""
primitive_jvps: MutableMapping
primitive_transposes: MutableMapping
def zeros_like_aval(aval: AbstractValue) -> Any:
    """Zeros of type ``aval``; for float0 a NumPy array, as it has no contents."""
