"""The exception classes of `jax.errors`, and the words they speak.

A program that JAX cannot follow fails in Python, at the line that asked a traced
value for something only a concrete value has. Each class below names one such
question (a truth value, an index, a NumPy array, ...), so each message says which
value was asked, where that value comes from, and what to write instead.

Constructors take the tracer that was asked, or a finished message. A tracer may
offer `_origin_message() -> str`: a sentence naming the function being traced and
the arguments the value depends on (`origin_sentence` words it), and `_to_know`: what
to write so that its value is known.

Class names and base classes are those JAX users catch. The text of a failed
`bool(tracer)` is fixed by the specification (introduction, In [27]).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from .. import backends
from ..extension_points import runtime_error
from . import spec_text
from .source import entered, is_internal

if TYPE_CHECKING:
    from ..traces.trace import Tracer
    from .aval import AbstractValue
    from .typing import ArrayLike, Shape

_INDEX = "docs/errors.md"  # a section for each class; on the site errors.html
_URL = "https://jax.readthedocs.io/en/latest/errors.html#jax.errors."

__all__ = [
    "ConcretizationTypeError", "InconclusiveDimensionOperation", "JAXIndexError",
    "JAXTypeError", "JaxprTypeError", "KeyReuseError",
    "NonConcreteBooleanIndexError", "ShardingTypeError", "TracerArrayConversionError",
    "TracerBoolConversionError", "TracerIntegerConversionError",
    "TypePromotionError", "UnexpectedTracerError",
]


def origin_sentence(function: str, positions: Sequence[int]) -> str:
    """Say which function is being traced and which arguments a value depends on.

    Args:
      function: description of the traced function, as
        ``"f at file.py:3, transformed by jit."``.
      positions: flattened argument positions the value depends on; empty when it
        depends on none (or the origin is unknown).

    Returns:
      One sentence, used as the origin part of a concretization error.
    """
    start = f"While tracing the function {function}, this concrete value was not available in Python because it "
    if not positions:
        return (f"{start}is the result of an operation that is being staged out (that is, delayed rather than executed"
                " eagerly).")
    return (
        f"{start}depends on the value of the arguments to {function} at flattened positions {list(positions)},"
        " and the computation of these values is being staged out (that is, delayed rather than executed eagerly)."
    )


def _origin(tracer: Any) -> tuple[str, str]:
    """The tracer's own account of where it comes from: the sentences about its trace, and the arguments by their names."""
    message = getattr(tracer, "_origin_message", None)
    whole, _, by_name = (message() if message is not None else "").partition("\n")
    return whole, by_name


def _to_know(tracer: Any) -> str:
    """What to write so that the value of ``tracer`` is known, where the transformation that traces it offers something."""
    return getattr(tracer, "_to_know", "")


def _asked_by(*values: Any) -> str:
    """Which public function was called with one of ``values``, and as which argument; nothing where the user asked without one.

    That is the function nearest to the user's own frames one of whose parameters is, or holds, the value.
    """
    frame: FrameType | None = sys._getframe(1)
    found = ""
    while frame is not None and (is_internal(frame.f_code) or frame.f_globals is globals()):
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        if not code.co_name.startswith(("_", "<")) and "<locals>" not in code.co_qualname and frame.f_globals is not globals():
            for i, parameter in enumerate(code.co_varnames[:count + bool(code.co_flags & inspect.CO_VARARGS)]):
                if any(_holds(frame.f_locals.get(parameter), value) for value in values):
                    what = "the values of its array" if parameter == "self" else (
                        "its arguments" if i == count else f"its argument {parameter}")
                    found = f"{code.co_name} has to know {what} while a program is traced."
        frame = frame.f_back
    return found


def _holds(given: Any, value: Any) -> bool:
    return given is value or type(given) in (tuple, list) and any(x is value for x in given)


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


class _Indexed(Exception):
    """An error whose class has a section of its own in the index of errors: a note below the message leads there."""

    def __init__(self, *args: object):
        super().__init__(*args)
        name = next(c.__name__ for c in type(self).__mro__ if c.__module__ == "jax.errors")  # a subclass elsewhere has no section
        self.add_note(f"See {_INDEX}#{name.lower()}.")


class JAXTypeError(_Indexed, TypeError):
    """A value is not of a kind that JAX can use here."""

    def __init__(self, message: str):
        super().__init__(message)


