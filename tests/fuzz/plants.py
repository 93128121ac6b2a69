"""Mistakes planted in ours, to see how many programs it takes until each is caught: `python -m fuzz --plants`.

Run as a module with a plant's name it is `outcome`'s server with that mistake. The judge is ours without it, so that whatever differs
is the plant's doing.
"""
from __future__ import annotations

import functools
import sys
from typing import Callable, Iterator

import jax.numpy as jnp
from fuzz import checks, grammar, outcome
from fuzz.grammar import Program
from fuzz.reference import Interpreter
from jax import lax


def _jvp_at_a_tie() -> None:
    """The first operand of `max` takes all of the derivative where both are equal."""
    lax.max_p.jvp = (lambda g, out, x, y: lax.select(lax.ge(x, y), g, lax.zeros_like_array(g)),
                     lambda g, out, x, y: lax.select(lax.gt(y, x), g, lax.zeros_like_array(g)))


def _batch_axis() -> None:
    """`rev` under vmap turns the dimensions that it would turn outside of it."""
    lax.rev_p.batch = lambda axis, args, dims, *, dimensions: (lax.rev(args[0], dimensions), dims[0])


def _dtype() -> None:
    """`arctan` is computed and left in single precision."""
    right = jnp.arctan
    jnp.arctan = lambda x: right(x).astype("float32")


def _weak_type() -> None:
    """`square` forgets that its argument is weak."""
    right = jnp.square
    jnp.square = lambda x: lax.convert_element_type(right(x), right(x).dtype)


def _index_mode() -> None:
    """`take` clips an index that is outside, where it should give NaN."""
    right = jnp.take
    jnp.take = functools.wraps(right)(lambda a, i, axis=None, mode="clip": right(a, i, axis=axis, mode=mode))


PLANTS: dict[str, Callable[[], None]] = {"jvp at a tie": _jvp_at_a_tie, "batch axis": _batch_axis, "dtype": _dtype, "weak type": _weak_type,
                                         "index mode": _index_mode}


def caught(plant: str, programs: int, seed: int = 0) -> tuple[int, Program, tuple[str, str]] | None:
    """How many programs it took until the plant made a difference, which program that was, and the difference; None if none of ``programs`` did."""
    planted, judge = Interpreter.ours(("-m", "fuzz.plants", plant)), Interpreter.ours()
    try:
        check = checks.against(planted, judge)
        for number in range(programs):
            program = grammar.draw(f"{seed}.{number}", staged=0.85)
            if found := check(program):
                return number + 1, program, found
        return None
    finally:
        planted.close()
        judge.close()


def report(programs: int, seed: int) -> Iterator[str]:
    """A line for each plant."""
    for plant in PLANTS:
        found = caught(plant, programs, seed)
        yield f"{plant}: {f'program {found[0]}, {found[2][0]}' if found else f'not caught by {programs} programs'}"


if __name__ == "__main__":
    PLANTS[sys.argv[1]]()
    outcome.serve()
