"""With ``Explicit`` mesh axes a value's type says how it is split; each operation has a rule for its result."""
import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.configuration import flags
from jax_core.export.exporting import export
from jax_core.export.loading import deserialize
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.references.api import freeze, new_ref
from jax_core.representation.aval import ShapedArray, ShapeDtypeStruct, typeof
from jax_core.representation.errors import ShardingTypeError
from jax_core.transformations.autodiff import grad
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, nn, ops, scipy as jax_scipy
from jax_xla_backend.arrays.device_put import device_put, reshard
from jax_xla_backend.operations.axis_kinds import auto_axes, explicit_axes
from jax_xla_backend.operations.shard_map.api import shard_map, smap
from jax_xla_backend.placement.mesh import AbstractMesh, AxisType, Mesh, set_mesh, use_abstract_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding, make_single_device_sharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = [pytest.mark.any_code, pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")]
X = np.arange(32, dtype=np.float32).reshape(8, 4)


def grid(kind=AxisType.Explicit):
    return Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (kind,) * 2)


def put(spec, x=X):
    return device_put(x, NamedSharding(grid(), spec))


def test_type_says_how_a_value_is_split():
    seen = []
    for spec, text in ((P("x", "y"), "float32[8@x,4@y]"), (P(("x", "y")), "float32[8@(x,y),4]"), (P(None, "y"), "float32[8,4@y]"),
                       (P(), "float32[8,4]")):
        assert str(typeof(put(spec))) == text
        jit(lambda x: seen.append(str(typeof(x))))(put(spec))
        assert seen[-1] == text
    assert str(typeof(device_put(X, NamedSharding(grid(AxisType.Auto), P("x"))))) == "float32[8,4]"
    assert "f32[8@x,4@y] = sin" in str(make_jaxpr(jnp.sin)(put(P("x", "y"))))


def conv(images, kernel):
    return lax.conv_general_dilated(images[:, None], kernel, (1,), "SAME")


