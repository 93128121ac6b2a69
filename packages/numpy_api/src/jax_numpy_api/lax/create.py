"""Arrays from nothing: iota, full, empty, and constants in the type of another array.

Source: StableHLO specification, `iota`, `constant`, `broadcast_in_dim`.
"""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from jax_core import backends
from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integer, integers
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces import structural
from jax_core.traces.lengths import Length
from jax_core.traces.structural import broadcast_in_dim_p
from jax_core.traces.trace import Tracer, tracing

from .convert import convert
from .nary import NUMERIC, as_operand, check_dtype, kept_wide
from .placement import sharding_constraint_p

# -- iota ----------------------------------------------------------------------------------------------------------------

def _iota_type(*, dtype, shape, dimension, sharding=None):
    aval = ShapedArray(shape, dtype, sharding=sharding)
    check_dtype("iota", aval, NUMERIC)
    if any(n < 0 for n in aval.shape):
        raise TypeError(f"lax.iota: a shape holds numbers that are not negative, got {aval.shape}.")
    if not 0 <= dimension < aval.ndim:
        raise ValueError(f"lax.iota: dimension={dimension} must lie in [0, {aval.ndim}) for shape {aval.shape}.")
    return aval


def _iota_reference(*, dtype, shape, dimension, sharding=None):
    line = np.arange(shape[dimension]).astype(dtype)
    return np.broadcast_to(line.reshape([-1 if i == dimension else 1 for i in range(len(shape))]), shape)


def _iota_lower(b, *, dtype, shape, dimension, sharding=None):
    out = b.out_avals[0]
    if out.dtype.kind != "c":
        return b.emit(f"stablehlo.iota dim = {dimension}", out=out)
    # XLA takes the absolute value of an iota for the iota itself, and dies where their dtypes differ
    parts = dtypes.finfo(out.dtype).dtype
    return b.convert(b.emit(f"stablehlo.iota dim = {dimension}", out=ShapedArray(out.shape, parts)), out.dtype)


iota_p = Primitive(
    "iota", out_type=_iota_type, jvp=ZERO, batch=none("iota has no operand that could be mapped"),
    lower=_iota_lower,
    reference=_iota_reference, exact=True, traits=Traits(Kind.MOVE))


