"""jax.experimental.rnn: layers of long short-term memory, in one or two directions, for sequences of different lengths.

The weights are one flat vector, in the order that cuDNN and PyTorch use: for each layer and direction the input and the
recurrent matrix, then for each of them two biases; the rows of a matrix are the gates input, forget, cell, output. Each
layer is one product with the input for all steps at once, and a scan over the steps, on every platform.

Source: Hochreiter, Schmidhuber, Neural Computation 9 (1997); Gers, Schmidhuber, Cummins (2000) for the forget gate.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.extension_points import random_functions
from jax_core.representation.aval import ShapedArray
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import vjp

from . import lax, nn, numpy as jnp
from .lax.dot import canonical_precision
from .named import named

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree
    from jax_numpy_api.lax.dot import PrecisionLike

PRNGKeyArray = Any
sigmoid, tanh = nn.sigmoid, jnp.tanh


# -- weights -------------------------------------------------------------------------------------------------------------

def _shapes(input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> list[list[tuple[int, ...]]]:
    """Shapes of W_ih, W_hh, b_ih, b_hh for each layer and direction."""
    directions, gates = 2 if bidirectional else 1, 4 * hidden_size
    widths = [input_size] + [hidden_size * directions] * (num_layers - 1)
    return [[(gates, width), (gates, hidden_size), (gates,), (gates,)] for width in widths for _ in range(directions)]


def get_num_params_in_lstm(input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> int:
    """The length of the vector of weights.

    >>> from jax.experimental import rnn
    >>> rnn.get_num_params_in_lstm(input_size=3, hidden_size=4, num_layers=1, bidirectional=False)
    144
    """
    return sum(math.prod(s) for part in _shapes(input_size, hidden_size, num_layers, bidirectional) for s in part)


def init_lstm_weight(rng: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> Any:
    """Weights drawn uniformly from the interval of half-width ``1 / sqrt(hidden_size)``.

    >>> from jax.experimental import rnn
    >>> rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False).shape
    (144,)
    """
    bound = 1 / math.sqrt(hidden_size)
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    return random_functions.get().uniform(rng, (count,), minval=-bound, maxval=bound)


def _pieces(input_size, hidden_size, num_layers, bidirectional):
    """``(kind, which layer and direction, begin, shape)`` for all parts of the vector, in order."""
    shapes, begin, found = _shapes(input_size, hidden_size, num_layers, bidirectional), 0, []
    for kinds in ((0, 1), (2, 3)):
        for which, part in enumerate(shapes):
            for kind in kinds:
                found.append((kind, which, begin, part[kind]))
                begin += math.prod(part[kind])
    return found


def unpack_lstm_weights(weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int,
                        bidirectional: bool) -> tuple:
    """The vector of weights in parts.

    Returns:
      four dicts, for W_ih, W_hh, b_ih and b_hh, with an entry for each layer and direction.

    Raises:
      ValueError: another length than `get_num_params_in_lstm` says.

    >>> from jax.experimental import rnn
    >>> w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    >>> W_ih, W_hh, b_ih, b_hh = rnn.unpack_lstm_weights(w, 3, 4, 1, False)
    >>> W_ih[0].shape, W_hh[0].shape, b_ih[0].shape
    ((16, 3), (16, 4), (16,))
    """
    weights = jnp.asarray(weights)
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    if weights.shape != (count,):
        raise ValueError(f"unpack_lstm_weights: {count} weights needed, got an array of shape {weights.shape}")
    found: tuple[dict, dict, dict, dict] = ({}, {}, {}, {})
    for kind, which, begin, shape in _pieces(input_size, hidden_size, num_layers, bidirectional):
        found[kind][which] = weights[begin:begin + math.prod(shape)].reshape(shape)
    return found


def swap_lstm_gates(weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> Any:
    """The vector of weights with the cell gate and the output gate exchanged, for libraries with that order.

    >>> from jax.experimental import rnn
    >>> w = jnp.arange(float(rnn.get_num_params_in_lstm(1, 1, 1, False)))
    >>> rnn.swap_lstm_gates(w, 1, 1, 1, False)
    Array([ 0.,  1.,  3.,  2.,  4.,  5.,  7.,  6.,  8.,  9., 11., 10., 12.,
           13., 15., 14.], dtype=float32)
    """
    weights = jnp.asarray(weights)
    order = np.arange(weights.shape[0])
    for _, _, begin, shape in _pieces(input_size, hidden_size, num_layers, bidirectional):
        gate = math.prod(shape) // 4
        part = order[begin:begin + 4 * gate]
        part[2 * gate:] = np.roll(part[2 * gate:], gate)
    return weights[order]


# -- the network ---------------------------------------------------------------------------------------------------------

def _direction(x, h, c, weights, lengths, backwards, precision):
    """One layer in one direction on ``(batch, time, features)``; results past a sequence's end are 0, and its state stays."""
    w_ih, w_hh, b_ih, b_hh = weights
    steps = jnp.arange(x.shape[1])
    inside = steps[None, :] < lengths[:, None]
    turned = jnp.where(inside, lengths[:, None] - 1 - steps[None, :], steps[None, :])[..., None]
    x = jnp.take_along_axis(x, turned, axis=1) if backwards else x
    gates = jnp.einsum("bti,gi->tbg", x, w_ih, precision=precision) + (b_ih + b_hh)[None, None]

    def step(state: PyTree, now):
        h, c = state
        gate, here = now
        i, f, g, o = jnp.split(gate + jnp.dot(h, w_hh.T, precision=precision), 4, axis=-1)
        new_c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        new_h = sigmoid(o) * tanh(new_c)
        here = here[:, None]
        return (jnp.where(here, new_h, h), jnp.where(here, new_c, c)), jnp.where(here, new_h, 0)
    (h, c), y = lax.scan(step, (h, c), (gates, inside.T))
    y = jnp.moveaxis(y, 0, 1)
    return (jnp.take_along_axis(y, turned, axis=1) if backwards else y), h, c


