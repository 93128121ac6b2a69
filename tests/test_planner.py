"""The fusion planner changes where values are kept, never what is computed: programs with and without it agree."""
import re

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental import io_callback
from jax.experimental.serialize_executable import deserialize_and_load, serialize
from jax.sharding import NamedSharding, PartitionSpec
from jax_xla_backend.jaxlib_compat import SUMS_OF_FUNCTIONS

pytestmark = pytest.mark.only_cpu

X = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def chain(x):
    for i in range(6):
        x = jnp.where(x > 0.1 * i, jnp.clip(x, -1, 1) ** 2, x * 0.5) + jnp.mean(x)
    return x


def layers(x):
    for _ in range(3):
        x = x + jnp.tanh(norm(x) @ (X / 8))
    return x


@jax.jit
def inner(x):
    y = jnp.exp(-jnp.square(x)) * jnp.tanh(x)
    return y, y / (1 + jnp.abs(y))


def calls(x):
    y, z = inner(x)
    return y.sum(0) + z.max(0) + inner(y * z)[0].mean(0)


def loop(x):
    def body(carry, w):
        h = jnp.tanh(norm(carry) * w)
        return carry + h - h.mean(), h.sum()
    return jax.lax.scan(body, x, jnp.linspace(0.5, 1.5, 5))


def branches(x):
    return jax.lax.cond(x[0, 0] > 0, lambda x: jax.nn.softmax(norm(x)) + norm(x), lambda x: chain(x), x)


def remat(x):
    for _ in range(3):
        x = jax.checkpoint(lambda x: x + jnp.sin(norm(x)))(x)
    return x


@jax.custom_jvp
def bump(x):
    return jnp.exp(-jnp.square(x))


bump.defjvp(lambda xs, ts: (bump(xs[0]), -2 * xs[0] * bump(xs[0]) * ts[0]))


def custom(x):
    y = bump(x)
    return y / y.sum() + bump(y)


def adam(x):
    m, v = 0.9 * x, 0.99 * x * x
    m, v = m + 0.1 * jnp.cos(x), v + 0.01 * jnp.cos(x) ** 2
    return x - m / (jnp.sqrt(v) + 1e-8), m, v


def blur(x):
    for axis in (0, 1, 0, 1):
        padded = jnp.pad(x, [(2, 2) if k == axis else (0, 0) for k in range(2)], "edge")
        x = sum(c * jax.lax.slice_in_dim(padded, k, k + x.shape[axis], axis=axis) for k, c in enumerate((1, 4, 6, 4, 1))) / 16
    return x


def runge_kutta(x):
    """Two steps of a predator and its prey, by Heun's method."""
    rate = lambda u, v: (u * (1.1 - 0.4 * v), v * (0.1 * u - 0.4))
    u, v = x, x + 1
    for _ in range(2):
        a, b = rate(u, v)
        c, d = rate(u + 0.1 * a, v + 0.1 * b)
        u, v = u + 0.05 * (a + c), v + 0.05 * (b + d)
    return u, v


PROGRAMS = [chain, layers, calls, loop, branches, remat, custom, adam, blur, runge_kutta]


def total(program):
    return lambda x: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(program(x)))


def with_and_without(program, *args, **options):
    off = jax.jit(lambda *a: program(*a), compiler_options={"jax_fusion_planner": "off"}, **options)
    on = jax.jit(lambda *a: program(*a), compiler_options={"jax_fusion_planner": "on"}, **options)
    return on, off, on(*args), off(*args)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("transformed", [lambda f: f, lambda f: jax.value_and_grad(total(f)),
                                         lambda f: jax.vmap(f), lambda f: jax.vmap(jax.grad(total(f)))],
                         ids=["plain", "grad", "vmap", "vmap of grad"])
def test_same_results(program, transformed):
    function = transformed(program)
    x = X if program is None or "vmap" not in str(transformed.__code__.co_names) else np.stack([X, 2 * X])
    on, off, a, b = with_and_without(function, x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=3e-4, atol=3e-5), a, b)
    left = set(re.findall('planner: ([^"]*)"', off.lower(x).as_text()))
    assert left <= {"its elements are compared with one of them"}  # without which results would not be the same