RULES = [
    ("elementwise", lambda a, b: jnp.sin(a) * b + 1.0, P("x", "y"), P(None, "y"), P("x", "y")),
    ("comparison and select", lambda a, b: jnp.where(a > 3, a, 0.0), P("x", "y"), P(), P("x", "y")),
    ("sum", lambda a, b: a.sum(0), P("x", "y"), P(), P("y")),
    ("mean", lambda a, b: jnp.mean(a, 1), P("x", "y"), P(), P("x")),
    ("argmax", lambda a, b: jnp.argmax(a, 1), P("x", "y"), P(), P("x")),
    ("transpose", lambda a, b: a.T, P("x", "y"), P(), P("y", "x")),
    ("broadcast", lambda a, b: jnp.broadcast_to(a, (3, 8, 4)), P("x", "y"), P(), P(None, "x", "y")),
    ("product", lambda a, b: a @ b.T, P("x"), P("y"), P("x", "y")),
    ("product with the result given", lambda a, b: jnp.einsum("ij,kj->ik", a, b, out_sharding=P(None, "x")), P(None, "y"),
     P(None, "y"), P(None, "x")),
    ("split axis", lambda a, b: a.reshape(4, 2, 4), P("x", "y"), P(), P("x", None, "y")),
    ("merged axes", lambda a, b: a.reshape(32), P("x", "y"), P(), P(("x", "y"))),
    ("an axis split over two", lambda a, b: a.reshape(2, 4, 4), P(("x", "y")), P(), P("x", "y", None)),
    ("reshape with the result given", lambda a, b: lax.reshape(a, (32,), out_sharding=P("y")), P("x", "y"), P(), P("y")),
    ("transform of whole axes", lambda a, b: jnp.fft.fft(a).real, P("x"), P(), P("x", None)),
    ("tridiagonal systems", lambda a, b: lax.linalg.tridiagonal_solve(a, a + 1, a, a[..., None])[..., 0], P("x"), P(), P("x", None)),
    ("product of reflections", lambda a, b: lax.linalg.householder_product(a[..., None], a[:, :1])[..., 0], P("x"), P(), P("x", None)),
    ("product with reflections", lambda a, b: lax.linalg.ormqr(a[..., None], a[:, :1], a[..., None])[..., 0], P("x"), P(), P("x", None)),
    ("concatenate", lambda a, b: jnp.concatenate([a, b]), P("x", "y"), P("x", "y"), P("x", "y")),
    ("stack", lambda a, b: jnp.stack([a, b], 1), P("x", "y"), P("x", "y"), P("x", None, "y")),
    ("new axis", lambda a, b: a[:, None], P("x", "y"), P(), P("x", None, "y")),
    ("row", lambda a, b: a[0], P(None, "y"), P(), P("y")),
    ("gather", lambda a, b: a[jnp.array([1, 0])], P(None, "y"), P(), P(None, "y")),
    ("cumsum", lambda a, b: jnp.cumsum(a, 0), P(None, "y"), P(), P(None, "y")),
    ("sort", lambda a, b: jnp.sort(a, 0), P(None, "y"), P(), P(None, "y")),
    ("reshard", lambda a, b: reshard(a, P("y", "x")), P("x", "y"), P(), P("y", "x")),
    ("vmap", lambda a, b: vmap(lambda r: r * 2)(a), P("x", "y"), P(), P("x", "y")),
    ("vmap of jit", lambda a, b: vmap(jit(lambda r: r * 2))(a), P("x", "y"), P(), P("x", "y")),
    ("vmap with what is not mapped", lambda a, b: vmap(lambda r, s: jnp.concatenate([r, s]), (0, None))(a, jnp.ones(4)), P("x"), P(), P("x", None)),
    ("windows", lambda a, b: lax.reduce_window(a, -np.inf, lax.max, (2, 1), (2, 1), "SAME"), P("x", "y"), P(), P("x", "y")),
    ("gradient of windows", lambda a, b: grad(lambda a: (lax.reduce_window(a, 0.0, lax.add, (2, 1), (2, 1), "SAME") ** 2).sum())(a),
     P("x", "y"), P(), P("x", "y")),
    ("convolution", lambda a, b: conv(a, jnp.ones((1, 1, 3))), P("x", "y"), P(), P("x", None, "y")),
    ("gradient of a convolution", lambda a, b: grad(lambda k: (conv(a, k) ** 2).sum())(jnp.ones((1, 1, 3))), P("x", "y"), P(),
     P(None, None, None)),
    ("percentile with the result given", lambda a, b: jnp.percentile(a, 50, axis=0, out_sharding=P("y")), P("x", "y"), P(), P("y")),
    ("one_hot", lambda a, b: nn.one_hot(reshard(a, P("x")), 4, out_sharding=P("x", None, "y")), P("x"), P(), P("x", None, "y")),
    ("segment_sum", lambda a, b: ops.segment_sum(a, jnp.arange(8), 8, out_sharding=P("y")), P("x"), P(), P("y", None)),
    ("broadcast_like", lambda a, b: lax.broadcast_like(jnp.ones(4), a), P("x", "y"), P(), P("x", "y")),
    ("zeros", lambda a, b: jnp.zeros((8, 4), out_sharding=P("x")), P(), P(), P("x", None)),
    ("scan", lambda a, b: lax.scan(lambda c, r: (c + 1, r * 2), 0.0, a)[1], P(None, "y"), P(), P(None, "y")),
    ("while", lambda a, b: lax.while_loop(lambda x: x.sum() < 0, lambda x: x + 1, a), P("x", "y"), P(), P("x", "y")),
    ("cond", lambda a, b: lax.cond(a.sum() > 0, lambda x: x + 1, lambda x: x, a), P("x", "y"), P(), P("x", "y")),
    ("gradient", lambda a, b: grad(lambda a: jnp.sin(a @ b.T).sum())(a), P("x", "y"), P(), P("x", "y")),
    ("mapped convolution", lambda a, b: vmap(lambda x: lax.conv_general_dilated(x[None, None], jnp.ones((1, 1, 3)), (1,), "SAME",
        out_sharding=P(None, None, None)))(a), P("x"), P(), P("x", None, None, None)),
    ("gradient of what is whole", lambda a, b: grad(lambda b: (a @ b.T).sum())(b), P("x"), P(), P(None, None)),
    ("gradient of a product of all", lambda a, b: grad(lambda a: jnp.prod((a + 1) / 16))(a), P("x", "y"), P(), P("x", "y")),
    ("gradient of products", lambda a, b: grad(lambda a: jnp.prod((a + 1) / 16, 0).sum())(a), P("x", "y"), P(), P("x", "y")),
    ("gradient of an update", lambda a, b: grad(lambda a: lax.dynamic_update_slice(a, b, (0, 0)).sum())(a), P("x"), P("x"), P("x", None)),
    ("one element", lambda a, b: a[0, 0] + a[jnp.int32(1), 2], P("x", "y"), P(), P()),
    ("transform of a split axis", lambda a, b: jnp.fft.fft(a).real, P(None, "y"), P(), P(None, "y")),
    ("written row", lambda a, b: a.at[0].set(1.0), P(None, "y"), P(), P(None, "y")),
    ("written columns", lambda a, b: a.at[:, jnp.array([0, 2])].add(b[:, :2]), P("x"), P(), P("x", None)),
    ("written over", lambda a, b: a.at[:].set(1.0), P("x", "y"), P(), P("x", "y")),
    ("written where it is split", lambda a, b: a.at[1:3].set(1.0, out_sharding=P("x")), P("x"), P(), P("x", None)),
    ("added to where it is split", lambda a, b: a.at[jnp.array([0, 5])].add(1.0, out_sharding=P("x")), P("x"), P(), P("x", None)),
    ("gradient of rows whose place is given", lambda a, b: grad(lambda a: (a.at[jnp.array([0, 5])].get(out_sharding=P("x", None)) ** 2).sum())(a),
     P("x"), P(), P("x", None)),
    ("piecewise", lambda a, b: jnp.piecewise(a, [a > 3], [jnp.sin, jnp.cos]), P("x", "y"), P(), P("x", "y")),
    ("diagonals", lambda a, b: jnp.diagonal(a.reshape(8, 2, 2), 0, 1, 2), P("x"), P(), P("x", None)),
    ("traces of split rows", lambda a, b: jnp.trace(a.reshape(8, 2, 2), 1, 0, 1), P("x"), P(), P(None)),
    ("traces of split planes", lambda a, b: jnp.trace(a.reshape(2, 4, 4), 0, 1, 2), P(("x", "y")), P(), P("x")),
    ("places in a split line", lambda a, b: jnp.searchsorted(a[:, 0], jnp.array([5.0, 4.0]), side="right"), P("x"), P(), P(None)),
    ("reduction with the result given", lambda a, b: lax.reduce(a, np.float32(0), lax.add, (1,), out_sharding=P("y")), P(None, "x"), P(), P("y")),
    ("modes", lambda a, b: jax_scipy.stats.mode(a // 3).mode, P(None, "y"), P(), P("y")),
    ("ranks", lambda a, b: jax_scipy.stats.rankdata(a, axis=1), P("x"), P(), P("x", None)),
    ("middle of a convolution", lambda a, b: jax_scipy.signal.convolve2d(a, jnp.ones((3, 2)), "same"), P("x", "y"), P(), P("x", "y")),
    ("auto_axes", lambda a, b: auto_axes(lambda x: jnp.cumsum(x, 0) * 2, out_sharding=P("y"))(a), P("x"), P(), P("y", None)),
]


@pytest.mark.parametrize("_, f, left, right, wanted", RULES, ids=[r[0] for r in RULES])
def test_rules(_, f, left, right, wanted):
    with set_mesh(grid()):
        whole = np.asarray(f(put(P()), put(P())))
        a, b = put(left), put(right)
        types = []
        for out in (f(a, b), jit(lambda a, b: types.append(typeof(f(a, b))) or f(a, b))(a, b)):
            np.testing.assert_allclose(out, whole, rtol=1e-5)
            assert out.sharding.is_equivalent_to(NamedSharding(grid(), wanted), out.ndim) and out.sharding.spec == typeof(out).sharding.spec
        assert types[0].sharding.spec == wanted


CONFLICTS = [
    ("two ways", lambda a: a + put(P("y", "x")), P("x", "y"), r"add got incompatible shardings .*axis 0.*float32\[8@x,4@y\], float32\[8@y,4@x\]"),
    ("one mesh axis for two", lambda a: a + put(P(None, "x")), P("x"), "split over a mesh axis twice"),
    ("contracted", lambda a: a @ a.T, P("x", "y"), "Contracting dimensions are sharded"),
    ("reshape", lambda a: a.reshape(32), P(None, "y"), "This reshape is not supported"),
    ("two reshapes in one", lambda a: a.reshape(2, 4, 2, 2), P("x"), "This reshape is not supported"),
    ("indexed axis", lambda a: a[jnp.array([1, 0])], P("x"), "out_sharding="),
    ("carry", lambda a: lax.scan(lambda c, _: (reshard(c, P("y")), None), a, None, length=1), P("x"), "shardings do not match"),
    ("window", lambda a: lax.slice(a, (0, 0), (7, 4)), P("x"), "slicing on sharded dims.*length 7"),
    ("input channels", lambda a: lax.conv_general_dilated(a[None], jnp.ones((1, 8, 3)), (1,), "SAME"), P("x"), "input channels"),
    ("classes", lambda a: nn.one_hot(a, 4, out_sharding=P("y", None, None)), P("x"), "one_hot: out_sharding"),
    ("sorted axis", lambda a: jnp.sort(a, 0), P("x"), "should be unsharded"),
    ("written axis", lambda a: a.at[1:3].set(1.0), P("x"), "split along an axis that is indexed"),
    ("rows added to", lambda a: a.at[jnp.array([0, 5])].add(1.0), P("x"), "scatter_add: how the result is split does not follow"),
    ("split index", lambda a: a.at[device_put(np.arange(8), NamedSharding(grid(), P("y")))].add(1.0), P(), "scatter_add: how the result is split"),
    ("scatter", lambda a: lax.scatter_add(a, jnp.zeros((1, 1), int), jnp.ones((1, 4)), lax.ScatterDimensionNumbers((1,), (0,), (0,))), P("x"),
     "scatter-add: how the result is split"),
    ("value split otherwise", lambda a: a.at[:, :2].set(put(P("y"))[:, :2]), P("x"), r"float32\[8@y,2\] cannot be written"),
    ("diagonal", lambda a: jnp.diagonal(a), P("x"), "diagonal: the two axes"),
    ("rolled axis", lambda a: jit(lambda a, k: jnp.roll(a, k, 0))(a, 1), P("x"), "roll: float32.* is split along one of the axes"),
    ("repeated axis", lambda a: jnp.repeat(a, np.full(8, 2), axis=0), P("x"), "repeat: .* say by out_sharding"),
    ("positions", lambda a: jnp.nonzero(a, size=3), P("x"), "nonzero: .* is split over mesh axes"),
    ("groups of rows", lambda a: lax.ragged_dot(a, jnp.ones((2, 4, 3)), jnp.array([4, 4])), P("x"), "give it as out_sharding"),
    ("concatenated", lambda a: jnp.concatenate([a, put(P())]), P("x"), "should have the same sharding"),
]


@pytest.mark.parametrize("_, f, spec, message", CONFLICTS, ids=[r[0] for r in CONFLICTS])
def test_conflicts_are_refused(_, f, spec, message):
    with set_mesh(grid()), pytest.raises((ShardingTypeError, TypeError, ValueError, NotImplementedError), match=message):
        f(put(spec))


def test_constraint_asserts():
    with set_mesh(grid()):
        assert lax.with_sharding_constraint(put(P("x")), P("x")).sharding.spec == P("x")
        with pytest.raises(AssertionError, match=r"asks for P\('y', None\), but the array is float32\[8@x,4\]"):
            lax.with_sharding_constraint(put(P("x")), P("y"))


def test_programs_under_a_mesh_run_on_it():
    double = jit(lambda x: x * 2)
    assert len(double(X).sharding.device_set) == 1
    with set_mesh(grid()):
        assert double(X).sharding == NamedSharding(grid(), P(None, None))
        assert jit(lambda: jnp.ones(8, out_sharding=P("x")))().sharding == NamedSharding(grid(), P("x"))
    assert len(double(X).sharding.device_set) == 1


def test_constants_of_a_program():
    x = put(P("x", "y"))
    np.testing.assert_array_equal(jit(lambda y: x[:, :2] + y[:, 2:])(put(P("x"))), X[:, :2] + X[:, 2:])


def test_uneven_axis_is_refused():
    with pytest.raises(ValueError, match="does not evenly divide the dimension size 5 of axis 0"):
        ShapedArray((5, 2), np.float32, sharding=NamedSharding(grid().abstract_mesh, P("x")))


def test_explicit_axes_types():
    seen = []
    with set_mesh(grid(AxisType.Auto)):
        explicit_axes(lambda x: seen.append(str(typeof(x))) or x, in_sharding=P("x"))(X)
    assert seen == ["float32[8@x,4]"]


def test_vmapped_axes_are_split_alike():
    with pytest.raises(ValueError, match="split over different mesh axes"):
        vmap(lambda x, y: x + y)(put(P("x")), put(P()))


def test_axes_left_to_the_compiler_stay_open():
    """A type says nothing of ``Auto`` axes: neither what is computed in between nor the result is gathered along them."""
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    with set_mesh(mesh):
        out = jit(lambda x: jnp.sin(x * 2))(device_put(X, NamedSharding(mesh, P("x", "y"))))
    assert str(typeof(out)) == "float32[8@x,4]" and out.sharding.spec == P("x", "y")


def test_auto_axes_takes_the_mesh_of_its_placement():
    f = auto_axes(lambda x: x * 2, axes="x", out_sharding=NamedSharding(grid(), P("x", "y")))
    assert f(put(P("x", "y"))).sharding.spec == P("x", "y")


def test_vmap_spreads_over_one_axis():
    with pytest.raises(ValueError, match="spmd_axis_name='y', but .* split over 'x'"):
        vmap(lambda x: x * 2, spmd_axis_name="y")(put(P("x")))


PARTLY = [
    ("kept", lambda y: y * 2, P("x"), P("x"), "float32[4,4@y]{V:x}", "float32[8@x,4@y]"),
    ("summed", lambda y: lax.psum(y, "x"), P("x"), P(), "float32[4,4@y]{V:x}", "float32[4,4@y]"),
    ("placed", lambda y: jnp.repeat(y, 2, axis=1, out_sharding=P(None, "y")), P("x"), P("x"), "float32[4,4@y]{V:x}", "float32[8@x,8@y]"),
]


@pytest.mark.parametrize("_, f, ins, outs, inner, outer", PARTLY, ids=[r[0] for r in PARTLY])
def test_axes_that_are_not_manual_stay_in_types(_, f, ins, outs, inner, outer):
    with set_mesh(grid()):
        seen = []
        mapped = shard_map(lambda y: seen.append(str(typeof(y))) or f(y), in_specs=ins, out_specs=outs, axis_names={"x"})
        for out in (mapped(put(P("x", "y"))), jit(mapped)(put(P("x", "y")))):
            assert str(typeof(out)) == outer
        assert set(seen) == {inner}
        assert grad(lambda a: (mapped(a) ** 2).sum())(put(P("x", "y"))).sharding.spec == P("x", "y")
        both = vmap(shard_map(lambda x: lax.psum(x, "y"), in_specs=P("y"), out_specs=P(None)))(put(P("x", "y")))
        assert both.sharding.spec == P("x", None)
        np.testing.assert_allclose(both, X[:, :2] + X[:, 2:])


@pytest.mark.parametrize("spec1, spec2, spec", [(P("x"), P(None, "y"), P("x", "y")), (P("x", "y"), P(), P("x", None)), (P(), P("y"), P(None, None))])
def test_exported_types_say_how_values_are_split(spec1, spec2, spec):
    a, b = put(spec1), device_put(X.T, NamedSharding(grid(), spec2))
    made = export(jit(lambda a, b: a @ b))(a, b)
    for exported in (made, deserialize(made.serialize())):
        assert [t.sharding for t in exported.in_avals] == [typeof(a).sharding, typeof(b).sharding]
        assert exported.out_avals[0].sharding.spec == spec
        out = exported.call(a, b)
        assert out.sharding == NamedSharding(grid(), spec)
        np.testing.assert_array_equal(out, X @ X.T)
        assert jit(lambda a, b: typeof(exported.call(a, b)).sharding.spec == spec, static_argnums=())(a, b)


def test_exported_program_leaves_a_sum_to_be_made():
    a, b = put(P(None, "x")), device_put(X.T, NamedSharding(grid(), P("x")))
    f = jit(lambda a, b: jnp.dot(a, b, out_sharding=NamedSharding(grid(), P(None, None, unreduced={"x"}))))
    out = deserialize(export(f)(a, b).serialize()).call(a, b)
    assert out.sharding.spec == P(None, None, unreduced={"x"})
    np.testing.assert_array_equal(out.addressable_shards[0].data, X[:, :2] @ X.T[:2])


def _doubled_in_a_reference(a, b):
    r = new_ref(a)
    r[...] += a
    r[:, :2] = r[:, 2:]
    return freeze(r)


BATCHED = [
    ("triangular solve", lambda a, b: lax.linalg.triangular_solve(b, b), P("x", None, None)), ("solve", jnp.linalg.solve, P("x", None, None)),
    ("associative scan", lambda a, b: lax.associative_scan(jnp.add, b, axis=1), P("x", None, None)),
    ("pool's gradient", grad(lambda b, a: (lax.reduce_window(b, -np.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID") * a[:, :1, None]).sum()), None),
]


@pytest.mark.parametrize("name, f, spec", BATCHED, ids=[c[0] for c in BATCHED])
def test_batches_of_matrices_stay_split(name, f, spec):
    b = device_put(np.stack([np.eye(4, dtype=np.float32) * (i + 2) for i in range(8)]), NamedSharding(grid(), P("x")))
    args = (b, b[:, 0]) if spec is None else (b, b)
    found = jit(f)(*args)
    assert typeof(found).sharding.spec == P("x", None, None)
    np.testing.assert_allclose(found, f(*[jnp.asarray(np.asarray(x)) for x in args]), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_references_hold_what_is_split(compiled):
    f = jit(_doubled_in_a_reference, static_argnums=()) if compiled else _doubled_in_a_reference
    out = f(put(P("x")), None)
    assert typeof(out).sharding.spec == P("x", None)
    np.testing.assert_array_equal(out, np.concatenate([2 * X[:, 2:]] * 2, 1))


def test_references_to_what_is_split_are_indexed_by_slices():
    def f(a):
        return new_ref(a)[0]
    with pytest.raises(TypeError, match="can be indexed by slices only"):
        jit(f)(put(P("x")))


def test_loops_inside_a_rule_do_not_ask_how_values_are_split():
    a = device_put(np.full((8, 4), 0.3, np.float32), NamedSharding(grid(), P("x", "y")))
    assert typeof(jit(lambda a: lax.betainc(a, a, a))(a)).sharding.spec == P("x", "y")


def test_approximate_top_k_needs_its_axis_whole():
    with pytest.raises(ShardingTypeError, match="unsharded over axis 1"):
        jit(lambda a: lax.approx_max_k(a, 2))(put(P("x", "y")))
    assert typeof(jit(lambda a: lax.approx_max_k(a, 2))(put(P("x")))[0]).sharding.spec == P("x", None)


def test_right_hand_sides_stay_split():
    rows = put(P("x"))
    matrix = jnp.eye(4, dtype=np.float32) * 2
    found = jit(vmap(jnp.linalg.solve, in_axes=(None, 0)))(matrix, rows)
    np.testing.assert_allclose(found, X / 2)
    solve = jit(lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True))
    columns = device_put(X.T, NamedSharding(grid(), P(None, "x")))
    assert typeof(solve(matrix, columns)).sharding.spec == P(None, "x")
    with pytest.raises(ShardingTypeError, match="each right-hand side must be whole"):
        solve(matrix, device_put(X.T, NamedSharding(grid(), P("x"))))


def on(mesh, *spec):
    return NamedSharding(mesh, P(*spec))


@pytest.mark.parametrize("kind, text, x, wanted", [
    (ValueError, "has none; give a jax.Array", lambda: X, lambda mesh: on(mesh.abstract_mesh, "x")),
    (TypeError, "must lie on a mesh", lambda: jnp.ones((8, 4)), lambda mesh: on(mesh.abstract_mesh, "x")),
    (ValueError, "incompatible devices", lambda: device_put(X, devices()[0]), lambda mesh: on(mesh, "x")),
    (ValueError, "incompatible devices", lambda: device_put(X, on(grid(AxisType.Auto))), lambda mesh: devices()[1]),
    (ValueError, "incompatible devices", lambda: device_put(X, on(grid(AxisType.Auto))),
     lambda mesh: on(Mesh(mesh.devices[::-1], ("x", "y")), "x")),
])
def test_eager_constraints_move_nothing_to_other_devices(kind, text, x, wanted):
    where = wanted(grid(AxisType.Auto))
    where = where if isinstance(where, NamedSharding) else make_single_device_sharding(where)
    with pytest.raises(kind, match=text):
        lax.with_sharding_constraint(x(), where)


def test_eager_constraints_on_the_devices_of_the_array():
    mesh = grid(AxisType.Auto)
    for x, where in ((jnp.ones((8, 4)), on(mesh, "x")), (device_put(X, on(mesh)), on(mesh, "x")), (device_put(X, on(mesh)), on(mesh.abstract_mesh, "x"))):
        assert lax.with_sharding_constraint(x, where).sharding == on(mesh, "x")


def test_batch_axes_of_products_are_split_alike():
    x, y = put(P("x"), X.reshape(8, 2, 2)), put(P(), X.reshape(8, 2, 2))
    with pytest.raises(ShardingTypeError, match="requires batch dimensions"):
        jnp.matmul(x, y)
    assert jnp.matmul(x, put(P("x"), X.reshape(8, 2, 2))).sharding.spec == P("x", None, None)


@pytest.mark.parametrize("transform", [jit, grad, vmap, lambda f: jit(grad(f))])
def test_only_the_type_of_a_traced_value_says_how_it_is_split(transform):
    """Libraries ask whether there is an attribute, and take what has one for an array in memory (flax nnx' variables)."""
    seen = []
    note = lambda x: seen.append((hasattr(x, "sharding"), typeof(x).sharding.spec[-1], ShapeDtypeStruct.like(x).sharding.spec[-1])) or x.sum()
    with set_mesh(grid()):
        transform(note)(put(P(None, "y")))
    assert seen == [(False, "y", "y")]


def test_types_name_the_mesh_in_use():
    """Whatever the kinds of its axes: those that are the compiler's do not show."""
    seen = []
    note = lambda x: seen.append(typeof(x).sharding) or x
    mesh = grid(AxisType.Auto)
    with set_mesh(mesh):
        jit(note)(device_put(X, P("x")))
        jit(lambda x: shard_map(note, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})(x))(device_put(X, P("x")))
    assert [s.mesh.axis_types for s in seen] == [(AxisType.Auto, AxisType.Auto), (AxisType.Manual, AxisType.Auto)]
    assert all(s.spec == P(None, None) for s in seen)


def test_constraints_by_specs_name_axes_and_not_devices():
    """The program traced for a mesh that is set serves another one of the same axes."""
    traced = []
    f = jit(lambda x: traced.append(x) or lax.with_sharding_constraint(x, P("x", "y")))
    for mesh in (grid(AxisType.Auto), Mesh(grid().devices[::-1], ("x", "y"))):
        with set_mesh(mesh):
            assert f(X).sharding == on(mesh, "x", "y")
            equation, = f.trace(X).jaxpr.eqns
            assert equation.params["sharding"] == on(mesh.abstract_mesh, "x", "y")


def test_a_mesh_named_anew_inside_a_program():
    renamed = grid().abstract_mesh.update(axis_sizes=(4, 1), axis_names=("a", "b"))

    def f(x):
        x = jnp.sin(x)
        with use_abstract_mesh(renamed):
            seen.append(str(typeof(reshard(x, P(("a", "b"), None)) * 2)))
            return reshard(x, P(("a", "b"), None)) * 2
    seen: list = []
    with set_mesh(grid()):
        out = jit(f)(put(P("x", "y")))
        np.testing.assert_allclose(out, 2 * np.sin(X), rtol=1e-6)
        assert out.sharding.spec == P(("a", "b"), None) and dict(out.sharding.mesh.shape) == {"a": 4, "b": 1} and seen[-1] == "float32[8@(a,b),4]"
        slope = jit(grad(lambda x: f(x).sum()))(put(P("x", "y")))
        assert slope.sharding.spec == P("x", "y")
        np.testing.assert_allclose(slope, 2 * np.cos(X), rtol=1e-5)


AUTO = grid(AxisType.Auto).abstract_mesh


@pytest.mark.parametrize("mesh, named", [
    (grid(), AUTO), (grid(AxisType.Auto), AUTO.update(axis_names=("a", "b"))), (grid(AxisType.Auto), AUTO.update(axis_sizes=(4, 1), axis_names=("a", "b"))),
], ids=["auto in explicit", "other names", "other sizes"])
def test_a_constraint_on_a_mesh_named_anew_gives_the_result_its_mesh(mesh, named):
    def f(x):
        with use_abstract_mesh(named):
            return lax.with_sharding_constraint(x, P(named.axis_names[0], None))
    with set_mesh(mesh):
        out = jit(f)(device_put(X, P("x", "y")))
    assert out.sharding.mesh.axis_names == named.axis_names and out.sharding.mesh.axis_types == named.axis_types
    assert str(typeof(out)) == "float32[8,4]" and out.sharding.shard_shape((8, 4)) == (8 // named.axis_sizes[0], 4)
    np.testing.assert_array_equal(out, X)


MIXED = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))


@pytest.mark.parametrize("run", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("mesh, before, asked, after", [
    (MIXED, P("x", "y"), P(), P(None, "y")), (MIXED, P("y", "x"), P(), P("y", None)), (MIXED, P(None, "y"), P("x"), P("x", "y")),
    (MIXED, P("x", "y"), P(None, "x"), P(None, "x")), (grid(AxisType.Auto), P("x", "y"), P(), P("x", "y")), (grid(AxisType.Auto), P(), P(None), P()),
], ids=str)
def test_resharding_leaves_auto_axes_as_they_are(run, mesh, before, asked, after):
    with set_mesh(mesh):
        out = run(lambda x: reshard(x, asked))(device_put(X, before))
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, after), 2), out.sharding
    assert typeof(out).sharding.spec == P(*[e if e == "x" and mesh is MIXED else None for e in after], *[None] * (2 - len(after)))
    np.testing.assert_array_equal(out, X)


def test_mixed_types_leave_only_auto_axes_to_the_compiler():
    with set_mesh(MIXED):
        text = jit(lambda x: jnp.dot(x, x, out_sharding=P())).lower(device_put(X[:4], P("x", "y"))).as_text()
    assert '[{?}, {?}], replicated={"x"}>' in text


def test_a_constraint_adds_auto_axes_to_what_the_type_says():
    with set_mesh(MIXED):
        out = jit(lambda x: lax.with_sharding_constraint(x, P(None, "y")))(device_put(X, P("y", "x")))
    assert out.sharding.spec == P(None, ("x", "y")) and str(typeof(out)) == "float32[8,4@x]"
    np.testing.assert_array_equal(out, X)


def test_a_constraint_on_auto_axes_asserts_where_all_axes_in_context_are_explicit():
    asked = NamedSharding(grid(AxisType.Auto), P("x"))
    with set_mesh(grid()):
        assert str(typeof(jit(lambda x: lax.with_sharding_constraint(x, asked))(put(P("x"))))) == "float32[8@x,4]"
        for spec in (P("x", "y"), P()):
            with pytest.raises(AssertionError, match="asserts"):
                jit(lambda x: lax.with_sharding_constraint(x, asked))(put(spec))


def test_lowered_text_is_for_the_mesh_in_use():
    with set_mesh(grid()):
        lowered = jit(lambda: jnp.zeros((8, 4), out_sharding=P("x", "y"))).lower()
    assert "num_partitions = 4" in lowered.as_text() and '[{"x"}, {"y"}]' in lowered.as_text()
    with use_abstract_mesh(AbstractMesh((2,), ("x",), (AxisType.Explicit,))):
        lowered = jit(lambda x: x * 2).trace(ShapeDtypeStruct((8, 2), np.float32)).lower(lowering_platforms=("tpu",))
    assert "num_partitions = 2" in lowered.as_text()
    assert "num_partitions = 1" in jit(lambda x: x * 2).lower(ShapedArray((8,), np.dtype("float32"))).as_text()


def test_no_operation_computes_in_pinned_memory():
    with set_mesh(grid()), pytest.raises(ValueError, match="pinned_host.*jax.device_put"):
        jnp.full((2,), 0, out_sharding=NamedSharding(grid().abstract_mesh, P("x"), memory_kind="pinned_host"))


def other_mesh(x):
    with set_mesh(Mesh(np.array(devices()[:2]), ("x",), (AxisType.Explicit,))):
        return jit(jnp.sin)(x)


def size_changed(x):
    def f(x):
        with Mesh(np.array(devices()[:2]), ("x",)):
            return x
    with Mesh(np.array(devices()[:1]), ("x",)):
        return jit(f)(x)


ASKED = [
    ("a device", lambda: devices()[0], TypeError, "is of type .*; give a PartitionSpec"),
    ("on one device", lambda: make_single_device_sharding(devices()[0]), TypeError, "give a PartitionSpec"),
    ("another mesh", lambda: NamedSharding(Mesh(np.array(devices()[:4]), ("a",), (AxisType.Explicit,)), P("a")), ValueError, "on another mesh than the one in context"),
    ("too many entries", lambda: P("x", None, None, None, None), ValueError, "5 entries, and the result of shape|rank at least 5"),
    ("uneven", lambda: P(None, ("x", "y")), ValueError, "does not evenly divide|partitioned 4 times"),
]
OPERATIONS = [
    ("einsum", lambda a, p: jnp.einsum("ij,kj->ik", a[:, :2], a[:2, :2], out_sharding=p)),
    ("reshape", lambda a, p: lax.reshape(a, (16, 2), out_sharding=p)),
    ("sum", lambda a, p: lax.reduce_sum(a[..., None] * np.ones(2), (1,), out_sharding=p)),
    ("zeros", lambda a, p: jnp.zeros((8, 2), out_sharding=p)),
    ("iota", lambda a, p: lax.broadcasted_iota(int, (8, 2), 0, out_sharding=p)),
    ("write", lambda a, p: a[:, :2].at[0].set(1.0, out_sharding=p)),
    ("reshard", lambda a, p: reshard(a[:, :2], p)),
]


@pytest.mark.parametrize("_, f", OPERATIONS[:-1], ids=[row[0] for row in OPERATIONS[:-1]])
@pytest.mark.parametrize("what, asked, error, message", ASKED, ids=[row[0] for row in ASKED])
def test_what_is_asked_of_a_result_must_fit(_, f, what, asked, error, message):
    with set_mesh(grid()):
        a = put(P())
        for run in (f, lambda a, p: jit(lambda a: f(a, p)).lower(a)):
            with pytest.raises(error, match=message):
                run(a, asked())


def test_reshard_takes_no_device():
    for where in (devices()[0], make_single_device_sharding(devices()[0]), "x"):
        with pytest.raises(TypeError, match="for a device, call jax.device_put"):
            reshard(put(P()), where)


@pytest.mark.parametrize("_, f", OPERATIONS, ids=[row[0] for row in OPERATIONS])
def test_results_are_asked_for_by_explicit_axes(_, f):
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    with set_mesh(mesh):
        a = device_put(X, NamedSharding(mesh, P()))
        for p in (P("y"), NamedSharding(mesh, P("y"))):
            with pytest.raises(ValueError, match="names .*'y', which is .*Auto"):
                f(a, p)
        assert jit(lambda: f(a, P("x")))().sharding.spec[0] == f(a, P("x")).sharding.spec[0] == "x"


def test_elements_are_not_taken_from_devices_that_they_were_put_on():
    x = device_put(np.arange(3), devices()[0])
    for f in (jnp.array, jnp.asarray, lambda x, device: x.astype(float, device=device), lambda x, device: jnp.array([x, x], device=device)):
        with pytest.raises(ValueError, match="is committed to .* move it there by jax.device_put"):
            f(x, device=devices()[1])
    assert jnp.array(x, device=devices()[0]).devices() == {devices()[0]}
    assert jnp.array(jnp.arange(3), device=devices()[1]).devices() == {devices()[1]}


@pytest.mark.parametrize("axis", ["x", "y"])
def test_axes_mapped_by_smap_stay_in_the_placement(axis):
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    with set_mesh(mesh):
        x = device_put(np.arange(4), P(axis))
        for f in (smap(lambda x: x * 2, in_axes=0, out_axes=0, axis_name=axis), jit(smap(lambda x: x * 2, in_axes=0, out_axes=0, axis_name=axis))):
            assert f(x).sharding == NamedSharding(mesh, P(axis))


CONTEXTS = [
    ("operand of another mesh", other_mesh, "mesh in context is .* argument 0 of type float32\\[8@x,4\\] is typed for another"),
    ("mesh set inside a program", lambda x: jit(lambda x: set_mesh(grid()) and x)(x), "cannot set the mesh"),
    ("mesh of another size inside a program", size_changed, "cannot change the size of the mesh"),
    ("loop over a split axis", lambda x: lax.scan(lambda c, row: (c, row), 0.0, x), "axis 0 of xs.*must be whole.*split over 'x'"),
]


@pytest.mark.parametrize("_, f, message", CONTEXTS, ids=[row[0] for row in CONTEXTS])
def test_programs_and_meshes_that_do_not_agree(_, f, message):
    x = put(P("x"))
    with pytest.raises(ValueError, match=message):
        f(x)


def test_regions_are_of_the_mesh_in_context():
    with set_mesh(grid()), pytest.raises(ValueError, match="argument mesh.*must be the mesh in context"):
        shard_map(lambda x: x, mesh=grid(AxisType.Auto), in_specs=P("x"), out_specs=P("x"))(X)


@pytest.mark.parametrize("like", [jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda x: jnp.full_like(x, 2), lambda x: lax.full_like(x, 2)],
                         ids=["zeros", "ones", "empty", "full", "lax.full"])
def test_arrays_like_another_are_split_alike(like):
    with set_mesh(grid()):
        x = put(P("x", None))
        described = ShapeDtypeStruct((8, 4), np.float32, sharding=NamedSharding(grid(), P("x")))
        assert like(x).sharding.spec == jit(like)(x).sharding.spec == jit(lambda: like(described))().sharding.spec == P("x", None)


def test_explicit_axes_leave_the_others_to_the_compiler():
    with set_mesh(grid(AxisType.Auto)):
        x = device_put(X, P("x", "y"))
        out = jit(lambda x: explicit_axes(jnp.sin, axes="y", in_sharding=P(None, "y"))(x * 2))(x)
        assert out.sharding.spec == P("x", "y")


def test_equal_specs_and_meshes_are_one_object():
    assert P((), "x", ["y", "z"]) is P(None, ("x",), ("y", "z")) is not P(None, "x")
    assert P("x", unreduced={"y"}) is P("x", unreduced=frozenset({"y"}))
    assert grid() is grid() is not grid(AxisType.Auto)


@pytest.mark.parametrize("program, expected", [
    (jnp.sin, np.sin), (jit(lambda x: jnp.sin(x) + 1.0), lambda x: np.sin(x) + 1), (jit(grad(lambda x: jnp.sum(x ** 2))), lambda x: 2 * x),
    (jit(lambda x: reshard(x, typeof(x).sharding)), lambda x: x), (jit(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)), np.sin),
    (jit(lambda x: x + jnp.zeros(8, out_sharding=typeof(x).sharding)), lambda x: x),
], ids=["eager", "elementwise", "grad", "reshard", "cond", "zeros"])
def test_types_do_not_say_on_which_devices(program, expected):
    """A pipeline calls one stage on several meshes with the same axes."""
    for first in (0, 2, 0):
        mesh = Mesh(np.array(devices()[first:first + 2]), ("x",), (AxisType.Explicit,))
        out = program(device_put(X[:, 0], NamedSharding(mesh, P("x"))))
        assert out.sharding == NamedSharding(mesh, P("x"))
        np.testing.assert_allclose(out, expected(X[:, 0]), rtol=1e-6)


@pytest.mark.parametrize("placed", [P("x"), P("y"), P()])
def test_branches_return_values_that_are_split_alike(placed):
    """Branches whose results are split otherwise were taken, and the first one's type was that of the result."""
    with set_mesh(grid()):
        a, b = device_put(X[:, 0], P("x")), device_put(X[:, 1], placed)

        def call(a, b):
            return lax.cond(a.sum() > 0, lambda a, b: a, lambda a, b: b, a, b)
        if placed == P("x"):
            assert str(typeof(jit(call)(a, b))) == "float32[8@x]"
        else:
            with pytest.raises(TypeError, match=r"returns float32\[8(@y)?\], true_fun returns float32\[8@x\]; split one of them as the other"):
                jit(call)(a, b)


@pytest.mark.parametrize("spec, wanted", [(P("x", "y"), P("x", None)), (P(("x", "y")), P("x", None)), (P("y"), P(None, None)), (P("y", "x"), P(None, "x"))])
def test_types_leave_out_mesh_axes_of_size_one_where_a_flag_says_so(spec, wanted):
    narrow = Mesh(np.array(devices()[:2]).reshape(2, 1), ("x", "y"), (AxisType.Explicit,) * 2)
    with set_mesh(narrow):
        assert typeof(device_put(X, spec)).sharding.spec == P(*spec, *[None] * (2 - len(spec)))  # the flag finds no type of this call
        with flags.remove_size_one_mesh_axis_from_type(True):
            x = device_put(X, spec)
            assert typeof(x).sharding.spec == wanted
            seen = []
            inner = shard_map(lambda a: (seen.append(typeof(a).vma), a * 2)[1], in_specs=spec, out_specs=spec)
            for f in (lambda a: a * 2, inner, vmap(lambda row: row * 2, spmd_axis_name=spec[0]), lambda a: lax.with_sharding_constraint(a * 2, spec)):
                got = jit(f)(x)
                assert got.sharding == NamedSharding(narrow, wanted)
                np.testing.assert_array_equal(got, 2 * X)
            assert seen == [frozenset(wanted.axis_names())]
        assert typeof(device_put(X, spec)).sharding.spec == P(*spec, *[None] * (2 - len(spec)))


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_iteration_over_a_split_array_gives_rows_on_one_device(kind):
    x = device_put(X, NamedSharding(grid(kind), P("x", "y")))
    rows = list(x)
    assert [row.sharding.num_devices for row in rows] == [1] * 8
    np.testing.assert_array_equal(np.stack(rows), X)
    np.testing.assert_array_equal(np.stack(list(reversed(x))), X[::-1])


def test_any_part_of_a_replicated_array_is_the_array():
    for x in (put(P()), jnp.asarray(X)):
        np.testing.assert_array_equal(x.addressable_data(9), X)
    with pytest.raises(IndexError, match="index=9, but this process reaches 4 parts"):
        put(P("x")).addressable_data(9)


@pytest.mark.parametrize("shape", [(), (8,)])
def test_device_put_of_a_traced_value_checks_its_axes(shape):
    """XLA refused the program."""
    with pytest.raises(ValueError, match=r"P\('x', 'y'\).*rank at least 2"):
        jit(lambda x: device_put(x, NamedSharding(grid(AxisType.Auto), P("x", "y"))))(np.zeros(shape))


def test_gradients_lie_where_the_argument_does():
    """Meshes of the same axes have one type; each gradient is made on the devices of its own, whichever came before."""
    slope = grad(lambda x: (x * x).sum())
    for first in (2, 0, 1):
        mesh = Mesh(np.array(devices()[first:first + 2]), ("k",), (AxisType.Explicit,))
        x = device_put(X, NamedSharding(mesh, P("k")))
        found = slope(x)
        assert found.sharding.device_set == x.sharding.device_set
        np.testing.assert_array_equal(found, 2 * X)
