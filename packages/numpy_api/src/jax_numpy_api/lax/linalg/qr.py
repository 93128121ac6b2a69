"""QR decomposition and its parts: Householder reflections, their product, and products with it.

Source: LAPACK `geqrf`, `geqp3`, `orgqr`/`ungqr`, `ormqr`/`unmqr`. Product of reflections for derivatives: the compact form
I - V T V^H of Schreiber, Van Loan, "A storage-efficient WY representation for products of Householder transformations",
1989, with (I + D S) T = D for D = diag(taus) and S the strict upper triangle of V^H V, which needs no division by a tau.
Derivative of Q and R: Walter, Lehmann, Lamour, "On evaluating higher-order derivatives of the QR decomposition", 2012.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jax_core.representation import splits
from jax_core.representation.array import Array
from jax_core.representation.aval import ShapedArray
from jax_core.representation.primitive import Primitive, Zero, none
from jax_core.representation.traits import Kind, Traits
from jax_core.representation.typing import ArrayLike
from jax_core.traces.structural import broadcast_in_dim, zeros
from jax_numpy_api import lax
from jax_numpy_api.lax.sort import take_along

from .common import (
    as_weak,
    batch_rule,
    check_dtype,
    check_matrix,
    check_ranks,
    columns,
    conj,
    eye,
    eye_mask,
    ffi_call,
    first_columns,
    first_rows,
    flag,
    for_platform,
    full_like,
    gpu_library,
    is_complex,
    jvp_through,
    lapack,
    mh,
    mm,
    tril,
    triu,
)
from .triangular import triangular_solve, triangular_solve_p

# -- reflections -----------------------------------------------------------------------------------------------------

@as_weak
def _geqrf_type(x):
    check_matrix("geqrf", x)
    return [ShapedArray(x.shape, x.dtype), ShapedArray((*x.shape[:-2], min(x.shape[-2:])), x.dtype)]


def _geqrf_lower(b, x):
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    kind, batch_rank = for_platform("geqrf", b), x.aval.ndim - 2
    if kind == "cpu":
        return lapack(b, "geqrf", [x], b.out_avals, batch_rank=batch_rank, in_place={0: 0})
    if kind == "gpu":
        return ffi_call(b, gpu_library(b) + "_geqrf_ffi", [x], b.out_avals, batch_rank=batch_rank, in_place={0: 0})
    return b.custom_call("Qr", x, out=list(b.out_avals), api_version=1, backend_config="")


geqrf_p: Primitive = Primitive("geqrf", multiple_results=True, out_type=_geqrf_type,
                    jvp=lambda primals, tangents: _no_derivative(tangents, geqrf_p.bind(*primals), "geqrf", "qr"),
                    transpose=none("geqrf is not linear, so it has no transpose"),
                    batch=batch_rule(lambda x: geqrf_p.bind(x)), lower=_geqrf_lower, traits=Traits(Kind.LIBRARY))


def _no_derivative(tangents, outs, name, instead):
    if all(isinstance(t, Zero) for t in tangents):
        return outs, [Zero.of(x) for x in outs]
    raise NotImplementedError(f"{name}: the reflections have no derivative rule; differentiate jax.lax.linalg.{instead}.")


def geqrf(a: ArrayLike) -> tuple[Any, Any]:
    """Householder form of the QR decomposition of ``[..., m, n]``: R above, the reflections' vectors below the diagonal,
    and their factors ``[..., min(m, n)]``.

    Source: LAPACK `geqrf`.

    >>> a, taus = jax.lax.linalg.geqrf(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> abs(a[0, 0])
    Array(5., dtype=float32)
    """
    out, taus = geqrf_p.bind(a)
    return out, taus


@as_weak
def _geqp3_type(x, pivots, *, use_magma=None):
    if pivots.dtype != np.int32:
        raise TypeError(f"geqp3: jpvt must have dtype int32, got {pivots.str_short()}")
    check_matrix("geqp3", x)
    if pivots.shape != (*x.shape[:-2], x.shape[-1]):  # LAPACK would write beyond its end
        raise ValueError(f"geqp3: jpvt must have an element for each column, and so shape {(*x.shape[:-2], x.shape[-1])} for matrices "
                         f"{x.str_short()}; got {pivots.str_short()}.")
    return [ShapedArray(x.shape, x.dtype), ShapedArray(pivots.shape, pivots.dtype),
            ShapedArray((*x.shape[:-2], min(x.shape[-2:])), x.dtype)]


def _geqp3_lower(b, x, pivots, *, use_magma=None):
    if x.aval.size == 0:
        return [b.full(0, aval) for aval in b.out_avals]
    kind = for_platform("qr with pivoting", b)
    if kind == "tpu":
        raise NotImplementedError("qr: pivoting=True has no lowering for TPU; run it on CPU.")
    if kind == "gpu":
        return ffi_call(b, gpu_library(b, "hybrid_geqp3"), [x, pivots], b.out_avals, batch_rank=x.aval.ndim - 2,
                        in_place={0: 0, 1: 1}, magma=_magma(use_magma))
    return lapack(b, "geqp3", [x, pivots], b.out_avals, batch_rank=x.aval.ndim - 2, in_place={0: 0, 1: 1})


def _magma(use_magma):
    return "auto" if use_magma is None else "on" if use_magma else "off"


geqp3_p: Primitive = Primitive("geqp3", multiple_results=True, out_type=_geqp3_type,
                    jvp=lambda primals, tangents, **params: _no_derivative(
                        tangents, geqp3_p.bind(*primals, **params), "geqp3", "qr"),
                    transpose=none("geqp3 is not linear, so it has no transpose"),
                    batch=batch_rule(lambda *args, **params: geqp3_p.bind(*args, **params)), lower=_geqp3_lower,
                    traits=Traits(Kind.LIBRARY))


def geqp3(a: ArrayLike, jpvt: ArrayLike, *, use_magma: bool | None = None) -> tuple[Any, Any, Any]:
    """As `geqrf`, with columns pivoted: returns the factors, the pivots (counted from 1) and the taus.

    Args:
      jpvt: ``[..., n]``, int32: columns that shall come first where not zero.
      use_magma: a library of some GPUs.

    Raises:
      TypeError: ``jpvt`` is not of int32. ValueError: it has another shape.

    Source: LAPACK `geqp3`.

    >>> a, order, taus = jax.lax.linalg.geqp3(jnp.array([[1.0, 3.0], [2.0, 4.0]]), jnp.zeros(2, jnp.int32))
    >>> order
    Array([2, 1], dtype=int32)
    """
    out, pivots, taus = geqp3_p.bind(a, jpvt, use_magma=use_magma)
    return out, pivots, taus


# -- products of reflections -----------------------------------------------------------------------------------------

def _check_reflections(name, a, taus):
    if taus.shape[:-1] != a.shape[:-2]:
        raise ValueError(f"{name}: needs matrices [..., m, n] and factors [..., k], got shapes {a.shape} and {taus.shape}.")
    if taus.shape[-1] > min(a.shape[-2:]):
        raise ValueError(f"{name}: {taus.shape[-1]} reflections do not fit into matrices of shape {a.shape}.")


def _compact(a, taus):
    """V and T of the product I - V T V^H."""
    k = np.shape(taus)[-1]
    v = first_columns(a, k)
    v = lax.add(tril(v, -1), eye(np.shape(a)[-2], v, k))
    gram = triu(mm(mh(v), v), 1)
    d = columns(taus, gram)
    system = lax.add(lax.mul(d, gram), eye(k, gram))
    return v, triangular_solve(system, lax.select(eye_mask(gram), d, zeros(ShapedArray(d.shape, d.dtype))), left_side=True,
                               unit_diagonal=True)


@as_weak
def _product_type(a, taus):
    check_ranks("householder_product", (a, 2), (taus, 1))
    _check_reflections("householder_product", a, taus)
    if a.shape[-2] < a.shape[-1]:
        raise ValueError(f"householder_product: needs at least as many rows as columns, got shape {a.shape}.")
    check_dtype("householder_product", a, taus)
    return ShapedArray(a.shape, a.dtype)


def _product(a, taus):
    m, n = np.shape(a)[-2:]
    v, t = _compact(a, taus)
    return lax.sub(eye(m, a, n), mm(v, mm(t, mh(first_rows(v, n)))))


def _product_lower(b, a, taus):
    out = b.out_avals[0]
    if out.size == 0:
        return b.full(0, out)
    kind, batch_rank = for_platform("householder_product", b), a.aval.ndim - 2
    routine = "ungqr" if is_complex(a) else "orgqr"
    if kind == "cpu":
        return lapack(b, routine, [a, taus], [out], batch_rank=batch_rank, in_place={0: 0})[0]
    if kind == "gpu":
        return ffi_call(b, gpu_library(b) + "_orgqr_ffi", [a, taus], [out], batch_rank=batch_rank, in_place={0: 0})[0]
    return b.custom_call("ProductOfElementaryHouseholderReflectors", a, taus, out=out, api_version=1, backend_config="")


householder_product_p: Primitive = Primitive(
    "householder_product", out_type=_product_type,
    jvp=jvp_through(lambda *args: householder_product_p.bind(*args), _product),
    transpose=none("householder_product is not linear, so it has no transpose"),
    batch=batch_rule(lambda *args: householder_product_p.bind(*args)), lower=_product_lower,
    splits=lambda prim, avals, outs, params: splits.whole_behind(prim, avals, outs, (2, 1)), traits=Traits(Kind.LIBRARY))


def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The first columns of the product of reflections ``I - tau v v^H``.

    Args:
      a: ``[..., m, n]``, m >= n, with vector i below the diagonal of column i.
      taus: ``[..., k]``, k <= n.

    Returns:
      ``[..., m, n]``.

    Raises:
      ValueError: shapes do not fit. TypeError: dtypes differ.

    Source: LAPACK `orgqr`, `ungqr`.

    >>> a, taus = jax.lax.linalg.geqrf(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> q = jax.lax.linalg.householder_product(a, taus)
    >>> jnp.round(q.T @ q, 5) + 0.0
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return householder_product_p.bind(a, taus)


@as_weak
def _ormqr_type(a, taus, c, *, left, transpose):
    check_ranks("ormqr", (a, 2), (taus, 1), (c, 2))
    _check_reflections("ormqr", a, taus)
    if c.shape[:-2] != a.shape[:-2] or c.shape[-2 if left else -1] != a.shape[-2]:
        raise ValueError(f"ormqr: a product of {a.shape[-2]} x {a.shape[-2]} reflections does not multiply matrices of shape "
                         f"{c.shape} from the {'left' if left else 'right'}.")
    check_dtype("ormqr", a, taus, c)
    return ShapedArray(c.shape, c.dtype)


def _ormqr(a, taus, c, *, left, transpose):
    v, t = _compact(a, taus)
    if transpose:
        t = mh(t)
    return lax.sub(c, mm(v, mm(t, mm(mh(v), c))) if left else mm(mm(mm(c, v), t), mh(v)))


def _ormqr_lower(b, a, taus, c, *, left, transpose):
    out = b.out_avals[0]
    if out.size == 0 or taus.aval.shape[-1] == 0:
        return c
    kind = for_platform("ormqr", b)
    if kind == "gpu":
        return ffi_call(b, gpu_library(b) + "_ormqr_ffi", [a, taus, c], [out], batch_rank=out.ndim - 2, in_place={2: 0},
                        left=flag(left), transpose=flag(transpose))[0]
    if kind == "tpu":
        return b.fun(_ormqr, a, taus, c, left=left, transpose=transpose)[0]
    return lapack(b, "unmqr" if is_complex(a) else "ormqr", [a, taus, c], [out], batch_rank=out.ndim - 2, in_place={2: 0},
                  left=flag(left), transpose=flag(transpose))[0]


ormqr_p: Primitive = Primitive(
    "ormqr", out_type=_ormqr_type, jvp=jvp_through(lambda *args, **params: ormqr_p.bind(*args, **params), _ormqr),
    transpose=none("ormqr is differentiated by its compact form, which is made of other primitives"),
    batch=batch_rule(lambda *args, **params: ormqr_p.bind(*args, **params)), lower=_ormqr_lower,
    splits=lambda prim, avals, outs, params: splits.whole_behind(prim, avals, outs, (2, 1, 2)), traits=Traits(Kind.LIBRARY))


def ormqr(a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False) -> Array:
    """``Q c`` or ``c Q``, with Q the product of reflections (its conjugate transpose with ``transpose``).

    Args:
      a, taus: reflections as `geqrf` gives them.
      c: matrices.
      left: from which side.
      transpose: multiply with Q^H.

    Raises:
      ValueError: shapes do not fit. TypeError: dtypes differ.

    Source: LAPACK `ormqr`, `unmqr`.

    >>> a, taus = jax.lax.linalg.geqrf(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> abs(jax.lax.linalg.ormqr(a, taus, jnp.eye(2)))[0, 0]
    Array(0.6, dtype=float32)
    """
    return ormqr_p.bind(a, taus, c, left=flag(left), transpose=flag(transpose))


# -- qr --------------------------------------------------------------------------------------------------------------

@as_weak
def _qr_type(x, *, pivoting, full_matrices, use_magma=None):
    check_matrix("qr", x)
    *batch, m, n = x.shape
    k = m if full_matrices else min(m, n)
    outs = [ShapedArray((*batch, m, k), x.dtype), ShapedArray((*batch, k, n), x.dtype)]
    return outs + [ShapedArray((*batch, n), np.int32)] * pivoting


def _qr(x, *, pivoting, full_matrices, use_magma=None):
    *batch, m, n = np.shape(x)
    rank = len(batch) + 2
    if m == 0 or n == 0:
        k = m if full_matrices else min(m, n)
        q = eye(m, x, k)
        r = zeros(ShapedArray((*batch, k, n), x.dtype))
        order = broadcast_in_dim(lax.iota(np.int32, n), (*batch, n), (rank - 2,))
        return [q, r] + [order] * pivoting
    if pivoting:
        factors, pivots, taus = geqp3(x, zeros(ShapedArray((*batch, n), np.int32)), use_magma=use_magma)
        order = [lax.sub(pivots, lax.full_like(pivots, 1))]
    else:
        (factors, taus), order = geqrf(x), []
    if m < n:
        q = householder_product(first_columns(factors, m), taus)
    elif full_matrices and m > n:
        config = [(0, 0, 0)] * (rank - 1) + [(0, m - n, 0)]
        q = householder_product(lax.pad(factors, full_like(x, 0), config), taus)
    else:
        q = householder_product(factors, taus)
        factors = first_rows(factors, n)
    return [q, triu(factors), *order]


def _qr_jvp(primals, tangents, *, pivoting, full_matrices, use_magma=None):
    """With C = Q^H dA R1^-1: dQ = Q W + (I - Q Q^H) dA R1^-1 and dR = Q^H dA - W R, where W is skew with C's lower part.

    A complete Q has columns that no condition on R fixes: a rotation among them is left out of their derivative, so that of
    what depends on the space that they span is right, as with every choice.
    """
    (x,), (g,) = primals, tangents
    outs = qr_p.bind(x, pivoting=pivoting, full_matrices=full_matrices, use_magma=use_magma)
    q, r, *order = outs
    if isinstance(g, Zero) or np.size(x) == 0:
        return outs, [Zero.of(y) for y in outs]
    m, n = np.shape(x)[-2:]
    if order:
        g = _permute_columns(g, order[0])
    k = min(m, n)
    complete = full_matrices and m > n
    change = triangular_solve_p.bind(first_columns(first_rows(r, k) if complete else r, k), first_columns(g, k), left_side=False, lower=False,
                                     transpose_a=False, conjugate_a=False, unit_diagonal=False)
    inner = mm(mh(q), change)
    if complete:
        inner = lax.pad(inner, full_like(x, 0), [(0, 0, 0)] * (inner.ndim - 1) + [(0, m - n, 0)])
    low = tril(inner, -1)
    skew = lax.sub(low, mh(low))
    if is_complex(x):  # R has a real diagonal
        imaginary = lax.mul(lax.sub(inner, conj(inner)), full_like(x, 0.5))
        skew = lax.add(skew, lax.select(eye_mask(inner), imaginary, lax.full_like(inner, 0)))
    dq = mm(q, skew) if complete else lax.add(mm(q, lax.sub(skew, inner)), change)
    dr = lax.sub(mm(mh(q), g), mm(skew, r))
    return outs, [dq, triu(dr), *(Zero.of(o) for o in order)]


def _permute_columns(g, order):
    return take_along(g, broadcast_in_dim(order, np.shape(g), (*range(g.ndim - 2), g.ndim - 1)), g.ndim - 1)


qr_p: Primitive = Primitive("qr", multiple_results=True, out_type=_qr_type, jvp=_qr_jvp,
                 transpose=none("qr is not linear, so it has no transpose"),
                 batch=batch_rule(lambda x, **params: qr_p.bind(x, **params)),
                 lower=lambda b, x, **params: b.fun(_qr, x, **params), traits=Traits(Kind.LIBRARY))


def qr(x: ArrayLike, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None) -> tuple:
    """QR decomposition: ``x = q @ r`` with orthonormal columns of q and upper triangular r.

    Args:
      x: matrices ``[..., m, n]``.
      pivoting: order the columns so that the diagonal of r decreases: ``x[:, p] = q @ r``.
      full_matrices: ``q[..., m, m]`` and ``r[..., m, n]`` instead of the first min(m, n) columns and rows.
      use_magma: library, where there is a choice.

    Returns:
      ``(q, r)``, or ``(q, r, p)`` with ``pivoting``.

    Raises:
      TypeError: fewer than two axes, or not a dtype of LAPACK.

    Source: LAPACK `geqrf`, `orgqr`, `ungqr`.

    >>> q, r = lax.linalg.qr(jnp.array([[0., 1.], [2., 0.]]))
    >>> jnp.abs(r)
    Array([[2., 0.],
           [0., 1.]], dtype=float32)
    """
    return tuple(qr_p.bind(x, pivoting=flag(pivoting), full_matrices=flag(full_matrices), use_magma=use_magma))
