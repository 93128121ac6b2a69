"""Families of shapes: the values at which a program with symbolic dimensions is looked at, and expressions that agree with what is seen.

A number of a program, or the length of a result, is a polynomial in the variables, or a sum of multiples of the variables and of
one quotient, minimum or maximum. The first samples that determine it do so, and all others must agree.
"""
from __future__ import annotations

import functools
import itertools
import math
import random
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import symbols

Values = dict[str, int]

_CONFIRMATIONS = 6
_LEAST_CONFIRMATIONS = 2
_DIVISORS = (2, 3, 4, 8)
_FRACTIONS = tuple(1 << k for k in range(64))  # in which a multiple of a dtype's `eps` is whole, too
LONG, LONGER = 2503, 40009
"""Lengths beyond those at which programs usually change their ways; the square of the second still fits into 32 bits."""
_SHORT = 24
"""Up to here all lengths are looked at, where the program does not look alike for all."""


class Family:
    """The variables, some of their values, and the expressions that these determine.

    Args:
      admits: whether values of the variables are possible.
      complete: whether there are no other values than the samples.
      terms: expressions that are likely to be parts of numbers.
    """

    def __init__(self, names: Sequence[str], scope: symbols.SymbolicScope, samples: Sequence[Values], admits: Callable[[Values], bool],
                 complete: bool = False, terms: Sequence[Any] = ()):
        self.terms = terms
        self.admits = admits
        self.names, self.scope, self.samples, self.complete = list(names), scope, list(samples), complete
        atoms = [symbols.variable(n, scope) for n in names]
        degree = 3 if len(atoms) <= 2 else 2
        powers = [functools.reduce(lambda a, b: a * b, c) for d in range(1, degree + 1)
                  for c in itertools.combinations_with_replacement(atoms, d)]
        self._powers = [1, *powers]

    @functools.cached_property
    def _polynomials(self) -> _Basis:
        return _Basis(self._powers, self.samples, self.complete)

    def with_terms(self, terms: Sequence[object]) -> Family:
        """The same, with these expressions as likely parts of numbers."""
        return Family(self.names, self.scope, self.samples, self.admits, self.complete, terms) if terms else self

    def fits(self, values: Sequence[int]) -> Any:
        """The expression with these values at the samples, or None."""
        return self._fit(tuple(values))

    def polynomial(self, values: Sequence[int]) -> Any:
        """The polynomial with these values at the samples, or None."""
        return self._polynomials.solve(values)

    @functools.lru_cache(maxsize=None)
    def _fit(self, values: tuple) -> Any:
        if len(set(values)) == 1:
            return values[0]
        found = self._polynomials.solve(values)
        if found is not None:
            return found
        for group in self._others:
            some = [x for x in (self._with(term).solve(values) for term in group) if x is not None]
            if some:
                return min(some, key=lambda x: len(str(x))) if self._agree(some) else None
        return None

    @functools.cache
    def _with(self, term: Any) -> _Basis:
        return _Basis([1, term, *[symbols.variable(n, self.scope) for n in self.names]], self.samples, self.complete)

    @functools.cached_property
    def _others(self) -> list[list[Any]]:
        """What strides, bounds and halves make of lengths: 1, the variables, and one more term; alike ones together."""
        atoms = [symbols.variable(n, self.scope) for n in self.names]
        sums = [*atoms, *[a + b for a, b in itertools.combinations(atoms, 2)]]
        pairs = [f(a, b) for a, b in itertools.combinations(atoms, 2) for f in (symbols.symbolic_min, symbols.symbolic_max)]
        sums += [functools.reduce(lambda a, b: a * b, c) for r in range(2, len(atoms) + 1) for c in itertools.combinations(atoms, r)]
        groups = [[term] for term in self.terms]
        groups += [[(v + c) // k for k in _DIVISORS for c in range(k)] for v in sums]
        groups += [[p] for p in pairs]
        bounded = [[symbols.symbolic_min(v, k) for k in range(1, _SHORT + 1)] for v in atoms]
        groups += [[*some, *[symbols.symbolic_max(0, v - k) for k in range(1, _SHORT + 1)]] for v, some in zip(atoms, bounded)]
        groups += [[b - a for a, b in itertools.combinations(some, 2)] for some in bounded]
        return [[term for term in group if symbols.is_symbolic_dim(term)] for group in groups]

    def _agree(self, fits: Sequence[Any]) -> bool:
        """Whether the expressions, which are equal at the samples, are so at other lengths too."""
        if len(fits) == 1:
            return True
        others = [v for name in self.names for n in range(1, 100) if self.admits(v := {**self.samples[0], name: n})]
        return all(len({symbols.evaluate(x, values) for x in fits}) == 1 for values in others)

    def fit_text(self, texts: Sequence[str]) -> tuple[str, Any] | None:
        """How a number depends on the variables: the kind and the expression, see `templates.Template`."""
        if all(t.isdigit() for t in texts):
            found = self.fits([int(t) for t in texts])
            return None if found is None else ("int", found)
        numbers = [float(t) for t in texts]
        whole = next((k for k in _FRACTIONS if all((x * k).is_integer() and repr(x) == t for x, t in zip(numbers, texts))), None)
        found = None if whole is None else self.fits([int(x * whole) for x in numbers])
        if found is not None:
            return "float" if whole == 1 else f"float/{whole}", found
        found = self.fits([round(1 / x) for x in numbers]) if all(numbers) else None
        for kind in ("f32", "f64"):
            if found is not None and all(repr(reciprocal(kind, symbols.evaluate(found, s))) == t for s, t in zip(self.samples, texts)):
                return kind, found
        return None


def reciprocal(kind: str, value: int) -> float:
    """``1 / value``, rounded as ``kind`` ("f32" or "f64") says; inf for 0."""
    if value == 0:
        return math.inf
    return float(np.float32(1) / np.float32(value)) if kind == "f32" else 1 / value


_PRIME = 2**61 - 1
"""Factors are found modulo this, which is beyond any of them, and then tried: integers take a tenth of the time of fractions."""


class _Basis:
    """Expressions, and of which of them a number is the sum, with integer factors; the first ones if there is a choice."""

    def __init__(self, terms: Sequence[Any], samples: Sequence[Values], complete: bool):
        self.rows = [[symbols.evaluate(t, s) for t in terms] for s in samples]
        spare = 0 if complete else _LEAST_CONFIRMATIONS
        self._places, columns, self._inverse = _invertible_part(self.rows, max(1, len(samples) - spare))
        self._terms, self._columns = [terms[i] for i in columns], columns

    def solve(self, values: Sequence[int]) -> Any:
        """The sum with these values at the samples, or None."""
        right = [values[i] for i in self._places]
        factors = [(sum([a * b for a, b in zip(row, right)]) + _PRIME // 2) % _PRIME - _PRIME // 2 for row in self._inverse]
        for row, v in zip(self.rows, values):
            if sum([f * row[j] for f, j in zip(factors, self._columns)]) != v:
                return None
        return sum((f * t for f, t in zip(factors, self._terms) if f), 0)


def _invertible_part(rows: Sequence[Sequence[int]], most: int) -> tuple[list[int], list[int], list[list[int]]]:
    """The first columns that are independent, ``most`` at most, as many rows in which they are so, and the inverse of that matrix."""
    places: list[int] = []
    columns: list[int] = []
    wide, n = len(rows[0]), len(rows)
    left = [[*row, *[int(i == k) for k in range(n)]] for i, row in enumerate(rows)]  # column after column is reduced; beside it, what of which row it took
    for j in range(wide):
        at = next((i for i in range(len(left)) if i not in places and left[i][j]), None) if len(columns) < most else None
        if at is None:
            continue
        by = pow(left[at][j], -1, _PRIME)
        pivot = left[at] = [x * by % _PRIME for x in left[at]]
        left = [row if i == at or not row[j] else [(x - row[j] * p) % _PRIME for x, p in zip(row, pivot)] for i, row in enumerate(left)]
        places.append(at)
        columns.append(j)
    return places, columns, [[left[at][wide + i] for i in places] for at in places]


# -- samples -------------------------------------------------------------------------------------------------------------------

class Lengths:
    """The values that the variables may have: the same choice in every process."""

    def __init__(self, names: Sequence[str], scope: symbols.SymbolicScope, admits: Callable[[Values], bool]):
        self.names, self.scope, self.admits = list(names), scope, admits
        self.bounds = [symbols.symbolic_dim_bounds(symbols.variable(n, scope)) for n in names]

    @functools.cache
    def few(self) -> Family:
        """As many as determine polynomials, with some to confirm them; the smallest first, no two variables alike, and none of them 1."""
        rng = random.Random(0)
        n = len(self.names)
        count = (math.comb(n + (3 if n <= 2 else 2), n)) + _CONFIRMATIONS
        found: list[Values] = []
        for attempt in range(4000):
            top = 14 + attempt // 200
            values = {n: rng.randint(int(max(low, 2)), int(min(high, max(low, 2) + top))) if high >= 2 else int(low)
                      for n, (low, high) in zip(self.names, self.bounds)}
            if values not in found and (len(set(values.values())) == len(values) or attempt > 1000) and self.admits(values):
                found.append(values)
                if len(found) == count:
                    return Family(self.names, self.scope, found, self.admits)
        if math.prod(high - low + 1 for low, high in self.bounds) <= 4000:
            found = list(self._every()) or found
            if found:
                return Family(self.names, self.scope, found, self.admits, complete=True)
        raise ValueError(f"export: the constraints {', '.join(self.scope.constraints_str)} leave only {len(found)} of the {count} "
                         f"combinations of values for {', '.join(self.names)} that are tried to find how the program depends on them; "
                         "export it for each shape instead")

    def _every(self) -> Iterator[Values]:
        for v in itertools.product(*[range(int(low), int(high) + 1) for low, high in self.bounds]):
            if self.admits(values := dict(zip(self.names, v))):
                yield values

    def long(self, start: Values, length: int = LONG) -> list[Values]:
        """For each variable values in which it has about this length, and the others are as in ``start``, as nearly as may be."""
        found = []
        for name in self.names:
            near = next((v for n in range(length, length + 24) if self.admits(v := {**start, name: n})), None)
            if near is not None:
                found.append(near)
        return found

    def short(self, start: Values) -> list[Values]:
        """For each variable the values in which it is 1, 2 or 3, and the others are as in ``start``, as far as these are possible."""
        return [v for name in self.names for n in (1, 2, 3) if self.admits(v := {**start, name: n})]

    def about(self, constants: Sequence[int], start: Values) -> list[Values]:
        """For each variable values about these constants, where the others are as in ``start``."""
        return [v for name in self.names for c in constants for n in (c - 1, c, c + 1) if self.admits(v := {**start, name: n})]

    def many(self) -> list[Values]:
        """Nearly all short ones, 1 among them, and some long ones."""
        rng, n = random.Random(1), len(self.names)
        if n == 1:
            tries = [*range(1, _SHORT + 1), 29, 31, 32, 33, 40, 47, 48, 63, 64, 65, 100, 127, 128, 256, 1000]
            found = [v for k in tries if self.admits(v := {self.names[0]: k})]
        else:
            found = []
            for _ in range(4000):
                values = {name: rng.choice([1, rng.randint(1, 5), rng.randint(1, 16), rng.randint(1, 40)]) for name in self.names}
                if values not in found and self.admits(values):
                    found.append(values)
                    if len(found) == 28 * n:
                        break
        return found + (self.long(found[len(found) // 2]) if found else [])

    def others(self, seed: int) -> Iterator[Values]:
        """Any values, short ones and long ones."""
        rng = random.Random(seed)
        for _ in range(600):
            top = rng.choice([6, 20, 60, 300, 1200])
            values = {name: rng.randint(1, top) for name in self.names}
            if self.admits(values):
                yield values
