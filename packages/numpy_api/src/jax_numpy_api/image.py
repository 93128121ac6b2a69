"""jax.image: images resized and moved, by one weight matrix for each axis that changes.

A weight matrix holds, for each output pixel, a kernel centred at its position in the input. When an image shrinks, the kernel
is stretched by the scale (``antialias``), so that all input pixels count; weights are normalised to sum 1.

Source: Keys, "Cubic convolution interpolation for digital image processing", IEEE Trans. ASSP 29 (1981).
"""
from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from . import lax, numpy as jnp
from .numpy.promotion import as_array, canonical_axis, canonical_shape, check_arraylike, given_flag, promote_dtypes_inexact

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(enum.Enum):
    """How pixels between pixels are computed.

    >>> jax.image.resize(jnp.array([0., 1.]), (4,), jax.image.ResizeMethod.NEAREST)
    Array([0., 0., 1., 1.], dtype=float32)
    """

    NEAREST, LINEAR, LANCZOS3, LANCZOS5, CUBIC, CUBIC_PYTORCH, AREA = range(7)

    @staticmethod
    def from_string(s: str) -> "ResizeMethod":
        """The method of a name; raises ValueError for an unknown one."""
        names = {"nearest": "NEAREST", "linear": "LINEAR", "bilinear": "LINEAR", "trilinear": "LINEAR", "triangle": "LINEAR",
                 "lanczos3": "LANCZOS3", "lanczos5": "LANCZOS5", "cubic": "CUBIC", "bicubic": "CUBIC", "tricubic": "CUBIC",
                 "cubic-pytorch": "CUBIC_PYTORCH", "bicubic-pytorch": "CUBIC_PYTORCH", "area": "AREA"}
        if s not in names:
            raise ValueError(f'Unknown resize method "{s}"; use one of {sorted(names)}')
        return ResizeMethod[names[s]]


# -- kernels -----------------------------------------------------------------------------------------------------------

def _triangle(x):
    return jnp.maximum(0.0, 1.0 - jnp.abs(x))


def _cubic(a: float) -> Callable:
    def kernel(x: Array):
        x = jnp.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(x < 1, near, jnp.where(x < 2, far, 0.0))
    return kernel


def _lanczos(radius: float) -> Callable:
    def kernel(x: Array):
        value = jnp.sinc(x) * jnp.sinc(x / radius)
        return jnp.where(jnp.abs(x) < radius, value, 0.0)
    return kernel


_KERNELS = {ResizeMethod.LINEAR: _triangle, ResizeMethod.CUBIC: _cubic(-0.5), ResizeMethod.CUBIC_PYTORCH: _cubic(-0.5),
            ResizeMethod.LANCZOS3: _lanczos(3.0), ResizeMethod.LANCZOS5: _lanczos(5.0)}


def _weights(n, m, scale, translation, kernel, antialias, dtype, first=0):
    """``(n, m)``: how much of each input pixel is in each output pixel; the image begins at pixel ``first``."""
    inverse = 1.0 / scale
    centre = (jnp.arange(m, dtype=dtype) + 0.5) * inverse - translation * inverse - 0.5 + first
    stretch = jnp.maximum(inverse, 1.0) if antialias else 1.0
    return _normalised(kernel((centre[None, :] - jnp.arange(n, dtype=dtype)[:, None]) / stretch), centre, n)


def _normalised(w, centre, n):
    """Weights whose sum is 1 for each output pixel; 0 where its ``centre`` is outside."""
    total = jnp.sum(w, 0, keepdims=True)
    w = jnp.where(jnp.abs(total) > 1000 * float(np.finfo(np.float32).eps), w / jnp.where(total == 0, 1.0, total), 0.0)
    return jnp.where((centre >= -0.5) & (centre <= n - 0.5), w, 0.0)


