"""Matrices of special form, from their defining elements.

Those that depend on a size alone are computed by NumPy, exactly where their elements are integers.
"""
from __future__ import annotations

import functools
import math
import operator
from typing import Any, Callable

import numpy as np

from jax_core.configuration import flags
from jax_core.programs.jit import inlined
from jax_core.representation import dtypes
from jax_core.representation.arguments import joint_shape
from jax_core.representation.array import Array
from jax_core.representation.typing import ArrayLike, DTypeLike

from ... import numpy as jnp
from ...numpy.creation import _put
from ...numpy.promotion import as_array, check_arraylike, given_flag, promote_dtypes, promote_dtypes_inexact, strong


def _vectors(name: str, *args: Any, inexact: bool = False) -> list[Array]:
    check_arraylike(f"jax.scipy.linalg.{name}", *args)
    return [jnp.atleast_1d(as_array(x)) for x in (promote_dtypes_inexact if inexact else promote_dtypes)(*args)]


def _no_numbers(name: str, **given: Any) -> None:
    check_arraylike(f"jax.scipy.linalg.{name}", *(x for x in given.values() if x is not None))
    for argument, x in given.items():
        if x is not None and not np.shape(x):
            raise ValueError(f"jax.scipy.linalg.{name}: {argument} must be a vector, or several along leading axes; got a scalar.")


_KEPT = 1 << 8  # the longest side of a matrix that is kept on the host once it is computed


def _host(make: Callable[..., np.ndarray], *arguments: Any, dtype: Any = None) -> Array:
    """The matrix ``make(*arguments)``, where the first argument is the size; infinite where ``dtype`` does not hold it."""
    dtype = dtypes.canonicalize_dtype(np.float64) if dtype is None else dtypes.canonicalize_user_dtype(dtype, make.__name__.strip("_"))
    if arguments[0] > _KEPT:
        return _put(_computed.__wrapped__(make, dtype, *arguments))
    return _put(_computed(make, dtype, *arguments).copy())  # as the buffer of an array may be donated


@functools.lru_cache(maxsize=64)
def _computed(make: Callable[..., np.ndarray], dtype: np.dtype, *arguments: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        return make(*arguments).astype(dtype)


def _size(name: str, n: Any, or_float: bool = False) -> int:
    """``n`` as an integer; a float too, with ``or_float`` and if it is whole."""
    if or_float and isinstance(n, float) and n.is_integer():
        return int(n)
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"jax.scipy.linalg.{name}: the size must be a known integer, got {n!r}") from None


# -- from vectors ------------------------------------------------------------------------------------------------------

@inlined
def block_diag(*arrs: Any) -> Array:
    """The matrix with ``arrs`` as blocks on its diagonal; numbers and vectors count as one row.

    Raises:
      ValueError: a block with more than two axes.

    Source: `scipy.linalg.block_diag`.

    >>> jsp.linalg.block_diag(jnp.array([[1]]), jnp.array([[2, 3]]))
    Array([[1, 0, 0],
           [0, 2, 3]], dtype=int32)
    """
    arrs = arrs or (jnp.zeros((1, 0)),)
    check_arraylike("jax.scipy.linalg.block_diag", *arrs)
    blocks = [jnp.atleast_2d(as_array(x)) for x in promote_dtypes(*arrs)]
    for i, x in enumerate(blocks):
        if x.ndim > 2:
            raise ValueError(f"jax.scipy.linalg.block_diag: argument {i} must be a matrix, a vector or a scalar, got shape {x.shape}")
    columns, done, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        rows.append(jnp.pad(x, ((0, 0), (done, columns - done - x.shape[1]))))
        done += x.shape[1]
    return strong(jnp.concatenate(rows))


def _rows_and_columns(m: int, n: int) -> tuple[Any, Any]:
    """The numbers of the rows and of the columns of a matrix: known beforehand where they are few, else counted by the program, as a program
    for all lengths must."""
    count = jnp.arange if flags.one_form.value or m * n > _KEPT ** 2 else np.arange
    return count(m)[:, None], count(n)[None, :]


