"""Arrays of extended dtypes (random keys) in lowering.

A key array is stored as an array of numbers with the axes of one element behind its own. Whatever moves elements around
(`reshape`, `gather`, `select`, ...) treats all elements alike, so it acts on the stored array as its own batching rule
says, with the axes of an element as mapped axes. Rules that know about keys, and those of primitives that hold jaxprs,
are run as they are.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from jax_core.representation.dtypes import ExtendedDType
from jax_core.representation.jaxpr import JaxprEqn
from jax_core.traces.structural import matchaxis
from jax_core.transformations.batching import AxisData, batch_fun

from .types import physical_aval
from .values import Value, new_value

if TYPE_CHECKING:
    from .builder import Builder


def needs_batch_rule(eqn: JaxprEqn) -> bool:
    """Whether key arrays are among the operands or results, and the lowering rule is not made for them."""
    for x in eqn.invars:
        if isinstance(x.aval.dtype, ExtendedDType):
            return not eqn.primitive.lowers_keys
    for x in eqn.outvars:
        if isinstance(x.aval.dtype, ExtendedDType):
            return not eqn.primitive.lowers_keys
    return False


def physical(x: Value) -> Value:
    """A key array as the array it is stored in; any other value as it is."""
    aval = physical_aval(x.aval)
    return x if aval is x.aval else new_value(x, aval)


def lower(b: Builder, eqn: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    """Lower ``eqn`` through the batching rule of its primitive."""
    prim, params = eqn.primitive, eqn.params
    keys = [x.aval for x in (*eqn.invars, *eqn.outvars) if isinstance(x.aval.dtype, ExtendedDType)]
    element = keys[0].dtype.physical_element_aval.shape
    mapped = [isinstance(x.aval.dtype, ExtendedDType) for x in operands]
    if not any(mapped):
        raise NotImplementedError(f"lowering of {prim.name}: it makes keys out of other values; such a primitive needs "
                                  "a lowering rule of its own (set lowers_keys)")

    def run(*args):
        outs = prim.bind(*args, **params)
        return outs if prim.multiple_results else [outs]

    # The innermost function sees the logical shapes; each layer around it maps one axis of an element, the last of all.
    fun = run
    for n in element:
        fun = _over_last_axis(fun, AxisData(None, n), [x.ndim if m else None for x, m in zip(operands, mapped)],
                              [len(v.aval.shape) if isinstance(v.aval.dtype, ExtendedDType) else None
                               for v in eqn.outvars])
    return b.fun(fun, *[physical(x) for x in operands])


def _over_last_axis(fun, axis, in_dims, out_dims):
    def mapped(*args):
        batched, dims = batch_fun(fun, axis, in_dims)
        outs = batched(*args)
        return [matchaxis(axis, x, d, want) for x, d, want in zip(outs, dims(), out_dims)]
    return mapped
