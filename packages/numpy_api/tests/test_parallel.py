"""Collectives under vmap: each against its definition in NumPy, under jit, in nests, and differentiated."""
import numpy as np
import pytest

from jax_core.configuration import context
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.batching import AxisData
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax
from jax_numpy_api.lax.parallel import AxisEnv

N = 4
X = np.arange(N * 3, dtype=np.float32).reshape(N, 3)
Y = np.arange(N * N * 3, dtype=np.float32).reshape(N, N, 3)  # one axis as long as the mapped one
Z = np.arange(N * 2 * N * 3, dtype=np.float32).reshape(N, 2 * N, 3)  # one axis twice as long
GROUPS = [[0, 2], [3, 1]]


def everywhere(x):
    return np.broadcast_to(x, (N, *np.shape(x)))


def in_groups(f):
    """``f(rows of the group, place in the group)`` for each position."""
    out = [None] * N
    for group in GROUPS:
        for place, i in enumerate(group):
            out[i] = f(group, place)
    return np.stack(out)


def dealt(z, parts):
    """What `all_to_all` deals out along axis 0 of each operand: ``(receiver, sender, part, ...)``."""
    return z.reshape(N, parts, z.shape[1] // parts, *z.shape[2:]).swapaxes(0, 1)


CASES = {
    "psum": (lambda x: lax.psum(x, "i"), X, everywhere(X.sum(0))),
    "psum of a tree": (lambda x: lax.psum({"a": x, "b": (x,)}, "i")["b"][0], X, everywhere(X.sum(0))),
    "psum with a positional axis": (lambda x: lax.psum(x, (0, "i")), X, everywhere(X.sum())),
    "pmean": (lambda x: lax.pmean(x, "i"), X, everywhere(X.mean(0))),
    "pmax": (lambda x: lax.pmax(x, "i"), X, everywhere(X.max(0))),
    "pmin": (lambda x: lax.pmin(x, "i"), X, everywhere(X.min(0))),
    "psum in groups": (lambda x: lax.psum(x, "i", axis_index_groups=GROUPS), X, in_groups(lambda g, k: X[g].sum(0))),
    "pmax in groups": (lambda x: lax.pmax(x, "i", axis_index_groups=GROUPS), X, in_groups(lambda g, k: X[g].max(0))),
    "axis_index": (lambda x: lax.axis_index("i"), X, np.arange(N)),
    "all_gather": (lambda x: lax.all_gather(x, "i"), X, everywhere(X)),
    "all_gather at axis 1": (lambda x: lax.all_gather(x, "i", axis=1), X, everywhere(X.T)),
    "all_gather tiled": (lambda x: lax.all_gather(x, "i", tiled=True), X, everywhere(X.reshape(-1))),
    "all_gather in groups": (lambda x: lax.all_gather(x, "i", axis_index_groups=GROUPS), X, in_groups(lambda g, k: X[g])),
    "psum_scatter": (lambda x: lax.psum_scatter(x, "i"), Y, Y.sum(0)),
    "psum_scatter at axis 1": (lambda x: lax.psum_scatter(x, "i", scatter_dimension=1), Y.swapaxes(1, 2), Y.sum(0)),
    "psum_scatter tiled": (lambda x: lax.psum_scatter(x, "i", tiled=True), Z, Z.sum(0).reshape(N, 2, 3)),
    "psum_scatter in groups": (lambda x: lax.psum_scatter(x, "i", tiled=True, axis_index_groups=GROUPS), Z,
                               in_groups(lambda g, k: Z[g].sum(0)[k * N:(k + 1) * N])),
    "ppermute": (lambda x: lax.ppermute(x, "i", [(0, 1), (2, 0)]), X, np.stack([X[2], X[0], X[0] * 0, X[0] * 0])),
    "pshuffle": (lambda x: lax.pshuffle(x, "i", [1, 2, 3, 0]), X, X[[1, 2, 3, 0]]),
    "pbroadcast": (lambda x: lax.pbroadcast(x, "i", 2), X, everywhere(X[2])),
    "all_to_all 0 0": (lambda x: lax.all_to_all(x, "i", 0, 0), Y, Y.swapaxes(0, 1)),
    "all_to_all 0 1": (lambda x: lax.all_to_all(x, "i", 0, 1), Y, Y.transpose(1, 2, 0)),
    "all_to_all 1 0": (lambda x: lax.all_to_all(x, "i", 1, 0), Y.swapaxes(1, 2), Y.swapaxes(0, 1)),
    "all_to_all tiled": (lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True), Z, dealt(Z, N).reshape(N, 2 * N, 3)),
    "all_to_all tiled 0 1": (lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True), Z,
                             dealt(Z, N).swapaxes(1, 2).reshape(N, 2, N * 3)),
    "all_to_all in groups": (lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True, axis_index_groups=GROUPS), Z,
                             in_groups(lambda g, k: np.concatenate([Z[j][k * N:(k + 1) * N] for j in g]))),
    "pswapaxes": (lambda x: lax.pswapaxes(x, "i", 0), Y, Y.swapaxes(0, 1)),
    "pvary": (lambda x: lax.pvary(x, "i"), X, X),
}