def lstm_ref(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, W_ih: dict[int, ArrayLike], W_hh: dict[int, ArrayLike],
             b_ih: dict[int, ArrayLike], b_hh: dict[int, ArrayLike], seq_lengths: ArrayLike, input_size: int,
             hidden_size: int, num_layers: int, dropout: float, bidirectional: bool) -> tuple:
    """`lstm` with the weights in parts, as `unpack_lstm_weights` gives them.

    >>> from jax.experimental import rnn
    >>> w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    >>> state = jnp.zeros((1, 2, 4))
    >>> y, h, c = rnn.lstm_ref(jnp.ones((2, 5, 3)), state, state, *rnn.unpack_lstm_weights(w, 3, 4, 1, False), jnp.array([5, 2]),
    ...                        input_size=3, hidden_size=4, num_layers=1, dropout=0., bidirectional=False)
    >>> y.shape
    (2, 5, 4)
    """
    return _network(x, h_0, c_0, [W_ih, W_hh, b_ih, b_hh], seq_lengths, hidden_size, num_layers, dropout, bidirectional, None)


def _network(x, h_0, c_0, parts, seq_lengths, hidden_size, num_layers, dropout, bidirectional, precision):
    if dropout:
        raise NotImplementedError(f"lstm: dropout={dropout} is not supported, as there is no key to draw with; use layers of one, "
                                  "and drop out between them")
    directions = 2 if bidirectional else 1
    x, h_0, c_0, lengths = jnp.asarray(x), jnp.asarray(h_0), jnp.asarray(c_0), jnp.asarray(seq_lengths)
    state = (num_layers * directions, x.shape[0], hidden_size)
    if x.ndim != 3 or h_0.shape != state or c_0.shape != state or lengths.shape != x.shape[:1]:
        raise ValueError(f"lstm: x of shape {x.shape} (batch, time, features) needs h_0 and c_0 of shape {state} and seq_lengths of "
                         f"shape {x.shape[:1]}, got {h_0.shape}, {c_0.shape} and {lengths.shape}")
    last_h, last_c = [], []
    for layer in range(num_layers):
        outs = []
        for d in range(directions):
            k = layer * directions + d
            y, h, c = _direction(x, h_0[k], c_0[k], [part[k] for part in parts], lengths, d == 1, precision)
            outs.append(y)
            last_h.append(h)
            last_c.append(c)
        x = jnp.concatenate(outs, -1)
    return x, jnp.stack(last_h), jnp.stack(last_c)


def _forward(x, h_0, c_0, w, seq_lengths, *, input_size, hidden_size, num_layers, dropout, bidirectional, precision):
    parts = unpack_lstm_weights(w, input_size, hidden_size, num_layers, bidirectional)
    return _network(x, h_0, c_0, parts, seq_lengths, hidden_size, num_layers, dropout, bidirectional, precision)


def _backward(dy, dhn, dcn, x, h_0, c_0, w, seq_lengths, **params):
    pullback = vjp(lambda *args: _forward(*args, seq_lengths, **params), x, h_0, c_0, w)[1]
    return pullback((dy, dhn, dcn))


rnn_fwd_p = named("rnn_fwd", _forward, multiple_results=True)
rnn_bwd_p = named("rnn_bwd", _backward, multiple_results=True)


