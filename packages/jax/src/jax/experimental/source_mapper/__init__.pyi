"""Types of `jax.experimental.source_mapper`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.source_mapper.generate_map import SourceMapGeneratorFn
from typing import Any, Callable, Sequence
from jax.experimental.source_mapper import common as common
from jax.experimental.source_mapper import generate_map as generate_map
from jax.experimental.source_mapper import hlo as hlo
from jax.experimental.source_mapper import jaxpr as jaxpr
from jax.experimental.source_mapper import mlir as mlir

class MappingsGenerator:
    """Collects the segments of a text, written from its first line to its last with absolute positions."""
    def __init__(self) -> None: ...
    def mappings(self) -> list[list[tuple[int, ...]]]: ...
    def new_group(self) -> None: ...
    def new_segment(self, *segment: int) -> None: ...
class Pass:
    """A stage of compilation: its name, how a function is brought there, and how the result is printed."""
    name: str
    compile_fn: Callable[..., Any]
    generate_dump: Callable[..., SourceMapDump]
    def __init__(self, name: str, compile_fn: Callable[..., Any], generate_dump: Callable[..., SourceMapDump]) -> None: ...
class SourceMap:
    """Where the lines of a generated text come from."""
    version: int
    sources: Sequence[str]
    sources_content: Sequence[str]
    names: Sequence[str]
    mappings: Sequence[Sequence[tuple[int, ...]]]
    def __init__(self, version: int, sources: Sequence[str], sources_content: Sequence[str], names: Sequence[str], mappings: Sequence[Sequence[tuple[int, ...]]]) -> None: ...
    @classmethod
    def from_json(cls, json_data: str) -> SourceMap: ...
    def to_json(self) -> str: ...
class SourceMapDump:
    """The text of a program at some stage, and where its lines come from."""
    source_map: SourceMap
    generated_code: str
    pass_name: str
    def __init__(self, source_map: SourceMap, generated_code: str, pass_name: str) -> None: ...
def all_passes() -> list[Pass]:
    """All passes, in the order in which they were registered."""
def canonicalize_filename(file_name: str) -> str:
    """``file_name`` without what `jax_hlo_source_file_canonicalization_regex` matches: a path that is the same on all machines."""
def compile_with_env(f: Callable[..., Any], f_args: tuple, f_kwargs: dict[str, Any], env_flags: dict[str, Any], compiler_flags: dict[str, Any]) -> Any:
    """Lower ``f(*f_args, **f_kwargs)`` under flags and compile it with options for the compiler."""
def create_mlir_sourcemap(mlir_dump: str) -> SourceMap:
    """The source map of a module that was printed with its locations, as by ``lowered.as_text(debug_info=True)``."""
def filter_passes(regex: str) -> list[Pass]:
    """The passes whose name begins with what ``regex`` matches."""
def generate_sourcemaps(f: Callable[..., Any], passes: Sequence[Pass], **pass_kwargs: Any) -> SourceMapGeneratorFn:
    """A function that takes the arguments of ``f`` and shows its program at the given stages."""
def register_pass(pass_: Pass) -> None:
    """Add a pass."""
