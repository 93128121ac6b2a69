"""Types of `jax.experimental.source_mapper.generate_map`. Written by packages/jax/tools/make_stubs.py."""
from jax.experimental.source_mapper import Pass, SourceMapDump
from typing import Any, Callable, Sequence

class SourceMapGeneratorFn:
    """What `generate_sourcemaps` gives: takes the arguments of a call, gives the programs with their maps."""
    def __call__(self, *args: Any, **kwargs: Any) -> Sequence[SourceMapDump]: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
def generate_sourcemaps(f: Callable[..., Any], passes: Sequence[Pass], **pass_kwargs: Any) -> SourceMapGeneratorFn:
    """A function that takes the arguments of ``f`` and shows its program at the given stages."""
