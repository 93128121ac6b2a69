"""An exception raised in a callback reaches the caller of the program as what it is.

The runtime turns an exception in a callback into text, and raises `JaxRuntimeError` with that text wherever somebody
waits for the program: in its C++ dispatcher, in `block_until_ready`, in `np.asarray`. So the exception is kept here
under a number, the text holds the number, and the backend asks for it when it makes its error
(`extension_points.error_instead`). What is raised instead is of a class derived from both, the user's class and `JaxRuntimeError`, so that
``except ValueError`` and ``except JaxRuntimeError`` both catch it; its cause is the original, with the traceback of the
callback. Exceptions that are not of class `Exception` (`KeyboardInterrupt`) are raised as they are.

Left aside: a Python function around each program that catches and translates. It would cost every call, and would not
see errors that come out of a later wait.
"""
from __future__ import annotations

import itertools
import logging
import re
import sys
import threading
import traceback
import types
from typing import Any, Sequence, cast

import jax_core.representation.errors
from jax_core.extension_points import callback_caller, error_instead

from . import ending

_MARK = "exception {} of a jax callback"
_marked = re.compile(r"exception (\d+) of a jax callback")
# Ctrl-C between two instructions of ours, before or after the user's function, where nothing can be kept
_interrupted = re.compile(r"Traceback \(most recent call last\):.*\nKeyboardInterrupt:?\s*$", re.DOTALL)
_LIMIT = 16  # exceptions are forgotten after this many newer ones
_LONGEST = 10_000  # characters; the exception itself is kept whole
_numbers = itertools.count(1)
_pending: dict[int, tuple[BaseException, bool]] = {}
_classes: dict[type, type | None] = {}
_made: set[type] = set()
_lock = threading.Lock()
_runtime_error: Any = None


class CallbackFailed(Exception):
    """Carries the number of a kept exception through the runtime; users never see it."""


_log = logging.getLogger("jax._src.callback")  # the name at which applications filter it
_log.addHandler(logging.NullHandler())  # shown where the application has logging set up; the caller gets the exception in any case


def carrier(error: BaseException, kind: str, platform: str) -> CallbackFailed:
    """Keep ``error`` of a call of ``kind``, log it, and return the exception to raise into the runtime.

    Where the callback runs in a thread of the runtime, or the program on another device than a CPU, any number of waits may raise the
    error later, so it is kept. Else the program was called by this thread, and that call raises the error once.
    """
    if _runtime_error is None:
        install()
    if isinstance(error, Exception):
        _log_failure(error, kind)
    number = next(_numbers)
    with _lock:
        _pending[number] = error, platform == "cpu" and not _in_thread_of_runtime()
        if len(_pending) > _LIMIT:
            del _pending[next(iter(_pending))]
    return CallbackFailed(f"{_MARK.format(number)}: {type(error).__name__}: {_text(error)}")


def _log_failure(error: Exception, kind: str) -> None:
    """A record whose message is the same for all failures of a ``kind``, so that a filter can know it, with the traceback as its text.

    The exception itself is not in it: whoever keeps the record would keep that alive, and all that its frames hold.
    """
    if _log.isEnabledFor(logging.ERROR):
        file, line, function, _ = _log.findCaller()
        record = _log.makeRecord(_log.name, logging.ERROR, file, line, "jax.%s failed", (kind,), None, function)
        record.exc_text = _encodable("".join(traceback.format_exception(error)))
        _log.handle(record)


def _text(error: BaseException) -> str:
    """What ``error`` says, as the runtime can hold it: it ends the process for text that is not UTF-8."""
    try:
        text = str(error)
    except Exception as failure:
        text = f"(its text cannot be made: {type(failure).__name__})"
    return _encodable(text[:_LONGEST])


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _in_thread_of_runtime() -> bool:
    """Whether nothing below the functions that the runtime calls is Python."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in ("jax_callbacks.site", callback_caller.value):
        frame = frame.f_back
    return frame is None


def install() -> None:
    """Have the runtime raise kept exceptions. Its error class belongs to the backend, so this is done when one is loaded."""
    global _runtime_error
    with _lock:
        if _runtime_error is None:
            _runtime_error = jax_core.representation.errors.JaxRuntimeError
            error_instead.fill(_kept_exception)
            ending.install()


def _kept_exception(args: Sequence[Any]) -> BaseException | None:
    """The exception to raise where a `JaxRuntimeError` is made with these arguments, if the text holds the number of one."""
    if args and isinstance(args[0], BaseException):  # one returned below that is not a `JaxRuntimeError`, once more
        return args[0]
    if args and type(args[0]) is str:
        found = _marked.search(args[0])
        if found is not None:
            number = int(found.group(1))
            error, once = _pending.get(number, (None, False))
            if once:
                _pending.pop(number, None)
            if error is not None:
                return as_runtime_error(error)
        if _interrupted.search(args[0]) is not None:
            return KeyboardInterrupt()
    return None


def as_runtime_error(error: BaseException) -> BaseException:
    """``error`` as an exception that is also a `JaxRuntimeError`, with ``error`` as its cause.

    Where no such class can be made, a plain `JaxRuntimeError` with the cause. What this function made, and errors not
    derived from `Exception`, are returned as they are.
    """
    if _runtime_error is None:
        install()
    kind = type(error)
    if not isinstance(error, Exception) or kind in _made:
        return error
    if kind not in _classes:
        _classes[kind] = _joint_class(kind)
    joint = _classes[kind]
    result = None if joint is None else _copy(error, joint)
    if result is None:
        result = _runtime_error(f"a callback raised {kind.__name__}: {_text(error)}")
    result.__cause__ = error
    return result


def _joint_class(kind: type) -> type | None:
    def unchanged(self, *args, **kwargs):
        """The instance is complete; the interpreter calls this once more with the runtime's text."""

    def reduce(self):
        return _rebuild, (self.__cause__,)
    def with_name(self):
        """Nobody can catch a private class by its name, so libraries look for the name in the text, which the runtime puts there."""
        return f"{kind.__name__}: {kind.__str__(self)}"
    body = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__,
            "__init__": unchanged, "__reduce__": reduce, "__str__": with_name if kind.__name__.startswith("_") else kind.__str__, "__repr__": kind.__repr__}
    if issubclass(_runtime_error, kind):
        bases: tuple = (_runtime_error,)
    else:
        bases = (kind,) if issubclass(kind, _runtime_error) else (kind, _runtime_error)
    try:
        joint = type(kind.__name__, bases, body)
    except TypeError:  # the two have incompatible layouts, or the class is final
        return None
    _made.add(joint)
    return joint


def _copy(error: Exception, joint: type) -> BaseException | None:
    """An instance of ``joint`` with everything that ``error`` holds, made without running its constructor."""
    base: Any = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    try:
        args = base.__reduce__(error)[1]  # some classes keep arguments that are not in ``args``
        result = base.__new__(joint, *args)
        cast(Any, _runtime_error).__init__(result, f"INTERNAL: {_text(error)}")  # its error code and message
        base.__init__(result, *args)
        result.args = error.args
        result.__dict__.update(error.__dict__)
        for c in type(error).__mro__:
            for name in c.__dict__.get("__slots__", ()):
                if hasattr(error, name) and not name.startswith("__"):
                    setattr(result, name, getattr(error, name))
    except Exception:
        return None
    return result


def _rebuild(cause: Exception) -> BaseException:
    return as_runtime_error(cause)
