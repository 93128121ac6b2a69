"""Symbolic dimensions: integer polynomials in named unknowns, such as ``2*b + 1`` in the shape ``(b, 2*b + 1)``.

A polynomial is a sum of coefficients times products of atoms; an atom is a variable, or floordiv, mod, max or min of
two expressions. Variables stand for lengths, so they are at least 1. Order comparisons answer where the bounds of the
difference of both sides decide, with the constraints of the scope, and raise where they do not.
"""
from __future__ import annotations

import math
import numbers
import operator
import re
from fractions import Fraction
from typing import Any, Callable, Mapping, Sequence

from ..configuration import flags
from ..representation.errors import InconclusiveDimensionOperation
from ..representation.source import capture
from .length_values import as_value

_INFINITY = float("inf")
_GREATEST_DEGREE = 62
"""Of a product of variables: with two or more in place of each it would not be a length."""
_MOST_TERMS = 10_000
"""Of a power: a few characters of a file could ask for any number."""


class SymbolicScope:
    """Where the names of variables belong, with what is known of them.

    Args:
      constraints_str: of the form ``"a >= b"``, ``"a <= b"`` or ``"a == b"``, for expressions a and b.

    Raises:
      ValueError: a constraint has another form, or holds for no values at all.

    >>> from jax import export
    >>> scope = export.SymbolicScope(["a >= 8"])
    >>> a, = export.symbolic_shape("a", scope=scope)
    >>> a >= 7
    True
    """

    def __getstate__(self) -> dict:
        return {**self.__dict__, "made_at": str(self.made_at)}  # code objects stay in their process

    def __init__(self, constraints_str: Sequence[str] = ()):
        if isinstance(constraints_str, str) or not all(isinstance(c, str) for c in constraints_str):
            raise ValueError(f"The symbolic constraints should be a sequence of strings, got {constraints_str!r}.")
        texts = tuple(constraints_str)
        self.constraints_str = texts
        self.made_at = capture()
        self.non_negative: list[DimExpr] = []
        """Expressions that are known to be 0 or more."""
        self.zero: list[DimExpr] = []
        """Expressions that are known to be 0."""
        self.replaced: list[tuple[DimExpr, DimExpr]] = []
        """For each of them a term and what it is equal to: the left side of the equality, where that is a single product."""
        for text in texts:
            parts = re.split(r"(>=|<=|==)", text)
            if len(parts) != 3:
                raise ValueError(f"SymbolicScope: the constraint {text!r} is no comparison; write two dimensions with one '==', '>=' or '<=' between them.")
            a, b = (_as_expr(parse_dimension(side, self), self) for side in (parts[0], parts[2]))
            difference = _as_expr(b - a if parts[1] == "<=" else a - b, self)
            value = difference.terms.get((), 0)
            if difference.is_constant and (value < 0 or value and parts[1] == "=="):
                raise ValueError(f"Unsatisfiable explicit constraint: {text.strip()}; no values of the variables make it true.")
            if parts[1] != "==":
                self.non_negative += [difference, *_of_numerators(difference)]
            elif difference.terms:
                self.zero.append(difference)
                single = list(a.terms.items())
                lead = max(difference.terms, key=_order)
                if len(single) == 1 and single[0][1] == 1 and single[0][0] in difference.terms and not any(
                        _divides(single[0][0], p) for p in difference.terms if p != single[0][0]):
                    lead = single[0][0]
                term = DimExpr({lead: difference.terms[lead]}, self)
                self.replaced.append((term, _as_expr(term - difference, self)))
                for multiple, numerator in _multiples(difference):
                    self.replaced.append((multiple, numerator))
                    ((product, k),) = multiple.terms.items()
                    least = _bounds(numerator)[0]
                    if not math.isinf(least):  # of a quotient without a remainder it is rounded up
                        self.non_negative.append(_as_expr(DimExpr({product: 1}, self) - _ceil(least / k), self))

    def __str__(self):
        known = f", with the constraints {', '.join(self.constraints_str)}" if self.constraints_str else ""
        return f"scope {id(self)} made at {self.made_at}{known}"


def _constant(value: int, scope: Any) -> "DimExpr":
    return DimExpr({(): value} if value else {}, scope)


def _as_expr(x: Any, scope: Any) -> "DimExpr":
    return x if isinstance(x, DimExpr) else _constant(int(x), scope)


