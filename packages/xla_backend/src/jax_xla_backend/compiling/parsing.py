"""Programs as text, read into modules of jaxlib.

The compiler takes text too, but makes a context with all dialects for each, which is a sixth of the time that a program of few
operations takes to compile. A process that compiles many loads the bindings, and keeps contexts.
"""
from __future__ import annotations

import functools
import itertools
from typing import Any, Callable, TypeVar

from ..jaxlib_compat import bindings, mlir_context

T = TypeVar("T")

MANY = 12
"""Programs after which the bindings have been worth the time that they take to load."""

LARGE = 1 << 20
"""Characters of programs after which a context is dropped: it keeps their constants, types and names."""

_free: list[tuple[Any, int]] = []  # contexts that no compilation uses, and how much each may still read
_count = itertools.count()


def read(text: str, use: Callable[[Any], T]) -> T:
    """What ``use(module)`` returns, where ``module`` is the program or, as compilers take that too, its text.

    No two threads share a context, as compilers write into it.
    """
    if next(_count) < MANY or len(text) > LARGE:
        return use(text)
    try:
        context, left = _free.pop()
    except IndexError:
        context, left = mlir_context(), LARGE
        context.enable_multithreading(False)
    try:
        module = _module(text, context)
    except bindings("ir").MLIRError:
        module = text  # the compiler says what is wrong, or knows dialects that the bindings lack
    result = use(module)
    del module
    if left > len(text):
        _free.append((context, left - len(text)))
    return result


def parse(text: str) -> Any:
    """The module, for those who look into it."""
    return _module(text, _context_of_readers())


@functools.cache
def _context_of_readers() -> Any:
    for dialect in ("stablehlo", "chlo", "sdy"):
        bindings(f"dialects.{dialect}")  # the classes of its operations
    context = mlir_context()
    context.load_all_available_dialects()
    return context


def _module(text: str, context: Any) -> Any:
    with context:
        return bindings("ir").Module.parse(text)
