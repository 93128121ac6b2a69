"""Two processes that compute together, on this machine."""
import os
import subprocess
import sys

import pytest

from ports import free_port

PROGRAM = """
import sys
import numpy as np
from jax_xla_backend.platforms import distributed; from jax_xla_backend import load
backend = load()
distributed.initialize(sys.argv[1], 2, int(sys.argv[2]))
from jax_xla_backend.platforms import client; from jax_xla_backend.arrays import from_parts
from jax_xla_backend.placement.mesh import AxisType, Mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
assert distributed.is_initialized() and client.process_count() == 2 and client.process_index() == int(sys.argv[2])
assert client.device_count() == 4 and client.local_device_count() == 2
mesh = Mesh(np.array(client.devices()), ("x",))
split = NamedSharding(mesh, P("x"))
x = from_parts.make_array_from_callback((8,), split, lambda index: np.arange(8, dtype=np.float32)[index])
assert not x.is_fully_addressable and len(x.addressable_shards) == 2 and len(x.global_shards) == 4
try:
    np.asarray(x)
except RuntimeError as error:
    assert "other processes" in str(error)
local = np.arange(4, dtype=np.float32) + 4 * int(sys.argv[2])
assert from_parts.make_array_from_process_local_data(split, local).shape == (8,)
from jax_core.programs.jit import jit
from jax_core.representation.primitive import Primitive, none
no = none("test")
from jax_core.representation.aval import ShapedArray
total_p = Primitive("total", out_type=lambda x: ShapedArray((), x.dtype), jvp=no, transpose=no, batch=no,
    lower=lambda b, x: b.emit(f"stablehlo.reduce({x} init: {b.scalar(0.0, x.dtype)}) applies stablehlo.add across dimensions = [0]",
                              x, b.scalar(0.0, x.dtype), out=b.out_avals[0]))
y = jit(lambda x: total_p.bind(x))(x)
from jax_xla_backend.operations import multihost
me = int(sys.argv[2])
assert multihost.process_allgather(np.array([me])).tolist() == [[0], [1]]
assert multihost.process_allgather(x, tiled=True).tolist() == list(range(8))
assert multihost.broadcast_one_to_all(np.array([me + 5])).tolist() == [5]
multihost.sync_global_devices("end")
try:
    multihost.assert_equal(np.array(me), "differ")
except AssertionError as error:
    assert "differ" in str(error)
else:
    raise RuntimeError("process 0 hears of it too, or it would wait for the others later")
multihost.assert_equal({"a": np.arange(3), "b": 2})
with multihost.live_devices(client.devices()) as live:
    assert live == list(client.devices())
assert multihost.reached_preemption_sync_point(1) is False
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_core.transformations.manual import psum_over
both = shard_map(lambda x: psum_over(x, ("x",)), mesh=mesh, in_specs=P("x"), out_specs=P())
for run in (both, jit(both)):
    assert np.asarray(run(x).addressable_data(0)).tolist() == [12, 16]
parts = multihost.global_array_to_host_local_array(x, mesh, P("x"))
assert parts.shape == (4,) and np.asarray(parts).tolist() == local.tolist()
assert multihost.host_local_array_to_global_array(parts, mesh, P("x")).shape == (8,)
print(float(y), y.is_fully_replicated, flush=True)
distributed.shutdown()
"""


REFUSED = """
import socket
from jax_xla_backend.platforms import distributed
held = socket.socket()
held.bind(("", 0))
held.listen()
taken = f"localhost:{held.getsockname()[1]}"
for arguments in ((FREE, 2, 5), (FREE, 0, 0), (FREE, -1, 0), (FREE, 1, -1), (FREE, 1.5, 0), (FREE, 2, "1"), (5, 1, 0),
                  ("nonsense", 1, 0), ("localhost:99999", 1, 0), ("localhost:", 1, 0), (taken, 1, 0), (FREE, 2, 1)):
    try:
        distributed.initialize(*arguments, initialization_timeout=2)
    except Exception as error:
        print(type(error).__name__, "distributed.initialize: " in str(error), distributed.is_initialized())
for _ in range(2):
    distributed.initialize(FREE, 1, 0)
    try:
        distributed.initialize(FREE, 1, 0)
    except RuntimeError as error:
        print("once" in str(error))
    distributed.shutdown()
    distributed.shutdown()
"""