def _by_difference(line, m, n, first):
    """``out[..., i, j] = line[..., first + i - j]``."""
    i, j = _rows_and_columns(m, n)
    return jnp.take(line, first + i - j, axis=-1, mode="clip")


@inlined
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix with constant diagonals, first column ``c`` and first row ``r`` (the conjugate of ``c`` by default).

    Vectors are along the last axis; ``r[0]`` is not read.

    Source: `scipy.linalg.toeplitz`.

    >>> jsp.linalg.toeplitz(jnp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 1, 2],
           [3, 2, 1]], dtype=int32)
    """
    c, r = map(strong, (_vectors("toeplitz", c) * 2) if r is None else _vectors("toeplitz", c, r))
    if r is c:
        r = jnp.conj(c)
    batch = joint_shape(c.shape[:-1], r.shape[:-1])
    c, r = (jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in (c, r))
    m, n = c.shape[-1], r.shape[-1]
    if m == 0 or n == 0:
        return jnp.zeros((*batch, m, n), c.dtype)
    return _by_difference(jnp.concatenate([jnp.flip(r[..., 1:], -1), c], -1), m, n, n - 1)


@inlined
def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """The matrix with constant antidiagonals, first column ``c`` and last row ``r`` (zeros by default); ``r[0]`` is not read.

    Raises:
      ValueError: ``c`` or ``r`` is a number.

    Source: `scipy.linalg.hankel`.

    >>> jsp.linalg.hankel(jnp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 3, 0],
           [3, 0, 0]], dtype=int32)
    """
    _no_numbers("hankel", c=c, r=r)
    c, r = map(strong, _vectors("hankel", c, jnp.zeros_like(jnp.asarray(c)) if r is None else r))
    batch = joint_shape(c.shape[:-1], r.shape[:-1])
    c, r = (jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in (c, r))
    m, n = c.shape[-1], r.shape[-1]
    if m == 0 or n == 0:
        return jnp.zeros((*batch, m, n), c.dtype)
    line = jnp.concatenate([c, r[..., 1:]], -1)
    i, j = _rows_and_columns(m, n)
    return jnp.take(line, i + j, axis=-1, mode="clip")


@inlined
def circulant(c: ArrayLike) -> Array:
    """The matrix whose columns are ``c``, moved down by one more each time, around the end.

    Source: `scipy.linalg.circulant`.

    >>> jsp.linalg.circulant(jnp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    c, = _vectors("circulant", c)
    n = c.shape[-1]
    i, j = _rows_and_columns(n, n)
    return jnp.take(c, (i - j) % max(n, 1), axis=-1, mode="clip")


@inlined
def companion(a: ArrayLike) -> Array:
    """The companion matrix of the polynomial with coefficients ``a``, highest first: its eigenvalues are the roots.

    Raises:
      ValueError: fewer than two coefficients.

    Source: `scipy.linalg.companion`.

    >>> jsp.linalg.companion(jnp.array([1., 2., 3.]))
    Array([[-2., -3.],
           [ 1.,  0.]], dtype=float32)
    """
    a, = _vectors("companion", a, inexact=True)
    n = a.shape[-1] - 1
    if n < 1:
        raise ValueError(f"jax.scipy.linalg.companion: a must have at least two coefficients, got shape {a.shape}")
    top = -a[..., 1:] / a[..., :1]
    shift = jnp.broadcast_to(jnp.eye(n - 1, n, dtype=a.dtype), (*a.shape[:-1], n - 1, n))
    return jnp.concatenate([top[..., None, :], shift], -2)


@inlined(static_argnums=(1, 2))
def _convolution_matrix(a, n, mode):
    a, = _vectors("convolution_matrix", a)
    m = a.shape[-1]
    zeros = jnp.zeros((*a.shape[:-1], n - 1), a.dtype)
    full = _by_difference(jnp.concatenate([zeros, a, zeros], -1), m + n - 1, n, n - 1)
    if mode == "full":
        return full
    rows = max(m, n) if mode == "same" else max(m, n) - min(m, n) + 1
    start = (m + n - 1 - rows) // 2 if mode == "same" else min(m, n) - 1
    return full[..., start:start + rows, :]


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """The matrix that convolves a vector of length ``n`` with ``a``; ``mode`` as for `jax.numpy.convolve`.

    Raises:
      ValueError: another mode, ``n`` not positive, or ``a`` empty or a number.

    >>> jax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 3)
    Array([[1, 0, 0],
           [2, 1, 0],
           [0, 2, 1],
           [0, 0, 2]], dtype=int32)
    """
    n = _size("convolution_matrix", n)
    _no_numbers("convolution_matrix", a=a)
    if n <= 0 or np.shape(a)[-1:] == (0,):
        raise ValueError(f"jax.scipy.linalg.convolution_matrix: n must be positive and a not empty, got n={n} and shape "
                         f"{np.shape(a)}")
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"jax.scipy.linalg.convolution_matrix: mode must be one of 'full', 'valid', 'same'; got {mode!r}.")
    return _convolution_matrix(a, n, mode)