class JAXIndexError(_Indexed, IndexError):
    """An index is not of a kind that JAX can use here."""

    def __init__(self, message: str):
        super().__init__(message)


class ConcretizationTypeError(JAXTypeError):
    """The value of a traced array was needed while only its type is known.

    Raised by `bool`, `int`, `float`, `complex` of a tracer and by functions one of
    whose arguments decides a shape or the course of the trace. Remedies: mark the
    argument static (`static_argnums`), use `jax.lax.cond`, `jax.lax.while_loop` or
    `jax.numpy.where` in place of Python control flow, or take the line out of the
    transformed function.
    """

    @staticmethod
    def _remedy(tracer: Tracer | ArrayLike) -> str:
        """What to write instead."""
        known = _to_know(tracer)
        return f"{known[:1].upper() + known[1:] or 'Ask for it outside of the transformed function'}, or keep the value an array (x.astype converts one)."

    def __init__(self, tracer: Tracer | ArrayLike | str, context: str = ""):
        """Args:
          tracer: the traced value, or a finished message.
          context: which call asked for the value, one sentence.
        """
        if isinstance(tracer, str):
            super().__init__(_lines(tracer, context))
            return
        origin, by_name = _origin(tracer)
        fixed = context == conversion_context("bool")  # the specification fixes this text: the rest is a note, shown below it
        super().__init__(_lines(
            f"Abstract tracer value encountered where concrete value is expected: {_named(tracer)}",
            context if fixed or not _is_conversion(context) else _asked_by(tracer) or context,
            *(() if fixed else (by_name, self._remedy(tracer))),
            origin,
            f" ({_URL}ConcretizationTypeError)",
        ))
        if fixed:
            self.__notes__.insert(0, _lines(by_name, self._remedy(tracer)))  # above the place in the index


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth value of a traced array was asked: `if x`, `while x`, `x and y`, `bool(x)`.

    Remedies: `jax.lax.cond`, `jax.lax.while_loop`, `jax.numpy.where`, or a static argument.
    """

    @staticmethod
    def _remedy(tracer: Tracer | ArrayLike) -> str:
        known = _to_know(tracer)
        return ("In place of `if` use jnp.where or jax.lax.cond, of `while` jax.lax.while_loop, of `and`, `or`, `not` jnp.logical_and and "
                f"its siblings{known and f'; or {known}'}.")

    def __init__(self, tracer: Tracer):
        # The space before the line break is part of the text the specification fixes.
        super().__init__(tracer, "" if isinstance(tracer, str) else conversion_context("bool"))


def _named(x: object) -> str:
    return x.by_type() if hasattr(x, "by_type") else repr(x)


def conversion_context(function: str) -> str:
    """The context line of an error raised by a Python conversion such as `bool` or `float`."""
    return f"The problem arose with the `{function}` function. "


def _is_conversion(context: str) -> bool:
    return not context or context.startswith(conversion_context("").split("`")[0])


class TracerIntegerConversionError(JAXTypeError):
    """A traced array was used where Python needs an integer: a list index, `range`, a shape.

    Remedies: convert the indexed sequence with `jax.numpy.asarray`, use
    `jax.lax.fori_loop` in place of `range`, or make the argument static.
    """

    def __init__(self, tracer: Tracer):
        super().__init__(tracer if isinstance(tracer, str) else _lines(
            f"A traced array cannot be used as a Python integer (`__index__` of {_named(tracer)}).",
            _asked_by(tracer), *_origin(tracer)[::-1],
            "To index a list or tuple with it, make that an array first (jnp.asarray); in place of range(n), use jax.lax.fori_loop; for a "
            f"shape or axis, {_to_know(tracer) or 'take a number that is known while tracing'}.",
        ))


class TracerArrayConversionError(JAXTypeError):
    """A traced array was handed to something that needs its numbers: a NumPy function, `np.asarray`.

    Remedies: the `jax.numpy` function of the same name, `jax.pure_callback` for code
    that must run on the host, or a static argument.
    """

    def __init__(self, tracer: Tracer):
        super().__init__(tracer if isinstance(tracer, str) else _lines(
            f"A traced array has no numbers yet, so it cannot become a NumPy array (`__array__` of {_named(tracer)}).",
            _asked_by(tracer), *_origin(tracer)[::-1],
            "Call the jax.numpy function in place of the NumPy one, or wrap host code in jax.pure_callback"
            f"{_to_know(tracer) and f', or {_to_know(tracer)}'}.",
        ))


class NonConcreteBooleanIndexError(JAXIndexError):
    """An array was indexed with a traced boolean mask, so the shape of the result is unknown.

    Remedies: `jax.numpy.where(mask, x, y)`, or the `size` argument of
    `jax.numpy.nonzero` and its relatives.
    """

    def __init__(self, tracer: Any):
        super().__init__(tracer if isinstance(tracer, str) else _lines(
            f"A boolean index must have known values, since they decide the shape of the result; got {_named(tracer)}.",
            *_origin(tracer)[::-1],
            "Use jnp.where(mask, x, y) in place of x[mask], or jnp.nonzero(mask, size=n) for a fixed number of"
            " elements.",
        ))


class UnexpectedTracerError(JAXTypeError):
    """A tracer outlived the transformation that made it, and was used afterwards.

    Usually a transformed function stored an intermediate value in a global, an
    attribute or a closure. Remedy: return the value. `jax.checking_leaks` finds the place.
    """

    def __init__(self, msg: str):
        super().__init__(msg)


class CustomVJPException(UnexpectedTracerError):
    """A custom VJP function closes over a value that is being differentiated. A class of its own as libraries catch it by this name."""


class KeyReuseError(JAXTypeError):
    """A random key was consumed twice. Remedy: `jax.random.split` it first."""

    def __init__(self, message: str):
        super().__init__(message)


class TypePromotionError(_Indexed, ValueError):
    """No implicit promotion leads from the given dtypes to a common one. Remedy: `x.astype(dtype)`."""


class JaxprTypeError(_Indexed, TypeError):
    """A jaxpr is ill-typed: a bug in a transformation or in a user's own jaxpr interpreter."""


