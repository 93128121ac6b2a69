"""The stubs: up to date, and what type checkers make of a program of typical lines."""
from __future__ import annotations

import ast
import collections
import importlib.util
import inspect
import json
import pathlib
import re
import subprocess
import sys
import types

import pytest

import jax

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "data" / "typed_program.py"
SOURCE = pathlib.Path(jax.__file__).resolve().parents[1]
MAKER = HERE.parent / "tools" / "make_stubs.py"


def expected_errors() -> set[int]:
    """The lines of the program that must be errors."""
    return {i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.endswith("# error")}


def need(tool: str) -> None:
    """Skip where a tool of development is not installed; `./run types` has all of them."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")


def test_stubs_are_up_to_date():
    """`python packages/jax/tools/make_stubs.py` mends it."""
    done = subprocess.run([sys.executable, MAKER, "--check"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def in_stub(function: ast.FunctionDef) -> dict[str, bool]:
    """The parameters of a function in a stub, and whether each has a default; ``*`` and ``**`` stand for all others."""
    args = function.args
    by_place = args.posonlyargs + args.args
    defaults = [False] * (len(by_place) - len(args.defaults)) + [True] * len(args.defaults)
    return {**{p.arg: d for p, d in zip(by_place, defaults)}, **({"*": False} if args.vararg else {}),
            **{p.arg: d is not None for p, d in zip(args.kwonlyargs, args.kw_defaults)}, **({"**": False} if args.kwarg else {})}


def in_module(function: object) -> dict[str, bool]:
    """The same of the function itself."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return {stars.get(p.kind, p.name): p.default is not p.empty for p in inspect.signature(function).parameters.values()}


def differ(stub: str, module: types.ModuleType) -> list[str]:
    """The functions and named tuples of a stub that take other arguments than those of the module."""
    wrong, overloads = [], {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef):
            overloads.setdefault(node.name, []).append(in_stub(node))
        elif isinstance(node, ast.ClassDef) and hasattr(getattr(module, node.name, None), "_field_defaults"):
            fields = {n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and n.value is not None}
            if fields != set(getattr(module, node.name)._field_defaults):
                wrong.append(node.name)
    for name, written in overloads.items():
        try:
            own = in_module(getattr(module, name))
        except ValueError:  # of C++
            continue
        together = set().union(*written)
        if len(written) == 1 and written[0] != own or "*" not in together and not set(own) <= together:
            wrong.append(name)
    return wrong


STUBS = {".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
         for path in sorted((SOURCE / "jax").rglob("*.pyi")) if "_src" not in path.parts}


@pytest.mark.parametrize("module", STUBS)
def test_functions_in_stubs_take_what_functions_take(module):
    """Names, order of names and defaults; with overloads, no parameter is forgotten."""
    assert differ(STUBS[module].read_text(), importlib.import_module(module)) == []


def test_differences_from_stubs_are_found():
    module = types.SimpleNamespace(f=lambda x, n=1, *rest, key=None: x, Pair=collections.namedtuple("Pair", "a b", defaults=(1,)))
    right = "def f(x, n=..., *rest, key=...): ...\nclass Pair(NamedTuple):\n    a: int\n    b: int = ..."
    assert differ(right, module) == []
    assert differ(right.replace("n=...", "n"), module) == differ(right.replace(", key=...", ""), module) == ["f"]
    assert differ(right.replace("b: int = ...", "b: int"), module) == ["Pair"]


def test_mypy_sees_types_and_typos(tmp_path):
    """Errors on the lines that are marked, and on no others; neither in the stubs."""
    need("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--config-file", "", "--no-error-summary", PROGRAM],
                          capture_output=True, text=True, timeout=300, env={"MYPYPATH": str(SOURCE), "PATH": ""}, cwd=tmp_path)
    lines = re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, flags=re.MULTILINE)
    assert lines, done.stdout + done.stderr
    found = {int(line) for path, line, _ in lines if path.endswith(PROGRAM.name)}
    assert found == expected_errors(), done.stdout
    assert not [line for line in lines if line[0].endswith(".pyi")], done.stdout


def test_pyright_sees_types_and_typos(tmp_path):
    """The same lines."""
    need("pyright")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(SOURCE)], "include": [PROGRAM.name]}))
    (tmp_path / PROGRAM.name).write_text(PROGRAM.read_text())
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300)
    found = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert {d["range"]["start"]["line"] + 1 for d in found} == expected_errors(), done.stdout


@pytest.mark.parametrize("before, after", [("jnp.", "arctan2"), ("jnp.linalg.", "eigh"), ("jnp.zeros(3).", "reshape"), ("jnp.sin(1.).at[0].", "set"),
                                           ("jax.", "value_and_grad"), ("jax.scipy.stats.norm.", "logpdf"), ("jax.tree.", "leaves")])
def test_editors_complete(before, after):
    """With jedi, which interactive shells use."""
    need("jedi")
    import jedi
    project = jedi.Project(SOURCE, added_sys_path=[str(SOURCE)])
    code = f"import jax, jax.scipy\nimport jax.numpy as jnp\n{before}{after[:2]}"
    assert after in [c.name for c in jedi.Script(code, project=project).complete()]
