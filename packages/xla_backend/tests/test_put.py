"""Moving values to devices and back."""
import gc

import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.references.api import new_ref
from jax_numpy_api import lax
from jax_xla_backend import startup
from jax_xla_backend.arrays import device_put, from_parts
from jax_xla_backend.placement.mesh import AxisType, make_mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding, SingleDeviceSharding
from jax_xla_backend.platforms import client
from programs import array, backend


@pytest.fixture
def mesh():
    backend.devices()
    return make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)


def test_put_of_a_tree():
    a, b, c = device_put.device_put((1, 2.0, np.arange(3)))
    assert (a.weak_type, b.weak_type, c.weak_type) == (True, True, False)
    assert c.dtype == np.int32 and device_put.device_put(np.zeros(2)).dtype == np.float32


def test_a_device_commits():
    d = client.devices()[3]
    for x in (1.0, np.arange(3), array()):
        y = device_put.device_put(x, d)
        assert y.committed and y.device is d and np.array_equal(np.asarray(x, y.dtype), y.__array__())
    assert device_put.device_put(1.0, d).weak_type


@pytest.mark.parametrize("spec", [P(), P("x"), P("y"), P(("x", "y")), P(None, "x"), P("y", "x")], ids=str)
def test_placing_moves_no_element(mesh, spec):
    value = np.arange(128).reshape(8, 16)
    sharding = NamedSharding(mesh, spec)
    direct = device_put.device_put(value, sharding)
    assert direct.sharding == sharding and np.array_equal(direct, value)
    for other in (P("x", "y"), P()):
        moved = device_put.device_put(direct, NamedSharding(mesh, other))
        assert np.array_equal(moved, value) and moved.sharding.spec == other
    assert np.array_equal(device_put.device_put(direct, client.devices()[5]), value)


def test_placed_copy_does_not_see_later_writes(mesh):
    value = np.arange(8)
    x = device_put.device_put(value, NamedSharding(mesh, P("x")))
    value[:] = -1
    assert x.tolist() == list(range(8))


@pytest.mark.only_cpu
def test_prefix_of_placements():
    d = client.devices()
    a, (b, c) = device_put.device_put((1, (2, 3)), (d[1], d[2]))
    assert (a.device, b.device, c.device) == (d[1], d[2], d[2])


def test_partition_spec_needs_a_mesh(mesh):
    with pytest.raises(ValueError, match="names axes of a mesh, and none is set"):
        device_put.device_put(np.arange(8), P("x"))
    with set_mesh(mesh):
        assert device_put.device_put(np.arange(8), P("x")).sharding == NamedSharding(mesh, P("x"))


@pytest.mark.parametrize("where", ["a", 3])
def test_bad_placement(where):
    with pytest.raises(ValueError, match=f"device={where!r}, of type {type(where).__name__}, names no place"):
        device_put.device_put(1.0, where)


@pytest.mark.parametrize("value", ["text", object(), np.array([object()])], ids=["str", "object", "object array"])
def test_bad_value(value):
    with pytest.raises(TypeError, match="^device_put: "):
        device_put.device_put(value)


def test_shape_that_does_not_fit(mesh):
    with pytest.raises(ValueError, match=r"shape \(6,\).*partitioned 4 times"):
        device_put.device_put(np.arange(6), NamedSharding(mesh, P("x")))
    with pytest.raises(ValueError, match="rank 0"):
        device_put.device_put(1.0, NamedSharding(mesh, P("x")))


def test_device_get_leaves_tracers_as_they_are():
    assert float(jit(lambda x: device_put.device_get({"x": x})["x"])(np.float32(2))) == 2


def test_device_get_leaves_references_as_they_are():
    ref = new_ref(array())
    got = device_put.device_get({"ref": ref, "array": array()})
    assert got["ref"] is ref and type(got["array"]) is np.ndarray


def test_get_returns_numpy():
    got = device_put.device_get({"a": array(), "b": 1.0, "s": "text"})
    assert type(got["a"]) is np.ndarray and got["b"] == 1.0 and got["s"] == "text"


def test_donated_put_frees_the_source():
    x = array()
    device_put.device_put(x, client.devices()[1], donate=True)
    assert x.is_deleted()


def test_default_device():
    d = client.devices()[4]
    with flags.default_device(d):
        assert backend.put(1.0).device is d and not backend.put(1.0).committed
        assert backend.from_host(np.zeros(3, np.float32)).device is d
    assert backend.put(1.0).device is client.devices()[0]


