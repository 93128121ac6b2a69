#!/usr/bin/env python3
"""Programs of the size people have, on libraries written for JAX, under two interpreters: the same values, and what they cost.

usage: client_programs.py OURS_PYTHON THEIRS_PYTHON [--rounds 3] [--only NAME ...]

A program gives values (losses, energies, draws) of its steps. Compared are the first ten and all of them: rounding grows with the
number of steps, in a sampler until paths part. Times of the imports and of the first step (it traces and compiles) are the processor's, of
all threads, so that other work on the machine counts little; of later steps it is the least time on the clock. The least over rounds counts,
in which the interpreters alternate. Each interpreter needs the libraries of `./run clients`; PYTHONPATH_OURS and PYTHONPATH_THEIRS name further folders.
"""
import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import time


def nnx_block():
    """A block of a transformer: attention and a layer of four times the width, each added to its input."""
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, width, rngs):
            self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in range(2)])
            self.attention = nnx.MultiHeadAttention(4, width, decode=False, rngs=rngs)
            self.up, self.down = nnx.Linear(width, 4 * width, rngs=rngs), nnx.Linear(4 * width, width, rngs=rngs)

        def __call__(self, x):
            x = x + self.attention(self.norms[0](x), mask=nnx.make_causal_mask(x[..., 0]))
            return x + self.down(nnx.gelu(self.up(self.norms[1](x))))
    return Block


def gpt():
    """flax nnx, optax, orbax: a GPT on Python's own reference; after half the steps it is saved and goes on from the checkpoint."""
    import pydoc_data.topics
    import jax.numpy as jnp
    import numpy as np
    import optax
    import orbax.checkpoint as ocp
    from flax import nnx
    width, length, batch, steps = 64, 64, 8, 40

    Block = nnx_block()

    class Gpt(nnx.Module):
        def __init__(self, rngs):
            self.letters, self.places = nnx.Embed(128, width, rngs=rngs), nnx.Embed(length, width, rngs=rngs)
            self.blocks = nnx.List([Block(width, rngs) for _ in range(4)])

        def __call__(self, x):
            h = self.letters(x) + self.places(jnp.arange(x.shape[1]))
            for block in self.blocks:
                h = block(h)
            return self.letters.attend(h)

    @nnx.jit
    def step(model, optimizer, x):
        loss = lambda model: optax.softmax_cross_entropy_with_integer_labels(model(x[:, :-1]), x[:, 1:]).mean()
        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return value

    def fresh():
        model = Gpt(nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    text = "".join(pydoc_data.topics.topics.values()).encode("ascii", "replace")[:steps * batch * (length + 1)]
    batches = np.frombuffer(text, np.uint8).astype(np.int32).reshape(steps, batch, length + 1)
    state = fresh()
    for i, x in enumerate(batches):
        if i == steps // 2:
            with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as checkpointer:
                checkpointer.save(f"{folder}/state", nnx.state(state))
                checkpointer.wait_until_finished()
                state = fresh()
                nnx.update(state, checkpointer.restore(f"{folder}/state", nnx.state(state)))
        yield functools.partial(step, *state, x)


def neural_ode():
    """equinox, diffrax, optax: a spiral, by the gradients of an adaptive solver."""
    import diffrax
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax
    times = jnp.linspace(0.0, 3.0, 20)
    target = jnp.stack([jnp.exp(-0.5 * times) * f(3 * times) for f in (jnp.cos, jnp.sin)], 1)
    optimizer = optax.adam(1e-2)

    def loss(field):
        solved = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, field: field(y)), diffrax.Tsit5(), 0.0, 3.0, 0.1, target[0], args=field,
                                     saveat=diffrax.SaveAt(ts=times), stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6))
        return jnp.mean((solved.ys - target) ** 2)

    @eqx.filter_jit
    def step(field, state):
        value, grads = eqx.filter_value_and_grad(loss)(field)
        updates, state = optimizer.update(grads, state)
        return eqx.apply_updates(field, updates), state, value
    field = eqx.nn.MLP(2, 2, 32, 2, activation=jnp.tanh, key=jax.random.PRNGKey(0))
    state = [field, optimizer.init(eqx.filter(field, eqx.is_array))]

    def one():
        *state[:], value = step(*state)
        return value
    for _ in range(40):
        yield one


