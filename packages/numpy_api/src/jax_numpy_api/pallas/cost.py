"""What a function costs, counted on its program."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

from jax_core.representation import tree
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr
from jax_core.representation.traits import Kind
from jax_core.traces.staging import trace_to_jaxpr

from .specs import CostEstimate

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

_TRANSCENDENTAL = 0.2
"""Elementwise operations that cost more nanoseconds than this (`traits.Traits.cost`) are counted as transcendental: from the square
root on; a quotient is not."""


def estimate_cost(fun: Callable[..., PyTree], *args: Any, **kwargs: Any) -> CostEstimate:
    """Operations and bytes of ``fun(*args, **kwargs)``, for ``cost_estimate`` of `pallas_call`.

    Args:
      args, kwargs: pytrees of arrays or of `jax.ShapeDtypeStruct`.

    Returns:
      an operation for each element of an elementwise operation or reduction, two for each product of a matrix product, a loop's
      body as often as it runs where that is known, else once; bytes of the arguments and results.

    >>> from jax.experimental import pallas as pl
    >>> pl.estimate_cost(lambda x: jnp.exp(x @ x.T), jnp.ones((4, 8)))
    CostEstimate(flops=256, transcendentals=16, bytes_accessed=192, remote_bytes_transferred=0)
    """
    flat, structure = tree.flatten((args, kwargs))

    def run(*leaves):
        given, named = tree.unflatten(structure, leaves)
        return tree.leaves(fun(*given, **named))
    avals = [ShapedArray(x.shape, x.dtype) if hasattr(x, "shape") and hasattr(x, "dtype") else get_aval(x) for x in flat]
    jaxpr, consts, outs = trace_to_jaxpr(run, avals)
    flops, transcendentals = _operations(jaxpr)
    return CostEstimate(flops, transcendentals, sum(map(_bytes, [*avals, *outs])))


def _bytes(aval) -> int:
    return math.prod(aval.shape) * aval.dtype.itemsize


def _operations(jaxpr: Jaxpr) -> tuple[int, int]:
    """Operations and transcendental ones of a program."""
    flops = transcendentals = 0
    for eqn in jaxpr.eqns:
        traits = eqn.primitive.traits
        size = max((math.prod(v.aval.shape) for v in eqn.outvars), default=0)
        if traits.kind is Kind.PRODUCT:
            (contracted, _), _ = eqn.params["dimension_numbers"]
            flops += 2 * size * math.prod(eqn.invars[0].aval.shape[d] for d in contracted)
        elif traits.kind is Kind.ELEMENTWISE and traits.cost > _TRANSCENDENTAL:
            transcendentals += size
        elif traits.kind is Kind.ELEMENTWISE:
            flops += size
        elif traits.kind is Kind.REDUCTION:
            flops += max(math.prod(v.aval.shape) for v in eqn.invars)
        inner = [_operations(p.jaxpr) for p in _programs(eqn.params)]
        if inner and traits.kind is Kind.BRANCH:
            inner = [max(inner)]
        times = eqn.params.get("length", 1) if traits.kind is Kind.LOOP else 1
        flops += times * sum(f for f, _ in inner)
        transcendentals += times * sum(t for _, t in inner)
    return flops, transcendentals


def _programs(params: dict) -> list[ClosedJaxpr]:
    found: list[ClosedJaxpr] = []
    for value in params.values():
        found += [x for x in (value if isinstance(value, tuple) else (value,)) if isinstance(x, ClosedJaxpr)]
    return found
