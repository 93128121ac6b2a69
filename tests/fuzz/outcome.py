"""What a program's text gives: the class of an error, or a tree of leaves with all that a user can see of each.

Run as a module it is a server: on standard input, a line (JSON) is a program's text, or the arguments of `stages`, or "go on", which asks
for the values of the latter; on standard output a line is a list of outcomes.
"""
from __future__ import annotations

import base64
import contextlib
import dataclasses
import gc
import json
import os
import pickle
import re
import sys
import warnings
from typing import Any, Callable, ContextManager, Generator, Iterator, NamedTuple

import numpy as np

import jax
import jax.ad_checkpoint
import jax.custom_batching
import jax.custom_derivatives
import jax.experimental.checkify
import jax.experimental.jet
import jax.experimental.ode
import jax.experimental.pallas
import jax.experimental.sparse
import jax.experimental.sparse.linalg
import jax.export
import jax.flatten_util
import jax.image
import jax.numpy as jnp
import jax.scipy.cluster.vq
import jax.scipy.fft
import jax.scipy.interpolate
import jax.scipy.ndimage
import jax.scipy.optimize
import jax.scipy.signal
import jax.scipy.sparse.linalg
import jax.scipy.spatial.transform
import jax.scipy.stats
from fuzz import interpret

DEFAULTS = {"jax_enable_x64": False, "jax_numpy_dtype_promotion": "standard", "jax_numpy_rank_promotion": "allow", "jax_disable_jit": False}


NAMES = re.compile(r"namedtuple\[_\w+\]")  # which results have of their own
SPARSE, AUXILIARY = re.compile(r"(CustomNode\(B?C[OS][ORC]\w?)\[([^][]*)\]"), re.compile(r"\([\d, ]*\)|True|False")  # what sparse arrays keep, by name or not


class Leaf(NamedTuple):
    """``kind`` is "array" for what jax makes, else the name of its class; ``value`` is in a dtype that NumPy knows."""
    kind: str
    dtype: str
    weak: bool
    shape: tuple[int, ...]
    value: Any


class Outcome(NamedTuple):
    error: str  # the first class of the exception's ancestors that Python itself has; "" for none
    detail: str
    tree: str
    leaves: tuple[Leaf, ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Pair:
    """A tree of a user's own."""
    first: Any
    second: Any


def many(shape: tuple[int, ...], dtype: str, seed: int, special: bool = False) -> np.ndarray:
    """An array of drawn numbers; two in a thousand of those of a ``special`` one are not finite, and many are equal."""
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=shape)
    if special:
        drawn = np.round(drawn, 1)
        drawn[rng.random(shape) < 0.002] = rng.choice((np.inf, -np.inf, np.nan))
    if "int" in dtype or dtype == "bool":
        low = 0 if dtype[0] in "ub" else -3
        return rng.integers(low, 2 if dtype == "bool" else 9, size=shape).astype(dtype)
    return np.asarray(drawn + 1j * rng.normal(size=shape) if dtype.startswith("complex") else drawn).astype(jnp.dtype(dtype))


def within(context: ContextManager, f: Callable, *args: Any) -> Any:
    """``f(*args)`` in a context."""
    with context:
        return f(*args)


def as_wide(args: Any) -> Any:
    """Arguments in double precision, each with the value that it has in its dtype; numbers of Python's stay."""
    def leaf(x: Any) -> Any:
        if not hasattr(x, "dtype") or not jnp.issubdtype(x.dtype, jnp.inexact):
            return x
        weak, x = getattr(x, "weak_type", False), x.astype("complex128" if jnp.issubdtype(x.dtype, jnp.complexfloating) else "float64")
        return jnp.asarray(x.item()) if weak and not x.shape else x
    return jax.tree.map(leaf, args)


def near(args: Any, distance: float, seed: int) -> Any:
    """Arguments beside ``args``, each number moved by about ``distance``, or that share of itself; numbers far out for infinities. Of the
    first two seeds one moves all upwards, one all downwards."""
    rng = np.random.default_rng(seed)

    def leaf(x: Any) -> Any:
        if not isinstance(x, (float, complex)) and not (hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact)):
            return x
        value = np.asarray(x)
        step = rng.uniform(0.5, 1, value.shape) * (rng.choice((-1, 1), value.shape) if seed > 1 else 1 - 2 * seed)
        moved = np.where(np.isinf(value), np.sign(value) * distance ** -12 * np.abs(step), value + distance * step * np.maximum(np.abs(value), 1))
        return moved.item() if isinstance(x, (float, complex)) and not isinstance(x, np.generic) else jnp.asarray(moved, x.dtype)
    return jax.tree.map(leaf, args)


