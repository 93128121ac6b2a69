"""Decompositions of matrices: Cholesky, singular values, eigenvalues, QR."""
from __future__ import annotations

from typing import Any, NamedTuple

from jax_core.programs.jit import inlined
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax
from .. import arithmetic
from ..promotion import broadcast_to, given_flag
from ..shaping import matrix_transpose
from ..taking import take_along_axis
from ..ufuncs import _like, abs as _abs
from .matrices import argsort, as_matrices, conjugate_transpose


class EighResult(NamedTuple):
    """What `eigh` returns: rising ``eigenvalues`` ``[..., n]`` and ``eigenvectors`` ``[..., n, n]``, one in each column.

    >>> jnp.linalg.eigh(jnp.diag(jnp.array([2., 1.]))).eigenvalues
    Array([1., 2.], dtype=float32)
    """

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """What `eig` returns: complex ``eigenvalues`` ``[..., n]`` and ``eigenvectors`` ``[..., n, n]``, one in each column.

    >>> jnp.linalg.eig(jnp.array([[0., 1.], [-1., 0.]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns: ``Q`` with orthonormal columns and upper triangular ``R``, whose product is the matrix.

    >>> q, r = jnp.linalg.qr(jnp.array([[3., 1.], [4., 2.]]))
    >>> (q @ r).round(5)
    Array([[3., 1.],
           [4., 2.]], dtype=float32)
    """

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """What `svd` returns: ``U``, falling singular values ``S`` and ``Vh``; the matrix is ``(U * S) @ Vh``.

    >>> jnp.linalg.svd(jnp.diag(jnp.array([1., 2.]))).S
    Array([2., 1.], dtype=float32)
    """

    U: Array
    S: Array
    Vh: Array


