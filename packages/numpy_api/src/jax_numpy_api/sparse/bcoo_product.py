"""Products of BCOO arrays: with dense and with sparse arrays, contracted, sampled, elementwise, and convolved.

A stored element of the sparse operand meets the part of the dense operand that its coordinates name, and the product is
added where its other coordinates say. Two sparse operands meet element by element: every pair that agrees in the
contracted coordinates makes one stored element of the result.
"""
from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation.arguments import takes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement

from .. import lax, numpy as jnp
from ..named import named
from .bcoo import BCOO, bcoo_sum_duplicates, bcoo_update_layout, full_batch, parts
from .bcoo_shape import bcoo_broadcast_in_dim
from .util import broadcasting_vmap, collected, columns, nfold_vmap, require_none, stored_where, valid

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike

    from ..lax.dot import DotDimensionNumbers


def _numbers(dimension_numbers):
    return tuple(tuple(tuple(map(operator.index, d)) for d in pair) for pair in dimension_numbers)


def _out_dtype(lhs, rhs, preferred):
    return np.dtype(jnp.result_type(lhs, rhs) if preferred is None else preferred)


# -- sparse times dense --------------------------------------------------------------------------------------------------

def _product_one(data, indices, rhs, *, joined, n_contract, free, shape, dtype):
    """One batch. ``joined`` are the sparse axes that meet the first axes of ``rhs``; the last ``n_contract`` of them are
    summed. Result axes: those that are joined and kept, ``free``, dense axes, the other axes of ``rhs``."""
    data, rhs = data.astype(dtype), rhs.astype(dtype)
    n_rest = rhs.ndim - len(joined)
    if joined:
        picked = rhs.at[columns(indices, joined)].get(mode="fill", fill_value=0)
    else:
        picked = jnp.broadcast_to(rhs, (data.shape[0], *rhs.shape))
    target = (*joined[:len(joined) - n_contract], *free)
    if not target:
        inside = valid(indices, shape).reshape(-1, *(1,) * (data.ndim - 1))
        return jnp.tensordot(stored_where(inside, data), picked, axes=(0, 0), preferred_element_type=dtype)
    terms = data[(..., *(None,) * n_rest)] * picked[(slice(None), *(None,) * (data.ndim - 1))]
    out = jnp.zeros((*(shape[d] for d in target), *terms.shape[1:]), dtype)
    return collected(out, columns(indices, target), terms)


def _dot(data, indices, rhs, *, lhs_spinfo, dimension_numbers, preferred_element_type):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    shape, n_batch, n_sparse = lhs_spinfo.shape, indices.ndim - 2, indices.shape[-1]
    partner = dict(zip((*lhs_contract, *lhs_batch), (*rhs_contract, *rhs_batch)))
    points = range(n_batch, n_batch + n_sparse)
    kept, summed = [d for d in lhs_batch if d in points], [d for d in lhs_contract if d in points]
    mapped = [d for d in range(n_batch) if d in partner]
    lead = [partner[d] for d in (*mapped, *kept, *summed)]
    rest = [d for d in range(rhs.ndim) if d not in lead]
    rhs = rhs.transpose([*lead, *rest])
    free = [d for d in points if d not in partner]
    dtype = _out_dtype(data, rhs, preferred_element_type)

    def fun(data: ArrayLike, indices: ArrayLike, rhs):
        return _product_one(data, indices, rhs, joined=[d - n_batch for d in (*kept, *summed)], n_contract=len(summed),
                            free=[d - n_batch for d in free], shape=shape[n_batch:n_batch + n_sparse], dtype=dtype)
    for d in reversed(range(n_batch)):
        fun = broadcasting_vmap(fun, in_axes=(0, 0, 0 if d in partner else None))
    out = fun(data, indices, rhs)
    dense = range(n_batch + n_sparse, len(shape))
    axes = [*range(n_batch), *kept, *free, *dense]  # what the axes of `out` are axes of, before those of rhs
    full = [shape[d] for d in axes] + list(out.shape[len(axes):])
    out = jnp.broadcast_to(out, full)
    gone = tuple(k for k, d in enumerate(axes) if d in lhs_contract)
    out = jnp.sum(out, gone, dtype=dtype) if gone else out
    axes = [d for d in axes if d not in lhs_contract]
    order = [*lhs_batch, *(d for d in axes if d not in lhs_batch)]
    return out.transpose([*(axes.index(d) for d in order), *range(len(axes), out.ndim)])


