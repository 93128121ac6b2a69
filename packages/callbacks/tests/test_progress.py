"""Progress bars and statistics."""
import functools
import io

import numpy as np
import pytest

from jax_callbacks import callback_stats, io_callback, progress_bar, pure_callback, reset_callback_stats
from jax_core.configuration.flags import disable_jit_context as disable_jit
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation import tree
from jax_core.transformations.autodiff import grad, jacfwd
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.api import block_until_ready


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
    calls = []
    body = progress_bar(lambda c, x: (c + 1, None), file=io.StringIO())
    report = body.bar.report
    body.bar.report = lambda step, total: calls.append(int(step)) or report(step, total)
    assert lax.scan(body, 0, None, length=100_000)[0] == 100_000
    assert calls[:3] == [0, 1, 10] and len(calls) < 60


def test_a_function_around_a_body_is_a_body_of_its_own():
    body, output = bar(step)

    @functools.wraps(body)
    def twice(c, x):
        return body(*body(c, x)[:1], x)
    assert twice.__name__ == body.__name__ == "step"
    plain = lambda c, x: step(*step(c, x)[:1], x)
    assert lax.scan(twice, 1.0, jnp.arange(3.0))[0] == lax.scan(plain, 1.0, jnp.arange(3.0))[0] and not output.getvalue()


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
    def fails(x):
        raise ValueError("no")
    with pytest.raises(ValueError):
        block_until_ready(jit(lambda x: pure_callback(fails, x, x))(1.0))
    assert [row.calls for row in callback_stats() if row.function.startswith("fails at ")] == [1]
    reset_callback_stats()
    assert not callback_stats()


# -- the loop over runs of steps -------------------------------------------------------------------------------------

def walk(c, x):
    return c * 1.01 + x, c - x


@pytest.mark.parametrize("length", [1, 2, 7, 64, 65])
@pytest.mark.parametrize("options", [{}, {"reverse": True}, {"unroll": 3}, {"unroll": 4, "reverse": True}, {"unroll": True}],
                         ids=str)
def test_scan_of_any_length(length, options):
    body, output = bar(walk)
    xs = jnp.linspace(0.0, 1.0, length)
    ours, theirs = (jit(lambda c, b=b: lax.scan(b, c, xs, **options))(0.5) for b in (body, walk))
    for a, b in zip(tree.leaves(ours), tree.leaves(theirs)):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert f"{length}/{length}" in last(output)


@pytest.mark.parametrize("transform", [
    lambda f: f, grad, lambda f: grad(grad(f)), lambda f: grad(checkpoint(f)), lambda f: jacfwd(f),
    lambda f: lambda z: vmap(grad(f))(jnp.stack([z, 2 * z])), lambda f: grad(lambda z: vmap(f)(jnp.stack([z, 2 * z])).sum())],
    ids=["value", "grad", "hessian", "checkpoint", "jacfwd", "vmap of grad", "grad of vmap"])
def test_derivatives_and_batches(transform):
    body, output = bar(lambda c, x: (jnp.sin(c) * x + c, c))
    value = lambda b: lambda z: (lambda c, ys: c + ys.sum())(*lax.scan(b, z, jnp.arange(33.0)))
    ours = jit(transform(value(body)))(0.3)
    np.testing.assert_allclose(ours, jit(transform(value(body.__wrapped__)))(0.3), rtol=1e-5)
    assert last(output).startswith("<lambda>: 100%") and output.getvalue().count("\n") == 1


def test_batch_of_while_loops_runs_together():
    body, output = bar(lambda c: c + 1)
    f = lambda n: lax.while_loop(lambda c: c < n, body, 0)
    assert jit(vmap(f))(jnp.arange(40)).tolist() == list(range(40))
    assert last(output).startswith("<lambda>: 39it")
    assert "scan" not in str(make_jaxpr(vmap(f))(jnp.arange(40)))


def test_while_loop_with_bound():
    for transform in (lambda f: f, grad):
        body, output = bar(lambda c: c * 1.5, length=6)
        f = transform(lambda x: lax.while_loop(lambda c: c < 10, body, x, max_steps=20))
        np.testing.assert_allclose(jit(f)(1.0), 1.5**6, rtol=1e-6)
        assert "6/6" in last(output)


def test_fori_loop_with_traced_bounds():
    body, output = bar(lambda i, c: c + i)
    assert jit(lambda n: lax.fori_loop(0, n, body, 0))(100) == 4950
    assert last(output).startswith("<lambda>: 100it")


def test_without_jit():
    body, output = bar(step)
    with disable_jit():
        lax.scan(body, 1.0, jnp.arange(5.0))
    assert "5/5" in last(output)


def test_one_body_in_loops_of_two_lengths():
    body, output = bar(step)
    lax.scan(body, 1.0, jnp.arange(5.0))
    lax.scan(body, 1.0, jnp.arange(6.0))
    assert "5/5" in output.getvalue() and "6/6" in last(output)


def test_nested_bars():
    inner, low = bar(lambda i, c: c + 1)
    outer, high = bar(lambda i, c: lax.fori_loop(0, 4, inner, c))
    assert jit(lambda c: lax.fori_loop(0, 3, outer, c))(0) == 12
    assert "3/3" in last(high) and low.getvalue().count("4/4") >= 3


def test_other_callbacks_in_the_body_keep_their_order():
    seen = []
    body, output = bar(lambda i, c: io_callback(lambda i, c: seen.append(int(i)) or c + 1, c, i, c, ordered=True))
    assert jit(lambda c: lax.fori_loop(0, 20, body, c))(np.int32(0)) == 20
    assert seen == list(range(20)) and "20/20" in last(output)


def test_the_loop_over_steps_calls_nobody():
    """The call is in the loop around it, so the steps themselves are compiled as without a bar."""
    body, _ = bar(lambda i, c: jnp.sqrt(c))
    text = jit(lambda c: lax.fori_loop(0, 1000, body, c)).lower(1.0).as_text()
    inner = text[text.rindex("stablehlo.while"):]
    assert text.count("stablehlo.while") == 2 and "stablehlo.sqrt" in inner
    assert "custom_call" not in inner[:inner.index("stablehlo.sqrt")]
