"""Discharge: a program that works on references, as a pure program on their values.

Each chosen reference among the inputs becomes its value, and the new values of those that the program changes are
further results. References that the program makes for itself disappear. Equations that hold programs are discharged by
the rule of their primitive,

``prim.discharge(prim, args, refs, params) -> (outs, new_values)``

where ``args`` has values in the places of references, ``refs`` a number for each of these (the same reference has the same
number wherever it stands) and None for the other operands, and ``new_values`` an array for each operand that is a
reference and was changed, else None.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..configuration import flags
from ..representation import source
from ..representation.arguments import LazyNames
from ..representation.aval import AbstractRef, AbstractValue, get_aval
from ..representation.effects import RefEffect, on_references
from ..representation.jaxpr import ClosedJaxpr, JaxprEqn, Literal, as_written, dce, result_of
from ..representation.primitive import Primitive, abstract_eval
from ..representation.source import describe_function
from ..traces.staging import trace_to_jaxpr
from .api import empty_ref_p, new_ref_p
from .indexing import WHOLE
from .primitives import Cell, RefPrimitive, get_p, is_ref, on_cell, strong, swap_p

if TYPE_CHECKING:
    from ..representation.tree import PyTreeDef


def _value_aval(aval: Any, chosen: bool) -> AbstractValue:
    return aval.inner_aval if chosen else aval


def discharged(closed: ClosedJaxpr, refs: Sequence[object], more: Sequence[int] = ()) -> tuple[ClosedJaxpr, list[int]]:
    """``closed`` with the references in ``refs`` (those not None or False) as values.

    Args:
      more: references whose values are returned even if they do not change.

    Returns:
      the program ``inputs -> (results, new values)``, and the inputs that these values belong to.
    """
    chosen = tuple(r is not None and r is not False for r in refs)
    return closed.memo(("discharge", chosen, tuple(more)), lambda: _discharged(closed, chosen, more))


def _discharged(closed, chosen, more):
    jaxpr = closed.jaxpr
    returned: list[int] = []

    def run(*args):
        inputs = [Cell(x) if c else x for x, c in zip(args, chosen)]
        outs = _interpret(jaxpr, closed.consts, inputs)
        returned[:] = [i for i, x in enumerate(inputs) if type(x) is Cell and (x.written or i in more)]
        return [*outs, *(inputs[i].value for i in returned)]
    avals = [_value_aval(a, c) for a, c in zip(closed.in_avals, chosen)]
    pure, consts, _ = trace_to_jaxpr(run, avals, jaxpr.debug_info)
    pure, _ = dce(pure, [True] * len(pure.outvars), keep_inputs=True)
    return ClosedJaxpr(pure, consts), list(returned)


def _interpret(jaxpr, consts, inputs) -> list:
    """Run ``jaxpr`` on inputs some of which are cells."""
    env: dict = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, inputs))
    for eqn in jaxpr.eqns:
        values = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
        with source.attributed_to(eqn.source_info):
            outs = as_written(eqn, _apply, eqn, values)
        env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [result_of(v) if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _apply(eqn: JaxprEqn, values: list) -> Any:
    """The result of one equation; where operands are cells, or the equation makes references inside, without these."""
    prim, params = eqn.primitive, eqn.params
    if prim is new_ref_p:
        return Cell(strong(values[0]))
    if prim is empty_ref_p:
        return Cell(strong(np.zeros(params["ty"].shape, params["ty"].dtype)))
    cells = any(type(x) is Cell for x in values)
    if isinstance(prim, RefPrimitive):
        return on_cell(prim, values[0], values[1:], params) if cells else prim.bind(*values, **params)
    if not cells and not works_on_refs(params):
        return prim.bind(*values, **params)
    return _call_rule(prim, values, [x if type(x) is Cell else None for x in values], params,
                      read=lambda cell: cell.value, store=lambda cell, value: cell.set(value))


def _call_rule(prim: Primitive, values: Sequence[Any], refs: Sequence[Any], params: dict, read: Callable,
               store: Callable) -> list:
    """Apply the rule of ``prim`` to operands of which those in ``refs`` (not None) are references."""
    if not prim.discharge:
        why = "" if prim.discharge is None else f" ({prim.discharge.reason})"
        raise NotImplementedError(f"{prim.name}: mutable references inside it are not supported{why}; pass their contents "
                                  "(ref[...]) in and out instead")
    numbers: dict[int, int] = {}
    which = [None if r is None else numbers.setdefault(id(r), len(numbers)) for r in refs]
    args = [x if r is None else read(r) for x, r in zip(values, refs)]
    outs, new_values = prim.discharge(prim, args, which, params)
    for r, value in zip(refs, new_values):
        if value is not None:
            store(r, value)
    return outs


def pure(closed: ClosedJaxpr) -> ClosedJaxpr:
    """``closed``, which has no references among its inputs, without those that it makes for itself."""
    if not closed.effects or not on_references(closed.effects):
        return closed
    return discharged(closed, (False,) * len(closed.in_avals))[0]


def works_on_refs(params: dict) -> bool:
    """Whether a program among the parameters of an equation reads, changes or makes references.

    Asked at every equation that holds programs under every transformation, hence the short cuts.
    """
    for value in params.values():
        kind = type(value)
        if kind is ClosedJaxpr:
            if value.jaxpr.effects and on_references(value.jaxpr.effects):
                return True
        elif isinstance(value, tuple) and value and type(value[0]) is ClosedJaxpr:
            if any([closed is not None and on_references(closed.effects) for closed in value]):
                return True
    return False


def apply_discharged(prim: Primitive, args: Sequence[object], params: dict, holds: Callable | None = None) -> list:
    """``prim(*args)`` under the current trace, as a pure equation between reads and writes of its references.

    A transformation does this before it applies its own rule wherever a program works on references, or an operand is a
    reference that the trace holds. All references among ``args`` become values; with ``holds`` only those for which it is
    true or that the programs read or change: the others are there for a backward pass to write to.
    """
    if holds is None:
        chosen = [is_ref(x) for x in args]
    else:
        _, effects = abstract_eval(prim, [get_aval(x) for x in args], params)
        touched = {e.ref for e in effects if isinstance(e, RefEffect)}
        chosen = [is_ref(x) and (holds(x) or i in touched) for i, x in enumerate(args)]
    refs = [x if c else None for x, c in zip(args, chosen)]
    return _call_rule(prim, args, refs, params, read=lambda ref: get_p.bind(ref, index=WHOLE),
                      store=lambda ref, value: swap_p.bind(ref, value, index=WHOLE))


# -- rules -----------------------------------------------------------------------------------------------------------

def place(written: Sequence[int], values: Sequence[object], count: int) -> list:
    """``values`` at the positions ``written`` of a list of length ``count`` that is None elsewhere."""
    found: list = [None] * count
    for i, value in zip(written, values):
        found[i] = value
    return found


def call_rule(name: str, rebuild: Callable | None = None) -> Callable:
    """The rule of a primitive that runs the program in its parameter ``name`` on its operands.

    ``rebuild(params, closed)`` gives the parameters for the discharged program; by default it takes the other's place.
    """
    def rule(prim: Primitive, args, refs, params: dict):
        closed, written = discharged(params[name], refs)
        changed = {**params, name: closed} if rebuild is None else rebuild(params, closed)
        outs = prim.bind(*args, **changed)
        n = len(params[name].out_avals)
        return outs[:n], place(written, outs[n:], len(args))
    return rule


def custom_rule(derivatives: Sequence[str]) -> Callable:
    """The rule of a function with a custom derivative, whose parameters ``derivatives`` hold it.

    A derivative is kept as long as no reference is an operand. One that takes a reference cannot be applied to its value.
    """
    def rule(prim: Primitive, args, refs, params: dict):
        closed, written = discharged(params["call_jaxpr"], refs)
        changed = {**params, "call_jaxpr": closed}
        if any(r is not None for r in refs):
            def refuse(*_):
                raise NotImplementedError(
                    f"{prim.name} {params.get('name', '')}: a function with a custom derivative takes a reference that the "
                    "differentiated program also reads or changes elsewhere; give it a reference of its own.")
            changed.update(dict.fromkeys(derivatives, refuse))
        outs = prim.bind(*args, **changed)
        n = len(params["call_jaxpr"].out_avals)
        return outs[:n], place(written, outs[n:], len(args))
    return rule


def check_aliases(name: str, fun: Callable, in_tree: PyTreeDef, static: tuple, consts: Sequence[object], args: Sequence[object]) -> None:
    """Raise ValueError if ``fun``, which closes over ``consts`` and was called with ``args`` by ``name``, has one reference twice.

    ``in_tree`` and ``static`` are the arguments' structure and which are static, as for `LazyNames`. The flag
    `jax_mutable_array_checks` turns the check off.
    """
    if not flags.mutable_array_checks.value:
        return
    seen: dict[int, int] = {}
    for i, x in enumerate([*consts, *args]):
        if not is_ref(x):
            continue
        first = seen.setdefault(id(x), i)
        if first == i:
            continue
        names, n = LazyNames(fun, in_tree, static), len(consts)
        where = (f"it appeared at both {names[first - n]} and {names[i - n]}" if first >= n else
                 f"it is closed over and passed as the argument {names[i - n]}")
        raise ValueError(f"{name}: the function for {name}, {describe_function(fun)}, got a mutable reference of type {get_aval(x)} "
                         f"twice: {where}. What it returns would depend on the order of reads and writes; pass each reference once.")


def any_refs(avals: Sequence[AbstractValue]) -> bool:
    """Whether any of these types is that of a reference."""
    return any(type(a) is AbstractRef for a in avals)
