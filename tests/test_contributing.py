"""The programs of CONTRIBUTING's walk-throughs do what they say, and its walk-throughs name what is there."""
import pathlib
import re

import pytest

from jax_core import backends
from jax_core.configuration import engine

TEXT = (pathlib.Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text()


def test_walk_throughs_run():
    """Declaration, tests and all: a primitive, its special points, a function, a distribution, a flag, a backend."""
    pytest.importorskip("mpmath")
    blocks = re.findall(r"```python not-run\n(.*?)```", TEXT, flags=re.S)
    assert len(blocks) >= 8
    names: dict = {}
    before = backends.get()
    try:
        for block in blocks:
            exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    finally:
        assert backends.use(before).name == "mine"
        engine._states.pop("jax_loud", None)  # a flag of the example, which no other test expects
    assert "test_put_keeps_contents_and_type" in names  # of the contract