bcoo_dot_general_p = named("bcoo_dot_general", _dot)


def bcoo_dot_general(lhs: BCOO | ArrayLike, rhs: BCOO | ArrayLike, *, dimension_numbers: DotDimensionNumbers, precision: PrecisionLike = None,
                     preferred_element_type: DTypeLike | None = None, out_sharding: Placement | None = None) -> Any:
    """`lax.dot_general` where one operand, or both, are BCOO.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: ``((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))``.
      precision: lower bounds are met by all, as products are computed in full.
      preferred_element_type: dtype to sum in and of the result.

    Returns:
      a dense array if one operand is dense, else BCOO.

    Raises:
      TypeError, ValueError: as for `lax.dot_general`.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_dot_general(sparse.eye(2), jnp.array([3.0, 4.0]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([3., 4.], dtype=float32)
    """
    require_none("bcoo_dot_general", out_sharding=out_sharding)
    numbers = _numbers(dimension_numbers)
    preferred = None if preferred_element_type is None else np.dtype(preferred_element_type)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    lhs, rhs = [x if isinstance(x, BCOO) else jnp.asarray(x) for x in (lhs, rhs)]
    _check(np.shape(lhs), np.shape(rhs), numbers)
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        return _sparse_dot(lhs, rhs, numbers, preferred)
    if isinstance(lhs, BCOO):
        first_dense = lhs.n_batch + lhs.n_sparse
        if any(d >= first_dense for d in (*lhs_contract, *lhs_batch)):
            lhs = bcoo_update_layout(lhs, n_dense=0)
        return bcoo_dot_general_p.bind(lhs.data, lhs.indices, rhs, lhs_spinfo=lhs._info, dimension_numbers=numbers,
                                       preferred_element_type=preferred)
    if not isinstance(rhs, BCOO):
        return lax.dot_general(lhs, rhs, numbers, precision=precision, preferred_element_type=preferred)
    swapped = bcoo_dot_general(rhs, lhs, dimension_numbers=((rhs_contract, lhs_contract), (rhs_batch, lhs_batch)),
                               preferred_element_type=preferred)
    n, own = len(lhs_batch), rhs.ndim - len(rhs_contract) - len(rhs_batch)
    return jnp.moveaxis(swapped, range(n, n + own), range(swapped.ndim - own, swapped.ndim))


def _check(lhs, rhs, numbers):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    for what, a, b in (("contracting", lhs_contract, rhs_contract), ("batch", lhs_batch, rhs_batch)):
        if not (all(0 <= d < len(lhs) for d in a) and all(0 <= d < len(rhs) for d in b)):
            raise TypeError(f"bcoo_dot_general: {what} dimensions {a} and {b} must be axes of the shapes {lhs} and {rhs}")
        if len(a) != len(b) or [lhs[d] for d in a] != [rhs[d] for d in b]:
            raise TypeError(f"bcoo_dot_general: {what} dimensions {a} of shape {lhs} and {b} of shape {rhs} must have equal "
                            "lengths")


# -- sampled products ----------------------------------------------------------------------------------------------------

def _sampled(A, B, indices, *, dimension_numbers):
    (contract_a, contract_b), (batch_a, batch_b) = dimension_numbers
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    free_a = [d for d in range(A.ndim) if d not in (*contract_a, *batch_a)]
    free_b = [d for d in range(B.ndim) if d not in (*contract_b, *batch_b)]
    A, B = A.transpose([*batch_a, *free_a, *contract_a]), B.transpose([*batch_b, *free_b, *contract_b])
    n_dot, k = len(batch_a), len(contract_a)
    if n_batch > n_dot or n_sparse + n_batch != n_dot + len(free_a) + len(free_b):
        full = lax.dot_general(A, B, (((*range(A.ndim - k, A.ndim),), (*range(B.ndim - k, B.ndim),)),
                                      ((*range(n_dot),), (*range(n_dot),))))
        return nfold_vmap(lambda i, x: _elements(x, i, range(n_sparse)), n_batch)(indices, full)

    def one(indices, a: Array, b: Array):
        shared = n_dot - n_batch
        rows = _elements(a, indices, range(shared + len(free_a)))
        cols = _elements(b, indices, (*range(shared), *range(shared + len(free_a), n_sparse)))
        return jnp.sum(rows * cols, tuple(range(1, rows.ndim)), dtype=jnp.result_type(rows, cols))
    return nfold_vmap(one, n_batch)(indices, A, B)


