"""Sums over devices that are still to be made: unreduced and reduced mesh axes in types, on devices and through derivatives."""
import numpy as np
import pytest

pytest.importorskip("jax_numpy_api")

import jax_numpy_api.numpy as jnp
import jax_xla_backend
from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.representation.aval import typeof
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.manual_axis_type import UnreducedKind
from jax_core.transformations.autodiff import grad, vjp
from jax_core.transformations.checkpoint import checkpoint
from jax_numpy_api import lax, ops
from jax_xla_backend.arrays.device_put import device_put, reshard
from jax_xla_backend.arrays.from_parts import make_array_from_callback
from jax_xla_backend.jaxlib_compat import UNREDUCED_EXTREMA
from jax_xla_backend.operations.shard_map.api import shard_map
from jax_xla_backend.placement.mesh import AxisType, Mesh, set_mesh
from jax_xla_backend.placement.partition_spec import PartitionSpec as P
from jax_xla_backend.placement.sharding import NamedSharding
from jax_xla_backend.platforms.client import devices

jax_xla_backend.load()
pytestmark = pytest.mark.skipif(len(devices()) < 4, reason="needs four devices")
X = np.arange(32, dtype=np.float32).reshape(8, 4)
U, R = P(None, None, unreduced={"x"}), P(None, None, reduced={"x"})


@pytest.fixture(autouse=True)
def grid():
    mesh = Mesh(np.array(devices()[:4]).reshape(2, 2), ("x", "y"), (AxisType.Explicit,) * 2)
    with set_mesh(mesh):
        yield mesh


def parts(x):
    return [np.asarray(s.data) for s in x.addressable_shards]


def total(x):
    """The sum of the parts along x, the first mesh axis."""
    found = parts(x)
    return found[0] + found[2]


def product(a, b):
    return jnp.einsum("ij,jk->ik", a, b, out_sharding=U)


def test_product_leaves_the_sum_to_be_made():
    a, b = device_put(X, P(None, "x")), device_put(X.T, P("x"))
    out = jit(product)(a, b)
    assert str(typeof(out)) == "float32[8,8]{U:x}" and not out.is_fully_replicated
    np.testing.assert_array_equal(parts(out)[0], X[:, :2] @ X.T[:2])
    np.testing.assert_array_equal(reshard(out, P()), X @ X.T)
    compiled = jit(product).lower(a, b).compile().as_text()
    assert "all-reduce" not in compiled
    whole = jit(lambda a, b: reshard(product(a, b) + product(a, b), P())).lower(a, b).compile().as_text()
    assert whole.count(" all-reduce(") == 1


def test_the_sum_cannot_be_read_or_shown_before_it_is_made():
    out = reshard(jnp.arange(4.0), P(unreduced={"x"}))
    with pytest.raises(RuntimeError, match=r"float32\[4\]\{U:x\} cannot be fetched, because it is unreduced"):
        np.asarray(out)
    assert repr(out) == str(out) and repr(out).startswith("Array(shape=(4,), dtype=float32, sharding=NamedSharding(")


def test_debug_nans_looks_at_the_parts():
    x = reshard(jnp.arange(4.0), P(unreduced={"x"}))
    with flags.debug_nans(True):
        assert str(typeof(jit(lambda x: x + x)(x))) == "float32[4]{U:x}"
        with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in mul"):
            jit(lambda x: x * jnp.float32(np.nan))(x)


LINEAR = [
    ("add", lambda u, r: u + u), ("neg", lambda u, r: -u), ("times reduced", lambda u, r: u * r), ("times a number", lambda u, r: u * 3.0),
    ("quotient", lambda u, r: u / (r + 1.0)), ("sum", lambda u, r: u.sum(0)), ("reshape", lambda u, r: u.reshape(4, 8)),
    ("transpose", lambda u, r: u.T), ("stack", lambda u, r: jnp.stack([u, u])), ("split", lambda u, r: lax.split(u, (3, 5))[1]),
    ("pad", lambda u, r: jnp.pad(u, 1)), ("slice", lambda u, r: u[2:5]), ("choice", lambda u, r: jnp.where(r > 3, u, -u)),
    ("dynamic slice", lambda u, r: lax.dynamic_slice(u, (1, 0), (2, 4))), ("astype", lambda u, r: u.astype("float16")),
]


