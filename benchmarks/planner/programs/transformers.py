"""Transformers and attention: training steps and single layers with their gradients."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .common import Data, adam, adam_init, cross_entropy, dense, dense_init, layer_norm, norm_init, ones, program, sgd


def causal_attention(q, k, v):
    """Arrays [batch, time, heads, width] -> the same shape."""
    t = q.shape[1]
    scores = jnp.einsum("bthk,bshk->bhts", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    return jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores, axis=-1), v)


def block(p, x):
    b, t, width = x.shape
    h = layer_norm(p["n1"], x)
    q, k, v = [(h @ p[name]).reshape(b, t, -1, 16) for name in ("q", "k", "v")]
    x = x + causal_attention(q, k, v).reshape(b, t, width) @ p["o"]
    h = layer_norm(p["n2"], x)
    return x + dense(p["down"], jax.nn.gelu(dense(p["up"], h)))


def block_init(data: Data, width: int) -> dict:
    square = {name: data.weight(width, width) for name in ("q", "k", "v", "o")}
    return dict(square, n1=norm_init(width), n2=norm_init(width), up=dense_init(data, width, 4 * width),
                down=dense_init(data, 4 * width, width))


def language_model(data: Data, depth: int, width: int, vocabulary: int, time: int) -> dict:
    return dict(embed=data.normal(vocabulary, width, scale=0.02), position=data.normal(time, width, scale=0.02),
                blocks=[block_init(data, width) for _ in range(depth)], norm=norm_init(width))


def language_loss(run_block):
    """Mean next-token cross-entropy of a model whose blocks are run by ``run_block``."""
    def loss(params, tokens):
        x = params["embed"][tokens] + params["position"][: tokens.shape[1]]
        for p in params["blocks"]:
            x = run_block(p, x)
        logits = layer_norm(params["norm"], x) @ params["embed"].T
        return cross_entropy(logits[:, :-1], tokens[:, 1:])
    return loss


@program
def transformer_sgd_12():
    """The size of `transformer12_train` in stages.py: 12 layers of width 64."""
    data = Data(10)
    return sgd(language_loss(block)), (language_model(data, 12, 64, 256, 32), data.integers(256, 2, 32))


@program
def transformer_adam_4():
    data = Data(11)
    params = language_model(data, 4, 128, 512, 64)
    return adam(language_loss(block)), (params, adam_init(params), data.integers(512, 2, 64))


@program
def transformer_remat_6():
    """Each block is recomputed in the backward pass."""
    data = Data(12)
    params = language_model(data, 6, 64, 256, 64)
    return adam(language_loss(jax.checkpoint(block))), (params, adam_init(params), data.integers(256, 2, 64))


@program
def transformer_scan_6():
    """Blocks stacked and run by scan."""
    data = Data(13)
    stacked = [block_init(data, 64) for _ in range(6)]
    blocks = jax.tree_util.tree_map(lambda *leaves: jnp.asarray(np.stack([np.asarray(x) for x in leaves])), *stacked)
    params = dict(language_model(data, 0, 64, 256, 64), blocks=blocks)

    def loss(params, tokens):
        x = params["embed"][tokens] + params["position"]
        x, _ = jax.lax.scan(lambda x, p: (block(p, x), None), x, params["blocks"])
        logits = layer_norm(params["norm"], x) @ params["embed"].T
        return cross_entropy(logits[:, :-1], tokens[:, 1:])
    return sgd(loss), (params, data.integers(256, 2, 64))


def rms_norm(scale, x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-6) * scale


def rotate(x):
    """Rotary position embedding. Source: Su et al., arXiv 2104.09864."""
    t, half = x.shape[1], x.shape[-1] // 2
    angle = jnp.arange(t)[:, None] * (10000.0 ** (-jnp.arange(half) / half))
    sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@program
def gated_rotary_transformer():
    """Four blocks with RMS norm, rotary positions, grouped queries and gated linear units."""
    data = Data(14)
    width, heads, groups, size = 96, 6, 2, 16

    def run(p, x):
        b, t, _ = x.shape
        h = rms_norm(p["n1"], x)
        q = rotate((h @ p["q"]).reshape(b, t, heads, size))
        k = jnp.repeat(rotate((h @ p["k"]).reshape(b, t, groups, size)), heads // groups, axis=2)
        v = jnp.repeat((h @ p["v"]).reshape(b, t, groups, size), heads // groups, axis=2)
        x = x + causal_attention(q, k, v).reshape(b, t, width) @ p["o"]
        h = rms_norm(p["n2"], x)
        return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]

    def block_params():
        shapes = dict(q=(width, width), k=(width, groups * size), v=(width, groups * size), o=(width, width),
                      gate=(width, 256), up=(width, 256), down=(256, width))
        return dict({name: data.weight(*s) for name, s in shapes.items()}, n1=ones(width), n2=ones(width))
    params = dict(language_model(data, 0, width, 256, 64), blocks=[block_params() for _ in range(4)])
    return adam(language_loss(run)), (params, adam_init(params), data.integers(256, 2, 64))


def _gradient_of(attend, *arrays):
    """Gradient in all arguments of a loss that makes every output count."""
    return jax.grad(lambda args: jnp.sum(jnp.square(attend(*args)))), (arrays,)


@program
def multi_head_attention():
    data = Data(15)
    return _gradient_of(causal_attention, *[data.normal(2, 192, 4, 32) for _ in range(3)])


@program
def linear_attention():
    """Causal attention with a positive feature map and running sums. Source: Katharopoulos et al., ICML 2020."""
    def attend(q, k, v):
        q, k = jax.nn.elu(q) + 1.0, jax.nn.elu(k) + 1.0
        memory = jnp.cumsum(jnp.einsum("bthk,bthv->bthkv", k, v), axis=1)
        weight = jnp.einsum("bthk,bthk->bth", q, jnp.cumsum(k, axis=1))
        return jnp.einsum("bthk,bthkv->bthv", q, memory) / (weight[..., None] + 1e-6)
    data = Data(16)
    return _gradient_of(attend, *[data.normal(2, 64, 4, 16) for _ in range(3)])


@program
def local_attention():
    """Attention within a block of 32 and the block before it."""
    def attend(q, k, v):
        b, t, h, size = q.shape
        fold = lambda x: x.reshape(b, t // 32, 32, h, size)
        before = lambda x: jnp.concatenate([jnp.zeros_like(x[:, :1]), x[:, :-1]], axis=1)
        q, k, v = fold(q), fold(k), fold(v)
        k, v = jnp.concatenate([before(k), k], axis=2), jnp.concatenate([before(v), v], axis=2)
        distance = jnp.arange(32)[:, None] + 32 - jnp.arange(64)[None, :]
        scores = jnp.einsum("bnqhk,bnshk->bnhqs", q, k) / np.sqrt(size) - 0.05 * jnp.abs(distance)
        scores = jnp.where((distance >= 0) & (distance < 32), scores, -1e9)
        weights = jax.nn.softmax(scores, axis=-1)
        return jnp.einsum("bnhqs,bnshk->bnqhk", weights, v).reshape(b, t, h, size)
    data = Data(17)
    return _gradient_of(attend, *[data.normal(2, 512, 4, 32) for _ in range(3)])
