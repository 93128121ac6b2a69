"""Functions of square matrices: exponential, square root, and any analytic function.

The exponential is Higham's scaling and squaring with one Pade approximant; its derivative comes from differentiating the
steps. Root and general functions go through the complex Schur form, a superdiagonal at a time; the derivative of the root
is the solution of the Sylvester equation ``X dX + dX X = dA``.

Sources: Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26 (2005);
Higham, "Functions of Matrices", SIAM 2008, algorithms 6.3, 9.1 (Parlett's recurrence) and section 3.
"""
from __future__ import annotations

import math
from typing import Callable

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike
from jax_core.transformations.autodiff import jvp
from jax_core.transformations.custom_jvp import custom_jvp
from jax_core.transformations.vmap import vmap

from ... import lax, numpy as jnp
from ...numpy.creation import of_list
from ...numpy.promotion import given_flag
from .common import adjoint, matrices, mm, to_complex
from .decompositions import rsf2csf, schur
from .solving import triangular_sylvester

# -- exponential -------------------------------------------------------------------------------------------------------


def _pade_coefficients(m: int) -> list[float]:
    """Of the numerator of the [m/m] approximant of exp (Higham 2005, (2.2)), scaled to end in 1."""
    b = [math.factorial(2 * m - j) * math.factorial(m) // (math.factorial(m - j) * math.factorial(j)) for j in range(m + 1)]
    return [float(x // b[-1]) for x in b]


_DEGREES = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}  # bytes of a real: degree, largest 1-norm (Higham, table 2.3)


def _pade(a, degree, upper_triangular):
    b = _pade_coefficients(degree)
    eye = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    a2 = mm(a, a)
    a4 = mm(a2, a2)
    a6 = mm(a4, a2)
    powers = [eye, a2, a4, a6]

    def even(coefficients):
        return sum(c * p for c, p in zip(coefficients, powers))
    odd_part, even_part = even(b[1:8:2]), even(b[0:7:2])
    if degree == 13:
        odd_part = odd_part + mm(a6, sum(c * p for c, p in zip(b[9::2], powers[1:])))
        even_part = even_part + mm(a6, sum(c * p for c, p in zip(b[8::2], powers[1:])))
    u = mm(a, odd_part)
    if upper_triangular:
        return lax.linalg.triangular_solve(even_part - u, even_part + u, left_side=True, lower=False)
    return jnp.linalg.solve(even_part - u, even_part + u)


def _expm(a, upper_triangular, max_squarings):
    real = np.dtype(dtypes.finfo(a.dtype).dtype)
    degree, limit = _DEGREES[real.itemsize]
    norm = jnp.max(jnp.sum(jnp.abs(a), -2), -1) if a.shape[-1] else jnp.zeros(a.shape[:-2], real)
    count = jnp.ceil(jnp.log2(jnp.maximum(norm / limit, 1.0)))
    count = lax.stop_gradient(jnp.where(jnp.isfinite(count), count, max_squarings + 1.0))
    scale = jnp.where(count > max_squarings, np.nan, jnp.exp2(-count))  # of a product, so that the derivative is NaN, too
    x = _pade(a * scale[..., None, None].astype(a.dtype), degree, upper_triangular)

    def square(x: Array, i):
        return lax.cond(i < count, lambda x: mm(x, x), lambda x: x, x), None
    return lax.scan(square, x, jnp.arange(max_squarings, dtype=count.dtype))[0] if max_squarings else x


@inlined(static_argnames=("upper_triangular", "max_squarings"))
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The matrix exponential.

    Args:
      A: ``(..., n, n)``.
      upper_triangular: ``A`` is upper triangular, so that a triangular system is solved.
      max_squarings: the result is NaN where more would be needed, that is for 1-norms above about ``5 * 2**16``.

    Raises:
      ValueError: not square.

    Source: `scipy.linalg.expm`.

    >>> jsp.linalg.expm(jnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    a, = matrices("expm", A)
    narrow = a.dtype
    if dtypes.finfo(narrow).bits < 32:
        a = a.astype(np.float32)
    if a.ndim == 2:
        return _expm(a, upper_triangular, max_squarings).astype(narrow)
    flat = a.reshape((math.prod(a.shape[:-2]), *a.shape[-2:]))
    return vmap(lambda x: _expm(x, upper_triangular, max_squarings))(flat).reshape(a.shape).astype(narrow)


def expm_frechet(A: ArrayLike, E: ArrayLike, *, method: str | None = None,
                 compute_expm: bool = True) -> Array | tuple[Array, Array]:
    """The derivative of `expm` at ``A`` in the direction ``E``; with ``compute_expm`` the pair of value and derivative.

    Args:
      method: None, "SPS" or "blockEnlarge", for compatibility; the steps of the exponential are differentiated.

    Raises:
      ValueError: another method, or matrices of two shapes.

    Source: `scipy.linalg.expm_frechet`.

    >>> jax.scipy.linalg.expm_frechet(jnp.zeros((2, 2)), jnp.eye(2), compute_expm=False)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"jax.scipy.linalg.expm_frechet: method must be 'SPS' or 'blockEnlarge', got {method!r}")
    return _expm_frechet(A, E, given_flag(compute_expm))


@inlined(static_argnums=(2,))
def _expm_frechet(a, e, compute_expm):
    a, e = matrices("expm_frechet", *map(of_list, (a, e)))
    if e.shape != a.shape:
        raise ValueError(f"jax.scipy.linalg.expm_frechet: A and E must have one shape, got {a.shape} and {e.shape}")
    value, derivative = jvp(expm, (a,), (e,))
    return (value, derivative) if compute_expm else derivative


# -- functions by the Schur form ---------------------------------------------------------------------------------------

def _superdiagonal(x, p):
    """Mask of the elements ``p`` right of the diagonal."""
    i = jnp.arange(x.shape[-1])
    return i[None, :] - i[:, None] == p


def _safe_ratio(top, bottom):
    return jnp.where(bottom == 0, jnp.where(top == 0, 0.0, np.nan), top / jnp.where(bottom == 0, 1.0, bottom))


def _triangular_root(t):
    """``u`` with ``u @ u = t``: on each superdiagonal, products of elements nearer to the diagonal are known."""
    d = jnp.sqrt(jnp.diagonal(t))
    sums = d[:, None] + d[None]

    def step(p: Array, u: Array):
        return jnp.where(_superdiagonal(t, p), _safe_ratio(t - mm(u, u), sums), u)
    return lax.fori_loop(1, t.shape[-1], step, jnp.diag(d))


@custom_jvp
def _sqrtm(a):
    t, z = lax.linalg.schur(a)
    return mm(mm(z, _triangular_root(t)), adjoint(z))


@_sqrtm.defjvp
def _sqrtm_jvp(primals, tangents):
    (a,), (da,) = primals, tangents
    x = _sqrtm(a)
    t, z = lax.linalg.schur(x)
    dx = triangular_sylvester(t, t, mm(adjoint(z), mm(da, z)))
    return x, mm(z, mm(dx, adjoint(z)))


@inlined(static_argnums=(1,))
def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of a matrix, complex. NaN where there is none.

    Args:
      A: ``(n, n)``.
      blocksize: must be 1.

    Raises:
      ValueError: ``A`` is not one matrix.
      NotImplementedError: ``blocksize`` is above 1.

    Source: `scipy.linalg.sqrtm`.

    >>> jnp.round(jsp.linalg.sqrtm(jnp.array([[4., 0.], [0., 9.]])).real, 3)
    Array([[2.       , 0.       ],
           [0.       , 3.0000002]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError("jax.scipy.linalg.sqrtm: blocksize must be 1; the result does not depend on it")
    a, = matrices("sqrtm", A, no_matrix=TypeError)
    if a.ndim != 2:
        raise ValueError(f"jax.scipy.linalg.sqrtm: A must be one matrix, got shape {a.shape}; use jax.vmap")
    return _sqrtm(to_complex(a))


def funm(A: ArrayLike, func: Callable[[ArrayLike], ArrayLike], disp: bool = True) -> Array | tuple[Array, Array]:
    """The analytic function ``func`` of a matrix, complex, by Parlett's recurrence.

    Args:
      A: ``(n, n)``, best with distinct eigenvalues.
      func: takes a vector of complex numbers, elementwise.
      disp: False to return also an estimate of the error: epsilon times the norm of the strict triangle of the Schur form over the
        smallest gap of eigenvalues.

    Raises:
      ValueError: ``A`` is not one matrix.

    Source: `scipy.linalg.funm`.

    >>> jax.scipy.linalg.funm(jnp.diag(jnp.array([4.0, 9.0])), jnp.sqrt)
    Array([[2.+0.j, 0.+0.j],
           [0.+0.j, 3.+0.j]], dtype=complex64)
    """
    a, = matrices("funm", A)
    if a.ndim != 2:
        raise ValueError(f"jax.scipy.linalg.funm: A must be one matrix, got shape {a.shape}; use jax.vmap")
    if a.size == 0:
        empty = to_complex(a)
        return empty if disp else (empty, jnp.zeros((), jnp.real(empty).dtype))
    t, z = schur(a)
    if not dtypes.issubdtype(t.dtype, np.complexfloating):  # so that real eigenvalues stay real, on the right side of a cut
        t, z = rsf2csf(t, z)
    n, d = t.shape[-1], jnp.diagonal(t)
    gaps = d[None, :] - d[:, None]
    eps = float(dtypes.finfo(t.dtype).eps)
    smallest = jnp.min(jnp.where(jnp.triu(jnp.ones((n, n), bool), 1), jnp.abs(gaps), jnp.abs(d[0])))
    gaps = jnp.where(gaps == 0, eps, gaps)

    def step(p: ArrayLike, f):
        commutator = mm(f, t) - mm(t, f)  # f commutes with t; unknown elements are still 0
        return jnp.where(_superdiagonal(t, p), -commutator / gaps, f)
    f = lax.fori_loop(1, n, step, jnp.diag(func(d)))
    out = mm(mm(z, f), adjoint(z))
    if disp:
        return out
    scale = jnp.max(jnp.sum(jnp.abs(jnp.triu(t, 1)), 0)) / jnp.where(smallest == 0, eps, smallest)
    error = jnp.where(jnp.any(jnp.isinf(out)), np.inf, jnp.clip(eps * scale, eps, 1.0))
    return out, error.astype(jnp.real(out).dtype)