def iota(dtype: DTypeLike, size: int) -> Array:
    """``0, 1, ..., size - 1`` in the dtype. Raises TypeError for booleans or a negative size. Source: StableHLO `iota`.

    >>> lax.iota(jnp.int32, 3)
    Array([0, 1, 2], dtype=int32)
    """
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: DTypeLike, shape: Sequence[int], dimension: int, *,
                     out_sharding: Placement | None = None) -> Array:
    """An array of ``shape`` whose elements are their own index along ``dimension``.

    Raises:
      TypeError: boolean dtype, or a negative length. ValueError: no such dimension, or None for the dtype.

    Source: StableHLO `iota`.

    >>> lax.broadcasted_iota(jnp.int32, (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    if dtype is None:
        raise ValueError("lax.iota: dtype=None names no dtype; give one.")
    return iota_p.bind(dtype=dtypes.canonicalize_user_dtype(dtype, "iota"), shape=_shape(shape), dimension=integer("lax.iota: dimension", dimension),
                       sharding=structural.resolved(out_sharding))


def _shape(shape):
    if isinstance(shape, (set, frozenset, dict)):
        raise TypeError(f"a shape is a sequence of integers, got {shape!r}")
    return integers("a shape", shape) if np.iterable(shape) else (integer("a shape", shape),)


# -- empty ---------------------------------------------------------------------------------------------------------------

empty_p = Primitive(
    "empty", out_type=lambda *, shape, dtype, out_sharding=None: ShapedArray(shape, dtype, sharding=out_sharding), jvp=ZERO,
    batch=none("empty has no operand that could be mapped"),
    lower=lambda b, *, shape, dtype, out_sharding=None: b.full(0, b.out_avals[0]),
    reference=lambda *, shape, dtype, out_sharding=None: np.zeros(shape, dtype), exact=True)


def empty(shape: Sequence[int], dtype: DTypeLike, *, out_sharding: Placement | None = None) -> Array:
    """An array whose contents are not to be relied upon (they are zeros today).

    Args:
      dtype: of the elements.
      out_sharding: placement of the result.

    >>> jax.lax.empty((2, 3), jnp.float32).shape
    (2, 3)
    """
    dtype = dtypes.canonicalize_user_dtype(dtype, "empty")
    if isinstance(dtype, dtypes.ExtendedDType):
        return dtype.zeros(_shape(shape))
    return empty_p.bind(shape=_shape(shape), dtype=dtype, out_sharding=structural.resolved(out_sharding))


# -- full ----------------------------------------------------------------------------------------------------------------

def full(shape: Sequence[int], fill_value: ArrayLike, dtype: DTypeLike | None = None, *,
         sharding: Placement | None = None) -> Array:
    """An array of ``shape`` filled with the scalar ``fill_value``.

    Args:
      shape: of the result.
      fill_value: a number or an array of rank 0.
      dtype: of the result; without it that of ``fill_value``, weak if it is.
      sharding: placement of the result, which is not weak then.

    Raises:
      TypeError: ``fill_value`` is not a scalar.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.full((2,), 7)
    Array([7, 7], dtype=int32, weak_type=True)
    """
    fill_value = as_operand("full", fill_value, 1)
    if type(fill_value) is complex and dtype is not None:
        refuse_complex("lax.full", fill_value, dtypes.canonicalize_user_dtype(dtype, "full"))
    if np.shape(fill_value):
        raise TypeError(f"lax.full: fill_value must be a scalar, got an array of shape {np.shape(fill_value)}; broadcast it with "
                        "jax.numpy.full.")
    weak = dtype is None and sharding is None and dtypes.is_weakly_typed(fill_value)
    dtype = get_aval(fill_value).dtype if dtype is None else dtypes.canonicalize_user_dtype(dtype, "full")
    return filled(_shape(shape), fill_value, dtype, weak, sharding)


def refuse_complex(name: str, value: complex, dtype: DTypeLike) -> None:
    """Raise TypeError if a dtype of real numbers is to hold a complex Python number; what has a dtype loses its imaginary part."""
    if getattr(dtype, "kind", "") != "b" and not dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{name}: fill_value={value!r} is complex, which {dtype} cannot hold; pass dtype=complex")


def filled(shape: tuple, value: Any, dtype: DTypeLike | None, weak_type: bool = False, sharding: Placement | None = None) -> Any:
    """`full` for canonical arguments."""
    if isinstance(dtype, dtypes.ExtendedDType):
        if not isinstance(getattr(value, "dtype", None), dtypes.ExtendedDType):
            return dtype.full(shape, value)
        return broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=(), sharding=None)
    if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        value = _in_dtype(value, dtype, weak_type)
    else:
        value = convert(value, dtype, weak_type)
    if sharding is None:
        return broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=(), sharding=None)
    typed = splits.in_type(sharding, len(shape))
    out = broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=(), sharding=typed if tracing() else None)
    if not isinstance(out, Tracer):
        return backends.get().put(out, None, sharding)
    return out if typed is not None else sharding_constraint_p.bind(out, sharding=sharding)


def _in_dtype(value, dtype, weak_type):
    """The host value in exactly this type: weak ones are Python scalars."""
    if isinstance(value, (float, np.floating)) and dtype.kind in "iu":
        scalar = dtypes.saturated(float(value), dtype)
    else:
        with np.errstate(all="ignore"):
            scalar = np.asarray(value).astype(dtype)[()]
    if weak_type:
        python = scalar.item()
        if get_aval(python) == ShapedArray((), dtype, True):
            return python
    return kept_wide(scalar)


def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None,
              sharding: Placement | None = None) -> Array:
    """`full` with the shape and dtype of ``x``, except where given.

    Raises:
      TypeError: ``fill_value`` is not a scalar.

    Source: StableHLO `broadcast_in_dim`.

    >>> lax.full_like(jnp.arange(2), 7)
    Array([7, 7], dtype=int32)
    """
    aval = get_aval(x)
    weak = dtype is None and aval.weak_type
    sizes = aval.shape if shape is None else _shape(shape)
    if np.shape(fill_value):
        raise TypeError(f"lax.full_like: fill_value must be a scalar, got an array of shape {np.shape(fill_value)}.")
    dtype = aval.dtype if dtype is None else dtypes.canonicalize_user_dtype(dtype, "full_like")
    if type(fill_value) is complex:
        refuse_complex("lax.full_like", fill_value, dtype)
    if isinstance(dtype, dtypes.ExtendedDType) and not hasattr(fill_value, "aval"):
        return dtype.zeros(sizes)
    return varying_as(x, filled(sizes, fill_value, dtype, weak, beside(x, sizes) if sharding is None else sharding))


def varying_as(x: object, made: object) -> Any:
    """``made``, an array like ``x``, which counts as varying over the mesh axes that ``x`` varies over, as carries and cotangents beside it."""
    if not isinstance(x, Tracer) or not x.aval.vma or isinstance(made, Tracer) and made.aval.vma >= x.aval.vma:
        return made
    from jax_core.transformations import manual  # start-up: inside manual regions only
    return manual.pvary(made, manual.in_order(x.aval.vma - manual.varying(made)))


def beside(x: ArrayLike, shape: Sequence[int]) -> Any:
    """Where an array of ``shape`` like ``x`` goes: to the placement of ``x``, if it is committed to one that suits the shape; else None.
    In a program only the types tell."""
    if isinstance(x, Tracer) or tracing():
        found = x.aval.placement if hasattr(x, "aval") else splits.in_type(getattr(x, "sharding", None), np.ndim(x))
        return found if np.shape(x) == tuple(shape) else None
    where = getattr(x, "sharding", None)
    if where is None or not getattr(x, "committed", True) or np.shape(x) != shape and not where.is_fully_replicated:
        return None
    return where


def zeros_like_array(x: ArrayLike) -> Array:
    """Zeros of the type of ``x``.

    >>> lax.zeros_like_array(jnp.arange(2))
    Array([0, 0], dtype=int32)
    """
    return full_like(x, 0)


def shape_as_value(shape: Sequence[int]) -> Any:
    """A shape as an int32 array; in the default integer dtype, if it has symbolic dimensions.

    >>> jax.lax.shape_as_value((2, 3))
    array([2, 3], dtype=int32)
    """
    symbolic = np.iterable(shape) and any(isinstance(n, Length) for n in shape)
    return np.asarray(_shape(shape), dtypes.default_int_dtype() if symbolic else np.int32)


