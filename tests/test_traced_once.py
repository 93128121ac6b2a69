"""How often Python functions are traced, and where nested programs are written out."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax


def counted(fun):
    def run(*args):
        run.count += 1
        return fun(*args)
    run.count = 0
    return run


X, HALF = jnp.ones(3), jnp.ones(3, jnp.float16)


@pytest.mark.parametrize("body, init, xs, traces", [
    (lambda c, x: c + x, 0., X, 1),  # weak to strong: the program is the same
    (lambda c, x: c + jnp.sin(x) * 2., jnp.float32(0.), X, 1),
    (lambda c, x: c + x, 0, X, 2),  # int to float
    (lambda c, x: c * 2. + x, 0., HALF, 2)])
def test_body_with_a_weak_carry(body, init, xs, traces):
    in_scan = counted(lambda c, x: (body(c, x), None))
    out = lax.scan(in_scan, init, xs)[0]
    assert in_scan.count == traces and not out.weak_type
    in_while = counted(lambda c: (c[0] + 1, body(c[1], xs[0])))
    again = lax.while_loop(lambda c: c[0] < 3, in_while, (0, init))[1]
    assert in_while.count == traces and again.dtype == out.dtype
    np.testing.assert_allclose(again, out)


def test_checkpoint_traces_once_for_each_type_and_static_argument():
    fun = counted(lambda flag, x: jnp.sin(x) if flag else jnp.cos(x))
    g = jax.checkpoint(fun, static_argnums=0)
    for _ in range(3):
        g(True, 1.), jax.grad(g, argnums=1)(True, 1.), jax.jit(g, static_argnums=0)(True, 1.)
    assert fun.count == 1
    g(1, 1.)  # equal to True
    assert fun.count == 2
    g(False, 1.), g(False, jnp.ones(2)), g(False, jnp.ones(2))
    assert fun.count == 4


def test_checkpoint_of_a_closure_over_a_tracer():
    """Is traced anew in each transformation that gives it another."""
    held = []
    inner = jax.checkpoint(lambda x: x * held[-1])

    def f(y):
        held.append(y)
        return inner(y) + inner(2. * y)
    np.testing.assert_allclose(jax.grad(f)(3.), 18.)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(3.), 18.)
    np.testing.assert_allclose(jax.vmap(f)(jnp.arange(2.)), [0., 3.])


@pytest.mark.parametrize("inline, called, equation", [
    (False, True, True), (True, False, False), (jax.Inline.AUTO, True, True), (jax.Inline.JAX_EARLY, False, False),
    (jax.Inline.JAX_LATE, False, True), (jax.Inline.XLA_EARLY, True, True), (jax.Inline.XLA_LATE, True, True)])
def test_where_a_nested_program_is_written_out(inline, called, equation):
    inner = jax.jit(lambda x: x * 2., inline=inline)
    f = jax.jit(lambda x: inner(x) + 1.)
    names = [e.primitive.name for e in jax.make_jaxpr(f)(1.).jaxpr.eqns[0].params["jaxpr"].eqns]
    lowered = f.lower(1.)
    assert ("jit" in names, "call @" in lowered.as_text()) == (equation, called)
    assert ("call(" in lowered.compile().as_text()) == (inline is jax.Inline.XLA_LATE)
    assert (f(3.), jax.grad(f)(3.)) == (7., 2.)


def test_length_of_a_scan_is_known():
    with pytest.raises(jax.errors.ConcretizationTypeError, match="length must be a known integer"):
        jax.jit(lambda n, x: lax.scan(lambda c, _: (c, None), x, length=n))(3, 1.)


def test_cotangents_of_a_wider_dtype():
    """What a rule of a user's returns flows on in its dtype."""
    @jax.custom_vjp
    def total(x):
        return x.astype(np.float32).sum()
    total.defvjp(lambda x: (total(x), x.shape), lambda shape, g: (jnp.full(shape, g),))
    x = jnp.ones((7, 4), jnp.bfloat16)
    for pick in (lambda x: x[np.array([1, 2, 1])], lambda x: lax.dynamic_slice(x, (1, 0), (2, 4)), lambda x: x[1:3]):
        assert jax.grad(lambda x: total(pick(x)))(x).dtype == np.float32


def test_index_take_counts_from_the_end():
    x = jnp.arange(12.).reshape(3, 4)
    rows = np.array([-1, 1])
    np.testing.assert_array_equal(lax.index_take(x, (rows,), (0,)), np.asarray(x)[rows])
    np.testing.assert_array_equal(jax.grad(lambda x: lax.index_take(x, (rows,), (0,)).sum())(x)[:, 0], [0., 1., 1.])


def test_reduction_over_no_axis():
    x = jnp.arange(6.).reshape(2, 3)
    pair = lax.reduce((x, x), (0., 1.), lambda a, b: (a[0] + b[0], a[1] * b[1]), ())
    np.testing.assert_array_equal(pair, (x, x))
