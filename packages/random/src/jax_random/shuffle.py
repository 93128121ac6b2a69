"""Permutations of arrays, and choices from them.

Shuffling attaches random bits to the elements and sorts by these. With 32 bits, ties become likely for large arrays, so
the sort is repeated with fresh bits until ties are improbable: two rounds from 1,626 elements on, three from 2.6
million on (for ``n`` elements ``ceil(3 log n / log(2**32 - 1))``). The rounds cannot be one sort: the second attaches
its bits to the places that the first one left the elements in. `lax.sort` packs bits and place into one integer.

Choices with weights and replacement invert the cumulative weights; without replacement the largest of log-weight plus
Gumbel noise are chosen.

Source: for the Gumbel choice, Vieira, "Gumbel-max trick and weighted reservoir sampling", 2014.
"""
from __future__ import annotations

import math
import operator
from typing import Any, Sequence

import numpy as np

from jax_core.programs.jit import inlined
from jax_core.public.extend_core import concrete_or_error
from jax_core.representation import dtypes, splits
from jax_core.representation.array import Array
from jax_core.representation.aval import get_aval
from jax_core.representation.tracebacks import api_boundary
from jax_core.representation.typing import ArrayLike, Placement, Shape
from jax_core.traces import structural
from jax_numpy_api import lax, numpy as jnp

from .api import draw_bits
from .checks import check_array, check_shape, key_words, run
from .continuous import draw_gumbel, gumbel_mode
from .impls import PRNGImpl
from .uniforms import draw_randint, draw_unit, split_words

_TIES = 3  # the exponent: of n elements, two get the same bits in all rounds with probability below 1 / n
_MAX_U32 = (1 << 32) - 1


def _axis(name: str, axis: Any, rank: int) -> int:
    """``axis`` counted from the front; ValueError if there is none, TypeError if it is no integer."""
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{name}: axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def _array_or_size(name: str, what: str, x: Any) -> Any:
    """A NumPy or JAX array, or a Python number; sequences are refused, as they are by other functions of jax.numpy."""
    if isinstance(x, (list, tuple)):
        raise TypeError(f"{name} requires ndarray or scalar arguments, got {type(x)} for {what}; convert it with "
                        "jax.numpy.array")
    if isinstance(getattr(x, "dtype", None), dtypes.ExtendedDType):
        return x
    return check_array(name, what, x, allow_complex=True)


# -- permutation -------------------------------------------------------------------------------------------------------

def draw_shuffle(words: Array, impl: PRNGImpl, x: Array, axis: int) -> Any:
    """``x`` with its elements along ``axis`` in random order, each line for itself."""
    rounds = math.ceil(_TIES * math.log(max(1, x.size)) / math.log(_MAX_U32))
    for _ in range(rounds):
        words, used = split_words(words, impl)
        _, x = lax.sort_key_val(draw_bits(used, impl, 32, x.shape), x, axis)
    return x


def draw_permutation(words: Array, impl: PRNGImpl, n: int) -> Any:
    """The numbers 0 to ``n`` in random order."""
    return draw_shuffle(words, impl, lax.iota(dtypes.default_int_dtype(), n), 0)


@inlined(static_argnames=("impl", "n"))
def _permutation_of_range(words, *, impl, n):
    return draw_permutation(words, impl, n)


@inlined(static_argnames=("impl", "axis", "independent"))
def _permutation(words, x, *, impl, axis, independent):
    if isinstance(x.dtype, dtypes.ExtendedDType):  # a sort carries numbers along only: here the positions
        positions = draw_shuffle(words, impl, lax.broadcasted_iota(dtypes.default_int_dtype(), x.shape, axis), axis) if independent else \
            jnp.expand_dims(draw_permutation(words, impl, x.shape[axis]), [i for i in range(x.ndim) if i != axis])
        return jnp.take_along_axis(x, positions, axis)
    if independent or x.ndim == 1:
        return draw_shuffle(words, impl, x, axis)
    return jnp.take(x, draw_permutation(words, impl, x.shape[axis]), axis, unique_indices=True)


@api_boundary
def permutation(key: ArrayLike, x: ArrayLike, axis: int = 0, independent: bool = False, *,
                out_sharding: Placement | None = None) -> Array:
    """``x`` with the slices along ``axis`` in random order, or the integers below ``x`` in random order.

    Args:
      key: one key.
      x: an array, or an integer ``n`` that stands for ``arange(n)``.
      axis: the axis to permute.
      independent: permute each line along ``axis`` for itself, not whole slices.
      out_sharding: placement of the result.

    Raises:
      TypeError: ``x`` is neither an array nor an integer. ValueError: no such axis; key is an array of keys.

    >>> jnp.sort(jax.random.permutation(jax.random.key(0), jnp.array([5, 7, 9])))
    Array([5, 7, 9], dtype=int32)
    """
    words, impl = key_words("permutation", key)
    x = _array_or_size("permutation", "x", x)
    shape = np.shape(x)
    axis = _axis("permutation", axis, len(shape) or 1)
    if not shape:
        if not dtypes.issubdtype(get_aval(x).dtype, np.integer):
            raise TypeError(f"permutation: x must be an integer or at least 1-dimensional, got {get_aval(x).str_short()}")
        n = concrete_or_error(operator.index, x, "permutation: as the length of the result, x must be known; under jit, make it static")
        return run(_permutation_of_range, out_sharding, words, impl=impl, n=max(n, 0))
    if out_sharding is not None:
        x = structural.reshard(x, splits.whole_placement(get_aval(x)))
    return run(_permutation, out_sharding, words, x, impl=impl, axis=axis, independent=bool(independent))


