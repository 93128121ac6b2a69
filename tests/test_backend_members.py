"""Core, numpy_api, random and callbacks ask a backend for nothing that `jax_core.interfaces` does not declare.

The walk follows values through a function: what `backends.get()` returns, what its methods return by their annotations,
and what is called ``backend``, ``executable``, ``module`` or ``run`` there.
"""
import ast
import functools
import inspect
import pathlib

import numpy as np
import pytest

from jax_core import interfaces
from jax_core.testing import contract

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROTOCOLS = {name: value for name, value in vars(interfaces).items() if isinstance(value, type) and (
    getattr(value, "_is_protocol", False) and value.__module__ == interfaces.__name__ or value is interfaces.Run)}
BY_NAME = {"backend": "Backend", "executable": "Executable", "_executable": "Executable", "_shown": "LoweredModule"}
FUNCTIONS = {"compile_program": "Executable"}


def declared(protocol):
    """The names of a protocol, each with the name of the protocol of its value or of what it returns, or None."""
    found = {}
    for name in contract.members(protocol) if protocol is not interfaces.Run else protocol._fields:
        member = inspect.getattr_static(protocol, name, None)
        source = member.fget if isinstance(member, property) else member
        returned = getattr(source, "__annotations__", {}).get("return") if callable(source) else None
        found[name] = returned if returned in PROTOCOLS else None
    return found


MEMBERS = {name: declared(protocol) for name, protocol in PROTOCOLS.items()}


class Walk:
    """The attributes of backends that a source asks for: triples (line, protocol, attribute), and probes by name."""

    def __init__(self, text):
        self.asked, self.probes = [], []
        self.names = {}
        self._visit(ast.parse(text))

    def _visit(self, node):
        outer = self.names
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            self.names = dict(outer)
            for argument in (*node.args.args, *node.args.kwonlyargs):
                said = argument.annotation.id if isinstance(argument.annotation, ast.Name) else None
                self.names[argument.arg] = said if said in PROTOCOLS else BY_NAME.get(argument.arg)
        for child in ast.iter_child_nodes(node):
            self._visit(child)
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            kind = self._kind(node.value)
            if kind is not None:
                self.asked.append((node.lineno, kind, node.attr))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr"):
            kind = self._kind(node.args[0])
            if kind is not None:
                self.probes.append((node.lineno, kind, ast.unparse(node)))
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            self.names = outer

    def _assign(self, target, value):
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for t, v in zip(target.elts, value.elts):
                self._assign(t, v)
        elif isinstance(target, ast.Name):
            self.names[target.id] = self._kind(value)

    def _kind(self, node):
        """The protocol of an expression, or None."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            holder = self._kind(node.value)
            found = MEMBERS[holder].get(node.attr) if holder is not None else BY_NAME.get(node.attr)
            return None if callable(getattr(PROTOCOLS.get(holder), node.attr, None)) else found
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                return FUNCTIONS.get(node.func.id)
            if isinstance(node.func, ast.Attribute):
                if node.func.attr in ("get", "loaded") and ast.unparse(node.func.value) == "backends":
                    return "Backend"
                holder = self._kind(node.func.value)
                return MEMBERS[holder].get(node.func.attr) if holder is not None else None
        return None


@functools.cache
def walks():
    """Pairs of a file and its walk. The contract is left out: it asks for whatever the protocols declare."""
    return [(path.relative_to(ROOT), Walk(path.read_text())) for folder in ("core", "numpy_api", "random", "callbacks")
            for path in sorted((ROOT / "packages" / folder / "src").rglob("*.py")) if path.name != "contract.py"]


def undeclared(walk):
    return [(line, kind, name) for line, kind, name in walk.asked if name not in MEMBERS[kind]]


def test_every_member_asked_is_declared():
    wrong = [f"{path}:{line}: {kind} has no {name}" for path, walk in walks() for line, kind, name in undeclared(walk)]
    assert not wrong


def test_nobody_probes_a_backend():
    wrong = [f"{path}:{line}: {probe}" for path, walk in walks() for line, _, probe in walk.probes]
    assert not wrong


def test_every_member_declared_is_asked():
    """A protocol holds nothing that only its implementer needs."""
    asked = {(kind, name) for _, walk in walks() for _, kind, name in walk.asked}
    asked |= {(base.__name__, name) for kind, name in asked for base in PROTOCOLS[kind].__mro__ if base.__name__ in PROTOCOLS}
    concerns = ("Runtime", "Transfers", "Placements", "Inspection", "Exporting", "LoweredModule", "Executable", "Run")
    assert {(kind, name) for kind in concerns for name in MEMBERS[kind]} - asked == set()


@pytest.mark.parametrize("text", [
    "backends.get().warp(1)", "backends.get().placements.warp", "b = backends.get()\nb.warp", "x, b = 1, backends.get()\nb.warp",
    "backends.get().compile(m, s).execute([]).warp", "def f(backend):\n    backend.warp", "def f(x: LoweredModule):\n    x.warp",
    "compile_program(c, s).warp", "class C:\n    def f(self):\n        self._executable.warp"])
def test_the_walk_finds_what_is_not_declared(text):
    assert [name for _, _, name in undeclared(Walk(text))] == ["warp"]


def test_the_walk_finds_probes():
    assert len(Walk("b = backends.loaded()\ngetattr(b, 'put', None)\nhasattr(backends.get().placements, 'x')").probes) == 2


def test_specs_are_immutable():
    spec = interfaces.LowerSpec("f", (True,))
    with pytest.raises(AttributeError, match="LowerSpec.replace"):
        spec.name = "g"
    other = spec.replace(name="g")
    assert (spec.name, other.name, other.donated) == ("f", "g", (True,))
    assert other != spec and other == interfaces.LowerSpec("g", (True,)) and hash(other) == hash(other.replace())


def test_what_a_backend_lacks_says_so():
    class Small:
        charts = interfaces.Absent("the small backend", "charts of the night sky")
    with pytest.raises(NotImplementedError, match="the small backend has no charts of the night sky"):
        Small().charts
    assert interfaces.is_absent(Small(), "charts") and not interfaces.is_absent(np, "charts")
