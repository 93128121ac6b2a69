"""What the matrix factorisations share: checks, products, triangles, batching, and calls of LAPACK.

All of them work on the last two axes; leading axes are a batch, which LAPACK's handlers loop over in C++. A handler reads
and writes matrices column by column, so that their row axis is the fastest in memory: XLA transposes on the way.

A factorisation that fails (``info`` not zero) yields NaN for that matrix, so that the others of a batch stay.
"""
from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from jax_core.representation import dtypes
from jax_core.representation.aval import AbstractValue, ShapedArray
from jax_core.representation.primitive import Zero
from jax_core.traces.structural import bdim_at_front, broadcast_in_dim, instantiate, transpose, zeros
from jax_core.transformations.forward import jvp_flat
from jax_numpy_api import lax

from ..nary import constant, flag as flag, kept_wide

if TYPE_CHECKING:
    from jax_core.interfaces import Builder, Value
    from jax_core.representation.array import Array
    from jax_core.representation.typing import ArrayLike, DTypeLike
    from jax_core.transformations.batching import AxisData

PREFIX = {np.dtype(np.float32): "s", np.dtype(np.float64): "d", np.dtype(np.complex64): "c", np.dtype(np.complex128): "z"}


# -- checks ----------------------------------------------------------------------------------------------------------

def is_complex(x: Any) -> bool:
    """Whether an array, a value of a builder, or a type is complex."""
    return np.dtype(getattr(x, "aval", x).dtype).kind == "c"


def real_dtype(dtype: DTypeLike) -> np.dtype:
    """The dtype of the absolute value."""
    return np.dtype({np.dtype(np.complex64): np.float32, np.dtype(np.complex128): np.float64}.get(np.dtype(dtype), dtype))


def complex_dtype(dtype: DTypeLike) -> np.dtype:
    """The complex dtype of the same precision."""
    return np.dtype(np.complex128 if real_dtype(dtype) == np.float64 else np.complex64)


def check_dtype(name: str, *avals: AbstractValue) -> None:
    """Raise TypeError unless all operands have one of the dtypes that LAPACK has, the same for all."""
    for i, aval in enumerate(avals):
        if np.dtype(aval.dtype) not in PREFIX if not isinstance(aval.dtype, dtypes.ExtendedDType) else True:
            raise TypeError(f"{name} does not accept dtype {aval.dtype} at position {i}; it takes float32, float64, complex64 "
                            f"and complex128. Convert the operand {aval.str_short()} first.")
        if aval.dtype != avals[0].dtype:
            raise TypeError(f"{name} requires arguments to have the same dtypes, got "
                            f"{', '.join(str(a.dtype) for a in avals)}.")


def check_ranks(name: str, *operands: tuple[AbstractValue, int]) -> None:
    """Raise TypeError unless each operand has the axes that are told beside it, and all have as many batch axes in front of them."""
    for i, (x, rank) in enumerate(operands):
        if x.ndim < rank:
            raise TypeError(f"Input {i} to {name} must have rank at least {rank}, but got shape={x.shape}")
    batch_ranks = [x.ndim - rank for x, rank in operands]
    if len(set(batch_ranks)) > 1:
        raise TypeError(f"{name}: all operands must have as many batch axes, got {batch_ranks} of them in the shapes "
                        f"{', '.join(str(x.shape) for x, _ in operands)}; give the shorter ones axes of length 1 by jnp.expand_dims, and broadcast.")


def check_matrix(name: str, x: ShapedArray) -> None:
    """Raise TypeError unless ``x`` has two axes or more and a dtype that LAPACK has."""
    check_ranks(name, (x, 2))
    check_dtype(name, x)


