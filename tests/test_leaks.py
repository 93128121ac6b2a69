"""`jax.checking_leaks` in reverse mode: what outlives the differentiated function is found, and what a pullback keeps is none.

The other transformations are in `test_jit_and_debugging.py`.
"""
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.ode import odeint

pytestmark = pytest.mark.usefixtures("young_heap")
CARRIED = []

REVERSE = {
    "grad": lambda f: jax.grad(f)(1.0),
    "value_and_grad": lambda f: jax.value_and_grad(f)(1.0),
    "vjp": lambda f: jax.vjp(f, 1.0),
    "linearize": lambda f: jax.linearize(f, 1.0),
    "jacrev": lambda f: jax.jacrev(f)(1.0),
    "grad of grad": lambda f: jax.grad(jax.grad(f))(1.0),
    "hessian": lambda f: jax.hessian(f)(1.0),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f))(jnp.ones(3)),
    "jit of grad": lambda f: jax.jit(jax.grad(f))(1.0),
}


@pytest.mark.parametrize("name", REVERSE)
def test_a_tracer_that_outlives_the_function_is_found(name):
    def keep(x):
        CARRIED.append(x * 2)
        return x * x
    CARRIED.clear()
    REVERSE[name](keep)  # nothing is said outside the context
    CARRIED.clear()
    with jax.checking_leaks(), pytest.raises(Exception, match="Leaked trace .*1 tracer.*"):
        REVERSE[name](keep)
    CARRIED.clear()


def test_the_error_names_the_transformation_and_the_value():
    CARRIED.clear()
    with jax.checking_leaks(), pytest.raises(Exception, match=r"float32\[3\](.|\n)*by reverse-mode differentiation"):
        jax.vjp(lambda x: [CARRIED.append(x), jnp.sum(x)][1], jnp.ones(3))
    CARRIED.clear()


def test_a_function_without_differentiable_arguments_is_checked():
    with jax.checking_leaks():
        assert jax.vjp(lambda n: n + 1, 3)[0] == 4
        assert jax.vjp(lambda: 1.0)[0] == 1.0


@jax.custom_vjp
def scaled_sine(x, y):
    return jnp.sin(x) * y


scaled_sine.defvjp(lambda x, y: (jnp.sin(x) * y, (x, y)),
                   lambda r, g: (g * jnp.cos(r[0]) * r[1], g * jnp.sin(r[0])))


@jax.custom_jvp
def sine(x):
    return jnp.sin(x)


sine.defjvp(lambda p, t: (sine(p[0]), jnp.cos(p[0]) * t[0]))


def halving(x):
    return lax.custom_root(lambda y: y * y - x, x, lambda f, y0: lax.fori_loop(0, 5, lambda _, y: y - f(y) / (2 * y), y0),
                           lambda g, y: y / g(1.0))


CLEAN = {
    "arithmetic": lambda x: jnp.sin(x) * x,
    "jit": jax.jit(lambda x: jnp.sin(x) * x),
    "scan": lambda x: lax.scan(lambda c, _: (jnp.sin(c) * x, c), x, None, 3)[0],
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x, x),
    "bounded while_loop": lambda x: lax.while_loop(lambda c: c < 3, lambda c: c * 2 + x * x, x, max_steps=8),
    "cond": lambda x: lax.cond(x > 0, jnp.sin, lambda y: y * x, x),
    "custom_vjp": lambda x: scaled_sine(x, x * 2),
    "jit of custom_vjp": jax.jit(lambda x: scaled_sine(x, x * 2)),
    "custom_jvp": sine,
    "custom_gradient": lambda x: jax.custom_gradient(lambda y: (jnp.sin(y), lambda g: g * jnp.cos(y)))(x),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)) * x)(x),
    "grad": lambda x: jax.grad(lambda y: jnp.sin(y) * x * y)(x),
    "pullback": lambda x: jax.vjp(lambda y: jnp.sin(y) * x * y, x)[1](x)[0],
    "vmap": lambda x: jax.vmap(lambda y: jnp.sin(y) * x)(jnp.arange(3.0)).sum(),
    "custom_linear_solve": lambda x: jnp.linalg.solve(jnp.eye(2) * x, jnp.ones(2)).sum(),
    "custom_root": halving,
    "associative_scan": lambda x: lax.associative_scan(jnp.multiply, jnp.arange(1.0, 4.0) * x).sum(),
    "closure_convert": lambda x: (lambda f, values: f(x, *values))(*jax.closure_convert(lambda y: y * jnp.sin(x), x)),
}
DERIVATIVES = {
    "hessian": lambda f: jax.hessian(f)(0.7),
    "grad of grad": lambda f: jax.grad(jax.grad(f))(0.7),
    "jit of grad": lambda f: jax.jit(jax.grad(f))(0.7),
    "linearize": lambda f: jax.linearize(f, 0.7),
    "pullback as a pytree": lambda f: jax.tree.map(lambda x: x, jax.vjp(f, 0.7)[1])(jnp.ones(())),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", CLEAN)
def test_what_a_pullback_keeps_is_no_leak(name, derivative):
    with jax.checking_leaks():
        DERIVATIVES[derivative](CLEAN[name])


@jax.custom_vjp
def tripled(x):
    return 3 * x


tripled.defvjp(lambda x: (tripled(x), jnp.cos(x)), lambda r, g: (r * g,))
BATCHED = {
    "odeint": lambda x: odeint(lambda y, t, a: -y * a, x, jnp.array([0.0, 0.5]), x)[-1],
    "custom_vjp in a scan": lambda x: lax.scan(lambda c, _: (tripled(c), None), x, None, 2)[0],
    "custom_jvp in jit": jax.jit(sine),
}


@pytest.mark.parametrize("name", BATCHED)
def test_rules_that_call_their_function_under_vmap_are_no_leak(name):
    with jax.checking_leaks():
        jax.grad(lambda v: jax.vmap(BATCHED[name])(v).sum())(jnp.array([0.7]))
        jax.vmap(jax.grad(BATCHED[name]))(jnp.array([0.7]))


def test_programs_do_not_hold_what_their_functions_close_over():
    """A cached program of a loop is found again by its structure; it must not keep the arrays of the first caller."""
    import gc
    import weakref

    class Held:
        pass

    def run():
        held = Held()
        held.value = 2.0
        lax.scan(lambda c, _: (c * held.value, None), 1.0, None, 3)
        return weakref.ref(held)
    alive = run()
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("kept, layer", [(0, jnp.sin), (0, lambda x: jnp.tanh(2 * x)), (1, lambda x: x * x)])
def test_pullbacks_keep_only_what_derivatives_read(kept, layer):
    """Of a chain of layers each would else hold its own result and the input, which is the result of the one before."""
    import gc
    import weakref
    x = jnp.arange(3.0) + 1
    alive = weakref.ref(x)
    _, pullback = jax.vjp(layer, x)
    del x
    gc.collect()
    assert (alive() is not None) == kept
    assert jax.tree.leaves(pullback) and pullback(jnp.ones(3))[0].shape == (3,)
