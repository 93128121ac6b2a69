"""Types of `jax.experimental.rnn`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.core import ShapedArray
from jax.lax import DotAlgorithm, DotAlgorithmPreset, Precision
from jax.typing import ArrayLike
from typing import Any

PRNGKeyArray = Any
def get_num_params_in_lstm(input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> int:
    """The length of the vector of weights."""
def init_lstm_weight(rng: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> Any:
    """Weights drawn uniformly from the interval of half-width ``1 / sqrt(hidden_size)``."""
def lstm(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, weights: ArrayLike, seq_lengths: ArrayLike, input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset = None) -> tuple:
    """A long short-term memory network."""
def lstm_bwd(input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset, residuals: Any, gradients: Any) -> tuple:
    """The cotangents of ``x, h_0, c_0, w`` for those of the results of `lstm`, and None for the lengths."""
def lstm_fwd(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, w: ArrayLike, seq_lengths: ArrayLike, input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, precision: None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset) -> tuple:
    """`lstm`, and the residuals for `lstm_bwd`."""
def lstm_ref(x: ArrayLike, h_0: ArrayLike, c_0: ArrayLike, W_ih: dict[int, ArrayLike], W_hh: dict[int, ArrayLike], b_ih: dict[int, ArrayLike], b_hh: dict[int, ArrayLike], seq_lengths: ArrayLike, input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool) -> tuple:
    """`lstm` with the weights in parts, as `unpack_lstm_weights` gives them."""
def rnn_abstract_eval(x_aval: ShapedArray, h_0_aval: ShapedArray, c_0_aval: ShapedArray, w_aval: ShapedArray, seq_lengths_aval: ShapedArray, input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, cudnn_allow_tf32: bool) -> tuple:
    """The types of outputs and last states; there is no reserved space, so the last type is that of an empty array."""
def rnn_bwd_abstract_eval(dy_aval: object, dhn_aval: object, dcn_aval: object, x_aval: object, h0_aval: object, c0_aval: object, w_aval: object, y_aval: object, reserve_space_aval: object, seq_lengths_aval: object, input_size: int, hidden_size: int, num_layers: int, dropout: float, bidirectional: bool, cudnn_allow_tf32: bool) -> tuple:
    """The types of the cotangents of inputs, states and weights: those of the things themselves."""
rnn_bwd_p: Any
rnn_fwd_p: Any
def sigmoid(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`."""
def swap_lstm_gates(weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> Any:
    """The vector of weights with the cell gate and the output gate exchanged, for libraries with that order."""
def tanh(x: ArrayLike, /) -> Array:
    """Hyperbolic tangent."""
def unpack_lstm_weights(weights: ArrayLike, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool) -> tuple:
    """The vector of weights in parts."""
