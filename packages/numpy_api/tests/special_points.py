"""The law of special points: value and derivative of an elementwise function where formulas tend to fail.

A row is a function and its exact counterpart, of mpmath's numbers:

    At(lax.log1p, mp.log1p, points="-1.5")                     # more points than the common ones: branch points, edges
    At(jax.nn.relu, lambda x: max(x, 0), at={0: 0})            # a kink must say its derivative
    At(jnp.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)))      # two operands: all pairs, ties among them

The law tries, in float32, zeros of both signs, small and half-integers, powers of ten, the largest number, subnormals, the
infinities and NaN, and asks of each point:

    value       is that of the exact function, rounded. Where that raises or is complex, nothing is asked.
    derivative  by `jvp` and by `vjp` is the limit of the difference quotients from both sides; from one, where the function ends.
                Where the two differ there is a kink, and the row says which number we give (docs/special-points.md, why).
                At infinity it is the limit of the derivative. Where the value is NaN, nothing is asked.
    NaN         an operand that is NaN gives NaN, and a derivative that is NaN.

A compiled program may take subnormals for zero, so at these both answers are right.
"""
from __future__ import annotations

import inspect
import itertools
from typing import Callable

import numpy as np
from mpmath import mp

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import jvp, vjp

_FLOAT32 = np.finfo(np.float32)
LARGEST, TINY, EPS = float(_FLOAT32.max), float(_FLOAT32.tiny), float(_FLOAT32.eps)
NAN, INF = float("nan"), float("inf")
SUBNORMAL = float(np.float32(1e-40))
ONE = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, 20.0, -20.0, 88.0, -88.0, 104.0, -104.0,
       1e-3, 1e-30, -1e-30, 1e30, -1e30, SUBNORMAL, -SUBNORMAL, LARGEST, -LARGEST, INF, -INF, NAN]
EACH = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.5, 1e-30, 1e30, -1e30, SUBNORMAL, INF, -INF, NAN]
ASK = "ask the exact function"  # the answer of a row that has none of its own
_DIGITS = 160                   # of mpmath's arithmetic: steps of 1e-20 at 1e80 leave 60
FLUSHED = 128 * TINY           # subnormals are taken for zero, also within a formula that scales them
_STEPS = mp.mpf(10) ** -20, mp.mpf(10) ** -30
_FAR = 10 ** 60, 10 ** 80       # where limits at infinity are looked for: beyond float32's other numbers


class At:
    """One elementwise function at its special points.

    Args:
      fun: of float32 arrays.
      exact: the same of mpmath's numbers, as many as ``fun`` has operands.
      points: more points, as text: numbers separated by blanks, those of one point by commas.
      at: derivatives to expect in place of the limits: a dictionary by points, or a function of the operands that returns `ASK`
        where it has none. An answer is a number, a tuple of one for each operand, or None, where nothing is asked.
      value: values to expect in place of ``exact``'s, in the same form.
      nan: the derivative where an operand is NaN; None asks nothing.
      units: by which a value may be off, in float32's precision; a derivative may be off by as much of 1 besides.
      slack: in units of 1, by which values may be off besides: of functions that are not exact at their zeros.
      grid: numbers to try for each operand in place of the common ones.
      arity: number of operands; without it, that of ``exact``'s parameters.
      name: in place of the function's.
    """

    def __init__(self, fun: Callable, exact: Callable, *, points: str = "", at=None, value=None, nan=NAN, units: float = 32,
                 slack: float = 0.0, grid=None, arity: int | None = None, name: str | None = None):
        self.fun, self.exact, self.units, self.slack, self.nan = fun, exact, units, slack, nan
        self.name = name or getattr(fun, "__name__", str(fun))
        self.arity = arity or _parameters(exact)
        grid = grid or (ONE if self.arity == 1 else EACH)
        more = [tuple(float(np.float32(v)) for v in p.split(",")) for p in points.split()]
        self.points = [*itertools.product([float(np.float32(v)) for v in grid], repeat=self.arity), *more]
        self.at, self.value = _answers(at), _answers(value)

    def __str__(self):
        return self.name

    def found(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, and derivatives by operand: forward and reverse; from one compiled program."""
        operands = [np.array(xs, np.float32) for xs in zip(*self.points)]

        def program(*xs):
            forward = [jvp(lambda x, k=k: self.fun(*xs[:k], x, *xs[k + 1:]), [xs[k]], [np.ones_like(operands[k])])[1]
                       for k in range(self.arity)]
            value, pullback = vjp(self.fun, *xs)
            return value, forward, pullback(np.ones_like(operands[0]))
        value, forward, reverse = jit(program)(*operands)
        return np.asarray(value), np.stack(forward), np.stack(reverse)


def _parameters(exact):
    """How many operands: mpmath's own functions, which take options besides, are of one."""
    kinds = inspect.signature(exact).parameters.values()
    return max(1, sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in kinds))


def _answers(told):
    if callable(told):
        return told
    by_point = {p if isinstance(p, tuple) else (p,): answer for p, answer in (told or {}).items()}
    return lambda *point: by_point.get(point, ASK)


# -- the law -------------------------------------------------------------------------------------------------------------

