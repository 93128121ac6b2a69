"""What the functions of `jax.numpy.linalg` share: the check of their arguments and small helpers."""
from __future__ import annotations

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval

from ... import lax
from ..creation import eye
from ..promotion import as_array, broadcast_to, check_arraylike, narrowed, promote_dtypes_inexact
from ..shaping import matrix_transpose
from ..ufuncs import _is_complex, conj


def as_matrices(name: str, a: object, square: bool = False, unranked: type[Exception] = ValueError, narrow: bool = False) -> Array:
    """``a`` as an inexact array, if ``narrow`` as narrow as beside a number; raises ``unranked`` unless it holds matrices, ValueError unless square ones."""
    check_arraylike(f"jnp.linalg.{name}", a)
    a, = promote_dtypes_inexact(a)
    a = narrowed(as_array(a)) if narrow else as_array(a)
    if a.ndim < 2:
        raise unranked(f"jnp.linalg.{name}: an array of rank 2 or more is needed, got shape {a.shape}")
    if square and a.shape[-1] != a.shape[-2]:
        raise ValueError(f"jnp.linalg.{name}: the last two axes must have one length, got shape {a.shape}")
    return a


def identity_like(a: Array) -> Array:
    """The identity for each matrix of ``a``, which lies on the devices as ``a`` does."""
    return broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape, get_aval(a).placement)


def conjugate_transpose(a: Array) -> Array:
    """Conjugate transpose."""
    return conj(matrix_transpose(a))


def argsort(x: Array) -> Array:
    """The order that sorts the last axis."""
    positions = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    return lax.sort((x, positions), x.ndim - 1, num_keys=1)[1]


def squared_modulus(x: Array) -> Array:
    """``|x|**2``, real also where ``x`` is complex."""
    if _is_complex(x):
        return lax.add(lax.square(lax.real(x)), lax.square(lax.imag(x)))
    return lax.square(x)
