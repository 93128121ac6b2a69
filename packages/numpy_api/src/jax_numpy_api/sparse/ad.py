"""Derivatives of functions of sparse arrays, with respect to their stored elements.

The gradient of a sparse argument is a sparse array with the same coordinates: the entries of the dense gradient at the
stored points. That is what the chain rule needs for a computation of the stored elements, at a cost that does not grow
with the dense shape.
"""
from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, Sequence

from jax_core.representation import tree
from jax_core.representation.arguments import check_callable
from jax_core.representation.aval import described_value
from jax_core.representation.source import describe_function
from jax_core.transformations import autodiff

from .. import numpy as jnp
from .base import JAXSparse
from .bcoo import BCOO

if TYPE_CHECKING:
    from jax_core.representation.typing import PyTree


def is_sparse(x: object) -> bool:
    """Whether ``x`` is a sparse array.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import ad
    >>> ad.is_sparse(sparse.BCOO.fromdense(jnp.eye(2))), ad.is_sparse(jnp.eye(2))
    (True, False)
    """
    return isinstance(x, JAXSparse)


def _flat(x):
    return tree.flatten(x, is_leaf=is_sparse)


def _data(x):
    return x.data if is_sparse(x) else x


def _replaced(x, data):
    """The sparse array ``x`` with other stored elements."""
    if not is_sparse(x):
        return data
    buffers, aux = x.tree_flatten()
    return type(x).tree_unflatten(aux, (data, *buffers[1:]))


def flatten_fun_for_sparse_ad(fun: Callable[..., PyTree], argnums: int | Sequence[int], args: Sequence[object]) -> tuple:
    """``fun`` as a function of the stored elements of the arguments to be differentiated.

    Returns:
      the function; its arguments, a list with the elements in place of sparse arguments among ``argnums``; the numbers of
      those to differentiate; and the function that makes of results for these a pytree like the arguments.

    Raises:
      ValueError: an argument that there is not.

    >>> from jax.experimental import sparse
    >>> from jax.experimental.sparse import ad
    >>> m = sparse.BCOO.fromdense(jnp.array([[0., 2.], [3., 0.]]))
    >>> f, args, argnums, restore = ad.flatten_fun_for_sparse_ad(lambda m: (m @ jnp.ones(2)).sum(), 0, (m,))
    >>> args[0], argnums
    ([Array([2., 3.], dtype=float32)], (0,))
    """
    several = not hasattr(argnums, "__index__")
    nums = autodiff.positions_among("sparse derivatives", argnums, len(args))
    leaves = {i: _flat(args[i]) for i in nums}

    def rebuilt(i: int, values):
        return tree.unflatten(leaves[i][1], [_replaced(x, v) for x, v in zip(leaves[i][0], values)])

    def run(*given, **kwargs):
        values = dict(zip(nums, given))
        return fun(*[rebuilt(i, values[i]) if i in values else x for i, x in enumerate(args)], **kwargs)

    def like_arguments(results, wrap):
        outs = [tree.unflatten(leaves[i][1], [wrap(x, r) for x, r in zip(leaves[i][0], rs)]) for i, rs in zip(nums, results)]
        return tuple(outs) if several else outs[0]
    return run, [[_data(x) for x in leaves[i][0]] for i in nums], tuple(range(len(nums))), like_arguments


def value_and_grad(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False,
                   **kwargs: Any) -> Callable:
    """As `jax.value_and_grad`; sparse arguments have sparse gradients.

    Args:
      fun, argnums, has_aux, kwargs: as there.

    >>> from jax.experimental import sparse
    >>> value, g = sparse.value_and_grad(lambda m: (m @ jnp.ones(2)).sum())(sparse.eye(2))
    >>> float(value), g.data
    (2.0, Array([1., 1.], dtype=float32))
    """
    check_callable("sparse.value_and_grad", fun)
    autodiff.positions("sparse.value_and_grad", argnums)

    @functools.wraps(fun)
    def value_and_grad_of(*args, **params):
        run, given, nums, like_arguments = flatten_fun_for_sparse_ad(fun, argnums, args)
        value, grads = autodiff.value_and_grad(run, nums, has_aux, **kwargs)(*given, **params)
        return value, like_arguments(grads, _replaced)
    return value_and_grad_of


