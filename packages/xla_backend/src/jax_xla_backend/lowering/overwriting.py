"""Is an array overwritten with what is read from other places of it?

XLA's CPU compiler overwrites a part of an array in place, in one loop that also computes what is written there. It sees to it
that this loop reads none of the elements that it has overwritten, but not where a change of shape stands between the array and
the operation, and it moves such changes of shape about (openxla/xla #49176). So ``x.at[1:].set(x[:-1])[None]`` copies the first
element into all others. Rules ask here, and write what is overwritten so in another form.

The text of the block says what a value is computed from, whoever wrote it. Calls are inlined by the compiler: the arguments of a
function are what the call gives it.
"""
from __future__ import annotations

import math
import operator
import re
from typing import NamedTuple, Sequence

from jax_core.representation.jaxpr import Jaxpr
from jax_core.representation.traits import Kind, Part

from ..planning.small_programs import programs
from .values import Value

BEFORE_WRITING = "its array is overwritten with it"
"""The reason of a barrier behind what must be computed before a part of an array is overwritten with it."""
_MANY = 64
"""Values whose elements are followed one by one; beyond them places are not told apart."""

_definition = re.compile(r" {4}(%\w+)(?::\d+)? = (.*)")
_name = re.compile(r"%\w+")
_shape = re.compile(r"tensor<((?:\d+x)*)")
_operation = re.compile(r'"?((?:stablehlo|chlo)\.\w+)')

_SLICES = {"stablehlo.slice", "stablehlo.dynamic_slice"}
_VIEWS = {"stablehlo.reshape", "stablehlo.transpose", "stablehlo.bitcast_convert", "stablehlo.optimization_barrier"}
"""Of the memory of their first operand, as far as the compiler is concerned."""
_MAYBE_VIEWS = _SLICES | {"stablehlo.broadcast_in_dim", "stablehlo.reverse", "stablehlo.custom_call"}
"""Likewise, where they keep all axes but those of one element."""
_PRODUCTS = {"stablehlo.multiply", "stablehlo.divide"}
_REPEATS = {"stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim", "stablehlo.reverse", "stablehlo.negate", *_SLICES}
_CALLS = {"func.call", "stablehlo.composite"}
_ELEMENTWISE = {f"{dialect}.{name}" for dialect in ("stablehlo", "chlo") for name in """
    abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp compare complex convert cos cosh cosine
    count_leading_zeros divide erf erfc erf_inv exponential exponential_minus_one floor imag is_finite lgamma log log_plus_one
    logistic maximum minimum multiply negate not or popcnt power real reduce_precision remainder round_nearest_afz
    round_nearest_even rsqrt select shift_left shift_right_arithmetic shift_right_logical sign sin sine sinh sqrt subtract tan
    tanh xor""".split()}


class _Definition(NamedTuple):
    """What defines a value: its text without locations, the operation, and the values that it, or one of its regions, reads."""

    text: str
    op: str
    operands: list[str]

    def shapes(self) -> list[list[int]]:
        """Of the operands and the results, where the text has both."""
        types = self.text.rpartition(" : ")[2]
        return [[int(n) for n in dims.split("x")[:-1]] for dims in _shape.findall(types)]

    def keeps_axes(self) -> bool:
        """Whether the first operand and the result differ in axes of one element at most."""
        longer = [[n for n in shape if n != 1] for shape in self.shapes()]
        return len(longer) > 1 and longer[0] == longer[-1]


