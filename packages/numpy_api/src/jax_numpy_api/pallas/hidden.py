"""Memory that a kernel uses and is not given by its caller: the state of a generator, the semaphore that all devices share.

A function asks for it by name while the kernel is traced. The first time there is none, and the kernel is traced again with
one more scratch reference, named like that.
"""
from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any, Callable, Iterator, Mapping

from .spaces import ref_type


class Wanted(Exception):
    """The kernel that is being traced uses memory of this name and type, and has no reference to it."""

    def __init__(self, name: str, memory: Any):
        super().__init__(name)
        self.name, self.memory = name, memory


class _Held(threading.local):
    """``refs``: by name, of the kernel that this thread is tracing; None outside of kernels."""

    refs: Mapping[str, Any] | None = None


_held = _Held()


@contextlib.contextmanager
def holding(refs: Mapping[str, Any]) -> Iterator[None]:
    """Inside, a kernel is traced that has these."""
    before, _held.refs = _held.refs, refs
    try:
        yield
    finally:
        _held.refs = before


def hidden(function: str, name: str, memory: object, instead: str = "") -> Any:
    """The reference to the hidden memory ``name``, which is of the type ``memory``, for ``function``, which users call.

    Raises:
      ValueError: no kernel is being traced; ``instead`` is added to the message.
    """
    if _held.refs is None:
        raise ValueError(f"{function} was called outside of a kernel; call it in the function that is given to pallas_call.{instead}")
    if name not in _held.refs:
        raise Wanted(name, memory)
    return _held.refs[name]


def traced(trace: Callable[..., Any], kernel: Callable[..., Any], keywords: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """``trace(kernel, keywords)`` with as many more references among the keywords as the kernel asks for, and these keywords."""
    extra: dict[str, Any] = {}

    @functools.wraps(kernel)
    def run(*refs, **named):
        with holding({name: named.pop(name) for name in extra}):
            return kernel(*refs, **named)
    while True:
        try:
            return trace(run, {**keywords, **extra}), {**keywords, **extra}
        except Wanted as wanted:
            extra[wanted.name] = ref_type(wanted.name, wanted.memory)
