"""What explains a difference of values. Whether rounding does (`explains`): both sides run the same program once more, in double precision.

Where they agree there, that is what the program computes, and the difference counts only where ours is further from it than twice as far
as the other one, and the tolerance. Neither a wrong derivative nor a lost infinity passes for rounding: wrong ones differ in double precision, too,
and what is not finite there, or beyond the narrow dtype's range, must be so in what ours gave.

Whether a NaN of the other side is a hole (`is_limit`): most are of slopes, at the ends of a domain, at infinity, and where a formula divides 0 by 0.
"""
from __future__ import annotations

import re
from typing import Any, Callable

import ml_dtypes
import numpy as np

from fuzz.outcome import Outcome

TOLERANCE = {"bfloat16": 0.06, "float16": 8e-3, "float32": 3e-3, "complex64": 3e-3, "float64": 1e-7, "complex128": 1e-7, "float8_e4m3fn": 0.15, "float8_e5m2": 0.3}  # of the largest element
KINDS = ("value", "NaN", "no NaN", "infinity")
NARROW = re.compile(r"random(?!\.(key|PRNGKey|clone|split|fold_in|key_data|wrap_key_data)\()|float8|reduce_precision|bitcast|\.view\(")  # what another precision makes of it is another thing
LARGEST = {"bfloat16": 3.4e38, "float16": 65504.0, "float32": 3.4e38, "complex64": 3.4e38}


def wide(text: str) -> str:
    """What a program computes, in double precision."""
    lines = [line for line in _doubled(text).splitlines() if "x64" not in line]
    return "\n".join(["jax.config.update('jax_enable_x64', True)", *lines])


def _doubled(text: str) -> str:
    return re.sub(r"\b(bfloat16|float16|float32)\b", "float64", text.replace("complex64", "complex128"))


def widened(text: str) -> str:
    """The program that computes in double precision what ``text`` does of the same arguments, as they are in their dtypes."""
    body, _, rest = text.rpartition("\nargs = ")
    arguments, _, route = rest.rpartition("\nout = ")
    return f"{wide(body)}\nargs = as_wide({arguments})\nout = {_doubled(route)}"


def explains(gave: tuple[Outcome, Outcome], texts: tuple[str, str], run: tuple[Callable[[str], Outcome], Callable[[str], Outcome]]) -> bool:
    """Whether rounding is all that is between what two sides, ours first, gave for their text of a program."""
    if any(map(NARROW.search, texts)):
        return False
    exact, again = (side(widened(text)) for side, text in zip(run, texts))
    if exact.error or again.error or not len(exact.leaves) == len(again.leaves) == len(gave[0].leaves):
        return False
    return all(_closer(*leaves) for leaves in zip(*(outcome.leaves for outcome in gave), exact.leaves, again.leaves, strict=True))


SEEDS = range(6)
EPSILON = {name: float(ml_dtypes.finfo(name).eps) / 2 for name in TOLERANCE if "float8" not in name}


def _beside(text: str, distance: float, run: Callable[[str], Outcome]) -> list[Outcome]:
    """What the program gives of arguments moved by about ``distance``, for each seed."""
    body, _, rest = text.rpartition("\nargs = ")
    arguments, _, route = rest.rpartition("\nout = ")
    return [run(f"{body}\nargs = near({arguments}, {distance}, {seed})\nout = {route}") for seed in SEEDS]


def is_among(gave: tuple[Outcome, Outcome], text: str, run: Callable[[str], Outcome]) -> bool:
    """Whether what ours, the first, gave lies among what the other side does of arguments that differ from ``text``'s by the last digits:
    steps that cancel make so much of rounding."""
    narrow = [EPSILON[leaf.dtype] for leaf in gave[0].leaves if leaf.dtype in EPSILON]
    if not narrow:
        return False
    beside = _beside(text, 4 * max(narrow), run)
    if any(other.error or len(other.leaves) != len(gave[0].leaves) for other in beside):
        return False
    with np.errstate(all="ignore"):
        return all(_between(ours, [other.leaves[i] for other in (gave[1], *beside)]) for i, ours in enumerate(gave[0].leaves))


