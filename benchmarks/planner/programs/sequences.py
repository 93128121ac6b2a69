"""Programs over time by scan: recurrent networks, filters, dynamic programming."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .common import Data, cross_entropy, dense, dense_init, layer_norm, norm_init, program, sgd, zeros


@program
def lstm():
    """Sequence classifier. Source: Hochreiter, Schmidhuber, Neural Computation 1997."""
    data = Data(30)
    width = 64

    def loss(params, xs, labels):
        def step(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(dense(params["cell"], jnp.concatenate([x, h], axis=-1)), 4, axis=-1)
            c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        start = jnp.zeros((xs.shape[1], width))
        (h, _), _ = jax.lax.scan(step, (start, start), xs)
        return cross_entropy(dense(params["head"], h), labels)
    params = dict(cell=dense_init(data, 32 + width, 4 * width), head=dense_init(data, width, 5))
    return sgd(loss), (params, data.normal(50, 32, 32), data.integers(5, 32))


@program
def rnn_layer_norm():
    """Two recurrent layers, each with a layer norm inside the loop."""
    data = Data(31)
    width = 128

    def loss(params, xs, targets):
        def step(hs, x):
            new = []
            for p, h in zip(params["cells"], hs):
                x = jnp.tanh(layer_norm(p["norm"], x @ p["in"] + h @ p["rec"]))
                x = h + 0.5 * (x - h)
                new.append(x)
            return tuple(new), dense(params["out"], x)
        start = tuple(jnp.zeros((xs.shape[1], width)) for _ in params["cells"])
        _, ys = jax.lax.scan(step, start, xs)
        return jnp.mean(jnp.square(ys - targets))
    cells = [{"in": data.weight(n, width), "rec": data.weight(width, width), "norm": norm_init(width)}
             for n in (16, width)]
    params = dict(cells=cells, out=dense_init(data, width, 8))
    return sgd(loss), (params, data.normal(40, 32, 16), data.normal(40, 32, 8))


@program
def kalman_filter():
    """Log-likelihood of a linear Gaussian state space model and its gradient."""
    data = Data(32)
    n, m = 6, 3

    def log_likelihood(params, ys):
        a, c, q, r = params["a"], params["c"], jnp.diag(jnp.exp(params["q"])), jnp.diag(jnp.exp(params["r"]))

        def step(carry, y):
            mean, cov = carry
            mean, cov = a @ mean, a @ cov @ a.T + q
            s = c @ cov @ c.T + r
            gain = jnp.linalg.solve(s, c @ cov).T
            error = y - c @ mean
            log_p = -0.5 * (error @ jnp.linalg.solve(s, error) + jnp.linalg.slogdet(s)[1] + m * jnp.log(2 * jnp.pi))
            cov = cov - gain @ c @ cov
            return (mean + gain @ error, 0.5 * (cov + cov.T)), log_p
        return jnp.sum(jax.lax.scan(step, (jnp.zeros(n), jnp.eye(n)), ys)[1])
    params = dict(a=data.normal(n, n, scale=0.2), c=data.weight(m, n), q=zeros(n), r=zeros(m))
    return jax.value_and_grad(log_likelihood), (params, data.normal(100, m))


@program
def viterbi():
    """Best path through 64 states over 300 steps, traced back."""
    data = Data(33)

    def decode(log_start, log_move, log_emit):
        def forward(score, emit):
            candidates = score[:, None] + log_move
            return jnp.max(candidates, axis=0) + emit, jnp.argmax(candidates, axis=0)
        score, pointers = jax.lax.scan(forward, log_start + log_emit[0], log_emit[1:])

        def back(state, pointer):
            return pointer[state], state
        first, path = jax.lax.scan(back, jnp.argmax(score), pointers, reverse=True)
        return jnp.concatenate([first[None], path]), jnp.max(score)
    return decode, (data.normal(64), data.normal(64, 64), data.normal(300, 64))


@program
def hidden_markov_gradient():
    """Forward algorithm in the log domain for a batch of sequences, and its gradient."""
    data = Data(34)

    def loss(params, xs):
        log_move = jax.nn.log_softmax(params["move"], axis=-1)
        log_emit = jax.nn.log_softmax(params["emit"], axis=-1)

        def step(log_a, x):
            log_a = jax.nn.logsumexp(log_a[:, :, None] + log_move[None], axis=1) + log_emit[:, x].T
            return log_a, None
        log_a = jax.nn.log_softmax(params["start"])[None] + log_emit[:, xs[0]].T
        log_a, _ = jax.lax.scan(step, log_a, xs[1:])
        return -jnp.mean(jax.nn.logsumexp(log_a, axis=-1))
    params = dict(start=data.normal(16), move=data.normal(16, 16), emit=data.normal(16, 32))
    return jax.value_and_grad(loss), (params, data.integers(32, 60, 16))


@program
def edit_distance():
    """Levenshtein distance of 64 pairs of strings, one row of the table a step."""
    data = Data(35)

    def distance(a, b):
        index = jnp.arange(b.shape[0] + 1)

        def row(previous, letter_and_count):
            letter, i = letter_and_count
            best = jnp.minimum(previous[1:] + 1, previous[:-1] + (b != letter))
            best = jnp.concatenate([i[None], best])
            # an insertion costs one more for each place to the right: a running minimum of what is left without that
            current = jax.lax.cummin(best - index) + index
            return current, None
        return jax.lax.scan(row, index, (a, jnp.arange(1, a.shape[0] + 1)))[0][-1]
    return jax.vmap(distance), (data.integers(4, 64, 100), data.integers(4, 64, 100))


@program
def exponential_smoothing():
    """Holt-Winters smoothing of 256 series with a season of 12, squared error and gradient."""
    data = Data(36)

    def loss(params, ys):
        alpha, beta, gamma = [jax.nn.sigmoid(p) for p in params]

        def step(carry, y):
            level, trend, season = carry
            error = y - (level + trend + season[0])
            new = alpha * (y - season[0]) + (1 - alpha) * (level + trend)
            trend = beta * (new - level) + (1 - beta) * trend
            late = gamma * (y - new) + (1 - gamma) * season[0]
            return (new, trend, jnp.concatenate([season[1:], late[None]])), jnp.mean(jnp.square(error))
        start = (ys[0], jnp.zeros_like(ys[0]), jnp.zeros((12, *ys[0].shape)))
        return jnp.mean(jax.lax.scan(step, start, ys[1:])[1])
    rng = np.random.default_rng(36)
    params = tuple(jnp.asarray(rng.normal(size=256).astype(np.float32)) for _ in range(3))
    return jax.value_and_grad(loss), (params, data.normal(120, 256))
