"""Rules of one's own for callables of every kind; what tracers and the index of a loop are to the functions that get them."""
import functools
import operator
import pickle

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import export, lax
from jax_core.representation.jaxpr import dce, eval_jaxpr


class Scale:
    def __call__(self, x, k=3.0):
        return x * k

    def method(self, x, k=3.0):
        return x * k


CALLABLES = {  # name: (function, arguments, keyword arguments, value at 1.0, number of arguments that the rule gets)
    "partial": (functools.partial(operator.mul, 2.0), (), {}, 2.0, 1),
    "partial by keyword": (functools.partial(lambda x, k: x * k, k=4.0), (), {}, 4.0, 1),
    "object": (Scale(), (), {}, 3.0, 2),
    "object, by keyword": (Scale(), (), {"k": 5.0}, 5.0, 2),
    "partial of object": (functools.partial(Scale(), k=4.0), (), {}, 4.0, 1),
    "bound method": (Scale().method, (), {"k": 5.0}, 5.0, 2),
    "builtin": (operator.neg, (), {}, -1.0, 1),
    "jitted": (jax.jit(lambda x: x * 2), (), {}, 2.0, 1),
    "keyword-only default": (lambda x, *, k=2.0: x * k, (), {}, 2.0, 1),
    "variadic": (lambda *xs: sum(xs), (2.0,), {}, 3.0, 2),
    "default skipped": (lambda x, a=1.0, b=2.0: x * a * b, (), {"b": 4.0}, 4.0, 3),
}