def _of_numerators(x: DimExpr) -> list[DimExpr]:
    """What is 0 or more if ``x`` is: for each quotient by a number that is a term of ``x``, that number times ``x`` with the numerator in its place."""
    found = []
    for product, c in x.terms.items():
        atom = product[0][0] if len(product) == 1 and product[0][1] == 1 else None
        if atom is None or atom.kind != "floordiv" or not isinstance(k := atom.args[1], int) or k < 1:
            continue
        rest = x - DimExpr({product: c}, x.scope)
        found.append(_as_expr(k * rest + c * (atom.args[0] - (0 if c > 0 else k - 1)), x.scope))
    return found


def _multiples(x: DimExpr) -> list[tuple[DimExpr, DimExpr]]:
    """What is known if ``x``, which is 0, is a remainder of a division by a number: that a quotient times that number is the numerator."""
    (product, _), *others = x.terms.items()
    atom = product[0][0] if not others and len(product) == 1 else None
    if atom is None or atom.kind != "mod" or not isinstance(k := atom.args[1], int):
        return []
    return [(DimExpr({((Atom("floordiv", atom.args), 1),): k}, x.scope), atom.args[0])]


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": operator.floordiv, "mod": operator.mod, "max": max, "min": min, "pow": operator.pow}
"""What operations in expressions compute; `pow` is that of a number and an expression."""


class Atom:
    """A variable (``kind`` is None, ``args`` its name), or an operation on two expressions; its text says all of it."""

    __slots__ = ("kind", "args", "order", "_text", "_hash")

    def __init__(self, kind: str | None, args: tuple):
        self.kind, self.args = kind, args
        counts = [0, 1] if kind is None else [1, 0]
        for x in args if kind is not None else ():
            for product, c in x.terms.items() if isinstance(x, DimExpr) else ():
                for i, n in enumerate(_size(product)):
                    counts[i] += abs(c) * n
        self._text = self._written()
        self._hash = hash(self._text)
        self.order = (*counts, self._text)
        """Where it stands among others: by how many operations and variables it holds, and by its text."""

    def __eq__(self, other):
        return self is other or isinstance(other, Atom) and self._text == other._text

    def __hash__(self):
        return self._hash

    def __str__(self):
        return self._text

    def _written(self) -> str:
        if self.kind is None:
            return self.args[0]
        a, b = (f"- {-x}" if isinstance(x, int) and x < 0 else str(x) for x in self.args)
        return f"{self.kind}({a}, {b})"

    def evaluate(self, values: Mapping[str, int]) -> int:
        if self.kind is None:
            return values[self.args[0]]
        a, b = (evaluate(x, values) for x in self.args)
        return _OPERATIONS[self.kind](a, b)

    def bounds(self, depth: int) -> tuple[float, float]:
        if self.kind is None:
            return 1, _INFINITY
        (a, b), (c, d) = (_bounds(x, depth) for x in self.args)
        if self.kind == "max":
            return max(a, c), max(b, d)
        if self.kind == "min":
            return min(a, c), min(b, d)
        if self.kind == "pow":
            return (a ** c, _INFINITY) if a > 0 and c >= 0 else (-_INFINITY, _INFINITY)
        if self.kind == "mod":
            return (0, d - 1) if c > 0 else (-_INFINITY, _INFINITY)
        if c <= 0:
            return -_INFINITY, _INFINITY
        ends = [_floor_ratio(x, y) for x in (a, b) for y in (c, d)]
        return min(ends), max(ends)


def _floor_ratio(x: float, y: float) -> float:
    if math.isinf(x):
        return x
    return (-1 if x < 0 else 0) if math.isinf(y) else x // y


