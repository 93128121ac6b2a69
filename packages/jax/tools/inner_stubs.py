"""The stubs that our own packages are checked with: what is put together at run time, where type checkers do not see it.

`Array` gets its operators and methods from other packages, and the lazy namespaces of `jax_numpy_api` get their names from tables.
"""
from __future__ import annotations

import ast
import importlib
import pathlib
import pkgutil
import re
from typing import Iterator

import jax_numpy_api
from jax_core.extension_points import array_methods

PACKAGES = pathlib.Path(__file__).resolve().parents[2]
METHODS = PACKAGES / "core" / "src" / "jax_core" / "representation" / "array_methods.pyi"
OF_BACKENDS = {"tolist", "tobytes", "block_until_ready", "is_ready", "is_deleted", "__iter__", "__reversed__", "__len__", "__bool__",
               "__int__", "__float__", "__complex__", "__index__", "__array__"}
WRITTEN = "Written by packages/jax/tools/make_stubs.py."


def inner_stubs(public: str) -> dict[pathlib.Path, str]:
    """The text of each; ``public`` is the stub of `jax`."""
    return {METHODS: _methods_of_arrays(public), **dict(_names())}


def _names() -> Iterator[tuple[pathlib.Path, str]]:
    """For each lazy namespace ``names.pyi``, which imports its names from where they are."""
    for found in pkgutil.walk_packages(jax_numpy_api.__path__, "jax_numpy_api."):
        package = importlib.import_module(found.name) if found.ispkg else None
        table = package and (vars(package).get("_MODULES") or vars(package).get("_NAMES"))
        if package is None or not isinstance(table, dict):
            continue
        folder = pathlib.Path(package.__path__[0])
        lines = [f'"""The names of `{package.__name__}`. {WRITTEN}"""']
        computed: list[str] = []
        for module, names in table.items():
            defined = _defined(_source(folder, module))
            known = [n for n in names.split() if n in defined]
            computed += [n for n in names.split() if n not in defined]
            lines += [f"from .{module} import (", *(f"    {n} as {n}," for n in known), ")"] if known else []
        if computed:
            lines = [lines[0], "from typing import Any", *lines[1:], *(f"{n}: Any" for n in computed)]
        yield folder / "names.pyi", "\n".join(lines) + "\n"


def _source(folder: pathlib.Path, module: str) -> pathlib.Path:
    """The file of ``module``, named relative to the package in ``folder``."""
    up = len(module) - len(module.lstrip("."))
    for _ in range(up):
        folder = folder.parent
    path = folder.joinpath(*module.lstrip(".").split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _defined(path: pathlib.Path) -> set[str]:
    """The names that a file binds at its top level by statements that can be read."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(a.asname or a.name for a in node.names)
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.SetComp)):
            for child in ast.iter_child_nodes(node):
                visit(child)
    visit(ast.parse(path.read_text()))
    return found


def _methods_of_arrays(public: str) -> str:
    """The stub of `jax_core.representation.array_methods`, for the packages' own checks: what other packages attach to `Array`, from
    the text of the public stub."""
    classes = {node.name: node for node in ast.parse(public).body if isinstance(node, ast.ClassDef)}
    attached = {*(array_methods.value or ()), *OF_BACKENDS} - {"__hash__", "__setitem__"}
    lines = public.splitlines()

    def text(node: ast.stmt) -> str:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        return "\n".join(lines[first - 1:node.end_lineno])
    body = [text(node) for node in classes["Array"].body if isinstance(node, ast.FunctionDef) and node.name in attached]
    written = "\n".join([text(classes["_UpdateHelper"]), text(classes["_UpdateRef"]), "class ArrayMethods:", *body]) + "\n"
    written = written.replace("Sharding | PartitionSpec | Device", "Placement").replace("int | Sequence[int] | None", "Axis")
    written = re.sub(r"precision: [^=]* =", "precision: Any =", written)  # classes of `lax`, which stands above
    return (f'"""What other packages attach to `Array`. {WRITTEN}"""\n'
            "from typing import Any, Callable, Iterator, Sequence\n\nimport numpy as np\n\n"
            "from .array import Array\nfrom .typing import ArrayLike, Axis, DTypeLike, Placement\n\n" + written)
