"""Schur form, and the reductions to Hessenberg and tridiagonal form.

Source: LAPACK `gees`, `gehrd`, `sytrd`/`hetrd`. Derivative of the Schur form: A Z = Z T gives, with W = Z^H dZ skew,
dT = Z^H dA Z + T W - W T; the entries of W below T's diagonal blocks are those that keep dT zero there.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import broadcast_in_dim, zeros
from jax_numpy_api import lax

from .common import (
    as_weak,
    batch_rule,
    check_dtype,
    check_ranks,
    diagonal,
    ffi_call,
    flag,
    for_platform,
    full_like,
    gpu_library,
    info_type,
    is_complex,
    lapack,
    letter,
    mh,
    mm,
    nan_on_failure,
    real_dtype,
    triu,
)
from .lu import lu, permute_rows
from .triangular import triangular_solve

if TYPE_CHECKING:
    from jax_core.representation.array import Array

# -- schur -----------------------------------------------------------------------------------------------------------

@as_weak
def _schur_type(x, *, compute_schur_vectors, sort_eig_vals, select_callable):
    _check_square("schur", x)
    return [ShapedArray(x.shape, x.dtype)] * (1 + compute_schur_vectors)


def _check_square(name, x):
    check_ranks(name, (x, 2))
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"The input to {name} must be a square matrix. Got shape {x.shape}.")
    check_dtype(name, x)


def _schur_lower(b, x, *, compute_schur_vectors, sort_eig_vals, select_callable):
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    if for_platform("schur", b) != "cpu":
        raise NotImplementedError(f"schur: there is no lowering for platform {b.platform}; run it on CPU.")
    batch_rank = x.aval.ndim - 2
    values, info = ShapedArray(x.aval.shape[:-1], x.aval.dtype), info_type(x, batch_rank)
    parts = [values] if is_complex(x) else [values] * 2
    t, z, *_, info = lapack(b, "gees", [x], [x.aval, x.aval, *parts, info, info], batch_rank=batch_rank, in_place={0: 0},
                            mode=letter("V" if compute_schur_vectors else "N"), sort=letter("N"))
    return nan_on_failure(b, info, *([t, z] if compute_schur_vectors else [t]), known=t)


def _schur_jvp(primals, tangents, *, compute_schur_vectors, **params):
    (x,), (g,) = primals, tangents
    if isinstance(g, Zero) or np.size(x) == 0:
        outs = schur_p.bind(x, compute_schur_vectors=compute_schur_vectors, **params)
        return outs, [Zero.of(y) for y in outs]
    t, z = schur_p.bind(x, compute_schur_vectors=True, **params)
    inner = mm(mh(z), mm(g, z))
    skew = _complex_skew(t, inner) if is_complex(t) else _real_skew(t, inner)
    dt = lax.add(inner, lax.sub(mm(t, skew), mm(skew, t)))
    dt = triu(dt) if is_complex(t) else lax.select(_block_mask(t), dt, zeros(ShapedArray(dt.shape, dt.dtype)))
    if not compute_schur_vectors:
        return [t], [dt]
    return [t, z], [dt, mm(z, skew)]


def _complex_skew(t, inner):
    """W column by column: column j below the diagonal solves a triangular system with the matrix T - t[j, j] I."""
    n = np.shape(t)[-1]
    axis = t.ndim - 1
    i = lax.broadcasted_iota(np.int32, np.shape(t), axis - 1)
    k = lax.broadcasted_iota(np.int32, np.shape(t), axis)
    zero, identity = lax.full_like(t, 0), lax.convert_element_type(lax.eq(i, k), t.dtype)

    def column(j: ArrayLike, w: Array):
        j = lax.convert_element_type(j, np.int32)
        at = broadcast_in_dim(j, np.shape(t), ())
        pivot = lax.reduce_sum(lax.select(lax.bitwise_and(lax.eq(i, at), lax.eq(k, at)), t, zero), (axis - 1, axis))
        system = lax.sub(t, lax.mul(identity, broadcast_in_dim(pivot, np.shape(t), tuple(range(axis - 1)))))
        # rows up to j are not unknowns: they become rows of the identity
        fixed = lax.le(i, at)
        system = lax.select(fixed, identity, lax.select(lax.le(k, at), zero, system))
        tj = lax.dynamic_slice_in_dim(t, j, 1, axis)
        above = lax.broadcasted_iota(np.int32, np.shape(tj), axis - 1)
        tj = lax.select(lax.lt(above, broadcast_in_dim(j, np.shape(tj), ())), tj, lax.full_like(tj, 0))
        right = lax.sub(mm(w, tj), lax.dynamic_slice_in_dim(inner, j, 1, axis))
        right = lax.select(lax.gt(above, broadcast_in_dim(j, np.shape(tj), ())), right, lax.full_like(right, 0))
        return lax.dynamic_update_slice_in_dim(w, triangular_solve(system, right, left_side=True), j, axis)
    low = lax.fori_loop(np.int32(0), np.int32(n), column, zero)
    return lax.sub(low, mh(low))


def _block_mask(t):
    """The diagonal blocks of a real Schur form and all above them."""
    rank = t.ndim
    below = lax.ne(t, lax.full_like(t, 0))
    i = lax.broadcasted_iota(np.int32, np.shape(t), rank - 2)
    k = lax.broadcasted_iota(np.int32, np.shape(t), rank - 1)
    return lax.bitwise_or(lax.ge(k, i), lax.bitwise_and(lax.eq(i, lax.add(k, np.int32(1))), below))


def _real_skew(t, inner):
    """W of a real Schur form, whose diagonal blocks of order 2 also have one unknown each.

    The unknowns are the entries of W below the diagonal, X. Each has one equation: below the blocks, that dT is zero
    there; inside a block, that the block's two diagonal entries change by the same amount, as LAPACK's standard form
    demands. The system is dense of order n^2, which is meant for small matrices.
    """
    n, batch = np.shape(t)[-1], np.shape(t)[:-2]
    rank = len(batch)
    lower = np.tri(n, k=-1, dtype=bool)
    rows, cols = np.nonzero(lower)
    if not len(rows):
        return lax.full_like(t, 0)
    basis = np.zeros((len(rows), n, n), t.dtype)
    basis[np.arange(len(rows)), rows, cols] = 1
    basis -= np.swapaxes(basis, -1, -2)
    in_block = lax.ne(t, lax.full_like(t, 0))  # below the diagonal, only blocks are not zero

    def residual(change, mask: Array):
        """The equations' left sides, one for each entry below the diagonal, for ``change[..., n, n]`` of T."""
        change = lax.select(mask, _diagonal_difference(change), change)
        return _entries(change, rows, cols)
    many = (len(rows), *batch, n, n)
    wide_t = broadcast_in_dim(t, many, tuple(range(1, rank + 3)))
    wide_basis = broadcast_in_dim(basis, many, (0, rank + 1, rank + 2))
    commutator = lax.sub(mm(wide_t, wide_basis), mm(wide_basis, wide_t))
    wide_mask = broadcast_in_dim(in_block, many, tuple(range(1, rank + 3)))
    system = residual(commutator, wide_mask)  # [unknowns, *batch, equations]
    system = lax.transpose(system, (*range(1, rank + 1), rank + 1, 0))
    right = lax.neg(residual(inner, in_block))
    x = _solve(system, lax.expand_dims(right, (rank + 1,)))
    wide_x = lax.transpose(x, (rank, *range(rank), rank + 1))
    wide_x = broadcast_in_dim(lax.reshape(wide_x, (len(rows), *batch)), many, tuple(range(rank + 1)))
    return lax.reduce_sum(lax.mul(wide_basis, wide_x), (0,))


