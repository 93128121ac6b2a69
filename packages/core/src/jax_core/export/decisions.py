"""Which ways a traced function takes for which values of the symbolic dimensions, from what its traces decided (`traces.lengths`).

The first question of all samples is the same, whether an expression in the variables is 0 or more; its answer says what is asked next: a tree.
Each answer that no sample has is looked for among many values. Where none is found, there is no program: a call with such lengths, should there be
some, is refused.
"""
from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ..representation.errors import InconclusiveDimensionOperation
from ..traces import lengths as trails
from . import symbols
from .families import Family, Lengths, Values
from .templates import Cases, Unseen

if TYPE_CHECKING:
    from .forms import Finder, Forms, Sample

Path = list[tuple[Any, bool]]
"""Conditions: expressions, and whether they are 0 or more."""

_DEEPEST = 12
_FURTHEST = 200_000
_GRID = [*range(1, 130), *[k + d for k in (192, 256, 384, 512, 768, 1024, 1536, 2048, 3000, 4096, 8192, 16384, 32768, 65536, 100_000, 131_072)
                           for d in (-1, 0, 1)], _FURTHEST]
_BASES = 8


def on(path: Sequence[tuple[Any, bool]], values: Values) -> bool:
    """Whether the values fulfil the conditions."""
    return all((symbols.evaluate(c, values) >= 0) == which for c, which in path)


def tree(finder: "Finder", samples: list["Sample"], leaf: Callable[[list["Sample"], Path], "Forms"], at: int = 0, path: Path | None = None) -> "Forms":
    """The forms of the program: ``leaf`` makes those of samples that decide alike, and fulfil the conditions of a path.

    Raises:
      InconclusiveDimensionOperation: what the program decides by cannot be found, or it decides too much.
    """
    path = path or []
    while True:
        asked = {s.trail.events[at] if at < len(s.trail.events) else None for s in samples}
        term = asked.pop()
        if term is None or asked:  # the end, or code that our own code ran for some lengths only
            return leaf(samples, path)
        least = expression(finder.family(samples, path), samples, term)
        if least is None:
            raise finder.unfollowed(samples, term)
        if not symbols.is_symbolic_dim(least):
            known = least >= 0
        elif any(str(c) == str(least) for c, _ in path):
            known = next(which for c, which in path if str(c) == str(least))
        else:
            low, high = symbols.symbolic_dim_bounds(least)
            known = True if low >= 0 else False if high < 0 else None
        if known is None:
            break
        if any(s.trail.outcomes[at] != known for s in samples):
            raise finder.unfollowed(samples, term)
        at += 1
    if len(path) >= _DEEPEST:
        raise InconclusiveDimensionOperation(
            f"{finder.name}: the function compares the symbolic dimensions {finder.variables} more than {_DEEPEST} times to find its way; "
            "export it for each shape.")
    parts = []
    for which in (True, False):
        part = [*path, (least, which)]
        some = finder.some_on(part, [s for s in samples if (symbols.evaluate(least, s.values) >= 0) == which], samples)
        if any(s.trail.events[:at] != samples[0].trail.events[:at] or s.trail.events[at:at + 1] != [term] or s.trail.outcomes[at] != which
               for s in some):
            raise finder.unfollowed(samples, term)
        parts.append(tree(finder, some, leaf, at + 1, part) if some else [Unseen()] * len(samples[0].words))
    return [a if isinstance(a, Unseen) and isinstance(b, Unseen) else Cases(least, a, b) for a, b in zip(*parts)]