def lstm(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, weights: ArrayLike, seq_lengths: ArrayLike, input_size: int,
         hidden_size: int, num_layers: int, dropout: float, bidirectional: bool,
         precision: PrecisionLike = None) -> tuple:
    """A long short-term memory network.

    Args:
      x: inputs ``(batch, time, input_size)``.
      h_0, c_0: states to begin with, ``(num_layers * directions, batch, hidden_size)``.
      weights: a vector; see `init_lstm_weight` and the module docstring.
      seq_lengths: length of each sequence, ``(batch,)`` integers; what comes after it does not count.
      input_size, hidden_size, num_layers, bidirectional: the network.
      dropout: must be 0.
      precision: of the matrix products, as for `lax.dot_general`.

    Returns:
      outputs ``(batch, time, hidden_size * directions)``, which are 0 after the end of a sequence, and the states after it.

    Raises:
      ValueError: shapes that do not fit. NotImplementedError: dropout.

    >>> from jax.experimental import rnn
    >>> w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    >>> state = jnp.zeros((1, 2, 4))
    >>> y, h, c = rnn.lstm(jnp.ones((2, 5, 3)), state, state, w, jnp.array([5, 2]), input_size=3, hidden_size=4, num_layers=1,
    ...                    dropout=0., bidirectional=False)
    >>> y.shape, h.shape
    ((2, 5, 4), (1, 2, 4))
    """
    return tuple(rnn_fwd_p.bind(*map(jnp.asarray, (x, h_0, c_0, weights, seq_lengths)), input_size=int(input_size),
                                hidden_size=int(hidden_size), num_layers=int(num_layers), dropout=float(dropout),
                                bidirectional=bool(bidirectional), precision=canonical_precision(precision)))


def lstm_fwd(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, w: ArrayLike, seq_lengths: ArrayLike, input_size: int,
             hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, precision: PrecisionLike) -> tuple:
    """`lstm`, and the residuals for `lstm_bwd`.

    >>> from jax.experimental import rnn
    >>> w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    >>> state = jnp.zeros((1, 2, 4))
    >>> (y, h, c), residuals = rnn.lstm_fwd(jnp.ones((2, 5, 3)), state, state, w, jnp.array([5, 2]), 3, 4, 1, 0., False, None)
    >>> y.shape
    (2, 5, 4)
    """
    out = lstm(x, h_0, c_0, w, seq_lengths, input_size, hidden_size, num_layers, dropout, bidirectional, precision)
    return out, (x, h_0, c_0, w, seq_lengths)


def lstm_bwd(input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool,
             precision: PrecisionLike, residuals: Any, gradients: Any) -> tuple:
    """The cotangents of ``x, h_0, c_0, w`` for those of the results of `lstm`, and None for the lengths.

    >>> from jax.experimental import rnn
    >>> w = rnn.init_lstm_weight(jax.random.key(0), 3, 4, 1, False)
    >>> state = jnp.zeros((1, 2, 4))
    >>> out, residuals = rnn.lstm_fwd(jnp.ones((2, 5, 3)), state, state, w, jnp.array([5, 2]), 3, 4, 1, 0., False, None)
    >>> x, h, c, weights, lengths = rnn.lstm_bwd(3, 4, 1, 0., False, None, residuals, out)
    >>> x.shape, weights.shape, lengths
    ((2, 5, 3), (144,), None)
    """
    cts = rnn_bwd_p.bind(*map(jnp.asarray, (*gradients, *residuals)), input_size=int(input_size), hidden_size=int(hidden_size),
                         num_layers=int(num_layers), dropout=float(dropout), bidirectional=bool(bidirectional),
                         precision=canonical_precision(precision))
    return (*cts, None)


def rnn_abstract_eval(x_aval: ShapedArray, h_0_aval: ShapedArray, c_0_aval: ShapedArray, w_aval: ShapedArray,
                      seq_lengths_aval: ShapedArray, input_size: int, hidden_size: int, num_layers: int, dropout: float,
                      bidirectional: bool, cudnn_allow_tf32: bool) -> tuple:
    """The types of outputs and last states; there is no reserved space, so the last type is that of an empty array."""
    width = hidden_size * (2 if bidirectional else 1)
    y = ShapedArray((*x_aval.shape[:2], width), x_aval.dtype)
    return y, h_0_aval, c_0_aval, ShapedArray((0,), x_aval.dtype)


def rnn_bwd_abstract_eval(dy_aval: object, dhn_aval: object, dcn_aval: object, x_aval: object, h0_aval: object, c0_aval: object,
                          w_aval: object, y_aval: object, reserve_space_aval: object, seq_lengths_aval: object, input_size: int,
                          hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, cudnn_allow_tf32: bool) -> tuple:
    """The types of the cotangents of inputs, states and weights: those of the things themselves."""
    return x_aval, h0_aval, c0_aval, w_aval
