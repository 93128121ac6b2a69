"""`jax_tiered_compilation`: quick code first, the full code once a program has proved hot."""
import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax_xla_backend.compiling import compile as xla_compile, disk_cache, tiered_compilation
from jax_xla_backend.compiling.compiler_options import EXTRA_OPTIONS, LEVEL, QUICK_OPTIONS, first_options

pytestmark = pytest.mark.only_cpu

MATRIX = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)


@pytest.fixture(autouse=True)
def tiered():
    jax.config.update("jax_tiered_compilation", True)
    jax.clear_caches()
    yield
    tiered_compilation.wait()
    jax.config.update("jax_tiered_compilation", False)


@pytest.fixture
def on_disk(tmp_path):
    before = jax.config.jax_enable_compilation_cache, jax.config.jax_compilation_cache_dir
    jax.config.update("jax_enable_compilation_cache", True)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    yield
    jax.config.update("jax_enable_compilation_cache", before[0])
    jax.config.update("jax_compilation_cache_dir", before[1])


def layer(x, scale=1.0):
    return jax.nn.softmax(jnp.tanh(x @ x) * scale) @ x


def compiled():
    return xla_compile.counts["compiled"]


def test_first_call_is_compiled_once_the_second_starts_the_full_code_and_a_later_one_takes_it():
    function = jax.jit(layer)
    start = compiled()
    first = function(MATRIX)
    assert compiled() == start + 1
    second = function(MATRIX)
    tiered_compilation.wait()
    assert compiled() == start + 2
    third, fourth = function(MATRIX), function(MATRIX)
    assert compiled() == start + 2
    assert np.array_equal(first, second) and np.array_equal(third, fourth)
    np.testing.assert_allclose(first, third, rtol=1e-5, atol=1e-6)
    jax.config.update("jax_tiered_compilation", False)
    assert np.array_equal(third, jax.jit(functools.wraps(layer)(lambda x: layer(x)))(MATRIX))  # the same text: out of the cache
    assert compiled() == start + 2


def test_a_program_that_runs_once_is_not_compiled_in_full():
    start = compiled()
    jax.jit(lambda x: layer(x, 3.0))(MATRIX)
    tiered_compilation.wait()
    assert compiled() == start + 1


def test_calls_of_equal_programs_count_together():
    start = compiled()
    for _ in range(3):
        jax.jit(lambda x: layer(x, 8.0))(MATRIX)
        tiered_compilation.wait()
    assert compiled() == start + 2


def test_calls_of_a_hot_program_no_longer_enter_python(monkeypatch):
    counted = []
    count = tiered_compilation.Upgrade.called
    monkeypatch.setattr(tiered_compilation.Upgrade, "called", lambda self: counted.append(self) or count(self))
    function = jax.jit(lambda x: layer(x, 2.0))
    for _ in range(3):
        function(MATRIX)
        tiered_compilation.wait()
    assert len(counted) == 3
    function(MATRIX)
    assert len(counted) == 3


def test_an_executable_made_ahead_of_time_shows_and_then_is_the_full_code():
    lowered = jax.jit(lambda x: layer(x, 4.0)).lower(MATRIX)
    start = compiled()
    executable = lowered.compile()
    first = executable(MATRIX)
    assert compiled() == start + 1
    text = executable.as_text()
    assert compiled() == start + 2
    assert executable.as_text() == text and executable.cost_analysis() is not None
    np.testing.assert_allclose(first, executable(MATRIX), rtol=1e-5, atol=1e-6)
    assert compiled() == start + 2


def test_full_code_on_disk_is_taken_at_once(on_disk):
    for _ in range(2):
        jax.jit(lambda x: layer(x, 5.0))(MATRIX)
    tiered_compilation.wait()
    jax.clear_caches()
    start, hits = compiled(), disk_cache.counts["hits"]
    function = jax.jit(lambda x: layer(x, 5.0))
    function(MATRIX), function(MATRIX), function(MATRIX)
    tiered_compilation.wait()
    assert compiled() == start and disk_cache.counts["hits"] == hits + 1


def test_donated_arguments_and_derivatives_pass_through_both_tiers():
    step = jax.jit(lambda x, y: (x - 0.1 * jax.grad(lambda x: jnp.square(layer(x)).sum())(x), y * 2), donate_argnums=0)
    x, y = jnp.asarray(MATRIX), jnp.ones(5000)
    for _ in range(4):
        given = x
        x, _ = step(x, y)
        assert given.is_deleted()
        tiered_compilation.wait()
    jax.config.update("jax_tiered_compilation", False)
    expected = jnp.asarray(MATRIX)
    for _ in range(4):
        expected, _ = step.__wrapped__(expected, y)
    np.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function, level", [
    (layer, 0),
    (lambda x: lax.fori_loop(0, 3, lambda i, x: layer(x), x), 1),
    (lambda x: lax.cond(x[0, 0] > 0, lambda x: lax.scan(lambda c, y: (c * y, c), x[0], x)[0], lambda x: layer(x)[0], x), 1),
])
def test_only_programs_without_loops_are_not_optimised_at_all(function, level):
    options = dict(first_options(jax.jit(function).lower(MATRIX)._module, ()))
    assert options[LEVEL] == level
    assert dict(QUICK_OPTIONS)[EXTRA_OPTIONS] in options[EXTRA_OPTIONS]


@pytest.mark.parametrize("function, options", [
    (lambda x: x[0, :8] * 2, None),  # small arrays: quick code is the only code
    (lambda x: jnp.sin(x) * 2, None),  # a pass over the input: the same
    (layer, {"xla_cpu_enable_fast_math": False}),
    (lambda x: jax.pure_callback(np.sin, x, layer(x)), None),
])
def test_other_programs_have_one_tier(function, options):
    function = jax.jit(lambda x, f=function: f(x), compiler_options=options)
    start = compiled()
    for _ in range(3):
        function(MATRIX)
        tiered_compilation.wait()
    assert compiled() == start + 1


def test_where_the_full_code_cannot_be_compiled_the_quick_code_stays(monkeypatch, caplog):
    function = jax.jit(lambda x: layer(x, 6.0))
    first = function(MATRIX)

    def fail(self):
        raise RuntimeError("no space left")

    monkeypatch.setattr(tiered_compilation.Upgrade, "finish", fail)
    function(MATRIX)
    tiered_compilation.wait()
    assert "no space left" in caplog.text
    assert np.array_equal(function(MATRIX), first) and np.array_equal(function(MATRIX), first)


def test_many_threads_may_call_it():
    import concurrent.futures

    function = jax.jit(lambda x: layer(x, 7.0))
    start = compiled()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: np.asarray(function(MATRIX)), range(64)))
    tiered_compilation.wait()
    assert compiled() == start + 2
    for result in results:
        np.testing.assert_allclose(result, results[0], rtol=1e-5, atol=1e-6)


def test_a_process_that_ends_while_programs_are_queued_ends_well():
    program = """
import atexit
import jax, jax.numpy as jnp
x = jnp.ones((64, 64))
for scale in range(8):
    function = jax.jit(lambda x: jax.nn.softmax(jnp.tanh(x @ x) * scale) @ x)
    for _ in range(2):
        function(x)
atexit.register(lambda: [function(x) for function in [jax.jit(lambda x: jnp.tanh(x @ x) @ x)] for _ in range(3)])
print("done")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={
        **os.environ, "JAX_TIERED_COMPILATION": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