def straight(finder: "Finder", samples: list["Sample"]) -> tuple[list["Sample"], Path]:
    """Samples that decide alike, where one program is to hold for all lengths, and the conditions that they fulfil: lengths of which it is
    not known whether they are equal count as different.

    Raises:
      InconclusiveDimensionOperation: another comparison of lengths has no answer that holds for all of them.
    """
    path: Path = []
    at = 0
    while True:
        asked = {s.trail.events[at] if at < len(s.trail.events) else None for s in samples}
        term = asked.pop()
        if term is None or asked:
            return samples, path
        family = finder.family(samples, path)
        least = expression(family, samples, term)
        if least is None:
            raise finder.unfollowed(samples, term)
        known = None
        if not symbols.is_symbolic_dim(least):
            known = least >= 0
        elif not any(str(c) == str(least) for c, _ in path):
            low, high = symbols.symbolic_dim_bounds(least)
            known = True if low >= 0 else False if high < 0 else None
            if known is None and term[0] == "equal":
                path.append((least, False))
                samples = finder.some_on(path, [s for s in samples if not s.trail.outcomes[at]])
                at = 0
                if not samples:
                    raise finder.unfollowed([*finder.few], term)
                continue
            if known is None:
                a, b = (expression(family, samples, part) for part in term[1:])
                raise InconclusiveDimensionOperation(
                    f"{finder.name}: the function goes another way where '{a}' >= '{b}' than where it is not, and one program is asked for. Say with "
                    f"constraints which it is, as in symbolic_shape(..., constraints=['{a} >= {b}']), trace it for each shape, or use jax.export, "
                    "which keeps both ways.")
        at += 1


def expression(family: Family, samples: Sequence["Sample"], term: trails.Term) -> Any:
    """The term of the samples' trails as an expression in the variables, or None."""
    def number(i: int) -> Any:
        found = family.fits([s.trail.numbers[i] for s in samples]) if all(i < len(s.trail.numbers) for s in samples) else None
        if found is None:
            raise ValueError
        return found
    try:
        return trails.expression(term, number)
    except (ValueError, TypeError, ZeroDivisionError, NotImplementedError, InconclusiveDimensionOperation):
        return None


def places(lengths: Lengths, path: Sequence[tuple[Any, bool]], near: Sequence[Values] = ()) -> list[Values]:
    """Values that fulfil the conditions, as many as are found, of each region some; those ``near`` fulfil nearly all."""
    constants = sorted({int(c) for expr, _ in path for c in re.findall(r"\d+", str(expr))})
    extra = {c * k + d for c in constants for k in (1, 2, 3) for d in (-1, 0, 1)} | {a + b for a, b in itertools.combinations(constants, 2)}
    grid = sorted({*_GRID, *[n for n in extra if 0 < n < _FURTHEST]})
    bases = list(itertools.islice(itertools.chain(near[:_BASES // 2], _bases(lengths)), 1 if len(lengths.names) == 1 else _BASES))
    found: dict[tuple, Values] = {}

    def add(values: Values) -> None:
        if lengths.admits(values) and on(path, values):
            found[tuple(values.values())] = values
    for base in bases:
        add(base)
        for name in lengths.names:
            line = [n for n in grid if lengths.admits({**base, name: n})] if len(lengths.names) == 1 else grid
            for expr, _ in path:
                if name in symbols.variables(expr):
                    line = sorted({*line, *_turns(expr, base, name, line)})
            for n in line:
                add({**base, name: n})
    return list(found.values())


def _bases(lengths: Lengths) -> Iterator[Values]:
    yield from lengths.few().samples[:2]
    for seed in range(4):
        yield from itertools.islice(lengths.others(seed), _BASES)


def _turns(expr: Any, base: Values, name: str, line: Sequence[int]) -> set[int]:
    """Lengths about which the expression changes its sign, or, as the square of a difference does where it is 0, its direction."""
    @functools.cache
    def value(n: int) -> int:
        return symbols.evaluate(expr, {**base, name: n})
    found: set[int] = set()
    for sign in (lambda n: value(n) >= 0, lambda n: value(n + 1) >= value(n)):
        for low, high in itertools.pairwise(line):
            first = sign(low)
            if first == sign(high):
                continue
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if sign(middle) == first else (low, middle)
            found.update(n for n in range(low - 2, high + 3) if n > 0)
    return found
