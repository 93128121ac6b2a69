"""Types of `jax.extend.linear_util`. Written by packages/jax/tools/make_stubs.py."""
from jax.extend.core import DebugInfo
from typing import Any, Callable

class StoreException(Exception):
    """Auxiliary data was read before it was there, or stored twice."""
class WrappedFun:
    """A function with transformations; run it with `call_wrapped`."""
    def __init__(self, f: Callable[..., Any], transforms: tuple = ..., params: dict | None = None, debug_info: DebugInfo | None = None, stores: tuple = ...) -> None: ...
    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any: ...
    @property
    def debug_info(self) -> Any: ...
    @property
    def f(self) -> Any: ...
    @property
    def f_transformed(self) -> Callable[..., Any]: ...
    @property
    def in_type(self) -> Any: ...
    @property
    def params(self) -> Any: ...
    def replace_debug_info(self, dbg: DebugInfo | None) -> WrappedFun: ...
    @property
    def stores(self) -> Any: ...
    @property
    def transforms(self) -> Any: ...
    def with_unknown_names(self) -> WrappedFun: ...
    def wrap(self, transform: Callable[..., Any]) -> WrappedFun: ...
def cache(call: Callable[..., object], *, explain: Callable[..., object] | None = None) -> Callable[..., Any]:
    """``call(wrapped_fun, *args)`` remembered for each underlying function and arguments."""
def merge_linear_aux(aux1: Callable[..., Any], aux2: Callable[..., Any]) -> tuple[bool, Any]:
    """Auxiliary data of whichever of two functions has run, and whether it was the first."""
def transformation(gen: Callable[..., Any], fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """``fun`` with the transformation of the generator function ``gen`` on it."""
def transformation2(gen: Callable[..., Any], fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Like `transformation`, written as a function ``(call, *gen_static_args, *args, **kwargs) -> result``."""
def transformation_with_aux(gen: Callable[..., Any], fun: WrappedFun | None = None, *gen_static_args: Any) -> Any:
    """Like `transformation`; the result is a pair with a function that gives the auxiliary data."""
def transformation_with_aux2(gen: Callable[..., Any], fun: WrappedFun | None = None, *gen_static_args: Any, use_eq_store: bool = False, unk_names: bool = False) -> Any:
    """Like `transformation2` with auxiliary data, which the function puts in its second argument, a `Store`."""
def wrap_init(f: Callable[..., Any], params: dict | None = None, *, debug_info: DebugInfo | None = None) -> WrappedFun:
    """``f`` without transformations yet."""
