"""Programs that took longer than the public jax's when they were written, to run (the first half) or to compile: what is left to mend.

    taskset -c 1 python benchmarks/interleaved.py OURS THEIRS benchmarks/programs/losses.py --cpu [--mode compile]
"""
import numpy as np

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import stats

rng = np.random.default_rng(0)
programs = {}


def normal(*shape):
    return jnp.asarray(rng.normal(size=shape), jnp.float32)


def uniform(*shape):
    return jnp.asarray(rng.uniform(size=shape), jnp.float32)


def program(*args, slope=False):
    """Enter a function under its name, or its value and its slope by the first argument."""
    def enter(function):
        programs[function.__name__] = jax.value_and_grad(function) if slope else function, args
        return function
    return enter


# -- to run --------------------------------------------------------------------------------------------------------------

@program(jnp.abs(normal(60, 60)))
def shortest_paths(distances):
    return lax.fori_loop(0, 60, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k]), distances)


@program(normal(3), normal(500), slope=True)
def garch(parameters, returns):
    start, shock, memory = jnp.exp(parameters[0]), 0.3 * jax.nn.sigmoid(parameters[1]), 0.6 * jax.nn.sigmoid(parameters[2])

    def step(variance, x):
        variance = start + shock * x * x + memory * variance
        return variance, variance
    variances = lax.scan(step, jnp.float32(1), returns[:-1])[1]
    return jnp.sum(jnp.log(variances) + returns[1:] ** 2 / variances)


@program(jax.random.key(0))
def heston(key):
    def step(state, key):
        price, variance = state
        z, w = jax.random.normal(key, (2, 2000))
        spread = jnp.sqrt(jnp.maximum(variance, 0) * 0.01)
        return (price * jnp.exp(-0.005 * jnp.maximum(variance, 0) + spread * z), variance + 0.015 * (0.04 - variance) + 0.3 * spread * w), None
    return lax.scan(step, (jnp.ones(2000), jnp.full(2000, 0.04)), jax.random.split(key, 50))[0]


@program(normal(4), 0.05 * normal(64, 4))
def cart_pole(weights, states):
    def step(state, _):
        x, dx, angle, turn = state
        force = jnp.where(state @ weights > 0, 10.0, -10.0)
        push = (force + 0.05 * turn ** 2 * jnp.sin(angle)) / 1.1
        faster = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
        return jnp.array([x + 0.02 * dx, dx + 0.02 * (push - 0.05 * faster * jnp.cos(angle) / 1.1), angle + 0.02 * turn, turn + 0.02 * faster]), angle
    return jax.vmap(lambda state: lax.scan(step, state, None, length=100)[1])(states)


@program(uniform(200, 200, 3))
def smaller(image):
    return jax.image.resize(image, (64, 64, 3), "bilinear")


@program(jax.random.key(0), normal(50, 100))
def sampled(key, logits):
    def step(last, given):
        token = jax.random.categorical(given[0], given[1] + 0.01 * last)
        return token, token
    return lax.scan(step, 0, (jax.random.split(key, 50), logits))[1]


@program(normal(2), uniform(5000) * 0.98 + 0.01, slope=True)
def beta_likelihood(logs, x):
    return -jnp.sum(stats.beta.logpdf(x, jnp.exp(logs[0]), jnp.exp(logs[1])))


@program(normal(3), normal(5000), slope=True)
def student_likelihood(parameters, x):
    return -jnp.sum(stats.t.logpdf(x, jnp.exp(parameters[0]), parameters[1], jnp.exp(parameters[2])))


@program((normal(8), normal(8), normal(8)), normal(5000), slope=True)
def mixture_likelihood(parameters, x):
    shares, means, widths = parameters
    return -jnp.sum(jax.nn.logsumexp(jax.nn.log_softmax(shares) + stats.norm.logpdf(x[:, None], means, jnp.exp(widths)), -1))


# -- to compile ----------------------------------------------------------------------------------------------------------

@program(jnp.asarray(rng.integers(0, 10, 5000), jnp.int32), normal(5000))
def two_keys(groups, x):
    return lax.sort((groups, x), num_keys=2)


@program(normal(64, 64), normal(64, 64))
def min_plus(a, b):
    return jnp.min(a[:, :, None] + b, 1)


@program(normal(4096, 3))
def waves(x):
    return jnp.concatenate([x, *[f(2.0 ** i * x) for i in range(8) for f in (jnp.sin, jnp.cos)]], -1)


@program([(0.1 * normal(m, n), 0.1 * normal(n)) for m, n in ((51, 64), (64, 64), (64, 4))], normal(1024, 3), normal(1024, 4), slope=True)
def radiance(layers, x, wanted):
    x = waves(x)
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return jnp.mean((x @ weights + bias - wanted) ** 2)


@program(normal(1000, 8), normal(50, 8))
def nearest(points, asked):
    return lax.top_k(-jnp.sum((asked[:, None] - points) ** 2, -1), 5)


@program(uniform(256, 256, 3))
def gamma_corrected(image):
    return jnp.clip(jnp.where(image <= 0.0031308, 12.92 * image, 1.055 * jnp.maximum(image, 1e-6) ** (1 / 2.4) - 0.055), 0, 1)


@program(uniform(256, 256, 3))
def hue(image):
    r, g, b = image[..., 0], image[..., 1], image[..., 2]
    most, least = image.max(-1), image.min(-1)
    spread = most - least + 1e-6
    angle = jnp.where(most == r, (g - b) / spread, jnp.where(most == g, 2 + (b - r) / spread, 4 + (r - g) / spread))
    return jnp.stack([jnp.where(most == least, 0, angle) / 6 % 1, jnp.where(most == 0, 0, (most - least) / (most + 1e-6)), most], -1)
