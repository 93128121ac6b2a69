"""LU factors with partial pivoting, and pivots as permutations.

Source: LAPACK `getrf`. Derivative: with P A = L U, L^-1 P dA U^-1 = L^-1 dL + dU U^-1, whose parts are strictly lower and
upper triangular; matrices that are not square are first completed by the identity.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.configuration import flags
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.marks import ZERO
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import broadcast_in_dim
from jax_numpy_api import lax

from .common import (
    as_weak,
    batch_rule,
    check_matrix,
    eye,
    ffi_call,
    first_columns,
    first_rows,
    for_platform,
    gpu_library,
    info_type,
    lapack,
    mm,
    tril,
    triu,
)
from .triangular import triangular_solve_p

# -- lu_pivots_to_permutation ----------------------------------------------------------------------------------------

@as_weak
def _pivots_type(pivots, *, permutation_size):
    if not dtypes.issubdtype(pivots.dtype, np.integer):
        raise TypeError(f"lu_pivots_to_permutation: pivots must be integers, got {pivots.str_short()}.")
    if pivots.ndim < 1 or pivots.shape[-1] > permutation_size:
        raise ValueError(f"lu_pivots_to_permutation: permutation_size={permutation_size} must be at least the number of "
                         f"pivots in {pivots.str_short()}.")
    return ShapedArray((*pivots.shape[:-1], permutation_size), pivots.dtype)


_UNROLLED = 8  # steps; from 16 on XLA's loop is quicker (measured: solve of 16 x 16 takes 10.7 us, unrolled 15.8)


def _swap_all(pivots, *, permutation_size):
    """Where the row at each position comes from: followed back through the swaps, from the last one to the first, which
    is elementwise arithmetic."""
    batch, k = np.shape(pivots)[:-1], np.shape(pivots)[-1]
    shape, axis = (*batch, permutation_size), len(batch)
    positions = lax.broadcasted_iota(pivots.dtype, shape, axis)
    if k == 0 or permutation_size == 0:
        return [positions]

    def before(i, target, row: Array):
        """``row`` before positions ``i`` and ``target`` were swapped."""
        target = broadcast_in_dim(target, shape, tuple(range(axis + 1)))
        return lax.select(lax.eq(row, target), i, lax.select(lax.eq(row, i), target, row))
    if k <= _UNROLLED and not flags.one_form.value:
        for i in reversed(range(k)):
            positions = before(lax.full_like(positions, i), lax.slice_in_dim(pivots, i, i + 1, axis=axis), positions)
        return [positions]

    def step(n: ArrayLike, row: Array):
        i = lax.sub(np.int32(k - 1), lax.convert_element_type(n, np.int32))
        return before(broadcast_in_dim(lax.convert_element_type(i, pivots.dtype), shape, ()),
                      lax.dynamic_slice_in_dim(pivots, i, 1, axis), row)
    return [lax.fori_loop(np.int32(0), np.int32(k), step, positions)]


def _pivots_lower(b, pivots, *, permutation_size):
    if b.platform in ("cuda", "rocm") and pivots.aval.dtype == np.int32 and b.out_avals[0].size:
        return ffi_call(b, gpu_library(b, "_lu_pivots_to_permutation"), [pivots], [b.out_avals[0]],
                        batch_rank=pivots.aval.ndim - 1)[0]
    return b.fun(_swap_all, pivots, permutation_size=permutation_size)[0]


def _pivots_reference(pivots, *, permutation_size):
    batch = np.shape(pivots)[:-1]
    order = np.broadcast_to(np.arange(permutation_size, dtype=pivots.dtype), (*batch, permutation_size)).copy()
    for index in np.ndindex(*batch):
        row = order[index]
        for i, target in enumerate(pivots[index]):
            row[i], row[target] = row[target], row[i]
    return order


lu_pivots_to_permutation_p: Primitive = Primitive(
    "lu_pivots_to_permutation", out_type=_pivots_type, jvp=ZERO,
    transpose=none("pivots are integers and have no derivative"),
    batch=batch_rule(lambda x, **params: lu_pivots_to_permutation_p.bind(x, **params)), lower=_pivots_lower,
    reference=_pivots_reference, splits=splits.leading)


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The permutation that swapping row i with row ``pivots[i]``, for i = 0, 1, ..., makes.

    Args:
      pivots: ``[..., k]`` integers.
      permutation_size: number of rows, at least k.

    Raises:
      TypeError: pivots are not integers. ValueError: too few rows.

    Source: LAPACK `getrf`, its pivots.

    >>> jax.lax.linalg.lu_pivots_to_permutation(jnp.array([1, 1], jnp.int32), 3)
    Array([1, 0, 2], dtype=int32)
    """
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=int(permutation_size))


# -- lu --------------------------------------------------------------------------------------------------------------

@as_weak
def _lu_type(x):
    check_matrix("lu", x)
    *batch, m, n = x.shape
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*batch, min(m, n)), np.int32), ShapedArray((*batch, m), np.int32)]