def check_square(name: str, x: AbstractValue) -> None:
    """Raise ValueError unless ``x`` holds square matrices."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"The input to linalg.{name} must have shape [..., n, n], got shape {x.shape}")
    check_dtype(name, x)


def inexact(x: ArrayLike) -> Any:
    """``x``; integers and booleans as floating-point numbers."""
    dtype = dtypes.dtype(x)
    wanted = dtypes.to_inexact_dtype(dtype)
    return x if wanted == dtype else lax.convert_element_type(x, wanted)


# -- matrix arithmetic -----------------------------------------------------------------------------------------------

def mm(a: ArrayLike, b: ArrayLike) -> Any:
    """Matrix product over leading batch axes, in full precision."""
    rank = np.ndim(a)
    batch = tuple(range(rank - 2))
    return lax.dot_general(a, b, (((rank - 1,), (rank - 2,)), (batch, batch)), precision=lax.Precision.HIGHEST)


def mt(a: ArrayLike) -> Any:
    """Transposed matrices."""
    rank = np.ndim(a)
    return transpose(a, (*range(rank - 2), rank - 1, rank - 2))


def mh(a: ArrayLike) -> Any:
    """Conjugate-transposed matrices."""
    return mt(conj(a))


def conj(a: ArrayLike) -> Any:
    """Complex conjugate; a real array as it is."""
    return lax.conj(a) if is_complex(a) else a


def real(a: Array) -> Any:
    """Real part; a real array as it is."""
    return lax.real(a) if is_complex(a) else a


def symmetrize(a: ArrayLike) -> Any:
    """Hermitian part."""
    return lax.mul(lax.add(a, mh(a)), constant(0.5, a))


def hermitian(a: Array, lower: bool) -> Any:
    """The Hermitian matrix of which ``a`` holds one triangle; the other one, and imaginary parts on the diagonal, are not read."""
    other = mh(a)
    out = lax.select(_triangle(a, 0, lax.ge if lower else lax.le), a, other)
    return lax.select(eye_mask(a), symmetrize(a), out) if is_complex(a) else out


def largest(a: Any) -> Any:
    """The largest real or imaginary part of each matrix, a constant to derivatives: a unit to compute in."""
    a = lax.stop_gradient(a)
    size = lax.max(lax.abs(lax.real(a)), lax.abs(lax.imag(a))) if is_complex(a) else lax.abs(a)
    return lax.reduce_max(size, (a.ndim - 2, a.ndim - 1))


def full_like(a: Any, value: ArrayLike) -> Any:
    """A scalar of the dtype of ``a``."""
    return kept_wide(np.asarray(value, a.dtype)[()])


def rows(v: ArrayLike, like: ArrayLike) -> Any:
    """Vectors ``[..., n]`` as matrices of the shape of ``like`` with entry ``v[j]`` in column j."""
    rank = np.ndim(like)
    return broadcast_in_dim(v, np.shape(like), (*range(rank - 2), rank - 1))


def columns(v: ArrayLike, like: ArrayLike) -> Any:
    """Vectors ``[..., n]`` as matrices of the shape of ``like`` with entry ``v[i]`` in row i."""
    rank = np.ndim(like)
    return broadcast_in_dim(v, np.shape(like), (*range(rank - 2), rank - 2))


def _triangle(a, k, compare):
    shape = np.shape(a)
    i = lax.broadcasted_iota(np.int32, shape[-2:], 0)
    j = lax.broadcasted_iota(np.int32, shape[-2:], 1)
    mask = compare(lax.add(i, np.int32(k)), j)
    return broadcast_in_dim(mask, shape, (len(shape) - 2, len(shape) - 1))


def tril(a: Array, k: int = 0) -> Any:
    """The entries on and below diagonal ``k``, zero elsewhere."""
    return lax.select(_triangle(a, k, lax.ge), a, zeros(ShapedArray(np.shape(a), a.dtype, dtypes.is_weakly_typed(a))))


def triu(a: Array, k: int = 0) -> Any:
    """The entries on and above diagonal ``k``, zero elsewhere."""
    return lax.select(_triangle(a, k, lax.le), a, zeros(ShapedArray(np.shape(a), a.dtype, dtypes.is_weakly_typed(a))))


def eye_mask(a: ArrayLike | ShapedArray) -> Any:
    """Booleans of the shape of ``a``, true on the diagonal."""
    return _triangle(a, 0, lax.eq)


def eye(n: int, like: Array, m: int | None = None) -> Any:
    """The identity, ``[..., n, m]``, with the batch axes and dtype of ``like``."""
    shape = (*np.shape(like)[:-2], n, n if m is None else m)
    out = ShapedArray(shape, like.dtype)
    return lax.select(eye_mask(out), broadcast_in_dim(full_like(like, 1), shape, ()), zeros(out))


def diagonal(a: Array) -> Any:
    """The main diagonals, ``[..., min(n, m)]``."""
    rank, k = np.ndim(a), min(np.shape(a)[-2:])
    a = lax.slice(a, (0,) * rank, (*np.shape(a)[:-2], k, k))
    return lax.reduce_sum(lax.select(eye_mask(a), a, zeros(ShapedArray(np.shape(a), a.dtype))), (rank - 1,))


def safe_reciprocal(x: Array) -> Any:
    """1/x, and 0 where x is 0."""
    shape = np.shape(x)
    zero, one = zeros(ShapedArray(shape, x.dtype)), broadcast_in_dim(full_like(x, 1), shape, ())
    none = lax.eq(x, zero)
    return lax.select(none, zero, lax.div(one, lax.select(none, one, x)))


def inverse_gaps(w: Array, like: ArrayLike) -> Any:
    """``1 / (w[j] - w[i])`` with zeros on the diagonal and wherever two values are equal."""
    return safe_reciprocal(lax.sub(rows(w, like), columns(w, like)))


def first_columns(a: ArrayLike, k: int) -> Any:
    """``a[..., :k]``."""
    return lax.slice_in_dim(a, 0, k, axis=np.ndim(a) - 1)


def first_rows(a: Array, k: int) -> Any:
    """``a[..., :k, :]``."""
    return lax.slice_in_dim(a, 0, k, axis=np.ndim(a) - 2)


# -- rules -----------------------------------------------------------------------------------------------------------

def as_weak(out_type: Callable) -> Callable:
    """The rule ``out_type``, whose results are weakly typed if all operands are."""
    @functools.wraps(out_type)
    def rule(*avals: ShapedArray, **params: Any) -> Any:
        out = out_type(*avals, **params)
        if not all(aval.weak_type for aval in avals):
            return out
        return [aval.update(weak_type=True) for aval in out] if isinstance(out, list) else out.update(weak_type=True)
    return rule


def batch_rule(bind: Callable) -> Callable:
    """The batching rule of a primitive that takes leading batch axes: the mapped axis becomes the first."""
    def rule(axis: AxisData, args, dims: Sequence[int | None], **params):
        out = bind(*(bdim_at_front(x, d, axis) for x, d in zip(args, dims)), **params)
        return out, 0
    return rule


def jvp_through(bind: Callable, function: Callable) -> Callable:
    """A JVP rule by way of a differentiable ``function`` with the same results (a list if many)."""
    def rule(primals: Sequence[Array], tangents: Sequence[Array], **params):
        out = bind(*primals, **params)
        many = isinstance(out, (list, tuple))
        if all(isinstance(t, Zero) for t in tangents):
            return out, [Zero.of(x) for x in out] if many else Zero.of(out)

        def run(*args):
            results = function(*args, **params)
            return results if many else [results]
        _, found = jvp_flat(run, list(primals), list(tangents))
        return out, found if many else found[0]
    return rule


def tangent_of(t: Array) -> Any:
    """A tangent as an array."""
    return instantiate(t)


# -- LAPACK ----------------------------------------------------------------------------------------------------------

def _layout(aval, batch_rank):
    rank = aval.ndim
    if rank - batch_rank == 2:
        return (rank - 2, rank - 1, *range(rank - 3, -1, -1))
    return tuple(range(rank - 1, -1, -1))


def lapack(b: Builder, routine: str, operands: Sequence[Value], out: Sequence[ShapedArray], *, batch_rank: int,
           dtype: DTypeLike | None = None, in_place: dict | None = None, **config: Any) -> list:
    """Call ``lapack_<prefix><routine>_ffi`` on a batch.

    Args:
      operands: values whose first ``batch_rank`` axes are the batch.
      out: result types.
      in_place: number of the operand whose memory each result may take.
      config: attributes of the call; NumPy scalars, as their width matters.
    """
    dtype = operands[0].aval.dtype if dtype is None else dtype
    return ffi_call(b, f"lapack_{PREFIX[np.dtype(dtype)]}{routine}_ffi", operands, out, batch_rank=batch_rank,
                    in_place=in_place, **config)


def ffi_call(b: Builder, target: str, operands: Sequence[Value], out: Sequence[ShapedArray], *, batch_rank: int,
             in_place: dict | None = None, **config: Any) -> list:
    """Call a handler that works on matrices stored by columns."""
    return b.custom_call(
        target, *operands, out=list(out), backend_config=config, batch_rank=batch_rank,
        operand_layouts=[_layout(x.aval, batch_rank) for x in operands],
        result_layouts=[_layout(x, batch_rank) for x in out], output_operand_aliases=in_place,
        extra=f'mhlo.frontend_attributes = {{num_batch_dims = "{batch_rank}"}}')


def gpu_library(b: Builder, library: str = "solver") -> str:
    """Prefix of the targets of a GPU vendor's library: ``"cusolver"`` or ``"hipsolver"`` and their kin."""
    return ("cu" if b.platform == "cuda" else "hip") + library


