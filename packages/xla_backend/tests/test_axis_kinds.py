"""Kinds of mesh axes, types of what varies, layouts inside programs, shardings as bytes, processes that fail."""
import types

import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy  # noqa: F401  operators of arrays
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.manual_axis_type import ManualAxisType, UnreducedKind
from jax_core.transformations.autodiff import grad, vjp
from jax_core.transformations.vmap import vmap
from jax_xla_backend.arrays.device_put import device_put, reshard
from jax_xla_backend.operations import multihost
from jax_xla_backend.operations.axis_kinds import auto_axes, explicit_axes
from jax_xla_backend.operations.layout_constraint import explicit_layout, with_layout_constraint
from jax_xla_backend.placement import device_grid, sharding_protos
from jax_xla_backend.placement.layout import Layout
from jax_xla_backend.placement.mesh import AxisType, Mesh, get_abstract_mesh, set_mesh
from jax_xla_backend.placement.no_collectives import check_no_collectives, no_collectives
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import GSPMDSharding, NamedSharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
several = pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
X = np.arange(8, dtype=np.float32)


def grid(kind):
    return Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (kind,) * 2)


@several
def test_auto_axes():
    seen = []

    def body(x):
        seen.append(get_abstract_mesh().axis_types)
        return x * 2
    with set_mesh(grid(AxisType.Explicit)):
        for call in (auto_axes(body, out_sharding=P("x")), auto_axes(out_sharding=P("x"))(body), jit(auto_axes(body, out_sharding=P("x"))),
                     lambda x: auto_axes(body)(x, out_sharding=P("x"))):
            out = call(X)
            np.testing.assert_array_equal(out, 2 * X)
            assert out.sharding.is_equivalent_to(NamedSharding(grid(AxisType.Explicit), P("x")), 1)
        assert seen[0] == (AxisType.Auto,) * 2 and get_abstract_mesh().axis_types == (AxisType.Explicit,) * 2
        auto_axes(body, axes="y", out_sharding=P("x"))(X)
        assert seen[-1] == (AxisType.Explicit, AxisType.Auto)
        with pytest.raises(TypeError, match="Missing required keyword argument: 'out_sharding'"):
            auto_axes(body)(X)
        with pytest.raises(ValueError, match="axes='q' names 'q', but the mesh in context has the axes"):
            auto_axes(body, axes="q", out_sharding=P())(X)
    np.testing.assert_array_equal(auto_axes(body, out_sharding=P())(X), 2 * X)  # without a mesh


@several
def test_explicit_axes():
    seen = []

    def body(x):
        seen.append(get_abstract_mesh().axis_types)
        return x * 2
    with set_mesh(grid(AxisType.Auto)):
        for call in (explicit_axes(body, in_sharding=P("x")), jit(explicit_axes(body, in_sharding=P("x"))),
                     lambda x: explicit_axes(body)(x, in_sharding=P("x"))):
            out = call(X)
            np.testing.assert_array_equal(out, 2 * X)
            assert out.sharding.is_equivalent_to(NamedSharding(grid(AxisType.Auto), P("x")), 1)
        assert seen[0] == (AxisType.Explicit,) * 2
        with pytest.raises(TypeError, match="Missing required keyword argument: 'in_sharding'"):
            explicit_axes(body)(X)


@several
def test_no_collectives():
    mesh = grid(AxisType.Explicit)
    x = device_put(X, NamedSharding(mesh, P("x")))
    with no_collectives({"x"}):
        assert no_collectives.value == {"x"}
        reshard(x, NamedSharding(mesh, P(("x", "y"))))
        with pytest.raises(ValueError, match=r"going from P\('x',\) to P\(\) needs collectives across the mesh axis 'x'"):
            reshard(x, NamedSharding(mesh, P()))
    reshard(x, NamedSharding(mesh, P()))
    with pytest.raises(TypeError, match="Expected axis name\\(s\\) as set or frozenset"):
        no_collectives("x")
    check_no_collectives(x.sharding, NamedSharding(mesh, P()))


