"""Reads and stores beyond the end of a reference, as `InterpretParams` asks the interpreter to treat them.

Elsewhere a part that would run over the end is moved until it fits, as by `lax.dynamic_slice`. Here each access whose place is computed looks first:
a store beyond the end is an error, and so is a read, or it gives elements that are not specified. A kernel's program is rewritten for that.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.references import indexing
from jax_core.references.primitives import RefPrimitive, addupdate_p, get_p, ref_primitive, swap_p
from jax_core.representation import dtypes
from jax_core.representation.aval import ShapedArray
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, jaxprs_in_params
from jax_core.representation.primitive import Primitive, none
from jax_core.traces.structural import broadcast_in_dim

from .. import numpy as jnp
from ..lax.control_flow.common import run_eagerly
from ..lax.control_flow.cond import cond
from .copies import copy_effects, copy_primitive, start_copy_p
from .memory import atomic_p, masked_load_p, masked_swap_p, positions
from .spaces import MAIN_MEMORY
from .uninitialized import first_kind, uninitialized_value


def _fail(access: str, shape: tuple, text: str, *starts: Any) -> None:
    raise IndexError(f"a kernel {access} the part {text} of a reference of shape {shape}, at {', '.join(str(int(x)) for x in starts)}: beyond its end. "
                     "InterpretParams(out_of_bounds_reads='uninitialized') lets it read there.")


def _lower(b, *operands, what):
    return b.host_callback(lambda *xs: what[0](*what[1:], *xs), operands, b.out_avals, has_side_effect=True, name="stop")


_RUN_ONLY = none("it is made when a kernel is lowered to be interpreted, after all transformations")
stop_p: Primitive = Primitive(
    "stop", multiple_results=True, cacheable=False, out_type=lambda *avals, what: [ShapedArray(a.shape, a.dtype) for a in avals],
    jvp=_RUN_ONLY, transpose=_RUN_ONLY, batch=_RUN_ONLY, lower=_lower, impl=lambda *args, **params: run_eagerly(stop_p, args, params))
"""What the first of ``what``, called with the others and the operands, returns, of the types of the operands; as a rule it raises an error.

It is called even if nothing is done with the results: XLA drops the place of a part that is as long as the array.
"""


def _inside(shape: Sequence[int], index: indexing.Index, operands: Sequence[Any]) -> Any:
    """Whether the part that ``operands`` place is inside, None where none does."""
    moving, found = iter(operands), None
    for e, n in zip(index.entries, shape):
        if type(e) is indexing.Slice and e.start is None:
            start = next(moving)
            this = (start >= 0) & (start + (e.size - 1) * e.stride < n)
        elif e is None:
            start = next(moving)
            this = jnp.all((start >= 0) & (start < n))
        else:
            continue
        found = this if found is None else found & this
    return found


def _checked(access: str, contents: Any, index: indexing.Index, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, when they place a part inside of ``contents``; else an error, when the program runs."""
    for e, n in zip(index.entries, np.shape(contents)):
        if type(e) is indexing.Slice and e.start is not None and e.size and e.start + (e.size - 1) * e.stride >= n:
            _fail(access, np.shape(contents), repr(index), e.start)
    inside = _inside(np.shape(contents), index, operands)
    if inside is None or any(np.ndim(x) for x in operands):
        return operands
    if isinstance(inside, (bool, np.bool_)):
        if not inside:
            _fail(access, np.shape(contents), repr(index), *operands)
        return operands
    what = _fail, access, np.shape(contents), repr(index)
    return cond(inside, lambda *xs: list(xs), lambda *xs: stop_p.bind(*xs, what=what), *map(jnp.asarray, operands))


def _read(contents, *operands, index):
    return indexing.read(contents, index, _checked("reads", contents, index, operands)), None


def _read_anything(contents, *operands, index):
    if _inside(np.shape(contents), index, operands) is None or (key := positions(contents, index, operands)) is None:
        return indexing.read(contents, index, operands), None
    return contents.at[key].get(mode="fill", fill_value=uninitialized_value(contents.dtype), wrap_negative_indices=False), None


def _store(contents, part, *operands, index):
    operands = _checked("stores", contents, index, operands)
    return indexing.read(contents, index, operands), indexing.write(contents, index, operands, part)


def _add(contents, part, *operands, index):
    return [], indexing.accumulate(contents, index, _checked("stores", contents, index, operands), part)


def _masked_outside(access: str, contents: Any, mask: Any, index: indexing.Index, operands: Sequence[Any]) -> Any:
    """The mask, if all elements where it is true are inside of ``contents``; else an error."""
    if (key := positions(contents, index, operands)) is None:
        return mask
    inside = True
    for k, n in zip(key, np.shape(contents)):
        inside = inside & (k >= 0) & (k < n)
    what = _fail_masked, access, np.shape(contents), repr(index)
    return cond(jnp.all(inside | ~mask), lambda mask: mask, lambda mask: stop_p.bind(mask, what=what)[0], jnp.asarray(mask))


def _fail_masked(access: str, shape: tuple, text: str, mask: Any) -> None:
    raise IndexError(f"a kernel {access} the part {text} of a reference of shape {shape}: its mask is true beyond the end.")


