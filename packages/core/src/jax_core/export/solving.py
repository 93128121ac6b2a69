"""The values of symbolic dimensions for which the types of a program are those of its arguments."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..representation.aval import ShapedArray
from .symbols import DimExpr, SymbolicScope, evaluate, variables


class Unsolvable(ValueError):
    """No values of the variables make the types those of the arguments."""


def solve(wanted: Sequence[ShapedArray], given: Sequence[ShapedArray],
          names: Sequence[str] | None = None) -> dict[str, int]:
    """The values of the variables for which the types ``wanted`` are the types ``given``.

    Raises:
      ValueError: there are none, with the argument at fault; or the shapes do not say them.
    """
    names = names or [f"args[{i}]" for i in range(len(wanted))]
    equations = []
    for name, want, have in zip(names, wanted, given):
        if len(want.shape) != len(have.shape):
            raise Unsolvable(f"Rank mismatch for {name}: expected {_shape_text(want.shape)} and called with {_shape_text(have.shape)}")
        for i, (w, h) in enumerate(zip(want.shape, have.shape)):
            if isinstance(w, DimExpr):
                equations.append((f"{name}.shape[{i}]", w, h))
            elif w != h:
                raise Unsolvable(f"Shape mismatch for {name}.shape[{i}] (expected same constant): expected {_shape_text(want.shape)} and "
                                 f"called with {_shape_text(have.shape)}")
    if not equations:
        return {}
    values = _solve_equations(equations)
    specification = ", ".join([f"{n}.shape = {_shape_text(a.shape)}" for n, a in zip(names, wanted)])
    found = ", ".join([f"'{k}' = {v}" for k, v in values.items()])
    problem = "Input shapes do not match the polymorphic shapes specification."
    for name, w, h in equations:
        if evaluate(w, values) != h:
            raise Unsolvable(f"{problem} Found inconsistency between dimension size {name} (= {h}) and the specification '{w}' (= "
                             f"{evaluate(w, values)}). The specification is {specification}; it gives {found}.")
    scope = equations[0][1].scope
    known = with_equal(values, scope)
    for name, value in known.items():
        if value < 1:
            raise Unsolvable(f"{problem} Expected value >= 1 for dimension variable '{name}', got {value}. The specification is {specification}.")
    for text, expressions, holds in (("0 or more", scope.non_negative, lambda v: v >= 0), ("0", scope.zero, lambda v: v == 0)):
        for x in expressions:
            if variables(x) <= set(known) and not holds(evaluate(x, known)):
                raise Unsolvable(f"{problem} The constraints {', '.join(scope.constraints_str)} say that {x} is {text}, and it is "
                                 f"{evaluate(x, known)} for {found}.")
    return values


def with_equal(values: Mapping[str, int], scope: SymbolicScope) -> dict[str, int]:
    """The values, and those of the variables that the scope's equalities replace by expressions in them."""
    known = dict(values)
    for _ in scope.replaced:  # one may stand for the next
        for term, other in scope.replaced:
            name = _only_variable(term)
            if name is not None and name not in known and variables(other) <= set(known):
                known[name] = evaluate(other, known)
    return known


def _only_variable(x: DimExpr) -> str | None:
    """The variable that ``x`` is, if it is one and nothing else."""
    ((product, factor), *rest) = x.terms.items()
    ((atom, power), *others) = product
    return atom.args[0] if factor == power == 1 and atom.kind is None and not rest and not others else None


def _solve_equations(equations: Sequence[tuple[str, DimExpr, int]]) -> dict[str, int]:
    """One unknown after the other, from equations in which it is the only one left, and linear."""
    values: dict[str, int] = {}
    left = list(equations)
    while left:
        for position, (name, x, value) in enumerate(left):
            unknown = sorted(variables(x) - set(values))
            if not unknown:
                del left[position]
                break
            if len(unknown) == 1 and _is_linear(x, unknown[0]):
                at = [evaluate(x, {**values, unknown[0]: v}) for v in (0, 1)]
                slope = at[1] - at[0]
                if slope:
                    found, rest = divmod(value - at[0], slope)
                    if rest:
                        raise Unsolvable(f"{name} is {value}, but must be '{x}', and no whole number '{unknown[0]}' makes it so: "
                                         f"a division leaves {rest}. Give an array of another length.")
                    values[unknown[0]] = found
                    del left[position]
                    break
        else:
            raise _no_solution([x for _, x, _ in left], set(values))
    return values


def check_solvable(shapes: Sequence[Sequence[object]]) -> None:
    """Raise ValueError if no lengths of arguments of these shapes could say what the variables are."""
    left, known = [d for shape in shapes for d in shape if isinstance(d, DimExpr)], set[str]()
    while left:
        for position, x in enumerate(left):
            unknown = variables(x) - known
            if not unknown or len(unknown) == 1 and _is_linear(x, *unknown):
                known |= unknown
                del left[position]
                break
        else:
            raise _no_solution(left, known)


def _no_solution(left: Sequence[DimExpr], known: set[str]) -> Unsolvable:
    missing = sorted({v for x in left for v in variables(x)} - known)
    return Unsolvable(f"Cannot solve for values of dimension variables {missing}: no dimension of the arguments is linear in one "
                      f"of them alone, among {', '.join(map(str, left))}.")


def _is_linear(x: DimExpr, name: str) -> bool:
    for product in x.terms:
        count = 0
        for atom, n in product:
            if atom.kind is None:
                count += n * (atom.args[0] == name)
            elif any(name in variables(a) for a in atom.args):
                return False
        if count > 1:
            return False
    return True


def _shape_text(shape: Sequence[Any]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
