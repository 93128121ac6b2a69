"""`jax.extend.source_info_util`: name stacks, and places in the user's program."""
from __future__ import annotations

import collections
import contextlib
from types import NoneType
from typing import Any, Iterator

from ..representation.source import (
    NameStack,
    SourceInfo,
    Transform,
    capture,
    name_stack as _scopes,
    register_exclusion,
    set_names,
)


def current() -> SourceInfo:
    """The place in the user's program, now.

    >>> from jax.extend import source_info_util
    >>> with jax.named_scope("layer"):
    ...     print(source_info_util.current().name_stack)
    layer
    """
    return capture()


def new_source_info() -> SourceInfo:
    """A place that is not known.

    >>> from jax.extend import source_info_util
    >>> source_info_util.summarize(source_info_util.new_source_info())
    '<unknown>'
    """
    return SourceInfo(None, 0, ())


def new_name_stack(name: str = "") -> NameStack:
    """A stack of one name, or empty.

    >>> from jax.extend import source_info_util
    >>> str(source_info_util.new_name_stack("layer"))
    'layer'
    """
    return NameStack((name,) if name else ())


def current_name_stack() -> NameStack:
    """The scopes in force.

    >>> from jax.extend import source_info_util
    >>> with jax.named_scope("layer"):
    ...     print(source_info_util.current_name_stack())
    layer
    """
    return NameStack(_scopes.names)


class set_name_stack(contextlib.ContextDecorator):
    """Put ``name_stack`` in place of the scopes in force, ``prev``; the context gives it."""

    __slots__ = ("name_stack", "prev")
    prev: NameStack

    def __init__(self, name_stack: NameStack):
        self.name_stack = name_stack

    def __enter__(self) -> NameStack:
        self.prev = current_name_stack()
        set_names(tuple(self.name_stack.stack))
        return self.name_stack

    def __exit__(self, *exc: Any) -> None:
        set_names(self.prev.stack)


class extend_name_stack(contextlib.ContextDecorator):
    """A scope ``name`` within those in force, ``prev``; the context gives all of them."""

    __slots__ = ("name", "prev")
    prev: NameStack

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise TypeError(f"{type(self).__name__}: name must be a string, got {name!r} of type {type(name).__name__}")
        self.name = name

    def __enter__(self) -> NameStack:
        self.prev = current_name_stack()
        set_names((*self.prev.stack, self.name))
        return current_name_stack()

    def __exit__(self, *exc: Any) -> None:
        set_names(self.prev.stack)


class transform_name_stack(extend_name_stack):
    """A scope for a transformation: printed around the scope that follows."""

    __slots__ = ()

    def __init__(self, name: str):
        super().__init__(name)
        self.name = Transform(name)


def reset_name_stack() -> Any:
    """A context without scopes.

    >>> from jax.extend import source_info_util
    >>> with jax.named_scope("layer"), source_info_util.reset_name_stack():
    ...     print(repr(str(source_info_util.current_name_stack())))
    ''
    """
    return set_name_stack(NameStack())


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """``file:line:column (function)``.

    >>> from jax.extend import source_info_util
    >>> program = jax.make_jaxpr(jnp.sin)(1.)
    >>> source_info_util.summarize(program.eqns[0].source_info).endswith("1:10 (<module>)")
    True
    """
    return source_info.place


Frame = collections.namedtuple("Frame", "file_name function_name start_line start_column end_line end_column")
"""An expression in a file: lines from 1, columns from 0."""


def user_frame(traceback: SourceInfo | None) -> Frame | None:
    """The expression that ``traceback``, that of an equation's ``source_info``, names; None if it is not known."""
    if not isinstance(traceback, (SourceInfo, NoneType)):
        raise TypeError(f"user_frame: traceback must be that of an equation's source_info, got {traceback!r} of type {type(traceback).__name__}")
    if traceback is None or traceback.code is None:
        return None
    line, last, column, end = traceback.span
    return Frame(traceback.file, traceback.function, line, column, last, end)


def user_frames(traceback: SourceInfo | None) -> Iterator[Frame]:
    """What `user_frame` gives, if anything: of the frames that called, none is kept."""
    frame = user_frame(traceback)
    return iter(() if frame is None else (frame,))


class user_context(contextlib.ContextDecorator):
    """A context for work on behalf of an equation: what is bound inside counts as written at ``traceback``, that of the equation's ``source_info``,
    and is under ``name_stack``. None leaves both as they are.

    >>> from jax.extend import source_info_util
    >>> with source_info_util.user_context(None, name_stack=source_info_util.new_name_stack("layer")):
    ...     print(source_info_util.current_name_stack())
    layer
    """

    __slots__ = ("traceback", "name_stack", "prev", "place")
    prev: NameStack
    place: SourceInfo | None

    def __init__(self, traceback: object, *, name_stack: NameStack | None = None):
        if not isinstance(name_stack, (NameStack, NoneType)):
            raise TypeError(f"user_context: name_stack must be a NameStack, as new_name_stack gives it, got {name_stack!r}")
        self.traceback, self.name_stack = traceback, name_stack

    def __enter__(self) -> None:
        self.prev, self.place = current_name_stack(), _scopes.place
        if isinstance(self.traceback, SourceInfo):
            _scopes.place = self.traceback
        if self.name_stack is not None:
            set_names(tuple(self.name_stack.stack))

    def __exit__(self, *exc: Any) -> None:
        _scopes.place = self.place
        set_names(self.prev.stack)
