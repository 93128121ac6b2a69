"""Linear algebra of sparse matrices: a direct solver. Extreme eigenvalues are in `lobpcg`."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from jax_core.representation.primitive import Primitive, Zero, is_linear
from jax_core.representation.typing import ArrayLike

from .. import lax, numpy as jnp
from .bcsr import _row_numbers, _row_starts
from .csr import CSR, csr_matvec
from .lobpcg import (
    _lobpcg_standard_callable as _lobpcg_standard_callable,
    _lobpcg_standard_matrix as _lobpcg_standard_matrix,
    lobpcg_standard as lobpcg_standard,
)

if TYPE_CHECKING:
    from jax_core.representation.array import Array


def _spsolve_type(data, indices, indptr, b, *, tol, reorder):
    if any(x.ndim != 1 for x in (data, indices, indptr, b)):
        raise ValueError("spsolve: data, indices, indptr and b must be vectors, got shapes "
                         f"{[x.shape for x in (data, indices, indptr, b)]}")
    n = b.shape[0]
    if indptr.shape[0] != n + 1 or data.shape != indices.shape:
        raise ValueError(f"spsolve: b of shape {b.shape} needs indptr of shape {(n + 1,)}, and data and indices of one shape, got "
                         f"{indptr.shape}, {data.shape} and {indices.shape}")
    if data.dtype != b.dtype:
        raise ValueError(f"spsolve: data and b must have one dtype, got {data.dtype} and {b.dtype}")
    return b.update(weak_type=False)


def _solve_on_host(data, indices, indptr, b):
    from scipy.sparse import csr_matrix  # an optional dependency: SciPy, loaded when a system is solved
    from scipy.sparse.linalg import spsolve as solve  # an optional dependency, as above
    n = b.shape[0]
    count = int(indptr[-1])
    matrix = csr_matrix((np.asarray(data)[:count], np.asarray(indices)[:count], np.asarray(indptr)), shape=(n, n))
    return (np.asarray(solve(matrix, np.asarray(b)), dtype=b.dtype).reshape(n),)


def _spsolve_lower(b, data, indices, indptr, rhs, *, tol, reorder):
    return b.host_callback(_solve_on_host, (data, indices, indptr, rhs), b.out_avals, has_side_effect=False, name="spsolve")[0]


def _spsolve_jvp(primals, tangents, **params):
    """A dx = db - dA x, with dA stored where A is."""
    data, indices, indptr, b = primals
    d_data, _, _, d_b = tangents
    x = spsolve_p.bind(*primals, **params)
    if isinstance(d_data, Zero) and isinstance(d_b, Zero):
        return x, Zero.of(x)
    right = None if isinstance(d_b, Zero) else d_b
    if not isinstance(d_data, Zero):
        moved = csr_matvec(CSR((d_data, indices, indptr), shape=(b.shape[0],) * 2), x)
        right = -moved if right is None else right - moved
    return x, spsolve_p.bind(data, indices, indptr, right, **params)


def _spsolve_transpose(ct, data, indices, indptr, b, **params):
    if not is_linear(b) or is_linear(data):
        raise NotImplementedError("spsolve is linear in b only")
    return None, None, None, spsolve_p.bind(*_transposed(data, indices, indptr), ct, **params)


def _transposed(data, indices, indptr):
    """The buffers of the transposed matrix: elements in order of columns."""
    n = indptr.shape[0] - 1
    rows = _row_numbers(indptr, data.shape[0])
    columns = jnp.where(rows < n, indices, n)
    order = jnp.lexsort((rows, columns))
    return data[order], jnp.minimum(rows, n - 1)[order].astype(indices.dtype), _row_starts(columns[order], n).astype(indptr.dtype)


def _spsolve_batch(axis, args, dims, **params):
    """One system after the other, as the solver takes one at a time."""
    args = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(args, dims)]
    mapped = [x for x, d in zip(args, dims) if d is not None]

    def one(xs: Sequence[Array]):
        rest = iter(xs)
        return spsolve_p.bind(*[x if d is None else next(rest) for x, d in zip(args, dims)], **params)
    return lax.map(one, tuple(mapped)), 0


spsolve_p = Primitive("spsolve", out_type=_spsolve_type, jvp=_spsolve_jvp, transpose=_spsolve_transpose,
                      batch=_spsolve_batch, lower=_spsolve_lower,
                      reference=lambda *args, tol, reorder: _solve_on_host(*args)[0])


def spsolve(data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, b: ArrayLike, tol: float = 1e-6,
            reorder: int = 1) -> Any:
    """The solution of ``A x = b`` for a square CSR matrix, by SciPy's direct solver on the host.

    Args:
      data, indices, indptr: of the matrix.
      b: a vector.
      tol, reorder: settings of the solver on GPUs; SciPy has none like them, so they make no difference.

    Raises:
      ValueError: not vectors, or lengths or dtypes that do not fit.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import linalg
    >>> m = sparse.BCSR.fromdense(jnp.array([[2., 0.], [1., 4.]]))
    >>> linalg.spsolve(m.data, m.indices, m.indptr, jnp.array([2., 5.]))
    Array([1., 1.], dtype=float32)
    """
    args = [jnp.asarray(x) for x in (data, indices, indptr, b)]
    return spsolve_p.bind(*args, tol=float(tol), reorder=int(reorder))
