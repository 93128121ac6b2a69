"""Scientific computing: Gaussian process, Hamiltonian Monte Carlo, N-body, partial differential equations, spectra."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .common import Data, program, zeros


@program
def gaussian_process():
    """Log marginal likelihood with a length for each dimension, and its gradient."""
    data = Data(40)

    def log_likelihood(params, x, y):
        z = x / jnp.exp(params["log_length"])
        square = jnp.sum(jnp.square(z), axis=1)
        distance = jnp.maximum(square[:, None] + square[None, :] - 2 * z @ z.T, 0.0)
        kernel = jnp.exp(2 * params["log_scale"]) * jnp.exp(-0.5 * distance)
        kernel = kernel + (jnp.exp(2 * params["log_noise"]) + 1e-4) * jnp.eye(x.shape[0])
        factor = jnp.linalg.cholesky(kernel)
        white = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * white @ white - jnp.sum(jnp.log(jnp.diagonal(factor))) - 0.5 * y.size * jnp.log(2 * jnp.pi)
    params = dict(log_length=zeros(8), log_scale=zeros(), log_noise=zeros())
    return jax.value_and_grad(log_likelihood), (params, data.normal(256, 8), data.normal(256))


@program
def hmc_leapfrog():
    """Ten leapfrog steps for Bayesian logistic regression with a hierarchical scale. Source: Neal 2011."""
    data = Data(41)

    def log_density(q, x, y):
        w, log_scale = q["w"], q["log_scale"]
        logits = x @ w + q["b"]
        data_term = jnp.sum(y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits))
        prior = jnp.sum(-0.5 * jnp.square(w / jnp.exp(log_scale)) - log_scale)
        return data_term + prior - 0.5 * jnp.square(log_scale) - 0.5 * jnp.square(q["b"])

    def trajectory(q, p, x, y):
        tree_map, size = jax.tree_util.tree_map, 0.01
        force = jax.grad(log_density)
        energy = lambda q, p: 0.5 * sum(jnp.sum(v * v) for v in p.values()) - log_density(q, x, y)
        before = energy(q, p)

        def step(_, state):
            q, p = state
            p = tree_map(lambda v, f: v + 0.5 * size * f, p, force(q, x, y))
            q = tree_map(lambda a, v: a + size * v, q, p)
            p = tree_map(lambda v, f: v + 0.5 * size * f, p, force(q, x, y))
            return q, p
        q, p = jax.lax.fori_loop(0, 10, step, (q, p))
        return q, p, jnp.exp(jnp.minimum(0.0, before - energy(q, p)))
    state = lambda: dict(w=data.normal(32), b=data.normal(), log_scale=data.normal())
    y = (data.uniform(2000) > 0.5).astype(jnp.float32)
    return trajectory, (state(), state(), data.normal(2000, 32), y)


@program
def nbody():
    """Four leapfrog steps of 256 bodies with softened gravity, and the total energy."""
    data = Data(42)

    def run(x, v, m):
        offsets = lambda x: x[None, :, :] - x[:, None, :]

        def acceleration(x):
            d = offsets(x)
            inverse = jax.lax.rsqrt(jnp.sum(jnp.square(d), axis=-1) + 1e-2)
            return jnp.sum(d * (m[None, :] * inverse ** 3)[..., None], axis=1)
        for _ in range(4):
            v = v + 0.005 * acceleration(x)
            x = x + 0.01 * v
            v = v + 0.005 * acceleration(x)
        potential = -0.5 * jnp.sum(m[:, None] * m[None, :] * jax.lax.rsqrt(jnp.sum(jnp.square(offsets(x)), -1) + 1e-2))
        return x, v, potential + 0.5 * jnp.sum(m[:, None] * jnp.square(v))
    return run, (data.normal(256, 3), data.normal(256, 3), data.uniform(256))


@program
def molecular_forces():
    """Lennard-Jones energy and forces by gradient in a periodic box, with a smooth cutoff."""
    data = Data(43)

    def energy(x):
        d = x[:, None, :] - x[None, :, :]
        d = d - 10.0 * jnp.round(d / 10.0)
        r2 = jnp.sum(jnp.square(d), axis=-1) + 100.0 * jnp.eye(x.shape[0]) + 0.5
        s6 = 1.0 / r2 ** 3
        t = jnp.clip((r2 - 4.0) / 2.25, 0.0, 1.0)
        smooth = 1 - t * t * (3 - 2 * t)
        return 2.0 * jnp.sum(jnp.where(r2 < 6.25, smooth * (s6 * s6 - s6), 0.0))
    return jax.value_and_grad(energy), (data.uniform(384, 3, high=10.0),)


def laplacian(u):
    return (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)) - 4 * u


@program
def heat_equation():
    """Twenty explicit steps with a conductivity that varies and a source, in a loop."""
    data = Data(44)

    def solve(u, k, source):
        return jax.lax.fori_loop(0, 20, lambda _, u: u + 0.1 * k * laplacian(u) + 0.01 * source, u)
    return solve, (data.normal(256, 256), data.uniform(256, 256), data.normal(256, 256))


@program
def heat_adjoint():
    """Gradient in the source of the misfit after six explicit steps written out."""
    data = Data(45)

    def misfit(source, u, target):
        for _ in range(6):
            u = u + 0.1 * laplacian(u) + 0.01 * source * (1 - jnp.tanh(u))
        return jnp.mean(jnp.square(u - target))
    return jax.value_and_grad(misfit), tuple(data.normal(256, 256) for _ in range(3))


@program
def wave_equation():
    """Acoustic waves with an absorbing frame and recorded receivers, forty steps by scan."""
    data = Data(46)

    def solve(u, speed, pulse):
        edge = jnp.minimum(jnp.arange(200), jnp.arange(200)[::-1]) / 20.0
        damping = 1 - 0.05 * jnp.square(1 - jnp.clip(jnp.minimum(edge[:, None], edge[None, :]), 0, 1))

        def step(state, s):
            now, before = state
            padded = jnp.pad(now, 1)
            lap = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2] - 4 * now
            after = damping * (2 * now - damping * before + jnp.square(0.4 * speed) * lap)
            after = after.at[100, 100].add(s)
            return (after, now), after[50]
        (u, _), trace = jax.lax.scan(step, (u, u), pulse)
        return trace, jnp.sum(jnp.square(u))
    return solve, (data.normal(200, 200), data.uniform(200, 200), data.normal(40))


@program
def navier_stokes():
    """Vorticity in a periodic square, pseudo-spectral, two Runge-Kutta steps with dealiasing."""
    data = Data(47)
    n = 128

    def solve(w):
        k = jnp.asarray(np.fft.fftfreq(n, 1 / n).astype(np.float32))
        kx, ky = k[:, None], k[None, : n // 2 + 1]
        k2 = kx ** 2 + ky ** 2
        inverse = jnp.where(k2 == 0, 0.0, 1.0 / jnp.where(k2 == 0, 1.0, k2))
        keep = (jnp.abs(kx) < n / 3) & (jnp.abs(ky) < n / 3)

        def rate(w):
            stream = w * inverse
            back = lambda z: jnp.fft.irfft2(z, (n, n))
            u, v = back(1j * ky * stream), back(-1j * kx * stream)
            flux = u * back(1j * kx * w) + v * back(1j * ky * w)
            return -jnp.where(keep, jnp.fft.rfft2(flux), 0.0) - 1e-3 * k2 * w
        w = jnp.fft.rfft2(w)
        for _ in range(2):
            a = rate(w)
            b = rate(w + 0.005 * a)
            c = rate(w + 0.005 * b)
            d = rate(w + 0.01 * c)
            w = w + 0.01 / 6 * (a + 2 * b + 2 * c + d)
        return jnp.fft.irfft2(w, (n, n)), jnp.sum(jnp.square(jnp.abs(w)) * inverse)
    return solve, (data.normal(n, n),)


@program
def shallow_water():
    """Four steps of a two-stage scheme for height and two momenta, written out."""
    data = Data(48)

    def solve(h, u, v):
        dx = lambda f: 0.5 * (jnp.roll(f, -1, 0) - jnp.roll(f, 1, 0))
        dy = lambda f: 0.5 * (jnp.roll(f, -1, 1) - jnp.roll(f, 1, 1))

        def rate(h, u, v):
            return (-dx(h * u) - dy(h * v), -u * dx(u) - v * dy(u) - 9.81 * dx(h) + 0.1 * laplacian(u) + 0.1 * v,
                    -u * dx(v) - v * dy(v) - 9.81 * dy(h) + 0.1 * laplacian(v) - 0.1 * u)
        for _ in range(4):
            half = [f + 0.0005 * r for f, r in zip((h, u, v), rate(h, u, v))]
            h, u, v = [f + 0.001 * r for f, r in zip((h, u, v), rate(*half))]
        return h, u, v
    return solve, (1 + 0.1 * data.normal(128, 128), data.normal(128, 128), data.normal(128, 128))


@program
def lorenz_ensemble():
    """Eight Runge-Kutta steps of 20000 Lorenz systems written out: one long chain of arithmetic."""
    data = Data(49)

    def rate(s):
        x, y, z = s
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z

    def shift(s, r, t):
        return tuple(a + t * b for a, b in zip(s, r))

    def solve(x, y, z):
        s = (x, y, z)
        for _ in range(8):
            a = rate(s)
            b = rate(shift(s, a, 0.005))
            c = rate(shift(s, b, 0.005))
            d = rate(shift(s, c, 0.01))
            s = tuple(q + 0.01 / 6 * (i + 2 * j + 2 * k + m) for q, i, j, k, m in zip(s, a, b, c, d))
        return s, sum(jnp.mean(jnp.square(q)) for q in s)
    return solve, tuple(data.normal(20000) for _ in range(3))


@program
def spectral_filter():
    """Low-pass, Wiener deconvolution and a band energy of an image, through one transform each way."""
    data = Data(50)

    def run(image, kernel):
        f, k = jnp.fft.rfft2(image), jnp.fft.rfft2(kernel, image.shape)
        fy, fx = jnp.fft.fftfreq(image.shape[0])[:, None], jnp.fft.rfftfreq(image.shape[1])[None, :]
        radius = jnp.sqrt(fx ** 2 + fy ** 2)
        low = jnp.exp(-0.5 * jnp.square(radius / 0.1))
        wiener = jnp.conj(k) / (jnp.square(jnp.abs(k)) + 0.01)
        band = jnp.where((radius > 0.1) & (radius < 0.2), jnp.square(jnp.abs(f)), 0.0)
        restored = jnp.fft.irfft2(f * wiener * low, image.shape)
        return (restored - jnp.mean(restored)) / jnp.std(restored), jnp.sum(band) / jnp.sum(jnp.square(jnp.abs(f)))
    return run, (data.normal(256, 256), data.normal(9, 9))


@program
def spectrogram():
    """Short-time Fourier transform, mel-like bands, log and normalisation of a minute fraction of sound."""
    data = Data(51)

    def run(sound, bands):
        size, hop = 512, 128
        frames = sound[jnp.arange(0, sound.shape[0] - size, hop)[:, None] + jnp.arange(size)[None, :]]
        window = 0.5 - 0.5 * jnp.cos(2 * jnp.pi * jnp.arange(size) / size)
        power = jnp.square(jnp.abs(jnp.fft.rfft(frames * window)))
        mel = jnp.log(jnp.maximum(power @ bands, 1e-8))
        mel = (mel - jnp.mean(mel, axis=0)) / (jnp.std(mel, axis=0) + 1e-5)
        return mel, jnp.mean(jnp.abs(jnp.diff(mel, axis=0)), axis=0)
    return run, (data.normal(48000), data.uniform(257, 64))
