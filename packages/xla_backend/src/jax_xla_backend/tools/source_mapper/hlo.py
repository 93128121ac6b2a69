"""The passes that show StableHLO, HLO as it is lowered, and HLO as XLA optimised it."""
from __future__ import annotations

import enum
import re
from typing import Any, Callable, cast

from jax_core.programs.jit import jit
from jax_core.programs.stages import Lowered
from jax_core.representation.arguments import takes

from ...running.executable import Executable
from .mlir import create_mlir_sourcemap
from .passes import Pass, SourceMapDump
from .source_map import MappingsGenerator, SourceMap

METADATA_REGEX = re.compile(r'metadata=\{[^}]*?(?:stack_frame_id=(?P<frame>\d+)|source_file="(?P<file>[^"]*)" source_line=(?P<line>\d+))')
"""Where an instruction of HLO comes from: a frame of the table at the module's beginning, or a line of a file."""
_TABLE_ROW = re.compile(r'^(?P<id>\d+) (?:"(?P<name>.*)"|\{(?P<fields>.*)\})$')


class HloPass(enum.Enum):
    """The stages of a program in XLA's languages."""

    STABLE_HLO = "hlo:stable-hlo"
    ORIGINAL = "hlo:original"
    OPTIMIZED = "hlo:optimized"


def trace_and_lower(work_dir: str, f: Callable, f_args: tuple, f_kwargs: dict[str, Any], **_: Any) -> tuple[Lowered, str]:
    """The lowered program of ``f(*f_args, **f_kwargs)``, and the folder that compilers may write to.

    >>> from jax.experimental.source_mapper import hlo
    >>> lowered, folder = hlo.trace_and_lower("/tmp", lambda x: x * 2, (1.,), {})
    >>> folder
    '/tmp'
    """
    return jit(f).lower(*f_args, **f_kwargs), work_dir


def stable_hlo_generate_dump(args: tuple[Lowered, str], **_: Any) -> SourceMapDump:
    """The StableHLO of what `trace_and_lower` gave.

    >>> from jax.experimental.source_mapper import hlo
    >>> lowered = hlo.trace_and_lower("/tmp", lambda x: x * 2, (1.,), {})
    >>> "stablehlo.multiply" in hlo.stable_hlo_generate_dump(lowered).generated_code
    True
    """
    text = args[0].as_text(debug_info=True)
    return SourceMapDump(create_mlir_sourcemap(text), text, HloPass.STABLE_HLO.value)


def original_hlo_generate_dump(args: tuple[Lowered, str], **_: Any) -> SourceMapDump:
    """The HLO of what `trace_and_lower` gave, before XLA's passes.

    >>> from jax.experimental.source_mapper import hlo
    >>> lowered = hlo.trace_and_lower("/tmp", lambda x: x * 2, (1.,), {})
    >>> "multiply(" in hlo.original_hlo_generate_dump(lowered).generated_code
    True
    """
    text = args[0].as_text(dialect="hlo", debug_info=True)
    return SourceMapDump(parse_hlo_dump(text), text, HloPass.ORIGINAL.value)


def optimized_generate_dump(args: tuple[Lowered, str], xla_compiler_flags: dict[str, Any] | None = None, **_: Any) -> SourceMapDump:
    """The HLO that XLA made of what `trace_and_lower` gave; ``xla_compiler_flags`` are options, as for `Lowered.compile`.

    >>> from jax.experimental.source_mapper import hlo
    >>> lowered = hlo.trace_and_lower("/tmp", lambda x: x * 2, (1.,), {})
    >>> "multiply(" in hlo.optimized_generate_dump(lowered).generated_code
    True
    """
    executable = cast(Executable, args[0].compile(xla_compiler_flags)._executable)
    text = "\n\n".join(module.to_string() for module in executable.compile_anew(debug_info=True).hlo_modules())
    return SourceMapDump(parse_hlo_dump(text), text, HloPass.OPTIMIZED.value)


def _tables(lines: list[str]) -> dict[str, dict[int, Any]]:
    """The tables at the beginning of a module, by title: names, or fields by name."""
    tables: dict[str, dict[int, Any]] = {}
    rows: dict[int, Any] = {}
    for line in lines:
        if row := _TABLE_ROW.match(line):
            fields = row["fields"]
            rows[int(row["id"])] = row["name"] if fields is None else {key: int(value) for key, _, value in (
                field.partition("=") for field in fields.split())}
        elif line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            rows = tables[line] = {}
    return tables


@takes(text=str)
def parse_hlo_dump(text: str) -> SourceMap:
    """The source map of a printed HLO module with metadata: a segment for each instruction that says its line.

    Example:
        >>> from jax.experimental.source_mapper import hlo
        >>> hlo.parse_hlo_dump('  a = f32[] sine(b), metadata={op_name="sin" source_file="a.py" source_line=7}').mappings
        [[(2, 0, 6, 0)]]
    """
    lines = text.split("\n")
    tables = _tables(lines)
    sources: list[str] = []
    mappings = MappingsGenerator()
    for line in lines:
        mappings.new_group()
        found = METADATA_REGEX.search(line)
        if found is None:
            continue
        if found["frame"] is not None:
            frame = tables["StackFrames"].get(int(found["frame"]))
            if frame is None:
                continue
            location = tables["FileLocations"][frame["file_location_id"]]
            name, number = tables["FileNames"][location["file_name_id"]], location["line"]
        else:
            name, number = found["file"], int(found["line"])
        if name not in sources:
            sources.append(name)
        mappings.new_segment(len(line) - len(line.lstrip()), sources.index(name), number - 1, 0)
    return SourceMap(3, sources, [], [], mappings.mappings())


HLO_PASSES = tuple(Pass(stage.value, trace_and_lower, dump) for stage, dump in (
    (HloPass.STABLE_HLO, stable_hlo_generate_dump), (HloPass.ORIGINAL, original_hlo_generate_dump),
    (HloPass.OPTIMIZED, optimized_generate_dump)))

__all__ = ["HLO_PASSES", "HloPass", "METADATA_REGEX", "optimized_generate_dump", "original_hlo_generate_dump", "parse_hlo_dump",
           "stable_hlo_generate_dump", "trace_and_lower"]
