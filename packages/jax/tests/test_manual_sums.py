"""Types inside checked manual regions say what is unreduced and reduced: values, derivatives, and what is refused."""
import numpy as np
import pytest
from jaxlib.version import __version_info__ as JAXLIB

import jax
import jax.numpy as jnp
from jax import lax
from jax.errors import ShardingTypeError
from jax.sharding import AxisType, PartitionSpec as P, UnreducedKind

V, E, U, R = P("x"), P(), P(unreduced={"x"}), P(reduced={"x"})
ROWS = np.array([[1.0, 2.0], [10.0, 20.0]], np.float32)  # the parts on two devices


@pytest.fixture(autouse=True)
def mesh():
    with jax.set_mesh(jax.make_mesh((2,), "x", axis_types=(AxisType.Explicit,))):
        yield


def given(kind):
    """An argument of each kind: parts, what is equal, addends, what is reduced."""
    if kind in (E, R):
        return jax.device_put(ROWS[0], kind)
    varying = jax.device_put(ROWS.reshape(-1), V)
    return varying if kind is V else jax.jit(jax.shard_map(lambda v: lax.pcast(v, "x", to="unreduced"), out_specs=U))(varying)


def parts(x):
    return np.stack([np.asarray(s.data) for s in x.addressable_shards])


equal = lambda row: np.stack([row, row])
SUM = ROWS.sum(0)
# Operands, the function, the kind of its result, what the devices have of it, and of its gradients (the result is made whole and summed up).
GOOD = [
    ([V, R], lambda v, r: v * r, V, ROWS * ROWS[0], [equal(ROWS[0]), ROWS]),
    ([V, R], lambda v, r: v + r, V, ROWS + ROWS[0], [np.ones((2, 2)), np.ones((2, 2))]),
    ([U, R], lambda u, r: u * r, U, ROWS * ROWS[0], [equal(ROWS[0]), ROWS]),
    ([U, U], lambda u, w: u - w, U, 0 * ROWS, [np.ones((2, 2)), -np.ones((2, 2))]),
    ([U], lambda u: u * 2, U, 2 * ROWS, [np.full((2, 2), 2.0)]),
    ([U], lambda u: lax.psum(u, "x"), E, equal(SUM), [np.ones((2, 2))]),
    ([U], lambda u: lax.pmean(u, "x"), E, equal(SUM / 2), [np.full((2, 2), 0.5)]),
    ([U], lambda u: lax.psum_scatter(u, "x", tiled=True), V, SUM[:, None], [np.ones((2, 2))]),
    ([V], lambda v: lax.psum(v, "x"), E, equal(SUM), [np.ones((2, 2))]),
    ([V], lambda v: lax.pcast(v, "x", to="unreduced"), U, ROWS, [np.ones((2, 2))]),
    ([V], lambda v: lax.all_gather(v, "x", tiled=True, to="reduced"), R, equal(ROWS.reshape(-1)), [np.ones((2, 2))]),
    ([E], lambda e: lax.pcast(e, "x", to="reduced"), R, equal(ROWS[0]), [np.ones((2, 2))]),
    ([R], lambda r: lax.pcast(r, "x", to="varying"), V, equal(ROWS[0]), [np.ones((2, 2))]),
    ([R], lambda r: r.reshape(2, 1), R, equal(ROWS[0][:, None]), None),
    ([R], jnp.exp, R, equal(np.exp(ROWS[0])), None),
    ([R], jax.checkpoint(jnp.exp), R, equal(np.exp(ROWS[0])), None),
    ([U], lambda u: lax.cond(True, lambda a: a, lambda a: -a, u), U, ROWS, [np.ones((2, 2))]),
    ([U], lambda u: lax.scan(lambda c, _: (c * 2, None), u, None, length=2)[0], U, 4 * ROWS, [np.full((2, 2), 4.0)]),
    ([R], lambda r: lax.scan(lambda c, _: (c * r, None), r, None, length=2)[0], R, equal(ROWS[0] ** 3), None),
    ([V, R], lambda v, r: jnp.outer(v, r), V, ROWS[:, :, None] * ROWS[0], None),
]


