"""Eigenvalues and eigenvectors of Hermitian (`eigh`) and of general square matrices (`eig`).

Where two eigenvalues are equal, their eigenvectors may be turned into each other and have no derivative; the rules leave
that turn out, so that whatever does not depend on it (a function of the eigenvalues, a projection on the space of both)
gets its right derivative.

Source: LAPACK `syevd`/`heevd`, `geev`. Derivatives: Giles, "Collected matrix derivative results for forward and reverse
mode algorithmic differentiation", 2008, section 3.1; normalisation of complex eigenvectors: that of LAPACK, Euclidean length 1
and the component of largest modulus real.
"""
from __future__ import annotations

import enum
from typing import Any

import numpy as np

from jax_core.representation.aval import ShapedArray, get_aval
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.source import warn
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_numpy_api import lax
from jax_numpy_api.lax.nary import promise

from .common import (
    as_weak,
    batch_rule,
    check_dtype,
    check_ranks,
    check_square,
    complex_dtype,
    conj,
    diagonal,
    ffi_call,
    flag,
    for_platform,
    full_like,
    gpu_library,
    hermitian,
    inexact,
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
    symmetrize,
)
from .lu import lu, permute_rows
from .triangular import triangular_solve


class EighImplementation(enum.Enum):
    """Algorithms for Hermitian matrices; which exist depends on the platform."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class EigImplementation(enum.Enum):
    """Libraries for general matrices; which exist depends on the platform."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


# -- eigh ------------------------------------------------------------------------------------------------------------

@as_weak
def _eigh_type(x, *, lower, sort_eigenvalues, subset_by_index, algorithm):
    check_square("eigh", x)
    return [ShapedArray(x.shape, x.dtype), ShapedArray(x.shape[:-1], real_dtype(x.dtype))]


def _eigh_jvp(primals, tangents, **params):
    """dw = diag(V^H dA V); dV = V (F * V^H dA V) with F[i, j] = 1 / (w[j] - w[i]), and dA is what the triangle read says."""
    (x,), (g,) = primals, tangents
    v, w = eigh_p.bind(x, **params)
    if isinstance(g, Zero):
        return [v, w], [Zero.of(v), Zero.of(w)]
    inner = mm(mh(v), mm(hermitian(g, params["lower"]), v))
    gaps = inverse_gaps(_as(w, x.dtype), inner)
    return [v, w], [mm(v, lax.mul(gaps, inner)), real(diagonal(inner))]


def _as(x, dtype):
    return lax.convert_element_type(x, dtype) if x.dtype != dtype else x


def _eigh_lower(b, x, **params):
    return _eigh_call(b, x, *b.out_avals, compute_vectors=True, **params)


def _eigh_call(b, x, vectors, values, *, compute_vectors, lower, sort_eigenvalues, subset_by_index, algorithm):
    if x.aval.size == 0:
        return [b.full(0, vectors), b.full(0, values)]
    kind, batch_rank = for_platform("eigh", b), x.aval.ndim - 2
    uplo, info = letter("L" if lower else "U"), info_type(x, batch_rank)
    if kind == "cpu":
        if algorithm not in (None, EighImplementation.QR):
            raise NotImplementedError(f"eigh: implementation={algorithm} does not exist on CPU; use EighImplementation.QR.")
        v, w, info = lapack(b, "heevd" if is_complex(x) else "syevd", [x], [vectors, values, info], batch_rank=batch_rank,
                            in_place={0: 0}, mode=letter("V" if compute_vectors else "N"), uplo=uplo)
    elif kind == "gpu":
        which = {None: 0, EighImplementation.QR: 1, EighImplementation.JACOBI: 2}.get(algorithm)
        if which is None:
            raise NotImplementedError(f"eigh: implementation={algorithm} does not exist on GPU.")
        v, w, info = ffi_call(b, gpu_library(b) + "_syevd_ffi", [x], [vectors, values, info], batch_rank=batch_rank,
                              in_place={0: 0}, algorithm=np.uint8(which), lower=bool(lower))
    else:
        v, w = b.custom_call("Eigh", x, out=[vectors, values], api_version=1,
                             backend_config=f"{int(lower)},{int(sort_eigenvalues)},100,1e-6")
        return [v, w]
    return nan_on_failure(b, info, v, w, known=b.fun(_nan_of_diagonal, x, w)[0] if x.aval.shape[-1] > 1 else w)


