"""The stubs beside the modules as they run, by mypy's stubtest; what may differ stands in a file, with its reason."""
from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ALLOWED = pathlib.Path(__file__).resolve().parent / "data" / "stubtest_allowed.txt"
MYPY = "2.4"  # with which the file was written; another one may find more, or word it otherwise
INSTALLED = importlib.util.find_spec("mypy") and importlib.metadata.version("mypy")
pytestmark = pytest.mark.skipif(not INSTALLED or not INSTALLED.startswith(f"{MYPY}."), reason=f"needs mypy {MYPY}, with which the list was written")


def stubtest(*arguments, **options):
    """What mypy's comparison of stubs with the modules as they run finds, a line each."""
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-disjoint-bases", *arguments],
                          capture_output=True, text=True, timeout=800, **options)
    assert not done.stdout.startswith("error"), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if " is " in line or " differs " in line]


def test_stubs_differ_where_they_may(tmp_path):
    """Names, parameters, defaults, classes and their members of all public modules, but for what a file allows, with reasons."""
    assert stubtest("jax", "--allowlist", str(ALLOWED), "--ignore-unused-allowlist", cwd=tmp_path) == []


@pytest.mark.parametrize("stub, found", [
    ("def f(x, n=..., *rest, key=...): ...", []), ("def f(x, n, *rest, key=...): ...", ["f is inconsistent"]),
    ("def f(x, n=..., *rest): ...", ["f is inconsistent"]), ("def f(x, n=..., *rest, key=...): ...\nx: int", ["x is not present"]),
], ids=["right", "a default", "a parameter", "a name"])
def test_differences_from_stubs_are_found(tmp_path, stub, found):
    """They would be, in the way that `stubtest` asks."""
    (tmp_path / "planted.py").write_text("def f(x, n=1, *rest, key=None): return x")
    (tmp_path / "planted.pyi").write_text(stub)
    lines = stubtest("planted", cwd=tmp_path, env={**os.environ, "MYPYPATH": str(tmp_path), "PYTHONPATH": str(tmp_path)})
    assert len(lines) == len(found) and all(line.startswith(f"planted.{text}") for line, text in zip(lines, found)), lines
