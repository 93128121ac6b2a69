"""Singular value decomposition.

Source: LAPACK `gesdd`, `gesvd`. Derivative: Townsend, "Differentiating the singular value decomposition", 2016, extended to
full matrices: the vectors that span the rest of the space turn against the others as orthogonality demands, and not
among themselves, where any choice would do. Equal singular values are treated as `eigen` treats equal eigenvalues.
"""
from __future__ import annotations

import enum

import numpy as np

from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import broadcast_in_dim, zeros
from jax_numpy_api import lax

from .common import (
    as_weak,
    batch_rule,
    check_matrix,
    columns,
    diagonal,
    eye,
    eye_mask,
    ffi_call,
    first_columns,
    flag,
    for_platform,
    full_like,
    gpu_library,
    info_type,
    inverse_gaps,
    is_complex,
    lapack,
    letter,
    mh,
    mm,
    nan_on_failure,
    real,
    real_dtype,
    rows,
    safe_reciprocal,
)
from .svd_polar import svd_by_polar

MOST_ROTATED = 1024
"""Rows and columns up to which a GPU rotates pairs of columns (of 512 on an H200: 19 ms, by QR steps 51)."""


class SvdAlgorithm(enum.Enum):
    """How `svd` computes; which of these there are depends on the platform."""

    DEFAULT = "default"
    """What is best on the platform."""
    QR = "QR"
    """Bidiagonal form, then QR steps."""
    JACOBI = "Jacobi"
    """Rotations of pairs of columns."""
    POLAR = "polar"
    """A polar decomposition, then eigenvectors of its Hermitian factor."""
    DIVIDE_AND_CONQUER = "divide_and_conquer"
    """Bidiagonal form, then halves that are joined; quicker for large matrices."""


@as_weak
def _svd_type(x, *, full_matrices, compute_uv, subset_by_index, algorithm):
    check_matrix("svd", x)
    *batch, m, n = x.shape
    k = min(m, n)
    s = ShapedArray((*batch, k), real_dtype(x.dtype))
    if not compute_uv:
        return [s]
    u = ShapedArray((*batch, m, m if full_matrices else k), x.dtype)
    return [s, u, ShapedArray((*batch, n if full_matrices else k, n), x.dtype)]


def _svd_jvp(primals, tangents, *, full_matrices, compute_uv, **params):
    (x,), (g,) = primals, tangents
    if isinstance(g, Zero):
        outs = svd_p.bind(x, full_matrices=full_matrices, compute_uv=compute_uv, **params)
        return outs, [Zero.of(y) for y in outs]
    s, u, vh = svd_p.bind(x, full_matrices=full_matrices and compute_uv, compute_uv=True, **params)
    k, v = np.shape(s)[-1], mh(vh)
    u1, v1 = first_columns(u, k), first_columns(v, k)
    inner = mm(mh(u1), mm(g, v1))
    ds = real(diagonal(inner))
    if not compute_uv:
        return [s], [ds]
    du = _vectors(u, u1, inner, s, mm(g, v1), left=True)
    dv = _vectors(v, v1, inner, s, mm(mh(g), u1), left=False)
    return [s, u, vh], [ds, du, mh(dv)]


def _vectors(u, u1, inner, s, image, left):
    """The change of the vectors ``u``, of which the first k are ``u1``.

    ``inner`` is U1^H dA V1; ``image`` is dA V1 for left vectors, dA^H U1 for right ones.
    """
    k = np.shape(s)[-1]
    in_type = lambda a: lax.convert_element_type(a, inner.dtype) if a.dtype != inner.dtype else a
    one, other = rows(s, inner), columns(s, inner)
    # not divided by the difference of squares: these may overflow or vanish, and fused into one multiply-add it would not be zero on the diagonal
    inverse_sum = safe_reciprocal(lax.add(one, other))
    shares = [in_type(lax.mul(a, inverse_sum)) for a in ((one, other) if left else (other, one))]
    turn = lax.mul(in_type(inverse_gaps(s, inner)), lax.add(lax.mul(inner, shares[0]), lax.mul(mh(inner), shares[1])))
    inverse = in_type(safe_reciprocal(s))
    if left and is_complex(inner):  # the phase of each pair is put on the left vector
        phase = lax.mul(lax.sub(inner, mh(inner)), rows(lax.mul(inverse, full_like(inverse, 0.5)), inner))
        turn = lax.add(turn, lax.select(eye_mask(inner), phase, lax.full_like(phase, 0)))
    change = mm(u1, turn)
    total, m = np.shape(u)[-1], np.shape(u)[-2]
    if m > k:
        outside = lax.sub(image, mm(u1, mm(mh(u1), image)))
        outside = lax.mul(outside, rows(inverse, outside))
        change = lax.add(change, outside)
        if total > k:
            rest = lax.slice_in_dim(u, k, total, axis=u.ndim - 1)
            back = lax.neg(mm(u1, mm(mh(outside), rest)))
            change = lax.concatenate([change, back], u.ndim - 1)
    return change


