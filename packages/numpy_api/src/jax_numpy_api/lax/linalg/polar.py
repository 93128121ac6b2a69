"""Polar decomposition by dynamically weighted Halley iterations.

Each step maps every singular value s of the iterate to ``s (a + b s^2) / (1 + c s^2)``, with weights chosen from a lower
bound of the smallest one, so that about six steps bring all of them to 1. The map is applied by a QR decomposition of the
stacked matrix [sqrt(c) X; I], which is stable for any condition number.

Source: Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar decomposition", SIAM J. Matrix
Anal. Appl. 31 (2010).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.typing import ArrayLike
from jax_numpy_api import lax

from .common import check_dtype, eye, full_like, is_complex, largest, mh, mm, real_dtype
from .qr import qr

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def qdwh(x: ArrayLike, *, is_hermitian: bool = False, max_iterations: int | None = None, eps: float | None = None,
         dynamic_shape: tuple[int, int] | None = None) -> tuple[Any, Any, Any, Any]:
    """Polar decomposition ``x = u @ h`` with orthonormal columns of u and Hermitian positive semidefinite h.

    Args:
      x: a matrix ``[m, n]``, m >= n.
      is_hermitian: x is Hermitian (u is then made so too).
      max_iterations: default 10.
      eps: precision wanted; default that of the dtype.
      dynamic_shape: only ``x[:rows, :columns]`` counts.

    Returns:
      u, h, the number of iterations, and whether they converged.

    Raises:
      ValueError: x is not one matrix with m >= n. TypeError: not a dtype of LAPACK.

    Source: Nakatsukasa, Bai, Gygi, "Optimizing Halley's iteration for computing the matrix polar decomposition", 2010.

    >>> u, h, steps, converged = jax.lax.linalg.qdwh(jnp.diag(jnp.array([2.0, 3.0])))
    >>> jnp.round(h, 4) + 0.0
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    if np.ndim(x) != 2 or np.shape(x)[0] < np.shape(x)[1]:
        raise ValueError(f"qdwh: the input must be one matrix with at least as many rows as columns, got shape {np.shape(x)}.")
    check_dtype("qdwh", get_aval(x))
    dtype = real_dtype(dtypes.dtype(x))
    eps = float(dtypes.finfo(dtype).eps) if eps is None else float(eps)
    limit = 10 if max_iterations is None else int(max_iterations)
    return _polar(x, dynamic_shape, is_hermitian, dtype, eps, limit)


@inlined(static_argnums=(2, 3, 4, 5))
def _polar(x, dynamic_shape, is_hermitian, dtype, eps, limit):
    if dynamic_shape is not None:
        x = _masked(x, dynamic_shape)
    u, count, converged = _iterate(x, dtype, eps, limit)
    if is_hermitian and np.shape(x)[0] == np.shape(x)[1]:
        u = lax.mul(lax.add(u, mh(u)), full_like(u, 0.5))
    h = mm(mh(u), x)
    h = lax.mul(lax.add(h, mh(h)), full_like(h, 0.5))
    return u, h, count, converged


def _masked(x, dynamic_shape):
    rows, columns = dynamic_shape
    inside = lax.bitwise_and(lax.lt(lax.broadcasted_iota(np.int32, x.shape, 0), lax.full(x.shape, rows, np.int32)),
                             lax.lt(lax.broadcasted_iota(np.int32, x.shape, 1), lax.full(x.shape, columns, np.int32)))
    return lax.select(inside, x, lax.full_like(x, 0))


def _norm(x, dtype):
    square = lax.real(lax.mul(x, lax.conj(x))) if is_complex(x) else lax.mul(x, x)
    return lax.sqrt(lax.reduce_sum(square, (0, 1)))


def safe_scale(size: Array, dtype: np.dtype) -> Array:
    """A power of two by which squares of numbers of this ``size`` neither overflow nor vanish.

    No quotient: compilers make one division of two, by a product of the divisors, which for a matrix of zeros is 0 and for a large one infinite.
    """
    digits = dtypes.finfo(dtype).maxexp
    low, up, down = (dtype.type(2.0 ** int(share * digits)) for share in (-0.39, 0.77, -0.61))
    return lax.select(lax.lt(size, low), up, lax.select(lax.gt(size, dtype.type(1) / low), down, dtype.type(1)))


def _iterate(x, dtype, eps, limit):
    n = np.shape(x)[1]
    one = dtype.type(1)
    tiny = dtypes.finfo(dtype).tiny.astype(dtype)
    x = lax.mul(x, lax.convert_element_type(safe_scale(largest(x), dtype), x.dtype))  # u of a multiple is the same
    u = lax.div(x, lax.convert_element_type(lax.max(_norm(x, dtype), tiny), x.dtype))
    # the last steps converge cubically, so the next change is about the cube of this one
    tolerance = dtype.type((4 * eps) ** (1 / 3))

    def unfinished(state: PyTree):
        _, low, change, count = state
        far = lax.bitwise_or(lax.gt(change, tolerance), lax.gt(lax.abs(lax.sub(low, one)), dtype.type(8 * eps)))
        return lax.bitwise_and(far, lax.lt(count, np.int32(limit)))

    def step(state: PyTree):
        u, low, _, count = state
        a, b, c = _weights(low, dtype)
        new = _halley(u, a, b, c, n)
        square = lax.mul(low, low)
        low = lax.div(lax.mul(low, lax.add(a, lax.mul(b, square))), lax.add(one, lax.mul(c, square)))
        return new, lax.min(low, one), _norm(lax.sub(new, u), dtype), lax.add(count, np.int32(1))

    start = u, lax.full((), eps, dtype), lax.full((), np.inf, dtype), lax.full((), 0, np.int32)
    u, low, change, count = lax.while_loop(unfinished, step, start)
    return u, count, lax.le(change, tolerance)


def _weights(low, dtype):
    """a, b, c of the best step if all singular values lie in ``[low, 1]``."""
    number = dtype.type
    square = lax.mul(low, low)
    d = lax.cbrt(lax.div(lax.mul(number(4), lax.sub(number(1), square)), lax.mul(square, square)))
    root = lax.sqrt(lax.add(number(1), d))
    inner = lax.add(lax.sub(number(8), lax.mul(number(4), d)),
                    lax.div(lax.mul(number(8), lax.sub(number(2), square)), lax.mul(square, root)))
    a = lax.add(root, lax.mul(number(0.5), lax.sqrt(lax.max(inner, number(0)))))
    b = lax.div(lax.mul(lax.sub(a, number(1)), lax.sub(a, number(1))), number(4))
    return a, b, lax.sub(lax.add(a, b), number(1))


def _halley(u, a, b, c, n):
    root = lax.sqrt(c)
    stacked = lax.concatenate([lax.mul(u, lax.convert_element_type(root, u.dtype)), eye(n, u)], 0)
    q, _ = qr(stacked, full_matrices=False)
    m = np.shape(u)[0]
    top, bottom = lax.slice_in_dim(q, 0, m), lax.slice_in_dim(q, m, m + n)
    ratio = lax.div(b, c)
    turn = lax.convert_element_type(lax.div(lax.sub(a, ratio), root), u.dtype)
    return lax.add(lax.mul(u, lax.convert_element_type(ratio, u.dtype)), lax.mul(mm(top, mh(bottom)), turn))