def _nan_of_diagonal(x, w):
    """The eigenvalues, NaN where the diagonal is NaN or infinite: LAPACK gives numbers for blocks of one or two rows with such. Of NaN elsewhere there
    is some in its eigenvalues. The diagonal is each ``n + 1``-th number, as no sum of a row, which would be a kernel."""
    *batch, n, _ = x.shape
    numbers = real(lax.reshape(x, (*batch, n * n)))
    of_rows = lax.slice(numbers, [0] * numbers.ndim, numbers.shape, [*[1] * len(batch), n + 1])
    return [lax.add(w, lax.mul(of_rows, full_like(of_rows, 0)))]


def _values_jvp(primals, tangents, **params):
    (_, w), (_, dw) = _eigh_jvp(primals, tangents, **params)
    return w, dw


eigh_values_p: Primitive = Primitive(
    "eigh_values", out_type=lambda x, **params: _eigh_type(x, **params)[1], jvp=_values_jvp,
    transpose=none("eigh is not linear, so it has no transpose"),
    batch=batch_rule(lambda x, **params: eigh_values_p.bind(x, **params)),
    lower=lambda b, x, **params: _eigh_call(b, x, x.aval, b.out_avals[0], compute_vectors=False, **params)[1],
    traits=Traits(Kind.LIBRARY))
"""What an `eigh` becomes whose vectors nobody reads."""


def _eigh_dce(eqn, used):
    return eqn if used[0] else eqn.replace(primitive=eigh_values_p, outvars=eqn.outvars[1:])


eigh_p: Primitive = Primitive("eigh", multiple_results=True, out_type=_eigh_type, jvp=_eigh_jvp,
                   transpose=none("eigh is not linear, so it has no transpose"),
                   batch=batch_rule(lambda x, **params: eigh_p.bind(x, **params)), lower=_eigh_lower,
    dce=_eigh_dce, traits=Traits(Kind.LIBRARY))


