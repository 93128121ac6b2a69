"""Our own checks in a child process, so that neither a crash nor a program that never ends ends the run.

Run as a module it is a server, as `outcome` is: a line is a check's name and a program, its answer what differs, as an outcome of that kind.
"""
from __future__ import annotations

from typing import Any, Callable

from fuzz import checks, outcome
from fuzz.checks import Difference
from fuzz.grammar import Program
from fuzz.outcome import Outcome
from fuzz.reference import Interpreter


def apart(child: Interpreter) -> dict[str, Callable[[Program], Difference]]:
    """`checks.CHECKS`, as ``child``, which runs this module, finds them."""
    def asked(name: str) -> Callable[[Program], Difference]:
        def check(program: Program) -> Difference:
            child.start((name, program))
            kind, words, *_ = child.finish()[0]
            return (kind, words) if kind else None
        return check
    return {name: asked(name) for name in checks.CHECKS}


def _answer(asked: Any) -> list[Outcome]:
    name, program = asked
    kind, words, *_ = checks.CHECKS[name](Program(*program)) or ("", "")
    return [Outcome(kind, words, "", ())]


if __name__ == "__main__":
    outcome.serve(_answer)
