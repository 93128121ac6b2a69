"""Softmax and normalisations of rows on GPUs: a kernel's step has one row in registers, so that it is read once.

The derivatives of normalisations take two kernels: one by rows for the operand, one by columns for weight and bias, which sums over rows.

Source: Ba, Kiros, Hinton, "Layer normalization", 2016; Zhang, Sennrich, "Root mean square layer normalization", NeurIPS 2019.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array
from jax_core.transformations.autodiff import vjp
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, numpy as jnp
from ..lax.control_flow.while_loop import fori_loop
from ..pallas.call import pallas_call
from ..pallas.control import cdiv, next_power_of_2
from ..pallas.memory import load_view, store_view
from ..pallas.specs import BlockSpec
from ..pallas.triton import CompilerParams

_ROWS, _COLUMNS = 32, 64
"""Of a step of the kernel that sums over rows."""


def _columns(n: int) -> Any:
    """The numbers of a row's elements, and some more up to a power of two, which GPUs work on."""
    return lax.iota(np.int32, next_power_of_2(n))


def _seen(n: int) -> Any:
    """Which of them are there."""
    return _columns(n) < n


def _read(ref: Any, other: float = 0.0) -> Any:
    n, = ref.shape
    return load_view(ref.at[_columns(n)], mask=_seen(n), other=np.asarray(other, ref.dtype)[()]).astype(np.float32)


def _write(ref: Any, value: Any) -> None:
    n, = ref.shape
    store_view(ref.at[_columns(n)], value.astype(ref.dtype), mask=_seen(n))


def _row(n: int) -> BlockSpec:
    return BlockSpec((None, n), lambda i: (i, 0))


def _every(n: int) -> BlockSpec:
    """The same for each row."""
    return BlockSpec((n,), lambda i: (0,))


_NUMBER = BlockSpec((1,), lambda i: (i,))
"""One for each row."""


# -- softmax -------------------------------------------------------------------------------------------------------------

def _softmax_kernel(x, out):
    row = _read(x, -math.inf)
    weights = jnp.exp(row - row.max())
    _write(out, weights / weights.sum())


