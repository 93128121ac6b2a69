"""jax.example_libraries.stax: neural networks as pairs of functions.

A layer is ``(init_fun, apply_fun)`` with ``init_fun(key, input_shape) -> (output_shape, params)`` and
``apply_fun(params, inputs, **kwargs) -> outputs``. `serial` and `parallel` make layers from layers; ``rng`` is the one
keyword argument with a meaning: `Dropout` draws from it.

It stands in this package and not with the other example library as layers need initializers, which need random numbers.
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_numpy_api import lax, nn, numpy as jnp

from .api import split
from .initializers import glorot_normal as glorot, normal as randn, ones, zeros
from .uniforms import bernoulli

if TYPE_CHECKING:
    from jax_core.representation.array import Array
    from jax_core.representation.typing import PyTree

Layer = tuple[Callable, Callable]
logsoftmax = nn.log_softmax


# -- layers with parameters ----------------------------------------------------------------------------------------------

def Dense(out_dim: int, W_init: Callable = glorot(), b_init: Callable = randn()) -> Layer:
    """A full matrix and a bias, on the last axis.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.Dense(3)
    >>> shape, (weights, bias) = init(jax.random.key(0), (-1, 2))
    >>> shape, weights.shape, apply((weights, bias), jnp.ones((5, 2))).shape
    ((-1, 3), (2, 3), (5, 3))
    """
    def init_fun(rng: Array, input_shape: PyTree):
        key_w, key_b = split(rng)
        params = W_init(key_w, (input_shape[-1], out_dim)), b_init(key_b, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        w, b = params
        out = jnp.dot(inputs, w)
        return out + jnp.broadcast_to(b, out.shape)
    return init_fun, apply_fun


def _convolution(shape_of, convolve, dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init):
    """What `GeneralConv` and `GeneralConvTranspose` share; ``shape_of`` and ``convolve`` are the two of one kind."""
    lhs_spec, rhs_spec, out_spec = _specs(dimension_numbers, filter_shape)
    strides = tuple(strides or (1,) * len(filter_shape))
    W_init = W_init or glorot(rhs_spec.index("I"), rhs_spec.index("O"))

    def init_fun(rng: Array, input_shape: PyTree):
        if np.ndim(input_shape) != 1 or len(input_shape) != len(lhs_spec):
            raise ValueError(f"init_fun of a convolution: input_shape must have an entry for each letter of {lhs_spec!r}, got {input_shape!r}")
        sizes = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
        kernel = tuple(channels[c] if c in channels else next(sizes) for c in rhs_spec)
        output_shape = shape_of(input_shape, kernel, strides, padding, dimension_numbers)
        bias = tuple(out_chan if c == "C" else 1 for c in out_spec)
        key_w, key_b = split(rng)
        return tuple(map(int, output_shape)), (W_init(key_w, kernel), b_init(key_b, bias))

    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        w, b = params
        return convolve(inputs, w, strides, padding, dimension_numbers=dimension_numbers) + b
    return init_fun, apply_fun


def _specs(dimension_numbers, filter_shape):
    """The three strings, checked."""
    if not isinstance(dimension_numbers, (tuple, list)) or [type(spec) for spec in dimension_numbers] != [str] * 3:
        raise TypeError(f"GeneralConv: dimension_numbers must be three strings, as ('NHWC', 'HWIO', 'NHWC'), got {dimension_numbers!r}")
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    if np.ndim(filter_shape) != 1 or len(filter_shape) != len(rhs_spec) - 2:
        raise ValueError(f"GeneralConv: filter_shape must have an entry for each spatial letter of {rhs_spec!r}, got {filter_shape!r}")
    return lhs_spec, rhs_spec, out_spec


def GeneralConv(dimension_numbers: Sequence[str], out_chan: int, filter_shape: Sequence[int],
                strides: Sequence[int] | None = None, padding: str = "VALID", W_init: Callable | None = None,
                b_init: Callable = randn(1e-6)) -> Layer:
    """A convolution and a bias. ``dimension_numbers`` as for `lax.conv_general_dilated`, as three strings.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.GeneralConv(("NHWC", "HWIO", "NHWC"), 8, (3, 3), padding="SAME")
    >>> shape, parameters = init(jax.random.key(0), (1, 10, 10, 3))
    >>> shape, apply(parameters, jnp.ones((1, 10, 10, 3))).shape
    ((1, 10, 10, 8), (1, 10, 10, 8))
    """
    return _convolution(lax.conv_general_shape_tuple, lax.conv_general_dilated, dimension_numbers, out_chan, filter_shape,
                        strides, padding, W_init, b_init)


def GeneralConvTranspose(dimension_numbers: Sequence[str], out_chan: int, filter_shape: Sequence[int],
                         strides: Sequence[int] | None = None, padding: str = "VALID", W_init: Callable | None = None,
                         b_init: Callable = randn(1e-6)) -> Layer:
    """A transposed convolution and a bias; see `lax.conv_transpose`.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.GeneralConvTranspose(("NHWC", "HWIO", "NHWC"), 8, (3, 3), strides=(2, 2), padding="SAME")
    >>> init(jax.random.key(0), (1, 10, 10, 3))[0]
    (1, 20, 20, 8)
    """
    return _convolution(lax.conv_transpose_shape_tuple, lax.conv_transpose, dimension_numbers, out_chan, filter_shape,
                        strides, padding, W_init, b_init)


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
Conv.__doc__ = """`GeneralConv` of images ``(batch, height, width, channels)``.