@pytest.mark.parametrize("program", [chain, layers, loop, remat, custom])
def test_gradients_are_planned(program):
    text = jax.jit(jax.grad(total(program))).lower(X).as_text()
    assert "planner: " in text and "kernels need it" in text


@pytest.mark.parametrize("stretch, cuts", [
    (lambda x, y: x[:, None] * y, 1), (lambda x, y: jnp.broadcast_to(x[:, None, :] * 2, (64, 32, 64)), 1), (lambda x, y: x.reshape(64, 1, 64) * y, 1),
    (lambda x, y: x[:, None] + x[None], 1), (lambda x, y: jnp.stack([x * i for i in range(8)]), 0), (lambda x, y: jnp.pad(x, 64), 0), (lambda x, y: x[:, None, :] * y[:, :1], 0), (lambda x, y: x.sum() * y, 0)],
    ids=["product", "broadcast", "reshaped", "two ways", "put together", "padded", "as large", "a number"])
def test_long_formulas_are_computed_once_for_each_element_that_is_stretched(stretch, cuts):
    """As rotary embeddings are, of each head."""
    x, y = X[:64, :64], np.ones((64, 32, 64), np.float32)
    on, off, a, b = with_and_without(lambda x, y: stretch(jnp.cos(x), y[:, :1] if cuts == 0 else y[:, :64]), x, y)
    assert on.lower(x, y).as_text().count("elements would each compute") == cuts
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_slices_are_counted():
    """One kernel that takes five slices of a blurred image would blur it five times."""
    text = jax.jit(blur).lower(X).as_text()
    assert text.count("kernels or slices need it") >= 3
    few = jax.jit(lambda x: blur(x)[:20]).lower(X).as_text()  # what is a small part of it is not one more reader
    assert few.count("optimization_barrier") == text.count("optimization_barrier")


@pytest.mark.parametrize("value, cuts", [
    (lambda k, x: jax.random.uniform(k, x.shape), 1), (lambda k, x: jax.random.bits(k, x.shape), 1), (lambda k, x: jnp.logaddexp(x, 1.0), 1),
    (lambda k, x: jax.jit(lambda k: jax.random.uniform(k, x.shape))(k), 1), (lambda k, x: x * 2 + 1, 0), (lambda k, x: jnp.logaddexp(x, 1.0)[:2], 0)],
    ids=["draw", "bits", "long", "called", "short", "one slice"])
def test_code_is_not_written_for_each_small_slice(value, cuts):
    """A picture put together from rows of one array: XLA would write the random generator once for each row."""
    def picture(key, x):
        rows = value(key, x)
        return jnp.concatenate([row[::-1] for row in rows])
    text = jax.jit(picture).lower(jax.random.PRNGKey(0), X).as_text()
    assert text.count("slices of it would each be code") == cuts
    off = jax.jit(picture, compiler_options={"jax_fusion_planner": "off"})(jax.random.PRNGKey(0), X)
    np.testing.assert_allclose(jax.jit(picture)(jax.random.PRNGKey(0), X), off, rtol=1e-6)


@pytest.mark.parametrize("rows, columns", [(32, 64), (8, 16)])
def test_a_deep_stack_of_small_layers_is_cut_once_a_layer(rows, columns):
    """Else each layer's kernels would add up all layers below: compile time would grow with the square of the depth."""
    w = X[:columns, :columns] / 8

    def stack(x, depth):
        for _ in range(depth):
            x = x + jnp.tanh(norm(x) @ w)
        return x.sum()
    x = X.reshape(-1)[:rows * columns].reshape(rows, columns)
    gradient = jax.jit(jax.value_and_grad(stack), static_argnums=1)
    cuts = [gradient.lower(x, depth).as_text().count("optimization_barrier") for depth in (20, 40)]
    assert 15 <= cuts[0] and cuts[0] + 15 <= cuts[1] <= 2 * cuts[0] + 5
    steps = jax.jit(lambda x: jax.lax.fori_loop(0, 2, lambda _, x: x + stack(x, 20), x))
    assert "optimization_barrier" not in steps.lower(x).as_text()  # a loop over so little is one function, which has none
    np.testing.assert_allclose(gradient(x, 20)[0], stack(jnp.asarray(x), 20), rtol=1e-4)


