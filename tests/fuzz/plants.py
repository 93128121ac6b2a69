"""Mistakes planted in ours, to see how many programs it takes until each is caught: `python -m fuzz --plants`.

Run as a module with a plant's name it is `outcome`'s server with that mistake. The judge is ours without it, so that whatever differs
is the plant's doing.
"""
from __future__ import annotations

import functools
import re
import sys
from typing import Callable, Iterable, Iterator, NamedTuple

import jax
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


def _wrong_slope() -> None:
    """The slope of `tanh` is off by a hundredth."""
    rule, = lax.tanh_p.jvp
    lax.tanh_p.jvp = (lambda g, out, x, **params: lax.mul(rule(g, out, x, **params), lax.full_like(g, 1.01)),)


def _nan_lost() -> None:
    """`maximum` takes what is not NaN."""
    jnp.maximum = jnp.fmax


def _infinity_lost() -> None:
    """`exp` ends at the largest number."""
    right = jnp.exp
    jnp.exp = lambda x: jnp.where(jnp.isposinf(right(x)), jnp.finfo(right(x).dtype).max, right(x)).astype(right(x).dtype)


def _scan_order() -> None:
    """`scan` of an odd length that starts at the end starts at the beginning."""
    right = lax.scan

    @functools.wraps(right)
    def scan(f, init, xs=None, length=None, reverse=False, **options):
        first = jax.tree.leaves(xs)[:1]
        return right(f, init, xs, length, reverse and not (first and first[0].shape[0] % 2), **options)
    lax.scan = scan


PLANTS: dict[str, Callable[[], None]] = {
    "jvp at a tie": _jvp_at_a_tie, "batch axis": _batch_axis, "dtype": _dtype, "weak type": _weak_type, "index mode": _index_mode, "slope": _wrong_slope,
    "NaN": _nan_lost, "infinity": _infinity_lost, "scan": _scan_order}


MENTIONED = {"dtype": r"arctan\b", "weak type": r"square\b", "index mode": r"take\b", "NaN": r"maximum\b", "infinity": r"exp\b", "scan": r"scan\b"}  # without which a program cannot tell


class Caught(NamedTuple):
    """The plant, how many programs it took, the last of them, and what differs."""
    plant: str
    programs: int
    program: Program
    found: tuple[str, str]


def caught(plants: Iterable[str], programs: int, seed: int = 0) -> Iterator[Caught]:
    """The plants that make a difference within ``programs``, each as soon as it does. All run side by side, beside one judge, so that a
    run that is cut short has said what it knows."""
    judge, children = Interpreter.ours(), {plant: Interpreter.ours(("-m", "fuzz.plants", plant)) for plant in plants}
    try:
        for number in range(programs):
            program = grammar.draw(f"{seed}.{number}", staged=0.95, compiled=0.05, nested=0.15)
            for plant, child in list(children.items()):
                if re.search(MENTIONED.get(plant, ""), program.full) and (found := checks.against(child, judge)(program)):
                    children.pop(plant).close()
                    yield Caught(plant, number + 1, program, found)
            if not children:
                return
    finally:
        for child in (judge, *children.values()):
            child.close()


def report(programs: int, seed: int) -> Iterator[str]:
    """A line for each plant."""
    left = dict.fromkeys(PLANTS)
    for plant, number, _, found in caught(PLANTS, programs, seed):
        del left[plant]
        yield f"{plant}: program {number}, {found[0]}"
    for plant in left:
        yield f"{plant}: not caught by {programs} programs"


if __name__ == "__main__":
    PLANTS[sys.argv[1]]()
    outcome.serve()