@partial(jit, static_argnames=("axis", "num_warps", "interpret", "debug"))
def softmax(x: Array, *, axis: int = -1, num_warps: int = 4, interpret: bool = False, debug: bool = False) -> Array:
    """The softmax along the last axis, by a kernel for GPUs; computed in float32.

    Args:
      axis: the last one.
      num_warps: that work on a row.
      interpret, debug: as for `pallas_call`.

    Raises:
      NotImplementedError: another axis.

    >>> from jax.experimental.pallas.ops.gpu.softmax import softmax
    >>> softmax(jnp.array([[0., 0.], [0., 20.]]), interpret=True).round(2)
    Array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    if x.ndim == 0 or axis not in (-1, x.ndim - 1):
        raise NotImplementedError(f"softmax of a kernel is along the last axis, got axis={axis} for an array of shape {x.shape}; move the axis, or use "
                                  "jax.nn.softmax.")
    n = x.shape[-1]
    flat = x.reshape(-1, n)
    return pallas_call(_softmax_kernel, ShapeDtypeStruct(flat.shape, x.dtype), grid=len(flat), in_specs=[_row(n)], out_specs=_row(n), name="softmax",
                       interpret=interpret, debug=debug, compiler_params=CompilerParams(num_warps=num_warps))(flat).reshape(x.shape)


# -- normalisations --------------------------------------------------------------------------------------------------------

def _norm_kernel(x, weight, bias, out, mean, scale, *, center, eps):
    n, = x.shape
    row = _read(x)
    middle = row.sum() / n if center else np.float32(0)
    away = jnp.where(_seen(n), row - middle, 0)
    factor = lax.rsqrt((away * away).sum() / n + np.float32(eps))
    _write(out, away * factor * _read(weight) + _read(bias))
    mean[0], scale[0] = jnp.float32(middle), factor


def _operand_kernel(x, weight, ct, mean, scale, dx, *, center):
    n, = x.shape
    factor = scale[0]
    normed = jnp.where(_seen(n), (_read(x) - mean[0]) * factor, 0)
    change = _read(ct) * _read(weight)
    change = change - normed * ((normed * change).sum() / n) - ((change.sum() / n) if center else 0)
    _write(dx, change * factor)


def _weight_kernel(x, ct, mean, scale, dweight, dbias):
    rows, size = x.shape

    def step(i: Array, sums: tuple) -> tuple:
        number = lax.iota(np.int32, _ROWS) + i * _ROWS
        at, inside = (number[:, None], _columns(size)[None, :]), (number < rows)[:, None] & (_columns(size) < size)[None, :]
        moved, factor = (load_view(ref.at[number], mask=number < rows)[:, None] for ref in (mean, scale))
        change = load_view(ct.at[at], mask=inside).astype(np.float32)
        normed = (load_view(x.at[at], mask=inside).astype(np.float32) - moved) * factor
        return sums[0] + (change * normed).sum(0), sums[1] + change.sum(0)
    zero = jnp.zeros(size, np.float32)
    sums = fori_loop(0, cdiv(rows, _ROWS), step, (zero, zero))
    dweight[...], dbias[...] = (total.astype(dweight.dtype) for total in sums)


def _forward(x, weight, bias, center, eps, options):
    n = x.shape[-1]
    flat = x.reshape(-1, n)
    number = ShapeDtypeStruct((len(flat),), np.float32)
    out, mean, scale = pallas_call(
        partial(_norm_kernel, center=center, eps=eps), (ShapeDtypeStruct(flat.shape, x.dtype), number, number), grid=len(flat), name="norm",
        in_specs=[_row(n), _every(n), _every(n)], out_specs=(_row(n), _NUMBER, _NUMBER), **options)(flat, weight, bias)
    return out.reshape(x.shape), (mean, scale)


def _backward(x, weight, bias, mean, scale, ct, center, options):
    n = x.shape[-1]
    flat, ct = x.reshape(-1, n), ct.reshape(-1, n)
    rows = len(flat)
    dx = pallas_call(partial(_operand_kernel, center=center), ShapeDtypeStruct(flat.shape, x.dtype), grid=rows, name="norm_dx",
                     in_specs=[_row(n), _every(n), _row(n), _NUMBER, _NUMBER], out_specs=_row(n), **options)(flat, weight, ct, mean, scale)
    size = min(_COLUMNS, next_power_of_2(n))
    blocks = cdiv(n, size)
    strip, whole, part = BlockSpec((rows, size), lambda j: (0, j)), BlockSpec((rows,), lambda j: (0,)), BlockSpec((size,), lambda j: (j,))
    padded = ShapeDtypeStruct((blocks * size,), np.float32)
    more = [(0, 0), (0, blocks * size - n)]
    dweight, dbias = pallas_call(_weight_kernel, (padded, padded), grid=blocks, name="norm_dw", in_specs=[strip, strip, whole, whole], out_specs=(part, part),
                                 **options)(jnp.pad(flat, more), jnp.pad(ct, more), mean, scale)
    return dx.reshape(x.shape), dweight[:n].astype(weight.dtype), dbias[:n].astype(bias.dtype)


def _options(num_warps, num_stages, interpret):
    return dict(interpret=interpret, compiler_params=CompilerParams(num_warps=num_warps, num_stages=num_stages))


def _normalisation(center: bool, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (x, weight, bias, warps, stages, eps, way back, interpret) with derivatives in the first three."""
    @partial(custom_vjp, nondiff_argnums=(3, 4, 5, 6, 7))
    def norm(x: Array, weight: Array, bias: Array, num_warps: int | None, num_stages: int | None, eps: float,
             backward_pass_impl: str, interpret: bool) -> Array:
        return _forward(x, weight, bias, center, eps, _options(num_warps, num_stages, interpret))[0]

    def fwd(x: Array, weight: Array, bias: Array, num_warps: int | None, num_stages: int | None, eps: float, backward_pass_impl: str, interpret: bool) -> tuple:
        out, kept = _forward(x, weight, bias, center, eps, _options(num_warps, num_stages, interpret))
        return out, (x, weight, bias, *kept)

    def bwd(num_warps: int | None, num_stages: int | None, eps: float, backward_pass_impl: str, interpret: bool, kept: tuple, ct: Array) -> tuple:
        if backward_pass_impl == "xla":
            return vjp(partial(plain, eps=eps), *kept[:3])[1](ct)
        x, weight, bias, mean, scale = kept
        return _backward(x, weight, bias, mean, scale, ct, center, _options(num_warps, num_stages, interpret))
    norm.defvjp(fwd, bwd)
    return norm


