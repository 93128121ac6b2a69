"""Programs, one after another: drawn, checked, and what differs shrunk."""
from __future__ import annotations

import collections
import re
import time
from typing import Callable, Iterator, NamedTuple

from fuzz import deliberate, grammar, shrink
from fuzz.checks import CHECKS, Difference
from fuzz.grammar import Program

HANGS = 5  # tries to shrink a program that does not answer: each waits


class Found(NamedTuple):
    seed: str
    check: str
    kind: str
    words: str
    text: str

    def __str__(self):
        return f"# seed {self.seed}, check {self.check}: {self.kind}: {self.words}\n{self.text}\n"


def _shrunk(program: Program, check: Callable[[Program], Difference], kind: str, tries: int) -> Program:
    def remade(text: str) -> Program:
        body, _, route = text.rpartition("\nout = ")
        return program._replace(text=body, route=route)

    def differs(text: str) -> bool:
        try:
            found = check(remade(text))
        except Exception:
            return False
        return found is not None and found[0] == kind and "NameError" not in found[1]  # it lost a line that it needs
    return remade(shrink.shrink(program.full, differs, tries))


def _sliced(program: Program, check: Callable[[Program], Difference], kind: str) -> Program:
    """The program with one of its results, and the lines that this one needs, if they still differ."""
    if grammar.NESTED in program.categories:
        return program
    before, returned, after = program.text.partition("    return ")
    results, _, arguments = after.partition("\n")
    start, *lines = re.split(r"^    (?=\w = )", before, flags=re.M)
    for result in results.split(", ") if returned else []:
        wanted, kept = {result}, []
        for line in reversed(lines):
            name, _, value = line.partition(" = ")
            if name in wanted:
                kept.append(f"    {line}")
                wanted |= set(re.findall(r"\b[a-z]\b", value))
        text = f"{start}{''.join(reversed(kept))}    return {result}\n{arguments}"
        if len(text) < len(program.text):
            slice_ = program._replace(text=text)
            if (found := check(slice_)) and found[0] == kind:
                return slice_
    return program


def _refusing(program: Program, check: Callable[[Program], Difference], kind: str) -> str:
    """The program with the one line that makes the difference; its settings, arguments and route with it."""
    if grammar.NESTED in program.categories:
        return program.full
    before, returned, after = program.text.partition("    return ")
    start, *lines = re.split(r"^    (?=\w = )", before, flags=re.M)
    arguments = after.partition("\n")[2]
    for i, line in enumerate(lines if returned else []):
        name = line.partition(" = ")[0]
        text = f"{start}{''.join(f'    {earlier}' for earlier in lines[:i + 1])}    return {name}\n{arguments}"
        if (found := check(program._replace(text=text))) and found[0] == kind:
            return program._replace(text=f"{start}    {line}    return {name}\n{arguments}").full
    return program.full


def run(seed: int, checks: dict[str, Callable[[Program], Difference]], *, programs: int | None = None, seconds: float | None = None,
        tries: int = 400, first: int = 0, counts: collections.Counter | None = None, staged: float = 0.0, calls: float = 0.25, compiled: float = 1.0, nested: float = 0.0,
        instead: dict[str, float] | None = None) -> Iterator[Found]:
    """What differs without a declared reason, as it is found; ``programs`` or ``seconds`` bound the run, ``counts`` counts programs by
    category, ``staged``, ``calls``, ``compiled``, ``nested`` and ``instead`` are `grammar.draw`'s shares."""
    ends = None if seconds is None else time.monotonic() + seconds
    number = first
    while (programs is None or number < first + programs) and (ends is None or time.monotonic() < ends):
        name = f"{seed}.{number}"
        number += 1
        program = grammar.draw(name, staged, calls, compiled, nested, instead)
        if counts is not None:
            counts.update({"programs": 1, **dict.fromkeys(program.categories, 1)})
        for what, check in checks.items():
            found = check(program)
            alone = found is not None and what in CHECKS
            if alone:  # runs f in its own ways
                program = program._replace(route="f(*args)", others=())
            elif found and program.others:  # in stages: which one
                program = [*program.apart()][found[2]]
            rows = deliberate.OWN if alone else deliberate.DIFFERENT
            if found and found[0].startswith(("accepts", "class")) and deliberate.refused(found[1], _refusing(program, check, found[0])):
                if counts is not None:
                    counts["deliberately different"] += 1
            elif found and (small := _sliced(program, check, found[0])).text.count("\n    ") == 2 and deliberate.reason(found[0], small.full, found[1], rows):
                if counts is not None:  # one line, and it says why
                    counts["deliberately different"] += 1
            elif found:
                small = _shrunk(small, check, found[0], min(tries, HANGS) if "no answer" in found[0] else tries)
                kind, words, *_ = check(small) or found
                if deliberate.reason(kind, small.full, words, rows) is None:
                    yield Found(name, what, kind, words[:500], small.full)
                elif counts is not None:
                    counts["deliberately different"] += 1
