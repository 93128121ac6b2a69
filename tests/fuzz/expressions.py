"""Compositions of elementwise functions at special points: what is compiled together against what is called one by one.

    python tests/fuzz/expressions.py [--seconds 60] [--seed 0] [--dtype float32]

Compilers rewrite expressions: `a / (b / c)` as `(a * c) / b`, `abs(x) >= 0` as true. Each is drawn of two or three functions, and many are
compiled in one program. Those that differ in more than rounding are printed with the first point at which they do. What is meant: a product and
a sum become a multiply-add, which does not overflow between them; `mask * x` is a selection; the sign of NaN is any; before jaxlib 0.12 what undoes
each other is nothing (docs/internals/compiler-mistakes.md).
"""
from __future__ import annotations

import argparse
import itertools
import random
import time
from typing import Any, Callable, NamedTuple

import numpy as np

import jax
import jax.numpy as jnp
from jax import lax

NAMES = """sin cos tan sinh cosh tanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt square abs negative reciprocal sign floor ceil rint arcsin arccos arctan
arcsinh arccosh arctanh isnan isfinite sinc real""".split()
UNARY: dict[str, Callable] = {name: getattr(jnp, name) for name in NAMES} | {
    "rsqrt": lax.rsqrt, "logistic": lax.logistic, "softplus": jax.nn.softplus, "relu": jax.nn.relu, "x ** 3": lambda x: x ** 3, "x ** -2": lambda x: x ** -2,
    "x ** 0.5": lambda x: x ** 0.5, "x ** 2.5": lambda x: x ** 2.5, "x * 0": lambda x: x * 0, "x - x": lambda x: x - x, "x / x": lambda x: x / x,
    "1 / x": lambda x: 1 / x, "x * 2": lambda x: x * 2, "x + 1": lambda x: x + 1, "clip": lambda x: jnp.clip(x, -1, 1), "x % 1": lambda x: x % 1,
    "max(x, 0)": lambda x: jnp.maximum(x, 0), "x >= 0": lambda x: x >= 0, "x < 0": lambda x: x < 0, "x != x": lambda x: x != x,
    "where": lambda x: jnp.where(x > 0, x, 0)} | {kind: (lambda x, kind=kind: x.astype(kind)) for kind in ("int32", "int8", "uint8", "bool", "float16", "bfloat16")}
BINARY: dict[str, Callable] = {name: getattr(jnp, name) for name in """add subtract multiply divide power maximum minimum arctan2 fmod mod hypot logaddexp
fmax equal less greater_equal floor_divide""".split()}
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 7.25, -11.5, 100.0, -100.0, 1e4, -1e4, 1e-6, -1e-6, np.inf, -np.inf, np.nan)
EXTREMES = (1e30, -1e30, 1e-30)  # where products of two are out of range of float32
OF_SECOND = "u(b(x, u(y)))"  # begins with the second operand
FORMS = (("u(u(x))", "uu"), ("u(b(x, y))", "bu"), ("b(u(x), y)", "ub"), ("b(b(x, y), y)", "bb"), (OF_SECOND, "ubu"), ("u(u(u(x)))", "uuu"))
ROUNDING = {"float32": 2e-3, "float64": 1e-7, "float16": 5e-2, "bfloat16": 3e-1}
COARSE = {"float16", "bfloat16"}
TOGETHER = 25  # in one program


class Expression(NamedTuple):
    """Functions, of which each is applied to what was before; that of two operands to the second as well."""

    form: str
    functions: tuple[str, ...]

    def __call__(self, x: Any, y: Any, run: Callable[[Any], Any] = lambda x: x) -> Any:
        from_second = self.form == OF_SECOND
        value = y if from_second else x
        for name in self.functions:
            if name in UNARY:
                value = run(UNARY[name](value))
            else:
                value = run(BINARY[name](x, value) if from_second else BINARY[name](value, y))
        return value

    def __str__(self) -> str:
        return f"{self.form}: {', '.join(self.functions)}, the innermost first"


def draw(rng: random.Random) -> Expression:
    form, kinds = rng.choice(FORMS)
    return Expression(form, tuple(rng.choice(list(UNARY if kind == "u" else BINARY)) for kind in kinds))


def points(dtype: str) -> tuple[Any, Any]:
    """Pairs of special points, as two arrays."""
    pairs = np.array(list(itertools.product(POINTS + EXTREMES * (dtype != "float16"), repeat=2)))
    return tuple(jnp.asarray(pairs[:, i], dtype) for i in (0, 1))


def differ(found: Any, expected: Any, rounding: float) -> np.ndarray:
    """Where both are not the same but for rounding."""
    a, b = (np.asarray(x.astype("float32") if x.dtype.name in COARSE else x) for x in (found, expected))
    if a.dtype.kind in "biu":
        return a != b
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= rounding * (np.abs(b) + 1e-5)
    return ~(near | (a == b) | np.isnan(a) & np.isnan(b))


def look(rng: random.Random, dtype: str, known: set[Expression]) -> list[str]:
    """What differs among some new expressions."""
    x, y = points(dtype)
    expected: dict[Expression, Any] = {}
    while len(expected) < TOGETHER:
        drawn = draw(rng)
        if drawn in known:
            continue
        known.add(drawn)
        try:
            expected[drawn] = drawn(x, y, jax.block_until_ready)
        except (TypeError, ValueError):
            continue
    found = jax.jit(lambda x, y: [e(x, y) for e in expected])(x, y)
    said = []
    for expression, result in zip(expected, found):
        rounding = max([ROUNDING.get(str(result.dtype), 1e-2), *[ROUNDING[name] for name in COARSE.intersection(expression.functions)]])
        bad = np.flatnonzero(differ(result, expected[expression], rounding))
        if bad.size:
            i = bad[0]
            said.append(f"{expression}: at {x[i]}, {y[i]} and {bad.size - 1} more {result[i]} for {expected[expression][i]}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", default="float32", choices=list(ROUNDING))
    given = parser.parse_args()
    rng, ends, known = random.Random(given.seed), time.monotonic() + given.seconds, set()
    with jax.enable_x64(given.dtype == "float64"):
        while time.monotonic() < ends:
            for line in look(rng, given.dtype, known):
                print(line, flush=True)
    print(f"{len(known)} expressions")


if __name__ == "__main__":
    main()
