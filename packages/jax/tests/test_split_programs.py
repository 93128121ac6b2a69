"""Programs on split arrays as users write them: where results lie, what types say of it, and what is refused."""
import contextlib
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.errors import ShardingTypeError
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P, SingleDeviceSharding
from jax_xla_backend.placement.sharding import IndivisibleError

pytestmark = pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices")


def grid(kind=AxisType.Explicit):
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind,) * 2, devices=jax.devices()[:4])


def put(shape, *spec, kind=AxisType.Explicit):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return jax.device_put(x, NamedSharding(grid(kind), P(*spec)))


# name, program, spec of its argument of shape (8, 4), type of the result
PLACED = [
    ("columns of a Jacobian", lambda x: jax.jacfwd(lambda x: x.sum(0))(x), P("x", "y"), "float32[4@y,8,4]"),
    ("rows of a Jacobian", lambda x: jax.jacrev(lambda x: x.sum(0))(x), P("x", "y"), "float32[4,8@x,4@y]"),
    ("rows of a Jacobian that a program computes", lambda x: jax.jit(jax.jacrev(lambda x: x.sum(0)))(x), P("x", "y"), "float32[4,8@x,4@y]"),
    ("Hessian", lambda x: jax.hessian(lambda r: (r ** 3).sum())(x[:, 0]), P("x"), "float32[8@x,8]"),
    ("repeated as often", lambda x: jnp.repeat(x, 2, 0), P("x", "y"), "float32[16@x,4@y]"),
    ("repeated, flat", lambda x: jnp.repeat(x, 3), P("x"), "float32[96@x]"),
    ("matrix of a diagonal", lambda x: jnp.diag(x[:, 0]), P("x"), "float32[8@x,8]"),
    ("matrix of an upper diagonal", lambda x: jnp.diag(x[0], 2), P(), "float32[6,6]"),
    ("inverses", lambda x: jnp.linalg.inv(x.reshape(8, 2, 2)), P("x"), "float32[8@x,2,2]"),
    ("adjugates", lambda x: jax.grad(lambda x: jnp.linalg.det(x.reshape(8, 2, 2)[:, :2, :2] + jnp.eye(2)).sum())(x), P("x"), "float32[8@x,4]"),
    ("bins", lambda x: jnp.digitize(x, jnp.array([3.0, 9.0, 20.0])), P("x", "y"), "int32[8@x,4@y]"),
    ("carry of no mesh", lambda x: lax.scan(lambda c, r: (c + r, None), jnp.zeros(4), x)[0], P(None, "x"), "float32[4@x]"),
    ("weak carry of no mesh", lambda x: lax.fori_loop(0, 3, lambda i, c: c + x.sum(1), jnp.full(8, 0.0)), P("x"), "float32[8@x]"),
    ("carry of no mesh in a program", lambda x: jax.jit(lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: c + x[:, 1], jnp.zeros(8)))(x), P("x"),
     "float32[8@x]"),
    ("branch of no mesh", lambda x: lax.cond(x.sum() > 0, lambda: x, lambda: jnp.zeros((8, 4))), P("x"), "float32[8@x,4]"),
    ("first branch of no mesh", lambda x: lax.cond(x.sum() > 0, lambda: jnp.zeros((8, 4)), lambda: x), P("x"), "float32[8@x,4]"),
    ("branches of switch", lambda x: lax.switch(1, [lambda: jnp.ones((8, 4)), lambda: x, lambda: 2 * x]), P("x"), "float32[8@x,4]"),
]


@pytest.mark.parametrize("_, f, spec, wanted", PLACED, ids=[row[0] for row in PLACED])
def test_results_are_split_as_their_operands(_, f, spec, wanted):
    x = put((8, 4), *spec)
    got = f(x)
    assert str(jax.typeof(got)) == wanted
    named = got.sharding.spec if isinstance(got.sharding, NamedSharding) else P()
    assert tuple(named) + (None,) * (got.ndim - len(named)) == tuple(jax.typeof(got).sharding.spec)  # it lies as its type says
    np.testing.assert_allclose(got, f(jnp.asarray(np.asarray(x))), rtol=1e-6)


