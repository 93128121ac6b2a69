"""Singular value decomposition by the polar decomposition, for platforms whose library has none (TPU).

With x = q r (QR), r = u h (polar) and h = v diag(s) v^H (eigenvectors), x = (q u v) diag(s) v^H. Where r is singular, u is zero on
what it maps to zero; those columns of u v are replaced by an orthonormal completion, out of another QR decomposition.

Source: Nakatsukasa and Higham, SIAM J. Sci. Comput. 35 (2013) A1325.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation.aval import get_aval
from jax_core.transformations.vmap import vmap
from jax_numpy_api import lax

from .common import diagonal, first_columns, largest, mh, mm, real_dtype, rows
from .eigen import eigh
from .polar import qdwh, safe_scale
from .qr import qr

if TYPE_CHECKING:
    from jax_core.representation.typing import ArrayLike


def svd_by_polar(x: ArrayLike, *, full_matrices: bool, compute_uv: bool) -> list:
    """``[s]`` or ``[s, u, vh]`` of matrices ``[..., m, n]``, as the primitive `svd` gives them."""
    if np.ndim(x) > 2:
        return vmap(lambda matrix: svd_by_polar(matrix, full_matrices=full_matrices, compute_uv=compute_uv))(x)
    m, n = np.shape(x)
    if m < n:
        s, *vectors = svd_by_polar(mh(x), full_matrices=full_matrices, compute_uv=compute_uv)
        return [s, *[mh(a) for a in reversed(vectors)]]
    dtype = get_aval(x).dtype
    scale = safe_scale(largest(x), real_dtype(dtype))
    q, r = qr(lax.mul(x, lax.convert_element_type(scale, dtype)), full_matrices=full_matrices and compute_uv)
    polar, h, _, _ = qdwh(lax.slice_in_dim(r, 0, n))
    v, s = eigh(h, symmetrize_input=False)
    s, v = lax.rev(s, (0,)), lax.rev(v, (1,))
    s = lax.mul(lax.max(s, lax.full_like(s, 0)), lax.reciprocal(scale))
    if not compute_uv:
        return [s]
    inner = _completed(mm(polar, v))
    u = mm(first_columns(q, n), inner)
    if np.shape(q)[1] > n:
        u = lax.concatenate([u, lax.slice_in_dim(q, n, np.shape(q)[1], axis=1)], 1)
    return [s, u, mh(v)]


def _completed(u: Any) -> Any:
    """``u``, whose columns are orthonormal up to some one and small from there on, with all columns orthonormal."""
    q, r = qr(u, full_matrices=False)
    corner = diagonal(r)
    size = lax.abs(corner)
    sign = lax.select(lax.gt(size, lax.full_like(size, 0.5)), lax.sign(corner), lax.full_like(corner, 1))
    return lax.mul(q, rows(sign, q))
