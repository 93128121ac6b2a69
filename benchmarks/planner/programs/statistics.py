"""Statistics and clustering: mixtures by EM, k-means, optimal transport, embedding, robust regression."""
from __future__ import annotations

import jax
import jax.numpy as jnp

from .common import Data, ones, program, zeros


@program
def gaussian_mixture_em():
    """Five rounds of expectation and maximisation, eight components with diagonal variances."""
    data = Data(70)

    def fit(x, weight, mean, variance):
        log_like = 0.0
        for _ in range(5):
            scaled = jnp.square(x[:, None, :] - mean[None]) / variance[None]
            log_p = jnp.log(weight) - 0.5 * jnp.sum(scaled + jnp.log(2 * jnp.pi * variance)[None], axis=-1)
            total = jax.nn.logsumexp(log_p, axis=1, keepdims=True)
            resp = jnp.exp(log_p - total)
            log_like = jnp.mean(total)
            count = jnp.sum(resp, axis=0)
            mean = resp.T @ x / count[:, None]
            variance = resp.T @ jnp.square(x) / count[:, None] - jnp.square(mean) + 1e-3
            weight = count / x.shape[0]
        return weight, mean, variance, log_like
    return fit, (data.normal(2000, 8), ones(8) / 8, data.normal(8, 8), ones(8, 8))


@program
def kmeans():
    """Ten rounds of Lloyd's algorithm in a loop, 32 centres."""
    data = Data(71)

    def fit(x, centres):
        def step(_, centres):
            distance = jnp.sum(jnp.square(x), 1)[:, None] - 2 * x @ centres.T + jnp.sum(jnp.square(centres), 1)
            nearest = jnp.argmin(distance, axis=1)
            total = jax.ops.segment_sum(x, nearest, 32)
            count = jax.ops.segment_sum(jnp.ones(x.shape[0]), nearest, 32)
            return jnp.where(count[:, None] > 0, total / jnp.maximum(count, 1.0)[:, None], centres)
        return jax.lax.fori_loop(0, 10, step, centres)
    return fit, (data.normal(2000, 16), data.normal(32, 16))


@program
def sinkhorn():
    """Entropic transport cost between two clouds in the log domain, ten rounds written out, and its gradient."""
    data = Data(72)

    def cost(x, y):
        c = jnp.sum(jnp.square(x[:, None, :] - y[None, :, :]), axis=-1)
        c = c / jax.lax.stop_gradient(jnp.mean(c))
        f, g = jnp.zeros(x.shape[0]), jnp.zeros(y.shape[0])
        for _ in range(10):
            f = -0.1 * jax.nn.logsumexp((g[None, :] - c) / 0.1, axis=1)
            g = -0.1 * jax.nn.logsumexp((f[:, None] - c) / 0.1, axis=0)
        plan = jnp.exp((f[:, None] + g[None, :] - c) / 0.1)
        return jnp.sum(plan * c)
    return jax.value_and_grad(cost), (data.normal(192, 3), data.normal(192, 3))


@program
def sinkhorn_scan():
    """The same rounds by scan, with a marginal error each."""
    data = Data(73)

    def solve(c, a, b):
        kernel = -c / 0.1

        def step(carry, _):
            f, g = carry
            f = jnp.log(a) - jax.nn.logsumexp(kernel + g[None, :], axis=1)
            g = jnp.log(b) - jax.nn.logsumexp(kernel + f[:, None], axis=0)
            error = jnp.sum(jnp.abs(jnp.sum(jnp.exp(kernel + f[:, None] + g[None, :]), axis=1) - a))
            return (f, g), error
        return jax.lax.scan(step, (jnp.zeros_like(a), jnp.zeros_like(b)), None, length=10)
    return solve, (data.uniform(256, 256), ones(256) / 256, ones(256) / 256)


@program
def stochastic_neighbours():
    """Gradient of the t-distributed embedding loss for 400 points, and a step with gains."""
    data = Data(74)

    def loss(y, p):
        square = jnp.sum(jnp.square(y), axis=1)
        q = 1 / (1 + square[:, None] + square[None, :] - 2 * y @ y.T)
        q = q * (1 - jnp.eye(y.shape[0]))
        q = jnp.maximum(q / jnp.sum(q), 1e-12)
        return jnp.sum(p * (jnp.log(p) - jnp.log(q)))

    def step(y, speed, gains, affinity):
        p = affinity + affinity.T
        p = jnp.maximum(p / jnp.sum(p), 1e-12)
        value, grad = jax.value_and_grad(loss)(y, p)
        gains = jnp.clip(jnp.where(jnp.sign(grad) != jnp.sign(speed), gains + 0.2, gains * 0.8), 0.01, None)
        speed = 0.5 * speed - 100.0 * gains * grad
        y = y + speed
        return y - jnp.mean(y, axis=0), speed, gains, value
    return step, (data.normal(400, 2), zeros(400, 2), ones(400, 2), data.uniform(400, 400))


@program
def robust_regression():
    """Eight rounds of reweighted least squares with Huber weights and a scale from the deviations."""
    data = Data(75)

    def fit(x, y):
        w = jnp.zeros(x.shape[1])
        for _ in range(8):
            error = y - x @ w
            scale = jnp.sqrt(jnp.mean(jnp.square(error - jnp.mean(error)))) + 1e-6
            weight = jnp.where(jnp.abs(error) < 1.345 * scale, 1.0, 1.345 * scale / (jnp.abs(error) + 1e-6))
            weighted = x * weight[:, None]
            w = jnp.linalg.solve(weighted.T @ x + 1e-3 * jnp.eye(x.shape[1]), weighted.T @ y)
        return w, jnp.mean(jnp.abs(y - x @ w))
    return fit, (data.normal(4000, 24), data.normal(4000))


@program
def moments_report():
    """Standardised columns, their skewness, kurtosis, correlation and outliers: many reductions of one array."""
    def run(x):
        mean, deviation = jnp.mean(x, axis=0), jnp.std(x, axis=0)
        z = (x - mean) / (deviation + 1e-6)
        skewness, kurtosis = jnp.mean(z ** 3, axis=0), jnp.mean(z ** 4, axis=0) - 3
        z = jnp.tanh(z / 3) * 3
        z = z - jnp.mean(z, axis=1, keepdims=True)
        correlation = z.T @ z / x.shape[0]
        return skewness, kurtosis, correlation, jnp.sum(jnp.abs(z) > 2, axis=0), jnp.min(z, axis=0), jnp.max(z, axis=0)
    return run, (Data(76).normal(8192, 64),)