def _elements(x, indices, which):
    """``x`` at the given columns of ``indices``; where there are none, ``x`` for each row."""
    if not len(which):
        return jnp.broadcast_to(x, (len(indices), *x.shape))
    return x.at[columns(indices, which)].get(mode="fill", fill_value=0)


bcoo_dot_general_sampled_p = named("bcoo_dot_general_sampled", _sampled)


def bcoo_dot_general_sampled(A: ArrayLike, B: ArrayLike, indices: ArrayLike, *,
                             dimension_numbers: DotDimensionNumbers) -> Array:
    """The elements at ``indices`` (..., nse, n_sparse) of ``lax.dot_general(A, B, dimension_numbers)``, and no others.

    >>> from jax.experimental import sparse
    >>> where = jnp.array([[0, 1]])
    >>> sparse.bcoo_dot_general_sampled(jnp.ones((2, 3)), jnp.ones((3, 2)), where, dimension_numbers=(((1,), (0,)), ((), ())))
    Array([3.], dtype=float32)
    """
    numbers = _numbers(dimension_numbers)
    A, B = jnp.asarray(A), jnp.asarray(B)
    _check(A.shape, B.shape, numbers)
    return bcoo_dot_general_sampled_p.bind(A, B, jnp.asarray(indices), dimension_numbers=numbers)


# -- sparse times sparse -------------------------------------------------------------------------------------------------

def _pairs(lhs_data, lhs_indices, rhs_data, rhs_indices, *, lhs_spinfo, rhs_spinfo, joined, n_contract, dtype):
    """All pairs of elements that agree in the ``joined`` coordinates; the last ``n_contract`` of these are dropped."""
    n_batch = lhs_indices.ndim - 2
    lhs_shape, rhs_shape = lhs_spinfo.shape[n_batch:], rhs_spinfo.shape[n_batch:]
    lhs_joined, rhs_joined = [d for d, _ in joined], [d for _, d in joined]
    lhs_free = [d for d in range(len(lhs_shape)) if d not in lhs_joined]
    rhs_free = [d for d in range(len(rhs_shape)) if d not in rhs_joined]
    kept = lhs_joined[:len(joined) - n_contract]
    corner = [*(lhs_shape[d] for d in (*kept, *lhs_free)), *(rhs_shape[d] for d in rhs_free)]

    def one(x: Array, i, y: Array, j):
        meet = (valid(i, lhs_shape)[:, None] & valid(j, rhs_shape)[None]
                & jnp.all(i[:, None, np.asarray(lhs_joined, int)] == j[None, :, np.asarray(rhs_joined, int)], axis=-1))
        data = stored_where(meet, x.astype(dtype)[:, None] * y.astype(dtype)[None])
        n, m = meet.shape
        index = jnp.concatenate([jnp.broadcast_to(i[:, None, np.asarray([*kept, *lhs_free], int)], (n, m, len(kept) + len(lhs_free))),
                                 jnp.broadcast_to(j[None, :, np.asarray(rhs_free, int)], (n, m, len(rhs_free)))], -1)
        index = jnp.where(meet[..., None], index, jnp.asarray(corner, index.dtype))
        return data.reshape(n * m), index.reshape(n * m, len(corner))
    return nfold_vmap(one, n_batch)(lhs_data, lhs_indices, rhs_data, rhs_indices)


bcoo_spdot_general_p = named("bcoo_spdot_general", _pairs, multiple_results=True)


def _sparse_dot(lhs, rhs, numbers, preferred):
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    lhs, rhs = (bcoo_update_layout(m, n_dense=0) if m.n_dense else m for m in (lhs, rhs))
    n = len(lhs_batch)
    if not (lhs_batch == rhs_batch == tuple(range(n)) and lhs.n_batch == rhs.n_batch == n):
        lhs, rhs, n = bcoo_update_layout(lhs, n_batch=0), bcoo_update_layout(rhs, n_batch=0), 0
    dtype = _out_dtype(lhs.data, rhs.data, preferred)
    joined = tuple((a - n, b - n) for a, b in ((*zip(lhs_batch, rhs_batch), *zip(lhs_contract, rhs_contract))) if a >= n)
    n_contract = len(lhs_contract)
    data, indices = bcoo_spdot_general_p.bind(lhs.data, lhs.indices, rhs.data, rhs.indices, lhs_spinfo=lhs._info,
                                              rhs_spinfo=rhs._info, joined=joined, n_contract=n_contract, dtype=dtype)
    shape = (*(lhs.shape[d] for d in lhs_batch),
             *(s for d, s in enumerate(lhs.shape) if d not in (*lhs_contract, *lhs_batch)),
             *(s for d, s in enumerate(rhs.shape) if d not in (*rhs_contract, *rhs_batch)))
    out = BCOO((data, indices), shape=shape)
    few = math.prod(parts(out)[1])
    return bcoo_sum_duplicates(out, few) if few < out.nse else out


