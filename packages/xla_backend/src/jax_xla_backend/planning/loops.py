"""Which loops of a program had better be one function?

XLA's CPU compiler dispatches every kernel of every step, unless it makes one function of the whole loop. It does so where a
step reads and writes few bytes, but it counts a table of which a step reads one row as a whole, and all operations alike.

What is lost in such a function: it runs on one thread, and where a result takes the buffer of an operand its code has no
vector instructions. So where a step is a single kernel it pays only if that is short; else steps over at most `ELEMENTS` may do
anything, and steps over more only what is cheap. docs/internals/control-flow.md has the measurements.
"""
from __future__ import annotations

import math
from typing import Any, Iterator

from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, jaxprs_in_params
from jax_core.representation.traits import Kind, Part

from .planner import CHEAP, SMALL
from .small_programs import ELEMENTS, leaves, programs

CHEAP_ELEMENTS = 8192
"""Of the arrays of cheap operations, at most."""
CHEAP_EQUATIONS = 100
"""On such arrays in a step, at most: 200 take 1.5 times as long in a function."""
SINGLE_ELEMENTS = 64
"""Of the arrays of costly operations where a step is a single kernel, at most."""

COSTLY = 1.0
"""ns for one element of what takes several times as long without vector instructions: `exp`, `tanh`, `sin` ..."""

FEW_TIMES = 4
"""An array of more times the elements of what is written over a part of it is overwritten, rather than computed anew."""

UNLIMITED = 1_000_000_000
"""Bytes that a step may read and write if XLA is to make one function of every loop that it can."""
USUAL = 1 << 14
"""The same where nothing is known, unless XLA's own limit is high (jaxlib from 0.12 on), which then stands. 64 scalars take
1.6 ms in place of 31 with it, 16 arrays f32[8] 0.24 ms in place of 1.7."""
LOW = 1 << 10
"""XLA's own before jaxlib 0.12."""
NEVER = 1
"""No loop becomes a function, in which barriers would be lost."""

_CALLED = (Kind.LIBRARY, Kind.CONVOLUTION, Kind.SORT, Kind.HOST)
_ON_PARTS = (Part.FOUND, Part.WRITTEN)
_SCALAR_CODE = {"bfloat16", "float16", "complex64", "complex128"}  # slow without vector instructions


def loop_limit(jaxpr: Jaxpr) -> int:
    """Bytes that a step reads and writes in loops that XLA is to make one function of, at most."""
    limit = None
    for program in programs(jaxpr):
        for eqn in program.eqns:
            if eqn.primitive.traits.kind is Kind.LOOP:
                steps = list(inside(eqn))
                if any([_is_called(e) for e in steps]):
                    continue
                if not any([e.primitive.traits.starts_kernel for e in steps]) and any([_is_costly(e) for e in steps]):
                    return LOW
                if _shifts(steps):
                    return NEVER
                short = all([_is_short(e) for e in steps]) and sum([_elements(e) > ELEMENTS for e in steps]) <= CHEAP_EQUATIONS
                limit = UNLIMITED if short and limit != USUAL else USUAL
    return limit or USUAL


def _shifts(steps: list[JaxprEqn]) -> bool:
    """Whether a step may overwrite a small part of a large array with what it reads beside it, which takes a barrier (`lowering.overwriting`)."""
    for eqn in steps:
        if eqn.primitive.traits.part is Part.WRITTEN:
            x, update = eqn.invars[0].aval, eqn.invars[1].aval
            if any([1 < m < n for m, n in zip(update.shape, x.shape)]) and x.nbytes >= SMALL and FEW_TIMES * update.size < x.size and any(
                    [other is not eqn and any([v.aval.shape == x.shape for v in other.invars if isinstance(v.aval, ShapedArray)]) for other in steps]):
                return True
    return False


def is_dispatched(loop: JaxprEqn) -> bool:
    """Whether something in the loop keeps XLA from making one function of it."""
    return any([_is_called(e) for e in inside(loop)])


def inside(loop: JaxprEqn) -> Iterator[JaxprEqn]:
    """The equations of its body and condition that work on arrays themselves."""
    return (e for inner in jaxprs_in_params(loop.params) for program in programs(inner) for e in leaves(program))


def _is_called(eqn: JaxprEqn) -> bool:
    """Whether XLA certainly leaves it out of functions: of matrix products, it rewrites small ones and those with vectors."""
    kind = eqn.primitive.traits.kind
    if kind is not Kind.PRODUCT:
        return kind in _CALLED
    (contract, _), (batch, _) = eqn.params["dimension_numbers"]
    x, y, out = eqn.invars[0].aval, eqn.invars[1].aval, eqn.outvars[0].aval
    shared = math.prod(x.shape[d] for d in (*contract, *batch))
    return min(x.size, y.size) > shared and math.prod(x.shape[d] for d in contract) > 1 and max(x.size, y.size, out.size) > ELEMENTS


def _is_short(eqn: JaxprEqn) -> bool:
    """Whether a step may do this in the function of its loop."""
    elements = _elements(eqn)
    if elements <= ELEMENTS:
        return True
    traits = eqn.primitive.traits
    cheap = (traits.fused or traits.kind is Kind.SWEEP or traits.part in _ON_PARTS) and traits.cost <= CHEAP
    return cheap and elements <= CHEAP_ELEMENTS and not any([_dtype(v) in _SCALAR_CODE for v in (*eqn.invars, *eqn.outvars)])


def _is_costly(eqn: JaxprEqn) -> bool:
    return eqn.primitive.traits.cost >= COSTLY and _elements(eqn) > SINGLE_ELEMENTS


def _elements(eqn: JaxprEqn) -> int:
    """Of the largest array that it works on."""
    part = eqn.primitive.traits.part
    read = eqn.invars[1:] if part in _ON_PARTS else eqn.invars
    written = () if part is Part.WRITTEN else eqn.outvars
    return max([getattr(v.aval, "size", 0) for v in (*read, *written)], default=0)


def _dtype(v: Any) -> str:
    return v.aval.dtype.name if isinstance(v.aval, ShapedArray) else ""