COMES = """
import sys
from jax_xla_backend.platforms import distributed
try:
    distributed.initialize(sys.argv[1], 3, int(sys.argv[2]), initialization_timeout=8)
except RuntimeError as error:
    print("not connected" in str(error))
"""


def test_refused_arguments_leave_it_as_it_was():
    """No argument ends the process, and afterwards it connects: twice, with a shutdown between."""
    code = f"FREE = 'localhost:{free_port()}'\n{REFUSED}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    kinds = ["ValueError"] * 4 + ["TypeError"] * 3 + ["ValueError"] * 3 + ["RuntimeError"] * 2
    assert done.stdout.splitlines() == [f"{kind} True False" for kind in kinds] + ["True"] * 2, done.stderr


def test_processes_with_one_number_and_one_that_stays_away():
    port = free_port()
    workers = [subprocess.Popen([sys.executable, "-c", COMES, f"localhost:{port}", number], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for number in "011"]
    for worker in workers:
        out, err = worker.communicate(timeout=600)
        assert (out, worker.returncode) == ("True\n", 0), err


@pytest.mark.only_cpu
def test_two_processes_add_up():
    port = free_port()
    env = {**os.environ, "JAX_NUM_CPU_DEVICES": "2", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    workers = [subprocess.Popen([sys.executable, "-c", PROGRAM, f"localhost:{port}", str(i)], env=env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for i in range(2)]
    for worker in workers:
        out, err = worker.communicate(timeout=600)
        assert out.endswith("28.0 True\n"), err  # gloo reports its connections on stdout


def test_arguments_are_needed():
    code = "from jax_xla_backend.platforms import distributed\ntry:\n    distributed.initialize()\nexcept ValueError as e:\n    print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.stdout == ("distributed.initialize: coordinator_address must be given, as it is not in the environment\n"
                           ), done.stderr


def test_gathering_in_one_process():
    import numpy as np

    from jax_xla_backend.operations import multihost
    from jax_xla_backend.placement.mesh import Mesh
    from jax_xla_backend.placement.partition_spec import PartitionSpec as P
    from jax_xla_backend.platforms import client
    from programs import backend

    backend.devices()
    assert multihost.process_allgather({"a": np.arange(3)})["a"].tolist() == [[0, 1, 2]]
    assert multihost.process_allgather(np.arange(3), tiled=True).tolist() == [0, 1, 2]
    assert multihost.broadcast_one_to_all(np.arange(3)).tolist() == [0, 1, 2]
    multihost.sync_global_devices("here")
    mesh = Mesh(np.array(client.devices()), ("x",))
    x = multihost.host_local_array_to_global_array(np.arange(8), mesh, P("x"))
    assert x.sharding.spec == P("x")
    assert multihost.global_array_to_host_local_array(x, mesh, P("x")).tolist() == list(range(8))


def test_device_grids():
    import pytest

    from jax_xla_backend.placement import device_grid
    from jax_xla_backend.platforms import client

    ids = [[d.id for d in row] for row in device_grid.create_device_mesh((4, 2), client.devices())]
    assert ids == [[0, 1], [2, 3], [4, 5], [6, 7]]
    with pytest.raises(ValueError, match=r"mesh_shape=\(3, 2\) has 6 places for 8 devices"):
        device_grid.create_device_mesh((3, 2), client.devices())
    grid = device_grid.create_hybrid_device_mesh((4, 2), (1, 1), client.devices(), process_is_granule=True)
    assert grid.shape == (4, 2)
