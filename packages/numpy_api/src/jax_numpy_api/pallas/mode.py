"""Whether kernels are interpreted that do not ask for it: for tests of code that calls `pallas_call` for a TPU."""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Iterator

from .specs import InterpretParams

_PLAIN = InterpretParams()


class _Interpretation(threading.local):
    """``value``: as the argument ``interpret`` of `pallas_call`."""

    value: Any = False


forced_interpretation = _Interpretation()
"""``value``: what stands in the place of ``interpret=False``."""
interpretation = _Interpretation()
"""``value``: how the kernel is interpreted that this thread is tracing or interpreting."""


forgetting: list[Callable[[], None]] = []
"""What `reset_tpu_interpret_mode_state` calls."""


@contextlib.contextmanager
def interpreting(interpret: bool | InterpretParams) -> Iterator[None]:
    """Inside, a kernel is traced, or interpreted, that is called with this ``interpret``."""
    before, interpretation.value = interpretation.value, interpret
    try:
        yield
    finally:
        interpretation.value = before


@contextlib.contextmanager
def force_tpu_interpret_mode(params: InterpretParams = _PLAIN) -> Iterator[None]:
    """Context in which kernels that are called are interpreted, as if ``interpret=params`` had been given.

    A function that was jitted before keeps the program that it has.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x, out):
    ...     out[...] = x[...] + 1
    >>> with pltpu.force_tpu_interpret_mode():
    ...     pl.pallas_call(kernel, jax.ShapeDtypeStruct((2,), jnp.float32))(jnp.ones(2))
    Array([2., 2.], dtype=float32)
    """
    before = forced_interpretation.value
    forced_interpretation.value = params
    try:
        yield
    finally:
        forced_interpretation.value = before


def set_tpu_interpret_mode(params: InterpretParams | None = _PLAIN) -> None:
    """From now on kernels that this thread calls are interpreted, as if ``interpret=params`` had been given; None: no more.

    >>> from jax.experimental import pallas as pl
    >>> from jax.experimental.pallas import tpu as pltpu
    >>> def kernel(x_ref, o_ref):
    ...     o_ref[...] = x_ref[...] * 2
    >>> pltpu.set_tpu_interpret_mode()
    >>> x = pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.float32))(jnp.arange(3.))
    >>> pltpu.set_tpu_interpret_mode(None)
    >>> x
    Array([0., 2., 4.], dtype=float32)
    """
    forced_interpretation.value = params or False


def reset_tpu_interpret_mode_state() -> None:
    """Forget kernels that some devices of a mesh began, and others did not come to.

    >>> from jax.experimental.pallas import tpu as pltpu
    >>> pltpu.reset_tpu_interpret_mode_state()
    """
    for forget in forgetting:
        forget()