@inlined(static_argnames=("upper", "symmetrize_input"))
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The triangular ``L`` with ``L @ L.conj().T == a``.

    Args:
      a: positive definite matrices, ``(..., n, n)``.
      upper: return ``L.conj().T`` instead.
      symmetrize_input: take the mean of ``a`` and its conjugate transpose first.

    Returns:
      an array like ``a``; NaN where a matrix is not positive definite.

    Source: `numpy.linalg.cholesky`.

    >>> jnp.linalg.cholesky(jnp.array([[4., 2.], [2., 5.]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    a = as_matrices("cholesky", a, True, narrow=True)
    out = lax.linalg.cholesky(conjugate_transpose(a) if upper and not symmetrize_input else a, symmetrize_input=symmetrize_input)
    return conjugate_transpose(out) if upper else out


@inlined(static_argnames=("full_matrices", "compute_uv", "hermitian", "subset_by_index"))
def _svd(a, full_matrices, compute_uv, hermitian, subset_by_index):
    a = as_matrices("svd", a, unranked=TypeError)
    if not hermitian:
        out = lax.linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index)
        return tuple(out) if compute_uv else out if not isinstance(out, (tuple, list)) else out[0]
    vectors, values = lax.linalg.eigh(a, symmetrize_input=True)
    size = _abs(values)
    order = lax.rev(argsort(size), (size.ndim - 1,))
    size = take_along_axis(size, order, -1, mode="clip")
    if not compute_uv:
        return size
    values = take_along_axis(values, order, -1, mode="clip")
    u = take_along_axis(vectors, lax.expand_dims(order, (order.ndim - 1,)), -1, mode="clip")
    signs = arithmetic.select(lax.lt(values, _like(values, 0)), _like(values, -1), _like(values, 1))
    vh = lax.mul(lax.convert_element_type(broadcast_to(lax.expand_dims(signs, (signs.ndim,)), u.shape), u.dtype), conjugate_transpose(u))
    return u, size, vh


def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
        subset_by_index: tuple[int, int] | None = None) -> Any:
    """Singular value decomposition ``a == U @ diag(S) @ Vh``.

    Args:
      a: matrices, ``(..., m, n)``.
      full_matrices: ``U`` and ``Vh`` square, else with ``min(m, n)`` columns and rows.
      compute_uv: False for the singular values alone.
      hermitian: ``a`` is hermitian, which is faster.
      subset_by_index: range of the singular values wanted.

    Returns:
      the triple (U, S, Vh), or S; singular values fall.

    Source: `numpy.linalg.svd`.

    >>> jnp.linalg.svd(jnp.array([[3., 0.], [0., -5.]]), compute_uv=False)
    Array([5., 3.], dtype=float32)
    """
    out = _svd(a, given_flag(full_matrices), given_flag(compute_uv), given_flag(hermitian), subset_by_index)
    return SVDResult(*out) if compute_uv else out


def svdvals(x: ArrayLike, /) -> Array:
    """Singular values, falling. Source: `numpy.linalg.svdvals`.

    >>> jnp.linalg.svdvals(jnp.array([[3., 0.], [0., -5.]]))
    Array([5., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues (rising) and eigenvectors of hermitian matrices.

    Args:
      a: ``(..., n, n)``.
      UPLO: "L" (default) or "U": which triangle is read.
      symmetrize_input: take the mean of ``a`` and its conjugate transpose first.

    Raises:
      ValueError: another ``UPLO``.

    Source: `numpy.linalg.eigh`.

    >>> jnp.linalg.eigh(jnp.array([[2., 0.], [0., 1.]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"UPLO must be one of None, 'L', or 'U', got {UPLO!r}")
    values, vectors = _eigh(a, UPLO in (None, "L"), given_flag(symmetrize_input))
    return EighResult(values, vectors)


@inlined(static_argnums=(1, 2))
def _eigh(a, lower, symmetrize_input):
    vectors, values = lax.linalg.eigh(as_matrices("eigh", a, True, narrow=True), lower=lower, symmetrize_input=symmetrize_input)
    return values, vectors


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of hermitian matrices, rising; arguments as for `eigh`. Source: `numpy.linalg.eigvalsh`.

    >>> jnp.linalg.eigvalsh(jnp.array([[2., 0.], [0., 1.]]))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and right eigenvectors of square matrices, as complex numbers. Source: `numpy.linalg.eig`.

    >>> jnp.sort(jnp.linalg.eig(jnp.array([[0., 1.], [-1., 0.]])).eigenvalues.imag)
    Array([-1.,  1.], dtype=float32)
    """
    return EigResult(*_eig(a))


@inlined()
def _eig(a):
    values, vectors = lax.linalg.eig(as_matrices("eig", a, True, TypeError), compute_left_eigenvectors=False)
    return values, vectors


@inlined()
def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices, as complex numbers. Source: `numpy.linalg.eigvals`.

    >>> jnp.sort(jnp.linalg.eigvals(jnp.array([[3., 0.], [1., 1.]])).real)
    Array([1., 3.], dtype=float32)
    """
    return lax.linalg.eig(as_matrices("eigvals", a, True, TypeError), compute_left_eigenvectors=False,
                          compute_right_eigenvectors=False)[0]


@inlined(static_argnums=(1,))
def _qr(a, mode):
    a = as_matrices("qr", a, unranked=TypeError)
    if mode == "raw":
        packed, taus = lax.linalg.geqrf(a)
        return matrix_transpose(packed), taus
    q, r = lax.linalg.qr(a, full_matrices=mode == "complete")
    return r if mode == "r" else (q, r)


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """QR decomposition: ``a == Q @ R``, ``Q`` unitary, ``R`` upper triangular.

    Args:
      a: matrices, ``(..., m, n)``.
      mode: "reduced" (``min(m, n)`` columns of ``Q``), "complete" (``m``), "r" for ``R`` alone, or "raw" for LAPACK's
        reflectors and factors.

    Raises:
      ValueError: another mode.

    Source: `numpy.linalg.qr`.

    >>> q, r = jnp.linalg.qr(jnp.array([[0., 1.], [2., 0.]]))
    >>> jnp.allclose(q @ r, jnp.array([[0., 1.], [2., 0.]]))
    Array(True, dtype=bool)
    """
    if mode not in ("reduced", "r", "full", "complete", "raw"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    out = _qr(a, "reduced" if mode == "full" else mode)
    return out if mode == "r" else QRResult(*out)
