"""Image operations: blur, bilateral filter, edges, histogram equalisation, colour, structural similarity."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .common import Data, program


def shift(image, dy, dx):
    """The image moved, its border repeated."""
    r = max(abs(dy), abs(dx))
    pad = jnp.pad(image, [(r, r), (r, r)] + [(0, 0)] * (image.ndim - 2), mode="edge")
    return pad[r + dy: r + dy + image.shape[0], r + dx: r + dx + image.shape[1]]


def blur(image, sigma=1.5, radius=4):
    """Separable Gaussian blur by weighted shifts."""
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights = [float(w) for w in weights / weights.sum()]
    pad = jnp.pad(image, ((radius, radius), (radius, radius)), mode="edge")
    rows = sum(w * pad[i: i + image.shape[0]] for i, w in enumerate(weights))
    return sum(w * rows[:, i: i + image.shape[1]] for i, w in enumerate(weights))


@program
def gaussian_blur_unsharp():
    """Three scales of blur, their differences, and an unsharp mask."""
    def run(image):
        scales = [image]
        for _ in range(3):
            scales.append(blur(scales[-1]))
        details = [a - b for a, b in zip(scales, scales[1:])]
        sharp = image + sum(jnp.where(jnp.abs(d) > 0.02, 1.5 * d, 0.0) for d in details)
        return jnp.clip(sharp, 0.0, 1.0)
    return run, (Data(60).uniform(384, 384),)


@program
def bilateral_filter():
    """Two rounds of a 5x5 filter that keeps edges, on three colours."""
    def once(image):
        total, weight = 0.0, 0.0
        for dy in range(-2, 3):
            for dx in range(-2, 3):
                other = shift(image, dy, dx)
                near = jnp.exp(-0.5 * (dy * dy + dx * dx) / 2.0
                               - 0.5 * jnp.sum(jnp.square(other - image), axis=-1, keepdims=True) / 0.04)
                total, weight = total + near * other, weight + near
        return total / weight
    return lambda image: once(once(image)), (Data(61).uniform(96, 96, 3),)


@program
def edge_detection():
    """Blur, Sobel gradients, thinning along the direction, and a double threshold from the mean and deviation."""
    def run(image):
        image = blur(image, 1.0, 2)
        s = lambda dy, dx: shift(image, dy, dx)
        gx = (s(-1, 1) + 2 * s(0, 1) + s(1, 1)) - (s(-1, -1) + 2 * s(0, -1) + s(1, -1))
        gy = (s(1, -1) + 2 * s(1, 0) + s(1, 1)) - (s(-1, -1) + 2 * s(-1, 0) + s(-1, 1))
        size, angle = jnp.hypot(gx, gy), jnp.arctan2(gy, gx)
        sector = jnp.round(angle / (jnp.pi / 4)).astype(jnp.int32) % 4
        pairs = [jnp.maximum(shift(size, dy, dx), shift(size, -dy, -dx)) for dy, dx in ((0, 1), (1, 1), (1, 0), (1, -1))]
        thin = jnp.where(size >= jnp.choose(sector, pairs, mode="clip"), size, 0.0)
        high = jnp.mean(size) + jnp.std(size)
        strong, weak = thin > high, thin > 0.5 * high
        near = jnp.stack([shift(strong, dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
        return strong | (weak & jnp.any(near, axis=0))
    return run, (Data(62).uniform(256, 256),)


@program
def histogram_equalisation():
    """Eight images, 256 grey levels each, by scatter, running sum and table look-up."""
    def one(image):
        level = jnp.clip((image * 255).astype(jnp.int32), 0, 255)
        counts = jnp.zeros(256).at[level.reshape(-1)].add(1.0)
        below = jnp.cumsum(counts)
        first = jnp.min(jnp.where(counts > 0, below, jnp.inf))
        table = (below - first) / (below[-1] - first)
        return table[level]
    return jax.vmap(one), (Data(63).uniform(8, 128, 128),)


@program
def colour_grading():
    """Linear light, white balance by grey world, saturation, tone curve, hue turn, contrast, and back to display."""
    def run(image):
        linear = jnp.where(image <= 0.04045, image / 12.92, ((image + 0.055) / 1.055) ** 2.4)
        linear = linear * jnp.mean(linear) / jnp.mean(linear, axis=(0, 1))
        light = linear @ jnp.array([0.2126, 0.7152, 0.0722])
        linear = light[..., None] + 1.2 * (linear - light[..., None])
        tone = linear / (1 + linear / (1 + jnp.max(light)))
        turn = jnp.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
        tone = jnp.clip(tone @ turn, 0.0, 1.0)
        mean, deviation = jnp.mean(tone, axis=(0, 1)), jnp.std(tone, axis=(0, 1))
        tone = jnp.clip(0.5 + 0.2 * (tone - mean) / (deviation + 1e-4), 0.0, 1.0)
        return jnp.where(tone <= 0.0031308, 12.92 * tone, 1.055 * jnp.maximum(tone, 1e-6) ** (1 / 2.4) - 0.055)
    return run, (Data(64).uniform(192, 256, 3),)


@program
def structural_similarity():
    """Index of Wang et al. (2004) between two images, and its gradient in the first."""
    data = Data(65)

    def loss(a, b):
        mean_a, mean_b = blur(a), blur(b)
        var_a, var_b = blur(a * a) - mean_a ** 2, blur(b * b) - mean_b ** 2
        cov = blur(a * b) - mean_a * mean_b
        top = (2 * mean_a * mean_b + 1e-4) * (2 * cov + 9e-4)
        return 1 - jnp.mean(top / ((mean_a ** 2 + mean_b ** 2 + 1e-4) * (var_a + var_b + 9e-4)))
    return jax.value_and_grad(loss), (data.uniform(192, 192), data.uniform(192, 192))


@program
def total_variation():
    """Ten gradient steps of denoising with a smoothed total variation, momentum written out in a loop."""
    data = Data(66)

    def energy(u, noisy):
        dy, dx = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
        return 0.5 * jnp.sum(jnp.square(u - noisy)) + 0.1 * jnp.sum(jnp.sqrt(dx * dx + dy * dy + 1e-4))

    def run(noisy):
        def step(_, carry):
            u, speed = carry
            speed = 0.8 * speed - 0.1 * jax.grad(energy)(u, noisy)
            return u + speed, speed
        return jax.lax.fori_loop(0, 10, step, (noisy, jnp.zeros_like(noisy)))[0]
    return run, (data.uniform(256, 256),)
