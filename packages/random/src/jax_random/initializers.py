"""jax.nn.initializers: functions ``(key, shape, dtype) -> array`` that fill the weights of networks.

They live here, as they draw random numbers, which numpy_api must not know of.

Source: variance scaling by fan: Glorot, Bengio, AISTATS 2010; He et al., ICCV 2015; LeCun et al., 1998.
"""
from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Protocol, Sequence

import numpy as np

import jax_random  # its namespace says which module a distribution is in
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_numpy_api import numpy as jnp

from .checks import run

if TYPE_CHECKING:
    from jax_core.representation.typing import Shape

RealNumeric = Any


class Initializer(Protocol):
    """``initializer(key, shape, dtype=None, out_sharding=None)`` returns an array of that shape and dtype.

    >>> jax.nn.initializers.zeros(jax.random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """

    def __call__(self, key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None,
                 out_sharding: Placement | None = None) -> Array:
        ...


def _dtype(asked: Any, default: Any) -> Any:
    chosen = asked if asked is not None else default
    return dtypes.default_float_dtype() if chosen is None else dtypes.canonicalize_user_dtype(chosen, "initializer")


def _placing(init: Callable) -> Initializer:
    """The initializer ``init(key, shape, dtype)``, whose result is placed as asked."""
    @functools.wraps(init)
    def placed(key: ArrayLike, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Placement | None = None):
        if out_sharding is None:
            return init(key, shape, dtype)
        return run(init, out_sharding, key, shape=tuple(shape), dtype=dtype)
    return placed


