"""What users' rules keep for the backward pass in trees of their own (`HiPrim.vjp_fwd`), shown by `VJP.structured_residuals`."""
from __future__ import annotations

from typing import Any, Sequence

from ..representation.jaxpr import Jaxpr, JaxprEqn, Literal, Var, program_of
from ..representation.traits import Kind
from .high_primitives import hi_pullback_p
from .logs import CondSum


def structured_residuals(jaxpr: Jaxpr, values: Sequence[Any]) -> list:
    """For each equation of a linear program, whose first inputs have these values, what its rule keeps; an empty list where it has none.

    An equation that holds a program has a list for that: of a loop with the values of all its steps, of a conditional in a `CondSum`.
    """
    known = dict(zip(jaxpr.invars, values))
    return [_of_equation(eqn, known) for eqn in jaxpr.eqns]


def _of_equation(eqn: JaxprEqn, known: dict[Var, Any]) -> Any:
    operands = [v.val if type(v) is Literal else known.get(v) for v in eqn.invars]
    if eqn.primitive is hi_pullback_p:
        kept = operands[:eqn.params["res_tree"].num_leaves]
        if any(x is None for x in kept):  # computed on the way back
            return []
        residuals, _ = eqn.params["residuals"].value(eqn.params["res_tree"].unflatten(kept))
        return residuals[1] if len(residuals) > 1 else []
    if eqn.primitive.traits.kind is Kind.BRANCH:
        return CondSum(operands[0], [structured_residuals(p.jaxpr, operands[1:]) for p in eqn.params["branches"]])
    program = program_of(eqn)
    return [] if program is None else structured_residuals(program.jaxpr, operands)
