"""Products of the rows of groups with a matrix for each group, on TPUs: what mixtures of experts are made of.

Rows are sorted by group, and groups end anywhere. A step takes one tile of rows for one group: a tile that several groups share is taken once
for each, one after the other, and each stores its own rows. Which step takes what is computed before the kernel and fetched as scalars, and
how many steps there are is known at run time.

Source: Gale, Narayanan, Young, Zaharia, "MegaBlocks: efficient sparse training with mixture-of-experts", MLSys 2023.
"""
from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

import numpy as np

from jax_core.programs.jit import jit
from jax_core.representation.aval import ShapeDtypeStruct
from jax_core.representation.typing import Array, DTypeLike
from jax_core.transformations.custom_vjp import custom_vjp

from .. import lax, numpy as jnp
from ..pallas.call import pallas_call
from ..pallas.control import cdiv, when
from ..pallas.grid import num_programs, program_id
from ..pallas.spaces import VMEM
from ..pallas.specs import BlockSpec, CostEstimate, PrefetchScalarGridSpec
from ..pallas.tpu import CompilerParams

Tiling = tuple[int, int, int] | Callable[[int, int, int], tuple[int, int, int] | None] | None
_LAST_WITH_LAST, _FIRST_WITH_FIRST = (((1,), (1,)), ((), ())), (((1,), (0,)), ((), ()))


def make_group_metadata(*, group_sizes: Array, m: int, tm: int, start_group: Array, num_nonzero_groups: int,
                        visit_empty_groups: bool = True) -> tuple[tuple[Array, Array, Array], Array]:
    """Which step takes what.

    Args:
      group_sizes: rows of each group, ``int32[groups]``.
      m, tm: the number of all rows, and of those in a tile.
      start_group, num_nonzero_groups: the first group that is taken, and how many.
      visit_empty_groups: whether a group without rows has a step.

    Returns:
      the first row of each group and their end; the group and the tile of each step; and how many steps there are.

    >>> from jax.experimental.pallas.ops.tpu.megablox.gmm import make_group_metadata
    >>> (rows, group, tile), steps = make_group_metadata(group_sizes=jnp.array([3, 5]), m=8, tm=4, start_group=jnp.int32(0), num_nonzero_groups=2)
    >>> rows, group, tile, steps
    (Array([0, 3, 8], dtype=int32), Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32), Array(3, dtype=int32))
    """
    groups, tiles = group_sizes.shape[0], m // tm
    ends = jnp.cumsum(group_sizes).astype(np.int32)
    offsets = jnp.concatenate([jnp.zeros(1, np.int32), ends])
    first_tiles = offsets[:-1] // tm
    counts = jnp.where(group_sizes == 0, int(visit_empty_groups), (ends + (tm - 1)) // tm - first_tiles)
    number = jnp.arange(groups, dtype=np.int32)
    counts = jnp.where((number >= start_group) & (number < start_group + num_nonzero_groups), counts, 0).astype(np.int32)
    length = tiles + groups - 1  # each group but the first shares at most one tile with the one before
    taken = jnp.repeat(number, counts, total_repeat_length=length)
    first_steps = jnp.cumsum(counts) - counts
    tile = first_tiles[taken] + jnp.arange(length, dtype=np.int32) - first_steps[taken]
    return (offsets, taken, jnp.clip(tile, 0, tiles - 1).astype(np.int32)), counts.sum()


def _rows(offsets, group, tile, shape, axis):
    """Which rows of a tile, along ``axis`` of ``shape``, are of the group."""
    row = tile * shape[axis] + lax.broadcasted_iota(np.int32, shape, axis)
    return (row >= offsets[group]) & (row < offsets[group + 1])


def _inside(x, axis, start, length):
    """``x`` with zeros where it runs over the end of the array along ``axis``."""
    here = start + lax.broadcasted_iota(np.int32, x.shape, axis) < length
    return jnp.where(here, x, jnp.zeros_like(x))


def _sizes(tiling, m, k, n):
    found = tiling(m, k, n) if callable(tiling) else tiling
    if found is None:
        raise ValueError(f"gmm: no tiling for the sizes m={m}, k={k}, n={n}.")
    tm, tk, tn = found
    if m % tm:
        raise ValueError(f"gmm: {m} rows are no whole number of tiles of {tm} rows; choose another tiling.")
    return tm, min(tk, k), min(tn, n)


def _checked(lhs, rhs, group_sizes, group_offset, axes):
    for name, x, ndim in (("lhs", lhs, 2), ("rhs", rhs, axes)):
        if x.ndim != ndim:
            raise ValueError(f"gmm: {name} must have {ndim} axes, got shape {x.shape}.")
        if x.dtype not in (np.dtype(np.float32), jnp.dtype("bfloat16")):
            raise ValueError(f"gmm: {name} must be float32 or bfloat16, got {x.dtype.name}.")
    if group_sizes.ndim != 1 or group_sizes.dtype not in (np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32)):
        raise ValueError(f"gmm: group_sizes must be a vector of integers, got {group_sizes.dtype.name}{list(group_sizes.shape)}.")
    if group_offset is not None and jnp.shape(group_offset) != ():
        raise ValueError(f"gmm: group_offset must be an integer scalar, got shape {jnp.shape(group_offset)}.")
    return group_sizes.astype(np.int32), jnp.asarray(0 if group_offset is None else group_offset).astype(np.int32)


