"""How primitives act on sparse arrays: the tables, and programs run by them.

Where no operand is sparse a primitive acts as ever. An operation whose result would be dense, as that of ``cos``, is
refused.
"""
from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from jax_core.programs.jit_primitive import jit_p
from jax_core.representation.aval import AbstractValue, ShapedArray, get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr, Literal
from jax_core.representation.typing import PyTree
from jax_core.transformations.checkpoint import remat_p
from jax_core.transformations.custom_jvp import custom_jvp_call_p
from jax_core.transformations.custom_vjp import custom_vjp_call_p

from .. import lax, numpy as jnp
from .base import JAXSparse
from .bcoo import BCOO, bcoo_sum_duplicates, bcoo_todense, bcoo_transpose, bcoo_update_layout
from .bcoo_product import bcoo_conv_general_dilated, bcoo_dot_general, bcoo_multiply_dense, bcoo_multiply_sparse
from .bcoo_shape import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_gather,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    summed,
)
from .bcsr import BCSR
from .util import valid

Array = Any

sparse_rules_bcoo: dict[Any, Callable] = {}
"""How a primitive acts where operands are BCOO: ``rule(*operands, **params)``, the operands BCOO or dense."""
sparse_rules_bcsr: dict[Any, Callable] = {}
"""The same for BCSR; what is not here is done in BCOO."""


def is_sparse(x: object) -> bool:
    """Whether ``x`` is a sparse array."""
    return isinstance(x, JAXSparse)


# -- programs -----------------------------------------------------------------------------------------------------------

def aval_of(x: Any) -> AbstractValue:
    """The type of a dense array like ``x``."""
    return ShapedArray(x.shape, x.dtype) if is_sparse(x) else get_aval(x)


def run(closed: ClosedJaxpr, *values: Any) -> list:
    """The results of a program on values of which some are sparse."""
    return interpret(closed.jaxpr, closed.consts, values)


def interpret(jaxpr: Jaxpr, consts: Sequence[object], values: Sequence[object]) -> list:
    env = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *values)))

    def read(x):
        return x.val if type(x) is Literal else env[x]
    for eqn in jaxpr.eqns:
        operands = [read(x) for x in eqn.invars]
        if any(map(is_sparse, operands)):
            outs = apply(eqn.primitive, operands, eqn.params)
        else:
            outs = eqn.primitive.bind(*operands, **eqn.params)
        env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [read(x) for x in jaxpr.outvars]


def apply(prim, operands, params):
    rule = sparse_rules_bcsr.get(prim)
    if rule is not None and any(isinstance(x, BCSR) for x in operands) and not any(
            is_sparse(x) and not isinstance(x, BCSR) for x in operands):
        outs = rule(*operands, **params)
        if outs is not NotImplemented:
            return outs
    rule = sparse_rules_bcoo.get(prim)
    if rule is None:
        why = "its result would be dense" if prim in _DENSE_RESULT else "it has no rule for sparse operands"
        raise NotImplementedError(f"sparsify: {prim.name} stops here, since {why}; make its operands dense by sparse.todense")
    return rule(*[to_bcoo(x) for x in operands], **params)


def to_bcoo(x: Any) -> Any:
    """A sparse array of any format as BCOO; anything else as it is."""
    return x.to_bcoo() if is_sparse(x) and not isinstance(x, BCOO) else x


_DENSE_RESULT = frozenset([
    lax.acos_p, lax.acosh_p, lax.cos_p, lax.cosh_p, lax.exp_p, lax.exp2_p, lax.eq_p, lax.ge_p, lax.gt_p, lax.le_p,
    lax.lt_p, lax.ne_p, lax.log_p, lax.not_p, lax.digamma_p, lax.lgamma_p, lax.erfc_p, lax.rsqrt_p, lax.logistic_p,
    lax.nextafter_p, lax.rem_p, lax.max_p, lax.min_p, lax.select_n_p])


# -- rules ---------------------------------------------------------------------------------------------------------------

def _on_elements(prim, additive):
    """Primitives with f(0) = 0. One that is not additive needs each point stored once."""
    def bcoo(x: Array, **params):
        if not additive and not x.unique_indices:
            x = bcoo_sum_duplicates(x, nse=x.nse)
        return x._with(prim.bind(x.data, **params))

    def bcsr(x: Array, **params):
        if not additive and not x.unique_indices:
            return NotImplemented
        return x._with(prim.bind(x.data, **params))
    sparse_rules_bcoo[prim], sparse_rules_bcsr[prim] = bcoo, bcsr


for _prim in (
        lax.asin_p, lax.asinh_p, lax.atan_p, lax.atanh_p, lax.cbrt_p, lax.ceil_p, lax.erf_p, lax.erf_inv_p, lax.expm1_p,
        lax.floor_p, lax.log1p_p, lax.round_p, lax.sign_p, lax.sin_p, lax.sinh_p, lax.sqrt_p, lax.square_p, lax.tan_p,
        lax.tanh_p, lax.abs_p, lax.bessel_i1e_p, lax.reduce_precision_p):
    _on_elements(_prim, False)
