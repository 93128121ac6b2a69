"""What cannot work is refused where it is written: loops with wrong parameters, solves whose derivative fails, programs that cannot be stored."""
from __future__ import annotations

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import checkify, sparse
from jax.experimental.serialize_executable import serialize
from jax.extend.core import Primitive, jaxpr_as_fun
from jax_core.representation.errors import JaxprTypeError
from jax_core.representation.jaxpr import check_jaxpr

LOOPS = {
    "scan": (lambda c, xs: lax.scan(lambda c, x: (c + x, c), c, xs), [1.0, jnp.arange(3.0)],
             [{"reverse": 4}, {"num_consts": -1}, {"num_carry": "x"}, {"num_consts": 7}]),
    "while": (lambda c: lax.while_loop(lambda c: c < 3, lambda c: c + 1, c), [1.0], [{"cond_nconsts": -2}, {"body_nconsts": 1.0}]),
}


@pytest.mark.parametrize("name, wrong", [(n, w) for n, (_, _, many) in LOOPS.items() for w in many], ids=str)
def test_parameters_of_loops(name, wrong):
    f, args, _ = LOOPS[name]
    closed = jax.make_jaxpr(f)(*args)
    jaxpr_as_fun(closed)(*args)
    next(e for e in closed.jaxpr.eqns if e.primitive.name == name).params.update(wrong)
    with pytest.raises(JaxprTypeError, match=f"{name}: |must be"):
        check_jaxpr(closed.jaxpr)


@pytest.mark.parametrize("f, wrong", [
    (lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x), {"branches": (4, 2)}), (jax.jit(jnp.sin), {"jaxpr": None}),
    (lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x), {"body_jaxpr": "a"})], ids=["cond", "jit", "while"])
def test_parameters_that_hold_programs(f, wrong):
    closed = jax.make_jaxpr(f)(1.0)
    closed.jaxpr.eqns[-1].params.update(wrong)
    with pytest.raises(JaxprTypeError, match=f"{next(iter(wrong))} must be a (tuple of )?program"):
        check_jaxpr(closed.jaxpr)


def test_an_equation_with_wrong_parameters_is_printed():
    closed = jax.make_jaxpr(lambda x: lax.dot(x, x))(jnp.ones(3))
    closed.jaxpr.eqns[-1].params.update(dimension_numbers=4)
    with pytest.raises(JaxprTypeError, match="dimension_numbers=4"):
        check_jaxpr(closed.jaxpr)


def test_tangent_solve_of_a_root_is_traced_at_the_call():
    f, solve = (lambda x: x ** 2 - 4), (lambda f, x: x + 2)
    assert lax.custom_root(f, 0.0, solve, lambda g, y: y / g(1.0)) == 2
    with pytest.raises(ZeroDivisionError):
        lax.custom_root(f, 0.0, solve, lambda g, y: 1 // 0)
    with pytest.raises(TypeError, match="tangent_solve must return"):
        lax.custom_root(f, 0.0, solve, lambda g, y: (y, y))


def test_a_program_with_a_reference_of_its_own_is_not_stored():
    ref = jax.new_ref(0.0)

    @jax.jit
    def f(x):
        ref[...] += x
    with pytest.raises(ValueError, match="mutable references that it closes over"):
        serialize(f.lower(1.0).compile())


def test_an_effect_of_no_class_is_not_lowered():
    noisy = Primitive("noisy")
    noisy.def_effectful_abstract_eval(lambda x: (x, {"abc"}))
    program = jax.make_jaxpr(noisy.bind)(1.0)
    assert program.effects == {"abc"} and [a.str_short() for a in program.out_avals] == ["float32[]"]
    with pytest.raises(ValueError, match=r"effects: \{'abc'\}"):
        jax.jit(noisy.bind).lower(1.0)


@pytest.mark.only_cpu
def test_export_for_a_platform_that_nothing_is_known_of():
    f = lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x + 2, default=lambda x: x + 3)
    exported = jax.export.export(jax.jit(f), platforms=("tpu", "other", "cpu"))(1.0)
    assert exported.platforms == ("tpu", "other", "cpu") and exported.call(1.0) == 2
    with pytest.raises(NotImplementedError, match="donates arguments"):
        jax.export.export(jax.jit(f, donate_argnums=0), platforms=("cpu", "other"))(1.0)
    assert jax.export.export(jax.jit(f, donate_argnums=0), platforms=("cpu", "tpu"))(1.0).platforms == ("cpu", "tpu")


@pytest.mark.parametrize("prevent_cse", [1, None, "yes"])
def test_prevent_cse_of_another_kind(prevent_cse):
    with pytest.raises(TypeError, match=r"^checkpoint: prevent_cse must be a bool or a tuple of bools, got"):
        jax.checkpoint(jnp.sin, prevent_cse=prevent_cse)


@pytest.mark.parametrize("transform", [sparse.jacfwd, sparse.jacrev, sparse.jacobian])
def test_jacobians_of_sparse_arrays_take_no_other_arguments(transform):
    with pytest.raises(TypeError, match="no_such"):
        transform(jnp.sin, no_such=1)
    transform(jnp.sin, holomorphic=True)


KINDS = {
    "compiler_options": (lambda: jax.jit(jnp.sin, compiler_options="fast"), TypeError, "jit: compiler_options must be a dict"),
    "axis_size": (lambda: jax.vmap(jnp.sin, axis_size=[3]), ValueError, "vmap: axis_size must be an integer"),
    "in_axes": (lambda: jax.vmap(jnp.sin, in_axes=int), TypeError, "vmap: in_axes=<class 'int'> is of type type"),
    "data": (lambda: jax.random.fold_in(jax.random.key(0), 1j), TypeError, "fold_in: data must be an integer, got 1j"),
    "msg": (lambda: checkify.check(True, 3), TypeError, "checkify.check: msg must be a string, got 3"),
}


@pytest.mark.parametrize("name", KINDS)
def test_options_of_another_kind(name):
    call, kind, said = KINDS[name]
    with pytest.raises(kind, match=f"^{said}"):
        call()


@pytest.mark.parametrize("device", ["cpu", 0])
def test_devices_of_jit(device):
    with pytest.raises(TypeError, match="jit: device must be one of jax.devices"):
        jax.jit(jnp.sin, device=device)
    assert jax.jit(lambda x: x + 1, device=jax.devices()[0])(1.0) == 2


def test_axes_of_vmap_are_ints():
    class Index:
        def __index__(self):
            return 0

    with pytest.raises(TypeError, match="in_axes=<.*Index"):
        jax.vmap(jnp.sin, in_axes=Index())
    for axis in (0, np.int8(0), np.array(0)):
        assert jax.vmap(jnp.sin, in_axes=axis)(jnp.zeros(2)).shape == (2,)
