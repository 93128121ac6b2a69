"""Keys that are split over ``Explicit`` mesh axes: what is drawn from them is split alike, and so are the keys made of them."""
import numpy as np
import pytest

import jax_random as random
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.representation.aval import typeof
from jax_core.transformations.vmap import vmap
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.placement.mesh import AxisType, Mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")

DRAWS = [
    ("normal", lambda k: random.normal(k, (4,)), P("x", None)), ("bits", lambda k: random.bits(k, (4,)), P("x", None)),
    ("gamma", lambda k: random.gamma(k, 2.0), P("x")), ("split", random.split, P("x", None)), ("fold_in", lambda k: random.fold_in(k, 1), P("x")),
    ("words", random.key_data, P("x", None)),
]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name, draw, spec", DRAWS, ids=[c[0] for c in DRAWS])
def test_what_is_drawn_from_split_keys_is_split_alike(name, draw, spec, compiled):
    mesh = Mesh(np.array(devices()[:2]), ("x",), (AxisType.Explicit,))
    f = vmap(draw) if not compiled else jit(vmap(draw))
    with set_mesh(mesh):
        keys = random.split(random.key(0), 8)
        whole, found = f(keys), f(device_put(keys, P("x")))
        assert typeof(found).sharding.spec == spec
        words = (lambda x: np.asarray(random.key_data(x))) if name in ("split", "fold_in") else np.asarray
        if name == "gamma":  # logarithms in lanes and one by one differ in the last places on processors without fused multiply-adds
            np.testing.assert_allclose(found, whole, rtol=2e-6)
        else:
            np.testing.assert_array_equal(words(found), words(whole))


def test_one_of_split_keys_is_whole():
    with set_mesh(Mesh(np.array(devices()[:2]), ("x",), (AxisType.Explicit,))):
        keys = random.split(random.key(0), 8)
        first = device_put(keys, P("x"))[0]
        np.testing.assert_array_equal(random.key_data(first), random.key_data(keys)[0])
