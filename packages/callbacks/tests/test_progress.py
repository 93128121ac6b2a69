"""Progress bars and statistics."""
import io

import numpy as np
import pytest
from jax_callbacks import callback_stats, io_callback, progress_bar, pure_callback, reset_callback_stats
from jax_core import tree
from jax_core.autodiff import grad
from jax_core.jit import jit
from jax_core.vmap import vmap
from jax_numpy_api import lax, numpy as jnp


def bar(body, **options):
    output = io.StringIO()
    return progress_bar(body, file=output, interval=0, **options), output


def last(output):
    return output.getvalue().split("\r")[-1].strip()


def step(c, x):
    return c * jnp.cos(x), x


@pytest.mark.parametrize("mode", [lambda f: f, jit, grad, lambda f: jit(grad(f)),
                                  lambda f: lambda z: vmap(f)(jnp.stack([z, z]))])
def test_scan(mode):
    body, output = bar(step, desc="steps")
    f = lambda z: lax.scan(body, z, jnp.arange(50.0))[0]
    g = lambda z: lax.scan(step, z, jnp.arange(50.0))[0]
    np.testing.assert_allclose(mode(f)(0.5), mode(g)(0.5), rtol=1e-6)
    assert last(output).startswith("steps: 100%") and "50/50" in last(output)


def test_results_of_scan_are_those_without_bar():
    xs = jnp.arange(7.0)
    for reverse in (False, True):
        ours = lax.scan(bar(step)[0], 1.0, xs, reverse=reverse)
        for a, b in zip(tree.leaves(ours), tree.leaves(lax.scan(step, 1.0, xs, reverse=reverse))):
            np.testing.assert_array_equal(a, b)


def test_other_loops():
    body, output = bar(lambda i, c: c + i)
    assert jit(lambda x: lax.fori_loop(2, 12, body, x))(0) == 65
    assert "10/10" in last(output)
    body, output = bar(lambda c: c + 1)
    assert lax.while_loop(lambda c: c < 9, body, 0) == 9
    assert last(output).startswith("<lambda>: 9it")
    body, output = bar(lambda x: x * 2)
    assert lax.map(body, jnp.arange(4)).tolist() == [0, 2, 4, 6]
    assert "4/4" in last(output)
    body, output = bar(lambda c: c + 1)
    assert vmap(lambda n: lax.while_loop(lambda c: c < n, body, 0))(jnp.arange(4)).tolist() == [0, 1, 2, 3]


def test_two_runs_draw_two_bars():
    body, output = bar(step)
    f = jit(lambda z: lax.scan(body, z, jnp.arange(5.0))[0])
    f(1.0)
    f(1.0)
    assert output.getvalue().count("5/5") >= 2


def test_few_reports_for_many_steps():
    from jax_callbacks import progress

    calls = []
    body = progress_bar(lambda c, x: (c + 1, None), file=io.StringIO())
    loop = body.__jax_loop__
    report = loop.bar._report
    loop.bar._report = lambda step: calls.append(step) or report(step)
    assert lax.scan(body, 0, None, length=100_000)[0] == 100_000
    assert calls[:3] == [0, 1, 4] and len(calls) < 60 and progress is not None


def test_bad_arguments():
    with pytest.raises(TypeError, match="expected the body of a loop"):
        progress_bar(3)
    with pytest.raises(ValueError, match="interval must not be negative"):
        progress_bar(step, interval=-1)


def test_callback_stats():
    def counted(x):
        return x
    reset_callback_stats()
    f = jit(lambda x: pure_callback(counted, x, x))
    for _ in range(3):
        f(1.0)
    vmap(lambda x: io_callback(counted, x, x))(jnp.arange(4.0))
    rows = {row.kind: row for row in callback_stats() if row.function.startswith("counted at ")}
    assert rows["pure_callback"].calls == 3 and rows["io_callback"].calls == 4
    assert 0 < rows["pure_callback"].seconds < 1 and rows["pure_callback"].mean == rows["pure_callback"].seconds / 3
    reset_callback_stats()
    assert not callback_stats()
