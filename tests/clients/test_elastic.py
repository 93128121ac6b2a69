"""Four processes train, save by orbax and go; three others take the state up again, split anew."""
import os
import socket
import subprocess
import sys

import pytest

pytest.importorskip("orbax.checkpoint")

PROGRAM = """
import sys
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

address, count, me, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
jax.distributed.initialize(address, count, me)
mesh = jax.make_mesh((count,), ("x",), axis_types=(AxisType.Auto,))
split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
rows = np.arange(48, dtype=np.float32).reshape(12, 4)
manager = ocp.CheckpointManager(folder)
if (last := manager.latest_step()) is None:
    state = {"w": jax.make_array_from_callback(rows.shape, split, lambda index: rows[index]), "step": jax.device_put(jnp.int32(0), whole)}
else:
    wanted = {"w": jax.ShapeDtypeStruct(rows.shape, jnp.float32, sharding=split), "step": jax.ShapeDtypeStruct((), jnp.int32, sharding=whole)}
    state = manager.restore(last, args=ocp.args.StandardRestore(wanted))
    assert state["w"].sharding == split and [s.data.shape for s in state["w"].addressable_shards] == [(12 // count, 4)]
train = jax.jit(lambda s: {"w": s["w"] * 2 + s["w"].sum() / 1000, "step": s["step"] + 1})
for _ in range(2):
    state = train(state)
manager.save(int(state["step"]), args=ocp.args.StandardSave(state))
manager.wait_until_finished()
expected = rows
for _ in range(int(state["step"])):
    expected = expected * 2 + expected.sum() / 1000
np.testing.assert_allclose(multihost_utils.process_allgather(state["w"], tiled=True), expected, rtol=1e-5)
print("step", int(state["step"]))
jax.distributed.shutdown()
"""


def run(count, folder):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    env = {**os.environ, "JAX_NUM_CPU_DEVICES": "1", "JAX_PLATFORMS": "cpu"}
    workers = [subprocess.Popen([sys.executable, "-c", PROGRAM, address, str(count), str(i), str(folder)], env=env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for i in range(count)]
    try:
        for worker in workers:
            out, err = worker.communicate(timeout=600)
            assert worker.returncode == 0, err[-3000:]
            yield out
    finally:
        for worker in workers:
            worker.kill()


def test_three_processes_go_on_where_four_stopped(tmp_path):
    assert all("step 2" in out for out in run(4, tmp_path))
    assert all("step 4" in out for out in run(3, tmp_path))