def _plain(center, x, weight, bias, eps):
    away = x - x.mean(-1, keepdims=True) if center else x
    return away * lax.rsqrt((away * away).mean(-1, keepdims=True) + eps) * weight + bias


_layer_norm, _rms_norm = _normalisation(True, partial(_plain, True)), _normalisation(False, partial(_plain, False))


def _checked(name: str, x: Any, weight: Any, bias: Any, backward_pass_impl: str) -> None:
    for what, y in (("weight", weight), ("bias", bias)):
        if x.ndim == 0 or getattr(y, "shape", None) != x.shape[-1:]:
            raise ValueError(f"{name}: {what} must be an array with one number for each of the columns of x, which has the shape {x.shape}; got "
                             f"{getattr(y, 'shape', y)}.")
    if backward_pass_impl not in ("triton", "xla"):
        raise ValueError(f"{name}: backward_pass_impl={backward_pass_impl!r}; it is 'triton' (by kernels) or 'xla'.")


_STATIC = ("num_warps", "num_stages", "eps", "backward_pass_impl", "interpret")


@partial(jit, static_argnames=_STATIC)
def layer_norm(x: Array, weight: Array, bias: Array, num_warps: int | None = None, num_stages: int | None = 3, eps: float = 1e-5,
               backward_pass_impl: str = "triton", interpret: bool = False) -> Array:
    """Rows moved and scaled to mean 0 and variance 1, then times ``weight`` plus ``bias``, by a kernel for GPUs; with derivatives.

    Args:
      x: rows along the last axis.
      weight, bias: a number for each column.
      num_warps, num_stages: for the compiler.
      eps: added to the variance.
      backward_pass_impl: "triton", kernels, or "xla", plain operations.
      interpret: as for `pallas_call`.

    Raises:
      ValueError: shapes that do not fit, or another ``backward_pass_impl``.

    >>> from jax.experimental.pallas.ops.gpu.layer_norm import layer_norm
    >>> layer_norm(jnp.array([[1., 2., 3.]]), jnp.ones(3), jnp.zeros(3), interpret=True).round(2)
    Array([[-1.22,  0.  ,  1.22]], dtype=float32)
    """
    _checked("layer_norm", x, weight, bias, backward_pass_impl)
    return _layer_norm(x, weight, bias, num_warps, num_stages, eps, backward_pass_impl, interpret)


@partial(jit, static_argnames=_STATIC)
def rms_norm(x: Array, weight: Array, bias: Array, num_warps: int | None = None, num_stages: int | None = 3, eps: float = 1e-5,
             backward_pass_impl: str = "triton", interpret: bool = False) -> Array:
    """Rows scaled to a mean square of 1, then times ``weight`` plus ``bias``, by a kernel for GPUs; arguments as for `layer_norm`.

    >>> from jax.experimental.pallas.ops.gpu.rms_norm import rms_norm
    >>> rms_norm(jnp.array([[3., 4.]]), jnp.ones(2), jnp.zeros(2), interpret=True).round(3)
    Array([[0.849, 1.131]], dtype=float32)
    """
    _checked("rms_norm", x, weight, bias, backward_pass_impl)
    return _rms_norm(x, weight, bias, num_warps, num_stages, eps, backward_pass_impl, interpret)


@partial(jit, static_argnames=("eps",))
def layer_norm_reference(x: Array, weight: Array, bias: Array, *, eps: float = 1e-5) -> Array:
    """What `layer_norm` computes, by plain operations.

    >>> from jax.experimental.pallas.ops.gpu.layer_norm import layer_norm_reference
    >>> layer_norm_reference(jnp.array([1., 2., 3.]), jnp.ones(3), jnp.zeros(3)).round(2)
    Array([-1.22,  0.  ,  1.22], dtype=float32)
    """
    return _plain(True, x, weight, bias, eps)


@partial(jit, static_argnames=("eps",))
def rms_norm_reference(x: Array, weight: Array, bias: Array, *, eps: float = 1e-5) -> Array:
    """What `rms_norm` computes, by plain operations.

    >>> from jax.experimental.pallas.ops.gpu.rms_norm import rms_norm_reference
    >>> rms_norm_reference(jnp.array([3., 4.]), jnp.ones(2), jnp.zeros(2)).round(3)
    Array([0.849, 1.131], dtype=float32)
    """
    return _plain(False, x, weight, bias, eps)
