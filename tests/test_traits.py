"""Primitives say what they are (`jax_core.representation.traits`); nothing knows them by name."""
from __future__ import annotations

import ast
import functools
import gc
import importlib
import pathlib

import numpy as np
import pytest

from jax import lax
from jax.experimental import roofline
from jax_core.public import extend_core
from jax_core.representation.marks import ELEMENTWISE
from jax_core.representation.primitive import Primitive
from jax_core.representation.traits import Kind, Traits
from jax_numpy_api import checkify
from jax_numpy_api.sparse import rules as sparse_rules

PACKAGES = pathlib.Path(__file__).parent.parent / "packages"
SOURCES = sorted(PACKAGES.glob("*/src/**/*.py"))
LOOK_UP = {"get", "pop", "setdefault", "startswith", "endswith", "index", "count"}
PROGRAMS = {Kind.CALL, Kind.LOOP, Kind.BRANCH, Kind.PARTS, Kind.PROGRAM}


OTHER_WORDS = {
    ("max", "min"): "kinds of symbolic dimensions",
    ("real", "imag"): "attributes of complex numbers",
    ("eq", "ne", "lt", "le", "gt", "ge"): "special methods of arrays",
    ("real", "complex"): "values of `output`",
    ("min", "max"): "values of `method`",
    ("svd", "eigh", "cholesky"): "values of `method`",
    ("argmax", "argmin"): "functions of jax.numpy",
}
"""Strings that happen to be names of primitives, and what they are."""


@functools.cache
def primitives() -> list[Primitive]:
    """All that our modules declare."""
    for path in SOURCES:
        if "rimitive(" in path.read_text() and "testing" not in path.parts:
            importlib.import_module(".".join(path.parts[path.parts.index("src") + 1:]).removesuffix(".py"))
    gc.unfreeze()  # what is frozen (see conftest.py) is not among the objects
    objects = gc.get_objects()
    gc.freeze()
    return [p for p in objects if isinstance(p, Primitive) and type(p) is not extend_core.Primitive and _is_ours(p)]


def _is_ours(prim: Primitive) -> bool:
    """Other tests, in the same process, declare some too."""
    rule = prim.out_type
    while isinstance(rule, functools.partial):
        rule = rule.func
    return rule.__module__.startswith("jax")


def _is_name_of_primitive(node: ast.AST) -> bool:
    if not (isinstance(node, ast.Attribute) and node.attr == "name"):
        return False
    owner = node.value
    word = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return word.endswith(("prim", "primitive", "_p"))


def _decides(node: ast.AST) -> bool:
    """Whether something is decided by what `name` of a primitive is; printing it is fine."""
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Subscript):
        parts = [node.slice]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOK_UP:
        parts = [node.func.value, *node.args]
    elif isinstance(node, (ast.Assign, ast.NamedExpr)):  # to be compared later
        parts = [node.value]
    elif isinstance(node, ast.Match):
        parts = [node.subject]
    else:
        return False
    return any(map(_is_name_of_primitive, parts))


def _is_table(node: ast.AST, names: set[str]) -> bool:
    """Whether it is a collection of nothing but names of primitives, at least two, as strings."""
    if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        entries = node.elts
    elif isinstance(node, ast.Dict):
        entries = node.keys
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        entries = [ast.Constant(word) for word in node.value.split()]
    else:
        return False
    words = [e.value if isinstance(e, ast.Constant) else None for e in entries]
    return len(words) > 1 and all(isinstance(w, str) and w in names for w in words) and tuple(words) not in OTHER_WORDS


def by_name(source: str, names: set[str]) -> list[str]:
    """Where a source decides something by the name of a primitive, or has a table of such names."""
    return [f"{node.lineno}: {ast.unparse(node)[:80]}" for node in ast.walk(ast.parse(source))
            if _decides(node) or _is_table(node, names)]


@pytest.mark.parametrize("package", sorted(p.name for p in PACKAGES.iterdir() if (p / "src").exists()))
def test_nothing_is_decided_by_the_name_of_a_primitive(package):
    names = {p.name for p in primitives()}
    found = [f"{path.relative_to(PACKAGES)}:{line}" for path in SOURCES if path.relative_to(PACKAGES).parts[0] == package
             for line in by_name(path.read_text(), names)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("source", [
    "if eqn.primitive.name == 'div': pass", "x = prim.name in TABLE", "name = eqn.primitive.name", "RULES[prim.name]",
    "RULES.get(prim.name)", "scan_p.name.startswith('s')", "T = {'add', 'sub'}", "T = 'add sub mul'.split()", "T = {'add': 1, 'sub': 2}"])
def test_the_search_finds_what_decides_by_name(source):
    assert by_name(source, {p.name for p in primitives()})


def test_kinds_agree_with_the_rules():
    """Elementwise operations are fused or reduce over devices; programs are held by exactly the kinds that say so."""
    for prim in primitives():
        traits = prim.traits
        assert type(traits) is Traits and traits.cost >= 0, prim
        assert prim.batch is not ELEMENTWISE or traits.fused or traits.kind is Kind.ALL_REDUCE, prim
        assert prim.holds_program == (traits.kind in PROGRAMS), prim
        assert traits.kind is not Kind.CALL or prim.program is not None, prim


def test_traits_do_not_change():
    with pytest.raises(AttributeError, match=r"^Traits.cost cannot be set: traits do not change; make new ones$"):
        lax.exp_p.traits.cost = 0.0


@pytest.mark.parametrize("table", [checkify._RULES, sparse_rules.sparse_rules_bcoo, sparse_rules.sparse_rules_bcsr,
                                   sparse_rules._DENSE_RESULT], ids=["checkify", "bcoo", "bcsr", "dense"])
def test_tables_have_primitives_for_keys(table):
    assert table and set(table) <= set(primitives())


INDICES, SHORT, LONG = np.array([0, 2]), np.ones(2, np.float32), np.ones(4, np.float32)


@pytest.mark.parametrize("update", ["add", "multiply", "min", "max", "set"])
def test_every_scatter_travels_in_a_roofline(update):
    """The part that changes is read and written, the updates and the indices are read; a table of names had these under none's name."""
    def f(x, y):
        return getattr(x.at[INDICES], update)(y)
    assert roofline.roofline(f)(LONG, SHORT)[1].unfused_hbm_bytes == 3 * SHORT.nbytes + INDICES.astype(np.int32).nbytes


def test_a_users_primitive_has_traits_of_the_usual_kind():
    assert extend_core.Primitive("mine").traits.kind is Kind.KERNEL
