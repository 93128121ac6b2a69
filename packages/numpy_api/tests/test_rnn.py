"""LSTM networks against a plain loop in NumPy, their derivatives, and one that learns."""
import numpy as np
import pytest

from jax_core.configuration import flags
from jax_core.programs.jit import jit
from jax_core.transformations.autodiff import grad, jvp
from jax_core.transformations.vmap import vmap
from jax_numpy_api import numpy as jnp, rnn

pytestmark = pytest.mark.any_code

_RNG = np.random.default_rng(0)
NETWORKS = [dict(input_size=3, hidden_size=4, num_layers=n, bidirectional=b) for n in (1, 2) for b in (False, True)]


@pytest.fixture(autouse=True)
def _wide():
    with flags.enable_x64(True):
        yield


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loop(x, h, c, weights):
    """One layer, one sequence, one direction."""
    w_ih, w_hh, b_ih, b_hh = weights
    outs = []
    for row in x:
        i, f, g, o = np.split(w_ih @ row + w_hh @ h + b_ih + b_hh, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outs.append(h)
    return np.array(outs), h, c


def network(x, h_0, c_0, weights, lengths, *, input_size, hidden_size, num_layers, bidirectional):
    parts = [{k: np.asarray(v) for k, v in p.items()} for p in rnn.unpack_lstm_weights(
        weights, input_size, hidden_size, num_layers, bidirectional)]
    directions = 2 if bidirectional else 1
    y = np.zeros((*x.shape[:2], hidden_size * directions))
    h_n, c_n = np.zeros_like(h_0), np.zeros_like(c_0)
    for b, n in enumerate(lengths):
        current = x[b, :n]
        for layer in range(num_layers):
            outs = []
            for d in range(directions):
                k = layer * directions + d
                out, h_n[k, b], c_n[k, b] = loop(current[::-1] if d else current, h_0[k, b], c_0[k, b], [p[k] for p in parts])
                outs.append(out[::-1] if d else out)
            current = np.concatenate(outs, -1)
        y[b, :n] = current
    return y, h_n, c_n


def case(settings, batch=2, time=5):
    states = settings["num_layers"] * (2 if settings["bidirectional"] else 1)
    h, c = (_RNG.normal(size=(states, batch, settings["hidden_size"])) for _ in range(2))
    w = _RNG.normal(size=rnn.get_num_params_in_lstm(**settings)) / 2
    return _RNG.normal(size=(batch, time, settings["input_size"])), h, c, w


@pytest.mark.parametrize("lengths", [(5, 5), (1, 3)])
@pytest.mark.parametrize("settings", NETWORKS, ids=str)
def test_values(settings, lengths):
    """Outputs after the end of a sequence are 0, and states are those at its end."""
    x, h, c, w = case(settings)
    got = rnn.lstm(x, h, c, w, np.array(lengths), dropout=0.0, **settings)
    for g, want in zip(got, network(x, h, c, w, lengths, **settings)):
        np.testing.assert_allclose(g, want, rtol=1e-10, atol=1e-12)


def test_derivatives():
    """Forward mode, reverse mode and the pair of functions for it agree with a finite difference."""
    settings = NETWORKS[3]
    x, h, c, w = case(settings)
    lengths, d = np.array([5, 3]), _RNG.normal(size=w.shape)
    f = lambda w: sum((o ** 2).sum() for o in rnn.lstm(x, h, c, w, lengths, dropout=0.0, **settings))
    want = (f(w + 1e-6 * d) - f(w - 1e-6 * d)) / 2e-6
    np.testing.assert_allclose(jit(grad(f))(w) @ d, want, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (w,), (d,))[1], want, rtol=1e-6)
    names = ("input_size", "hidden_size", "num_layers")
    positional = [settings[n] for n in names] + [0.0, settings["bidirectional"], None]
    outs, residuals = rnn.lstm_fwd(x, h, c, w, lengths, *positional)
    cts = rnn.lstm_bwd(*positional, residuals, [2 * o for o in outs])
    np.testing.assert_allclose(cts[3], grad(f)(w), rtol=1e-10)
    assert cts[4] is None and cts[0].shape == x.shape


def test_batches_of_networks():
    settings = NETWORKS[0]
    x, h, c, w = case(settings)
    run = lambda w: rnn.lstm(x, h, c, w, np.array([5, 5]), dropout=0.0, **settings)[0]
    np.testing.assert_allclose(vmap(run)(np.stack([w, 2 * w]))[1], run(2 * w), rtol=1e-12)


def test_gates_can_be_exchanged():
    settings = NETWORKS[3]
    w = np.arange(rnn.get_num_params_in_lstm(**settings))
    swapped = rnn.swap_lstm_gates(w, **settings)
    assert np.array_equal(swapped[24:36], w[36:48]) and np.array_equal(swapped[:24], w[:24])
    assert np.array_equal(rnn.swap_lstm_gates(swapped, **settings), w)


def test_errors():
    settings = NETWORKS[0]
    x, h, c, w = case(settings)
    with pytest.raises(NotImplementedError, match="dropout=0.5"):
        rnn.lstm(x, h, c, w, np.array([5, 5]), dropout=0.5, **settings)
    with pytest.raises(ValueError, match="144 weights needed"):
        rnn.lstm(x, h, c, w[1:], np.array([5, 5]), dropout=0.0, **settings)
    with pytest.raises(ValueError, match="needs h_0 and c_0 of shape"):
        rnn.lstm(x, h[0], c, w, np.array([5, 5]), dropout=0.0, **settings)


def test_a_network_learns():
    """To say, after each step, whether the last two inputs had the same sign."""
    settings = dict(input_size=1, hidden_size=8, num_layers=1, bidirectional=False)
    rng = np.random.default_rng(1)  # some starts end in a local minimum
    x = np.sign(rng.normal(size=(32, 6, 1)))
    y = (x[:, 1:, 0] == x[:, :-1, 0]) * 2.0 - 1
    zeros = jnp.zeros((1, 32, 8))

    def loss(w):
        out = rnn.lstm(x, zeros, zeros, w, np.full(32, 6), dropout=0.0, **settings)[0][:, 1:, 0]
        return ((3 * out - y) ** 2).mean()
    w = rng.normal(size=rnn.get_num_params_in_lstm(**settings))
    step = jit(lambda w, v: (w - 0.1 * (v := 0.9 * v + grad(loss)(w)), v))
    first, v = loss(w), jnp.zeros_like(w)
    for _ in range(300):
        w, v = step(w, v)
    assert loss(w) < 0.25 * first