# -- elementwise ---------------------------------------------------------------------------------------------------------

@takes(sp_mat=BCOO)
def bcoo_multiply_dense(sp_mat: BCOO, v: ArrayLike) -> Array:
    """The data of ``sp_mat * v``, for a dense ``v`` that can be broadcast to the shape of ``sp_mat``.

    Raises:
      ValueError: shapes that do not fit; NotImplementedError: ``v`` is larger than ``sp_mat``.

    >>> from jax.experimental import sparse
    >>> sparse.bcoo_multiply_dense(sparse.eye(2), jnp.array([3.0, 4.0]))
    Array([3., 4.], dtype=float32)
    """
    v = jnp.asarray(v)
    if v.ndim > sp_mat.ndim or any(n not in (1, m) for n, m in zip(v.shape[::-1], sp_mat.shape[::-1])):
        larger = jnp.broadcast_shapes(v.shape, sp_mat.shape)  # raises ValueError if they do not fit at all
        raise NotImplementedError(f"bcoo_multiply_dense: the product of {sp_mat} and an array of shape {v.shape} has the shape "
                                  f"{larger}; broadcast the sparse operand first, with bcoo_broadcast_in_dim")
    v = v.reshape((1,) * (sp_mat.ndim - v.ndim) + v.shape)
    n_sparse = sp_mat.n_sparse

    def one(data: Array, indices: Array, v: Array):
        varies = [d for d in range(n_sparse) if v.shape[d] != 1]
        block = v.reshape(*(v.shape[d] for d in varies), *v.shape[n_sparse:])
        if not varies:
            return data * block[None]
        return data * block.at[columns(indices, varies)].get(mode="fill", fill_value=0)
    return nfold_vmap(one, sp_mat.n_batch)(sp_mat.data, sp_mat.indices, v)


def _looked_up(lhs_data, lhs_indices, rhs_data, rhs_indices, *, rhs_spinfo):
    """For each element of the left side the sum of those of the right side at its point, times itself."""
    n_batch = lhs_indices.ndim - 2
    shape = rhs_spinfo.shape[n_batch:n_batch + lhs_indices.shape[-1]]
    varies = np.asarray([d for d, n in enumerate(shape) if n != 1], int)

    def one(x: Array, i, y: Array, j):
        meet = jnp.all(i[:, None, varies] == j[None][..., varies], axis=-1) & valid(j, shape)[None]
        meet = meet.reshape(*meet.shape, *(1,) * (y.ndim - 1))
        return x * jnp.sum(stored_where(meet, y[None]), 1, dtype=y.dtype)  # no product, as an infinity by 0 is NaN
    return nfold_vmap(one, n_batch)(lhs_data, lhs_indices, rhs_data, rhs_indices)