class DimExpr:
    """A symbolic dimension; arithmetic with others and with integers gives symbolic dimensions, or integers."""

    __slots__ = ("terms", "scope", "_hash")
    __array_priority__ = 2000

    def __init__(self, terms: Mapping[tuple, int], scope: SymbolicScope):
        """``terms``: the coefficient of each product; a product is a sorted tuple of pairs (atom, power)."""
        self.terms, self.scope = dict(terms), scope
        self._hash: int | None = None

    # -- arithmetic ----------------------------------------------------------------------------------------------------------

    def _other(self, x: Any) -> "DimExpr | None":
        if isinstance(x, DimExpr):
            if x.scope is not self.scope and not (x.is_constant or self.is_constant):
                raise ValueError(f"Invalid mixing of symbolic scopes: '{self}' and '{x}' come from different calls of symbolic_shape; "
                                 f"make them in one call, or pass scope=... The first is of {self.scope}; the second of {x.scope}.")
            return x
        if hasattr(x, "aval"):  # an array, for which this is a number
            return None
        if isinstance(x, bool) or not hasattr(x, "__index__"):
            if isinstance(x, numbers.Number) and not isinstance(x, bool):
                raise NotImplementedError(f"the symbolic dimension '{self}' was combined with {x!r}; dimensions are integers, and so must be what "
                                          "is added to them or compared with them. Inside a function that is exported, any number may be used")
            return None
        return _constant(x.__index__(), self.scope)

    @property
    def is_constant(self) -> bool:
        return all(not product for product in self.terms)

    def __add__(self, other):
        other = self._other(other)
        if other is None:
            return NotImplemented
        total = dict(self.terms)
        for product, c in other.terms.items():
            total[product] = total.get(product, 0) + c
        return _normal(total, self.scope)

    __radd__ = __add__

    def __neg__(self):
        return _normal({product: -c for product, c in self.terms.items()}, self.scope)

    def __sub__(self, other):
        other = self._other(other)
        if other is None:
            return NotImplemented
        total = dict(self.terms)
        for product, c in other.terms.items():
            total[product] = total.get(product, 0) - c
        return _normal(total, self.scope)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        other = self._other(other)
        if other is None:
            return NotImplemented
        total: dict = {}
        for p, c in self.terms.items():
            for q, d in other.terms.items():
                powers = dict(p)
                for atom, n in q:
                    powers[atom] = powers.get(atom, 0) + n
                product = _sorted(powers)
                total[product] = total.get(product, 0) + c * d
        return _normal(total, self.scope)

    __rmul__ = __mul__

    def __pow__(self, n):
        if isinstance(n, DimExpr):
            raise NotImplementedError(f"a symbolic dimension can be raised to known integers, got {self} ** {n}")
        if not hasattr(n, "__index__"):
            return NotImplemented
        if n < 0:
            raise ValueError(f"a symbolic dimension can be raised to non-negative integers, got {self} ** {n}")
        n = operator.index(n)
        degree = max((sum(power for _, power in product) for product in self.terms), default=0)
        if n * degree > _GREATEST_DEGREE or n > 1 and math.comb(len(self.terms) + n - 1, n) > _MOST_TERMS:
            raise ValueError(f"a symbolic dimension has at most the degree {_GREATEST_DEGREE}, as lengths are below 2**63, and {_MOST_TERMS} terms; "
                             f"({self}) ** {n} has more")
        return math.prod([self] * n)

    def __rpow__(self, base):
        if flags.one_form.value is None:
            raise NotImplementedError(f"{base} ** {self} is no polynomial; symbolic dimensions are, outside of a function that is traced")
        return self.exponent_of(base)

    def exponent_of(self, base: object) -> Any:
        """``base`` to the power of this."""
        if isinstance(base, bool) or not isinstance(base, int) or base < 1 or _bounds(self)[0] < 0:
            raise NotImplementedError(f"{base} ** {self}: positive integers can be raised to a symbolic dimension that is 0 or more")
        return _normal({((Atom("pow", (base, self)), 1),): 1}, self.scope)

    def __floordiv__(self, other):
        return self._divide("floordiv", self, other)

    def __rfloordiv__(self, other):
        return self._divide("floordiv", other, self)

    def __mod__(self, other):
        return self._divide("mod", self, other)

    def __rmod__(self, other):
        return self._divide("mod", other, self)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def _divide(self, kind, a, b):
        a, b = self._other(a), self._other(b)
        if a is None or b is None:
            return NotImplemented
        found = _quotient(a, b)
        if found is not None:
            return found[0] if kind == "floordiv" else found[1]
        return _normal({((Atom(kind, (_plain(a), _plain(b))), 1),): 1}, self.scope)

    def __truediv__(self, other):
        raise NotImplementedError(f"'{self}' / '{other}' is no dimension, as dimensions are integers; use //")

    def __rtruediv__(self, other):
        raise NotImplementedError(f"'{other}' / '{self}' is no dimension, as dimensions are integers; use //")

    # -- comparisons -----------------------------------------------------------------------------------------------------------

    def __eq__(self, other):
        """Whether both are equal for all values; False also where that is not known."""
        if not (isinstance(other, DimExpr) or hasattr(other, "__index__")):
            return False
        if isinstance(other, DimExpr) and other.scope is not self.scope:
            return self.terms == other.terms
        difference = self - other
        return difference == 0 if isinstance(difference, int) else _bounds(difference) == (0, 0)

    _eq = __eq__  # converters of exported programs compare dimensions by this name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def _compare(self, other: Any, symbol: str, decide: Callable) -> bool:
        other = self._other(other)
        if other is None:
            return NotImplemented
        answer = decide(*_bounds(self - other))
        if answer is None:
            for product in (self - other).terms:
                _bounds(DimExpr({product: 1}, self.scope))  # where the constraints contradict each other, that is to be said
            raise InconclusiveDimensionOperation(
                f"Symbolic dimension comparison '{self}' {symbol} '{other}' is inconclusive. Constrain the variables, as in "
                f"symbolic_shape(..., constraints=['{self} {symbol} {other}'])" + (
                    f"; they come with constraints {', '.join(self.scope.constraints_str)}." if self.scope.constraints_str else "."))
        return answer

    def __ge__(self, other):
        return self._compare(other, ">=", lambda low, high: True if low >= 0 else False if high < 0 else None)

    def __gt__(self, other):
        return self._compare(other, ">", lambda low, high: True if low > 0 else False if high <= 0 else None)

    def __le__(self, other):
        return self._compare(other, "<=", lambda low, high: True if high <= 0 else False if low > 0 else None)

    def __lt__(self, other):
        return self._compare(other, "<", lambda low, high: True if high < 0 else False if low >= 0 else None)

    def __bool__(self):
        return self != 0

    def __int__(self):
        raise InconclusiveDimensionOperation(f"Symbolic dimension '{self}' used in a context that requires a constant")

    def __index__(self):
        """The length at the sample that is being traced, for a dimension that the function closes over."""
        trail = flags.one_form.value
        if trail is None or not self._get_vars() <= set(trail.values):
            raise TypeError(f"'{self}' is a symbolic dimension, and no integer; it is one while a function of arguments with such shapes is traced")
        return self._evaluate(trail.values)

    def __jax_array__(self):
        return as_value(self)

    # -- what it is made of ----------------------------------------------------------------------------------------------------

    def _get_vars(self) -> set[str]:
        found: set[str] = set()
        for product in self.terms:
            for atom, _ in product:
                found |= {atom.args[0]} if atom.kind is None else variables(atom.args[0]) | variables(atom.args[1])
        return found

    def _evaluate(self, values: Mapping[str, int]) -> int:
        return sum(c * math.prod([atom.evaluate(values) ** n for atom, n in product]) for product, c in self.terms.items())

    get_vars = _get_vars

    def dimension_as_value(self) -> Any:
        """The length as a number in the program that is traced."""
        return as_value(self)

    def max(self, other: int | DimExpr) -> Any:
        """The larger of both."""
        return symbolic_max(self, other)

    def min(self, other: int | DimExpr) -> Any:
        """The smaller of both."""
        return symbolic_min(self, other)

    rmax, rmin = max, min

    # -- text ------------------------------------------------------------------------------------------------------------------

    def __str__(self):
        text = ""
        for product, c in sorted(self.terms.items(), key=lambda item: _order(item[0]), reverse=True):
            body = _product_text(product)
            body = str(abs(c)) if not body else body if abs(c) == 1 else f"{abs(c)}*{body}"
            text += (" - " if c < 0 else " + ") + body if text else ("- " if c < 0 else "") + body
        return text or "0"

    __repr__ = __str__


