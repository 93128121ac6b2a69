"""Cholesky factors, their rank-1 update, and symmetric products.

Source: LAPACK `potrf`. Derivative of the factor: Murray, "Differentiation of the Cholesky decomposition",
arXiv:1602.07527. Update: Golub, Van Loan, "Matrix Computations", section 6.5.4 (Givens rotations).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jax_core.representation import splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import zeros
from jax_numpy_api import lax

from .common import (
    as_weak,
    batch_rule,
    check_dtype,
    check_ranks,
    check_square,
    eye_mask,
    ffi_call,
    for_platform,
    full_like,
    gpu_library,
    hermitian,
    inexact,
    info_type,
    is_complex,
    jvp_through,
    lapack,
    letter,
    mm,
    mt,
    nan_on_failure,
    symmetrize,
    tril,
    triu,
)
from .triangular import triangular_solve_p

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

# -- cholesky --------------------------------------------------------------------------------------------------------

@as_weak
def _cholesky_type(x):
    check_square("cholesky", x)
    return ShapedArray(x.shape, x.dtype)


def halve_diagonal(a: Array) -> Any:
    """``a`` with its diagonal halved."""
    return lax.select(eye_mask(a), lax.mul(a, full_like(a, 0.5)), a)


def _cholesky_jvp(primals, tangents):
    """dL = L Phi(L^-1 dA L^-H), where Phi takes the lower triangle and half of the diagonal, and dA is, as A, what its lower
    triangle says."""
    (x,), (g,) = primals, tangents
    factor = cholesky_p.bind(x)
    if isinstance(g, Zero):
        return factor, Zero.of(factor)
    lower, g = tril(factor), hermitian(g, True)
    shared = dict(lower=True, unit_diagonal=False)
    inner = triangular_solve_p.bind(lower, g, left_side=False, transpose_a=True, conjugate_a=is_complex(x), **shared)
    inner = triangular_solve_p.bind(lower, inner, left_side=True, transpose_a=False, conjugate_a=False, **shared)
    return factor, mm(lower, halve_diagonal(tril(inner)))


def _cholesky_lower(b, x):
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    kind, batch_rank = for_platform("cholesky", b), out.ndim - 2
    if kind == "tpu":
        return b.emit(f'"stablehlo.cholesky"({x})', x, out=out, attrs="{lower = true}")
    outs = [out, info_type(x, batch_rank)]
    if kind == "cpu":  # by columns: LAPACK finds the lower factor quicker than, by rows, the upper one of the transposed matrix
        factor, info = lapack(b, "potrf", [x], outs, batch_rank=batch_rank, in_place={0: 0}, uplo=letter("L"))
    else:
        factor, info = ffi_call(b, gpu_library(b) + "_potrf_ffi", [x], outs, batch_rank=batch_rank, in_place={0: 0}, lower=True)
    return nan_on_failure(b, info, factor)[0]


cholesky_p: Primitive = Primitive("cholesky", out_type=_cholesky_type, jvp=_cholesky_jvp,
                       transpose=none("cholesky is not linear, so it has no transpose"),
                       batch=batch_rule(lambda x: cholesky_p.bind(x)), lower=_cholesky_lower, traits=Traits(Kind.LIBRARY))


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular L with ``L L^H = x``; NaN where ``x`` is not positive definite.

    Args:
      x: Hermitian matrices ``[..., n, n]``.
      symmetrize_input: take the Hermitian part first; without, only the lower triangle is read.

    Raises:
      ValueError: the matrices are not square. TypeError: a dtype other than those of LAPACK, integers and booleans.

    Source: LAPACK `potrf`.

    >>> lax.linalg.cholesky(jnp.array([[4., 2.], [2., 5.]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = inexact(x)
    check_square("cholesky", get_aval(x))
    return tril(cholesky_p.bind(symmetrize(x) if symmetrize_input else x))


# -- cholesky_update -------------------------------------------------------------------------------------------------

@as_weak
def _update_type(r, w):
    check_ranks("cholesky_update", (r, 2), (w, 1))
    if r.shape[-1] != r.shape[-2] or w.shape != r.shape[:-1]:
        raise ValueError(f"cholesky_update: needs an upper triangular matrix [..., n, n] and a vector [..., n], got shapes "
                         f"{r.shape} and {w.shape}.")
    check_dtype("cholesky_update", r, w)
    return ShapedArray(r.shape, r.dtype)


def _update_rotations(r, w):
    """Rotate row i of ``r`` against ``w`` so that the entry i of ``w`` vanishes, for i = 0, 1, ..."""
    n = np.shape(r)[-1]
    if n == 0:
        return [r]
    batch = np.shape(r)[:-2]
    axis = len(batch)

    def step(i: ArrayLike, state: PyTree):
        r, w = state
        row = lax.squeeze(lax.dynamic_slice_in_dim(r, i, 1, axis), (axis,))
        a = lax.dynamic_slice_in_dim(row, i, 1, axis)
        b = lax.dynamic_slice_in_dim(w, i, 1, axis)
        length = lax.sqrt(lax.add(lax.mul(a, a), lax.mul(b, b)))
        zero = lax.eq(length, zeros(ShapedArray(length.shape, length.dtype)))
        safe = lax.select(zero, lax.full_like(length, 1), length)
        c, s = lax.select(zero, lax.full_like(a, 1), lax.div(a, safe)), lax.div(b, safe)
        new_row = lax.add(lax.mul(c, row), lax.mul(s, w))
        w = lax.sub(lax.mul(c, w), lax.mul(s, row))
        return lax.dynamic_update_slice_in_dim(r, lax.expand_dims(new_row, (axis,)), i, axis), w
    return [triu(lax.fori_loop(0, n, step, (r, w))[0])]


def _updated_gram(r, w):
    """A differentiable function with the same result: factor of R^T R + w w^T."""
    column = lax.expand_dims(w, (w.ndim,))
    gram = lax.add(mm(mt(r), r), mm(column, mt(column)))
    return mt(cholesky(gram))


cholesky_update_p: Primitive = Primitive(
    "cholesky_update", out_type=_update_type,
    jvp=jvp_through(lambda r, w: cholesky_update_p.bind(r, w), lambda r, w: _updated_gram(triu(r), w)),
    transpose=none("cholesky_update is not linear, so it has no transpose"),
    batch=batch_rule(lambda r, w: cholesky_update_p.bind(r, w)),
    lower=lambda b, r, w: b.fun(_update_rotations, r, w)[0], splits=splits.leading)


def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular factor of ``R^T R + w w^T``, in O(n^2) per matrix.

    Args:
      r_matrix: real upper triangular matrices ``[..., n, n]``, with positive diagonals.
      w_vector: ``[..., n]``.

    Raises:
      ValueError: shapes do not fit. TypeError: dtypes differ.

    Source: Golub, Van Loan, "Matrix Computations", section on updating Cholesky factors.

    >>> r = jnp.eye(2) * 2.0
    >>> jax.lax.linalg.cholesky_update(r, jnp.array([1.0, 0.0]))
    Array([[2.236068, 0.      ],
           [0.      , 2.      ]], dtype=float32)
    """
    return cholesky_update_p.bind(r_matrix, w_vector)