def _between(ours: Any, others: list) -> bool:
    if ours.dtype not in EPSILON:
        return bool(np.array_equal(ours.value, others[0].value))
    if any(np.shape(other.value) != np.shape(ours.value) for other in others):
        return False
    a, b = _parts(ours), np.stack([_parts(other) for other in others])
    slack = TOLERANCE[ours.dtype] * _largest(b[0])
    return bool(np.all((a == b[0]) | np.isnan(a) & np.isnan(b[0]) | (b.min(0) - slack <= a) & (a <= b.max(0) + slack)))


def is_limit(gave: tuple[Outcome, Outcome], text: str, run: Callable[[str], Outcome]) -> bool:
    """Whether ours, the first, has a number only where the other side has a hole: what that one, which ``run`` asks, gives of arguments
    beside ``text``'s comes to the number from wherever it comes."""
    if NARROW.search(text):
        return False
    beside = [_beside(widened(text), distance, run) for distance in (1e-3, 1e-5)]
    if any(outcome.error or len(outcome.leaves) != len(gave[0].leaves) for outcomes in beside for outcome in outcomes):
        return False
    with np.errstate(all="ignore"):
        return all(_approached(got, want, *([outcome.leaves[i] for outcome in outcomes] for outcomes in beside)) for i, (got, want) in enumerate(zip(gave[0].leaves, gave[1].leaves)))


def _parts(leaf: Any) -> np.ndarray:
    x = np.asarray(leaf.value, np.complex128).reshape(-1)
    return np.concatenate([x.real, x.imag])


def _approached(got: Any, want: Any, farther: list, nearer: list) -> bool:
    tolerance = TOLERANCE.get(got.dtype)
    if tolerance is None or "float0" in got.dtype:
        return not got.dtype or np.array_equal(got.value, want.value)
    a, b = _parts(got), _parts(want)
    if any(leaf.value is None or np.shape(leaf.value) != np.shape(got.value) for leaf in (*farther, *nearer)):
        return False
    far, close = (np.stack([_parts(leaf) for leaf in leaves]) for leaves in (farther, nearer))
    there = ~np.isnan(close) & ~np.isnan(far)
    size = np.maximum(np.abs(a), 1)
    grows = (np.sign(close) == np.sign(a)) & (np.abs(close) > np.minimum(1.05 * np.abs(far), LARGEST.get(got.dtype, 1e300)))
    comes = np.where(np.isinf(a), grows, np.abs(close - a) <= (tolerance + 0.01) * size)
    limit = (there.sum(0) > 1) & (comes | ~there).all(0)
    alike = (a == b) | np.isnan(a) & np.isnan(b) | (np.abs(a - b) <= tolerance * max(_largest(b), 0.03))
    return bool(np.all(np.where(np.isnan(b) & ~np.isnan(a), limit, alike)))


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x[np.isfinite(x)]).max(initial=0))


def _closer(got: Any, want: Any, exact: Any, again: Any) -> bool:
    if not got.dtype or "float0" in got.dtype:
        return True
    tolerance = TOLERANCE.get(got.dtype)
    with np.errstate(all="ignore"):
        if tolerance is None:  # no rounding
            return np.array_equal(got.value, want.value)
        a, b, c, d = (np.asarray(leaf.value, np.complex128).reshape(-1) for leaf in (got, want, exact, again))
        a, b, c, d = (np.concatenate([x.real, x.imag]) for x in (a, b, c, d))
        if not a.shape == b.shape == c.shape == d.shape:
            return False
        size = max(_largest(c), _largest(a - b))  # what is left of a difference in double precision
        if not np.all((c == d) | np.isnan(c) & np.isnan(d) | (np.abs(c - d) <= 1e-6 * size)):
            return False
        c = np.where(np.abs(c) > LARGEST.get(got.dtype, np.inf), np.copysign(np.inf, c), c)
        size = _largest(c)
        if got.dtype == "float16" and size > LARGEST["float16"] / 16:  # some step went beyond the range
            c = np.where(np.isfinite(a), c, a)
        size = max(size, 0.03)  # what is left where terms of size 1 cancel
        same = (a == c) | np.isnan(a) & np.isnan(c) | (np.abs(a - c) <= tolerance * size)
        same |= ~(np.isfinite(a) | np.isfinite(b)) & np.isfinite(c)  # both went beyond the range on the way, and what is left of that says nothing
        other = max(2 * _largest(b - c), 0.25 * size * (got.dtype in ("float16", "bfloat16") and not np.isfinite(b[np.isfinite(c)]).all()))  # one that overflowed says nothing
        return bool(np.all(same | (np.abs(a - c) <= other + tolerance * size)))
