"""`jax.experimental.array_serialization` writes with tensorstore, which is no dependency of ours; `./run clients` installs it."""
import asyncio
import os
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import jax
import jax.numpy as jnp

pytest.importorskip("tensorstore", reason="tensorstore is not installed here; the nox session `clients` has it")
from jax.experimental.array_serialization import pytree_serialization, serialization, tensorstore_impl

HERE = jnp.zeros(()).sharding
SETUP = """
import sys, jax, jax.numpy as jnp, numpy as np
from jax.experimental.array_serialization import pytree_serialization as ps, serialization
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
auto, where = AxisType.Auto, sys.argv[1]
"""
FOUR_DEVICES = SETUP + """
square, line = jax.make_mesh((2, 2), ("a", "b"), axis_types=(auto,) * 2), jax.make_mesh((4,), ("x",), axis_types=(auto,))
w = jax.device_put(jnp.arange(32.0).reshape(8, 4), NamedSharding(square, P("a", "b")))
ps.save({"w": w, "n": None, "b": (jnp.ones(3, jnp.bfloat16),)}, where)
back = ps.load(where, {"w": NamedSharding(line, P(None, "x")), "n": None, "b": NamedSharding(line, P())})
assert back["w"].sharding == NamedSharding(line, P(None, "x")) and np.array_equal(back["w"], w) and back["n"] is None
assert back["b"][0].dtype == jnp.bfloat16 and np.array_equal(back["b"][0], jnp.ones(3))
manager = serialization.GlobalAsyncCheckpointManager()
manager.serialize_with_paths([w], [where + "/paths/w"])
other, = manager.deserialize_with_paths([NamedSharding(line, P("x"))], [where + "/paths/w"], [(12, 2)], [jnp.bfloat16])
assert np.array_equal(other, np.pad(w, ((0, 4), (0, 0)))[:, :2].astype(jnp.bfloat16))
print("ok")
"""
TWO_PROCESSES = SETUP + """
rank, port = int(sys.argv[2]), sys.argv[3]
jax.distributed.initialize(f"localhost:{port}", 2, rank)
mesh = jax.make_mesh((4,), ("x",), axis_types=(auto,))
x = jax.make_array_from_callback((8, 3), NamedSharding(mesh, P("x")), lambda i: np.arange(24.0, dtype=np.float32).reshape(8, 3)[i])
ps.save({"x": x, "y": 2 * x}, where)
back = ps.load(where, NamedSharding(mesh, P()))
assert np.array_equal(back["y"].addressable_data(0), 2 * np.arange(24.0).reshape(8, 3))
manager, seen = serialization.GlobalAsyncCheckpointManager(), []
manager.serialize_with_paths([x], [where + "/paths/x"], on_commit_callback=lambda: seen.append(1))
back, = manager.deserialize_with_paths([x.sharding], [where + "/paths/x"])
assert all(np.array_equal(a.data, b.data) for a, b in zip(back.addressable_shards, x.addressable_shards)) and len(seen) == (rank == 0)
try:
    ps.save({"mine": jnp.ones(3)}, where)
except ValueError as error:
    assert "host_local_array_to_global_array" in str(error)
else:
    raise AssertionError("an array of one process")
print("ok")
"""


def started(program, devices, *args):
    environment = {**os.environ, "JAX_NUM_CPU_DEVICES": str(devices), "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), *map(str, args)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check(*processes):
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert out.strip().endswith("ok"), err[-3000:]


def test_four_devices_and_another_mesh(tmp_path):
    check(started(FOUR_DEVICES, 4, tmp_path))


def test_two_processes(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    check(*[started(TWO_PROCESSES, 2, tmp_path, rank, port) for rank in range(2)])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "bfloat16", "float16", "float8_e4m3fn", "int4", "complex64"])
@pytest.mark.parametrize("driver", ["zarr", "zarr3"])
def test_dtypes(tmp_path, dtype, driver):
    tree = [jnp.arange(6).reshape(2, 3).astype(dtype), jnp.zeros((), dtype)]
    pytree_serialization.save(tree, tmp_path, ts_specs={"driver": driver})
    for x, y in zip(tree, pytree_serialization.load(tmp_path, HERE, ts_specs={"driver": driver})):
        assert x.dtype == y.dtype and np.array_equal(x, y)


