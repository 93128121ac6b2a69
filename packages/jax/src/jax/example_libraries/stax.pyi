"""Types of `jax.example_libraries.stax`. Written by packages/jax/tools/make_stubs.py."""
from jax import Array
from jax.nn.initializers import Initializer
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
def glorot(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = ..., dtype: DTypeLike | None = None) -> Initializer:
    """Normal, cut at two standard deviations, with variance 1 over the mean number of inputs and outputs of a unit."""
def logsoftmax(x: ArrayLike, axis: int | tuple[int, ...] | None = -1, where: ArrayLike | None = None) -> Array:
    """``x - log(sum(exp(x)))`` along ``axis``."""
def parallel(*layers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Each layer on its own input, of a list of inputs; the result is the list of their results."""
def randn(stddev: Any = 0.01, dtype: DTypeLike | None = None) -> Initializer:
    """Normal draws with standard deviation ``stddev``."""
def serial(*layers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One layer after the other."""
def shape_dependent(make_layer: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The layer ``make_layer(input_shape)``, made anew for each shape that comes."""
