"""What a traced function decides by the lengths of its arrays.

A program with symbolic shapes is found by tracing the function for some lengths (`export.symbolic_programs`). Which way it takes for others, one
cannot tell from the programs alone; so while a `Trail` is in force, the lengths that tracers show to the user's code are `Length`s: integers
that remember how they were computed, and write each comparison down.

Where a length becomes a plain integer (`len(x)`, `int(n)`, a function of NumPy), what is decided by it is not seen; the trail then notes the
constants of the code that asked, at which it is worth looking.

Left aside: lengths that our own code reads are plain, as that would cost each operation; its rules are to look alike (`flags.one_form`).
"""
from __future__ import annotations

import dis
import math
import operator
import sys
import threading
from types import CodeType, FrameType, MappingProxyType
from typing import Any, Callable, Mapping, Sequence

from ..configuration import flags
from ..configuration.engine import Override
from ..representation.source import is_ours

Term = tuple
"""``("read", i)``, the i-th number of the trail, or the name of an operation of `operator` with terms."""

active = 0
"""How many trails are in force, in all threads."""
_counting = threading.Lock()
_MOST = 10_000
_MOST_CALLERS = 4


class Trail:
    """What one trace decides: a context manager, in which tracers show lengths.

    Args:
      values: the lengths for which it is made, by name.

    Attributes:
      numbers: lengths that were read, and what they met, in the order of the events.
      events: the terms that were asked whether they are 0 or more.
      outcomes: the answers.
      computed: the terms of lengths that were computed.
      made_plain: whether some code made plain integers of lengths, by which it may decide unseen.
      constants: of that code.
    """

    def __init__(self, values: Mapping[str, int] = MappingProxyType({})) -> None:
        self.values = values
        self.numbers: list[int] = []
        self.events: list[Term] = []
        self.outcomes: list[bool] = []
        self.computed: dict[Term, None] = {}
        self.constants: set[int] = set()
        self.made_plain = False
        self._override = Override(flags.one_form, self)
        self._open = False

    def __enter__(self) -> Trail:
        global active
        self._override.__enter__()
        self._open = True
        with _counting:
            active += 1
        return self

    def __exit__(self, *exc_info: object) -> None:
        global active
        with _counting:
            active -= 1
        self._open = False
        self._override.__exit__(*exc_info)

    def read(self, value: int) -> Term:
        self.numbers.append(int(value))
        return "read", len(self.numbers) - 1

    def term(self, x: int) -> Term:
        """How ``x`` was computed."""
        return x.term if type(x) is Length and x.trail is self else self.read(x)

    def asked(self, term: Term, outcome: bool) -> None:
        if self._open and len(self.events) < _MOST:
            self.events.append(term)
            self.outcomes.append(outcome)

    def escaped(self, frame: FrameType | None) -> None:
        """A length becomes a plain integer in ``frame``."""
        for _ in range(_MOST_CALLERS):
            if frame is None or is_ours(frame.f_code):
                return
            self.made_plain = True
            self.constants.update(_integers(_literals(frame.f_code)))
            frame = frame.f_back


