"""Products of vectors, matrices and arrays: all are one `dot_general`, after axes have been put in place."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes, splits
from jax_core.representation.arguments import integer, joint_shape
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.source import warn
from jax_core.representation.typing import ArrayLike, DTypeLike, Placement
from jax_core.traces.trace import Tracer

from .. import lax
from .creation import eye
from .promotion import (
    as_array,
    broadcast_to,
    canonical_axis,
    check_arraylike,
    check_batch_ranks,
    convert,
    joined_in_product,
    promote_dtypes,
    refuse_out,
    shape_of,
    strong,
    unwrapped,
)
from .reductions import sum as total
from .shaping import diagonal, moveaxis, ravel
from .ufuncs import conj, multiply

if TYPE_CHECKING:
    from jax_numpy_api.lax.dot import PrecisionLike


def _operands(name: str, a: Any, b: Any, preferred: Any = None) -> tuple:
    """Both operands in their common dtype, and the dtype of the result with its weakness."""
    check_arraylike(name, a, b)
    dtype, weak = joined_in_product(preferred, a, b)
    a, b = convert(unwrapped(a), dtype, weak), convert(unwrapped(b), dtype, weak)
    if preferred is None:
        return a, b, dtype, weak
    return a, b, dtypes.canonicalize_user_dtype(preferred, name), False


def _dot_general(a: Any, b: Any, contract: tuple, batch: tuple = ((), ()), precision: Any = None, preferred: Any = None,
                 out_sharding: Any = None) -> Any:
    options = {} if out_sharding is None else {"out_sharding": out_sharding}
    if preferred is None and not (dtypes.is_weakly_typed(a) and dtypes.is_weakly_typed(b)):
        preferred = lax.dtype(a)
    return lax.dot_general(a, b, (contract, batch), precision=precision, preferred_element_type=preferred, **options)


def _mismatch(name: str, a: Any, b: Any, i: int, j: int) -> TypeError:
    sa, sb = shape_of(a), shape_of(b)
    return TypeError(f"{name}: incompatible shapes {sa} and {sb}: length {sa[i]} of axis {i % len(sa)} of the first operand "
                     f"meets length {sb[j]} of axis {j % len(sb)} of the second. dot_general requires contracting dimensions "
                     f"to have the same shape, got ({sa[i]},) and ({sb[j]},).")


# -- dot ---------------------------------------------------------------------------------------------------------------

@inlined(static_argnums=(2, 3, 4))
def _dot(a, b, precision, preferred, out_sharding):
    a, b, _, _ = _operands("dot", a, b, preferred)
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_a == 0 or rank_b == 0:
        out = (lax.bitwise_and if lax.dtype(a) == np.bool_ else lax.mul)(a, b)
        return out if preferred is None else convert(out, preferred)
    i, j = rank_a - 1, max(rank_b - 2, 0)
    if shape_of(a)[i] != shape_of(b)[j]:
        raise _mismatch("dot", a, b, i, j)
    return _dot_general(a, b, ((i,), (j,)), ((), ()), precision, preferred, out_sharding)


def dot(a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
        out_sharding: Placement | None = None) -> Array:
    """Sum of products over the last axis of ``a`` and the last but one of ``b`` (the only one of a vector).

    Args:
      a, b: arrays; a number multiplies.
      precision: of the products, as for `lax.dot_general`.
      preferred_element_type: dtype to accumulate in, and of the result.
      out_sharding: placement.

    Raises:
      TypeError: the lengths summed over differ.

    Source: `numpy.dot`.

    >>> jnp.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return _dot(a, b, precision, _preferred("dot", preferred_element_type), out_sharding)


def _preferred(name: str, dtype: Any) -> Any:
    return None if dtype is None else dtypes.canonicalize_user_dtype(dtype, name)


# -- matmul ------------------------------------------------------------------------------------------------------------