def test_short_arithmetic_is_computed_again():
    """A few additions and multiplications of arrays in a cache cost less than a kernel, and many do not."""
    def repeated(n):
        def fun(x):
            u, v = x, x + 1
            for _ in range(n):
                u, v = u + 0.01 * u * v, v - 0.01 * u * v
            return jnp.sum(u * v), jnp.sum(u - v), u, v
        return jax.jit(fun).lower(X).as_text().count("optimization_barrier")
    assert repeated(2) == 0 and 0 < repeated(40) < 30


@pytest.mark.parametrize("rate", [lambda x, y, z: (10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z),
                                  lambda v, w, t: (v - v ** 3 / 3 - w + 0.5, 0.08 * (v + 0.7 - 0.8 * w), 1 + 0 * t)],
                         ids=["Lorenz", "FitzHugh and Nagumo"])
def test_a_step_of_runge_kutta_is_not_cut(rate):
    """It has some fifty cheap operations, and memory is slower than them, however large the arrays."""
    def step(_, s):
        moved = lambda s, k, h: tuple(a + h * b for a, b in zip(s, k))
        a = rate(*s)
        b = rate(*moved(s, a, 0.005))
        c = rate(*moved(s, b, 0.005))
        d = rate(*moved(s, c, 0.01))
        return tuple(x + 0.01 / 6 * (p + 2 * q + 2 * r + t) for x, p, q, r, t in zip(s, a, b, c, d))
    for size in (1 << 14, 1 << 22):
        lowered = jax.jit(lambda s: jax.lax.fori_loop(0, 9, step, s)).lower((jax.ShapeDtypeStruct((size,), np.float32),) * 3)
        assert lowered.as_text().count("optimization_barrier") <= 1


def test_configuration_switches_it():
    fun = jax.grad(total(chain))
    jax.config.update("jax_fusion_planner", "off")
    try:
        assert "planner:" not in jax.jit(lambda x: fun(x)).lower(X).as_text()
    finally:
        jax.config.update("jax_fusion_planner", "on")
    lowered = jax.jit(lambda x: fun(x)).lower(X)
    assert "planner:" in lowered.as_text()
    off = lowered.compile({"jax_fusion_planner": "off"})  # also after lowering
    assert "planner:" not in off.as_text()
    np.testing.assert_allclose(off(X), lowered.compile()(X), rtol=1e-4, atol=1e-5)


def test_plan_is_linear_in_the_program():
    """The cuts of a program twice as long are about twice as many, at the same places of each layer."""
    def deep(n):
        def fun(x):
            for _ in range(n):
                x = jnp.tanh(x * 1.1) + jnp.mean(jnp.exp(x))
            return x
        return jax.jit(fun).lower(X).as_text().count("optimization_barrier")
    ten, twenty, forty = deep(10), deep(20), deep(40)
    assert ten >= 8 and forty - twenty == 2 * (twenty - ten)


def test_donation_and_effects_stay():
    seen = []

    def fun(x):
        y = jnp.tanh(x) * jnp.exp(x)
        io_callback(lambda m: seen.append(float(m)), None, y.mean(), ordered=True)
        return y / y.sum(), y
    on, off, a, b = with_and_without(fun, X)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), a, b)
    jax.effects_barrier()
    assert len(seen) == 2 and abs(seen[0] - seen[1]) < 1e-6
    x = jnp.asarray(X)
    jax.jit(lambda x: (jnp.tanh(x), jnp.tanh(x).sum()), donate_argnums=0)(x)
    assert x.is_deleted()


def test_on_several_devices():
    if len(jax.devices()) < 2:
        pytest.skip("needs several devices (the test session makes eight of the CPU)")
    mesh = jax.make_mesh((2,), ("rows",), devices=jax.devices()[:2])
    x = jax.device_put(X, NamedSharding(mesh, PartitionSpec("rows")))
    fun = jax.jit(jax.grad(total(layers)))
    np.testing.assert_allclose(fun(x), fun(X), rtol=1e-3, atol=1e-4)
    assert fun(x).sharding.is_equivalent_to(x.sharding, 2)


