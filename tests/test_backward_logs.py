"""What backward functions log reaches whoever asks for it, through every transformation; what nobody asks for is dropped."""
import functools

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax


def logging(key):
    """The sine; its backward function logs the cotangent and the residual."""
    @jax.custom_vjp
    def sine(x):
        return jnp.sin(x)
    sine.defvjp_with_logs(lambda x: (sine(x), jnp.cos(x)), lambda c, g: ((c * g,), {key: {"ct": g, "cos": c}}))
    return sine


f, g = logging("f"), logging("g")
three = lambda x: lax.scan(lambda c, _: (f(c), None), x, length=3)[0]
XS = np.arange(3., dtype=np.float32)
MESH = jax.sharding.Mesh(jax.devices()[:1], "x")
ROWS = jax.sharding.PartitionSpec("x")
CASES = {  # function, argument, keys, shape of what is logged
    "called": (lambda x: 2. * f(x), 1., {"f"}, ()),
    "two": (lambda x: g(f(x)), 1., {"f", "g"}, ()),
    "jit": (jax.jit(lambda x: g(f(x))), 1., {"f", "g"}, ()),
    "checkpoint": (jax.checkpoint(lambda x: f(x) * 3.), 1., {"f"}, ()),
    "jit of checkpoint": (jax.jit(jax.checkpoint(lambda x: f(x) * 3.)), 1., {"f"}, ()),
    "scan": (three, 1., {"f"}, (3,)),
    "jit of scan": (jax.jit(three), 1., {"f"}, (3,)),
    "scan, split": (lambda x: lax.scan(lambda c, _: (f(c) * x, None), x, length=3, _split_transpose=True)[0], 1., {"f"}, (3,)),
    "vmap": (jax.vmap(f), XS, {"f"}, (3,)),
    "vmap of scan": (jax.vmap(three), XS, {"f"}, (3, 3)),
    "shard_map": (jax.shard_map(f, mesh=MESH, in_specs=ROWS, out_specs=ROWS), XS, {"f"}, (3,)),
    "shard_map of a sum": (jax.shard_map(lambda x: f(x.sum())[None], mesh=MESH, in_specs=ROWS, out_specs=ROWS), XS, {"f"}, (1,)),
    "none": (jnp.sin, 1., set(), None),
}


@pytest.mark.parametrize("case", CASES)
def test_logs_come_through(case):
    fun, x, keys, shape = CASES[case]
    out, pullback = jax.vjp(fun, x)
    found, logs = pullback.with_logs(jnp.ones_like(out))
    assert logs.keys() == keys
    for entry in logs.values():
        assert {name: np.shape(v) for name, v in entry.items()} == {"ct": shape, "cos": shape}
    np.testing.assert_allclose(found[0], pullback(jnp.ones_like(out))[0])
    _, again = jax.jit(lambda x: jax.vjp(fun, x)[1].with_logs(jnp.ones_like(out)))(x)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6), again, logs)


def test_values_of_a_loop():
    """Row i is of step i."""
    _, logs = jax.vjp(three, 1.)[1].with_logs(1.)
    x = [1., np.sin(1.), np.sin(np.sin(1.))]
    np.testing.assert_allclose(logs["f"]["cos"], np.cos(x), rtol=1e-6)
    np.testing.assert_allclose(logs["f"]["ct"], [np.cos(x[1]) * np.cos(x[2]), np.cos(x[2]), 1.], rtol=1e-6)


@pytest.mark.parametrize("x, ct", [(1., [[0., 1.], [0., None]]), (-1., [[1., 0.], [1., None]])])
def test_conditional(x, ct):
    """A key holds what each branch logs under it: zeros for one that is not taken."""
    _, logs = jax.vjp(lambda x: lax.cond(x > 0, f, lambda x: f(x) + g(2. * x), x), x)[1].with_logs(1.)
    for key, want in zip("fg", ct):
        assert logs[key].index == (x > 0)
        assert [b and float(b["ct"]) for b in logs[key].branches] == want


def test_a_key_is_used_once():
    for fun in (lambda x: f(f(x)), jax.jit(lambda x: f(f(x))), lambda x: f(jax.jit(f)(x))):
        pullback = jax.vjp(fun, 1.)[1]
        with pytest.raises(ValueError, match="logged two values under one key, 'f'"):
            pullback.with_logs(1.)
        pullback(1.)  # nobody asks


def test_logs_are_differentiable():
    ct = lambda x: jax.vjp(f, 1.)[1].with_logs(x ** 2)[1]["f"]["ct"]
    assert jax.grad(ct)(3.) == 6.


def test_references_and_logs():
    ref = jax.new_ref(0.)
    found, logs = jax.vjp(f, 0.)[1].with_logs.with_refs(ref)(2.)
    assert found == (jax.ad.GradRef(),) and ref[...] == 2. and logs["f"]["ct"] == 2.


def test_custom_gradient():
    @jax.custom_gradient(with_logs=True)
    def product(x, y):
        return x * y, lambda g: ((g * y, g * x), {"x": x} if y else None)
    for fun in (product, jax.jit(product, static_argnums=1)):
        assert jax.grad(fun)(3., 4.) == 4.
        assert jax.vjp(lambda x: fun(x, 4.), 3.)[1].with_logs(1.)[1] == {"x": 3.}
    assert jax.vjp(lambda x: product(x, 0.), 3.)[1].with_logs(1.)[1] == {}


@pytest.mark.parametrize("found, message", [
    (lambda g: (g,), "must produce a pair"), (lambda g: ((g,), [1.]), "logs are None or a dict"), (lambda g: g, "must produce a pair")])
def test_wrong_results(found, message):
    def rule(x):
        return x, found
    fun = jax.custom_vjp(lambda x: x)
    fun.defvjp_with_logs(lambda x: (x, None), lambda _, g: found(g))
    for wrong in (fun, jax.custom_gradient(rule, with_logs=True)):
        with pytest.raises(TypeError, match=message):
            jax.grad(wrong)(1.)
