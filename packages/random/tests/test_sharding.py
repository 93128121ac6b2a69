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
import jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
place = lambda *axes: NamedSharding(mesh, P(*axes))
collectives = lambda jitted, *args: re.findall(r"all-\\w+|collective-\\w+", jitted.lower(*args).compile().as_text())
key = jax.random.PRNGKey(0)
draws = {
    "normal": (lambda k: jax.random.normal(k, (2**12,)), place("x")),
    "bits, last axis": (lambda k: jax.random.bits(k, (16, 128)), place(None, "x")),
    "uniform, first axis": (lambda k: jax.random.uniform(k, (16, 5)), place("x")),
    "bits of 16": (lambda k: jax.random.bits(k, (2**10,), "uint16"), place("x")),
}
for partitionable in (False, True):
    jax.config.update("jax_threefry_partitionable", partitionable)
    for name, (draw, where) in draws.items():
        spread = jax.jit(draw, out_shardings=where)
        assert not collectives(spread, key), name
        assert spread(key).sharding == where
        assert (np.asarray(spread(key)) == np.asarray(jax.jit(draw)(key))).all(), name
asked = jax.random.uniform(key, (64,), out_sharding=place("x"))
assert asked.sharding == place("x") and (np.asarray(asked) == np.asarray(jax.random.uniform(key, (64,)))).all()

keys = jax.random.split(jax.random.key(0), 16)
draw = jax.jit(jax.vmap(lambda k: jax.random.normal(jax.random.split(k)[0], (8,))))
spread = jax.device_put(keys, place("x"))
assert spread.sharding == place("x") and not collectives(draw, spread)
assert (np.asarray(draw(spread)) == np.asarray(draw(keys))).all()
print("done")
"""


def test_spread_over_eight_devices():
    pytest.importorskip("jax.sharding")
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=600,
                         env={**os.environ, "XLA_FLAGS": flags})
    assert run.stdout.strip() == "done", run.stderr[-3000:]
