"""with_sharding_constraint on four virtual devices; in a process of its own, as devices are made once per process."""
import os
import subprocess
import sys

import pytest

PROGRAM = r"""
import numpy as np
import jax_xla_backend
jax_xla_backend.load()
from jax_core.configuration.flags import disable_jit
from jax_core.transformations.autodiff import grad, linear_transpose
from jax_core.programs.jit import jit
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, numpy as jnp
from jax_xla_backend.platforms.client import devices
from jax_xla_backend.placement.mesh import Mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding

mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("a", "b"))
x, rows = np.arange(16, dtype=np.float32).reshape(4, 4), NamedSharding(mesh, P("a"))
constrain = lax.with_sharding_constraint


def placed(out, *spec):
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, P(*spec)), out.ndim), out.sharding
    return np.asarray(out)


assert np.array_equal(placed(constrain(lax.copy(x), rows), "a"), x)
assert np.array_equal(placed(jit(lambda x: constrain(lax.add(x, x), rows))(x), "a"), 2 * x)
assert np.array_equal(placed(jit(grad(lambda x: lax.reduce_sum(lax.square(constrain(x, rows)), (0, 1))))(x), "a"), 2 * x)
placed(jit(vmap(lambda x: constrain(lax.add(x, x), rows)))(x), None, "a")
placed(jit(vmap(lambda x: constrain(lax.add(x, x), rows), spmd_axis_name="b"))(x), "b", "a")
both = jit(lambda x: constrain({"u": x, "v": lax.neg(x)}, {"u": rows, "v": NamedSharding(mesh, P(None, "b"))}))(x)
placed(both["u"], "a"), placed(both["v"], None, "b")
line = Mesh(np.array(devices()[:4]), ("d",))
ends = NamedSharding(line, P("d"))


def neighbours(x):
    return jnp.roll(x, 1) + jnp.roll(x, -1) - 2 * x


one_each = jit(lambda x: constrain(lax.add(x, x), ends))(np.arange(4, dtype=np.float32))
assert jit(linear_transpose(neighbours, x[0]))(one_each)[0].tolist() == [8, 0, 0, -8]
crops = jit(lambda x: sum(lax.concatenate([lax.pad(x, np.float32(0), [(-k, 0, 0)]), lax.pad(x, np.float32(0), [(0, k - 4, 0)])], 0) for k in (1, 3)))
assert crops(one_each).tolist() == [8, 4, 8, 4]
with mesh:
    placed(jit(lambda x: constrain(lax.sub(x, x), P("a")))(x), "a")
with set_mesh(mesh):
    placed(jit(lambda x: constrain(lax.add(x, x), P("a")))(x), "a")
    placed(vmap(lambda x: constrain(x, P("b")))(constrain(lax.copy(x), rows)), "a", "b")  # the mapped axis stays where it is
uneven = jit(lambda x: lax.reduce_sum(constrain(x, NamedSharding(mesh, P("a"))), (0,)))  # no array, but a program has parts of several lengths
with disable_jit(True):
    assert uneven(np.ones(3, np.float32)) == 3
assert uneven(np.ones(3, np.float32)) == 3
for bad, error in ((None, ValueError), (3, TypeError), (P("a"), RuntimeError), (NamedSharding(mesh, P("a", None, "b")), ValueError)):
    try:
        jit(lambda x: constrain(x, bad))(x)
    except error as e:
        assert "lax.with_sharding_constraint" in str(e), e
    else:
        raise AssertionError(bad)
"""


@pytest.mark.only_cpu
def test_constraints_place_values():
    flags = os.environ.get("XLA_FLAGS", "")
    if "device_count" not in flags:
        flags += " --xla_force_host_platform_device_count=4"
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env={**os.environ, "XLA_FLAGS": flags})