def _cost(m, k, n, *moved):
    """The arithmetic of all rows; ``moved``: the arrays that are read and written."""
    return CostEstimate(flops=2 * m * k * n, transcendentals=0, bytes_accessed=sum(math.prod(x.shape) * x.dtype.itemsize for x in moved))


def _scalars(offsets, taken, tiles, offset):
    return offsets, taken, tiles, offset.reshape(1)


# -- rows times matrices ---------------------------------------------------------------------------------------------------

def _gmm_kernel(offsets, taken, tiles, offset, lhs, rhs, before, out, sums, *, k, transposed):
    step, part = program_id(1), program_id(2)
    group, tile = taken[step], tiles[step]

    @when(part == 0)
    def _():
        sums[...] = jnp.zeros(sums.shape, sums.dtype)
    x, y, tk = lhs[...], rhs[...], lhs.shape[1]
    if k % tk:
        x, y = _inside(x, 1, part * tk, k), _inside(y, 1 if transposed else 0, part * tk, k)
    sums[...] += lax.dot_general(x, y, _LAST_WITH_LAST if transposed else _FIRST_WITH_FIRST, preferred_element_type=np.float32)

    @when(part == num_programs(2) - 1)
    def _():
        mine, product = _rows(offsets, group, tile, out.shape, 0), sums[...].astype(out.dtype)
        first = (step == 0) | (tile != tiles[jnp.maximum(step - 1, 0)])

        @when(first)
        def _():
            out[...] = jnp.where(mine, product, before[0][...] if before else jnp.zeros_like(product))

        @when(~first)
        def _():
            out[...] = jnp.where(mine, product, out[...])


