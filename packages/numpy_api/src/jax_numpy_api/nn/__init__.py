"""jax.nn: activations, softmax, attention. Initializers need random numbers and are in `jax_random.initializers`.

``activations``       elementwise, with a right gradient everywhere
``normalize``         softmax and its relatives, standardisation, one-hot
``exponential_sums``  logarithms of sums of exponentials
``attention``         scaled dot-product attention
``fused_attention``   the same by cuDNN's kernels
``scaled``            products of block-scaled matrices
"""
from typing import TYPE_CHECKING

from .._lazy import names_of as _names_of

if TYPE_CHECKING:
    from .names import *

_MODULES = {
    "activations": """celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log1mexp
        log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish
        tanh""",
    "normalize": "log_softmax logmeanexp one_hot softmax standardize",
    "attention": "dot_product_attention",
    "scaled": "get_scaled_dot_general_config scaled_dot_general scaled_matmul",
    "exponential_sums": "logsumexp",
}
__getattr__, __dir__, __all__ = _names_of(__name__, _MODULES)
