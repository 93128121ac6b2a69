"""A process of several is killed or stopped in the midst of a collective: the others get an error that names it, and begin anew without."""
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ports import free_port

pytestmark = pytest.mark.only_cpu

pytest.importorskip("jax_numpy_api")

PROGRAM = """
import os, signal, sys
import numpy as np
address, count, me, file, steps, how, victim = sys.argv[1:]
count, me, steps, victim = int(count), int(me), int(steps), int(victim)
from jax_xla_backend import load
load()
import jax_numpy_api.numpy
from jax_xla_backend.platforms import client, distributed, liveness
if how in ("SIGSTOP", "exit"):
    liveness.BEAT, liveness.SILENCE = 0.5, 6.0
distributed.initialize(address, count, me)
from jax_core.programs.jit import jit
from jax_core.representation.errors import JaxRuntimeError
from jax_core.transformations.manual import psum_over
from jax_xla_backend.arrays.from_parts import make_array_from_callback
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_xla_backend.placement.mesh import Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
mesh = Mesh(np.array(client.devices()), ("x",))
rows = np.arange(12, dtype=np.float32).reshape(6, 2)
data = make_array_from_callback(rows.shape, NamedSharding(mesh, P("x")), lambda index: rows[index])
step = jit(shard_map(lambda state, part: psum_over(part.T @ (part @ state), ("x",)) / 100, mesh=mesh, in_specs=(P(), P("x")), out_specs=P()))
done, state = (np.load(file)[0], np.load(file)[1:]) if os.path.exists(file) else (0, np.ones(2))
while done < steps:
    if me == victim and done == 2:
        print("goes", flush=True)
        sys.exit(0) if how == "exit" else os.kill(os.getpid(), getattr(signal, how))
    try:
        state = np.asarray(step(state.astype(np.float32), data).addressable_data(0))
    except JaxRuntimeError as error:
        print(error, flush=True)
        sys.exit(3)
    done += 1
    if me == 0:
        np.save(file, [done, *state])
distributed.shutdown()
print("done", flush=True)
"""


def start(count, file, how="-", victim=-1, steps=4):
    address, env = f"localhost:{free_port()}", {**os.environ, "JAX_NUM_CPU_DEVICES": "1", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    return [subprocess.Popen([sys.executable, "-c", PROGRAM, address, str(count), str(i), file, str(steps), how, str(victim)], env=env, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for i in range(count)]


@pytest.mark.parametrize("how, word", [("SIGKILL", "has died"), ("SIGSTOP", "is stopped, and has given no sign of life"),
                                       ("exit", "has ended its program without it")])
def test_a_lost_process_is_named_and_the_others_go_on_without_it(tmp_path, how, word):
    file = str(tmp_path / "state.npy")
    workers = start(3, file, how, victim=1)
    try:
        for worker in (workers[0], workers[2]):
            out, err = worker.communicate(timeout=600)
            assert worker.returncode == 3, err
            assert "a computation of 3 processes cannot go on in process " in out
            assert f"process 1 (pid {workers[1].pid} on " in out and word in out, out
    finally:
        workers[1].send_signal(signal.SIGKILL)
        assert workers[1].communicate(timeout=600)[0].endswith("goes\n")
    for worker in start(2, file):
        assert worker.communicate(timeout=600)[0].endswith("done\n")
    rows, state = np.arange(12, dtype=np.float32).reshape(6, 2), np.ones(2)
    for _ in range(4):
        state = rows.T @ (rows @ state) / 100
    np.testing.assert_allclose(np.load(file), [4, *state], rtol=1e-5)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
def test_a_lost_coordinator_is_named(tmp_path, how):
    """jaxlib ended the others before any of them heard of it."""
    workers = start(3, str(tmp_path / "state.npy"), how, victim=0)
    try:
        for worker in workers[1:]:
            out, err = worker.communicate(timeout=600)
            assert worker.returncode == 3, err
            assert "a computation of 3 processes cannot go on in process " in out and "process 0" in out, out
    finally:
        workers[0].send_signal(signal.SIGKILL)
        assert workers[0].communicate(timeout=600)[0].endswith("goes\n")