def test_from_callback_calls_once_for_each_part(mesh):
    calls = []

    def part(index):
        calls.append(index)
        return np.arange(8)[index]
    x = from_parts.make_array_from_callback((8,), NamedSharding(mesh, P("x")), part)
    assert x.tolist() == list(range(8)) and len(calls) == 4
    with pytest.raises(ValueError, match=r"returned an array of shape \(3,\); the part has shape \(2,\)"):
        from_parts.make_array_from_callback((8,), NamedSharding(mesh, P("x")), lambda index: np.zeros(3))


def test_from_single_device_arrays(mesh):
    sharding = NamedSharding(mesh, P("x"))
    parts = [device_put.device_put(np.arange(2) + d.id // 2 * 2, d) for d in client.devices()]
    assert from_parts.make_array_from_single_device_arrays((8,), sharding, parts[::-1]).tolist() == list(range(8))
    with pytest.raises(ValueError, match="sharding has 8 devices of this process"):
        from_parts.make_array_from_single_device_arrays((8,), sharding, parts[:2])
    with pytest.raises(ValueError, match=r"Expected shard shape \(4,\)"):
        from_parts.make_array_from_single_device_arrays((16,), sharding, parts)
    with pytest.raises(ValueError, match="devices do not match"):
        from_parts.make_array_from_single_device_arrays((8,), sharding, [parts[0]] * 8)
    with pytest.raises(TypeError, match="list or tuple of jax.Array"):
        from_parts.make_array_from_single_device_arrays((8,), sharding, [np.arange(2)] * 8)


@pytest.mark.parametrize("shape", [None, (2, 5), (None, 5), {"a": (2, 5), "b": (2, 5)}, {"a": None, "b": (2, 5)}], ids=str)
def test_trees_from_process_local_data(shape):
    data = {"a": np.arange(10).reshape(2, 5), "b": np.ones((2, 5))}
    made = from_parts.make_array_from_process_local_data(client.devices()[0], data, shape)
    assert all(np.array_equal(made[k], data[k]) for k in "ab")


@pytest.mark.parametrize("shape", [(2, 6), {"a": (2, 6)}, {"a": (2, 5), "b": (3, 5)}], ids=str)
def test_shapes_that_do_not_fit_process_local_data(shape):
    with pytest.raises(ValueError):
        from_parts.make_array_from_process_local_data(client.devices()[0], {"a": np.ones((2, 5))}, shape)


def test_from_process_local_data(mesh):
    sharding = NamedSharding(mesh, P("x"))
    assert from_parts.make_array_from_process_local_data(sharding, np.arange(8)).sharding == sharding


@pytest.mark.only_cpu
def test_sharded_and_replicated():
    d = client.devices()[:2]
    x = from_parts.device_put_sharded([np.zeros(3), np.ones(3)], d)
    assert x.shape == (2, 3) and x.addressable_data(1).tolist() == [[1, 1, 1]]
    assert from_parts.device_put_replicated(np.arange(3), d).tolist() == [[0, 1, 2]] * 2
    with pytest.raises(ValueError, match="1 shards for 2 devices"):
        from_parts.device_put_sharded([1], d)


def test_live_arrays_lists_what_exists():
    x = backend.put(np.zeros(12345, np.float32))
    assert any(a.shape == (12345,) for a in device_put.live_arrays())
    x.delete()
    gc.collect()
    assert not any(a.shape == (12345,) for a in device_put.live_arrays())


def test_memory_kinds():
    s = SingleDeviceSharding(client.devices()[0], memory_kind="pinned_host")
    x = device_put.device_put(np.arange(3), s)
    assert x.sharding.memory_kind == "pinned_host" and x.tolist() == [0, 1, 2]
    assert device_put.device_put(x, s.with_memory_kind("device")).sharding.memory_kind == "device"


def test_put_in_a_transformation():
    from jax_core.programs.jit import jit

    assert jit(lambda x: device_put.device_put(x))(array()).tolist() == [0, 1, 2, 3]


def test_transfer_guard():
    from jax_core.programs.jit import jit

    f = jit(lambda x: x)
    value, x = np.arange(3, dtype=np.float32), array()
    f(value), f(x)
    with flags.transfer_guard("disallow"):
        with pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"):
            f(value)
        with pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"):
            backend.put(value)
        assert f(x).shape == (4,)
        assert device_put.device_get(device_put.device_put(value)).tolist() == [0, 1, 2]
    with flags.transfer_guard("disallow_explicit"), pytest.raises(RuntimeError, match="Disallowed"):
        device_put.device_put(value)
    with flags.transfer_guard("disallow_explicit"):
        assert len(list(x)) == 4  # they are made on the host: no transfer of the program's
    assert f(value).shape == (3,)


def test_transfer_guards_of_arrays_in_parts():
    """Their parts go over the host on CPUs, which jaxlib sees as no transfer, or as one of another direction."""
    split = NamedSharding(make_mesh((2,), ("x",), axis_types=(AxisType.Auto,), devices=client.devices()[:2]), P("x"))
    x = device_put.device_put(np.arange(4.0, dtype=np.float32), split)
    with flags.transfer_guard_device_to_host("disallow"):
        with pytest.raises(RuntimeError, match="Disallowed device-to-host transfer"):
            np.asarray(x)
        assert device_put.device_get(x).tolist() == [0, 1, 2, 3]
    y, here, there = device_put.device_put(np.arange(4.0, dtype=np.float32), split), array(), array()
    with flags.transfer_guard_device_to_host("disallow_explicit"), pytest.raises(RuntimeError, match="Disallowed device-to-host transfer"):
        device_put.device_get(y)
    with flags.transfer_guard_device_to_device("disallow_explicit"), pytest.raises(RuntimeError, match="Disallowed device-to-device transfer"):
        device_put.device_put(here, split)
    with flags.transfer_guard_host_to_device("disallow_explicit"):
        assert device_put.device_put(there, split).tolist() == [0, 1, 2, 3]
    with flags.transfer_guard("disallow"):
        assert from_parts.make_array_from_process_local_data(split, np.zeros(4, np.float32)).shape == (4,)


def test_guards_are_not_about_what_starts_the_backend(monkeypatch):
    """As the first use of a process, a guard ended its start."""
    monkeypatch.setattr(startup, "_shown", False)
    with flags.transfer_guard("disallow_explicit"):
        startup._show_names(client.devices()[0].client)
        with pytest.raises(RuntimeError, match="Disallowed"):
            device_put.device_put(np.arange(3))


def test_results_of_another_shape_lie_whole_on_a_mesh_of_one_device():
    """They had the placement of the operand, which a scalar cannot have: its parts could not be looked at."""
    split = NamedSharding(make_mesh((1,), ("x",), axis_types=(AxisType.Auto,), devices=client.devices()[:1]), P("x"))
    x = device_put.device_put(np.arange(3, dtype=np.int32), split)
    for result in (x[0], x.max(), list(x)[1], x.reshape(3, 1)):
        assert result.sharding.spec == P() and len(result.addressable_shards) == 1
    assert (x + 1).sharding == split


def test_what_is_scattered_into_does_not_take_the_placement_of_the_updates():
    split = NamedSharding(make_mesh((1,), ("x",), axis_types=(AxisType.Auto,), devices=client.devices()[:1]), P("x", None))
    updates = device_put.device_put(np.ones((2, 1), np.int32), split)
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    result = lax.scatter_add(device_put.device_put(np.zeros(3, np.int32)), np.array([[0], [2]]), updates, numbers)
    assert result.sharding.spec == P() and np.asarray(result.addressable_shards[0].data).tolist() == [1, 0, 1]


@pytest.mark.parametrize("fun, spec", [
    (lambda x: lax.reshape(x, (6,)), P("x")), (lambda x: lax.transpose(x, (1, 0)), P(None, "x")), (lambda x: x[0], P(None)), (lambda x: x.max(1), P("x")),
    (lambda x: x.sum(0), P(None)), (lambda x: lax.expand_dims(x, (0,)), P(None, "x", None)), (lambda x: lax.concatenate([x, x], 0), P("x", None))])
def test_results_lie_as_their_types_say_on_a_mesh_of_one_device(fun, spec):
    """They had the placement of the operand, which those of another rank cannot have."""
    split = NamedSharding(make_mesh((1,), ("x",), axis_types=(AxisType.Explicit,), devices=client.devices()[:1]), P("x", None))
    numbers = np.arange(6, dtype=np.int32).reshape(2, 3)
    result = fun(device_put.device_put(numbers, split))
    assert result.sharding.spec == result.aval.sharding.spec == spec
    np.testing.assert_array_equal(result.addressable_shards[0].data, fun(device_put.device_put(numbers)))