def eigh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True, sort_eigenvalues: bool = True,
         subset_by_index: tuple[int, int] | None = None,
         implementation: EighImplementation | None = None) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues of Hermitian matrices.

    Args:
      x: ``[..., n, n]``.
      lower: which triangle is read, if not both.
      symmetrize_input: take the Hermitian part first.
      sort_eigenvalues: in ascending order (always done on CPU and GPU).
      subset_by_index: ``(first, end)`` of the eigenvalues wanted, in ascending order.
      implementation: the algorithm.

    Returns:
      eigenvectors, one in each column, ``[..., n, k]``, and eigenvalues ``[..., k]``, real.

    Raises:
      ValueError: not square, or a bad subset. TypeError: a dtype other than those of LAPACK, integers and booleans.

    Source: LAPACK `syevd`, `heevd`.

    >>> vectors, values = lax.linalg.eigh(jnp.array([[1., 0.], [0., 2.]]))
    >>> values
    Array([1., 2.], dtype=float32)
    """
    x = inexact(x)
    check_square("eigh", get_aval(x))
    if symmetrize_input:
        x = symmetrize(x)
    v, w = eigh_p.bind(x, lower=flag(lower), sort_eigenvalues=flag(sort_eigenvalues), subset_by_index=None,
                       algorithm=implementation)
    if subset_by_index is not None:
        first, end, n = *subset_by_index, np.shape(x)[-1]
        if not 0 <= first <= end <= n:
            raise ValueError(f"eigh: subset_by_index={subset_by_index} must satisfy 0 <= first <= end <= {n}.")
        v, w = lax.slice_in_dim(v, first, end, axis=v.ndim - 1), lax.slice_in_dim(w, first, end, axis=w.ndim - 1)
    return v, w


# -- eig -------------------------------------------------------------------------------------------------------------

@as_weak
def _eig_type(x, *, compute_left_eigenvectors, compute_right_eigenvectors, **_):
    check_ranks("eig", (x, 2))
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"The input to eig must be a square matrix. Got shape {x.shape}.")
    check_dtype("eig", x)
    dtype = complex_dtype(x.dtype)
    vectors = ShapedArray(x.shape, dtype)
    return [ShapedArray(x.shape[:-1], dtype)] + [vectors] * (compute_left_eigenvectors + compute_right_eigenvectors)


def _eig_jvp(primals, tangents, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs,
             implementation):
    (x,), (g,) = primals, tangents
    bind = dict(enable_eigvec_derivs=enable_eigvec_derivs, implementation=implementation)
    outs = eig_p.bind(x, compute_left_eigenvectors=compute_left_eigenvectors,
                      compute_right_eigenvectors=compute_right_eigenvectors, **bind)
    if isinstance(g, Zero):
        return outs, [Zero.of(y) for y in outs]
    if (compute_left_eigenvectors or compute_right_eigenvectors) and not enable_eigvec_derivs:
        raise NotImplementedError(
            "eig: the derivatives of eigenvectors of a general matrix assume distinct eigenvalues and one way to normalise "
            "the vectors. Pass enable_eigvec_derivs=True to jax.lax.linalg.eig if that is what you want, or ask for the "
            "eigenvalues only.")
    if np.size(x) == 0:
        return outs, [Zero.of(y) for y in outs]
    w, v = outs[0], outs[-1]
    if not compute_right_eigenvectors:
        w, v = eig_p.bind(x, compute_left_eigenvectors=False, compute_right_eigenvectors=True, enable_eigvec_derivs=True,
                          implementation=implementation)
    g = _as(g, w.dtype)
    inner = _solve(v, mm(g, v))
    tangents_out = [diagonal(inner)]
    if compute_left_eigenvectors:
        u = outs[1]  # A^H u = conj(w) u
        left = _solve(u, mm(mh(g), u))
        tangents_out.append(_vector_tangent(u, left, conj(w)))
    if compute_right_eigenvectors:
        tangents_out.append(_vector_tangent(v, inner, w))
    return outs, tangents_out


def _solve(a, b):
    """a^-1 b by LU."""
    factors, _, order = lu(a)
    b = permute_rows(b, order)
    b = triangular_solve(factors, b, left_side=True, lower=True, unit_diagonal=True)
    return triangular_solve(factors, b, left_side=True)


def _vector_tangent(v, inner, w):
    """dV = V (F * inner), less what would change the vectors' lengths or turn the largest component off the real axis."""
    change = mm(v, lax.mul(inverse_gaps(w, inner), inner))
    along = lax.reduce_sum(lax.mul(conj(v), change), (v.ndim - 2,))
    change = lax.sub(change, lax.mul(v, rows(_as(lax.real(along), v.dtype), v)))
    size = lax.abs(v)
    top = lax.argmax(size, v.ndim - 2, np.int32)
    largest = lax.eq(lax.broadcasted_iota(np.int32, v.shape, v.ndim - 2), rows(top, v))
    zero = lax.full_like(v, 0)
    pivot = lax.reduce_sum(lax.select(largest, v, zero), (v.ndim - 2,))
    turn = lax.imag(lax.div(lax.reduce_sum(lax.select(largest, change, zero), (v.ndim - 2,)), pivot))
    turn = lax.mul(_as(turn, v.dtype), full_like(v, 1j))
    return lax.sub(change, lax.mul(v, rows(turn, v)))


