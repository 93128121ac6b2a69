"""Packages meet at the slots of `jax_core.extension_points` and nowhere else."""
import ast
import functools
import pathlib
import re

import pytest

from jax_core import extension_points
from jax_core.extension_points import Listeners, NotProvided, Slot

PACKAGES = pathlib.Path(__file__).resolve().parents[1] / "packages"
SOURCES = sorted(PACKAGES.glob("*/src/**/*.py"))
POINTS = {name: point for name, point in vars(extension_points).items() if isinstance(point, (Slot, Listeners))}

MAY_WRITE_SYS_MODULES = {
    "xla_backend/src/jax_xla_backend/jaxlib_compat.py",  # names that jaxlib's C++ looks up
    "jax/src/jax/_internal_modules.py",  # in place of the names that jaxlib's C++ looks up, a module with more of them
    "jax/src/jax/config.py",  # `jax.config` is an object, and `from jax.config import config` a habit
}
MAY_EQUIP_CLASSES = {"xla_backend/src/jax_xla_backend/jaxlib_compat.py"}  # classes of jaxlib that are ours to users

USERS_PRIMITIVES = ("core/src/jax_core/public/interpreters_", "core/src/jax_core/public/rules.py")  # users' own get their rules one by one, as the public doors have it


def module_name(path):
    parts = path.relative_to(PACKAGES).with_suffix("").parts[2:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text())))


MODULES = {module_name(path) for path in SOURCES}


def foreign_names(path, nodes):
    """Names in a file that stand for modules, or for classes of other modules."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((a.asname or a.name).split(".")[0] for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            yield from (a.asname or a.name for a in node.names
                        if f"{source}.{a.name}" in MODULES or a.name.lstrip("_")[:1].isupper() and not a.name.isupper())


def written(node):
    """Expressions that a statement assigns to, deletes, or sets an attribute of (then with ``setattr``)."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr"):
        yield node.args[0]
        return
    else:
        return
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if isinstance(part, ast.Attribute):
                yield part.value


def own_nodes(scope):
    """The nodes of a module or function without those of functions in it, and these functions."""
    nodes, inner, waiting = [], [], list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            inner.append(node)
        else:
            nodes.append(node)
            waiting.extend(ast.iter_child_nodes(node))
    return nodes, inner


def hooks(path, scope, known=frozenset()):
    """Assignments to attributes of modules and of classes of others, in the module or function ``scope``, as text."""
    nodes, inner = own_nodes(scope)
    names = {*known, *foreign_names(path, nodes)} - {
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - {n.arg for n in nodes if isinstance(n, ast.arg)}
    for function in inner:
        yield from hooks(path, function, names)
    for node in nodes:
        for owner in written(node):
            while isinstance(owner, ast.Attribute):  # also of an object of the module's
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in names:
                yield f"{path.relative_to(PACKAGES)}:{node.lineno}: {ast.unparse(node)}"


def test_nothing_is_set_on_modules_and_classes_of_others():
    assert not [hook for path in SOURCES if str(path.relative_to(PACKAGES)) not in MAY_EQUIP_CLASSES for hook in hooks(path, nodes_of(path)[0])]


@pytest.mark.parametrize("code", [
    "from jax_core.representation import errors\nerrors.limit = 3", "from ..arrays import put\nput._before = f",
    "from .trace import Tracer\nTracer.at = at", "from .trace import Tracer\nsetattr(Tracer, 'at', at)",
    "from jax_core.configuration import context\ncontext._State.trace = t",
    "from jax_core.configuration import context\ncontext.state.axes = ()", "import os\ndel os.environ",
    "from . import sharding as s\ndef f():\n    s.a, x = 1, 2"])
def test_hooks_are_found(code):
    where = PACKAGES / "xla_backend/src/jax_xla_backend/placement/no_collectives.py"
    assert list(hooks(where, ast.parse(code)))


def test_rules_are_given_where_a_primitive_is_declared():
    late = [f"{where}:{node.lineno}: {ast.unparse(node)}" for path in SOURCES for node in nodes_of(path) for owner in written(node)
            if isinstance(owner, ast.Name) and (owner.id.endswith("_p") or owner.id in ("prim", "primitive"))
            and not (where := str(path.relative_to(PACKAGES))).startswith(USERS_PRIMITIVES)]
    assert not late


def _is_sys_modules(node):
    return isinstance(node, ast.Attribute) and node.attr == "modules" and getattr(node.value, "id", "") == "sys"


def test_sys_modules_is_written_in_its_places_only():
    wrong = []
    for path in SOURCES:
        for node in nodes_of(path):
            stored = isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)) and _is_sys_modules(node.value)
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_sys_modules(node.func.value) and (
                node.func.attr in ("setdefault", "update", "pop", "clear"))
            if (stored or called) and str(path.relative_to(PACKAGES)) not in MAY_WRITE_SYS_MODULES:
                wrong.append(f"{path.relative_to(PACKAGES)}:{node.lineno}: {ast.unparse(node)}")
    assert not wrong


