"""Sums that are still to be made over devices, carried, read and stacked by loops and branches: right, and made once."""
import numpy as np
import pytest

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, PartitionSpec as P

pytestmark = pytest.mark.skipif(len(jax.devices()) < 4, reason="needs four devices")


@pytest.fixture(autouse=True)
def four_devices():
    with jax.set_mesh(jax.make_mesh((4,), ("x",), (AxisType.Explicit,), devices=jax.devices()[:4])):
        yield


def weights_and_batch():
    w = jax.device_put(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), P(reduced={"x"}))
    return w, jax.device_put(np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4), P("x", None))


def loss(w, batch):
    return jnp.sum(jnp.tanh(batch @ w) ** 2)


def part(w, batch):
    """The gradient as each device has it: its own batch's."""
    return jax.grad(loss)(w, batch)


def nothing():
    return jax.reshard(jnp.zeros((4, 4)), P(unreduced={"x"}))


def stacked(w, batch):
    return lax.scan(lambda c, scale: (c, part(w, batch * scale)), 0.0, jnp.ones(3))[1]


def of_layers(w, batch):
    layers = jax.reshard(jnp.stack([w, w]), P(None, None, None, reduced={"x"}))
    deep = jax.grad(lambda layers, batch: jnp.sum(lax.scan(lambda h, w: (jnp.tanh(h @ w), None), batch, layers)[0]))
    return lax.scan(lambda total, scale: (total + deep(layers, batch * scale), None),
                    jax.reshard(jnp.zeros((2, 4, 4)), P(unreduced={"x"})), jnp.ones(3))[0]


def of_layers_plainly(w, batch):
    w, batch = np.asarray(w), np.asarray(batch)
    h = np.tanh(batch @ w)
    back = 1 - np.tanh(h @ w) ** 2
    return 3 * np.stack([batch.T @ (back @ w.T * (1 - h ** 2)), h.T @ back])


# A program, and the number by which one gradient is multiplied in its result (or the result, computed otherwise). What a loop reads
# from around it is added up once more by jaxlib 0.10, and what decides a branch is a sum of its own: there only values count.
PROGRAMS = {
    "accumulated": (lambda w, x: lax.scan(lambda a, s: (a + part(w, x * s), None), nothing(), jnp.ones(3))[0], 3),
    "accumulated over layers": (of_layers, of_layers_plainly),
    "read by a loop": (lambda w, x: (lambda g: lax.scan(lambda a, _: (a + g, None), nothing(), length=3)[0])(part(w, x)), 3),
    "read by an inner loop": (lambda w, x: (lambda g: lax.fori_loop(0, 2, lambda i, a: lax.fori_loop(
        0, 3, lambda j, a: a + g, a), nothing()))(part(w, x)), 6),
    "read by a loop that ends by itself": (lambda w, x: (lambda g: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + g), (0, nothing()))[1])(part(w, x)), 3),
    "read by a branch": (lambda w, x: (lambda g: lax.cond(x.sum() > -1e9, lambda: g + g, lambda: g))(part(w, x)), 2),
    "stacked": (lambda w, x: stacked(w, x).sum(0), 3),
    "stacked, then read row by row": (lambda w, x: lax.scan(lambda a, row: (a + row, None), nothing(), stacked(w, x))[0], 3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_sums_are_made_once_after_the_loop(name):
    program, expected = PROGRAMS[name]
    w, batch = weights_and_batch()
    whole = jax.jit(lambda w, x: jax.reshard(program(w, x), P()))
    if not callable(expected):
        batch_all, plain = np.asarray(batch), np.asarray(w)
        h = np.tanh(batch_all @ plain)
        wanted = expected * batch_all.T @ (2 * h * (1 - h ** 2))
    else:
        wanted = expected(w, batch)
    np.testing.assert_allclose(whole(w, batch), wanted, rtol=1e-4, atol=1e-4)
    if name in ("accumulated", "accumulated over layers", "stacked"):
        assert whole.lower(w, batch).compile().as_text().count(" all-reduce(") == 1
