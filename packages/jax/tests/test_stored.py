"""Compiled programs as bytes, topologies, the place of the compilation cache, and transfers between processes."""
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import serialize_executable, topologies, transfer
from jax.experimental.compilation_cache import compilation_cache
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax_core.configuration import flags


def stored(fun, *args, **options):
    return serialize_executable.serialize(jax.jit(fun, **options).lower(*args).compile())


def test_round_trip():
    payload, in_tree, out_tree = stored(lambda x, y: {"a": x + y["b"], "n": 3}, np.ones(3, np.float32), {"b": np.float32(2)})
    compiled = serialize_executable.deserialize_and_load(payload, in_tree, out_tree)
    assert isinstance(compiled, jax.stages.Compiled)
    for _ in range(2):
        out = compiled(np.ones(3, np.float32), {"b": np.float32(2)})
        np.testing.assert_array_equal(out["a"], [3, 3, 3])
        assert out["n"] == 3
    assert "HloModule" in compiled.as_text()
    with pytest.raises(TypeError, match=r"argument 0 is float32\[4\], but it was compiled for float32\[3\]"):
        compiled(np.ones(4, np.float32), {"b": np.float32(2)})


def test_programs_with_large_constants_and_unread_arguments():
    table = np.arange(5000, dtype=np.float32)
    payload, in_tree, out_tree = stored(lambda i, unread: jnp.asarray(table)[i], 7, 1.0)
    assert serialize_executable.deserialize_and_load(payload, in_tree, out_tree)(9, 1.0) == 9


def test_donation_holds():
    payload, in_tree, out_tree = stored(lambda x: x + 1, jnp.ones(3), donate_argnums=0)
    compiled, x = serialize_executable.deserialize_and_load(payload, in_tree, out_tree), jnp.zeros(3)
    np.testing.assert_array_equal(compiled(x), np.ones(3))
    assert x.is_deleted()


@pytest.mark.only_cpu
def test_programs_for_several_devices():
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))
    x = jax.device_put(np.arange(8.0, dtype=np.float32), NamedSharding(mesh, PartitionSpec("x")))
    payload, in_tree, out_tree = stored(lambda x: x * 2, x, in_shardings=x.sharding)
    out = serialize_executable.deserialize_and_load(payload, in_tree, out_tree)(x)
    np.testing.assert_array_equal(out, 2 * np.arange(8.0))
    assert out.sharding.num_devices == 4


def test_loaded_programs_place_results_on_the_mesh_that_they_were_compiled_for():
    count = len(jax.devices())
    for kind in (jax.sharding.AxisType.Auto, jax.sharding.AxisType.Explicit):
        mesh = jax.make_mesh((count,), ("x",), axis_types=(kind,))
        x = jax.device_put(jnp.arange(8.0 * count), jax.NamedSharding(mesh, jax.P("x")))
        out = serialize_executable.deserialize_and_load(*stored(lambda x: x * 2, x))(x)
        assert count == 1 or out.sharding == x.sharding and jax.typeof(out) == jax.typeof(x)


