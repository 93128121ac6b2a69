"""A buffer that is donated is used in place, whoever looked at it before."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp


@pytest.mark.parametrize("look", [
    lambda x: x[3], lambda x: x[3, :2], lambda x: x.reshape(-1), lambda x: np.asarray(x[2:5]), lambda x: jnp.flip(x), lambda x: x > 0],
    ids=["element", "elements", "reshape", "view", "flip", "compare"])
def test_looking_at_a_large_array_leaves_it_to_be_donated_in_place(look):
    x = jnp.zeros((300, 300)) + 1
    kept, where = look(x), x.unsafe_buffer_pointer()
    del kept
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert y.unsafe_buffer_pointer() == where


def test_a_row_does_not_hold_a_large_array():
    x = jnp.zeros((300, 300)) + 1
    row, where = jax.lax.slice(x, (3, 0), (4, 300)), x.unsafe_buffer_pointer()
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert y.unsafe_buffer_pointer() == where and row[0, 0] == 1


@pytest.mark.parametrize("make", [lambda n: jnp.zeros(n), lambda n: jnp.asarray(0.5), lambda n: jnp.asarray([0.5] * n)])
def test_what_was_just_made_is_donated_in_place(make):
    """Wherever NumPy's memory lies."""
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    for n in range(1, 17):
        x = make(n)
        where = x.unsafe_buffer_pointer()
        assert step(x).unsafe_buffer_pointer() == where
