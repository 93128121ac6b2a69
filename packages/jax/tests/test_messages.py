"""Typical mistakes and what is said about them, whole: `data/messages.txt`, one after the other.

    python packages/jax/tests/test_messages.py     # writes the file anew; look at the difference

An entry is a title, the program, and after a line ``--> class`` the message, with notes after ``note:``. Classes are those that
the public API promises. Messages of the runtime, whose words change with its version, stand as ``...``.
"""
from __future__ import annotations

import pathlib
import re
import sys
import warnings
from typing import Any, Iterator

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax_core.representation.tracebacks import NOTE

TABLE = pathlib.Path(__file__).parent / "data" / "messages.txt"


def entries() -> Iterator[tuple[str, str, str]]:
    """Title, program, and what is said."""
    for text in re.split(r"^== ", TABLE.read_text(), flags=re.MULTILINE)[1:]:
        head, said = text.split("\n--> ", 1)
        title, program = head.split("\n", 1)
        yield title, program, said.strip("\n")


def outcome(program: str) -> str:
    """The class of the error of ``program``, its message and notes."""
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "np": np, "lax": jax.lax, "random": jax.random}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(program, "program.py", "exec"), names)
    except Exception as error:
        kind = type(error).__name__ if type(error).__module__ == "builtins" else f"{type(error).__module__}.{type(error).__name__}"
        notes = [f"note: {note}" for note in getattr(error, "__notes__", ()) if note != NOTE]
        return "\n".join([kind, *(line.rstrip() for line in str(error).splitlines()), *notes])
    return "no error"


ABOUT_THE_CPU = {"devices-differ", "pmap-devices", "mesh-too-many", "make_mesh-size", "a-call-in-place-of-the-function", "callback-without-result-shape",
                 "memory-of-ones", "more-elements-than-numbers-count"}


@pytest.mark.parametrize("program, said", [pytest.param(p, s, id=t.replace(" ", "-"), marks=pytest.mark.only_cpu if t.replace(" ", "-") in ABOUT_THE_CPU else ())
                                           for t, p, s in entries()])
def test_message(program, said):
    got = outcome(program)
    if said.endswith("\n..."):
        assert got.splitlines()[0] == said.splitlines()[0]
    else:
        assert got == said


def test_classes_are_known_by_their_public_names():
    """In tracebacks, and for pickle."""
    for name in ("ConcretizationTypeError", "UnexpectedTracerError", "KeyReuseError", "TypePromotionError", "JaxRuntimeError"):
        assert getattr(jax.errors, name).__module__ == "jax.errors"


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 8)  # as in the tests
    found = [(title, program, outcome(program).split("\n")[0] + "\n..." if said.endswith("\n...") else outcome(program))
             for title, program, said in entries()]
    TABLE.write_text("\n".join(f"== {title}\n{program}\n--> {said}\n" for title, program, said in found))
    sys.exit(0)