def test_barriers_of_the_user_in_small_loops():
    """Where jaxlib has no code for a barrier in a loop that it makes one function of, the program compiles all the same."""
    def fun(x, y):
        small = jax.lax.scan(lambda c, _: (jax.checkpoint(jnp.sin)(c) * 1.1, None), y, None, 4)[0]
        return total(chain)(x) + small.sum()
    on, off, a, b = with_and_without(jax.grad(fun, (0, 1)), X, X[0])
    assert "planner:" in on.lower(X, X[0]).as_text()
    loaded = deserialize_and_load(*serialize(on.lower(X, X[0]).compile()))  # compiles anew
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b), loaded(X, X[0]), a)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=3e-4, atol=3e-5), a, b)


@pytest.mark.parametrize("draw, cuts", [
    (lambda k, x: jax.random.exponential(k, x.shape), 1), (lambda k, x: jax.random.normal(k, x.shape), 1), (lambda k, x: jax.random.laplace(k, x.shape), 1),
    (lambda k, x: jnp.sqrt(jax.random.uniform(k, x.shape)), 0), (lambda k, x: jnp.log(x * jax.random.uniform(k, x.shape)), 0),
    (lambda k, x: jax.random.exponential(k, (100,)), 0)], ids=["exponential", "normal", "shared", "cheap", "with others", "small"])
def test_costly_functions_of_draws_have_loops_of_their_own(draw, cuts):
    x = jnp.ones(16_384)
    text = jax.jit(draw).lower(jax.random.PRNGKey(0), x).as_text()
    assert text.count("stablehlo.optimization_barrier") == cuts == text.count("a costly function reads")
    off = jax.jit(draw, compiler_options={"jax_fusion_planner": "off"})(jax.random.PRNGKey(0), x)
    np.testing.assert_allclose(jax.jit(draw)(jax.random.PRNGKey(0), x), off, rtol=1e-6)


@pytest.mark.parametrize("value, cuts", [
    (lambda x: x * 2 + 1, 0), (jnp.exp, 1), (chain, 1), (lambda x: x[:, None] + x[:100], 0), (lambda x: jnp.exp(x[:200]), 0), (lambda x: jnp.exp(x).T[:30], 0)],
    ids=["short", "costly", "long", "pairs", "small", "few"])
def test_costly_or_long_code_is_not_written_for_each_piece_of_an_extremum(value, cuts):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(9000, 20)).astype(np.float32)).at[4000, 3].set(jnp.nan)
    x = x.reshape(1800, 100)
    for extremum in (jnp.max, jnp.min):
        f = lambda x: extremum(value(x), 0)
        assert jax.jit(f).lower(x).as_text().count("pieces would each be code") == cuts
        off = jax.jit(f, compiler_options={"jax_fusion_planner": "off"})(x)
        np.testing.assert_allclose(jax.jit(f)(x), off, rtol=1e-6)


@pytest.mark.parametrize("sums, cuts", [
    (lambda x: jnp.sum(x[1:] * x[:-1]), 1), (lambda x: jnp.sum(jnp.square(jnp.diff(x, axis=1)), 1), 1), (lambda x: jnp.sum(x * jnp.roll(x, 1, 0), 0), 1),
    (lambda x: jnp.sum(x * x), 0), (lambda x: jnp.sum(x[:100] * 2), 0), (lambda x: jnp.sum(jnp.stack([x, 2 * x])), 0),
    (lambda x: jnp.sum((x[1:] - x[:-1]).reshape(-1, 2), 1), 0), (lambda x: (lambda steps: (jnp.sum(steps), steps))(x[1:] - x[:-1]), 0),
    (lambda x: jnp.sum(x[1:100, :99] * x[:99, :99]), 0), (lambda x: jnp.sum(x[1:].astype(np.int32) * 2), 0)],
    ids=["all", "rows", "columns", "in place", "few", "put together", "pairs", "needed besides", "small", "integers"])
def test_sums_of_what_is_read_at_shifted_places_read_memory(sums, cuts):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(300, 200)).astype(np.float32))
    on, off, a, b = with_and_without(sums, x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-3), a, b)
    assert on.lower(x).as_text().count("read at shifted places") == cuts


def distances(x, features=8, centres=12, points=600):
    return jnp.square(x[:points, None, :features] - x[None, :centres, -features:]).sum(-1)


