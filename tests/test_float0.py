"""Tangents of integers, booleans and keys are float0 under every transformation, and leave the other tangents alone.

A law and its cases: what a transformation gives for ``f(x, n)`` with a discrete ``n`` is what it gives for ``f(·, n)`` with ``n``
closed over, and float0 for ``n`` and for the discrete results.
"""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax

F0 = jax.dtypes.float0
X = np.array([0.5, 1.5, 2.5], np.float32)
DISCRETE = {"int32": np.array([1, 0, 2], np.int32), "uint8": np.array([1, 0, 2], np.uint8), "bool": np.array([True, False, True]),
            "int": 2, "key": None}


def discrete(kind):
    return jax.random.split(jax.random.key(0), 3) if kind == "key" else DISCRETE[kind]


def number(n):
    return jax.random.key_data(n)[..., 0] % 3 if jnp.issubdtype(jnp.asarray(n).dtype, jax.dtypes.prng_key) else jnp.asarray(n)


def weight(n):
    return number(n).astype(jnp.float32)


@jax.custom_jvp
def with_jvp(x, n):
    return x * weight(n), n


@with_jvp.defjvp
def _with_jvp_rule(primals, tangents):
    (x, n), (dx, dn) = primals, tangents
    return with_jvp(x, n), (dx * weight(n), dn)


@jax.custom_vjp
def with_vjp(x, n):
    return x * weight(n), n


with_vjp.defvjp(lambda x, n: (with_vjp(x, n), n), lambda n, ct: (ct[0] * weight(n), None))

FUNCTIONS = {
    "arithmetic": lambda x, n: (x * weight(n), number(n) * 2, number(n) + number(n)),
    "index": lambda x, n: (x[number(n).astype(int) % 3], number(n).sum()),
    "cumsum": lambda x, n: (jnp.cumsum(x) * weight(n), jnp.cumsum(number(n))),
    "sort": lambda x, n: lax.sort((x, jnp.broadcast_to(number(n), (3,))), num_keys=1),
    "dot": lambda x, n: (x * jnp.vdot(weight(n), jnp.ones_like(weight(n))), jnp.vdot(number(n), number(n))),
    "convolve": lambda x, n: (x, jnp.convolve(jnp.atleast_1d(number(n).astype(jnp.int32)), jnp.arange(2))),
    "scatter": lambda x, n: (x.at[0].mul(weight(n).sum()), jnp.atleast_1d(number(n)).at[0].set(number(n).ravel()[0])),
    "jit": jax.jit(lambda x, n: (x * weight(n), n)),
    "checkpoint": jax.checkpoint(lambda x, n: (jnp.sin(x) * weight(n), n)),
    "cond": lambda x, n: lax.cond(x[0] > 0, lambda x, n: (x, n), lambda x, n: (2 * x, n), x, n),
    "scan": lambda x, n: lax.scan(lambda c, a: ((c[0] * a, c[1]), (c[0], c[1])), (x, n), x),
    "fori_loop": lambda x, n: lax.fori_loop(0, 2, lambda i, c: (c[0] * i + weight(n), c[1]), (x, n)),
    "switch under vmap": lambda x, n: jax.vmap(lambda a, b: lax.switch(
        number(b).astype(int) % 2, [lambda a, b: (a, b), lambda a, b: (a * 2, b)], a, b))(x, jnp.broadcast_to(n, (3,))),
    "custom_jvp": with_jvp,
    "custom_vjp": with_vjp,
}


def tangent_of(x):
    aval = jax.typeof(x)
    return jnp.full(aval.shape, 2, aval.dtype) if jnp.issubdtype(aval.dtype, jnp.inexact) else np.zeros(aval.shape, F0)


def pushed(f, *args):
    return jax.jvp(f, args, tuple(map(tangent_of, args)))[1]


def pulled(f, *args):
    out, pullback = jax.vjp(f, *args)
    return pullback(jax.tree.map(tangent_of, out))


def linear(f, *args):
    return jax.linearize(f, *args)[1](*map(tangent_of, args))


def rows(transformation):
    """``transformation`` under vmap, on two rows."""
    def run(f, *args):
        return jax.vmap(lambda *row: transformation(f, *row))(*[jnp.stack([jnp.asarray(a)] * 2) for a in args])
    return run


