"""Norms of vectors and matrices, and what is measured by them: condition and rank."""
from __future__ import annotations

import functools
import math
from typing import Any, Callable

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike

from ... import lax
from .. import arithmetic, reductions
from ..promotion import as_array, canonical_axes, check_arraylike, given_flag, given_key_axes, in_float32, promote_dtypes_inexact
from ..shaping import moveaxis
from ..ufuncs import _like, abs as _abs
from .decompositions import svd
from .matrices import as_matrices, squared_modulus
from .systems import inv


def _root(total: Array) -> Array:
    """Square root whose derivative at 0 is 0, which is a subgradient of a norm there; a total and its root are no cases of one choice, as
    unxt's numbers with units are in different ones."""
    zero = lax.eq(total, _like(total, 0))
    return arithmetic.select(zero, _like(total, 0), lax.sqrt(arithmetic.select(zero, _like(total, 1), total)))


def _vector_norm(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if ord is None or ord == 2:
        return _root(reductions.sum(squared_modulus(x), axis=axis, keepdims=keepdims))
    size = _abs(x)
    if ord == np.inf:
        return reductions.max(size, axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return reductions.min(size, axis=axis, keepdims=keepdims, initial=None if size.size else np.inf)
    if ord == 0:
        return reductions.sum(lax.convert_element_type(lax.ne(x, _like(x, 0)), size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return reductions.sum(size, axis=axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"jax.numpy.linalg.norm: ord={ord!r} is no norm of vectors; there are None, numbers, and jnp.inf and -jnp.inf (no strings)")
    total = reductions.sum(arithmetic.power(size, ord), axis=axis, keepdims=keepdims)
    return arithmetic.power(total, 1.0 / ord)


def _matrix_norm(x: Array, ord: Any, axes: tuple, keepdims: bool) -> Array:
    rows, columns = axes
    if ord is None or ord in ("f", "fro"):
        return _root(reductions.sum(squared_modulus(x), axis=axes, keepdims=keepdims))
    if ord in (1, -1, np.inf, -np.inf):
        inner, outer_axis = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reductions.sum(_abs(x), axis=inner, keepdims=True)
        fold = reductions.max if ord > 0 else reductions.min
        out = fold(sums, axis=outer_axis, keepdims=True, **({"initial": 0} if ord > 0 else {"initial": np.inf}))
        return out if keepdims else lax.squeeze(out, tuple(sorted(axes)))
    if ord in ("nuc", 2, -2):
        s = svd(moveaxis(x, axes, (-2, -1)), compute_uv=False)
        folds: dict[Any, Callable[..., Array]] = {"nuc": reductions.sum, 2: reductions.max, -2: reductions.min}
        out = folds[ord](s, axis=-1, **({"initial": 0} if ord == 2 else {}))  # of no elements the largest is 0
        return lax.expand_dims(out, tuple(sorted(axes))) if keepdims else out
    raise ValueError(f"jax.numpy.linalg.norm: ord={ord!r} is no norm of matrices; there are None, 'fro', 'nuc', 1, -1, 2, -2, jnp.inf and -jnp.inf")


def norm(x: ArrayLike, ord: int | str | float | None = None, axis: tuple[int, ...] | int | None = None,
         keepdims: bool = False) -> Array:
    """Norm of vectors or matrices.

    Args:
      x: array.
      ord: order: of vectors a number, inf, -inf or 0 (count of nonzero elements), by default 2; of matrices "fro"
        (default), "nuc", 1, -1, 2, -2, inf, -inf.
      axis: an axis for vectors, a pair for matrices; None for the whole array, as a vector if ``ord`` is None.
      keepdims: keep reduced axes with length 1.

    Raises:
      ValueError: an order that there is not, or more than two axes.

    Source: `numpy.linalg.norm`.

    >>> jnp.linalg.norm(jnp.array([3., 4.]))
    Array(5., dtype=float32)
    >>> jnp.linalg.norm(jnp.array([[3., 4.], [6., 8.]]), axis=1, ord=1)
    Array([ 7., 14.], dtype=float32)
    """
    check_arraylike("jnp.linalg.norm", x)
    return _norm(x, _order("norm", ord),
                 given_key_axes(axis), given_flag(keepdims))


def _order(name: str, ord: Any) -> int | float | str | None:
    """``ord`` as it can be told apart. Raises ValueError unless it is None, a number or a string."""
    if ord is None or isinstance(ord, (str, int, float)):
        return ord
    try:
        return float(ord)
    except (TypeError, ValueError):
        raise ValueError(f"jnp.linalg.{name}: ord={ord!r} must be None, a number or one of the strings that name a norm") from None


@inlined(static_argnums=(1, 2, 3))
def _norm(x, ord, axis, keepdims):
    x, = promote_dtypes_inexact(x)
    x = as_array(x)
    if axis is None:
        if ord is None:
            return in_float32(lambda x: _root(reductions.sum(squared_modulus(x), keepdims=keepdims)), x)
        axes: tuple = tuple(range(x.ndim))
    else:
        axes = canonical_axes(axis, x.ndim)
    if len(axes) == 1:
        return in_float32(lambda x: _vector_norm(x, ord, axes, keepdims), x)
    if len(axes) == 2:
        if ord in ("nuc", 2, -2):  # of singular values, which halves do not have
            return _matrix_norm(x, ord, axes, keepdims)
        return in_float32(lambda x: _matrix_norm(x, ord, axes, keepdims), x)
    raise ValueError(f"jax.numpy.linalg.norm: axis={axis} names {len(axes)} axes; give one for norms of vectors, two for norms of "
                     "matrices")


def vector_norm(x: ArrayLike, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False,
                ord: int | str | float = 2) -> Array:
    """Norm of vectors along axes, or of the flattened array.

    Args:
      axis: an axis, several, whose elements count as one vector, or None for all.
      keepdims: keep reduced axes with length 1.
      ord: as for `norm` of a vector.

    Source: `numpy.linalg.vector_norm`, array API standard.

    >>> jnp.linalg.vector_norm(jnp.array([3., 4.]))
    Array(5., dtype=float32)
    """
    check_arraylike("jnp.linalg.vector_norm", x)
    return _norm_of_all(x, _order("vector_norm", ord), given_key_axes(axis), given_flag(keepdims))


@inlined(static_argnums=(1, 2, 3))
def _norm_of_all(x, ord, axis, keepdims):
    x = as_array(x)
    if not dtypes.issubdtype(x.dtype, np.inexact):  # squares of any integers are summed as wide as there is
        x = lax.convert_element_type(x, dtypes.canonicalize_dtype(np.dtype(np.float64)))
    axes = canonical_axes(axis, x.ndim)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    rest = [i for i in range(x.ndim) if i not in axes]
    line = lax.reshape(lax.transpose(x, (*rest, *axes)), (*(x.shape[i] for i in rest), math.prod(x.shape[i] for i in axes)))
    out = in_float32(lambda line: _vector_norm(line, ord, (line.ndim - 1,), False), line)
    return lax.reshape(out, kept) if keepdims else out


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: str | int = "fro") -> Array:
    """Norm of the matrices on the last two axes.

    Args:
      keepdims: keep the last two axes with length 1.
      ord: as for `norm` of a matrix.

    Source: `numpy.linalg.matrix_norm`, array API standard.

    >>> jnp.linalg.matrix_norm(jnp.array([[3., 0.], [0., 4.]]))
    Array(5., dtype=float32)
    """
    return norm(x, ord, (-2, -1), keepdims)


def cond(x: ArrayLike, p: int | str | float | None = None) -> Array:
    """Condition number: the norm times that of the inverse.

    Args:
      x: matrices.
      p: order of the norm; None and 2, -2 go by singular values.

    Raises:
      ValueError: matrices of no elements; ones that are not square, for another norm than those by singular values.

    Source: `numpy.linalg.cond`.

    >>> jnp.linalg.cond(jnp.diag(jnp.array([4., 2.])))
    Array(2., dtype=float32)
    """
    return _cond(x, _order("cond", p))


@inlined(static_argnums=(1,))
def _cond(x, p):
    x = as_matrices("cond", x, narrow=True)
    if 0 in x.shape[-2:]:
        raise ValueError(f"jnp.linalg.cond: matrices with elements are needed, got shape {x.shape}")
    if p not in (None, 2, -2) and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"jnp.linalg.cond: array must be square for p={p!r}; got shape {x.shape}")
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        out = s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]  # NaN of a zero matrix
    else:
        out = norm(x, p, (-2, -1)) * norm(inv(x), p, (-2, -1))
    holds_nan = reductions.any(lax.ne(x, x), axis=(-2, -1))
    infinite = lax.bitwise_and(lax.ne(out, out), lax.bitwise_not(holds_nan))
    return arithmetic.select(infinite, _like(out, np.inf), out)


def _second_is_a_limit(function: Callable[..., Array]) -> Callable[..., Array]:
    """By position NumPy's second argument is the limit itself, which it calls ``tol``, though the array API has ``rtol`` there."""
    @functools.wraps(function)
    def rank(*given: Any, **named: Any) -> Array:
        if len(given) == 2 and given[1] is not None and not named.keys() & {"rtol", "tol"}:
            return function(given[0], tol=given[1], **named)
        return function(*given, **named)
    return rank


@_second_is_a_limit
def matrix_rank(M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False,
                tol: ArrayLike | None = None) -> Array:
    """Number of singular values above a limit.

    Args:
      M: matrices, or a vector, whose rank is 1 unless it is 0.
      rtol: limit, as a share of the largest; by default epsilon times ``max(m, n)``. Given by position it is ``tol``, as in NumPy.
      hermitian: ``M`` is hermitian.
      tol: limit itself, an older form.

    Raises:
      ValueError: both ``rtol`` and ``tol`` are given.

    Source: `numpy.linalg.matrix_rank`.

    >>> jnp.linalg.matrix_rank(jnp.ones((3, 3)))
    Array(1, dtype=int32)
    """
    check_arraylike("jnp.linalg.matrix_rank", M)
    if tol is not None and rtol is not None:
        raise ValueError("jnp.linalg.matrix_rank: rtol and tol say the same thing; give one of them")
    check_arraylike("jnp.linalg.matrix_rank", *(t for t in (tol, rtol) if t is not None))
    return _matrix_rank(M, rtol, tol, given_flag(hermitian))


@inlined(static_argnums=(3,))
def _matrix_rank(M, rtol, tol, hermitian):
    M, = promote_dtypes_inexact(M)
    M = as_array(M)
    if M.ndim < 2:
        return reductions.any(lax.ne(M, _like(M, 0))).astype(np.int32)
    s = svd(M, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        limit = as_array(tol)
    else:
        share = max(M.shape[-2:]) * float(dtypes.finfo(M.dtype).eps) if rtol is None else as_array(rtol)
        limit = reductions.max(s, axis=-1) * share
    limit = limit.astype(s.dtype)
    limit = limit[..., None] if limit.ndim else limit
    return reductions.sum(s > limit, axis=-1)
