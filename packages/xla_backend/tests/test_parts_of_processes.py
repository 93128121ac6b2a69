"""Arrays that lie on devices of two processes: moved, made of what each has, refused where the two disagree; `pmap` over both."""
import ast
import os
import subprocess
import sys

import pytest

from ports import free_port

pytest.importorskip("jax")

PROGRAM = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.experimental import multihost_utils as mu
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
me = int(sys.argv[2])
jax.distributed.initialize(sys.argv[1], 2, me)
row = jax.make_mesh((4,), ("x",), axis_types=(AxisType.Auto,))
grid = jax.make_mesh((2, 2), ("p", "l"), axis_types=(AxisType.Auto,) * 2)
back = jax.sharding.Mesh(np.array(jax.devices()[::-1]), ("x",))
g = np.arange(8, dtype=np.float32)
X = jax.make_array_from_callback((8,), NamedSharding(row, P("x")), lambda index: g[index])

def shown(x):
    if isinstance(x, jax.Array):
        return [np.asarray(s.data).tolist() for s in x.addressable_shards]
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x

for text in sys.stdin.read().splitlines():
    try:
        result = shown(eval(text))
    except Exception as error:
        result = type(error).__name__, str(error)
    print("RESULT", repr((text, result)), flush=True)
jax.distributed.shutdown()
"""

E, O = [0, 1, 2, 3], [4, 5, 6, 7]
ALL = E + O
# expression, what process 0 and process 1 have of the result: the parts on their two devices
MADE = [
    ("jax.device_put(X, NamedSharding(row, P()))", [ALL, ALL], [ALL, ALL]),
    ("jax.device_put(X, NamedSharding(grid, P(('l', 'p'))))", [[0, 1], [4, 5]], [[2, 3], [6, 7]]),
    ("jax.device_put(X, NamedSharding(grid, P('l')))", [E, O], [E, O]),
    ("jax.device_put(X, NamedSharding(back, P('x')))", [[4, 5], [6, 7]], [[0, 1], [2, 3]]),
    ("lax.with_sharding_constraint(X, NamedSharding(grid, P('p')))", [E, E], [O, O]),
    ("jax.device_put(g, jax.devices()[0])", [ALL], []),
    ("np.asarray(jax.device_put(X, NamedSharding(grid, P('l'))))", ALL, ALL),
    ("jax.device_put({'a': g, 'b': 3}, NamedSharding(row, P()))['a']", [ALL, ALL], [ALL, ALL]),
    ("mu.process_allgather(X, tiled=True)", ALL, ALL),
    ("[type(mu.broadcast_one_to_all(me + 7)).__name__, int(mu.broadcast_one_to_all(me + 7))]", ["ndarray", 7], ["ndarray", 7]),
    ("mu.host_local_array_to_global_array(X, row, P('x')) is X", True, True),
    ("mu.host_local_array_to_global_array(g[:4].reshape(2, 2) + 10 * me, grid, P('p', 'l'))", [[[0], [2]], [[1], [3]]], [[[10], [12]], [[11], [13]]]),
    ("mu.global_array_to_host_local_array(X, row, P())", [ALL, ALL], [ALL, ALL]),
    ("mu.global_array_to_host_local_array(X, row, P('x'))", [[0, 1], [2, 3]], [[4, 5], [6, 7]]),
    ("jax.make_array_from_process_local_data(NamedSharding(row, P('x')), g[:4] + 10 * me)", [[0, 1], [2, 3]], [[10, 11], [12, 13]]),
    ("jax.make_array_from_process_local_data(NamedSharding(row, P('x')), g, (8,))", [[0, 1], [2, 3]], [[4, 5], [6, 7]]),
    ("jax.make_array_from_process_local_data(NamedSharding(grid, P('l')), g)", [E, O], [E, O]),
    ("jax.make_array_from_process_local_data(NamedSharding(grid, P('p', 'l')), g.reshape(2, 4) + 10 * me)",
     [[[0, 1], [4, 5]], [[2, 3], [6, 7]]], [[[10, 11], [14, 15]], [[12, 13], [16, 17]]]),
    ("jax.make_array_from_process_local_data(NamedSharding(grid, P(('l', 'p'))), g[:4] + 10 * me)", [[0, 1], [2, 3]], [[10, 11], [12, 13]]),
    ("jax.pmap(lambda x: lax.psum(x, 'i'), axis_name='i')(g[:2] + 10 * me)", [[22.0], [22.0]], [[22.0], [22.0]]),
    ("jax.pmap(lambda x, y: x + y, in_axes=(0, None))(g[:2] + 10 * me, 1.0)", [[1], [2]], [[11], [12]]),
    ("jax.pmap(lambda x: x + lax.axis_index('i'), axis_name='i')(np.zeros(2, int))", [[0], [1]], [[2], [3]]),
    ("jax.pmap(lambda x: lax.all_gather(x, 'i'), axis_name='i', out_axes=None)(g[:2] + 10 * me)", [[0, 1, 10, 11]] * 2, [[0, 1, 10, 11]] * 2),
    ("jax.pmap(lambda x: x * 2, devices=jax.local_devices())(g[:2] + 10 * me)", [[0], [2]], [[20], [22]]),
]
# expression, class of the error in both processes, words of it
REFUSED = [
    ("np.asarray(X)", "RuntimeError", "process_allgather"),
    ("np.asarray(jax.device_put(g, jax.devices()[0 if me else -1]))", "RuntimeError", "on devices of other processes"),
    ("jax.device_put(X, jax.local_devices()[0])", "ValueError", "cannot be put on one device"),
    ("jax.device_put(np.float32(me), NamedSharding(row, P()))", "AssertionError", "not the same in each of the processes [0, 1]"),
    ("jax.device_put([g, g + me], NamedSharding(row, P('x')))", "AssertionError", "numpy.ndarray is not the same"),
    ("mu.process_allgather(X)", "ValueError", "give tiled=True"),
    ("jax.make_array_from_process_local_data(NamedSharding(row, P('x')), g[:3], (8,))", "ValueError", "4 of the 8 rows along axis 0"),
    ("jax.jit(lambda x: x * 2, in_shardings=NamedSharding(row, P('x')))(g)", "ValueError", "a NumPy array of shape (8,)"),
    ("jax.pmap(lambda x: x)(g[:3])", "ValueError", "requires 3 logical devices of this process"),
]


def test_arrays_of_two_processes():
    port, env = free_port(), {**os.environ, "JAX_NUM_CPU_DEVICES": "2", "JAX_ENABLE_COMPILATION_CACHE": "0"}
    env["XLA_FLAGS"] = " ".join(f for f in env.get("XLA_FLAGS", "").split() if "device_count" not in f)
    workers = [subprocess.Popen([sys.executable, "-c", PROGRAM, f"localhost:{port}", str(i)], env=env, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE) for i in range(2)]
    for worker in workers:
        worker.stdin.write("\n".join(row[0] for row in (*MADE, *REFUSED)))
        worker.stdin.close()
        worker.stdin = None
    for rank, worker in enumerate(workers):
        out, err = worker.communicate(timeout=600)
        found = dict(ast.literal_eval(line.removeprefix("RESULT ")) for line in out.splitlines() if line.startswith("RESULT "))
        assert len(found) == len(MADE) + len(REFUSED), err
        for text, *wanted in MADE:
            assert found[text] == wanted[rank], text
        for text, kind, words in REFUSED:
            assert found[text][0] == kind and words in found[text][1], (text, found[text])