def test_a_folder_is_whole_or_it_says_so(tmp_path):
    (tmp_path / "mine.txt").write_text("left alone")
    with pytest.raises(FileNotFoundError, match="nothing is saved in"):
        pytree_serialization.load(tmp_path, HERE)
    pytree_serialization.save({"a": jnp.ones(2), "gone": jnp.ones(2)}, tmp_path)
    with pytest.raises(ValueError, match="overwrite=False"):
        pytree_serialization.save({"a": jnp.ones(3)}, tmp_path, overwrite=False)
    pytree_serialization.save({"a": jnp.ones(3)}, tmp_path)
    assert pytree_serialization.load_pytreedef(tmp_path) == {"a": jax.ShapeDtypeStruct((3,), jnp.float32)}
    assert (tmp_path / "mine.txt").read_text() == "left alone"


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a leaf of type int"):
        pytree_serialization.save({"a": 1}, tmp_path)
    with pytest.raises(ValueError, match="key_data"):
        pytree_serialization.save(jax.random.key(0), tmp_path)
    pytree_serialization.save({"a": jnp.ones(2), "b": jnp.ones(2)}, tmp_path)
    with pytest.raises(TypeError, match="in_type must be a sharding"):
        pytree_serialization.load(tmp_path, None)
    with pytest.raises(ValueError, match="prefix"):
        pytree_serialization.load(tmp_path, {"a": HERE})


def test_masks_and_what_is_known_before_it_is_read(tmp_path):
    pytree_serialization.nonblocking_save({"a": jnp.ones(2), "b": jnp.arange(3)}, tmp_path).result()
    reading = pytree_serialization.nonblocking_load(tmp_path, HERE, mask={"a": False, "b": True})
    assert reading.pytree["b"] == jax.ShapeDtypeStruct((3,), jnp.int32)
    found = reading.result()
    assert found["a"] is None and found["b"].tolist() == [0, 1, 2]


def test_what_goes_wrong_in_the_thread_is_raised_once(tmp_path):
    manager = serialization.GlobalAsyncCheckpointManager()
    manager.serialize_with_paths([jnp.ones(3)], [tmp_path / "x"], on_commit_callback=lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        manager.wait_until_finished()
    manager.check_for_errors()
    x, = manager.deserialize_with_paths([HERE], [tmp_path / "x"])
    assert x.tolist() == [1, 1, 1]


def test_a_donated_array_was_copied(tmp_path):
    """What is written is what the array held when it was handed over."""
    manager, x = serialization.GlobalAsyncCheckpointManager(), jnp.arange(100_000.0)
    manager.serialize_with_paths([x], [tmp_path / "x"])
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    back, = manager.deserialize_with_paths([HERE], [tmp_path / "x"])
    assert np.array_equal(back, np.arange(100_000.0))


def test_transactions(tmp_path):
    import tensorstore
    manager, spec = serialization.GlobalAsyncCheckpointManager(), serialization.get_tensorstore_spec(tmp_path / "x")
    transaction = tensorstore.Transaction()
    manager.serialize([jnp.ones(3)], [spec], transaction=transaction)
    with pytest.raises(ValueError, match="NOT_FOUND"):
        manager.deserialize([HERE], [spec])
    transaction.commit_sync()
    assert manager.deserialize([HERE], [spec])[0].tolist() == [1, 1, 1]


def test_a_read_that_is_larger_than_allowed(tmp_path):
    manager = serialization.GlobalAsyncCheckpointManager()
    manager.serialize_with_paths([jnp.ones(3)], [tmp_path / "x"])
    with pytest.raises(ValueError, match="raise concurrent_gb"):
        manager.deserialize_with_paths([HERE], [tmp_path / "x"], concurrent_gb=0)


def test_a_spec_describes_an_array(tmp_path):
    x = jnp.ones((4, 2))
    spec = tensorstore_impl.get_tensorstore_spec(tmp_path / "x", arr=x)
    tensorstore_impl.verify_tensorstore_spec(spec, x, tmp_path, ocdbt=True)
    for changed, where, match in (x[:2], tmp_path, "shape"), (x.astype(int), tmp_path, "dtype"), (x, tmp_path / "y", "path"):
        with pytest.raises(ValueError, match=match):
            tensorstore_impl.verify_tensorstore_spec(spec, changed, where, ocdbt=True)


def test_what_libraries_build_their_own_transfers_of():
    """axlearn reads the parts itself and puts an array together; t5x and EasyDeL choose chunks."""
    impl = tensorstore_impl
    assert serialization.ts_impl is impl and [impl._spec_has_metadata(s) for s in ({"a": 1}, {"base": {"metadata": {}}}, [])] == [False, True, False]
    x = jnp.arange(8, dtype=jnp.float32).reshape(2, 4)
    assert serialization._get_metadata(x) == {"compressor": {"id": "zstd"}, "shape": [2, 4], "chunks": [2, 4]}
    chunk = impl._compute_chunk_shape((16, 12), "float32", 100)
    assert 16 % chunk[0] == 12 % chunk[1] == 0 and 50 < 4 * chunk[0] * chunk[1] <= 100 and impl._compute_chunk_shape((3,), "float32", 1) == [1]

    async def part(index, device):
        return jax.device_put(x[index], device)
    made = asyncio.run(impl._create_async_array_from_callback((2, 4), jnp.float32, x.sharding, part))
    assert (made == x).all() and made.sharding == x.sharding