class Definitions:
    """What defines the values of a block. Of values that are computed alike, which the compiler computes once, the first stands for all.

    Args:
      lines: the block's text, which grows.
      alike: of a function that the program calls, for each argument (``%arg0``) a number, equal for those that may be computed from one array.
    """

    def __init__(self, lines: list[str], alike: Sequence[int]):
        self.lines, self._alike = lines, alike
        self.chosen = False  # whether an array was chosen element by element rather than overwritten
        self._read = 0
        self._open: list[str] = []  # of an operation whose regions are being read
        self._depth = 0
        self._first: dict[str, str] = {}  # of those that are not the first
        self._by_text: dict[str, str] = {}
        self._texts: dict[str, tuple[str, list[str]]] = {}  # with what it reads
        self._found: dict[str, _Definition] = {}
        self._memory: dict[str, frozenset[str]] = {}
        self._apart: dict[frozenset[str], set[str]] = {}  # what is not computed from it

    def read_on(self) -> None:
        """Take in what was written since."""
        for line in "".join(self.lines[self._read:]).splitlines():
            if not self._open and not line.startswith("    %"):
                continue
            line = line.partition(" loc(")[0]
            if not self._open and not line.endswith("({"):
                name, _, text = line.partition(" = ")
                self._define(name[4:].partition(":")[0], text, _name.findall(text))
            else:
                self._open.append(line)
                self._depth += line.endswith("({") - line.startswith("    })")
                if not self._depth:
                    self._define_with_regions(self._open)
                    self._open = []
        self._read = len(self.lines)

    def _define(self, name: str, text: str, operands: list[str]) -> None:
        first = self._first
        if not first.keys().isdisjoint(operands):
            text = _name.sub(lambda x: first.get(x[0], x[0]), text)
            operands = [first.get(x, x) for x in operands]
        same = self._by_text.setdefault(text, name)
        if same == name:
            self._texts[name] = text, operands
        else:
            first[name] = same

    def _define_with_regions(self, lines: list[str]) -> None:
        match = _definition.match(lines[0])
        assert match is not None
        inside: dict[str, str] = {}  # values of the regions, by their order
        for line in lines[1:]:
            made = _definition.match(line)
            for x in [made[1]] if made else _name.findall(line) if line.startswith("  ^") else ():
                inside[x] = f"%{len(inside)} inside"
        text = "\n".join([match[2], *lines[1:]])
        operands = [x for x in _name.findall(text) if x not in inside]
        self._define(match[1], _name.sub(lambda x: inside.get(x[0], x[0]), text), operands)

    def first(self, name: str) -> str:
        """The value that is computed as ``name`` is."""
        return self._first.get(name, name)

    def get(self, name: str) -> _Definition | None:
        """What defines ``name``, the first of its kind, if that is in the block."""
        found = self._found.get(name)
        if found is None and name in self._texts:
            text, operands = self._texts[name]
            operation = _operation.match(text)
            found = self._found[name] = _Definition(text, operation[1] if operation else text.split(" ", 1)[0], operands)
        return found

    def memory(self, name: str) -> frozenset[str]:
        """Names of the values whose memory that of ``name`` may be."""
        first = name
        while (found := self._memory.get(name)) is None:
            made = self.get(name)
            if made is not None and made.operands and (made.op in _VIEWS or made.op == "stablehlo.dynamic_update_slice" or
                                                       made.op in _MAYBE_VIEWS and made.keeps_axes()):
                name = made.operands[0]
                continue
            inlined = made.operands if made is not None and made.op in _CALLS else ()
            own = f"arguments {self._alike[int(name[4:])]}" if made is None and self._alike and name.startswith("%arg") else name
            self._memory[name] = frozenset([own]).union(*[self.memory(operand) for operand in inlined])
        self._memory[first] = found
        return found

    def reads(self, name: str, memory: frozenset[str]) -> bool:
        """Whether ``name`` is computed from what is in ``memory``."""
        apart = self._apart.setdefault(memory, set())
        waiting = [name]
        seen = {name}
        while waiting:
            name = waiting.pop()
            if name in apart:
                continue
            if self.memory(name) & memory:
                return True
            made = self.get(name)
            new = set(made.operands) - seen if made is not None else ()
            seen.update(new)
            waiting += new
        apart |= seen
        return False

    def alike(self, values: Sequence[Value]) -> tuple[int, ...]:
        """For each of the values a number, equal for those of which one may be computed from the memory of the other."""
        self.read_on()
        names = [self.first(_whole_name(x)) for x in values]
        numbers = list(range(len(names)))
        for i, name in enumerate(names):
            memory = self.memory(name)
            for j, other in enumerate(names):
                if numbers[i] != numbers[j] and self.reads(other, memory):
                    numbers = [numbers[i] if n == numbers[j] else n for n in numbers]
        return tuple(numbers)

    def is_product(self, x: str) -> bool:
        """Whether ``x`` is a product or a quotient that is rounded, in another shape or negated; what a function is given, or gives, may be."""
        self.read_on()
        while (made := self.get(name := self.first(_whole_name(x)))) is not None:
            if made.op in _PRODUCTS:
                return not any(map(self._is_power_of_two, made.operands))
            if made.op not in _REPEATS or not made.operands:
                return made.op in _CALLS
            x = made.operands[0]
        return bool(self._alike) and name.startswith("%arg")

    def _is_power_of_two(self, name: str) -> bool:
        made = self.get(self.first(name))
        if made is not None and made.op == "stablehlo.broadcast_in_dim":
            made = self.get(self.first(made.operands[0]))
        number = made.text.partition("dense<")[2].partition(">")[0] if made is not None and made.op == "stablehlo.constant" else ""
        return number.count(".") == 1 and "," not in number and abs(math.frexp(float(number))[0]) == 0.5

    def index(self, name: str) -> str:
        """The number that an index is, or the value that it is computed as."""
        made = self.get(self.first(name))
        return made.text.partition("dense<")[2].partition(">")[0] if made is not None and made.op == "stablehlo.constant" else self.first(name)