@takes(lhs=BCOO, rhs=BCOO)
def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The elementwise product of two BCOO arrays, which are broadcast; the result stores elements where one operand does.

    Raises:
      ValueError: shapes that do not fit. NotImplementedError: each operand is longer along some axis.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[2.0, 3.0], [0.0, 5.0]]))
    >>> sparse.bcoo_multiply_sparse(sparse.eye(2), m).todense()
    Array([[2., 0.],
           [0., 5.]], dtype=float32)
    """
    shape = jnp.broadcast_shapes(lhs.shape, rhs.shape)
    if lhs.shape != shape:
        if rhs.shape != shape:
            raise NotImplementedError(f"bcoo_multiply_sparse: {lhs} and {rhs} would both have to be broadcast; broadcast one "
                                      "first, with bcoo_broadcast_in_dim")
        lhs, rhs = rhs, lhs
    if rhs.ndim < lhs.ndim:
        rhs = bcoo_update_layout(rhs, n_batch=0)
        extra = lhs.ndim - rhs.ndim
        rhs = bcoo_broadcast_in_dim(rhs, shape=(*(1,) * extra, *rhs.shape), broadcast_dimensions=range(extra, lhs.ndim))
    n_batch, n_dense = min(lhs.n_batch, rhs.n_batch), min(lhs.n_dense, rhs.n_dense)
    lhs, rhs = (m if (m.n_batch, m.n_dense) == (n_batch, n_dense) else bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense)
                for m in (lhs, rhs))
    data = _looked_up_p.bind(lhs.data, lhs.indices, rhs.data, rhs.indices, rhs_spinfo=rhs._info)
    return lhs._with(data)


_looked_up_p = named("bcoo_multiply_sparse", _looked_up)


# -- convolution ---------------------------------------------------------------------------------------------------------

def bcoo_conv_general_dilated(lhs: BCOO | ArrayLike, rhs: BCOO | ArrayLike, *, window_strides: Sequence[int],
                              padding: str | Sequence[tuple[int, int]], lhs_dilation: Sequence[int] | None = None,
                              rhs_dilation: Sequence[int] | None = None,
                              dimension_numbers: tuple[str, str, str] | None = None, feature_group_count: int = 1,
                              batch_group_count: int = 1, precision: PrecisionLike = None,
                              preferred_element_type: DTypeLike | None = None,
                              out_sharding: Placement | None = None) -> BCOO:
    """`lax.conv_general_dilated` of BCOO arrays in one spatial dimension, one batch and one channel.

    Every stored element of the operand meets every stored element of the kernel; all elements of a dense array count as stored.
    ``precision`` is met, as products are computed in full.

    Raises:
      NotImplementedError: more dimensions, batches or channels, strides, dilation, or groups.

    >>> from jax.experimental import sparse
    >>> x, k = (sparse.BCOO.fromdense(jnp.array([[[1.0, 0.0, 2.0]]]), n_batch=2), sparse.BCOO.fromdense(jnp.array([[[1.0, 1.0]]]), n_batch=2))
    >>> sparse.bcoo_conv_general_dilated(x, k, window_strides=(1,), padding='VALID').todense()
    Array([[[1., 2.]]], dtype=float32)
    """
    require_none("bcoo_conv_general_dilated", out_sharding=out_sharding)
    lhs, rhs = (m if isinstance(m, BCOO) else BCOO.fromdense(m, nse=np.size(m)) for m in (lhs, rhs))
    numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    plain = (tuple(numbers.lhs_spec) == tuple(numbers.rhs_spec) == tuple(numbers.out_spec) == (0, 1, 2)
             and lhs.shape[:2] == rhs.shape[:2] == (1, 1) and feature_group_count == batch_group_count == 1
             and all(s == 1 for x in (window_strides, lhs_dilation or (), rhs_dilation or ()) for s in x))
    if not plain:
        raise NotImplementedError("bcoo_conv_general_dilated: only one spatial dimension, one batch, one channel, and no strides, "
                                  f"dilation or groups are supported; got {lhs}, {rhs}, window_strides={window_strides}")
    dtype = _out_dtype(lhs.data, rhs.data, preferred_element_type)
    lhs, rhs = (bcoo_update_layout(full_batch(m), n_batch=0, n_dense=0, on_inefficient=None) for m in (lhs, rhs))
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(lhs.shape[2:], rhs.shape[2:], (1,), padding)
    low, high = map(operator.index, tuple(padding)[0])
    n = lhs.shape[2] + low + high - rhs.shape[2] + 1
    at = lhs.indices[:, None, 2] + low - rhs.indices[None, :, 2]
    inside = valid(lhs.indices, lhs.shape)[:, None] & valid(rhs.indices, rhs.shape)[None] & (at >= 0) & (at < n)
    data = stored_where(inside, lhs.data.astype(dtype)[:, None] * rhs.data.astype(dtype)[None]).reshape(-1)
    index = jnp.where(inside, at, n).reshape(-1, 1)
    lead = jnp.where(inside.reshape(-1, 1), jnp.zeros((), index.dtype), jnp.ones((), index.dtype))
    out = BCOO((data, jnp.concatenate([lead, lead, index], 1)), shape=(1, 1, n))
    return bcoo_sum_duplicates(out, n) if n < out.nse else out
