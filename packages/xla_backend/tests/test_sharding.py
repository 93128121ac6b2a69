"""Partition specs, meshes and shardings."""
import pickle

import numpy as np
import pytest

from jax_xla_backend.jaxlib_compat import _jax
from jax_xla_backend.placement.hlo_shardings import spec_of
from jax_xla_backend.placement.mesh import (
    AbstractMesh,
    AxisType,
    Mesh,
    get_abstract_mesh,
    get_mesh,
    make_mesh,
    set_mesh,
    use_abstract_mesh,
)
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import (
    DuplicateSpecError,
    GSPMDSharding,
    IndivisibleError,
    NamedSharding,
    SingleDeviceSharding,
    make_single_device_sharding,
)
from jax_xla_backend.platforms import client
from programs import backend

backend.devices()


@pytest.fixture
def mesh():
    return make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)


SPECS = [
    (P("x", "y"), 2, "{devices=[4,2]<=[8]}"),
    (P(("x", "y")), 2, "{devices=[8,1]<=[8]}"),
    (P("y", "x"), 2, "{devices=[2,4]<=[4,2]T(1,0)}"),
    (P(None, "y"), 2, "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"),
    (P(("y", "x"), None), 2, "{devices=[8,1]<=[4,2]T(1,0)}"),
    (P("x"), 1, "{devices=[4,2]<=[8] last_tile_dim_replicate}"),
    (P(), 2, "{replicated}"),
]


@pytest.mark.parametrize("spec, ndim, text", SPECS, ids=[str(s[0]) for s in SPECS])
def test_form_for_the_compiler(mesh, spec, ndim, text):
    hlo = NamedSharding(mesh, spec)._to_xla_hlo_sharding(ndim)
    assert repr(hlo) == text
    assert NamedSharding(mesh, spec_of(hlo, mesh, ndim))._to_xla_hlo_sharding(ndim) == hlo


def test_which_part_is_where(mesh):
    s = NamedSharding(mesh, P("y", "x"))
    parts = s.devices_indices_map((4, 8))
    d = client.devices()
    assert parts[d[0]] == (slice(0, 2), slice(0, 2)) and parts[d[1]] == (slice(2, 4), slice(0, 2))
    assert parts[d[2]] == (slice(0, 2), slice(2, 4)) and s.shard_shape((4, 8)) == (2, 2)
    assert s.addressable_devices_indices_map((4, 8)) == parts and s.num_devices == 8 and s.device_set == set(d)


def test_indivisible_axis(mesh):
    with pytest.raises(IndivisibleError, match="array axis 0 is partitioned 4 times, but the dimension size is 6"):
        NamedSharding(mesh, P("x", None)).shard_shape((6, 4))


def test_too_few_axes(mesh):
    with pytest.raises(ValueError, match="only valid for values of rank at least 2, but was applied to a value of rank 1"):
        NamedSharding(mesh, P("x", "y")).check_compatible_aval((4,))


def test_bad_specs(mesh):
    with pytest.raises(ValueError, match="names axis .z., but the mesh has"):
        NamedSharding(mesh, P("z"))
    with pytest.raises(DuplicateSpecError, match="names axis .x. twice"):
        NamedSharding(mesh, P("x", "x"))
    with pytest.raises((TypeError, AttributeError)):
        NamedSharding(mesh, "x")
    with pytest.raises((TypeError, AttributeError)):
        NamedSharding(3, P("x"))
    with pytest.raises(ValueError, match="leaves a dimension to the compiler"):
        NamedSharding(make_mesh((8,), ("x",)), P(P.UNCONSTRAINED))
    with pytest.raises(ValueError, match="memory"):
        NamedSharding(mesh, P("x"), memory_kind="foo")


def test_equality_and_equivalence(mesh):
    a, b = NamedSharding(mesh, P("x")), NamedSharding(mesh, P("x", None))
    assert a == NamedSharding(mesh, P("x")) and hash(a) == hash(NamedSharding(mesh, P("x"))) and a != b
    assert a.is_equivalent_to(b, 2) and not a.is_equivalent_to(NamedSharding(mesh, P("y")), 2)
    devices = _jax.DeviceList(tuple(client.devices()))
    g = GSPMDSharding(devices, a._to_xla_hlo_sharding(1))
    assert g.is_equivalent_to(a, 1) and g != a and g.shard_shape((8,)) == (2,)
    assert not g.is_fully_replicated and NamedSharding(mesh, P()).is_fully_replicated
    assert a.replicated_axes == {"y"}
    d = client.devices()
    assert SingleDeviceSharding(d[0]) == make_single_device_sharding(d[0]) != SingleDeviceSharding(d[1])


