"""Values of a transformation where it is not in force, or where a rule of the user's own cannot know of them: an error, not a
wrong derivative."""
from functools import partial

import pytest

import jax
import jax.numpy as jnp
from jax.errors import UnexpectedTracerError
from jax.experimental import io_callback


def _carried_between_checkpoints(x):
    held = [x]

    def step():
        held[0] = held[0] + 1
        return held[0]
    jax.checkpoint(step)()
    jax.checkpoint(lambda: step())()


def _jvp_function_as_argument(x):
    apply = jax.custom_jvp(lambda h, y: h(y), nondiff_argnums=(0,))
    apply.defjvp(lambda h, primals, tangents: (apply(h, *primals), 2.0 * tangents[0]))
    return apply(lambda y: x + y, x)


def _jvp_closure(x, y):
    add = jax.custom_jvp(lambda y: x + y)
    add.defjvp(lambda primals, tangents: (add(*primals), tangents[0]))
    return add(y)


def _vjp_argument(x, wrap=lambda x: x):
    f = jax.custom_vjp(lambda a, y: jax.tree.leaves(a)[0] * y, nondiff_argnums=(0,))
    f.defvjp(lambda a, y: (f(a, y), None), lambda a, _, ct: (ct,))
    return f(wrap(x), 2.0)


CASES = {
    "checkpoint": lambda: jax.jit(_carried_between_checkpoints)(1.0),
    "function as non-differentiated argument": lambda: jax.jvp(_jvp_function_as_argument, (2.0,), (1.0,)),
    "the same in reverse": lambda: jax.grad(_jvp_function_as_argument)(2.0),
    "closure, constant argument": lambda: jax.grad(lambda x: _jvp_closure(x, 1.0))(2.0),
    "closure": lambda: jax.jvp(lambda x: _jvp_closure(x, x), (2.0,), (1.0,)),
    "closure, staged": lambda: jax.grad(jax.jit(lambda x: _jvp_closure(x, x)))(2.0),
    "non-differentiated argument": lambda: jax.jit(_vjp_argument)(1.0),
    "non-differentiated container": lambda: jax.grad(partial(_vjp_argument, wrap=lambda x: (x,)))(1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_an_error(name):
    with pytest.raises(UnexpectedTracerError):
        CASES[name]()


LEAKS = {
    "jit": lambda keep: jax.jit(keep)(jnp.ones(4)),
    "grad": lambda keep: jax.grad(lambda v: keep(v).sum())(jnp.ones(4)),
    "vmap": lambda keep: jax.vmap(keep)(jnp.ones((2, 4))),
}
USES = {  # of a value that a transformation left behind
    "operator": lambda v: v + 1,
    "index": lambda v: v[0],
    "update": lambda v: jnp.ones(4).at[0].set(v[0]),
    "stack": lambda v: jnp.stack([v, v]),
    "jit": lambda v: jax.jit(jnp.sin)(v),
    "closure of jit": lambda v: jax.jit(lambda: v + 1)(),
    "grad": lambda v: jax.grad(lambda w: (v * w).sum())(jnp.ones(4)),
    "vmap": lambda v: jax.vmap(lambda w: v * w)(jnp.ones(4)),
    "scan": lambda v: jax.lax.scan(lambda c, _: (c + v, None), jnp.ones(4), None, length=2),
    "pure_callback": lambda v: jax.pure_callback(lambda w: w, jax.ShapeDtypeStruct((4,), "float32"), v),
    "io_callback": lambda v: io_callback(lambda w: None, None, v),
    "debug.print": lambda v: jax.debug.print("{}", v),
    "debug.callback": lambda v: jax.debug.callback(lambda w: None, v),
    "device_put": jax.device_put,
    "to_device": lambda v: v.to_device(jax.devices()[0]),
    "new_ref": jax.new_ref,
    "shard_map": lambda v: jax.shard_map(lambda w: w, mesh=jax.make_mesh((1,), ("a",)), in_specs=jax.P(), out_specs=jax.P())(v),
    "compiled": lambda v: jax.jit(lambda w: w).lower(jnp.ones(4)).compile()(v),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("leak", LEAKS)
def test_a_value_left_behind_is_an_error(leak, use):
    kept = []

    def keep(v):
        kept.append(v)
        return v
    LEAKS[leak](keep)
    with pytest.raises(UnexpectedTracerError):
        USES[use](kept[0])


def test_a_value_left_behind_has_a_shape():
    kept = []
    jax.eval_shape(lambda v: kept.append(v), jnp.ones(4))
    assert jax.eval_shape(lambda: (kept[0] + 1, jax.vmap(lambda i: kept[0][0] * i)(jnp.arange(3)))) == (
        jax.ShapeDtypeStruct((4,), "float32"), jax.ShapeDtypeStruct((3,), "float32"))
    with pytest.raises(UnexpectedTracerError):
        jax.jit(lambda: kept[0])()


def test_values_of_transformations_in_force_are_taken():
    def f(x):
        return jax.vmap(lambda i: jax.checkpoint(lambda: jnp.sin(x) * i)())(jnp.arange(2.0)).sum()
    assert jnp.allclose(jax.jit(jax.grad(f))(0.5), jnp.cos(0.5))