def _diagonal_difference(change):
    """An array with ``change[i, i] - change[i - 1, i - 1]`` in entry (i, i - 1)."""
    n = np.shape(change)[-1]
    d = diagonal(change)
    step = lax.sub(lax.slice_in_dim(d, 1, n, axis=d.ndim - 1), lax.slice_in_dim(d, 0, n - 1, axis=d.ndim - 1))
    step = lax.pad(step, full_like(step, 0), [(0, 0, 0)] * (d.ndim - 1) + [(1, 0, 0)])
    return broadcast_in_dim(step, np.shape(change), (*range(d.ndim - 1), change.ndim - 2))


def _entries(a, rows, cols):
    flat = lax.reshape(a, (*np.shape(a)[:-2], np.shape(a)[-1] ** 2))
    where = (rows * np.shape(a)[-1] + cols).astype(np.int32)[:, None]
    rank = flat.ndim
    numbers = lax.GatherDimensionNumbers(tuple(range(rank - 1)), (rank - 1,), (rank - 1,))
    return lax.gather(flat, where, numbers, (*np.shape(flat)[:-1], 1), mode="promise_in_bounds", unique_indices=True)


def _solve(a, b):
    factors, _, order = lu(a)
    b = triangular_solve(factors, permute_rows(b, order), left_side=True, lower=True, unit_diagonal=True)
    return triangular_solve(factors, b, left_side=True)


