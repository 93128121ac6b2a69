"""Types of `jax.experimental.checkify`. Written by packages/jax/tools/make_stubs.py."""
from jax.typing import ArrayLike
from typing import Any, Callable, Sequence, TypeAlias

class DivisionByZeroError(JaxException):
    """A division by zero."""
class Error:
    """Whether a check failed, and which; a pytree that can be returned from compiled functions."""
    def __init__(self, _code: Any, _payloads: dict, _sites: tuple, _parts: Sequence[tuple[Any, dict]] = ...) -> None: ...
    def get(self) -> str | None: ...
    def get_exception(self) -> JaxException | None: ...
    def throw(self) -> None: ...
    def tree_flatten(self) -> tuple[tuple, tuple]: ...
    @classmethod
    def tree_unflatten(cls, metadata: tuple, data: Sequence[Any]) -> Error: ...
ErrorCategory: TypeAlias = type[JaxException]
class FailedCheckError(JaxException):
    """A `check` of the program did not hold."""
class JaxException(Exception):
    """What failed: base class of the causes of what `Error.throw` raises. Sets of its subclasses say what `checkify` looks for."""
class JaxRuntimeError(ValueError):
    """A check failed."""
class NaNError(JaxException):
    """An operation gave NaN."""
class OOBError(JaxException):
    """An index was out of bounds."""
all_checks: frozenset
automatic_checks: frozenset
def check(pred: ArrayLike, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check that ``pred`` holds; inside a compiled function only `checkify` makes it possible."""
def check_error(error: Error) -> None:
    """Raise (or check, inside a function that is checkified again) what ``error`` holds."""
def checkify(f: Callable[..., Any], errors: frozenset = ...) -> Callable[..., Any]:
    """``f`` with its checks made part of its result."""
def debug_check(pred: ArrayLike, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """A `check` for functions that are given to `checkify`; elsewhere it costs nothing, as nobody looks."""
div_checks: frozenset
float_checks: frozenset
index_checks: frozenset
init_error: Error
nan_checks: frozenset
user_checks: frozenset