>>> from jax.example_libraries import stax
>>> init, apply = stax.Conv(8, (3, 3), padding="SAME")
>>> init(jax.random.key(0), (1, 10, 10, 3))[0]
(1, 10, 10, 8)
"""
ConvTranspose.__doc__ = """`GeneralConvTranspose` of images ``(batch, height, width, channels)``.

>>> from jax.example_libraries import stax
>>> init, apply = stax.ConvTranspose(8, (3, 3), strides=(2, 2), padding="SAME")
>>> init(jax.random.key(0), (1, 10, 10, 3))[0]
(1, 20, 20, 8)
"""
Conv1DTranspose.__doc__ = """`GeneralConvTranspose` of sequences ``(batch, length, channels)``.

>>> from jax.example_libraries import stax
>>> init, apply = stax.Conv1DTranspose(8, (3,), strides=(2,), padding="SAME")
>>> init(jax.random.key(0), (1, 10, 3))[0]
(1, 20, 8)
"""


def BatchNorm(axis: int | Sequence[int] = (0, 1, 2), epsilon: float = 1e-5, center: bool = True, scale: bool = True,
              beta_init: Callable = zeros, gamma_init: Callable = ones) -> Layer:
    """Mean 0 and variance 1 over ``axis``, then a scale and an offset for each index of the other axes.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.BatchNorm(axis=0)
    >>> shape, parameters = init(jax.random.key(0), (-1, 2))
    >>> apply(parameters, jnp.array([[1., 10.], [3., 30.]])).round(2)
    Array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng: Array, input_shape: PyTree):
        key_beta, key_gamma = split(rng)
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axes)
        return input_shape, (beta_init(key_beta, shape) if center else (), gamma_init(key_gamma, shape) if scale else ())

    def apply_fun(params: PyTree, x: PyTree, **kwargs):
        beta, gamma = params
        kept = tuple(i for i in range(x.ndim) if i not in axes)
        as_operand = lambda p: jnp.expand_dims(p, tuple(i for i in range(x.ndim) if i not in kept))
        z = nn.standardize(x, axes, epsilon=epsilon)
        z = as_operand(gamma) * z if scale else z
        return z + as_operand(beta) if center else z
    return init_fun, apply_fun


# -- layers without ------------------------------------------------------------------------------------------------------