def test_manual_axis_type():
    t = ManualAxisType(varying={"x"}, unreduced={"y"}, reduced={"z"})
    assert t == ManualAxisType(varying=frozenset("x"), unreduced={"y"}, reduced={"z"}) and hash(t) == hash(t.update())
    assert (t.vur, t.empty, t.unreduced_kind) == ({"x", "y", "z"}, False, UnreducedKind.sum)
    assert (t.to_ct_mat().unreduced, t.to_ct_mat().reduced) == ({"z"}, {"y"})
    assert t.update(varying=frozenset()).varying == frozenset() and ManualAxisType().empty
    assert t.invarying(types.SimpleNamespace(manual_axes=("x", "w"))) == {"w"}
    assert repr(ManualAxisType()) == ("ManualAxisType(varying=frozenset(), unreduced=frozenset(), reduced=frozenset(), "
                                      "unreduced_kind=None)")
    for bad, kind, text in ((dict(varying="x"), TypeError, "should be a `frozenset` or `set`"),
                            (dict(varying={"x"}, unreduced={"x"}), ValueError, "cannot have common mesh axes"),
                            (dict(unreduced_kind=UnreducedKind.max), ValueError, "says how to reduce")):
        with pytest.raises(kind, match=text):
            ManualAxisType(**bad)


def test_unreduced_kind_of_a_spec():
    spec = P("x", unreduced={"y"}, unreduced_kind=UnreducedKind.max)
    assert str(spec) == "P('x', unreduced={'y'}, unreduced_kind=max)"
    assert spec != P("x", unreduced={"y"}) and P("x", unreduced={"y"}).unreduced_kind is UnreducedKind.sum
    assert spec.to_ct_spec() == P("x", reduced={"y"}) and P("x").unreduced_kind is None
    with pytest.raises(ValueError, match="unreduced_kind=.* says how to reduce"):
        P(unreduced_kind=UnreducedKind.min)


def test_layout_constraint():
    a, order = np.arange(12, dtype=np.float32).reshape(3, 4), Layout((1, 0))
    f = lambda a: with_layout_constraint(a, order) * 2
    np.testing.assert_array_equal(jit(f)(a), 2 * a)
    np.testing.assert_array_equal(f(a), 2 * a)
    text = jit(f).lower(a).as_text()
    assert "@LayoutConstraint" in text and "result_layouts = [dense<[0, 1]> : tensor<2xindex>]" in text
    assert "major_to_minor=(0, 2, 1)" in str(make_jaxpr(vmap(f))(a[None]))
    np.testing.assert_array_equal(jit(grad(lambda a: f(a).sum()))(a), np.full_like(a, 2))
    np.testing.assert_array_equal(jit(vmap(f, 2, 2))(a[:, :, None]), 2 * a[:, :, None])
    tree = with_layout_constraint({"a": a, "b": a}, order)
    np.testing.assert_array_equal(tree["b"], a)
    g = explicit_layout(lambda a, b: a + b, in_layouts=(order, Layout.AUTO))
    np.testing.assert_array_equal(jit(g)(a, a), 2 * a)
    assert str(make_jaxpr(g)(a, a)).count("layout_constraint") == 1
    with pytest.raises(ValueError, match="expected a Layout, got 3"):
        with_layout_constraint(a, 3)
    with pytest.raises(ValueError, match=r"is for arrays with 1 axes, got shape \(3, 4\)"):
        with_layout_constraint(a, Layout((0,)))


@several
def test_shardings_as_bytes():
    hlo = NamedSharding(grid(AxisType.Auto), P("y"))._to_xla_hlo_sharding(1)
    data = sharding_protos.get_serialized_proto_from_hlo_sharding(hlo)
    assert type(data) is bytes and sharding_protos.get_hlo_sharding_from_serialized_proto(data) == hlo
    assert list(sharding_protos.get_op_sharding_from_serialized_proto(data).tile_assignment_dimensions) == [2, 2]
    assert GSPMDSharding.get_replicated(tuple(devices()[:4])).is_fully_replicated


