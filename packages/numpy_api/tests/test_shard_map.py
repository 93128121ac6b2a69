"""shard_map against the same function under vmap, whose named axis is the mesh axis: values, derivatives, nests, errors.

Under vmap a collective is an ordinary operation on the mapped axis, so vmap says what the program on many devices must
compute, and its derivatives are those of an ordinary program. The mesh has 1, 4 or 8 places, as far as there are devices.
"""

import numpy as np
import pytest

import jax_numpy_api.numpy as jnp
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.references.api import new_ref
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.transformations.autodiff import grad, jvp, vjp
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_numpy_api.ode import odeint
from jax_numpy_api.scipy.optimize import minimize
from jax_xla_backend.arrays.device_put import device_put
from jax_xla_backend.jaxlib_compat import GROUPS_BY_AXES
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_xla_backend.placement.mesh import AxisType, Mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices
from parts_on_devices import SIZES, grid, joined, line, near, rows, several

# -- laws: a body on parts of shape (8, 3) under shard_map and under vmap --------------------------------------------

def ring(x):
    n = lax.axis_size("i")
    return lax.ppermute(x, "i", [(k, (k + 1) % n) for k in range(n)])


def halves(x):
    n = lax.axis_size("i")
    return lax.ppermute(x, "i", [(k, k + 1) for k in range(n - 1)])


def place(x):
    return jnp.asarray(lax.axis_index("i"), x.dtype)


def in_scan(x):
    def step(carry, row):
        return carry + lax.psum(row, "i") * jnp.sin(carry), lax.pmean(row * carry, "i")
    carry, ys = lax.scan(step, jnp.zeros(3), x)
    return ys + carry


def in_cond(x):
    return lax.cond(x[0, 0] > 0, lambda v: jnp.sin(v), lambda v: v * v * 0.5, x) * lax.psum(x, "i")


def cond_on_place(x):
    total = lax.psum(x, "i")
    return lax.cond(lax.axis_index("i") == 0, lambda: total, lambda: total * total)


def in_fori(x):
    return lax.fori_loop(0, 3, lambda k, c: jnp.sin(ring(c)) + x, jnp.ones((8, 3)) + 0 * x)


@custom_vjp
def scaled(x, w):
    return x * w


scaled.defvjp(lambda x, w: (x * w, (x, w)), lambda res, ct: (ct * res[1], jnp.sum(ct * res[0])))

BODIES = {
    "identity": lambda x: x,
    "local": lambda x: jnp.sin(x) * x.sum(0),
    "psum": lambda x: lax.psum(jnp.sin(x), "i"),
    "psum of product": lambda x: x * lax.psum(x * x, "i"),
    "pmean": lambda x: lax.pmean(x, "i") - x,
    "pmax": lambda x: lax.pmax(x, "i") * x,
    "pmin": lambda x: lax.pmin(jnp.sin(x), "i"),
    "all_gather": lambda x: (lax.all_gather(x, "i") * jnp.arange(lax.axis_size("i"), dtype=x.dtype)[:, None, None] / 20).sum(0),
    "all_gather tiled": lambda x: lax.all_gather(x, "i", axis=1, tiled=True)[:, -3:] * x,
    "psum_scatter": lambda x: lax.psum_scatter(jnp.outer(jnp.arange(lax.axis_size("i"), dtype=x.dtype), x[0]), "i")[None] * x,
    "psum_scatter tiled": lambda x: lax.psum_scatter(x, "i", scatter_dimension=0, tiled=True),
    "ppermute": lambda x: ring(x) * x,
    "ppermute partial": lambda x: halves(x * x) + x,
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True).reshape(8, 3) * x,
    "axis_index": lambda x: x * place(x) + place(x),
    "groups": lambda x: lax.psum(x, "i", axis_index_groups=[[k] for k in range(lax.axis_size("i"))]) * x,
    "pbroadcast": lambda x: lax.pbroadcast(x, "i", lax.axis_size("i") - 1) * x,
    "invariant twice": lambda x: lax.psum(lax.psum(x, "i") * x, "i"),
    "constant": lambda x: lax.psum(jnp.ones((8, 3)), "i") * x,
    "softmax": lambda x: jnp.exp(x - lax.pmax(lax.stop_gradient(x), "i")) / lax.psum(jnp.exp(x), "i"),
    "scan": in_scan,
    "cond": in_cond,
    "cond on place": cond_on_place,
    "fori": in_fori,
    "checkpoint": checkpoint(lambda x: jnp.sin(lax.psum(jnp.sin(x), "i")) * x),
    "jit": jit(lambda x: jit(lambda y: lax.psum(y, "i"))(jnp.sin(x)) * x),
    "custom_vjp": lambda x: scaled(x, lax.pcast(lax.psum(x.sum(), "i"), "i", to="varying")),
    "inner grad": lambda x: grad(lambda y: jnp.sum(jnp.sin(y) * y))(x) * lax.psum(x, "i"),
    "vmap inside": lambda x: vmap(lambda row: row * lax.psum(row, "i"))(x),
    "matmul": lambda x: lax.psum(x.T @ x, "i")[:1] * x,
    "linalg": lambda x: jnp.linalg.solve(jnp.eye(3) + lax.psum(x.T @ x, "i"), x.T).T,
}
bodies = pytest.mark.parametrize("name", BODIES)
sizes = pytest.mark.parametrize("n", SIZES)


