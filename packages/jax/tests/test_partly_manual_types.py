"""Collectives in a `shard_map` over one axis of a mesh: along the other, ``Explicit`` one values stay split, as their types say."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

pytestmark = pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices")
X = np.arange(64, dtype=np.float32).reshape(8, 8) / 9
ROUND = [(0, 1), (1, 0)]
CASES = {
    "all_gather": (lambda a: lax.all_gather(a, "x", tiled=True), "float32[8,8@y]"),
    "all_gather along the split axis": (lambda a: lax.all_gather(a, "x", axis=1, tiled=True), "float32[4,16@y]"),
    "all_gather in front": (lambda a: lax.all_gather(a, "x"), "float32[2,4,8@y]"),
    "psum_scatter": (lambda a: lax.psum_scatter(a, "x", tiled=True), "float32[2,8@y]"),
    "psum_scatter along the split axis": (lambda a: lax.psum_scatter(a, "x", scatter_dimension=1, tiled=True), "float32[4,4@y]"),
    "psum_scatter of rows": (lambda a: lax.psum_scatter(a.reshape(2, 2, 8), "x"), "float32[2,8@y]"),
    "all_to_all": (lambda a: lax.all_to_all(a, "x", 0, 1, tiled=True), "float32[2,16@y]"),
    "all_to_all along the split axis": (lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True), "float32[8,4@y]"),
    "ppermute": (lambda a: lax.ppermute(a, "x", ROUND), "float32[4,8@y]"),
    "ppermute in a loop": (lambda a: lax.fori_loop(0, 3, lambda i, b: lax.ppermute(b, "x", ROUND) + i, a), "float32[4,8@y]"),
}


@pytest.mark.parametrize("name", CASES)
def test_collectives_keep_the_other_axis(name):
    function, wanted = CASES[name]
    seen = []

    def body(a):
        out = function(a)
        seen.append(jax.typeof(out).str_short())
        return out
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    both = lambda f: jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    alone = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
    only = jax.shard_map(function, mesh=alone, in_specs=P("x"), out_specs=P("x"))
    loss = lambda f: lambda a: jnp.sum(jnp.sin(f(a)))
    with jax.set_mesh(mesh):
        x = jax.device_put(X, NamedSharding(mesh, P("x", "y")))
        got = jax.jit(both(body))(x)
        slope = jax.jit(jax.grad(loss(both(function))))(x)
    assert seen[0].split("{")[0] == wanted
    np.testing.assert_allclose(got, jax.jit(only)(X), rtol=1e-6)
    np.testing.assert_allclose(slope, jax.jit(jax.grad(loss(only)))(X), rtol=1e-5)
    assert slope.sharding.spec == P("x", "y")