@partial(jit, static_argnames=("preferred_element_type", "tiling", "transpose_rhs", "interpret"))
def gmm(lhs: Array, rhs: Array, group_sizes: Array, preferred_element_type: DTypeLike = np.float32, tiling: Tiling = (128, 128, 128),
        group_offset: Array | None = None, existing_out: Array | None = None, transpose_rhs: bool = False, interpret: bool = False) -> Array:
    """The rows of each group times its matrix: ``lhs[rows of g] @ rhs[g]``.

    Args:
      lhs: ``[m, k]``, rows sorted by group; float32 or bfloat16.
      rhs: ``[groups, k, n]``, or ``[groups, n, k]`` with ``transpose_rhs``.
      group_sizes: how many rows each group has, ``int32[all groups]``. What rows after the last group get is not specified.
      preferred_element_type: dtype of the result; sums are float32.
      tiling: rows, inner and outer columns of a step; or a function of ``m, k, n`` that returns them. The first divides ``m``.
      group_offset: which of all groups ``rhs[0]`` is for, where ``rhs`` has a part of them. Rows of the others get zeros.
      existing_out: an array like the result; what those rows get instead.
      interpret: as for `pallas_call`.

    Returns:
      ``[m, n]``.

    Raises:
      ValueError: shapes, dtypes or a tiling that do not fit.

    >>> from jax.experimental.pallas.ops.tpu.megablox.gmm import gmm
    >>> rows, matrices = jnp.ones((16, 4)), jnp.stack([jnp.eye(4), 2 * jnp.eye(4)])
    >>> gmm(rows, matrices, jnp.array([6, 10]), tiling=(8, 4, 4), interpret=True)[4:8, 0]
    Array([1., 1., 2., 2.], dtype=float32)
    """
    group_sizes, offset = _checked(lhs, rhs, group_sizes, group_offset, 3)
    (m, k), own = lhs.shape, rhs.shape[0]
    n, inner = (rhs.shape[1], rhs.shape[2]) if transpose_rhs else (rhs.shape[2], rhs.shape[1])
    if inner != k:
        raise ValueError(f"gmm: lhs {lhs.shape} has {k} columns, and the matrices of rhs {rhs.shape} have {inner} rows.")
    tm, tk, tn = _sizes(tiling, m, k, n)
    metadata, steps = make_group_metadata(group_sizes=group_sizes, m=m, tm=tm, start_group=offset, num_nonzero_groups=own, visit_empty_groups=False)
    place = lambda j, i, part, offsets, taken, tiles, first: (tiles[i], j)
    group = lambda j, i, part, offsets, taken, tiles, first: (taken[i] - first[0], *((j, part) if transpose_rhs else (part, j)))
    before = () if existing_out is None else (existing_out,)
    out_spec = BlockSpec((tm, tn), place)
    spec = PrefetchScalarGridSpec(
        4, (cdiv(n, tn), steps, cdiv(k, tk)),
        [BlockSpec((tm, tk), lambda j, i, part, offsets, taken, tiles, first: (tiles[i], part)),
         BlockSpec((None, tn, tk) if transpose_rhs else (None, tk, tn), group), tuple(out_spec for _ in before)],
        out_spec, [VMEM((tm, tn), np.float32)])
    shape = ShapeDtypeStruct((m, n), np.dtype(preferred_element_type))
    kernel = pallas_call(partial(_gmm_kernel, k=k, transposed=transpose_rhs), shape, grid_spec=spec, name="gmm", interpret=interpret,
                         input_output_aliases={6: 0} if before else {}, cost_estimate=_cost(m, k, n, lhs, rhs, shape),
                         compiler_params=CompilerParams(dimension_semantics=("parallel", "arbitrary", "arbitrary")))
    out = kernel(*_scalars(*metadata, offset), lhs, rhs, before)
    if own == group_sizes.shape[0] or before:
        return out
    offsets, row = metadata[0], jnp.arange(m)[:, None]
    return jnp.where((row >= offsets[offset]) & (row < offsets[offset + own]), out, jnp.zeros((), out.dtype))


# -- columns times rows ------------------------------------------------------------------------------------------------------

def _tgmm_kernel(offsets, taken, tiles, offset, lhs, rhs, before, out, sums):
    step = program_id(2)
    group = taken[step]
    first = (step == 0) | (group != taken[jnp.maximum(step - 1, 0)])
    last = (step == num_programs(2) - 1) | (group != taken[jnp.minimum(step + 1, num_programs(2) - 1)])

    @when(first)
    def _():
        sums[...] = jnp.zeros(sums.shape, sums.dtype)

    @when(offsets[group + 1] > offsets[group])
    def _():
        x, y = lhs[...], rhs[...]
        x = jnp.where(_rows(offsets, group, tiles[step], x.shape, 1), x, jnp.zeros_like(x))
        y = jnp.where(_rows(offsets, group, tiles[step], y.shape, 0), y, jnp.zeros_like(y))  # both, as 0 times NaN is NaN
        sums[...] += jnp.dot(x, y, preferred_element_type=np.float32)

    @when(last)
    def _():
        product = sums[...].astype(out.dtype)
        out[...] = before[0][...] + product if before else product