# -- choice ------------------------------------------------------------------------------------------------------------

def _draw_indices(words, impl, n, shape, p, replace, mode):
    """Indices below ``n`` of the chosen elements."""
    count = math.prod(shape)
    if p is None:
        if replace:
            return draw_randint(words, impl, shape, dtypes.default_int_dtype(), 0, n)
        return lax.reshape(lax.slice_in_dim(draw_permutation(words, impl, n), 0, count), shape)
    if replace:
        total = _running_weights(p)
        r = lax.mul(lax.index_in_dim(total, n - 1, keepdims=False),
                    lax.sub(total.dtype.type(1), draw_unit(words, impl, shape, total.dtype)))
        return lax.convert_element_type(jnp.searchsorted(total, r), dtypes.default_int_dtype())
    noisy = lax.add(draw_gumbel(words, impl, (n,), p.dtype, mode), lax.log(p))
    return lax.convert_element_type(lax.reshape(lax.top_k(noisy, count)[1], shape), dtypes.default_int_dtype())


def _running_weights(p):
    """Running sums that rise with the elements of positive weight only: rounding alone would let others be drawn."""
    if p.dtype.itemsize == 2:
        p = lax.convert_element_type(p, np.float32)
    total, positive = jnp.cumsum(p), p > 0
    return lax.cond(jnp.all(positive), lambda: total, lambda: lax.cummax(jnp.where(positive, total, 0)))


@inlined(static_argnames=("impl", "n", "shape", "replace", "mode"))
def _choice_of_range(words, p, *, impl, n, shape, replace, mode):
    return _draw_indices(words, impl, n, shape, p, replace, mode)


@inlined(static_argnames=("impl", "shape", "replace", "axis", "mode"))
def _choice(words, a, p, *, impl, shape, replace, axis, mode):
    n = a.shape[axis]
    if p is None and not replace:  # the array itself is shuffled, as its values are what is wanted
        shuffled = lax.slice_in_dim(_permutation.__wrapped__(words, a, impl=impl, axis=axis, independent=False), 0,
                                    math.prod(shape), axis=axis)
        return lax.reshape(shuffled, a.shape[:axis] + shape + a.shape[axis + 1:])
    return jnp.take(a, _draw_indices(words, impl, n, shape, p, replace, mode), axis)


@api_boundary
def choice(key: ArrayLike, a: ArrayLike, shape: Shape = (), replace: bool = True, p: ArrayLike | None = None, axis: int = 0,
           mode: str | None = None) -> Array:
    """Random elements of an array along an axis, or random integers below a number.

    Args:
      key: one key.
      a: an array, or an integer ``n`` that stands for ``arange(n)``.
      shape: how many to choose; in the result it takes the place of ``axis``.
      replace: an element may be chosen more than once.
      p: weights of the elements, one for each; need not sum to 1. Default: all equal.
      axis: the axis to choose along; says nothing for an integer ``a``.
      mode: "low", "high" or "highest", precision of the Gumbel noise, for weights without replacement.

    Raises:
      TypeError: ``a`` is no array and no number; ``shape`` is an integer. ValueError: nothing to choose from; more choices than elements without
        replacement; ``p`` of the wrong shape; no such axis.

    Source: without replacement Vieira, "Gumbel-max trick and weighted reservoir sampling", 2014.

    >>> jnp.sort(jax.random.choice(jax.random.key(0), 4, (4,), replace=False))
    Array([0, 1, 2, 3], dtype=int32)
    """
    words, impl = key_words("choice", key)
    if not isinstance(shape, Sequence):
        raise TypeError(f"choice: shape must be a sequence, got {shape!r} of type {type(shape).__name__}; for one axis write "
                        "(n,)")
    shape = check_shape("choice", shape)
    population: Any = _array_or_size("choice", "a", a)
    a_shape = np.shape(population)
    axis = _axis("choice", axis, len(a_shape)) if a_shape else 0
    n, count = a_shape[axis] if a_shape else int(population), math.prod(shape)
    dtype = population.dtype if a_shape else dtypes.default_int_dtype()
    if count == 0:
        return jnp.zeros(a_shape[:axis] + shape + a_shape[axis + 1:], dtype)
    if n <= 0:
        raise ValueError("choice: a must be greater than 0 unless no samples are taken")
    if not replace and count > n:
        raise ValueError(f"choice: Cannot take a larger sample (size {count}) than population (size {n}) when "
                         "'replace=False'")
    if p is not None:
        p = _weights(p, n)
    statics = dict(impl=impl, shape=shape, replace=bool(replace), mode=gumbel_mode("choice", mode))
    if a_shape:
        return _choice(words, population, p, axis=axis, **statics)
    return _choice_of_range(words, p, n=n, **statics)


def _weights(p, n):
    if isinstance(p, (list, tuple)):
        raise TypeError(f"choice: p must be an array, got a {type(p).__name__}; convert it by jax.numpy.array")
    p = check_array("choice", "p", p)
    if np.shape(p) != (n,):
        raise ValueError(f"choice: p must be a vector with a weight for each of the {n} elements to choose from, got shape "
                         f"{np.shape(p)}")
    dtype = get_aval(p).dtype
    wanted = dtypes.to_inexact_dtype(dtype)
    return p if wanted == dtype and not isinstance(p, np.ndarray) else jnp.asarray(p, wanted)