def _eig_lower(b, x, *, compute_left_eigenvectors, compute_right_eigenvectors, enable_eigvec_derivs, implementation):
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    kind = for_platform("eig", b)
    if kind == "tpu":
        raise NotImplementedError("eig: there is no lowering for TPU; run it on CPU.")
    batch_rank, dtype = x.aval.ndim - 2, complex_dtype(x.aval.dtype)
    values, vectors = b.out_avals[0], ShapedArray(x.aval.shape, dtype)
    parts = [values] if is_complex(x) else [values.update(dtype=real_dtype(dtype))] * 2
    outs = [*parts, vectors, vectors, info_type(x, batch_rank)]
    if kind == "cpu":
        *w, left, right, info = lapack(b, "geev", [x], outs, batch_rank=batch_rank,
                                       compute_left=letter("V" if compute_left_eigenvectors else "N"),
                                       compute_right=letter("V" if compute_right_eigenvectors else "N"))
    else:
        target = gpu_library(b, "hybrid_eig_comp" if is_complex(x) else "hybrid_eig_real")
        magma = {EigImplementation.MAGMA: "on", EigImplementation.LAPACK: "off"}.get(implementation, "auto")
        *w, left, right, info = ffi_call(b, target, [x], outs, batch_rank=batch_rank, left=compute_left_eigenvectors,
                                         right=compute_right_eigenvectors, magma=magma)
    (w,) = w if is_complex(x) else b.fun(lambda re, im: [lax.complex(re, im)], *w)
    chosen = [w] + [left] * compute_left_eigenvectors + [right] * compute_right_eigenvectors
    return nan_on_failure(b, info, *chosen)


def _eig_dce(eqn, used):
    """Vectors that nobody reads are not computed."""
    left, right = eqn.params["compute_left_eigenvectors"], eqn.params["compute_right_eigenvectors"]
    flags = iter(used[1:])
    left, right = left and next(flags), right and next(flags)
    params = {**eqn.params, "compute_left_eigenvectors": left, "compute_right_eigenvectors": right}
    return eqn.replace(outvars=[eqn.outvars[0], *(v for v, u in zip(eqn.outvars[1:], used[1:]) if u)], params=params)


eig_p: Primitive = Primitive("eig", multiple_results=True, out_type=_eig_type, jvp=_eig_jvp,
                  transpose=none("eig is not linear, so it has no transpose"),
                  batch=batch_rule(lambda x, **params: eig_p.bind(x, **params)), lower=_eig_lower,
    dce=_eig_dce, traits=Traits(Kind.LIBRARY))


def eig(x: ArrayLike, *, compute_left_eigenvectors: bool = True, compute_right_eigenvectors: bool = True,
        enable_eigvec_derivs: bool = False, implementation: EigImplementation | None = None,
        use_magma: bool | None = None) -> list:
    """Eigenvalues and eigenvectors of general square matrices.

    Args:
      x: ``[..., n, n]``.
      compute_left_eigenvectors, compute_right_eigenvectors: which vectors are wanted.
      enable_eigvec_derivs: let the vectors be differentiated, which is right where all eigenvalues differ.
      implementation, use_magma: library, where there is a choice.

    Returns:
      a list: eigenvalues ``[..., n]``, then left, then right eigenvectors ``[..., n, n]`` if wanted, one in each column,
      of length 1. All are complex.

    Raises:
      ValueError: not square. TypeError: not a dtype of LAPACK.

    Source: LAPACK `geev`.

    >>> w, v = jax.lax.linalg.eig(jnp.diag(jnp.array([2.0, 3.0])), compute_left_eigenvectors=False)
    >>> w
    Array([2.+0.j, 3.+0.j], dtype=complex64)
    """
    if implementation is not None and not isinstance(implementation, EigImplementation):
        raise ValueError(f"lax.linalg.eig: implementation={implementation!r} is no member of EigImplementation")
    if use_magma is not None:
        warn(f"lax.linalg.eig: use_magma={use_magma} is there for older programs only: use implementation", DeprecationWarning)
    return eig_p.bind(x, compute_left_eigenvectors=promise("lax.linalg.eig: compute_left_eigenvectors", compute_left_eigenvectors),
                      compute_right_eigenvectors=promise("lax.linalg.eig: compute_right_eigenvectors", compute_right_eigenvectors),
                      enable_eigvec_derivs=flag(enable_eigvec_derivs), implementation=implementation)
