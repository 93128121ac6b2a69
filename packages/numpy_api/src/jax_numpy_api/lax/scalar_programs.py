"""Programs of scalars that a reduction, a window or a scatter runs on elements.

Compilers take arithmetic in such a place, and little else: XLA ends the process at a sort, a call of the host or a loop of several values there
(openxla/xla #47373, jaxlib 0.10.2 to 0.12). Any other program is run on whole arrays instead.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence

import numpy as np

from jax_core.representation.jaxpr import ClosedJaxpr, eval_jaxpr, program_of
from jax_core.representation.traits import Kind
from jax_core.traces.structural import matchaxis
from jax_core.traces.trace import Tracer
from jax_core.transformations.batching import AxisData, batch_fun

from .shape import reshaped

if TYPE_CHECKING:
    from jax_core.representation.array import Array

_PLAIN = (Kind.ELEMENTWISE, Kind.MOVE, Kind.VIEW)


def is_arithmetic(closed: ClosedJaxpr) -> bool:
    """Whether every equation computes a scalar from scalars, without a loop or an effect."""
    for eqn in closed.jaxpr.eqns:
        traits = eqn.primitive.traits
        if traits.kind is Kind.CALL:
            program = program_of(eqn)
            if program is None or not is_arithmetic(program):
                return False
        elif traits.kind not in _PLAIN or traits.loops or eqn.effects or any(v.aval.shape for v in (*eqn.invars, *eqn.outvars)):
            return False
    return True


def closes_over_tracers(closed: ClosedJaxpr) -> bool:
    """Whether values of an enclosing transformation are among the constants."""
    return any(isinstance(c, Tracer) for c in closed.consts)


def check_closed(name: str, closed: ClosedJaxpr) -> ClosedJaxpr:
    """Raise NotImplementedError for a program with values of an enclosing transformation."""
    if closes_over_tracers(closed):
        raise NotImplementedError(f"{name}: computation must not use values of an enclosing transformation; pass them as operands.")
    return closed


def on_arrays(closed: ClosedJaxpr, arrays: Sequence[Array]) -> list[Array]:
    """The program on every element of arrays of one shape."""
    shape = np.shape(arrays[0])
    if shape == ():
        return eval_jaxpr(closed.jaxpr, closed.consts, *arrays)
    flat = [reshaped(x, (math.prod(shape),)) for x in arrays]
    axis = AxisData(None, math.prod(shape))
    fun, dims = batch_fun(lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args), axis, [0] * len(flat))
    outs = fun(*flat)
    return [reshaped(matchaxis(axis, x, d, 0), shape) for x, d in zip(outs, dims())]
