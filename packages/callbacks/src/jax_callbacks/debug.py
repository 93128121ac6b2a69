"""`jax.debug`: look at a program while it runs.

A debug callback assumes nothing and promises nothing: it runs where and as often as the program, after all
transformations, runs that place. It returns nothing, so `jit` never needs it, but does not remove it either. Under `vmap`
it is called for each element, differentiation leaves it alone, and `checkpoint` repeats it.
"""
from __future__ import annotations

import builtins
import logging
import string
import sys
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.representation.aval import is_jax_type
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits

from .api import batch_by_loop, lower_call, run_now
from .effects import DebugEffect, OrderedDebugEffect, debug_effect, ordered_debug_effect
from .site import make_site
from .visualize import inspect_array_sharding, visualize_array_sharding, visualize_sharding

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def _effect(ordered: bool) -> Any:
    return ordered_debug_effect if ordered else debug_effect


def _lower(b, *operands, site, ordered, partitioned):
    return lower_call(b, operands, site, _effect(ordered), True, partitioned)


def _print_in_kernel(b, *operands, site, **_):
    """Accelerators print a text, and after it the values."""
    text = ""
    for literal, field, _, _ in string.Formatter().parse(site.function.fmt):
        text += literal
        if field is not None:
            break
    return b.emit(f"stablehlo.custom_call @kernel.print({', '.join(map(str, operands))})", *operands, out=[],
                  attrs=f'{{has_side_effect = true, backend_config = "{text.encode().hex()}"}}')


def _primitive(name: str, **rules: Any) -> Primitive:
    prim: Primitive = Primitive(
        name, multiple_results=True, cacheable=False,
        out_type=lambda *avals, **_: (),
        effects=lambda *avals, ordered, **_: frozenset([_effect(ordered)]),
        impl=lambda *args, site, **_: run_now(args, site),
        jvp=ZERO,
        batch=lambda axis, args, dims, *, site, **params: batch_by_loop(prim, axis, args, dims, site, **params),
        lower=_lower, lowers_keys=True, **rules,
        traits=Traits(Kind.HOST))
    return prim


debug_callback_p = _primitive("debug_callback")
debug_print_p = _primitive("debug_print", in_kernel=_print_in_kernel)
"""The same under the name that whoever reads a program expects for `print`."""


def bind(kind: str, function: Callable, args: tuple, kwargs: dict, ordered: bool, partitioned: bool) -> None:
    site, operands = make_site(kind, function, args, kwargs, None, (), is_jax_type)
    prim = debug_print_p if kind in ("debug.print", "debug.log") else debug_callback_p
    prim.bind(*operands, site=site, ordered=bool(ordered), partitioned=bool(partitioned))


def callback(callback: Callable[..., PyTree] | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
             **kwargs: Any) -> Callable[..., None] | None:
    """Call a Python function with values of the program; what it returns is ignored.

    Args:
      callback: gets ``args`` and ``kwargs``; arrays as a `jax.Array` in the host's memory, objects that are not arrays
        as they are. Without it, a function ``(callback, *args, **kwargs)`` with these options is
        returned.
      ordered: calls happen in program order, also between programs that run one after another.
      partitioned: in a program on several devices, call it on each device with that device's part of the arrays.

    Raises:
      TypeError: ``callback`` cannot be called.

    >>> seen = []
    >>> _ = jax.jit(lambda x: jax.debug.callback(lambda v: seen.append(int(v)), x))(3)
    >>> jax.effects_barrier();
    >>> seen
    [3]
    """
    if callback is None:
        if args or kwargs:
            raise TypeError(f"debug_callback received unexpected arguments in the two-call form: args={args} "
                            f"kwargs={kwargs}")
        return lambda callback, *args, **kwargs: _callback(callback, args, kwargs, ordered, partitioned)
    return _callback(callback, args, kwargs, ordered, partitioned)


def _callback(function, args, kwargs, ordered, partitioned):
    if not callable(function):
        raise TypeError(f"jax.debug.callback: callback must be callable, got {function!r} of type "
                        f"{type(function).__name__}; for text, use jax.debug.print")
    bind("debug.callback", function, args, kwargs, ordered, partitioned)


# -- print -----------------------------------------------------------------------------------------------------------

class _FormatCheck(string.Formatter):
    """Goes through a format string without formatting anything."""

    def format_field(self, value: object, format_spec: str):
        return ""

    def convert_field(self, value: object, conversion):
        return ""

    def check_unused_args(self, used_args: set, args: Sequence, kwargs: Mapping):
        unused = [x for i, x in enumerate(args) if i not in used_args]
        if unused:
            raise ValueError(f"jax.debug.print: fmt has no place for the positional arguments {unused}; give each a pair of braces "
                             "(fmt must be no f-string, which is formatted before the values are known)")
        names = [k for k in kwargs if k not in used_args]
        if names:
            raise ValueError(f"jax.debug.print: fmt has no place for the keyword arguments {names}; name each in braces "
                             "(fmt must be no f-string, which is formatted before the values are known)")


_check = _FormatCheck()


def _is_plain(fmt: str) -> bool:
    """Whether a format string has no place for a value."""
    return all(field is None for _, field, _, _ in string.Formatter().parse(fmt))


