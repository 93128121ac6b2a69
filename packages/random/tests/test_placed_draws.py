"""Draws and weights are placed as ``out_sharding`` says, in types too, and have the same values."""
import numpy as np
import pytest

pytest.importorskip("jax_xla_backend")

import jax_numpy_api.numpy as jnp
import jax_random
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.representation.aval import typeof
from jax_random import initializers
from jax_xla_backend.arrays.device_put import reshard
from jax_xla_backend.placement.mesh import AxisType, make_mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
ROWS = np.arange(32.0, dtype=np.float32).reshape(8, 4)
DRAWS = [lambda key, **options: jax_random.permutation(key, reshard(jnp.asarray(ROWS), P("x")) if options else ROWS, **options),
         lambda key, **options: jax_random.normal(key, (8, 4), **options), lambda key, **options: jax_random.bernoulli(key, 0.5, (8, 4), **options),
         *[lambda key, init=init, **options: init(key, (8, 4), np.float32, **options) for init in (
             initializers.zeros, initializers.constant(3), initializers.uniform(), initializers.he_normal(), initializers.orthogonal())]]


@pytest.mark.parametrize("draw", DRAWS)
def test_placement_of_draws(draw):
    key, types = jax_random.key(3), []
    whole = np.asarray(draw(key))
    with set_mesh(make_mesh((1,), ("x",), (AxisType.Explicit,))):
        for out in (draw(key, out_sharding=P("x")), jit(lambda k: types.append(typeof(x := draw(k, out_sharding=P("x")))) or x)(key)):
            np.testing.assert_allclose(out, whole, rtol=1e-5, atol=1e-6)
            assert out.sharding.spec == P("x", None)
    assert str(types[0]).endswith("[8@x,4]")


def test_keys_of_programs_on_explicit_axes():
    """A key has one axis more where it is stored, which its placement must have too."""
    want = jax_random.uniform(jax_random.fold_in(jax_random.key(3), 2), (4,))
    with set_mesh(make_mesh((len(devices()),), ("x",), (AxisType.Explicit,))):
        got = jit(lambda key, n: jax_random.uniform(jax_random.fold_in(key, n), (4,)))(jax_random.key(3), jnp.uint32(2))
    assert np.array_equal(got, want)


@pytest.mark.parametrize("draw", [
    lambda key, x: jax_random.poisson(key, x), lambda key, x: jax_random.poisson(key, x, (4, *x.shape)),
    lambda key, x: jax_random.binomial(key, 3 * x, 0.4), lambda key, x: jax_random.multinomial(key, x, jnp.stack([x, x], -1) / (2 * x[:, None]))])
def test_draws_by_loops_lie_as_their_parameters(draw):
    """Their loops began with counts that no type splits: they were refused as changing their type."""
    key, rates = jax_random.key(3), np.arange(1, 1 + 4 * len(devices()), dtype=np.float32)
    whole = np.asarray(draw(key, jnp.asarray(rates)))
    with set_mesh(make_mesh((len(devices()),), ("x",), (AxisType.Explicit,))):
        out = draw(key, reshard(jnp.asarray(rates), P("x")))
        np.testing.assert_array_equal(out, whole)
        assert "@x" in str(typeof(out)) or len(devices()) == 1
