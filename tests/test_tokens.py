"""Tokens enter and leave compiled programs; outside they are `jax.extend.core.Token`, which wait for what made them."""
from __future__ import annotations

import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Token

TOKEN = lax.create_token()
CASES = {
    "made": lambda: jax.jit(lax.create_token)(),
    "captured": lambda: jax.jit(lambda x: (TOKEN, x + 2))(7)[0],
    "passed": lambda: jax.jit(lambda t, x: (t, x))(TOKEN, 1.0)[0],
    "passed on": lambda: jax.jit(lambda t: t)(jax.jit(lambda t: t)(TOKEN)),
    "joined": lambda: jax.jit(lambda s, t: lax.after_all(s, t))(TOKEN, lax.create_token()),
    "joined at once": lambda: lax.after_all(TOKEN, lax.create_token()),
    "scan": lambda: lax.scan(lambda t, x: (lax.after_all(t), x), TOKEN, jnp.arange(3))[0],
    "while": lambda: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + 1), (TOKEN, 0))[0],
    "cond": lambda: lax.cond(True, lambda t: t, lambda t: t, TOKEN),
    "ahead of time": lambda: jax.jit(lambda t: (t, 1)).lower(TOKEN).compile()(TOKEN)[0],
    "vjp": lambda: jax.vjp(jax.jit(lambda x: (x * x, TOKEN)), 3.0)[0][1],
}


@pytest.mark.parametrize("case", CASES)
def test_token(case):
    for _ in range(3):  # the first call, and what is kept of it
        found = CASES[case]()
        assert type(found) is Token
        assert found.block_until_ready() is None
    jax.block_until_ready([found, jnp.ones(2)])


def test_a_token_has_no_derivative_and_a_type():
    assert jax.grad(lambda x: jax.jit(lambda x, t: (x * x, t))(x, TOKEN)[0])(3.0) == 6
    assert jax.eval_shape(lambda t: (t, 1.0), TOKEN)[0] == jax.typeof(TOKEN)