def zeros(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None,
          out_sharding: Placement | None = None) -> Array:
    """An array of zeros.

    Args:
      key: not read.
      shape, dtype, out_sharding: of the array.

    >>> jax.nn.initializers.zeros(jax.random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return jnp.zeros(shape, _dtype(dtype, None), out_sharding=out_sharding)


def ones(key: ArrayLike, shape: Sequence[int], dtype: DTypeLike | None = None,
         out_sharding: Placement | None = None) -> Array:
    """An array of ones.

    Args:
      key: not read.
      shape, dtype, out_sharding: of the array.

    >>> jax.nn.initializers.ones(jax.random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return jnp.ones(shape, _dtype(dtype, None), out_sharding=out_sharding)


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Arrays filled with ``value``.

    >>> jax.nn.initializers.constant(3.)(jax.random.key(0), (2,))
    Array([3., 3.], dtype=float32)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        return jnp.full(shape, value, _dtype(dtype, default))
    return init


def uniform(scale: RealNumeric = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Uniform draws from ``[0, scale)``.

    Args:
      dtype: of the draws, unless the call names one.

    >>> jax.nn.initializers.uniform(0.1)(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        return _draw("uniform")(key, shape, chosen) * jnp.asarray(scale, chosen)
    return init


def normal(stddev: RealNumeric = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Normal draws with standard deviation ``stddev``.

    Args:
      dtype: of the draws, unless the call names one.

    >>> jax.nn.initializers.normal(0.1)(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        return _draw("normal")(key, shape, chosen) * jnp.asarray(stddev, chosen)
    return init


def truncated_normal(stddev: RealNumeric = 1e-2, dtype: DTypeLike | None = None, lower: RealNumeric = -2.0,
                     upper: RealNumeric = 2.0) -> Initializer:
    """Normal draws cut to ``[lower, upper]``, then times ``stddev``.

    Args:
      dtype: of the draws, unless the call names one.

    >>> jax.nn.initializers.truncated_normal(0.1)(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        return _draw("truncated_normal")(key, lower, upper, shape, chosen) * jnp.asarray(stddev, chosen)
    return init


def _draw(name: str) -> Callable:
    return getattr(jax_random, name)


def _fans(shape, in_axis, out_axis, batch_axis) -> tuple[float, float]:
    if not isinstance(shape, Sequence) or len(shape) <= 1:
        raise ValueError(f"variance_scaling: fans need at least two axes, got shape {shape!r}")
    size = lambda axes: math.prod(shape[a] for a in ((axes,) if hasattr(axes, "__index__") else axes)) or 1  # of no weights any will do
    fan_in, fan_out = size(in_axis), size(out_axis)
    field = math.prod(shape) / fan_in / fan_out / size(batch_axis)
    return fan_in * field, fan_out * field


def variance_scaling(scale: RealNumeric, mode: str, distribution: str, in_axis: int | Sequence[int] = -2,
                     out_axis: int | Sequence[int] = -1, batch_axis: int | Sequence[int] = (),
                     dtype: DTypeLike | None = None) -> Initializer:
    """Draws with variance ``scale / fan``.

    Args:
      mode: which fan: ``"fan_in"``, ``"fan_out"``, ``"fan_avg"`` or ``"fan_geo_avg"``.
      distribution: ``"normal"``, ``"uniform"`` or ``"truncated_normal"`` (at two standard deviations).
      in_axis, out_axis, batch_axis: axes of the weights' inputs, outputs and batches; the rest are receptive field.
      dtype: of the draws, unless the call names one.

    Raises:
      ValueError: unknown mode or distribution.

    Source: Glorot, Bengio, AISTATS 2010; He et al., ICCV 2015.

    >>> jax.nn.initializers.variance_scaling(1., "fan_in", "normal")(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    default = dtype
    fans = {"fan_in": lambda i, o: i, "fan_out": lambda i, o: o, "fan_avg": lambda i, o: (i + o) / 2,
            "fan_geo_avg": lambda i, o: math.sqrt(i * o)}
    if mode not in fans:
        raise ValueError(f"variance_scaling: mode must be one of {sorted(fans)}, got {mode!r}")
    if distribution not in ("normal", "uniform", "truncated_normal"):
        raise ValueError("variance_scaling: distribution must be 'normal', 'uniform' or 'truncated_normal', got "
                         f"{distribution!r}")

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        real = np.finfo(np.dtype(chosen)).dtype if np.dtype(chosen).kind == "c" else chosen
        variance = jnp.asarray(scale / max(1.0, fans[mode](*_fans(shape, in_axis, out_axis, batch_axis))), real)
        if distribution == "normal":
            return _draw("normal")(key, shape, chosen) * jnp.sqrt(variance).astype(chosen)
        if np.dtype(chosen).kind == "c":
            return _complex(key, shape, chosen, real, distribution, variance)
        if distribution == "uniform":
            return _draw("uniform")(key, shape, chosen, -1) * jnp.sqrt(3 * variance)
        # 0.8796... is the standard deviation of a standard normal cut at two
        stddev = jnp.sqrt(variance) / jnp.asarray(0.87962566103423978, real)
        return _draw("truncated_normal")(key, -2, 2, shape, chosen) * stddev
    return init


def _complex(key, shape, dtype, real, distribution, variance):
    """Draws from a disc: uniform in it, or normal cut at two standard deviations."""
    radius_key, angle_key = _draw("split")(key)
    u = _draw("uniform")(radius_key, shape, real)
    theta = 2 * np.pi * _draw("uniform")(angle_key, shape, real)
    if distribution == "uniform":
        r, scale = jnp.sqrt(u), jnp.sqrt(2 * variance)
    else:
        r = jnp.sqrt(-jnp.log(1 - (1 - jnp.exp(jnp.asarray(-4, real))) * u))
        scale = jnp.sqrt(variance) / jnp.asarray(0.95311164380491208, real)
    return (r * jnp.exp(1j * theta) * scale).astype(dtype)


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    """The function ``name``, which makes initializers of one kind of `variance_scaling`."""
    def make(in_axis: int | Sequence[int] = -2, out_axis: int | Sequence[int] = -1,
             batch_axis: int | Sequence[int] = (), dtype: DTypeLike | None = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)
    law = {"uniform": "Uniform", "truncated_normal": "Normal, cut at two standard deviations"}[distribution]
    fan = {"fan_avg": "the mean number of inputs and outputs", "fan_in": "the number of inputs"}[mode]
    source = {"glorot": "Glorot, Bengio, AISTATS 2010", "lecun": 'LeCun et al., "Efficient backprop", 1998', "he": "He et al., ICCV 2015"}
    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""{law}, with variance {scale:g} over {fan} of a unit.

    Args:
      in_axis, out_axis, batch_axis: axes of the weights that run over inputs, outputs, and neither.
      dtype: of the weights where a call names none.

    Returns:
      an `Initializer`, ``init(key, shape, dtype)``.

    Source: {source[name.partition("_")[0]]}.

    >>> jax.nn.initializers.{name}()(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    return make


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")


def orthogonal(scale: RealNumeric = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Matrices with orthonormal rows or columns (whichever are fewer), times ``scale``.

    Args:
      column_axis: the axis that counts one side of the matrix; the others together count the other.
      dtype: of the draws, unless the call names one.

    Source: Saxe et al., ICLR 2014.

    Raises:
      ValueError: raised by the initialiser, for a shape of fewer than two axes.

    >>> jax.nn.initializers.orthogonal()(jax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        if len(shape) < 2:
            raise ValueError(f"orthogonal: at least two axes are needed, got shape {tuple(shape)}")
        if 0 in shape:
            return jnp.zeros(shape, chosen)
        n_rows, n_cols = shape[column_axis], math.prod(shape) // shape[column_axis]
        tall = (n_rows, n_cols) if n_rows > n_cols else (n_cols, n_rows)
        q, r = jnp.linalg.qr(_draw("normal")(key, tall, chosen))
        diagonal = jnp.diag(r)
        q = q * (diagonal / jnp.abs(diagonal))[None, :]
        q = q.T if n_rows <= n_cols else q
        rest = tuple(np.delete(shape, column_axis))
        return jnp.asarray(scale, chosen) * jnp.moveaxis(q.reshape((n_rows, *rest)), 0, column_axis)
    return init


def delta_orthogonal(scale: RealNumeric = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None) -> Initializer:
    """Convolution kernels (1 to 3 spatial axes first) that are `orthogonal` at their centre and 0 elsewhere.

    Args:
      column_axis, dtype: as for `orthogonal`.

    Raises:
      ValueError: raised by the initialiser, for a shape of fewer than 3 or more than 5 axes, or with fewer output than
        input channels.

    Source: Xiao et al., ICML 2018.

    >>> jax.nn.initializers.delta_orthogonal()(jax.random.key(0), (3, 2, 2)).shape
    (3, 2, 2)
    """
    default = dtype

    @_placing
    def init(key: ArrayLike, shape: Shape, dtype: DTypeLike | None):
        chosen = _dtype(dtype, default)
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"delta_orthogonal: shape must have 3 to 5 axes, got {tuple(shape)}")
        if shape[-1] < shape[-2]:
            raise ValueError(f"delta_orthogonal: shape {tuple(shape)} needs at least as many output as input channels")
        matrix = orthogonal(scale, column_axis, chosen)(key, shape[-2:], chosen)
        centre = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, chosen).at[centre].set(matrix)
    return init
