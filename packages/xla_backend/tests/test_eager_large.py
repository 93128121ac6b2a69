"""Which way eager calls on large arrays take: NumPy on the host or compiled code."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_numpy_api import lax
from jax_xla_backend.running import eager

pytestmark = pytest.mark.only_cpu


@pytest.mark.parametrize("call, programs", [
    (lambda x: lax.rev(x, (0,)), 1), (lambda x: x[::-1], 1), (lambda x: x.T, 1), (lambda x: lax.ge(x, x), 1), (lambda x: lax.sort(x), 0),
    (lambda x: lax.cumsum(lax.bitcast_convert_type(x, np.int32)), 1), (lambda x: lax.transpose(lax.reshape(x, (2, 64, 1024)), (1, 0, 2)), 1)],
    ids=["rev", "index", "T", "compare", "sort", "cumsum", "rows move"])
def test_large_exact_calls_are_compiled_once_they_have_moved_much(monkeypatch, call, programs):
    """Where compiled code is faster than NumPy; the first calls, and those of which each has a new shape, are NumPy's."""
    compiled, compile_ = [], eager._compile
    monkeypatch.setattr(eager, "_compile", lambda *args: compiled.append(args) or compile_(*args))
    eager.clear()
    big = jnp.asarray(np.random.default_rng(0).normal(size=(256, 512)).astype(np.float32))
    first = np.asarray(call(big))
    assert compiled == []
    for _ in range(70):
        again = call(big)
    assert len(compiled) == programs
    np.testing.assert_array_equal(again, first)


def test_calls_of_many_shapes_compile_nothing(monkeypatch):
    monkeypatch.setattr(eager, "_compile", None)
    for n in range(100_000, 100_080):
        assert lax.rev(jnp.zeros(n), (0,)).shape == (n,)


@pytest.mark.parametrize("call", [lambda x: x[::-1], lambda x: x[::2], lambda x: x.T[:, ::-3], lambda x: lax.full((300, 400), 2.5)])
def test_results_that_lie_in_steps_are_copied_right(call):
    x = np.arange(90_000, dtype=np.float32).reshape(300, 300)
    np.testing.assert_array_equal(call(jnp.asarray(x)), call(x))