@inlined
def fiedler(a: ArrayLike) -> Array:
    """The symmetric matrix of differences ``|a[i] - a[j]|``. Source: `scipy.linalg.fiedler`.

    >>> jax.scipy.linalg.fiedler(jnp.array([1, 4, 6]))
    Array([[0, 3, 5],
           [3, 0, 2],
           [5, 2, 0]], dtype=int32)
    """
    a, = _vectors("fiedler", a)
    return jnp.abs(a[..., :, None] - a[..., None, :])


@inlined
def fiedler_companion(a: ArrayLike) -> Array:
    """Fiedler's companion matrix of the polynomial ``a``, highest coefficient first: pentadiagonal, with its roots as
    eigenvalues. Source: Fiedler, "A note on companion matrices", Linear Algebra Appl. 372 (2003).

    Raises:
      ValueError: there are no coefficients.

    >>> jax.scipy.linalg.fiedler_companion(jnp.array([1.0, -6.0, 11.0, -6.0]))
    Array([[  6., -11.,   1.],
           [  1.,   0.,   0.],
           [  0.,   6.,   0.]], dtype=float32)
    """
    a, = _vectors("fiedler_companion", a, inexact=True)
    n = a.shape[-1] - 1
    if n < 0:
        raise ValueError(f"fiedler_companion: a of shape {a.shape} has no coefficients; give that of the highest power, at least")
    c = a / a[..., :1]
    if n < 2:
        return -c[..., 1:, None][..., :n]
    i, j = _rows_and_columns(n, n)
    even = i % 2 == 0
    taken = even & ((j == i + 1) | (j == i - 1)) | (i == 0) & (j == 0)
    one = even & (j == i + 2) | ~even & (j == i - 2) | (i == 1) & (j == 0)
    return jnp.where(taken, -jnp.take(c, i + 1 + (j > i), axis=-1, mode="clip"), one.astype(c.dtype))


