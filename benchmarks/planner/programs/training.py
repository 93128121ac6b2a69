"""Training steps of feed-forward networks: MLP, softmax regression, mixer, graph network, VAE, normalising flow."""
from __future__ import annotations

import jax
import jax.numpy as jnp

from .common import Data, adam, adam_init, cross_entropy, dense, dense_init, layer_norm, norm_init, program, sgd, zeros


def mlp(params, x):
    for p in params[:-1]:
        x = jax.nn.relu(dense(p, x))
    return dense(params[-1], x)


def mlp_init(data: Data, *widths: int) -> list[dict]:
    return [dense_init(data, a, b) for a, b in zip(widths, widths[1:])]


@program
def mlp_sgd():
    """Digits-sized classifier with plain gradient descent."""
    data = Data(1)
    loss = lambda params, x, y: cross_entropy(mlp(params, x), y)
    return sgd(loss), (mlp_init(data, 784, 256, 256, 10), data.normal(128, 784), data.integers(10, 128))


@program
def mlp_adam_clip():
    """Regression by a deeper network with weight penalty, clipping and Adam."""
    data = Data(2)

    def loss(params, x, y):
        for p in params[:-1]:
            x = jnp.tanh(dense(p, x))
        error = jnp.mean(jnp.square(dense(params[-1], x)[:, 0] - y))
        return error + 1e-4 * sum(jnp.sum(jnp.square(p["w"])) for p in params)
    params = mlp_init(data, 64, 256, 256, 256, 256, 1)
    return adam(loss), (params, adam_init(params), data.normal(256, 64), data.normal(256))


@program
def softmax_regression():
    """Twenty steps of gradient descent with momentum on a linear classifier, data standardised inside."""
    data = Data(3)

    def fit(w, x, y):
        x = (x - jnp.mean(x, axis=0)) / (jnp.std(x, axis=0) + 1e-6)
        loss = lambda w: cross_entropy(x @ w, y) + 1e-3 * jnp.sum(jnp.square(w))

        def step(_, carry):
            w, speed = carry
            speed = 0.9 * speed - 0.1 * jax.grad(loss)(w)
            return w + speed, speed
        return jax.lax.fori_loop(0, 20, step, (w, jnp.zeros_like(w)))[0]
    return fit, (zeros(128, 10), data.normal(1024, 128), data.integers(10, 1024))


@program
def mlp_mixer():
    """Four mixer blocks over 64 patches. Source: Tolstikhin et al., NeurIPS 2021."""
    data = Data(4)
    n_patches, width, hidden, depth = 64, 96, 192, 4

    def block(p, x):
        h = jnp.swapaxes(layer_norm(p["n1"], x), 1, 2)
        x = x + jnp.swapaxes(dense(p["t2"], jax.nn.gelu(dense(p["t1"], h))), 1, 2)
        h = layer_norm(p["n2"], x)
        return x + dense(p["c2"], jax.nn.gelu(dense(p["c1"], h)))

    def loss(params, images, labels):
        b = images.shape[0]
        patches = images.reshape(b, 8, 4, 8, 4, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, n_patches, 48)
        x = dense(params["stem"], patches)
        for p in params["blocks"]:
            x = block(p, x)
        return cross_entropy(dense(params["head"], jnp.mean(layer_norm(params["norm"], x), axis=1)), labels)
    blocks = [dict(n1=norm_init(width), t1=dense_init(data, n_patches, hidden), t2=dense_init(data, hidden, n_patches),
                   n2=norm_init(width), c1=dense_init(data, width, hidden), c2=dense_init(data, hidden, width))
              for _ in range(depth)]
    params = dict(stem=dense_init(data, 48, width), blocks=blocks, norm=norm_init(width),
                  head=dense_init(data, width, 10))
    return adam(loss), (params, adam_init(params), data.uniform(8, 32, 32, 3), data.integers(10, 8))


