"""Where in the user's program an equation comes from.

Capturing must cost well under a microsecond, as it happens for every equation: walk up to the first frame that is not
ours and keep its code object and instruction offset. File, line and function are worked out only when somebody asks.
"""
from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import sys
import warnings
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Callable

from ..configuration import context, flags

if TYPE_CHECKING:
    from .typing import PyTree


class _Files:
    """The files whose names begin with certain paths; these are appended and removed as a list's are."""

    __slots__ = ("_paths", "known")

    def __init__(self, *paths: str):
        self._paths = paths
        self.known: dict[str, bool] = {}  # by file: the hash of a code object is worked out anew, from its instructions, at every look

    def append(self, path: str) -> None:
        self._paths += (path,)
        self.known.clear()

    def remove(self, path: str) -> None:
        if path not in self._paths:
            raise ValueError(f"remove: {path!r} is not among the paths {self._paths}")
        at = self._paths.index(path)
        self._paths = self._paths[:at] + self._paths[at + 1:]
        self.known.clear()

    def hold(self, code: CodeType) -> bool:
        """Whether ``code`` was written in one of them."""
        name = code.co_filename
        known = self.known.get(name)
        if known is None:
            known = self.known[name] = name.startswith(self._paths)
        return known


_ours, _excluded = _Files(), _Files("<frozen ")


def register_exclusion(path: str) -> None:
    """Frames of files whose name starts with ``path`` are not the user's.

    >>> from jax.extend import source_info_util
    >>> source_info_util.register_exclusion("/opt/my_library/")
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"register_exclusion: path must be a string, got {path!r} of type {type(path).__name__}")
    _excluded.append(os.fspath(path))


def exclude_package(file: str) -> None:
    """Called by packages of this system with their ``__file__``: their frames are not the user's."""
    folder = os.path.dirname(os.path.abspath(file)) + os.sep
    _ours.append(folder)
    register_exclusion(folder)


is_ours = _ours.hold
"""Whether a code object belongs to this system; libraries that `register_exclusion` names do not."""

is_internal = _excluded.hold
"""Whether a code object belongs to this system (or an excluded library) instead of to the user."""