@inlined(static_argnums=(2, 3, 4))
def _matmul(a, b, precision, preferred, out_sharding):
    a, b, _, _ = _operands("matmul", a, b, preferred)
    sa, sb = shape_of(a), shape_of(b)
    for position, s in ((0, sa), (1, sb)):
        if not s:
            raise ValueError(f"matmul input operand {position} must have ndim at least 1, but it has ndim 0; use jnp.multiply "
                             "for numbers.")
    i, j = len(sa) - 1, max(len(sb) - 2, 0)
    if sa[i] != sb[j]:
        raise _mismatch("matmul", a, b, i, j)
    if len(sa) <= 2 and len(sb) <= 2 or len(sb) == 1 or len(sa) == 1 and len(sb) <= 2:
        return _dot_general(a, b, ((i,), (j,)), ((), ()), precision, preferred, out_sharding)
    return _batched_matmul(a, b, precision, preferred, out_sharding)


def _batched_matmul(a, b, precision, preferred, out_sharding):
    """Batch axes that both operands have become batch axes of the product; those of one operand alone are free axes, so
    that nothing is repeated."""
    sa, sb = shape_of(a), shape_of(b)
    lead_a, lead_b = sa[:-2] if len(sa) > 1 else (), sb[:-2] if len(sb) > 1 else ()
    try:
        lead = joint_shape(lead_a, lead_b)
    except ValueError:
        raise ValueError(f"matmul: batch axes of shapes {sa} and {sb} do not broadcast: {lead_a} and {lead_b}.") from None
    rank = len(lead)
    full_a, full_b = (1,) * (rank - len(lead_a)) + lead_a, (1,) * (rank - len(lead_b)) + lead_b
    shared = [d for d in range(rank) if full_a[d] != 1 and full_b[d] != 1]
    only_a = [d for d in range(rank) if full_b[d] == 1 and full_a[d] != 1]
    only_b = [d for d in range(rank) if full_a[d] == 1 and full_b[d] != 1]
    a, axes_a = _drop_ones(a, full_a, rank - len(lead_a), len(sa) - len(lead_a))
    b, axes_b = _drop_ones(b, full_b, rank - len(lead_b), len(sb) - len(lead_b))
    last_a, first_b = len(shape_of(a)) - 1, len(shape_of(b)) - (2 if len(sb) > 1 else 1)
    out = _dot_general(a, b, ((last_a,), (first_b,)),
                       (tuple(axes_a[d] for d in shared), tuple(axes_b[d] for d in shared)), precision, preferred,
                       out_sharding)
    matrix_a, matrix_b = (["m"] if len(sa) > 1 else []), (["n"] if len(sb) > 1 else [])
    order = [*shared, *only_a, *matrix_a, *only_b, *matrix_b]
    wanted = [d for d in range(rank) if d in order] + matrix_a + matrix_b
    if wanted != order:
        out = lax.transpose(out, tuple(order.index(d) for d in wanted))
    final = (*lead, *(sa[-2:-1] if matrix_a else ()), *(sb[-1:] if matrix_b else ()))
    return out if shape_of(out) == final else lax.reshape(out, final)


def _drop_ones(x, full, missing, matrix_rank):
    """``x`` without batch axes of length 1, and where each batch axis of length over 1 is in the result."""
    kept = [d for d in range(missing, len(full)) if full[d] != 1]
    axes = {d: i for i, d in enumerate(kept)}
    drop = tuple(d - missing for d in range(missing, len(full)) if full[d] == 1)
    return (lax.squeeze(x, drop) if drop else x), axes


def matmul(a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None, out_sharding: Placement | None = None) -> Array:
    """Product of matrices, of batches of matrices, or of vectors with these.

    Args:
      a: array of shape ``(..., m, k)`` or ``(k,)``.
      b: array of shape ``(..., k, n)`` or ``(k,)``; leading axes broadcast.
      precision: of the products, as for `lax.dot_general`.
      preferred_element_type: dtype to accumulate in, and of the result.
      out_sharding: placement.

    Returns:
      an array of shape ``(..., m, n)``, without the axes that a vector does not have.

    Raises:
      ValueError: a number, or batch axes that do not broadcast. TypeError: the inner lengths differ.

    Source: `numpy.matmul`.

    >>> jnp.matmul(jnp.ones((5, 2, 3)), jnp.ones((3, 4))).shape
    (5, 2, 4)
    """
    return _matmul(a, b, precision, _preferred("matmul", preferred_element_type), out_sharding)