def _literals(code: CodeType) -> Sequence[Any]:
    """The constants of a function. From Python 3.14 on, small integers stand in its instructions rather than in `co_consts`."""
    if "LOAD_SMALL_INT" not in dis.opmap:
        return code.co_consts
    return [*code.co_consts, *{i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_SMALL_INT"}]


def _integers(constants: Sequence[Any]) -> set[int]:
    found: set[int] = set()
    for c in constants:
        if isinstance(c, (tuple, frozenset)):
            found |= _integers(tuple(c))
        elif not isinstance(c, CodeType) and isinstance(c, (int, float)) and not isinstance(c, bool) and 3 < c < 10**6:
            found.add(int(c))
    return found


def shown(shape: tuple) -> tuple:
    """The shape as the caller of a tracer's attribute gets it: with lengths that remember, if the caller is the user's code."""
    trail = _watching(sys._getframe(2))
    return shape if trail is None else tuple([Length.of(trail, trail.read(d), d) if type(d) is int else d for d in shape])


def shown_number(n: int) -> int:
    """The same of a number that depends on lengths."""
    trail = _watching(sys._getframe(2))
    return n if trail is None or type(n) is not int else Length.of(trail, trail.read(n), n)


def counted() -> None:
    """The caller of `len` gets a plain integer."""
    frame = sys._getframe(2)
    trail = _watching(frame)
    if trail is not None:
        trail.escaped(frame)


def _watching(frame: FrameType) -> Trail | None:
    return None if is_ours(frame.f_code) else flags.one_form.value


class Length(int):
    """An integer that remembers how it was computed from lengths."""

    trail: Trail
    term: Term

    @staticmethod
    def of(trail: Trail, term: Term, value: int) -> Length:
        self = int.__new__(Length, value)
        self.trail, self.term = trail, term
        return self

    def __reduce__(self):
        return int, (int.__int__(self),)

    def __hash__(self):
        _plain(self)
        return int.__hash__(self)

    def __int__(self):
        _plain(self)
        return int.__int__(self)

    def __float__(self):
        _plain(self)
        return int.__float__(self)

    def __truediv__(self, other):
        _plain(self)
        return int.__truediv__(self, other)

    def __rtruediv__(self, other):
        _plain(self)
        return int.__rtruediv__(self, other)

    def bit_length(self):
        _plain(self)
        return int.bit_length(self)

    def __index__(self):
        return int.__int__(self)

    def __pos__(self):
        return self

    def __abs__(self):
        outcome = int.__ge__(self, 0)
        _compared(self, 0, _at_least, outcome)
        return self if outcome else _made(self.trail, ("neg", self.term), int.__neg__(self))

    def __divmod__(self, other):
        values = int.__divmod__(self, other)
        if values is NotImplemented or not self.trail._open or is_ours(sys._getframe(1).f_code):
            return values
        terms = self.term, self.trail.term(other)
        return tuple([_made(self.trail, (name, *terms), value) for name, value in zip(("floordiv", "mod"), values)])

    def __bool__(self):
        outcome = int.__bool__(self)
        _compared(self, 0, _equal, not outcome)
        return outcome


def _plain(n: Length) -> None:
    if n.trail._open:
        n.trail.escaped(sys._getframe(2))


def _computed(name: str) -> Callable:
    plain, symbol = getattr(int, name), name.strip("_")
    swapped = symbol != "rshift" and symbol.startswith("r")

    def compute(self: Length, *others: Any) -> Any:
        value = plain(self, *others)
        if type(value) is int and self.trail._open and not is_ours(sys._getframe(1).f_code):
            terms = [self.term, *map(self.trail.term, others)]
            return _made(self.trail, (symbol[1:], *terms[::-1]) if swapped else (symbol, *terms), value)
        if value is not NotImplemented and type(value) is not int:
            _plain(self)
        return value
    return compute


def _made(trail: Trail, term: Term, value: int) -> Length:
    if len(trail.computed) < _MOST:
        trail.computed[term] = None
    return Length.of(trail, term, value)


def _unfollowed(name: str) -> Callable:
    plain = getattr(int, name)

    def compute(self: Length, *others: Any) -> Any:
        _plain(self)
        return plain(self, *others)
    return compute


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__neg__",
              "__pow__", "__rpow__", "__lshift__", "__rshift__"):
    setattr(Length, _name, _computed(_name))
for _name in ("__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__rlshift__", "__rrshift__",
              "__invert__", "__round__", "__trunc__", "__ceil__", "__floor__", "__rdivmod__"):
    setattr(Length, _name, _unfollowed(_name))


def _equal(a: Term, b: Term) -> Term:
    return "equal", a, b


def _at_least(a: Term, b: Term) -> Term:
    return "at_least", a, b


def _at_most(a: Term, b: Term) -> Term:
    return "at_least", b, a


def _compared(n: Length, other: int, make: Callable[[Term, Term], Term], outcome: bool) -> None:
    trail = n.trail
    if trail._open and not is_ours(sys._getframe(2).f_code):
        trail.asked(make(n.term, trail.term(other)), outcome)


def _comparison(name: str) -> Callable:
    plain, equality, swapped = getattr(int, name), name in ("__eq__", "__ne__"), name in ("__gt__", "__le__")
    negated = name in ("__ne__", "__lt__", "__gt__")

    def compare(self: Length, other: Any) -> Any:
        if isinstance(other, float) and math.isfinite(other):
            if equality and not other.is_integer():
                return negated
            other = math.floor(other) if swapped else math.ceil(other)
        outcome = plain(self, other)
        if outcome is not NotImplemented:
            _compared(self, other, _equal if equality else _at_most if swapped else _at_least, outcome != negated)
        return outcome
    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Length, _name, _comparison(_name))

_OPERATIONS: dict[str, Callable] = {name: getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod", "neg")}
_OPERATIONS["pow"] = lambda a, n: a**n if isinstance(n, int) else n.exponent_of(a)
_OPERATIONS["lshift"] = lambda a, n: a * 2**n
_OPERATIONS["rshift"] = lambda a, n: a // 2**n
_OPERATIONS["equal"] = lambda a, b: -(a - b) ** 2
_OPERATIONS["at_least"] = lambda a, b: a - b


def reads(term: Term) -> list[int]:
    """Which numbers of the trail the term is made of."""
    return [term[1]] if term[0] == "read" else [i for t in term[1:] for i in reads(t)]


def expression(term: Term, numbers: Callable[[int], Any]) -> Any:
    """The term, with these in the places of the numbers."""
    if term[0] == "read":
        return numbers(term[1])
    return _OPERATIONS[term[0]](*[expression(t, numbers) for t in term[1:]])