def elementwise(fun: Callable[..., PyTree], **fun_kwargs: Any) -> Layer:
    """A function of arrays that keeps the shape.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.elementwise(jnp.clip, min=0., max=1.)
    >>> apply((), jnp.array([-1., 0.5, 2.]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return lambda rng, input_shape: (input_shape, ()), lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs)


Tanh, Relu, Exp = elementwise(jnp.tanh), elementwise(nn.relu), elementwise(jnp.exp)
LogSoftmax, Softmax = elementwise(nn.log_softmax, axis=-1), elementwise(nn.softmax, axis=-1)
Softplus, Sigmoid, Elu = elementwise(nn.softplus), elementwise(nn.sigmoid), elementwise(nn.elu)
LeakyRelu, Selu, Gelu = elementwise(nn.leaky_relu), elementwise(nn.selu), elementwise(nn.gelu)
Identity = elementwise(lambda x: x)


def _pool(reducer, start, window_shape, strides, padding, spec, rescale=None):
    """Windows over the axes that ``spec`` does not call N or C; ``rescale`` says what each sum is divided by."""
    strides = tuple(strides or (1,) * len(window_shape))
    batch, channel = (0, len(window_shape) + 1) if spec is None else (spec.index("N"), spec.index("C"))

    def with_ones(sizes):
        sizes = iter(sizes)
        return tuple(1 if i in (batch, channel) else next(sizes) for i in range(len(window_shape) + 2))
    window, steps = with_ones(window_shape), with_ones(strides)

    def init_fun(rng: Array, input_shape: PyTree):
        pads = lax.padtype_to_pads(input_shape, window, steps, padding)
        return tuple((n + low + high - w) // s + 1
                     for n, (low, high), w, s in zip(input_shape, pads, window, steps)), ()

    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        out = lax.reduce_window(inputs, start, reducer, window, steps, padding)
        return out if rescale is None else rescale(out, inputs, window, steps, padding)
    return init_fun, apply_fun


def MaxPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = "VALID",
            spec: str | None = None) -> Layer:
    """The maximum in each window. ``spec`` names the axes, as ``"NHWC"`` (default); those not called N or C are pooled.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.MaxPool((2, 2), strides=(2, 2))
    >>> apply((), jnp.arange(16.).reshape(1, 4, 4, 1)).reshape(2, 2)
    Array([[ 5.,  7.],
           [13., 15.]], dtype=float32)
    """
    return _pool(lax.max, -math.inf, window_shape, strides, padding, spec)


def SumPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = "VALID",
            spec: str | None = None) -> Layer:
    """The sum in each window.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.SumPool((2, 2), strides=(2, 2))
    >>> apply((), jnp.arange(16.).reshape(1, 4, 4, 1)).reshape(2, 2)
    Array([[10., 18.],
           [42., 50.]], dtype=float32)
    """
    return _pool(lax.add, 0.0, window_shape, strides, padding, spec)


def AvgPool(window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = "VALID",
            spec: str | None = None) -> Layer:
    """The mean of the elements in each window; padding does not count.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.AvgPool((2, 2), strides=(2, 2))
    >>> apply((), jnp.arange(16.).reshape(1, 4, 4, 1)).reshape(2, 2)
    Array([[ 2.5,  4.5],
           [10.5, 12.5]], dtype=float32)
    """
    def rescale(sums, inputs, window, steps, padding):
        return sums / lax.reduce_window(jnp.ones_like(inputs), 0.0, lax.add, window, steps, padding)
    return _pool(lax.add, 0.0, window_shape, strides, padding, spec, rescale)


def _flatten_init(rng, input_shape):
    return (input_shape[0], math.prod(input_shape[1:])), ()


Flatten = _flatten_init, lambda params, inputs, **kwargs: jnp.reshape(inputs, (inputs.shape[0], -1))


def FanOut(num: int) -> Layer:
    """The input ``num`` times, as a list.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.FanOut(2)
    >>> apply((), jnp.ones(3))
    [Array([1., 1., 1.], dtype=float32), Array([1., 1., 1.], dtype=float32)]
    """
    return lambda rng, input_shape: ([input_shape] * num, ()), lambda params, inputs, **kwargs: [inputs] * num


FanInSum = lambda rng, input_shape: (input_shape[0], ()), lambda params, inputs, **kwargs: sum(inputs)


def FanInConcat(axis: int = -1) -> Layer:
    """A list of inputs as one, joined along ``axis``.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.FanInConcat()
    >>> apply((), [jnp.zeros((1, 2)), jnp.ones((1, 1))])
    Array([[0., 0., 1.]], dtype=float32)
    """
    def init_fun(rng: Array, input_shape: PyTree):
        where = axis % len(input_shape[0])
        joined = list(input_shape[0])
        joined[where] = sum(shape[where] for shape in input_shape)
        return tuple(joined), ()
    return init_fun, lambda params, inputs, **kwargs: jnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Keep each element with probability ``rate``, divided by it, and set the others to 0; ``mode="test"`` keeps all.

    ``apply_fun`` raises ValueError where it gets no key ``rng``.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.Dropout(0.5, mode="test")
    >>> apply((), jnp.ones(3), rng=jax.random.key(0))
    Array([1., 1., 1.], dtype=float32)
    """
    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("stax.Dropout: apply_fun draws random numbers and got no key; call it as apply_fun(params, inputs, "
                             "rng=key), with key = jax.random.key(seed)")
        if mode != "train":
            return inputs
        return jnp.where(bernoulli(rng, rate, inputs.shape), inputs / rate, 0)
    return lambda rng, input_shape: (input_shape, ()), apply_fun