class InconclusiveDimensionOperation(_Indexed):
    """A comparison of symbolic dimensions has no answer that holds for all their values."""


def no_index(aval: AbstractValue) -> str:
    """Why a value of type ``aval`` is no index of a list: what Python asks of `__index__`."""
    return f"Only integer scalar arrays can be converted to a scalar index; got {aval.strip_weak_type().str_short()}"


def no_array(aval: AbstractValue) -> str:
    """Why a mutable reference of type ``aval`` is no operand."""
    return f"a reference of type {aval} cannot be used as an array; read its contents with ref[...]"


def no_truth(shape: Shape) -> str:
    """Why an array of ``shape``, which has not one element, is no condition."""
    if 0 in shape:
        return f"an array of shape {shape} has no elements, so it is neither true nor false; test x.size > 0"
    return f"an array of shape {shape} has several elements, so it is neither true nor false; write x.any() or x.all()"


def origin_note(*tracers: Any) -> str:
    """From which arguments the first of ``tracers`` that knows it comes; empty if none does."""
    return next(filter(None, (_origin(tracer)[1] for tracer in tracers)), "")


def shape_error(shape: Shape, name: str = "") -> TypeError:
    """The error for a shape that contains something other than concrete integers.

    Args:
      shape: the offending shape, as the user gave it.
      name: the function that it was given to.

    Returns:
      A `TypeError` to raise; for traced entries with the text of the specification.
    """
    entries = shape if isinstance(shape, (tuple, list)) else (shape,)
    traced = next((entry for entry in entries if hasattr(entry, "_origin_message")), None)
    if traced is not None:
        error = TypeError(spec_text.TRACED_SHAPE.format(shape=shape))
        note = _lines(_asked_by(shape, traced), _origin(traced)[1])
        if note:
            error.add_note(note)  # the specification fixes the text
        return error
    return TypeError(f"{name}{': ' if name else ''}a shape must be an int or a sequence of ints, got {shape!r}")


# --- errors of the running program ---------------------------------------------------
def __getattr__(name: str) -> Any:
    if name == "JaxRuntimeError":
        if runtime_error.value is None:  # the backend fills it when it is loaded
            try:
                backends.get()
            except RuntimeError as error:
                raise AttributeError(f"{__name__}.JaxRuntimeError is the error class of the runtime, and {error}") from error
        return runtime_error.get()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ShardingTypeError(_Indexed):
    """The shardings in the types of an operation's operands do not go together, or do not say what that of its result is."""

    def __init__(self, *args: object):
        super().__init__(*args)
        function = entered("jax_numpy_api")
        if function and not str(self).startswith(function):
            self.add_note(f"It arose in {function[:-2]}.")


for _name in (*__all__,):  # users know them by the module where they are public
    globals()[_name].__module__ = "jax.errors"