def permute_rows(x: ArrayLike, order: ArrayLike) -> Any:
    """``x[order]`` for each matrix of a batch."""
    rank = np.ndim(x)
    batch = tuple(range(rank - 2))
    numbers = lax.GatherDimensionNumbers((rank - 1,), (rank - 2,), (rank - 2,), batch, batch)
    return lax.gather(x, lax.expand_dims(order, (np.ndim(order),)), numbers, (*(1 for _ in batch), 1, np.shape(x)[-1]),
                      unique_indices=True, mode="promise_in_bounds")


def _lu_jvp(primals, tangents):
    (x,), (g,) = primals, tangents
    factors, pivots, order = lu_p.bind(x)
    if isinstance(g, Zero) or np.size(x) == 0:
        return [factors, pivots, order], [Zero.of(factors), Zero.of(pivots), Zero.of(order)]
    m, n = np.shape(x)[-2:]
    lower, upper = _completed(factors, m, n)
    solve = dict(transpose_a=False, conjugate_a=False)
    inner = triangular_solve_p.bind(lower, permute_rows(g, order), left_side=True, lower=True, unit_diagonal=True, **solve)
    inner = triangular_solve_p.bind(upper, inner, left_side=False, lower=False, unit_diagonal=False, **solve)
    change = lax.add(mm(lower, tril(inner, -1)), mm(triu(inner), upper))
    return [factors, pivots, order], [change, Zero.of(pivots), Zero.of(order)]


def _completed(factors, m, n):
    """The square matrices L ``[m, m]`` and U ``[n, n]``, with the identity where the factors have nothing."""
    rank, k = np.ndim(factors), min(m, n)
    zero = np.zeros((), factors.dtype)[()]

    def grow(a: Array, size: int):
        config = [(0, 0, 0)] * (rank - 2) + [(0, size - s, 0) for s in np.shape(a)[-2:]]
        rest = lax.sub(eye(size, a), lax.pad(eye(k, a), zero, [(0, 0, 0)] * (rank - 2) + [(0, size - k, 0)] * 2))
        return lax.add(lax.pad(a, zero, config), rest)
    lower = lax.add(tril(first_columns(factors, k), -1), eye(m, factors, k))
    return grow(lower, m), grow(triu(first_rows(factors, k)), n)


def _lu_lower(b, x):
    out, pivot_type, order_type = b.out_avals
    if x.aval.size == 0:
        m = order_type.shape[-1]
        order = b.fun(lambda: [lax.broadcasted_iota(np.int32, order_type.shape, len(order_type.shape) - 1)])[0]
        return [b.full(0, out), b.full(0, pivot_type), order if m else b.full(0, order_type)]
    kind, batch_rank = for_platform("lu", b), x.aval.ndim - 2
    if kind == "cpu":
        factors, pivots, info = lapack(b, "getrf", [x], [out, pivot_type, info_type(x, batch_rank)], batch_rank=batch_rank,
                                       in_place={0: 0})
    elif kind == "gpu":
        factors, pivots, info = ffi_call(b, gpu_library(b) + "_getrf_ffi", [x], [out, pivot_type, info_type(x, batch_rank)],
                                         batch_rank=batch_rank, in_place={0: 0})
    else:
        factors, pivots, order = b.custom_call("LuDecomposition", x, out=[out, pivot_type, order_type], api_version=1,
                                               backend_config="")
        return [factors, pivots, order]
    return b.fun(_finish, factors, pivots, info, rows=order_type.shape[-1])


def _finish(factors, pivots, info, *, rows):
    """Pivots from zero; NaN where an argument was not valid (a singular matrix is no failure)."""
    pivots = lax.sub(pivots, lax.full_like(pivots, 1))
    ok = lax.ge(info, lax.full_like(info, 0))
    nan = lax.full_like(factors, np.nan)
    factors = lax.select(broadcast_in_dim(ok, np.shape(factors), tuple(range(np.ndim(ok)))), factors, nan)
    return [factors, pivots, lu_pivots_to_permutation(pivots, rows)]


lu_p: Primitive = Primitive("lu", multiple_results=True, out_type=_lu_type, jvp=_lu_jvp,
                 transpose=none("lu is not linear, so it has no transpose"),
                 batch=batch_rule(lambda x: lu_p.bind(x)), lower=_lu_lower, traits=Traits(Kind.LIBRARY))


def lu(x: ArrayLike) -> list[Any]:
    """LU factors with partial pivoting.

    Args:
      x: matrices ``[..., m, n]``.

    Returns:
      a list: both factors in one array ``[..., m, n]`` (ones on the diagonal of L are left out), the pivots
      ``[..., min(m, n)]``, and the permutation ``[..., m]`` with ``x[permutation] = L @ U``.

    Raises:
      TypeError: fewer than two axes, or not a dtype of LAPACK.

    Source: LAPACK `getrf`.

    >>> lax.linalg.lu(jnp.array([[0., 1.], [2., 0.]]))[2]
    Array([1, 0], dtype=int32)
    """
    return lu_p.bind(x)
