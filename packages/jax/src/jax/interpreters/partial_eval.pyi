"""Types of `jax.interpreters.partial_eval`. Written by packages/jax/tools/make_stubs.py."""
from jax.core import AbstractValue, Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.extend.linear_util import WrappedFun
from typing import Any, Callable, MutableMapping, Sequence

class DynamicJaxprTracer(Tracer):
    """A value of the program being written."""
    def __init__(self, trace: Any, aval: AbstractValue, var: Any) -> None: ...
    def get_const(self) -> Any: ...
    @property
    def parent(self) -> Any: ...
JaxprTracer = DynamicJaxprTracer
class PartialVal(tuple):
    """A pair (type, value); one of the two is None."""
    def get_aval(self) -> AbstractValue: ...
    def get_known(self) -> Any: ...
    def is_known(self) -> bool: ...
    @classmethod
    def known(cls, value: object) -> PartialVal: ...
    @classmethod
    def unknown(cls, aval: AbstractValue) -> PartialVal: ...
def abstract_eval_fun(fun: Callable[..., Any], *avals: AbstractValue, debug_info: object | None = None, **params: Any) -> list[AbstractValue]:
    """Result types of a function of arrays; ``debug_info`` is for messages."""
def close_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> ClosedJaxpr:
    """``jaxpr`` without constants, closed."""
def convert_constvars_jaxpr(jaxpr: Jaxpr) -> Jaxpr:
    """The same program with its constants as leading inputs."""
custom_partial_eval_rules: dict
def dce_jaxpr(jaxpr: Jaxpr, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False, live_inputs: bool | Sequence[bool] = True) -> tuple[Jaxpr, list[bool]]:
    """``jaxpr`` without what its used outputs do not need, and which inputs it still reads."""
def dce_jaxpr_call_rule(used_outputs: list[bool], live_ins: list[bool], eqn: JaxprEqn) -> tuple[list[bool], Any]:
    """A rule for `dce_rules`: for primitives that run the program ``call_jaxpr`` of their parameters on their operands."""
def dce_jaxpr_closed_call_rule(used_outputs: list[bool], live_ins: list[bool], eqn: JaxprEqn) -> tuple[list[bool], Any]:
    """A rule for `dce_rules`: for primitives that run the program ``call_jaxpr`` of their parameters on their operands."""
def dce_jaxpr_consts(jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool = False) -> tuple[Jaxpr, list[bool], list[bool]]:
    """Like `dce_jaxpr`, also for constants: the program, used constants, used inputs."""
dce_rules: MutableMapping
def move_binders_to_back(closed_jaxpr: ClosedJaxpr, to_move: Sequence[bool]) -> ClosedJaxpr:
    """``closed_jaxpr`` with the marked inputs after the others."""
partial_eval_jaxpr_custom_rules: dict
def partial_eval_jaxpr_nounits(jaxpr: ClosedJaxpr, unknowns: Sequence[bool], instantiate: bool | Sequence[bool] = False, *args: Any) -> Any:
    """Split a program into what can be computed from the known inputs and the rest."""
def prune_closed_jaxpr_outputs(jaxpr: ClosedJaxpr, used_outputs: Sequence[bool]) -> ClosedJaxpr:
    """``jaxpr`` with some of its results."""
def trace_to_jaxpr_dynamic(fun: Callable[..., Any], in_avals: Sequence[AbstractValue], *, keep_inputs: Sequence[bool] | None = None, lower: bool = False, auto_dce: bool = False) -> tuple[Jaxpr, list, list]:
    """Trace a wrapped flat function: the jaxpr, result types, and values of its constants."""
def trace_to_jaxpr_nounits(fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False) -> Any:
    """Trace with some arguments known: the program of the unknown ones, partial values of the results, and constants."""
