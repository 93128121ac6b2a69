"""Training programs of the kind that people have: they learn, and go on from a checkpoint as if nothing had happened."""
import codecs
import contextlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed here; the nox session `clients` has it")


def text_of_python() -> np.ndarray:
    """The letters of the poem that Python ships."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return np.frombuffer(codecs.decode(this.s, "rot13").encode(), np.uint8).astype(np.int32) % 128


def test_a_small_gpt_goes_on_from_its_checkpoint(tmp_path):
    """flax nnx, optax and orbax: two epochs in one go, and one epoch twice with a checkpoint between, have the same losses."""
    nnx, optax, ocp = library("flax.nnx"), library("optax"), library("orbax.checkpoint")

    class Block(nnx.Module):
        def __init__(self, width, rngs):
            self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
            self.attention = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs)
            self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

        def __call__(self, x):
            mask = nnx.make_causal_mask(x[..., 0])
            x = x + self.attention(self.norms[0](x), mask=mask)
            return x + self.down(nnx.gelu(self.up(self.norms[1](x))))

    class Gpt(nnx.Module):
        def __init__(self, rngs, width=32, length=32):
            self.letters, self.places = nnx.Embed(128, width, rngs=rngs), nnx.Embed(length, width, rngs=rngs)
            self.blocks = nnx.List([Block(width, rngs) for _ in range(2)])

        def __call__(self, x):
            h = self.letters(x) + self.places(jnp.arange(x.shape[1]))
            for block in self.blocks:
                h = block(h)
            return self.letters.attend(h)

    def loss(model, x):
        return optax.softmax_cross_entropy_with_integer_labels(model(x[:, :-1]), x[:, 1:]).mean()

    @nnx.jit
    def step(model, optimizer, x):
        value, grads = nnx.value_and_grad(loss)(model, x)
        optimizer.update(model, grads)
        return value

    def fresh():
        model = Gpt(nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)

    text = text_of_python()
    batches = text[:text.size // (33 * 4) * 33 * 4].reshape(-1, 4, 33)
    epoch = lambda model, optimizer: [float(step(model, optimizer, x)) for x in batches]
    model, optimizer = fresh()
    whole = epoch(model, optimizer) + epoch(model, optimizer)
    assert whole[-1] < 0.8 * whole[0]

    model, optimizer = fresh()
    first = epoch(model, optimizer)
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(tmp_path / "state", nnx.state((model, optimizer)))
        checkpointer.wait_until_finished()
        again = fresh()
        nnx.update(again, checkpointer.restore(tmp_path / "state", nnx.state(again)))
    assert first + epoch(*again) == whole


FOUR_DEVICES = """
import sys, jax, jax.numpy as jnp, numpy as np, orbax.checkpoint as ocp, pathlib
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
auto = AxisType.Auto
square, line = jax.make_mesh((2, 2), ("a", "b"), axis_types=(auto,) * 2), jax.make_mesh((4,), ("x",), axis_types=(auto,))
tree = {"w": jax.device_put(jnp.arange(32.0).reshape(8, 4), NamedSharding(square, P("a", "b"))), "n": jnp.arange(3)}
where = pathlib.Path(sys.argv[1]) / "tree"
with ocp.StandardCheckpointer() as checkpointer:
    checkpointer.save(where, tree)
    checkpointer.wait_until_finished()
    for mesh, spec in (square, P("a", "b")), (line, P("x")), (line, P(None, "x")):
        place = {"w": NamedSharding(mesh, spec), "n": NamedSharding(mesh, P())}
        back = checkpointer.restore(where, {k: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place[k]) for k, x in tree.items()})
        assert back["w"].sharding == place["w"] and all(np.array_equal(back[k], tree[k]) for k in tree), spec
print("ok")
"""


def test_checkpoints_of_four_devices_are_restored_on_another_mesh(tmp_path):
    library("orbax.checkpoint")
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", FOUR_DEVICES, tmp_path], env={**os.environ, **devices}, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip().endswith("ok"), done.stderr[-2000:]


def test_a_neural_ode_learns():
    """equinox, diffrax and optax: the decay of a spiral."""
    eqx, diffrax, optax = library("equinox"), library("diffrax"), library("optax")
    times, target = jnp.linspace(0.0, 2.0, 9), jnp.stack([jnp.exp(-jnp.linspace(0.0, 2.0, 9)) * f(3 * jnp.linspace(0.0, 2.0, 9)) for f in (jnp.cos, jnp.sin)], 1)
    field = eqx.nn.MLP(2, 2, 16, 1, activation=jnp.tanh, key=jax.random.PRNGKey(0))
    optimizer = optax.adam(3e-2)

    def loss(field):
        solved = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, field: field(y)), diffrax.Tsit5(), 0.0, 2.0, 0.1, target[0], args=field,
                                     saveat=diffrax.SaveAt(ts=times))
        return jnp.mean((solved.ys - target) ** 2)

    @eqx.filter_jit
    def step(field, state):
        value, grads = eqx.filter_value_and_grad(loss)(field)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(field, updates), state, value
    state, history = optimizer.init(eqx.filter(field, eqx.is_array)), []
    for _ in range(60):
        field, state, value = step(field, state)
        history.append(float(value))
    assert history[-1] < 0.2 * history[0]


def test_blackjax_samples_a_normal():
    blackjax = library("blackjax")
    kernel = blackjax.nuts(lambda x: -0.5 * jnp.sum((x - 3) ** 2), step_size=0.7, inverse_mass_matrix=jnp.ones(2))

    @jax.jit
    def run(key):
        one = lambda state, key: (lambda new: (new, new.position))(kernel.step(key, state)[0])
        return jax.lax.scan(one, kernel.init(jnp.zeros(2)), jax.random.split(key, 600))[1]
    found = np.asarray(run(jax.random.PRNGKey(1)))[100:]
    assert np.allclose(found.mean(0), 3, atol=0.3) and np.allclose(found.std(0), 1, atol=0.3)
