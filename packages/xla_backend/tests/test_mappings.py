"""Programs are forgotten before the process has no memory mappings left (`jax_xla_backend.compiling.mappings`)."""
import gc
import sys
import warnings

import numpy as np
import pytest

from jax_core.programs.call import clear_caches
from jax_core.programs.jit import jit
from jax_numpy_api import lax
from jax_xla_backend.compiling import compile, mappings
from jax_xla_backend.jaxlib_compat import RuntimeError_

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not say how many mappings a process has")
X = np.arange(3, dtype=np.float32)
MANY = 120
"""Programs. Each has two mappings at least."""


@pytest.fixture
def few_left(monkeypatch):
    """As if the process could have as many mappings as it has, and those of a few programs."""
    jit(scaled, static_argnums=1)(X, -1.0)  # loads what the first program needs
    clear_caches()
    gc.collect()
    monkeypatch.setattr(mappings, "TURN", 8)
    monkeypatch.setattr(mappings, "SPARE", 0)
    limit = mappings.mapped() + MANY // 2
    monkeypatch.setattr(mappings, "most", lambda: limit)
    return limit


def scaled(x, k):
    return lax.mul(x, k)


def test_many_shapes(few_left):
    """Programs of one function are forgotten and compiled again."""
    function, before = jit(scaled, static_argnums=1), compile.counts["compiled"]
    with pytest.warns(RuntimeWarning, match="memory mappings"):
        for k in range(MANY):
            np.testing.assert_array_equal(function(X, float(k)), X * k)
    assert mappings.mapped() <= few_left + MANY // 2
    assert compile.counts["compiled"] - before >= MANY
    np.testing.assert_array_equal(function(X, 0.0), 0 * X)


def test_functions_that_are_gone(few_left):
    """What nobody holds is forgotten without a word."""
    warnings.simplefilter("error")  # pytest puts back what was before
    for k in range(MANY):
        np.testing.assert_array_equal(jit(lambda x: lax.mul(x, float(k)))(X), X * k)


def test_held_by_the_caller(few_left):
    held = []
    with pytest.warns(RuntimeWarning), pytest.raises(RuntimeError_, match=r"RESOURCE_EXHAUSTED: this process has .* Let go of compiled programs"):
        for k in range(MANY):
            held.append(jit(scaled, static_argnums=1).lower(X, float(k)).compile())
    np.testing.assert_array_equal(held[1](X), X)
    with pytest.warns(RuntimeWarning), pytest.raises(RuntimeError_, match="RESOURCE_EXHAUSTED"):  # the next one, too
        jit(scaled, static_argnums=1).lower(X, -2.0).compile()
    first = len(held)
    held.clear()
    held.append(jit(scaled, static_argnums=1).lower(X, float(first)).compile())
    np.testing.assert_array_equal(held[0](X), X * first)


def test_a_system_that_does_not_say(few_left, monkeypatch):
    monkeypatch.setattr(mappings, "most", lambda: None)
    for k in range(MANY):
        np.testing.assert_array_equal(jit(scaled, static_argnums=1)(X, float(k)), X * k)


def test_what_the_system_says():
    assert mappings.most() > 0 and mappings.mapped() > 0
