"""Types and contents of arguments, as text that evaluates to them."""
from __future__ import annotations

import contextlib
import random
import re
from typing import Callable, ContextManager, NamedTuple


class Source(NamedTuple):
    """Programs of other lines than those of `templates`."""
    lines: tuple[str, ...]
    routes: tuple[str, ...]
    shapes: Callable[[random.Random], list[str]]  # those of one program
    argument: Callable[[random.Random, str, bool], str]  # of a shape; whether it must be inexact
    elements: int  # of the largest result
    x64: float = 0.0  # the share of programs in double precision
    in_stages: bool = True  # whether a program may be traced as a whole
    context: Callable[[], ContextManager] = contextlib.nullcontext  # what it is drawn in


FLOATS = ("float32", "float32", "float32", "float32", "bfloat16", "float16", "float64")
INTEGERS = ("int32", "int32", "int8", "uint8", "int16", "uint32", "int64")
DTYPES = FLOATS + INTEGERS + ("bool", "complex64")
SHAPES = ("()", "(3,)", "(3,)", "(2, 3)", "(3, 3)", "(1,)", "(0,)", "(2, 0)", "(4,)", "(2, 1, 3)", "(17,)", "(1, 2, 1, 2)")
TIES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0)
SPECIAL = ("inf", "-inf", "nan", "0.0", "-0.0", "1e-40", "3e38", "1.0", "-1.0", "0.5", "-2.5")
LITERALS = ("2", "3", "1", "0", "-1", "0.5", "2.0", "1.5", "-1.0", "True", "jnp.float32(2)", "np.int32(3)", "np.float64(0.5)", "1j", "np.array(2.0)", "np.int8(1)")


def _content(rng: random.Random, dtype: str, manner: str) -> str:
    """One element."""
    if dtype == "bool":
        return rng.choice(("True", "False"))
    if "int" in dtype:
        signed = not dtype.startswith("u")
        largest = 2 ** (min(int(dtype.lstrip("uint")), 32) - signed) - 1  # with x64 off, the largest of int64 is that of int32
        return str(rng.choice((largest, -(largest + 1) * signed, int(largest ** 0.5) + 1, 0, 1)) if manner == "special" else rng.randint(-3 * signed, 4))
    if manner == "special" and rng.random() < 0.4:
        return rng.choice(SPECIAL)
    number = rng.choice(TIES) if manner != "plain" else round(rng.uniform(-2, 2), 2)
    if dtype.startswith("complex"):
        return repr(complex(number, rng.choice(TIES) if manner != "plain" else round(rng.uniform(-2, 2), 2)))
    return repr(number)


def _nested(rng: random.Random, shape: tuple[int, ...], dtype: str, manner: str) -> str:
    if not shape:
        return _content(rng, dtype, manner)
    return "[" + ", ".join(_nested(rng, shape[1:], dtype, manner) for _ in range(shape[0])) + "]"


def array(rng: random.Random, shape: str, dtype: str, manner: str) -> str:
    """An array whose elements are ``plain`` (far from kinks), ``ties`` (few values, often equal) or ``special``."""
    sizes = eval(shape)
    if 0 in sizes:
        return f"jnp.zeros({shape}, '{dtype}')"
    return f"jnp.array({_nested(rng, sizes, dtype, manner)}, '{dtype}')"


def argument(rng: random.Random, shape: str, manner: str, inexact: bool) -> str:
    """An array, a NumPy array, a Python number (weakly typed), or keys."""
    draw = rng.random()
    if draw < 0.05 and not inexact:
        return rng.choice(("jax.random.key(3)", "jax.random.PRNGKey(7)", "jax.random.split(jax.random.key(1), 3)"))
    if draw < 0.14:
        return rng.choice(("0.5", "-1.5", "2.0", "np.float32(0.5)", "np.float64(-1.5)", "0.5 + 1j") if inexact
                          else ("2", "-1", "0.5", "True", "jnp.asarray(2.0)", "np.int8(3)", "np.uint32(2)", "np.bool_(True)"))
    text = array(rng, shape, rng.choice((*FLOATS * 2, "complex64") if inexact else DTYPES), manner)
    return text.replace("jnp.", "np.") if draw < 0.2 and "bfloat16" not in text else text


def alike(rng: random.Random, argument: str) -> str:
    """Another argument of the same type: its numbers drawn again, in any manner."""
    if argument.startswith("many("):
        return re.sub(r"', \d+.*", f"', {rng.randrange(1000)}{rng.choice((')', ', special=True)'))}", argument)
    matched = re.fullmatch(r"(jnp|np)\.array\((.*), '(\w+)'\)", argument)
    if not matched:
        return argument
    manner = rng.choice(("plain", "ties", "special"))
    contents = re.sub(r"[^][, ]+", lambda _: _content(rng, matched[3], manner), matched[2])
    return f"{matched[1]}.array({contents}, '{matched[3]}')"