def letter(text: str) -> np.uint8:
    """LAPACK's options are letters."""
    return np.uint8(ord(text))


def unitary(x: Array) -> bool:
    """Whether LAPACK's routine for ``x`` is named for unitary (complex) rather than orthogonal matrices."""
    return is_complex(x)


def nan_on_failure(b: Builder, info: Value, *outs: Any, known: Value | None = None) -> list:
    """The results, with NaN for each matrix whose ``info`` is not zero, or that has NaN in ``known``.

    Libraries report no failure for some matrices of infinities and NaN, and give the identity as their vectors."""
    if known is None:
        return b.fun(_mask_failures, info, *outs)
    return b.fun(_mask_unknown, info, known, *outs, in_rows=b.platform == "cpu" and not b.one_form)


_ROW = 32
"""Elements along an axis, up to which XLA's CPU compiler reduces in the kernel that computes them; longer axes cost two kernels more to compile."""


def _mask_failures(info, *outs):
    return _masked(_succeeded(info), outs)


def _mask_unknown(info, known, *outs, in_rows):
    rank = np.ndim(info)
    *batch, length = np.shape(known)
    if in_rows and len(batch) == rank and _ROW < length <= _ROW**2:
        shape = (*batch, -(-length // _ROW), _ROW)
        padding = [*[(0, 0, 0)] * rank, (0, shape[-2] * _ROW - length, 0)]
        known = lax.reshape(lax.pad(known, np.zeros((), known.dtype), padding), shape)
        place = lax.add(lax.mul(lax.broadcasted_iota(np.int32, shape, rank), np.int32(_ROW)), lax.broadcasted_iota(np.int32, shape, rank + 1))
        numbers = lax.bitwise_or(lax.eq(known, known), lax.ge(place, np.int32(length)))  # with places, XLA does not undo the rows
    else:
        numbers = lax.eq(known, known)
    is_number = lax.reduce_and(numbers, tuple(range(rank, np.ndim(known))))
    return _masked(lax.bitwise_and(_succeeded(info), is_number), outs)


def _succeeded(info):
    return lax.eq(info, zeros(ShapedArray(np.shape(info), info.dtype)))


def _masked(ok, outs):
    return [nan_unless(ok, x) for x in outs]


def nan_unless(ok: Array, x: Array) -> Array:
    """``x``, NaN for each matrix for which ``ok`` is false."""
    shape = np.shape(x)
    nan = broadcast_in_dim(full_like(x, complex(np.nan, np.nan) if is_complex(x) else np.nan), shape, ())
    return lax.select(broadcast_in_dim(ok, shape, tuple(range(np.ndim(ok)))), x, nan)


def info_type(x: Array, batch_rank: int) -> ShapedArray:
    """The type of the ``info`` result of a call on ``x``."""
    return ShapedArray(x.aval.shape[:batch_rank], np.int32)


def for_platform(name: str, b: Builder) -> str:
    """``"cpu"``, ``"gpu"`` or ``"tpu"``.

    Raises:
      NotImplementedError: another platform.
    """
    kinds = {"cpu": "cpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}
    if b.platform not in kinds:
        raise NotImplementedError(f"{name}: there is no lowering for platform {b.platform}")
    return kinds[b.platform]
