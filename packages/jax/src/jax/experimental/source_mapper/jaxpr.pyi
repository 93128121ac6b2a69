"""Types of `jax.experimental.source_mapper.jaxpr`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.source_mapper import SourceMapDump
from jax.extend.core import Jaxpr
from typing import Any, Callable

def canonicalize_filename(file_name: str) -> str:
    """``file_name`` without what `jax_hlo_source_file_canonicalization_regex` matches: a path that is the same on all machines."""
def compile_jaxpr(work_dir: str, f: Callable[..., Any], f_args: tuple, f_kwargs: dict[str, Any], **_: Any) -> Jaxpr:
    """The program that ``f(*f_args, **f_kwargs)`` traces to."""
def make_jaxpr_dump(jaxpr: Jaxpr, **_: Any) -> SourceMapDump:
    """The printed program, and for the first line of each equation where it was written."""