def count_of_collectives(f, *args):
    text = jax.jit(f).lower(*args).compile().as_text()
    return {name: n for name in ("all-gather", "all-reduce", "all-to-all") if (n := len(re.findall(rf" {name}(?:-start)?\(", text)))}


@pytest.mark.parametrize("f", [lambda x: jnp.sort(x, 0), lambda x: lax.sort((x, x), dimension=0), lambda x: jnp.lexsort((x, x), 0)], ids=["one", "two", "order"])
def test_sorting_along_a_split_axis_gathers_nothing(f):
    x = -put((8, 4), "x", kind=AxisType.Auto)
    assert set(count_of_collectives(f, x)) <= {"all-to-all"}
    for a, b in zip(jax.tree.leaves(jax.jit(f)(x)), jax.tree.leaves(f(jnp.asarray(np.asarray(x))))):
        np.testing.assert_array_equal(a, b)


# name, function of x (8, 4) split over both axes; its derivative sums what was stretched where it lies
STRETCHED = [
    ("difference from row means", lambda x: ((x - x.mean(1, keepdims=True)) ** 3).sum()),
    ("softmax", lambda x: (jax.nn.softmax(x) ** 2).sum()),
    ("log_softmax", lambda x: (jax.nn.log_softmax(x) * x).sum()),
    ("maximum", lambda x: (jnp.maximum(x, x.mean(0)) * x).sum()),
    ("where", lambda x: jnp.where(x > 1, x, x.mean(1, keepdims=True) ** 2).sum()),
    ("where of a scalar", lambda x: (jnp.where(x > 1, x, x.mean()) ** 3).sum()),
    ("broadcast_arrays", lambda x: (jnp.broadcast_arrays(x, x.mean(1, keepdims=True) ** 2)[1] * x).sum()),
    ("variance", lambda x: x.var(0).sum() + x.std(1).sum()),
    ("average", lambda x: (jnp.average(x, 0, jnp.abs(x)) ** 2).sum()),
    ("a mapped scalar", lambda x: (jax.vmap(lambda r: r - r.mean())(x) ** 3).sum()),
    ("a value for all that are mapped", lambda x: jax.vmap(lambda r, m: (r * m).sum(), (0, None))(x, x.mean(0)).sum()),
    ("lax.mul", lambda x: lax.mul(x, x.sum(0, keepdims=True)).sum()),
]


@pytest.mark.parametrize("_, f", STRETCHED, ids=[row[0] for row in STRETCHED])
def test_cotangents_of_what_is_stretched_are_not_gathered(_, f):
    x = put((8, 4), "x", "y") / 10
    with jax.set_mesh(grid()):
        assert "all-gather" not in count_of_collectives(jax.grad(f), x)
        got = jax.jit(jax.grad(f))(x)
    assert str(jax.typeof(got)) == "float32[8@x,4@y]"
    np.testing.assert_allclose(got, jax.grad(f)(jnp.asarray(np.asarray(x))), rtol=1e-5, atol=1e-6)


def test_operands_that_disagree_are_stretched_as_they_are():
    """So that the operation can say what does not fit."""
    with jax.set_mesh(grid()), pytest.raises(ShardingTypeError, match="add got incompatible shardings"):
        put((8, 4), "x") + put((8, 1), "y")
    with jax.set_mesh(grid()), pytest.raises(ShardingTypeError, match="split over a mesh axis twice"):
        put((8, 1), "x") * put((1, 8), None, "x")


READ = [
    ("a column", lambda x: x.at[:, 0], P("x"), np.s_[:, 0]), ("a row", lambda x: x.at[-1], P("y"), np.s_[-1]), ("an element", lambda x: x.at[1, 2], P(), np.s_[1, 2]),
    ("rows", lambda x: x.at[1:3], P(None, "y"), np.s_[1:3]), ("every other column", lambda x: x.at[:, ::2], P("x"), np.s_[:, ::2]),
    ("a new axis", lambda x: x.at[0, None], P(None, "y"), np.s_[0, None]), ("backwards", lambda x: x.at[::-2], P("x"), np.s_[::-2]),
    ("a place that is traced", lambda x: x.at[jnp.int32(3)], P("y"), np.s_[3]), ("all", lambda x: x.at[...], P("y", "x"), np.s_[...]),
]


