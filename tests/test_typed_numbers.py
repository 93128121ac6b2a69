"""Numbers of Python have a dtype where a transformation hands them to a user's function: what the public jax answers, by the table."""
from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax._src.literals import TypedComplex, TypedFloat, TypedInt

SEEN: list = []


def _ask(*values):
    SEEN.extend((x.dtype, x.shape, bool(x), "" if x.shape else f"{x:.1f}") for x in values if not hasattr(x, "aval"))


@jax.custom_jvp
def with_jvp(x, y):
    _ask(x, y)
    return x * y


@with_jvp.defjvp
def _(primals, tangents):
    _ask(*primals)
    return with_jvp(*primals), primals[0] * tangents[1] + tangents[0] * primals[1]


@jax.custom_vjp
def with_vjp(x, y):
    _ask(x, y)
    return x * y


def _forward(x, y):
    _ask(x, y)
    return x * y, (x, y)


def _backward(residuals, ct):
    _ask(*residuals)
    return ct * residuals[1], ct * residuals[0]


with_vjp.defvjp(_forward, _backward)


@jax.custom_gradient
def with_gradient(x, y):
    _ask(x, y)
    return x * y, lambda ct: (ct * y, ct * x)


RULED = [with_jvp, with_vjp, with_gradient]
FLOAT = (np.dtype("float32"), (), True)
CALLS = {
    "eager": lambda f: f(3.0, 2.0), "grad": lambda f: jax.grad(f)(3.0, 2.0), "grad of a constant": lambda f: jax.grad(lambda x: f(x, 2.0))(3.0),
    "vjp": lambda f: jax.vjp(f, 3.0, 2.0)[1](1.0), "linearize": lambda f: jax.linearize(f, 3.0, 2.0)[0] if f is not with_vjp else f(3.0, 2.0),
    "jvp": lambda f: jax.jvp(f, (3.0, 2.0), (1.0, 1.0)) if f is with_jvp else f(3.0, 2.0), "jacrev": lambda f: jax.jacrev(f)(3.0, 2.0),
    "vmap": lambda f: jax.vmap(f, (0, None))(jnp.ones(2), 2.0), "grad in vmap": lambda f: jax.vmap(jax.grad(f), (0, None))(jnp.ones(2), 2.0),
    "twice": lambda f: jax.grad(jax.grad(lambda x: f(x, 2.0) * x))(3.0), "value_and_grad": lambda f: jax.value_and_grad(f)(3.0, 2.0),
}


@pytest.mark.parametrize("f", RULED, ids=["jvp", "vjp", "gradient"])
@pytest.mark.parametrize("name", CALLS)
def test_functions_and_rules_can_ask_a_number(f, name):
    SEEN.clear()
    CALLS[name](f)
    assert SEEN and all(seen[:3] == FLOAT and seen[3] in ("2.0", "3.0") for seen in SEEN)


@pytest.mark.parametrize("f", RULED, ids=["jvp", "vjp", "gradient"])
@pytest.mark.parametrize("x, dtype", [(np.float64(3), "float32"), (np.float32(3), "float32"), (np.array(3.0), "float32"), (np.int32(3), "int32"),
                                      (np.array([3.0]), "float32"), (np.int64(3), "int32"), (np.bool_(True), "bool")], ids=str)
def test_values_of_numpy_have_the_dtype_that_programs_give_them(f, x, dtype):
    SEEN.clear()
    f(x, 2.0)
    assert SEEN[0][:2] == (np.dtype(dtype), np.shape(x))


@pytest.mark.parametrize("call", [
    lambda x: jax.value_and_grad(lambda x: x)(x)[0], lambda x: jax.vjp(lambda x: x, x)[0], lambda x: jax.vjp(lambda x: (x * 2, x), x, has_aux=True)[2],
    lambda x: jax.grad(lambda x: (x * 2, x), has_aux=True)(x)[1], _same := jax.custom_gradient(lambda x: (x, lambda ct: ct))])
def test_a_number_that_comes_back_has_its_dtype(call):
    out = call(2.5)
    assert type(out) is TypedFloat and out.dtype == np.float32 and out.weak_type and jnp.shape(out) == ()
    assert str(out) == f"{out}" == "2.5" == json.dumps(out) and out == 2.5 and hash(out) == hash(2.5) and type(out + 1) is float
    for again in (copy.deepcopy(out), pickle.loads(pickle.dumps(out))):
        assert type(again) is TypedFloat and (again, again.dtype) == (out, out.dtype)


