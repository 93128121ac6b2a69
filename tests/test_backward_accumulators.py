"""Backward functions that add to accumulators in place of returning cotangents, through every transformation."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax.experimental.hijax import NullAccum, ValAccum

pytestmark = pytest.mark.any_code


def product(seen=None):
    """``sin(x) * y["a"]``; its backward function adds each cotangent in two halves, and tells ``seen`` what it adds to."""
    f = jax.custom_vjp(lambda x, y: jnp.sin(x) * y["a"])

    def backward(residuals, g, to_x, to_y):
        (x, y), (to_a,) = residuals, to_y.values()
        if seen is not None:
            seen.append((type(to_x), type(to_a)))
        for to, ct in (to_x, g * jnp.cos(x) * y["a"]), (to_a, g * jnp.sin(x)):
            to.accum(0.25 * ct)
            to.accum(0.75 * ct)
    f.defvjp_with_accums(lambda x, y: (f(x, y), (x, y)), backward)
    return f


WAYS = {
    "called": lambda f: f,
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "optimize_remat": lambda f: (f.defvjp_with_accums(f.fwd, f.bwd, optimize_remat=True), f)[1],
    "vmap": lambda f: lambda x, y: jax.vmap(f, (0, None))(x[None], y)[0],
    "scan": lambda f: lambda x, y: jax.lax.scan(lambda c, _: (f(x, y), None), x, length=1)[0],
    "cond": lambda f: lambda x, y: jax.lax.cond(x > 0, f, lambda x, y: x, x, y),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("argnums", [0, 1, (0, 1)], ids=str)
def test_cotangents_are_what_was_added(way, argnums):
    x, y = jnp.float32(0.7), {"a": jnp.float32(3.)}
    got = jax.grad(WAYS[way](product()), argnums)(x, y)
    want = jax.grad(lambda x, y: jnp.sin(x) * y["a"], argnums)(x, y)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), got, want)


def test_what_has_no_cotangent_has_an_accumulator_that_drops():
    seen = []
    jax.grad(product(seen))(1., {"a": 2.})
    jax.jit(jax.grad(product(seen), 1))(1., {"a": 2.})
    assert seen == [(ValAccum, NullAccum), (NullAccum, ValAccum)]


def backward_of_double(rule, **options):
    f = jax.custom_vjp(lambda n, x: x * n, nondiff_argnums=(0,))
    f.defvjp_with_accums(lambda n, x: (x * n, None), rule, **options)
    return jax.vjp(lambda x: f(2, x), 3.)[1]


def test_nothing_added_is_zero_and_logs_come_through():
    assert backward_of_double(lambda n, res, g, to_x: None)(1.) == (0.,)
    found, logs = backward_of_double(lambda n, res, g, to_x: (to_x.accum(g * n), {"g": g})[1]).with_logs(5.)
    assert found == (10.,) and logs == {"g": 5.}


@pytest.mark.parametrize("rule, error, message", [
    (lambda n, res, g, to_x: (g,), TypeError, "defvjp_with_accums, adds cotangents to its accumulators, so it must return None or a dict"),
    (lambda n, res, g, to_x: to_x.accum(jnp.ones(3)), ValueError, r"for argument 0 a cotangent of type float32\[3\], expected float32\[\]"),
], ids=["returned", "shape"])
def test_mistakes_are_refused(rule, error, message):
    with pytest.raises(error, match=message):
        backward_of_double(rule)(1.)


def test_a_rule_in_two_steps_may_log():
    f = jax.custom_vjp(jnp.sin)
    f.defremat_with_logs(lambda x: (jnp.sin(x), x), lambda x, _: (jnp.sin(x), jnp.cos(x)), lambda c, g: ((10. * c * g,), {"slope": c}))
    for fun in f, jax.checkpoint(f):
        found, logs = jax.vjp(fun, 0.)[1].with_logs(2.)
        assert found == (20.,) and logs == {"slope": 1.}
    with pytest.raises(NotImplementedError, match="defremat_with_logs: generic_batching"):
        f.defremat_with_logs(jnp.sin, jnp.sin, jnp.sin, generic_batching=True)
