"""Training steps of convolutional networks: residual blocks, U-Net."""
from __future__ import annotations

import jax
import jax.numpy as jnp

from .common import Data, adam, adam_init, cross_entropy, dense, dense_init, ones, program, sgd, zeros


def conv(kernel, x, stride=1):
    """Same-padded convolution of images [batch, height, width, channels]."""
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def affine_init(channels: int) -> dict:
    return dict(scale=ones(channels), shift=zeros(channels))


def batch_norm(p, x):
    mean = jnp.mean(x, axis=(0, 1, 2))
    variance = jnp.mean(jnp.square(x), axis=(0, 1, 2)) - jnp.square(mean)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["shift"]


def group_norm(p, x, groups=4):
    b, h, w, c = x.shape
    x = x.reshape(b, h, w, groups, c // groups)
    mean = jnp.mean(x, axis=(1, 2, 4), keepdims=True)
    variance = jnp.var(x, axis=(1, 2, 4), keepdims=True)
    return ((x - mean) / jnp.sqrt(variance + 1e-5)).reshape(b, h, w, c) * p["scale"] + p["shift"]


@program
def resnet():
    """Four residual blocks of 16 channels on 16x16 images, batch statistics. Source: He et al., CVPR 2016."""
    data = Data(20)
    c = 16

    def run(p, x):
        h = jax.nn.relu(batch_norm(p["n1"], conv(p["c1"], x)))
        return jax.nn.relu(x + batch_norm(p["n2"], conv(p["c2"], h)))

    def loss(params, x, y):
        x = jax.nn.relu(batch_norm(params["norm"], conv(params["stem"], x)))
        for p in params["blocks"]:
            x = run(p, x)
        return cross_entropy(dense(params["head"], jnp.mean(x, axis=(1, 2))), y)
    blocks = [dict(c1=data.weight(3, 3, c, c), n1=affine_init(c), c2=data.weight(3, 3, c, c), n2=affine_init(c))
              for _ in range(4)]
    params = dict(stem=data.weight(3, 3, 3, c), norm=affine_init(c), blocks=blocks, head=dense_init(data, c, 10))
    return sgd(loss), (params, data.uniform(8, 16, 16, 3), data.integers(10, 8))


@program
def unet():
    """Two levels down and up with group norm, trained to remove noise. Source: Ronneberger et al., MICCAI 2015."""
    data = Data(21)

    def run(p, x):
        return jax.nn.silu(group_norm(p["norm"], conv(p["kernel"], x)))

    def up(x):
        return jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2)

    def loss(params, noisy, clean):
        a = run(params["down1"], noisy)
        b = run(params["down2"], jax.lax.reduce_window(a, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))
        c = run(params["middle"], jax.lax.reduce_window(b, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"))
        b = run(params["up2"], jnp.concatenate([b, up(c)], axis=-1))
        a = run(params["up1"], jnp.concatenate([a, up(b)], axis=-1))
        return jnp.mean(jnp.square(conv(params["out"], a) - clean))
    stage = lambda n_in, n_out: dict(kernel=data.weight(3, 3, n_in, n_out), norm=affine_init(n_out))
    params = dict(down1=stage(1, 8), down2=stage(8, 16), middle=stage(16, 16), up2=stage(32, 16), up1=stage(24, 8),
                  out=data.weight(3, 3, 8, 1))
    return adam(loss), (params, adam_init(params), data.uniform(4, 32, 32, 1), data.uniform(4, 32, 32, 1))