def _replicated_weights(n, m, scale, translation, dtype):
    """As PyTorch computes them without antialiasing: a sharper kernel, and the edge pixels repeated outside."""
    border = 2
    w = _weights(n + 2 * border, m, scale, translation, _cubic(-0.75), False, dtype, border)
    inner = w[border:n + border]
    return inner.at[0].add(jnp.sum(w[:border], 0)).at[-1].add(jnp.sum(w[n + border:], 0))


def _kernel_weights(n, m, scale, translation, method, antialias, dtype):
    if method is ResizeMethod.CUBIC_PYTORCH and not antialias:
        return _replicated_weights(n, m, scale, translation, dtype)
    if method is ResizeMethod.AREA:
        low = (jnp.arange(m, dtype=dtype) - translation) / scale
        high, pixel = low + 1 / scale, jnp.arange(n, dtype=dtype)[:, None]
        overlap = jnp.maximum(jnp.minimum(high[None], pixel + 1) - jnp.maximum(low[None], pixel), 0)
        return _normalised(overlap, (low + high - 1) / 2, n)
    return _weights(n, m, scale, translation, _KERNELS[method], antialias, dtype)


def _ratio(m: int, n: int, dtype: Any) -> Any:
    """``m / n``, as a computation where a program must look alike for all lengths."""
    return lax.div(lax.full((), m, dtype), lax.full((), n, dtype)) if flags.one_form.value else m / n


def _nearest(n: int, m: int) -> Any:
    """For each of ``m`` pixels that of ``n`` in which its centre is."""
    if not flags.one_form.value:
        return np.minimum(np.floor((np.arange(m) + 0.5) * (n / m)).astype(np.int32), n - 1)
    odd, many, double = 2 * lax.iota(np.uint32, m) + 1, lax.full((), n, np.uint32), lax.full((), 2 * m, np.uint32)
    high = odd * lax.shift_right_logical(many, np.uint32(12))  # odd * n may not fit into 32 bits
    low = lax.rem(high, double) * 4096 + odd * lax.bitwise_and(many, np.uint32(4095))
    return (lax.div(high, double) * 4096 + lax.div(low, double)).astype(np.int32)


def _area_weights(n, m, dtype):
    """Overlap of output pixels with input pixels."""
    edges = np.arange(m + 1) * (n / m)
    low, high = edges[:-1][None, :], edges[1:][None, :]
    i = np.arange(n)[:, None]
    overlap = np.clip(np.minimum(high, i + 1) - np.maximum(low, i), 0, None)
    return jnp.asarray(overlap / (n / m), dtype)


def _applied(x, weights, precision):
    """Contract each axis with its weight matrix."""
    for axis, w in weights.items():
        y = lax.dot_general(x, w.astype(x.dtype), (((axis,), (0,)), ((), ())), precision=precision)
        x = jnp.moveaxis(y, -1, axis)
    return x


# -- public functions --------------------------------------------------------------------------------------------------

def _method(method: Any) -> ResizeMethod:
    if isinstance(method, ResizeMethod):
        return method
    if not isinstance(method, str):
        raise TypeError(f"method must be a string or a ResizeMethod, got {method!r}")
    return ResizeMethod.from_string(method)


@inlined(static_argnums=(1, 2, 3, 4))
def _resize(image, shape, method, antialias, precision):
    if method is not ResizeMethod.NEAREST:
        image, = promote_dtypes_inexact(image)
    image = as_array(image)
    if len(shape) != image.ndim:
        raise ValueError(f"resize: shape must have one length for each axis of the image, got {shape} for shape {image.shape}")
    if 0 in shape:
        return jnp.zeros(shape, image.dtype)
    changed = [i for i in range(image.ndim) if shape[i] != image.shape[i]]
    if method is ResizeMethod.NEAREST:
        for i in changed:
            n, m = image.shape[i], shape[i]
            image = jnp.take(image, _nearest(n, m), axis=i, mode="clip")
        return image
    wide = np.float64 if image.dtype in (np.float64, np.complex128) else np.float32
    if method is ResizeMethod.AREA:
        weights = {i: _area_weights(image.shape[i], shape[i], wide) for i in changed}
    else:
        weights = {i: _kernel_weights(image.shape[i], shape[i], _ratio(shape[i], image.shape[i], wide), 0.0, method, antialias, wide)
                   for i in changed}
    return _applied(image, weights, precision)


