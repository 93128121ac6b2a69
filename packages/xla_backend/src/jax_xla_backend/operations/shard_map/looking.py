"""Values inside an eager `shard_map`: printed, and asked for their truth, while the function runs.

The function is traced, and the program runs at its end. Where a value is looked at before, what it depends on is run at once, on the
arguments of the call: so prints show numbers, and Python's `if` works on what is equal on all devices. Nothing else runs twice, as equations
with an effect outside of the region are left out; a value that depends on one cannot be looked at. Left aside: running each operation by itself
on all devices, which makes an eager call as slow as its operations are many.
"""
from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from jax_core.configuration import context
from jax_core.representation.aval import AbstractRef, ShapedArray
from jax_core.representation.effects import LocalRefEffect, NamedAxisEffect, RefEffect
from jax_core.representation.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal
from jax_core.representation.partial_sums import NOTHING
from jax_core.traces.staging import DynamicJaxprTrace, DynamicJaxprTracer, constants_to_inputs
from jax_core.traces.trace import EVAL, to_concrete_value

from ...lowering.types import is_extended
from ...placement.mesh import UseMeshes

_MOST = 16
"""Of how many positions on the mesh the numbers are printed."""

Runner = Callable[[ClosedJaxpr, Sequence[Any], ShapedArray], tuple[Any, tuple]]
"""``run(program, constants, type)``: the only result of a program on parts, one row for each position along the axes that it varies over, and
these axes."""


class EagerRegionTrace(DynamicJaxprTrace):
    """Writes down the function of an eager `shard_map`, and is made inside of the region.

    ``run`` runs what is written already, under the ``meshes`` in use outside.
    """

    __slots__ = ("run", "checked", "sizes", "meshes")

    def __init__(self, debug: DebugInfo, run: Runner, sizes: Mapping[Any, int], checked: bool, meshes: tuple):
        super().__init__(debug)
        self.run: Runner | None = run
        self.sizes, self.checked, self.meshes = sizes, checked, meshes

    def __enter__(self) -> EagerRegionTrace:
        return self

    def __exit__(self, *exc: object) -> None:  # afterwards nothing is run any more
        self.run = None

    def text_of(self, tracer: DynamicJaxprTracer) -> str | None:
        found = self._found(tracer)
        return None if found is None else _text(tracer.aval.str_short(), *found, self.sizes)

    def truth_of(self, tracer: DynamicJaxprTracer) -> Any | None:
        if not self.checked or tracer.aval.vma:
            return None
        found = self._found(tracer)
        return None if found is None else found[0]

    def _found(self, tracer: DynamicJaxprTracer) -> tuple[np.ndarray, tuple] | None:
        """The numbers of a value on the devices, and the axes along which they are stacked in front."""
        run, var, aval = self.run, tracer._var, tracer.aval
        if run is None or type(aval) is not ShapedArray or is_extended(aval) or aval.sums is not NOTHING:
            return None
        if type(var) is Literal:
            return np.asarray(var.val), ()
        eqns = _needed(self.eqns, var)
        if eqns is None:
            return None
        pairs = [(v, to_concrete_value(x)) for v, x in self.constants.values() if type(v) is not Literal]
        if any(x is None for _, x in pairs):
            return None
        effects = frozenset().union(*[e.effects for e in eqns])
        program = ClosedJaxpr(constants_to_inputs(Jaxpr([v for v, _ in pairs], self.invars, [var], eqns, effects, self.debug)), ())
        with context.Use(EVAL), context.Scope((), None), UseMeshes(self.meshes):
            found, axes = run(program, [x for _, x in pairs], aval)
            return np.asarray(found), axes


def _needed(eqns: Sequence[JaxprEqn], var: Any) -> list[JaxprEqn] | None:
    """The equations that ``var`` depends on, with what they write to references of the region; None if they act outside of it."""
    live, kept = {var}, []
    made: set[Any] = set()
    for eqn in reversed(eqns):
        writes = any(isinstance(v.aval, AbstractRef) and v in live for v in eqn.invars if type(v) is not Literal)
        if live.isdisjoint(eqn.outvars) and not writes:
            continue
        if not all(isinstance(e, (NamedAxisEffect, RefEffect, LocalRefEffect)) for e in eqn.effects):
            return None
        kept.append(eqn)
        made.update(eqn.outvars)
        live.update(v for v in eqn.invars if type(v) is not Literal)
    if any(isinstance(v.aval, AbstractRef) for v in live - made):
        return None
    return kept[::-1]


def _text(name: str, found: np.ndarray, axes: tuple, sizes: Mapping[Any, int]) -> str:
    if not axes:
        return f"{name}, equal on all devices:\n{found}"
    positions = list(itertools.islice(itertools.product(*(range(sizes[a]) for a in axes)), _MOST))
    rows = [f"{', '.join(f'{a}={i}' for a, i in zip(axes, at))}:\n{row}" for at, row in zip(positions, found)]
    left = math.prod(sizes[a] for a in axes) - len(rows)
    return "\n".join([f"{name}, on the devices at", *rows, *([f"... and at {left} more"] if left else [])])