for _prim in (lax.neg_p, lax.real_p, lax.imag_p, lax.copy_p, lax.conj_p):
    _on_elements(_prim, True)


def _rule(*prims):
    def register(fun: Callable[..., PyTree]):
        for prim in prims:
            sparse_rules_bcoo[prim] = fun
        return fun
    return register


@_rule(lax.convert_element_type_p)
def _convert(x, *, new_dtype, weak_type=False, sharding=None):
    additive = np.issubdtype(new_dtype, np.inexact) or np.issubdtype(x.dtype, np.integer)
    if not additive and not x.unique_indices:
        x = bcoo_sum_duplicates(x, nse=x.nse)
    return x._with(x.data.astype(new_dtype))


@_rule(lax.integer_pow_p)
def _integer_pow(x, *, y):
    if y <= 0:
        raise NotImplementedError(f"sparse rule for integer_pow with exponent {y} is not implemented because it would result in "
                                  "dense output. Use sparse.todense() if that is wanted.")
    x = x if x.unique_indices else bcoo_sum_duplicates(x, nse=x.nse)
    return x._with(lax.integer_pow(x.data, y))


@_rule(lax.add_p)
def _add(x, y):
    if is_sparse(x) and is_sparse(y):
        return _add_sparse(x, y)
    sparse, dense = (x, y) if is_sparse(x) else (y, x)
    if np.shape(dense) != sparse.shape:
        raise NotImplementedError(f"sparse rule for add: {sparse} plus an array of shape {np.shape(dense)} would be a dense array "
                                  "that is larger than it. Use sparse.todense() if that is wanted.")
    return lax.add(bcoo_todense(sparse), jnp.asarray(dense))


@_rule(lax.sub_p)
def _sub(x, y):
    return _add(x, y._with(-y.data)) if is_sparse(y) else _add(x, -jnp.asarray(y))


def _add_sparse(x, y):
    """Stored elements side by side: those at one point add up."""
    if x.shape != y.shape:
        raise NotImplementedError(f"sparse rule for add: shapes {x.shape} and {y.shape} must be equal")
    if x.indices is y.indices and x.n_dense == y.n_dense:
        return x._with(x.data + y.data)
    n_batch, n_dense = min(x.n_batch, y.n_batch), min(x.n_dense, y.n_dense)
    x, y = (m if (m.n_batch, m.n_dense) == (n_batch, n_dense) else bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense)
            for m in (x, y))
    lead = tuple(np.maximum(np.maximum(x.data.shape[:n_batch], x.indices.shape[:n_batch]),
                            np.maximum(y.data.shape[:n_batch], y.indices.shape[:n_batch])).tolist()) if n_batch else ()
    dtype = jnp.promote_types(x.dtype, y.dtype)

    def joined(a: Array, b: Array):
        return jnp.concatenate([jnp.broadcast_to(z, (*lead, *z.shape[n_batch:])) for z in (a, b)], n_batch)
    return BCOO((joined(x.data.astype(dtype), y.data.astype(dtype)), joined(x.indices, y.indices)), shape=x.shape)


@_rule(lax.mul_p)
def _mul(x, y):
    if is_sparse(x) and is_sparse(y):
        return bcoo_multiply_sparse(x, y)
    return scaled(x, y) if is_sparse(x) else scaled(y, x)


def scaled(x, v):
    """``x * v`` for a dense ``v``, which may be larger."""
    shape = jnp.broadcast_shapes(x.shape, np.shape(v))
    if shape != x.shape:
        if len(shape) > x.ndim and x.n_batch:
            x = bcoo_update_layout(x, n_batch=0)
        x = bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=range(len(shape) - x.ndim, len(shape)))
    return x._with(bcoo_multiply_dense(x, v))


@_rule(lax.div_p)
def _div(x, y):
    if not is_sparse(x) or is_sparse(y):
        raise NotImplementedError("sparse rule for div is not implemented where the divisor is sparse, because it would result in "
                                  "dense output. Use sparse.todense() if that is wanted.")
    ones = BCOO((jnp.ones_like(x.data), x.indices), shape=x.shape)
    return x._with(x.data / _at_points(ones, y))


def _at_points(x: BCOO, v: Any) -> Any:
    """The elements of a dense ``v``, broadcast to the shape of ``x``, at the points of ``x``; 1 at padding."""
    found = bcoo_multiply_dense(x, v)
    points = x.shape[x.n_batch:x.n_batch + x.n_sparse]
    return jnp.where(valid(x.indices, points)[(..., *(None,) * x.n_dense)], found, 1)


def _settled(x):
    """A result without sparse axes is a dense array."""
    return bcoo_todense(x) if isinstance(x, BCOO) and not x.n_sparse and not x.n_batch else x


@_rule(lax.reduce_sum_p)
def _reduce_sum(x, *, axes, out_sharding=None):
    return _settled(summed(x, axes))


