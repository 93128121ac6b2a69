"""Which values to cut at so that LLVM's loop vectorizer has few paths to walk.

Behind each `iota` of a kernel it (LLVM's in jaxlib 0.12, not in 0.10) asks whether all uses need one lane only, use by use through arithmetic, comparisons and
conversions, and does not remember where it was: in ``x = x * x + x`` the paths grow threefold in each step. The answer comes at once
where one use is a store; where all of them end in calls (`exp`, `max`, `abs`), it walks them all. Eighteen such steps, half with two uses, take
0.8 seconds, twenty 3, and sixty would not end. Values in memory are not asked about, so a cut in front of the call will do.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax_core.representation.traits import Kind

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

PATHS = 1 << 17  # some 10 ms to walk, as long as one more kernel takes to compile
_MANY = 1 << 60
_ARITHMETIC = frozenset("add sub mul div neg square integer_pow and or xor not shift_left shift_right_logical shift_right_arithmetic "
                        "eq ne lt le gt ge select_n real imag complex conj".split())


class Paths(NamedTuple):
    """What a caller must know of a program that it calls.

    Attributes:
      inside: for each result, the paths from an `iota` in the program.
      through: for each result, those from its inputs.
      to_calls: those from its inputs to a call in it, at most.
    """

    inside: list[int]
    through: list[int]
    to_calls: int


def callee(eqn: JaxprEqn) -> Jaxpr | None:
    """The program that the equation calls, if its inputs are the equation's."""
    for value in eqn.params.values():
        if isinstance(value, ClosedJaxpr):
            value = value.jaxpr
        if isinstance(value, Jaxpr) and len(value.invars) == len(eqn.invars):
            return value
    return None


def has_many(programs: Sequence[Jaxpr]) -> bool:
    """Whether paths are too many anywhere in a program, of which these are all parts."""
    if not any([eqn.primitive.name == "iota" for program in programs for eqn in program.eqns]):
        return False
    cuts: dict[int, str] = {}
    known: dict[tuple[int, bool], Paths] = {}

    def of(program: Jaxpr, from_inputs: bool) -> Paths:
        key = id(program), from_inputs
        if key not in known:
            known[key] = cut_paths(program, cuts, called, lambda aval: True, from_inputs)
        return known[key]

    def called(eqn: JaxprEqn, from_inputs: bool) -> Paths | None:
        program = callee(eqn)
        return None if program is None else of(program, from_inputs)

    for program in programs:
        of(program, False)
    return bool(cuts)


def cut_paths(jaxpr: Jaxpr, cuts: dict[int, str], called: Callable[[JaxprEqn, bool], Paths | None], worth: Callable[[AbstractValue], bool],
              from_inputs: bool = True) -> Paths:
    """Enter into ``cuts`` where paths are too many.

    Args:
      cuts: for ``id(var)`` of values that are written to memory, the reason.
      called: what is known of the program that an equation calls, with the paths from its inputs or without; None where it calls none.
      worth: whether values of a type may be cut.
      from_inputs: whether callers need to know the paths from the inputs.
    """
    inside: dict[Any, int] = {}  # of the variables that have any
    through: dict[Any, int] = dict.fromkeys(jaxpr.invars, 1) if from_inputs else {}
    to_calls = 0

    def cut(x: Any) -> None:
        if worth(x.aval):
            cuts.setdefault(id(x), f"a compiler would walk {inside[x]} paths from an iota to a call")
            del inside[x]
            through.pop(x, None)

    for eqn in jaxpr.eqns:
        kind, name = eqn.primitive.traits.kind, eqn.primitive.name
        if name == "iota":
            inside[eqn.outvars[0]] = 1
            continue
        for x in eqn.invars:
            if x in inside or x in through:
                break
        else:
            if kind is not Kind.CALL:
                continue  # most equations of most programs
        operands = [x for x in eqn.invars if x in inside or x in through]
        if kind is Kind.CALL and (program := called(eqn, bool(operands))) is not None:
            ours, theirs = (max([paths.get(x, 0) for x in operands], default=0) for paths in (inside, through))
            if ours * program.to_calls > PATHS:
                for x in operands:
                    if x in inside:
                        cut(x)
                ours = 0
            to_calls = max(to_calls, theirs * program.to_calls)
            found = [(own + ours * many, theirs * many) for own, many in zip(program.inside, program.through)]
        elif not eqn.primitive.traits.fused:
            continue
        elif kind is Kind.ELEMENTWISE and name not in _ARITHMETIC:
            for x in operands:
                to_calls = max(to_calls, through.get(x, 0))
                if inside.get(x, 0) > PATHS:
                    cut(x)
            continue
        else:
            uses = 2 if name == "square" else max(abs(eqn.params["y"]), 1) if name == "integer_pow" else 1
            found = [(uses * sum([inside.get(x, 0) for x in operands]), uses * sum([through.get(x, 0) for x in operands]))] * len(eqn.outvars)
        for v, (ours, theirs) in zip(eqn.outvars, found):
            if id(v) not in cuts:
                if ours:
                    inside[v] = min(ours, _MANY)
                if theirs:
                    through[v] = min(theirs, _MANY)
    results = [None if type(v) is Literal else v for v in jaxpr.outvars]
    return Paths([inside.get(v, 0) for v in results], [through.get(v, 0) for v in results], min(to_calls, _MANY))