@pytest.mark.parametrize("program, cuts", [
    (lambda x: distances(x).argmin(1), 1), (lambda x: jnp.argmax(-jnp.sqrt(distances(x)), 1), 1), (lambda x: (lambda d: (d.argmin(1), d))(distances(x)), 1),
    (lambda x: jnp.exp(-distances(x)).sum(1), 0), (lambda x: jnp.exp(-distances(x, centres=8)).sum(1), 1), (lambda x: distances(x, 16).argmin(1), 0),
    (lambda x: distances(x, centres=40).argmin(1), 0), (lambda x: distances(x, points=300).argmin(1), 0), (lambda x: distances(x).min(1), 0),
    (lambda x: jnp.exp(-distances(x, centres=8)).T.sum(0), 0), (lambda x: jax.nn.softmax(x[:, :8]).argmax(1), 0), (lambda x: jax.lax.scan(lambda c, i: (c, distances(x + i).argmin(1)), 0, jnp.arange(2.0))[1], 1)],
    ids=["nearest", "of roots", "kept", "long sums", "short sums", "of long sums", "long", "small", "extremum", "sums of columns", "of softmax", "in a loop"])
def test_short_reductions_of_short_reductions_read_memory(program, cuts):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(600, 32)).astype(np.float32))
    on, off, a, b = with_and_without(program, x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), a, b)
    assert on.lower(x).as_text().count("another reduction along few elements") == cuts


@pytest.mark.parametrize("program, left", [
    (lambda x: jnp.sum(jnp.sin(x)), True), (lambda x: jnp.mean(jnp.sin(2 * x) * jnp.cos(x), 1), True), (lambda x: jnp.sum(jnp.sin(x[0] - x[0, :, None]), 1), False),
    (lambda x: jnp.sum(jnp.sin(x) ** 3, 0), True), (lambda x: jnp.sum(jnp.where(x > 0, jnp.sin(x), 0)), False),
    (lambda x: jnp.sum(jnp.sin(jnp.maximum(x, 0))), False), (lambda x: (lambda y: (jnp.sum(y), y))(jnp.sin(x)), False),
    (lambda x: (lambda y: jnp.sum(y) + jnp.mean(y, 0))(jnp.sin(x)), False), (lambda x: jnp.max(jnp.sin(x)), False), (lambda x: jnp.sum(jnp.sin(x[:6])), False),
    (lambda x: jnp.sum(jnp.sin(x.reshape(-1, 2)), 1), False), (lambda x: jnp.sum(jax.nn.softplus(x) * jnp.sin(x)), False),
    (lambda x: jax.jit(lambda y: jnp.sum(jnp.sin(y)))(jnp.maximum(x, 0)), False), (lambda x: jnp.sum(jnp.sin(jnp.abs(x + 1j))), False), (lambda x: jnp.sum(jnp.sin(x.astype(np.float16))), False),
    (lambda x: jax.lax.scan(lambda c, i: (c + jnp.sum(jnp.sin(i * x)), None), 0.0, jnp.arange(2.0))[0], False),
    (lambda x: jnp.sum(jnp.sin(x[jnp.arange(300) // 2])), False), (lambda x: jnp.sum(jnp.sin(jnp.sort(x))), False), (lambda x: jnp.sum(jnp.sin(x - x.mean())), True),
    (lambda x: jnp.sum(jnp.sin(jax.random.uniform(jax.random.key(0), x.shape))), False), (lambda x: jnp.sum(jnp.sin(x[1:])), False)],
    ids=["all", "rows", "sliced", "columns", "chosen", "clipped", "needed besides", "two sums", "maximum", "few", "pairs", "a call", "in a call", "of complex", "halves", "in a loop", "gathered", "sorted", "centred", "drawn", "shifted"])
def test_the_library_for_sums_has_functions_of_its_own(program, left):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(300, 200)).astype(np.float32))
    on, off, a, b = with_and_without(program, x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-3), a, b)
    written = "stablehlo.sine" in on.lower(x).as_text()
    assert written == (left and SUMS_OF_FUNCTIONS)
    if written:
        assert "stablehlo.sine" not in off.lower(x).as_text() and "ynn" in on.lower(x).compile().as_text()
