"""Where backward rules put cotangents, for rules that add to them in place of returning them."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ..references import api as references
from ..representation import tree
from ..representation.aval import AbstractValue, described_value
from ..representation.primitive import Zero
from ..traces.structural import add, instantiate
from . import logs


class GradAccum:
    """Where a rule puts the cotangent of an operand of type ``aval``."""

    aval: AbstractValue

    def accum(self, x: object) -> None:
        """Add ``x``."""
        raise NotImplementedError(f"{type(self).__name__} has no method accum(x)")

    def freeze(self) -> Any:
        """What was added, as one value."""
        raise NotImplementedError(f"{type(self).__name__} has no method freeze()")


class ValAccum(GradAccum):
    """Keeps the sum as a value."""

    val: Any = None

    def __init__(self, aval: AbstractValue, val: Any = None):
        self.aval, self.val = aval, val

    def accum(self, x: Any) -> None:
        """Add ``x``."""
        if x is not None and not isinstance(x, Zero):
            self.val = x if self.val is None else add(self.val, x)

    def freeze(self) -> Any:
        """The sum; a `Zero` where nothing was added."""
        return Zero(self.aval) if self.val is None else self.val


class RefAccum(GradAccum):
    """Adds to a reference: one that was given, or one that is made when something is added.

    Args:
      aval: the type of the sum.
      ref: the reference.
    """

    ref: Any = None

    def __init__(self, aval: AbstractValue, ref: Any = None):
        self.aval, self.ref = aval, ref

    def inst(self) -> "RefAccum":
        """This object, with a reference."""
        if self.ref is None:
            self.ref = references.new_ref(instantiate(Zero(self.aval)))
        return self

    def accum(self, x: Any) -> None:
        """Add ``x``."""
        if x is not None and not isinstance(x, Zero):
            references.addupdate(self.inst().ref, (), x)

    def freeze(self) -> Any:
        """What the reference holds; a `Zero` where none was given and nothing was added."""
        return Zero(self.aval) if self.ref is None else references.get(self.ref)


class NullAccum(GradAccum):
    """For an operand that is not differentiated."""

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def accum(self, x: object) -> None:
        """Drop ``x``."""

    def freeze(self) -> None:
        """Nothing."""


def fill(name: str, rule: Callable[..., Any], avals: Sequence[Any], wanted: Sequence[bool], in_tree: tree.PyTreeDef) -> tuple:
    """The cotangents that ``rule(*accumulators)`` adds, in the structure of the arguments; a `Zero` where it adds nothing. It may log.

    Args:
      name: says who the rule is.
      rule: gets a tree of accumulators for each argument, and returns None or a dict of values to log.
      avals: the types of the cotangents.
      wanted: whether each of them is.
      in_tree: the structure of the tuple of arguments.

    Raises:
      TypeError: the rule returned something else.
    """
    places = [ValAccum(a) if want else NullAccum(a) for a, want in zip(avals, wanted)]
    logged = rule(*in_tree.unflatten(places))
    check_logged(name, logged)
    logs.add(logged)
    return in_tree.unflatten([place.freeze() if want else Zero(a) for place, a, want in zip(places, avals, wanted)])


def check_logged(name: str, logged: object) -> None:
    """Raise TypeError unless what a rule with accumulators returned is None or a dict of values to log."""
    if not (logged is None or isinstance(logged, dict)):
        raise TypeError(f"{name} adds cotangents to its accumulators, so it must return None or a dict of values to log, "
                        f"got {described_value(logged)}")
