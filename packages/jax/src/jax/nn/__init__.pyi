"""Types of `jax.nn`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Literal, Sequence, overload
from jax.nn import initializers as initializers

def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere."""
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere. Source: Clevert, Unterthiner, Hochreiter, ICLR 2016."""
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """``x * Phi(x)`` with the normal distribution function Phi."""
def get_scaled_dot_general_config(mode: Literal['nvfp4', 'mxfp4', 'mxfp8'], global_scale: ArrayLike | None = None) -> Any:
    """The quantisation of a format, for `scaled_dot_general`."""
def glu(x: ArrayLike, axis: int = -1) -> Array:
    """First half of ``x`` along ``axis`` times the `sigmoid` of the second; raises ValueError for an odd length."""
def hard_sigmoid(x: ArrayLike) -> Array:
    """``relu6(x + 3) / 6``. Source: Howard et al., ICCV 2019."""
def hard_silu(x: ArrayLike) -> Array:
    """``x * hard_sigmoid(x)``; its slope at -3 is 0, and 1 at 3. Source: Howard et al., ICCV 2019."""
def hard_swish(x: ArrayLike) -> Array:
    """``x * hard_sigmoid(x)``; its slope at -3 is 0, and 1 at 3. Source: Howard et al., ICCV 2019."""
def hard_tanh(x: ArrayLike) -> Array:
    """``min(max(x, -1), 1)``. Source: Collobert, 2004."""
def identity(x: ArrayLike) -> Array:
    """``x`` as an array."""
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """``x`` where not negative, ``negative_slope * x`` elsewhere. Source: Maas, Hannun, Ng, ICML 2013."""
def log1mexp(x: ArrayLike) -> Array:
    """``log(1 - exp(-x))`` for positive ``x``, accurate at both ends. Source: Maechler, "Rmpfr" vignette, 2012."""
def log_sigmoid(x: ArrayLike) -> Array:
    """``log(sigmoid(x)) = -softplus(-x)``. Source: `softplus`, Dugas et al., NIPS 2000."""
def log_softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``."""
def logmeanexp(x: ArrayLike, axis: int | Sequence[int] | None = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """``log(mean(exp(x)))`` along ``axis``."""
def mish(x: ArrayLike) -> Array:
    """``x * tanh(softplus(x))``. Source: Misra, BMVC 2020."""
def one_hot(x: ArrayLike | Sequence[int], num_classes: int, *, dtype: DTypeLike | None = None, axis: int = -1, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """Rows of the identity matrix: 1 where the new axis' index equals ``x``, else 0."""
def relu(x: ArrayLike) -> Array:
    """``max(x, 0)``; its slope at 0 is 0. Source: Nair, Hinton, ICML 2010."""
def relu6(x: ArrayLike) -> Array:
    """``min(max(x, 0), 6.0)``; its slope at 0 and 6 is 0."""
def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]], preferred_element_type: DTypeLike = ..., configs: Sequence[Any] | None = None, implementation: str | None = None) -> Array:
    """`lax.dot_general` of operands rounded to block-scaled formats."""
def scaled_matmul(lhs: ArrayLike, rhs: ArrayLike, lhs_scales: ArrayLike, rhs_scales: ArrayLike, preferred_element_type: DTypeLike = ...) -> Array:
    """``lhs @ rhs^T`` for matrices whose blocks along the last axis have scales."""
def selu(x: ArrayLike) -> Array:
    """`elu` with the constants that keep mean and variance. Source: Klambauer et al., NeurIPS 2017."""
def sigmoid(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`."""
def silu(x: ArrayLike) -> Array:
    """``x * sigmoid(x)``, also called swish."""
def soft_sign(x: ArrayLike) -> Array:
    """``x / (1 + |x|)``. Source: Turian, Bergstra, Bengio, NAACL 2009."""
def softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``: positive numbers whose sum is 1. Large ``x`` do not overflow."""
def softplus(x: ArrayLike) -> Array:
    """``log(1 + exp(x))``, without overflow. Source: Dugas et al., NIPS 2000."""
def sparse_plus(x: ArrayLike) -> Array:
    """0 below -1, ``x`` above 1, and ``(x + 1)**2 / 4`` between. Source: the integral of `sparse_sigmoid`."""
def sparse_sigmoid(x: ArrayLike) -> Array:
    """``min(max((x + 1) / 2, 0), 1)``, the derivative of `sparse_plus`."""
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """``(x + sqrt(x**2 + b)) / 2``. Source: Barron, "Squareplus", 2021."""
def standardize(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, mean: ArrayLike | None = None, variance: ArrayLike | None = None, epsilon: float = 1e-05, where: ArrayLike | None = None, *, algorithm: str = 'fast') -> Array:
    """``(x - mean) / sqrt(variance + epsilon)`` along ``axis``."""
def swish(x: ArrayLike) -> Array:
    """``x * sigmoid(x)``, also called swish."""
def tanh(x: ArrayLike, /) -> Array:
    """Hyperbolic tangent; `jax.numpy.tanh`."""
@overload
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: int | tuple[int, int] | None = None, implementation: str | None = None, return_residual: Literal[False] = False) -> Array:
    """``softmax(scale * query key^T + bias) value`` for each head."""
@overload
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: int | tuple[int, int] | None = None, implementation: str | None = None, return_residual: Literal[True]) -> tuple[Array, Array]: ...
@overload
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: int | tuple[int, int] | None = None, implementation: str | None = None, return_residual: bool = False) -> Any: ...
@overload
def logsumexp(a: ArrayLike, axis: int | Sequence[int] | None = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: Literal[False] = False, where: ArrayLike | None = None) -> Array:
    """The logarithm of a sum of exponentials."""
@overload
def logsumexp(a: ArrayLike, axis: int | Sequence[int] | None = None, b: ArrayLike | None = None, keepdims: bool = False, *, return_sign: Literal[True], where: ArrayLike | None = None) -> tuple[Array, Array]: ...
