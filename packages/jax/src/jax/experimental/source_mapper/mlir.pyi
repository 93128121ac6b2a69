"""Types of `jax.experimental.source_mapper.mlir`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.source_mapper import SourceMap
from typing import Any, NamedTuple, Sequence

CALLSITE_REGEX: Any
LOC_REGEX: Any
class Location(NamedTuple):
    """A place in a file; line and column as MLIR prints them: lines from one on."""
    file: str
    line: int
    col: int
class Redirect(NamedTuple):
    """A location that is where another one is."""
    tgt_id: int
SCOPED_REGEX: Any
SRC_REGEX: Any
def create_mlir_sourcemap(mlir_dump: str) -> SourceMap:
    """The source map of a module that was printed with its locations, as by ``lowered.as_text(debug_info=True)``."""
def parse_mlir_locations(mlir_dump: Sequence[str]) -> tuple[dict[int, tuple[int, ...]], list[str]]:
    """The locations that the lines of a module define."""