def reads_elsewhere(known: Definitions, x: Value, update: Value, part: Sequence[int], starts: Sequence[Value]) -> bool:
    """Whether ``update`` may be computed from elements of ``x`` at other places than those that it is written over.

    Args:
      part: how many elements are overwritten, along each axis.
      starts: where, a scalar integer for each axis; none if it may be anywhere.
    """
    known.read_on()
    memory = known.memory(known.first(_whole_name(x)))
    shape, part, written = list(x.aval.shape), list(part), [_whole_name(s) for s in starts]
    waiting = [known.first(_whole_name(update))]  # each of their elements is needed in its place only
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        made = known.get(name)
        if made is not None and made.op in _SLICES and known.memory(made.operands[0]) & memory and (
                _same_part(known, made, shape, part, written)):
            continue
        if made is None or len(seen) > _MANY or not (made.op in _ELEMENTWISE or made.op == "stablehlo.reshape" and made.keeps_axes()):
            if known.reads(name, memory):
                return True
        elif known.memory(name) & memory:
            return True
        else:
            new = set(made.operands) - seen
            seen |= new
            waiting += new
    return False


def _whole_name(x: str) -> str:
    """Without the number of the result."""
    return str(x).partition("#")[0]


def _same_part(known: Definitions, made: _Definition, shape: list[int], part: list[int], starts: Sequence[str]) -> bool:
    """Whether a slice is of the place that is written, or of one beside it: along axes of one element the index does not matter."""
    shapes = made.shapes()
    if not shapes or shapes[0] != shape or shapes[-1] != part:
        return False
    equal = map(operator.eq, _begins(known, made), _clamped(known, starts, shape, part)) if starts else [False] * len(shape)
    return all([m == 1 or m == n or e for n, m, e in zip(shape, part, equal)])


def _begins(known: Definitions, made: _Definition) -> list[str]:
    if made.op == "stablehlo.slice":
        ranges = [r.split(":") for r in made.text.partition("[")[2].partition("]")[0].split(",")]
        return [start.strip() if stride == ["1"] else "strided" for start, _, *stride in ranges]
    shapes = made.shapes()
    starts = [_unclamped(known, start, n - m) for start, n, m in zip(made.operands[1:], *shapes[::len(shapes) - 1])]
    return _clamped(known, starts, shapes[0], shapes[-1])


def _unclamped(known: Definitions, start: str, last: int) -> str:
    """What a start is that was written as a number between 0 and ``last``, as the slice itself takes it."""
    made = known.get(known.first(start))
    clamped = made is not None and made.op == "stablehlo.clamp" and [known.index(made.operands[i]) for i in (0, 2)] == ["0", str(last)]
    return made.operands[1] if made is not None and clamped else start


def _clamped(known: Definitions, starts: Sequence[str], shape: Sequence[int], part: Sequence[int]) -> list[str]:
    texts = [known.index(s) for s in starts]
    return [str(min(max(int(t), 0), n - m)) if t.lstrip("-").isdigit() else t for t, n, m in zip(texts, shape, part)]


def overwrites_parts(jaxpr: Jaxpr) -> bool:
    """Whether a part of an array is overwritten in it, or in a program inside it."""
    return any([eqn.primitive.traits.part is Part.WRITTEN or eqn.primitive.traits.kind is Kind.SCATTER for program in programs(jaxpr) for eqn in program.eqns])