def overflown(x: np.ndarray) -> np.ndarray:
    """Without the largest numbers, of which a step may take an infinite product or sum."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return np.where(np.abs(x) > jnp.finfo(x.dtype).max / 16, np.copysign(x.dtype.type(np.inf), x), x)


def namespace() -> dict[str, Any]:
    """The names that a text uses."""
    return {"jax": jax, "jnp": jnp, "lax": jax.lax, "np": np, "inf": float("inf"), "nan": float("nan"), "Pair": Pair, "many": many, "as_wide": as_wide, "near": near, "within": within, "overflown": overflown}


@contextlib.contextmanager
def default_settings() -> Iterator[None]:
    """Whatever the text sets ends with it."""
    try:
        yield
    finally:
        for name, value in DEFAULTS.items():
            jax.config.update(name, value)


def leaf_of(x: Any) -> Leaf:
    kind = "array" if isinstance(x, jax.Array) else "ndarray" if isinstance(x, np.ndarray) or "NdArray" in type(x).__name__ else type(x).__name__
    if not hasattr(x, "dtype"):
        return Leaf(kind, "", False, (), x if isinstance(x, (bool, int, float, complex, str)) else repr(type(x)))
    weak = bool(getattr(x, "weak_type", False))
    if not hasattr(x, "__array__") and not isinstance(x, jax.Array):
        kind, value = "ShapeDtypeStruct", None
    elif jnp.issubdtype(x.dtype, jax.dtypes.extended):
        value = np.asarray(jax.random.key_data(x))
    elif x.dtype == jax.dtypes.float0:
        value = np.zeros(np.shape(x), bool)
    else:
        value = np.asarray(x)
        if jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.name not in ("float16", "float32", "float64"):
            value = value.astype(np.float32)
    return Leaf(kind, str(x.dtype), weak, tuple(np.shape(x)), value)


def outcome_of(result: Any) -> Outcome:
    leaves, tree = jax.tree_util.tree_flatten(result)
    return Outcome("", "", NAMES.sub("namedtuple", SPARSE.sub(lambda m: f"{m[1]}{AUXILIARY.findall(m[2])}", str(tree))), tuple(map(leaf_of, leaves)))


def refusal(error: BaseException) -> Outcome:
    first = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return Outcome(first, f"{type(error).__name__}: {error}"[:300], "", ())


def run(text: str) -> Outcome:
    """The outcome of a text that leaves its result in ``out``."""
    with default_settings(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            scope = namespace()
            exec(text, scope)
            return outcome_of(scope["out"])
        except Exception as error:
            return refusal(error)


def _plain(x: Any) -> np.ndarray:
    """What a lowered program takes for an argument."""
    if not isinstance(x, np.ndarray) and jnp.issubdtype(jnp.result_type(x), jax.dtypes.extended):
        return np.asarray(jax.random.key_data(x))
    return np.asarray(jnp.asarray(x))


def _interpreted(lowered: Any, types: Outcome, arguments: list[tuple]) -> list[Outcome] | None:
    found = interpret.values(lowered.as_text(), [list(map(_plain, jax.tree.leaves(given))) for given in arguments])
    kinds = ["ndarray" if "float0" in leaf.dtype else "array" for leaf in types.leaves]
    return found and [types._replace(leaves=tuple(
        leaf._replace(kind=kind, value=x) for leaf, kind, x in zip(types.leaves, kinds, values, strict=True))) for values in found]


def stages(text: str, route: str, others: list[str], compiles: bool | None = True) -> Generator[list[Outcome]]:
    """First what types ``route`` gives, then what values, for the text's arguments and for each of ``others``: one trace, one compilation.
    Unless it ``compiles``, the program is interpreted; where that cannot be, it is compiled (None), or left without values (False)."""
    with default_settings(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            scope = namespace()
            exec(text, scope)
            traced = jax.jit(eval(f"lambda *args: {route}", scope), keep_unused=True).trace(*scope["args"])
            types = outcome_of(traced.out_info)
        except Exception as error:
            types = refusal(error)
        yield [types]
        try:
            lowered = traced.lower()
            arguments = [scope["args"], *(eval(other, scope) for other in others)]
            found = None if compiles else _interpreted(lowered, types, arguments)
            if found is None and compiles is False:
                yield []
            elif found is None:
                compiled = lowered.compile()
                yield [outcome_of(compiled(*args)) for args in arguments]
            else:
                yield found
        except Exception as error:
            yield [refusal(error)]


class Texts:
    """Answers to texts, to the arguments of `stages`, and to "go on"."""

    def __init__(self):
        self.begun: Generator[list[Outcome]] | None = None

    def __call__(self, asked: Any) -> list[Outcome]:
        if asked == "go on":
            assert self.begun is not None
            return next(self.begun)
        if self.begun is not None:
            self.begun.close()
        self.begun = None if isinstance(asked, str) else stages(*asked)
        return [run(asked)] if self.begun is None else next(self.begun)


def serve(answer: Callable[[Any], list[Outcome]] | None = None) -> None:
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)  # what there is stays, and is not looked through again
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is no answer
    answer = answer or Texts()
    for line in sys.stdin:
        plain = [(*outcome[:3], [tuple(leaf) for leaf in outcome.leaves]) for outcome in answer(json.loads(line))]
        answers.write(base64.b64encode(pickle.dumps(plain)).decode() + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
