"""The pass that shows traced programs."""
from __future__ import annotations

from typing import Any, Callable

from jax_core.programs.tracing import make_jaxpr
from jax_core.representation import printing
from jax_core.representation.arguments import takes
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr
from jax_core.representation.source import canonicalize_filename

from .passes import Pass, SourceMapDump
from .source_map import MappingsGenerator, SourceMap


def compile_jaxpr(work_dir: str, f: Callable, f_args: tuple, f_kwargs: dict[str, Any], **_: Any) -> Jaxpr:
    """The program that ``f(*f_args, **f_kwargs)`` traces to.

    >>> from jax.experimental.source_mapper import jaxpr
    >>> len(jaxpr.compile_jaxpr("/tmp", lambda x: x * 2 + 1, (1.,), {}).eqns)
    2
    """
    return make_jaxpr(f)(*f_args, **f_kwargs).jaxpr


@takes(jaxpr=(Jaxpr, ClosedJaxpr))
def make_jaxpr_dump(jaxpr: Jaxpr, **_: Any) -> SourceMapDump:
    """The printed program, and for the first line of each equation where it was written.

    >>> from jax.experimental.source_mapper import jaxpr
    >>> program = jaxpr.compile_jaxpr("/tmp", lambda x: x * 2, (1.,), {})
    >>> "mul" in jaxpr.make_jaxpr_dump(program).generated_code
    True
    """
    text, places = printing.with_places(jaxpr)
    sources: list[str] = []
    mappings = MappingsGenerator()
    for line, place in zip(text.split("\n"), places):
        mappings.new_group()
        if place is None or place.code is None:
            continue
        name = canonicalize_filename(place.file)
        if name not in sources:
            sources.append(name)
        mappings.new_segment(len(line) - len(line.lstrip()), sources.index(name), place.line - 1, place.column)
    return SourceMapDump(SourceMap(3, sources, [], [], mappings.mappings()), text, "jaxpr")


JAXPR_PASS = Pass("jaxpr", compile_jaxpr, make_jaxpr_dump)

__all__ = ["JAXPR_PASS", "canonicalize_filename", "compile_jaxpr", "make_jaxpr_dump"]