def special_points_law(row: At) -> None:
    """Every point of the row gives what it must; the message lists those that do not."""
    with mp.workdps(_DIGITS):
        wrong = list(_differences(row))
    assert not wrong, f"special points of {row.name}: " + "; ".join(wrong[:8]) + (f"; and {len(wrong) - 8} more" if len(wrong) > 8 else "")


def _differences(row):
    values, *derivatives = row.found()
    for i, point in enumerate(row.points):
        nearby = list(itertools.product(*([x, np.copysign(0.0, x)] if 0 < abs(x) < TINY else [x] for x in point)))
        shown = f"({', '.join(f'{x:.9g}' for x in point)})"
        wants = [_expected_value(row, p) for p in nearby]
        if not any(_fits(values[i], want, row.units, row.slack * EPS) for want in wants):
            yield f"value at {shown} is {values[i]}, expected {_shown(wants[0])}"
        below = any(x == 0 and np.signbit(x) for x in point)  # a function that ends at 0, as the square root, goes on at -0
        slack = 0 if max(map(abs, point)) > 1e6 else EPS  # far out a slope is small, and all of it counts
        for k in range(row.arity):
            wants = [_expected_derivative(row, p, k) for p in nearby]
            wrong = [(mode, got[k, i]) for mode, got in zip(("jvp", "vjp"), derivatives)
                     if not any(_fits(got[k, i], want, row.units, slack, below) for want in wants)]
            if wrong:
                which = f" by operand {k}" if row.arity > 1 else ""
                yield f"derivative{which} at {shown} is {' and '.join(f'{v} ({m})' for m, v in wrong)}, expected {_shown(wants[0])}"


def _shown(want):
    return want if isinstance(want, str) else f"{float(want):.9g}"


def _fits(got, want, units, slack, either=False):
    """Whether ``got`` is ``want``: a number, None for any, or a complaint, which nothing fits. Where ``either`` holds, infinity
    may have either sign."""
    if want is None:
        return True
    if isinstance(want, str):
        return False
    want = float(want)
    if np.isnan(want):
        return bool(np.isnan(got))
    if abs(want) > LARGEST * (1 - units * EPS):  # may be rounded to infinity
        return abs(got) > LARGEST * (1 - 2 * units * EPS) and (either or np.sign(got) == np.sign(want))
    return bool(abs(float(got) - want) <= units * (EPS * abs(want) + slack) + FLUSHED)


def _expected_value(row, point):
    told = row.value(*point)
    if told is not ASK:
        return told
    if any(np.isnan(x) for x in point):
        return NAN
    return _real(row.exact, *map(mp.mpf, point))


def _expected_derivative(row, point, k):
    told = row.at(*point)
    if told is not ASK:
        return told[k] if isinstance(told, tuple) else told
    if any(np.isnan(x) for x in point):
        return row.nan[k] if isinstance(row.nan, tuple) else row.nan
    value = _expected_value(row, point)
    if value is None or np.isnan(float(value)):
        return None
    far = [x for x in point if np.isinf(x)]
    if len(far) > 1:
        return None  # the limit depends on the way
    if far:
        return _limit([_quotient(row.exact, _finite(point, size), k, _STEPS[0]) for size in _FAR])
    size = min([mp.mpf(1), *(abs(mp.mpf(x)) for x in point if x)])  # of steps that reach no other operand, and not past 0
    sides = [_limit([_quotient(row.exact, _finite(point), k, side * size * step) for step in _STEPS]) for side in (-1, 1)]
    sides = [s for s in sides if s is not None]
    if len(sides) == 2 and not _alike(*sides):
        return f"{mp.nstr(sides[0], 6)} from below or {mp.nstr(sides[1], 6)} from above: a kink, which the row must tell"
    return sides[0] if sides else None


def _finite(point, size=0):
    return [mp.sign(x) * size if np.isinf(x) else mp.mpf(x) for x in point]


def _real(exact, *xs):
    """The exact function's real value, or None where it has none."""
    try:
        out = mp.mpmathify(exact(*xs))
    except (ValueError, ZeroDivisionError, OverflowError, mp.NoConvergence):
        return None
    if isinstance(out, mp.mpc):
        out = out.real if abs(out.imag) < mp.mpf(10) ** -60 else None
    return out


def _quotient(exact, point, k, step):
    """The difference quotient by operand ``k``; where the value is infinite, that beside it."""
    values = []
    for distance in (0, 1, 2):
        moved = list(point)
        moved[k] += distance * step
        values.append(_real(exact, *moved))
    pairs = [(values[0], values[1]), (values[1], values[2])]
    for near, further in pairs:
        if near is not None and further is not None and mp.isfinite(near) and mp.isfinite(further):
            return (further - near) / step
    return None


def _limit(quotients):
    """What two quotients tend to, of which the second is nearer: themselves if they agree, else zero or infinity."""
    if any(q is None for q in quotients):
        return None
    first, second = quotients
    if abs(second) < mp.mpf("1e-46"):  # below float32's subnormals; and perhaps rounding of the exact function
        return mp.mpf(0)
    if abs(second - first) <= mp.mpf("1e-9") * max(abs(first), abs(second)):
        return second
    return mp.inf * mp.sign(second) if abs(second) > abs(first) else mp.mpf(0)


def _alike(x, y):
    return x == y or (mp.isfinite(x) and mp.isfinite(y) and abs(x - y) <= mp.mpf("1e-9") * max(abs(x), abs(y), mp.mpf("1e-30")))
