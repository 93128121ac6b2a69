"""What the docstrings of public functions must say besides an example: where the operation comes from, and what it raises."""
from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

import pytest

import jax
from test_examples import classes, functions
from test_public_names import MODULES

SOURCED = ("jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy")
OF_OUR_OWN = {
    "jax.lax": """axis_size copy dce_sink dtype empty map pcast platform_dependent precv psend psum_scatter_start pvary shape_as_value stage
        stop_gradient zeros_like_array""",
    "jax.nn": "identity logmeanexp one_hot standardize",
    "jax.nn.initializers": "constant normal ones truncated_normal uniform zeros",
    "jax.numpy": "minmax",
    "jax.random": """bernoulli clone double_sided_maxwell key_data key_dtype key_impl lognormal maxwell permutation rademacher randint uniform
        wrap_key_data""",
}
"""Functions without a source: what they do is all in the first line of their docstring, or is about types and programs, not values."""


INTERNAL = ("jax.core", "jax.extend", "jax.interpreters", "jax.lib", "jax.experimental", "jax.example_libraries", "jax.api_util",
            "jax.profiler", "jax.distributed", "jax.ffi", "jax.stages", "jax.sharding")
"""Modules for libraries, for several processes, or that are still changing."""
USED_ALL_THE_SAME = {"jax.example_libraries.optimizers", "jax.experimental.checkify", "jax.experimental.ode", "jax.experimental.sparse"}


def ours(module: str) -> list[tuple[str, Any]]:
    """The functions of ``module`` that users call."""
    return list(functions(module)) if not module.startswith(INTERNAL) or module in USED_ALL_THE_SAME else []


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith(SOURCED) and ours(m)])
def test_a_source_is_named(module):
    """A paper, a specification's operation, a function of NumPy or SciPy."""
    without = {name for name, value in ours(module) if not re.search(r"Sources?: |Algorithm \d|numpy\.\w|DLMF", value.__doc__)}
    assert without == set(OF_OUR_OWN.get(module, "").split())


def raises(function: Any) -> bool:
    """Whether the body of ``function`` itself has a `raise` with an error."""
    function = inspect.unwrap(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(function, "__func__", function))))
    except (OSError, TypeError, SyntaxError):
        return False
    return any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(tree))


def says_so(doc: str) -> bool:
    return re.search(r"[Rr]aises|[Rr]efused|is an error|Error\b", doc) is not None


@pytest.mark.parametrize("module", [m for m in MODULES if ours(m)])
def test_what_a_function_raises_is_said(module):
    """Of those that raise in their own body; what those that they call raise, others say."""
    assert [name for name, value in ours(module) if raises(value) and not says_so(value.__doc__)] == []

REFERS = re.compile(r"(as|of|with|like) (for |of |in |those of |by |the )?`|[Aa]rguments as|[Ss]ee `")
"""How a docstring hands its arguments to that of another function."""
WITH_ARGUMENTS = ("jax.numpy", "jax.lax", "jax.nn", "jax.random", "jax.scipy", "jax.tree", "jax.image", "jax.ops")


def unnamed(function: Any) -> list[str]:
    """The parameters behind the first one that the docstring does not mention, unless it refers to another's."""
    behind_first = list(inspect.signature(function).parameters.values())[1:]
    names = [p.name for p in behind_first if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and not p.name.startswith("_")]
    return [] if REFERS.search(function.__doc__) else [name for name in names if not re.search(rf"\b{name}\b", function.__doc__)]


@pytest.mark.parametrize("module", [m for m in MODULES if (m == "jax" or m.startswith(WITH_ARGUMENTS)) and ours(m)])
def test_parameters_are_named(module):
    assert {name: names for name, value in ours(module) if (names := unnamed(value))} == {}


def test_a_parameter_without_a_word_is_found():
    def f(x, n, axis=0):
        """``x`` along ``axis``."""
    assert unnamed(f) == ["n"]


def members(kind: type) -> list[tuple[str, Any]]:
    """The public methods and properties that ``kind`` has from classes of ours."""
    return [(name, member) for base in kind.__mro__ if base.__module__.startswith("jax") for name, member in vars(base).items()
            if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property))]


def is_met_by_users(name: str) -> bool:
    module = name.rpartition(".")[0]
    return not module.startswith(INTERNAL) or module in {"jax.sharding", "jax.stages", "jax.experimental.sparse", "jax.experimental.layout"}


@pytest.mark.parametrize("name, kind", [(n, k) for n, k in classes() if is_met_by_users(n) and not issubclass(k, jax.core.Tracer)], ids=lambda x: x if isinstance(x, str) else "")
def test_classes_and_their_members_say_what_they_are(name, kind):
    """For `help`, editors and the reference; a method that another class declares may leave it to that."""
    assert kind.__doc__
    silent = {n for n, member in members(kind) if not inspect.getdoc(member) and not inspect.getdoc(getattr(kind, n))}
    assert not silent


def test_silence_about_an_error_is_seen():
    def silent(x):
        """``x``."""
        if not x:
            raise ValueError("silent: x is empty")
        return x
    assert raises(silent) and not says_so(silent.__doc__) and not raises(says_so) and says_so("Raises ValueError for none.")
