"""How a row of `ufuncs` becomes a public function.

A row gives the name, the operation of `lax`, how operands are promoted, and one sentence. The function it makes runs
as one compiled dispatch when called eagerly and is called straight through under a transformation (`inlined`), but
that one of two operands, which are both known, is then computed as outside of it.
"""
from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from jax_core import backends
from jax_core.configuration import context, engine
from jax_core.extension_points import caches_cleared
from jax_core.programs.jit import inlined, inlined_later, jit
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.traces.trace import EVAL, Tracer, evaluates_known

from .promotion import as_array, promote_args, promote_args_inexact, promote_args_numeric

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_F = TypeVar("_F", bound=Callable)

PROMOTIONS: dict[str, Callable] = {
    **dict.fromkeys(("any", "truth", "numbers", "integers", "real", "modulus"), promote_args),
    **dict.fromkeys(("inexact", "floats"), promote_args_inexact),
    **dict.fromkeys(("numeric", "bits"), promote_args_numeric),
}

_DTYPES = {
    "any": "any dtype, which the result has too",
    "truth": "any dtype",
    "numbers": "any dtype but bool, which the result has too",
    "integers": "any integer dtype or bool, which the result has too",
    "real": "any real dtype, which the result has too",
    "modulus": "any dtype, which the result has too; of complex numbers the real one",
    "inexact": "any numeric dtype; integers and booleans are computed in the default float dtype",
    "floats": "any real dtype; integers and booleans are computed in the default float dtype",
    "numeric": "any dtype; booleans are computed as integers",
    "bits": "any integer dtype; booleans are computed as integers",
}


def named(fun: Callable, name: str, doc: str, signature: inspect.Signature | None = None) -> Callable:
    """Give a generated function its public name, docstring and signature."""
    fun.__name__ = fun.__qualname__ = name
    fun.__module__ = "jax.numpy"
    fun.__doc__ = doc
    if signature is not None:
        setattr(fun, "__signature__", signature)
    return fun


def parameters(*names: str, positional_only: bool = True) -> inspect.Signature:
    """The signature ``(a, b, /)``, or ``(a, b)``."""
    kind = inspect.Parameter.POSITIONAL_ONLY if positional_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(n, kind, annotation="ArrayLike") for n in names], return_annotation="Array")


# -- when to compile ---------------------------------------------------------------------------------------------------

_COLD_CALLS = 16
_HOST_ELEMENTS = 1 << 20
_ELEMENTS_OF_A_CALL = 1 << 16  # a call on more counts as several
_FEW = 1 << 14
_calls: dict = {}


class Static(tuple):
    """A static argument of which many values are expected, so that each has a count of calls of its own."""


def _is_cold(fun: Callable, exact: str, args: tuple) -> bool:
    """Whether this call may run on the host, and was not made often enough with these types to be worth compiling.

    The key holds identities, which hash fast; should one be used again for another type, a call is counted wrongly, and
    takes the other of two ways to the same result.
    """
    key: list[Any] = [id(fun)]
    for x in args:
        aval = getattr(x, "aval", None)
        key.append(x if type(x) is Static else id(type(x) if aval is None else aval))
    known = tuple(key)
    count = _calls.get(known, 0)
    if count >= _COLD_CALLS:
        return False
    if len(_calls) > 1 << 16:
        _calls.clear()
    most = max(map(_elements, args), default=1)
    if exact == "integers" and not all(map(_is_integer, args)) or most > _HOST_ELEMENTS:
        count = _COLD_CALLS
    _calls[known] = count + 1 + most // _ELEMENTS_OF_A_CALL
    return count < _COLD_CALLS


def _elements(x: Any) -> int:
    """How many elements an operand has; what is no array counts as one, a class of NumPy (as a dtype) among it."""
    size = getattr(x, "size", 1)
    return size if isinstance(size, int) else 1


def _is_integer(x: Any) -> bool:
    """Whether ``x`` holds integers or booleans (or is no operand at all)."""
    return getattr(getattr(x, "dtype", None), "kind", "i") in "biu" and not isinstance(x, (float, complex))


def adaptive(exact: str, static_argnums: tuple = (), static_argnames: tuple = (), lists: tuple = ()) -> Callable[[_F], _F]:
    """As `inlined`, for functions whose primitives the host computes exactly: on integers and booleans ("integers"), or
    on anything ("always"). The first few calls with each combination of types run there, and only then is it compiled:
    a program that calls it once with each of many shapes waits for no compiler, and a loop gets the fast dispatch.
    """
    def decorate(fun: _F) -> _F:
        return inlined(fun, static_argnums=static_argnums, static_argnames=static_argnames, lists=lists,
                       rather_plain=lambda args: _is_cold(fun, exact, args))
    return decorate


def is_few(x: Any) -> TypeIs[Array]:
    """Whether ``x`` is an array of few elements and this an eager call, so that one compiled call that moves them is the fastest: to make a
    view takes twice as long, whatever the size. Committed arrays go the ordinary way, on which they keep their placement."""
    return context.state.trace is EVAL and not getattr(x, "_committed", True) and x.size <= _FEW


