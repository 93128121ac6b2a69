"""Laws of control flow under transformations: random nests agree with the same program as Python loops.

A random program is a nest of scans, loops, conditionals, `map`, `jit`, `checkpoint` and custom rules over a vector of
three floats. With ``disable_jit`` it runs as plain Python, so every derivative of the compiled program has an independent
counterpart: that of the unrolled one.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.programs.tracing import make_jaxpr
from jax_core.transformations.autodiff import grad, jvp, linearize, vjp
from jax_core.transformations.checkpoint import checkpoint
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

pytestmark = pytest.mark.any_code

f32 = np.float32
N = 3
ROWS = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, N)
POINT = np.array([0.3, -0.7, 0.5], np.float32)
DIRECTION = np.array([1.0, 0.25, -0.5], np.float32)

# -- leaves: smooth functions whose values stay small ----------------------------------------------------------------

LEAVES = {
    "sin": lax.sin,
    "tanh of a multiple": lambda x: lax.tanh(lax.mul(x, f32(1.3))),
    "square": lambda x: lax.mul(f32(0.5), lax.mul(x, x)),
    "shift": lambda x: lax.mul(f32(0.5), lax.add(x, DIRECTION)),
    "roll": lambda x: lax.concatenate([x[1:] if isinstance(x, np.ndarray) else lax.slice(x, (1,), (N,)),
                                       lax.slice(x, (0,), (1,))], 0),
    "mean": lambda x: lax.broadcast_in_dim(lax.mul(lax.reduce_sum(x, (0,)), f32(1 / N)), (N,), ()),
}


@custom_jvp
def soft(x):
    return lax.tanh(x)


@soft.defjvp
def soft_jvp(primals, tangents):
    # a joint derivative of a nest of its own, under jit
    return jit(lambda x, t: jvp(lambda x: loop_of(lax.tanh, 1)(x), (x,), (t,)))(primals[0], tangents[0])


@custom_vjp
def halved(x):
    return lax.mul(x, f32(0.5))


halved.defvjp(lambda x: (lax.mul(x, f32(0.5)), ()), lambda _, ct: (lax.mul(ct, f32(0.5)),))


# -- combinators -----------------------------------------------------------------------------------------------------

def scan_of(f, n, reverse=False):
    def run(x):
        def body(c, row):
            c = f(lax.add(lax.mul(c, f32(0.5)), row))
            return c, lax.mul(c, x)
        c, ys = lax.scan(body, x, ROWS[:n], reverse=reverse)
        return lax.tanh(lax.add(c, lax.reduce_sum(ys, (0,))))
    return run


def scan_over_input(f, _):
    """The input is what is scanned over; one carry is an integer, one does not change."""
    def run(x):
        def body(carry, v):
            i, fixed, c = carry
            w = lax.mul(f(lax.broadcast_in_dim(v, (N,), ())), fixed)
            return (lax.add(i, 1), fixed, lax.add(c, lax.reduce_sum(w, (0,)))), lax.mul(v, c)
        (i, _, c), ys = lax.scan(body, (0, lax.sin(x), f32(0)), x)
        return lax.add(ys, lax.mul(lax.broadcast_in_dim(c, (N,), ()), f32(0.1)))
    return run


def loop_of(f, n):
    return lambda x: lax.fori_loop(0, n, lambda i, c: f(lax.mul(c, lax.div(f32(1), lax.add(
        lax.convert_element_type(i, f32), f32(1))))), x)


def bounded_while(f, n):
    return lambda x: lax.while_loop(lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), f(c[1])), (0, x),
                                    max_steps=n + 2)[1]


def plain_while(f, n):
    return lambda x: lax.while_loop(lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), f(c[1])), (0, x))[1]


def cond_of(f, g):
    return lambda x: lax.cond(lax.gt(lax.reduce_sum(x, (0,)), f32(0)), f, lambda x: g(lax.mul(x, f32(0.7))), x)


def switch_of(f, g):
    def run(x):
        index = lax.convert_element_type(lax.mul(lax.reduce_sum(x, (0,)), f32(3)), np.int32)
        return lax.switch(index, [f, g, lambda x: x], x)
    return run


def chain(f, g):
    return lambda x: g(f(x))


def mapped(f, _):
    return lambda x: lax.reduce_sum(lax.map(lambda row: f(lax.mul(row, x)), ROWS), (0,))


UNARY = {
    "scan": lambda f: scan_of(f, 3), "scan back": lambda f: scan_of(f, 4, True), "scan x": lambda f: scan_over_input(f, 0),
    "fori": lambda f: loop_of(f, 3), "max_steps": lambda f: bounded_while(f, 3), "map": lambda f: mapped(f, 0),
    "jit": jit, "checkpoint": checkpoint, "custom_jvp": lambda f: chain(f, soft),
}
BINARY = {"cond": cond_of, "switch": switch_of, "chain": chain}
FORWARD_ONLY = {"while": lambda f: plain_while(f, 3)}
REVERSE_ONLY = {"custom_vjp": lambda f: chain(f, halved)}


def programs(unary, depth=3):
    """Nested tuples that describe a program."""
    leaf = st.sampled_from(sorted(LEAVES))
    return st.recursive(leaf, lambda p: st.one_of(
        st.tuples(st.sampled_from(sorted(unary)), p), st.tuples(st.sampled_from(sorted(BINARY)), p, p)), max_leaves=depth)


def build(program):
    if isinstance(program, str):
        return LEAVES[program]
    name, *parts = program
    parts = [build(p) for p in parts]
    return {**UNARY, **FORWARD_ONLY, **REVERSE_ONLY, **BINARY}[name](*parts)


def close(a, b, tolerance=2e-4):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


def unrolled(f):
    """``f`` as a Python loop."""
    def run(*args):
        with flags.disable_jit(True):
            return f(*args)
    return run


def scalar(f):
    return lambda x: lax.reduce_sum(lax.mul(f(x), DIRECTION), (0,))


SETTINGS = settings(max_examples=8, deadline=None, derandomize=True,
                    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
SINGLES = [(u, "sin") for u in UNARY] + [(b, "sin", "square") for b in BINARY]
PAIRS = [("scan", ("fori", "shift")), ("scan x", ("custom_jvp", "shift")), ("fori", ("max_steps", "shift")),
         ("max_steps", ("scan", "shift")), ("checkpoint", ("max_steps", "shift")), ("custom_jvp", ("scan", "shift")),
         ("scan", ("cond", "sin", ("scan", "square"))), ("max_steps", ("cond", "sin", ("scan", "square"))),
         ("cond", ("scan", "sin"), ("checkpoint", ("fori", "square"))), ("switch", ("scan x", "sin"), ("cond", "sin", "shift"))]



def check_value(program):
    f = build(program)
    expected = unrolled(f)(POINT)
    close(f(POINT), expected)
    close(jit(f)(POINT), expected)


def check_forward(program):
    f = build(program)
    expected, slope = unrolled(lambda x: jvp(f, (x,), (DIRECTION,)))(POINT)
    for run in (lambda f: f, jit):
        out, tangent = run(lambda x: jvp(f, (x,), (DIRECTION,)))(POINT)
        close(out, expected)
        close(tangent, slope)
    out, linear = linearize(f, POINT)
    close(out, expected)
    close(linear(DIRECTION), slope)


def check_reverse(program):
    f = scalar(build(program))
    expected = unrolled(grad(f))(POINT)
    with flags.enable_checks(True):
        close(grad(f)(POINT), expected)
    close(jit(grad(f))(POINT), expected)
    if "custom_vjp" in str(program):
        return  # forward mode refuses
    slope = jvp(f, (POINT,), (DIRECTION,))[1]
    close(np.vdot(np.asarray(expected), DIRECTION), slope)


def check_second_order(program):
    f = scalar(build(program))
    along = lambda x: lax.reduce_sum(lax.mul(grad(f)(x), DIRECTION), (0,))
    expected = unrolled(grad(along))(POINT)
    close(jit(grad(along))(POINT), expected, 2e-3)
    close(grad(lambda x: jvp(f, (x,), (DIRECTION,))[1])(POINT), expected, 2e-3)
    close(jvp(grad(f), (POINT,), (DIRECTION,))[1], expected, 2e-3)


def check_vmap(program):
    f = build(program)
    xs = np.stack([POINT, -POINT, DIRECTION, 2 * POINT])
    close(vmap(f)(xs), np.stack([np.asarray(jit(f)(x)) for x in xs]))
    close(jit(vmap(f, in_axes=1, out_axes=1))(xs.T), np.asarray(vmap(f)(xs)).T)
    close(vmap(lambda x: jvp(f, (x,), (DIRECTION,))[1])(xs),
          np.stack([np.asarray(jvp(f, (x,), (DIRECTION,))[1]) for x in xs]))


def check_vmap_of_grad(program):
    f = scalar(build(program))
    xs = np.stack([POINT, -POINT, DIRECTION, 2 * POINT])
    expected = np.stack([np.asarray(grad(f)(x)) for x in xs])
    close(vmap(grad(f))(xs), expected)
    close(grad(lambda xs: lax.reduce_sum(vmap(f)(xs), (0,)))(xs), expected)
    close(jit(grad(lambda xs: lax.reduce_sum(vmap(checkpoint(f))(xs), (0,))))(xs), expected)


def check_jacobians(program):
    f = build(program)
    basis = np.eye(N, dtype=np.float32)
    columns = vmap(lambda t: jvp(f, (POINT,), (t,))[1])(basis)
    rows = vmap(lambda t: vjp(f, POINT)[1](t)[0])(basis)
    close(np.asarray(columns).T, rows)
    pull = vjp(f, POINT)[1]
    close(vmap(lambda t: pull(t)[0])(basis), rows)
    h = np.asarray(vmap(lambda t: jvp(grad(scalar(f)), (POINT,), (t,))[1])(basis))
    close(h, h.T, 2e-3)


CHECKS = [check_value, check_forward, check_reverse, check_second_order, check_vmap, check_vmap_of_grad, check_jacobians]


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__.removeprefix("check_"))
@pytest.mark.parametrize("program", SINGLES, ids=lambda p: p[0])
def test_each_construct(program, check):
    check(program)


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__.removeprefix("check_"))
@pytest.mark.parametrize("program", PAIRS, ids=str)
def test_nests_of_two(program, check):
    check(program)


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__.removeprefix("check_"))
def test_random_nests(check):
    @SETTINGS
    @given(programs(UNARY))
    def run(program):
        check(program)
    run()


@pytest.mark.parametrize("check", [check_value, check_forward, check_vmap], ids=lambda c: c.__name__.removeprefix("check_"))
@pytest.mark.parametrize("program", [
    ("while", "sin"), ("scan", ("while", "sin")), ("while", ("scan", "square")), ("cond", ("while", "sin"), "square"),
    ("jit", ("while", ("cond", "sin", "shift")))], ids=str)
def test_while_loops_in_forward_mode(program, check):
    check(program)


@pytest.mark.parametrize("check", [check_value, check_reverse, check_vmap_of_grad],
                         ids=lambda c: c.__name__.removeprefix("check_"))
@pytest.mark.parametrize("program", [("scan", ("custom_vjp", "sin")), ("cond", ("custom_vjp", "sin"), ("scan x", "square")),
                                     ("checkpoint", ("fori", ("custom_vjp", "sin")))], ids=str)
def test_custom_vjp_in_reverse_mode(program, check):
    check(program)


def test_linear_transpose_of_a_loop_with_a_counter():
    """The counter does not depend on the linear input, so the loop is split before it is transposed."""
    from jax_core.transformations.autodiff import linear_transpose
    f = lambda x: lax.fori_loop(0, 3, lambda i, c: lax.mul(c, lax.add(lax.convert_element_type(i, f32), f32(1))), x)
    ct, = linear_transpose(f, POINT)(DIRECTION)
    close(ct, 6 * DIRECTION)


def test_a_batched_condition_runs_until_no_lane_is_live():
    f = lambda n: lax.while_loop(lambda c: lax.lt(c[0], n), lambda c: (lax.add(c[0], 1), lax.mul(c[1], 2)), (0, 1))
    n = np.array([0, 3, 1, 5], np.int32)
    steps, powers = vmap(f)(n)
    np.testing.assert_array_equal(steps, n)
    np.testing.assert_array_equal(powers, 2**n)
    text = str(make_jaxpr(vmap(f, in_axes=None, axis_size=4))(3))
    assert "reduce_or" not in text


def test_while_body_with_a_batched_constant_only():
    f = lambda w: lax.while_loop(lambda c: lax.lt(c[0], 3), lambda c: (lax.add(c[0], 1), lax.mul(c[1], w)), (0, f32(1)))[1]
    close(vmap(f)(POINT), POINT**3)
    assert "reduce_or" not in str(make_jaxpr(vmap(f))(POINT))


def test_vjp_with_respect_to_everything_at_once():
    def f(init, xs, w):
        def body(c, x):
            c = lax.tanh(lax.add(lax.dot(w, c), x))
            return c, (c, lax.reduce_sum(c, (0,)))
        return lax.scan(body, init, xs)
    w = np.random.RandomState(0).normal(size=(N, N)).astype(np.float32)
    args = POINT, ROWS, w
    out, pull = vjp(f, *args)
    with flags.disable_jit(True):
        out2, pull2 = vjp(f, *args)
        expected = pull2((DIRECTION, (ROWS, np.arange(4, dtype=np.float32))))
    got = pull((DIRECTION, (ROWS, np.arange(4, dtype=np.float32))))
    for a, b in zip(got, expected):
        close(a, b)
    got = pull((DIRECTION, (ROWS * 0, np.zeros(4, np.float32))))
    assert got[1].shape == ROWS.shape
