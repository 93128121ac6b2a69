"""Members that only other libraries ask for: core reads as if there were none."""
import ast
import pathlib

import pytest

import jax_core
from jax_core.compat.primitives import PrimitiveHabits
from jax_core.compat.traces import TraceHabits, TracerHabits
from jax_core.representation.primitive import Primitive
from jax_core.traces.trace import EVAL, Trace, Tracer

HABITS = [(TraceHabits, Trace), (TracerHabits, Tracer), (PrimitiveHabits, Primitive)]
SOURCE = pathlib.Path(jax_core.__file__).parent


def members(mixin):
    return {name for name in vars(mixin) if not name.startswith("__") and not name.endswith("_as_theirs")}


@pytest.mark.parametrize("mixin, cls", HABITS, ids=lambda c: c.__name__)
def test_habits_are_inherited_and_nothing_else(mixin, cls):
    assert issubclass(cls, mixin) and not members(mixin) & set(vars(cls))


@pytest.mark.parametrize("mixin, cls", HABITS[:2], ids=lambda c: c.__name__)
def test_habits_take_no_memory(mixin, cls):
    """An instance has the slots of its class and no dictionary."""
    assert mixin.__slots__ == () and mixin.__dictoffset__ == 0 == cls.__dictoffset__


def test_core_uses_none_of_them():
    names = set().union(*(members(mixin) for mixin, _ in HABITS)) - {"device"}  # which options of programs and arrays have, too
    wrong = [f"{path.relative_to(SOURCE)}:{node.lineno}: {node.attr}" for path in SOURCE.rglob("*.py")
             if path.relative_to(SOURCE).parts[0] not in ("compat", "public")
             for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute) and node.attr in names]
    assert {"process_primitive", "full_raise", "full_lower", "get_bind_params"} <= names and not wrong


def test_primitives_are_bound_as_interpreters_do():
    seen = Primitive("seen", out_type=lambda x: x, jvp=None, transpose=None, batch=None, lower=None, impl=lambda x: ("seen", x))
    params = seen.get_bind_params(given := {})
    assert (params, seen.call_primitive, seen.map_primitive) == ({}, False, False) and params is not given
    assert seen.bind_with_trace(EVAL, (1,), params) == seen.bind_with_trace(EVAL, (1,), [int], params) == ("seen", 1)


def test_a_trace_without_methods_says_what_it_lacks():
    class Empty(Trace):
        pass
    with pytest.raises(NotImplementedError, match=r"Empty must have a method process_primitive\(primitive, tracers, params\)"):
        Empty().process(None, (), {})
