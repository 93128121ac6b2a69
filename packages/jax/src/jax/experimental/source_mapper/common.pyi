"""Types of `jax.experimental.source_mapper.common`. Written by packages/jax/tools/make_stubs.py."""
from jax import _Block
from jax.experimental.source_mapper import Pass, SourceMapDump
from typing import Any, Callable, Iterator
from jax.experimental.source_mapper import Pass as Pass
from jax.experimental.source_mapper import SourceMapDump as SourceMapDump

class CompileFn:
    """Brings a function, called with given arguments, to the stage of a pass."""
    def __call__(self, work_dir: str, fn: Callable[..., Any], f_args: tuple, f_kwargs: dict[str, Any], /, **kwargs: Any) -> Any: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
class GenerateDumpFn:
    """Prints what a `CompileFn` made, with its source map."""
    def __call__(self, compile_result: Any, /, **kwargs: Any) -> SourceMapDump: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
def all_passes() -> list[Pass]:
    """All passes, in the order in which they were registered."""
def compile_with_env(f: Callable[..., Any], f_args: tuple, f_kwargs: dict[str, Any], env_flags: dict[str, Any], compiler_flags: dict[str, Any]) -> Any:
    """Lower ``f(*f_args, **f_kwargs)`` under flags and compile it with options for the compiler."""
def filter_passes(regex: str) -> list[Pass]:
    """The passes whose name begins with what ``regex`` matches."""
def flag_env(**kwargs: Any) -> _Block:
    """Within it, the flags of `jax.config` named have the given values."""
def register_pass(pass_: Pass) -> None:
    """Add a pass."""