@pytest.mark.parametrize("make", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("name", CALLABLES)
def test_rules_of_callables(make, name):
    fun, args, kwargs, value, count = CALLABLES[name]
    call, counts = make(fun), []
    if make is jax.custom_jvp:
        @call.defjvp
        def _rule(primals, tangents):
            counts.append(len(primals))
            return fun(*primals), tangents[0] * 7.0
    else:
        def forward(*args):
            counts.append(len(args))
            return fun(*args), None
        call.defvjp(forward, lambda _, ct: (ct * 7.0, *[None] * (counts[0] - 1)))
    assert float(call(1.0, *args, **kwargs)) == value
    assert float(jax.grad(lambda x: call(x, *args, **kwargs))(1.0)) == 7.0
    assert counts == [count]


MISFITS = {"keyword-only": (lambda x, *, k=2.0: x * k, {"k": 3.0}), "collected": (lambda x, **more: x, {"k": 3.0}),
           "unknown": (lambda x: x, {"z": 3.0})}


@pytest.mark.parametrize("make", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("name", MISFITS)
def test_arguments_that_cannot_be_put_in_place(make, name):
    fun, kwargs = MISFITS[name]
    call = make(fun)
    (call.defjvp if make is jax.custom_jvp else functools.partial(call.defvjp, bwd=None))(lambda *args: args)
    call.fwd = call.bwd = fun
    with pytest.raises(TypeError, match=next(iter(kwargs))):
        call(1.0, **kwargs)


@pytest.mark.parametrize("make", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("fun", [functools.partial(operator.mul, 2.0), Scale()], ids=["mul", "Scale"])
def test_a_missing_rule_names_the_callable(make, fun):
    with pytest.raises(AttributeError, match="no rule is set for (mul|Scale);"):
        make(fun)(1.0)


def test_custom_gradient_may_return_none():
    scaled = jax.custom_gradient(lambda x, n: (x * n, lambda ct: (ct * 5, None)))
    x_bar, n_bar = jax.vjp(scaled, 1.0, 2)[1](1.0)
    assert x_bar == 5.0 and n_bar.dtype == jax.dtypes.float0
    x_bar, y_bar = jax.vjp(scaled, 1.0, 2.0)[1](1.0)
    assert (x_bar, y_bar) == (5.0, 0.0)
    with pytest.raises(TypeError, match="^custom_gradient: .* 2 arguments"):
        jax.grad(jax.custom_gradient(lambda x, n: (x * n, lambda ct: (ct,) * 3)))(1.0, 2.0)


def test_custom_gradient_may_return_the_only_cotangent_bare():
    """Of one argument, also where it has one element or is a tuple itself."""
    of_one = jax.custom_gradient(lambda x: (x.sum(), lambda ct: jnp.array([5.0])))
    assert jax.grad(of_one)(jnp.ones(1)).tolist() == [5.0]
    of_pair = jax.custom_gradient(lambda pair: (pair[0] * pair[1], lambda ct: (7 * ct, 8 * ct)))
    assert jax.grad(of_pair)((1.0, 2.0)) == (7.0, 8.0)
    in_tuple = jax.custom_gradient(lambda pair: (pair[0] * pair[1], lambda ct: ((7 * ct, 8 * ct),)))
    assert jax.grad(in_tuple)((1.0, 2.0)) == (7.0, 8.0)


UNDER = {"jit": lambda f: jax.jit(f)(1.0), "grad": lambda f: jax.grad(f)(1.0), "jvp": lambda f: jax.jvp(f, (1.0,), (1.0,)),
         "vmap": lambda f: jax.vmap(f)(jnp.ones(2)), "key": lambda f: jax.jit(f)(jax.random.key(0)),
         "tangent": lambda f: jax.linearize(f, 1.0)[1](1.0)}


@pytest.mark.parametrize("name", UNDER)
def test_traced_values_have_no_hash(name):
    """As arrays have none: values that compare equal by element cannot be keys."""
    def f(x):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        return x
    UNDER[name](f)


def test_a_traced_value_is_no_static_argument():
    with pytest.raises(ValueError, match="[Nn]on-hashable"):
        jax.jit(lambda x: jax.jit(lambda y: y, static_argnums=0)(x))(1.0)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("bounds", [(0, 3), (np.int32(0), np.int32(3)), (jnp.uint8(0), jnp.uint8(3))], ids=["int", "int32", "uint8"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32", "bfloat16"])
def test_the_index_of_a_loop_gives_way(dtype, bounds, x64):
    with jax.enable_x64(x64), jax.numpy_dtype_promotion("strict"):
        for disable in (False, True):
            with jax.disable_jit(disable):
                out = lax.fori_loop(*bounds, lambda i, c: c + i, jnp.ones((), dtype))
            assert out.dtype == dtype and out == 4


LOOPS = {
    "while": lambda: lax.while_loop(lambda c: c < 3, lambda c: c + 1, 0), "while, no step": lambda: lax.while_loop(lambda c: c < 0, lambda c: c, 0),
    "while, constant": lambda: lax.while_loop(lambda c: c.astype(bool), lambda c: 0, 1), "fori": lambda: lax.fori_loop(0, 3, lambda i, c: i, 0),
    "fori, no step": lambda: lax.fori_loop(0, 0, lambda i, c: c, 0), "scan": lambda: lax.scan(lambda c, x: (c + 1, 2), 0, None, length=3),
    "tree": lambda: lax.while_loop(lambda c: c["n"] < 3, lambda c: {"n": c["n"] + 1, "x": c["x"]}, {"n": 0, "x": 1.0}),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_in_python_give_the_types_of_compiled_ones(name):
    compiled = LOOPS[name]()
    with jax.disable_jit():
        plain = LOOPS[name]()
    for a, b in zip(jax.tree.leaves(plain), map(jnp.asarray, jax.tree.leaves(compiled)), strict=True):  # numbers are handed on as they are
        assert isinstance(a, jax.Array) and (a.dtype, a.weak_type) == (b.dtype, b.weak_type) and (a == b).all()


RAVELLED = {"int16, int": ([np.int16(3), -1], "int32"), "ints": ([1, 2], "int32"), "int, float": ([1, 2.0], "float32")}


@pytest.mark.parametrize("name", RAVELLED)
def test_ravelled_numbers_count_as_arrays(name):
    leaves, dtype = RAVELLED[name]
    flat, unravel = jax.flatten_util.ravel_pytree(leaves)
    assert flat.dtype == dtype and [x.dtype for x in unravel(flat)] == [jnp.asarray(x).dtype for x in leaves]


def test_the_check_of_cotangents_can_be_switched_off():
    f = jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (jnp.zeros(3),))
    differentiate = lambda: jax.vjp(f, jnp.ones(4))[1](jnp.ones(4))
    with pytest.raises(ValueError, match=r"float32\[3\]"):
        differentiate()
    jax.config.update("jax_disable_bwd_checks", True)
    try:
        assert differentiate()[0].shape == (3,)
    finally:
        jax.config.update("jax_disable_bwd_checks", False)


def test_operands_of_custom_vmap_mapped_in_value_and_in_tangent_alone():
    fun, x = jax.custom_batching.custom_vmap(jnp.multiply), jnp.arange(3.0)
    fun.def_vmap(lambda size, batched, x, y: (3 * x * y, any(batched)))
    y, t = jax.vmap(lambda x, y, tx, ty: jax.jvp(fun, (x, y), (tx, ty)), in_axes=(0, 0, 0, None))(x, x, x, 2.0)
    np.testing.assert_allclose(y, 3 * x * x)
    np.testing.assert_allclose(t, 3 * (x * x + 2 * x))


def _scanned(fun):
    return lambda x: lax.scan(lambda c, _: (fun(c), None), x, None, length=1)[0]


@pytest.mark.parametrize("rule, message", [
    (lambda p, t: ((p[0], p[0]), (t[0], t[0])), "structure"),
    (lambda p, t: (jnp.zeros(3), jnp.zeros(3)), r"float32\[\] where the primal output of its rule has one of type float32\[3\]")])
def test_a_jvp_rule_returns_what_the_function_does(rule, message):
    fun = jax.custom_jvp(lambda x: x)
    fun.defjvp(rule)
    with pytest.raises(TypeError, match=message):
        jax.jvp(_scanned(fun), (jnp.float32(1.0),), (jnp.float32(1.0),))


def _ruled(fun, rule):
    f = jax.custom_jvp(fun)
    f.defjvp(rule)
    return f


def _doubled(transpose):
    return lambda x: jax.custom_derivatives.linear_call(lambda r, x: x * r, transpose, 2.0, x)


REFUSED = [
    (lambda: jax.jvp(_ruled(jnp.int32, lambda p, t: (jnp.int32(p[0]), t[0])), (1.0,), (1.0,)), TypeError, r"has dtype float0, as np.zeros\(\(\)"),
    (lambda: jax.vjp(_ruled(jnp.int32, lambda p, t: (jnp.int32(p[0]), 0)), 1.0), TypeError, "returned a primal of type int32"),
    (lambda: jax.grad(jnp.multiply, argnums=(0, -2))(1.0, 2.0), TypeError, r"argnums=\(0, -2\) names an argument of multiply twice"),
    (lambda: jax.jacrev(jnp.multiply, argnums=())(1.0, 2.0), ValueError, r"argnums=\(\) names no argument of multiply"),
    (lambda: jax.jvp(jnp.sin, (1.0,), [1.0]), TypeError, "must both be tuples or both be lists"),
    (lambda: jax.checkpoint(lambda x: x, static_argnums=1)(1.0), ValueError, r"static_argnums \[1\] name no argument"),
    (lambda: jax.make_jaxpr(jax.jit(jnp.sin, compiler_options={"a": 1}))(1.0), ValueError, "give them to the outermost jit"),
    (lambda: jax.custom_jvp(lambda x, y: x, nondiff_argnums=(2,)), IndexError, r"nondiff_argnums \[2\] are beyond the 2 parameters"),
    (lambda: jax.custom_vjp(lambda x: x, nondiff_argnums=(0, 1)), IndexError, r"nondiff_argnums \[1\] are beyond"),
    (lambda: jax.grad(_doubled(lambda r, ct: jnp.ones(2)))(1.0), ValueError, r"a cotangent of type float32\[2\] for a linear argument"),
    (lambda: jax.jit(staticmethod(jnp.sin)), TypeError, "staticmethod"),
    (lambda: jax.vmap(jnp.sin, out_axes=(jnp.arange(2.0),))(jnp.arange(2.0)), TypeError, "out_axes must hold ints"),
    (lambda: jax.device_put(np.ma.array([1, 2], mask=[0, 1])), ValueError, "masked arrays"),
    (lambda: jax.jit(pickle.dumps)(1.0), jax.errors.ConcretizationTypeError, "pickling"),
    (lambda: jax.no_execution()(jax.jit(jnp.cos))(1.0), RuntimeError, "no_execution"),
    (lambda: jax.no_execution()(lax.cos)(1.0), RuntimeError, r"jit\(cos\) would run a compiled program"),
    (lambda: jax.no_execution()(jax.jit(jnp.cos).lower(1.0).compile())(1.0), RuntimeError, "no_execution"),
    (lambda: jax.no_execution()(lax.scan)(lambda c, x: (x, c), 1.0, jnp.ones(3)), RuntimeError, "no_execution"),
]


@pytest.mark.parametrize("call, error, message", REFUSED)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_is_no_longer_refused_or_shared():
    assert lax.convert_element_type(2 ** 100, jnp.float32) == 2.0 ** 100
    np.testing.assert_array_equal(lax.map(jnp.sin, jnp.zeros(3), batch_size=0), jnp.zeros(3))
    assert export.export(jnp.sin)(1.0).platforms == (export.default_export_platform(),)
    x = jnp.arange(3)
    assert jax.device_put(x, may_alias=False) is not x and jax.device_put(x) is x
    with jax.numpy_dtype_promotion("strict"):
        assert jnp.count_nonzero(jnp.array([True, False])) == 1


# -- results that nobody reads ------------------------------------------------------------------------------------------

def _two_results(kind):
    f = kind(lambda x, y: (jnp.sin(x), x + jnp.cos(y)))
    if kind is jax.custom_jvp:
        f.defjvp(lambda xs, ts: (f(*xs), (2. * jnp.cos(xs[0]) * ts[0], 1.5 * ts[0] - 0.5 * jnp.sin(xs[1]) * ts[1])))
    else:
        f.defvjp(lambda x, y: (f(x, y), (jnp.cos(x), jnp.sin(y))),
                 lambda res, cts: (2. * res[0] * cts[0] + 1.5 * cts[1], -0.5 * res[1] * cts[1]))
    return f


@pytest.mark.parametrize("kind", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("used, kept, dropped, grads", [
    ([True, False], "sin", "cos", (2. * np.cos(0.1), 0.)), ([False, True], "cos", "sin", (1.5, 0.5 * np.sin(1.3)))])
def test_unused_results_are_not_computed(kind, used, kept, dropped, grads):
    """What only they need goes, and the rule still holds for the others."""
    closed = jax.make_jaxpr(_two_results(kind))(0.1, -1.3)
    small, _ = dce(closed.jaxpr, used)
    names = [e.primitive.name for e in small.eqns[0].params["call_jaxpr"].eqns]
    assert kept in names and dropped not in names
    assert len(small.eqns[0].outvars) == 1
    run = lambda x, y: eval_jaxpr(small, closed.consts, x, y)[0]
    np.testing.assert_allclose(run(0.1, -1.3), eval_jaxpr(closed.jaxpr, closed.consts, 0.1, -1.3)[used.index(True)])
    np.testing.assert_allclose(jax.grad(run, argnums=(0, 1))(0.1, -1.3), grads, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(run, argnums=(0, 1)))(jnp.full(2, 0.1), jnp.full(2, -1.3))[0], [grads[0]] * 2, rtol=1e-6)


@pytest.mark.only_cpu
def test_evaluation_of_a_primitive_can_be_wrapped_and_put_back():
    """As tests do that count eager calls."""
    sin_p = jax.make_jaxpr(lax.sin)(1.).eqns[0].primitive
    before, calls = sin_p.impl, []
    assert before(1.) == lax.sin(1.)
    sin_p.def_impl(lambda x, **params: calls.append(x) or before(x, **params))
    try:
        jax.linearize(jax.checkpoint(lambda x: lax.sin(lax.sin(x))), 2.)[1](3.)
        assert len(calls) == 3  # twice forwards, and once again
    finally:
        sin_p.def_impl(before)
    assert lax.sin(2.) == np.sin(np.float32(2.)) and len(calls) == 3 and sin_p.own_impl is None
