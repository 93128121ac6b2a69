"""Cotangents of parts of a large value are joined before they are added (`jax_core.transformations.parts`)."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations import parts
from jax_core.transformations.autodiff import grad, hessian, linear_transpose
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

N = 256
LARGE = np.random.default_rng(0).uniform(-1, 1, (N, N)).astype(np.float32)
assert LARGE.size >= parts.LARGE


def squares(x, pieces):
    return sum([jnp.sum(piece ** 2) * (i + 1) for i, piece in enumerate(pieces)])


def recurrent(x):
    state = jnp.zeros(N)
    for t in range(8):
        state = lax.sin(state + x[t])
    return jnp.sum(state)


PROGRAMS = {  # name: function of a large array, how many arrays as large as it are in the transposed program
    "rows": (lambda x: squares(x, [x[i] for i in range(N)]), 0),
    "rows of an iterator": (lambda x: squares(x, x), 1),
    "columns": (lambda x: squares(x, [x[:, i] for i in range(N)]), 0),
    "backwards": (lambda x: squares(x, [x[i] for i in reversed(range(N))]), 0),
    "halves": (lambda x: squares(x, [x[:100], x[100:]]), 2),
    "thirds": (lambda x: squares(x, [x[:100], x[100:120], x[120:]]), 0),
    "windows": (lambda x: squares(x, [x[i:i + 3] for i in range(30)]), 3),
    "some rows": (lambda x: squares(x, [x[i] for i in (3, 4, 5, 9, 10)]), 2),
    "the same": (lambda x: squares(x, [x[7]] * 3 + [x[7], x[7]]), 3),
    "rows and columns": (lambda x: squares(x, [x[i] for i in range(N)] + [x[:, i] for i in range(N)]), 0),
    "rows beside all": (lambda x: squares(x, [x[i] for i in range(N)]) + jnp.sum(x ** 3), 0),
    "blocks": (lambda x: squares(x, [x[i:i + 9, j:j + 9] for i in range(2) for j in range(2)]), 4),
    "steps": (lambda x: squares(x, [x[i::4] for i in range(4)]), 4),
    "recurrent": (recurrent, 1),
}


def check_slope(function, plain, monkeypatch):
    """That of ``function`` is that of ``plain`` by sums of parts with zeros around them."""
    found = grad(function)(LARGE), jit(grad(function))(LARGE)
    monkeypatch.setattr(parts, "LARGE", LARGE.size + 1)
    wanted = grad(plain)(LARGE)
    for x in found:
        np.testing.assert_allclose(x, wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name, monkeypatch):
    function, _ = PROGRAMS[name]
    check_slope(function, function, monkeypatch)


NESTED = {  # name: function that runs a program, which keeps its transposed one, and what that computes
    "checkpoint": (checkpoint(recurrent), recurrent),
    "jit": (jit(lambda x: squares(x, [x[i] for i in range(N)])), PROGRAMS["rows"][0]),
    "branches": (lambda x: lax.cond(x[0, 0] > 9, lambda x: 0.0, lambda x: squares(x, [x[i] for i in range(9)]), x), lambda x: squares(x, [x[i] for i in range(9)])),
    "loop": (lambda x: lax.scan(lambda c, _: (c + squares(x, [x[i] for i in range(5)]), None), 0.0, length=2)[0],
             lambda x: 2 * squares(x, [x[i] for i in range(5)])),
}


@pytest.mark.parametrize("name", NESTED)
def test_values_of_nested_programs(name, monkeypatch):
    check_slope(*NESTED[name], monkeypatch)


@pytest.mark.parametrize("name", PROGRAMS)
def test_zeros_are_put_around_runs_only(name):
    function, count = PROGRAMS[name]
    eqns = make_jaxpr(grad(function))(LARGE).jaxpr.eqns
    assert sum([eqn.primitive is lax.pad_p and eqn.outvars[0].aval.shape == LARGE.shape for eqn in eqns]) == count


def test_small_values_have_sums():
    """A kernel for each part would take more time to compile than they save."""
    x = LARGE[:100, :100]
    eqns = make_jaxpr(grad(lambda x: squares(x, [x[i] for i in range(100)])))(x).jaxpr.eqns
    assert sum([eqn.primitive is lax.pad_p for eqn in eqns]) == 100


def test_transformed():
    function, _ = PROGRAMS["some rows"]
    some = np.stack([LARGE, -LARGE])
    np.testing.assert_allclose(vmap(grad(function))(some), [grad(function)(x) for x in some], rtol=1e-6)
    with flags.enable_x64(True):
        found = grad(function)(LARGE.astype(np.float64))
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, grad(function)(LARGE), rtol=1e-6)
    rows = linear_transpose(lambda x: [x[i] for i in range(N)], LARGE)([np.full(N, i, np.float32) for i in range(N)])[0]
    np.testing.assert_array_equal(rows, np.repeat(np.arange(N, dtype=np.float32)[:, None], N, 1))
    scale = grad(lambda s: jnp.sum(grad(function)(s * LARGE)))(1.0)
    np.testing.assert_allclose(scale, np.sum(np.asarray(grad(function)(LARGE))), rtol=1e-4)
    assert hessian(lambda x: x[0] * x[1] * x[2])(np.arange(1.0, 4.0, dtype=np.float32)).tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]


def test_types_of_half_precision():
    x = LARGE.astype(jnp.bfloat16)
    assert grad(lambda x: squares(x, [x[i] for i in range(3)]).astype(np.float32))(x).dtype == jnp.bfloat16