@inlined
def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Leslie's matrix of a population: fecundities ``f`` in the first row, survival rates ``s`` below the diagonal.

    Raises:
      ValueError: ``s`` is not one shorter than ``f``.

    Source: `scipy.linalg.leslie`.

    >>> jax.scipy.linalg.leslie(jnp.array([0.1, 2.0, 1.0]), jnp.array([0.5, 0.8]))
    Array([[0.1, 2. , 1. ],
           [0.5, 0. , 0. ],
           [0. , 0.8, 0. ]], dtype=float32)
    """
    f, s = _vectors("leslie", f, s)
    n = f.shape[-1]
    if s.shape[-1] != n - 1 or n < 2:
        raise ValueError(f"jax.scipy.linalg.leslie: s must be one shorter than f, and not empty; got shapes {f.shape} and "
                         f"{s.shape}")
    batch = joint_shape(f.shape[:-1], s.shape[:-1])
    f, s = jnp.broadcast_to(f, (*batch, n)), jnp.broadcast_to(s, (*batch, n - 1))
    low = jnp.pad(jnp.where(np.eye(n - 1, dtype=bool), s[..., None, :], 0), [(0, 0)] * len(batch) + [(0, 0), (0, 1)])
    return jnp.concatenate([f[..., None, :], low], -2)


# -- from a size -------------------------------------------------------------------------------------------------------

def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix of the discrete Fourier transform of length ``n``, divided by ``n`` or its root as ``scale`` says.

    Raises:
      ValueError: another ``scale``, or a dtype that is not complex.

    Source: `scipy.linalg.dft`.

    >>> jnp.round(jax.scipy.linalg.dft(2).real, 4)
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    n = _size("dft", n, or_float=True)
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"jax.scipy.linalg.dft: scale must be None, 'sqrtn', or 'n'; got {scale!r}.")
    if dtype is not None and not dtypes.issubdtype(dtype, np.complexfloating):
        raise ValueError(f"jax.scipy.linalg.dft: dtype must be complex, got {dtype}")
    return _host(_dft, max(n, 0), scale, dtype=dtypes.to_complex_dtype(dtypes.default_float_dtype()) if dtype is None else dtype)


def _dft(n, scale):
    turns = np.outer(np.arange(n), np.arange(n)) % max(n, 1)
    return np.exp(-2j * np.pi * turns / max(n, 1)) / {None: 1, "sqrtn": math.sqrt(max(n, 1)), "n": max(n, 1)}[scale]


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """Sylvester's matrix of 1 and -1 with orthogonal rows; ``n`` a power of 2. Raises ValueError for another ``n``.

    Source: `scipy.linalg.hadamard`.

    >>> jsp.linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    n = _size("hadamard", n, or_float=True)
    if n < 1 or n & (n - 1):
        raise ValueError(f"jax.scipy.linalg.hadamard: n must be a positive power of 2; got {n}.")
    return _host(_hadamard, n, dtype=dtype)


def _hadamard(n):
    ones = np.bitwise_and.outer(np.arange(n), np.arange(n))
    odd = sum((ones >> k) & 1 for k in range(max(n.bit_length(), 1))) & 1
    return 1 - 2 * odd


def helmert(n: int, full: bool = False) -> Array:
    """Helmert's orthogonal matrix; by default without its first row, the constant one.

    Args:
      full: with the first row, of equal numbers.

    Raises:
      ValueError: ``n`` is below 1.

    Source: `scipy.linalg.helmert`.

    >>> jax.scipy.linalg.helmert(2)
    Array([[ 0.70710677, -0.70710677]], dtype=float32)
    """
    n, full = _size("helmert", n, or_float=True), given_flag(full)
    if n < 1:
        raise ValueError(f"jax.scipy.linalg.helmert: n must be a positive integer; got {n}.")
    return _host(_helmert, n, full)


def _helmert(n, full):
    out = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    out[0] = 1
    k = np.arange(n)
    out /= np.sqrt(np.where(k == 0, n, k * (k + 1.0)))[:, None]
    return out if full else out[1:]


def hilbert(n: int) -> Array:
    """The matrix ``1 / (i + j + 1)``.

    Raises:
      ValueError: ``n`` is negative.

    Source: `scipy.linalg.hilbert`.

    >>> jsp.linalg.hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    n = _size("hilbert", n)
    if n < 0:
        raise ValueError(f"jax.scipy.linalg.hilbert: n must not be negative; got {n}.")
    return _host(_hilbert, n)


def _hilbert(n):
    return 1.0 / (np.arange(n)[:, None] + np.arange(n)[None, :] + 1)


_LONGEST = 1 << 14  # of a side of a table of Python integers: 2e8 of them take minutes


def _side(n):
    if n > _LONGEST:
        raise ValueError(f"a table of {n} by {n} integers is too large; at most {_LONGEST} by {_LONGEST} are computed")
    return max(n, 0)


def _floats(table):
    """Python's integers as float64, infinite where they are larger than its numbers."""
    try:
        return table.astype(np.float64)
    except OverflowError:
        most = int(np.finfo(np.float64).max)
        return np.where(table > most, np.inf, np.where(table < -most, -np.inf, np.clip(table, -most, most).astype(np.float64)))