def _sorted(powers: Mapping[Atom, int]) -> tuple:
    return tuple(sorted([item for item in powers.items() if item[1]], key=lambda item: item[0].order))


def _size(product: tuple) -> tuple[int, int]:
    """How many operations and variables are in it."""
    return sum(atom.order[0] * n for atom, n in product), sum(atom.order[1] * n for atom, n in product)


def _order(product: tuple) -> tuple:
    """Where a product stands in a sum, the least first."""
    return _size(product), [atom.order for atom, _ in reversed(product)], [n for _, n in reversed(product)]


def _product_text(product: tuple) -> str:
    return "*".join([str(atom) if n == 1 else f"{atom}^{n}" for atom, n in product])


def _plain(x: DimExpr) -> Any:
    """An integer for a constant."""
    return _normal(x.terms, x.scope)


def _normal(terms: Mapping[tuple, int], scope: SymbolicScope) -> Any:
    terms = {product: c for product, c in terms.items() if c}
    if not terms:
        return 0
    if list(terms) == [()]:
        return terms[()]
    x = DimExpr(terms, scope)
    return _with_equalities(x) if scope.replaced else x


def _quotient(a: DimExpr, b: DimExpr) -> tuple[Any, int] | None:
    """Quotient and remainder, if the one is an expression and the other an integer; None if not."""
    if not b.terms:
        raise ZeroDivisionError(f"division of the symbolic dimension '{a}' by zero")
    quotient, rest = _constant(0, a.scope), a
    lead = max(b.terms, key=_order)
    for _ in range(8):
        if not rest.terms:
            return _plain(quotient), 0
        if rest.is_constant and b.is_constant:
            last, remainder = divmod(rest.terms[()], b.terms[()])
            return _plain(_as_expr(quotient + last, a.scope)), remainder
        found = _cancelling(rest, b, lead, max(rest.terms, key=_order))
        if found is None:
            return None
        quotient, rest = _as_expr(quotient + found, a.scope), _as_expr(rest - _as_expr(found * b, a.scope), a.scope)
    return None


