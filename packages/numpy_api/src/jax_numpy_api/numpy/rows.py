"""How a row of `ufuncs` becomes a public function.

A row gives the name, the operation of `lax`, how operands are promoted, and one sentence. The function it makes runs
as one compiled dispatch when called eagerly and is called straight through under a transformation (`inlined`).
"""
from __future__ import annotations

import inspect
from typing import Callable

from jax_core.jit import inlined

from . import promotion

PROMOTIONS: dict[str, Callable] = {
    "any": promotion.promote_args,
    "inexact": promotion.promote_args_inexact,
    "numeric": promotion.promote_args_numeric,
}

_DTYPES = {
    "any": "any dtype, which the result has too",
    "inexact": "any numeric dtype; integers and booleans are computed in the default float dtype",
    "numeric": "any dtype; booleans are computed as integers",
}


def named(fun: Callable, name: str, doc: str, signature: inspect.Signature | None = None) -> Callable:
    """Give a generated function its public name, docstring and signature."""
    fun.__name__ = fun.__qualname__ = name
    fun.__module__ = "jax.numpy"
    fun.__doc__ = doc
    if signature is not None:
        fun.__signature__ = signature
    return fun


def parameters(*names: str, positional_only: bool = True) -> inspect.Signature:
    """The signature ``(a, b, /)``, or ``(a, b)``."""
    kind = inspect.Parameter.POSITIONAL_ONLY if positional_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(n, kind) for n in names])


def unary(name: str, op: Callable, promote: str, summary: str, parameter: str = "x") -> Callable:
    """The public function ``name(x, /)``: promotion, then ``op``."""
    prepare = PROMOTIONS[promote]

    def fun(x, /):
        return op(*prepare(name, x))

    doc = (f"{summary}\n\n    Args:\n      {parameter}: array or number of {_DTYPES[promote]}.\n\n    Returns:\n"
           f"      an array of the shape of ``{parameter}``.\n\n    Raises:\n      TypeError: ``{parameter}`` is not an array or number."
           f"\n\n    Source: `numpy.{name}`.\n    ")
    return inlined()(named(fun, name, doc, parameters(parameter) if parameter != "x" else None))


def binary(name: str, op: Callable, promote: str, summary: str, names: tuple[str, str] = ("x1", "x2")) -> Callable:
    """The public function ``name(x1, x2, /)``: promotion and broadcasting, then ``op``."""
    prepare = PROMOTIONS[promote]

    def fun(x1, x2, /):
        return op(*prepare(name, x1, x2))

    doc = (f"{summary}\n\n    Args:\n      {', '.join(names)}: arrays or numbers of {_DTYPES[promote]}; they are promoted to one"
           f" dtype and broadcast.\n\n    Returns:\n      an array of the common shape.\n\n    Raises:\n"
           f"      TypeError: an argument is not an array or number, or the shapes do not broadcast.\n\n"
           f"    Source: `numpy.{name}`.\n    ")
    return inlined()(named(fun, name, doc, parameters(*names) if names != ("x1", "x2") else None))