@inlined
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of matrices ``(..., m, k)`` and vectors ``(..., k)``.

    Args:
      x1, x2: ``[..., n, m]`` and ``[..., m]``.

    Source: `numpy.matvec`.

    >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    check_arraylike("matvec", x1, x2)
    _core_axes("matvec", (x1, 2), (x2, 1))
    if len(shape_of(x2)) == 1:
        return matmul(x1, x2)
    if len(shape_of(x1)) == 2:  # with the vectors in front, the axes of the product are in order
        return matmul(x2, lax.transpose(as_array(x1), (1, 0)))
    return lax.squeeze(matmul(x1, lax.expand_dims(as_array(x2), (len(shape_of(x2)),))), (-1,))


@inlined
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Products of vectors ``(..., k)``, conjugated, and matrices ``(..., k, n)``.

    Args:
      x1, x2: ``[..., n]`` and ``[..., n, m]``.

    Source: `numpy.vecmat`.

    >>> jnp.vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    check_arraylike("vecmat", x1, x2)
    _core_axes("vecmat", (x1, 1), (x2, 2))
    if len(shape_of(x1)) == 1 or len(shape_of(x2)) == 2:
        return matmul(conj(as_array(x1)), x2)
    return lax.squeeze(matmul(lax.expand_dims(conj(as_array(x1)), (len(shape_of(x1)) - 1,)), x2), (-2,))


def _core_axes(name, *operands):
    for i, (x, rank) in enumerate(operands, 1):
        if len(shape_of(x)) < rank:
            raise ValueError(f"jax.numpy.{name}: x{i} must have {rank} axes or more, got shape {shape_of(x)}")
    (_, rank), _ = operands
    first, second = [shape_of(x) for x, _ in operands]
    if first[-1] != second[-1 if rank == 2 else -2]:
        raise ValueError(f"jax.numpy.{name}: the lengths that are summed over differ in shapes {first} and {second}")
    check_batch_ranks(name, *((shape_of(x), rank) for x, rank in operands))