# -- symmetric_product -----------------------------------------------------------------------------------------------

@as_weak
def _product_type(a, c, *, alpha, beta):
    check_ranks("symmetric_product", (a, 2), (c, 2))
    if c.shape != (*a.shape[:-1], a.shape[-2]):
        raise ValueError(f"symmetric_product: needs matrices [..., n, k] and [..., n, n], got shapes {a.shape} and {c.shape}.")
    check_dtype("symmetric_product", a, c)
    return ShapedArray(c.shape, c.dtype)


def _product(a, c, *, alpha, beta):
    return lax.add(lax.mul(mm(a, mt(a)), full_like(a, alpha)), lax.mul(c, full_like(c, beta)))


symmetric_product_p: Primitive = Primitive(
    "symmetric_product", out_type=_product_type,
    jvp=jvp_through(lambda *args, **params: symmetric_product_p.bind(*args, **params), _product),
    transpose=none("symmetric_product is not linear, so it has no transpose"),
    batch=batch_rule(lambda *args, **params: symmetric_product_p.bind(*args, **params)),
    lower=lambda b, a, c, **params: b.fun(_product, a, c, **params)[0], splits=splits.batched)


def symmetric_product(a_matrix: ArrayLike, c_matrix: ArrayLike, *, alpha: float = 1.0, beta: float = 0.0,
                      symmetrize_output: bool = False) -> Any:
    """``alpha * a a^T + beta * c``.

    Args:
      a_matrix: ``[..., n, k]``. c_matrix: symmetric ``[..., n, n]``.
      alpha, beta: numbers.
      symmetrize_output: make the result exactly symmetric, by its lower triangle.

    Raises:
      ValueError: shapes do not fit. TypeError: dtypes differ.

    Source: BLAS `syrk`.

    >>> jax.lax.linalg.symmetric_product(jnp.array([[1.0], [2.0]]), jnp.zeros((2, 2)))
    Array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    out = symmetric_product_p.bind(a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))
    return lax.add(tril(out), mt(tril(out, -1))) if symmetrize_output else out