def both(name, n, checked=True):
    """The body under shard_map and under vmap, as functions of all parts together."""
    body = BODIES[name]
    mapped = shard_map(body, mesh=line(n), in_specs=P("i"), out_specs=P("i"), check_vma=checked)
    oracle = vmap(body, axis_name="i", axis_size=n)
    return mapped, lambda x: joined(oracle(x.reshape(n, -1, *x.shape[1:])))


def wave(y):
    """Bounded, with a slope that turns the rounding of large values into no more than their relative error."""
    return jnp.sin(0.05 * y)



@sizes
@bodies
def test_value(name, n):
    mapped, oracle = both(name, n)
    x = joined(rows(n, 8, 3))
    near(jit(mapped)(x), oracle(x))


@sizes
@pytest.mark.parametrize("extremum", [lax.pmax, lax.pmin])
def test_extrema_of_complex_numbers(extremum, n):
    """Of the real parts, then of the imaginary ones; with a collective behind it, in which no device must wait in vain."""
    z = jnp.round(joined(rows(n, 8, 3))) + 1j * joined(rows(n, 8, 3, seed=1))
    for groups in None, [list(range(n))]:
        body = lambda z: lax.psum(extremum(z, "i", axis_index_groups=groups) + z, "i")
        mapped = shard_map(body, mesh=line(n), in_specs=P("i"), out_specs=P("i"), check_vma=False)
        near(jit(mapped)(z), joined(vmap(body, axis_name="i", axis_size=n)(z.reshape(n, -1, 3))))


MOVES = {"psum": lambda x: lax.psum(x, "i"), "pmin": lambda x: lax.pmin(x, "i"), "all_gather": lambda x: lax.all_gather(x, "i", axis=1, tiled=True), "ring": ring,
         "psum_scatter": lambda x: lax.psum_scatter(jnp.concatenate([x] * lax.axis_size("i")), "i", tiled=True),
         "all_to_all": lambda x: lax.all_to_all(jnp.stack([x] * lax.axis_size("i")), "i", 0, 0)}


@sizes
@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4"])
def test_integers_that_share_bytes(dtype, name, n):
    """Of an odd number on each device."""
    x = jnp.asarray(np.arange(9 * n).reshape(3 * n, 3) * 5 % 3).astype(dtype)
    mapped = shard_map(MOVES[name], mesh=line(n), in_specs=P("i"), out_specs=P("i"), check_vma=False)
    want = vmap(MOVES[name], axis_name="i", axis_size=n)(x.reshape(n, 3, 3))
    found = jit(mapped)(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found).astype(int), np.asarray(want).astype(int).reshape(found.shape))


@bodies
def test_reverse_mode(name):
    n = SIZES[-1]
    x, w = joined(rows(n, 8, 3)), joined(rows(n, 8, 3, seed=1))
    found = []
    for checked in (True, False):
        mapped, oracle = both(name, n, checked)
        w = w[:oracle(x).shape[0]]
        loss = lambda f: lambda x: jnp.sum(wave(f(x)) * w)
        found.append(jit(grad(loss(mapped)))(x))
    near(found[0], jit(grad(loss(oracle)))(x))
    near(found[1], found[0])


@pytest.mark.parametrize("name", [name for name in BODIES if name != "custom_vjp"])
def test_forward_mode(name):
    n = SIZES[-1]
    mapped, oracle = both(name, n)
    x, t = joined(rows(n, 8, 3)), joined(rows(n, 8, 3, seed=2))
    for a, b in zip(jit(lambda x, t: jvp(mapped, (x,), (t,)))(x, t), jvp(oracle, (x,), (t,))):
        near(a, b)


@pytest.mark.parametrize("name", ["psum of product", "all_gather", "ppermute", "scan", "cond", "all_to_all", "axis_index"])
def test_vmap_of_shard_map(name):
    n = SIZES[-1]
    mapped, oracle = both(name, n)
    x = np.stack([joined(rows(n, 8, 3, seed=k)) for k in range(3)], 1)
    near(jit(vmap(mapped, 1, 1))(x), vmap(oracle, 1, 1)(x))
    near(jit(grad(lambda x: jnp.sum(wave(vmap(mapped, 1)(x)))))(x), grad(lambda x: jnp.sum(wave(vmap(oracle, 1)(x))))(x))