def _svd_lower(b, x, *, full_matrices, compute_uv, subset_by_index, algorithm):
    s_type = b.out_avals[0]
    *batch, m, n = x.aval.shape
    k, batch_rank = min(m, n), x.aval.ndim - 2
    if x.aval.size == 0:
        return _empty(b, x, compute_uv)
    kind = for_platform("svd", b)
    if kind == "tpu":
        if algorithm not in (None, SvdAlgorithm.DEFAULT, SvdAlgorithm.POLAR):
            raise NotImplementedError(f"svd: algorithm={algorithm} does not exist on TPU; use DEFAULT or POLAR.")
        return b.fun(lambda a: svd_by_polar(a, full_matrices=full_matrices, compute_uv=compute_uv), x)
    full = full_matrices and compute_uv
    u_type = ShapedArray((*batch, m, m if full else k), x.aval.dtype)
    vh_type = ShapedArray((*batch, n if full else k, n), x.aval.dtype)
    info = info_type(x, batch_rank)
    if kind == "cpu":
        if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
            raise NotImplementedError(f"svd: algorithm={algorithm} does not exist on CPU; use DEFAULT, DIVIDE_AND_CONQUER or QR.")
        routine = "gesvd" if algorithm is SvdAlgorithm.QR else "gesdd"
        mode = letter("N" if not compute_uv else "A" if full_matrices else "S")
        checks = routine == "gesdd"  # LAPACK's, from 3.7 on, fails where there is NaN; the other may return numbers then
        x, *not_finite = b.fun(_nan_for_infinity if checks else _zero_unless_finite, x)
        _, s, u, vh, info = lapack(b, routine, [x], [x.aval, s_type, u_type, vh_type, info], batch_rank=batch_rank,
                                   in_place={0: 0}, mode=mode)
        if not checks:
            info = b.fun(lax.bitwise_or, info, *not_finite)[0]
    else:
        s, u, vh, info = _svd_gpu(b, x, s_type, u_type, vh_type, compute_uv, full, algorithm)
    return nan_on_failure(b, info, *([s, u, vh] if compute_uv else [s]))


def _svd_gpu(b, x, s_type, u_type, vh_type, compute_uv, full, algorithm):
    """Rotations up to 1,024 rows and columns, which they factor in a third of the time, else QR steps."""
    if algorithm in (None, SvdAlgorithm.DEFAULT):
        algorithm = SvdAlgorithm.JACOBI if max(x.aval.shape[-2:]) <= MOST_ROTATED else SvdAlgorithm.QR
    missing = SvdAlgorithm.DIVIDE_AND_CONQUER if b.platform == "cuda" else SvdAlgorithm.POLAR
    if algorithm is missing:
        raise NotImplementedError(f"svd: algorithm={algorithm} does not exist on {b.platform}; use DEFAULT, QR or JACOBI.")
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        return _svd_gpu_rotated(b, x, s_type, compute_uv, full, "gesvdp" if algorithm is SvdAlgorithm.POLAR else "gesvdj")
    return _svd_gpu_tall(b, x, s_type, u_type, vh_type, compute_uv, full, "gesvd" if algorithm is SvdAlgorithm.QR else "gesdd")


def _svd_gpu_tall(b, x, s_type, u_type, vh_type, compute_uv, full, routine):
    """For tall matrices; wide ones are transposed, as the library wants m >= n."""
    *_, m, n = x.aval.shape
    batch_rank = x.aval.ndim - 2
    transposed = m < n
    if transposed:
        x = b.fun(mh, x)[0]
        flip = lambda aval: aval.update(shape=(*aval.shape[:-2], aval.shape[-1], aval.shape[-2]))
        u_type, vh_type = flip(vh_type), flip(u_type)
    if not compute_uv:
        u_type = vh_type = ShapedArray((), x.aval.dtype)  # not written
    _, s, u, vh, info = ffi_call(b, f"{gpu_library(b)}_{routine}_ffi", [x], [x.aval, s_type, u_type, vh_type, info_type(x, batch_rank)],
                                 batch_rank=batch_rank, in_place={0: 0}, transposed=False,
                                 full_matrices=bool(full), compute_uv=bool(compute_uv))
    if transposed and compute_uv:
        u, vh = b.fun(mh, vh)[0], b.fun(mh, u)[0]
    return s, u, vh, info


def _svd_gpu_rotated(b, x, s_type, compute_uv, full, routine):
    """For any shape. The library returns v, not its adjoint, wants room for the vectors even where it writes none, and for
    rotations of matrices of at most 32 rows and columns, which it does in batches, knows full bases only."""
    *batch, m, n = x.aval.shape
    k, batch_rank = min(m, n), len(batch)
    whole = full or not compute_uv or (routine == "gesvdj" and max(m, n) <= 32)
    u_type = ShapedArray((*batch, m, m if whole else k), x.aval.dtype)
    v_type = ShapedArray((*batch, n, n if whole else k), x.aval.dtype)
    _, s, u, v, info = ffi_call(b, f"{gpu_library(b)}_{routine}_ffi", [x], [x.aval, s_type, u_type, v_type, info_type(x, batch_rank)],
                                batch_rank=batch_rank, in_place={0: 0}, full_matrices=bool(whole), compute_uv=bool(compute_uv))
    bad, = b.fun(_not_finite, x)
    if whole and not full and compute_uv:
        u, v = b.fun(lambda u, v: [first_columns(u, k), first_columns(v, k)], u, v)
    return s, u, *(b.fun(mh, v) if compute_uv else [v]), b.fun(lax.bitwise_or, info, bad)[0]