def entered(package: str) -> str:
    """``name: `` of the function of ``package`` that the user's program called, or nothing if the frames do not tell; for messages."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and is_internal(frame.f_code):
        own = frame.f_code.co_name
        if frame.f_globals.get("__package__", "").startswith(package) and not own.startswith("_") and own in frame.f_globals:
            name = f"{own}: "
        frame = frame.f_back
    return name


def canonicalize_filename(file_name: str) -> str:
    """``file_name`` without what `jax_hlo_source_file_canonicalization_regex` matches: a path that is the same on all machines.

    Example:
        >>> from jax.experimental import source_mapper
        >>> source_mapper.canonicalize_filename("/home/me/program.py")
        '/home/me/program.py'
    """
    pattern = flags.hlo_source_file_canonicalization_regex.value
    return re.sub(pattern, "", file_name) if pattern else file_name


class Transform(str):
    """The name of a transformation in a `NameStack`: printed around the scope that follows."""

    __slots__ = ()


class Metadata(str):
    """An entry of the name stack that is no scope: ``pairs`` of name and value (None takes a name away) for the compiler."""

    pairs: tuple

    def __new__(cls, pairs):
        self = super().__new__(cls, ",".join(f"{k}={v}" for k, v in pairs))
        self.pairs = tuple(pairs)
        return self

    def __eq__(self, other):
        return type(other) is Metadata and self.pairs == other.pairs

    def __hash__(self):
        return hash(self.pairs)


class NameStack:
    """Names of the scopes in force, outermost first, and of the transformations applied inside them."""

    __slots__ = ("stack",)

    def __init__(self, stack: tuple = ()):
        self.stack = tuple(stack)

    def extend(self, name: str) -> "NameStack":
        return NameStack((*self.stack, name))

    def transform(self, name: str) -> "NameStack":
        """The stack inside a transformation: ``a`` then ``vmap`` then ``b`` is printed ``a/vmap(b)``."""
        return NameStack((*self.stack, Transform(name)))

    def __add__(self, other: "NameStack") -> "NameStack":
        return NameStack(self.stack + other.stack)

    def __len__(self):
        return len(self.stack)

    def __eq__(self, other):
        return self.stack == (other.stack if isinstance(other, NameStack) else other)

    def __hash__(self):
        return hash(self.stack)

    def __str__(self):
        parts: list[str] = []
        around: list[str] = []  # transformations that wait for a scope
        for name in (*self.stack, ""):
            if type(name) is Transform:
                around.append(name)
            elif type(name) is not Metadata and (name or around):
                parts.append("(".join([*around, str(name)]) + ")" * len(around))
                around = []
        return "/".join(parts)


class SourceInfo:
    """A place in the user's program, and the names in force (`NameStack`) at that time."""

    __slots__ = ("code", "offset", "scopes")

    def __init__(self, code: CodeType | None, offset: int, scopes: tuple):
        self.code, self.offset, self.scopes = code, offset, scopes

    @property
    def name_stack(self) -> NameStack:
        return NameStack(self.scopes)

    @property
    def traceback(self) -> "SourceInfo | None":
        """The place without the names, None if it is not known: interpreters of jaxprs (kfac-jax) hand it to `user_context`."""
        return SourceInfo(self.code, self.offset, ()) if self.code is not None else None

    def replace(self, *, name_stack: tuple | NameStack | None = None) -> "SourceInfo":
        """The same place under other scopes."""
        if name_stack is None:
            return self
        return SourceInfo(self.code, self.offset, tuple(name_stack.stack if isinstance(name_stack, NameStack) else name_stack))

    @property
    def line(self) -> int:
        """Line number, 0 if unknown."""
        if self.code is None:
            return 0
        for start, stop, line in self.code.co_lines():
            if start <= self.offset < stop and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def file(self) -> str:
        return self.code.co_filename if self.code is not None else "<unknown>"

    @property
    def span(self) -> tuple[int, int, int, int]:
        """First and last line of the expression, column in the first where it begins and in the last where it ends, from zero; 0 if unknown."""
        if self.code is None:
            return 0, 0, 0, 0
        line, last, column, end = next(itertools.islice(self.code.co_positions(), self.offset // 2, None), (None,) * 4)
        return line or self.line, last or line or self.line, column or 0, end or 0

    @property
    def column(self) -> int:
        """Where in the line the expression begins, from zero; 0 if unknown."""
        return self.span[2]

    @property
    def function(self) -> str:
        return self.code.co_qualname if sys.version_info >= (3, 11) and self.code is not None else "<unknown>"

    @property
    def place(self) -> str:
        """``file:line:column (function)``, which editors find; `str` leaves out the column."""
        return f"{self.file}:{self.line}:{self.column} ({self.function})" if self.code is not None else "<unknown>"

    def __str__(self):
        return f"{self.file}:{self.line} ({self.function})" if self.code is not None else "<unknown>"


UNKNOWN = SourceInfo(None, 0, ())


def capture() -> SourceInfo:
    """The innermost frame of the user's code, now; or the place that `attributed_to` says."""
    place = name_stack.place
    if place is not None:
        names, scopes = name_stack.names, place.scopes
        if not names or scopes is names:
            return place
        last = _last_joined
        joined = last[2] if last[0] is names and last[1] is scopes else _join(names, scopes)
        return place if joined is scopes else SourceInfo(place.code, place.offset, joined)
    frame: Any = sys._getframe(2)
    internal = _excluded.known
    while frame is not None:
        code = frame.f_code
        known = internal.get(code.co_filename)
        if not known and (known is False or not is_internal(code)):
            return SourceInfo(code, frame.f_lasti, name_stack.names)
        frame = frame.f_back
    return SourceInfo(None, 0, name_stack.names)


_last_joined: tuple[tuple, tuple, tuple] = ((), (), ())
"""Arguments of the last call of `_join`, and what it gave: one tuple for all equations of a backward pass."""


def _join(names: tuple, scopes: tuple) -> tuple:
    """``names``, those in force, and behind them what ``scopes``, those of a place, have more: ``scopes`` itself if that is all."""
    global _last_joined
    common = 0  # scopes around both: those of the function that is being differentiated and of its backward pass
    while common < len(scopes) and common < len(names) and scopes[common] == names[common]:
        common += 1
    joined = scopes if common == len(names) else names + scopes[common:]
    _last_joined = names, scopes, joined
    return joined


def unwrapped(fun: Callable[..., PyTree]):
    """The function that the user wrote, inside wrappers (`functools.wraps`) and `functools.partial`."""
    while True:
        if hasattr(fun, "__wrapped__"):
            fun = fun.__wrapped__
        elif hasattr(fun, "func") and hasattr(fun, "args"):
            fun = fun.func
        else:
            return fun


def name_of(fun: Callable[..., PyTree]) -> str:
    """The name of a Python callable: that of its class where it has none of its own."""
    while hasattr(fun, "func") and hasattr(fun, "args"):  # a partial
        fun = fun.func
    return getattr(fun, "__name__", None) or type(fun).__name__


def describe_function(fun: Callable[..., PyTree]) -> str:
    """``name at file:line`` of a Python callable, for messages."""
    return describe_code(*name_and_code(fun))


def name_and_code(fun: Callable[..., PyTree]) -> tuple:
    """The name of a Python callable, and the code that it was written as (or None): to describe it later without holding it,
    and all that it closes over."""
    return name_of(fun), getattr(unwrapped(fun), "__code__", None)


def is_own(fun: Callable[..., PyTree]) -> bool:
    """Whether ``fun`` was written in one of our packages."""
    code = name_and_code(fun)[1]
    return code is not None and is_internal(code)


def called_by_user(fun: Callable[..., PyTree]) -> str:
    """`describe_function`, but for a private function of ours the public one through which it was called, if that can be told."""
    code = name_and_code(fun)[1]
    if code is None or not code.co_name.startswith("_") or not is_internal(code):
        return describe_function(fun)
    frame: FrameType | None = sys._getframe(1)
    outermost = "_"
    while frame is not None and is_internal(frame.f_code):
        if frame.f_code.co_name != "method":  # an operator
            outermost = frame.f_code.co_name
        frame = frame.f_back
    return describe_function(fun).lstrip("_") if outermost.startswith(("_", "<")) else outermost


def describe_code(name: str, code) -> str:
    """``name at file:line``; of a function of ours its name alone, as its place says nothing to a user."""
    return name if code is None or is_internal(code) else f"{name} at {code.co_filename}:{code.co_firstlineno}"


class _NameStack(context.threading.local):
    names: tuple = ()
    place: "SourceInfo | None" = None


name_stack = _NameStack()


def set_names(names: tuple) -> None:
    """Put ``names`` in place of the scopes in force, for contexts that cannot be an `under_names`."""
    name_stack.names = names


class attributed_to:
    """What is captured inside counts as written at ``place``: the backward pass names the lines of the forward one."""

    __slots__ = ("place", "before")

    def __init__(self, place: "SourceInfo | None"):
        self.place = place

    def __enter__(self):
        self.before, name_stack.place = name_stack.place, self.place

    def __exit__(self, *exc):
        name_stack.place = self.before


class under_names:
    """What is captured inside is under the scopes ``names``."""

    __slots__ = ("names", "before")

    def __init__(self, names: tuple):
        self.names = names

    def __enter__(self):
        self.before, name_stack.names = name_stack.names, self.names

    def __exit__(self, *exc):
        name_stack.names = self.before


def transformed(name: str) -> under_names:
    """What is captured inside is under the transformation ``name``, if that is not empty."""
    return under_names((*name_stack.names, Transform(name)) if name else name_stack.names)


def own_names() -> under_names:
    """For a program of its own: its equations carry no scopes that are around it, as the equation that holds it carries them.
    Metadata stay."""
    return under_names(metadata_in_force())


def metadata_in_force() -> tuple:
    """The metadata on the name stack."""
    return tuple([x for x in name_stack.names if type(x) is Metadata]) if name_stack.names else ()


def written_in(rule) -> attributed_to:
    """For running ``rule``, a derivative rule: what a user's rule does was written in it, not where it is called."""
    code = getattr(rule, "__code__", None)
    return attributed_to(name_stack.place if code is None or is_internal(code) else None)


def named_scope(name: str):
    """Equations traced inside carry ``name``; it shows in profiles and in compiled programs.

    Raises:
      TypeError: ``name`` is not a string.

    >>> with jax.named_scope("layer"):
    ...     y = jnp.ones(2) + 1
    >>> y
    Array([2., 2.], dtype=float32)
    """
    if not isinstance(name, str):
        raise TypeError(f"named_scope: name must be a string, got {name!r} of type {type(name).__name__}")
    return _scope(name)


@contextlib.contextmanager
def _scope(name):
    with under_names((*name_stack.names, name)):
        yield


def named_call(fun: Callable[..., PyTree], *, name: str | None = None):
    """``fun`` whose equations carry ``name`` (default: the function's) as a `named_scope`.

    >>> f = jax.named_call(lambda x: x + 1, name='add_one')
    >>> f(1)
    2
    """
    scope = name or getattr(fun, "__name__", type(fun).__name__)

    @functools.wraps(fun)
    def scoped(*args, **kwargs):
        with named_scope(scope):
            return fun(*args, **kwargs)
    return scoped


exclude_package(os.path.dirname(os.path.abspath(__file__)))  # all of jax_core


def caller_of(fun: Callable[..., PyTree]) -> SourceInfo | None:
    """The place of the user's call now, if ``fun`` is not the user's own function; None if it is."""
    code = getattr(unwrapped(fun), "__code__", None)
    return None if code is None or not is_internal(code) else capture()


def users_frames(limit: int) -> list[str]:
    """The places in the user's code that are being run, the innermost first; at most ``limit``, or all where that is negative."""
    places: list[str] = []
    frame: Any = sys._getframe(1) if limit else None
    while frame is not None and len(places) != limit:
        if not is_internal(frame.f_code):
            places.append(f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_qualname})")
        frame = frame.f_back
    return places


def warn(message: str, category: type[Warning] = UserWarning, frame: Any = None) -> None:
    """`warnings.warn` at the line of the user's code that called, however many of our frames are between.

    Whoever knows better than `is_internal` which frames to pass over gives the first ``frame`` that may be the user's.
    """
    frame = sys._getframe(1) if frame is None else frame
    while frame is not None and is_internal(frame.f_code):
        frame = frame.f_back
    if frame is None:  # a thread of the runtime
        warnings.warn(message, category, stacklevel=2)
        return
    names = frame.f_globals
    has_source = names if names.get("__spec__") is not None else None  # the loader of ``python -c`` raises when asked
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__") or "<string>",  # of None, nothing is shown
                           names.setdefault("__warningregistry__", {}), has_source)


def include_frame(frame) -> bool:
    """Whether a Python frame is the user's, for tools that filter tracebacks."""
    return not is_internal(frame.f_code)
