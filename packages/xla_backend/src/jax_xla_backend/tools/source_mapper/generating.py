"""The programs of one call at several stages, each with its source map."""
from __future__ import annotations

import tempfile
from typing import Any, Callable, Protocol, Sequence

from .passes import Pass, SourceMapDump


class SourceMapGeneratorFn(Protocol):
    """What `generate_sourcemaps` gives: takes the arguments of a call, gives the programs with their maps."""

    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[SourceMapDump]: ...


def generate_sourcemaps(f: Callable, passes: Sequence[Pass], **pass_kwargs: Any) -> SourceMapGeneratorFn:
    """A function that takes the arguments of ``f`` and shows its program at the given stages.

    Args:
      f: a function, jitted or not.
      passes: stages, from `all_passes` or `filter_passes`.
      pass_kwargs: passed on to the functions of the passes, such as ``xla_compiler_flags`` to that of optimised HLO.

    Returns:
      A function of the arguments of ``f`` that gives a `SourceMapDump` for each pass, in their order.

    Example:
        >>> import jax.numpy as jnp
        >>> from jax.experimental import source_mapper
        >>> dump, = source_mapper.generate_sourcemaps(jnp.sin, source_mapper.filter_passes("jaxpr"))(1.0)
        >>> print(dump.generated_code)
        { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    def generate(*args: Any, **kwargs: Any) -> Sequence[SourceMapDump]:
        dumps = []
        for p in passes:
            with tempfile.TemporaryDirectory() as work_dir:
                dumps.append(p.generate_dump(p.compile_fn(work_dir, f, args, kwargs, **pass_kwargs), **pass_kwargs))
        return dumps
    return generate


__all__ = ["SourceMapGeneratorFn", "generate_sourcemaps"]
