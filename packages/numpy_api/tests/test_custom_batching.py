"""sequential_vmap runs one element after another."""
import numpy as np

from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp
from jax_numpy_api.custom_batching import sequential_vmap


def test_sequential_vmap_sees_single_elements():
    shapes = []

    @sequential_vmap
    def f(x, y):
        shapes.append(x.shape)
        return {"sum": x + y, "first": x}
    x, y = jnp.arange(6.0).reshape(3, 2), jnp.ones(2)
    out = vmap(f, in_axes=(0, None))(x, y)
    np.testing.assert_array_equal(out["sum"], np.asarray(x) + 1)
    np.testing.assert_array_equal(out["first"], x)
    assert set(shapes) == {(2,)}
