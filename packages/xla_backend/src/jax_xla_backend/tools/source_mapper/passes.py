"""The stages of compilation whose programs can be shown beside the user's: a list by name, which users may add to."""
from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Protocol

from jax_core.configuration.flags import config
from jax_core.programs.jit import jit

from .source_map import SourceMap


class CompileFn(Protocol):
    """Brings a function, called with given arguments, to the stage of a pass."""

    def __call__(self, work_dir: str, fn: Callable, f_args: tuple, f_kwargs: dict[str, Any], /, **kwargs: Any) -> Any: ...


class GenerateDumpFn(Protocol):
    """Prints what a `CompileFn` made, with its source map."""

    def __call__(self, compile_result: Any, /, **kwargs: Any) -> "SourceMapDump": ...


@dataclass(frozen=True, slots=True)
class SourceMapDump:
    """The text of a program at some stage, and where its lines come from."""

    source_map: SourceMap
    generated_code: str
    pass_name: str


@dataclass(frozen=True, slots=True)
class Pass:
    """A stage of compilation: its name, how a function is brought there, and how the result is printed.

    Example:
        >>> from jax.experimental import source_mapper
        >>> [p.name for p in source_mapper.filter_passes("hlo")]
        ['hlo:stable-hlo', 'hlo:original', 'hlo:optimized']
    """

    name: str
    compile_fn: Callable[..., Any]  # as `CompileFn`; mypy would have all parameters of passes by position
    generate_dump: Callable[..., SourceMapDump]  # as `GenerateDumpFn`


_registered: dict[str, Pass] = {}


def register_pass(pass_: Pass) -> None:
    """Add a pass.

    Raises:
      ValueError: there is one of that name.

    >>> from jax.experimental import source_mapper
    >>> source_mapper.register_pass(source_mapper.all_passes()[0])
    Traceback (most recent call last):
    ValueError: source_mapper.register_pass: there is a pass named 'jaxpr' already; choose another name.
    """
    if pass_.name in _registered:
        raise ValueError(f"source_mapper.register_pass: there is a pass named {pass_.name!r} already; choose another name.")
    _registered[pass_.name] = pass_


def all_passes() -> list[Pass]:
    """All passes, in the order in which they were registered.

    Example:
        >>> from jax.experimental import source_mapper
        >>> source_mapper.all_passes()[0].name
        'jaxpr'
    """
    return list(_registered.values())


def filter_passes(regex: str) -> list[Pass]:
    """The passes whose name begins with what ``regex`` matches.

    >>> from jax.experimental import source_mapper
    >>> [p.name for p in source_mapper.filter_passes("jaxpr")]
    ['jaxpr']
    """
    return [p for p in _registered.values() if re.match(regex, p.name)]


@contextlib.contextmanager
def flag_env(**kwargs: Any) -> Iterator[None]:
    """Within it, the flags of `jax.config` named have the given values.

    Raises:
      AttributeError: there is no such flag.

    >>> from jax.experimental.source_mapper import common
    >>> with common.flag_env(jax_debug_nans=True):
    ...     print(jax.config.jax_debug_nans)
    True
    """
    before = {name: getattr(config, name) for name in kwargs}
    try:
        for name, value in kwargs.items():
            config.update(name, value)
        yield
    finally:
        for name, value in before.items():
            config.update(name, value)


def compile_with_env(f: Callable, f_args: tuple, f_kwargs: dict[str, Any], env_flags: dict[str, Any],
                     compiler_flags: dict[str, Any]) -> Any:
    """Lower ``f(*f_args, **f_kwargs)`` under flags and compile it with options for the compiler.

    Args:
      f: a function, jitted or not.
      env_flags: flags of `jax.config`, by name.
      compiler_flags: XLA's options, by name, as `jax.stages.Lowered.compile` takes them.

    Returns:
      The `jax.stages.Compiled`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jax.experimental import source_mapper
        >>> source_mapper.compile_with_env(jnp.sum, (jnp.ones(3),), {}, {"jax_enable_x64": True}, {}).out_info.dtype
        dtype('float32')
    """
    with flag_env(**env_flags):
        return jit(f).lower(*f_args, **f_kwargs).compile(compiler_flags or None)


__all__ = ["CompileFn", "GenerateDumpFn", "Pass", "SourceMapDump", "all_passes", "compile_with_env", "filter_passes", "flag_env",
           "register_pass"]