@program
def graph_network():
    """Three rounds of gated message passing on a random graph, with segment sums."""
    data = Data(5)
    n_nodes, n_edges, width = 1000, 5000, 32

    def layer(p, x, senders, receivers):
        pairs = jnp.concatenate([x[senders], x[receivers]], axis=-1)
        gate = jax.nn.sigmoid(dense(p["gate"], pairs))
        message = gate * jax.nn.silu(dense(p["message"], pairs))
        total = jax.ops.segment_sum(message, receivers, n_nodes)
        count = jax.ops.segment_sum(jnp.ones(n_edges), receivers, n_nodes)
        mean = total / jnp.maximum(count, 1.0)[:, None]
        return layer_norm(p["norm"], x + dense(p["update"], jnp.concatenate([x, mean], axis=-1)))

    def loss(params, x, senders, receivers, labels):
        for p in params["layers"]:
            x = layer(p, x, senders, receivers)
        return cross_entropy(dense(params["head"], x), labels)
    layers = [dict(gate=dense_init(data, 2 * width, width), message=dense_init(data, 2 * width, width),
                   update=dense_init(data, 2 * width, width), norm=norm_init(width)) for _ in range(3)]
    params = dict(layers=layers, head=dense_init(data, width, 7))
    batch = (data.normal(n_nodes, width), data.integers(n_nodes, n_edges), data.integers(n_nodes, n_edges),
             data.integers(7, n_nodes))
    return adam(loss), (params, adam_init(params), *batch)


@program
def vae():
    """Variational autoencoder with Bernoulli pixels; the noise is an argument."""
    data = Data(6)

    def loss(params, x, noise):
        h = jax.nn.silu(dense(params["e2"], jax.nn.silu(dense(params["e1"], x))))
        mean, log_var = dense(params["mean"], h), dense(params["log_var"], h)
        z = mean + jnp.exp(0.5 * log_var) * noise
        h = jax.nn.silu(dense(params["d2"], jax.nn.silu(dense(params["d1"], z))))
        logits = dense(params["out"], h)
        pixels = jnp.sum(x * jax.nn.softplus(-logits) + (1 - x) * jax.nn.softplus(logits), axis=-1)
        divergence = 0.5 * jnp.sum(jnp.exp(log_var) + jnp.square(mean) - 1 - log_var, axis=-1)
        return jnp.mean(pixels + divergence)
    names = dict(e1=(784, 256), e2=(256, 128), mean=(128, 16), log_var=(128, 16), d1=(16, 128), d2=(128, 256),
                 out=(256, 784))
    params = {name: dense_init(data, *shape) for name, shape in names.items()}
    return adam(loss), (params, adam_init(params), data.uniform(128, 784), data.normal(128, 16))


@program
def normalising_flow():
    """Negative log-likelihood of eight affine couplings with batch standardisation, and a step of Adam."""
    data = Data(7)
    dim, width, depth = 16, 64, 8

    def loss(params, x):
        log_det = 0.0
        for i, p in enumerate(params):
            x = (x - jnp.mean(x, axis=0)) / jnp.sqrt(jnp.var(x, axis=0) + 1e-5)
            a, b = jnp.split(x if i % 2 else x[:, ::-1], 2, axis=1)
            h = jnp.tanh(dense(p[1], jnp.tanh(dense(p[0], a))))
            log_scale, shift = jnp.split(dense(p[2], h), 2, axis=1)
            log_scale = 2.0 * jnp.tanh(log_scale / 2.0)
            x = jnp.concatenate([a, b * jnp.exp(log_scale) + shift], axis=1)
            log_det = log_det + jnp.sum(log_scale, axis=1)
        log_p = -0.5 * jnp.sum(jnp.square(x) + jnp.log(2 * jnp.pi), axis=1)
        return -jnp.mean(log_p + log_det)
    params = [mlp_init(data, dim // 2, width, width, dim) for _ in range(depth)]
    return adam(loss), (params, adam_init(params), data.normal(1024, dim))