@partial(jit, static_argnames=("preferred_element_type", "tiling", "num_actual_groups", "interpret"))
def tgmm(lhs: Array, rhs: Array, group_sizes: Array, preferred_element_type: DTypeLike = np.float32, tiling: Tiling = (128, 128, 128),
         group_offset: Array | None = None, num_actual_groups: int | None = None, existing_out: Array | None = None, interpret: bool = False) -> Array:
    """A matrix for each group, from its columns and rows: ``lhs[:, g] @ rhs[g, :]``; the derivative of `gmm` by its matrices.

    Args:
      lhs, rhs: ``[k, m]`` and ``[m, n]``, columns and rows sorted by group.
      group_offset, num_actual_groups: the first group that is computed, and how many; by default all.
      existing_out: what is added to the result.
      group_sizes, preferred_element_type, tiling, interpret: as for `gmm`.

    Returns:
      ``[num_actual_groups, k, n]``.

    Raises:
      ValueError: as for `gmm`.

    >>> from jax.experimental.pallas.ops.tpu.megablox.gmm import tgmm
    >>> tgmm(jnp.ones((4, 16)), jnp.ones((16, 2)), jnp.array([6, 10]), tiling=(8, 4, 2), interpret=True)[:, 0, 0]
    Array([ 6., 10.], dtype=float32)
    """
    group_sizes, offset = _checked(lhs, rhs, group_sizes, group_offset, 2)
    (k, m), n = lhs.shape, rhs.shape[1]
    if rhs.shape[0] != m:
        raise ValueError(f"tgmm: lhs {lhs.shape} has {m} columns, and rhs {rhs.shape} has {rhs.shape[0]} rows.")
    tm, tk, tn = _sizes(tiling, m, k, n)
    own = group_sizes.shape[0] if num_actual_groups is None else num_actual_groups
    metadata, steps = make_group_metadata(group_sizes=group_sizes, m=m, tm=tm, start_group=offset, num_nonzero_groups=own, visit_empty_groups=True)
    before = () if existing_out is None else (existing_out,)
    out_spec = BlockSpec((None, tk, tn), lambda j, part, i, offsets, taken, tiles, first: (taken[i] - first[0], part, j))
    spec = PrefetchScalarGridSpec(
        4, (cdiv(n, tn), cdiv(k, tk), steps),
        [BlockSpec((tk, tm), lambda j, part, i, offsets, taken, tiles, first: (part, tiles[i])),
         BlockSpec((tm, tn), lambda j, part, i, offsets, taken, tiles, first: (tiles[i], j)), tuple(out_spec for _ in before)],
        out_spec, [VMEM((tk, tn), np.float32)])
    shape = ShapeDtypeStruct((own, k, n), np.dtype(preferred_element_type))
    kernel = pallas_call(_tgmm_kernel, shape, grid_spec=spec, name="tgmm", interpret=interpret, input_output_aliases={6: 0} if before else {},
                         cost_estimate=_cost(m, k, n, lhs, rhs, shape),
                         compiler_params=CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")))
    return kernel(*_scalars(*metadata, offset), lhs, rhs, before)


# -- with derivatives ----------------------------------------------------------------------------------------------------------

@partial(custom_vjp, nondiff_argnums=(3, 4, 7, 8))
def gmm_with_derivatives(lhs: Array, rhs: Array, group_sizes: Array, preferred_element_type: DTypeLike = np.float32, tiling: Tiling = (128, 128, 128),
                         group_offset: Array | None = None, existing_out: Array | None = None, transpose_rhs: bool = False,
                         interpret: bool = False) -> Array:
    """`gmm`, differentiable in ``lhs`` and ``rhs``.

    >>> from jax.experimental.pallas.ops.tpu.megablox import gmm
    >>> def loss(rows):
    ...     return gmm(rows, jnp.ones((2, 4, 4)), jnp.array([6, 10]), jnp.float32, (8, 4, 4), None, None, False, True).sum()
    >>> jax.grad(loss)(jnp.ones((16, 4)))[0]
    Array([4., 4., 4., 4.], dtype=float32)
    """
    return gmm(lhs, rhs, group_sizes, preferred_element_type, tiling, group_offset, existing_out, transpose_rhs, interpret)


def _fwd(lhs, rhs, group_sizes, preferred_element_type, tiling, group_offset, existing_out, transpose_rhs, interpret):
    out = gmm(lhs, rhs, group_sizes, preferred_element_type, tiling, group_offset, existing_out, transpose_rhs, interpret)
    return out, (lhs, rhs, group_sizes, group_offset)


def _bwd(preferred_element_type: Any, tiling: Any, transpose_rhs: bool, interpret: bool, kept: Any, ct: Array) -> tuple:
    lhs, rhs, group_sizes, group_offset = kept
    d_lhs = gmm(ct, rhs, group_sizes, lhs.dtype, tiling, group_offset, None, not transpose_rhs, interpret)
    d_rhs = tgmm(lhs.T, ct, group_sizes, rhs.dtype, tiling, group_offset, rhs.shape[0], None, interpret)
    return d_lhs, d_rhs.swapaxes(1, 2) if transpose_rhs else d_rhs, None, None, None


gmm_with_derivatives.defvjp(_fwd, _bwd)