def test_every_point_is_filled_by_its_provider_and_by_nobody_else():
    filled = {}
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fill":
                owner = node.func.value
                name = getattr(owner, "id", getattr(owner, "attr", "")).lstrip("_")
                if name in POINTS:
                    filled.setdefault(name, []).append(module_name(path))
    for name, point in POINTS.items():
        if isinstance(point, Slot):
            assert len(filled.get(name, ())) == 1, (name, filled.get(name))
            assert f"{filled[name][0]}.".startswith(f"{point.provider}."), (name, filled[name])


def test_a_package_names_no_module_above_it():
    """Not even in a string."""
    above = {"core": ("jax_numpy_api", "jax_random", "jax_callbacks", "jax_xla_backend"),
             "numpy_api": ("jax_random", "jax_callbacks", "jax_xla_backend"), "random": ("jax_callbacks", "jax_xla_backend"),
             "callbacks": ("jax_random", "jax_xla_backend"), "xla_backend": ("jax_numpy_api", "jax_random", "jax_callbacks")}
    wrong = []
    for package, names in above.items():
        for path in sorted((PACKAGES / package / "src").rglob("*.py")):
            if path.name == "extension_points.py":
                continue  # its list says who provides
            for node in nodes_of(path):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(f"({'|'.join(names)})[.:]", node.value):
                    wrong.append(f"{path.relative_to(PACKAGES)}:{node.lineno}: {node.value!r}")
    assert not wrong


def test_a_slot_is_filled_once():
    slot = Slot("a number", "jax_numbers")
    seen = []
    slot.when_filled(seen.append)
    with pytest.raises(NotProvided, match="jax needs a number here, which jax_numbers provides; import it first"):
        slot.get()
    assert slot.value is None and not seen
    slot.fill(3)
    slot.fill(3)
    slot.when_filled(seen.append)
    assert slot.get() == slot.value == 3 and seen == [3, 3]
    with pytest.raises(RuntimeError, match="the slot for a number was filled by jax_numbers with 3, .* again, with 4"):
        slot.fill(4)
    assert slot.value == 3


def test_who_waits_for_a_slot_is_told_in_a_second_try():
    """Ctrl-C may come in between."""
    slot, told = Slot("a", "b"), []

    def interrupted(value):
        told.append(value)
        if len(told) == 1:
            raise KeyboardInterrupt
    slot.when_filled(interrupted)
    with pytest.raises(KeyboardInterrupt):
        slot.fill(1)
    slot.fill(1)
    slot.fill(1)
    assert told == [1, 1]


def test_listeners_are_told_in_order():
    event, seen = Listeners("it happens", "somebody"), []
    event.add(lambda x: seen.append(x))
    event.add(lambda x: seen.append(-x))
    event.tell(2)
    assert seen == [2, -2]