def _masked_read(contents, mask, other, *operands, index):
    return masked_load_p.on_contents(contents, _masked_outside("reads", contents, mask, index, operands), other, *operands, index=index)


def _masked_store(contents, value, mask, *operands, index):
    return masked_swap_p.on_contents(contents, value, _masked_outside("stores", contents, mask, index, operands), *operands, index=index)


def _guard(prim: RefPrimitive, on_contents: Any, **options: Any) -> RefPrimitive:
    return ref_primitive(f"guarded_{prim.name}", out_type=prim.out_type, on_contents=on_contents, **options)


def _guarded_copy(read: Callable) -> Callable:
    def _discharge(prim, args, refs, params):
        (source, i, moving), (destination, j, others), *_ = params["parts"].split(args)
        change = indexing.accumulate if params["add"] else indexing.write
        new = change(destination, j, _checked("copies to", destination, j, others), read(source, *moving, index=i)[0])
        return [], [None, new, *[None] * (len(args) - 2)]
    return _discharge


_STORES: dict[Primitive, Primitive] = {swap_p: _guard(swap_p, _store), addupdate_p: _guard(addupdate_p, _add, multiple_results=True),
           masked_swap_p: _guard(masked_swap_p, _masked_store)}
_GUARDED: dict[str, dict[Primitive, Primitive]] = {
    "raise": {get_p: _guard(get_p, _read, writes=False), masked_load_p: _guard(masked_load_p, _masked_read, writes=False),
              start_copy_p: copy_primitive("guarded_dma_start", copy_effects, _guarded_copy(_read)), **_STORES},
    "uninitialized": {get_p: _guard(get_p, _read_anything, writes=False),
                      start_copy_p: copy_primitive("guarded_dma_start", copy_effects, _guarded_copy(_read_anything)), **_STORES}}


def guarded(closed: ClosedJaxpr, mode: str) -> ClosedJaxpr:
    """``closed`` with reads and stores that look where they are; ``mode``: what `InterpretParams.out_of_bounds_reads` says."""
    return closed.memo(("guarded", mode, first_kind()), lambda: _rewritten(closed, _GUARDED[mode]))


def _rewritten(closed: ClosedJaxpr, instead: dict) -> ClosedJaxpr:
    inside = lambda x: _in_programs(x, lambda program: _rewritten(program, instead))
    eqns = [e.replace(primitive=instead.get(e.primitive, e.primitive), params={k: inside(v) for k, v in e.params.items()}) for e in closed.jaxpr.eqns]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)


# -- what else a TPU does not do, or need not ----------------------------------------------------------------------------

class _Skipped(Primitive):
    """In place of an operation on floating-point numbers: infinity."""

    def bind(self, *args: Any, out: Sequence[ShapedArray]) -> list:
        return [broadcast_in_dim(np.asarray(np.inf).astype(a.dtype)[()], a.shape, ()) for a in out]


_skipped_p = _Skipped("skipped", multiple_results=True, out_type=lambda *avals, out: list(out), jvp=_RUN_ONLY, transpose=_RUN_ONLY, batch=_RUN_ONLY,
                      lower=_RUN_ONLY)


def without_floats(closed: ClosedJaxpr) -> ClosedJaxpr:
    """``closed`` with infinity for what its operations on floating-point numbers give, but for reads of references."""
    return closed.memo(("without floats",), lambda: _without_floats(closed))


def _without_floats(closed: ClosedJaxpr) -> ClosedJaxpr:
    def changed(e: JaxprEqn) -> JaxprEqn:
        params = {k: _in_programs(v, _without_floats) for k, v in e.params.items()}
        plain = not e.effects and not any(params[k] is not e.params[k] for k in params)
        if plain and e.outvars and all(dtypes.issubdtype(v.aval.dtype, np.floating) for v in e.outvars):
            return e.replace(primitive=_skipped_p, params={"out": tuple(ShapedArray(v.aval.shape, v.aval.dtype) for v in e.outvars)})
        return e.replace(params=params)
    return ClosedJaxpr(closed.jaxpr.replace(eqns=[changed(e) for e in closed.jaxpr.eqns]), closed.consts)


def _in_programs(x: Any, change: Callable[[ClosedJaxpr], ClosedJaxpr]) -> Any:
    """A parameter of an equation with the programs in it changed."""
    if type(x) is ClosedJaxpr:
        return change(x)
    return tuple(_in_programs(y, change) for y in x) if type(x) is tuple and x and type(x[0]) is ClosedJaxpr else x


_DIRECT = {get_p: "reads", masked_load_p: "reads", swap_p: "stores to", masked_swap_p: "stores to", addupdate_p: "adds to", atomic_p: "changes"}


def check_memory(where: str, jaxpr: Jaxpr) -> None:
    """Raise ValueError if a kernel loads from main memory, or stores there; a TPU copies from and to it."""
    for e in jaxpr.eqns:
        if e.primitive in _DIRECT and e.invars[0].aval.memory_space in MAIN_MEMORY:
            ref = e.invars[0].aval
            raise ValueError(f"{where}: the kernel {_DIRECT[e.primitive]} a reference of type {ref} in main memory, which a TPU only copies from and to: "
                             "use pltpu.sync_copy or pltpu.async_copy, or a BlockSpec without this memory space.")
        for program in jaxprs_in_params(e.params):
            check_memory(where, program)
