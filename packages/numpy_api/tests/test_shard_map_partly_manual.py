"""`shard_map` over some axes of a mesh: the compiler has the others, a second one inside takes them, `smap`, `spmd_axis_name`."""

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.operations.shard_map.api import old_shard_map, shard_map, smap
from jax_xla_backend.placement.mesh import AxisType, Mesh, get_abstract_mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices
from parts_on_devices import grid, joined, near, rows, several


@several
def test_other_axes_are_left_to_the_compiler():
    x = rows(8, 4)
    seen = []

    def body(a):
        seen.append((get_abstract_mesh().axis_types, a.shape))
        return a * 2 + lax.axis_index("i") + lax.psum(a, "i")
    mapped = jit(shard_map(body, mesh=grid(), in_specs=P("i"), out_specs=P("i"), axis_names={"i"}))
    oracle = joined(2 * x.reshape(4, 2, 4) + np.arange(4)[:, None, None] + x.reshape(4, 2, 4).sum(0))
    near(mapped(x), oracle)
    assert seen[0] == ((AxisType.Manual, AxisType.Auto), (2, 4))
    placed = device_put(x, NamedSharding(grid(), P("i", "j")))
    out = mapped(placed)
    near(out, oracle)
    near(old_shard_map(body, grid(), P("i"), P("i"), check_rep=False, auto=frozenset({"j"}))(x), oracle)
    constrained = shard_map(lambda a: lax.with_sharding_constraint(a, NamedSharding(grid(), P(None, "j"))) * 2, mesh=grid(),
                            in_specs=P("i"), out_specs=P("i"), axis_names={"i"})
    near(jit(constrained)(x), 2 * x)


@several
def test_one_inside_another():
    x = rows(8, 4)
    inner = shard_map(lambda b: b + lax.axis_index("j") + lax.psum(b, "j"), in_specs=P(None, "j"), out_specs=P(None, "j"),
                      axis_names={"j"})
    mapped = shard_map(lambda a: inner(a) + lax.psum(a, "i"), mesh=grid(), in_specs=P("i"), out_specs=P("i"), axis_names={"i"})
    halves = x.reshape(8, 2, 2)
    wanted = (halves + np.arange(2)[:, None] + halves.sum(1, keepdims=True)).reshape(8, 4) + np.tile(
        x.reshape(4, 2, 4).sum(0), (4, 1))
    near(jit(mapped)(x), wanted)
    loss = lambda f: lambda x: jnp.sum(jnp.sin(f(x)))
    plain = lambda x: (x.reshape(8, 2, 2) + jnp.arange(2)[:, None] + x.reshape(8, 2, 2).sum(1, keepdims=True)).reshape(
        8, 4) + jnp.tile(x.reshape(4, 2, 4).sum(0), (4, 1))
    near(jit(grad(loss(mapped)))(x), grad(loss(plain))(x))


def cube():
    return Mesh(np.array(devices()[:8]).reshape(2, 2, 2), ("a", "b", "c"))


@several
def test_two_axes_and_then_the_third():
    inner = shard_map(lambda v: jnp.sin(v) * lax.psum(v, "c"), in_specs=P("c"), out_specs=P("c"), axis_names={"c"})
    spec = P(("a", "b"))
    mapped = shard_map(lambda v: inner(v) * lax.psum(v, "a"), mesh=cube(), in_specs=spec, out_specs=spec, axis_names={"a", "b"})

    def plain(x):
        parts = x.reshape(2, 2, 2)
        return (jnp.sin(parts) * parts.sum(2, keepdims=True) * parts.sum(0, keepdims=True)).reshape(-1)
    x = rows(8)
    near(jit(mapped)(x), plain(x))
    near(jit(grad(lambda x: (mapped(x) ** 2).sum()))(x), grad(lambda x: (plain(x) ** 2).sum())(x))