@pytest.mark.parametrize("_, read, spec, index", READ, ids=[row[0] for row in READ])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_parts_of_what_is_split_are_read_where_asked(_, read, spec, index, compiled):
    """The error for such a slice names this way out, which raised it again."""
    x = put((8, 4), "x", "y")
    with jax.set_mesh(grid()):
        f = lambda x: read(x).get(out_sharding=spec)
        got = (jax.jit(f) if compiled else f)(x)
        np.testing.assert_array_equal(got, np.asarray(x)[index])
        assert got.sharding.is_equivalent_to(NamedSharding(grid(), spec), got.ndim)
        gradient = jax.grad(lambda x: (f(x) ** 2).sum() / 2)(x)
    wanted = np.zeros((8, 4), np.float32)
    wanted[index] = np.asarray(x)[index]
    np.testing.assert_array_equal(gradient, wanted)


def test_a_carry_on_a_mesh_in_use_stays_as_it_is():
    """There its type says that it is whole."""
    x = put((8, 4), None, "x")
    with jax.set_mesh(grid()), pytest.raises(TypeError, match="shardings do not match"):
        lax.scan(lambda c, r: (c + r, None), jnp.zeros(4), x)
    with jax.set_mesh(grid()), pytest.raises(TypeError, match="split one of them as the other"):
        lax.cond(True, lambda: x, lambda: jnp.zeros((8, 4)))


DERIVED = [
    ("jvp", lambda f, x: jax.jvp(f, (x,), (x,))[1]),
    ("grad", lambda f, x: jax.grad(lambda x: f(x).sum())(x)),
    ("grad in a program", lambda f, x: jax.jit(jax.grad(lambda x: f(x).sum()))(x)),
    ("value of vjp", lambda f, x: jax.vjp(f, x)[0]),
    ("vjp", lambda f, x: jax.vjp(f, x)[1](x)[0]),
    ("linearize", lambda f, x: jax.linearize(f, x)[1](x)),
    ("checkpoint", lambda f, x: jax.grad(lambda x: jax.checkpoint(f)(x).sum())(x)),
    ("second derivative", lambda f, x: jax.grad(lambda x: jax.jvp(f, (x,), (x,))[1].sum())(x)),
]


@pytest.mark.parametrize("_, derivative", DERIVED, ids=[row[0] for row in DERIVED])
@pytest.mark.parametrize("asked", ["in_shardings", "out_shardings"])
def test_derivatives_lie_as_what_they_are_of(_, derivative, asked):
    """What `jit` was told of a value holds for its tangent and cotangent: all of it was computed on one device."""
    where, x = on("x"), np.arange(8, dtype=np.float32)
    got = derivative(jax.jit(lambda x: x ** 3, **{asked: where}), x)
    assert got.sharding.is_equivalent_to(where, 1)
    np.testing.assert_allclose(got, derivative(lambda x: x ** 3, x), rtol=1e-6)


def test_only_some_arguments_are_placed():
    f = jax.jit(lambda x, n, y: (x * y * n, n), in_shardings=(on("x"), None, None), out_shardings=(on("y"), None))
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    (dx, dy), n = jax.grad(lambda x, y: (lambda out: (out[0].sum(), out[1]))(f(x, 2, y)), (0, 1), has_aux=True)(x, y)
    np.testing.assert_array_equal(dx, 2 * y)
    np.testing.assert_array_equal(dy, 2 * x)
    assert n == 2 and dx.sharding.is_equivalent_to(on("x"), 1)