@pytest.mark.parametrize("kinds, f, out, wanted, gradients", GOOD, ids=range(len(GOOD)))
def test_values_and_gradients(kinds, f, out, wanted, gradients):
    args = [given(k) for k in kinds]
    mapped = jax.jit(jax.shard_map(f, in_specs=tuple(kinds), out_specs=out))
    np.testing.assert_allclose(parts(mapped(*args)).reshape(wanted.shape), wanted, rtol=1e-6)
    loss = lambda *args: jax.reshard(mapped(*args), P()).sum()
    found = jax.jit(jax.grad(loss, argnums=tuple(range(len(args)))))(*args)
    for kind, g in zip(kinds, found):
        assert (jax.typeof(g).sharding.spec.unreduced, jax.typeof(g).sharding.spec.reduced) == (kind.reduced, kind.unreduced)
    for g, want in zip(found, gradients or ()):
        total = lambda a: a.sum(0) if kinds[0] is R and len(kinds) == 1 else a
        np.testing.assert_allclose(total(parts(g)), total(np.asarray(want)), rtol=1e-6)


def test_gradients_agree_with_those_of_whole_arrays():
    """A weight that is reduced over the batch's axis: its cotangent stays a sum, and is what the whole program has."""
    x, w = np.arange(8.0, dtype=np.float32).reshape(4, 2) / 8, np.ones((2, 3), np.float32)  # small: a slope near 0 is a difference of near numbers
    mapped = jax.shard_map(lambda x, w: jnp.tanh(x @ w), in_specs=(V, R), out_specs=V)
    loss = lambda w, x: (mapped(x, w) ** 2).sum()
    g = jax.jit(jax.grad(loss))(jax.device_put(w, R), jax.device_put(x, V))
    assert jax.typeof(g).sharding.spec.unreduced == {"x"}
    whole = jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(jnp.asarray(w))
    np.testing.assert_allclose(jax.reshard(g, P()), whole, rtol=1e-5)


@pytest.mark.skipif(JAXLIB < (0, 12), reason="jaxlib 0.10 knows sums only")
@pytest.mark.parametrize("name, op", [("max", lax.pmax), ("min", lax.pmin)])
def test_extrema_of_addends(name, op):
    kind = UnreducedKind[name]
    spec = P(None, unreduced={"x"}, unreduced_kind=kind)
    x = jax.jit(lambda a: getattr(lax, f"reduce_{name}")(a, axes=(0,), out_sharding=spec))(jax.device_put(ROWS, P("x", None)))

    def f(a):
        assert jax.typeof(a).mat.unreduced_kind is kind
        return op(a, "x")
    np.testing.assert_array_equal(jax.jit(jax.shard_map(f, out_specs=P()))(x), getattr(ROWS, name)(0))
    with pytest.raises(ValueError, match="unreduced_psum"):
        jax.jit(jax.shard_map(lambda a: lax.psum(a, "x"), out_specs=P()))(x)


BAD = [
    ([E, R], lambda e, r: e * r, R, ShardingTypeError), ([U, E], lambda u, e: u * e, U, ShardingTypeError),
    ([U, E], lambda u, e: u + e, U, ShardingTypeError), ([U], lambda u: u + 2, U, ShardingTypeError), ([U], jnp.sin, U, ShardingTypeError),
    ([U], lambda u: u, E, ValueError), ([R], lambda r: r, E, ValueError), ([E], lambda e: e, R, ValueError), ([E], lambda e: e, U, ValueError),
    ([V], lambda v: v, U, ValueError), ([U], lambda u: u, V, ValueError), ([R], lambda r: lax.psum(r, "x"), E, ValueError),
    ([U], lambda u: lax.pmax(u, "x"), E, ValueError), ([U], lambda u: lax.ppermute(u, "x", [(0, 1), (1, 0)]), U, ValueError),
    *[([kind], lambda a, to=to: lax.pcast(a, "x", to=to), out, ValueError) for kind, to, out in [
        (V, "varying", V), (V, "reduced", R), (E, "unreduced", U), (U, "varying", V), (U, "reduced", R), (R, "unreduced", U)]],
]


@pytest.mark.parametrize("kinds, f, out, error", BAD, ids=range(len(BAD)))
def test_refused(kinds, f, out, error):
    with pytest.raises(error):
        jax.jit(jax.shard_map(f, in_specs=tuple(kinds), out_specs=out))(*[given(k) for k in kinds])


def test_unchecked_regions_have_the_same_gradients():
    f = jax.jit(jax.shard_map(lambda u: lax.psum(u, "x"), in_specs=U, out_specs=E, check_vma=False))
    g = jax.jit(jax.grad(lambda u: f(u).sum()))(given(U))
    np.testing.assert_array_equal(parts(g), np.ones((2, 2)))