def grad(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """As `jax.grad`; sparse arguments have sparse gradients.

    >>> from jax.experimental import sparse
    >>> m = sparse.BCOO.fromdense(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
    >>> sparse.grad(lambda m: (m @ jnp.ones(2)).sum())(m).todense()
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    both = value_and_grad(fun, argnums, has_aux, **kwargs)

    @functools.wraps(fun)
    def grad_of(*args, **params):
        value, grads = both(*args, **params)
        return (grads, value[1]) if has_aux else grads
    return grad_of


def _jacobian(transform: Callable, fun: Callable, argnums: Any, has_aux: bool, kwargs: dict) -> Callable:
    check_callable("sparse.jacobian", fun)
    autodiff.positions("sparse.jacobian", argnums)
    inspect.signature(transform).bind(fun, **kwargs)  # an argument that there is not is told now

    @functools.wraps(fun)
    def jacobian_of(*args, **params):
        run, given, nums, like_arguments = flatten_fun_for_sparse_ad(fun, argnums, args)
        shapes: list = []

        def dense(*values):
            out = run(*values, **params)
            if has_aux and (not isinstance(out, (tuple, list)) or len(out) != 2):
                raise TypeError(f"sparse.{transform.__name__}: with has_aux=True {describe_function(fun)} must return a pair (output, auxiliary "
                                f"data), got {described_value(out)}")
            out, aux = out if has_aux else (out, None)
            leaves, structure = _flat(out)
            shapes[:] = [structure, leaves]
            data = tree.unflatten(structure, [_data(x) for x in leaves])
            return (data, aux) if has_aux else data
        found = transform(dense, nums, has_aux=has_aux, **kwargs)(*given)
        found, aux = found if has_aux else (found, None)
        structure, outs = shapes
        rows = structure.flatten_up_to(found)  # for each result a list of lists, an entry for each leaf of each argument
        if any(is_sparse(x) for x in outs):
            raise NotImplementedError("sparse.jacfwd, jacrev: a sparse result of the function is not supported; return todense()")
        result = tree.unflatten(structure, [like_arguments(row, _sparse_jacobian) for row in rows])
        return (result, aux) if has_aux else result
    return jacobian_of


def _sparse_jacobian(x, jacobian):
    """The Jacobian for one argument: the axes of the result become batch axes over the coordinates of the argument."""
    if not is_sparse(x):
        return jacobian
    if not isinstance(x, BCOO):
        raise NotImplementedError(f"sparse.jacfwd, jacrev: only BCOO arguments are supported, got {type(x).__name__}")
    extra = jacobian.ndim - x.data.ndim
    return BCOO((jacobian, jnp.reshape(x.indices, (1,) * extra + x.indices.shape)),
                shape=(*jacobian.shape[:extra], *x.shape), indices_sorted=x.indices_sorted, unique_indices=x.unique_indices)


def jacfwd(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """As `jax.jacfwd`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes.

    >>> from jax.experimental import sparse
    >>> sparse.jacfwd(lambda m: m @ jnp.ones(2))(sparse.eye(2)).shape
    (2, 2, 2)
    """
    return _jacobian(autodiff.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """As `jax.jacrev`; for a BCOO argument the result is BCOO, the axes of the function's result being batch axes.

    >>> from jax.experimental import sparse
    >>> sparse.jacrev(lambda m: m @ jnp.ones(2))(sparse.eye(2)).shape
    (2, 2, 2)
    """
    return _jacobian(autodiff.jacrev, fun, argnums, has_aux, kwargs)


def jacobian(fun: Callable[..., PyTree], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any) -> Callable:
    """The same as `jacrev`.

    >>> from jax.experimental import sparse
    >>> sparse.jacobian(lambda m: m @ jnp.ones(2))(sparse.eye(2)).shape
    (2, 2, 2)
    """
    return jacrev(fun, argnums, has_aux, **kwargs)