def test_abstract_meshes_need_no_devices_while_types_are_computed():
    there = jax.sharding.AbstractMesh((16, 3), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.sharding.use_abstract_mesh(there):
        found = jax.eval_shape(lambda x: jax.sharding.reshard(x, P("x")) * 2, jax.ShapeDtypeStruct((32,), jnp.float32))
        of_new = jax.eval_shape(lambda: {"w": jnp.zeros((4, 2))})["w"], jax.jit(lambda x: x + 1).trace(np.ones((4, 2))).out_info
    assert found.sharding == NamedSharding(there, P("x"))
    assert [x.sharding for x in of_new] == [NamedSharding(there, P(None, None))] * 2  # what says no split is whole


def on(*spec, kind=AxisType.Auto):
    return NamedSharding(grid(kind), P(*spec))


REFUSED = [
    ("devices of two arguments", lambda: jax.jit(jnp.add, in_shardings=(SingleDeviceSharding(jax.devices()[1]), on()))(np.ones(4), np.ones(4)), ValueError,
     "Received incompatible devices.*name different devices"),
    ("devices of argument and result", lambda: jax.jit(jnp.sin, in_shardings=SingleDeviceSharding(jax.devices()[1]), out_shardings=on())(np.ones(4)), ValueError,
     "Received incompatible devices.*name different devices"),
    ("length", lambda: jax.device_put(np.ones(7), on("x")), IndivisibleError, r"device_put of an array of shape \(7,\).*partitioned 2 times"),
    ("constraint's length", lambda: lax.with_sharding_constraint(jnp.ones(7), on("x")), IndivisibleError, "partitioned 2 times"),
    ("dict of arguments", lambda: jax.jit(lambda d: d, in_shardings={"a": on("x")})({"a": np.ones(4)}), ValueError, "in_shardings is a dict"),
    ("sum made and not made", lambda: P("x", reduced={"y"}, unreduced={"y"}), ValueError, "both in unreduced and in reduced"),
    ("unreduced over Auto", lambda: NamedSharding(grid(AxisType.Auto), P(unreduced={"x"})), ValueError,
     "unreduced=.*Explicit mesh axes only"),
    ("reduced over Auto", lambda: NamedSharding(grid(AxisType.Auto), P(reduced={"x"})), ValueError, "reduced=.*Explicit mesh axes only"),
    ("dtype of parts", lambda: jax.make_array_from_callback((4,), on("x"), lambda i: np.ones(2) * 1j, np.float32), ValueError, "dtypes float32 and complex64"),
    ("no part", lambda: jax.make_array_from_callback((4,), on("x"), lambda i: None), TypeError, "returned None"),
    ("text", lambda: jax.make_array_from_callback((4,), on("x"), lambda i: np.array(["a", "b"])), TypeError, "dtype <U1, which JAX arrays cannot have"),
    ("out_sharding of array", lambda: jnp.array(np.ones(4), out_sharding="x"), TypeError, "out_sharding='x' is of type str"),
    ("out_sharding of broadcast_in_dim", lambda: lax.broadcast_in_dim(np.ones(4), (4, 4), (1,), out_sharding=jax.devices()[0]), TypeError,
     "out_sharding=.* is of type Device|CpuDevice"),
    ("axes of random bits", lambda: lax.rng_bit_generator(np.ones(4, np.uint32), (4,), out_sharding=on(None, "x", kind=AxisType.Explicit)), ValueError,
     "rng_bit_generator: .* has 2 entries"),
    ("repeats that differ", lambda: jnp.repeat(put((8,), "x"), np.full(8, 2)), ValueError, "say by out_sharding"),
]


@pytest.mark.parametrize("_, f, error, message", REFUSED, ids=[row[0] for row in REFUSED])
def test_what_does_not_fit_is_refused(_, f, error, message):
    with pytest.raises(error, match=message):
        f()


def test_parts_of_a_callback_may_be_of_a_wider_dtype():
    for dtype in (None, np.float32, np.float64):
        x = jax.make_array_from_callback((4,), on("x"), lambda i: np.arange(4.0)[i], dtype)
        assert not jax.make_array_from_callback((), on(), lambda i: 3.0, dtype).weak_type
        assert x.dtype == np.float32
        np.testing.assert_array_equal(x, np.arange(4))


def test_rows_of_a_split_array_go_where_they_are_needed():
    """They are on one device, but nobody asked for it."""
    x = put((4, 4), "x", kind=AxisType.Auto)
    assert not any(row.committed for row in x)
    for row in x:
        assert (row + x).sharding.num_devices == 4


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_types_of_arrays_name_the_mesh_where_they_lie(kind):
    there = grid(kind).abstract_mesh
    x, single = put((8, 4), "x", kind=kind), jnp.ones(3)
    committed = jax.device_put(jnp.ones(3), jax.devices()[0])
    for here in (contextlib.nullcontext(), jax.set_mesh(jax.make_mesh((4,), ("z",), devices=jax.devices()[:4]))):
        with here:
            assert jax.typeof(x).sharding.mesh == there
            assert jax.typeof(x) == x.aval and hash(jax.typeof(x)) == hash(x.aval)
            assert jax.typeof(single).sharding.mesh.empty and jax.typeof(committed).sharding.mesh.empty
    with jax.set_mesh(grid(kind)):
        assert jax.typeof(jnp.ones(3)).sharding == NamedSharding(there, P(None))
        assert jax.ShapeDtypeStruct((8,), jnp.float32, sharding=P("x")).sharding == NamedSharding(grid(kind), P("x"))


def test_types_inside_a_program_name_the_mesh_where_its_arguments_lie():
    seen = []

    @jax.jit
    def f(x):
        seen.append(jax.typeof(jnp.sin(x)).sharding.mesh)
        inner = jax.jit(lambda y: seen.append(jax.typeof(y).sharding.mesh))
        inner(x)
        placed = lax.with_sharding_constraint(x, SingleDeviceSharding(jax.devices()[0]))
        seen.append(jax.typeof(placed).sharding.mesh)
        return x * 2

    there, other = grid(AxisType.Auto), jax.make_mesh((4,), ("z",), axis_types=(AxisType.Auto,), devices=jax.devices()[:4])
    for spec in (P("x"), P(), P("y")):  # one mesh, one program
        f(jax.device_put(np.ones((8, 4)), NamedSharding(there, spec)))
    f(np.ones((8, 4)))
    f(jax.device_put(np.ones((8, 4)), NamedSharding(other, P("z"))))
    with jax.set_mesh(other):
        f(np.ones((8, 4)))
    empty, there, other = AbstractMesh((), ()), there.abstract_mesh, other.abstract_mesh
    assert seen == [there, there, empty, empty, empty, empty, other, other, empty, other, other, empty]

    @jax.jit
    def g(x):
        return lax.with_sharding_constraint(x, NamedSharding(grid(AxisType.Auto), P("x"))).aval.sharding.mesh == there
    assert g(np.ones(8))


def test_a_program_traced_anew_for_another_mesh_is_explained(caplog):
    @jax.jit
    def f(x):
        return x + 1

    f(np.ones(4))
    with jax.explain_cache_misses(True):
        f(jax.device_put(np.ones(4), NamedSharding(grid(AxisType.Auto), P("x"))))
    text, = [r.getMessage() for r in caplog.records if "traces f" in r.getMessage()]
    assert "the mesh that the arguments lie on: now 'x': 2 (Auto), 'y': 2 (Auto), before none" in text


def test_shards_and_their_places_are_known_once():
    x = put((8, 4), "x", kind=AxisType.Auto)
    assert all(a is b for a, b in zip(x.addressable_shards, x.addressable_shards))
    x.addressable_shards.clear()
    assert [s.index[0] for s in x.addressable_shards] == [slice(0, 4), slice(0, 4), slice(4, 8), slice(4, 8)]
    assert [s.replica_id for s in x.global_shards] == [0, 1, 0, 1]
    places = x.sharding.devices_indices_map((8, 4))
    places.clear()
    assert len(x.sharding.devices_indices_map((8, 4))) == 4
    with pytest.raises(IndivisibleError):
        x.sharding.devices_indices_map((7, 4))


def test_arrays_of_keys_are_made_of_parts():
    keys, there = jax.random.split(jax.random.key(0), 4), on("x")
    made = jax.make_array_from_callback((4,), there, lambda index: keys[index])
    assert made.sharding == there and made.dtype == keys.dtype
    np.testing.assert_array_equal(jax.random.key_data(made), jax.random.key_data(keys))
    again = jax.make_array_from_single_device_arrays((4,), there, [shard.data for shard in made.addressable_shards])
    np.testing.assert_array_equal(jax.random.key_data(again), jax.random.key_data(keys))
    with pytest.raises(ValueError, match="only valid for values of rank at least 2"):
        jax.device_put(keys, on("x", None))


@pytest.mark.parametrize("committed", [False, True])
def test_cotangents_of_moved_arrays_go_back(committed):
    x = jax.device_put(jnp.arange(4.0), jax.devices()[0] if committed else None)
    found = jax.grad(lambda x: jnp.sum(jnp.sin(jax.device_put(x, on("x")))))(x)
    assert found.sharding == x.sharding