def _is_finite(x):
    """For each matrix, whether it holds neither NaN nor infinity."""
    ok = lax.is_finite(real(x))
    ok = lax.bitwise_and(ok, lax.is_finite(lax.imag(x))) if is_complex(x) else ok
    return lax.reduce_and(ok, (x.ndim - 2, x.ndim - 1))


def _nan_for_infinity(x):
    """``x``, for the infinities of which LAPACK's steps need not end. Part of the copy by columns that it gets: a test of whole matrices would be
    three kernels more."""
    return [lax.add(x, lax.mul(x, full_like(x, 0)))]


def _zero_unless_finite(x):
    """``x``, 0 for each matrix that is not finite, for which LAPACK's steps need not end; and 1 for these, else 0."""
    ok = _is_finite(x)
    zero = zeros(ShapedArray(x.shape, x.dtype))
    return [lax.select(broadcast_in_dim(ok, x.shape, tuple(range(ok.ndim))), x, zero), lax.convert_element_type(lax.bitwise_not(ok), np.int32)]


def _not_finite(x):
    """1 for each matrix that holds NaN or infinity, else 0: what rotations make of such, and of ``info``, is not documented."""
    return [lax.convert_element_type(lax.bitwise_not(_is_finite(x)), np.int32)]


def _empty(b, x, compute_uv):
    """An empty matrix has no singular values; its full bases are identities."""
    outs = [b.full(0, b.out_avals[0])]
    for aval in b.out_avals[1:] if compute_uv else []:
        n, m = aval.shape[-2:]
        outs.append(b.fun(lambda a, n=n, m=m: [eye(n, a, m)], x)[0] if aval.size else b.full(0, aval))
    return outs


def _svd_dce(eqn, used):
    """Where nobody reads the vectors they are not computed, which is several times faster."""
    if not eqn.params["compute_uv"] or any(used[1:]):
        return eqn
    return eqn.replace(outvars=eqn.outvars[:1], params={**eqn.params, "compute_uv": False})


svd_p: Primitive = Primitive("svd", multiple_results=True, out_type=_svd_type, jvp=_svd_jvp,
                  transpose=none("svd is not linear, so it has no transpose"),
                  batch=batch_rule(lambda x, **params: svd_p.bind(x, **params)), lower=_svd_lower,
    dce=_svd_dce, traits=Traits(Kind.LIBRARY))


def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True,
        subset_by_index: tuple[int, int] | None = None,
        algorithm: SvdAlgorithm | None = None) -> Array | tuple[Array, Array, Array]:
    """Singular values and vectors: ``x = u @ diag(s) @ vh``.

    Args:
      x: matrices ``[..., m, n]``; let k be the smaller of m and n.
      full_matrices: bases of the whole spaces, ``u[..., m, m]`` and ``vh[..., n, n]``, instead of the first k vectors.
      compute_uv: False returns the singular values only.
      subset_by_index: ``(first, end)`` of the singular values wanted, in descending order.
      algorithm: how; on GPUs the default is JACOBI up to 1,024 rows and columns, else QR.

    Returns:
      ``(u, s, vh)`` with ``s[..., k]`` real and descending, or ``s``.

    Raises:
      TypeError: fewer than two axes, or not a dtype of LAPACK. ValueError: a bad subset.
      NotImplementedError: the platform lacks the algorithm.

    Source: LAPACK `gesdd`, `gesvd`.

    >>> lax.linalg.svd(jnp.diag(jnp.array([3., 5.])), compute_uv=False)
    Array([5., 3.], dtype=float32)
    """
    if subset_by_index is not None and full_matrices and compute_uv:
        raise ValueError("full_matrices and subset_by_index cannot both be set")
    if algorithm is not None and not isinstance(algorithm, SvdAlgorithm):
        raise ValueError(f"lax.linalg.svd: algorithm={algorithm!r} is no member of SvdAlgorithm")
    outs = svd_p.bind(x, full_matrices=flag(full_matrices), compute_uv=flag(compute_uv), subset_by_index=None,
                      algorithm=algorithm)
    if subset_by_index is not None:
        first, end = subset_by_index
        if not 0 <= first <= end <= np.shape(outs[0])[-1]:
            raise ValueError(f"svd: subset_by_index={subset_by_index} must satisfy 0 <= first <= end <= {outs[0].shape[-1]}.")
        s = lax.slice_in_dim(outs[0], first, end, axis=outs[0].ndim - 1)
        outs = [s] if not compute_uv else [s, lax.slice_in_dim(outs[1], first, end, axis=outs[1].ndim - 1),
                                           lax.slice_in_dim(outs[2], first, end, axis=outs[2].ndim - 2)]
    if not compute_uv:
        return outs[0]
    s, u, vh = outs
    return u, s, vh
