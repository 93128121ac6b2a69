"""Which values to cut at so that LLVM's loop vectorizer has few paths to walk.

Of each counter of a kernel (an `iota`) it (LLVM's in jaxlib 0.12, not in 0.10) asks whether all uses need one lane only, use by use through
arithmetic, comparisons and conversions, and does not remember where it was: in ``x = x * x + x`` the paths grow threefold in each step. The
answer comes at once where one use is a store; where all of them end in calls (`exp`, `max`, `abs`), it walks them all. Eighteen such steps, half
with two uses, take 0.8 seconds, twenty 3, and sixty would not end. Values in memory are not asked about.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence

from jax_core.representation.jaxpr import Jaxpr, JaxprEqn, Literal, program_of
from jax_core.representation.traits import Kind

if TYPE_CHECKING:
    from jax_core.representation.aval import AbstractValue

PATHS = 1 << 17  # some 10 ms to walk, as long as one more kernel takes to compile
CALLED = 0.2  # ns for one element; of what costs more a call is made, at which the walk ends
_MANY = 1 << 60


class Paths(NamedTuple):
    """What a caller must know of a program that it calls.

    Attributes:
      inside: for each result, the paths from a counter in the program.
      through: for each result, those from its inputs.
      most: those from its inputs to any value, at most.
    """

    inside: list[int]
    through: list[int]
    most: int


def _counts(eqn: JaxprEqn) -> bool:
    """Whether it makes elements of nothing but their places."""
    return not eqn.invars and eqn.primitive.traits.kind is Kind.MOVE


def has_many(programs: Sequence[Jaxpr]) -> bool:
    """Whether paths are too many anywhere in a program, of which these are all parts."""
    if not any([_counts(eqn) for program in programs for eqn in program.eqns]):
        return False
    cuts: dict[int, str] = {}
    known: dict[tuple[int, bool], Paths] = {}

    def of(program: Jaxpr, from_inputs: bool) -> Paths:
        key = id(program), from_inputs
        if key not in known:
            known[key] = cut_paths(program, cuts, called, lambda aval: True, from_inputs)
        return known[key]

    def called(eqn: JaxprEqn, from_inputs: bool) -> Paths | None:
        program = program_of(eqn)
        return None if program is None else of(program.jaxpr, from_inputs)

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
    most = 0

    def cut(x: Any, paths: int) -> bool:
        if worth(x.aval):
            cuts[id(x)] = f"a compiler would walk {paths} paths from an iota"
        return id(x) in cuts

    for eqn in jaxpr.eqns:
        traits = eqn.primitive.traits
        for x in eqn.invars:
            if x in inside or x in through:
                break
        else:
            if _counts(eqn):
                inside[eqn.outvars[0]] = 1
            if traits.kind is not Kind.CALL:
                continue  # most equations of most programs
        operands = [x for x in eqn.invars if x in inside or x in through]
        if traits.kind is Kind.CALL and (program := called(eqn, bool(operands))) is not None:
            ours, theirs = (max([paths.get(x, 0) for x in operands], default=0) for paths in (inside, through))
            if ours * program.most > PATHS and all([cut(x, ours * program.most) for x in operands if x in inside]):
                ours = 0
            most = max(most, theirs * program.most)
            found = [(own + ours * many, theirs * many) for own, many in zip(program.inside, program.through)]
        elif not traits.fused or traits.cost > CALLED:
            continue
        else:
            reads = traits.reads(**eqn.params) if callable(traits.reads) else traits.reads
            found = [(reads * sum([inside.get(x, 0) for x in operands]), reads * sum([through.get(x, 0) for x in operands]))] * len(eqn.outvars)
        for v, (ours, theirs) in zip(eqn.outvars, found):
            most = max(most, theirs)
            if id(v) in cuts or ours > PATHS and cut(v, ours):
                continue
            if ours:
                inside[v] = min(ours, _MANY)
            if theirs:
                through[v] = min(theirs, _MANY)
    results = [None if type(v) is Literal else v for v in jaxpr.outvars]
    return Paths([inside.get(v, 0) for v in results], [through.get(v, 0) for v in results], min(most, _MANY))
