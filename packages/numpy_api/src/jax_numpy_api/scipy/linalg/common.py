"""What the functions of this package share: checked operands and small matrix operations."""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import dtypes, source
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array

from ... import numpy as jnp
from ...numpy.promotion import as_array, check_arraylike, check_batch_ranks, promote_dtypes_inexact


def matrices(name: str, *args: Any, square: bool = True, no_matrix: type[Exception] = ValueError) -> list[Array]:
    """Arguments as arrays of one inexact dtype.

    Raises:
      TypeError: not arrays. ValueError: the first holds no (square) matrices; ``no_matrix`` if it has fewer than two axes.
    """
    check_arraylike(f"jax.scipy.linalg.{name}", *args)
    arrays = [as_array(x) for x in promote_dtypes_inexact(*args)]
    shape = arrays[0].shape
    if len(shape) < 2 or square and shape[-1] != shape[-2]:
        kind = "a (batched) square matrix" if square else "a (batched) matrix"
        raise (no_matrix if len(shape) < 2 else ValueError)(f"jax.scipy.linalg.{name}: expected {kind}, got shape {shape}")
    return arrays


def is_complex(x: Array) -> bool:
    return dtypes.issubdtype(x.dtype, np.complexfloating)


def to_complex(x: Array) -> Any:
    return x.astype(dtypes.to_complex_dtype(x.dtype))


def adjoint(x: Array) -> Any:
    """Conjugate transpose."""
    return jnp.conj(jnp.matrix_transpose(x))


def mm(a: Array, b: Array) -> Any:
    """Matrix product in full precision on every device."""
    return jnp.matmul(a, b, precision="highest")


def as_columns(name: str, a: Array, b: Array) -> tuple:
    """``a`` and right-hand sides ``b`` as matrices with the same batch axes, and whether ``b`` held vectors.

    Raises:
      ValueError: shapes that do not fit.
    """
    n = a.shape[-1]
    vector = b.ndim == 1 or b.ndim == a.ndim - 1 and b.shape[-1] == n
    if vector and b.ndim > 1:
        source.warn(f"jax.scipy.linalg.{name}: b of shape {b.shape} is taken for vectors, one for each matrix of a, of shape {a.shape}; "
                    "it will be taken for matrices. Say b[..., None] for vectors, and take the last axis off the result", FutureWarning)
    if vector:
        b = b[..., None]
    if b.ndim < 2 or b.shape[-2] != n:
        raise ValueError(f"jax.scipy.linalg.{name}: needs a[..., m, m] and b[..., m] or b[..., m, k], got shapes {a.shape} "
                         f"and {b.shape[:-1] if vector else b.shape}")
    check_batch_ranks(name, (a.shape, 2), (b.shape, 2))
    batch = joint_shape(a.shape[:-2], b.shape[:-2])
    return jnp.broadcast_to(a, batch + a.shape[-2:]), jnp.broadcast_to(b, batch + b.shape[-2:]), vector
