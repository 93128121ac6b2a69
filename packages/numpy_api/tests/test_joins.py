"""Many computed arrays are put together a few at a time, where XLA would compute each in a kernel of its own (`jax_xla_backend.planning.joins`)."""
import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_numpy_api import lax

WIDE = np.random.default_rng(0).uniform(-1, 1, (300, 300)).astype(np.float32)
FEW = np.ones(10, np.float32)
GROUP = "put together in one kernel"


def squares(pieces):
    return sum([jnp.sum(piece ** 2) for piece in pieces])


def turned(x, i):
    return jnp.sin(x) * i


def summed_too(x):
    rows = [jnp.sin(x[i]) for i in range(20)]
    return jnp.stack(rows), sum(rows)


def in_loop(x):
    return lax.scan(lambda c, _: (jnp.stack([jnp.sin(c * i) for i in range(20)]).sum(0), None), x, None, length=3)[0]


PROGRAMS = {  # name: function of a large array, how many groups it puts together
    "rows": (lambda x: jnp.stack([jnp.sin(x[i]) for i in range(20)]), 3),
    "columns": (lambda x: jnp.stack([jnp.sin(x[i]) for i in range(20)], -1), 3),
    "long columns": (lambda x: jnp.stack([jnp.sin(x.ravel() * i) for i in range(20)], -1), 0),
    "long rows": (lambda x: jnp.stack([jnp.sin(x.ravel() * i) for i in range(20)]), 3),
    "blocks": (lambda x: jnp.concatenate([turned(x[:, i:2 * i], i) for i in range(3, 20)], 1), 3),
    "many": (lambda x: jnp.stack([jnp.sin(x[i]) for i in range(70)]), 9 + 2),
    "numbers": (lambda x: jnp.stack([jnp.sum(x * i) + i for i in range(20)]), 3),
    "called": (lambda x: jnp.stack([jit(turned)(x[i], i) for i in range(20)]), 3),
    "slices": (lambda x: jnp.concatenate([x[i:i + 30, ::-1] for i in range(20)]), 3),
    "few": (lambda x: jnp.stack([jnp.sin(x[i]) for i in range(8)]), 0),
    "products": (lambda x: jnp.stack([x @ x[i] for i in range(20)]), 0),
    "read twice": (summed_too, 0),
    "results": (lambda x: [row := jnp.sin(x), jnp.concatenate([row] * 20)], 0),
    "slope of rows": (grad(lambda x: squares([x[i] for i in range(30)])), 4),
    "slope of pieces": (grad(lambda x: squares(jnp.split(x, 20))), 3),
    "slope of unstack": (grad(lambda x: squares(lax.unstack(x[:30]))), 4),
    "loop": (in_loop, 3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_groups(name):
    function, groups = PROGRAMS[name]
    compiled = jit(function)
    assert compiled.lower(WIDE).as_text(debug_info=True).count(GROUP) == groups
    found, wanted = compiled(WIDE), function(WIDE)
    for x, y in zip(found if isinstance(found, (list, tuple)) else [found], wanted if isinstance(wanted, (list, tuple)) else [wanted]):
        np.testing.assert_allclose(x, y, rtol=2e-6, atol=1e-4 if name in ("products", "numbers") else 1e-6)


def test_small_programs_are_as_they_were():
    """A barrier would keep them from being compiled the quick way."""
    assert GROUP not in jit(lambda x: jnp.stack([jnp.sin(x * i) for i in range(20)])).lower(FEW).as_text(debug_info=True)


@pytest.mark.parametrize("dtype", ["int2", "int8", "bool", "bfloat16", "complex64"])
def test_dtypes(dtype):
    x = jnp.asarray(np.arange(20_000) % 2, dtype)
    found = jit(lambda x: jnp.stack([x[i:i + 1000] ^ x[1] if dtype in ("int2", "int8", "bool") else x[i:i + 1000] + x[1] for i in range(20)]))(x)
    wanted = np.stack([(np.arange(i, i + 1000) + 1) % 2 if dtype in ("int2", "int8", "bool") else np.arange(i, i + 1000) % 2 + 1 for i in range(20)])
    np.testing.assert_array_equal(np.asarray(found).astype(complex), wanted)
