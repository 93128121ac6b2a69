"""The programs in the guide `docs/howto/callbacks.md` and the example `examples/live_plot.py` run, and give what they say."""
import contextlib
import importlib.util
import pathlib
import re

import numpy as np
import pytest

import jax.numpy as jnp

ROOT = pathlib.Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "howto" / "callbacks.md"


@pytest.mark.only_cpu
@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the package is tested outside of its repository")
def test_guide(capsys):
    """What the page shows is made when the site is built; here what its programs print last, and their derivatives."""
    names: dict = {}
    for block in re.findall(r"```python(?: raises)?\n(.*?)```", GUIDE.read_text(), re.S):
        with contextlib.suppress(Exception):  # those that are to raise; `blocks.run_page` sees to it that no others do
            exec(block, names)
    assert capsys.readouterr().out.splitlines()[-3:] == ["[ 0.          0.44005057  0.5767248   0.33905897 -0.06604332]", "-0.06447162", "part-7"]
    assert str(names["jax"].vmap(names["jax"].hessian(names["j1"]))(jnp.full(2, 2.0))[0]) == "-0.4003078"


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
