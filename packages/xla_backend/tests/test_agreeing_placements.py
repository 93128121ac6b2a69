"""Placements that must agree: specs of `shard_map` with types, devices of arguments with those that a program is told of, meshes with the one set."""
import contextlib

import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.programs.jit import jit
from jax_core.representation.aval import get_aval
from jax_core.transformations.autodiff import grad
from jax_numpy_api import lax
from jax_xla_backend.arrays.device_put import device_put, reshard
from jax_xla_backend.operations.axis_kinds import auto_axes, explicit_axes
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_xla_backend.placement.mesh import AxisType, Mesh, set_mesh
from jax_xla_backend.placement.partition_spec import UNCONSTRAINED, PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding, SingleDeviceSharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = pytest.mark.skipif(len(devices()) < 8, reason="needs eight devices")
X = np.arange(64, dtype=np.float32).reshape(8, 8)
AUTO, EXPLICIT = AxisType.Auto, AxisType.Explicit


def grid(*kinds, order=1, shape=(4, 2)):
    return Mesh(np.array(devices()[:np.prod(shape)][::order]).reshape(shape), ("x", "y"), kinds or (EXPLICIT,) * 2)


def on(mesh, *spec):
    return device_put(X, NamedSharding(mesh, P(*spec)))


# -- in_specs over Explicit axes ---------------------------------------------------------------------------------------

SAME = [(grid, {}, P("x"), ("x",)), (grid, {}, P(("x",), None), ("x",)), (grid, {}, P(), None), (grid, {}, P("x", "y"), ("x", "y")),
        (grid, {"x"}, P("x"), ("x", "y")), (grid, {"x"}, P(), ("y",)), (grid, {"y"}, P(None, "y"), ("x", "y")),
        (lambda: grid(EXPLICIT, AUTO), {}, P("y"), ("x",)), (lambda: grid(EXPLICIT, AUTO), {"y"}, P("y"), None),
        (lambda: grid(AUTO, AUTO), {}, P("x"), None)]
OTHERWISE = [(grid, {}, P("x"), None), (grid, {}, P(), ("x",)), (grid, {}, P("x"), ("x", "y")), (grid, {}, P("y"), ("x",)),
             (grid, {"x"}, P("x"), ("y",)), (lambda: grid(EXPLICIT, AUTO), {"x"}, P("x"), None)]


def mapped(mesh, names, spec):
    return shard_map(lambda part: part * 2, mesh=mesh, in_specs=spec, out_specs=spec, axis_names=frozenset(names))


@pytest.mark.parametrize("how", [lambda f: f, jit, lambda f: jit(lambda x: f(jnp.sin(x)))], ids=["eager", "jit", "inside"])
def test_specs_over_explicit_axes_are_those_of_the_types(how):
    for mesh, names, spec, placed in SAME:
        x = X if placed is None else on(mesh(), *placed)
        how(mapped(mesh(), names, spec))(x)
    for mesh, names, spec, placed in OTHERWISE:
        with pytest.raises(ValueError, match=r"^shard_map of .*: the in_specs entry .* does not match args\[0\] of type float32"):
            how(mapped(mesh(), names, spec))(X if placed is None else on(mesh(), *placed))


