"""What kernels for TPUs say while they run: checks that stop the program, and values for a trace. Interpreted, they say nothing."""
from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

import numpy as np

from jax_core.configuration import flags
from jax_core.representation.aval import get_aval
from jax_core.representation.effects import UsualEffect
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive
from jax_core.representation.typing import ArrayLike

from .. import lax


class _Said(UsualEffect):
    """What is said, which nothing may drop."""

    __slots__ = ()
    of_lanes = False


def _in_kernel(name, b, x, *, text):
    return b.emit(f"stablehlo.custom_call @kernel.{name}({x})", x, out=[],
                  attrs=f'{{has_side_effect = true, backend_config = "{text.encode().hex()}"}}')


def _said(name: str) -> Primitive:
    prim: Primitive = Primitive(
        name, multiple_results=True, out_type=lambda x, *, text: (), effects=lambda x, *, text: frozenset({_Said()}), jvp=ZERO,
        batch=lambda axis, args, dims, *, text: (_each(prim, axis.size, args[0], dims[0], text), []),
        lower=lambda b, x, *, text: [], impl=lambda x, *, text: [], in_kernel=partial(_in_kernel, name))
    return prim


def _each(prim, size, x, dim, text):
    """Say the text of each lane, and return no results."""
    for k in range(size):
        prim.bind(lax.index_in_dim(x, k, dim, keepdims=False), text=text)
    return []


check_p = _said("assert")
trace_value_p = _said("trace_value")


def debug_check(condition: ArrayLike, message: str) -> None:
    """Stop a compiled kernel where ``condition`` is false, under `pl.enable_debug_checks`. Elsewhere, and interpreted, nothing.

    Args:
      condition: one boolean.
      message: what the error says.

    Raises:
      TypeError: ``condition`` is no boolean scalar.

    >>> from jax.experimental import pallas as pl
    >>> def kernel(x_ref, o_ref):
    ...     pl.debug_check(x_ref[0] >= 0, "negative")
    ...     o_ref[...] = x_ref[...]
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    aval = get_aval(condition)
    if aval.shape or aval.dtype != np.bool_:
        raise TypeError(f"debug_check: {aval.str_short()} was given as the condition, which is one boolean; jnp.all makes one of many.")
    if flags.pallas_enable_debug_checks.value:
        check_p.bind(condition, text=message)


def enable_debug_checks(enabled: bool = True) -> AbstractContextManager[None]:
    """A context manager, and a decorator, under which programs are compiled with their `pl.debug_check`, or without.

    It is the flag `jax_pallas_enable_debug_checks` in this thread.

    Args:
      enabled: whether checks are compiled.

    >>> from jax.experimental import pallas as pl
    >>> with pl.enable_debug_checks(True):
    ...     print(jax.config.jax_pallas_enable_debug_checks)
    True
    """
    return flags.pallas_enable_debug_checks(enabled)


def trace_value(label: str, value: ArrayLike) -> None:
    """Write a number into the profile of a compiled kernel. Interpreted, nothing.

    Args:
      label: its name in the profile.
      value: one int32 or float32.

    Raises:
      ValueError: ``value`` is something else.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     pltpu.trace_value("first", x_ref[0])
    ...     o_ref[...] = x_ref[...]
    >>> pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.))
    Array([0., 1., 2.], dtype=float32)
    """
    aval = get_aval(value)
    if aval.shape or aval.dtype not in (np.int32, np.float32):
        raise ValueError(f"trace_value: {aval.str_short()} was given, a profile takes one int32 or float32.")
    trace_value_p.bind(value, text=label)
