"""Who mixed dtypes or ranks, where the suite runs under both strict modes (`./run strict`).

A test may mix on purpose: that call is refused, as it should be, and the rest of the test is not reached. A function of ours that mixes what it made
itself is at fault. An error tells which it was: it names the dtypes or shapes that met, and where they are all among the arguments of the last call
that a test made of ours, the test brought them. Integers given to a function of floats (`jax.nn.elu`), whose constants they meet, count as brought too.
"""
from __future__ import annotations

import re
from types import FrameType
from typing import Iterator

import numpy as np

from jax_core.representation import dtypes, tree
from jax_core.representation.errors import TypePromotionError

DTYPES = re.compile(r"^Dtypes (.+?) and (.+?) have no implicit promotion .* jax_numpy_dtype_promotion is 'strict'")
SHAPES = re.compile(r"without rank promotion in (\S+): shapes (.*); reshape them")


def mixed_by_the_test(error: BaseException) -> str | None:
    """Why a test that ended in ``error`` has nothing to say under strict modes; None where one of our functions is to blame, or anything else."""
    for cause in _chain(error):
        if (met := _what_met(cause)) and (entered := _entered(cause)) is not None:
            dtypes_given, shapes_given = _kinds(_arguments(entered))
            integers = {name for name in dtypes_given if name == "bool" or name.startswith(("int", "uint"))}
            made = {"Python float"} if met & integers else {str(dtypes.canonicalize_dtype(np.float64))} if integers else set()  # of integers, as floats
            if met <= dtypes_given | shapes_given | made:
                return f"mixes {' and '.join(sorted(met))} in a call of {entered.f_code.co_qualname}"
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _what_met(error: BaseException) -> set[str]:
    """The dtypes or the shapes that a strict mode refused to bring together; none for another error."""
    text = str(error)
    if isinstance(error, TypePromotionError) and (found := DTYPES.search(text)):
        return set(found.groups())
    if isinstance(error, ValueError) and (found := SHAPES.search(text)):
        return {shape.replace(",)", ")") for shape in re.findall(r"\([^()]*\)", found[2])} - {"()"}
    return set()


def _entered(error: BaseException) -> FrameType | None:
    """The frame of ours that the innermost code of a test called."""
    frames: list[FrameType] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    tests = [i for i, frame in enumerate(frames) if _of_a_test(frame)]
    if not tests or tests[-1] + 1 == len(frames):
        return None
    return frames[tests[-1] + 1]


def _of_a_test(frame: FrameType) -> bool:
    """Whether a test's file holds it, or a test evaluated it. What is installed may stand in an environment called so, as nox calls its own."""
    path = frame.f_code.co_filename
    return "/tests/" in path and "/site-packages/" not in path or "__name__" not in frame.f_globals


def _arguments(entered: FrameType) -> list:
    code = entered.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return [entered.f_locals.get(name) for name in code.co_varnames[:count]]


def _kinds(given: list) -> tuple[set[str], set[str]]:
    names, shapes = set(), set()
    for value in _values(given):
        if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
            names.add("bool" if isinstance(value, bool) else f"Python {next(t for t in (int, float, complex) if isinstance(value, t)).__name__}")
        elif isinstance(value, str):
            names.add(value)
        elif _is_array(value):
            names.add(str(value.dtype))
            if getattr(value, "weak_type", False):
                names.add(f"Python {'complex' if value.dtype.kind == 'c' else 'int' if value.dtype.kind in 'iu' else 'float'}")
            shapes.add(str(tuple(value.shape)).replace(",)", ")"))
    return names | {str(dtypes.canonicalize_dtype(n)) for n in names if n in ("int64", "uint64", "float64", "complex128")}, shapes


def _is_array(value: object) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _values(given: object, depth: int = 2) -> Iterator[object]:
    """Arrays and numbers in what a function was called with; also those that objects of ours hold, as the ``at`` of an array does."""
    for leaf in tree.tree_leaves(given, is_leaf=_is_array):
        yield leaf
        if _is_array(leaf):
            yield from [part for part in tree.tree_leaves(leaf) if part is not leaf]  # of a sparse array
        elif depth and not isinstance(leaf, type) and type(leaf).__module__.startswith("jax"):
            slots = [name for kind in type(leaf).__mro__ for name in getattr(kind, "__slots__", ())]
            held = [getattr(leaf, name, None) for name in (*slots, *getattr(leaf, "__dict__", ()))]
            yield from _values(held, depth - 1)
