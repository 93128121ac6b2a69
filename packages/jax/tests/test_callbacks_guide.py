"""The programs in the guide `docs/callbacks.md` and the example `examples/live_plot.py` run, and give what they say."""
import importlib.util
import pathlib
import re

import numpy as np
import pytest

import jax.numpy as jnp

ROOT = pathlib.Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "callbacks.md"
FRAGMENTS = ("carry, ys = ", ">>> ", "callback_timeout")  # of programs that are not shown whole


@pytest.mark.skipif(not GUIDE.exists(), reason="the package is tested outside of its repository")
def test_guide(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S):
        if not any(fragment in block for fragment in FRAGMENTS):
            exec(block, names)
    assert capsys.readouterr().out.splitlines() == ["sum so far: 6.0", "part-7"]
    jax, jv = names["jax"], names["jv"]
    assert str(jax.grad(jv, argnums=1)(1, 2.0)) == "-0.06447162"
    assert str(jax.vmap(jax.hessian(jv, argnums=1), (None, 0))(1, jnp.full(2, 2.0))[0]) == "-0.4003078"


@pytest.mark.skipif(not (ROOT / "examples" / "live_plot.py").exists(), reason="outside of the repository")
def test_live_plot(tmp_path):
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("live_plot", ROOT / "examples" / "live_plot.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.STEPS, example.EVERY = 200, 50
    curve = example.Curve()
    _, losses = example.train(curve)
    assert curve.steps == [0, 50, 100, 150] and curve.losses[-1] < curve.losses[0]
    np.testing.assert_allclose(curve.losses, np.asarray(losses)[::50], rtol=1e-6)
    curve.save(str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.png").stat().st_size > 1000