@pytest.mark.parametrize("case", CASES)
def test_each_collective_is_what_it_is_defined_as(case):
    f, x, expected = CASES[case]
    np.testing.assert_allclose(vmap(f, axis_name="i")(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jit(vmap(jit(f), axis_name="i"))(x), expected, rtol=1e-6)


@pytest.mark.parametrize("name, weak", {"psum": False, "pmean": False, "pmax": False, "pmin": False, "all_gather": True, "psum_scatter": True, "pswapaxes": False}.items())
def test_what_is_reduced_over_positions_is_strong(name, weak):
    call = {"pswapaxes": lambda x: lax.pswapaxes(x, "i", 0)}.get(name, lambda x: getattr(lax, name)(x, "i"))
    out = vmap(call, axis_name="i")(lax.full((2, 2), 0.5))
    assert (out.dtype, out.weak_type) == (np.float32, weak)


@pytest.mark.parametrize("case", [c for c in CASES if "max" not in c and "min" not in c and c != "axis_index"])
def test_each_linear_collective_transposes(case):
    """The cotangent of the whole batch is that of the linear map as a matrix, whichever side of vmap is differentiated."""
    f, x, _ = CASES[case]
    weights = np.linspace(-1, 1, np.size(vmap(f, axis_name="i")(x)), dtype=np.float32).reshape(
        np.shape(vmap(f, axis_name="i")(x)))
    total = lambda x: lax.reduce_sum(lax.mul(vmap(f, axis_name="i")(x), weights), tuple(range(weights.ndim)))
    direction = np.random.RandomState(0).normal(size=x.shape).astype(np.float32)
    slope = jvp(total, (x,), (direction,))[1]
    np.testing.assert_allclose(np.vdot(np.asarray(grad(total)(x)), direction), slope, rtol=1e-3, atol=1e-3)
    inside = vmap(lambda x, w: grad(lambda x: lax.reduce_sum(lax.mul(f(x), w), tuple(range(w.ndim))))(x), axis_name="i")
    np.testing.assert_allclose(inside(x, weights), grad(total)(x), rtol=1e-4, atol=1e-4)


def test_sizes_are_python_numbers():
    sizes = []
    vmap(lambda x: (sizes.append((lax.psum(1, "i"), lax.axis_size("i"), lax.psum(2.5, "i"), lax.pmean(3, "i"))), x)[1],
         axis_name="i")(X)
    assert sizes == [(4, 4, 10.0, 3.0)] and type(sizes[0][0]) is int


def test_nested_axes():
    nest = lambda f: np.asarray(vmap(vmap(f, axis_name="j"), axis_name="i")(X))
    np.testing.assert_array_equal(nest(lambda x: lax.psum(x, ("i", "j"))), np.full((4, 3), X.sum()))
    np.testing.assert_array_equal(nest(lambda x: lax.psum(x, "i")), everywhere(X.sum(0)))
    np.testing.assert_array_equal(nest(lambda x: lax.psum(x, "j")), np.repeat(X.sum(1)[:, None], 3, 1))
    np.testing.assert_array_equal(nest(lambda x: lax.axis_index(("i", "j"))), np.arange(12).reshape(4, 3))
    np.testing.assert_array_equal(nest(lambda x: lax.axis_index(("j", "i"))), np.arange(12).reshape(3, 4).T)
    np.testing.assert_array_equal(nest(lambda x: lax.all_gather(x, ("i", "j")))[0, 0], X.reshape(-1))
    np.testing.assert_array_equal(nest(lambda x: lax.all_gather(x, ("j", "i")))[0, 0], X.T.reshape(-1))


@pytest.mark.parametrize("f", [lax.psum, lax.pmax, lax.all_gather, lax.psum_scatter, lambda x, name: lax.all_gather(x, name, tiled=True)])
def test_over_no_axes_a_value_is_its_own_result(f):
    for x in (X, X > 2):
        found = jit(lambda x: f(x, ()))(x)
        np.testing.assert_array_equal(found, x)
        assert found.dtype == x.dtype


def test_an_operand_without_the_axis_counts_once_for_each_position():
    w = np.float32(2)
    np.testing.assert_array_equal(vmap(lambda x: lax.psum(w, "i"), axis_name="i")(X), np.full(4, 8))
    np.testing.assert_array_equal(vmap(lambda x: lax.pmax(w, "i"), axis_name="i")(X), np.full(4, 2))
    np.testing.assert_array_equal(vmap(lambda x: lax.all_gather(w, "i"), axis_name="i")(X), np.full((4, 4), 2))


def test_a_jitted_function_is_traced_for_each_size_of_the_axis():
    f = jit(lambda x: lax.add(np.int32(lax.psum(1, "i")), lax.mul(x, np.int32(0))))
    assert vmap(f, axis_name="i")(np.zeros(3, np.int32)).tolist() == [3, 3, 3]
    assert vmap(f, axis_name="i")(np.zeros(2, np.int32)).tolist() == [2, 2]


def test_ragged_all_to_all():
    operand = np.arange(12, dtype=np.float32).reshape(2, 6)
    output = np.full((2, 6), -1, np.float32)
    starts, counts = np.array([[0, 2], [0, 1]]), np.array([[2, 3], [1, 4]])
    places, received = np.array([[0, 0], [2, 3]]), np.array([[2, 1], [3, 4]])
    out = vmap(lambda *a: lax.ragged_all_to_all(*a, axis_name="i"), axis_name="i")(
        operand, output, starts, counts, places, received)
    np.testing.assert_array_equal(out, [[0, 1, 6, -1, -1, -1], [2, 3, 4, 7, 8, 9]])


@pytest.mark.parametrize("call", [
    lambda: lax.psum(X, "k"), lambda: lax.axis_index("k"), lambda: lax.all_gather(X, "k"), lambda: lax.axis_size("k"),
    lambda: lax.ppermute(X, "k", []), lambda: lax.all_to_all(X, ("k",), 0, 0), lambda: jit(lambda x: lax.pmax(x, "k"))(X),
    lambda: make_jaxpr(lambda x: lax.pmean(x, "k"))(X), lambda: vmap(lambda x: lax.psum(x, "k"), axis_name="i")(X),
])
def test_an_axis_that_is_not_in_scope_is_a_name_error(call):
    with pytest.raises(NameError, match="unbound axis name: k"):
        call()


@pytest.mark.parametrize("f, text", [
    (lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1]]), "must cover the indices 0 to 3"),
    (lambda x: lax.psum(x, "i", axis_index_groups=[[0], [1, 2, 3]]), "must be of one size"),
    (lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]), "each source at most once"),
    (lambda x: lax.ppermute(x, "i", [(0, 9)]), r"each destination at most once, in \[0, 4\)"),
    (lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]), "does not represent a permutation"),
    (lambda x: lax.all_to_all(x, "i", 0, 0), r"axis 0 of an operand of shape \(3,\) must have the length 4"),
    (lambda x: lax.psum_scatter(x, "i", tiled=True), "must have a multiple of the length 4"),
    (lambda x: lax.all_gather(x, "i", axis=5), "axis 5 does not exist"),
    (lambda x: lax.pbroadcast(x, "i", 4), r"source 4 must lie in \[0, 4\)"),
])
def test_bad_arguments(f, text):
    with pytest.raises(ValueError, match=text):
        vmap(f, axis_name="i")(X)


def test_groups_of_devices():
    env = AxisEnv(("a", "b"), (2, 3))
    assert env.groups(("b",)) == [[0, 1, 2], [3, 4, 5]]
    assert env.groups(("a",)) == [[0, 3], [1, 4], [2, 5]]
    assert env.groups(("b", "a")) == [[0, 3, 1, 4, 2, 5]]
    assert env.groups(("b",), [[0], [1], [2]]) == [[0], [1], [2], [3], [4], [5]]


def test_an_axis_of_no_mesh_cannot_be_lowered():
    before = context.state.axes
    context.state.axes = (("i", AxisData("i", 2)),)
    try:
        with pytest.raises(NameError, match="unbound axis name: i"):
            jit(lambda x: lax.psum(x, "i"))(X)
    finally:
        context.state.axes = before
