"""Types of `jax.example_libraries.stax`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array, Device
from jax.nn.initializers import Initializer
from jax.sharding import PartitionSpec, Sharding
from jax.typing import ArrayLike, DTypeLike
from typing import Any, Callable, Sequence

def AvgPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', spec: str | None = None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The mean of the elements in each window; padding does not count."""
def BatchNorm(axis: int | Sequence[int] = ..., epsilon: float = 1e-05, center: bool = True, scale: bool = True, beta_init: Callable[..., Any] = ..., gamma_init: Callable[..., Any] = ...) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Mean 0 and variance 1 over ``axis``, then a scale and an offset for each index of the other axes."""
def Conv(out_chan: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', W_init: Callable | None = None, b_init: Callable = ...) -> Any:
    """`GeneralConv` of images ``(batch, height, width, channels)``."""
def Conv1DTranspose(out_chan: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', W_init: Callable | None = None, b_init: Callable = ...) -> Any:
    """`GeneralConvTranspose` of sequences ``(batch, length, channels)``."""
def ConvTranspose(out_chan: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', W_init: Callable | None = None, b_init: Callable = ...) -> Any:
    """`GeneralConvTranspose` of images ``(batch, height, width, channels)``."""
def Dense(out_dim: int, W_init: Callable[..., Any] = ..., b_init: Callable[..., Any] = ...) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A full matrix and a bias, on the last axis."""
def Dropout(rate: float, mode: str = 'train') -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Keep each element with probability ``rate``, divided by it, and set the others to 0; ``mode="test"`` keeps all."""
Elu: tuple
Exp: tuple
def FanInConcat(axis: int = -1) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A list of inputs as one, joined along ``axis``."""
FanInSum: tuple
def FanOut(num: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The input ``num`` times, as a list."""
Flatten: tuple
Gelu: tuple
def GeneralConv(dimension_numbers: Sequence[str], out_chan: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', W_init: Callable[..., Any] | None = None, b_init: Callable[..., Any] = ...) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A convolution and a bias. ``dimension_numbers`` as for `lax.conv_general_dilated`, as three strings."""
def GeneralConvTranspose(dimension_numbers: Sequence[str], out_chan: int, filter_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', W_init: Callable[..., Any] | None = None, b_init: Callable[..., Any] = ...) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A transposed convolution and a bias; see `lax.conv_transpose`."""
Identity: tuple
LeakyRelu: tuple
LogSoftmax: tuple
def MaxPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', spec: str | None = None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The maximum in each window. ``spec`` names the axes, as ``"NHWC"`` (default); those not called N or C are pooled."""
Relu: tuple
Selu: tuple
Sigmoid: tuple
Softmax: tuple
Softplus: tuple
def SumPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = 'VALID', spec: str | None = None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The sum in each window."""
Tanh: tuple
def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of arrays that keeps the shape."""
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere. Source: Clevert, Unterthiner, Hochreiter, ICLR 2016."""
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """``x * Phi(x)`` with the normal distribution function Phi."""
def glorot(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the mean number of inputs and outputs of a unit."""
def glorot_normal(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the mean number of inputs and outputs of a unit."""
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """``x`` where not negative, ``negative_slope * x`` elsewhere. Source: Maas, Hannun, Ng, ICML 2013."""
def log_softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``."""
def logsoftmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``."""
def normal(stddev: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Normal draws with standard deviation ``stddev``."""
def ones(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of ones."""
def parallel(*layers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Each layer on its own input, of a list of inputs; the result is the list of their results."""
def randn(stddev: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Normal draws with standard deviation ``stddev``."""
def relu(x: ArrayLike) -> Array:
    """``max(x, 0)``; its slope at 0 is 0. Source: Nair, Hinton, ICML 2010."""
def selu(x: ArrayLike) -> Array:
    """`elu` with the constants that keep mean and variance. Source: Klambauer et al., NeurIPS 2017."""
def serial(*layers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One layer after the other."""
def shape_dependent(make_layer: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The layer ``make_layer(input_shape)``, made anew for each shape that comes."""
def sigmoid(x: ArrayLike) -> Array:
    """``1 / (1 + exp(-x))``. Source: StableHLO `logistic`."""
def softmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``exp(x) / sum(exp(x))`` along ``axis``: positive numbers whose sum is 1. Large ``x`` do not overflow."""
def softplus(x: ArrayLike) -> Array:
    """``log(1 + exp(x))``, without overflow. Source: Dugas et al., NIPS 2000."""
def standardize(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, mean: ArrayLike | None = None, variance: ArrayLike | None = None, epsilon: float = 1e-05, where: ArrayLike | None = None, *, algorithm: str = 'fast') -> Array:
    """``(x - mean) / sqrt(variance + epsilon)`` along ``axis``."""
def zeros(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None, out_sharding: Sharding | PartitionSpec | Device | None = None) -> Array:
    """An array of zeros."""