def _alternating(table):
    """Every second element negative, as on a chessboard."""
    table = table.copy()
    table[::2, 1::2] *= -1
    table[1::2, ::2] *= -1
    return table


def invhilbert(n: int) -> Array:
    """The inverse of `hilbert`, whose elements are integers. Source: `scipy.linalg.invhilbert`.

    >>> jax.scipy.linalg.invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    n = _size("invhilbert", n, or_float=True)

    return _host(_invhilbert, _side(n))


def _invhilbert(n):
    """``(-1) ** (i + j) * p[i] * p[j] / (i + j + 1)``: the inverse of a matrix of Cauchy's form."""
    p = np.array([n * math.comb(n + i, i) * math.comb(n - 1, i) for i in range(n)], object)
    i = np.arange(n).astype(object)
    return _floats(_alternating(np.outer(p, p) // (i[:, None] + i + 1)))


_PASCAL = ["symmetric", "lower", "upper"]


def _pascal_kind(name, kind):
    kind = "symmetric" if kind is None else kind
    if not isinstance(kind, str) or kind not in _PASCAL:
        raise ValueError(f"jax.scipy.linalg.{name}: expected kind to be one of {_PASCAL}; got {kind}")
    return kind


def _binomials(n, kind):
    """``comb(i + j, i)``, ``comb(i, j)`` or ``comb(j, i)``, each row the running sum of the one before."""
    table = np.ones((n, n), object)
    for i in range(1, n):
        table[i] = np.add.accumulate(table[i - 1])
    if kind == "symmetric":
        return table
    i, j = np.indices((n, n))
    lower = np.where(i >= j, table[np.maximum(i - j, 0), j], 0)
    return lower if kind == "lower" else lower.T


def _pascal(n, kind):
    return _floats(_binomials(n, kind))


def pascal(n: int, kind: str | None = None) -> Array:
    """The matrix of binomial coefficients: "symmetric" (default), "lower" or "upper" triangular; float32 always.

    Args:
      kind: "symmetric", or "lower" or "upper" triangle.

    Source: `scipy.linalg.pascal`.

    >>> jsp.linalg.pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    return _host(_pascal, _side(_size("pascal", n, or_float=True)), _pascal_kind("pascal", kind), dtype=np.float32)


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal`, whose elements are integers. Source: `scipy.linalg.invpascal`.

    >>> jax.scipy.linalg.invpascal(3)
    Array([[ 3., -3.,  1.],
           [-3.,  5., -2.],
           [ 1., -2.,  1.]], dtype=float32)
    """
    return _host(_invpascal, _side(_size("invpascal", n, or_float=True)), _pascal_kind("invpascal", kind))


def _invpascal(n, kind):
    return _floats(_alternating(_products(n) if kind == "symmetric" else _binomials(n, kind)))


def _products(n):
    """The sum over k < n of ``comb(k, i) * comb(k, j)``.

    By Pascal's rule for k + 1, summed over k, an element and its neighbours in the row before add up to a product: ``m[i, j - 1] + m[i - 1, j] +
    m[i - 1, j - 1] = comb(n, i) * comb(n, j)``.
    """
    c = np.array([math.comb(n, i) for i in range(n + 1)], object)
    table = np.zeros((n, n + 1), object)  # the last column stays 0, as comb(k, n)
    table[:1, :-1] = c[1:]
    for i in range(1, n):
        table[i, :-1] = c[i] * c[1:] - table[i - 1, 1:] - table[i - 1, :-1]
    return table[:, :-1]
