"""`make_jaxpr` shows elementwise operations with the operands that they were given, and such programs run and transform as any."""
import collections

import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax

COLUMN, ROW, LIST = jnp.arange(1., 4.).reshape(3, 1), jnp.arange(1., 5.).reshape(1, 4), jnp.arange(1., 5.)
TWO = jnp.arange(8.).reshape(2, 4)


def several(x, y):
    return jnp.maximum(x + y, jnp.arctan2(x, y)) * 2 + jnp.sum(y * x, 0)


PROGRAMS = {  # function, arguments, how many of its operations are broadcasts
    "one rank": (lambda x, y: x + y, (COLUMN, ROW), 0),
    "length 1": (lambda x, y: x * y, (LIST, jnp.ones(1)), 0),
    "lax": (lax.atan2, (COLUMN, ROW), 0),
    "bind": (lambda x, y: lax.pow_p.bind(x, y), (COLUMN, ROW), 0),
    "three operands": (jax.scipy.special.betainc, (COLUMN, ROW, jnp.full((3, 4), 0.3)), 0),
    "rank 1 meets 2": (lambda x, y: x - y, (COLUMN, LIST), 1),
    "read twice": (lambda x, y: jnp.less(x, y) | jnp.equal(x, y), (COLUMN, ROW), 0),
    "asked for": (lambda x, y: jnp.broadcast_to(x, (3, 4)) + y, (COLUMN, ROW), 1),
    "broadcast_arrays": (lambda x, y: jnp.add(*jnp.broadcast_arrays(x, y)), (COLUMN, ROW), 2),
    "returned, too": (lambda x, y: (lambda both: (both[0] + both[1], both))(jnp.broadcast_arrays(x, y)), (COLUMN, ROW), 2),
    "select needs one shape": (lambda x, y: jnp.where(x > 1, x, y), (COLUMN, ROW), 3),
    "vmap of one side": (jax.vmap(lambda x, y: x * y, in_axes=(None, 0)), (COLUMN, TWO), 2),
    "vmap of scalars": (jax.vmap(lambda x, y: x * y), (jnp.ones(3), jnp.ones((3, 4))), 1),
    "gradient": (jax.grad(lambda x, y: jnp.sum(jnp.sin(x * y))), (COLUMN, ROW), 2),
    "several": (several, (COLUMN, LIST), 4),
    "several, mapped": (jax.vmap(several, in_axes=(None, 0)), (COLUMN, TWO), 7),
}


def same(found, wanted):
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_written_broadcasts_are_shown(name):
    fun, args, broadcasts = PROGRAMS[name]
    program = jax.make_jaxpr(fun)(*args)
    assert collections.Counter(eqn.primitive for eqn in program.eqns)[lax.broadcast_in_dim_p] == broadcasts
    jax.core.check_jaxpr(program.jaxpr)


@pytest.mark.parametrize("name", PROGRAMS)
def test_such_programs_run_and_transform(name):
    fun, args, _ = PROGRAMS[name]
    program, wanted = jax.make_jaxpr(fun)(*args), fun(*args)
    call = jax.make_jaxpr(jax.jit(fun))(*args).eqns[0]

    def held(*args):  # the program as a parameter: its equations are compiled and differentiated as they are
        return call.primitive.bind(*args, **{**call.params, "jaxpr": program})
    for run in (jax.core.jaxpr_as_fun(program), jax.jit(jax.core.jaxpr_as_fun(program)), held, jax.jit(held)):
        same(run(*args), wanted)
    same(jax.vmap(held)(*[jnp.stack([x, x]) for x in args]), jax.tree.map(lambda x: jnp.stack([x, x]), wanted))
    if all(jnp.issubdtype(x.dtype, jnp.floating) for x in jax.tree.leaves(wanted)) and name != "three operands":  # of betainc no slope by a, b

        def total(run):
            return lambda *args: sum(jnp.sum(jnp.cos(x)) for x in jax.tree.leaves(run(*args)))
        same(jax.grad(total(held))(*args), jax.grad(total(fun))(*args))
        same(jax.jit(jax.grad(total(jax.checkpoint(held))))(*args), jax.grad(total(fun))(*args))


def test_shapes_that_do_not_fit_are_still_refused():
    program = jax.make_jaxpr(lambda x, y: x + y)(COLUMN, ROW)
    eqn, = program.eqns
    wrong = program.jaxpr.replace(eqns=[eqn.replace(primitive=lax.select_n_p)])
    with pytest.raises(jax.errors.JaxprTypeError, match="select_n"):
        jax.core.check_jaxpr(wrong)
    narrow = jax.make_jaxpr(lambda x, y: x + y)(COLUMN, COLUMN).eqns[0].outvars
    with pytest.raises(jax.errors.JaxprTypeError, match="check_jaxpr: result of type"):
        jax.core.check_jaxpr(program.jaxpr.replace(eqns=[eqn.replace(outvars=narrow)], outvars=narrow))
