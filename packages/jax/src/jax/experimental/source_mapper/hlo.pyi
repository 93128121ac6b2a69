"""Types of `jax.experimental.source_mapper.hlo`. Written by packages/jax/tools/make_stubs.py."""
from enum import Enum
from jax.experimental.source_mapper import SourceMap, SourceMapDump
from jax.stages import Lowered
from typing import Any, Callable

class HloPass(Enum):
    """The stages of a program in XLA's languages."""
    STABLE_HLO = ...
    ORIGINAL = ...
    OPTIMIZED = ...
METADATA_REGEX: Any
def optimized_generate_dump(args: tuple[Lowered, str], xla_compiler_flags: dict[str, Any] | None = None, **_: Any) -> SourceMapDump:
    """The HLO that XLA made of what `trace_and_lower` gave; ``xla_compiler_flags`` are options, as for `Lowered.compile`."""
def original_hlo_generate_dump(args: tuple[Lowered, str], **_: Any) -> SourceMapDump:
    """The HLO of what `trace_and_lower` gave, before XLA's passes."""
def parse_hlo_dump(text: str) -> SourceMap:
    """The source map of a printed HLO module with metadata: a segment for each instruction that says its line."""
def stable_hlo_generate_dump(args: tuple[Lowered, str], **_: Any) -> SourceMapDump:
    """The StableHLO of what `trace_and_lower` gave."""
def trace_and_lower(work_dir: str, f: Callable[..., Any], f_args: tuple, f_kwargs: dict[str, Any], **_: Any) -> tuple[Lowered, str]:
    """The lowered program of ``f(*f_args, **f_kwargs)``, and the folder that compilers may write to."""