@inlined(static_argnames=("precision", "preferred_element_type"))
def vdot(a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None,
         preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products of all elements, those of ``a`` conjugated.

    Args:
      a, b: arrays of one size.
      precision, preferred_element_type: as for `dot`.

    Source: `numpy.vdot`.

    >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 1]))
    Array(3.+0.j, dtype=complex64)
    """
    check_arraylike("vdot", a, b)
    return dot(conj(ravel(a)), ravel(b), precision=precision, preferred_element_type=preferred_element_type)


@inlined(static_argnames=("axis", "precision", "preferred_element_type"))
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1, precision: PrecisionLike = None,
           preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products along an axis, those of ``x1`` conjugated; other axes broadcast.

    Args:
      axis: of both.
      precision, preferred_element_type: as for `dot`.

    Raises:
      ValueError: the lengths along the axis differ, or a number.

    Source: `numpy.vecdot`, array API standard.

    >>> jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    check_arraylike("vecdot", x1, x2)
    x1, x2 = as_array(x1), as_array(x2)
    if not x1.ndim or not x2.ndim:
        raise ValueError(f"vecdot: operands must have at least one axis, got shapes {x1.shape} and {x2.shape}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axes must match; got shapes {x1.shape} and {x2.shape} with axis={axis}")
    check_batch_ranks("vecdot", (x1.shape, 1), (x2.shape, 1))
    x1, x2 = conj(moveaxis(x1, axis, -1)), moveaxis(x2, axis, -1)
    a, b = lax.expand_dims(x1, (x1.ndim - 1,)), lax.expand_dims(x2, (x2.ndim,))
    return lax.squeeze(matmul(a, b, precision=precision, preferred_element_type=preferred_element_type), (-2, -1))


@inlined(static_argnames=("precision", "preferred_element_type"))
def inner(a: ArrayLike, b: ArrayLike, *, precision: PrecisionLike = None,
          preferred_element_type: DTypeLike | None = None) -> Array:
    """Sum of products over the last axes of both operands.

    Args:
      a, b: arrays whose last axes have one length.
      precision, preferred_element_type: as for `dot`.

    Source: `numpy.inner`.

    >>> jnp.inner(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    check_arraylike("inner", a, b)
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if not rank_a or not rank_b:
        out = multiply(a, b)
        return out if preferred_element_type is None else out.astype(preferred_element_type)
    return tensordot(a, b, (rank_a - 1, rank_b - 1), precision=precision, preferred_element_type=preferred_element_type)


@inlined(static_argnames=("out",))
def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Products of all pairs of elements of two flattened arrays.

    Args:
      a, b: arrays or numbers.
      out: must be None.

    Source: `numpy.outer`.

    >>> jnp.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    refuse_out("outer", out)
    check_arraylike("outer", a, b)
    return multiply(lax.expand_dims(ravel(a), (1,)), lax.expand_dims(ravel(b), (0,)))


# -- tensordot ---------------------------------------------------------------------------------------------------------

def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[int] | Sequence[Sequence[int]] = 2, *,
              precision: PrecisionLike = None, preferred_element_type: DTypeLike | None = None,
              out_sharding: Placement | None = None) -> Array:
    """Sum of products over some axes of both operands.

    Args:
      a, b: arrays.
      axes: how many last axes of ``a`` and first axes of ``b``; or the axes of each, as a pair of integers or of
        sequences.
      precision, preferred_element_type, out_sharding: as for `dot`.

    Returns:
      an array with the other axes of ``a``, then those of ``b``.

    Raises:
      TypeError: lengths differ. ValueError: axes out of bounds, or different numbers of them.

    Source: `numpy.tensordot`.

    >>> jnp.tensordot(jnp.ones((2, 3)), jnp.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    check_arraylike("tensordot", a, b)
    contract = _tensordot_axes(shape_of(a), shape_of(b), axes)
    return _tensordot(a, b, contract, precision, _preferred("tensordot", preferred_element_type), out_sharding)


def _tensordot_axes(sa: tuple, sb: tuple, axes: Any) -> tuple:
    if isinstance(axes, (int, np.integer)):
        n = integer("tensordot: axes", axes)
        if n > min(len(sa), len(sb)) or n < 0:
            raise TypeError(f"Number of tensordot axes (axes {n}) exceeds input ranks ({sa} and {sb})")
        return tuple(range(len(sa) - n, len(sa))), tuple(range(n))
    if len(axes) != 2:
        raise TypeError(f"tensordot axes argument must be an int or a pair of ints or of sequences of ints, got {axes!r}")
    first, second = ((x,) if isinstance(x, (int, np.integer)) else tuple(x) for x in axes)
    if len(first) != len(second):
        raise TypeError(f"tensordot requires axes lists to have equal length, got {first} and {second}.")
    return (tuple(canonical_axis(x, len(sa)) for x in first), tuple(canonical_axis(x, len(sb)) for x in second))


@inlined(static_argnums=(2, 3, 4, 5))
def _tensordot(a, b, contract, precision, preferred, out_sharding):
    a, b, _, _ = _operands("tensordot", a, b, preferred)
    for i, j in zip(*contract):
        if shape_of(a)[i] != shape_of(b)[j]:
            raise _mismatch("tensordot", a, b, i, j)
    return _dot_general(a, b, contract, ((), ()), precision, preferred, out_sharding)


# -- kron and cross ----------------------------------------------------------------------------------------------------

@inlined()
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Kronecker product: ``a`` with each element replaced by its product with ``b``.

    Args:
      a, b: arrays; the one of lower rank gets leading axes of length 1.

    Source: `numpy.kron`.

    >>> jnp.kron(jnp.array([1, 10]), jnp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    check_arraylike("kron", a, b)
    a, b = promote_dtypes(a, b)
    rank = max(len(shape_of(a)), len(shape_of(b)))
    sa = (1,) * (rank - len(shape_of(a))) + tuple(shape_of(a))
    sb = (1,) * (rank - len(shape_of(b))) + tuple(shape_of(b))
    wide_a = tuple(x for n in sa for x in (n, 1))
    wide_b = tuple(x for n in sb for x in (1, n))
    full = tuple(x for pair in zip(sa, sb) for x in pair)
    product = lax.mul(broadcast_to(lax.reshape(as_array(a), wide_a), full),
                      broadcast_to(lax.reshape(as_array(b), wide_b), full))
    return lax.reshape(product, tuple(m * n for m, n in zip(sa, sb)))


def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """Cross product of vectors of 3 elements.

    Older programs may have vectors of 2, whose third element is 0; of two such, the result is the third component alone. NumPy refuses them.

    Args:
      a, b: arrays; other axes broadcast.
      axisa, axisb, axisc: axes of the vectors in ``a``, ``b`` and the result.
      axis: all three at once.

    Raises:
      ValueError: vectors of other lengths.

    Warns:
      DeprecationWarning: vectors of 2 elements.

    Source: `numpy.cross`.

    >>> jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    check_arraylike("cross", a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    found = _cross(a, b, axisa, axisb, axisc)
    if 2 in (shape_of(a)[axisa], shape_of(b)[axisb]):
        warn(f"cross: vectors of 2 elements are there for older programs only, got shapes {shape_of(a)} and {shape_of(b)}: give them a third, "
             "which is 0, or write a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]", DeprecationWarning)
    return found


@inlined(static_argnums=(2, 3, 4))
def _cross(a, b, axisa, axisb, axisc):
    a, b = (strong(as_array(x)) for x in promote_dtypes(a, b))
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(f"Dimension must be either 2 or 3 for cross product, got shapes {a.shape} and {b.shape}")
    lead = joint_shape(a.shape[:-1], b.shape[:-1])
    a, b = broadcast_to(a, (*lead, a.shape[-1])), broadcast_to(b, (*lead, b.shape[-1]))
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    a, b = _three(a), _three(b)
    turned = (1, 2, 0), (2, 0, 1)
    out = lax.sub(lax.mul(_pick(a, turned[0]), _pick(b, turned[1])), lax.mul(_pick(a, turned[1]), _pick(b, turned[0])))
    return moveaxis(out, -1, axisc)


def _three(x):
    if x.shape[-1] == 3:
        return x
    return lax.pad(x, np.zeros((), x.dtype)[()], ((0, 0, 0),) * (x.ndim - 1) + ((0, 1, 0),))


def _pick(x, order):
    return lax.concatenate([lax.slice_in_dim(x, i, i + 1, axis=x.ndim - 1) for i in order], x.ndim - 1)


def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
          out: None = None) -> Array:
    """Sum of a diagonal; arguments as for `diagonal`, but that ``offset`` may be traced, and the dtype to sum in. Source: `numpy.trace`.

    >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    refuse_out("trace", out)
    check_arraylike("trace", a)
    axes = integer("trace: axis1", axis1), integer("trace: axis2", axis2)
    if isinstance(offset, Tracer):
        return _masked_trace(as_array(a), offset, axes, dtype)
    return _trace(a, integer("trace: offset", offset), axes, dtype)


@inlined(static_argnums=(1, 2, 3))
def _trace(a, offset, axes, dtype):
    a = as_array(a)
    found = splits.entries(get_aval(a))
    if a.ndim >= 2 and any([found[canonical_axis(axis, a.ndim)] is not None for axis in axes]):  # each device sums its own part
        return _masked_trace(a, offset, axes, dtype)
    return total(diagonal(a, offset, *axes), axis=-1, dtype=dtype)


def _masked_trace(a, offset, axes, dtype):
    a = moveaxis(a, axes, (-2, -1))
    return total(a, axis=(-2, -1), dtype=dtype, where=eye(a.shape[-2], a.shape[-1], offset, bool))
