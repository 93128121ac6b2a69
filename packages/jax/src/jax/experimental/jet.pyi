"""Types of `jax.experimental.jet`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import Trace, Tracer
from jax.extend.linear_util import WrappedFun
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence, TypeGuard

class JetTrace(Trace):
    """Computes with truncated power series; all arithmetic is done by the parent."""
    parent: Any
    def __init__(self, parent: Trace, order: int) -> None: ...
    def coefficient(self, x: ArrayLike | JetTracer, k: int) -> Any: ...
    @property
    def created(self) -> Any: ...
    def derivative(self, x: JetTracer) -> Any: ...
    @property
    def memo(self) -> Any: ...
    @property
    def order(self) -> Any: ...
    def order_of(self, args: Sequence[Any]) -> int: ...
    def owns(self, x: ArrayLike | JetTracer) -> TypeGuard[JetTracer]: ...
    @property
    def parent_trace(self) -> Trace: ...
    def primals(self, args: Sequence[Any]) -> list: ...
    def to_primal_terms_pair(self, val: ArrayLike | JetTracer) -> tuple[Any, list]: ...
    def wrap(self, outs: Sequence[object], order: int, following: Callable[[int, list], Sequence[Any]]) -> list: ...
class JetTracer(Tracer):
    """A truncated power series."""
    primal: Any
    def __init__(self, trace: JetTrace, primal: Any, order: int, following: Callable[[int], Any]) -> None: ...
    def coefficient(self, k: int) -> Any: ...
    @property
    def order(self) -> Any: ...
    @property
    def terms(self) -> list: ...
class ZeroSeries:
    """A series whose coefficients are all zero: stands in place of a list of them."""
class ZeroTerm:
    """A coefficient that is zero: stands in a series in place of an array."""
call_param_updaters: dict
def def_comp(prim: Any, comp: Callable[..., Any], **kwargs: Any) -> None:
    """Declare ``prim`` by a function of arrays that computes the same and can be expanded."""
def def_deriv(prim: Any, deriv: Callable[..., Any]) -> None:
    """Declare ``prim``, a function of one variable, by its first derivative."""
def deflinear(prim: Any) -> None:
    """Declare ``prim`` linear in all operands together."""
def defzero(prim: Any) -> None:
    """Declare ``prim`` constant between jumps."""
def deriv_prop(prim: Any, deriv: Callable[..., Any], primals_in: Sequence[Any], series_in: Sequence[Any]) -> tuple[Any, Any]:
    """The rule of a function of one variable whose first derivative is ``deriv``: ``y' = deriv(x) x'``."""
def fact(n: int) -> int:
    """``n!``"""
def jet(fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[object], factorial_scaled: bool = True, **_: Any) -> tuple[Any, Any]:
    """Value and higher derivatives of ``fun`` at the start of a curve, all in one pass of Taylor mode."""
def jet2(fun: Callable[..., Any], primals: Sequence[Any], series: Sequence[object], *, factorial_scaled: bool = False, **_: Any) -> tuple[Any, Any]:
    """As `jet`, of Taylor coefficients: not scaled by factorials."""
def jet_fun(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
    """What `jet_subtrace` made of a flat function, with arrays in place of symbolic zeros."""
jet_rules: dict
def jet_subtrace(fun: WrappedFun, *gen_static_args: Any) -> WrappedFun:
    """Values and coefficients of a flat function; `zero_series` where all are zero."""
def linear_prop(prim: Any, primals_in: Sequence[object], series_in: Sequence[object], **params: Any) -> tuple[Any, Any]:
    """The rule of a primitive that is linear in all operands together: derivatives go through it order by order."""
def traceable(fun: WrappedFun, *gen_static_args: Any, use_eq_store: bool = False, unk_names: bool = False) -> tuple[WrappedFun, Callable[..., Any]]:
    """A function of ``(primals, series)`` as a flat one; the structure of its result goes to the store."""
def zero_prop(prim: Any, primals_in: Sequence[Any], series_in: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    """The rule of a primitive that is constant between jumps: the derivatives are zero."""
zero_series: ZeroSeries
zero_term: ZeroTerm
