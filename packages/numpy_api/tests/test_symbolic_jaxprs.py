"""Programs with symbolic dimensions as jaxprs: `make_jaxpr`, and `trace` and `lower` of jitted functions."""
import gc

import numpy as np
import pytest

from jax_callbacks.api import pure_callback
from jax_core.export.length_values import dim_as_value_p
from jax_core.programs.jit import jit
from jax_core.programs.tracing import eval_shape, make_jaxpr
from jax_core.public.export import SymbolicScope, symbolic_shape
from jax_core.representation import tree
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.errors import InconclusiveDimensionOperation
from jax_core.representation.jaxpr import check_jaxpr, eval_jaxpr, subjaxprs
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.custom_vjp import custom_vjp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax, nn, numpy as jnp

pytestmark = pytest.mark.any_code


def specs(*texts, constraints=()):
    """Descriptions of arguments; ``int32`` before a shape says the dtype."""
    scope = SymbolicScope(constraints)
    return [ShapeDtypeStruct(symbolic_shape(t.removeprefix("int32 "), scope=scope), np.int32 if t.startswith("int32 ") else np.float32) for t in texts]


@custom_jvp
def scaled(x, by):
    return x * by


scaled.defjvp(lambda primals, tangents: (scaled(*primals), 3 * tangents[0] * primals[1]))


@custom_vjp
def total(x):
    return jnp.sin(x).sum(0)


total.defvjp(lambda x: (total(x), x), lambda x, g: (2 * g * jnp.cos(x),))


def network(x, w, v):
    h = nn.gelu(x @ w)
    h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
    return nn.softmax(h @ v)