def test_loaded_in_another_process(tmp_path):
    payload, _, _ = stored(lambda x: jnp.sin(x) * 2, np.float32(0))
    (tmp_path / "program").write_bytes(payload)
    code = f"""
import numpy as np
from jax.experimental.serialize_executable import deserialize_and_load
import jax
tree = jax.tree.structure(((0,), {{}}))
compiled = deserialize_and_load(open({str(tmp_path / 'program')!r}, "rb").read(), tree, jax.tree.structure(0))
assert abs(float(compiled(np.float32(1))) - 2 * np.sin(1)) < 1e-6
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


@pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices")
@pytest.mark.parametrize("order", [[3], [3, 2], [2, 0, 3, 1]], ids=str)
def test_programs_are_loaded_where_they_were_compiled_for(order):
    mesh = jax.sharding.Mesh(np.array([jax.devices()[i] for i in order]), ("x",))
    x = jax.device_put(np.arange(4.0, dtype=np.float32), jax.NamedSharding(mesh, jax.P("x")))
    out = serialize_executable.deserialize_and_load(*stored(lambda x: x * 2, x))(x)
    assert [s.device.id for s in out.addressable_shards] == [s.device.id for s in x.addressable_shards]
    np.testing.assert_array_equal(out, 2 * np.arange(4))


def test_bytes_that_cannot_be_loaded():
    payload, in_tree, out_tree = stored(lambda x: x + 1, np.float32(0))
    load = serialize_executable.deserialize_and_load
    with pytest.raises(ValueError, match="not a program that serialize"):
        load(b"abc", in_tree, out_tree)
    with pytest.raises(ValueError, match="damaged"):
        load(payload[:-1] + b"\0\0", in_tree, out_tree)
    first, second, *_ = jax.devices()
    with pytest.raises(ValueError, match="for 1 devices, and there are 2"):
        load(payload, in_tree, out_tree, execution_devices=[first, second])
    on_third = load(payload, in_tree, out_tree, execution_devices=[jax.devices()[3]])
    assert on_third(np.float32(1)).devices() == {jax.devices()[3]}


def test_programs_that_cannot_be_stored():
    with pytest.raises(ValueError, match="calls of Python functions"):
        stored(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x), np.float32(0))
    with pytest.raises(ValueError, match="random keys"):
        stored(lambda k: k, jax.random.key(0))


def test_topologies():
    topology = topologies.get_attached_topology("cpu")
    assert topology.devices == jax.devices("cpu") and isinstance(topology.devices[0], topologies.Device)
    mesh = topologies.make_mesh(topology, (4, 2), ("x", "y"))
    assert dict(mesh.shape) == {"x": 4, "y": 2}
    with pytest.raises(NotImplementedError, match="not implemented for cpu"):
        topologies.get_topology_desc(platform="cpu")
    with pytest.raises(RuntimeError, match="no plugin for the platform 'abacus'"):
        topologies.get_topology_desc("v9", platform="abacus")


def test_described_devices_call_no_functions():
    """A program with callbacks is compiled for them; jaxlib's CPU devices can be described from 0.12 on."""
    try:
        here = jax.sharding.SingleDeviceSharding(topologies.TopologyDescription.deserialize(topologies.get_attached_topology("cpu").serialize()).devices[0])
    except NotImplementedError:
        pytest.skip("this jaxlib describes no CPU")
    x = jax.ShapeDtypeStruct((3,), np.float32, sharding=here)
    compiled = jax.jit(lambda x: jax.pure_callback(np.sin, x, x), out_shardings=here).lower(x).compile()
    with pytest.raises(RuntimeError, match="described"):
        compiled(np.ones(3, np.float32))
    jax.device_put(np.ones((2, 3)), Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0])))  # from here on layouts are compared
    with pytest.raises(RuntimeError, match="described"):
        compiled(np.ones(3, np.float32))


def test_place_of_the_compilation_cache(tmp_path):
    before = jax.config.jax_compilation_cache_dir
    try:
        compilation_cache.set_cache_dir(tmp_path)
        compilation_cache.reset_cache()
        with flags.enable_compilation_cache(True):
            jax.jit(lambda x: x * 3.25 + 17.5)(np.ones(11, np.float32))
        assert any(tmp_path.iterdir())
    finally:
        compilation_cache.set_cache_dir(before)


def test_wrapped_functions():
    assert isinstance(jax.jit(lambda x: x), jax.stages.Wrapped) and not isinstance(len, jax.stages.Wrapped)
    options: jax.stages.CompilerOptions = {"xla_embed_ir_in_executable": True}
    assert options


def test_arrays_with_an_error():
    aval = jax.ShapeDtypeStruct((3,), np.float32, sharding=jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    array = transfer.make_error_array(aval, "lost on the way")
    with pytest.raises(RuntimeError, match="lost on the way"):
        np.asarray(array)


def test_transfer_between_servers():
    server = transfer.start_transfer_server(jax.devices()[0].client, "127.0.0.1:0", ["127.0.0.1:0"])
    assert isinstance(server, transfer.TransferServer)
    x = jnp.arange(4.0)
    server.await_pull(7, [x])
    connection = server.connect(server.address())
    assert isinstance(connection, transfer.TransferConnection)
    spec = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)
    (y,) = connection.pull(7, [spec])
    np.testing.assert_array_equal(y, x)


def test_a_described_argument_names_its_device():
    other = jax.devices()[3]
    compiled = jax.jit(jnp.sin).lower(jax.ShapeDtypeStruct((3,), np.float32, sharding=jax.sharding.SingleDeviceSharding(other))).compile()
    assert compiled(np.ones(3, np.float32)).devices() == {other}


def test_a_warning_of_a_command():
    """The line of ``python -c`` is in no file."""
    code = "import jax.numpy as jnp; jnp.zeros(3, 'float64')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "UserWarning" in done.stderr
