"""Random compositions of transformations of random programs agree with the program itself and with finite differences.

`test_control_flow_laws` nests control flow; here the transformations are what is composed, by the names of the public
API: a law is a list such as [vmap, jit, grad, checkpoint], applied from the inside out.
"""
import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

import jax
import jax.numpy as jnp
from jax import lax

N = 3
STEPS = {
    "sin": jnp.sin,
    "tanh": lambda x: jnp.tanh(1.3 * x),
    "square": lambda x: 0.5 * x * x,
    "matrix": lambda x: jnp.asarray(MATRIX) @ x,
    "softmax": jax.nn.softmax,
    "where": lambda x: jnp.where(x > 0.1, x, 0.3 * jnp.sin(x)),
    "sort": lambda x: jnp.sort(x) * jnp.arange(1.0, N + 1) / N,
    "index": lambda x: x.at[1].add(x[0] * x[2]),
    "cumsum": lambda x: jnp.cumsum(x) / N,
    "scan": lambda x: lax.scan(lambda c, r: (jnp.sin(c + r), c.sum()), x, jnp.ones((2, N)))[0],
    "cond": lambda x: lax.cond(x.sum() > 0.2, lambda x: jnp.cos(x), lambda x: x * 0.5, x),
    "norm": lambda x: x / jnp.sqrt(1.0 + jnp.sum(x * x)),
}
MATRIX = np.float32([[0.5, -0.2, 0.1], [0.3, 0.4, 0.0], [-0.1, 0.2, 0.6]])

SAME = {  # transformations that give a function of the same values
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "checkpoint with policy": lambda f: jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable),
    "vmap of one lane": lambda f: lambda x: jax.vmap(f)(x[None])[0],
    "vmap of three lanes": lambda f: lambda x: jax.vmap(f, in_axes=1, out_axes=1)(jnp.stack([x, x * 0.5, x + 1], 1))[:, 0],
    "scan of one step": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0],
    "rows of a scan": lambda f: lambda x: lax.scan(lambda c, r: (c, f(r)), 0.0, jnp.stack([x, x * 2]))[1][0],
    "map": lambda f: lambda x: lax.map(f, jnp.stack([x * 2, x]))[1],
    "fori": lambda f: lambda x: lax.fori_loop(0, 1, lambda i, c: f(c), x),
    "cond": lambda f: lambda x: lax.cond(jnp.sum(x * x) >= 0, f, lambda x: x * jnp.nan, x),
    "value of jvp": lambda f: lambda x: jax.jvp(f, (x,), (x,))[0],
    "value of vjp": lambda f: lambda x: jax.vjp(f, x)[0],
    "linearize": lambda f: lambda x: jax.linearize(f, x)[0],
    "jaxpr": lambda f: lambda x: jax.core.eval_jaxpr(*closed_parts(f, x), x)[0],
    "custom_vjp": lambda f: with_custom_vjp(f),
    "closure": lambda f: lambda x: jax.jit(lambda: f(x))(),
}


def closed_parts(f, x):
    closed = jax.make_jaxpr(f)(x)
    return closed.jaxpr, closed.consts


def with_custom_vjp(f):
    fun = jax.custom_vjp(f)
    fun.defvjp(lambda x: (f(x), x), lambda x, ct: jax.vjp(f, x)[1](ct))
    return fun


REVERSE_ONLY = {"custom_vjp"}
KEEPS_SHAPE = {"scan of one step", "fori", "cond"}  # what they wrap must return what it got
names = lambda table: st.lists(st.sampled_from(sorted(table)), min_size=1, max_size=3)
possible = names(SAME).filter(lambda wraps: not {"custom_vjp", "value of jvp"} <= set(wraps))  # it has no forward mode
points = st.lists(st.floats(-1, 1, width=32), min_size=N, max_size=N).map(np.float32)
SETTINGS = settings(max_examples=20, deadline=None, derandomize=True,
                    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def program(steps):
    def fun(x):
        for name in steps:
            x = STEPS[name](x)
        return x
    return fun


def transformed(fun, wraps):
    for name in wraps:
        fun = SAME[name](fun)
    return fun


def close(a, b, tolerance=2e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


@SETTINGS
@given(names(STEPS), possible, points)
def test_values_are_those_of_the_program(steps, wraps, x):
    close(transformed(program(steps), wraps)(x), program(steps)(x))


@SETTINGS
@given(names(STEPS), possible, possible, points)
def test_gradients_are_those_of_the_program(steps, inside, outside, x):
    total = lambda f: lambda x: jnp.sum(f(x) * jnp.arange(1.0, N + 1))
    want = jax.grad(total(program(steps)))(x)
    close(transformed(jax.grad(total(transformed(program(steps), inside))), outside)(x), want)


@SETTINGS
@given(names(STEPS), names({k: v for k, v in SAME.items() if k not in REVERSE_ONLY}),
       names({k: v for k, v in SAME.items() if k not in KEEPS_SHAPE}), points)
def test_modes_agree(steps, inside, outside, x):
    fun = transformed(program(steps), inside)
    rows, columns = transformed(jax.jacrev(fun), outside)(x), transformed(jax.jacfwd(fun), outside)(x)
    close(rows, columns)


@SETTINGS
@given(names({k: v for k, v in STEPS.items() if k not in ("where", "sort", "cond")}), possible, points)
def test_gradients_agree_with_finite_differences(steps, inside, x):
    fun = lambda x: jnp.sum(transformed(program(steps), inside)(x))
    with jax.enable_x64(True):
        x = x.astype(np.float64)
        gradient = jax.jit(jax.grad(fun))(x)
        for i in range(N):
            step = np.eye(N)[i] * 1e-5
            difference = (fun(x + step) - fun(x - step)) / 2e-5
            np.testing.assert_allclose(gradient[i], difference, rtol=1e-5, atol=1e-7)


def test_the_laws_catch_a_wrong_derivative():
    """A rule that is wrong by a thousandth fails them."""
    wrong = jax.custom_jvp(jnp.sin)
    wrong.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), 1.001 * jnp.cos(primals[0]) * tangents[0]))
    x = np.float32([0.3, -0.2, 0.9])
    for check in (lambda: close(jax.grad(lambda x: wrong(x).sum())(x), jax.grad(lambda x: jnp.sin(x).sum())(x)),):
        try:
            check()
        except AssertionError:
            continue
        raise AssertionError("not caught")


def test_derivatives_of_derivatives_mix_no_ranks():
    """The basis that a traced Jacobian computes is compared rank by rank, as authors of libraries run."""
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        assert jax.hessian(lambda x: x[:2] ** 2)(jnp.ones(64)).shape == (2, 64, 64)
