"""What a program looks like for which lengths: one text with expressions in the places of numbers, or a few, told apart by conditions.

A program is asked for at few values of the variables. If its texts differ in numbers only, and expressions agree with these, that is its
form. If not, it is asked for at some more, and if need be at nearly all short lengths, and conditions are sought that part the forms, as in a
decision tree: a variable is at most a number (which is then found by halving), has a remainder, or is at most another variable. In the end
the result is compared with what the program is at other values.

What this cannot see: a form that the program takes only where no sample is.
"""
from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from typing import Any, Callable, Iterable, Iterator, Sequence

from ..representation.errors import InconclusiveDimensionOperation
from ..traces import lengths as trails
from ..traces.lengths import Trail
from . import decisions, symbols
from .decisions import on
from .families import LONGER, Family, Lengths, Values
from .templates import Cases, Template, Unseen, values_text

_number = re.compile(r"((?:(?<![\w.%@#])|(?<=\dx))\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)")
_MODULI = (2, 3, 4, 8)
_DEEPEST = 6
_COMPARED = 6
_FEW = 3
_ROUNDS = 4
_HINTS, _SPECIAL = 12, 8
_CONFIRMED = 3


class Sample:
    """A program for some values of the variables.

    Args:
      texts: its modules.
      parts: what else is part of its form, and alike for all lengths.
      trail: what it decided by lengths.
    """

    def __init__(self, values: Values, texts: Sequence[str], parts: tuple, trail: Trail):
        self.values, self.parts, self.trail = values, parts, trail
        pieces = [_number.split(t) for t in texts]
        self.words = [p[::2] for p in pieces]
        self.numbers = [p[1::2] for p in pieces]
        self.form = tuple(map(tuple, self.words))


Forms = Sequence[Any]
"""A `Template` or `Cases` for each of the modules."""


