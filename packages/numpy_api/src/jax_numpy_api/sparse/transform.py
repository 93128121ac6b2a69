"""sparsify: functions of dense arrays applied to sparse arrays.

The function is traced on types that look dense, and its program is run with sparse arrays in place of the operands that
are sparse (`rules`); or it runs at once on tracers that stand for sparse arrays (`tracing`).
"""
from __future__ import annotations

import functools
import operator
from typing import Any, Callable, Sequence

import numpy as np

from jax_core.representation import tree
from jax_core.representation.arguments import takes
from jax_core.representation.aval import get_aval
from jax_core.representation.jaxpr import ClosedJaxpr, Jaxpr
from jax_core.representation.typing import ArrayLike, PyTree
from jax_core.traces.staging import trace_to_closed

from .bcoo import BCOO
from .bcoo_product import bcoo_multiply_sparse
from .bcoo_shape import bcoo_broadcast_in_dim, bcoo_rev, bcoo_slice, bcoo_squeeze
from .rules import aval_of, interpret, is_sparse, run, scaled, to_bcoo
from .tracing import traced
from .values import SparsifyEnv, SparsifyValue, arrays_to_spvalues, spvalues_to_arrays

Array = Any
ArrayOrSparse = Any


# -- the transformation --------------------------------------------------------------------------------------------------

def sparsify(f: Callable[..., PyTree], use_tracer: bool = False) -> Callable:
    """``f``, a function of arrays, as a function that takes sparse arrays too.

    Args:
      f: is traced with dense-looking arguments; its Python control flow cannot depend on values, but for ``use_tracer``.
      use_tracer: run ``f`` once, on tracers that stand for the sparse arrays, in place of tracing it whole. Control flow
        may then depend on dense values.

    Returns:
      a function whose results are sparse where the rules for sparse operands say so.

    Raises:
      NotImplementedError: an operation has no sparse form.

    >>> from jax.experimental import sparse
    >>> m = sparse.eye(3)
    >>> sparse.sparsify(lambda m: (m * 2).sum())(m)
    Array(6., dtype=float32)
    """
    @functools.wraps(f)
    def wrapped(*args, **params):
        if use_tracer:
            return traced(f, args, params)
        leaves, structure = tree.flatten(args, is_leaf=is_sparse)
        out_structure: list = []

        def flat(*xs):
            outs, found = tree.flatten(f(*tree.unflatten(structure, xs), **params))
            out_structure[:] = [found]
            return outs
        closed, consts = trace_to_closed(flat, [aval_of(x) for x in leaves])
        return tree.unflatten(out_structure[0], run(closed, *consts, *leaves))
    return wrapped


def sparsify_raw(f: Callable[..., PyTree]) -> Callable:
    """`sparsify` for functions ``f(env, *values) -> (values, structure)`` of `SparsifyValue`."""
    def wrapped(env, *values, **params):
        args = spvalues_to_arrays(env, values)
        outs, structure = tree.flatten(sparsify(f)(*args, **params), is_leaf=is_sparse)
        return arrays_to_spvalues(env, outs), structure
    return wrapped


@takes(jaxpr=(Jaxpr, ClosedJaxpr), spenv=SparsifyEnv)
def eval_sparse(jaxpr: Jaxpr, consts: Sequence[object], spvalues: Sequence[SparsifyValue], spenv: SparsifyEnv) -> list:
    """The results, as values in ``spenv``, of a program on such values.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import transform
    >>> env = transform.SparsifyEnv()
    >>> values = transform.arrays_to_spvalues(env, [sparse.BCOO.fromdense(jnp.eye(2))])
    >>> program = jax.make_jaxpr(lambda x: x * 2.)(jnp.eye(2))
    >>> out = transform.eval_sparse(program.jaxpr, program.consts, values, env)
    >>> transform.spvalues_to_arrays(env, out)[0].todense()
    Array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    outs = interpret(jaxpr, consts, [spvalues_to_arrays(spenv, v) for v in spvalues])
    return [arrays_to_spvalues(spenv, x) for x in outs]


# -- operators of arrays -----------------------------------------------------------------------------------------------

def getitem(mat: BCOO, index: object) -> BCOO:
    """``mat[index]`` for integers, slices, None and Ellipsis; arrays of integers through `bcoo_gather`."""
    index = index if isinstance(index, tuple) else (index,)
    if not all(i is None or i is Ellipsis or isinstance(i, slice) or _is_integer(i) for i in index):
        return sparsify(lambda x: x[index])(mat)
    if sum(i is Ellipsis for i in index) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(i is not None and i is not Ellipsis for i in index)
    if used > mat.ndim:
        raise IndexError(f"too many indices: {mat} is indexed with {used}")
    where = next((k for k, i in enumerate(index) if i is Ellipsis), len(index))
    index = (*index[:where], *(slice(None),) * (mat.ndim - used), *index[where + 1:])
    starts, limits, strides, flipped, dropped, axis = [], [], [], [], [], 0
    for i in (i for i in index if i is not None):
        n = mat.shape[axis]
        if isinstance(i, slice):
            start, stop, step = i.indices(n)
            count = len(range(start, stop, step))
            if step < 0:
                start, step = start + (count - 1) * step if count else 0, -step
                flipped.append(axis)
            strides.append(step)
            starts.append(start if count else 0)
            limits.append(starts[-1] + (count - 1) * step + 1 if count else starts[-1])
        else:
            i = operator.index(i)
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} of {mat}")
            starts.append(i % n)
            limits.append(i % n + 1)
            strides.append(1)
            dropped.append(axis)
        axis += 1
    out = bcoo_slice(mat, start_indices=starts, limit_indices=limits, strides=strides)
    out = bcoo_rev(out, flipped) if flipped else out
    out = bcoo_squeeze(out, dimensions=dropped) if dropped else out
    return _with_new_axes(out, [i for i in index if i is None or isinstance(i, slice)])


def _is_integer(i):
    try:
        operator.index(i)
    except Exception:  # tracers say with errors of their own that they are not known
        return False
    return not isinstance(i, (bool, np.bool_))


def _with_new_axes(mat, kinds):
    if all(k is not None for k in kinds):
        return mat
    sizes = iter(mat.shape)
    shape = [1 if k is None else next(sizes) for k in kinds]
    return bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=[d for d, k in enumerate(kinds) if k is not None])


def multiply(x: BCOO, y: ArrayLike) -> Any:
    """The product of a BCOO array and anything that is an array; NotImplemented for all else, as operators want."""
    if is_sparse(y):
        return bcoo_multiply_sparse(x, to_bcoo(y))
    try:
        get_aval(y)
    except TypeError:
        return NotImplemented
    return x._with(x.data * y) if np.ndim(y) == 0 else scaled(x, y)
