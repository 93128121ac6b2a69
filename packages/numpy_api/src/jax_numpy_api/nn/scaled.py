"""Products of block-scaled matrices: narrow floats with one scale for each block of elements along the contracted axis.

Computed as the product of the scaled values, which is exact up to the accumulation on every device.

Source: "OCP Microscaling Formats (MX) Specification", version 1.0, Open Compute Project 2023.
"""
from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Literal, Sequence

import ml_dtypes
import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, numpy as jnp
from ..numpy.promotion import as_array, check_arraylike

if TYPE_CHECKING:
    from ..lax.dot import DotDimensionNumbers


@dataclasses.dataclass
class BlockScaleConfig:
    """How a matrix is quantised.

    Fields:
      mode: its name. block_size: elements that share a scale.
      data_type, scale_type: of elements and scales.
      global_scale: a further scale of the whole matrix, or None.
      infer_only: no derivative is wanted.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any
    infer_only: bool


def get_scaled_dot_general_config(mode: Literal["nvfp4", "mxfp4", "mxfp8"],
                                  global_scale: ArrayLike | None = None) -> BlockScaleConfig:
    """The quantisation of a format, for `scaled_dot_general`.

    Args:
      mode: "mxfp8" or "mxfp4" (blocks of 32 float8_e4m3fn or float4_e2m1fn, powers of two as scales), or "nvfp4" (blocks of 16
        float4_e2m1fn, scales float8_e4m3fn).
      global_scale: for "nvfp4" a further scale of the whole matrix, 1 by default.

    Raises:
      ValueError: another mode.

    Source: "OCP Microscaling Formats (MX) Specification", version 1.0, 2023.

    >>> jax.nn.get_scaled_dot_general_config('mxfp8').block_size
    32
    """
    if mode == "nvfp4":
        whole = jnp.ones((1,), np.float32) if global_scale is None else global_scale
        return BlockScaleConfig(mode, 16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, whole, False)
    if mode in ("mxfp8", "mxfp4"):
        elements = ml_dtypes.float8_e4m3fn if mode == "mxfp8" else ml_dtypes.float4_e2m1fn
        return BlockScaleConfig(mode, 32, elements, ml_dtypes.float8_e8m0fnu, None, False)
    raise ValueError(f"get_scaled_dot_general_config: Unsupported mode: {mode}; use 'nvfp4', 'mxfp4' or 'mxfp8'")


# -- products of scaled matrices ---------------------------------------------------------------------------------------

def _expanded(x, scales):
    """Elements times the scale of their block, in float32."""
    block = x.shape[-1] // scales.shape[-1]
    return x.astype(np.float32) * jnp.repeat(scales.astype(np.float32), block, axis=-1)


def scaled_matmul(lhs: ArrayLike, rhs: ArrayLike, lhs_scales: ArrayLike, rhs_scales: ArrayLike,
                  preferred_element_type: DTypeLike = np.float32) -> Array:
    """``lhs @ rhs^T`` for matrices whose blocks along the last axis have scales.

    Args:
      lhs: ``(b, m, k)``. rhs: ``(b, n, k)``.
      lhs_scales: ``(b, m, k / block)``. rhs_scales: ``(b, n, k / block)``.
      preferred_element_type: of the result; products are added up in float32.

    Returns:
      ``(b, m, n)``.

    Raises:
      ValueError: shapes that do not fit.

    Source: "OCP Microscaling Formats (MX) Specification", version 1.0, 2023.

    >>> x, w = jnp.ones((1, 1, 4)), jnp.ones((1, 2, 4))
    >>> jax.nn.scaled_matmul(x, w, jnp.full((1, 1, 1), 2.0), jnp.full((1, 2, 1), 3.0))
    Array([[[24., 24.]]], dtype=float32)
    """
    check_arraylike("scaled_matmul", lhs, rhs, lhs_scales, rhs_scales)
    return _scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, dtypes.canonicalize_dtype(preferred_element_type))


@inlined(static_argnums=(4,))
def _scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, dtype):
    lhs, rhs, lhs_scales, rhs_scales = map(as_array, (lhs, rhs, lhs_scales, rhs_scales))
    shapes = f"got lhs {lhs.shape}, rhs {rhs.shape}, lhs_scales {lhs_scales.shape}, rhs_scales {rhs_scales.shape}"
    if any(x.ndim != 3 for x in (lhs, rhs, lhs_scales, rhs_scales)):
        raise ValueError(f"scaled_matmul: all operands must have three axes; {shapes}")
    if lhs.shape[0] != rhs.shape[0] or lhs.shape[2] != rhs.shape[2]:
        raise ValueError(f"scaled_matmul: lhs and rhs must agree in the first and last axis; {shapes}")
    for x, scales in ((lhs, lhs_scales), (rhs, rhs_scales)):
        if x.shape[:2] != scales.shape[:2] or scales.shape[2] == 0 or x.shape[2] % scales.shape[2]:
            raise ValueError(f"scaled_matmul: scales must divide the last axis into blocks and agree in the others; {shapes}")
    return lax.dot_general(_expanded(lhs, lhs_scales), _expanded(rhs, rhs_scales), (((2,), (2,)), ((0,), (0,))),
                           precision="highest").astype(dtype)


# -- quantisation ------------------------------------------------------------------------------------------------------

def _block_scales(largest, config):
    """Scales that bring the largest element of each block to the largest number of the data type."""
    top = float(ml_dtypes.finfo(config.data_type).max)
    scales = largest / top
    if config.scale_type == ml_dtypes.float8_e8m0fnu:  # a power of two, rounded up so that nothing overflows
        exponent = jnp.clip(jnp.ceil(jnp.log2(jnp.where(scales > 0, scales, 2.0 ** -127))), -127, 127)
        return jnp.exp2(exponent)
    limit = float(ml_dtypes.finfo(config.scale_type).max)
    whole = jnp.broadcast_to(jnp.asarray(config.global_scale, np.float32), scales.shape)
    scales = jnp.clip(scales / whole, 0, limit).astype(config.scale_type)
    scales = scales.astype(np.float32) * whole
    return jnp.where(scales > 0, scales, 1.0)


def _quantised(x, axes, config):
    """``x`` rounded to the format, with blocks along the contracted ``axes``; the derivative is that of the identity."""
    rest = [i for i in range(x.ndim) if i not in axes]
    order = (*rest, *axes)
    moved = jnp.transpose(x, order).astype(np.float32)
    n = math.prod(x.shape[i] for i in axes)
    flat = moved.reshape((*(x.shape[i] for i in rest), n))
    padded = jnp.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, -n % config.block_size)])
    blocks = padded.reshape((*padded.shape[:-1], padded.shape[-1] // config.block_size, config.block_size))
    scales = _block_scales(jnp.max(jnp.abs(blocks), -1, keepdims=True), config)
    top = float(ml_dtypes.finfo(config.data_type).max)
    rounded = jnp.clip(blocks / scales, -top, top).astype(config.data_type).astype(np.float32) * scales
    rounded = rounded.reshape(padded.shape)[..., :n].reshape(moved.shape)
    rounded = jnp.transpose(rounded, np.argsort(order)).astype(x.dtype)
    return x + lax.stop_gradient(rounded - x)


def _with_quantised_cotangent(y, config):
    """``y``; in reverse, the cotangent is rounded to the format along its last axis."""
    @custom_vjp
    def same(y: Array):
        return y
    same.defvjp(lambda y: (y, None), lambda _, ct: (_quantised(ct, (ct.ndim - 1,), config),))
    return same(y)


def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: DotDimensionNumbers,
                       preferred_element_type: DTypeLike = np.float32,
                       configs: Sequence[BlockScaleConfig] | None = None, implementation: str | None = None) -> Array:
    """`lax.dot_general` of operands rounded to block-scaled formats.

    Args:
      lhs, rhs, dimension_numbers: as for `lax.dot_general`.
      preferred_element_type: of the result: float32, bfloat16 or float16.
      configs: formats of ``lhs``, ``rhs`` and the cotangent, from `get_scaled_dot_general_config`; None for no rounding.
      implementation: accepted for compatibility: one formula serves all devices.

    Raises:
      ValueError: another dtype of the result, or a number of configs other than three.

    Source: "OCP Microscaling Formats (MX) Specification", version 1.0, 2023.

    >>> mxfp8 = jax.nn.get_scaled_dot_general_config('mxfp8')
    >>> x, w = jnp.full((1, 2, 32), 0.3), jnp.ones((1, 2, 32))
    >>> jax.nn.scaled_dot_general(x, w, (((2,), (2,)), ((0,), (0,))), configs=[mxfp8] * 3)  # 0.3 became 0.3125
    Array([[[10., 10.],
            [10., 10.]]], dtype=float32)
    """
    check_arraylike("scaled_dot_general", lhs, rhs)
    lhs, rhs = as_array(lhs), as_array(rhs)
    dtype = dtypes.canonicalize_dtype(preferred_element_type)
    if dtype not in (np.float32, dtypes.bfloat16, np.float16):
        raise ValueError(f"scaled_dot_general: preferred_element_type must be float32, bfloat16 or float16, got {dtype}")
    if configs is not None:
        if len(configs) not in (2, 3):
            raise ValueError(f"scaled_dot_general: configs must be those of lhs, rhs and the cotangent, got {len(configs)}")
        (left, right), _ = dimension_numbers
        lhs, rhs = _quantised(lhs, tuple(left), configs[0]), _quantised(rhs, tuple(right), configs[1])
    out = lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=np.float32).astype(dtype)
    if configs is not None and len(configs) > 2 and not configs[2].infer_only:
        out = _with_quantised_cotangent(out, configs[2])
    return out