@pytest.mark.parametrize("name", ["psum of product", "all_gather", "scan", "fori"])
def test_second_derivative(name):
    n = SIZES[-1]
    mapped, oracle = both(name, n)
    x = joined(rows(n, 8, 3))
    twice = lambda f: grad(lambda x: jnp.sum(jnp.cos(grad(lambda x: jnp.sum(wave(f(x))))(x))))
    near(jit(twice(mapped))(x), twice(oracle)(x))


STEPS = {
    "psum": lambda x: lax.psum(x, "i") * 0.3, "pmax": lambda x: lax.pmax(x, "i"), "ring": ring, "halves": halves,
    "sin": jnp.sin, "place": lambda x: x + place(x), "mean": lambda x: x - lax.pmean(x, "i"),
    "gather": lambda x: lax.all_gather(x, "i")[0] * 0.5, "deal": lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
    "square": lambda x: x * x * 0.3, "scatter": lambda x: jnp.tile(lax.psum_scatter(x, "i", tiled=True), (lax.axis_size("i"), 1)),
}


@pytest.mark.parametrize("seed", range(8))
def test_random_compositions(seed):
    """Chains of collectives, each step also seeing the start, agree with vmap in value and gradient."""
    n, choose = SIZES[-1], np.random.default_rng(seed)
    names = choose.choice(sorted(STEPS), 5)

    def body(x):
        y = x
        for k, name in enumerate(names):
            y = STEPS[name](y)
            y = y + x if k % 2 else y
        return y
    x = joined(rows(n, 8, 3, seed=seed))
    mapped = shard_map(body, mesh=line(n), in_specs=P("i"), out_specs=P("i"), check_vma=bool(seed % 2))
    oracle = lambda x: joined(vmap(body, axis_name="i")(x.reshape(n, 8, 3)))
    value, pull = vjp(jit(mapped), x)
    expected, pull_oracle = vjp(jit(oracle), x)
    near(value, expected)
    near(pull(np.cos(x))[0], pull_oracle(np.cos(x))[0])


# -- specs -----------------------------------------------------------------------------------------------------------

@several
def test_specs_cut_and_join_any_axes():
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    for spec in (P("i"), P(None, "i"), P("i", "j"), P("j", "i"), P(("i", "j")), P(("j", "i")), P(None, ("i", "j")), P()):
        out = shard_map(lambda a: a * 2, mesh=grid(), in_specs=spec, out_specs=spec)(x)
        np.testing.assert_array_equal(out, 2 * x)
        assert out.sharding.is_equivalent_to(NamedSharding(grid(), spec), 2)
        out = jit(shard_map(lambda a: jnp.full((1, 1), a.size), mesh=grid(), in_specs=spec, out_specs=P("i", "j")))(x)
        assert out.shape == (4, 2) and set(np.asarray(out).ravel()) == {NamedSharding(grid(), spec).shard_shape((8, 8))[0]
                                                                       * NamedSharding(grid(), spec).shard_shape((8, 8))[1]}