@pytest.mark.parametrize("name, f", LINEAR, ids=[c[0] for c in LINEAR])
def test_linear_operations_work_on_the_parts(name, f):
    u = jit(product)(device_put(X, P(None, "x")), device_put(X[:4], P("x")))
    r = device_put(X, R)
    out = jit(f)(u, r)
    assert typeof(out).sharding.spec.unreduced == {"x"}, typeof(out)
    np.testing.assert_allclose(total(out), f(jnp.asarray(X @ X[:4]), jnp.asarray(X)), rtol=1e-3)
    np.testing.assert_allclose(reshard(out, P()), total(out), rtol=1e-5)


REFUSED = [
    ("sin is not linear", lambda u, v, r, p, s: jnp.sin(u)), ("product of sums", lambda u, v, r, p, s: u * u),
    ("sums over other axes", lambda u, v, r, p, s: u + v), ("sum and whole", lambda u, v, r, p, s: u + p),
    ("sum times whole", lambda u, v, r, p, s: u * p), ("matrix product of a sum", lambda u, v, r, p, s: u @ p.T),
    ("reduced and whole", lambda u, v, r, p, s: r + p), ("reduced and split", lambda u, v, r, p, s: r * s),
]


@pytest.mark.parametrize("name, f", REFUSED, ids=[c[0] for c in REFUSED])
def test_all_others_refuse_them(name, f):
    x = jnp.asarray(X)
    args = [reshard(x, spec) for spec in (U, P(None, None, unreduced={"y"}), R, P(), P("x"))]
    with pytest.raises(ShardingTypeError, match="Operands: float32"):
        jit(f)(*args)


def test_what_can_be_left_to_be_made_is_checked():
    a, b, whole = device_put(X, P(None, "x")), device_put(X.T, P("x")), device_put(X.T, P())
    for f, args, kind, message in (
            (product, (a, whole), ShardingTypeError, "must be split identically"),
            (product, (device_put(X, P()), whole), ShardingTypeError, "must be those that the contracting dimensions are split over"),
            (lambda a: jnp.einsum("ij->j", a, out_sharding=P(None, unreduced={"y"})), (device_put(X, P("x")),), ShardingTypeError,
             "must be those that the reduced dimensions"),
            (lambda a, b: jnp.dot(a, b, out_sharding=P(None, None, unreduced={"x"}, unreduced_kind=UnreducedKind.max)), (a, b), ValueError,
             "what is left to be made is their sum"),
            (lambda x: jnp.reshape(x, (4, 8), out_sharding=U), (whole,), ValueError, "cannot contain unreduced"),
            (lambda x: jnp.reshape(x, (4, 8), out_sharding=P("y")), (reshard(jnp.asarray(X), U),), ValueError,
             "must be unreduced over the same mesh axes as operand"),
            (lambda x: reshard(x, P(unreduced={"y"})), (reshard(jnp.asarray(X), U),), ValueError, "is still to be made; reduce it first"),
            (lambda x: vjp(jnp.sin, x)[1](reshard(x, P("y"))), (reshard(jnp.asarray(X), P("x")),), ValueError, "split over the same Explicit mesh axes"),
            (lambda x: lax.with_sharding_constraint(x, U), (whole,), ValueError, "of the constraint, names axes"),
            (lambda x: lax.with_sharding_constraint(x, R), (whole,), ValueError, "of the constraint, names axes"),
            (lambda x: lax.with_sharding_constraint(x, P()), (reshard(jnp.asarray(X), U),), ValueError, "of the array, names axes"),
            (jit(lambda x: x, in_shardings=U), (X,), NotImplementedError, r"in_shardings for x of type float32\[8,4\]: .*is no such sum")):
        with pytest.raises(kind, match=message):
            jit(f)(*args)


COTANGENTS = [
    ("elementwise", lambda x: jnp.sin(x).sum()), ("slice", lambda x: reshard(x[2:5], P()).sum()), ("checkpoint", checkpoint(lambda x: (x * x).sum())),
    ("product", lambda x: jnp.dot(x, device_put(X.T, P(None, "x")), out_sharding=P(None, "x")).sum()),
    ("split", lambda x: reshard(x, P("x")).sum()), ("scan", lambda x: lax.scan(lambda c, _: (c * 0.5 + x, None), x, None, length=3)[0].sum()),
    ("gather", lambda x: (x.at[device_put(np.array([1, 5, 1, 0]), P("x"))].get(out_sharding=P("x", None)) ** 2).sum()),
    ("cond", lambda x: lax.cond(True, lambda x: x * 2.0, lambda x: x, x).sum()),
]