TRANSFORMATIONS = {
    "jvp": pushed, "vjp": pulled, "linearize": linear,
    "jit of jvp": lambda f, *args: jax.jit(lambda *a: pushed(f, *a))(*args),
    "jit of vjp": lambda f, *args: jax.jit(lambda *a: pulled(f, *a))(*args),
    "vmap of jvp": rows(pushed), "vmap of vjp": rows(pulled),
    "vjp of vjp": lambda f, *args: pulled(lambda *a: pulled(f, *a), *args),
}


def flat_float(tree):
    return [np.asarray(x) for x in jax.tree.leaves(tree) if x.dtype != F0]


@pytest.mark.parametrize("kind", DISCRETE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_discrete_arguments_change_no_derivative(name, kind):
    f, n = FUNCTIONS[name], discrete(kind)
    everything = kind == "int32" and name in ("arithmetic", "cond", "scan", "custom_jvp")
    for transformation in TRANSFORMATIONS if everything else ("vjp", "jvp"):
        transform = TRANSFORMATIONS[transformation]
        if name == "custom_vjp" and ("jvp" in transformation or transformation == "linearize"):
            continue  # it has no forward mode
        got, wanted = transform(f, X, n), transform(lambda x: f(x, n), X)
        for a, b in zip(flat_float(got), flat_float(wanted), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=transformation)
        for leaf in jax.tree.leaves(got):
            assert leaf.dtype == F0 and isinstance(leaf, np.ndarray) or jnp.issubdtype(leaf.dtype, jnp.inexact), transformation
        if "vjp" in transformation:
            assert got[1].dtype == F0 and got[1].shape == ((2,) if "vmap" in transformation else ()) + np.shape(n), transformation


Z = np.zeros(3, F0)
ROUND_TRIPS = {
    "jit": lambda: jax.jit(lambda z: z)(Z), "closed over": lambda: jax.jit(lambda: Z)(), "vmap": lambda: jax.vmap(lambda z: z)(Z),
    "reshape": lambda: jnp.reshape(Z, (3, 1)), "index": lambda: jax.jit(lambda z: z[:2])(Z), "asarray": lambda: jnp.asarray(Z),
    "array": lambda: jnp.array(Z), "device_put": lambda: jax.device_put(Z), "zeros": lambda: jnp.zeros(3, F0),
    "zeros_like": lambda: jnp.zeros_like(Z), "scan": lambda: lax.scan(lambda c, z: (c, z), 0, Z)[1],
    "cond": lambda: lax.cond(True, lambda z: z, lambda z: z, Z),
}


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_arrays_of_float0_pass_through(name):
    got = ROUND_TRIPS[name]()
    assert isinstance(got, np.ndarray) and got.dtype == F0


def both(x, n):
    return x * 2, n * 2


N = np.arange(3)
ONES = np.ones(3, np.float32)
COTANGENTS = {"float0": (Z, None), "integers": (N, None), "floats": (ONES, None), "another shape": (np.zeros(2, F0), ValueError),
              "a number": (0.0, ValueError), "None": (None, ValueError)}


@pytest.mark.parametrize("what", COTANGENTS)
def test_cotangents_of_integers(what):
    """Whatever has their shape is accepted, and not read."""
    given, error = COTANGENTS[what]
    pullback = jax.vjp(both, X, N)[1]
    if error is not None:
        with pytest.raises(error, match="^vjp: "):
            pullback((ONES, given))
        return
    x_bar, n_bar = pullback((ONES, given))
    assert x_bar.tolist() == [2, 2, 2] and n_bar.dtype == F0 and n_bar.shape == (3,)


@pytest.mark.parametrize("given", [N, ONES, np.zeros(2, F0), 0, np.zeros(3, bool)], ids=lambda x: str(jax.typeof(x)))
def test_tangents_of_integers_are_float0(given):
    with pytest.raises(ValueError, match=r"must be float0\[3\], got"):
        jax.linearize(both, X, N)[1](ONES, given)
    with pytest.raises((TypeError, ValueError), match="^jvp"):
        jax.jvp(both, (X, N), (ONES, given))


@pytest.mark.parametrize("out", [{"loss": 1.0}, (1.0,), [1.0], (), None, np.ones(1)], ids=str)
def test_gradients_are_of_one_scalar(out):
    with pytest.raises(TypeError, match="^Gradient only defined for scalar-output functions"):
        jax.grad(lambda x: jax.tree.map(lambda y: y * x, out))(3.0)


@pytest.mark.parametrize("kind", DISCRETE)
def test_gradients_of_integers_when_allowed(kind):
    n = discrete(kind)
    got = jax.grad(lambda n: weight(n).sum() * 2.0, allow_int=True)(n)
    assert got.dtype == F0 and got.shape == np.shape(n)
    with pytest.raises(TypeError, match="must be of a float or complex dtype"):
        jax.grad(lambda n: weight(n).sum())(n)


def test_the_basis_of_a_jacobian_is_computed_where_it_is_large():
    """No array of its size is kept with a program; the values are those of an eager call, which has one."""
    def fun(tree):
        return {"a": tree["x"] @ tree["y"], "b": tree["y"].sum()}
    tree = {"x": jnp.arange(64.).reshape(8, 8), "y": jnp.arange(8.)}
    for jacobian in (jax.jacfwd(fun), jax.jacrev(fun)):
        assert not [c for c in jax.make_jaxpr(jacobian)({"x": jnp.ones((32, 32)), "y": jnp.ones(32)}).consts if np.size(c) > 2000]
        jax.tree.map(np.testing.assert_array_equal, jax.jit(jacobian)(tree), jacobian(tree))


@pytest.mark.parametrize("jacobian", [jax.jacfwd, jax.jacrev])
def test_a_jacobian_of_no_results_has_none(jacobian):
    assert jacobian(lambda x: {"none": ()})(1.0) == {"none": ()}
    assert jacobian(lambda x, y: ((), x + y), (0, 1), has_aux=True)(1.0, 2.0) == ((), 3.0)


def test_jacobians_of_integers_are_zeros_of_their_dtype():
    got = jax.jacfwd(lambda x: {"x": x * 2, "n": N.astype(np.int8), "b": x > 1})(X)
    assert {k: (str(v.dtype), v.shape, float(v.sum())) for k, v in got.items()} == {
        "x": ("float32", (3, 3), 6.0), "n": ("int8", (3, 3), 0.0), "b": ("bool", (3, 3), 0.0)}
    x_rows, n_rows = jax.jacrev(lambda x, n: x * n, (0, 1), allow_int=True)(X, N)
    assert isinstance(x_rows, jax.Array) and x_rows.dtype == np.float32 and n_rows.dtype == jnp.arange(3).dtype and not n_rows.any()


def test_linear_functions_of_integers_are_transposed():
    n_bar, = jax.linear_transpose(lambda n: n[::-1] * 3, N)(jnp.arange(3))
    assert n_bar.tolist() == [6, 3, 0] and n_bar.dtype == jnp.arange(3).dtype
    for f in (jax.jit(lambda n: n[::-1] * 3), lambda n: lax.cond(True, lambda n: n[::-1] * 3, lambda n: n, n),
              lambda n: lax.scan(lambda c, a: (c, a * 3), 0, n, reverse=True)[1][::-1]):
        n_bar, = jax.linear_transpose(f, N)(jnp.arange(3))
        assert n_bar.tolist() == [6, 3, 0] and n_bar.dtype == jnp.arange(3).dtype
    with pytest.raises(TypeError, match="^linear_transpose: .* all"):
        jax.linear_transpose(lambda x: (x, N), X)


def test_rules_see_that_integers_are_not_perturbed():
    seen = []
    product = jax.custom_vjp(lambda x, n: x * n)

    def forward(x, n):
        seen.append((x.perturbed, n.perturbed))
        return x.value * n.value, n.value
    product.defvjp(forward, lambda n, ct: (ct * n, None), symbolic_zeros=True)
    jax.vjp(product, 2.0, 3)[1](1.0)
    assert seen == [(True, False)]


def test_symbolic_zeros_stay_symbolic_under_vmap():
    kinds = []
    product = jax.custom_jvp(lambda x, n: x * n)

    def rule(primals, tangents):
        kinds.append([type(t).__name__ for t in tangents])
        return product(*primals), tangents[0] * primals[1]
    product.defjvp(rule, symbolic_zeros=True)
    out = jax.jvp(jax.vmap(product), (X, N), (ONES, Z))[1]
    assert out.tolist() == [0, 1, 2] and kinds[0][1] == "SymbolicZero"
