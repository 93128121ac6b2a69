"""Classes of pytree nodes that want arrays as children (``assert x.ndim``) pass through every transformation.

What only needs names or places of leaves must not build such nodes from stand-ins.
"""
import pytest

import jax
import jax.numpy as jnp
import jax_core.representation.tree as tree
from jax.experimental import io_callback


class Measured:
    """A node that measures what it is made of."""

    def __init__(self, x):
        self.rank = x.ndim
        self.x = x


jax.tree_util.register_pytree_node(Measured, lambda node: ((node.x,), None), lambda _, children: Measured(*children))


def double(a):
    return Measured(a.x * 2)


ONES = Measured(jnp.ones(3))
CALLS = {
    "jit": lambda: jax.jit(double)(ONES),
    "donated": lambda: jax.jit(double, donate_argnums=0)(Measured(jnp.ones(3))),
    "placed": lambda: jax.jit(double, in_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]))(ONES),
    "stages": lambda: jax.jit(double).lower(ONES).compile()(ONES),
    "linearize": lambda: jax.linearize(double, ONES)[1](ONES),
    "vjp": lambda: jax.vjp(double, ONES)[1](ONES)[0],
    "vmap": lambda: jax.vmap(double)(ONES),
    "pmap": lambda: jax.tree.map(lambda x: x[0], jax.pmap(double)(Measured(jnp.ones((1, 3))))),
    "scan": lambda: jax.lax.scan(lambda c, _: (double(c), None), ONES, None, length=1)[0],
    "cond": lambda: jax.lax.cond(True, double, lambda a: a, ONES),
    "device_put": lambda: double(jax.device_put((ONES,), (jax.devices()[0],))[0]),
    "pure_callback": lambda: jax.pure_callback(double, ONES, ONES),
    "io_callback": lambda: io_callback(double, ONES, ONES),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_passes_through(name):
    """The result is a node with twice the ones."""
    out = CALLS[name]()
    assert isinstance(out, Measured) and out.x.tolist() == [2.0] * 3


def test_errors_say_what_is_wrong_and_not_what_the_class_says():
    """A message that names arguments takes indices as the names of what the class refuses."""
    with pytest.raises(jax.errors.TracerBoolConversionError, match=r"argument a\[0\]|a\[0\]"):
        jax.jit(lambda a: 1 if a.x[0] > 0 else 2)(ONES)
    with pytest.raises(TypeError, match=r"argument a\[0\] is float32\[3,2\]"):
        jax.jit(double).lower(ONES).compile()(Measured(jnp.ones((3, 2))))


def test_a_skeleton_keeps_the_nodes_that_take_stand_ins():
    """Only the node that refuses becomes a tuple, and the numbers stay in order."""
    structure = jax.tree.structure({"a": [1, ONES], "b": (None, 2)})
    assert tree.skeleton(structure) == {"a": [0, (1,)], "b": (None, 2)}
    assert tree.skeleton(jax.tree.structure({"a": [1, 2]}), "xy") == {"a": ["x", "y"]}