@several
def test_devices_arranged_by_their_kind(monkeypatch):
    kind = devices()[0].device_kind
    reverse = lambda shape, devices, contiguous_submeshes: np.array(devices[::-1]).reshape(shape)
    monkeypatch.setitem(device_grid.device_kind_handler_dict, kind, reverse)
    assert list(device_grid.create_device_mesh((4,), devices()[:4])) == devices()[:4][::-1]
    monkeypatch.setitem(device_grid.device_kind_handler_dict, kind, lambda *args, **kwargs: None)
    assert list(device_grid.create_device_mesh((4,), devices()[:4])) == devices()[:4]


@several
def test_arrays_of_one_process():
    mesh, spec = grid(AxisType.Auto), P("x")
    whole = multihost.host_local_array_to_global_array({"a": X}, mesh, spec)["a"]
    np.testing.assert_array_equal(whole, X)
    assert whole.sharding == NamedSharding(mesh, spec)
    back = lambda x: multihost.global_array_to_host_local_array(x, mesh, spec)
    np.testing.assert_array_equal(back(whole), X)
    there = lambda x: multihost.host_local_array_to_global_array(x, mesh, spec)
    np.testing.assert_array_equal(vmap(there)(np.stack([X, X])), np.stack([X, X]))
    np.testing.assert_array_equal(vjp(there, X)[1](2 * X)[0], 2 * X)
    with pytest.raises(NotImplementedError, match="cannot be part of a jitted program"):
        jit(there)(X)


def test_failures_of_processes(monkeypatch):
    with multihost.live_devices(devices()) as live:
        assert live == list(devices())
    numbers = iter([{0: 1}, {0: 2}])
    monkeypatch.setattr(multihost, "_living", lambda devices: next(numbers))
    with pytest.raises(multihost.ProcessFailureError, match="Failed devices") as error:
        with multihost.live_devices(devices()):
            pass
    assert error.value.failed_devices == list(devices())
    assert multihost.reached_preemption_sync_point(1) is False
    monkeypatch.setattr(multihost.state, "client", object())
    with pytest.raises(RuntimeError, match="Preemption sync manager has not been initialized"):
        multihost.reached_preemption_sync_point(1)


@several
@pytest.mark.parametrize("axes", [None, "x", ("x", "y")])
def test_auto_axes_take_the_mesh_of_their_arguments(axes):
    x = device_put(np.arange(8, dtype=np.float32), NamedSharding(grid(AxisType.Explicit), P("x")))
    y = auto_axes(lambda x: x * 2, axes=axes)(x, out_sharding=P("y"))
    assert y.sharding == NamedSharding(grid(AxisType.Explicit), P("y"))
    np.testing.assert_array_equal(y, 2 * np.arange(8))


@several
def test_descriptions_of_results_and_of_wrong_length():
    where = NamedSharding(grid(AxisType.Explicit), P("x", None))
    x = device_put(np.ones((4, 2), np.float32), where)
    lowered = jit(lambda x: x + 1).lower(x)
    assert lowered.out_info.sharding == where and type(lowered.out_info.sharding.mesh) is type(where.mesh)
    with pytest.raises(ValueError, match=r"names 2 axes, and the shape \(4,\) has 1"):
        ShapeDtypeStruct((4,), np.float32, sharding=where)
    with pytest.raises(TypeError, match="none is set"):
        ShapeDtypeStruct((4,), np.float32, sharding=P("x"))
    abstract = NamedSharding(where.mesh.abstract_mesh, P("x"))
    with pytest.raises(ValueError, match="has no devices"):
        abstract.addressable_devices
    with pytest.raises(ValueError, match="has no devices"):
        abstract.mesh.devices