def _made(fun: Callable, exact: str | None) -> Callable:
    return inlined()(fun) if exact is None else adaptive(exact)(fun)


# -- numbers among the operands ----------------------------------------------------------------------------------------

NUMBERS = frozenset({bool, int, float, complex})
_KEPT = 256
_kept: dict = {}


def operand(x: ArrayLike, beside: object) -> Any:
    """The Python number ``x`` as an array of weak type, the same one each time; for eager calls.

    The dispatcher makes a buffer of a number at each call, which takes half as long again as the call. ``x`` is handed
    back where that could make a difference: next to arrays that are committed to a placement, under settings of this
    thread alone, and for negative zero, which equals zero.
    """
    if engine._overrides_in_force or getattr(beside, "_committed", True):
        return x
    try:
        return _kept[x, type(x)]
    except KeyError:
        pass
    if type(x) is complex or x == 0 and str(x)[0] == "-" or x != x:
        return x
    if len(_kept) >= _KEPT:
        _kept.clear()
    made = _kept[x, type(x)] = backends.get().put(x)
    return made


def _forget_numbers(*_: Any) -> None:
    _kept.clear()


for _flag in ("jax_enable_x64", "jax_default_device", "jax_transfer_guard_host_to_device", "jax_platforms"):
    engine.on_change(_flag, _forget_numbers)
caches_cleared.add(_forget_numbers)


def _is_known(x: object) -> bool:
    return type(x) in NUMBERS or isinstance(x, (Array, np.ndarray, np.generic))


# -- rows --------------------------------------------------------------------------------------------------------------

def shown(example: str) -> str:
    """The end of a docstring: an example of a row, ``">>> ...\\n..."``, indented."""
    return "".join(f"\n    {line}" for line in [*example.splitlines(), ""]) if example else ""


def unary(name: str, op: Callable, promote: str, summary: str, parameter: str = "x",
          exact: str | None = None, example: str = "") -> Callable[[ArrayLike], Array]:
    """The public function ``name(x, /)``: promotion, then ``op``."""
    prepare = PROMOTIONS[promote]

    def fun(x: ArrayLike, /) -> Array:
        return as_array(op(*prepare(name, x)))  # an operation may hand a number back as it is

    made = "an array of booleans" if promote == "truth" else "an array"
    doc = (f"{summary}\n\n    Args:\n      {parameter}: array or number of {_DTYPES[promote]}.\n\n    Returns:\n"
           f"      {made} of the shape of ``{parameter}``.\n\n    Raises:\n      TypeError: ``{parameter}`` is not an array or number."
           f"\n\n    Source: `numpy.{name}`.\n    {shown(example)}")
    return _made(named(fun, name, doc, parameters(parameter) if parameter != "x" else None), exact)


def binary(name: str, op: Callable, promote: str, summary: str, names: tuple[str, str] = ("x1", "x2"),
           exact: str | None = None, example: str = "", step_by_step: Callable | None = None) -> Callable[[ArrayLike, ArrayLike], Array]:
    """The public function ``name(x1, x2, /)``: promotion and broadcasting, then ``op``.

    ``step_by_step(x1, x2)`` is asked first for operands of a transformation whose steps are evaluated one by one, and may answer None.
    """
    prepare = PROMOTIONS[promote]

    def fun(x1: ArrayLike, x2: ArrayLike, /) -> Array:
        return op(*prepare(name, x1, x2))

    made = "an array of booleans" if promote == "truth" else "an array"
    doc = (f"{summary}\n\n    Args:\n      {', '.join(names)}: arrays or numbers of {_DTYPES[promote]}; they are promoted to one"
           f" dtype and broadcast.\n\n    Returns:\n      {made} of the common shape.\n\n    Raises:\n"
           f"      TypeError: an argument is not an array or number, or the shapes do not broadcast.\n\n"
           f"    Source: `numpy.{name}`.\n    {shown(example)}")
    named(fun, name, doc, parameters(*names) if names != ("x1", "x2") else None)
    compiled = None

    @functools.wraps(fun)
    def call(x1: ArrayLike, x2: ArrayLike, /):
        nonlocal compiled
        if context.state.trace is not EVAL:
            if isinstance(x1, Tracer) or isinstance(x2, Tracer) or not (_is_known(x1) and _is_known(x2) and evaluates_known()):
                result = step_by_step(x1, x2) if step_by_step is not None and evaluates_known() else None
                return fun(x1, x2) if result is None else result
            with context.Use(EVAL):  # as outside of the transformation: XLA's 0 for 0 * inf of a mask is NaN step by step
                return call(x1, x2)
        if compiled is None:
            compiled = jit(fun, inline=True) if exact is None else inlined_later(fun, lambda args: _is_cold(fun, exact, args))
        if type(x2) in NUMBERS:
            return compiled(x1, operand(x2, x1))
        if type(x1) in NUMBERS:
            return compiled(operand(x1, x2), x2)
        return compiled(x1, x2)
    return call