def _divides(p: tuple, q: tuple) -> bool:
    return all(n <= dict(q).get(atom, 0) for atom, n in p)


def _cancelling(x: DimExpr, by: DimExpr, lead: tuple, top: tuple) -> DimExpr | None:
    """The term by which ``by`` is to be multiplied for its product ``lead`` to be the product ``top`` of ``x``, if there is one."""
    powers = dict(top)
    for atom, n in lead:
        powers[atom] = powers.get(atom, 0) - n
    c, remainder = divmod(x.terms[top], by.terms[lead])
    return None if remainder or min(powers.values(), default=0) < 0 else DimExpr({_sorted(powers): c}, x.scope)


# -- bounds --------------------------------------------------------------------------------------------------------------------

_STEPS = 2
"""How many constraints are combined to bound an expression."""


def _bounds(x: Any, steps: int = _STEPS) -> tuple[float, float]:
    """The least and the greatest value, as far as known.

    Raises:
      ValueError: there is no value, as the constraints contradict each other.
    """
    if not isinstance(x, DimExpr):
        return x, x
    low, high = _interval(x, steps)
    for product, c in x.terms.items():
        atom = product[0][0] if product else None
        if len(product) == 1 and product[0][1] == 1 and atom is not None and atom.kind is not None:
            least, most = _bounds_by_atom(x, atom, c, x - DimExpr({product: c}, x.scope), steps)
            low, high = max(low, least), min(high, most)
            break
    if steps:
        for c in [*x.scope.non_negative, *x.scope.zero, *[_as_expr(-z, x.scope) for z in x.scope.zero]]:
            for product in c.terms:  # low(x) >= low(x - k c) for k > 0 that makes a product disappear
                if product and product in x.terms:
                    k = Fraction(x.terms[product], c.terms[product])
                    if k.denominator == 1:
                        a, b = _bounds(x - _as_expr(c * int(k), x.scope), steps - 1)
                        low, high = (max(low, a), high) if k > 0 else (low, min(high, b))
    if low > high:
        raise ValueError(f"Unsatisfiable constraints: '{x}' would be at least {low} and at most {high}, by "
                         f"{', '.join(x.scope.constraints_str)}.")
    return low, high


