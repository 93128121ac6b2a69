"""The stubs: up to date, and what type checkers make of a program of typical lines."""
from __future__ import annotations

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "data" / "typed_program.py"
SOURCE = HERE.parent / "src"  # not what is installed, as mypy looks for no sources there
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
