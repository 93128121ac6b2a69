"""Arrays of seven axes and more: XLA's library for the CPU ended the process at their sums with jaxlib before 0.12 (jax-ml/jax #39257, #40412)."""
import numpy as np
import pytest

from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp

SHAPE = (3, 1, 2, 2, 8, 8, 8)
X, Y = np.random.default_rng(0).random((2, *SHAPE)).astype(np.float32)

PROGRAMS = {
    "sum of a product": (lambda x, y: jnp.sum(x * y, 3), lambda x, y: np.sum(x * y, 3)),
    "sum": (lambda x, y: jnp.sum(x, 3), lambda x, y: np.sum(x, 3)),
    "broadcast": (lambda x, y: jnp.sum(x[..., :1, :1, :1] * y, 2), lambda x, y: np.sum(x[..., :1, :1, :1] * y, 2)),
    "eight axes": (lambda x, y: jnp.exp(jnp.sum(x[..., None] * y[..., None], 3)), lambda x, y: np.exp(np.sum(x[..., None] * y[..., None], 3))),
    "einsum": (lambda x, y: jnp.einsum("abcdefg,abcdefg->abcefg", x, y), lambda x, y: np.sum(x * y, 3)),
    "vmap": (lambda x, y: vmap(lambda x, y: jnp.sum(x * y, 2))(x, y), lambda x, y: np.sum(x * y, 3)),
    "gradient": (lambda x, y: grad(lambda x: jnp.sum(jnp.sum(x * y, 3) ** 2))(x), lambda x, y: 2 * y * np.sum(x * y, 3, keepdims=True)),
    "loop": (lambda x, y: lax.fori_loop(0, 3, lambda i, c: jnp.sum(c * y, 3, keepdims=True) + x, x),
             lambda x, y: x + np.sum((x + np.sum((x + np.sum(x * y, 3, keepdims=True)) * y, 3, keepdims=True)) * y, 3, keepdims=True)),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("options", [None, {"xla_cpu_enable_fast_math": False}], ids=["", "options"])
def test_sums_over_many_axes(name, options):
    ours, wanted = PROGRAMS[name]
    np.testing.assert_allclose(jit(ours, compiler_options=options)(X, Y), wanted(X.astype(float), Y.astype(float)), rtol=1e-5)
    if options is None:
        np.testing.assert_allclose(ours(jnp.asarray(X), jnp.asarray(Y)), wanted(X.astype(float), Y.astype(float)), rtol=1e-5)