def test_regions_in_regions_keep_how_values_are_split():
    seen = []

    def inner(part):
        seen.append(get_aval(part).str_short())
        return part + 1

    def outer(part):
        seen.append(get_aval(part).str_short())
        once = shard_map(inner, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})(part)
        seen.append(get_aval(once).str_short())
        return shard_map(inner, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})(once * 2)
    with set_mesh(grid()):
        f = shard_map(outer, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        y = jit(f)(on(grid(), "x", "y"))
        slope = jit(grad(lambda x: f(x).sum()))(on(grid(), "x", "y"))
    np.testing.assert_array_equal(y, (X + 1) * 2 + 1)
    np.testing.assert_array_equal(slope, np.full_like(X, 2))
    assert seen[:4] == ["float32[2,8@y]{V:x}", "float32[2,4]{V:(x,y)}", "float32[2,8@y]{V:x}", "float32[2,4]{V:(x,y)}"]
    assert slope.sharding.spec == P("x", "y")


def test_a_region_is_typed_by_the_kinds_of_axes_around_it():
    mesh, kinds = grid(), []

    def f(x):
        y = shard_map(lambda part: part * lax.axis_size("x"), in_specs=P("x"), out_specs=P("x"), axis_names={"x"})(x)
        kinds.append(get_aval(y).placement)
        return y
    with set_mesh(mesh):
        y = jit(auto_axes(f, out_sharding=P("x", None)))(on(mesh, None, "y"))
    np.testing.assert_array_equal(y, X * 4)
    assert kinds == [None] and y.sharding.spec == P("x", None)


@pytest.mark.parametrize("kinds, names, spec, placed, result", [
    ((EXPLICIT, EXPLICIT), {}, P("x"), ("x",), P("x")), ((EXPLICIT, EXPLICIT), {"x"}, P("x"), ("x", "y"), P("x", "y")),
    ((AUTO, AUTO), {"x"}, P("x"), ("x", "y"), P("x", "y")), ((AUTO, AUTO), {"x"}, P(), (None, "y"), P(None, "y"))])
def test_eager_results_are_placed_as_asked_and_otherwise_as_before(kinds, names, spec, placed, result):
    assert mapped(grid(*kinds), names, spec)(on(grid(*kinds), *placed)).sharding.spec == result


def test_eager_arguments_lie_on_the_mesh_in_context():
    f = shard_map(lambda part: part * 2, in_specs=P(), out_specs=P())
    for kinds in ((AUTO, AUTO), (AUTO, EXPLICIT)):
        with set_mesh(grid()), pytest.raises(ValueError, match=r"^shard_map of .*: args\[0\] lies on Mesh"):
            f(on(grid(*kinds)))


# -- devices -----------------------------------------------------------------------------------------------------------

def double(x):
    return x * 2


WHERE = {"one": lambda: device_put(X, devices()[0]), "another": lambda: device_put(X, devices()[3]), "half": lambda: on(grid(AUTO, AUTO, shape=(2, 2)), "x"),
         "turned": lambda: on(grid(AUTO, AUTO, order=-1), "x"), "here": lambda: on(grid(AUTO, AUTO), "x"), "anywhere": lambda: X}
ASKING = {
    "results": (lambda mesh: jit(double, out_shardings=NamedSharding(mesh, P("x"))), {"here", "anywhere"}),
    "arguments": (lambda mesh: jit(double, in_shardings=NamedSharding(mesh, P("x"))), {"here", "anywhere", "turned"}),
    "one argument": (lambda mesh: (lambda x: jit(lambda a, b: a + b, in_shardings=(NamedSharding(mesh, P("x")), None))(X, x)), {"here", "anywhere"}),
    "one device": (lambda mesh: jit(double, out_shardings=SingleDeviceSharding(devices()[0])), {"one", "anywhere"}),
    "shard_map": (lambda mesh: shard_map(double, mesh=mesh, in_specs=P("x"), out_specs=P("x")), {"here", "anywhere"}),
}


@pytest.mark.parametrize("place", WHERE)
@pytest.mark.parametrize("asking", ASKING)
def test_arguments_are_committed_to_the_devices_that_a_program_is_told_of(asking, place):
    make, fine = ASKING[asking]
    f, x = make(grid(AUTO, AUTO)), WHERE[place]()
    if place in fine:
        np.testing.assert_array_equal(f(x), X * 2 if asking != "one argument" else X + X)
    else:
        with pytest.raises(ValueError, match="^Received incompatible devices for jitted computation"):
            f(x)


@pytest.mark.parametrize("place", WHERE)
def test_under_a_mesh_programs_run_on_its_devices(place):
    x, f = WHERE[place](), jit(double)
    with set_mesh(grid(AUTO, AUTO)):
        if place in ("here", "anywhere"):
            np.testing.assert_array_equal(f(x), X * 2)
        else:
            with pytest.raises(ValueError, match="^Received incompatible devices for jitted computation"):
                f(x)


def test_reshard_and_constraints_name_axes_of_the_mesh_that_an_array_is_on():
    for place in ("one", "another", "half"):
        with pytest.raises(ValueError, match="^Received incompatible devices for jitted computation: reshard"):
            reshard(WHERE[place](), NamedSharding(grid(), P("x")))
    for mesh, used in [(grid(), False), (grid(EXPLICIT, AUTO), False), (grid(EXPLICIT, AUTO), True)]:
        with set_mesh(mesh) if used else contextlib.nullcontext(), pytest.raises(ValueError, match="names Explicit mesh axes"):
            lax.with_sharding_constraint(X, NamedSharding(mesh, P("x")))
    assert lax.with_sharding_constraint(on(grid(), "x"), NamedSharding(grid(), P())).sharding.spec == P()


def test_what_is_left_to_the_compiler():
    open_axis = P(None, UNCONSTRAINED)
    for f in (device_put, reshard, lambda x, where: jnp.zeros((8, 8), out_sharding=where),
              lambda x, where: auto_axes(double, out_sharding=where)(x), lambda x, where: jnp.dot(x, x, out_sharding=where)):
        with pytest.raises(ValueError, match="leaves an axis to the compiler"):
            f(X, NamedSharding(grid(EXPLICIT, AUTO), open_axis))
    where = NamedSharding(grid(AUTO, AUTO), P("x", UNCONSTRAINED))
    for placed, found in [((None, "y"), P("x", "y")), ((None, "x"), P("x")), ((), P("x"))]:
        assert lax.with_sharding_constraint(on(grid(AUTO, AUTO), *placed), where).sharding.spec == found
    with set_mesh(grid()), pytest.raises(ValueError, match="UNCONSTRAINED"):
        lax.with_sharding_constraint(X, P(UNCONSTRAINED))


def test_kinds_of_axes_change_where_a_mesh_is_in_context():
    with pytest.raises(ValueError, match="^explicit_axes: the context mesh cannot be empty"):
        explicit_axes(double, in_sharding=P("x"))(X)
    with pytest.raises(ValueError, match="is Auto; only Explicit"):
        auto_axes(double, out_sharding=NamedSharding(grid(AUTO, EXPLICIT), P("x")))(X)


def test_results_have_the_specs_that_are_asked():
    with set_mesh(grid()):
        for spec in (P(), P("x"), P(("x", "y"))):
            assert jit(double, out_shardings=spec)(X).sharding.spec == spec
            assert jnp.zeros((8, 8), device=NamedSharding(grid(), spec)).sharding.spec == spec
    filled = lax.full((8,), 1.0, sharding=NamedSharding(grid(), P("x")))
    assert not filled.weak_type and filled.sharding.spec == P("x")


def test_specs_of_results_name_what_types_do_not_without_empty_entries():
    mixed = grid(EXPLICIT, AUTO)
    for spec, found in [(("x",), P("x", None)), (("y",), P("y")), ((("x", "y"),), P(("x", "y"))), ((None, "y"), P(None, "y")), ((), P(None, None))]:
        assert jit(double)(on(mixed, *spec)).sharding.spec == found
    assert jit(double, in_shardings=NamedSharding(grid(), P("x")))(X).sharding.spec == P("x")
