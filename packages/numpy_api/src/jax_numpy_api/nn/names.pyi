"""The names of `jax_numpy_api.nn`. Written by packages/jax/tools/make_stubs.py."""
from .activations import (
    celu as celu,
    elu as elu,
    gelu as gelu,
    glu as glu,
    hard_sigmoid as hard_sigmoid,
    hard_silu as hard_silu,
    hard_swish as hard_swish,
    hard_tanh as hard_tanh,
    identity as identity,
    leaky_relu as leaky_relu,
    log1mexp as log1mexp,
    log_sigmoid as log_sigmoid,
    mish as mish,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as silu,
    soft_sign as soft_sign,
    softplus as softplus,
    sparse_plus as sparse_plus,
    sparse_sigmoid as sparse_sigmoid,
    squareplus as squareplus,
    swish as swish,
    tanh as tanh,
)
from .normalize import (
    log_softmax as log_softmax,
    logmeanexp as logmeanexp,
    one_hot as one_hot,
    softmax as softmax,
    standardize as standardize,
)
from .attention import (
    dot_product_attention as dot_product_attention,
)
from .scaled import (
    get_scaled_dot_general_config as get_scaled_dot_general_config,
    scaled_dot_general as scaled_dot_general,
    scaled_matmul as scaled_matmul,
)
from .exponential_sums import (
    logsumexp as logsumexp,
)