@_rule(lax.dot_general_p)
def _dot_general(x, y, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    return bcoo_dot_general(x, y, dimension_numbers=dimension_numbers, precision=precision,
                            preferred_element_type=preferred_element_type)


@_rule(lax.transpose_p)
def _transpose(x, *, permutation):
    kinds = [0] * x.n_batch + [1] * x.n_sparse + [2] * x.n_dense
    if [kinds[p] for p in permutation] != kinds:
        x = bcoo_update_layout(x, n_batch=0, n_dense=0)
    return bcoo_transpose(x, permutation=permutation)


@_rule(lax.broadcast_in_dim_p)
def _broadcast(x, *, shape, broadcast_dimensions, sharding=None):
    return bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=broadcast_dimensions)


@_rule(lax.concatenate_p)
def _concatenate(*operands, dimension):
    if not all(map(is_sparse, operands)):
        raise NotImplementedError("sparse rule for concatenate: all operands must be sparse; convert them with BCOO.fromdense")
    if len({(m.n_batch, m.n_dense) for m in operands}) > 1:
        n_batch, n_dense = min(m.n_batch for m in operands), min(m.n_dense for m in operands)
        operands = [bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense) for m in operands]
    return bcoo_concatenate(operands, dimension=dimension)


@_rule(lax.reshape_p)
def _reshape(x, *, new_sizes, dimensions=None, sharding=None):
    try:
        return bcoo_reshape(x, new_sizes=new_sizes, dimensions=dimensions)
    except ValueError:  # axes of different kinds are joined
        return bcoo_reshape(bcoo_update_layout(x, n_batch=0, n_dense=0), new_sizes=new_sizes, dimensions=dimensions)


@_rule(lax.rev_p)
def _rev(x, *, dimensions):
    return bcoo_rev(x, dimensions)


@_rule(lax.slice_p)
def _slice(x, *, start_indices, limit_indices, strides=None):
    return bcoo_slice(x, start_indices=start_indices, limit_indices=limit_indices, strides=strides)


@_rule(lax.dynamic_slice_p)
def _dynamic_slice(x, *starts, slice_sizes):
    return bcoo_dynamic_slice(x, starts, slice_sizes)


@_rule(lax.squeeze_p)
def _squeeze(x, *, dimensions):
    return bcoo_squeeze(x, dimensions=dimensions)


@_rule(lax.gather_p)
def _gather(x, starts, *, dimension_numbers, slice_sizes, **params):
    return bcoo_gather(x, starts, dimension_numbers, slice_sizes, mode=params.get("mode"))


@_rule(lax.conv_general_dilated_p)
def _conv(x, y, *, padding, window_strides, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
          batch_group_count, precision=None, preferred_element_type=None, **_):
    return bcoo_conv_general_dilated(
        x, y, padding=padding, window_strides=window_strides, lhs_dilation=lhs_dilation, rhs_dilation=rhs_dilation,
        dimension_numbers=dimension_numbers, feature_group_count=feature_group_count, batch_group_count=batch_group_count,
        preferred_element_type=preferred_element_type)


# -- programs within programs --------------------------------------------------------------------------------------------

def _program(name):
    return lambda *operands, **params: run(params[name], *operands)


sparse_rules_bcoo[jit_p] = sparse_rules_bcoo[remat_p] = _program("jaxpr")
sparse_rules_bcoo[custom_jvp_call_p] = sparse_rules_bcoo[custom_vjp_call_p] = _program("call_jaxpr")


@_rule(lax.while_p)
def _while(*operands, cond_jaxpr, body_jaxpr, cond_nconsts, body_nconsts):
    first, rest = operands[:cond_nconsts], operands[cond_nconsts:]
    consts, init = rest[:body_nconsts], rest[body_nconsts:]
    return list(lax.while_loop(lambda c: run(cond_jaxpr, *first, *c)[0], lambda c: tuple(run(body_jaxpr, *consts, *c)),
                               tuple(init)))


@_rule(lax.cond_p)
def _cond(index, *operands, branches, **_):
    return list(lax.switch(index, [lambda *xs, b=b: tuple(run(b, *xs)) for b in branches], *operands))


@_rule(lax.scan_p)
def _scan(*operands, jaxpr, num_consts, num_carry, length, reverse, unroll, **_):
    consts, rest = operands[:num_consts], operands[num_consts:]
    init, xs = rest[:num_carry], rest[num_carry:]
    if any(is_sparse(x) and not x.n_batch for x in xs):
        raise NotImplementedError("sparse rule for scan: a sparse array that is scanned over needs a batch axis; use "
                                  "update_layout(n_batch=1, on_inefficient=None)")

    def body(carry: PyTree, x: Array):
        outs = run(jaxpr, *consts, *carry, *x)
        return tuple(outs[:num_carry]), tuple(outs[num_carry:])
    carry, ys = lax.scan(body, tuple(init), tuple(xs), length=length, reverse=reverse, unroll=unroll)
    return [*carry, *ys]


# -- BCSR ----------------------------------------------------------------------------------------------------------------

def _bcsr_mul(x, y):
    mat, v = (x, y) if is_sparse(x) else (y, x)
    if is_sparse(v) or jnp.broadcast_shapes(mat.shape, np.shape(v)) != mat.shape:
        return NotImplemented
    return mat._with(bcoo_multiply_dense(mat.to_bcoo(), v))


sparse_rules_bcsr[lax.mul_p] = _bcsr_mul