def _attempt(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (InconclusiveDimensionOperation, ValueError) as error:
        return error


class _NoExpression(ValueError):
    """A number in the program is no expression in the variables."""

    def __init__(self, column: Sequence[str], message: str):
        super().__init__(message)
        self.column = column


def _same(forms: Forms, sample: Sample) -> bool:
    return all(f.fill(sample.values) == _joined(w, n) for f, w, n in zip(forms, sample.words, sample.numbers))


def _joined(words: Sequence[str], numbers: Sequence[str]) -> str:
    return "".join([x for pair in itertools.zip_longest(words, numbers, fillvalue="") for x in pair])


class Finder:
    """The search for the forms of one program.

    Args:
      sample: the program for values of the variables.
      few: what it is for `Lengths.few`.
    """

    def __init__(self, name: str, lengths: Lengths, sample: Callable[[Values], Sample], few: Sequence[Sample]):
        self.name, self.lengths, self._sample, self._enough = name, lengths, sample, len(few)
        self.variables = ", ".join(lengths.names)
        self._seen: dict[tuple, Sample | None] = {tuple(s.values.values()): s for s in few}
        self.few = list(few)

    def find(self) -> Forms:
        """The forms of the program.

        Raises:
          InconclusiveDimensionOperation: no conditions part its forms.
          ValueError: a number in it is no such expression.
        """
        if self.lengths.few().complete:
            found = _attempt(lambda: self.leaf(self.few, self.lengths.few()))
            if not isinstance(found, Exception):
                return found
        return decisions.tree(self, self.few, self.forms)

    def at(self, values: Values) -> Sample | None:
        """The program for these values, or None where it is not possible, which then is so at its call as well."""
        key = tuple(values.values())
        if key not in self._seen:
            try:
                self._seen[key] = self._sample(values)
            except Exception:  # whatever the user's function raises for these lengths
                self._seen[key] = None
        return self._seen[key]

    def family(self, samples: Sequence[Sample], path: decisions.Path) -> Family:
        """The samples, which fulfil the conditions of the path, as a family."""
        plain = Family(self.lengths.names, self.lengths.scope, [s.values for s in samples], lambda v: self.lengths.admits(v) and on(path, v),
                       self._complete(samples, path))
        return plain.with_terms([x for x in self.computed(plain, samples) if plain.polynomial([symbols.evaluate(x, v) for v in plain.samples]) is None])

    def computed(self, family: Family, samples: Sequence[Sample]) -> list[Any]:
        """What the function computed of lengths, in the variables."""
        found = [decisions.expression(family, samples, term) for term in samples[0].trail.computed]
        return list({str(x): x for x in found if symbols.is_symbolic_dim(x)}.values())

    def some_on(self, path: decisions.Path, known: Sequence[Sample], near: Sequence[Sample] = ()) -> list[Sample]:
        """The samples and others that fulfil the conditions of the path: as many as there were at first, if there are so many."""
        found, tries = list(known), decisions.places(self.lengths, path, [s.values for s in near])
        rng = random.Random(len(tries))
        rng.shuffle(tries)
        for values in [*tries[:1], *sorted(tries, key=lambda v: max(v.values()))[:3], *tries[1:]]:
            if len(found) >= self._enough:
                break
            if (s := self.at(values)) is not None:
                found = _distinct([*found, s])
        return found

    def unfollowed(self, samples: Sequence[Sample], term: trails.Term) -> Exception:
        """The error that says that what is decided by a term cannot be found."""
        i = trails.reads(term)[0]
        return InconclusiveDimensionOperation(
            f"{self.name}: the function compares a length in a way that cannot be followed: it is "
            f"{', '.join(str(s.trail.numbers[i]) for s in samples[:4])} for {'; '.join(values_text(s.values) for s in samples[:4])}. "
            f"Decide by the lengths of the arguments, or export it for each shape.")

    def forms(self, samples: list[Sample], path: decisions.Path) -> Forms:
        """The forms of samples that decide alike, for all values on the path."""
        family = self.family(samples, path)
        alike = _attempt(lambda: self.leaf(samples, family))
        if not isinstance(alike, Exception) and family.complete:
            return alike
        if len(samples) < _CONFIRMED and path:
            return self._pinned(samples)
        start = samples[0].values
        hints = sorted(set().union(*[s.trail.constants for s in samples]))[:_HINTS]
        others = self._all_at([*self.lengths.short(start), *self.lengths.long(start), *self.lengths.about(hints, start),
                               *self._special(self.computed(family, samples), path, samples)], path)
        if not isinstance(alike, Exception) and all(_same(alike, s) for s in others):
            return alike
        return self.tree([*samples, *others], path)

    def _pinned(self, samples: Sequence[Sample]) -> Forms:
        """The programs of these samples, for no other values."""
        found: list[Any] = [Unseen()] * len(samples[0].words)
        for s in samples:
            exact: list[Any] = [Template([_joined(w, n)]) for w, n in zip(s.words, s.numbers)]
            for name, value in s.values.items():
                least = -(symbols.variable(name, self.lengths.scope) - value) ** 2
                exact = [Cases(least, a, b) for a, b in zip(exact, found)]
            found = exact
        return found

    def _special(self, computed: Sequence[Any], path: decisions.Path, near: Sequence[Sample]) -> list[Values]:
        """Where computed lengths are 0 or 1, of each the least and another one."""
        found = []
        for x in computed[:_SPECIAL]:
            for k in (0, 1):
                there = sorted(decisions.places(self.lengths, [*path, (-(x - k) ** 2, True)], [s.values for s in near]), key=lambda v: max(v.values()))
                found += there[:2]
        return found

    def _all_at(self, values: Iterable[Values], path: decisions.Path) -> list[Sample]:
        return [s for v in values if on(path, v) and (s := self.at(v)) is not None]

    # -- all samples alike -------------------------------------------------------------------------------------------------------

    def leaf(self, samples: Sequence[Sample], family: Family) -> Forms:
        """The common form of the samples, one for each value of the family."""
        if len({(s.form, s.parts) for s in samples}) != 1:
            raise self._unlike(samples)
        return [self._template(family, [s.words[i] for s in samples], [s.numbers[i] for s in samples]) for i in range(len(samples[0].words))]

    def _template(self, family: Family, words: Sequence[Sequence[str]], numbers: Sequence[Sequence[str]]) -> Template:
        pieces: list[Any] = [words[0][0]]
        for word, column in zip(words[0][1:], zip(*numbers)):
            if len(set(column)) == 1:
                pieces[-1] += column[0] + word
                continue
            found = family.fit_text(column)
            if found is None:
                raise _NoExpression(column,
                    f"{self.name}: a number in the program depends on the symbolic dimensions {self.variables} in a way "
                    f"that is no polynomial: it is {', '.join(column[:4])} for {', '.join(map(str, family.samples[:4]))}, after "
                    f"{pieces[-1][-80:]!r}. Compute it from arrays; where only short axes differ, "
                    f"keep them out with a constraint such as '{self.lengths.names[0]} >= 5'; or export the program for each shape.")
            pieces += [found, word]
        return Template(pieces)

    def _unlike(self, samples: Sequence[Sample]) -> Exception:
        one, other = next(((a, b) for a in samples for b in samples if a.form != b.form), (samples[0], samples[0]))
        for a, b in zip(one.words, other.words):
            if a != b:
                at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)) - 1)
                return InconclusiveDimensionOperation(
                    f"{self.name}: the program's operations, not only its numbers, depend on the symbolic dimensions "
                    f"{self.variables}; for {values_text(one.values)} it continues with {a[at][:80]!r}, and for {values_text(other.values)} with "
                    f"{b[at][:80]!r}. Make it take the same form for all lengths; where only short axes "
                    f"differ, keep them out with a constraint such as '{self.lengths.names[0]} >= 5'; or export it for each shape.")
        return ValueError(f"{self.name}: the structure or the dtypes of its result depend on the symbolic "
                          f"dimensions {self.variables}")

    # -- a tree of forms ---------------------------------------------------------------------------------------------------------

    def tree(self, known: Sequence[Sample], path: decisions.Path) -> Forms:
        """The forms, told apart by conditions, and compared with the program at other values."""
        samples = _distinct(known)
        if len({s.parts for s in samples}) != 1:
            raise self._unlike(samples)
        longer = self.lengths.long(samples[0].values, LONGER)
        for seed in range(_ROUNDS):
            found = _attempt(lambda: self._grow(samples, path, 0))
            others = []
            if not isinstance(found, Exception):
                others = self._all_at([*itertools.islice(self.lengths.others(seed), _COMPARED), *longer], path)
                if all(_same(found, s) for s in others):
                    return found
            elif seed:
                raise found
            more = self._all_at(self.lengths.many(), path) if seed == 0 else []  # what is known is mostly enough, and each costs a trace
            samples = _distinct([*samples, *others, *more])
        raise self._unlike(samples) if len({s.form for s in samples}) > 1 else ValueError(
            f"{self.name}: the numbers of the program depend on the symbolic dimensions {self.variables} in a way that is not found")

    def _grow(self, samples: list[Sample], path: decisions.Path, depth: int) -> Forms:
        alike = len({s.form for s in samples}) == 1
        if alike and len(samples) < self._enough and not self._complete(samples, path):
            samples = self.some_on(path, samples)
            alike = len({s.form for s in samples}) == 1
        if alike:
            found = _attempt(lambda: self.leaf(samples, self.family(samples, path)))
            if not isinstance(found, Exception):
                return found
            best = self._parts_numbers(samples, found) if depth < _DEEPEST else None
            if best is None:
                raise found
            return self._branch(self._parted(samples, best), best, path, depth)
        if depth >= _DEEPEST:
            raise self._unlike(samples)
        best = min(self._conditions(samples), key=lambda c: sum(map(_impurity, self._parted(samples, c))), default=None)
        if best is None or sum(map(_impurity, self._parted(samples, best))) >= _impurity(samples):
            raise self._unlike(samples)
        samples, best = self._sharpened(samples, best, path)
        return self._branch(self._parted(samples, best), best, path, depth)

    def _parts_numbers(self, samples: Sequence[Sample], error: Exception) -> Any:
        """A condition by which the number that is no expression becomes one of two, or None."""
        if not isinstance(error, _NoExpression) or not all(t.isdigit() for t in error.column):
            return None
        number = {tuple(s.values.values()): int(t) for s, t in zip(samples, error.column)}

        def fits(part: Sequence[Sample], thorough: bool) -> bool:
            family = Family(self.lengths.names, self.lengths.scope, [s.values for s in part], self.lengths.admits)
            return (family.fits if thorough else family.polynomial)([number[tuple(s.values.values())] for s in part]) is not None

        for condition in self._conditions(samples):
            parts = self._parted(samples, condition)
            few = 0 < min(map(len, parts)) <= _FEW  # the shortest lengths are so often another case that more is tried for them
            if all(parts) and all(fits(part, few) for part in parts):
                return condition
        return None

    def _branch(self, parted: Sequence[list[Sample]], least: Any, path: decisions.Path, depth: int) -> Forms:
        yes, no = (self._grow(part, [*path, (least, which)], depth + 1) for part, which in zip(parted, (True, False)))
        return [Cases(least, a, b) for a, b in zip(yes, no)]

    def _complete(self, samples: Sequence[Sample], path: decisions.Path) -> bool:
        """Whether no other values fulfil the conditions of the path."""
        if len(self.lengths.names) != 1 or not path:
            return self.lengths.few().complete and len(samples) >= len(self.lengths.few().samples)
        known = [s.values for s in samples]
        return all(v in known for v in decisions.places(self.lengths, path))

    def _conditions(self, samples: Sequence[Sample]) -> Iterator[Any]:
        """Expressions that part the values of the samples by whether they are 0 or more; the likeliest first."""
        for x in self.computed(self.family(samples, []), samples):
            yield from [-(x - k) ** 2 for k in (0, 1)]
        atoms = {name: symbols.variable(name, self.lengths.scope) for name in self.lengths.names}
        for name, v in atoms.items():
            known = sorted({s.values[name] for s in samples})
            for k in known[:-1]:
                yield k - v
            for k in known[1:-1]:
                yield -(v - k) ** 2
        for a, b in itertools.permutations(atoms.values(), 2):
            yield b - a
            yield b - a - 1
        for v in [*atoms.values(), *[a + b for a, b in itertools.combinations(atoms.values(), 2)]]:
            for m in _MODULI:
                for r in range(m):
                    rest = (v - r) % m
                    if symbols.is_symbolic_dim(rest):
                        yield -rest

    def _parted(self, samples: Sequence[Sample], least: Any) -> tuple[list[Sample], list[Sample]]:
        yes = [s for s in samples if symbols.evaluate(least, s.values) >= 0]
        return yes, [s for s in samples if symbols.evaluate(least, s.values) < 0]

    def _sharpened(self, samples: list[Sample], least: Any, path: decisions.Path) -> tuple[list[Sample], Any]:
        """A condition that a variable is at most a number, with the largest such number: forms between two samples are looked at."""
        names = symbols.variables(least)
        if len(names) != 1 or any(atom.kind is not None for product in least.terms for atom, _ in product):
            return samples, least
        name, = names
        yes, no = self._parted(samples, least)
        forms = {s.form for s in yes}
        low, high = max(yes, key=lambda s: s.values[name]), min(no, key=lambda s: s.values[name])
        start, added = low.values[name], []
        while high.values[name] - start > 1:
            middle = (start + high.values[name]) // 2
            found = next((s for n in (middle, *range(start + 1, high.values[name])) if self.lengths.admits(
                v := {**high.values, name: n}) and on(path, v) and (s := self.at(v)) is not None), None)
            if found is None or found in added:
                break
            added.append(found)
            if found.form in forms:
                start = found.values[name]
            else:
                high = found
        return _distinct([*samples, *added]), start - symbols.variable(name, self.lengths.scope)


def _impurity(samples: Sequence[Sample]) -> int:
    """How many of the samples have another form than most."""
    return len(samples) - max(Counter(s.form for s in samples).values(), default=0)


def _distinct(samples: Sequence[Sample]) -> list[Sample]:
    return list({tuple(s.values.values()): s for s in samples}.values())