class _Message:
    """Formats values as ``fmt`` says, under the NumPy print options of the time when the call was traced."""

    __slots__ = ("fmt", "options", "plain")

    def __init__(self, fmt: str):
        self.fmt, self.options = fmt, np.get_printoptions()
        self.plain = _is_plain(fmt)

    def text(self, args: tuple, kwargs: dict) -> str:
        if self.plain and not args and not kwargs:
            return self.fmt
        if np.get_printoptions() == self.options:
            return self.fmt.format(*args, **kwargs)
        with np.printoptions(**self.options):
            return self.fmt.format(*args, **kwargs)


class _Print(_Message):
    """The function that a program with `print` calls."""

    __slots__ = ()

    def __call__(self, *args, **kwargs):
        builtins.print(self.text(args, kwargs) + "\n", end="")  # one write, so that texts of several threads stay whole


class _Log(_Message):
    """The function that a program with `log` calls; the record names the line where `log` was called."""

    __slots__ = ("place",)

    def __init__(self, fmt: str, frame: Any):
        super().__init__(fmt)
        self.place = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name

    def __call__(self, *args, **kwargs):
        if logger.isEnabledFor(logging.INFO):
            logger.handle(logger.makeRecord(logger.name, logging.INFO, self.place[0], self.place[1],
                                            self.text(args, kwargs), (), None, self.place[2]))


logger = logging.getLogger("jax.debug")
"""Where `log` writes, with level INFO."""


def print(fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
          skip_format_check: bool = False, _use_logging: bool = False, **kwargs: Any) -> Callable[..., None] | None:
    """Print values of the program when it runs: ``jax.debug.print("x = {x}", x=x)``.

    Args:
      fmt: a format string as for `str.format`, not an f-string, which would show the traced value. Without it, a function
        ``(fmt, *args, **kwargs)`` with these options is returned.
      ordered, partitioned: as for `callback`.
      skip_format_check: do not check ``fmt`` against the arguments.

    Raises:
      ValueError: arguments that ``fmt`` does not mention. IndexError, KeyError: ``fmt`` mentions what is not there.

    >>> _ = jax.jit(lambda x: jax.debug.print("x is {x}", x=x))(3)
    x is 3
    >>> jax.effects_barrier()
    """
    frame = sys._getframe(1)
    if fmt is None:
        if args or kwargs:
            raise TypeError(f"debug_print received unexpected arguments in the two-call form: args={args} kwargs={kwargs}")
        return lambda fmt, *args, **kwargs: _print(fmt, args, kwargs, ordered, partitioned, skip_format_check,
                                                   _use_logging, sys._getframe(1))
    return _print(fmt, args, kwargs, ordered, partitioned, skip_format_check, _use_logging, frame)


def print_in_kernel(fmt: str, *args: Any) -> None:
    """Print values of a kernel when it runs: as `jax.debug.print`, and ``pl.debug_print("x", x)`` prints them after a text without braces.

    Args:
      fmt: a format string as for `str.format`, or a text.

    Raises:
      ValueError: arguments that ``fmt`` does not mention. IndexError, KeyError: ``fmt`` mentions what is not there.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x, out):
    ...     pl.debug_print("first", x[0])
    ...     out[...] = x[...]
    >>> _ = pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32), interpret=True)(jnp.arange(2.0))
    first 0.0
    >>> jax.effects_barrier()
    """
    if args and isinstance(fmt, str) and _is_plain(fmt):
        fmt = fmt.replace("{", "{{").replace("}", "}}") + " {}" * len(args)
    _print(fmt, args, {}, False, False, False, False, sys._getframe(1))


def _print(fmt, args, kwargs, ordered, partitioned, skip_format_check, use_logging, frame):
    if not isinstance(fmt, str):
        raise TypeError(f"jax.debug.print: fmt must be a str with a pair of braces for each value, as jax.debug.print('{{}}', x), got {fmt!r} of type "
                        f"{type(fmt).__name__}")
    if not skip_format_check:
        try:
            _check.format(fmt, *args, **kwargs)
        except LookupError as error:
            missing = f"no keyword argument {error}" if isinstance(error, KeyError) else f"no more than {len(args)} positional arguments ({error})"
            raise type(error)(f"jax.debug.print: fmt={fmt!r} has a place for a value that is missing: the call has {missing}") from None
    bind("debug.log" if use_logging else "debug.print", _Log(fmt, frame) if use_logging else _Print(fmt), args, kwargs,
          ordered, partitioned)


def log(fmt: str | None = None, *args: Any, ordered: bool = False, partitioned: bool = False,
        skip_format_check: bool = False, **kwargs: Any) -> Callable[..., None] | None:
    """As `print`, to the logger ``"jax.debug"`` with level INFO. Arguments and errors as for `print`.

    >>> jax.debug.log('x is {}', 3)
    """
    frame = sys._getframe(1)
    if fmt is None:
        return print(ordered=ordered, partitioned=partitioned, skip_format_check=skip_format_check, _use_logging=True)
    return _print(fmt, args, kwargs, ordered, partitioned, skip_format_check, True, frame)


__all__ = ["DebugEffect", "OrderedDebugEffect", "callback", "inspect_array_sharding", "log", "print", "print_in_kernel",
           "visualize_array_sharding", "visualize_sharding"]