def resize(image: ArrayLike, shape: Sequence[int], method: str | ResizeMethod, antialias: bool = True,
           precision: PrecisionLike = lax.Precision.HIGHEST) -> Array:
    """An image of another size, the same in all.

    Args:
      image: any number of axes.
      shape: a length for each axis; axes with an unchanged length are not touched.
      method: "nearest", "linear" (also "bilinear", "trilinear", "triangle"), "cubic" (also "bicubic", "tricubic"),
        "cubic-pytorch", "lanczos3", "lanczos5", "area", or a `ResizeMethod`.
      antialias: stretch the kernel where the image shrinks.
      precision: of the products.

    Returns:
      an array of the given shape: inexact, but for "nearest", which keeps the dtype.

    Raises:
      ValueError: another method, or shapes that do not fit.

    >>> jax.image.resize(jnp.array([[0., 4.]]), (1, 4), "linear")
    Array([[0., 1., 3., 4.]], dtype=float32)
    """
    check_arraylike("resize", image)
    return _resize(image, canonical_shape("resize", shape), _method(method), given_flag(antialias), precision)


@inlined(static_argnums=(1, 2, 5, 6, 7))
def _scale_and_translate(image, shape, spatial_dims, scale, translation, method, antialias, precision):
    image, = promote_dtypes_inexact(image)
    image = as_array(image)
    scale, translation = (as_array(promote_dtypes_inexact(v)[0]) for v in (scale, translation))
    if len(shape) != image.ndim:
        raise ValueError(f"scale_and_translate: shape must have one length for each axis, got {shape} for shape {image.shape}")
    dims = [canonical_axis(d, image.ndim) for d in spatial_dims]
    if not scale.shape == translation.shape == (len(dims),):
        raise ValueError(f"scale_and_translate: scale and translation must have a number for each of spatial_dims={tuple(spatial_dims)}, got shapes "
                         f"{scale.shape} and {translation.shape}")
    weights = {}
    for k, i in enumerate(dims):
        weights[i] = _kernel_weights(image.shape[i], shape[i], scale[k], translation[k], method, antialias, scale.dtype)
    out = _applied(image, weights, precision)
    if out.shape != shape:
        raise ValueError(f"scale_and_translate: axes outside of spatial_dims={tuple(spatial_dims)} must keep their length, got "
                         f"shape {shape} for an image of shape {image.shape}")
    return out


def scale_and_translate(image: ArrayLike, shape: Sequence[int], spatial_dims: Sequence[int], scale: ArrayLike,
                        translation: ArrayLike, method: str | ResizeMethod, antialias: bool = True,
                        precision: PrecisionLike = lax.Precision.HIGHEST) -> Array:
    """An image scaled, then moved, along some axes; 0 where there was nothing.

    Args:
      image: any number of axes.
      shape: of the result.
      spatial_dims: the axes that change.
      scale, translation: one number for each of these axes: position ``x`` moves to ``scale * x + translation``.
      method: as for `resize`, but not "nearest".
      antialias: stretch the kernel where the image shrinks.
      precision: of the products.

    Raises:
      ValueError: another method, or shapes that do not fit.

    >>> jax.image.scale_and_translate(jnp.ones((2, 2)), (2, 2), (0, 1), jnp.ones(2), jnp.zeros(2), "linear")
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    check_arraylike("scale_and_translate", image, scale, translation)
    method = _method(method)
    if method is ResizeMethod.NEAREST:
        raise ValueError(f"scale_and_translate: method {method.name} has no kernel; use resize")
    return _scale_and_translate(image, canonical_shape("scale_and_translate", shape), tuple(operator.index(d) for d in spatial_dims), scale, translation,
                                method, given_flag(antialias), precision)