# -- layers of layers ----------------------------------------------------------------------------------------------------

def _keys(rng, n):
    return split(rng, n) if rng is not None else (None,) * n


def serial(*layers: Layer) -> Layer:
    """One layer after the other.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.serial(stax.Dense(4), stax.Relu, stax.Dense(1))
    >>> shape, parameters = init(jax.random.key(0), (-1, 3))
    >>> apply(parameters, jnp.ones((5, 3))).shape
    (5, 1)
    """
    inits, applies = zip(*layers) if layers else ((), ())

    def init_fun(rng: Array, input_shape: PyTree):
        params = []
        for init in inits:
            rng, key = split(rng)
            input_shape, param = init(key, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        for apply, param, key in zip(applies, params, _keys(kwargs.pop("rng", None), len(applies))):
            inputs = apply(param, inputs, rng=key, **kwargs)
        return inputs
    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Each layer on its own input, of a list of inputs; the result is the list of their results.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.parallel(stax.Relu, stax.Identity)
    >>> apply(((), ()), [jnp.array([-1.]), jnp.array([-1.])])
    [Array([0.], dtype=float32), Array([-1.], dtype=float32)]
    """
    inits, applies = zip(*layers) if layers else ((), ())

    def init_fun(rng: Array, input_shape: PyTree):
        found = [init(key, shape) for init, key, shape in zip(inits, split(rng, len(inits)), input_shape)]
        return tuple(shape for shape, _ in found), tuple(params for _, params in found)

    def apply_fun(params: PyTree, inputs: PyTree, **kwargs):
        keys = _keys(kwargs.pop("rng", None), len(applies))
        return [apply(p, x, rng=key, **kwargs) for apply, p, x, key in zip(applies, params, inputs, keys)]
    return init_fun, apply_fun


def shape_dependent(make_layer: Callable) -> Layer:
    """The layer ``make_layer(input_shape)``, made anew for each shape that comes.

    >>> from jax.example_libraries import stax
    >>> init, apply = stax.shape_dependent(lambda shape: stax.Dense(shape[-1]))
    >>> init(jax.random.key(0), (-1, 7))[0]
    (-1, 7)
    """
    return (lambda rng, input_shape: make_layer(input_shape)[0](rng, input_shape),
            lambda params, inputs, **kwargs: make_layer(inputs.shape)[1](params, inputs, **kwargs))