def test_texts(mesh):
    assert repr(mesh) == "Mesh(axis_sizes=(4, 2), axis_names=('x', 'y'), axis_types=(Auto, Auto))"
    assert str(mesh) == "Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
    assert repr(NamedSharding(mesh, P("x", None))) == (
        "NamedSharding(mesh=Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto)), spec=P('x', None), memory_kind=device)")
    assert repr(SingleDeviceSharding(client.devices()[0])) == (
        "SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)")
    assert repr(P("x", ("y", "z"), None)) == "P('x', ('y', 'z'), None)" and repr(P()) == "P()"
    assert repr(P("x", unreduced={"y"})) == "P('x', unreduced={'y'}, unreduced_kind=sum)"
    assert repr(AbstractMesh((2,), ("x",))) == "AbstractMesh('x': 2, axis_types=(Explicit,))"
    assert repr(NamedSharding(AbstractMesh((2,), ("x",)), P("x"))) == (
        "NamedSharding(mesh=AbstractMesh('x': 2, axis_types=(Explicit,)), spec=P('x',))")


def test_specs_behave_like_sequences():
    p = P("x", None, ("y", "z"))
    assert len(p) == 3 and p[0] == "x" and tuple(p) == ("x", None, ("y", "z")) and p[0:1] == ("x",)
    assert P(("x",)) == P("x") and P(()) == P(None) and P() != P(None) and P("x") != ("x",)
    assert P("x") + ("y",) == P("x", "y") and p.index("x") == 0 and p.count(None) == 1
    with pytest.raises(ValueError, match="has the tuple .'y',. in it"):
        P(("x", ("y",)))
    with pytest.raises(ValueError, match="unreduced"):
        P("x", unreduced={"x"})
    with pytest.raises(TypeError, match="must be a set"):
        P("x", unreduced="y")
    for one, other in ((P("x", unreduced={"y"}), P("z")), (P("z"), P(reduced={"y"})), (P(unreduced={"y"}), ("z",))):
        with pytest.raises(TypeError, match="cannot be joined"):
            one + other


@pytest.mark.only_cpu
def test_mesh_needs_a_name_for_each_axis():
    with pytest.raises(ValueError, match=r"devices of shape \(8,\) and axis_names=\('x', 'y'\)"):
        Mesh(np.array(client.devices()), ("x", "y"))
    with pytest.raises(ValueError, match="needs 15 devices, and there are 8"):
        make_mesh((3, 5), ("x", "y"))
    for make in (AbstractMesh, make_mesh):
        for kinds in (("explicit",), "explicit", [AxisType.Auto], (AxisType.Auto, None)):
            with pytest.raises(TypeError, match="axis_types must hold members of jax.sharding.AxisType, got"):
                make((2,), ("x",), axis_types=kinds)


def test_mesh_properties(mesh):
    assert mesh.shape == {"x": 4, "y": 2} and mesh.size == 8 and not mesh.empty and mesh.local_mesh is mesh
    assert mesh.device_ids.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]] and not mesh.is_multi_process
    assert mesh.auto_axes == ("x", "y") and mesh.are_all_axes_auto and mesh.explicit_axes == ()
    assert mesh.abstract_mesh.shape == mesh.shape and mesh.abstract_mesh == mesh.abstract_mesh.update()
    assert mesh == Mesh(mesh.devices, ("x", "y")) and hash(mesh) == hash(Mesh(mesh.devices, ("x", "y")))


def test_mesh_in_use(mesh):
    assert get_mesh().empty and get_abstract_mesh().empty
    with set_mesh(mesh):
        assert get_mesh() is mesh and get_abstract_mesh() == mesh.abstract_mesh
        with use_abstract_mesh(AbstractMesh((2,), ("a",))):
            assert get_abstract_mesh().axis_names == ("a",)
    assert get_mesh().empty and get_abstract_mesh().empty


def test_pickling(mesh):
    things = (mesh, P("x"), NamedSharding(mesh, P("x")), SingleDeviceSharding(client.devices()[3]), client.devices()[2],
              mesh.abstract_mesh)
    assert pickle.loads(pickle.dumps(things)) == things


def test_shardy_attribute(mesh):
    assert NamedSharding(mesh, P(("x", "y"), None))._to_sdy_sharding(3) == '#sdy.sharding<@mesh, [{"x", "y"}, {}, {}]>'
