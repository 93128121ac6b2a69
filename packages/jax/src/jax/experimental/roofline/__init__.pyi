"""Types of `jax.experimental.roofline`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue
from jax.sharding import AbstractMesh, Mesh
from typing import Any, Callable, Sequence
from jax.experimental.roofline import rooflines as rooflines

class RooflineResult:
    """Costs; they add up, but for the peak, of which the larger counts."""
    flops: int
    unfused_flops: int
    ici_bytes: dict
    ici_latency: dict
    hbm_bytes: int
    peak_hbm_bytes: int
    unfused_hbm_bytes: int
    def __add__(self, other: RooflineResult) -> RooflineResult: ...
    def __init__(self, *, flops: int = 0, unfused_flops: int = 0, ici_bytes: dict = ..., ici_latency: dict = ..., hbm_bytes: int = 0, peak_hbm_bytes: int = 0, unfused_hbm_bytes: int = 0) -> None: ...
    def __mul__(self, constant: int) -> RooflineResult: ...
    def __rmul__(self, constant: int) -> RooflineResult: ...
    @classmethod
    def zeros(cls) -> RooflineResult: ...
class RooflineRuleContext:
    """What a rule is told besides operands and parameters."""
    name_stack: Any
    primitive: Any
    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    jaxpr_eqn_ctx: Any
    mesh: Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool
    def __init__(self, *, name_stack: Any, primitive: Any, avals_in: Sequence[Any], avals_out: Sequence[Any], jaxpr_eqn_ctx: Any, mesh: Any, pin_lhs_in_vmem: bool, pin_rhs_in_vmem: bool) -> None: ...
class RooflineShape:
    """Shape and dtype of an array, and the bytes that it takes."""
    shape: tuple[int, ...]
    dtype: Any
    def __init__(self, *, shape: tuple[int, ...], dtype: Any) -> None: ...
    @property
    def bytes(self) -> Any: ...
    @classmethod
    def from_aval(cls, aval: AbstractValue) -> RooflineShape: ...
    @property
    def size(self) -> Any: ...
    @classmethod
    def total_bytes(cls, avals: Sequence[AbstractValue]) -> int: ...
def register_roofline(prim: Any) -> Callable[..., Any]:
    """A decorator: the function ``rule(ctx, *operands, **params) -> RooflineResult`` says what ``prim`` costs."""
def register_standard_roofline(prim: Any) -> None:
    """``prim`` costs nothing, as reshaping does."""
def roofline(f: Callable[..., Any], mesh: Mesh | AbstractMesh | None = None, in_specs: Any = None, out_specs: Any = None, *, pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False, vjp: bool = False, print_jaxpr: bool = False) -> Callable[..., Any]:
    """``f`` as a function that returns the types of its results and what they cost."""
def roofline_and_grad(f: Callable[..., Any], mesh: object, in_specs: Any, out_specs: Any, *, pin_lhs_in_vmem: bool = False, pin_rhs_in_vmem: bool = False, print_jaxpr: bool = False) -> Callable[..., Any]:
    """`roofline` of ``f`` and of its pullback."""
