"""Triangular and tridiagonal systems of equations.

Source: LAPACK `trsm`, `gtsv`; StableHLO specification, `triangular_solve`. Derivatives: from differentiating A X = B,
A dX = dB - dA X.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.errors import ShardingTypeError
from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, moved, zeros
from jax_numpy_api import lax

from .common import (
    as_weak,
    batch_rule,
    check_dtype,
    check_ranks,
    conj,
    ffi_call,
    flag,
    for_platform,
    gpu_library,
    info_type,
    is_complex,
    lapack,
    letter,
    mm,
    mt,
    nan_on_failure,
    tangent_of,
    tril,
    triu,
)

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree

# -- triangular_solve ------------------------------------------------------------------------------------------------

@as_weak
def _solve_type(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    check_ranks("triangular_solve", (a, 2))
    if a.shape[-1] != a.shape[-2]:
        raise ValueError(f"triangular_solve: the first argument must have shape [..., n, n], got {a.shape}.")
    n = b.shape[-2 if left_side else -1] if b.ndim >= 2 else None
    if a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != n:
        raise ValueError(f"Incompatible shapes for arguments to triangular_solve: {a.shape} and {b.shape}.")
    if not (a.dtype == b.dtype and _is_narrow(a.dtype)):
        check_dtype("triangular_solve", a, b)
    return ShapedArray(b.shape, b.dtype)


def _is_narrow(dtype):
    """Whether LAPACK has no routine for these floats, so that they are solved in float32."""
    return dtypes.issubdtype(dtype, np.floating) and np.dtype(dtype).itemsize == 2


def _solve_jvp(primals, tangents, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    a, b = primals
    ga, gb = tangents
    params = dict(left_side=left_side, lower=lower, transpose_a=transpose_a, conjugate_a=conjugate_a,
                  unit_diagonal=unit_diagonal)
    x = triangular_solve_p.bind(a, b, **params)
    if isinstance(ga, Zero) and isinstance(gb, Zero):
        return x, Zero.of(x)
    if isinstance(ga, Zero):
        return x, triangular_solve_p.bind(a, gb, **params)
    k = 1 if unit_diagonal else 0
    ga = tril(ga, -k) if lower else triu(ga, k)
    if conjugate_a:
        ga = conj(ga)
    if transpose_a:
        ga = mt(ga)
    right = lax.neg(mm(ga, x) if left_side else mm(x, ga))
    if not isinstance(gb, Zero):
        right = lax.add(gb, right)
    return x, triangular_solve_p.bind(a, right, **params)


def _solve_transpose(ct, a, b, *, transpose_a, **params):
    if is_linear(a):
        raise NotImplementedError("triangular_solve is linear in its right-hand side only")
    return None, triangular_solve_p.bind(a, ct, transpose_a=not transpose_a, **params)


def _solve_batch(axis, args, dims, *, left_side, **params):
    (a, b), (da, db) = args, dims
    rank = np.ndim(a) - (da is not None)
    if da is None and rank == 2:  # one matrix, more columns (or rows) on the right-hand side
        if left_side:
            b = moved(b, db, 1)
            n, size, k = np.shape(b)
            x = triangular_solve_p.bind(a, lax.reshape(b, (n, size * k)), left_side=True, **params)
            return lax.reshape(x, (n, size, k)), 1
        b = moved(b, db, 0)
        size, k, n = np.shape(b)
        x = triangular_solve_p.bind(a, lax.reshape(b, (size * k, n)), left_side=False, **params)
        return lax.reshape(x, (size, k, n)), 0
    a, b = bdim_at_front(a, da, axis), bdim_at_front(b, db, axis)
    return triangular_solve_p.bind(a, b, left_side=left_side, **params), 0


def _solve_lower(b, a, y, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    if _is_narrow(out.dtype):
        wide = np.dtype(np.float32)
        x = b.fun(triangular_solve, b.convert(a, wide), b.convert(y, wide), left_side=left_side, lower=lower,
                  transpose_a=transpose_a, unit_diagonal=unit_diagonal)[0]
        return b.convert(x, out.dtype)
    conjugate_a = conjugate_a and is_complex(a)
    if conjugate_a and not transpose_a:
        a, conjugate_a = b.fun(lax.conj, a)[0], False
    batch_rank = out.ndim - 2
    if for_platform("triangular_solve", b) == "cpu":
        return lapack(b, "trsm", [a, y], [out], batch_rank=batch_rank, in_place={1: 0},
                      side=letter("L" if left_side else "R"), uplo=letter("L" if lower else "U"),
                      trans_x=letter("C" if conjugate_a else "T" if transpose_a else "N"),
                      diag=letter("U" if unit_diagonal else "N"))[0]
    kind = "ADJOINT" if conjugate_a else "TRANSPOSE" if transpose_a else "NO_TRANSPOSE"
    attrs = (f"{{left_side = {str(left_side).lower()}, lower = {str(lower).lower()}, unit_diagonal = "
             f"{str(unit_diagonal).lower()}, transpose_a = #stablehlo<transpose {kind}>}}")
    return b.emit(f'"stablehlo.triangular_solve"({a}, {y})', a, y, out=out, attrs=attrs)


def _solve_splits(prim, avals, outs, params):
    """As the right-hand sides, of which each is whole: their batch may be split, and which of them there are."""
    a, b = avals
    found = splits.entries(b)
    if any(e is not None for e in (*splits.entries(a)[-2:], found[-2 if params["left_side"] else -1])):
        raise ShardingTypeError(f"{prim.name}: the matrix and each right-hand side must be whole, got {splits.types_text(avals)}; reshard them.")
    return [(*splits.join(prim.name, [x.update(shape=x.shape[:-2], sharding=splits.batch_placement(x)) for x in avals], avals), *found[-2:])]


triangular_solve_p = Primitive("triangular_solve", out_type=_solve_type, jvp=_solve_jvp, transpose=_solve_transpose,
                               batch=_solve_batch, lower=_solve_lower, splits=_solve_splits, traits=Traits(Kind.LIBRARY))


def triangular_solve(a: ArrayLike, b: ArrayLike, *, left_side: bool = False, lower: bool = False, transpose_a: bool = False,
                     conjugate_a: bool = False, unit_diagonal: bool = False) -> Array:
    """Solve ``op(a) x = b`` (``left_side``) or ``x op(a) = b`` for triangular matrices ``a``.

    Args:
      a: ``[..., n, n]``; only its triangle is read.
      b: ``[..., n, k]`` with ``left_side``, else ``[..., k, n]``; a vector ``[..., n]`` if it has one axis less.
      lower: which triangle.
      transpose_a, conjugate_a: what ``op`` does.
      unit_diagonal: take the diagonal to be ones.

    Raises:
      TypeError: dtypes differ or are not float or complex of 16 bits or more. ValueError: shapes do not fit.

    Source: BLAS `trsm`; StableHLO `triangular_solve`.

    >>> lax.linalg.triangular_solve(jnp.array([[2., 0.], [1., 1.]]), jnp.array([[4.], [3.]]), left_side=True, lower=True)
    Array([[2.],
           [1.]], dtype=float32)
    """
    conjugate_a = bool(conjugate_a) and is_complex(a)
    vector = np.ndim(b) == np.ndim(a) - 1
    if vector:
        b = lax.expand_dims(b, (np.ndim(b) if left_side else np.ndim(b) - 1,))
    out = triangular_solve_p.bind(a, b, left_side=flag(left_side), lower=flag(lower), transpose_a=flag(transpose_a),
                                  conjugate_a=conjugate_a, unit_diagonal=flag(unit_diagonal))
    return lax.squeeze(out, (out.ndim - 1 if left_side else out.ndim - 2,)) if vector else out


# -- tridiagonal_solve -----------------------------------------------------------------------------------------------

@as_weak
def _tridiagonal_type(dl, d, du, b, *, perturb_singular=False):
    check_dtype("tridiagonal_solve", dl, d, du, b)
    if not dl.shape == d.shape == du.shape:
        raise TypeError(f"tridiagonal_solve: dl, d and du must have equal shapes, got {dl.shape}, {d.shape} and {du.shape}.")
    if b.ndim != d.ndim + 1 or b.shape[:-1] != d.shape:
        raise TypeError(f"tridiagonal_solve: b must have shape {(*d.shape, 'k')} for diagonals of shape {d.shape}, got "
                        f"{b.shape}.")
    if perturb_singular and d.dtype.kind == "c":
        raise NotImplementedError("tridiagonal_solve: perturb_singular=True is for real matrices")
    return ShapedArray(b.shape, b.dtype)


def _shifted(v, by, axis):
    """``v`` moved along ``axis``, with zeros in the place that becomes free."""
    config = [(0, 0, 0)] * np.ndim(v)
    config[axis] = (by, -by, 0)
    return lax.pad(v, np.zeros((), v.dtype)[()], config)


def _tridiagonal_mm(dl, d, du, x):
    rank = np.ndim(x)
    def wide(v: Array):
        return broadcast_in_dim(v, np.shape(x), tuple(range(rank - 1)))
    below = lax.mul(wide(dl), _shifted(x, 1, rank - 2))
    above = lax.mul(wide(du), _shifted(x, -1, rank - 2))
    return lax.add(lax.add(below, lax.mul(wide(d), x)), above)


def _tridiagonal_jvp(primals, tangents, **params):
    dl, d, du, b = primals
    x = tridiagonal_solve_p.bind(*primals, **params)
    if all(isinstance(t, Zero) for t in tangents):
        return x, Zero.of(x)
    *diagonals, gb = tangents
    right = None if isinstance(gb, Zero) else gb
    if not all(isinstance(t, Zero) for t in diagonals):
        change = lax.neg(_tridiagonal_mm(*map(tangent_of, diagonals), x))
        right = change if right is None else lax.add(right, change)
    return x, tridiagonal_solve_p.bind(dl, d, du, right, **params)


def _tridiagonal_transpose(ct, dl, d, du, b, **params):
    if is_linear(dl) or is_linear(d) or is_linear(du):
        raise NotImplementedError("tridiagonal_solve is linear in its right-hand side only")
    axis = np.ndim(d) - 1
    return None, None, None, tridiagonal_solve_p.bind(_shifted(du, 1, axis), d, _shifted(dl, -1, axis), ct, **params)


def _tridiagonal_lower(b, dl, d, du, y, *, perturb_singular=False):
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    kind, batch_rank, band = for_platform("tridiagonal_solve", b), out.ndim - 2, d.aval
    if kind == "cpu" and perturb_singular:
        return ffi_call(b, "tridiagonal_solve_perturbed_ffi", [dl, d, du, y], [out], batch_rank=batch_rank)[0]
    if kind == "cpu":
        *_, x, info = lapack(b, "gtsv", [dl, d, du, y], [band, band, band, out, info_type(y, batch_rank)],
                             batch_rank=batch_rank, in_place={0: 0, 1: 1, 2: 2, 3: 3})
        return nan_on_failure(b, info, x)[0]
    if kind == "gpu" and perturb_singular:
        return ffi_call(b, gpu_library(b, "_tridiagonal_solve_perturbed"), [dl, d, du, y], [out], batch_rank=batch_rank)[0]
    if kind == "gpu":
        return ffi_call(b, gpu_library(b, "sparse") + "_gtsv2_ffi", [dl, d, du, y], [out], batch_rank=batch_rank,
                        in_place={3: 0})[0]
    return b.fun(_thomas, dl, d, du, y)[0]


def _thomas(dl, d, du, b):
    """Elimination without pivoting, row by row (Thomas's algorithm), for platforms without a library."""
    first = np.ndim(b) - 2
    columns = [moved(lax.expand_dims(v, (v.ndim,)), first, 0) for v in (dl, d, du)]
    rows = moved(b, first, 0)

    def forward(state: PyTree, row: Array):
        above, right = state
        low, mid, up, y = row
        scale = lax.reciprocal(lax.sub(mid, lax.mul(low, above)))
        above, right = lax.mul(up, scale), lax.mul(lax.sub(y, lax.mul(low, right)), scale)
        return (above, right), (above, right)

    def backward(x: Array, row: Array):
        above, right = row
        x = lax.sub(right, lax.mul(above, x))
        return x, x
    start = tuple(zeros(ShapedArray(np.shape(v)[1:], v.dtype)) for v in (columns[0], rows))
    _, eliminated = lax.scan(forward, start, (*columns, rows))
    _, x = lax.scan(backward, start[1], eliminated, reverse=True)
    return [moved(x, 0, first)]


tridiagonal_solve_p: Primitive = Primitive(
    "tridiagonal_solve", out_type=_tridiagonal_type, jvp=_tridiagonal_jvp, transpose=_tridiagonal_transpose,
    batch=batch_rule(lambda *args, **params: tridiagonal_solve_p.bind(*args, **params)), lower=_tridiagonal_lower,
    splits=lambda prim, avals, outs, params: splits.whole_behind(prim, avals, outs, (1, 1, 1, 2)), traits=Traits(Kind.LIBRARY))


def tridiagonal_solve(dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False) -> Array:
    """Solve tridiagonal systems.

    Args:
      dl, d, du: the lower, main and upper diagonals, ``[..., n]`` each; ``dl[0]`` and ``du[n - 1]`` are not read.
      b: right-hand sides, ``[..., n, k]``.
      perturb_singular: put a tiny number in place of a zero pivot (real matrices on CPU).

    Raises:
      TypeError: dtypes differ, or shapes do not fit.

    Source: LAPACK `gtsv`.

    >>> lax.linalg.tridiagonal_solve(jnp.array([0., 1.]), jnp.array([2., 2.]), jnp.array([1., 0.]), jnp.array([[3.], [3.]]))
    Array([[1.],
           [1.]], dtype=float32)
    """
    return tridiagonal_solve_p.bind(dl, d, du, b, perturb_singular=flag(perturb_singular))