@several
@pytest.mark.parametrize("axes", [("a", "c"), ("c", "a")])
def test_collectives_over_two_axes_of_three(axes):
    """The position along several axes counts the last name fastest."""
    every, x = P(("a", "b", "c")), rows(8)
    index = np.indices((2, 2, 2))
    place = 2 * index["abc".index(axes[0])] + index["abc".index(axes[1])]  # of each device among those it talks to
    cells = x.reshape(2, 2, 2)
    group = np.stack([cells.transpose(*["abc".index(n) for n in ("b", *axes)]).reshape(2, 4)[j] for j in range(2)])

    def run(body, out=every):
        return np.asarray(jit(shard_map(body, mesh=cube(), in_specs=every, out_specs=out))(x))
    near(run(lambda v: v * 0 + lax.axis_index(axes)).reshape(2, 2, 2), place)
    near(run(lambda v: lax.psum(v, axes), P("b")), group.sum(1))
    gathered = run(lambda v: lax.all_gather(v, axes), P(None, ("a", "b", "c"))).reshape(4, 2, 2, 2)
    near(gathered, np.broadcast_to(group.T[:, None, :, None], (4, 2, 2, 2)))
    with pytest.raises(RuntimeError, match="must be in the order of the mesh, .'a', 'c'"):
        run(lambda v: lax.ppermute(v, ("c", "a"), [(0, 1)]))
    if axes == ("a", "c"):
        moved = run(lambda v: lax.ppermute(v, axes, [(k, (k + 1) % 4) for k in range(4)])).reshape(2, 2, 2)
        near(moved, np.array([group[b, (place[a, b, c] - 1) % 4] for a, b, c in np.ndindex(2, 2, 2)]).reshape(2, 2, 2))
    scale = jnp.arange(1, 5, dtype=jnp.float32)
    near(run(lambda v: lax.psum_scatter(v * scale, axes, tiled=True)).reshape(2, 2, 2),
         (place + 1) * group.sum(1)[None, :, None])
    dealt = run(lambda v: lax.all_to_all(v * scale, axes, 0, 0, tiled=True), every).reshape(2, 2, 2, 4)
    near(dealt, (place + 1)[..., None] * group[None, :, None, :])


@several
def test_smap():
    x = rows(8, 4)
    with set_mesh(grid()):
        near(smap(lambda a: lax.psum(a, "i"), in_axes=0, out_axes=None, axis_name="i")(x), x.reshape(4, 2, 4).sum(0))
        near(smap(lambda a, b: a * b, in_axes=(1, None), out_axes=1, axis_name="j")(x, 3.0), 3 * x)
        nested = smap(smap(lambda a: a + lax.axis_index("i") * 10 + lax.axis_index("j"), in_axes=1, out_axes=1, axis_name="j"),
                      in_axes=0, out_axes=0, axis_name="i")
        near(jit(nested)(x), x + np.repeat(np.arange(4), 2)[:, None] * 10 + np.repeat(np.arange(2), 2))
        for bad, kind in ((dict(in_axes="a", out_axes=0), TypeError), (dict(in_axes=-1, out_axes=0), ValueError),
                          (dict(in_axes=[0], out_axes=0), TypeError)):
            with pytest.raises(kind, match="smap"):
                smap(lambda a: a, axis_name="i", **bad)(x)


SPREAD = [("sin", jnp.sin), ("linear", lambda x: x * 3), ("a sum", lambda x: lax.psum(x * 2, "i")),
          ("a sum over copies", lambda x: x + lax.psum(x, "j"))]


@several
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("_, body", SPREAD, ids=[b[0] for b in SPREAD])
def test_gradients_of_what_is_spread_are_its_own(_, body, checked):
    """Without types the sums over copies, which a gradient has, added up the mapped values of other devices."""
    mapped = shard_map(body, mesh=grid(), in_specs=P("i"), out_specs=P("i"), check_vma=checked)
    x = rows(4, 8)
    loss = lambda r: (mapped(r) ** 2).sum()
    want = np.stack([grad(loss)(r) for r in x])
    for f in (vmap(grad(loss), spmd_axis_name="j"), jit(vmap(grad(loss), spmd_axis_name="j"))):
        np.testing.assert_allclose(f(x), want, rtol=1e-5)
    with pytest.raises(ValueError, match="depends on the position"):
        vmap(shard_map(lambda x: x + lax.axis_index("j"), mesh=grid(), in_specs=P("i"), out_specs=P("i"), check_vma=False),
             spmd_axis_name="j")(x)


@several
def test_spmd_axis_name_spreads_the_mapped_axis():
    x = rows(2, 8, 3)
    body = shard_map(lambda a: a * lax.psum(a, "i"), mesh=grid(), in_specs=P("i"), out_specs=P("i"))
    spread = vmap(body, spmd_axis_name="j")
    plain = vmap(lambda v: joined(vmap(lambda a: a * lax.psum(a, "i"), axis_name="i")(v.reshape(4, 2, 3))))
    near(jit(spread)(x), plain(x))
    near(grad(lambda x: jnp.sum(jnp.sin(spread(x))))(x), grad(lambda x: jnp.sum(jnp.sin(plain(x))))(x))
    assert "P('j', 'i')" in str(make_jaxpr(spread)(x))
    with pytest.raises(ValueError, match="spmd_axis_name cannot appear in the specs of the shard_map, and the mesh axis 'i'"):
        vmap(body, spmd_axis_name="i")(rows(4, 8, 3))