def _bounds_by_atom(x: DimExpr, atom: Atom, c: int, rest: Any, steps: int) -> tuple[float, float]:
    """Bounds of ``x``, which is ``rest + c * atom`` for an operation ``atom``, by what the operation has to do with its operands."""
    a, b = atom.args
    if atom.kind in ("max", "min"):
        which = max if (atom.kind == "max") == (c > 0) else min  # of what x is with the one operand and with the other
        (low, high), (low2, high2) = (_bounds(rest + c * operand, steps) for operand in (a, b))
        return which(low, low2), which(high, high2)
    if atom.kind == "pow":
        return -_INFINITY, _INFINITY
    if steps < _STEPS or _bounds(b, steps - 1)[0] < 1:
        return -_INFINITY, _INFINITY
    if atom.kind == "mod":
        least, most = (0, b - 1) if c > 0 else (b - 1, 0)
        return _bounds(rest + c * least, steps - 1)[0], _bounds(rest + c * most, steps - 1)[1]
    if not isinstance(b, int):
        return -_INFINITY, _INFINITY
    low, high = _bounds(b * rest + c * a, steps - 1)  # b * x is that less c * r, for a remainder r from 0 to b - 1
    ends = (0, c * (b - 1))
    return _ceil((low - max(ends)) / b), _floor((high - min(ends)) / b)


def _ceil(x: float) -> float:
    return x if math.isinf(x) else math.ceil(x)


def _floor(x: float) -> float:
    return x if math.isinf(x) else math.floor(x)


def _with_equalities(x: DimExpr) -> Any:
    """``x``, with the terms that equalities replace replaced by what they are equal to."""
    for term, equal in x.scope.replaced:
        (lead,) = term.terms
        for top in x.terms:
            found = _cancelling(x, term, lead, top)
            if found is not None:
                return _as_expr(_normal({p: d for p, d in x.terms.items() if p != top}, x.scope), x.scope) + found * equal
    return x


def _interval(x: DimExpr, steps: int) -> tuple[float, float]:
    low = high = 0.0
    for product, c in x.terms.items():
        a, b = 1.0, 1.0
        for atom, n in product:
            ends = _atom_bounds(atom, x.scope, steps)
            for _ in range(n):
                products = [_times(p, q) for p in (a, b) for q in ends]
                a, b = min(products), max(products)
        a, b = sorted((_times(a, c), _times(b, c)))
        low, high = low + a, high + b
    return _whole(low), _whole(high)


