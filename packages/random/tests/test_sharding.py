"""Numbers spread over devices are drawn where they are wanted: no communication, and the same numbers.

On 8 virtual CPU devices, in a process of its own, as the number of devices is fixed when the backend starts.
"""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import re
import numpy as np
import jax_random as random
from jax_core.configuration.flags import config
from jax_core.programs.jit import jit
from jax_core.transformations.vmap import vmap
from jax_xla_backend.api import AxisType, Mesh, NamedSharding, PartitionSpec as P, device_put, devices

mesh = Mesh(np.array(devices()), ("x",))
place = lambda *axes: NamedSharding(mesh, P(*axes))
collectives = lambda jitted, *args: re.findall(r"all-\\w+|collective-\\w+", jitted.lower(*args).compile().as_text())
key = random.PRNGKey(0)
draws = {
    "normal": (lambda k: random.normal(k, (2**12,)), place("x")),
    "bits, last axis": (lambda k: random.bits(k, (16, 128)), place(None, "x")),
    "uniform, first axis": (lambda k: random.uniform(k, (16, 5)), place("x")),
    "bits of 16": (lambda k: random.bits(k, (2**10,), "uint16"), place("x")),
}
for partitionable in (False, True):
    config.update("jax_threefry_partitionable", partitionable)
    for name, (draw, where) in draws.items():
        spread = jit(draw, out_shardings=where)
        assert not collectives(spread, key), name
        assert spread(key).sharding == where
        assert (np.asarray(spread(key)) == np.asarray(jit(draw)(key))).all(), name
named = NamedSharding(Mesh(np.array(devices()), ("x",), (AxisType.Explicit,)), P("x"))
asked = random.uniform(key, (64,), out_sharding=named)
assert asked.sharding == named and (np.asarray(asked) == np.asarray(random.uniform(key, (64,)))).all()

keys = random.split(random.key(0), 16)
draw = jit(vmap(lambda k: random.normal(random.split(k)[0], (8,))))
spread = device_put(keys, place("x"))
assert spread.sharding == place("x") and not collectives(draw, spread)
assert (np.asarray(draw(spread)) == np.asarray(draw(keys))).all()

from jax_xla_backend.operations.shard_map.api import shard_map  # the check of key reuse follows keys into parts
config.update("jax_debug_key_reuse", True)
firsts = jit(lambda k: shard_map(lambda k: random.bits(k[0])[None], mesh=mesh, in_specs=P("x"), out_specs=P("x"))(random.split(k, 16)))
assert firsts(random.key(0)).shape == (8,)
print("done")
"""


@pytest.mark.only_cpu
def test_spread_over_eight_devices():
    pytest.importorskip("jax_xla_backend")
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600,
                         env={**os.environ, "XLA_FLAGS": flags})
    assert run.stdout.strip() == "done", run.stderr[-3000:]