def _schur_dce(eqn, used):
    """Vectors that nobody reads are not computed."""
    if not eqn.params["compute_schur_vectors"] or used[1]:
        return eqn
    return eqn.replace(outvars=eqn.outvars[:1], params={**eqn.params, "compute_schur_vectors": False})


schur_p: Primitive = Primitive("schur", multiple_results=True, out_type=_schur_type, jvp=_schur_jvp,
                    transpose=none("schur is not linear, so it has no transpose"),
                    batch=batch_rule(lambda x, **params: schur_p.bind(x, **params)), lower=_schur_lower,
    dce=_schur_dce, traits=Traits(Kind.LIBRARY))


def schur(x: ArrayLike, *, compute_schur_vectors: bool = True, sort_eig_vals: bool = False,
          select_callable: Callable[..., object] | None = None) -> list:
    """Schur form: ``x = z @ t @ z^H`` with unitary z.

    Args:
      x: ``[..., n, n]``.
      compute_schur_vectors: whether z is wanted.
      sort_eig_vals, select_callable: sorting of eigenvalues, which is not implemented.

    Returns:
      a list: t, upper triangular (for real x with blocks of order 2 for complex pairs), and z if wanted.

    Raises:
      ValueError: not square. TypeError: not a dtype of LAPACK. NotImplementedError: sorting.

    Source: LAPACK `gees`.

    >>> t, z = jax.lax.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> jnp.diag(t)
    Array([1., 3.], dtype=float32)
    """
    if sort_eig_vals:
        raise NotImplementedError("schur: sort_eig_vals=True is not implemented; LAPACK's sorting calls back into the caller.")
    return schur_p.bind(x, compute_schur_vectors=flag(compute_schur_vectors), sort_eig_vals=False, select_callable=None)


# -- hessenberg ------------------------------------------------------------------------------------------------------

@as_weak
def _hessenberg_type(x):
    check_ranks("hessenberg", (x, 2))
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Argument to Hessenberg reduction must have shape [..., n, n], got shape {x.shape}")
    check_dtype("hessenberg", x)
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*x.shape[:-2], max(x.shape[-1] - 1, 0)), x.dtype)]


def _hessenberg_lower(b, x):
    n = x.aval.shape[-1]
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    if n == 1:
        return [x, b.full(0, b.out_avals[1])]
    if for_platform("hessenberg", b) != "cpu":
        raise NotImplementedError(f"hessenberg: there is no lowering for platform {b.platform}; run it on CPU.")
    batch_rank = x.aval.ndim - 2
    a, taus, info = lapack(b, "gehrd", [x], [*b.out_avals, info_type(x, batch_rank)], batch_rank=batch_rank, in_place={0: 0},
                           low=np.int32(1), high=np.int32(n))
    return nan_on_failure(b, info, a, taus)


