"""Which names of `jax` do libraries use? Writes ``tests/data/client_names.txt``, which a test walks, so that none is removed unseen.

    python packages/jax/tools/client_names.py --reference PYTHON FOLDER...

Each FOLDER holds sources of libraries (a ``site-packages``, or folders of their repositories), one in each entry. Names are read from
imports and from attributes of what was imported, in Python files and in the cells of notebooks; nothing of the libraries is run. PYTHON
is an interpreter with the public jax: names that it lacks are left out. Printed are the names that it has and ours lacks. Names that
stand in the file already are kept, so that neither a run with fewer libraries nor one with a newer jax loses any.
"""
from __future__ import annotations

import argparse
import ast
import collections
import importlib
import json
import pathlib
import subprocess
import sys
import warnings
from types import ModuleType
from typing import Any, Iterator

LIST = pathlib.Path(__file__).parents[1] / "tests" / "data" / "client_names.txt"


def dotted(node: ast.AST) -> tuple[str, list[str]] | None:
    """``a.b.c`` as its first name and the others; None where it does not start with a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return (node.id, parts) if isinstance(node, ast.Name) else None


def names_in(source: str) -> set[str]:
    """Full names of what ``source`` uses of `jax`."""
    program = ast.parse(source)
    known: dict[str, str] = {}  # what a name of the file stands for
    found: set[str] = set()
    for node in ast.walk(program):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name.split(".")[0] == "jax":
                    found.add(a.name)
                    known[a.asname or "jax"] = a.name if a.asname else "jax"
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "jax":
            for a in node.names:
                full = f"{node.module}.{a.name}" if a.name != "*" else str(node.module)
                found.add(full)
                known[a.asname or a.name] = full
    for node in ast.walk(program):
        if isinstance(node, ast.Attribute) and (path := dotted(node)) and path[0] in known:
            found.add(".".join([known[path[0]], *path[1]]))
    return found


def programs(path: pathlib.Path) -> Iterator[str]:
    """The Python programs of a file."""
    text = path.read_text(errors="ignore")
    if path.suffix == ".py":
        yield text
    else:
        for cell in json.loads(text).get("cells", ()):
            if cell["cell_type"] == "code":
                yield "".join(line for line in cell["source"] if not line.lstrip().startswith(("%", "!")))


def collect(folders: list[pathlib.Path]) -> dict[str, set[str]]:
    """By name the libraries that use it."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for folder in folders:
        for path in [*folder.rglob("*.py"), *folder.rglob("*.ipynb")]:
            library = path.relative_to(folder).parts[0].split("+")[-1].removesuffix(".py")
            if library == "jaxlib" or library.split("_")[0] == "jax" and library in ("jax", "jax_core", "jax_numpy_api", "jax_xla_backend"):
                continue
            try:
                for source in programs(path):
                    if "jax" in source:
                        for name in names_in(source):
                            found[name].add(library)
            except (SyntaxError, ValueError, KeyError):
                continue  # templates, and files for other versions of Python
    return found


def get(name: str) -> Any:
    """What ``name`` stands for. Raises AttributeError or ImportError."""
    parts = name.split(".")
    value: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        try:
            value = getattr(value, part)
        except AttributeError:
            if not isinstance(value, ModuleType):
                raise
            value = importlib.import_module(".".join(parts[:i]))
    return value


def resolvable(names: list[str]) -> list[str]:
    """Those of ``names`` that the `jax` of this interpreter has."""
    def has(name: str) -> bool:
        try:
            get(name)
        except Exception:  # whatever it is, a library that asks does not get it
            return False
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [n for n in names if has(n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="an interpreter with the public jax")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    used = collect(args.folders)
    kept = {name: libraries for name, *libraries in map(str.split, LIST.read_text().splitlines())}
    for name, libraries in kept.items():
        used[name].update(libraries)
    asked = subprocess.run([args.reference, __file__, "--resolve"], input=json.dumps(sorted(used)), capture_output=True, text=True, check=True)
    there, here = json.loads(asked.stdout), resolvable(sorted(used))
    listed = sorted({*here} & {*there} | {*kept})
    LIST.write_text("".join(f"{name}  {' '.join(sorted(used[name])[:3])}\n" for name in listed))
    print(f"{len(listed)} names of {len(set().union(*used.values()))} libraries; the public jax has {len({*there} - {*here})} that ours lacks:")
    for name in sorted({*there} - {*here}):
        print(" ", name, *sorted(used[name]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--resolve"]:
        print(json.dumps(resolvable(json.load(sys.stdin))))
    else:
        main()
