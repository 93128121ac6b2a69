"""Progress bars in notebooks: which bar is chosen, and a real notebook where the packages for one are installed."""
import sys

import pytest

from jax_callbacks import progress_bar
from jax_core.programs.jit import jit
from jax_numpy_api import lax, numpy as jnp

NOTEBOOK = """
import jax, jax.numpy as jnp
from jax_callbacks import progress_bar
body = progress_bar(lambda c, x: (jnp.tanh(c) + x, None), desc="steps")
jax.jit(lambda c: jax.lax.scan(body, c, jnp.arange(300.0))[0])(1.0).block_until_ready()
body = progress_bar(lambda i, c: jnp.sin(c), desc="turns")
jax.jit(lambda c: jax.lax.fori_loop(0, 200, body, c))(1.0).block_until_ready();
"""


class Recorded:
    """In the place of a bar class."""

    def __init__(self, total, **options):
        self.total, self.options, self.n, self.closed = total, options, 0, 0
        self.made.append(self)

    def update(self, steps):
        self.n += steps

    def close(self):
        self.closed += 1


def test_the_bar_is_the_one_that_tqdm_chooses_when_the_program_runs(monkeypatch):
    """`tqdm.auto` knows whether it is in a notebook; a bar drawn there must be made, moved and closed, never printed."""
    import tqdm.auto

    run = jit(lambda c: lax.fori_loop(0, 100, progress_bar(lambda i, c: c + 1, desc="steps", colour="green"), c))
    monkeypatch.setattr(Recorded, "made", [], raising=False)
    monkeypatch.setattr(tqdm.auto, "tqdm", Recorded)
    for _ in range(2):
        assert run(jnp.int32(0)) == 100
    assert [(b.n, b.total, b.closed) for b in Recorded.made] == [(100, 100, 1)] * 2
    assert Recorded.made[0].options["desc"] == "steps" and Recorded.made[0].options["colour"] == "green"


def test_in_a_notebook():
    why = "needs nbclient, ipykernel and ipywidgets, which are not among the test requirements"
    nbclient = pytest.importorskip("nbclient", reason=why)
    nbformat = pytest.importorskip("nbformat", reason=why)
    pytest.importorskip("ipykernel", reason=why)
    pytest.importorskip("ipywidgets", reason=why)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    client = nbclient.NotebookClient(notebook, timeout=600)
    manager = client.create_kernel_manager()
    manager.kernel_spec.argv[0] = sys.executable
    client.execute()
    assert {o.output_type for o in notebook.cells[0].outputs} == {"display_data"}  # nothing on stderr
    widgets = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    bars = [w["state"] for w in widgets if w["model_name"] == "FloatProgressModel"]
    assert [(b["value"], b["max"], b["bar_style"]) for b in bars] == [(300, 300, "success"), (200, 200, "success")]