@several
def test_results_that_are_equal_everywhere():
    x = rows(8, 3)
    total = shard_map(lambda a: lax.psum(a.sum(0), ("i", "j")), mesh=grid(), in_specs=P(("i", "j")), out_specs=P())(x)
    near(total, x.sum(0))
    assert total.sharding.is_fully_replicated
    part = shard_map(lambda a: lax.psum(a, "j"), mesh=grid(), in_specs=P(("i", "j")), out_specs=P("i"))(x)
    near(part, x.reshape(4, 2, 3).sum(1))
    copies = shard_map(lambda a: a, mesh=grid(), in_specs=P("i"), out_specs=P(("j", "i")))(x)  # equal along j, put together
    near(copies, np.concatenate([x, x]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("collective", [lax.psum, lax.pmean])
def test_sums_of_complex_numbers_that_are_equal_everywhere(collective, n):
    """XLA sees that they are, multiplies instead, and ends the process if that is written as one sum."""
    z = np.array([3 + 1j, -2j], np.complex64)
    found = jit(shard_map(lambda: (collective(jnp.asarray(z), "i"), collective(collective(jnp.full(2, 1j), "i"), "i")),
                          mesh=line(n), in_specs=(), out_specs=P()))()
    times = n if collective is lax.psum else 1
    near(found[0], z * times)
    near(found[1], np.full(2, 1j) * times ** 2)


@pytest.mark.parametrize("n", SIZES)
def test_scattered_sums_of_complex_numbers_that_are_equal_everywhere(n):
    z = np.arange(2 * n) * (1 - 2j)
    found = jit(shard_map(lambda: lax.psum_scatter(jnp.asarray(z), "i", tiled=True), mesh=line(n), in_specs=(), out_specs=P("i"), check_vma=False))()
    near(found, z * n)


@several
def test_pytrees_and_prefixes():
    tree = {"w": rows(4, 3), "b": (rows(8), np.float32(2))}
    mapped = shard_map(lambda t, k: ({"sum": lax.psum(t["w"], "i") + k}, t["b"][0] * t["b"][1]), mesh=grid(),
                       in_specs=({"w": P("i"), "b": (P(("i", "j")), P())}, P()), out_specs=(P(), P(("i", "j"))))
    sums, scaled_rows = mapped(tree, 1.0)
    near(sums["sum"], tree["w"].sum(0, keepdims=True) + 1)
    near(scaled_rows, tree["b"][0] * 2)
    decorated = shard_map(mesh=grid(), in_specs=P("i"), out_specs=P("i"))(lambda a, b: (a, b))
    assert decorated.__name__ == "<lambda>" and len(decorated(rows(4), rows(8))) == 2
    near(shard_map(lambda a, b: a, mesh=grid(), in_specs=(P("i"), None), out_specs=P("i"))(rows(4), None), rows(4))


@several
def test_closed_over_values_are_whole():
    w = rows(3)
    x = rows(8, 3)
    mapped = lambda w: shard_map(lambda a: a * w, mesh=grid(), in_specs=P("i"), out_specs=P("i"))(x)
    near(mapped(w), x * w)
    near(grad(lambda w: mapped(w).sum())(w), x.sum(0))
    near(jit(grad(lambda w: mapped(w).sum()))(w), x.sum(0))


@several
def test_mesh_from_context():
    x = rows(8, 3)
    double = shard_map(lambda a: lax.psum(a, "j") * 0 + a * 2, in_specs=P("i"), out_specs=P("i"))
    with pytest.raises(ValueError, match="The context mesh cannot be empty"):
        double(x)
    with set_mesh(grid()):
        near(double(x), 2 * x)
    with grid():
        near(jit(double)(x), 2 * x)
    near(shard_map(lambda a: a, mesh=grid().abstract_mesh, in_specs=P("i"), out_specs=P("i"))(
        device_put(x, NamedSharding(grid(), P("i")))), x)


@several
def test_arguments_that_are_no_arrays():
    kept = object()

    def body(a, x, more):
        assert a is kept and more == {"b": "text"}
        return x * 2
    for specs in ((None, P("i"), None), (None, P("i"), {"b": None})):
        near(shard_map(body, mesh=grid(), in_specs=specs, out_specs=P("i"))(kept, rows(4), {"b": "text"}), 2 * rows(4))


@several
def test_groups_over_several_axes():
    x = rows(16)
    mapped = lambda f: shard_map(f, mesh=grid(), in_specs=P(("i", "j")), out_specs=P(("i", "j")), check_vma=False)(x)
    groups, parts = [[0, 1, 2, 3], [4, 5, 6, 7]], x.reshape(2, 4, 2)
    near(mapped(lambda a: lax.psum(a, ("i", "j"), axis_index_groups=groups)), joined(joined(parts.sum(1, keepdims=True).repeat(4, 1))))
    gathered = mapped(lambda a: lax.all_gather(a, ("i", "j"), axis_index_groups=groups, tiled=True))
    near(gathered, parts.reshape(2, 1, 8).repeat(4, 1).reshape(-1))


@several
def test_specs_from_placement():
    whole = Mesh(grid().devices, ("i", "j"), axis_types=(AxisType.Explicit,) * 2)
    for run in (lambda f: f, jit):
        near(run(shard_map(lambda a: a, mesh=whole, out_specs=P("i")))(rows(2)), np.tile(rows(2), 4))
        x = device_put(rows(8, 2), NamedSharding(whole, P("i", "j")))
        mapped = run(shard_map(lambda a: lax.psum(a * 2, "j"), mesh=whole, out_specs=P("i")))
        near(mapped(x), 2 * rows(8, 2).sum(1, keepdims=True))
        near(grad(lambda x: jnp.sum(mapped(x)))(x), np.full((8, 2), 2))
        assert str(make_jaxpr(mapped)(x).out_avals[0]) == "float32[8@i,1]"
        assert str(make_jaxpr(lambda x: mapped(mapped(x)))(x).out_avals[0]) == "float32[8@i,1]"
    x = device_put(rows(8, 2), NamedSharding(grid(), P("i", "j")))
    assert shard_map(lambda a: jnp.full((1, 1), a.size), mesh=grid(), out_specs=P("i", "j"))(x).tolist() == [[2, 2]] * 4
    with pytest.raises(TypeError, match=r"in_specs is not given, and args\[0\] is not placed on the mesh"):
        shard_map(lambda a: a, mesh=grid(), out_specs=P("i"))(rows(4))


def test_key_arrays():
    jax_random = pytest.importorskip("jax_random")
    n = SIZES[-1]
    keys = jax_random.split(jax_random.key(0), n)
    out = shard_map(lambda k: jax_random.normal(k[0], (2,)), mesh=line(n), in_specs=P("i"), out_specs=P("i"))(keys)
    near(out, np.concatenate([jax_random.normal(k, (2,)) for k in keys]))


# -- derivatives inside ----------------------------------------------------------------------------------------------

@several
def test_gradient_inside_of_what_is_equal_everywhere_is_summed():
    """Data-parallel training written inside: the parameters' gradient comes out summed over the devices."""
    w, x = rows(3), rows(8, 3)
    loss = lambda w, x: jnp.sum(jnp.sin(x @ w))
    step = lambda w, x: grad(loss)(w, x)
    near(shard_map(step, mesh=line(8), in_specs=(P(), P("i")), out_specs=P())(w, x), grad(loss)(w, x))
    per_device = shard_map(lambda w, x: step(w, x)[None], mesh=line(8), in_specs=(P(), P("i")), out_specs=P("i"), check_vma=False)
    near(per_device(w, x), np.stack([grad(loss)(w, row[None]) for row in x]))
    mean = shard_map(lambda w, x: grad(lambda w: lax.pmean(loss(w, x), "i"))(w), mesh=line(8), in_specs=(P(), P("i")), out_specs=P())
    near(mean(w, x), grad(loss)(w, x) / 8)


@several
@pytest.mark.parametrize("wrap", [lambda f: f, jit, checkpoint])
def test_gradient_inside_through_control_flow(wrap):
    w, x = rows(3), rows(8, 3)

    def loss(w, x):
        def step(c, row):
            return jnp.sin(c + row * w), c.sum()
        c, ys = lax.scan(step, 0 * x[0], x)
        c = lax.cond(c[0] > 0.1, lambda: c * w, lambda: w * w + 0 * c)
        return c.sum() + ys.sum()
    mapped = shard_map(grad(wrap(loss)), mesh=line(4), in_specs=(P(), P("i")), out_specs=P())
    near(jit(mapped)(w, x), sum(grad(loss)(w, part) for part in x.reshape(4, 2, 3)))


@several
def test_branches_that_differ_between_devices():
    """Their gradients are summed outside of the branches: inside, devices would wait for those that took another."""
    w, x = rows(3), rows(8, 3)
    branches = [lambda v, w: (v * w).sum(), lambda v, w: (v * w * w).sum(), lambda v, w: v.sum(), lambda v, w: (jnp.sin(v) * w).sum()]

    def loss(w, x):
        return lax.switch(lax.axis_index("i"), [lambda v, f=f: f(v, w) for f in branches], x)
    mapped = jit(shard_map(grad(loss), mesh=grid(), in_specs=(P(), P("i")), out_specs=P()))
    near(mapped(w, x), sum(grad(lambda w, f=f, v=v: f(v, w))(w) for f, v in zip(branches, x.reshape(4, 2, 3))))


@several
def test_custom_vjp_of_what_is_equal_everywhere():
    """A backward rule that knows nothing of devices gives a part of the cotangent on each: of what is cast to vary, where they are summed."""
    w, x = np.float32(1.5), rows(8, 3)
    loss = lambda f: lambda w, x: jnp.sum(f(x, w) * x)
    cast = lambda x, w: scaled(x, lax.pcast(w, "i", to="varying"))
    mapped = shard_map(grad(loss(cast)), mesh=line(8), in_specs=(P(), P("i")), out_specs=P())
    near(mapped(w, x), grad(loss(jnp.multiply))(w, x))
    with pytest.raises(ValueError, match="backward function of scaled returned for argument 1 a cotangent of type"):
        shard_map(grad(loss(scaled)), mesh=line(8), in_specs=(P(), P("i")), out_specs=P())(w, x)


@several
def test_types_say_what_varies():
    seen = {}

    def body(a, w):
        seen.update(a=a.aval.vma, w=w.aval.vma, product=(a * w).aval.vma, total=lax.psum(a, "i").aval.vma,
                    index=lax.axis_index("j").aval.vma, most=lax.pmax(a, "i").aval.vma, cast=lax.pcast(w, "j", to="varying").aval.vma,
                    gathered=lax.all_gather(a, "i").aval.vma, equal=lax.all_gather(a, "i", to="invarying").aval.vma,
                    mapped=vmap(lambda r: r * w)(a).aval.vma, text=a.aval.str_short())
        with pytest.raises(ValueError, match="from=varying, to='varying'"):
            lax.pcast(a, "i", to="varying")
        return a
    shard_map(body, mesh=grid(), in_specs=(P("i"), P()), out_specs=P("i"))(rows(4), 1.0)
    i, j, none = {"i"}, {"j"}, set()
    assert seen == dict(a=i, w=none, product=i, total=none, index=j, most=none, cast=j, gathered=i, equal=none, mapped=i,
                        text="float32[1]{V:i}")


@several
def test_gathered_equal_everywhere():
    x, t = rows(8, 3), rows(8, 3, seed=1)
    gathered = shard_map(lambda a: lax.all_gather(a, "i", tiled=True, to="invarying"), mesh=line(4), in_specs=P("i"), out_specs=P())
    near(gathered(x), x)
    near(grad(lambda x: jnp.sum(gathered(x) * t))(x), t)


@several
@pytest.mark.parametrize("checked", [True, False])
def test_ragged_all_to_all(checked):
    """Four positions send random numbers of rows to each other, with a hole at the front of every part."""
    n, choose = 4, np.random.default_rng(0)
    sizes = choose.integers(0, 4, (n, n))  # [sender, receiver]
    starts = np.cumsum(np.pad(sizes, ((0, 0), (1, 0))), 1)[:, :-1]
    places = 1 + np.cumsum(np.pad(sizes, ((1, 0), (0, 0))), 0)[:-1]
    x, out = rows(n, 16, 2), rows(n, 16, 2, seed=1)
    tables = [t.astype(np.int32) for t in (starts, sizes, places, sizes.T)]
    wanted = out.copy()
    for i in range(n):
        for j in range(n):
            wanted[j, places[i, j]:places[i, j] + sizes[i, j]] = x[i, starts[i, j]:starts[i, j] + sizes[i, j]]

    def body(x, out, *tables):
        return lax.ragged_all_to_all(x, out, *(t[0] for t in tables), axis_name="i")
    mapped = jit(lambda x, out: shard_map(body, mesh=line(n), in_specs=P("i"), out_specs=P("i"), check_vma=checked)(x, out, *tables))
    oracle = lambda x, out: joined(vmap(lambda *a: lax.ragged_all_to_all(*a, axis_name="i"), axis_name="i")(
        x.reshape(n, 16, 2), out.reshape(n, 16, 2), *tables))
    near(mapped(joined(x), joined(out)), joined(wanted))
    near(oracle(joined(x), joined(out)), joined(wanted))
    weights = joined(rows(n, 16, 2, seed=2))
    for k in (0, 1):
        loss = lambda f: lambda *a: jnp.sum(jnp.sin(f(*a)) * weights)
        near(grad(loss(mapped), k)(joined(x), joined(out)), grad(loss(oracle), k)(joined(x), joined(out)))
    a, b = (jvp(f, (joined(x), joined(out)), (joined(out), joined(x))) for f in (mapped, oracle))
    near(a[1], b[1])
    with pytest.raises(ValueError, match=r"send_sizes must be integers of shape \(4,\), one entry for each position, got float32"):
        shard_map(lambda x: lax.ragged_all_to_all(x, x, *[jnp.zeros(4, int), jnp.zeros(4)] * 2, axis_name="i"), mesh=line(4),
                  in_specs=P("i"), out_specs=P("i"))(joined(x))


# -- running ---------------------------------------------------------------------------------------------------------

@several
def test_devices_in_the_order_of_the_mesh():
    order = devices()[:8][::-1]
    mesh = Mesh(np.array(order), ("i",))
    x = rows(8)
    body = shard_map(lambda a: a * 0 + lax.axis_index("i"), mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    for run in (body, jit(body)):
        out = run(x)
        assert out.tolist() == list(range(8))
        assert {s.device: s.data.tolist()[0] for s in out.addressable_shards} == {d: float(i) for i, d in enumerate(order)}
    elsewhere = device_put(x, NamedSharding(line(8), P("i")))  # the same devices in another order
    near(jit(shard_map(ring, mesh=mesh, in_specs=P("i"), out_specs=P("i")))(elsewhere), np.roll(x, 1))
    single = device_put(x, devices()[0])
    with pytest.raises(ValueError, match="incompatible devices for jitted computation.*shard_map"):
        jit(body)(single)


def test_one_device_that_is_not_the_default():
    last = devices()[-1]
    mesh = Mesh(np.array([last]), ("i",))
    body = shard_map(lambda a: lax.psum(a, "i") + lax.axis_index("i"), mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    for run in (body, jit(body)):
        out = run(np.ones(3, np.float32))
        assert out.tolist() == [1, 1, 1] and out.devices() == {last}


def test_second_call_compiles_nothing():
    from jax_xla_backend.compiling.compile import counts
    n = SIZES[-1]
    body = jit(shard_map(lambda a: lax.psum(a, "i"), mesh=line(n), in_specs=P("i"), out_specs=P()))
    x = rows(n, 3)
    body(x)
    before = counts["compiled"]
    body(x)
    eager = shard_map(lambda a: lax.psum(a, "i") * 3, mesh=line(n), in_specs=P("i"), out_specs=P())
    eager(x)
    after = counts["compiled"]
    eager(x)
    assert (before, after) == (counts["compiled"] - 1, counts["compiled"])


@several
def test_without_shardy():
    x = rows(8, 3)
    with flags.use_shardy_partitioner(False):
        out = jit(shard_map(lambda a: ring(a) + lax.psum(a, "i") + place(a), mesh=line(8), in_specs=P("i"), out_specs=P("i")))(x)
        some = jit(shard_map(lambda a: ring(a) + lax.psum(a, "i"), mesh=grid(), in_specs=P("i"), out_specs=P("i"), axis_names={"i"}))(x)
    near(out, np.roll(x, 1, 0) + x.sum(0) + np.arange(8)[:, None])
    near(some, np.roll(x, 2, 0) + np.tile(x.reshape(4, 2, 3).sum(0), (4, 1)))


@several
@pytest.mark.parametrize("checked", [True, False])
def test_checkify_reports_devices(checked):
    from jax_numpy_api import checkify

    def body(a):
        checkify.check(jnp.all(a < 5), "too large: {}", a.sum())
        total = lax.psum(a, "i")
        checkify.check(jnp.all(total > 0), "total {}", total[0])
        return jnp.log(a) * total
    mapped = jit(shard_map(body, mesh=line(4), in_specs=P("i"), out_specs=P("i"), check_vma=checked))
    errors = checkify.user_checks
    for x, text in ((np.ones(8), None), (np.arange(8.0) + 1, "too large: 11.0"), (-np.ones(8), "total -4.0")):
        error, out = jit(checkify.checkify(mapped, errors))(x.astype(np.float32))
        assert (error.get() is None) == (text is None) and (text is None or text in error.get())
        if text is None:
            near(out, np.zeros(8))
    error, _ = checkify.checkify(mapped, checkify.nan_checks)(-np.ones(8, np.float32))
    assert error.get() == "\n".join(f"at mapped index {i}: nan generated by primitive: log." for i in range(4))
    with pytest.raises(checkify.JaxRuntimeError, match="at mapped index 0: nan") as failure:
        error.throw()
    assert any("The check stands at" in note for note in failure.value.__notes__)
    picked = jit(shard_map(lambda a: a[a[0].astype(np.int32)][None], mesh=line(4), in_specs=P("i"), out_specs=P("i"), check_vma=checked))
    error, _ = checkify.checkify(picked, checkify.index_checks)(np.array([0, 0, 5, 0, 1, 0, 7, 0], np.float32))
    assert [line.split(" is out")[0] for line in error.get().splitlines()] == [
        f"at mapped index {i}: out-of-bounds indexing for array of shape (2,): index {n}" for i, n in ((1, 5), (3, 7))]
    error, _ = checkify.checkify(shard_map(lambda a: a, mesh=line(4), in_specs=P("i"), out_specs=P("i")), errors)(np.ones(8))
    assert error.get() is None


@several
def test_lowered_text():
    lowered = jit(shard_map(lambda a: lax.psum(a, "i"), mesh=grid(), in_specs=P("i"), out_specs=P())).lower(rows(4, 2))
    text = lowered.as_text()
    assert "mhlo.num_partitions = 8" in text and 'sdy.mesh @mesh = <["i"=4, "j"=2]>' in text
    assert 'in_shardings=[<@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"i", "j"} (%' in text
    by_axes = 'replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "i">]>'
    assert (by_axes if GROUPS_BY_AXES else "replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]>") in text
    with flags.use_rgv3(False):
        mapped = jit(shard_map(lambda a: lax.psum(a, "i"), mesh=grid(), in_specs=P("i"), out_specs=P()))
        assert "replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]>" in mapped.lower(rows(4, 2)).as_text()
    near(lowered.compile()(rows(4, 2)), rows(4, 2).sum(0, keepdims=True))


@several
def test_debug_nans():
    mapped = shard_map(lambda a: jnp.log(a), mesh=line(4), in_specs=P("i"), out_specs=P("i"))
    with flags.debug_nans(True):
        near(jit(mapped)(np.ones(8, np.float32)), np.zeros(8))
        for run in (mapped, jit(mapped)):
            with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in shard_map, at .*test_shard_map.py"):
                run(-np.ones(8, np.float32))


@several
def test_abstract_mesh_needs_devices_from_somewhere():
    mapped = jit(shard_map(lambda a: lax.psum(a, "i"), mesh=grid().abstract_mesh, in_specs=P("i"), out_specs=P()))
    x = rows(4, 2)
    near(mapped(device_put(x, NamedSharding(grid(), P("i")))), x.sum(0, keepdims=True))
    with pytest.raises(ValueError, match="shard_map over AbstractMesh.* runs on 8 devices, but nothing says on which"):
        mapped(x)


def test_callbacks_run_on_every_device():
    jax_callbacks = pytest.importorskip("jax_callbacks")
    n, seen = SIZES[-1], []

    def note(v):
        seen.append(float(v[0]))
        return np.asarray(v) * 2
    mapped = shard_map(lambda a: jax_callbacks.pure_callback(note, ShapeDtypeStruct(a.shape, a.dtype), a), mesh=line(n),
                       in_specs=P("i"), out_specs=P("i"))
    x = np.arange(n, dtype=np.float32)
    near(jit(mapped)(x), 2 * x)
    assert sorted(set(seen)) == x.tolist()


# -- references --------------------------------------------------------------------------------------------------------

@pytest.mark.only_cpu
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_references_are_split_as_their_specs_say(compiled, checked):
    def body(r, total, x):
        r[0] = r[1] + place(x)
        total[...] += lax.psum(jnp.sum(r[...]), "i")
        return r[...] * x
    mapped = shard_map(body, mesh=line(4), in_specs=(P("i"), P(), P("i")), out_specs=P("i"), check_vma=checked)
    r, total = new_ref(jnp.arange(8.0)), new_ref(jnp.float32(1))
    out = (jit(mapped) if compiled else mapped)(r, total, jnp.full(8, 2.0))
    np.testing.assert_array_equal(r[...], [1, 1, 4, 3, 7, 5, 10, 7])
    np.testing.assert_array_equal(out, 2 * r[...])
    assert float(total[...]) == 39 and r[...].sharding.spec == P("i")


def test_references_take_part_in_derivatives_and_are_closed_over():
    seen = new_ref(jnp.float32(0))

    def body(r, x):
        r[...] = r[...] * jnp.sin(x)
        seen[...] = lax.stop_gradient(lax.psum(jnp.sum(x), "i"))
    mapped = shard_map(body, mesh=line(4), in_specs=P("i"), out_specs=P())

    def f(x):
        r = new_ref(x)
        mapped(r, x)
        return jnp.sum(r[...])
    x = jnp.arange(4.0)
    near(jit(grad(f))(x), jnp.sin(x) + x * jnp.cos(x))
    assert float(seen[...]) == 6


def test_copies_of_a_reference_must_not_come_to_differ():
    r, mesh = new_ref(jnp.zeros(3)), line(4)

    def body(r):
        r[0] = lax.convert_element_type(lax.axis_index("i"), np.float32)
    with pytest.raises(ValueError, match="is left with a value that varies over the mesh axes"):
        shard_map(body, mesh=mesh, in_specs=P(), out_specs=P())(r)
    with pytest.raises(ValueError, match="got a mutable reference of type .* twice"):
        shard_map(lambda a, b: None, mesh=mesh, in_specs=P(), out_specs=P())(r, r)
    np.testing.assert_array_equal(r[...], 0)


# -- loops that differentiate in their body, each device with its own number of steps ------------------------------------------------

def lowest(method):
    return lambda w, x: minimize(lambda v: jnp.sum((v - w * x) ** 2), jnp.zeros(1), method=method).x


def flow_bar(w, x):
    """The gradient, in what all devices share, of a solution whose steps depend on what they do not."""
    return grad(lambda w: jnp.sum(odeint(lambda y, t, w: -w * y * t, x, jnp.array([0.0, 1.0]), w)[-1]))(w)


@several
@pytest.mark.parametrize("body, out, want", [
    (lowest("BFGS"), P("i"), [2.0, 10.0]), (lowest("l-bfgs-experimental-do-not-rely-on-this"), P("i"), [2.0, 10.0]),
    (flow_bar, P(), -3 * np.exp(-1)),
], ids=["bfgs", "lbfgs", "odeint"])
def test_loops_do_not_wait_for_devices_that_make_fewer_steps(body, out, want):
    w, x = jnp.float32(2), jnp.array([1.0, 5.0])
    mapped = jit(shard_map(body, mesh=line(2), in_specs=(P(), P("i")), out_specs=out))
    inner = str(make_jaxpr(mapped)(w, x)).split(" while[", 1)[1].split("cond_jaxpr", 1)[0]
    assert "psum" not in inner
    near(mapped(w, x), want)


# -- transforms beside collectives along later axes, which the compiler stores with that axis first --------------------------------

@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("transform", [jnp.fft.fft, jnp.fft.ifft, jnp.fft.rfft, jnp.fft.irfft, jnp.fft.fft2])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_transforms_beside_collectives(transform, axis, n):
    x = np.random.default_rng(0).normal(size=(8, 8, 8)).astype(np.float32)
    split, mesh = P(*[None] * axis, "i"), line(n)
    before = shard_map(lambda x: transform(lax.all_gather(x, "i", axis=axis, tiled=True)), mesh=mesh, in_specs=split, out_specs=P(), check_vma=False)
    near(jit(before)(x), transform(x))
    after = shard_map(lambda x: lax.all_gather(transform(x), "i", axis=axis, tiled=True), mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)
    near(jit(after)(x), np.concatenate([transform(x)] * n, axis))