hessenberg_p: Primitive = Primitive("hessenberg", multiple_results=True, out_type=_hessenberg_type,
                         jvp=none("hessenberg has no derivative rule: the form is not unique"),
                         transpose=none("hessenberg is not linear, so it has no transpose"),
                         batch=batch_rule(lambda x: hessenberg_p.bind(x)), lower=_hessenberg_lower,
                         traits=Traits(Kind.LIBRARY))


def hessenberg(a: ArrayLike) -> list[Any]:
    """Reduction to upper Hessenberg form by reflections.

    Args:
      a: ``[..., n, n]``.

    Returns:
      a list: the Hessenberg form with the reflections' vectors below it, and their factors ``[..., n - 1]``.

    Raises:
      ValueError: not square. TypeError: not a dtype of LAPACK.

    Source: LAPACK `gehrd`.

    >>> h, taus = jax.lax.linalg.hessenberg(jnp.arange(9.0).reshape(3, 3))
    >>> h.shape, taus.shape
    ((3, 3), (2,))
    """
    return hessenberg_p.bind(a)


# -- tridiagonal -----------------------------------------------------------------------------------------------------

@as_weak
def _tridiagonal_type(x, *, lower):
    _check_square("tridiagonal", x)
    *batch, n, _ = x.shape
    if n == 0:
        raise ValueError(f"The input to tridiagonal must not be empty. Got shape {x.shape}.")
    part = real_dtype(x.dtype)
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*batch, n), part), ShapedArray((*batch, n - 1), part),
            ShapedArray((*batch, n - 1), x.dtype)]


def _tridiagonal_lower(b, x, *, lower):
    batch_rank = x.aval.ndim - 2
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    uplo, info, kind = letter("L" if lower else "U"), info_type(x, batch_rank), for_platform("tridiagonal", b)
    if kind == "cpu":
        *outs, info = lapack(b, "hetrd" if is_complex(x) else "sytrd", [x], [*b.out_avals, info], batch_rank=batch_rank,
                             in_place={0: 0}, uplo=uplo)
    elif kind == "gpu":
        *outs, info = ffi_call(b, gpu_library(b) + "_sytrd_ffi", [x], [*b.out_avals, info], batch_rank=batch_rank,
                               in_place={0: 0}, lower=bool(lower))
    else:
        raise NotImplementedError("tridiagonal: there is no lowering for TPU; run it on CPU.")
    return nan_on_failure(b, info, *outs)


tridiagonal_p: Primitive = Primitive("tridiagonal", multiple_results=True, out_type=_tridiagonal_type,
                          jvp=none("tridiagonal has no derivative rule: the form is not unique"),
                          transpose=none("tridiagonal is not linear, so it has no transpose"),
                          batch=batch_rule(lambda x, **params: tridiagonal_p.bind(x, **params)), lower=_tridiagonal_lower,
                          traits=Traits(Kind.LIBRARY))


def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Any]:
    """Reduction of Hermitian matrices to tridiagonal form by reflections.

    Args:
      a: ``[..., n, n]``.
      lower: which triangle is read.

    Returns:
      a list: the reduced matrix with the reflections' vectors, the diagonal ``[..., n]``, the off-diagonal ``[..., n - 1]``, and
      the reflections' factors ``[..., n - 1]``.

    Raises:
      ValueError: not square or empty. TypeError: not a dtype of LAPACK.

    Source: LAPACK `sytrd`, `hetrd`.

    >>> a, d, e, taus = jax.lax.linalg.tridiagonal(jnp.diag(jnp.array([1.0, 2.0, 3.0])))
    >>> d
    Array([1., 2., 3.], dtype=float32)
    """
    return tridiagonal_p.bind(a, lower=flag(lower))