def hierarchical():
    """numpyro: eight schools, four chains side by side; a step is a run of its own."""
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS
    effects, errors = jnp.array([28.0, 8, -3, 7, -1, 1, 18, 12]), jnp.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def model(errors, effects=None):
        mean, spread = numpyro.sample("mean", dist.Normal(0, 5)), numpyro.sample("spread", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            offset = numpyro.sample("offset", dist.Normal(0, 1))
            numpyro.sample("effects", dist.Normal(mean + spread * offset, errors), obs=effects)
    sampler = MCMC(NUTS(model), num_warmup=200, num_samples=200, num_chains=4, chain_method="vectorized", progress_bar=False)

    def one(seed):
        sampler.run(jax.random.PRNGKey(seed), errors, effects)
        return sampler.get_samples()["mean"].mean()
    for seed in range(6):
        yield functools.partial(one, seed)


def nuts():
    """blackjax: logistic regression of 500 points by NUTS."""
    import blackjax
    import jax
    import jax.numpy as jnp
    x = jax.random.normal(jax.random.PRNGKey(0), (500, 8))
    y = (x @ jnp.arange(8.0) / 8 > 0.3).astype(jnp.float32)

    def density(w):
        z = x @ w
        return jnp.sum(y * z - jax.nn.softplus(z)) - 0.5 * jnp.sum(w**2)
    kernel = blackjax.nuts(density, step_size=0.1, inverse_mass_matrix=jnp.ones(8))
    step, state = jax.jit(kernel.step), [kernel.init(jnp.zeros(8))]

    def one(key):
        state[0], _ = step(key, state[0])
        return state[0].logdensity
    for key in jax.random.split(jax.random.PRNGKey(1), 60):
        yield functools.partial(one, key)


def mixture():
    """haiku, distrax, optax: a network that gives a mixture of normal distributions."""
    import distrax
    import haiku as hk
    import jax
    import jax.numpy as jnp
    import optax
    x = jnp.linspace(-2.0, 2.0, 512)[:, None]
    y = jnp.sin(3 * x[:, 0]) + 0.1 * jax.random.normal(jax.random.PRNGKey(0), (512,))

    def negative(x, y):
        logits, means, scales = jnp.split(hk.nets.MLP([64, 64, 15], activation=jnp.tanh)(x), 3, 1)
        components = distrax.Normal(means, jax.nn.softplus(scales) + 1e-3)
        return -distrax.MixtureSameFamily(distrax.Categorical(logits=logits), components).log_prob(y).mean()
    net, optimizer = hk.without_apply_rng(hk.transform(negative)), optax.adam(3e-3)
    params = net.init(jax.random.PRNGKey(1), x, y)
    state = [params, optimizer.init(params)]

    @jax.jit
    def step(params, state):
        value, grads = jax.value_and_grad(net.apply)(params, x, y)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    def one():
        *state[:], value = step(*state)
        return value
    for _ in range(100):
        yield one


PROGRAMS = {f.__name__: f for f in (gpt, neural_ode, hierarchical, nuts, mixture)}


def run(name):
    """Values and seconds of one program, as JSON."""
    begun = time.process_time()
    steps = PROGRAMS[name]()
    step = next(steps)
    ready = time.process_time()
    values = [float(step())]
    first, later = time.process_time() - ready, []
    for step in steps:
        start = time.perf_counter()
        values.append(float(step()))
        later.append(time.perf_counter() - start)
    print(json.dumps({"values": values, "before": ready - begun, "first": first, "step": min(later)}))


def run_under(python, whose, name):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_THREEFRY_PARTITIONABLE": "1", "JAX_ENABLE_COMPILATION_CACHE": "0",
                   "PYTHONPATH": os.environ.get(f"PYTHONPATH_{whose}", "")}
    done = subprocess.run([python, "-W", "ignore", __file__, "--run", name], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name} under {python}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def difference(a, b):
    return max(abs(x - y) / max(abs(x), abs(y), 1e-6) for x, y in zip(a, b, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--run")
    options = parser.parse_args()
    if options.run:
        return run(options.run)
    if len(options.pythons) != 2:
        parser.error("name the two interpreters")
    print("| program | last value | differ by: first ten, all | imports and set-up, s | first step, s | later step, ms |\n| --- | --- | --- | --- | --- | --- |")
    for name in options.only:
        rounds = [[run_under(p, w, name) for p, w in zip(options.pythons, ("OURS", "THEIRS"))] for _ in range(options.rounds)]
        ours, theirs = ({k: min(r[i][k] for r in rounds) for k in ("before", "first", "step")} for i in range(2))
        a, b = (rounds[0][i]["values"] for i in range(2))
        pair = lambda key, scale=1: f"{ours[key] * scale:.3g} / {theirs[key] * scale:.3g}"
        print(f"| {name} | {a[-1]:.6g} / {b[-1]:.6g} | {difference(a[:10], b[:10]):.1e}, {difference(a, b):.1e} | {pair('before')} | {pair('first')} | "
              f"{pair('step', 1000)} |", flush=True)


if __name__ == "__main__":
    main()