def test_constants_and_tangents_stay_as_they_are():
    assert [type(x) for x in jax.vjp(lambda x: (x, 4.0, True), 3.0)[0]] == [TypedFloat, float, bool]
    assert [type(x) for x in jax.jvp(lambda x: x, (3.0,), (1.0,))] == [float, float]
    assert type(_same(True)) is bool


@pytest.mark.parametrize("number, kind, dtype", [(3, TypedInt, "int32"), (2.5, TypedFloat, "float32"), (1j, TypedComplex, "complex64")])
def test_weak_beside_arrays_and_numpy(number, kind, dtype):
    x = _same(number)
    assert type(x) is kind and x.dtype == np.dtype(dtype)
    for other in (jnp.ones(2, "bfloat16"), np.float32(2), np.ones(2, np.float32), np.complex64(2), jnp.int8(1)):
        assert (x * other).dtype == (number * other).dtype and (other * x).dtype == (other * number).dtype
        assert jnp.result_type(x, other) == jnp.result_type(number, other)
    assert jax.jit(lambda a, b: a * b)(x, jnp.ones(2, "bfloat16")).dtype == (number * jnp.ones(2, "bfloat16")).dtype


def test_an_index_and_a_length():
    x = _same(2)
    assert [5, 6, 7][x] == 7 and jnp.ones((x,)).shape == (2,) and jnp.arange(x).shape == (2,) and list(range(x)) == [0, 1]


def test_under_x64():
    with jax.enable_x64(True):
        assert [_same(x).dtype.name for x in (3, 2.5, 1j, np.float64(1))] == ["int64", "float64", "complex128", "float64"]


def _seeing(make):
    """A function with a rule that notes its second argument, and the list of notes."""
    found: list = []
    ruled = make(lambda x, y: x * y)
    if make is jax.custom_jvp:
        ruled.defjvp(lambda p, t: (found.append(p[1]) or p[0] * p[1], t[0] * p[1]))
    else:
        ruled.defvjp(lambda x, y: (found.append(y) or x * y, y), lambda y, ct: (ct * y, None))
    return ruled, found


@pytest.mark.parametrize("make", [jax.custom_jvp, jax.custom_vjp])
@pytest.mark.parametrize("wrap", [jax.jit, jax.checkpoint, lambda f: lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, length=2)[0]],
                         ids=["jit", "checkpoint", "scan"])
@pytest.mark.parametrize("number", [2.0, 2, True, np.float32(2)], ids=repr)
def test_rules_of_programs_get_their_numbers_as_arrays(make, wrap, number):
    """equinox tells what it traces from what it keeps by whether it is an array, and does so in rules of its checkpointed loop."""
    ruled, found = _seeing(make)
    jax.grad(lambda x: wrap(lambda x: ruled(x, number))(x).sum())(jnp.ones(3))
    assert len(found) == 1 and isinstance(found[0], jax.Array) and found[0] and found[0].dtype == jax.typeof(number).dtype
    assert found[0].weak_type == (type(number) in (int, float))


def _pulled(x):
    return jax.vjp(lambda v: v, x)[1](jax.typeof(x).dtype.type(1))[0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("around,kind", [
    (jax.grad, jax.Array), (lambda f: jax.jit(jax.grad(f)), jax.core.Tracer), (lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0], jax.Array),
    (lambda f: jax.grad(jax.jit(f)), jax.Array)], ids=["grad", "jit of grad", "vmap of grad", "grad of jit"])
@pytest.mark.parametrize("symbolic", [False, True])
def test_cotangents_that_nothing_computed_are_arrays(around, kind, dtype, symbolic):
    """Not NumPy's scalars, which lack methods of arrays, and whose product with a Python number is wider than bfloat16."""
    given = []

    def backward(_, ct):
        given.append(ct)
        return ct * 2.0,
    f = jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x.value if symbolic else x, None), backward, symbolic_zeros=symbolic)
    assert around(f)(jnp.ones((), dtype)).dtype == dtype
    assert isinstance(given[0], kind) and given[0].dtype == dtype


@pytest.mark.parametrize("fun", [jax.grad(lambda x: x), jax.grad(lambda x: 1.0), jax.jacrev(lambda x: x), lambda x: jax.jvp(lambda v: 3.0, (x,), (x,))[1], _pulled])
def test_derivatives_within_programs_are_arrays(fun):
    """Also those that are numbers known while the program is traced."""
    def program(x):
        found = fun(x)
        assert isinstance(found, jax.core.Tracer) and (found * 2.0).dtype == found.dtype
        return found.at[()].add(1)
    assert jax.jit(program)(jnp.ones((), "bfloat16")).shape == ()