def _atom_bounds(atom: Atom, scope: SymbolicScope, steps: int) -> tuple[float, float]:
    """With the constraints that bound the atom alone: ``c * atom + d >= 0``."""
    low, high = atom.bounds(steps)
    product = ((atom, 1),)
    for c, signs in [*((c, (1,)) for c in scope.non_negative), *((z, (1, -1)) for z in scope.zero)]:
        if set(c.terms) <= {product, ()} and product in c.terms:
            for sign in signs:
                k, d = sign * c.terms[product], sign * c.terms.get((), 0)
                if k > 0:
                    low = max(low, -(d // k))
                else:
                    high = min(high, d // -k)
    return low, high


def _times(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b


def _whole(x: float) -> float:
    return x if math.isinf(x) else int(x)


# -- evaluation ----------------------------------------------------------------------------------------------------------------

def evaluate(x: Any, values: Mapping[str, int]) -> int:
    """The dimension for given values of the variables."""
    if not isinstance(x, DimExpr):
        return int(x)
    return x._evaluate(values)


def variables(x: object) -> set[str]:
    """Names of the variables of a dimension."""
    return x._get_vars() if isinstance(x, DimExpr) else set()


def variable(name: str, scope: SymbolicScope) -> Any:
    """The variable, or what the scope says that it is equal to."""
    return _normal({((Atom(None, (name,)), 1),): 1}, scope)


def symbolic_max(d1: int | DimExpr, d2: int | DimExpr) -> Any:
    """The larger of two lengths, as an expression where it is not known which.

    >>> from jax import export
    >>> n, = export.symbolic_shape("n")
    >>> jax.core.max_dim(3, 5), jax.core.max_dim(n, 4)
    (5, max(n, 4))
    """
    return _extremum("max", d1, d2)


def symbolic_min(d1: int | DimExpr, d2: int | DimExpr) -> Any:
    """The smaller of two lengths.

    >>> from jax import export
    >>> n, = export.symbolic_shape("n")
    >>> jax.core.min_dim(3, 5), jax.core.min_dim(n, 4)
    (3, min(n, 4))
    """
    return _extremum("min", d1, d2)


def _extremum(kind: str, a: Any, b: Any) -> Any:
    if not (isinstance(a, DimExpr) or isinstance(b, DimExpr)):
        return max(a, b) if kind == "max" else min(a, b)
    low, high = _bounds(a - b)
    if low >= 0 or high <= 0:
        return a if (low >= 0) == (kind == "max") else b
    scope = a.scope if isinstance(a, DimExpr) else b.scope
    return _normal({((Atom(kind, (a, b)), 1),): 1}, scope)


# -- parsing -------------------------------------------------------------------------------------------------------------------

_token = re.compile(r"\s*(\d+|[A-Za-z_]\w*|\.\.\.|//|\S)")


class _Parser:
    """Recursive descent over ``sum := product (("+" | "-") product)*``, ``product := power ("*" power)*``."""

    def __init__(self, text: str, scope: SymbolicScope):
        self.text, self.scope = text, scope
        self.tokens = _token.findall(text)
        self.at = 0

    def fail(self, expected: str) -> ValueError:
        found = self.tokens[self.at] if self.at < len(self.tokens) else "the end"
        return ValueError(f"syntax error in symbolic shape {self.text!r}: expecting {expected} but found {found}.")

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, *wanted: str) -> str | None:
        if self.peek() in wanted:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def need(self, wanted: str) -> None:
        if self.take(wanted) is None:
            raise self.fail(repr(wanted))

    def sum(self) -> Any:
        total = self.product()
        while sign := self.take("+", "-"):
            term = self.product()
            total = total + term if sign == "+" else total - term
        return total

    def product(self) -> Any:
        if sign := self.take("-", "+"):
            return self.product() if sign == "+" else -1 * self.product()
        value = self.power()
        while operation := self.take("*", "//"):
            factor = self.power()
            value = value * factor if operation == "*" else value // factor
        return value

    def power(self) -> Any:
        value = self.atom()
        while self.take("^"):
            value = _power(value, self.number())
        return value

    def number(self) -> int:
        text = self.peek()
        if text is None or not text.isdigit():
            raise self.fail("an integer")
        self.at += 1
        return int(text)

    def atom(self) -> Any:
        text = self.peek()
        if text is not None and text.isdigit():
            return self.number()
        if self.take("("):
            value = self.sum()
            self.need(")")
            return value
        if text is None or not re.fullmatch(r"[A-Za-z_]\w*", text):
            raise self.fail("a name, a number or '-'")
        self.at += 1
        operations = {**_OPERATIONS, "max": symbolic_max, "min": symbolic_min, "pow": _power}
        if text in operations and self.take("("):
            a = self.sum()
            self.need(",")
            b = self.sum()
            self.need(")")
            return operations[text](a, b)
        return variable(text, self.scope)


def _power(base: Any, n: Any) -> Any:
    """``base ** n``, of a length: a few characters cannot ask for a number without end."""
    if isinstance(base, int) and isinstance(n, int) and n > 1 and (abs(base).bit_length() - 1) * n > _GREATEST_DEGREE:
        raise ValueError(f"{base} ** {n} is not below 2**63, as a length is")
    return base ** n


def parse_dimension(text: str, scope: SymbolicScope) -> Any:
    """The dimension that ``text`` says: an integer, or an expression.

    Raises:
      ValueError: ``text`` is no expression, or one that no length is.
    """
    parser = _Parser(text, scope)
    try:
        value = parser.sum()
    except (ZeroDivisionError, RecursionError) as e:
        why = "divides by 0" if isinstance(e, ZeroDivisionError) else "is nested too deeply"
        raise ValueError(f"the symbolic shape {text[:100]!r} {why}") from None
    if parser.peek() is not None:
        raise parser.fail("the end")
    return value


# -- public functions ----------------------------------------------------------------------------------------------------------

def is_symbolic_dim(p: object) -> bool:
    """Whether ``p`` is a symbolic dimension.

    >>> (n,) = jax.export.symbolic_shape('n')
    >>> jax.export.is_symbolic_dim(n), jax.export.is_symbolic_dim(3)
    (True, False)
    """
    return isinstance(p, DimExpr)


def symbolic_dim_bounds(dimension: int | DimExpr) -> tuple[float, float]:
    """The least and the greatest value of a dimension; infinity where nothing is known.

    >>> (n,) = jax.export.symbolic_shape('n', constraints=['n <= 8'])
    >>> jax.export.symbolic_dim_bounds(2 * n)
    (2, 16)
    """
    return _bounds(dimension if isinstance(dimension, DimExpr) else operator.index(dimension))