@pytest.mark.parametrize("name, f", COTANGENTS, ids=[c[0] for c in COTANGENTS])
def test_cotangent_of_a_reduced_operand_is_unreduced(name, f):
    found = jit(grad(f))(device_put(X, R))
    assert typeof(found).sharding.spec == U
    wanted = jit(grad(f))(device_put(X, P()))
    np.testing.assert_allclose(reshard(found, P()), wanted, rtol=1e-5)
    np.testing.assert_allclose(total(found), wanted, rtol=1e-5)


def test_cotangents_that_are_zero_have_the_type_of_cotangents():
    a, b = device_put(X, R), device_put(X, R)
    _, back = vjp(jit(lambda x, y: y), a, b)
    zero, same = back(reshard(jnp.asarray(X), U))
    assert typeof(zero).sharding.spec == typeof(same).sharding.spec == U
    np.testing.assert_array_equal(total(zero), 0 * X)


def test_gradients_of_microbatches_are_added_as_parts_and_reduced_once():
    w, batches = device_put(X[:4], R), device_put(np.stack([X, X + 1]), P(None, "x"))

    def loss(w, batch):
        return jnp.tanh(batch @ w * 0.01).sum()

    def step(w, batches):
        start = reshard(jnp.zeros(w.shape, w.dtype), U)
        summed, _ = lax.scan(lambda g, batch: (g + grad(loss)(w, batch), None), start, batches)
        return reshard(summed, P())
    text = jit(step).lower(w, batches).compile().as_text()
    assert text.count(" all-reduce(") == 1
    plain = sum(grad(loss)(jnp.asarray(X[:4]), jnp.asarray(b)) for b in np.stack([X, X + 1]))
    np.testing.assert_allclose(jit(step)(w, batches), plain, rtol=1e-4)


def test_segment_sum_leaves_the_sum_to_be_made():
    data, ids = device_put(np.arange(8), P("x")), device_put(np.array([0, 0, 1, 1, 1, 2, 2, 3]), P("x"))
    out = jit(lambda d, i: ops.segment_sum(d, i, num_segments=4, out_sharding=P(unreduced={"x"})))(data, ids)
    np.testing.assert_array_equal(parts(out)[0], [1, 5, 0, 0])
    np.testing.assert_array_equal(total(out), [1, 9, 11, 7])


@pytest.mark.skipif(not UNREDUCED_EXTREMA, reason="Shardy has sums only")
def test_extrema_can_be_left_to_be_found():
    spec = P(None, unreduced={"x"}, unreduced_kind=UnreducedKind.max)
    out = jit(lambda x: lax.reduce_max(x, (0,), out_sharding=spec))(device_put(X, P("x")))
    np.testing.assert_array_equal(parts(out)[0], X[:4].max(0))
    np.testing.assert_array_equal(reshard(out, P()), X.max(0))
    with pytest.raises(ValueError, match="unreduced_kind of the input"):
        reshard(out, P(None, unreduced={"x"}))


def test_host_values_can_be_placed_as_parts(grid):
    for out in (device_put(X, U), jit(lambda x: x, out_shardings=U)(X), jit(lambda x: x, in_shardings=U)(device_put(X, U))):
        assert str(typeof(out)) == "float32[8,4]{U:x}"
        np.testing.assert_array_equal(parts(out)[2], 0 * X)
        np.testing.assert_array_equal(total(out), X)
    with pytest.raises(NotImplementedError, match="hold addends of a sum"):
        make_array_from_callback(X.shape, NamedSharding(grid, U), lambda index: X[index])


@pytest.mark.parametrize("spec", [P(), P("x")], ids=["whole", "split"])
def test_unchecked_manual_regions_make_and_take_parts(spec, grid):
    """Results of a region are the addends, where ``out_specs`` say so, and an operand that is unreduced comes in by its addends."""
    x = device_put(np.arange(8.0), spec)
    out = jit(shard_map(lambda x: x, mesh=grid, in_specs=spec, out_specs=P(unreduced={"x"}), check_vma=False))(x)
    assert typeof(out).sharding.spec.unreduced == {"x"}
    np.testing.assert_array_equal(parts(out)[0], parts(x)[0])
    again = jit(shard_map(lambda x: x, mesh=grid, in_specs=P(unreduced={"x"}), out_specs=spec, check_vma=False))(out)
    np.testing.assert_array_equal(again, np.arange(8.0))