PROGRAMS = {  # what is computed, of which shapes, the types of the results, and lengths to try, by the order of the names
    "elementwise": (lambda x: jnp.sin(x) * 2 + x, ["a, b"], "f32[a,b]", [(1, 1), (7, 40)]),
    "reshape": (lambda x: (x.reshape(-1), x.reshape(x.shape[0], -1), x.reshape(2, -1)), ["2*a, b"], "f32[2*a*b] f32[2*a,b] f32[2,a*b]", [(1, 1), (3, 5)]),
    "concatenate": (lambda x, y: jnp.concatenate([x, y]), ["a, 3", "b, 3"], "f32[b + a,3]", [(1, 1), (2, 9)]),
    "broadcast": (lambda x, y: (x + y, jnp.broadcast_to(y, (4, y.shape[0]))), ["a, b", "b"], "f32[a,b] f32[4,b]", [(1, 1), (3, 5)]),
    "dot": (lambda x, y: jnp.einsum("abc,acd->abd", x, y), ["a, b, 3", "a, 3, c"], "f32[a,b,c]", [(1, 1, 1), (2, 7, 5)]),
    "slices": (lambda x: (x[1:], x[::2], x[-3:], x[1:-1], x[2:5], x[-1], x[::-1]), ["a"],
               "f32[a - 1] f32[floordiv(a + 1, 2)] f32[min(a, 3)] f32[max(0, a - 2)] f32[min(a, 5) - min(a, 2)] f32[] f32[a]",
               [(1,), (2,), (3,), (4,), (30,)]),
    "computed bounds": (lambda x: (x[: x.shape[0] // 2], x[x.shape[0] // 3], x[-(x.shape[0] // 2):x.shape[0]]), ["2*a"], "f32[a] f32[] f32[a]",
                        [(1,), (2,), (3,), (50,)]),
    "positions": (lambda x: (jnp.arange(x.shape[0]), jnp.eye(x.shape[0])), ["a"], "i32[a] f32[a,a]", [(1,), (9,)]),
    "statistics": (lambda x: (x.mean(), x.var(0), x.std(), x / x.size), ["a, b"], "f32[] f32[b] f32[] f32[a,b]", [(1, 1), (3, 20)]),
    "loops": (lambda x: (lax.scan(lambda c, row: (c + row, c * row), x[0], x), lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], 0.0 * x[0]),
                         lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, x)), ["a, 3"], "f32[3] f32[a,3] f32[3] f32[a,3]", [(1,), (8,)]),
    "derivatives": (lambda x: (grad(lambda z: jnp.sin(z).mean())(x), vmap(lambda r: r @ r)(x)), ["a, b"], "f32[a,b] f32[a]", [(1, 1), (3, 4)]),
    "branches": (lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), ["a"], "f32[a]", [(1,), (9,)]),
    "places": (lambda x, i: (x[i], x.at[i].set(1.0), jnp.take(x, i, 0)), ["a, 3", "int32 b"], "f32[b,3] f32[a,3] f32[b,3]", [(1, 1), (5, 8)]),
    "pad and window": (lambda x: (jnp.pad(x, (1, 2)), lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), "SAME")), ["a"],
                       "f32[a + 3] f32[floordiv(a + 1, 2)]", [(1,), (10,)]),
    "convolution": (lambda x, w: lax.conv_general_dilated(x, w, (2, 1), "SAME"), ["n, 3, h, w", "4, 3, 3, 3"], "f32[n,4,floordiv(h + 1, 2),w]",
                    [(5, 1, 3), (8, 2, 6)]),
    "a jit in it": (lambda x: jit(lambda y: jnp.tanh(y) + y.shape[0])(x) * x.shape[1], ["a, b"], "f32[a,b]", [(1, 2), (4, 3)]),
    "a network": (network, ["n, 3", "3, d", "d, 4"], "f32[n,4]", [(1, 1), (8, 5)]),
    "own rules": (lambda x: (scaled(x, 2.0 * x.shape[0]), total(x)), ["a, b"], "f32[a,b] f32[b]", [(1, 1), (4, 6)]),
    "numbers": (lambda x: (x * (1.0 / x.shape[0]), x * len(x), x + x.shape[0] / 2, x * 2 ** x.shape[0]), ["a"], "f32[a] f32[a] f32[a] f32[a]",
                [(1,), (3,), (20,)]),
    "equal lengths": (lambda x: x if x.shape[0] == 5 else 2 * x, ["a"], "f32[a]", [(1,), (40,)]),
    "a callback": (lambda x: pure_callback(np.sin, ShapeDtypeStruct(x.shape, x.dtype), x), ["a"], "f32[a]", [(1,), (6,)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    """They have the types that are said, and for known lengths they are what the function is."""
    fun, shapes, types, tries = PROGRAMS[name]
    described = specs(*shapes)
    program = make_jaxpr(fun)(*described)
    assert " ".join(a.str_short(short_dtypes=True) for a in program.out_avals) == types
    names = sorted({v for x in described for d in x.shape if not isinstance(d, int) for v in d._get_vars()})
    for lengths in tries:
        known = dict(zip(names, lengths))
        shapes = [tuple(d if isinstance(d, int) else d._evaluate(known) for d in x.shape) for x in described]
        args = [jnp.asarray(np.random.default_rng(0).normal(size=s).astype(x.dtype)) for x, s in zip(described, shapes)]
        want = tree.leaves(fun(*args))
        got = eval_jaxpr(program.jaxpr, program.consts, *args)
        for a, b in zip(got, want, strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        check_jaxpr(program.jaxpr.for_arguments(args))


def test_printed():
    program = make_jaxpr(lambda x: jnp.sum(x.reshape(-1)) / x.shape[0])(*specs("a, b"))
    assert str(program) == """{ lambda ; a:f32[a,b]. let
    b:f32[a*b] = reshape[dimensions=None new_sizes=(a*b,) sharding=None] a
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
    d:i32[] = dim_as_value[dim=a]
    e:f32[] = convert_element_type[new_dtype=float32 weak_type=False] d
    f:f32[] = div c e
  in (f,) }"""
    assert program.eqns[0].params["new_sizes"][0]._get_vars() == {"a", "b"}


def test_derivatives_of_programs():
    """Own rules close over types, which are those of the arguments."""
    for fun in (lambda x: scaled(x, 2.0), total, nn.softmax, lambda x: nn.relu(x).sum(1)):
        program = make_jaxpr(fun)(*specs("a, b"))
        run = lambda x: eval_jaxpr(program.jaxpr, program.consts, x)[0]
        for shape in (1, 1), (3, 5):
            x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
            want, got = (grad(lambda z: (f(z) ** 2).sum())(x) for f in (fun, run))
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(jit(run)(x), fun(x), rtol=1e-6)
    x = np.ones(3, np.float32)
    program = make_jaxpr(lambda x: scaled(x, 2.0))(*specs("a"))
    assert np.array_equal(jvp(lambda z: eval_jaxpr(program.jaxpr, program.consts, z)[0], (x,), (x,))[1], 6 * x)


def test_derivatives_of_mapped_programs():
    program = make_jaxpr(vmap(total))(*specs("n, a, b"))
    run = lambda x: eval_jaxpr(program.jaxpr, program.consts, x)[0]
    for shape in (2, 3, 4), (5, 1, 2):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        want, got = (grad(lambda z: (f(z) ** 2).sum())(x) for f in (vmap(total), run))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_rules_that_depend_on_lengths_are_refused_when_they_are_used():
    def f(x):
        bits = len(x).bit_length()  # no expression in the length
        g = custom_vjp(lambda x: x)
        g.defvjp(lambda x: (x, None), lambda _, ct: (bits * ct,))
        return g(x)

    program = make_jaxpr(f)(*specs("n"))
    run = lambda x: eval_jaxpr(program.jaxpr, program.consts, x)[0]
    assert run(np.ones(3, np.float32)).shape == (3,)
    with pytest.raises(NotImplementedError, match="take the derivative before the program is traced"):
        grad(lambda x: run(x).sum())(np.ones(3, np.float32))


@pytest.mark.parametrize("fun, shapes, message", [
    (lambda x: x if x.shape[0] > 3 else -x, ["a"], "another way where '3' >= 'a' than"),
    (lambda x: x if len(x) < 100 else -x, ["a"], "in more than numbers"),
    (lambda x, y: x[: min(len(x), y.shape[0])], ["a", "b"], None),
    (lambda x: sum(x[i] for i in range(x.shape[0])), ["a"], "depends on the symbolic dimensions a in more than numbers"),
    (lambda x: x + np.sqrt(x.shape[0]), ["a"], "in more than numbers; in equation 1, add"),
    (lambda x: jnp.zeros(x.shape[0].bit_length()), ["a"], "is no known expression: it is 4, 4, 4, 5 for a = 15"),
])
def test_programs_that_are_not_one(fun, shapes, message):
    with pytest.raises(InconclusiveDimensionOperation, match=message):
        make_jaxpr(fun)(*specs(*shapes))


def test_constraints_decide():
    program = make_jaxpr(lambda x: x if x.shape[0] > 3 else -x)(*specs("a", constraints=["a >= 4"]))
    assert program.eqns == [] and program.in_avals[0].str_short() == "float32[a]"
    program = make_jaxpr(lambda x: x.reshape(2, -1))(*specs("a", constraints=["a >= 2", "a <= 4", "mod(a, 2) == 0"]))
    assert [a.str_short() for a in program.out_avals] == ["float32[2,floordiv(a, 2)]"]


def test_shapes_that_do_not_fit():
    with pytest.raises(TypeError, match="incompatible shapes"):
        make_jaxpr(lambda x, y: x + y)(*specs("a", "b"))
    program = make_jaxpr(lambda x, y: x @ y)(*specs("a, b", "b"))
    with pytest.raises(ValueError, match=r"Found inconsistency between dimension size y.shape\[0\] \(= 4\)"):
        eval_jaxpr(program.jaxpr, program.consts, np.ones((2, 3), np.float32), np.ones(4, np.float32))
    with pytest.raises(TypeError, match="takes 2 arguments"):
        eval_jaxpr(program.jaxpr, program.consts, np.ones((2, 3), np.float32))
    inner = next(subjaxprs(make_jaxpr(jit(lambda x: x.sum() * x.shape[0]))(*specs("a")).jaxpr))
    assert eval_jaxpr(inner, (), np.ones(3, np.float32))[0] == 9
    inner = next(subjaxprs(make_jaxpr(lambda x: lax.map(lambda row: row.sum() * x.shape[0], x))(*specs("a, 2")).jaxpr))
    with pytest.raises(ValueError, match="dimension 'a', which the shapes of its arguments do not say"):
        eval_jaxpr(inner, (), np.ones(2, np.float32))


def test_stages():
    x, = specs("a, b")
    fun = jit(lambda x, k: x.reshape(-1) * k, static_argnums=1)
    traced = fun.trace(x, 3.0)
    assert str(traced.out_info) == "ShapeDtypeStruct(shape=(a*b,), dtype=float32)" == str(fun.eval_shape(x, 3.0)) == str(eval_shape(lambda x: fun(x, 3.0), x))
    assert [e.primitive.name for e in traced.jaxpr.eqns] == ["reshape", "mul"]
    assert np.array_equal(jit(lambda x: 2 * x).trace(x)(np.ones((2, 3), np.float32)), np.full((2, 3), 2))
    lowered = traced.lower()
    assert "tensor<<a>x<b>xf32>) -> tensor<<a*b>xf32>" in lowered.as_text() and lowered.in_avals == traced.in_avals
    for refused in lowered.compile, lowered.compiler_ir, lowered.cost_analysis, lambda: lowered.as_text("hlo"):
        with pytest.raises(ValueError, match=r"was lowered for the symbolic shapes float32\[a,b\]"):
            refused()
    program, structs = make_jaxpr(fun, static_argnums=1, return_shape=True)(x, 3.0)
    assert structs == traced.out_info and program.in_avals == make_jaxpr(jnp.sin)(*program.in_avals).out_avals


def test_dimensions_that_a_function_closes_over():
    a, b = symbolic_shape("a, b")
    x = ShapeDtypeStruct((a, b), np.float32)
    fun = lambda x: a * x.reshape(a * b) + jnp.zeros((b * a,)) + 2 ** a
    program = make_jaxpr(fun)(x)
    assert np.array_equal(eval_jaxpr(program.jaxpr, program.consts, np.ones((2, 3), np.float32))[0], np.full(6, 6))
    assert eval_shape(fun, x).shape == (a * b,)
    with pytest.raises(NotImplementedError, match="the length 'a' is not known here"):
        a * jnp.ones(3)
    with pytest.raises(TypeError, match="'a' is a symbolic dimension, and no integer"):
        range(a)
    assert int(dim_as_value_p.bind(dim=3)) == 3 == int(jit(lambda: dim_as_value_p.bind(dim=3))())


def test_the_collector_waits_until_all_lengths_were_traced():
    def chain(x):
        for _ in range(100):
            x = jnp.sin(x)
        return x
    arguments, passes, before = specs("n, m"), [], gc.get_threshold()
    make_jaxpr(chain)(*arguments)
    gc.collect()
    gc.set_threshold(700, 10, 10)

    def noted(phase, info):
        passes.append(phase)
    gc.callbacks.append(noted)
    try:
        make_jaxpr(chain)(*arguments)
    finally:
        gc.callbacks.remove(noted)
        gc.set_threshold(*before)
    assert passes.count("start") <= 3  # not one after each of two dozen samples
